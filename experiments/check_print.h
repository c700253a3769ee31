/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_CHECK_PRINT_H
#define EXPERIMENTS_CHECK_PRINT_H

/** What `smblab check` tells on standard output. */

#include "experiments/check_config.h"
#include "model/explore.h"

/** The last line says what came of it, or which bound was reached. */
void lab_check_print_text(const struct lab_check *check, struct model *model, const struct model_result *result);
void lab_check_print_json(const struct lab_check *check, struct model *model, const struct model_result *result);

#endif
