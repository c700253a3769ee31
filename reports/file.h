/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_FILE_H
#define REPORTS_FILE_H

/** Files of a report: written beside and renamed; temporary directories that go away. */

#include <glib.h>
#include <stdbool.h>

/** Write `directory`/`name` whole or not at all; the directory is made when it is missing. */
bool report_file_write(const char *directory, const char *name, const GString *content, GError **error);
/** A new empty directory for a helper program's files. Caller frees the name and calls report_scratch_remove,
 *  which removes all that is in it, too. */
char *report_scratch_new(GError **error);
void report_scratch_remove(const char *directory);
/** Run `argv` in `directory` and wait. `package` is what to install when the program is missing. */
bool report_tool_run(const char *const *argv, const char *package, const char *directory, GError **error);

#endif
