/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_VISITED_H
#define MODEL_VISITED_H

/**
 * The set of states seen: their 128-bit hashes, and for each the beginning of its predecessor's hash, so that the way to
 * it can be found again. At most 24 bytes per state once there are some hundred thousand. Several threads may add at
 * once.
 *
 * The table is kept in the order of the hashes (open addressing by their beginning, neighbours sorted), so that it grows
 * in place by a little at a time and an entry can be found by the first 32 bits of its hash.
 */

#include "model/hash.h"

struct model_visited;

struct model_visited *model_visited_new(void);
void model_visited_free(struct model_visited *visited);

/** The beginning of a hash. */
static inline uint32_t model_visited_prefix(struct model_hash hash)
{
	return (uint32_t)(hash.high >> 32);
}

/** About so many will be added, to a set that is empty: in the order of their hashes, too. */
void model_visited_expect(struct model_visited *visited, uint64_t count);
/** The hash will be added soon. */
void model_visited_prefetch(const struct model_visited *visited, struct model_hash hash);
/** True when the state was not there yet. `parent`: model_visited_prefix of its predecessor. */
bool model_visited_add(struct model_visited *visited, struct model_hash hash, uint32_t parent);
/** False: it is not there. */
bool model_visited_find(const struct model_visited *visited, struct model_hash hash, uint32_t *parent);
/** The entries that begin with `prefix`, at most `max` of them; returns how many. */
uint32_t model_visited_starting(const struct model_visited *visited, uint32_t prefix, struct model_hash *hashes,
				uint32_t max);

/** Places of the table; nothing may be added from then on. */
uint64_t model_visited_places(const struct model_visited *visited);
/** The place of an entry that is there. */
uint64_t model_visited_place(const struct model_visited *visited, struct model_hash hash);
/** The entry at a place; false: it is empty. */
bool model_visited_at(const struct model_visited *visited, uint64_t place, struct model_hash *hash, uint32_t *parent);

uint64_t model_visited_count(const struct model_visited *visited);
uint64_t model_visited_bytes(const struct model_visited *visited);

#endif
