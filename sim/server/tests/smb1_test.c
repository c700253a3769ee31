/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* SMB1 clients: the data path of a mount, what the profile decides, and what ends a connection. */

#include "protocol/wire/smb1.h"
#include "sim/server/tests/harness.h"

#include <string.h>

#define BYTES(text) ((struct smb_blob){ (const uint8_t *)(text), sizeof(text) - 1 })

/** One SMB1 client; the ids of the replies are used from then on. */
struct smb1 {
	struct t *t;
	uint16_t mid;
	uint16_t uid;
	uint16_t tid;
	bool answered;
	const char *cut;
	uint32_t held[64];
	uint32_t held_count;
	bool hold;
	struct smb1_message reply;
	uint8_t bytes[SMB_SERVER_PDU_MAX];
};

static struct smb1_message ask(const struct smb1 *c, uint8_t command, enum smb1_body_kind kind)
{
	struct smb1_message message = { .kind = kind };

	message.header = (struct smb1_header){ .command = command, .uid = c->uid, .tid = c->tid, .mid = c->mid };
	return message;
}

static void drain(struct smb1 *c)
{
	struct smb_server_output output;

	for (;;) {
		smb_server_next(c->t->server, &output, c->bytes, sizeof(c->bytes));
		if (output.kind == SMB_SERVER_IDLE)
			return;
		if (output.kind == SMB_SERVER_WORK && c->hold)
			c->held[c->held_count++] = output.token;
		else if (output.kind == SMB_SERVER_WORK)
			smb_server_work_done(c->t->server, output.token, 0);
		if (output.kind == SMB_SERVER_DISCONNECT)
			c->cut = output.reason;
		if (output.kind != SMB_SERVER_SEND)
			continue;
		cr_assert_eq(smb1_message_decode(&output.pdu, &c->reply), SMB_WIRE_OK);
		c->answered = true;
	}
}

/** Send and drain; the status, or UINT32_MAX when there was no answer. */
static uint32_t tell(struct smb1 *c, struct smb1_message *message)
{
	uint8_t bytes[4096];
	struct smb_pdu pdu;

	message->header.mid = c->mid;
	cr_assert_eq(smb1_message_encode(message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
	c->answered = false;
	smb_server_receive(c->t->server, 0, &pdu, 0);
	drain(c);
	cr_assert(smb_server_is_valid(c->t->server));
	if (!c->answered)
		return UINT32_MAX;
	cr_assert_eq(c->reply.header.mid, c->mid);
	c->mid++;
	return c->reply.header.status;
}

static struct smb_server_profile profile(void)
{
	struct smb_server_profile profile = t_profile();

	profile.smb1_max_mpx = 50;
	profile.smb1_max_buffer = 16644;
	profile.smb1_unix = 1;
	return profile;
}

static struct smb1 *start(const struct smb_server_profile *profile)
{
	static struct smb1 c;

	c = (struct smb1){ .t = t_new_with(&smb_server_limits_simulation, profile), .mid = 1 };
	smb_server_connected(c.t->server, 0, 0);
	return &c;
}

static uint32_t negotiate(struct smb1 *c)
{
	struct smb1_message message = ask(c, SMB1_NEGOTIATE, SMB1_BODY_NEGOTIATE_REQ);

	message.body.negotiate_req.dialects = BYTES("\2LANMAN1.0\0\2NT LM 0.12\0");
	return tell(c, &message);
}

static void log_on(struct smb1 *c)
{
	struct smb1_message message = ask(c, SMB1_SESSION_SETUP_ANDX, SMB1_BODY_SESSION_SETUP_REQ);

	message.body.session_setup_req.token = BYTES("first");
	cr_assert_eq(tell(c, &message), STATUS_MORE_PROCESSING_REQUIRED);
	c->uid = c->reply.header.uid;
	cr_assert_neq(c->uid, 0);
	message = ask(c, SMB1_SESSION_SETUP_ANDX, SMB1_BODY_SESSION_SETUP_REQ);
	message.body.session_setup_req.token = BYTES("second");
	cr_assert_eq(tell(c, &message), STATUS_SUCCESS);
}

static uint32_t connect_tree(struct smb1 *c, const char *path)
{
	struct smb1_message message = ask(c, SMB1_TREE_CONNECT_ANDX, SMB1_BODY_TREE_CONNECT_REQ);
	uint32_t status;

	message.body.tree_connect_req.path = t_utf16(path);
	message.body.tree_connect_req.service = BYTES("?????");
	status = tell(c, &message);
	c->tid = c->reply.header.tid;
	return status;
}

static struct smb1 *mounted(void)
{
	struct smb_server_profile with = profile();
	struct smb1 *c = start(&with);

	cr_assert_eq(negotiate(c), STATUS_SUCCESS);
	log_on(c);
	cr_assert_eq(connect_tree(c, "\\\\server\\share"), STATUS_SUCCESS);
	return c;
}

static uint32_t open_file(struct smb1 *c, const char *path, uint16_t *fid)
{
	struct smb1_message message = ask(c, SMB1_NT_CREATE_ANDX, SMB1_BODY_CREATE_REQ);
	uint32_t status;

	message.body.create_req = (struct smb1_create_req){ .flags = 2,
							    .desired_access = 0x12019f,
							    .share_access = 7,
							    .create_disposition = 1,
							    .impersonation_level = 2,
							    .name = t_utf16(path) };
	status = tell(c, &message);
	if (!status)
		*fid = c->reply.body.create_rsp.fid;
	return status;
}

static uint32_t read_file(struct smb1 *c, uint16_t fid, uint64_t offset, uint32_t length)
{
	struct smb1_message message = ask(c, SMB1_READ_ANDX, SMB1_BODY_READ_REQ);

	message.body.read_req = (struct smb1_read_req){ .fid = fid, .offset = offset, .length = length };
	return tell(c, &message);
}

Test(smb1, limits_are_told_in_negotiate)
{
	struct smb_server_profile with = profile();
	struct smb1 *c = start(&with);

	cr_assert_eq(negotiate(c), STATUS_SUCCESS);
	cr_expect_eq(c->reply.body.negotiate_rsp.dialect_index, 1);
	cr_expect_eq(c->reply.body.negotiate_rsp.max_mpx_count, 50);
	cr_expect_eq(c->reply.body.negotiate_rsp.max_buffer_size, 16644);
	cr_expect(c->reply.body.negotiate_rsp.capabilities & SMB1_CAP_UNIX);
	t_free(c->t);
}

Test(smb1, a_server_that_does_not_speak_it_picks_no_dialect)
{
	struct smb_server_profile without = t_profile();
	struct smb1 *c = start(&without);

	cr_assert_eq(negotiate(c), STATUS_SUCCESS);
	cr_expect_eq(c->reply.body.negotiate_rsp.dialect_index, SMB1_NO_DIALECT);
	t_free(c->t);
}

Test(smb1, a_file_is_read_in_pieces_of_any_size)
{
	struct smb1 *c = mounted();
	uint16_t fid;

	cr_assert_eq(open_file(c, "\\file", &fid), STATUS_SUCCESS);
	cr_expect_eq(c->reply.body.create_rsp.end_of_file, 10u << 20);
	cr_expect_eq(c->reply.body.create_rsp.oplock_level, 1);
	static const uint32_t lengths[] = { 1, 16384, 61440, 65536, 1048576 };
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		cr_assert_eq(read_file(c, fid, 4096, lengths[i]), STATUS_SUCCESS);
		struct smb_slice payload = c->reply.body.read_rsp.payload;
		cr_expect(payload.source == 7 && payload.offset == 4096 && payload.length == lengths[i]);
	}
	t_free(c->t);
}

Test(smb1, nothing_is_read_at_the_end_and_that_is_no_error)
{
	struct smb1 *c = mounted();
	uint16_t fid;

	cr_assert_eq(open_file(c, "\\small", &fid), STATUS_SUCCESS);
	cr_assert_eq(read_file(c, fid, 4, 100), STATUS_SUCCESS);
	cr_expect_eq(c->reply.body.read_rsp.data_length, 6);
	cr_assert_eq(read_file(c, fid, 10, 100), STATUS_SUCCESS);
	cr_expect_eq(c->reply.body.read_rsp.data_length, 0);
	t_free(c->t);
}

Test(smb1, what_is_written_is_read_again)
{
	struct smb1 *c = mounted();
	struct smb1_message message;
	uint16_t fid;

	cr_assert_eq(open_file(c, "\\dir\\inner", &fid), STATUS_SUCCESS);
	message = ask(c, SMB1_WRITE_ANDX, SMB1_BODY_WRITE_REQ);
	message.body.write_req =
		(struct smb1_write_req){ .fid = fid, .offset = 0, .data_length = 65536, .payload = { 5, 0, 65536 } };
	cr_assert_eq(tell(c, &message), STATUS_SUCCESS);
	cr_expect_eq(c->reply.body.write_rsp.count, 65536);
	message = ask(c, SMB1_FLUSH, SMB1_BODY_FLUSH_REQ);
	message.body.flush_req.fid = fid;
	cr_assert_eq(tell(c, &message), STATUS_SUCCESS);
	cr_assert_eq(read_file(c, fid, 0, 65536), STATUS_SUCCESS);
	cr_expect_eq(c->reply.body.read_rsp.payload.source, 5);
	message = ask(c, SMB1_CLOSE, SMB1_BODY_CLOSE_REQ);
	message.body.close_req.fid = fid;
	cr_assert_eq(tell(c, &message), STATUS_SUCCESS);
	cr_expect_eq(read_file(c, fid, 0, 1), STATUS_FILE_CLOSED);
	t_free(c->t);
}

Test(smb1, a_write_of_more_than_17_bits_needs_the_unix_capability)
{
	struct smb1_message message;
	uint16_t fid;

	for (uint32_t large = 0; large < 2; large++) {
		struct smb_server_profile with = profile();
		with.smb1_unix_large_write = large;
		struct smb1 *c = start(&with);
		negotiate(c);
		log_on(c);
		connect_tree(c, "\\\\server\\share");
		cr_assert_eq(open_file(c, "\\file", &fid), STATUS_SUCCESS);
		message = ask(c, SMB1_WRITE_ANDX, SMB1_BODY_WRITE_REQ);
		message.body.write_req =
			(struct smb1_write_req){ .fid = fid, .data_length = 1 << 20, .payload = { 5, 0, 1 << 20 } };
		cr_expect_eq(tell(c, &message), large ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER);
		t_free(c->t);
	}
}

static struct smb1_message trans2(const struct smb1 *c, uint16_t subcommand, struct smb_blob parameters)
{
	struct smb1_message message = ask(c, SMB1_TRANSACTION2, SMB1_BODY_TRANS2_REQ);

	message.body.trans2_req =
		(struct smb1_trans2_req){ .subcommand = subcommand, .max_data_count = 4000, .parameters = parameters };
	return message;
}

Test(smb1, unix_capabilities_are_told_and_set)
{
	struct smb1 *c = mounted();
	struct smb1_message message = trans2(c, SMB1_TRANS2_QUERY_FS_INFORMATION, BYTES("\0\2"));

	cr_assert_eq(tell(c, &message), STATUS_SUCCESS);
	cr_assert_eq(c->reply.body.trans2_rsp.data.length, 12);
	cr_expect_eq(c->reply.body.trans2_rsp.data.data[4], SMB1_UNIX_LARGE_READ);
	message = trans2(c, SMB1_TRANS2_SET_FS_INFORMATION, BYTES("\0\0\0\2"));
	message.body.trans2_req.data = BYTES("\1\0\0\0\x40\0\0\0\0\0\0\0");
	cr_expect_eq(tell(c, &message), STATUS_SUCCESS);
	message.body.trans2_req.data = BYTES("\1\0");
	cr_expect_eq(tell(c, &message), STATUS_INVALID_PARAMETER);
	t_free(c->t);
}

Test(smb1, a_path_is_looked_at_and_nothing_stays_open)
{
	struct smb1 *c = mounted();
	struct smb1_message message = trans2(c, SMB1_TRANS2_QUERY_PATH_INFORMATION,
					     BYTES("\7\1\0\0\0\0\\\0s\0m\0a\0l\0l\0\0\0"));

	for (uint32_t i = 0; i < 2 * smb_server_limits_simulation.handles; i++)
		cr_assert_eq(tell(c, &message), STATUS_SUCCESS, "%u", i);
	cr_assert_eq(c->reply.body.trans2_rsp.data.length, 72);
	cr_expect_eq(c->reply.body.trans2_rsp.data.data[48], 10); /* EndOfFile */
	message = trans2(c, SMB1_TRANS2_QUERY_PATH_INFORMATION, BYTES("\7\1\0\0\0\0\\\0n\0o\0\0\0"));
	cr_expect_eq(tell(c, &message), STATUS_OBJECT_NAME_NOT_FOUND);
	message = trans2(c, SMB1_TRANS2_QUERY_PATH_INFORMATION, BYTES("\1\1\0\0\0\0\\\0"));
	cr_expect_eq(tell(c, &message), STATUS_INVALID_INFO_CLASS);
	t_free(c->t);
}

Test(smb1, ids_that_are_not_the_clients_are_refused)
{
	struct smb1 *c = mounted();
	uint16_t fid, tid = c->tid;

	cr_expect_eq(connect_tree(c, "\\\\server\\nothing"), STATUS_BAD_NETWORK_NAME);
	c->tid = 77;
	cr_expect_eq(open_file(c, "\\file", &fid), STATUS_NETWORK_NAME_DELETED);
	c->tid = tid;
	c->uid++;
	cr_expect_eq(open_file(c, "\\file", &fid), STATUS_USER_SESSION_DELETED);
	c->uid--;
	cr_expect_eq(open_file(c, "\\absent", &fid), STATUS_OBJECT_NAME_NOT_FOUND);
	cr_expect_eq(read_file(c, 999, 0, 1), STATUS_FILE_CLOSED);
	t_free(c->t);
}

Test(smb1, the_session_ends_with_logoff)
{
	struct smb1 *c = mounted();
	struct smb1_message message = ask(c, SMB1_TREE_DISCONNECT, SMB1_BODY_EMPTY);
	uint16_t fid;

	cr_expect_eq(tell(c, &message), STATUS_SUCCESS);
	message = ask(c, SMB1_LOGOFF_ANDX, SMB1_BODY_EMPTY);
	cr_expect_eq(tell(c, &message), STATUS_SUCCESS);
	cr_expect_eq(open_file(c, "\\file", &fid), STATUS_USER_SESSION_DELETED);
	t_free(c->t);
}

Test(smb1, max_mpx_requests_may_be_outstanding_and_no_more)
{
	struct smb1 *c = mounted();
	uint16_t fid;

	cr_assert_eq(open_file(c, "\\file", &fid), STATUS_SUCCESS);
	c->hold = true;
	for (uint32_t i = 0; i < 50; i++, c->mid++)
		cr_assert_eq(read_file(c, fid, 0, 4096), UINT32_MAX);
	cr_assert_null(c->cut);
	cr_assert_eq(t_look(c->t, 0).outstanding, 50);
	smb_server_work_done(c->t->server, c->held[0], 0);
	drain(c);
	cr_assert_eq(t_look(c->t, 0).outstanding, 49);
	read_file(c, fid, 0, 4096);
	cr_assert_null(c->cut);
	read_file(c, fid, 0, 4096);
	cr_assert_not_null(c->cut);
	cr_expect(strstr(c->cut, "MaxMpxCount"), "%s", c->cut);
	t_free(c->t);
}

Test(smb1, what_is_no_smb1_ends_the_connection)
{
	struct smb1 *c = mounted();
	struct smb2_message message = t_request(c->t, 0, SMB2_ECHO, SMB2_BODY_EMPTY);

	cr_expect_eq(t_send(c->t, 0, &message, 1), SMB_SERVER_CUT);
	t_free(c->t);
	c = mounted();
	cr_expect_eq(negotiate(c), UINT32_MAX);
	cr_expect(strstr(c->cut, "second time"), "%s", c->cut);
	t_free(c->t);
	struct smb_server_profile with = profile();
	c = start(&with);
	cr_expect_eq(read_file(c, 1, 0, 1), UINT32_MAX);
	cr_expect(strstr(c->cut, "before NEGOTIATE"), "%s", c->cut);
	t_free(c->t);
}
