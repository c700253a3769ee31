/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_STORE_INTERNAL_H
#define EXPERIMENTS_STORE_INTERNAL_H

/** Shared by store.c, which writes, and store_read.c, which reads rows and merges. */

#include "experiments/store.h"

#include <sqlite3.h>

struct lab_store {
	sqlite3 *database;
	char *path;
	int lock; /* the directory, flock(2)ed */
};

/** Set the error from SQLite's last message; returns false. */
bool lab_store_fail(struct lab_store *store, GError **error);
bool lab_store_exec(struct lab_store *store, const char *sql, GError **error);

char *lab_strings_to_json(char *const *strings, guint count);
char **lab_strings_from_json(const char *json);

#endif
