/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/tests/write_host.h"

#include <criterion/criterion.h>

#define MIB UINT64_C(1048576)

static struct write_host file;

static void open_file(const char *era, uint64_t file_bytes, bool readable)
{
	write_host_open(&file, &(struct write_host_setup){
				       .policy = &smb_era_find(era)->policy,
				       .page_bytes = 4096,
				       .wsize = 65536,
				       .file_bytes = file_bytes,
				       .readable = readable,
			       });
}

Test(writer, a_page_written_in_part_is_read_written_through_or_streamed)
{
	static const struct {
		const char *era;
		bool readable;
		uint32_t pages_read;
		uint32_t sent; /* before the fsync */
		uint64_t dirty;
	} cases[] = {
		{ "6.1", true, 1, 0, 4096 },
		{ "6.1", false, 0, 1, 0 },
		{ "6.12", true, 1, 0, 4096 },
		{ "6.12", false, 0, 0, 50 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_file(cases[i].era, MIB, cases[i].readable);
		write_host_write(&file, 8192 + 100, 50);
		cr_expect_eq(file.pages_read, cases[i].pages_read, "%zu", i);
		cr_expect_eq(file.log_count, cases[i].sent, "%zu", i);
		cr_expect_eq(file.dirty.unsent_bytes, cases[i].dirty, "%zu: %lu", i, file.dirty.unsent_bytes);
		cr_expect_eq(file.file_bytes, MIB);
		write_host_sync(&file);
		cr_expect_eq(file.log_count, 1);
	}
}

Test(writer, pages_written_whole_or_behind_the_end_of_file_need_no_read)
{
	open_file("6.1", 8192 + 100, true);
	write_host_write(&file, 0, 4096);
	write_host_write(&file, 8192, 200);
	write_host_write(&file, 20480, 100);
	cr_expect_eq(file.pages_read, 0);
	cr_expect_eq(file.dirty.unsent_bytes, 4096 + 200 + 100);
	cr_expect_eq(file.file_bytes, 20580);
}

Test(writer, what_was_written_can_be_read_without_the_server)
{
	struct smb_slice data;

	open_file("6.1", 0, true);
	write_host_write_through(&file, 0, 100000, 7000);
	data = smb_page_cache_data(&file.cache, file.cache_runs, 50000, 1000);
	cr_expect_eq(data.source, WRITE_HOST_SOURCE);
	cr_expect_eq(data.offset, 50000);
	cr_expect_eq(data.length, 1000);
	smb_page_cache_invalidate(&file.cache, file.cache_runs);
	cr_expect_eq(smb_page_cache_data(&file.cache, file.cache_runs, 50000, 1000).length, 1000);
	write_host_sync(&file);
	smb_page_cache_invalidate(&file.cache, file.cache_runs);
	cr_expect_eq(smb_page_cache_data(&file.cache, file.cache_runs, 50000, 1000).length, 0);
}

Test(writer, a_writer_waits_for_a_page_that_is_being_read)
{
	struct smb_writer writer;
	struct smb_writer_action action;

	open_file("6.1", MIB, true);
	smb_page_cache_reading(&file.cache, file.cache_runs, 2, 1, 77);
	smb_writer_begin(&writer, 0, 65536, WRITE_HOST_SOURCE, 0);
	action = smb_writer_step(&writer, &file.view);
	cr_expect_eq(action.step, SMB_WRITER_COPY);
	cr_expect_eq(action.data.length, 8192);
	action = smb_writer_step(&writer, &file.view);
	cr_expect_eq(action.step, SMB_WRITER_WAIT_READ);
	cr_expect_eq(action.wait_for, 77);
}

/* Background passes start at their limit, the writer waits at the level where the kernel holds it. */
Test(writer, dirty_bytes_stay_below_the_throttle)
{
	struct write_host_setup setup = {
		.policy = &smb_era_find("6.1")->policy,
		.page_bytes = 4096,
		.wsize = MIB,
		.limits = { 8 * MIB, 16 * MIB, 4 * MIB },
	};

	write_host_open(&file, &setup);
	write_host_write_through(&file, 0, 8 * MIB, MIB);
	cr_expect_eq(file.log_count, 0);
	write_host_write(&file, 8 * MIB, 4096);
	cr_expect_eq(file.log_count, 1);
	cr_expect(file.log[0].background);
	cr_expect_eq(file.throttled, 0);
	write_host_write_through(&file, 8 * MIB + 4096, 64 * MIB, MIB);
	cr_expect_gt(file.throttled, 0);
	cr_expect_eq(smb_write_throttle_bytes(&setup.limits), 14 * MIB);
	cr_expect_leq(file.unconfirmed_max, 14 * MIB + 4096, "%lu", file.unconfirmed_max);
	write_host_sync(&file);
	for (uint32_t i = 1; i < file.log_count; i++)
		cr_expect_eq(file.log[i].offset, file.log[i - 1].offset + file.log[i - 1].length);
}

/* Files of the same host count: facts of mm/page-writeback.c, the limits are global. */
Test(writer, other_files_count_for_the_limits)
{
	struct smb_writer writer;

	open_file("6.1", 0, false);
	file.view.back.writing_elsewhere_bytes = smb_write_throttle_bytes(file.view.back.limits);
	smb_writer_begin(&writer, 0, 4096, WRITE_HOST_SOURCE, 0);
	cr_expect_eq(smb_writer_step(&writer, &file.view).step, SMB_WRITER_THROTTLE);
	file.view.back.writing_elsewhere_bytes = 0;
	cr_expect_eq(smb_writer_step(&writer, &file.view).step, SMB_WRITER_COPY);
}

Test(writer, random_writes_with_few_entries_are_written_back_for_room)
{
	struct write_host_setup setup = {
		.policy = &smb_era_find("6.1")->policy,
		.page_bytes = 4096,
		.wsize = MIB,
		.run_max = 16,
		.write_max = 4,
	};

	write_host_open(&file, &setup);
	for (uint64_t i = 0; i < 200; i++)
		write_host_write(&file, i * 37 % 200 * 16384, 4096);
	cr_expect_gt(file.throttled, 0);
	write_host_sync(&file);
	cr_expect_eq(file.log_count, 200);
}
