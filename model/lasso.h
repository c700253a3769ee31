/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_LASSO_H
#define MODEL_LASSO_H

/**
 * Counterexamples to liveness: a run that comes back to a state it was in, up to where the MessageIds stand, and could
 * go on so for ever. Such a circle counts when a promise is not kept in it - an operation is under way, a break is not
 * acknowledged, data is not written - and when it is weakly fair: what can happen in each of its states, delivery of PDUs,
 * work of the storage, connections, steps of threads and timers at rest, happens in it. Faults never have to happen, and
 * in the end the server grants what its profile does (fair.h).
 */

#include "model/explore.h"

/** Moves that are one to fairness have the same number, below MODEL_MOVE_CLASSES: choices about an answer aside. */
#define MODEL_MOVE_CLASSES 96
uint32_t model_move_class(struct model_move move);
/** What must not be put off for ever in `state`, no fault and no choice; bit per class. */
model_wide model_lasso_due(struct model_worker *worker, const struct model_state *state);
/** May a fair run do so again and again? No fault, and no grant but the profile's. */
bool model_lasso_may_repeat(const struct model_state *state, struct model_move move, const struct model_state *next);
/** The first state and that after each of `moves`. */
GArray *model_lasso_states(struct model_worker *worker, const GArray *moves);

/** `states` are the first one and that after each of `moves`. Is the last one an earlier one again? *from is the first of
 *  those. */
bool model_lasso_find(struct model_worker *worker, const GArray *states, guint *from);
/** Is that circle a fault? C20 while a break is not acknowledged all the way round, C34 after a connection was lost, else
 *  C33. */
bool model_lasso_judge(struct model_worker *worker, const GArray *states, const GArray *moves, guint from,
		       struct model_fault_found *found);
/** Go on behind `moves`, what has waited longest first, until the run has gone round fairly. False: it does not; `moves`
 *  are as before. */
bool model_lasso_close(struct model_worker *worker, GArray *moves, struct model_fault_found *found);

/** circle.c: go on behind `moves`, by short ways, through those states alone that `is_inside`: a component that has a fair
 *  circle (fair.h). False: no promise is broken on the way round; `moves` are as before. */
typedef bool (*model_lasso_inside_fn)(const void *context, struct model_hash hash);
bool model_lasso_go_round(struct model_worker *worker, GArray *moves, model_lasso_inside_fn is_inside,
			  const void *context, struct model_fault_found *found);

#endif
