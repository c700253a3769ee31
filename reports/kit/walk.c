/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/kit/walk.h"

#include "model/lasso.h"

#include "protocol/wire/header.h"

#include <string.h>

struct follower {
	struct kit_walk *walk;
	struct model *model; /* that of the mount, or that of the trace */
	struct model_worker *worker;
	GPtrArray *lanes[MODEL_CHANNELS_MAX][2]; /* struct kit_pdu * under way, the next to arrive first */
};

/* ---------------------------------------------------------------------------------------------------- PDUs on their way */

static int this_step(const struct kit_walk *walk)
{
	return (int)walk->steps->len - 1;
}

static void add_event(struct kit_walk *walk, enum kit_event_kind kind, uint32_t channel, struct kit_pdu *pdu)
{
	struct kit_event event = { .kind = kind, .channel = channel, .step = this_step(walk), .pdu = pdu };

	g_array_append_val(walk->events, event);
}

static void add_pdu(struct follower *follower, const struct smb_pdu *pdu, uint32_t channel,
		    enum model_direction direction)
{
	struct kit_walk *walk = follower->walk;
	struct kit_pdu *kept = g_new0(struct kit_pdu, 1);
	GString *text = g_string_new(NULL);

	model_pdu_tell(pdu, text);
	*kept = (struct kit_pdu){
		.bytes = g_memdup2(pdu->bytes, pdu->length),
		.length = pdu->length,
		.payload = pdu->payload,
		.channel = channel,
		.direction = direction,
		.sent = this_step(walk),
		.arrived = KIT_UNDER_WAY,
		.text = g_string_free(text, FALSE),
		.identity = pdu->bytes,
	};
	g_ptr_array_add(walk->pdus, kept);
	g_ptr_array_add(follower->lanes[channel][direction], kept);
	add_event(walk, KIT_SENT, channel, kept);
}

static void arrive(struct follower *follower, struct model_move move)
{
	enum model_direction direction = move.kind == MODEL_MOVE_TO_SERVER ? MODEL_TO_SERVER : MODEL_TO_CLIENT;
	struct kit_pdu *pdu = g_ptr_array_steal_index(follower->lanes[move.channel][direction], 0);

	pdu->arrived = this_step(follower->walk);
	add_event(follower->walk, KIT_ARRIVED, move.channel, pdu);
}

/* Whether what is known to be under way still is; the connection may be another one by now. */
static bool still_under_way(const struct follower *follower, const GPtrArray *lane, const struct model_state *state)
{
	for (guint i = 0; i < lane->len; i++) {
		const struct kit_pdu *known = lane->pdata[i];
		struct smb_pdu pdu;

		if (!model_state_pdu(follower->model, state, known->channel, known->direction, i, &pdu) ||
		    pdu.bytes != known->identity)
			return false;
	}
	return true;
}

/* What was put on a connection in one direction by the step that led to `state`. */
static void look_at_lane(struct follower *follower, const struct model_state *state, uint32_t channel,
			 enum model_direction direction)
{
	GPtrArray *lane = follower->lanes[channel][direction];
	struct smb_pdu pdu;

	if (!still_under_way(follower, lane, state)) {
		for (guint i = 0; i < lane->len; i++)
			((struct kit_pdu *)lane->pdata[i])->arrived = KIT_LOST;
		g_ptr_array_set_size(lane, 0);
	}
	while (model_state_pdu(follower->model, state, channel, direction, lane->len, &pdu))
		add_pdu(follower, &pdu, channel, direction);
}

/* ------------------------------------------------------------------------------------------------------------- numbers */

static void look_at_channels(struct follower *follower, const struct model_state *state, struct kit_step *step)
{
	const struct smb_client *client = model_state_client(follower->worker, state);
	const struct smb_server *server = model_state_server(follower->worker, state);

	for (uint32_t i = 0; i < model_config_of(follower->model)->client_limits.channels; i++) {
		struct smb_server_connection_info at_server;
		struct smb_channel_info at_client;

		smb_server_look(server, i, &at_server);
		if (!at_server.open)
			continue;
		smb_client_look_channel(client, i, &at_client);
		step->channel[i] = (struct kit_channel){
			.is_open = true,
			.credits = at_client.credits,
			.credits_echo = at_client.credits_echo,
			.credits_oplock = at_client.credits_oplock,
			.in_flight = at_client.in_flight,
			.next_message_id = at_client.next_message_id,
			.granted = at_server.granted,
			.window_low = at_server.window_low,
			.window_length = at_server.window_length,
		};
	}
}

static void look_at_links(struct follower *follower, const struct kit_step *step)
{
	struct kit_walk *walk = follower->walk;
	const struct kit_step *before = walk->steps->len > 1 ? walk->steps->pdata[walk->steps->len - 2] : NULL;

	for (uint32_t i = 0; i < MODEL_CHANNELS_MAX; i++) {
		bool was_open = before && before->channel[i].is_open;

		if (was_open && !step->channel[i].is_open)
			add_event(walk,
				  step->move.kind == MODEL_MOVE_CUT && step->move.channel == i ? KIT_CUT : KIT_CLOSED,
				  i, NULL);
		if (!was_open && step->channel[i].is_open)
			add_event(walk, KIT_CONNECTED, i, NULL);
	}
}

/* ------------------------------------------------------------------------------------------------------------ following */

static struct kit_step *add_step(struct follower *follower, const struct model_state *state, struct model_move move)
{
	struct kit_walk *walk = follower->walk;
	struct kit_step *step = g_new0(struct kit_step, 1);
	GString *line = g_string_new(NULL), *told = g_string_new(NULL);
	bool is_mount = follower->model != walk->model;

	model_move_write(follower->model, move, line);
	model_move_tell(follower->worker, state, move, told);
	step->move = move;
	step->name = g_strdup_printf("%s%u", is_mount ? "m" : "",
				     walk->steps->len + 1 - (is_mount ? 0 : walk->mounting));
	step->line = g_string_free(line, FALSE);
	step->told = g_string_free(told, FALSE);
	g_ptr_array_add(walk->steps, step);
	return step;
}

/* Do one move and note what came of it; false: a rule is broken. */
static bool follow(struct follower *follower, struct model_state *state, struct model_move move)
{
	struct kit_step *step = add_step(follower, state, move);
	GString *numbers = g_string_new(NULL);
	struct model_state next;
	bool is_fine = model_do(follower->worker, state, move, &next);

	if (!is_fine)
		follower->walk->found = *model_broken(follower->worker);
	model_state_tell(follower->worker, &next, numbers);
	step->numbers = g_string_free(numbers, FALSE);
	look_at_channels(follower, &next, step);
	if (move.kind == MODEL_MOVE_TO_SERVER || move.kind == MODEL_MOVE_TO_CLIENT)
		arrive(follower, move);
	look_at_links(follower, step);
	for (uint32_t i = 0; i < MODEL_CHANNELS_MAX; i++) {
		look_at_lane(follower, &next, i, MODEL_TO_SERVER);
		look_at_lane(follower, &next, i, MODEL_TO_CLIENT);
	}
	*state = next;
	return is_fine;
}

static bool can_happen(struct follower *follower, const struct model_state *state, const struct model_move *move)
{
	struct model_move moves[MODEL_MOVES_MAX];
	uint32_t count = model_moves(follower->worker, state, moves);

	for (uint32_t i = 0; i < count; i++) {
		if (moves[i].kind == move->kind && moves[i].channel == move->channel &&
		    moves[i].choice == move->choice && moves[i].argument == move->argument)
			return true;
	}
	return false;
}

static bool refuse_move(const struct follower *follower, const struct model_move *move, GError **error)
{
	g_autoptr(GString) line = g_string_new(NULL);

	model_move_write(follower->model, *move, line);
	g_set_error(error, MODEL_ERROR, MODEL_ERROR_FILE, "'%s' cannot happen here", line->str);
	return false;
}

/* Liveness is broken by a run that comes back to where it was. */
static bool find_circle(struct follower *follower, const GArray *moves)
{
	struct kit_walk *walk = follower->walk;
	guint from;

	if (!model_config_of(walk->model)->is_live || !model_lasso_find(follower->worker, walk->states, &from) ||
	    !model_lasso_judge(follower->worker, walk->states, moves, from, &walk->found))
		return false;
	walk->is_broken = walk->goes_round = true;
	walk->repeats_from = walk->mounting + from;
	return true;
}

static bool follow_trace(struct follower *follower, const GArray *moves, guint *bad, GError **error)
{
	struct kit_walk *walk = follower->walk;
	struct model_move left[MODEL_MOVES_MAX];
	struct model_state state;

	model_first_state(follower->model, &state);
	g_array_append_val(walk->states, state);
	for (guint i = 0; i < moves->len && !walk->is_broken; i++) {
		const struct model_move *move = &g_array_index(moves, struct model_move, i);

		*bad = i;
		if (!can_happen(follower, &state, move))
			return refuse_move(follower, move, error);
		walk->is_broken = !follow(follower, &state, *move);
		g_array_append_val(walk->states, state);
	}
	if (!walk->is_broken && find_circle(follower, moves))
		return true;
	if (walk->is_broken || model_moves(follower->worker, &state, left) || model_check_end(follower->worker, &state))
		return true;
	walk->is_broken = true;
	walk->found = *model_broken(follower->worker);
	return true;
}

/* The mount in front of a model that starts mounted, in a model of its own. */
static bool follow_mount(struct follower *follower, GError **error)
{
	struct model_config config = *model_config_of(follower->walk->model);
	struct model_state state;
	struct model_move move;

	if (!config.starts_mounted)
		return true;
	config.starts_mounted = false;
	memset(config.faults, 0, sizeof(config.faults));
	follower->model = model_new(&config, error);
	if (!follower->model)
		return false;
	follower->worker = model_worker_new(follower->model);
	model_first_state(follower->model, &state);
	while (model_mount_next(follower->worker, &state, &move))
		follow(follower, &state, move);
	follower->walk->mounting = follower->walk->steps->len;
	model_worker_free(follower->worker);
	model_free(follower->model);
	return true;
}

/* ------------------------------------------------------------------------------------------------------ who is to blame */

static bool has_message(const struct kit_pdu *pdu, uint64_t message_id)
{
	struct smb2_header header;
	uint32_t position = 0, next;

	do {
		if (smb2_header_decode(pdu->bytes + position, pdu->length - position, &header, &next) != SMB_WIRE_OK)
			return false;
		if (header.message_id == message_id)
			return true;
		position += next;
	} while (next && position < pdu->length);
	return false;
}

/* How well a PDU explains the fault; the last of the best ones does. */
static int blame(const struct kit_walk *walk, const struct kit_pdu *pdu)
{
	bool left_client = pdu->direction == MODEL_TO_SERVER && pdu->sent == this_step(walk);
	bool got_to_client = pdu->direction == MODEL_TO_CLIENT && pdu->arrived == this_step(walk);
	bool is_seen = left_client || got_to_client;

	if (walk->found.has_message && is_seen && pdu->channel == walk->found.channel &&
	    has_message(pdu, walk->found.message_id))
		return 3;
	if (is_seen)
		return 2;
	return pdu->direction == MODEL_TO_SERVER || pdu->arrived >= 0 ? 1 : 0;
}

static void find_offending(struct kit_walk *walk)
{
	int most = 0;

	for (guint i = 0; walk->is_broken && i < walk->pdus->len; i++) {
		const struct kit_pdu *pdu = walk->pdus->pdata[i];

		if (blame(walk, pdu) < most)
			continue;
		most = blame(walk, pdu);
		walk->offending = pdu;
	}
}

/* -------------------------------------------------------------------------------------------------------------- the walk */

static void step_free(gpointer data)
{
	struct kit_step *step = data;

	g_free(step->name);
	g_free(step->line);
	g_free(step->told);
	g_free(step->numbers);
	g_free(step);
}

static void pdu_free(gpointer data)
{
	struct kit_pdu *pdu = data;

	g_free(pdu->bytes);
	g_free(pdu->text);
	g_free(pdu);
}

/* What was under way in the mount's model would be unknown in the trace's; nothing is when the mount is done. */
static bool is_quiet(const struct follower *follower)
{
	for (uint32_t i = 0; i < MODEL_CHANNELS_MAX; i++) {
		if (follower->lanes[i][MODEL_TO_SERVER]->len || follower->lanes[i][MODEL_TO_CLIENT]->len)
			return false;
	}
	return true;
}

static bool follow_all(struct follower *follower, const GArray *moves, guint *bad, GError **error)
{
	bool is_done;

	if (!follow_mount(follower, error))
		return false;
	g_assert(is_quiet(follower));
	follower->model = follower->walk->model;
	follower->worker = model_worker_new(follower->model);
	is_done = follow_trace(follower, moves, bad, error);
	model_worker_free(follower->worker);
	return is_done;
}

struct kit_walk *kit_walk_new(struct model *model, const GArray *moves, guint *bad, GError **error)
{
	struct kit_walk *walk = g_new0(struct kit_walk, 1);
	struct follower follower = { .walk = walk };
	bool is_done;

	walk->model = model;
	walk->steps = g_ptr_array_new_with_free_func(step_free);
	walk->states = g_array_new(FALSE, FALSE, sizeof(struct model_state));
	walk->pdus = g_ptr_array_new_with_free_func(pdu_free);
	walk->events = g_array_new(FALSE, FALSE, sizeof(struct kit_event));
	for (uint32_t i = 0; i < MODEL_CHANNELS_MAX * 2; i++)
		follower.lanes[i / 2][i % 2] = g_ptr_array_new();
	is_done = follow_all(&follower, moves, bad, error);
	for (uint32_t i = 0; i < MODEL_CHANNELS_MAX * 2; i++)
		g_ptr_array_unref(follower.lanes[i / 2][i % 2]);
	find_offending(walk);
	if (is_done)
		return walk;
	kit_walk_free(walk);
	return NULL;
}

void kit_walk_free(struct kit_walk *walk)
{
	if (!walk)
		return;
	g_ptr_array_unref(walk->steps);
	g_array_unref(walk->states);
	g_ptr_array_unref(walk->pdus);
	g_array_unref(walk->events);
	g_free(walk);
}
