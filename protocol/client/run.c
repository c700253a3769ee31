/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run queue, the other lists of operations, and the outputs that wait for the host. */
#include "protocol/client/cancel.h"
#include "protocol/client/write.h"

#include <assert.h>

void client_list_append(struct smb_client *client, struct client_list *list, uint32_t op)
{
	client_op_at(client, op)->link = NONE;
	if (list->head == NONE)
		list->head = op;
	else
		client_op_at(client, list->tail)->link = op;
	list->tail = op;
}

uint32_t client_list_pop(struct smb_client *client, struct client_list *list)
{
	uint32_t op = list->head;

	if (op == NONE)
		return NONE;
	list->head = client_op_at(client, op)->link;
	if (list->head == NONE)
		list->tail = NONE;
	client_op_at(client, op)->link = NONE;
	return op;
}

bool client_list_remove(struct smb_client *client, struct client_list *list, uint32_t op)
{
	uint32_t before = NONE;
	uint32_t i = list->head;

	while (i != NONE && i != op) {
		before = i;
		i = client_op_at(client, i)->link;
	}
	if (i == NONE)
		return false;
	if (before == NONE)
		list->head = client_op_at(client, op)->link;
	else
		client_op_at(client, before)->link = client_op_at(client, op)->link;
	if (list->tail == op)
		list->tail = before;
	client_op_at(client, op)->link = NONE;
	return true;
}

static void list_prepend(struct smb_client *client, struct client_list *list, uint32_t op)
{
	client_op_at(client, op)->link = list->head;
	list->head = op;
	if (list->tail == NONE)
		list->tail = op;
}

void client_op_wake(struct smb_client *client, struct client_op *op)
{
	assert(op->wait != OP_FREE && op->wait != OP_RUNNABLE && op->wait != OP_ENDED);
	op->wait = OP_RUNNABLE;
	client_list_append(client, &client->runnable, client_op_index(client, op));
}

void client_wake_list(struct smb_client *client, struct client_list *list)
{
	uint32_t i;

	while ((i = client_list_pop(client, list)) != NONE)
		client_op_wake(client, client_op_at(client, i));
}

void client_wait_room(struct smb_client *client, struct client_op *op)
{
	op->wait = OP_ROOM;
	client_list_append(client, &client->for_room, client_op_index(client, op));
}

void client_wait_request(struct smb_client *client, struct client_op *op, uint32_t slot)
{
	struct smb_request *request = client_request_at(client, slot);
	struct client_list waiters = { request->waiters_head, request->waiters_tail };

	assert(request->state != SMB_REQUEST_FREE);
	op->wait = OP_READ;
	client_list_append(client, &waiters, client_op_index(client, op));
	request->waiters_head = waiters.head;
	request->waiters_tail = waiters.tail;
}

bool client_has_output_room(const struct smb_client *client)
{
	return client->outputs_count + CLIENT_OUTPUT_RESERVE <= client->limits.outputs;
}

struct client_output *client_output_push(struct smb_client *client, enum smb_client_output_kind kind)
{
	uint32_t at = client->outputs_head + client->outputs_count;
	struct client_output *output;

	/* The host drains everything after each input, so the reserve is all that one input can need. */
	assert(client->outputs_count < client->limits.outputs);
	output = &client_outputs(client)[at < client->limits.outputs ? at : at - client->limits.outputs];
	client->outputs_count++;
	*output = (struct client_output){ .kind = kind, .channel = NONE, .op = NONE, .request = NONE };
	return output;
}

void client_op_end(struct smb_client *client, struct client_op *op, enum smb_op_verdict verdict, uint32_t status)
{
	assert(op->wait == OP_RUNNABLE || op->wait == OP_REPLY);
	assert(!op->outstanding);
	client_return_credits(client, op);
	if (op->work != WORK_NONE) {
		client_worker_ended(client, verdict, status);
		return;
	}
	if ((op->kind == SMB_OP_READ || op->kind == SMB_OP_WRITE || op->kind == SMB_OP_FSYNC) &&
	    --client_file_at(client, op->file)->users == 0)
		client_wake_list(client, &client->for_room); /* a CLOSE may wait for that */
	if (client->mount_op == client_op_index(client, op))
		client->mount_op = NONE;
	op->wait = OP_ENDED;
	op->verdict = verdict;
	op->status = status;
	client_output_push(client, SMB_CLIENT_DONE)->op = client_op_index(client, op);
}

static void run_one(struct smb_client *client)
{
	uint32_t i = client_list_pop(client, &client->runnable);
	struct client_op *op = client_op_at(client, i);

	if (op->work == WORK_FLUSH)
		client_flusher_run(client, op);
	else if (op->kind == SMB_OP_READ)
		client_read_run(client, op);
	else if (op->kind == SMB_OP_WRITE)
		client_write_run(client, op);
	else if (op->kind == SMB_OP_COMMAND)
		client_command_run(client, op);
	else
		client_script_run(client, op);
	/* Still runnable: the outputs are full. It goes on before any other, as a thread would. */
	if (op->wait == OP_RUNNABLE)
		list_prepend(client, &client->runnable, i);
}

void client_pump(struct smb_client *client)
{
	if (client->breaks_pending)
		client_breaks_send(client);
	do {
		if (client->reconnect_due)
			client_reconnect_run(client);
		client_lost_run(client);
		client_closes_run(client);
		client_commands_pump(client);
		while (client->runnable.head != NONE && client_has_output_room(client)) {
			run_one(client);
			client_commands_pump(client);
		}
	} while (client->reconnect_due && client_has_output_room(client));
	if (client->timers_changed && client_has_output_room(client)) {
		uint64_t when = client_next_timer(client);

		client->timers_changed = false;
		if (when != client->wake_ns && when != NEVER)
			client_output_push(client, SMB_CLIENT_WAKE)->offset = when;
		client->wake_ns = when;
	}
}
