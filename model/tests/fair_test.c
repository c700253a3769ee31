/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which circles a fair run can stay in, over graphs drawn by hand. */

#include "model/fair.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

static struct model_hash node(uint64_t number)
{
	return model_hash_end(model_hash_word(model_hash_start(11), number));
}

enum { A = 0, B = 1, C = 2, CHOSEN = MODEL_EDGE_CHOSEN, GRANT = MODEL_EDGE_CHOSEN | MODEL_EDGE_GRANT };

struct drawn {
	uint8_t from, to; /* from 1; edges from one node stand together, the first to a node is how it was found */
	uint32_t what;
};

struct drawing {
	char name[64];
	struct drawn edges[10];
	uint32_t promises[7]; /* of each node; [0] of all */
	uint32_t entry; /* of the fair circle; 0: there is none */
};

static uint32_t promises_of(const struct drawing *drawing, uint32_t number)
{
	return drawing->promises[0] | drawing->promises[number];
}

static uint32_t fair_entry(const struct drawing *drawing)
{
	struct model_thread_work thread = { .edges = g_array_new(FALSE, FALSE, sizeof(struct model_edge)) };
	struct model_search search = { .visited = model_visited_new(), .threads = &thread, .thread_count = 1 };
	struct model_graph graph;
	struct model_fair *fair;
	struct model_hash entry;
	uint32_t component, number = 0;

	model_visited_add(search.visited, node(1), 0);
	for (size_t i = 0; i < G_N_ELEMENTS(drawing->edges) && drawing->edges[i].from; i++) {
		const struct drawn *drawn = &drawing->edges[i];
		struct model_edge edge = {
			.from = node(drawn->from),
			.to = node(drawn->to),
			.what = drawn->what | promises_of(drawing, drawn->from) << MODEL_EDGE_PROMISES,
		};

		model_visited_add(search.visited, edge.to, model_visited_prefix(edge.from));
		g_array_append_val(thread.edges, edge);
	}
	graph = model_graph_take(&search);
	fair = model_fair_new(search.visited, &graph);
	component = model_fair_next(fair, &entry);
	if (component) {
		cr_expect(model_fair_has(fair, component, entry));
		for (number = 1; !model_hash_equal(node(number), entry);)
			number++;
		cr_expect_eq(model_fair_next(fair, &entry), 0u, "there is one");
	}
	model_fair_free(fair);
	model_graph_clear(&graph);
	g_array_unref(thread.edges);
	model_visited_free(search.visited);
	return number;
}

ParameterizedTestParameters(fair, a_circle_counts_when_nothing_is_put_off_in_it)
{
	static struct drawing cases[] = {
		{ "no circle", { { 1, 2, A }, { 2, 3, B } }, { MODEL_PROMISE_OPERATION }, 0 },
		/* 2 and 3 go round by A and B; C, which leads out, cannot happen in 3 */
		{ "the way out is not there all the time",
		  { { 1, 2, A }, { 2, 3, A }, { 2, 4, C }, { 3, 2, B } },
		  { MODEL_PROMISE_OPERATION },
		  2 },
		{ "the way out is there all the time",
		  { { 1, 2, A }, { 2, 3, A }, { 2, 4, C }, { 3, 2, B }, { 3, 4, C } },
		  { MODEL_PROMISE_OPERATION },
		  0 },
		{ "it happens in the circle, too",
		  { { 1, 2, A }, { 2, 3, A }, { 2, 4, C }, { 3, 2, C }, { 3, 5, A } },
		  { MODEL_PROMISE_OPERATION },
		  2 },
		{ "only the server's choice leads out",
		  { { 1, 2, A }, { 2, 3, A }, { 2, 4, A | CHOSEN }, { 3, 2, A }, { 3, 4, A | CHOSEN } },
		  { MODEL_PROMISE_BREAK },
		  2 },
		{ "it goes round by split replies",
		  { { 1, 2, A }, { 2, 3, A }, { 3, 4, B }, { 3, 2, B | CHOSEN } },
		  { MODEL_PROMISE_OPERATION },
		  2 },
		{ "it goes round by grants alone",
		  { { 1, 2, A }, { 2, 3, A }, { 3, 4, B }, { 3, 2, B | GRANT } },
		  { MODEL_PROMISE_OPERATION },
		  0 },
		{ "one state leads to itself", { { 1, 2, A }, { 2, 2, B }, { 2, 3, B } }, { MODEL_PROMISE_DATA }, 2 },
		{ "nothing is promised", { { 1, 2, A }, { 2, 3, A }, { 3, 2, B } }, { 0 }, 0 },
		{ "the promise is kept now and then",
		  { { 1, 2, A }, { 2, 3, A }, { 3, 2, B } },
		  { 0, 0, MODEL_PROMISE_BREAK },
		  0 },
		/* of two circles side by side one is fair */
		{ "the second one",
		  { { 1, 2, A },
		    { 1, 4, B },
		    { 2, 3, A },
		    { 2, 6, C },
		    { 3, 2, B },
		    { 3, 6, C },
		    { 4, 5, A },
		    { 5, 4, A } },
		  { MODEL_PROMISE_OPERATION },
		  4 },
		{ "from the first state on", { { 1, 2, A }, { 2, 1, B } }, { MODEL_PROMISE_OPERATION }, 1 },
	};

	return cr_make_param_array(struct drawing, cases, G_N_ELEMENTS(cases));
}

ParameterizedTest(struct drawing *drawing, fair, a_circle_counts_when_nothing_is_put_off_in_it)
{
	cr_expect_eq(fair_entry(drawing), drawing->entry, "%s", drawing->name);
}
