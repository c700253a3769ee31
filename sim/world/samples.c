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

static void note_extremes(struct world *world)
{
	struct sim_result *result = world->result;

	for (uint32_t channel = 0; channel < SMB_CHANNELS_MAX; channel++) {
		if (world->channels[channel].open)
			result->credits_min = MIN(result->credits_min, credits_of(world, channel));
	}
	result->inflight_max = MAX(result->inflight_max, world->read_count);
	result->inflight_max_bytes = MAX(result->inflight_max_bytes, world->read_bytes);
}

void world_sample(struct world *world)
{
	struct sim_result *result = world->result;
	uint64_t now_ns = sim_engine_now_ns(world->engine);

	if (!world->clock.running)
		return;
	note_extremes(world);
	if (!world->sample_every_ns) {
		world->sample_every_ns = FIRST_INTERVAL_NS;
		world->sample_due_ns = now_ns;
	}
	if (now_ns < world->sample_due_ns)
		return;
	if (result->sample_count == SIM_SAMPLES_MAX)
		halve(world);
	struct sim_sample *sample = &result->samples[result->sample_count++];
	*sample = (struct sim_sample){
		.when_ns = now_ns - world->begun_ns,
		.reads_in_flight = world->read_count,
		.bytes_in_flight = world->read_bytes,
		.bytes_done = result->bytes,
	};
	for (uint32_t channel = 0; channel < G_N_ELEMENTS(sample->credits); channel++)
		sample->credits[channel] = world->channels[channel].open ? credits_of(world, channel) : 0;
	world->sample_due_ns = now_ns + world->sample_every_ns;
}
