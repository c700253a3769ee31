/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_READER_TIME_H
#define REPORTS_READER_TIME_H

/** The parts of a reader's time, in the order of struct sim_reader_time. */

#include "reports/report.h"

#define REPORT_READER_PARTS 6
struct report_reader_part {
	const char *name;
	const char *waiting; /* completes "the reader spends 40 % of its time ..." */
	const char *colour;
};
extern const struct report_reader_part report_reader_parts[REPORT_READER_PARTS];

/** Share of the whole, 0 to 1. */
double report_reader_share(const struct sim_reader_time *time, guint part);
guint report_reader_largest(const struct sim_reader_time *time);

#endif
