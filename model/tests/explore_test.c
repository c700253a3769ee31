/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/explore.h"
#include "model/tests/systems.h"

#include <criterion/criterion.h>

static struct model_result explore(const struct model_config *config, const struct model_options *options)
{
	struct model *model = model_new(config, NULL);
	struct model_result result;

	cr_assert_not_null(model);
	model_explore(model, options, &result);
	model_free(model);
	return result;
}

Test(explore, two_readers_break_no_rule)
{
	struct model_config config;

	system_two_readers(&config, 1, 16);
	struct model_result result = explore(&config, &(struct model_options){ .jobs = 1 });
	cr_assert_eq(result.outcome, MODEL_HOLDS, "%s: %s", result.found.rule, result.found.text);
	cr_assert_gt(result.ends, 0u);
	cr_assert_gt(result.numbers.states, 50u);
}

Test(explore, the_count_is_the_same_however_it_is_counted)
{
	struct model_config config;

	static const uint8_t cases[][3] = { { 1, 1, 1 }, { 1, 0, 2 }, { 2, 0, 1 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		system_two_readers(&config, cases[i][0], 16);
		config.faults[MODEL_FAULT_CUT] = cases[i][1];
		config.faults[MODEL_FAULT_TIMER] = cases[i][2];
		struct model_result one = explore(&config, &(struct model_options){ .jobs = 1 });
		struct model_result three = explore(&config, &(struct model_options){ .jobs = 3 });
		struct model_result deep = explore(&config, &(struct model_options){ .jobs = 1, .depth_first = true });

		cr_assert_eq(one.outcome, MODEL_HOLDS, "%s: %s", one.found.rule, one.found.text);
		cr_assert_gt(one.numbers.states, 1000u);
		cr_assert_eq(one.numbers.states, three.numbers.states);
		cr_assert_eq(one.numbers.transitions, three.numbers.transitions);
		cr_assert_eq(one.ends, three.ends);
		cr_assert_eq(one.numbers.depth, three.numbers.depth);
		cr_assert_eq(one.numbers.states, deep.numbers.states);
		cr_assert_eq(one.numbers.transitions, deep.numbers.transitions);
		cr_assert_eq(one.ends, deep.ends);
	}
}

Test(explore, a_bound_is_said)
{
	static const struct {
		struct model_bounds bounds;
		enum model_bound says;
	} cases[] = {
		{ { .states = 600 }, MODEL_BOUND_STATES },
		{ { .depth = 20 }, MODEL_BOUND_DEPTH },
		{ { .memory_bytes = 1000 }, MODEL_BOUND_MEMORY },
		{ { .seconds = 1e-9 }, MODEL_BOUND_SECONDS },
	};
	struct model_config config;

	system_two_readers(&config, 1, 16);
	config.faults[MODEL_FAULT_CUT] = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct model_options options = { .jobs = 1, .bounds = cases[i].bounds };
		struct model_result result = explore(&config, &options);

		cr_assert_eq(result.outcome, MODEL_BOUND, "case %zu", i);
		cr_assert_eq(result.bound, cases[i].says, "case %zu", i);
		options.depth_first = true;
		result = explore(&config, &options);
		cr_assert_eq(result.outcome, MODEL_BOUND, "case %zu, depth first", i);
		cr_assert_eq(result.bound, cases[i].says, "case %zu, depth first", i);
	}
}

Test(explore, stopping_is_said)
{
	struct model_config config;
	bool stop = true;

	system_two_readers(&config, 1, 16);
	config.faults[MODEL_FAULT_CUT] = 1;
	struct model_result result = explore(&config, &(struct model_options){ .jobs = 1, .stop = &stop });
	cr_assert_eq(result.outcome, MODEL_STOPPED);
}

/* A server that takes reads of 64 KiB alone from a client that is told to count no credits: the smallest fault that a
 * config can bring about is an operation that fails although nothing went wrong. */
Test(explore, the_way_to_a_fault_is_the_shortest_and_can_be_gone)
{
	struct model_config config;
	struct model *model;
	struct model_worker *worker;
	struct model_result result;
	struct model_state state, next;

	system_two_readers(&config, 1, 16);
	config.file[0].is_directory = true; /* it cannot be opened as a file */
	model = model_new(&config, NULL);
	model_explore(model, &(struct model_options){ .jobs = 1 }, &result);
	cr_assert_eq(result.outcome, MODEL_BROKEN);
	cr_assert_str_eq(result.found.rule, "fails");
	cr_assert_eq(result.trace->len, result.numbers.depth + 1);
	worker = model_worker_new(model);
	model_first_state(model, &state);
	for (guint i = 0; i < result.trace->len; i++) {
		bool holds = model_do(worker, &state, g_array_index(result.trace, struct model_move, i), &next);

		cr_assert_eq(holds, i + 1 < result.trace->len, "step %u", i);
		state = next;
	}
	model_worker_free(worker);
	model_result_clear(&result);
	model_free(model);
}

Test(explore, every_move_of_a_run_can_be_written_and_read)
{
	struct model_config config;
	struct model_state state, next;
	struct model_move moves[MODEL_MOVES_MAX], read;

	system_two_readers(&config, 2, 16);
	config.faults[MODEL_FAULT_CUT] = 1;
	struct model *model = model_new(&config, NULL);
	struct model_worker *worker = model_worker_new(model);
	model_first_state(model, &state);
	for (uint32_t step = 0, count; step < 200 && (count = model_moves(worker, &state, moves)); step++) {
		for (uint32_t i = 0; i < count; i++) {
			g_autoptr(GString) text = g_string_new(NULL);

			model_move_write(model, moves[i], text);
			cr_assert(model_move_read(model, text->str, &read, NULL), "%s", text->str);
			cr_assert_eq(memcmp(&read, &moves[i], sizeof(read)), 0, "%s", text->str);
		}
		model_do(worker, &state, moves[0], &next);
		state = next;
	}
	model_worker_free(worker);
	model_free(model);
}

Test(explore, text_that_is_no_move_is_refused)
{
	static const char *const texts[] = { "",	"nothing",	"cut",
					     "cut 9",	"cut 0 1",	"start 77",
					     "wake 1",	"to-server -1", "work 0 grant=700",
					     "break 0", "cut 0 odd=1" };
	struct model_config config;
	struct model_move move;

	system_two_readers(&config, 1, 16);
	struct model *model = model_new(&config, NULL);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		g_autoptr(GError) error = NULL;

		cr_assert_not(model_move_read(model, texts[i], &move, &error), "'%s'", texts[i]);
		cr_assert_not_null(error);
	}
	model_free(model);
}

Test(explore, a_thread_that_waits_for_ever_is_stuck)
{
	struct model_config config;

	system_two_readers(&config, 1, 16);
	config.thread[0].step[0] = (struct model_step){ .kind = MODEL_STEP_READ, .length = 4096 }; /* nobody opens */
	struct model_result result = explore(&config, &(struct model_options){ .jobs = 1 });
	cr_assert_eq(result.outcome, MODEL_BROKEN);
	cr_assert_str_eq(result.found.rule, "stuck");
	cr_assert_gt(result.trace->len, 0u);
	model_result_clear(&result);
}

Test(explore, each_choice_of_the_server_leads_further_and_breaks_nothing)
{
	struct model_config config;

	system_two_readers(&config, 1, 16);
	config.starts_mounted = true;
	struct model_result plain = explore(&config, &(struct model_options){ .jobs = 1, .liveness = true });
	config.freedom.grants = 2;
	config.freedom.grant[0] = 1;
	config.freedom.grant[1] = 4;
	struct model_result grants = explore(&config, &(struct model_options){ .jobs = 1, .liveness = true });
	config.freedom.interim = config.freedom.split = config.freedom.spread = true;
	struct model_result all = explore(&config, &(struct model_options){ .jobs = 1, .liveness = true });
	cr_assert_eq(plain.outcome, MODEL_HOLDS);
	cr_assert_eq(grants.outcome, MODEL_HOLDS, "%s: %s", grants.found.rule, grants.found.text);
	cr_assert_eq(all.outcome, MODEL_HOLDS, "%s: %s", all.found.rule, all.found.text);
	cr_assert_gt(grants.numbers.states, plain.numbers.states);
	cr_assert_gt(all.numbers.states, grants.numbers.states);
}
