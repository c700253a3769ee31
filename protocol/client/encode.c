/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state in canonical form: two blocks that behave the same from now on give the same bytes.
 *
 * Left out: what was configured, statistics, slot numbers (requests under way are numbered by channel and MessageId,
 * others by what they are for), where the window of MessageIds and the clock stand (ids and times are relative to it),
 * unused slots.
 */
#include "protocol/client/encode.h"
#include "protocol/client/write.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

static bool was_sent_before(const struct smb_request *a, const struct smb_request *b)
{
	return a->channel != b->channel ? a->channel < b->channel : a->message_id < b->message_id;
}

/** On which channel a request that is not under way was before, under which MessageId, counts no more: they come by what
 *  they are for. */
static bool comes_before(const struct smb_request *a, const struct smb_request *b)
{
	if (a->state != b->state)
		return a->state > b->state; /* SENT first */
	if (a->state == SMB_REQUEST_SENT)
		return was_sent_before(a, b);
	if (a->op != b->op)
		return a->op < b->op;
	if (a->file != b->file)
		return a->file < b->file;
	if (a->offset != b->offset)
		return a->offset < b->offset;
	return a->data_source != b->data_source ? a->data_source < b->data_source : a->data_offset < b->data_offset;
}

/** Sort the requests under way; sixteen or so of them. */
static void rank_requests(struct encoder *encoder)
{
	const struct smb_client *client = encoder->client;
	uint32_t count = 0;

	memset(encoder->rank, 0xff, sizeof(encoder->rank));
	for (uint32_t slot = 0; client->requests.size <= RANKS_MAX && slot < client->requests.size; slot++) {
		const struct smb_request *request = client_request_at(client, slot);
		uint32_t at = count;

		if (request->state == SMB_REQUEST_FREE)
			continue;
		for (; at && comes_before(request, client_request_at(client, encoder->order[at - 1])); at--)
			encoder->order[at] = encoder->order[at - 1];
		encoder->order[at] = slot;
		count++;
	}
	for (uint32_t i = 0; i < count; i++)
		encoder->rank[encoder->order[i]] = i;
}
static void put_credits(struct encoder *encoder, const struct smb_credits *credits)
{
	put32(encoder, (uint32_t)credits->ordinary);
	put32(encoder, (uint32_t)credits->echo);
	put32(encoder, (uint32_t)credits->oplock);
	put32(encoder, credits->in_flight);
	put8(encoder, credits->echoes);
	put8(encoder, credits->oplocks);
}

/** How long the server has been silent counts only when the echo timer looks (unasked.c, channel_timer): then it is more or
 *  less than one interval, and so many looks away from being too long. */
static void put_silence(struct encoder *encoder, const struct client_channel *channel)
{
	uint64_t interval = encoder->client->mount.echo_interval_s * NS_PER_S;
	uint64_t silence = channel->next_echo_ns - channel->last_response_ns;

	if (channel->next_echo_ns == NEVER)
		return;
	put8(encoder, silence + NS_PER_S >= interval);
	put8(encoder, silence / interval < CLIENT_SILENT_INTERVALS ? silence / interval : CLIENT_SILENT_INTERVALS);
}

static void put_channel(struct encoder *encoder, const struct client_channel *channel)
{
	put8(encoder, channel->state);
	if (channel->state == CHANNEL_UNUSED)
		return;
	put32(encoder, channel->interface);
	put32(encoder, channel->server_index);
	put64(encoder, channel->setup_session);
	put8(encoder, channel->makes_session);
	put8(encoder, channel->was_ready);
	put8(encoder, channel->is_full);
	put8(encoder, channel->is_given_up);
	put32(encoder, channel->io_timeouts);
	put_time(encoder, channel->retry_ns);
	put_credits(encoder, &channel->credits);
	put8(encoder, channel->window.next > 0);
	put_list(encoder, channel->waiters);
	put_time(encoder, channel->next_echo_ns);
	put_silence(encoder, channel);
	put8(encoder, channel->verdict);
	put32(encoder, channel->status);
}

/** What a WRITE carries, and who waits for it. */
static void put_write_data(struct encoder *encoder, const struct smb_request *request)
{
	const struct smb_client *client = encoder->client;

	if (request->purpose != PURPOSE_WRITE_BACK && request->purpose != PURPOSE_WRITE_THROUGH &&
	    request->purpose != PURPOSE_WRITE_DIRECT)
		return;
	put_slice(encoder, (struct smb_slice){ request->data_source, request->data_offset, request->data_length });
	if (request->purpose == PURPOSE_WRITE_BACK)
		put8(encoder, client_writes_of(client, request->file)[request->write].sync);
}

static void put_request(struct encoder *encoder, const struct smb_request *request)
{
	const struct smb_client *client = encoder->client;

	put8(encoder, request->state);
	put8(encoder, request->purpose);
	put32(encoder, request->op);
	put32(encoder, request->file);
	put64(encoder, request->offset);
	put32(encoder, request->length);
	put32(encoder, rank_of(encoder, request->chain));
	put32(encoder, rank_of(encoder, request->before));
	put8(encoder, request->answered | request->head_lost << 1);
	put64(encoder, request->head_source);
	put64(encoder, request->head_end);
	put_list(encoder, (struct client_list){ request->waiters_head, request->waiters_tail });
	if (request->state == SMB_REQUEST_SENT) {
		put32(encoder, request->channel);
		put64(encoder, client_channel_at(client, request->channel)->window.next - request->message_id);
		put8(encoder, request->async_id != 0);
		put32(encoder, request->charge);
		put8(encoder, client->session.pause_reads && request->command == SMB2_READ &&
				      request->data_source > client->session.paused_at);
		put_write_data(encoder, request);
		if (request->purpose == PURPOSE_CANCELLED)
			put8(encoder, request->status != 0);
		if (request->purpose == PURPOSE_LATE_CLOSE) {
			put64(encoder, request->data_source);
			put64(encoder, request->data_offset);
		}
		return;
	}
	put32(encoder, request->status);
	put_slice(encoder, (struct smb_slice){ request->data_source, request->data_offset, request->data_length });
}

static void put_requests(struct encoder *encoder)
{
	const struct smb_client *client = encoder->client;

	put32(encoder, client->requests.taken);
	for (uint32_t i = 0; client->requests.size <= RANKS_MAX && i < client->requests.taken; i++)
		put_request(encoder, client_request_at(client, encoder->order[i]));
	for (uint32_t slot = 0; client->requests.size > RANKS_MAX && slot < client->requests.size; slot++) {
		if (client_request_at(client, slot)->state == SMB_REQUEST_FREE)
			continue;
		put32(encoder, slot);
		put_request(encoder, client_request_at(client, slot));
	}
}
static void put_session(struct encoder *encoder, const struct client_session *session)
{
	put32(encoder, session->dialect);
	put32(encoder, session->capabilities);
	put32(encoder, session->smb1_capabilities);
	put32(encoder, session->smb1_unix);
	put64(encoder, session->session_id);
	put32(encoder, session->tree_ipc);
	put32(encoder, session->tree_share);
	put32(encoder, session->max_transact);
	put32(encoder, session->max_read);
	put32(encoder, session->max_write);
	put32(encoder, session->max_buf);
	put32(encoder, session->rsize); /* those of the first NEGOTIATE may be kept */
	put32(encoder, session->wsize);
	put32(encoder, session->ra_pages);
	put32(encoder, session->security_mode);
	put_bytes(encoder, session->server_guid, sizeof(session->server_guid));
	put8(encoder, session->mounted);
	put64(encoder, session->previous_id);
	put8(encoder, session->trees_lost);
	put32(encoder, session->channel_sequence);
	put32(encoder, session->pause_reads);
	put32(encoder, session->interface_count);
	for (uint32_t i = 0; i < session->interface_count; i++) {
		put32(encoder, session->interfaces[i].info.index);
		put64(encoder, session->interfaces[i].info.link_speed_bps);
		put32(encoder, session->interfaces[i].info.capability);
		put32(encoder, session->interfaces[i].channels);
		put32(encoder, session->interfaces[i].round);
	}
}

static void put_output(struct encoder *encoder, const struct client_output *output)
{
	put8(encoder, output->kind);
	put32(encoder, output->channel);
	put32(encoder, output->interface);
	put32(encoder, output->op);
	put32(encoder, rank_of(encoder, output->request));
	put_slice(encoder, output->data);
	if (output->kind == SMB_CLIENT_WAKE)
		put_time(encoder, output->offset);
	else
		put64(encoder, output->offset);
}

/** So many picks later every number of channels agrees: the least common multiple of 1 to their limit. */
static uint32_t picks_repeat(const struct smb_client *client)
{
	static const uint32_t multiples[SMB_CHANNELS_MAX + 1] = { 1,	 1,	 2,	 6,	 12,	60,
								  60,	 420,	 840,	 2520,	 2520,	27720,
								  27720, 360360, 360360, 360360, 720720 };

	return multiples[client->limits.channels];
}

/** Shell commands; `lane` and what else belongs to one stands with its operation. */
static void put_commands(struct encoder *encoder)
{
	const struct smb_client *client = encoder->client;
	const struct smb_ops *ops = client_commands(client);
	struct smb_encoder *out = &encoder->out;

	put8(encoder, ops != NULL);
	if (!ops)
		return;
	put32(encoder, client->command_op);
	put8(encoder, client->command_unmounts);
	put8(encoder, client->command_due);
	put8(encoder, client->command_session != client->session.count);
	put_time(encoder, client->command_wake_ns);
	if (out->used >= out->size) {
		out->used = SIZE_MAX / 2;
		return;
	}
	size_t length = smb_ops_encode(ops, client->now_ns, out->buffer + out->used, out->size - out->used);
	out->used = length ? out->used + length : SIZE_MAX / 2;
}

size_t smb_client_encode(const struct smb_client *client, uint8_t *buffer, size_t size)
{
	struct encoder encoder;

	encoder.client = client;
	encoder.out = (struct smb_encoder){ buffer, size, 0 };
	rank_requests(&encoder);
	put_session(&encoder, &client->session);
	put32(&encoder, client->mount_op);
	put32(&encoder, client->picker.sequence % picks_repeat(client));
	put32(&encoder, client->leases);
	put_time(&encoder, client->wake_ns);
	put_time(&encoder, client->requery_ns);
	put8(&encoder, client->timers_changed);
	put_list(&encoder, client->runnable);
	put_list(&encoder, client->for_room);
	put_list(&encoder, client->for_session);
	put32(&encoder, rank_of(&encoder, client->lost_head));
	put32(&encoder, rank_of(&encoder, client->closes.head));
	put_time(&encoder, client->lost_head == NONE ? NEVER : client->lost_give_up_ns);
	put_time(&encoder, client->work_retry_ns);
	put8(&encoder, client->reconnect_due);
	for (uint32_t i = 0; i < client->limits.channels; i++)
		put_channel(&encoder, client_channel_at(client, i));
	put_requests(&encoder);
	for (uint32_t i = 0; i < client_op_slots(client); i++)
		client_encode_op(&encoder, client_op_at(client, i));
	for (uint32_t i = 0; i < client->limits.files; i++)
		client_encode_file(&encoder, i);
	put32(&encoder, client->outputs_count);
	for (uint32_t i = 0; i < client->outputs_count; i++)
		put_output(&encoder, &client_outputs(client)[(client->outputs_head + i) % client->limits.outputs]);
	put_commands(&encoder);
	return smb_encoder_length(&encoder.out);
}
