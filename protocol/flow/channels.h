/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_FLOW_CHANNELS_H
#define SMB_FLOW_CHANNELS_H

/**
 * Which channel of a session the next request, or the next readahead window, goes down (facts A9).
 */

#include "protocol/eras/policy.h"

#include <stdint.h>

#define SMB_PICK_CHANNELS_MAX 16
#define SMB_PICK_NONE UINT32_MAX

/** What a pick looks at. Channels are numbered in the order they were added to the session. */
struct smb_channel_loads {
	uint32_t count; /* 1 to SMB_PICK_CHANNELS_MAX */
	uint32_t usable; /* bit i: channel i is set up and not failed */
	uint32_t in_flight[SMB_PICK_CHANNELS_MAX];
};

struct smb_channel_picker {
	uint32_t sequence; /* picks so far, ties only with some policies (cifs_ses.chan_seq) */
};

/**
 * ROUND_ROBIN: one after the other (5.5 to 5.19). LEAST_IN_FLIGHT: the fewest in flight, the lowest number of several;
 * all equally loaded: one after the other (6.1, cifs_pick_channel). ROTATING: the same, but the search starts one
 * further each time, so that of several least loaded ones another wins (6.12). An unusable channel is never picked
 * when a usable one exists (C32): where the kernel's arithmetic would, the next usable one is. SMB_PICK_NONE: none is.
 */
uint32_t smb_channel_pick(struct smb_channel_picker *picker, enum smb_channel_pick policy,
			  const struct smb_channel_loads *loads);

#endif
