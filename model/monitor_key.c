/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/monitor_key.h"

#include "protocol/monitor/state.h"

static struct model_hash hash_channel(const struct smb_monitor *monitor, uint32_t index, struct model_hash hash)
{
	const struct monitor_channel *on = monitor_channel_at(monitor, index);
	uint32_t words = monitor->limits.window / 64;

	hash = model_hash_word(hash, (uint64_t)on->open | (uint64_t)on->encrypted << 1 | (uint64_t)on->smb1 << 2 |
					     (uint64_t)on->negotiated << 3 | (uint64_t)on->multi_credit << 4 |
					     (uint64_t)on->hole_reported << 5);
	hash = model_hash_word(hash, (uint64_t)on->max_read << 32 | on->max_write);
	hash = model_hash_word(hash, on->low);
	hash = model_hash_word(hash, on->next);
	hash = model_hash_word(hash, on->top);
	hash = model_hash_word(hash, on->low == on->next ? 0 : on->requests - on->hole_since);
	hash = model_hash_word(hash, (uint64_t)on->credits);
	hash = model_hash_word(hash, (uint64_t)on->let_go);
	hash = model_hash_word(hash, (uint64_t)on->in_flight << 32 | on->forgotten);
	hash = model_hash_word(hash, on->read_bytes);
	for (uint32_t i = 0; i < words; i++) {
		hash = model_hash_word(hash, monitor_bits(monitor, monitor->used_bits, index)[i]);
		hash = model_hash_word(hash, monitor_bits(monitor, monitor->first_bits, index)[i]);
	}
	return hash;
}

static struct model_hash hash_request(const struct monitor_request *request, struct model_hash hash)
{
	hash = model_hash_word(hash, request->message_id);
	hash = model_hash_word(hash, request->async_id);
	hash = model_hash_word(hash, request->offset);
	hash = model_hash_word(hash, request->name);
	hash = model_hash_word(hash, (uint64_t)request->channel << 32 | request->chain);
	hash = model_hash_word(hash, (uint64_t)request->chain_before << 32 | request->chain_after);
	hash = model_hash_word(hash, (uint64_t)request->handle << 32 | request->length);
	return model_hash_word(hash, (uint64_t)request->command << 2 | (uint64_t)request->interim << 1 |
					     (uint64_t)request->related);
}

static struct model_hash hash_chain(const struct monitor_chain *chain, struct model_hash hash)
{
	hash = model_hash_word(hash, chain->name);
	hash = model_hash_word(hash, (uint64_t)chain->members << 32 | chain->left);
	hash = model_hash_word(hash, (uint64_t)chain->asked << 32 | chain->granted);
	return model_hash_word(hash, (uint64_t)chain->producer_status << 2 | (uint64_t)chain->producer_answered << 1 |
					     (uint64_t)chain->closes);
}

static struct model_hash hash_file(const struct monitor_file *file, struct model_hash hash)
{
	hash = model_hash_word(hash, file->name);
	hash = model_hash_word(hash, file->source);
	hash = model_hash_word(hash, file->bytes);
	hash = model_hash_word(hash, file->run_start);
	hash = model_hash_word(hash, file->requested_end);
	hash = model_hash_word(hash, file->handed_end);
	return model_hash_word(hash,
			       (uint64_t)file->handles << 2 | (uint64_t)file->registered << 1 | (uint64_t)file->known);
}

/* Slots that are in use, by number: which slot a thing got may tell apart what is really the same. */
struct model_hash model_monitor_key(const struct smb_monitor *monitor, struct model_hash hash)
{
	for (uint32_t i = 0; i < monitor->limits.channels; i++)
		hash = hash_channel(monitor, i, hash);
	for (uint32_t i = 0; i < monitor->requests.capacity; i++) {
		const struct monitor_request *request = monitor_request_at(monitor, i);

		hash = request->in_use ? hash_request(request, hash) : model_hash_word(hash, request->next);
	}
	for (uint32_t i = 0; i < monitor->chains.capacity; i++) {
		const struct monitor_chain *chain = monitor_chain_at(monitor, i);

		hash = chain->in_use ? hash_chain(chain, hash) : model_hash_word(hash, chain->next);
	}
	for (uint32_t i = 0; i < monitor->files.capacity; i++) {
		const struct monitor_file *file = monitor_file_at(monitor, i);

		hash = file->in_use ? hash_file(file, hash) : model_hash_word(hash, file->next);
	}
	for (uint32_t i = 0; i < monitor->handles.capacity; i++) {
		const struct monitor_handle *handle = monitor_handle_at(monitor, i);

		hash = model_hash_word(hash, handle->in_use ? handle->id.volatile_id : UINT64_MAX);
		hash = model_hash_word(hash, handle->in_use ? handle->id.persistent ^ handle->file : handle->next);
	}
	return model_hash_word(hash, monitor->largest_application_read);
}
