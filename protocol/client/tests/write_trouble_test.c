/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WRITEs: slow sockets, throttling, old data, breaks, what is read again, lost sessions. */
#include "protocol/client/tests/writes.h"
#include "protocol/wire/contexts.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

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
Test(write_trouble, a_socket_that_takes_its_time_holds_the_next_write_up)
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

Test(write_trouble, writers_are_held_back_while_the_server_is_silent)
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

Test(write_trouble, data_older_than_thirty_seconds_is_written_back)
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
Test(write_trouble, a_break_of_write_caching_is_acknowledged_after_the_data)
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

Test(write_trouble, a_reader_gets_what_was_written)
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

Test(write_trouble, what_is_written_in_part_is_not_in_the_cache_goes_out_at_once_before_netfs)
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

Test(write_trouble, unmounting_writes_back_what_open_files_hold)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	uint32_t file = open_new(peer);

	write_all(peer, file, 5 * MIB, MIB);
	cr_expect_eq(peer_do(peer, &(struct smb_op){ .kind = SMB_OP_UNMOUNT }), SMB_OP_OK);
	cr_expect_eq(peer->file_bytes, 5 * MIB);
	peer_free(peer);
}

Test(write_trouble, a_lost_session_costs_no_data)
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
Test(write_trouble, what_was_cached_is_forgotten_when_writes_go_past_it)
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

Test(write_trouble, on_a_soft_mount_without_a_server_the_data_is_lost_and_told)
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
