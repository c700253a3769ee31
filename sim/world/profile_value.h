/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_PROFILE_VALUE_H
#define SIM_WORLD_PROFILE_VALUE_H

/** The values of a profile file as text and as fields; private to profile.c. */

#include <glib.h>
#include <stdbool.h>

enum sim_profile_kind {
	SIM_PROFILE_COUNT,
	SIM_PROFILE_BYTES,
	SIM_PROFILE_TIME, /* whole nanoseconds */
	SIM_PROFILE_COST, /* nanoseconds, a double */
	SIM_PROFILE_SPEED, /* bytes per second, a double */
	SIM_PROFILE_RATE, /* bits per second */
	SIM_PROFILE_DIALECT,
	SIM_PROFILE_CAPABILITIES,
	SIM_PROFILE_INTERIM,
};

/** Parse into an unsigned field of `size` bytes (2, 4, 8) or a double. The message says what is wrong, not where. */
bool sim_profile_value_parse(enum sim_profile_kind kind, gsize size, const char *text, void *field, GError **error);
/** The text that parses to the same value; free with g_free. */
char *sim_profile_value_print(enum sim_profile_kind kind, gsize size, const void *field);

#endif
