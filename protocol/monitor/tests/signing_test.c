/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/tests/traffic.h"

#include <criterion/criterion.h>

#define SIGNED .flags = SMB2_FLAGS_SIGNED, .signature = 7
#define ECHO(number, ...) SEND(.command = SMB2_ECHO, .id = number, __VA_ARGS__)
#define MEMBER(number, ...) SEND(.command = SMB2_READ, .id = number, .fid = FID, .length = 1, __VA_ARGS__)
#define BIND(...)                                                                                                      \
	SEND(.command = SMB2_NEGOTIATE, .charge = 0, .channel = 1),                                                    \
		REPLY(.command = SMB2_NEGOTIATE, .credits = 9, .length = 65536, .channel = 1),                         \
		SEND(.command = SMB2_SESSION_SETUP, .id = 1, .channel = 1, .binding = true, __VA_ARGS__)
#define CONNECT_ANOTHER                                                                                                \
	{                                                                                                              \
		.kind = STEP_CONNECT, .channel = 1                                                                     \
	}

Test(monitor_signing, requests_carry_a_signature_when_they_say_so)
{
	static const struct conversation cases[] = {
		{ "none", 9, .steps = { ECHO(1), ECHO(2) } },
		{ "all", 9, .steps = { ECHO(1, SIGNED), ECHO(2, SIGNED) } },
		{ "some", 9, .steps = { ECHO(1, SIGNED), ECHO(2) } },
		{ "signed, not marked", 9, .steps = { ECHO(1, .signature = 7) }, .broken = { SMB_RULE_C16 } },
		{ "marked, not signed", 9, .steps = { ECHO(1, SIGNED), ECHO(2, .flags = SMB2_FLAGS_SIGNED) },
		  .broken = { SMB_RULE_C16 } },
		{ "a host without keys", 9, .steps = { ECHO(1, .flags = SMB2_FLAGS_SIGNED) } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_signing, members_of_a_chain_are_signed_all_or_none)
{
	static const struct conversation cases[] = {
		{ "all", 9, .steps = { MEMBER(1, SIGNED, .more = true), MEMBER(2, SIGNED) } },
		{ "none", 9, .steps = { MEMBER(1, .more = true), MEMBER(2) } },
		{ "the first", 9, .steps = { MEMBER(1, SIGNED, .more = true), MEMBER(2) }, .broken = { SMB_RULE_C16 } },
		{ "all but the first", 9,
		  .steps = { MEMBER(1, .more = true), MEMBER(2, SIGNED, .more = true), MEMBER(3, SIGNED) },
		  .broken = { SMB_RULE_C16, SMB_RULE_C16 } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_signing, a_channel_is_bound_with_a_signed_request)
{
	static const struct conversation cases[] = {
		{ "signed", 9, .steps = { CONNECT_ANOTHER, BIND(SIGNED) } },
		{ "not signed", 9, .steps = { CONNECT_ANOTHER, BIND() }, .broken = { SMB_RULE_C16 } },
		{ "no channel is bound", 9, .steps = { SEND(.command = SMB2_SESSION_SETUP, .id = 1) } },
	};
	CONVERSATIONS_CHECK(cases);
}
