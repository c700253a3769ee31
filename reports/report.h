/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

/**
 * From finished points to what a person looks at: results.csv, report.html, plots/ *.svg, topology.svg.
 *
 * The caller fills one table; the report writes files into a directory. Nothing in results.csv depends on the
 * machine or the clock, and neither does report.html.
 */

#include "reports/quantity.h"

#include <glib.h>
#include <stdio.h>

/** One point of the sweep with its result. Strings belong to the table. */
struct report_row {
	char *hash; /* identity of the point, hex */
	char **values; /* one per table column, in order */
	struct sim_result *result; /* owned; samples included */
	bool has_measured;
	double measured; /* in the unit of the table's quantity */
	double error_percent; /* (predicted - measured) / measured * 100 */
	bool fitted; /* the measurement took part in the fit of the parameters */
	char *measured_label; /* where the measurement is from, as its file names it; may be NULL */
};

struct report_table {
	char *title;
	char *program_version;
	char *git_revision;
	char *config_hash; /* hex */
	char *config_text; /* the config as given, for the page's appendix */
	char *about; /* what is asked and assumed, in the author's words, a paragraph per line; may be NULL */
	enum report_quantity quantity; /* what is compared */
	uint64_t seed;
	GPtrArray *columns; /* char *: "section.key" of every parameter, those of the sweep first */
	guint sweep_columns; /* how many of them vary */
	GPtrArray *rows; /* struct report_row * */
	struct sim_point base; /* the first point, for the topology */
	char *measured_source; /* the "Source:" line of the measured file; NULL when there is none */
};

struct report_table *report_table_new(void);
void report_table_free(struct report_table *table);
struct report_row *report_row_new(void);

/** results.csv: parameters, then seconds, bytes, throughput_MBps, pairs, pdus, credits_min, inflight_max,
 *  inflight_max_bytes, violations, pdu_events, read_io_bytes, reconnects, stall_max_seconds, commands,
 *  command_failures, command_ms, slowest_client, fastest_client, fairness, outcome, failure, measured_MBps, measured_pairs, measured_command_ms,
 *  error_percent. */
bool report_write_csv(const struct report_table *table, const char *directory, GError **error);
/** plots/ *.svg through gnuplot, topology.svg through Graphviz, report.html with all of it inside. Files are written
 *  beside and renamed, so an interrupted run leaves the old ones whole. */
bool report_write_html(const struct report_table *table, const char *directory, GError **error);

/** One line for a terminal, per row: the sweep's values, predicted, measured, error. */
void report_print_table(const struct report_table *table, FILE *stream);

/** What came out and why, a sentence per line, the most important one first: the head of the page in plain text. */
void report_print_findings(const struct report_table *table, FILE *stream);

#define REPORT_ERROR (report_error_quark())
GQuark report_error_quark(void);
enum report_error { REPORT_ERROR_FILE, REPORT_ERROR_TOOL };

#endif
