/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/page_cache.h"

#include <assert.h>
#include <string.h>

#define NO_PAGE UINT64_MAX

static uint64_t run_end(const struct smb_page_run *run)
{
	return run->start + run->pages;
}

/** Index of the first run that ends after `page`, which is the one that holds it or the next one behind. */
static uint32_t find(const struct smb_page_cache *cache, const struct smb_page_run *runs, uint64_t page)
{
	uint32_t low = 0;
	uint32_t high = cache->run_count;

	/* A sequential reader's page is in one of the first runs; what lies behind are the READs under way. */
	for (; low < 3 && low < high; low++) {
		if (run_end(&runs[low]) > page)
			return low;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (run_end(&runs[middle]) <= page)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t find_reader(const struct smb_page_cache *cache, const struct smb_page_run *runs, uint32_t reader)
{
	uint32_t i;

	for (i = 0; i < cache->run_count; i++) {
		if (runs[i].state == SMB_PAGE_READING && runs[i].reader == reader)
			break;
	}
	return i;
}

static void insert(struct smb_page_cache *cache, struct smb_page_run *runs, uint32_t at, struct smb_page_run run)
{
	assert(cache->run_count < cache->run_max);
	memmove(&runs[at + 1], &runs[at], (cache->run_count - at) * sizeof(runs[0]));
	runs[at] = run;
	cache->run_count++;
}

static void erase(struct smb_page_cache *cache, struct smb_page_run *runs, uint32_t at)
{
	cache->run_count--;
	memmove(&runs[at], &runs[at + 1], (cache->run_count - at) * sizeof(runs[0]));
}

static void clear_marks(struct smb_page_cache *cache, uint64_t start, uint64_t pages)
{
	for (uint32_t i = 0; i < SMB_PAGE_MARKS_MAX; i++) {
		if (cache->marks[i] != NO_PAGE && cache->marks[i] >= start && cache->marks[i] - start < pages)
			cache->marks[i] = NO_PAGE;
	}
}

static bool is_pinned(const struct smb_page_cache *cache, const struct smb_page_run *run)
{
	return run->start < cache->pinned_end && run_end(run) > cache->pinned_start;
}

/** Make room by forgetting one up-to-date run: the farthest behind the newest access, else the farthest ahead. */
static bool forget_one(struct smb_page_cache *cache, struct smb_page_run *runs)
{
	uint32_t victim = cache->run_count;

	for (uint32_t i = 0; i < cache->run_count; i++) {
		bool behind = run_end(&runs[i]) <= cache->newest;

		if (runs[i].state != SMB_PAGE_UPTODATE || is_pinned(cache, &runs[i]))
			continue;
		if (behind || runs[i].start > cache->newest)
			victim = i;
		if (behind)
			break;
	}
	if (victim == cache->run_count)
		return false;
	clear_marks(cache, runs[victim].start, runs[victim].pages);
	erase(cache, runs, victim);
	return true;
}

static bool joins(const struct smb_page_cache *cache, const struct smb_page_run *left, const struct smb_page_run *right)
{
	return left->state == SMB_PAGE_UPTODATE && right->state == SMB_PAGE_UPTODATE && run_end(left) == right->start &&
	       !left->zero_tail && left->source == right->source &&
	       left->source_offset + left->pages * cache->page_bytes == right->source_offset;
}

/** Join the run at `at` with its neighbours where they continue each other. */
static void join(struct smb_page_cache *cache, struct smb_page_run *runs, uint32_t at)
{
	if (at + 1 < cache->run_count && joins(cache, &runs[at], &runs[at + 1])) {
		runs[at].pages += runs[at + 1].pages;
		runs[at].zero_tail = runs[at + 1].zero_tail;
		erase(cache, runs, at + 1);
	}
	if (at && joins(cache, &runs[at - 1], &runs[at])) {
		runs[at - 1].pages += runs[at].pages;
		runs[at - 1].zero_tail = runs[at].zero_tail;
		erase(cache, runs, at);
	}
}

void smb_page_cache_init(struct smb_page_cache *cache, uint32_t page_bytes, uint32_t run_max)
{
	assert(page_bytes >= 4096 && page_bytes <= 65536 && !(page_bytes & (page_bytes - 1)));
	assert(run_max >= 4);
	*cache = (struct smb_page_cache){ .page_bytes = page_bytes, .run_max = run_max };
	for (uint32_t i = 0; i < SMB_PAGE_MARKS_MAX; i++)
		cache->marks[i] = NO_PAGE;
}

enum smb_page_state smb_page_cache_look(const struct smb_page_cache *cache, const struct smb_page_run *runs,
					uint64_t page, struct smb_page_run *run)
{
	uint32_t at = find(cache, runs, page);
	bool inside = at < cache->run_count && runs[at].start <= page;

	if (!run)
		return inside ? runs[at].state : SMB_PAGE_ABSENT;
	if (inside) {
		*run = runs[at];
		return run->state;
	}
	*run = (struct smb_page_run){ .state = SMB_PAGE_ABSENT };
	run->start = at ? run_end(&runs[at - 1]) : 0;
	run->pages = (at < cache->run_count ? runs[at].start : UINT64_MAX) - run->start;
	return SMB_PAGE_ABSENT;
}

enum smb_page_cache_verdict smb_page_cache_reading(struct smb_page_cache *cache, struct smb_page_run *runs,
						   uint64_t start, uint64_t pages, uint32_t reader)
{
	uint32_t at = find(cache, runs, start);

	assert(pages && pages < UINT64_MAX - start);
	if (at < cache->run_count && runs[at].start < start + pages)
		return SMB_PAGE_CACHE_BUSY;
	/* One entry stays free: a short READ splits its run. */
	if (cache->run_count + 1 >= cache->run_max) {
		if (!forget_one(cache, runs))
			return SMB_PAGE_CACHE_FULL;
		at = find(cache, runs, start);
	}
	insert(cache, runs, at,
	       (struct smb_page_run){ .start = start, .pages = pages, .state = SMB_PAGE_READING, .reader = reader });
	return SMB_PAGE_CACHE_OK;
}

void smb_page_cache_filled(struct smb_page_cache *cache, struct smb_page_run *runs, uint32_t reader,
			   struct smb_slice data)
{
	uint32_t at = find_reader(cache, runs, reader);
	uint64_t pages = ((uint64_t)data.length + cache->page_bytes - 1) / cache->page_bytes;
	struct smb_page_run done;

	if (at == cache->run_count || !pages)
		return;
	assert(pages <= runs[at].pages);
	done = (struct smb_page_run){
		.start = runs[at].start,
		.pages = pages,
		.state = SMB_PAGE_UPTODATE,
		.source = data.source,
		.source_offset = data.offset,
		.zero_tail = (uint32_t)(pages * cache->page_bytes - data.length),
	};
	if (pages == runs[at].pages) {
		runs[at] = done;
		join(cache, runs, at);
		return;
	}
	runs[at].start += pages;
	runs[at].pages -= pages;
	/* Several short READs may wait for their end at once; with no room left the new pages are the ones forgotten. */
	if (cache->run_count == cache->run_max && !forget_one(cache, runs)) {
		clear_marks(cache, done.start, done.pages);
		return;
	}
	at = find(cache, runs, done.start);
	insert(cache, runs, at, done);
	join(cache, runs, at);
}

void smb_page_cache_failed(struct smb_page_cache *cache, struct smb_page_run *runs, uint32_t reader, uint64_t from_page)
{
	uint32_t at = find_reader(cache, runs, reader);

	if (at == cache->run_count || from_page >= run_end(&runs[at]))
		return;
	if (from_page <= runs[at].start) {
		clear_marks(cache, runs[at].start, runs[at].pages);
		erase(cache, runs, at);
		return;
	}
	clear_marks(cache, from_page, run_end(&runs[at]) - from_page);
	runs[at].pages = from_page - runs[at].start;
}

/** Take up-to-date pages out of the array. */
static void cut_out(struct smb_page_cache *cache, struct smb_page_run *runs, uint64_t start, uint64_t end)
{
	uint32_t at = find(cache, runs, start);

	while (at < cache->run_count && runs[at].start < end) {
		struct smb_page_run run = runs[at];

		assert(run.state == SMB_PAGE_UPTODATE);
		erase(cache, runs, at);
		if (run_end(&run) > end) {
			struct smb_page_run tail = run;

			tail.start = end;
			tail.pages = run_end(&run) - end;
			tail.source_offset += (end - run.start) * cache->page_bytes;
			insert(cache, runs, at, tail);
		}
		if (run.start < start) {
			run.zero_tail = run_end(&run) > start ? 0 : run.zero_tail;
			run.pages = start - run.start;
			insert(cache, runs, at++, run);
		}
		if (at < cache->run_count && runs[at].start >= end)
			break;
	}
}

bool smb_page_cache_make_room(struct smb_page_cache *cache, struct smb_page_run *runs)
{
	while (cache->run_count + 3 > cache->run_max) {
		if (!forget_one(cache, runs))
			return false;
	}
	return true;
}

void smb_page_cache_written(struct smb_page_cache *cache, struct smb_page_run *runs, uint64_t offset,
			    struct smb_slice data)
{
	uint32_t page_bytes = cache->page_bytes;
	uint64_t start = offset / page_bytes;
	uint64_t end = offset + data.length;
	uint64_t end_page = end / page_bytes + (end % page_bytes != 0);
	struct smb_page_run old;
	struct smb_page_run run = {
		.start = start,
		.pages = end_page - start,
		.state = SMB_PAGE_UPTODATE,
		.source = data.source,
		.source_offset = data.offset - offset % page_bytes,
		.zero_tail = (uint32_t)(end_page * page_bytes - end),
	};
	uint32_t at;

	assert(data.length && cache->run_count + 2 < cache->run_max);
	if (smb_page_cache_look(cache, runs, end_page - 1, &old) == SMB_PAGE_UPTODATE) {
		uint32_t zero_tail = run_end(&old) == end_page ? old.zero_tail : 0;

		run.zero_tail = zero_tail < run.zero_tail ? zero_tail : run.zero_tail;
	}
	cut_out(cache, runs, start, end_page);
	at = find(cache, runs, start);
	insert(cache, runs, at, run);
	join(cache, runs, at);
}

void smb_page_cache_invalidate(struct smb_page_cache *cache, struct smb_page_run *runs)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < cache->run_count; i++) {
		if (runs[i].state == SMB_PAGE_UPTODATE && !is_pinned(cache, &runs[i]))
			clear_marks(cache, runs[i].start, runs[i].pages);
		else
			runs[kept++] = runs[i];
	}
	cache->run_count = kept;
}

struct smb_slice smb_page_cache_data(const struct smb_page_cache *cache, const struct smb_page_run *runs,
				     uint64_t offset, uint32_t length)
{
	uint64_t page = offset / cache->page_bytes;
	uint32_t at = find(cache, runs, page);
	struct smb_slice slice = { .length = 0 };
	uint64_t skip;
	uint64_t data_bytes;
	uint64_t left;

	if (at == cache->run_count || runs[at].start > page || runs[at].state != SMB_PAGE_UPTODATE)
		return slice;
	skip = offset - runs[at].start * cache->page_bytes;
	data_bytes = runs[at].pages * cache->page_bytes - runs[at].zero_tail;
	if (skip < data_bytes) {
		slice.source = runs[at].source;
		slice.offset = runs[at].source_offset + skip;
		left = data_bytes - skip;
	} else {
		slice.offset = offset; /* source 0: zeros */
		left = data_bytes + runs[at].zero_tail - skip;
	}
	slice.length = length < left ? length : (uint32_t)left;
	return slice;
}

void smb_page_cache_mark(struct smb_page_cache *cache, uint64_t page)
{
	uint32_t slot = cache->next_mark;

	assert(page != NO_PAGE);
	for (uint32_t i = 0; i < SMB_PAGE_MARKS_MAX; i++) {
		if (cache->marks[i] == page)
			return;
	}
	for (uint32_t i = 0; i < SMB_PAGE_MARKS_MAX; i++) {
		uint32_t candidate = (cache->next_mark + i) % SMB_PAGE_MARKS_MAX;

		if (cache->marks[candidate] == NO_PAGE) {
			slot = candidate;
			break;
		}
	}
	cache->marks[slot] = page;
	cache->next_mark = (slot + 1) % SMB_PAGE_MARKS_MAX;
}

bool smb_page_cache_touch_mark(struct smb_page_cache *cache, uint64_t page)
{
	for (uint32_t i = 0; i < SMB_PAGE_MARKS_MAX; i++) {
		if (cache->marks[i] == page && page != NO_PAGE) {
			cache->marks[i] = NO_PAGE;
			return true;
		}
	}
	return false;
}

uint64_t smb_page_cache_next_mark(const struct smb_page_cache *cache, uint64_t page, uint64_t pages)
{
	uint64_t first = NO_PAGE;

	for (uint32_t i = 0; i < SMB_PAGE_MARKS_MAX; i++) {
		uint64_t mark = cache->marks[i];

		if (mark != NO_PAGE && mark >= page && mark - page < pages && mark < first)
			first = mark;
	}
	return first;
}

static bool run_is_valid(const struct smb_page_cache *cache, const struct smb_page_run *run)
{
	if (!run->pages || run->pages > UINT64_MAX - run->start)
		return false;
	if (run->state == SMB_PAGE_READING)
		return true;
	return run->state == SMB_PAGE_UPTODATE && run->zero_tail < cache->page_bytes;
}

bool smb_page_cache_is_valid(const struct smb_page_cache *cache, const struct smb_page_run *runs)
{
	if (cache->page_bytes < 4096 || cache->page_bytes > 65536 || (cache->page_bytes & (cache->page_bytes - 1)))
		return false;
	if (cache->run_max < 4 || cache->run_count > cache->run_max || cache->next_mark >= SMB_PAGE_MARKS_MAX)
		return false;
	for (uint32_t i = 0; i < cache->run_count; i++) {
		if (!run_is_valid(cache, &runs[i]))
			return false;
		if (i && (runs[i].start < run_end(&runs[i - 1]) || joins(cache, &runs[i - 1], &runs[i])))
			return false;
	}
	for (uint32_t i = 0; i < SMB_PAGE_MARKS_MAX; i++) {
		for (uint32_t j = i + 1; j < SMB_PAGE_MARKS_MAX; j++) {
			if (cache->marks[i] != NO_PAGE && cache->marks[i] == cache->marks[j])
				return false;
		}
	}
	return true;
}
