/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The real cores and the threads of a simulation in an order that the test gives. */
#include "sim/world/director.h"
#include "sim/world/profile.h"
#include "sim/world/world.h"

#include <criterion/criterion.h>
#include <string.h>

#define FILE_BYTES 131072u
#define READER_BYTES 65536u
#define OTHER_BYTES 4096u
#define ECHO_NS (UINT64_C(60) * 1000000000) /* cifs, SMB_ECHO_INTERVAL_DEFAULT */

enum { MOUNTING, READER, OTHER, THREADS };

/** What a test asks for when the share is mounted and the file is open, and what came of it. */
struct play {
	struct sim_script_result result;
	const struct sim_turn *turns;
	uint32_t count;
	uint32_t first; /* number of the first of them; UINT32_MAX: not there yet */
	bool is_opening;
	uint32_t file; /* + 1 */
	uint32_t waiting[2]; /* PDUs sent and not received, by sender */
	uint64_t now_ns; /* when the last PDU was sent */
	enum smb_op_verdict verdict[THREADS]; /* of the last operation */
	uint32_t ended[8]; /* threads in the order in which their operations ended */
	uint32_t ends;
	uint32_t answered[8]; /* lengths of READs in the order of their answers */
	uint32_t answers;
};

static void furnish(void *context, const struct sim_cores *cores)
{
	(void)context;
	smb_server_make_file(cores->server, "f", 1, FILE_BYTES);
	smb_monitor_file(cores->monitor, "f", 1, FILE_BYTES);
}

/* Mount and open are said one PDU at a time. */
static struct sim_turn prepare(struct play *play, uint32_t turn)
{
	if (turn < 2)
		return (struct sim_turn){ .kind = turn ? SIM_TURN_CONNECT : SIM_TURN_START, .argument = MOUNTING };
	if (play->waiting[SIM_SERVER])
		return (struct sim_turn){ .kind = SIM_TURN_TO_CLIENT };
	if (play->waiting[SIM_CLIENT])
		return (struct sim_turn){ .kind = SIM_TURN_TO_SERVER };
	play->is_opening = true;
	return (struct sim_turn){ .kind = SIM_TURN_START, .argument = READER };
}

static bool next(void *context, uint32_t turn, struct sim_turn *what)
{
	struct play *play = context;

	if (play->first == UINT32_MAX && play->is_opening && !play->waiting[SIM_SERVER] && !play->waiting[SIM_CLIENT])
		play->first = turn;
	if (play->first != UINT32_MAX && turn - play->first == play->count)
		return false;
	*what = play->first == UINT32_MAX ? prepare(play, turn) : play->turns[turn - play->first];
	if (what->kind == SIM_TURN_TO_CLIENT || what->kind == SIM_TURN_TO_SERVER)
		play->waiting[what->kind == SIM_TURN_TO_CLIENT ? SIM_SERVER : SIM_CLIENT]--;
	return true;
}

static void begin(void *context, uint32_t turn, uint32_t thread, struct smb_op *op)
{
	const struct play *play = context;

	(void)turn;
	*op = (struct smb_op){ .kind = thread == MOUNTING ? SMB_OP_MOUNT : SMB_OP_OPEN, .name = "f", .direct = true };
	if (!play->file)
		return;
	op->kind = SMB_OP_READ;
	op->file = play->file - 1;
	op->offset = thread == READER ? 0 : READER_BYTES;
	op->length = thread == READER ? READER_BYTES : OTHER_BYTES;
}

static void done(void *context, uint32_t turn, uint32_t thread, const struct smb_client_output *output,
		 const struct sim_cores *cores)
{
	struct play *play = context;

	(void)turn;
	(void)cores;
	play->verdict[thread] = output->verdict;
	if (!play->file && thread == READER)
		play->file = 1 + output->file;
	else if (play->file)
		play->ended[play->ends++] = thread;
}

static bool rested(void *context, uint32_t turn, const struct sim_cores *cores)
{
	(void)context;
	(void)turn;
	return smb_client_is_valid(cores->client) && smb_server_is_valid(cores->server);
}

static void note_sent(void *context, uint64_t when_ns, uint32_t channel, enum sim_side from, const struct smb_pdu *pdu)
{
	struct play *play = context;

	(void)channel;
	play->waiting[from]++;
	play->now_ns = when_ns;
	if (from == SIM_SERVER && pdu->payload.length)
		play->answered[play->answers++] = pdu->payload.length;
}

static struct play played(const struct sim_turn *turns, uint32_t count)
{
	struct play play = { .turns = turns, .count = count, .first = UINT32_MAX };
	const struct sim_trace trace = { .pdu = note_sent, .context = &play };
	struct sim_profile_network network;
	struct sim_script script = {
		.client = { .policy = smb_era_find("6.1")->policy,
			    .page_bytes = 4096,
			    .server = "server",
			    .share = "share" },
		.client_limits = smb_client_limits_simulation,
		.server = { .share = "share",
			    .interface_count = 1,
			    .interfaces = { { .speed_bps = UINT64_C(1000000000), .rss = true } } },
		.server_limits = smb_server_limits_simulation,
		.holds_work = true,
		.threads = THREADS,
		.context = &play,
		.next = next,
		.furnish = furnish,
		.begin = begin,
		.done = done,
		.rested = rested,
	};
	GError *error = NULL;

	smb_mount_options_default(&script.client.mount);
	cr_assert(sim_profile_load("samba-4.17", &script.server.profile, &network, &error));
	cr_assert(sim_script_run(&script, &trace, &play.result, &error));
	cr_assert_neq(play.first, UINT32_MAX, "nothing was opened: turn %u, %s", play.result.at, play.result.text);
	return play;
}

#define START(thread)                                                                                                  \
	{                                                                                                              \
		.kind = SIM_TURN_START, .argument = thread                                                             \
	}
#define WORK(token)                                                                                                    \
	{                                                                                                              \
		.kind = SIM_TURN_WORK, .argument = token                                                               \
	}
#define TURN(what)                                                                                                     \
	{                                                                                                              \
		.kind = SIM_TURN_##what                                                                                \
	}
#define PLAY(...)                                                                                                      \
	played((const struct sim_turn[]){ __VA_ARGS__ },                                                               \
	       sizeof((struct sim_turn[]){ __VA_ARGS__ }) / sizeof(struct sim_turn))

Test(director, storage_answers_in_the_order_of_its_turns)
{
	struct play straight = PLAY(START(READER), START(OTHER), TURN(TO_SERVER), TURN(TO_SERVER), WORK(0), WORK(1),
				    TURN(TO_CLIENT), TURN(TO_CLIENT));

	cr_expect_eq(straight.result.end, SIM_SCRIPT_PLAYED);
	cr_expect_str_empty(straight.result.rule, "%s", straight.result.text);
	cr_expect_eq(straight.result.waiting, 0u);
	cr_assert_eq(straight.ends, 2u);
	cr_expect_eq(straight.answered[0], READER_BYTES);
	cr_expect_eq(straight.ended[0], (uint32_t)READER);
}

Test(director, and_the_other_way_round)
{
	struct play crossed = PLAY(START(READER), START(OTHER), TURN(TO_SERVER), TURN(TO_SERVER), WORK(1), WORK(0),
				   TURN(TO_CLIENT), TURN(TO_CLIENT));

	cr_expect_eq(crossed.result.end, SIM_SCRIPT_PLAYED);
	cr_expect_str_empty(crossed.result.rule, "%s", crossed.result.text);
	cr_assert_eq(crossed.ends, 2u);
	cr_expect_eq(crossed.answered[0], OTHER_BYTES);
	cr_expect_eq(crossed.ended[0], (uint32_t)OTHER);
}

Test(director, what_has_no_turn_does_not_happen)
{
	struct play play = PLAY(START(READER), TURN(TO_SERVER), START(OTHER));

	cr_expect_eq(play.result.end, SIM_SCRIPT_PLAYED);
	cr_expect_eq(play.result.waiting, 2u, "a work and a PDU");
	cr_expect_eq(play.answers, 0u);
	cr_expect_eq(play.ends, 0u);
}

Test(director, a_turn_of_what_is_not_there_ends_the_run)
{
	struct play play = PLAY(START(READER), TURN(TO_SERVER), TURN(TO_CLIENT), WORK(0));

	cr_expect_eq(play.result.end, SIM_SCRIPT_WAITS);
	cr_expect_eq(play.result.at, play.first + 2);
	cr_expect_eq(play.result.waiting, 1u);
}

Test(director, nothing_comes_of_a_connection_that_was_cut)
{
	struct play play = PLAY(START(READER), START(OTHER), TURN(TO_SERVER), TURN(CUT), TURN(TO_SERVER));

	cr_expect_eq(play.result.end, SIM_SCRIPT_WAITS);
	cr_expect_eq(play.result.at, play.first + 4);
	cr_expect_eq(play.result.waiting, 1u, "the client connects again");
	cr_expect_eq(play.answers, 0u);
}

Test(director, the_server_answers_as_is_chosen)
{
	struct play play = PLAY(
		START(READER),
		{ .kind = SIM_TURN_TO_SERVER,
		  .choice = { .chosen = true, .grant = SMB_SERVER_GRANT_PROFILE, .status = STATUS_ACCESS_DENIED } },
		TURN(TO_CLIENT));

	cr_expect_eq(play.result.end, SIM_SCRIPT_PLAYED);
	cr_assert_eq(play.ends, 1u);
	cr_expect_eq(play.verdict[READER], SMB_OP_FAILED);
}

Test(director, a_signal_ends_a_wait)
{
	struct play play = PLAY(START(READER), TURN(TO_SERVER), { .kind = SIM_TURN_CANCEL, .argument = READER },
				WORK(0));

	cr_expect_eq(play.result.end, SIM_SCRIPT_PLAYED);
	cr_expect_eq(play.verdict[READER], SMB_OP_CANCELLED);
	cr_expect_eq(play.result.waiting, 1u, "the late answer");
}

Test(director, time_passes_by_the_clients_timers_alone)
{
	struct play still = PLAY(START(READER), TURN(TO_SERVER), WORK(0), TURN(TO_CLIENT));

	cr_expect_eq(still.result.end, SIM_SCRIPT_PLAYED);
	cr_expect_eq(still.now_ns, 1u);
}

Test(director, a_timer_comes_when_it_is_due_though_a_pdu_waits)
{
	struct play woken = PLAY(START(READER), TURN(WAKE), TURN(WAKE));

	cr_expect_eq(woken.result.end, SIM_SCRIPT_PLAYED);
	cr_expect_geq(woken.now_ns, ECHO_NS, "the client asks whether the server is there");
	cr_expect_eq(woken.waiting[SIM_CLIENT], 2u, "the READ and the ECHO");
	cr_expect_eq(woken.result.waiting, 1u);
}
