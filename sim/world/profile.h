/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_PROFILE_H
#define SIM_WORLD_PROFILE_H

/**
 * Server profiles as files: NAME.ini in GKeyFile syntax, every field of struct smb_server_profile a key.
 *
 * Groups [limits], [credits], [service], [costs], [storage] must be complete, so that no value of a profile is hidden;
 * [network] is optional. Sizes take K, M, G (1024), times ns, us, ms, s, rates Mbit, Gbit (1000); a number without a
 * unit is in the unit that the key's name or the header states.
 */

#include "sim/server/profile.h"

#include <glib.h>

/** What the file says about the way to such a server; 0 = it does not say. */
struct sim_profile_network {
	uint64_t rtt_ns;
	uint64_t rate_bps; /* headers included */
};

#define SIM_PROFILE_ERROR (g_quark_from_static_string("sim-profile-error"))
enum sim_profile_error {
	SIM_PROFILE_ERROR_NOT_FOUND, /* no such profile; the message lists those there are */
	SIM_PROFILE_ERROR_SYNTAX,
	SIM_PROFILE_ERROR_KEY, /* unknown, missing or twice; names the nearest known key */
	SIM_PROFILE_ERROR_VALUE, /* not a number, out of range, impossible together */
	SIM_PROFILE_ERROR_WRITE,
};

/**
 * Read a profile: a path (with a '/' or ending in ".ini"), or a name to be looked for in $SMBLAB_PROFILE_DIR, the
 * source tree and the installed data, in this order. `profile->name` becomes the name without folder and ending.
 * `network` may be NULL. Nothing is written on failure. Messages name file, line and key.
 */
bool sim_profile_load(const char *name_or_path, struct smb_server_profile *profile, struct sim_profile_network *network,
		      GError **error);

/** Write a profile that sim_profile_load reads back to the same values; `network` may be NULL. `comment` (may be NULL)
 *  goes to the top of the file. */
bool sim_profile_save(const char *path, const struct smb_server_profile *profile,
		      const struct sim_profile_network *network, const char *comment, GError **error);

/** Names of all profiles that sim_profile_load finds by name, sorted, each once; free with g_strfreev. */
char **sim_profile_list(void);

#endif
