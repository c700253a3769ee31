/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_LASSO_H
#define MODEL_LASSO_H

/**
 * Counterexamples to liveness: a run that comes back to a state it was in, up to where the MessageIds stand, and could
 * go on so for ever. Such a circle counts when the application waits in it and it is weakly fair: what can happen in each
 * of its states, delivery of PDUs, work of the storage, connections, steps of threads and timers at rest, happens in it.
 * Faults never have to happen.
 */

#include "model/explore.h"

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

#endif
