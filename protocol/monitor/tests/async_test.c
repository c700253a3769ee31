/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/tests/traffic.h"

#include <criterion/criterion.h>

#define READ(number) SEND(.command = SMB2_READ, .id = number, .fid = FID, .length = 9)
#define INTERIM(number, async, grant)                                                                                  \
	REPLY(.command = SMB2_READ, .id = number, .async_id = async, .credits = grant, PENDING)
#define FINAL(number, async, grant)                                                                                    \
	REPLY(.command = SMB2_READ, .id = number, .async_id = async, .credits = grant, .length = 9, ASYNC)

Test(monitor_async, the_interim_response_carries_the_grant)
{
	static const struct conversation cases[] = {
		{ "interim grants, final does not", 2, .steps = { READ(1), INTERIM(1, 5, 10), FINAL(1, 5, 0) } },
		{ "both grant", 2, .steps = { READ(1), INTERIM(1, 5, 10), FINAL(1, 5, 10) },
		  .broken = { SMB_RULE_C9 } },
		{ "only the final grants", 2, .steps = { READ(1), INTERIM(1, 5, 0), FINAL(1, 5, 10) },
		  .broken = { SMB_RULE_C9 } },
		{ "no interim, the final grants", 2,
		  .steps = { READ(1), REPLY(.command = SMB2_READ, .id = 1, .length = 9, .credits = 10) } },
		{ "the interim's credits can be spent at once", 1,
		  .steps = { READ(1), INTERIM(1, 5, 2), READ(2), READ(3), FINAL(1, 5, 0) } },
		{ "but not twice", 1, .steps = { READ(1), INTERIM(1, 5, 2), READ(2), READ(3), FINAL(1, 5, 0), READ(4) },
		  .broken = { SMB_RULE_C6 } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_async, interim_and_final_belong_together)
{
	static const struct conversation cases[] = {
		{ "the request stays outstanding in between", 4,
		  .steps = { READ(1), INTERIM(1, 5, 1), { .kind = STEP_IDLE } }, .broken = { SMB_RULE_C7 } },
		{ "another AsyncId", 4, .steps = { READ(1), INTERIM(1, 5, 1), FINAL(1, 6, 0) },
		  .broken = { SMB_RULE_C18 } },
		{ "the final one is not async", 4,
		  .steps = { READ(1), INTERIM(1, 5, 1),
			     REPLY(.command = SMB2_READ, .id = 1, .length = 9, .credits = 0) },
		  .broken = { SMB_RULE_C18 } },
		{ "a final async one without interim", 4, .steps = { READ(1), FINAL(1, 5, 1) },
		  .broken = { SMB_RULE_C18 } },
		{ "pending without AsyncId", 4, .steps = { READ(1), INTERIM(1, 0, 1) }, .broken = { SMB_RULE_C18 } },
		{ "pending without the flag", 4,
		  .steps = { READ(1), REPLY(.command = SMB2_READ, .id = 1, .status = STATUS_PENDING) },
		  .broken = { SMB_RULE_C18 } },
		{ "two interim responses", 4, .steps = { READ(1), INTERIM(1, 5, 1), INTERIM(1, 5, 0) },
		  .broken = { SMB_RULE_C18 } },
		{ "two interim responses that grant", 4, .steps = { READ(1), INTERIM(1, 5, 1), INTERIM(1, 5, 1) },
		  .broken = { SMB_RULE_C18, SMB_RULE_C9 } },
		{ "one AsyncId for two requests", 4, .steps = { READ(1), READ(2), INTERIM(1, 5, 1), INTERIM(2, 5, 1) },
		  .broken = { SMB_RULE_C18 } },
		{ "an AsyncId again after its final response", 4,
		  .steps = { READ(1),
			     INTERIM(1, 5, 1),
			     FINAL(1, 5, 0),
			     READ(2),
			     INTERIM(2, 5, 1),
			     FINAL(2, 5, 0),
			     { .kind = STEP_IDLE } } },
		{ "cancelled: one final response, none to CANCEL", 4,
		  .steps = { READ(1),
			     INTERIM(1, 5, 1),
			     SEND(.command = SMB2_CANCEL, .id = 1, .async_id = 5, ASYNC),
			     REPLY(.command = SMB2_READ, .id = 1, .async_id = 5, .credits = 0,
				   .status = STATUS_CANCELLED, ASYNC),
			     { .kind = STEP_IDLE } } },
	};
	CONVERSATIONS_CHECK(cases);
}
