/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the reader's time went, as stacked bars. */
#include "reports/figures.h"

#include "reports/reader_time.h"
#include "reports/text.h"

const struct report_reader_part report_reader_parts[REPORT_READER_PARTS] = {
	{ "data on the wire", "waiting for data on the wire", REPORT_BLUE },
	{ "at the server", "waiting for the server", REPORT_ORANGE },
	{ "request on the way", "waiting for a request to reach the server", REPORT_SKY },
	{ "waiting for credits", "waiting for credits", REPORT_RED },
	{ "nothing in flight", "waiting with nothing in flight", REPORT_GREY },
	{ "client CPU", "on the client's processor", REPORT_GREEN },
};

double report_reader_share(const struct sim_reader_time *time, guint part)
{
	const guint64 parts[REPORT_READER_PARTS] = {
		time->wire_ns,	  time->server_ns,  time->request_ns,
		time->credits_ns, time->nothing_ns, time->client_cpu_ns,
	};
	double sum = 0;

	for (guint i = 0; i < REPORT_READER_PARTS; i++)
		sum += (double)parts[i];
	return sum > 0 ? (double)parts[part] / sum : 0;
}

guint report_reader_ranked(const struct sim_reader_time *time, guint rank)
{
	for (guint part = 0; part < REPORT_READER_PARTS; part++) {
		guint before = 0;

		for (guint other = 0; other < REPORT_READER_PARTS; other++) {
			double mine = report_reader_share(time, part), others = report_reader_share(time, other);

			before += others > mine || (others == mine && other < part);
		}
		if (before == rank)
			return part;
	}
	g_assert_not_reached();
}

struct bars {
	GString *rows; /* "y" and the shares summed up, per bar */
	GString *labels;
	enum report_quantity quantity;
	guint count;
	double height; /* so far, downwards */
};

static void add_bar(struct bars *bars, const char *label, const struct sim_result *result)
{
	double sum = 0;
	g_autofree char *quoted = report_gnuplot_string(label);
	g_autofree char *value = report_quantity_text(bars->quantity, report_quantity_of(bars->quantity, result));
	g_autofree char *at = report_fixed(bars->height, 2);

	report_plot_number(bars->rows, bars->height);
	for (guint i = 0; i < REPORT_READER_PARTS; i++) {
		report_plot_number(bars->rows, 100 * sum);
		sum += report_reader_share(&result->reader_time, i);
	}
	report_plot_number(bars->rows, 100 * sum);
	g_string_append_c(bars->rows, '\n');
	g_string_append_printf(bars->labels,
			       "set label %s at -2,%s right tc rgb '" REPORT_INK "'\n"
			       "set label '%s' at 102,%s left tc rgb '" REPORT_MUTED "'\n",
			       quoted, at, value, at);
	bars->height += 1;
	bars->count++;
}

static void add_group(struct bars *bars, const struct report_sweep *sweep, const struct report_panel *panel, guint x)
{
	g_autoptr(GArray) lines = report_spread(sweep->line.values->len, REPORT_LINES_MAX);
	g_autofree char *heading = g_strdup_printf("%s %s", sweep->x.title, (const char *)sweep->x.labels->pdata[x]);
	g_autofree char *quoted = report_gnuplot_string(heading);
	bool headed = sweep->line.column < 0;

	for (guint i = 0; i < lines->len; i++) {
		guint line = g_array_index(lines, guint, i);
		const struct report_row *row = report_sweep_row(panel, sweep, x, line);

		if (!row)
			continue;
		if (!headed) {
			g_autofree char *at = report_fixed(bars->height + 0.1, 2);

			g_string_append_printf(bars->labels,
					       "set label %s at 0,%s left font ',15' tc rgb '" REPORT_INK "'\n", quoted,
					       at);
			bars->height += 1.05;
			headed = true;
		}
		add_bar(bars, sweep->line.column < 0 ? sweep->x.labels->pdata[x] : sweep->line.labels->pdata[line],
			row->result);
	}
	bars->height += sweep->line.column < 0 ? 0 : 0.5;
}

static void add_screen_point(GString *script, double x, double y, int height)
{
	g_string_append(script, "screen ");
	report_plot_number(script, x / REPORT_PLOT_WIDTH);
	g_string_append(script, ", screen ");
	report_plot_number(script, 1 - y / height);
}

/* Three columns and two rows above the bars; gnuplot's own key would take a column of six. */
static void add_legend(GString *script, int height)
{
	static const double columns[] = { 14, 186, 342 };

	for (guint i = 0; i < REPORT_READER_PARTS; i++) {
		double x = columns[i % 3], y = i < 3 ? 14 : 36;

		g_string_append(script, "set object rectangle from ");
		add_screen_point(script, x, y + 6, height);
		g_string_append(script, "to ");
		add_screen_point(script, x + 14, y - 6, height);
		g_string_append_printf(script, "fs solid 1 noborder fc rgb '%s'\nset label '%s' at ",
				       report_reader_parts[i].colour, report_reader_parts[i].name);
		add_screen_point(script, x + 20, y, height);
		g_string_append(script, "left tc rgb '" REPORT_INK "'\n");
	}
}

static void add_plot(GString *script)
{
	g_string_append(script, "plot ");
	for (guint i = 0; i < REPORT_READER_PARTS; i++)
		g_string_append_printf(
			script,
			"%s$bars using (0):1:%u:%u:($1-0.4):($1+0.4) with boxxyerror fs solid 1 noborder "
			"lc rgb '%s'",
			i ? ", \\\n " : "", i + 2, i + 3, report_reader_parts[i].colour);
	g_string_append_c(script, '\n');
}

#define GROUPS_PER_FIGURE 3
#define BARS_WITHOUT_GROUPS 24

static void draw(struct report_plotter *plotter, const struct bars *bars, const char *name, const char *title)
{
	g_autofree char *bottom = report_fixed(bars->height, 2);
	int height = 150 + (int)(21 * bars->height);

	report_plotter_figure(plotter, name, title, REPORT_PLOT_WIDTH, height);
	add_legend(plotter->script, height);
	g_string_append_printf(plotter->script,
			       "unset border\nunset key\nunset ytics\nunset grid\nset xrange [0:100]\n"
			       "set yrange [%s:-0.7]\nset lmargin 14\nset rmargin 6\nset tmargin at screen %.4f\n"
			       "set xtics 25 format '%%g %%%%' scale 0\n"
			       "set xlabel 'share of the time of the workload; right: %s'\n"
			       "%s$bars << EOD\n%sEOD\n",
			       bottom, 1 - 52.0 / height, report_quantity_info(bars->quantity)->unit, bars->labels->str,
			       bars->rows->str);
	add_plot(plotter->script);
}

static void bars_clear(struct bars *bars)
{
	g_string_truncate(bars->rows, 0);
	g_string_truncate(bars->labels, 0);
	bars->count = 0;
	bars->height = 0;
}

guint report_figures_reader_time(struct report_plotter *plotter, const struct report_sweep *sweep,
				 const struct report_panel *panel)
{
	guint per_figure = sweep->line.column < 0 ? BARS_WITHOUT_GROUPS : GROUPS_PER_FIGURE;
	g_autoptr(GArray) xs = report_spread(sweep->x.values->len, 2 * per_figure);
	struct bars bars = { g_string_new(NULL), g_string_new(NULL), sweep->table->quantity, 0, 0 };
	g_autofree char *title = g_strdup_printf("Where the reader's time went%s%s", panel->label[0] ? ", " : "",
						 panel->label);
	guint figures = 0;

	for (guint i = 0; i < xs->len; i++) {
		add_group(&bars, sweep, panel, g_array_index(xs, guint, i));
		if (!bars.count || ((i + 1) % per_figure && i + 1 < xs->len))
			continue;
		g_autofree char *name = g_strdup_printf("reader-time-%u", ++figures);

		draw(plotter, &bars, name, title);
		bars_clear(&bars);
	}
	g_string_free(bars.rows, TRUE);
	g_string_free(bars.labels, TRUE);
	return figures;
}
