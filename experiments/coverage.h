/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_COVERAGE_H
#define EXPERIMENTS_COVERAGE_H

/** The program that counts what the core does (model/coverage), and gcov, which reads what it has counted. */

#include "reports/coverage/coverage.h"

/** What is there to count with. */
struct lab_counter {
	char *program;
	char *gcov;
	char *sources; /* folder that it was built from */
	char *objects; /* where its .gcno files are */
	char *scratch; /* what it counts goes there */
};

/** LAB_ERROR_ENVIRONMENT says what has to be built or installed. */
bool lab_counter_open(struct lab_counter *counter, GError **error);
/** Also removes what was counted. */
void lab_counter_close(struct lab_counter *counter);

/** Check one config with these further arguments; note the run and what happened in no run. False: it could not be
 *  checked, else *exit_code is its exit code. */
bool lab_counter_run(const struct lab_counter *counter, const char *config, const char *const *more,
		     struct coverage *coverage, int *exit_code, GError **error);
/** Read all that was counted so far. */
bool lab_counter_read(const struct lab_counter *counter, struct coverage *coverage, GError **error);

#endif
