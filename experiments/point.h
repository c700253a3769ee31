/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_POINT_H
#define EXPERIMENTS_POINT_H

/** From given texts to one struct sim_point, and the identity of that point. */

#include "experiments/keys.h"

struct lab_build_report {
	int key; /* the key to blame when building failed; -1 = none in particular */
	struct smb_mount_report mount; /* options without effect here, for the log */
};

/** Put the point together: defaults, then each given text in table order, then the mount string and the command.
 *  LAB_ERROR_USAGE: a text that is wrong by itself. LAB_ERROR_IMPOSSIBLE: texts that are fine one by one and make no
 *  sense together, among them a mount that the kernel would refuse. */
bool lab_point_build(const struct lab_values *values, const char *directory, struct sim_point *point,
		     struct lab_build_report *report, GError **error);

/** The same without workload.command: the machines between which something shall run. */
bool lab_point_build_machines(const struct lab_values *values, const char *directory, struct sim_point *point,
			      struct lab_build_report *report, GError **error);

/** Is the text of one key right by itself? Used when a config is read, before anything is built. */
bool lab_point_check(guint key, const char *text, const char *directory, GError **error);

/** SHA-256 (hex) over everything that can change the point's result: its values in force, and the code that computes
 *  it (program version and lab_model_hash). A point that could not be built (`built`
 *  false) is known by the texts given for it. */
char *lab_point_identity(const struct sim_point *point, const struct lab_values *values, bool built);

#endif
