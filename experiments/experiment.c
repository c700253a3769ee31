/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/experiment.h"

#include "experiments/runner.h"
#include "experiments/store_internal.h"

#include <stdio.h>
#include <string.h>

bool lab_shard_parse(const char *text, struct lab_shard *shard, GError **error)
{
	char extra;

	if (sscanf(text, "%u/%u%c", &shard->index, &shard->count, &extra) == 2 && shard->count >= 1 &&
	    shard->count <= 10000 && shard->index >= 1 && shard->index <= shard->count && text[0] != '-')
		return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "--shard %s: write I/N with 1 <= I <= N, e.g. 2/4", text);
	return false;
}

/* The points that are still to be computed, each identity once. */
struct missing {
	struct lab_store *store;
	GPtrArray *points; /* const struct sim_point * */
	GPtrArray *hashes;
	struct lab_progress progress;
};

static bool impossible_keep(struct lab_store *store, const struct lab_point *point, GError **error)
{
	g_autofree struct sim_result *result = g_new0(struct sim_result, 1);

	result->outcome = SIM_OUTCOME_IMPOSSIBLE;
	g_strlcpy(result->failure, point->impossible, sizeof(result->failure));
	return lab_store_put_result(store, point->hash, result, true, error);
}

static bool missing_find(struct missing *missing, const struct lab_plan *plan, const struct lab_shard *shard,
			 GError **error)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < plan->points->len; i++) {
		const struct lab_point *point = plan->points->pdata[i];

		if (i % shard->count != shard->index - 1 || g_hash_table_contains(seen, point->hash) ||
		    lab_store_has(missing->store, point->hash))
			continue;
		g_hash_table_add(seen, point->hash);
		if (point->impossible) {
			if (!impossible_keep(missing->store, point, error))
				return false;
			continue;
		}
		g_ptr_array_add(missing->points, point->point);
		g_ptr_array_add(missing->hashes, point->hash);
	}
	return true;
}

static bool point_done(void *context, guint index, const struct sim_result *result, bool lasting, GError **error)
{
	struct missing *missing = context;

	lab_progress_step(&missing->progress);
	return lab_store_put_result(missing->store, missing->hashes->pdata[index], result, lasting, error);
}

bool lab_experiment_compute(struct lab_store *store, const struct lab_plan *plan, const struct lab_config *config,
			    const struct lab_shard *shard, guint jobs, GError **error)
{
	struct missing missing = { .store = store };
	struct lab_runner runner = { .jobs = jobs, .wall_limit_s = config->wall_limit_s, .done = point_done };
	bool computed;

	missing.points = g_ptr_array_new();
	missing.hashes = g_ptr_array_new();
	runner.context = &missing;
	computed = missing_find(&missing, plan, shard, error);
	if (computed) {
		lab_progress_begin(&missing.progress, "point", missing.points->len);
		computed = lab_runner_run(&runner, (const struct sim_point *const *)missing.points->pdata,
					  missing.points->len, error);
		lab_progress_end(&missing.progress);
	}
	g_ptr_array_unref(missing.points);
	g_ptr_array_unref(missing.hashes);
	return computed;
}

void lab_experiment_set_measured(const struct report_table *table, struct report_row *row,
				 const struct lab_measurement *measured)
{
	bool finished = row->result->outcome == SIM_OUTCOME_FINISHED;
	double predicted = finished ? report_quantity_of(table->quantity, row->result) : 0;

	g_free(row->measured_label);
	row->measured_label = g_strdup(measured->label);
	row->has_measured = measured->rows > 0;
	row->measured = measured->value;
	row->fitted = measured->rows > 0 && measured->fitted;
	row->error_percent = row->has_measured ? (predicted - measured->value) / measured->value * 100 : 0;
}

static struct report_row *row_take(const struct report_table *table, struct lab_stored_row *stored)
{
	struct report_row *row = report_row_new();

	row->hash = g_steal_pointer(&stored->hash);
	row->values = g_steal_pointer(&stored->values);
	row->result = g_steal_pointer(&stored->result);
	lab_experiment_set_measured(table, row, &stored->measured);
	return row;
}

/* The first row's point again, from its columns: they hold every value in force. */
static void base_rebuild(struct report_table *table, const struct report_row *row)
{
	/* what the values in force already contain, and would only contradict */
	static const char *const left_out[] = { "network.preset", "server.cores" };
	g_autofree struct lab_build_report *report = g_new(struct lab_build_report, 1);
	struct lab_values values = { 0 };

	for (guint i = 0; i < table->columns->len; i++) {
		int key = lab_key_find_dotted(table->columns->pdata[i]);

		if (key < 0 || !row->values[i] || !strcmp(row->values[i], "") ||
		    (lab_keys(NULL)[key].type == LAB_TEXT && !strcmp(row->values[i], "unset")))
			continue;
		values.text[key] = g_intern_string(row->values[i]);
	}
	for (guint i = 0; i < G_N_ELEMENTS(left_out); i++)
		values.text[lab_key_find_dotted(left_out[i])] = NULL;
	lab_point_build(&values, ".", &table->base, report, NULL);
}

static void facts_take(struct report_table *table, struct lab_store *store)
{
	g_autofree char *seed = lab_store_get_fact(store, "seed");
	g_autofree char *sweep_columns = lab_store_get_fact(store, "sweep_columns");
	g_autofree char *columns = lab_store_get_fact(store, "columns");
	g_autofree char *source = lab_store_get_fact(store, "measured_source");
	g_autofree char *about = lab_store_get_fact(store, "about");
	g_auto(GStrv) names = lab_strings_from_json(columns);

	table->title = lab_store_get_fact(store, "title");
	table->about = about && *about ? g_steal_pointer(&about) : NULL;
	table->program_version = lab_store_get_fact(store, "version");
	table->git_revision = lab_store_get_fact(store, "git_revision");
	table->config_hash = lab_store_get_fact(store, "config_hash");
	table->config_text = lab_store_get_fact(store, "config_text");
	table->seed = seed ? g_ascii_strtoull(seed, NULL, 10) : 0;
	table->sweep_columns = sweep_columns ? (guint)g_ascii_strtoull(sweep_columns, NULL, 10) : 0;
	table->measured_source = source && *source ? g_steal_pointer(&source) : NULL;
	for (guint i = 0; names[i]; i++)
		g_ptr_array_add(table->columns, g_strdup(names[i]));
}

/* What is told of a row is the measured quantity, else throughput; where no data moves, the time of a command. */
static void quantity_take(struct report_table *table, struct lab_store *store, const GPtrArray *stored)
{
	g_autofree char *name = lab_store_get_fact(store, "quantity");

	if (name && report_quantity_find(name, &table->quantity))
		return;
	table->quantity = REPORT_COMMAND_TIME;
	for (guint i = 0; i < stored->len; i++) {
		const struct sim_result *result = ((struct lab_stored_row *)stored->pdata[i])->result;

		if (result && (result->bytes || !result->commands))
			table->quantity = REPORT_THROUGHPUT;
	}
}

struct report_table *lab_experiment_table(struct lab_store *store, guint *missing, GError **error)
{
	g_autoptr(GPtrArray) rows = lab_store_rows(store, error);
	struct report_table *table;

	if (!rows)
		return NULL;
	table = report_table_new();
	facts_take(table, store);
	quantity_take(table, store, rows);
	*missing = 0;
	for (guint i = 0; i < rows->len; i++) {
		struct lab_stored_row *stored = rows->pdata[i];

		if (stored->result)
			g_ptr_array_add(table->rows, row_take(table, stored));
		else
			(*missing)++;
	}
	if (table->rows->len > 0) {
		base_rebuild(table, table->rows->pdata[0]);
		return table;
	}
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "no point is finished: nothing to report");
	report_table_free(table);
	return NULL;
}

int lab_experiment_verdict(const struct report_table *table)
{
	int verdict = 0;
	bool any_finished = false;

	for (guint i = 0; i < table->rows->len; i++) {
		const struct sim_result *result = ((struct report_row *)table->rows->pdata[i])->result;

		if (result->violations > 0)
			return 1;
		if (result->outcome != SIM_OUTCOME_FINISHED && result->outcome != SIM_OUTCOME_IMPOSSIBLE)
			verdict = 4;
		any_finished |= result->outcome == SIM_OUTCOME_FINISHED;
	}
	return any_finished ? verdict : 4;
}

struct report_table *lab_experiment_publish(struct lab_store *store, const char *directory, guint *missing,
					    GError **error)
{
	struct report_table *table = lab_experiment_table(store, missing, error);

	if (table && report_write_csv(table, directory, error) && report_write_html(table, directory, error))
		return table;
	if (table)
		report_table_free(table);
	return NULL;
}
