/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the peer answers, and what it expects of a request. */
#include "protocol/client/tests/peer_server.h"

#include "protocol/wire/contexts.h"

#include <criterion/criterion.h>
#include <string.h>

#define DISPOSITION_OPEN 1
#define DISPOSITION_OVERWRITE 4
#define DISPOSITION_OVERWRITE_IF 5
#define SESSION_ID 0x1234u
#define FILE_ID 0x77
#define ROOT_ID 0x11
#define ACCESS_LOOK 0x80u

static void queue_pdu(struct peer *peer, uint32_t channel, const struct smb_pdu *pdu)
{
	struct peer_reply *reply = &peer->queue[(peer->queue_head + peer->queue_count) % PEER_QUEUE_MAX];

	cr_assert_lt(peer->queue_count, PEER_QUEUE_MAX);
	cr_assert_leq(pdu->length, sizeof(reply->bytes));
	reply->channel = channel;
	reply->connection = peer->channels[channel].connection;
	reply->length = pdu->length;
	reply->payload = pdu->payload;
	memcpy(reply->bytes, pdu->bytes, pdu->length);
	peer->queue_count++;
}

static void queue_message(struct peer *peer, uint32_t channel, const struct smb2_message *message)
{
	uint8_t buffer[1024];
	struct smb_pdu pdu;

	cr_assert_eq(smb2_message_encode(message, buffer, sizeof(buffer), &pdu), SMB_WIRE_OK);
	queue_pdu(peer, channel, &pdu);
}

static struct smb2_message reply_to(const struct peer *peer, const struct peer_entry *entry, uint32_t status)
{
	struct smb2_message reply;

	memset(&reply, 0, sizeof(reply));
	reply.header = (struct smb2_header){
		.credit_charge = entry->charge,
		.status = status,
		.command = entry->command,
		.flags = SMB2_FLAGS_SERVER_TO_REDIR,
		.message_id = entry->message_id,
		.process_id = 0xfeff,
		.tree_id = 5,
		.session_id = peer->session_id,
	};
	return reply;
}

static void give_credits(struct peer *peer, struct peer_entry *entry, struct smb2_message *reply, uint32_t granted)
{
	reply->header.credits = (uint16_t)granted;
	entry->granted = (uint16_t)(entry->granted + granted);
	peer->channels[entry->channel].credits += granted;
	peer->channels[entry->channel].ids_end += granted;
}

static uint32_t grant_of(const struct peer *peer, const struct peer_entry *entry, uint32_t status)
{
	uint32_t charge = entry->charge ? entry->charge : 1;
	uint32_t asked = entry->asked ? entry->asked : 1;
	uint32_t granted = charge + asked - 1;

	if (entry->command == SMB2_NEGOTIATE || (entry->command == SMB2_SESSION_SETUP && status))
		granted = 1;
	if (peer->grant_nothing)
		return 0;
	if (peer->grant_cap && granted > peer->grant_cap)
		granted = peer->grant_cap;
	return granted;
}

static void error_body(struct smb2_message *reply)
{
	reply->kind = SMB2_BODY_ERROR_RSP;
	reply->body.error_rsp = (struct smb2_error_rsp){ 0 };
}

static void negotiate_reply(struct peer *peer, const struct smb2_message *request, struct smb2_message *reply)
{
	const struct smb2_negotiate_req *req = &request->body.negotiate_req;
	static const uint8_t preauth[38] = { 1, 0, 32, 0, 1, 0 };
	struct smb2_negotiate_rsp *rsp = &reply->body.negotiate_rsp;

	reply->kind = SMB2_BODY_NEGOTIATE_RSP;
	rsp->dialect = peer->dialect ? peer->dialect : req->dialects[req->dialect_count - 1];
	rsp->security_mode = 1;
	rsp->server_guid[3] = 9;
	rsp->capabilities = peer->capabilities;
	if (rsp->dialect == SMB2_DIALECT_202)
		rsp->capabilities = SMB2_GLOBAL_CAP_DFS;
	rsp->max_transact_size = rsp->max_read_size = rsp->max_write_size = peer->max_read;
	if (rsp->dialect == SMB2_DIALECT_202)
		rsp->max_transact_size = rsp->max_read_size = rsp->max_write_size = 65536;
	if (rsp->dialect == SMB2_DIALECT_311) {
		rsp->context_count = 1;
		rsp->contexts[0] = (struct smb2_context){ .type = SMB2_PREAUTH_INTEGRITY_CAPABILITIES,
							  .data = { preauth, sizeof(preauth) } };
	}
	peer->dialect = rsp->dialect;
}

static void ioctl_reply(struct peer *peer, const struct smb2_message *request, struct smb2_message *reply,
			uint8_t *scratch, uint32_t size)
{
	struct smb2_network_interface list[16] = { 0 };
	uint32_t code = request->body.ioctl_req.ctl_code;
	uint32_t used = 0;

	reply->kind = SMB2_BODY_IOCTL_RSP;
	reply->body.ioctl_rsp.ctl_code = code;
	reply->body.ioctl_rsp.file_id = SMB2_FILE_ID_RELATED;
	if (code == FSCTL_QUERY_NETWORK_INTERFACE_INFO) {
		for (uint32_t i = 0; i < peer->interfaces; i++)
			list[i] = (struct smb2_network_interface){ .index = i + 1,
								   .capability = 1,
								   .link_speed_bps = 1000000000,
								   .address = { 10, 0, 0, (uint8_t)(i + 1) } };
		cr_assert_eq(smb2_interfaces_encode(list, peer->interfaces, scratch, size, &used), SMB_WIRE_OK);
	} else if (code == FSCTL_VALIDATE_NEGOTIATE_INFO) {
		memset(scratch, 0, 24);
		memcpy(scratch, &peer->capabilities, 4);
		scratch[7] = 9;
		scratch[20] = 1;
		memcpy(scratch + 22, &peer->dialect, 2);
		used = 24;
	} else {
		reply->header.status = 0xc0000225; /* not found: no DFS */
		error_body(reply);
		return;
	}
	reply->body.ioctl_rsp.output = (struct smb_blob){ scratch, used };
}

static void create_reply(struct peer *peer, const struct smb2_message *request, struct smb2_message *reply)
{
	bool root = !request->body.create_req.name.length;

	bool durable = smb2_create_context_find(request->body.create_req.contexts,
						request->body.create_req.context_count, "DHnC");
	uint32_t disposition = request->body.create_req.create_disposition;
	bool makes = disposition != DISPOSITION_OPEN && disposition != DISPOSITION_OVERWRITE;

	if (!root && peer->absent && !makes) {
		reply->header.status = STATUS_OBJECT_NAME_NOT_FOUND;
		error_body(reply);
		return;
	}
	if (!root && (disposition == DISPOSITION_OVERWRITE || disposition == DISPOSITION_OVERWRITE_IF || peer->absent))
		peer->file_bytes = 0;
	peer->absent &= root;

	if (!root && (peer->open_status || (durable && !peer->keeps_handles))) {
		reply->header.status = durable ? STATUS_OBJECT_NAME_NOT_FOUND : peer->open_status;
		error_body(reply);
		return;
	}
	reply->kind = SMB2_BODY_CREATE_RSP;
	reply->body.create_rsp.oplock_level = peer->oplock ? peer->oplock : request->body.create_req.oplock_level;
	const struct smb2_context *lease = smb2_create_context_find(request->body.create_req.contexts,
								    request->body.create_req.context_count, "RqLs");
	if (lease && !peer->oplock) /* granted as asked */
		reply->body.create_rsp.contexts[reply->body.create_rsp.context_count++] = *lease;
	reply->body.create_rsp.create_action = 1;
	reply->body.create_rsp.end_of_file = root ? 0 : peer->file_bytes;
	if (!root && request->body.create_req.desired_access != ACCESS_LOOK && !durable)
		peer->file_id = peer->file_id ? peer->file_id : FILE_ID + peer->session_id - SESSION_ID;
	else if (durable)
		peer->file_id = FILE_ID; /* the first session's */
	reply->body.create_rsp.file_id = (struct smb2_file_id){ ROOT_ID, ROOT_ID };
	if (!root && request->body.create_req.desired_access != ACCESS_LOOK)
		reply->body.create_rsp.file_id = (struct smb2_file_id){ peer->file_id, peer->file_id };
}

/** Data of the file at [offset, offset + length), or the error that reading there gives. */
static void read_reply(struct peer *peer, const struct peer_entry *entry, struct smb2_message *reply)
{
	uint64_t left = entry->offset < peer->file_bytes ? peer->file_bytes - entry->offset : 0;
	uint32_t length = entry->length < left ? entry->length : (uint32_t)left;

	if (peer->read_failures) {
		peer->read_failures--;
		reply->header.status = peer->read_status;
	} else if (!length) {
		reply->header.status = STATUS_END_OF_FILE;
	}
	if (reply->header.status) {
		error_body(reply);
		return;
	}
	if (peer->short_bytes && length > peer->short_bytes)
		length = peer->short_bytes;
	reply->kind = SMB2_BODY_READ_RSP;
	reply->body.read_rsp.data_length = length;
	reply->body.read_rsp.payload = (struct smb_slice){ PEER_SOURCE, entry->offset, length };
	if (!peer->content)
		return;
	for (uint32_t i = 1; i < length; i++) {
		if (peer->content[entry->offset + i] != peer->content[entry->offset])
			length = i; /* short, up to the border of two sources */
	}
	reply->body.read_rsp.data_length = reply->body.read_rsp.payload.length = length;
	reply->body.read_rsp.payload.source = peer->content[entry->offset];
}

static void write_reply(struct peer *peer, const struct peer_entry *entry, struct smb2_message *reply)
{
	uint32_t length = entry->length;

	if (peer->write_failures) {
		peer->write_failures--;
		reply->header.status = peer->write_status;
		error_body(reply);
		return;
	}
	if (peer->short_write_bytes && length > peer->short_write_bytes)
		length = peer->short_write_bytes;
	if (entry->offset + length > peer->file_bytes)
		peer->file_bytes = entry->offset + length;
	reply->kind = SMB2_BODY_WRITE_RSP;
	reply->body.write_rsp.count = length;
	if (!peer->content)
		return;
	cr_assert_leq(entry->offset + length, peer->content_bytes);
	cr_assert(entry->data.offset == entry->offset || !entry->data.source);
	memset(peer->content + entry->offset, (int)entry->data.source, length);
}

static void body_of(struct peer *peer, const struct smb2_message *request, const struct peer_entry *entry,
		    struct smb2_message *reply, uint8_t *scratch, uint32_t size)
{
	switch (request->header.command) {
	case SMB2_NEGOTIATE:
		negotiate_reply(peer, request, reply);
		break;
	case SMB2_SESSION_SETUP:
		reply->kind = SMB2_BODY_SESSION_SETUP_RSP;
		if (!entry->binding && entry->message_id == 1) {
			/* A new session; what the old one had is gone. */
			peer->session_id = peer->session_id ? peer->session_id + 1 : SESSION_ID;
			peer->file_id = 0;
			reply->header.session_id = peer->session_id;
		}
		if (peer->refuse_channels & 1u << entry->channel)
			reply->header.status = STATUS_ACCESS_DENIED;
		else if (entry->message_id == 1)
			reply->header.status = STATUS_MORE_PROCESSING_REQUIRED;
		if (reply->header.status == STATUS_ACCESS_DENIED)
			error_body(reply);
		peer->channels[entry->channel].bound |= reply->header.status == STATUS_SUCCESS;
		break;
	case SMB2_TREE_CONNECT:
		reply->kind = SMB2_BODY_TREE_CONNECT_RSP;
		reply->body.tree_connect_rsp.share_type = 1;
		reply->header.status = peer->tree_status;
		if (peer->tree_status)
			error_body(reply);
		break;
	case SMB2_IOCTL:
		ioctl_reply(peer, request, reply, scratch, size);
		break;
	case SMB2_CREATE:
		create_reply(peer, request, reply);
		break;
	case SMB2_CLOSE:
		reply->kind = SMB2_BODY_CLOSE_RSP;
		break;
	case SMB2_QUERY_INFO:
		memset(scratch, 0, 24);
		reply->kind = SMB2_BODY_BUFFER_RSP;
		reply->body.buffer_rsp.buffer = (struct smb_blob){ scratch, 24 };
		break;
	case SMB2_OPLOCK_BREAK:
		reply->kind = request->kind;
		if (request->kind == SMB2_BODY_LEASE_BREAK_ACK)
			reply->body.lease_break_ack = request->body.lease_break_ack;
		else
			reply->body.oplock_break = request->body.oplock_break;
		break;
	case SMB2_READ:
		read_reply(peer, entry, reply);
		break;
	default:
		reply->kind = SMB2_BODY_EMPTY;
	}
}

static void interim_for(struct peer *peer, struct peer_entry *entry)
{
	struct smb2_message interim = reply_to(peer, entry, STATUS_PENDING);

	error_body(&interim);
	interim.header.flags |= SMB2_FLAGS_ASYNC_COMMAND;
	interim.header.async_id = entry->message_id + 1;
	give_credits(peer, entry, &interim, grant_of(peer, entry, 0));
	queue_message(peer, entry->channel, &interim);
}

void peer_answer_read(struct peer *peer, uint32_t held)
{
	struct peer_entry *entry = &peer->log[peer->held[held]];
	struct smb2_message reply = reply_to(peer, entry, STATUS_SUCCESS);

	if (entry->connection != peer->channels[entry->channel].connection)
		return; /* it went down with its connection */

	if (entry->command == SMB2_WRITE)
		write_reply(peer, entry, &reply);
	else
		read_reply(peer, entry, &reply);
	if (peer->read_interim) {
		reply.header.flags |= SMB2_FLAGS_ASYNC_COMMAND;
		reply.header.async_id = entry->message_id + 1;
	} else {
		give_credits(peer, entry, &reply, grant_of(peer, entry, reply.header.status));
	}
	queue_message(peer, entry->channel, &reply);
}

/* ------------------------------------------------------------------------------------------------ what is sent */

/** C22, C26: ids and handles of the session that counts, and only on channels that belong to it. */
static void judge_session(struct peer *peer, const struct peer_channel *channel, struct peer_entry *entry,
			  const struct smb2_message *message)
{
	const struct smb2_session_setup_req *setup = &message->body.session_setup_req;
	struct smb2_file_id id = { 0 };

	if (!entry->message_id)
		cr_assert_eq(entry->command, SMB2_NEGOTIATE, "a connection begins with NEGOTIATE");
	if (entry->command == SMB2_NEGOTIATE || entry->command == SMB2_ECHO)
		return;
	if (entry->command == SMB2_SESSION_SETUP) {
		entry->binding = setup->flags & SMB2_SESSION_FLAG_BINDING;
		entry->previous_session = setup->previous_session_id;
		if (!entry->binding && entry->message_id == 1)
			cr_assert_eq(message->header.session_id, 0, "a new session has no id yet");
		else
			cr_assert_eq(message->header.session_id, peer->session_id);
		return;
	}
	cr_assert(channel->bound, "command %u on a channel that is not bound", entry->command);
	cr_assert_eq(message->header.session_id, peer->session_id, "command %u with an old SessionId", entry->command);
	if (entry->command == SMB2_READ)
		id = message->body.read_req.file_id;
	else if (entry->command == SMB2_WRITE)
		id = message->body.write_req.file_id;
	else if (entry->command == SMB2_FLUSH)
		id = message->body.flush_req.file_id;
	else if (entry->command == SMB2_CLOSE)
		id = message->body.close_req.file_id;
	if (id.persistent && id.persistent != ROOT_ID && id.persistent != UINT64_MAX)
		cr_assert_eq(id.persistent, peer->file_id, "command %u with an old handle", entry->command);
}

static struct peer_entry *note(struct peer *peer, uint32_t index, const struct smb2_message *message)
{
	struct peer_entry *entry = &peer->log[peer->log_count++];
	struct peer_channel *channel = &peer->channels[index];
	uint16_t cost = message->header.credit_charge ? message->header.credit_charge : 1;

	cr_assert_lt(peer->log_count, PEER_LOG_MAX);
	*entry = (struct peer_entry){
		.channel = index,
		.command = message->header.command,
		.charge = message->header.credit_charge,
		.asked = message->header.credits,
		.message_id = message->header.message_id,
		.flags = message->header.flags,
		.connection = channel->connection,
		.sequence = message->header.channel_sequence,
	};
	judge_session(peer, channel, entry, message);
	if (entry->command == SMB2_READ) {
		entry->offset = message->body.read_req.offset;
		entry->length = message->body.read_req.length;
		cr_assert_eq(entry->charge ? entry->charge : 1, smb2_credit_charge(0, entry->length));
	} else if (entry->command == SMB2_WRITE) {
		entry->offset = message->body.write_req.offset;
		entry->length = message->body.write_req.data_length;
		entry->data = message->body.write_req.payload;
		cr_assert_eq(entry->data.length, entry->length);
		cr_assert_eq(entry->charge ? entry->charge : 1, smb2_credit_charge(entry->length, 0));
	} else if (entry->command == SMB2_IOCTL) {
		entry->code = message->body.ioctl_req.ctl_code;
	} else if (entry->command == SMB2_QUERY_INFO) {
		entry->code = message->body.query_info_req.file_info_class;
	} else if (entry->command == SMB2_CREATE) {
		entry->code = message->body.create_req.desired_access;
		entry->disposition = message->body.create_req.create_disposition;
		entry->options = message->body.create_req.create_options;
		entry->durable = smb2_create_context_find(message->body.create_req.contexts,
							  message->body.create_req.context_count, "DHnC");
	}
	/* C1, C2, C3: the lowest ids of the window, as many as the charge says. */
	cr_assert(channel->open, "a PDU on a channel that is not open");
	cr_assert_eq(entry->message_id, channel->next_id);
	channel->next_id += cost;
	if (entry->command == SMB2_OPLOCK_BREAK && channel->next_id > channel->ids_end + channel->overdraft)
		channel->overdraft++;
	cr_assert_leq(channel->next_id, channel->ids_end + channel->overdraft, "id %lu is beyond the window",
		      (long)entry->message_id);
	channel->credits -= cost;
	entry->credits_left = channel->credits;
	return entry;
}

void peer_serve(struct peer *peer, uint32_t channel, const struct smb_pdu *pdu)
{
	struct smb_chain_reader reader;
	struct smb_chain_writer writer;
	struct smb2_message request;
	struct peer_entry *first = NULL;
	uint8_t buffer[1024];
	uint32_t granted = 0;

	smb_chain_read(&reader, pdu);
	smb_chain_begin(&writer, buffer, sizeof(buffer));
	while (smb_chain_next(&reader, &request) == SMB_WIRE_OK) {
		struct peer_entry *entry = note(peer, channel, &request);
		struct smb2_message reply = reply_to(peer, entry, STATUS_SUCCESS);
		uint8_t scratch[600];

		first = first ? first : entry;
		first->chain++;
		bool transfer = entry->command == SMB2_READ || entry->command == SMB2_WRITE;

		if (transfer && peer->read_interim)
			interim_for(peer, entry);
		if (transfer) {
			peer->held[peer->held_count++] = (uint32_t)(entry - peer->log);
			if (entry->command == SMB2_READ ? !peer->hold_reads : !peer->hold_writes)
				peer_answer_read(peer, --peer->held_count);
			return;
		}
		body_of(peer, &request, entry, &reply, scratch, sizeof(scratch));
		granted += grant_of(peer, entry, reply.header.status);
		if (!smb_chain_has_more(&reader))
			give_credits(peer, entry, &reply, granted);
		cr_assert_eq(smb_chain_append(&writer, &reply), SMB_WIRE_OK);
	}
	struct smb_pdu reply = smb_chain_finish(&writer);
	queue_pdu(peer, channel, &reply);
}
