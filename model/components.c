/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Strongly connected components: one walk in depth, whose way and what waits for its component are stacks. */

#include "model/components.h"

#include <glib.h>
#include <stdbool.h>

#define DONE UINT32_MAX /* as the order of a place: its component is known */

struct step {
	uint32_t place;
	uint32_t taken; /* of its arcs */
};

struct walk {
	const struct model_arcs *arcs;
	uint32_t *order; /* of each place, from 1; 0: not met */
	uint32_t *
		low; /* the first place met that is on the way and can be reached; of places that are DONE the component */
	GArray *way; /* struct step */
	GArray *waiting; /* places met whose component is not known */
	uint32_t met;
	uint32_t components;
};

static void meet(struct walk *walk, uint32_t place)
{
	struct step step = { .place = place };

	walk->order[place] = walk->low[place] = ++walk->met;
	g_array_append_val(walk->way, step);
	g_array_append_val(walk->waiting, place);
}

static bool leads_to_itself(const struct model_arcs *arcs, uint32_t place)
{
	for (uint64_t i = arcs->first[place]; i < arcs->first[place + 1]; i++) {
		if (arcs->other[i] == place)
			return true;
	}
	return false;
}

/* Nothing before `place` can be reached from it: what was met since is its component. */
static void end_component(struct walk *walk, uint32_t place)
{
	bool is_alone = g_array_index(walk->waiting, uint32_t, walk->waiting->len - 1) == place;
	uint32_t number = 0, member;

	if (!is_alone || leads_to_itself(walk->arcs, place))
		number = ++walk->components;
	do {
		member = g_array_index(walk->waiting, uint32_t, walk->waiting->len - 1);
		g_array_set_size(walk->waiting, walk->waiting->len - 1);
		walk->order[member] = DONE;
		walk->low[member] = number;
	} while (member != place);
}

static void leave(struct walk *walk, uint32_t place)
{
	uint32_t low = walk->low[place];

	g_array_set_size(walk->way, walk->way->len - 1);
	if (low == walk->order[place])
		end_component(walk, place);
	if (walk->way->len) {
		uint32_t before = g_array_index(walk->way, struct step, walk->way->len - 1).place;

		walk->low[before] = MIN(walk->low[before], low);
	}
}

static void go_from(struct walk *walk, uint32_t start)
{
	meet(walk, start);
	while (walk->way->len) {
		struct step *step = &g_array_index(walk->way, struct step, walk->way->len - 1);
		uint64_t arc = walk->arcs->first[step->place] + step->taken;
		uint32_t place = step->place, other;

		if (arc == walk->arcs->first[place + 1]) {
			leave(walk, place);
			continue;
		}
		step->taken++;
		other = walk->arcs->other[arc];
		if (!walk->order[other])
			meet(walk, other);
		else if (walk->order[other] != DONE)
			walk->low[place] = MIN(walk->low[place], walk->order[other]);
	}
}

uint32_t model_components(const struct model_arcs *arcs, uint32_t **component)
{
	struct walk walk = {
		.arcs = arcs,
		.order = g_new0(uint32_t, MAX(arcs->places, 1)),
		.low = g_new0(uint32_t, MAX(arcs->places, 1)),
		.way = g_array_new(FALSE, FALSE, sizeof(struct step)),
		.waiting = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};

	for (uint64_t place = 0; place < arcs->places; place++) {
		if (!walk.order[place])
			go_from(&walk, (uint32_t)place);
	}
	g_free(walk.order);
	g_array_unref(walk.way);
	g_array_unref(walk.waiting);
	*component = walk.low;
	return walk.components;
}
