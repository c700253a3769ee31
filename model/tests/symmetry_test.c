/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Threads taken for each other against each thread for itself. */

#include "model/explore_internal.h"
#include "model/internal.h"
#include "model/tests/met.h"
#include "model/tests/systems.h"
#include "protocol/wire/smb2.h"

#include <criterion/criterion.h>
#include <string.h>

struct variant {
	const char *name;
	uint32_t alike; /* threads that do the same, beside the first one */
	uint8_t faults[MODEL_FAULTS];
	struct model_freedom freedom;
	struct model_step step[2]; /* of the threads that do the same; length 0: one step */
	bool partial_order;
	const char *breaks; /* a rule, if any */
};

#define READ(at)                                                                                                       \
	{                                                                                                              \
		.kind = MODEL_STEP_READ, .offset = (at), .length = 65536                                               \
	}

static const struct variant variants[] = {
	{ .name = "two readers", .alike = 2, .step = { READ(65536) } },
	{ .name = "three readers", .alike = 3, .step = { READ(65536) } },
	{ .name = "two readers of two places", .alike = 2, .step = { READ(65536), READ(0) } },
	{ .name = "two readers, few credits granted",
	  .alike = 2,
	  .step = { READ(65536) },
	  .freedom = { .grants = 1, .grant = { 1 } } },
	{ .name = "three readers, and one gets a signal",
	  .alike = 3,
	  .step = { READ(65536) },
	  .faults = { [MODEL_FAULT_CANCEL] = 1 } },
	{ .name = "two readers over a cut", .alike = 2, .step = { READ(65536) }, .faults = { [MODEL_FAULT_CUT] = 1 } },
	{ .name = "two readers, and partial order", .alike = 2, .step = { READ(65536) }, .partial_order = true },
	{ .name = "two readers, a refused request, partial order",
	  .alike = 2,
	  .step = { READ(65536) },
	  .faults = { [MODEL_FAULT_PUSHBACK] = 1 },
	  .partial_order = true,
	  .freedom = { .statuses = 1, .status = { STATUS_INSUFFICIENT_RESOURCES } } },
	{ .name = "two that run a command",
	  .alike = 2,
	  .step = { { .kind = MODEL_STEP_COMMAND, .command = { .kind = SMB_OPS_STAT, .source = "f" } } } },
	{ .name = "three that run a command that fails",
	  .alike = 3,
	  .breaks = "fails",
	  .step = { { .kind = MODEL_STEP_COMMAND, .command = { .kind = SMB_OPS_RM, .source = "g" } } } },
};

static void configure(const struct variant *variant, bool symmetry, struct model_config *config)
{
	system_two_readers(config, 1, 12);
	config->starts_mounted = true;
	config->thread[0].step[0].direct = true;
	config->threads = 1 + variant->alike;
	for (uint32_t t = 1; t <= variant->alike; t++) {
		config->thread[t].steps = variant->step[1].length ? 2 : 1;
		memcpy(config->thread[t].step, variant->step, sizeof(variant->step));
	}
	config->freedom = variant->freedom;
	config->freedom.any_order = true;
	memcpy(config->faults, variant->faults, sizeof(config->faults));
	config->symmetry = symmetry;
	model_config_set_limits(config, 1);
}

static struct model *build(const struct variant *variant, bool symmetry, bool partial_order)
{
	struct model_config config;
	GError *error = NULL;
	struct model *model;

	configure(variant, symmetry, &config);
	config.partial_order = partial_order;
	model = model_new(&config, &error);
	cr_assert_not_null(model, "%s: %s", variant->name, error ? error->message : "");
	return model;
}

static struct model_result explore(struct model *model, uint32_t jobs, bool deep)
{
	struct model_result result;

	model_explore(model, &(struct model_options){ .jobs = jobs, .depth_first = deep }, &result);
	return result;
}

/* Each state without symmetry, its threads put in order, is one that is met with it, and there are no others. */
Test(symmetry, one_state_of_those_that_can_be_swapped_is_met)
{
	for (size_t i = 0; i < G_N_ELEMENTS(variants); i++) {
		const struct variant *variant = &variants[i];
		struct model *model = build(variant, false, false);
		struct model *swapping = build(variant, true, variant->partial_order);
		struct met_how how = { .select = variant->partial_order ? model_ample : NULL, .in_order = true };
		struct met all, less;

		met_search(model, &(struct met_how){ .in_order = true }, &all);
		met_search(swapping, &how, &less);
		cr_expect(variant->partial_order || met_sets_equal(less.states, all.states), "%s: states",
			  variant->name);
		cr_expect(met_sets_equal(less.effects, all.effects), "%s: effects", variant->name);
		cr_expect(met_sets_equal(less.clients, all.clients), "%s: client sides", variant->name);
		cr_expect(met_sets_equal(less.servers, all.servers), "%s: server sides", variant->name);
		cr_expect(met_sets_equal(less.still, all.still), "%s: still", variant->name);
		cr_expect(met_sets_equal(less.ends, all.ends), "%s: ends", variant->name);
		cr_expect(met_sets_equal(less.rules, all.rules), "%s: broken rules", variant->name);
		cr_expect_eq(g_hash_table_size(all.rules), variant->breaks != NULL, "%s", variant->name);
		met_clear(&all);
		met_clear(&less);
		model_free(model);
		model_free(swapping);
	}
}

Test(symmetry, states_and_those_swapped_are_all)
{
	for (size_t i = 0; i < G_N_ELEMENTS(variants); i++) {
		const struct variant *variant = &variants[i];
		struct model *model = build(variant, false, variant->partial_order);
		struct model *swapping = build(variant, true, variant->partial_order);
		struct model_result all = explore(model, 1, false);
		struct model_result wide = explore(swapping, 2, false), deep = explore(swapping, 1, true);

		cr_expect_eq(wide.outcome, all.outcome, "%s", variant->name);
		cr_expect_eq(deep.outcome, all.outcome, "%s", variant->name);
		cr_expect_eq(all.outcome, variant->breaks ? MODEL_BROKEN : MODEL_HOLDS, "%s", variant->name);
		if (!variant->breaks) {
			cr_expect_eq(wide.numbers.states + wide.numbers.swapped, all.numbers.states, "%s",
				     variant->name);
			cr_expect_eq(deep.numbers.states + deep.numbers.swapped, all.numbers.states, "%s",
				     variant->name);
		}
		if (variant->breaks)
			cr_expect_str_eq(wide.found.rule, variant->breaks, "%s", variant->name);
		else
			cr_expect_gt(wide.numbers.swapped, wide.numbers.states / 8, "%s", variant->name);
		cr_expect_eq(all.numbers.swapped, 0u, "%s", variant->name);
		model_result_clear(&all);
		model_result_clear(&wide);
		model_result_clear(&deep);
		model_free(model);
		model_free(swapping);
	}
}

static bool can_happen(struct model_worker *worker, const struct model_state *state, struct model_move move)
{
	struct model_move moves[MODEL_MOVES_MAX];
	uint32_t count = model_moves(worker, state, moves);

	for (uint32_t i = 0; i < count; i++) {
		if (!memcmp(&moves[i], &move, sizeof(move)))
			return true;
	}
	return false;
}

/* A directory that all but the first thread want to open, one after another, each with a read before. */
static void open_after_reading(struct model_config *config)
{
	config->files = 2;
	config->file[1] = (struct model_file){ .name = "d", .is_directory = true };
	config->symmetry = true;
	model_config_set_limits(config, 1);
}

Test(symmetry, a_trace_is_one_of_the_threads_as_they_are)
{
	const struct variant variant = { .alike = 3,
					 .step = { READ(65536), { .kind = MODEL_STEP_OPEN, .file = 1, .length = 1 } } };
	struct model_config config;
	struct model_result result;
	struct model_state state, next;
	uint32_t threads = 0;
	GError *error = NULL;

	configure(&variant, true, &config);
	open_after_reading(&config);
	struct model *model = model_new(&config, &error);
	cr_assert_not_null(model, "%s", error ? error->message : "");
	result = explore(model, 1, true);
	cr_assert_eq(result.outcome, MODEL_BROKEN);
	struct model *plain = model_without_symmetry(model);
	struct model_worker *worker = model_worker_new(plain);
	cr_assert_not(model_config_of(plain)->symmetry);
	model_first_state(plain, &state);
	for (guint i = 0; i < result.trace->len; i++) {
		struct model_move move = g_array_index(result.trace, struct model_move, i);
		bool holds;

		cr_assert(can_happen(worker, &state, move), "step %u", i);
		if (move.kind == MODEL_MOVE_START)
			threads |= 1u << move.argument;
		holds = model_do(worker, &state, move, &next);
		cr_assert_eq(holds, i + 1 < result.trace->len, "step %u", i);
		state = next;
	}
	cr_assert_str_eq(model_broken(worker)->text, result.found.text);
	cr_assert_geq(__builtin_popcount(threads), 3, "%#x", threads);
	model_worker_free(worker);
	model_free(plain);
	model_result_clear(&result);
	model_free(model);
}

/* What they write tells them apart. */
Test(symmetry, threads_that_write_are_not_taken_for_each_other)
{
	static const enum model_step_kind kinds[] = { MODEL_STEP_WRITE, MODEL_STEP_FSYNC };

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		const struct variant variant = { .alike = 2, .step = { { .kind = kinds[i], .length = 4096 } } };
		struct model_config config;
		struct model_result result;

		configure(&variant, true, &config);
		if (kinds[i] == MODEL_STEP_WRITE)
			config.thread[0].step[0].access = SMB_OPEN_READ_WRITE;
		struct model *model = model_new(&config, NULL);
		result = explore(model, 1, false);
		cr_assert_eq(result.outcome, MODEL_HOLDS, "%s", result.found.text);
		cr_assert_eq(result.numbers.swapped, 0u);
		model_free(model);
	}
}

Test(symmetry, threads_that_do_different_things_are_not_taken_for_each_other)
{
	struct model_config config;
	struct model_result result;

	configure(&variants[0], true, &config);
	config.thread[2].step[0].offset = 61440;
	struct model *model = model_new(&config, NULL);
	result = explore(model, 1, false);
	cr_assert_eq(result.outcome, MODEL_HOLDS, "%s", result.found.text);
	cr_assert_eq(result.numbers.swapped, 0u);
	model_free(model);
}

Test(symmetry, liveness_is_refused)
{
	struct model_config config;
	g_autoptr(GError) error = NULL;

	configure(&variants[0], true, &config);
	config.is_live = true;
	cr_assert_null(model_new(&config, &error));
	cr_assert_not_null(strstr(error->message, "check.symmetry"), "%s", error->message);
}
