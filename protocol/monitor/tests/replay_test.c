/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/tests/traffic.h"

#include <criterion/criterion.h>

#define CREATE(number, ...) SEND(.command = SMB2_CREATE, .id = number, .name = "file", __VA_ARGS__)
#define OPENED(number, ...) REPLY(.command = SMB2_CREATE, .id = number, .fid = FID, __VA_ARGS__)
#define AGAIN .flags = SMB2_FLAGS_REPLAY_OPERATION

Test(monitor_replay, a_create_that_is_sent_again_keeps_its_guid)
{
	static const struct conversation cases[] = {
		{ "two files", 9, .steps = { CREATE(1, .guid = 1), CREATE(2, .guid = 2) } },
		{ "sent again", 9, .steps = { CREATE(1, .guid = 1), CREATE(2, .guid = 1, AGAIN) } },
		{ "without a guid", 9, .steps = { CREATE(1), CREATE(2) } },
		{ "another guid", 9, .steps = { CREATE(1, .guid = 1), CREATE(2, .guid = 2, AGAIN) },
		  .broken = { SMB_RULE_C24 } },
		{ "no guid the second time", 9, .steps = { CREATE(1, .guid = 1), CREATE(2, AGAIN) },
		  .broken = { SMB_RULE_C24 } },
		{ "not marked", 9, .steps = { CREATE(1, .guid = 1), CREATE(2, .guid = 1) },
		  .broken = { SMB_RULE_C24 } },
		{ "more files than are remembered", 9,
		  .steps = { CREATE(1, .guid = 1), CREATE(2, .guid = 2), CREATE(3, .guid = 3), CREATE(4, .guid = 4),
			     CREATE(5, .guid = 5), CREATE(6, .guid = 1, AGAIN) } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_replay, a_create_that_is_sent_again_opens_once)
{
	static const struct conversation cases[] = {
		{ "once", 9, .steps = { CREATE(1, .guid = 1), OPENED(1), CREATE(2, .guid = 1, AGAIN), OPENED(2) } },
		{ "refused the first time", 9,
		  .steps = { CREATE(1, .guid = 1), OPENED(1, .status = STATUS_ACCESS_DENIED),
			     CREATE(2, .guid = 1, AGAIN), OPENED(2) } },
		{ "twice", 9,
		  .steps = { CREATE(1, .guid = 1), OPENED(1), CREATE(2, .guid = 1, AGAIN), OPENED(2, .fid = 0x12) },
		  .broken = { SMB_RULE_C24 } },
		{ "two files", 9,
		  .steps = { CREATE(1, .guid = 1), OPENED(1), CREATE(2, .guid = 2), OPENED(2, .fid = 0x12) } },
	};
	CONVERSATIONS_CHECK(cases);
}
