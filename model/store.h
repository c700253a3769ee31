/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_STORE_H
#define MODEL_STORE_H

/**
 * Things that occur in many states and are kept once: blocks of the cores, PDUs, what is in flight on a connection.
 *
 * A thing is known by the hash of its canonical form and gets a number; the bytes kept with it are one representative.
 * Nothing is ever removed. Several threads may put and get at once; only what is new takes a lock. Which number a thing
 * gets depends on who comes first, so numbers mean something only within one store.
 */

#include "model/arena.h"
#include "model/hash.h"
#include "model/index.h"

#include <glib.h>

#define MODEL_STORE_LENGTH_MAX (1u << 20) /* bytes */

struct model_store_record {
	struct model_hash hash;
	uint32_t length;
	uint32_t spare;
	uint64_t bytes[];
};

struct model_store {
	struct model_index index;
	struct model_arena arena;
	GMutex lock; /* of those who add */
};

struct model_store *model_store_new(void);
void model_store_free(struct model_store *store);

/** The thing's number; 0: it is not there yet. */
uint32_t model_store_find(const struct model_store *store, struct model_hash hash);
/** The same, never 0; `bytes`, less than MODEL_STORE_LENGTH_MAX, are copied when it is new. */
uint32_t model_store_put(struct model_store *store, struct model_hash hash, const void *bytes, uint32_t length);

static inline const struct model_store_record *model_store_record(const struct model_store *store, uint32_t number)
{
	return model_arena_at(&store->arena, number);
}

/** Its bytes, aligned for uint64_t; `length` may be NULL. They stay where they are. */
static inline const void *model_store_get(const struct model_store *store, uint32_t number, uint32_t *length)
{
	const struct model_store_record *record = model_store_record(store, number);

	if (length)
		*length = record->length;
	return record->bytes;
}

uint64_t model_store_count(const struct model_store *store);
uint64_t model_store_bytes(const struct model_store *store); /* memory in use */

/** Call for each thing, those put first first; false from `each` ends it. Putting the same in the same order into an
 *  empty store gives each the same number. */
typedef bool (*model_store_fn)(void *context, uint32_t number, struct model_hash hash, const void *bytes,
			       uint32_t length);
bool model_store_each(const struct model_store *store, model_store_fn each, void *context);

#endif
