/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looking points of a sweep up, and choosing those worth a closer look. */
#include "reports/sweep.h"
#include "reports/text.h"

#include <string.h>

static bool stands_at(const struct report_sweep *sweep, const struct report_row *row, guint x, guint line)
{
	const struct report_axis *axes[] = { &sweep->x, &sweep->line };
	const guint at[] = { x, line };

	for (size_t i = 0; i < G_N_ELEMENTS(axes); i++)
		if (axes[i]->column >= 0 && strcmp(row->values[axes[i]->column], axes[i]->values->pdata[at[i]]) != 0)
			return false;
	return true;
}

const struct report_row *report_sweep_row(const struct report_panel *panel, const struct report_sweep *sweep, guint x,
					  guint line)
{
	for (guint i = 0; i < panel->rows->len; i++) {
		const struct report_row *row = panel->rows->pdata[i];

		if (report_row_is_finished(row) && stands_at(sweep, row, x, line))
			return row;
	}
	return NULL;
}

double report_row_came_to(const struct report_table *table, const struct report_row *row)
{
	return report_quantity_of(table->quantity, row->result);
}

bool report_sweep_value(const struct report_panel *panel, const struct report_sweep *sweep, guint x, guint line,
			double *value)
{
	guint count = 0;

	*value = 0;
	for (guint i = 0; i < panel->rows->len; i++) {
		const struct report_row *row = panel->rows->pdata[i];

		if (!report_row_is_finished(row) || !stands_at(sweep, row, x, line))
			continue;
		*value += report_row_came_to(sweep->table, row);
		count++;
	}
	if (count)
		*value /= count;
	return count > 0;
}

char *report_row_label(const struct report_sweep *sweep, const struct report_row *row)
{
	const struct report_table *table = sweep->table;
	GString *label = g_string_new(NULL);

	for (guint i = 0; i < MIN(table->sweep_columns, table->columns->len); i++) {
		const char *column = table->columns->pdata[i];
		if (g_str_has_prefix(column, "workload.") && !strcmp(row->values[i], "none"))
			continue;
		g_autofree char *name = report_column_pretty(column);
		g_autofree char *value = report_value_pretty(column, row->values[i]);

		g_string_append_printf(label, "%s%s %s", label->len ? ", " : "", name, value);
	}
	if (!label->len)
		g_string_append(label, "the only point");
	return g_string_free(label, FALSE);
}

const char *report_row_value(const struct report_table *table, const struct report_row *row, const char *column)
{
	for (guint i = 0; i < table->columns->len; i++)
		if (strcmp(table->columns->pdata[i], column) == 0)
			return row->values[i];
	return NULL;
}

const struct report_panel *report_sweep_main_panel(const struct report_sweep *sweep)
{
	for (guint i = 0; i < sweep->panels->len; i++) {
		const struct report_panel *panel = sweep->panels->pdata[i];

		if (panel->has_measured)
			return panel;
	}
	return sweep->panels->len ? sweep->panels->pdata[0] : NULL;
}

static void choose(GPtrArray *chosen, const struct report_row *row, guint max)
{
	if (row && chosen->len < max && report_row_is_finished(row) && !g_ptr_array_find(chosen, row, NULL))
		g_ptr_array_add(chosen, (gpointer)row);
}

GPtrArray *report_sweep_chosen(const struct report_sweep *sweep, guint max)
{
	const struct report_panel *panel = report_sweep_main_panel(sweep);
	GPtrArray *chosen = g_ptr_array_new();

	for (guint i = 0; i < sweep->table->rows->len; i++) {
		const struct report_row *row = sweep->table->rows->pdata[i];

		if (row->has_measured)
			choose(chosen, row, max);
	}
	if (chosen->len || !panel)
		return chosen;
	guint last_x = sweep->x.values->len - 1, last_line = sweep->line.values->len - 1;

	choose(chosen, report_sweep_row(panel, sweep, 0, 0), max);
	choose(chosen, report_sweep_row(panel, sweep, 0, last_line), max);
	choose(chosen, report_sweep_row(panel, sweep, last_x, 0), max);
	choose(chosen, report_sweep_row(panel, sweep, last_x, last_line), max);
	return chosen;
}
