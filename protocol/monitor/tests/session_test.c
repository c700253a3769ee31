/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/tests/traffic.h"

#include <criterion/criterion.h>

#define ASK(command_, number, ...) SEND(.command = command_, .id = number, .fid = FID, __VA_ARGS__)
#define ANSWER(command_, number, ...) REPLY(.command = command_, .id = number, .fid = FID, __VA_ARGS__)
#define ECHO(number) ASK(SMB2_ECHO, number)
#define ECHOED(number) ANSWER(SMB2_ECHO, number)
/* SESSION_SETUP in one leg */
#define LOGON(number, ...) ASK(SMB2_SESSION_SETUP, number, __VA_ARGS__), ANSWER(SMB2_SESSION_SETUP, number, __VA_ARGS__)
#define OPEN(number) ASK(SMB2_CREATE, number, .name = "file"), ANSWER(SMB2_CREATE, number)
#define CONNECT(channel_)                                                                                              \
	{                                                                                                              \
		.kind = STEP_CONNECT, .channel = channel_                                                              \
	}
#define CLOSED(channel_)                                                                                               \
	{                                                                                                              \
		.kind = STEP_CLOSED, .channel = channel_                                                               \
	}
/* NEGOTIATE on a new connection, answered with credits */
#define AGAIN(...)                                                                                                     \
	SEND(.command = SMB2_NEGOTIATE, .charge = 0, __VA_ARGS__),                                                     \
		REPLY(.command = SMB2_NEGOTIATE, .credits = 20, .length = 65536, __VA_ARGS__)
#define BREAK REPLY(.command = SMB2_OPLOCK_BREAK, .id = UINT64_MAX, .credits = 0, .fid = FID, .sessionless = true)
#define ACKNOWLEDGE(number) ASK(SMB2_OPLOCK_BREAK, number)

Test(monitor_session, a_new_connection_uses_nothing_of_the_old_session)
{
	static const struct conversation cases[] = {
		{ "the session's own id", 9, .steps = { LOGON(1), OPEN(2) } },
		{ "another", 9, .steps = { LOGON(1), ASK(SMB2_CREATE, 2, .name = "file", .session = 7) },
		  .broken = { SMB_RULE_C22 } },
		{ "a new session after a loss", 9,
		  .steps = { LOGON(1), CLOSED(0), CONNECT(0), AGAIN(), LOGON(1, .session = 2),
			     ASK(SMB2_CREATE, 2, .name = "file", .session = 2) } },
		{ "the old one after a loss", 9,
		  .steps = { LOGON(1), CLOSED(0), CONNECT(0), AGAIN(), LOGON(1, .session = 2),
			     ASK(SMB2_CREATE, 2, .name = "file") },
		  .broken = { SMB_RULE_C22 } },
		{ "no NEGOTIATE", 9, .steps = { LOGON(1), CLOSED(0), CONNECT(0), SEND(.command = SMB2_ECHO, .id = 0) },
		  .broken = { SMB_RULE_C22 } },
		{ "no session was ever seen", 9, .steps = { ASK(SMB2_CREATE, 1, .name = "file", .session = 7) } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_session, channels_belong_to_one_client_and_bind_first)
{
	static const struct conversation cases[] = {
		{ "bound", 9,
		  .steps = { LOGON(1), CONNECT(1), AGAIN(.channel = 1), LOGON(1, .channel = 1),
			     ASK(SMB2_READ, 2, .channel = 1, .length = 1) } },
		{ "not bound yet", 9,
		  .steps = { LOGON(1), CONNECT(1), AGAIN(.channel = 1), ASK(SMB2_READ, 1, .channel = 1, .length = 1) },
		  .broken = { SMB_RULE_C26 } },
		{ "refused", 9,
		  .steps = { LOGON(1), CONNECT(1), AGAIN(.channel = 1), ASK(SMB2_SESSION_SETUP, 1, .channel = 1),
			     ANSWER(SMB2_SESSION_SETUP, 1, .channel = 1, .status = STATUS_ACCESS_DENIED),
			     ASK(SMB2_READ, 2, .channel = 1, .length = 1) },
		  .broken = { SMB_RULE_C26 } },
		{ "another client", 9, .steps = { LOGON(1), CONNECT(1), AGAIN(.channel = 1, .guid = 9) },
		  .broken = { SMB_RULE_C26 } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_session, channel_sequence_counts_connections)
{
	static const struct conversation cases[] = {
		{ "0 as ever", 9, .steps = { LOGON(1), OPEN(2) } },
		{ "1 after a loss", 9,
		  .steps = { LOGON(1), CLOSED(0), CONNECT(0), AGAIN(.sequence = 1), LOGON(1, .sequence = 1),
			     ASK(SMB2_CREATE, 2, .name = "file", .sequence = 1) } },
		{ "0 again", 9,
		  .steps = { LOGON(1), CLOSED(0), CONNECT(0), AGAIN(.sequence = 1), LOGON(1, .sequence = 1),
			     ASK(SMB2_CREATE, 2, .name = "file", .sequence = 2), ASK(SMB2_READ, 3, .length = 1) },
		  .broken = { SMB_RULE_C23 } },
		{ "more than connections", 9, .steps = { LOGON(1), ASK(SMB2_READ, 2, .length = 1, .sequence = 2) },
		  .broken = { SMB_RULE_C23 } },
		{ "2.0.2 has none", 9, true,
		  .steps = { LOGON(1), ASK(SMB2_READ, 2, .charge = 0, .length = 1, .sequence = 9) } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_session, what_is_newest_is_not_refused_as_stale)
{
	static const struct conversation cases[] = {
		{ "an older one", 9,
		  .steps = { LOGON(1), CONNECT(1), AGAIN(.channel = 1), LOGON(1, .channel = 1),
			     ASK(SMB2_WRITE, 2, .length = 1),
			     ASK(SMB2_READ, 2, .channel = 1, .length = 1, .sequence = 1),
			     ANSWER(SMB2_WRITE, 2, .status = STATUS_FILE_NOT_AVAILABLE) } },
		{ "the newest", 9,
		  .steps = { LOGON(1), CONNECT(1), AGAIN(.channel = 1), LOGON(1, .channel = 1),
			     ASK(SMB2_READ, 2, .length = 1),
			     ASK(SMB2_WRITE, 2, .channel = 1, .length = 1, .sequence = 1),
			     ANSWER(SMB2_WRITE, 2, .channel = 1, .status = STATUS_FILE_NOT_AVAILABLE) },
		  .broken = { SMB_RULE_C23 } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_session, cancel_names_what_was_sent)
{
	static const struct conversation cases[] = {
		{ "what is outstanding", 9, .steps = { ECHO(1), ASK(SMB2_CANCEL, 1) } },
		{ "what was answered meanwhile", 9, .steps = { ECHO(1), ECHOED(1), ASK(SMB2_CANCEL, 1) } },
		{ "what comes next", 9, .steps = { ECHO(1), ASK(SMB2_CANCEL, 2) }, .broken = { SMB_RULE_C17 } },
		{ "by AsyncId", 9,
		  .steps = { ECHO(1), ANSWER(SMB2_ECHO, 1, .async_id = 5, PENDING),
			     ASK(SMB2_CANCEL, 1, .async_id = 5, ASYNC) } },
		{ "by MessageId in spite of an AsyncId", 9,
		  .steps = { ECHO(1), ANSWER(SMB2_ECHO, 1, .async_id = 5, PENDING), ASK(SMB2_CANCEL, 1) },
		  .broken = { SMB_RULE_C17 } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_session, cancel_is_not_answered)
{
	static const struct conversation plain = { .name = "plain", .credits = 9 };
	struct smb2_message reply = { .header = { .command = SMB2_ECHO, .flags = SMB2_FLAGS_SERVER_TO_REDIR },
				      .kind = SMB2_BODY_EMPTY };
	struct traffic traffic = { 0 };
	uint8_t bytes[128];
	struct smb_pdu pdu;

	reply.header.message_id = 5;
	traffic_start(&traffic, &plain);
	cr_assert_eq(smb2_message_encode(&reply, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
	bytes[12] = SMB2_CANCEL; /* the codec makes no such message */
	cr_expect_eq(smb_monitor_received(traffic.monitor, 0, &pdu, 0), 1);
	cr_expect_eq(traffic.found[0], SMB_RULE_C17);
	traffic_stop(&traffic);
}

Test(monitor_session, breaks_are_announced_and_acknowledged)
{
	static const struct conversation cases[] = {
		{ "one each", 9, .steps = { BREAK, ACKNOWLEDGE(1) } },
		{ "two of each", 9, .steps = { BREAK, BREAK, ACKNOWLEDGE(1), ACKNOWLEDGE(2) } },
		{ "out of the blue", 9, .steps = { ACKNOWLEDGE(1) }, .broken = { SMB_RULE_C19 } },
		{ "twice", 9, .steps = { BREAK, ACKNOWLEDGE(1), ACKNOWLEDGE(2) }, .broken = { SMB_RULE_C19 } },
		{ "in a session", 9,
		  .steps = { REPLY(.command = SMB2_OPLOCK_BREAK, .id = UINT64_MAX, .credits = 0, .fid = FID) },
		  .broken = { SMB_RULE_C19 } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_session, one_echo_at_a_time_and_not_with_the_only_credit)
{
	static const struct conversation cases[] = {
		{ "one after the other", 9, .expect = { .is_cifs = true },
		  .steps = { ECHO(1), ECHOED(1), ECHO(2), ECHOED(2) } },
		{ "two at once", 9, .expect = { .is_cifs = true }, .steps = { ECHO(1), ECHO(2) },
		  .broken = { SMB_RULE_C21 } },
		{ "two at once, of another client", 9, .steps = { ECHO(1), ECHO(2) } },
		{ "with two credits", 2, .expect = { .is_cifs = true }, .steps = { ECHO(1) } },
		{ "with one", 1, .expect = { .is_cifs = true }, .steps = { ECHO(1) }, .broken = { SMB_RULE_C21 } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_session, handles_are_closed_before_logoff)
{
	static const struct conversation cases[] = {
		{ "closed", 9,
		  .steps = { LOGON(1), OPEN(2), ASK(SMB2_CLOSE, 3), ANSWER(SMB2_CLOSE, 3), ASK(SMB2_LOGOFF, 4) } },
		{ "left open", 9, .steps = { LOGON(1), OPEN(2), ASK(SMB2_LOGOFF, 3) }, .broken = { SMB_RULE_C29 } },
		{ "never opened", 9,
		  .steps = { LOGON(1), ASK(SMB2_CREATE, 2, .name = "file"),
			     ANSWER(SMB2_CREATE, 2, .status = STATUS_ACCESS_DENIED), ASK(SMB2_LOGOFF, 3) } },
		{ "gone with its session", 9,
		  .steps = { LOGON(1), OPEN(2), CLOSED(0), CONNECT(0), AGAIN(), LOGON(1, .session = 2),
			     ASK(SMB2_LOGOFF, 2, .session = 2) } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_session, nothing_goes_out_on_a_closed_channel)
{
	static const struct conversation cases[] = {
		{ "open", 9, .steps = { ECHO(1) } },
		{ "closed", 9, .steps = { CLOSED(0), ECHO(1) }, .broken = { SMB_RULE_C32 } },
		{ "never connected", 9, .steps = { SEND(.command = SMB2_NEGOTIATE, .charge = 0, .channel = 1) },
		  .broken = { SMB_RULE_C32, SMB_RULE_C5 } },
	};
	CONVERSATIONS_CHECK(cases);
}
