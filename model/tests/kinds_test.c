/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/explore.h"
#include "model/tests/systems.h"

#include <criterion/criterion.h>
#include <string.h>

static struct model_kind kind_of(const struct model_config *config, const struct model_done *done, const char *name)
{
	struct model_kind kinds[MODEL_KINDS_MAX];
	uint32_t count = model_kinds(config, done, kinds), i = 0;

	while (i < count && strcmp(kinds[i].name, name) != 0)
		i++;
	cr_assert_lt(i, count, "there is no kind %s", name);
	return kinds[i];
}

static struct model_done explore(const struct model_config *config, uint32_t jobs, uint64_t *transitions)
{
	struct model *model = model_new(config, NULL);
	struct model_result result;

	cr_assert_not_null(model);
	model_explore(model, &(struct model_options){ .jobs = jobs }, &result);
	cr_assert_eq(result.outcome, MODEL_HOLDS, "%s: %s", result.found.rule, result.found.text);
	model_free(model);
	if (transitions)
		*transitions = result.numbers.transitions;
	return result.done;
}

Test(kinds, what_a_model_lacks_never_happens)
{
	struct model_config config;

	system_two_readers(&config, 1, 16);
	struct model_done done = explore(&config, 1, NULL);
	cr_assert(kind_of(&config, &done, "order").is_allowed);
	cr_assert_gt(kind_of(&config, &done, "order").happened, 0u);
	for (int fault = 0; fault < MODEL_FAULTS; fault++) {
		struct model_kind kind = kind_of(&config, &done, model_fault_name((enum model_fault)fault));

		cr_assert_not(kind.is_allowed, "%s", kind.name);
		cr_assert_eq(kind.happened, 0u, "%s", kind.name);
	}
	cr_assert_not(kind_of(&config, &done, "grants").is_allowed);
	cr_assert_eq(kind_of(&config, &done, "splits").happened, 0u);
}

/* Nothing of theirs is in the counts: each is switched on alone. */
Test(kinds, a_fault_that_is_allowed_happens)
{
	static const enum model_fault faults[] = { MODEL_FAULT_CUT,	 MODEL_FAULT_CANCEL, MODEL_FAULT_SEND,
						   MODEL_FAULT_PUSHBACK, MODEL_FAULT_EXPIRE, MODEL_FAULT_TIMER,
						   MODEL_FAULT_BREAK };
	struct model_config config;

	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++) {
		system_two_readers(&config, 1, 16);
		config.starts_mounted = true;
		config.freedom.statuses = 1;
		config.freedom.status[0] = 0xc000009a; /* STATUS_INSUFFICIENT_RESOURCES */
		config.faults[faults[i]] = 1;
		struct model_done done = explore(&config, 1, NULL);
		struct model_kind kind = kind_of(&config, &done, model_fault_name(faults[i]));

		cr_assert(kind.is_allowed, "%s", kind.name);
		cr_assert_gt(kind.happened, 0u, "%s", kind.name);
	}
}

Test(kinds, what_is_allowed_and_cannot_happen_is_seen)
{
	struct model_config config;

	system_two_readers(&config, 1, 16);
	config.faults[MODEL_FAULT_REFUSE] = 1;
	config.starts_mounted = true; /* without a cut nothing is connected again */
	struct model_done done = explore(&config, 1, NULL);
	struct model_kind kind = kind_of(&config, &done, "refusals");

	cr_assert(kind.is_allowed);
	cr_assert_eq(kind.happened, 0u);
	config.faults[MODEL_FAULT_CUT] = 1;
	done = explore(&config, 1, NULL);
	cr_assert_gt(kind_of(&config, &done, "refusals").happened, 0u);
}

Test(kinds, every_transition_is_counted_once_by_any_number_of_threads)
{
	struct model_config config;

	system_two_readers(&config, 1, 16);
	config.faults[MODEL_FAULT_CUT] = 1;
	config.freedom.grants = 1;
	config.freedom.grant[0] = 2;
	for (uint32_t jobs = 1; jobs <= 3; jobs++) {
		uint64_t transitions, sum = 0;
		struct model_done done = explore(&config, jobs, &transitions);

		for (int kind = 0; kind < MODEL_MOVES; kind++) {
			for (int choice = 0; choice < MODEL_CHOICES; choice++)
				sum += done.moves[kind][choice];
		}
		cr_assert_eq(sum, transitions);
	}
}
