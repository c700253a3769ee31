/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What no model can reach, and why: so that what is left over are gaps of the configs. A reason counts only as long as the
 * branch is not taken.
 */

#include "reports/coverage/coverage.h"

#include <string.h>

static const char well_formed[] = "client and server send whole, well-formed PDUs (the fuzzers send others)";
static const char smb1[] = "SMB1 has no credits and no compounds; configs with it are refused";
static const char room[] = "slots, outputs and buffers are sized for all that a model's threads can have under way";
static const char ordered[] = "one client sends MessageIds in their order, and a connection keeps it";
static const char unsent[] = "the client never sends CANCEL, LOCK or CHANGE_NOTIFY";
static const char forbidden[] = "what no server may do: switches of tests, not of models";
static const char no_time[] = "the server's time stands still, so it is never late";
static const char hosts[] = "threads run one command at a time, and do not signal, unmount or drop names in between";
static const char broken_first[] = "before that a rule is broken, and the search ends";
static const char always[] = "the caller has made sure of it";
static const char large[] = "numbers that large take a model of more than 2^16 credits, MessageIds or bytes";

static const struct {
	const char *file;
	const char *function;
	const char *never; /* part of what is told about the branch; NULL: all of the function */
	const char *why;
} beyond[] = {
	{ "protocol/client/cancel.c", "client_close_later", "`slot == NONE` is never true", room },
	{ "protocol/client/cancel.c", "client_closes_run", "client_has_output_room(client)` is never false", room },
	{ "protocol/client/cancel.c", "client_late_answer", "SMB2_BODY_CREATE_RSP` is never false", well_formed },
	{ "protocol/client/cancel.c", "leave_waiters_of_requests", "client->requests.size` is never false", always },
	{ "protocol/client/cancel.c", "leave_list", "case OP_ROOM", room },
	{ "protocol/client/cancel.c", "can_leave", "OP_FREE` is never true", hosts },
	{ "protocol/client/cancel.c", "can_leave", "OP_ENDED` is never true", hosts },
	{ "protocol/client/cancel.c", "smb_client_cancel", "OP_RUNNABLE` is never true", hosts },
	{ "protocol/client/cancel.c", "smb_client_cancel", "OP_COPY` is never true", hosts },
	{ "protocol/client/cancel.c", "smb_client_unsent", "`slot == NONE` is never true", always },
	{ "protocol/client/command.c", "smb_client_drop_names", NULL, hosts },
	{ "protocol/client/command.c", "client_command_begin", "`!ops` is never true", hosts },
	{ "protocol/client/command.c", "client_command_begin", "`ops` is never false", hosts },
	{ "protocol/client/command.c", "client_command_begin", "command_op == NONE` is never false", hosts },
	{ "protocol/client/command.c", "client_command_begin", "command_op != NONE` is never true", hosts },
	{ "protocol/client/command.c", "client_command_begin", "!smb_ops_begin(", always },
	{ "protocol/client/command.c", "free_op", "client->limits.ops` is never false", room },
	{ "protocol/client/command.c", "end_command", "command_unmounts` is never true", hosts },
	{ "protocol/client/command.c", "client_commands_pump", "client_has_output_room(client)` is never false", room },
	{ "protocol/client/command.c", "client_commands_pump", "free_op(client) != NONE` is never false", room },
	{ "protocol/client/command.c", "client_command_message", "SMB_OPS_PAY_SESSION` is never true", hosts },
	{ "protocol/client/command.c", "client_command_run", "> client->requests.size` is never true", room },
	{ "protocol/client/lost.c", "client_lost_keep", "LOST_LEAVES_FREE` is never true", room },
	{ "protocol/client/lost.c", "client_lost_run", "client_has_output_room(client)` is never false", room },
	{ "protocol/client/receive.c", "receive_smb1", NULL, smb1 },
	{ "protocol/client/receive.c", "smb_client_receive", "client_is_smb1(client)` is never true", smb1 },
	{ "protocol/client/receive.c", "receive_member", "SMB2_FLAGS_SERVER_TO_REDIR)` is never true", well_formed },
	{ "protocol/client/receive.c", "receive_member", "`slot == NONE` is never true", broken_first },
	{ "protocol/client/receive.c", "receive_member", "->command != header->command` is never true", broken_first },
	{ "protocol/client/receive.c", "smb_client_receive", "!is_connected(at)` is never true", always },
	{ "protocol/client/receive.c", "is_connected", "CHANNEL_NEGOTIATING` is never false", always },
	{ "protocol/client/receive.c", "smb_client_receive", "SMB_WIRE_OK` is never false", well_formed },
	{ "protocol/client/receive.c", "smb_client_receive", "SMB_RECEIVE_MALFORMED` is never true", well_formed },
	{ "protocol/client/receive.c", "smb_client_receive", "SMB_RECEIVE_UNMATCHED` is never true", broken_first },
	{ "protocol/client/send.c", "take_or_wait", "case SMB_CREDIT_BUSY", always },
	{ "protocol/client/send.c", "client_request_take", "!client_has_request_room(client)` is never true", room },
	{ "protocol/client/send.c", "client_request_take", "`slot == NONE` is never true", room },
	{ "protocol/client/send.c", "assign", "SMB2_DIALECT_210` is never false", always },
	{ "protocol/client/unasked.c", "client_break_received", "SMB2_BODY_OPLOCK_BREAK` is never false", well_formed },
	{ "protocol/client/unasked.c", "client_breaks_send", "!client_has_output_room(client)` is never true", room },
	{ "protocol/client/unasked.c", "client_breaks_send", "taken == client->requests.size` is never true", room },
	{ "protocol/client/unasked.c", "send_echo", "`slot == NONE` is never true", room },
	{ "protocol/flow/channels.c", "usable_from", "loads->count` is never false", always },
	{ "protocol/flow/credits.c", "redistribute", "`credits->max_credits` is never false", always },
	{ "protocol/flow/credits.c", "clip", "SMB_CREDITS_CLIP` is never true", large },
	{ "protocol/flow/requests.c", "smb_requests_take", "SMB_REQUEST_NONE` is never true", room },
	{ "protocol/flow/requests.c", "smb_requests_find", "SMB_REQUEST_NONE` is never false", broken_first },
	{ "protocol/flow/window.c", "smb_window_give_back", NULL, ordered },
	{ "protocol/wire/chain.c", "smb2_message_decode", NULL, "of tests and fuzzers alone" },
	{ "protocol/wire/chain.c", "smb_chain_append", "start > writer->size` is never true", room },
	{ "protocol/wire/chain.c", "smb_chain_append", "SMB_WIRE_OK` is never true", room },
	{ "protocol/wire/chain.c", "smb2_message_encode", "SMB_WIRE_OK` is never false", room },
	{ "protocol/wire/chain.c", "next_command_is_good", "is never false", well_formed },
	{ "protocol/wire/chain.c", "decode_member", "is never true", well_formed },
	{ "protocol/wire/chain.c", "smb_chain_next", "SMB_WIRE_OK` is never true", well_formed },
	{ "sim/server/chain.c", "server_change_notify", NULL, unsent },
	{ "sim/server/chain.c", "server_cancel", NULL, unsent },
	{ "sim/server/chain.c", "server_call_run", NULL, smb1 },
	{ "sim/server/chain.c", "storage_is_full", "is never true", room },
	{ "sim/server/chain.c", "server_call_storage", "storage_is_full(call)` is never true", room },
	{ "sim/server/chain.c", "cut_of", "case SMB_SERVER_WINDOW_NO_CREDIT", broken_first },
	{ "sim/server/chain.c", "cut_of", "case SMB_SERVER_WINDOW_OUTSIDE", broken_first },
	{ "sim/server/chain.c", "cut_of", "case SMB_SERVER_WINDOW_REPEATED", broken_first },
	{ "sim/server/chain.c", "admit", "position > pdu->length` is never true", well_formed },
	{ "sim/server/chain.c", "admit", "smb2_header_decode(", well_formed },
	{ "sim/server/chain.c", "admit", "`next ", well_formed },
	{ "sim/server/chain.c", "admit", "SMB2_FLAGS_SERVER_TO_REDIR` is never true", well_formed },
	{ "sim/server/chain.c", "admit", "on->negotiated` is never true", broken_first },
	{ "sim/server/chain.c", "admit", "SMB2_CANCEL", unsent },
	{ "sim/server/chain.c", "admit", "`cut` is never true", broken_first },
	{ "sim/server/chain.c", "receive_chain", "`cut` is never true", broken_first },
	{ "sim/server/chain.c", "receive", "`!cut` is never false", broken_first },
	{ "sim/server/chain.c", "smb_server_receive", "`!cut` is never false", broken_first },
	{ "sim/server/chain.c", "smb_server_receive", "->open` is never true", always },
	{ "sim/server/chain.c", "file_id_of", "case SMB2_LOCK", unsent },
	{ "sim/server/chain.c", "file_id_of", "default", always },
	{ "sim/server/chain.c", "charge_is_enough", "SMB2_CREDIT_UNIT` is never false", broken_first },
	{ "sim/server/chain.c", "check", "!charge_is_enough(call)` is never true", broken_first },
	{ "sim/server/chain.c", "check_session", "SMB2_LOCK` is never false", unsent },
	{ "sim/server/chain.c", "refuse", "SMB2_CANCEL` is never true", unsent },
	{ "sim/server/chain.c", "refuse", "branch 1 of 2 is never taken", forbidden },
	{ "sim/server/chain.c", "run_member", "`is_related` is never true", well_formed },
	{ "sim/server/chain.c", "run_member", "refuse_related` is never true", well_formed },
	{ "sim/server/chain.c", "run_member", "is never true", well_formed },
	{ "sim/server/chain.c", "decode_member", "SMB_WIRE_OK` is never true", well_formed },
	{ "sim/server/chain.c", "finish_header", "UINT16_MAX` is never false", large },
	{ "sim/server/chain.c", "pad_last", "writer->size` is never false", room },
	{ "sim/server/chain.c", "deliver", "last_is_unpadded` is never false", forbidden },
	{ "sim/server/chain.c", "can_be_async", "SMB2_CANCEL` is never false", unsent },
	{ "sim/server/chain.c", "answer_later", "!server_call_storage(call, false, 0)` is never true", room },
	{ "sim/server/chain.c", "execute", "call->cut` is never true", broken_first },
	{ "sim/server/chain.c", "execute", "call->is_silent` is never true", unsent },
	{ "sim/server/chain.c", "execute", "server_misbehave_loses(", forbidden },
	{ "sim/server/chain.c", "execute", "smb_chain_append(writer, reply) != SMB_WIRE_OK` is never true", room },
	{ "sim/server/chain.c", "receive_chain", "!server_is_smb1(", smb1 },
	{ "sim/server/chain.c", "receive", "smb1_is_pdu(pdu)` is never true", smb1 },
	{ "sim/server/requests.c", "pending_append", NULL, no_time },
	{ "sim/server/requests.c", "pending_remove", NULL, no_time },
	{ "sim/server/requests.c", "server_interim_due", NULL, no_time },
	{ "sim/server/requests.c", "server_interim_wake", NULL, no_time },
	{ "sim/server/requests.c", "smb_server_wake", NULL, no_time },
	{ "sim/server/requests.c", "server_request_wait", "SMB_INTERIM_AFTER` is never true", no_time },
	{ "sim/server/requests.c", "server_request_find", NULL, unsent },
	{ "sim/server/requests.c", "server_request_cancel", NULL, unsent },
	{ "sim/server/requests.c", "server_request_new", "SERVER_NONE` is never true", room },
	{ "sim/server/requests.c", "chosen_grant", "misbehaviour.starves` is never false", forbidden },
	{ "sim/server/requests.c", "server_grant", "misbehaviour.overgrants` is never true", forbidden },
	{ "sim/server/requests.c", "finish_async", "misbehaviour.final_grants` is never true", forbidden },
	{ "sim/server/requests.c", "send_interim", "misbehaviour.interim_is_free` is never true", forbidden },
	{ "sim/server/requests.c", "send_interim", "UINT16_MAX` is never false", large },
	{ "sim/server/requests.c", "answer", "SMB1_DIALECT` is never true", smb1 },
	{ "sim/server/requests.c", "server_request_wait", "server_is_smb1(", smb1 },
	{ "sim/server/requests.c", "smb_server_work_done", "--request->works` is never true", hosts },
	{ "sim/server/window.c", "mark", NULL, ordered },
	{ "sim/server/window.c", "slide", NULL, ordered },
	{ "sim/server/window.c", "smb_server_window_use", "charge > window->granted` is never true", broken_first },
	{ "sim/server/window.c", "smb_server_window_use", "message_id", ordered },
	{ "sim/server/window.c", "smb_server_window_use", "!window->used` is never false", ordered },
	{ "sim/server/window.c", "smb_server_window_grow", "ids_left < window->max` is never true", large },
	{ "sim/server/window.c", "smb_server_window_grant", "charge > window->max` is never true", broken_first },
};

const char *coverage_beyond(const char *file, const char *function, const char *never)
{
	for (guint i = 0; i < G_N_ELEMENTS(beyond); i++) {
		if (!strcmp(beyond[i].file, file) && !strcmp(beyond[i].function, function) &&
		    (!beyond[i].never || (never && strstr(never, beyond[i].never))))
			return beyond[i].why;
	}
	return NULL;
}

guint coverage_beyond_at(guint index, const char **file, const char **function)
{
	if (index < G_N_ELEMENTS(beyond)) {
		*file = beyond[index].file;
		*function = beyond[index].function;
	}
	return G_N_ELEMENTS(beyond);
}
