/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_QUANTITY_H
#define REPORTS_QUANTITY_H

/** What a table compares: how fast data moves, what a command costs in round trips, or how long it takes. */

#include "sim/world/world.h"

enum report_quantity {
	REPORT_THROUGHPUT, /* MB/s */
	REPORT_PAIRS, /* request/response pairs of the workload */
	REPORT_COMMAND_TIME, /* ms per command of the workload */
	REPORT_QUANTITIES,
};

struct report_quantity_info {
	const char *name; /* in configs */
	const char *unit; /* behind a number */
	const char *title; /* "Throughput" */
	const char *column; /* of a measurement, in results.csv */
};

const struct report_quantity_info *report_quantity_info(enum report_quantity quantity);
/** False: there is no such name. */
bool report_quantity_find(const char *name, enum report_quantity *quantity);
/** What a finished point came to. */
double report_quantity_of(enum report_quantity quantity, const struct sim_result *result);
/** The number as a person reads it, without its unit. Caller frees. */
char *report_quantity_text(enum report_quantity quantity, double value);
/** Milliseconds per command; 0 when the workload has none. */
double report_command_ms(const struct sim_result *result);

#endif
