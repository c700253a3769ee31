/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/plot.h"

#include "reports/file.h"
#include "reports/text.h"

#include <stdlib.h>
#include <string.h>

struct report_figure *report_figure_new(const char *name, const char *title)
{
	struct report_figure *figure = g_new0(struct report_figure, 1);

	figure->name = g_strdup(name);
	figure->title = report_one_line(title, 200);
	return figure;
}

void report_figure_free(struct report_figure *figure)
{
	if (!figure)
		return;
	g_free(figure->name);
	g_free(figure->title);
	if (figure->svg)
		g_string_free(figure->svg, TRUE);
	g_free(figure);
}

static void figure_free(gpointer figure)
{
	report_figure_free(figure);
}

struct report_plotter *report_plotter_new(void)
{
	struct report_plotter *plotter = g_new0(struct report_plotter, 1);

	plotter->script = g_string_new("set encoding utf8\n");
	plotter->figures = g_ptr_array_new_with_free_func(figure_free);
	return plotter;
}

void report_plotter_free(struct report_plotter *plotter)
{
	g_string_free(plotter->script, TRUE);
	g_ptr_array_unref(plotter->figures);
	g_free(plotter);
}

struct report_figure *report_plotter_figure(struct report_plotter *plotter, const char *name, const char *title,
					    int width, int height)
{
	struct report_figure *figure = report_figure_new(name, title);

	figure->width = width;
	figure->height = height;
	g_ptr_array_add(plotter->figures, figure);
	g_string_append_printf(plotter->script,
			       "reset\n"
			       "set terminal svg size %d,%d dynamic noenhanced font 'sans-serif,15'\n"
			       "set output '%s.svg'\n"
			       "set border 3 lc rgb '" REPORT_MUTED "'\n"
			       "set tics nomirror out scale 0.5 textcolor rgb '" REPORT_INK "'\n"
			       "set grid y lc rgb '" REPORT_GRID "' lw 1 lt 1\n"
			       "set xlabel offset 0,0.6 textcolor rgb '" REPORT_INK "'\n"
			       "set ylabel textcolor rgb '" REPORT_INK "'\n"
			       "set title textcolor rgb '" REPORT_INK "'\n"
			       "set key textcolor rgb '" REPORT_INK "'\n",
			       width, height, figure->name);
	return figure;
}

static bool read_back(struct report_figure *figure, const char *directory, GError **error)
{
	g_autofree char *file = g_strconcat(figure->name, ".svg", NULL);
	g_autofree char *path = g_build_filename(directory, file, NULL);
	g_autofree char *drawn = NULL;

	if (g_file_get_contents(path, &drawn, NULL, NULL) && report_figure_set(figure, drawn))
		return true;
	g_set_error(error, REPORT_ERROR, REPORT_ERROR_TOOL, "gnuplot drew no SVG for %s", file);
	return false;
}

static bool run_in(struct report_plotter *plotter, const char *directory, GError **error)
{
	static const char *const argv[] = { "gnuplot", "-d", "plots.gp", NULL };

	if (!report_file_write(directory, "plots.gp", plotter->script, error) ||
	    !report_tool_run(argv, "gnuplot-nox", directory, error))
		return false;
	for (guint i = 0; i < plotter->figures->len; i++)
		if (!read_back(plotter->figures->pdata[i], directory, error))
			return false;
	return true;
}

bool report_plotter_run(struct report_plotter *plotter, GError **error)
{
	if (!plotter->figures->len)
		return true;
	g_string_append(plotter->script, "unset output\n");
	g_autofree char *directory = report_scratch_new(error);
	bool drawn = directory && run_in(plotter, directory, error);

	if (directory)
		report_scratch_remove(directory);
	return drawn;
}

static void replace_all(char **text, const char *pattern, const char *with)
{
	g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_DOTALL, 0, NULL);
	char *replaced = g_regex_replace(regex, *text, -1, 0, with, 0, NULL);

	g_free(*text);
	*text = replaced;
}

static gboolean as_hex(const GMatchInfo *match, GString *out, gpointer unused)
{
	g_autofree char *red = g_match_info_fetch(match, 1);
	g_autofree char *green = g_match_info_fetch(match, 2);
	g_autofree char *blue = g_match_info_fetch(match, 3);

	(void)unused;
	g_string_append_printf(out, "#%02x%02x%02x", atoi(red), atoi(green), atoi(blue));
	return FALSE;
}

static void colours_as_hex(char **text)
{
	g_autoptr(GRegex) regex = g_regex_new("rgb\\( *(\\d+), *(\\d+), *(\\d+)\\)", 0, 0, NULL);
	char *replaced = g_regex_replace_eval(regex, *text, -1, 0, 0, as_hex, NULL, NULL);

	g_free(*text);
	*text = replaced;
	replace_all(text, "(stroke|fill|color) ?= ?['\"](#[0-9a-f]{6})['\"]", "\\1=\"\\2\"");
	replace_all(text, "(stroke|fill|color) ?= ?['\"]black['\"]", "\\1=\"" REPORT_INK "\"");
}

static bool read_size(struct report_figure *figure, const char *opening)
{
	g_autoptr(GRegex) regex = g_regex_new("viewBox=\"[\\d.-]+ [\\d.-]+ ([\\d.]+) ([\\d.]+)\"", 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;

	if (!g_regex_match(regex, opening, 0, &match))
		return false;
	g_autofree char *width = g_match_info_fetch(match, 1);
	g_autofree char *height = g_match_info_fetch(match, 2);

	if (!figure->width) {
		figure->width = (int)(g_ascii_strtod(width, NULL) + 0.5);
		figure->height = (int)(g_ascii_strtod(height, NULL) + 0.5);
	}
	return true;
}

/* "<svg ...>" with what both a page and a file of its own need; keeps the drawing's viewBox. */
static void append_opening(struct report_figure *figure, const char *drawn_opening)
{
	g_autoptr(GRegex) regex = g_regex_new("viewBox=\"[^\"]*\"", 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;

	g_regex_match(regex, drawn_opening, 0, &match);
	g_autofree char *box = g_match_info_fetch(match, 0);

	g_string_append_printf(figure->svg,
			       "<svg class=\"plot\" role=\"img\" width=\"%d\" height=\"%d\" %s "
			       "xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n",
			       figure->width, figure->height, box);
	g_string_append(figure->svg, "<title>");
	report_markup(figure->svg, figure->title);
	g_string_append(figure->svg, "</title>\n");
}

static char *uniform_body(const struct report_figure *figure, const char *drawn)
{
	g_autofree char *part = report_file_part(figure->name);
	g_autofree char *ids = g_strdup_printf("\\1=\"%s-\\2\"", part);
	g_autofree char *uses = g_strdup_printf("xlink:href=\"#%s-\\1\"", part);
	char *body = g_strdup(drawn);

	replace_all(&body, "<!--.*?-->", "");
	replace_all(&body, "<title>.*?</title>", "");
	replace_all(&body, "<desc>.*?</desc>", "");
	replace_all(&body, "<a [^>]*>|</a>", "");
	replace_all(&body, "<filter .*?</filter>", "");
	replace_all(&body, "\\b(id)=['\"]([^'\"]*)['\"]", ids);
	replace_all(&body, "xlink:href=['\"]#([^'\"]*)['\"]", uses);
	replace_all(&body, "<g [^>]*>\\s*</g>\\n", "");
	colours_as_hex(&body);
	replace_all(&body, "[ \\t]*\\n\\s*", "\n");
	return body;
}

bool report_figure_set(struct report_figure *figure, const char *drawn)
{
	const char *opening = strstr(drawn, "<svg");
	const char *body = opening ? strchr(opening, '>') : NULL;

	if (!body || !strstr(body, "</svg>"))
		return false;
	g_autofree char *head = g_strndup(opening, (gsize)(body - opening));

	if (!read_size(figure, head))
		return false;
	g_autofree char *uniform = uniform_body(figure, body + 1);

	figure->svg = g_string_new(NULL);
	append_opening(figure, head);
	g_string_append(figure->svg, uniform);
	return true;
}

char *report_provenance(const struct report_table *table)
{
	g_autofree char *version = report_one_line(table->program_version, 80);
	g_autofree char *revision = report_one_line(table->git_revision, 80);
	g_autofree char *hash = report_one_line(table->config_hash, 80);

	return g_strdup_printf("smblab %s, git revision %s, seed %" G_GUINT64_FORMAT ", config hash %s", version,
			       revision[0] ? revision : "unknown", (guint64)table->seed, hash);
}

GString *report_figure_file(const struct report_figure *figure, const struct report_table *table)
{
	GString *file = g_string_new("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	const char *body = strstr(figure->svg->str, "</title>\n") + strlen("</title>\n");
	g_autofree char *provenance = report_provenance(table);

	g_string_append_len(file, figure->svg->str, body - figure->svg->str);
	g_string_append(file, "<metadata>");
	report_markup(file, provenance);
	g_string_append(file, "</metadata>\n<style>@media (prefers-color-scheme:dark){\n");
	report_dark_rules(file);
	g_string_append(file, "}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"" REPORT_PAPER "\"/>\n");
	g_string_append(file, body);
	return file;
}
