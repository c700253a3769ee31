/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* PDUs and the queues they travel in, kept once each. */

#include "model/internal.h"

#include "protocol/wire/header.h"

#include <string.h>

#define WIRE_PDUS_MAX 1024

static void sum_up(struct model_pdu *kept, const struct smb_pdu *pdu, bool is_request)
{
	struct smb2_header header;
	uint32_t position = 0, next;

	do {
		if (smb2_header_decode(pdu->bytes + position, pdu->length - position, &header, &next) != SMB_WIRE_OK)
			return;
		kept->headers++;
		if (!is_request)
			kept->credits += header.credits;
		else if (header.command != SMB2_CANCEL)
			kept->credits += header.credit_charge ? header.credit_charge : 1;
		position += next;
	} while (next && position < pdu->length);
	kept->is_compound = kept->headers > 1;
}

uint32_t model_pdu_put(struct model *model, const struct smb_pdu *pdu, bool is_request)
{
	g_autofree struct model_pdu *kept = g_malloc0(sizeof(*kept) + pdu->length);
	struct model_hash hash = model_hash_start(is_request);

	kept->payload = pdu->payload;
	kept->length = pdu->length;
	memcpy(kept->bytes, pdu->bytes, pdu->length);
	sum_up(kept, pdu, is_request);
	hash = model_hash_bytes(hash, pdu->bytes, pdu->length);
	hash = model_hash_word(hash, pdu->payload.source);
	hash = model_hash_word(hash, pdu->payload.offset);
	hash = model_hash_word(hash, pdu->payload.length);
	return model_store_put(model->pdus, model_hash_end(hash), kept, (uint32_t)sizeof(*kept) + pdu->length, NULL);
}

const struct model_pdu *model_pdu_get(const struct model *model, uint32_t number)
{
	return model_store_get(model->pdus, number, NULL);
}

struct smb_pdu model_pdu_as_smb(const struct model_pdu *pdu)
{
	return (struct smb_pdu){ .bytes = pdu->bytes, .length = pdu->length, .payload = pdu->payload };
}

const struct model_wire *model_wire_get(const struct model *model, uint32_t number)
{
	static const struct model_wire empty;

	return number ? model_store_get(model->wires, number, NULL) : &empty;
}

static uint32_t wire_put(struct model *model, const struct model_wire *wire)
{
	uint32_t length = (uint32_t)(sizeof(*wire) + wire->count * sizeof(wire->pdu[0]));
	struct model_hash hash;

	if (!wire->count)
		return 0;
	hash = model_hash_end(model_hash_bytes(model_hash_start(2), wire->pdu, wire->count * sizeof(wire->pdu[0])));
	return model_store_put(model->wires, hash, wire, length, NULL);
}

static struct model_recent_wire *recent_place(struct model_worker *worker, uint32_t wire, uint32_t pdu)
{
	uint64_t key = model_hash_fold(((uint64_t)wire << 32 | pdu) ^ UINT64_C(0x3f84d5b5b5470917),
				       UINT64_C(0x9216d5d98979fb1b));

	return &worker->recent->wire[key % MODEL_RECENT];
}

uint32_t model_wire_push(struct model_worker *worker, uint32_t wire, uint32_t pdu)
{
	struct model *model = worker->model;
	struct model_recent_wire *recent = recent_place(worker, wire, pdu);
	const struct model_wire *old;
	_Alignas(struct model_wire) uint8_t room[sizeof(struct model_wire) + WIRE_PDUS_MAX * sizeof(uint32_t)];
	struct model_wire *longer = (struct model_wire *)(void *)room;

	if (recent->result && recent->wire == wire && recent->pdu == pdu)
		return recent->result;
	old = model_wire_get(model, wire);
	g_assert(old->count < WIRE_PDUS_MAX);
	memcpy(longer, old, sizeof(*old) + old->count * sizeof(old->pdu[0]));
	longer->pdu[longer->count++] = pdu;
	longer->credits += model_pdu_get(model, pdu)->credits;
	*recent = (struct model_recent_wire){ .wire = wire, .pdu = pdu, .result = wire_put(model, longer) };
	return recent->result;
}

uint32_t model_wire_pop(struct model_worker *worker, uint32_t wire, uint32_t *pdu)
{
	struct model *model = worker->model;
	struct model_recent_wire *recent = recent_place(worker, wire, 0);
	const struct model_wire *old;
	_Alignas(struct model_wire) uint8_t room[sizeof(struct model_wire) + WIRE_PDUS_MAX * sizeof(uint32_t)];
	struct model_wire *rest = (struct model_wire *)(void *)room;

	if (recent->popped && recent->wire == wire && !recent->pdu) {
		*pdu = recent->popped;
		return recent->result;
	}
	old = model_wire_get(model, wire);
	g_assert(old->count);
	*pdu = old->pdu[0];
	rest->count = old->count - 1;
	rest->credits = old->credits - model_pdu_get(model, *pdu)->credits;
	memcpy(rest->pdu, old->pdu + 1, rest->count * sizeof(rest->pdu[0]));
	*recent = (struct model_recent_wire){ .wire = wire, .popped = *pdu, .result = wire_put(model, rest) };
	return recent->result;
}
