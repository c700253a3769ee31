/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs that go round for ever although they need not: a mutant whose fsync may end, and may also be kept from it. */

#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define CONFIG "experiments/check/mutant-writes-again.ini"

static const char mutant[] = SMB_BINARY_DIR "/experiments/mutants/smblab-mutant-L-1-all-again";

struct said {
	int exit_code;
	char *out;
};

/* A line for the shell, in the source directory. */
static struct said run(const char *line)
{
	g_autofree char *inside = g_strdup_printf("cd '" SMB_SOURCE_DIR "' && %s", line);
	GString *out = g_string_new(NULL);
	FILE *pipe = popen(inside, "r");
	char part[4096];
	int status;

	cr_assert_not_null(pipe);
	while (fgets(part, sizeof(part), pipe))
		g_string_append(out, part);
	status = pclose(pipe);
	return (struct said){ .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
			      .out = g_string_free(out, FALSE) };
}

struct endless {
	const char *set; /* one key more */
	const char *says;
};

static const struct endless cases[] = {
	{ "server.write_pushback=2", "\nC33 is broken: thread 1: fsync f never ends: " },
	{ "faults.breaks=1", "\nC20 is broken: the break of open 0 is never acknowledged: " },
	{ "faults.cuts=1", "\nC34 is broken: thread 1: fsync f never ends: " },
};

/* An end can be reached: that there is a way out does not keep a fair run from going round. */
Test(circle, a_fair_run_that_may_also_get_done_is_found_by_each_rule)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *line = g_strdup_printf("'%s' check " CONFIG " --no-kit --set '%s' 2>&1", mutant,
							cases[i].set);
		struct said said = run(line);

		cr_expect_eq(said.exit_code, 1);
		cr_expect_not_null(strstr(said.out, cases[i].says), "%s: %s", cases[i].set, said.out);
		cr_expect_not_null(strstr(said.out, "repeats for ever, without a pause"), "%s", said.out);
		cr_expect_null(strstr(said.out, ", ends 0\n"), "%s: no end was met", cases[i].set);
		g_free(said.out);
	}
}

/* The client as it is comes to an end in all of them. */
Test(circle, the_client_as_it_is_gets_done)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct program run = program_run(SMB_SOURCE_DIR, "check", CONFIG, "--set", cases[i].set, NULL);

		cr_expect_eq(run.exit_code, 0, "%s: %s%s", cases[i].set, run.out, run.err);
		cr_expect_not_null(strstr(run.out, "\nall rules hold, liveness too\n"), "%s", run.out);
		program_clear(&run);
	}
}

/* ------------------------------------------------------------------------------------------------------------- replayed */

#define CIRCLE "from here it repeats: steps 9 to 13 end where they begin"

static char *kit_made(void)
{
	char *directory = program_directory();
	g_autofree char *line = g_strdup_printf("'%s' check " CONFIG " --kit %s/kit 2>&1", mutant, directory);
	struct said said = run(line);

	cr_assert_eq(said.exit_code, 1, "%s", said.out);
	g_free(said.out);
	return directory;
}

static struct said replay(const char *directory, const char *options)
{
	g_autofree char *line = g_strdup_printf("'%s' replay %s/kit/replay.smblab %s 2>&1", mutant, directory, options);

	return run(line);
}

Test(circle, text_and_chart_of_the_kit_show_what_repeats)
{
	char *directory = kit_made();
	g_autofree char *kit = g_build_filename(directory, "kit", NULL);
	g_autofree char *trace = program_read(kit, "trace.txt"), *chart = program_read(kit, "trace.svg");

	cr_assert(trace && chart);
	cr_expect_not_null(strstr(trace, "\n" CIRCLE), "%s", trace);
	cr_expect_not_null(strstr(trace, "\ninstead: whatever comes first, one of these steps"), "%s", trace);
	cr_expect_not_null(strstr(chart, "<path id=\"circle\""));
	program_clean(directory);
}

Test(circle, nothing_repeats_in_another_counterexample)
{
	char *directory = program_directory();
	struct program run;
	g_autofree char *trace = NULL, *chart = NULL;

	program_write(directory, "fails.ini",
		      "[client]\nkernel=6.12\nmount=vers=3.1.1\n[check]\nstart=mounted\nliveness=true\n"
		      "[workload]\nfiles=f\ndirectories=g\nthread1=open g\n",
		      -1);
	run = program_run(directory, "check", "fails.ini", NULL);
	trace = program_read(directory, "out/check-fails/trace.txt");
	chart = program_read(directory, "out/check-fails/trace.svg");
	cr_expect_eq(run.exit_code, 1, "%s%s", run.out, run.err);
	cr_assert(trace && chart);
	cr_expect_null(strstr(trace, "it repeats"), "%s", trace);
	cr_expect_null(strstr(chart, "id=\"circle\""));
	program_clear(&run);
	program_clean(directory);
}

/* Thirteen steps, and the five of the circle once more. */
Test(circle, checker_and_simulation_go_round_again)
{
	char *directory = kit_made();
	struct said checker = replay(directory, ""), simulation = replay(directory, "--sim");

	cr_expect_eq(checker.exit_code, 1, "%s", checker.out);
	cr_expect_not_null(strstr(checker.out, "\n" CIRCLE), "%s", checker.out);
	cr_expect_not_null(strstr(checker.out, "(the recorded fault)"), "%s", checker.out);
	cr_expect_eq(simulation.exit_code, 1, "%s", simulation.out);
	cr_expect_not_null(strstr(simulation.out, "step 18: C33 is broken: thread 1: fsync f never ends"), "%s",
			   simulation.out);
	cr_expect_not_null(strstr(simulation.out, "(the recorded fault)"), "%s", simulation.out);
	g_free(checker.out);
	g_free(simulation.out);
	program_clean(directory);
}

/* Without a way out: the server refuses all WRITEs, or is gone for good. */
Test(circle, the_simulation_goes_round_where_no_end_can_be_reached)
{
	static const struct {
		const char *config;
		const char *sets[2];
		const char *says;
	} endless[] = {
		{ CONFIG,
		  { "server.write_pushback=1", "server.order=kept" },
		  "C33 is broken: thread 1: fsync f never ends" },
		{ "experiments/check/mutant-server-gone.ini",
		  { "client.mount=hard,vers=3.1.1", "check.liveness=true" },
		  "C34 is broken: thread 1: open f never ends" },
	};
	char *directory = program_directory();
	g_autofree char *kit = g_build_filename(directory, "kit", NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(endless); i++) {
		struct program check = program_run(SMB_SOURCE_DIR, "check", endless[i].config, "--set",
						   endless[i].sets[0], "--set", endless[i].sets[1], "--kit", kit, NULL);
		struct program simulation = program_run(directory, "replay", "kit/replay.smblab", "--sim", NULL);

		cr_expect_eq(check.exit_code, 1, "%s%s", check.out, check.err);
		cr_expect_not_null(strstr(check.out, endless[i].says), "%s", check.out);
		cr_expect_eq(simulation.exit_code, 1, "%s%s", simulation.out, simulation.err);
		cr_expect_not_null(strstr(simulation.out, endless[i].says), "%s", simulation.out);
		program_clear(&check);
		program_clear(&simulation);
	}
	program_clean(directory);
}

/* The same moves as far as they can happen: the client as it is sends one WRITE again, and not both. */
Test(circle, the_client_as_it_is_does_not_go_round)
{
	char *directory = kit_made();
	struct program checker = program_run(directory, "replay", "kit/replay.smblab", NULL);
	struct program simulation = program_run(directory, "replay", "kit/replay.smblab", "--sim", NULL);

	cr_expect_eq(checker.exit_code, 4, "%s%s", checker.out, checker.err);
	cr_expect_not_null(strstr(checker.out, "no rule is broken, where C33 was recorded"), "%s", checker.out);
	cr_expect_null(strstr(checker.out, "it repeats"), "%s", checker.out);
	cr_expect_eq(simulation.exit_code, 4, "%s%s", simulation.out, simulation.err);
	program_clear(&checker);
	program_clear(&simulation);
	program_clean(directory);
}

/* Forward from the last step is the first of the circle again; back from there is the step before it. */
Test(circle, on_a_terminal_one_steps_round_and_back)
{
	static const char *const places[] = { "[1 of 13]", "[13 of 13]", "[9 of 13]", "[8 of 13]", "[9 of 13]" };
	char *directory = kit_made();
	g_autofree char *line = g_strdup_printf(
		"printf '13\\nn\\np\\nn\\nq\\n' | script -qec \"'%s' replay %s/kit/replay.smblab\" /dev/null", mutant,
		directory);
	struct said said = run(line);
	const char *at = said.out;

	for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
		at = strstr(at, places[i]);
		cr_assert_not_null(at, "no %s in %s", places[i], said.out);
		at++;
	}
	g_free(said.out);
	program_clean(directory);
}
