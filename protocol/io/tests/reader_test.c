/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/tests/host.h"

#include <criterion/criterion.h>

#define MIB UINT64_C(1048576)

static struct host_file file;

static void open_file(const char *era, uint32_t page_bytes, uint32_t rsize, uint64_t file_bytes)
{
	host_open(&file, &(struct host_setup){
				 .policy = &smb_era_find(era)->policy,
				 .page_bytes = page_bytes,
				 .rsize = rsize,
				 .file_bytes = file_bytes,
			 });
}

static void expect_read(uint32_t index, uint64_t offset, uint32_t length)
{
	cr_assert_lt(index, file.read_count);
	cr_expect_eq(file.reads[index].offset, offset, "READ %u at %lu, not %lu", index, file.reads[index].offset,
		     offset);
	cr_expect_eq(file.reads[index].length, length, "READ %u of %u, not %u", index, file.reads[index].length,
		     length);
}

static const char *const eras[] = { "2.6.39", "3.2", "4.15", "5.10", "6.1", "6.4", "6.12", "next" };
static const uint32_t page_sizes[] = { 4096, 16384, 65536 };

/* Facts C30: every page once, at most two windows (and what a big request adds) ahead of the reader. */
Test(reader, sequential_readers_fetch_every_byte_once_with_any_era_page_and_block_size)
{
	static const uint32_t block_sizes[] = { 512, 4096, 10000, 131072, 1048576, 5000000 };
	const uint64_t file_bytes = 7 * MIB + 12345;

	for (size_t era = 0; era < sizeof(eras) / sizeof(eras[0]); era++) {
		for (size_t i = 0; i < 3 * 6; i++) {
			uint32_t page_bytes = page_sizes[i % 3];
			uint64_t pages = (file_bytes + page_bytes - 1) / page_bytes;
			uint64_t sum = 0;
			uint64_t window;

			open_file(eras[era], page_bytes, 1048576, file_bytes);
			host_read_through(&file, 0, file_bytes, block_sizes[i / 3]);
			cr_expect_eq(file.copied, file_bytes);
			for (uint32_t j = 0; j < file.read_count; j++) {
				cr_expect_eq(file.reads[j].offset, sum, "%s %u %u", eras[era], page_bytes,
					     block_sizes[i / 3]);
				sum += file.reads[j].length;
			}
			cr_expect_eq(sum, pages * page_bytes);
			window = file.ra.ra_pages > file.ra.io_pages ? file.ra.ra_pages : file.ra.io_pages;
			if (file.view.policy->readahead_shape != SMB_RA_SHAPE_DEMAND)
				cr_expect_leq(file.ahead_max, 2 * window * page_bytes, "%s %u %u", eras[era],
					      page_bytes, block_sizes[i / 3]);
		}
	}
}

Test(reader, random_reads_ask_for_exactly_the_pages_they_touch)
{
	static const char *const classic[] = { "4.15", "6.1", "6.12" };
	static const uint64_t offsets[] = { 37 * MIB, 3 * MIB, 50 * MIB + 8192, 20 * MIB, 11 * MIB };

	for (size_t era = 0; era < 3; era++) {
		open_file(classic[era], 4096, 1048576, 64 * MIB);
		for (uint32_t i = 0; i < 5; i++) {
			cr_expect_eq(host_read(&file, offsets[i], 16384), 16384);
			expect_read(i, offsets[i], 16384);
		}
		cr_expect_eq(file.read_count, 5);
		/* An unaligned one touches five pages. */
		host_read(&file, 40 * MIB + 100, 16384);
		expect_read(5, 40 * MIB, 20480);
	}
}

/* With 64 KiB pages a random 4 KiB read costs a whole page. */
Test(reader, random_reads_are_whole_pages)
{
	open_file("6.1", 65536, 1048576, 64 * MIB);
	host_read(&file, 10 * MIB + 4096, 4096);
	expect_read(0, 10 * MIB, 65536);
	cr_expect_eq(file.read_count, 1);
}

Test(reader, strided_reads_farther_apart_than_a_page_stay_random)
{
	open_file("6.1", 4096, 1048576, 64 * MIB);
	for (uint32_t i = 0; i < 20; i++) {
		host_read(&file, MIB + i * 65536, 4096);
		expect_read(i, MIB + i * 65536, 4096);
	}
	cr_expect_eq(file.read_count, 20);
}

/* Every second page: index - prev_index is 1, which the kernel takes for a sequential miss. */
Test(reader, strides_of_two_pages_are_taken_for_sequential)
{
	open_file("6.1", 4096, 1048576, 64 * MIB);
	for (uint32_t i = 0; i < 64; i++)
		host_read(&file, MIB + i * 8192, 4096);
	cr_expect_lt(file.read_count, 16);
	cr_expect_eq(file.copied, 64 * 4096);
}

Test(reader, a_random_read_does_not_disturb_the_stream)
{
	open_file("6.1", 4096, 4194304, 64 * MIB);
	host_read_through(&file, 0, 4 * MIB, MIB);
	expect_read(0, 0, 2 * MIB);
	expect_read(1, 2 * MIB, 4 * MIB);
	expect_read(2, 6 * MIB, 4 * MIB);
	host_read(&file, 60 * MIB, 4096);
	expect_read(3, 60 * MIB, 4096);
	host_read_through(&file, 4 * MIB, 8 * MIB, MIB);
	expect_read(4, 10 * MIB, 4 * MIB);
	cr_expect_eq(file.read_count, 5);
}

/* Two streams through one open file: each goes on from its own marks. */
Test(reader, interleaved_streams_both_get_windows)
{
	static const char *const classic[] = { "6.1", "6.12" };

	for (size_t era = 0; era < 2; era++) {
		open_file(classic[era], 4096, 1048576, 64 * MIB);
		for (uint64_t at = 0; at < 8 * MIB; at += 65536) {
			host_read(&file, at, 65536);
			host_read(&file, 32 * MIB + at, 65536);
		}
		cr_expect_eq(file.copied, 16 * MIB);
		cr_expect_lt(file.read_count, 60, "%s: %u READs", classic[era], file.read_count);
	}
}

Test(reader, two_readers_of_the_same_pages_wait_for_the_same_reads)
{
	struct smb_reader one;
	struct smb_reader two;
	bool one_goes = true;
	bool two_goes = true;

	open_file("6.1", 4096, 1048576, 8 * MIB);
	smb_reader_begin(&one, &file.view, 0, 8 * MIB);
	smb_reader_begin(&two, &file.view, 0, 8 * MIB);
	while (one_goes || two_goes) {
		one_goes = one_goes && host_act(&file, &one);
		two_goes = two_goes && host_act(&file, &two);
	}
	cr_expect_eq(file.copied, 16 * MIB);
	cr_expect_eq(file.read_count, 8);
}

Test(reader, windows_skip_what_is_cached)
{
	open_file("6.1", 4096, 1048576, 64 * MIB);
	host_read(&file, 64 * 4096, 4096); /* page 64 alone */
	cr_expect_eq(file.read_count, 1);
	host_read(&file, 0, 65536); /* 16 pages: window of 32 */
	host_read(&file, 65536, 131072); /* and on, over page 64 */
	for (uint32_t i = 1; i < file.read_count; i++) {
		cr_expect(file.reads[i].offset + file.reads[i].length <= 64 * 4096 || file.reads[i].offset > 64 * 4096,
			  "READ %u at %lu", i, file.reads[i].offset);
	}
	cr_expect_gt(file.ahead_max, 64 * 4096);
	host_read_through(&file, 196608, 4 * MIB, 65536);
	cr_expect_eq(file.copied, 4 * MIB + 4096);
}

Test(reader, a_window_that_cannot_be_issued_falls_back_to_one_page)
{
	open_file("6.1", 4096, 1048576, 64 * MIB);
	file.refuse_windows = 1;
	host_read(&file, 0, 65536);
	expect_read(0, 0, 4096);
	cr_expect(file.reads[0].alone);
	cr_expect_not(file.reads[1].alone);
	cr_expect_eq(file.reads[1].offset, 4096);
	cr_expect_eq(file.copied, 65536);
	/* As long as windows fail it is page by page. */
	open_file("6.1", 4096, 1048576, 64 * MIB);
	file.refuse_windows = 100;
	host_read(&file, 0, 65536);
	cr_expect_eq(file.read_count, 16);
	cr_expect_eq(file.copied, 65536);
}

Test(reader, a_failed_read_is_tried_again_page_by_page)
{
	struct smb_reader reader;
	struct smb_reader_action action;

	open_file("6.1", 4096, 1048576, 64 * MIB);
	smb_reader_begin(&reader, &file.view, 0, 65536);
	cr_assert(host_act(&file, &reader)); /* the window */
	action = smb_reader_step(&reader, &file.view);
	cr_assert_eq(action.step, SMB_READER_WAIT);
	smb_page_cache_failed(&file.cache, file.runs, action.wait_for, 0);
	action = smb_reader_step(&reader, &file.view);
	cr_expect_eq(action.step, SMB_READER_PAGE);
	cr_expect_eq(action.page, 0);
}

Test(reader, a_closed_gate_reads_single_pages_in_pieces)
{
	/* 4.15, 64 KiB pages: maxBuf is 64 KiB, too small (facts A1). */
	open_file("4.15", 65536, 1048576, MIB);
	host_read_through(&file, 0, MIB, MIB);
	cr_expect_eq(file.read_count, 64);
	expect_read(0, 0, 16384);
	expect_read(5, 65536 + 16384, 16384);
	cr_expect_eq(file.windows, 0);
	/* The same file with 4 KiB pages takes windows. */
	open_file("4.15", 4096, 1048576, MIB);
	host_read_through(&file, 0, MIB, MIB);
	cr_expect_eq(file.read_count, 1);
}

/* Facts A1, the table of dialects. */
Test(reader, gate_compares_the_limit_of_its_era_with_a_page_and_a_header)
{
	static const struct {
		const char *era;
		uint32_t max_buf;
		uint32_t max_read;
		uint32_t page_bytes;
		bool allowed;
	} cases[] = {
		{ "4.15", 65536, 8388608, 65536, false }, { "5.10", 65536, 8388608, 65536, true },
		{ "4.15", 65536, 65536, 4096, true },	  { "5.10", 65536, 65536, 65536, false },
		{ "5.10", 16644, 16644, 4096, true },	  { "5.10", 16644, 16644, 65536, false },
		{ "5.10", 65536, 65623, 65536, false },	  { "5.10", 65536, 65624, 65536, true },
		{ "4.15", 4183, 65536, 4096, false },	  { "4.15", 4184, 65536, 4096, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(smb_readpages_allowed(&smb_era_find(cases[i].era)->policy, cases[i].max_buf,
						   cases[i].max_read, cases[i].page_bytes),
			     cases[i].allowed, "case %zu", i);
}

Test(reader, chunks_are_whole_pages_within_rsize_and_credits)
{
	static const struct {
		uint32_t rsize;
		uint32_t page_bytes;
		uint64_t pages_left;
		uint32_t credit_bytes;
		uint32_t bytes;
	} cases[] = {
		{ 4194304, 4096, 1024, UINT32_MAX, 4194304 },
		{ 4194304, 4096, 512, UINT32_MAX, 2097152 },
		{ 4194304, 4096, 1024, 65536, 65536 },
		{ 1048576, 65536, 100, 65536, 65536 },
		{ 1048576, 65536, 100, 65535, 0 },
		{ 61440, 65536, 100, UINT32_MAX, 0 },
		{ 66560, 65536, 100, UINT32_MAX, 65536 },
		{ 65536, 4096, 0, UINT32_MAX, 0 },
		{ 65536, 4096, UINT64_MAX, UINT32_MAX, 65536 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(smb_read_chunk_bytes(cases[i].rsize, cases[i].page_bytes, cases[i].pages_left,
						  cases[i].credit_bytes),
			     cases[i].bytes, "case %zu", i);
	cr_expect_eq(smb_read_chunk_cut(&smb_era_find("6.1")->policy, 61440, 16384, 98304, UINT32_MAX), 49152);
	cr_expect_eq(smb_read_chunk_cut(&smb_era_find("6.12")->policy, 61440, 16384, 98304, UINT32_MAX), 61440);
	cr_expect_eq(smb_read_chunk_cut(&smb_era_find("6.12")->policy, 61440, 16384, 98304, 65536), 61440);
	cr_expect_eq(smb_read_chunk_cut(&smb_era_find("6.12")->policy, 61440, 16384, 8192, 65536), 8192);
}

Test(reader, the_next_window_is_asked_for_before_the_marked_page_is_copied)
{
	struct smb_reader reader;
	struct smb_reader_action action;

	open_file("6.1", 4096, 4194304, 64 * MIB);
	host_read(&file, 0, MIB); /* window of 2 MiB, mark at 1 MiB */
	cr_assert_eq(file.read_count, 1);
	smb_reader_begin(&reader, &file.view, MIB - 4096, 8192);
	action = smb_reader_step(&reader, &file.view);
	cr_assert_eq(action.step, SMB_READER_COPY);
	cr_expect_eq(action.data.length, 4096); /* up to the mark */
	action = smb_reader_step(&reader, &file.view);
	cr_assert_eq(action.step, SMB_READER_WINDOW);
	cr_expect_eq(action.window.start, 512);
	cr_expect_eq(action.window.pages, 1024);
	cr_expect_eq(action.window.mark, 512);
	cr_expect_eq(smb_reader_step(&reader, &file.view).step, SMB_READER_COPY);
	cr_expect_eq(smb_reader_step(&reader, &file.view).step, SMB_READER_DONE);
}

Test(reader, requests_are_counted_past_end_of_file)
{
	/* A 12 KiB file read with a large buffer: the kernel's request is the buffer, so the window is large and cut. */
	open_file("6.1", 4096, 1048576, 12000);
	cr_expect_eq(host_read(&file, 0, MIB), 12000);
	cr_expect_eq(file.read_count, 1);
	expect_read(0, 0, 12288);
	cr_expect_eq(host_read(&file, 12000, MIB), 0);
	cr_expect_eq(host_read(&file, 99999, MIB), 0);
	cr_expect_eq(host_read(&file, 0, 0), 0);
	cr_expect_eq(host_read(&file, 100, UINT64_MAX), 11900);
	cr_expect_eq(file.read_count, 1);
	/* Ten pages before the end a buffer larger than the limit opens a window, where ten pages would be a random read. */
	open_file("6.1", 4096, 131072, 1010 * 4096);
	host_read(&file, 1000 * 4096, MIB);
	expect_read(0, 1000 * 4096, 40960);
	cr_expect_eq(file.ra.start, 1000);
	open_file("6.1", 4096, 131072, 1010 * 4096);
	host_read(&file, 1000 * 4096, 40960);
	expect_read(0, 1000 * 4096, 40960);
	cr_expect_eq(file.ra.start, 0);
}

Test(reader, a_file_that_changes_size_ends_the_call_where_it_ends_now)
{
	struct smb_reader reader;

	open_file("6.1", 4096, 65536, MIB);
	smb_reader_begin(&reader, &file.view, 0, MIB);
	while (reader.position < 100000)
		cr_assert(host_act(&file, &reader));
	file.view.file_bytes = 50000;
	cr_expect_not(host_act(&file, &reader));
	open_file("6.1", 4096, 65536, 100000);
	smb_reader_begin(&reader, &file.view, 0, MIB);
	cr_assert(host_act(&file, &reader));
	file.view.file_bytes = file.setup.file_bytes = 200000;
	while (host_act(&file, &reader))
		;
	cr_expect_eq(file.copied, 200000);
}

Test(reader, a_random_hint_reads_the_request_in_pieces_of_2_mib)
{
	open_file("6.1", 4096, 4194304, 64 * MIB);
	file.view.random_hint = true;
	host_read(&file, 0, 3 * MIB);
	expect_read(0, 0, 2 * MIB);
	expect_read(1, 2 * MIB, MIB);
	host_read(&file, 3 * MIB, 4096);
	expect_read(2, 3 * MIB, 4096);
	cr_expect_eq(file.read_count, 3);
}

/* Facts A6: with the same limits, more is under way when the reader keeps waiting. */
Test(reader, demand_reads_farther_ahead_of_a_reader_that_waits)
{
	uint64_t ahead;

	open_file("6.12", 4096, 1048576, 64 * MIB);
	host_read_through(&file, 0, 64 * MIB, MIB);
	ahead = file.ahead_max;
	open_file("next", 4096, 1048576, 64 * MIB);
	host_read_through(&file, 0, 64 * MIB, MIB);
	cr_expect_geq(file.ahead_max, 3 * ahead, "%lu and %lu", file.ahead_max, ahead);
	cr_expect_leq(file.ahead_max, (SMB_READAHEAD_EXTRA_MAX + 2) * 2 * MIB);
	cr_expect_eq(file.read_count, 64);
}

Test(reader, random_programs_always_get_the_files_bytes)
{
	uint64_t seed = 42;

	for (int round = 0; round < 40; round++) {
		uint64_t file_bytes = 1 + (seed >> 20) % (16 * MIB);

		open_file(eras[round % 8], page_sizes[round % 3], 65536 << (round % 5), file_bytes);
		for (int call = 0; call < 60; call++) {
			uint64_t offset;
			uint64_t length;
			uint64_t expected;

			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			offset = (seed >> 24) % (file_bytes + 1000);
			length = (seed >> 40) % 400000;
			expected = offset >= file_bytes		  ? 0
				   : file_bytes - offset < length ? file_bytes - offset
								  : length;
			file.refuse_windows = (seed >> 11) % 7 == 0;
			cr_assert_eq(host_read(&file, offset, length), expected);
			if ((seed >> 13) % 29 == 0)
				smb_page_cache_invalidate(&file.cache, file.runs);
		}
	}
}
