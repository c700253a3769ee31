/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Liveness over graphs drawn by hand. */

#include "model/explore_internal.h"

#include <criterion/criterion.h>

static struct model_hash node(uint64_t number)
{
	return model_hash_end(model_hash_word(model_hash_start(11), number));
}

struct drawing {
	uint32_t edges[8][2]; /* the first that leads to a node is how it was found; both 0 = no more */
	uint32_t end; /* 0 = none */
};

static struct model_search judge(const struct drawing *drawing)
{
	struct model_thread_work thread = {
		.edges = g_array_new(FALSE, FALSE, sizeof(struct model_edge)),
		.end_states = g_array_new(FALSE, FALSE, sizeof(struct model_hash)),
	};
	struct model_search search = {
		.visited = model_visited_new(),
		.threads = &thread,
		.thread_count = 1,
	};
	struct model_hash end = node(drawing->end);

	model_visited_add(search.visited, node(1), 0);
	for (size_t i = 0; i < 8 && drawing->edges[i][0]; i++) {
		struct model_edge edge = { .from = node(drawing->edges[i][0]), .to = node(drawing->edges[i][1]) };

		model_visited_add(search.visited, edge.to, model_visited_prefix(edge.from));
		g_array_append_val(thread.edges, edge);
	}
	if (drawing->end)
		g_array_append_val(thread.end_states, end);
	model_liveness_check(&search);
	g_array_unref(thread.edges);
	g_array_unref(thread.end_states);
	model_visited_free(search.visited);
	search.visited = NULL;
	search.threads = NULL;
	return search;
}

Test(liveness, a_cycle_with_a_way_out_is_no_fault)
{
	struct model_search search = judge(&(struct drawing){ { { 1, 2 }, { 2, 3 }, { 3, 2 }, { 3, 4 } }, 4 });

	cr_assert_not(search.is_broken);
	cr_assert_eq(search.end, MODEL_END_NOT);
}

Test(liveness, a_cycle_without_a_way_out_is_found_where_it_is_entered)
{
	struct model_search search = judge(
		&(struct drawing){ { { 1, 2 }, { 2, 3 }, { 2, 4 }, { 4, 5 }, { 5, 6 }, { 6, 5 } }, 3 });

	cr_assert(search.is_broken);
	cr_assert_eq(search.end, MODEL_END_BROKEN);
	cr_assert_str_eq(search.found.rule, "C33");
	cr_assert(model_hash_equal(search.broken_at, node(4)), "4 leads only into the cycle of 5 and 6");
	cr_assert_not_null(strstr(search.found.text, "3 states"), "%s", search.found.text);
}

Test(liveness, without_any_end_nothing_is_live)
{
	struct model_search search = judge(&(struct drawing){ { { 1, 2 }, { 2, 1 } }, 0 });

	cr_assert(search.is_broken);
}
