/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which kinds of faults and freedoms a model has, and which of them ever happened. */

#include "model/internal.h"

const struct model_done *model_worker_done(const struct model_worker *worker)
{
	return &worker->done;
}

void model_done_add(struct model_done *to, const struct model_done *more)
{
	for (int kind = 0; kind < MODEL_MOVES; kind++) {
		for (int choice = 0; choice < MODEL_CHOICES; choice++)
			to->moves[kind][choice] += more->moves[kind][choice];
	}
	for (int fault = 0; fault < MODEL_FAULTS; fault++)
		to->faults[fault] += more->faults[fault];
}

static uint64_t moved(const struct model_done *done, enum model_move_kind kind)
{
	uint64_t count = 0;

	for (int choice = 0; choice < MODEL_CHOICES; choice++)
		count += done->moves[kind][choice];
	return count;
}

static uint64_t chosen(const struct model_done *done, enum model_choice_kind choice)
{
	uint64_t count = 0;

	for (int kind = 0; kind < MODEL_MOVES; kind++)
		count += done->moves[kind][choice];
	return count;
}

static bool is_allowed(const struct model_config *config, enum model_fault fault)
{
	return config->faults[fault] || (fault == MODEL_FAULT_REFUSE && config->never_back);
}

uint32_t model_kinds(const struct model_config *config, const struct model_done *done,
		     struct model_kind kinds[MODEL_KINDS_MAX])
{
	const struct model_freedom *freedom = &config->freedom;
	const struct model_kind freedoms[] = {
		{ "steps", config->threads > 0, moved(done, MODEL_MOVE_START) },
		{ "order", freedom->any_order, done->moves[MODEL_MOVE_WORK][MODEL_CHOICE_NONE] },
		{ "grants", freedom->grants > 0, chosen(done, MODEL_CHOICE_GRANT) },
		{ "interims", freedom->interim, chosen(done, MODEL_CHOICE_INTERIM) },
		{ "splits", freedom->split, chosen(done, MODEL_CHOICE_SPLIT) },
		{ "spreads", freedom->spread, chosen(done, MODEL_CHOICE_SPREAD) },
	};
	uint32_t count = 0;

	G_STATIC_ASSERT(G_N_ELEMENTS(freedoms) + MODEL_FAULTS <= MODEL_KINDS_MAX);
	while (count < G_N_ELEMENTS(freedoms)) {
		kinds[count] = freedoms[count];
		count++;
	}
	for (int i = 0; i < MODEL_FAULTS; i++) {
		enum model_fault fault = (enum model_fault)i;

		kinds[count++] = (struct model_kind){ model_fault_name(fault), is_allowed(config, fault),
						      done->faults[fault] };
	}
	return count;
}
