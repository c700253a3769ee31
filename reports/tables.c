/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of report.html. */
#include "reports/page.h"
#include "reports/text.h"

#include <math.h>
#include <string.h>

void report_page_put(GString *html, const char *before, const char *text, const char *after)
{
	g_string_append(html, before);
	report_markup(html, text);
	g_string_append(html, after);
}

static void cell(GString *html, const char *class, char *text)
{
	g_string_append_printf(html, class ? "<td class=\"%s\">" : "<td>", class);
	report_page_put(html, "", text, "</td>");
	g_free(text);
}

static void heading(GString *html, const char *class, const char *text)
{
	g_string_append_printf(html, class ? "<th scope=\"col\" class=\"%s\">" : "<th scope=\"col\">", class);
	report_page_put(html, "", text, "</th>");
}

static guint swept_columns(const struct report_table *table)
{
	return MIN(table->sweep_columns, table->columns->len);
}

static void sweep_headings(GString *html, const struct report_table *table)
{
	for (guint i = 0; i < swept_columns(table); i++) {
		g_autofree char *name = report_column_pretty(table->columns->pdata[i]);

		heading(html, i ? NULL : "text", name);
	}
	if (!swept_columns(table))
		heading(html, "text", "point");
}

static void sweep_cells(GString *html, const struct report_table *table, const struct report_row *row)
{
	for (guint i = 0; i < swept_columns(table); i++)
		cell(html, i ? NULL : "text", report_value_pretty(table->columns->pdata[i], row->values[i]));
	if (!swept_columns(table))
		cell(html, "text", g_strdup("the only one"));
}

static const char *error_class(double percent)
{
	return fabs(percent) <= 5 ? "good" : fabs(percent) > 25 ? "bad" : NULL;
}

static void measured_row(GString *html, const struct report_table *table, const struct report_row *row)
{
	bool finished = report_row_is_finished(row);

	g_string_append(html, "<tr>");
	sweep_cells(html, table, row);
	cell(html, NULL,
	     finished ? report_quantity_text(table->quantity, report_row_came_to(table, row)) : g_strdup("failed"));
	cell(html, NULL, row->has_measured ? report_quantity_text(table->quantity, row->measured) : g_strdup("–"));
	cell(html,
	     !finished		 ? "bad"
	     : row->has_measured ? error_class(row->error_percent)
				 : NULL,
	     !finished		 ? g_strdup("no result")
	     : row->has_measured ? report_percent(row->error_percent)
				 : g_strdup("–"));
	cell(html, "text", g_strdup(!row->has_measured ? "–" : row->fitted ? "fitted" : "held out"));
	cell(html, "text wrap", g_strdup(row->measured_label));
	g_string_append(html, "</tr>\n");
}

static void fit_line(GString *html, const struct report_table *table, bool fitted)
{
	struct report_fit fit = report_fit_of(table, fitted);
	g_autofree char *mean = report_fixed(fit.mean_absolute_percent, 1);
	g_autofree char *bias = report_percent(fit.bias_percent);
	g_autofree char *worst = report_fixed(fit.worst_percent, 1);

	if (fit.count)
		g_string_append_printf(html, "<p>%s: %u %s, mean absolute error %s %%, bias %s, worst %s %%.</p>\n",
				       fitted ? "Fitted (the parameters were chosen to meet them)"
					      : "Held out (a real prediction)",
				       fit.count, fit.count == 1 ? "point" : "points", mean, bias, worst);
}

void report_page_measured(GString *html, const struct report_sweep *sweep)
{
	const struct report_table *table = sweep->table;
	guint measured = 0;

	for (guint i = 0; i < table->rows->len; i++)
		measured += ((const struct report_row *)table->rows->pdata[i])->has_measured;
	g_string_append(html, "<section id=\"measured\"><h2>Predicted and measured</h2>\n");
	if (!measured) {
		g_string_append(html,
				"<p class=\"muted\">No measurement matches a point of this sweep: everything below is "
				"prediction.</p></section>\n");
		return;
	}
	fit_line(html, table, true);
	fit_line(html, table, false);
	g_string_append(html, "<div class=\"scroll\"><table><thead><tr>");
	sweep_headings(html, table);
	g_autofree char *predicted = g_strdup_printf("predicted %s", report_quantity_info(table->quantity)->unit);
	g_autofree char *observed = g_strdup_printf("measured %s", report_quantity_info(table->quantity)->unit);
	heading(html, NULL, predicted);
	heading(html, NULL, observed);
	heading(html, NULL, "error");
	heading(html, "text", "use");
	heading(html, "text", "measurement");
	g_string_append(html, "</tr></thead><tbody>\n");
	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		if (row->has_measured || row->measured_label)
			measured_row(html, table, row);
	}
	g_string_append(html, "</tbody></table></div>\n");
	if (table->measured_source)
		report_page_put(html, "<p class=\"muted small\">Measurements: ", table->measured_source, "</p>\n");
	g_string_append(html, "</section>\n");
}

static void trouble_row(GString *html, const struct report_table *table, const struct report_row *row)
{
	const struct sim_result *result = row->result;
	GString *why = g_string_new(result ? result->failure : "no result");

	g_string_append(html, "<tr>");
	sweep_cells(html, table, row);
	cell(html, "text", g_strdup(result ? sim_outcome_name(result->outcome) : "missing"));
	cell(html, NULL, g_strdup_printf("%" G_GUINT64_FORMAT, result ? (guint64)result->violations : 0));
	for (guint i = 0; result && i < MIN(result->violation_count, (guint)SIM_VIOLATIONS_MAX) && i < 3; i++)
		g_string_append_printf(why, "%sC%d on channel %u: %s", why->len ? "; " : "", result->violation[i].rule,
				       result->violation[i].channel, result->violation[i].text);
	cell(html, "text wrap", g_string_free(why, FALSE));
	g_string_append(html, "</tr>\n");
}

#define TROUBLE_ROWS_MAX 50

void report_page_trouble(GString *html, const struct report_sweep *sweep)
{
	const struct report_table *table = sweep->table;
	struct report_trouble trouble = report_trouble_count(table);
	guint told = 0, all = 0;

	if (!trouble.unfinished && !trouble.violating)
		return;
	g_string_append(html, "<section id=\"trouble\" class=\"alarm\"><h2>Failed points and broken rules</h2>\n<p>");
	if (trouble.unfinished)
		g_string_append_printf(html, "%u of %u points did not finish and have no numbers. ", trouble.unfinished,
				       table->rows->len);
	if (trouble.violating)
		g_string_append_printf(html, "Rules were broken %" G_GUINT64_FORMAT " times in %u of %u points.",
				       trouble.violations, trouble.violating, table->rows->len);
	g_string_append(html, "</p>\n<div class=\"scroll\"><table><thead><tr>");
	sweep_headings(html, table);
	heading(html, "text", "outcome");
	heading(html, NULL, "violations");
	heading(html, "text", "why");
	g_string_append(html, "</tr></thead><tbody>\n");
	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		if (report_row_is_finished(row) && !row->result->violations)
			continue;
		all++;
		if (told == TROUBLE_ROWS_MAX)
			continue;
		trouble_row(html, table, row);
		told++;
	}
	g_string_append(html, "</tbody></table></div>\n");
	if (all > told)
		g_string_append_printf(html, "<p>And %u more: see all points below.</p>\n", all - told);
	g_string_append(html, "</section>\n");
}

static void enough_cell(GString *html, const struct report_sweep *sweep, const struct report_panel *panel, guint x)
{
	const struct report_axis *axis = report_enough_axis(sweep);
	struct report_enough found = report_enough_find(sweep, panel, x);
	g_autofree char *MBps = report_MBps(found.still_rising ? found.best_MBps : found.enough_MBps);
	g_autofree char *gain = report_fixed(found.first_MBps > 0 ? found.best_MBps / found.first_MBps : 0, 1);
	const char *label = axis->labels->pdata[found.still_rising ? found.last : found.enough];

	if (!found.known) {
		g_string_append(html, "<td>–</td><td>–</td><td>–</td>");
		return;
	}
	report_page_put(html, "<td>", found.still_rising ? "over " : "", "");
	report_page_put(html, "", label, "</td>");
	report_page_put(html, "<td>", MBps, "</td>");
	report_page_put(html, "<td class=\"muted\">× ", gain, "</td>");
}

static void enough_headings(GString *html, const struct report_sweep *sweep, guint panels)
{
	const struct report_axis *axis = report_enough_axis(sweep);

	g_string_append(html, "<thead><tr>");
	if (panels > 1) {
		g_string_append(html, "<th></th>");
		for (guint i = 0; i < panels; i++)
			report_page_put(html, "<th colspan=\"3\" class=\"text\">",
					((struct report_panel *)sweep->panels->pdata[i])->label, "</th>");
		g_string_append(html, "</tr><tr>");
	}
	heading(html, "text", axis == &sweep->x ? "" : sweep->x.title);
	for (guint i = 0; i < panels; i++) {
		g_autofree char *enough = g_strdup_printf("enough %s", axis->title);

		heading(html, NULL, enough);
		heading(html, NULL, "MB/s");
		heading(html, NULL, "gain");
	}
	g_string_append(html, "</tr></thead><tbody>\n");
}

#define ENOUGH_PANELS_MAX 6

void report_page_enough(GString *html, const struct report_sweep *sweep)
{
	const struct report_axis *axis = report_enough_axis(sweep);
	guint panels = MIN(sweep->panels->len, ENOUGH_PANELS_MAX);
	guint rows = axis == &sweep->x ? 1 : sweep->x.values->len;

	if (!axis || !panels)
		return;
	report_page_put(html, "<section id=\"enough\"><h2>Where more ", axis->title, " stops helping</h2>\n");
	report_page_put(html, "<p class=\"muted\">Enough: the smallest ", axis->title,
			" within 2 % of the best one simulated");
	report_page_put(html,
			"; “over” where the largest one is still clearly better than the one before it. Gain: the best "
			"against ",
			axis->labels->pdata[0], ".</p>\n<div class=\"scroll\"><table>");
	enough_headings(html, sweep, panels);
	for (guint x = 0; x < rows; x++) {
		report_page_put(html, "<tr><td class=\"text\">", axis == &sweep->x ? "" : sweep->x.labels->pdata[x],
				"</td>");
		for (guint i = 0; i < panels; i++)
			enough_cell(html, sweep, sweep->panels->pdata[i], x);
		g_string_append(html, "</tr>\n");
	}
	g_string_append(html, "</tbody></table></div>\n");
	if (sweep->panels->len > panels)
		g_string_append_printf(html, "<p class=\"muted\">%u of %u combinations shown.</p>\n", panels,
				       sweep->panels->len);
	g_string_append(html, "</section>\n");
}
