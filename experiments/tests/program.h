/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_TESTS_PROGRAM_H
#define EXPERIMENTS_TESTS_PROGRAM_H

/** Running smblab itself in tests, in a directory of its own. */

#include <glib.h>
#include <stdbool.h>

struct program {
	int exit_code;
	char *out; /* standard output */
	char *err; /* standard error */
};

/** A fresh empty directory; program_clean removes it and everything in it. */
char *program_directory(void);
void program_clean(char *directory);
void program_write(const char *directory, const char *name, const char *text, gssize length);
char *program_read(const char *directory, const char *name);
/** Number of entries in a directory. */
guint program_entries(const char *directory);

/** Run smblab in `directory` with the arguments, NULL at the end. */
struct program program_run(const char *directory, ...) G_GNUC_NULL_TERMINATED;
void program_clear(struct program *program);

/** A small experiment of six points that takes well under a second. */
extern const char program_config[];
/** The smblab that was built. */
extern const char program_path[];

#endif
