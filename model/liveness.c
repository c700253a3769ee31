/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Liveness over the whole graph: reads finish, writes reach the server, waiters get their credits, breaks are
 * acknowledged, requests of a lost connection come to an end (C20, C33, C34, C35).
 *
 * First, each state must have a way to an end without further faults: else nothing helps any more. Then there must be no
 * circle that a fair run could stay in for ever, though it has a way out (fair.h).
 */

#include "model/fair.h"
#include "model/lasso.h"

#include <string.h>

static uint8_t *go_back_from_ends(const struct model_search *search, const struct model_arcs *back)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint8_t *can_end = g_new0(uint8_t, back->places);

	for (guint t = 0; t < search->thread_count; t++) {
		const GArray *ends = search->threads[t].end_states;

		for (guint i = 0; i < ends->len; i++) {
			struct model_hash hash = g_array_index(ends, struct model_hash, i);
			uint32_t place = (uint32_t)model_visited_place(search->visited, hash);

			can_end[place] = 1;
			g_array_append_val(stack, place);
		}
	}
	while (stack->len) {
		uint32_t place = g_array_index(stack, uint32_t, stack->len - 1);

		g_array_set_size(stack, stack->len - 1);
		for (uint64_t i = back->first[place]; i < back->first[place + 1]; i++) {
			if (can_end[back->other[i]])
				continue;
			can_end[back->other[i]] = 1;
			g_array_append_val(stack, back->other[i]);
		}
	}
	return can_end;
}

/* Of the states that cannot end, the first on its way there: its predecessor still could. Returns how many there are. */
static uint64_t find_trap(const struct model_search *search, const uint8_t *can_end, struct model_hash *trap)
{
	uint64_t places = model_visited_places(search->visited), traps = 0;

	for (uint64_t place = 0; place < places; place++) {
		struct model_hash hash, parent;
		uint32_t prefix;

		if (can_end[place] || !model_visited_at(search->visited, place, &hash, &prefix))
			continue;
		if (traps++ && model_visited_starting(search->visited, prefix, &parent, 1) &&
		    !can_end[model_visited_place(search->visited, parent)])
			continue;
		*trap = hash;
	}
	return traps;
}

static void note(struct model_search *search, struct model_hash at)
{
	search->is_broken = true;
	search->has_move = false;
	search->broken_at = at;
	search->end = MODEL_END_BROKEN;
}

static void check_traps(struct model_search *search, const struct model_graph *graph)
{
	struct model_arcs back = model_graph_back(graph, 0);
	g_autofree uint8_t *can_end = go_back_from_ends(search, &back);
	struct model_hash trap = { 0 };
	uint64_t traps = find_trap(search, can_end, &trap);

	g_free(back.first);
	g_free(back.other);
	if (!traps)
		return;
	note(search, trap);
	search->is_trap = true;
	g_strlcpy(search->found.rule, "C33", sizeof(search->found.rule));
	g_snprintf(search->found.text, sizeof(search->found.text),
		   "the application can never get done from here, whatever happens (nor from %" G_GUINT64_FORMAT
		   " states in all)",
		   (guint64)traps);
}

struct inside {
	const struct model_fair *fair;
	uint32_t component;
};

static bool is_inside(const void *context, struct model_hash hash)
{
	const struct inside *inside = context;

	return model_fair_has(inside->fair, inside->component, hash);
}

static void check_circles(struct model_search *search, const struct model_graph *graph)
{
	struct model_fair *fair = model_fair_new(search->visited, graph);
	struct inside inside = { .fair = fair };
	struct model_hash entry;

	while (!search->round && (inside.component = model_fair_next(fair, &entry))) {
		GArray *moves;

		search->broken_at = entry;
		moves = model_trace_find(search);
		if (model_lasso_go_round(search->threads[0].worker, moves, is_inside, &inside, &search->found)) {
			note(search, entry);
			search->round = moves;
		} else { /* what was not kept is no promise: the break of an open that the client does not have */
			g_array_unref(moves);
		}
	}
	model_fair_free(fair);
}

void model_liveness_check(struct model_search *search)
{
	struct model_graph graph = model_graph_take(search);

	check_traps(search, &graph);
	if (!search->is_broken)
		check_circles(search, &graph);
	model_graph_clear(&graph);
}
