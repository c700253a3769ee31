/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* CREATE: dispositions, names, deleting, create contexts (MS-SMB2 3.3.5.9, MS-FSA 2.1.5.1). */

#include "sim/server/tests/harness.h"

enum { SUPERSEDE, OPEN, CREATE, OPEN_IF, OVERWRITE, OVERWRITE_IF };
#define DIRECTORY 0x01u
#define NON_DIRECTORY 0x40u
#define DELETE_ON_CLOSE 0x1000u

Test(create, names_and_dispositions)
{
	static const struct {
		const char *name;
		uint32_t disposition, options, status, action;
	} cases[] = {
		{ "file", OPEN, 0, STATUS_SUCCESS, 1 },
		{ "FILE", OPEN, 0, STATUS_SUCCESS, 1 }, /* without regard to case */
		{ "", OPEN, 0, STATUS_SUCCESS, 1 }, /* the root */
		{ "dir\\inner", OPEN, 0, STATUS_SUCCESS, 1 },
		{ "new1", OPEN, 0, STATUS_OBJECT_NAME_NOT_FOUND, 0 },
		{ "new1", OVERWRITE, 0, STATUS_OBJECT_NAME_NOT_FOUND, 0 },
		{ "new1", CREATE, 0, STATUS_SUCCESS, 2 },
		{ "new1", CREATE, 0, STATUS_OBJECT_NAME_COLLISION, 0 },
		{ "new2", OPEN_IF, 0, STATUS_SUCCESS, 2 },
		{ "new2", OPEN_IF, 0, STATUS_SUCCESS, 1 },
		{ "new3", OVERWRITE_IF, 0, STATUS_SUCCESS, 2 },
		{ "new3", OVERWRITE_IF, 0, STATUS_SUCCESS, 3 },
		{ "new4", SUPERSEDE, 0, STATUS_SUCCESS, 2 },
		{ "new4", SUPERSEDE, 0, STATUS_SUCCESS, 0 },
		{ "new4", OVERWRITE, 0, STATUS_SUCCESS, 3 },
		{ "new4", 6, 0, STATUS_INVALID_PARAMETER, 0 },
		{ "newdir", CREATE, DIRECTORY, STATUS_SUCCESS, 2 },
		{ "newdir", OPEN, DIRECTORY, STATUS_SUCCESS, 1 },
		{ "newdir\\a", CREATE, 0, STATUS_SUCCESS, 2 },
		{ "newdir\\b\\c", CREATE, 0, STATUS_OBJECT_PATH_NOT_FOUND, 0 },
		{ "void\\a", OPEN, 0, STATUS_OBJECT_PATH_NOT_FOUND, 0 },
		{ "file\\a", OPEN, 0, STATUS_OBJECT_PATH_NOT_FOUND, 0 },
		{ "dir", OPEN, NON_DIRECTORY, STATUS_FILE_IS_A_DIRECTORY, 0 },
		{ "dir", OVERWRITE, 0, STATUS_FILE_IS_A_DIRECTORY, 0 },
		{ "file", OPEN, DIRECTORY, STATUS_NOT_A_DIRECTORY, 0 },
		{ "file", OVERWRITE, DIRECTORY, STATUS_INVALID_PARAMETER, 0 },
		{ "file", OPEN, DIRECTORY | NON_DIRECTORY, STATUS_INVALID_PARAMETER, 0 },
		{ "dir", CREATE, DIRECTORY, STATUS_OBJECT_NAME_COLLISION, 0 },
		{ "\\file", OPEN, 0, STATUS_INVALID_PARAMETER, 0 },
		{ "dir\\\\inner", OPEN, 0, STATUS_OBJECT_NAME_INVALID, 0 },
		{ "dir\\", OPEN, 0, STATUS_OBJECT_NAME_INVALID, 0 },
		{ "a*b", CREATE, 0, STATUS_OBJECT_NAME_INVALID, 0 },
		{ "a:b", CREATE, 0, STATUS_OBJECT_NAME_INVALID, 0 },
		{ "a/b", CREATE, 0, STATUS_OBJECT_NAME_INVALID, 0 },
		{ "0123456789012345678901234567890123456789012345678901234567890", CREATE, 0,
		  STATUS_OBJECT_NAME_INVALID, 0 },
	};
	struct t *t = t_new();

	t_mount(t);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct t_reply *reply = t_create(t, cases[i].name, cases[i].disposition, cases[i].options);
		cr_assert_eq(t_status(reply), cases[i].status, "case %zu (%s): %x", i, cases[i].name, t_status(reply));
		if (cases[i].status)
			continue;
		cr_assert_eq(reply->message.body.create_rsp.create_action, cases[i].action, "case %zu", i);
		cr_assert_eq(t_status(t_close(t, reply->message.body.create_rsp.file_id)), STATUS_SUCCESS);
	}
	t_free(t);
}

Test(create, access_must_be_asked_for_and_suffice)
{
	static const struct {
		uint32_t access, create, read, write;
	} cases[] = {
		{ 0, STATUS_ACCESS_DENIED, 0, 0 },
		{ 0x00000001, STATUS_SUCCESS, STATUS_SUCCESS, STATUS_ACCESS_DENIED },
		{ 0x00000002, STATUS_SUCCESS, STATUS_ACCESS_DENIED, STATUS_SUCCESS },
		{ 0x00000080, STATUS_SUCCESS, STATUS_ACCESS_DENIED, STATUS_ACCESS_DENIED },
		{ 0x80000000, STATUS_SUCCESS, STATUS_SUCCESS, STATUS_ACCESS_DENIED },
		{ 0x40000000, STATUS_SUCCESS, STATUS_ACCESS_DENIED, STATUS_SUCCESS },
		{ 0x10000000, STATUS_SUCCESS, STATUS_SUCCESS, STATUS_SUCCESS },
		{ 0x02000000, STATUS_SUCCESS, STATUS_SUCCESS, STATUS_SUCCESS },
	};
	struct t *t = t_new();

	t_mount(t);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct smb2_message create = t_create_request(t, "file", OPEN, 0);
		create.body.create_req.desired_access = cases[i].access;
		struct t_reply *reply = t_ask(t, 0, &create);
		cr_assert_eq(t_status(reply), cases[i].create, "case %zu", i);
		if (cases[i].create)
			continue;
		struct smb2_file_id id = reply->message.body.create_rsp.file_id;
		cr_assert_eq(t_status(t_read(t, id, 0, 10)), cases[i].read, "case %zu", i);
		cr_assert_eq(t_status(t_write(t, id, 0, (struct smb_slice){ 7, 0, 10 })), cases[i].write, "case %zu",
			     i);
		t_close(t, id);
	}
	t_free(t);
}

Test(create, overwriting_empties_the_file)
{
	struct t *t = t_new();

	t_mount(t);
	struct t_reply *reply = t_create(t, "file", OPEN, 0);
	cr_assert_eq(reply->message.body.create_rsp.end_of_file, 10u << 20);
	cr_assert_eq(reply->message.body.create_rsp.allocation_size, 10u << 20);
	reply = t_create(t, "file", OVERWRITE, 0);
	cr_assert_eq(reply->message.body.create_rsp.end_of_file, 0u);
	cr_assert_eq(t_status(t_read(t, reply->message.body.create_rsp.file_id, 0, 10)), STATUS_END_OF_FILE);
	t_free(t);
}

Test(create, delete_on_close_waits_for_the_last_handle)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id other = t_open(t, "small");
	struct t_reply *reply = t_create(t, "small", OPEN, DELETE_ON_CLOSE);
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
	t_close(t, reply->message.body.create_rsp.file_id);
	cr_assert_eq(t_status(t_create(t, "small", OPEN, 0)), STATUS_DELETE_PENDING);
	cr_assert_eq(t_status(t_read(t, other, 0, 10)), STATUS_SUCCESS);
	t_close(t, other);
	cr_assert_eq(t_status(t_create(t, "small", OPEN, 0)), STATUS_OBJECT_NAME_NOT_FOUND);
	cr_assert_eq(t_status(t_create(t, "dir", OPEN, DELETE_ON_CLOSE)), STATUS_DIRECTORY_NOT_EMPTY);
	struct smb2_message create = t_create_request(t, "file", OPEN, DELETE_ON_CLOSE);
	create.body.create_req.desired_access = 1;
	cr_assert_eq(t_status(t_ask(t, 0, &create)), STATUS_INVALID_PARAMETER, "without the right to delete");
	t_free(t);
}

Test(create, close_tells_attributes_when_asked)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "small");
	struct smb2_message close = t_close_request(t, id);
	close.body.close_req.flags = 1;
	struct smb2_close_rsp *body = &t_ask(t, 0, &close)->message.body.close_rsp;
	cr_assert_eq(body->flags, 1);
	cr_assert_eq(body->end_of_file, 10u);
	cr_assert_eq(body->allocation_size, 4096u);
	cr_assert_eq(body->file_attributes, 0x80u);
	cr_assert_neq(body->times.creation_time, 0u);
	body = &t_close(t, t_open(t, "small"))->message.body.close_rsp;
	cr_assert_eq(body->flags, 0);
	cr_assert_eq(body->end_of_file, 0u);
	t_free(t);
}

static const struct smb2_context *context(const struct t_reply *reply, const char *name)
{
	const struct smb2_create_rsp *body = &reply->message.body.create_rsp;

	for (uint16_t i = 0; i < body->context_count; i++) {
		if (memcmp(body->contexts[i].name.data, name, 4) == 0)
			return &body->contexts[i];
	}
	return NULL;
}

static struct smb2_message leased(struct t *t, const char *name, uint8_t *lease, uint32_t length, uint8_t state)
{
	struct smb2_message create = t_create_request(t, name, OPEN_IF, 0);
	struct smb2_create_req *body = &create.body.create_req;

	memset(lease + 16, 0, length - 16);
	lease[16] = state;
	body->oplock_level = 0xff;
	body->contexts[body->context_count++] = (struct smb2_context){ .name = { (const uint8_t *)"RqLs", 4 },
								       .data = { lease, length } };
	body->contexts[body->context_count++] = (struct smb2_context){ .name = { (const uint8_t *)"DHnQ", 4 },
								       .data = { lease, 16 } };
	body->contexts[body->context_count++] = (struct smb2_context){ .name = { (const uint8_t *)"QFid", 4 } };
	body->contexts[body->context_count++] = (struct smb2_context){ .name = { (const uint8_t *)"MxAc", 4 } };
	return create;
}

Test(create, contexts_are_answered)
{
	static const uint32_t lengths[] = { 32, 52 };

	for (int i = 0; i < 2; i++) {
		struct t *t = t_new();
		uint8_t lease[52] = "key of 16 bytes.";
		t_mount(t);
		struct smb2_message create = leased(t, "file", lease, lengths[i], 7);
		struct t_reply *reply = t_ask(t, 0, &create);
		cr_assert_eq(t_status(reply), STATUS_SUCCESS);
		cr_assert_eq(reply->message.body.create_rsp.oplock_level, 0xff);
		cr_assert_eq(reply->message.body.create_rsp.context_count, 4);
		cr_assert(context(reply, "RqLs") && context(reply, "DHnQ") && context(reply, "QFid"));
		cr_assert_eq(context(reply, "RqLs")->data.length, lengths[i]);
		cr_assert_eq(context(reply, "QFid")->data.length, 32u);
		cr_assert_eq(context(reply, "MxAc")->data.length, 8u);
		t_free(t);
	}
}

Test(create, only_a_client_alone_with_a_file_may_cache_it)
{
	struct t *t = t_new();
	uint8_t mine[52] = "my own lease key", other[52] = "somebody elses k";

	t_mount(t);
	struct smb2_message create = leased(t, "file", mine, 52, 7);
	cr_assert_eq(t_ask(t, 0, &create)->message.body.create_rsp.oplock_level, 0xff);
	create = leased(t, "file", mine, 52, 7);
	cr_assert_eq(t_ask(t, 0, &create)->message.body.create_rsp.oplock_level, 0xff, "the same key");
	create = leased(t, "file", other, 52, 7);
	struct t_reply *reply = t_ask(t, 0, &create);
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
	cr_assert_eq(reply->message.body.create_rsp.oplock_level, 0);
	cr_assert_null(context(reply, "RqLs"));
	create = leased(t, "dir", other, 52, 7);
	cr_assert_eq(t_ask(t, 0, &create)->message.body.create_rsp.oplock_level, 0, "no directory leases");
	create = t_create_request(t, "small", OPEN, 0);
	create.body.create_req.oplock_level = 9;
	cr_assert_eq(t_ask(t, 0, &create)->message.body.create_rsp.oplock_level, 9);
	create = t_create_request(t, "small", OPEN, 0);
	create.body.create_req.oplock_level = 9;
	cr_assert_eq(t_ask(t, 0, &create)->message.body.create_rsp.oplock_level, 0);
	t_free(t);
}

Test(create, durable_reconnects_and_pipes_are_refused)
{
	struct t *t = t_new();
	uint8_t id[16] = { 1 };

	t_mount(t);
	struct smb2_message create = t_create_request(t, "file", OPEN, 0);
	create.body.create_req.contexts[create.body.create_req.context_count++] =
		(struct smb2_context){ .name = { (const uint8_t *)"DHnC", 4 }, .data = { id, 16 } };
	cr_assert_eq(t_status(t_ask(t, 0, &create)), STATUS_OBJECT_NAME_NOT_FOUND);
	t->tree_id = t_tree_connect(t, 0, "\\\\server\\IPC$")->message.header.tree_id;
	cr_assert_eq(t_status(t_create(t, "srvsvc", OPEN, 0)), STATUS_OBJECT_NAME_NOT_FOUND);
	t_free(t);
}

Test(create, tables_that_are_full_refuse_and_recover)
{
	struct smb_server_limits limits = smb_server_limits_simulation;
	struct smb_server_profile profile = t_profile();
	struct smb2_file_id ids[3];
	char name[8] = "n0";

	limits.handles = 3;
	limits.nodes = 8; /* root, dir, inner, file, small and three more; the root has no name */
	struct t *t = t_new_with(&limits, &profile);
	t_mount(t);
	for (int i = 0; i < 3; i++)
		ids[i] = t_open(t, "file");
	cr_assert_eq(t_status(t_create(t, "file", OPEN, 0)), STATUS_INSUFFICIENT_RESOURCES);
	for (int i = 0; i < 3; i++)
		t_close(t, ids[i]);
	for (int i = 0; i < 3; i++) {
		name[1] = (char)('0' + i);
		t_close(t, t_open(t, name));
	}
	cr_assert_eq(t_status(t_create(t, "n3", CREATE, 0)), STATUS_INSUFFICIENT_RESOURCES);
	cr_assert_not(smb_server_make_file(t->server, "n3", 1, 1));
	struct t_reply *reply = t_create(t, "n1", OPEN, DELETE_ON_CLOSE);
	t_close(t, reply->message.body.create_rsp.file_id);
	cr_assert_eq(t_status(t_create(t, "n3", CREATE, 0)), STATUS_SUCCESS);
	t_free(t);
}

Test(create, hosts_make_files_and_their_folders)
{
	struct t *t = t_new();

	cr_assert(smb_server_make_file(t->server, "a\\b\\c", 4, 5));
	cr_assert(smb_server_make_directory(t->server, "a\\d"));
	cr_assert_not(smb_server_make_file(t->server, "a\\b\\c", 4, 5), "it exists");
	cr_assert_not(smb_server_make_directory(t->server, "a"), "it exists");
	cr_assert_not(smb_server_make_file(t->server, "file\\x", 4, 5), "a file is no folder");
	cr_assert_not(smb_server_make_file(t->server, "", 4, 5));
	cr_assert_not(smb_server_make_file(t->server, "a\\\\e", 4, 5));
	cr_assert(smb_server_is_valid(t->server));
	t_mount(t);
	cr_assert_eq(t_status(t_create(t, "a\\b\\c", OPEN, 0)), STATUS_SUCCESS);
	t_free(t);
}
