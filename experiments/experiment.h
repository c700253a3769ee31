/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_EXPERIMENT_H
#define EXPERIMENTS_EXPERIMENT_H

/** The steps that commands share: compute what is missing in a store, and turn a store into reports. */

#include "experiments/progress.h"
#include "experiments/store.h"
#include "reports/report.h"

struct lab_shard {
	guint index; /* from 1 */
	guint count; /* 1 = everything */
};
/** "I/N". LAB_ERROR_USAGE. */
bool lab_shard_parse(const char *text, struct lab_shard *shard, GError **error);

/** Compute the points of the plan that the store lacks (of this shard), with progress on standard error. */
bool lab_experiment_compute(struct lab_store *store, const struct lab_plan *plan, const struct lab_config *config,
			    const struct lab_shard *shard, guint jobs, GError **error);

/** What the store holds as a table for reports; rows without a result are left out and counted. */
struct report_table *lab_experiment_table(struct lab_store *store, guint *missing, GError **error);

/** Give a row its measurement (rows = 0: none) and its error. A point that came to no end predicts nothing, which is
 *  as wrong as can be: -100 %. */
void lab_experiment_set_measured(const struct report_table *table, struct report_row *row,
				 const struct lab_measurement *measured);

/** Exit code of a finished run: 1 when a rule was violated, 4 when a point came to no end, else 0. */
int lab_experiment_verdict(const struct report_table *table);

/** The table, with results.csv, report.html and what belongs to it written into `directory`; NULL on failure. */
struct report_table *lab_experiment_publish(struct lab_store *store, const char *directory, guint *missing,
					    GError **error);

#endif
