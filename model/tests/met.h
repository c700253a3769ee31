/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_TESTS_MET_H
#define MODEL_TESTS_MET_H

/**
 * What a search of the tests' own meets, to compare the reductions by. It goes on behind what is broken, so that all
 * that can break is compared and not what breaks first. What it meets is noted by content, not by number: so the sets of
 * different models can be compared.
 */

#include "model/model.h"

/* Sets of GBytes. */
struct met {
	GHashTable *states;
	GHashTable *effects; /* an event on a client side or on a server side */
	GHashTable *clients; /* the sides alone */
	GHashTable *servers;
	GHashTable *still; /* states in which nothing is on any connection */
	GHashTable *ends;
	GHashTable *rules; /* broken */
};

struct met_how {
	/** Which moves of a state are done; NULL: all. */
	uint32_t (*select)(struct model_worker *worker, const struct model_state *state, struct model_move *moves,
			   uint32_t count);
	bool in_order; /* note each client side as it is with the threads in order that do the same: all but the first */
};

void met_search(struct model *model, const struct met_how *how, struct met *met);
void met_clear(struct met *met);
/** Both have the same elements. */
bool met_sets_equal(GHashTable *a, GHashTable *b);

#endif
