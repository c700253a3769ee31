/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/client/smb1.h"
#include "protocol/client/cancel.h"

#include "protocol/io/readahead.h"
#include "protocol/wire/contexts.h"
#include "protocol/wire/endian.h"
#include "protocol/wire/names.h"
#include "protocol/wire/smb1.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define MIDS 65535u /* 0xffff is an oplock break's (MS-CIFS 2.2.1.6.2) */
#define MAX_PENDING 50u /* cifs_max_pending */
#define BUFFER_MAX 16384u /* CIFSMaxBufSize */
#define BUFFER_MIN 1024u
#define IOSIZE_DEFAULT 1048576u /* CIFS_DEFAULT_IOSIZE */
#define NON_POSIX_RSIZE (60u * 1024) /* CIFS_DEFAULT_NON_POSIX_RSIZE */
#define NON_POSIX_WSIZE 65536u /* CIFS_DEFAULT_NON_POSIX_WSIZE */
#define RFC1002_WSIZE (0x1ffffu - 64 + 4) /* CIFS_MAX_RFC1002_WSIZE: 17 bits of length without the header */
#define LARGE_RSIZE (0xffffffu - 59) /* CIFS_MAX_RSIZE */
#define LARGE_WSIZE (0xffffffu - 64 + 4) /* CIFS_MAX_WSIZE */
#define READ_HEADER 59u
#define WRITE_HEADER 64u
#define UNIX_INFO_SIZE 12
#define CAPABILITIES                                                                                                   \
	(SMB1_CAP_UNICODE | SMB1_CAP_LARGE_FILES | SMB1_CAP_NT_SMBS | SMB1_CAP_STATUS32 | SMB1_CAP_LEVEL_II_OPLOCKS |  \
	 SMB1_CAP_LARGE_READ_X | SMB1_CAP_LARGE_WRITE_X | SMB1_CAP_EXTENDED_SECURITY)
#define PROCESS_ID 0xfeffu
#define GENERIC_READ 0x80000000u
#define GENERIC_WRITE 0x40000000u
/* CreateDisposition (MS-CIFS 2.2.4.64.1). */
#define FILE_OPEN 1
#define FILE_OPEN_IF 3
#define FILE_OVERWRITE 4
#define FILE_OVERWRITE_IF 5

/** Bytes that a message points to until it is encoded. */
struct scratch {
	uint8_t name[2 * SMB_NAME_MAX + 4];
	uint8_t parameters[2 * SMB_NAME_MAX + 12];
	uint8_t data[UNIX_INFO_SIZE];
	uint8_t token[CLIENT_TOKEN_MAX];
};

struct build {
	const struct smb_client *client;
	const struct smb_request *request;
	struct smb1_message *message;
	struct scratch *scratch;
};

/* --------------------------------------------------------------------------------------------------- what is sent */

static void build_negotiate(const struct build *build)
{
	static const uint8_t dialects[] = "\2NT LM 0.12";

	build->message->kind = SMB1_BODY_NEGOTIATE_REQ;
	build->message->body.negotiate_req.dialects = (struct smb_blob){ dialects, sizeof(dialects) };
}

static void build_session_setup(const struct build *build)
{
	static const uint8_t names[] = "L\0i\0n\0u\0x\0\0\0C\0I\0F\0S\0\0";
	bool unix = build->client->session.smb1_capabilities & SMB1_CAP_UNIX;
	uint32_t length = client_session_token(build->request->purpose == PURPOSE_SESSION_FIRST, build->scratch->token);

	build->message->kind = SMB1_BODY_SESSION_SETUP_REQ;
	build->message->body.session_setup_req = (struct smb1_session_setup_req){
		.max_buffer_size = BUFFER_MAX,
		.max_mpx_count = MAX_PENDING,
		.vc_number = 1,
		.capabilities = CAPABILITIES | (unix ? SMB1_CAP_UNIX : 0),
		.token = { build->scratch->token, length },
		.names = { names, sizeof(names) },
	};
}

static void build_tree_connect(const struct build *build)
{
	static const uint8_t password[1];
	const struct smb_client *client = build->client;
	bool ipc = build->request->purpose == PURPOSE_TREE_IPC;
	char path[2 * CLIENT_HOST_MAX + 4];

	snprintf(path, sizeof(path), "\\\\%s\\%s", client->server, ipc ? "IPC$" : client->share);
	build->message->kind = SMB1_BODY_TREE_CONNECT_REQ;
	build->message->body.tree_connect_req = (struct smb1_tree_connect_req){
		.password = { password, sizeof(password) },
		.path = client_utf16(path, build->scratch->name, sizeof(build->scratch->name)),
		.service = { (const uint8_t *)"?????", 5 },
	};
}

static void begin_trans2(const struct build *build, uint16_t subcommand, uint32_t parameters, uint32_t data)
{
	build->message->kind = SMB1_BODY_TRANS2_REQ;
	build->message->body.trans2_req = (struct smb1_trans2_req){
		.subcommand = subcommand,
		.max_parameter_count = 2,
		.max_data_count = 4000,
		.parameters = { build->scratch->parameters, parameters },
		.data = { build->scratch->data, data },
	};
}

static void build_fs_query(const struct build *build)
{
	static const uint16_t levels[] = {
		[0] = SMB1_QUERY_FS_ATTRIBUTE,
		[PURPOSE_FS_DEVICE - PURPOSE_FS_ATTRIBUTE] = SMB1_QUERY_FS_DEVICE,
	};
	bool unix = build->request->purpose == PURPOSE_UNIX_QUERY;

	smb_put16(build->scratch->parameters,
		  unix ? SMB1_FS_UNIX_INFO : levels[build->request->purpose - PURPOSE_FS_ATTRIBUTE]);
	begin_trans2(build, SMB1_TRANS2_QUERY_FS_INFORMATION, 2, 0);
}

/* What the server offered is what will be used (cifs 6.1, reset_cifs_unix_caps). */
static void build_unix_set(const struct build *build)
{
	smb_put32(build->scratch->parameters, SMB1_FS_UNIX_INFO << 16);
	memset(build->scratch->data, 0, UNIX_INFO_SIZE);
	build->scratch->data[0] = 1; /* version 1.0 */
	smb_put32(build->scratch->data + 4, build->client->session.smb1_unix);
	begin_trans2(build, SMB1_TRANS2_SET_FS_INFORMATION, 4, UNIX_INFO_SIZE);
}

/** Path relative to the share, components separated and preceded by backslashes; the root is one backslash. */
static struct smb_blob path_of(const struct build *build, uint8_t *buffer, uint32_t size)
{
	const struct client_op *op = client_op_at(build->client, build->request->op);
	char path[SMB_NAME_MAX + 1] = "\\";

	snprintf(path + 1, sizeof(path) - 1, "%s", op->name);
	for (char *p = path; *p; p++) {
		if (*p == '/')
			*p = '\\';
	}
	return client_utf16(path, buffer, size);
}

static void build_path_query(const struct build *build)
{
	uint8_t *parameters = build->scratch->parameters;
	struct smb_blob path = path_of(build, parameters + 6, sizeof(build->scratch->parameters) - 8);

	smb_put16(parameters, SMB1_QUERY_FILE_ALL);
	smb_put32(parameters + 2, 0);
	smb_put16(parameters + 6 + path.length, 0);
	begin_trans2(build, SMB1_TRANS2_QUERY_PATH_INFORMATION, 8 + path.length, 0);
}

/** cifs 6.1, cifs_get_disposition; a file is opened again as it is. */
static uint32_t disposition_of(const struct build *build)
{
	const struct client_op *op = client_op_at(build->client, build->request->op);

	if (build->request->purpose != PURPOSE_OPEN)
		return FILE_OPEN;
	if (op->create)
		return op->truncate ? FILE_OVERWRITE_IF : FILE_OPEN_IF;
	return op->truncate ? FILE_OVERWRITE : FILE_OPEN;
}

static void build_open(const struct build *build)
{
	static const uint32_t access[] = {
		[SMB_OPEN_READ] = GENERIC_READ,
		[SMB_OPEN_WRITE] = GENERIC_WRITE,
		[SMB_OPEN_READ_WRITE] = GENERIC_READ | GENERIC_WRITE,
	};
	const struct client_file *file = client_file_at(build->client, build->request->file);

	build->message->kind = SMB1_BODY_CREATE_REQ;
	build->message->body.create_req = (struct smb1_create_req){
		.flags = 2, /* an exclusive oplock */
		.desired_access = access[file->access] | 0x80, /* FILE_READ_ATTRIBUTES */
		.share_access = 7,
		.create_disposition = disposition_of(build),
		.create_options = 0x40, /* no directory */
		.impersonation_level = 2,
		.security_flags = 3,
		.name = path_of(build, build->scratch->name, sizeof(build->scratch->name)),
	};
}

static uint16_t fid_of(const struct build *build)
{
	return (uint16_t)client_file_at(build->client, build->request->file)->id.volatile_id;
}

static void build_read(const struct build *build)
{
	build->message->kind = SMB1_BODY_READ_REQ;
	build->message->body.read_req = (struct smb1_read_req){
		.fid = fid_of(build),
		.offset = build->request->offset,
		.length = build->request->length,
	};
}

static void build_write(const struct build *build)
{
	const struct smb_request *request = build->request;

	build->message->kind = SMB1_BODY_WRITE_REQ;
	build->message->body.write_req = (struct smb1_write_req){
		.fid = fid_of(build),
		.offset = request->offset,
		.data_length = request->length,
		.payload = { request->data_source, request->data_offset, request->data_length },
	};
}

static void build_close(const struct build *build)
{
	build->message->kind = SMB1_BODY_CLOSE_REQ;
	build->message->body.close_req = (struct smb1_close_req){ .fid = fid_of(build), .last_write_time = UINT32_MAX };
}

static void build_late_close(const struct build *build)
{
	build->message->kind = SMB1_BODY_CLOSE_REQ;
	build->message->body.close_req = (struct smb1_close_req){
		.fid = (uint16_t)client_late_close_id(build->request).volatile_id,
		.last_write_time = UINT32_MAX,
	};
}

static void build_empty(const struct build *build)
{
	build->message->kind = SMB1_BODY_EMPTY;
}

/** The purposes that SMB1 has words for. */
static const struct {
	uint8_t command; /* enum smb1_command */
	void (*build)(const struct build *build);
} words[PURPOSES] = {
	[PURPOSE_NEGOTIATE] = { SMB1_NEGOTIATE, build_negotiate },
	[PURPOSE_SESSION_FIRST] = { SMB1_SESSION_SETUP_ANDX, build_session_setup },
	[PURPOSE_SESSION_FINAL] = { SMB1_SESSION_SETUP_ANDX, build_session_setup },
	[PURPOSE_TREE_IPC] = { SMB1_TREE_CONNECT_ANDX, build_tree_connect },
	[PURPOSE_TREE_SHARE] = { SMB1_TREE_CONNECT_ANDX, build_tree_connect },
	[PURPOSE_UNIX_QUERY] = { SMB1_TRANSACTION2, build_fs_query },
	[PURPOSE_UNIX_SET] = { SMB1_TRANSACTION2, build_unix_set },
	[PURPOSE_FS_ATTRIBUTE] = { SMB1_TRANSACTION2, build_fs_query },
	[PURPOSE_FS_DEVICE] = { SMB1_TRANSACTION2, build_fs_query },
	[PURPOSE_STAT_INFO] = { SMB1_TRANSACTION2, build_path_query },
	[PURPOSE_OPEN] = { SMB1_NT_CREATE_ANDX, build_open },
	[PURPOSE_REOPEN] = { SMB1_NT_CREATE_ANDX, build_open },
	[PURPOSE_CLOSE] = { SMB1_CLOSE, build_close },
	[PURPOSE_LATE_CLOSE] = { SMB1_CLOSE, build_late_close },
	[PURPOSE_TREE_DISCONNECT] = { SMB1_TREE_DISCONNECT, build_empty },
	[PURPOSE_LOGOFF] = { SMB1_LOGOFF_ANDX, build_empty },
	[PURPOSE_READ_WINDOW] = { SMB1_READ_ANDX, build_read },
	[PURPOSE_READ_PAGE] = { SMB1_READ_ANDX, build_read },
	[PURPOSE_READ_DIRECT] = { SMB1_READ_ANDX, build_read },
	[PURPOSE_WRITE_BACK] = { SMB1_WRITE_ANDX, build_write },
	[PURPOSE_WRITE_THROUGH] = { SMB1_WRITE_ANDX, build_write },
	[PURPOSE_WRITE_DIRECT] = { SMB1_WRITE_ANDX, build_write },
};

bool client_speaks(const struct smb_client *client, enum client_purpose purpose)
{
	bool unix = purpose == PURPOSE_UNIX_QUERY || purpose == PURPOSE_UNIX_SET;

	if (!client_is_smb1(client))
		return !unix;
	if (unix && (client->mount.nounix || !(client->session.smb1_capabilities & SMB1_CAP_UNIX)))
		return false;
	return words[purpose].build;
}

static uint16_t tid_of(const struct smb_client *client, uint8_t command)
{
	switch (command) {
	case SMB1_NEGOTIATE:
	case SMB1_SESSION_SETUP_ANDX:
	case SMB1_TREE_CONNECT_ANDX:
	case SMB1_LOGOFF_ANDX:
		return 0;
	default:
		return (uint16_t)client->session.tree_share;
	}
}

/** A logon under way has an id of its own: the one of its first answer. */
static uint16_t uid_of(const struct smb_client *client, const struct smb_request *request, uint8_t command)
{
	if (command == SMB1_SESSION_SETUP_ANDX)
		return (uint16_t)client_channel_at(client, request->channel)->setup_session;
	return (uint16_t)client->session.session_id;
}

struct smb_pdu client_smb1_encode(const struct smb_client *client, uint32_t slot, uint8_t *buffer, uint32_t size)
{
	struct smb1_message message;
	struct scratch scratch;
	struct build build = { client, client_request_at(client, slot), &message, &scratch };
	uint8_t command = words[build.request->purpose].command;
	enum smb_wire_verdict verdict;
	struct smb_pdu pdu;

	assert(words[build.request->purpose].build);
	message.header = (struct smb1_header){
		.command = command,
		.flags = SMB1_FLAGS_CASE_INSENSITIVE | SMB1_FLAGS_CANONICALIZED,
		.flags2 = SMB1_FLAGS2_UNICODE | SMB1_FLAGS2_NT_STATUS | SMB1_FLAGS2_EXTENDED_SECURITY |
			  SMB1_FLAGS2_LONG_NAMES,
		.pid = PROCESS_ID,
		.tid = tid_of(client, command),
		.uid = uid_of(client, build.request, command),
		.mid = (uint16_t)(build.request->message_id % MIDS),
	};
	words[build.request->purpose].build(&build);
	verdict = smb1_message_encode(&message, buffer, size, &pdu);
	assert(verdict == SMB_WIRE_OK);
	(void)verdict;
	return pdu;
}

/* ----------------------------------------------------------------------------------------------- what is received */

/** The MessageId that a MID stands for: the newest one. */
static uint64_t message_id_of(const struct smb_client *client, uint32_t channel, uint16_t mid)
{
	uint64_t next = client_channel_at(client, channel)->window.next;
	uint64_t back = (next % MIDS + MIDS - mid % MIDS) % MIDS;

	return back && back <= next ? next - back : UINT64_MAX - 1; /* which nothing has */
}

static void take_negotiate(const struct smb1_negotiate_rsp *rsp, struct smb2_message *message)
{
	uint16_t mpx = rsp->max_mpx_count < MAX_PENDING ? rsp->max_mpx_count : MAX_PENDING;

	/* One dialect was offered; a buffer below 1 KiB holds no answer (MS-CIFS 2.2.4.52.2). */
	if (rsp->dialect_index || rsp->max_buffer_size < BUFFER_MIN) {
		message->header.status = STATUS_NOT_SUPPORTED;
		return;
	}
	message->kind = SMB2_BODY_NEGOTIATE_RSP;
	message->header.credits = mpx; /* set_credits(maxReq) */
	message->body.negotiate_rsp = (struct smb2_negotiate_rsp){
		.security_mode = rsp->security_mode,
		.dialect = SMB1_DIALECT,
		.capabilities = rsp->capabilities,
		.max_transact_size = rsp->max_buffer_size,
		.max_read_size = rsp->max_buffer_size,
		.max_write_size = rsp->max_buffer_size,
		.system_time = rsp->system_time,
		.token = rsp->token,
	};
	memcpy(message->body.negotiate_rsp.server_guid, rsp->server_guid, sizeof(rsp->server_guid));
}

/** OplockLevel in SMB2's words (MS-CIFS 2.2.4.64.2). */
static uint8_t oplock_of(uint8_t level)
{
	static const uint8_t levels[] = { 0, SMB2_OPLOCK_LEVEL_EXCLUSIVE, SMB2_OPLOCK_LEVEL_BATCH,
					  SMB2_OPLOCK_LEVEL_II };

	return level < sizeof(levels) ? levels[level] : 0;
}

static void take_create(const struct smb1_create_rsp *rsp, struct smb2_message *message)
{
	message->kind = SMB2_BODY_CREATE_RSP;
	message->body.create_rsp = (struct smb2_create_rsp){
		.oplock_level = oplock_of(rsp->oplock_level),
		.create_action = rsp->create_action,
		.times = rsp->times,
		.allocation_size = rsp->allocation_size,
		.end_of_file = rsp->end_of_file,
		.file_attributes = rsp->file_attributes,
		.file_id = { rsp->fid, rsp->fid },
	};
}

/* Nothing read stands for the end of the file. */
static void take_read(const struct smb1_read_rsp *rsp, struct smb2_message *message)
{
	if (!rsp->data_length) {
		message->header.status = STATUS_END_OF_FILE;
		return;
	}
	message->kind = SMB2_BODY_READ_RSP;
	message->body.read_rsp =
		(struct smb2_read_rsp){ .data_length = rsp->data_length, .data = rsp->data, .payload = rsp->payload };
}

static void take_body(const struct smb1_message *from, struct smb2_message *message)
{
	switch (from->kind) {
	case SMB1_BODY_NEGOTIATE_RSP:
		take_negotiate(&from->body.negotiate_rsp, message);
		break;
	case SMB1_BODY_SESSION_SETUP_RSP:
		message->kind = SMB2_BODY_SESSION_SETUP_RSP;
		message->body.session_setup_rsp =
			(struct smb2_session_setup_rsp){ .token = from->body.session_setup_rsp.token };
		break;
	case SMB1_BODY_TREE_CONNECT_RSP:
		message->kind = SMB2_BODY_TREE_CONNECT_RSP;
		message->body.tree_connect_rsp = (struct smb2_tree_connect_rsp){
			.maximal_access = from->body.tree_connect_rsp.maximal_access,
		};
		break;
	case SMB1_BODY_CREATE_RSP:
		take_create(&from->body.create_rsp, message);
		break;
	case SMB1_BODY_READ_RSP:
		take_read(&from->body.read_rsp, message);
		break;
	case SMB1_BODY_WRITE_RSP:
		message->kind = SMB2_BODY_WRITE_RSP;
		message->body.write_rsp = (struct smb2_write_rsp){ .count = from->body.write_rsp.count };
		break;
	default:
		message->kind = SMB2_BODY_EMPTY;
		break;
	}
	if (message->header.status != STATUS_SUCCESS && message->header.status != STATUS_MORE_PROCESSING_REQUIRED) {
		message->kind = SMB2_BODY_ERROR_RSP;
		message->body.error_rsp = (struct smb2_error_rsp){ 0 };
	}
}

/** Version, then 64 bits of what can be done (SNIA CIFS Unix extensions, SMB_QUERY_CIFS_UNIX_INFO). */
static void note_unix(struct smb_client *client, const struct smb1_message *message)
{
	const struct smb_blob *data = &message->body.trans2_rsp.data;

	if (message->kind != SMB1_BODY_TRANS2_RSP || message->header.status || data->length < UNIX_INFO_SIZE)
		return;
	client->session.smb1_unix = smb_get32(data->data + 4);
	client_smb1_sizes(client);
}

bool client_smb1_decode(struct smb_client *client, uint32_t channel, const struct smb_pdu *pdu,
			struct smb2_message *message)
{
	struct smb1_message from;
	uint32_t slot;

	if (smb1_message_decode(pdu, &from) != SMB_WIRE_OK || !(from.header.flags & SMB1_FLAGS_REPLY))
		return false;
	message->header = (struct smb2_header){
		.status = from.header.status,
		.command = UINT16_MAX,
		.flags = SMB2_FLAGS_SERVER_TO_REDIR,
		.message_id = message_id_of(client, channel, from.header.mid),
		.tree_id = from.header.tid,
		.session_id = from.header.uid,
	};
	slot = smb_requests_find(&client->requests, client_request_arrays(client), channel, message->header.message_id);
	if (slot == NONE || words[client_request_at(client, slot)->purpose].command != from.header.command)
		return true; /* it answers nothing */
	message->header.command = client_request_at(client, slot)->command;
	message->header.credits = 1;
	if (client_request_at(client, slot)->purpose == PURPOSE_UNIX_QUERY)
		note_unix(client, &from);
	take_body(&from, message);
	return true;
}

/* ----------------------------------------------------------------------------------------------------------- sizes */

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t read_size(const struct smb_client *client)
{
	const struct client_session *session = &client->session;
	bool large = session->smb1_capabilities & SMB1_CAP_LARGE_READ_X;
	uint32_t size = client->mount.rsize;

	if (!size && session->smb1_unix & SMB1_UNIX_LARGE_READ)
		size = IOSIZE_DEFAULT;
	else if (!size)
		size = large ? NON_POSIX_RSIZE : session->max_buf - READ_HEADER;
	if (!large)
		size = smaller(size, BUFFER_MAX);
	return smaller(size, LARGE_RSIZE);
}

static uint32_t write_size(const struct smb_client *client)
{
	const struct client_session *session = &client->session;
	bool unix = session->smb1_unix & SMB1_UNIX_LARGE_WRITE;
	uint32_t size = client->mount.wsize;

	if (!size)
		size = unix ? IOSIZE_DEFAULT : NON_POSIX_WSIZE;
	if (!unix)
		size = smaller(size, RFC1002_WSIZE);
	if (!(session->smb1_capabilities & SMB1_CAP_LARGE_WRITE_X))
		size = smaller(size, session->max_buf - WRITE_HEADER + 4);
	return smaller(size, LARGE_WSIZE);
}

void client_smb1_sizes(struct smb_client *client)
{
	struct client_session *session = &client->session;

	session->rsize = read_size(client);
	session->wsize = write_size(client);
	session->ra_pages = smb_readahead_limit(&client->policy, client->mount.rasize, session->rsize,
						client->page_bytes);
}
