/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_TESTS_SAVING_H
#define MODEL_TESTS_SAVING_H

/** Searches that are saved in a directory of their own. */

#include "model/explore.h"

struct scratch {
	char *directory;
	char *file; /* in it */
};
struct scratch scratch_new(void);
/** How many files there are. */
guint scratch_files(const struct scratch *scratch);
/** Nothing but the file may be left. */
void scratch_clear(struct scratch *scratch);

/** Without files. */
extern const struct model_saving saving_plain;
struct model_result saving_explore(const struct model_config *config, const struct model_options *options);
/** One run, from the file when there is one, and with the file written at its end. */
struct model_result saving_go_on(const struct model_config *config, const struct model_options *options,
				 const struct scratch *scratch);

#endif
