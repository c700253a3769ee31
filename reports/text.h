/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_TEXT_H
#define REPORTS_TEXT_H

/**
 * Numbers and strings as they appear in a report: independent of the locale, and safe in the language they are put
 * into. Every string of a table passes through one of these before it reaches HTML, SVG, dot or gnuplot.
 */

#include <glib.h>
#include <stdbool.h>

/** `number` with a fixed count of decimals and a point; "" when it is not finite; never "-0". Caller frees. */
char *report_fixed(double number, int decimals);
/** The shortest of up to ten significant digits, for numbers that a person wrote. Caller frees. */
char *report_shortest(double number);
/** A throughput with about three significant digits and without a unit. Caller frees. */
char *report_MBps(double MBps);
/** A signed percentage, "+1.3 %". Caller frees. */
char *report_percent(double percent);
/** Bytes as "4 MiB", "64 KiB", "1000 B". Caller frees. */
char *report_bytes(double bytes);
/** Seconds as "50 µs", "1.5 ms", "10 s". Caller frees. */
char *report_seconds(double seconds);
/** Bits per second as "10 Gbit/s". Caller frees. */
char *report_bitrate(double bits_per_second);

/** Valid UTF-8 without control characters other than tab and newline, whatever `text` was; NULL becomes "". */
char *report_clean(const char *text);
/** The same in one line, at most `max` characters: longer text ends in an ellipsis. */
char *report_one_line(const char *text, glong max);
/** Append `text` so that HTML and XML show it and never read it. */
void report_markup(GString *out, const char *text);
/** `text` as a quoted gnuplot string, one line, not enhanced. */
char *report_gnuplot_string(const char *text);
/** The same for a tic label, where a per cent sign would be a format. */
char *report_gnuplot_tic(const char *text);
/** `text` as a quoted string of the dot language. */
char *report_dot_string(const char *text);
/** Only [a-z A-Z 0-9 . _ -], so that it can be a part of a file name or of an id. */
char *report_file_part(const char *text);
/** Columns that `text` takes on a terminal. */
glong report_width(const char *text);

#endif
