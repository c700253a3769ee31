/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_ARENA_H
#define MODEL_ARENA_H

/**
 * Memory for records that are made one after another, never move and never go; each is known by a number of 32 bits.
 * One thread at a time takes; any thread may look at a record whose number it was given.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_ARENA_UNIT 8u /* bytes; what records are aligned to */
#define MODEL_ARENA_CHUNK_BITS 18 /* units of a chunk: 2 MiB */
#define MODEL_ARENA_CHUNKS (1u << (32 - MODEL_ARENA_CHUNK_BITS))

struct model_arena {
	uint8_t **chunks;
	uint32_t *used; /* units of each chunk */
	uint32_t count; /* chunks */
};

void model_arena_init(struct model_arena *arena);
void model_arena_clear(struct model_arena *arena);

/** Room for `size` bytes, less than a chunk, all zero. The number is never 0; the same sizes in the same order have the
 *  same numbers. */
void *model_arena_take(struct model_arena *arena, size_t size, uint32_t *number);
/** The record taken behind this one, which has `size` bytes; 0: there is none. Behind number 0 comes the first. */
uint32_t model_arena_next(const struct model_arena *arena, uint32_t number, size_t size);
uint64_t model_arena_bytes(const struct model_arena *arena); /* memory in use */

static inline void *model_arena_at(const struct model_arena *arena, uint32_t number)
{
	return arena->chunks[number >> MODEL_ARENA_CHUNK_BITS] +
	       (size_t)(number & ((1u << MODEL_ARENA_CHUNK_BITS) - 1)) * MODEL_ARENA_UNIT;
}

#endif
