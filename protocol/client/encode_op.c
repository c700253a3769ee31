/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operations in canonical form. */
#include "protocol/client/encode.h"

#include <string.h>

static void put_flow(struct encoder *encoder, const struct client_op *op)
{
	put32(encoder, op->channel);
	put8(encoder, op->headers_taken);
	put8(encoder, op->io_taken);
	put8(encoder, op->stalled);
	put8(encoder, op->failed);
	put8(encoder, op->lost);
	put8(encoder, op->losses);
	put8(encoder, op->work);
	put8(encoder, op->session_count != encoder->client->session.count);
	put_time(encoder, op->wait == OP_SESSION ? op->give_up_ns : NEVER);
	put8(encoder, op->gave_up);
	if (op->wait == OP_CREDITS || op->headers_taken || op->io_taken) {
		put8(encoder, op->need);
		put32(encoder, op->need_headers);
		put32(encoder, op->need_bytes);
	}
	if (op->io_taken) {
		put32(encoder, op->take.bytes);
		put32(encoder, op->take.credits);
		put8(encoder, op->take.instance == client_channel_at(encoder->client, op->channel)->credits.instance);
	}
	put32(encoder, op->outstanding);
}

static void put_read(struct encoder *encoder, const struct client_op *op)
{
	const struct smb_reader *reader = &op->reader;
	const struct op_transfer *transfer = &op->transfer;

	put64(encoder, reader->position);
	put64(encoder, reader->end);
	put64(encoder, reader->wanted_end);
	put8(encoder, reader->waited);
	put8(encoder, reader->single);
	put64(encoder, reader->window.start);
	put32(encoder, reader->window.pages);
	put64(encoder, reader->window.mark);
	put64(encoder, op->window.start);
	put64(encoder, op->window.end);
	put64(encoder, op->window.mark);
	put8(encoder, op->window.issued > 0);
	put32(encoder, rank_of(encoder, op->window.wait_for));
	put32(encoder, rank_of(encoder, op->window.before));
	put_slice(encoder, op->window.head);
	put64(encoder, transfer->position);
	put64(encoder, transfer->end);
	put32(encoder, rank_of(encoder, transfer->head));
	put_slice(encoder, transfer->data);
	put8(encoder, transfer->at_end);
	put64(encoder, op->offset);
	put64(encoder, op->length);
}

uint32_t client_encode_rank_of_write(const struct encoder *encoder, uint32_t file, uint32_t write)
{
	const struct smb_client *client = encoder->client;

	for (uint32_t slot = 0; write != SMB_WRITE_NONE && slot < client->requests.size; slot++) {
		const struct smb_request *request = client_request_at(client, slot);

		if (request->state == SMB_REQUEST_SENT && request->purpose == PURPOSE_WRITE_BACK &&
		    request->file == file && request->write == write)
			return rank_of(encoder, slot);
	}
	return NONE;
}

/** Its last WRITE is not in the socket yet. */
static bool is_held_up(const struct smb_client *client, const struct client_op *op)
{
	return op->wrote_on != NONE && client_channel_at(client, op->wrote_on)->is_full;
}

static void put_pass(struct encoder *encoder, const struct client_op *op)
{
	const struct smb_writeback *pass = &op->pass;

	put8(encoder, op->passing);
	put8(encoder, op->passed);
	if (is_held_up(encoder->client, op))
		put32(encoder, op->wrote_on);
	put32(encoder, op->lost_data);
	if (!op->passing)
		return;
	put8(encoder, pass->kind);
	put64(encoder, pass->start);
	put64(encoder, pass->end);
	put64(encoder, pass->position);
	put64(encoder, pass->chunk_left);
	put8(encoder, pass->wrapped);
	put32(encoder, client_encode_rank_of_write(encoder, op->file, pass->write));
}

static void put_write(struct encoder *encoder, const struct client_op *op)
{
	const struct smb_writer *writer = &op->writer;

	put8(encoder, op->uncached);
	put64(encoder, writer->begin);
	put64(encoder, writer->position);
	put64(encoder, writer->end);
	put64(encoder, writer->source);
	put64(encoder, writer->source_offset);
	put8(encoder, writer->read_tried);
	put64(encoder, op->transfer.position);
	put64(encoder, op->transfer.end);
	put32(encoder, rank_of(encoder, op->transfer.head));
	put_slice(encoder, op->transfer.data);
	put8(encoder, op->transfer.at_end);
}

void client_encode_op(struct encoder *encoder, const struct client_op *op)
{
	put8(encoder, op->wait);
	if (op->wait == OP_FREE)
		return;
	put8(encoder, op->kind);
	put_flow(encoder, op);
	put32(encoder, op->step);
	put32(encoder, op->tries);
	put32(encoder, op->status);
	put8(encoder, op->handle_is_open);
	if (op->handle_is_open || op->wait == OP_REPLY) {
		put64(encoder, op->handle.persistent);
		put64(encoder, op->handle.volatile_id);
	}
	put32(encoder, op->file);
	put8(encoder, op->verdict);
	put64(encoder, op->bytes);
	if (op->kind == SMB_OP_READ)
		put_read(encoder, op);
	if (op->kind == SMB_OP_WRITE)
		put_write(encoder, op);
	if (op->kind == SMB_OP_COMMAND) {
		put32(encoder, op->lane);
		put32(encoder, op->members);
		put8(encoder, op->error);
	}
	if (op->kind == SMB_OP_OPEN) {
		put8(encoder, op->random_hint);
		put8(encoder, op->access);
		put8(encoder, op->create);
		put8(encoder, op->truncate);
		put8(encoder, op->absent);
	}
	put8(encoder, op->without_flush);
	put_pass(encoder, op);
	put_bytes(encoder, op->name, strlen(op->name) + 1);
}
