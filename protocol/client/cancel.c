/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A signal that ends an application's wait, and a PDU that could not be sent.
 *
 * cifs never sends SMB2 CANCEL: the waiting thread leaves, and the answer comes when it comes (cifs 6.1,
 * compound_send_recv: cifs_cancelled_callback). Its credits count like those of any other (C9). A CREATE that succeeds
 * after all has nobody to close its handle, so a worker does that (smb2_handle_cancelled_mid, C29), unless its chain
 * closes it anyway (CIFS_CP_CREATE_CLOSE_OP).
 */
#include "protocol/client/cancel.h"
#include "protocol/client/write.h"

#include <assert.h>

/* ------------------------------------------------------------------------------------------ CLOSEs that are due */

static void due_append(struct smb_client *client, uint32_t slot)
{
	client_request_at(client, slot)->chain = NONE;
	if (client->closes.head == NONE)
		client->closes.head = slot;
	else
		client_request_at(client, client->closes.tail)->chain = slot;
	client->closes.tail = slot;
}

static uint32_t due_pop(struct smb_client *client)
{
	uint32_t slot = client->closes.head;

	client->closes.head = client_request_at(client, slot)->chain;
	if (client->closes.head == NONE)
		client->closes.tail = NONE;
	client_request_at(client, slot)->chain = NONE;
	return slot;
}

/** The slot's request becomes the CLOSE of this handle. */
static void close_with(struct smb_client *client, uint32_t slot, struct smb2_file_id id)
{
	struct smb_request *request = client_request_at(client, slot);

	request->purpose = PURPOSE_LATE_CLOSE;
	request->op = NONE;
	request->file = NONE;
	request->data_source = id.persistent;
	request->data_offset = id.volatile_id;
	due_append(client, slot);
}

bool client_close_later(struct smb_client *client, struct smb2_file_id id)
{
	uint32_t slot = client_request_take(client, PURPOSE_LATE_CLOSE, NONE);

	if (slot == NONE)
		return false;
	close_with(client, slot, id);
	return true;
}

struct smb2_file_id client_late_close_id(const struct smb_request *request)
{
	return (struct smb2_file_id){ request->data_source, request->data_offset };
}

bool client_has_late_closes(const struct smb_client *client)
{
	for (uint32_t slot = 0; slot < client->requests.size; slot++) {
		const struct smb_request *request = client_request_at(client, slot);

		if (request->state != SMB_REQUEST_FREE && (request->purpose == PURPOSE_LATE_CLOSE ||
							   (request->purpose == PURPOSE_CANCELLED && request->status)))
			return true;
	}
	return false;
}

void client_closes_run(struct smb_client *client)
{
	while (client->closes.head != NONE && client_has_output_room(client)) {
		uint32_t channel = client_pick_channel(client);
		enum smb_credit_verdict verdict;

		if (channel == NONE)
			return;
		verdict = smb_credits_take(&client_channel_at(client, channel)->credits, &client->policy,
					   SMB_CREDIT_ORDINARY, 1);
		if (verdict == SMB_CREDIT_STALLED)
			client_closes_forget(client); /* no credit will ever come (C11) */
		if (verdict != SMB_CREDIT_TAKEN)
			return; /* asked again after the next input */
		client_request_send(client, due_pop(client), channel, 0);
	}
}

void client_closes_forget(struct smb_client *client)
{
	while (client->closes.head != NONE)
		client_request_release(client, due_pop(client));
}

void client_late_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message)
{
	const struct smb_request *request = client_request_at(client, slot);

	if (request->purpose == PURPOSE_LATE_CLOSE && !message && client_session_lives(client)) {
		due_append(client, slot); /* another channel tells the server */
		return;
	}
	if (request->purpose == PURPOSE_CANCELLED && request->status && message &&
	    message->header.status == STATUS_SUCCESS && message->kind == SMB2_BODY_CREATE_RSP) {
		close_with(client, slot, message->body.create_rsp.file_id);
		return;
	}
	client_request_release(client, slot);
}

/* --------------------------------------------------------------------------------------------- leaving requests */

static bool chain_closes(const struct smb_client *client, const struct client_op *op)
{
	for (uint32_t slot = 0; slot < client->requests.size; slot++) {
		const struct smb_request *request = client_request_at(client, slot);

		if (request->state == SMB_REQUEST_SENT && request->command == SMB2_CLOSE &&
		    request->op == client_op_index(client, op))
			return true;
	}
	return false;
}

/** Nobody waits for this answer any more. */
static void leave(struct smb_client *client, struct client_op *op, uint32_t slot, bool closes)
{
	struct smb_request *request = client_request_at(client, slot);
	struct client_file *file;
	struct client_list waiters;

	switch (request->purpose) {
	case PURPOSE_READ_DIRECT: /* client_transfer_abandon does it */
	case PURPOSE_READ_WINDOW: /* the page cache waits for it */
	case PURPOSE_WRITE_BACK:
		return;
	case PURPOSE_WRITE_THROUGH:
	case PURPOSE_WRITE_DIRECT:
		break;
	case PURPOSE_READ_PAGE:
		file = client_file_at(client, op->file);
		waiters = (struct client_list){ request->waiters_head, request->waiters_tail };
		request->waiters_head = request->waiters_tail = NONE;
		smb_page_cache_failed(&file->cache, client_runs_of(client, op->file), slot, 0);
		client_wake_list(client, &waiters);
		op->transfer = (struct op_transfer){ .head = NONE, .tail = NONE };
		break;
	case PURPOSE_COMMAND:
		client_command_left(client, op, request->data_length);
		/* fall through */
	default:
		request->purpose = PURPOSE_CANCELLED;
		request->file = NONE;
		request->status = request->command == SMB2_CREATE && !closes; /* its handle is to be closed */
	}
	request->op = NONE;
	op->outstanding--;
}

static void leave_requests(struct smb_client *client, struct client_op *op)
{
	bool closes = chain_closes(client, op);

	for (uint32_t slot = 0; slot < client->requests.size; slot++) {
		const struct smb_request *request = client_request_at(client, slot);

		if (request->state == SMB_REQUEST_SENT && request->op == client_op_index(client, op))
			leave(client, op, slot, closes);
	}
}

static bool leave_waiters_of_requests(struct smb_client *client, uint32_t op)
{
	for (uint32_t slot = 0; slot < client->requests.size; slot++) {
		struct smb_request *request = client_request_at(client, slot);
		struct client_list waiters = { request->waiters_head, request->waiters_tail };
		bool found;

		if (request->state == SMB_REQUEST_FREE)
			continue;
		found = client_list_remove(client, &waiters, op);
		request->waiters_head = waiters.head;
		request->waiters_tail = waiters.tail;
		if (found)
			return true;
	}
	return false;
}

/** Take a blocked operation off the list it waits in. */
static void leave_list(struct smb_client *client, struct client_op *op)
{
	uint32_t i = client_op_index(client, op);
	bool found = true;

	switch (op->wait) {
	case OP_CREDITS:
		found = client_list_remove(client, &client_channel_at(client, op->channel)->waiters, i);
		client->waiting_for_credits--;
		break;
	case OP_READ:
		found = leave_waiters_of_requests(client, i);
		break;
	case OP_ROOM:
		found = client_list_remove(client, &client->for_room, i);
		break;
	case OP_SESSION:
		found = client_list_remove(client, &client->for_session, i);
		break;
	default:
		break;
	}
	assert(found);
	(void)found;
}

/** Waits that no signal ends: for the write-back of dirty pages, and what close(2) and umount(2) do. A command is not in a
 *  system call between two chains. */
static bool can_leave(const struct smb_client *client, const struct client_op *op)
{
	if (op->wait == OP_FREE || op->wait == OP_ENDED || op->wait == OP_COMMAND || op->passing || op->gave_up)
		return false;
	if (op->kind == SMB_OP_COMMAND)
		return client->command_op == client_op_index(client, op);
	return op->kind != SMB_OP_CLOSE && op->kind != SMB_OP_UNMOUNT;
}

bool smb_client_cancel(struct smb_client *client, uint32_t i, uint64_t now_ns)
{
	assert(i < client->limits.ops);
	assert(!client->outputs_count); /* drained: every request under way has been handed out */
	struct client_op *op = client_op_at(client, i);
	uint32_t channel = op->channel;

	client->now_ns = now_ns;
	if (!can_leave(client, op))
		return false;
	op->gave_up = true;
	op->verdict = SMB_OP_CANCELLED;
	op->status = STATUS_SUCCESS;
	if (op->wait == OP_RUNNABLE || op->wait == OP_COPY)
		return true; /* it sees the signal when it would block next */
	leave_list(client, op);
	leave_requests(client, op);
	if (op->wait == OP_CREDITS)
		client_credits_came(client, channel); /* what it waited for may be enough for those behind it */
	client_op_wake(client, op);
	return true;
}

/* ---------------------------------------------------------------------------------------- PDUs that were not sent */

/** Sent last of those on the channel, from MessageId `first` on; NONE when there is none. */
static uint32_t newest_from(const struct smb_client *client, uint32_t channel, uint64_t first)
{
	uint32_t newest = NONE;

	for (uint32_t slot = 0; slot < client->requests.size; slot++) {
		const struct smb_request *request = client_request_at(client, slot);

		if (request->state != SMB_REQUEST_SENT || request->channel != channel || request->message_id < first)
			continue;
		if (newest == NONE || request->message_id > client_request_at(client, newest)->message_id)
			newest = slot;
	}
	return newest;
}

bool smb_client_unsent(struct smb_client *client, uint32_t channel, uint64_t message_id, uint64_t now_ns)
{
	assert(channel < client->limits.channels);
	struct client_channel *at = client_channel_at(client, channel);
	uint32_t slot = smb_requests_find(&client->requests, client_request_arrays(client), channel, message_id);

	client->now_ns = now_ns;
	if (slot == NONE)
		return false;
	client_outputs_forget(client, channel);
	client_socket_takes_more(client, channel);
	while (at->state != CHANNEL_DOWN && (slot = newest_from(client, channel, message_id)) != NONE) {
		const struct smb_request *request = client_request_at(client, slot);
		bool given_back = smb_window_give_back(&at->window, request->message_id, request->charge);

		assert(given_back);
		(void)given_back;
		smb_credits_answered(&at->credits, request->credit_class, request->charge ? request->charge : 1,
				     request->instance);
		client_request_lost(client, slot);
	}
	client_credits_came(client, channel);
	return true;
}
