/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "sim/world/tests/ops_peer.h"

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
	while (smb_chain_next(&reader, &message) == SMB_WIRE_OK)
		smb_notation_request(&pair.members[pair.count++], &message);
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

/* ----------------------------------------------------------------------------------------------------------- driving */

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
	static uint8_t buffer[PDU_MAX];
	struct smb_pdu answer;

	note_requests(peer, pdu);
	cr_assert_eq(smb_server_receive(peer->server, 0, pdu, peer->now_ns), SMB_SERVER_OK);
	while (server_says(peer, &answer, buffer)) {
		note_responses(peer, &answer);
		cr_assert_eq(smb_client_receive(peer->client, 0, &answer, peer->now_ns), SMB_RECEIVE_OK);
	}
}

/** Until there is nothing to do at this time; true when an operation ended. */
static bool run_now(struct peer *peer)
{
	static uint8_t buffer[PDU_MAX];
	struct smb_client_output output;
	bool is_done = false;

	for (;;) {
		cr_assert(smb_client_is_valid(peer->client));
		smb_client_next(peer->client, &output, buffer, sizeof(buffer));
		switch (output.kind) {
		case SMB_CLIENT_IDLE:
			return is_done;
		case SMB_CLIENT_SEND:
			ask_server(peer, &output.pdu);
			break;
		case SMB_CLIENT_OPEN_CHANNEL:
			smb_server_connected(peer->server, 0, peer->now_ns);
			smb_client_channel(peer->client, 0, SMB_CHANNEL_CONNECTED, peer->now_ns);
			break;
		case SMB_CLIENT_CLOSE_CHANNEL:
			smb_server_closed(peer->server, 0, peer->now_ns);
			break;
		case SMB_CLIENT_DONE:
			peer->done = output;
			is_done = true;
			break;
		case SMB_CLIENT_WAKE:
			peer->wake_ns = output.when_ns;
			break;
		case SMB_CLIENT_COPY:
			cr_assert_fail("no command copies");
		}
	}
}

struct peer *peer_new_with(const struct smb_policy *policy, const char *mount)
{
	struct peer *peer = g_new0(struct peer, 1);
	struct smb_client_config config = { .policy = *policy, .page_bytes = 4096, .server = "10.0.0.1", .share = "s" };
	struct smb_op op = { .kind = SMB_OP_MOUNT };
	struct smb_mount_report report;

	peer->pairs = g_array_new(false, true, sizeof(struct smb_notation_pair));
	peer->sent = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	peer->server = make_server();
	peer->wake_ns = UINT64_MAX;
	cr_assert_eq(smb_mount_options_parse(mount, policy, &config.mount, &report), SMB_MOUNT_OK, "%s",
		     report.message);
	peer->client = smb_client_init(g_malloc(smb_client_size(&smb_client_limits_simulation)),
				       &smb_client_limits_simulation, &config);
	cr_assert(peer->client);
	cr_assert_neq(smb_client_submit(peer->client, &op, 0), SMB_OP_NONE);
	cr_assert(run_now(peer));
	cr_assert_eq(peer->done.verdict, SMB_OP_OK);
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
	g_free(peer->client);
	g_free(peer);
}

enum smb_ops_error peer_run(struct peer *peer, const char *line)
{
	struct smb_ops_shell shell = { .mount_point = "/mnt", .local_bytes = 10 };
	char message[SMB_OPS_MESSAGE_MAX];
	struct smb_ops_command command;
	struct smb_op op = { .kind = SMB_OP_COMMAND, .command = &command };

	cr_assert(smb_ops_parse(line, &shell, &command, NULL, message), "%s: %s", line, message);
	cr_assert_neq(smb_client_submit(peer->client, &op, peer->now_ns), SMB_OP_NONE, "%s", line);
	cr_assert(run_now(peer), "%s does not return", line);
	cr_assert_eq(peer->done.verdict, peer->done.error ? SMB_OP_FAILED : SMB_OP_OK);
	return peer->done.error;
}

void peer_wait(struct peer *peer, uint64_t ns)
{
	uint64_t end_ns = peer->now_ns + ns;

	while (peer->wake_ns <= end_ns) {
		peer->now_ns = peer->wake_ns;
		peer->wake_ns = UINT64_MAX;
		smb_client_wake(peer->client, peer->now_ns);
		run_now(peer);
	}
	peer->now_ns = end_ns;
}
