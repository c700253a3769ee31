/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/server/tests/harness.h"

#include <stdlib.h>
#include <string.h>

struct smb_server_profile t_profile(void)
{
	return (struct smb_server_profile){
		.name = "test",
		.dialect_min = SMB2_DIALECT_202,
		.dialect_max = SMB2_DIALECT_311,
		.max_transact = 8 << 20,
		.max_read = 8 << 20,
		.max_write = 8 << 20,
		.capabilities = 0x4f,
		.channels_max = 32,
		.credits_max = 8192,
		.interim = SMB_INTERIM_NEVER,
	};
}

struct t *t_new_with(const struct smb_server_limits *limits, const struct smb_server_profile *profile)
{
	struct t *t = calloc(1, sizeof(*t));

	t->config = (struct smb_server_config){
		.profile = *profile,
		.server_guid = "server",
		.share = "share",
		.interface_count = 2,
		.interfaces = { { .speed_bps = 10000000000, .rss = true }, { .speed_bps = 0 } },
	};
	t->server = smb_server_init(malloc(smb_server_size(limits)), limits, &t->config);
	t->credits = 1;
	cr_assert(smb_server_make_directory(t->server, "dir"));
	cr_assert(smb_server_make_file(t->server, "dir\\inner", 5, 100));
	cr_assert(smb_server_make_file(t->server, "file", 7, 10 << 20));
	cr_assert(smb_server_make_file(t->server, "small", 9, 10));
	return t;
}

struct t *t_new(void)
{
	struct smb_server_profile profile = t_profile();

	return t_new_with(&smb_server_limits_simulation, &profile);
}

void t_free(struct t *t)
{
	free(t->server);
	free(t);
}

struct smb_blob t_utf16(const char *text)
{
	static uint8_t buffers[16][512];
	static unsigned turn;
	uint8_t *buffer = buffers[turn++ % 16];
	uint32_t length = 0;

	for (; *text; text++) {
		buffer[length++] = (uint8_t)*text;
		buffer[length++] = 0;
	}
	return (struct smb_blob){ buffer, length };
}

struct smb2_message t_request(struct t *t, uint32_t connection, uint16_t command, enum smb2_body_kind kind)
{
	uint16_t charge = t->charge ? t->charge : 1;
	struct smb2_message message = {
		.header = {
			.credit_charge = charge,
			.command = command,
			.credits = t->credits,
			.message_id = t->next_id[connection],
			.process_id = 0xfeff,
			.tree_id = t->tree_id,
			.session_id = t->session_id,
		},
		.kind = kind,
	};
	t->next_id[connection] += charge;
	return message;
}

static void keep_bytes(struct t_reply *reply)
{
	const struct smb2_message *message = &reply->message;
	struct smb_blob blob = { NULL, 0 };

	if (message->kind == SMB2_BODY_BUFFER_RSP)
		blob = message->body.buffer_rsp.buffer;
	if (message->kind == SMB2_BODY_IOCTL_RSP)
		blob = message->body.ioctl_rsp.output;
	if (message->kind == SMB2_BODY_READ_RSP)
		blob = message->body.read_rsp.data;
	reply->length = blob.length;
	if (blob.length)
		memcpy(reply->bytes, blob.data,
		       blob.length < sizeof(reply->bytes) ? blob.length : sizeof(reply->bytes));
}

static void keep_replies(struct t *t, const struct smb_server_output *output)
{
	struct smb_chain_reader reader;
	uint32_t first = t->replies;

	smb_chain_read(&reader, &output->pdu);
	for (;;) {
		struct t_reply *reply = &t->reply[t->replies];
		enum smb_wire_verdict verdict = smb_chain_next(&reader, &reply->message);
		if (verdict == SMB_WIRE_END)
			break;
		cr_assert_eq(verdict, SMB_WIRE_OK, "reply does not decode: %s", smb_wire_verdict_name(verdict));
		reply->connection = output->connection;
		keep_bytes(reply);
		t->credits_seen[output->connection] += reply->message.header.credits;
		t->replies++;
		cr_assert_lt(t->replies, T_REPLIES_MAX);
	}
	for (uint32_t i = first; i < t->replies; i++) {
		t->reply[i].members = t->replies - first;
		t->reply[i].pdu_bytes = output->pdu.length + output->pdu.payload.length;
	}
}

void t_drain(struct t *t)
{
	static uint8_t buffer[T_PDU];
	struct smb_server_output output;

	for (;;) {
		smb_server_next(t->server, &output, buffer, SMB_SERVER_PDU_MAX);
		switch (output.kind) {
		case SMB_SERVER_IDLE:
			cr_assert(smb_server_is_valid(t->server));
			return;
		case SMB_SERVER_SEND:
			keep_replies(t, &output);
			break;
		case SMB_SERVER_WORK:
			t->work_bytes += output.bytes;
			if (t->hold_work)
				t->work[t->works++] = output.token;
			else
				smb_server_work_done(t->server, output.token, t->now_ns);
			break;
		case SMB_SERVER_DISCONNECT:
			t->cut = output.reason;
			smb_server_closed(t->server, output.connection, t->now_ns);
			break;
		case SMB_SERVER_WAKE:
			t->wake_ns = output.when_ns;
			break;
		}
	}
}

void t_work_done(struct t *t, uint32_t index)
{
	t->replies = 0;
	smb_server_work_done(t->server, t->work[index], t->now_ns);
	t_drain(t);
}

enum smb_server_verdict t_send(struct t *t, uint32_t connection, const struct smb2_message *members, uint32_t count)
{
	static uint8_t buffer[T_PDU];
	struct smb_chain_writer writer;

	smb_chain_begin(&writer, buffer, sizeof(buffer));
	for (uint32_t i = 0; i < count; i++) {
		enum smb_wire_verdict verdict = smb_chain_append(&writer, &members[i]);
		cr_assert_eq(verdict, SMB_WIRE_OK, "request does not encode: %s", smb_wire_verdict_name(verdict));
	}
	struct smb_pdu pdu = smb_chain_finish(&writer);
	t->replies = 0;
	enum smb_server_verdict verdict = smb_server_receive(t->server, connection, &pdu, t->now_ns);
	t_drain(t);
	return verdict;
}

struct t_reply *t_last(struct t *t)
{
	cr_assert(t->replies, "no reply");
	return &t->reply[t->replies - 1];
}

struct t_reply *t_ask(struct t *t, uint32_t connection, const struct smb2_message *message)
{
	enum smb_server_verdict verdict = t_send(t, connection, message, 1);

	cr_assert_eq(verdict, SMB_SERVER_OK, "cut: %s", t->cut);
	return t_last(t);
}

uint32_t t_status(const struct t_reply *reply)
{
	return reply->message.header.status;
}

struct t_reply *t_negotiate(struct t *t, uint32_t connection, uint16_t dialect)
{
	static const uint8_t preauth[38] = { 1, 0, 32, 0, 1, 0 };
	static const uint8_t ciphers[4] = { 1, 0, 2, 0 };
	struct smb2_message message;

	smb_server_connected(t->server, connection, t->now_ns);
	t->next_id[connection] = 0;
	message = t_request(t, connection, SMB2_NEGOTIATE, SMB2_BODY_NEGOTIATE_REQ);
	message.header.tree_id = 0;
	message.header.session_id = 0;
	struct smb2_negotiate_req *body = &message.body.negotiate_req;
	body->security_mode = 1;
	body->capabilities = 0x7f;
	memcpy(body->client_guid, "client", 6);
	body->dialects[body->dialect_count++] = dialect;
	if (dialect == SMB2_DIALECT_311) {
		body->contexts[body->context_count++] = (struct smb2_context){ .type = 1,
									       .data = { preauth, sizeof(preauth) } };
		body->contexts[body->context_count++] = (struct smb2_context){ .type = 2,
									       .data = { ciphers, sizeof(ciphers) } };
	}
	return t_ask(t, connection, &message);
}

struct t_reply *t_session_setup_leg(struct t *t, uint32_t connection, uint64_t session_id, uint8_t flags)
{
	struct smb2_message message = t_request(t, connection, SMB2_SESSION_SETUP, SMB2_BODY_SESSION_SETUP_REQ);

	message.header.session_id = session_id;
	message.header.tree_id = 0;
	message.body.session_setup_req.flags = flags;
	message.body.session_setup_req.security_mode = 1;
	message.body.session_setup_req.token = (struct smb_blob){ (const uint8_t *)"token", 5 };
	return t_ask(t, connection, &message);
}

void t_session_setup(struct t *t, uint32_t connection)
{
	struct t_reply *reply = t_session_setup_leg(t, connection, 0, 0);

	cr_assert_eq(t_status(reply), STATUS_MORE_PROCESSING_REQUIRED);
	t->session_id = reply->message.header.session_id;
	reply = t_session_setup_leg(t, connection, t->session_id, 0);
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
}

struct t_reply *t_tree_connect(struct t *t, uint32_t connection, const char *path)
{
	struct smb2_message message = t_request(t, connection, SMB2_TREE_CONNECT, SMB2_BODY_TREE_CONNECT_REQ);

	message.header.tree_id = 0;
	message.body.tree_connect_req.path = t_utf16(path);
	return t_ask(t, connection, &message);
}

void t_mount(struct t *t)
{
	uint16_t credits = t->credits;

	t->credits = 256;
	t_negotiate(t, 0, SMB2_DIALECT_311);
	t_session_setup(t, 0);
	struct t_reply *reply = t_tree_connect(t, 0, "\\\\server\\share");
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
	t->tree_id = reply->message.header.tree_id;
	t->credits = credits;
}

void t_bind(struct t *t, uint32_t connection)
{
	t_negotiate(t, connection, SMB2_DIALECT_311);
	struct t_reply *reply = t_session_setup_leg(t, connection, t->session_id, SMB2_SESSION_FLAG_BINDING);
	cr_assert_eq(t_status(reply), STATUS_MORE_PROCESSING_REQUIRED);
	reply = t_session_setup_leg(t, connection, t->session_id, SMB2_SESSION_FLAG_BINDING);
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
}

struct smb2_message t_create_request(struct t *t, const char *name, uint32_t disposition, uint32_t options)
{
	struct smb2_message message = t_request(t, 0, SMB2_CREATE, SMB2_BODY_CREATE_REQ);

	message.body.create_req = (struct smb2_create_req){
		.impersonation_level = 2,
		.desired_access = 0x001f01ff,
		.share_access = 7,
		.create_disposition = disposition,
		.create_options = options,
		.name = t_utf16(name),
	};
	return message;
}

struct t_reply *t_create(struct t *t, const char *name, uint32_t disposition, uint32_t options)
{
	struct smb2_message message = t_create_request(t, name, disposition, options);

	return t_ask(t, 0, &message);
}

struct smb2_file_id t_open(struct t *t, const char *name)
{
	struct t_reply *reply = t_create(t, name, 3, 0);

	cr_assert_eq(t_status(reply), STATUS_SUCCESS, "open %s: %x", name, t_status(reply));
	return reply->message.body.create_rsp.file_id;
}

struct smb2_message t_close_request(struct t *t, struct smb2_file_id id)
{
	struct smb2_message message = t_request(t, 0, SMB2_CLOSE, SMB2_BODY_CLOSE_REQ);

	message.body.close_req = (struct smb2_close_req){ .file_id = id };
	return message;
}

struct t_reply *t_close(struct t *t, struct smb2_file_id id)
{
	struct smb2_message message = t_close_request(t, id);

	return t_ask(t, 0, &message);
}

struct smb2_message t_read_request(struct t *t, struct smb2_file_id id, uint64_t offset, uint32_t length)
{
	struct smb2_message message = t_request(t, 0, SMB2_READ, SMB2_BODY_READ_REQ);

	message.body.read_req = (struct smb2_read_req){ .length = length, .offset = offset, .file_id = id };
	return message;
}

struct t_reply *t_read(struct t *t, struct smb2_file_id id, uint64_t offset, uint32_t length)
{
	struct smb2_message message = t_read_request(t, id, offset, length);

	return t_ask(t, 0, &message);
}

struct smb2_message t_write_request(struct t *t, struct smb2_file_id id, uint64_t offset, struct smb_slice data)
{
	struct smb2_message message = t_request(t, 0, SMB2_WRITE, SMB2_BODY_WRITE_REQ);

	message.body.write_req = (struct smb2_write_req){
		.offset = offset,
		.file_id = id,
		.data_length = data.length,
		.payload = data,
	};
	return message;
}

struct t_reply *t_write(struct t *t, struct smb2_file_id id, uint64_t offset, struct smb_slice data)
{
	struct smb2_message message = t_write_request(t, id, offset, data);

	return t_ask(t, 0, &message);
}

struct smb2_message t_query_request(struct t *t, struct smb2_file_id id)
{
	struct smb2_message message = t_request(t, 0, SMB2_QUERY_INFO, SMB2_BODY_QUERY_INFO_REQ);

	message.body.query_info_req = (struct smb2_query_info_req){
		.info_type = SMB2_O_INFO_FILE,
		.file_info_class = 18, /* FileAllInformation */
		.output_buffer_length = 4096,
		.file_id = id,
	};
	return message;
}

struct t_reply *t_query_info(struct t *t, struct smb2_file_id id, uint8_t type, uint8_t class, uint32_t room)
{
	struct smb2_message message = t_query_request(t, id);

	message.body.query_info_req.info_type = type;
	message.body.query_info_req.file_info_class = class;
	message.body.query_info_req.output_buffer_length = room;
	return t_ask(t, 0, &message);
}

struct t_reply *t_set_info(struct t *t, struct smb2_file_id id, uint8_t class, const uint8_t *data, uint32_t length)
{
	struct smb2_message message = t_request(t, 0, SMB2_SET_INFO, SMB2_BODY_SET_INFO_REQ);

	message.body.set_info_req = (struct smb2_set_info_req){
		.info_type = SMB2_O_INFO_FILE,
		.file_info_class = class,
		.file_id = id,
		.buffer = { data, length },
	};
	return t_ask(t, 0, &message);
}

struct smb_server_connection_info t_look(const struct t *t, uint32_t connection)
{
	struct smb_server_connection_info info;

	smb_server_look(t->server, connection, &info);
	return info;
}
