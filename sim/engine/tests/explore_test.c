/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs whose order is chosen from outside, in the one order that SimGrid has without simgrid-mc. */
#include "sim/engine/explore.h"

#include <criterion/criterion.h>

#define SECOND UINT64_C(1000000000)

static const struct sim_path_spec path = { .rtt_ns = 0 };
static const struct sim_topology platform = {
	.client = { "client", 1 }, .server = { "server", 1 }, .paths = &path, .path_count = 1
};

struct run {
	struct sim_engine *engine;
	struct sim_queue *queue;
	void (*threads[3])(void *run);
	uint64_t limit_ns;
	GString *log;
	void *popped;
	bool ended;
};

static void main_of(void *arg)
{
	struct run *run = arg;

	run->engine = sim_engine_new(&platform, NULL);
	run->queue = sim_queue_new(run->engine);
	for (size_t i = 0; i < G_N_ELEMENTS(run->threads) && run->threads[i]; i++)
		sim_thread_start(run->engine, SIM_CLIENT, "thread", run->threads[i], run);
	sim_engine_run(run->engine);
	sim_engine_free(run->engine);
	run->ended = true;
}

static bool explore(struct run *run, uint32_t alarms, GError **error)
{
	const struct sim_exploration exploration = {
		.platform = &platform, .alarms = alarms, .main = main_of, .arg = run
	};

	run->log = g_string_new(NULL);
	return sim_explore(&exploration, error);
}

static void sleeps_long(void *arg)
{
	struct run *run = arg;

	sim_sleep_until(run->engine, 2 * SECOND);
	g_string_append(run->log, "long ");
	sim_engine_stop(run->engine);
}

static void sleeps_short(void *arg)
{
	struct run *run = arg;

	sim_sleep_until(run->engine, SECOND);
	g_string_append(run->log, "short ");
}

static void never_wakes(void *arg)
{
	struct run *run = arg;

	sim_sleep_until(run->engine, 3600 * SECOND);
	g_string_append(run->log, "never ");
	sim_engine_stop(run->engine);
}

static void pops(void *arg)
{
	struct run *run = arg;

	run->popped = sim_queue_pop_until(run->queue, run->limit_ns);
	g_string_append(run->log, run->popped ? "item " : "limit ");
	sim_engine_stop(run->engine);
}

static void pushes(void *arg)
{
	struct run *run = arg;

	sim_queue_push(run->queue, run);
}

Test(explore, sleeps_end_in_their_order_and_a_watchdog_never_barks)
{
	struct run run = { .threads = { sleeps_long, never_wakes, sleeps_short } };

	cr_assert(explore(&run, 0, NULL));
	cr_expect(run.ended);
	cr_expect_str_eq(run.log->str, "short long ");
}

Test(explore, an_item_comes_before_a_limit)
{
	struct run run = { .threads = { pops, pushes }, .limit_ns = SECOND };

	cr_assert(explore(&run, 0, NULL));
	cr_expect_str_eq(run.log->str, "item ");
	cr_expect_eq(run.popped, &run);
}

Test(explore, a_limit_is_reached_when_nothing_else_can_happen)
{
	struct run run = { .threads = { pops }, .limit_ns = SECOND };

	cr_assert(explore(&run, 0, NULL));
	cr_expect_str_eq(run.log->str, "limit ");
}

Test(explore, a_limit_far_away_is_reached_by_an_alarm_only)
{
	struct run run = { .threads = { pops }, .limit_ns = 60 * SECOND };

	cr_assert(explore(&run, 1, NULL));
	cr_expect_str_eq(run.log->str, "limit ");
}

Test(explore, a_run_that_cannot_go_on_is_an_error)
{
	struct run run = { .threads = { pops }, .limit_ns = 60 * SECOND };
	GError *error = NULL;

	cr_assert_not(explore(&run, 0, &error));
	cr_expect_not(run.ended);
	cr_expect(strstr(error->message, "does not end"), "%s", error->message);
}
