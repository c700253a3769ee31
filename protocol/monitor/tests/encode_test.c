/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The canonical form: the same whatever way led to a state, another one where judgement will differ. */
#include "protocol/monitor/tests/traffic.h"

#include <criterion/criterion.h>
#include <string.h>

#define ECHO(number) SEND(.command = SMB2_ECHO, .id = number)
#define ECHOED(number) REPLY(.command = SMB2_ECHO, .id = number)
#define READ(number, at) SEND(.command = SMB2_READ, .id = number, .fid = FID, .offset = at, .length = 4096)

struct form {
	uint8_t bytes[16384];
	size_t length;
};

static void form_after(struct form *form, const struct conversation *conversation)
{
	struct traffic traffic = { 0 };

	traffic_start(&traffic, conversation);
	traffic_play(&traffic, conversation->steps, STEPS_MAX);
	form->length = smb_monitor_encode(traffic.monitor, form->bytes, sizeof(form->bytes));
	cr_assert_gt(form->length, 0);
	cr_assert_eq(smb_monitor_encode(traffic.monitor, form->bytes, form->length - 1), 0, "too small");
	cr_assert_eq(smb_monitor_encode(traffic.monitor, form->bytes, sizeof(form->bytes)), form->length);
	traffic_stop(&traffic);
}

static bool same(const struct conversation *a, const struct conversation *b)
{
	static struct form forms[2];

	form_after(&forms[0], a);
	form_after(&forms[1], b);
	return forms[0].length == forms[1].length && !memcmp(forms[0].bytes, forms[1].bytes, forms[0].length);
}

Test(monitor_encode, what_is_over_leaves_nothing_behind)
{
	static const struct conversation pairs[][2] = {
		{ { .name = "nothing", .credits = 9 }, { "an echo", 9, .steps = { ECHO(1), ECHOED(1) } } },
		{ { "one outstanding", 9, .steps = { ECHO(1) } },
		  { "the third outstanding", 9, .steps = { ECHO(1), ECHOED(1), ECHO(2), ECHOED(2), ECHO(3) } } },
		{ { "answered in order", 9, .steps = { ECHO(1), ECHO(2), ECHO(3), ECHOED(1), ECHOED(2), ECHO(4) } },
		  { "in another", 9, .steps = { ECHO(1), ECHO(2), ECHO(3), ECHOED(2), ECHOED(1), ECHO(4) } } },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		cr_expect(same(&pairs[i][0], &pairs[i][1]), "%s, %s", pairs[i][0].name, pairs[i][1].name);
}

Test(monitor_encode, what_counts_later_tells_states_apart)
{
	static const struct conversation states[] = {
		{ .name = "nothing", .credits = 9 },
		{ .name = "more credits", .credits = 10 },
		{ "outstanding", 10, .steps = { ECHO(1) } },
		{ "another command", 10, .steps = { SEND(.command = SMB2_CREATE, .id = 1, .name = "file") } },
		{ "interim", 10,
		  .steps = { ECHO(1), REPLY(.command = SMB2_ECHO, .id = 1, .async_id = 5, .credits = 0, PENDING) } },
		{ "a hole", 10, .steps = { ECHO(2) } },
		{ "a read", 10, .steps = { READ(1, 0) } },
		{ "elsewhere", 10, .steps = { READ(1, 4096) } },
		{ "connected again", 10, .steps = { { .kind = STEP_CONNECT } } },
		{ "told about rsize", 9, .expect = { .rsize = 65536 } },
	};
	size_t count = sizeof(states) / sizeof(states[0]);

	for (size_t i = 0; i < count; i++) {
		for (size_t n = 0; n < i; n++)
			cr_expect_not(same(&states[i], &states[n]), "%s, %s", states[i].name, states[n].name);
	}
}
