/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/plan.h"

#include <string.h>

void lab_point_free(struct lab_point *point)
{
	if (!point)
		return;
	g_free(point->hash);
	g_strfreev(point->columns);
	g_free(point->point);
	g_free(point->impossible);
	g_free(point);
}

static void point_free(gpointer point)
{
	lab_point_free(point);
}

void lab_plan_free(struct lab_plan *plan)
{
	if (!plan)
		return;
	g_ptr_array_unref(plan->columns);
	g_ptr_array_unref(plan->points);
	lab_measured_free(plan->measured);
	g_free(plan->ignored_options);
	g_free(plan);
}

static void column_add(struct lab_plan *plan, guint key)
{
	const char *name = lab_key_dotted(key);

	if (!lab_keys(NULL)[key].hidden && !g_ptr_array_find(plan->columns, name, NULL))
		g_ptr_array_add(plan->columns, (gpointer)name);
}

static void columns_take(struct lab_plan *plan, const struct lab_config *config)
{
	guint count;

	for (guint i = 0; i < config->sweeps->len; i++)
		column_add(plan, ((struct lab_sweep *)config->sweeps->pdata[i])->key);
	for (guint i = 0; plan->measured && plan->measured->rows_are_points && i < plan->measured->matches->len; i++)
		column_add(plan, ((struct lab_match *)plan->measured->matches->pdata[i])->key);
	if (config->repeat > 1)
		column_add(plan, (guint)lab_key_find("experiment", "seed"));
	plan->sweep_columns = plan->columns->len;
	lab_keys(&count);
	for (guint i = 0; i < count; i++)
		column_add(plan, i);
}

static char **columns_show(const struct lab_plan *plan, const struct lab_point *point)
{
	char **shown = g_new0(char *, plan->columns->len + 1);

	for (guint i = 0; i < plan->columns->len; i++) {
		guint key = (guint)lab_key_find_dotted(plan->columns->pdata[i]);
		const char *given = point->values.text[key];

		shown[i] = point->impossible && given ? lab_key_canonical(key, given)
						      : lab_key_effective(key, point->point, &point->values);
	}
	return shown;
}

struct lab_point *lab_point_new(const struct lab_plan *plan, const struct lab_config *config,
				const struct lab_values *values, struct lab_build_report *report, GError **error)
{
	g_autoptr(GError) cause = NULL;
	struct lab_point *point = g_new0(struct lab_point, 1);

	point->values = *values;
	point->point = g_new0(struct sim_point, 1);
	if (!lab_point_build(values, config->directory, point->point, report, &cause)) {
		if (!g_error_matches(cause, LAB_ERROR, LAB_ERROR_IMPOSSIBLE)) {
			g_propagate_error(error, g_steal_pointer(&cause));
			lab_config_blame(config, report->key, error);
			lab_point_free(point);
			return NULL;
		}
		point->impossible = g_strdup(cause->message);
	}
	point->hash = lab_point_identity(point->point, values, !point->impossible);
	point->columns = columns_show(plan, point);
	return point;
}

/* What building the plan needs beside the plan. */
struct making {
	struct lab_plan *plan;
	const struct lab_config *config;
	GHashTable *seen; /* hashes */
	GHashTable *ignored; /* names of options without effect */
	const struct lab_measured_row *row; /* the measured row that is the point; NULL otherwise */
	char *first_impossible; /* with the place to blame */
};

static void ignored_note(struct making *making, const struct smb_mount_report *report)
{
	for (uint32_t i = 0; i < MIN(report->ignored_count, SMB_MOUNT_IGNORED_MAX); i++)
		g_hash_table_add(making->ignored, (gpointer)g_intern_string(report->ignored[i]));
}

static void impossible_note(struct making *making, const struct lab_point *point, int key)
{
	g_autoptr(GError) cause = NULL;

	if (!point->impossible || making->first_impossible)
		return;
	cause = g_error_new_literal(LAB_ERROR, LAB_ERROR_USAGE, point->impossible);
	lab_config_blame(making->config, key, &cause);
	making->first_impossible = g_strdup(cause->message);
}

static bool point_add(struct making *making, const struct lab_values *values, GError **error)
{
	struct lab_build_report *report = g_new(struct lab_build_report, 1);
	struct lab_point *point = lab_point_new(making->plan, making->config, values, report, error);
	const struct lab_measured_row *row = making->row;

	if (point) {
		ignored_note(making, &report->mount);
		impossible_note(making, point, report->key);
	}
	g_free(report);
	if (!point)
		return false;
	if (!row && g_hash_table_contains(making->seen, point->hash)) {
		making->plan->merged++;
		lab_point_free(point);
		return true;
	}
	g_hash_table_add(making->seen, g_strdup(point->hash));
	if (row)
		point->measured = (struct lab_measurement){ row->has_value, row->value, row->fitted, row->label };
	else if (making->plan->measured)
		point->measured = lab_measured_find(making->plan->measured, making->plan->columns, point->columns);
	g_ptr_array_add(making->plan->points, point);
	return true;
}

static bool repeats_add(struct making *making, struct lab_values values, GError **error)
{
	int seed = lab_key_find("experiment", "seed");
	uint64_t first = making->config->seed;

	if (making->config->repeat == 1)
		return point_add(making, &values, error);
	if (values.text[seed])
		lab_whole_parse(LAB_COUNT, values.text[seed], &first, NULL);
	for (guint i = 0; i < making->config->repeat; i++) {
		g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, first + i);

		values.text[seed] = g_intern_string(text);
		if (!point_add(making, &values, error))
			return false;
	}
	return true;
}

/* Every combination, counted like an odometer whose last wheel turns fastest. */
static bool combinations_add(struct making *making, struct lab_values values, GError **error)
{
	const GPtrArray *sweeps = making->config->sweeps;
	g_autofree guint *wheel = g_new0(guint, sweeps->len + 1);
	guint turning;

	for (;;) {
		for (guint i = 0; i < sweeps->len; i++) {
			const struct lab_sweep *sweep = sweeps->pdata[i];

			values.text[sweep->key] = sweep->values->pdata[wheel[i]];
		}
		if (!repeats_add(making, values, error))
			return false;
		for (turning = sweeps->len; turning > 0; turning--) {
			const struct lab_sweep *sweep = sweeps->pdata[turning - 1];

			if (++wheel[turning - 1] < sweep->values->len)
				break;
			wheel[turning - 1] = 0;
		}
		if (turning == 0)
			return true;
	}
}

static bool rows_add(struct making *making, GError **error)
{
	const struct lab_measured *measured = making->plan->measured;

	for (guint r = 0; r < measured->rows->len; r++) {
		struct lab_values values = making->config->values;

		making->row = measured->rows->pdata[r];
		for (guint m = 0; m < measured->matches->len; m++) {
			const struct lab_match *match = measured->matches->pdata[m];
			g_autofree char *text = lab_measured_text(making->row, match);

			if (text)
				values.text[match->key] = g_intern_string(text);
		}
		if (!combinations_add(making, values, error)) {
			g_prefix_error(error, "%s:%u: ", measured->path, making->row->line);
			return false;
		}
	}
	return true;
}

static bool check_count(const struct lab_config *config, const struct lab_plan *plan, GError **error)
{
	double points = config->repeat;

	for (guint i = 0; i < config->sweeps->len; i++)
		points *= ((struct lab_sweep *)config->sweeps->pdata[i])->values->len;
	if (plan->measured && plan->measured->rows_are_points)
		points *= plan->measured->rows->len;
	if (points <= LAB_POINTS_MAX)
		return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s: [sweep] makes %.0f points; the most is %d", config->path,
		    points, LAB_POINTS_MAX);
	return false;
}

static bool check_some_possible(const struct making *making, GError **error)
{
	for (guint i = 0; i < making->plan->points->len; i++)
		if (!((struct lab_point *)making->plan->points->pdata[i])->impossible)
			return true;
	g_set_error_literal(error, LAB_ERROR, LAB_ERROR_USAGE, making->first_impossible);
	return false;
}

static char *ignored_join(GHashTable *ignored)
{
	g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(ignored), (GCompareFunc)strcmp);
	GString *text = g_string_new(NULL);

	for (GList *name = names; name; name = name->next)
		g_string_append_printf(text, "%s%s", text->len ? ", " : "", (char *)name->data);
	return g_string_free(text, FALSE);
}

static bool plan_fill(struct lab_plan *plan, const struct lab_config *config, GError **error)
{
	struct making making = { .plan = plan, .config = config };
	bool filled;

	columns_take(plan, config);
	making.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	making.ignored = g_hash_table_new(g_str_hash, g_str_equal);
	filled = check_count(config, plan, error) &&
		 (plan->measured && plan->measured->rows_are_points
			  ? rows_add(&making, error)
			  : combinations_add(&making, config->values, error)) &&
		 check_some_possible(&making, error);
	plan->ignored_options = ignored_join(making.ignored);
	g_hash_table_unref(making.seen);
	g_hash_table_unref(making.ignored);
	g_free(making.first_impossible);
	return filled;
}

struct lab_plan *lab_plan_new(const struct lab_config *config, const char *measured_file, GError **error)
{
	struct lab_plan *plan = g_new0(struct lab_plan, 1);
	GError *cause = NULL;

	plan->columns = g_ptr_array_new();
	plan->points = g_ptr_array_new_with_free_func(point_free);
	plan->measured = lab_measured_load(config, measured_file, &cause);
	if (!cause && plan_fill(plan, config, &cause))
		return plan;
	g_propagate_error(error, cause);
	lab_plan_free(plan);
	return NULL;
}
