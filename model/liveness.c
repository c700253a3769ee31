/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Liveness over the whole graph: reads finish, writes reach the server, waiters get their credits, breaks are
 * acknowledged, requests of a lost connection come to an end (C20, C33, C34, C35).
 *
 * Everything that can happen again and again happens at some time, and no fault must. Then a run that never ends goes
 * round in states from which no end can be reached; so the rules hold when each state has a way to an end. A cycle
 * that has a way out is not fair.
 */

#include "model/explore_internal.h"

#include <string.h>

/* Predecessors of each place: those of place p are before[first[p]] up to before[first[p + 1]]. */
struct graph {
	const struct model_visited *visited;
	uint64_t places;
	uint64_t *first;
	uint32_t *before;
	uint8_t *can_end;
};

static void each_edge(struct model_search *search, void (*call)(struct graph *graph, uint64_t from, uint64_t to),
		      struct graph *graph)
{
	for (guint t = 0; t < search->thread_count; t++) {
		const GArray *edges = search->threads[t].edges;

		for (guint i = 0; i < edges->len; i++) {
			const struct model_edge *edge = &g_array_index(edges, struct model_edge, i);

			call(graph, model_visited_place(graph->visited, edge->from),
			     model_visited_place(graph->visited, edge->to));
		}
	}
}

static void count(struct graph *graph, uint64_t from, uint64_t to)
{
	(void)from;
	graph->first[to + 1]++;
}

/* `first` stands one place further on while the predecessors are entered. */
static void enter(struct graph *graph, uint64_t from, uint64_t to)
{
	graph->before[graph->first[to]++] = (uint32_t)from;
}

static void build(struct model_search *search, struct graph *graph)
{
	*graph = (struct graph){ .visited = search->visited, .places = model_visited_places(search->visited) };
	g_assert(graph->places < UINT32_MAX);
	graph->first = g_new0(uint64_t, graph->places + 2);
	graph->can_end = g_new0(uint8_t, graph->places);
	each_edge(search, count, graph);
	for (uint64_t i = 1; i <= graph->places; i++)
		graph->first[i] += graph->first[i - 1];
	graph->before = g_new(uint32_t, MAX(graph->first[graph->places], 1));
	each_edge(search, enter, graph);
	memmove(graph->first + 1, graph->first, graph->places * sizeof(graph->first[0]));
	graph->first[0] = 0;
}

static void go_back_from_ends(struct model_search *search, struct graph *graph)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (guint t = 0; t < search->thread_count; t++) {
		const GArray *ends = search->threads[t].end_states;

		for (guint i = 0; i < ends->len; i++) {
			struct model_hash hash = g_array_index(ends, struct model_hash, i);
			uint32_t place = (uint32_t)model_visited_place(graph->visited, hash);

			graph->can_end[place] = 1;
			g_array_append_val(stack, place);
		}
	}
	while (stack->len) {
		uint32_t place = g_array_index(stack, uint32_t, stack->len - 1);

		g_array_set_size(stack, stack->len - 1);
		for (uint64_t i = graph->first[place]; i < graph->first[place + 1]; i++) {
			if (graph->can_end[graph->before[i]])
				continue;
			graph->can_end[graph->before[i]] = 1;
			g_array_append_val(stack, graph->before[i]);
		}
	}
}

/* Of the states that cannot end, the first on its way there: its predecessor still could. */
static bool find_trap(struct model_search *search, const struct graph *graph, struct model_hash *trap, uint64_t *traps)
{
	bool is_found = false;

	*traps = 0;
	for (uint64_t place = 0; place < graph->places; place++) {
		struct model_hash hash, parent;
		uint32_t prefix;

		if (graph->can_end[place] || !model_visited_at(graph->visited, place, &hash, &prefix))
			continue;
		++*traps;
		if (is_found && model_visited_starting(search->visited, prefix, &parent, 1) &&
		    !graph->can_end[model_visited_place(graph->visited, parent)])
			continue;
		*trap = hash;
		is_found = true;
	}
	return is_found;
}

void model_liveness_check(struct model_search *search)
{
	struct graph graph;
	struct model_hash trap;
	uint64_t traps;

	build(search, &graph);
	go_back_from_ends(search, &graph);
	if (find_trap(search, &graph, &trap, &traps)) {
		search->is_broken = true;
		search->has_move = false;
		search->is_trap = true;
		search->broken_at = trap;
		search->end = MODEL_END_BROKEN;
		g_strlcpy(search->found.rule, "C33", sizeof(search->found.rule));
		g_snprintf(search->found.text, sizeof(search->found.text),
			   "the application can never get done from here, whatever happens (nor from %" G_GUINT64_FORMAT
			   " states in all)",
			   (guint64)traps);
	}
	g_free(graph.first);
	g_free(graph.before);
	g_free(graph.can_end);
}
