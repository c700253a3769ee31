/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_TESTS_OPS_ROWS_H
#define SIM_WORLD_TESTS_OPS_ROWS_H

/** The script behind captures/ops-*.tsv: what it typed for each row, in order. */

#include "sim/world/tests/ops_peer.h"

struct ops_row {
	const char *op; /* the row; NULL ends the table */
	const char *seen; /* typed three seconds before; NULL = nothing */
	const char *line;
};

extern const struct ops_row ops_rows[];

/** Prepare, forget the pairs so far, run the row and wait as the script did. Returns how many pairs the command had
 *  when it returned; what came later is behind them. */
guint ops_row_run(struct sim_bill *bill, const struct ops_row *row);
/** Commands separated by ';'. */
void ops_lines_run(struct sim_bill *bill, const char *lines);

#endif
