/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The checker's search against Spin's, over the same cores (model/bench/spin_host.c): as many states and transitions. */

#include "model/explore.h"
#include "model/tests/systems.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <gio/gio.h>
#include <stdio.h>

struct found {
	uint64_t states;
	uint64_t transitions;
	int is_complete;
};

static struct found find_by_spin(const char *system, const char *memory)
{
	const char *arguments[] = { SMB_SPIN_PROGRAM, system, memory, "0", NULL };
	g_autoptr(GSubprocessLauncher)
		launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE);
	g_autofree char *output = NULL;
	struct found found = { 0 };
	GError *error = NULL;
	const char *told;

	cr_assert(*arguments[0], "spin was not there when this was built: apt-get install spin");
	g_subprocess_launcher_setenv(launcher, "ASAN_OPTIONS", "detect_leaks=0", TRUE);
	g_autoptr(GSubprocess) child = g_subprocess_launcher_spawnv(launcher, arguments, &error);
	cr_assert(child, "%s: %s", arguments[0], error ? error->message : "");
	cr_assert(g_subprocess_communicate_utf8(child, NULL, NULL, &output, NULL, &error));
	cr_assert(g_subprocess_get_successful(child), "%s", output);
	told = strstr(output, "states ");
	cr_assert(strstr(output, "errors: 0"), "%s", output);
	while (told && sscanf(told, "states %lu transitions %lu complete %d", &found.states, &found.transitions,
			      &found.is_complete) != 3)
		told = strstr(told + 1, "states ");
	cr_assert_not_null(told, "%s", output);
	return found;
}

static struct found find_by_checker(const char *system)
{
	struct model_config config;
	struct model_result result;
	GError *error = NULL;

	cr_assert(system_find(system, &config));
	struct model *model = model_new(&config, &error);
	cr_assert(model, "%s", error ? error->message : "");
	model_explore(model, &(struct model_options){ .jobs = 1 }, &result);
	cr_assert_eq(result.outcome, MODEL_HOLDS, "%s: %s", result.found.rule, result.found.text);
	struct found found = { result.numbers.states, result.numbers.transitions, 1 };
	model_result_clear(&result);
	model_free(model);
	return found;
}

struct setup {
	char system[32];
	char memory[16];
};

ParameterizedTestParameters(spin, finds_as_many_states_as_the_checker)
{
	static struct setup setups[] = {
		{ "1-channels-5", "remember" },
		{ "1-channels-16", "forget" },
		{ "2-channels-6", "remember" },
	};

	return cr_make_param_array(struct setup, setups, G_N_ELEMENTS(setups));
}

ParameterizedTest(const struct setup *setup, spin, finds_as_many_states_as_the_checker, .timeout = 120)
{
	struct found checker = find_by_checker(setup->system);
	struct found spin = find_by_spin(setup->system, setup->memory);

	cr_expect_gt(checker.states, 50u);
	cr_expect(spin.is_complete);
	cr_expect_eq(checker.states, spin.states, "%s: checker %lu, Spin %lu", setup->system, checker.states,
		     spin.states);
	cr_expect_eq(checker.transitions, spin.transitions, "%s: checker %lu, Spin %lu", setup->system,
		     checker.transitions, spin.transitions);
}
