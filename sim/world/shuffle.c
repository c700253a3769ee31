/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Draws, and orders without a table: a random file is read block by block, each once. */

#include "sim/world/world_internal.h"

uint64_t world_random(uint64_t *state)
{
	uint64_t x = (*state += UINT64_C(0x9e3779b97f4a7c15)); /* splitmix64 */

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

#define ROUNDS 4

/* A Feistel network: whatever its rounds do, it maps the numbers of 2 * `half_bits` bits onto themselves. */
static uint64_t permute(uint64_t number, uint32_t half_bits, uint64_t seed)
{
	uint64_t mask = (UINT64_C(1) << half_bits) - 1;
	uint64_t left = number >> half_bits, right = number & mask;

	for (uint64_t round = 0; round < ROUNDS; round++) {
		uint64_t state = seed ^ (right << 8) ^ round;
		uint64_t mixed = left ^ (world_random(&state) & mask);

		left = right;
		right = mixed;
	}
	return left << half_bits | right;
}

uint64_t world_shuffle(uint64_t index, uint64_t count, uint64_t seed)
{
	uint32_t half_bits = 1;

	g_assert(index < count);
	while (half_bits < 31 && UINT64_C(1) << 2 * half_bits < count)
		half_bits++;
	/* Numbers beyond the last block are walked on from until one is in: still one to one. */
	do {
		index = permute(index, half_bits, seed);
	} while (index >= count);
	return index;
}
