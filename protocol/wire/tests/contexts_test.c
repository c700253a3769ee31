/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/contexts.h"
#include "protocol/wire/names.h"

#include <criterion/criterion.h>
#include <string.h>

Test(names, ascii_becomes_utf16_and_comes_back)
{
	static const char *const names[] = { "", "a", "\\\\server\\share", "dir\\file.txt" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint8_t bytes[64];
		char back[64];
		struct smb_blob name;
		cr_assert_eq(smb_utf16_from_ascii(names[i], bytes, sizeof(bytes), &name), SMB_WIRE_OK);
		cr_expect_eq(name.length, 2 * strlen(names[i]));
		cr_expect(smb_utf16_equals_ascii(name, names[i]));
		cr_expect(!smb_utf16_equals_ascii(name, "b"));
		cr_assert_eq(smb_ascii_from_utf16(name, back, sizeof(back)), SMB_WIRE_OK);
		cr_expect_str_eq(back, names[i]);
	}
}

Test(names, room_is_respected_to_the_byte)
{
	uint8_t bytes[8];
	char back[4];
	struct smb_blob name;
	cr_assert_eq(smb_utf16_from_ascii("abcd", bytes, 7, &name), SMB_WIRE_NO_SPACE);
	cr_assert_eq(smb_utf16_from_ascii("abcd", bytes, 8, &name), SMB_WIRE_OK);
	cr_assert_eq(smb_ascii_from_utf16(name, back, 4), SMB_WIRE_NO_SPACE);
	cr_assert_eq(smb_ascii_from_utf16(name, back, 0), SMB_WIRE_NO_SPACE);
	name.length = 6;
	cr_assert_eq(smb_ascii_from_utf16(name, back, 4), SMB_WIRE_OK);
	cr_assert_str_eq(back, "abc");
}

Test(names, what_is_not_ascii_is_refused)
{
	static const struct {
		uint8_t bytes[4];
		uint32_t length;
	} cases[] = {
		{ { 'a', 0, 'b' }, 3 },
		{ { 'a', 1 }, 2 },
		{ { 0, 0 }, 2 },
		{ { 0x80, 0 }, 2 },
	};
	char back[8];
	uint8_t bytes[16];
	struct smb_blob name;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		name = (struct smb_blob){ cases[i].bytes, cases[i].length };
		cr_expect_eq(smb_ascii_from_utf16(name, back, sizeof(back)), SMB_WIRE_BAD_VALUE, "case %zu", i);
	}
	cr_assert_eq(smb_utf16_from_ascii("caf\xc3\xa9", bytes, sizeof(bytes), &name), SMB_WIRE_BAD_VALUE);
}

Test(contexts, preauth_salt_is_found_after_any_number_of_hashes)
{
	static const uint8_t salt[SMB2_PREAUTH_SALT_SIZE] = "salt";
	uint8_t data[SMB2_PREAUTH_CONTEXT_SIZE];
	struct smb2_context context = smb2_preauth_context(salt, data);
	struct smb_blob found;
	cr_assert_eq(smb2_preauth_read(&context, &found), SMB_WIRE_OK);
	cr_assert_eq(found.length, SMB2_PREAUTH_SALT_SIZE);
	cr_assert_arr_eq(found.data, salt, sizeof(salt));
	for (context.data.length = 0; context.data.length < sizeof(data); context.data.length++)
		cr_expect_neq(smb2_preauth_read(&context, &found), SMB_WIRE_OK, "%u bytes", context.data.length);

	static const uint8_t two[] = { 2, 0, 1, 0, 9, 0, 1, 0, 0x55 };
	context.data = (struct smb_blob){ two, sizeof(two) };
	cr_assert_eq(smb2_preauth_read(&context, &found), SMB_WIRE_OK);
	cr_assert_eq(found.data[0], 0x55);
	static const uint8_t other[] = { 1, 0, 0, 0, 9, 0 };
	context.data = (struct smb_blob){ other, sizeof(other) };
	cr_assert_eq(smb2_preauth_read(&context, &found), SMB_WIRE_BAD_VALUE);
}

Test(contexts, algorithms_come_back_in_order)
{
	struct smb2_algorithms list = { 3, { 2, 4, 1 } }, found;
	uint8_t data[SMB2_ALGORITHMS_SIZE(9)];
	struct smb2_context context = smb2_algorithms_context(SMB2_ENCRYPTION_CAPABILITIES, &list, data);
	cr_assert_eq(smb2_algorithms_read(&context, &found), SMB_WIRE_OK);
	cr_assert_eq(found.count, 3);
	cr_assert_arr_eq(found.ids, list.ids, 3 * sizeof(list.ids[0]));
	cr_assert_eq(smb2_negotiate_context_find(&context, 1, SMB2_ENCRYPTION_CAPABILITIES), &context);
	cr_assert_null(smb2_negotiate_context_find(&context, 1, SMB2_SIGNING_CAPABILITIES));

	context.data.length = 7;
	cr_assert_eq(smb2_algorithms_read(&context, &found), SMB_WIRE_TRUNCATED);
	context.data.length = 2;
	cr_assert_eq(smb2_algorithms_read(&context, &found), SMB_WIRE_BAD_VALUE);
	data[0] = 9;
	context.data.length = sizeof(data);
	cr_assert_eq(smb2_algorithms_read(&context, &found), SMB_WIRE_TOO_MANY);
	data[0] = 0;
	cr_assert_eq(smb2_algorithms_read(&context, &found), SMB_WIRE_BAD_VALUE);
}

Test(contexts, a_lease_has_two_versions)
{
	for (int v2 = 0; v2 <= 1; v2++) {
		struct smb2_lease found, lease = {
			.is_v2 = v2,
			.key = "key",
			.state = SMB2_LEASE_READ_CACHING | SMB2_LEASE_HANDLE_CACHING,
			.flags = 2,
			.epoch = v2 ? 9 : 0,
		};
		uint8_t data[SMB2_LEASE_V2_SIZE];
		if (v2)
			memcpy(lease.parent_key, "parent", 6);
		struct smb2_context context = smb2_lease_context(&lease, data);
		cr_assert_eq(smb2_create_context_find(&context, 1, "RqLs"), &context);
		cr_assert_null(smb2_create_context_find(&context, 1, "RqLx"));
		cr_assert_eq(context.data.length, v2 ? 52 : 32);
		cr_assert_eq(smb2_lease_read(&context, &found), SMB_WIRE_OK);
		cr_assert_eq(found.is_v2, v2);
		cr_assert_arr_eq(found.key, lease.key, 16);
		cr_assert_eq(found.state, lease.state);
		cr_assert_eq(found.flags, lease.flags);
		cr_assert_arr_eq(found.parent_key, lease.parent_key, 16);
		cr_assert_eq(found.epoch, lease.epoch);
		context.data.length--;
		cr_assert_eq(smb2_lease_read(&context, &found), SMB_WIRE_BAD_VALUE);
	}
}

Test(contexts, durable_handle_access_and_file_number_come_back)
{
	struct smb2_durable_v2 found, durable = { .timeout_ms = 30000, .flags = 2, .create_guid = "guid" };
	uint8_t data[SMB2_DURABLE_V2_SIZE];
	struct smb2_context context = smb2_durable_v2_context(&durable, data);
	cr_assert_eq(smb2_durable_v2_read(&context, &found), SMB_WIRE_OK);
	cr_assert_eq(found.timeout_ms, 30000);
	cr_assert_eq(found.flags, 2);
	cr_assert_arr_eq(found.create_guid, durable.create_guid, 16);
	context.data.length--;
	cr_assert_eq(smb2_durable_v2_read(&context, &found), SMB_WIRE_BAD_VALUE);

	uint32_t access;
	context = smb2_maximal_access_context(0x1f01ff, data);
	cr_assert_eq(smb2_maximal_access_read(&context, &access), SMB_WIRE_OK);
	cr_assert_eq(access, 0x1f01ff);
	data[0] = 1;
	cr_assert_eq(smb2_maximal_access_read(&context, &access), SMB_WIRE_BAD_VALUE);

	uint64_t file, volume;
	context = smb2_disk_id_context(UINT64_C(1) << 40, 7, data);
	cr_assert_eq(smb2_disk_id_read(&context, &file, &volume), SMB_WIRE_OK);
	cr_assert_eq(file, UINT64_C(1) << 40);
	cr_assert_eq(volume, 7);
	context = smb2_query_context("QFid");
	cr_assert_eq(smb2_disk_id_read(&context, &file, &volume), SMB_WIRE_BAD_VALUE);
}

static const struct smb2_network_interface interfaces[] = {
	{ .index = 3, .capability = 1, .link_speed_bps = 40000000000u, .port = 445, .address = { 192, 168, 7, 1 } },
	{ .index = 4, .capability = 3, .is_ipv6 = true, .address = { 0xfd, [15] = 9 } },
	{ .index = 5, .address = { 10, 0, 0, 1 } },
};

#define INTERFACE_SIZE 152u

Test(interfaces, come_back_as_they_were)
{
	uint8_t bytes[3 * INTERFACE_SIZE];
	struct smb2_network_interface found[3];
	uint32_t used, count = 3;
	cr_assert_eq(smb2_interfaces_encode(interfaces, 3, bytes, sizeof(bytes), &used), SMB_WIRE_OK);
	cr_assert_eq(used, sizeof(bytes));
	cr_assert_eq(smb2_interfaces_decode((struct smb_blob){ bytes, used }, found, &count), SMB_WIRE_OK);
	cr_assert_eq(count, 3);
	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(found[i].index, interfaces[i].index);
		cr_expect_eq(found[i].capability, interfaces[i].capability);
		cr_expect_eq(found[i].link_speed_bps, interfaces[i].link_speed_bps);
		cr_expect_eq(found[i].is_ipv6, interfaces[i].is_ipv6);
		cr_expect_eq(found[i].port, interfaces[i].port);
		cr_expect_arr_eq(found[i].address, interfaces[i].address, 16);
	}
	cr_assert_eq(smb2_interfaces_encode(interfaces, 3, bytes, sizeof(bytes) - 1, &used), SMB_WIRE_NO_SPACE);
	cr_assert_eq(smb2_interfaces_encode(NULL, 0, bytes, 0, &used), SMB_WIRE_OK);
	cr_assert_eq(used, 0);
	cr_assert_eq(smb2_interfaces_decode((struct smb_blob){ NULL, 0 }, found, &count), SMB_WIRE_OK);
	cr_assert_eq(count, 0);
}

Test(interfaces, hostile_lists_get_a_verdict)
{
	static const struct {
		const char *what;
		uint32_t position, value, length, room;
		enum smb_wire_verdict verdict;
		uint32_t count;
	} cases[] = {
		{ "good", 4, 3, 3 * INTERFACE_SIZE, 3, SMB_WIRE_OK, 3 },
		{ "little room", 4, 3, 3 * INTERFACE_SIZE, 2, SMB_WIRE_TOO_MANY, 2 },
		{ "cut in the last", 4, 3, 3 * INTERFACE_SIZE - 1, 3, SMB_WIRE_TRUNCATED, 2 },
		{ "cut in the first", 4, 3, 1, 3, SMB_WIRE_TRUNCATED, 0 },
		{ "next in this entry", 0, 144, 3 * INTERFACE_SIZE, 3, SMB_WIRE_BAD_OFFSET, 0 },
		{ "next not aligned", 0, 153, 3 * INTERFACE_SIZE, 3, SMB_WIRE_BAD_OFFSET, 0 },
		{ "next behind the end", 0, 0xfffffff8, 3 * INTERFACE_SIZE, 3, SMB_WIRE_TRUNCATED, 0 },
		{ "ends early", INTERFACE_SIZE, 0, 3 * INTERFACE_SIZE, 3, SMB_WIRE_OK, 2 },
		{ "unknown family is skipped", 24, 0x1234, 3 * INTERFACE_SIZE, 2, SMB_WIRE_OK, 2 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[3 * INTERFACE_SIZE];
		struct smb2_network_interface found[3];
		uint32_t used, count = cases[i].room;
		cr_assert_eq(smb2_interfaces_encode(interfaces, 3, bytes, sizeof(bytes), &used), SMB_WIRE_OK);
		for (uint32_t b = 0; b < 4; b++)
			bytes[cases[i].position + b] = (uint8_t)(cases[i].value >> 8 * b);
		struct smb_blob blob = { bytes, cases[i].length };
		cr_expect_eq(smb2_interfaces_decode(blob, found, &count), cases[i].verdict, "%s", cases[i].what);
		cr_expect_eq(count, cases[i].count, "%s", cases[i].what);
	}
}

Test(names_of_things, are_never_null)
{
	cr_assert_str_eq(smb_wire_verdict_name(SMB_WIRE_BAD_NEXT_COMMAND), "bad NextCommand");
	for (unsigned int i = 0; i < 300; i++)
		cr_assert_not_null(smb_wire_verdict_name((enum smb_wire_verdict)i));
	cr_assert_str_eq(smb2_command_name(SMB2_QUERY_DIRECTORY), "QUERY_DIRECTORY");
	cr_assert_str_eq(smb2_command_name(0x13), "UNKNOWN");
	cr_assert_str_eq(smb2_command_name(0xffff), "UNKNOWN");
}
