/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MOUNT, UNMOUNT, OPEN and CLOSE: sequences of requests, one answered before the next is sent. */
#include "protocol/client/cancel.h"
#include "protocol/client/smb1.h"
#include "protocol/client/write.h"
#include "protocol/wire/contexts.h"

#include <assert.h>
#include <string.h>

enum script_action {
	DO_SEND, /* `purposes`, more than one as a related chain */
	DO_CONNECT, /* the first channel */
	DO_CHANNELS, /* the further ones */
	DO_CLOSE_FILES, /* CLOSE for each file still open */
	DO_WRITE_BACK, /* until nothing of the file is dirty or under way to the server */
	DO_WAIT_READS, /* until no READ of the file is under way */
	DO_SHUT, /* close the channels; then the operation ends as noted */
	DO_END,
};

/* When a step is taken; all bits set must hold. */
#define WHEN_3X 0x01u /* dialect 3.0 or later */
#define WHEN_NOT_SIGNED_NEGOTIATE 0x02u /* before 3.1.1 NEGOTIATE has to be checked afterwards (MS-SMB2 3.2.5.5) */
#define WHEN_CHAINS 0x04u
#define WHEN_SINGLES 0x08u
#define WHEN_REFERRAL_FIRST 0x10u /* 6.12 asks for referrals before it connects to the share */
#define WHEN_REFERRAL_LATE 0x20u
#define WHEN_FILE_NUMBER_ASKED 0x40u /* before QFid brought it with CREATE (5.4, facts A11) */
#define WHEN_IPC 0x80u /* IPC$ could be connected */
#define WHEN_INVALID 0x100u /* the file has no handle yet */
#define WHEN_PRESENT 0x200u /* the look at the file found it */
#define WHEN_STRICT_SYNC 0x400u /* fsync(2) has the server flush too */

struct script_step {
	enum script_action action;
	uint16_t when;
	uint8_t count;
	uint8_t purposes[3];
};

#define SEND(condition, purpose)                                                                                       \
	{                                                                                                              \
		DO_SEND, condition, 1,                                                                                 \
		{                                                                                                      \
			purpose                                                                                        \
		}                                                                                                      \
	}
#define STAT_AS_CHAIN                                                                                                  \
	{                                                                                                              \
		DO_SEND, WHEN_CHAINS, 3,                                                                               \
		{                                                                                                      \
			PURPOSE_STAT_OPEN, PURPOSE_STAT_INFO, PURPOSE_STAT_CLOSE                                       \
		}                                                                                                      \
	}
#define STAT_AS_SINGLES                                                                                                \
	SEND(WHEN_SINGLES, PURPOSE_STAT_OPEN), SEND(WHEN_SINGLES | WHEN_PRESENT, PURPOSE_STAT_INFO),                   \
		SEND(WHEN_SINGLES | WHEN_PRESENT, PURPOSE_STAT_CLOSE)

/* captures/ops-6.1.tsv and ops-6.12.tsv, rows `mount`. */
static const struct script_step mount_script[] = {
	{ .action = DO_CONNECT },
	SEND(0, PURPOSE_TREE_IPC),
	SEND(WHEN_NOT_SIGNED_NEGOTIATE | WHEN_IPC, PURPOSE_VALIDATE_IPC),
	SEND(WHEN_REFERRAL_FIRST | WHEN_IPC, PURPOSE_REFERRAL),
	SEND(0, PURPOSE_TREE_SHARE),
	SEND(0, PURPOSE_UNIX_QUERY),
	SEND(0, PURPOSE_UNIX_SET),
	SEND(WHEN_NOT_SIGNED_NEGOTIATE, PURPOSE_VALIDATE_SHARE),
	SEND(0, PURPOSE_ROOT_OPEN),
	SEND(WHEN_3X, PURPOSE_INTERFACES),
	SEND(0, PURPOSE_FS_ATTRIBUTE),
	SEND(0, PURPOSE_FS_DEVICE),
	SEND(WHEN_3X, PURPOSE_FS_VOLUME),
	SEND(WHEN_3X, PURPOSE_FS_SECTOR),
	SEND(0, PURPOSE_HANDLE_CLOSE),
	SEND(WHEN_REFERRAL_LATE | WHEN_IPC, PURPOSE_REFERRAL),
	SEND(0, PURPOSE_ROOT_OPEN),
	SEND(0, PURPOSE_HANDLE_CLOSE),
	SEND(0, PURPOSE_ROOT_OPEN),
	SEND(0, PURPOSE_HANDLE_CLOSE),
	{ .action = DO_CHANNELS },
	STAT_AS_CHAIN,
	STAT_AS_SINGLES,
	{ .action = DO_END },
};

static const struct script_step unmount_script[] = {
	{ .action = DO_CLOSE_FILES },
	SEND(0, PURPOSE_TREE_DISCONNECT),
	SEND(0, PURPOSE_LOGOFF),
	{ .action = DO_SHUT },
};

/* A mount that failed ends the same way, without a word to the server. */
static const struct script_step failed_mount_script[] = {
	{ .action = DO_SHUT },
};

/* captures/ops-6.1.tsv, rows `cat10`: lookup, then open. Without compounds: facts A8, Q and CI. */
static const struct script_step open_script[] = {
	STAT_AS_CHAIN,	      STAT_AS_SINGLES, SEND(0, PURPOSE_OPEN), SEND(WHEN_FILE_NUMBER_ASKED, PURPOSE_FILE_NUMBER),
	{ .action = DO_END },
};

/* cifs 6.1, cifs_strict_fsync. */
static const struct script_step fsync_script[] = {
	{ .action = DO_WRITE_BACK },
	SEND(WHEN_STRICT_SYNC, PURPOSE_FLUSH),
	{ .action = DO_END },
};

static const struct script_step close_script[] = {
	{ .action = DO_WRITE_BACK },
	{ .action = DO_WAIT_READS },
	SEND(0, PURPOSE_CLOSE),
	{ .action = DO_END },
};

/* A new session's trees, in the order in which the reconnect worker of cifs 6.1 collects them. */
static const struct script_step trees_script[] = {
	SEND(0, PURPOSE_TREE_SHARE), SEND(0, PURPOSE_UNIX_QUERY),
	SEND(0, PURPOSE_UNIX_SET),   SEND(WHEN_NOT_SIGNED_NEGOTIATE, PURPOSE_VALIDATE_SHARE),
	SEND(0, PURPOSE_TREE_IPC),   SEND(WHEN_NOT_SIGNED_NEGOTIATE | WHEN_IPC, PURPOSE_VALIDATE_IPC),
	{ .action = DO_END },
};

/* cifs 6.1, cifs_reopen_file: the durable handle, else a new open; then the attributes are looked at again. */
static const struct script_step reopen_script[] = {
	SEND(0, PURPOSE_REOPEN_DURABLE),
	SEND(WHEN_INVALID, PURPOSE_REOPEN),
	STAT_AS_CHAIN,
	STAT_AS_SINGLES,
	{ .action = DO_END },
};

#define SCRIPT_FAILED_MOUNT 0x100u /* in client_op.step: the other script of MOUNT */

static const struct script_step *step_of(const struct client_op *op)
{
	if (op->work != WORK_NONE)
		return op->work == WORK_TREES ? &trees_script[op->step] : &reopen_script[op->step];
	switch (op->kind) {
	case SMB_OP_MOUNT:
		if (op->step & SCRIPT_FAILED_MOUNT)
			return &failed_mount_script[op->step & ~SCRIPT_FAILED_MOUNT];
		return &mount_script[op->step];
	case SMB_OP_UNMOUNT:
		return &unmount_script[op->step];
	case SMB_OP_OPEN:
		return &open_script[op->step];
	case SMB_OP_CLOSE:
		return &close_script[op->step];
	case SMB_OP_FSYNC:
		return &fsync_script[op->step];
	case SMB_OP_READ:
	case SMB_OP_WRITE:
	case SMB_OP_COMMAND:
		break;
	}
	assert(!"READ, WRITE and COMMAND have no script");
	return NULL;
}

static bool is_wanted(const struct smb_client *client, const struct client_op *op, const struct script_step *step)
{
	const struct client_session *session = &client->session;
	enum smb_compounding compounding = client->policy.compounding;
	bool referral_first = compounding >= SMB_COMPOUND_6_12;
	uint16_t holds = 0;

	if (client_is_smb1(client))
		compounding = SMB_COMPOUND_NONE;
	if (step->action == DO_SEND && !client_speaks(client, step->purposes[0]))
		return false;
	if (session->dialect >= SMB2_DIALECT_300)
		holds |= WHEN_3X;
	if (session->dialect >= SMB2_DIALECT_300 && session->dialect < SMB2_DIALECT_311)
		holds |= WHEN_NOT_SIGNED_NEGOTIATE;
	holds |= compounding == SMB_COMPOUND_NONE ? WHEN_SINGLES : WHEN_CHAINS;
	holds |= referral_first ? WHEN_REFERRAL_FIRST : WHEN_REFERRAL_LATE;
	if (compounding < SMB_COMPOUND_6_1)
		holds |= WHEN_FILE_NUMBER_ASKED;
	if (session->tree_ipc)
		holds |= WHEN_IPC;
	if (op->file != NONE && client_file_at(client, op->file)->is_invalid)
		holds |= WHEN_INVALID;
	if (!op->absent)
		holds |= WHEN_PRESENT;
	if (!client->mount.nostrictsync && !op->without_flush)
		holds |= WHEN_STRICT_SYNC;
	return (step->when & holds) == step->when;
}

/** Handles that the steps so far have opened are closed, if they are of this session. False: no slot is free for that. */
static bool close_handles(struct smb_client *client, struct client_op *op)
{
	struct client_file *file = op->kind == SMB_OP_OPEN && op->file != NONE ? client_file_at(client, op->file)
									       : NULL;

	if (op->session_count != client->session.count || !client_session_lives(client))
		return true;
	if (op->handle_is_open && !client_close_later(client, op->handle))
		return false;
	op->handle_is_open = false;
	if (op->work == WORK_NONE && file && file->state == FILE_OPEN && !file->is_invalid) {
		if (!client_close_later(client, file->id))
			return false;
		file->state = FILE_OPENING;
	}
	return true;
}

/** The operation cannot go on. A mount first closes what it opened. */
static void script_fail(struct smb_client *client, struct client_op *op, enum smb_op_verdict verdict, uint32_t status)
{
	if (op->kind != SMB_OP_MOUNT && op->kind != SMB_OP_UNMOUNT && !close_handles(client, op)) {
		client_wait_room(client, op);
		return;
	}
	op->gave_up = false;
	if (op->work != WORK_NONE) {
		client_op_end(client, op, verdict, status);
		return;
	}
	if (op->kind == SMB_OP_OPEN && op->file != NONE)
		client_file_at(client, op->file)->state = FILE_FREE;
	if (op->kind == SMB_OP_CLOSE)
		client_file_at(client, op->file)->state = FILE_FREE;
	if (op->kind != SMB_OP_MOUNT && op->kind != SMB_OP_UNMOUNT) {
		client_op_end(client, op, verdict, status);
		return;
	}
	op->verdict = verdict;
	op->status = status;
	op->stalled = false;
	op->failed = false;
	if (op->kind == SMB_OP_MOUNT)
		op->step = SCRIPT_FAILED_MOUNT;
	else
		op->step = sizeof(unmount_script) / sizeof(unmount_script[0]) - 1;
}

/** Pick a channel unless one is picked. Trees are connected on the first (SMB2_tcon). False: none is usable. */
static bool script_channel(struct smb_client *client, struct client_op *op, enum client_purpose purpose)
{
	bool fixed = purpose == PURPOSE_TREE_IPC || purpose == PURPOSE_TREE_SHARE;

	if (op->channel != NONE)
		return true;
	if (purpose == PURPOSE_FLUSH)
		return client_need_channel(client, op); /* with a handle of this session */
	if (fixed && client_channel_at(client, 0)->state == CHANNEL_READY)
		op->channel = 0;
	else if (op->work != WORK_NONE)
		op->channel = client_pick_any_channel(client);
	else
		op->channel = client_pick_channel(client);
	if (op->channel != NONE)
		return true;
	if (op->work == WORK_NONE && client->session.mounted && client->mount_op == NONE)
		client_wait_session(client, op);
	else
		script_fail(client, op, SMB_OP_DISCONNECTED, STATUS_SUCCESS);
	return false;
}

static void script_send(struct smb_client *client, struct client_op *op, const struct script_step *step)
{
	uint32_t first = NONE;
	uint32_t i = client_op_index(client, op);
	uint32_t reserve = op->work == WORK_NONE ? CLIENT_REQUEST_RESERVE : 0;
	bool full = client->requests.taken + step->count + reserve > client->requests.size;

	if (full && op->work == WORK_REOPEN && step->count > 1) {
		op->step++; /* whoever has the slots waits for this file: do without the look at it */
		return;
	}
	if (!script_channel(client, op, step->purposes[0]) || !client_take_headers(client, op, step->count))
		return;
	if (full) {
		op->wait = OP_ROOM; /* keeps its credits: a slot comes free with the next answer */
		client_list_append(client, &client->for_room, i);
		return;
	}
	for (uint32_t n = step->count; n--;) {
		uint32_t slot = client_request_take(client, step->purposes[n], i);

		assert(slot != NONE);
		client_request_at(client, slot)->file = op->file;
		client_request_at(client, slot)->chain = first;
		first = slot;
	}
	if (step->purposes[0] == PURPOSE_HANDLE_CLOSE || step->purposes[0] == PURPOSE_STAT_CLOSE)
		op->handle_is_open = false;
	if (step->purposes[0] == PURPOSE_CLOSE)
		client_break_forget(client, client_file_at(client, op->file)); /* the CLOSE is the answer */
	op->headers_taken = false;
	op->outstanding = step->count;
	op->status = STATUS_SUCCESS;
	op->lost = false;
	op->wait = OP_REPLY;
	client_chain_send(client, first, op->channel);
	op->channel = NONE;
}

void client_script_send_close(struct smb_client *client, struct client_op *op)
{
	static const struct script_step close = SEND(0, PURPOSE_CLOSE);

	script_send(client, op, &close);
}

static void script_connect(struct smb_client *client, struct client_op *op)
{
	struct client_channel *channel = client_channel_at(client, 0);

	switch (channel->state) {
	case CHANNEL_READY:
		op->step++;
		return;
	case CHANNEL_DOWN:
		script_fail(client, op, channel->verdict, channel->status);
		return;
	case CHANNEL_UNUSED:
		client_channel_step(client, 0, CHANNEL_OPEN);
		break;
	default:
		break;
	}
	op->wait = OP_CHANNEL;
}

/** Open further channels one after the other; failures are retried, three times the number wanted in all
 *  (cifs 5.10, cifs_try_adding_channels). */
static void script_channels(struct smb_client *client, struct client_op *op)
{
	uint32_t wanted = client_channels_wanted(client);
	uint32_t i = 1;

	while (i < wanted && client_channel_at(client, i)->state == CHANNEL_READY)
		i++;
	if (i < wanted && (client_channel_at(client, i)->state == CHANNEL_UNUSED ||
			   client_channel_at(client, i)->state == CHANNEL_DOWN)) {
		uint32_t interface = op->tries < 3 * wanted ? client_next_interface(client) : NONE;

		if (interface == NONE) {
			if (client_channel_at(client, i)->state == CHANNEL_DOWN)
				client_channel_step(client, i, CHANNEL_SHUT);
			op->step++;
			return;
		}
		op->tries++;
		client_channel_goes_to(client, i, interface);
		client_channel_step(client, i, CHANNEL_OPEN);
	}
	if (i < wanted)
		op->wait = OP_CHANNEL;
	else
		op->step++;
}

void client_unmount_shut(struct smb_client *client, struct client_op *op)
{
	op->kind = SMB_OP_UNMOUNT;
	op->step = sizeof(unmount_script) / sizeof(unmount_script[0]) - 1;
	client->mount_op = client_op_index(client, op);
	client_op_wake(client, op);
}

static void script_shut(struct smb_client *client, struct client_op *op)
{
	for (uint32_t i = 0; i < client->limits.channels; i++) {
		if (client_channel_at(client, i)->state == CHANNEL_UNUSED)
			continue;
		if (!client_has_output_room(client))
			return;
		client_channel_step(client, i, CHANNEL_SHUT);
	}
	client->session = (struct client_session){ 0 };
	client->requery_ns = NEVER;
	client_reconnect_stop(client);
	for (uint32_t i = 0; i < client->limits.files; i++) {
		client_file_at(client, i)->state = FILE_FREE;
		client_file_at(client, i)->break_pending = false;
	}
	client->breaks_pending = 0;
	client_op_end(client, op, op->verdict, op->status);
}

static void script_end(struct smb_client *client, struct client_op *op)
{
	if (op->work == WORK_NONE && op->kind == SMB_OP_MOUNT) {
		client->session.mounted = true;
		client_commands_start(client);
		client_requery_start(client);
		client_reconnect_start(client);
	}
	if (op->kind == SMB_OP_OPEN)
		op->bytes = client_file_at(client, op->file)->bytes;
	client_op_end(client, op, op->lost_data ? SMB_OP_FAILED : SMB_OP_OK, op->lost_data);
}

static void script_step(struct smb_client *client, struct client_op *op, const struct script_step *step)
{
	switch (step->action) {
	case DO_SEND:
		script_send(client, op, step);
		break;
	case DO_CONNECT:
		script_connect(client, op);
		break;
	case DO_CHANNELS:
		script_channels(client, op);
		break;
	case DO_CLOSE_FILES:
		client_script_close_files(client, op);
		break;
	case DO_WRITE_BACK:
		client_script_write_back(client, op);
		break;
	case DO_WAIT_READS:
		client_script_wait_reads(client, op);
		break;
	case DO_SHUT:
		script_shut(client, op);
		break;
	case DO_END:
		script_end(client, op);
		break;
	}
}

/** Handles and trees that earlier steps brought are gone with their session. */
static void restart_on_new_session(struct smb_client *client, struct client_op *op)
{
	if (op->session_count == client->session.count || op->kind == SMB_OP_MOUNT || op->kind == SMB_OP_UNMOUNT)
		return;
	op->session_count = client->session.count;
	op->handle_is_open = false;
	op->handle = (struct smb2_file_id){ 0 };
	op->step = 0;
}

void client_script_run(struct smb_client *client, struct client_op *op)
{
	while (op->wait == OP_RUNNABLE && client_has_output_room(client)) {
		const struct script_step *step;

		restart_on_new_session(client, op);
		step = step_of(op);
		if (op->passing && (op->gave_up || op->stalled))
			client_script_write_back_failed(client, op);
		else if (op->gave_up)
			script_fail(client, op, op->verdict, op->status);
		else if (op->stalled)
			script_fail(client, op, SMB_OP_STALLED, STATUS_SUCCESS);
		else if (op->failed)
			script_fail(client, op, SMB_OP_FAILED, op->status);
		else if (is_wanted(client, op, step))
			script_step(client, op, step);
		else
			op->step++;
	}
}

uint32_t client_script_step_requests(const struct client_op *op)
{
	return step_of(op)->count;
}

/** The same step again, on another channel; a soft mount does not send for ever what ends each connection it goes out on,
 *  as a server whose answer is not understood does. */
static void step_lost(struct smb_client *client, struct client_op *op)
{
	if (!client->mount.soft || ++op->losses < CLIENT_LOSSES_MAX)
		return;
	op->gave_up = true;
	op->verdict = SMB_OP_DISCONNECTED;
	op->status = STATUS_SUCCESS;
}

void client_script_step_done(struct smb_client *client, struct client_op *op)
{
	const struct script_step *step = step_of(op);

	client_op_wake(client, op);
	if (op->lost) {
		step_lost(client, op);
		return;
	}
	op->failed = op->status != STATUS_SUCCESS;
	if (step->action == DO_SEND)
		op->step++;
}
