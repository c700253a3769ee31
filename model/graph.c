/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The edges that threads noted: each place is looked up once, then they are sorted by where they lead. */

#include "model/graph.h"

#include <string.h>

#define AHEAD 16 /* edges whose places are on their way to the cache */

/* The edges of one thread become `to` on. */
struct part {
	const struct model_visited *visited;
	const GArray *edges;
	struct model_graph_edge *to;
	GThread *thread;
};

static void *look_up(void *argument)
{
	const struct part *part = argument;
	const struct model_edge *edges = (const struct model_edge *)(const void *)part->edges->data;

	for (guint i = 0; i < part->edges->len; i++) {
		bool is_same = i && model_hash_equal(edges[i].from, edges[i - 1].from);

		if (i + AHEAD < part->edges->len)
			model_visited_prefetch(part->visited, edges[i + AHEAD].to);
		part->to[i] = (struct model_graph_edge){
			.from = is_same ? part->to[i - 1].from
					: (uint32_t)model_visited_place(part->visited, edges[i].from),
			.to = (uint32_t)model_visited_place(part->visited, edges[i].to),
			.what = edges[i].what,
		};
	}
	return NULL;
}

struct model_graph model_graph_take(struct model_search *search)
{
	struct model_graph graph = { .places = model_visited_places(search->visited) };
	g_autofree struct part *parts = g_new0(struct part, search->thread_count);

	g_assert(graph.places < UINT32_MAX);
	for (guint t = 0; t < search->thread_count; t++)
		graph.count += search->threads[t].edges->len;
	graph.edges = g_new(struct model_graph_edge, MAX(graph.count, 1));
	graph.count = 0;
	for (guint t = 0; t < search->thread_count; t++) {
		parts[t] = (struct part){ search->visited, search->threads[t].edges, graph.edges + graph.count, NULL };
		graph.count += parts[t].edges->len;
		parts[t].thread = g_thread_new("places", look_up, &parts[t]);
	}
	for (guint t = 0; t < search->thread_count; t++) {
		g_thread_join(parts[t].thread);
		g_array_unref(search->threads[t].edges);
		search->threads[t].edges = g_array_new(FALSE, FALSE, sizeof(struct model_edge));
	}
	return graph;
}

void model_graph_clear(struct model_graph *graph)
{
	g_free(graph->edges);
	graph->edges = NULL;
}

/* `first` stands one place further on while the predecessors are entered. */
struct model_arcs model_graph_back(const struct model_graph *graph, uint32_t without)
{
	struct model_arcs arcs = { .places = graph->places, .first = g_new0(uint64_t, graph->places + 2) };

	for (uint64_t i = 0; i < graph->count; i++)
		arcs.first[graph->edges[i].to + 1] += !(graph->edges[i].what & without);
	for (uint64_t i = 1; i <= arcs.places; i++)
		arcs.first[i] += arcs.first[i - 1];
	arcs.other = g_new(uint32_t, MAX(arcs.first[arcs.places], 1));
	for (uint64_t i = 0; i < graph->count; i++) {
		if (!(graph->edges[i].what & without))
			arcs.other[arcs.first[graph->edges[i].to]++] = graph->edges[i].from;
	}
	memmove(arcs.first + 1, arcs.first, arcs.places * sizeof(arcs.first[0]));
	arcs.first[0] = 0;
	return arcs;
}
