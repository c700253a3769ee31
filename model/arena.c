/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/arena.h"

#include "model/pages.h"

#include <glib.h>

#define CHUNK_UNITS (1u << MODEL_ARENA_CHUNK_BITS)
#define CHUNK_BYTES ((size_t)CHUNK_UNITS * MODEL_ARENA_UNIT)
#define FIRST_UNIT 1u /* so that no number is 0 */

void model_arena_init(struct model_arena *arena)
{
	*arena = (struct model_arena){
		.chunks = model_pages_new(MODEL_ARENA_CHUNKS * sizeof(arena->chunks[0])),
		.used = model_pages_new(MODEL_ARENA_CHUNKS * sizeof(arena->used[0])),
	};
}

/* The first chunk is seldom full: small pages. */
static size_t chunk_bytes(uint32_t chunk)
{
	return chunk ? CHUNK_BYTES : CHUNK_BYTES / 2;
}

void model_arena_clear(struct model_arena *arena)
{
	for (uint32_t i = 0; i < arena->count; i++)
		model_pages_free(arena->chunks[i], chunk_bytes(i));
	model_pages_free(arena->chunks, MODEL_ARENA_CHUNKS * sizeof(arena->chunks[0]));
	model_pages_free(arena->used, MODEL_ARENA_CHUNKS * sizeof(arena->used[0]));
}

static uint32_t units_of(size_t size)
{
	return (uint32_t)((size + MODEL_ARENA_UNIT - 1) / MODEL_ARENA_UNIT);
}

static bool has_room(const struct model_arena *arena, uint32_t units)
{
	uint32_t last = arena->count - 1;

	return arena->count && (arena->used[last] + units) * (size_t)MODEL_ARENA_UNIT <= chunk_bytes(last);
}

void *model_arena_take(struct model_arena *arena, size_t size, uint32_t *number)
{
	uint32_t units = units_of(size);
	uint32_t last;

	g_assert(units <= CHUNK_UNITS / 2 - FIRST_UNIT);
	if (!has_room(arena, units)) {
		g_assert(arena->count < MODEL_ARENA_CHUNKS);
		arena->chunks[arena->count] = model_pages_new(chunk_bytes(arena->count));
		arena->used[arena->count] = FIRST_UNIT;
		arena->count++;
	}
	last = arena->count - 1;
	*number = last << MODEL_ARENA_CHUNK_BITS | arena->used[last];
	arena->used[last] += units;
	return model_arena_at(arena, *number);
}

uint32_t model_arena_next(const struct model_arena *arena, uint32_t number, size_t size)
{
	uint32_t chunk = number >> MODEL_ARENA_CHUNK_BITS;
	uint32_t unit = number ? (number & (CHUNK_UNITS - 1)) + units_of(size) : FIRST_UNIT;

	if (chunk < arena->count && unit < arena->used[chunk])
		return chunk << MODEL_ARENA_CHUNK_BITS | unit;
	return chunk + 1 < arena->count ? (chunk + 1) << MODEL_ARENA_CHUNK_BITS | FIRST_UNIT : 0;
}

uint64_t model_arena_bytes(const struct model_arena *arena)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < arena->count; i++)
		bytes += (uint64_t)arena->used[i] * MODEL_ARENA_UNIT;
	return bytes;
}
