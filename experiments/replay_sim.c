/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/replay_sim.h"

#include "model/host.h"
#include "model/lasso.h"
#include "model/misbehaviour.h"
#include "model/stranger.h"
#include "sim/world/director.h"
#include "sim/world/world.h"

#include <stdio.h>
#include <string.h>

#define ENCODED_MAX 65536

/** One move of the model. */
struct step {
	struct model_move move;
	struct model_state before, after;
};

struct replay {
	struct model_config config;
	struct model *model;
	struct model_worker *worker;
	GArray *steps; /* struct step: the mount, then the trace, and the circle again when it goes round */
	struct model_state first; /* behind the mount */
	guint mounting; /* how many of them are the mount */
	bool is_broken; /* in the model, by the last step or where it ends */
	bool is_at_end; /* nothing can happen in the model any more */
	bool goes_round; /* what is broken is that it could go on so for ever */
	struct model_fault_found found;
	GPtrArray *lanes[MODEL_CHANNELS_MAX][2]; /* GBytes *: what is under way in the simulation */
	bool is_mounted;
	int failed_at; /* the step in which an operation ended with an error; -1: none */
	bool is_invalid; /* a block of the simulation, since the last step */
	char let_through[8]; /* the rule that the server broke for a stranger */
	uint32_t at_work; /* threads of the application with an operation under way */
	const char *difference; /* after the step at which the simulation was stopped */
};

/* ------------------------------------------------------------------------------------------------------------ the model */

static bool can_happen(struct replay *replay, const struct model_state *state, const struct model_move *move)
{
	struct model_move moves[MODEL_MOVES_MAX];
	uint32_t count = model_moves(replay->worker, state, moves);

	for (uint32_t i = 0; i < count; i++) {
		if (moves[i].kind == move->kind && moves[i].channel == move->channel &&
		    moves[i].choice == move->choice && moves[i].argument == move->argument)
			return true;
	}
	return false;
}

static void add_step(struct replay *replay, struct model_state *state, struct model_move move)
{
	struct step step = { .move = move, .before = *state };

	replay->is_broken = !model_do(replay->worker, state, move, &step.after);
	if (replay->is_broken)
		replay->found = *model_broken(replay->worker);
	*state = step.after;
	g_array_append_val(replay->steps, step);
}

/* As a model that starts mounted does it before its first state. */
static void add_mount(struct replay *replay, struct model_state *state)
{
	uint8_t left[sizeof(state->left)];
	struct model_move move;

	memcpy(left, state->left, sizeof(left));
	memset(state->left, 0, sizeof(state->left));
	while (!replay->is_broken && model_mount_next(replay->worker, state, &move))
		add_step(replay, state, move);
	memcpy(state->left, left, sizeof(left));
	model_mount_over(replay->worker, state);
	replay->mounting = replay->steps->len;
}

static bool add_trace(struct replay *replay, struct model_state *state, const GArray *moves, GError **error)
{
	struct model_move left[MODEL_MOVES_MAX];

	for (guint i = 0; i < moves->len && !replay->is_broken; i++) {
		const struct model_move *move = &g_array_index(moves, struct model_move, i);
		g_autoptr(GString) line = g_string_new(NULL);

		model_move_write(replay->model, *move, line);
		if (!can_happen(replay, state, move))
			return lab_refuse(error, "move %u: '%s' cannot happen there", i + 1, line->str);
		add_step(replay, state, *move);
	}
	replay->is_at_end = !replay->is_broken && !model_moves(replay->worker, state, left);
	if (replay->is_at_end) {
		replay->is_broken = !model_check_end(replay->worker, state);
		replay->found = *model_broken(replay->worker);
	}
	return true;
}

/* Liveness is broken by a run that comes back to where it was: it goes round once more. */
static void go_round(struct replay *replay, struct model_state *state, const GArray *moves)
{
	g_autoptr(GArray) states = g_array_new(FALSE, FALSE, sizeof(struct model_state));
	struct model_fault_found found;
	guint from;

	g_array_append_val(states, replay->first);
	for (guint i = replay->mounting; i < replay->steps->len; i++)
		g_array_append_val(states, g_array_index(replay->steps, struct step, i).after);
	if (!replay->config.is_live || replay->is_broken || !model_lasso_find(replay->worker, states, &from) ||
	    !model_lasso_judge(replay->worker, states, moves, from, &found))
		return;
	for (guint i = from; i < moves->len; i++)
		add_step(replay, state, g_array_index(moves, struct model_move, i));
	replay->is_broken = replay->goes_round = true;
	replay->found = found;
}

static bool follow_model(struct replay *replay, bool starts_mounted, const GArray *moves, GError **error)
{
	struct model_state state;

	replay->model = model_new(&replay->config, error);
	if (!replay->model)
		return false;
	replay->worker = model_worker_new(replay->model);
	model_first_state(replay->model, &state);
	if (starts_mounted)
		add_mount(replay, &state);
	replay->first = state;
	if (!add_trace(replay, &state, moves, error))
		return false;
	go_round(replay, &state, moves);
	return true;
}

/* ------------------------------------------------------------------------------------------------------------ the script */

static struct sim_turn turn_of(const struct model_config *config, const struct model_move *move)
{
	static const enum sim_turn_kind kinds[] = {
		[MODEL_MOVE_START] = SIM_TURN_START,
		[MODEL_MOVE_TO_SERVER] = SIM_TURN_TO_SERVER,
		[MODEL_MOVE_TO_CLIENT] = SIM_TURN_TO_CLIENT,
		[MODEL_MOVE_WORK] = SIM_TURN_WORK,
		[MODEL_MOVE_CONNECT] = SIM_TURN_CONNECT,
		[MODEL_MOVE_REFUSE] = SIM_TURN_REFUSE,
		[MODEL_MOVE_CUT] = SIM_TURN_CUT,
		[MODEL_MOVE_CANCEL] = SIM_TURN_CANCEL,
		[MODEL_MOVE_BREAK] = SIM_TURN_BREAK,
		[MODEL_MOVE_STRANGER] = SIM_TURN_STRANGER,
		[MODEL_MOVE_INTERFACE] = SIM_TURN_CHANGE,
		[MODEL_MOVE_LIMITS] = SIM_TURN_CHANGE,
		[MODEL_MOVE_WAKE] = SIM_TURN_WAKE,
	};
	struct sim_turn turn = {
		.kind = kinds[move->kind],
		.channel = move->channel,
		.argument = move->argument,
		.choice = model_choice(config, move->choice),
		.is_unsent = move->choice == MODEL_CHOICE(MODEL_CHOICE_UNSENT, 0),
	};

	if (move->kind == MODEL_MOVE_BREAK) {
		turn.argument = move->argument >> 8;
		turn.to = move->argument & 0xff;
	}
	return turn;
}

static const struct step *step_at(const struct replay *replay, guint index)
{
	return &g_array_index(replay->steps, struct step, index);
}

static bool next(void *context, uint32_t turn, struct sim_turn *what)
{
	const struct replay *replay = context;

	if (turn == replay->steps->len)
		return false;
	*what = turn_of(&replay->config, &step_at(replay, turn)->move);
	return true;
}

static void furnish(void *context, const struct sim_cores *cores)
{
	const struct replay *replay = context;

	model_make_files(&replay->config, cores->server);
	model_state_configure(replay->worker, &step_at(replay, 0)->before, cores->server);
	model_tell_monitor(&replay->config, cores->monitor);
}

static void begin(void *context, uint32_t turn, uint32_t thread, struct smb_op *op)
{
	struct replay *replay = context;

	replay->at_work++;
	*op = model_state_op(replay->worker, &step_at(replay, turn)->before, thread);
}

static void change(void *context, uint32_t turn, struct smb_server *server)
{
	struct replay *replay = context;

	model_state_configure(replay->worker, &step_at(replay, turn)->after, server);
}

static void done(void *context, uint32_t turn, uint32_t thread, const struct smb_client_output *output,
		 const struct sim_cores *cores)
{
	struct replay *replay = context;

	replay->at_work--;
	if (output->verdict != SMB_OP_OK)
		replay->failed_at = (int)turn;
	if (thread != MODEL_SYSTEM || replay->is_mounted || output->verdict != SMB_OP_OK)
		return;
	replay->is_mounted = true;
	model_tell_mounted(&replay->config, cores->client, cores->monitor);
}

static void intrude(void *context, uint32_t turn, uint32_t stranger, const struct sim_cores *cores)
{
	struct replay *replay = context;
	struct model_fault_found found;

	(void)turn;
	if (!model_stranger_visit(&replay->config, cores->server, stranger, &found))
		g_strlcpy(replay->let_through, found.rule, sizeof(replay->let_through));
}

/* ------------------------------------------------------------------------------------------------------------- comparing */

static void note_pdu(void *context, uint64_t when_ns, uint32_t channel, enum sim_side from, const struct smb_pdu *pdu)
{
	struct replay *replay = context;

	(void)when_ns;
	g_ptr_array_add(replay->lanes[channel][from == SIM_CLIENT ? MODEL_TO_SERVER : MODEL_TO_CLIENT],
			g_bytes_new(pdu->bytes, pdu->length));
}

static bool is_same_lane(const struct replay *replay, const struct model_state *state, uint32_t channel,
			 enum model_direction direction)
{
	const GPtrArray *lane = replay->lanes[channel][direction];
	struct smb_pdu pdu;
	guint i;

	for (i = 0; model_state_pdu(replay->model, state, channel, direction, i, &pdu); i++) {
		if (i >= lane->len || g_bytes_get_size(lane->pdata[i]) != pdu.length ||
		    memcmp(g_bytes_get_data(lane->pdata[i], NULL), pdu.bytes, pdu.length) != 0)
			return false;
	}
	return i == lane->len;
}

/* What has been received, and what went with its connection, is under way no more. */
static void clear_lanes(struct replay *replay, const struct model_move *move, const struct smb_server *server)
{
	enum model_direction direction = move->kind == MODEL_MOVE_TO_SERVER ? MODEL_TO_SERVER : MODEL_TO_CLIENT;

	if (move->kind == MODEL_MOVE_TO_SERVER || move->kind == MODEL_MOVE_TO_CLIENT)
		g_ptr_array_remove_index(replay->lanes[move->channel][direction], 0);
	for (uint32_t i = 0; i < replay->config.client_limits.channels; i++) {
		struct smb_server_connection_info info;

		smb_server_look(server, i, &info);
		for (int to = 0; !info.open && to < 2; to++)
			g_ptr_array_set_size(replay->lanes[i][to], 0);
	}
}

static bool is_same_client(struct replay *replay, const struct model_state *state, const struct smb_client *client)
{
	g_autofree uint8_t *here = g_malloc(ENCODED_MAX), *there = g_malloc(ENCODED_MAX);
	const struct smb_client *expected = model_state_client(replay->worker, state);
	size_t length = smb_client_encode(client, here, ENCODED_MAX);

	if (length != smb_client_encode(expected, there, ENCODED_MAX) || memcmp(here, there, length) != 0)
		return false;
	for (uint32_t i = 0; i < replay->config.client_limits.channels; i++) {
		struct smb_channel_info has, wanted;

		smb_client_look_channel(client, i, &has);
		smb_client_look_channel(expected, i, &wanted);
		if (has.next_message_id != wanted.next_message_id)
			return false;
	}
	return true;
}

static bool is_same_server(struct replay *replay, const struct model_state *state, const struct smb_server *server)
{
	g_autofree uint8_t *here = g_malloc(ENCODED_MAX), *there = g_malloc(ENCODED_MAX);
	size_t length = smb_server_encode(server, here, ENCODED_MAX);

	return length == smb_server_encode(model_state_server(replay->worker, state), there, ENCODED_MAX) &&
	       !memcmp(here, there, length);
}

/* What was counted on a connection that is gone matters to nobody. */
static bool is_same_monitor(struct replay *replay, const struct model_state *state, const struct sim_cores *cores)
{
	const struct smb_monitor *expected = model_state_monitor(replay->worker, state);

	for (uint32_t i = 0; i < replay->config.client_limits.channels; i++) {
		struct smb_server_connection_info info;
		struct smb_monitor_channel has, wanted;

		smb_server_look(cores->server, i, &info);
		smb_monitor_look(cores->monitor, i, &has);
		smb_monitor_look(expected, i, &wanted);
		if (info.open && (has.credits != wanted.credits || has.in_flight != wanted.in_flight))
			return false;
	}
	return true;
}

static const char *difference(struct replay *replay, const struct model_state *state, const struct sim_cores *cores)
{
	for (uint32_t i = 0; i < replay->config.client_limits.channels; i++) {
		if (!is_same_lane(replay, state, i, MODEL_TO_SERVER))
			return "the requests under way are not those of the checker";
		if (!is_same_lane(replay, state, i, MODEL_TO_CLIENT))
			return "the answers under way are not those of the checker";
	}
	if (!is_same_client(replay, state, cores->client))
		return "the client is not in the state that it has in the checker";
	if (!is_same_server(replay, state, cores->server))
		return "the server is not in the state that it has in the checker";
	if (!is_same_monitor(replay, state, cores))
		return "the monitor counts other credits or requests in flight than in the checker";
	return NULL;
}

static bool rested(void *context, uint32_t turn, const struct sim_cores *cores)
{
	struct replay *replay = context;
	const struct step *step = step_at(replay, turn);

	replay->is_invalid = !smb_client_is_valid(cores->client) || !smb_server_is_valid(cores->server) ||
			     !smb_monitor_is_valid(cores->monitor);
	clear_lanes(replay, &step->move, cores->server);
	replay->difference = difference(replay, &step->after, cores);
	if (turn + 1 == replay->mounting && turn + 1 < replay->steps->len)
		model_state_configure(replay->worker, &step_at(replay, turn + 1)->before, cores->server);
	return !replay->difference;
}

/* --------------------------------------------------------------------------------------------------------------- verdict */

static void name_step(const struct replay *replay, guint index, struct lab_sim_verdict *verdict)
{
	bool is_mount = index < replay->mounting;

	g_snprintf(verdict->step, sizeof(verdict->step), "%s%u", is_mount ? "m" : "",
		   index + 1 - (is_mount ? 0 : replay->mounting));
}

static void note_broken(struct lab_sim_verdict *verdict, const char *rule, const char *text, bool is_seen)
{
	verdict->is_broken = true;
	verdict->is_seen = is_seen;
	g_strlcpy(verdict->rule, rule, sizeof(verdict->rule));
	g_strlcpy(verdict->text, text, sizeof(verdict->text));
}

enum found { NOT_FOUND, SEEN, READ_OFF };

static enum found seen_if(bool is_seen)
{
	return is_seen ? SEEN : NOT_FOUND;
}

/* What the monitor says of a PDU, and the server of a client, the simulation must have seen itself by now; and how it goes
 * for the application. Other rules are about the state that both have. */
static enum found find_here(const struct replay *replay, const struct sim_script_result *result)
{
	const char *rule = replay->found.rule;

	if (replay->goes_round)
		return READ_OFF;
	if (!replay->is_broken || replay->found.has_message || !strcmp(rule, "cut") || !strcmp(rule, "assertion"))
		return NOT_FOUND;
	if (step_at(replay, replay->steps->len - 1)->move.kind == MODEL_MOVE_STRANGER)
		return seen_if(!strcmp(rule, replay->let_through));
	if (replay->is_at_end && result->waiting)
		return NOT_FOUND;
	if (!strcmp(rule, "fails") || !strcmp(rule, "C33"))
		return seen_if(replay->failed_at + 1 == (int)replay->steps->len);
	if (!strcmp(rule, "stuck"))
		return seen_if(replay->at_work);
	if (!strcmp(rule, "valid"))
		return seen_if(replay->is_invalid);
	return READ_OFF;
}

static void tell_why(struct replay *replay, const struct sim_script_result *result, struct lab_sim_verdict *verdict)
{
	const struct step *step = step_at(replay, result->at);
	g_autoptr(GString) told = g_string_new(NULL);

	model_move_tell(replay->worker, &step->before, step->move, told);
	if (result->end == SIM_SCRIPT_STOPPED)
		g_snprintf(verdict->why, sizeof(verdict->why), "%s; then %s", told->str, replay->difference);
	else
		g_snprintf(verdict->why, sizeof(verdict->why),
			   "all has come to rest, and what was expected is not there: %s", told->str);
}

static void judge(struct replay *replay, const struct sim_script_result *result, const char *rule,
		  struct lab_sim_verdict *verdict)
{
	enum found found = find_here(replay, result);
	guint last = replay->steps->len - 1;

	*verdict = (struct lab_sim_verdict){ .is_followed = result->end == SIM_SCRIPT_PLAYED ||
							    (result->end == SIM_SCRIPT_ENDED && result->at == last) };
	name_step(replay, result->at, verdict);
	if (*result->rule) {
		name_step(replay, result->rule_at, verdict);
		note_broken(verdict, result->rule, result->text, true);
		verdict->is_same = result->rule_at == last && !strcmp(rule, result->rule);
	} else if (!verdict->is_followed) {
		tell_why(replay, result, verdict);
	} else if (found != NOT_FOUND) {
		note_broken(verdict, replay->found.rule, replay->found.text, found == SEEN);
		verdict->is_same = !strcmp(rule, replay->found.rule);
	}
}

/* --------------------------------------------------------------------------------------------------------------- the run */

static bool run_script(struct replay *replay, struct sim_script_result *result, GError **error)
{
	const struct sim_trace trace = { .pdu = note_pdu, .context = replay };
	const struct sim_script script = {
		.client = replay->config.client,
		.client_limits = replay->config.client_limits,
		.server = replay->config.server,
		.server_limits = replay->config.server_limits,
		.holds_work = replay->config.freedom.any_order,
		.excused = model_misbehaviour_rules(&replay->config.server.misbehaviour),
		.threads = MODEL_SYSTEM + 1,
		.context = replay,
		.next = next,
		.furnish = furnish,
		.begin = begin,
		.done = done,
		.intrude = intrude,
		.change = change,
		.rested = rested,
	};

	return sim_script_run(&script, &trace, result, error);
}

static void clear(struct replay *replay)
{
	for (uint32_t i = 0; i < MODEL_CHANNELS_MAX * 2; i++)
		g_ptr_array_unref(replay->lanes[i / 2][i % 2]);
	g_array_unref(replay->steps);
	model_worker_free(replay->worker);
	model_free(replay->model);
	g_free(replay);
}

bool lab_replay_sim(const struct lab_check *check, const GArray *moves, const char *rule,
		    struct lab_sim_verdict *verdict, GError **error)
{
	struct replay *replay = g_new0(struct replay, 1);
	struct sim_script_result result;
	bool is_run;

	replay->config = check->model;
	replay->config.starts_mounted = false;
	replay->config.symmetry = false;
	replay->failed_at = -1;
	replay->steps = g_array_new(FALSE, FALSE, sizeof(struct step));
	for (uint32_t i = 0; i < MODEL_CHANNELS_MAX * 2; i++)
		replay->lanes[i / 2][i % 2] = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	is_run = follow_model(replay, check->model.starts_mounted, moves, error) && run_script(replay, &result, error);
	if (is_run)
		judge(replay, &result, rule, verdict);
	clear(replay);
	return is_run;
}
