/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Throughput over the x axis, and the heat map. */
#include "reports/figures.h"

#include "reports/text.h"

#include <math.h>
#include <string.h>

GArray *report_spread(guint count, guint max)
{
	GArray *indices = g_array_new(FALSE, FALSE, sizeof(guint));
	guint taken = MIN(count, max);

	for (guint i = 0; i < taken; i++) {
		guint index = taken > 1 ? (guint)((guint64)i * (count - 1) / (taken - 1)) : 0;

		g_array_append_val(indices, index);
	}
	return indices;
}

void report_plot_number(GString *script, double number)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append_printf(script, "%s ",
			       g_ascii_formatd(text, sizeof(text), "%.9g", isfinite(number) ? number : 0));
}

static void add_line(GString *script, const char *with, char *quoted)
{
	g_string_append_printf(script, with, quoted);
	g_free(quoted);
}

/* Where a value stands on an axis from 0 to 1, for deciding whether labels would touch. */
static double share_of_axis(const struct report_axis *axis, double low, double high, double at)
{
	if (axis->is_log)
		return log(at / low) / log(high / low);
	return (at - low) / (high - low);
}

/* Half a label's share of the width of the axis. */
static double half_label(const char *label)
{
	return (double)(report_width(label) + 1) * 8.5 / 410 / 2;
}

/* Every value has its tic; labels that would touch the one before or the last one are left out. */
static void add_x_tics(GString *script, const struct report_sweep *sweep, double low, double high)
{
	const struct report_axis *axis = &sweep->x;
	guint last = axis->values->len - 1;
	double free_from = -1, free_to = 1 - half_label(axis->labels->pdata[last]);

	for (guint i = 0; i <= last; i++) {
		double at = report_axis_position(sweep, axis, i);
		double share = high > low ? share_of_axis(axis, low, high, at) : 0;
		double half = half_label(axis->labels->pdata[i]);
		bool shown = i == last || (share - half >= free_from && share + half <= free_to);
		g_autofree char *tic = report_gnuplot_tic(shown ? axis->labels->pdata[i] : "");

		free_from = shown ? share + half : free_from;
		g_string_append_printf(script, "%s%s ", i ? ", " : "", tic);
		report_plot_number(script, at);
	}
}

static void add_x_axis(GString *script, const struct report_sweep *sweep)
{
	const struct report_axis *axis = &sweep->x;
	guint last = axis->values->len - 1;
	double low = report_axis_position(sweep, axis, 0), high = report_axis_position(sweep, axis, last);

	g_string_append(script, axis->is_log ? "set logscale x\n" : "");
	g_string_append(script, "set xrange [");
	report_plot_number(script, axis->is_log ? low / 1.25 : low - MAX(0.05 * (high - low), 0.3 * !axis->is_scale));
	g_string_append(script, ":");
	report_plot_number(script, axis->is_log ? high * 1.25 : high + MAX(0.05 * (high - low), 0.3 * !axis->is_scale));
	g_string_append(script, "]\nset xtics (");
	add_x_tics(script, sweep, low, high);
	g_string_append(script, ")\n");
	g_autofree char *title = g_strdup_printf("%s%s", axis->title, axis->is_log ? " (logarithmic)" : "");
	add_line(script, "set xlabel %s\n", report_gnuplot_string(title));
}

struct range {
	double low;
	double high;
};

static void widen(struct range *range, double value)
{
	if (!(value > 0))
		return;
	range->low = range->low > 0 ? MIN(range->low, value) : value;
	range->high = MAX(range->high, value);
}

/* The same range for all panels, so that they can be compared. */
static struct range throughput_range(const struct report_sweep *sweep)
{
	struct range range = { 0, 0 };

	for (guint i = 0; i < sweep->table->rows->len; i++) {
		const struct report_row *row = sweep->table->rows->pdata[i];

		if (report_row_is_finished(row))
			widen(&range, report_row_came_to(sweep->table, row));
		if (row->has_measured)
			widen(&range, row->measured);
	}
	return range;
}

/* 1, 2, 5, 10, ... within the range; over many decades only the powers of ten. */
static void add_log_tics(GString *script, double low, double high)
{
	static const double steps[] = { 1, 2, 5 };
	guint per_decade = high / low > 2000 ? 1 : 3;
	bool first = true;

	g_string_append(script, "set ytics (");
	for (int decade = -6; decade < 12; decade++) {
		for (guint i = 0; i < per_decade; i++) {
			double at = steps[i] * pow(10, decade);
			g_autofree char *text = report_shortest(at);

			if (at < low || at > high)
				continue;
			g_string_append_printf(script, "%s'%s' %s", first ? "" : ", ", text, text);
			first = false;
		}
	}
	g_string_append(script, ")\n");
}

static void add_y_axis(GString *script, const struct report_sweep *sweep, struct range range)
{
	const char *unit = report_quantity_info(sweep->table->quantity)->unit;
	bool is_log = range.low > 0 && range.high / range.low >= 20;
	double low = is_log ? range.low / 1.3 : 0, high = range.high * (is_log ? 1.3 : 1.08);

	g_string_append(script, is_log ? "set logscale y\nset yrange [" : "set yrange [");
	report_plot_number(script, low);
	g_string_append(script, ":");
	report_plot_number(script, high);
	g_string_append(script, "]\n");
	if (is_log)
		add_log_tics(script, low, high);
	else
		g_string_append(script, "set ytics format '%g'\n");
	g_autofree char *title = g_strdup_printf("%s%s", unit, is_log ? " (logarithmic)" : "");
	add_line(script, "set ylabel %s\n", report_gnuplot_string(title));
}

static guint add_line_data(GString *script, const struct report_sweep *sweep, const struct report_panel *panel,
			   guint line)
{
	guint points = 0;

	g_string_append_printf(script, "$line%u << EOD\n", line);
	for (guint x = 0; x < sweep->x.values->len; x++) {
		double MBps;

		if (!report_sweep_value(panel, sweep, x, line, &MBps))
			continue;
		report_plot_number(script, report_axis_position(sweep, &sweep->x, x));
		report_plot_number(script, MBps);
		g_string_append_c(script, '\n');
		points++;
	}
	g_string_append(script, "EOD\n");
	return points;
}

static guint add_measured_data(GString *script, const struct report_sweep *sweep, const struct report_panel *panel)
{
	guint points = 0;

	g_string_append(script, "$measured << EOD\n");
	for (guint i = 0; i < panel->rows->len; i++) {
		const struct report_row *row = panel->rows->pdata[i];

		if (!row->has_measured)
			continue;
		report_plot_number(script, report_axis_position(sweep, &sweep->x, report_axis_index(&sweep->x, row)));
		report_plot_number(script, row->measured);
		g_string_append_c(script, '\n');
		points++;
	}
	g_string_append(script, "EOD\n");
	return points;
}

static const char *line_colour(const struct report_sweep *sweep, guint index, guint count)
{
	static const char *const kinds[] = { REPORT_BLUE, REPORT_RED,	 REPORT_GREEN, REPORT_PINK,
					     REPORT_SKY,  REPORT_ORANGE, REPORT_MUTED };

	if (sweep->line.kind == REPORT_KIND_NAME && sweep->line.column >= 0)
		return kinds[index % G_N_ELEMENTS(kinds)];
	return report_ramp(index, count);
}

/* Shapes as well as colours tell lines apart. */
static const int markers[] = { 7, 5, 9, 13, 11, 6, 4, 8, 12 };

static void add_plot(GString *script, const struct report_sweep *sweep, const GArray *lines, bool measured)
{
	g_string_append(script, "plot ");
	for (guint i = 0; i < lines->len; i++) {
		guint line = g_array_index(lines, guint, i);
		bool named = sweep->line.column >= 0;
		g_autofree char *title = report_gnuplot_string(named ? sweep->line.labels->pdata[line] : "predicted");

		g_string_append_printf(script,
				       "%s$line%u using 1:2 with linespoints lw 2.2 lc rgb '%s' pt %d ps 0.75 title %s",
				       i ? ", \\\n " : "", line, line_colour(sweep, i, lines->len),
				       markers[i % G_N_ELEMENTS(markers)], title);
	}
	if (measured)
		g_string_append(script, ", \\\n $measured using 1:2 with points pt 12 ps 1.6 lw 2.2 lc rgb '" REPORT_INK
					"' title 'measured'");
	g_string_append_c(script, '\n');
}

static void add_key(GString *script, const struct report_sweep *sweep)
{
	g_string_append(script,
			"set lmargin 9.5\nset rmargin 3\nset key below left horizontal reverse Left samplen 1.6 "
			"width -1 maxrows 3\n");
	if (sweep->line.column >= 0)
		add_line(script, "set key title %s left\n", report_gnuplot_string(sweep->line.title));
}

struct report_figure *report_figure_throughput(struct report_plotter *plotter, const struct report_sweep *sweep,
					       const struct report_panel *panel)
{
	GString *script = plotter->script;
	struct range range = throughput_range(sweep);
	g_autofree char *name = g_strconcat("throughput", panel->file_part, NULL);
	g_autofree char *title = g_strdup_printf("%s over %s%s%s", report_quantity_info(sweep->table->quantity)->title,
						 sweep->x.title, panel->label[0] ? ", " : "", panel->label);
	g_autoptr(GArray) lines = report_spread(sweep->line.values->len, REPORT_LINES_MAX);
	g_autoptr(GArray) drawn = g_array_new(FALSE, FALSE, sizeof(guint));

	if (sweep->x.column < 0 || !(range.high > 0))
		return NULL;
	struct report_figure *figure = report_plotter_figure(plotter, name, title, REPORT_PLOT_WIDTH, 480);

	add_x_axis(script, sweep);
	add_y_axis(script, sweep, range);
	add_key(script, sweep);
	g_autofree char *heading = g_strconcat("Predicted throughput", panel->label[0] ? ", " : "", panel->label, NULL);
	add_line(script, "set title %s\n", report_gnuplot_string(strlen(heading) > 52 ? panel->label : heading));
	for (guint i = 0; i < lines->len; i++) {
		guint line = g_array_index(lines, guint, i);

		/* An empty block is an error to gnuplot: a line whose points all failed is not drawn. */
		if (add_line_data(script, sweep, panel, line))
			g_array_append_val(drawn, line);
	}
	bool measured = add_measured_data(script, sweep, panel) > 0;

	if (drawn->len)
		add_plot(script, sweep, drawn, measured);
	else
		g_string_append(script, "set label 'no point finished' at graph 0.5,0.5 center\nplot NaN notitle\n");
	return figure;
}

static void add_heat_cell(GString *script, guint x, guint y, double MBps, struct range range)
{
	g_autofree char *text = report_MBps(MBps);
	double share = range.high > range.low ? log(MBps / range.low) / log(range.high / range.low) : 1;

	g_string_append_printf(script, "%u %u %u.02 %u.98 %u.03 %u.97 %u %s %u\n", x, y, x, x, y, y,
			       report_heat_colour(share), text, report_heat_text_colour(share));
}

static void add_failed_cell(GString *script, guint x, guint y)
{
	g_string_append_printf(script, "%u %u %u.02 %u.98 %u.03 %u.97 %u failed %u\n", x, y, x, x, y, y, 0xd8d8d8,
			       0x101010);
}

static bool has_row(const struct report_panel *panel, const struct report_sweep *sweep, guint x, guint line)
{
	for (guint i = 0; i < panel->rows->len; i++)
		if (report_axis_index(&sweep->x, panel->rows->pdata[i]) == x &&
		    report_axis_index(&sweep->line, panel->rows->pdata[i]) == line)
			return true;
	return false;
}

static void add_heat_data(GString *script, const struct report_sweep *sweep, const struct report_panel *panel,
			  const GArray *xs, const GArray *lines)
{
	struct range range = throughput_range(sweep);

	g_string_append(script, "$heat << EOD\n");
	for (guint y = 0; y < lines->len; y++) {
		for (guint x = 0; x < xs->len; x++) {
			guint at_x = g_array_index(xs, guint, x), at_line = g_array_index(lines, guint, y);
			double MBps;

			if (report_sweep_value(panel, sweep, at_x, at_line, &MBps) && MBps > 0)
				add_heat_cell(script, x, y, MBps, range);
			else if (has_row(panel, sweep, at_x, at_line))
				add_failed_cell(script, x, y);
		}
	}
	g_string_append(script, "EOD\n");
}

static void add_centred_tics(GString *script, const char *which, const struct report_axis *axis, const GArray *indices)
{
	g_string_append_printf(script, "set %stics scale 0 (", which);
	for (guint i = 0; i < indices->len; i++) {
		g_autofree char *tic = report_gnuplot_tic(axis->labels->pdata[g_array_index(indices, guint, i)]);

		g_string_append_printf(script, "%s%s %u.5", i ? ", " : "", tic, i);
	}
	g_string_append(script, ")\n");
}

#define HEAT_COLUMNS_MAX 10
#define HEAT_ROWS_MAX 20

struct report_figure *report_figure_heat(struct report_plotter *plotter, const struct report_sweep *sweep,
					 const struct report_panel *panel)
{
	GString *script = plotter->script;
	g_autofree char *name = g_strconcat("heatmap", panel->file_part, NULL);
	g_autofree char *title = g_strdup_printf("%s in %s, %s by %s%s%s",
						 report_quantity_info(sweep->table->quantity)->title,
						 report_quantity_info(sweep->table->quantity)->unit, sweep->line.title,
						 sweep->x.title, panel->label[0] ? ", " : "", panel->label);
	g_autoptr(GArray) xs = report_spread(sweep->x.values->len, HEAT_COLUMNS_MAX);
	g_autoptr(GArray) lines = report_spread(sweep->line.values->len, HEAT_ROWS_MAX);

	if (xs->len < 2 || lines->len < 2)
		return NULL;
	struct report_figure *figure = report_plotter_figure(plotter, name, title, REPORT_PLOT_WIDTH,
							     120 + 34 * (int)lines->len);

	add_line(script, "set title %s\n", report_gnuplot_string(panel->label));
	add_line(script, "set xlabel %s\n", report_gnuplot_string(sweep->x.title));
	add_line(script, "set ylabel %s\n", report_gnuplot_string(sweep->line.title));
	add_centred_tics(script, "x", &sweep->x, xs);
	if (xs->len > 6)
		g_string_append(script, "set xtics rotate by 45 right\nset xlabel offset 0,0\n");
	add_centred_tics(script, "y", &sweep->line, lines);
	add_heat_data(script, sweep, panel, xs, lines);
	g_string_append_printf(script,
			       "unset key\nunset border\nunset grid\nset xrange [0:%u]\nset yrange [0:%u]\n"
			       "plot $heat using ($1+0.5):($2+0.5):3:4:5:6:7 with boxxyerror fs solid 1 noborder "
			       "lc rgb variable, \\\n"
			       " $heat using ($1+0.5):($2+0.5):8:9 with labels font 'sans-serif,%d' tc rgb variable\n",
			       xs->len, lines->len, xs->len > 7 ? 11 : 13);
	return figure;
}
