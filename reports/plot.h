/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_PLOT_H
#define REPORTS_PLOT_H

/**
 * Figures: gnuplot or dot draws them in the colours of a light page; a style sheet maps each colour to its
 * counterpart on a dark page. What a tool writes about itself, its ids and its spacing is made uniform, so that equal
 * data gives equal bytes.
 */

#include "reports/report.h"

struct report_figure {
	char *name; /* of the file without ".svg" */
	char *title;
	int width; /* CSS pixels at full size */
	int height;
	GString *svg; /* as drawn and made uniform, without XML prologue; what the page holds inside */
};

/** All figures of a report that gnuplot draws, in one run of it. */
struct report_plotter {
	GString *script;
	GPtrArray *figures; /* struct report_figure * */
};

struct report_plotter *report_plotter_new(void);
void report_plotter_free(struct report_plotter *plotter);
/** Start a figure: what is appended to plotter->script afterwards draws it. The figure belongs to the plotter. */
struct report_figure *report_plotter_figure(struct report_plotter *plotter, const char *name, const char *title,
					    int width, int height);
bool report_plotter_run(struct report_plotter *plotter, GError **error);

struct report_figure *report_figure_new(const char *name, const char *title);
void report_figure_free(struct report_figure *figure);
/** Take what a tool drew. False when it is no SVG. */
bool report_figure_set(struct report_figure *figure, const char *drawn);
/** The figure as a file of its own: prologue, metadata, style, background. */
GString *report_figure_file(const struct report_figure *figure, const struct report_table *table);
/** Version, revision, seed and config hash in one line; plain text. Caller frees. */
char *report_provenance(const struct report_table *table);

/* Colours as gnuplot and dot know them, all of them in the style sheet below. */
#define REPORT_INK "#1f2430"
#define REPORT_MUTED "#5f6775"
#define REPORT_GRID "#dfe3e8"
#define REPORT_PAPER "#ffffff"
#define REPORT_PANEL "#f4f6f8"
#define REPORT_BLUE "#0072b2"
#define REPORT_SKY "#56b4e9"
#define REPORT_ORANGE "#e69f00"
#define REPORT_GREEN "#009e73"
#define REPORT_RED "#d55e00"
#define REPORT_PINK "#cc79a7"
#define REPORT_GREY "#c3c8cf"
#define REPORT_PLOT_WIDTH 520 /* CSS pixels: still legible when a phone makes them 360 */
#define REPORT_RAMP_STEPS 9
/** The index-th of `count` colours in order, for values that have an order. */
const char *report_ramp(guint index, guint count);
/** Append the rules that give every colour its counterpart on a dark page, for the inside of a media query. */
void report_dark_rules(GString *out);
/** A colour of the heat map for `share` in [0, 1], as a number; and the colour of text on it. */
guint report_heat_colour(double share);
guint report_heat_text_colour(double share);

#endif
