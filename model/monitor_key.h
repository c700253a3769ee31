/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_MONITOR_KEY_H
#define MODEL_MONITOR_KEY_H

/** The monitor's state as far as it matters for what it will say from now on. */

#include "model/hash.h"
#include "protocol/monitor/monitor.h"

struct model_hash model_monitor_key(const struct smb_monitor *monitor, struct model_hash hash);

#endif
