/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The run over time: evenly spaced samples, half as dense each time the array is full. */

#include "sim/world/world_internal.h"

#define FIRST_INTERVAL_NS 10000u

static void halve(struct world *world)
{
	struct sim_result *result = world->result;

	for (uint32_t i = 0; i < SIM_SAMPLES_MAX / 2; i++)
		result->samples[i] = result->samples[2 * i];
	result->sample_count = SIM_SAMPLES_MAX / 2;
	world->sample_every_ns *= 2;
}

static int64_t credits_of(const struct world *world, uint32_t channel)
{
	if (world->monitor) {
		struct smb_monitor_channel numbers;
		smb_monitor_look(world->monitor, channel, &numbers);
		return numbers.credits;
	}
	struct smb_channel_info info;
	smb_client_look_channel(world->client, channel, &info);
	return (int64_t)info.credits + info.credits_echo + info.credits_oplock;
}

/* The state as it is from now on, and what of it is extreme. */
static void look(struct world *world)
{
	struct sim_result *result = world->result;
	struct sim_sample *held = &world->sample_held;

	*held = (struct sim_sample){
		.reads_in_flight = world->read_count,
		.bytes_in_flight = world->read_bytes,
		.bytes_done = result->bytes,
	};
	for (uint32_t channel = 0; channel < SMB_CHANNELS_MAX; channel++) {
		if (!world->channels[channel].open)
			continue;
		int64_t credits = credits_of(world, channel);
		result->credits_min = MIN(result->credits_min, credits);
		if (channel < G_N_ELEMENTS(held->credits))
			held->credits[channel] = credits;
	}
	result->inflight_max = MAX(result->inflight_max, world->read_count);
	result->inflight_max_bytes = MAX(result->inflight_max_bytes, world->read_bytes);
}

static void keep(struct world *world)
{
	struct sim_result *result = world->result;

	if (result->sample_count == SIM_SAMPLES_MAX)
		halve(world);
	result->samples[result->sample_count] = world->sample_held;
	result->samples[result->sample_count++].when_ns = world->sample_due_ns - world->begun_ns;
	world->sample_due_ns += world->sample_every_ns;
}

/* A sample shows what held at its time: the state that the event before it left, not the one this event leaves. */
void world_sample(struct world *world)
{
	uint64_t now_ns = sim_engine_now_ns(world->engine);

	if (!world->clock.running)
		return;
	if (!world->sample_every_ns) {
		world->sample_every_ns = FIRST_INTERVAL_NS;
		world->sample_due_ns = now_ns;
		look(world);
	}
	while (world->sample_due_ns <= now_ns)
		keep(world);
	look(world);
}
