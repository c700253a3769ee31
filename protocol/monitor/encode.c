/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state in canonical form: two monitors that judge the same from now on give the same bytes.
 *
 * Left out: statistics, slot numbers, where the window of MessageIds stands (ids are relative to it), what was broken so
 * far. Of ids that are used up only that they are: if one is used again, whether that is C1 or C3 depends on what the
 * first request that had it was charged.
 */
#include "protocol/monitor/state.h"
#include "protocol/wire/encoder.h"

#define ORDER_MAX 256u /* requests; with more the form is right, but tells histories apart */

struct order {
	uint32_t slots[ORDER_MAX];
	uint32_t count;
};

static void put_window(struct smb_encoder *encoder, const struct smb_monitor *monitor, uint32_t index)
{
	const struct monitor_channel *on = monitor_channel_at(monitor, index);
	const uint64_t *used = monitor_bits(monitor, monitor->used_bits, index);

	smb_encode64(encoder, on->next - on->low);
	smb_encode64(encoder, on->top - on->next);
	if (on->low == on->next)
		return;
	smb_encode64(encoder, on->requests - on->hole_since);
	for (uint64_t id = on->low; id < on->next; id++) {
		uint32_t bit = (uint32_t)(id & (monitor->limits.window - 1));

		smb_encode8(encoder, used[bit / 64] >> bit % 64 & 1);
	}
}

static void put_channel(struct smb_encoder *encoder, const struct smb_monitor *monitor, uint32_t index)
{
	const struct monitor_channel *on = monitor_channel_at(monitor, index);

	smb_encode8(encoder, on->open | on->encrypted << 1 | on->smb1 << 2 | on->negotiated << 3 |
				     on->multi_credit << 4 | on->hole_reported << 5 | (on->next > 0) << 6);
	if (!on->open)
		return;
	smb_encode16(encoder, on->dialect);
	smb_encode32(encoder, on->echoes);
	smb_encode64(encoder, on->session);
	smb_encode8(encoder, on->requests > 0);
	smb_encode32(encoder, on->max_read);
	smb_encode32(encoder, on->max_write);
	put_window(encoder, monitor, index);
	smb_encode64(encoder, (uint64_t)on->credits);
	smb_encode64(encoder, (uint64_t)on->let_go);
	smb_encode32(encoder, on->in_flight);
	smb_encode32(encoder, on->forgotten);
	smb_encode64(encoder, on->read_bytes);
}

static bool comes_before(const struct monitor_request *a, const struct monitor_request *b)
{
	return a->channel != b->channel ? a->channel < b->channel : a->message_id < b->message_id;
}

static void sort_requests(const struct smb_monitor *monitor, struct order *order)
{
	order->count = 0;
	for (uint32_t slot = 0; slot < monitor->requests.capacity && order->count < ORDER_MAX; slot++) {
		const struct monitor_request *request = monitor_request_at(monitor, slot);
		uint32_t at = order->count;

		if (!request->in_use)
			continue;
		for (; at && comes_before(request, monitor_request_at(monitor, order->slots[at - 1])); at--)
			order->slots[at] = order->slots[at - 1];
		order->slots[at] = slot;
		order->count++;
	}
}

static void put_chain(struct smb_encoder *encoder, const struct monitor_chain *chain)
{
	smb_encode64(encoder, chain->name);
	smb_encode32(encoder, chain->members);
	smb_encode32(encoder, chain->left);
	smb_encode32(encoder, chain->asked);
	smb_encode32(encoder, chain->granted);
	smb_encode32(encoder, chain->producer_answered ? chain->producer_status : 0);
	smb_encode8(encoder, chain->producer_answered | chain->closes << 1);
}

static void put_request(struct smb_encoder *encoder, const struct smb_monitor *monitor, const struct order *order,
			uint32_t at)
{
	const struct monitor_request *request = monitor_request_at(monitor, order->slots[at]);
	const struct monitor_request *before = at ? monitor_request_at(monitor, order->slots[at - 1]) : NULL;

	smb_encode8(encoder, request->channel);
	smb_encode64(encoder, monitor_channel_at(monitor, request->channel)->next - request->message_id);
	smb_encode64(encoder, request->async_id ? request->async_id - request->message_id + 1 : 0);
	smb_encode16(encoder, request->command);
	smb_encode8(encoder, request->interim | request->related << 1 | (request->chain_before != SLOT_NONE) << 2);
	smb_encode64(encoder, request->name);
	smb_encode16(encoder, (uint16_t)(monitor->sequence - request->sequence));
	if (request->command == SMB2_READ) {
		smb_encode64(encoder, request->offset);
		smb_encode32(encoder, request->length);
		if (request->handle != SLOT_NONE)
			smb_encode64(encoder, monitor_handle_at(monitor, request->handle)->id.volatile_id);
	}
	/* Members of a chain follow each other in the order of their ids: the first one left tells of the chain. */
	if (request->command == SMB2_CREATE)
		smb_encode32(encoder, request->create);
	smb_encode8(encoder, request->chain != SLOT_NONE);
	if (request->chain != SLOT_NONE && (!before || before->chain != request->chain))
		put_chain(encoder, monitor_chain_at(monitor, request->chain));
}

static void put_file(struct smb_encoder *encoder, const struct monitor_file *file)
{
	smb_encode8(encoder, file->in_use);
	if (!file->in_use)
		return;
	smb_encode64(encoder, file->name);
	smb_encode64(encoder, file->source);
	smb_encode64(encoder, file->bytes);
	smb_encode64(encoder, file->run_start);
	smb_encode64(encoder, file->requested_end);
	smb_encode64(encoder, file->handed_end);
	smb_encode8(encoder, file->registered | file->known << 1);
}

/** Sum over the handles in use: their slots do not matter, and no two are alike. */
static void put_handles(struct smb_encoder *encoder, const struct smb_monitor *monitor)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < monitor->handles.capacity; i++) {
		const struct monitor_handle *handle = monitor_handle_at(monitor, i);
		uint64_t hash = handle->id.persistent * UINT64_C(0x9e3779b97f4a7c15) ^ handle->id.volatile_id;

		if (!handle->in_use)
			continue;
		hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
		hash = (hash ^ monitor_file_at(monitor, handle->file)->name) * UINT64_C(0x94d049bb133111eb);
		sum += hash ^ hash >> 32;
	}
	smb_encode32(encoder, monitor->handles.used);
	smb_encode64(encoder, sum);
}

static void put_creates(struct smb_encoder *encoder, const struct smb_monitor *monitor)
{
	smb_encode32(encoder, monitor->creates_seen);
	for (uint32_t i = 0; i < monitor->limits.files && i < monitor->creates_seen; i++) {
		const struct monitor_create *create = monitor_create_at(monitor, i);

		smb_encode_bytes(encoder, create->guid, sizeof(create->guid));
		smb_encode8(encoder, create->is_open);
		smb_encode64(encoder, create->is_open ? create->id.persistent : 0);
		smb_encode64(encoder, create->is_open ? create->id.volatile_id : 0);
	}
}

static void put_expect(struct smb_encoder *encoder, const struct smb_monitor_expect *expect)
{
	smb_encode32(encoder, expect->max_credits);
	smb_encode32(encoder, expect->idle_credits);
	smb_encode32(encoder, expect->rsize);
	smb_encode64(encoder, expect->readahead_bytes);
	smb_encode32(encoder, expect->page_bytes);
	smb_encode32(encoder, expect->request_bytes);
	smb_encode8(encoder, expect->grants_vary | expect->is_cifs << 1);
}

size_t smb_monitor_encode(const struct smb_monitor *monitor, uint8_t *buffer, size_t size)
{
	struct smb_encoder encoder = { buffer, size, 0 };
	struct order order;

	put_expect(&encoder, &monitor->expect);
	for (uint32_t i = 0; i < monitor->limits.channels; i++)
		put_channel(&encoder, monitor, i);
	sort_requests(monitor, &order);
	smb_encode32(&encoder, monitor->requests.used);
	for (uint32_t i = 0; i < order.count; i++)
		put_request(&encoder, monitor, &order, i);
	for (uint32_t i = 0; i < monitor->files.capacity; i++)
		put_file(&encoder, monitor_file_at(monitor, i));
	put_handles(&encoder, monitor);
	put_creates(&encoder, monitor);
	smb_encode32(&encoder, monitor->largest_application_read);
	smb_encode64(&encoder, monitor->session);
	smb_encode32(&encoder, monitor->connections - monitor->sequence);
	smb_encode32(&encoder, monitor->breaks_due);
	smb_encode8(&encoder, monitor->signs | monitor->watches_all << 1);
	return smb_encoder_length(&encoder);
}
