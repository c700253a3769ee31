/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Things that are kept once: stores, queues, effects, and the index and arena beneath them. */

#include "model/memo.h"
#include "model/store.h"
#include "model/wires.h"

#include <criterion/criterion.h>

#define THINGS 100000u

static struct model_hash hash_of(uint64_t number)
{
	return model_hash_end(model_hash_word(model_hash_start(9), number));
}

/* So long that many do not fit in one chunk of the arena. */
static uint32_t length_of(uint64_t number)
{
	return (uint32_t)(number % 97) * 3;
}

static uint32_t put(struct model_store *store, uint64_t number)
{
	uint8_t bytes[300];

	memset(bytes, (int)(number & 0xff), sizeof(bytes));
	return model_store_put(store, hash_of(number), bytes, length_of(number));
}

Test(store, a_thing_keeps_its_number_and_its_bytes)
{
	struct model_store *store = model_store_new();
	g_autofree uint32_t *numbers = g_new(uint32_t, THINGS);

	for (uint64_t i = 0; i < THINGS; i++) {
		cr_assert_eq(model_store_find(store, hash_of(i)), 0u);
		numbers[i] = put(store, i);
		cr_assert_neq(numbers[i], 0u);
	}
	for (uint64_t i = 0; i < THINGS; i++) {
		uint32_t length;
		const uint8_t *bytes = model_store_get(store, numbers[i], &length);

		cr_assert_eq(put(store, i), numbers[i]);
		cr_assert_eq(model_store_find(store, hash_of(i)), numbers[i]);
		cr_assert_eq(length, length_of(i));
		cr_assert_eq((uintptr_t)bytes % sizeof(uint64_t), 0u);
		cr_assert(!length || (bytes[0] == (i & 0xff) && bytes[length - 1] == (i & 0xff)));
	}
	cr_assert_eq(model_store_count(store), THINGS);
	model_store_free(store);
}

/* -------------------------------------------------------------------------------------------------------- many at once */

struct crowd {
	struct model_store *store;
	struct model_wires *wires;
	uint32_t *numbers; /* as the thread saw them */
	uint64_t first; /* where the thread begins */
};

static uint32_t push(struct model_wires *wires, uint32_t wire, uint32_t pdu, uint32_t credits)
{
	return model_wires_push(wires, wire, &(struct model_wire_pdu){ .number = pdu, .credits = credits });
}

/* Every thread puts the same things, each in another order. */
static void *put_all(void *argument)
{
	struct crowd *crowd = argument;

	for (uint64_t i = 0; i < THINGS; i++) {
		uint64_t thing = (crowd->first + i) % THINGS;

		crowd->numbers[thing] = put(crowd->store, thing);
		push(crowd->wires, push(crowd->wires, 0, 1 + thing % 50, 2), 1 + (uint32_t)(thing % 100), 3);
	}
	return NULL;
}

Test(store, threads_agree_on_numbers)
{
	struct crowd crowd[3];
	GThread *threads[G_N_ELEMENTS(crowd)];
	struct model_store *store = model_store_new();
	struct model_wires *wires = model_wires_new();

	for (guint t = 0; t < G_N_ELEMENTS(crowd); t++) {
		crowd[t] = (struct crowd){ store, wires, g_new(uint32_t, THINGS), t * (THINGS / 3) };
		threads[t] = g_thread_new("crowd", put_all, &crowd[t]);
	}
	for (guint t = 0; t < G_N_ELEMENTS(crowd); t++)
		g_thread_join(threads[t]);
	cr_assert_eq(model_store_count(store), THINGS);
	/* 50 of one PDU, those with one of 100 behind them that fit, and what stays of these: one of 100 */
	cr_assert_eq(model_wires_count(wires), 100u + 100u);
	for (guint t = 1; t < G_N_ELEMENTS(crowd); t++)
		cr_assert_arr_eq(crowd[t].numbers, crowd[0].numbers, THINGS * sizeof(uint32_t));
	for (guint t = 0; t < G_N_ELEMENTS(crowd); t++)
		g_free(crowd[t].numbers);
	model_store_free(store);
	model_wires_free(wires);
}

/* -------------------------------------------------------------------------------------------------------------- queues */

Test(store, a_queue_gives_its_pdus_in_the_order_they_were_pushed)
{
	struct model_wires *wires = model_wires_new();
	uint32_t wire = 0, short_one;

	for (uint32_t pdu = 1; pdu <= 200; pdu++)
		wire = push(wires, wire, pdu, pdu);
	cr_assert_eq(model_wires_get(wires, wire)->credits, 200u * 201 / 2);
	for (uint32_t pdu = 1; pdu <= 200; pdu++) {
		cr_assert_eq(model_wires_get(wires, wire)->count, 201 - pdu);
		cr_assert_eq(model_wires_get(wires, wire)->first, pdu);
		wire = model_wires_get(wires, wire)->rest;
	}
	cr_assert_eq(wire, 0u);
	cr_assert_eq(model_wires_get(wires, wire)->count, 0u);
	/* what is left of one queue and what another was pushed to are the same */
	short_one = push(wires, push(wires, 0, 7, 1), 8, 1);
	wire = push(wires, push(wires, push(wires, 0, 6, 1), 7, 1), 8, 1);
	cr_assert_eq(model_wires_get(wires, wire)->rest, short_one);
	model_wires_free(wires);
}

/* ------------------------------------------------------------------------------------------------------------- effects */

Test(store, an_effect_is_that_of_its_part_and_event_alone)
{
	struct model_memo *memo = model_memo_new();
	const struct model_event event = { .kind = 1, .channel = 2, .choice = 3, .argument = 4 };
	struct model_event others[] = { event, event, event, event };
	struct model_effect first = { .next = 17, .asked = 5 }, second = { .next = 18 };
	const struct model_effect *kept;

	others[0].kind = others[1].channel = 9;
	others[2].choice = 9;
	others[3].argument = 9;
	cr_assert_null(model_memo_find(memo, 6, event));
	kept = model_memo_add(memo, 6, event, &first);
	cr_assert_eq(kept->next, 17u);
	cr_assert_eq(kept->asked, 5u);
	cr_assert_eq(model_memo_add(memo, 6, event, &second), kept, "the first one stays");
	cr_assert_eq(model_memo_find(memo, 6, event), kept);
	cr_assert_null(model_memo_find(memo, 7, event));
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		cr_assert_null(model_memo_find(memo, 6, others[i]));
	cr_assert_eq(model_memo_count(memo), 1u);
	model_memo_free(memo);
}
