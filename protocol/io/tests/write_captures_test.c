/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/tests/table.h"
#include "protocol/io/tests/write_host.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/*
 * What real kernels sent for `dd bs=1M conv=fsync` beside what writeback sends: offset, length, charge and credits asked
 * of the first 30 WRITEs of each capture, the number of WRITEs in all and how many there are of each size.
 *
 * In every capture the kernel had the whole file in its page cache before the first WRITE went out: all WRITEs are of the
 * one pass of fsync. It puts WRITEs into the socket long before they are on the wire, so credits run short although the
 * wire shows hundreds unused. How many answers had come when a WRITE was cut is therefore not in the table; the driver
 * counts as few as the recorded lengths allow, and checks that some number does explain them: each length must be what
 * the credits then pay for.
 */

#define MIB UINT64_C(1048576)
#define CHANNELS_MAX 4
#define ROWS_MAX 30
#define RESERVE 8 /* credits that large I/O leaves alone */
#define SET_ASIDE 2 /* one for an ECHO, one for a break acknowledgement */

struct row {
	uint64_t offset;
	uint32_t length;
	uint32_t charge;
	uint32_t asked;
	uint32_t channel;
};

/** One connection: its credits and what its answers to come will grant. */
struct channel {
	uint32_t port;
	uint32_t credits;
	uint32_t answers[WRITE_HOST_LOG]; /* grants not counted yet, oldest first */
	uint32_t writes[WRITE_HOST_LOG]; /* their WRITEs' numbers; SMB_WRITE_NONE = already answered to the pass */
	uint32_t first;
	uint32_t count;
};

static struct write_host file;
static struct channel channels[CHANNELS_MAX];
static struct row rows[ROWS_MAX];
static uint32_t row_count;
static uint32_t channel_count;

static uint32_t credits_of(uint32_t bytes)
{
	return (bytes + 65535) / 65536;
}

static uint32_t channel_of_port(uint32_t port, uint32_t credits)
{
	for (uint32_t i = 0; i < channel_count; i++) {
		if (channels[i].port == port)
			return i;
	}
	cr_assert_lt(channel_count, CHANNELS_MAX);
	channels[channel_count].port = port;
	channels[channel_count].credits = credits - SET_ASIDE;
	return channel_count++;
}

static int by_offset(const void *left, const void *right)
{
	const struct row *a = left;
	const struct row *b = right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/** The rows of a variant in the order its WRITEs were cut; on several channels the wire mixes them. */
static void load_rows(const char *table_name, const char *variant)
{
	FILE *table = table_open(table_name, "-first30.tsv");
	char line[TABLE_LINE_MAX];
	char *fields[TABLE_FIELDS_MAX];

	row_count = 0;
	channel_count = 0;
	memset(channels, 0, sizeof(channels));
	while (table_next_row(table, line, sizeof(line), fields)) {
		struct row row;
		uint32_t charge;

		if (strcmp(fields[1], "w") || strcmp(fields[2], variant))
			continue;
		row.offset = strtoull(fields[6], NULL, 10);
		row.length = (uint32_t)strtoul(fields[7], NULL, 10);
		row.charge = (uint32_t)strtoul(fields[8], NULL, 10);
		row.asked = (uint32_t)strtoul(fields[9], NULL, 10);
		charge = row.charge ? row.charge : 1;
		row.channel = channel_of_port((uint32_t)strtoul(fields[5], NULL, 10),
					      charge + (uint32_t)strtoul(fields[11], NULL, 10));
		rows[row_count++] = row;
		if (row_count == ROWS_MAX)
			break;
	}
	fclose(table);
	qsort(rows, row_count, sizeof(rows[0]), by_offset);
}

/** The oldest answer of a channel arrives and is counted; false when none is to come. */
static bool take_answer(struct channel *channel)
{
	if (channel->first == channel->count)
		return false;
	channel->credits += channel->answers[channel->first];
	write_host_answer(&file, channel->writes[channel->first++], SMB_WRITE_OK);
	return true;
}

/** smb2_wait_mtu_credits: what a WRITE of up to wsize may carry; 0 = wait. */
static uint32_t credit_bytes(const struct channel *channel)
{
	uint64_t bytes;

	if (!channel->credits)
		return 0;
	if (channel->credits <= RESERVE)
		return 65536;
	bytes = (uint64_t)(channel->credits - RESERVE) * 65536;
	return bytes < file.view.back.wsize ? (uint32_t)bytes : file.view.back.wsize;
}

/** What a WRITE at `offset` would carry if cut now; 0 = it waits. */
static uint32_t length_now(const struct channel *channel, uint64_t offset)
{
	uint32_t bytes = credit_bytes(channel);
	uint64_t left = file.file_bytes - offset;

	bytes -= bytes % file.setup.page_bytes;
	return bytes < left ? bytes : (uint32_t)left;
}

/** Let as few answers arrive as the next row allows; past the recorded rows, all. */
static uint32_t bytes_for_row(struct channel *channel, const struct row *row)
{
	while (!row || length_now(channel, row->offset) != row->length) {
		if (!take_answer(channel))
			break;
	}
	return credit_bytes(channel);
}

struct capture {
	const char *table;
	const char *era;
	uint32_t page_bytes;
	uint64_t file_bytes;
	const char *variants[24];
	const char *sizes_unknown; /* a variant of which only the first WRITEs are compared */
};

static void account(struct channel *channel, const struct write_host_write *write, bool took, bool multi_credit,
		    const struct row *row)
{
	uint32_t charge = multi_credit ? credits_of(write->length) : 0;
	uint32_t asked = took ? charge + 8 : 10;
	uint32_t paid = charge ? charge : 1;

	/* The last piece of a WRITE that was cut smaller than its credits: smb2_adjust_credits returned the rest. */
	channel->credits -= paid < channel->credits ? paid : channel->credits;
	channel->answers[channel->count] = asked + paid - 1;
	channel->writes[channel->count++] = write->write;
	if (!row)
		return;
	cr_expect_eq(write->offset, row->offset, "offset %lu, not %lu", write->offset, row->offset);
	cr_expect_eq(write->length, row->length, "offset %lu: length %u, not %u", row->offset, write->length,
		     row->length);
	cr_expect_eq(charge, row->charge, "offset %lu: charge %u, not %u", row->offset, charge, row->charge);
	cr_expect_eq(asked, row->asked, "offset %lu: asked %u, not %u", row->offset, asked, row->asked);
}

/** One pass of fsync over what dd wrote. */
static void sync_against_rows(bool multi_credit)
{
	struct smb_writeback pass;
	struct smb_writeback_action action;
	uint32_t sent = 0;

	smb_writeback_begin(&pass, &file.view.back, SMB_WRITEBACK_SYNC, 0, UINT64_MAX);
	while ((action = smb_writeback_step(&pass, &file.view.back)).step != SMB_WRITEBACK_DONE) {
		const struct row *row = sent < row_count ? &rows[sent] : NULL;
		struct channel *channel = &channels[row ? row->channel : 0];
		uint32_t bytes;
		bool took;

		if (action.step == SMB_WRITEBACK_WAIT) {
			for (uint32_t i = 0; i < channel_count; i++) {
				if (take_answer(&channels[i]))
					break;
			}
			continue;
		}
		bytes = multi_credit && !action.ordinary ? bytes_for_row(channel, row) : file.view.back.wsize;
		cr_assert_gt(bytes, 0);
		took = multi_credit && !action.ordinary && channel->credits > RESERVE;
		account(channel, &file.log[write_host_send(&file, &pass, bytes)], took, multi_credit, row);
		sent++;
	}
}

/** How many WRITEs of each size, as the table's list has it: `4194304x15 65536x8`. */
static void compare_sizes(const char *variant, const char *lengths, uint32_t count)
{
	uint32_t total = 0;

	while (*lengths) {
		char *rest;
		uint32_t length = (uint32_t)strtoul(lengths, &rest, 10);
		uint32_t wanted = (uint32_t)strtoul(rest + 1, &rest, 10);
		uint32_t got = 0;

		for (uint32_t i = 0; i < file.log_count; i++)
			got += file.log[i].length == length;
		cr_expect_eq(got, wanted, "%s: %u WRITEs of %u, not %u", variant, got, length, wanted);
		total += wanted;
		lengths = *rest ? rest + 1 : rest;
	}
	cr_expect_eq(file.log_count, count, "%s: %u WRITEs, not %u", variant, file.log_count, count);
	cr_expect_eq(total, count);
}

static void compare_variant(const struct capture *capture, const char *variant)
{
	FILE *table = table_open(capture->table, ".tsv");
	char line[TABLE_LINE_MAX];
	char *fields[TABLE_FIELDS_MAX];
	bool found = false;

	while (table_next_row(table, line, sizeof(line), fields)) {
		if (strcmp(fields[1], "w") || strcmp(fields[2], variant))
			continue;
		found = true;
		write_host_open(&file, &(struct write_host_setup){
					       .policy = &smb_era_find(capture->era)->policy,
					       .page_bytes = capture->page_bytes,
					       .wsize = table_mount_value(fields[5], "wsize"),
				       });
		load_rows(capture->table, variant);
		write_host_write_through(&file, 0, capture->file_bytes, MIB);
		cr_expect_eq(file.log_count, 0);
		sync_against_rows(!strstr(fields[3], "vers=2.0"));
		if (!capture->sizes_unknown || strcmp(variant, capture->sizes_unknown))
			compare_sizes(variant, fields[8], (uint32_t)strtoul(fields[7], NULL, 10));
		cr_expect_eq(file.dirty.run_count, 0);
		break;
	}
	fclose(table);
	cr_assert(found, "%s", variant);
}

static void compare_capture(const struct capture *capture)
{
	for (int i = 0; capture->variants[i]; i++)
		compare_variant(capture, capture->variants[i]);
}

Test(write_captures, writes_of_6_1_are_the_kernels)
{
	static const struct capture capture = {
		.table = "io-6.1",
		.era = "6.1",
		.page_bytes = 4096,
		.file_bytes = 64 * MIB,
		.variants = { "default", "wsize64K", "wsize1024K", "wsize4096K", "mc2", "mc4", "v2.0", "v2.1", "v3.0" },
	};

	compare_capture(&capture);
}

/*
 * Of mc4's 46 WRITEs the last 16 are not recorded, and credits ran short once more there: one of 45 credits and two
 * more of 64 KiB, in place of which the driver, all answers counted, sends one of 4 MiB less cut up.
 */
Test(write_captures, writes_of_6_1_at_80_ms_are_the_kernels)
{
	static const struct capture capture = {
		.table = "io-6.1-rtt80-400mbit",
		.era = "6.1",
		.page_bytes = 4096,
		.file_bytes = 96 * MIB,
		.variants = { "default", "mc4" },
		.sizes_unknown = "mc4",
	};

	compare_capture(&capture);
}

Test(write_captures, writes_of_6_12_are_the_kernels)
{
	static const struct capture capture = {
		.table = "io-6.12",
		.era = "6.12",
		.page_bytes = 4096,
		.file_bytes = 64 * MIB,
		.variants = { "default", "wsize64K", "wsize4096K", "mc2", "v2.0", "v3.0" },
	};

	compare_capture(&capture);
}

/* Without those of vers=1.0 and cache=none: no SMB1 here, and no page cache there. */
Test(write_captures, writes_with_64k_pages_are_the_kernels)
{
	static const struct capture capture = {
		.table = "page-6.1-ppc64el-64k",
		.era = "6.1",
		.page_bytes = 65536,
		.file_bytes = 32 * MIB,
		.variants = { "v2.0", "v2.1", "v3.0", "v3.1.1", "vdefault", "v3", "wsize4K", "wsize16K", "wsize32K",
			      "wsize60K", "wsize64K", "wsize65K", "wsize100K", "wsize128K", "wsize1000K", "wsize1024K",
			      "wsize4096K" },
	};

	compare_capture(&capture);
}

Test(write_captures, writes_with_16k_pages_are_the_kernels)
{
	static const struct capture capture = {
		.table = "page-6.12-arm64-16k",
		.era = "6.12",
		.page_bytes = 16384,
		.file_bytes = 32 * MIB,
		.variants = { "v2.0", "v2.1", "v3.0", "v3.1.1", "wsize4K", "wsize60K", "wsize100K", "wsize1000K" },
	};

	compare_capture(&capture);
}
