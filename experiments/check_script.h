/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_CHECK_SCRIPT_H
#define EXPERIMENTS_CHECK_SCRIPT_H

/** The files and the threads of a check config. */

#include "experiments/value.h"
#include "model/config.h"

/** PATH[=SIZE];... */
bool lab_check_files(struct model_config *model, const char *text, bool are_directories, GError **error);

/**
 * The steps of thread `thread`, separated by ';':
 *   open FILE [write|readwrite] [direct], read FILE OFFSET LENGTH, write FILE OFFSET LENGTH, fsync FILE, close FILE,
 *   sh COMMAND (a shell command on a share that is mounted on /mnt).
 */
bool lab_check_thread(struct model_config *model, uint32_t thread, const char *text, GError **error);

/** When all threads are known: what a step needs open some thread opens, for writing where it writes. */
bool lab_check_opens(const struct model_config *model, GError **error);

#endif
