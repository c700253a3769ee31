/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WRITEs: open, write, fsync and close on the wire, answers of every kind, past the page cache, throttling, breaks. */
#include "protocol/client/tests/peer.h"
#include "protocol/wire/contexts.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MIB UINT64_C(1048576)
#define SOURCE 9 /* stream of what is written */
#define GENERIC_WRITE 0x40000080u

static const struct smb_op mount_op = { .kind = SMB_OP_MOUNT };

static uint32_t open_for(struct peer *peer, const struct smb_op *open)
{
	cr_assert_eq(peer_do(peer, &mount_op), SMB_OP_OK);
	cr_assert_eq(peer_do(peer, open), SMB_OP_OK);
	return peer->done.file;
}

/** dd of=file: created, or cut to nothing. */
static uint32_t open_new(struct peer *peer)
{
	return open_for(peer, &(struct smb_op){ .kind = SMB_OP_OPEN,
						.name = "file",
						.access = SMB_OPEN_WRITE,
						.create = true,
						.truncate = true });
}

static struct smb_op write_op(uint32_t file, uint64_t offset, uint64_t length)
{
	return (struct smb_op){ .kind = SMB_OP_WRITE,
				.file = file,
				.offset = offset,
				.length = length,
				.source = SOURCE,
				.source_offset = offset };
}

static void write_all(struct peer *peer, uint32_t file, uint64_t bytes, uint64_t block)
{
	for (uint64_t offset = 0; offset < bytes; offset += block) {
		struct smb_op write = write_op(file, offset, block < bytes - offset ? block : bytes - offset);

		cr_assert_eq(peer_do(peer, &write), SMB_OP_OK);
		cr_assert_eq(peer->done.bytes, write.length);
	}
}

static enum smb_op_verdict sync_file(struct peer *peer, uint32_t file)
{
	return peer_do(peer, &(struct smb_op){ .kind = SMB_OP_FSYNC, .file = file });
}

static enum smb_op_verdict close_file(struct peer *peer, uint32_t file)
{
	return peer_do(peer, &(struct smb_op){ .kind = SMB_OP_CLOSE, .file = file });
}

static uint32_t count_of(const struct peer *peer, uint16_t command)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < peer->log_count; i++)
		count += peer->log[i].command == command;
	return count;
}

/** The sequence of commands from `from` on. */
static void expect_commands(const struct peer *peer, uint32_t from, const uint16_t *commands, uint32_t count)
{
	cr_assert_eq(peer->log_count - from, count, "%u commands, not %u", peer->log_count - from, count);
	for (uint32_t i = 0; i < count; i++)
		cr_expect_eq(peer->log[from + i].command, commands[i], "command %u is %u, not %u", i,
			     peer->log[from + i].command, commands[i]);
}

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

/** A peer whose client is made with something special. */
static struct peer *peer_with(const char *era, const char *mount, struct smb_client_config config)
{
	struct peer *peer = peer_new(era, mount, 4096);
	struct smb_mount_report report;

	config.policy = smb_era_find(era)->policy;
	config.page_bytes = 4096;
	for (uint32_t i = 0; i < 16; i++)
		config.client_guid[i] = (uint8_t)(i + 1);
	config.server = "server";
	config.share = "share";
	cr_assert_eq(smb_mount_options_parse(mount, &config.policy, &config.mount, &report), SMB_MOUNT_OK);
	peer->client = smb_client_init(peer->block, &smb_client_limits_simulation, &config);
	cr_assert(peer->client);
	return peer;
}

/** With little memory background writeback and throttling start early. */
static struct peer *peer_with_memory(const char *era, const char *mount, uint64_t memory_bytes)
{
	return peer_with(era, mount,
			 (struct smb_client_config){ .dirty_limits = smb_dirty_limits_for_memory(memory_bytes) });
}

/** Where sockets take their time, the next WRITE is cut only when they have taken the last one. */
Test(write, a_socket_that_takes_its_time_holds_the_next_write_up)
{
	static const char *const mounts[] = { "vers=3.1.1,wsize=65536", "vers=3.1.1,wsize=65536,cache=none" };

	for (uint32_t i = 0; i < 2; i++) {
		struct peer *peer = peer_with("6.1", mounts[i], (struct smb_client_config){ .sends_block = true });
		uint32_t file = open_new(peer);
		struct smb_op write = write_op(file, 0, 4 * 65536);
		uint32_t done = peer->done_count;

		peer->hold_writes = true;
		peer_submit(peer, &write);
		peer_run(peer);
		if (!i)
			peer_submit(peer, &(struct smb_op){ .kind = SMB_OP_FSYNC, .file = file });
		for (uint32_t writes = 1; writes <= 4; writes++) {
			peer_run(peer);
			cr_expect_eq(peer->held_count, writes, "%s: %u, not %u", mounts[i], peer->held_count, writes);
			smb_client_channel(peer->client, 0, SMB_CHANNEL_WRITABLE, peer->now_ns);
		}
		while (peer->held_count)
			peer_answer_read(peer, --peer->held_count);
		peer_run(peer);
		cr_expect_eq(peer->done_count, done + (i ? 1 : 2));
		cr_expect_eq(peer->done.verdict, SMB_OP_OK);
		peer_free(peer);
	}
}

Test(write, writers_are_held_back_while_the_server_is_silent)
{
	struct peer *peer = peer_with_memory("6.1", "vers=3.1.1,wsize=1048576", 100 * MIB);
	uint32_t file = open_new(peer);
	struct smb_client_info info;
	uint32_t done = peer->done_count;
	uint64_t offset = 0;

	peer->hold_writes = true;
	while (offset < 30 * MIB) {
		struct smb_op write = write_op(file, offset, MIB);

		peer_submit(peer, &write);
		peer_run(peer);
		if (peer->done_count == done)
			break;
		done = peer->done_count;
		offset += MIB;
	}
	/* Between the background limit of 10 MiB and the limit of 20 MiB. */
	cr_expect(offset > 10 * MIB && offset < 20 * MIB, "stopped at %lu", offset);
	smb_client_look(peer->client, &info);
	cr_expect_gt(info.in_flight_write_bytes, 0, "background passes run");
	while (peer->held_count)
		peer_answer_read(peer, --peer->held_count);
	peer->hold_writes = false;
	peer_run(peer);
	cr_expect_eq(peer->done_count, done + 1, "the writer goes on");
	cr_expect_eq(close_file(peer, file), SMB_OP_OK);
	cr_expect_eq(peer->file_bytes, offset + MIB);
	peer_free(peer);
}

Test(write, data_older_than_thirty_seconds_is_written_back)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	uint32_t file = open_new(peer);

	write_all(peer, file, MIB, MIB);
	peer_pass(peer, peer->now_ns + UINT64_C(29000000000));
	cr_expect_eq(count_of(peer, SMB2_WRITE), 0);
	peer_pass(peer, peer->now_ns + UINT64_C(2000000000));
	cr_expect_eq(count_of(peer, SMB2_WRITE), 1);
	cr_expect_eq(peer->file_bytes, MIB);
	peer_free(peer);
}

static void break_lease(struct peer *peer, uint32_t state)
{
	struct smb2_message notify;

	memset(&notify, 0, sizeof(notify));
	notify.header.flags = SMB2_FLAGS_SERVER_TO_REDIR;
	notify.header.command = SMB2_OPLOCK_BREAK;
	notify.header.message_id = SMB2_MESSAGE_ID_UNSOLICITED;
	notify.kind = SMB2_BODY_LEASE_BREAK_NOTIFY;
	notify.body.lease_break_notify.flags = 1;
	notify.body.lease_break_notify.new_state = state;
	for (uint32_t i = 0; i < 16; i++)
		notify.body.lease_break_notify.lease_key[i] = (uint8_t)(i + 1);
	notify.body.lease_break_notify.lease_key[12] ^= 1;
	peer_send(peer, 0, &notify);
}

/** What is dirty is at the server before a break is acknowledged (C19). */
Test(write, a_break_of_write_caching_is_acknowledged_after_the_data)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	uint32_t file = open_new(peer);
	struct smb_op write = write_op(file, 0, 4096);

	write_all(peer, file, MIB, MIB);
	peer->hold_writes = true;
	break_lease(peer, SMB2_LEASE_READ_CACHING);
	peer_run(peer);
	cr_expect_eq(count_of(peer, SMB2_WRITE), 1);
	cr_expect_eq(count_of(peer, SMB2_OPLOCK_BREAK), 0);
	peer_answer_read(peer, --peer->held_count);
	peer_run(peer);
	cr_expect_eq(count_of(peer, SMB2_OPLOCK_BREAK), 1);
	peer->hold_writes = false;
	cr_expect_eq(peer_do(peer, &write), SMB_OP_OK);
	cr_expect_eq(count_of(peer, SMB2_WRITE), 2, "from now on at once");
	peer_free(peer);
}

Test(write, a_reader_gets_what_was_written)
{
	static const char *const eras[] = { "3.0", "6.1", "6.12" };

	for (uint32_t i = 0; i < 3; i++) {
		struct peer *peer = peer_new(eras[i], "vers=2.1", 4096);
		struct smb_op open = { .kind = SMB_OP_OPEN, .name = "file", .access = SMB_OPEN_READ_WRITE };
		uint8_t *expected = malloc(MIB);
		struct smb_op write;
		uint32_t file;

		peer->file_bytes = MIB;
		peer->content_bytes = MIB;
		peer->content = malloc(MIB);
		memset(peer->content, PEER_SOURCE, MIB);
		memset(expected, PEER_SOURCE, MIB);
		memset(expected + 8192, SOURCE, 12288);
		peer->expected = expected;
		file = open_for(peer, &open);
		write = write_op(file, 8192, 12288);
		cr_assert_eq(peer_do(peer, &write), SMB_OP_OK);
		cr_expect_eq(peer_read_all(peer, file, 65536), MIB);
		cr_expect_eq(peer->wrong_copies, 0, "%s", eras[i]);
		free(peer->content);
		free(expected);
		peer_free(peer);
	}
}

Test(write, what_is_written_in_part_is_not_in_the_cache_goes_out_at_once_before_netfs)
{
	static const struct {
		const char *era;
		enum smb_open_access access;
		uint32_t reads;
		uint32_t writes;
	} table[] = {
		{ "6.1", SMB_OPEN_WRITE, 0, 1 }, /* it cannot be read */
		{ "6.1", SMB_OPEN_READ_WRITE, 1, 0 },
		{ "6.12", SMB_OPEN_WRITE, 0, 0 },
	};

	for (uint32_t i = 0; i < 3; i++) {
		struct peer *peer = peer_new(table[i].era, "vers=3.1.1", 4096);
		struct smb_op open = { .kind = SMB_OP_OPEN, .name = "file", .access = table[i].access };
		uint32_t file = open_for(peer, &open);
		struct smb_op write = write_op(file, 5000, 100);

		write.source = PEER_SOURCE; /* one stream: WRITEs are cut at borders of two */
		cr_expect_eq(peer_do(peer, &write), SMB_OP_OK);
		cr_expect_eq(peer->done.bytes, 100);
		cr_expect_eq(count_of(peer, SMB2_READ), table[i].reads, "row %u", i);
		cr_expect_eq(count_of(peer, SMB2_WRITE), table[i].writes, "row %u", i);
		cr_expect_eq(close_file(peer, file), SMB_OP_OK);
		cr_expect_eq(count_of(peer, SMB2_WRITE), 1);
		peer_free(peer);
	}
}

Test(write, unmounting_writes_back_what_open_files_hold)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	uint32_t file = open_new(peer);

	write_all(peer, file, 5 * MIB, MIB);
	cr_expect_eq(peer_do(peer, &(struct smb_op){ .kind = SMB_OP_UNMOUNT }), SMB_OP_OK);
	cr_expect_eq(peer->file_bytes, 5 * MIB);
	peer_free(peer);
}

Test(write, a_lost_session_costs_no_data)
{
	static const char *const mounts[] = { "vers=3.1.1,wsize=65536", "vers=3.1.1,wsize=65536,cache=none" };

	for (uint32_t i = 0; i < 2; i++) {
		struct peer *peer = peer_new("6.1", mounts[i], 4096);
		uint32_t file = open_new(peer);
		struct smb_op write = write_op(file, 0, 2 * MIB);
		struct smb_op sync = { .kind = SMB_OP_FSYNC, .file = file };

		peer->content = calloc(1, 2 * MIB);
		peer->content_bytes = 2 * MIB;
		peer->hold_writes = true;
		peer_submit(peer, &write);
		peer_run(peer);
		if (!i)
			peer_submit(peer, &sync);
		peer_run(peer);
		cr_assert_eq(peer->held_count, 32);
		for (uint32_t n = 0; n < 10; n++)
			peer_answer_read(peer, 2 * n);
		peer->hold_writes = false;
		peer->held_count = 0;
		peer_fail_channel(peer, 0);
		peer_run(peer);
		cr_expect_eq(peer->done.verdict, SMB_OP_OK, "%s", mounts[i]);
		cr_expect_eq(peer->file_bytes, 2 * MIB);
		for (uint64_t byte = 0; byte < 2 * MIB; byte++)
			cr_assert_eq(peer->content[byte], SOURCE, "byte %lu", byte);
		free(peer->content);
		peer_free(peer);
	}
}

/** Pages that were cached before are old when write caching is gone and others have been written past them. */
Test(write, what_was_cached_is_forgotten_when_writes_go_past_it)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = "file", .access = SMB_OPEN_READ_WRITE };
	uint8_t *expected = malloc(MIB);
	uint32_t file;
	struct smb_op write;

	peer->file_bytes = peer->content_bytes = MIB;
	peer->content = malloc(MIB);
	memset(peer->content, PEER_SOURCE, MIB);
	memset(expected, PEER_SOURCE, MIB);
	peer->expected = expected;
	file = open_for(peer, &open);
	cr_expect_eq(peer_read_all(peer, file, 65536), MIB);
	write = write_op(file, 0, 4096); /* dirty at both ends */
	memset(expected, SOURCE, 4096);
	cr_expect_eq(peer_do(peer, &write), SMB_OP_OK);
	write = write_op(file, MIB - 4096, 4096);
	memset(expected + MIB - 4096, SOURCE, 4096);
	cr_expect_eq(peer_do(peer, &write), SMB_OP_OK);
	peer->hold_writes = true;
	break_lease(peer, SMB2_LEASE_READ_CACHING);
	write = write_op(file, 65536, 4096);
	memset(expected + 65536, SOURCE, 4096);
	peer_submit(peer, &write);
	peer->hold_writes = false;
	while (peer->held_count)
		peer_answer_read(peer, --peer->held_count);
	peer_run(peer);
	cr_expect_eq(peer->done.verdict, SMB_OP_OK);
	cr_expect_eq(peer_read_all(peer, file, 65536), MIB);
	cr_expect_eq(peer->wrong_copies, 0);
	free(peer->content);
	free(expected);
	peer_free(peer);
}

Test(write, on_a_soft_mount_without_a_server_the_data_is_lost_and_told)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1,soft", 4096);
	uint32_t file = open_new(peer);
	uint32_t done;

	write_all(peer, file, 2 * MIB, MIB);
	peer->unreachable = 1;
	peer_fail_channel(peer, 0);
	done = peer->done_count;
	peer_submit(peer, &(struct smb_op){ .kind = SMB_OP_FSYNC, .file = file });
	peer_pass(peer, peer->now_ns + UINT64_C(60000000000));
	cr_assert_eq(peer->done_count, done + 1);
	cr_expect_eq(peer->done.verdict, SMB_OP_DISCONNECTED);
	peer_free(peer);
}
