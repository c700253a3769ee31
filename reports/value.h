/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_VALUE_H
#define REPORTS_VALUE_H

/** The values of a config as quantities: "50us", "4M", "10Gbit", "2", "azure". */

#include <glib.h>
#include <stdbool.h>

enum report_kind {
	REPORT_KIND_NAME, /* anything that is no quantity: kernel names, "unset" */
	REPORT_KIND_NUMBER,
	REPORT_KIND_BYTES, /* K, M, G are powers of 1024 */
	REPORT_KIND_SECONDS,
	REPORT_KIND_BITRATE, /* K, M, G are powers of 1000 */
};

/** What `text` is, and how much of it in bytes, seconds or bits per second. `column` ("section.key") tells plain
 *  numbers of sizes from others, and names with dots ("6.1") from numbers. */
enum report_kind report_value_parse(const char *column, const char *text, double *quantity);
/** `text` with unit and spaces as a person writes it; names unchanged. Caller frees. */
char *report_value_pretty(const char *column, const char *text);
/** A quantity of that kind. Caller frees. */
char *report_quantity(enum report_kind kind, double quantity);
/** "network.rtt" as "RTT", "client.rasize" as "rasize": what follows the dot, capitals where custom wants them.
 *  Caller frees. */
char *report_column_pretty(const char *column);

#endif
