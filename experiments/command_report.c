/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/commands.h"
#include "experiments/experiment.h"

#include <glib/gstdio.h>
#include <stdio.h>

/* report and merge: from stores to files, without simulating. */

static int write_out(struct lab_store *store, const char *directory)
{
	GError *error = NULL;
	guint missing = 0;
	struct report_table *table = lab_experiment_publish(store, directory, &missing, &error);
	int verdict;

	if (!table)
		return lab_fail(error);
	if (missing)
		fprintf(stderr, "%u of %u points are not computed yet\n", missing, missing + table->rows->len);
	report_print_table(table, stdout);
	printf("\nresults and report: %s/report.html\n", directory);
	verdict = lab_experiment_verdict(table);
	report_table_free(table);
	return missing && !verdict ? 4 : verdict;
}

int lab_command_report(int argc, char **argv)
{
	GOptionEntry entries[] = { G_OPTION_ENTRY_NULL };
	const struct lab_usage usage = {
		.arguments = "DIR",
		.summary = "Writes results.csv, report.html and the plots of a finished run again, from its "
			   "results.sqlite.",
		.example = "smblab report out/rasize-azure",
		.options = entries,
		.least = 1,
		.most = 1,
	};
	g_autoptr(lab_store) store = NULL;
	GError *error = NULL;
	int exit_code;

	if (!lab_usage_parse(&usage, &argc, &argv, &exit_code))
		return exit_code;
	store = lab_store_open(argv[1], false, &error);
	return store ? write_out(store, argv[1]) : lab_fail(error);
}

static bool same_file(const char *one, const char *other)
{
	GStatBuf a, b;

	return g_stat(one, &a) == 0 && g_stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* All are judged before anything is written. */
static bool check_mergeable(char *const *directories, guint count, GError **error)
{
	g_autoptr(lab_store) first = lab_store_open(directories[0], false, error);

	for (guint i = 1; first && i < count; i++) {
		g_autoptr(lab_store) other = NULL;

		if (same_file(directories[0], directories[i]))
			continue;
		other = lab_store_open(directories[i], false, error);
		if (!other || !lab_store_same_experiment(first, other, directories[i], error))
			return false;
	}
	return first != NULL;
}

int lab_command_merge(int argc, char **argv)
{
	g_autofree char *out = NULL;
	GOptionEntry entries[] = {
		{ "out", 'o', 0, G_OPTION_ARG_FILENAME, &out, "join into DIR (default: the first one named)", "DIR" },
		G_OPTION_ENTRY_NULL,
	};
	const struct lab_usage usage = {
		.arguments = "DIR...",
		.summary = "Joins the shards of one run (smblab run --shard I/N) and writes results and report.\n"
			   "The joined results.csv has the bytes that one undivided run would have written.",
		.example = "smblab merge shard1 shard2 --out whole",
		.options = entries,
		.least = 1,
		.most = 10000,
	};
	g_autoptr(lab_store) store = NULL;
	GError *error = NULL;
	int exit_code;

	if (!lab_usage_parse(&usage, &argc, &argv, &exit_code))
		return exit_code;
	if (!out)
		out = g_strdup(argv[1]);
	if (!check_mergeable(argv + 1, (guint)argc - 1, &error))
		return lab_fail(error);
	store = same_file(out, argv[1]) ? lab_store_open(out, false, &error)
					: lab_store_open_copy(out, argv[1], &error);
	if (!store)
		return lab_fail(error);
	for (int i = 2; i < argc; i++)
		if (!same_file(out, argv[i]) && !lab_store_merge(store, argv[i], &error))
			return lab_fail(error);
	return write_out(store, out);
}
