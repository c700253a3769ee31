/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Programs whose conditions are known to come out one way, compiled and counted by GCC as it is. */

#include "reports/coverage/coverage.h"

#include <criterion/criterion.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

TestSuite(branches);

static char *run(const char *folder, const char *const *argv)
{
	g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE);
	g_autoptr(GSubprocess) process = NULL;
	g_autoptr(GError) error = NULL;
	char *out = NULL;

	g_subprocess_launcher_set_cwd(launcher, folder);
	process = g_subprocess_launcher_spawnv(launcher, argv, &error);
	cr_assert(process && g_subprocess_communicate_utf8(process, NULL, NULL, &out, NULL, &error), "%s",
		  error ? error->message : "");
	cr_assert(g_subprocess_get_successful(process), "%s", argv[0]);
	return out;
}

static void write_file(const char *folder, const char *name, const char *text)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);

	cr_assert(g_file_set_contents(path, text, -1, NULL));
}

/* What is never so in a program, line by line. */
static struct coverage *coverage_of(const char *source)
{
	static const char *const compile[] = { "gcc", "-O0", "--coverage", "-o", "program", "a.c", NULL };
	static const char *const itself[] = { "./program", NULL };
	static const char *const gcov[] = { "gcov",	"--json-format",  "--branch-probabilities",
					    "--stdout", "program-a.gcda", NULL };
	g_autofree char *folder = g_dir_make_tmp("branches-XXXXXX", NULL);
	struct coverage *coverage = coverage_new(folder);
	g_autoptr(GError) error = NULL;

	write_file(folder, "a.c", source);
	g_free(run(folder, compile));
	g_free(run(folder, itself));
	g_autofree char *told = run(folder, gcov);
	cr_assert(coverage_add_gcov(coverage, told, &error), "%s", error ? error->message : "");
	cr_assert(coverage_finish(coverage, &error), "%s", error ? error->message : "");
	cr_assert_eq(coverage->files->len, 1u);
	for (char **name = (char *[]){ "a.c", "program", "program-a.gcno", "program-a.gcda", NULL }; *name; name++) {
		g_autofree char *path = g_build_filename(folder, *name, NULL);

		g_unlink(path);
	}
	g_rmdir(folder);
	return coverage;
}

/* What is never so between two lines. */
static char *never_of(const struct coverage *coverage, const struct coverage_function *function)
{
	const struct coverage_file *file = coverage->files->pdata[0];
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < file->branches->len; i++) {
		const struct coverage_branch *branch = file->branches->pdata[i];

		if (!branch->count && !branch->is_behind && coverage_function_at(file, branch->line) == function)
			g_string_append_printf(text, "%s%s", text->len ? "; " : "", branch->never);
	}
	return g_string_free(text, FALSE);
}

/* `a` is 1, `b` is 0, `n` is 3; what the body of f is, and what must be told. */
static const struct {
	const char *body;
	const char *never;
} cases[] = {
	{ "if (a)\n\t\treturn 1;", "`a` is never false" },
	{ "if (b)\n\t\treturn 1;", "`b` is never true" },
	{ "if (!b)\n\t\treturn 1;", "`!b` is never false" },
	{ "if (a && b)\n\t\treturn 1;", "`a` is never false; `b` is never true" },
	{ "if (b && a)\n\t\treturn 1;", "`b` is never true" },
	{ "if (a || b)\n\t\treturn 1;", "`a` is never false" },
	{ "if (b || a)\n\t\treturn 1;", "`b` is never true; `a` is never false" },
	{ "if (!a || !b)\n\t\treturn 1;", "`!a` is never true; `!b` is never false" },
	{ "if (a && (b || n == 3))\n\t\treturn 1;", "`a` is never false; `b` is never true; `n == 3` is never false" },
	{ "if ((a && b) || n > 5)\n\t\treturn 1;", "`a` is never false; `b` is never true; `n > 5` is never true" },
	{ "if ((b || a) && n)\n\t\treturn 1;", "`b` is never true; `a` is never false; `n` is never false" },
	{ "if (a &&\n\t    b)\n\t\treturn 1;", "`a` is never false; `b` is never true" },
	{ "return b ||\n\t       (a &&\n\t\tn == 3);",
	  "`b` is never true; `a` is never false; `n == 3` is never false" },
	{ "n = a ? 4 :\n\t\t  5;", "`a` is never false" },
	{ "n = a\n\t\t? 4\n\t\t: 5;", "branch 2 of 2 is never taken" }, /* gcov means the line of the '?' */
	{ "while (n-- > 0 && a)\n\t\tb += a;", "`a` is never false" },
	{ "for (int i = 0; i < n; i++) {\n\t\tif (i == 7)\n\t\t\tcontinue;\n\t\tb++;\n\t}", "`i == 7` is never true" },
	{ "for (int i = 0; i < n; i++) {\n\t\tif (a)\n\t\t\tbreak;\n\t}",
	  "`i < n` is never false; `a` is never false" },
	{ "n = a ? 4 : 5;", "`a` is never false" },
	{ "return b ? 4 : 5;", "`b` is never true" },
	{ "return a && n == 3;", "`a` is never false; `n == 3` is never false" },
	{ "n = b || n == 4;", "`b` is never true; `n == 4` is never true" },
	{ "return f(a && n == 2);", "`a` is never false; `n == 2` is never true" },
	{ "if (n == '&' || n == 3) /* a || b */\n\t\treturn 1;", "`n == '_'` is never true; `n == 3` is never false" },
	{ "switch (n) {\n\tcase 1:\n\tcase 2:\n\t\treturn 1;\n\tcase 3:\n\t\tbreak;\n\tdefault:\n\t\tbreak;\n\t}",
	  "case 1, case 2 is never taken; default is never taken" },
	{ "switch (n) {\n\tcase 3:\n\t\treturn 1;\n\t}", "" },
	{ "n++;", "" },
};

Test(branches, each_is_named_as_the_program_went)
{
	g_autoptr(GString) source = g_string_new("static int f(int a)\n{\n\treturn a;\n}\n");
	struct coverage *coverage;
	const struct coverage_file *file;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_string_append_printf(source,
				       "static int case_%zu(void)\n{\n\tvolatile int a = 1, b = 0, n = 3;\n"
				       "\t(void)a, (void)b, (void)f;\n\t%s\n\treturn 0;\n}\n",
				       i, cases[i].body);
	g_string_append(source, "int main(void)\n{\n");
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_string_append_printf(source, "\tcase_%zu();\n", i);
	g_string_append(source, "\treturn 0;\n}\n");
	coverage = coverage_of(source->str);
	file = coverage->files->pdata[0];
	cr_assert_eq(file->functions->len, G_N_ELEMENTS(cases) + 2);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *never = never_of(coverage, file->functions->pdata[i + 1]);

		cr_expect_str_eq(never, cases[i].never, "%s\n  says %s\n  not  %s", cases[i].body, never,
				 cases[i].never);
	}
	coverage_free(coverage);
}

Test(branches, what_was_counted_twice_is_added_up)
{
	struct coverage *coverage = coverage_new("/nowhere");
	const char *told = "{\"current_working_directory\":\"/nowhere/build\",\"files\":[{\"file\":\"../a.c\","
			   "\"functions\":[{\"name\":\"f\",\"start_line\":1,\"end_line\":4,\"execution_count\":%u}],"
			   "\"lines\":[{\"line_number\":2,\"count\":%u,\"branches\":[{\"count\":%u},{\"count\":%u}]}]},"
			   "{\"file\":\"/usr/include/x.h\",\"functions\":[],\"lines\":[]}]}";
	g_autofree char *first = g_strdup_printf(told, 1, 1, 1, 0);
	g_autofree char *second = g_strdup_printf(told, 2, 3, 0, 3);

	cr_assert(coverage_add_gcov(coverage, first, NULL) && coverage_add_gcov(coverage, second, NULL));
	cr_assert_eq(coverage->files->len, 1u, "a header of the system is none of ours");
	const struct coverage_file *file = coverage->files->pdata[0];
	const struct coverage_line *line = &g_array_index(file->lines, struct coverage_line, 2);

	cr_assert_str_eq(file->path, "a.c");
	cr_assert_eq(coverage_function_at(file, 3)->count, 3u);
	cr_assert_eq(line->count, 4u);
	cr_assert_eq(g_array_index(line->arcs, guint64, 0), 1u);
	cr_assert_eq(g_array_index(line->arcs, guint64, 1), 3u);
	coverage_free(coverage);
}

Test(branches, what_is_no_answer_of_gcov_is_refused)
{
	struct coverage *coverage = coverage_new("/nowhere");
	g_autoptr(GError) error = NULL;

	cr_assert_not(coverage_add_gcov(coverage, "Segmentation fault", &error));
	cr_assert_not_null(error);
	g_clear_error(&error);
	cr_assert_not(coverage_add_cells(coverage, "0 1 2\n0 99 0\n", &error));
	cr_assert_not_null(strstr(error->message, "0 99 0"), "%s", error->message);
	coverage_free(coverage);
}

Test(branches, credit_and_compound_code_is_there)
{
	const char *const *paths;
	guint count = coverage_focus_paths(&paths);

	cr_assert_gt(count, 10u);
	for (guint i = 0; i < count; i++) {
		cr_expect(g_file_test(paths[i], G_FILE_TEST_IS_REGULAR), "there is no %s", paths[i]);
		cr_expect_not_null(coverage_focus(paths[i]));
		cr_expect(!g_str_has_prefix(paths[i], "protocol/monitor/"), "%s judges", paths[i]);
	}
	cr_assert_null(coverage_focus("protocol/flow/none.c"));
}

/* A reason for code that is not there any more would hide what takes its place. */
Test(branches, reasons_are_given_for_functions_that_exist)
{
	const char *path = NULL, *function = NULL;
	guint count = coverage_beyond_at(0, &path, &function);

	cr_assert_gt(count, 50u);
	for (guint i = 0; i < count; i++) {
		g_autofree char *text = NULL;
		g_autofree char *call = NULL;

		coverage_beyond_at(i, &path, &function);
		call = g_strconcat(function, "(", NULL);
		cr_assert_not_null(coverage_focus(path), "%s is no credit or compound code", path);
		cr_assert(g_file_get_contents(path, &text, NULL, NULL), "there is no %s", path);
		cr_expect_not_null(strstr(text, call), "%s has no %s", path, function);
	}
	cr_expect_null(coverage_beyond("protocol/flow/credits.c", "smb_credits_take", "`count` is never true"));
	cr_expect_not_null(
		coverage_beyond("protocol/flow/credits.c", "clip", "`*value > SMB_CREDITS_CLIP` is never true"));
}

Test(branches, every_cell_of_the_tables_has_words)
{
	for (int table = 0; table < SMB_TABLES; table++) {
		struct smb_table_info info = smb_table_info((enum smb_table)table);
		guint cells = 0;

		cr_assert_leq(info.rows, (guint)COVERAGE_CELL_ROWS);
		cr_assert_leq(info.columns, (guint)COVERAGE_CELL_COLUMNS);
		for (uint32_t row = 0; row < info.rows; row++) {
			cr_expect_not_null(smb_table_row((enum smb_table)table, row), "%s, row %u", info.name, row);
			for (uint32_t column = 0; column < info.columns; column++)
				cells += smb_table_has((enum smb_table)table, row, column);
		}
		for (uint32_t column = 0; column < info.columns; column++)
			cr_expect_not_null(smb_table_column((enum smb_table)table, column), "%s, column %u", info.name,
					   column);
		cr_assert_gt(cells, 20u);
	}
}
