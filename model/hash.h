/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_HASH_H
#define MODEL_HASH_H

/**
 * 128-bit hashes. States and their parts are told apart by these alone: with 10^9 different ones the odds that any two
 * share a hash are below 10^-20.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct model_hash {
	uint64_t high; /* orders and places; all of it is well mixed */
	uint64_t low;
};

static inline bool model_hash_equal(struct model_hash a, struct model_hash b)
{
	return a.high == b.high && a.low == b.low;
}

__extension__ typedef unsigned __int128 model_wide; /* for products */

/** The 128-bit product, folded. */
static inline uint64_t model_hash_fold(uint64_t a, uint64_t b)
{
	model_wide product = (model_wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline struct model_hash model_hash_word(struct model_hash hash, uint64_t word)
{
	hash.high = model_hash_fold(hash.high ^ word, UINT64_C(0x9fb21c651e98df25)) + hash.low;
	hash.low = model_hash_fold(hash.low ^ word, UINT64_C(0xd6e8feb86659fd93)) ^ (hash.high << 23 | hash.high >> 41);
	return hash;
}

/** The length goes in first, so that parts hashed one after another cannot be cut differently. */
static inline struct model_hash model_hash_bytes(struct model_hash hash, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;
	uint64_t word;

	hash = model_hash_word(hash, length);
	for (; length >= 8; length -= 8, at += 8) {
		memcpy(&word, at, 8);
		hash = model_hash_word(hash, word);
	}
	if (!length)
		return hash;
	word = 0;
	memcpy(&word, at, length);
	return model_hash_word(hash, word);
}

static inline struct model_hash model_hash_start(uint64_t seed)
{
	return (struct model_hash){ seed ^ UINT64_C(0x243f6a8885a308d3), ~seed ^ UINT64_C(0x13198a2e03707344) };
}

static inline struct model_hash model_hash_end(struct model_hash hash)
{
	return model_hash_word(model_hash_word(hash, UINT64_C(0xa4093822299f31d0)), hash.high);
}

#endif
