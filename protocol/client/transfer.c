/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* READs that one operation waits for: a page read alone (cifs_readpage), and uncached reads (cifs_direct_readv). */
#include "protocol/client/internal.h"

#include <assert.h>

void client_page_begin(struct smb_client *client, struct client_op *op, uint64_t page)
{
	uint64_t file_bytes = client_file_at(client, op->file)->bytes;

	op->transfer = (struct op_transfer){
		.position = page * client->page_bytes,
		.end = (page + 1) * client->page_bytes,
		.head = NONE,
		.tail = NONE,
	};
	if (!client->policy.read_whole_pages && op->transfer.end > file_bytes)
		op->transfer.end = file_bytes;
	op->status = STATUS_SUCCESS;
	op->channel = NONE;
}

static void transfer_end(struct smb_client *client, struct client_op *op, enum smb_op_verdict verdict, uint32_t status)
{
	client_transfer_abandon(client, op);
	if (op->bytes && verdict == SMB_OP_FAILED)
		client_op_end(client, op, SMB_OP_OK, STATUS_SUCCESS);
	else
		client_op_end(client, op, verdict, status);
}

static void page_release(struct smb_client *client, struct client_op *op)
{
	uint32_t slot = op->transfer.head;
	const struct smb_request *request = client_request_at(client, slot);
	struct client_list waiters = { request->waiters_head, request->waiters_tail };
	struct client_file *file = client_file_at(client, op->file);

	smb_page_cache_failed(&file->cache, client_runs_of(client, op->file), slot, 0); /* if it was not filled */
	client_wake_list(client, &waiters);
	op->transfer = (struct op_transfer){ .head = NONE, .tail = NONE };
	client_request_release(client, slot);
}

/** Give back slots that are held; none of them is on the wire. */
void client_transfer_abandon(struct smb_client *client, struct client_op *op)
{
	struct op_transfer *transfer = &op->transfer;

	client_return_credits(client, op);
	if (transfer->head != NONE && client_request_at(client, transfer->head)->purpose == PURPOSE_READ_PAGE) {
		page_release(client, op);
		return;
	}
	while (transfer->head != NONE) {
		uint32_t slot = transfer->head;
		struct smb_request *request = client_request_at(client, slot);

		transfer->head = request->chain;
		if (request->state == SMB_REQUEST_SENT) {
			request->op = request->chain = NONE; /* its answer finds nobody */
			op->outstanding--;
			continue;
		}
		client_request_release(client, slot);
	}
	transfer->tail = NONE;
}

/** Take the page under a slot's number; false: wait, or it is no longer missing. */
static bool page_take(struct smb_client *client, struct client_op *op)
{
	struct client_file *file = client_file_at(client, op->file);
	uint32_t next = client->requests.free_head;

	if (!client_has_request_room(client)) {
		client_wait_room(client, op);
		return false;
	}
	switch (smb_page_cache_reading(&file->cache, client_runs_of(client, op->file),
				       op->transfer.position / client->page_bytes, 1, next)) {
	case SMB_PAGE_CACHE_OK:
		break;
	case SMB_PAGE_CACHE_FULL:
		client_wait_room(client, op);
		return false;
	case SMB_PAGE_CACHE_BUSY:
		op->transfer = (struct op_transfer){ .head = NONE, .tail = NONE };
		return false;
	}
	op->transfer.head = client_request_take(client, PURPOSE_READ_PAGE, client_op_index(client, op));
	assert(op->transfer.head == next);
	client_request_at(client, next)->file = op->file;
	return true;
}

static void page_send(struct smb_client *client, struct client_op *op)
{
	struct smb_request *request = client_request_at(client, op->transfer.head);
	uint64_t length = op->transfer.end - op->transfer.position;

	if (length > client->session.rsize)
		length = client->session.rsize;
	if (length > client->policy.single_page_read_bytes)
		length = client->policy.single_page_read_bytes;
	request->offset = op->transfer.position;
	request->length = (uint32_t)length;
	client_read_started(client, request);
	op->headers_taken = false;
	op->outstanding = 1;
	op->wait = OP_REPLY;
	client_request_send(client, op->transfer.head, op->channel, 0);
	op->channel = NONE;
}

/** All pieces are in, or the file has no more: the page is as good as it gets. */
static void page_done(struct smb_client *client, struct client_op *op)
{
	struct client_file *file = client_file_at(client, op->file);
	uint64_t position = op->transfer.position;

	if (op->transfer.at_end && position < file->bytes)
		file->bytes = position; /* the server's file is shorter than it was at open */
	if (op->reader.end > file->bytes)
		op->reader.end = file->bytes > op->reader.position ? file->bytes : op->reader.position;
	if (op->transfer.data.length)
		smb_page_cache_filled(&file->cache, client_runs_of(client, op->file), op->transfer.head,
				      op->transfer.data);
	page_release(client, op);
}

void client_page_run(struct smb_client *client, struct client_op *op)
{
	struct op_transfer *transfer = &op->transfer;

	/* No slot is held while waiting for the session: those who bring it back need some. */
	if (transfer->head == NONE && (!client_need_channel(client, op) || !page_take(client, op)))
		return;
	if (op->status != STATUS_SUCCESS && op->kind == SMB_OP_WRITE) {
		op->status = STATUS_SUCCESS; /* it goes without that page (cifs_write_begin) */
		page_release(client, op);
		return;
	}
	if (op->status != STATUS_SUCCESS) {
		transfer_end(client, op, SMB_OP_FAILED, op->status);
		return;
	}
	if (transfer->position >= transfer->end || transfer->at_end) {
		page_done(client, op);
		return;
	}
	if (client_need_channel(client, op) && client_take_headers(client, op, 1))
		page_send(client, op);
}

static bool slice_joins(const struct smb_slice *left, const struct smb_slice *right)
{
	return left->source == right->source && (!left->source || left->offset + left->length == right->offset) &&
	       left->length <= UINT32_MAX - right->length;
}

static void page_answer(struct smb_client *client, struct client_op *op, const struct smb_request *request,
			const struct smb2_message *message)
{
	struct op_transfer *transfer = &op->transfer;
	struct smb_slice data;

	op->outstanding = 0;
	client_op_wake(client, op);
	if (client_read_data(request, message, &data)) {
		transfer->at_end = !data.length;
		transfer->position += data.length;
		if (!transfer->data.length)
			transfer->data = data;
		else if (slice_joins(&transfer->data, &data))
			transfer->data.length += data.length;
		else if (data.length)
			op->status = STATUS_INTERNAL_ERROR; /* a page of two sources: nothing here writes such files */
	} else if (message && message->header.status == STATUS_END_OF_FILE) {
		transfer->at_end = true;
	} else if (message && !client_status_means_again(message->header.status)) {
		op->status = message->header.status ? message->header.status : STATUS_NOT_SUPPORTED;
	}
	/* Else the same piece is asked for again: cifs repeats a synchronous read as long as it is told EAGAIN. */
}

/* ------------------------------------------------------------------------------------------------ uncached reads */

static void direct_append(struct smb_client *client, struct client_op *op, uint32_t slot)
{
	if (op->transfer.head == NONE)
		op->transfer.head = slot;
	else
		client_request_at(client, op->transfer.tail)->chain = slot;
	op->transfer.tail = slot;
}

/** Send the next piece; all pieces are sent before any answer is waited for (cifs 6.1, cifs_send_async_read). */
static void direct_send(struct smb_client *client, struct client_op *op)
{
	struct op_transfer *transfer = &op->transfer;
	uint64_t left = transfer->end - transfer->position;
	struct smb_request *request;
	uint32_t slot;
	uint32_t bytes;

	if (!client_need_channel(client, op))
		return;
	if (!client_take_io(client, op, client->session.rsize))
		return;
	bytes = left < op->take.bytes ? (uint32_t)left : op->take.bytes;
	if (smb_credits_adjust(&client_channel_at(client, op->channel)->credits, &op->take, bytes) !=
	    SMB_CREDIT_ADJUSTED)
		assert(!"credits taken on a lost connection are dropped with it");
	if (!op->take.credits && !client_take_headers(client, op, 1))
		return;
	slot = client_request_take(client, PURPOSE_READ_DIRECT, client_op_index(client, op));
	if (slot == NONE)
		return; /* taken by another while this one waited for credits, which it keeps */
	request = client_request_at(client, slot);
	request->file = op->file;
	request->offset = transfer->position;
	request->length = bytes;
	client_read_started(client, request);
	direct_append(client, op, slot);
	client_request_send(client, slot, op->channel, op->take.credits);
	op->io_taken = false;
	op->headers_taken = false;
	op->outstanding++;
	transfer->position += bytes;
	if (client->policy.channel_pick_scope == SMB_PICK_PER_REQUEST || transfer->position >= transfer->end)
		op->channel = NONE;
}

/** Hand over what has been collected. */
static void direct_copy(struct smb_client *client, struct client_op *op)
{
	struct smb_slice data = op->transfer.data;
	struct client_output *output;

	op->transfer.data.length = 0;
	op->bytes += data.length;
	if (client->copy_is_free)
		return;
	output = client_output_push(client, SMB_CLIENT_COPY);
	output->op = client_op_index(client, op);
	output->data = data;
	output->offset = op->offset + op->bytes - data.length;
	op->wait = OP_COPY;
}

/** Forget the pieces from the first on. */
static void direct_drop(struct smb_client *client, struct client_op *op)
{
	client_transfer_abandon(client, op);
	op->channel = NONE;
}

/** Every piece is answered: take the next one's data, in order, up to the first that is short or failed. */
static void direct_collect(struct smb_client *client, struct client_op *op)
{
	struct op_transfer *transfer = &op->transfer;
	const struct smb_request *request = client_request_at(client, transfer->head);
	struct smb_slice data = { request->data_source, request->data_offset, request->data_length };
	uint32_t slot = transfer->head;

	if (transfer->data.length && data.length && !slice_joins(&transfer->data, &data)) {
		direct_copy(client, op);
		return;
	}
	if (request->status == STATUS_SUCCESS || request->status == STATUS_END_OF_FILE) {
		if (!transfer->data.length)
			transfer->data = data;
		else
			transfer->data.length += data.length;
		if (data.length < request->length) {
			transfer->at_end = true;
			direct_drop(client, op);
			return;
		}
		transfer->head = request->chain;
		client_request_release(client, slot);
		return;
	}
	if (client_status_means_again(request->status)) {
		transfer->position = request->offset; /* from here on once more */
		direct_drop(client, op);
		return;
	}
	op->failed = true;
	op->status = request->status;
	direct_drop(client, op);
}

void client_direct_run(struct smb_client *client, struct client_op *op)
{
	struct op_transfer *transfer = &op->transfer;

	bool more = transfer->position < transfer->end && !transfer->at_end && !op->failed;

	if (more && client_has_request_room(client)) {
		direct_send(client, op);
	} else if (more && !op->outstanding && transfer->head == NONE) {
		client_wait_room(client, op);
	} else if (op->outstanding) {
		op->wait = OP_REPLY;
	} else if (transfer->head != NONE) {
		direct_collect(client, op);
	} else if (transfer->data.length) {
		direct_copy(client, op);
	} else if (op->failed) {
		transfer_end(client, op, SMB_OP_FAILED, op->status);
	} else {
		transfer_end(client, op, SMB_OP_OK, STATUS_SUCCESS);
	}
}

static void direct_answer(struct smb_client *client, struct client_op *op, struct smb_request *request,
			  const struct smb2_message *message)
{
	struct smb_slice data;

	/* A piece that went down with its channel is asked for again, as one that the server had no resources for. */
	request->status = message ? message->header.status : STATUS_SERVER_UNAVAILABLE;
	if (message && message->header.status == STATUS_SUCCESS && !client_read_data(request, message, &data))
		request->status = STATUS_NOT_SUPPORTED;
	else
		client_read_data(request, message, &data);
	request->data_source = data.source;
	request->data_offset = data.offset;
	request->data_length = data.length;
	op->outstanding--;
	if (!op->outstanding && op->wait == OP_REPLY)
		client_op_wake(client, op);
}

void client_transfer_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message)
{
	struct smb_request *request = client_request_at(client, slot);

	client_read_ended(client, request, message);
	if (request->op == NONE)
		client_request_release(client, slot);
	else if (request->purpose == PURPOSE_READ_PAGE)
		page_answer(client, client_op_at(client, request->op), request, message);
	else
		direct_answer(client, client_op_at(client, request->op), request, message);
}
