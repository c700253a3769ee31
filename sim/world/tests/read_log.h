/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_TESTS_READ_LOG_H
#define SIM_WORLD_TESTS_READ_LOG_H

/** The READs that a client sends in a simulated run, in their order. */

#include "sim/world/world.h"

#include <glib.h>

#define READ_LOG_MAX 16400 /* 64 MiB in pages of 4 KiB */

struct read_request {
	uint64_t offset;
	uint32_t length;
	uint16_t charge;
	uint16_t asked;
};

struct read_log {
	struct read_request reads[READ_LOG_MAX];
	guint count;
};

/** Called with each PDU (struct sim_trace.pdu); `context` is the log. */
void read_log_note(void *context, uint64_t when_ns, uint32_t channel, enum sim_side from, const struct smb_pdu *pdu);

#endif
