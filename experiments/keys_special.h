/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_KEYS_SPECIAL_H
#define EXPERIMENTS_KEYS_SPECIAL_H

/** Keys that are more than one field of struct sim_point; internal to the key table and the point builder. */

#include "experiments/keys.h"

#define LAB_DEFAULT_KERNEL "6.1"
#define LAB_DEFAULT_PROFILE "samba-4.17"
#define LAB_DEFAULT_MOUNT "vers=3.1.1"

bool lab_set_kernel(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
bool lab_set_policy(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
bool lab_set_mount(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
bool lab_set_mount_vers(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
bool lab_set_mount_size(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
bool lab_set_mount_channels(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
bool lab_set_costs(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
bool lab_set_profile(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
bool lab_set_preset(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
bool lab_set_rtt(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
bool lab_set_mountpoint(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
bool lab_set_file_size(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
/** prepare, files, directories and missing of [workload]. */
bool lab_set_share(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
bool lab_set_command(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);

/** Parse by the key's type, word for zero and range. */
bool lab_key_number(const struct lab_key *key, const char *text, double *number, GError **error);
void lab_key_store(const struct lab_key *key, struct sim_point *point, double number);

#endif
