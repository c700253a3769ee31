/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/server/smb1.h"

#include "protocol/wire/endian.h"
#include "sim/server/outputs.h"
#include "sim/server/requests.h"
#include "sim/server/tokens.h"

#include <string.h>

#define INFO_ALL_FIXED 72u /* SMB_QUERY_FILE_ALL_INFO without a name (MS-CIFS 2.2.8.3.10) */
#define FILE_ALL_COMMON 64u /* what it has in common with FileAllInformation: basic and standard */
#define INFO_FILE_ALL 0x12
#define UNIX_INFO_SIZE 12u
#define LARGE_IO_MAX 0xffffffu /* bytes: what the 24-bit length of a message allows */
#define NO_UNIX_WRITE_MAX 0x1ffffu /* and NetBIOS framing (cifs 6.1, CIFS_MAX_RFC1002_WSIZE) */

/** One exchange in SMB1's words. */
struct exchange {
	struct server_call *call;
	const struct smb1_message *request;
	struct smb1_message *reply;
};

/* ------------------------------------------------------------------- identifiers: 16 bits name one of the server's */

static uint64_t session_of_uid(const struct smb_server *server, uint16_t uid)
{
	uint32_t index = uid - 1u;

	return index < server->limits.sessions ? server_session(server, index)->id : 0;
}

static uint32_t tree_of_tid(const struct smb_server *server, uint16_t tid)
{
	uint32_t index = tid - 1u;

	return index < server->limits.trees ? server_tree(server, index)->id : 0;
}

static struct smb2_file_id file_of_fid(const struct smb_server *server, uint16_t fid)
{
	uint32_t index = fid - 1u;
	uint64_t id = index < server->limits.handles ? server_handle(server, index)->id : 0;

	return (struct smb2_file_id){ id, id };
}

static struct smb2_header header_of(const struct smb_server *server, const struct smb1_header *header, uint16_t command)
{
	return (struct smb2_header){
		.command = command,
		.message_id = header->mid,
		.process_id = header->pid,
		.tree_id = tree_of_tid(server, header->tid),
		.session_id = session_of_uid(server, header->uid),
	};
}

/* Ids of the server end in the number that stands for them here (session_new, tree_new, handle_new). */
static struct smb1_header reply_header(const struct smb2_header *header, uint8_t command, uint32_t status)
{
	return (struct smb1_header){
		.command = command,
		.status = status,
		.flags = SMB1_FLAGS_REPLY | SMB1_FLAGS_CASE_INSENSITIVE,
		.flags2 = SMB1_FLAGS2_UNICODE | SMB1_FLAGS2_NT_STATUS | SMB1_FLAGS2_EXTENDED_SECURITY |
			  SMB1_FLAGS2_LONG_NAMES,
		.pid = header->process_id,
		.tid = (uint16_t)header->tree_id,
		.uid = (uint16_t)header->session_id,
		.mid = (uint16_t)header->message_id,
	};
}

/* ------------------------------------------------------------------------------------------------------ commands */

/** Let the command of `kind` run for what `request` asks. */
static uint32_t run(struct exchange *exchange, struct smb2_message *request)
{
	struct server_call *call = exchange->call;

	call->request = request;
	call->is_single = true;
	call->is_last = true;
	server_reply_header(&call->reply->header, &request->header, STATUS_SUCCESS);
	return server_call_run(call);
}

static struct smb2_message begin(const struct exchange *exchange, uint16_t command, enum smb2_body_kind kind)
{
	struct smb2_message request = { .kind = kind };

	request.header = header_of(exchange->call->server, &exchange->request->header, command);
	return request;
}

static uint32_t negotiate(struct exchange *exchange)
{
	struct server_call *call = exchange->call;
	const struct smb_server_profile *profile = &call->server->profile;
	struct smb1_negotiate_rsp *reply = &exchange->reply->body.negotiate_rsp;
	struct server_connection *on = call->on;

	exchange->reply->kind = SMB1_BODY_NEGOTIATE_RSP;
	*reply = (struct smb1_negotiate_rsp){ .dialect_index = SMB1_NO_DIALECT };
	if (profile->smb1_max_mpx)
		reply->dialect_index = smb1_dialect_index(exchange->request->body.negotiate_req.dialects,
							  SMB1_DIALECT_NAME);
	if (reply->dialect_index == SMB1_NO_DIALECT)
		return STATUS_SUCCESS;
	on->negotiated = true;
	on->dialect = SMB1_DIALECT;
	on->max_read = LARGE_IO_MAX;
	on->max_write = profile->smb1_unix && profile->smb1_unix_large_write ? LARGE_IO_MAX : NO_UNIX_WRITE_MAX;
	on->max_transact = profile->smb1_max_buffer;
	reply->security_mode = 3; /* user level, encrypted passwords; signing not offered */
	reply->max_mpx_count = (uint16_t)profile->smb1_max_mpx;
	reply->max_vcs = 1;
	reply->max_buffer_size = profile->smb1_max_buffer;
	reply->max_raw_size = SMB2_CREDIT_UNIT;
	reply->capabilities = SMB1_CAP_UNICODE | SMB1_CAP_LARGE_FILES | SMB1_CAP_NT_SMBS | SMB1_CAP_STATUS32 |
			      SMB1_CAP_LEVEL_II_OPLOCKS | SMB1_CAP_NT_FIND | SMB1_CAP_LARGE_READ_X |
			      SMB1_CAP_LARGE_WRITE_X | SMB1_CAP_EXTENDED_SECURITY |
			      (profile->smb1_unix ? SMB1_CAP_UNIX : 0);
	reply->system_time = server_filetime(call->server);
	memcpy(reply->server_guid, call->server->server_guid, sizeof(reply->server_guid));
	reply->token = (struct smb_blob){ server_negotiate_token, sizeof(server_negotiate_token) };
	return STATUS_SUCCESS;
}

static uint32_t session_setup(struct exchange *exchange)
{
	static const uint8_t names[] = "U\0n\0i\0x\0\0\0S\0a\0m\0b\0a\0\0";
	struct smb2_message request = begin(exchange, SMB2_SESSION_SETUP, SMB2_BODY_SESSION_SETUP_REQ);
	uint32_t status;

	request.body.session_setup_req = (struct smb2_session_setup_req){
		.token = exchange->request->body.session_setup_req.token,
	};
	status = run(exchange, &request);
	exchange->reply->kind = SMB1_BODY_SESSION_SETUP_RSP;
	exchange->reply->header.uid = (uint16_t)exchange->call->reply->header.session_id;
	exchange->reply->body.session_setup_rsp = (struct smb1_session_setup_rsp){
		.action = status == STATUS_SUCCESS, /* guest */
		.token = exchange->call->reply->body.session_setup_rsp.token,
		.names = { names, sizeof(names) },
	};
	return status;
}

static uint32_t logoff(struct exchange *exchange)
{
	struct smb2_message request = begin(exchange, SMB2_LOGOFF, SMB2_BODY_EMPTY);

	return run(exchange, &request);
}

static uint32_t tree_connect(struct exchange *exchange)
{
	const struct smb1_tree_connect_req *asked = &exchange->request->body.tree_connect_req;
	struct smb2_message request = begin(exchange, SMB2_TREE_CONNECT, SMB2_BODY_TREE_CONNECT_REQ);
	static const uint8_t file_system[] = { 'N', 0, 'T', 0, 'F', 0, 'S', 0 };
	uint32_t status;

	request.body.tree_connect_req = (struct smb2_tree_connect_req){ .path = asked->path };
	status = run(exchange, &request);
	if (status_is_error(status))
		return status;
	const struct smb2_tree_connect_rsp *answer = &exchange->call->reply->body.tree_connect_rsp;
	bool is_pipe = answer->share_type == 2;
	exchange->reply->kind = SMB1_BODY_TREE_CONNECT_RSP;
	exchange->reply->header.tid = (uint16_t)exchange->call->reply->header.tree_id;
	exchange->reply->body.tree_connect_rsp = (struct smb1_tree_connect_rsp){
		.optional_support = 1,
		.has_access = asked->flags & 8,
		.maximal_access = answer->maximal_access,
		.service = { (const uint8_t *)(is_pipe ? "IPC" : "A:"), is_pipe ? 3 : 2 },
		.file_system = { is_pipe ? NULL : file_system, is_pipe ? 0 : sizeof(file_system) },
	};
	return STATUS_SUCCESS;
}

static uint32_t tree_disconnect(struct exchange *exchange)
{
	struct smb2_message request = begin(exchange, SMB2_TREE_DISCONNECT, SMB2_BODY_EMPTY);

	return run(exchange, &request);
}

/* Paths begin with a backslash here, and do not in SMB2. */
static struct smb_blob path_of(struct smb_blob name)
{
	if (name.length >= 2 && name.data[0] == '\\' && !name.data[1])
		return (struct smb_blob){ name.data + 2, name.length - 2 };
	return name;
}

static uint8_t oplock_asked(uint32_t flags)
{
	if (flags & 4)
		return 0x09;
	return flags & 2 ? 0x08 : 0x00;
}

static uint8_t oplock_granted(uint8_t level)
{
	switch (level) {
	case 0x01:
		return 3;
	case 0x08:
		return 1;
	case 0x09:
		return 2;
	default:
		return 0;
	}
}

static uint32_t create(struct exchange *exchange)
{
	const struct smb1_create_req *asked = &exchange->request->body.create_req;
	struct smb2_message request = begin(exchange, SMB2_CREATE, SMB2_BODY_CREATE_REQ);
	uint32_t status;

	if (asked->root_fid)
		return STATUS_NOT_SUPPORTED;
	request.body.create_req = (struct smb2_create_req){
		.oplock_level = oplock_asked(asked->flags),
		.impersonation_level = asked->impersonation_level,
		.desired_access = asked->desired_access,
		.file_attributes = asked->file_attributes,
		.share_access = asked->share_access,
		.create_disposition = asked->create_disposition,
		.create_options = asked->create_options,
		.name = path_of(asked->name),
	};
	status = run(exchange, &request);
	if (status_is_error(status))
		return status;
	const struct smb2_create_rsp *answer = &exchange->call->reply->body.create_rsp;
	exchange->reply->kind = SMB1_BODY_CREATE_RSP;
	exchange->reply->body.create_rsp = (struct smb1_create_rsp){
		.oplock_level = oplock_granted(answer->oplock_level),
		.fid = (uint16_t)answer->file_id.volatile_id,
		.create_action = answer->create_action,
		.times = answer->times,
		.file_attributes = answer->file_attributes,
		.allocation_size = answer->allocation_size,
		.end_of_file = answer->end_of_file,
		.is_directory = answer->file_attributes & SERVER_ATTRIBUTE_DIRECTORY ? 1 : 0,
	};
	return status;
}

static uint32_t close_file(struct exchange *exchange)
{
	struct smb2_message request = begin(exchange, SMB2_CLOSE, SMB2_BODY_CLOSE_REQ);

	request.body.close_req = (struct smb2_close_req){
		.file_id = file_of_fid(exchange->call->server, exchange->request->body.close_req.fid),
	};
	return run(exchange, &request);
}

static uint32_t flush(struct exchange *exchange)
{
	struct smb2_message request = begin(exchange, SMB2_FLUSH, SMB2_BODY_FLUSH_REQ);

	request.body.flush_req = (struct smb2_flush_req){
		.file_id = file_of_fid(exchange->call->server, exchange->request->body.flush_req.fid),
	};
	return run(exchange, &request);
}

static void fill_read(struct smb1_message *reply, const struct smb2_read_rsp *answer)
{
	reply->kind = SMB1_BODY_READ_RSP;
	reply->body.read_rsp = (struct smb1_read_rsp){
		.available = UINT16_MAX, /* files always say so */
		.data_length = answer->data_length,
		.data = answer->data,
		.payload = answer->payload,
	};
}

/* The end of the file is no error: nothing was read (MS-CIFS 3.3.5.36). */
static uint32_t read_file(struct exchange *exchange)
{
	const struct smb1_read_req *asked = &exchange->request->body.read_req;
	struct smb2_message request = begin(exchange, SMB2_READ, SMB2_BODY_READ_REQ);
	uint32_t status;

	request.body.read_req = (struct smb2_read_req){
		.length = asked->length,
		.offset = asked->offset,
		.file_id = file_of_fid(exchange->call->server, asked->fid),
	};
	status = run(exchange, &request);
	if (status == STATUS_END_OF_FILE)
		exchange->call->reply->body.read_rsp = (struct smb2_read_rsp){ 0 };
	else if (status_is_error(status) || exchange->call->is_waiting)
		return status;
	fill_read(exchange->reply, &exchange->call->reply->body.read_rsp);
	return STATUS_SUCCESS;
}

static void fill_write(struct smb1_message *reply, uint32_t count)
{
	reply->kind = SMB1_BODY_WRITE_RSP;
	reply->body.write_rsp = (struct smb1_write_rsp){ .count = count, .available = UINT16_MAX };
}

static uint32_t write_file(struct exchange *exchange)
{
	const struct smb1_write_req *asked = &exchange->request->body.write_req;
	struct smb2_message request = begin(exchange, SMB2_WRITE, SMB2_BODY_WRITE_REQ);
	uint32_t status;

	request.body.write_req = (struct smb2_write_req){
		.offset = asked->offset,
		.file_id = file_of_fid(exchange->call->server, asked->fid),
		.data_length = asked->data_length,
		.data = asked->data,
		.payload = asked->payload,
	};
	status = run(exchange, &request);
	if (!status_is_error(status) && !exchange->call->is_waiting)
		fill_write(exchange->reply, exchange->call->reply->body.write_rsp.count);
	return status;
}

static uint32_t echo(struct exchange *exchange)
{
	exchange->reply->kind = SMB1_BODY_ECHO;
	exchange->reply->body.echo = exchange->request->body.echo;
	exchange->reply->body.echo.count = 1; /* SequenceNumber */
	return STATUS_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------- TRANSACTION2 */

static void answer_data(struct exchange *exchange, const uint8_t *data, uint32_t length)
{
	exchange->reply->kind = SMB1_BODY_TRANS2_RSP;
	exchange->reply->body.trans2_rsp = (struct smb1_trans2_rsp){ .data = { data, length } };
}

static uint32_t query_fs(struct exchange *exchange, uint16_t level)
{
	static const uint8_t device[] = { 7, 0, 0, 0, 0x20, 0, 0, 0 }; /* a disk that is mounted */
	static const uint8_t attribute[] = { 0x2f, 0, 1, 0, 255, 0, 0, 0, 8, 0, 0, 0, 'N', 0, 'T', 0, 'F', 0, 'S', 0 };
	const struct smb_server_profile *profile = &exchange->call->server->profile;
	uint8_t *info;

	switch (level) {
	case SMB1_QUERY_FS_DEVICE:
		answer_data(exchange, device, sizeof(device));
		return STATUS_SUCCESS;
	case SMB1_QUERY_FS_ATTRIBUTE:
		answer_data(exchange, attribute, sizeof(attribute));
		return STATUS_SUCCESS;
	case SMB1_FS_UNIX_INFO:
		if (!profile->smb1_unix)
			return STATUS_INVALID_INFO_CLASS;
		info = server_call_scratch(exchange->call, UNIX_INFO_SIZE);
		memset(info, 0, UNIX_INFO_SIZE);
		smb_put16(info, 1); /* version 1.0 */
		smb_put32(info + 4,
			  SMB1_UNIX_LARGE_READ | (profile->smb1_unix_large_write ? SMB1_UNIX_LARGE_WRITE : 0));
		answer_data(exchange, info, UNIX_INFO_SIZE);
		return STATUS_SUCCESS;
	default:
		return STATUS_INVALID_INFO_CLASS;
	}
}

/* What SMB2 asks in three steps: open, look, close. */
static uint32_t look_at_path(struct exchange *exchange, struct smb_blob path)
{
	struct smb2_message open = begin(exchange, SMB2_CREATE, SMB2_BODY_CREATE_REQ);
	struct smb2_message query = begin(exchange, SMB2_QUERY_INFO, SMB2_BODY_QUERY_INFO_REQ);
	struct smb2_message close = begin(exchange, SMB2_CLOSE, SMB2_BODY_CLOSE_REQ);
	struct server_call *call = exchange->call;
	uint8_t *info;
	uint32_t status;

	open.body.create_req = (struct smb2_create_req){ .impersonation_level = 2,
							 .desired_access = 0x80,
							 .share_access = 7,
							 .create_disposition = 1,
							 .name = path };
	status = run(exchange, &open);
	if (status_is_error(status))
		return status;
	struct smb2_file_id id = call->reply->body.create_rsp.file_id;
	query.body.query_info_req = (struct smb2_query_info_req){ .info_type = SMB2_O_INFO_FILE,
								  .file_info_class = INFO_FILE_ALL,
								  .output_buffer_length = 4096,
								  .file_id = id };
	status = run(exchange, &query);
	if (!status_is_error(status)) {
		info = server_call_scratch(call, INFO_ALL_FIXED);
		memset(info, 0, INFO_ALL_FIXED);
		memcpy(info, call->reply->body.buffer_rsp.buffer.data, FILE_ALL_COMMON);
		answer_data(exchange, info, INFO_ALL_FIXED);
	}
	close.body.close_req = (struct smb2_close_req){ .file_id = id };
	run(exchange, &close);
	return status;
}

/* Level, four reserved bytes, and a name that ends with a terminator (MS-CIFS 2.2.6.6.1). */
static uint32_t query_path(struct exchange *exchange, struct smb_blob parameters)
{
	struct smb_blob name;

	if (parameters.length < 6 || smb_get16(parameters.data) != SMB1_QUERY_FILE_ALL)
		return STATUS_INVALID_INFO_CLASS;
	name = (struct smb_blob){ parameters.data + 6, (parameters.length - 6) & ~1u };
	while (name.length && !smb_get16(name.data + name.length - 2))
		name.length -= 2;
	return look_at_path(exchange, path_of(name));
}

static uint32_t transaction2(struct exchange *exchange)
{
	const struct smb1_trans2_req *request = &exchange->request->body.trans2_req;
	struct server_call *call = exchange->call;
	struct smb2_header ids = header_of(call->server, &exchange->request->header, SMB2_QUERY_INFO);
	uint32_t session = server_session_find(call->server, ids.session_id);

	if (session == SERVER_NONE || server_session(call->server, session)->state != SERVER_SESSION_VALID)
		return STATUS_USER_SESSION_DELETED;
	if (server_tree_find(call->server, session, ids.tree_id) == SERVER_NONE)
		return STATUS_NETWORK_NAME_DELETED;
	switch (request->subcommand) {
	case SMB1_TRANS2_QUERY_FS_INFORMATION:
		if (request->parameters.length < 2)
			return STATUS_INVALID_PARAMETER;
		return query_fs(exchange, smb_get16(request->parameters.data));
	case SMB1_TRANS2_SET_FS_INFORMATION:
		if (request->parameters.length < 4 || smb_get16(request->parameters.data + 2) != SMB1_FS_UNIX_INFO ||
		    request->data.length < UNIX_INFO_SIZE || !call->server->profile.smb1_unix)
			return STATUS_INVALID_PARAMETER;
		answer_data(exchange, NULL, 0);
		return STATUS_SUCCESS;
	case SMB1_TRANS2_QUERY_PATH_INFORMATION:
		return query_path(exchange, request->parameters);
	default:
		return STATUS_NOT_SUPPORTED;
	}
}

/* --------------------------------------------------------------------------------------------------- one exchange */

static const struct {
	uint8_t command;
	uint32_t (*run)(struct exchange *exchange);
} commands[] = {
	{ SMB1_NEGOTIATE, negotiate },
	{ SMB1_SESSION_SETUP_ANDX, session_setup },
	{ SMB1_LOGOFF_ANDX, logoff },
	{ SMB1_TREE_CONNECT_ANDX, tree_connect },
	{ SMB1_TREE_DISCONNECT, tree_disconnect },
	{ SMB1_NT_CREATE_ANDX, create },
	{ SMB1_CLOSE, close_file },
	{ SMB1_FLUSH, flush },
	{ SMB1_READ_ANDX, read_file },
	{ SMB1_WRITE_ANDX, write_file },
	{ SMB1_TRANSACTION2, transaction2 },
	{ SMB1_ECHO, echo },
};

static uint32_t dispatch(struct exchange *exchange)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].command == exchange->request->header.command)
			return commands[i].run(exchange);
	}
	return STATUS_NOT_SUPPORTED;
}

static enum server_cut admit(const struct server_call *call, const struct smb1_header *header)
{
	const struct server_connection *on = call->on;

	if (header->flags & SMB1_FLAGS_REPLY)
		return SERVER_CUT_RESPONSE;
	if (on->negotiated && on->dialect != SMB1_DIALECT)
		return SERVER_CUT_MALFORMED; /* MS-SMB2 3.3.5.2: anything else than SMB2 */
	if (header->command == SMB1_NEGOTIATE && on->negotiated)
		return SERVER_CUT_NEGOTIATED_TWICE;
	if (header->command != SMB1_NEGOTIATE && !on->negotiated)
		return SERVER_CUT_NOT_NEGOTIATED;
	if (on->negotiated && on->outstanding >= call->server->profile.smb1_max_mpx)
		return SERVER_CUT_MPX;
	return SERVER_CUT_NONE;
}

static enum server_cut send(const struct server_call *call, struct smb1_message *reply, uint32_t status, uint8_t *bytes)
{
	struct smb_pdu pdu;

	reply->header.status = status;
	if (status_is_error(status) && status != STATUS_MORE_PROCESSING_REQUIRED)
		reply->kind = SMB1_BODY_EMPTY;
	if (smb1_message_encode(reply, bytes, call->reply_room, &pdu) != SMB_WIRE_OK)
		return SERVER_CUT_TOO_LONG;
	call->on->outstanding--;
	server_output_send(call->server, call->connection, &pdu);
	return SERVER_CUT_NONE;
}

enum server_cut server_smb1_receive(struct server_call *call, const struct smb_pdu *pdu, uint8_t *bytes)
{
	struct smb1_message request, reply = { .kind = SMB1_BODY_EMPTY };
	struct exchange exchange = { call, &request, &reply };
	enum smb_wire_verdict verdict = smb1_message_decode(pdu, &request);
	enum server_cut cut;
	uint32_t status;

	if (verdict != SMB_WIRE_OK && verdict != SMB_WIRE_UNKNOWN_COMMAND)
		return SERVER_CUT_MALFORMED;
	cut = admit(call, &request.header);
	if (cut)
		return cut;
	call->on->outstanding++;
	struct smb2_header ids = header_of(call->server, &request.header, 0);
	reply.header = reply_header(&ids, request.header.command, STATUS_SUCCESS);
	reply.header.tid = request.header.tid;
	reply.header.uid = request.header.uid;
	if (verdict == SMB_WIRE_UNKNOWN_COMMAND)
		return SERVER_CUT_MALFORMED; /* no form to refuse it in */
	status = dispatch(&exchange);
	if (call->cut || call->is_waiting)
		return call->cut;
	return send(call, &reply, status, bytes);
}

void server_smb1_answer(struct smb_server *server, const struct server_request *request, uint32_t status)
{
	struct smb1_message reply = { .kind = SMB1_BODY_EMPTY };
	struct server_connection *on = server_connection(server, request->connection);
	bool is_read = request->command == SMB2_READ;
	struct smb2_header ids = { .message_id = request->message_id,
				   .process_id = request->process_id,
				   .tree_id = request->tree_id,
				   .session_id = request->session_id };
	uint8_t bytes[SERVER_CHUNK];
	struct smb_pdu pdu;

	reply.header = reply_header(&ids, is_read ? SMB1_READ_ANDX : SMB1_WRITE_ANDX, status);
	if (!status_is_error(status) && is_read)
		fill_read(&reply,
			  &(struct smb2_read_rsp){ .data_length = request->data.length, .payload = request->data });
	else if (!status_is_error(status))
		fill_write(&reply, request->data.length);
	enum smb_wire_verdict verdict = smb1_message_encode(&reply, bytes, sizeof(bytes), &pdu);
	assert(verdict == SMB_WIRE_OK);
	(void)verdict;
	on->outstanding--;
	server_output_send(server, request->connection, &pdu);
}
