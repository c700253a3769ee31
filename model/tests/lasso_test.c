/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs that go round, told as a way to the circle and the circle. */

#include "model/lasso.h"
#include "model/tests/systems.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

struct endless {
	uint32_t pushback; /* each n-th WRITE is refused */
	uint8_t cuts;
	uint8_t breaks;
	bool is_hard; /* and after the first cut the server is never back */
	char rule[8]; /* empty: it comes to an end */
};

/* One thread that writes; all WRITEs are refused, or some. */
static void writer(struct model_config *config, const struct endless *endless)
{
	system_two_readers(config, 1, 16);
	config->starts_mounted = true;
	config->unmounts = false;
	config->is_live = true;
	config->threads = 1;
	config->thread[0] = (struct model_thread){ .steps = 3,
						   .step = { { .kind = MODEL_STEP_OPEN, .access = SMB_OPEN_WRITE },
							     { .kind = MODEL_STEP_WRITE, .length = 4096 },
							     { .kind = MODEL_STEP_CLOSE } } };
	config->server.misbehaviour.write_pushback = endless->pushback;
	config->faults[MODEL_FAULT_CUT] = endless->cuts;
	config->faults[MODEL_FAULT_BREAK] = endless->breaks;
	config->never_back = endless->cuts > 0 && endless->is_hard;
	config->client.mount.soft = !endless->is_hard;
	model_config_set_limits(config, 1);
}

/* The trace, done again, ends where its circle begins; the circle is the same fault. */
static void go_again(struct model *model, const struct model_result *result)
{
	struct model_worker *worker = model_worker_new(model);
	g_autoptr(GArray) states = g_array_new(FALSE, FALSE, sizeof(struct model_state));
	struct model_fault_found found;
	struct model_state state, next;
	guint from;

	model_first_state(model, &state);
	g_array_append_val(states, state);
	for (guint i = 0; i < result->trace->len; i++) {
		cr_assert(model_do(worker, &state, g_array_index(result->trace, struct model_move, i), &next));
		state = next;
		g_array_append_val(states, state);
	}
	cr_assert(model_lasso_find(worker, states, &from));
	cr_assert(model_lasso_judge(worker, states, result->trace, from, &found));
	cr_assert_str_eq(found.rule, result->found.rule);
	cr_assert_str_eq(found.text, result->found.text);
	model_worker_free(worker);
}

ParameterizedTestParameters(lasso, a_run_that_never_ends_goes_round)
{
	static struct endless cases[] = {
		{ .pushback = 1, .rule = "C33" },
		{ .pushback = 1, .breaks = 1, .rule = "C33" },
		{ .cuts = 1, .is_hard = true, .rule = "C34" },
		{ .pushback = 2 },
		{ .pushback = 2, .cuts = 1 },
		{ .pushback = 2, .breaks = 1 },
	};

	return cr_make_param_array(struct endless, cases, G_N_ELEMENTS(cases));
}

ParameterizedTest(const struct endless *endless, lasso, a_run_that_never_ends_goes_round)
{
	struct model_config config;
	struct model_result result;
	struct model *model;

	writer(&config, endless);
	model = model_new(&config, NULL);
	model_explore(model, &(struct model_options){ .jobs = 1, .liveness = true }, &result);
	cr_expect_eq(result.outcome, endless->rule[0] ? MODEL_BROKEN : MODEL_HOLDS, "%s: %s", result.found.rule,
		     result.found.text);
	if (result.outcome == MODEL_BROKEN) {
		cr_expect_str_eq(result.found.rule, endless->rule);
		cr_expect_not_null(strstr(result.found.text, "repeats for ever"), "%s", result.found.text);
		go_again(model, &result);
	}
	model_result_clear(&result);
	model_free(model);
}

/* The move that leads out of the states below can happen all the way round: a circle without it is not fair. */
Test(lasso, a_circle_that_something_is_left_out_of_does_not_count)
{
	struct model_config config;
	struct model_result result;
	struct model *model;
	struct model_worker *worker;

	writer(&config, &(struct endless){ .pushback = 1 });
	model = model_new(&config, NULL);
	model_explore(model, &(struct model_options){ .jobs = 1, .liveness = true }, &result);
	cr_assert_eq(result.outcome, MODEL_BROKEN);
	worker = model_worker_new(model);
	g_autoptr(GArray) states = g_array_new(FALSE, FALSE, sizeof(struct model_state));
	struct model_state state, next;
	struct model_fault_found found;

	model_first_state(model, &state);
	g_array_append_val(states, state);
	for (guint i = 0; i + 1 < result.trace->len; i++) {
		model_do(worker, &state, g_array_index(result.trace, struct model_move, i), &next);
		state = next;
		g_array_append_val(states, state);
	}
	/* said to be round after no move at all: what could happen did not */
	g_array_set_size(result.trace, result.trace->len - 1);
	cr_assert_not(model_lasso_judge(worker, states, result.trace, result.trace->len, &found));
	model_worker_free(worker);
	model_result_clear(&result);
	model_free(model);
}
