/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/index.h"

#include "model/pages.h"

#define BITS_FIRST 8

static size_t table_bytes(uint32_t bits)
{
	return sizeof(struct model_index_table) + (sizeof(uint64_t) << bits);
}

static struct model_index_table *table_new(uint32_t bits, struct model_index_table *smaller)
{
	struct model_index_table *table = model_pages_new(table_bytes(bits));

	table->bits = bits;
	table->smaller = smaller;
	return table;
}

void model_index_init(struct model_index *index)
{
	index->count = 0;
	atomic_init(&index->table, table_new(BITS_FIRST, NULL));
}

void model_index_clear(struct model_index *index)
{
	struct model_index_table *table = atomic_load(&index->table);

	while (table) {
		struct model_index_table *smaller = table->smaller;

		model_pages_free(table, table_bytes(table->bits));
		table = smaller;
	}
}

static void enter(struct model_index_table *table, uint64_t slot)
{
	size_t mask = ((size_t)1 << table->bits) - 1;
	size_t at = model_index_slot(table, (uint32_t)(slot >> 32));

	while (atomic_load_explicit(&table->slots[at], memory_order_relaxed))
		at = (at + 1) & mask;
	/* whoever sees the number sees the record */
	atomic_store_explicit(&table->slots[at], slot, memory_order_release);
}

static struct model_index_table *grow(struct model_index *index, struct model_index_table *old)
{
	struct model_index_table *table = table_new(old->bits + 1, old);

	for (size_t i = 0; i < (size_t)1 << old->bits; i++) {
		uint64_t slot = atomic_load_explicit(&old->slots[i], memory_order_relaxed);

		if (slot)
			enter(table, slot);
	}
	atomic_store_explicit(&index->table, table, memory_order_release);
	return table;
}

void model_index_add(struct model_index *index, uint32_t hash, uint32_t number)
{
	struct model_index_table *table = atomic_load_explicit(&index->table, memory_order_relaxed);

	if (++index->count * 3 > (uint64_t)2 << table->bits)
		table = grow(index, table);
	enter(table, (uint64_t)hash << 32 | number);
}

uint64_t model_index_bytes(const struct model_index *index)
{
	uint64_t bytes = 0;

	for (struct model_index_table *table = atomic_load(&((struct model_index *)index)->table); table;
	     table = table->smaller)
		bytes += table_bytes(table->bits);
	return bytes;
}
