/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals to waiting applications, and PDUs that could not be sent (cifs 6.1, compound_send_recv). */
#include "protocol/client/tests/peer.h"

#include <criterion/criterion.h>

static uint32_t count(const struct peer *peer, uint16_t command)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < peer->log_count; i++)
		found += peer->log[i].command == command;
	return found;
}

static struct smb_channel_info look(const struct peer *peer)
{
	struct smb_channel_info info;

	smb_client_look_channel(peer->client, 0, &info);
	return info;
}

static int64_t credits(const struct peer *peer)
{
	struct smb_channel_info info = look(peer);

	return (int64_t)info.credits + info.credits_echo + info.credits_oplock;
}

static bool cancel(struct peer *peer, uint32_t op)
{
	bool cancelled = smb_client_cancel(peer->client, op, peer->now_ns);

	cr_assert(smb_client_is_valid(peer->client));
	peer_drain(peer);
	return cancelled;
}

static void expect_whole(struct peer *peer)
{
	cr_expect_eq(credits(peer), peer->channels[0].credits, "C6: %ld of %ld", (long)credits(peer),
		     (long)peer->channels[0].credits);
	cr_expect_eq(look(peer).in_flight, 0);
}

Test(cancel, an_open_that_was_answered_too_late_has_its_handle_closed)
{
	static const char *const eras[] = { "4.15", "6.1", "6.12" };

	for (uint32_t n = 0; n < 3; n++) {
		struct peer *peer = peer_new(eras[n], "vers=3.0", 4096);
		struct smb_op open = { .kind = SMB_OP_OPEN, .name = "other" };

		peer_mount_and_open(peer);
		uint32_t creates = count(peer, SMB2_CREATE), closes = count(peer, SMB2_CLOSE);
		uint32_t op = peer_submit(peer, &open);
		while (peer->log[peer->log_count - 1].command != SMB2_CREATE ||
		       peer->log[peer->log_count - 1].chain != 1 || peer->log[peer->log_count - 1].code == 0x80)
			cr_assert(peer_deliver(peer)); /* until the CREATE proper is on its way */
		cr_expect(cancel(peer, op));
		cr_expect_eq(peer->done.verdict, SMB_OP_CANCELLED, "%s: at once", eras[n]);
		cr_expect_eq(count(peer, SMB2_CANCEL), 0, "cifs sends none");
		peer_run(peer);
		cr_expect_eq(count(peer, SMB2_CREATE) - creates, 2);
		cr_expect_eq(count(peer, SMB2_CLOSE) - closes, 2, "%s: one by the look at it, one late", eras[n]);
		expect_whole(peer);
		peer_free(peer);
	}
}

Test(cancel, a_chain_that_closes_what_it_opens_needs_no_other_close)
{
	struct peer *peer = peer_new("6.1", "vers=3.0", 4096);
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = "other" };

	peer_mount_and_open(peer);
	uint32_t closes = count(peer, SMB2_CLOSE);
	uint32_t op = peer_submit(peer, &open);
	cr_assert_eq(peer->log[peer->log_count - 3].chain, 3);
	cr_expect(cancel(peer, op));
	peer_run(peer);
	cr_expect_eq(count(peer, SMB2_CLOSE) - closes, 1);
	expect_whole(peer);
	peer_free(peer);
}

Test(cancel, a_look_in_single_steps_is_closed_wherever_it_was_left)
{
	/* 4.15: CREATE, QUERY_INFO, CLOSE, one after the other. */
	for (uint32_t delivered = 0; delivered < 3; delivered++) {
		struct peer *peer = peer_new("4.15", "vers=3.0", 4096);
		struct smb_op open = { .kind = SMB_OP_OPEN, .name = "other" };

		peer_mount_and_open(peer);
		uint32_t creates = count(peer, SMB2_CREATE), closes = count(peer, SMB2_CLOSE);
		uint32_t op = peer_submit(peer, &open);
		for (uint32_t i = 0; i < delivered; i++)
			cr_assert(peer_deliver(peer));
		cr_expect(cancel(peer, op));
		peer_run(peer);
		cr_expect_eq(count(peer, SMB2_CREATE) - creates, 1);
		cr_expect_eq(count(peer, SMB2_CLOSE) - closes, 1, "after %u answers", delivered);
		expect_whole(peer);
		peer_free(peer);
	}
}

Test(cancel, readahead_goes_on_without_its_reader)
{
	struct peer *peer = peer_new("6.1", "rsize=65536,rasize=1048576", 4096);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };

	peer->file_bytes = 1 << 20;
	read.file = peer_mount_and_open(peer);
	peer->hold_reads = true;
	uint32_t op = peer_submit(peer, &read);
	uint32_t reads = count(peer, SMB2_READ);
	cr_assert_gt(reads, 1);
	cr_expect(cancel(peer, op));
	cr_expect_eq(peer->done.verdict, SMB_OP_CANCELLED);
	cr_expect_eq(peer->done.bytes, 0);
	while (peer->held_count)
		peer_answer_read(peer, --peer->held_count);
	peer_run(peer);
	expect_whole(peer);
	peer->hold_reads = false;
	cr_expect_eq(peer_do(peer, &read), SMB_OP_OK);
	cr_expect_eq(peer->done.bytes, 1 << 20);
	cr_expect_eq(count(peer, SMB2_READ), 16, "what came late is in the page cache");
	peer_free(peer);
}

Test(cancel, reads_of_single_pages_and_past_the_cache_are_left_behind)
{
	static const char *const mounts[] = { "cache=none,rsize=65536", "vers=2.0" };

	for (uint32_t n = 0; n < 2; n++) {
		struct peer *peer = peer_new("6.1", mounts[n], n ? 65536 : 4096);
		struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 18 };
		struct smb_op close = { .kind = SMB_OP_CLOSE };

		peer->file_bytes = 1 << 18;
		close.file = read.file = peer_mount_and_open(peer);
		peer->hold_reads = true;
		uint32_t op = peer_submit(peer, &read);
		cr_assert_geq(peer->held_count, 1);
		cr_expect(cancel(peer, op));
		cr_expect_eq(peer->done.verdict, SMB_OP_CANCELLED);
		while (peer->held_count)
			peer_answer_read(peer, --peer->held_count);
		peer_run(peer);
		expect_whole(peer);
		peer->hold_reads = false;
		cr_expect_eq(peer_do(peer, &read), SMB_OP_OK, "%s", mounts[n]);
		cr_expect_eq(peer->done.bytes, 1 << 18);
		cr_expect_eq(peer->wrong_copies, 0);
		cr_expect_eq(peer_do(peer, &close), SMB_OP_OK);
		peer_free(peer);
	}
}

Test(cancel, a_write_past_the_cache_is_left_behind)
{
	struct peer *peer = peer_new("6.1", "cache=none,wsize=65536", 4096);
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = "file", .access = SMB_OPEN_WRITE };
	struct smb_op write = { .kind = SMB_OP_WRITE, .length = 1 << 18, .source = PEER_SOURCE };

	peer_mount_and_open(peer);
	cr_assert_eq(peer_do(peer, &open), SMB_OP_OK);
	write.file = peer->done.file;
	peer->hold_writes = true;
	uint32_t op = peer_submit(peer, &write);
	cr_assert_geq(peer->held_count, 1);
	cr_expect(cancel(peer, op));
	cr_expect_eq(peer->done.verdict, SMB_OP_CANCELLED);
	while (peer->held_count)
		peer_answer_read(peer, --peer->held_count);
	peer_run(peer);
	expect_whole(peer);
	peer_free(peer);
}

Test(cancel, whoever_waits_for_credits_makes_way)
{
	struct peer *peer = peer_new("6.1", "cache=none,vers=2.0", 4096);
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = "a" };
	struct smb_op read = { .kind = SMB_OP_READ, .length = 65536 };
	struct smb_client_info info;

	read.file = peer_mount_and_open(peer);
	peer->grant_nothing = true;
	while (look(peer).credits > 1)
		peer_do(peer, &read);
	peer->grant_nothing = false;
	peer->hold_reads = true;
	uint32_t first = peer_submit(peer, &read);
	uint32_t second = peer_submit(peer, &open);
	smb_client_look(peer->client, &info);
	cr_assert_eq(info.waiting_for_credits, 1);
	cr_expect(cancel(peer, second));
	cr_expect_eq(peer->done.op, second);
	cr_expect_eq(peer->done.verdict, SMB_OP_CANCELLED);
	smb_client_look(peer->client, &info);
	cr_expect_eq(info.waiting_for_credits, 0);
	peer_answer_read(peer, --peer->held_count);
	peer_run(peer);
	cr_expect_eq(peer->done.op, first);
	cr_expect_eq(peer->done.verdict, SMB_OP_OK);
	expect_whole(peer);
	peer_free(peer);
}

Test(cancel, whoever_waits_for_the_session_leaves)
{
	struct peer *peer = peer_new("6.1", "hard", 4096);
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = "a" };

	peer_mount_and_open(peer);
	peer->unreachable = 1;
	peer_fail_channel(peer, 0);
	uint32_t op = peer_submit(peer, &open);
	uint32_t done = peer->done_count;
	cr_expect(cancel(peer, op));
	cr_expect_eq(peer->done_count, done + 1);
	cr_expect_eq(peer->done.verdict, SMB_OP_CANCELLED);
	peer_free(peer);
}

Test(cancel, a_mount_that_is_cancelled_closes_its_channel)
{
	for (uint32_t delivered = 0; delivered < 12; delivered++) {
		struct peer *peer = peer_new("6.1", "", 4096);
		struct smb_op mount = { .kind = SMB_OP_MOUNT };
		uint32_t op = peer_submit(peer, &mount);

		for (uint32_t i = 0; i < delivered; i++)
			cr_assert(peer_deliver(peer));
		cr_expect(cancel(peer, op));
		cr_expect_eq(peer->done.verdict, SMB_OP_CANCELLED);
		cr_expect_eq(peer->closed, 1);
		peer_run(peer);
		cr_expect_eq(peer_do(peer, &mount), SMB_OP_OK, "after %u answers", delivered);
		peer_free(peer);
	}
}

Test(cancel, a_command_fails)
{
	struct peer *peer = peer_new("6.1", "", 4096);
	struct smb_ops_shell shell = { .mount_point = "/mnt" };
	char message[SMB_OPS_MESSAGE_MAX];
	struct smb_ops_command rm;
	struct smb_op op = { .kind = SMB_OP_COMMAND, .command = &rm };

	peer_mount_and_open(peer);
	cr_assert(smb_ops_parse("rm /mnt/a", &shell, &rm, NULL, message), "%s", message);
	uint32_t n = peer_submit(peer, &op);
	cr_assert_neq(n, SMB_OP_NONE);
	cr_expect(cancel(peer, n));
	peer_run(peer);
	cr_expect_eq(peer->done.op, n);
	cr_expect_eq(peer->done.verdict, SMB_OP_FAILED);
	expect_whole(peer);
	peer_free(peer);
}

Test(cancel, what_no_signal_ends_goes_on)
{
	struct peer *peer = peer_new("6.1", "", 4096);
	struct smb_op close = { .kind = SMB_OP_CLOSE };

	close.file = peer_mount_and_open(peer);
	cr_expect_not(cancel(peer, 0), "nothing is under way");
	uint32_t op = peer_submit(peer, &close);
	cr_expect_not(cancel(peer, op));
	peer_run(peer);
	cr_expect_eq(peer->done.verdict, SMB_OP_OK);
	peer_free(peer);
}

Test(cancel, an_unmount_waits_for_late_closes)
{
	struct peer *peer = peer_new("6.1", "vers=3.0", 4096);
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = "other" };
	struct smb_op unmount = { .kind = SMB_OP_UNMOUNT };

	peer_mount_and_open(peer);
	uint32_t op = peer_submit(peer, &open);
	cr_assert(peer_deliver(peer));
	cr_assert_eq(peer->log[peer->log_count - 1].command, SMB2_CREATE);
	cr_expect(cancel(peer, op));
	cr_expect_eq(peer_do(peer, &unmount), SMB_OP_OK);
	cr_expect_eq(peer->log[peer->log_count - 1].command, SMB2_LOGOFF);
	cr_expect_eq(peer->log[peer->log_count - 2].command, SMB2_TREE_DISCONNECT);
	cr_expect_eq(peer->log[peer->log_count - 3].command, SMB2_CLOSE);
	peer_free(peer);
}

/* ------------------------------------------------------------------------------------------ PDUs that were not sent */

/** The next SEND, which the host could not put on the wire. */
static uint64_t drain_unsent(struct peer *peer)
{
	uint8_t buffer[SMB_CLIENT_PDU_MAX];
	struct smb_client_output output;

	do {
		smb_client_next(peer->client, &output, buffer, sizeof(buffer));
		cr_assert_neq(output.kind, SMB_CLIENT_IDLE);
	} while (output.kind != SMB_CLIENT_SEND);
	cr_assert(smb_client_unsent(peer->client, output.channel, output.message_id, peer->now_ns));
	cr_assert(smb_client_is_valid(peer->client));
	return output.message_id;
}

Test(unsent, ids_and_credits_of_a_chain_are_free_again)
{
	struct peer *peer = peer_new("6.1", "vers=3.0", 4096);
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = "other" };

	peer_mount_and_open(peer);
	uint64_t next = look(peer).next_message_id;
	int64_t before = credits(peer);
	cr_assert_neq(smb_client_submit(peer->client, &open, peer->now_ns), SMB_OP_NONE);
	cr_expect_eq(drain_unsent(peer), next);
	cr_expect_eq(look(peer).next_message_id, next, "no hole stays (C2)");
	cr_expect_eq(credits(peer), before);
	cr_expect_eq(look(peer).in_flight, 0);
	peer_run(peer);
	cr_expect_eq(peer->done.verdict, SMB_OP_OK, "it was tried again");
	expect_whole(peer);
	peer_free(peer);
}

Test(unsent, everything_behind_it_on_the_channel_is_unsent_too)
{
	static const char *const eras[] = { "6.1", "6.12" };

	for (uint32_t n = 0; n < 2; n++) {
		struct peer *peer = peer_new(eras[n], "rsize=65536,rasize=1048576", 4096);
		struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };

		peer->file_bytes = 1 << 20;
		read.file = peer_mount_and_open(peer);
		uint64_t next = look(peer).next_message_id;
		cr_assert_neq(smb_client_submit(peer->client, &read, peer->now_ns), SMB_OP_NONE);
		drain_unsent(peer);
		cr_expect_eq(look(peer).next_message_id, next);
		cr_expect_eq(look(peer).in_flight, 0);
		cr_expect_eq(credits(peer), peer->channels[0].credits);
		peer_run(peer);
		cr_expect_eq(peer->done.verdict, SMB_OP_OK, "%s", eras[n]);
		cr_expect_eq(peer->copied_bytes, 1 << 20);
		cr_expect_eq(peer->wrong_copies, 0);
		expect_whole(peer);
		peer_free(peer);
	}
}

Test(unsent, a_channel_that_cannot_even_negotiate_fails)
{
	struct peer *peer = peer_new("6.1", "", 4096);
	struct smb_op mount = { .kind = SMB_OP_MOUNT };
	uint8_t buffer[SMB_CLIENT_PDU_MAX];
	struct smb_client_output output;

	cr_assert_neq(smb_client_submit(peer->client, &mount, 0), SMB_OP_NONE);
	smb_client_next(peer->client, &output, buffer, sizeof(buffer));
	cr_assert_eq(output.kind, SMB_CLIENT_OPEN_CHANNEL);
	smb_client_channel(peer->client, 0, SMB_CHANNEL_CONNECTED, 0);
	drain_unsent(peer);
	peer_run(peer);
	cr_expect_eq(peer->done.verdict, SMB_OP_DISCONNECTED);
	peer_free(peer);
}

Test(unsent, an_answered_request_cannot_be_unsent)
{
	struct peer *peer = peer_new("6.1", "", 4096);

	peer_mount_and_open(peer);
	cr_expect_not(smb_client_unsent(peer->client, 0, look(peer).next_message_id - 1, peer->now_ns));
	cr_expect_not(smb_client_unsent(peer->client, 0, look(peer).next_message_id, peer->now_ns));
	peer_free(peer);
}
