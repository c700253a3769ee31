/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All points, and what a reader needs to do the experiment again. */
#include "reports/page.h"
#include "reports/text.h"

#include <string.h>

static void number_cell(GString *html, char *text)
{
	report_page_put(html, "<td>", text, "</td>");
	g_free(text);
}

static void count_cell(GString *html, guint64 count)
{
	number_cell(html, g_strdup_printf("%" G_GUINT64_FORMAT, count));
}

static void result_cells(GString *html, const struct sim_result *result)
{
	number_cell(html, report_MBps(result->throughput_MBps));
	number_cell(html, report_fixed(result->seconds, 3));
	number_cell(html, report_fixed((double)result->bytes / 1e6, 1));
	count_cell(html, result->pairs);
	number_cell(html, g_strdup_printf("%" G_GINT64_FORMAT, (gint64)result->credits_min));
	count_cell(html, result->inflight_max);
	number_cell(html, report_fixed((double)result->inflight_max_bytes / 1e6, 1));
	count_cell(html, result->channels);
	count_cell(html, result->reconnects);
	number_cell(html, report_fixed((double)result->stall_max_ns / 1e9, 3));
	number_cell(html, result->clients > 1 ? report_fixed(result->fairness, 3) : g_strdup(""));
	number_cell(html, result->commands ? report_MBps(report_command_ms(result)) : g_strdup(""));
}

#define RESULT_CELLS 12

static void point_row(GString *html, const struct report_table *table, const struct report_row *row)
{
	const struct sim_result *result = row->result;

	g_string_append(html, "<tr>");
	for (guint i = 0; i < MIN(table->sweep_columns, table->columns->len); i++) {
		g_autofree char *value = report_value_pretty(table->columns->pdata[i], row->values[i]);

		report_page_put(html, "<td>", value, "</td>");
	}
	if (report_row_is_finished(row))
		result_cells(html, result);
	else
		for (guint i = 0; i < RESULT_CELLS; i++)
			g_string_append(html, "<td>–</td>");
	count_cell(html, result ? result->violations : 0);
	g_string_append_printf(html, "<td class=\"text%s\">", report_row_is_finished(row) ? "" : " bad");
	report_page_put(html, "", result ? sim_outcome_name(result->outcome) : "missing", "");
	if (result && result->failure[0])
		report_page_put(html, ": ", result->failure, "");
	g_string_append(html, "</td></tr>\n");
}

void report_page_all_points(GString *html, const struct report_sweep *sweep)
{
	static const char *const results[] = { "MB/s",		 "seconds",	    "MB",	"pairs",
					       "fewest credits", "most READs",	    "most MB",	"channels",
					       "reconnects",	 "longest wait, s", "fairness", "ms per command",
					       "violations" };
	const struct report_table *table = sweep->table;

	g_string_append_printf(
		html,
		"<section id=\"points\"><h2>All points</h2>\n<details><summary>%u %s</summary>\n"
		"<p class=\"muted small\">Most READs and most MB: in flight at once. Fewest credits: lowest count of "
		"a channel during the workload. results.csv holds all columns.</p>\n"
		"<div class=\"scroll\"><table><thead><tr>",
		table->rows->len, table->rows->len == 1 ? "point" : "points");
	for (guint i = 0; i < MIN(table->sweep_columns, table->columns->len); i++) {
		g_autofree char *name = report_column_pretty(table->columns->pdata[i]);

		report_page_put(html, "<th scope=\"col\">", name, "</th>");
	}
	for (guint i = 0; i < G_N_ELEMENTS(results); i++)
		report_page_put(html, "<th scope=\"col\">", results[i], "</th>");
	g_string_append(html, "<th scope=\"col\" class=\"text\">outcome</th></tr></thead><tbody>\n");
	for (guint i = 0; i < table->rows->len; i++)
		point_row(html, table, table->rows->pdata[i]);
	g_string_append(html, "</tbody></table></div></details></section>\n");
}

static void constants(GString *html, const struct report_table *table)
{
	const struct report_row *row = table->rows->len ? table->rows->pdata[0] : NULL;

	if (!row || table->columns->len <= table->sweep_columns)
		return;
	g_string_append(html, "<details><summary>Parameters that were the same in every point</summary>\n"
			      "<div class=\"scroll\"><table><tbody>\n");
	for (guint i = table->sweep_columns; i < table->columns->len; i++) {
		report_page_put(html, "<tr><td class=\"text\"><code>", table->columns->pdata[i], "</code></td>");
		report_page_put(html, "<td class=\"text wrap\"><code>", row->values[i], "</code></td></tr>\n");
	}
	g_string_append(html, "</tbody></table></div></details>\n");
}

void report_page_appendix(GString *html, const struct report_sweep *sweep)
{
	const struct report_table *table = sweep->table;
	g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)table->seed);

	g_string_append(html, "<section id=\"appendix\"><h2>To do it again</h2>\n<dl>");
	report_page_put(html, "<dt>Version</dt><dd>smblab ", table->program_version, "</dd>");
	report_page_put(html, "<dt>Git revision</dt><dd><code>", table->git_revision ? table->git_revision : "unknown",
			"</code></dd>");
	report_page_put(html, "<dt>Seed</dt><dd>", seed, "</dd>");
	report_page_put(html, "<dt>Config hash</dt><dd><code>", table->config_hash, "</code></dd></dl>\n");
	constants(html, table);
	if (table->config_text)
		report_page_put(html, "<details><summary>The config, as it was given</summary>\n<pre>",
				table->config_text, "</pre></details>\n");
	g_string_append(html, "</section>\n");
}
