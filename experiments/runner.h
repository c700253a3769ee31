/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_RUNNER_H
#define EXPERIMENTS_RUNNER_H

/**
 * Worker processes: one fork per point (the engine runs once per process), several at a time. Whatever happens to a
 * worker, its point gets a result: one that crashed or was given up says so in its outcome and failure text.
 */

#include "experiments/value.h"
#include "sim/world/world.h"

/** What a worker does; sim_world_run in earnest, something shorter in tests. */
typedef bool (*lab_work_fn)(const struct sim_point *point, const struct sim_trace *trace, struct sim_result *result,
			    GError **error);
/** A point is done. `lasting`: the result is a function of the point; false when a worker crashed or was given up,
 *  which the next run may try again. Return false to stop the run; the error then says why. */
typedef bool (*lab_done_fn)(void *context, guint index, const struct sim_result *result, bool lasting, GError **error);

struct lab_runner {
	guint jobs; /* workers at a time; 0 = one per processor */
	double wall_limit_s; /* per point; 0 = none */
	lab_work_fn work; /* NULL = sim_world_run */
	lab_done_fn done;
	void *context;
};

/** Run all points; `done` is called as they finish, in any order. LAB_ERROR_INTERRUPTED on SIGINT or SIGTERM: the
 *  workers are ended, what finished was handed out. */
bool lab_runner_run(const struct lab_runner *runner, const struct sim_point *const *points, guint count,
		    GError **error);

#endif
