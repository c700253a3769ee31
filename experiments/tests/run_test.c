/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/store.h"
#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <gio/gio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

TestSuite(run, .timeout = 300);

/* Enough points, each long enough, to be stopped in the middle. */
static const char long_config[] = "[workload]\ncommand=dd if=/mnt/test/file of=/dev/null bs=1M count=64\n"
				  "[sweep]\nclient.rasize=1M;2M;4M;8M\nnetwork.rtt=1ms;2ms;5ms;10ms;20ms;40ms\n";

static struct lab_store_counts counts_of(const char *directory, const char *out)
{
	g_autofree char *path = g_build_filename(directory, out, NULL);
	g_autoptr(GError) error = NULL;
	g_autoptr(lab_store) store = lab_store_open(path, false, &error);
	struct lab_store_counts counts = { 0 };

	cr_assert(store && lab_store_count(store, &counts, &error), "%s", error ? error->message : "");
	return counts;
}

static void run_whole(const char *directory, const char *config, const char *out)
{
	struct program program = program_run(directory, "run", config, "--out", out, NULL);

	cr_assert_eq(program.exit_code, 0, "exit %d: %s", program.exit_code, program.err);
	program_clear(&program);
}

static void expect_same_file(const char *directory, const char *a, const char *b)
{
	g_autofree char *text_a = program_read(directory, a);
	g_autofree char *text_b = program_read(directory, b);

	cr_assert(text_a && *text_a, "%s is missing", a);
	cr_assert_str_eq(text_a, text_b, "%s and %s differ", a, b);
}

Test(run, twice_the_same_config_gives_the_same_bytes)
{
	char *directory = program_directory();
	g_autofree char *quick = NULL;

	g_file_get_contents(SMB_SOURCE_DIR "/experiments/quick.ini", &quick, NULL, NULL);
	cr_assert(quick);
	program_write(directory, "quick.ini", quick, -1);
	run_whole(directory, "quick.ini", "a");
	run_whole(directory, "quick.ini", "b");
	expect_same_file(directory, "a/results.csv", "b/results.csv");
	expect_same_file(directory, "a/report.html", "b/report.html");
	program_clean(directory);
}

Test(run, the_number_of_workers_does_not_show)
{
	char *directory = program_directory();
	struct program one, four;

	program_write(directory, "c.ini", program_config, -1);
	one = program_run(directory, "run", "c.ini", "--out", "one", "--jobs", "1", NULL);
	four = program_run(directory, "run", "c.ini", "--out", "four", "--jobs", "4", NULL);
	cr_assert_eq(one.exit_code, 0, "%s", one.err);
	cr_assert_eq(four.exit_code, 0, "%s", four.err);
	expect_same_file(directory, "one/results.csv", "four/results.csv");
	program_clear(&one);
	program_clear(&four);
	program_clean(directory);
}

Test(run, seeds_matter_where_there_is_chance_and_only_there)
{
	static const struct {
		const char *network;
		bool differ;
	} cases[] = { { "network.jitter=0", false }, { "network.jitter=3ms", true }, { "network.loss=0.002", true } };
	char *directory = program_directory();

	program_write(directory, "c.ini",
		      "[network]\nrtt=20ms\nrate=1Gbit\n"
		      "[workload]\ncommand=dd if=/mnt/f of=/dev/null bs=1M count=16\n"
		      "[sweep]\nexperiment.seed=1;2\n",
		      -1);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct program program = program_run(directory, "run", "c.ini", "--json", "--set", cases[i].network,
						     NULL);
		const char *first = strstr(program.out, "\"seconds\"");
		const char *second = first ? strstr(first + 1, "\"seconds\"") : NULL;

		cr_assert_eq(program.exit_code, 0, "%s", program.err);
		cr_assert(second, "%s", program.out);
		cr_assert_eq(strncmp(first, second, 24) != 0, cases[i].differ, "%s: %.40s against %.40s",
			     cases[i].network, first, second);
		program_clear(&program);
	}
	program_clean(directory);
}

Test(run, finished_points_are_not_computed_again)
{
	char *directory = program_directory();
	struct program program;

	program_write(directory, "c.ini", program_config, -1);
	run_whole(directory, "c.ini", "out");
	cr_assert_eq(counts_of(directory, "out").computations, 6);
	run_whole(directory, "c.ini", "out");
	cr_assert_eq(counts_of(directory, "out").computations, 6);
	program = program_run(directory, "run", "c.ini", "--out", "out", "--set", "sweep.network.rtt=1ms;2ms", NULL);
	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	cr_assert_eq(counts_of(directory, "out").computations, 9, "only the new RTT is computed");
	program_clear(&program);
	program_clean(directory);
}

/* Start a run and let it finish a few points, but not all; the process is then still at work. */
static GSubprocess *start_and_wait(const char *directory, guint least)
{
	g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_SILENCE |
									    G_SUBPROCESS_FLAGS_STDERR_PIPE);
	const char *const argv[] = { program_path, "run", "long.ini", "--out", "out", "--jobs", "1", NULL };
	GSubprocess *process;
	g_autoptr(GDataInputStream) lines = NULL;
	guint seen = 0;

	g_subprocess_launcher_set_cwd(launcher, directory);
	process = g_subprocess_launcher_spawnv(launcher, argv, NULL);
	cr_assert(process);
	lines = g_data_input_stream_new(g_subprocess_get_stderr_pipe(process));
	/* closed with its reader, the pipe would end the process with SIGPIPE */
	g_filter_input_stream_set_close_base_stream(G_FILTER_INPUT_STREAM(lines), FALSE);
	while (seen < least) {
		g_autofree char *line = g_data_input_stream_read_line(lines, NULL, NULL, NULL);

		cr_assert(line, "the run ended before it could be stopped");
		if (strstr(line, " of 24 points"))
			seen++;
	}
	return process;
}

static void expect_resumed(const char *directory, guint finished_before)
{
	struct lab_store_counts counts;

	run_whole(directory, "long.ini", "out");
	run_whole(directory, "long.ini", "undisturbed");
	expect_same_file(directory, "out/results.csv", "undisturbed/results.csv");
	counts = counts_of(directory, "out");
	cr_assert_eq(counts.finished, 24);
	cr_assert_eq(counts.computations, 24, "%u computations; %u points were finished before", counts.computations,
		     finished_before);
}

Test(run, a_run_killed_in_the_middle_goes_on_to_the_same_result)
{
	char *directory = program_directory();
	GSubprocess *process;
	guint finished;

	program_write(directory, "long.ini", long_config, -1);
	process = start_and_wait(directory, 2);
	g_subprocess_force_exit(process);
	g_subprocess_wait(process, NULL, NULL);
	g_object_unref(process);
	finished = counts_of(directory, "out").finished;
	cr_assert(finished > 0 && finished < 24, "%u points were finished", finished);
	expect_resumed(directory, finished);
	program_clean(directory);
}

Test(run, an_interrupted_run_exits_130_and_keeps_what_is_finished)
{
	static const int signals[] = { SIGINT, SIGTERM };

	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
		char *directory = program_directory();
		GSubprocess *process;
		guint finished;

		program_write(directory, "long.ini", long_config, -1);
		process = start_and_wait(directory, 2);
		g_subprocess_send_signal(process, signals[i]);
		g_subprocess_wait(process, NULL, NULL);
		cr_assert(g_subprocess_get_if_exited(process));
		cr_assert_eq(g_subprocess_get_exit_status(process), 130);
		g_object_unref(process);
		finished = counts_of(directory, "out").finished;
		cr_assert(finished > 0 && finished < 24, "%u points were finished", finished);
		expect_resumed(directory, finished);
		program_clean(directory);
	}
}

Test(run, shards_merge_into_the_whole)
{
	static const char *const shards[] = { "1/3", "2/3", "3/3" };
	static const char *const outs[] = { "s1", "s2", "s3" };
	char *directory = program_directory();
	struct program program;

	program_write(directory, "c.ini", program_config, -1);
	run_whole(directory, "c.ini", "whole");
	for (size_t i = 0; i < G_N_ELEMENTS(shards); i++) {
		program = program_run(directory, "run", "c.ini", "--out", outs[i], "--shard", shards[i], NULL);
		cr_assert_eq(program.exit_code, 0, "%s", program.err);
		cr_assert_eq(counts_of(directory, outs[i]).computations, 2);
		program_clear(&program);
	}
	program = program_run(directory, "merge", "s1", "s2", "--out", "two", NULL);
	cr_assert_eq(program.exit_code, 4, "a shard is missing");
	program_clear(&program);
	program = program_run(directory, "merge", "s1", "s2", "s3", "--out", "joined", NULL);
	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	expect_same_file(directory, "joined/results.csv", "whole/results.csv");
	expect_same_file(directory, "joined/report.html", "whole/report.html");
	program_clear(&program);
	program_clean(directory);
}

Test(run, stores_of_different_experiments_do_not_merge)
{
	char *directory = program_directory();
	struct program program;

	program_write(directory, "c.ini", program_config, -1);
	run_whole(directory, "c.ini", "a");
	program = program_run(directory, "run", "c.ini", "--out", "b", "--set", "network.rtt=3ms", NULL);
	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	program_clear(&program);
	program = program_run(directory, "merge", "a", "b", NULL);
	cr_assert_eq(program.exit_code, 2);
	cr_assert(strstr(program.err, "another experiment"), "%s", program.err);
	program_clear(&program);
	program = program_run(directory, "merge", "a", "a", "b", "--out", "new", NULL);
	cr_assert_eq(program.exit_code, 2);
	cr_assert_eq(program_entries(directory), 3, "something was written");
	program_clear(&program);
	program = program_run(directory, "merge", "a", "a", "--out", "a", NULL);
	cr_assert_eq(program.exit_code, 0, "the same store twice is one: %s", program.err);
	program_clear(&program);
	program_clean(directory);
}

Test(run, report_writes_the_same_files_from_the_store)
{
	char *directory = program_directory();
	g_autofree char *before_csv = NULL, *before_html = NULL, *after_csv = NULL, *after_html = NULL;
	struct program program;

	program_write(directory, "c.ini", program_config, -1);
	run_whole(directory, "c.ini", "out");
	before_csv = program_read(directory, "out/results.csv");
	before_html = program_read(directory, "out/report.html");
	program_write(directory, "out/results.csv", "damaged", -1);
	program_write(directory, "out/report.html", "damaged", -1);
	program = program_run(directory, "report", "out", NULL);
	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	after_csv = program_read(directory, "out/results.csv");
	after_html = program_read(directory, "out/report.html");
	cr_assert_str_eq(before_csv, after_csv);
	cr_assert_str_eq(before_html, after_html);
	program_clear(&program);
	program_clean(directory);
}

Test(run, an_impossible_point_is_a_row_and_not_a_gap)
{
	char *directory = program_directory();
	g_autofree char *csv = NULL;
	struct program program;
	g_auto(GStrv) lines = NULL;

	program_write(directory, "c.ini",
		      "[workload]\ncommand=dd if=/mnt/f of=/dev/null bs=1M count=2\n[sweep]\nclient.rasize=1M;64M;4M\n",
		      -1);
	program = program_run(directory, "run", "c.ini", "--out", "out", NULL);
	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	csv = program_read(directory, "out/results.csv");
	lines = g_strsplit(g_strchomp(csv), "\n", -1);
	cr_assert_eq(g_strv_length(lines), 4);
	cr_assert(g_str_has_prefix(lines[2], "64M,"), "%s", lines[2]);
	cr_assert(strstr(lines[2], "impossible") && strstr(lines[2], "Invalid rasize"), "%s", lines[2]);
	program_clear(&program);
	program_clean(directory);
}

Test(run, an_experiment_of_which_nothing_finished_exits_4)
{
	char *directory = program_directory();
	struct program program;
	const char *still = "[client]\ncost.request_cpu=0\ncost.receive_cpu=0\ncost.copy_cpu=0\ncost.page_cpu=0\n"
			    "cost.syscall_cpu=0\n[server]\nrequest_cpu=0\nreceive_cpu=0\nsend_cpu=0\nread_cpu=0\n"
			    "storage_latency=0\n[network]\nrtt=0\nrate=unlimited\n"
			    "[workload]\ncommand=dd if=/mnt/f of=/dev/null bs=1M count=2\n";

	program_write(directory, "c.ini", still, -1);
	program = program_run(directory, "run", "c.ini", "--out", "out", NULL);
	cr_assert_eq(program.exit_code, 4, "exit %d: %s", program.exit_code, program.err);
	cr_assert(strstr(program.out, "nothing on the way takes any time"), "%s", program.out);
	program_clear(&program);
	program_clean(directory);
}

Test(run, an_empty_file_is_read_to_its_end)
{
	static const char *const commands[] = { "workload.command=dd if=/mnt/f of=/dev/null bs=1M",
						"workload.command=cat /mnt/f" };
	char *directory = program_directory();

	program_write(directory, "c.ini", program_config, -1);
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		struct program program = program_run(directory, "run", "c.ini", "--json", "--set", commands[i], "--set",
						     "workload.file_size=0", NULL);

		cr_assert_eq(program.exit_code, 0, "%s", program.err);
		cr_assert(strstr(program.out, "\"bytes\" : 0,") && strstr(program.out, "finished"), "%s", program.out);
		program_clear(&program);
	}
	program_clean(directory);
}

Test(run, a_result_that_cannot_be_printed_is_an_environment_error)
{
	static const char *const arguments[] = { "list keys", "list eras --json", "--help", "--version" };

	for (size_t i = 0; i < G_N_ELEMENTS(arguments); i++) {
		g_autofree char *line = g_strdup_printf("'%s' %s > /dev/full 2> /dev/null", program_path, arguments[i]);
		const char *const argv[] = { "sh", "-c", line, NULL };
		g_autoptr(GSubprocess) process = g_subprocess_newv(argv, G_SUBPROCESS_FLAGS_NONE, NULL);

		cr_assert(process && g_subprocess_wait(process, NULL, NULL));
		cr_assert_eq(g_subprocess_get_exit_status(process), 3, "%s", arguments[i]);
	}
}

Test(run, a_point_that_reaches_a_bound_is_a_row_and_exit_4)
{
	char *directory = program_directory();
	g_autofree char *csv = NULL;
	struct program program;

	program_write(directory, "c.ini", program_config, -1);
	program = program_run(directory, "run", "c.ini", "--out", "out", "--set", "experiment.time_limit=5ms", NULL);
	cr_assert_eq(program.exit_code, 4, "exit %d: %s", program.exit_code, program.err);
	csv = program_read(directory, "out/results.csv");
	cr_assert(strstr(csv, "time limit"), "%s", csv);
	program_clear(&program);
	program_clean(directory);
}

Test(run, a_directory_in_use_is_left_alone)
{
	char *directory = program_directory();
	g_autofree char *out = g_build_filename(directory, "out", NULL);
	g_autoptr(lab_store) store = lab_store_open(out, true, NULL);
	struct program program;

	cr_assert(store);
	program_write(directory, "c.ini", program_config, -1);
	program = program_run(directory, "run", "c.ini", "--out", "out", NULL);
	cr_assert_eq(program.exit_code, 3);
	cr_assert(strstr(program.err, "at work"), "%s", program.err);
	program_clear(&program);
	program_clean(directory);
}

Test(run, an_unwritable_directory_is_an_environment_error)
{
	char *directory = program_directory();
	struct program program;

	program_write(directory, "c.ini", program_config, -1);
	program_write(directory, "file", "", -1);
	program = program_run(directory, "run", "c.ini", "--out", "file/out", NULL);
	cr_assert_eq(program.exit_code, 3, "%s", program.err);
	program_clear(&program);
	program_clean(directory);
}

Test(run, the_version_names_program_and_revision)
{
	char *directory = program_directory();
	struct program program = program_run(directory, "--version", NULL);

	cr_assert_eq(program.exit_code, 0);
	cr_assert(g_str_has_prefix(program.out, "smblab "));
	cr_assert(strstr(program.out, "git "));
	program_clear(&program);
	program_clean(directory);
}
