/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_EXPLORE_INTERNAL_H
#define MODEL_EXPLORE_INTERNAL_H

/** A search under way; private to explore.c, expand.c, queue.c, liveness.c, save.c and trace.c. */

#include "model/explore.h"
#include "model/visited.h"

#define MODEL_BLOCK_STATES 512

struct model_block {
	uint32_t count;
	struct model_state states[MODEL_BLOCK_STATES];
};

struct model_queue {
	GPtrArray *blocks;
	uint64_t count; /* states */
};

enum model_search_end { MODEL_END_NOT, MODEL_END_BROKEN, MODEL_END_BOUND, MODEL_END_STOPPED };

struct model_search;
struct model_successors;

/* What an edge is: its move's model_move_class, and these. */
#define MODEL_EDGE_CLASS 0x7fu
#define MODEL_EDGE_CHOSEN 0x80u /* the server chose otherwise than its profile */
#define MODEL_EDGE_GRANT 0x100u /* how much to grant */
#define MODEL_EDGE_PROMISES 16 /* from this bit on: enum model_promise of where it begins */

struct model_edge {
	struct model_hash from;
	struct model_hash to;
	uint32_t what;
	uint32_t spare;
};

struct model_thread_work {
	struct model_search *search;
	struct model_worker *worker;
	GArray *edges; /* struct model_edge, with liveness; no faults among them */
	GArray *end_states; /* struct model_hash */
	struct model_successors *successors; /* of the state being looked at */
	struct model_queue next; /* found by this thread */
	uint64_t transitions;
	uint64_t spared;
	uint64_t swapped;
	uint64_t ends;
	GThread *thread;
};

/** What the runs counted that a search goes on from. */
struct model_before {
	uint64_t transitions;
	uint64_t swapped;
	uint64_t spared;
	uint64_t ends;
	double seconds;
	struct model_done done;
};

struct model_search {
	struct model *model;
	const struct model_options *options;
	const struct model_config *config;
	struct model_visited *visited;
	struct model_queue level; /* being worked on; in depth first: the stack */
	struct model_queue ahead; /* one move further, found when this level was begun before; in depth first: those
				   * that a bound on depth keeps from being gone on from */
	GArray *depths; /* uint32_t; in depth first, of each state of `level` */
	GArray *ahead_depths;
	gint taken; /* blocks of `level` */
	gint end; /* enum model_search_end */
	enum model_bound bound;
	uint32_t depth;
	struct model_thread_work *threads;
	guint thread_count;
	double begun;
	double told; /* when progress was told last */
	struct model_before before;
	/* the first fault found */
	GMutex lock;
	bool is_broken;
	struct model_fault_found found;
	struct model_hash broken_at;
	bool is_trap; /* no end can be reached from there: the way goes on until it has gone round */
	GArray *round; /* struct model_move: the way to a circle and once round it; NULL: that is not the fault */
	bool has_move;
	struct model_move broken_by;
};

/** What is outstanding in a state. */
enum model_promise {
	MODEL_PROMISE_OPERATION = 1, /* an operation is under way */
	MODEL_PROMISE_BREAK =
		2, /* the server waits for an acknowledgement, though perhaps of an open that is its alone */
	MODEL_PROMISE_DATA = 4, /* what was written is not all at the server */
};

/** lasso.c: `what` of the edge by this move. */
uint32_t model_edge_what(const struct model *model, const struct model_state *state, struct model_move move);

void model_queue_init(struct model_queue *queue);
void model_queue_clear(struct model_queue *queue);
void model_queue_push(struct model_queue *queue, const struct model_state *state);
/** All of `from` goes behind `to`. */
void model_queue_move(struct model_queue *to, struct model_queue *from);
/** The one that was pushed last; false: there is none. */
bool model_queue_pop(struct model_queue *queue, struct model_state *state);

/** What a search that goes on from this one has to know was counted. */
void model_search_counted(const struct model_search *search, struct model_before *counted);

/** expand.c: do the moves of a state. What comes of them waits, at the latest after the next model_expand_all_seen. False:
 *  a rule is broken. */
bool model_expand(struct model_thread_work *thread, const struct model_state *state);
void model_expand_all_seen(struct model_thread_work *thread);
/** Caller frees with g_free. */
struct model_successors *model_successors_new(void);

/** save.c: write to model_saving.path while no thread is at work; `bytes` of the file. */
bool model_save_write(const struct model_search *search, uint64_t *bytes, GError **error);
/** Fill a search that has just begun from model_saving.resume. False, MODEL_ERROR_FILE: model and search must not be
 *  used any more. */
bool model_save_read(struct model_search *search, GError **error);

/** liveness.c: note a fault when there are states from which the application can never get done, or a fair circle in which
 *  a promise is not kept. */
void model_liveness_check(struct model_search *search);
/** ample.c: of the moves of a state put those in front that must be done; returns how many. The others may wait. */
uint32_t model_ample(struct model_worker *worker, const struct model_state *state, struct model_move *moves,
		     uint32_t count);
/** symmetry.c: how many states are taken for this one, itself among them. */
uint32_t model_state_orbit(const struct model *model, const struct model_state *state);
/** A trace of the model becomes one of the same model without symmetry, and so does the fault. */
void model_symmetry_unfold(const struct model *model, GArray *trace, struct model_fault_found *found);
/** trace.c: the moves that lead to the fault. */
GArray *model_trace_find(struct model_search *search);
#endif
