/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_COMPARE_H
#define EXPERIMENTS_COMPARE_H

/** Predicted against measured: errors per row and in sum, rows that were fitted and rows held out apart. */

#include "reports/report.h"

#include <json-glib/json-glib.h>
#include <stdio.h>

struct lab_errors {
	guint rows;
	double mean_absolute_percent; /* MAPE */
	double bias_percent; /* mean of the signed errors */
	double worst_percent; /* the largest by size, with its sign */
};

/** Over rows with a measurement: those fitted, or those held out. */
struct lab_errors lab_errors_of(const struct report_table *table, bool fitted);

/** One line per row with a measurement, then one line per group. */
void lab_errors_print(const struct report_table *table, FILE *stream);
/** Members `rows`, `fitted` and `held_out` of the object under construction. */
void lab_errors_json(const struct report_table *table, JsonBuilder *builder);

#endif
