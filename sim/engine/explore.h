/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_ENGINE_EXPLORE_H
#define SIM_ENGINE_EXPLORE_H

/**
 * A run whose order somebody else chooses: SimGrid's own model checker, simgrid-mc, which runs the program once for each
 * order in which its actors can call SimGrid. It sees mutexes and semaphores, but neither time, nor executions, nor
 * transfers, nor the memory that threads share. So, in such a run:
 *
 * - A thread holds one mutex, the baton, from the end of each call marked [blocks] to the next one; who gets it next is
 *   what is chosen. All that threads share is touched by who holds it, so that no two orders are taken for one.
 * - Each turn of a thread takes a nanosecond. When all threads sleep, time passes to the next limit of a wait or end of a
 *   sleep, unless that is 10 s away or more: then nothing is left that could happen, and simgrid-mc reports a deadlock.
 *   `alarms` times in a run, the next limit is reached at any moment, however far away.
 * - Threads that are there before the run begin one after another; others when it is their turn.
 * - Processors cost nothing, wires have no rate, paths no delay: an execution or a transfer would never end.
 *
 * Without simgrid-mc such a run is one of its orders.
 */

#include "sim/engine/engine.h"

struct sim_exploration {
	const struct sim_topology *platform; /* has the hosts of the engine that is made in `main` */
	uint32_t alarms; /* how many limits are reached at any moment */
	void (*main)(void *arg); /* makes an engine, runs it and frees it, as ever */
	void *arg;
};

/** False: an environment error, or a run in which all threads wait. Returns after one run; never under simgrid-mc. */
bool sim_explore(const struct sim_exploration *exploration, GError **error);
/** In `main`: a property that has to hold in each run. Without simgrid-mc a false one ends the program. */
void sim_explore_require(bool holds);

#endif
