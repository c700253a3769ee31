/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Servers that grant nothing, refuse, break leases, fall silent or talk nonsense; and the block as a value. */
#include "protocol/client/tests/peer.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct smb_channel_info look(const struct peer *peer)
{
	struct smb_channel_info info;

	smb_client_look_channel(peer->client, 0, &info);
	return info;
}

Test(trouble, a_server_that_grants_nothing_stalls_the_operation)
{
	static const char *const mounts[] = { "", "cache=none", "vers=2.0" };
	struct smb_op mount = { .kind = SMB_OP_MOUNT };

	for (uint32_t n = 0; n < 3; n++) {
		struct peer *peer = peer_new("6.1", mounts[n], 4096);
		struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };

		read.file = peer_mount_and_open(peer);
		peer->grant_nothing = true;
		while (peer_do(peer, &read) == SMB_OP_OK && peer->done.bytes)
			read.offset += peer->done.bytes;
		cr_expect_eq(peer->done.verdict, SMB_OP_STALLED, "%s: %u", mounts[n], peer->done.verdict);
		cr_expect_eq(look(peer).in_flight, 0);
		peer_free(peer);
	}
	struct peer *peer = peer_new("6.1", "", 4096);

	peer->grant_nothing = true;
	cr_expect_eq(peer_do(peer, &mount), SMB_OP_STALLED);
	peer_free(peer);
}

Test(trouble, a_refused_logon_fails_the_mount_with_its_status)
{
	struct peer *peer = peer_new("6.1", "", 4096);
	struct smb_op mount = { .kind = SMB_OP_MOUNT };
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = "file" };

	peer->refuse_channels = 1;
	cr_expect_eq(peer_do(peer, &mount), SMB_OP_FAILED);
	cr_expect_eq(peer->done.status, STATUS_ACCESS_DENIED);
	cr_expect_eq(peer->closed, 1);
	cr_expect_eq(peer_submit(peer, &open), SMB_OP_NONE, "nothing is mounted");
	peer->refuse_channels = 0;
	cr_expect_eq(peer_do(peer, &mount), SMB_OP_OK);
	peer_free(peer);
}

Test(trouble, a_dialect_that_was_not_offered_fails_the_mount)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1", 4096);
	struct smb_op mount = { .kind = SMB_OP_MOUNT };

	peer->dialect = SMB2_DIALECT_210;
	cr_expect_eq(peer_do(peer, &mount), SMB_OP_FAILED);
	peer_free(peer);
}

Test(trouble, the_default_offers_many_dialects_and_takes_what_it_gets)
{
	static const uint16_t dialects[] = { SMB2_DIALECT_210, SMB2_DIALECT_300, SMB2_DIALECT_302, SMB2_DIALECT_311 };

	for (uint32_t n = 0; n < 4; n++) {
		struct peer *peer = peer_new("6.1", "", 4096);
		struct smb_client_info info;

		peer->dialect = dialects[n];
		peer->file_bytes = 1 << 20;
		cr_expect_eq(peer_read_all(peer, peer_mount_and_open(peer), 1 << 20), 1 << 20);
		smb_client_look(peer->client, &info);
		cr_expect_eq(info.dialect, dialects[n]);
		cr_expect_eq(info.rsize, dialects[n] < SMB2_DIALECT_300 ? 1 << 20 : 4 << 20);
		peer_free(peer);
	}
}

Test(trouble, a_missing_file_fails_the_open)
{
	struct peer *peer = peer_new("6.1", "", 4096);
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = "dir/none" };

	peer_mount_and_open(peer);
	peer->open_status = STATUS_OBJECT_NAME_NOT_FOUND;
	cr_expect_eq(peer_do(peer, &open), SMB_OP_FAILED);
	cr_expect_eq(peer->done.status, STATUS_OBJECT_NAME_NOT_FOUND);
	cr_expect_eq(peer->log[peer->log_count - 3].chain, 3, "the lookup says so already");
	peer->open_status = 0;
	cr_expect_eq(peer_do(peer, &open), SMB_OP_OK);
	cr_expect_neq(peer->done.file, 0, "the first file still has its number");
	peer_free(peer);
}

Test(trouble, what_cannot_be_done_is_not_started)
{
	struct peer *peer = peer_new("6.1", "", 4096);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 1 };
	struct smb_op close = { .kind = SMB_OP_CLOSE };
	struct smb_op unmount = { .kind = SMB_OP_UNMOUNT };
	struct smb_op mount = { .kind = SMB_OP_MOUNT };
	struct smb_op unnamed = { .kind = SMB_OP_OPEN, .name = "" };

	cr_expect_eq(peer_submit(peer, &read), SMB_OP_NONE);
	cr_expect_eq(peer_submit(peer, &unmount), SMB_OP_NONE);
	close.file = peer_mount_and_open(peer);
	cr_expect_eq(peer_submit(peer, &mount), SMB_OP_NONE);
	cr_expect_eq(peer_submit(peer, &unnamed), SMB_OP_NONE);
	read.file = close.file + 1;
	cr_expect_eq(peer_submit(peer, &read), SMB_OP_NONE);
	cr_expect_eq(peer_do(peer, &close), SMB_OP_OK);
	cr_expect_eq(peer_submit(peer, &close), SMB_OP_NONE, "closed already");
	peer_free(peer);
}

static struct smb2_message reply(uint16_t command, uint64_t message_id, uint16_t credits)
{
	struct smb2_message message;

	memset(&message, 0, sizeof(message));
	message.header.flags = SMB2_FLAGS_SERVER_TO_REDIR;
	message.header.command = command;
	message.header.message_id = message_id;
	message.header.credits = credits;
	return message;
}

Test(trouble, credits_of_unmatched_answers_count)
{
	struct peer *peer = peer_new("6.1", "", 4096);
	struct smb2_message stray = reply(SMB2_ECHO, 1000000, 7);

	peer_mount_and_open(peer);
	uint32_t before = look(peer).credits;
	cr_expect_eq(peer_send(peer, 0, &stray), SMB_RECEIVE_UNMATCHED);
	cr_expect_eq(look(peer).credits, before + 7);
	cr_expect_eq(look(peer).in_flight, 0);
	peer_free(peer);
}

Test(trouble, an_answer_to_another_command_is_unmatched)
{
	struct peer *peer = peer_new("6.1", "", 4096);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 4096 };

	read.file = peer_mount_and_open(peer);
	peer->hold_reads = true;
	peer_submit(peer, &read);
	struct smb2_message stray = reply(SMB2_ECHO, peer->log[peer->held[0]].message_id, 1);
	cr_expect_eq(peer_send(peer, 0, &stray), SMB_RECEIVE_UNMATCHED);
	cr_expect_eq(look(peer).in_flight, 1);
	peer_free(peer);
}

Test(trouble, nonsense_costs_the_channel)
{
	static const uint8_t garbage[100] = { 0xfe, 'S', 'M', 'B', 64, 0 };
	struct peer *peer = peer_new("6.1", "", 4096);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 4096 };
	struct smb_pdu pdu = { .bytes = garbage, .length = sizeof(garbage) };

	read.file = peer_mount_and_open(peer);
	peer->hold_reads = true;
	peer->unreachable = 1;
	peer_submit(peer, &read);
	cr_expect_eq(smb_client_receive(peer->client, 0, &pdu, peer->now_ns), SMB_RECEIVE_MALFORMED);
	peer_drain(peer);
	cr_expect_eq(peer->closed, 1);
	cr_expect_eq(peer->opened, 1, "the channel comes back, but not yet");
	cr_expect_eq(smb_client_receive(peer->client, 0, &pdu, peer->now_ns), SMB_RECEIVE_UNMATCHED);
	peer_free(peer);
}

static struct smb2_message lease_break(uint32_t state, uint32_t flags)
{
	struct smb2_message notify = reply(SMB2_OPLOCK_BREAK, SMB2_MESSAGE_ID_UNSOLICITED, 0);

	notify.kind = SMB2_BODY_LEASE_BREAK_NOTIFY;
	notify.body.lease_break_notify = (struct smb2_lease_break_notify){
		.flags = flags,
		.current_state = 7,
		.new_state = state,
	};
	for (uint32_t i = 0; i < 16; i++)
		notify.body.lease_break_notify.lease_key[i] = (uint8_t)(i + 1);
	notify.body.lease_break_notify.lease_key[12] ^= 1; /* the first file's */
	return notify;
}

Test(trouble, a_lease_break_is_acknowledged_from_the_reserve_even_without_credits)
{
	struct peer *peer = peer_new("6.1", "vers=3.0,rsize=65536,rasize=33554432", 4096);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };
	struct smb2_message notify = lease_break(1, 1);
	struct smb_channel_info info;

	read.file = peer_mount_and_open(peer);
	peer->hold_reads = true;
	peer_submit(peer, &read);
	peer->hold_reads = false;
	while (peer->held_count > 1)
		peer_answer_read(peer, --peer->held_count);
	peer->hold_reads = true;
	peer->grant_cap = 1;
	peer_run(peer);
	cr_expect_eq(peer_send(peer, 0, &notify), SMB_RECEIVE_OK);
	cr_expect_eq(peer->log[peer->log_count - 1].command, SMB2_OPLOCK_BREAK);
	cr_expect_eq(peer->log[peer->log_count - 1].asked, 1);
	cr_expect_eq(peer->log[peer->log_count - 1].charge, 1);
	info = look(peer);
	cr_expect_eq(info.credits_oplock, 0, "the reserve is in use");
	peer_run(peer);
	cr_expect_eq(look(peer).credits_oplock, 1, "and filled again");
	peer_free(peer);
}

Test(trouble, a_break_that_needs_no_acknowledgement_or_names_no_file_gets_none)
{
	struct peer *peer = peer_new("6.1", "vers=3.0", 4096);
	struct smb2_message quiet = lease_break(1, 0);
	struct smb2_message unknown = lease_break(1, 1);

	peer_mount_and_open(peer);
	uint32_t before = peer->log_count;
	unknown.body.lease_break_notify.lease_key[0] ^= 0xff;
	cr_expect_eq(peer_send(peer, 0, &quiet), SMB_RECEIVE_OK);
	cr_expect_eq(peer_send(peer, 0, &unknown), SMB_RECEIVE_OK);
	cr_expect_eq(peer->log_count, before);
	peer_free(peer);
}

Test(trouble, losing_the_read_lease_empties_the_cache)
{
	struct peer *peer = peer_new("6.1", "vers=3.0", 4096);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };
	struct smb2_message keep = lease_break(1, 1);
	struct smb2_message lose = lease_break(0, 1);

	peer->file_bytes = 1 << 20;
	read.file = peer_mount_and_open(peer);
	peer_do(peer, &read);
	uint32_t reads = peer->log_count;
	peer_send(peer, 0, &keep);
	peer_run(peer);
	peer_do(peer, &read);
	cr_expect_eq(peer->log_count, reads + 1, "read caching stays: only the acknowledgement was sent");
	peer_send(peer, 0, &lose);
	peer_run(peer);
	peer_do(peer, &read);
	cr_expect_gt(peer->log_count, reads + 2);
	cr_expect_eq(peer->done.bytes, 1 << 20);
	peer_free(peer);
}

Test(trouble, an_oplock_of_2_0_is_acknowledged_by_file)
{
	struct peer *peer = peer_new("6.1", "vers=2.0", 4096);
	struct smb2_message notify = reply(SMB2_OPLOCK_BREAK, SMB2_MESSAGE_ID_UNSOLICITED, 0);

	peer_mount_and_open(peer);
	uint32_t before = peer->log_count;
	notify.kind = SMB2_BODY_OPLOCK_BREAK;
	notify.body.oplock_break = (struct smb2_oplock_break){ .oplock_level = 1, .file_id = { 0x77, 0x77 } };
	cr_expect_eq(peer_send(peer, 0, &notify), SMB_RECEIVE_OK);
	cr_expect_eq(peer->log_count, before + 1);
	peer_run(peer);
	notify.body.oplock_break.oplock_level = 0;
	peer_send(peer, 0, &notify);
	cr_expect_eq(peer->log_count, before + 1, "from level II no acknowledgement");
	peer_free(peer);
}

/* Found by the model checker: the handle of the acknowledgement was closed before it (C22). */
Test(trouble, a_break_that_comes_after_the_close_was_sent_is_not_acknowledged)
{
	static const char *const mounts[] = { "vers=2.0", "vers=3.0" };

	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		struct peer *peer = peer_new("6.1", mounts[i], 4096);
		struct smb_op close = { .kind = SMB_OP_CLOSE };
		struct smb2_message notify = lease_break(1, 1);

		close.file = peer_mount_and_open(peer);
		if (i == 0) {
			notify.kind = SMB2_BODY_OPLOCK_BREAK;
			notify.body.oplock_break = (struct smb2_oplock_break){ .oplock_level = 1,
									       .file_id = { 0x77, 0x77 } };
		}
		peer_submit(peer, &close);
		uint32_t sent = peer->log_count;
		cr_assert_eq(peer->log[sent - 1].command, SMB2_CLOSE, "%s", mounts[i]);
		cr_expect_eq(peer_send(peer, 0, &notify), SMB_RECEIVE_OK, "%s", mounts[i]);
		peer_run(peer);
		cr_expect_eq(peer->log_count, sent, "%s", mounts[i]);
		cr_expect_eq(peer->done.verdict, SMB_OP_OK, "%s", mounts[i]);
		peer_free(peer);
	}
}

#define SECOND UINT64_C(1000000000)

Test(trouble, an_idle_channel_is_echoed_and_a_silent_one_given_up)
{
	struct peer *peer = peer_new("6.1", "echo_interval=10", 4096);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 4096 };

	read.file = peer_mount_and_open(peer);
	uint32_t before = peer->log_count;
	cr_assert_leq(peer->wake_ns, peer->now_ns + 10 * SECOND);
	smb_client_wake(peer->client, peer->now_ns);
	peer_drain(peer);
	cr_expect_eq(peer->log_count, before, "too early is harmless");
	for (uint32_t i = 1; i <= 2; i++) {
		peer->now_ns = peer->wake_ns;
		smb_client_wake(peer->client, peer->now_ns);
		peer_run(peer);
		cr_expect_eq(peer->log_count, before + i);
		cr_expect_eq(peer->log[peer->log_count - 1].command, SMB2_ECHO);
		cr_expect_eq(peer->log[peer->log_count - 1].asked, 1);
		cr_expect_eq(peer->log[peer->log_count - 1].charge, 0);
	}
	peer->hold_reads = true;
	peer_submit(peer, &read);
	for (uint32_t i = 0; i < 4; i++) {
		peer->now_ns = peer->wake_ns;
		smb_client_wake(peer->client, peer->now_ns);
		peer_drain(peer); /* the echo is never answered */
	}
	cr_expect_eq(peer->closed, 1);
	peer->hold_reads = false;
	peer_run(peer);
	cr_expect_eq(peer->opened, 2, "and made anew");
	cr_expect_eq(peer->done.verdict, SMB_OP_OK);
	cr_expect_eq(peer->done.bytes, 4096);
	peer_free(peer);
}

/* ------------------------------------------------------------------------------------------------ the block as a value */

static const char *const value_mounts[] = { "vers=3.1.1,rasize=16777216,multichannel,max_channels=4", "vers=2.0",
					    "cache=none,rsize=65536", "rsize=65536,rasize=1048576" };

static struct peer *run_moving(const char *mount, bool move)
{
	static const struct smb_client_limits limits = {
		.channels = 4, .requests = 64, .ops = 4, .files = 2, .page_runs = 70, .outputs = 24
	};
	struct peer *peer = peer_new_limits("6.1", mount, 4096, &limits);

	peer->move_block = move;
	peer->read_interim = true;
	peer->file_bytes = 7 << 20;
	cr_assert_eq(peer_read_all(peer, peer_mount_and_open(peer), 1 << 20), peer->file_bytes);
	return peer;
}

Test(trouble, a_block_that_moves_after_every_call_behaves_the_same)
{
	for (uint32_t n = 0; n < sizeof(value_mounts) / sizeof(value_mounts[0]); n++) {
		struct peer *fixed = run_moving(value_mounts[n], false);
		struct peer *moved = run_moving(value_mounts[n], true);
		uint8_t first[8192];
		uint8_t second[8192];
		size_t length = smb_client_encode(fixed->client, first, sizeof(first));

		cr_expect_eq(fixed->digest, moved->digest, "%s", value_mounts[n]);
		cr_expect_eq(fixed->log_count, moved->log_count);
		cr_expect_gt(length, 0);
		cr_expect_eq(smb_client_encode(moved->client, second, sizeof(second)), length);
		cr_expect_arr_eq(first, second, length);
		cr_expect_eq(smb_client_encode(moved->client, second, length - 1), 0, "too small");
		peer_free(fixed);
		peer_free(moved);
	}
}

Test(trouble, the_encoding_tells_states_apart_and_not_the_way_to_them)
{
	struct peer *peer = peer_new("6.1", "", 4096);
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = "file" };
	struct smb_op read = { .kind = SMB_OP_READ, .length = 4096 };
	struct smb2_message stray = reply(SMB2_ECHO, 1000000, 7);
	static uint8_t first[65536];
	static uint8_t second[65536];
	size_t length;

	peer->max_read = 65536;
	peer->capabilities &= ~SMB2_GLOBAL_CAP_LARGE_MTU;
	open.name = "file";
	read.file = peer_mount_and_open(peer);
	peer_do(peer, &read);
	length = smb_client_encode(peer->client, first, sizeof(first));
	peer_do(peer, &read); /* from the cache: the same state again */
	cr_expect_eq(smb_client_encode(peer->client, second, sizeof(second)), length);
	cr_expect_arr_eq(first, second, length);
	peer_send(peer, 0, &stray); /* more credits: another state */
	cr_expect_eq(smb_client_encode(peer->client, second, sizeof(second)), length);
	cr_expect(memcmp(first, second, length));
	(void)open;
	peer_free(peer);
}

Test(trouble, limits_and_configurations_out_of_range_are_refused)
{
	struct smb_client_limits limits = smb_client_limits_simulation;
	struct smb_client_config config = { .page_bytes = 4096, .server = "a", .share = "b" };
	void *block = malloc(smb_client_size(&limits));

	config.policy = smb_era_find("6.1")->policy;
	smb_mount_options_default(&config.mount);
	cr_expect_not_null(smb_client_init(block, &limits, &config));
	config.page_bytes = 5000;
	cr_expect_null(smb_client_init(block, &limits, &config));
	config.page_bytes = 4096;
	config.share = "";
	cr_expect_null(smb_client_init(block, &limits, &config));
	config.share = "b";
	config.mount.vers = 0x0222;
	cr_expect_null(smb_client_init(block, &limits, &config));
	limits.channels = 17;
	cr_expect_eq(smb_client_size(&limits), 0);
	limits.channels = 1;
	limits.outputs = 15;
	cr_expect_eq(smb_client_size(&limits), 0);
	free(block);
}
