/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/page_cache.h"

#include <criterion/criterion.h>
#include <string.h>

#define RUNS_MAX 64

static struct smb_page_cache cache;
static struct smb_page_run runs[RUNS_MAX];

static void init(uint32_t page_bytes, uint32_t run_max)
{
	smb_page_cache_init(&cache, page_bytes, run_max);
}

/** A READ that is answered in full with the file's own bytes. */
static void read_whole(uint64_t start, uint64_t pages, uint32_t reader)
{
	cr_assert_eq(smb_page_cache_reading(&cache, runs, start, pages, reader), SMB_PAGE_CACHE_OK);
	smb_page_cache_filled(&cache, runs, reader,
			      (struct smb_slice){ 1, start * cache.page_bytes, (uint32_t)(pages * cache.page_bytes) });
}

Test(page_cache, pages_go_from_absent_over_reading_to_uptodate)
{
	struct smb_page_run run;

	init(4096, 8);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 5, &run), SMB_PAGE_ABSENT);
	cr_expect_eq(run.start, 0);
	cr_expect_eq(run.pages, UINT64_MAX);
	cr_assert_eq(smb_page_cache_reading(&cache, runs, 4, 4, 9), SMB_PAGE_CACHE_OK);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 7, &run), SMB_PAGE_READING);
	cr_expect_eq(run.reader, 9);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 3, &run), SMB_PAGE_ABSENT);
	cr_expect_eq(run.pages, 4);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 8, &run), SMB_PAGE_ABSENT);
	cr_expect_eq(run.start, 8);
	cr_expect_eq(run.pages, UINT64_MAX - 8);
	cr_expect_eq(smb_page_cache_data(&cache, runs, 4 * 4096, 10).length, 0);
	smb_page_cache_filled(&cache, runs, 9, (struct smb_slice){ 3, 1000000, 4 * 4096 });
	cr_expect_eq(smb_page_cache_look(&cache, runs, 7, NULL), SMB_PAGE_UPTODATE);
	cr_expect(smb_page_cache_is_valid(&cache, runs));
}

Test(page_cache, neighbours_join_when_their_data_continues)
{
	init(4096, 8);
	read_whole(0, 4, 1);
	read_whole(8, 4, 2);
	cr_expect_eq(cache.run_count, 2);
	read_whole(4, 4, 3);
	cr_expect_eq(cache.run_count, 1);
	cr_expect_eq(runs[0].pages, 12);
	/* Other data next to it does not join. */
	cr_assert_eq(smb_page_cache_reading(&cache, runs, 12, 1, 4), SMB_PAGE_CACHE_OK);
	smb_page_cache_filled(&cache, runs, 4, (struct smb_slice){ 2, 12 * 4096, 4096 });
	cr_expect_eq(cache.run_count, 2);
	cr_expect_eq(smb_page_cache_data(&cache, runs, 100, UINT32_MAX).length, 12 * 4096 - 100);
	cr_expect(smb_page_cache_is_valid(&cache, runs));
}

Test(page_cache, overlapping_reads_are_refused)
{
	static const struct {
		uint64_t start;
		uint64_t pages;
		enum smb_page_cache_verdict verdict;
	} cases[] = {
		{ 8, 4, SMB_PAGE_CACHE_BUSY },	{ 7, 2, SMB_PAGE_CACHE_BUSY },	 { 11, 1, SMB_PAGE_CACHE_BUSY },
		{ 11, 5, SMB_PAGE_CACHE_BUSY }, { 0, 100, SMB_PAGE_CACHE_BUSY }, { 12, 1, SMB_PAGE_CACHE_OK },
		{ 7, 1, SMB_PAGE_CACHE_OK },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		init(4096, 8);
		cr_assert_eq(smb_page_cache_reading(&cache, runs, 8, 4, 1), SMB_PAGE_CACHE_OK);
		cr_expect_eq(smb_page_cache_reading(&cache, runs, cases[i].start, cases[i].pages, 2), cases[i].verdict,
			     "%lu %lu", cases[i].start, cases[i].pages);
		cr_expect(smb_page_cache_is_valid(&cache, runs));
	}
}

Test(page_cache, short_read_leaves_zeros_in_its_last_page_and_the_rest_absent)
{
	struct smb_slice slice;

	init(4096, 8);
	cr_assert_eq(smb_page_cache_reading(&cache, runs, 2, 8, 1), SMB_PAGE_CACHE_OK);
	smb_page_cache_mark(&cache, 9);
	smb_page_cache_filled(&cache, runs, 1, (struct smb_slice){ 5, 8192, 4096 + 100 });
	cr_expect_eq(smb_page_cache_look(&cache, runs, 3, NULL), SMB_PAGE_UPTODATE);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 4, NULL), SMB_PAGE_READING);
	smb_page_cache_failed(&cache, runs, 1, 4);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 4, NULL), SMB_PAGE_ABSENT);
	cr_expect_not(smb_page_cache_touch_mark(&cache, 9));
	slice = smb_page_cache_data(&cache, runs, 8192, UINT32_MAX);
	cr_expect_eq(slice.source, 5);
	cr_expect_eq(slice.length, 4196);
	slice = smb_page_cache_data(&cache, runs, 8192 + 4196, UINT32_MAX);
	cr_expect_eq(slice.source, 0);
	cr_expect_eq(slice.length, 2 * 4096 - 4196);
	cr_expect(smb_page_cache_is_valid(&cache, runs));
}

Test(page_cache, failure_behind_a_page_keeps_what_is_before_it)
{
	init(4096, 8);
	cr_assert_eq(smb_page_cache_reading(&cache, runs, 10, 10, 1), SMB_PAGE_CACHE_OK);
	smb_page_cache_failed(&cache, runs, 1, 20);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 19, NULL), SMB_PAGE_READING);
	smb_page_cache_failed(&cache, runs, 1, 15);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 14, NULL), SMB_PAGE_READING);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 15, NULL), SMB_PAGE_ABSENT);
	smb_page_cache_failed(&cache, runs, 2, 0); /* nobody's */
	cr_expect_eq(cache.run_count, 1);
	smb_page_cache_failed(&cache, runs, 1, 0);
	cr_expect_eq(cache.run_count, 0);
}

Test(page_cache, full_array_forgets_what_is_farthest_behind_but_never_a_page_being_read)
{
	init(4096, 6);
	for (uint32_t i = 0; i < 5; i++)
		read_whole(10 * i, 1, i + 1);
	cache.newest = 25;
	cr_assert_eq(cache.run_count, 5);
	read_whole(60, 1, 7);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 0, NULL), SMB_PAGE_ABSENT);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 10, NULL), SMB_PAGE_UPTODATE);
	/* Nothing behind: the farthest ahead goes. */
	cache.newest = 10;
	read_whole(70, 1, 8);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 60, NULL), SMB_PAGE_ABSENT);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 10, NULL), SMB_PAGE_UPTODATE);
	smb_page_cache_invalidate(&cache, runs);
	cr_expect_eq(cache.run_count, 0);
	for (uint32_t i = 0; i < 5; i++)
		cr_assert_eq(smb_page_cache_reading(&cache, runs, 10 * i, 2, i + 1), SMB_PAGE_CACHE_OK);
	cr_expect_eq(smb_page_cache_reading(&cache, runs, 90, 2, 9), SMB_PAGE_CACHE_FULL);
	/* The entry kept free takes the first short READ; a second one loses its pages but nothing else. */
	smb_page_cache_filled(&cache, runs, 1, (struct smb_slice){ 1, 0, 4096 });
	cr_expect_eq(cache.run_count, 6);
	cache.newest = 0;
	smb_page_cache_filled(&cache, runs, 2, (struct smb_slice){ 1, 40960, 4096 });
	cr_expect_eq(smb_page_cache_look(&cache, runs, 10, NULL), SMB_PAGE_ABSENT);
	cr_expect_eq(smb_page_cache_look(&cache, runs, 11, NULL), SMB_PAGE_READING);
	cr_expect(smb_page_cache_is_valid(&cache, runs));
}

Test(page_cache, marks_fire_once_and_the_oldest_makes_room)
{
	init(4096, 8);
	smb_page_cache_mark(&cache, 7);
	smb_page_cache_mark(&cache, 7);
	cr_expect_eq(smb_page_cache_next_mark(&cache, 0, 8), 7);
	cr_expect_eq(smb_page_cache_next_mark(&cache, 0, 7), UINT64_MAX);
	cr_expect_eq(smb_page_cache_next_mark(&cache, 8, 100), UINT64_MAX);
	cr_expect_not(smb_page_cache_touch_mark(&cache, 6));
	cr_expect(smb_page_cache_touch_mark(&cache, 7));
	cr_expect_not(smb_page_cache_touch_mark(&cache, 7));
	for (uint64_t page = 0; page <= SMB_PAGE_MARKS_MAX; page++)
		smb_page_cache_mark(&cache, 100 + page);
	cr_expect(smb_page_cache_is_valid(&cache, runs));
	cr_expect_not(smb_page_cache_touch_mark(&cache, 100));
	cr_expect_eq(smb_page_cache_next_mark(&cache, 0, 1000), 101);
	cr_expect(smb_page_cache_touch_mark(&cache, 100 + SMB_PAGE_MARKS_MAX));
}

/* ---- against a plain array of pages ---- */

#define MODEL_PAGES 96
#define MODEL_READERS 1000

struct model_page {
	enum smb_page_state state;
	uint32_t reader;
	uint64_t source;
	uint64_t offset; /* stream position of its first byte */
	uint32_t data_bytes; /* the rest of the page is zero */
};

static struct model_page model[MODEL_PAGES];
static uint32_t page_bytes;

static uint32_t next_random(uint64_t *seed, uint32_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33) % below;
}

static bool model_absent(uint64_t start, uint64_t pages)
{
	for (uint64_t page = start; page < start + pages; page++) {
		if (model[page].state != SMB_PAGE_ABSENT)
			return false;
	}
	return true;
}

static void model_filled(uint32_t reader, struct smb_slice data)
{
	uint64_t done = 0;

	for (uint32_t page = 0; page < MODEL_PAGES && done < data.length; page++) {
		uint64_t left = data.length - done;

		if (model[page].state != SMB_PAGE_READING || model[page].reader != reader)
			continue;
		model[page].state = SMB_PAGE_UPTODATE;
		model[page].source = data.source;
		model[page].offset = data.offset + done;
		model[page].data_bytes = left < page_bytes ? (uint32_t)left : page_bytes;
		done += model[page].data_bytes;
	}
}

static void model_failed(uint32_t reader, uint64_t from_page)
{
	for (uint64_t page = from_page; page < MODEL_PAGES; page++) {
		if (model[page].state == SMB_PAGE_READING && model[page].reader == reader)
			model[page].state = SMB_PAGE_ABSENT;
	}
}

static uint64_t model_reading_pages(uint32_t reader)
{
	uint64_t pages = 0;

	for (uint32_t page = 0; page < MODEL_PAGES; page++)
		pages += model[page].state == SMB_PAGE_READING && model[page].reader == reader;
	return pages;
}

static uint64_t model_first_page(uint32_t reader)
{
	uint64_t page = 0;

	while (model[page].state != SMB_PAGE_READING || model[page].reader != reader)
		page++;
	return page;
}

/** One byte by the model: false when its page is not up to date. */
static bool model_byte(uint64_t position, uint64_t *source, uint64_t *offset)
{
	const struct model_page *page = &model[position / page_bytes];
	uint32_t inside = (uint32_t)(position % page_bytes);

	*source = inside < page->data_bytes ? page->source : 0;
	*offset = inside < page->data_bytes ? page->offset + inside : position;
	return page->state == SMB_PAGE_UPTODATE;
}

static void compare_states(void)
{
	cr_assert(smb_page_cache_is_valid(&cache, runs));
	for (uint64_t page = 0; page < MODEL_PAGES; page++) {
		struct smb_page_run run;

		cr_assert_eq(smb_page_cache_look(&cache, runs, page, &run), model[page].state, "page %lu", page);
		cr_assert(run.start <= page && page - run.start < run.pages);
		if (run.state == SMB_PAGE_READING)
			cr_assert_eq(run.reader, model[page].reader);
	}
}

/** The slice at a random position: right at its first and last byte, and no shorter than it must be. */
static void compare_data(uint64_t *seed)
{
	uint64_t position = next_random(seed, MODEL_PAGES * page_bytes);
	uint32_t length = 1 + next_random(seed, 20 * page_bytes);
	struct smb_slice slice = smb_page_cache_data(&cache, runs, position, length);
	uint64_t source;
	uint64_t offset;
	uint64_t end = position + slice.length;

	cr_assert_eq(model_byte(position, &source, &offset), slice.length > 0);
	if (!slice.length)
		return;
	cr_assert_leq(slice.length, length);
	cr_assert(slice.source == source && slice.offset == offset);
	for (uint32_t at = 0; at < slice.length; at += 512) {
		cr_assert(model_byte(position + at, &source, &offset));
		cr_assert(source == slice.source && offset == slice.offset + at, "byte %lu", position + at);
	}
	if (slice.length == length || end >= MODEL_PAGES * (uint64_t)page_bytes)
		return;
	if (model_byte(end, &source, &offset))
		cr_assert(source != slice.source || offset != slice.offset + slice.length || source == 0);
}

static void random_operation(uint64_t *seed)
{
	static uint32_t reader;
	uint64_t start = next_random(seed, MODEL_PAGES - 12);
	uint64_t pages = 1 + next_random(seed, 12);
	uint32_t which = 1 + next_random(seed, reader + 1);
	uint64_t asked = model_reading_pages(which);

	switch (next_random(seed, 8)) {
	case 0:
	case 1:
	case 2: {
		bool absent = model_absent(start, pages);

		reader = (reader + 1) % MODEL_READERS;
		if (model_reading_pages(reader))
			return;
		cr_assert_eq(smb_page_cache_reading(&cache, runs, start, pages, reader),
			     absent ? SMB_PAGE_CACHE_OK : SMB_PAGE_CACHE_BUSY);
		for (uint64_t page = start; absent && page < start + pages; page++)
			model[page] = (struct model_page){ SMB_PAGE_READING, reader, 0, 0, 0 };
		return;
	}
	case 3:
		smb_page_cache_failed(&cache, runs, which, start);
		model_failed(which, start);
		return;
	case 4:
		if (next_random(seed, 20) == 0) {
			smb_page_cache_invalidate(&cache, runs);
			for (uint32_t page = 0; page < MODEL_PAGES; page++) {
				if (model[page].state == SMB_PAGE_UPTODATE)
					model[page].state = SMB_PAGE_ABSENT;
			}
		}
		return;
	default:
		break;
	}
	if (asked) {
		struct smb_slice data = { next_random(seed, 3), start * page_bytes, (uint32_t)(asked * page_bytes) };

		if (next_random(seed, 4)) /* mostly the file's own bytes, which join */
			data = (struct smb_slice){ 1, model_first_page(which) * page_bytes, data.length };
		if (next_random(seed, 2))
			data.length = 1 + next_random(seed, data.length);
		smb_page_cache_filled(&cache, runs, which, data);
		model_filled(which, data);
	}
}

Test(page_cache, random_operations_agree_with_an_array_of_pages)
{
	static struct smb_page_run many[MODEL_PAGES + 8];

	for (uint64_t round = 0; round < 60; round++) {
		uint64_t seed = round * 7919 + 1;

		page_bytes = 4096U << (round % 5);
		memset(model, 0, sizeof(model));
		memset(many, 0, sizeof(many));
		smb_page_cache_init(&cache, page_bytes, RUNS_MAX);
		for (int step = 0; step < 1500 && cache.run_count + 2 < RUNS_MAX; step++) {
			random_operation(&seed);
			compare_states();
			compare_data(&seed);
		}
	}
}

Test(page_cache, broken_caches_are_not_valid)
{
	init(4096, 8);
	read_whole(0, 4, 1);
	cr_assert(smb_page_cache_is_valid(&cache, runs));
	runs[1] = (struct smb_page_run){ .start = 3, .pages = 2, .state = SMB_PAGE_READING };
	cache.run_count = 2;
	cr_expect_not(smb_page_cache_is_valid(&cache, runs), "overlap");
	runs[1].start = 4;
	cr_expect(smb_page_cache_is_valid(&cache, runs));
	runs[1].pages = 0;
	cr_expect_not(smb_page_cache_is_valid(&cache, runs), "empty run");
	runs[1] = (struct smb_page_run){ 4, 1, SMB_PAGE_UPTODATE, 0, 1, 4 * 4096, 0 };
	cr_expect_not(smb_page_cache_is_valid(&cache, runs), "neighbours that should be one");
	runs[1].source = 2;
	cr_expect(smb_page_cache_is_valid(&cache, runs));
	cache.marks[0] = cache.marks[1] = 3;
	cr_expect_not(smb_page_cache_is_valid(&cache, runs), "a page marked twice");
}
