/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_GRAPH_H
#define MODEL_GRAPH_H

/** What a search with liveness has seen, as a graph over the places of the set of states; private to liveness. */

#include "model/components.h"
#include "model/explore_internal.h"

struct model_graph_edge {
	uint32_t from;
	uint32_t to;
	uint32_t what; /* MODEL_EDGE_* */
};

/** 12 bytes an edge. */
struct model_graph {
	uint64_t places; /* < UINT32_MAX */
	uint64_t count;
	struct model_graph_edge *edges; /* those from one place stand together */
};

/** Takes the edges that the threads noted away from them. */
struct model_graph model_graph_take(struct model_search *search);
void model_graph_clear(struct model_graph *graph);

/** The predecessors of each place by edges that have none of `without` (MODEL_EDGE_*); g_free the two arrays. */
struct model_arcs model_graph_back(const struct model_graph *graph, uint32_t without);

#endif
