/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_TESTS_TSV_H
#define SIM_WORLD_TESTS_TSV_H

/** A tab-separated capture table: `#` lines skipped, the first line names the columns. Dies on what it cannot read:
 *  a test without its data has failed. */

#include <glib.h>

struct tsv {
	char **columns;
	GPtrArray *rows; /* char ** */
};

struct tsv *tsv_load(const char *path_below_source);
void tsv_free(struct tsv *tsv);
const char *tsv_text(const struct tsv *tsv, guint row, const char *column);
guint64 tsv_number(const struct tsv *tsv, guint row, const char *column);

#endif
