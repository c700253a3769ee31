/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * READs into the page cache that went down with their channel, or failed (policy lost_read).
 *
 * Up to 6.9 the pages of such a READ stay in the cache, not up to date, and the reader has each of them read alone
 * (cifs_readv_complete, filemap_update_page). From netfs on the READ itself is sent again, on another channel.
 */
#include "protocol/client/internal.h"

/* Slots that lost READs do not occupy: those who bring the session and the handles back need them. */
#define LOST_LEAVES_FREE (3u + CLIENT_REQUEST_RESERVE)

void client_pages_failed(struct smb_client *client, struct client_file *file, uint64_t start, uint64_t end)
{
	if (client->policy.lost_read != SMB_LOST_READ_PAGE || start >= end)
		return;
	if (file->failed_start >= file->failed_end) {
		file->failed_start = start;
		file->failed_end = end;
		return;
	}
	/* One stretch is kept; pages in between that did arrive are not touched by it. */
	if (start < file->failed_start)
		file->failed_start = start;
	if (end > file->failed_end)
		file->failed_end = end;
}

bool client_lost_keep(struct smb_client *client, uint32_t slot)
{
	struct smb_request *request = client_request_at(client, slot);

	if (client->policy.lost_read != SMB_LOST_READ_REQUEST || !client->session.mounted || client->mount_op != NONE ||
	    client_file_at(client, request->file)->state != FILE_OPEN)
		return false;
	if (client->requests.size - client->requests.taken < LOST_LEAVES_FREE)
		return false;
	request->chain = NONE;
	if (client->lost_head == NONE)
		client_lost_timer_start(client);
	request->op = NONE; /* the operation that sent it need not live as long */
	if (client->lost_head == NONE)
		client->lost_head = slot;
	else
		client_request_at(client, client->lost_tail)->chain = slot;
	client->lost_tail = slot;
	return true;
}

static uint32_t lost_pop(struct smb_client *client)
{
	uint32_t slot = client->lost_head;

	client->lost_head = client_request_at(client, slot)->chain;
	if (client->lost_head == NONE)
		client->lost_tail = NONE;
	client_request_at(client, slot)->chain = NONE;
	return slot;
}

void client_lost_forget(struct smb_client *client, uint32_t file)
{
	uint32_t left = client->lost_head;

	client->lost_head = client->lost_tail = NONE;
	while (left != NONE) {
		uint32_t slot = left;

		left = client_request_at(client, slot)->chain;
		client_request_at(client, slot)->chain = NONE;
		if (client_request_at(client, slot)->file == file) {
			client_window_failed(client, slot);
			continue;
		}
		if (client->lost_head == NONE)
			client->lost_head = slot;
		else
			client_request_at(client, client->lost_tail)->chain = slot;
		client->lost_tail = slot;
	}
}

enum lost_step { LOST_SENT, LOST_LATER, LOST_FAILED };

/** Pay for the whole READ at once: it holds its pages and is not cut again. */
static enum lost_step pay(struct smb_client *client, uint32_t channel, uint32_t bytes, uint16_t *charge)
{
	struct smb_credits *credits = &client_channel_at(client, channel)->credits;
	struct smb_credit_take take = { .bytes = bytes };
	enum smb_credit_verdict verdict = SMB_CREDIT_TAKEN;

	*charge = 0;
	if (client_has_multi_credit(client))
		verdict = smb_credits_take_io(credits, &client->policy, bytes, &take);
	if (verdict == SMB_CREDIT_TAKEN && take.bytes >= bytes && take.credits) {
		*charge = take.credits;
		return LOST_SENT;
	}
	if (verdict == SMB_CREDIT_TAKEN && take.bytes >= bytes)
		verdict = smb_credits_take(credits, &client->policy, SMB_CREDIT_ORDINARY, 1);
	else if (verdict == SMB_CREDIT_TAKEN) {
		smb_credits_untake(credits, &take);
		verdict = credits->in_flight ? SMB_CREDIT_WAIT : SMB_CREDIT_STALLED;
	}
	if (verdict == SMB_CREDIT_TAKEN)
		return LOST_SENT;
	/* With nothing under way no more credits will come: the reader asks for what these can pay. */
	return verdict == SMB_CREDIT_WAIT ? LOST_LATER : LOST_FAILED;
}

static enum lost_step send_again(struct smb_client *client, uint32_t slot)
{
	struct smb_request *request = client_request_at(client, slot);
	struct client_file *file = client_file_at(client, request->file);
	enum lost_step step;
	uint32_t channel;
	uint16_t charge;

	if (file->is_invalid) {
		client->reconnect_due |= !file->reopen_wanted;
		file->reopen_wanted = true;
		return LOST_LATER;
	}
	channel = client_pick_channel(client);
	if (channel == NONE)
		return LOST_LATER;
	step = request->length > client->session.max_read ? LOST_FAILED
							  : pay(client, channel, request->length, &charge);
	if (step != LOST_SENT)
		return step;
	client_read_started(client, request);
	client_request_send(client, slot, channel, charge);
	return LOST_SENT;
}

void client_lost_run(struct smb_client *client)
{
	while (client->lost_head != NONE && client_has_output_room(client)) {
		uint32_t slot = client->lost_head;

		switch (send_again(client, slot)) {
		case LOST_SENT:
			lost_pop(client);
			break;
		case LOST_LATER:
			return;
		case LOST_FAILED:
			lost_pop(client);
			client_window_failed(client, slot);
			break;
		}
	}
}
