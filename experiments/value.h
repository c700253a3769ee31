/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_VALUE_H
#define EXPERIMENTS_VALUE_H

/**
 * The values people write in configs and on the command line: sizes, times, rates, numbers.
 *
 * Sizes take K, M, G, T in powers of two (also KiB, MiB, ...). Times take ns, us, ms, s. Rates take bit, Kbit, Mbit,
 * Gbit in powers of ten. A bare number is bytes for a size; times and rates need their unit, unless the value is 0.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define LAB_ERROR (lab_error_quark())
GQuark lab_error_quark(void);

/** What went wrong, by what the user can do about it; lab_exit_code turns it into the exit code. */
enum lab_error {
	LAB_ERROR_USAGE, /* command line or config; exit 2 */
	LAB_ERROR_ENVIRONMENT, /* file, process, database; exit 3 */
	LAB_ERROR_IMPOSSIBLE, /* values fine one by one, together no point that can be simulated */
	LAB_ERROR_INTERRUPTED, /* SIGINT or SIGTERM; exit 130 */
};
int lab_exit_code(const GError *error);
/** Set LAB_ERROR_USAGE with this message; always false, for `return lab_refuse(...)`. */
bool lab_refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

enum lab_type {
	LAB_TEXT,
	LAB_CHOICE, /* one of a list of words */
	LAB_BOOL, /* true, false, on, off, yes, no, 1, 0 */
	LAB_COUNT, /* whole number */
	LAB_NUMBER, /* number, fraction allowed */
	LAB_SIZE, /* bytes */
	LAB_TIME, /* nanoseconds */
	LAB_RATE, /* bits per second */
};

/** "size: bytes, or K, M, G (1K = 1024)" and so on, for help. */
const char *lab_type_tells(enum lab_type type);

/** Parse a number of the given type (LAB_COUNT to LAB_RATE) into base units. LAB_ERROR_USAGE: not a number, unknown
 *  unit, unit missing, negative, or too large. */
bool lab_number_parse(enum lab_type type, const char *text, double *number, GError **error);
/** The same for quantities that are whole in base units (fractions of a byte or of a nanosecond are refused). */
bool lab_whole_parse(enum lab_type type, const char *text, uint64_t *whole, GError **error);
bool lab_bool_parse(const char *text, bool *value, GError **error);

/** The canonical text of a value: shortest unit that keeps it whole; parses back to the same value. */
char *lab_number_format(enum lab_type type, double number);
char *lab_whole_format(enum lab_type type, uint64_t whole);
/** Shortest decimal text that reads back as the same double. */
char *lab_double_format(double number);

#endif
