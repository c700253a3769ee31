/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_CHECK_KIT_H
#define EXPERIMENTS_CHECK_KIT_H

/** What `smblab check` writes about a model: the counterexample kit, and the graph of all states. */

#include "experiments/check_config.h"
#include "model/explore.h"

/** out/check-NAME for .../NAME.ini. Caller frees. */
char *lab_kit_directory(const char *config_path);
/** Write the kit of a broken result and say on standard error where it is. `sets` as for lab_check_load. */
bool lab_kit_write(const char *directory, const char *config_path, char **sets, struct model *model,
		   const struct model_result *result, GError **error);
/** Write the graph of all states to `path`. */
bool lab_graph_write(const char *path, struct model *model, GError **error);

#endif
