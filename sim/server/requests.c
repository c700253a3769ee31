/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/server/requests.h"
#include "sim/server/outputs.h"
#include "sim/server/smb1.h"

static uint32_t *bucket_of(const struct smb_server *server, uint32_t connection, uint64_t message_id)
{
	uint64_t hash = message_id + connection * UINT64_C(0x9e3779b97f4a7c15);

	return server_words(server, server->at.request_buckets) + (hash & (server->counts.request_buckets - 1));
}

uint32_t server_request_new(struct smb_server *server, uint32_t connection, const struct smb2_header *header)
{
	uint32_t index = server->free.requests;
	uint32_t *bucket = bucket_of(server, connection, header->message_id);

	if (index == SERVER_NONE)
		return SERVER_NONE;
	struct server_request *request = server_request(server, index);
	server->free.requests = request->next;
	*request = (struct server_request){
		.state = SERVER_REQUEST_WAITING,
		.next = *bucket,
		.pending_before = SERVER_NONE,
		.pending_after = SERVER_NONE,
		.connection = connection,
		.command = header->command,
		.credit_charge = header->credit_charge,
		.credits_asked = header->credits,
		.process_id = header->process_id,
		.tree_id = header->tree_id,
		.session_id = header->session_id,
		.message_id = header->message_id,
		.arrived_ns = server->now_ns,
		.reply_chunk = SERVER_NONE,
	};
	*bucket = index;
	return index;
}

static void pending_remove(struct smb_server *server, uint32_t index)
{
	struct server_request *request = server_request(server, index);

	if (request->pending_before != SERVER_NONE)
		server_request(server, request->pending_before)->pending_after = request->pending_after;
	else if (server->pending_first == index)
		server->pending_first = request->pending_after;
	else
		return; /* not in the list */
	if (request->pending_after != SERVER_NONE)
		server_request(server, request->pending_after)->pending_before = request->pending_before;
	else
		server->pending_last = request->pending_before;
	request->pending_before = SERVER_NONE;
	request->pending_after = SERVER_NONE;
}

static void pending_append(struct smb_server *server, uint32_t index)
{
	struct server_request *request = server_request(server, index);

	request->pending_before = server->pending_last;
	if (server->pending_last != SERVER_NONE)
		server_request(server, server->pending_last)->pending_after = index;
	else
		server->pending_first = index;
	server->pending_last = index;
}

static void bucket_remove(struct smb_server *server, uint32_t index)
{
	const struct server_request *request = server_request(server, index);
	uint32_t *link = bucket_of(server, request->connection, request->message_id);

	while (*link != index)
		link = &server_request(server, *link)->next;
	*link = request->next;
}

void server_request_free(struct smb_server *server, uint32_t index)
{
	struct server_request *request = server_request(server, index);

	assert(request->state != SERVER_REQUEST_FREE);
	pending_remove(server, index);
	if (request->state != SERVER_REQUEST_ANSWERED)
		bucket_remove(server, index);
	*request = (struct server_request){ .next = server->free.requests };
	server->free.requests = index;
}

uint32_t server_request_find(const struct smb_server *server, uint32_t connection, uint64_t message_id)
{
	uint32_t index = *bucket_of(server, connection, message_id);

	while (index != SERVER_NONE) {
		const struct server_request *request = server_request(server, index);
		if (request->connection == connection && request->message_id == message_id)
			return index;
		index = request->next;
	}
	return SERVER_NONE;
}

/* By the profile's rules. */
static uint32_t usual_grant(struct smb_server *server, struct server_connection *on, const struct smb2_header *request,
			    uint32_t status)
{
	const struct smb_server_profile *profile = &server->profile;
	uint32_t extra = profile->credits_per_reply_max ? profile->credits_per_reply_max : UINT32_MAX;
	uint32_t asked = request->credits;

	if (request->command == SMB2_NEGOTIATE) {
		extra = profile->credits_initial_extra;
		asked = 1 + extra;
	} else if (request->command == SMB2_SESSION_SETUP && status != STATUS_SUCCESS) {
		extra = 0; /* Samba and Windows 2012 on: extra credits only once the session is valid */
	}
	return smb_server_window_grant(&on->window, smb_server_window_charge(&on->window, request->credit_charge),
				       asked, extra);
}

/* As the host chose; but a client is never left with nothing and nothing to come (MS-SMB2 3.3.1.2). */
static uint32_t chosen_grant(struct smb_server *server, struct server_connection *on, bool is_last)
{
	struct smb_server_choice *choice = &server->choice;
	uint32_t part = choice->spread && choice->grant ? 1 : 0;
	uint32_t amount = is_last ? choice->grant : part;

	choice->grant = (uint16_t)(choice->grant - amount);
	if (!amount && !on->owed && !on->window.granted && !server->misbehaviour.starves)
		amount = 1;
	return smb_server_window_grow(&on->window, amount);
}

uint32_t server_grant(struct smb_server *server, uint32_t connection, const struct smb2_header *request,
		      uint32_t status, bool is_last)
{
	struct server_connection *on = server_connection(server, connection);

	on->owed--;
	if (server->misbehaviour.overgrants) {
		smb_server_window_grow(&on->window, UINT32_MAX);
		return UINT16_MAX;
	}
	if (server->choice.chosen && server->choice.grant != SMB_SERVER_GRANT_PROFILE)
		return chosen_grant(server, on, is_last);
	return usual_grant(server, on, request, status);
}

void server_reply_header(struct smb2_header *reply, const struct smb2_header *request, uint32_t status)
{
	*reply = (struct smb2_header){
		.credit_charge = request->credit_charge,
		.status = status,
		.command = request->command,
		.flags = SMB2_FLAGS_SERVER_TO_REDIR | (request->flags & SMB2_FLAGS_RELATED_OPERATIONS),
		.message_id = request->message_id,
		.process_id = request->process_id,
		.tree_id = request->tree_id,
		.session_id = request->session_id,
	};
}

void server_reply_error(struct smb2_message *reply)
{
	reply->kind = SMB2_BODY_ERROR_RSP;
	reply->body.error_rsp = (struct smb2_error_rsp){ 0 };
}

static struct smb2_header request_header(const struct server_request *request)
{
	return (struct smb2_header){
		.credit_charge = request->credit_charge,
		.command = request->command,
		.credits = request->credits_asked,
		.message_id = request->message_id,
		.process_id = request->process_id,
		.tree_id = request->tree_id,
		.session_id = request->session_id,
	};
}

/* A reply without variable parts in the bytes: READ, WRITE, errors, interim replies. */
static void send_short(struct smb_server *server, uint32_t connection, const struct smb2_message *reply)
{
	uint8_t bytes[SERVER_CHUNK];
	struct smb_pdu pdu;
	enum smb_wire_verdict verdict = smb2_message_encode(reply, bytes, sizeof(bytes), &pdu);

	assert(verdict == SMB_WIRE_OK);
	(void)verdict;
	server_output_send(server, connection, &pdu);
}

/* The header of the final reply after an interim one. */
static void finish_async(const struct server_request *request, struct smb2_header *header)
{
	header->flags |= SMB2_FLAGS_ASYNC_COMMAND;
	header->async_id = request->message_id;
	header->credits = 0;
}

static void grant_again(struct smb_server *server, const struct server_request *request, struct smb2_header *header)
{
	struct server_connection *on = server_connection(server, request->connection);
	uint16_t again = request->credits_asked ? request->credits_asked : 1;

	if (server->misbehaviour.final_grants)
		header->credits = (uint16_t)smb_server_window_grow(&on->window, again);
}

/* The final reply of a single request. Asynchronous ones carry no credits: the interim reply brought them. */
static void answer(struct smb_server *server, struct server_request *request, uint32_t status)
{
	struct server_connection *on = server_connection(server, request->connection);
	struct smb2_header header = request_header(request);
	struct smb2_message reply;

	if (on->dialect == SMB1_DIALECT) {
		server_smb1_answer(server, request, status);
		return;
	}
	server_reply_header(&reply.header, &header, status);
	if (status_is_error(status)) {
		server_reply_error(&reply);
	} else if (request->command == SMB2_READ) {
		reply.kind = SMB2_BODY_READ_RSP;
		reply.body.read_rsp = (struct smb2_read_rsp){ .data_length = request->data.length,
							      .payload = request->data };
	} else {
		reply.kind = SMB2_BODY_WRITE_RSP;
		reply.body.write_rsp = (struct smb2_write_rsp){ .count = request->data.length };
	}
	if (request->state == SERVER_REQUEST_ASYNC) {
		finish_async(request, &reply.header);
		grant_again(server, request, &reply.header);
		on->outstanding_async--;
	} else {
		reply.header.credits = (uint16_t)server_grant(server, request->connection, &header, status, true);
	}
	on->outstanding--;
	send_short(server, request->connection, &reply);
}

void server_request_forget(struct smb_server *server, uint32_t index)
{
	pending_remove(server, index);
	bucket_remove(server, index);
	server_request(server, index)->state = SERVER_REQUEST_ANSWERED;
}

/* The reply is out, the work is not done: the entry stays until the host reports it. */
static void answer_early(struct smb_server *server, uint32_t index, uint32_t status)
{
	answer(server, server_request(server, index), status);
	server_request_forget(server, index);
}

/* STATUS_PENDING with the whole grant and CreditCharge 0, as Samba 4.17 sends it; `credits` are those of the members
 * before it in its chain. */
static void send_interim(struct smb_server *server, uint32_t index, uint32_t credits)
{
	struct server_request *request = server_request(server, index);
	struct server_connection *on = server_connection(server, request->connection);
	struct smb2_header header = request_header(request);
	struct smb2_message reply;

	server_reply_header(&reply.header, &header, STATUS_PENDING);
	server_reply_error(&reply);
	reply.header.credit_charge = 0;
	reply.header.flags |= SMB2_FLAGS_ASYNC_COMMAND;
	reply.header.async_id = request->message_id;
	if (server->misbehaviour.interim_is_free)
		on->owed--;
	else
		credits += server_grant(server, request->connection, &header, STATUS_PENDING, true);
	reply.header.credits = (uint16_t)(credits < UINT16_MAX ? credits : UINT16_MAX);
	request->state = SERVER_REQUEST_ASYNC;
	on->outstanding_async++;
	pending_remove(server, index);
	send_short(server, request->connection, &reply);
}

/* Over the profile's number of asynchronous requests the request is refused (MS-SMB2 3.3.4.2). */
static void go_async(struct smb_server *server, uint32_t index)
{
	struct server_request *request = server_request(server, index);
	const struct server_connection *on = server_connection(server, request->connection);

	if (server->profile.async_credits && on->outstanding_async >= server->profile.async_credits) {
		answer_early(server, index, STATUS_INSUFFICIENT_RESOURCES);
		return;
	}
	send_interim(server, index, 0);
}

bool server_request_later(struct smb_server *server, uint32_t index, struct smb2_message *reply,
			  struct smb_chain_writer *writer, uint32_t credits)
{
	struct server_request *request = server_request(server, index);

	finish_async(request, &reply->header);
	enum smb_wire_verdict verdict = smb_chain_append(writer, reply);
	assert(verdict == SMB_WIRE_OK);
	(void)verdict;
	struct smb_pdu pdu = smb_chain_finish(writer);
	server_request_hold(server, index, &pdu);
	request->members = 1;
	send_interim(server, index, credits);
	return true;
}

void server_request_wait(struct smb_server *server, uint32_t index)
{
	bool is_chosen = server->choice.chosen;

	if (server_is_smb1(server, server_request(server, index)->connection))
		return; /* no interim replies there */
	if (is_chosen ? server->choice.interim : server->profile.interim == SMB_INTERIM_ALWAYS)
		go_async(server, index);
	else if (server->profile.interim == SMB_INTERIM_AFTER)
		pending_append(server, index);
}

void server_request_hold(struct smb_server *server, uint32_t index, const struct smb_pdu *reply)
{
	struct server_request *request = server_request(server, index);

	request->state = SERVER_REQUEST_CHAIN;
	request->reply_chunk = server_reply_store(server, reply, &request->reply_length);
	request->data = reply->payload;
}

void server_request_cancel(struct smb_server *server, uint32_t index)
{
	struct server_request *request = server_request(server, index);

	/* A WRITE has taken effect already; a chain has been executed. Both are answered as usual. */
	if (request->command == SMB2_READ && request->reply_chunk == SERVER_NONE)
		answer_early(server, index, STATUS_CANCELLED);
}

void server_requests_abandon(struct smb_server *server, uint32_t connection)
{
	for (uint32_t i = 0; i < server->limits.requests; i++) {
		struct server_request *request = server_request(server, i);
		if (request->connection != connection || request->state == SERVER_REQUEST_FREE ||
		    request->state == SERVER_REQUEST_ANSWERED)
			continue;
		server_request_forget(server, i);
		server_chunks_free(server, request->reply_chunk);
		request->reply_chunk = SERVER_NONE;
	}
}

bool server_interim_due(struct smb_server *server)
{
	uint32_t index = server->pending_first;

	if (index == SERVER_NONE ||
	    server_request(server, index)->arrived_ns + server->profile.interim_after_ns > server->due_ns)
		return false;
	go_async(server, index);
	return true;
}

uint64_t server_interim_wake(const struct smb_server *server)
{
	uint32_t index = server->pending_first;

	return index == SERVER_NONE ? 0 : server_request(server, index)->arrived_ns + server->profile.interim_after_ns;
}

void smb_server_wake(struct smb_server *server, uint64_t now_ns)
{
	server->now_ns = now_ns;
	server->due_ns = now_ns;
	server->wake_ns = 0;
}

void smb_server_work_done(struct smb_server *server, uint32_t token, uint64_t now_ns)
{
	assert(token < server->limits.requests);
	struct server_request *request = server_request(server, token);

	assert(request->state != SERVER_REQUEST_FREE && request->works);
	server->now_ns = now_ns;
	if (--request->works)
		return;
	if (request->state != SERVER_REQUEST_ANSWERED && request->reply_chunk != SERVER_NONE) {
		struct server_connection *on = server_connection(server, request->connection);
		on->outstanding -= request->members;
		on->outstanding_async -= request->state == SERVER_REQUEST_ASYNC;
		server_output_held(server, request);
	} else if (request->state != SERVER_REQUEST_ANSWERED) {
		answer(server, request, STATUS_SUCCESS);
	}
	server_request_free(server, token);
}
