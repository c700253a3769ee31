/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/server/outputs.h"
#include "sim/server/misbehave.h"
#include "sim/server/requests.h"

#include <string.h>

static uint32_t *chunk_next(const struct smb_server *server, uint32_t chunk)
{
	return server_words(server, server->at.chunk_next) + chunk;
}

static uint32_t chunk_take(struct smb_server *server)
{
	uint32_t chunk = server->free.chunks;

	assert(chunk != SERVER_NONE); /* the host drains outputs after each call */
	server->free.chunks = *chunk_next(server, chunk);
	server->free.chunk_count--;
	*chunk_next(server, chunk) = SERVER_NONE;
	return chunk;
}

uint32_t server_chunks_room(const struct smb_server *server)
{
	return server->free.chunk_count * SERVER_CHUNK;
}

uint32_t server_chunks_store(struct smb_server *server, const uint8_t *bytes, uint32_t length)
{
	uint32_t first = chunk_take(server);

	for (uint32_t chunk = first;;) {
		uint32_t part = length < SERVER_CHUNK ? length : SERVER_CHUNK;
		memcpy(server_chunk(server, chunk), bytes, part);
		bytes += part;
		length -= part;
		if (!length)
			return first;
		chunk = *chunk_next(server, chunk) = chunk_take(server);
	}
}

void server_chunks_free(struct smb_server *server, uint32_t chunk)
{
	while (chunk != SERVER_NONE) {
		uint32_t next = *chunk_next(server, chunk);
		*chunk_next(server, chunk) = server->free.chunks;
		server->free.chunks = chunk;
		server->free.chunk_count++;
		chunk = next;
	}
}

static void chunks_load(const struct smb_server *server, uint32_t chunk, uint8_t *bytes, uint32_t length)
{
	while (length) {
		uint32_t part = length < SERVER_CHUNK ? length : SERVER_CHUNK;
		memcpy(bytes, server_chunk(server, chunk), part);
		bytes += part;
		length -= part;
		chunk = *chunk_next(server, chunk);
	}
}

static struct server_output *output_push(struct smb_server *server)
{
	uint32_t index = server->output_first + server->output_count;

	assert(server_outputs_fit(server, 1)); /* the host drains outputs after each call */
	if (index >= server->limits.outputs)
		index -= server->limits.outputs;
	server->output_count++;
	return server_output(server, index);
}

static uint32_t store_spoiled(struct smb_server *server, struct smb_pdu reply, uint32_t *length)
{
	uint8_t copy[SMB_SERVER_PDU_MAX + MISBEHAVE_EXTRA];

	server_misbehave(server, &reply, copy);
	*length = reply.length;
	return server_chunks_store(server, copy, reply.length);
}

uint32_t server_reply_store(struct smb_server *server, const struct smb_pdu *reply, uint32_t *length)
{
	if (server->misbehaves)
		return store_spoiled(server, *reply, length);
	*length = reply->length;
	return server_chunks_store(server, reply->bytes, reply->length);
}

void server_output_send(struct smb_server *server, uint32_t connection, const struct smb_pdu *pdu)
{
	struct server_output output = {
		.kind = SMB_SERVER_SEND,
		.connection = connection,
		.payload = pdu->payload,
	};

	output.chunk = server_reply_store(server, pdu, &output.length);
	*output_push(server) = output;
}

void server_output_held(struct smb_server *server, const struct server_request *request)
{
	*output_push(server) = (struct server_output){
		.kind = SMB_SERVER_SEND,
		.connection = request->connection,
		.chunk = request->reply_chunk,
		.length = request->reply_length,
		.payload = request->data,
	};
}

void server_output_work(struct smb_server *server, uint32_t token, bool is_write, uint32_t bytes)
{
	*output_push(server) = (struct server_output){
		.kind = SMB_SERVER_WORK,
		.connection = server_request(server, token)->connection,
		.token = token,
		.is_write = is_write,
		.chunk = SERVER_NONE,
		.payload = { .length = bytes },
	};
}

void server_output_cut(struct smb_server *server, uint32_t connection, enum server_cut cut)
{
	*output_push(server) = (struct server_output){
		.kind = SMB_SERVER_DISCONNECT,
		.connection = connection,
		.chunk = SERVER_NONE,
		.cut = cut,
	};
}

/* What waits for a connection that is gone is dropped; storage work goes on, its token is still taken. */
void server_outputs_forget(struct smb_server *server, uint32_t connection)
{
	for (uint32_t i = 0; i < server->output_count; i++) {
		uint32_t index = server->output_first + i;
		struct server_output *output = server_output(
			server, index < server->limits.outputs ? index : index - server->limits.outputs);
		if (output->connection != connection || output->kind == SMB_SERVER_WORK)
			continue;
		server_chunks_free(server, output->chunk);
		*output = (struct server_output){ .kind = SMB_SERVER_IDLE, .chunk = SERVER_NONE };
	}
}

static const char *const cut_reasons[] = {
	[SERVER_CUT_NONE] = "no reason",
	[SERVER_CUT_MALFORMED] = "malformed PDU (MS-SMB2 3.3.5.2)",
	[SERVER_CUT_RESPONSE] = "a response was sent to the server (MS-SMB2 3.3.5.2)",
	[SERVER_CUT_NO_CREDIT] = "the CreditCharge is more than the client holds (MS-SMB2 3.3.5.2.3)",
	[SERVER_CUT_OUTSIDE] = "MessageId outside the window (MS-SMB2 3.3.5.2.3)",
	[SERVER_CUT_REPEATED] = "MessageId used before (MS-SMB2 3.3.5.2.3)",
	[SERVER_CUT_NOT_NEGOTIATED] = "a request before NEGOTIATE (MS-SMB2 3.3.5.2)",
	[SERVER_CUT_NEGOTIATED_TWICE] = "NEGOTIATE a second time (MS-SMB2 3.3.5.4)",
	[SERVER_CUT_VALIDATION] = "FSCTL_VALIDATE_NEGOTIATE_INFO does not match (MS-SMB2 3.3.5.15.12)",
	[SERVER_CUT_TOO_LONG] = "the replies of a compound do not fit into one PDU",
	[SERVER_CUT_MPX] = "more requests are outstanding than MaxMpxCount allows (MS-CIFS 3.2.4.1.5)",
};

const char *server_cut_reason(enum server_cut cut)
{
	return cut_reasons[cut];
}

static void fill(const struct smb_server *server, const struct server_output *from, struct smb_server_output *output,
		 uint8_t *buffer)
{
	*output = (struct smb_server_output){ .kind = from->kind, .connection = from->connection };
	switch (from->kind) {
	case SMB_SERVER_SEND:
		chunks_load(server, from->chunk, buffer, from->length);
		output->pdu = (struct smb_pdu){ buffer, from->length, from->payload };
		break;
	case SMB_SERVER_WORK:
		output->token = from->token;
		output->is_write = from->is_write;
		output->bytes = from->payload.length;
		break;
	case SMB_SERVER_DISCONNECT:
		output->reason = server_cut_reason(from->cut);
		break;
	case SMB_SERVER_IDLE:
	case SMB_SERVER_WAKE:
		break;
	}
}

static bool output_pop(struct smb_server *server, struct smb_server_output *output, uint8_t *buffer, uint32_t size)
{
	while (server->output_count) {
		struct server_output *from = server_output(server, server->output_first);
		assert(from->length <= size);
		fill(server, from, output, buffer);
		server_chunks_free(server, from->chunk);
		from->kind = SMB_SERVER_IDLE;
		server->output_first = server->output_first + 1 < server->limits.outputs ? server->output_first + 1 : 0;
		server->output_count--;
		if (output->kind != SMB_SERVER_IDLE)
			return true;
	}
	return false;
}

void smb_server_next(struct smb_server *server, struct smb_server_output *output, uint8_t *buffer, uint32_t size)
{
	if (output_pop(server, output, buffer, size))
		return;
	if (server_interim_due(server) && output_pop(server, output, buffer, size))
		return;
	*output = (struct smb_server_output){ .kind = SMB_SERVER_IDLE };
	server->choice.chosen = false;
	uint64_t wake_ns = server_interim_wake(server);
	if (wake_ns && (!server->wake_ns || wake_ns < server->wake_ns)) {
		server->wake_ns = wake_ns;
		*output = (struct smb_server_output){ .kind = SMB_SERVER_WAKE, .when_ns = wake_ns };
	}
}
