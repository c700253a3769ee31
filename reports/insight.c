/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/insight.h"

#include "reports/reader_time.h"
#include "reports/text.h"

#include <math.h>
#include <string.h>

const struct report_axis *report_enough_axis(const struct report_sweep *sweep)
{
	const struct report_axis *axis = sweep->line.column >= 0 ? &sweep->line : &sweep->x;

	if (sweep->table->quantity != REPORT_THROUGHPUT || axis->column < 0 || axis->kind == REPORT_KIND_NAME ||
	    axis->kind == REPORT_KIND_SECONDS)
		return NULL;
	return axis;
}

static bool value_along(const struct report_sweep *sweep, const struct report_panel *panel, guint x, guint index,
			double *MBps)
{
	if (sweep->line.column >= 0)
		return report_sweep_value(panel, sweep, x, index, MBps);
	return report_sweep_value(panel, sweep, index, 0, MBps);
}

struct report_enough report_enough_find(const struct report_sweep *sweep, const struct report_panel *panel, guint x)
{
	const struct report_axis *axis = report_enough_axis(sweep);
	struct report_enough found = { 0 };
	double MBps, before = 0;
	guint count = 0;

	for (guint i = 0; axis && i < axis->values->len; i++) {
		if (!value_along(sweep, panel, x, i, &MBps))
			continue;
		if (count++ == 0) {
			found.first = i;
			found.first_MBps = MBps;
		}
		if (MBps > found.best_MBps) {
			found.best = i;
			found.best_MBps = MBps;
		}
		found.last = i;
		found.still_rising = count > 1 && MBps > before * (1 + REPORT_ENOUGH_SHARE);
		before = MBps;
	}
	found.known = count >= 2 && found.best_MBps > 0;
	found.still_rising &= found.best == found.last;
	for (guint i = 0; found.known; i++) {
		if (!value_along(sweep, panel, x, i, &MBps) || MBps < found.best_MBps * (1 - REPORT_ENOUGH_SHARE))
			continue;
		found.enough = i;
		found.enough_MBps = MBps;
		break;
	}
	return found;
}

struct report_fit report_fit_of(const struct report_table *table, bool fitted)
{
	struct report_fit fit = { 0 };

	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		if (!row->has_measured || row->fitted != fitted || !report_row_is_finished(row))
			continue;
		fit.count++;
		fit.mean_absolute_percent += fabs(row->error_percent);
		fit.bias_percent += row->error_percent;
		fit.worst_percent = MAX(fit.worst_percent, fabs(row->error_percent));
	}
	if (fit.count) {
		fit.mean_absolute_percent /= fit.count;
		fit.bias_percent /= fit.count;
	}
	return fit;
}

struct report_trouble report_trouble_count(const struct report_table *table)
{
	struct report_trouble trouble = { 0 };

	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		trouble.unfinished += !report_row_is_finished(row);
		if (row->result && row->result->violations) {
			trouble.violating++;
			trouble.violations += row->result->violations;
		}
	}
	return trouble;
}

/* The x value that the headline speaks of: a measured one, else the middle one. */
static guint reference_x(const struct report_sweep *sweep, const struct report_panel *panel)
{
	for (guint i = 0; i < panel->rows->len; i++) {
		const struct report_row *row = panel->rows->pdata[i];

		if (row->has_measured)
			return report_axis_index(&sweep->x, row);
	}
	return sweep->x.values->len / 2;
}

/* "At RTT 10 ms, max_channels = 2, " */
static char *at_place(const struct report_sweep *sweep, const struct report_panel *panel, guint x)
{
	GString *place = g_string_new(NULL);

	if (sweep->line.column >= 0)
		g_string_append_printf(place, "At %s %s, ", sweep->x.title, (char *)sweep->x.labels->pdata[x]);
	if (panel->label[0])
		g_string_append_printf(place, "%s%s, ", place->len ? "" : "With ", panel->label);
	return g_string_free(place, FALSE);
}

static void add_enough(GPtrArray *findings, const struct report_sweep *sweep, const struct report_panel *panel, guint x)
{
	const struct report_axis *axis = report_enough_axis(sweep);
	struct report_enough found = report_enough_find(sweep, panel, x);

	if (!found.known)
		return;
	g_autofree char *place = at_place(sweep, panel, x);
	g_autofree char *enough = report_MBps(found.enough_MBps);
	g_autofree char *best = report_MBps(found.best_MBps);
	g_autofree char *first = report_MBps(found.first_MBps);
	const char *enough_label = axis->labels->pdata[found.enough], *first_label = axis->labels->pdata[found.first];
	const char *last_label = axis->labels->pdata[found.last];
	char *text;

	if (found.still_rising)
		text = g_strdup_printf(
			"%smore %s still helps at the largest value simulated: %s MB/s with %s, %s MB/s with "
			"%s.",
			place, axis->title, best, last_label, first, first_label);
	else if (found.enough == found.first)
		text = g_strdup_printf("%smore %s than %s brings nothing: %s MB/s, at best %s MB/s.", place,
				       axis->title, first_label, enough, best);
	else
		text = g_strdup_printf(
			"%smore %s stops helping at %s: %s MB/s, at best %s MB/s beyond it; %s MB/s with %s.", place,
			axis->title, enough_label, enough, best, first, first_label);
	text[0] = g_ascii_toupper(text[0]);
	g_ptr_array_add(findings, text);
}

/* "40 % waiting for data on the wire" */
static char *part_text(const struct sim_reader_time *time, guint part)
{
	g_autofree char *share = report_fixed(100 * report_reader_share(time, part), 0);

	return g_strdup_printf("%s %% %s", share, report_reader_parts[part].spent);
}

/* The largest part and, where it is not most of the time, the next one. */
static void add_why(GPtrArray *findings, const struct report_sweep *sweep, const struct report_row *row)
{
	if (!row || !row->result)
		return;
	const struct sim_reader_time *time = &row->result->reader_time;
	guint first = report_reader_ranked(time, 0), second = report_reader_ranked(time, 1);
	g_autofree char *point = report_row_label(sweep, row);
	g_autofree char *label = sweep->x.column < 0 ? g_strdup("") : g_strdup_printf("with %s, ", point);
	g_autofree char *most = part_text(time, first);
	g_autofree char *next = part_text(time, second);
	bool both = report_reader_share(time, first) < 0.6 && report_reader_share(time, second) >= 0.1;

	if (report_reader_share(time, first) > 0)
		g_ptr_array_add(findings, g_strdup_printf("Why: %sthe reader's time goes %s%s%s.", label, most,
							  both ? " and " : "", both ? next : ""));
}

static const struct report_row *row_along(const struct report_sweep *sweep, const struct report_panel *panel, guint x,
					  guint index)
{
	if (sweep->line.column >= 0)
		return report_sweep_row(panel, sweep, x, index);
	return report_sweep_row(panel, sweep, index, 0);
}

/* "391 MB/s" */
static char *value_text(const struct report_table *table, double value)
{
	g_autofree char *number = report_quantity_text(table->quantity, value);

	bool is_one_pair = table->quantity == REPORT_PAIRS && value == 1;

	return g_strdup_printf("%s %s", number, is_one_pair ? "pair" : report_quantity_info(table->quantity)->unit);
}

/* Many measurements are told in one sentence, few one by one. */
static void add_fit(GPtrArray *findings, const struct report_table *table, bool fitted)
{
	struct report_fit fit = report_fit_of(table, fitted);
	const char *unit = table->quantity == REPORT_PAIRS ? "counts" : "points";
	g_autofree char *mean = report_fixed(fit.mean_absolute_percent, 1);
	g_autofree char *worst = report_fixed(fit.worst_percent, 1);

	if (fit.count && fit.worst_percent == 0)
		g_ptr_array_add(findings, g_strdup_printf("All %u measured %s are met exactly.", fit.count, unit));
	else if (fit.count)
		g_ptr_array_add(findings,
				g_strdup_printf("%u measured %s %s: mean absolute error %s %%, worst %s %%.", fit.count,
						unit, fitted ? "that were fitted" : "predicted", mean, worst));
}

static guint measured_count(const struct report_table *table)
{
	return report_fit_of(table, false).count + report_fit_of(table, true).count;
}

static void add_measured(GPtrArray *findings, const struct report_sweep *sweep)
{
	const guint max = 3;
	guint told = 0;

	if (measured_count(sweep->table) > max) {
		add_fit(findings, sweep->table, false);
		add_fit(findings, sweep->table, true);
		return;
	}

	for (guint i = 0; i < sweep->table->rows->len && told < max; i++) {
		const struct report_row *row = sweep->table->rows->pdata[i];

		if (!row->has_measured || !report_row_is_finished(row))
			continue;
		g_autofree char *label = report_row_label(sweep, row);
		g_autofree char *predicted = value_text(sweep->table, report_row_came_to(sweep->table, row));
		g_autofree char *measured = value_text(sweep->table, row->measured);
		g_autofree char *error = report_percent(row->error_percent);

		g_ptr_array_add(findings, g_strdup_printf("Predicted %s where %s were measured (%s): %s.", predicted,
							  measured, error, label));
		told++;
	}
}

/* The least fair share of a server: of the points with several clients. */
static void add_clients(GPtrArray *findings, const struct report_sweep *sweep)
{
	const struct report_row *least = NULL;

	for (guint i = 0; i < sweep->table->rows->len; i++) {
		const struct report_row *row = sweep->table->rows->pdata[i];

		if (report_row_is_finished(row) && row->result->clients > 1 &&
		    (!least || row->result->fairness < least->result->fairness))
			least = row;
	}
	if (!least)
		return;
	g_autofree char *label = report_row_label(sweep, least);
	g_autofree char *slow = report_MBps(least->result->slowest_client);
	g_autofree char *fast = report_MBps(least->result->fastest_client);
	g_autofree char *fairness = report_fixed(least->result->fairness, 3);
	const char *unit = least->result->bytes ? "MB/s" : "commands per second";

	g_autofree char *where = sweep->x.column < 0 ? g_strdup("") : g_strdup_printf(", least alike with %s", label);

	g_ptr_array_add(findings, g_strdup_printf("Of %u clients%s, the slowest gets %s %s and the fastest %s: Jain's "
						  "fairness %s.",
						  least->result->clients, where, slow, unit, fast, fairness));
}

static void add_range(GPtrArray *findings, const struct report_sweep *sweep)
{
	const struct report_table *table = sweep->table;
	const struct report_row *low = NULL, *high = NULL;

	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		if (!report_row_is_finished(row))
			continue;
		double value = report_row_came_to(table, row);

		if (!low || value < report_row_came_to(table, low))
			low = row;
		if (!high || value > report_row_came_to(table, high))
			high = row;
	}
	if (!low || low == high)
		return;
	g_autofree char *from = value_text(table, report_row_came_to(table, low));
	g_autofree char *to = value_text(table, report_row_came_to(table, high));
	g_autofree char *from_label = report_row_label(sweep, low);
	g_autofree char *to_label = report_row_label(sweep, high);

	g_ptr_array_add(findings,
			g_strdup_printf("Over all points: from %s (%s) to %s (%s).", from, from_label, to, to_label));
}

static void add_only_point(GPtrArray *findings, const struct report_sweep *sweep)
{
	const struct report_row *row = sweep->table->rows->pdata[0];

	if (!report_row_is_finished(row))
		return;
	g_autofree char *MBps = report_MBps(row->result->throughput_MBps);
	g_autofree char *took = report_seconds(row->result->seconds);
	g_autofree char *bytes = report_bytes((double)row->result->bytes);
	g_autofree char *each = report_seconds(report_command_ms(row->result) / 1e3);

	if (sweep->table->quantity == REPORT_THROUGHPUT)
		g_ptr_array_add(findings, g_strdup_printf("%s in %s: %s MB/s.", bytes, took, MBps));
	else
		g_ptr_array_add(findings, g_strdup_printf("%" G_GUINT64_FORMAT " %s, %" G_GUINT64_FORMAT
							  " request/response pairs, %s: %s each.",
							  (guint64)row->result->commands,
							  row->result->commands == 1 ? "command" : "commands",
							  (guint64)row->result->pairs, took, each));
	add_why(findings, sweep, row);
}

GPtrArray *report_findings(const struct report_sweep *sweep)
{
	GPtrArray *findings = g_ptr_array_new_with_free_func(g_free);
	const struct report_panel *panel = report_sweep_main_panel(sweep);

	if (!panel)
		return findings;
	if (sweep->x.column < 0) {
		add_only_point(findings, sweep);
		add_clients(findings, sweep);
		add_measured(findings, sweep);
		return findings;
	}
	guint x = reference_x(sweep, panel);
	struct report_enough found = report_enough_find(sweep, panel, x);

	add_enough(findings, sweep, panel, x);
	add_measured(findings, sweep);
	if (found.known) {
		add_why(findings, sweep, row_along(sweep, panel, x, found.first));
		if (found.enough != found.first)
			add_why(findings, sweep, row_along(sweep, panel, x, found.enough));
	}
	add_clients(findings, sweep);
	add_range(findings, sweep);
	return findings;
}
