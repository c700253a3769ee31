/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/tests/write_host.h"

#include <criterion/criterion.h>

#define KIB UINT64_C(1024)
#define MIB UINT64_C(1048576)

static struct write_host file;

static void open_file(const char *era, uint32_t page_bytes, uint32_t wsize)
{
	write_host_open(&file, &(struct write_host_setup){
				       .policy = &smb_era_find(era)->policy,
				       .page_bytes = page_bytes,
				       .wsize = wsize,
			       });
}

static void expect_write(uint32_t index, uint64_t offset, uint32_t length)
{
	cr_assert_lt(index, file.log_count);
	cr_expect_eq(file.log[index].offset, offset, "WRITE %u at %lu, not %lu", index, file.log[index].offset, offset);
	cr_expect_eq(file.log[index].length, length, "WRITE %u of %u, not %u", index, file.log[index].length, length);
}

static struct smb_writeback_action begin_sync(struct smb_writeback *pass)
{
	smb_writeback_begin(pass, &file.view.back, SMB_WRITEBACK_SYNC, 0, UINT64_MAX);
	return smb_writeback_step(pass, &file.view.back);
}

/* Facts A10, and the capture page-6.1-ppc64el-64k. */
Test(writeback, sizes_and_depth_are_the_eras)
{
	static const struct {
		const char *era;
		uint32_t page_bytes;
		uint32_t wsize;
		uint32_t first;
		uint32_t count; /* for 4 MiB */
		uint32_t in_flight_max;
	} cases[] = {
		{ "2.6.39", 4096, 57344, 57344, 74, 1 },    { "2.6.39", 4096, 131072, 57344, 74, 1 },
		{ "2.6.39", 65536, 1048576, 917504, 5, 1 }, { "3.0", 4096, 131072, 131072, 32, 32 },
		{ "3.0", 4096, 65536, 65536, 64, 50 },	    { "6.1", 4096, 65536, 65536, 64, 64 },
		{ "6.1", 4096, 1000000, 999424, 5, 5 },	    { "6.12", 4096, 1000000, 999424, 5, 5 },
		{ "6.1", 65536, 61440, 61440, 128, 1 },	    { "6.12", 65536, 61440, 65536, 64, 64 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_file(cases[i].era, cases[i].page_bytes, cases[i].wsize);
		write_host_write_through(&file, 0, 4 * MIB, 100000);
		write_host_sync(&file);
		expect_write(0, 0, cases[i].first);
		cr_expect_eq(file.log_count, cases[i].count, "%s %u: %u WRITEs", cases[i].era, cases[i].wsize,
			     file.log_count);
		cr_expect_eq(file.in_flight_max, cases[i].in_flight_max, "%s %u: %u in flight", cases[i].era,
			     cases[i].wsize, file.in_flight_max);
	}
}

Test(writeback, credits_cut_a_write_to_whole_pages)
{
	struct smb_writeback pass;

	open_file("6.1", 16384, 4 * MIB);
	write_host_write(&file, 0, MIB);
	begin_sync(&pass);
	write_host_send(&file, &pass, 3 * 65536);
	write_host_send(&file, &pass, 65536 + 1000);
	expect_write(0, 0, 3 * 65536);
	expect_write(1, 3 * 65536, 65536);
}

Test(writeback, the_last_write_ends_with_the_file)
{
	open_file("6.1", 4096, 65536);
	write_host_write(&file, 0, 70001);
	write_host_sync(&file);
	expect_write(0, 0, 65536);
	expect_write(1, 65536, 70001 - 65536);
	/* Written in part, a page goes out whole, as far as the file goes. */
	write_host_write(&file, 70001, 10);
	write_host_write(&file, 5000, 1);
	write_host_sync(&file);
	expect_write(2, 4096, 4096);
	expect_write(3, 69632, 70011 - 69632);
	cr_expect_eq(file.log_count, 4);
}

Test(writeback, gaps_between_dirty_pages_are_not_sent)
{
	open_file("6.1", 4096, MIB);
	write_host_write(&file, 0, 64 * KIB);
	write_host_sync(&file);
	write_host_write(&file, 40 * KIB, 4 * KIB);
	write_host_write(&file, 8 * KIB, 8 * KIB);
	write_host_sync(&file);
	expect_write(1, 8 * KIB, 8 * KIB);
	expect_write(2, 40 * KIB, 4 * KIB);
	cr_expect_eq(file.log_count, 3);
}

Test(writeback, a_page_under_way_and_dirty_again_waits_in_a_sync_pass_and_is_passed_by_a_background_one)
{
	struct smb_writeback pass;
	struct smb_writeback_action action;

	open_file("6.1", 4096, 8192);
	write_host_write(&file, 0, 8192);
	begin_sync(&pass);
	write_host_send(&file, &pass, UINT32_MAX);
	write_host_write(&file, 100, 10);
	write_host_write(&file, 16384, 4096);

	smb_writeback_begin(&pass, &file.view.back, SMB_WRITEBACK_PERIODIC, 0, 0);
	cr_expect_eq(smb_writeback_step(&pass, &file.view.back).step, SMB_WRITEBACK_SEND);
	write_host_send(&file, &pass, UINT32_MAX);
	expect_write(1, 16384, 4096);
	cr_expect_eq(smb_writeback_step(&pass, &file.view.back).step, SMB_WRITEBACK_DONE);

	action = begin_sync(&pass);
	cr_expect_eq(action.step, SMB_WRITEBACK_WAIT);
	cr_expect_eq(action.write, file.log[0].write);
	write_host_answer(&file, action.write, SMB_WRITE_OK);
	write_host_send(&file, &pass, UINT32_MAX);
	expect_write(2, 0, 4096);
}

/* cifs 6.1, cifs_writev_requeue: pieces of 64 KiB on ordinary credits; netfs cuts them anew. */
Test(writeback, what_the_server_could_not_take_goes_out_again)
{
	static const struct {
		const char *era;
		uint32_t length;
		bool ordinary;
	} cases[] = { { "6.1", 65536, true }, { "6.12", MIB, false } };

	for (int i = 0; i < 2; i++) {
		struct smb_writeback pass;
		struct smb_writeback_action action;

		open_file(cases[i].era, 4096, MIB);
		write_host_write(&file, 0, 2 * MIB);
		begin_sync(&pass);
		write_host_send(&file, &pass, UINT32_MAX);
		write_host_answer(&file, file.log[0].write, SMB_WRITE_AGAIN);
		action = smb_writeback_step(&pass, &file.view.back);
		cr_expect_eq(action.step, SMB_WRITEBACK_SEND);
		cr_expect_eq(action.ordinary, cases[i].ordinary);
		write_host_send(&file, &pass, UINT32_MAX);
		expect_write(1, 0, cases[i].length);
		while (smb_writeback_step(&pass, &file.view.back).step == SMB_WRITEBACK_SEND)
			write_host_send(&file, &pass, UINT32_MAX);
		cr_expect_eq(file.dirty.unsent_bytes, 0);
		cr_expect_eq(file.dirty.writing_bytes, 2 * MIB);
	}
}

Test(writeback, a_background_write_that_failed_for_now_is_left_to_the_next_pass)
{
	struct smb_writeback pass;

	open_file("6.1", 4096, MIB);
	write_host_write(&file, 0, MIB);
	smb_writeback_begin(&pass, &file.view.back, SMB_WRITEBACK_PERIODIC, 0, 0);
	write_host_send(&file, &pass, UINT32_MAX);
	write_host_answer(&file, file.log[0].write, SMB_WRITE_AGAIN);
	cr_expect_eq(smb_writeback_step(&pass, &file.view.back).step, SMB_WRITEBACK_DONE);
	cr_expect_eq(file.dirty.unsent_bytes, MIB);
	write_host_sync(&file);
	expect_write(1, 0, MIB);
}

Test(writeback, a_short_write_is_reported_once_and_its_data_given_up)
{
	struct smb_writeback pass;

	open_file("6.1", 4096, 65536);
	write_host_write(&file, 0, 65536);
	begin_sync(&pass);
	write_host_send(&file, &pass, UINT32_MAX);
	write_host_answer(&file, file.log[0].write, SMB_WRITE_NO_SPACE);
	cr_expect_eq(smb_writeback_step(&pass, &file.view.back).step, SMB_WRITEBACK_DONE);
	cr_expect_eq(smb_dirty_take_error(&file.dirty), SMB_DIRTY_NO_SPACE);
	cr_expect_eq(smb_dirty_take_error(&file.dirty), SMB_DIRTY_CLEAN);
	cr_expect_eq(file.dirty.run_count, 0);
}

Test(writeback, an_fsync_of_clean_pages_waits_for_what_is_under_way)
{
	struct smb_writeback first;
	struct smb_writeback second;
	struct smb_writeback_action action;

	open_file("6.1", 4096, 65536);
	write_host_write(&file, 0, 65536);
	begin_sync(&first);
	write_host_send(&file, &first, UINT32_MAX);
	action = begin_sync(&second);
	cr_expect_eq(action.step, SMB_WRITEBACK_WAIT);
	cr_expect_eq(action.write, file.log[0].write);
	/* Another part of the file has nothing to wait for. */
	smb_writeback_begin(&second, &file.view.back, SMB_WRITEBACK_SYNC, 65536, UINT64_MAX);
	cr_expect_eq(smb_writeback_step(&second, &file.view.back).step, SMB_WRITEBACK_DONE);
}

Test(writeback, neighbours_of_different_streams_are_two_writes)
{
	struct smb_writeback pass;

	open_file("6.1", 4096, 65536);
	smb_dirty_mark(&file.dirty, file.runs, 0, (struct smb_slice){ 1, 0, 8192 });
	smb_dirty_mark(&file.dirty, file.runs, 8192, (struct smb_slice){ 2, 0, 4096 });
	begin_sync(&pass);
	for (int i = 0; i < 2; i++)
		smb_writeback_cut(&pass, &file.view.back, UINT32_MAX);
	cr_expect_eq(file.writes[0].length, 8192);
	cr_expect_eq(file.writes[1].length, 4096);
	cr_expect_eq(file.dirty.unsent_bytes, 0);
}

Test(writeback, limits_of_a_small_machine)
{
	struct smb_dirty_limits limits = smb_dirty_limits_for_memory(1000 * MIB);

	cr_expect_eq(limits.background_bytes, 100 * MIB);
	cr_expect_eq(limits.limit_bytes, 200 * MIB);
	cr_expect_eq(limits.chunk_bytes, 28 * MIB);
	cr_expect_eq(smb_dirty_limits_for_memory(64 * MIB).chunk_bytes, 4 * MIB);
}
