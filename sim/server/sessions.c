/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* NEGOTIATE, SESSION_SETUP with binding, LOGOFF, TREE_CONNECT, TREE_DISCONNECT (MS-SMB2 3.3.5.4 to 3.3.5.8). */

#include "protocol/wire/endian.h"
#include "sim/server/call.h"
#include "sim/server/tokens.h"

#include <string.h>

static uint16_t pick_dialect(const struct smb_server *server, const struct smb2_negotiate_req *request)
{
	uint16_t best = 0;

	for (uint16_t i = 0; i < request->dialect_count; i++) {
		uint16_t dialect = request->dialects[i];
		bool known = dialect == SMB2_DIALECT_202 || dialect == SMB2_DIALECT_210 ||
			     dialect == SMB2_DIALECT_300 || dialect == SMB2_DIALECT_302 || dialect == SMB2_DIALECT_311;
		if (known && dialect >= server->profile.dialect_min && dialect <= server->profile.dialect_max &&
		    dialect > best)
			best = dialect;
	}
	return best;
}

/* Capabilities by dialect; some are only named to a client that named them (MS-SMB2 3.3.5.4). */
static uint32_t pick_capabilities(const struct smb_server *server, uint16_t dialect, uint32_t client)
{
	uint32_t offered = server->profile.capabilities;
	uint32_t by_request = SMB2_GLOBAL_CAP_MULTI_CHANNEL | SMB2_GLOBAL_CAP_PERSISTENT_HANDLES |
			      SMB2_GLOBAL_CAP_DIRECTORY_LEASING | SMB2_GLOBAL_CAP_ENCRYPTION;

	if (dialect == SMB2_DIALECT_202)
		return offered & SMB2_GLOBAL_CAP_DFS;
	if (dialect == SMB2_DIALECT_210)
		return offered & (SMB2_GLOBAL_CAP_DFS | SMB2_GLOBAL_CAP_LEASING | SMB2_GLOBAL_CAP_LARGE_MTU);
	if (dialect == SMB2_DIALECT_311)
		offered &= ~SMB2_GLOBAL_CAP_ENCRYPTION; /* a negotiate context says it */
	return offered & (~by_request | client);
}

static void add_context(struct server_call *call, uint16_t type, uint32_t length, const uint16_t *values)
{
	struct smb2_negotiate_rsp *reply = &call->reply->body.negotiate_rsp;
	uint8_t *data = server_call_scratch(call, length);

	memset(data, 0, length);
	for (uint32_t i = 0; values[i] != UINT16_MAX; i++)
		smb_put16(data + 2 * i, values[i]);
	reply->contexts[reply->context_count++] = (struct smb2_context){ .type = type,
									 .data = { .data = data, .length = length } };
}

/* SHA-512 with a salt of 32 zero bytes; AES-128-GCM; AES-CMAC: what Samba 4.17 picks. */
static void answer_contexts(struct server_call *call)
{
	const struct smb2_negotiate_req *request = &call->request->body.negotiate_req;

	for (uint16_t i = 0; i < request->context_count; i++) {
		uint16_t type = request->contexts[i].type;
		if (type == SMB2_PREAUTH_INTEGRITY_CAPABILITIES)
			add_context(call, type, 38, (const uint16_t[]){ 1, 32, 1, UINT16_MAX });
		else if (type == SMB2_ENCRYPTION_CAPABILITIES &&
			 call->server->profile.capabilities & SMB2_GLOBAL_CAP_ENCRYPTION)
			add_context(call, type, 4, (const uint16_t[]){ 1, 2, UINT16_MAX });
		else if (type == SMB2_SIGNING_CAPABILITIES)
			add_context(call, type, 4, (const uint16_t[]){ 1, 1, UINT16_MAX });
	}
}

static void settle_limits(struct server_call *call)
{
	const struct smb_server_profile *profile = &call->server->profile;
	struct server_connection *on = call->on;
	bool is_large = on->capabilities & SMB2_GLOBAL_CAP_LARGE_MTU;

	on->max_read = is_large ? profile->max_read : SMB2_CREDIT_UNIT;
	on->max_write = is_large ? profile->max_write : SMB2_CREDIT_UNIT;
	on->max_transact = is_large ? profile->max_transact : SMB2_CREDIT_UNIT;
	on->window.multi_credit = is_large;
}

uint32_t server_negotiate(struct server_call *call)
{
	const struct smb2_negotiate_req *request = &call->request->body.negotiate_req;
	struct server_connection *on = call->on;
	struct smb2_negotiate_rsp *reply = &call->reply->body.negotiate_rsp;
	uint16_t dialect = pick_dialect(call->server, request);

	if (on->negotiated) {
		call->cut = SERVER_CUT_NEGOTIATED_TWICE;
		return STATUS_INVALID_PARAMETER;
	}
	if (!request->dialect_count)
		return STATUS_INVALID_PARAMETER;
	if (!dialect)
		return STATUS_NOT_SUPPORTED;
	on->negotiated = true;
	on->dialect = dialect;
	on->security_mode = request->security_mode;
	on->client_capabilities = request->capabilities;
	on->capabilities = pick_capabilities(call->server, dialect, request->capabilities);
	memcpy(on->client_guid, request->client_guid, sizeof(on->client_guid));
	settle_limits(call);
	call->reply->kind = SMB2_BODY_NEGOTIATE_RSP;
	reply->security_mode = 1; /* signing enabled, not required */
	reply->dialect = dialect;
	memcpy(reply->server_guid, call->server->server_guid, sizeof(reply->server_guid));
	reply->capabilities = on->capabilities;
	reply->max_transact_size = on->max_transact;
	reply->max_read_size = on->max_read;
	reply->max_write_size = on->max_write;
	reply->system_time = server_filetime(call->server);
	reply->server_start_time = 0;
	reply->token = (struct smb_blob){ server_negotiate_token, sizeof(server_negotiate_token) };
	reply->context_count = 0;
	if (dialect == SMB2_DIALECT_311)
		answer_contexts(call);
	return STATUS_SUCCESS;
}

uint32_t server_session_find(const struct smb_server *server, uint64_t id)
{
	uint32_t index = (uint32_t)(id & UINT16_MAX) - 1;

	if (index >= server->limits.sessions || server_session(server, index)->state == SERVER_SESSION_FREE ||
	    server_session(server, index)->id != id)
		return SERVER_NONE;
	return index;
}

static uint32_t session_new(struct smb_server *server, const struct server_connection *on)
{
	for (uint32_t i = 0; i < server->limits.sessions; i++) {
		struct server_session *session = server_session(server, i);
		if (session->state != SERVER_SESSION_FREE)
			continue;
		*session = (struct server_session){
			.state = SERVER_SESSION_SETTING_UP,
			.id = (uint64_t)++server->serial << 16 | (i + 1),
			.dialect = on->dialect,
		};
		memcpy(session->client_guid, on->client_guid, sizeof(session->client_guid));
		return i;
	}
	return SERVER_NONE;
}

/* May this connection become a channel of that session? MS-SMB2 3.3.5.5. Signatures are not looked at: there are no
 * keys in the simulation. */
static uint32_t check_binding(const struct server_call *call, const struct server_session *session)
{
	uint32_t channels = (uint32_t)__builtin_popcountll(session->channels);

	if (call->on->dialect < SMB2_DIALECT_300 || !(call->on->capabilities & SMB2_GLOBAL_CAP_MULTI_CHANNEL))
		return STATUS_REQUEST_NOT_ACCEPTED;
	if (session->state == SERVER_SESSION_SETTING_UP)
		return STATUS_REQUEST_NOT_ACCEPTED;
	if (session->dialect != call->on->dialect)
		return STATUS_INVALID_PARAMETER;
	if (memcmp(session->client_guid, call->on->client_guid, sizeof(session->client_guid)) != 0)
		return STATUS_USER_SESSION_DELETED;
	if (session->channels >> call->connection & 1)
		return STATUS_REQUEST_NOT_ACCEPTED;
	return channels >= call->server->profile.channels_max ? STATUS_INSUFFICIENT_RESOURCES : STATUS_SUCCESS;
}

static uint32_t first_leg(struct server_call *call, uint32_t index)
{
	struct server_session *session = server_session(call->server, index);

	session->setting_up |= UINT64_C(1) << call->connection;
	call->reply->kind = SMB2_BODY_SESSION_SETUP_RSP;
	call->reply->body.session_setup_rsp =
		(struct smb2_session_setup_rsp){ .token = { server_challenge_token, sizeof(server_challenge_token) } };
	call->reply->header.session_id = session->id;
	return STATUS_MORE_PROCESSING_REQUIRED;
}

/* A client that comes back names the session it had (MS-SMB2 3.3.5.5.3). */
static void end_previous(struct server_call *call, uint64_t previous_id)
{
	uint32_t previous = previous_id ? server_session_find(call->server, previous_id) : SERVER_NONE;

	if (previous != SERVER_NONE && previous_id != call->request->header.session_id)
		server_session_end(call->server, previous);
}

static uint32_t second_leg(struct server_call *call, struct server_session *session)
{
	uint64_t bit = UINT64_C(1) << call->connection;

	session->setting_up &= ~bit;
	session->channels |= bit;
	session->is_expired = false; /* MS-SMB2 3.3.5.5.3 */
	if (session->state == SERVER_SESSION_SETTING_UP) {
		session->state = SERVER_SESSION_VALID;
		end_previous(call, call->request->body.session_setup_req.previous_session_id);
	}
	call->reply->kind = SMB2_BODY_SESSION_SETUP_RSP;
	call->reply->body.session_setup_rsp = (struct smb2_session_setup_rsp){ 0 };
	return STATUS_SUCCESS;
}

uint32_t server_session_setup(struct server_call *call)
{
	const struct smb2_session_setup_req *request = &call->request->body.session_setup_req;
	bool is_binding = request->flags & SMB2_SESSION_FLAG_BINDING;
	uint32_t index;

	if (!call->request->header.session_id) {
		if (is_binding)
			return STATUS_USER_SESSION_DELETED;
		index = session_new(call->server, call->on);
		return index == SERVER_NONE ? STATUS_INSUFFICIENT_RESOURCES : first_leg(call, index);
	}
	index = server_session_find(call->server, call->request->header.session_id);
	if (index == SERVER_NONE)
		return STATUS_USER_SESSION_DELETED;
	struct server_session *session = server_session(call->server, index);
	if (session->setting_up >> call->connection & 1)
		return second_leg(call, session);
	if (is_binding) {
		uint32_t status = check_binding(call, session);
		return status ? status : first_leg(call, index);
	}
	if (session->channels >> call->connection & 1)
		return first_leg(call, index); /* reauthentication, MS-SMB2 3.3.5.5.2 */
	return STATUS_USER_SESSION_DELETED;
}

void server_session_end(struct smb_server *server, uint32_t index)
{
	for (uint32_t i = 0; i < server->limits.handles; i++) {
		if (server_handle(server, i)->used && server_handle(server, i)->session == index)
			server_handle_close(server, i);
	}
	for (uint32_t i = 0; i < server->limits.trees; i++) {
		if (server_tree(server, i)->used && server_tree(server, i)->session == index)
			*server_tree(server, i) = (struct server_tree){ 0 };
	}
	*server_session(server, index) = (struct server_session){ 0 };
}

void server_session_leave(struct smb_server *server, uint32_t index, uint32_t connection)
{
	struct server_session *session = server_session(server, index);
	uint64_t bit = UINT64_C(1) << connection;

	if (session->state == SERVER_SESSION_FREE || !((session->channels | session->setting_up) & bit))
		return;
	session->channels &= ~bit;
	session->setting_up &= ~bit;
	if (!session->channels && !(session->state == SERVER_SESSION_SETTING_UP && session->setting_up))
		server_session_end(server, index);
}

uint32_t server_logoff(struct server_call *call)
{
	server_session_end(call->server, call->session);
	call->reply->kind = SMB2_BODY_EMPTY;
	return STATUS_SUCCESS;
}

uint32_t server_tree_find(const struct smb_server *server, uint32_t session, uint32_t id)
{
	uint32_t index = (id & UINT16_MAX) - 1;

	if (index >= server->limits.trees || !server_tree(server, index)->used ||
	    server_tree(server, index)->id != id || server_tree(server, index)->session != session)
		return SERVER_NONE;
	return index;
}

/* The share's part of \\server\share against an ASCII name, without regard to case. */
static bool path_names_share(struct smb_blob path, const char *share)
{
	uint32_t start = path.length / 2;
	uint32_t length = (uint32_t)strlen(share);

	while (start && smb_get16(path.data + 2 * (start - 1)) != '\\')
		start--;
	if (start < 4 || path.length / 2 - start != length)
		return false;
	for (uint32_t i = 0; i < length; i++) {
		uint16_t a = smb_get16(path.data + 2 * (start + i)), b = (uint8_t)share[i];
		a = a >= 'a' && a <= 'z' ? (uint16_t)(a - 32) : a;
		b = b >= 'a' && b <= 'z' ? (uint16_t)(b - 32) : b;
		if (a != b)
			return false;
	}
	return true;
}

static uint32_t tree_new(struct server_call *call, bool is_pipe)
{
	for (uint32_t i = 0; i < call->server->limits.trees; i++) {
		struct server_tree *tree = server_tree(call->server, i);
		if (tree->used)
			continue;
		*tree = (struct server_tree){
			.used = true,
			.is_pipe = is_pipe,
			.id = ((++call->server->serial & 0x7fff) << 16) | (i + 1),
			.session = call->session,
		};
		return i;
	}
	return SERVER_NONE;
}

uint32_t server_tree_connect(struct server_call *call)
{
	struct smb_blob path = call->request->body.tree_connect_req.path;
	bool is_pipe = path_names_share(path, "IPC$");

	if (!is_pipe && !path_names_share(path, call->server->share))
		return STATUS_BAD_NETWORK_NAME;
	uint32_t index = tree_new(call, is_pipe);
	if (index == SERVER_NONE)
		return STATUS_INSUFFICIENT_RESOURCES;
	call->tree_id = server_tree(call->server, index)->id;
	call->reply->header.tree_id = call->tree_id;
	call->reply->kind = SMB2_BODY_TREE_CONNECT_RSP;
	call->reply->body.tree_connect_rsp = (struct smb2_tree_connect_rsp){
		.share_type = is_pipe ? 2 : 1,
		.maximal_access = is_pipe ? 0x001f00a9u : SERVER_ACCESS_ALL, /* as Samba 4.17 */
	};
	return STATUS_SUCCESS;
}

uint32_t server_tree_disconnect(struct server_call *call)
{
	for (uint32_t i = 0; i < call->server->limits.handles; i++) {
		if (server_handle(call->server, i)->used && server_handle(call->server, i)->tree == call->tree)
			server_handle_close(call->server, i);
	}
	*server_tree(call->server, call->tree) = (struct server_tree){ 0 };
	call->reply->kind = SMB2_BODY_EMPTY;
	return STATUS_SUCCESS;
}
