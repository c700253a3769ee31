/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_VERSION_H
#define EXPERIMENTS_VERSION_H

/** Which program computed a result. Only version.c knows the generated header, so a commit rebuilds one file. */

#define LAB_VERSION (lab_version())

const char *lab_version(void);
/** git revision of the source tree, "-dirty" behind it when files differ; "unknown" outside git. */
const char *lab_git_revision(void);
/** SHA-256 (hex) over the sources of protocol/ and sim/ and over those that turn a config into points: changes when,
 *  and only when, results may change. */
const char *lab_model_hash(void);
/** The same over what decides where the moves of a counterexample lead: protocol/, sim/server/, model/, and what turns a
 *  config into a model; with the bug's name behind it when this is the program of a mutant. */
char *lab_check_identity(void);

#endif
