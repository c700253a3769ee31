/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_TESTS_SYNTHETIC_H
#define REPORTS_TESTS_SYNTHETIC_H

/** Made-up tables for tests of the report: throughput is min(rate, window / RTT), nothing was simulated. */

#include "reports/report.h"

/** A parameter of a made-up sweep: its column and its values, separated by ';'. */
struct synthetic_axis {
	const char *column;
	const char *values;
};

/** Every combination of `axes` (at most eight, ended by a NULL column), no measurements. */
struct report_table *synthetic_table(const char *title, const struct synthetic_axis *axes);
/** The shape of the main job: rasize, RTT and max_channels, with the two published measurements. */
struct report_table *synthetic_rasize_table(void);
/** The row whose sweep values are these, in order; never NULL. */
struct report_row *synthetic_row(struct report_table *table, const char *const *values);
void synthetic_fail(struct report_row *row, enum sim_outcome outcome, const char *failure);
void synthetic_measure(struct report_row *row, double MBps, bool fitted, const char *label);

#endif
