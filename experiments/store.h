/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_STORE_H
#define EXPERIMENTS_STORE_H

/**
 * The result store: DIR/results.sqlite. It holds the experiment as it was given, its plan (one line per row of
 * results.csv) and each finished point under its identity. A point is there whole or not at all, so a run that was
 * killed goes on where it was. One process works in a directory at a time.
 */

#include "experiments/plan.h"

#include <stdint.h>

struct lab_store;

/** `create`: make directory and store where missing; otherwise a missing store is LAB_ERROR_USAGE. LAB_ERROR_ENVIRONMENT
 *  when another process works there, or SQLite fails. */
struct lab_store *lab_store_open(const char *directory, bool create, GError **error);
/** A store in `directory` with the experiment and the points of the one in `from`. */
struct lab_store *lab_store_open_copy(const char *directory, const char *from, GError **error);
void lab_store_close(struct lab_store *store);
typedef struct lab_store lab_store;
/* cppcheck-suppress unknownMacro */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(lab_store, lab_store_close)

/** What was asked; replaces an earlier experiment of the same directory, whose finished points stay. */
bool lab_store_put_plan(struct lab_store *store, const struct lab_config *config, const struct lab_plan *plan,
			GError **error);

/** Facts of the experiment by name: title, config_path, config_text, config_hash, sets (JSON), seed, version,
 *  git_revision, measured_source, columns (JSON), sweep_columns. NULL when absent. */
char *lab_store_get_fact(struct lab_store *store, const char *name);
bool lab_store_put_fact(struct lab_store *store, const char *name, const char *value, GError **error);

/** Is a lasting result of this identity there? */
bool lab_store_has(struct lab_store *store, const char *hash);
/** Keep a result; in one transaction. A result that is not lasting is shown in reports and computed again. */
bool lab_store_put_result(struct lab_store *store, const char *hash, const struct sim_result *result, bool lasting,
			  GError **error);

/** One row of the plan with its result; texts and result owned by the row. */
struct lab_stored_row {
	guint ordinal;
	char *hash;
	char **values;
	struct sim_result *result; /* NULL = not computed yet */
	struct lab_measurement measured; /* rows: 0 or 1; the label is owned */
};
void lab_stored_row_free(struct lab_stored_row *row);
/** All rows in order. */
GPtrArray *lab_store_rows(struct lab_store *store, GError **error);

/** Are both runs of one config by one program version? LAB_ERROR_USAGE names `directory`, where `other` is, if not. */
bool lab_store_same_experiment(struct lab_store *store, struct lab_store *other, const char *directory, GError **error);
/** Take over the finished points of another store of the same experiment. LAB_ERROR_USAGE: another experiment, or
 *  another program version; LAB_ERROR_ENVIRONMENT with "disagree" in it: the same point, another result. */
bool lab_store_merge(struct lab_store *store, const char *directory, GError **error);

/** Numbers for tests and progress: rows of the plan, points with lasting results, computations ever done. */
struct lab_store_counts {
	guint rows, finished, computations;
};
bool lab_store_count(struct lab_store *store, struct lab_store_counts *counts, GError **error);

#endif
