/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_INTERNAL_H
#define SMB_CLIENT_INTERNAL_H

/** What the parts of the core call of each other; private to this folder. */

#include "protocol/client/state.h"

/* ---------------------------------------------------------------------------------------- lists and outputs (run.c) */

void client_list_append(struct smb_client *client, struct client_list *list, uint32_t op);
uint32_t client_list_pop(struct smb_client *client, struct client_list *list);
/** Take `op` out of the list; false: it is not there. */
bool client_list_remove(struct smb_client *client, struct client_list *list, uint32_t op);
/** Make a blocked operation runnable, behind those that are already. */
void client_op_wake(struct smb_client *client, struct client_op *op);
void client_wake_list(struct smb_client *client, struct client_list *list);
/** The operation is over: DONE goes to the outputs. What it holds (credits, requests) has been returned. */
void client_op_end(struct smb_client *client, struct client_op *op, enum smb_op_verdict verdict, uint32_t status);
bool client_has_output_room(const struct smb_client *client);
struct client_output *client_output_push(struct smb_client *client, enum smb_client_output_kind kind);
/** Run what can run, as long as there is room for its outputs. */
void client_pump(struct smb_client *client);

/* ---------------------------------------------------------------------------------------------- requests (send.c) */

/** The channel for the next request or window; NONE when none is usable, or the session's trees are not back yet. */
uint32_t client_pick_channel(struct smb_client *client);
/** The same for those who bring the trees back. */
uint32_t client_pick_any_channel(struct smb_client *client);
/** Credits for `count` headers on op->channel. False: the operation waits, or `stalled` is set and it must end. */
bool client_take_headers(struct smb_client *client, struct client_op *op, uint32_t count);
/** Credits for a transfer into op->take. False as above. */
bool client_take_io(struct smb_client *client, struct client_op *op, uint32_t bytes);
/** Return what the operation took and did not use. */
void client_return_credits(struct smb_client *client, struct client_op *op);
/** Credits of a channel came: hand them to those who wait. */
void client_credits_came(struct smb_client *client, uint32_t index);
bool client_has_request_room(const struct smb_client *client);
/** A slot, or NONE: an ordinary operation leaves some to the core's own requests. */
uint32_t client_request_take(struct smb_client *client, enum client_purpose purpose, uint32_t op);
/** Assign MessageId and amounts; `io_charge` is what a READ paid, 0 = the ordinary way. */
void client_request_send(struct smb_client *client, uint32_t slot, uint32_t channel, uint16_t io_charge);
/** Send slots linked by `chain`, the first one given, as one PDU. */
void client_chain_send(struct smb_client *client, uint32_t first, uint32_t channel);
void client_request_release(struct smb_client *client, uint32_t slot);
bool client_has_multi_credit(const struct smb_client *client);

/* ------------------------------------------------------------------------------------------- messages (message.c) */

/** A name of the host's, checked when it came in. */
struct smb_blob client_utf16(const char *ascii, uint8_t *buffer, uint32_t size);
struct smb_pdu client_encode_request(const struct smb_client *client, uint32_t first, uint8_t *buffer, uint32_t size);
#define CLIENT_TOKEN_MAX 200
/** The token of one leg of the logon; returns bytes. */
uint32_t client_session_token(bool first, uint8_t token[CLIENT_TOKEN_MAX]);
struct purpose_info {
	uint16_t command;
	uint8_t credit_class; /* enum smb_credit_class */
	bool without_tree; /* CreditCharge 0, as requests without a tree have it in cifs */
};
const struct purpose_info *client_purpose_info(enum client_purpose purpose);

/* ----------------------------------------------------------------------------------------- channels (channel.c) */

enum channel_event {
	CHANNEL_OPEN, /* the client wants it */
	CHANNEL_UP, /* TCP connected */
	CHANNEL_UP_EARLY, /* the same, while another channel makes the new session */
	CHANNEL_NEGOTIATED,
	CHANNEL_MORE, /* SESSION_SETUP: STATUS_MORE_PROCESSING_REQUIRED */
	CHANNEL_LOGGED_ON,
	CHANNEL_REFUSED, /* an error answer, or one that does not fit */
	CHANNEL_LOST, /* TCP failed or closed, or no answer for too long */
	CHANNEL_SHUT, /* the client wants it no more */
	CHANNEL_EVENTS,
};
/** Step the channel's state machine. An event that its state has no answer to brings the channel down. */
void client_channel_step(struct smb_client *client, uint32_t i, enum channel_event event);
/** Does the state have an answer to the event? */
bool client_channel_has_transition(enum channel_state state, enum channel_event event);
/** Give up a channel: its requests are lost, the host closes it. */
void client_channel_drop(struct smb_client *client, uint32_t i, enum smb_op_verdict verdict, uint32_t status);
void client_channel_answer(struct smb_client *client, struct smb_request *request, const struct smb2_message *message);
/** The interface for one more channel; NONE when no interface may take one. */
uint32_t client_next_interface(struct smb_client *client);
void client_channel_goes_to(struct smb_client *client, uint32_t i, uint32_t interface);
uint32_t client_channels_wanted(const struct smb_client *client);
void client_interfaces_answer(struct smb_client *client, const struct smb2_message *message);
/** Mounted: from now on the interfaces are asked for again, if policy and mount want that. */
void client_requery_start(struct smb_client *client);
void client_requery_timer(struct smb_client *client);
/** A new session: ask at once, the server may have other interfaces now. */
void client_requery_now(struct smb_client *client);
/** Follow the server's interfaces: channels of one that is gone move, channels that are down are opened again. */
void client_requery_answer(struct smb_client *client, const struct smb2_message *message);

/* ------------------------------------------------------------------------------------------ reconnect (reconnect.c) */

bool client_session_lives(const struct smb_client *client);
/** TCP of channel i is up. */
void client_reconnect_connected(struct smb_client *client, uint32_t i);
/** Channel i is READY. */
void client_reconnect_ready(struct smb_client *client, uint32_t i);
/** Channel i is DOWN: it will be tried again; the last one's session, trees and handles are gone with it. */
void client_reconnect_lost(struct smb_client *client, uint32_t i);
/** The mount is complete: from now on what goes down comes up again. */
void client_reconnect_start(struct smb_client *client);
/** The server ended the session: all channels are made anew (cifs_reconnect with mark_smb_session). */
void client_reconnect_all(struct smb_client *client);
/** Whatever is due and there is room for. */
void client_reconnect_run(struct smb_client *client);
void client_reconnect_timers(struct smb_client *client);
uint64_t client_reconnect_timer(const struct smb_client *client);
bool client_is_reconnecting(const struct smb_client *client);
/** Pick op->channel for the next request of a READ, once its file has a handle; false: it waits, or has given up. */
bool client_need_channel(struct smb_client *client, struct client_op *op);
/** The operation waits for a channel or a handle: on soft mounts not for ever (cifs_wait_for_server_reconnect). */
void client_wait_session(struct smb_client *client, struct client_op *op);
/** From now on lost READs wait, on soft mounts not for ever. */
void client_lost_timer_start(struct smb_client *client);
void client_worker_ended(struct smb_client *client, enum smb_op_verdict verdict, uint32_t status);
/** Unmount: nobody waits any more. */
void client_reconnect_stop(struct smb_client *client);

/* lost.c: READs of a dead channel */

/** A READ into the page cache that failed or went down with its channel: true when it will be sent again. */
bool client_lost_keep(struct smb_client *client, uint32_t slot);
void client_lost_run(struct smb_client *client);
/** The file is closed or cannot be opened again: nobody sends its lost READs. */
void client_lost_forget(struct smb_client *client, uint32_t file);
/** Pages [start, end) failed and stay in the cache as they are: read alone when the reader comes (filemap_update_page). */
void client_pages_failed(struct smb_client *client, struct client_file *file, uint64_t start, uint64_t end);

/* ------------------------------------------------------------------------------------------ operations (script.c) */

void client_script_run(struct smb_client *client, struct client_op *op);
/** The session is over: go on with closing the channels. */
void client_unmount_shut(struct smb_client *client, struct client_op *op);
/** The last answer of a step is in. */
void client_script_step_done(struct smb_client *client, struct client_op *op);
/** How many requests the current step sends. */
uint32_t client_script_step_requests(const struct client_op *op);
/* script_answer.c */
void client_script_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message);
/** A request of the operation went down with its channel. */
void client_script_lost(struct smb_client *client, uint32_t slot);

/* ------------------------------------------------------------------------------------------------ READ (read.c) */

void client_read_begin(struct smb_client *client, struct client_op *op);
void client_read_run(struct smb_client *client, struct client_op *op);
/** A READ's final answer; `message` NULL: it was lost with its channel. */
void client_read_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message);
/* transfer.c: pages read alone and uncached reads */
/** The operation waits for a request to end (run.c). */
void client_wait_room(struct smb_client *client, struct client_op *op);
/** It waits for this one. */
void client_wait_request(struct smb_client *client, struct client_op *op, uint32_t slot);
void client_page_begin(struct smb_client *client, struct client_op *op, uint64_t page);
void client_page_run(struct smb_client *client, struct client_op *op);
void client_direct_run(struct smb_client *client, struct client_op *op);
/** Give up a page or an uncached read that cannot go on; what is still on the wire is answered to nobody. */
void client_transfer_abandon(struct smb_client *client, struct client_op *op);
void client_transfer_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message);
/** The data of an answer that fits the request; false: there is none, or it is not an answer to that. */
bool client_read_data(const struct smb_request *request, const struct smb2_message *message, struct smb_slice *data);
/** Pages of the window's next READ of `bytes` (window.c). */
uint64_t client_window_pages(const struct smb_client *client, const struct op_window *window, uint32_t bytes);
/** Before the next READ of a window: it starts with a page of its own unless the READ before brings that page's head. */
void client_window_share(struct smb_client *client, struct client_op *op);
/** Its READ `slot` goes out; `start` is still where it begins. */
void client_window_sent(struct smb_client *client, struct client_op *op, uint32_t slot);
void client_window_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message);
/** A window's READ got nothing, or nothing more: its pages fail, those who wait for them look again. */
void client_window_failed(struct smb_client *client, uint32_t slot);
/** Bookkeeping when a READ goes on the wire, and when it is off it. */
void client_read_started(struct smb_client *client, struct smb_request *request);
void client_read_ended(struct smb_client *client, const struct smb_request *request,
		       const struct smb2_message *message);
/** Status values after which cifs tries again (smb2maperror.c: EAGAIN). */
bool client_status_means_again(uint32_t status);

/* ------------------------------------------------------------------------------------------ shell commands (command.c) */

/** The share is mounted: nothing is cached yet. */
void client_commands_start(struct smb_client *client);
/** Begin the operation's command; false: protocol/ops does not take it. */
bool client_command_begin(struct smb_client *client, uint32_t op, const struct smb_ops_command *command);
void client_command_run(struct smb_client *client, struct client_op *op);
struct smb2_message;
/** Body, command and what the header says beside ids and amounts. */
void client_command_message(const struct smb_client *client, const struct smb_request *request,
			    struct smb2_message *message, struct smb_ops_scratch *scratch);
/** Its command; LOGOFF goes without a tree. */
uint16_t client_command_of(const struct smb_client *client, const struct smb_request *request, bool *without_tree);
/** Give chains that are ready to operations that send them. */
void client_commands_pump(struct smb_client *client);
void client_commands_timer(struct smb_client *client);
/** A final answer; `message` NULL: it was lost with its channel. */
void client_command_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message);

/* ------------------------------------------------------------------------------------- breaks and echoes (unasked.c) */

void client_break_received(struct smb_client *client, const struct smb2_message *message);
void client_break_answer(struct smb_client *client, uint32_t slot);
/** Send acknowledgements that are due; false when no request slot was free. */
bool client_breaks_send(struct smb_client *client);
/** Nobody waits for an acknowledgement of the file's break any more. */
void client_break_forget(struct smb_client *client, struct client_file *file);
void client_timers_run(struct smb_client *client);
uint64_t client_next_timer(const struct smb_client *client);

#endif
