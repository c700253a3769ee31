/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* QUERY_INFO, SET_INFO, QUERY_DIRECTORY. */

#include "sim/server/tests/harness.h"

static uint64_t get(const uint8_t *p, int bytes)
{
	uint64_t value = 0;

	for (int i = bytes - 1; i >= 0; i--)
		value = value << 8 | p[i];
	return value;
}

Test(info, classes_have_their_size_and_need_their_room)
{
	static const struct {
		uint8_t type, class;
		uint32_t length, fixed; /* of "\\small", share "share" */
	} cases[] = {
		{ 1, 4, 40, 40 },  { 1, 5, 24, 24 }, { 1, 6, 8, 8 },   { 1, 7, 4, 4 },	    { 1, 8, 4, 4 },
		{ 1, 14, 8, 8 },   { 1, 16, 4, 4 },  { 1, 17, 4, 4 },  { 1, 18, 112, 100 }, { 1, 22, 38, 24 },
		{ 1, 34, 56, 56 }, { 1, 35, 8, 8 },  { 1, 48, 16, 4 }, { 2, 1, 28, 18 },    { 2, 3, 24, 24 },
		{ 2, 4, 8, 8 },	   { 2, 5, 20, 12 }, { 2, 7, 32, 32 }, { 2, 11, 28, 28 },   { 3, 0, 20, 20 },
	};
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "small");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct t_reply *reply = t_query_info(t, id, cases[i].type, cases[i].class, 4096);
		cr_assert_eq(t_status(reply), STATUS_SUCCESS, "case %zu", i);
		cr_assert_eq(reply->length, cases[i].length, "case %zu: %u", i, reply->length);
		reply = t_query_info(t, id, cases[i].type, cases[i].class, cases[i].fixed - 1);
		cr_assert_eq(t_status(reply), 0xc0000004u, "case %zu: too little room", i);
		if (cases[i].fixed == cases[i].length)
			continue;
		reply = t_query_info(t, id, cases[i].type, cases[i].class, cases[i].fixed);
		cr_assert_eq(t_status(reply), STATUS_BUFFER_OVERFLOW, "case %zu", i);
		cr_assert_eq(reply->length, cases[i].fixed, "case %zu", i);
	}
	cr_assert_eq(t_status(t_query_info(t, id, 1, 99, 4096)), STATUS_INVALID_INFO_CLASS);
	cr_assert_eq(t_status(t_query_info(t, id, 2, 99, 4096)), STATUS_INVALID_INFO_CLASS);
	cr_assert_eq(t_status(t_query_info(t, id, 9, 4, 4096)), STATUS_INVALID_PARAMETER);
	t_free(t);
}

Test(info, all_information_tells_the_file)
{
	struct t *t = t_new();

	t_mount(t);
	struct t_reply *reply = t_query_info(t, t_open(t, "dir\\inner"), 1, 18, 4096);
	cr_assert_eq(get(reply->bytes + 32, 4), 0x80u);
	cr_assert_eq(get(reply->bytes + 40, 8), 4096u);
	cr_assert_eq(get(reply->bytes + 48, 8), 100u);
	cr_assert_eq(get(reply->bytes + 56, 4), 1u);
	cr_assert_eq(get(reply->bytes + 76, 4), 0x1f01ffu, "rights of the handle");
	cr_assert_eq(get(reply->bytes + 96, 4), 20u);
	struct smb_blob name = t_utf16("\\dir\\inner");
	cr_assert_eq(memcmp(reply->bytes + 100, name.data, name.length), 0);
	t_free(t);
}

static uint32_t rename_buffer(uint8_t *buffer, const char *name, bool replace)
{
	struct smb_blob text = t_utf16(name);

	memset(buffer, 0, 20);
	buffer[0] = replace;
	buffer[16] = (uint8_t)text.length;
	memcpy(buffer + 20, text.data, text.length);
	return 20 + text.length;
}

static uint32_t rename_to(struct t *t, struct smb2_file_id id, uint8_t class, const char *name, bool replace)
{
	uint8_t buffer[256];
	uint32_t length = rename_buffer(buffer, name, replace);

	return t_status(t_set_info(t, id, class, buffer, length));
}

static uint32_t exists(struct t *t, const char *name)
{
	struct t_reply *reply = t_create(t, name, 1, 0);
	uint32_t status = t_status(reply);

	if (!status)
		t_close(t, reply->message.body.create_rsp.file_id);
	return status;
}

Test(info, rename_moves_a_name)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "small");
	cr_assert_eq(rename_to(t, id, 10, "dir\\moved", false), STATUS_SUCCESS);
	cr_assert_eq(exists(t, "small"), STATUS_OBJECT_NAME_NOT_FOUND);
	cr_assert_eq(exists(t, "dir\\moved"), STATUS_SUCCESS);
	cr_assert_eq(rename_to(t, id, 10, "void\\x", false), STATUS_OBJECT_PATH_NOT_FOUND);
	cr_assert_eq(rename_to(t, id, 10, "file", false), STATUS_OBJECT_NAME_COLLISION);
	cr_assert_eq(rename_to(t, id, 10, "dir", true), STATUS_ACCESS_DENIED, "a directory is not replaced");
	cr_assert_eq(rename_to(t, id, 10, "dir\\Moved", false), STATUS_SUCCESS, "only the case");
	cr_assert_eq(rename_to(t, id, 10, "file", true), STATUS_SUCCESS);
	struct t_reply *reply = t_create(t, "file", 1, 0);
	cr_assert_eq(reply->message.body.create_rsp.end_of_file, 10u, "the old file is gone");
	struct smb2_file_id dir = t_open(t, "dir");
	cr_assert_eq(rename_to(t, dir, 10, "dir\\below", false), STATUS_ACCESS_DENIED);
	cr_assert_eq(rename_to(t, dir, 10, "renamed", false), STATUS_SUCCESS);
	cr_assert_eq(exists(t, "renamed\\inner"), STATUS_SUCCESS);
	t_free(t);
}

Test(info, a_hard_link_keeps_the_file)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "small");
	cr_assert_eq(rename_to(t, id, 11, "link", false), STATUS_SUCCESS);
	cr_assert_eq(rename_to(t, id, 11, "link", false), STATUS_OBJECT_NAME_COLLISION);
	struct t_reply *reply = t_query_info(t, id, 1, 5, 24);
	cr_assert_eq(get(reply->bytes + 16, 4), 2u, "two links");
	t_close(t, id);
	reply = t_create(t, "small", 1, 0x1000);
	t_close(t, reply->message.body.create_rsp.file_id);
	cr_assert_eq(exists(t, "small"), STATUS_OBJECT_NAME_NOT_FOUND);
	id = t_open(t, "link");
	reply = t_read(t, id, 0, 10);
	cr_assert_eq(reply->message.body.read_rsp.payload.source, 9u);
	cr_assert_eq(rename_to(t, t_open(t, "dir"), 11, "dirlink", false), STATUS_FILE_IS_A_DIRECTORY);
	t_free(t);
}

Test(info, disposition_deletes_at_the_last_close)
{
	struct t *t = t_new();
	uint8_t on = 1, off = 0;

	t_mount(t);
	struct smb2_file_id id = t_open(t, "small");
	cr_assert_eq(t_status(t_set_info(t, id, 13, &on, 1)), STATUS_SUCCESS);
	cr_assert_eq(exists(t, "small"), STATUS_DELETE_PENDING);
	cr_assert_eq(t_status(t_set_info(t, id, 13, &off, 1)), STATUS_SUCCESS);
	cr_assert_eq(exists(t, "small"), STATUS_SUCCESS);
	t_set_info(t, id, 13, &on, 1);
	t_close(t, id);
	cr_assert_eq(exists(t, "small"), STATUS_OBJECT_NAME_NOT_FOUND);
	cr_assert_eq(t_status(t_set_info(t, t_open(t, "dir"), 13, &on, 1)), STATUS_DIRECTORY_NOT_EMPTY);
	cr_assert_eq(t_status(t_set_info(t, t_open(t, ""), 13, &on, 1)), 0xc0000121u);
	t_free(t);
}

Test(info, times_and_attributes_are_set)
{
	struct t *t = t_new();
	uint8_t basic[40] = { 0 };

	t_mount(t);
	struct smb2_file_id id = t_open(t, "small");
	memset(basic + 8, 0xff, 8); /* -1: leave alone */
	basic[16] = 42;
	basic[32] = 0x02;
	uint64_t access = get(t_query_info(t, id, 1, 4, 40)->bytes + 8, 8);
	cr_assert_eq(t_status(t_set_info(t, id, 4, basic, 40)), STATUS_SUCCESS);
	struct t_reply *reply = t_query_info(t, id, 1, 4, 40);
	cr_assert_eq(get(reply->bytes + 8, 8), access);
	cr_assert_eq(get(reply->bytes + 16, 8), 42u);
	cr_assert_eq(get(reply->bytes + 32, 4), 2u);
	cr_assert_eq(t_status(t_set_info(t, id, 4, basic, 20)), 0xc0000004u);
	cr_assert_eq(t_status(t_set_info(t, id, 99, basic, 40)), STATUS_INVALID_INFO_CLASS);
	t_free(t);
}

Test(info, end_of_file_cuts_and_extends)
{
	struct t *t = t_new();
	uint8_t size[8] = { 4 };

	t_mount(t);
	struct smb2_file_id id = t_open(t, "small");
	cr_assert_eq(t_status(t_set_info(t, id, 20, size, 8)), STATUS_SUCCESS);
	cr_assert_eq(t_read(t, id, 0, 100)->message.body.read_rsp.data_length, 4u);
	size[0] = 8;
	cr_assert_eq(t_status(t_set_info(t, id, 20, size, 8)), STATUS_SUCCESS);
	struct t_reply *reply = t_read(t, id, 4, 100);
	cr_assert_eq(reply->message.body.read_rsp.data_length, 4u);
	cr_assert_eq(reply->message.body.read_rsp.payload.source, 0u, "zeros");
	size[7] = 0x80;
	cr_assert_eq(t_status(t_set_info(t, id, 20, size, 8)), STATUS_INVALID_PARAMETER);
	t_free(t);
}

static struct t_reply *list(struct t *t, struct smb2_file_id id, uint8_t class, uint8_t flags, const char *pattern,
			    uint32_t room)
{
	struct smb2_message message = t_request(t, 0, SMB2_QUERY_DIRECTORY, SMB2_BODY_QUERY_DIRECTORY_REQ);

	message.body.query_directory_req = (struct smb2_query_directory_req){ .information_class = class,
									      .flags = flags,
									      .file_id = id,
									      .output_buffer_length = room,
									      .pattern = t_utf16(pattern) };
	return t_ask(t, 0, &message);
}

/* Entries of a reply, names joined by blanks. */
static uint32_t entries(const struct t_reply *reply, uint32_t fixed, uint32_t length_at, char *names)
{
	uint32_t position = 0, count = 0, next;

	*names = 0;
	do {
		const uint8_t *entry = reply->bytes + position;
		uint32_t length = (uint32_t)get(entry + length_at, 4);
		cr_assert_leq(position + fixed + length, reply->length);
		for (uint32_t i = 0; i < length; i += 2)
			strncat(names, (const char *)entry + fixed + i, 1);
		strcat(names, " ");
		next = (uint32_t)get(entry, 4);
		position += next;
		count++;
	} while (next);
	return count;
}

Test(info, directories_are_listed_in_every_class)
{
	static const struct {
		uint8_t class;
		uint32_t fixed, length_at;
	} cases[] = { { 1, 64, 60 }, { 2, 68, 60 }, { 3, 94, 60 }, { 12, 12, 8 }, { 37, 104, 60 }, { 38, 80, 60 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct t *t = t_new();
		char names[256];
		t_mount(t);
		struct smb2_file_id id = t_open(t, "");
		struct t_reply *reply = list(t, id, cases[i].class, 0, "*", 4096);
		cr_assert_eq(t_status(reply), STATUS_SUCCESS);
		cr_assert_eq(entries(reply, cases[i].fixed, cases[i].length_at, names), 5u);
		cr_assert_str_eq(names, ". .. dir file small ");
		cr_assert_eq(t_status(list(t, id, cases[i].class, 0, "*", 4096)), STATUS_NO_MORE_FILES);
		cr_assert_eq(t_status(list(t, id, cases[i].class, 1, "*", 4096)), STATUS_SUCCESS, "restart");
		t_free(t);
	}
}

Test(info, a_listing_goes_on_where_it_stopped)
{
	struct t *t = t_new();
	char names[256], all[1024] = "";

	t_mount(t);
	struct smb2_file_id id = t_open(t, "");
	for (int i = 0; i < 5; i++) {
		struct t_reply *reply = list(t, id, 37, 2, "*", 4096); /* RETURN_SINGLE_ENTRY */
		cr_assert_eq(entries(reply, 104, 60, names), 1u);
		strcat(all, names);
	}
	cr_assert_str_eq(all, ". .. dir file small ");
	cr_assert_eq(t_status(list(t, id, 37, 0, "*", 4096)), STATUS_NO_MORE_FILES);
	id = t_open(t, "");
	cr_assert_eq(t_status(list(t, id, 37, 0, "*", 100)), 0xc0000004u, "no room for one entry");
	cr_assert_eq(entries(list(t, id, 37, 0, "*", 250), 104, 60, names), 2u);
	cr_assert_eq(entries(list(t, id, 37, 0, "*", 4096), 104, 60, names), 3u);
	t_free(t);
}

Test(info, a_listing_survives_that_its_next_entry_is_deleted)
{
	struct t *t = t_new();
	char names[256];

	t_mount(t);
	struct smb2_file_id id = t_open(t, "");
	for (int i = 0; i < 3; i++)
		list(t, id, 37, 2, "*", 4096);
	struct t_reply *reply = t_create(t, "file", 1, 0x1000);
	t_close(t, reply->message.body.create_rsp.file_id);
	entries(list(t, id, 37, 0, "*", 4096), 104, 60, names);
	cr_assert_str_eq(names, "small ");
	t_free(t);
}

Test(info, patterns_select)
{
	static const struct {
		const char *pattern, *expect;
	} cases[] = {
		{ "*", ". .. dir file small " }, { "f*", "file " },   { "?ile", "file " }, { "SMALL", "small " },
		{ "*l*", "file small " },	 { "*ll", "small " }, { "d?r", "dir " },   { "s*a*l", "small " },
	};
	struct t *t = t_new();
	char names[256];

	t_mount(t);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct smb2_file_id id = t_open(t, "");
		entries(list(t, id, 37, 0, cases[i].pattern, 4096), 104, 60, names);
		cr_assert_str_eq(names, cases[i].expect, "%s", cases[i].pattern);
		t_close(t, id);
	}
	struct smb2_file_id id = t_open(t, "");
	cr_assert_eq(t_status(list(t, id, 37, 0, "nothing", 4096)), STATUS_NO_SUCH_FILE);
	cr_assert_eq(t_status(list(t, id, 77, 0, "*", 4096)), STATUS_INVALID_INFO_CLASS);
	cr_assert_eq(t_status(list(t, t_open(t, "file"), 37, 0, "*", 4096)), STATUS_INVALID_PARAMETER);
	t_free(t);
}
