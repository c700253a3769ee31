/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_PARAMETERS_H
#define EXPERIMENTS_PARAMETERS_H

/**
 * Parameter files: fitted or agreed values, apart from any experiment. The format is that of a config, with the
 * sections [client], [server] and [network] alone. A config takes all of one with `include=FILE` in [experiment], or
 * the client's costs alone with `costs=FILE` in [client]. `smblab calibrate --write FILE` writes one.
 */

#include "experiments/keys.h"

/** Values of `path` (relative to `directory`) into `values`. LAB_ERROR_USAGE. */
bool lab_parameters_load(const char *path, const char *directory, struct lab_values *values, GError **error);

/** Write the keys `indexes` with their values in force at `point`, under a `# Source:` line and `comment` lines. */
bool lab_parameters_save(const char *path, const char *comment, const GArray *indexes, const struct sim_point *point,
			 const struct lab_values *values, GError **error);

/** Key of an entry of a config or parameter file. -1 with LAB_ERROR_USAGE naming file, line and the nearest key. */
struct lab_entry;
int lab_parameters_key(const char *path, const struct lab_entry *entry, const char *dotted, GError **error);

#endif
