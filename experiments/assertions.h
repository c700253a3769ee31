/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_ASSERTIONS_H
#define EXPERIMENTS_ASSERTIONS_H

/** From now on a core that stops itself with an assertion breaks a rule of the model checker, or of a directed run, and
 *  ends the program only elsewhere. */
void lab_assertions_take(void);

#endif
