/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_KIT_KIT_H
#define REPORTS_KIT_KIT_H

/**
 * The counterexample kit: one directory with all that is needed to see, replay and hand on a fault.
 *
 *   trace.txt      one line per step, with the credits of both sides and the MessageId window
 *   trace.pcapng   the PDUs as a capture, with a comment at the one that breaks the rule
 *   trace.svg      sequence chart with the credits beside each arrow
 *   graph.svg      the neighbourhood of the fault among the states (graph.dot where Graphviz is missing)
 *   replay.smblab  config and moves, for `smblab replay`
 */

#include "reports/kit/replay_file.h"
#include "reports/kit/walk.h"

/** False: there is something else in `directory` (MODEL_ERROR_FILE). */
bool kit_may_write(const char *directory, GError **error);
/** Write the kit into `directory`, whole or not at all. A kit that is there already is replaced, any other directory
 *  that is not empty is refused. `*note` is set when something is missing in it, else NULL. */
bool kit_write(const char *directory, const struct kit_walk *walk, const struct kit_origin *origin, char **note,
	       GError **error);

/* The files. Caller frees. */
GString *kit_trace(const struct kit_walk *walk, const struct kit_origin *origin);
GByteArray *kit_capture(const struct kit_walk *walk, const struct kit_origin *origin);
GString *kit_chart(const struct kit_walk *walk);

/** One line about the step: what happened and what was sent. Caller frees. */
char *kit_step_line(const struct kit_walk *walk, guint step);
/** Where it goes round: which steps repeat; NULL: it does not. Caller frees. */
char *kit_repeats_line(const struct kit_walk *walk);
/** How it ends: "C6 is broken: ...", or that nothing is broken. Caller frees. */
char *kit_last_line(const struct kit_walk *walk);

#endif
