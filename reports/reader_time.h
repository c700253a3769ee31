/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_READER_TIME_H
#define REPORTS_READER_TIME_H

/** The parts of a reader's time, in the order of struct sim_reader_time. */

#include "reports/report.h"

#define REPORT_READER_PARTS 6
struct report_reader_part {
	const char *name;
	const char *spent; /* completes "40 % ..." in a sentence */
	const char *colour;
};
extern const struct report_reader_part report_reader_parts[REPORT_READER_PARTS];

/** Share of the whole, 0 to 1. */
double report_reader_share(const struct sim_reader_time *time, guint part);
/** The part that takes most (rank 0), second most, ...; equal parts in their own order. */
guint report_reader_ranked(const struct sim_reader_time *time, guint rank);

#endif
