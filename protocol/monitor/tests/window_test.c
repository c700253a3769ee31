/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/tests/traffic.h"

#include <criterion/criterion.h>

#define ECHO(number) SEND(.command = SMB2_ECHO, .id = number)
#define ECHOED(number) REPLY(.command = SMB2_ECHO, .id = number)

Test(monitor_window, ids_come_from_the_granted_window_and_are_used_once)
{
	static const struct conversation cases[] = {
		{ "up to the last id granted", 4, .steps = { ECHO(1), ECHO(2), ECHO(3), ECHO(4) } },
		{ "one beyond", 4, .steps = { ECHO(1), ECHO(5) }, .broken = { SMB_RULE_C1 } },
		{ "far beyond", 4, .steps = { ECHO(UINT64_MAX - 1) }, .broken = { SMB_RULE_C1 } },
		{ "grants open the window at its top", 1, .steps = { ECHO(1), ECHOED(1), ECHO(2) } },
		{ "the same id twice", 4, .steps = { ECHO(1), ECHO(1) }, .broken = { SMB_RULE_C1 } },
		{ "an answered id again", 4, .steps = { ECHO(1), ECHOED(1), ECHO(1) }, .broken = { SMB_RULE_C1 } },
		{ "an id above a hole twice", 4, .steps = { ECHO(3), ECHO(3) }, .broken = { SMB_RULE_C1 } },
		{ "an id of the connection before", 4,
		  .steps = { ECHO(1),
			     { .kind = STEP_CLOSED },
			     { .kind = STEP_CONNECT },
			     SEND(.command = SMB2_NEGOTIATE, .charge = 0),
			     REPLY(.command = SMB2_NEGOTIATE),
			     ECHO(2) },
		  .broken = { SMB_RULE_C1 } },
		{ "the connection before does not matter", 4,
		  .steps = { ECHO(1),
			     { .kind = STEP_CLOSED },
			     { .kind = STEP_CONNECT },
			     SEND(.command = SMB2_NEGOTIATE, .charge = 0),
			     REPLY(.command = SMB2_NEGOTIATE, .length = 65536),
			     ECHO(1),
			     ECHOED(1),
			     { .kind = STEP_IDLE } } },
		{ "a second NEGOTIATE while the first runs", 4,
		  .steps = { { .kind = STEP_CONNECT },
			     SEND(.command = SMB2_NEGOTIATE, .charge = 0),
			     SEND(.command = SMB2_NEGOTIATE, .charge = 0, .id = 0) },
		  .broken = { SMB_RULE_C5, SMB_RULE_C1 } },
		{ "each channel has its own window", 4,
		  .steps = { { .kind = STEP_CONNECT, .channel = 1 },
			     ECHO(1),
			     SEND(.command = SMB2_NEGOTIATE, .charge = 0, .channel = 1),
			     REPLY(.command = SMB2_NEGOTIATE, .channel = 1, .length = 65536),
			     SEND(.command = SMB2_ECHO, .id = 1, .channel = 1) } },
		{ "CANCEL takes the id of its target and costs nothing", 2,
		  .steps = { ECHO(1), SEND(.command = SMB2_CANCEL, .id = 1),
			     SEND(.command = SMB2_CANCEL, .id = 1, .charge = 0, .credits = 0), ECHO(2) } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_window, no_id_stays_unused_for_good)
{
	static const struct conversation cases[] = {
		{ "two threads swap their ids", 200, .steps = { ECHO(2), ECHO(1), ECHO(3) } },
		{ "an id is 64 requests late", 200,
		  .steps = { { .kind = STEP_SEND, .command = SMB2_ECHO, .charge = 1, .id = 2, .repeat = 63 },
			     ECHO(1) } },
		{ "an id is left out", 200,
		  .steps = { { .kind = STEP_SEND, .command = SMB2_ECHO, .charge = 1, .id = 2, .repeat = 99 } },
		  .broken = { SMB_RULE_C2 } },
		{ "each hole is told once, the second too", 200,
		  .steps = { { .kind = STEP_SEND, .command = SMB2_ECHO, .charge = 1, .id = 2, .repeat = 69 },
			     ECHO(1),
			     { .kind = STEP_SEND, .command = SMB2_ECHO, .charge = 1, .id = 73, .repeat = 69 } },
		  .broken = { SMB_RULE_C2, SMB_RULE_C2 } },
		{ "a hole on idle (failed send, small window)", 4,
		  .steps = { ECHO(1), ECHO(3), ECHOED(1), ECHOED(3), { .kind = STEP_IDLE }, { .kind = STEP_IDLE } },
		  .broken = { SMB_RULE_C2 } },
		{ "no hole on idle", 4, .steps = { ECHO(2), ECHO(1), ECHOED(1), ECHOED(2), { .kind = STEP_IDLE } } },
	};
	CONVERSATIONS_CHECK(cases);
}

#define READ(number, charge_, bytes)                                                                                   \
	SEND(.command = SMB2_READ, .id = number, .charge = charge_, .fid = FID, .length = bytes)

Test(monitor_window, a_request_of_several_credits_takes_as_many_ids)
{
	static const struct conversation cases[] = {
		{ "the next id is beyond the range", 40,
		  .steps = { READ(1, 16, 1 << 20), READ(17, 16, 1 << 20), ECHO(33) } },
		{ "the id advanced by one", 40, .steps = { READ(1, 16, 1 << 20), ECHO(2) }, .broken = { SMB_RULE_C3 } },
		{ "the last of the range", 40, .steps = { READ(1, 16, 1 << 20), ECHO(16) }, .broken = { SMB_RULE_C3 } },
		{ "above a hole", 40, .steps = { READ(3, 16, 1 << 20), ECHO(18) }, .broken = { SMB_RULE_C3 } },
		{ "a range that runs into used ids", 40, .steps = { ECHO(4), READ(1, 16, 1 << 20) },
		  .broken = { SMB_RULE_C3 } },
		{ "a range in front of used ids", 40, .steps = { ECHO(17), READ(1, 16, 1 << 20) } },
		{ "a range beyond the window", 40, .steps = { ECHO(1), READ(26, 16, 1 << 20) },
		  .broken = { SMB_RULE_C1 } },
	};
	CONVERSATIONS_CHECK(cases);
}

/* The ring wraps many times, with swapped ids and ranges; a plain array of used ids is the oracle. */
Test(monitor_window, the_ring_agrees_with_a_plain_array)
{
	enum { IDS = 30000, AHEAD = 48 };
	static uint8_t used[IDS + 1000]; /* 0 free, 1 first of a request, 2 inner */
	static const struct conversation setup = { .name = "ring", .credits = 60000 };
	struct traffic traffic = { .window = 64, .requests = 1 };
	uint64_t random = 1, low = 1;
	uint32_t judged[4] = { 0 };

	traffic_start(&traffic, &setup);
	used[0] = 1;
	while (low < IDS) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		/* Mostly the lowest id, sometimes one ahead, sometimes one taken already. */
		uint64_t id = random >> 62 ? low : low + (random >> 40) % AHEAD;
		if ((random >> 32 & 15) == 0 && low > 8)
			id = low - 1 - (random >> 36) % 4;
		uint32_t charge = 1 + (random >> 20) % 3;
		enum smb_rule expected = used[id] == 1 ? SMB_RULE_C1 : used[id] == 2 ? SMB_RULE_C3 : 0;
		for (uint32_t i = 1; i < charge && !expected; i++)
			expected = used[id + i] ? SMB_RULE_C3 : 0;
		struct step step = SEND(.command = SMB2_READ, .fid = FID, .id = id, .charge = (uint16_t)charge,
					.length = 100);
		uint32_t before = traffic.count;
		traffic.count = 0;
		traffic_play(&traffic, &step, 1);
		enum smb_rule found = traffic.count ? traffic.found[0] : 0;
		cr_assert_eq(found, expected, "id %lu+%u low %lu: C%d instead of C%d", id, charge, low, found,
			     expected);
		traffic.count += before;
		judged[expected]++;
		for (uint32_t i = 0; i < charge && !expected; i++)
			used[id + i] = i ? 2 : 1;
		while (used[low])
			low++;
	}
	cr_expect(judged[0] > 1000 && judged[SMB_RULE_C1] > 1000 && judged[SMB_RULE_C3] > 1000);
	traffic_stop(&traffic);
}
