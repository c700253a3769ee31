/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/tests/traffic.h"

#include <criterion/criterion.h>
#include <string.h>

#define MORE .more = true
#define CREATE(number, ...) SEND(.command = SMB2_CREATE, .id = number, .name = "file", __VA_ARGS__)
#define QUERY(number, ...) SEND(.command = SMB2_QUERY_INFO, .id = number, .length = 100, __VA_ARGS__)
#define CLOSE(number, ...) SEND(.command = SMB2_CLOSE, .id = number, __VA_ARGS__)
#define CHAIN CREATE(1, MORE), QUERY(2, MORE, RELATED), CLOSE(3, RELATED)
#define CREATED(number, grant, ...)                                                                                    \
	REPLY(.command = SMB2_CREATE, .id = number, .credits = grant, .fid = FID, __VA_ARGS__)
#define QUERIED(number, grant, ...) REPLY(.command = SMB2_QUERY_INFO, .id = number, .credits = grant, __VA_ARGS__)
#define CLOSED(number, grant, ...) REPLY(.command = SMB2_CLOSE, .id = number, .credits = grant, __VA_ARGS__)
#define IS_RELATED .flags = SMB2_FLAGS_RELATED_OPERATIONS
#define FAILS .status = STATUS_OBJECT_NAME_NOT_FOUND
#define ECHO(number) SEND(.command = SMB2_ECHO, .id = number)

Test(monitor_chains, the_grants_of_a_chain_count_as_their_sum)
{
	static const struct conversation cases[] = {
		{ "(0, 0, 2) pays for two more", 3,
		  .steps = { CHAIN, CREATED(1, 0, MORE), QUERIED(2, 0, MORE), CLOSED(3, 2), ECHO(4), ECHO(5) } },
		{ "(0, 0, 2) does not pay for three", 3,
		  .steps = { CHAIN, CREATED(1, 0, MORE), QUERIED(2, 0, MORE), CLOSED(3, 2), ECHO(4), ECHO(5), ECHO(6) },
		  .broken = { SMB_RULE_C6 } },
		{ "(1, 1, 1) is the same as (0, 0, 3)", 3,
		  .steps = { CHAIN, CREATED(1, 1, MORE), QUERIED(2, 1, MORE), CLOSED(3, 1), ECHO(4), ECHO(5),
			     ECHO(6) } },
		{ "each member costs a credit", 2, .steps = { CHAIN }, .broken = { SMB_RULE_C6 } },
		{ "(0, 0, 0) to a client with little", 5,
		  .steps = { CHAIN, CREATED(1, 0, MORE), QUERIED(2, 0, MORE), CLOSED(3, 0) },
		  .broken = { SMB_RULE_C10 } },
		{ "(0, 0, 0) to a client with plenty", 6,
		  .steps = { CHAIN, CREATED(1, 0, MORE), QUERIED(2, 0, MORE), CLOSED(3, 0) } },
		{ "split, the grant comes last", 3,
		  .steps = { CHAIN, CREATED(1, 0), QUERIED(2, 0), CLOSED(3, 3), { .kind = STEP_IDLE } } },
		{ "the interim response of a member brings the grant", 3,
		  .steps = { CHAIN, REPLY(.command = SMB2_CREATE, .id = 1, .async_id = 9, .credits = 3, PENDING),
			     REPLY(.command = SMB2_CREATE, .id = 1, .async_id = 9, .credits = 0, .fid = FID, ASYNC),
			     QUERIED(2, 0, MORE), CLOSED(3, 0) } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_chains, related_members_refer_to_the_one_before)
{
	static const struct conversation cases[] = {
		{ "CREATE, QUERY_INFO, CLOSE", 9, .steps = { CHAIN } },
		{ "the first is related", 9, .steps = { CREATE(1, IS_RELATED) }, .broken = { SMB_RULE_C13 } },
		{ "FileId 0 in a later member", 9,
		  .steps = { CREATE(1, MORE), SEND(.command = SMB2_IOCTL, .id = 2, MORE, IS_RELATED),
			     CLOSE(3, RELATED) },
		  .broken = { SMB_RULE_C13 } },
		{ "FileId all ones in IOCTL of a chain", 9,
		  .steps = { CREATE(1, MORE), SEND(.command = SMB2_IOCTL, .id = 2, MORE, RELATED),
			     CLOSE(3, RELATED) } },
		{ "a real FileId in FLUSH of a related chain", 9,
		  .steps = { QUERY(1, .fid = FID, MORE), SEND(.command = SMB2_FLUSH, .id = 2, .fid = FID, IS_RELATED) },
		  .broken = { SMB_RULE_C13 } },
		{ "unrelated members have their own FileIds", 9,
		  .steps = { QUERY(1, .fid = FID, MORE), QUERY(2, .fid = FID + 1) } },
		{ "mixed", 9, .steps = { CREATE(1, MORE), QUERY(2, RELATED, MORE), CLOSE(3, .fid = FID) },
		  .broken = { SMB_RULE_C13 } },
		{ "mixed the other way", 9, .steps = { CREATE(1, MORE), QUERY(2, .fid = FID, MORE), CLOSE(3, RELATED) },
		  .broken = { SMB_RULE_C13 } },
		{ "all ones without a member before", 9, .steps = { QUERY(1, .fid = UINT64_MAX) },
		  .broken = { SMB_RULE_C13 } },
		{ "IOCTL about no file", 9, .steps = { SEND(.command = SMB2_IOCTL, .id = 1, .fid = UINT64_MAX) } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_chains, members_fail_like_the_create_they_depend_on)
{
	static const struct conversation cases[] = {
		{ "all fail alike", 9,
		  .steps = { CHAIN, CREATED(1, 0, MORE, FAILS), QUERIED(2, 0, MORE, FAILS), CLOSED(3, 3, FAILS) } },
		{ "another error", 9,
		  .steps = { CHAIN, CREATED(1, 0, MORE, FAILS), QUERIED(2, 0, MORE, .status = STATUS_FILE_CLOSED),
			     CLOSED(3, 3, FAILS) },
		  .broken = { SMB_RULE_C14 } },
		{ "success after a failed CREATE", 9,
		  .steps = { CHAIN, CREATED(1, 0, MORE, FAILS), QUERIED(2, 0, MORE), CLOSED(3, 3, FAILS) },
		  .broken = { SMB_RULE_C14 } },
		{ "a failed member in the middle does not stop CLOSE", 9,
		  .steps = { CHAIN, CREATED(1, 0, MORE), QUERIED(2, 0, MORE, FAILS), CLOSED(3, 3) } },
		{ "unrelated members do not depend", 9,
		  .steps = { CREATE(1, MORE), QUERY(2, .fid = FID), CREATED(1, 0, MORE, FAILS), QUERIED(2, 2) } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_chains, members_are_answered_in_order)
{
	static const struct conversation cases[] = {
		{ "in one PDU", 9, .steps = { CHAIN, CREATED(1, 0, MORE), QUERIED(2, 0, MORE), CLOSED(3, 3) } },
		{ "split in three", 9, .steps = { CHAIN, CREATED(1, 1), QUERIED(2, 1), CLOSED(3, 1) } },
		{ "the last first", 9, .steps = { CHAIN, CLOSED(3, 1), CREATED(1, 1), QUERIED(2, 1) },
		  .broken = { SMB_RULE_C15 } },
		{ "swapped in one PDU", 9, .steps = { CHAIN, CREATED(1, 0, MORE), CLOSED(3, 0, MORE), QUERIED(2, 3) },
		  .broken = { SMB_RULE_C15 } },
		{ "one member without an answer", 9,
		  .steps = { CHAIN, CREATED(1, 0, MORE), QUERIED(2, 0), { .kind = STEP_IDLE } },
		  .broken = { SMB_RULE_C7 } },
		{ "unrelated members in any order", 9,
		  .steps = { QUERY(1, .fid = FID, MORE), QUERY(2, .fid = FID), QUERIED(2, 1), QUERIED(1, 1) } },
	};
	CONVERSATIONS_CHECK(cases);
}

#define NEXT_COMMAND 20

/* Build a chain of CREATE and CLOSE of one direction, change its first NextCommand, and show it to a monitor that
 * knows of its ids. Returns the rule found, 0 = none. */
static enum smb_rule bent_chain(bool reply, int32_t change, uint32_t cut)
{
	static const struct conversation setup = { .name = "bent", .credits = 9 };
	const struct step chain[] = { CREATE(1, MORE), CLOSE(2, RELATED) };
	const struct step answer[] = { CREATED(1, 1, MORE), CLOSED(2, 1) };
	struct traffic traffic = { 0 };
	uint8_t bytes[1024];

	traffic_start(&traffic, &setup);
	uint32_t length = traffic.writer.used;
	traffic_play(&traffic, chain, 2);
	if (reply)
		traffic_play(&traffic, answer, 2);
	cr_assert_eq(traffic.count, 0);
	/* The builder starts afresh but leaves the bytes of what it built last. */
	uint32_t next;
	memcpy(&next, traffic.bytes + NEXT_COMMAND, 4);
	length = next + SMB2_HEADER_SIZE + (reply ? 60 : 24) - cut;
	memcpy(bytes, traffic.bytes, length);
	next += (uint32_t)change;
	memcpy(bytes + NEXT_COMMAND, &next, 4);
	traffic_stop(&traffic);

	struct smb_pdu pdu = { .bytes = bytes, .length = length };
	traffic_start(&traffic, &setup);
	if (reply)
		traffic_play(&traffic, chain, 2);
	if (reply)
		smb_monitor_received(traffic.monitor, 0, &pdu, 0);
	else
		smb_monitor_sent(traffic.monitor, 0, &pdu, 0);
	enum smb_rule found = traffic.count ? traffic.found[0] : 0;
	traffic_stop(&traffic);
	return found;
}

Test(monitor_chains, next_command_leads_to_the_next_header)
{
	static const struct {
		int32_t change;
		uint32_t cut;
		enum smb_rule found;
	} cases[] = {
		{ 0, 0, 0 },
		{ 4, 0, SMB_RULE_C12 }, /* not a multiple of 8 */
		{ 8, 0, SMB_RULE_C12 }, /* no header there */
		{ 1 << 20, 0, SMB_RULE_C12 }, /* past the PDU */
		{ 0, 40, SMB_RULE_C12 }, /* the second header is cut */
	};
	for (uint32_t reply = 0; reply < 2; reply++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			uint32_t cut = cases[i].cut ? cases[i].cut + (reply ? 40 : 0) : 0;
			enum smb_rule found = bent_chain(reply, cases[i].change, cut);
			cr_expect_eq(found, cases[i].found, "%s, case %zu: C%d", reply ? "reply" : "request", i, found);
		}
	}
}
