/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The canonical form of the state, for hashing: no padding, nothing of free elements, times and MessageIds relative to
 * now and to their window. */

#include "sim/server/bytes.h"
#include "sim/server/internal.h"

struct writer {
	uint8_t *bytes;
	size_t size;
	size_t used; /* beyond size: it did not fit */
};

static void put(struct writer *writer, uint64_t value, uint32_t bytes)
{
	if (writer->used + bytes <= writer->size) {
		for (uint32_t i = 0; i < bytes; i++)
			writer->bytes[writer->used + i] = (uint8_t)(value >> (8 * i));
	}
	writer->used += bytes;
}

static void put_bytes(struct writer *writer, const void *bytes, size_t length)
{
	if (writer->used + length <= writer->size)
		memcpy(writer->bytes + writer->used, bytes, length);
	writer->used += length;
}

static void put_slice(struct writer *writer, struct smb_slice slice)
{
	put(writer, slice.source, 8);
	put(writer, slice.offset, 8);
	put(writer, slice.length, 4);
}

static void put_connection(struct writer *writer, const struct smb_server *server, uint32_t index)
{
	const struct server_connection *on = server_connection(server, index);
	const uint64_t *seen = server_window_seen(server, index);
	uint32_t bits = smb_server_window_words(on->window.max ? on->window.max : 1) * 64;

	put(writer, on->open, 1);
	if (!on->open)
		return;
	put(writer, on->negotiated, 1);
	put(writer, on->dialect, 2);
	put(writer, on->security_mode, 2);
	put(writer, on->client_capabilities, 4);
	put(writer, on->capabilities, 4);
	put_bytes(writer, on->client_guid, sizeof(on->client_guid));
	put(writer, on->window.range, 4);
	put(writer, on->window.used, 4);
	for (uint32_t i = 0; on->window.used && i < on->window.range; i++) {
		uint32_t bit = (uint32_t)((on->window.low + i) & (bits - 1));
		if (seen[bit / 64] >> bit % 64 & 1)
			put(writer, i, 4);
	}
	put(writer, on->outstanding, 4);
	put(writer, on->outstanding_async, 4);
	put(writer, on->owed, 4);
}

static void put_sessions(struct writer *writer, const struct smb_server *server)
{
	for (uint32_t i = 0; i < server->limits.sessions; i++) {
		const struct server_session *session = server_session(server, i);
		put(writer, session->state, 1);
		if (session->state == SERVER_SESSION_FREE)
			continue;
		put(writer, session->id, 8);
		put(writer, session->channels, 8);
		put(writer, session->setting_up, 8);
		put(writer, session->is_expired, 1);
		put(writer, session->dialect, 2);
		put_bytes(writer, session->client_guid, sizeof(session->client_guid));
	}
	for (uint32_t i = 0; i < server->limits.trees; i++) {
		const struct server_tree *tree = server_tree(server, i);
		put(writer, tree->used, 1);
		if (!tree->used)
			continue;
		put(writer, tree->is_pipe, 1);
		put(writer, tree->id, 4);
		put(writer, tree->session, 4);
	}
}

static void put_directory(struct writer *writer, const struct smb_server *server, const struct server_file *file)
{
	for (uint32_t i = file->first_name; i != SERVER_NONE; i = server_name(server, i)->after) {
		const struct server_name *name = server_name(server, i);
		put(writer, name->units, 2);
		for (uint16_t u = 0; u < name->units; u++)
			put(writer, name->text[u], 2);
		put(writer, name->file, 4);
	}
	put(writer, 0, 2);
}

static void put_file(struct writer *writer, const struct smb_server *server, const struct server_file *file)
{
	put(writer, file->used, 1);
	if (!file->used)
		return;
	put(writer, file->is_directory | file->delete_pending << 1, 1);
	put(writer, file->attributes, 4);
	put(writer, file->size, 8);
	for (uint32_t i = file->first_extent; i != SERVER_NONE; i = server_extent(server, i)->next) {
		const struct server_extent *extent = server_extent(server, i);
		put(writer, extent->length, 8);
		put(writer, extent->offset, 8);
		put(writer, extent->source, 8);
		put(writer, extent->position, 8);
	}
	put(writer, 0, 8);
	if (file->is_directory)
		put_directory(writer, server, file);
}

static void put_handle(struct writer *writer, const struct server_handle *handle)
{
	put(writer, handle->used, 1);
	if (!handle->used)
		return;
	put(writer, handle->id, 8);
	put(writer, handle->session, 4);
	put(writer, handle->tree, 4);
	put(writer, handle->file, 4);
	put(writer, handle->name, 4);
	put(writer, handle->access, 4);
	put(writer, handle->mode, 4);
	put(writer, handle->delete_on_close, 1);
	put(writer, handle->oplock, 1);
	put(writer, handle->is_breaking, 1);
	put(writer, handle->break_to, 1);
	put(writer, handle->lease_state, 4);
	put(writer, handle->lease_epoch, 2);
	put(writer, handle->channel_sequence, 2);
	put_bytes(writer, handle->lease_key, sizeof(handle->lease_key));
	put(writer, handle->position, 8);
	put(writer, handle->scan, 1);
	put(writer, handle->scan_found, 1);
	put(writer, handle->scan_entry, 4);
	put(writer, handle->scan_name, 4);
}

static void put_reply(struct writer *writer, const struct smb_server *server, uint32_t chunk, uint32_t length)
{
	put(writer, length, 4);
	while (length) {
		uint32_t part = length < SERVER_CHUNK ? length : SERVER_CHUNK;
		put_bytes(writer, server_chunk(server, chunk), part);
		chunk = server_words(server, server->at.chunk_next)[chunk];
		length -= part;
	}
}

static void put_request(struct writer *writer, const struct smb_server *server, const struct server_request *request)
{
	put(writer, request->state, 1);
	if (request->state == SERVER_REQUEST_FREE)
		return;
	put(writer, request->works, 4);
	put(writer, request->connection, 4);
	if (request->state == SERVER_REQUEST_ANSWERED)
		return;
	put(writer, server_connection(server, request->connection)->window.low - request->message_id, 8);
	put(writer, request->command, 2);
	put(writer, request->credit_charge, 2);
	put(writer, request->credits_asked, 2);
	put(writer, request->tree_id, 4);
	put(writer, request->session_id, 8);
	put(writer, request->process_id, 4);
	put_slice(writer, request->data);
	put(writer, request->members, 4);
	if (server->profile.interim == SMB_INTERIM_AFTER && request->state == SERVER_REQUEST_WAITING)
		put(writer, server->now_ns - request->arrived_ns, 8);
	if (request->reply_chunk != SERVER_NONE)
		put_reply(writer, server, request->reply_chunk, request->reply_length);
}

static void put_output(struct writer *writer, const struct smb_server *server, const struct server_output *output)
{
	put(writer, output->kind, 1);
	put(writer, output->connection, 4);
	put(writer, output->token, 4);
	put(writer, output->is_write, 1);
	put(writer, output->cut, 1);
	put_slice(writer, output->payload);
	if (output->kind == SMB_SERVER_SEND)
		put_reply(writer, server, output->chunk, output->length);
}

size_t smb_server_encode(const struct smb_server *server, uint8_t *buffer, size_t size)
{
	struct writer writer = { .bytes = buffer, .size = size };

	for (uint32_t i = 0; i < server->limits.connections; i++)
		put_connection(&writer, server, i);
	put_sessions(&writer, server);
	for (uint32_t i = 0; i < server->interface_count; i++) {
		put(&writer, server->interfaces[i].speed_bps, 8);
		put(&writer, server->interfaces[i].rss | server->interfaces[i].down << 1, 1);
	}
	for (uint32_t i = 0; i < server->limits.nodes; i++)
		put_file(&writer, server, server_file(server, i));
	for (uint32_t i = 0; i < server->limits.handles; i++)
		put_handle(&writer, server_handle(server, i));
	for (uint32_t i = 0; i < server->limits.requests; i++)
		put_request(&writer, server, server_request(server, i));
	for (uint32_t i = 0; i < server->output_count; i++)
		put_output(&writer, server, server_output(server, (server->output_first + i) % server->limits.outputs));
	put(&writer, server->writes, 4);
	put(&writer, server->serial, 4); /* the next ids come from it, and ids go on the wire */
	put(&writer, server->file_serial, 8);
	put(&writer, server->wake_ns ? server->wake_ns - server->now_ns : 0, 8);
	return writer.used <= size ? writer.used : 0;
}
