/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/buffer.h"

#include <criterion/criterion.h>

#define NEXT_COMMAND 20
#define ECHO_SIZE (SMB2_HEADER_SIZE + 4)

static const struct smb2_message echo = {
	.header = { .command = SMB2_ECHO, .credit_charge = 1, .message_id = 5 },
};
static const struct smb2_message close_file = {
	.header = { .command = SMB2_CLOSE, .flags = SMB2_FLAGS_RELATED_OPERATIONS },
	.kind = SMB2_BODY_CLOSE_REQ,
	.body.close_req = { .file_id = { UINT64_MAX, UINT64_MAX } },
};
static const struct smb2_message query_info = {
	.header = { .command = SMB2_QUERY_INFO },
	.kind = SMB2_BODY_QUERY_INFO_REQ,
};
static const struct smb2_message read_file = {
	.header = { .command = SMB2_READ },
	.kind = SMB2_BODY_READ_REQ,
};
static const struct smb2_message failed = {
	.header = { .command = SMB2_CREATE, .flags = SMB2_FLAGS_SERVER_TO_REDIR, .status = STATUS_ACCESS_DENIED },
	.kind = SMB2_BODY_ERROR_RSP,
};
static const struct smb2_message write_beside = {
	.header = { .command = SMB2_WRITE },
	.kind = SMB2_BODY_WRITE_REQ,
	.body.write_req = { .data_length = 7, .payload = { 1, 0, 7 } },
};

static struct smb_pdu encode_pair(const struct smb2_message *first, const struct smb2_message *second, uint8_t *bytes,
				  uint32_t size)
{
	struct smb_chain_writer writer;
	smb_chain_begin(&writer, bytes, size);
	cr_assert_eq(smb_chain_append(&writer, first), SMB_WIRE_OK);
	cr_assert_eq(smb_chain_append(&writer, second), SMB_WIRE_OK);
	return smb_chain_finish(&writer);
}

struct padding_case {
	const char *what;
	const struct smb2_message *first;
	uint32_t next_command;
};

static const struct padding_case padding_cases[] = {
	{ "68 bytes are filled up to 72", &echo, 72 },
	{ "88 bytes stay 88", &close_file, 88 },
	{ "the byte of an empty QUERY_INFO input goes", &query_info, 104 },
	{ "the byte of READ stays and is filled up", &read_file, 120 },
	{ "the byte of an error stays and is filled up", &failed, 80 },
};

Test(chain, members_start_on_eight_bytes_and_next_command_says_where)
{
	for (size_t i = 0; i < sizeof(padding_cases) / sizeof(padding_cases[0]); i++) {
		const struct padding_case *c = &padding_cases[i];
		uint8_t bytes[512];
		memset(bytes, 0xaa, sizeof(bytes));
		struct smb_pdu pdu = encode_pair(c->first, &close_file, bytes, sizeof(bytes));
		cr_expect_eq(smb_get32(bytes + NEXT_COMMAND), c->next_command, "%s", c->what);
		cr_expect_eq(smb_get32(bytes + c->next_command + NEXT_COMMAND), 0, "%s", c->what);
		cr_expect_eq(pdu.length, c->next_command + 88, "%s", c->what);
		cr_expect_eq(bytes[c->next_command - 1], c->first == &close_file ? 0xff : 0, "%s", c->what);
	}
}

Test(chain, a_single_message_keeps_its_filler_and_gets_no_padding)
{
	uint8_t bytes[256];
	struct smb_pdu pdu;
	cr_assert_eq(smb2_message_encode(&query_info, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
	cr_assert_eq(pdu.length, 105);
	cr_assert_eq(smb2_message_encode(&echo, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
	cr_assert_eq(pdu.length, 68);
}

Test(chain, a_member_that_does_not_fit_leaves_the_chain_as_it_was)
{
	uint8_t bytes[72 + 88 - 1];
	struct smb_chain_writer writer;
	smb_chain_begin(&writer, bytes, sizeof(bytes));
	cr_assert_eq(smb_chain_append(&writer, &echo), SMB_WIRE_OK);
	cr_assert_eq(smb_chain_append(&writer, &close_file), SMB_WIRE_NO_SPACE);
	struct smb_pdu pdu = smb_chain_finish(&writer);
	struct smb2_message message;
	cr_assert_eq(pdu.length, ECHO_SIZE);
	cr_assert_eq(smb2_message_decode(&pdu, &message), SMB_WIRE_OK);
	cr_assert(smb2_message_equal(&message, &echo));
	cr_assert_eq(smb_chain_append(&writer, &echo), SMB_WIRE_OK);
	cr_assert_eq(writer.members, 2);
}

struct next_case {
	uint32_t next_command;
	enum smb_wire_verdict verdict; /* of the first member */
};

/* The chain is ECHO (padded to 72) and CLOSE (88): 160 bytes. */
static const struct next_case next_cases[] = {
	{ 72, SMB_WIRE_OK },
	{ 0, SMB_WIRE_OK },
	{ 8, SMB_WIRE_BAD_NEXT_COMMAND }, /* into its own header */
	{ 56, SMB_WIRE_BAD_NEXT_COMMAND },
	{ 64, SMB_WIRE_TRUNCATED }, /* no room for the body */
	{ 73, SMB_WIRE_BAD_NEXT_COMMAND }, /* not aligned */
	{ 76, SMB_WIRE_BAD_NEXT_COMMAND },
	{ 96, SMB_WIRE_OK }, /* the next header fits; it is another matter what it holds */
	{ 104, SMB_WIRE_BAD_NEXT_COMMAND }, /* not enough left for a header */
	{ 160, SMB_WIRE_BAD_NEXT_COMMAND }, /* at the end */
	{ 168, SMB_WIRE_BAD_NEXT_COMMAND }, /* past the end */
	{ 0x80000000u, SMB_WIRE_BAD_NEXT_COMMAND },
	{ 0xfffffff8u, SMB_WIRE_BAD_NEXT_COMMAND },
	{ 0xffffffffu, SMB_WIRE_BAD_NEXT_COMMAND },
};

Test(chain, next_command_is_followed_only_to_a_header_inside_the_pdu)
{
	for (size_t i = 0; i < sizeof(next_cases) / sizeof(next_cases[0]); i++) {
		uint8_t bytes[256];
		struct smb_chain_reader reader;
		struct smb2_message message;
		struct smb_pdu pdu = encode_pair(&echo, &close_file, bytes, sizeof(bytes));
		smb_put32(bytes + NEXT_COMMAND, next_cases[i].next_command);
		smb_chain_read(&reader, &pdu);
		enum smb_wire_verdict verdict = smb_chain_next(&reader, &message);
		cr_expect_eq(verdict, next_cases[i].verdict, "NextCommand %u: %s", next_cases[i].next_command,
			     smb_wire_verdict_name(verdict));
		if (verdict != SMB_WIRE_OK)
			cr_expect_eq(smb_chain_next(&reader, &message), SMB_WIRE_END);
	}
}

Test(chain, the_reader_tells_whether_another_member_follows)
{
	uint8_t bytes[256];
	struct smb_chain_reader reader;
	struct smb2_message message;
	struct smb_pdu pdu = encode_pair(&echo, &close_file, bytes, sizeof(bytes));
	smb_chain_read(&reader, &pdu);
	cr_assert_eq(smb_chain_next(&reader, &message), SMB_WIRE_OK);
	cr_assert(smb_chain_has_more(&reader));
	cr_assert_eq(reader.member, 0);
	cr_assert_eq(smb_chain_next(&reader, &message), SMB_WIRE_OK);
	cr_assert(!smb_chain_has_more(&reader));
	cr_assert_eq(reader.member, 1);
	cr_assert_eq(smb_chain_next(&reader, &message), SMB_WIRE_END);
	cr_assert_eq(smb_chain_next(&reader, &message), SMB_WIRE_END);
}

Test(chain, a_chain_is_no_single_message)
{
	uint8_t bytes[256];
	struct smb2_message message;
	struct smb_pdu pdu = encode_pair(&echo, &close_file, bytes, sizeof(bytes));
	cr_assert_eq(smb2_message_decode(&pdu, &message), SMB_WIRE_BAD_NEXT_COMMAND);
	pdu.length = 0;
	cr_assert_eq(smb2_message_decode(&pdu, &message), SMB_WIRE_TRUNCATED);
	cr_assert_eq(smb2_message_decode(&(struct smb_pdu){ 0 }, &message), SMB_WIRE_TRUNCATED);
}

Test(chain, only_the_last_member_carries_a_payload)
{
	uint8_t bytes[512];
	struct smb_chain_writer writer;
	struct smb2_message message;
	struct smb_pdu pdu = encode_pair(&echo, &write_beside, bytes, sizeof(bytes));
	struct smb_chain_reader reader;
	smb_chain_read(&reader, &pdu);
	cr_assert_eq(smb_chain_next(&reader, &message), SMB_WIRE_OK);
	cr_assert_eq(smb_chain_next(&reader, &message), SMB_WIRE_OK);
	cr_assert(smb2_message_equal(&message, &write_beside));
	cr_assert_eq(smb_pdu_stream_bytes(&pdu), 4 + 72 + 112 + 7);

	smb_chain_begin(&writer, bytes, sizeof(bytes));
	cr_assert_eq(smb_chain_append(&writer, &write_beside), SMB_WIRE_OK);
	cr_assert_eq(smb_chain_append(&writer, &echo), SMB_WIRE_BAD_PAYLOAD);
	cr_assert_eq(writer.members, 1);
}

Test(chain, an_async_header_has_an_id_instead_of_a_tree)
{
	uint8_t bytes[128];
	struct smb_pdu pdu;
	struct smb2_message message = echo, decoded;
	message.header.tree_id = 7;
	message.header.process_id = 8;
	message.header.async_id = UINT64_C(0x100000002);
	cr_assert_eq(smb2_message_encode(&message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
	cr_assert_eq(smb2_message_decode(&pdu, &decoded), SMB_WIRE_OK);
	cr_assert_eq(decoded.header.tree_id, 7);
	cr_assert_eq(decoded.header.async_id, 0);
	message.header.flags = SMB2_FLAGS_ASYNC_COMMAND;
	cr_assert_eq(smb2_message_encode(&message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
	cr_assert_eq(smb2_message_decode(&pdu, &decoded), SMB_WIRE_OK);
	cr_assert_eq(decoded.header.tree_id, 0);
	cr_assert_eq(decoded.header.async_id, UINT64_C(0x100000002));
}

Test(frame, is_a_zero_and_a_length_of_three_bytes)
{
	static const uint32_t lengths[] = { 0, 1, 255, 256, 65536, 0x123456, 0xffffff };
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint8_t frame[4] = { 9, 9, 9, 9 };
		uint32_t length;
		smb_frame_encode(lengths[i], frame);
		cr_expect_eq(smb_frame_decode(frame, &length), SMB_WIRE_OK);
		cr_expect_eq(length, lengths[i]);
	}
	uint8_t frame[4];
	smb_frame_encode(0x123456, frame);
	cr_assert_arr_eq(frame, ((uint8_t[]){ 0, 0x12, 0x34, 0x56 }), 4);
}

Test(frame, of_another_kind_is_refused)
{
	static const uint8_t kinds[] = { 0x01, 0x81, 0x82, 0x83, 0x84, 0x85, 0xff };
	for (size_t i = 0; i < sizeof(kinds); i++) {
		uint8_t frame[4] = { kinds[i], 0, 0, 0 };
		uint32_t length;
		cr_expect_eq(smb_frame_decode(frame, &length), SMB_WIRE_BAD_VALUE, "%02x", kinds[i]);
	}
}

struct refused_case {
	const char *what;
	struct smb2_message message;
	enum smb_wire_verdict verdict;
};

#define RESPONSE SMB2_FLAGS_SERVER_TO_REDIR
static const uint8_t byte[1];
static uint8_t long_name[65536];

static const struct refused_case refused_cases[] = {
	{ "no such command", { .header = { .command = 0x13 } }, SMB_WIRE_UNKNOWN_COMMAND },
	{ "CHANGE_NOTIFY", { .header = { .command = SMB2_CHANGE_NOTIFY } }, SMB_WIRE_UNKNOWN_COMMAND },
	{ "answer to CANCEL", { .header = { .command = SMB2_CANCEL, .flags = RESPONSE } }, SMB_WIRE_UNKNOWN_COMMAND },
	{ "body of another command",
	  { .header = { .command = SMB2_READ }, .kind = SMB2_BODY_CLOSE_REQ },
	  SMB_WIRE_BAD_VALUE },
	{ "response body in a request",
	  { .header = { .command = SMB2_READ }, .kind = SMB2_BODY_READ_RSP },
	  SMB_WIRE_BAD_VALUE },
	{ "lease break notification in a request",
	  { .header = { .command = SMB2_OPLOCK_BREAK }, .kind = SMB2_BODY_LEASE_BREAK_NOTIFY },
	  SMB_WIRE_BAD_VALUE },
	{ "error body with success",
	  { .header = { .command = SMB2_READ, .flags = RESPONSE }, .kind = SMB2_BODY_ERROR_RSP },
	  SMB_WIRE_BAD_VALUE },
	{ "normal body with an error",
	  { .header = { .command = SMB2_READ, .flags = RESPONSE, .status = STATUS_END_OF_FILE },
	    .kind = SMB2_BODY_READ_RSP },
	  SMB_WIRE_BAD_VALUE },
	{ "normal body of an interim response",
	  { .header = { .command = SMB2_READ, .flags = RESPONSE, .status = STATUS_PENDING },
	    .kind = SMB2_BODY_READ_RSP },
	  SMB_WIRE_BAD_VALUE },
	{ "no dialects",
	  { .header = { .command = SMB2_NEGOTIATE }, .kind = SMB2_BODY_NEGOTIATE_REQ },
	  SMB_WIRE_BAD_VALUE },
	{ "contexts without dialect 3.1.1",
	  { .header = { .command = SMB2_NEGOTIATE },
	    .kind = SMB2_BODY_NEGOTIATE_REQ,
	    .body.negotiate_req = { .dialect_count = 1, .dialects = { SMB2_DIALECT_302 }, .context_count = 1 } },
	  SMB_WIRE_BAD_VALUE },
	{ "nine dialects",
	  { .header = { .command = SMB2_NEGOTIATE },
	    .kind = SMB2_BODY_NEGOTIATE_REQ,
	    .body.negotiate_req = { .dialect_count = 9 } },
	  SMB_WIRE_TOO_MANY },
	{ "17 create contexts",
	  { .header = { .command = SMB2_CREATE },
	    .kind = SMB2_BODY_CREATE_REQ,
	    .body.create_req = { .context_count = 17 } },
	  SMB_WIRE_TOO_MANY },
	{ "17 create contexts in the answer",
	  { .header = { .command = SMB2_CREATE, .flags = RESPONSE },
	    .kind = SMB2_BODY_CREATE_RSP,
	    .body.create_rsp = { .context_count = 17 } },
	  SMB_WIRE_TOO_MANY },
	{ "17 negotiate contexts",
	  { .header = { .command = SMB2_NEGOTIATE, .flags = RESPONSE },
	    .kind = SMB2_BODY_NEGOTIATE_RSP,
	    .body.negotiate_rsp = { .dialect = SMB2_DIALECT_311, .context_count = 17 } },
	  SMB_WIRE_TOO_MANY },
	{ "contexts in an answer of dialect 3.0",
	  { .header = { .command = SMB2_NEGOTIATE, .flags = RESPONSE },
	    .kind = SMB2_BODY_NEGOTIATE_RSP,
	    .body.negotiate_rsp = { .dialect = SMB2_DIALECT_300, .context_count = 1 } },
	  SMB_WIRE_BAD_VALUE },
	{ "negotiate context longer than its length field",
	  { .header = { .command = SMB2_NEGOTIATE, .flags = RESPONSE },
	    .kind = SMB2_BODY_NEGOTIATE_RSP,
	    .body.negotiate_rsp = { .dialect = SMB2_DIALECT_311,
				    .context_count = 1,
				    .contexts = { { .type = 1, .data = { long_name, 65536 } } } } },
	  SMB_WIRE_BAD_VALUE },
	{ "tree connect extension",
	  { .header = { .command = SMB2_TREE_CONNECT },
	    .kind = SMB2_BODY_TREE_CONNECT_REQ,
	    .body.tree_connect_req = { .flags = 4 } },
	  SMB_WIRE_BAD_VALUE },
	{ "pattern of odd length",
	  { .header = { .command = SMB2_QUERY_DIRECTORY },
	    .kind = SMB2_BODY_QUERY_DIRECTORY_REQ,
	    .body.query_directory_req = { .pattern = { byte, 1 } } },
	  SMB_WIRE_BAD_VALUE },
	{ "create context without a name",
	  { .header = { .command = SMB2_CREATE },
	    .kind = SMB2_BODY_CREATE_REQ,
	    .body.create_req = { .context_count = 1 } },
	  SMB_WIRE_BAD_VALUE },
	{ "name of odd length",
	  { .header = { .command = SMB2_CREATE },
	    .kind = SMB2_BODY_CREATE_REQ,
	    .body.create_req = { .name = { byte, 1 } } },
	  SMB_WIRE_BAD_VALUE },
	{ "name longer than its length field",
	  { .header = { .command = SMB2_CREATE },
	    .kind = SMB2_BODY_CREATE_REQ,
	    .body.create_req = { .name = { long_name, 65536 } } },
	  SMB_WIRE_BAD_VALUE },
	{ "token longer than its length field",
	  { .header = { .command = SMB2_SESSION_SETUP },
	    .kind = SMB2_BODY_SESSION_SETUP_REQ,
	    .body.session_setup_req = { .token = { long_name, 65536 } } },
	  SMB_WIRE_BAD_VALUE },
	{ "a length without bytes",
	  { .header = { .command = SMB2_IOCTL },
	    .kind = SMB2_BODY_IOCTL_REQ,
	    .body.ioctl_req = { .input = { NULL, 3 } } },
	  SMB_WIRE_BAD_VALUE },
	{ "no locks", { .header = { .command = SMB2_LOCK }, .kind = SMB2_BODY_LOCK_REQ }, SMB_WIRE_BAD_VALUE },
	{ "nine locks",
	  { .header = { .command = SMB2_LOCK }, .kind = SMB2_BODY_LOCK_REQ, .body.lock_req = { .lock_count = 9 } },
	  SMB_WIRE_TOO_MANY },
	{ "data_length without data",
	  { .header = { .command = SMB2_WRITE }, .kind = SMB2_BODY_WRITE_REQ, .body.write_req = { .data_length = 1 } },
	  SMB_WIRE_BAD_PAYLOAD },
	{ "data_length of another size than the data",
	  { .header = { .command = SMB2_WRITE },
	    .kind = SMB2_BODY_WRITE_REQ,
	    .body.write_req = { .data_length = 2, .data = { byte, 1 } } },
	  SMB_WIRE_BAD_PAYLOAD },
	{ "data inline and beside",
	  { .header = { .command = SMB2_READ, .flags = RESPONSE },
	    .kind = SMB2_BODY_READ_RSP,
	    .body.read_rsp = { .data_length = 1, .data = { byte, 1 }, .payload = { 1, 0, 1 } } },
	  SMB_WIRE_BAD_PAYLOAD },
};

Test(encode, refuses_a_value_that_has_no_wire_form)
{
	static uint8_t bytes[1 << 17];
	for (size_t i = 0; i < sizeof(refused_cases) / sizeof(refused_cases[0]); i++) {
		struct smb_pdu pdu;
		enum smb_wire_verdict verdict = smb2_message_encode(&refused_cases[i].message, bytes, sizeof(bytes),
								    &pdu);
		cr_expect_eq(verdict, refused_cases[i].verdict, "%s: %s", refused_cases[i].what,
			     smb_wire_verdict_name(verdict));
	}
}

/* Statuses that are no success and still come with the normal body, and the error body beside (MS-SMB2 3.3.4.4). */
Test(status, decides_between_the_normal_and_the_error_body)
{
	static const struct {
		uint16_t command;
		uint32_t status;
		enum smb2_body_kind kind;
		enum smb_wire_verdict verdict;
	} cases[] = {
		{ SMB2_SESSION_SETUP, STATUS_MORE_PROCESSING_REQUIRED, SMB2_BODY_SESSION_SETUP_RSP, SMB_WIRE_OK },
		{ SMB2_SESSION_SETUP, STATUS_ACCESS_DENIED, SMB2_BODY_SESSION_SETUP_RSP, SMB_WIRE_BAD_VALUE },
		{ SMB2_SESSION_SETUP, STATUS_ACCESS_DENIED, SMB2_BODY_ERROR_RSP, SMB_WIRE_OK },
		{ SMB2_READ, STATUS_BUFFER_OVERFLOW, SMB2_BODY_READ_RSP, SMB_WIRE_OK },
		{ SMB2_QUERY_INFO, STATUS_BUFFER_OVERFLOW, SMB2_BODY_BUFFER_RSP, SMB_WIRE_OK },
		{ SMB2_QUERY_DIRECTORY, STATUS_BUFFER_OVERFLOW, SMB2_BODY_BUFFER_RSP, SMB_WIRE_BAD_VALUE },
		{ SMB2_QUERY_DIRECTORY, STATUS_NO_MORE_FILES, SMB2_BODY_ERROR_RSP, SMB_WIRE_OK },
		{ SMB2_CREATE, STATUS_STOPPED_ON_SYMLINK, SMB2_BODY_ERROR_RSP, SMB_WIRE_OK },
		{ SMB2_CHANGE_NOTIFY, STATUS_PENDING, SMB2_BODY_ERROR_RSP, SMB_WIRE_OK },
		{ SMB2_IOCTL, STATUS_INVALID_PARAMETER, SMB2_BODY_IOCTL_RSP, SMB_WIRE_OK },
		{ SMB2_IOCTL, STATUS_INVALID_PARAMETER, SMB2_BODY_ERROR_RSP, SMB_WIRE_OK },
		{ SMB2_IOCTL, STATUS_ACCESS_DENIED, SMB2_BODY_IOCTL_RSP, SMB_WIRE_BAD_VALUE },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[256];
		struct smb_pdu pdu;
		struct smb2_message decoded, message = {
			.header = { .command = cases[i].command, .status = cases[i].status, .flags = RESPONSE },
			.kind = cases[i].kind,
		};
		enum smb_wire_verdict verdict = smb2_message_encode(&message, bytes, sizeof(bytes), &pdu);
		cr_expect_eq(verdict, cases[i].verdict, "%s %08x", smb2_command_name(cases[i].command),
			     cases[i].status);
		if (verdict != SMB_WIRE_OK)
			continue;
		cr_expect_eq(smb2_message_decode(&pdu, &decoded), SMB_WIRE_OK);
		cr_expect_eq(decoded.kind, cases[i].kind);
	}
}
