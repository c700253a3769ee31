/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/engine/tests/fixture.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- determinism ------------------------------------------------------------------------------------------------ */

struct flow {
	struct sim_engine *engine;
	struct sim_conn *conn;
	struct sim_queue *inbox;
	uint64_t hash;
	uint64_t messages;
	uint64_t end_ns;
};

static void flow_main(void *arg)
{
	struct flow *flow = arg;

	for (guint i = 1; i <= 50; i++)
		sim_conn_send(flow->conn, SIM_SERVER, GUINT_TO_POINTER(i), 100000);
	while (flow->messages < 50) {
		struct sim_arrival *arrival = sim_queue_pop(flow->inbox);

		flow->end_ns = sim_engine_now_ns(flow->engine);
		flow->hash = (flow->hash ^ flow->end_ns ^ arrival->bytes) * UINT64_C(1099511628211);
		if (arrival->message)
			cr_assert_eq(GPOINTER_TO_UINT(arrival->message), ++flow->messages);
		sim_arrival_done(arrival);
	}
}

static struct flow run_flow(const struct sim_path_spec *path, uint64_t seed)
{
	struct flow flow = { .engine = new_engine(path, 1, seed) };
	struct sim_tcp_options options[2];

	big_buffers(options);
	flow.conn = sim_conn_new(flow.engine, 0, options);
	flow.inbox = sim_queue_new(flow.engine);
	sim_conn_set_inbox(flow.conn, SIM_CLIENT, flow.inbox);
	sim_thread_start(flow.engine, SIM_CLIENT, "flow", flow_main, &flow);
	sim_engine_run(flow.engine);
	sim_engine_free(flow.engine);
	return flow;
}

/* One engine per process: each run has a process of its own. */
static struct flow run_flow_apart(const struct sim_path_spec *path, uint64_t seed)
{
	struct flow flow;
	int ends[2], status;
	pid_t child;

	cr_assert_eq(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		flow = run_flow(path, seed);
		_exit(write(ends[1], &flow, sizeof(flow)) == sizeof(flow) ? 0 : 1);
	}
	cr_assert_eq(read(ends[0], &flow, sizeof(flow)), sizeof(flow));
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(ends[0]);
	close(ends[1]);
	return flow;
}

static const struct sim_path_spec lossy = { .rtt_ns = 10000000, .rate_bps = 100000000, .loss = 0.01 };
static const struct sim_path_spec jittery = { .rtt_ns = 10000000, .rate_bps = 100000000, .jitter_ns = 300000 };
static const struct sim_path_spec plain = { .rtt_ns = 10000000, .rate_bps = 100000000 };

Test(sim_engine, the_same_seed_gives_the_same_arrivals)
{
	cr_expect_eq(run_flow_apart(&lossy, 7).hash, run_flow_apart(&lossy, 7).hash);
	cr_expect_eq(run_flow_apart(&jittery, 7).hash, run_flow_apart(&jittery, 7).hash);
	cr_expect_eq(run_flow_apart(&plain, 7).hash, run_flow_apart(&plain, 8).hash, "no chance, no seed");
}

Test(sim_engine, another_seed_gives_other_arrivals_with_loss_or_jitter)
{
	cr_expect_neq(run_flow_apart(&lossy, 7).hash, run_flow_apart(&lossy, 8).hash);
	cr_expect_neq(run_flow_apart(&jittery, 7).hash, run_flow_apart(&jittery, 8).hash);
}

Test(sim_engine, loss_delays_but_delivers_every_message)
{
	struct flow with = run_flow_apart(&lossy, 3), without = run_flow_apart(&plain, 3);

	cr_expect_eq(with.messages, 50);
	cr_expect_gt(with.end_ns, without.end_ns);
}

/* --- threads ---------------------------------------------------------------------------------------------------- */

static struct {
	struct sim_engine *engine;
	struct sim_queue *queue;
	uint64_t ends_ns[3];
	int popped[4];
	int pop_count;
	void *timed_out;
	uint64_t timed_out_ns;
} threads;

static void work_main(void *arg)
{
	sim_cpu_use(threads.engine, 1000000);
	*(uint64_t *)arg = sim_engine_now_ns(threads.engine);
}

Test(sim_engine, three_threads_share_two_cores)
{
	threads.engine = new_engine(&plain, 1, 0);
	for (int i = 0; i < 3; i++)
		sim_thread_start(threads.engine, SIM_CLIENT, "worker", work_main, &threads.ends_ns[i]);
	sim_engine_run(threads.engine);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(threads.ends_ns[i], 1500000);
	sim_engine_free(threads.engine);
}

Test(sim_engine, client_and_server_may_be_one_host)
{
	const struct sim_topology topology = {
		.client = { "both", 1 }, .server = { "both", 1 }, .paths = &plain, .path_count = 1
	};

	threads.engine = sim_engine_new(&topology, NULL);
	sim_thread_start(threads.engine, SIM_CLIENT, "a", work_main, &threads.ends_ns[0]);
	sim_thread_start(threads.engine, SIM_SERVER, "b", work_main, &threads.ends_ns[1]);
	sim_engine_run(threads.engine);
	cr_expect_eq(threads.ends_ns[0], 2000000);
	cr_expect_eq(threads.ends_ns[1], 2000000);
	sim_engine_free(threads.engine);
}

static void push_main(void *arg)
{
	(void)arg;
	for (int i = 1; i <= 3; i++)
		sim_queue_push(threads.queue, GINT_TO_POINTER(i));
	cr_expect_eq(threads.pop_count, 0, "a push must not let the other thread run");
	sim_sleep_until(threads.engine, 5000);
	sim_queue_push(threads.queue, GINT_TO_POINTER(4));
}

static void pop_main(void *arg)
{
	(void)arg;
	while (threads.pop_count < 3)
		threads.popped[threads.pop_count++] = GPOINTER_TO_INT(sim_queue_pop(threads.queue));
	threads.timed_out = sim_queue_pop_until(threads.queue, 4000);
	threads.timed_out_ns = sim_engine_now_ns(threads.engine);
	threads.popped[threads.pop_count++] = GPOINTER_TO_INT(sim_queue_pop_until(threads.queue, 9000));
	sim_queue_pop(threads.queue); /* for ever */
	cr_assert_fail("nobody pushes a fifth item");
}

Test(sim_engine, a_queue_keeps_order_and_times_out_and_a_blocked_thread_ends_the_run)
{
	threads.engine = new_engine(&plain, 1, 0);
	threads.queue = sim_queue_new(threads.engine);
	sim_thread_start(threads.engine, SIM_CLIENT, "pop", pop_main, NULL);
	sim_thread_start(threads.engine, SIM_CLIENT, "push", push_main, NULL);
	cr_expect_eq(sim_engine_run(threads.engine), 5000);
	for (int i = 0; i < 4; i++)
		cr_expect_eq(threads.popped[i], i + 1);
	cr_expect_null(threads.timed_out);
	cr_expect_eq(threads.timed_out_ns, 4000);
	sim_engine_free(threads.engine);
}

static void block_main(void *arg)
{
	sim_queue_pop(arg);
}

Test(sim_engine, a_run_that_ends_with_blocked_threads_says_nothing_on_stderr)
{
	char said[4096] = "";
	int ends[2], status;
	ssize_t length;
	pid_t child;

	cr_assert_eq(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		threads.engine = new_engine(&plain, 1, 0);
		sim_thread_start(threads.engine, SIM_SERVER, "blocked", block_main, sim_queue_new(threads.engine));
		_exit(sim_engine_run(threads.engine) == 0 ? 0 : 1);
	}
	close(ends[1]);
	for (size_t at = 0; (length = read(ends[0], said + at, sizeof(said) - 1 - at)) > 0;)
		at += (size_t)length;
	waitpid(child, &status, 0);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	cr_expect_null(strstr(said, "blocked"), "%s", said); /* AddressSanitizer has a remark of its own */
	cr_expect_null(strstr(said, "eadlock"), "%s", said);
	close(ends[0]);
}

static void tick_main(void *arg)
{
	(void)arg;
	for (uint64_t i = 1;; i++) {
		sim_sleep_until(threads.engine, i * 1000);
		if (i == 10)
			sim_engine_stop(threads.engine);
	}
}

Test(sim_engine, stop_ends_a_run_that_would_go_on)
{
	threads.engine = new_engine(&plain, 1, 0);
	sim_thread_start(threads.engine, SIM_CLIENT, "tick", tick_main, NULL);
	sim_thread_start(threads.engine, SIM_SERVER, "tick", tick_main, NULL);
	cr_expect_eq(sim_engine_run(threads.engine), 10000);
	sim_engine_free(threads.engine);
}

/* --- cut -------------------------------------------------------------------------------------------------------- */

static struct {
	int dropped;
	int arrived;
	struct sim_conn *conn;
	struct sim_queue *inbox;
} cut;

static void count_drop(void *message, void *arg)
{
	cr_expect_eq(message, &cut);
	++*(int *)arg;
}

static void cut_main(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20; i++)
		sim_conn_send(cut.conn, SIM_SERVER, &cut, 1000000);
	sim_sleep_until(threads.engine, 400000000);
	sim_conn_cut(cut.conn, count_drop, &cut.dropped);
	sim_conn_send(cut.conn, SIM_SERVER, &cut, 1000);
}

static void cut_reader_main(void *arg)
{
	(void)arg;
	for (;;) {
		struct sim_arrival *arrival = sim_queue_pop(cut.inbox);

		cut.arrived += arrival->message != NULL;
		sim_arrival_done(arrival);
	}
}

Test(sim_engine, each_message_of_a_cut_connection_arrives_or_is_dropped)
{
	struct sim_tcp_options options[2];

	big_buffers(options);
	threads.engine = new_engine(&plain, 1, 0);
	cut.conn = sim_conn_new(threads.engine, 0, options);
	cut.inbox = sim_queue_new(threads.engine);
	sim_conn_set_inbox(cut.conn, SIM_CLIENT, cut.inbox);
	sim_thread_start(threads.engine, SIM_CLIENT, "cut", cut_main, NULL);
	sim_thread_start(threads.engine, SIM_CLIENT, "reader", cut_reader_main, NULL);
	sim_engine_run(threads.engine);
	cr_expect_gt(cut.arrived, 0);
	cr_expect_gt(cut.dropped, 1);
	cr_expect_eq(cut.arrived + cut.dropped, 21);
	sim_engine_free(threads.engine);
}

/* --- the socket's send buffer ----------------------------------------------------------------------------------- */

static uint64_t buffered_ns[2];

static void fill_main(void *arg)
{
	(void)arg;
	for (int i = 0; i < 2; i++) {
		sim_conn_send(cut.conn, SIM_SERVER, &cut, 4000000);
		cr_expect(sim_conn_wait_buffered(cut.conn, SIM_SERVER));
		buffered_ns[i] = sim_engine_now_ns(threads.engine);
	}
	sim_conn_send(cut.conn, SIM_SERVER, &cut, 4000000);
	sim_conn_cut(cut.conn, count_drop, &cut.dropped);
	cr_expect_not(sim_conn_wait_buffered(cut.conn, SIM_SERVER));
}

/* It holds at first 87 KB, then grows with the congestion window (Linux, tcp_sndbuf_expand): at 20 ms and no other limit
 * the first 4 MB are in it when the window has doubled five or six times, as the second channel's first WRITE of
 * captures/io-6.12-first30.tsv, mc2, tells: after 125 ms. */
Test(sim_engine, a_writer_waits_for_the_send_buffer_which_grows_with_the_window)
{
	static const struct sim_path_spec far = { .rtt_ns = 20000000 };
	struct sim_tcp_options options[2];

	big_buffers(options);
	threads.engine = new_engine(&far, 1, 0);
	cut.conn = sim_conn_new(threads.engine, 0, options);
	cut.inbox = sim_queue_new(threads.engine);
	sim_conn_set_inbox(cut.conn, SIM_CLIENT, cut.inbox);
	sim_thread_start(threads.engine, SIM_SERVER, "fill", fill_main, NULL);
	sim_thread_start(threads.engine, SIM_CLIENT, "reader", cut_reader_main, NULL);
	sim_engine_run(threads.engine);
	cr_expect(buffered_ns[0] >= 100000000 && buffered_ns[0] <= 140000000, "%lu", (unsigned long)buffered_ns[0]);
	cr_expect_gt(buffered_ns[1], buffered_ns[0]);
	cr_expect_leq(buffered_ns[1], 220000000);
	sim_engine_free(threads.engine);
}

/* --- what a sender can see -------------------------------------------------------------------------------------- */

static struct {
	uint64_t connected_ns;
	uint64_t unacked[3];
	uint64_t undone;
	GPtrArray *kept;
} seen;

static void look_main(void *arg)
{
	struct sim_arrival *arrival;

	(void)arg;
	sim_conn_connect(cut.conn);
	seen.connected_ns = sim_engine_now_ns(threads.engine);
	sim_conn_send(cut.conn, SIM_SERVER, &cut, 2 * MSS_BYTES);
	seen.unacked[0] = sim_conn_unacked_bytes(cut.conn, SIM_SERVER);
	arrival = sim_queue_pop(cut.inbox);
	seen.unacked[1] = sim_conn_unacked_bytes(cut.conn, SIM_SERVER);
	sim_sleep_until(threads.engine, sim_engine_now_ns(threads.engine) + plain.rtt_ns / 2);
	seen.unacked[2] = sim_conn_unacked_bytes(cut.conn, SIM_SERVER);
	sim_arrival_done(arrival);
	sim_conn_send(cut.conn, SIM_SERVER, &cut, 10 << 20);
	while ((arrival = sim_queue_pop(cut.inbox))) {
		seen.undone += arrival->bytes;
		g_ptr_array_add(seen.kept, arrival);
	}
}

Test(sim_engine, bytes_are_unacknowledged_for_a_round_trip_and_kept_arrivals_stop_the_sender)
{
	struct sim_tcp_options options[2];

	big_buffers(options);
	threads.engine = new_engine(&plain, 1, 0);
	cut.conn = sim_conn_new(threads.engine, 0, options);
	cut.inbox = sim_queue_new(threads.engine);
	sim_conn_set_inbox(cut.conn, SIM_CLIENT, cut.inbox);
	seen.kept = g_ptr_array_new();
	sim_thread_start(threads.engine, SIM_CLIENT, "look", look_main, NULL);
	sim_engine_run(threads.engine);
	cr_expect_eq(seen.connected_ns, plain.rtt_ns);
	cr_expect_eq(seen.unacked[0], 2 * MSS_BYTES);
	cr_expect_eq(seen.unacked[1], 2 * MSS_BYTES);
	cr_expect_eq(seen.unacked[2], 0);
	cr_expect(seen.undone > 0 && seen.undone <= 65536, "%lu bytes", seen.undone);
	for (guint i = 0; i < seen.kept->len; i++)
		sim_arrival_done(g_ptr_array_index(seen.kept, i));
	g_ptr_array_free(seen.kept, TRUE);
	sim_engine_free(threads.engine);
}

/* --- platform --------------------------------------------------------------------------------------------------- */

Test(sim_engine, an_impossible_topology_is_refused_with_a_reason)
{
	const struct sim_path_spec always_lost = { .loss = 1 };
	const struct sim_topology wrong[] = {
		{ .client = { "a", 1 }, .server = { "b", 1 } },
		{ .client = { "a", 0 }, .server = { "b", 1 }, .paths = &plain, .path_count = 1 },
		{ .client = { "a", 1 }, .server = { NULL, 1 }, .paths = &plain, .path_count = 1 },
		{ .client = { "a", 1 }, .server = { "b", 1 }, .paths = &always_lost, .path_count = 1 },
	};

	for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
		GError *error = NULL;

		cr_expect_null(sim_engine_new(&wrong[i], &error));
		cr_assert_not_null(error);
		cr_expect(g_str_has_prefix(error->message, "Cannot build"));
		g_error_free(error);
	}
}

Test(sim_engine, the_platform_names_hosts_with_any_character)
{
	const struct sim_topology topology = {
		.client = { "a<b>&\"c", 3 }, .server = { "b", 1 }, .paths = &plain, .path_count = 1
	};
	struct sim_engine *engine = sim_engine_new(&topology, NULL);

	cr_assert(engine);
	cr_expect(strstr(sim_engine_platform_xml(engine), "core=\"3\""));
	cr_expect(strstr(sim_engine_platform_xml(engine), "latency=\"0s\""));
	sim_engine_free(engine);
}

/* --- several clients -------------------------------------------------------------------------------------------- */

struct spender {
	struct sim_engine *engine;
	uint64_t end_ns;
};

static void spender_main(void *arg)
{
	struct spender *spender = arg;

	sim_cpu_use(spender->engine, 1000000);
	spender->end_ns = sim_engine_now_ns(spender->engine);
}

Test(engine, clients_have_processors_of_their_own)
{
	static const struct sim_path_spec paths[] = { { .rtt_ns = 1000 }, { .rtt_ns = 1000, .client = 1 } };
	const struct sim_topology topology = {
		.client = { "client", 1 }, .client_count = 2, .server = { "server", 1 }, .paths = paths, .path_count = 2
	};
	struct sim_engine *engine = sim_engine_new(&topology, NULL);
	struct spender spenders[4];
	static const uint32_t clients[] = { 0, 1, 1, 0 }, expected_ns[] = { 1000000, 2000000, 2000000, 1000000 };

	cr_assert(engine);
	for (guint i = 0; i < 4; i++)
		spenders[i] = (struct spender){ .engine = engine };
	for (guint i = 0; i < 3; i++)
		sim_client_thread_start(engine, clients[i], "spender", spender_main, &spenders[i]);
	sim_thread_start(engine, SIM_SERVER, "spender", spender_main, &spenders[3]);
	sim_engine_run(engine);
	for (guint i = 0; i < 4; i++)
		cr_expect_float_eq((double)spenders[i].end_ns, expected_ns[i], 2000, "%u: %g", i,
				   (double)spenders[i].end_ns);
	sim_engine_free(engine);
}

Test(engine, a_path_must_belong_to_a_client)
{
	static const struct sim_path_spec path = { .rtt_ns = 1000, .client = 1 };
	const struct sim_topology topology = {
		.client = { "client", 1 }, .server = { "server", 1 }, .paths = &path, .path_count = 1
	};
	g_autoptr(GError) error = NULL;

	cr_assert_null(sim_engine_new(&topology, &error));
	cr_expect(strstr(error->message, "belongs to no client"), "%s", error->message);
}

/* Threads that hand a token on in a ring, at one time; the last one sleeps on it. */
#define RING 5
#define ROUNDS 3
struct ring_place {
	struct sim_engine *engine;
	struct sim_queue *in, *out;
	uint32_t passed;
};

static void ring_main(void *arg)
{
	struct ring_place *place = arg;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		void *token = sim_queue_pop(place->in);

		place->passed++;
		sim_queue_push(place->out, token);
	}
	sim_sleep_until(place->engine, 500);
	place->passed++;
}

struct rest {
	struct sim_engine *engine;
	struct ring_place *places;
	uint32_t passed; /* in all when it had come to rest */
	uint64_t now_ns;
	uint32_t passed_later; /* the same at 500 ns */
};

static uint32_t passed_in_all(const struct ring_place *places)
{
	uint32_t passed = 0;

	for (guint i = 0; i < RING; i++)
		passed += places[i].passed;
	return passed;
}

static void rest_main(void *arg)
{
	struct rest *rest = arg;

	sim_queue_push(rest->places[0].in, rest);
	sim_engine_rest(rest->engine);
	rest->passed = passed_in_all(rest->places);
	rest->now_ns = sim_engine_now_ns(rest->engine);
	sim_sleep_until(rest->engine, 500);
	sim_engine_rest(rest->engine);
	rest->passed_later = passed_in_all(rest->places);
}

Test(engine, at_rest_all_that_can_happen_at_this_time_has_happened_and_nothing_later)
{
	static const struct sim_path_spec path = { .rtt_ns = 1000 };
	const struct sim_topology topology = {
		.client = { "client", 1 }, .server = { "server", 1 }, .paths = &path, .path_count = 1
	};
	struct sim_engine *engine = sim_engine_new(&topology, NULL);
	struct ring_place places[RING];
	struct rest rest = { .engine = engine, .places = places };

	cr_assert(engine);
	for (guint i = 0; i < RING; i++)
		places[i] = (struct ring_place){ .engine = engine, .in = sim_queue_new(engine) };
	for (guint i = 0; i < RING; i++) {
		places[i].out = places[(i + 1) % RING].in;
		sim_thread_start(engine, SIM_CLIENT, "place", ring_main, &places[i]);
	}
	sim_thread_start(engine, SIM_SERVER, "rest", rest_main, &rest);
	sim_engine_run(engine);
	cr_expect_eq(rest.passed, (uint32_t)RING * ROUNDS);
	cr_expect_eq(rest.now_ns, 0u);
	cr_expect_eq(rest.passed_later, (uint32_t)RING * (ROUNDS + 1));
	sim_engine_free(engine);
}
