/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report.html: draws the figures, puts the sections in order, writes everything. */
#include "reports/figures.h"
#include "reports/file.h"
#include "reports/page.h"
#include "reports/text.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

struct report {
	const struct report_table *table;
	struct report_sweep *sweep;
	struct report_plotter *plotter;
	struct report_figure *topology;
	/* Borrowed from the plotter, in the order of the page. */
	GPtrArray *throughput;
	GPtrArray *heat;
	GPtrArray *reader_time;
	GPtrArray *timelines[3];
};

static void keep(GPtrArray *figures, struct report_figure *figure)
{
	if (figure)
		g_ptr_array_add(figures, figure);
}

static void report_init(struct report *report, const struct report_table *table)
{
	report->table = table;
	report->sweep = report_sweep_new(table);
	report->plotter = report_plotter_new();
	report->topology = NULL;
	report->throughput = g_ptr_array_new();
	report->heat = g_ptr_array_new();
	report->reader_time = g_ptr_array_new();
	for (size_t i = 0; i < G_N_ELEMENTS(report->timelines); i++)
		report->timelines[i] = g_ptr_array_new();
}

static void report_clear(struct report *report)
{
	report_sweep_free(report->sweep);
	report_plotter_free(report->plotter);
	report_figure_free(report->topology);
	g_ptr_array_unref(report->throughput);
	g_ptr_array_unref(report->heat);
	g_ptr_array_unref(report->reader_time);
	for (size_t i = 0; i < G_N_ELEMENTS(report->timelines); i++)
		g_ptr_array_unref(report->timelines[i]);
}

static bool has_reads(const struct report_row *row)
{
	return row->result->inflight_max > 0;
}

static void add_figures(struct report *report)
{
	const struct report_sweep *sweep = report->sweep;
	const struct report_panel *panel = report_sweep_main_panel(sweep);
	g_autoptr(GPtrArray) chosen = report_sweep_chosen(sweep, REPORT_CHOSEN_MAX);

	/* What is counted for names, commands above all, is read in the tables. */
	bool is_listed = report->table->quantity != REPORT_THROUGHPUT && !sweep->x.is_scale;

	for (guint i = 0; i < MIN(sweep->panels->len, REPORT_PANELS_MAX) && !is_listed; i++) {
		keep(report->throughput, report_figure_throughput(report->plotter, sweep, sweep->panels->pdata[i]));
		keep(report->heat, report_figure_heat(report->plotter, sweep, sweep->panels->pdata[i]));
	}
	for (guint more = panel ? report_figures_reader_time(report->plotter, sweep, panel) : 0; more > 0; more--)
		keep(report->reader_time, report->plotter->figures->pdata[report->plotter->figures->len - more]);
	for (guint i = 0; i < chosen->len; i++)
		for (guint what = 0; has_reads(chosen->pdata[i]) && what < G_N_ELEMENTS(report->timelines); what++)
			keep(report->timelines[what], report_figure_timeline(report->plotter, sweep, chosen->pdata[i],
									     (enum report_timeline)what, i + 1));
}

static bool draw(struct report *report, GError **error)
{
	add_figures(report);
	if (!report_plotter_run(report->plotter, error))
		return false;
	report->topology = report_figure_topology(report->table, error);
	return report->topology != NULL;
}

static void add_panels(GString *html, const GPtrArray *figures)
{
	g_string_append_printf(html, "<div class=\"panels%s\">\n", figures->len == 1 ? " one" : "");
	for (guint i = 0; i < figures->len; i++) {
		const struct report_figure *figure = figures->pdata[i];

		g_string_append_printf(html, "<figure>\n%s</figure>\n", figure->svg->str);
	}
	g_string_append(html, "</div>\n");
}

static void add_section(GString *html, const char *id, const char *title, const char *tells, const GPtrArray *figures)
{
	if (!figures->len)
		return;
	g_string_append_printf(html, "<section id=\"%s\">", id);
	report_page_put(html, "<h2>", title, "</h2>\n");
	report_page_put(html, "<p class=\"muted\">", tells, "</p>\n");
	add_panels(html, figures);
	g_string_append(html, "</section>\n");
}

static void add_tile(GString *html, char *number, const char *tells)
{
	report_page_put(html, "<div class=\"tile\"><b>", number, "</b>");
	report_page_put(html, "<span>", tells, "</span></div>\n");
	g_free(number);
}

static void add_fit_tile(GString *html, const struct report_table *table, bool fitted)
{
	struct report_fit fit = report_fit_of(table, fitted);
	g_autofree char *mean = report_fixed(fit.mean_absolute_percent, 1);
	g_autofree char *tells = g_strdup_printf("mean absolute error of %u %s %s", fit.count,
						 fitted ? "fitted" : "held out", fit.count == 1 ? "point" : "points");

	if (fit.count)
		add_tile(html, g_strdup_printf("%s %%", mean), tells);
}

static void add_tiles(GString *html, const struct report_table *table)
{
	struct report_trouble trouble = report_trouble_count(table);
	double best = 0;

	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		if (report_row_is_finished(row))
			best = fmax(best, report_row_came_to(table, row));
	}
	g_autofree char *number = report_quantity_text(table->quantity, best);

	g_string_append(html, "<div class=\"tiles\">\n");
	add_tile(html, g_strdup_printf("%u", table->rows->len), table->rows->len == 1 ? "point" : "points");
	if (best > 0)
		add_tile(html, g_strdup_printf("%s %s", number, report_quantity_info(table->quantity)->unit),
			 table->quantity == REPORT_THROUGHPUT ? "highest throughput predicted"
							      : "the most expensive point");
	add_fit_tile(html, table, true);
	add_fit_tile(html, table, false);
	add_tile(html, g_strdup_printf("%" G_GUINT64_FORMAT, trouble.violations), "violations of protocol rules");
	if (trouble.unfinished)
		add_tile(html, g_strdup_printf("%u", trouble.unfinished), "points that did not finish");
	g_string_append(html, "</div>\n");
}

static void add_asked_item(GString *html, const struct report_table *table, const char *name, const char *column)
{
	const struct report_row *row = table->rows->len ? table->rows->pdata[0] : NULL;
	const char *value = row ? report_row_value(table, row, column) : NULL;
	g_autofree char *span = value ? report_column_span(table, column) : NULL;

	if (!value || !value[0] || !strcmp(span, "none"))
		return;
	report_page_put(html, "<dt>", name, "</dt>");
	report_page_put(html, "<dd><code>", span, "</code></dd>\n");
}

#define NAMES_MAX 8

/* What shell commands found, of the first point. */
static void add_names(GString *html, const struct sim_workload *workload)
{
	GString *names = g_string_new(NULL);

	for (guint i = 0; i < MIN(workload->name_count, NAMES_MAX); i++) {
		const struct sim_name *name = &workload->names[i];
		g_autofree char *bytes = report_bytes((double)name->bytes);
		g_autofree char *entries = g_strdup_printf("%" G_GUINT64_FORMAT " entries", (guint64)name->entries);

		g_string_append_printf(names, "%s%s (%s)", i ? ", " : "", *name->path ? name->path : "its root",
				       name->is_directory ? entries : bytes);
	}
	if (workload->name_count > NAMES_MAX)
		g_string_append_printf(names, " and %u more", workload->name_count - NAMES_MAX);
	if (names->len)
		report_page_put(html, "<dt>On the share</dt><dd><code>", names->str, "</code></dd>\n");
	g_string_free(names, TRUE);
}

static void add_about(GString *html, const struct report_table *table)
{
	g_auto(GStrv) paragraphs = g_strsplit(table->about ? table->about : "", "\n", -1);

	for (guint i = 0; paragraphs[i]; i++)
		if (*paragraphs[i])
			report_page_put(html, "<p>", paragraphs[i], "</p>\n");
}

static void add_asked(GString *html, const struct report *report)
{
	const struct report_table *table = report->table;
	g_autofree char *asked = report_asked(report->sweep);
	g_autoptr(GPtrArray) findings = report_findings(report->sweep);

	g_string_append(html, "<section id=\"summary\"><h2>In short</h2>\n");
	report_page_put(html, "<p class=\"lead\">", asked, "</p>\n");
	add_about(html, table);
	if (findings->len) {
		g_string_append(html, "<ul class=\"findings\">\n");
		for (guint i = 0; i < findings->len; i++)
			report_page_put(html, "<li>", findings->pdata[i], "</li>\n");
		g_string_append(html, "</ul>\n");
	}
	add_tiles(html, table);
	g_string_append(html, "<dl>\n");
	add_asked_item(html, table, "Workload", "workload.command");
	add_asked_item(html, table, "Prepared", "workload.prepare");
	add_names(html, &table->base.workload);
	add_asked_item(html, table, "Mount", "client.mount");
	add_asked_item(html, table, "Kernel", "client.kernel");
	add_asked_item(html, table, "Page size", "client.page_size");
	add_asked_item(html, table, "Server", "server.profile");
	add_asked_item(html, table, "Network", "network.preset");
	add_asked_item(html, table, "RTT", "network.rtt");
	add_asked_item(html, table, "Link rate", "network.rate");
	add_asked_item(html, table, "Loss", "network.loss");
	g_string_append(html, "</dl></section>\n");
}

static void add_link(GString *html, const char *id, const char *text)
{
	g_string_append_printf(html, "<a href=\"#%s\">%s</a>\n", id, text);
}

static void add_header(GString *html, const struct report *report)
{
	g_autofree char *provenance = report_provenance(report->table);

	g_string_append(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
	report_page_put(html, "<meta name=\"generator\" content=\"", provenance, "\">\n");
	report_page_put(html, "<title>", report->table->title, "</title>\n<style>\n");
	report_page_style(html);
	g_string_append(html, "</style>\n</head>\n<body>\n<header>\n");
	report_page_put(html, "<h1>", report->table->title, "</h1>\n");
	report_page_put(html, "<p class=\"muted small\">", provenance, "</p>\n<nav>\n");
	add_link(html, "summary", "In short");
	add_link(html, "measured", "Predicted and measured");
	if (report->throughput->len)
		add_link(html, "throughput", report_quantity_info(report->table->quantity)->title);
	if (report->heat->len)
		add_link(html, "heatmap", "Heat map");
	if (report->reader_time->len)
		add_link(html, "reader-time", "Reader's time");
	if (report->timelines[0]->len)
		add_link(html, "in-flight", "Over time");
	add_link(html, "topology", "Machines");
	add_link(html, "points", "All points");
	add_link(html, "appendix", "To do it again");
	g_string_append(html, "</nav>\n</header>\n<main>\n");
}

static void add_plots(GString *html, const struct report *report)
{
	const struct report_sweep *sweep = report->sweep;
	const struct report_quantity_info *quantity = report_quantity_info(report->table->quantity);
	g_autofree char *over = g_strdup_printf("%s over %s", quantity->title, sweep->x.title);
	g_autofree char *numbers = g_strdup_printf(
		"Numbers are %s; the colour follows their logarithm, the same in all panels.", quantity->unit);
	g_autofree char *heat = g_strdup_printf("Heat map: %s by %s", sweep->line.title, sweep->x.title);
	bool all = sweep->panels->len <= REPORT_PANELS_MAX && sweep->line.values->len <= REPORT_LINES_MAX;

	add_section(html, "throughput", over,
		    all ? "Lines are predictions; diamonds are measurements where there are any."
			: "Lines are predictions; diamonds are measurements where there are any. The sweep is larger "
			  "than can be "
			  "drawn legibly: lines and panels are chosen evenly, the tables hold all points.",
		    report->throughput);
	add_section(html, "heatmap", heat, numbers, report->heat);
	add_section(html, "reader-time", "Where the reader's time went",
		    "What the application was waiting for, as a share of the time of the workload.",
		    report->reader_time);
	add_section(html, "in-flight", "READs in flight",
		    "Points with a measurement, else the corners of the sweep. Line: mean; band: lowest to highest "
		    "within a "
		    "step of the drawing.",
		    report->timelines[0]);
	add_section(html, "bytes-in-flight", "Bytes in flight", "Asked by READs that are not answered yet.",
		    report->timelines[1]);
	add_section(html, "credits", "Credits", "Of each channel, as the monitor counts them from the PDUs.",
		    report->timelines[2]);
}

static GString *page(const struct report *report)
{
	GString *html = g_string_new(NULL);
	g_autofree char *provenance = report_provenance(report->table);

	add_header(html, report);
	report_page_trouble(html, report->sweep);
	add_asked(html, report);
	report_page_measured(html, report->sweep);
	report_page_commands(html, report->sweep);
	report_page_enough(html, report->sweep);
	add_plots(html, report);
	g_string_append(html, "<section id=\"topology\"><h2>Machines and links</h2>\n"
			      "<p class=\"muted\">As in the first point; where a value was swept, its span.</p>\n"
			      "<div class=\"panels one\"><figure>\n");
	g_string_append(html, report->topology->svg->str);
	g_string_append(html, "</figure></div></section>\n");
	report_page_all_points(html, report->sweep);
	report_page_appendix(html, report->sweep);
	report_page_put(html, "</main>\n<footer>", provenance,
			". MB = 10<sup>6</sup> bytes.</footer>\n</body>\n</html>\n");
	return html;
}

static bool write_figure(const struct report_figure *figure, const struct report_table *table, const char *directory,
			 GError **error)
{
	g_autofree char *name = g_strconcat(figure->name, ".svg", NULL);
	GString *file = report_figure_file(figure, table);
	bool written = report_file_write(directory, name, file, error);

	g_string_free(file, TRUE);
	return written;
}

/* Plots of an earlier sweep in the same directory would be taken for this one's. */
static void remove_other_plots(const struct report *report, const char *plots)
{
	g_autoptr(GDir) dir = g_dir_open(plots, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		bool ours = false;
		g_autofree char *path = g_build_filename(plots, name, NULL);

		for (guint i = 0; i < report->plotter->figures->len && !ours; i++) {
			const struct report_figure *figure = report->plotter->figures->pdata[i];
			g_autofree char *file = g_strconcat(figure->name, ".svg", NULL);

			ours = strcmp(file, name) == 0;
		}
		if (!ours && g_str_has_suffix(name, ".svg"))
			g_unlink(path);
	}
}

static bool write_all(const struct report *report, const char *directory, GError **error)
{
	g_autofree char *plots = g_build_filename(directory, "plots", NULL);

	for (guint i = 0; i < report->plotter->figures->len; i++)
		if (!write_figure(report->plotter->figures->pdata[i], report->table, plots, error))
			return false;
	if (!write_figure(report->topology, report->table, directory, error))
		return false;
	remove_other_plots(report, plots);
	GString *html = page(report);
	bool written = report_file_write(directory, "report.html", html, error);

	g_string_free(html, TRUE);
	return written;
}

bool report_write_html(const struct report_table *table, const char *directory, GError **error)
{
	struct report report;

	report_init(&report, table);
	bool written = draw(&report, error) && write_all(&report, directory, error);

	report_clear(&report);
	return written;
}
