/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which components of the graph have a fair run; see fair.h. */

#include "model/fair.h"
#include "model/graph.h"

/* A component. Promises and what is possible: in each of its states. */
struct part {
	model_wide possible; /* bit per class of moves */
	model_wide taken; /* by one of its edges */
	uint32_t promises;
};

struct model_fair {
	const struct model_search *search;
	uint32_t *component; /* of each place */
	uint32_t parts;
	struct part *part; /* from 1 */
	uint32_t next;
};

static uint32_t component_of(const struct model_fair *fair, struct model_hash hash)
{
	return fair->component[model_visited_place(fair->search->visited, hash)];
}

/* All edges from one state, which the thread that looked at it noted one after another; returns how many. */
static guint look_at_state(struct model_fair *fair, const GArray *edges, guint begin)
{
	const struct model_edge *first = &g_array_index(edges, struct model_edge, begin);
	uint32_t component = component_of(fair, first->from);
	struct part *part = &fair->part[component];
	model_wide possible = 0;
	guint at = begin;

	for (; at < edges->len; at++) {
		const struct model_edge *edge = &g_array_index(edges, struct model_edge, at);
		model_wide class = (model_wide)1 << (edge->what & MODEL_EDGE_CLASS);

		if (!model_hash_equal(edge->from, first->from))
			break;
		if (!(edge->what & MODEL_EDGE_CHOSEN))
			possible |= class;
		if (component && !(edge->what & MODEL_EDGE_GRANT) && component_of(fair, edge->to) == component)
			part->taken |= class;
	}
	part->possible &= possible;
	part->promises &= first->what >> MODEL_EDGE_PROMISES;
	return at - begin;
}

struct model_fair *model_fair_new(const struct model_search *search)
{
	struct model_fair *fair = g_new0(struct model_fair, 1);
	struct model_arcs arcs = model_graph_back(search, MODEL_EDGE_GRANT);

	fair->search = search;
	fair->next = 1;
	fair->parts = model_components(&arcs, &fair->component); /* backwards they are the same */
	g_free(arcs.first);
	g_free(arcs.other);
	fair->part = g_new(struct part, (gsize)fair->parts + 1);
	for (uint32_t i = 0; i <= fair->parts; i++)
		fair->part[i] = (struct part){ .possible = ~(model_wide)0, .promises = UINT32_MAX };
	for (guint t = 0; t < search->thread_count && fair->parts; t++) {
		const GArray *edges = search->threads[t].edges;

		for (guint i = 0; i < edges->len;)
			i += look_at_state(fair, edges, i);
	}
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
	const struct model_visited *visited = fair->search->visited;
	uint64_t places = model_visited_places(visited);
	struct model_hash hash = { 0 }, parent, entry = { 0 };
	uint32_t prefix;

	for (uint64_t place = 0; place < places; place++) {
		if (fair->component[place] != component || !model_visited_at(visited, place, &hash, &prefix))
			continue;
		entry = hash;
		if (!model_visited_starting(visited, prefix, &parent, 1) || component_of(fair, parent) != component)
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
