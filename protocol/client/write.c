/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WRITE through the page cache: the writer's steps, and what the answers to WRITEs mean (facts A10). */
#include "protocol/client/write.h"
#include "protocol/wire/contexts.h"

#include <assert.h>

bool client_file_is_writable(const struct smb_client *client, uint32_t file)
{
	return client->limits.dirty_runs && client_file_at(client, file)->access != SMB_OPEN_READ;
}

bool client_caches_writes(const struct client_file *file)
{
	if (file->oplock_level == SMB2_OPLOCK_LEVEL_LEASE)
		return file->lease_state & SMB2_LEASE_WRITE_CACHING;
	return file->oplock_level >= SMB2_OPLOCK_LEVEL_EXCLUSIVE;
}

/** Past the page cache: cache=none, O_DIRECT, or (cifs 6.1, cifs_strict_writev) nobody granted write caching. */
static bool is_uncached(const struct smb_client *client, const struct client_file *file)
{
	if (file->direct || client->mount.cache == SMB_CACHE_NONE)
		return true;
	return client->mount.cache != SMB_CACHE_LOOSE && !client_caches_writes(file);
}

static void dirty_elsewhere(const struct smb_client *client, uint32_t file, struct smb_writeback_view *view)
{
	for (uint32_t i = 0; i < client->limits.files; i++) {
		const struct client_file *other = client_file_at(client, i);

		if (i == file || other->state < FILE_OPEN)
			continue;
		view->dirty_elsewhere_bytes += other->dirty.unsent_bytes;
		view->writing_elsewhere_bytes += other->dirty.writing_bytes;
	}
}

uint32_t client_others_in_flight(const struct smb_client *client, const struct client_op *op)
{
	uint32_t count;

	if (op->channel == NONE)
		return 0;
	count = client_channel_at(client, op->channel)->credits.in_flight;
	if (op->headers_taken)
		count -= op->need_headers;
	if (op->io_taken && op->take.credits)
		count--;
	return count;
}

struct smb_write_view client_write_view(const struct smb_client *client, uint32_t i)
{
	struct client_file *file = client_file_at(client, i);
	struct smb_write_view view = {
		.back = {
			.policy = &client->policy,
			.limits = &client->dirty_limits,
			.dirty = &file->dirty,
			.runs = client_dirty_runs_of(client, i),
			.writes = client_writes_of(client, i),
			.wsize = smb_write_wsize(&client->policy, client->session.wsize, client->page_bytes),
		},
		.cache = &file->cache,
		.cache_runs = client_runs_of(client, i),
		.file_bytes = &file->bytes,
		.readable = file->access == SMB_OPEN_READ_WRITE,
	};

	dirty_elsewhere(client, i, &view.back);
	return view;
}

void client_write_begin(struct smb_client *client, struct client_op *op, uint64_t source, uint64_t source_offset)
{
	struct client_file *file = client_file_at(client, op->file);

	file->users++;
	op->uncached = is_uncached(client, file);
	op->window = (struct op_window){ .wait_for = NONE, .before = NONE };
	op->transfer = (struct op_transfer){ .head = NONE, .tail = NONE };
	smb_writer_begin(&op->writer, op->offset, op->length, source, source_offset);
	if (!op->uncached)
		return;
	op->transfer.position = op->offset;
	op->transfer.end = op->offset + op->length;
	/* What was dirty while write caching was granted goes first, all of it: the cached pages are forgotten afterwards
	 * (cifs 6.1, cifs_get_writer waits for cifs_oplock_break). */
	client_pass_before_read(client, op, 0, UINT64_MAX);
}

static void write_end(struct smb_client *client, struct client_op *op, enum smb_op_verdict verdict, uint32_t status)
{
	client_return_credits(client, op);
	op->stalled = false;
	op->gave_up = false;
	if (!op->uncached)
		op->bytes = op->writer.position - op->writer.begin;
	/* What was written before the trouble counts, as write(2) has it. */
	if (op->bytes && verdict == SMB_OP_FAILED)
		client_op_end(client, op, SMB_OP_OK, STATUS_SUCCESS);
	else
		client_op_end(client, op, verdict, status);
}

static void copied(struct smb_client *client, struct client_op *op, const struct smb_writer_action *action)
{
	struct client_file *file = client_file_at(client, op->file);
	struct client_output *output;

	if (file->dirty_since_ns == NEVER) {
		file->dirty_since_ns = client->now_ns;
		client->timers_changed = true;
	}
	client_flusher_start(client);
	if (client->copy_is_free)
		return;
	output = client_output_push(client, SMB_CLIENT_COPY);
	output->op = client_op_index(client, op);
	output->data = action->data;
	output->offset = action->offset;
	op->wait = OP_COPY;
}

static void writer_run(struct smb_client *client, struct client_op *op)
{
	struct smb_write_view view = client_write_view(client, op->file);
	struct smb_writer_action action = smb_writer_step(&op->writer, &view);

	switch (action.step) {
	case SMB_WRITER_COPY:
		copied(client, op, &action);
		break;
	case SMB_WRITER_PAGE:
		client_page_begin(client, op, action.page);
		break;
	case SMB_WRITER_WAIT_READ:
		client_wait_request(client, op, action.wait_for);
		break;
	case SMB_WRITER_SEND:
		client_write_through(client, op, action.offset, action.data);
		break;
	case SMB_WRITER_THROTTLE:
		client_wait_room(client, op);
		client_flusher_start(client);
		break;
	case SMB_WRITER_DONE:
		write_end(client, op, op->status ? SMB_OP_FAILED : SMB_OP_OK, op->status);
		break;
	}
}

/** What was to go first did not: the operation ends without having written anything. */
static void give_up_pass(struct smb_client *client, struct client_op *op)
{
	bool stalled = op->stalled;

	client_pass_give_up(client, op, true);
	op->stalled = stalled;
}

void client_write_run(struct smb_client *client, struct client_op *op)
{
	while (op->wait == OP_RUNNABLE && client_has_output_room(client)) {
		if (op->passing && !op->gave_up && !op->stalled) {
			client_pass_run(client, op);
		} else if (op->gave_up || op->stalled) {
			if (op->passing)
				give_up_pass(client, op);
			if (op->uncached)
				client_write_direct_abandon(client, op);
			else
				client_transfer_abandon(client, op);
			write_end(client, op, op->stalled ? SMB_OP_STALLED : op->verdict,
				  op->stalled ? STATUS_SUCCESS : op->status);
		} else if (op->uncached) {
			client_write_direct_run(client, op);
		} else if (op->transfer.position < op->transfer.end || op->transfer.head != NONE) {
			client_page_run(client, op);
		} else {
			writer_run(client, op);
		}
	}
}

enum smb_write_verdict client_write_verdict(const struct smb_request *request, const struct smb2_message *message)
{
	if (!message || client_status_means_again(message->header.status))
		return SMB_WRITE_AGAIN;
	if (message->header.status == STATUS_DISK_FULL)
		return SMB_WRITE_NO_SPACE;
	if (message->header.status != STATUS_SUCCESS || message->kind != SMB2_BODY_WRITE_RSP ||
	    message->body.write_rsp.count > request->length)
		return SMB_WRITE_ERROR;
	return message->body.write_rsp.count < request->length ? SMB_WRITE_NO_SPACE : SMB_WRITE_OK;
}

void client_write_send(struct smb_client *client, struct client_op *op, uint32_t slot, uint16_t charge)
{
	client->write_bytes_in_flight += client_request_at(client, slot)->length;
	client_channel_at(client, op->channel)->is_full = client->sends_block;
	op->wrote_on = op->channel;
	client_request_send(client, slot, op->channel, charge);
	op->io_taken = false;
	op->headers_taken = false;
}

void client_socket_takes_more(struct smb_client *client, uint32_t channel)
{
	client_channel_at(client, channel)->is_full = false;
	client_wake_list(client, &client->for_room);
}

static bool is_full(const struct smb_client *client, uint32_t channel)
{
	return channel != NONE && client_channel_at(client, channel)->is_full;
}

bool client_must_wait_socket(struct smb_client *client, struct client_op *op)
{
	if (!is_full(client, op->wrote_on) && !is_full(client, op->channel))
		return false;
	client_wait_room(client, op);
	return true;
}

void client_write_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message)
{
	client->write_bytes_in_flight -= client_request_at(client, slot)->length;
	if (client_request_at(client, slot)->purpose == PURPOSE_WRITE_BACK)
		client_write_back_answer(client, slot, message);
	else
		client_write_direct_answer(client, slot, message);
}
