/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_BENCH_SPIN_HOST_H
#define MODEL_BENCH_SPIN_HOST_H

/** The model inside of Spin: what spin_host.pml calls. */

#include "model/model.h"

/** The state that Spin is in; it copies it away and back, and tells states apart by it. */
extern struct model_state host_state;

/** Can the move with this number happen in host_state, which is `depth` steps from the first one? */
int host_can(long depth, unsigned int number);
/** Do it. */
void host_do(long depth, unsigned int number);

#endif
