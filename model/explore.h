/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_EXPLORE_H
#define MODEL_EXPLORE_H

/**
 * Every state that can be reached, once: breadth first (the shortest counterexample comes first) or depth first, until
 * a rule is broken, nothing is left, a bound is reached, or somebody asks to stop.
 *
 * The number of states and transitions of a model depends on its config alone, not on the number of threads.
 */

#include "model/model.h"

#include "model/hash.h"
#include "model/save.h"

struct model_bounds {
	uint64_t states; /* 0 = no bound, as all of them */
	uint32_t depth; /* moves from the first state */
	uint64_t memory_bytes;
	double seconds; /* of this run alone, when it goes on from a file */
};

enum model_outcome {
	MODEL_HOLDS, /* everything was seen, no rule is broken */
	MODEL_BROKEN,
	MODEL_BOUND, /* a bound was reached: nothing is broken as far as was seen */
	MODEL_STOPPED,
	MODEL_REFUSED, /* the file to go on from does not do; model and numbers mean nothing */
};

enum model_bound { MODEL_BOUND_NONE, MODEL_BOUND_STATES, MODEL_BOUND_DEPTH, MODEL_BOUND_MEMORY, MODEL_BOUND_SECONDS };

struct model_progress {
	uint64_t states; /* different ones so far */
	uint64_t transitions;
	uint64_t swapped; /* states besides these that differ only in which of some threads is how far; see
			   * model_config.symmetry */
	uint64_t spared; /* moves that were not done, as another order of them is (model_config.partial_order) */
	uint64_t queue; /* states that wait */
	uint32_t depth;
	double seconds;
	uint64_t memory_bytes;
	uint64_t visited_bytes; /* of them: the set of states seen */
};

struct model_result {
	enum model_outcome outcome;
	enum model_bound bound; /* BOUND: which */
	struct model_progress numbers; /* at the end */
	uint64_t ends; /* states where the application is done and nothing is left to happen */
	struct model_done done; /* by all threads */
	struct model_fault_found found; /* BROKEN */
	GArray *trace; /* BROKEN: struct model_move from the first state on; the last one breaks the rule, or leads to the
			* state that is wrong */
	uint64_t saved_bytes; /* BOUND, STOPPED: of the file that was written; 0: none was */
	GError *error; /* REFUSED: why; else why the file could not be written */
};

struct model_options {
	bool depth_first; /* one thread, whatever `jobs` says */
	bool liveness; /* when all states were seen: from each of them the application must be able to get done without
			* any further fault, and no fair run may go round for ever (fair.h). 40 bytes more per transition */
	struct model_bounds bounds;
	uint32_t jobs; /* threads, >= 1 */
	void (*progress)(void *context, const struct model_progress *progress); /* may be NULL; about twice a second */
	void *context;
	const volatile bool *stop; /* may be NULL; once true, exploring ends */
	const struct model_saving *saving; /* may be NULL */
};

/** Free the trace and the error with model_result_clear. */
void model_explore(struct model *model, const struct model_options *options, struct model_result *result);
void model_result_clear(struct model_result *result);

/**
 * What tells states apart. Ids of messages matter only relative to their connection's window (MS-SMB2 3.2.4.1.3,
 * 3.3.1.1): two states in which all ids of a connection are higher by the same amount are one, so a client that sends
 * without end goes round. The states that are worked on have the ids that a run would have.
 */
struct model_hash model_state_hash(const struct model *model, const struct model_state *state);

#endif
