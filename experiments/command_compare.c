/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/commands.h"
#include "experiments/compare.h"
#include "experiments/experiment.h"
#include "experiments/store_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct options {
	char *measured;
	double max_error; /* percent; 0 = none */
	double max_row_error;
	gboolean json;
};

static bool parse(int *argc, char ***argv, struct options *options, int *exit_code)
{
	GOptionEntry entries[] = {
		{ "measured", 'm', 0, G_OPTION_ARG_FILENAME, &options->measured,
		  "another measured table; its columns as the config's [measured] says", "FILE" },
		{ "max-error", 0, 0, G_OPTION_ARG_DOUBLE, &options->max_error,
		  "exit 1 when the mean absolute error of the held-out rows (of all, if none is) is above", "PERCENT" },
		{ "max-row-error", 0, 0, G_OPTION_ARG_DOUBLE, &options->max_row_error,
		  "exit 1 when any row's error is above", "PERCENT" },
		{ "json", 0, 0, G_OPTION_ARG_NONE, &options->json, "print as JSON", NULL },
		G_OPTION_ENTRY_NULL,
	};
	const struct lab_usage usage = {
		.arguments = "DIR",
		.summary = "Lays the predictions of a finished run beside the measurements: the error of each row, "
			   "then mean\n"
			   "absolute percentage error and bias of the rows that were fitted and of those held out.",
		.example = "smblab compare out/cifs-6.1-reads --max-error 10 --max-row-error 25",
		.options = entries,
		.least = 1,
		.most = 1,
	};

	if (!lab_usage_parse(&usage, argc, argv, exit_code))
		return false;
	if (options->max_error >= 0 && options->max_row_error >= 0)
		return true;
	fprintf(stderr, "smblab: an error bound cannot be negative\n");
	*exit_code = 2;
	return false;
}

/* Match the rows anew with another file; rows that it says nothing about lose their measurement. */
static bool measured_replace(struct lab_store *store, struct report_table *table, const char *file, GError **error)
{
	g_autofree char *path = lab_store_get_fact(store, "config_path");
	g_autofree char *sets_json = lab_store_get_fact(store, "sets");
	g_auto(GStrv) sets = lab_strings_from_json(sets_json);
	g_autoptr(lab_config) config = lab_config_parse(path, table->config_text, sets, error);
	GError *cause = NULL;
	struct lab_measured *measured = config ? lab_measured_load(config, file, &cause) : NULL;

	if (!config)
		return false;
	if (!measured) {
		if (!cause)
			g_set_error(&cause, LAB_ERROR, LAB_ERROR_USAGE,
				    "%s has no [measured] section: how does %s match its points?", path, file);
		g_propagate_error(error, cause);
		return false;
	}
	for (guint i = 0; i < table->rows->len; i++) {
		struct report_row *row = table->rows->pdata[i];
		struct lab_measurement found = lab_measured_find(measured, table->columns, row->values);

		lab_experiment_set_measured(table, row, &found);
	}
	lab_measured_free(measured);
	return true;
}

static int verdict(const struct report_table *table, const struct options *options)
{
	struct lab_errors fitted = lab_errors_of(table, true);
	struct lab_errors held_out = lab_errors_of(table, false);
	struct lab_errors judged = held_out.rows ? held_out : fitted;
	double worst = fmax(fabs(fitted.worst_percent), fabs(held_out.worst_percent));
	int code = 0;

	if (judged.rows == 0) {
		fprintf(stderr, "smblab: no measured row matches a point: nothing was compared\n");
		return 4;
	}
	if (options->max_error > 0 && judged.mean_absolute_percent > options->max_error) {
		fprintf(stderr, "smblab: mean absolute error %.1f %% is above %g %%\n", judged.mean_absolute_percent,
			options->max_error);
		code = 1;
	}
	if (options->max_row_error > 0 && worst > options->max_row_error) {
		fprintf(stderr, "smblab: the worst row's error, %.1f %%, is above %g %%\n", worst,
			options->max_row_error);
		code = 1;
	}
	return code;
}

static int compare(struct lab_store *store, const struct options *options)
{
	GError *error = NULL;
	guint missing = 0;
	struct report_table *table = lab_experiment_table(store, &missing, &error);
	int code;

	if (table && options->measured && !measured_replace(store, table, options->measured, &error))
		g_clear_pointer(&table, report_table_free);
	if (!table)
		return lab_fail(error);
	if (missing)
		fprintf(stderr, "%u points are not computed yet\n", missing);
	if (options->json) {
		g_autoptr(JsonBuilder) builder = json_builder_new();

		json_builder_begin_object(builder);
		lab_errors_json(table, builder);
		json_builder_end_object(builder);
		lab_json_print(builder);
	} else {
		lab_errors_print(table, stdout);
	}
	code = verdict(table, options);
	report_table_free(table);
	return code;
}

int lab_command_compare(int argc, char **argv)
{
	struct options options = { 0 };
	g_autoptr(lab_store) store = NULL;
	GError *error = NULL;
	int exit_code;

	if (parse(&argc, &argv, &options, &exit_code)) {
		store = lab_store_open(argv[1], false, &error);
		exit_code = store ? compare(store, &options) : lab_fail(error);
	}
	g_free(options.measured);
	return exit_code;
}
