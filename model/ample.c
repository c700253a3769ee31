/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Partial order: in some states what happens at the client is gone on with alone, and what could happen at the server
 * waits. Such a choice is an ample set, and here is why nothing is lost by it.
 *
 * An event of one side touches that side alone, takes from the front of a queue and puts at the end of another. So an
 * event of the client and one of the server that can both happen can happen in either order, with the same state in
 * the end. Where each connection that the server has open brings the client something already, nothing that the server
 * does gives the client another event, or takes one from it. So whatever run goes on from such a state, its first event
 * at the client can come first instead; and a run of the server alone can wait for the client to take what is under
 * way, which comes to an end, for only the server sends more. Hence every event on every client side, every event on
 * every server side, and every state in which nothing is under way is met all the same, and these are what is judged:
 * rules when an event happens to a side, credits by what each event changes in the balance, and how runs end. Faults
 * only move behind an event at the client, never in front of one, so what a fault excuses is judged alike.
 *
 * What concerns both sides at once stands in no such order: a connection is made, cut, or closed by the client; an fsync
 * returns, and the server is looked at; the application is done, and a run in which nothing else is under way ends there
 * instead of waiting for a break, a stranger, or a change at the server. Where that can happen all moves are taken. Over
 * one connection without cuts most is saved; over several it is seldom that all of them bring something; while a cut is
 * left nothing is saved.
 */

#include "model/explore_internal.h"
#include "model/internal.h"

enum side { SIDE_BOTH, SIDE_CLIENT, SIDE_SERVER };

/* A timer comes before everything is at rest, as something is on its way to the client: it is a fault all along. */
static const enum side sides[] = {
	[MODEL_MOVE_START] = SIDE_CLIENT,     [MODEL_MOVE_TO_SERVER] = SIDE_SERVER,
	[MODEL_MOVE_TO_CLIENT] = SIDE_CLIENT, [MODEL_MOVE_WORK] = SIDE_SERVER,
	[MODEL_MOVE_CONNECT] = SIDE_BOTH,     [MODEL_MOVE_REFUSE] = SIDE_BOTH,
	[MODEL_MOVE_CUT] = SIDE_BOTH,	      [MODEL_MOVE_CANCEL] = SIDE_CLIENT,
	[MODEL_MOVE_BREAK] = SIDE_SERVER,     [MODEL_MOVE_INTERFACE] = SIDE_SERVER,
	[MODEL_MOVE_LIMITS] = SIDE_SERVER,    [MODEL_MOVE_STRANGER] = SIDE_SERVER,
	[MODEL_MOVE_WAKE] = SIDE_CLIENT,
};
_Static_assert(G_N_ELEMENTS(sides) == MODEL_MOVES, "a move happens to the client, to the server, or to both");

/* Something is under way to the client on each connection that the server could send on. */
static bool is_fed(const struct model *model, const struct model_state *state)
{
	const struct model_server_ports *server = model_server_ports(model, state->server);
	bool has_any = false;

	for (uint32_t i = 0; i < model->config.client_limits.channels; i++) {
		if (state->wire[i][MODEL_TO_CLIENT])
			has_any = true;
		else if (server->channel[i].is_open)
			return false;
	}
	return has_any;
}

static const struct model_effect *effect_of(struct model_worker *worker, const struct model_state *state,
					    struct model_move move)
{
	struct model_event event = { .kind = move.kind, .channel = move.channel, .choice = move.choice };

	event.argument = move.argument;
	if (move.kind == MODEL_MOVE_TO_CLIENT)
		event.argument =
			model_wires_get(worker->model->wires, state->wire[move.channel][MODEL_TO_CLIENT])->first;
	return model_client_do(worker, state->client, event);
}

/* Beside answering; at the end of a run it does so no more. */
static bool server_may_act(const struct model_state *state)
{
	return state->left[MODEL_FAULT_BREAK] || state->left[MODEL_FAULT_INTERFACE] ||
	       state->left[MODEL_FAULT_LIMITS] || state->left[MODEL_FAULT_STRANGER];
}

/* Does it concern the client alone? */
static bool is_private(struct model_worker *worker, const struct model_state *state, struct model_move move)
{
	const struct model_effect *effect = effect_of(worker, state, move);
	const struct model_client_ports *next = model_client_ports(worker->model, effect->next);

	for (uint32_t i = 0; i < effect->outputs; i++) {
		if (effect->output[i].kind != MODEL_OUTPUT_PDU)
			return false;
	}
	if (server_may_act(state) && !next->is_at_work && !next->startable)
		return false;
	return !effect->synced;
}

uint32_t model_ample(struct model_worker *worker, const struct model_state *state, struct model_move *moves,
		     uint32_t count)
{
	uint32_t kept = 0;

	if (!is_fed(worker->model, state))
		return count;
	for (uint32_t i = 0; i < count; i++) {
		if (sides[moves[i].kind] == SIDE_BOTH)
			return count;
		if (sides[moves[i].kind] == SIDE_CLIENT && !is_private(worker, state, moves[i]))
			return count;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (sides[moves[i].kind] == SIDE_CLIENT)
			moves[kept++] = moves[i];
	}
	return kept;
}
