/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs that go round: a way to a circle, and the circle. It is fair when whatever can happen all the way round does
 * happen in it, faults aside: then nothing but the cores themselves keeps the run from coming to an end.
 */

#include "model/lasso.h"
#include "model/internal.h"

#define STEPS_MAX 2000 /* until a circle is fair */

static struct model_state *state_at(const GArray *states, guint index)
{
	return &g_array_index(states, struct model_state, index);
}

/* Choices about an answer aside. */
static bool is_same_move(struct model_move a, struct model_move b)
{
	return a.kind == b.kind && a.channel == b.channel && a.argument == b.argument;
}

/* What must not be put off for ever: no fault, and no choice. Returns how many. */
static uint32_t due_moves(struct model_worker *worker, const struct model_state *state,
			  struct model_move moves[MODEL_MOVES_MAX])
{
	uint32_t count = model_moves(worker, state, moves);
	uint32_t due = 0;
	struct model_state next;

	for (uint32_t i = 0; i < count; i++) {
		if (moves[i].choice)
			continue;
		model_do(worker, state, moves[i], &next);
		if (!memcmp(next.left, state->left, sizeof(next.left)))
			moves[due++] = moves[i];
	}
	return due;
}

static bool is_due(struct model_worker *worker, const struct model_state *state, struct model_move move)
{
	struct model_move moves[MODEL_MOVES_MAX];
	uint32_t due = due_moves(worker, state, moves);

	for (uint32_t i = 0; i < due; i++) {
		if (is_same_move(moves[i], move))
			return true;
	}
	return false;
}

static bool is_taken(const GArray *moves, guint from, struct model_move move)
{
	for (guint i = from; i < moves->len; i++) {
		if (is_same_move(g_array_index(moves, struct model_move, i), move))
			return true;
	}
	return false;
}

static bool is_fair(struct model_worker *worker, const GArray *states, const GArray *moves, guint from)
{
	struct model_move due[MODEL_MOVES_MAX];
	uint32_t count = due_moves(worker, state_at(states, from), due);

	for (uint32_t i = 0; i < count; i++) {
		guint at = from + 1;

		if (is_taken(moves, from, due[i]))
			continue;
		while (at < moves->len && is_due(worker, state_at(states, at), due[i]))
			at++;
		if (at >= moves->len)
			return false;
	}
	return true;
}

/* --------------------------------------------------------------------------------------------------- what never happens */

/* Of the threads, those at work all the way round; of the opens, those whose break is not acknowledged. */
static void look_round(const struct model *model, const GArray *states, guint from, uint8_t *running,
		       uint32_t *breaking)
{
	*running = UINT8_MAX;
	*breaking = UINT32_MAX;
	for (guint i = from; i < states->len; i++) {
		const struct model_server_ports *server = model_server_ports(model, state_at(states, i)->server);
		uint32_t open_breaks = 0;

		*running &= model_client_ports(model, state_at(states, i)->client)->running;
		for (uint32_t n = 0; n < MODEL_OPENS_MAX; n++)
			open_breaks |= (uint32_t)server->open[n].is_breaking << n;
		*breaking &= open_breaks;
	}
}

static const char *rule_of(const struct model *model, const struct model_state *state, uint32_t breaking)
{
	const uint8_t *faults = model->config.faults;

	if (breaking)
		return "C20";
	if (state->left[MODEL_FAULT_CUT] < faults[MODEL_FAULT_CUT] ||
	    state->left[MODEL_FAULT_REFUSE] < faults[MODEL_FAULT_REFUSE])
		return "C34";
	return "C33";
}

static void tell_what_waits(struct model_worker *worker, const struct model_state *state, uint8_t running,
			    uint32_t breaking, GString *text)
{
	const struct model *model = worker->model;
	const struct model_client_head *head = (const struct model_client_head *)(const void *)worker->client;

	model_client_unpack(worker, state->client);
	if (breaking)
		g_string_append_printf(text, "the break of open %d is never acknowledged", __builtin_ctz(breaking));
	else if (running)
		model_step_tell(&model->config, head, (uint32_t)__builtin_ctz(running), text);
	else
		g_string_append(text, "the application never gets done");
	if (!breaking && running)
		g_string_append(text, " never ends");
}

bool model_lasso_judge(struct model_worker *worker, const GArray *states, const GArray *moves, guint from,
		       struct model_fault_found *found)
{
	g_autoptr(GString) text = g_string_new(NULL);
	const struct model_state *begin = state_at(states, from);
	uint8_t running;
	uint32_t breaking;

	if (!model_client_ports(worker->model, begin->client)->is_at_work || !is_fair(worker, states, moves, from))
		return false;
	look_round(worker->model, states, from, &running, &breaking);
	tell_what_waits(worker, begin, running, breaking, text);
	*found = (struct model_fault_found){ 0 };
	g_strlcpy(found->rule, rule_of(worker->model, begin, breaking), sizeof(found->rule));
	g_snprintf(found->text, sizeof(found->text),
		   "%s: what happens repeats for ever, though all that can happen does", text->str);
	return true;
}

bool model_lasso_find(struct model_worker *worker, const GArray *states, guint *from)
{
	struct model_hash last = model_state_hash(worker->model, state_at(states, states->len - 1));

	for (*from = 0; *from + 1 < states->len; ++*from) {
		if (model_hash_equal(model_state_hash(worker->model, state_at(states, *from)), last))
			return true;
	}
	return false;
}

/* ----------------------------------------------------------------------------------------------------- making a circle */

static guint last_taken(const GArray *moves, struct model_move move)
{
	for (guint i = moves->len; i > 0; i--) {
		if (is_same_move(g_array_index(moves, struct model_move, i - 1), move))
			return i;
	}
	return 0;
}

/* What has waited longest happens next. False: a rule is broken, or nothing can happen. */
static bool go_on(struct model_worker *worker, GArray *states, GArray *moves)
{
	struct model_state state = *state_at(states, states->len - 1), next;
	struct model_move due[MODEL_MOVES_MAX];
	uint32_t count = due_moves(worker, &state, due), best = 0;

	for (uint32_t i = 1; i < count; i++) {
		if (last_taken(moves, due[i]) < last_taken(moves, due[best]))
			best = i;
	}
	if (!count || !model_do(worker, &state, due[best], &next))
		return false;
	g_array_append_val(moves, due[best]);
	g_array_append_val(states, next);
	return true;
}

static GArray *states_on(struct model_worker *worker, const GArray *moves)
{
	GArray *states = g_array_new(FALSE, FALSE, sizeof(struct model_state));
	struct model_state state, next;

	model_first_state(worker->model, &state);
	g_array_append_val(states, state);
	for (guint i = 0; i < moves->len; i++) {
		model_do(worker, &state, g_array_index(moves, struct model_move, i), &next);
		state = next;
		g_array_append_val(states, state);
	}
	return states;
}

bool model_lasso_close(struct model_worker *worker, GArray *moves, struct model_fault_found *found)
{
	g_autoptr(GArray) states = states_on(worker, moves);
	guint stem = moves->len, from;

	while (moves->len < stem + STEPS_MAX && go_on(worker, states, moves)) {
		if (model_lasso_find(worker, states, &from) && model_lasso_judge(worker, states, moves, from, found))
			return true;
	}
	g_array_set_size(moves, stem);
	return false;
}
