/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_MEMO_H
#define MODEL_MEMO_H

/**
 * What an event did to one part of the system: remembered, so that the core runs once per (part, event) and not once
 * per state. The cores are values, so the same part and the same event always have the same effect.
 */

#include "model/arena.h"
#include "model/hash.h"
#include "model/index.h"

#include <glib.h>

struct model_event {
	uint8_t kind;
	uint8_t channel;
	uint16_t choice;
	uint32_t argument;
};

enum model_output_kind {
	MODEL_OUTPUT_PDU, /* `argument` is put on `channel` */
	MODEL_OUTPUT_CLOSE, /* the client closes `channel` */
};

struct model_output {
	uint8_t kind;
	uint8_t channel;
	uint16_t spare;
	uint32_t argument;
};

struct model_effect {
	uint32_t next; /* the part afterwards */
	uint32_t broken; /* number of what was broken among the model's texts; 0 = nothing */
	uint16_t outputs;
	uint16_t answers; /* server: headers in its replies; 0 = a choice about the answer changes nothing */
	uint16_t asked; /* server: credits asked by what it answers */
	bool is_compound; /* server: the answer has several members */
	bool waits; /* server: storage has to be read or written first */
	bool failed; /* client: an operation ended with an error */
	uint8_t synced; /* client: bit per thread whose FSYNC returned, and nothing has failed so far */
	struct model_output output[];
};

struct model_memo_record {
	uint64_t event;
	uint32_t part;
	uint32_t spare;
	struct model_effect effect;
};

struct model_memo {
	struct model_index index;
	struct model_arena arena; /* struct model_memo_record */
	GMutex lock; /* of those who add */
};

struct model_memo *model_memo_new(void);
void model_memo_free(struct model_memo *memo);
/** Remember a copy of the effect; of two threads the first one's stays. Returns what stays. */
const struct model_effect *model_memo_add(struct model_memo *memo, uint32_t part, struct model_event event,
					  const struct model_effect *effect);
/** Call for each, those remembered first first; false from `each` ends it. */
typedef bool (*model_memo_fn)(void *context, const struct model_memo_record *record);
bool model_memo_each(const struct model_memo *memo, model_memo_fn each, void *context);
/** Remember one that model_memo_each told. */
void model_memo_restore(struct model_memo *memo, const struct model_memo_record *record);
uint64_t model_memo_count(const struct model_memo *memo);
uint64_t model_memo_bytes(const struct model_memo *memo);

struct model_memo_key {
	uint64_t event;
	uint32_t part;
};

static inline struct model_memo_key model_memo_key(uint32_t part, struct model_event event)
{
	return (struct model_memo_key){
		.event = (uint64_t)event.argument << 32 | (uint64_t)event.choice << 16 | (uint64_t)event.channel << 8 |
			 event.kind,
		.part = part,
	};
}

static inline uint32_t model_memo_hash(struct model_memo_key key)
{
	return (uint32_t)(model_hash_fold(key.event ^ UINT64_C(0x452821e638d01377),
					  key.part * UINT64_C(0x9e3779b97f4a7c15) + 1) >>
			  32);
}

static inline bool model_memo_is(const void *memo, uint32_t number, const void *key)
{
	const struct model_memo_record *record = model_arena_at(&((const struct model_memo *)memo)->arena, number);
	const struct model_memo_key *wanted = key;

	return record->event == wanted->event && record->part == wanted->part;
}

/** NULL: not known yet. */
static inline const struct model_effect *model_memo_find(const struct model_memo *memo, uint32_t part,
							 struct model_event event)
{
	struct model_memo_key key = model_memo_key(part, event);
	uint32_t number = model_index_find(&memo->index, model_memo_hash(key), model_memo_is, memo, &key);

	if (!number)
		return NULL;
	return &((const struct model_memo_record *)model_arena_at(&memo->arena, number))->effect;
}

#endif
