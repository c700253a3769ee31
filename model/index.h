/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_INDEX_H
#define MODEL_INDEX_H

/**
 * Which records of an arena may have a key: a hash table of their numbers that any thread looks into without a lock,
 * while one thread at a time adds. Nothing is ever removed; a table that has become too small stays for those who are
 * still looking into it.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_index_table {
	uint32_t bits; /* of the number of slots */
	struct model_index_table *smaller; /* the one before */
	_Atomic uint64_t slots[]; /* hash of the key, number; 0 = empty */
};

struct model_index {
	_Atomic(struct model_index_table *) table;
	uint64_t count;
};

void model_index_init(struct model_index *index);
void model_index_clear(struct model_index *index);
/** One thread at a time. `number` is not 0. */
void model_index_add(struct model_index *index, uint32_t hash, uint32_t number);
uint64_t model_index_bytes(const struct model_index *index);

static inline size_t model_index_slot(const struct model_index_table *table, uint32_t hash)
{
	return (size_t)((uint64_t)hash << table->bits >> 32);
}

/** Is the key that of the record with this number? */
typedef bool (*model_index_fn)(const void *context, uint32_t number, const void *key);

/** 0: not there. What another thread adds meanwhile may be missed. */
static inline uint32_t model_index_find(const struct model_index *index, uint32_t hash, model_index_fn is,
					const void *context, const void *key)
{
	struct model_index_table *table = atomic_load_explicit(&index->table, memory_order_acquire);
	size_t mask = ((size_t)1 << table->bits) - 1;
	uint64_t slot;

	for (size_t at = model_index_slot(table, hash);; at = (at + 1) & mask) {
		slot = atomic_load_explicit(&table->slots[at], memory_order_acquire);
		if (!slot)
			return 0;
		if (slot >> 32 == hash && is(context, (uint32_t)slot, key))
			return (uint32_t)slot;
	}
}

/** The slot where to begin is on its way to the cache. */
static inline void model_index_prefetch(const struct model_index *index, uint32_t hash)
{
	struct model_index_table *table = atomic_load_explicit(&index->table, memory_order_acquire);

	__builtin_prefetch((const void *)&table->slots[model_index_slot(table, hash)]);
}

#endif
