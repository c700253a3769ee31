/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What must hold of the block between two calls. */
#include "protocol/client/internal.h"

/** True when the list holds only operations that wait for `wait`; adds how many. */
static bool list_is_valid(const struct smb_client *client, struct client_list list, enum op_wait wait, uint32_t *count)
{
	uint32_t last = NONE;

	for (uint32_t i = list.head; i != NONE; i = client_op_at(client, i)->link) {
		if (i >= client_op_slots(client) || client_op_at(client, i)->wait != wait ||
		    ++*count > client_op_slots(client))
			return false;
		last = i;
	}
	return list.tail == last;
}

/** Each operation is in exactly the list that its state names. */
static bool lists_are_valid(const struct smb_client *client)
{
	uint32_t listed[OP_ENDED + 1] = { 0 };
	uint32_t waiting[OP_ENDED + 1] = { 0 };

	if (!list_is_valid(client, client->runnable, OP_RUNNABLE, &listed[OP_RUNNABLE]) ||
	    !list_is_valid(client, client->for_room, OP_ROOM, &listed[OP_ROOM]) ||
	    !list_is_valid(client, client->for_session, OP_SESSION, &listed[OP_SESSION]))
		return false;
	for (uint32_t i = 0; i < client->limits.channels; i++) {
		if (!list_is_valid(client, client_channel_at(client, i)->waiters, OP_CREDITS, &listed[OP_CREDITS]))
			return false;
	}
	for (uint32_t i = 0; i < client->requests.size; i++) {
		const struct smb_request *request = client_request_at(client, i);
		struct client_list waiters = { request->waiters_head, request->waiters_tail };

		if (request->state != SMB_REQUEST_FREE && !list_is_valid(client, waiters, OP_READ, &listed[OP_READ]))
			return false;
	}
	for (uint32_t i = 0; i < client_op_slots(client); i++)
		waiting[client_op_at(client, i)->wait]++;
	return listed[OP_RUNNABLE] == waiting[OP_RUNNABLE] && listed[OP_ROOM] == waiting[OP_ROOM] &&
	       listed[OP_CREDITS] == waiting[OP_CREDITS] && listed[OP_READ] == waiting[OP_READ] &&
	       listed[OP_SESSION] == waiting[OP_SESSION] && client->waiting_for_credits == waiting[OP_CREDITS];
}

static uint32_t credits_taken_early(const struct smb_client *client, uint32_t channel)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < client_op_slots(client); i++) {
		const struct client_op *op = client_op_at(client, i);

		if (op->wait == OP_FREE || op->channel != channel)
			continue;
		count += op->headers_taken ? op->need_headers : 0;
		count += op->io_taken && op->take.credits;
	}
	return count;
}

/** C7: in flight are the requests sent and not finally answered, and those that hold credits already. */
static bool channels_are_valid(const struct smb_client *client)
{
	uint32_t sent[SMB_CHANNELS_MAX] = { 0 };

	for (uint32_t i = 0; i < client->requests.size; i++) {
		const struct smb_request *request = client_request_at(client, i);

		if (request->state != SMB_REQUEST_SENT)
			continue;
		if (request->channel >= client->limits.channels ||
		    request->message_id >= client_channel_at(client, request->channel)->window.next)
			return false;
		sent[request->channel]++;
	}
	for (uint32_t i = 0; i < client->limits.channels; i++) {
		const struct client_channel *channel = client_channel_at(client, i);

		if (channel->state >= CHANNEL_STATES || !smb_credits_is_valid(&channel->credits) ||
		    channel->credits.in_flight != sent[i] + credits_taken_early(client, i))
			return false;
	}
	return true;
}

static bool is_write(const struct smb_request *request)
{
	return request->purpose == PURPOSE_WRITE_BACK || request->purpose == PURPOSE_WRITE_THROUGH ||
	       request->purpose == PURPOSE_WRITE_DIRECT;
}

/** Every WRITE under way is a request, and every such request is noted at its file. */
static bool writes_are_valid(const struct smb_client *client, uint32_t i, uint64_t *bytes)
{
	const struct client_file *file = client_file_at(client, i);
	const struct smb_dirty_write *writes = client_writes_of(client, i);
	uint32_t back = 0;
	uint32_t others = 0;

	for (uint32_t n = 0; n < client->requests.size; n++) {
		const struct smb_request *request = client_request_at(client, n);

		if (request->state != SMB_REQUEST_SENT || request->file != i || !is_write(request))
			continue;
		*bytes += request->length;
		others += request->purpose != PURPOSE_WRITE_BACK;
		if (request->purpose != PURPOSE_WRITE_BACK)
			continue;
		back++;
		if (request->write >= file->dirty.write_max || writes[request->write].length != request->length ||
		    writes[request->write].offset != request->offset)
			return false;
	}
	if (back != file->dirty.write_count || others != file->writes)
		return false;
	return !client->limits.dirty_runs || smb_dirty_is_valid(&file->dirty, client_dirty_runs_of(client, i), writes);
}

static bool files_are_valid(const struct smb_client *client)
{
	uint64_t bytes = 0;
	uint64_t written = 0;
	uint32_t breaks = 0;

	for (uint32_t i = 0; i < client->limits.files; i++) {
		const struct client_file *file = client_file_at(client, i);
		uint32_t reads = 0;

		for (uint32_t n = 0; n < client->requests.size; n++) {
			const struct smb_request *request = client_request_at(client, n);

			if (request->state != SMB_REQUEST_SENT || request->file != i || !request->length ||
			    is_write(request))
				continue;
			reads++;
			bytes += request->length;
		}
		breaks += file->break_pending;
		if (file->state == FILE_FREE || file->state == FILE_OPENING)
			continue;
		if (reads != file->reads || !writes_are_valid(client, i, &written) ||
		    !smb_readahead_is_valid(&file->ra) ||
		    !smb_page_cache_is_valid(&file->cache, client_runs_of(client, i)))
			return false;
	}
	return bytes == client->read_bytes_in_flight && written == client->write_bytes_in_flight &&
	       breaks == client->breaks_pending;
}

bool smb_client_is_valid(const struct smb_client *client)
{
	return client->outputs_head < client->limits.outputs && client->outputs_count <= client->limits.outputs &&
	       smb_requests_is_valid(&client->requests, client_request_arrays(client)) && lists_are_valid(client) &&
	       channels_are_valid(client) && files_are_valid(client);
}
