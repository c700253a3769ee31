/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_BILL_H
#define EXPERIMENTS_BILL_H

/** The round-trip bill of a script: one simulated run, with all that was said between client and server. */

#include "experiments/keys.h"
#include "experiments/workload.h"
#include "sim/world/pairs.h"

/** A command of the script, or once more in a loop. */
struct lab_bill_step {
	uint32_t job;
	uint64_t number; /* the loop's */
	enum smb_ops_error error;
	uint64_t begun_ns, ended_ns;
	guint first, end; /* of `pairs`: said while it ran, what was put off before included */
};

struct lab_bill {
	struct sim_point *point;
	struct sim_result *result;
	GArray *pairs; /* struct sim_pair, of the whole run */
	GArray *steps; /* struct lab_bill_step */
	GPtrArray *lines; /* char *: each job as typed */
	guint given_names; /* of the point's workload; those behind are assumed */
};

/** Run `text` on the machines that `values` describe; `around` says what is on the share. LAB_ERROR_USAGE: values or
 *  text are wrong, or make no sense together; LAB_ERROR_ENVIRONMENT: the run did not come to its end. */
struct lab_bill *lab_bill_run(const char *text, const struct lab_values *values, const struct lab_surroundings *around,
			      GError **error);
void lab_bill_free(struct lab_bill *bill);

#endif
