/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_INSIGHT_H
#define REPORTS_INSIGHT_H

/** What a table says, in sentences and in the numbers they rest on. Plain text, not yet escaped for any language. */

#include "reports/sweep.h"

/** "More stops helping": values whose throughput is within this share of the best are as good as the best. */
#define REPORT_ENOUGH_SHARE 0.02

/** How throughput behaves along the line axis (or, without one, along an x axis that is not the RTT). */
struct report_enough {
	bool known; /* two finished points or more, on an axis of quantities */
	guint enough; /* index of the smallest value that is as good as the best */
	double enough_MBps;
	double best_MBps;
	guint best;
	double first_MBps; /* of the first finished value */
	guint first;
	guint last; /* the last finished value */
	bool still_rising; /* the last value is clearly better than the one before it */
};
struct report_enough report_enough_find(const struct report_sweep *sweep, const struct report_panel *panel, guint x);
/** The axis that report_enough_find walks along; NULL when there is none. */
const struct report_axis *report_enough_axis(const struct report_sweep *sweep);

/** Error of the rows with measurements. */
struct report_fit {
	guint count; /* rows that finished and have a measurement */
	double mean_absolute_percent;
	double bias_percent;
	double worst_percent; /* absolute */
};
struct report_fit report_fit_of(const struct report_table *table, bool fitted);

struct report_trouble {
	guint unfinished; /* rows */
	guint violating; /* rows that broke a rule */
	guint64 violations;
};
struct report_trouble report_trouble_count(const struct report_table *table);

/** One sentence: what was asked. Caller frees. */
char *report_asked(const struct report_sweep *sweep);
/** What came out and why, the most important sentence first. */
GPtrArray *report_findings(const struct report_sweep *sweep);
/** The values of a column: "2", "50 µs to 150 ms (6 values)", "1, 2 and 4"; NULL when there is no such column. */
char *report_column_span(const struct report_table *table, const char *column);

#endif
