/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "sim/world/tests/bill.h"

#define PDU_MAX (SMB_SERVER_PDU_MAX + 4096)
#define CONNECTION 0 /* one channel: a bill counts, it does not measure */

void sim_bill_forget(struct sim_bill *bill)
{
	g_array_set_size(bill->pairs, 0);
	g_ptr_array_set_size(bill->sent, 0);
}

char *sim_bill_text(const struct sim_bill *bill, guint first, guint end, bool detailed)
{
	return sim_pairs_text(bill->pairs, first, end, detailed);
}

/* ------------------------------------------------------------------------------------------------------------ driving */

/** The next PDU of the server; storage takes no time. */
static bool server_says(struct sim_bill *bill, struct smb_pdu *pdu)
{
	struct smb_server_output output;

	for (;;) {
		smb_server_next(bill->server, &output, bill->buffer, PDU_MAX);
		switch (output.kind) {
		case SMB_SERVER_IDLE:
			return false;
		case SMB_SERVER_SEND:
			*pdu = output.pdu;
			return true;
		case SMB_SERVER_WORK:
			smb_server_work_done(bill->server, output.token, bill->now_ns);
			break;
		case SMB_SERVER_DISCONNECT:
			bill->broken = output.reason;
			break;
		case SMB_SERVER_WAKE:
			break; /* interim answers: nothing waits here */
		}
	}
}

static void ask_server(struct sim_bill *bill, const struct smb_pdu *pdu)
{
	struct smb_pdu answer;

	sim_pairs_sent(bill->pairs, CONNECTION, pdu, bill->now_ns);
	g_ptr_array_add(bill->sent, g_bytes_new(pdu->bytes, pdu->length));
	smb_server_receive(bill->server, CONNECTION, pdu, bill->now_ns);
	while (server_says(bill, &answer)) {
		sim_pairs_received(bill->pairs, CONNECTION, &answer, bill->now_ns);
		if (smb_client_receive(bill->client, CONNECTION, &answer, bill->now_ns) != SMB_RECEIVE_OK)
			bill->broken = "the client does not understand an answer";
	}
}

static void obey(struct sim_bill *bill, const struct smb_client_output *output, bool *is_done)
{
	switch (output->kind) {
	case SMB_CLIENT_SEND:
		ask_server(bill, &output->pdu);
		break;
	case SMB_CLIENT_OPEN_CHANNEL:
		smb_server_connected(bill->server, CONNECTION, bill->now_ns);
		smb_client_channel(bill->client, output->channel, SMB_CHANNEL_CONNECTED, bill->now_ns);
		break;
	case SMB_CLIENT_CLOSE_CHANNEL:
		smb_server_closed(bill->server, CONNECTION, bill->now_ns);
		break;
	case SMB_CLIENT_DONE:
		bill->done = *output;
		*is_done = true;
		break;
	case SMB_CLIENT_WAKE:
		bill->wake_ns = output->when_ns;
		break;
	case SMB_CLIENT_COPY:
	case SMB_CLIENT_IDLE:
		break;
	}
}

/** Until there is nothing to do at this time; true when an operation ended. */
static bool run_now(struct sim_bill *bill)
{
	struct smb_client_output output;
	bool is_done = false;

	do {
		smb_client_next(bill->client, &output, bill->buffer, PDU_MAX);
		obey(bill, &output, &is_done);
	} while (output.kind != SMB_CLIENT_IDLE);
	return is_done;
}

static bool run_op(struct sim_bill *bill, const struct smb_op *op, const char *what, GError **error)
{
	if (smb_client_submit(bill->client, op, bill->now_ns) == SMB_OP_NONE) {
		g_set_error(error, SIM_BILL_ERROR, SIM_BILL_ERROR_ORDER, "%s: the client takes it only %s mounted",
			    what, op->kind == SMB_OP_MOUNT ? "when nothing is" : "with the share");
		return false;
	}
	if (run_now(bill) && !bill->broken)
		return true;
	g_set_error(error, SIM_BILL_ERROR, SIM_BILL_ERROR_BROKEN, "%s: %s", what,
		    bill->broken ? bill->broken : "it does not come to an end");
	return false;
}

/* ------------------------------------------------------------------------------------------------------------- public */

struct sim_bill *sim_bill_new(const struct sim_bill_config *config, GError **error)
{
	struct smb_client_config client = {
		.policy = config->policy,
		.mount = config->mount,
		.page_bytes = config->page_bytes ? config->page_bytes : 4096,
		.server = "10.0.0.1",
		.share = "s",
	};
	struct smb_server_config server = { .profile = config->server, .share = "s", .interface_count = 1 };
	struct sim_bill *bill = g_new0(struct sim_bill, 1);
	void *client_block = g_malloc(smb_client_size(&smb_client_limits_simulation));
	void *server_block = g_malloc(smb_server_size(&smb_server_limits_simulation));

	client.mount.multichannel = false;
	client.mount.max_channels = 1;
	bill->wake_ns = UINT64_MAX;
	bill->pairs = sim_pairs_new();
	bill->sent = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	bill->buffer = g_malloc(PDU_MAX);
	bill->client = smb_client_init(client_block, &smb_client_limits_simulation, &client);
	bill->server = smb_server_init(server_block, &smb_server_limits_simulation, &server);
	if (bill->client && bill->server)
		return bill;
	g_set_error(error, SIM_BILL_ERROR, SIM_BILL_ERROR_IMPOSSIBLE, "the %s does not take this configuration",
		    bill->client ? "server" : "client");
	bill->client = client_block;
	bill->server = server_block;
	sim_bill_free(bill);
	return NULL;
}

void sim_bill_free(struct sim_bill *bill)
{
	g_array_unref(bill->pairs);
	g_ptr_array_unref(bill->sent);
	g_free(bill->buffer);
	g_free(bill->server);
	g_free(bill->client);
	g_free(bill);
}

bool sim_bill_mount(struct sim_bill *bill, GError **error)
{
	struct smb_op op = { .kind = SMB_OP_MOUNT };

	if (!run_op(bill, &op, "mount", error))
		return false;
	if (bill->done.verdict == SMB_OP_OK)
		return true;
	g_set_error(error, SIM_BILL_ERROR, SIM_BILL_ERROR_IMPOSSIBLE, "mount: the server refuses it (NT status 0x%08x)",
		    bill->done.status);
	return false;
}

bool sim_bill_run(struct sim_bill *bill, const struct smb_ops_command *command, enum smb_ops_error *ended,
		  GError **error)
{
	struct smb_op op = { .kind = SMB_OP_COMMAND, .command = command };

	if (!run_op(bill, &op, smb_ops_command_name(command->kind), error))
		return false;
	*ended = bill->done.error;
	return true;
}

bool sim_bill_wait(struct sim_bill *bill, uint64_t ns, GError **error)
{
	uint64_t end_ns = bill->now_ns + ns;

	while (bill->wake_ns <= end_ns && !bill->broken) {
		bill->now_ns = bill->wake_ns;
		bill->wake_ns = UINT64_MAX;
		smb_client_wake(bill->client, bill->now_ns);
		run_now(bill);
	}
	bill->now_ns = end_ns;
	if (bill->broken)
		g_set_error(error, SIM_BILL_ERROR, SIM_BILL_ERROR_BROKEN, "%s", bill->broken);
	return !bill->broken;
}
