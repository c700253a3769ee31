/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* COMMAND: shell commands. protocol/ops says which chain comes next; here it gets channel, credits and MessageIds. A
 * CLOSE that was put off is sent beside the command, by an operation of its own that no host sees. */
#include "protocol/client/cancel.h"

#include <assert.h>

static bool is_background(const struct client_op *op)
{
	return op->lane != SMB_OPS_LANE_COMMAND;
}

void client_commands_start(struct smb_client *client)
{
	const struct client_session *session = &client->session;
	struct smb_ops_limits limits = { client->limits.names, client->limits.command_files };
	struct smb_ops_config config = {
		.policy = client->policy,
		.dialect = session->dialect,
		.can_lease = session->capabilities & SMB2_GLOBAL_CAP_LEASING,
		.actimeo_ms = client->mount.actimeo_ms,
		.serverino = client->mount.serverino,
		.mfsymlinks = client->mount.mfsymlinks,
		.nostrictsync = client->mount.nostrictsync,
		.rsize = session->rsize,
		.wsize = session->wsize,
		.page_bytes = client->page_bytes,
		.filetime_zero = UINT64_C(132539328000000000), /* 2021-01-01 */
	};
	struct smb_ops *ops = client_commands(client);

	client->command_wake_ns = NEVER;
	client->command_session = session->count;
	if (!ops)
		return;
	for (uint32_t i = 0; i < sizeof(config.lease_seed); i++)
		config.lease_seed[i] = (uint8_t)(client->client_guid[i] ^ 0x5a); /* apart from the keys of OPEN */
	if (!smb_ops_init(ops, &limits, &config))
		assert(!"limits and policy are of a client that is valid");
}

/** What protocol/ops knows, handles above all, is of a session that was lost: nothing of it may be sent (C22). */
static bool is_stale(const struct smb_client *client)
{
	return client->command_session != client->session.count;
}

static bool has_background(const struct smb_client *client)
{
	for (uint32_t i = 0; i < client->limits.ops; i++) {
		const struct client_op *op = client_op_at(client, i);

		if (op->kind == SMB_OP_COMMAND && op->wait != OP_FREE && is_background(op))
			return true;
	}
	return false;
}

bool client_command_begin(struct smb_client *client, uint32_t i, const struct smb_ops_command *command)
{
	struct smb_ops *ops = client_commands(client);

	if (ops && is_stale(client) && client->command_op == NONE && !has_background(client))
		client_commands_start(client); /* with the handles every cached name goes */
	if (!ops || is_stale(client) || client->command_op != NONE || !smb_ops_begin(ops, command, client->now_ns))
		return false;
	client_op_at(client, i)->lane = SMB_OPS_LANE_COMMAND;
	client_op_at(client, i)->wait = OP_COMMAND;
	client->command_op = i;
	client->command_due = true;
	client->command_unmounts = command->kind == SMB_OPS_UMOUNT;
	return true;
}

/* ------------------------------------------------------------------------------------------------- what comes next */

static uint32_t free_op(const struct smb_client *client)
{
	for (uint32_t i = 0; i < client->limits.ops; i++) {
		if (client_op_at(client, i)->wait == OP_FREE)
			return i;
	}
	return NONE;
}

static void begin_chain(struct smb_client *client, const struct smb_ops_step *step)
{
	uint32_t i = client->command_op;
	struct client_op *op;

	if (step->lane != SMB_OPS_LANE_COMMAND) {
		i = free_op(client);
		*client_op_at(client,
			      i) = (struct client_op){ .kind = SMB_OP_COMMAND, .wait = OP_COMMAND, .wrote_on = NONE };
	}
	op = client_op_at(client, i);
	op->lane = step->lane;
	op->members = step->count;
	op->channel = NONE;
	op->file = NONE;
	client_op_wake(client, op);
}

static void end_command(struct smb_client *client, enum smb_ops_error error)
{
	struct client_op *op = client_op_at(client, client->command_op);
	struct smb_ops_info info;

	smb_ops_look(client_commands(client), &info);
	op->bytes = info.bytes_read + info.bytes_written;
	op->error = error;
	op->verdict = error ? SMB_OP_FAILED : SMB_OP_OK;
	op->status = STATUS_SUCCESS;
	client->command_op = NONE;
	if (client->command_unmounts && !error) {
		client_unmount_shut(client, op);
		return;
	}
	op->wait = OP_REPLY;
	client_op_end(client, op, op->verdict, op->status);
}

void client_commands_pump(struct smb_client *client)
{
	struct smb_ops *ops = client_commands(client);
	struct smb_ops_step step;

	/* A free slot and room for an output are there before the question: the answer must be taken. */
	while (ops && client->command_due && client_has_output_room(client) && free_op(client) != NONE) {
		smb_ops_next(ops, client->now_ns, &step);
		switch (step.kind) {
		case SMB_OPS_SEND:
			begin_chain(client, &step);
			break;
		case SMB_OPS_DONE:
			end_command(client, step.error);
			break;
		case SMB_OPS_IDLE:
			client->command_due = false;
			client->timers_changed |= client->command_wake_ns != step.when_ns;
			client->command_wake_ns = step.when_ns;
			break;
		}
	}
}

void client_commands_timer(struct smb_client *client)
{
	if (client->now_ns < client->command_wake_ns)
		return;
	client->command_wake_ns = NEVER;
	client->timers_changed = true;
	client->command_due = true;
}

/* -------------------------------------------------------------------------------------------------------------- chains */

void client_command_message(const struct smb_client *client, const struct smb_request *request,
			    struct smb2_message *message, struct smb_ops_scratch *scratch)
{
	struct smb2_header header = message->header;
	struct smb_ops_member_info info;

	smb_ops_member(client_commands(client), client_op_at(client, request->op)->lane, request->data_length, message,
		       scratch, &info);
	message->header = header;
	if (info.payment == SMB_OPS_PAY_SESSION)
		message->header.tree_id = 0;
}

uint16_t client_command_of(const struct smb_client *client, const struct smb_request *request, bool *without_tree)
{
	struct smb_ops_scratch scratch;
	struct smb_ops_member_info info;
	struct smb2_message message;

	smb_ops_member(client_commands(client), client_op_at(client, request->op)->lane, request->data_length, &message,
		       &scratch, &info);
	*without_tree = info.payment == SMB_OPS_PAY_SESSION;
	return message.header.command;
}

/** The last answer is in, or none will come. */
static void chain_over(struct smb_client *client, struct client_op *op)
{
	client->command_due = true;
	op->stalled = false;
	if (is_background(op))
		op->wait = OP_FREE;
	else
		op->wait = OP_COMMAND;
}

/** No channel, or no credits ever: each member fails. */
static void chain_lost(struct smb_client *client, struct client_op *op)
{
	struct smb_ops *ops = client_commands(client);

	client_return_credits(client, op);
	for (uint32_t i = 0; i < op->members; i++)
		smb_ops_reply(ops, op->lane, i, NULL, client->now_ns);
	chain_over(client, op);
}

/** Credits for the chain; a READ or WRITE may have to do with less and is cut. False: it waits, or is stalled. */
static bool take_credits(struct smb_client *client, struct client_op *op, const struct smb_ops_member_info *info)
{
	uint32_t bytes;

	if (info->payment != SMB_OPS_PAY_IO)
		return client_take_headers(client, op, op->members);
	if (!client_take_io(client, op, info->io_bytes))
		return false;
	bytes = op->take.bytes < info->io_bytes ? op->take.bytes : info->io_bytes;
	if (smb_credits_adjust(&client_channel_at(client, op->channel)->credits, &op->take, bytes) !=
	    SMB_CREDIT_ADJUSTED)
		assert(!"credits taken on a lost connection are dropped with it");
	if (bytes < info->io_bytes)
		smb_ops_shorten(client_commands(client), bytes);
	return op->take.credits || client_take_headers(client, op, 1);
}

static void send_members(struct smb_client *client, struct client_op *op)
{
	uint32_t first = NONE;

	for (uint32_t n = op->members; n--;) {
		uint32_t slot = client_request_take(client, PURPOSE_COMMAND, client_op_index(client, op));

		assert(slot != NONE);
		client_request_at(client, slot)->data_length = n;
		client_request_at(client, slot)->chain = first;
		first = slot;
	}
	if (op->io_taken)
		client_request_send(client, first, op->channel, op->take.credits);
	else
		client_chain_send(client, first, op->channel);
	op->headers_taken = false;
	op->io_taken = false;
	op->outstanding = op->members;
	op->channel = NONE;
	op->wait = OP_REPLY;
}

void client_command_run(struct smb_client *client, struct client_op *op)
{
	struct smb_ops_scratch scratch;
	struct smb_ops_member_info info;
	struct smb2_message message;

	if (op->stalled || op->gave_up || is_stale(client)) {
		op->gave_up = false;
		chain_lost(client, op);
		return;
	}
	if (op->channel == NONE)
		op->channel = client_pick_channel(client);
	if (op->channel == NONE) {
		client_wait_session(client, op);
		return;
	}
	smb_ops_member(client_commands(client), op->lane, 0, &message, &scratch, &info);
	if (!take_credits(client, op, &info))
		return;
	if (client->requests.taken + op->members + CLIENT_REQUEST_RESERVE > client->requests.size) {
		op->wait = OP_ROOM;
		client_list_append(client, &client->for_room, client_op_index(client, op));
		return;
	}
	send_members(client, op);
}

void client_command_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message)
{
	struct smb_request *request = client_request_at(client, slot);
	struct client_op *op = client_op_at(client, request->op);
	uint32_t member = request->data_length;

	client_request_release(client, slot);
	smb_ops_reply(client_commands(client), op->lane, member, message, client->now_ns);
	if (--op->outstanding == 0)
		chain_over(client, op);
}

void client_command_left(struct smb_client *client, struct client_op *op, uint32_t member)
{
	smb_ops_reply(client_commands(client), op->lane, member, NULL, client->now_ns);
}

bool smb_client_drop_names(struct smb_client *client)
{
	if (!client_commands(client) || client->command_op != NONE)
		return false;
	smb_ops_drop_caches(client_commands(client));
	return true;
}
