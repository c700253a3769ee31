/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_REPLAY_SIM_H
#define EXPERIMENTS_REPLAY_SIM_H

/**
 * A counterexample in the simulated network: the same client, server and application, and the rules judged by the same
 * monitor, but in the order that rates, delays and processors make. So it tells whether a fault needs a chosen order.
 *
 * What a model can do and this cannot: threads run one after another, in the order in which the trace starts their
 * steps; files are opened and closed around each read and write; choices of the server beside its profile do not happen.
 */

#include "experiments/check_config.h"

struct lab_sim_verdict {
	bool is_broken;
	char rule[8]; /* "C6"; "stuck" and "fails" as the checker has them */
	char text[256];
};

/** `moves`: struct model_move. False: it cannot be run in the simulation (LAB_ERROR_USAGE says why), or not at all. */
bool lab_replay_sim(const struct lab_check *check, const GArray *moves, struct lab_sim_verdict *verdict,
		    GError **error);

#endif
