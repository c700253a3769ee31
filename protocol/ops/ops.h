/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_OPS_OPS_H
#define SMB_OPS_OPS_H

/**
 * What a shell command becomes on the wire.
 *
 * A command is a sequence of system calls (scripts.c), each a walk over a cache of names and attributes (dentry.c) and
 * a few operations of the file system, each of which becomes one related chain of SMB2 requests or, before the series
 * of August 2018, one request at a time. All that differs between kernels is a policy value.
 *
 * One relocatable block, no I/O. Order of work for a host: smb_ops_begin(), then smb_ops_next() until SMB_OPS_IDLE,
 * smb_ops_reply() for each request that was sent, smb_ops_next() again, and so on until SMB_OPS_DONE. What was put
 * off (the deferred CLOSE of 5.13) comes out of smb_ops_next() when its time has come, command or not.
 */

#include "protocol/eras/policy.h"
#include "protocol/ops/command.h"
#include "protocol/wire/smb2.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct smb_ops; /* the block */

struct smb_ops_limits {
	uint32_t dentries; /* names known at a time, 8 to 65536; a listing that does not fit is not kept */
	uint32_t files; /* files open or to be closed later, 2 to 1024 */
};

extern const struct smb_ops_limits smb_ops_limits_simulation;

struct smb_ops_config {
	struct smb_policy policy;
	uint16_t dialect; /* enum smb2_dialect */
	bool can_lease; /* the server offers SMB2_GLOBAL_CAP_LEASING */
	uint32_t actimeo_ms;
	bool serverino;
	bool mfsymlinks;
	bool nostrictsync;
	uint32_t rsize; /* bytes */
	uint32_t wsize; /* bytes */
	uint32_t page_bytes;
	uint8_t lease_seed[16]; /* keys of leases are made from it */
	uint64_t filetime_zero; /* FILETIME at now_ns = 0: the times that touch sets */
};

/** Bytes a block of these limits takes; 0 when a limit is out of range. */
size_t smb_ops_size(const struct smb_ops_limits *limits);
/** Make one in `block` (aligned for uint64_t): the share is mounted, nothing is cached. NULL: limits or config are not
 *  valid. */
struct smb_ops *smb_ops_init(void *block, const struct smb_ops_limits *limits, const struct smb_ops_config *config);
size_t smb_ops_block_size(const struct smb_ops *ops);
bool smb_ops_is_valid(const struct smb_ops *ops);
/** The state in canonical form for hashing, as smb_client_encode; times as ages at `now_ns`. Returns bytes written, 0 when
 *  `size` is too small. */
size_t smb_ops_encode(const struct smb_ops *ops, uint64_t now_ns, uint8_t *buffer, size_t size);

/** How a command ended: an errno in words. */
enum smb_ops_error {
	SMB_OPS_OK,
	SMB_OPS_NOT_FOUND, /* ENOENT */
	SMB_OPS_EXISTS,
	SMB_OPS_NOT_EMPTY,
	SMB_OPS_NOT_A_DIRECTORY,
	SMB_OPS_IS_A_DIRECTORY,
	SMB_OPS_ACCESS,
	SMB_OPS_NOT_SUPPORTED,
	SMB_OPS_NO_SPACE, /* of the block: too many names or open files */
	SMB_OPS_NAME_TOO_LONG,
	SMB_OPS_IO, /* any other NT status */
};
/** "No such file or directory", ... as strerror has it. Never NULL. */
const char *smb_ops_error_text(enum smb_ops_error error);

/** Start a command. False: one is under way, or the command is not valid. */
bool smb_ops_begin(struct smb_ops *ops, const struct smb_ops_command *command, uint64_t now_ns);

enum smb_ops_step_kind {
	SMB_OPS_IDLE, /* replies are due, or nothing is to be done before `when_ns` */
	SMB_OPS_SEND, /* `count` members as one related chain; build them with smb_ops_member() */
	SMB_OPS_DONE, /* the command is over */
};

#define SMB_OPS_CHAIN_MAX 4
#define SMB_OPS_LANE_COMMAND 0u /* requests of the command; others are the numbers of files closed beside it */
#define SMB_OPS_NEVER UINT64_MAX

struct smb_ops_step {
	enum smb_ops_step_kind kind;
	uint32_t lane; /* SEND: one chain of a lane is under way at a time */
	uint32_t count; /* SEND: members, 1 to SMB_OPS_CHAIN_MAX */
	uint64_t when_ns; /* IDLE: call smb_ops_next() again then; SMB_OPS_NEVER = only after a reply or a command */
	enum smb_ops_error error; /* DONE */
};

/** What is to be done at `now_ns`. */
void smb_ops_next(struct smb_ops *ops, uint64_t now_ns, struct smb_ops_step *step);

/** Bytes that a member's message points to until it is encoded. */
struct smb_ops_scratch {
	uint8_t name[2 * SMB_OPS_PATH_MAX];
	uint8_t buffer[2 * SMB_OPS_PATH_MAX + 32];
	uint8_t lease[52];
	uint8_t data[1100];
};

/** How a request is paid for (facts A7). */
enum smb_ops_payment {
	SMB_OPS_PAY_ORDINARY, /* one credit; asks what any PDU asks */
	SMB_OPS_PAY_IO, /* READ or WRITE of the page cache: charge by `io_bytes`, asks charge + the era's extra */
	SMB_OPS_PAY_SESSION, /* LOGOFF: belongs to no tree, CreditCharge 0 */
};

struct smb_ops_member_info {
	enum smb_ops_payment payment;
	uint32_t io_bytes;
};

/** Build member `index` of the chain that smb_ops_next() just returned for `lane`: body, command and the flag RELATED.
 *  Ids, credits and the rest of the header are the sender's. Data of a WRITE is a slice without bytes unless it is
 *  the text of a symlink. */
void smb_ops_member(const struct smb_ops *ops, uint32_t lane, uint32_t index, struct smb2_message *message,
		    struct smb_ops_scratch *scratch, struct smb_ops_member_info *info);

/** A READ or WRITE is cut to `bytes`, because credits are short: before it is sent. */
void smb_ops_shorten(struct smb_ops *ops, uint32_t bytes);

/** The final reply to member `index` of a lane's chain. Replies come in any order; all must come. A reply that was lost
 *  with its connection: message NULL. False: no such request is under way. */
bool smb_ops_reply(struct smb_ops *ops, uint32_t lane, uint32_t index, const struct smb2_message *message,
		   uint64_t now_ns);

/* ------------------------------------------------------------------------------------------------ looking in */

struct smb_ops_info {
	bool busy; /* a command is under way */
	uint32_t open_files; /* deferred ones included */
	uint32_t names; /* dentries in use */
	uint64_t bytes_read; /* of the last command */
	uint64_t bytes_written;
	uint32_t listed; /* entries that the last ls read */
};

void smb_ops_look(const struct smb_ops *ops, struct smb_ops_info *info);
/** Forget all names and attributes, as `echo 2 > /proc/sys/vm/drop_caches` does; open files stay. Not during a
 *  command. */
void smb_ops_drop_caches(struct smb_ops *ops);

#endif
