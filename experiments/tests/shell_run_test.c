/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shell commands as the workload of a run: what the files and the terminal say. */
#include "experiments/measured.h"
#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(shell_run);

#define MACHINES "[client]\nkernel=4.20\ncost.command_cpu=1ms\n[network]\nrtt=20ms\n"

static const char *cell(const struct lab_table *table, guint row, const char *column)
{
	char **names = table->lines->pdata[0];

	for (guint i = 0; names[i]; i++)
		if (!strcmp(names[i], column))
			return ((char **)table->lines->pdata[row])[i];
	cr_assert_fail("no column %s", column);
	return NULL;
}

static struct lab_table *run(const char *directory, const char *config, struct program *program)
{
	g_autofree char *csv = g_build_filename(directory, "out", "results.csv", NULL);
	g_autoptr(GError) error = NULL;
	struct lab_table *table;

	program_write(directory, "c.ini", config, -1);
	*program = program_run(directory, "run", "c.ini", "--out", "out", NULL);
	cr_assert_eq(program->exit_code, 0, "%s", program->err);
	table = lab_table_read(csv, &error);
	cr_assert(table, "%s", error ? error->message : "");
	return table;
}

Test(shell_run, time_pairs_and_pdus_are_of_what_is_measured)
{
	char *directory = program_directory();
	struct program program;
	struct lab_table *table = run(
		directory, MACHINES "[workload]\nprepare=touch /mnt/a; sleep 2\ncommand=rm /mnt/a; mkdir /mnt/b\n",
		&program);

	cr_expect_str_eq(cell(table, 1, "pairs"), "5", "rm 2, mkdir 3");
	cr_expect_str_eq(cell(table, 1, "pdus"), "10");
	cr_expect_str_eq(cell(table, 1, "commands"), "2");
	cr_expect_str_eq(cell(table, 1, "command_failures"), "0");
	cr_expect_str_eq(cell(table, 1, "violations"), "0");
	cr_expect_float_eq(g_ascii_strtod(cell(table, 1, "seconds"), NULL), 0.102, 0.001);
	cr_expect_float_eq(g_ascii_strtod(cell(table, 1, "command_ms"), NULL), 51, 0.5);
	cr_expect(strstr(program.out, "2 commands, 5 request/response pairs"), "%s", program.out);
	lab_table_free(table);
	program_clear(&program);
	program_clean(directory);
}

Test(shell_run, a_command_that_fails_is_told_and_the_next_one_runs)
{
	char *directory = program_directory();
	struct program program;
	struct lab_table *table = run(
		directory, MACHINES "[workload]\nmissing=/mnt/nix\ncommand=rm /mnt/nix; stat /mnt/there\n", &program);

	cr_expect_str_eq(cell(table, 1, "commands"), "2");
	cr_expect_str_eq(cell(table, 1, "command_failures"), "1");
	cr_expect(strstr(program.out, "rm nix: No such file or directory"), "%s", program.out);
	lab_table_free(table);
	program_clear(&program);
	program_clean(directory);
}

Test(shell_run, counts_are_compared_with_a_table_of_counts)
{
	char *directory = program_directory();
	struct program program;
	struct lab_table *table;

	program_write(directory, "m.csv", "what,command,n\nrm,rm /mnt/a,3\nother,rmdir /mnt/d,\n", -1);
	table = run(directory,
		    MACHINES "[measured]\nfile=m.csv\npoints=rows\nvalue=n\nquantity=pairs\nlabel=what\n"
			     "match.workload.command=command\n",
		    &program);
	cr_assert_eq(table->lines->len, 3);
	cr_expect_str_eq(cell(table, 1, "measured_pairs"), "3");
	cr_expect_str_eq(cell(table, 1, "measured_MBps"), "");
	cr_expect_str_eq(cell(table, 1, "error_percent"), "-33.33", "2 instead of 3");
	cr_expect_str_eq(cell(table, 2, "measured_pairs"), "", "a point with nothing to compare");
	cr_expect_str_eq(cell(table, 2, "pairs"), "2");
	lab_table_free(table);
	program_clear(&program);
	program_clean(directory);
}

Test(shell_run, clients_that_cannot_be_are_refused)
{
	static const struct {
		const char *lines, *reason;
	} cases[] = {
		{ "[client]\nclients=33\n", "most is 32" },
		{ "[client]\nclients=8\nmax_channels=16\n", "the server takes 64 connections" },
		{ "[client]\nclients=2\n[network]\nshared_host=true\n", "there is one host" },
	};
	char *directory = program_directory();

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *config = g_strconcat(cases[i].lines, "[workload]\ncommand=stat /mnt/a\n", NULL);

		program_write(directory, "c.ini", config, -1);
		struct program program = program_run(directory, "run", "c.ini", "--out", "out", NULL);
		cr_expect_eq(program.exit_code, 2, "case %zu", i);
		cr_expect(strstr(program.err, cases[i].reason), "%s", program.err);
		program_clear(&program);
	}
	program_clean(directory);
}
