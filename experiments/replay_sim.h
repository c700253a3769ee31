/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_REPLAY_SIM_H
#define EXPERIMENTS_REPLAY_SIM_H

/**
 * A counterexample in the simulated network, move by move (sim/world/director.h): the same client, server and
 * application behind the threads, queues and connections that every simulation has, judged by the same monitor.
 *
 * Beside it the model goes through the same moves. After each of them both cores must be in the state that the model
 * has, and the PDUs under way must be the same bytes; so a rule that the model reads off its state, and not off a PDU,
 * is judged by the same code on the same state.
 */

#include "experiments/check_config.h"
#include "model/model.h"

struct lab_sim_verdict {
	bool is_followed; /* to the last move */
	char step[16]; /* where it ended or a rule was broken: "m3" in the mount, "7" in the trace */
	char why[512]; /* not followed: what was expected, and what there was */
	bool is_broken;
	bool is_same; /* the recorded rule, by the last recorded move */
	bool is_seen; /* by the simulation's own monitor, server or application; else read off the state */
	char rule[12]; /* as the checker has them */
	char text[256];
};

/** `moves`: struct model_move; `rule`: which they break. False: it could not be run (`error` says why). */
bool lab_replay_sim(const struct lab_check *check, const GArray *moves, const char *rule,
		    struct lab_sim_verdict *verdict, GError **error);

#endif
