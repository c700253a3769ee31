/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/packed.h"

#include <assert.h>
#include <string.h>

/* A run: one word with place and count, both in words, and the words themselves. */
#define RUN(at, count) ((uint64_t)(at) << 32 | (count))

#define STRIDE 16 /* words that are looked at together: most are the same */

size_t model_packed_max(size_t size)
{
	return size + size / 2 + 16; /* every other word differs */
}

static uint64_t word_at(const uint8_t *bytes, size_t word)
{
	uint64_t value;

	memcpy(&value, bytes + 8 * word, 8);
	return value;
}

size_t model_pack(const uint8_t *block, const uint8_t *base, size_t size, uint8_t *packed)
{
	size_t words = size / 8;
	size_t used = 0;
	size_t at = 0;

	assert(size % 8 == 0);
	while (at < words) {
		size_t end;
		uint64_t run;

		if (at + STRIDE <= words && !memcmp(block + 8 * at, base + 8 * at, 8 * STRIDE)) {
			at += STRIDE;
			continue;
		}
		if (word_at(block, at) == word_at(base, at)) {
			at++;
			continue;
		}
		end = at + 1;
		while (end < words && word_at(block, end) != word_at(base, end))
			end++;
		run = RUN(at, end - at);
		memcpy(packed + used, &run, 8);
		memcpy(packed + used + 8, block + 8 * at, 8 * (end - at));
		used += 8 + 8 * (end - at);
		at = end;
	}
	return used;
}

void model_unpack(const uint8_t *packed, size_t length, const uint8_t *base, size_t size, uint8_t *block)
{
	memcpy(block, base, size);
	for (size_t at = 0; at < length;) {
		uint64_t run = word_at(packed, at / 8);
		size_t words = (uint32_t)run;

		memcpy(block + 8 * (run >> 32), packed + at + 8, 8 * words);
		at += 8 + 8 * words;
	}
}
