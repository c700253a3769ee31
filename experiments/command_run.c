/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/commands.h"
#include "experiments/experiment.h"

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

struct options {
	char *out;
	int jobs;
	char *shard;
	char **sets;
	gboolean dry_run;
	gboolean json;
};

static void options_clear(struct options *options)
{
	g_free(options->out);
	g_free(options->shard);
	g_strfreev(options->sets);
}

static bool parse(int *argc, char ***argv, struct options *options, int *exit_code)
{
	GOptionEntry entries[] = {
		{ "out", 'o', 0, G_OPTION_ARG_FILENAME, &options->out,
		  "write into DIR (default: out/ and the config's name)", "DIR" },
		{ "jobs", 'j', 0, G_OPTION_ARG_INT, &options->jobs, "worker processes (default: one per core)", "N" },
		{ "shard", 0, 0, G_OPTION_ARG_STRING, &options->shard, "compute each Nth point, from the Ith on",
		  "I/N" },
		{ "set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options->sets,
		  "in place of what the config says; sweep.SECTION.KEY=A;B for a sweep", "SECTION.KEY=VALUE" },
		{ "dry-run", 'n', 0, G_OPTION_ARG_NONE, &options->dry_run, "list the points, compute and write nothing",
		  NULL },
		{ "json", 0, 0, G_OPTION_ARG_NONE, &options->json, "print the rows as JSON", NULL },
		G_OPTION_ENTRY_NULL,
	};
	const struct lab_usage usage = {
		.arguments = "CONFIG",
		.summary = "Simulates every point of CONFIG and writes results.csv, results.sqlite, report.html and "
			   "plots.\n"
			   "Finished points are kept: the same command goes on where an earlier one was stopped.",
		.example = "smblab run experiments/rasize-azure.ini --out out/azure --set network.rtt=20ms",
		.options = entries,
		.least = 1,
		.most = 1,
	};

	return lab_usage_parse(&usage, argc, argv, exit_code) && lab_jobs_check(options->jobs, exit_code);
}

static void plan_print(const struct lab_plan *plan)
{
	for (guint i = 0; i < plan->points->len; i++) {
		const struct lab_point *point = plan->points->pdata[i];

		printf("%.12s", point->hash);
		for (guint c = 0; c < plan->sweep_columns; c++)
			printf(" %s=%s", (char *)plan->columns->pdata[c], point->columns[c]);
		printf("%s%s\n", point->impossible ? " impossible: " : "", point->impossible ? point->impossible : "");
	}
	printf("%u points\n", plan->points->len);
}

static void plan_log(const struct lab_plan *plan)
{
	if (*plan->ignored_options)
		fprintf(stderr, "mount options without effect here: %s\n", plan->ignored_options);
	if (plan->merged)
		fprintf(stderr, "%u combinations are the same as others and are computed once\n", plan->merged);
}

static void table_print(const struct report_table *table, const char *directory, bool json)
{
	if (json) {
		g_autoptr(JsonBuilder) builder = json_builder_new();

		json_builder_begin_object(builder);
		lab_json_string(builder, "title", table->title);
		lab_json_string(builder, "version", table->program_version);
		lab_json_string(builder, "git_revision", table->git_revision);
		lab_json_string(builder, "config_hash", table->config_hash);
		lab_json_string(builder, "directory", directory);
		lab_json_rows(builder, table);
		json_builder_end_object(builder);
		lab_json_print(builder);
		return;
	}
	report_print_table(table, stdout);
	printf("\n");
	report_print_findings(table, stdout);
	printf("\nresults and report: %s/report.html\n", directory);
}

/* From a store with its points computed to files and the exit code. */
static int finish(struct lab_store *store, const char *directory, const struct options *options)
{
	GError *error = NULL;
	guint missing = 0;
	struct report_table *table = lab_experiment_publish(store, directory, &missing, &error);
	int verdict;

	if (!table)
		return lab_fail(error);
	if (missing)
		fprintf(stderr, "%u rows belong to other shards: smblab merge joins them\n", missing);
	table_print(table, directory, options->json);
	verdict = lab_experiment_verdict(table);
	report_table_free(table);
	return verdict;
}

static int compute(const struct lab_config *config, const struct lab_plan *plan, const struct options *options,
		   const char *directory)
{
	struct lab_shard shard = { 1, 1 };
	struct lab_store_counts counts = { 0 };
	g_autoptr(lab_store) store = NULL;
	GError *error = NULL;

	if (options->shard && !lab_shard_parse(options->shard, &shard, &error))
		return lab_fail(error);
	store = lab_store_open(directory, true, &error);
	if (!store || !lab_store_put_plan(store, config, plan, &error))
		return lab_fail(error);
	if (lab_experiment_compute(store, plan, config, &shard, (guint)options->jobs, &error))
		return finish(store, directory, options);
	if (g_error_matches(error, LAB_ERROR, LAB_ERROR_INTERRUPTED) && lab_store_count(store, &counts, NULL))
		fprintf(stderr, "%u finished points are kept in %s; the same command goes on from there\n",
			counts.finished, directory);
	return lab_fail(error);
}

int lab_command_run(int argc, char **argv)
{
	struct options options = { 0 };
	g_autofree char *path = NULL;
	g_autofree char *directory = NULL;
	g_autoptr(lab_config) config = NULL;
	g_autoptr(lab_plan) plan = NULL;
	GError *error = NULL;
	int exit_code;

	if (parse(&argc, &argv, &options, &exit_code)) {
		path = lab_config_path(argv[1]);
		directory = options.out ? g_strdup(options.out) : lab_default_directory(path, "");
		config = lab_config_load(path, options.sets, &error);
		plan = config ? lab_plan_new(config, NULL, &error) : NULL;
		if (!plan) {
			exit_code = lab_fail(error);
		} else {
			plan_log(plan);
			if (options.dry_run)
				plan_print(plan);
			else
				exit_code = compute(config, plan, &options, directory);
		}
	}
	options_clear(&options);
	return exit_code;
}
