/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the reader's time went, as stacked bars. */
#include "reports/figures.h"

#include "reports/reader_time.h"
#include "reports/text.h"

const struct report_reader_part report_reader_parts[REPORT_READER_PARTS] = {
	{ "data on the wire", "for data on the wire", REPORT_BLUE },
	{ "request at the server", "for the server", REPORT_ORANGE },
	{ "request on the way", "for its requests to reach the server", REPORT_SKY },
	{ "waiting for credits", "for credits", REPORT_RED },
	{ "nothing in flight", "with nothing in flight", REPORT_GREY },
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

guint report_reader_largest(const struct sim_reader_time *time)
{
	guint largest = 0;

	for (guint i = 1; i < REPORT_READER_PARTS; i++)
		if (report_reader_share(time, i) > report_reader_share(time, largest))
			largest = i;
	return largest;
}

struct bars {
	GString *rows; /* "y" and the shares summed up, per bar */
	GString *labels;
	guint count;
	double height; /* so far, downwards */
};

static void add_bar(struct bars *bars, const char *label, const struct sim_result *result)
{
	double sum = 0;
	g_autofree char *quoted = report_gnuplot_string(label);
	g_autofree char *MBps = report_MBps(result->throughput_MBps);
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
			       quoted, at, MBps, at);
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

static void add_plot(GString *script)
{
	g_string_append(script, "plot ");
	for (guint i = 0; i < REPORT_READER_PARTS; i++)
		g_string_append_printf(
			script,
			"%s$bars using (0):1:%u:%u:($1-0.4):($1+0.4) with boxxyerror fs solid 1 noborder "
			"lc rgb '%s' title '%s'",
			i ? ", \\\n " : "", i + 2, i + 3, report_reader_parts[i].colour, report_reader_parts[i].name);
	g_string_append_c(script, '\n');
}

#define GROUPS_MAX 6

struct report_figure *report_figure_reader_time(struct report_plotter *plotter, const struct report_sweep *sweep,
						const struct report_panel *panel)
{
	g_autoptr(GArray)
		xs = report_spread(sweep->x.values->len, sweep->line.column < 0 ? 4 * GROUPS_MAX : GROUPS_MAX);
	struct bars bars = { g_string_new(NULL), g_string_new(NULL), 0, 0 };
	struct report_figure *figure = NULL;
	GString *script = plotter->script;

	for (guint i = 0; i < xs->len; i++)
		add_group(&bars, sweep, panel, g_array_index(xs, guint, i));
	if (bars.count) {
		g_autofree char *bottom = report_fixed(bars.height, 2);
		g_autofree char *title = g_strdup_printf("Where the reader's time went%s%s",
							 panel->label[0] ? ", " : "", panel->label);

		figure = report_plotter_figure(plotter, "reader-time", title, 660, 150 + (int)(20 * bars.height));
		g_string_append_printf(script,
				       "unset border\nunset ytics\nunset grid\nset xrange [0:100]\n"
				       "set yrange [%s:-0.7]\nset lmargin 15\nset rmargin 8\n"
				       "set xtics 25 format '%%g %%%%' scale 0\n"
				       "set xlabel 'share of the time of the workload; right: MB/s'\n"
				       "set key above left horizontal samplen 1 maxcols 3 reverse Left width 1\n"
				       "%s$bars << EOD\n%sEOD\n",
				       bottom, bars.labels->str, bars.rows->str);
		add_plot(script);
	}
	g_string_free(bars.rows, TRUE);
	g_string_free(bars.labels, TRUE);
	return figure;
}
