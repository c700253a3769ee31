/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_COMMAND_CHECK_MUTANTS_H
#define EXPERIMENTS_COMMAND_CHECK_MUTANTS_H

/** The part of `smblab check` that is about mutants (mutants.h). */

#include <glib.h>

struct lab_mutants_options {
	const char *config; /* in place of the one that the mutant names; NULL. Not with several */
	char **sets; /* --set, for a single mutant; NULL: none */
	int jobs; /* of several: processes at a time; 0 = one per core */
	guint64 max_states; /* bound of each; 0 = none; of several BUG_STATES and CONTROL_STATES */
};

/** Check the mutant `name`, which then speaks for itself, or several: "all", or names with commas between them. Of these
 *  a line each and the score; the exit code is 1 when a bug survives or is killed by another rule than its patch names,
 *  or a control is reported, or more of all bugs than is right are not expressible. */
int lab_check_mutants(const char *name, const struct lab_mutants_options *options);

#endif
