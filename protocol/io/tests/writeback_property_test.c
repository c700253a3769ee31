/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/tests/write_host.h"

#include <criterion/criterion.h>
#include <string.h>

/*
 * Writers, fsyncs, background passes and answers in any order, beside a plain array of what each byte of the file is:
 * confirmed by the server, dirty, or carried by a WRITE. A WRITE may carry dirty bytes only, and none that another WRITE
 * carries; when an fsync is done, all that was dirty when it began is confirmed (facts C28).
 */

#define PAGES 24
#define BYTES_MAX (PAGES * 16384)

enum byte_state { BYTE_CLEAN, BYTE_DIRTY, BYTE_SENT };

static struct write_host file;
static uint8_t state[BYTES_MAX];
static uint8_t due[BYTES_MAX]; /* the fsync under way must see it confirmed */
static uint32_t carrier[BYTES_MAX]; /* SENT: which WRITE */
static bool page_cached[PAGES];
static uint64_t random_state;
static struct smb_writeback fsync_pass;
static bool fsync_runs;
static bool skips_pages; /* mutation: bug D-77 */
static bool forgets_again; /* mutation: what the server could not take counts as written */
static const char *wrong; /* what the first violation was */

static uint32_t pick(uint32_t count)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % count;
}

static void violation(const char *text)
{
	if (!wrong)
		wrong = text;
}

static void dirty(uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		if (state[i] == BYTE_SENT)
			due[i] = 0; /* the WRITE under way has what the fsync waits for */
		state[i] = BYTE_DIRTY;
	}
}

static void model_copied(uint64_t from, uint64_t to, uint64_t old_size)
{
	uint32_t page_bytes = file.setup.page_bytes;

	while (from < to) {
		uint64_t page = from / page_bytes;
		uint64_t start = page * page_bytes;
		uint64_t end = start + page_bytes < to ? start + page_bytes : to;
		bool whole = page_cached[page] || end - from == page_bytes || start >= old_size ||
			     (from == start && end >= old_size);
		uint64_t page_end = start + page_bytes < file.file_bytes ? start + page_bytes : file.file_bytes;

		page_cached[page] |= whole;
		dirty(whole ? start : from, whole ? page_end : end);
		from = end;
	}
}

static void model_sent(const struct write_host_write *write)
{
	for (uint64_t i = write->offset; i < write->offset + write->length; i++) {
		if (state[i] != BYTE_DIRTY)
			violation("a byte that is not dirty was sent");
		state[i] = BYTE_SENT;
		carrier[i] = write->write;
	}
	for (uint32_t i = 0; i < file.dirty.write_max; i++) {
		const struct smb_dirty_write *other = &file.writes[i];

		if (i != write->write && other->length && other->offset < write->offset + write->length &&
		    write->offset < other->offset + other->length)
			violation("two WRITEs of the same bytes are under way");
	}
}

static void model_answered(uint32_t write, enum smb_write_verdict verdict)
{
	uint64_t offset = file.writes[write].offset;

	for (uint64_t i = offset; i < offset + file.writes[write].length; i++) {
		if (state[i] != BYTE_SENT || carrier[i] != write)
			continue;
		state[i] = verdict == SMB_WRITE_OK ? BYTE_CLEAN : BYTE_DIRTY;
		due[i] &= verdict != SMB_WRITE_OK;
	}
}

static void answer_one(uint32_t again_percent)
{
	enum smb_write_verdict verdict = pick(100) < again_percent ? SMB_WRITE_AGAIN : SMB_WRITE_OK;
	uint32_t write = pick(file.dirty.write_max);

	if (!file.dirty.write_count)
		return;
	while (!file.writes[write].length)
		write = (write + 1) % file.dirty.write_max;
	model_answered(write, verdict);
	write_host_answer(&file, write, forgets_again ? SMB_WRITE_OK : verdict);
}

static void send_one(struct smb_writeback *pass)
{
	uint32_t credit_bytes = file.setup.page_bytes * (1 + pick(8));
	const struct write_host_write *write = &file.log[write_host_send(&file, pass, credit_bytes)];
	struct smb_dirty_run rest;

	model_sent(write);
	if (skips_pages && smb_dirty_next(&file.dirty, file.runs, pass->position, pass->position + 1, false, &rest))
		pass->position += file.setup.page_bytes;
	file.log_count = 0;
}

static void check_fsync_done(void)
{
	for (uint64_t i = 0; i < file.file_bytes; i++) {
		if (due[i])
			violation("fsync returned before a dirty byte was confirmed");
	}
	fsync_runs = false;
}

static void step_fsync(void)
{
	struct smb_writeback_action action = smb_writeback_step(&fsync_pass, &file.view.back);

	if (action.step == SMB_WRITEBACK_SEND)
		send_one(&fsync_pass);
	if (action.step == SMB_WRITEBACK_DONE)
		check_fsync_done();
	if (action.step == SMB_WRITEBACK_WAIT && !file.dirty.write_count)
		violation("fsync waits for nothing");
}

static void begin_fsync(void)
{
	for (uint64_t i = 0; i < file.file_bytes; i++)
		due[i] = state[i] != BYTE_CLEAN;
	smb_writeback_begin(&fsync_pass, &file.view.back, SMB_WRITEBACK_SYNC, 0, UINT64_MAX);
	fsync_runs = true;
}

static void step_flusher(enum smb_writeback_kind kind)
{
	struct smb_writeback_action action;

	if (!file.flushing)
		smb_writeback_begin(&file.flusher, &file.view.back, kind, 0, 0);
	file.flushing = true;
	action = smb_writeback_step(&file.flusher, &file.view.back);
	if (action.step == SMB_WRITEBACK_SEND)
		send_one(&file.flusher);
	file.flushing = action.step != SMB_WRITEBACK_DONE;
}

static void read_page(uint64_t page)
{
	uint64_t offset = page * file.setup.page_bytes;
	uint64_t left = file.file_bytes - offset;

	smb_page_cache_reading(&file.cache, file.cache_runs, page, 1, file.next_reader);
	smb_page_cache_filled(
		&file.cache, file.cache_runs, file.next_reader++,
		(struct smb_slice){ WRITE_HOST_SOURCE, offset,
				    left < file.setup.page_bytes ? (uint32_t)left : file.setup.page_bytes });
	page_cached[page] = true;
}

static void write_some(void)
{
	uint32_t page_bytes = file.setup.page_bytes;
	uint64_t length = pick(4) ? 1 + pick(4 * page_bytes) : page_bytes;
	uint64_t offset = pick(3) ? pick((uint32_t)(PAGES * page_bytes - length)) : file.file_bytes;
	struct smb_writer writer;
	struct smb_writer_action action;

	if (!pick(4))
		offset -= offset % page_bytes;
	if (offset + length > PAGES * page_bytes)
		offset = PAGES * page_bytes - length;
	smb_writer_begin(&writer, offset, length, WRITE_HOST_SOURCE, offset);
	for (uint64_t size = file.file_bytes;; size = file.file_bytes) {
		action = smb_writer_step(&writer, &file.view);
		if (action.step == SMB_WRITER_DONE)
			break;
		switch (action.step) {
		case SMB_WRITER_COPY:
			model_copied(action.offset, action.offset + action.data.length, size);
			break;
		case SMB_WRITER_PAGE:
			read_page(action.page);
			break;
		case SMB_WRITER_SEND:
			smb_writer_sent(&writer, &file.view, 1 + pick(action.data.length));
			break;
		default:
			step_flusher(SMB_WRITEBACK_BACKGROUND);
			answer_one(20);
		}
	}
	if (file.dirty.unsent_bytes + file.dirty.writing_bytes > file.unconfirmed_max)
		file.unconfirmed_max = file.dirty.unsent_bytes + file.dirty.writing_bytes;
}

static void step_anything(void)
{
	switch (pick(fsync_runs ? 12 : 10)) {
	case 0:
	case 1:
	case 2:
		write_some();
		break;
	case 3:
		if (!fsync_runs)
			begin_fsync();
		break;
	case 4:
		step_flusher(SMB_WRITEBACK_BACKGROUND);
		break;
	case 5:
		step_flusher(SMB_WRITEBACK_PERIODIC);
		break;
	case 6:
	case 7:
	case 8:
		answer_one(20);
		break;
	default:
		if (fsync_runs)
			step_fsync();
	}
	if (!smb_dirty_is_valid(&file.dirty, file.runs, file.writes))
		violation("the dirty runs are not valid");
	if (!smb_page_cache_is_valid(&file.cache, file.cache_runs))
		violation("the page cache is not valid");
}

/** The first violation, NULL when there is none. */
static const char *run(const struct write_host_setup *setup, uint64_t seed, uint32_t steps)
{
	write_host_open(&file, setup);
	memset(state, BYTE_CLEAN, sizeof(state));
	memset(due, 0, sizeof(due));
	memset(page_cached, 0, sizeof(page_cached));
	random_state = seed;
	wrong = NULL;
	fsync_runs = false;
	while (steps-- && !wrong)
		step_anything();
	/* The end of the program: close writes what is left. */
	while (fsync_runs && !wrong) {
		step_fsync();
		answer_one(0);
	}
	begin_fsync();
	while (fsync_runs && !wrong) {
		step_fsync();
		answer_one(10);
	}
	for (uint64_t i = 0; i < file.file_bytes; i++) {
		if (state[i] != BYTE_CLEAN)
			violation("a byte is still dirty after the last fsync");
	}
	return wrong;
}

static const char *const eras[] = { "2.6.39", "3.0", "4.15", "6.1", "6.12" };
static const uint32_t wsizes[] = { 1000, 4096, 10000, 12288, 57344, 65536, 1048576 };

static struct write_host_setup setup_number(uint32_t number)
{
	uint32_t page_bytes = number % 2 ? 16384 : 4096;

	return (struct write_host_setup){
		.policy = &smb_era_find(eras[number % 5])->policy,
		.page_bytes = page_bytes,
		.wsize = wsizes[number % 7],
		.run_max = number % 3 ? WRITE_HOST_RUNS : 16,
		.write_max = number % 4 ? 64 : 1 + number % 5,
		.limits = { 6 * page_bytes, 16 * page_bytes, 4 * page_bytes },
		.readable = number % 8 < 4,
	};
}

Test(writeback_property, every_dirty_byte_is_sent_once_and_confirmed_before_fsync_returns)
{
	for (uint32_t number = 0; number < 5 * 7 * 8; number++) {
		struct write_host_setup setup = setup_number(number);
		const char *found = run(&setup, number, 400);

		cr_expect_null(found, "setup %u (%s, page %u, wsize %u): %s", number, eras[number % 5],
			       setup.page_bytes, setup.wsize, found);
		cr_expect_lt(file.unconfirmed_max, 16 * setup.page_bytes + 4 * setup.page_bytes);
	}
}

static uint32_t runs_with_a_violation(void)
{
	uint32_t found = 0;

	for (uint32_t number = 0; number < 35; number++) {
		struct write_host_setup setup = setup_number(number);

		found += run(&setup, number, 400) != NULL;
	}
	return found;
}

/* Facts D-77: the page that does not fit the WRITE any more is stepped over; worst when wsize is not whole pages. */
Test(writeback_property, a_pass_that_skips_the_page_behind_a_full_write_is_found_out)
{
	skips_pages = true;
	cr_expect_geq(runs_with_a_violation(), 20);
	for (uint32_t number = 0; number < 35; number++) {
		struct write_host_setup setup = setup_number(number);

		if (setup.wsize > setup.page_bytes && setup.wsize % setup.page_bytes)
			cr_expect_not_null(run(&setup, number, 400), "setup %u", number);
	}
}

Test(writeback_property, data_that_the_server_could_not_take_and_nobody_sends_again_is_found_out)
{
	forgets_again = true;
	cr_expect_geq(runs_with_a_violation(), 30);
}
