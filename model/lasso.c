/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs that go round: a way to a circle, and the circle. It is fair when whatever can happen all the way round does
 * happen in it, faults aside.
 */

#include "model/lasso.h"
#include "model/explore_internal.h"
#include "model/internal.h"

#define STEPS_MAX 2000 /* until a circle is fair */

static struct model_state *state_at(const GArray *states, guint index)
{
	return &g_array_index(states, struct model_state, index);
}

uint32_t model_move_class(struct model_move move)
{
	switch ((enum model_move_kind)move.kind) {
	case MODEL_MOVE_TO_SERVER:
		return move.channel;
	case MODEL_MOVE_TO_CLIENT:
		return MODEL_CHANNELS_MAX + move.channel;
	case MODEL_MOVE_CONNECT:
		return 2 * MODEL_CHANNELS_MAX + move.channel;
	case MODEL_MOVE_REFUSE:
		return 3 * MODEL_CHANNELS_MAX + move.channel;
	case MODEL_MOVE_START:
		return 4 * MODEL_CHANNELS_MAX + move.argument;
	case MODEL_MOVE_WORK:
		return MODEL_MOVE_CLASSES - MODEL_TOKENS + move.argument;
	default: /* a timer; faults never have to happen */
		return 4 * MODEL_CHANNELS_MAX + MODEL_SYSTEM + 1;
	}
}
G_STATIC_ASSERT(4 * MODEL_CHANNELS_MAX + MODEL_SYSTEM + 1 < MODEL_MOVE_CLASSES - MODEL_TOKENS);
G_STATIC_ASSERT(MODEL_MOVE_CLASSES <= MODEL_EDGE_CLASS + 1);

static model_wide class_bit(struct model_move move)
{
	return (model_wide)1 << model_move_class(move);
}

static bool is_fault(const struct model_state *state, const struct model_state *next)
{
	return memcmp(next->left, state->left, sizeof(next->left)) != 0;
}

/* No fault, and no choice. Returns how many. */
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
		if (!is_fault(state, &next))
			moves[due++] = moves[i];
	}
	return due;
}

model_wide model_lasso_due(struct model_worker *worker, const struct model_state *state)
{
	struct model_move moves[MODEL_MOVES_MAX];
	uint32_t count = due_moves(worker, state, moves);
	model_wide due = 0;

	for (uint32_t i = 0; i < count; i++)
		due |= class_bit(moves[i]);
	return due;
}

bool model_lasso_may_repeat(const struct model_state *state, struct model_move move, const struct model_state *next)
{
	return move.choice >> 8 != MODEL_CHOICE_GRANT && !is_fault(state, next);
}

uint32_t model_edge_what(const struct model *model, const struct model_state *state, struct model_move move)
{
	const struct model_client_ports *client = model_client_ports(model, state->client);
	const struct model_server_ports *server = model_server_ports(model, state->server);
	uint32_t promises = client->is_at_work ? MODEL_PROMISE_OPERATION : 0;

	for (uint32_t i = 0; i < MODEL_OPENS_MAX; i++)
		promises |= server->open[i].is_breaking ? MODEL_PROMISE_BREAK : 0;
	promises |= client->is_dirty ? MODEL_PROMISE_DATA : 0;
	return model_move_class(move) | (move.choice ? MODEL_EDGE_CHOSEN : 0) |
	       (move.choice >> 8 == MODEL_CHOICE_GRANT ? MODEL_EDGE_GRANT : 0) | promises << MODEL_EDGE_PROMISES;
}

static bool is_fair(struct model_worker *worker, const GArray *states, const GArray *moves, guint from)
{
	model_wide put_off = model_lasso_due(worker, state_at(states, from));

	for (guint i = from; i < moves->len; i++) {
		struct model_move move = g_array_index(moves, struct model_move, i);

		if (!model_lasso_may_repeat(state_at(states, i), move, state_at(states, i + 1)))
			return false;
		put_off &= ~class_bit(move);
		if (put_off)
			put_off &= model_lasso_due(worker, state_at(states, i + 1));
	}
	return !put_off;
}

/* --------------------------------------------------------------------------------------------------- what never happens */

/* What is outstanding all the way round. */
struct outstanding {
	uint8_t running; /* bit per thread */
	uint32_t breaking; /* bit per open whose break the client should acknowledge */
	bool is_dirty;
};

static struct outstanding look_round(struct model_worker *worker, const GArray *states, guint from)
{
	struct outstanding outstanding = { .running = UINT8_MAX, .breaking = UINT32_MAX, .is_dirty = true };

	for (guint i = from; i < states->len; i++) {
		const struct model_state *state = state_at(states, i);
		const struct model_client_ports *client = model_client_ports(worker->model, state->client);
		uint32_t breaking = 0;

		for (uint32_t n = 0; n < MODEL_OPENS_MAX; n++)
			breaking |= (uint32_t)model_owes_acknowledgement(worker, state, n) << n;
		outstanding.running &= client->running;
		outstanding.breaking &= breaking;
		outstanding.is_dirty = outstanding.is_dirty && client->is_dirty;
	}
	return outstanding;
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

static void tell_what_waits(struct model_worker *worker, const struct model_state *state,
			    const struct outstanding *outstanding, GString *text)
{
	const struct model *model = worker->model;
	const struct model_client_head *head = (const struct model_client_head *)(const void *)worker->client;

	model_client_unpack(worker, state->client);
	if (outstanding->breaking) {
		g_string_append_printf(text, "the break of open %d is never acknowledged",
				       __builtin_ctz(outstanding->breaking));
	} else if (outstanding->running) {
		model_step_tell(&model->config, head, (uint32_t)__builtin_ctz(outstanding->running), text);
		g_string_append(text, " never ends");
	} else {
		g_string_append(text, "what was written never is all at the server");
	}
}

static bool has_pause(const GArray *moves, guint from)
{
	for (guint i = from; i < moves->len; i++) {
		if (g_array_index(moves, struct model_move, i).kind == MODEL_MOVE_WAKE)
			return true;
	}
	return false;
}

bool model_lasso_judge(struct model_worker *worker, const GArray *states, const GArray *moves, guint from,
		       struct model_fault_found *found)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct outstanding outstanding = look_round(worker, states, from);

	if (!(outstanding.running || outstanding.breaking || outstanding.is_dirty) ||
	    !is_fair(worker, states, moves, from))
		return false;
	tell_what_waits(worker, state_at(states, from), &outstanding, text);
	*found = (struct model_fault_found){ 0 };
	g_strlcpy(found->rule, rule_of(worker->model, state_at(states, from), outstanding.breaking),
		  sizeof(found->rule));
	g_snprintf(found->text, sizeof(found->text),
		   "%s: what happens repeats for ever%s, though nothing is put off that can happen all the time",
		   text->str, has_pause(moves, from) ? "" : ", without a pause");
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
		if (model_move_class(g_array_index(moves, struct model_move, i - 1)) == model_move_class(move))
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

GArray *model_lasso_states(struct model_worker *worker, const GArray *moves)
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
	g_autoptr(GArray) states = model_lasso_states(worker, moves);
	guint stem = moves->len, from;

	while (moves->len < stem + STEPS_MAX && go_on(worker, states, moves)) {
		if (model_lasso_find(worker, states, &from) && model_lasso_judge(worker, states, moves, from, found))
			return true;
	}
	g_array_set_size(moves, stem);
	return false;
}
