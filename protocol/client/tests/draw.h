/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_TESTS_DRAW_H
#define SMB_CLIENT_TESTS_DRAW_H

/** Chance for the random runs: the same on every machine for the same `draw_seed`. */

#include "protocol/client/tests/peer.h"

extern uint64_t draw_seed;

/** 0 to `below` - 1. */
uint32_t draw(uint32_t below);
bool chance(uint32_t percent);
/** The peer breaks the lease of the file opened first, to any state, whether an acknowledgement is due or not. */
void draw_lease_break(struct peer *peer);

#endif
