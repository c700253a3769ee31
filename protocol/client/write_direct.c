/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WRITEs that do not come from the page cache: uncached write(2) (cifs 6.1, __cifs_writev), and bytes of a page that is not
 * cached and cannot be read (cifs_write). */
#include "protocol/client/write.h"

#include <assert.h>

static uint32_t smaller(uint64_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

/** `skip` bytes behind the start of the operation. */
static void set_data(const struct client_op *op, struct smb_request *request, uint64_t offset, uint32_t length)
{
	request->file = op->file;
	request->offset = offset;
	request->length = length;
	request->data_source = op->writer.source;
	request->data_offset = op->writer.source_offset + (offset - op->writer.begin);
	request->data_length = length;
}

static void send(struct smb_client *client, struct client_op *op, uint32_t slot, uint16_t charge)
{
	client_file_at(client, client_request_at(client, slot)->file)->writes++;
	client_write_send(client, op, slot, charge);
	op->outstanding++;
}

bool client_write_through(struct smb_client *client, struct client_op *op, uint64_t offset, struct smb_slice data)
{
	uint32_t slot;

	if (!client_need_channel(client, op) || client_must_wait_socket(client, op) ||
	    !client_take_headers(client, op, 1))
		return false;
	if (!client_has_request_room(client)) {
		client_wait_room(client, op);
		return false;
	}
	slot = client_request_take(client, PURPOSE_WRITE_THROUGH, client_op_index(client, op));
	set_data(op, client_request_at(client, slot), offset, smaller(data.length, client->session.wsize));
	send(client, op, slot, 0);
	op->channel = NONE;
	op->wait = OP_REPLY;
	return true;
}

/** Pieces to be sent again lie in a list, in no order. */
static void again_push(struct smb_client *client, struct client_op *op, uint32_t slot)
{
	client_request_at(client, slot)->chain = op->transfer.head;
	op->transfer.head = slot;
}

static uint32_t again_pop(struct smb_client *client, struct client_op *op)
{
	uint32_t slot = op->transfer.head;

	op->transfer.head = client_request_at(client, slot)->chain;
	client_request_at(client, slot)->chain = NONE;
	return slot;
}

/** Forget them; the answer is the lowest offset among them, or where the operation stands. */
static uint64_t again_drop(struct smb_client *client, struct client_op *op)
{
	uint64_t lowest = op->transfer.position;

	while (op->transfer.head != NONE) {
		uint32_t slot = again_pop(client, op);

		if (client_request_at(client, slot)->offset < lowest)
			lowest = client_request_at(client, slot)->offset;
		client_request_release(client, slot);
	}
	return lowest;
}

void client_write_direct_abandon(struct smb_client *client, struct client_op *op)
{
	client_return_credits(client, op);
	again_drop(client, op);
	for (uint32_t slot = 0; slot < client->requests.size && op->outstanding; slot++) {
		struct smb_request *request = client_request_at(client, slot);

		if (request->state != SMB_REQUEST_SENT || request->op != client_op_index(client, op))
			continue;
		request->op = NONE; /* its answer finds nobody */
		op->outstanding--;
	}
}

/** A slot for the next piece: one that is to be sent again as a whole, or a new one. NONE: there is no room. */
static uint32_t take_piece(struct smb_client *client, struct client_op *op, uint32_t bytes)
{
	struct op_transfer *transfer = &op->transfer;
	struct smb_request *again = transfer->head == NONE ? NULL : client_request_at(client, transfer->head);
	uint64_t offset = again ? again->offset : transfer->position;
	uint32_t slot;

	if (again && again->length == bytes)
		return again_pop(client, op);
	slot = client_request_take(client, PURPOSE_WRITE_DIRECT, client_op_index(client, op));
	if (slot == NONE)
		return NONE;
	set_data(op, client_request_at(client, slot), offset, bytes);
	if (again)
		set_data(op, again, offset + bytes, again->length - bytes);
	else
		transfer->position += bytes;
	return slot;
}

/** Send the next piece; all pieces are sent before any answer is waited for (cifs 6.1, cifs_write_from_iter). */
static void send_piece(struct smb_client *client, struct client_op *op)
{
	struct op_transfer *transfer = &op->transfer;
	uint64_t left = transfer->head == NONE ? transfer->end - transfer->position
					       : client_request_at(client, transfer->head)->length;
	uint32_t bytes;
	uint32_t slot;

	if (!client_need_channel(client, op) || client_must_wait_socket(client, op))
		return;
	if (!client_take_io(client, op, client->session.wsize))
		return;
	bytes = smaller(left, op->take.bytes);
	if (smb_credits_adjust(&client_channel_at(client, op->channel)->credits, &op->take, bytes) !=
	    SMB_CREDIT_ADJUSTED)
		assert(!"credits taken on a lost connection are dropped with it");
	if (!op->take.credits && !client_take_headers(client, op, 1))
		return;
	slot = take_piece(client, op, bytes);
	if (slot == NONE) {
		/* No slot to split a piece that comes again: everything from the first such on is written once more. */
		if (transfer->head != NONE)
			transfer->position = again_drop(client, op);
		return;
	}
	send(client, op, slot, op->take.credits);
	if (client->policy.channel_pick_scope == SMB_PICK_PER_REQUEST)
		op->channel = NONE;
}

/** Cached pages are old now (cifs 6.1, cifs_strict_writev: cifs_zap_mapping); those being read are waited for. */
static bool forget_pages(struct smb_client *client, struct client_op *op)
{
	struct client_file *file = client_file_at(client, op->file);

	if (file->reads)
		return false;
	smb_page_cache_invalidate(&file->cache, client_runs_of(client, op->file));
	return true;
}

void client_write_direct_run(struct smb_client *client, struct client_op *op)
{
	struct op_transfer *transfer = &op->transfer;
	bool more = transfer->position < transfer->end || transfer->head != NONE;

	if (op->failed && transfer->head != NONE) {
		client_return_credits(client, op);
		again_drop(client, op);
	} else if (more && !op->failed && (client_has_request_room(client) || transfer->head != NONE)) {
		send_piece(client, op);
	} else if (op->outstanding) {
		op->wait = OP_REPLY;
	} else if ((more && !op->failed) || !forget_pages(client, op)) {
		client_wait_room(client, op);
	} else {
		client_return_credits(client, op);
		op->bytes = transfer->end - op->offset;
		op->transfer = (struct op_transfer){ .head = NONE, .tail = NONE };
		client_op_end(client, op, op->failed && !op->bytes ? SMB_OP_FAILED : SMB_OP_OK,
			      op->failed && !op->bytes ? op->status : STATUS_SUCCESS);
	}
}

/** What lies behind the first piece that failed does not count. */
static void direct_failed(struct client_op *op, const struct smb_request *request, uint32_t written, uint32_t status)
{
	uint64_t end = request->offset + written;

	op->failed = true;
	if (end >= op->transfer.end)
		return;
	op->transfer.end = end;
	op->status = status;
}

static uint32_t status_of(enum smb_write_verdict verdict, const struct smb2_message *message)
{
	if (verdict == SMB_WRITE_NO_SPACE)
		return STATUS_DISK_FULL;
	return message->header.status ? message->header.status : STATUS_UNEXPECTED_IO_ERROR;
}

static uint32_t written_of(enum smb_write_verdict verdict, const struct smb_request *request,
			   const struct smb2_message *message)
{
	if (verdict == SMB_WRITE_OK)
		return request->length;
	return verdict == SMB_WRITE_NO_SPACE && message->kind == SMB2_BODY_WRITE_RSP ? message->body.write_rsp.count
										     : 0;
}

static void through_answer(struct smb_client *client, struct client_op *op, enum smb_write_verdict verdict,
			   uint32_t written, uint32_t status)
{
	struct smb_write_view view = client_write_view(client, op->file);

	if (verdict == SMB_WRITE_AGAIN)
		return; /* the writer asks for the same once more */
	if (verdict != SMB_WRITE_OK)
		op->status = status;
	smb_writer_sent(&op->writer, &view, written);
}

void client_write_direct_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message)
{
	struct smb_request *request = client_request_at(client, slot);
	struct client_file *file = client_file_at(client, request->file);
	enum smb_write_verdict verdict = client_write_verdict(request, message);
	struct client_op *op = request->op == NONE ? NULL : client_op_at(client, request->op);
	uint32_t written = verdict == SMB_WRITE_AGAIN ? 0 : written_of(verdict, request, message);
	uint32_t status = verdict == SMB_WRITE_AGAIN ? STATUS_SUCCESS : status_of(verdict, message);
	bool again = op && verdict == SMB_WRITE_AGAIN && request->purpose == PURPOSE_WRITE_DIRECT && !op->failed;

	file->writes--;
	if (request->offset + written > file->bytes)
		file->bytes = request->offset + written;
	if (op && request->purpose == PURPOSE_WRITE_THROUGH)
		through_answer(client, op, verdict, written, status);
	else if (op && verdict != SMB_WRITE_OK && verdict != SMB_WRITE_AGAIN)
		direct_failed(op, request, written, status);
	if (again)
		again_push(client, op, slot);
	else
		client_request_release(client, slot);
	if (op && --op->outstanding == 0 && op->wait == OP_REPLY)
		client_op_wake(client, op);
}
