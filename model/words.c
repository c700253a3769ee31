/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Moves and states as text: one line for files, and words for people. */

#include "model/internal.h"

#include "protocol/ops/notation.h"
#include "protocol/wire/message.h"

#include <string.h>

/* --------------------------------------------------------------------------------------------------------- for files */

enum form { FORM_CHANNEL, FORM_THREAD, FORM_TOKEN, FORM_BARE };

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
	[MODEL_MOVE_WAKE] = { "wake", FORM_BARE },
};

void model_move_write(const struct model *model, struct model_move move, GString *text)
{
	(void)model;
	g_string_append(text, moves[move.kind].word);
	if (moves[move.kind].form == FORM_CHANNEL)
		g_string_append_printf(text, " %u", move.channel);
	else if (moves[move.kind].form != FORM_BARE)
		g_string_append_printf(text, " %u", move.argument);
	if (move.choice)
		g_string_append_printf(text, " choice=%u", move.choice);
}

static bool read_number(const char *word, uint32_t below, uint32_t *number)
{
	guint64 value;

	if (!word || !g_ascii_string_to_unsigned(word, 10, 0, below - 1, &value, NULL))
		return false;
	*number = (uint32_t)value;
	return true;
}

static bool read_rest(char **words, struct model_move *move)
{
	uint32_t number = 0;
	char **rest = words + 1;

	if (moves[move->kind].form != FORM_BARE) {
		uint32_t below = moves[move->kind].form == FORM_CHANNEL	 ? MODEL_CHANNELS_MAX
				 : moves[move->kind].form == FORM_THREAD ? MODEL_SYSTEM + 1
									 : MODEL_TOKENS;

		if (!read_number(*rest, below, &number))
			return false;
		rest++;
	}
	if (moves[move->kind].form == FORM_CHANNEL)
		move->channel = (uint8_t)number;
	else
		move->argument = number;
	if (!*rest)
		return true;
	if (!g_str_has_prefix(*rest, "choice=") || rest[1] || !read_number(*rest + strlen("choice="), 65536, &number))
		return false;
	move->choice = (uint16_t)number;
	return true;
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

void model_move_tell(struct model_worker *worker, const struct model_state *state, struct model_move move,
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
	case MODEL_MOVE_WAKE:
		g_string_append(text, "time passes: the client's timer comes");
		break;
	case MODEL_MOVES:
		break;
	}
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
