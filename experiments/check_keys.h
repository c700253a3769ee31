/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_CHECK_KEYS_H
#define EXPERIMENTS_CHECK_KEYS_H

/** The keys that only check configs have, and the config while it is being read. */

#include "experiments/check_config.h"
#include "experiments/keys.h"

struct lab_check_draft {
	struct lab_check *check;
	struct lab_values values; /* of keys that all configs have */
	uint32_t window;
	enum { LAB_CHECK_LEASES_AS_PROFILE, LAB_CHECK_LEASES, LAB_CHECK_OPLOCKS } leases;
	uint32_t interfaces;
	uint32_t interfaces_down;
	uint64_t interface_bps;
};

/** Give `key` of lab_check_keys() a value. Keys are given in their order. */
bool lab_check_key_set(struct lab_check_draft *draft, guint key, const char *text, GError **error);

#endif
