/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* READ through the page cache: the reader's steps, and how a readahead window becomes READs (facts A5). */
#include "protocol/client/write.h"

#include <assert.h>

static struct smb_read_view view_of(const struct smb_client *client, const struct client_op *op)
{
	struct client_file *file = client_file_at(client, op->file);
	const struct client_session *session = &client->session;

	return (struct smb_read_view){
		.policy = &client->policy,
		.cache = &file->cache,
		.runs = client_runs_of(client, op->file),
		.ra = &file->ra,
		.file_bytes = file->bytes,
		.window_allowed = session->ra_pages && smb_readpages_allowed(&client->policy, session->max_buf,
									     session->max_read, client->page_bytes),
		.random_hint = file->random_hint,
		.failed_start = file->failed_start / client->page_bytes,
		.failed_end = file->failed_end / client->page_bytes,
	};
}

void client_read_begin(struct smb_client *client, struct client_op *op)
{
	struct smb_read_view view = view_of(client, op);

	client_file_at(client, op->file)->users++;
	op->window = (struct op_window){ .wait_for = NONE, .before = NONE };
	op->transfer = (struct op_transfer){ .head = NONE, .tail = NONE };
	op->uncached = client->mount.cache == SMB_CACHE_NONE || client_file_at(client, op->file)->direct;
	if (!op->uncached) {
		smb_reader_begin(&op->reader, &view, op->offset, op->length);
		return;
	}
	op->transfer.position = op->offset;
	op->transfer.end = op->length < UINT64_MAX - op->offset ? op->offset + op->length : UINT64_MAX;
}

static bool window_is_open(const struct op_window *window)
{
	return window->start < window->end;
}

/** The rest of the window is not read, readahead forgets it (mm/readahead.c, read_pages); the reader will find its
 *  pages missing. */
static void window_cut(struct smb_client *client, struct client_op *op)
{
	uint64_t left = op->window.end - op->window.start;

	client_return_credits(client, op);
	op->channel = NONE;
	smb_readahead_cut(&client_file_at(client, op->file)->ra, op->window.start / client->page_bytes,
			  (uint32_t)(left / client->page_bytes) + (left % client->page_bytes != 0));
	op->window.start = op->window.end;
}

/** The same, because it could not be read. */
static void window_abandon(struct smb_client *client, struct client_op *op)
{
	window_cut(client, op);
	if (!op->window.issued)
		smb_reader_window_failed(&op->reader);
}

/** What the next READ of the window may carry with these credits; 0 = less than a page, give up. */
static uint32_t chunk_bytes(const struct smb_client *client, const struct client_op *op)
{
	const struct op_window *window = &op->window;
	uint64_t left = window->end - window->start;
	uint32_t bytes = smb_read_chunk_cut(&client->policy, client->session.rsize, client->page_bytes, left,
					    op->take.bytes);

	/* Each READ has a page of its own, which it may share with the one before. */
	if (bytes < left && !client_window_pages(client, window, bytes))
		bytes = 0;
	return bytes;
}

/** What-if policies that cut a window short (facts A6, wishes b and c). */
static bool window_is_braked(const struct smb_client *client, const struct client_op *op)
{
	const struct op_window *window = &op->window;
	uint64_t left = window->end - window->start;
	uint32_t wanted = left < client->session.rsize ? (uint32_t)left : client->session.rsize;
	bool reader_needs_it = window->start < op->reader.end;
	int32_t usable;

	if (client->policy.readahead_pause == SMB_RA_PAUSE_ONE_RSIZE && !op->io_taken &&
	    (client->session.pause_reads || client_is_reconnecting(client))) {
		/* At most one READ of rsize, and none ahead of the reader beside another. */
		if (window->issued || (!reader_needs_it && client_file_at(client, op->file)->reads))
			return true;
	}
	if (client->policy.readahead_credit_brake != SMB_RA_BRAKE_SHORTEN || op->io_taken)
		return false;
	if (reader_needs_it || !client_has_multi_credit(client))
		return false; /* it waits for credits like any other */
	usable = client_channel_at(client, op->channel)->credits.ordinary - client->policy.credits_io_reserve;
	return usable < smb2_credit_charge(0, wanted);
}

enum room { ROOM, ROOM_LATER, ROOM_NEVER };

/** A slot for the next READ, its pages taken in the page cache under the slot's number. */
static enum room take_pages(struct smb_client *client, struct client_op *op, uint32_t bytes, uint32_t *slot)
{
	struct client_file *file = client_file_at(client, op->file);
	uint32_t next = client->requests.free_head;
	uint64_t pages = client_window_pages(client, &op->window, bytes);

	if (!client_has_request_room(client))
		return ROOM_LATER;
	switch (smb_page_cache_reading(&file->cache, client_runs_of(client, op->file),
				       op->window.start / client->page_bytes, pages, next)) {
	case SMB_PAGE_CACHE_OK:
		break;
	case SMB_PAGE_CACHE_FULL:
		return file->reads ? ROOM_LATER : ROOM_NEVER;
	case SMB_PAGE_CACHE_BUSY:
		return ROOM_NEVER; /* another reader took them meanwhile */
	}
	*slot = client_request_take(client, PURPOSE_READ_WINDOW, client_op_index(client, op));
	assert(*slot == next);
	return ROOM;
}

static void window_send(struct smb_client *client, struct client_op *op, uint32_t slot, uint32_t bytes)
{
	struct smb_request *request = client_request_at(client, slot);
	struct client_file *file = client_file_at(client, op->file);
	struct op_window *window = &op->window;

	request->file = op->file;
	request->offset = window->start;
	request->length = bytes;
	client_read_started(client, request);
	uint64_t first = window->start / client->page_bytes;
	if (window->mark >= first && window->mark < first + client_window_pages(client, window, bytes))
		smb_page_cache_mark(&file->cache, window->mark);
	client_window_sent(client, op, slot);
	client_request_send(client, slot, op->channel, op->take.credits);
	op->io_taken = false;
	op->headers_taken = false;
	window->start += bytes;
	window->issued++;
	if (client->policy.read_mode == SMB_READ_SYNC)
		window->wait_for = slot;
	if (client->policy.channel_pick_scope == SMB_PICK_PER_REQUEST || !window_is_open(window))
		op->channel = NONE;
}

static void read_end(struct smb_client *client, struct client_op *op, enum smb_op_verdict verdict, uint32_t status)
{
	client_return_credits(client, op);
	op->stalled = false;
	op->gave_up = false;
	/* What was read before the trouble is delivered, as read(2) does it. */
	if (op->bytes && verdict == SMB_OP_FAILED)
		client_op_end(client, op, SMB_OP_OK, STATUS_SUCCESS);
	else
		client_op_end(client, op, verdict, status);
}

/** Issue the next READ of the window (cifs 6.1, cifs_readahead). */
static void window_run(struct smb_client *client, struct client_op *op)
{
	uint32_t bytes;
	uint32_t slot = op->window.wait_for;

	if (slot != NONE) {
		op->window.wait_for = NONE;
		if (client_request_at(client, slot)->state == SMB_REQUEST_SENT) {
			client_wait_request(client, op, slot);
			return;
		}
	}
	if (!client_need_channel(client, op))
		return;
	if (window_is_braked(client, op)) {
		window_cut(client, op);
		return;
	}
	client_window_share(client, op);
	if (!client_take_io(client, op, client->session.rsize))
		return;
	bytes = chunk_bytes(client, op);
	if (!bytes) {
		window_abandon(client, op);
		return;
	}
	if (smb_credits_adjust(&client_channel_at(client, op->channel)->credits, &op->take, bytes) !=
	    SMB_CREDIT_ADJUSTED)
		assert(!"credits taken on a lost connection are dropped with it");
	if (!op->take.credits && !client_take_headers(client, op, 1))
		return;
	switch (take_pages(client, op, bytes, &slot)) {
	case ROOM:
		window_send(client, op, slot, bytes);
		break;
	case ROOM_LATER:
		client_wait_room(client, op);
		break;
	case ROOM_NEVER:
		window_abandon(client, op);
		break;
	}
}

static void window_begin(struct smb_client *client, struct client_op *op, const struct smb_readahead_window *window)
{
	uint64_t file_bytes = client_file_at(client, op->file)->bytes;

	op->window = (struct op_window){
		.start = window->start * client->page_bytes,
		.end = (window->start + window->pages) * client->page_bytes,
		.mark = window->mark,
		.wait_for = NONE,
		.before = NONE,
	};
	/* 6.1 asks for whole pages past the end of file, netfs for what the file has (captures, cat10). */
	if (!client->policy.read_whole_pages && op->window.end > file_bytes)
		op->window.end = file_bytes;
	op->channel = NONE;
}

static void copy_begin(struct smb_client *client, struct client_op *op, struct smb_slice data)
{
	struct client_output *output;

	op->bytes += data.length;
	if (client->copy_is_free)
		return;
	output = client_output_push(client, SMB_CLIENT_COPY);
	output->op = client_op_index(client, op);
	output->data = data;
	output->offset = op->reader.position - data.length;
	op->wait = OP_COPY;
}

static void reader_run(struct smb_client *client, struct client_op *op, struct smb_read_view *view)
{
	struct smb_reader_action action;

	view->file_bytes = client_file_at(client, op->file)->bytes;
	action = smb_reader_step(&op->reader, view);

	switch (action.step) {
	case SMB_READER_COPY:
		copy_begin(client, op, action.data);
		break;
	case SMB_READER_WINDOW:
		window_begin(client, op, &action.window);
		client_pass_before_read(client, op, op->window.start, op->window.end);
		break;
	case SMB_READER_PAGE:
		client_page_begin(client, op, action.page);
		client_pass_before_read(client, op, op->transfer.position, op->transfer.end);
		break;
	case SMB_READER_WAIT:
		client_wait_request(client, op, action.wait_for);
		break;
	case SMB_READER_DONE:
		read_end(client, op, SMB_OP_OK, STATUS_SUCCESS);
		break;
	}
}

void client_read_run(struct smb_client *client, struct client_op *op)
{
	struct smb_read_view view;

	while (op->wait == OP_RUNNABLE && client_has_output_room(client)) {
		if (op->passing && (op->gave_up || op->stalled)) {
			bool stalled = op->stalled;

			client_pass_give_up(client, op, true);
			read_end(client, op, stalled ? SMB_OP_STALLED : op->verdict, stalled ? 0 : op->status);
		} else if (op->gave_up) {
			client_transfer_abandon(client, op);
			read_end(client, op, op->verdict, op->status);
		} else if (op->stalled) {
			client_transfer_abandon(client, op);
			read_end(client, op, SMB_OP_STALLED, STATUS_SUCCESS);
		} else if (op->uncached) {
			client_direct_run(client, op);
		} else if (op->passing) {
			client_pass_run(client, op);
		} else if (window_is_open(&op->window)) {
			window_run(client, op);
		} else if (op->transfer.position < op->transfer.end || op->transfer.head != NONE) {
			client_page_run(client, op);
		} else {
			view = view_of(client, op);
			reader_run(client, op, &view);
		}
	}
}

bool client_status_means_again(uint32_t status)
{
	return status == STATUS_INSUFFICIENT_RESOURCES || status == STATUS_IO_TIMEOUT ||
	       status == STATUS_SERVER_UNAVAILABLE || status == STATUS_FILE_NOT_AVAILABLE;
}

/** The data of an answer that fits the request; false: none, or not an answer to it. */
bool client_read_data(const struct smb_request *request, const struct smb2_message *message, struct smb_slice *data)
{
	*data = (struct smb_slice){ .length = 0 };
	if (!message || message->header.status != STATUS_SUCCESS || message->kind != SMB2_BODY_READ_RSP)
		return false;
	if (message->body.read_rsp.data_length > request->length || message->body.read_rsp.data.length)
		return false; /* data inside the bytes has no name: only hosts with payload aside are served */
	*data = message->body.read_rsp.payload;
	return true;
}

void client_read_started(struct smb_client *client, struct smb_request *request)
{
	request->data_source = ++client->session.reads_started; /* until its data takes the place */
	client_file_at(client, request->file)->reads++;
	client->read_bytes_in_flight += request->length;
}

void client_read_ended(struct smb_client *client, const struct smb_request *request, const struct smb2_message *message)
{
	client_file_at(client, request->file)->reads--;
	client->read_bytes_in_flight -= request->length;
	if (!message || message->header.status == STATUS_INSUFFICIENT_RESOURCES) {
		client->session.pause_reads = CLIENT_PAUSE_READS;
		client->session.paused_at = client->session.reads_started;
	} else if (client->session.pause_reads && request->data_source > client->session.paused_at &&
		   request->purpose != PURPOSE_READ_PAGE) {
		client->session.pause_reads--; /* one that was sent before, or one page, tells nothing */
	}
}

void client_read_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message)
{
	if (client_request_at(client, slot)->purpose == PURPOSE_READ_WINDOW)
		client_window_answer(client, slot, message);
	else
		client_transfer_answer(client, slot, message);
}
