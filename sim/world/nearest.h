/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_NEAREST_H
#define SIM_WORLD_NEAREST_H

#include <glib.h>

/** Of `names` (`count` of them), the one nearest to `word`; NULL when none is near enough to be a slip of it. */
const char *sim_nearest(const char *word, const char *const *names, guint count);

#endif
