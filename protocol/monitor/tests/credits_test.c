/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/tests/traffic.h"

#include <criterion/criterion.h>

#define ECHO(number) SEND(.command = SMB2_ECHO, .id = number)
#define ECHOED(number) REPLY(.command = SMB2_ECHO, .id = number)
#define PAID(command_, charge_, ...) SEND(.command = command_, .id = 1, .charge = charge_, .fid = FID, __VA_ARGS__)

Test(monitor_credits, the_charge_pays_for_the_payload)
{
	static const struct conversation cases[] = {
		{ "READ 64 KiB", 99, .steps = { PAID(SMB2_READ, 1, .length = 65536) } },
		{ "READ 64 KiB + 1", 99, .steps = { PAID(SMB2_READ, 1, .length = 65537) }, .broken = { SMB_RULE_C4 } },
		{ "READ 1 MiB", 99, .steps = { PAID(SMB2_READ, 16, .length = 1 << 20) } },
		{ "READ 1 MiB for 15", 99, .steps = { PAID(SMB2_READ, 15, .length = 1 << 20) },
		  .broken = { SMB_RULE_C4 } },
		{ "more than needed", 99, .steps = { PAID(SMB2_READ, 16, .length = 100) } },
		{ "READ of nothing", 99, .steps = { PAID(SMB2_READ, 1) } },
		{ "charge 0 where multi-credit is on", 99, .steps = { PAID(SMB2_READ, 0) }, .broken = { SMB_RULE_C4 } },
		{ "WRITE 128 KiB", 99, .steps = { PAID(SMB2_WRITE, 2, .length = 131072) } },
		{ "WRITE 128 KiB for 1", 99, .steps = { PAID(SMB2_WRITE, 1, .length = 131072) },
		  .broken = { SMB_RULE_C4 } },
		{ "IOCTL answer above 64 KiB for 1", 99, .steps = { PAID(SMB2_IOCTL, 1, .length = 130048) },
		  .broken = { SMB_RULE_C4 } },
		{ "IOCTL answer above 64 KiB", 99, .steps = { PAID(SMB2_IOCTL, 2, .length = 130048) } },
		{ "IOCTL, both answers together", 99,
		  .steps = { PAID(SMB2_IOCTL, 1, .length = 40000, .length2 = 40000) }, .broken = { SMB_RULE_C4 } },
		{ "QUERY_DIRECTORY 64 KiB", 99, .steps = { PAID(SMB2_QUERY_DIRECTORY, 1, .length = 65536) } },
		{ "QUERY_DIRECTORY 128 KiB for 1", 99, .steps = { PAID(SMB2_QUERY_DIRECTORY, 1, .length = 131072) },
		  .broken = { SMB_RULE_C4 } },
		{ "ECHO costs 1", 99, .steps = { PAID(SMB2_ECHO, 1) } },
		{ "ECHO for 2", 99, .steps = { PAID(SMB2_ECHO, 2) }, .broken = { SMB_RULE_C4 } },
		{ "CREATE for 0", 99, .steps = { PAID(SMB2_CREATE, 0) }, .broken = { SMB_RULE_C4 } },
		{ "SESSION_SETUP for 0, as cifs sends it", 99, .steps = { PAID(SMB2_SESSION_SETUP, 0) } },
		{ "LOGOFF for 0, as cifs sends it", 99, .steps = { PAID(SMB2_LOGOFF, 0) } },
		{ "ECHO for 0", 99, .steps = { PAID(SMB2_ECHO, 0) } },
		{ "LOGOFF for 2", 99, .steps = { PAID(SMB2_LOGOFF, 2) }, .broken = { SMB_RULE_C4 } },
		{ "2.0.2 has no charge", 99, true, .steps = { PAID(SMB2_READ, 0, .length = 65536) } },
		{ "2.0.2 with a charge", 99, true, .steps = { PAID(SMB2_READ, 1, .length = 65536) },
		  .broken = { SMB_RULE_C4 } },
		{ "2.0.2 beyond 64 KiB", 99, true, .steps = { PAID(SMB2_QUERY_DIRECTORY, 0, .length = 65537) },
		  .broken = { SMB_RULE_C4 } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_credits, credits_are_not_overdrawn)
{
	static const struct conversation cases[] = {
		{ "all of them", 3, .steps = { ECHO(1), ECHO(2), ECHO(3) } },
		{ "one more", 3, .steps = { ECHO(1), ECHO(2), ECHO(3), ECHO(4) }, .broken = { SMB_RULE_C6 } },
		{ "READ for more than is left", 15,
		  .steps = { SEND(.command = SMB2_READ, .id = 1, .charge = 16, .fid = FID, .length = 1 << 20) },
		  .broken = { SMB_RULE_C6 } },
		{ "after an overdraft the monitor goes on as if the credit had been there", 1,
		  .steps = { ECHO(1), ECHO(2), ECHOED(1), ECHO(3), ECHOED(2), ECHO(4) }, .broken = { SMB_RULE_C6 } },
		{ "2.0.2 counts one credit per request", 2, true,
		  .steps = { SEND(.command = SMB2_READ, .id = 1, .charge = 0, .fid = FID, .length = 9),
			     SEND(.command = SMB2_READ, .id = 2, .charge = 0, .fid = FID, .length = 9) } },
		{ "2.0.2 without counting credits", 1, true,
		  .steps = { SEND(.command = SMB2_READ, .id = 1, .charge = 0, .fid = FID, .length = 9),
			     SEND(.command = SMB2_READ, .id = 2, .charge = 0, .fid = FID, .length = 9) },
		  .broken = { SMB_RULE_C5 } },
		{ "a break acknowledgement may overdraw, then nobody may send", 1,
		  .steps = { ECHO(1),
			     REPLY(.command = SMB2_OPLOCK_BREAK, .sessionless = true, .id = UINT64_MAX, .credits = 0),
			     SEND(.command = SMB2_OPLOCK_BREAK, .id = 2, .fid = FID), ECHOED(1),
			     REPLY(.command = SMB2_OPLOCK_BREAK, .id = 2), ECHO(3) } },
		{ "the credits of an error reply count", 2,
		  .steps = { ECHO(1), ECHO(2),
			     REPLY(.command = SMB2_ECHO, .id = 1, .status = STATUS_ACCESS_DENIED, .credits = 2),
			     ECHO(3), ECHO(4) } },
		{ "the credits of a notification count", 1,
		  .steps = { ECHO(1),
			     REPLY(.command = SMB2_OPLOCK_BREAK, .sessionless = true, .id = UINT64_MAX, .credits = 1),
			     ECHO(2) } },
		{ "at the limit no more are asked for", 99, .expect = { .max_credits = 50 },
		  .steps = { SEND(.command = SMB2_ECHO, .id = 1, .credits = 10) }, .broken = { SMB_RULE_C6 } },
		{ "at the limit what is spent may be asked back", 99, .expect = { .max_credits = 50 },
		  .steps = { ECHO(1), SEND(.command = SMB2_ECHO, .id = 2, .credits = 0) } },
		{ "below the limit", 40, .expect = { .max_credits = 50 },
		  .steps = { SEND(.id = 1, .credits = 10, .command = SMB2_ECHO) } },
		{ "up to the limit and the two held back", 99, .expect = { .max_credits = 50 },
		  .steps = { SEND(.id = 1, .credits = 3, .command = SMB2_ECHO) } },
		{ "what an idle client let go of may be asked for again", 20, .expect = { .max_credits = 20 },
		  .steps = { ECHO(1), REPLY(.command = SMB2_ECHO, .id = 1, .credits = 30), ECHO(2),
			     SEND(.id = 3, .credits = 3, .command = SMB2_ECHO) } },
		{ "a chain is spent before it asks", 20, .expect = { .max_credits = 20 },
		  .steps = { SEND(.command = SMB2_ECHO, .id = 1, .credits = 4, .more = true),
			     SEND(.command = SMB2_ECHO, .id = 2, .credits = 4) } },
		{ "a busy client has let go of nothing", 20, .expect = { .max_credits = 20 },
		  .steps = { ECHO(1), ECHO(2), REPLY(.command = SMB2_ECHO, .id = 1, .credits = 30),
			     SEND(.id = 3, .credits = 3, .command = SMB2_ECHO) },
		  .broken = { SMB_RULE_C6 } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_credits, every_request_gets_one_final_response)
{
	static const struct conversation cases[] = {
		{ "answered out of order", 3,
		  .steps = { ECHO(1), ECHO(2), ECHOED(2), ECHOED(1), { .kind = STEP_IDLE } } },
		{ "a response to nothing", 3, .steps = { ECHOED(1) }, .broken = { SMB_RULE_C7 } },
		{ "two final responses", 3, .steps = { ECHO(1), ECHOED(1), ECHOED(1) }, .broken = { SMB_RULE_C7 } },
		{ "open on idle", 3, .steps = { ECHO(1), { .kind = STEP_IDLE } }, .broken = { SMB_RULE_C7 } },
		{ "open when the connection went", 3,
		  .steps = { ECHO(1), { .kind = STEP_CLOSED }, { .kind = STEP_IDLE } } },
		{ "answered with another command", 3, .steps = { ECHO(1), REPLY(.command = SMB2_LOGOFF, .id = 1) },
		  .broken = { SMB_RULE_C7 } },
		{ "an unsolicited id on another command", 3, .steps = { REPLY(.command = SMB2_ECHO, .id = UINT64_MAX) },
		  .broken = { SMB_RULE_C7 } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_credits, a_client_with_nothing_outstanding_holds_a_credit)
{
	static const struct conversation cases[] = {
		{ "0 with another outstanding", 2,
		  .steps = { ECHO(1), ECHO(2), REPLY(.command = SMB2_ECHO, .id = 1, .credits = 0), ECHOED(2) } },
		{ "0 with credits left", 2, .steps = { ECHO(1), REPLY(.command = SMB2_ECHO, .id = 1, .credits = 0) } },
		{ "0 and the last credit is gone", 1,
		  .steps = { ECHO(1), REPLY(.command = SMB2_ECHO, .id = 1, .credits = 0) },
		  .broken = { SMB_RULE_C11 } },
		{ "NEGOTIATE grants 0", 1,
		  .steps = { { .kind = STEP_CONNECT },
			     SEND(.command = SMB2_NEGOTIATE, .charge = 0),
			     REPLY(.command = SMB2_NEGOTIATE, .credits = 0, .length = 65536) },
		  .broken = { SMB_RULE_C11 } },
		{ "the fast reply skipped its interim but grants 0", 1,
		  .steps = { SEND(.command = SMB2_READ, .id = 1, .fid = FID, .length = 9),
			     REPLY(.command = SMB2_READ, .id = 1, .credits = 0, .length = 9) },
		  .broken = { SMB_RULE_C11 } },
	};
	CONVERSATIONS_CHECK(cases);
}
