/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/wires.h"

struct key {
	uint32_t before;
	uint32_t last;
};

struct model_wires *model_wires_new(void)
{
	struct model_wires *wires = g_new0(struct model_wires, 1);

	model_index_init(&wires->index);
	model_arena_init(&wires->arena);
	g_mutex_init(&wires->lock);
	return wires;
}

void model_wires_free(struct model_wires *wires)
{
	if (!wires)
		return;
	model_index_clear(&wires->index);
	model_arena_clear(&wires->arena);
	g_mutex_clear(&wires->lock);
	g_free(wires);
}

static uint32_t hash_of(struct key key)
{
	return (uint32_t)(model_hash_fold(((uint64_t)key.before << 32 | key.last) ^ UINT64_C(0x3f84d5b5b5470917),
					  UINT64_C(0x9216d5d98979fb1b)) >>
			  32);
}

static bool is_wire(const void *wires, uint32_t number, const void *key)
{
	const struct model_wire *wire = model_wires_get(wires, number);
	const struct key *wanted = key;

	return wire->before == wanted->before && wire->last == wanted->last;
}

static uint32_t find(const struct model_wires *wires, struct key key)
{
	return model_index_find(&wires->index, hash_of(key), is_wire, wires, &key);
}

/* Ids are taken relative to the first one of the queue. */
static void put_form(struct model_wire *wire, const struct model_wire *before, const struct model_wire_pdu *pdu)
{
	struct model_hash form = before->count ? before->form : model_hash_start(2);
	uint64_t id = pdu->message_id;

	wire->message_id = before->message_id == SMB2_MESSAGE_ID_UNSOLICITED ? id : before->message_id;
	if (id != SMB2_MESSAGE_ID_UNSOLICITED)
		id -= wire->message_id;
	form = model_hash_word(form, id);
	form = model_hash_word(form, pdu->form.high);
	wire->form = model_hash_word(form, pdu->form.low);
}

static uint32_t find_or_add(struct model_wires *wires, uint32_t key_before, const struct model_wire_pdu *pdu)
{
	struct key key = { key_before, pdu->number };
	const struct model_wire *before = model_wires_get(wires, key.before);
	uint32_t number = find(wires, key);
	struct model_wire *wire;
	uint32_t rest;

	if (number)
		return number;
	rest = before->count ? find_or_add(wires, before->rest, pdu) : 0;
	wire = model_arena_take(&wires->arena, sizeof(*wire), &number);
	*wire = (struct model_wire){
		.before = key.before,
		.last = key.last,
		.first = before->count ? before->first : key.last,
		.rest = rest,
		.count = before->count + 1,
		.credits = before->credits + pdu->credits,
	};
	put_form(wire, before, pdu);
	model_index_add(&wires->index, hash_of(key), number);
	return number;
}

uint32_t model_wires_push(struct model_wires *wires, uint32_t wire, const struct model_wire_pdu *pdu)
{
	uint32_t number = find(wires, (struct key){ wire, pdu->number });

	if (number)
		return number;
	g_mutex_lock(&wires->lock);
	number = find_or_add(wires, wire, pdu);
	g_mutex_unlock(&wires->lock);
	return number;
}

uint64_t model_wires_count(const struct model_wires *wires)
{
	return wires->index.count;
}

uint64_t model_wires_bytes(const struct model_wires *wires)
{
	return sizeof(*wires) + model_index_bytes(&wires->index) + model_arena_bytes(&wires->arena);
}

bool model_wires_each(const struct model_wires *wires, model_wires_fn each, void *context)
{
	for (uint32_t number = 0; (number = model_arena_next(&wires->arena, number, sizeof(struct model_wire)));) {
		if (!each(context, number, model_wires_get(wires, number)))
			return false;
	}
	return true;
}

uint32_t model_wires_restore(struct model_wires *wires, const struct model_wire *wire)
{
	struct key key = { wire->before, wire->last };
	uint32_t number = find(wires, key);

	if (number)
		return number;
	memcpy(model_arena_take(&wires->arena, sizeof(*wire), &number), wire, sizeof(*wire));
	model_index_add(&wires->index, hash_of(key), number);
	return number;
}
