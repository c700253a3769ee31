/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/flow/requests.h"

#include <assert.h>

uint32_t smb_requests_buckets(uint32_t size)
{
	uint32_t buckets = 4;

	while (buckets < size)
		buckets *= 2;
	return buckets;
}

/** Ids of 1 MiB READs are multiples of 16 apart, which one multiplication would gather in few buckets. */
static uint32_t bucket_of(const struct smb_requests *table, uint32_t channel, uint64_t message_id)
{
	uint64_t key = (message_id + ((uint64_t)channel << 56)) * UINT64_C(0x9e3779b97f4a7c15);

	key ^= key >> 32;
	key *= UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(key >> table->bucket_shift);
}

void smb_requests_init(struct smb_requests *table, struct smb_request_arrays arrays, uint32_t size)
{
	uint32_t buckets = smb_requests_buckets(size);

	*table = (struct smb_requests){ .size = size, .bucket_shift = 64 };
	for (uint32_t n = buckets; n > 1; n /= 2)
		table->bucket_shift--;
	for (uint32_t i = 0; i < buckets; i++)
		arrays.buckets[i] = SMB_REQUEST_NONE;
	for (uint32_t i = 0; i < size; i++)
		arrays.slots[i] = (struct smb_request){ .link = i + 1 < size ? i + 1 : SMB_REQUEST_NONE };
}

uint32_t smb_requests_take(struct smb_requests *table, struct smb_request_arrays arrays)
{
	uint32_t slot = table->free_head;

	if (slot == SMB_REQUEST_NONE)
		return slot;
	table->free_head = arrays.slots[slot].link;
	table->taken++;
	arrays.slots[slot] = (struct smb_request){
		.state = SMB_REQUEST_HELD,
		.link = SMB_REQUEST_NONE,
		.chain = SMB_REQUEST_NONE,
		.waiters_head = SMB_REQUEST_NONE,
		.waiters_tail = SMB_REQUEST_NONE,
	};
	return slot;
}

void smb_requests_sent(struct smb_requests *table, struct smb_request_arrays arrays, uint32_t slot)
{
	struct smb_request *request = &arrays.slots[slot];
	uint32_t bucket = bucket_of(table, request->channel, request->message_id);

	assert(request->state == SMB_REQUEST_HELD);
	request->state = SMB_REQUEST_SENT;
	request->link = arrays.buckets[bucket];
	arrays.buckets[bucket] = slot;
	table->sent++;
}

uint32_t smb_requests_find(const struct smb_requests *table, struct smb_request_arrays arrays, uint32_t channel,
			   uint64_t message_id)
{
	uint32_t slot = arrays.buckets[bucket_of(table, channel, message_id)];

	while (slot != SMB_REQUEST_NONE &&
	       (arrays.slots[slot].message_id != message_id || arrays.slots[slot].channel != channel))
		slot = arrays.slots[slot].link;
	return slot;
}

void smb_requests_ended(struct smb_requests *table, struct smb_request_arrays arrays, uint32_t slot)
{
	struct smb_request *request = &arrays.slots[slot];
	uint32_t *link = &arrays.buckets[bucket_of(table, request->channel, request->message_id)];

	assert(request->state == SMB_REQUEST_SENT);
	while (*link != slot) {
		assert(*link != SMB_REQUEST_NONE);
		link = &arrays.slots[*link].link;
	}
	*link = request->link;
	request->link = SMB_REQUEST_NONE;
	request->state = SMB_REQUEST_HELD;
	table->sent--;
}

void smb_requests_release(struct smb_requests *table, struct smb_request_arrays arrays, uint32_t slot)
{
	struct smb_request *request = &arrays.slots[slot];

	assert(request->state == SMB_REQUEST_HELD);
	request->state = SMB_REQUEST_FREE;
	request->link = table->free_head;
	table->free_head = slot;
	table->taken--;
}

static bool free_list_is_valid(const struct smb_requests *table, struct smb_request_arrays arrays)
{
	uint32_t free_slots = 0;

	for (uint32_t slot = table->free_head; slot != SMB_REQUEST_NONE; slot = arrays.slots[slot].link) {
		if (slot >= table->size || arrays.slots[slot].state != SMB_REQUEST_FREE || ++free_slots > table->size)
			return false;
	}
	return free_slots == table->size - table->taken;
}

bool smb_requests_is_valid(const struct smb_requests *table, struct smb_request_arrays arrays)
{
	uint32_t taken = 0;
	uint32_t sent = 0;

	if (table->taken > table->size || table->sent > table->taken || !free_list_is_valid(table, arrays))
		return false;
	for (uint32_t slot = 0; slot < table->size; slot++) {
		const struct smb_request *request = &arrays.slots[slot];

		taken += request->state != SMB_REQUEST_FREE;
		sent += request->state == SMB_REQUEST_SENT;
		if (request->state == SMB_REQUEST_SENT &&
		    smb_requests_find(table, arrays, request->channel, request->message_id) != slot)
			return false;
	}
	return taken == table->taken && sent == table->sent;
}
