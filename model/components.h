/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_COMPONENTS_H
#define MODEL_COMPONENTS_H

/** Graphs by their places, and what goes round in them. */

#include <stdint.h>

/** Neighbours of each place: those of place p are other[first[p]] up to other[first[p + 1]]. */
struct model_arcs {
	uint64_t places; /* < UINT32_MAX */
	uint64_t *first; /* places + 1 of them */
	uint32_t *other;
};

/**
 * The component of each place: places have the same number when each can be reached from the other. Places on no circle
 * have 0; a place that leads to itself is a component. Returns how many there are; free `component` with g_free. Linear in
 * places and arcs, 8 bytes for each place, and no recursion (Tarjan 1972).
 */
uint32_t model_components(const struct model_arcs *arcs, uint32_t **component);

#endif
