/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/calibrate.h"
#include "experiments/commands.h"
#include "experiments/compare.h"
#include "experiments/experiment.h"
#include "experiments/parameters.h"
#include "experiments/version.h"
#include "sim/world/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct options {
	char *out;
	char *write;
	char *write_profile;
	char **sets;
	int jobs;
	gboolean json;
};

static bool parse(int *argc, char ***argv, struct options *options, int *exit_code)
{
	GOptionEntry entries[] = {
		{ "write", 'w', 0, G_OPTION_ARG_FILENAME, &options->write,
		  "write the fitted values and the client's costs, for include=FILE or costs=FILE", "FILE" },
		{ "write-profile", 0, 0, G_OPTION_ARG_FILENAME, &options->write_profile,
		  "write the server's profile with what was fitted of it, for profile=FILE", "FILE" },
		{ "out", 'o', 0, G_OPTION_ARG_FILENAME, &options->out,
		  "results and report with the fitted values (default: out/NAME-fitted)", "DIR" },
		{ "set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options->sets, "in place of what the config says",
		  "SECTION.KEY=VALUE" },
		{ "jobs", 'j', 0, G_OPTION_ARG_INT, &options->jobs, "worker processes (default: one per core)", "N" },
		{ "json", 0, 0, G_OPTION_ARG_NONE, &options->json, "print as JSON", NULL },
		G_OPTION_ENTRY_NULL,
	};
	const struct lab_usage usage = {
		.arguments = "CONFIG",
		.summary = "Fits the parameters named in the config's [calibrate] to the measured rows that [measured] "
			   "names\n"
			   "as fitted, then predicts all rows and prints the errors of fitted and held-out rows apart.",
		.example = "smblab calibrate experiments/cifs-6.1-reads.ini --write costs.ini",
		.options = entries,
		.least = 1,
		.most = 1,
	};

	return lab_usage_parse(&usage, argc, argv, exit_code) && lab_jobs_check(options->jobs, exit_code);
}

static void options_clear(struct options *options)
{
	g_free(options->out);
	g_free(options->write);
	g_free(options->write_profile);
	g_strfreev(options->sets);
}

static void print_text(const struct lab_calibration *calibration, const struct report_table *table)
{
	for (guint i = 0; i < calibration->parameters->len; i++) {
		const struct lab_parameter *parameter = calibration->parameters->pdata[i];

		printf("%s=%s\n", lab_key_dotted(parameter->key), parameter->best);
	}
	printf("\n%u evaluations; misfit of the fitted rows %.2f %% (root of the mean square of "
	       "ln(predicted/measured))\n\n",
	       calibration->evaluated, sqrt(calibration->misfit) * 100);
	lab_errors_print(table, stdout);
}

static void print_json(const struct lab_calibration *calibration, const struct report_table *table)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();

	json_builder_begin_object(builder);
	json_builder_set_member_name(builder, "parameters");
	json_builder_begin_object(builder);
	for (guint i = 0; i < calibration->parameters->len; i++) {
		const struct lab_parameter *parameter = calibration->parameters->pdata[i];

		lab_json_string(builder, lab_key_dotted(parameter->key), parameter->best);
	}
	json_builder_end_object(builder);
	lab_json_whole(builder, "evaluations", calibration->evaluated);
	lab_json_number(builder, "misfit", calibration->misfit);
	lab_errors_json(table, builder);
	json_builder_end_object(builder);
	lab_json_print(builder);
}

/* Where fitted values come from, for the head of the files written. */
static char *provenance(const struct lab_config *config, const struct lab_plan *plan, const struct report_table *table)
{
	g_autofree char *title = lab_config_title(config);
	g_autofree char *config_name = g_path_get_basename(config->path);
	g_autofree char *measured = g_path_get_basename(plan->measured->path);
	struct lab_errors fitted = lab_errors_of(table, true);
	struct lab_errors held_out = lab_errors_of(table, false);

	return g_strdup_printf("# Source: fitted by smblab %s (git %s) calibrate %s to %s\n"
			       "# %s\n"
			       "# %u fitted rows: mean absolute error %.1f %%; %u held-out rows: %.1f %%\n",
			       lab_version(), lab_git_revision(), config_name, measured, title, fitted.rows,
			       fitted.mean_absolute_percent, held_out.rows, held_out.mean_absolute_percent);
}

static bool write_files(const struct lab_calibration *calibration, const struct lab_config *config,
			const struct lab_plan *plan, const struct report_table *table, const struct options *options,
			GError **error)
{
	const struct lab_point *first = plan->points->pdata[0];
	g_autofree char *comment = provenance(config, plan, table);
	g_autoptr(GArray) indexes = g_array_new(FALSE, FALSE, sizeof(guint));
	guint count;
	const struct lab_key *keys = lab_keys(&count);

	for (guint i = 0; i < count; i++) {
		bool wanted = !strcmp(keys[i].section, "client") && g_str_has_prefix(keys[i].name, "cost.");

		for (guint p = 0; p < calibration->parameters->len; p++)
			wanted |= ((struct lab_parameter *)calibration->parameters->pdata[p])->key == i;
		if (wanted)
			g_array_append_val(indexes, i);
	}
	if (options->write &&
	    !lab_parameters_save(options->write, comment, indexes, first->point, &first->values, error))
		return false;
	return !options->write_profile ||
	       sim_profile_save(options->write_profile, &first->point->server, NULL, comment, error);
}

/* All rows at the fitted values: an ordinary run, as `run --set` with these values would do it. */
static int predict_all(const struct lab_calibration *calibration, const char *path, const struct options *options)
{
	g_auto(GStrv) sets = lab_calibration_sets(calibration, options->sets);
	g_autofree char *directory = options->out ? g_strdup(options->out) : lab_default_directory(path, "-fitted");
	const struct lab_shard whole = { 1, 1 };
	GError *error = NULL;
	g_autoptr(lab_config) config = lab_config_load(path, sets, &error);
	g_autoptr(lab_plan) plan = config ? lab_plan_new(config, NULL, &error) : NULL;
	g_autoptr(lab_store) store = plan ? lab_store_open(directory, true, &error) : NULL;
	struct report_table *table = NULL;
	guint missing = 0;
	int code;

	if (store && lab_store_put_plan(store, config, plan, &error) &&
	    lab_experiment_compute(store, plan, config, &whole, (guint)options->jobs, &error))
		table = lab_experiment_publish(store, directory, &missing, &error);
	if (!table)
		return lab_fail(error);
	if (!write_files(calibration, config, plan, table, options, &error)) {
		report_table_free(table);
		return lab_fail(error);
	}
	if (options->json)
		print_json(calibration, table);
	else
		print_text(calibration, table);
	code = lab_experiment_verdict(table);
	report_table_free(table);
	return code;
}

int lab_command_calibrate(int argc, char **argv)
{
	struct options options = { 0 };
	g_autofree char *path = NULL;
	g_autoptr(lab_config) config = NULL;
	g_autoptr(lab_plan) plan = NULL;
	g_autoptr(lab_calibration) calibration = NULL;
	GError *error = NULL;
	int exit_code;

	if (parse(&argc, &argv, &options, &exit_code)) {
		path = lab_config_path(argv[1]);
		config = lab_config_load(path, options.sets, &error);
		plan = config ? lab_plan_new(config, NULL, &error) : NULL;
		calibration = plan ? lab_calibration_new(config, plan, &error) : NULL;
		if (calibration && lab_calibration_run(calibration, config, plan, (guint)options.jobs, &error))
			exit_code = predict_all(calibration, path, &options);
		else
			exit_code = lab_fail(error);
	}
	options_clear(&options);
	return exit_code;
}
