/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_CALIBRATE_H
#define EXPERIMENTS_CALIBRATE_H

/**
 * Fitting parameters to measurements. In a config:
 *
 *	[calibrate]
 *	client.cost.receive_cpu=0.1..5        a parameter and its bounds; it starts at the value in force
 *	network.rtt=1ms..50ms
 *	server.threads=1;2;4                  or the values to be tried
 *	algorithm=sbplx                       or bobyqa, nelder-mead, cobyla
 *	evaluations=80                        at most, per combination of tried values
 *
 * Which rows are fitted is said by fit.COLUMN in [measured]; without it all are. The measure of a misfit is the mean
 * over the fitted rows of ln(predicted / measured)^2, so that too fast and too slow by the same factor weigh the same.
 * Deterministic: same config, same program, same result.
 */

#include "experiments/plan.h"

struct lab_parameter {
	guint key;
	double low, high; /* in base units; both 0 for a list */
	double start;
	GPtrArray *list; /* interned texts to be tried; NULL = bounds */
	const char *best; /* interned text of the fitted value, set by lab_calibration_run */
};

struct lab_calibration {
	GPtrArray *parameters; /* struct lab_parameter */
	int algorithm; /* nlopt_algorithm */
	guint evaluations;
	guint evaluated; /* so far */
	double misfit; /* of the best values */
};

/** LAB_ERROR_USAGE when the config has no [calibrate], no measured rows, or nonsense in either. */
struct lab_calibration *lab_calibration_new(const struct lab_config *config, const struct lab_plan *plan,
					    GError **error);
void lab_calibration_free(struct lab_calibration *calibration);
typedef struct lab_calibration lab_calibration;
/* cppcheck-suppress unknownMacro */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(lab_calibration, lab_calibration_free)

/** Find the best values; points of one evaluation run in parallel, `jobs` at a time. Progress on standard error. */
bool lab_calibration_run(struct lab_calibration *calibration, const struct lab_config *config,
			 const struct lab_plan *plan, guint jobs, GError **error);

/** "SECTION.KEY=VALUE" of each fitted parameter behind those of `sets`: what --set would have to say. */
char **lab_calibration_sets(const struct lab_calibration *calibration, char **sets);

#endif
