/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * smb_model_spin SYSTEM remember|forget STATES: Spin's verifier over the model, linked with the cores. Ends after so many
 * states (0: when all were seen) and prints "states N transitions N complete 0|1".
 */

#include "model/bench/spin_host.h"

#include "model/internal.h"
#include "model/tests/systems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOVES 24 /* options of spin_host.pml */
#define DEPTH_MAX 200000 /* of Spin's stack; the option -m below */

int pan_main(int argc, char *argv[]);
extern double nstates; /* of pan.c: states stored */

/* The moves of the states on Spin's stack, by depth. */
struct level {
	struct model_state of;
	uint32_t count;
	struct model_move moves[MOVES];
};

struct model_state host_state;

static struct {
	struct model *model;
	struct model_worker *worker;
	struct level *levels;
	long depths; /* levels there are; Spin has not been deeper */
	uint64_t transitions;
	double states_max;
	bool is_cut;
} host;

static struct level *level_at(long depth)
{
	long depths = host.depths;

	if (depth >= depths) {
		host.depths = MAX(2 * depths, depth + 1024);
		host.levels = g_renew(struct level, host.levels, host.depths);
		memset(host.levels + depths, 0, (size_t)(host.depths - depths) * sizeof(struct level));
	}
	return &host.levels[depth];
}

/* Spin asks for number 0 first, whenever it comes to a state. */
static void look(struct level *level)
{
	struct model_move moves[MODEL_MOVES_MAX];

	if (!memcmp(&level->of, &host_state, sizeof(host_state)))
		return;
	level->of = host_state;
	level->count = model_moves(host.worker, &host_state, moves);
	g_assert(level->count <= MOVES);
	memcpy(level->moves, moves, level->count * sizeof(moves[0]));
	if (level->count || model_check_end(host.worker, &host_state))
		return;
	fprintf(stderr, "%s: %s\n", model_broken(host.worker)->rule, model_broken(host.worker)->text);
	exit(1);
}

int host_can(long depth, unsigned int number)
{
	struct level *level = level_at(depth);

	if (!number)
		look(level);
	return number < level->count;
}

void host_do(long depth, unsigned int number)
{
	struct model_state next;

	if (host.states_max > 0 && nstates >= host.states_max) {
		host.is_cut = true;
		exit(0);
	}
	host.transitions++;
	if (!model_do(host.worker, &host_state, level_at(depth)->moves[number], &next)) {
		fprintf(stderr, "%s: %s\n", model_broken(host.worker)->rule, model_broken(host.worker)->text);
		exit(1);
	}
	host_state = next;
}

static void tell(void)
{
	printf("states %.0f transitions %" G_GUINT64_FORMAT " complete %d\n", nstates, (guint64)host.transitions,
	       !host.is_cut && host.depths < DEPTH_MAX);
}

static void start(const struct model_config *config, bool remembers)
{
	GError *error = NULL;

	host.model = model_new(config, &error);
	if (!host.model)
		g_error("%s", error->message);
	host.worker = model_worker_new(host.model);
	if (!remembers)
		model_worker_forget(host.worker);
	model_first_state(host.model, &host_state);
}

int main(int argc, char **argv)
{
	char *pan[] = { argv[0], "-m200000", "-w22", NULL };
	struct model_config config;

	if (argc != 4 || !system_find(argv[1], &config)) {
		fprintf(stderr, "usage: %s SYSTEM remember|forget STATES\n", argv[0]);
		return 2;
	}
	host.states_max = strtod(argv[3], NULL);
	start(&config, !strcmp(argv[2], "remember"));
	atexit(tell);
	return pan_main(3, pan);
}
