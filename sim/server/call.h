/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_SERVER_CALL_H
#define SIM_SERVER_CALL_H

/**
 * One PDU being executed, member by member, and the commands that do it.
 *
 * A command looks at `request`, changes the state and fills the body of `reply`; its answer is the NT status. With an
 * error the body is the error response, whatever was filled in. The caller has checked session, tree and FileId
 * as the command's rule asks.
 */

#include "sim/server/internal.h"

struct server_call {
	struct smb_server *server;
	uint32_t connection;
	struct server_connection *on;
	const struct smb2_message *request;
	struct smb2_message *reply;
	/* what a related member takes over from the one before (MS-SMB2 3.3.5.2.7.2) */
	uint64_t session_id;
	uint32_t tree_id;
	uint32_t session; /* SERVER_NONE: not checked or not valid, as the next two */
	uint32_t tree;
	uint32_t handle;
	uint32_t create_status; /* of a CREATE that failed, handed on to those that need its FileId */
	bool refuse_related; /* the chain began with a related member */
	/* how the member is answered */
	uint32_t member; /* of its chain, from 0 */
	bool is_single; /* not part of a chain */
	bool is_last;
	bool is_silent; /* CANCEL */
	bool is_waiting; /* a single request that storage works for; the reply comes later */
	enum server_cut cut;
	uint32_t token; /* table entry of a request or chain that storage works for */
	/* bytes that the reply's body points to */
	uint8_t *scratch;
	uint32_t scratch_room;
	uint32_t reply_room; /* bytes the reply may still add to the PDU */
};

/** Take `length` bytes of scratch space; the caller has checked the room. */
uint8_t *server_call_scratch(struct server_call *call, uint32_t length);
/** Room for the variable part of a reply: what is left of the PDU and of the scratch space. */
uint32_t server_call_room(const struct server_call *call);
/** Check session, tree, CreditCharge and FileId as the command of `request` needs it, then run it: a member of no chain. */
uint32_t server_call_run(struct server_call *call);
/** Start storage work for the current member; false: no table entry left, the request must be refused. */
bool server_call_storage(struct server_call *call, bool is_write, uint32_t bytes);

uint32_t server_negotiate(struct server_call *call);
uint32_t server_session_setup(struct server_call *call);
uint32_t server_logoff(struct server_call *call);
uint32_t server_tree_connect(struct server_call *call);
uint32_t server_tree_disconnect(struct server_call *call);
uint32_t server_create(struct server_call *call);
uint32_t server_close(struct server_call *call);
uint32_t server_flush(struct server_call *call);
uint32_t server_read(struct server_call *call);
uint32_t server_write(struct server_call *call);
uint32_t server_lock(struct server_call *call);
uint32_t server_ioctl(struct server_call *call);
uint32_t server_cancel(struct server_call *call);
uint32_t server_echo(struct server_call *call);
uint32_t server_query_directory(struct server_call *call);
uint32_t server_query_info(struct server_call *call);
uint32_t server_set_info(struct server_call *call);
uint32_t server_oplock_break(struct server_call *call);

/* Look-ups by the ids on the wire; SERVER_NONE when there is no such thing. */
uint32_t server_session_find(const struct smb_server *server, uint64_t id);
uint32_t server_tree_find(const struct smb_server *server, uint32_t session, uint32_t id);
uint32_t server_handle_find(const struct smb_server *server, uint32_t session, struct smb2_file_id id);

/** Forget a connection: its requests, its part in sessions, what waits to be sent on it. */
void server_connection_drop(struct smb_server *server, uint32_t connection);
/** A connection left a session, by LOGOFF or by closing; the last one takes the session with it. */
void server_session_leave(struct smb_server *server, uint32_t index, uint32_t connection);
void server_session_end(struct smb_server *server, uint32_t index);
/** Close an open: delete-on-close takes effect with the last one. */
void server_handle_close(struct smb_server *server, uint32_t index);

/** Set or clear "delete when the last handle is closed"; the status says why not. */
uint32_t server_file_dispose(struct smb_server *server, uint32_t index, bool is_deleted);

/* Access rights (MS-SMB2 2.2.13.1). */
#define SERVER_ACCESS_READ_DATA 0x00000001u
#define SERVER_ACCESS_WRITE_DATA 0x00000002u
#define SERVER_ACCESS_APPEND_DATA 0x00000004u
#define SERVER_ACCESS_EXECUTE 0x00000020u
#define SERVER_ACCESS_WRITE_ATTRIBUTES 0x00000100u
#define SERVER_ACCESS_DELETE 0x00010000u
#define SERVER_ACCESS_ALL 0x001f01ffu

#endif
