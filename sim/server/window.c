/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/server/window.h"

#include <assert.h>
#include <string.h>

static uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

uint32_t smb_server_window_words(uint32_t max)
{
	uint32_t words = 1;

	while (words * 64 < max)
		words *= 2;
	return words;
}

/* The run of at most `count` ids from `id` on that share a word of the bitmap. */
struct run {
	uint32_t word;
	uint32_t count;
	uint64_t bits;
};

static struct run run_at(const struct smb_server_window *window, uint64_t id, uint32_t count)
{
	uint32_t bit = (uint32_t)(id & (smb_server_window_words(window->max) * 64 - 1));
	uint32_t first = bit & 63;
	uint32_t length = min32(64 - first, count);
	uint64_t ones = length < 64 ? (UINT64_C(1) << length) - 1 : UINT64_MAX;

	return (struct run){ .word = bit / 64, .count = length, .bits = ones << first };
}

static uint32_t count_seen(const struct smb_server_window *window, const uint64_t *seen, uint64_t id, uint32_t count)
{
	uint32_t found = 0;

	while (count) {
		struct run run = run_at(window, id, count);
		found += (uint32_t)__builtin_popcountll(seen[run.word] & run.bits);
		id += run.count;
		count -= run.count;
	}
	return found;
}

void smb_server_window_init(struct smb_server_window *window, uint64_t *seen, uint32_t max)
{
	assert(max);
	*window = (struct smb_server_window){ .range = 1, .granted = 1, .max = max };
	memset(seen, 0, smb_server_window_words(max) * sizeof(*seen));
}

bool smb_server_window_is_valid(const struct smb_server_window *window, const uint64_t *seen)
{
	uint32_t marked = 0;

	if (!window->max || window->range > window->max || window->used > window->range ||
	    window->granted != window->range - window->used)
		return false;
	for (uint32_t i = 0; i < smb_server_window_words(window->max); i++)
		marked += (uint32_t)__builtin_popcountll(seen[i]);
	return marked == window->used && count_seen(window, seen, window->low, window->range) == window->used &&
	       (!window->range || !count_seen(window, seen, window->low, 1));
}

uint32_t smb_server_window_charge(const struct smb_server_window *window, uint16_t credit_charge)
{
	return window->multi_credit && credit_charge ? credit_charge : 1;
}

static void mark(const struct smb_server_window *window, uint64_t *seen, uint64_t id, uint32_t count)
{
	while (count) {
		struct run run = run_at(window, id, count);
		seen[run.word] |= run.bits;
		id += run.count;
		count -= run.count;
	}
}

/* Move `low` over the ids that are used up. */
static void slide(struct smb_server_window *window, uint64_t *seen)
{
	while (window->used) {
		struct run run = run_at(window, window->low, window->range);
		uint64_t unused = ~seen[run.word] & run.bits;
		uint32_t first = (uint32_t)__builtin_ctzll(run.bits);
		uint32_t count = unused ? (uint32_t)__builtin_ctzll(unused) - first : run.count;
		if (!count)
			return;
		seen[run.word] &= ~run_at(window, window->low, count).bits;
		window->low += count;
		window->range -= count;
		window->used -= count;
	}
}

enum smb_server_window_verdict smb_server_window_use(struct smb_server_window *window, uint64_t *seen,
						     uint64_t message_id, uint32_t charge)
{
	if (charge > window->granted)
		return SMB_SERVER_WINDOW_NO_CREDIT;
	if (message_id < window->low || message_id - window->low > window->range ||
	    charge > window->range - (message_id - window->low))
		return SMB_SERVER_WINDOW_OUTSIDE;
	window->granted -= charge;
	if (!window->used && message_id == window->low) { /* in order, the usual case */
		window->low += charge;
		window->range -= charge;
		return SMB_SERVER_WINDOW_OK;
	}
	if (count_seen(window, seen, message_id, charge)) {
		window->granted += charge;
		return SMB_SERVER_WINDOW_REPEATED;
	}
	mark(window, seen, message_id, charge);
	window->used += charge;
	slide(window, seen);
	return SMB_SERVER_WINDOW_OK;
}

uint32_t smb_server_window_grow(struct smb_server_window *window, uint32_t amount)
{
	uint64_t ids_left = UINT64_MAX - 1 - window->low; /* UINT64_MAX is the id of break notifications */
	uint32_t widest = ids_left < window->max ? (uint32_t)ids_left : window->max;
	uint32_t room = widest > window->range ? widest - window->range : 0;
	uint32_t grant = min32(amount, room);

	window->range += grant;
	window->granted += grant;
	return grant;
}

uint32_t smb_server_window_grant(struct smb_server_window *window, uint32_t charge, uint32_t asked, uint32_t extra_max)
{
	if (charge > window->max)
		charge = window->max;
	extra_max = min32(extra_max, window->max - charge);
	return smb_server_window_grow(window, charge + min32(asked ? asked - 1 : 0, extra_max));
}
