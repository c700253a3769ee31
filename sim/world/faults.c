/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What goes wrong at given times: connections that end, NICs that go and come. */

#include "sim/world/world_internal.h"

#define UNLIMITED_AS_BPS UINT64_C(10000000000) /* what the server says of a link without a limit */

uint64_t world_nic_rate(const struct sim_network *network, uint32_t nic)
{
	return network->nic_rate_bps[nic] ? network->nic_rate_bps[nic] : network->rate_bps;
}

struct smb_server_interface world_nic_interface(const struct world *world, uint32_t nic)
{
	const struct sim_network *network = &world->point->network;
	uint64_t rate_bps = world_nic_rate(network, nic);

	return (struct smb_server_interface){
		.speed_bps = rate_bps ? rate_bps : UNLIMITED_AS_BPS,
		.rss = !network->nic_without_rss[nic],
		.down = world->nic_down[nic],
	};
}

static void change_nic(struct world *world, uint32_t nic, bool down)
{
	struct smb_server_interface interface;

	world->nic_down[nic] = down;
	interface = world_nic_interface(world, nic);
	smb_server_set_interface(world->server, nic, &interface);
	for (uint32_t i = 0; down && i < SMB_CHANNELS_MAX; i++) {
		if (world->channels[i].open && world->channels[i].path == nic)
			world_channel_close(world, i, true);
	}
}

static void apply(struct world *world, const struct sim_fault *fault)
{
	switch (fault->kind) {
	case SIM_FAULT_CUT:
		world_channel_close(world, fault->index, true);
		break;
	case SIM_FAULT_NIC_DOWN:
	case SIM_FAULT_NIC_UP:
		change_nic(world, fault->index, fault->kind == SIM_FAULT_NIC_DOWN);
		break;
	}
	world_client_drain(world);
}

/* The earliest one not done yet, the first named of several; NULL: all are done. */
static const struct sim_fault *next_fault(const struct sim_point *point, uint32_t done)
{
	const struct sim_fault *next = NULL;

	for (uint32_t i = 0; i < point->fault_count; i++) {
		if (!(done >> i & 1) && (!next || point->faults[i].when_ns < next->when_ns))
			next = &point->faults[i];
	}
	return next;
}

static void faults_main(void *arg)
{
	struct world *world = arg;
	const struct sim_fault *fault;
	uint32_t done = 0;

	while ((fault = next_fault(world->point, done))) {
		sim_sleep_until(world->engine, world->begun_ns + fault->when_ns);
		done |= UINT32_C(1) << (fault - world->point->faults);
		apply(world, fault);
	}
}

void world_faults_start(struct world *world)
{
	if (world->point->fault_count && world->number == 0)
		world_thread_start(world, "faults", faults_main, world);
}
