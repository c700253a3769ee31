/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each request says. Field values are those of captures/ops-6.1 unless noted. */
#include "protocol/client/cancel.h"
#include "protocol/client/internal.h"
#include "protocol/client/smb1.h"
#include "protocol/wire/contexts.h"
#include "protocol/wire/endian.h"
#include "protocol/wire/names.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define PROCESS_ID 0xfeffu /* MS-SMB2 2.2.1.2 */
#define SECURITY_MODE_SIGNING_ENABLED 1
#define CAPABILITIES_3X                                                                                                \
	(SMB2_GLOBAL_CAP_DFS | SMB2_GLOBAL_CAP_LEASING | SMB2_GLOBAL_CAP_LARGE_MTU |                                   \
	 SMB2_GLOBAL_CAP_PERSISTENT_HANDLES | SMB2_GLOBAL_CAP_DIRECTORY_LEASING | SMB2_GLOBAL_CAP_ENCRYPTION)
#define IMPERSONATION 2
#define SHARE_ALL 7
#define DISPOSITION_OPEN 1
#define DISPOSITION_OPEN_IF 3
#define DISPOSITION_OVERWRITE 4
#define DISPOSITION_OVERWRITE_IF 5
#define OPTION_NO_BUFFERING 0x08
#define OPTION_NON_DIRECTORY 0x40
#define ACCESS_READ_ATTRIBUTES 0x80u
#define ACCESS_GENERIC_READ 0x80000000u
#define ACCESS_GENERIC_WRITE 0x40000000u
#define OPLOCK_BATCH 0x09
#define IOCTL_IS_FSCTL 1
#define IOCTL_OUTPUT_MAX 16384
#define FSCTL_DFS_GET_REFERRALS 0x00060194u
#define INFO_FILE_ALL 0x12
#define INFO_FILE_INTERNAL 0x06
#define FS_VOLUME 1
#define FS_DEVICE 4
#define FS_ATTRIBUTE 5
#define FS_SECTOR 11
#define DURABLE_SIZE 16

/** Bytes that a message points to until it is encoded. */
struct scratch {
	uint8_t name[2 * SMB_NAME_MAX];
	uint8_t token[CLIENT_TOKEN_MAX];
	uint8_t input[2 * (2 * CLIENT_HOST_MAX + 4) + 4];
	uint8_t preauth[SMB2_PREAUTH_CONTEXT_SIZE];
	uint8_t ciphers[SMB2_ALGORITHMS_SIZE(SMB2_ALGORITHMS_MAX)];
	uint8_t lease[SMB2_LEASE_V2_SIZE];
	struct smb_ops_scratch command;
	uint8_t durable[DURABLE_SIZE];
};

struct build {
	const struct smb_client *client;
	const struct smb_request *request;
	struct smb2_message *message;
	struct scratch *scratch;
};

struct smb_blob client_utf16(const char *ascii, uint8_t *buffer, uint32_t size)
{
	struct smb_blob name;
	enum smb_wire_verdict verdict = smb_utf16_from_ascii(ascii, buffer, size, &name);

	assert(verdict == SMB_WIRE_OK);
	(void)verdict;
	return name;
}

/** The dialects to offer: what the mount asks for; on further channels the one that the session uses. */
static uint32_t dialects_offered(const struct smb_client *client, uint16_t dialects[SMB2_DIALECTS_MAX])
{
	if (client->session.dialect) {
		dialects[0] = client->session.dialect;
		return 1;
	}
	return smb_mount_dialects(client->mount.vers, dialects);
}

static uint32_t capabilities_offered(const struct smb_client *client, const uint16_t *dialects, uint32_t count)
{
	if (dialects[count - 1] < SMB2_DIALECT_300)
		return 0; /* must be zero then (MS-SMB2 2.2.3) */
	return CAPABILITIES_3X | (client->mount.multichannel ? SMB2_GLOBAL_CAP_MULTI_CHANNEL : 0);
}

static void build_negotiate(const struct build *build)
{
	const struct smb_client *client = build->client;
	struct smb2_negotiate_req *req = &build->message->body.negotiate_req;
	static const struct smb2_algorithms ciphers = {
		3, { SMB2_CIPHER_AES128_GCM, SMB2_CIPHER_AES256_GCM, SMB2_CIPHER_AES128_CCM }
	};
	uint8_t salt[SMB2_PREAUTH_SALT_SIZE];
	uint32_t count;

	*req = (struct smb2_negotiate_req){ .security_mode = SECURITY_MODE_SIGNING_ENABLED };
	build->message->kind = SMB2_BODY_NEGOTIATE_REQ;
	count = dialects_offered(client, req->dialects);
	req->dialect_count = (uint16_t)count;
	req->capabilities = capabilities_offered(client, req->dialects, count);
	if (req->dialects[count - 1] != SMB2_DIALECT_202) /* must be zero with 2.0.2 (MS-SMB2 2.2.3) */
		memcpy(req->client_guid, client->client_guid, sizeof(req->client_guid));
	if (req->dialects[count - 1] != SMB2_DIALECT_311)
		return;
	memcpy(salt, client->client_guid, 16);
	memcpy(salt + 16, client->client_guid, 16);
	req->contexts[0] = smb2_preauth_context(salt, build->scratch->preauth);
	req->contexts[1] = smb2_algorithms_context(SMB2_ENCRYPTION_CAPABILITIES, &ciphers, build->scratch->ciphers);
	req->contexts[2] = smb2_netname_context(
		client_utf16(client->server, build->scratch->name, sizeof(build->scratch->name)));
	req->contexts[3] = smb2_posix_context();
	req->context_count = 4;
}

/** Tokens are opaque here: the frame of an NTLMSSP message of the size that a guest logon has, without secrets. */
uint32_t client_session_token(bool first, uint8_t token[CLIENT_TOKEN_MAX])
{
	uint32_t fixed = first ? 40 : 88;
	uint32_t response = first ? 0 : 24;

	memset(token, 0, CLIENT_TOKEN_MAX);
	memcpy(token, "NTLMSSP", 8);
	smb_put32(token + 8, first ? 1 : 3);
	if (first) {
		smb_put32(token + 12, 0xe2088235); /* the flags that cifs offers */
	} else {
		smb_put16(token + 20, response); /* NtChallengeResponse */
		smb_put16(token + 22, response);
		smb_put32(token + 24, fixed);
		for (uint32_t field = 28; field <= 52; field += 8)
			smb_put32(token + field + 4, fixed + response);
		smb_put32(token + 16, fixed);
		smb_put32(token + 60, 0xe2088235);
	}
	return fixed + response;
}

static void build_session_setup(const struct build *build)
{
	const struct client_channel *channel = client_channel_at(build->client, build->request->channel);
	bool first = build->request->purpose == PURPOSE_SESSION_FIRST;
	uint8_t *token = build->scratch->token;
	uint32_t length = client_session_token(first, token);

	build->message->kind = SMB2_BODY_SESSION_SETUP_REQ;
	build->message->body.session_setup_req = (struct smb2_session_setup_req){
		.flags = channel->makes_session ? 0 : SMB2_SESSION_FLAG_BINDING,
		.previous_session_id = channel->makes_session ? build->client->session.previous_id : 0,
		.security_mode = SECURITY_MODE_SIGNING_ENABLED,
		.capabilities = SMB2_GLOBAL_CAP_DFS,
		.token = { token, length },
	};
}

static void build_tree_connect(const struct build *build)
{
	const struct smb_client *client = build->client;
	bool ipc = build->request->purpose == PURPOSE_TREE_IPC;
	char path[2 * CLIENT_HOST_MAX + 4];

	snprintf(path, sizeof(path), "\\\\%s\\%s", client->server, ipc ? "IPC$" : client->share);
	build->message->kind = SMB2_BODY_TREE_CONNECT_REQ;
	build->message->body.tree_connect_req = (struct smb2_tree_connect_req){
		.path = client_utf16(path, build->scratch->name, sizeof(build->scratch->name)),
	};
}

static void build_ioctl(const struct build *build, uint32_t code, struct smb_blob input)
{
	build->message->kind = SMB2_BODY_IOCTL_REQ;
	build->message->body.ioctl_req = (struct smb2_ioctl_req){
		.ctl_code = code,
		.file_id = SMB2_FILE_ID_RELATED, /* "no file" (MS-SMB2 2.2.31) */
		.max_output_response = IOCTL_OUTPUT_MAX,
		.flags = IOCTL_IS_FSCTL,
		.input = input,
	};
}

/** What NEGOTIATE said, once more and signed (MS-SMB2 3.2.5.5). */
static void build_validate(const struct build *build)
{
	const struct smb_client *client = build->client;
	uint16_t dialects[SMB2_DIALECTS_MAX];
	uint32_t count = smb_mount_dialects(client->mount.vers, dialects);
	uint8_t *input = build->scratch->input;

	smb_put32(input, capabilities_offered(client, dialects, count));
	memcpy(input + 4, client->client_guid, 16);
	smb_put16(input + 20, SECURITY_MODE_SIGNING_ENABLED);
	smb_put16(input + 22, count);
	for (uint32_t i = 0; i < count; i++)
		smb_put16(input + 24 + 2 * i, dialects[i]);
	build->message->header.flags |= SMB2_FLAGS_SIGNED;
	build_ioctl(build, FSCTL_VALIDATE_NEGOTIATE_INFO, (struct smb_blob){ input, 24 + 2 * count });
}

/** Is the share a DFS link? MaxReferralLevel 4 and \server\share (MS-DFSC 2.2.2). */
static void build_referral(const struct build *build)
{
	char path[2 * CLIENT_HOST_MAX + 4];
	uint8_t *input = build->scratch->input;
	struct smb_blob name;

	snprintf(path, sizeof(path), "\\%s\\%s", build->client->server, build->client->share);
	smb_put16(input, 4);
	name = client_utf16(path, input + 2, sizeof(build->scratch->input) - 4);
	smb_put16(input + 2 + name.length, 0);
	build_ioctl(build, FSCTL_DFS_GET_REFERRALS, (struct smb_blob){ input, name.length + 4 });
}

static void build_interfaces(const struct build *build)
{
	build_ioctl(build, FSCTL_QUERY_NETWORK_INTERFACE_INFO, (struct smb_blob){ NULL, 0 });
}

static const struct client_op *op_of(const struct build *build)
{
	return client_op_at(build->client, build->request->op);
}

/** Path relative to the share, components separated by backslashes. */
static struct smb_blob path_of(const struct build *build)
{
	char path[SMB_NAME_MAX];

	memcpy(path, op_of(build)->name, sizeof(path));
	for (char *p = path; *p; p++) {
		if (*p == '/')
			*p = '\\';
	}
	return client_utf16(path, build->scratch->name, sizeof(build->scratch->name));
}

static struct smb2_create_req *begin_create(const struct build *build, uint32_t access)
{
	struct smb2_create_req *req = &build->message->body.create_req;

	build->message->kind = SMB2_BODY_CREATE_REQ;
	*req = (struct smb2_create_req){
		.impersonation_level = IMPERSONATION,
		.desired_access = access,
		.share_access = SHARE_ALL,
		.create_disposition = DISPOSITION_OPEN,
	};
	return req;
}

/** A short look at the share's root (mount) or at a file; the root has the empty name. */
static void build_look(const struct build *build)
{
	struct smb2_create_req *req = begin_create(build, ACCESS_READ_ATTRIBUTES);

	if (op_of(build)->kind == SMB_OP_OPEN || op_of(build)->work == WORK_REOPEN)
		req->name = path_of(build);
	req->contexts[req->context_count++] = smb2_query_context("QFid");
}

/** cifs 6.1, cifs_get_disposition; a file is opened again as it is. */
static uint32_t disposition_of(const struct build *build)
{
	const struct client_op *op = op_of(build);

	if (build->request->purpose != PURPOSE_OPEN)
		return DISPOSITION_OPEN;
	if (op->create)
		return op->truncate ? DISPOSITION_OVERWRITE_IF : DISPOSITION_OPEN_IF;
	return op->truncate ? DISPOSITION_OVERWRITE : DISPOSITION_OPEN;
}

/** open(2): a lease (oplock with 2.0.2), a durable handle and the number on disk (SMB2_open). */
static void build_open(const struct build *build)
{
	const struct smb_client *client = build->client;
	const struct client_file *file = client_file_at(client, build->request->file);
	bool durable = build->request->purpose == PURPOSE_REOPEN_DURABLE;
	static const uint32_t access[] = {
		[SMB_OPEN_READ] = ACCESS_GENERIC_READ,
		[SMB_OPEN_WRITE] = ACCESS_GENERIC_WRITE,
		[SMB_OPEN_READ_WRITE] = ACCESS_GENERIC_READ | ACCESS_GENERIC_WRITE,
	};
	struct smb2_create_req *req = begin_create(build, access[file->access] | ACCESS_READ_ATTRIBUTES);
	struct smb2_lease lease = {
		.is_v2 = client->session.dialect >= SMB2_DIALECT_300,
		.state = SMB2_LEASE_READ_CACHING | SMB2_LEASE_HANDLE_CACHING | SMB2_LEASE_WRITE_CACHING,
	};

	req->name = path_of(build);
	req->create_disposition = disposition_of(build);
	req->create_options = OPTION_NON_DIRECTORY | (file->direct ? OPTION_NO_BUFFERING : 0);
	req->oplock_level = OPLOCK_BATCH;
	if (client->session.capabilities & SMB2_GLOBAL_CAP_LEASING && client->session.dialect >= SMB2_DIALECT_210) {
		memcpy(lease.key, file->lease_key, sizeof(lease.key));
		req->oplock_level = SMB2_OPLOCK_LEVEL_LEASE;
		req->contexts[req->context_count++] = smb2_lease_context(&lease, build->scratch->lease);
	}
	/* MS-SMB2 2.2.13.2.3 and 2.2.13.2.4: nothing, or the handle to have back. */
	memset(build->scratch->durable, 0, DURABLE_SIZE);
	if (durable) {
		smb_put64(build->scratch->durable, file->id.persistent);
		smb_put64(build->scratch->durable + 8, file->id.volatile_id);
	}
	req->contexts[req->context_count] = smb2_query_context(durable ? "DHnC" : "DHnQ");
	req->contexts[req->context_count++].data = (struct smb_blob){ build->scratch->durable, DURABLE_SIZE };
	req->contexts[req->context_count++] = smb2_query_context("QFid");
}

static void build_query(const struct build *build, uint8_t type, uint8_t class, uint32_t size)
{
	bool related = build->message->header.flags & SMB2_FLAGS_RELATED_OPERATIONS;

	build->message->kind = SMB2_BODY_QUERY_INFO_REQ;
	build->message->body.query_info_req = (struct smb2_query_info_req){
		.info_type = type,
		.file_info_class = class,
		.output_buffer_length = size,
		.file_id = related ? SMB2_FILE_ID_RELATED : op_of(build)->handle,
	};
}

static void build_fs_query(const struct build *build)
{
	static const struct {
		uint8_t class;
		uint8_t size;
	} queries[] = {
		[0] = { FS_ATTRIBUTE, 136 },
		[PURPOSE_FS_DEVICE - PURPOSE_FS_ATTRIBUTE] = { FS_DEVICE, 80 },
		[PURPOSE_FS_VOLUME - PURPOSE_FS_ATTRIBUTE] = { FS_VOLUME, 122 },
		[PURPOSE_FS_SECTOR - PURPOSE_FS_ATTRIBUTE] = { FS_SECTOR, 100 },
	};
	uint32_t which = build->request->purpose - PURPOSE_FS_ATTRIBUTE;

	build_query(build, SMB2_O_INFO_FILESYSTEM, queries[which].class, queries[which].size);
}

static void build_stat_info(const struct build *build)
{
	build_query(build, SMB2_O_INFO_FILE, INFO_FILE_ALL, 8293);
}

static void build_file_number(const struct build *build)
{
	build_query(build, SMB2_O_INFO_FILE, INFO_FILE_INTERNAL, 80);
	build->message->body.query_info_req.file_id = client_file_at(build->client, build->request->file)->id;
}

static void build_handle_close(const struct build *build)
{
	bool related = build->message->header.flags & SMB2_FLAGS_RELATED_OPERATIONS;

	build->message->kind = SMB2_BODY_CLOSE_REQ;
	build->message->body.close_req = (struct smb2_close_req){
		.file_id = related ? SMB2_FILE_ID_RELATED : op_of(build)->handle,
	};
}

static void build_close(const struct build *build)
{
	build->message->kind = SMB2_BODY_CLOSE_REQ;
	build->message->body.close_req = (struct smb2_close_req){
		.file_id = client_file_at(build->client, build->request->file)->id,
	};
}

static void build_late_close(const struct build *build)
{
	build->message->kind = SMB2_BODY_CLOSE_REQ;
	build->message->body.close_req = (struct smb2_close_req){ .file_id = client_late_close_id(build->request) };
}

static void build_empty(const struct build *build)
{
	build->message->kind = SMB2_BODY_EMPTY;
}

static void build_read(const struct build *build)
{
	build->message->kind = SMB2_BODY_READ_REQ;
	build->message->body.read_req = (struct smb2_read_req){
		.length = build->request->length,
		.offset = build->request->offset,
		.file_id = client_file_at(build->client, build->request->file)->id,
	};
}

static void build_write(const struct build *build)
{
	const struct smb_request *request = build->request;

	build->message->kind = SMB2_BODY_WRITE_REQ;
	build->message->body.write_req = (struct smb2_write_req){
		.data_length = request->length,
		.offset = request->offset,
		.file_id = client_file_at(build->client, request->file)->id,
		.payload = { request->data_source, request->data_offset, request->data_length },
	};
}

static void build_flush(const struct build *build)
{
	build->message->kind = SMB2_BODY_FLUSH_REQ;
	build->message->body.flush_req = (struct smb2_flush_req){
		.file_id = client_file_at(build->client, build->request->file)->id,
	};
}

static void build_lease_break(const struct build *build)
{
	const struct client_file *file = client_file_at(build->client, build->request->file);
	struct smb2_lease_break_ack *ack = &build->message->body.lease_break_ack;

	build->message->kind = SMB2_BODY_LEASE_BREAK_ACK;
	*ack = (struct smb2_lease_break_ack){ .lease_state = file->lease_state };
	memcpy(ack->lease_key, file->lease_key, sizeof(ack->lease_key));
}

static void build_oplock_break(const struct build *build)
{
	const struct client_file *file = client_file_at(build->client, build->request->file);

	build->message->kind = SMB2_BODY_OPLOCK_BREAK;
	build->message->body.oplock_break = (struct smb2_oplock_break){
		.oplock_level = file->oplock_level,
		.file_id = file->id,
	};
}

static void (*const builders[PURPOSES])(const struct build *build) = {
	[PURPOSE_NEGOTIATE] = build_negotiate,
	[PURPOSE_SESSION_FIRST] = build_session_setup,
	[PURPOSE_SESSION_FINAL] = build_session_setup,
	[PURPOSE_TREE_IPC] = build_tree_connect,
	[PURPOSE_TREE_SHARE] = build_tree_connect,
	[PURPOSE_VALIDATE_IPC] = build_validate,
	[PURPOSE_VALIDATE_SHARE] = build_validate,
	[PURPOSE_REFERRAL] = build_referral,
	[PURPOSE_ROOT_OPEN] = build_look,
	[PURPOSE_INTERFACES] = build_interfaces,
	[PURPOSE_FS_ATTRIBUTE] = build_fs_query,
	[PURPOSE_FS_DEVICE] = build_fs_query,
	[PURPOSE_FS_VOLUME] = build_fs_query,
	[PURPOSE_FS_SECTOR] = build_fs_query,
	[PURPOSE_HANDLE_CLOSE] = build_handle_close,
	[PURPOSE_STAT_OPEN] = build_look,
	[PURPOSE_STAT_INFO] = build_stat_info,
	[PURPOSE_STAT_CLOSE] = build_handle_close,
	[PURPOSE_OPEN] = build_open,
	[PURPOSE_FILE_NUMBER] = build_file_number,
	[PURPOSE_CLOSE] = build_close,
	[PURPOSE_TREE_DISCONNECT] = build_empty,
	[PURPOSE_LOGOFF] = build_empty,
	[PURPOSE_READ_WINDOW] = build_read,
	[PURPOSE_READ_PAGE] = build_read,
	[PURPOSE_READ_DIRECT] = build_read,
	[PURPOSE_WRITE_BACK] = build_write,
	[PURPOSE_WRITE_THROUGH] = build_write,
	[PURPOSE_WRITE_DIRECT] = build_write,
	[PURPOSE_FLUSH] = build_flush,
	[PURPOSE_REQUERY] = build_interfaces,
	[PURPOSE_REOPEN_DURABLE] = build_open,
	[PURPOSE_REOPEN] = build_open,
	[PURPOSE_ECHO] = build_empty,
	[PURPOSE_LEASE_BREAK] = build_lease_break,
	[PURPOSE_OPLOCK_BREAK] = build_oplock_break,
	[PURPOSE_LATE_CLOSE] = build_late_close,
};

/** Requests that belong to no tree, or to IPC$, name it; all others go to the share. */
static uint32_t tree_of(const struct smb_client *client, uint8_t purpose)
{
	switch (purpose) {
	case PURPOSE_NEGOTIATE:
	case PURPOSE_SESSION_FIRST:
	case PURPOSE_SESSION_FINAL:
	case PURPOSE_TREE_IPC:
	case PURPOSE_TREE_SHARE:
	case PURPOSE_LOGOFF:
	case PURPOSE_ECHO:
		return 0;
	case PURPOSE_VALIDATE_IPC:
	case PURPOSE_REFERRAL:
		return client->session.tree_ipc;
	default:
		return client->session.tree_share;
	}
}

static void build_message(const struct build *build, bool related)
{
	const struct smb_request *request = build->request;
	const struct client_session *session = &build->client->session;
	const struct client_channel *channel = client_channel_at(build->client, request->channel);
	bool in_session = request->purpose != PURPOSE_NEGOTIATE && request->purpose != PURPOSE_ECHO;
	bool setup = request->purpose == PURPOSE_SESSION_FIRST || request->purpose == PURPOSE_SESSION_FINAL;
	bool binding = setup && !channel->makes_session;
	uint64_t session_id = setup ? channel->setup_session : session->session_id;

	build->message->header = (struct smb2_header){
		.credit_charge = request->charge,
		.command = request->command,
		.credits = request->asked,
		.flags = (related ? SMB2_FLAGS_RELATED_OPERATIONS : 0) | (binding ? SMB2_FLAGS_SIGNED : 0),
		.message_id = request->message_id,
		.process_id = PROCESS_ID,
		.tree_id = tree_of(build->client, request->purpose),
		.channel_sequence = session->dialect >= SMB2_DIALECT_300 ? session->channel_sequence : 0,
		.session_id = in_session ? session_id : 0,
	};
	if (request->purpose == PURPOSE_COMMAND)
		client_command_message(build->client, request, build->message, &build->scratch->command);
	else
		builders[request->purpose](build);
}

struct smb_pdu client_encode_request(const struct smb_client *client, uint32_t first, uint8_t *buffer, uint32_t size)
{
	struct smb2_message message;
	struct scratch scratch;
	struct smb_chain_writer writer;
	uint32_t slot = first;
	bool is_chain;

	if (client_is_smb1(client))
		return client_smb1_encode(client, first, buffer, size);
	smb_chain_begin(&writer, buffer, size);
	do {
		struct build build = { client, client_request_at(client, slot), &message, &scratch };
		enum smb_wire_verdict verdict;

		is_chain = build.request->purpose == PURPOSE_STAT_OPEN || build.request->purpose == PURPOSE_STAT_INFO ||
			   build.request->purpose == PURPOSE_STAT_CLOSE || build.request->purpose == PURPOSE_COMMAND;
		build_message(&build, slot != first);
		verdict = smb_chain_append(&writer, &message);
		assert(verdict == SMB_WIRE_OK);
		(void)verdict;
		slot = build.request->chain;
	} while (is_chain && slot != NONE);
	return smb_chain_finish(&writer);
}
