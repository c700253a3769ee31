/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/memo.h"

#include "model/hash.h"

#include <glib.h>

#define SHARDS 32u
#define ARENA_BYTES ((size_t)256 << 10)

struct entry {
	uint64_t event;
	const struct model_effect *effect; /* NULL = empty */
	uint32_t part;
	uint32_t spare;
};

struct shard {
	GMutex lock;
	uint32_t count;
	uint32_t slots; /* a power of two */
	struct entry *table;
	uint8_t *arena;
	size_t arena_left;
	GPtrArray *arenas;
	uint64_t memory;
};

struct model_memo {
	struct shard shards[SHARDS];
};

struct model_memo *model_memo_new(void)
{
	struct model_memo *memo = g_new0(struct model_memo, 1);

	for (guint i = 0; i < SHARDS; i++) {
		struct shard *shard = &memo->shards[i];

		g_mutex_init(&shard->lock);
		shard->slots = 64;
		shard->table = g_new0(struct entry, shard->slots);
		shard->arenas = g_ptr_array_new_with_free_func(g_free);
	}
	return memo;
}

void model_memo_free(struct model_memo *memo)
{
	if (!memo)
		return;
	for (guint i = 0; i < SHARDS; i++) {
		g_free(memo->shards[i].table);
		g_ptr_array_unref(memo->shards[i].arenas);
		g_mutex_clear(&memo->shards[i].lock);
	}
	g_free(memo);
}

static uint64_t pack(struct model_event event)
{
	return (uint64_t)event.argument << 32 | (uint64_t)event.choice << 16 | (uint64_t)event.channel << 8 |
	       event.kind;
}

static uint64_t mix(uint32_t part, uint64_t event)
{
	return model_hash_fold(event ^ UINT64_C(0x452821e638d01377), part * UINT64_C(0x9e3779b97f4a7c15) + 1);
}

static struct entry *look(const struct shard *shard, uint64_t key, uint32_t part, uint64_t event)
{
	uint32_t slot = (uint32_t)(key >> 32) & (shard->slots - 1);
	struct entry *entry = &shard->table[slot];

	while (entry->effect && (entry->part != part || entry->event != event)) {
		slot = (slot + 1) & (shard->slots - 1);
		entry = &shard->table[slot];
	}
	return entry;
}

const struct model_effect *model_memo_find(struct model_memo *memo, uint32_t part, struct model_event event)
{
	uint64_t packed = pack(event);
	uint64_t key = mix(part, packed);
	struct shard *shard = &memo->shards[key % SHARDS];
	const struct model_effect *found;

	g_mutex_lock(&shard->lock);
	found = look(shard, key, part, packed)->effect;
	g_mutex_unlock(&shard->lock);
	return found;
}

static void grow(struct shard *shard)
{
	struct entry *old = shard->table;
	uint32_t slots = shard->slots;

	shard->slots *= 2;
	shard->table = g_new0(struct entry, shard->slots);
	for (uint32_t i = 0; i < slots; i++) {
		if (old[i].effect)
			*look(shard, mix(old[i].part, old[i].event), old[i].part, old[i].event) = old[i];
	}
	g_free(old);
}

static const struct model_effect *keep(struct shard *shard, const struct model_effect *effect)
{
	size_t size = sizeof(*effect) + effect->outputs * sizeof(effect->output[0]);
	size_t room = (size + 7) & ~(size_t)7;
	void *kept;

	if (room > shard->arena_left) {
		shard->arena_left = MAX(ARENA_BYTES, room);
		shard->arena = g_malloc(shard->arena_left);
		g_ptr_array_add(shard->arenas, shard->arena);
		shard->memory += shard->arena_left;
	}
	kept = memcpy(shard->arena, effect, size);
	shard->arena += room;
	shard->arena_left -= room;
	return kept;
}

const struct model_effect *model_memo_add(struct model_memo *memo, uint32_t part, struct model_event event,
					  const struct model_effect *effect)
{
	uint64_t packed = pack(event);
	uint64_t key = mix(part, packed);
	struct shard *shard = &memo->shards[key % SHARDS];
	const struct model_effect *kept;
	struct entry *entry;

	g_mutex_lock(&shard->lock);
	entry = look(shard, key, part, packed);
	kept = entry->effect;
	if (!kept) {
		kept = keep(shard, effect);
		*entry = (struct entry){ .event = packed, .effect = kept, .part = part };
		if (++shard->count * 3 > shard->slots * 2)
			grow(shard);
	}
	g_mutex_unlock(&shard->lock);
	return kept;
}

uint64_t model_memo_count(const struct model_memo *memo)
{
	uint64_t count = 0;

	for (guint i = 0; i < SHARDS; i++)
		count += memo->shards[i].count;
	return count;
}

uint64_t model_memo_bytes(const struct model_memo *memo)
{
	uint64_t bytes = sizeof(*memo);

	for (guint i = 0; i < SHARDS; i++)
		bytes += memo->shards[i].memory + memo->shards[i].slots * sizeof(struct entry);
	return bytes;
}
