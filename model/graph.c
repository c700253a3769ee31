/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The edges that threads noted, sorted by where they lead. */

#include "model/graph.h"

#include <string.h>

struct sorting {
	const struct model_visited *visited;
	struct model_arcs arcs;
};

static void each_edge(const struct model_search *search, uint32_t without, struct sorting *sorting,
		      void (*call)(struct sorting *sorting, const struct model_edge *edge))
{
	for (guint t = 0; t < search->thread_count; t++) {
		const GArray *edges = search->threads[t].edges;

		for (guint i = 0; i < edges->len; i++) {
			const struct model_edge *edge = &g_array_index(edges, struct model_edge, i);

			if (!(edge->what & without))
				call(sorting, edge);
		}
	}
}

static void count(struct sorting *sorting, const struct model_edge *edge)
{
	sorting->arcs.first[model_visited_place(sorting->visited, edge->to) + 1]++;
}

/* `first` stands one place further on while the predecessors are entered. */
static void enter(struct sorting *sorting, const struct model_edge *edge)
{
	struct model_arcs *arcs = &sorting->arcs;

	arcs->other[arcs->first[model_visited_place(sorting->visited, edge->to)]++] = (uint32_t)model_visited_place(
		sorting->visited, edge->from);
}

struct model_arcs model_graph_back(const struct model_search *search, uint32_t without)
{
	struct sorting sorting = { .visited = search->visited,
				   .arcs = { .places = model_visited_places(search->visited) } };
	struct model_arcs *arcs = &sorting.arcs;

	g_assert(arcs->places < UINT32_MAX);
	arcs->first = g_new0(uint64_t, arcs->places + 2);
	each_edge(search, without, &sorting, count);
	for (uint64_t i = 1; i <= arcs->places; i++)
		arcs->first[i] += arcs->first[i - 1];
	arcs->other = g_new(uint32_t, MAX(arcs->first[arcs->places], 1));
	each_edge(search, without, &sorting, enter);
	memmove(arcs->first + 1, arcs->first, arcs->places * sizeof(arcs->first[0]));
	arcs->first[0] = 0;
	return *arcs;
}
