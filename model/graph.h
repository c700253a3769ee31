/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_GRAPH_H
#define MODEL_GRAPH_H

/** What a search with liveness has seen, as a graph over the places of the set of states; private to liveness. */

#include "model/components.h"
#include "model/explore_internal.h"

/** The predecessors of each place by edges that have none of `without` (MODEL_EDGE_*); g_free the two arrays. */
struct model_arcs model_graph_back(const struct model_search *search, uint32_t without);

#endif
