/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_FIGURES_H
#define REPORTS_FIGURES_H

/** The figures of a report, each added to the plotter's one script. All return NULL when there is nothing to show. */

#include "reports/plot.h"
#include "reports/sweep.h"

#define REPORT_PANELS_MAX 6 /* drawn; the tables hold all */
#define REPORT_LINES_MAX REPORT_RAMP_STEPS
#define REPORT_CHOSEN_MAX 4

/** Throughput over the x axis, a line per value of the line axis, measured points on it. */
struct report_figure *report_figure_throughput(struct report_plotter *plotter, const struct report_sweep *sweep,
					       const struct report_panel *panel);
/** Throughput as colour and number, x axis by line axis. NULL with fewer than two values on either. */
struct report_figure *report_figure_heat(struct report_plotter *plotter, const struct report_sweep *sweep,
					 const struct report_panel *panel);
/** Where the reader's time went: one bar per point of the panel, as shares. Returns how many figures were added, at
 *  the end of plotter->figures. */
guint report_figures_reader_time(struct report_plotter *plotter, const struct report_sweep *sweep,
				 const struct report_panel *panel);

/** One run over time: what is drawn of each sample. */
enum report_timeline { REPORT_TIMELINE_READS, REPORT_TIMELINE_BYTES, REPORT_TIMELINE_CREDITS };
struct report_figure *report_figure_timeline(struct report_plotter *plotter, const struct report_sweep *sweep,
					     const struct report_row *row, enum report_timeline what, guint number);

/** The machines of the first point, through Graphviz. NULL with `error` set. */
struct report_figure *report_figure_topology(const struct report_table *table, GError **error);

/** At most `max` indices of 0 to count - 1, evenly spread, first and last among them; for axes too long to draw. */
GArray *report_spread(guint count, guint max);
/** Append a number for gnuplot. */
void report_plot_number(GString *script, double number);

#endif
