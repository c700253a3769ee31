/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The READs of a readahead window and the pages they bring.
 *
 * netfs (6.10 on, policy read_whole_pages off) cuts READs at rsize, also inside a page. Such a page belongs to the READ
 * that has its last bytes, and is up to date when that one and the one before have ended (netfs_rreq_unlock_folios).
 */
#include "protocol/client/internal.h"

#include <assert.h>

uint64_t client_window_pages(const struct smb_client *client, const struct op_window *window, uint32_t bytes)
{
	uint64_t end = window->start + bytes;
	uint64_t pages = end / client->page_bytes - window->start / client->page_bytes;

	return end == window->end && end % client->page_bytes ? pages + 1 : pages;
}

void client_window_share(struct smb_client *client, struct client_op *op)
{
	struct op_window *window = &op->window;

	if (window->before == NONE && !window->head.length)
		window->start -= window->start % client->page_bytes;
}

void client_window_sent(struct smb_client *client, struct client_op *op, uint32_t slot)
{
	struct smb_request *request = client_request_at(client, slot);
	struct op_window *window = &op->window;
	bool shares = (request->offset + request->length) % client->page_bytes &&
		      request->offset + request->length < window->end;

	request->before = window->before;
	request->head_source = window->head.source;
	request->head_end = window->head.offset + window->head.length;
	if (window->before != NONE)
		client_request_at(client, window->before)->after = slot;
	window->before = shares ? slot : NONE;
	window->head.length = 0;
}

static void read_finish(struct smb_client *client, uint32_t slot);

/** The READ is over and brought `data`: tell the one that shares its last page, sent or to be sent. */
static void tell_neighbours(struct smb_client *client, uint32_t slot, struct smb_slice data)
{
	const struct smb_request *request = client_request_at(client, slot);
	uint32_t after = request->after;
	bool whole = data.length == request->length;

	if (request->op != NONE && client_op_at(client, request->op)->window.before == slot) {
		client_op_at(client, request->op)->window.before = NONE;
		client_op_at(client, request->op)->window.head = whole ? data : (struct smb_slice){ .length = 0 };
	}
	if (request->before != NONE)
		client_request_at(client, request->before)->after = NONE;
	if (after == NONE)
		return;
	struct smb_request *next = client_request_at(client, after);
	next->before = NONE;
	next->head_lost = !whole;
	next->head_source = data.source;
	next->head_end = data.offset + data.length;
	if (next->answered)
		read_finish(client, after);
}

/** A page is kept as a piece of one source: the head of the first one has to be of the same. */
static bool head_fits(const struct smb_client *client, const struct smb_request *request)
{
	if (request->offset % client->page_bytes == 0)
		return true;
	return !request->head_lost && request->head_source == request->data_source &&
	       request->head_end == request->data_offset;
}

/** How far what came is good: a page that a short answer fills in part is so at the end of the file only (C27). */
static uint64_t good_end(const struct smb_client *client, const struct smb_request *request, uint64_t owned_end)
{
	uint64_t end = request->offset + request->data_length;

	if (!request->data_length || !head_fits(client, request))
		return request->offset - request->offset % client->page_bytes;
	if (request->data_length < request->length && end < client_file_at(client, request->file)->bytes)
		return end - end % client->page_bytes;
	return end < owned_end ? end : owned_end;
}

/** It is answered, and so is the one before: its pages are up to date, or have failed. */
static void read_finish(struct smb_client *client, uint32_t slot)
{
	struct smb_request *request = client_request_at(client, slot);
	struct client_file *file = client_file_at(client, request->file);
	struct smb_page_run *runs = client_runs_of(client, request->file);
	struct client_list waiters = { request->waiters_head, request->waiters_tail };
	struct smb_slice data = { request->data_source, request->data_offset, request->data_length };
	uint64_t first = request->offset / client->page_bytes;
	uint64_t start = first * client->page_bytes;
	struct smb_page_run run;

	smb_page_cache_look(&file->cache, runs, first, &run);
	uint64_t owned_end = (first + run.pages) * client->page_bytes;
	uint64_t end = good_end(client, request, owned_end);
	uint64_t pages = (end - start + client->page_bytes - 1) / client->page_bytes;
	if (end < owned_end && end < request->offset + request->length) {
		smb_page_cache_failed(&file->cache, runs, slot, first + pages);
		client_pages_failed(client, file, end, request->offset + request->length);
	}
	if (pages)
		smb_page_cache_filled(&file->cache, runs, slot,
				      (struct smb_slice){ .source = data.source,
							  .offset = data.offset - (request->offset - start),
							  .length = (uint32_t)(end - start) });
	client_wake_list(client, &waiters);
	tell_neighbours(client, slot, data);
	client_request_release(client, slot);
}

void client_window_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message)
{
	struct smb_request *request = client_request_at(client, slot);
	struct client_file *file = client_file_at(client, request->file);
	struct smb_slice data;

	client_read_data(request, message, &data);
	client_read_ended(client, request, message);
	if (!message && client_lost_keep(client, slot))
		return;
	if (message && message->header.status == STATUS_END_OF_FILE && request->offset < file->bytes)
		file->bytes = request->offset;
	request->data_source = data.source;
	request->data_offset = data.offset;
	request->data_length = data.length;
	request->answered = true;
	if (request->before == NONE)
		read_finish(client, slot);
}

void client_window_failed(struct smb_client *client, uint32_t slot)
{
	struct smb_request *request = client_request_at(client, slot);

	request->data_length = 0;
	request->answered = true;
	if (request->before == NONE)
		read_finish(client, slot);
}
