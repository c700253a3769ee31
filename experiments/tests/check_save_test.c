/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smblab check --save and --resume. */

#include "experiments/check_save.h"
#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

#define CHECK SMB_SOURCE_DIR "/experiments/check/"
#define SMALL CHECK "interfaces.ini"
#define OTHER CHECK "limits.ini"
static const char large[] = CHECK "compound.ini";

/* The lines about states and their parts, and the last one. Which of several parts alike stands for them depends on who
 * comes first: with several threads parts are not compared. */
static char *counts_of(const char *out, bool has_threads)
{
	g_auto(GStrv) lines = g_strsplit(out, "\n", -1);
	guint count = g_strv_length(lines);

	cr_assert_geq(count, 5u, "%s", out);
	return g_strconcat(lines[1], "\n", has_threads ? "" : lines[2], "\n", lines[count - 2], NULL);
}

static guint64 states_of(const char *out)
{
	const char *at = strstr(out, "\nstates ");

	cr_assert_not_null(at, "%s", out);
	return g_ascii_strtoull(at + strlen("\nstates "), NULL, 10);
}

static void assert_says(const struct program *run, int code, const char *says)
{
	cr_assert_eq(run->exit_code, code, "%d: %s", run->exit_code, run->err);
	cr_assert_not_null(strstr(run->err, says), "'%s' does not say '%s'", run->err, says);
}

Test(check_save, what_a_bound_ended_goes_on_to_the_same_counts)
{
	static const char *const hows[] = { "--bfs", "--dfs", "--partial-order", "--jobs=2" };
	char *directory = program_directory();

	for (size_t i = 0; i < G_N_ELEMENTS(hows); i++) {
		struct program whole = program_run(directory, "check", SMALL, hows[i], NULL);
		struct program part = program_run(directory, "check", "--max-states", "1500", "--save", "a b", SMALL,
						  hows[i], NULL);
		struct program rest = program_run(directory, "check", "--save", "a b", SMALL, hows[i], "--resume",
						  "a b", NULL);
		bool has_threads = !strcmp(hows[i], "--jobs=2");
		g_autofree char *of_whole = counts_of(whole.out, has_threads);
		g_autofree char *of_rest = counts_of(rest.out, has_threads);
		g_autofree char *line = g_strdup_printf(
			"\ngo on with: smblab check %s %s --resume 'a b' --save 'a b'\n", SMALL, hows[i]);

		assert_says(&part, 4, line);
		cr_assert_eq(rest.exit_code, 0, "%s", rest.err);
		cr_assert_str_eq(of_whole, of_rest);
		cr_assert_eq(program_entries(directory), 1u);
		program_clear(&whole);
		program_clear(&part);
		program_clear(&rest);
	}
	program_clean(directory);
}

/* The file that thread 2 opens is a directory. */
static struct program check_broken(const char *directory, const char *option, const char *value)
{
	return program_run(directory, "check", CHECK "credits-1ch.ini", "--set", "workload.directories=g", "--set",
			   "workload.thread2=open g", "--no-kit", "--save", "s", option, value, NULL);
}

static guint lines_of(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	return g_strv_length(lines);
}

Test(check_save, a_counterexample_is_as_short_as_without_a_stop)
{
	char *directory = program_directory();
	struct program whole = check_broken(directory, "--jobs", "1");
	struct program part = check_broken(directory, "--max-states", "1");
	struct program rest = check_broken(directory, "--resume", "s");

	cr_assert_eq(whole.exit_code, 1, "%s", whole.err);
	assert_says(&part, 4, " --set 'workload.thread2=open g' --no-kit --resume s --save s\n");
	cr_assert_eq(rest.exit_code, 1, "%s", rest.err);
	cr_assert_not_null(strstr(rest.out, "\nfails is broken: "), "%s", rest.out);
	cr_assert_eq(lines_of(rest.out), lines_of(whole.out), "%s\n%s", whole.out, rest.out);
	program_clear(&whole);
	program_clear(&part);
	program_clear(&rest);
	program_clean(directory);
}

static GSubprocess *start(const char *directory, const char *const *arguments)
{
	g_autoptr(GSubprocessLauncher)
		launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
	GSubprocess *process;

	g_subprocess_launcher_set_cwd(launcher, directory);
	process = g_subprocess_launcher_spawnv(launcher, arguments, NULL);
	cr_assert_not_null(process);
	return process;
}

/* It explores when it tells its progress. */
static void interrupt(GSubprocess *process, int number)
{
	char first;

	cr_assert_eq(g_input_stream_read(g_subprocess_get_stderr_pipe(process), &first, 1, NULL, NULL), 1);
	g_subprocess_send_signal(process, number);
}

Test(check_save, nothing_is_lost_on_an_interrupt)
{
	static const int signals[] = { SIGINT, SIGTERM };
	const char *arguments[] = { program_path, "check", large, NULL };
	char *directory = program_directory();

	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
		g_autoptr(GSubprocess) process = start(directory, arguments);
		const char *file = i ? "out/check-compound-2.states" : "out/check-compound.states";
		struct program part, rest;

		interrupt(process, signals[i]);
		cr_assert(g_subprocess_communicate_utf8(process, NULL, NULL, &part.out, &part.err, NULL));
		part.exit_code = g_subprocess_get_exit_status(process);
		assert_says(&part, 130, file);
		cr_assert(g_str_has_suffix(part.out, "\ninterrupted\n"), "%s", part.out);
		rest = program_run(directory, "check", large, "--resume", file, "--max-states", "1", NULL);
		cr_assert_eq(rest.exit_code, 4, "%s", rest.err);
		cr_assert_gt(states_of(rest.out), states_of(part.out));
		program_clear(&part);
		program_clear(&rest);
	}
	program_clean(directory);
}

Test(check_save, a_program_that_reads_finds_no_file_that_it_did_not_name)
{
	const char *arguments[] = { program_path, "check", "--json", large, NULL };
	char *directory = program_directory();
	g_autoptr(GSubprocess) process = start(directory, arguments);

	interrupt(process, SIGINT);
	cr_assert(g_subprocess_wait(process, NULL, NULL));
	cr_assert_eq(g_subprocess_get_exit_status(process), 130);
	cr_assert_eq(program_entries(directory), 0u);
	program_clean(directory);
}

/* ------------------------------------------------------------------------------------------------ files that do not do */

Test(check_save, what_does_not_do_is_refused_and_says_why)
{
	static const struct {
		const char *arguments[4];
		int code;
		const char *says;
	} cases[] = {
		{ { SMALL, "--resume", "none" }, 2, "cannot read none: No such file or directory" },
		{ { SMALL, "--resume", "text" }, 2, "text was not written by smblab check --save" },
		{ { SMALL, "--resume", "short" }, 2, "short is damaged, nothing of it can be used: begin again" },
		{ { SMALL, "--resume", "flipped" }, 2, "flipped is damaged" },
		{ { OTHER, "--resume", "s" }, 2, "s was written for another config ('" },
		{ { SMALL, "--resume", "s", "--partial-order" }, 2, "give the config and each --set" },
		{ { SMALL, "--resume", "s", "--dfs" }, 2, "s was begun breadth first (without --dfs): go on so" },
		{ { SMALL, "--save", "text" }, 2, "text exists and was not written by smblab check --save" },
		{ { SMALL, "--save", "." }, 2, ". exists and was not written" },
		{ { SMALL, "--save", "no/s" }, 3, "cannot write no/s: No such file or directory" },
		{ { SMALL, "--save=x", "--coverage" }, 2, "--save and --resume go with the check of one config" },
		{ { SMALL, "--resume=s", "--mutant=D-1" }, 2, "--save and --resume go with the check of one config" },
	};
	char *directory = program_directory();
	struct program run = program_run(directory, "check", SMALL, "--max-states", "500", "--save", "s", NULL);
	g_autofree char *path = g_build_filename(directory, "s", NULL);
	g_autofree char *bytes = NULL;
	gsize length;

	cr_assert_eq(run.exit_code, 4, "%s", run.err);
	program_clear(&run);
	cr_assert(g_file_get_contents(path, &bytes, &length, NULL));
	program_write(directory, "text", "not a search\n", -1);
	program_write(directory, "short", bytes, (gssize)length / 2);
	bytes[length / 3] ^= 1;
	program_write(directory, "flipped", bytes, (gssize)length);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const char *const *with = cases[i].arguments;

		run = program_run(directory, "check", with[0], with[1], with[2], with[3], NULL);
		assert_says(&run, cases[i].code, cases[i].says);
		program_clear(&run);
	}
	cr_assert_eq(program_entries(directory), 4u, "nothing else was written");
	program_clean(directory);
}
