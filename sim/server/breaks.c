/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Oplock and lease breaks: the notification, when the host wants one, and the acknowledgement (MS-SMB2 3.3.4.6,
 * 3.3.4.7, 3.3.5.22). */

#include "sim/server/call.h"
#include "sim/server/outputs.h"

#include "protocol/wire/contexts.h"

#include <string.h>

#define OPLOCK_LEVEL_II 0x01u
#define ACK_REQUIRED 0x00000001u /* SMB2_NOTIFY_BREAK_LEASE_FLAG_ACK_REQUIRED */
#define BREAKS_BYTES 4096u
#define BREAKS_MAX 32u /* copies of one notification: each takes 112 bytes */
#define STATUS_UNSUCCESSFUL 0xc0000001u
#define STATUS_INVALID_OPLOCK_PROTOCOL 0xc00000e3u
#define STATUS_INVALID_DEVICE_STATE 0xc0000184u

static bool is_lease(const struct server_handle *handle)
{
	return handle->oplock == SMB2_OPLOCK_LEVEL_LEASE;
}

static bool same_lease(const struct server_handle *a, const struct server_handle *b)
{
	return a == b || (is_lease(a) && b->used && is_lease(b) && a->session == b->session &&
			  memcmp(a->lease_key, b->lease_key, sizeof(a->lease_key)) == 0);
}

/* Something to write back or to close first: the server waits for the acknowledgement. */
static bool needs_acknowledgement(const struct server_handle *handle)
{
	return is_lease(handle) ? handle->lease_state & (SMB2_LEASE_WRITE_CACHING | SMB2_LEASE_HANDLE_CACHING)
				: handle->oplock > OPLOCK_LEVEL_II;
}

void smb_server_look_open(const struct smb_server *server, uint32_t index, struct smb_server_open_info *info)
{
	assert(index < server->limits.handles);
	const struct server_handle *handle = server_handle(server, index);

	*info = (struct smb_server_open_info){ .is_open = handle->used };
	if (!handle->used)
		return;
	info->is_breaking = handle->is_breaking;
	info->is_lease = is_lease(handle);
	info->oplock_level = handle->oplock;
	info->lease_state = handle->lease_state;
	info->channels = server_session(server, handle->session)->channels;
	info->id = (struct smb2_file_id){ handle->id, handle->id };
}

static bool can_break(const struct smb_server *server, const struct server_handle *handle, uint32_t connection,
		      uint32_t to)
{
	if (!handle->used || handle->is_breaking || !server_connection(server, connection)->open ||
	    !(server_session(server, handle->session)->channels >> connection & 1))
		return false;
	if (is_lease(handle))
		return !(to & ~handle->lease_state) && to != handle->lease_state;
	return to <= OPLOCK_LEVEL_II && to < handle->oplock;
}

static struct smb2_message notification(const struct server_handle *handle, uint32_t to)
{
	struct smb2_message message = {
		.header = {
			.command = SMB2_OPLOCK_BREAK,
			.flags = SMB2_FLAGS_SERVER_TO_REDIR,
			.message_id = SMB2_MESSAGE_ID_UNSOLICITED,
		},
		.kind = SMB2_BODY_OPLOCK_BREAK,
	};

	if (!is_lease(handle)) {
		message.body.oplock_break = (struct smb2_oplock_break){ (uint8_t)to, { handle->id, handle->id } };
		return message;
	}
	message.kind = SMB2_BODY_LEASE_BREAK_NOTIFY;
	message.body.lease_break_notify = (struct smb2_lease_break_notify){
		.new_epoch = (uint16_t)(handle->lease_epoch + 1),
		.flags = needs_acknowledgement(handle) ? ACK_REQUIRED : 0,
		.current_state = handle->lease_state,
		.new_state = to,
	};
	memcpy(message.body.lease_break_notify.lease_key, handle->lease_key, sizeof(handle->lease_key));
	return message;
}

static void settle(struct server_handle *handle, uint32_t to)
{
	handle->is_breaking = false;
	handle->break_to = 0;
	if (is_lease(handle))
		handle->lease_state = to;
	else
		handle->oplock = (uint8_t)to;
}

static void send_notification(struct smb_server *server, uint32_t connection, const struct smb2_message *message)
{
	uint32_t copies = server->misbehaviour.break_copies;
	uint8_t bytes[BREAKS_BYTES];
	struct smb_chain_writer writer;

	smb_chain_begin(&writer, bytes, sizeof(bytes));
	for (uint32_t i = 0; i < (copies ? copies : 1) && i < BREAKS_MAX; i++) {
		enum smb_wire_verdict verdict = smb_chain_append(&writer, message);
		assert(verdict == SMB_WIRE_OK);
		(void)verdict;
	}
	struct smb_pdu pdu = smb_chain_finish(&writer);
	server_output_send(server, connection, &pdu);
}

bool smb_server_break(struct smb_server *server, uint32_t index, uint32_t connection, uint32_t to, uint64_t now_ns)
{
	assert(index < server->limits.handles && connection < server->limits.connections);
	struct server_handle *first = server_handle(server, index);

	server->now_ns = now_ns;
	if (!can_break(server, first, connection, to))
		return false;
	struct smb2_message message = notification(first, to);
	bool waits = needs_acknowledgement(first);
	struct server_handle key = *first;
	for (uint32_t i = 0; i < server->limits.handles; i++) {
		struct server_handle *handle = server_handle(server, i);
		if (i != index && !same_lease(&key, handle))
			continue;
		handle->lease_epoch = (uint16_t)(handle->lease_epoch + is_lease(handle));
		handle->is_breaking = waits;
		handle->break_to = (uint8_t)to;
		if (!waits)
			settle(handle, to);
	}
	send_notification(server, connection, &message);
	return true;
}

static void grant_more(struct server_call *call)
{
	uint16_t amount = call->server->misbehaviour.break_grant;

	if (amount) /* in place of whatever was asked */
		call->server->choice = (struct smb_server_choice){ .chosen = true, .grant = amount };
}

static uint32_t acknowledge_lease(struct server_call *call)
{
	const struct smb2_lease_break_ack *ack = &call->request->body.lease_break_ack;
	uint32_t status = STATUS_OBJECT_NAME_NOT_FOUND;

	for (uint32_t i = 0; i < call->server->limits.handles; i++) {
		struct server_handle *handle = server_handle(call->server, i);
		if (!handle->used || !is_lease(handle) || handle->session != call->session ||
		    memcmp(handle->lease_key, ack->lease_key, sizeof(handle->lease_key)) != 0)
			continue;
		if (!handle->is_breaking)
			return STATUS_UNSUCCESSFUL;
		if (ack->lease_state & ~(uint32_t)handle->break_to)
			return STATUS_REQUEST_NOT_ACCEPTED;
		settle(handle, ack->lease_state);
		status = STATUS_SUCCESS;
	}
	if (!status) {
		call->reply->kind = SMB2_BODY_LEASE_BREAK_ACK;
		call->reply->body.lease_break_ack = *ack;
		call->reply->body.lease_break_ack.flags = 0;
	}
	return status;
}

static uint32_t acknowledge_oplock(struct server_call *call)
{
	const struct smb2_oplock_break *ack = &call->request->body.oplock_break;
	uint32_t index = server_handle_find(call->server, call->session, ack->file_id);

	if (index == SERVER_NONE)
		return STATUS_FILE_CLOSED;
	struct server_handle *handle = server_handle(call->server, index);
	if (ack->oplock_level == SMB2_OPLOCK_LEVEL_LEASE)
		return STATUS_INVALID_PARAMETER;
	if (!handle->is_breaking || is_lease(handle))
		return STATUS_INVALID_DEVICE_STATE;
	if (ack->oplock_level > handle->break_to)
		return STATUS_INVALID_OPLOCK_PROTOCOL;
	settle(handle, ack->oplock_level);
	call->reply->kind = SMB2_BODY_OPLOCK_BREAK;
	call->reply->body.oplock_break = *ack;
	return STATUS_SUCCESS;
}

/* MS-SMB2 3.3.5.22.1 and 3.3.5.22.2. */
uint32_t server_oplock_break(struct server_call *call)
{
	grant_more(call);
	if (call->request->kind == SMB2_BODY_LEASE_BREAK_ACK)
		return acknowledge_lease(call);
	return call->request->kind == SMB2_BODY_OPLOCK_BREAK ? acknowledge_oplock(call) : STATUS_INVALID_PARAMETER;
}
