/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages a second through warm connections of the engine (request, response, both sides' inboxes), beside a bare
 * sg_host_sendto loop in the same process, so that the ratio does not depend on the machine. */
#include "sim/engine/internal.h"

#include <stdio.h>
#include <time.h>

#define REQUESTS 20000
#define ROUNDS 5
#define REQUEST_BYTES 117
#define WARM_UP 2000
#define DEPTH 8

struct point {
	const char *name;
	uint32_t path;
	uint64_t response_bytes;
};

struct bench {
	struct sim_engine *engine;
	struct sim_conn *conn;
	struct sim_queue *inbox[2];
	uint64_t response_bytes;
};

static const struct sim_path_spec paths[] = {
	{ .rtt_ns = 0, .rate_bps = 0 },
	{ .rtt_ns = 50000, .rate_bps = 10000000000 },
	{ .rtt_ns = 20000000, .rate_bps = 10000000000 },
};

static const struct point points[] = {
	{ "localhost, 64 KiB", 0, 65536 + 84 },	       { "10 Gbit/s 50 us, 64 KiB", 1, 65536 + 84 },
	{ "10 Gbit/s 20 ms, 64 KiB", 2, 65536 + 84 },  { "localhost, 1 MiB", 0, 1048576 + 84 },
	{ "10 Gbit/s 50 us, 1 MiB", 1, 1048576 + 84 }, { "10 Gbit/s 20 ms, 1 MiB", 2, 1048576 + 84 },
};

static struct bench benches[G_N_ELEMENTS(points)];
static double processor_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void server_main(void *arg)
{
	struct bench *bench = arg;

	for (;;) {
		struct sim_arrival *arrival = sim_queue_pop(bench->inbox[SIM_SERVER]);

		if (arrival->message)
			sim_conn_send(bench->conn, SIM_SERVER, arrival->message, bench->response_bytes);
		sim_arrival_done(arrival);
	}
}

static void exchange(struct bench *bench, uint32_t count)
{
	uint32_t sent = 0, received = 0;

	while (sent < DEPTH)
		sim_conn_send(bench->conn, SIM_CLIENT, GUINT_TO_POINTER(++sent), REQUEST_BYTES);
	while (received < count) {
		struct sim_arrival *arrival = sim_queue_pop(bench->inbox[SIM_CLIENT]);

		received += arrival->message != NULL;
		if (arrival->message && sent < count)
			sim_conn_send(bench->conn, SIM_CLIENT, GUINT_TO_POINTER(++sent), REQUEST_BYTES);
		sim_arrival_done(arrival);
	}
}

static double bare_rate(struct sim_engine *engine)
{
	const struct sim_wire *wire = &engine->wires[1][SIM_SERVER];
	double start = processor_seconds();

	for (int i = 0; i < REQUESTS; i++)
		sg_host_sendto(wire->from, wire->to, 65536);
	return REQUESTS / (processor_seconds() - start);
}

static double exchange_rate(struct bench *bench)
{
	double start = processor_seconds();

	exchange(bench, REQUESTS);
	return 2 * REQUESTS / (processor_seconds() - start);
}

/* The two alternate, and the best of each counts: other load on the machine comes and goes. */
static void client_main(void *arg)
{
	struct sim_engine *engine = arg;

	for (guint i = 0; i < G_N_ELEMENTS(points); i++) {
		double rate = 0, bare = 0;

		exchange(&benches[i], WARM_UP);
		for (int round = 0; round < ROUNDS; round++) {
			bare = MAX(bare, bare_rate(engine));
			rate = MAX(rate, exchange_rate(&benches[i]));
		}
		printf("%-26s %8.0f messages/s, bare sendto %8.0f, ratio %.2f\n", points[i].name, rate, bare,
		       rate / bare);
	}
	sim_engine_stop(engine);
}

int main(void)
{
	const struct sim_topology topology = {
		.client = { "client", 4 },
		.server = { "server", 4 },
		.paths = paths,
		.path_count = G_N_ELEMENTS(paths),
	};
	struct sim_engine *engine = sim_engine_new(&topology, NULL);
	struct sim_tcp_options options[2];

	sim_tcp_defaults(&options[SIM_CLIENT]);
	options[SIM_CLIENT].receive_buffer_bytes = options[SIM_CLIENT].send_buffer_bytes = 256 << 20;
	options[SIM_CLIENT].nagle = false;
	options[SIM_SERVER] = options[SIM_CLIENT];
	for (guint i = 0; i < G_N_ELEMENTS(points); i++) {
		struct bench *bench = &benches[i];

		*bench = (struct bench){ .engine = engine, .response_bytes = points[i].response_bytes };
		bench->conn = sim_conn_new(engine, points[i].path, options);
		for (int side = SIM_CLIENT; side <= SIM_SERVER; side++) {
			bench->inbox[side] = sim_queue_new(engine);
			sim_conn_set_inbox(bench->conn, side, bench->inbox[side]);
		}
		sim_thread_start(engine, SIM_SERVER, "server", server_main, bench);
	}
	sim_thread_start(engine, SIM_CLIENT, "client", client_main, engine);
	sim_engine_run(engine);
	sim_engine_free(engine);
	return 0;
}
