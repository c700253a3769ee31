/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_REPLAY_CAPTURE_H
#define EXPERIMENTS_REPLAY_CAPTURE_H

/**
 * The capture of a counterexample as somebody else sees it: tshark takes trace.pcapng apart, and the rule monitor is told
 * of what it finds, connection by connection, PDU by PDU. Only rules that show on the wire can be found so.
 */

#include "reports/kit/walk.h"

struct lab_capture_verdict {
	guint frames;
	guint pdus;
	guint marked; /* number of the frame that has the comment; 0: none has */
	bool is_broken;
	guint frame; /* whose PDU breaks the rule first */
	char rule[12];
	char text[256];
};

/** LAB_ERROR_ENVIRONMENT: there is no tshark, or it cannot read the file. */
bool lab_replay_capture(const char *path, const struct kit_walk *walk, struct lab_capture_verdict *verdict,
			GError **error);

#endif
