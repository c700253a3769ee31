/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_ENGINE_TESTS_FIXTURE_H
#define SIM_ENGINE_TESTS_FIXTURE_H

#include "sim/engine/engine.h"

#include <criterion/criterion.h>

#define MSS_BYTES 1448
#define HEADER_BYTES 66

static inline struct sim_engine *new_engine(const struct sim_path_spec *paths, uint32_t path_count, uint64_t seed)
{
	const struct sim_topology topology = {
		.client = { "client", 2 },
		.server = { "server", 2 },
		.paths = paths,
		.path_count = path_count,
		.seed = seed,
	};
	struct sim_engine *engine = sim_engine_new(&topology, NULL);

	cr_assert(engine);
	return engine;
}

static inline void big_buffers(struct sim_tcp_options options[2])
{
	for (int side = SIM_CLIENT; side <= SIM_SERVER; side++) {
		sim_tcp_defaults(&options[side]);
		options[side].send_buffer_bytes = options[side].receive_buffer_bytes = 1 << 30;
		options[side].nagle = false;
		options[side].slow_start_after_idle = false;
	}
}

#endif
