/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What SimGrid alone can do: one actor, one link, one blocking sendto after another. */

#include "sim/engine/internal.h"

#include <time.h>

struct bare_loop {
	struct sim_engine *engine;
	uint32_t messages;
	uint64_t bytes;
	double seconds;
};

static void loop_main(void *arg)
{
	struct bare_loop *loop = arg;
	const struct sim_wire *wire = &loop->engine->wires[0][SIM_SERVER];
	clock_t start = clock();

	for (uint32_t i = 0; i < loop->messages; i++)
		sg_host_sendto(wire->from, wire->to, (double)loop->bytes);
	loop->seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
}

double sim_engine_bare_seconds(uint32_t messages, uint64_t bytes, GError **error)
{
	const struct sim_path_spec path = { .rate_bps = UINT64_C(10000000000) };
	const struct sim_topology topology = {
		.client = { "client", 1 }, .server = { "server", 1 }, .paths = &path, .path_count = 1
	};
	struct bare_loop loop = { .messages = messages, .bytes = bytes };

	loop.engine = sim_engine_new(&topology, error);
	if (!loop.engine)
		return -1;
	sim_thread_start(loop.engine, SIM_SERVER, "bare", loop_main, &loop);
	sim_engine_run(loop.engine);
	sim_engine_free(loop.engine);
	return loop.seconds;
}
