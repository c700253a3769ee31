/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Components against what they are: who can be reached from whom, by trying all ways. */

#include "model/components.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

#define PLACES_MAX 12

struct drawing {
	uint32_t places;
	bool arc[PLACES_MAX][PLACES_MAX];
};

static struct model_arcs arcs_of(const struct drawing *drawing)
{
	struct model_arcs arcs = { .places = drawing->places,
				   .first = g_new0(uint64_t, drawing->places + 1),
				   .other = g_new0(uint32_t, PLACES_MAX * PLACES_MAX) };
	uint64_t count = 0;

	for (uint32_t from = 0; from < drawing->places; from++) {
		arcs.first[from] = count;
		for (uint32_t to = 0; to < drawing->places; to++) {
			if (drawing->arc[from][to])
				arcs.other[count++] = to;
		}
	}
	arcs.first[drawing->places] = count;
	return arcs;
}

/* By one arc at least (Warshall). */
static void find_reach(const struct drawing *drawing, bool reach[PLACES_MAX][PLACES_MAX])
{
	memcpy(reach, drawing->arc, sizeof(drawing->arc));
	for (uint32_t by = 0; by < drawing->places; by++) {
		for (uint32_t from = 0; from < drawing->places; from++) {
			for (uint32_t to = 0; to < drawing->places; to++)
				reach[from][to] |= reach[from][by] && reach[by][to];
		}
	}
}

static void compare(const struct drawing *drawing)
{
	struct model_arcs arcs = arcs_of(drawing);
	bool reach[PLACES_MAX][PLACES_MAX];
	uint32_t *component;
	uint32_t count = model_components(&arcs, &component), largest = 0;

	find_reach(drawing, reach);
	for (uint32_t a = 0; a < drawing->places; a++) {
		largest = MAX(largest, component[a]);
		cr_expect_eq(component[a] != 0, reach[a][a], "place %u", a);
		for (uint32_t b = 0; b < drawing->places; b++)
			cr_expect(a == b || (component[a] && component[a] == component[b]) ==
						    (reach[a][b] && reach[b][a]),
				  "places %u and %u", a, b);
	}
	cr_expect_eq(count, largest);
	g_free(component);
	g_free(arcs.first);
	g_free(arcs.other);
}

Test(components, places_are_together_when_each_leads_to_the_other)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(1);
	guint circles = 0;

	for (guint i = 0; i < 2000; i++) {
		struct drawing drawing = { .places = (uint32_t)g_rand_int_range(random, 0, PLACES_MAX + 1) };
		int chance = g_rand_int_range(random, 2, 20); /* from dense to sparse */

		for (uint32_t from = 0; from < drawing.places; from++) {
			for (uint32_t to = 0; to < drawing.places; to++) {
				drawing.arc[from][to] = !g_rand_int_range(random, 0, chance);
				circles += drawing.arc[from][to] && from == to;
			}
		}
		compare(&drawing);
	}
	cr_expect_gt(circles, 100u);
}

/* A way in depth over all places at once: nothing may be recursive. */
Test(components, a_long_ring_is_one)
{
	const uint32_t places = 3000000;
	struct model_arcs arcs = { .places = places,
				   .first = g_new(uint64_t, places + 1),
				   .other = g_new(uint32_t, places) };
	uint32_t *component;

	for (uint32_t i = 0; i < places; i++) {
		arcs.first[i] = i;
		arcs.other[i] = (i + 1) % places;
	}
	arcs.first[places] = places;
	cr_expect_eq(model_components(&arcs, &component), 1u);
	cr_expect_eq(component[0], 1u);
	cr_expect_eq(component[places - 1], 1u);
	g_free(component);
	g_free(arcs.first);
	g_free(arcs.other);
}
