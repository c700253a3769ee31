/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_FIO_FILE_H
#define EXPERIMENTS_FIO_FILE_H

/** fio's job files and command lines, as jobs with their options in order: nothing about what they mean. */

#include <glib.h>
#include <stdbool.h>

struct lab_fio_option {
	char *name;
	char *value; /* "1" of a switch */
	guint line; /* of the job file; 0 on a command line */
};

struct lab_fio_job {
	char *name;
	GPtrArray *options; /* struct lab_fio_option: those of [global] before it come first */
};

struct lab_fio_file {
	char *path; /* NULL for a command line */
	GPtrArray *jobs; /* struct lab_fio_job, at least one */
};

/** `words`: without the leading "fio"; one name of a job file in `directory`, or options, each --name a new job.
 *  LAB_ERROR_USAGE. */
struct lab_fio_file *lab_fio_read(char **words, const char *directory, GError **error);
void lab_fio_free(struct lab_fio_file *file);
typedef struct lab_fio_file lab_fio_file;
/* cppcheck-suppress unknownMacro */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(lab_fio_file, lab_fio_free)

#endif
