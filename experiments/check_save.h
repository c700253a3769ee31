/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_CHECK_SAVE_H
#define EXPERIMENTS_CHECK_SAVE_H

/**
 * `smblab check --save` and `--resume`: in which file a search that has ended early is kept, and the command line that
 * goes on from there. A search that is interrupted is kept, too, when no file was named: in the one it was resumed from,
 * else in out/check-NAME.states, or out/check-NAME-2.states and so on, whichever is not there yet.
 */

#include "experiments/check_config.h"
#include "model/explore.h"

struct lab_save_options {
	const char *save; /* NULL: not given */
	const char *resume; /* NULL: not given */
	char **arguments; /* lab_save_arguments */
	const volatile bool *give_up; /* see model_saving */
	bool only_named; /* nothing is kept in a file that was not named */
};

struct lab_save;

/** A copy of a command line, before anything is taken out of it. Caller frees with g_strfreev. */
char **lab_save_arguments(int argc, char **argv);

/** `check` and what `options` point to stay as long as this. */
struct lab_save *lab_save_new(const struct lab_check *check, const struct lab_save_options *options);
void lab_save_free(struct lab_save *save);
/** For model_options.saving. */
const struct model_saving *lab_save_how(const struct lab_save *save);
/** Can the file that was named be written? Nothing is left of the attempt. */
bool lab_save_may_write(const struct lab_save *save, GError **error);
/** Say on standard error where the search was kept and how to go on, or why it was not. Returns the exit code: `code`,
 *  or another one when the file that was named could not be written. */
int lab_save_tell(const struct lab_save *save, struct model_result *result, int code);

#endif
