/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_TESTS_SYSTEMS_H
#define MODEL_TESTS_SYSTEMS_H

/** Small systems for tests and benchmarks. */

#include "model/model.h"

/** One file of 128 KiB, two threads that read it over `channels` channels; credits_max as given, any order. */
void system_two_readers(struct model_config *config, uint32_t channels, uint16_t credits_max);

/** experiments/check/compound.ini. */
void system_compound(struct model_config *config);
/** "compound", or CHANNELS "-channels-" CREDITS for two readers. False: there is none of that name. */
bool system_find(const char *name, struct model_config *config);

#endif
