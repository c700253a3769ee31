/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps of FSYNC, CLOSE and UNMOUNT that wait: until a file's dirty data is at the server, until nothing of it is under
 * way. */
#include "protocol/client/cancel.h"
#include "protocol/client/write.h"

/** Is the reconnect worker busy with this file (NONE: with anything)? */
static bool worker_has(const struct smb_client *client, uint32_t file)
{
	const struct client_op *worker = client_worker(client);

	return worker->wait != OP_FREE && (file == NONE || worker->file == file);
}

/** One step of the pass; what is lost for good is remembered for the end of a CLOSE. False: it is not done yet. */
static bool write_back(struct smb_client *client, struct client_op *op)
{
	if (!op->passing && !op->passed) {
		client_pass_begin(client, op, 0, UINT64_MAX);
		op->passed = true;
	}
	if (op->passing)
		client_pass_run(client, op);
	return !op->passing;
}

/** Files that the host left open are written back as at close(2), as far as that is still possible. */
static bool unmount_writes_back(struct smb_client *client, struct client_op *op, uint32_t file)
{
	if (!client_file_is_writable(client, file))
		return true;
	if (op->file != file)
		op->passed = false;
	op->file = file;
	return write_back(client, op);
}

/** The next open file becomes the subject of a CLOSE, as if the application had closed it. */
void client_script_close_files(struct smb_client *client, struct client_op *op)
{
	if (client_flusher_is_busy(client))
		client_wake_list(client, &client->for_session); /* it may wait there, and nothing comes back now */
	if (worker_has(client, NONE) || client_flusher_is_busy(client)) {
		client_wait_room(client, op);
		return;
	}
	for (uint32_t i = 0; i < client->limits.files; i++) {
		struct client_file *file = client_file_at(client, i);

		if (file->state != FILE_OPEN && file->state != FILE_CLOSING)
			continue;
		if (file->is_invalid && !op->passing) { /* its handle went with the session */
			file->state = FILE_FREE;
			continue;
		}
		if (!unmount_writes_back(client, op, i))
			return;
		if (file->reads || file->writes) {
			client_wait_room(client, op);
			return;
		}
		file->state = FILE_CLOSING;
		op->file = i;
		op->status = STATUS_SUCCESS;
		client_script_send_close(client, op);
		return;
	}
	op->file = NONE;
	if (client_has_late_closes(client)) { /* they need the tree (cifs 6.1: the worker holds the tcon) */
		client_wait_room(client, op);
		return;
	}
	op->step++;
}

void client_script_write_back(struct smb_client *client, struct client_op *op)
{
	const struct client_file *file = client_file_at(client, op->file);
	uint32_t status;

	if (op->kind == SMB_OP_CLOSE && file->users) {
		client_wait_room(client, op);
		return;
	}
	if (client_file_is_writable(client, op->file) && !write_back(client, op))
		return;
	op->passed = false;
	op->step++;
	if (!client_file_is_writable(client, op->file))
		return;
	status = client_lost_data_status(client, op->file);
	if (op->kind == SMB_OP_FSYNC) {
		op->failed = status != STATUS_SUCCESS;
		op->status = status;
	} else if (status != STATUS_SUCCESS) {
		op->lost_data = status; /* the file is closed all the same */
	}
}

/** The pass of an operation cannot go on: what a file that is being closed still holds is lost. */
void client_script_write_back_failed(struct smb_client *client, struct client_op *op)
{
	enum smb_op_verdict verdict = op->stalled ? SMB_OP_STALLED : op->verdict;
	uint32_t status = op->stalled ? STATUS_SUCCESS : op->status;

	client_pass_give_up(client, op, op->kind == SMB_OP_FSYNC && verdict == SMB_OP_STALLED);
	if (op->kind == SMB_OP_FSYNC)
		client_op_end(client, op, verdict, status);
}

void client_script_wait_reads(struct smb_client *client, struct client_op *op)
{
	/* The last READ's reference goes with its answer, CLOSE is sent then (cifs 6.1, cifsFileInfo_put). */
	struct client_file *file = client_file_at(client, op->file);
	bool idle;

	client_lost_forget(client, op->file);
	idle = !file->reads && !file->users && !file->writes && !file->dirty.write_count &&
	       !worker_has(client, op->file) && !client_flusher_has(client, op->file);
	if (idle && file->is_invalid) {
		/* No CLOSE for a handle that is gone (cifs 6.1, _cifsFileInfo_put). */
		file->state = FILE_FREE;
		client_op_end(client, op, op->lost_data ? SMB_OP_FAILED : SMB_OP_OK, op->lost_data);
		return;
	}
	if (idle) {
		op->step++;
		return;
	}
	client_wait_room(client, op);
}
