/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "sim/world/tests/ops_peer.h"

#include "protocol/client/client.h"
#include "protocol/wire/message.h"
#include "sim/world/profile.h"

#include <criterion/criterion.h>
#include <string.h>

#define PDU_MAX (SMB_SERVER_PDU_MAX + 4096)

static const char *const directories[] = { "dummy", "rds", "rdc", "d10", "d10b", "d1000", "d1000b" };
static const char *const files[] = { "ex",  "exs", "rmc",  "rms", "mvc", "mvs", "lnc",
				     "stc", "sts", "catc", "cpx", "apc", "chc", "trc" };

static void make_entries(struct smb_server *server, const char *directory, int count)
{
	for (int i = 0; i < count; i++) {
		g_autofree char *name = g_strdup_printf("%s\\file%0*d", directory, count > 10 ? 3 : 1, i);

		cr_assert(smb_server_make_file(server, name, 0, 0));
	}
}

static void make_names(struct smb_server *server)
{
	for (gsize i = 0; i < G_N_ELEMENTS(directories); i++)
		cr_assert(smb_server_make_directory(server, directories[i]));
	for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
		cr_assert(smb_server_make_file(server, files[i], 0, 10));
	make_entries(server, "d10", 10);
	make_entries(server, "d10b", 10);
	make_entries(server, "d1000", 1000);
	make_entries(server, "d1000b", 1000);
}

static struct smb_server *make_server(void)
{
	struct smb_server_config config = { .share = "s", .interface_count = 1 };
	g_autoptr(GError) error = NULL;
	struct smb_server *server;

	cr_assert(sim_profile_load("samba-4.17", &config.profile, NULL, &error), "%s", error ? error->message : "");
	server = smb_server_init(g_malloc(smb_server_size(&smb_server_limits_simulation)),
				 &smb_server_limits_simulation, &config);
	cr_assert(server);
	make_names(server);
	return server;
}

/* -------------------------------------------------------------------------------------------------------------- pairs */

static void note_requests(struct peer *peer, const struct smb_pdu *pdu)
{
	struct smb_notation_pair pair = { 0 };
	struct smb_chain_reader reader;
	struct smb2_message message;

	g_ptr_array_add(peer->sent, g_bytes_new(pdu->bytes, pdu->length));
	smb_chain_read(&reader, pdu);
	while (smb_chain_next(&reader, &message) == SMB_WIRE_OK) {
		smb_notation_request(&pair.members[pair.count++], &message);
		peer->session_id = message.header.session_id ? message.header.session_id : peer->session_id;
		peer->tree_id = message.header.tree_id;
		peer->next_id = message.header.message_id +
				(message.header.credit_charge ? message.header.credit_charge : 1);
	}
	g_array_append_val(peer->pairs, pair);
}

static void note_response(struct peer *peer, const struct smb2_message *message)
{
	for (guint i = peer->pairs->len; i--;) {
		struct smb_notation_pair *pair = &g_array_index(peer->pairs, struct smb_notation_pair, i);

		for (uint32_t n = 0; n < pair->count; n++) {
			if (pair->members[n].message_id == message->header.message_id) {
				smb_notation_response(&pair->members[n], message);
				return;
			}
		}
	}
	cr_assert_fail("a response to nothing");
}

static void note_responses(struct peer *peer, const struct smb_pdu *pdu)
{
	struct smb_chain_reader reader;
	struct smb2_message message;

	smb_chain_read(&reader, pdu);
	while (smb_chain_next(&reader, &message) == SMB_WIRE_OK)
		note_response(peer, &message);
}

void peer_forget(struct peer *peer)
{
	g_array_set_size(peer->pairs, 0);
	g_ptr_array_set_size(peer->sent, 0);
}

char *peer_text(const struct peer *peer, guint first, bool detailed)
{
	const struct smb_notation_pair *pairs = (const struct smb_notation_pair *)(void *)peer->pairs->data + first;
	guint count = peer->pairs->len - first;
	gsize size = smb_notation_print(pairs, count, detailed, NULL, 0) + 1;
	char *text = g_malloc(size);

	smb_notation_print(pairs, count, detailed, text, size);
	return text;
}

/* -------------------------------------------------------------------------------------------------------------- mount */

/** The next PDU of the server; storage takes no time. */
static bool server_says(struct peer *peer, struct smb_pdu *pdu, uint8_t *buffer)
{
	struct smb_server_output output;

	for (;;) {
		smb_server_next(peer->server, &output, buffer, PDU_MAX);
		switch (output.kind) {
		case SMB_SERVER_IDLE:
			return false;
		case SMB_SERVER_SEND:
			*pdu = output.pdu;
			return true;
		case SMB_SERVER_WORK:
			smb_server_work_done(peer->server, output.token, peer->now_ns);
			break;
		case SMB_SERVER_DISCONNECT:
			cr_assert_fail("the server cuts the connection: %s", output.reason);
			break;
		case SMB_SERVER_WAKE:
			break;
		}
	}
}

static void ask_server(struct peer *peer, const struct smb_pdu *pdu)
{
	note_requests(peer, pdu);
	cr_assert_eq(smb_server_receive(peer->server, 0, pdu, peer->now_ns), SMB_SERVER_OK);
}

static bool mount_step(struct peer *peer, struct smb_client *client, uint8_t *buffer)
{
	struct smb_client_output output;
	struct smb_pdu answer;

	smb_client_next(client, &output, buffer, PDU_MAX);
	switch (output.kind) {
	case SMB_CLIENT_SEND:
		ask_server(peer, &output.pdu);
		while (server_says(peer, &answer, buffer)) {
			note_responses(peer, &answer);
			smb_client_receive(client, 0, &answer, peer->now_ns);
		}
		return true;
	case SMB_CLIENT_OPEN_CHANNEL:
		smb_server_connected(peer->server, 0, peer->now_ns);
		smb_client_channel(client, 0, SMB_CHANNEL_CONNECTED, peer->now_ns);
		return true;
	case SMB_CLIENT_DONE:
		cr_assert_eq(output.verdict, SMB_OP_OK);
		return false;
	case SMB_CLIENT_IDLE:
		cr_assert_fail("the mount does not end");
		return false;
	default:
		return true;
	}
}

static void mount_share(struct peer *peer, const struct smb_mount_options *mount)
{
	struct smb_client_config config = {
		.policy = peer->policy,
		.mount = *mount,
		.page_bytes = 4096,
		.server = "10.0.0.1",
		.share = "s",
	};
	struct smb_op op = { .kind = SMB_OP_MOUNT };
	g_autofree void *block = g_malloc(smb_client_size(&smb_client_limits_simulation));
	g_autofree uint8_t *buffer = g_malloc(PDU_MAX);
	struct smb_client *client = smb_client_init(block, &smb_client_limits_simulation, &config);
	struct smb_client_info info;
	struct smb_ops_config ops = {
		.policy = peer->policy,
		.can_lease = true,
		.actimeo_ms = mount->actimeo_ms,
		.serverino = mount->serverino,
		.mfsymlinks = mount->mfsymlinks,
		.nostrictsync = mount->nostrictsync,
		.page_bytes = 4096,
		.lease_seed = "a lease",
		.filetime_zero = UINT64_C(132000000000000000),
	};

	cr_assert(client);
	cr_assert_neq(smb_client_submit(client, &op, 0), SMB_OP_NONE);
	while (mount_step(peer, client, buffer))
		;
	smb_client_look(client, &info);
	ops.dialect = info.dialect;
	ops.rsize = info.rsize;
	ops.wsize = info.wsize;
	peer->ops = smb_ops_init(g_malloc(smb_ops_size(&smb_ops_limits_simulation)), &smb_ops_limits_simulation, &ops);
	cr_assert(peer->ops);
}

struct peer *peer_new_with(const struct smb_policy *policy, const char *mount)
{
	struct peer *peer = g_new0(struct peer, 1);
	struct smb_mount_options options;
	struct smb_mount_report report;

	peer->policy = *policy;
	peer->pairs = g_array_new(false, true, sizeof(struct smb_notation_pair));
	peer->sent = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	peer->server = make_server();
	cr_assert_eq(smb_mount_options_parse(mount, policy, &options, &report), SMB_MOUNT_OK, "%s", report.message);
	mount_share(peer, &options);
	return peer;
}

struct peer *peer_new(const char *kernel, const char *mount)
{
	return peer_new_with(&smb_era_find(kernel)->policy, mount);
}

void peer_free(struct peer *peer)
{
	g_array_unref(peer->pairs);
	g_ptr_array_unref(peer->sent);
	g_free(peer->server);
	g_free(peer->ops);
	g_free(peer);
}

/* ----------------------------------------------------------------------------------------------------------- commands */

static void fill_header(struct peer *peer, struct smb2_header *header, const struct smb_ops_member_info *info)
{
	header->process_id = 0xfeff;
	header->session_id = peer->session_id;
	header->tree_id = info->payment == SMB_OPS_PAY_SESSION ? 0 : peer->tree_id;
	header->message_id = peer->next_id++;
	header->credit_charge = info->payment != SMB_OPS_PAY_SESSION;
	header->credits = peer->policy.credits_general;
	if (info->payment == SMB_OPS_PAY_IO) {
		header->credit_charge = smb2_credit_charge(0, info->io_bytes);
		header->credits = header->credit_charge + peer->policy.credits_io_extra;
		peer->next_id += header->credit_charge - 1u;
	}
}

static void answer(struct peer *peer, uint32_t lane, uint64_t first_id, const struct smb_pdu *pdu)
{
	struct smb_chain_reader reader;
	struct smb2_message message;

	note_responses(peer, pdu);
	smb_chain_read(&reader, pdu);
	while (smb_chain_next(&reader, &message) == SMB_WIRE_OK) {
		if (message.header.status != STATUS_PENDING)
			cr_assert(smb_ops_reply(peer->ops, lane, (uint32_t)(message.header.message_id - first_id),
						&message, peer->now_ns));
	}
}

static void send_step(struct peer *peer, const struct smb_ops_step *step)
{
	static uint8_t buffer[PDU_MAX];
	struct smb_ops_scratch scratch;
	struct smb_ops_member_info info;
	struct smb_chain_writer writer;
	struct smb2_message message;
	uint64_t first_id = peer->next_id;
	struct smb_pdu pdu;

	smb_chain_begin(&writer, buffer, sizeof(buffer));
	for (uint32_t i = 0; i < step->count; i++) {
		smb_ops_member(peer->ops, step->lane, i, &message, &scratch, &info);
		fill_header(peer, &message.header, &info);
		cr_assert_eq(smb_chain_append(&writer, &message), SMB_WIRE_OK);
	}
	pdu = smb_chain_finish(&writer);
	ask_server(peer, &pdu);
	while (server_says(peer, &pdu, buffer))
		answer(peer, step->lane, first_id, &pdu);
}

/** Until there is nothing to do at this time; true when a command ended with `error`. */
static bool run_now(struct peer *peer, enum smb_ops_error *error, uint64_t *when_ns)
{
	struct smb_ops_step step;
	bool done = false;

	for (;;) {
		smb_ops_next(peer->ops, peer->now_ns, &step);
		cr_assert(smb_ops_is_valid(peer->ops));
		if (step.kind == SMB_OPS_SEND)
			send_step(peer, &step);
		if (step.kind == SMB_OPS_DONE) {
			*error = step.error;
			done = true;
		}
		if (step.kind == SMB_OPS_IDLE) {
			*when_ns = step.when_ns;
			return done;
		}
	}
}

enum smb_ops_error peer_run(struct peer *peer, const char *line)
{
	struct smb_ops_shell shell = { .mount_point = "/mnt", .local_bytes = 10 };
	char message[SMB_OPS_MESSAGE_MAX];
	struct smb_ops_command command;
	enum smb_ops_error error = SMB_OPS_IO;
	uint64_t when_ns;

	cr_assert(smb_ops_parse(line, &shell, &command, NULL, message), "%s: %s", line, message);
	cr_assert(smb_ops_begin(peer->ops, &command, peer->now_ns), "%s", line);
	cr_assert(run_now(peer, &error, &when_ns), "%s does not return", line);
	return error;
}

void peer_wait(struct peer *peer, uint64_t ns)
{
	uint64_t end_ns = peer->now_ns + ns;
	enum smb_ops_error error;
	uint64_t when_ns;

	for (;;) {
		run_now(peer, &error, &when_ns);
		if (when_ns > end_ns)
			break;
		peer->now_ns = when_ns;
	}
	peer->now_ns = end_ns;
}
