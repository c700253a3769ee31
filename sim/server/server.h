/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_SERVER_SERVER_H
#define SIM_SERVER_SERVER_H

/**
 * The simulated server: a real state machine over the encoded bytes, one relocatable block, no I/O.
 *
 * In: PDUs on connections, storage work that is done, the time. Out, drained with smb_server_next(): PDUs to send,
 * storage work to do, connections to cut. The host decides how long anything takes; the server decides what is
 * allowed, granted and answered (MS-SMB2 3.3).
 *
 * Rules for the host: drain until SMB_SERVER_IDLE after each call that takes something in (smb_server_work_done may be
 * called while draining); report each WORK exactly once, also when its connection is gone; after SMB_SERVER_DISCONNECT
 * call smb_server_closed() before the connection number is used again. Time never runs backwards. A call needs up to
 * 140 KiB of stack.
 *
 * What it does not do: signatures and encryption are not looked at; oplock and lease breaks are sent only when the host
 * says so, so caching is granted only to a client alone with a file; locks are granted to everybody; durable opens do not
 * outlive their connection; CHANGE_NOTIFY, pipes and reparse points are refused. A file name is at most 60 UTF-16 units. File
 * content is exact for data that travels as slices (payload.h); data that travels in the bytes is only counted. A READ
 * across two sources is answered with the bytes up to about 64 KiB, a longer one ends at the border.
 */

#include "protocol/wire/message.h"
#include "sim/server/choice.h"
#include "sim/server/profile.h"

#include <stddef.h>

struct smb_server; /* the block */

/** Source of file content that arrived as bytes in a PDU: only its length is kept, it cannot be read back. */
#define SMB_SERVER_SOURCE_UNKNOWN UINT64_MAX

struct smb_server_limits {
	uint32_t connections; /* 1 to 64 */
	uint32_t sessions;
	uint32_t trees;
	uint32_t nodes; /* files and directories, the root included */
	uint32_t handles;
	uint32_t requests; /* answered later, all connections together */
	uint32_t outputs; /* waiting to be drained, >= 16 */
	uint32_t window; /* widest sequence window of a connection, ids; 0 = 8192; caps the profile's credits_max */
};

extern const struct smb_server_limits smb_server_limits_simulation;

struct smb_server_interface {
	uint64_t speed_bps; /* as told to clients; 0 is allowed and seen in the field */
	bool rss;
	bool down; /* clients are not told of it */
};

struct smb_server_config {
	struct smb_server_profile profile;
	uint8_t server_guid[16];
	const char *share; /* copied */
	uint32_t interface_count;
	struct smb_server_interface interfaces[16];
	struct smb_server_misbehaviour misbehaviour;
};

size_t smb_server_size(const struct smb_server_limits *limits);
struct smb_server *smb_server_init(void *block, const struct smb_server_limits *limits,
				   const struct smb_server_config *config);
size_t smb_server_block_size(const struct smb_server *server);
bool smb_server_is_valid(const struct smb_server *server);
/** Canonical form for hashing, as smb_client_encode. */
size_t smb_server_encode(const struct smb_server *server, uint8_t *buffer, size_t size);

/** Bring what makes no difference into one form: which free element is taken next. Ids that the server will hand out then
 *  depend on what smb_server_encode tells alone, and not on how the state came about. */
void smb_server_settle(struct smb_server *server);

/** Make a file or directory before the run; missing parents are made too. `source` names its content (payload.h).
 *  False: the name exists, or there is no room. */
bool smb_server_make_file(struct smb_server *server, const char *name, uint64_t source, uint64_t bytes);
bool smb_server_make_directory(struct smb_server *server, const char *name);

/** A connection is open; its window is {0} (MS-SMB2 3.3.5.1). It must not be open already. */
void smb_server_connected(struct smb_server *server, uint32_t connection, uint64_t now_ns);
/** A connection is gone, for whatever reason; what waits for it is dropped. Calling it twice does no harm. */
void smb_server_closed(struct smb_server *server, uint32_t connection, uint64_t now_ns);

/** Interface `index` (< interface_count of the config) is another one from now on; clients learn of it when they ask. */
void smb_server_set_interface(struct smb_server *server, uint32_t index, const struct smb_server_interface *interface);

/** Limits of a server that was configured anew. */
struct smb_server_sizes {
	uint32_t max_read; /* bytes, as in the profile */
	uint32_t max_write;
	uint32_t max_transact;
	uint32_t credits_max; /* 1 to 65535; at most limits.window counts */
};
/** From now on connections get these limits; those that have negotiated keep theirs (MS-SMB2 3.3.5.4). */
void smb_server_set_sizes(struct smb_server *server, const struct smb_server_sizes *sizes);

/** Do from now on what no server may do (choice.h), or stop it. */
void smb_server_misbehave(struct smb_server *server, const struct smb_server_misbehaviour *misbehaviour);

/** Decide what is free (choice.h) in the answer that the next smb_server_receive, smb_server_work_done or
 *  smb_server_wake brings; forgotten when its outputs are drained. */
void smb_server_choose(struct smb_server *server, const struct smb_server_choice *choice);

/** One open, for who wants to break its caching. */
struct smb_server_open_info {
	bool is_open;
	bool is_breaking; /* notified, and not yet acknowledged */
	bool is_lease;
	uint8_t oplock_level; /* as granted: 0, 1 (level II), 8 (exclusive), 9 (batch); MS-SMB2 2.2.14 */
	uint32_t lease_state; /* SMB2_LEASE_* (MS-SMB2 2.2.13.2.8) */
	uint64_t channels; /* bit per connection of its session */
	struct smb2_file_id id;
};
/** Open `index`, 0 to limits.handles - 1. */
void smb_server_look_open(const struct smb_server *server, uint32_t index, struct smb_server_open_info *info);
/**
 * Break the caching of open `index` to `to`: a lease to the states in `to`, an oplock to that level (0 or 1). The
 * notification goes out on `connection` (MS-SMB2 3.3.4.6, 3.3.4.7), any channel of the session will do; one that leaves
 * something to write back or to close waits for its acknowledgement. All opens of a lease key lose together.
 * False, and nothing happens: there is no such open, it holds no more than `to`, a break is under way, or `connection`
 * is no channel of its session.
 */
bool smb_server_break(struct smb_server *server, uint32_t index, uint32_t connection, uint32_t to, uint64_t now_ns);

enum smb_server_verdict {
	SMB_SERVER_OK,
	SMB_SERVER_CUT, /* the request broke a rule that ends the connection (MS-SMB2 3.3.5.2.3); CUT is in the outputs */
};
/** Execute one PDU. MS-SMB2 3.3.5.2: connection, sequence window (3.3.5.2.3), session, tree, CreditCharge, FileId. */
enum smb_server_verdict smb_server_receive(struct smb_server *server, uint32_t connection, const struct smb_pdu *pdu,
					   uint64_t now_ns);
/** The storage work `token` is done. */
void smb_server_work_done(struct smb_server *server, uint32_t token, uint64_t now_ns);
/** The time of the last SMB_SERVER_WAKE has come (interim timers). */
void smb_server_wake(struct smb_server *server, uint64_t now_ns);

enum smb_server_output_kind {
	SMB_SERVER_IDLE,
	SMB_SERVER_SEND, /* put `pdu` on `connection` */
	SMB_SERVER_WORK, /* read or write `bytes` of storage, then smb_server_work_done(token) */
	SMB_SERVER_DISCONNECT, /* cut `connection`; `reason` says why */
	SMB_SERVER_WAKE,
};

struct smb_server_output {
	enum smb_server_output_kind kind;
	uint32_t connection;
	struct smb_pdu pdu;
	uint32_t token; /* WORK */
	bool is_write; /* WORK */
	uint64_t bytes; /* WORK */
	uint64_t when_ns; /* WAKE */
	const char *reason; /* DISCONNECT; static text */
};

#define SMB_SERVER_PDU_MAX 65536

/** The next output; a PDU is put into `buffer` of at least SMB_SERVER_PDU_MAX bytes and is valid until that changes. */
void smb_server_next(struct smb_server *server, struct smb_server_output *output, uint8_t *buffer, uint32_t size);

/** Numbers of a connection, for traces and predicates. */
struct smb_server_connection_info {
	bool open;
	uint64_t window_low; /* lowest id not yet used */
	uint32_t window_length;
	uint32_t granted; /* credits the client holds by the server's count */
	uint32_t outstanding; /* requests received and not finally answered */
	uint32_t outstanding_async;
	uint32_t owed; /* of these, those whose reply will still bring credits */
};
void smb_server_look(const struct smb_server *server, uint32_t connection, struct smb_server_connection_info *info);

#endif
