/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_PLAN_H
#define EXPERIMENTS_PLAN_H

/**
 * The points of an experiment, in the order of its rows: every combination of the sweep (first key slowest), for each
 * measured row when those are the points, for each repeat. Two combinations with one identity are one point; measured
 * rows keep their own rows and share the computation.
 */

#include "experiments/config.h"
#include "experiments/measured.h"
#include "experiments/point.h"

#define LAB_POINTS_MAX 1000000

struct lab_point {
	char *hash; /* identity, hex */
	char **columns; /* values in force, one per column of the plan */
	struct lab_values values; /* as given; for calibration, which varies some of them */
	struct sim_point *point;
	char *impossible; /* why it cannot be simulated; NULL = it can */
	struct lab_measurement measured; /* rows = 0: none; the label is owned by the plan's measured table */
};

struct lab_plan {
	GPtrArray *columns; /* "section.key": those that vary first; interned */
	guint sweep_columns;
	GPtrArray *points; /* struct lab_point */
	struct lab_measured *measured; /* owned; NULL = none */
	char *ignored_options; /* mount options without effect here, separated by ", "; empty = none */
	guint merged; /* combinations that were the same as an earlier one */
};

/** LAB_ERROR_USAGE also when not a single point can be simulated. `measured_file`: see lab_measured_load. */
struct lab_plan *lab_plan_new(const struct lab_config *config, const char *measured_file, GError **error);
void lab_plan_free(struct lab_plan *plan);
typedef struct lab_plan lab_plan;
/* cppcheck-suppress unknownMacro */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(lab_plan, lab_plan_free)

/** One point from given values. An impossible combination is a point that says so; NULL only for LAB_ERROR_USAGE. */
struct lab_point *lab_point_new(const struct lab_plan *plan, const struct lab_config *config,
				const struct lab_values *values, struct lab_build_report *report, GError **error);
void lab_point_free(struct lab_point *point);

#endif
