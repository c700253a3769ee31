/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Threads that do the same can be taken for each other: of the states that differ only in which of them is how far, one
 * is looked at.
 *
 * Nothing but the states of the threads themselves knows their numbers: the client core knows an operation by its own
 * number, which the thread keeps, and what a thread may start depends on all others alike. Only a thread that writes is
 * told apart, by what it writes (model_source_of_step), and one that calls fsync by what it wrote; so they are taken for
 * no other. Hence sorting the states of the threads that do the same, when a client side is kept, gives all that can be
 * swapped into each other one form.
 *
 * A trace of such forms is none of the threads as they are. So the way to a fault is gone again without symmetry, and
 * each move names the thread that stands there.
 */

#include "model/explore_internal.h"
#include "model/internal.h"

#include <string.h>

static bool same_command(const struct smb_ops_command *a, const struct smb_ops_command *b)
{
	return a->kind == b->kind && a->bytes == b->bytes && a->mode == b->mode && !strcmp(a->source, b->source) &&
	       !strcmp(a->target, b->target);
}

static bool same_step(const struct model_step *a, const struct model_step *b)
{
	if (a->kind != b->kind || a->kind == MODEL_STEP_WRITE || a->kind == MODEL_STEP_FSYNC)
		return false;
	if (a->kind == MODEL_STEP_COMMAND)
		return same_command(&a->command, &b->command);
	return a->file == b->file && a->offset == b->offset && a->length == b->length && a->access == b->access &&
	       a->direct == b->direct;
}

static bool does_the_same(const struct model_thread *a, const struct model_thread *b)
{
	if (a->steps != b->steps)
		return false;
	for (uint32_t s = 0; s < a->steps; s++) {
		if (!same_step(&a->step[s], &b->step[s]))
			return false;
	}
	return true;
}

static uint32_t progress_of(const struct model_client_head *head, uint32_t thread)
{
	const struct model_thread_state *state = &head->thread[thread];

	return (uint32_t)state->step << 24 | (uint32_t)state->is_running << 16 | state->op;
}

/* Which thread stands at each place when those that do the same are in order. */
static void order_of(const struct model_config *config, const struct model_client_head *head,
		     uint32_t order[MODEL_THREADS_MAX])
{
	for (uint32_t t = 0; t < config->threads; t++)
		order[t] = t;
	for (uint32_t t = 0; t < config->threads; t++) {
		for (uint32_t other = t + 1; other < config->threads; other++) {
			uint32_t here = order[t];

			if (!does_the_same(&config->thread[t], &config->thread[other]) ||
			    progress_of(head, order[other]) >= progress_of(head, here))
				continue;
			order[t] = order[other];
			order[other] = here;
		}
	}
}

void model_symmetry_sort(const struct model_config *config, struct model_client_head *head)
{
	struct model_thread_state before[MODEL_THREADS_MAX];
	uint32_t order[MODEL_THREADS_MAX];

	memcpy(before, head->thread, sizeof(before));
	order_of(config, head, order);
	for (uint32_t t = 0; t < config->threads; t++)
		head->thread[t] = before[order[t]];
}

/* Each thread can stand at as many places as there are threads before it that do the same, and its own; of those that
 * are equally far the order does not matter. */
uint32_t model_symmetry_orbit(const struct model_config *config, const struct model_client_head *head)
{
	uint32_t orders = 1, alike = 1;

	for (uint32_t t = 0; t < config->threads; t++) {
		uint32_t same = 1, equal = 1;

		for (uint32_t other = 0; other < t; other++) {
			if (!does_the_same(&config->thread[t], &config->thread[other]))
				continue;
			same++;
			equal += progress_of(head, t) == progress_of(head, other);
		}
		orders *= same;
		alike *= equal;
	}
	return orders / alike;
}

uint32_t model_state_orbit(const struct model *model, const struct model_state *state)
{
	return model_client_ports(model, state->client)->orbit;
}

static void name_thread(const struct model_config *config, struct model_worker *worker, const struct model_state *state,
			struct model_move *move)
{
	uint32_t order[MODEL_THREADS_MAX];

	if ((move->kind != MODEL_MOVE_START && move->kind != MODEL_MOVE_CANCEL) || move->argument == MODEL_SYSTEM)
		return;
	model_client_unpack(worker, state->client);
	order_of(config, (const struct model_client_head *)(const void *)worker->client, order);
	move->argument = order[move->argument];
}

struct model *model_without_symmetry(const struct model *model)
{
	struct model_config config = *model_config_of(model);

	config.symmetry = false;
	return model_new(&config, NULL);
}

void model_symmetry_unfold(const struct model *model, GArray *trace, struct model_fault_found *found)
{
	struct model *plain = model_without_symmetry(model);
	struct model_worker *worker = model_worker_new(plain);
	struct model_state state, next;
	bool holds = true;

	model_first_state(plain, &state);
	for (guint i = 0; i < trace->len; i++) {
		struct model_move *move = &g_array_index(trace, struct model_move, i);

		g_assert(holds);
		name_thread(&model->config, worker, &state, move);
		holds = model_do(worker, &state, *move, &next);
		state = next;
	}
	if (holds)
		holds = model_check_end(worker, &state);
	g_assert(!holds);
	*found = *model_broken(worker);
	model_worker_free(worker);
	model_free(plain);
}
