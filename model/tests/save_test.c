/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stopping and going on: nothing is lost or counted twice. */

#include "model/tests/saving.h"
#include "model/tests/systems.h"

#include <criterion/criterion.h>
#include <glib/gstdio.h>

static void assert_same(const char *name, const struct model_options *options, const struct model_result *one,
			const struct model_result *other)
{
	cr_assert_eq(one->outcome, other->outcome, "%s", name);
	cr_assert_str_eq(one->found.rule, other->found.rule, "%s", name);
	if (one->outcome == MODEL_BROKEN) {
		if (!options->depth_first && !options->liveness)
			cr_assert_eq(one->trace->len, other->trace->len, "%s", name);
		return;
	}
	cr_assert_eq(one->numbers.states, other->numbers.states, "%s", name);
	cr_assert_eq(one->numbers.swapped, other->numbers.swapped, "%s", name);
	cr_assert_eq(one->numbers.spared, other->numbers.spared, "%s", name);
	cr_assert_eq(one->numbers.transitions, other->numbers.transitions, "%s", name);
	cr_assert_eq(one->numbers.depth, other->numbers.depth, "%s", name);
	cr_assert_eq(one->ends, other->ends, "%s", name);
	cr_assert_arr_eq(&one->done, &other->done, sizeof(one->done));
}

/* All moves of the trace can be made, and the last one, or the state it leads to, is what is wrong. */
static void assert_trace_leads_to_the_fault(const struct model_config *config, const struct model_result *result)
{
	struct model *model = model_new(config, NULL);
	struct model_worker *worker = model_worker_new(model);
	struct model_move moves[MODEL_MOVES_MAX];
	struct model_state state, next;
	bool holds = true;

	model_first_state(model, &state);
	for (guint i = 0; i < result->trace->len; i++) {
		struct model_move move = g_array_index(result->trace, struct model_move, i);
		uint32_t count = model_moves(worker, &state, moves), at = 0;

		cr_assert(holds, "only the last move breaks the rule");
		while (at < count && memcmp(&moves[at], &move, sizeof(move)) != 0)
			at++;
		cr_assert_lt(at, count, "move %u cannot be made", i);
		holds = model_do(worker, &state, move, &next);
		state = next;
	}
	if (holds)
		holds = model_moves(worker, &state, moves) || model_check_end(worker, &state);
	cr_assert_not(holds);
	model_worker_free(worker);
	model_free(model);
}

/* ------------------------------------------------------------------------------------------------------------- systems */

static void add_faults(struct model_config *config)
{
	system_two_readers(config, 1, 16);
	config->faults[MODEL_FAULT_CUT] = 1;
}

static void add_freedom(struct model_config *config)
{
	add_faults(config);
	config->starts_mounted = true;
	config->faults[MODEL_FAULT_PUSHBACK] = 1;
	config->freedom.statuses = 1;
	config->freedom.status[0] = 0xc000009a; /* STATUS_INSUFFICIENT_RESOURCES */
}

static void add_alike(struct model_config *config)
{
	system_two_readers(config, 1, 16);
	config->threads = 3;
	config->thread[2] = config->thread[1];
	config->symmetry = true;
	config->freedom.interim = true;
	config->faults[MODEL_FAULT_CUT] = 1;
	model_config_set_limits(config, 1);
}

static void add_order(struct model_config *config)
{
	system_two_readers(config, 1, 16);
	config->starts_mounted = true;
	config->freedom.interim = true;
	config->freedom.grants = 2;
	config->freedom.grant[1] = 5;
	config->partial_order = true;
}

static void add_both(struct model_config *config)
{
	add_alike(config);
	config->partial_order = true;
}

/* The file that thread 2 opens is a directory: its operation fails some way down. */
static void add_failure(struct model_config *config)
{
	system_two_readers(config, 1, 16);
	config->faults[MODEL_FAULT_TIMER] = 2;
	config->files = 2;
	config->file[1] = (struct model_file){ .name = "g", .is_directory = true };
	config->thread[1].steps = 2;
	config->thread[1].step[1] = (struct model_step){ .kind = MODEL_STEP_OPEN, .file = 1 };
	model_config_set_limits(config, 1);
}

/* The server is gone, and a hard mount waits for ever. */
static void add_waiting(struct model_config *config)
{
	add_faults(config);
	config->starts_mounted = true;
	config->never_back = true;
	config->client.mount.soft = false;
}

static const struct system {
	const char *name;
	void (*build)(struct model_config *config);
	bool is_live; /* liveness can be judged */
	enum model_outcome outcome;
	const char *rule_live; /* the same outcome by this rule when liveness is judged */
} systems[] = {
	{ "faults", add_faults, true, MODEL_HOLDS, "" },       { "freedom", add_freedom, true, MODEL_HOLDS, "" },
	{ "symmetry", add_alike, false, MODEL_HOLDS, "" },     { "partial order", add_order, false, MODEL_HOLDS, "" },
	{ "both", add_both, false, MODEL_HOLDS, "" },	       { "failure", add_failure, true, MODEL_BROKEN, "fails" },
	{ "waiting", add_waiting, true, MODEL_BROKEN, "C34" },
};

static const struct model_options searches[] = {
	{ .jobs = 1 },
	{ .jobs = 2 },
	{ .depth_first = true },
	{ .jobs = 1, .liveness = true },
	{ .jobs = 2, .liveness = true },
	{ .depth_first = true, .liveness = true },
};

/* Stop again and again until it is over: each time after a block of states, and a fifth of all. */
static void assert_stopping_changes_nothing(const struct system *system, const struct model_config *config,
					    const struct model_options *options)
{
	struct model_result whole = saving_explore(config, options), part;
	struct scratch scratch = scratch_new();
	struct model_options how = *options;
	guint runs = 0;

	how.bounds.states = 1;
	for (;; model_result_clear(&part)) {
		how.jobs = 1 + (options->jobs + runs++) % 2;
		part = saving_go_on(config, &how, &scratch);
		cr_assert_null(part.error, "%s: %s", system->name, part.error ? part.error->message : "");
		cr_assert_eq(part.saved_bytes > 0, part.outcome == MODEL_BOUND, "%s", system->name);
		if (part.outcome != MODEL_BOUND)
			break;
		how.bounds.states = part.numbers.states + whole.numbers.states / 5;
	}
	cr_assert_eq(part.outcome, system->outcome, "%s", system->name);
	if (options->liveness)
		cr_assert_str_eq(part.found.rule, system->rule_live, "%s", system->name);
	cr_assert(runs > 1 || (options->depth_first && part.outcome == MODEL_BROKEN), "%s: it was stopped",
		  system->name);
	assert_same(system->name, options, &whole, &part);
	if (part.outcome == MODEL_BROKEN && !options->liveness)
		assert_trace_leads_to_the_fault(config, &part);
	model_result_clear(&whole);
	model_result_clear(&part);
	scratch_clear(&scratch);
}

Test(save, a_run_that_is_stopped_often_comes_to_the_same_end)
{
	for (size_t i = 0; i < G_N_ELEMENTS(systems); i++) {
		for (size_t how = 0; how < G_N_ELEMENTS(searches); how++) {
			struct model_config config;

			if (searches[how].liveness && !systems[i].is_live)
				continue;
			systems[i].build(&config);
			config.is_live = searches[how].liveness;
			assert_stopping_changes_nothing(&systems[i], &config, &searches[how]);
		}
	}
}

Test(save, a_bound_on_depth_that_is_raised_loses_nothing)
{
	static const uint32_t depths[] = { 1, 20, 21, 45, 0 };
	struct model_config config;

	add_faults(&config);
	for (int deep = 0; deep < 2; deep++) {
		struct model_options options = { .jobs = 1, .depth_first = deep };
		struct model_result whole = saving_explore(&config, &options), part;
		struct scratch scratch = scratch_new();

		for (size_t i = 0; i < G_N_ELEMENTS(depths); i++) {
			options.bounds.depth = depths[i];
			part = saving_go_on(&config, &options, &scratch);
			cr_assert_eq(part.outcome, depths[i] ? MODEL_BOUND : MODEL_HOLDS);
			cr_assert_eq(part.bound, depths[i] ? MODEL_BOUND_DEPTH : MODEL_BOUND_NONE);
			cr_assert(!depths[i] || part.numbers.depth == depths[i], "%u", part.numbers.depth);
		}
		if (deep) /* in which order states are found decides how deep it goes */
			part.numbers.depth = whole.numbers.depth;
		assert_same("depth", &options, &whole, &part);
		scratch_clear(&scratch);
	}
}

Test(save, what_was_stopped_goes_on)
{
	struct model_config config;
	bool stop = true;

	add_faults(&config);
	for (int deep = 0; deep < 2; deep++) {
		struct model_options options = { .jobs = 2, .depth_first = deep };
		struct model_result whole = saving_explore(&config, &options);
		struct scratch scratch = scratch_new();
		struct model_result part;
		GStatBuf status;

		options.stop = &stop;
		part = saving_go_on(&config, &options, &scratch);
		cr_assert_eq(part.outcome, MODEL_STOPPED);
		cr_assert_lt(part.numbers.states, whole.numbers.states);
		cr_assert_eq(g_stat(scratch.file, &status), 0);
		cr_assert_eq((uint64_t)status.st_size, part.saved_bytes);
		options.stop = NULL;
		part = saving_go_on(&config, &options, &scratch);
		assert_same("stopped", &options, &whole, &part);
		scratch_clear(&scratch);
	}
}

/* What is judged of the whole graph is judged when it goes on, though no state is left. */
Test(save, what_was_stopped_when_all_states_were_seen_is_judged_later)
{
	struct model_options options = { .jobs = 1, .liveness = true };
	struct scratch scratch = scratch_new();
	struct model_config config;

	add_faults(&config);
	config.is_live = true;
	struct model_result whole = saving_explore(&config, &options);
	options.bounds.states = whole.numbers.states;
	struct model_result part = saving_go_on(&config, &options, &scratch);
	cr_assert_eq(part.outcome, MODEL_BOUND);
	while (part.outcome == MODEL_BOUND && part.numbers.queue)
		part = saving_go_on(&config, &options, &scratch);
	cr_assert_eq(part.outcome, MODEL_BOUND);
	options.bounds.states = 0;
	part = saving_go_on(&config, &options, &scratch);
	assert_same("all seen", &options, &whole, &part);
	scratch_clear(&scratch);
}

/* A file that nobody named is for interrupts alone, and its directory is made. */
Test(save, the_default_file_is_not_written_when_a_bound_is_reached)
{
	struct scratch scratch = scratch_new();
	g_autofree char *deep = g_build_filename(scratch.directory, "out", "states", NULL);
	g_autofree char *out = g_path_get_dirname(deep);
	struct model_saving saving = saving_plain;
	struct model_options options = { .jobs = 1, .saving = &saving, .bounds = { .states = 1 } };
	struct model_config config;
	bool stop = true;

	add_faults(&config);
	saving.path = deep;
	saving.is_default = true;
	struct model_result result = saving_explore(&config, &options);
	cr_assert_eq(result.outcome, MODEL_BOUND);
	cr_assert_eq(result.saved_bytes, 0u);
	cr_assert_not(g_file_test(out, G_FILE_TEST_EXISTS));
	options.stop = &stop;
	result = saving_explore(&config, &options);
	cr_assert_eq(result.outcome, MODEL_STOPPED);
	cr_assert_gt(result.saved_bytes, 0u);
	cr_assert_eq(g_unlink(deep), 0);
	cr_assert_eq(g_rmdir(out), 0);
	scratch_clear(&scratch);
}
