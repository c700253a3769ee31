/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smblab check --coverage: a proof says nothing of code that never ran. */

#include "experiments/command_check_coverage.h"

#include "experiments/commands.h"
#include "experiments/coverage.h"
#include "reports/file.h"

#include <stdio.h>

/* A broken rule is worse than a check that could not end. */
static int graver(int a, int b)
{
	static const int order[] = { 0, 4, 1, 130 };
	guint rank_a = 0, rank_b = 0;

	while (rank_a < G_N_ELEMENTS(order) && order[rank_a] != a)
		rank_a++;
	while (rank_b < G_N_ELEMENTS(order) && order[rank_b] != b)
		rank_b++;
	return rank_a > rank_b ? a : b;
}

static void add_argument(GPtrArray *arguments, const char *option, char *value)
{
	g_ptr_array_add(arguments, g_strdup(option));
	g_ptr_array_add(arguments, value);
}

/* What each check is given beside its config. */
static GPtrArray *arguments_of(const struct lab_coverage_options *options)
{
	GPtrArray *arguments = g_ptr_array_new_with_free_func(g_free);

	add_argument(arguments, "--jobs", g_strdup_printf("%d", options->jobs));
	add_argument(arguments, "--max-states", g_strdup_printf("%" G_GINT64_FORMAT, options->max_states));
	add_argument(arguments, "--max-depth", g_strdup_printf("%d", options->max_depth));
	if (options->max_memory)
		add_argument(arguments, "--max-memory", g_strdup(options->max_memory));
	if (options->max_time)
		add_argument(arguments, "--max-time", g_strdup(options->max_time));
	if (options->depth_first)
		g_ptr_array_add(arguments, g_strdup("--dfs"));
	for (const char *const *set = options->sets; set && *set; set++)
		add_argument(arguments, "--set", g_strdup(*set));
	g_ptr_array_add(arguments, NULL);
	return arguments;
}

static bool count(const struct lab_counter *counter, const struct lab_coverage_options *options,
		  struct coverage *coverage, int *code, GError **error)
{
	g_autoptr(GPtrArray) more = arguments_of(options);

	for (const char *const *config = options->configs; *config; config++) {
		int one;

		fprintf(stderr, "%s\n", *config);
		if (!lab_counter_run(counter, *config, (const char *const *)more->pdata, coverage, &one, error))
			return false;
		*code = graver(*code, one);
	}
	return lab_counter_read(counter, coverage, error);
}

static void print(const struct coverage *coverage, bool json)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(JsonBuilder) builder = json_builder_new();

	if (json) {
		json_builder_begin_object(builder);
		coverage_json(coverage, builder);
		json_builder_end_object(builder);
		lab_json_print(builder);
		return;
	}
	coverage_text(coverage, text);
	fputs(text->str, stdout);
}

static bool write_page(const struct coverage *coverage, const char *folder, GError **error)
{
	g_autoptr(GString) html = coverage_page(coverage);

	if (!report_file_write(folder, "coverage.html", html, error))
		return false;
	fprintf(stderr, "page: %s/coverage.html\n", folder);
	return true;
}

int lab_check_coverage(const struct lab_coverage_options *options)
{
	struct lab_counter counter;
	struct coverage *coverage = NULL;
	GError *error = NULL;
	int code = 0;
	bool is_counted = lab_counter_open(&counter, &error);

	if (is_counted) {
		coverage = coverage_new(counter.sources);
		is_counted = count(&counter, options, coverage, &code, &error) &&
			     write_page(coverage, options->out ? options->out : "out/coverage", &error);
	}
	if (is_counted)
		print(coverage, options->json);
	else
		code = lab_fail(error);
	coverage_free(coverage);
	lab_counter_close(&counter);
	return code;
}
