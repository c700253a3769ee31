/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Channels that die and come back (facts A7 "Reconnect", A9). The peer itself judges each PDU: MessageIds from 0 within
 * what the new connection granted (C1, C8), NEGOTIATE first, no SessionId or FileId of a session that is gone (C22), no
 * request on a channel that is not bound (C26).
 */
#include "protocol/client/tests/peer.h"

#include <criterion/criterion.h>

#define SECOND UINT64_C(1000000000)
#define MC "vers=3.1.1,rasize=16777216,multichannel,max_channels="

static struct smb_client_info look(const struct peer *peer)
{
	struct smb_client_info info;

	smb_client_look(peer->client, &info);
	return info;
}

/** Commands from log number `from` on, as a text like "N S S T"; READs left out. */
static const char *story(const struct peer *peer, uint32_t from)
{
	static char text[400];
	static const char letters[] = "NSLTDCXFRWKIEcQAGPO"; /* by command number, MS-SMB2 2.2.1.2 */
	uint32_t used = 0;

	for (uint32_t i = from; i < peer->log_count && used + 2 < sizeof(text); i++) {
		if (peer->log[i].command != SMB2_READ)
			text[used++] = letters[peer->log[i].command];
	}
	text[used] = '\0';
	return text;
}

/** Answer what was held back, into the queue: it is lost with a connection that dies before it is delivered. */
static void let_go(struct peer *peer)
{
	peer->hold_reads = false;
	while (peer->held_count)
		peer_answer_read(peer, --peer->held_count);
}

/** A reader under way: `held` READs are on the wire, none of them answered. */
static struct peer *reading(const char *era, const char *mount, uint32_t *file)
{
	struct peer *peer = peer_new(era, mount, 4096);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };

	peer->interfaces = 1;
	*file = read.file = peer_mount_and_open(peer);
	peer->hold_reads = true;
	peer_submit(peer, &read);
	cr_assert_gt(peer->held_count, 0);
	return peer;
}

static void expect_whole_file(struct peer *peer, uint32_t file)
{
	cr_expect_eq(peer_read_all(peer, file, 1 << 20), peer->file_bytes);
	cr_expect_eq(peer->wrong_copies, 0);
	cr_expect_eq(look(peer).in_flight_read_bytes, 0);
}

Test(reconnect, a_channel_comes_back_bound_to_its_session)
{
	for (uint32_t dead = 0; dead < 2; dead++) {
		uint32_t file;
		struct peer *peer = reading("6.12", MC "2", &file);
		uint32_t from = peer->log_count;
		struct smb_channel_info info;

		let_go(peer);
		peer_fail_channel(peer, dead);
		cr_expect_eq(peer->opened, 3, "the first attempt is made at once");
		peer_run(peer);
		cr_expect_str_eq(story(peer, from), "NSS", "dead %u: %s", dead, story(peer, from));
		for (uint32_t i = from; i < peer->log_count; i++)
			cr_expect(peer->log[i].command != SMB2_SESSION_SETUP || peer->log[i].binding);
		smb_client_look_channel(peer->client, dead, &info);
		cr_expect(info.usable);
		cr_expect_eq(look(peer).reconnects, 1);
		cr_expect_eq(look(peer).channels, 2);
		expect_whole_file(peer, file);
		peer_free(peer);
	}
}

Test(reconnect, a_lost_read_is_sent_again_at_once_on_another_channel_from_netfs_on)
{
	uint32_t file, list[64], before, lost_channel;
	struct peer *peer = reading("6.12", MC "2", &file);
	struct peer_entry lost;

	before = peer_reads(peer, list, 64);
	lost = peer->log[list[before - 1]];
	lost_channel = lost.channel;
	peer->unreachable = 1u << lost_channel;
	peer_fail_channel(peer, lost_channel);
	cr_assert_gt(peer_reads(peer, list, 64), before);
	cr_expect_eq(peer->log[list[before]].offset, lost.offset);
	cr_expect_eq(peer->log[list[before]].length, lost.length);
	cr_expect_eq(peer->log[list[before]].channel, 1 - lost_channel);
	let_go(peer);
	peer_run(peer);
	cr_expect_eq(peer->done.bytes, 1 << 20);
	expect_whole_file(peer, file);
	peer_free(peer);
}

Test(reconnect, before_netfs_each_page_of_a_lost_read_is_read_alone)
{
	uint32_t file, list[1024], count, pages = 0;
	struct peer *peer = reading("6.1", MC "2,rsize=1048576", &file);

	count = peer_reads(peer, list, 1024);
	let_go(peer);
	peer_fail_channel(peer, peer->log[list[count - 1]].channel);
	peer_run(peer);
	cr_expect_eq(peer->done.bytes, 1 << 20);
	for (uint32_t i = count, n = peer_reads(peer, list, 1024); i < n; i++)
		pages += peer->log[list[i]].length == 4096;
	cr_expect_eq(pages, 256, "%u READs of one page", pages);
	expect_whole_file(peer, file);
	peer_free(peer);
}

Test(reconnect, the_last_channel_takes_session_trees_and_handles_with_it)
{
	static const struct {
		const char *era;
		const char *mount;
		bool keeps;
		const char *story;
	} table[] = {
		/* The durable handle is gone: CREATE twice; then the file is looked at again. */
		{ "6.1", "vers=3.1.1", false, "NSSTTCCCGX" },
		{ "6.12", "vers=3.1.1", true, "NSSTTCCGX" },
		{ "4.15", "vers=3.1.1", false, "NSSTTCCCGX" },
		{ "6.1", "vers=3.0", false, "NSSTITICCCGX" },
		{ "6.1", "vers=2.0", false, "NSSTTCCCGX" },
		{ "6.1", "vers=3.1.1,cache=none,rsize=65536", false, "NSSTTCCCGX" },
		/* The other channel binds when the session is there, the interfaces are asked for again. */
		{ "6.12", MC "2", true, NULL },
	};

	for (uint32_t n = 0; n < sizeof(table) / sizeof(table[0]); n++) {
		uint32_t file;
		struct peer *peer = reading(table[n].era, table[n].mount, &file);
		uint64_t session = peer->session_id;
		uint32_t channels = look(peer).channels;
		uint32_t from, binds = 0;

		peer->keeps_handles = table[n].keeps;
		let_go(peer);
		peer->unreachable = 3;
		for (uint32_t i = 0; i < channels; i++)
			peer_fail_channel(peer, i);
		from = peer->log_count;
		peer_run(peer);
		cr_expect_eq(peer->log_count, from, "row %u: nothing can be sent", n);
		peer->unreachable = 0;
		peer_pass(peer, peer->now_ns + 4 * SECOND);
		if (table[n].story)
			cr_expect_str_eq(story(peer, from), table[n].story, "row %u: %s", n, story(peer, from));
		for (uint32_t i = from; i < peer->log_count; i++) {
			const struct peer_entry *entry = &peer->log[i];

			binds += entry->command == SMB2_SESSION_SETUP && entry->binding;
			if (entry->command == SMB2_SESSION_SETUP && !entry->binding)
				cr_expect_eq(entry->previous_session, session, "row %u", n);
		}
		cr_expect_eq(binds, 2 * (channels - 1), "row %u", n);
		cr_expect_eq(look(peer).channels, channels);
		cr_expect_eq(peer->done.verdict, SMB_OP_OK, "row %u", n);
		cr_expect_eq(peer->done.bytes, 1 << 20, "row %u", n);
		expect_whole_file(peer, file);
		peer_free(peer);
	}
}

Test(reconnect, a_durable_handle_is_asked_for_first)
{
	uint32_t file, creates = 0;
	struct peer *peer = reading("6.1", "vers=3.1.1", &file);
	uint32_t from = peer->log_count;

	let_go(peer);
	peer_fail_channel(peer, 0);
	peer_run(peer);
	for (uint32_t i = from; i < peer->log_count; i++) {
		if (peer->log[i].command == SMB2_CREATE)
			cr_expect_eq(peer->log[i].durable, creates++ == 0);
	}
	cr_expect_eq(creates, 3);
	peer_free(peer);
}

Test(reconnect, connecting_is_tried_every_three_seconds)
{
	uint32_t file;
	struct peer *peer = reading("6.1", "vers=3.1.1,hard", &file);
	uint64_t began = peer->now_ns;

	peer->unreachable = 1;
	peer_fail_channel(peer, 0);
	cr_expect_eq(peer->attempts, 2);
	for (uint32_t i = 1; i <= 5; i++) {
		peer_pass(peer, began + i * 3 * SECOND);
		cr_expect_eq(peer->attempts, 2 + i);
		cr_expect_eq(peer->last_attempt_ns, began + i * 3 * SECOND);
	}
	peer_free(peer);
}

Test(reconnect, a_soft_mount_waits_ten_seconds_and_a_hard_one_for_ever)
{
	static const char *const mounts[] = { "vers=3.1.1,soft", "vers=3.1.1,hard" };

	for (uint32_t hard = 0; hard < 2; hard++) {
		struct peer *peer = peer_new("6.1", mounts[hard], 4096);
		struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };
		uint32_t done;

		read.file = peer_mount_and_open(peer);
		done = peer->done_count;
		peer->unreachable = 1;
		peer_fail_channel(peer, 0);
		cr_assert_neq(peer_submit(peer, &read), SMB_OP_NONE);
		peer_pass(peer, peer->now_ns + 9 * SECOND);
		cr_expect_eq(peer->done_count, done);
		peer_pass(peer, peer->now_ns + 2 * SECOND);
		cr_expect_eq(peer->done_count, hard ? done : done + 1);
		if (!hard)
			cr_expect_eq(peer->done.verdict, SMB_OP_DISCONNECTED);
		peer_pass(peer, peer->now_ns + 1000 * SECOND);
		cr_expect_eq(peer->done_count, hard ? done : done + 1);
		peer->unreachable = 0;
		peer_pass(peer, peer->now_ns + 4 * SECOND);
		cr_expect_eq(peer->done_count, done + 1);
		cr_expect_eq(peer->done.verdict, hard ? SMB_OP_OK : SMB_OP_DISCONNECTED);
		expect_whole_file(peer, read.file);
		peer_free(peer);
	}
}

Test(reconnect, cached_data_needs_no_server)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 65536 };

	read.file = peer_mount_and_open(peer);
	cr_assert_eq(peer_do(peer, &read), SMB_OP_OK);
	peer->unreachable = 1;
	peer_fail_channel(peer, 0);
	cr_expect_eq(peer_do(peer, &read), SMB_OP_OK);
	cr_expect_eq(peer->done.bytes, 65536);
	peer_free(peer);
}

Test(reconnect, a_handle_of_a_lost_session_is_not_closed_and_not_opened_again_unused)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	struct smb_op close = { .kind = SMB_OP_CLOSE };
	struct smb_op unmount = { .kind = SMB_OP_UNMOUNT };
	uint32_t from;

	close.file = peer_mount_and_open(peer);
	from = peer->log_count;
	peer_fail_channel(peer, 0);
	peer_run(peer);
	cr_expect_str_eq(story(peer, from), "NSSTT");
	cr_expect_eq(peer_do(peer, &close), SMB_OP_OK);
	cr_expect_str_eq(story(peer, from), "NSSTT");
	cr_expect_eq(peer_do(peer, &unmount), SMB_OP_OK);
	cr_expect_str_eq(story(peer, from), "NSSTTDL", "%s", story(peer, from));
	peer_free(peer);
}

Test(reconnect, an_open_that_loses_its_session_starts_again)
{
	static const char *const eras[] = { "4.15", "6.1" };

	for (uint32_t n = 0; n < 2; n++) {
		for (uint32_t steps = 0; steps < 6; steps++) {
			struct peer *peer = peer_new(eras[n], "vers=3.1.1", 4096);
			struct smb_op mount = { .kind = SMB_OP_MOUNT };
			struct smb_op open = { .kind = SMB_OP_OPEN, .name = "file" };

			cr_assert_eq(peer_do(peer, &mount), SMB_OP_OK);
			peer_submit(peer, &open);
			for (uint32_t i = 0; i < steps && peer->done_count < 2; i++)
				peer_deliver(peer);
			peer_fail_channel(peer, 0);
			peer_run(peer);
			cr_expect_eq(peer->done_count, 2, "%s, %u steps", eras[n], steps);
			cr_expect_eq(peer->done.verdict, SMB_OP_OK);
			expect_whole_file(peer, peer->done.file);
			peer_free(peer);
		}
	}
}

/** Until the OPEN under way has a chain out; false: it ended before. */
static bool open_is_out(struct peer *peer)
{
	while (peer->done_count < 2 && peer->log[peer->log_count - 1].command != SMB2_CLOSE && peer_deliver(peer))
		;
	return peer->done_count < 2;
}

Test(reconnect, an_open_that_ends_every_connection_is_given_up_on_soft_mounts)
{
	for (uint32_t soft = 0; soft < 2; soft++) {
		struct peer *peer = peer_new("6.1", soft ? "soft,vers=3.1.1" : "hard,vers=3.1.1", 4096);
		struct smb_op mount = { .kind = SMB_OP_MOUNT };
		struct smb_op open = { .kind = SMB_OP_OPEN, .name = "file" };
		uint32_t lost = 0;

		cr_assert_eq(peer_do(peer, &mount), SMB_OP_OK);
		peer->log[peer->log_count - 1].command = SMB2_ECHO; /* not the mount's own CLOSE */
		peer_submit(peer, &open);
		for (; lost < 30 && open_is_out(peer); lost++)
			peer_fail_channel(peer, 0);
		cr_expect_eq(lost, soft ? 10 : 30);
		peer_run(peer);
		cr_expect_eq(peer->done.verdict, soft ? SMB_OP_DISCONNECTED : SMB_OP_OK);
		cr_expect_eq(peer_do(peer, &open), SMB_OP_OK, "the next one has a chance of its own");
		peer_free(peer);
	}
}

Test(reconnect, an_expired_session_is_made_anew_on_every_channel)
{
	static const uint32_t statuses[] = { STATUS_NETWORK_SESSION_EXPIRED, STATUS_USER_SESSION_DELETED };

	for (uint32_t n = 0; n < 2; n++) {
		uint32_t file;
		struct peer *peer = reading("6.12", MC "3", &file);

		peer->read_status = statuses[n];
		peer->read_failures = 1;
		let_go(peer);
		peer_run(peer);
		cr_expect_eq(peer->opened, 6);
		cr_expect_eq(peer->closed, 3);
		cr_expect_eq(peer->done.bytes, 1 << 20);
		expect_whole_file(peer, file);
		peer_free(peer);
	}
}

Test(reconnect, a_refused_logon_ends_a_soft_wait_and_is_tried_again)
{
	uint32_t file;
	struct peer *peer = reading("6.1", "vers=3.1.1", &file);
	uint32_t done = peer->done_count;

	let_go(peer);
	peer->tree_status = STATUS_ACCESS_DENIED;
	peer_fail_channel(peer, 0);
	peer_run(peer);
	cr_expect_eq(peer->done_count, done + 1);
	cr_expect_eq(peer->done.verdict, SMB_OP_FAILED);
	cr_expect_eq(peer->done.status, STATUS_ACCESS_DENIED);
	peer->tree_status = 0;
	peer_pass(peer, peer->now_ns + 4 * SECOND);
	expect_whole_file(peer, file);
	peer_free(peer);
}

Test(reconnect, a_file_that_is_gone_fails_its_read_only)
{
	uint32_t file;
	struct peer *peer = reading("6.1", "vers=3.1.1", &file);

	let_go(peer);
	peer->open_status = STATUS_OBJECT_NAME_NOT_FOUND;
	peer_fail_channel(peer, 0);
	peer_run(peer);
	cr_expect_eq(peer->done.verdict, SMB_OP_FAILED);
	cr_expect_eq(peer->done.status, STATUS_OBJECT_NAME_NOT_FOUND);
	peer->open_status = 0;
	expect_whole_file(peer, file);
	peer_free(peer);
}

/* C8: credits taken from one connection are not given back to the next. */
Test(reconnect, credits_of_the_old_connection_are_dropped)
{
	uint32_t file;
	struct peer *peer = reading("6.1", "vers=3.1.1", &file);
	struct smb_channel_info info;

	let_go(peer);
	peer_fail_channel(peer, 0);
	smb_client_look_channel(peer->client, 0, &info);
	cr_expect_eq(info.credits, 0, "one, which NEGOTIATE has taken");
	cr_expect_eq(info.in_flight, 1);
	cr_expect_eq(info.next_message_id, 1);
	peer_run(peer);
	smb_client_look_channel(peer->client, 0, &info);
	cr_expect_eq((int64_t)info.credits + info.credits_echo + info.credits_oplock, peer->channels[0].credits);
	cr_expect_eq(info.next_message_id, peer->channels[0].next_id);
	peer_free(peer);
}

/* C8: an operation that holds credits and waits for a request slot loses them with the connection. */
Test(reconnect, credits_held_while_waiting_for_a_slot_are_dropped_too)
{
	static const char *const mounts[] = { "vers=3.1.1,rsize=65536,rasize=4194304",
					      "vers=3.1.1,rsize=65536,cache=none" };
	static const struct smb_client_limits limits = {
		.channels = 1, .requests = 12, .ops = 2, .files = 1, .page_runs = 70, .outputs = 24
	};

	for (uint32_t n = 0; n < 2; n++) {
		struct peer *peer = peer_new_limits("6.1", mounts[n], 4096, &limits);
		struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };
		struct smb_channel_info info;

		peer->file_bytes = 4 << 20;
		read.file = peer_mount_and_open(peer);
		peer->hold_reads = true;
		peer_submit(peer, &read);
		smb_client_look_channel(peer->client, 0, &info);
		if (!n)
			cr_assert_eq(info.in_flight, peer->held_count + 1, "one holds credits for a READ to come");
		peer_fail_channel(peer, 0);
		let_go(peer);
		peer_run(peer);
		smb_client_look_channel(peer->client, 0, &info);
		cr_expect_eq((int64_t)info.credits + info.credits_echo + info.credits_oplock,
			     peer->channels[0].credits);
		cr_expect_eq(info.in_flight, 0);
		cr_expect_eq(peer->done.bytes, 1 << 20);
		expect_whole_file(peer, read.file);
		peer_free(peer);
	}
}

/* C23: one up for each channel that was lost, from 6.6 on; told in every request of dialect 3. */
Test(reconnect, the_channel_sequence_counts_lost_channels)
{
	static const struct {
		const char *era;
		const char *mount;
		uint16_t sequence;
	} table[] = { { "6.12", MC "2", 2 }, { "6.1", MC "2", 0 }, { "6.12", "vers=2.1", 0 } };

	for (uint32_t n = 0; n < 3; n++) {
		uint32_t file;
		struct peer *peer = reading(table[n].era, table[n].mount, &file);

		let_go(peer);
		for (uint32_t i = 0; i < 2; i++) {
			peer_fail_channel(peer, n < 2 ? 1 : 0);
			peer_run(peer);
		}
		expect_whole_file(peer, file);
		cr_expect_eq(peer->log[peer->log_count - 1].sequence, table[n].sequence, "row %u", n);
		peer_free(peer);
	}
}

/* Facts A2: until 2025 the sizes stayed as the first NEGOTIATE had brought them. */
Test(reconnect, sizes_follow_the_server_where_the_policy_says_so)
{
	static const char *const eras[] = { "6.1", "next" };

	for (uint32_t n = 0; n < 2; n++) {
		uint32_t file;
		struct peer *peer = reading(eras[n], "vers=3.1.1", &file);

		cr_expect_eq(look(peer).rsize, 4 << 20);
		let_go(peer);
		peer->max_read = 1 << 20;
		peer_fail_channel(peer, 0);
		peer_run(peer);
		cr_expect_eq(look(peer).max_read, 1 << 20);
		cr_expect_eq(look(peer).rsize, n ? 1 << 20 : 4 << 20, "%s", eras[n]);
		peer_free(peer);
	}
}

static struct peer *run_moving(const char *era, const char *mount, bool move)
{
	static const struct smb_client_limits limits = {
		.channels = 3, .requests = 64, .ops = 4, .files = 2, .page_runs = 70, .outputs = 24
	};
	struct peer *peer = peer_new_limits(era, mount, 4096, &limits);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };

	peer->move_block = move;
	peer->file_bytes = 7 << 20;
	read.file = peer_mount_and_open(peer);
	for (uint32_t i = 0; i < 7; i++) {
		peer->hold_reads = true;
		peer_submit(peer, &read);
		let_go(peer);
		for (uint32_t channel = 0; channel < 3; channel++) {
			if (peer->channels[channel].open && channel <= i % 4)
				peer_fail_channel(peer, channel);
		}
		peer_pass(peer, peer->now_ns + 4 * SECOND);
		cr_assert_eq(peer->done.verdict, SMB_OP_OK);
		read.offset += peer->done.bytes;
	}
	cr_expect_eq(read.offset, peer->file_bytes);
	return peer;
}

Test(reconnect, a_block_that_moves_while_channels_die_behaves_the_same)
{
	static const char *const eras[] = { "6.1", "6.12" };
	static uint8_t first[65536], second[65536];

	for (uint32_t n = 0; n < 2; n++) {
		struct peer *fixed = run_moving(eras[n], MC "3,rsize=131072", false);
		struct peer *moved = run_moving(eras[n], MC "3,rsize=131072", true);
		size_t length = smb_client_encode(fixed->client, first, sizeof(first));

		cr_expect_eq(fixed->digest, moved->digest);
		cr_expect_gt(length, 0);
		cr_expect_eq(smb_client_encode(moved->client, second, sizeof(second)), length);
		cr_expect_arr_eq(first, second, length);
		peer_free(fixed);
		peer_free(moved);
	}
}
