/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_STORE_H
#define MODEL_STORE_H

/**
 * Things that occur in many states and are kept once: blocks of the cores, PDUs, what is in flight on a connection.
 *
 * A thing is known by the hash of its canonical form and gets a small number; the bytes kept with it are one
 * representative. Nothing is ever removed. Several threads may put and get at once. Which number a thing gets depends
 * on who comes first, so numbers mean something only within one store.
 */

#include "model/hash.h"

struct model_store;

struct model_store *model_store_new(void);
void model_store_free(struct model_store *store);

/** The thing's number, from 1; `bytes` are copied when it is new. */
uint32_t model_store_put(struct model_store *store, struct model_hash hash, const void *bytes, uint32_t length,
			 bool *is_new);
/** Its bytes, aligned for uint64_t; `length` may be NULL. They stay where they are. */
const void *model_store_get(const struct model_store *store, uint32_t number, uint32_t *length);
struct model_hash model_store_hash(const struct model_store *store, uint32_t number);

uint64_t model_store_count(const struct model_store *store);
uint64_t model_store_bytes(const struct model_store *store); /* memory in use */

/** Call for each thing, those put first first; false from `each` ends it. */
typedef bool (*model_store_fn)(void *context, uint32_t number, struct model_hash hash, const void *bytes,
			       uint32_t length);
bool model_store_each(const struct model_store *store, model_store_fn each, void *context);
/** Put a thing under the number that it had when model_store_each told it; in the same order, into an empty store. */
void model_store_restore(struct model_store *store, uint32_t number, struct model_hash hash, const void *bytes,
			 uint32_t length);

#endif
