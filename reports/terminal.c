/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table for a terminal: aligned, and on a terminal coloured, cut to its width and with bars in the room left. */
#include "reports/insight.h"
#include "reports/text.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct grid {
	guint columns;
	GPtrArray *cells; /* char *, row by row, the heading first */
	glong *widths;
	glong width; /* of the terminal; 0: any */
	bool colour;
};

static glong terminal_width(FILE *stream)
{
	struct winsize size;

	if (!isatty(fileno(stream)))
		return 0;
	if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return 80;
}

static void put(struct grid *grid, char *text)
{
	guint column = grid->cells->len % grid->columns;
	char *line = report_one_line(text, column + 1 == grid->columns ? 300 : 60);

	g_free(text);
	grid->widths[column] = MAX(grid->widths[column], report_width(line));
	g_ptr_array_add(grid->cells, line);
}

static char *note_of(const struct report_row *row)
{
	if (!row->result)
		return g_strdup("missing");
	if (!report_row_is_finished(row))
		return g_strdup_printf("%s%s%s", sim_outcome_name(row->result->outcome),
				       row->result->failure[0] ? ": " : "", row->result->failure);
	for (guint i = 0; i < row->result->job_count; i++) {
		const struct sim_job_result *job = &row->result->jobs[i];

		if (job->failures)
			return g_strdup_printf("%s: %s", job->what, smb_ops_error_text(job->error));
	}
	if (row->result->violations)
		return g_strdup_printf("%" G_GUINT64_FORMAT " violations", (guint64)row->result->violations);
	return g_strdup(!row->has_measured ? "" : row->fitted ? "fitted" : "held out");
}

static char *number(const struct report_table *table, double value)
{
	return report_fixed(value, table->quantity == REPORT_PAIRS ? 0 : 1);
}

static void put_row(struct grid *grid, const struct report_table *table, const struct report_row *row)
{
	bool finished = report_row_is_finished(row);

	for (guint i = 0; i < MIN(table->sweep_columns, table->columns->len); i++)
		put(grid, report_value_pretty(table->columns->pdata[i], row->values[i]));
	put(grid, finished ? number(table, report_row_came_to(table, row)) : g_strdup("-"));
	put(grid, row->has_measured ? number(table, row->measured) : g_strdup(""));
	put(grid, row->has_measured && finished ? report_percent(row->error_percent) : g_strdup(""));
	put(grid, note_of(row));
}

static void put_headings(struct grid *grid, const struct report_table *table)
{
	for (guint i = 0; i < MIN(table->sweep_columns, table->columns->len); i++)
		put(grid, report_column_pretty(table->columns->pdata[i]));
	put(grid, g_strdup(report_quantity_info(table->quantity)->unit));
	put(grid, g_strdup("measured"));
	put(grid, g_strdup("error"));
	put(grid, g_strdup(""));
}

static void pad(GString *line, glong columns)
{
	for (glong i = 0; i < columns; i++)
		g_string_append_c(line, ' ');
}

static const char *colour_of(const struct report_row *row)
{
	if (!row)
		return "\033[1m";
	if (!report_row_is_finished(row) || row->result->violations)
		return "\033[31m";
	if (row->has_measured)
		return fabs(row->error_percent) <= 5 ? "\033[32m" : "\033[33m";
	return "";
}

static glong grid_width(const struct grid *grid)
{
	glong width = 0;

	for (guint i = 0; i < grid->columns; i++)
		width += grid->widths[i] ? grid->widths[i] + 2 : 0;
	return width;
}

/* The last column is text and stands left, cut to the terminal; the others are right-aligned. */
static void add_cell(GString *line, const struct grid *grid, guint column, const char *text)
{
	bool last = column + 1 == grid->columns;
	glong left = grid->width - report_width(line->str);

	if (!grid->widths[column])
		return;
	if (last && grid->width && report_width(text) > left) {
		g_autofree char *cut = left >= 4 ? report_one_line(text, left) : g_strdup("");

		g_string_append(line, cut);
		return;
	}
	pad(line, last ? 0 : grid->widths[column] - report_width(text));
	g_string_append(line, text);
	pad(line, last ? grid->widths[column] - report_width(text) + 2 : 2);
}

/* `share` of the largest value, in the room that the columns leave; on a terminal only. */
static void add_bar(GString *line, const struct grid *grid, const struct report_row *row, double share)
{
	glong room = MIN(grid->width - grid_width(grid), 40);

	if (room < 10 || !row || !report_row_is_finished(row))
		return;
	for (glong i = lround(share * (double)room); i > 0; i--)
		g_string_append_c(line, '#');
}

static void print_line(FILE *stream, const struct grid *grid, guint number, const struct report_row *row, double share)
{
	const char *colour = grid->colour ? colour_of(row) : "";
	GString *line = g_string_new(NULL);

	for (guint i = 0; i < grid->columns; i++)
		add_cell(line, grid, i, grid->cells->pdata[number * grid->columns + i]);
	add_bar(line, grid, row, share);
	g_strchomp(line->str);
	fprintf(stream, "%s%s%s\n", colour, line->str, colour[0] ? "\033[0m" : "");
	g_string_free(line, TRUE);
}

/* The largest; what is longer is not better, but as much easier to see. */
static double largest_of(const struct report_table *table)
{
	double largest = 0;

	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		if (report_row_is_finished(row))
			largest = fmax(largest, report_row_came_to(table, row));
	}
	return largest;
}

/* Two columns without a single number would only say that nothing was measured. */
static void hide_measured(struct grid *grid, const struct report_table *table)
{
	for (guint i = 0; i < table->rows->len; i++)
		if (((const struct report_row *)table->rows->pdata[i])->has_measured)
			return;
	grid->widths[grid->columns - 3] = 0;
	grid->widths[grid->columns - 2] = 0;
}

void report_print_table(const struct report_table *table, FILE *stream)
{
	struct grid grid = {
		.columns = MIN(table->sweep_columns, table->columns->len) + 4,
		.cells = g_ptr_array_new_with_free_func(g_free),
		.width = terminal_width(stream),
		.colour = isatty(fileno(stream)) && !g_getenv("NO_COLOR"),
	};

	grid.widths = g_new0(glong, grid.columns);
	put_headings(&grid, table);
	for (guint i = 0; i < table->rows->len; i++)
		put_row(&grid, table, table->rows->pdata[i]);
	double largest = largest_of(table);

	hide_measured(&grid, table);
	for (guint i = 0; i <= table->rows->len; i++) {
		const struct report_row *row = i ? table->rows->pdata[i - 1] : NULL;
		bool has_share = row && report_row_is_finished(row) && largest > 0;

		print_line(stream, &grid, i, row, has_share ? report_row_came_to(table, row) / largest : 0);
	}
	g_ptr_array_unref(grid.cells);
	g_free(grid.widths);
}

void report_print_findings(const struct report_table *table, FILE *stream)
{
	struct report_sweep *sweep = report_sweep_new(table);
	g_autoptr(GPtrArray) findings = report_findings(sweep);

	for (guint i = 0; i < findings->len; i++)
		fprintf(stream, "%s\n", (const char *)findings->pdata[i]);
	report_sweep_free(sweep);
}
