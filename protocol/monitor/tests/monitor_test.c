/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/tests/traffic.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ECHO(number) SEND(.command = SMB2_ECHO, .id = number)
#define ECHOED(number) REPLY(.command = SMB2_ECHO, .id = number)
#define READ(number) SEND(.command = SMB2_READ, .id = number, .fid = FID, .length = 1000)

static const struct conversation plain = { .name = "plain", .credits = 99 };

static bool file_has(const char *path, size_t length, const char *text)
{
	char name[512], line[512];
	bool found = false;

	snprintf(name, sizeof(name), "%s/%.*s", SMB_SOURCE_DIR, (int)length, path);
	FILE *file = fopen(name, "r");
	cr_assert_not_null(file, "%s", name);
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, text);
	fclose(file);
	return found;
}

/** The file that keeps a rule and the test that breaks it are really there. */
static void expect_to_exist(const struct smb_rule_info *info)
{
	const char *colon = info->test ? strchr(info->test, ':') : NULL;

	if (!info->where)
		return;
	cr_expect(file_has(info->where, strlen(info->where), "SPDX"));
	cr_assert_not_null(colon, "%s", info->test);
	cr_expect(file_has(info->test, (size_t)(colon - info->test), colon + 2), "%s: no test %s", info->name,
		  info->test);
}

Test(monitor, every_rule_is_described)
{
	uint32_t judged = 0;
	for (int i = 0; i <= SMB_RULE_MAX; i++) {
		const struct smb_rule_info *info = smb_rule_info((enum smb_rule)i);
		if (!info)
			continue;
		judged++;
		cr_expect_eq(info->rule, i);
		cr_expect_eq(atoi(info->name + 1), i);
		cr_expect(info->meaning[0] && info->section[0]);
		cr_expect_eq(!info->where, !info->test);
		expect_to_exist(info);
	}
	cr_expect_eq(judged, 36);
	cr_expect_null(smb_rule_info(0));
	cr_expect_null(smb_rule_info(SMB_RULE_MAX));
}

Test(monitor, numbers_of_a_channel_are_counted_from_pdus)
{
	const struct step steps[] = {
		READ(1),
		READ(2),
		SEND(.command = SMB2_CREATE, .id = 3, .more = true),
		SEND(.command = SMB2_CLOSE, .id = 4, RELATED),
		REPLY(.command = SMB2_READ, .id = 1, .length = 1000, .credits = 5),
		REPLY(.command = SMB2_CREATE, .id = 3, .credits = 0),
		REPLY(.command = SMB2_CLOSE, .id = 4, .credits = 2),
	};
	struct traffic traffic = { 0 };
	struct smb_monitor_channel numbers;
	traffic_start(&traffic, &plain);
	traffic_play(&traffic, steps, 6);
	smb_monitor_look(traffic.monitor, 0, &numbers);
	cr_expect_eq(numbers.credits, 99 - 4 + 5);
	cr_expect_eq(numbers.in_flight, 2);
	cr_expect_eq(numbers.read_bytes_in_flight, 1000);
	cr_expect_eq(numbers.sent, 4);
	cr_expect_eq(numbers.received, 3);
	cr_expect_eq(numbers.pairs, 2, "NEGOTIATE and one READ; the chain is not done");
	traffic_play(&traffic, steps + 6, 1);
	smb_monitor_look(traffic.monitor, 0, &numbers);
	cr_expect_eq(numbers.pairs, 3);
	cr_expect_eq(numbers.in_flight, 1);
	traffic_stop(&traffic);
}

Test(monitor, a_violation_names_what_and_where)
{
	const struct step steps[] = { ECHO(1), ECHO(1) };
	struct traffic traffic = { 0 };
	traffic_start(&traffic, &plain);
	traffic_play(&traffic, steps, 2);
	cr_expect_eq(traffic.last.rule, SMB_RULE_C1);
	cr_expect_eq(traffic.last.event, 5);
	cr_expect_eq(traffic.last.when_ns, 1);
	cr_expect_eq(traffic.last.message_id, 1);
	cr_expect_eq(traffic.last.command, SMB2_ECHO);
	cr_expect_str_eq(traffic.last.text, "MessageId 1 was used before");
	traffic_stop(&traffic);
}

/* The block holds no address of itself: a copy goes on where the original stood. */
Test(monitor, a_copied_block_goes_on)
{
	const struct step before[] = { READ(1), READ(2), ECHO(3),
				       REPLY(.command = SMB2_READ, .id = 1, PENDING, .async_id = 4) };
	const struct step after[] = { REPLY(.command = SMB2_READ, .id = 1, ASYNC, .async_id = 4, .credits = 0,
					    .length = 9),
				      ECHOED(3), READ(2) };
	struct smb_monitor_limits limits = { .channels = 2, .requests = 64, .files = 4, .window = 1024 };
	struct traffic traffic = { 0 };
	traffic_start(&traffic, &plain);
	traffic_play(&traffic, before, 4);
	size_t size = smb_monitor_size(&limits);
	void *copy = malloc(size);
	memcpy(copy, traffic.monitor, size);
	memset(traffic.monitor, 0xaa, size);
	free(traffic.monitor);
	traffic.monitor = copy;
	cr_assert(smb_monitor_is_valid(traffic.monitor));
	traffic_play(&traffic, after, 3);
	cr_expect_eq(traffic.count, 1);
	cr_expect_eq(traffic.last.rule, SMB_RULE_C1);
	traffic_stop(&traffic);
}

Test(monitor, requests_beyond_the_table_are_counted_and_not_blamed)
{
	struct step steps[] = {
		{ .kind = STEP_SEND, .command = SMB2_ECHO, .charge = 1, .id = 1, .repeat = 7 },
		{ .kind = STEP_REPLY, .command = SMB2_ECHO, .credits = 1, .charge = 1, .id = 1, .repeat = 7 },
		{ .kind = STEP_IDLE },
	};
	struct traffic traffic = { .requests = 3 };
	struct smb_monitor_channel numbers;
	traffic_start(&traffic, &plain);
	traffic_play(&traffic, steps, 1);
	smb_monitor_look(traffic.monitor, 0, &numbers);
	cr_expect_eq(numbers.in_flight, 8);
	traffic_play(&traffic, steps + 1, 2);
	smb_monitor_look(traffic.monitor, 0, &numbers);
	cr_expect_eq(numbers.in_flight, 0);
	cr_expect_eq(traffic.count, 0, "C%d %s", traffic.last.rule, traffic.last.text);
	traffic_stop(&traffic);
}

Test(monitor, encrypted_traffic_is_counted_and_not_judged)
{
	static const uint8_t transform[52] = { 0xfd, 'S', 'M', 'B' };
	struct smb_pdu pdu = { .bytes = transform, .length = sizeof(transform) };
	const struct step steps[] = { ECHO(77), ECHOED(5), { .kind = STEP_IDLE } };
	struct traffic traffic = { 0 };
	struct smb_monitor_channel numbers;
	traffic_start(&traffic, &plain);
	cr_expect_eq(smb_monitor_sent(traffic.monitor, 0, &pdu, 0), 0);
	cr_expect_eq(smb_monitor_received(traffic.monitor, 0, &pdu, 0), 0);
	traffic_play(&traffic, steps, 3);
	smb_monitor_look(traffic.monitor, 0, &numbers);
	cr_expect_eq(numbers.sent, 3);
	cr_expect_eq(traffic.count, 0);
	traffic_stop(&traffic);
}

Test(monitor, an_smb1_negotiate_takes_id_0)
{
	static const uint8_t smb1[40] = { 0xff, 'S', 'M', 'B', 0x72 };
	struct smb_pdu pdu = { .bytes = smb1, .length = sizeof(smb1) };
	const struct step steps[] = { REPLY(.command = SMB2_NEGOTIATE, .length = 65536), ECHO(1) };
	struct traffic traffic = { 0 };
	traffic_start(&traffic, &plain);
	smb_monitor_connected(traffic.monitor, 0, 0);
	cr_expect_eq(smb_monitor_sent(traffic.monitor, 0, &pdu, 0), 0);
	traffic_play(&traffic, steps, 2);
	cr_expect_eq(traffic.count, 0, "C%d %s", traffic.last.rule, traffic.last.text);
	traffic_stop(&traffic);
}

Test(monitor, stays_valid_while_requests_of_smb1_are_in_flight)
{
	static const uint8_t smb1[40] = { 0xff, 'S', 'M', 'B', 0x72 };
	struct smb_pdu pdu = { .bytes = smb1, .length = sizeof(smb1) };
	struct traffic traffic = { 0 };
	traffic_start(&traffic, &plain);
	smb_monitor_connected(traffic.monitor, 0, 0);
	for (int i = 0; i < 3; i++) {
		smb_monitor_sent(traffic.monitor, 0, &pdu, 0);
		cr_expect(smb_monitor_is_valid(traffic.monitor), "request %d", i);
		if (i == 1)
			continue;
		smb_monitor_received(traffic.monitor, 0, &pdu, 0);
		cr_expect(smb_monitor_is_valid(traffic.monitor), "answer %d", i);
	}
	traffic_stop(&traffic);
}
