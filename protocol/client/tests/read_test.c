/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* READs: the captures row by row, credits of every kind of answer, short and failed ones, pages read alone, cache=none. */
#include "protocol/client/tests/peer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define CAPTURES SMB_SOURCE_DIR "/experiments/measured/captures/"

struct capture {
	const char *name; /* column `name` */
	const char *mount;
};

static const struct capture captures[] = {
	{ "default", "vers=3.1.1" },
	{ "ra1M", "vers=3.1.1,rasize=1048576" },
	{ "ra4M", "vers=3.1.1,rasize=4194304" },
	{ "ra8M", "vers=3.1.1,rasize=8388608" },
	{ "ra16M", "vers=3.1.1,rasize=16777216" },
	{ "ra32M", "vers=3.1.1,rasize=33554432" },
	{ "rsize64K", "vers=3.1.1,rsize=65536" },
	{ "rsize1024K", "vers=3.1.1,rsize=1048576" },
	{ "rsize1M-ra16M", "vers=3.1.1,rsize=1048576,rasize=16777216" },
	{ "v2.0", "vers=2.0" },
	{ "v2.1", "vers=2.1" },
	{ "v3.0", "vers=3.0" },
};

struct captured_read {
	uint64_t offset;
	uint32_t length;
	uint32_t charge;
	uint32_t asked;
};

static uint32_t load(const char *name, struct captured_read rows[30])
{
	FILE *file = fopen(CAPTURES "io-6.1-first30.tsv", "r");
	char line[256];
	uint32_t count = 0;

	cr_assert_not_null(file, "the captures are part of the project");
	while (fgets(line, sizeof(line), file) && count < 30) {
		struct captured_read *row = &rows[count];
		char read_name[64];
		unsigned long offset;

		if (sscanf(line, "6.1\tr\t%63[^\t]\t%*d\t%*f\t%*d\t%lu\t%u\t%u\t%u", read_name, &offset, &row->length,
			   &row->charge, &row->asked) == 5 &&
		    !strcmp(read_name, name)) {
			row->offset = offset;
			count++;
		}
	}
	fclose(file);
	return count;
}

Test(read, reads_are_those_of_the_kernel_row_by_row)
{
	for (uint32_t n = 0; n < sizeof(captures) / sizeof(captures[0]); n++) {
		struct peer *peer = peer_new("6.1", captures[n].mount, 4096);
		struct captured_read rows[30];
		uint32_t count = load(captures[n].name, rows);
		uint32_t list[30];

		cr_assert_geq(count, 16, "%s has rows", captures[n].name);
		peer->read_interim = true;
		cr_expect_eq(peer_read_all(peer, peer_mount_and_open(peer), 1 << 20), peer->file_bytes);
		cr_assert_geq(peer_reads(peer, list, 30), count);
		for (uint32_t i = 0; i < count; i++) {
			const struct peer_entry *entry = &peer->log[list[i]];

			cr_expect(entry->offset == rows[i].offset && entry->length == rows[i].length &&
					  entry->charge == rows[i].charge && entry->asked == rows[i].asked,
				  "%s READ %u: %lu+%u charge %u asks %u, captured %lu+%u charge %u asks %u",
				  captures[n].name, i, (long)entry->offset, entry->length, entry->charge, entry->asked,
				  (long)rows[i].offset, rows[i].length, rows[i].charge, rows[i].asked);
		}
		cr_expect_eq(peer->wrong_copies, 0);
		peer_free(peer);
	}
}

static uint32_t credits_of(const struct peer *peer)
{
	struct smb_channel_info info;

	smb_client_look_channel(peer->client, 0, &info);
	return info.credits + info.credits_echo + info.credits_oplock;
}

/** Every way an answer may carry its grant leaves client and peer with the same count (C6, C7, C9). */
Test(read, credits_are_conserved_whatever_the_answer)
{
	static const struct {
		bool interim;
		uint32_t status, failures, short_bytes;
		const char *mount;
	} table[] = {
		{ false, 0, 0, 0, "" },
		{ true, 0, 0, 0, "" },
		{ false, STATUS_INSUFFICIENT_RESOURCES, 3, 0, "rasize=8388608" },
		{ true, STATUS_INSUFFICIENT_RESOURCES, 7, 0, "rasize=8388608" },
		{ true, STATUS_INSUFFICIENT_RESOURCES, 9, 0, "cache=none,rsize=65536" },
		{ false, 0, 0, 65536, "" },
		{ false, 0, 0, 100000, "" }, /* not even whole pages */
		{ true, 0, 0, 4095, "rsize=65536" },
		{ true, 0, 0, 65536, "cache=none" },
	};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct peer *peer = peer_new("6.1", table[i].mount, 4096);
		struct smb_client_info info;
		uint32_t file;

		peer->file_bytes = (2 << 20) + 5000;
		peer->read_interim = table[i].interim;
		peer->read_status = table[i].status;
		peer->read_failures = table[i].failures;
		peer->short_bytes = table[i].short_bytes;
		file = peer_mount_and_open(peer);
		cr_expect_eq(peer_read_all(peer, file, 128 << 10), peer->file_bytes, "row %u", i);
		cr_expect_eq(peer->copied_bytes, peer->file_bytes, "row %u", i);
		cr_expect_eq(peer->wrong_copies, 0, "row %u", i);
		smb_client_look(peer->client, &info);
		cr_expect_eq(info.in_flight, 0, "row %u", i);
		cr_expect_eq(info.in_flight_read_bytes, 0);
		cr_expect_eq(credits_of(peer), peer->channels[0].credits, "row %u", i);
		peer_free(peer);
	}
}

Test(read, an_error_that_stays_reaches_the_application_after_the_bytes_before_it)
{
	static const char *const mounts[] = { "", "cache=none" };

	for (uint32_t n = 0; n < 2; n++) {
		struct peer *peer = peer_new("6.1", mounts[n], 4096);
		struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };

		read.file = peer_mount_and_open(peer);
		peer->read_status = STATUS_ACCESS_DENIED;
		peer->read_failures = 1000;
		cr_expect_eq(peer_do(peer, &read), SMB_OP_FAILED);
		cr_expect_eq(peer->done.status, STATUS_ACCESS_DENIED);
		cr_expect_eq(peer->done.bytes, 0);
		cr_expect_eq(credits_of(peer), peer->channels[0].credits);
		peer->read_failures = 0;
		cr_expect_eq(peer_do(peer, &read), SMB_OP_OK);
		cr_expect_eq(peer->done.bytes, 1 << 20);
		peer_free(peer);
	}
}

Test(read, a_file_that_shrank_ends_where_the_server_says)
{
	static const char *const mounts[] = { "", "cache=none", "vers=2.0" };

	for (uint32_t n = 0; n < 3; n++) {
		struct peer *peer = peer_new("6.1", mounts[n], 4096);
		uint32_t file;

		peer->file_bytes = 8 << 20;
		file = peer_mount_and_open(peer);
		peer->file_bytes = 5 << 20;
		cr_expect_eq(peer_read_all(peer, file, 1 << 20), 5 << 20, "%s", mounts[n]);
		cr_expect_eq(peer->wrong_copies, 0);
		peer_free(peer);
	}
}

Test(read, a_small_page_gate_means_one_page_at_a_time)
{
	/* captures/page-6.1-ppc64el-64k: v2.0 reads 16 KiB pieces, one in flight; 2.1 and later read windows. */
	static const struct {
		const char *era;
		const char *mount;
		uint32_t length;
		uint32_t at_once;
	} table[] = {
		{ "6.1", "vers=2.0", 16384, 1 },
		{ "6.1", "vers=2.1", 1048576, 1 },
		{ "5.13", "vers=3.1.1,rsize=32768", 16384, 1 },
		{ "4.20", "vers=3.0", 16384, 1 },
		{ "5.10", "vers=3.0", 2097152, 1 },
	};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct peer *peer = peer_new(table[i].era, table[i].mount, 65536);
		struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };
		uint32_t list[64];

		read.file = peer_mount_and_open(peer);
		peer->hold_reads = true;
		peer_submit(peer, &read);
		cr_expect_eq(peer_reads(peer, list, 64), table[i].at_once, "row %u", i);
		cr_expect_eq(peer->log[list[0]].length, table[i].length, "row %u: %u", i, peer->log[list[0]].length);
		peer->hold_reads = false;
		peer_answer_read(peer, 0);
		peer_run(peer);
		cr_expect_eq(peer->done.bytes, 1 << 20, "row %u", i);
		cr_expect_eq(peer->wrong_copies, 0);
		peer_free(peer);
	}
}

Test(read, uncached_reads_are_those_of_the_kernel)
{
	/* captures/page-6.1-ppc64el-64k, rows cachenone: 1 MiB and one in flight; 2.0: sixteen READs of 64 KiB. */
	static const struct {
		const char *mount;
		uint32_t count;
		uint32_t length;
		int64_t credits_left;
	} table[] = {
		{ "vers=3.1.1,cache=none", 1, 1048576, 411 },
		{ "vers=2.1,cache=none", 1, 1048576, 384 },
		{ "vers=2.0,cache=none", 16, 65536, 384 },
	};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct peer *peer = peer_new("6.1", table[i].mount, 65536);
		struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };
		uint32_t list[64];

		peer->file_bytes = 32 << 20;
		read.file = peer_mount_and_open(peer);
		peer->hold_reads = true;
		peer_submit(peer, &read);
		cr_expect_eq(peer_reads(peer, list, 64), table[i].count, "row %u", i);
		cr_expect_eq(peer->log[list[0]].length, table[i].length);
		cr_expect_eq(peer->log[peer->log_count - 1].credits_left, table[i].credits_left, "row %u", i);
		peer->hold_reads = false;
		while (peer->held_count)
			peer_answer_read(peer, --peer->held_count); /* backwards: order of answers does not matter */
		peer_run(peer);
		cr_expect_eq(peer->done.bytes, 1 << 20);
		read.offset = 1 << 20;
		while (peer_do(peer, &read) == SMB_OP_OK && peer->done.bytes)
			read.offset += peer->done.bytes;
		cr_expect_eq(read.offset, peer->file_bytes);
		cr_expect_eq(peer->wrong_copies, 0);
		peer_free(peer);
	}
}

Test(read, several_readers_share_what_is_on_its_way)
{
	struct peer *peer = peer_new("6.1", "rsize=65536,rasize=1048576", 4096);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };
	uint64_t asked = 0;

	peer->file_bytes = 4 << 20;
	read.file = peer_mount_and_open(peer);
	peer->hold_reads = true;
	for (uint32_t i = 0; i < 4; i++)
		cr_assert_neq(peer_submit(peer, &read), SMB_OP_NONE);
	while (peer->held_count || peer->queue_count) {
		if (peer->held_count)
			peer_answer_read(peer, --peer->held_count);
		peer_deliver(peer);
	}
	cr_expect_eq(peer->done_count, 2 + 4);
	for (uint32_t i = 0; i < peer->log_count; i++)
		asked += peer->log[i].length;
	cr_expect_leq(asked, 3 << 20, "no page is asked for twice (C30): %lu", (long)asked);
	peer_free(peer);
}

Test(read, few_slots_and_runs_are_waited_for)
{
	static const struct smb_client_limits tight = {
		.channels = 2, .requests = 8, .ops = 2, .files = 1, .page_runs = 4, .outputs = 16
	};
	static const char *const mounts[] = { "rsize=65536,rasize=4194304", "rsize=65536,cache=none", "vers=2.0",
					      "rsize=65536,multichannel,max_channels=2,rasize=1048576" };

	cr_expect_lt(smb_client_size(&tight), 16384, "%zu bytes", smb_client_size(&tight));
	for (uint32_t n = 0; n < 4; n++) {
		struct peer *peer = peer_new_limits("6.1", mounts[n], 4096, &tight);

		peer->file_bytes = 6 << 20;
		peer->read_interim = n & 1;
		cr_expect_eq(peer_read_all(peer, peer_mount_and_open(peer), 1 << 20), peer->file_bytes, "%s",
			     mounts[n]);
		cr_expect_eq(peer->wrong_copies, 0);
		peer_free(peer);
	}
}

Test(read, a_server_with_few_credits_is_read_all_the_same)
{
	static const char *const eras[] = { "4.15", "4.20", "5.10", "6.1", "6.12", "next" };

	for (uint32_t n = 0; n < sizeof(eras) / sizeof(eras[0]); n++) {
		for (uint32_t cap = 3; cap < 12; cap += 4) {
			struct peer *peer = peer_new(eras[n], "vers=3.0", 4096);

			peer->file_bytes = 3 << 20;
			peer->grant_cap = cap;
			cr_expect_eq(peer_read_all(peer, peer_mount_and_open(peer), 1 << 20), peer->file_bytes,
				     "%s cap %u", eras[n], cap);
			cr_expect_eq(peer->wrong_copies, 0);
			cr_expect_eq(credits_of(peer), peer->channels[0].credits);
			peer_free(peer);
		}
	}
}

Test(read, every_era_reads_the_file)
{
	size_t count;
	const struct smb_era *eras = smb_eras(&count);

	for (size_t n = 0; n < count; n++) {
		for (uint32_t page = 4096; page <= 65536; page *= 4) {
			struct peer *peer = peer_new(eras[n].name, "vers=3.0", page);

			peer->file_bytes = (3 << 20) + 77;
			peer->read_interim = n & 1;
			cr_expect_eq(peer_read_all(peer, peer_mount_and_open(peer), 128 << 10), peer->file_bytes, "%s",
				     eras[n].name);
			cr_expect_eq(peer->wrong_copies, 0, "%s", eras[n].name);
			peer_free(peer);
		}
	}
}
