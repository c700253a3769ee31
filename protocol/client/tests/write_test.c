/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WRITEs: open, write, fsync and close on the wire, answers of every kind, past the page cache. */
#include "protocol/client/tests/writes.h"
#include "protocol/wire/contexts.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define GENERIC_WRITE 0x40000080u

Test(write, a_new_file_is_looked_for_made_written_synced_and_closed)
{
	static const uint16_t commands[] = { SMB2_CREATE, SMB2_QUERY_INFO, SMB2_CLOSE, SMB2_CREATE,
					     SMB2_WRITE,  SMB2_FLUSH,	   SMB2_CLOSE };
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	uint32_t mounted;
	uint32_t file;

	peer->absent = true;
	cr_assert_eq(peer_do(peer, &mount_op), SMB_OP_OK);
	mounted = peer->log_count;
	cr_assert_eq(peer_do(peer, &(struct smb_op){ .kind = SMB_OP_OPEN,
						     .name = "file",
						     .access = SMB_OPEN_WRITE,
						     .create = true,
						     .truncate = true }),
		     SMB_OP_OK);
	file = peer->done.file;
	write_all(peer, file, 10, 10);
	cr_expect_eq(sync_file(peer, file), SMB_OP_OK);
	cr_expect_eq(close_file(peer, file), SMB_OP_OK);
	expect_commands(peer, mounted, commands, 7);
	cr_expect_eq(peer->log[mounted + 3].code, GENERIC_WRITE);
	cr_expect_eq(peer->log[mounted + 3].disposition, 5, "FILE_OVERWRITE_IF");
	cr_expect_eq(peer->log[mounted + 4].length, 10);
	cr_expect_eq(peer->file_bytes, 10);
	peer_free(peer);
}

Test(write, without_compounds_a_file_that_is_not_there_is_asked_for_once)
{
	static const uint16_t commands[] = { SMB2_CREATE, SMB2_CREATE, SMB2_QUERY_INFO };
	struct peer *peer = peer_new("4.15", "vers=3.0", 4096);
	uint32_t mounted;

	peer->absent = true;
	cr_assert_eq(peer_do(peer, &mount_op), SMB_OP_OK);
	mounted = peer->log_count;
	cr_assert_eq(peer_do(peer,
			     &(struct smb_op){
				     .kind = SMB_OP_OPEN, .name = "file", .access = SMB_OPEN_WRITE, .create = true }),
		     SMB_OP_OK);
	expect_commands(peer, mounted, commands, 3);
	cr_expect_eq(peer->log[mounted + 1].disposition, 3, "FILE_OPEN_IF");
	peer_free(peer);
}

Test(write, a_file_that_is_not_there_is_not_opened_for_writing_without_o_creat)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);

	peer->absent = true;
	cr_assert_eq(peer_do(peer, &mount_op), SMB_OP_OK);
	cr_expect_eq(peer_do(peer, &(struct smb_op){ .kind = SMB_OP_OPEN, .name = "file", .access = SMB_OPEN_WRITE }),
		     SMB_OP_FAILED);
	cr_expect_eq(peer->done.status, STATUS_OBJECT_NAME_NOT_FOUND);
	peer_free(peer);
}

Test(write, only_what_was_opened_for_it_is_written_or_read)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	struct smb_op op = write_op(peer_mount_and_open(peer), 0, 10);

	cr_expect_eq(peer_submit(peer, &op), SMB_OP_NONE);
	cr_assert_eq(peer_do(peer, &(struct smb_op){ .kind = SMB_OP_OPEN, .name = "file", .access = SMB_OPEN_WRITE }),
		     SMB_OP_OK);
	op = (struct smb_op){ .kind = SMB_OP_READ, .file = peer->done.file, .length = 10 };
	cr_expect_eq(peer_submit(peer, &op), SMB_OP_NONE);
	peer_free(peer);
}

Test(write, nothing_leaves_before_fsync_while_little_is_dirty)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	uint32_t file = open_new(peer);
	struct smb_client_info info;

	write_all(peer, file, 64 * MIB, MIB);
	cr_expect_eq(count_of(peer, SMB2_WRITE), 0);
	cr_expect_eq(peer->taken_bytes, 64 * MIB);
	smb_client_look(peer->client, &info);
	cr_expect_eq(info.dirty_bytes, 64 * MIB);
	cr_expect_eq(sync_file(peer, file), SMB_OP_OK);
	cr_expect_eq(peer->file_bytes, 64 * MIB);
	smb_client_look(peer->client, &info);
	cr_expect_eq(info.dirty_bytes, 0);
	cr_expect_eq(info.in_flight_write_bytes, 0);
	peer_free(peer);
}

Test(write, close_writes_back_without_a_flush)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	uint32_t file = open_new(peer);

	write_all(peer, file, 5 * MIB, MIB);
	cr_expect_eq(close_file(peer, file), SMB_OP_OK);
	cr_expect_eq(count_of(peer, SMB2_WRITE), 2);
	cr_expect_eq(count_of(peer, SMB2_FLUSH), 0);
	cr_expect_eq(peer->file_bytes, 5 * MIB);
	peer_free(peer);
}

Test(write, nostrictsync_leaves_the_flush_out)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1,nostrictsync", 4096);
	uint32_t file = open_new(peer);

	write_all(peer, file, 10, 10);
	cr_expect_eq(sync_file(peer, file), SMB_OP_OK);
	cr_expect_eq(count_of(peer, SMB2_WRITE), 1);
	cr_expect_eq(count_of(peer, SMB2_FLUSH), 0);
	peer_free(peer);
}

/** The server has no resources for some WRITEs: all data gets there all the same, and credits are conserved (D-47). */
Test(write, pushback_is_retried_until_the_data_is_there)
{
	static const char *const mounts[] = { "vers=3.1.1", "vers=3.1.1,wsize=65536", "vers=2.0",
					      "vers=3.1.1,cache=none", "vers=3.1.1,cache=none,wsize=65536" };
	static const char *const eras[] = { "2.6.39", "3.0", "4.15", "5.10", "6.1", "6.12" };

	for (uint32_t i = 0; i < 5 * 6; i++) {
		struct peer *peer = peer_new(eras[i / 5], mounts[i % 5], 4096);
		struct smb_client_info info;
		struct smb_channel_info channel;
		uint32_t file;

		peer->read_interim = i % 2;
		file = open_new(peer);
		peer->write_status = i % 3 ? STATUS_INSUFFICIENT_RESOURCES : STATUS_SERVER_UNAVAILABLE;
		peer->write_failures = 7;
		peer->content = calloc(1, 3 * MIB);
		peer->content_bytes = 3 * MIB;
		write_all(peer, file, 2 * MIB + 5000, MIB);
		cr_expect_eq(sync_file(peer, file), SMB_OP_OK, "%s %s", eras[i / 5], mounts[i % 5]);
		cr_expect_eq(peer->write_failures, 0);
		cr_expect_eq(peer->file_bytes, 2 * MIB + 5000);
		for (uint64_t byte = 0; byte < 2 * MIB + 5000; byte++)
			cr_assert_eq(peer->content[byte], SOURCE, "%s %s: byte %lu", eras[i / 5], mounts[i % 5], byte);
		smb_client_look(peer->client, &info);
		smb_client_look_channel(peer->client, 0, &channel);
		cr_expect_eq(info.in_flight, 0);
		cr_expect_eq(channel.credits + channel.credits_echo + channel.credits_oplock,
			     peer->channels[0].credits);
		free(peer->content);
		peer->content = NULL;
		peer_free(peer);
	}
}

Test(write, data_that_is_lost_is_told_once)
{
	static const struct {
		uint32_t status;
		uint32_t short_bytes;
		uint32_t told;
	} table[] = {
		{ STATUS_DISK_FULL, 0, STATUS_DISK_FULL },
		{ STATUS_ACCESS_DENIED, 0, STATUS_UNEXPECTED_IO_ERROR },
		{ 0, 1000, STATUS_DISK_FULL },
	};

	for (uint32_t i = 0; i < 2 * 3; i++) {
		struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
		uint32_t file = open_new(peer);
		enum smb_op_verdict verdict;

		peer->write_status = table[i / 2].status;
		peer->write_failures = table[i / 2].status ? 1 : 0;
		peer->short_write_bytes = table[i / 2].short_bytes;
		write_all(peer, file, MIB, MIB);
		verdict = i % 2 ? close_file(peer, file) : sync_file(peer, file);
		cr_expect_eq(verdict, SMB_OP_FAILED, "row %u", i);
		cr_expect_eq(peer->done.status, table[i / 2].told, "row %u: %x", i, peer->done.status);
		cr_expect_eq(count_of(peer, SMB2_FLUSH), 0);
		peer->short_write_bytes = 0;
		if (i % 2) {
			cr_expect_eq(peer_do(peer, &(struct smb_op){ .kind = SMB_OP_UNMOUNT }), SMB_OP_OK);
		} else {
			cr_expect_eq(sync_file(peer, file), SMB_OP_OK, "told once");
			cr_expect_eq(close_file(peer, file), SMB_OP_OK);
		}
		peer_free(peer);
	}
}

/** cache=none and O_DIRECT: pieces of wsize from the application's buffer, all in flight, no copy. */
Test(write, past_the_page_cache_all_pieces_are_in_flight)
{
	for (uint32_t direct = 0; direct < 2; direct++) {
		struct peer *peer = peer_new(
			"6.1", direct ? "vers=3.1.1,wsize=65536" : "vers=3.1.1,wsize=65536,cache=none", 4096);
		struct smb_op write;
		struct smb_client_info info;
		uint32_t list[20];
		uint32_t file;

		file = open_for(peer, &(struct smb_op){ .kind = SMB_OP_OPEN,
							.name = "file",
							.access = SMB_OPEN_WRITE,
							.create = true,
							.direct = direct });
		peer->hold_writes = true;
		write = write_op(file, 100, MIB);
		peer_submit(peer, &write);
		peer_run(peer);
		cr_assert_eq(peer_writes(peer, list, 20), 16);
		for (uint32_t i = 0; i < 16; i++) {
			cr_expect_eq(peer->log[list[i]].offset, 100 + i * 65536);
			cr_expect_eq(peer->log[list[i]].length, 65536);
			cr_expect_eq(peer->log[list[i]].data.offset, 100 + i * 65536);
		}
		smb_client_look(peer->client, &info);
		cr_expect_eq(info.in_flight_write_bytes, MIB);
		while (peer->held_count)
			peer_answer_read(peer, --peer->held_count);
		peer_run(peer);
		cr_expect_eq(peer->done.verdict, SMB_OP_OK);
		cr_expect_eq(peer->done.bytes, MIB);
		cr_expect_eq(peer->taken_bytes, 0);
		cr_expect_eq(!!(peer->log[list[0] - 1].options & 8), direct, "FILE_NO_INTERMEDIATE_BUFFERING");
		peer_free(peer);
	}
}

Test(write, an_uncached_write_counts_up_to_the_first_piece_that_failed)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1,wsize=65536,cache=none", 4096);
	uint32_t file = open_new(peer);
	struct smb_op write = write_op(file, 0, MIB);

	peer->hold_writes = true;
	peer_submit(peer, &write);
	peer_run(peer);
	for (uint32_t i = 0; i < 16; i++) {
		peer->write_status = STATUS_DISK_FULL;
		peer->write_failures = i == 3 || i == 7;
		peer_answer_read(peer, i);
	}
	peer->held_count = 0;
	peer_run(peer);
	cr_expect_eq(peer->done.verdict, SMB_OP_OK);
	cr_expect_eq(peer->done.bytes, 3 * 65536);
	peer->hold_writes = false;
	peer->write_failures = 100;
	cr_expect_eq(peer_do(peer, &write), SMB_OP_FAILED);
	cr_expect_eq(peer->done.status, STATUS_DISK_FULL);
	peer_free(peer);
}

Test(write, without_write_caching_granted_writes_go_past_the_page_cache)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	uint32_t file;

	peer->oplock = SMB2_OPLOCK_LEVEL_II;
	file = open_new(peer);
	write_all(peer, file, 100, 100);
	cr_expect_eq(count_of(peer, SMB2_WRITE), 1);
	cr_expect_eq(peer->file_bytes, 100);
	peer_free(peer);
}

/** 2.6.39: 14 pages, one at a time; 3.0: 50 under way (facts A10). */
Test(write, old_kernels_have_one_or_fifty_writes_under_way)
{
	static const struct {
		const char *era;
		uint32_t under_way;
		uint32_t length;
	} table[] = { { "2.6.39", 1, 14 * 4096 }, { "3.0", 50, 65536 } };

	for (uint32_t i = 0; i < 2; i++) {
		struct peer *peer = peer_new(table[i].era, "vers=2.1,wsize=65536", 4096);
		uint32_t file = open_new(peer);
		struct smb_op sync = { .kind = SMB_OP_FSYNC, .file = file };
		uint32_t list[200];

		write_all(peer, file, 8 * MIB, MIB);
		for (uint32_t n = 0; n < 100; n++) /* credits grow with every request */
			cr_assert_eq(sync_file(peer, file), SMB_OP_OK);
		write_all(peer, file, 8 * MIB, MIB);
		peer->hold_writes = true;
		peer->log_count = 0;
		peer_submit(peer, &sync);
		peer_run(peer);
		cr_expect_eq(peer->held_count, table[i].under_way, "%s: %u", table[i].era, peer->held_count);
		cr_expect_eq(peer_writes(peer, list, 200), table[i].under_way);
		cr_expect_eq(peer->log[list[0]].length, table[i].length);
		while (peer->held_count) {
			peer_answer_read(peer, 0);
			memmove(peer->held, peer->held + 1, --peer->held_count * sizeof(peer->held[0]));
			peer_run(peer);
			cr_expect_leq(peer->held_count, table[i].under_way);
		}
		cr_expect_eq(peer->done.verdict, SMB_OP_OK);
		peer_free(peer);
	}
}
