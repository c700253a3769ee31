/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The way to a state: backwards by the beginnings of the predecessors' hashes, then forwards by doing the moves. */

#include "model/explore_internal.h"

#include <string.h>

#define CANDIDATES_MAX 16

struct way {
	struct model_search *search;
	struct model_hash first;
	GArray *hashes; /* struct model_hash, from the end backwards */
	GArray *moves;
};

/* The moves that lead through `hashes`; false: there is no such way. */
static bool go_forwards(struct way *way)
{
	struct model_worker *worker = way->search->threads[0].worker;
	struct model_move moves[MODEL_MOVES_MAX];
	struct model_state state, next;

	g_array_set_size(way->moves, 0);
	model_first_state(way->search->model, &state);
	for (guint i = way->hashes->len - 1; i-- > 0;) {
		uint32_t count = model_moves(worker, &state, moves);
		uint32_t taken = 0;

		for (; taken < count; taken++) {
			model_do(worker, &state, moves[taken], &next);
			if (model_hash_equal(model_state_hash(&next), g_array_index(way->hashes, struct model_hash, i)))
				break;
		}
		if (taken == count)
			return false;
		g_array_append_val(way->moves, moves[taken]);
		state = next;
	}
	return true;
}

/* Several states may begin like the predecessor: the right one is the one that works. */
static bool go_backwards(struct way *way, struct model_hash hash, uint32_t left)
{
	struct model_hash candidates[CANDIDATES_MAX];
	uint32_t parent, count;

	g_array_append_val(way->hashes, hash);
	if (model_hash_equal(hash, way->first)) {
		if (go_forwards(way))
			return true;
	} else if (left && model_visited_find(way->search->visited, hash, &parent)) {
		count = model_visited_starting(way->search->visited, parent, candidates, CANDIDATES_MAX);
		for (uint32_t i = 0; i < count; i++) {
			if (go_backwards(way, candidates[i], left - 1))
				return true;
		}
	}
	g_array_set_size(way->hashes, way->hashes->len - 1);
	return false;
}

GArray *model_trace_find(struct model_search *search)
{
	struct way way = {
		.search = search,
		.hashes = g_array_new(FALSE, FALSE, sizeof(struct model_hash)),
		.moves = g_array_new(FALSE, FALSE, sizeof(struct model_move)),
	};
	struct model_state first;
	bool is_found;

	model_first_state(search->model, &first);
	way.first = model_state_hash(&first);
	is_found = go_backwards(&way, search->broken_at, search->depth + 1);
	g_assert(is_found);
	if (search->has_move)
		g_array_append_val(way.moves, search->broken_by);
	g_array_unref(way.hashes);
	return way.moves;
}
