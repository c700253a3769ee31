/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Channels that come back (cifs 6.12, __cifs_reconnect, smb2_reconnect, smb2_reconnect_server; MS-SMB2 3.2.7.1).
 *
 * A channel that goes down connects again by itself. As long as another one is READY the session lives: the channel
 * binds to it. With the last channel the session is gone, and its trees and handles with it: the first channel whose
 * TCP is up makes a new session, the worker connects the trees, and a file is opened again when it is next used.
 */
#include "protocol/client/cancel.h"

#include <assert.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define RETRY_NS (3 * NS_PER_S) /* between two attempts (cifs_reconnect: msleep(3000)) */
#define SOFT_WAIT_NS (10 * NS_PER_S) /* cifs_wait_for_server_reconnect */

bool client_session_lives(const struct smb_client *client)
{
	for (uint32_t i = 0; i < client->channels_used; i++) {
		if (client_channel_at(client, i)->state == CHANNEL_READY)
			return true;
	}
	return false;
}

static bool is_set_up(const struct client_channel *channel)
{
	return channel->state >= CHANNEL_NEGOTIATING && channel->state <= CHANNEL_SESSION_FINAL;
}

/** One channel at a time makes a session, the others bind to it afterwards (ses->session_mutex). */
static bool may_set_up(const struct smb_client *client)
{
	if (client_session_lives(client))
		return true;
	for (uint32_t i = 0; i < client->channels_used; i++) {
		if (is_set_up(client_channel_at(client, i)))
			return false;
	}
	return true;
}

void client_reconnect_connected(struct smb_client *client, uint32_t i)
{
	client_channel_step(client, i, may_set_up(client) ? CHANNEL_UP : CHANNEL_UP_EARLY);
}

bool client_is_reconnecting(const struct smb_client *client)
{
	if (!client->session.mounted)
		return false;
	for (uint32_t i = 0; i < client->channels_used; i++) {
		const struct client_channel *channel = client_channel_at(client, i);

		if (channel->state != CHANNEL_UNUSED && channel->state != CHANNEL_READY)
			return true;
	}
	return client->session.trees_lost;
}

/* ------------------------------------------------------------------------------------------------ what was lost */

static void invalidate_handles(struct smb_client *client)
{
	for (uint32_t i = 0; i < client->limits.files; i++) {
		struct client_file *file = client_file_at(client, i);

		if (file->state == FILE_FREE)
			continue;
		file->is_invalid = true;
		client_break_forget(client, file); /* nobody waits for that acknowledgement any more */
	}
}

/** The last READY channel is gone: nothing of the session may be used again (C22). */
static void session_lost(struct smb_client *client)
{
	struct client_session *session = &client->session;

	session->previous_id = session->session_id;
	session->session_id = 0;
	session->tree_ipc = 0;
	session->tree_share = 0;
	session->trees_lost = true;
	session->count++;
	invalidate_handles(client);
	client_closes_forget(client);
	for (uint32_t i = 0; i < client->channels_used; i++) {
		/* What is under way there binds to the session that is gone. */
		if (is_set_up(client_channel_at(client, i)))
			client_channel_at(client, i)->is_given_up = true;
	}
}

void client_reconnect_lost(struct smb_client *client, uint32_t i)
{
	struct client_channel *channel = client_channel_at(client, i);

	channel->retry_ns = NEVER;
	channel->is_given_up = false;
	client->reconnect_due = true; /* others may wait for their turn */
	if (!client->session.mounted)
		return;
	if (client->session.session_id && !client_session_lives(client))
		session_lost(client);
	if (client->mount_op == NONE && channel->state == CHANNEL_DOWN)
		channel->retry_ns = client->now_ns + (channel->was_ready ? 0 : RETRY_NS);
	channel->was_ready = false;
	client->timers_changed = true;
}

void client_reconnect_start(struct smb_client *client)
{
	for (uint32_t i = 0; i < client->channels_used; i++) {
		if (client_channel_at(client, i)->state == CHANNEL_DOWN)
			client_channel_at(client, i)->retry_ns = client->now_ns;
	}
	client->reconnect_due = true;
}

void client_reconnect_all(struct smb_client *client)
{
	for (uint32_t i = 0; i < client->channels_used; i++) {
		struct client_channel *channel = client_channel_at(client, i);

		if (channel->state == CHANNEL_READY || is_set_up(channel))
			channel->is_given_up = true;
	}
	client->reconnect_due = true;
}

/* --------------------------------------------------------------------------------------------------- the worker */

static void work_on(struct smb_client *client, enum client_work work, uint32_t file)
{
	struct client_op *op = client_worker(client);

	assert(op->wait == OP_FREE);
	*op = (struct client_op){
		.kind = SMB_OP_CLOSE,
		.work = work,
		.wait = OP_RUNNABLE,
		.channel = NONE,
		.wrote_on = NONE,
		.file = file,
		.session_count = client->session.count,
	};
	if (file != NONE)
		memcpy(op->name, client_file_at(client, file)->name, sizeof(op->name));
	client_list_append(client, &client->runnable, client_op_index(client, op));
}

/** The next thing to do for the worker, if it is free. Trees come first, handles need them. */
static void work_next(struct smb_client *client)
{
	if (client_worker(client)->wait != OP_FREE || !client->session.mounted || client->mount_op != NONE ||
	    !client_session_lives(client) || client->work_retry_ns != NEVER)
		return;
	if (client->session.trees_lost) {
		work_on(client, WORK_TREES, NONE);
		return;
	}
	for (uint32_t i = 0; i < client->limits.files; i++) {
		struct client_file *file = client_file_at(client, i);

		if (file->state >= FILE_OPEN && file->is_invalid && file->reopen_wanted) {
			file->reopen_wanted = false;
			work_on(client, WORK_REOPEN, i);
			return;
		}
	}
}

/** Those who wait end with an error: all of them, or (`file` not NONE) those of one file. */
static void give_up(struct smb_client *client, uint32_t file, enum smb_op_verdict verdict, uint32_t status)
{
	struct client_list waiting = client->for_session;
	uint32_t i;

	client->for_session = (struct client_list){ NONE, NONE };
	while ((i = client_list_pop(client, &waiting)) != NONE) {
		struct client_op *op = client_op_at(client, i);

		if (file != NONE && op->file != file) {
			client_list_append(client, &client->for_session, i);
			continue;
		}
		op->gave_up = true;
		op->verdict = verdict;
		op->status = status;
		client_op_wake(client, op);
	}
}

void client_worker_ended(struct smb_client *client, enum smb_op_verdict verdict, uint32_t status)
{
	struct client_op *op = client_worker(client);
	enum client_work work = op->work;
	uint32_t file = op->file;

	op->wait = OP_FREE;
	client->reconnect_due = true;
	client_wake_list(client, &client->for_room); /* a CLOSE or an UNMOUNT may wait for that */
	if (!client->session.mounted || client->mount_op != NONE)
		return;
	if (verdict == SMB_OP_OK && work == WORK_TREES) {
		client->session.trees_lost = false;
		client_requery_now(client);
	}
	if (verdict == SMB_OP_OK) {
		client_wake_list(client, &client->for_session);
		return;
	}
	if (verdict == SMB_OP_DISCONNECTED && op->losses < CLIENT_LOSSES_MAX)
		return; /* once more when a channel is back */
	if (work == WORK_REOPEN) {
		client_lost_forget(client, file);
		give_up(client, file, verdict, status);
		return;
	}
	client->work_retry_ns = client->now_ns + RETRY_NS;
	client->timers_changed = true;
	if (client->mount.soft)
		give_up(client, NONE, verdict, status);
}

/* ------------------------------------------------------------------------------------------------- those who wait */

void client_wait_session(struct smb_client *client, struct client_op *op)
{
	op->wait = OP_SESSION;
	op->give_up_ns = client->mount.soft ? client->now_ns + SOFT_WAIT_NS : NEVER;
	client_list_append(client, &client->for_session, client_op_index(client, op));
	client->timers_changed = true;
	client->reconnect_due = true; /* a handle may be wanted now */
}

void client_lost_timer_start(struct smb_client *client)
{
	client->lost_give_up_ns = client->mount.soft ? client->now_ns + SOFT_WAIT_NS : NEVER;
	client->timers_changed = true;
}

bool client_need_channel(struct smb_client *client, struct client_op *op)
{
	struct client_file *file = client_file_at(client, op->file);

	if (op->channel != NONE)
		return true;
	if (!file->is_invalid)
		op->channel = client_pick_channel(client);
	if (op->channel != NONE)
		return true;
	file->reopen_wanted = file->is_invalid;
	client_wait_session(client, op);
	return false;
}

void client_reconnect_ready(struct smb_client *client, uint32_t i)
{
	struct client_channel *channel = client_channel_at(client, i);

	channel->was_ready = true;
	client->reconnect_due = true; /* those whose TCP is up bind now; the worker starts */
	if (!client->session.mounted)
		return;
	client->reconnects++;
	if (!client->session.trees_lost)
		client_wake_list(client, &client->for_session);
}

static void run_channel(struct smb_client *client, uint32_t i)
{
	struct client_channel *channel = client_channel_at(client, i);

	if (channel->is_given_up)
		client_channel_drop(client, i, SMB_OP_DISCONNECTED, STATUS_SUCCESS);
	if (channel->state == CHANNEL_DOWN && channel->retry_ns <= client->now_ns)
		client_channel_step(client, i, CHANNEL_OPEN);
	else if (channel->state == CHANNEL_CONNECTED && may_set_up(client))
		client_channel_step(client, i, CHANNEL_UP);
}

void client_reconnect_run(struct smb_client *client)
{
	client->reconnect_due = false;
	for (uint32_t i = 0; i < client->channels_used; i++) {
		if (!client_has_output_room(client)) {
			client->reconnect_due = true;
			return;
		}
		run_channel(client, i);
	}
	work_next(client);
}

/* --------------------------------------------------------------------------------------------------------- timers */

static bool has_tcp(const struct smb_client *client)
{
	for (uint32_t i = 0; i < client->channels_used; i++) {
		const struct client_channel *channel = client_channel_at(client, i);

		if (channel->state >= CHANNEL_CONNECTED && channel->state <= CHANNEL_READY)
			return true;
	}
	return false;
}

/** A soft mount waits for TCP only once; while a server is there, it is asked for the rest. */
static void waiters_timer(struct smb_client *client)
{
	struct client_list waiting = client->for_session;
	bool patient = has_tcp(client);
	uint32_t i;

	if (client->lost_head != NONE && client->lost_give_up_ns <= client->now_ns && patient)
		client->lost_give_up_ns = client->now_ns + SOFT_WAIT_NS;
	if (client->lost_head != NONE && client->lost_give_up_ns <= client->now_ns) {
		for (i = 0; i < client->limits.files; i++)
			client_lost_forget(client, i);
	}
	client->for_session = (struct client_list){ NONE, NONE };
	while ((i = client_list_pop(client, &waiting)) != NONE) {
		struct client_op *op = client_op_at(client, i);

		if (op->give_up_ns <= client->now_ns && !patient) {
			op->gave_up = true;
			op->verdict = SMB_OP_DISCONNECTED;
			op->status = STATUS_SUCCESS;
			client_op_wake(client, op);
			continue;
		}
		if (op->give_up_ns <= client->now_ns)
			op->give_up_ns = client->now_ns + SOFT_WAIT_NS;
		client_list_append(client, &client->for_session, i);
	}
}

uint64_t client_reconnect_timer(const struct smb_client *client)
{
	uint64_t next = client->work_retry_ns;

	if (client->lost_head != NONE && client->lost_give_up_ns < next)
		next = client->lost_give_up_ns;
	for (uint32_t i = 0; i < client->channels_used; i++) {
		if (client_channel_at(client, i)->retry_ns < next)
			next = client_channel_at(client, i)->retry_ns;
	}
	for (uint32_t i = client->for_session.head; i != NONE; i = client_op_at(client, i)->link) {
		if (client_op_at(client, i)->give_up_ns < next)
			next = client_op_at(client, i)->give_up_ns;
	}
	return next;
}

void client_reconnect_timers(struct smb_client *client)
{
	if (client_reconnect_timer(client) > client->now_ns)
		return;
	client->timers_changed = true;
	client->reconnect_due = true;
	if (client->work_retry_ns <= client->now_ns)
		client->work_retry_ns = NEVER;
	waiters_timer(client);
}

void client_reconnect_stop(struct smb_client *client)
{
	for (uint32_t i = 0; i < client->limits.channels; i++)
		client_channel_at(client, i)->retry_ns = NEVER;
	for (uint32_t i = 0; i < client->limits.files; i++)
		client_lost_forget(client, i);
	client_closes_forget(client);
	client->work_retry_ns = NEVER;
	client_wake_list(client, &client->for_session);
}
