/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_PROGRESS_H
#define EXPERIMENTS_PROGRESS_H

/** Progress on standard error: a bar with the time left on a terminal, a plain line per tenth elsewhere. */

#include <glib.h>
#include <stdbool.h>

struct lab_progress {
	const char *what; /* "point", "evaluation" */
	guint total, done;
	gint64 began_us;
	bool terminal;
	guint tenths_told;
};

void lab_progress_begin(struct lab_progress *progress, const char *what, guint total);
void lab_progress_step(struct lab_progress *progress);
void lab_progress_end(struct lab_progress *progress);

/** The bar as text, e.g. "[=====     ] 12/24 points, 0:34 left"; for tests. `elapsed_s`: since the beginning. */
char *lab_progress_text(const struct lab_progress *progress, double elapsed_s);

#endif
