/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Outstanding requests by (channel, MessageId) and by (channel, AsyncId), and the chains they belong to. */
#include "protocol/monitor/state.h"

#include <string.h>

static uint32_t *request_bucket(const struct smb_monitor *monitor, size_t buckets, uint32_t channel, uint64_t id)
{
	uint64_t hash = (id ^ (uint64_t)channel << 48) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t *)monitor_at(monitor, buckets) + ((hash >> 32) & monitor->requests.bucket_mask);
}

void monitor_buckets_clear(struct smb_monitor *monitor, size_t buckets, uint32_t mask)
{
	memset(monitor_at(monitor, buckets), 0xff, ((size_t)mask + 1) * sizeof(uint32_t));
}

void monitor_tables_init(struct smb_monitor *monitor)
{
	for (uint32_t i = 0; i < monitor->requests.capacity; i++)
		monitor_request_at(monitor, i)->next = i + 1 < monitor->requests.capacity ? i + 1 : SLOT_NONE;
	for (uint32_t i = 0; i < monitor->chains.capacity; i++)
		monitor_chain_at(monitor, i)->next = i + 1 < monitor->chains.capacity ? i + 1 : SLOT_NONE;
	monitor_buckets_clear(monitor, monitor->requests.buckets, monitor->requests.bucket_mask);
	monitor_buckets_clear(monitor, monitor->async_buckets, monitor->requests.bucket_mask);
}

uint32_t monitor_request_find(const struct smb_monitor *monitor, uint32_t channel, uint64_t message_id)
{
	uint32_t slot = *request_bucket(monitor, monitor->requests.buckets, channel, message_id);
	while (slot != SLOT_NONE) {
		const struct monitor_request *request = monitor_request_at(monitor, slot);
		if (request->message_id == message_id && request->channel == channel)
			break;
		slot = request->next;
	}
	return slot;
}

uint32_t monitor_request_add(struct smb_monitor *monitor, uint32_t channel, uint64_t message_id)
{
	struct monitor_channel *on = monitor_channel_at(monitor, channel);
	uint32_t slot = monitor->requests.free;

	on->in_flight++;
	if (slot == SLOT_NONE || monitor_request_find(monitor, channel, message_id) != SLOT_NONE) {
		on->forgotten++;
		return SLOT_NONE;
	}
	struct monitor_request *request = monitor_request_at(monitor, slot);
	uint32_t *bucket = request_bucket(monitor, monitor->requests.buckets, channel, message_id);
	monitor->requests.free = request->next;
	monitor->requests.used++;
	*request = (struct monitor_request){
		.message_id = message_id,
		.next = *bucket,
		.async_next = SLOT_NONE,
		.channel = channel,
		.chain = SLOT_NONE,
		.chain_before = SLOT_NONE,
		.chain_after = SLOT_NONE,
		.handle = SLOT_NONE,
		.create = SLOT_NONE,
		.read_before = SLOT_NONE,
		.read_after = SLOT_NONE,
		.in_use = true,
	};
	*bucket = slot;
	return slot;
}

uint32_t monitor_async_find(const struct smb_monitor *monitor, uint32_t channel, uint64_t async_id)
{
	uint32_t slot = *request_bucket(monitor, monitor->async_buckets, channel, async_id);
	while (slot != SLOT_NONE) {
		const struct monitor_request *request = monitor_request_at(monitor, slot);
		if (request->async_id == async_id && request->channel == channel)
			break;
		slot = request->async_next;
	}
	return slot;
}

void monitor_async_add(struct smb_monitor *monitor, uint32_t slot, uint64_t async_id)
{
	struct monitor_request *request = monitor_request_at(monitor, slot);
	uint32_t *bucket = request_bucket(monitor, monitor->async_buckets, request->channel, async_id);
	request->async_id = async_id;
	request->async_next = *bucket;
	*bucket = slot;
}

static void async_unlink(struct smb_monitor *monitor, uint32_t slot)
{
	struct monitor_request *request = monitor_request_at(monitor, slot);
	uint32_t *link = request_bucket(monitor, monitor->async_buckets, request->channel, request->async_id);
	while (*link != slot)
		link = &monitor_request_at(monitor, *link)->async_next;
	*link = request->async_next;
}

static void chain_unlink(struct smb_monitor *monitor, const struct monitor_request *request)
{
	if (request->chain_before != SLOT_NONE)
		monitor_request_at(monitor, request->chain_before)->chain_after = request->chain_after;
	if (request->chain_after != SLOT_NONE)
		monitor_request_at(monitor, request->chain_after)->chain_before = request->chain_before;
}

void monitor_request_remove(struct smb_monitor *monitor, uint32_t slot)
{
	struct monitor_request *request = monitor_request_at(monitor, slot);
	uint32_t *link = request_bucket(monitor, monitor->requests.buckets, request->channel, request->message_id);

	while (*link != slot)
		link = &monitor_request_at(monitor, *link)->next;
	*link = request->next;
	if (request->async_id)
		async_unlink(monitor, slot);
	chain_unlink(monitor, request);
	monitor_read_unlink(monitor, slot);
	monitor_channel_at(monitor, request->channel)->in_flight--;
	request->in_use = false;
	request->next = monitor->requests.free;
	monitor->requests.free = slot;
	monitor->requests.used--;
}

uint32_t monitor_chain_add(struct smb_monitor *monitor)
{
	uint32_t slot = monitor->chains.free;
	if (slot == SLOT_NONE)
		return SLOT_NONE;
	struct monitor_chain *chain = monitor_chain_at(monitor, slot);
	monitor->chains.free = chain->next;
	monitor->chains.used++;
	*chain = (struct monitor_chain){ .in_use = true, .next = SLOT_NONE };
	return slot;
}

void monitor_chain_remove(struct smb_monitor *monitor, uint32_t slot)
{
	struct monitor_chain *chain = monitor_chain_at(monitor, slot);
	chain->in_use = false;
	chain->next = monitor->chains.free;
	monitor->chains.free = slot;
	monitor->chains.used--;
}

static bool request_is_valid(const struct smb_monitor *monitor, uint32_t slot)
{
	const struct monitor_request *request = monitor_request_at(monitor, slot);
	if (request->channel >= monitor->limits.channels || monitor_channel_at(monitor, request->channel)->smb1)
		return false;
	if (monitor_request_find(monitor, request->channel, request->message_id) != slot)
		return false;
	if (request->async_id && monitor_async_find(monitor, request->channel, request->async_id) == SLOT_NONE)
		return false;
	if (request->chain == SLOT_NONE)
		return request->chain_before == SLOT_NONE && request->chain_after == SLOT_NONE;
	return request->chain < monitor->chains.capacity && monitor_chain_at(monitor, request->chain)->in_use;
}

static bool chains_are_valid(const struct smb_monitor *monitor)
{
	uint32_t used = 0;
	for (uint32_t i = 0; i < monitor->chains.capacity; i++) {
		const struct monitor_chain *chain = monitor_chain_at(monitor, i);
		used += chain->in_use;
		if (chain->in_use && (!chain->left || chain->left > chain->members))
			return false;
	}
	return used == monitor->chains.used;
}

bool monitor_tables_are_valid(const struct smb_monitor *monitor)
{
	uint32_t used = 0;
	for (uint32_t i = 0; i < monitor->requests.capacity; i++) {
		if (!monitor_request_at(monitor, i)->in_use)
			continue;
		used++;
		if (!request_is_valid(monitor, i))
			return false;
	}
	uint64_t in_flight = 0;
	for (uint32_t i = 0; i < monitor->limits.channels; i++) {
		const struct monitor_channel *channel = monitor_channel_at(monitor, i);
		if (channel->forgotten > channel->in_flight)
			return false;
		in_flight += channel->smb1 ? 0 : channel->in_flight - channel->forgotten; /* smb1.c only counts */
	}
	return used == monitor->requests.used && in_flight == used && chains_are_valid(monitor);
}
