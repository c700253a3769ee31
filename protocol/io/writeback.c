/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/writeback.h"

#include <assert.h>

#define MIB UINT64_C(1048576)
#define CHUNK_MIN_BYTES (4 * MIB) /* MIN_WRITEBACK_PAGES */
#define CHUNK_MAX_BYTES (50 * MIB) /* half a second at 100 MB/s, where the bandwidth estimate starts */
#define SYNC_PAGES_MAX 14 /* PAGEVEC_SIZE (facts A10) */
#define PENDING_MAX 50 /* CIFS_MAX_REQ (facts A10) */
#define AGAIN_BYTES_MAX 65536 /* smb2_wp_retry_size */

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t page_up(const struct smb_writeback_view *view, uint64_t byte)
{
	uint32_t page_bytes = view->dirty->page_bytes;

	return (byte + page_bytes - 1) / page_bytes * page_bytes;
}

struct smb_dirty_limits smb_dirty_limits_for_memory(uint64_t memory_bytes)
{
	uint64_t limit = memory_bytes / 5;
	uint64_t chunk = smaller(CHUNK_MAX_BYTES, limit / 8) + CHUNK_MIN_BYTES;

	return (struct smb_dirty_limits){
		.background_bytes = memory_bytes / 10,
		.limit_bytes = limit,
		.chunk_bytes = chunk - chunk % CHUNK_MIN_BYTES,
	};
}

uint32_t smb_write_wsize(const struct smb_policy *policy, uint32_t wsize, uint32_t page_bytes)
{
	if (!policy->wsize_rounded_to_page)
		return wsize;
	return wsize < page_bytes ? page_bytes : wsize - wsize % page_bytes;
}

bool smb_write_pages_alone(uint32_t wsize, uint32_t page_bytes)
{
	return wsize < page_bytes;
}

static bool over_background(const struct smb_writeback_view *view)
{
	return view->dirty->unsent_bytes + view->dirty_elsewhere_bytes > view->limits->background_bytes;
}

bool smb_writeback_wanted(const struct smb_writeback_view *view)
{
	return view->dirty->unsent_bytes && (over_background(view) || view->dirty->room_wanted);
}

void smb_writeback_begin(struct smb_writeback *pass, const struct smb_writeback_view *view,
			 enum smb_writeback_kind kind, uint64_t start, uint64_t end)
{
	*pass = (struct smb_writeback){ .kind = kind, .start = start, .end = end, .write = SMB_WRITE_NONE };
	if (kind != SMB_WRITEBACK_SYNC) {
		pass->start = view->dirty->flush_from;
		pass->end = UINT64_MAX;
		pass->chunk_left = view->limits->chunk_bytes;
	}
	pass->position = pass->start;
	if (kind != SMB_WRITEBACK_SYNC)
		return;
	pass->running = true;
	view->dirty->sync_passes++;
	for (uint32_t i = 0; i < view->dirty->write_max; i++)
		view->writes[i].sync = view->writes[i].length != 0;
}

/** Each WRITE is answered before the next is sent. */
static bool one_at_a_time(const struct smb_writeback_view *view)
{
	return view->policy->write_mode == SMB_WRITE_SYNC_14_PAGES ||
	       smb_write_pages_alone(view->wsize, view->dirty->page_bytes);
}

/** The first byte that a WRITE starting at `from` may not carry. */
static uint64_t write_end(const struct smb_writeback_view *view, const struct smb_dirty_run *run, uint32_t credit_bytes)
{
	uint32_t page_bytes = view->dirty->page_bytes;
	uint64_t page = run->start - run->start % page_bytes;
	uint32_t bytes = (uint32_t)smaller(view->wsize, credit_bytes);

	if (smb_write_pages_alone(view->wsize, page_bytes))
		return smaller(run->start + bytes, page + page_bytes);
	if (!view->policy->read_whole_pages)
		return run->start + bytes;
	if (run->again)
		bytes = (uint32_t)smaller(bytes, AGAIN_BYTES_MAX > page_bytes ? AGAIN_BYTES_MAX : page_bytes);
	if (view->policy->write_mode == SMB_WRITE_SYNC_14_PAGES)
		bytes = (uint32_t)smaller(bytes, SYNC_PAGES_MAX * page_bytes);
	assert(bytes >= page_bytes);
	return page + bytes - bytes % page_bytes;
}

/** The next unsent run of the pass that may be sent now. A background pass goes past pages that are under way; for a
 *  sync pass `busy` gets the WRITE to wait for. */
static bool next_run(struct smb_writeback *pass, const struct smb_writeback_view *view, struct smb_dirty_run *run,
		     uint32_t *busy)
{
	const struct smb_dirty *dirty = view->dirty;
	bool sync = pass->kind == SMB_WRITEBACK_SYNC;

	*busy = SMB_WRITE_NONE;
	if (sync && dirty->again_count && smb_dirty_next(dirty, view->runs, pass->start, pass->end, true, run)) {
		*busy = smb_dirty_under_write(dirty, view->writes, run->start, run->start + 1);
		return true;
	}
	while (smb_dirty_next(dirty, view->runs, pass->position, pass->end, false, run)) {
		const struct smb_dirty_write *write;

		*busy = smb_dirty_under_write(dirty, view->writes, run->start, run->start + 1);
		if (*busy == SMB_WRITE_NONE || sync)
			return true;
		write = &view->writes[*busy];
		pass->position = page_up(view, write->offset + write->length);
	}
	*busy = SMB_WRITE_NONE;
	return false;
}

/** A background pass has come to the end of the file and goes on at its start, once (range_cyclic). */
static bool wrap(struct smb_writeback *pass)
{
	if (pass->kind == SMB_WRITEBACK_SYNC || pass->wrapped || !pass->start)
		return false;
	pass->wrapped = true;
	pass->end = pass->start;
	pass->position = 0;
	return true;
}

static bool background_is_over(const struct smb_writeback *pass, const struct smb_writeback_view *view)
{
	if (pass->kind == SMB_WRITEBACK_SYNC)
		return false;
	if (!pass->chunk_left)
		return true;
	return pass->kind == SMB_WRITEBACK_BACKGROUND && !smb_writeback_wanted(view);
}

static struct smb_writeback_action wait_for(uint32_t write)
{
	return (struct smb_writeback_action){ .step = SMB_WRITEBACK_WAIT, .write = write };
}

static struct smb_writeback_action step_end(struct smb_writeback *pass, const struct smb_writeback_view *view)
{
	uint32_t write = SMB_WRITE_NONE;

	if (pass->kind == SMB_WRITEBACK_SYNC)
		write = smb_dirty_under_write(view->dirty, view->writes, pass->start, pass->end);
	if (write != SMB_WRITE_NONE)
		return wait_for(write);
	view->dirty->sync_passes -= pass->running;
	pass->running = false;
	return (struct smb_writeback_action){ .step = SMB_WRITEBACK_DONE };
}

struct smb_writeback_action smb_writeback_step(struct smb_writeback *pass, const struct smb_writeback_view *view)
{
	const struct smb_dirty *dirty = view->dirty;
	struct smb_dirty_run run;
	uint32_t busy;

	assert(view->wsize);
	if (pass->write != SMB_WRITE_NONE && view->writes[pass->write].length)
		return wait_for(pass->write);
	pass->write = SMB_WRITE_NONE;
	if (background_is_over(pass, view))
		return step_end(pass, view);
	while (!next_run(pass, view, &run, &busy)) {
		if (!wrap(pass))
			return step_end(pass, view);
	}
	if (busy != SMB_WRITE_NONE)
		return wait_for(busy);
	if (view->policy->write_mode == SMB_WRITE_ASYNC_50 && view->in_flight >= PENDING_MAX)
		return wait_for(SMB_WRITE_NONE);
	if (dirty->write_count && (dirty->write_count == dirty->write_max || dirty->run_count + 2 > dirty->run_max))
		return wait_for(SMB_WRITE_NONE);
	return (struct smb_writeback_action){
		.step = SMB_WRITEBACK_SEND,
		.bytes = view->wsize,
		.ordinary = smb_write_pages_alone(view->wsize, dirty->page_bytes) ||
			    (run.again && view->policy->read_whole_pages),
		.write = SMB_WRITE_NONE,
	};
}

/** [from, end) up to the first page that is under way; the page of `from` is not. */
static uint64_t before_busy(const struct smb_writeback_view *view, uint64_t from, uint64_t end)
{
	uint64_t next_page = page_up(view, from + 1);
	uint32_t busy;

	if (end <= next_page)
		return end;
	busy = smb_dirty_under_write(view->dirty, view->writes, next_page, end);
	if (busy == SMB_WRITE_NONE)
		return end;
	return view->writes[busy].offset - view->writes[busy].offset % view->dirty->page_bytes;
}

/** Where the pass goes on after a WRITE: at the next page, unless more of this one is to be sent. */
static uint64_t past(const struct smb_writeback_view *view, uint64_t end)
{
	uint64_t next_page = page_up(view, end);
	struct smb_dirty_run rest;

	return smb_dirty_next(view->dirty, view->runs, end, next_page, false, &rest) ? end : next_page;
}

struct smb_writeback_write smb_writeback_cut(struct smb_writeback *pass, const struct smb_writeback_view *view,
					     uint32_t credit_bytes)
{
	struct smb_writeback_write cut = { .write = SMB_WRITE_NONE };
	struct smb_dirty_run run;
	uint32_t busy;
	uint64_t end;
	bool found = next_run(pass, view, &run, &busy);

	assert(found && busy == SMB_WRITE_NONE);
	end = smaller(run.end, write_end(view, &run, credit_bytes));
	end = before_busy(view, run.start, end);
	cut.offset = run.start;
	cut.write = smb_dirty_take(view->dirty, view->runs, view->writes, run.start, end, &cut.data);
	assert(cut.write != SMB_WRITE_NONE);
	if (one_at_a_time(view))
		pass->write = cut.write;
	if (!run.again)
		pass->position = past(view, end);
	if (pass->kind != SMB_WRITEBACK_SYNC) {
		pass->chunk_left -= smaller(pass->chunk_left, cut.data.length);
		view->dirty->flush_from = pass->position;
	}
	return cut;
}

bool smb_writeback_is_valid(const struct smb_writeback *pass)
{
	if (pass->start > pass->end && !pass->wrapped)
		return false;
	return pass->kind != SMB_WRITEBACK_SYNC || (!pass->chunk_left && !pass->wrapped);
}
