/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/store.h"

struct model_store *model_store_new(void)
{
	struct model_store *store = g_new0(struct model_store, 1);

	model_index_init(&store->index);
	model_arena_init(&store->arena);
	g_mutex_init(&store->lock);
	return store;
}

void model_store_free(struct model_store *store)
{
	if (!store)
		return;
	model_index_clear(&store->index);
	model_arena_clear(&store->arena);
	g_mutex_clear(&store->lock);
	g_free(store);
}

static bool has_hash(const void *store, uint32_t number, const void *hash)
{
	return model_hash_equal(model_store_record(store, number)->hash, *(const struct model_hash *)hash);
}

static uint32_t key_of(struct model_hash hash)
{
	return (uint32_t)(hash.low >> 32);
}

uint32_t model_store_find(const struct model_store *store, struct model_hash hash)
{
	return model_index_find(&store->index, key_of(hash), has_hash, store, &hash);
}

static uint32_t add(struct model_store *store, struct model_hash hash, const void *bytes, uint32_t length)
{
	uint32_t number;
	struct model_store_record *record = model_arena_take(&store->arena, sizeof(*record) + length, &number);

	record->hash = hash;
	record->length = length;
	if (length)
		memcpy(record->bytes, bytes, length);
	model_index_add(&store->index, key_of(hash), number);
	return number;
}

uint32_t model_store_put(struct model_store *store, struct model_hash hash, const void *bytes, uint32_t length)
{
	uint32_t number = model_store_find(store, hash);

	if (number)
		return number;
	g_mutex_lock(&store->lock);
	number = model_store_find(store, hash); /* another thread may have been faster */
	if (!number)
		number = add(store, hash, bytes, length);
	g_mutex_unlock(&store->lock);
	return number;
}

uint64_t model_store_count(const struct model_store *store)
{
	return store->index.count;
}

uint64_t model_store_bytes(const struct model_store *store)
{
	return sizeof(*store) + model_index_bytes(&store->index) + model_arena_bytes(&store->arena);
}

bool model_store_each(const struct model_store *store, model_store_fn each, void *context)
{
	size_t size = 0;

	for (uint32_t number = 0; (number = model_arena_next(&store->arena, number, size));) {
		const struct model_store_record *record = model_store_record(store, number);

		if (!each(context, number, record->hash, record->bytes, record->length))
			return false;
		size = sizeof(*record) + record->length;
	}
	return true;
}
