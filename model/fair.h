/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_FAIR_H
#define MODEL_FAIR_H

/**
 * Circles that a fair run can stay in, also those that have a way out.
 *
 * A run is fair when nothing is put off for ever that can happen all the time (weak fairness): each connection delivers,
 * each piece of storage work ends, connections are made, threads take their steps, and at rest the timer comes. Faults
 * need never happen, and come to an end. What the server grants need not be anything but what its profile does; it may
 * for ever answer with interim responses and split its compounds.
 *
 * A component of the graph has such a run when each class of moves is taken in it or impossible in one of its states: then
 * a way round all of it is fair. When it has none, none of its circles has: what it puts off is possible all over it.
 */

#include "model/graph.h"

struct model_fair;

/** `graph` is all that was seen; freed with model_fair_free. */
struct model_fair *model_fair_new(const struct model_visited *visited, const struct model_graph *graph);
void model_fair_free(struct model_fair *fair);

/** The next component, in no order that means anything, with a fair run in which an operation is under way, a break not
 *  acknowledged or data not written all the time; 0: no more. *entry is the first of its states on the way there. */
uint32_t model_fair_next(struct model_fair *fair, struct model_hash *entry);
bool model_fair_has(const struct model_fair *fair, uint32_t component, struct model_hash hash);

#endif
