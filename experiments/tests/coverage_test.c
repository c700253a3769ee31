/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smblab check --coverage, with the program that counts as it was built. */

#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <json-glib/json-glib.h>
#include <string.h>

TestSuite(coverage);

#define HEAD "[client]\nkernel=6.12\nmount=vers=3.1.1,rsize=65536\n[check]\nstart=mounted\n[server]\n"
#define READS "[workload]\nfiles=f=128K\nthread1=open f; read f 0 64K; read f 64K 64K; close f\n"

static void need_counter(void)
{
	if (!g_file_test(SMB_BINARY_DIR "/experiments/coverage/smblab-coverage", G_FILE_TEST_IS_EXECUTABLE))
		cr_skip_test("smblab-coverage is built by GCC only");
}

/* The report of configs that stand in `directory`. */
static JsonObject *report(const char *directory, const char *first, const char *second, JsonParser *parser)
{
	struct program run = program_run(directory, "check", "--coverage", "--json", first, second, NULL);
	g_autoptr(GError) error = NULL;

	cr_assert_eq(run.exit_code, 0, "%s", run.err);
	cr_assert(json_parser_load_from_data(parser, run.out, -1, &error), "%s", error ? error->message : "");
	program_clear(&run);
	return json_node_get_object(json_parser_get_root(parser));
}

static JsonObject *file_of(JsonObject *report, const char *path)
{
	JsonArray *files = json_object_get_array_member(report, "files");

	for (guint i = 0; i < json_array_get_length(files); i++) {
		JsonObject *file = json_array_get_object_element(files, i);

		if (!strcmp(json_object_get_string_member(file, "file"), path))
			return file;
	}
	return NULL;
}

/* "line never" of each branch that was never taken. */
static GHashTable *never_of(JsonObject *file)
{
	GHashTable *set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	JsonArray *never = json_object_get_array_member(file, "never");

	for (guint i = 0; i < json_array_get_length(never); i++) {
		JsonObject *branch = json_array_get_object_element(never, i);

		g_hash_table_add(set,
				 g_strdup_printf("%" G_GINT64_FORMAT " %s", json_object_get_int_member(branch, "line"),
						 json_object_get_string_member(branch, "never")));
	}
	return set;
}

static bool says(JsonObject *file, const char *never)
{
	g_autoptr(GHashTable) set = never_of(file);
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, set);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		if (strstr(key, never))
			return true;
	}
	return false;
}

#define CREDITS "protocol/flow/credits.c"
#define FEW "usable <= 0` is never true"

Test(coverage, a_branch_for_few_credits_is_taken_with_few_alone)
{
	g_autofree char *directory = program_directory();
	g_autoptr(JsonParser) wide = json_parser_new(), narrow = json_parser_new();

	need_counter();
	program_write(directory, "wide.ini", HEAD "credits_max=64\n" READS, -1);
	program_write(directory, "narrow.ini", HEAD "credits_max=8\ngrants=0;1\n" READS, -1);
	cr_assert(says(file_of(report(directory, "wide.ini", NULL, wide), CREDITS), FEW));
	cr_assert_not(says(file_of(report(directory, "narrow.ini", NULL, narrow), CREDITS), FEW));
	program_clean(g_steal_pointer(&directory));
}

/* What two configs never take together is what neither takes. */
Test(coverage, of_several_configs_is_the_union)
{
	g_autofree char *directory = program_directory();
	g_autoptr(JsonParser) first = json_parser_new(), second = json_parser_new(), third = json_parser_new();
	JsonObject *reads, *removes, *both;
	JsonArray *files;
	guint compared = 0;

	need_counter();
	program_write(directory, "reads.ini", HEAD "credits_max=16\n[faults]\ncuts=1\n" READS, -1);
	program_write(directory, "removes.ini",
		      HEAD "credits_max=16\nsplits=true\n[workload]\nfiles=g=0\nthread1=sh rm /mnt/g\n", -1);
	reads = report(directory, "reads.ini", NULL, first);
	removes = report(directory, "removes.ini", NULL, second);
	both = report(directory, "reads.ini", "removes.ini", third);
	files = json_object_get_array_member(both, "files");
	for (guint i = 0; i < json_array_get_length(files); i++) {
		JsonObject *file = json_array_get_object_element(files, i);
		const char *path = json_object_get_string_member(file, "file");
		g_autoptr(GHashTable) of_both = never_of(file), of_reads = never_of(file_of(reads, path));
		g_autoptr(GHashTable) of_removes = never_of(file_of(removes, path));
		GHashTableIter iter;
		gpointer key;

		g_hash_table_iter_init(&iter, of_reads);
		while (g_hash_table_iter_next(&iter, &key, NULL)) {
			bool is_in_none = g_hash_table_contains(of_removes, key);

			compared++;
			cr_assert_eq(g_hash_table_contains(of_both, key), is_in_none, "%s %s", path, (char *)key);
		}
		cr_assert_leq(g_hash_table_size(of_both), g_hash_table_size(of_removes), "%s", path);
	}
	cr_assert_gt(compared, 1000u);
	cr_assert(says(file_of(reads, "sim/server/requests.c"), "never"));
	program_clean(g_steal_pointer(&directory));
}

static guint taken_cells(JsonObject *report, guint table)
{
	JsonArray *tables = json_object_get_array_member(report, "tables");

	return (guint)json_object_get_int_member(json_array_get_object_element(tables, table), "cells_taken");
}

static bool happened(JsonObject *report, const char *kind)
{
	JsonArray *never = json_object_get_array_member(report, "never_happened");

	for (guint i = 0; i < json_array_get_length(never); i++) {
		if (!strcmp(json_array_get_string_element(never, i), kind))
			return false;
	}
	return true;
}

Test(coverage, transitions_and_faults_of_several_configs_are_put_together)
{
	g_autofree char *directory = program_directory();
	g_autoptr(JsonParser) first = json_parser_new(), second = json_parser_new(), third = json_parser_new();
	JsonObject *calm, *cut, *both;

	need_counter();
	program_write(directory, "calm.ini", HEAD "credits_max=16\norder=any\n" READS, -1);
	program_write(directory, "cut.ini", HEAD "credits_max=16\n[faults]\ncuts=1\n" READS, -1);
	calm = report(directory, "calm.ini", NULL, first);
	cut = report(directory, "cut.ini", NULL, second);
	both = report(directory, "calm.ini", "cut.ini", third);
	cr_assert_lt(taken_cells(calm, 0), taken_cells(cut, 0));
	cr_assert_eq(taken_cells(both, 0), taken_cells(cut, 0));
	cr_assert_geq(taken_cells(both, 1), taken_cells(cut, 1));
	cr_assert(!happened(calm, "cuts") && happened(cut, "cuts") && happened(both, "cuts"));
	cr_assert(happened(calm, "order") && !happened(cut, "order") && happened(both, "order"));
	cr_assert(!happened(both, "cancels"));
	program_clean(g_steal_pointer(&directory));
}

/* The program that counts leaves assertions out; it must go the same way all the same. */
Test(coverage, counting_changes_nothing)
{
	g_autofree char *directory = program_directory();
	g_autoptr(JsonParser) counted = json_parser_new(), plain = json_parser_new();
	struct program run;
	gint64 states;

	need_counter();
	program_write(directory, "cut.ini", HEAD "credits_max=8\norder=any\n[faults]\ncuts=1\ncancels=1\n" READS, -1);
	run = program_run(directory, "check", "--json", "cut.ini", NULL);
	cr_assert_eq(run.exit_code, 0, "%s", run.err);
	cr_assert(json_parser_load_from_data(plain, run.out, -1, NULL));
	program_clear(&run);
	states = json_object_get_int_member(json_node_get_object(json_parser_get_root(plain)), "states");
	JsonArray *configs = json_object_get_array_member(report(directory, "cut.ini", NULL, counted), "configs");
	cr_assert_gt(states, 500);
	cr_assert_eq(json_object_get_int_member(json_array_get_object_element(configs, 0), "states"), states);
	program_clean(g_steal_pointer(&directory));
}

Test(coverage, the_page_shows_the_source_with_what_was_never_taken)
{
	g_autofree char *directory = program_directory();
	struct program run;

	need_counter();
	program_write(directory, "wide.ini", HEAD "credits_max=64\n" READS, -1);
	run = program_run(directory, "check", "--coverage", "wide.ini", "--out", "here", NULL);
	cr_assert_eq(run.exit_code, 0, "%s", run.err);
	cr_assert_not_null(strstr(run.out, "the life of a channel: "), "%s", run.out);
	cr_assert_not_null(strstr(run.out, "smb_credits_take_io: `" FEW), "%s", run.out);
	g_autofree char *page = program_read(directory, "here/coverage.html");
	cr_assert_not_null(strstr(page, "`usable &lt;= 0` is never true"));
	cr_assert_not_null(strstr(page, "protocol/flow/credits.c"));
	program_clear(&run);
	program_clean(g_steal_pointer(&directory));
}

Test(coverage, a_bound_and_a_broken_rule_are_said_all_the_same)
{
	g_autofree char *directory = program_directory();
	struct program run;

	need_counter();
	program_write(directory, "a.ini", HEAD "credits_max=64\n" READS, -1);
	run = program_run(directory, "check", "--coverage", "a.ini", "--max-depth", "3", NULL);
	cr_assert_eq(run.exit_code, 4, "%s", run.err);
	cr_assert_not_null(strstr(run.out, "the bound on depth was reached"), "%s", run.out);
	program_clear(&run);
	run = program_run(directory, "check", "--coverage", "a.ini", "--set", "workload.files=g", "--set",
			  "workload.directories=f", NULL);
	cr_assert_eq(run.exit_code, 1, "%s", run.err);
	cr_assert_not_null(strstr(run.out, "is broken"), "%s", run.out);
	program_clear(&run);
	program_clean(g_steal_pointer(&directory));
}

Test(coverage, without_gcov_it_says_what_to_install)
{
	g_autofree char *directory = program_directory();
	struct program run;

	need_counter();
	program_write(directory, "a.ini", HEAD "credits_max=64\n" READS, -1);
	g_setenv("PATH", directory, TRUE);
	run = program_run(directory, "check", "--coverage", "a.ini", NULL);
	cr_assert_eq(run.exit_code, 3, "%s", run.err);
	cr_assert_not_null(strstr(run.err, "apt-get install gcc"), "%s", run.err);
	cr_assert_str_eq(run.out, "");
	program_clear(&run);
	program_clean(g_steal_pointer(&directory));
}

Test(coverage, what_does_not_go_together_is_refused)
{
	static const char *const cases[][4] = {
		{ "a.ini", "b.ini", NULL, NULL },	    { "a.ini", "--out", "x", NULL },
		{ "--coverage", NULL, NULL, NULL },	    { "--coverage", "--mutant", "all", NULL },
		{ "--coverage", "a.ini", "--kit=x", NULL }, { "--coverage", "a.ini", "--graph=x.svg", NULL },
	};
	g_autofree char *directory = program_directory();

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct program run = program_run(directory, "check", cases[i][0], cases[i][1], cases[i][2], cases[i][3],
						 NULL);

		cr_assert_eq(run.exit_code, 2, "case %zu: %s", i, run.err);
		program_clear(&run);
	}
	cr_assert_eq(program_entries(directory), 0u);
	program_clean(g_steal_pointer(&directory));
}
