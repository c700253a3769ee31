/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/commands.h"

#include "reports/report.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int lab_fail(GError *error)
{
	int code = lab_exit_code(error);

	fprintf(stderr, "smblab: %s\n", error->message);
	g_error_free(error);
	return code;
}

bool lab_usage_parse(const struct lab_usage *usage, int *argc, char ***argv, int *exit_code)
{
	GOptionContext *context = g_option_context_new(usage->arguments);
	g_autofree char *description = g_strconcat("Example:\n  ", usage->example, "\n", NULL);
	GError *error = NULL;
	int given;

	g_option_context_set_summary(context, usage->summary);
	g_option_context_set_description(context, description);
	g_option_context_add_main_entries(context, usage->options, NULL);
	*exit_code = 0;
	if (!g_option_context_parse(context, argc, argv, &error))
		*exit_code = lab_fail(error);
	given = *argc - 1;
	if (*exit_code == 0 && given > 0 && !strcmp((*argv)[1], "--"))
		given--;
	if (*exit_code == 0 && (given < usage->least || given > usage->most)) {
		fprintf(stderr, "smblab: %s arguments; usage: %s %s (--help tells more)\n",
			given < usage->least ? "missing" : "too many", (*argv)[0], usage->arguments);
		*exit_code = 2;
	}
	g_option_context_free(context);
	return *exit_code == 0;
}

char *lab_config_path(const char *given)
{
	g_autofree char *installed = NULL;

	if (strchr(given, '/') || g_file_test(given, G_FILE_TEST_EXISTS))
		return g_strdup(given);
	installed = g_build_filename(LAB_DATA_DIR, given, NULL);
	return g_file_test(installed, G_FILE_TEST_EXISTS) ? g_steal_pointer(&installed) : g_strdup(given);
}

char *lab_default_directory(const char *config_path, const char *suffix)
{
	g_autofree char *base = g_path_get_basename(config_path);

	if (g_str_has_suffix(base, ".ini"))
		base[strlen(base) - strlen(".ini")] = '\0';
	return g_strdup_printf("out/%s%s", base, suffix);
}

bool lab_jobs_check(int jobs, int *exit_code)
{
	if (jobs >= 0 && jobs <= 256)
		return true;
	fprintf(stderr, "smblab: --jobs %d: 1 to 256, or 0 for one per core\n", jobs);
	*exit_code = 2;
	return false;
}

void lab_json_print(JsonBuilder *builder)
{
	g_autoptr(JsonNode) root = json_builder_get_root(builder);
	g_autofree char *text = json_to_string(root, TRUE);

	puts(text);
}

void lab_json_string(JsonBuilder *builder, const char *name, const char *value)
{
	json_builder_set_member_name(builder, name);
	if (value)
		json_builder_add_string_value(builder, value);
	else
		json_builder_add_null_value(builder);
}

void lab_json_strings(JsonBuilder *builder, const char *name, const char *const *values)
{
	json_builder_set_member_name(builder, name);
	json_builder_begin_array(builder);
	for (; *values; values++)
		json_builder_add_string_value(builder, *values);
	json_builder_end_array(builder);
}

void lab_json_number(JsonBuilder *builder, const char *name, double value)
{
	json_builder_set_member_name(builder, name);
	if (isfinite(value))
		json_builder_add_double_value(builder, value);
	else
		json_builder_add_null_value(builder);
}

void lab_json_whole(JsonBuilder *builder, const char *name, gint64 value)
{
	json_builder_set_member_name(builder, name);
	json_builder_add_int_value(builder, value);
}

void lab_json_bool(JsonBuilder *builder, const char *name, bool value)
{
	json_builder_set_member_name(builder, name);
	json_builder_add_boolean_value(builder, value);
}

static void row_print(JsonBuilder *builder, const struct report_table *table, const struct report_row *row)
{
	const struct sim_result *result = row->result;

	json_builder_begin_object(builder);
	lab_json_string(builder, "hash", row->hash);
	for (guint i = 0; i < table->columns->len; i++)
		lab_json_string(builder, table->columns->pdata[i], row->values[i]);
	lab_json_string(builder, "outcome", sim_outcome_name(result->outcome));
	lab_json_string(builder, "failure", result->failure);
	lab_json_number(builder, "seconds", result->seconds);
	lab_json_whole(builder, "bytes", (gint64)result->bytes);
	lab_json_number(builder, "throughput_MBps", result->throughput_MBps);
	lab_json_whole(builder, "pairs", (gint64)result->pairs);
	lab_json_whole(builder, "pdus", (gint64)result->pdus);
	lab_json_whole(builder, "credits_min", result->credits_min);
	lab_json_whole(builder, "inflight_max", result->inflight_max);
	lab_json_whole(builder, "inflight_max_bytes", (gint64)result->inflight_max_bytes);
	lab_json_whole(builder, "read_io_bytes", (gint64)result->read_io_bytes);
	lab_json_whole(builder, "violations", (gint64)result->violations);
	lab_json_whole(builder, "pdu_events", (gint64)result->pdu_events);
	lab_json_whole(builder, "reconnects", result->reconnects);
	lab_json_number(builder, "stall_max_seconds", (double)result->stall_max_ns / 1e9);
	lab_json_whole(builder, "commands", (gint64)result->commands);
	lab_json_whole(builder, "command_failures", (gint64)result->command_failures);
	lab_json_number(builder, "command_ms", report_command_ms(result));
	if (result->clients > 1) {
		lab_json_number(builder, "slowest_client", result->slowest_client);
		lab_json_number(builder, "fastest_client", result->fastest_client);
		lab_json_number(builder, "fairness", result->fairness);
	}
	if (row->has_measured) {
		lab_json_number(builder, report_quantity_info(table->quantity)->column, row->measured);
		lab_json_number(builder, "error_percent", row->error_percent);
		lab_json_bool(builder, "fitted", row->fitted);
		lab_json_string(builder, "measured_label", row->measured_label);
	}
	json_builder_end_object(builder);
}

void lab_json_rows(JsonBuilder *builder, const struct report_table *table)
{
	json_builder_set_member_name(builder, "rows");
	json_builder_begin_array(builder);
	for (guint i = 0; i < table->rows->len; i++)
		row_print(builder, table, table->rows->pdata[i]);
	json_builder_end_array(builder);
}
