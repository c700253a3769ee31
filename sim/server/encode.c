/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The canonical form of the state, for hashing: no padding, nothing of free elements, times and MessageIds relative to
 * now and to their window. Times of files are left out: clients only print them. */

#include "protocol/wire/encoder.h"
#include "sim/server/internal.h"

static void put_slice(struct smb_encoder *writer, struct smb_slice slice)
{
	smb_encode64(writer, slice.source);
	smb_encode64(writer, slice.offset);
	smb_encode32(writer, slice.length);
}

static void put_connection(struct smb_encoder *writer, const struct smb_server *server, uint32_t index)
{
	const struct server_connection *on = server_connection(server, index);
	const uint64_t *seen = server_window_seen(server, index);
	uint32_t bits = smb_server_window_words(on->window.max ? on->window.max : 1) * 64;

	smb_encode8(writer, on->open);
	if (!on->open)
		return;
	smb_encode8(writer, on->negotiated);
	smb_encode16(writer, on->dialect);
	smb_encode16(writer, on->security_mode);
	smb_encode32(writer, on->client_capabilities);
	smb_encode32(writer, on->capabilities);
	smb_encode32(writer, on->max_read); /* these and the window's width: of the time when it was connected */
	smb_encode32(writer, on->max_write);
	smb_encode32(writer, on->max_transact);
	smb_encode_bytes(writer, on->client_guid, sizeof(on->client_guid));
	smb_encode32(writer, on->window.max);
	smb_encode32(writer, on->window.range);
	smb_encode32(writer, on->window.used);
	for (uint32_t i = 0; on->window.used && i < on->window.range; i++) {
		uint32_t bit = (uint32_t)((on->window.low + i) & (bits - 1));
		if (seen[bit / 64] >> bit % 64 & 1)
			smb_encode32(writer, i);
	}
	smb_encode32(writer, on->outstanding);
	smb_encode32(writer, on->outstanding_async);
	smb_encode32(writer, on->owed);
}

static void put_sessions(struct smb_encoder *writer, const struct smb_server *server)
{
	for (uint32_t i = 0; i < server->limits.sessions; i++) {
		const struct server_session *session = server_session(server, i);
		smb_encode8(writer, session->state);
		if (session->state == SERVER_SESSION_FREE)
			continue;
		smb_encode64(writer, session->id);
		smb_encode64(writer, session->channels);
		smb_encode64(writer, session->setting_up);
		smb_encode8(writer, session->is_expired);
		smb_encode16(writer, session->dialect);
		smb_encode_bytes(writer, session->client_guid, sizeof(session->client_guid));
	}
	for (uint32_t i = 0; i < server->limits.trees; i++) {
		const struct server_tree *tree = server_tree(server, i);
		smb_encode8(writer, tree->used);
		if (!tree->used)
			continue;
		smb_encode8(writer, tree->is_pipe);
		smb_encode32(writer, tree->id);
		smb_encode32(writer, tree->session);
	}
}

static void put_directory(struct smb_encoder *writer, const struct smb_server *server, const struct server_file *file)
{
	for (uint32_t i = file->first_name; i != SERVER_NONE; i = server_name(server, i)->after) {
		const struct server_name *name = server_name(server, i);
		smb_encode16(writer, name->units);
		smb_encode_bytes(writer, name->text, name->units * sizeof(name->text[0]));
		smb_encode32(writer, name->file);
	}
	smb_encode16(writer, 0);
}

static void put_file(struct smb_encoder *writer, const struct smb_server *server, const struct server_file *file)
{
	smb_encode8(writer, file->used);
	if (!file->used)
		return;
	smb_encode8(writer, file->is_directory | file->delete_pending << 1);
	smb_encode32(writer, file->attributes);
	smb_encode64(writer, file->id);
	smb_encode64(writer, file->size);
	for (uint32_t i = file->first_extent; i != SERVER_NONE; i = server_extent(server, i)->next) {
		const struct server_extent *extent = server_extent(server, i);
		smb_encode64(writer, extent->length);
		smb_encode64(writer, extent->offset);
		smb_encode64(writer, extent->source);
		smb_encode64(writer, extent->position);
	}
	smb_encode64(writer, 0);
	if (file->is_directory)
		put_directory(writer, server, file);
}

static void put_handle(struct smb_encoder *writer, const struct server_handle *handle)
{
	smb_encode8(writer, handle->used);
	if (!handle->used)
		return;
	smb_encode64(writer, handle->id);
	smb_encode32(writer, handle->session);
	smb_encode32(writer, handle->tree);
	smb_encode32(writer, handle->file);
	smb_encode32(writer, handle->name);
	smb_encode32(writer, handle->access);
	smb_encode32(writer, handle->mode);
	smb_encode8(writer, handle->delete_on_close);
	smb_encode8(writer, handle->oplock);
	smb_encode8(writer, handle->is_breaking);
	smb_encode8(writer, handle->break_to);
	smb_encode32(writer, handle->lease_state);
	smb_encode16(writer, handle->lease_epoch);
	smb_encode16(writer, handle->channel_sequence);
	smb_encode_bytes(writer, handle->lease_key, sizeof(handle->lease_key));
	smb_encode64(writer, handle->position);
	smb_encode8(writer, handle->scan);
	smb_encode8(writer, handle->scan_found);
	smb_encode32(writer, handle->scan_entry);
	smb_encode32(writer, handle->scan_name);
}

static void put_reply(struct smb_encoder *writer, const struct smb_server *server, uint32_t connection, uint32_t chunk,
		      uint32_t length)
{
	size_t begin = writer->used + sizeof(length);
	uint32_t whole = length;

	smb_encode32(writer, length);
	while (length) {
		uint32_t part = length < SERVER_CHUNK ? length : SERVER_CHUNK;
		smb_encode_bytes(writer, server_chunk(server, chunk), part);
		chunk = server_words(server, server->at.chunk_next)[chunk];
		length -= part;
	}
	if (writer->used <= writer->size)
		smb2_ids_relative(writer->buffer + begin, whole, server_connection(server, connection)->window.low);
}

static void put_request(struct smb_encoder *writer, const struct smb_server *server,
			const struct server_request *request)
{
	smb_encode8(writer, request->state);
	if (request->state == SERVER_REQUEST_FREE)
		return;
	smb_encode32(writer, request->works);
	smb_encode32(writer, request->connection);
	if (request->state == SERVER_REQUEST_ANSWERED)
		return;
	smb_encode64(writer, server_connection(server, request->connection)->window.low - request->message_id);
	smb_encode16(writer, request->command);
	smb_encode16(writer, request->credit_charge);
	smb_encode16(writer, request->credits_asked);
	smb_encode32(writer, request->tree_id);
	smb_encode64(writer, request->session_id);
	smb_encode32(writer, request->process_id);
	put_slice(writer, request->data);
	smb_encode32(writer, request->members);
	if (server->profile.interim == SMB_INTERIM_AFTER && request->state == SERVER_REQUEST_WAITING)
		smb_encode64(writer, server->now_ns - request->arrived_ns);
	if (request->reply_chunk != SERVER_NONE)
		put_reply(writer, server, request->connection, request->reply_chunk, request->reply_length);
}

static void put_output(struct smb_encoder *writer, const struct smb_server *server, const struct server_output *output)
{
	smb_encode8(writer, output->kind);
	smb_encode32(writer, output->connection);
	smb_encode32(writer, output->token);
	smb_encode8(writer, output->is_write);
	smb_encode8(writer, output->cut);
	put_slice(writer, output->payload);
	if (output->kind == SMB_SERVER_SEND)
		put_reply(writer, server, output->connection, output->chunk, output->length);
}

size_t smb_server_encode(const struct smb_server *server, uint8_t *buffer, size_t size)
{
	struct smb_encoder writer = { buffer, size, 0 };

	for (uint32_t i = 0; i < server->limits.connections; i++)
		put_connection(&writer, server, i);
	put_sessions(&writer, server);
	for (uint32_t i = 0; i < server->interface_count; i++) {
		smb_encode64(&writer, server->interfaces[i].speed_bps);
		smb_encode8(&writer, server->interfaces[i].rss | server->interfaces[i].down << 1);
	}
	smb_encode32(&writer, server->profile.max_read);
	smb_encode32(&writer, server->profile.max_write);
	smb_encode32(&writer, server->profile.max_transact);
	smb_encode32(&writer, server->profile.credits_max);
	for (uint32_t i = 0; i < server->limits.nodes; i++)
		put_file(&writer, server, server_file(server, i));
	for (uint32_t i = 0; i < server->limits.handles; i++)
		put_handle(&writer, server_handle(server, i));
	for (uint32_t i = 0; i < server->limits.requests; i++)
		put_request(&writer, server, server_request(server, i));
	for (uint32_t i = 0; i < server->output_count; i++)
		put_output(&writer, server, server_output(server, (server->output_first + i) % server->limits.outputs));
	smb_encode32(&writer, server->writes);
	smb_encode32(&writer, server->serial); /* the next ids come from it, and ids go on the wire */
	smb_encode64(&writer, server->file_serial);
	smb_encode64(&writer, server->wake_ns ? server->wake_ns - server->now_ns : 0);
	return smb_encoder_length(&writer);
}
