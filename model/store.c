/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/store.h"

#include <glib.h>

/* A store is many small ones, so that threads seldom meet; the low bits of a number say which. */
#define SHARD_BITS 5
#define SHARDS (1u << SHARD_BITS)
#define SEGMENTS 24 /* of growing size, so that no record ever moves */
#define SEGMENT_FIRST 256u
#define ARENA_BYTES ((size_t)256 << 10)

struct record {
	struct model_hash hash;
	uint32_t length;
	uint32_t spare;
	uint8_t bytes[];
};

struct shard {
	GMutex lock;
	uint32_t count;
	uint32_t slots; /* of `table`, a power of two */
	uint32_t *table; /* index in the shard + 1, 0 = empty */
	struct record **segments[SEGMENTS];
	uint8_t *arena;
	size_t arena_left;
	GPtrArray *arenas;
	uint64_t memory;
};

struct model_store {
	struct shard shards[SHARDS];
};

struct model_store *model_store_new(void)
{
	struct model_store *store = g_new0(struct model_store, 1);

	for (guint i = 0; i < SHARDS; i++) {
		struct shard *shard = &store->shards[i];

		g_mutex_init(&shard->lock);
		shard->slots = 64;
		shard->table = g_new0(uint32_t, shard->slots);
		shard->arenas = g_ptr_array_new_with_free_func(g_free);
	}
	return store;
}

void model_store_free(struct model_store *store)
{
	if (!store)
		return;
	for (guint i = 0; i < SHARDS; i++) {
		struct shard *shard = &store->shards[i];

		for (guint s = 0; s < SEGMENTS; s++)
			g_free(shard->segments[s]);
		g_free(shard->table);
		g_ptr_array_unref(shard->arenas);
		g_mutex_clear(&shard->lock);
	}
	g_free(store);
}

/* Segment s holds the indexes from SEGMENT_FIRST * (2^s - 1) on. */
static struct record **place_of(struct record **const *segments, uint32_t index)
{
	uint32_t scaled = index / SEGMENT_FIRST + 1;
	uint32_t segment = 31 - (uint32_t)__builtin_clz(scaled);

	return &segments[segment][index - SEGMENT_FIRST * ((1u << segment) - 1)];
}

static void table_enter(struct shard *shard, uint64_t key, uint32_t index)
{
	uint32_t slot = (uint32_t)(key >> 32) & (shard->slots - 1);

	while (shard->table[slot])
		slot = (slot + 1) & (shard->slots - 1);
	shard->table[slot] = index + 1;
}

static void table_grow(struct shard *shard)
{
	g_free(shard->table);
	shard->slots *= 2;
	shard->table = g_new0(uint32_t, shard->slots);
	for (uint32_t i = 0; i < shard->count; i++)
		table_enter(shard, (*place_of(shard->segments, i))->hash.low, i);
}

static void *arena_take(struct shard *shard, size_t size)
{
	void *taken;

	size = (size + 7) & ~(size_t)7;
	if (size > shard->arena_left) {
		shard->arena_left = MAX(ARENA_BYTES, size);
		shard->arena = g_malloc(shard->arena_left);
		g_ptr_array_add(shard->arenas, shard->arena);
		shard->memory += shard->arena_left;
	}
	taken = shard->arena;
	shard->arena += size;
	shard->arena_left -= size;
	return taken;
}

static void add(struct shard *shard, struct model_hash hash, const void *bytes, uint32_t length)
{
	struct record *record = arena_take(shard, sizeof(*record) + length);
	uint32_t scaled = shard->count / SEGMENT_FIRST + 1;
	uint32_t segment = 31 - (uint32_t)__builtin_clz(scaled);

	if (!shard->segments[segment]) {
		shard->segments[segment] = g_new(struct record *, SEGMENT_FIRST << segment);
		shard->memory += sizeof(struct record *) * (SEGMENT_FIRST << segment);
	}
	record->hash = hash;
	record->length = length;
	record->spare = 0;
	if (length)
		memcpy(record->bytes, bytes, length);
	*place_of(shard->segments, shard->count) = record;
	table_enter(shard, hash.low, shard->count);
	if (++shard->count * 3 > shard->slots * 2)
		table_grow(shard);
}

uint32_t model_store_put(struct model_store *store, struct model_hash hash, const void *bytes, uint32_t length,
			 bool *is_new)
{
	uint32_t number = (uint32_t)hash.low & (SHARDS - 1);
	struct shard *shard = &store->shards[number];
	uint32_t slot, found;

	g_mutex_lock(&shard->lock);
	slot = (uint32_t)(hash.low >> 32) & (shard->slots - 1);
	while ((found = shard->table[slot])) {
		if (model_hash_equal((*place_of(shard->segments, found - 1))->hash, hash))
			break;
		slot = (slot + 1) & (shard->slots - 1);
	}
	if (is_new)
		*is_new = !found;
	if (!found) {
		found = shard->count + 1;
		add(shard, hash, bytes, length);
	}
	g_mutex_unlock(&shard->lock);
	return found << SHARD_BITS | number;
}

static const struct record *record_at(const struct model_store *store, uint32_t number)
{
	const struct shard *shard = &store->shards[number & (SHARDS - 1)];

	g_assert(number >> SHARD_BITS);
	return *place_of(shard->segments, (number >> SHARD_BITS) - 1);
}

const void *model_store_get(const struct model_store *store, uint32_t number, uint32_t *length)
{
	const struct record *record = record_at(store, number);

	if (length)
		*length = record->length;
	return record->bytes;
}

struct model_hash model_store_hash(const struct model_store *store, uint32_t number)
{
	return record_at(store, number)->hash;
}

uint64_t model_store_count(const struct model_store *store)
{
	uint64_t count = 0;

	for (guint i = 0; i < SHARDS; i++)
		count += store->shards[i].count;
	return count;
}

uint64_t model_store_bytes(const struct model_store *store)
{
	uint64_t bytes = sizeof(*store);

	for (guint i = 0; i < SHARDS; i++)
		bytes += store->shards[i].memory + store->shards[i].slots * sizeof(uint32_t);
	return bytes;
}

bool model_store_each(const struct model_store *store, model_store_fn each, void *context)
{
	for (uint32_t i = 0; i < SHARDS; i++) {
		const struct shard *shard = &store->shards[i];

		for (uint32_t n = 0; n < shard->count; n++) {
			const struct record *record = *place_of(shard->segments, n);

			if (!each(context, (n + 1) << SHARD_BITS | i, record->hash, record->bytes, record->length))
				return false;
		}
	}
	return true;
}

void model_store_restore(struct model_store *store, uint32_t number, struct model_hash hash, const void *bytes,
			 uint32_t length)
{
	struct shard *shard = &store->shards[number & (SHARDS - 1)];

	g_assert(number >> SHARD_BITS == shard->count + 1);
	add(shard, hash, bytes, length);
}
