/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_KEYS_FAULTS_H
#define EXPERIMENTS_KEYS_FAULTS_H

/**
 * Keys whose values are lists: links of different speed, and what goes wrong when. Items are separated by ';' or ','
 * (in [sweep], where ';' separates values, by ',').
 */

#include "experiments/keys.h"

/** One rate per NIC; their number is the number of NICs. */
bool lab_set_nic_rates(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
/** One switch per NIC. */
bool lab_set_nic_rss(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
/** INDEX@TIME items; the key's name says of what kind. */
bool lab_set_faults(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);
/** Do the faults name NICs that exist? */
bool lab_faults_check(const struct sim_point *point, GError **error);

#endif
