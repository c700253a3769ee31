/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What comes of a state: its moves are done, and what is new waits. */

#include "model/explore_internal.h"

#include <string.h>

static void note_broken(struct model_thread_work *thread, const struct model_state *state,
			const struct model_move *move)
{
	struct model_search *search = thread->search;

	g_mutex_lock(&search->lock);
	if (!search->is_broken) {
		search->is_broken = true;
		search->found = *model_broken(thread->worker);
		search->broken_at = model_state_hash(thread->search->model, state);
		search->has_move = move != NULL;
		if (move)
			search->broken_by = *move;
		g_atomic_int_set(&search->end, MODEL_END_BROKEN);
	}
	g_mutex_unlock(&search->lock);
}

/* What comes of the moves waits until there is more of it, so that the places of the hashes are on their way to the
 * cache meanwhile. */
#define SUCCESSORS_ENOUGH 64

struct successor {
	struct model_state state;
	struct model_hash hash;
	uint32_t parent;
	bool is_known;
};

/* Most ways to a state are found one soon after the other: those found lately need no look into the large table. */
#define RECENT_STATES 8192u

struct model_successors {
	struct model_hash recent[RECENT_STATES];
	uint32_t count;
	struct successor list[SUCCESSORS_ENOUGH + MODEL_MOVES_MAX];
};

void model_expand_all_seen(struct model_thread_work *thread)
{
	struct model_successors *next = thread->successors;

	for (uint32_t i = 0; i < next->count; i++) {
		const struct successor *successor = &next->list[i];

		if (successor->is_known ||
		    !model_visited_add(thread->search->visited, successor->hash, successor->parent))
			continue;
		model_queue_push(&thread->next, &successor->state);
		if (thread->search->config->symmetry)
			thread->swapped += model_state_orbit(thread->search->model, &successor->state) - 1;
	}
	next->count = 0;
}

static bool do_moves(struct model_thread_work *thread, const struct model_state *state, const struct model_move *moves,
		     uint32_t count)
{
	struct model_successors *next = thread->successors;
	uint32_t parent = model_visited_prefix(model_state_hash(thread->search->model, state));

	for (uint32_t i = 0; i < count; i++) {
		struct successor *successor = &next->list[next->count + i];
		struct model_hash *recent;

		thread->transitions++;
		if (!model_do(thread->worker, state, moves[i], &successor->state)) {
			note_broken(thread, state, &moves[i]);
			return false;
		}
		successor->hash = model_state_hash(thread->search->model, &successor->state);
		successor->parent = parent;
		recent = &next->recent[successor->hash.low % RECENT_STATES];
		successor->is_known = model_hash_equal(*recent, successor->hash);
		if (successor->is_known)
			continue;
		*recent = successor->hash;
		model_visited_prefetch(thread->search->visited, successor->hash);
	}
	return true;
}

static void note_end(struct model_thread_work *thread, const struct model_state *state)
{
	struct model_hash hash = model_state_hash(thread->search->model, state);

	if (thread->search->options->liveness)
		g_array_append_val(thread->end_states, hash);
}

/* What a fault leads to need never happen. */
static void note_edges(struct model_thread_work *thread, const struct model_state *state,
		       const struct model_move *moves, uint32_t count)
{
	const struct successor *next = thread->successors->list + thread->successors->count;
	struct model_edge edge = { .from = model_state_hash(thread->search->model, state) };

	for (uint32_t i = 0; i < count; i++) {
		if (memcmp(next[i].state.left, state->left, sizeof(state->left)) != 0)
			continue;
		edge.to = next[i].hash;
		edge.what = model_edge_what(thread->search->model, state, moves[i]);
		g_array_append_val(thread->edges, edge);
	}
}

static uint32_t leave_out(struct model_thread_work *thread, const struct model_state *state, struct model_move *moves,
			  uint32_t count)
{
	uint32_t kept = model_ample(thread->worker, state, moves, count);

	thread->spared += count - kept;
	return kept;
}

bool model_expand(struct model_thread_work *thread, const struct model_state *state)
{
	struct model_search *search = thread->search;
	struct model_move moves[MODEL_MOVES_MAX];
	uint32_t count = model_moves(thread->worker, state, moves);

	if (!count) {
		thread->ends++;
		note_end(thread, state);
		if (model_check_end(thread->worker, state))
			return true;
		note_broken(thread, state, NULL);
		return false;
	}
	if (search->config->partial_order)
		count = leave_out(thread, state, moves, count);
	if (!do_moves(thread, state, moves, count))
		return false;
	if (search->options->liveness)
		note_edges(thread, state, moves, count);
	thread->successors->count += count;
	if (thread->successors->count >= SUCCESSORS_ENOUGH)
		model_expand_all_seen(thread);
	return true;
}

struct model_successors *model_successors_new(void)
{
	return g_new0(struct model_successors, 1);
}
