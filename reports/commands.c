/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each command of the workload came to: round trips, chain by chain, and time. */
#include "reports/page.h"
#include "reports/text.h"

#include <string.h>

#define ROWS_MAX 120

static bool is_told(const struct sim_job_result *job)
{
	return job->runs && !g_str_has_prefix(job->what, "sleep ");
}

static bool has_commands(const struct report_table *table)
{
	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		for (guint j = 0; report_row_is_finished(row) && j < row->result->job_count; j++)
			if (row->result->jobs[j].sequence[0] || row->result->jobs[j].failures ||
			    row->result->jobs[j].bytes)
				return true;
	}
	return false;
}

static void text_cell(GString *html, const char *class, const char *text)
{
	g_string_append_printf(html, "<td class=\"%s\">", class);
	report_page_put(html, "", text, "</td>");
}

static void number_cell(GString *html, char *text)
{
	report_page_put(html, "<td>", text, "</td>");
	g_free(text);
}

static void job_row(GString *html, const char *label, const struct sim_job_result *job)
{
	double runs = (double)job->runs;

	g_string_append(html, "<tr>");
	text_cell(html, "text wrap", label);
	text_cell(html, "text", job->what);
	number_cell(html, g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)job->runs));
	number_cell(html, report_shortest((double)(guint64)((double)job->pairs / runs * 100 + 0.5) / 100));
	number_cell(html, report_MBps((double)job->spent_ns / runs / 1e6));
	number_cell(html, report_MBps((double)job->longest_ns / 1e6));
	number_cell(html, job->bytes ? report_MBps((double)job->bytes * 1e3 / (double)job->spent_ns) : g_strdup(""));
	text_cell(html, "text wrap", job->sequence);
	text_cell(html, job->failures ? "text bad" : "text", job->failures ? smb_ops_error_text(job->error) : "");
	g_string_append(html, "</tr>\n");
}

static void headings(GString *html)
{
	static const char *const names[] = {
		"point", "command", "runs", "pairs", "ms", "longest", "MB/s", "what is said", "",
	};

	g_string_append(html, "<div class=\"scroll\"><table><thead><tr>");
	for (guint i = 0; i < G_N_ELEMENTS(names); i++)
		g_string_append_printf(html, "<th scope=\"col\"%s>%s</th>", i >= 2 && i <= 6 ? "" : " class=\"text\"",
				       names[i]);
	g_string_append(html, "</tr></thead><tbody>\n");
}

void report_page_commands(GString *html, const struct report_sweep *sweep)
{
	const struct report_table *table = sweep->table;
	guint told = 0, all = 0;

	if (!has_commands(table))
		return;
	g_string_append(html,
			"<section id=\"commands\"><h2>Command by command</h2>\n"
			"<p class=\"muted\">Pairs and milliseconds of one run, what was prepared included. In "
			"brackets: one chain, which is one round trip; the first run's. * in a name is the number "
			"of a loop, *2 behind a chain repeats it.</p>\n");
	headings(html);
	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];
		g_autofree char *point = report_row_label(sweep, row);
		const char *label = row->measured_label ? row->measured_label : point;

		for (guint j = 0; report_row_is_finished(row) && j < row->result->job_count; j++) {
			if (!is_told(&row->result->jobs[j]) || all++ >= ROWS_MAX)
				continue;
			job_row(html, label, &row->result->jobs[j]);
			told++;
		}
	}
	g_string_append(html, "</tbody></table></div>\n");
	if (all > told)
		g_string_append_printf(html, "<p class=\"muted\">%u of %u shown.</p>\n", told, all);
	g_string_append(html, "</section>\n");
}
