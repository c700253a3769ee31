/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_SWEEP_H
#define REPORTS_SWEEP_H

/**
 * How a sweep becomes pictures: one parameter along the x axis, one as lines, the others as panels beside each other.
 *
 * The x axis is the RTT when it was swept, else the first parameter that is a quantity, else the first one. The
 * lines are rasize when it was swept, else the first of the rest. Values are ordered by size, names (such as "unset")
 * first and in the order of the rows.
 */

#include "reports/report.h"
#include "reports/value.h"

struct report_axis {
	int column; /* of the table; -1: no such axis, it has one value, "" */
	enum report_kind kind; /* of all its quantities; NAME: there are only names */
	bool is_scale; /* every value is a quantity and can have its place on a scale; else evenly spaced */
	bool is_log;
	char *title; /* as a person reads it; "" without a column */
	GPtrArray *values; /* const char *, of the rows */
	GPtrArray *labels; /* char *, as a person reads them */
};

struct report_panel {
	char *label; /* "max_channels = 2"; "" when there is only one */
	char *file_part; /* for names of plots; "" when there is only one */
	GPtrArray *rows; /* struct report_row *, of the table */
	bool has_measured;
};

struct report_sweep {
	const struct report_table *table;
	struct report_axis x;
	struct report_axis line;
	GPtrArray *panels; /* struct report_panel *, at least one when there are rows */
};

struct report_sweep *report_sweep_new(const struct report_table *table);
void report_sweep_free(struct report_sweep *sweep);

bool report_row_is_finished(const struct report_row *row);
/** Index of the row's value on an axis. */
guint report_axis_index(const struct report_axis *axis, const struct report_row *row);
/** Where the index-th value stands: its quantity on a scale, else its index. */
double report_axis_position(const struct report_sweep *sweep, const struct report_axis *axis, guint index);
/** The quantity of a finished row of the table. */
double report_row_came_to(const struct report_table *table, const struct report_row *row);
/** Its mean over the finished rows there (several with `repeat`); false when there is none. */
bool report_sweep_value(const struct report_panel *panel, const struct report_sweep *sweep, guint x, guint line,
			double *value);
/** The first finished row there, NULL when there is none. */
const struct report_row *report_sweep_row(const struct report_panel *panel, const struct report_sweep *sweep, guint x,
					  guint line);
/** "rasize 4 MiB, RTT 10 ms, max_channels 2". Caller frees. */
char *report_row_label(const struct report_sweep *sweep, const struct report_row *row);
/** The row's value in a column named so, NULL when the table has no such column. */
const char *report_row_value(const struct report_table *table, const struct report_row *row, const char *column);
/** The panel that says most: the first with a measurement, else the first. NULL without rows. */
const struct report_panel *report_sweep_main_panel(const struct report_sweep *sweep);
/** The points worth a closer look: those with measurements, else the extremes; finished ones only, at most `max`. */
GPtrArray *report_sweep_chosen(const struct report_sweep *sweep, guint max);

#endif
