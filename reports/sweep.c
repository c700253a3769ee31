/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/sweep.h"

#include "reports/text.h"

#include <math.h>
#include <string.h>

bool report_row_is_finished(const struct report_row *row)
{
	return row->result && row->result->outcome == SIM_OUTCOME_FINISHED;
}

static const char *column_name(const struct report_table *table, int column)
{
	return table->columns->pdata[column];
}

/* Distinct values of a column in the order of the rows; NULL-safe for a table without rows. */
static GPtrArray *distinct(const struct report_table *table, int column)
{
	GPtrArray *values = g_ptr_array_new();
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];
		char *value = column < 0 ? (char *)"" : row->values[column];

		if (g_hash_table_add(seen, value))
			g_ptr_array_add(values, value);
	}
	return values;
}

static gint by_quantity(gconstpointer a, gconstpointer b, gpointer column)
{
	double left, right;
	bool left_name = report_value_parse(column, *(char *const *)a, &left) == REPORT_KIND_NAME;
	bool right_name = report_value_parse(column, *(char *const *)b, &right) == REPORT_KIND_NAME;

	if (left_name || right_name)
		return right_name - left_name;
	return (left > right) - (left < right);
}

/* The kind of all quantities among the values; a plain 0 fits any kind. NAME when they do not agree. */
static enum report_kind common_kind(const char *column, const GPtrArray *values, bool *only_quantities)
{
	enum report_kind common = REPORT_KIND_NAME;

	*only_quantities = values->len > 0;
	for (guint i = 0; i < values->len; i++) {
		double quantity;
		enum report_kind kind = report_value_parse(column, values->pdata[i], &quantity);

		if (kind == REPORT_KIND_NAME) {
			*only_quantities = false;
			continue;
		}
		if (common == REPORT_KIND_NAME || common == REPORT_KIND_NUMBER)
			common = kind;
		else if (kind != common && !(kind == REPORT_KIND_NUMBER && quantity == 0))
			return REPORT_KIND_NAME;
	}
	return common;
}

/* Values that span more than a factor of eight want a logarithmic scale, which has no place for zero. */
static void choose_scale(struct report_axis *axis, const char *column)
{
	double low, high;

	report_value_parse(column, axis->values->pdata[0], &low);
	report_value_parse(column, axis->values->pdata[axis->values->len - 1], &high);
	axis->is_log = low > 0 && high / low >= 8;
	if (low <= 0 && axis->values->len > 2)
		axis->is_scale = false;
}

/* "unset" says more with the readahead window that the client took then. */
static char *unset_label(const struct report_table *table, int column, const char *value)
{
	guint64 bytes = 0;

	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];
		guint64 window;

		if (strcmp(row->values[column], value) != 0 || !report_row_is_finished(row))
			continue;
		window = (guint64)row->result->ra_pages * table->base.page_bytes;
		if (bytes && window != bytes)
			return g_strdup(value);
		bytes = window;
	}
	if (!bytes)
		return g_strdup(value);
	g_autofree char *pretty = report_bytes((double)bytes);
	return g_strdup_printf("%s (%s)", value, pretty);
}

static char *axis_label(const struct report_table *table, int column, const char *value)
{
	const char *name = column_name(table, column);

	if (strcmp(name, "client.rasize") == 0 && strcmp(value, "unset") == 0)
		return unset_label(table, column, value);
	return report_value_pretty(name, value);
}

static void axis_init(struct report_axis *axis, const struct report_table *table, int column)
{
	axis->column = column;
	axis->values = distinct(table, column);
	axis->labels = g_ptr_array_new_with_free_func(g_free);
	if (column < 0) {
		axis->title = g_strdup("");
		g_ptr_array_add(axis->labels, g_strdup(""));
		return;
	}
	axis->title = report_column_pretty(column_name(table, column));
	axis->kind = common_kind(column_name(table, column), axis->values, &axis->is_scale);
	if (axis->kind == REPORT_KIND_NAME)
		axis->is_scale = false;
	else
		g_ptr_array_sort_with_data(axis->values, by_quantity, (gpointer)column_name(table, column));
	if (axis->is_scale)
		choose_scale(axis, column_name(table, column));
	for (guint i = 0; i < axis->values->len; i++)
		g_ptr_array_add(axis->labels, axis_label(table, column, axis->values->pdata[i]));
}

static void axis_clear(struct report_axis *axis)
{
	g_free(axis->title);
	g_ptr_array_unref(axis->values);
	g_ptr_array_unref(axis->labels);
}

guint report_axis_index(const struct report_axis *axis, const struct report_row *row)
{
	if (axis->column < 0)
		return 0;
	for (guint i = 0; i < axis->values->len; i++)
		if (strcmp(axis->values->pdata[i], row->values[axis->column]) == 0)
			return i;
	g_assert_not_reached();
}

double report_axis_position(const struct report_sweep *sweep, const struct report_axis *axis, guint index)
{
	double quantity;

	if (!axis->is_scale)
		return index;
	report_value_parse(column_name(sweep->table, axis->column), axis->values->pdata[index], &quantity);
	return quantity;
}

static bool is_swept(const struct report_table *table, guint column)
{
	g_autoptr(GPtrArray) values = distinct(table, (int)column);

	return values->len > 1;
}

static int find_column(const struct report_table *table, const char *name)
{
	for (guint i = 0; i < table->columns->len; i++)
		if (strcmp(table->columns->pdata[i], name) == 0)
			return (int)i;
	return -1;
}

static int first_column(const GArray *columns, const struct report_table *table, bool quantity)
{
	for (guint i = 0; i < columns->len; i++) {
		int column = g_array_index(columns, int, i);
		g_autoptr(GPtrArray) values = distinct(table, column);
		bool only;

		if (!quantity || (common_kind(column_name(table, column), values, &only) != REPORT_KIND_NAME && only))
			return column;
	}
	return -1;
}

static void take(GArray *columns, int column)
{
	for (guint i = 0; i < columns->len; i++) {
		if (g_array_index(columns, int, i) != column)
			continue;
		g_array_remove_index(columns, i);
		return;
	}
}

static bool holds(const GArray *columns, int column)
{
	for (guint i = 0; i < columns->len; i++)
		if (g_array_index(columns, int, i) == column)
			return true;
	return false;
}

static int choose_x(const GArray *swept, const struct report_table *table)
{
	int rtt = find_column(table, "network.rtt");
	int quantity = first_column(swept, table, true);

	if (holds(swept, rtt))
		return rtt;
	return quantity >= 0 ? quantity : first_column(swept, table, false);
}

static int choose_line(const GArray *rest, const struct report_table *table)
{
	int rasize = find_column(table, "client.rasize");

	return holds(rest, rasize) ? rasize : first_column(rest, table, false);
}

static void panel_free(gpointer data)
{
	struct report_panel *panel = data;

	g_free(panel->label);
	g_free(panel->file_part);
	g_ptr_array_unref(panel->rows);
	g_free(panel);
}

static char *panel_label(const struct report_row *row, const GArray *columns, const struct report_table *table)
{
	GString *label = g_string_new(NULL);

	for (guint i = 0; i < columns->len; i++) {
		int column = g_array_index(columns, int, i);
		g_autofree char *name = report_column_pretty(column_name(table, column));
		g_autofree char *value = report_value_pretty(column_name(table, column), row->values[column]);

		g_string_append_printf(label, "%s%s = %s", i ? ", " : "", name, value);
	}
	return g_string_free(label, FALSE);
}

/* Sorted by the values of their columns, the first column first, so that panels come as a person expects them. */
static gint by_columns(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct report_sweep *sweep = ((gpointer *)data)[0];
	const GArray *columns = ((gpointer *)data)[1];
	const struct report_panel *left = *(struct report_panel *const *)a;
	const struct report_panel *right = *(struct report_panel *const *)b;
	gint order = 0;

	for (guint i = 0; i < columns->len && order == 0; i++) {
		int column = g_array_index(columns, int, i);
		const struct report_row *l = left->rows->pdata[0];
		const struct report_row *r = right->rows->pdata[0];

		order = by_quantity(&l->values[column], &r->values[column],
				    (gpointer)column_name(sweep->table, column));
	}
	return order;
}

static void add_panels(struct report_sweep *sweep, const GArray *columns)
{
	g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	gpointer context[] = { sweep, (gpointer)columns };

	for (guint i = 0; i < sweep->table->rows->len; i++) {
		struct report_row *row = sweep->table->rows->pdata[i];
		char *label = panel_label(row, columns, sweep->table);
		struct report_panel *panel = g_hash_table_lookup(known, label);

		if (!panel) {
			panel = g_new0(struct report_panel, 1);
			panel->label = g_strdup(label);
			panel->rows = g_ptr_array_new();
			g_ptr_array_add(sweep->panels, panel);
			g_hash_table_insert(known, g_strdup(label), panel);
		}
		g_ptr_array_add(panel->rows, row);
		panel->has_measured |= row->has_measured;
		g_free(label);
	}
	g_ptr_array_sort_with_data(sweep->panels, by_columns, context);
}

/* "-max_channels-2"; a number where two labels would give the same name. */
static void name_panels(struct report_sweep *sweep)
{
	g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < sweep->panels->len; i++) {
		struct report_panel *panel = sweep->panels->pdata[i];
		g_auto(GStrv) parts = g_strsplit_set(panel->label, "=, ", -1);
		GString *name = g_string_new(NULL);

		for (guint j = 0; parts[j]; j++) {
			g_autofree char *part = report_file_part(parts[j]);

			if (part[0])
				g_string_append_printf(name, "-%s", part);
		}
		g_string_truncate(name, MIN(name->len, 60));
		if (g_hash_table_contains(taken, name->str))
			g_string_append_printf(name, "-%u", i + 1);
		panel->file_part = g_string_free(name, FALSE);
		g_hash_table_add(taken, g_strdup(panel->file_part));
	}
}

struct report_sweep *report_sweep_new(const struct report_table *table)
{
	struct report_sweep *sweep = g_new0(struct report_sweep, 1);
	g_autoptr(GArray) rest = g_array_new(FALSE, FALSE, sizeof(int));
	int x, line;

	sweep->table = table;
	sweep->panels = g_ptr_array_new_with_free_func(panel_free);
	for (int i = 0; i < (int)MIN(table->sweep_columns, table->columns->len); i++)
		if (is_swept(table, (guint)i))
			g_array_append_val(rest, i);
	x = choose_x(rest, table);
	take(rest, x);
	line = choose_line(rest, table);
	take(rest, line);
	axis_init(&sweep->x, table, x);
	axis_init(&sweep->line, table, line);
	add_panels(sweep, rest);
	name_panels(sweep);
	return sweep;
}

void report_sweep_free(struct report_sweep *sweep)
{
	axis_clear(&sweep->x);
	axis_clear(&sweep->line);
	g_ptr_array_unref(sweep->panels);
	g_free(sweep);
}
