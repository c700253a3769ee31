/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/compare.h"

#include "experiments/commands.h"

#include <math.h>
#include <string.h>

struct lab_errors lab_errors_of(const struct report_table *table, bool fitted)
{
	struct lab_errors errors = { 0 };
	double absolute = 0, sum = 0;

	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		if (!row->has_measured || row->fitted != fitted)
			continue;
		errors.rows++;
		absolute += fabs(row->error_percent);
		sum += row->error_percent;
		if (fabs(row->error_percent) > fabs(errors.worst_percent))
			errors.worst_percent = row->error_percent;
	}
	if (errors.rows) {
		errors.mean_absolute_percent = absolute / errors.rows;
		errors.bias_percent = sum / errors.rows;
	}
	return errors;
}

/* Widest text of a column over the rows shown, its name included. */
static int column_width(const struct report_table *table, guint column)
{
	size_t width = strlen(table->columns->pdata[column]);

	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		if (row->has_measured)
			width = MAX(width, strlen(row->values[column]));
	}
	return (int)width;
}

/* Columns whose value differs between the rows; the others only take room. */
static bool column_varies(const struct report_table *table, guint column)
{
	const struct report_row *first = table->rows->pdata[0];

	for (guint i = 1; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		if (strcmp(row->values[column], first->values[column]) != 0)
			return true;
	}
	return false;
}

static void row_print(const struct report_table *table, const struct report_row *row, FILE *stream)
{
	for (guint c = 0; c < table->sweep_columns; c++)
		if (column_varies(table, c))
			fprintf(stream, "%-*s  ", column_width(table, c), row->values[c]);
	if (row->result->outcome == SIM_OUTCOME_FINISHED)
		fprintf(stream, "%10.2f", report_quantity_of(table->quantity, row->result));
	else
		fprintf(stream, "%10s", sim_outcome_name(row->result->outcome));
	fprintf(stream, "  %10.2f  %+8.1f  %s\n", row->measured, row->error_percent,
		row->fitted ? "fitted" : "held out");
}

static void group_print(const char *name, struct lab_errors errors, FILE *stream)
{
	if (errors.rows == 0)
		return;
	fprintf(stream, "%-9s %3u rows: mean absolute error %.1f %%, bias %+.1f %%, worst row %+.1f %%\n", name,
		errors.rows, errors.mean_absolute_percent, errors.bias_percent, errors.worst_percent);
}

void lab_errors_print(const struct report_table *table, FILE *stream)
{
	for (guint c = 0; c < table->sweep_columns; c++)
		if (column_varies(table, c))
			fprintf(stream, "%-*s  ", column_width(table, c), (char *)table->columns->pdata[c]);
	fprintf(stream, "%10s  %10s  %8s  in %s\n", "predicted", "measured", "error %",
		report_quantity_info(table->quantity)->unit);
	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		if (row->has_measured)
			row_print(table, row, stream);
	}
	fputc('\n', stream);
	group_print("fitted", lab_errors_of(table, true), stream);
	group_print("held out", lab_errors_of(table, false), stream);
}

static void group_json(JsonBuilder *builder, const char *name, struct lab_errors errors)
{
	json_builder_set_member_name(builder, name);
	json_builder_begin_object(builder);
	lab_json_whole(builder, "rows", errors.rows);
	lab_json_number(builder, "mean_absolute_percent", errors.mean_absolute_percent);
	lab_json_number(builder, "bias_percent", errors.bias_percent);
	lab_json_number(builder, "worst_percent", errors.worst_percent);
	json_builder_end_object(builder);
}

void lab_errors_json(const struct report_table *table, JsonBuilder *builder)
{
	lab_json_rows(builder, table);
	group_json(builder, "fitted", lab_errors_of(table, true));
	group_json(builder, "held_out", lab_errors_of(table, false));
}
