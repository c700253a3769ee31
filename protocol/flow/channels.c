/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/flow/channels.h"

#include <assert.h>
#include <stdbool.h>

static uint32_t usable_from(const struct smb_channel_loads *loads, uint32_t start)
{
	for (uint32_t i = 0; i < loads->count; i++) {
		uint32_t channel = (start + i) % loads->count;

		if (loads->usable & (UINT32_C(1) << channel))
			return channel;
	}
	return SMB_PICK_NONE;
}

/** The least loaded usable channel, the first one met from `start` on; `tie` tells that all are equally loaded. */
static uint32_t least_loaded(const struct smb_channel_loads *loads, uint32_t start, bool *tie)
{
	uint32_t least = UINT32_MAX;
	uint32_t most = 0;
	uint32_t best = SMB_PICK_NONE;

	for (uint32_t i = 0; i < loads->count; i++) {
		uint32_t channel = (start + i) % loads->count;
		uint32_t load = loads->in_flight[channel];

		if (!(loads->usable & (UINT32_C(1) << channel)))
			continue;
		if (load < least) {
			least = load;
			best = channel;
		}
		if (load > most)
			most = load;
	}
	*tie = least == most;
	return best;
}

uint32_t smb_channel_pick(struct smb_channel_picker *picker, enum smb_channel_pick policy,
			  const struct smb_channel_loads *loads)
{
	uint32_t best;
	bool tie;

	assert(loads->count && loads->count <= SMB_PICK_CHANNELS_MAX);
	switch (policy) {
	case SMB_PICK_ROUND_ROBIN:
		return usable_from(loads, ++picker->sequence % loads->count);
	case SMB_PICK_LEAST_IN_FLIGHT:
		best = least_loaded(loads, 0, &tie);
		return tie ? usable_from(loads, ++picker->sequence % loads->count) : best;
	case SMB_PICK_ROTATING:
		best = least_loaded(loads, ++picker->sequence % loads->count, &tie);
		return tie ? usable_from(loads, picker->sequence % loads->count) : best;
	}
	assert(!"a pick policy has a case");
	return SMB_PICK_NONE;
}
