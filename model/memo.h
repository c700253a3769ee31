/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_MEMO_H
#define MODEL_MEMO_H

/**
 * What an event did to one part of the system: remembered, so that the core runs once per (part, event) and not once
 * per state. The cores are values, so the same part and the same event always have the same effect.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	struct model_output output[];
};

struct model_memo;

struct model_memo *model_memo_new(void);
void model_memo_free(struct model_memo *memo);
/** NULL: not known yet. */
const struct model_effect *model_memo_find(struct model_memo *memo, uint32_t part, struct model_event event);
/** Remember a copy of the effect; of two threads the first one's stays. Returns what stays. */
const struct model_effect *model_memo_add(struct model_memo *memo, uint32_t part, struct model_event event,
					  const struct model_effect *effect);
uint64_t model_memo_count(const struct model_memo *memo);
uint64_t model_memo_bytes(const struct model_memo *memo);

#endif
