/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Moves and states as text: one line for files, and words for people. */

#include "model/internal.h"
#include "model/stranger.h"

#include "protocol/ops/notation.h"
#include "protocol/wire/message.h"

#include <string.h>

/* --------------------------------------------------------------------------------------------------------- for files */

enum form { FORM_CHANNEL, FORM_THREAD, FORM_TOKEN, FORM_BREAK, FORM_STRANGER, FORM_INTERFACE, FORM_BARE };

static const struct {
	const char *word;
	enum form form;
} moves[MODEL_MOVES] = {
	[MODEL_MOVE_START] = { "start", FORM_THREAD },
	[MODEL_MOVE_TO_SERVER] = { "to-server", FORM_CHANNEL },
	[MODEL_MOVE_TO_CLIENT] = { "to-client", FORM_CHANNEL },
	[MODEL_MOVE_WORK] = { "work", FORM_TOKEN },
	[MODEL_MOVE_CONNECT] = { "connect", FORM_CHANNEL },
	[MODEL_MOVE_REFUSE] = { "refuse", FORM_CHANNEL },
	[MODEL_MOVE_CUT] = { "cut", FORM_CHANNEL },
	[MODEL_MOVE_CANCEL] = { "cancel", FORM_THREAD },
	[MODEL_MOVE_BREAK] = { "break", FORM_BREAK },
	[MODEL_MOVE_STRANGER] = { "stranger", FORM_STRANGER },
	[MODEL_MOVE_INTERFACE] = { "interface", FORM_INTERFACE },
	[MODEL_MOVE_LIMITS] = { "limits", FORM_BARE },
	[MODEL_MOVE_WAKE] = { "wake", FORM_BARE },
};

static const char *const choices[MODEL_CHOICES] = {
	[MODEL_CHOICE_NONE] = "usual",	  [MODEL_CHOICE_GRANT] = "grant",   [MODEL_CHOICE_INTERIM] = "interim",
	[MODEL_CHOICE_SPLIT] = "split",	  [MODEL_CHOICE_SPREAD] = "spread", [MODEL_CHOICE_PUSHBACK] = "pushback",
	[MODEL_CHOICE_EXPIRE] = "expire", [MODEL_CHOICE_UNSENT] = "unsent",
};

void model_move_write(const struct model *model, struct model_move move, GString *text)
{
	(void)model;
	g_string_append(text, moves[move.kind].word);
	if (moves[move.kind].form == FORM_CHANNEL)
		g_string_append_printf(text, " %u", move.channel);
	else if (moves[move.kind].form != FORM_BARE)
		g_string_append_printf(text, " %u", move.argument);
	if (moves[move.kind].form == FORM_BREAK)
		g_string_append_printf(text, " channel=%u", move.channel);
	if (move.choice)
		g_string_append_printf(text, " %s=%u", choices[move.choice >> 8], move.choice & 0xff);
}

static bool read_number(const char *word, uint32_t below, uint32_t *number)
{
	guint64 value;

	if (!word || !g_ascii_string_to_unsigned(word, 10, 0, below - 1, &value, NULL))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* "NAME=NUMBER" */
static bool read_named(const char *word, const char *name, uint32_t below, uint32_t *number)
{
	size_t length = strlen(name);

	return word && g_str_has_prefix(word, name) && word[length] == '=' &&
	       read_number(word + length + 1, below, number);
}

static bool read_choice(const char *word, struct model_move *move)
{
	uint32_t number;

	for (uint32_t kind = MODEL_CHOICE_GRANT; kind < MODEL_CHOICES; kind++) {
		if (!read_named(word, choices[kind], 256, &number))
			continue;
		move->choice = MODEL_CHOICE(kind, number);
		return true;
	}
	return false;
}

static uint32_t numbers_below(enum form form)
{
	switch (form) {
	case FORM_CHANNEL:
		return MODEL_CHANNELS_MAX;
	case FORM_THREAD:
		return MODEL_SYSTEM + 1;
	case FORM_INTERFACE:
		return MODEL_INTERFACES_MAX;
	case FORM_TOKEN:
		return MODEL_TOKENS;
	case FORM_STRANGER:
		return MODEL_STRANGERS;
	default:
		return MODEL_BREAK(MODEL_OPENS_MAX, 0);
	}
}

static bool read_rest(char **words, struct model_move *move)
{
	enum form form = moves[move->kind].form;
	uint32_t number = 0;
	char **rest = words + 1;

	if (form != FORM_BARE && !read_number(*rest++, numbers_below(form), &number))
		return false;
	if (form == FORM_CHANNEL)
		move->channel = (uint8_t)number;
	else
		move->argument = number;
	if (form == FORM_BREAK) {
		if (!read_named(*rest++, "channel", MODEL_CHANNELS_MAX, &number))
			return false;
		move->channel = (uint8_t)number;
	}
	if (*rest && !read_choice(*rest++, move))
		return false;
	return !*rest;
}

bool model_move_read(const struct model *model, const char *text, struct model_move *move, GError **error)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);

	(void)model;
	for (uint32_t kind = 0; words[0] && kind < MODEL_MOVES; kind++) {
		if (strcmp(words[0], moves[kind].word) != 0)
			continue;
		*move = (struct model_move){ .kind = (uint8_t)kind };
		if (read_rest(words, move))
			return true;
		break;
	}
	g_set_error(error, MODEL_ERROR, MODEL_ERROR_FILE, "'%s' is no move", text);
	return false;
}

/* -------------------------------------------------------------------------------------------------------- for people */

void model_pdu_tell(const struct smb_pdu *pdu, GString *text)
{
	struct smb_notation_pair pair = { 0 };
	struct smb_chain_reader reader;
	struct smb2_message message;
	char line[1024];

	smb_chain_read(&reader, pdu);
	while (pair.count < SMB_NOTATION_MEMBERS && smb_chain_next(&reader, &message) == SMB_WIRE_OK) {
		struct smb_notation_member *member = &pair.members[pair.count++];

		if (message.header.flags & SMB2_FLAGS_SERVER_TO_REDIR) {
			member->command = message.header.command;
			member->message_id = message.header.message_id;
			member->charge = message.header.credit_charge;
			smb_notation_response(member, &message);
		} else {
			smb_notation_request(member, &message);
		}
	}
	smb_notation_print(&pair, 1, true, line, sizeof(line));
	g_string_append(text, line);
}

static void tell_next_pdu(const struct model *model, const struct model_state *state, struct model_move move,
			  GString *text)
{
	enum model_direction direction = move.kind == MODEL_MOVE_TO_SERVER ? MODEL_TO_SERVER : MODEL_TO_CLIENT;
	struct smb_pdu pdu;

	g_string_append_printf(text, "the %s receives ", direction == MODEL_TO_SERVER ? "server" : "client");
	if (model_state_pdu(model, state, move.channel, direction, 0, &pdu))
		model_pdu_tell(&pdu, text);
	g_string_append_printf(text, " on channel %u", move.channel);
}

static void tell_move(struct model_worker *worker, const struct model_state *state, struct model_move move,
		      GString *text)
{
	struct model *model = worker->model;

	switch ((enum model_move_kind)move.kind) {
	case MODEL_MOVE_START:
		model_client_unpack(worker, state->client);
		model_step_tell(&model->config, (const struct model_client_head *)(void *)worker->client, move.argument,
				text);
		break;
	case MODEL_MOVE_TO_SERVER:
	case MODEL_MOVE_TO_CLIENT:
		tell_next_pdu(model, state, move, text);
		break;
	case MODEL_MOVE_WORK:
		g_string_append_printf(text, "the server's storage has done work %u", move.argument);
		break;
	case MODEL_MOVE_CONNECT:
		g_string_append_printf(text, "channel %u is connected", move.channel);
		break;
	case MODEL_MOVE_REFUSE:
		g_string_append_printf(text, "channel %u cannot be connected", move.channel);
		break;
	case MODEL_MOVE_CUT:
		g_string_append_printf(text, "the connection of channel %u is cut", move.channel);
		break;
	case MODEL_MOVE_CANCEL:
		g_string_append_printf(text, "a signal comes: thread %u", move.argument + 1);
		break;
	case MODEL_MOVE_BREAK:
		g_string_append_printf(text, "the server breaks open %u to %s, on channel %u", move.argument >> 8,
				       move.argument & 0xff ? "reading" : "nothing", move.channel);
		break;
	case MODEL_MOVE_STRANGER:
		g_string_append_printf(text, "another client sends %s, and goes", model_stranger_tell(move.argument));
		break;
	case MODEL_MOVE_INTERFACE:
		g_string_append_printf(text, "interface %u of the server goes, or comes back", move.argument + 1);
		break;
	case MODEL_MOVE_LIMITS:
		g_string_append(text, "the server's limits change, for connections to come");
		break;
	case MODEL_MOVE_WAKE:
		g_string_append(text, "time passes: the client's timer comes");
		break;
	case MODEL_MOVES:
		break;
	}
}

static void tell_choice(const struct model_freedom *freedom, uint16_t choice, GString *text)
{
	uint32_t number = choice & 0xff;

	switch ((enum model_choice_kind)(choice >> 8)) {
	case MODEL_CHOICE_GRANT:
		g_string_append_printf(text, "; if it answers, it grants %u", freedom->grant[number]);
		break;
	case MODEL_CHOICE_INTERIM:
		g_string_append(text, "; it answers STATUS_PENDING first");
		break;
	case MODEL_CHOICE_SPLIT:
		g_string_append(text, "; its replies come in a PDU each");
		break;
	case MODEL_CHOICE_SPREAD:
		g_string_append(text, "; each of its replies grants something");
		break;
	case MODEL_CHOICE_PUSHBACK:
		g_string_append_printf(text, "; it refuses with status 0x%08x", freedom->status[number]);
		break;
	case MODEL_CHOICE_EXPIRE:
		g_string_append(text, "; the session has expired");
		break;
	case MODEL_CHOICE_UNSENT:
		g_string_append(text, "; what the client sends then does not get out");
		break;
	case MODEL_CHOICE_NONE:
	case MODEL_CHOICES:
		break;
	}
}

void model_move_tell(struct model_worker *worker, const struct model_state *state, struct model_move move,
		     GString *text)
{
	tell_move(worker, state, move, text);
	tell_choice(&worker->model->config.freedom, move.choice, text);
}

void model_state_tell(struct model_worker *worker, const struct model_state *state, GString *text)
{
	const struct model *model = worker->model;
	const struct model_client_ports *ports = model_client_ports(model, state->client);
	const struct smb_client *client = model_state_client(worker, state);
	const struct smb_server *server = model_state_server(worker, state);
	bool is_first = true;

	for (uint32_t i = 0; i < model->config.client_limits.channels; i++) {
		struct smb_channel_info at_client;
		struct smb_server_connection_info at_server;

		if (!(ports->open >> i & 1))
			continue;
		smb_client_look_channel(client, i, &at_client);
		smb_server_look(server, i, &at_server);
		g_string_append_printf(text,
				       "%sch%u client %u+%u+%u credits, %u in flight, next id %" G_GUINT64_FORMAT
				       "; server %u granted, window %" G_GUINT64_FORMAT "+%u",
				       is_first ? "" : " | ", i, at_client.credits, at_client.credits_echo,
				       at_client.credits_oplock, at_client.in_flight,
				       (guint64)at_client.next_message_id, at_server.granted,
				       (guint64)at_server.window_low, at_server.window_length);
		is_first = false;
	}
}
