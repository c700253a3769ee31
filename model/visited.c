/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/visited.h"

#include "model/pages.h"

#include <glib.h>
#include <math.h>

#define SHARD_BITS 6
#define SHARDS (1u << SHARD_BITS)
#define SLOTS_FIRST 64u
#define SLOTS_BEHIND 48u /* for what is pushed past the last place */
#define LOAD_MAX 0.92
#define GROWTH 1.18 /* no two shards grow at the same time, so the table as a whole is always 85 % full */

/* 20 bytes; a hash of all zero means empty. */
struct slot {
	uint32_t high[2];
	uint32_t low[2];
	uint32_t parent;
};

struct shard {
	GMutex lock;
	struct slot *slots;
	uint32_t places;
	uint32_t count;
	uint32_t limit; /* grow at this count */
};

struct model_visited {
	struct shard shards[SHARDS];
};

static size_t slots_bytes(uint32_t places)
{
	return (places + (size_t)SLOTS_BEHIND) * sizeof(struct slot);
}

static void set_places(struct shard *shard, uint32_t places)
{
	size_t bytes = slots_bytes(places);

	shard->slots = shard->slots ? model_pages_grow(shard->slots, slots_bytes(shard->places), bytes)
				    : model_pages_new(bytes);
	shard->places = places;
	shard->limit = (uint32_t)(places * LOAD_MAX);
}

struct model_visited *model_visited_new(void)
{
	struct model_visited *visited = g_new0(struct model_visited, 1);
	double places = SLOTS_FIRST;

	for (guint i = 0; i < SHARDS; i++) {
		g_mutex_init(&visited->shards[i].lock);
		set_places(&visited->shards[i], (uint32_t)places);
		places *= pow(GROWTH, 1.0 / SHARDS);
	}
	return visited;
}

void model_visited_expect(struct model_visited *visited, uint64_t count)
{
	for (guint i = 0; i < SHARDS; i++) {
		struct shard *shard = &visited->shards[i];
		double places = (double)count / SHARDS / LOAD_MAX * pow(GROWTH, (double)i / SHARDS);

		g_assert(!shard->count);
		if (places > shard->places)
			set_places(shard, (uint32_t)places);
	}
}

void model_visited_free(struct model_visited *visited)
{
	if (!visited)
		return;
	for (guint i = 0; i < SHARDS; i++) {
		model_pages_free(visited->shards[i].slots, slots_bytes(visited->shards[i].places));
		g_mutex_clear(&visited->shards[i].lock);
	}
	g_free(visited);
}

static uint64_t high_of(const struct slot *slot)
{
	uint64_t high;

	memcpy(&high, slot->high, sizeof(high));
	return high;
}

static uint64_t low_of(const struct slot *slot)
{
	uint64_t low;

	memcpy(&low, slot->low, sizeof(low));
	return low;
}

static void set_slot(struct slot *slot, struct model_hash hash, uint32_t parent)
{
	memcpy(slot->high, &hash.high, sizeof(hash.high));
	memcpy(slot->low, &hash.low, sizeof(hash.low));
	slot->parent = parent;
}

static bool is_empty(const struct slot *slot)
{
	return !high_of(slot) && !low_of(slot);
}

static bool comes_before(const struct slot *slot, struct model_hash hash)
{
	uint64_t high = high_of(slot);

	return high < hash.high || (high == hash.high && low_of(slot) < hash.low);
}

/* All zero is taken. */
static struct model_hash not_empty(struct model_hash hash)
{
	if (!hash.high && !hash.low)
		hash.low = 1;
	return hash;
}

static uint32_t place_of(const struct shard *shard, uint64_t high)
{
	return (uint32_t)((model_wide)(high << SHARD_BITS) * shard->places >> 64);
}

static struct shard *shard_of(const struct model_visited *visited, uint64_t high)
{
	return (struct shard *)&visited->shards[high >> (64 - SHARD_BITS)];
}

/* The entries keep their order: all to the far end first, closely packed, then forwards to their places. */
static void grow(struct shard *shard)
{
	uint32_t old_end = shard->places + SLOTS_BEHIND;
	uint32_t end, packed, next = 0;
	struct slot *slots;

	set_places(shard, (uint32_t)(shard->places * GROWTH) + 1);
	slots = shard->slots;
	packed = end = shard->places + SLOTS_BEHIND;
	for (uint32_t from = old_end; from--;) {
		if (!is_empty(&slots[from]))
			slots[--packed] = slots[from];
	}
	memset(slots, 0, packed * sizeof(*slots));
	for (uint32_t from = packed; from < end; from++) {
		uint32_t place = MAX(place_of(shard, high_of(&slots[from])), next);

		g_assert(place <= from);
		next = place + 1;
		if (place == from)
			continue;
		slots[place] = slots[from];
		slots[from] = (struct slot){ 0 };
	}
	g_assert(next < end);
}

/* The slot of `hash`, or the one where it belongs. */
static uint32_t look(const struct shard *shard, struct model_hash hash)
{
	uint32_t at = place_of(shard, hash.high);

	while (!is_empty(&shard->slots[at]) && comes_before(&shard->slots[at], hash))
		at++;
	return at;
}

static bool is_at(const struct shard *shard, uint32_t at, struct model_hash hash)
{
	return high_of(&shard->slots[at]) == hash.high && low_of(&shard->slots[at]) == hash.low;
}

static void insert(struct shard *shard, uint32_t at, struct model_hash hash, uint32_t parent)
{
	uint32_t end = at;

	while (!is_empty(&shard->slots[end]))
		end++;
	memmove(&shard->slots[at + 1], &shard->slots[at], (end - at) * sizeof(struct slot));
	set_slot(&shard->slots[at], hash, parent);
	shard->count++;
	/* the last slot stays empty, it ends every search */
	if (shard->count >= shard->limit || end + 2 >= shard->places + SLOTS_BEHIND)
		grow(shard);
}

void model_visited_prefetch(const struct model_visited *visited, struct model_hash hash)
{
	const struct shard *shard = shard_of(visited, hash.high);
	const struct slot *slot = &shard->slots[place_of(shard, hash.high)];

	/* another thread may be moving the table: an address that is no longer right does no harm */
	__builtin_prefetch(slot);
	__builtin_prefetch(slot + 3);
}

bool model_visited_add(struct model_visited *visited, struct model_hash hash, uint32_t parent)
{
	struct shard *shard = shard_of(visited, hash.high);
	bool is_new;
	uint32_t at;

	hash = not_empty(hash);
	g_mutex_lock(&shard->lock);
	at = look(shard, hash);
	is_new = !is_at(shard, at, hash);
	if (is_new)
		insert(shard, at, hash, parent);
	g_mutex_unlock(&shard->lock);
	return is_new;
}

bool model_visited_find(const struct model_visited *visited, struct model_hash hash, uint32_t *parent)
{
	const struct shard *shard = shard_of(visited, hash.high);
	uint32_t at;

	hash = not_empty(hash);
	at = look(shard, hash);
	if (!is_at(shard, at, hash))
		return false;
	*parent = shard->slots[at].parent;
	return true;
}

uint32_t model_visited_starting(const struct model_visited *visited, uint32_t prefix, struct model_hash *hashes,
				uint32_t max)
{
	struct model_hash first = { .high = (uint64_t)prefix << 32 };
	const struct shard *shard = shard_of(visited, first.high);
	uint32_t count = 0;

	for (uint32_t at = look(shard, first); count < max && !is_empty(&shard->slots[at]); at++) {
		if (high_of(&shard->slots[at]) >> 32 != prefix)
			break;
		hashes[count++] = (struct model_hash){ high_of(&shard->slots[at]), low_of(&shard->slots[at]) };
	}
	return count;
}

uint64_t model_visited_count(const struct model_visited *visited)
{
	uint64_t count = 0;

	for (guint i = 0; i < SHARDS; i++)
		count += visited->shards[i].count;
	return count;
}

uint64_t model_visited_bytes(const struct model_visited *visited)
{
	uint64_t bytes = sizeof(*visited);

	for (guint i = 0; i < SHARDS; i++)
		bytes += slots_bytes(visited->shards[i].places);
	return bytes;
}

/* Places of all shards, one after another, in blocks as large as the largest. */
static uint64_t places_per_shard(const struct model_visited *visited)
{
	uint64_t places = 0;

	for (guint i = 0; i < SHARDS; i++)
		places = MAX(places, visited->shards[i].places + (uint64_t)SLOTS_BEHIND);
	return places;
}

uint64_t model_visited_places(const struct model_visited *visited)
{
	return SHARDS * places_per_shard(visited);
}

uint64_t model_visited_place(const struct model_visited *visited, struct model_hash hash)
{
	const struct shard *shard = shard_of(visited, hash.high);
	uint32_t at;

	hash = not_empty(hash);
	at = look(shard, hash);
	g_assert(is_at(shard, at, hash));
	return (uint64_t)(shard - visited->shards) * places_per_shard(visited) + at;
}

bool model_visited_at(const struct model_visited *visited, uint64_t place, struct model_hash *hash, uint32_t *parent)
{
	const struct shard *shard = &visited->shards[place / places_per_shard(visited)];
	uint64_t at = place % places_per_shard(visited);

	if (at >= shard->places + (uint64_t)SLOTS_BEHIND || is_empty(&shard->slots[at]))
		return false;
	*hash = (struct model_hash){ high_of(&shard->slots[at]), low_of(&shard->slots[at]) };
	*parent = shard->slots[at].parent;
	return true;
}
