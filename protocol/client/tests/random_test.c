/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Thousands of short runs against a server that does whatever the specification lets it do: grants between nothing and
 * all, interim answers or not, answers in any order, short and failed READs, lease breaks, channels that die. The peer
 * judges the window of every PDU, the block is checked after every call, and every operation must end.
 */
#include "protocol/client/tests/draw.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 400
#define STEPS 3000
#define OPS 4

static const char *const eras[] = { "3.0", "4.15", "4.20", "5.10", "6.1", "6.12", "next" };
static const char *const mounts[] = {
	"vers=3.1.1",
	"vers=3.1.1,multichannel,max_channels=3,rsize=131072",
	"vers=3.0,rsize=65536",
	"vers=2.0",
	"vers=3.1.1,rsize=61440",
	"vers=3.1.1,rsize=102400,multichannel,max_channels=2",
	"vers=2.1,cache=none",
	"vers=3.0,cache=none,rsize=65536,multichannel,max_channels=2",
};

struct run {
	struct peer *peer;
	uint32_t file;
	uint32_t under_way;
	bool closing;
	uint32_t trouble; /* percent of steps that do something unfriendly */
};

static void change_mood(struct run *run)
{
	struct peer *peer = run->peer;

	peer->read_interim = chance(50);
	peer->grant_cap = chance(30) ? 1 + draw(12) : 0;
	peer->short_bytes = chance(20) ? 1 + draw(200000) : 0;
	peer->read_failures = chance(10) ? draw(4) : 0;
	peer->read_status = chance(50) ? STATUS_INSUFFICIENT_RESOURCES : STATUS_ACCESS_DENIED;
	peer->hold_reads = chance(70);
	peer->unreachable = chance(30) ? draw(8) : 0;
	peer->keeps_handles = chance(50);
}

/** Answer a READ that was held back, any of them. */
static void answer_one(struct peer *peer)
{
	uint32_t which = draw(peer->held_count);

	peer_answer_read(peer, which);
	peer->held[which] = peer->held[--peer->held_count];
}

static void submit_read(struct run *run)
{
	struct smb_op read = { .kind = SMB_OP_READ, .file = run->file };

	read.offset = draw((uint32_t)run->peer->file_bytes + 5000);
	read.length = chance(50) ? 1 << 20 : draw(300000);
	if (peer_submit(run->peer, &read) != SMB_OP_NONE)
		run->under_way++;
}

static void submit_close(struct run *run)
{
	struct smb_op close = { .kind = SMB_OP_CLOSE, .file = run->file };

	cr_assert_neq(peer_submit(run->peer, &close), SMB_OP_NONE);
	run->under_way++;
	run->closing = true;
}

static void fail_channel(struct run *run)
{
	uint32_t channel = draw(SMB_CHANNELS_MAX);

	if (run->peer->channels[channel].open)
		peer_fail_channel(run->peer, channel);
}

/** One step of the world. False: nothing can happen any more. */
static bool step(struct run *run)
{
	struct peer *peer = run->peer;

	if (chance(run->trouble)) {
		change_mood(run);
		if (chance(20))
			draw_lease_break(peer);
		if (chance(3))
			fail_channel(run);
		peer->now_ns += draw(1000000000);
		if (peer->now_ns >= peer->wake_ns && chance(50)) {
			smb_client_wake(peer->client, peer->now_ns);
			peer_drain(peer);
		}
	}
	if (peer->held_count && (chance(40) || !peer->queue_count))
		answer_one(peer);
	if (peer_deliver(peer))
		return true;
	return peer->held_count;
}

static void one_run(uint32_t number, bool move)
{
	static const struct smb_client_limits limits = {
		.channels = 3, .requests = 40, .ops = OPS, .files = 2, .page_runs = 24, .outputs = 20
	};
	const char *era = eras[draw(sizeof(eras) / sizeof(eras[0]))];
	const char *mount = mounts[draw(6 + (draw(2) << 1))];
	struct run run = { .trouble = draw(30) };
	struct smb_client_info info;
	uint32_t done;
	uint32_t rounds = 100;

	if (strstr(mount, "multichannel") && number % 2)
		era = "6.1";
	else if (strstr(mount, "multichannel"))
		era = "6.12";
	run.peer = peer_new_limits(era, mount, 4096u << draw(5), &limits);
	run.peer->move_block = move;
	run.peer->file_bytes = 1 + draw(3 << 20);
	run.peer->any_copy_order = true;
	run.file = peer_mount_and_open(run.peer);
	done = run.peer->done_count;
	for (uint32_t i = 0; i < STEPS; i++) {
		if (!run.closing && i < STEPS / 2 && run.under_way < OPS - 1 && chance(20))
			submit_read(&run);
		if (!run.closing && i >= STEPS / 2)
			submit_close(&run);
		if (!step(&run) && run.closing && run.peer->done_count == done + run.under_way)
			break;
		run.under_way -= run.closing ? 0 : run.peer->done_count - done;
		done = run.closing ? done : run.peer->done_count;
	}
	run.trouble = 0;
	run.peer->unreachable = 0;
	while (run.peer->done_count < done + run.under_way && rounds--) {
		while (step(&run))
			;
		peer_pass(run.peer, run.peer->now_ns + UINT64_C(3000000000));
	}
	while (step(&run))
		;
	cr_expect_eq(run.peer->done_count, done + run.under_way, "run %u (%s, %s): %u operations are stuck", number,
		     era, mount, done + run.under_way - run.peer->done_count);
	cr_expect_eq(run.peer->wrong_copies, 0, "run %u (%s, %s)", number, era, mount);
	smb_client_look(run.peer->client, &info);
	cr_expect_eq(info.in_flight_read_bytes, 0, "run %u", number);
	cr_expect_eq(info.waiting_for_credits, 0, "run %u", number);
	peer_free(run.peer);
}

Test(random, every_operation_ends_whatever_the_server_does)
{
	for (uint32_t i = 0; i < RUNS; i++) {
		draw_seed = i;
		one_run(i, i % 8 == 0);
	}
}
