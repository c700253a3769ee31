/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_CHECK_CONFIG_H
#define EXPERIMENTS_CHECK_CONFIG_H

/**
 * Configs of `smblab check`: the client and the server as other configs describe them, and what the model checker needs
 * beside that: threads, what the server may choose, what may go wrong how often.
 */

#include "experiments/value.h"
#include "model/config.h"
#include "sim/world/world.h"

struct lab_check {
	char *path;
	char *title;
	char *given; /* all keys that were given, a line each, in their order */
	struct model_config model;
	struct sim_point *point; /* client, server and network as `smblab run` would have them; without a workload */
};

/** Read a config; each of `sets` (may be NULL) is SECTION.KEY=VALUE and replaces what the file says. LAB_ERROR_USAGE
 *  names file, line, key and the nearest known key. */
struct lab_check *lab_check_load(const char *path, char **sets, GError **error);
/** The same with the file's text given. */
struct lab_check *lab_check_parse(const char *path, const char *text, char **sets, GError **error);
void lab_check_free(struct lab_check *check);

/** An error of the model as one of the program: what a user gave is to blame. Takes and returns ownership. */
GError *lab_check_error(GError *error);

/** A key that only check configs have. */
struct lab_check_key {
	const char *section;
	const char *name;
	const char *tells; /* meaning, one line */
	const char *values; /* "any|kept", "number", ... */
	const char *fallback;
};
const struct lab_check_key *lab_check_keys(guint *count);

#endif
