/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_SCAN_H
#define EXPERIMENTS_SCAN_H

/**
 * The lines of a GKeyFile, with their numbers. GKeyFile itself checks the syntax but forgets lines and lets a later
 * duplicate win in silence; both matter to someone who looks for a slip in a config.
 */

#include "experiments/value.h"

#define LAB_SCAN_BYTES_MAX (1024 * 1024) /* of a config, parameter or job file */
#define LAB_TABLE_BYTES_MAX (64 * 1024 * 1024) /* of a measured table */

struct lab_entry {
	char *section;
	char *key;
	char *value; /* without surrounding blanks */
	guint line; /* from 1 */
};

/** Owned array of struct lab_entry. LAB_ERROR_USAGE with "PATH:LINE: what": no such file, larger than 1 MiB, not
 *  text, empty, a line that is neither section nor key=value, a duplicate section or key. `text` may be NULL. */
GPtrArray *lab_scan_file(const char *path, char **text, GError **error);
GPtrArray *lab_scan_text(const char *path, const char *text, gsize length, GError **error);

/** A whole text file, with a NUL behind it; free with g_free. LAB_ERROR_USAGE: not there, a directory, larger than
 *  `bytes_max`. Pipes and devices are read no further than that. */
char *lab_file_read(const char *path, gsize bytes_max, gsize *length, GError **error);

/** "PATH:LINE: [section] key: " in front of the message. */
void lab_scan_blame(GError **error, const char *path, const struct lab_entry *entry);

#endif
