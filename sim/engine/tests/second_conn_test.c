/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a second channel's first READ takes while another channel is busy, beside a real kernel (RTT 80 ms, 400 Mbit/s;
 * captures: io-6.1-rtt80-400mbit-first30.tsv, mc4-ra16M). Times are those of the capture, the first READ sent at 0. */
#include "sim/engine/engine.h"

#include <criterion/criterion.h>
#include <math.h>

#define MS 1000000
#define REQUEST_BYTES 117
#define INTERIM_BYTES 77
#define RESPONSE_HEAD_BYTES 84
#define INTERIM_NS (11 * MS / 10) /* from the request's arrival to STATUS_PENDING, as in the segment trace */
#define PREAD_NS_PER_BYTE 0.63 /* from there to the data */
#define READS_MAX 4
#define TOLERANCE 0.02

struct read {
	int conn;
	double sent_ms;
	uint64_t bytes;
	double latency_ms; /* in the capture */
	double done_ms;
};

/* READs 0 to 3; the second goes to a new connection, the next two follow on the first. */
static const struct read busy[] = {
	{ .conn = 0, .sent_ms = 0, .bytes = 2 << 20, .latency_ms = 647.28 },
	{ .conn = 1, .sent_ms = 651.06, .bytes = 4 << 20, .latency_ms = 2345.54 },
	{ .conn = 0, .sent_ms = 656.48, .bytes = 4 << 20, .latency_ms = 207.36 },
	{ .conn = 0, .sent_ms = 737.61, .bytes = 4 << 20, .latency_ms = 215.06 },
};

/* No READ of 4 MiB in the captures has a cold connection and the wire for itself; the first WRITE has (w default, 0). */
static const struct read quiet[] = {
	{ .conn = 1, .sent_ms = 0, .bytes = 4 << 20, .latency_ms = 737.26 },
};

static struct {
	struct sim_engine *engine;
	struct sim_conn *conns[2];
	struct sim_queue *inbox[2];
	struct read reads[READS_MAX];
	size_t count;
} replay;

static uint64_t interim_mark;

static void sender_main(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < replay.count; i++) {
		sim_sleep_until(replay.engine, (uint64_t)(replay.reads[i].sent_ms * MS));
		sim_conn_send(replay.conns[replay.reads[i].conn], SIM_CLIENT, &replay.reads[i], REQUEST_BYTES);
	}
}

static void receiver_main(void *arg)
{
	(void)arg;
	for (;;) {
		struct sim_arrival *arrival = sim_queue_pop(replay.inbox[SIM_CLIENT]);
		struct read *read = arrival->message;

		if (arrival->message && arrival->message != &interim_mark)
			read->done_ms = (double)sim_engine_now_ns(replay.engine) / MS;
		sim_arrival_done(arrival);
	}
}

static void server_main(void *arg)
{
	(void)arg;
	for (;;) {
		struct sim_arrival *arrival = sim_queue_pop(replay.inbox[SIM_SERVER]);
		struct sim_conn *conn = arrival->conn;
		struct read *read = arrival->message;

		sim_arrival_done(arrival);
		sim_cpu_use(replay.engine, INTERIM_NS);
		sim_conn_send(conn, SIM_SERVER, &interim_mark, INTERIM_BYTES);
		sim_cpu_use(replay.engine, (uint64_t)(PREAD_NS_PER_BYTE * (double)read->bytes));
		sim_conn_send(conn, SIM_SERVER, read, RESPONSE_HEAD_BYTES + read->bytes);
	}
}

static void run_replay(const struct read *reads, size_t count)
{
	const struct sim_path_spec path = { .rtt_ns = 80 * MS, .rate_bps = 400000000 };
	const struct sim_topology topology = {
		.client = { "client", 1 }, .server = { "server", 1 }, .paths = &path, .path_count = 1
	};
	struct sim_tcp_options options[2];

	sim_tcp_defaults(&options[SIM_CLIENT]);
	options[SIM_CLIENT].send_buffer_bytes = options[SIM_CLIENT].receive_buffer_bytes = 64 << 20;
	options[SIM_SERVER] = options[SIM_CLIENT];
	options[SIM_SERVER].nagle = false;
	memcpy(replay.reads, reads, count * sizeof(*reads));
	replay.count = count;
	replay.engine = sim_engine_new(&topology, NULL);
	for (int side = SIM_CLIENT; side <= SIM_SERVER; side++)
		replay.inbox[side] = sim_queue_new(replay.engine);
	for (int i = 0; i < 2; i++) {
		replay.conns[i] = sim_conn_new(replay.engine, 0, options);
		for (int side = SIM_CLIENT; side <= SIM_SERVER; side++)
			sim_conn_set_inbox(replay.conns[i], side, replay.inbox[side]);
	}
	sim_thread_start(replay.engine, SIM_CLIENT, "sender", sender_main, NULL);
	sim_thread_start(replay.engine, SIM_CLIENT, "receiver", receiver_main, NULL);
	sim_thread_start(replay.engine, SIM_SERVER, "server", server_main, NULL);
	sim_engine_run(replay.engine);
	sim_engine_free(replay.engine);
}

static void expect_latencies(void)
{
	for (size_t i = 0; i < replay.count; i++) {
		const struct read *read = &replay.reads[i];
		double latency_ms = read->done_ms - read->sent_ms;

		cr_expect(fabs(latency_ms - read->latency_ms) <= TOLERANCE * read->latency_ms,
			  "READ %zu took %.1f ms, really %.1f ms", i, latency_ms, read->latency_ms);
	}
}

Test(second_conn, a_busy_neighbour_ends_the_slow_start_of_a_new_connection_as_in_the_real_kernel)
{
	run_replay(busy, G_N_ELEMENTS(busy));
	expect_latencies();
}

Test(second_conn, without_a_neighbour_it_doubles_each_round_trip_as_in_the_real_kernel)
{
	run_replay(quiet, G_N_ELEMENTS(quiet));
	expect_latencies();
}
