/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_COMMAND_CHECK_COVERAGE_H
#define EXPERIMENTS_COMMAND_CHECK_COVERAGE_H

/** smblab check --coverage: which code and which transitions all configs together have used. */

#include <glib.h>
#include <stdbool.h>

struct lab_coverage_options {
	const char *const *configs; /* NULL at the end */
	/* as `smblab check` has them; NULL, 0: not given */
	const char *const *sets;
	int jobs;
	gint64 max_states;
	int max_depth;
	const char *max_memory;
	const char *max_time;
	bool depth_first;
	const char *out; /* where coverage.html goes; NULL: out/coverage */
	bool json;
};

/** Check all configs with the program that counts, report, return the exit code: the gravest of the checks'. */
int lab_check_coverage(const struct lab_coverage_options *options);

#endif
