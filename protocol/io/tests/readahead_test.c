/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/readahead.h"

#include <criterion/criterion.h>

/* Cached pages are one stretch [cached_start, cached_end). */
static uint64_t cached_start;
static uint64_t cached_end;
static struct smb_readahead ra;

static uint64_t next_missing(void *context, uint64_t page, uint32_t max)
{
	(void)context;
	if (page < cached_start || page >= cached_end)
		return page;
	return cached_end - page < max ? cached_end : page + max;
}

static uint32_t cached_before(void *context, uint64_t page, uint32_t max)
{
	(void)context;
	if (page > cached_end || page <= cached_start)
		return 0;
	return page - cached_start < max ? (uint32_t)(page - cached_start) : max;
}

static const struct smb_readahead_cache cache = { NULL, next_missing, cached_before };

static const struct smb_policy *policy(const char *era)
{
	return &smb_era_find(era)->policy;
}

static struct smb_readahead_window sync(const char *era, uint64_t page, uint32_t pages)
{
	struct smb_readahead_request request = { .page = page, .pages = pages, .file_pages = 1 << 20 };

	return smb_readahead_sync(&ra, policy(era), &request, &cache);
}

static struct smb_readahead_window async(const char *era, uint64_t page, uint32_t pages)
{
	struct smb_readahead_request request = { .page = page, .pages = pages, .file_pages = 1 << 20 };

	return smb_readahead_async(&ra, policy(era), &request, &cache);
}

static void expect_window(struct smb_readahead_window window, uint64_t start, uint32_t pages, uint64_t mark)
{
	cr_expect_eq(window.start, start, "start %lu, not %lu", window.start, start);
	cr_expect_eq(window.pages, pages, "pages %u, not %u", window.pages, pages);
	cr_expect_eq(window.mark, mark, "mark %lu, not %lu", window.mark, mark);
	cr_expect(smb_readahead_is_valid(&ra));
}

#define NONE UINT64_MAX

/* First window at offset 0, ra_pages and request as given (facts A3 rule 1, and rule 3 for 6.1). */
Test(readahead, first_window_grows_with_the_request)
{
	static const struct {
		const char *era;
		uint32_t ra_pages;
		uint32_t request;
		uint32_t pages;
		uint64_t mark;
	} cases[] = {
		{ "6.1", 1024, 1, 4, 1 },	 { "6.1", 1024, 3, 16, 3 },	    { "6.1", 1024, 32, 128, 32 },
		{ "6.1", 1024, 33, 128, 33 },	 { "6.1", 1024, 64, 128, 64 },	    { "6.1", 1024, 256, 512, 256 },
		{ "6.1", 1024, 257, 1024, 257 }, { "6.1", 1024, 1024, 1024, 512 },  { "6.1", 1024, 5000, 1024, 512 },
		{ "6.1", 256, 256, 256, 128 },	 { "6.1", 8192, 256, 1024, 256 },   { "6.12", 1024, 1, 4, 1 },
		{ "6.12", 1024, 256, 512, 256 }, { "6.12", 1024, 1024, 1024, 512 }, { "6.12", 256, 256, 256, 128 },
		{ "6.12", 255, 256, 255, 128 },	 { "next", 1024, 256, 512, 256 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		smb_readahead_init(&ra, cases[i].ra_pages);
		expect_window(sync(cases[i].era, 0, cases[i].request), 0, cases[i].pages, cases[i].mark);
	}
}

Test(readahead, touching_the_mark_moves_the_window_on_and_ramps_it_up)
{
	static const char *const eras[] = { "6.1", "6.12" };
	static const uint32_t sizes[] = { 16, 64, 128, 256, 512, 1024, 1024, 1024 };

	for (size_t i = 0; i < 2; i++) {
		uint64_t start = 4;
		uint64_t mark = 1;

		smb_readahead_init(&ra, 1024);
		expect_window(sync(eras[i], 0, 1), 0, 4, 1);
		for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			expect_window(async(eras[i], mark, 1), start, sizes[j], start);
			mark = start;
			start += sizes[j];
		}
	}
}

Test(readahead, large_requests_raise_a_small_limit_to_io_pages)
{
	smb_readahead_init(&ra, 16);
	ra.io_pages = 32;
	expect_window(sync("6.1", 0, 256), 0, 32, 16);
	smb_readahead_init(&ra, 16);
	ra.io_pages = 32;
	expect_window(sync("6.1", 0, 20), 0, 20, 10);
	smb_readahead_init(&ra, 16);
	expect_window(sync("6.1", 0, 256), 0, 16, 8);
	smb_readahead_init(&ra, 64);
	ra.io_pages = 32;
	expect_window(sync("6.1", 0, 256), 0, 64, 32);
}

Test(readahead, windows_end_with_the_file)
{
	struct smb_readahead_request request = { .page = 0, .pages = 256, .file_pages = 300 };

	smb_readahead_init(&ra, 1024);
	expect_window(smb_readahead_sync(&ra, policy("6.1"), &request, &cache), 0, 300, 44);
	request.page = 256;
	request.pages = 44;
	expect_window(smb_readahead_async(&ra, policy("6.1"), &request, &cache), 0, 0, NONE);
	request = (struct smb_readahead_request){ .page = 0, .pages = 256, .file_pages = 1 };
	smb_readahead_init(&ra, 1024);
	expect_window(smb_readahead_sync(&ra, policy("6.1"), &request, &cache), 0, 1, NONE);
}

Test(readahead, random_misses_read_the_request_and_leave_the_stream_alone)
{
	static const char *const eras[] = { "6.1", "6.12", "next" };

	for (size_t i = 0; i < 3; i++) {
		cached_start = cached_end = 0;
		smb_readahead_init(&ra, 1024);
		expect_window(sync(eras[i], 0, 1), 0, 4, 1);
		smb_readahead_read_done(&ra, 4095, 4096);
		expect_window(sync(eras[i], 5000, 16), 5000, 16, NONE);
		cr_expect_eq(ra.start, 0);
		cr_expect_eq(ra.size, 4);
	}
}

Test(readahead, nothing_is_sequential_before_anything_was_read)
{
	cached_start = cached_end = 0;
	smb_readahead_init(&ra, 1024);
	expect_window(sync("6.1", 1, 1), 1, 1, NONE);
	smb_readahead_init(&ra, 1024);
	smb_readahead_read_done(&ra, 4095, 4096);
	expect_window(sync("6.1", 1, 1), 1, 4, 2);
	/* One page left out still counts, two do not. */
	smb_readahead_init(&ra, 1024);
	smb_readahead_read_done(&ra, 4095, 4096);
	expect_window(sync("6.1", 2, 1), 2, 4, 3);
	smb_readahead_init(&ra, 1024);
	smb_readahead_read_done(&ra, 4095, 4096);
	expect_window(sync("6.1", 3, 1), 3, 1, NONE);
}

Test(readahead, cached_history_tells_of_a_stream)
{
	static const char *const eras[] = { "6.1", "6.12" };

	for (size_t i = 0; i < 2; i++) {
		/* 20 pages before the miss are cached: 20 + 8 pages, the mark on the last one. */
		cached_start = 980;
		cached_end = 1000;
		smb_readahead_init(&ra, 1024);
		expect_window(sync(eras[i], 1000, 8), 1000, 28, 1027);
		/* No more than the request itself: random. */
		cached_start = 992;
		smb_readahead_init(&ra, 1024);
		expect_window(sync(eras[i], 1000, 8), 1000, 8, NONE);
		/* Cached since the file's first page: counts twice. */
		cached_start = 0;
		cached_end = 100;
		smb_readahead_init(&ra, 1024);
		expect_window(sync(eras[i], 100, 8), 100, 208, 307);
		/* Never more than the limit. */
		smb_readahead_init(&ra, 128);
		expect_window(sync(eras[i], 100, 8), 100, 128, 227);
	}
}

Test(readahead, marks_of_another_stream_go_on_behind_what_is_cached)
{
	static const char *const eras[] = { "6.1", "6.12" };

	for (size_t i = 0; i < 2; i++) {
		cached_start = 5000;
		cached_end = 5032;
		smb_readahead_init(&ra, 1024);
		expect_window(sync(eras[i], 0, 1), 0, 4, 1);
		/* 16 pages to the hole, 4 wanted: 20 runs through the next-window rule. */
		expect_window(async(eras[i], 5016, 4), 5032, 80, 5032);
		cr_expect_eq(ra.start, 5032);
	}
}

/* Up to 6.10 a full stretch was misjudged by one page; later it means there is nothing to do. */
Test(readahead, a_mark_with_everything_cached_behind_it_differs_by_era)
{
	cached_start = 5000;
	cached_end = 9000;
	smb_readahead_init(&ra, 128);
	expect_window(async("6.1", 5016, 4), 5016 + 128, 128, 5016 + 128);
	smb_readahead_init(&ra, 128);
	expect_window(async("6.12", 5016, 4), 0, 0, NONE);
}

Test(readahead, only_6_1_goes_on_from_its_state_when_a_page_behind_the_window_is_missing)
{
	cached_start = cached_end = 0;
	smb_readahead_init(&ra, 1024);
	sync("6.1", 0, 256);
	expect_window(sync("6.1", 512, 256), 512, 1024, 1024 + 512 - 512);
	smb_readahead_init(&ra, 1024);
	sync("6.12", 0, 256);
	expect_window(sync("6.12", 512, 256), 512, 256, NONE);
}

Test(readahead, hints_and_no_readahead_read_the_request_only)
{
	struct smb_readahead_request request = { .page = 0, .pages = 2000, .file_pages = 1 << 20, .random_hint = true };

	smb_readahead_init(&ra, 1024);
	expect_window(smb_readahead_sync(&ra, policy("6.1"), &request, &cache), 0, 1024, NONE);
	request.pages = 10;
	expect_window(smb_readahead_sync(&ra, policy("6.1"), &request, &cache), 0, 10, NONE);
	request.random_hint = false;
	smb_readahead_init(&ra, 0);
	expect_window(smb_readahead_sync(&ra, policy("6.1"), &request, &cache), 0, 1, NONE);
	expect_window(smb_readahead_async(&ra, policy("6.1"), &request, &cache), 0, 0, NONE);
}

/* Facts A4. */
Test(readahead, limit_follows_rasize_rsize_and_era)
{
	static const struct {
		const char *era;
		uint32_t rasize;
		uint32_t rsize;
		uint32_t page_bytes;
		uint32_t pages;
	} cases[] = {
		{ "2.6.39", 0, 16384, 4096, 32 },
		{ "2.6.39", 0, 16384, 65536, 2 },
		{ "3.2", 0, 1048576, 4096, 32 },
		{ "3.2", 0, 61440, 4096, 30 },
		{ "3.2", 0, 65536, 4096, 32 },
		{ "3.2", 0, 49152, 4096, 24 },
		{ "3.2", 0, 1024, 4096, 0 },
		{ "4.15", 0, 1048576, 4096, 256 },
		{ "6.1", 0, 4194304, 4096, 1024 },
		{ "6.1", 1048576, 4194304, 4096, 256 },
		{ "6.1", 0, 61440, 65536, 0 },
		{ "6.4", 0, 4194304, 4096, 2048 },
		{ "6.12", 0, 61440, 16384, 6 },
		{ "6.12", 16777216, 1048576, 16384, 1024 },
		{ "6.1", 33554432, 65536, 65536, 512 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(
			smb_readahead_limit(policy(cases[i].era), cases[i].rasize, cases[i].rsize, cases[i].page_bytes),
			cases[i].pages, "%s rsize %u page %u", cases[i].era, cases[i].rsize, cases[i].page_bytes);
}

/* Facts A6: one more window each time the reader hits an unfinished page, then a constant number of marks. */
Test(readahead, demand_adds_a_window_for_each_unfinished_page_up_to_a_cap)
{
	struct smb_readahead_request request = { .page = 0, .pages = 16, .file_pages = 1 << 20 };
	uint64_t end;

	smb_readahead_init(&ra, 64);
	expect_window(sync("next", 0, 16), 0, 32, 16);
	/* The first page of all is waited for by everyone. */
	expect_window(smb_readahead_waited(&ra, policy("next"), &request, &cache), 0, 0, NONE);
	expect_window(async("next", 16, 16), 32, 64, 32);
	request.page = 20;
	expect_window(smb_readahead_waited(&ra, policy("next"), &request, &cache), 96, 64, 96);
	request.page = 40;
	expect_window(smb_readahead_waited(&ra, policy("next"), &request, &cache), 160, 64, 160);
	/* Each of the three marks opens one window behind the last. */
	expect_window(async("next", 32, 16), 224, 64, 224);
	expect_window(async("next", 96, 16), 288, 64, 288);
	expect_window(async("next", 160, 16), 352, 64, 352);
	end = 416;
	request.page = 200;
	for (int i = 2; i < SMB_READAHEAD_EXTRA_MAX; i++, end += 64)
		expect_window(smb_readahead_waited(&ra, policy("next"), &request, &cache), end, 64, end);
	expect_window(smb_readahead_waited(&ra, policy("next"), &request, &cache), 0, 0, NONE);
	/* Kernels know nothing of it. */
	smb_readahead_init(&ra, 64);
	sync("6.12", 0, 16);
	request.page = 20;
	expect_window(smb_readahead_waited(&ra, policy("6.12"), &request, &cache), 0, 0, NONE);
}

Test(readahead, impossible_states_are_not_valid)
{
	smb_readahead_init(&ra, 64);
	cr_expect(smb_readahead_is_valid(&ra));
	ra.async_size = 1;
	cr_expect_not(smb_readahead_is_valid(&ra));
	ra.size = 1;
	cr_expect(smb_readahead_is_valid(&ra));
	ra.start = UINT64_MAX;
	cr_expect_not(smb_readahead_is_valid(&ra));
}
