/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_ENGINE_RING_H
#define SIM_ENGINE_RING_H

/** A first-in first-out queue of values that grows as needed. Pointers into it are good until the next push. */

#include <glib.h>
#include <string.h>

struct ring {
	char *items;
	size_t item_size;
	size_t capacity; /* a power of two */
	size_t head;
	size_t length;
};

static inline void ring_init(struct ring *ring, size_t item_size)
{
	*ring = (struct ring){ .item_size = item_size };
}

static inline void ring_clear(struct ring *ring)
{
	g_free(ring->items);
	ring_init(ring, ring->item_size);
}

static inline void *ring_at(const struct ring *ring, size_t index)
{
	return ring->items + ((ring->head + index) & (ring->capacity - 1)) * ring->item_size;
}

static inline void *ring_head(const struct ring *ring)
{
	return ring->length ? ring_at(ring, 0) : NULL;
}

static inline void *ring_tail(const struct ring *ring)
{
	return ring->length ? ring_at(ring, ring->length - 1) : NULL;
}

static inline void ring_grow(struct ring *ring)
{
	size_t capacity = ring->capacity ? 2 * ring->capacity : 8;
	char *items = g_malloc_n(capacity, ring->item_size);

	for (size_t i = 0; i < ring->length; i++)
		memcpy(items + i * ring->item_size, ring_at(ring, i), ring->item_size);
	g_free(ring->items);
	ring->items = items;
	ring->capacity = capacity;
	ring->head = 0;
}

/** The new last item, not initialised. */
static inline void *ring_push(struct ring *ring)
{
	if (ring->length == ring->capacity)
		ring_grow(ring);
	return ring_at(ring, ring->length++);
}

static inline void ring_pop(struct ring *ring)
{
	g_assert(ring->length > 0);
	ring->head = (ring->head + 1) & (ring->capacity - 1);
	ring->length--;
}

#endif
