/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the bytes of a PDU to the request that waits for it (cifs 6.1, cifs_demultiplex_thread). */
#include "protocol/client/cancel.h"
#include "protocol/client/smb1.h"
#include "protocol/client/tables.h"
#include "protocol/client/write.h"

#include <assert.h>

static void dispatch(struct smb_client *client, uint32_t slot, const struct smb2_message *message)
{
	struct smb_request *request = client_request_at(client, slot);
	struct smb_request copy;

	SMB_CELL_TAKEN(SMB_TABLE_REQUESTS, request->purpose, SMB_FATE_ANSWERED);
	switch (request->purpose) {
	case PURPOSE_NEGOTIATE:
	case PURPOSE_SESSION_FIRST:
	case PURPOSE_SESSION_FINAL:
		copy = *request;
		client_request_release(client, slot);
		client_channel_answer(client, &copy, message);
		break;
	case PURPOSE_REQUERY:
		client_request_release(client, slot);
		client_requery_answer(client, message);
		break;
	case PURPOSE_ECHO:
	case PURPOSE_LEASE_BREAK:
	case PURPOSE_OPLOCK_BREAK:
		client_request_release(client, slot);
		break;
	case PURPOSE_READ_WINDOW:
	case PURPOSE_READ_PAGE:
	case PURPOSE_READ_DIRECT:
		client_read_answer(client, slot, message);
		break;
	case PURPOSE_WRITE_BACK:
	case PURPOSE_WRITE_THROUGH:
	case PURPOSE_WRITE_DIRECT:
		client_write_answer(client, slot, message);
		break;
	case PURPOSE_CANCELLED:
	case PURPOSE_LATE_CLOSE:
		client_late_answer(client, slot, message);
		break;
	case PURPOSE_COMMAND:
		client_command_answer(client, slot, message);
		break;
	default:
		client_script_answer(client, slot, message);
	}
}

/** Break acknowledgements that wait for a credit come before all others: the server waits for them (C20). */
static void credits_came(struct smb_client *client, uint32_t channel)
{
	if (client->breaks_pending && client->policy.break_ack_waits)
		client_breaks_send(client);
	client_credits_came(client, channel);
}

/** Credits that end no request: interim and unmatched answers, breaks. They count at once (C9). */
static void grant(struct smb_client *client, uint32_t channel, const struct smb2_header *header)
{
	if (!header->credits)
		return;
	smb_credits_granted(&client_channel_at(client, channel)->credits, header->credits);
	credits_came(client, channel);
}

/** The server knows the session no more (cifs 6.1, smb2_is_session_expired). */
static bool session_has_ended(const struct smb_client *client, const struct smb_request *request, uint32_t status)
{
	return (status == STATUS_NETWORK_SESSION_EXPIRED || status == STATUS_USER_SESSION_DELETED) &&
	       client->session.mounted && client->mount_op == NONE && request->purpose != PURPOSE_SESSION_FIRST &&
	       request->purpose != PURPOSE_SESSION_FINAL;
}

/** cifs 6.1, cifs_demultiplex_thread: STATUS_IO_TIMEOUT is counted over the life of a connection. */
static bool has_timed_out_too_often(const struct smb_client *client, struct client_channel *channel, uint32_t status)
{
	uint16_t max = client->policy.io_timeouts_max;

	return status == STATUS_IO_TIMEOUT && max && ++channel->io_timeouts > max;
}

static enum smb_receive_verdict receive_member(struct smb_client *client, uint32_t index,
					       const struct smb2_message *message)
{
	struct client_channel *channel = client_channel_at(client, index);
	const struct smb2_header *header = &message->header;
	struct smb_request *request;
	uint32_t slot;

	if (!(header->flags & SMB2_FLAGS_SERVER_TO_REDIR))
		return SMB_RECEIVE_MALFORMED;
	if (header->message_id == SMB2_MESSAGE_ID_UNSOLICITED) {
		grant(client, index, header);
		client_break_received(client, message);
		return SMB_RECEIVE_OK;
	}
	slot = smb_requests_find(&client->requests, client_request_arrays(client), index, header->message_id);
	if (slot == NONE || client_request_at(client, slot)->command != header->command) {
		grant(client, index, header);
		return SMB_RECEIVE_UNMATCHED;
	}
	request = client_request_at(client, slot);
	if (header->status == STATUS_PENDING) {
		request->async_id = header->async_id;
		grant(client, index, header);
		return SMB_RECEIVE_OK;
	}
	if (session_has_ended(client, request, header->status)) {
		client_reconnect_all(client); /* it stays on the wire's list and goes down with the channel */
		grant(client, index, header);
		return SMB_RECEIVE_OK;
	}
	if (has_timed_out_too_often(client, channel, header->status)) {
		client_channel_drop(client, index, SMB_OP_DISCONNECTED,
				    STATUS_SUCCESS); /* the request goes down with it */
		return SMB_RECEIVE_OK;
	}
	smb_requests_ended(&client->requests, client_request_arrays(client), slot);
	smb_credits_answered(&channel->credits, request->credit_class, header->credits, request->instance);
	credits_came(client, index);
	dispatch(client, slot, message);
	return SMB_RECEIVE_OK;
}

static bool is_connected(const struct client_channel *channel)
{
	return channel->state >= CHANNEL_NEGOTIATING && channel->state <= CHANNEL_READY;
}

static enum smb_receive_verdict receive_smb1(struct smb_client *client, uint32_t channel, const struct smb_pdu *pdu)
{
	struct smb2_message message;

	if (client_smb1_decode(client, channel, pdu, &message))
		return receive_member(client, channel, &message);
	client_channel_drop(client, channel, SMB_OP_DISCONNECTED, STATUS_SUCCESS);
	return SMB_RECEIVE_MALFORMED;
}

enum smb_receive_verdict smb_client_receive(struct smb_client *client, uint32_t channel, const struct smb_pdu *pdu,
					    uint64_t now_ns)
{
	struct client_channel *at = client_channel_at(client, channel);
	enum smb_receive_verdict verdict = SMB_RECEIVE_OK;
	struct smb_chain_reader reader;
	struct smb2_message message;
	enum smb_wire_verdict wire;

	assert(channel < client->limits.channels);
	client->now_ns = now_ns;
	if (!is_connected(at))
		return SMB_RECEIVE_UNMATCHED; /* the last words of a connection that is over */
	at->last_response_ns = now_ns;
	if (client_is_smb1(client))
		return receive_smb1(client, channel, pdu);
	smb_chain_read(&reader, pdu);
	while (is_connected(at) && (wire = smb_chain_next(&reader, &message)) != SMB_WIRE_END) {
		enum smb_receive_verdict member = SMB_RECEIVE_MALFORMED;

		if (wire == SMB_WIRE_OK)
			member = receive_member(client, channel, &message);
		if (member == SMB_RECEIVE_MALFORMED) {
			client_channel_drop(client, channel, SMB_OP_DISCONNECTED, STATUS_SUCCESS);
			return SMB_RECEIVE_MALFORMED;
		}
		if (member == SMB_RECEIVE_UNMATCHED)
			verdict = SMB_RECEIVE_UNMATCHED;
	}
	return verdict;
}
