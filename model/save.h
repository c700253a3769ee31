/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_SAVE_H
#define MODEL_SAVE_H

/**
 * A search that was stopped goes on from a file, to the same end as if it had never been stopped: the same states,
 * transitions, ends and verdict, and breadth first the same depth and a counterexample as short.
 *
 * In the file: the states seen, those that wait, the parts that they are made of, what events do to them, what was
 * counted, and with liveness the transitions.
 */

#include <glib.h>
#include <stdbool.h>

struct model_saving {
	const char *path; /* written when the search ends by a bound or because it was asked to; NULL: never */
	bool is_default; /* nobody named that file: it is not written when a bound is reached, and its directory is made */
	const char *resume; /* go on from this file; NULL: begin at the first state */
	const char *program; /* any text; a file that was written with another one is refused */
	const char *config; /* the same, for the config; only its hash is in the file */
	const char *title; /* the config's, for people */
	const volatile bool *give_up; /* may be NULL; once true, writing ends, and the file from before stays */
};

/** Could model_saving.path be written? Before hours are spent. MODEL_ERROR_WRITE, or MODEL_ERROR_FILE when something
 *  else has that name. */
bool model_save_may_write(const struct model_saving *saving, GError **error);

#endif
