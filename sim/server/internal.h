/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_SERVER_INTERNAL_H
#define SIM_SERVER_INTERNAL_H

/**
 * The state of the simulated server; private to sim/server.
 *
 * One block: this header, then one array per kind of thing, found by offset so that the block can be moved. Things
 * refer to each other by index. Free elements of an array are chained through `next`.
 */

#include "sim/server/server.h"
#include "sim/server/window.h"

#include <assert.h>

#define SERVER_NONE UINT32_MAX
#define SERVER_NAME_UNITS 60 /* longest name of one file, UTF-16 units; NTFS allows 255 */
#define SERVER_SHARE_MAX 32
#define SERVER_CONNECTIONS_MAX 64 /* bits of a session's channel mask */
#define SERVER_WINDOW_DEFAULT 8192
#define SERVER_CHUNK 128 /* bytes; replies wait in chains of chunks */

/* Status values that only this folder needs (MS-ERREF 2.3.1). */
#define STATUS_INFO_LENGTH_MISMATCH 0xc0000004u
#define STATUS_BUFFER_TOO_SMALL 0xc0000023u
#define STATUS_CANNOT_DELETE 0xc0000121u
#define STATUS_NOT_FOUND 0xc0000225u
#define STATUS_NOT_A_REPARSE_POINT 0xc0000275u

/** An error, as opposed to success and warnings (MS-ERREF 2.3). */
static inline bool status_is_error(uint32_t status)
{
	return status >> 30 == 3;
}

struct server_connection {
	bool open;
	bool negotiated;
	uint16_t dialect;
	uint16_t security_mode; /* the client's */
	uint32_t client_capabilities;
	uint32_t capabilities; /* as offered in the NEGOTIATE response */
	uint32_t max_read; /* bytes */
	uint32_t max_write;
	uint32_t max_transact;
	uint8_t client_guid[16];
	struct smb_server_window window;
	uint32_t outstanding;
	uint32_t outstanding_async;
	uint32_t owed; /* requests whose grant is still to come */
};

enum server_session_state { SERVER_SESSION_FREE, SERVER_SESSION_SETTING_UP, SERVER_SESSION_VALID };

struct server_session {
	enum server_session_state state;
	uint64_t id;
	uint64_t channels; /* bit per connection that completed its SESSION_SETUP */
	uint64_t setting_up; /* bit per connection between its two legs */
	bool is_expired; /* until it is authenticated again (MS-SMB2 3.3.5.5.2) */
	uint16_t dialect;
	uint8_t client_guid[16];
};

struct server_tree {
	bool used;
	bool is_pipe; /* IPC$ */
	uint32_t id;
	uint32_t session;
};

/** One name in a directory; a file with hard links has several. */
struct server_name {
	uint32_t next; /* same hash bucket, or free */
	uint32_t parent; /* file */
	uint32_t file;
	uint32_t before; /* in the directory, in order of creation */
	uint32_t after;
	uint16_t units; /* 0 = free */
	uint16_t text[SERVER_NAME_UNITS];
};

/** What a name stands for: a file or a directory. */
struct server_file {
	uint32_t next; /* free */
	bool used;
	bool is_directory;
	bool delete_pending;
	uint32_t links; /* names; the root counts one more */
	uint32_t entry; /* directories: their own name; SERVER_NONE for the root */
	uint32_t first_name; /* directories: entries; see server_name.after */
	uint32_t last_name;
	uint32_t first_extent;
	uint32_t first_handle;
	uint32_t attributes;
	uint64_t id;
	uint64_t size; /* bytes */
	uint64_t creation_time; /* FILETIME, as all four */
	uint64_t access_time;
	uint64_t write_time;
	uint64_t change_time;
};

/** Bytes of a file that come from one source, in order of offset, never overlapping; a gap reads as zeros. */
struct server_extent {
	uint32_t next;
	uint64_t offset; /* in the file */
	uint64_t length;
	uint64_t source;
	uint64_t position; /* in the source's stream */
};

enum server_scan { SERVER_SCAN_START, SERVER_SCAN_NAMES, SERVER_SCAN_END };

struct server_handle {
	uint32_t next; /* of the same file, or free */
	uint32_t before; /* of the same file */
	bool used;
	bool delete_on_close;
	bool is_breaking; /* until the client acknowledges */
	uint8_t oplock;
	uint8_t break_to; /* oplock level or lease state, with is_breaking */
	uint64_t id;
	uint32_t session;
	uint32_t tree;
	uint32_t file;
	uint32_t name; /* by which it was opened; SERVER_NONE: the root, or the name is gone */
	uint32_t access;
	uint32_t mode; /* create options that QUERY_INFO reports */
	uint32_t lease_state;
	uint16_t lease_epoch;
	uint16_t channel_sequence; /* newest one seen (MS-SMB2 3.3.5.2.10) */
	uint8_t lease_key[16];
	uint64_t position;
	enum server_scan scan; /* QUERY_DIRECTORY */
	bool scan_found; /* something was returned since the scan began */
	uint32_t scan_entry; /* next entry: 0 ".", 1 "..", then scan_name */
	uint32_t scan_name;
};

enum server_request_state {
	SERVER_REQUEST_FREE,
	SERVER_REQUEST_WAITING, /* not answered at all */
	SERVER_REQUEST_ASYNC, /* STATUS_PENDING was sent; with `reply_chunk` the final reply is encoded already */
	SERVER_REQUEST_CHAIN, /* a compound or a reply with bytes, already encoded, held until its work is done */
	SERVER_REQUEST_ANSWERED, /* cancelled, refused or its connection is gone; only the work is still running */
};

/** A request that waits for storage. */
struct server_request {
	enum server_request_state state;
	uint32_t next; /* same hash bucket, or free */
	uint32_t pending_before; /* in order of arrival */
	uint32_t pending_after;
	uint32_t connection;
	uint32_t works; /* outputs WORK not yet done */
	uint32_t members; /* CHAIN: requests answered by it */
	uint16_t command;
	uint16_t credit_charge;
	uint16_t credits_asked;
	uint32_t process_id;
	uint32_t tree_id;
	uint64_t session_id;
	uint64_t message_id;
	uint64_t arrived_ns;
	struct smb_slice data; /* READ: the answer; WRITE: only the length */
	uint32_t reply_chunk; /* SERVER_NONE: nothing encoded yet */
	uint32_t reply_length;
};

enum server_cut {
	SERVER_CUT_NONE,
	SERVER_CUT_MALFORMED,
	SERVER_CUT_RESPONSE,
	SERVER_CUT_NO_CREDIT,
	SERVER_CUT_OUTSIDE,
	SERVER_CUT_REPEATED,
	SERVER_CUT_NOT_NEGOTIATED,
	SERVER_CUT_NEGOTIATED_TWICE,
	SERVER_CUT_VALIDATION,
	SERVER_CUT_TOO_LONG,
	SERVER_CUT_MPX,
};

struct server_output {
	enum smb_server_output_kind kind;
	uint32_t connection;
	uint32_t token;
	bool is_write;
	enum server_cut cut;
	uint32_t chunk;
	uint32_t length;
	struct smb_slice payload; /* WORK: only the length */
};

/** Where each array starts, in bytes from the start of the block. */
struct server_layout {
	uint32_t connections;
	uint32_t windows;
	uint32_t sessions;
	uint32_t trees;
	uint32_t names;
	uint32_t name_buckets;
	uint32_t files;
	uint32_t extents;
	uint32_t handles;
	uint32_t requests;
	uint32_t request_buckets;
	uint32_t outputs;
	uint32_t chunk_next;
	uint32_t chunks;
	uint32_t size;
};

struct server_counts {
	uint32_t window_words;
	uint32_t name_buckets; /* a power of two, as all bucket counts */
	uint32_t extents;
	uint32_t request_buckets;
	uint32_t chunks;
};

/** Heads of the free chains. */
struct server_free {
	uint32_t names;
	uint32_t files;
	uint32_t extents;
	uint32_t handles;
	uint32_t requests;
	uint32_t chunks;
	uint32_t chunk_count;
};

struct smb_server {
	struct smb_server_limits limits;
	struct server_layout at;
	struct server_counts counts;
	struct smb_server_profile profile;
	uint8_t server_guid[16];
	char share[SERVER_SHARE_MAX];
	uint32_t interface_count;
	struct smb_server_interface interfaces[16];
	uint64_t now_ns;
	uint32_t serial; /* makes ids of sessions, trees and handles unique */
	uint64_t file_serial;
	struct server_free free;
	uint32_t pending_first; /* requests that may still get an interim reply */
	uint32_t pending_last;
	uint64_t due_ns; /* requests that arrived so long ago are due for their interim reply */
	uint64_t wake_ns; /* announced and not yet come; 0 = none */
	uint32_t output_first;
	uint32_t output_count;
	struct smb_server_choice choice; /* for the input that is being executed */
	struct smb_server_misbehaviour misbehaviour;
	bool misbehaves; /* any of it */
	uint32_t writes; /* counted for write_pushback */
};

#define SERVER_ARRAY(type, name)                                                                                       \
	static inline struct type *server_##name(const struct smb_server *server, uint32_t index)                      \
	{                                                                                                              \
		return (struct type *)(void *)((uint8_t *)(uintptr_t)server + server->at.name##s) + index;             \
	}
SERVER_ARRAY(server_connection, connection)
SERVER_ARRAY(server_session, session)
SERVER_ARRAY(server_tree, tree)
SERVER_ARRAY(server_name, name)
SERVER_ARRAY(server_file, file)
SERVER_ARRAY(server_extent, extent)
SERVER_ARRAY(server_handle, handle)
SERVER_ARRAY(server_request, request)
SERVER_ARRAY(server_output, output)
#undef SERVER_ARRAY

static inline uint32_t *server_words(const struct smb_server *server, uint32_t offset)
{
	return (uint32_t *)(void *)((uint8_t *)(uintptr_t)server + offset);
}

static inline uint64_t *server_window_seen(const struct smb_server *server, uint32_t connection)
{
	uint8_t *base = (uint8_t *)(uintptr_t)server + server->at.windows;
	return (uint64_t *)(void *)base + (size_t)connection * server->counts.window_words;
}

static inline uint8_t *server_chunk(const struct smb_server *server, uint32_t index)
{
	return (uint8_t *)(uintptr_t)server + server->at.chunks + (size_t)index * SERVER_CHUNK;
}

/** FILETIME of the simulated now; the simulation begins on 2021-01-01. */
#define SERVER_EPOCH_FILETIME UINT64_C(132539328000000000)
static inline uint64_t server_filetime(const struct smb_server *server)
{
	return SERVER_EPOCH_FILETIME + server->now_ns / 100;
}

#define SERVER_ATTRIBUTE_READONLY 0x01u
#define SERVER_ATTRIBUTE_DIRECTORY 0x10u
#define SERVER_ATTRIBUTE_ARCHIVE 0x20u
#define SERVER_ATTRIBUTE_NORMAL 0x80u

#endif
