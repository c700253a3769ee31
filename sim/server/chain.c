/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From bytes to commands: admission by the sequence window, compound chains, checks that all commands share, replies. */

#include "sim/server/call.h"
#include "sim/server/misbehave.h"
#include "sim/server/outputs.h"
#include "sim/server/requests.h"
#include "sim/server/smb1.h"

#define MEMBER_FIXED 256 /* bytes: header, fixed part and padding of any reply member, generously */

enum needs { NEEDS_NOTHING, NEEDS_SESSION, NEEDS_TREE, NEEDS_FILE };

uint8_t *server_call_scratch(struct server_call *call, uint32_t length)
{
	assert(length <= call->scratch_room);
	uint8_t *bytes = call->scratch;
	call->scratch += length;
	call->scratch_room -= length;
	return bytes;
}

uint32_t server_call_room(const struct server_call *call)
{
	uint32_t reply = call->reply_room > MEMBER_FIXED ? call->reply_room - MEMBER_FIXED : 0;

	return reply < call->scratch_room ? reply : call->scratch_room;
}

static bool storage_is_full(const struct server_call *call)
{
	const struct smb_server *server = call->server;

	/* A held chain keeps its reply's chunks; half of them stay free for everybody else. */
	return !server_outputs_fit(server, 4) ||
	       (!call->is_single && server_chunks_room(server) < server->counts.chunks * SERVER_CHUNK / 2);
}

bool server_call_storage(struct server_call *call, bool is_write, uint32_t bytes)
{
	if (storage_is_full(call))
		return false;
	if (call->token == SERVER_NONE)
		call->token = server_request_new(call->server, call->connection, &call->request->header);
	if (call->token == SERVER_NONE)
		return false;
	server_request(call->server, call->token)->works++;
	server_output_work(call->server, call->token, is_write, bytes);
	return true;
}

uint32_t server_echo(struct server_call *call)
{
	call->reply->kind = SMB2_BODY_EMPTY;
	return STATUS_SUCCESS;
}

/* Not offered; its body is not even decoded. In a chain it still fails as the CREATE before it failed. */
static uint32_t server_change_notify(struct server_call *call)
{
	bool is_related = call->request->header.flags & SMB2_FLAGS_RELATED_OPERATIONS;

	return is_related && status_is_error(call->create_status) ? call->create_status : STATUS_NOT_SUPPORTED;
}

/* CANCEL names its target by MessageId or AsyncId; there is no reply to it, found or not (MS-SMB2 3.3.5.16). */
uint32_t server_cancel(struct server_call *call)
{
	const struct smb2_header *header = &call->request->header;
	uint64_t id = header->flags & SMB2_FLAGS_ASYNC_COMMAND ? header->async_id : header->message_id;
	uint32_t target = server_request_find(call->server, call->connection, id);

	call->is_silent = true;
	if (target != SERVER_NONE)
		server_request_cancel(call->server, target);
	return STATUS_SUCCESS;
}

static const struct {
	uint32_t (*run)(struct server_call *call);
	enum needs needs;
} rules[] = {
	[SMB2_NEGOTIATE] = { server_negotiate, NEEDS_NOTHING },
	[SMB2_SESSION_SETUP] = { server_session_setup, NEEDS_NOTHING },
	[SMB2_LOGOFF] = { server_logoff, NEEDS_SESSION },
	[SMB2_TREE_CONNECT] = { server_tree_connect, NEEDS_SESSION },
	[SMB2_TREE_DISCONNECT] = { server_tree_disconnect, NEEDS_TREE },
	[SMB2_CREATE] = { server_create, NEEDS_TREE },
	[SMB2_CLOSE] = { server_close, NEEDS_FILE },
	[SMB2_FLUSH] = { server_flush, NEEDS_FILE },
	[SMB2_READ] = { server_read, NEEDS_FILE },
	[SMB2_WRITE] = { server_write, NEEDS_FILE },
	[SMB2_LOCK] = { server_lock, NEEDS_FILE },
	[SMB2_IOCTL] = { server_ioctl, NEEDS_TREE },
	[SMB2_CANCEL] = { server_cancel, NEEDS_NOTHING },
	[SMB2_ECHO] = { server_echo, NEEDS_NOTHING },
	[SMB2_QUERY_DIRECTORY] = { server_query_directory, NEEDS_FILE },
	[SMB2_CHANGE_NOTIFY] = { server_change_notify, NEEDS_TREE },
	[SMB2_QUERY_INFO] = { server_query_info, NEEDS_FILE },
	[SMB2_SET_INFO] = { server_set_info, NEEDS_FILE },
	[SMB2_OPLOCK_BREAK] = { server_oplock_break, NEEDS_TREE },
};
#define COMMANDS (sizeof(rules) / sizeof(rules[0]))

static enum server_cut cut_of(enum smb_server_window_verdict verdict)
{
	switch (verdict) {
	case SMB_SERVER_WINDOW_OK:
		break;
	case SMB_SERVER_WINDOW_NO_CREDIT:
		return SERVER_CUT_NO_CREDIT;
	case SMB_SERVER_WINDOW_OUTSIDE:
		return SERVER_CUT_OUTSIDE;
	case SMB_SERVER_WINDOW_REPEATED:
		return SERVER_CUT_REPEATED;
	}
	return SERVER_CUT_NONE;
}

/* MS-SMB2 3.3.5.2.3, as Samba does it: every member takes its ids before any member is executed. CANCEL takes none. */
static enum server_cut admit(struct smb_server *server, uint32_t connection, const struct smb_pdu *pdu)
{
	struct server_connection *on = server_connection(server, connection);
	uint32_t position = 0, next = 0;

	do {
		struct smb2_header header;
		if (position > pdu->length ||
		    smb2_header_decode(pdu->bytes + position, pdu->length - position, &header, &next) != SMB_WIRE_OK)
			return SERVER_CUT_MALFORMED;
		if (next && (next % 8 || next < SMB2_HEADER_SIZE || next > pdu->length - position))
			return SERVER_CUT_MALFORMED; /* MS-SMB2 3.3.5.2.7 */
		if (header.flags & SMB2_FLAGS_SERVER_TO_REDIR)
			return SERVER_CUT_RESPONSE;
		if (header.command == SMB2_NEGOTIATE && on->negotiated)
			return SERVER_CUT_NEGOTIATED_TWICE;
		if (header.command != SMB2_NEGOTIATE && !on->negotiated)
			return SERVER_CUT_NOT_NEGOTIATED;
		if (header.command == SMB2_CANCEL && (position || next))
			return SERVER_CUT_MALFORMED; /* it has no reply and takes no id: not in a chain */
		if (header.command != SMB2_CANCEL) {
			enum server_cut cut = cut_of(smb_server_window_use(
				&on->window, server_window_seen(server, connection), header.message_id,
				smb_server_window_charge(&on->window, header.credit_charge)));
			if (cut)
				return cut;
			on->outstanding++;
			on->owed++;
		}
		position += next;
	} while (next);
	return SERVER_CUT_NONE;
}

static struct smb2_file_id file_id_of(const struct smb2_message *request)
{
	switch (request->header.command) {
	case SMB2_CLOSE:
		return request->body.close_req.file_id;
	case SMB2_FLUSH:
		return request->body.flush_req.file_id;
	case SMB2_READ:
		return request->body.read_req.file_id;
	case SMB2_WRITE:
		return request->body.write_req.file_id;
	case SMB2_LOCK:
		return request->body.lock_req.file_id;
	case SMB2_QUERY_DIRECTORY:
		return request->body.query_directory_req.file_id;
	case SMB2_QUERY_INFO:
		return request->body.query_info_req.file_id;
	case SMB2_SET_INFO:
		return request->body.set_info_req.file_id;
	default:
		return SMB2_FILE_ID_RELATED;
	}
}

/* Bytes that the CreditCharge must pay for; commands without variable size cost one credit (MS-SMB2 3.3.5.2.5). */
static uint64_t paid_bytes(const struct smb2_message *request)
{
	uint64_t in, out;

	switch (request->header.command) {
	case SMB2_READ:
		return request->body.read_req.length;
	case SMB2_WRITE:
		return request->body.write_req.data_length;
	case SMB2_QUERY_DIRECTORY:
		return request->body.query_directory_req.output_buffer_length;
	case SMB2_SET_INFO:
		return request->body.set_info_req.buffer.length;
	case SMB2_QUERY_INFO:
		in = request->body.query_info_req.input.length;
		out = request->body.query_info_req.output_buffer_length;
		return in > out ? in : out;
	case SMB2_IOCTL:
		in = request->body.ioctl_req.input.length;
		out = (uint64_t)request->body.ioctl_req.max_input_response +
		      request->body.ioctl_req.max_output_response;
		return in > out ? in : out;
	default:
		return 0;
	}
}

static bool charge_is_enough(const struct server_call *call)
{
	uint32_t charge = smb_server_window_charge(&call->on->window, call->request->header.credit_charge);

	return !call->on->window.multi_credit || paid_bytes(call->request) <= (uint64_t)charge * SMB2_CREDIT_UNIT;
}

/* Ids of session, tree and file: a related member's own ids do not count (MS-SMB2 3.3.5.2.7.2). */
static void take_ids(struct server_call *call, bool is_related)
{
	if (is_related)
		return;
	call->session_id = call->request->header.session_id;
	call->tree_id = call->request->header.tree_id;
	call->handle = SERVER_NONE;
	call->create_status = STATUS_SUCCESS;
	call->refuse_related = false;
}

/* MS-SMB2 3.3.5.2.9. */
static uint32_t check_session(struct server_call *call)
{
	uint16_t command = call->request->header.command;

	call->session = server_session_find(call->server, call->session_id);
	if (call->session == SERVER_NONE)
		return STATUS_USER_SESSION_DELETED;
	const struct server_session *session = server_session(call->server, call->session);
	if (session->state != SERVER_SESSION_VALID || !(session->channels >> call->connection & 1))
		return STATUS_USER_SESSION_DELETED;
	if (session->is_expired && command != SMB2_LOGOFF && command != SMB2_CLOSE && command != SMB2_LOCK)
		return STATUS_NETWORK_SESSION_EXPIRED;
	return STATUS_SUCCESS;
}

/* After a channel was lost the client counts up. What was sent before must not change the file behind its back:
 * MS-SMB2 3.3.5.2.10, invariant C23. IOCTLs change no file here. */
static uint32_t check_channel_sequence(const struct server_call *call)
{
	struct server_handle *handle = server_handle(call->server, call->handle);
	const struct smb2_header *header = &call->request->header;
	uint16_t ahead = (uint16_t)(header->channel_sequence - handle->channel_sequence);

	if (call->on->dialect < SMB2_DIALECT_300 || !ahead)
		return STATUS_SUCCESS;
	if (ahead <= INT16_MAX) {
		handle->channel_sequence = header->channel_sequence;
		return STATUS_SUCCESS;
	}
	return header->command == SMB2_WRITE || header->command == SMB2_SET_INFO ? STATUS_FILE_NOT_AVAILABLE
										 : STATUS_SUCCESS;
}

static uint32_t check_file(struct server_call *call, bool is_related)
{
	if (is_related && status_is_error(call->create_status))
		return call->create_status;
	if (call->handle == SERVER_NONE)
		call->handle = server_handle_find(call->server, call->session, file_id_of(call->request));
	return call->handle == SERVER_NONE ? STATUS_FILE_CLOSED : check_channel_sequence(call);
}

/* Who asks, and of what share: before all else. */
static uint32_t check_ids(struct server_call *call, enum needs needs)
{
	uint32_t status = needs >= NEEDS_SESSION ? check_session(call) : STATUS_SUCCESS;

	if (status || needs < NEEDS_TREE)
		return status;
	call->tree = server_tree_find(call->server, call->session, call->tree_id);
	return call->tree == SERVER_NONE ? STATUS_NETWORK_NAME_DELETED : STATUS_SUCCESS; /* MS-SMB2 3.3.5.2.11 */
}

static uint32_t check(struct server_call *call, enum needs needs, bool is_related)
{
	if (!charge_is_enough(call))
		return STATUS_INVALID_PARAMETER;
	return needs >= NEEDS_FILE ? check_file(call, is_related) : STATUS_SUCCESS;
}

/* What the host wants to happen instead of executing the member. */
static uint32_t refuse(struct server_call *call)
{
	const struct smb_server_choice *choice = &call->server->choice;

	if (call->request->header.command == SMB2_CANCEL)
		return STATUS_SUCCESS;
	if (choice->chosen && choice->status && call->member == choice->member)
		return choice->status;
	return call->server->misbehaves && server_misbehave_refuses(call) ? STATUS_INSUFFICIENT_RESOURCES
									  : STATUS_SUCCESS;
}

static uint32_t run_member(struct server_call *call, enum smb_wire_verdict verdict)
{
	uint16_t command = call->request->header.command;
	bool is_related = call->request->header.flags & SMB2_FLAGS_RELATED_OPERATIONS;

	if (!call->member && is_related)
		call->refuse_related = true;
	take_ids(call, is_related);
	if (is_related && call->refuse_related)
		return STATUS_INVALID_PARAMETER;
	if (command >= COMMANDS || (verdict != SMB_WIRE_OK && command != SMB2_CHANGE_NOTIFY))
		return STATUS_INVALID_PARAMETER;
	uint32_t status = check_ids(call, rules[command].needs);
	if (!status)
		status = refuse(call);
	if (!status)
		status = check(call, rules[command].needs, is_related);
	if (status && command == SMB2_CREATE) {
		call->create_status = status; /* those that need its FileId fail with it, too */
		call->handle = SERVER_NONE;
	}
	return status ? status : rules[command].run(call);
}

uint32_t server_call_run(struct server_call *call)
{
	return run_member(call, SMB_WIRE_OK);
}

/* A member that could not be decoded still has a header to answer to. */
static enum smb_wire_verdict decode_member(struct smb_chain_reader *reader, struct smb2_message *request,
					   bool *has_more)
{
	uint32_t position = reader->position, next;
	enum smb_wire_verdict verdict = smb_chain_next(reader, request);

	if (verdict != SMB_WIRE_OK) {
		smb2_header_decode(reader->pdu.bytes + position, reader->pdu.length - position, &request->header,
				   &next);
		reader->position = position + next;
		reader->done = !next;
		reader->first = false;
	}
	*has_more = smb_chain_has_more(reader);
	return verdict;
}

/* The credits of all members stand in the last reply, as Samba and Windows put them (MS-SMB2 3.3.4.1.3), unless the host
 * wants them spread. */
static void finish_header(struct server_call *call, uint32_t status, uint32_t *credits)
{
	const struct smb_server_choice *choice = &call->server->choice;
	struct smb2_header *header = &call->reply->header;

	*credits += server_grant(call->server, call->connection, &call->request->header, status, call->is_last);
	if (!call->is_last && !(choice->chosen && choice->spread))
		return;
	header->credits = (uint16_t)(*credits < UINT16_MAX ? *credits : UINT16_MAX);
	*credits = 0;
}

/* Samba and Windows pad the last reply of a compound, too (smbtorture smb2.compound.compound-padding). */
static void pad_last(struct smb_chain_writer *writer, struct smb_pdu *chain)
{
	while (chain->length % 8 && chain->length < writer->size && !chain->payload.length)
		writer->buffer[chain->length++] = 0;
}

/* Send the replies so far and start over. */
static void send_part(struct server_call *call, struct smb_chain_writer *writer)
{
	struct smb_pdu part = smb_chain_finish(writer);

	call->on->outstanding -= writer->members;
	server_output_send(call->server, call->connection, &part);
	smb_chain_begin(writer, writer->buffer, writer->size);
}

/* The last reply, or all of them in one PDU: now, or when storage is done. */
static void deliver(struct server_call *call, struct smb_chain_writer *writer)
{
	struct smb_pdu chain = smb_chain_finish(writer);

	if (writer->members > 1 && !call->server->misbehaviour.last_is_unpadded)
		pad_last(writer, &chain);
	if (call->token == SERVER_NONE) {
		call->on->outstanding -= writer->members;
		server_output_send(call->server, call->connection, &chain);
		return;
	}
	server_request(call->server, call->token)->members = writer->members;
	server_request_hold(call->server, call->token, &chain);
}

/* Commands that no server answers with STATUS_PENDING: those that set up and end what requests need, ECHO and the
 * acknowledgement of a break. */
static bool can_be_async(uint16_t command)
{
	return command > SMB2_TREE_DISCONNECT && command != SMB2_ECHO && command != SMB2_CANCEL &&
	       command != SMB2_OPLOCK_BREAK;
}

/* Answer the last member with STATUS_PENDING; its final reply is encoded and waits for work that takes no storage. What
 * comes before it in the chain goes out first (Samba smb2_send_async_interim_response). */
static bool answer_later(struct server_call *call, struct smb_chain_writer *writer, uint32_t credits)
{
	const struct smb_server *server = call->server;
	uint32_t storage = call->token;
	uint32_t limit = server->profile.async_credits;

	if (!server->choice.chosen || !server->choice.interim || !can_be_async(call->request->header.command) ||
	    (limit && call->on->outstanding_async >= limit))
		return false;
	call->token = SERVER_NONE;
	if (!server_call_storage(call, false, 0)) {
		call->token = storage;
		return false;
	}
	if (storage != SERVER_NONE)
		server_request_forget(call->server, storage);
	if (writer->members)
		send_part(call, writer);
	return server_request_later(call->server, call->token, call->reply, writer, credits);
}

static enum server_cut execute(struct server_call *call, const struct smb_pdu *pdu, struct smb2_message *request,
			       struct smb_chain_writer *writer)
{
	struct smb_chain_reader reader;
	struct smb2_message *reply = call->reply;
	uint16_t command_before = 0;
	uint32_t credits = 0;
	bool has_more = true;

	smb_chain_read(&reader, pdu);
	for (call->member = 0; has_more; call->member++) {
		enum smb_wire_verdict verdict = decode_member(&reader, request, &has_more);
		call->is_single = !call->member && !has_more;
		call->is_last = !has_more;
		call->reply_room = writer->size - writer->used;
		server_reply_header(&reply->header, &request->header, STATUS_SUCCESS);
		server_reply_error(reply); /* unless the command fills in another body */
		uint32_t status = run_member(call, verdict);
		if (call->cut || call->is_waiting || call->is_silent)
			return call->cut;
		reply->header.status = status;
		if (status_is_error(status) && status != STATUS_MORE_PROCESSING_REQUIRED)
			server_reply_error(reply);
		if (call->is_last && answer_later(call, writer, credits))
			return SERVER_CUT_NONE;
		finish_header(call, status, &credits);
		if (server_misbehave_loses(call, command_before))
			call->on->outstanding--;
		else if (smb_chain_append(writer, reply) != SMB_WIRE_OK)
			return SERVER_CUT_TOO_LONG;
		command_before = request->header.command;
		if (has_more && call->server->choice.chosen && call->server->choice.split)
			send_part(call, writer);
	}
	if (writer->members)
		deliver(call, writer);
	return SERVER_CUT_NONE;
}

/* Replies never take more than a quarter of the chunks, so that held chains cannot starve the others. */
static uint32_t reply_max(const struct smb_server *server)
{
	uint32_t quarter = server->counts.chunks * SERVER_CHUNK / 4;

	return quarter < SMB_SERVER_PDU_MAX ? quarter : SMB_SERVER_PDU_MAX;
}

static void expire_session(struct smb_server *server, const struct smb_pdu *pdu)
{
	struct smb2_header header;
	uint32_t next;

	smb2_header_decode(pdu->bytes, pdu->length, &header, &next);
	uint32_t session = server_session_find(server, header.session_id);
	if (session != SERVER_NONE && server_session(server, session)->state == SERVER_SESSION_VALID)
		server_session(server, session)->is_expired = true;
}

static enum server_cut receive_chain(struct server_call *call, const struct smb_pdu *pdu, struct smb2_message *request,
				     uint8_t *bytes)
{
	struct smb_chain_writer writer;
	enum server_cut cut = SERVER_CUT_MALFORMED;

	if (!server_is_smb1(call->server, call->connection))
		cut = admit(call->server, call->connection, pdu);
	if (cut)
		return cut;
	smb_chain_begin(&writer, bytes, reply_max(call->server));
	if (call->server->choice.chosen && call->server->choice.expire)
		expire_session(call->server, pdu);
	return execute(call, pdu, request, &writer);
}

static enum server_cut receive(struct smb_server *server, uint32_t connection, const struct smb_pdu *pdu)
{
	uint8_t bytes[SMB_SERVER_PDU_MAX], scratch[SMB_SERVER_PDU_MAX]; /* touched only as far as replies need them */
	struct smb2_message request, reply;
	struct server_call call = {
		.server = server,
		.connection = connection,
		.on = server_connection(server, connection),
		.request = &request,
		.reply = &reply,
		.session = SERVER_NONE,
		.tree = SERVER_NONE,
		.handle = SERVER_NONE,
		.token = SERVER_NONE,
		.scratch = scratch,
		.scratch_room = sizeof(scratch),
	};
	enum server_cut cut = SERVER_CUT_NONE;

	if (smb1_is_pdu(pdu)) {
		call.reply_room = reply_max(server);
		cut = server_smb1_receive(&call, pdu, bytes);
	} else {
		cut = receive_chain(&call, pdu, &request, bytes);
	}
	if (!cut && call.is_waiting)
		server_request_wait(server, call.token);
	return cut;
}

enum smb_server_verdict smb_server_receive(struct smb_server *server, uint32_t connection, const struct smb_pdu *pdu,
					   uint64_t now_ns)
{
	assert(connection < server->limits.connections);
	server->now_ns = now_ns;
	if (!server_connection(server, connection)->open)
		return SMB_SERVER_CUT;
	enum server_cut cut = receive(server, connection, pdu);
	if (!cut)
		return SMB_SERVER_OK;
	server_connection_drop(server, connection);
	server_output_cut(server, connection, cut);
	return SMB_SERVER_CUT;
}
