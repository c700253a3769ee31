/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several channels, compared with captures/io-6.1-first30.tsv (rows mc2, mc4, mc4-ra16M) and io-6.12. */
#include "protocol/client/tests/peer.h"

#include <criterion/criterion.h>

struct start {
	const char *era;
	const char *mount;
	uint32_t channels;
	int64_t credits[4]; /* by the PDUs alone, after open */
};

Test(multichannel, credits_at_the_first_read_are_those_of_the_captures)
{
	static const struct start table[] = {
		{ "6.1", "vers=3.1.1", 1, { 427 } },
		{ "6.1", "vers=3.1.1,multichannel,max_channels=2", 2, { 391, 166 } },
		{ "6.1", "vers=3.1.1,multichannel,max_channels=4", 4, { 364, 157, 157, 139 } },
		{ "6.12", "vers=3.1.1,multichannel,max_channels=2", 2, { 391, 166 } },
		{ "6.1", "vers=2.1,multichannel,max_channels=4", 1, { 400 } }, /* needs 3.x */
	};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct peer *peer = peer_new(table[i].era, table[i].mount, 4096);

		peer_mount_and_open(peer);
		cr_expect_eq(peer->opened, table[i].channels, "row %u: %u channels", i, peer->opened);
		for (uint32_t n = 0; n < table[i].channels; n++) {
			struct smb_channel_info info;

			smb_client_look_channel(peer->client, n, &info);
			cr_expect(info.usable);
			cr_expect_eq(peer->channels[n].credits, table[i].credits[n], "row %u channel %u: %ld", i, n,
				     (long)peer->channels[n].credits);
			cr_expect_eq(info.credits + info.credits_echo + info.credits_oplock,
				     (uint32_t)table[i].credits[n]);
		}
		peer_free(peer);
	}
}

Test(multichannel, further_channels_bind_to_the_session_and_connect_no_tree)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1,multichannel,max_channels=2", 4096);
	static const uint16_t expected[] = { SMB2_NEGOTIATE, SMB2_SESSION_SETUP, SMB2_SESSION_SETUP };
	uint32_t seen = 0;

	peer_mount_and_open(peer);
	for (uint32_t i = 0; i < peer->log_count && seen < 3; i++) {
		if (peer->log[i].channel != 1)
			continue;
		cr_expect_eq(peer->log[i].command, expected[seen]);
		cr_expect_eq(peer->log[i].asked, seen ? 130 : 10);
		cr_expect_eq(peer->log[i].message_id, seen);
		cr_expect_eq(peer->log[i].flags & SMB2_FLAGS_SIGNED, seen ? SMB2_FLAGS_SIGNED : 0);
		seen++;
	}
	cr_expect_eq(seen, 3);
	for (uint32_t i = 0; i < peer->log_count; i++)
		cr_expect(peer->log[i].command != SMB2_TREE_CONNECT || peer->log[i].channel == 0);
	peer_free(peer);
}

Test(multichannel, a_refused_channel_is_tried_again_and_then_done_without)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1,multichannel,max_channels=2", 4096);

	peer->refuse_channels = 2;
	peer_mount_and_open(peer);
	cr_expect_eq(peer->opened, 1 + 6, "three times the number wanted");
	cr_expect_eq(peer_read_all(peer, peer->done.file, 1 << 20), peer->file_bytes);
	cr_expect_eq(peer->wrong_copies, 0);
	peer_free(peer);
}

Test(multichannel, a_server_without_the_capability_gets_one_channel)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1,multichannel,max_channels=4", 4096);

	peer->capabilities &= ~SMB2_GLOBAL_CAP_MULTI_CHANNEL;
	peer_mount_and_open(peer);
	cr_expect_eq(peer->opened, 1);
	peer_free(peer);
}

struct read_row {
	uint32_t channel;
	uint64_t offset;
	uint32_t length;
	uint16_t charge;
	uint16_t asked;
};

/* mc4-ra16M, rows 0 to 14 and 16, 17: the channels in the order of their ports. */
static const struct read_row mc4_ra16m[] = {
	{ 0, 0, 2097152, 32, 40 },	  { 1, 2097152, 4194304, 64, 72 },  { 0, 6291456, 4194304, 64, 72 },
	{ 0, 10485760, 4194304, 64, 72 }, { 2, 14680064, 4194304, 64, 72 }, { 2, 18874368, 4194304, 64, 72 },
	{ 2, 23068672, 1245184, 19, 27 }, { 2, 24313856, 65536, 1, 10 },    { 2, 24379392, 65536, 1, 10 },
	{ 2, 24444928, 65536, 1, 10 },	  { 2, 24510464, 65536, 1, 10 },    { 2, 24576000, 65536, 1, 10 },
	{ 2, 24641536, 65536, 1, 10 },	  { 2, 24707072, 65536, 1, 10 },    { 2, 24772608, 65536, 1, 10 },
	{ 2, 24838144, 4194304, 64, 72 }, { 2, 29032448, 2424832, 37, 45 },
};

#define MC4_COUNT (sizeof(mc4_ra16m) / sizeof(mc4_ra16m[0]))
#define MC4_BEFORE_GRANT 15

static void expect_reads(const struct peer *peer, uint32_t count)
{
	uint32_t list[64];

	cr_assert_geq(peer_reads(peer, list, 64), count);
	for (uint32_t i = 0; i < count; i++) {
		const struct peer_entry *entry = &peer->log[list[i]];
		const struct read_row *row = &mc4_ra16m[i];

		cr_expect_eq(entry->channel, row->channel, "READ %u on channel %u", i, entry->channel);
		cr_expect_eq(entry->offset, row->offset, "READ %u at %lu", i, (long)entry->offset);
		cr_expect_eq(entry->length, row->length, "READ %u of %u", i, entry->length);
		cr_expect_eq(entry->charge, row->charge, "READ %u", i);
		cr_expect_eq(entry->asked, row->asked, "READ %u asks %u", i, entry->asked);
	}
}

/** dd bs=1M, the READ sent last answered first, until `reads` have been sent. */
static void read_until(struct peer *peer, uint32_t file, uint32_t reads)
{
	struct smb_op read = { .kind = SMB_OP_READ, .file = file, .length = 1 << 20 };
	uint32_t list[64];
	uint32_t done = peer->done_count;

	peer_submit(peer, &read);
	while (peer_reads(peer, list, 64) < reads) {
		if (peer->done_count > done) {
			done = peer->done_count;
			read.offset += peer->done.bytes;
			peer_submit(peer, &read);
		} else if (!peer_deliver(peer)) {
			cr_assert(peer->held_count);
			peer_answer_read(peer, --peer->held_count);
		}
	}
}

Test(multichannel, low_credits_cut_a_window_as_in_the_capture)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1,multichannel,max_channels=4,rasize=16777216", 4096);
	struct smb_client_info info;
	uint32_t list[64];

	peer->read_interim = true;
	peer->hold_reads = true;
	read_until(peer, peer_mount_and_open(peer), 5);
	cr_expect_eq(peer_reads(peer, list, 64), MC4_BEFORE_GRANT);
	expect_reads(peer, MC4_BEFORE_GRANT);
	smb_client_look(peer->client, &info);
	cr_expect_eq(info.waiting_for_credits, 1);
	cr_expect_eq(info.in_flight, 11);
	peer_run(peer); /* the interim answers bring the grants */
	expect_reads(peer, MC4_COUNT);
	smb_client_look(peer->client, &info);
	cr_expect_eq(info.waiting_for_credits, 0);
	peer_free(peer);
}

Test(multichannel, from_6_12_on_each_read_picks_its_channel)
{
	struct peer *peer = peer_new("6.12", "vers=3.1.1,multichannel,max_channels=2,rasize=16777216", 4096);
	uint32_t list[64];
	uint32_t used[2] = { 0 };

	peer->read_interim = true;
	peer->hold_reads = true;
	read_until(peer, peer_mount_and_open(peer), 8);
	for (uint32_t i = 4; i < peer_reads(peer, list, 64); i++)
		used[peer->log[list[i]].channel]++;
	cr_expect_gt(used[0], 1);
	cr_expect_gt(used[1], 1);
	peer_free(peer);
}

Test(multichannel, requests_of_a_failed_channel_go_to_another)
{
	static const char *const mounts[] = { "vers=3.1.1,multichannel,max_channels=2,rasize=16777216",
					      "vers=3.1.1,multichannel,max_channels=2,cache=none,rsize=65536" };

	for (uint32_t n = 0; n < 2; n++) {
		for (uint32_t failed = 0; failed < 2; failed++) {
			struct peer *peer = peer_new("6.1", mounts[n], 4096);
			uint32_t file = peer_mount_and_open(peer);
			struct smb_op read = { .kind = SMB_OP_READ, .file = file, .length = 1 << 20 };

			peer->hold_reads = true;
			peer_submit(peer, &read);
			cr_assert_gt(peer->held_count, 0);
			peer->held_count = 0;
			peer->hold_reads = false;
			peer_fail_channel(peer, peer->log[peer->log_count - 1].channel);
			peer_run(peer);
			cr_expect_eq(peer->done_count, 3, "the read ended");
			cr_expect_eq(peer->done.verdict, SMB_OP_OK);
			cr_expect_eq(peer->done.bytes, 1 << 20);
			cr_expect_eq(peer_read_all(peer, file, 1 << 20), peer->file_bytes);
			cr_expect_eq(peer->wrong_copies, 0);
			peer_free(peer);
		}
	}
}

Test(multichannel, without_any_channel_operations_end_as_disconnected)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1,multichannel,max_channels=2", 4096);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = "other" };
	struct smb_op unmount = { .kind = SMB_OP_UNMOUNT };
	struct smb_op mount = { .kind = SMB_OP_MOUNT };

	read.file = peer_mount_and_open(peer);
	peer->hold_reads = true;
	peer->unreachable = 3;
	peer_submit(peer, &read);
	peer_fail_channel(peer, 0);
	peer_fail_channel(peer, 1);
	cr_assert_neq(peer_submit(peer, &open), SMB_OP_NONE);
	cr_expect_eq(peer->done_count, 2, "a soft mount waits for a while");
	peer_pass(peer, peer->now_ns + UINT64_C(21000000000)); /* once for what was sent, once for the page alone */
	cr_expect_eq(peer->done_count, 4);
	cr_expect_eq(peer->done.verdict, SMB_OP_DISCONNECTED);
	cr_expect_eq(peer_do(peer, &unmount), SMB_OP_DISCONNECTED);
	peer->unreachable = 0;
	cr_expect_eq(peer_do(peer, &mount), SMB_OP_OK, "a new mount starts afresh");
	peer_free(peer);
}

#define REQUERY_NS UINT64_C(600000000000)

/** Let time pass until the interfaces have been asked for again. */
static uint32_t pass_requery(struct peer *peer)
{
	uint32_t asked = 0;
	uint32_t from = peer->log_count;

	peer_pass(peer, peer->now_ns + REQUERY_NS + 1000000000);
	for (uint32_t i = from; i < peer->log_count; i++)
		asked += peer->log[i].command == SMB2_IOCTL && peer->log[i].code == FSCTL_QUERY_NETWORK_INTERFACE_INFO;
	return asked;
}

Test(multichannel, interfaces_are_asked_for_again_and_channels_follow)
{
	struct peer *peer = peer_new("6.1", "vers=3.1.1,multichannel,max_channels=4", 4096);
	struct smb_op unmount = { .kind = SMB_OP_UNMOUNT };
	struct smb_op close = { .kind = SMB_OP_CLOSE };

	peer->interfaces = 2;
	close.file = peer_mount_and_open(peer);
	cr_expect_eq(peer->opened, 4);
	cr_expect_eq(pass_requery(peer), 1);
	cr_expect_eq(peer->opened, 4, "nothing changed");
	peer_fail_channel(peer, 2);
	peer_run(peer);
	cr_expect_eq(peer->opened, 5, "the failed channel is back");
	cr_expect_eq(pass_requery(peer), 1);
	cr_expect_eq(peer->opened, 5);
	peer->interfaces = 1;
	cr_expect_eq(pass_requery(peer), 1);
	cr_expect_eq(peer->closed, 2, "the channels of the second interface: %u", peer->closed);
	cr_expect_eq(peer->opened, 7, "are opened on the first");
	cr_expect_eq(peer_read_all(peer, close.file, 1 << 20), peer->file_bytes);
	cr_expect_eq(peer_do(peer, &close), SMB_OP_OK);
	cr_expect_eq(peer_do(peer, &unmount), SMB_OP_OK);
	cr_expect_eq(peer->closed, 2 + 4);
	peer_free(peer);
}

Test(multichannel, a_single_channel_or_an_older_kernel_does_not_ask_again)
{
	static const struct {
		const char *era;
		const char *mount;
	} table[] = { { "6.1", "vers=3.1.1" }, { "5.10", "vers=3.1.1,multichannel,max_channels=2" } };

	for (uint32_t i = 0; i < 2; i++) {
		struct peer *peer = peer_new(table[i].era, table[i].mount, 4096);

		peer_mount_and_open(peer);
		cr_expect_eq(pass_requery(peer), 0, "row %u", i);
		peer_free(peer);
	}
}
