/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which components of the graph have a fair run; see fair.h. */

#include "model/fair.h"

/* A component. Promises and what is possible: in each of its states. */
struct part {
	model_wide possible; /* bit per class of moves */
	model_wide taken; /* by one of its edges */
	uint32_t promises;
};

struct model_fair {
	const struct model_visited *visited;
	uint32_t *component; /* of each place */
	uint32_t parts;
	struct part *part; /* from 1 */
	uint32_t next;
};

static uint32_t component_of(const struct model_fair *fair, struct model_hash hash)
{
	return fair->component[model_visited_place(fair->visited, hash)];
}

/* All edges from one place; returns behind the last of them. */
static uint64_t look_at_place(struct model_fair *fair, const struct model_graph *graph, uint64_t at)
{
	const struct model_graph_edge *first = &graph->edges[at];
	uint32_t component = fair->component[first->from];
	struct part *part = &fair->part[component];
	model_wide possible = 0;

	for (; at < graph->count && graph->edges[at].from == first->from; at++) {
		const struct model_graph_edge *edge = &graph->edges[at];
		model_wide class = (model_wide)1 << (edge->what & MODEL_EDGE_CLASS);

		if (!(edge->what & MODEL_EDGE_CHOSEN))
			possible |= class;
		if (!(edge->what & MODEL_EDGE_GRANT) && fair->component[edge->to] == component)
			part->taken |= class;
	}
	part->possible &= possible;
	part->promises &= first->what >> MODEL_EDGE_PROMISES;
	return at;
}

struct model_fair *model_fair_new(const struct model_visited *visited, const struct model_graph *graph)
{
	struct model_fair *fair = g_new0(struct model_fair, 1);
	struct model_arcs arcs = model_graph_back(graph, MODEL_EDGE_GRANT);

	fair->visited = visited;
	fair->next = 1;
	fair->parts = model_components(&arcs, &fair->component); /* backwards they are the same */
	g_free(arcs.first);
	g_free(arcs.other);
	fair->part = g_new(struct part, (gsize)fair->parts + 1);
	for (uint32_t i = 0; i <= fair->parts; i++)
		fair->part[i] = (struct part){ .possible = ~(model_wide)0, .promises = UINT32_MAX };
	for (uint64_t at = 0; at < graph->count && fair->parts;)
		at = look_at_place(fair, graph, at);
	return fair;
}

void model_fair_free(struct model_fair *fair)
{
	g_free(fair->component);
	g_free(fair->part);
	g_free(fair);
}

bool model_fair_has(const struct model_fair *fair, uint32_t component, struct model_hash hash)
{
	return component_of(fair, hash) == component;
}

/* The predecessor by which it was found is outside, or it is the first state of all. */
static struct model_hash entry_of(const struct model_fair *fair, uint32_t component)
{
	uint64_t places = model_visited_places(fair->visited);
	struct model_hash hash = { 0 }, parent, entry = { 0 };
	uint32_t prefix;

	for (uint64_t place = 0; place < places; place++) {
		if (fair->component[place] != component || !model_visited_at(fair->visited, place, &hash, &prefix))
			continue;
		entry = hash;
		if (!model_visited_starting(fair->visited, prefix, &parent, 1) ||
		    component_of(fair, parent) != component)
			break;
	}
	return entry;
}

uint32_t model_fair_next(struct model_fair *fair, struct model_hash *entry)
{
	for (; fair->next <= fair->parts; fair->next++) {
		const struct part *part = &fair->part[fair->next];

		if (!part->promises || part->possible & ~part->taken)
			continue;
		*entry = entry_of(fair, fair->next);
		return fair->next++;
	}
	return 0;
}
