/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/reader.h"

#include <assert.h>

#define NO_PAGE UINT64_MAX
#define CIFS_HEADER_BYTES UINT64_C(88) /* MAX_CIFS_HDR_SIZE, cifspdu.h */

struct neighbourhood {
	const struct smb_page_cache *cache;
	const struct smb_page_run *runs;
};

static uint64_t next_missing(void *context, uint64_t page, uint32_t max)
{
	const struct neighbourhood *near = context;
	uint64_t end = page + max;
	struct smb_page_run run;

	while (page < end && smb_page_cache_look(near->cache, near->runs, page, &run) != SMB_PAGE_ABSENT)
		page = run.start + run.pages;
	return page < end ? page : end;
}

static uint32_t cached_before(void *context, uint64_t page, uint32_t max)
{
	const struct neighbourhood *near = context;
	uint64_t first = page;
	struct smb_page_run run;

	while (first && page - first < max &&
	       smb_page_cache_look(near->cache, near->runs, first - 1, &run) != SMB_PAGE_ABSENT)
		first = run.start;
	return page - first < max ? (uint32_t)(page - first) : max;
}

static uint64_t pages_up(uint64_t bytes, uint32_t page_bytes)
{
	return bytes / page_bytes + (bytes % page_bytes != 0);
}

/** What the call still wants, from `page` on (filemap_get_pages: last_index - index). */
static struct smb_readahead_request request_at(const struct smb_reader *reader, const struct smb_read_view *view,
					       uint64_t page)
{
	uint32_t page_bytes = view->cache->page_bytes;
	uint64_t pages = pages_up(reader->wanted_end, page_bytes) - page;

	return (struct smb_readahead_request){
		.page = page,
		.pages = pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX,
		.file_pages = pages_up(view->file_bytes, page_bytes),
		.random_hint = view->random_hint,
	};
}

/** The next stretch of absent pages of the reader's window; false when there is none left. */
static bool take_stretch(struct smb_reader *reader, const struct smb_read_view *view,
			 struct smb_readahead_window *stretch)
{
	struct smb_readahead_window *window = &reader->window;
	struct smb_page_run run;

	while (window->pages) {
		enum smb_page_state state = smb_page_cache_look(view->cache, view->runs, window->start, &run);
		uint64_t here = run.pages - (window->start - run.start);
		uint32_t pages = here < window->pages ? (uint32_t)here : window->pages;

		if (state == SMB_PAGE_ABSENT && view->random_hint &&
		    pages > SMB_READAHEAD_FORCED_BYTES / view->cache->page_bytes)
			pages = SMB_READAHEAD_FORCED_BYTES / view->cache->page_bytes;
		*stretch = (struct smb_readahead_window){ .start = window->start, .pages = pages, .mark = NO_PAGE };
		if (window->mark != NO_PAGE && window->mark >= window->start && window->mark - window->start < pages)
			stretch->mark = window->mark;
		window->start += pages;
		window->pages -= pages;
		if (state == SMB_PAGE_ABSENT)
			return true;
	}
	return false;
}

/** Adopt a window; the answer is its first stretch, or false when it holds nothing to read. */
static bool start_window(struct smb_reader *reader, const struct smb_read_view *view,
			 struct smb_readahead_window window, struct smb_reader_action *action)
{
	reader->window = window;
	action->step = SMB_READER_WINDOW;
	return take_stretch(reader, view, &action->window);
}

/** page_cache_sync_ra, once per page; what is still missing after it is read alone (filemap_create_folio). */
static struct smb_reader_action step_absent(struct smb_reader *reader, const struct smb_read_view *view, uint64_t page)
{
	struct neighbourhood near = { view->cache, view->runs };
	struct smb_readahead_cache cache = { &near, next_missing, cached_before };
	struct smb_readahead_request request = request_at(reader, view, page);
	struct smb_reader_action action = { .step = SMB_READER_PAGE, .page = page };

	smb_page_cache_touch_mark(view->cache, page); /* a mark without its page, left by a window cut short */
	/* A page whose READ failed is also read alone (filemap_update_page). */
	if (!view->window_allowed || reader->single || reader->waited ||
	    (page >= view->failed_start && page < view->failed_end)) {
		reader->single = false;
		reader->waited = false;
		return action;
	}
	reader->single = true;
	if (start_window(reader, view, smb_readahead_sync(view->ra, view->policy, &request, &cache), &action))
		return action;
	reader->single = false;
	return (struct smb_reader_action){ .step = SMB_READER_PAGE, .page = page };
}

/** A page that is there or on its way: does it open another window first? */
static bool step_window(struct smb_reader *reader, const struct smb_read_view *view, uint64_t page,
			struct smb_reader_action *action)
{
	struct neighbourhood near = { view->cache, view->runs };
	struct smb_readahead_cache cache = { &near, next_missing, cached_before };
	struct smb_readahead_request request;

	if (!view->window_allowed || !smb_page_cache_touch_mark(view->cache, page))
		return false;
	request = request_at(reader, view, page);
	return start_window(reader, view, smb_readahead_async(view->ra, view->policy, &request, &cache), action);
}

static struct smb_reader_action step_reading(struct smb_reader *reader, const struct smb_read_view *view, uint64_t page,
					     uint32_t read_by)
{
	struct neighbourhood near = { view->cache, view->runs };
	struct smb_readahead_cache cache = { &near, next_missing, cached_before };
	struct smb_readahead_request request = request_at(reader, view, page);
	struct smb_reader_action action = { .step = SMB_READER_WAIT, .wait_for = read_by };

	if (!view->window_allowed || reader->waited)
		return action;
	reader->waited = true;
	if (start_window(reader, view, smb_readahead_waited(view->ra, view->policy, &request, &cache), &action))
		return action;
	return (struct smb_reader_action){ .step = SMB_READER_WAIT, .wait_for = read_by };
}

static struct smb_reader_action step_copy(struct smb_reader *reader, const struct smb_read_view *view, uint64_t page)
{
	uint64_t end = reader->end;
	uint32_t page_bytes = view->cache->page_bytes;
	uint64_t mark = smb_page_cache_next_mark(view->cache, page + 1, (end - 1) / page_bytes - page);
	struct smb_reader_action action = { .step = SMB_READER_COPY };
	uint64_t length;

	if (mark != NO_PAGE)
		end = mark * page_bytes;
	length = end - reader->position;
	action.data = smb_page_cache_data(view->cache, view->runs, reader->position,
					  length < UINT32_MAX ? (uint32_t)length : UINT32_MAX);
	assert(action.data.length);
	reader->position += action.data.length;
	reader->waited = false;
	reader->single = false;
	/* 6.1 moves f_ra.prev_pos with every page, later kernels when the call ends (filemap_read). */
	if (view->policy->readahead_shape == SMB_RA_SHAPE_6_1 || reader->position == reader->end)
		smb_readahead_read_done(view->ra, reader->position - 1, page_bytes);
	return action;
}

/** The file may have become shorter or longer since the last step; the kernel looks at its size each time too. */
static void cut_at_end_of_file(struct smb_reader *reader, uint64_t file_bytes)
{
	uint64_t end = reader->wanted_end < file_bytes ? reader->wanted_end : file_bytes;

	reader->end = end > reader->position ? end : reader->position;
}

void smb_reader_begin(struct smb_reader *reader, const struct smb_read_view *view, uint64_t offset, uint64_t length)
{
	*reader = (struct smb_reader){
		.position = offset,
		.begin = offset,
		.wanted_end = length < UINT64_MAX - offset ? offset + length : UINT64_MAX,
		.window = { .mark = NO_PAGE },
	};
	cut_at_end_of_file(reader, view->file_bytes);
	view->ra->io_pages = view->policy->readahead_oversize_bytes / view->cache->page_bytes;
}

struct smb_reader_action smb_reader_step(struct smb_reader *reader, const struct smb_read_view *view)
{
	struct smb_reader_action action = { .step = SMB_READER_WINDOW };
	struct smb_page_run run;
	uint64_t page;

	if (take_stretch(reader, view, &action.window))
		return action;
	cut_at_end_of_file(reader, view->file_bytes);
	if (reader->position >= reader->end)
		return (struct smb_reader_action){ .step = SMB_READER_DONE };
	page = reader->position / view->cache->page_bytes;
	view->cache->newest = page;
	switch (smb_page_cache_look(view->cache, view->runs, page, &run)) {
	case SMB_PAGE_ABSENT:
		return step_absent(reader, view, page);
	case SMB_PAGE_READING:
		reader->single = false;
		if (step_window(reader, view, page, &action))
			return action;
		return step_reading(reader, view, page, run.reader);
	case SMB_PAGE_UPTODATE:
		if (step_window(reader, view, page, &action))
			return action;
		return step_copy(reader, view, page);
	}
	assert(!"a page has a state");
	return (struct smb_reader_action){ .step = SMB_READER_DONE };
}

void smb_reader_window_failed(struct smb_reader *reader)
{
	reader->single = true;
}

uint32_t smb_read_chunk_bytes(uint32_t rsize, uint32_t page_bytes, uint64_t window_pages_left, uint32_t credit_bytes)
{
	uint64_t pages = (rsize < credit_bytes ? rsize : credit_bytes) / page_bytes;

	if (pages > window_pages_left)
		pages = window_pages_left;
	return (uint32_t)(pages * page_bytes);
}

uint32_t smb_read_chunk_cut(const struct smb_policy *policy, uint32_t rsize, uint32_t page_bytes,
			    uint64_t window_bytes_left, uint32_t credit_bytes)
{
	uint32_t bytes = rsize < credit_bytes ? rsize : credit_bytes;

	if (policy->read_whole_pages)
		return smb_read_chunk_bytes(rsize, page_bytes, pages_up(window_bytes_left, page_bytes), credit_bytes);
	return bytes < window_bytes_left ? bytes : (uint32_t)window_bytes_left;
}

bool smb_readpages_allowed(const struct smb_policy *policy, uint32_t max_buf, uint32_t max_read, uint32_t page_bytes)
{
	uint32_t limit = policy->readpages_gate == SMB_GATE_MAXBUF ? max_buf : max_read;

	return limit >= page_bytes + CIFS_HEADER_BYTES;
}

bool smb_reader_is_valid(const struct smb_reader *reader)
{
	return reader->begin <= reader->position && reader->position <= reader->end &&
	       (reader->end <= reader->wanted_end || reader->end == reader->position);
}
