/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_WIRES_H
#define MODEL_WIRES_H

/**
 * What is under way on one connection in one direction: queues of PDUs, kept once each. A queue is a shorter one and the
 * PDU behind it, and knows what stays of it when its first PDU has arrived; so nothing is copied, and nothing is counted
 * again. Number 0 is the empty queue. Several threads may push at once.
 */

#include "model/arena.h"
#include "model/hash.h"
#include "model/index.h"
#include "protocol/wire/smb2.h"

#include <glib.h>

struct model_wire {
	uint32_t before; /* the queue without its last PDU */
	uint32_t last; /* number of the PDU */
	uint32_t first;
	uint32_t rest; /* the queue without its first PDU */
	uint32_t count; /* PDUs */
	uint32_t credits; /* sum */
	uint64_t message_id; /* the first of its ids; SMB2_MESSAGE_ID_UNSOLICITED: it has none */
	struct model_hash form; /* what tells it from others, with ids relative to the first one */
};

/** Of a PDU, as pdu.c keeps it. */
struct model_wire_pdu {
	uint32_t number;
	uint32_t credits;
	uint64_t message_id;
	struct model_hash form;
};

struct model_wires {
	struct model_index index; /* by before, last */
	struct model_arena arena;
	GMutex lock; /* of those who add */
};

struct model_wires *model_wires_new(void);
void model_wires_free(struct model_wires *wires);
/** The queue with one more PDU behind it. */
uint32_t model_wires_push(struct model_wires *wires, uint32_t wire, const struct model_wire_pdu *pdu);
uint64_t model_wires_count(const struct model_wires *wires);
uint64_t model_wires_bytes(const struct model_wires *wires);

/** All of one that has been pushed before; an empty one for number 0. */
static inline const struct model_wire *model_wires_get(const struct model_wires *wires, uint32_t number)
{
	static const struct model_wire empty = { .message_id = SMB2_MESSAGE_ID_UNSOLICITED };

	return number ? model_arena_at(&wires->arena, number) : &empty;
}

/** Call for each queue, those pushed first first; false from `each` ends it. */
typedef bool (*model_wires_fn)(void *context, uint32_t number, const struct model_wire *wire);
bool model_wires_each(const struct model_wires *wires, model_wires_fn each, void *context);
/** Put one that model_wires_each told, in the same order; returns its number, which is the same in an empty store. */
uint32_t model_wires_restore(struct model_wires *wires, const struct model_wire *wire);

#endif
