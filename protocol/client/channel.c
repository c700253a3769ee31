/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of one channel: connect, NEGOTIATE, SESSION_SETUP in two legs, use, end (MS-SMB2 3.2.4.2). */
#include "protocol/client/cancel.h"
#include "protocol/client/smb1.h"
#include "protocol/client/tables.h"
#include "protocol/client/write.h"

#include <assert.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

struct channel_transition {
	bool known; /* an empty cell is a protocol error */
	enum channel_state next;
	void (*enter)(struct smb_client *client, uint32_t channel);
};

static void wake_mount(struct smb_client *client)
{
	struct client_op *op;

	if (client->mount_op == NONE)
		return;
	op = client_op_at(client, client->mount_op);
	if (op->wait == OP_CHANNEL)
		client_op_wake(client, op);
}

/** Send one of the channel's own requests; there is always a credit, or the server broke off the conversation. */
static void send_own(struct smb_client *client, uint32_t i, enum client_purpose purpose)
{
	struct client_channel *channel = client_channel_at(client, i);
	enum smb_credit_class class = client_purpose_info(purpose)->credit_class;
	uint32_t slot;

	if (smb_credits_take(&channel->credits, &client->policy, class, 1) != SMB_CREDIT_TAKEN) {
		client_channel_drop(client, i, SMB_OP_STALLED, STATUS_SUCCESS);
		return;
	}
	slot = client_request_take(client, purpose, NONE);
	if (slot == NONE) {
		/* At mount there is always one; beside full channels this one has to come back later. */
		client_channel_drop(client, i, SMB_OP_DISCONNECTED, STATUS_SUCCESS);
		return;
	}
	client_request_send(client, slot, i, 0);
}

static void enter_connecting(struct smb_client *client, uint32_t i)
{
	struct client_channel *channel = client_channel_at(client, i);
	struct client_output *output = client_output_push(client, SMB_CLIENT_OPEN_CHANNEL);

	if (client->channels_used <= i)
		client->channels_used = i + 1;
	channel->verdict = SMB_OP_DISCONNECTED;
	channel->status = STATUS_SUCCESS;
	channel->retry_ns = NEVER;
	output->channel = i;
	output->interface = channel->interface;
}

static uint32_t max_credits_of(const struct smb_client *client, uint32_t i)
{
	if (i && !client->policy.secondary_inherits_max_credits)
		return 0; /* bug D-49: asks for none and starves */
	return client->mount.max_credits ? client->mount.max_credits : client->policy.max_credits_default;
}

static void enter_negotiating(struct smb_client *client, uint32_t i)
{
	struct client_channel *channel = client_channel_at(client, i);
	uint32_t instance = channel->credits.instance;

	smb_credits_start(&channel->credits, max_credits_of(client, i));
	channel->credits.instance = instance + 1;
	channel->window = (struct smb_window){ 0 };
	channel->io_timeouts = 0;
	if (client->session.mounted && client->policy.channel_sequence)
		client->session.channel_sequence++; /* MS-SMB2 3.2.4.1.9; cifs 6.6, smb2_set_credits */
	channel->last_response_ns = client->now_ns;
	channel->next_echo_ns = client->now_ns + client->mount.echo_interval_s * NS_PER_S;
	client->timers_changed = true;
	send_own(client, i, PURPOSE_NEGOTIATE);
}

static void enter_session_first(struct smb_client *client, uint32_t i)
{
	struct client_channel *channel = client_channel_at(client, i);

	channel->makes_session = !client_session_lives(client);
	channel->setup_session = channel->makes_session ? 0 : client->session.session_id;
	send_own(client, i, PURPOSE_SESSION_FIRST);
}

static void enter_session_final(struct smb_client *client, uint32_t i)
{
	send_own(client, i, PURPOSE_SESSION_FINAL);
}

static void enter_ready(struct smb_client *client, uint32_t i)
{
	client_reconnect_ready(client, i);
	wake_mount(client);
}

/** One request of a dead channel, or one that was not sent: its owner decides whether to try again elsewhere. */
void client_request_lost(struct smb_client *client, uint32_t slot)
{
	struct smb_request *request = client_request_at(client, slot);
	uint32_t channel = request->channel;

	SMB_CELL_TAKEN(SMB_TABLE_REQUESTS, request->purpose, SMB_FATE_LOST);
	smb_requests_ended(&client->requests, client_request_arrays(client), slot);
	switch (request->purpose) {
	case PURPOSE_NEGOTIATE:
	case PURPOSE_SESSION_FIRST:
	case PURPOSE_SESSION_FINAL:
		client_request_release(client, slot);
		if (client_channel_at(client, channel)->state != CHANNEL_DOWN) /* it was not sent */
			client_channel_drop(client, channel, SMB_OP_DISCONNECTED, STATUS_SUCCESS);
		break;
	case PURPOSE_REQUERY:
	case PURPOSE_ECHO:
	case PURPOSE_LEASE_BREAK:
	case PURPOSE_OPLOCK_BREAK:
		client_request_release(client, slot);
		break;
	case PURPOSE_READ_WINDOW:
	case PURPOSE_READ_PAGE:
	case PURPOSE_READ_DIRECT:
		client_read_answer(client, slot, NULL);
		break;
	case PURPOSE_WRITE_BACK:
	case PURPOSE_WRITE_THROUGH:
	case PURPOSE_WRITE_DIRECT:
		client_write_answer(client, slot, NULL);
		break;
	case PURPOSE_CANCELLED:
	case PURPOSE_LATE_CLOSE:
		client_late_answer(client, slot, NULL);
		break;
	case PURPOSE_COMMAND:
		client_command_answer(client, slot, NULL);
		break;
	default:
		client_script_lost(client, slot);
	}
}

void client_outputs_forget(struct smb_client *client, uint32_t i)
{
	struct client_output *outputs = client_outputs(client);
	uint32_t kept = 0;

	for (uint32_t n = 0; n < client->outputs_count; n++) {
		struct client_output output = outputs[(client->outputs_head + n) % client->limits.outputs];

		if (output.kind == SMB_CLIENT_SEND && output.channel == i)
			continue;
		outputs[(client->outputs_head + kept++) % client->limits.outputs] = output;
	}
	client->outputs_count = kept;
}

static void release_waiters(struct smb_client *client, uint32_t i)
{
	struct client_channel *channel = client_channel_at(client, i);
	uint32_t n;

	for (n = 0; n < client_op_slots(client); n++) {
		struct client_op *op = client_op_at(client, n);

		if (op->wait == OP_FREE || op->channel != i)
			continue;
		op->headers_taken = false;
		op->io_taken = false;
		op->channel = NONE;
	}
	while ((n = client_list_pop(client, &channel->waiters)) != NONE) {
		client->waiting_for_credits--;
		client_op_wake(client, client_op_at(client, n));
	}
}

/** In the order sent, so that what happens does not depend on slot numbers. */
static uint32_t oldest_request(const struct smb_client *client, uint32_t i)
{
	uint32_t oldest = NONE;

	for (uint32_t slot = 0; slot < client->requests.size; slot++) {
		const struct smb_request *request = client_request_at(client, slot);

		if (request->state != SMB_REQUEST_SENT || request->channel != i)
			continue;
		if (oldest == NONE || request->message_id < client_request_at(client, oldest)->message_id)
			oldest = slot;
	}
	return oldest;
}

static void enter_down(struct smb_client *client, uint32_t i)
{
	struct client_channel *channel = client_channel_at(client, i);
	uint32_t slot;

	client_outputs_forget(client, i);
	channel->is_full = false;
	smb_credits_restart(&channel->credits);
	channel->next_echo_ns = NEVER;
	client->timers_changed = true;
	release_waiters(client, i);
	while ((slot = oldest_request(client, i)) != NONE)
		client_request_lost(client, slot);
	client_reconnect_lost(client, i);
	wake_mount(client);
}

static void enter_closed(struct smb_client *client, uint32_t i)
{
	client_output_push(client, SMB_CLIENT_CLOSE_CHANNEL)->channel = i;
	enter_down(client, i);
}

/* clang-format off */
static const struct channel_transition transitions[CHANNEL_STATES][CHANNEL_EVENTS] = {
	[CHANNEL_UNUSED] = {
		[CHANNEL_OPEN] = { true, CHANNEL_CONNECTING, enter_connecting },
	},
	[CHANNEL_CONNECTING] = {
		[CHANNEL_UP] = { true, CHANNEL_NEGOTIATING, enter_negotiating },
		[CHANNEL_UP_EARLY] = { true, CHANNEL_CONNECTED, NULL },
		[CHANNEL_LOST] = { true, CHANNEL_DOWN, enter_down },
		[CHANNEL_REFUSED] = { true, CHANNEL_DOWN, enter_closed },
		[CHANNEL_SHUT] = { true, CHANNEL_UNUSED, enter_closed },
	},
	[CHANNEL_CONNECTED] = {
		[CHANNEL_UP] = { true, CHANNEL_NEGOTIATING, enter_negotiating },
		[CHANNEL_REFUSED] = { true, CHANNEL_DOWN, enter_closed },
		[CHANNEL_LOST] = { true, CHANNEL_DOWN, enter_down },
		[CHANNEL_SHUT] = { true, CHANNEL_UNUSED, enter_closed },
	},
	[CHANNEL_NEGOTIATING] = {
		[CHANNEL_NEGOTIATED] = { true, CHANNEL_SESSION_FIRST, enter_session_first },
		[CHANNEL_REFUSED] = { true, CHANNEL_DOWN, enter_closed },
		[CHANNEL_LOST] = { true, CHANNEL_DOWN, enter_down },
		[CHANNEL_SHUT] = { true, CHANNEL_UNUSED, enter_closed },
	},
	[CHANNEL_SESSION_FIRST] = {
		[CHANNEL_MORE] = { true, CHANNEL_SESSION_FINAL, enter_session_final },
		[CHANNEL_LOGGED_ON] = { true, CHANNEL_READY, enter_ready },
		[CHANNEL_REFUSED] = { true, CHANNEL_DOWN, enter_closed },
		[CHANNEL_LOST] = { true, CHANNEL_DOWN, enter_down },
		[CHANNEL_SHUT] = { true, CHANNEL_UNUSED, enter_closed },
	},
	[CHANNEL_SESSION_FINAL] = {
		[CHANNEL_LOGGED_ON] = { true, CHANNEL_READY, enter_ready },
		[CHANNEL_REFUSED] = { true, CHANNEL_DOWN, enter_closed },
		[CHANNEL_LOST] = { true, CHANNEL_DOWN, enter_down },
		[CHANNEL_SHUT] = { true, CHANNEL_UNUSED, enter_closed },
	},
	[CHANNEL_READY] = {
		[CHANNEL_REFUSED] = { true, CHANNEL_DOWN, enter_closed },
		[CHANNEL_LOST] = { true, CHANNEL_DOWN, enter_down },
		[CHANNEL_SHUT] = { true, CHANNEL_UNUSED, enter_closed },
	},
	[CHANNEL_DOWN] = {
		[CHANNEL_OPEN] = { true, CHANNEL_CONNECTING, enter_connecting },
		[CHANNEL_SHUT] = { true, CHANNEL_UNUSED, NULL },
	},
};
/* clang-format on */

bool client_channel_has_transition(enum channel_state state, enum channel_event event)
{
	return transitions[state][event].known;
}

void client_channel_step(struct smb_client *client, uint32_t i, enum channel_event event)
{
	struct client_channel *channel = client_channel_at(client, i);
	const struct channel_transition *transition = &transitions[channel->state][event];

	SMB_CELL_TAKEN(SMB_TABLE_CHANNELS, channel->state, event);
	if (!transition->known) {
		if (channel->state == CHANNEL_UNUSED || channel->state == CHANNEL_DOWN)
			return; /* news of a connection that is over */
		transition = &transitions[channel->state][CHANNEL_REFUSED];
		channel->verdict = SMB_OP_FAILED;
		channel->status = STATUS_REQUEST_NOT_ACCEPTED;
	}
	channel->state = transition->next;
	if (transition->enter)
		transition->enter(client, i);
}

void client_channel_drop(struct smb_client *client, uint32_t i, enum smb_op_verdict verdict, uint32_t status)
{
	struct client_channel *channel = client_channel_at(client, i);

	channel->verdict = verdict;
	channel->status = status;
	client_channel_step(client, i, CHANNEL_REFUSED);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/** One transfer's size: the option or the era's default, within what the server takes (cifs, smb2_negotiate_rsize). */
static uint32_t io_size(const struct smb_client *client, uint32_t option, uint32_t limit)
{
	const struct client_session *session = &client->session;
	uint32_t size = option;

	if (!size)
		size = session->dialect >= SMB2_DIALECT_300 ? client->policy.rsize_default_3x
							    : client->policy.rsize_default_2x;
	size = smaller(size, limit);
	if (!(session->capabilities & SMB2_GLOBAL_CAP_LARGE_MTU) || session->dialect < SMB2_DIALECT_210)
		size = smaller(size, SMB2_CREDIT_UNIT);
	return size ? size : SMB2_CREDIT_UNIT; /* cifs 6.12, prevent_zero_iosize */
}

/** The sizes in use, from what the server takes; those of open files' readahead stay as they are. */
static void take_sizes(struct smb_client *client)
{
	struct client_session *session = &client->session;

	if (client_is_smb1(client)) {
		client_smb1_sizes(client);
		return;
	}
	session->rsize = io_size(client, client->mount.rsize, session->max_read);
	session->wsize = io_size(client, client->mount.wsize, session->max_write);
	if (client->policy.wsize_rounded_to_page && session->wsize > client->page_bytes)
		session->wsize -= session->wsize % client->page_bytes;
	session->ra_pages = smb_readahead_limit(&client->policy, client->mount.rasize, session->rsize,
						client->page_bytes);
}

static void take_limits(struct smb_client *client, const struct smb2_negotiate_rsp *rsp)
{
	struct client_session *session = &client->session;

	session->dialect = rsp->dialect;
	session->security_mode = rsp->security_mode;
	session->capabilities = rsp->capabilities;
	memcpy(session->server_guid, rsp->server_guid, sizeof(session->server_guid));
	session->max_transact = rsp->max_transact_size;
	session->max_read = rsp->max_read_size;
	session->max_write = rsp->max_write_size;
	session->max_buf = smaller(rsp->max_transact_size, SMB2_CREDIT_UNIT);
	if (client_is_smb1(client)) {
		session->smb1_capabilities = rsp->capabilities;
		session->capabilities = 0;
	}
	/* Facts A2: until 2025 a mount kept the sizes that its first NEGOTIATE brought. */
	if (!session->mounted || client->policy.sizes_relearned)
		take_sizes(client);
}

static bool was_offered(const struct smb_client *client, uint16_t dialect)
{
	uint16_t dialects[SMB2_DIALECTS_MAX];
	uint32_t count = smb_mount_dialects(client->mount.vers, dialects);

	for (uint32_t i = 0; i < count; i++) {
		if (dialects[i] == dialect)
			return true;
	}
	return false;
}

/** False: the answer cannot be used. Further channels must speak the session's dialect (C26). */
static bool negotiate_answer(struct smb_client *client, uint32_t i, const struct smb2_message *message)
{
	const struct smb2_negotiate_rsp *rsp = &message->body.negotiate_rsp;

	if (message->kind != SMB2_BODY_NEGOTIATE_RSP)
		return false;
	if (i && client_session_lives(client))
		return rsp->dialect == client->session.dialect;
	if (client->session.mounted ? rsp->dialect != client->session.dialect : !was_offered(client, rsp->dialect))
		return false;
	take_limits(client, rsp);
	return true;
}

void client_channel_answer(struct smb_client *client, struct smb_request *request, const struct smb2_message *message)
{
	struct client_channel *channel = client_channel_at(client, request->channel);
	uint32_t status = message->header.status;
	enum channel_event event = CHANNEL_REFUSED;

	channel->verdict = SMB_OP_FAILED;
	channel->status = status ? status : STATUS_NOT_SUPPORTED;
	if (request->purpose == PURPOSE_NEGOTIATE) {
		if (status == STATUS_SUCCESS && negotiate_answer(client, request->channel, message))
			event = CHANNEL_NEGOTIATED;
	} else if (status == STATUS_MORE_PROCESSING_REQUIRED) {
		event = CHANNEL_MORE;
	} else if (status == STATUS_SUCCESS) {
		event = CHANNEL_LOGGED_ON;
	}
	if (request->purpose != PURPOSE_NEGOTIATE && channel->makes_session && event != CHANNEL_REFUSED)
		channel->setup_session = message->header.session_id;
	if (event == CHANNEL_LOGGED_ON && channel->makes_session)
		client->session.session_id = channel->setup_session;
	client_channel_step(client, request->channel, event);
}
