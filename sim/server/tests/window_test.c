/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/server/window.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MAX 64

struct fixture {
	struct smb_server_window window;
	uint64_t seen[128];
};

static void start(struct fixture *f, uint32_t max)
{
	smb_server_window_init(&f->window, f->seen, max);
	f->window.multi_credit = true;
}

static enum smb_server_window_verdict use(struct fixture *f, uint64_t id, uint32_t charge)
{
	enum smb_server_window_verdict verdict = smb_server_window_use(&f->window, f->seen, id, charge);

	cr_assert(smb_server_window_is_valid(&f->window, f->seen));
	return verdict;
}

static uint32_t grant(struct fixture *f, uint32_t charge, uint32_t asked)
{
	uint32_t credits = smb_server_window_grant(&f->window, charge, asked, UINT32_MAX);

	cr_assert(smb_server_window_is_valid(&f->window, f->seen));
	return credits;
}

Test(window, a_new_connection_may_use_id_0_and_nothing_else)
{
	struct fixture f;

	start(&f, MAX);
	cr_assert_eq(use(&f, 1, 1), SMB_SERVER_WINDOW_OUTSIDE);
	cr_assert_eq(use(&f, 0, 2), SMB_SERVER_WINDOW_NO_CREDIT);
	cr_assert_eq(use(&f, 0, 1), SMB_SERVER_WINDOW_OK);
	cr_assert_eq(use(&f, 0, 1), SMB_SERVER_WINDOW_NO_CREDIT);
	cr_assert_eq(grant(&f, 1, 1), 1u);
	cr_assert_eq(use(&f, 0, 1), SMB_SERVER_WINDOW_OUTSIDE);
	cr_assert_eq(use(&f, 1, 1), SMB_SERVER_WINDOW_OK);
}

/* Samba smb2_set_operation_credit, facts B1; the client has used up its only credit before each. */
Test(window, grants_follow_the_table)
{
	static const struct {
		uint32_t charge, asked, extra_max, expect;
	} cases[] = {
		{ 1, 0, UINT32_MAX, 1 }, /* 0 counts as 1: a reply never takes credits away */
		{ 1, 1, UINT32_MAX, 1 },       { 1, 2, UINT32_MAX, 2 },
		{ 1, 64, UINT32_MAX, 64 }, /* exactly the window */
		{ 1, 65, UINT32_MAX, 64 }, /* clipped */
		{ 1, 65535, UINT32_MAX, 64 },  { 1, 65535, 0, 1 }, /* NEGOTIATE, unfinished SESSION_SETUP */
		{ 1, 65535, 10, 11 },	       { 4, 1, UINT32_MAX, 4 }, /* the whole charge comes back */
		{ 4, 9, UINT32_MAX, 12 }, /* charge + asked - 1 */
		{ 64, 65535, UINT32_MAX, 64 }, { 65, 1, UINT32_MAX, 64 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;
		start(&f, MAX);
		cr_assert_eq(use(&f, 0, 1), SMB_SERVER_WINDOW_OK);
		uint32_t credits = smb_server_window_grant(&f.window, cases[i].charge, cases[i].asked,
							   cases[i].extra_max);
		cr_assert_eq(credits, cases[i].expect, "case %zu: %u", i, credits);
		cr_assert_eq(f.window.granted, credits);
	}
}

Test(window, a_hole_blocks_grants_past_low_plus_max)
{
	struct fixture f;

	start(&f, MAX);
	use(&f, 0, 1);
	cr_assert_eq(grant(&f, 1, MAX), (uint32_t)MAX); /* ids 1 to 64 */
	for (uint64_t id = 2; id <= MAX; id++) { /* 1 is left out */
		cr_assert_eq(use(&f, id, 1), SMB_SERVER_WINDOW_OK);
		cr_assert_eq(grant(&f, 1, 100), 0u);
	}
	cr_assert_eq(f.window.granted, 1u);
	cr_assert_eq(use(&f, MAX + 1, 1), SMB_SERVER_WINDOW_OUTSIDE);
	cr_assert_eq(use(&f, 1, 1), SMB_SERVER_WINDOW_OK); /* the hole is filled: everything slides */
	cr_assert_eq(f.window.low, (uint64_t)MAX + 1);
	cr_assert_eq(grant(&f, 1, MAX), (uint32_t)MAX);
}

Test(window, ids_are_used_once)
{
	struct fixture f;

	start(&f, MAX);
	use(&f, 0, 1);
	grant(&f, 1, 20); /* ids 1 to 20 */
	cr_assert_eq(use(&f, 5, 4), SMB_SERVER_WINDOW_OK); /* 5 to 8 */
	static const struct {
		uint64_t id;
		uint32_t charge;
		enum smb_server_window_verdict expect;
	} cases[] = {
		{ 5, 1, SMB_SERVER_WINDOW_REPEATED },	{ 8, 1, SMB_SERVER_WINDOW_REPEATED },
		{ 4, 2, SMB_SERVER_WINDOW_REPEATED },	{ 8, 2, SMB_SERVER_WINDOW_REPEATED },
		{ 1, 8, SMB_SERVER_WINDOW_REPEATED },	{ 0, 1, SMB_SERVER_WINDOW_OUTSIDE },
		{ 20, 2, SMB_SERVER_WINDOW_OUTSIDE },	{ 21, 1, SMB_SERVER_WINDOW_OUTSIDE },
		{ 9, 17, SMB_SERVER_WINDOW_NO_CREDIT }, { UINT64_MAX, 1, SMB_SERVER_WINDOW_OUTSIDE },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture before = f;
		cr_assert_eq(use(&f, cases[i].id, cases[i].charge), cases[i].expect, "case %zu", i);
		cr_assert_eq(f.window.granted, before.window.granted, "a refused request costs nothing");
	}
	cr_assert_eq(use(&f, 9, 12), SMB_SERVER_WINDOW_OK);
	cr_assert_eq(use(&f, 1, 4), SMB_SERVER_WINDOW_OK);
	cr_assert_eq(f.window.low, 21u);
	cr_assert_eq(f.window.range, 0u);
}

Test(window, credit_charge_counts_only_with_multi_credit)
{
	struct fixture f;

	start(&f, MAX);
	cr_assert_eq(smb_server_window_charge(&f.window, 0), 1u);
	cr_assert_eq(smb_server_window_charge(&f.window, 5), 5u);
	f.window.multi_credit = false;
	cr_assert_eq(smb_server_window_charge(&f.window, 5), 1u);
}

Test(window, the_last_id_is_never_granted)
{
	struct fixture f;

	start(&f, MAX);
	f.window.low = UINT64_MAX - 3; /* ids up to UINT64_MAX - 2 may still be granted */
	f.window.range = 0;
	f.window.granted = 0;
	cr_assert_eq(grant(&f, 1, 100), 2u);
	cr_assert_eq(use(&f, UINT64_MAX - 3, 2), SMB_SERVER_WINDOW_OK);
	cr_assert_eq(grant(&f, 1, 100), 0u);
}

/* A plain model: one flag per id. */
struct model {
	bool granted[4096], used[4096];
	uint32_t top, max;
};

static uint32_t model_low(const struct model *m)
{
	uint32_t low = 0;

	while (low < m->top && m->used[low])
		low++;
	return low;
}

static bool model_use(struct model *m, uint32_t id, uint32_t charge)
{
	for (uint32_t i = id; i < id + charge; i++) {
		if (i >= m->top || m->used[i])
			return false;
	}
	memset(m->used + id, 1, charge);
	return true;
}

Test(window, behaves_as_one_flag_per_id_for_any_order)
{
	uint32_t random = 1;
	uint32_t accepted = 0, refused = 0;

	for (uint32_t round = 0; round < 200; round++) {
		struct fixture f;
		struct model m = { .top = 1, .max = 1 + round };
		start(&f, m.max);
		for (uint32_t step = 0; step < 300; step++) {
			random = random * 1664525 + 1013904223;
			uint32_t low = model_low(&m);
			uint32_t id = low + (random >> 8) % (m.max / 4 + 3) - (low ? (random >> 24) % 2 : 0);
			uint32_t charge = 1 + (random >> 16) % 9;
			bool expected = model_use(&m, id, charge);
			bool taken = use(&f, id, charge) == SMB_SERVER_WINDOW_OK;
			cr_assert_eq(taken, expected, "round %u step %u", round, step);
			accepted += taken;
			refused += !taken;
			uint32_t credits = grant(&f, charge, random >> 28);
			m.top += credits;
			cr_assert_leq(m.top, model_low(&m) + m.max);
			cr_assert_eq(f.window.low, model_low(&m));
			cr_assert_eq(f.window.low + f.window.range, m.top);
			if (m.top > 3500)
				break;
		}
	}
	cr_assert_gt(accepted, 1000);
	cr_assert_gt(refused, 1000);
}
