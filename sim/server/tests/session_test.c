/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Dialects, sessions, channels, trees, and the control codes of a mount (MS-SMB2 3.3.5.2 to 3.3.5.8, 3.3.5.15). */

#include "sim/server/tests/harness.h"

static const uint16_t dialects[] = { SMB2_DIALECT_202, SMB2_DIALECT_210, SMB2_DIALECT_300, SMB2_DIALECT_302,
				     SMB2_DIALECT_311 };

Test(session, sizes_and_capabilities_follow_the_dialect)
{
	static const uint32_t capabilities[] = { 0x01, 0x07, 0x4f, 0x4f, 0x0f };

	for (size_t i = 0; i < 5; i++) {
		struct t *t = t_new();
		struct smb2_negotiate_rsp *body = &t_negotiate(t, 0, dialects[i])->message.body.negotiate_rsp;
		cr_assert_eq(body->dialect, dialects[i]);
		cr_assert_eq(body->capabilities, capabilities[i], "%x: %x", dialects[i], body->capabilities);
		cr_assert_eq(body->max_read_size, i ? 8u << 20 : 65536u);
		cr_assert_eq(body->max_write_size, i ? 8u << 20 : 65536u);
		cr_assert_eq(body->max_transact_size, i ? 8u << 20 : 65536u);
		cr_assert_eq(body->context_count, i == 4 ? 2 : 0);
		t_free(t);
	}
}

Test(session, the_profile_limits_dialects)
{
	struct smb_server_profile profile = t_profile();

	profile.dialect_min = SMB2_DIALECT_210;
	profile.dialect_max = SMB2_DIALECT_302;
	for (size_t i = 0; i < 5; i++) {
		struct t *t = t_new_with(&smb_server_limits_simulation, &profile);
		uint32_t expect = i >= 1 && i <= 3 ? STATUS_SUCCESS : STATUS_NOT_SUPPORTED;
		cr_assert_eq(t_status(t_negotiate(t, 0, dialects[i])), expect);
		t_free(t);
	}
}

Test(session, multi_channel_is_offered_to_those_who_ask)
{
	struct t *t = t_new();

	smb_server_connected(t->server, 0, 0);
	struct smb2_message message = t_request(t, 0, SMB2_NEGOTIATE, SMB2_BODY_NEGOTIATE_REQ);
	message.body.negotiate_req.dialect_count = 1;
	message.body.negotiate_req.dialects[0] = SMB2_DIALECT_300;
	message.body.negotiate_req.capabilities = 0x77;
	struct t_reply *reply = t_ask(t, 0, &message);
	cr_assert_eq(reply->message.body.negotiate_rsp.capabilities & SMB2_GLOBAL_CAP_MULTI_CHANNEL, 0u);
	t_free(t);
}

static void expect_cut(struct t *t, uint32_t connection, struct smb2_message message, const char *reason)
{
	cr_assert_eq(t_send(t, connection, &message, 1), SMB_SERVER_CUT);
	cr_assert(strstr(t->cut, reason), "%s", t->cut);
	cr_assert_eq(smb_server_receive(t->server, connection, &(struct smb_pdu){ 0 }, 0), SMB_SERVER_CUT);
}

Test(session, order_of_a_connection_is_enforced)
{
	struct t *t = t_new();

	smb_server_connected(t->server, 0, 0);
	expect_cut(t, 0, t_request(t, 0, SMB2_ECHO, SMB2_BODY_EMPTY), "before NEGOTIATE");
	t_negotiate(t, 1, SMB2_DIALECT_311);
	struct smb2_message again = t_request(t, 1, SMB2_NEGOTIATE, SMB2_BODY_NEGOTIATE_REQ);
	again.body.negotiate_req.dialect_count = 1;
	again.body.negotiate_req.dialects[0] = SMB2_DIALECT_210;
	expect_cut(t, 1, again, "second time");
	t_negotiate(t, 2, SMB2_DIALECT_311);
	struct smb2_message response = t_request(t, 2, SMB2_ECHO, SMB2_BODY_EMPTY);
	response.header.flags |= SMB2_FLAGS_SERVER_TO_REDIR;
	expect_cut(t, 2, response, "response");
	t_free(t);
}

Test(session, requests_need_a_session_of_their_connection)
{
	struct t *t = t_new();

	t_mount(t);
	t_negotiate(t, 1, SMB2_DIALECT_311); /* not bound */
	struct smb2_message create = t_create_request(t, "file", 1, 0);
	create.header.message_id = t->next_id[1]++;
	cr_assert_eq(t_status(t_ask(t, 1, &create)), STATUS_USER_SESSION_DELETED);
	t->next_id[0]--;
	uint64_t good = t->session_id;
	static const uint64_t wrong[] = { 0, 1, 17, UINT64_MAX, 0x10002 };
	for (size_t i = 0; i < 5; i++) {
		t->session_id = wrong[i] == good ? good + 1 : wrong[i];
		cr_assert_eq(t_status(t_create(t, "file", 1, 0)), STATUS_USER_SESSION_DELETED);
	}
	t->session_id = good;
	cr_assert_eq(t_status(t_create(t, "file", 1, 0)), STATUS_SUCCESS);
	t->tree_id += 1;
	cr_assert_eq(t_status(t_create(t, "file", 1, 0)), STATUS_NETWORK_NAME_DELETED);
	t_free(t);
}

Test(session, a_session_is_not_valid_before_its_second_leg)
{
	struct t *t = t_new();

	t_negotiate(t, 0, SMB2_DIALECT_311);
	t->session_id = t_session_setup_leg(t, 0, 0, 0)->message.header.session_id;
	cr_assert_eq(t_status(t_tree_connect(t, 0, "\\\\server\\share")), STATUS_USER_SESSION_DELETED);
	cr_assert_eq(t_status(t_session_setup_leg(t, 0, t->session_id, 0)), STATUS_SUCCESS);
	cr_assert_eq(t_status(t_tree_connect(t, 0, "\\\\server\\share")), STATUS_SUCCESS);
	cr_assert_eq(t_status(t_session_setup_leg(t, 0, 12345, 0)), STATUS_USER_SESSION_DELETED);
	t_free(t);
}

Test(session, logoff_takes_trees_and_handles_along)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "file");
	struct smb2_message logoff = t_request(t, 0, SMB2_LOGOFF, SMB2_BODY_EMPTY);
	cr_assert_eq(t_status(t_ask(t, 0, &logoff)), STATUS_SUCCESS);
	cr_assert_eq(t_status(t_read(t, id, 0, 1)), STATUS_USER_SESSION_DELETED);
	logoff = t_request(t, 0, SMB2_LOGOFF, SMB2_BODY_EMPTY);
	cr_assert_eq(t_status(t_ask(t, 0, &logoff)), STATUS_USER_SESSION_DELETED);
	t_session_setup(t, 0);
	cr_assert_eq(t_status(t_read(t, id, 0, 1)), STATUS_NETWORK_NAME_DELETED);
	t->tree_id = t_tree_connect(t, 0, "\\\\server\\share")->message.header.tree_id;
	cr_assert_eq(t_status(t_read(t, id, 0, 1)), STATUS_FILE_CLOSED);
	t_free(t);
}

Test(session, tree_disconnect_closes_its_handles)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "file");
	uint32_t first = t->tree_id;
	uint32_t second = t_tree_connect(t, 0, "\\\\server\\share")->message.header.tree_id;
	cr_assert_neq(first, second);
	struct smb2_message disconnect = t_request(t, 0, SMB2_TREE_DISCONNECT, SMB2_BODY_EMPTY);
	cr_assert_eq(t_status(t_ask(t, 0, &disconnect)), STATUS_SUCCESS);
	cr_assert_eq(t_status(t_close(t, id)), STATUS_NETWORK_NAME_DELETED);
	t->tree_id = second;
	cr_assert_eq(t_status(t_close(t, id)), STATUS_FILE_CLOSED);
	t_free(t);
}

Test(session, shares_are_found_by_name)
{
	static const struct {
		const char *path;
		uint32_t status;
		uint8_t type;
	} cases[] = {
		{ "\\\\server\\share", STATUS_SUCCESS, 1 },
		{ "\\\\10.0.0.1\\SHARE", STATUS_SUCCESS, 1 },
		{ "\\\\server\\IPC$", STATUS_SUCCESS, 2 },
		{ "\\\\server\\ipc$", STATUS_SUCCESS, 2 },
		{ "\\\\server\\other", STATUS_BAD_NETWORK_NAME, 0 },
		{ "\\\\server\\shar", STATUS_BAD_NETWORK_NAME, 0 },
		{ "share", STATUS_BAD_NETWORK_NAME, 0 },
		{ "\\\\server\\", STATUS_BAD_NETWORK_NAME, 0 },
	};
	struct t *t = t_new();

	t_mount(t);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct t_reply *reply = t_tree_connect(t, 0, cases[i].path);
		cr_assert_eq(t_status(reply), cases[i].status, "%s", cases[i].path);
		if (!cases[i].status)
			cr_assert_eq(reply->message.body.tree_connect_rsp.share_type, cases[i].type);
	}
	t_free(t);
}

Test(session, a_bound_channel_shares_handles)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "file");
	t_bind(t, 1);
	struct smb2_message read = t_read_request(t, id, 4096, 100);
	read.header.message_id = t->next_id[1]++;
	struct t_reply *reply = t_ask(t, 1, &read);
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
	cr_assert_eq(reply->connection, 1u, "answered where it was asked");
	smb_server_closed(t->server, 0, 0); /* the session lives on with its other channel */
	read.header.message_id = t->next_id[1]++;
	cr_assert_eq(t_status(t_ask(t, 1, &read)), STATUS_SUCCESS);
	smb_server_closed(t->server, 1, 0);
	t_negotiate(t, 2, SMB2_DIALECT_311);
	reply = t_session_setup_leg(t, 2, t->session_id, SMB2_SESSION_FLAG_BINDING);
	cr_assert_eq(t_status(reply), STATUS_USER_SESSION_DELETED, "the last channel took the session along");
	t_free(t);
}

Test(session, binding_is_refused_with_its_reason)
{
	struct t *t = t_new();
	struct t_reply *reply;

	t_mount(t);
	uint8_t flag = SMB2_SESSION_FLAG_BINDING;
	reply = t_session_setup_leg(t, 0, t->session_id, flag);
	cr_assert_eq(t_status(reply), STATUS_REQUEST_NOT_ACCEPTED, "it is bound already");
	t_negotiate(t, 1, SMB2_DIALECT_302);
	cr_assert_eq(t_status(t_session_setup_leg(t, 1, t->session_id, flag)), STATUS_INVALID_PARAMETER, "dialect");
	t_negotiate(t, 2, SMB2_DIALECT_210);
	cr_assert_eq(t_status(t_session_setup_leg(t, 2, t->session_id, flag)), STATUS_REQUEST_NOT_ACCEPTED, "2.1");
	t_negotiate(t, 3, SMB2_DIALECT_311);
	cr_assert_eq(t_status(t_session_setup_leg(t, 3, t->session_id + 1, flag)), STATUS_USER_SESSION_DELETED);
	cr_assert_eq(t_status(t_session_setup_leg(t, 3, t->session_id, 0)), STATUS_USER_SESSION_DELETED, "no flag");
	uint64_t half = t_session_setup_leg(t, 3, 0, 0)->message.header.session_id;
	t_negotiate(t, 4, SMB2_DIALECT_311);
	cr_assert_eq(t_status(t_session_setup_leg(t, 4, half, flag)), STATUS_REQUEST_NOT_ACCEPTED, "in progress");
	t_free(t);
}

Test(session, another_client_cannot_bind)
{
	struct t *t = t_new();

	t_mount(t);
	smb_server_connected(t->server, 1, 0);
	struct smb2_message message = t_request(t, 1, SMB2_NEGOTIATE, SMB2_BODY_NEGOTIATE_REQ);
	message.body.negotiate_req.dialect_count = 1;
	message.body.negotiate_req.dialects[0] = SMB2_DIALECT_311;
	message.body.negotiate_req.capabilities = 0x7f;
	memcpy(message.body.negotiate_req.client_guid, "stranger", 8);
	t_ask(t, 1, &message);
	struct t_reply *reply = t_session_setup_leg(t, 1, t->session_id, SMB2_SESSION_FLAG_BINDING);
	cr_assert_eq(t_status(reply), STATUS_USER_SESSION_DELETED);
	t_free(t);
}

Test(session, channels_are_limited)
{
	struct t *t = t_new();

	t_mount(t);
	for (uint32_t i = 1; i < 32; i++)
		t_bind(t, i);
	t_negotiate(t, 32, SMB2_DIALECT_311);
	struct t_reply *reply = t_session_setup_leg(t, 32, t->session_id, SMB2_SESSION_FLAG_BINDING);
	cr_assert_eq(t_status(reply), STATUS_INSUFFICIENT_RESOURCES);
	t_free(t);
}

Test(session, a_new_session_ends_the_previous_one)
{
	struct t *t = t_new();

	t_mount(t);
	uint64_t old = t->session_id;
	t_negotiate(t, 1, SMB2_DIALECT_311);
	uint64_t id = t_session_setup_leg(t, 1, 0, 0)->message.header.session_id;
	struct smb2_message second = t_request(t, 1, SMB2_SESSION_SETUP, SMB2_BODY_SESSION_SETUP_REQ);
	second.header.session_id = id;
	second.body.session_setup_req.previous_session_id = old;
	second.body.session_setup_req.token = (struct smb_blob){ (const uint8_t *)"token", 5 };
	cr_assert_eq(t_status(t_ask(t, 1, &second)), STATUS_SUCCESS);
	cr_assert_eq(t_status(t_create(t, "file", 1, 0)), STATUS_USER_SESSION_DELETED);
	t_free(t);
}

static struct smb2_message ioctl_request(struct t *t, uint32_t code, struct smb_blob input, uint32_t room)
{
	struct smb2_message message = t_request(t, 0, SMB2_IOCTL, SMB2_BODY_IOCTL_REQ);

	message.body.ioctl_req = (struct smb2_ioctl_req){ .ctl_code = code,
							  .file_id = SMB2_FILE_ID_RELATED,
							  .max_output_response = room,
							  .flags = 1,
							  .input = input };
	return message;
}

Test(session, interfaces_are_told)
{
	struct t *t = t_new();
	struct smb2_network_interface list[4];
	uint32_t count = 4;

	t_mount(t);
	struct smb2_message ask = ioctl_request(t, FSCTL_QUERY_NETWORK_INTERFACE_INFO, (struct smb_blob){ 0 }, 16384);
	struct t_reply *reply = t_ask(t, 0, &ask);
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
	cr_assert_eq(smb2_interfaces_decode((struct smb_blob){ reply->bytes, reply->length }, list, &count),
		     SMB_WIRE_OK);
	cr_assert_eq(count, 2u);
	cr_assert_eq(list[0].link_speed_bps, 10000000000u);
	cr_assert_eq(list[0].capability, 1u);
	cr_assert_eq(list[1].link_speed_bps, 0u);
	cr_assert_eq(list[1].capability, 0u);
	ask = ioctl_request(t, FSCTL_QUERY_NETWORK_INTERFACE_INFO, (struct smb_blob){ 0 }, 100);
	cr_assert_eq(t_status(t_ask(t, 0, &ask)), 0xc0000023u);
	t_free(t);
}

Test(session, a_changed_negotiate_is_noticed)
{
	struct t *t = t_new();
	uint8_t input[26] = { 0x7f, 0, 0, 0, 'c', 'l', 'i', 'e', 'n', 't' };

	input[20] = 1; /* SecurityMode */
	input[22] = 1; /* DialectCount */
	input[24] = 0x00;
	input[25] = 0x03;
	t_negotiate(t, 0, SMB2_DIALECT_300);
	t_session_setup(t, 0);
	t->tree_id = t_tree_connect(t, 0, "\\\\server\\share")->message.header.tree_id;
	struct smb_blob blob = { input, sizeof(input) };
	struct smb2_message ask = ioctl_request(t, FSCTL_VALIDATE_NEGOTIATE_INFO, blob, 24);
	struct t_reply *reply = t_ask(t, 0, &ask);
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
	cr_assert_eq(reply->length, 24u);
	cr_assert_eq(reply->bytes[22] | reply->bytes[23] << 8, SMB2_DIALECT_300);
	input[24] = 0x02; /* a higher dialect was offered and somebody removed it */
	ask = ioctl_request(t, FSCTL_VALIDATE_NEGOTIATE_INFO, blob, 24);
	cr_assert_eq(t_send(t, 0, &ask, 1), SMB_SERVER_CUT);
	cr_assert(strstr(t->cut, "VALIDATE"));
	t_free(t);
}

Test(session, other_control_codes_are_refused)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "file");
	struct smb2_message ask = ioctl_request(t, 0x00060194, (struct smb_blob){ 0 }, 64); /* DFS referrals */
	cr_assert_eq(t_status(t_ask(t, 0, &ask)), 0xc0000225u);
	ask = ioctl_request(t, 0x000900c0, (struct smb_blob){ 0 }, 64);
	cr_assert_eq(t_status(t_ask(t, 0, &ask)), STATUS_FILE_CLOSED);
	ask = ioctl_request(t, 0x000900c0, (struct smb_blob){ 0 }, 64);
	ask.body.ioctl_req.file_id = id;
	cr_assert_eq(t_status(t_ask(t, 0, &ask)), STATUS_INVALID_DEVICE_REQUEST);
	ask = ioctl_request(t, 0x000900c0, (struct smb_blob){ 0 }, 64);
	ask.body.ioctl_req.flags = 0;
	cr_assert_eq(t_status(t_ask(t, 0, &ask)), STATUS_NOT_SUPPORTED);
	t_free(t);
}

Test(session, limits_that_change_are_those_of_connections_to_come)
{
	const struct smb_server_sizes sizes = { 65536, 131072, 65536, 20 };
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "file");
	smb_server_set_sizes(t->server, &sizes);
	cr_assert_gt(t_look(t, 0).window_length, 20u);
	t->charge = 2;
	cr_assert_eq(t_status(t_read(t, id, 0, 131072)), STATUS_SUCCESS, "this connection has its own");
	t->charge = 0;
	struct smb2_negotiate_rsp *body = &t_negotiate(t, 1, SMB2_DIALECT_311)->message.body.negotiate_rsp;
	cr_assert_eq(body->max_read_size, 65536u);
	cr_assert_eq(body->max_write_size, 131072u);
	cr_assert_eq(body->max_transact_size, 65536u);
	t_bind(t, 2);
	cr_assert_leq(t_look(t, 2).window_length, 20u);
	t_free(t);
}
