/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two connections, one wire. */
#include "sim/engine/tests/fixture.h"

#define RTT_NS 20000000
#define RATE_BPS 100000000
#define BIG_BYTES (1000 * MSS_BYTES)

static struct {
	struct sim_engine *engine;
	struct sim_conn *conns[2];
	struct sim_queue *inbox;
	uint64_t arrived_ns[2]; /* when each connection's message was there */
	bool cut;
} two;

static uint64_t wire_ns(uint64_t segments)
{
	return segments * (MSS_BYTES + HEADER_BYTES) * 8 * (1000000000 / RATE_BPS);
}

static void drop(void *message, void *arg)
{
	(void)message;
	(void)arg;
}

static void two_main(void *arg)
{
	(void)arg;
	sim_conn_send(two.conns[0], SIM_SERVER, &two.arrived_ns[0], BIG_BYTES);
	sim_conn_send(two.conns[1], SIM_SERVER, &two.arrived_ns[1], MSS_BYTES);
	if (two.cut) {
		sim_sleep_until(two.engine, 1000000);
		sim_conn_cut(two.conns[0], drop, NULL);
	}
	for (;;) {
		struct sim_arrival *arrival = sim_queue_pop(two.inbox);

		if (arrival->message)
			*(uint64_t *)arrival->message = sim_engine_now_ns(two.engine);
		sim_arrival_done(arrival);
	}
}

/* The first connection may send `window` segments at once, and the application gave it more. */
static void run_two(uint32_t window)
{
	const struct sim_path_spec path = { .rtt_ns = RTT_NS, .rate_bps = RATE_BPS };
	struct sim_tcp_options options[2];

	big_buffers(options);
	two.engine = new_engine(&path, 1, 0);
	two.inbox = sim_queue_new(two.engine);
	for (int i = 0; i < 2; i++) {
		options[SIM_SERVER].initial_window = i ? 10 : window;
		two.conns[i] = sim_conn_new(two.engine, 0, options);
		sim_conn_set_inbox(two.conns[i], SIM_CLIENT, two.inbox);
	}
	sim_thread_start(two.engine, SIM_CLIENT, "two", two_main, NULL);
	sim_engine_run(two.engine);
	sim_engine_free(two.engine);
}

Test(sim_wire, a_segment_waits_for_all_that_another_connection_has_in_the_queue)
{
	run_two(40);
	cr_expect_eq(two.arrived_ns[1], wire_ns(41) + RTT_NS / 2, "after %lu ns", two.arrived_ns[1]);
	cr_expect_gt(two.arrived_ns[0], two.arrived_ns[1]);
}

Test(sim_wire, what_a_window_still_holds_back_is_not_in_the_queue)
{
	run_two(4);
	cr_expect_eq(two.arrived_ns[1], wire_ns(5) + RTT_NS / 2, "after %lu ns", two.arrived_ns[1]);
}

Test(sim_wire, a_cut_connection_leaves_the_queue_to_the_others)
{
	two.cut = true;
	run_two(40);
	cr_expect_eq(two.arrived_ns[0], 0);
	cr_expect_gt(two.arrived_ns[1], RTT_NS / 2);
	cr_expect_lt(two.arrived_ns[1], wire_ns(41) + RTT_NS / 2);
}
