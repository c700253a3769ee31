/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One run over time: READs in flight, bytes in flight, credits. */
#include "reports/figures.h"

#include "reports/text.h"

#include <math.h>

#define BUCKETS_MAX 220 /* as many as can be told apart at the width of a panel */
#define CHANNELS_DRAWN 4

static double sample_value(const struct sim_sample *sample, enum report_timeline what, guint channel)
{
	switch (what) {
	case REPORT_TIMELINE_READS:
		return sample->reads_in_flight;
	case REPORT_TIMELINE_BYTES:
		return (double)sample->bytes_in_flight / 1e6;
	case REPORT_TIMELINE_CREDITS:
		break;
	}
	return (double)sample->credits[channel];
}

struct bucket {
	double when;
	double low;
	double mean;
	double high;
};

static struct bucket bucket_of(const struct sim_result *result, guint from, guint to, enum report_timeline what,
			       guint channel)
{
	struct bucket bucket = { 0, INFINITY, 0, -INFINITY };

	for (guint i = from; i < to; i++) {
		double value = sample_value(&result->samples[i], what, channel);

		bucket.low = MIN(bucket.low, value);
		bucket.high = MAX(bucket.high, value);
		bucket.mean += value / (to - from);
		bucket.when += (double)result->samples[i].when_ns / 1e9 / (to - from);
	}
	return bucket;
}

static void add_data(GString *script, const struct sim_result *result, enum report_timeline what, guint channel,
		     double unit)
{
	guint samples = MIN(result->sample_count, (guint)SIM_SAMPLES_MAX);
	guint buckets = MIN(samples, BUCKETS_MAX);

	g_string_append_printf(script, "$series%u << EOD\n", channel);
	for (guint i = 0; i < buckets; i++) {
		struct bucket bucket = bucket_of(result, (guint)((guint64)samples * i / buckets),
						 (guint)((guint64)samples * (i + 1) / buckets), what, channel);

		report_plot_number(script, bucket.when / unit);
		report_plot_number(script, bucket.low);
		report_plot_number(script, bucket.mean);
		report_plot_number(script, bucket.high);
		g_string_append_c(script, '\n');
	}
	g_string_append(script, "EOD\n");
}

static void add_axes(GString *script, const char *label, double end, double unit)
{
	g_string_append_printf(script, "set xlabel 'time since the workload began (%s)'\nset xrange [0:",
			       unit == 1      ? "s"
			       : unit == 1e-3 ? "ms"
					      : "µs");
	report_plot_number(script, end / unit);
	g_string_append_printf(script, "]\nset yrange [0:*]\nset offsets graph 0, 0, graph 0.06, 0\nset ylabel '%s'\n",
			       label);
}

/* Counts have no halves. */
static void add_whole_tics(GString *script, const struct sim_result *result)
{
	uint32_t most = 0;

	for (guint i = 0; i < MIN(result->sample_count, (guint)SIM_SAMPLES_MAX); i++)
		most = MAX(most, result->samples[i].reads_in_flight);
	if (most <= 6)
		g_string_append(script, "set ytics 1\n");
}

static void add_plot(GString *script, guint channels, bool named)
{
	static const char *const colours[CHANNELS_DRAWN] = { REPORT_BLUE, REPORT_RED, REPORT_GREEN, REPORT_PINK };

	g_string_append(script, "plot ");
	for (guint i = 0; i < channels; i++)
		g_string_append_printf(script,
				       "%s$series%u using 1:2:4 with filledcurves fs transparent solid 0.25 noborder "
				       "lc rgb '%s' notitle",
				       i ? ", \\\n " : "", i, colours[i]);
	for (guint i = 0; i < channels; i++) {
		g_string_append_printf(script, ", \\\n $series%u using 1:3 with lines lw 1.8 lc rgb '%s' ", i,
				       colours[i]);
		if (named)
			g_string_append_printf(script, "title 'channel %u'", i);
		else
			g_string_append(script, "notitle");
	}
	g_string_append_c(script, '\n');
}

static double run_end(const struct sim_result *result)
{
	double last = (double)result->samples[MIN(result->sample_count, (guint)SIM_SAMPLES_MAX) - 1].when_ns / 1e9;
	double end = isfinite(result->seconds) ? MAX(last, result->seconds) : last;

	return end > 0 ? end : 1;
}

struct report_figure *report_figure_timeline(struct report_plotter *plotter, const struct report_sweep *sweep,
					     const struct report_row *row, enum report_timeline what, guint number)
{
	static const char *const names[] = { "reads-in-flight", "bytes-in-flight", "credits" };
	static const char *const tells[] = { "READs in flight", "MB in flight", "credits" };
	const struct sim_result *result = row->result;

	if (!result || !result->sample_count)
		return NULL;
	guint channels = what == REPORT_TIMELINE_CREDITS ? CLAMP(result->channels, 1, CHANNELS_DRAWN) : 1;
	double end = run_end(result), unit = end >= 1 ? 1 : end >= 1e-3 ? 1e-3 : 1e-6;
	g_autofree char *label = report_row_label(sweep, row);
	g_autofree char *name = g_strdup_printf("%s-%u", names[what], number);
	g_autofree char *title = g_strdup_printf("%s over time: %s", tells[what], label);
	g_autofree char *heading = report_gnuplot_string(label);
	GString *script = plotter->script;
	struct report_figure *figure = report_plotter_figure(plotter, name, title, REPORT_PLOT_WIDTH, 330);

	g_string_append_printf(script, "set title %s\n", heading);
	add_axes(script, tells[what], end, unit);
	if (what == REPORT_TIMELINE_READS)
		add_whole_tics(script, result);
	g_string_append(script,
			channels > 1 ? "set key below left horizontal reverse Left samplen 1.6\n" : "unset key\n");
	for (guint i = 0; i < channels; i++)
		add_data(script, result, what, i, unit);
	add_plot(script, channels, channels > 1);
	return figure;
}
