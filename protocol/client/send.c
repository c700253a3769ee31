/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the wish to send to a request on the wire: channel, credits, slot, MessageId. */
#include "protocol/client/internal.h"
#include "protocol/client/smb1.h"
#include "protocol/client/tables.h"

#include <assert.h>

uint32_t client_pick_channel(struct smb_client *client)
{
	return client->session.trees_lost ? NONE : client_pick_any_channel(client);
}

uint32_t client_pick_any_channel(struct smb_client *client)
{
	struct smb_channel_loads loads;

	loads.count = 1;
	loads.usable = 0;
	for (uint32_t i = 0; i < client->channels_used; i++) {
		const struct client_channel *channel = client_channel_at(client, i);

		loads.in_flight[i] = channel->credits.in_flight;
		if (channel->state == CHANNEL_READY)
			loads.usable |= UINT32_C(1) << i;
		if (channel->state == CHANNEL_READY || channel->state == CHANNEL_DOWN)
			loads.count = i + 1;
	}
	return smb_channel_pick(&client->picker, client->policy.channel_pick, &loads);
}

bool client_has_multi_credit(const struct smb_client *client)
{
	return client->session.dialect >= SMB2_DIALECT_210;
}

/** Take what the operation needs, if it is there. */
static enum smb_credit_verdict try_take(struct smb_client *client, struct client_op *op)
{
	struct smb_credits *credits = &client_channel_at(client, op->channel)->credits;
	enum smb_credit_verdict verdict;

	if (op->need == NEED_HEADERS) {
		verdict = smb_credits_take(credits, &client->policy, SMB_CREDIT_ORDINARY, op->need_headers);
		op->headers_taken = verdict == SMB_CREDIT_TAKEN;
	} else {
		verdict = smb_credits_take_io(credits, &client->policy, op->need_bytes, &op->take);
		op->io_taken = verdict == SMB_CREDIT_TAKEN;
	}
	return verdict;
}

/** True when taken. Else the operation waits in the channel's list, or is stalled. */
static bool take_or_wait(struct smb_client *client, struct client_op *op)
{
	struct client_channel *channel = client_channel_at(client, op->channel);
	enum smb_credit_verdict verdict = SMB_CREDIT_WAIT;

	assert(!op->stalled);
	if (channel->waiters.head == NONE)
		verdict = try_take(client, op);
	switch (verdict) {
	case SMB_CREDIT_TAKEN:
		return true;
	case SMB_CREDIT_WAIT:
		op->wait = OP_CREDITS;
		client->waiting_for_credits++;
		client_list_append(client, &channel->waiters, client_op_index(client, op));
		return false;
	case SMB_CREDIT_STALLED:
		op->stalled = true;
		return false;
	case SMB_CREDIT_BUSY:
		break;
	}
	assert(!"only an ECHO is told BUSY");
	return false;
}

bool client_take_headers(struct smb_client *client, struct client_op *op, uint32_t count)
{
	if (op->headers_taken) {
		assert(op->need_headers == count);
		return true;
	}
	op->need = NEED_HEADERS;
	op->need_headers = count;
	return take_or_wait(client, op);
}

bool client_take_io(struct smb_client *client, struct client_op *op, uint32_t bytes)
{
	if (op->io_taken)
		return true;
	if (!client_has_multi_credit(client)) {
		/* One credit each, taken when the request is sent (cifs_wait_mtu_credits). */
		op->take = (struct smb_credit_take){ .bytes = bytes };
		op->io_taken = true;
		return true;
	}
	op->need = NEED_IO;
	op->need_bytes = bytes;
	return take_or_wait(client, op);
}

void client_return_credits(struct smb_client *client, struct client_op *op)
{
	uint32_t channel = op->channel;
	struct smb_credits *credits;

	if (channel == NONE || (!op->io_taken && !op->headers_taken))
		return;
	credits = &client_channel_at(client, channel)->credits;
	if (op->headers_taken) {
		for (uint32_t i = 0; i < op->need_headers; i++)
			smb_credits_answered(credits, client_credit_class(client, SMB_CREDIT_ORDINARY), 1,
					     credits->instance);
	}
	if (op->io_taken)
		smb_credits_untake(credits, &op->take);
	op->headers_taken = false;
	op->io_taken = false;
	client_credits_came(client, channel);
}

void client_credits_came(struct smb_client *client, uint32_t index)
{
	struct client_channel *channel = client_channel_at(client, index);
	struct client_list waiting = channel->waiters;
	uint32_t i;

	if (waiting.head == NONE || (channel->credits.ordinary <= 0 && channel->credits.in_flight))
		return;
	channel->waiters = (struct client_list){ NONE, NONE };
	while ((i = client_list_pop(client, &waiting)) != NONE) {
		struct client_op *op = client_op_at(client, i);
		enum smb_credit_verdict verdict = try_take(client, op);

		if (verdict == SMB_CREDIT_WAIT) {
			client_list_append(client, &channel->waiters, i);
			continue;
		}
		op->stalled = verdict == SMB_CREDIT_STALLED;
		client->waiting_for_credits--;
		client_op_wake(client, op);
	}
}

bool client_has_request_room(const struct smb_client *client)
{
	return client->requests.taken + CLIENT_REQUEST_RESERVE < client->requests.size;
}

uint32_t client_request_take(struct smb_client *client, enum client_purpose purpose, uint32_t op)
{
	bool own = purpose == PURPOSE_ECHO || purpose == PURPOSE_LEASE_BREAK || purpose == PURPOSE_OPLOCK_BREAK ||
		   purpose == PURPOSE_LATE_CLOSE || purpose <= PURPOSE_SESSION_FINAL || op == client->limits.ops;
	uint32_t slot;

	if (!own && !client_has_request_room(client))
		return NONE;
	slot = smb_requests_take(&client->requests, client_request_arrays(client));
	if (slot == NONE)
		return NONE;
	client_request_at(client, slot)->purpose = (uint8_t)purpose;
	client_request_at(client, slot)->op = op;
	client_request_at(client, slot)->file = NONE;
	client_request_at(client, slot)->before = NONE;
	client_request_at(client, slot)->after = NONE;
	return slot;
}

void client_request_release(struct smb_client *client, uint32_t slot)
{
	smb_requests_release(&client->requests, client_request_arrays(client), slot);
	if (client->for_room.head != NONE)
		client_wake_list(client, &client->for_room);
}

static uint16_t amount_to_ask(const struct smb_client *client, const struct smb_request *request,
			      const struct smb_credits *credits)
{
	switch (request->purpose) {
	case PURPOSE_SESSION_FIRST:
	case PURPOSE_SESSION_FINAL:
		return smb_credits_ask_session_setup(credits, &client->policy);
	case PURPOSE_TREE_IPC:
	case PURPOSE_TREE_SHARE:
		return smb_credits_ask_tree_connect(credits, &client->policy);
	case PURPOSE_ECHO:
	case PURPOSE_LEASE_BREAK:
	case PURPOSE_OPLOCK_BREAK:
		return 1; /* what it used, so that the reserve is whole again (SMB2_echo, SMB2_oplock_break) */
	default:
		return smb_credits_ask(credits, &client->policy);
	}
}

/** Fill in everything the wire needs; the request is SENT afterwards. */
static void assign(struct smb_client *client, uint32_t slot, uint32_t index, uint16_t io_charge)
{
	struct client_channel *channel = client_channel_at(client, index);
	struct smb_request *request = client_request_at(client, slot);
	const struct purpose_info *info = client_purpose_info(request->purpose);
	bool without_tree = info->without_tree;

	SMB_CELL_TAKEN(SMB_TABLE_REQUESTS, request->purpose, SMB_FATE_SENT);
	request->channel = index;
	if (request->purpose == PURPOSE_COMMAND)
		request->command = client_command_of(client, request, &without_tree);
	else
		request->command = info->command;
	request->credit_class = client_credit_class(client, info->credit_class);
	request->instance = channel->credits.instance;
	request->async_id = 0;
	if (io_charge) {
		request->charge = io_charge;
		request->asked = smb_credits_ask_io(&channel->credits, &client->policy, io_charge);
	} else {
		/* 0 unless large MTU was negotiated, and without a tree (smb2_hdr_assemble). */
		request->charge = !without_tree && (client->session.capabilities & SMB2_GLOBAL_CAP_LARGE_MTU) &&
				  client->session.dialect >= SMB2_DIALECT_210;
		request->asked = amount_to_ask(client, request, &channel->credits);
	}
	request->message_id = smb_window_take(&channel->window, request->charge);
	smb_requests_sent(&client->requests, client_request_arrays(client), slot);
}

static void push_send(struct smb_client *client, uint32_t slot)
{
	const struct smb_request *request = client_request_at(client, slot);
	struct client_output *output = client_output_push(client, SMB_CLIENT_SEND);

	output->channel = request->channel;
	output->request = slot;
	output->message_id = request->message_id;
}

void client_request_send(struct smb_client *client, uint32_t slot, uint32_t channel, uint16_t io_charge)
{
	assign(client, slot, channel, io_charge);
	push_send(client, slot);
}

void client_chain_send(struct smb_client *client, uint32_t first, uint32_t channel)
{
	for (uint32_t slot = first; slot != NONE; slot = client_request_at(client, slot)->chain)
		assign(client, slot, channel, 0);
	push_send(client, first);
}
