/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What can happen in a state, and doing it. */

#include "model/internal.h"
#include "model/misbehaviour.h"
#include "model/stranger.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------ what can happen */

struct list {
	struct model_move *moves;
	uint32_t count;
};

static void add(struct list *list, enum model_move_kind kind, uint32_t channel, uint32_t argument)
{
	g_assert(list->count < MODEL_MOVES_MAX);
	list->moves[list->count++] =
		(struct model_move){ .kind = (uint8_t)kind, .channel = (uint8_t)channel, .argument = argument };
}

static void add_choice(struct list *list, struct model_move move, enum model_choice_kind kind, uint32_t number)
{
	g_assert(list->count < MODEL_MOVES_MAX);
	move.choice = MODEL_CHOICE(kind, number);
	list->moves[list->count++] = move;
}

/* What the server may choose for the answer that this event brings about; where it brings none, nothing. */
static void add_server_choices(struct model_worker *worker, const struct model_state *state, struct model_move move,
			       struct list *list)
{
	const struct model_freedom *freedom = &worker->model->config.freedom;
	struct model_event event = { .kind = move.kind, .channel = move.channel, .argument = move.argument };
	const struct model_effect *usual;
	bool is_request = move.kind == MODEL_MOVE_TO_SERVER;

	if (is_request)
		event.argument =
			model_wires_get(worker->model->wires, state->wire[move.channel][MODEL_TO_SERVER])->first;
	usual = model_server_do(worker, state->server, event);
	if (!usual->answers && !usual->waits)
		return;
	for (uint32_t i = 0; usual->answers && i < freedom->grants; i++)
		add_choice(list, move, MODEL_CHOICE_GRANT, i);
	if (usual->is_compound && freedom->split)
		add_choice(list, move, MODEL_CHOICE_SPLIT, 0);
	if (usual->is_compound && freedom->spread)
		add_choice(list, move, MODEL_CHOICE_SPREAD, 0);
	if (is_request && freedom->interim)
		add_choice(list, move, MODEL_CHOICE_INTERIM, 0);
	for (uint32_t i = 0; is_request && state->left[MODEL_FAULT_PUSHBACK] && i < freedom->statuses; i++)
		add_choice(list, move, MODEL_CHOICE_PUSHBACK, i);
	if (is_request && state->left[MODEL_FAULT_EXPIRE])
		add_choice(list, move, MODEL_CHOICE_EXPIRE, 0);
}

static bool has_server_choices(const struct model *model, const struct model_state *state)
{
	const struct model_freedom *freedom = &model->config.freedom;

	return freedom->grants || freedom->interim || freedom->split || freedom->spread ||
	       state->left[MODEL_FAULT_PUSHBACK] || state->left[MODEL_FAULT_EXPIRE];
}

/* Of each event of the client that sends, the one where sending fails. */
static void add_send_failures(struct model_worker *worker, const struct model_state *state, struct list *list)
{
	uint32_t count = list->count;

	for (uint32_t i = 0; i < count; i++) {
		struct model_move move = list->moves[i];
		struct model_event event = { .kind = move.kind, .channel = move.channel, .argument = move.argument };
		const struct model_effect *usual;

		if (move.kind != MODEL_MOVE_START && move.kind != MODEL_MOVE_TO_CLIENT)
			continue;
		if (move.kind == MODEL_MOVE_TO_CLIENT)
			event.argument = model_wires_get(worker->model->wires,
							 state->wire[move.channel][MODEL_TO_CLIENT])
						 ->first;
		usual = model_client_do(worker, state->client, event);
		for (uint32_t n = 0; n < usual->outputs; n++) {
			if (usual->output[n].kind != MODEL_OUTPUT_PDU)
				continue;
			add_choice(list, move, MODEL_CHOICE_UNSENT, 0);
			break;
		}
	}
}

static void add_breaks(const struct model *model, const struct model_state *state, struct list *list)
{
	const struct model_server_ports *server = model_server_ports(model, state->server);

	for (uint32_t open = 0; open < MODEL_OPENS_MAX; open++) {
		for (uint32_t i = 0; i < MODEL_CHANNELS_MAX; i++) {
			if (!(server->open[open].channels >> i & 1))
				continue;
			if (server->open[open].to_none)
				add(list, MODEL_MOVE_BREAK, i, MODEL_BREAK(open, 0));
			if (server->open[open].to_read)
				add(list, MODEL_MOVE_BREAK, i, MODEL_BREAK(open, 1));
		}
	}
}

static void add_traffic(const struct model *model, const struct model_state *state, struct list *list)
{
	const struct model_server_ports *server = model_server_ports(model, state->server);

	for (uint32_t i = 0; i < model->config.client_limits.channels; i++) {
		if (state->wire[i][MODEL_TO_CLIENT])
			add(list, MODEL_MOVE_TO_CLIENT, i, 0);
	}
	for (uint32_t i = 0; i < model->config.client_limits.channels; i++) {
		if (state->wire[i][MODEL_TO_SERVER])
			add(list, MODEL_MOVE_TO_SERVER, i, 0);
	}
	for (uint64_t works = server->works; works; works &= works - 1)
		add(list, MODEL_MOVE_WORK, 0, (uint32_t)__builtin_ctzll(works));
}

static void add_faults(const struct model_state *state, const struct model_client_ports *client, struct list *list)
{
	for (uint32_t i = 0; i < MODEL_CHANNELS_MAX; i++) {
		if (client->open >> i & 1 && state->left[MODEL_FAULT_CUT])
			add(list, MODEL_MOVE_CUT, i, 0);
		if (client->opening >> i & 1 && state->left[MODEL_FAULT_REFUSE])
			add(list, MODEL_MOVE_REFUSE, i, 0);
	}
	for (uint32_t t = 0; t <= MODEL_SYSTEM && state->left[MODEL_FAULT_CANCEL]; t++) {
		if (client->running >> t & 1)
			add(list, MODEL_MOVE_CANCEL, 0, t);
	}
}

/* What becomes of the server while it runs. */
static void add_changes(const struct model *model, const struct model_state *state, struct list *list)
{
	if (state->left[MODEL_FAULT_INTERFACE]) {
		for (uint32_t i = 0; i < model->config.server.interface_count; i++)
			add(list, MODEL_MOVE_INTERFACE, 0, i);
	}
	if (state->left[MODEL_FAULT_LIMITS])
		add(list, MODEL_MOVE_LIMITS, 0, 0);
}

/* Behind the moves as they usually go. */
static void add_choices(struct model_worker *worker, const struct model_state *state, struct list *list)
{
	uint32_t count = list->count;

	if (has_server_choices(worker->model, state)) {
		for (uint32_t i = 0; i < count; i++) {
			if (list->moves[i].kind == MODEL_MOVE_TO_SERVER || list->moves[i].kind == MODEL_MOVE_WORK)
				add_server_choices(worker, state, list->moves[i], list);
		}
	}
	if (state->left[MODEL_FAULT_SEND])
		add_send_failures(worker, state, list);
	if (state->left[MODEL_FAULT_BREAK])
		add_breaks(worker->model, state, list);
	for (uint32_t i = 0; i < MODEL_STRANGERS && state->left[MODEL_FAULT_STRANGER]; i++)
		add(list, MODEL_MOVE_STRANGER, 0, i);
}

uint32_t model_moves(struct model_worker *worker, const struct model_state *state,
		     struct model_move moves[MODEL_MOVES_MAX])
{
	const struct model *model = worker->model;
	const struct model_client_ports *client = model_client_ports(model, state->client);
	struct list list = { .moves = moves };
	bool is_gone = model->config.never_back && client->phase != MODEL_MOUNTING &&
		       state->left[MODEL_FAULT_CUT] < model->config.faults[MODEL_FAULT_CUT];
	bool is_at_rest;

	for (uint32_t i = 0; i < MODEL_CHANNELS_MAX; i++) {
		if (client->opening >> i & 1)
			add(&list, is_gone ? MODEL_MOVE_REFUSE : MODEL_MOVE_CONNECT, i, 0);
	}
	add_traffic(model, state, &list);
	for (uint32_t t = 0; t <= MODEL_SYSTEM; t++) {
		if (client->startable >> t & 1)
			add(&list, MODEL_MOVE_START, 0, t);
	}
	is_at_rest = !list.count;
	/* timers go on for ever: that nobody is at work is an end all the same, a good one or not */
	if (is_at_rest && !client->is_at_work)
		return 0;
	add_choices(worker, state, &list);
	/* Time passes when nothing else does; that a timer comes earlier is a fault of its own. */
	if (client->is_armed && (is_at_rest || state->left[MODEL_FAULT_TIMER]))
		add(&list, MODEL_MOVE_WAKE, 0, 0);
	add_faults(state, client, &list);
	add_changes(model, state, &list);
	return list.count;
}

/* -------------------------------------------------------------------------------------------------------------- doing it */

struct step {
	struct model_worker *worker;
	struct model_state *state; /* being changed */
	uint32_t broken;
	bool failed;
	uint8_t synced;
};

static void note(struct step *step, const struct model_effect *effect)
{
	if (!step->broken)
		step->broken = effect->broken;
	step->failed = step->failed || effect->failed;
	step->synced |= effect->synced;
}

static void push(struct step *step, uint32_t channel, enum model_direction direction, uint32_t pdu)
{
	const struct model *model = step->worker->model;
	const struct model_pdu *kept = model_pdu_get(model, pdu);
	uint32_t *wire = &step->state->wire[channel][direction];

	*wire = model_wires_push(
		model->wires, *wire,
		&(struct model_wire_pdu){
			.number = pdu, .credits = kept->credits, .message_id = kept->message_id, .form = kept->form });
}

static void server_event(struct step *step, struct model_event event)
{
	const struct model_effect *effect = model_server_do(step->worker, step->state->server, event);

	note(step, effect);
	step->state->server = effect->next;
	for (uint32_t i = 0; i < effect->outputs; i++)
		push(step, effect->output[i].channel, MODEL_TO_CLIENT, effect->output[i].argument);
}

/* The connection is gone for the server, and all that was under way on it. */
static void drop(struct step *step, uint32_t channel)
{
	step->state->wire[channel][MODEL_TO_SERVER] = 0;
	step->state->wire[channel][MODEL_TO_CLIENT] = 0;
	server_event(step, (struct model_event){ .kind = MODEL_MOVE_CUT, .channel = (uint8_t)channel });
}

static void client_event(struct step *step, struct model_event event)
{
	const struct model_effect *effect = model_client_do(step->worker, step->state->client, event);

	note(step, effect);
	step->state->client = effect->next;
	for (uint32_t i = 0; i < effect->outputs; i++) {
		const struct model_output *output = &effect->output[i];

		if (output->kind == MODEL_OUTPUT_PDU)
			push(step, output->channel, MODEL_TO_SERVER, output->argument);
		else
			drop(step, output->channel);
	}
}

static void deliver(struct step *step, struct model_move move, enum model_direction direction)
{
	struct model_event event = { .kind = move.kind, .channel = move.channel, .choice = move.choice };
	uint32_t *number = &step->state->wire[move.channel][direction];
	const struct model_wire *wire = model_wires_get(step->worker->model->wires, *number);

	g_assert(wire->count);
	event.argument = wire->first;
	*number = wire->rest;
	if (direction == MODEL_TO_SERVER)
		server_event(step, event);
	else
		client_event(step, event);
}

static void use(struct step *step, enum model_fault fault)
{
	step->worker->done.faults[fault]++;
	if (step->state->left[fault])
		step->state->left[fault]--;
}

/* Nothing is under way and nobody has anything to start. */
static bool is_at_rest(const struct model *model, const struct model_state *state)
{
	const struct model_client_ports *client = model_client_ports(model, state->client);

	for (uint32_t i = 0; i < MODEL_CHANNELS_MAX; i++) {
		if (state->wire[i][MODEL_TO_SERVER] || state->wire[i][MODEL_TO_CLIENT])
			return false;
	}
	return !client->opening && !client->startable && !model_server_ports(model, state->server)->works;
}

static void happen(struct step *step, struct model_move move)
{
	struct model_event event = { .kind = move.kind, .channel = move.channel, .choice = move.choice };

	event.argument = move.argument;
	step->worker->done.moves[move.kind][move.choice >> 8]++;
	if (move.choice >> 8 == MODEL_CHOICE_PUSHBACK)
		use(step, MODEL_FAULT_PUSHBACK);
	else if (move.choice >> 8 == MODEL_CHOICE_EXPIRE)
		use(step, MODEL_FAULT_EXPIRE);
	else if (move.choice >> 8 == MODEL_CHOICE_UNSENT)
		use(step, MODEL_FAULT_SEND);
	switch ((enum model_move_kind)move.kind) {
	case MODEL_MOVE_TO_SERVER:
		deliver(step, move, MODEL_TO_SERVER);
		break;
	case MODEL_MOVE_TO_CLIENT:
		deliver(step, move, MODEL_TO_CLIENT);
		break;
	case MODEL_MOVE_WORK:
		server_event(step, event);
		break;
	case MODEL_MOVE_CONNECT:
		server_event(step, event);
		client_event(step, event);
		break;
	case MODEL_MOVE_CUT:
		use(step, MODEL_FAULT_CUT);
		drop(step, move.channel);
		client_event(step, event);
		break;
	case MODEL_MOVE_REFUSE:
		use(step, MODEL_FAULT_REFUSE);
		client_event(step, event);
		break;
	case MODEL_MOVE_WAKE:
		if (!is_at_rest(step->worker->model, step->state))
			use(step, MODEL_FAULT_TIMER);
		client_event(step, event);
		break;
	case MODEL_MOVE_CANCEL:
		use(step, MODEL_FAULT_CANCEL);
		client_event(step, event);
		break;
	case MODEL_MOVE_STRANGER:
		use(step, MODEL_FAULT_STRANGER);
		server_event(step, event);
		break;
	case MODEL_MOVE_BREAK:
		use(step, MODEL_FAULT_BREAK);
		server_event(step, event);
		break;
	case MODEL_MOVE_INTERFACE:
		use(step, MODEL_FAULT_INTERFACE);
		server_event(step, event);
		break;
	case MODEL_MOVE_LIMITS:
		use(step, MODEL_FAULT_LIMITS);
		server_event(step, event);
		break;
	case MODEL_MOVE_START:
		client_event(step, event);
		break;
	case MODEL_MOVES:
		g_assert_not_reached();
	}
}

/* ------------------------------------------------------------------------------------------------- what must always hold */

static void found(struct model_worker *worker, const char *rule, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void found(struct model_worker *worker, const char *rule, const char *format, ...)
{
	va_list arguments;

	g_strlcpy(worker->found.rule, rule, sizeof(worker->found.rule));
	va_start(arguments, format);
	g_vsnprintf(worker->found.text, sizeof(worker->found.text), format, arguments);
	va_end(arguments);
}

/* Credits are conserved: what the client holds, and what is under way to it and from it, is what the server granted. */
static bool check_credits(struct model_worker *worker, const struct model_state *state)
{
	const struct model *model = worker->model;
	const struct model_client_ports *client = model_client_ports(model, state->client);
	const struct model_server_ports *server = model_server_ports(model, state->server);

	for (uint32_t i = 0; i < model->config.client_limits.channels; i++) {
		int64_t sent = model_wires_get(model->wires, state->wire[i][MODEL_TO_SERVER])->credits;
		int64_t granted = model_wires_get(model->wires, state->wire[i][MODEL_TO_CLIENT])->credits;

		if (!(client->open >> i & 1) ||
		    client->channel[i].credits + sent + granted == server->channel[i].granted ||
		    model->config.server.misbehaviour.overgrants)
			continue;
		found(worker, "C6",
		      "channel %u: the client holds %d credits, %d are spent and %d granted on the way, "
		      "the server counts %u",
		      i, client->channel[i].credits, (int)sent, (int)granted, server->channel[i].granted);
		return false;
	}
	return true;
}

/* An operation on a file is told nothing of breaks, of what the server changes, nor that the session had to be made anew. */
static bool client_survives(const struct model *model, const struct model_state *state)
{
	uint8_t left[sizeof(state->left)];

	memcpy(left, state->left, sizeof(left));
	if (!model_runs_commands(&model->config))
		left[MODEL_FAULT_EXPIRE] = model->config.faults[MODEL_FAULT_EXPIRE];
	if (model_misbehaviour_may_fail(&model->config.server.misbehaviour))
		return false;
	left[MODEL_FAULT_BREAK] = model->config.faults[MODEL_FAULT_BREAK];
	left[MODEL_FAULT_STRANGER] = model->config.faults[MODEL_FAULT_STRANGER];
	left[MODEL_FAULT_INTERFACE] = model->config.faults[MODEL_FAULT_INTERFACE];
	left[MODEL_FAULT_LIMITS] = model->config.faults[MODEL_FAULT_LIMITS];
	return !memcmp(left, model->config.faults, sizeof(left));
}

static bool check_synced(struct model_worker *worker, const struct model_state *state, uint8_t threads)
{
	const struct model_client_head *head = (const struct model_client_head *)(const void *)worker->client;

	if (!threads)
		return true;
	model_client_unpack(worker, state->client);
	for (uint32_t t = 0; t < MODEL_THREADS_MAX; t++) {
		if (threads >> t & 1 && !model_judge_synced(&worker->model->config, model_state_server(worker, state),
							    t, head->thread[t].step - 1, &worker->found))
			return false;
	}
	return true;
}

bool model_do(struct model_worker *worker, const struct model_state *state, struct model_move move,
	      struct model_state *next)
{
	struct step step = { .worker = worker, .state = next };

	*next = *state;
	if (*worker->found.rule)
		worker->found = (struct model_fault_found){ 0 };
	happen(&step, move);
	if (step.broken) {
		worker->found = *(const struct model_fault_found *)model_store_get(worker->model->texts, step.broken,
										   NULL);
		return false;
	}
	if (step.failed && client_survives(worker->model, next)) {
		found(worker, "fails",
		      "an operation ends with an error though nothing went wrong (what it names is below /mnt)");
		return false;
	}
	return check_credits(worker, next) && check_synced(worker, next, step.synced);
}

const struct model_fault_found *model_broken(const struct model_worker *worker)
{
	return &worker->found;
}

bool model_check_end(struct model_worker *worker, const struct model_state *state)
{
	const struct model *model = worker->model;
	const struct model_client_ports *client = model_client_ports(model, state->client);

	worker->found = (struct model_fault_found){ 0 };
	if (client->phase != MODEL_FINISHED || client->is_at_work) {
		found(worker, "stuck", "nothing can happen any more, and the application is not done");
		return false;
	}
	for (uint32_t i = 0; i < model->config.client_limits.channels; i++) {
		struct smb_channel_info info;

		if (!(client->open >> i & 1))
			continue;
		smb_client_look_channel(model_state_client(worker, state), i, &info);
		if (!info.in_flight)
			continue;
		found(worker, "C7", "channel %u: %u requests are in flight at the end", i, info.in_flight);
		return false;
	}
	return model_judge_end(worker, state, &worker->found);
}
