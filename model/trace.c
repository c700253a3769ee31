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
			if (model_hash_equal(model_state_hash(way->search->model, &next),
					     g_array_index(way->hashes, struct model_hash, i)))
				break;
		}
		if (taken == count)
			return false;
		g_array_append_val(way->moves, moves[taken]);
		state = next;
	}
	return true;
}

/** What may come before a state on the way: several states may begin like its predecessor. */
struct place {
	struct model_hash candidates[CANDIDATES_MAX];
	uint32_t count;
	uint32_t tried;
};

static struct place place_before(const struct way *way, struct model_hash hash)
{
	struct place place = { .count = 0 };
	uint32_t parent;

	if (model_visited_find(way->search->visited, hash, &parent))
		place.count = model_visited_starting(way->search->visited, parent, place.candidates, CANDIDATES_MAX);
	return place;
}

/* The right candidates are those that work. A way found depth first is long: no recursion. False: there is none of at most
 * `most` states. */
static bool go_backwards(struct way *way, struct model_hash hash, uint32_t most)
{
	g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(struct place));

	for (;;) {
		struct place place = { .count = 0 }, *last;

		g_array_append_val(way->hashes, hash);
		if (model_hash_equal(hash, way->first)) {
			if (go_forwards(way))
				return true;
		} else if (way->hashes->len < most) {
			place = place_before(way, hash);
		}
		g_array_append_val(places, place);
		last = &g_array_index(places, struct place, places->len - 1);
		while (last->tried == last->count) {
			g_array_set_size(way->hashes, way->hashes->len - 1);
			g_array_set_size(places, places->len - 1);
			if (!places->len)
				return false;
			last = &g_array_index(places, struct place, places->len - 1);
		}
		hash = last->candidates[last->tried++];
	}
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
	way.first = model_state_hash(search->model, &first);
	is_found = go_backwards(&way, search->broken_at, search->depth + 2);
	g_assert(is_found);
	if (search->has_move)
		g_array_append_val(way.moves, search->broken_by);
	g_array_unref(way.hashes);
	return way.moves;
}
