/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_IO_TESTS_TABLE_H
#define SMB_IO_TESTS_TABLE_H

/** Rows of the tables recorded from real kernels, experiments/measured/captures. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_FIELDS_MAX 32
#define TABLE_LINE_MAX 2048

/** The test fails when there is no such table. */
FILE *table_open(const char *name, const char *suffix);
/** Next data row of a table, past its comments and heading; false at the end. `fields` has TABLE_FIELDS_MAX entries,
 *  which point into `line`. */
bool table_next_row(FILE *table, char *line, size_t size, char **fields);
/** The number after `name=` in a list of mount options; 0 when it has none. */
uint32_t table_mount_value(const char *mounted, const char *name);

#endif
