/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/visited.h"

#include <criterion/criterion.h>
#include <glib.h>

static struct model_hash hash_of(uint64_t number)
{
	return model_hash_end(model_hash_word(model_hash_start(7), number));
}

Test(visited, what_was_added_is_there_and_nothing_else)
{
	struct model_visited *visited = model_visited_new();
	uint32_t parent;

	for (uint64_t i = 0; i < 300000; i++)
		cr_assert(model_visited_add(visited, hash_of(i), (uint32_t)i));
	for (uint64_t i = 0; i < 300000; i++) {
		cr_assert_not(model_visited_add(visited, hash_of(i), 1));
		cr_assert(model_visited_find(visited, hash_of(i), &parent));
		cr_assert_eq(parent, (uint32_t)i);
	}
	for (uint64_t i = 300000; i < 400000; i++)
		cr_assert_not(model_visited_find(visited, hash_of(i), &parent));
	cr_assert_eq(model_visited_count(visited), 300000u);
	model_visited_free(visited);
}

Test(visited, a_state_takes_at_most_24_bytes)
{
	struct model_visited *visited = model_visited_new();

	for (uint64_t i = 0; i < 900000; i++) {
		model_visited_add(visited, hash_of(i), 0);
		if (i >= 600000 && i % 20000 == 0)
			cr_assert_leq(model_visited_bytes(visited), 24 * (i + 1), "at %lu states", (unsigned long)i);
	}
	model_visited_free(visited);
}

Test(visited, entries_are_found_by_the_beginning_of_their_hash)
{
	struct model_visited *visited = model_visited_new();
	struct model_hash found[4];

	for (uint64_t i = 0; i < 1000; i++)
		model_visited_add(visited, hash_of(i), 0);
	for (uint64_t i = 0; i < 1000; i++) {
		uint32_t count = model_visited_starting(visited, model_visited_prefix(hash_of(i)), found, 4);

		cr_assert_geq(count, 1u);
		cr_assert(model_hash_equal(found[0], hash_of(i)) || count > 1);
	}
	model_visited_free(visited);
}

/* Hashes that all want the same place: what an unlucky table looks like. */
Test(visited, neighbours_push_each_other_on)
{
	struct model_visited *visited = model_visited_new();
	uint32_t parent;

	for (uint64_t i = 1; i <= 100; i++)
		cr_assert(model_visited_add(visited, (struct model_hash){ UINT64_C(0xabcdef) << 40, 101 - i }, 5));
	cr_assert_not(model_visited_add(visited, (struct model_hash){ UINT64_C(0xabcdef) << 40, 50 }, 5));
	cr_assert(model_visited_find(visited, (struct model_hash){ UINT64_C(0xabcdef) << 40, 1 }, &parent));
	cr_assert_not(model_visited_find(visited, (struct model_hash){ UINT64_C(0xabcdef) << 40, 101 }, &parent));
	cr_assert(model_visited_add(visited, (struct model_hash){ 0, 0 }, 5), "a hash of zeros is one like any other");
	cr_assert_not(model_visited_add(visited, (struct model_hash){ 0, 0 }, 5));
	model_visited_free(visited);
}

/* As a file has them: in their order, which is the worst for a table that grows as they come. */
Test(visited, a_set_that_expects_many_takes_them_in_order)
{
	struct model_visited *visited = model_visited_new(), *again = model_visited_new();
	struct model_hash hash;
	uint32_t parent, found;

	for (uint32_t i = 0; i < 200000; i++)
		model_visited_add(visited, model_hash_end(model_hash_word(model_hash_start(3), i)), i);
	model_visited_expect(again, model_visited_count(visited));
	for (uint64_t place = 0; place < model_visited_places(visited); place++) {
		if (model_visited_at(visited, place, &hash, &parent))
			cr_assert(model_visited_add(again, hash, parent));
	}
	cr_assert_eq(model_visited_count(again), 200000u);
	cr_assert_leq(model_visited_bytes(again), 24u * 200000u + (1u << 17));
	for (uint32_t i = 0; i < 200000; i++) {
		hash = model_hash_end(model_hash_word(model_hash_start(3), i));
		cr_assert(model_visited_find(again, hash, &found));
		cr_assert_eq(found, i);
	}
	model_visited_free(visited);
	model_visited_free(again);
}
