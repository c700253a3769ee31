/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_KIT_REPLAY_FILE_H
#define REPORTS_KIT_REPLAY_FILE_H

/**
 * replay.smblab: a run of the model checker that can be gone through again. Plain text, one item per line:
 *
 *   smblab-replay 1
 *   program VERSION
 *   model HASH            of the sources that decide what a config means
 *   config PATH           where the config was; relative names in it are looked up beside it
 *   set SECTION.KEY=VALUE values that replaced those of the config; any number of lines
 *   | TEXT                the config, line by line
 *   rule C6               what the run breaks
 *   fault TEXT
 *   move LINE             one per step
 *   end N                 number of moves
 */

#include "model/model.h"

/** Where a run comes from. */
struct kit_origin {
	char *program; /* version */
	char *model; /* hash */
	char *config; /* path */
	char *text; /* of the config */
	char **sets; /* may be NULL */
};
void kit_origin_clear(struct kit_origin *origin);

struct kit_replay {
	struct kit_origin origin;
	char *rule;
	char *fault;
	GArray *moves; /* struct model_move */
	GArray *lines; /* guint: the line of each move, from 1 */
};

GString *kit_replay_write(const struct kit_origin *origin, const struct model *model, const GArray *moves,
			  const struct model_fault_found *found);
/** NULL: the text is no replay, MODEL_ERROR_FILE says what is wrong in which line of `name`. */
struct kit_replay *kit_replay_parse(const char *name, const char *text, gsize length, GError **error);
void kit_replay_free(struct kit_replay *replay);

#endif
