/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The default point, named networks, names of outcomes. */

#include "protocol/client/client.h"
#include "sim/world/world.h"

static const struct sim_network_preset presets[] = {
	{ "localhost", "client and server on one machine, loopback", 30000, 0 },
	{ "lan-1g", "one switch, 1 Gbit/s", 200000, UINT64_C(1000000000) },
	{ "lan-10g", "one switch, 10 Gbit/s", 100000, UINT64_C(10000000000) },
	{ "metro", "another building or availability zone, 10 Gbit/s", 1000000, UINT64_C(10000000000) },
	{ "transatlantic", "Frankfurt to Virginia, 1 Gbit/s", 90000000, UINT64_C(1000000000) },
	{ "transpacific", "Tokyo to California and beyond, 1 Gbit/s", 150000000, UINT64_C(1000000000) },
};

const struct sim_network_preset *sim_network_presets(size_t *count)
{
	*count = G_N_ELEMENTS(presets);
	return presets;
}

const char *sim_outcome_name(enum sim_outcome outcome)
{
	static const char *const names[] = {
		[SIM_OUTCOME_FINISHED] = "finished",	 [SIM_OUTCOME_STUCK] = "stuck",
		[SIM_OUTCOME_TIME_LIMIT] = "time_limit", [SIM_OUTCOME_FAILED] = "failed",
		[SIM_OUTCOME_IMPOSSIBLE] = "impossible",
	};
	return names[outcome];
}

void sim_point_init(struct sim_point *point)
{
	*point = (struct sim_point){
		.policy = smb_era_find("6.1")->policy,
		.page_bytes = 4096,
		.client_memory_bytes = SMB_CLIENT_MEMORY_DEFAULT,
		.clients = 1,
		.client_cores = 4,
		.server_cores = 4,
		.client_costs = { .request_cpu_ns = 5000,
				  .receive_cpu_ns_per_byte = 0.2,
				  .send_cpu_ns_per_byte = 0.2,
				  .copy_cpu_ns_per_byte = 0.1,
				  .page_cpu_ns = 150,
				  .syscall_cpu_ns = 300,
				  .command_cpu_ns = 700000 },
		.network = { .rtt_ns = 100000, .rate_bps = UINT64_C(10000000000), .nics = 1 },
		.seed = 1,
		.monitor = true,
	};
	smb_mount_options_default(&point->mount);
	sim_tcp_defaults(&point->network.tcp[SIM_CLIENT]);
	sim_tcp_defaults(&point->network.tcp[SIM_SERVER]);
	point->network.tcp[SIM_SERVER].nagle = false; /* Samba `socket options = TCP_NODELAY`; Windows likewise */
}
