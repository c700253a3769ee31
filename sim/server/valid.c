/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What must hold between any two calls. */

#include "sim/server/internal.h"

/* Elements of a free chain; more than `count` of them mean that it is broken. */
static uint32_t chain_length(const struct smb_server *server, uint32_t first, uint32_t count,
			     uint32_t (*next)(const struct smb_server *, uint32_t))
{
	uint32_t length = 0;

	while (first != SERVER_NONE && length <= count) {
		if (first >= count)
			return UINT32_MAX;
		first = next(server, first);
		length++;
	}
	return length;
}

static uint32_t next_name(const struct smb_server *server, uint32_t i)
{
	return server_name(server, i)->next;
}

static uint32_t next_file(const struct smb_server *server, uint32_t i)
{
	return server_file(server, i)->next;
}

static uint32_t next_extent(const struct smb_server *server, uint32_t i)
{
	return server_extent(server, i)->next;
}

static uint32_t next_handle(const struct smb_server *server, uint32_t i)
{
	return server_handle(server, i)->next;
}

static uint32_t next_request(const struct smb_server *server, uint32_t i)
{
	return server_request(server, i)->next;
}

static uint32_t next_chunk(const struct smb_server *server, uint32_t i)
{
	return server_words(server, server->at.chunk_next)[i];
}

static bool connections_are_valid(const struct smb_server *server)
{
	for (uint32_t i = 0; i < server->limits.connections; i++) {
		const struct server_connection *on = server_connection(server, i);
		if (!on->open)
			continue;
		if (!smb_server_window_is_valid(&on->window, server_window_seen(server, i)) ||
		    on->outstanding_async > on->outstanding || on->owed > on->outstanding - on->outstanding_async)
			return false;
	}
	return true;
}

static bool sessions_are_valid(const struct smb_server *server)
{
	for (uint32_t i = 0; i < server->limits.sessions; i++) {
		const struct server_session *session = server_session(server, i);
		uint64_t all = session->channels | session->setting_up;
		if (session->state == SERVER_SESSION_FREE ? all != 0 : !all)
			return false;
		for (uint32_t c = 0; c < server->limits.connections; c++) {
			if ((all >> c & 1) && !server_connection(server, c)->open)
				return false;
		}
	}
	for (uint32_t i = 0; i < server->limits.trees; i++) {
		const struct server_tree *tree = server_tree(server, i);
		if (tree->used && (tree->session >= server->limits.sessions ||
				   server_session(server, tree->session)->state != SERVER_SESSION_VALID))
			return false;
	}
	return true;
}

/* Extents of a file: in order, apart, inside the file. */
static bool content_is_valid(const struct smb_server *server, const struct server_file *file, uint32_t *extents)
{
	uint64_t end = 0;

	for (uint32_t i = file->first_extent; i != SERVER_NONE; i = server_extent(server, i)->next) {
		const struct server_extent *extent = server_extent(server, i);
		if (++*extents > server->counts.extents || !extent->length || extent->offset < end)
			return false;
		end = extent->offset + extent->length;
	}
	return end <= file->size;
}

static bool files_are_valid(const struct smb_server *server)
{
	uint32_t names = 0, files = 0, extents = 0, links = 0;

	for (uint32_t i = 0; i < server->limits.nodes; i++) {
		const struct server_name *name = server_name(server, i);
		const struct server_file *file = server_file(server, i);
		if (name->units) {
			names++;
			if (!server_file(server, name->parent)->is_directory || !server_file(server, name->file)->used)
				return false;
		}
		if (!file->used)
			continue;
		files++;
		links += file->links;
		if ((!file->links && file->first_handle == SERVER_NONE) || !content_is_valid(server, file, &extents))
			return false;
	}
	return links == names + 1 &&
	       chain_length(server, server->free.names, server->limits.nodes, next_name) ==
		       server->limits.nodes - names &&
	       chain_length(server, server->free.files, server->limits.nodes, next_file) ==
		       server->limits.nodes - files &&
	       chain_length(server, server->free.extents, server->counts.extents, next_extent) ==
		       server->counts.extents - extents;
}

static bool handles_are_valid(const struct smb_server *server)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < server->limits.handles; i++) {
		const struct server_handle *handle = server_handle(server, i);
		if (!handle->used)
			continue;
		used++;
		if (!server_file(server, handle->file)->used || !server_tree(server, handle->tree)->used ||
		    server_tree(server, handle->tree)->session != handle->session)
			return false;
	}
	return chain_length(server, server->free.handles, server->limits.handles, next_handle) ==
	       server->limits.handles - used;
}

static uint32_t chunks_of(uint32_t length)
{
	return (length + SERVER_CHUNK - 1) / SERVER_CHUNK;
}

static bool requests_are_valid(const struct smb_server *server)
{
	uint32_t used = 0, chunks = 0;

	for (uint32_t i = 0; i < server->limits.requests; i++) {
		const struct server_request *request = server_request(server, i);
		if (request->state == SERVER_REQUEST_FREE)
			continue;
		used++;
		if (!request->works || (request->state != SERVER_REQUEST_ANSWERED &&
					!server_connection(server, request->connection)->open))
			return false;
		if (request->reply_chunk != SERVER_NONE)
			chunks += chunks_of(request->reply_length);
	}
	for (uint32_t i = 0; i < server->output_count; i++) {
		uint32_t at = (server->output_first + i) % server->limits.outputs;
		if (server_output(server, at)->kind == SMB_SERVER_SEND)
			chunks += chunks_of(server_output(server, at)->length);
	}
	return chain_length(server, server->free.requests, server->limits.requests, next_request) ==
		       server->limits.requests - used &&
	       server->free.chunk_count == server->counts.chunks - chunks &&
	       chain_length(server, server->free.chunks, server->counts.chunks, next_chunk) == server->free.chunk_count;
}

bool smb_server_is_valid(const struct smb_server *server)
{
	return smb_server_profile_is_valid(&server->profile) && server->output_count <= server->limits.outputs &&
	       connections_are_valid(server) && sessions_are_valid(server) && files_are_valid(server) &&
	       handles_are_valid(server) && requests_are_valid(server);
}
