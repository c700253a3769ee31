/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrival times on warm connections against the formula. */
#include "sim/engine/tests/fixture.h"

#include <math.h>

#define CONNS_MAX 4
#define MESSAGES 3
#define WARM_UP_BYTES (64 << 20)

static const uint64_t rtts_ns[] = { 50000, 1000000, 20000000, 150000000 };
static const uint32_t conn_counts[] = { 1, 2, 4 };
static const uint64_t rates_bps[] = { 100000000, 1000000000, 10000000000 };
static const uint64_t sizes[] = { 200, 65536, 1048576 };

#define CELLS (G_N_ELEMENTS(rtts_ns) * G_N_ELEMENTS(conn_counts) * G_N_ELEMENTS(rates_bps))

struct cell {
	struct sim_engine *engine;
	struct sim_path_spec path;
	uint32_t conn_count;
	struct sim_conn *conns[CONNS_MAX];
	struct sim_queue *inbox;
	double worst;
	uint32_t checked;
};

static struct cell cells[CELLS];

/* The `nth` message that was sent, of whichever connection: the wire is a queue. */
static double formula_ns(const struct cell *cell, uint64_t bytes, uint32_t nth)
{
	uint64_t segments = (bytes + MSS_BYTES - 1) / MSS_BYTES;

	return (double)(nth * (bytes + segments * HEADER_BYTES)) * 8e9 / (double)cell->path.rate_bps +
	       (double)cell->path.rtt_ns / 2;
}

static void await_messages(struct cell *cell, uint32_t count, uint64_t bytes, uint64_t start_ns)
{
	uint32_t seen[CONNS_MAX] = { 0 };

	while (count) {
		struct sim_arrival *arrival = sim_queue_pop(cell->inbox);
		uint32_t conn = 0;

		while (cell->conns[conn] != arrival->conn)
			conn++;
		if (arrival->message && start_ns) {
			double want = formula_ns(cell, bytes, seen[conn]++ * cell->conn_count + conn + 1);
			double got = (double)(sim_engine_now_ns(cell->engine) - start_ns);

			cell->worst = fmax(cell->worst, fabs(got - want) / want);
			cell->checked++;
		}
		count -= arrival->message != NULL;
		sim_arrival_done(arrival);
	}
}

static void send_all(struct cell *cell, uint32_t count, uint64_t bytes)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t conn = 0; conn < cell->conn_count; conn++)
			sim_conn_send(cell->conns[conn], SIM_SERVER, cell, bytes);
}

static void cell_main(void *arg)
{
	struct cell *cell = arg;

	for (int i = 0; i < 4; i++) {
		send_all(cell, 1, WARM_UP_BYTES);
		await_messages(cell, cell->conn_count, 0, 0);
	}
	for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
		uint64_t start_ns = sim_engine_now_ns(cell->engine) + 1000000000;

		sim_sleep_until(cell->engine, start_ns);
		send_all(cell, MESSAGES, sizes[i]);
		await_messages(cell, MESSAGES * cell->conn_count, sizes[i], start_ns);
	}
}

static void fill_cells(struct sim_path_spec paths[CELLS])
{
	for (guint i = 0; i < CELLS; i++) {
		cells[i].conn_count = conn_counts[i % 3];
		cells[i].path.rate_bps = rates_bps[i / 3 % 3];
		cells[i].path.rtt_ns = rtts_ns[i / 9];
		paths[i] = cells[i].path;
	}
}

Test(sim_engine_formula, arrivals_on_warm_connections_match_the_formula)
{
	struct sim_path_spec paths[CELLS];
	struct sim_tcp_options options[2];
	struct sim_engine *engine;

	fill_cells(paths);
	big_buffers(options);
	options[SIM_SERVER].initial_window = 8192; /* the receive window is what the warm-up opens */
	engine = new_engine(paths, CELLS, 0);
	for (guint i = 0; i < CELLS; i++) {
		struct cell *cell = &cells[i];

		cell->engine = engine;
		cell->inbox = sim_queue_new(engine);
		for (uint32_t conn = 0; conn < cell->conn_count; conn++) {
			cell->conns[conn] = sim_conn_new(engine, i, options);
			sim_conn_set_inbox(cell->conns[conn], SIM_CLIENT, cell->inbox);
		}
		sim_thread_start(engine, SIM_CLIENT, "cell", cell_main, cell);
	}
	sim_engine_run(engine);
	for (guint i = 0; i < CELLS; i++) {
		cr_expect_eq(cells[i].checked, MESSAGES * G_N_ELEMENTS(sizes) * cells[i].conn_count);
		cr_expect_lt(cells[i].worst, 1e-4, "rtt %lu ns, %u connections, %lu bit/s: error %.5f %%",
			     cells[i].path.rtt_ns, cells[i].conn_count, cells[i].path.rate_bps, cells[i].worst * 100);
	}
	sim_engine_free(engine);
}
