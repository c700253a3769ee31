/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_PAIRS_H
#define SIM_WORLD_PAIRS_H

/** What was said between client and server, as pairs of request and response with their times. */

#include "protocol/ops/notation.h"
#include "protocol/wire/payload.h"

#include <glib.h>

struct sim_pair {
	struct smb_notation_pair said; /* a compound chain is one pair */
	uint32_t channel;
	uint32_t unanswered; /* members without their final response */
	uint64_t sent_ns; /* put on the wire */
	uint64_t answered_ns; /* the last of its final responses was there; 0 = not yet */
};

/** An array of struct sim_pair, in the order sent; free with g_array_unref. */
GArray *sim_pairs_new(void);
/** A PDU of requests; of SMB1, nothing is noted. */
void sim_pairs_sent(GArray *pairs, uint32_t channel, const struct smb_pdu *pdu, uint64_t now_ns);
/** A PDU of responses, interim ones included. */
void sim_pairs_received(GArray *pairs, uint32_t channel, const struct smb_pdu *pdu, uint64_t now_ns);
/** The pairs from `first` up to but not including `end` in the notation of protocol/ops/notation.h; free with g_free. */
char *sim_pairs_text(const GArray *pairs, guint first, guint end, bool detailed);

#endif
