/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* coverage.html: the figures, the tables, and the source of the credit and compound code with what was never taken. */

#include "reports/coverage/coverage.h"

#include "reports/page.h"
#include "reports/text.h"

#include <string.h>

static const char style[] = "pre.source{padding:10px 0;font-size:.8rem}pre.source span{display:block;padding:0 16px}\n"
			    "pre.source .missed{background:var(--bad-back)}\n"
			    "pre.source em{font-style:normal;color:var(--bad);font-weight:600}\n"
			    "td.taken{color:var(--good);text-align:center}td.never{background:var(--bad-back);"
			    "color:var(--bad);text-align:center}td.none{color:var(--grid);text-align:center}\n";

static void put_tile(GString *html, guint part, guint whole, const char *tells)
{
	g_autofree char *percent = report_fixed(whole ? 100.0 * part / whole : 100.0, 1);

	g_string_append_printf(html, "<div class=\"tile\"><b>%s %%</b><span>%u of %u %s</span></div>\n", percent, part,
			       whole, tells);
}

static void put_tiles(const struct coverage *coverage, GString *html)
{
	struct coverage_sum focus = coverage_sum_all(coverage, true);
	struct coverage_sum all = coverage_sum_all(coverage, false);
	struct coverage_cells channels = coverage_cells_of(coverage, SMB_TABLE_CHANNELS);

	g_string_append(html, "<div class=\"tiles\">\n");
	put_tile(html, focus.branches_taken, focus.branches - focus.beyond,
		 "branches of the credit and compound code that a model can reach");
	put_tile(html, focus.functions_called, focus.functions, "of its functions");
	put_tile(html, channels.taken, channels.all, "transitions of a channel");
	put_tile(html, all.branches_taken, all.branches, "branches of client core and server");
	g_string_append(html, "</div>\n");
}

static void put_runs(const struct coverage *coverage, GString *html)
{
	g_string_append(html, "<h2>What was checked</h2>\n<ul>\n");
	for (guint i = 0; i < coverage->runs->len; i++) {
		const struct coverage_run *run = coverage->runs->pdata[i];

		report_page_put(html, "<li><code>", run->config, "</code>: ");
		report_page_put(html, "", run->result, "");
		g_string_append_printf(html, ", %" G_GUINT64_FORMAT " states</li>\n", run->states);
	}
	g_string_append(html, "</ul>\n");
	for (guint i = 0; i < coverage->kinds->len; i++)
		report_page_put(html, i ? ", <b>" : "<p>Of faults and freedoms never happened: <b>",
				coverage->kinds->pdata[i], "</b>");
	g_string_append(html, coverage->kinds->len ? ".</p>\n" : "<p>Every fault and freedom happened.</p>\n");
}

static void put_cell(const struct coverage *coverage, enum smb_table table, uint32_t row, uint32_t column,
		     GString *html)
{
	if (!smb_table_has(table, row, column))
		g_string_append(html, "<td class=\"none\">&middot;</td>");
	else if (coverage->cells[table][row][column])
		g_string_append(html, "<td class=\"taken\">taken</td>");
	else
		g_string_append(html, "<td class=\"never\">never</td>");
}

static void put_table(const struct coverage *coverage, enum smb_table table, GString *html)
{
	struct smb_table_info info = smb_table_info(table);

	report_page_put(html, "<h2>Table: ", info.name, "</h2>\n<div class=\"scroll\"><table><thead><tr><th></th>");
	for (uint32_t column = 0; column < info.columns; column++)
		report_page_put(html, "<th class=\"wrap\">", smb_table_column(table, column), "</th>");
	g_string_append(html, "</tr></thead><tbody>\n");
	for (uint32_t row = 0; row < info.rows; row++) {
		report_page_put(html, "<tr><td class=\"text\">", smb_table_row(table, row), "</td>");
		for (uint32_t column = 0; column < info.columns; column++)
			put_cell(coverage, table, row, column, html);
		g_string_append(html, "</tr>\n");
	}
	g_string_append(html, "</tbody></table></div>\n");
}

static void put_files(const struct coverage *coverage, GString *html)
{
	g_string_append(
		html,
		"<h2>Files</h2>\n<div class=\"scroll\"><table><thead><tr><th class=\"text\">file</th>"
		"<th>functions called</th><th>lines run</th><th>branches taken</th><th>beyond any model</th><th>%</th>"
		"<th class=\"text\"></th></tr></thead><tbody>\n");
	for (guint i = 0; i < coverage->files->len; i++) {
		const struct coverage_file *file = coverage->files->pdata[i];
		struct coverage_sum sum = coverage_sum_of(file);
		g_autofree char *percent = report_fixed(
			sum.branches ? 100.0 * sum.branches_taken / sum.branches : 100.0, 1);

		g_string_append(html, "<tr><td class=\"text\">");
		if (file->why)
			g_string_append_printf(html, "<a href=\"#f%u\">", i);
		report_page_put(html, "<code>", file->path, file->why ? "</code></a></td>" : "</code></td>");
		g_string_append_printf(html,
				       "<td>%u of %u</td><td>%u of %u</td><td>%u of %u</td><td>%u</td><td>%s</td>"
				       "<td class=\"text\">",
				       sum.functions_called, sum.functions, sum.lines_run, sum.lines,
				       sum.branches_taken, sum.branches, sum.beyond, percent);
		report_page_put(html, "", file->why ? file->why : "", "</td></tr>\n");
	}
	g_string_append(html, "</tbody></table></div>\n");
}

/* Behind the line, what is never so. */
static void put_marks(const struct coverage_file *file, guint number, guint *next, GString *html)
{
	const char *before = "  <em>&larr; ";

	for (; *next < file->branches->len; ++*next) {
		const struct coverage_branch *branch = file->branches->pdata[*next];

		if (branch->line > number)
			break;
		if (branch->count || branch->is_behind)
			continue;
		report_page_put(html, before, branch->never, "");
		if (branch->beyond)
			report_page_put(html, " (", branch->beyond, ")");
		before = "; ";
	}
	if (*before == ';')
		g_string_append(html, "</em>");
}

static void put_source(const struct coverage_file *file, guint index, GString *html)
{
	guint lines = g_strv_length(file->source), next = 0;

	report_page_put(html, "<details open><summary>", file->path, "</summary>\n");
	g_string_append_printf(html, "<pre class=\"source\" id=\"f%u\">", index);
	for (guint n = 1; n <= lines; n++) {
		const struct coverage_line *line = n < file->lines->len
							   ? &g_array_index(file->lines, struct coverage_line, n)
							   : NULL;
		bool is_code = line && line->is_code;

		g_string_append_printf(html, "<span%s>%5u ", is_code && !line->count ? " class=\"missed\"" : "", n);
		if (is_code)
			g_string_append_printf(html, "%9" G_GUINT64_FORMAT "  ", line->count);
		else
			g_string_append_printf(html, "%9s  ", "");
		report_page_put(html, "", file->source[n - 1], "");
		put_marks(file, n, &next, html);
		g_string_append(html, "</span>");
	}
	g_string_append(html, "</pre></details>\n");
}

GString *coverage_page(const struct coverage *coverage)
{
	GString *html = g_string_new("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
				     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
				     "<title>Coverage</title>\n<style>\n");

	report_page_style(html);
	g_string_append(html, style);
	g_string_append(html, "</style></head><body>\n<header><h1>What the proof has seen of the code</h1>\n"
			      "<p class=\"lead\">A rule is proved for what happened. What is red here never did.</p>"
			      "</header>\n<main>\n");
	put_tiles(coverage, html);
	put_runs(coverage, html);
	for (int table = 0; table < SMB_TABLES; table++)
		put_table(coverage, (enum smb_table)table, html);
	put_files(coverage, html);
	g_string_append(html, "<h2>Credit and compound code</h2>\n<p class=\"muted\">Before each line how often it was "
			      "run: once for each different effect, because the checker remembers effects.</p>\n");
	for (guint i = 0; i < coverage->files->len; i++) {
		if (((struct coverage_file *)coverage->files->pdata[i])->why)
			put_source(coverage->files->pdata[i], i, html);
	}
	g_string_append(html, "</main></body></html>\n");
	return html;
}
