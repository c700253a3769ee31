/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_RESULT_JSON_H
#define EXPERIMENTS_RESULT_JSON_H

/** struct sim_result as JSON and back, exact to the bit: what the result store keeps. wall_seconds is left out. */

#include "experiments/value.h"
#include "sim/world/world.h"

char *lab_result_to_json(const struct sim_result *result);
bool lab_result_from_json(const char *json, struct sim_result *result, GError **error);

#endif
