/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What no operation asked for: oplock and lease breaks, echoes, silence. */
#include "protocol/client/write.h"
#include "protocol/wire/contexts.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define LEASE_ACK_REQUIRED 0x01u /* MS-SMB2 2.2.23.2 */
#define OPLOCK_NONE 0x00
#define OPLOCK_LEVEL_II 0x01

/* A file leaves the kernel's list before its CLOSE is sent (cifs 6.1, _cifsFileInfo_put): a break that comes later finds
 * nobody, and the CLOSE is all the answer that the server needs. */
static bool is_closed(const struct smb_client *client, uint32_t i)
{
	for (uint32_t slot = 0; slot < client->requests.size; slot++) {
		const struct smb_request *request = client_request_at(client, slot);

		if (request->state != SMB_REQUEST_FREE && request->purpose == PURPOSE_CLOSE && request->file == i)
			return true;
	}
	return false;
}

void client_break_forget(struct smb_client *client, struct client_file *file)
{
	if (file->break_pending)
		client->breaks_pending--;
	file->break_pending = false;
}

/** Caching ends where the new state says; an acknowledgement is sent as soon as there is a slot. */
static void apply_break(struct smb_client *client, uint32_t i, bool may_cache_reads, bool acknowledge)
{
	struct client_file *file = client_file_at(client, i);

	if (!may_cache_reads)
		smb_page_cache_invalidate(&file->cache, client_runs_of(client, i));
	if (acknowledge && !file->break_pending) {
		file->break_pending = true;
		client->breaks_pending++;
	}
}

static void lease_break(struct smb_client *client, const struct smb2_lease_break_notify *notify)
{
	for (uint32_t i = 0; i < client->limits.files; i++) {
		struct client_file *file = client_file_at(client, i);

		if (file->state == FILE_FREE || (file->is_invalid && file->state != FILE_OPENING))
			continue;
		if (memcmp(file->lease_key, notify->lease_key, sizeof(file->lease_key)) != 0 || is_closed(client, i))
			continue;
		file->lease_state = notify->new_state;
		/* On another channel it may overtake the answer to the CREATE (cifs 6.1, cifs_add_pending_open). */
		if (file->state == FILE_OPENING) {
			file->broken_early = true;
			file->early_break_waits = notify->flags & LEASE_ACK_REQUIRED;
			return;
		}
		apply_break(client, i, notify->new_state & SMB2_LEASE_READ_CACHING, notify->flags & LEASE_ACK_REQUIRED);
		return;
	}
}

static void oplock_break(struct smb_client *client, const struct smb2_oplock_break *notify)
{
	for (uint32_t i = 0; i < client->limits.files; i++) {
		struct client_file *file = client_file_at(client, i);
		bool had_level_ii = file->oplock_level == OPLOCK_LEVEL_II;

		if ((file->state != FILE_OPEN && file->state != FILE_CLOSING) || file->is_invalid)
			continue;
		if (file->id.persistent != notify->file_id.persistent ||
		    file->id.volatile_id != notify->file_id.volatile_id || is_closed(client, i))
			continue;
		file->oplock_level = notify->oplock_level;
		/* From level II there is only one way down: no acknowledgement (MS-SMB2 3.3.4.6). */
		apply_break(client, i, notify->oplock_level != OPLOCK_NONE, !had_level_ii);
		return;
	}
}

void client_break_received(struct smb_client *client, const struct smb2_message *message)
{
	if (message->kind == SMB2_BODY_LEASE_BREAK_NOTIFY)
		lease_break(client, &message->body.lease_break_notify);
	else if (message->kind == SMB2_BODY_OPLOCK_BREAK)
		oplock_break(client, &message->body.oplock_break);
}

bool client_breaks_send(struct smb_client *client)
{
	for (uint32_t i = 0; i < client->limits.files && client->breaks_pending; i++) {
		struct client_file *file = client_file_at(client, i);
		enum client_purpose purpose = file->oplock_level == SMB2_OPLOCK_LEVEL_LEASE ? PURPOSE_LEASE_BREAK
											    : PURPOSE_OPLOCK_BREAK;
		uint32_t channel;
		uint32_t slot;

		if (!file->break_pending || client_flush_before_break(client, i))
			continue;
		if (!client_has_output_room(client) || client->requests.taken == client->requests.size)
			return false;
		channel = client_pick_channel(client);
		if (channel == NONE)
			return false;
		/* It does not wait, but may overdraw its counter: the server waits for it (C19, C20). With policy
		 * break_ack_waits it is tried again when credits come, before all others. */
		if (smb_credits_take(&client_channel_at(client, channel)->credits, &client->policy, SMB_CREDIT_BREAK,
				     1) != SMB_CREDIT_TAKEN)
			return false;
		slot = client_request_take(client, purpose, NONE);
		client_request_at(client, slot)->file = i;
		client_request_send(client, slot, channel, 0);
		file->break_pending = false;
		client->breaks_pending--;
	}
	return true;
}

static void send_echo(struct smb_client *client, uint32_t i)
{
	struct client_channel *channel = client_channel_at(client, i);
	uint32_t slot;

	if (smb_credits_take(&channel->credits, &client->policy, SMB_CREDIT_ECHO, 1) != SMB_CREDIT_TAKEN)
		return; /* one is under way, or there is no credit to spare for it */
	slot = client_request_take(client, PURPOSE_ECHO, NONE);
	if (slot == NONE) {
		smb_credits_answered(&channel->credits, SMB_CREDIT_ECHO, 1, channel->credits.instance);
		return;
	}
	client_request_send(client, slot, i, 0);
}

/** The echo work of one channel (cifs 6.1, cifs_echo_request and server_unresponsive). */
static void channel_timer(struct smb_client *client, uint32_t i)
{
	struct client_channel *channel = client_channel_at(client, i);
	uint64_t interval = client->mount.echo_interval_s * NS_PER_S;
	uint64_t silence = client->now_ns - channel->last_response_ns;

	if (client->now_ns < channel->next_echo_ns)
		return;
	client->timers_changed = true;
	channel->next_echo_ns = client->now_ns + interval;
	if (channel->credits.in_flight && silence >= CLIENT_SILENT_INTERVALS * interval)
		client_channel_drop(client, i, SMB_OP_DISCONNECTED, STATUS_SUCCESS);
	else if (channel->state == CHANNEL_READY && silence + NS_PER_S >= interval)
		send_echo(client, i);
}

void client_timers_run(struct smb_client *client)
{
	for (uint32_t i = 0; i < client->limits.channels; i++) {
		if (client_channel_at(client, i)->next_echo_ns != NEVER)
			channel_timer(client, i);
	}
	if (client->requery_ns != NEVER)
		client_requery_timer(client);
	client_commands_timer(client);
	client_flusher_timer(client);
	client_reconnect_timers(client);
}

uint64_t client_next_timer(const struct smb_client *client)
{
	uint64_t next = client_reconnect_timer(client);

	if (client->requery_ns < next)
		next = client->requery_ns;
	if (client->command_wake_ns < next)
		next = client->command_wake_ns;
	if (client_flusher_due(client) < next)
		next = client_flusher_due(client);
	for (uint32_t i = 0; i < client->limits.channels; i++) {
		if (client_channel_at(client, i)->next_echo_ns < next)
			next = client_channel_at(client, i)->next_echo_ns;
	}
	return next;
}
