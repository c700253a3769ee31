/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_TESTS_OPS_PEER_H
#define SIM_WORLD_TESTS_OPS_PEER_H

/** Bills on the share that the captures' script found; whatever cannot be done fails the test. */

#include "sim/world/tests/bill.h"

/** Mounted with this kernel and these options. The pairs are those of the mount. */
struct sim_bill *peer_new(const char *kernel, const char *mount);
struct sim_bill *peer_new_with(const struct smb_policy *policy, const char *mount);

/** Run a command line below /mnt until it returns; local files have ten bytes. */
enum smb_ops_error peer_run(struct sim_bill *bill, const char *line);
void peer_wait(struct sim_bill *bill, uint64_t ns);

#endif
