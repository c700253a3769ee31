/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Partial order against all orders: what is judged must be met either way. */

#include "model/explore_internal.h"
#include "model/tests/met.h"
#include "model/tests/systems.h"
#include "protocol/wire/smb2.h"

#include <criterion/criterion.h>
#include <string.h>

/* Too much: the client goes on alone although the connection could be cut. */
static uint32_t select_despite_cuts(struct model_worker *worker, const struct model_state *state,
				    struct model_move *moves, uint32_t count)
{
	uint32_t kept = 0;

	(void)worker;
	if (!state->wire[0][MODEL_TO_CLIENT])
		return count;
	for (uint32_t i = 0; i < count; i++) {
		if (moves[i].kind == MODEL_MOVE_TO_CLIENT || moves[i].kind == MODEL_MOVE_START)
			moves[kept++] = moves[i];
	}
	return kept;
}

/* ------------------------------------------------------------------------------------------------------------ systems */

struct variant {
	const char *name;
	uint32_t channels;
	uint8_t faults[MODEL_FAULTS];
	struct model_freedom freedom;
	void (*change)(struct model_config *config);
	guint percent; /* of all states, at most */
	const char *breaks; /* a rule, if any */
};

/* Three threads that read past the page cache. */
static void read_directly(struct model_config *config)
{
	config->thread[0].step[0].direct = true;
	config->threads = 3;
	config->thread[2] = config->thread[1];
	config->thread[2].step[0].offset = 32768;
	model_config_set_limits(config, config->client_limits.channels);
}

static void mount_anew(struct model_config *config)
{
	config->starts_mounted = false;
}

static void write_back(struct model_config *config)
{
	config->threads = 1;
	config->file[0].bytes = 0;
	config->thread[0] = (struct model_thread){
		.steps = 4,
		.step = { { .kind = MODEL_STEP_OPEN, .access = SMB_OPEN_WRITE },
			  { .kind = MODEL_STEP_WRITE, .length = 131072 },
			  { .kind = MODEL_STEP_FSYNC },
			  { .kind = MODEL_STEP_CLOSE } },
	};
	model_config_set_limits(config, config->client_limits.channels);
}

/* A lease that can be broken until the end and behind it, for the handle stays open. */
static void stay_open(struct model_config *config)
{
	config->thread[0].steps = 2;
	config->unmounts = false;
}

static void run_commands(struct model_config *config)
{
	config->thread[1] = (struct model_thread){
		.steps = 1,
		.step = { { .kind = MODEL_STEP_COMMAND, .command = { .kind = SMB_OPS_STAT, .source = "f" } } },
	};
	model_config_set_limits(config, config->client_limits.channels);
}

/* The second thread's open is refused, and reads of the first go on. */
static void open_a_directory(struct model_config *config)
{
	read_directly(config);
	config->files = 2;
	config->file[1] = (struct model_file){ .name = "d", .is_directory = true };
	config->thread[2] = (struct model_thread){ .steps = 1, .step = { { .kind = MODEL_STEP_OPEN, .file = 1 } } };
	model_config_set_limits(config, config->client_limits.channels);
}

#define REFUSED .freedom = { .statuses = 1, .status = { STATUS_INSUFFICIENT_RESOURCES } }

static const struct variant variants[] = {
	{ .name = "reads", .percent = 60, .channels = 1, .change = read_directly },
	{ .name = "reads ahead", .percent = 90, .channels = 1 },
	{ .name = "from the mount on", .percent = 95, .channels = 1, .change = mount_anew },
	{ .name = "grants",
	  .percent = 50,
	  .channels = 1,
	  .change = read_directly,
	  .freedom = { .grants = 2, .grant = { 0, 4 } } },
	{ .name = "interim replies, split and spread",
	  .percent = 60,
	  .channels = 1,
	  .freedom = { .interim = true, .split = true, .spread = true } },
	{ .name = "commands", .percent = 75, .channels = 1, .change = run_commands },
	{ .name = "two channels", .percent = 100, .channels = 2, .change = read_directly },
	{ .name = "two channels, interim replies", .percent = 98, .channels = 2, .freedom = { .interim = true } },
	{ .name = "a cut", .percent = 87, .channels = 1, .faults = { [MODEL_FAULT_CUT] = 1 } },
	{ .name = "a cut and a refusal, two channels",
	  .percent = 100,
	  .channels = 2,
	  .faults = { [MODEL_FAULT_CUT] = 1, [MODEL_FAULT_REFUSE] = 1 } },
	{ .name = "a signal",
	  .percent = 55,
	  .channels = 1,
	  .change = read_directly,
	  .faults = { [MODEL_FAULT_CANCEL] = 1 } },
	{ .name = "a timer", .percent = 70, .channels = 1, .faults = { [MODEL_FAULT_TIMER] = 1 } },
	{ .name = "a PDU that is not sent",
	  .percent = 60,
	  .channels = 1,
	  .change = read_directly,
	  .faults = { [MODEL_FAULT_SEND] = 1 } },
	{ .name = "a request that is refused",
	  .percent = 55,
	  .channels = 1,
	  .change = read_directly,
	  .faults = { [MODEL_FAULT_PUSHBACK] = 1 },
	  REFUSED },
	{ .name = "a session that expires", .percent = 82, .channels = 1, .faults = { [MODEL_FAULT_EXPIRE] = 1 } },
	{ .name = "breaks", .percent = 56, .channels = 1, .faults = { [MODEL_FAULT_BREAK] = 2 } },
	{ .name = "a break, a cut and a signal",
	  .percent = 64,
	  .channels = 1,
	  .faults = { [MODEL_FAULT_BREAK] = 1, [MODEL_FAULT_CUT] = 1, [MODEL_FAULT_CANCEL] = 1 } },
	{ .name = "writes that are refused",
	  .percent = 90,
	  .channels = 1,
	  .change = write_back,
	  .faults = { [MODEL_FAULT_PUSHBACK] = 2 },
	  REFUSED },
	{ .name = "a break beside the end",
	  .percent = 100,
	  .channels = 1,
	  .change = stay_open,
	  .faults = { [MODEL_FAULT_BREAK] = 1 } },
	{ .name = "an operation that fails",
	  .percent = 60,
	  .channels = 1,
	  .change = open_a_directory,
	  .breaks = "fails" },
	{ .name = "an operation that fails, and a fault that excuses it",
	  .percent = 57,
	  .channels = 1,
	  .change = open_a_directory,
	  .faults = { [MODEL_FAULT_PUSHBACK] = 1 },
	  REFUSED,
	  .breaks = "fails" },
};

static struct model *build(const struct variant *variant)
{
	struct model_config config;
	GError *error = NULL;
	struct model *model;

	system_two_readers(&config, variant->channels, 10);
	config.starts_mounted = true;
	config.freedom = variant->freedom;
	config.freedom.any_order = true;
	memcpy(config.faults, variant->faults, sizeof(config.faults));
	if (variant->change)
		variant->change(&config);
	model = model_new(&config, &error);
	cr_assert_not_null(model, "%s: %s", variant->name, error ? error->message : "");
	return model;
}

Test(ample, what_is_judged_is_met_in_fewer_states)
{
	for (size_t i = 0; i < G_N_ELEMENTS(variants); i++) {
		const struct variant *variant = &variants[i];
		struct model *model = build(variant);
		struct met all, less;
		guint states, fewer;

		met_search(model, &(struct met_how){ 0 }, &all);
		met_search(model, &(struct met_how){ .select = model_ample }, &less);
		states = g_hash_table_size(all.states);
		fewer = g_hash_table_size(less.states);
		cr_expect(met_sets_equal(less.effects, all.effects), "%s: effects", variant->name);
		cr_expect(met_sets_equal(less.still, all.still), "%s: states with nothing under way", variant->name);
		cr_expect(met_sets_equal(less.ends, all.ends), "%s: ends", variant->name);
		cr_expect(met_sets_equal(less.rules, all.rules), "%s: broken rules", variant->name);
		cr_expect_gt(g_hash_table_size(all.ends), 0u, "%s", variant->name);
		cr_expect_eq(g_hash_table_size(all.rules), variant->breaks != NULL, "%s", variant->name);
		cr_expect_leq(fewer * 100, states * variant->percent, "%s: %u of %u", variant->name, fewer, states);
		met_clear(&all);
		met_clear(&less);
		model_free(model);
	}
}

/* That nothing is lost above is no matter of course: what a cut loses on its way is one of the states at rest. */
Test(ample, going_on_alone_before_a_cut_loses_what_is_judged)
{
	struct variant variant = { .name = "a cut", .channels = 1, .faults = { [MODEL_FAULT_CUT] = 1 } };
	struct model *model = build(&variant);
	struct met all, less;

	met_search(model, &(struct met_how){ 0 }, &all);
	met_search(model, &(struct met_how){ .select = select_despite_cuts }, &less);
	cr_expect_lt(g_hash_table_size(less.still), g_hash_table_size(all.still));
	cr_expect_not(met_sets_equal(less.effects, all.effects));
	met_clear(&all);
	met_clear(&less);
	model_free(model);
}

Test(ample, the_explorer_counts_what_it_leaves_out)
{
	static const bool deep[] = { false, true };
	struct model *model = build(&variants[0]);
	struct model_config config = *model_config_of(model);
	struct model_result all, less;
	struct met met;

	met_search(model, &(struct met_how){ .select = model_ample }, &met);
	model_explore(model, &(struct model_options){ .jobs = 1 }, &all);
	model_free(model);
	config.partial_order = true;
	for (size_t i = 0; i < G_N_ELEMENTS(deep); i++) {
		model = model_new(&config, NULL);
		model_explore(model, &(struct model_options){ .jobs = 2, .depth_first = deep[i] }, &less);
		cr_assert_eq(less.outcome, MODEL_HOLDS);
		cr_assert_eq(less.numbers.states, g_hash_table_size(met.states));
		cr_assert_eq(less.ends, all.ends);
		cr_assert_gt(less.numbers.spared, 0u);
		cr_assert_lt(less.numbers.transitions + less.numbers.spared, all.numbers.transitions);
		model_free(model);
	}
	met_clear(&met);
	cr_assert_eq(all.numbers.spared, 0u);
}

Test(ample, a_broken_rule_is_found_and_the_way_to_it_can_be_gone)
{
	struct model_config config;
	struct model *model = build(&(struct variant){ .name = "d", .channels = 1, .change = open_a_directory });
	struct model_worker *worker;
	struct model_result result;
	struct model_state state, next;

	config = *model_config_of(model);
	model_free(model);
	config.partial_order = true;
	model = model_new(&config, NULL);
	model_explore(model, &(struct model_options){ .jobs = 1 }, &result);
	cr_assert_eq(result.outcome, MODEL_BROKEN);
	cr_assert_str_eq(result.found.rule, "fails");
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

Test(ample, liveness_is_refused)
{
	struct model_config config;
	g_autoptr(GError) error = NULL;

	system_two_readers(&config, 1, 16);
	config.partial_order = config.is_live = true;
	cr_assert_null(model_new(&config, &error));
	cr_assert_not_null(strstr(error->message, "check.partial_order"), "%s", error->message);
}
