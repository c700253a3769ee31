/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the answers to the requests of MOUNT, UNMOUNT, OPEN and CLOSE bring. */
#include "protocol/client/cancel.h"
#include "protocol/client/smb1.h"
#include "protocol/client/write.h"
#include "protocol/wire/contexts.h"

#include <assert.h>
#include <string.h>

static void open_answer(struct smb_client *client, struct client_op *op, const struct smb2_message *message)
{
	struct client_file *file = client_file_at(client, op->file);
	const struct smb2_create_rsp *rsp = &message->body.create_rsp;
	const struct smb2_context *context;
	struct smb2_lease lease;

	file->id = rsp->file_id;
	/* Of a file that is written the server knows no more than it has got (cifs 6.1, is_size_safe_to_change). */
	if (op->work != WORK_REOPEN || file->access == SMB_OPEN_READ || rsp->end_of_file > file->bytes)
		file->bytes = rsp->end_of_file;
	file->oplock_level = rsp->oplock_level;
	file->is_invalid = false;
	context = smb2_create_context_find(rsp->contexts, rsp->context_count, "RqLs");
	if (context && smb2_lease_read(context, &lease) == SMB_WIRE_OK && !file->broken_early)
		file->lease_state = lease.state;
	if (file->broken_early && file->early_break_waits && !file->break_pending) {
		file->break_pending = true;
		client->breaks_pending++;
	}
	file->broken_early = false;
	if (op->work == WORK_REOPEN)
		return; /* what is cached stays, and so does what readahead knows */
	file->state = FILE_OPEN;
	file->random_hint = op->random_hint;
	if (client->limits.dirty_runs)
		smb_dirty_init(&file->dirty, client_writes_of(client, op->file), client->page_bytes,
			       client->limits.dirty_runs, client->limits.writes);
	smb_page_cache_init(&file->cache, client->page_bytes, client->limits.page_runs);
	smb_readahead_init(&file->ra, client->session.ra_pages);
}

/** FSCTL_VALIDATE_NEGOTIATE_INFO: what the server says now must be what NEGOTIATE said (MS-SMB2 3.2.5.14.12). */
static bool validate_answer(const struct smb_client *client, const struct smb2_message *message)
{
	const struct client_session *session = &client->session;
	const uint8_t *p = message->body.ioctl_rsp.output.data;

	if (message->body.ioctl_rsp.output.length < 24)
		return false;
	return (p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24) == session->capabilities &&
	       !memcmp(p + 4, session->server_guid, 16) && (p[20] | p[21] << 8) == session->security_mode &&
	       (p[22] | p[23] << 8) == session->dialect;
}

/** Note what a successful answer brought; false: it is not an answer to what was asked. */
static bool note_answer(struct smb_client *client, struct client_op *op, enum client_purpose purpose,
			const struct smb2_message *message)
{
	switch (purpose) {
	case PURPOSE_TREE_IPC:
		client->session.tree_ipc = message->header.tree_id;
		return message->kind == SMB2_BODY_TREE_CONNECT_RSP;
	case PURPOSE_TREE_SHARE:
		client->session.tree_share = message->header.tree_id;
		return message->kind == SMB2_BODY_TREE_CONNECT_RSP;
	case PURPOSE_VALIDATE_IPC:
	case PURPOSE_VALIDATE_SHARE:
		return message->kind == SMB2_BODY_IOCTL_RSP && validate_answer(client, message);
	case PURPOSE_ROOT_OPEN:
	case PURPOSE_STAT_OPEN:
		if (message->kind != SMB2_BODY_CREATE_RSP)
			return false;
		op->handle_is_open = client_script_step_requests(op) == 1; /* else its chain closes it */
		if (op->handle_is_open)
			op->handle = message->body.create_rsp.file_id;
		return true;
	case PURPOSE_INTERFACES:
		client_interfaces_answer(client, message);
		return true;
	case PURPOSE_OPEN:
	case PURPOSE_REOPEN_DURABLE:
	case PURPOSE_REOPEN:
		if (message->kind != SMB2_BODY_CREATE_RSP)
			return false;
		open_answer(client, op, message);
		return true;
	default:
		return true;
	}
}

/** May the operation go on when this request fails? What is only nice to know may. */
static bool is_optional(enum client_purpose purpose, uint32_t status)
{
	switch (purpose) {
	case PURPOSE_TREE_SHARE:
	case PURPOSE_ROOT_OPEN:
	case PURPOSE_STAT_OPEN:
	case PURPOSE_OPEN:
	case PURPOSE_REOPEN:
	case PURPOSE_FLUSH:
		return false;
	case PURPOSE_REOPEN_DURABLE:
		return status == STATUS_OBJECT_NAME_NOT_FOUND; /* the server kept no durable handle */
	default:
		return true;
	}
}

void client_script_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message)
{
	struct smb_request *request = client_request_at(client, slot);
	struct client_op *op = client_op_at(client, request->op);
	enum client_purpose purpose = request->purpose;
	uint32_t status = message->header.status;
	bool misfit = status == STATUS_SUCCESS && !note_answer(client, op, purpose, message);

	if (misfit)
		status = STATUS_REQUEST_NOT_ACCEPTED;
	if (purpose == PURPOSE_STAT_OPEN && op->create && status == STATUS_OBJECT_NAME_NOT_FOUND) {
		op->absent = true;
		status = STATUS_SUCCESS;
	}
	if (status != STATUS_SUCCESS && (misfit || !is_optional(purpose, status)) && op->status == STATUS_SUCCESS)
		op->status = status;
	if (purpose == PURPOSE_CLOSE && client_file_at(client, request->file)->state == FILE_CLOSING)
		client_file_at(client, request->file)->state = FILE_FREE;
	client_request_release(client, slot);
	if (--op->outstanding == 0)
		client_script_step_done(client, op);
}

void client_script_lost(struct smb_client *client, uint32_t slot)
{
	struct client_op *op = client_op_at(client, client_request_at(client, slot)->op);

	client_request_release(client, slot);
	op->lost = true;
	if (--op->outstanding == 0)
		client_script_step_done(client, op);
}
