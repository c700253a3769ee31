/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/writer.h"

#include <assert.h>

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t smb_write_throttle_bytes(const struct smb_dirty_limits *limits)
{
	return limits->limit_bytes - (limits->limit_bytes - limits->background_bytes) / 4;
}

void smb_writer_begin(struct smb_writer *writer, uint64_t offset, uint64_t length, uint64_t source,
		      uint64_t source_offset)
{
	assert(length <= UINT64_MAX - offset);
	*writer = (struct smb_writer){
		.begin = offset,
		.position = offset,
		.end = offset + length,
		.source = source,
		.source_offset = source_offset,
	};
}

static struct smb_slice data_at(const struct smb_writer *writer, uint64_t end)
{
	return (struct smb_slice){
		.source = writer->source,
		.offset = writer->source_offset + (writer->position - writer->begin),
		.length = (uint32_t)(end - writer->position),
	};
}

static void advance(struct smb_writer *writer, const struct smb_write_view *view, uint64_t to)
{
	writer->position = to;
	writer->read_tried = false;
	if (to > *view->file_bytes)
		*view->file_bytes = to;
}

/** What one page needs before bytes [from, to) of it can be written. */
enum page_need { PAGE_READY, PAGE_STREAMED, PAGE_BUSY, PAGE_MISSING };

static enum page_need page_need(const struct smb_write_view *view, uint64_t from, uint64_t to, struct smb_page_run *run)
{
	uint32_t page_bytes = view->cache->page_bytes;
	uint64_t start = from - from % page_bytes;
	enum smb_page_state state = smb_page_cache_look(view->cache, view->cache_runs, start / page_bytes, run);

	if (state == SMB_PAGE_READING)
		return PAGE_BUSY;
	if (state == SMB_PAGE_UPTODATE || to - from == page_bytes)
		return PAGE_READY;
	/* Nothing of the page is kept that the server has: it is behind the end of file, or written from its start to there. */
	if (start >= *view->file_bytes || (from == start && to >= *view->file_bytes))
		return PAGE_READY;
	if (!view->readable && !view->back.policy->read_whole_pages)
		return PAGE_STREAMED;
	return PAGE_MISSING;
}

/** How far the call can copy at once: whole pages, and a page in part when it is the first or the last. */
static uint64_t copy_end(const struct smb_writer *writer, const struct smb_write_view *view, uint64_t limit)
{
	uint32_t page_bytes = view->cache->page_bytes;
	uint64_t at = writer->position;
	struct smb_page_run run;

	while (at < limit) {
		uint64_t page_end = at - at % page_bytes + page_bytes;
		uint64_t whole_end;

		if (page_need(view, at, smaller(page_end, limit), &run) != PAGE_READY)
			break;
		/* Whole pages in the same state need no look of their own. */
		whole_end = limit - limit % page_bytes;
		if (run.start + run.pages < whole_end / page_bytes)
			whole_end = (run.start + run.pages) * page_bytes;
		at = whole_end > page_end ? whole_end : smaller(page_end, limit);
	}
	return at;
}

/** The bytes of [from, to), which the page cache has or which are zero, are dirty with their page. */
static void mark_neighbours(const struct smb_write_view *view, uint64_t from, uint64_t to)
{
	while (from < to && smb_dirty_has_room(view->back.dirty, 2)) {
		struct smb_slice data = smb_page_cache_data(view->cache, view->cache_runs, from, (uint32_t)(to - from));

		if (!data.length)
			data = (struct smb_slice){ .offset = from, .length = (uint32_t)(to - from) };
		smb_dirty_mark(view->back.dirty, view->back.runs, from, data);
		from += data.length;
	}
}

static struct smb_writer_action copy(struct smb_writer *writer, const struct smb_write_view *view, uint64_t end)
{
	uint32_t page_bytes = view->cache->page_bytes;
	struct smb_writer_action action = {
		.step = SMB_WRITER_COPY,
		.offset = writer->position,
		.data = data_at(writer, end),
	};
	uint64_t tail = smaller((end + page_bytes - 1) / page_bytes * page_bytes, *view->file_bytes);

	mark_neighbours(view, writer->position - writer->position % page_bytes, writer->position);
	mark_neighbours(view, end, tail);
	smb_dirty_mark(view->back.dirty, view->back.runs, writer->position, action.data);
	smb_page_cache_written(view->cache, view->cache_runs, writer->position, action.data);
	view->cache->newest = (end - 1) / page_bytes;
	smb_dirty_pin(view->back.dirty, view->back.runs, view->cache);
	advance(writer, view, end);
	return action;
}

/** netfs: dirty only where it is written, and not in the page cache. */
static struct smb_writer_action stream(struct smb_writer *writer, const struct smb_write_view *view, uint64_t end)
{
	struct smb_writer_action action = {
		.step = SMB_WRITER_COPY,
		.offset = writer->position,
		.data = data_at(writer, end),
	};

	smb_dirty_mark(view->back.dirty, view->back.runs, writer->position, action.data);
	smb_dirty_pin(view->back.dirty, view->back.runs, view->cache);
	advance(writer, view, end);
	return action;
}

static bool over_limit(const struct smb_write_view *view)
{
	const struct smb_dirty *dirty = view->back.dirty;

	return dirty->unsent_bytes + dirty->writing_bytes + view->back.dirty_elsewhere_bytes +
		       view->back.writing_elsewhere_bytes >=
	       smb_write_throttle_bytes(view->back.limits);
}

/** The arrays are full: a WRITE must end, or a READ when there is nothing to write. */
static bool room_missing(const struct smb_write_view *view, struct smb_writer_action *action)
{
	struct smb_dirty *dirty = view->back.dirty;
	uint32_t at = 0;

	if (smb_dirty_has_room(dirty, SMB_DIRTY_MARKS_PER_WRITE) &&
	    smb_page_cache_make_room(view->cache, view->cache_runs))
		return false;
	dirty->room_wanted = true;
	if (dirty->run_count) {
		*action = (struct smb_writer_action){ .step = SMB_WRITER_THROTTLE };
		return true;
	}
	while (view->cache_runs[at].state != SMB_PAGE_READING)
		at++;
	*action = (struct smb_writer_action){ .step = SMB_WRITER_WAIT_READ, .wait_for = view->cache_runs[at].reader };
	return true;
}

/** The call pauses where the background limit is crossed, so that the flusher starts there, and where it must wait. */
static uint64_t pause_at(const struct smb_writer *writer, const struct smb_write_view *view)
{
	const struct smb_dirty *dirty = view->back.dirty;
	uint64_t unsent = dirty->unsent_bytes + view->back.dirty_elsewhere_bytes;
	uint64_t all = unsent + dirty->writing_bytes + view->back.writing_elsewhere_bytes;
	uint64_t background = view->back.limits->background_bytes;
	uint64_t room = smb_write_throttle_bytes(view->back.limits) - all;
	uint32_t page_bytes = view->cache->page_bytes;
	uint64_t end;

	if (unsent <= background)
		room = smaller(room, background - unsent + 1);
	room = smaller(room, UINT32_MAX / 2);
	end = writer->position + room;
	return smaller((end + page_bytes - 1) / page_bytes * page_bytes, writer->end);
}

struct smb_writer_action smb_writer_step(struct smb_writer *writer, const struct smb_write_view *view)
{
	uint32_t page_bytes = view->cache->page_bytes;
	uint64_t page_end = writer->position - writer->position % page_bytes + page_bytes;
	struct smb_writer_action action;
	struct smb_page_run run;
	uint64_t limit;

	if (writer->position == writer->end)
		return (struct smb_writer_action){ .step = SMB_WRITER_DONE };
	if (over_limit(view))
		return (struct smb_writer_action){ .step = SMB_WRITER_THROTTLE };
	if (room_missing(view, &action))
		return action;
	limit = pause_at(writer, view);
	page_end = smaller(page_end, writer->end);
	switch (page_need(view, writer->position, page_end, &run)) {
	case PAGE_READY:
		return copy(writer, view, copy_end(writer, view, limit));
	case PAGE_STREAMED:
		return stream(writer, view, page_end);
	case PAGE_BUSY:
		return (struct smb_writer_action){ .step = SMB_WRITER_WAIT_READ, .wait_for = run.reader };
	case PAGE_MISSING:
		break;
	}
	if (view->readable && !writer->read_tried) {
		writer->read_tried = true;
		return (struct smb_writer_action){ .step = SMB_WRITER_PAGE, .page = writer->position / page_bytes };
	}
	return (struct smb_writer_action){
		.step = SMB_WRITER_SEND,
		.offset = writer->position,
		.data = data_at(writer, page_end),
	};
}

void smb_writer_sent(struct smb_writer *writer, const struct smb_write_view *view, uint32_t bytes)
{
	assert(bytes <= writer->end - writer->position);
	if (!bytes)
		writer->end = writer->position;
	else
		advance(writer, view, writer->position + bytes);
}

bool smb_writer_is_valid(const struct smb_writer *writer)
{
	return writer->begin <= writer->position && writer->position <= writer->end;
}
