/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The block: layout, start, connections, and the files that are there before the run. */

#include "sim/server/call.h"
#include "sim/server/files.h"
#include "sim/server/misbehave.h"
#include "sim/server/outputs.h"
#include "sim/server/requests.h"

#include <string.h>

const struct smb_server_limits smb_server_limits_simulation = {
	.connections = 64,
	.sessions = 16,
	.trees = 32,
	.nodes = 3072,
	.handles = 1024,
	.requests = 4096,
	.outputs = 512,
};

static uint32_t power_of_two(uint32_t least)
{
	uint32_t power = 1;

	while (power < least)
		power *= 2;
	return power;
}

static struct server_counts counts_of(const struct smb_server_limits *limits)
{
	return (struct server_counts){
		.window_words = smb_server_window_words(limits->window ? limits->window : SERVER_WINDOW_DEFAULT),
		.name_buckets = power_of_two(limits->nodes),
		.extents = limits->nodes + limits->nodes / 3 + 4,
		.request_buckets = power_of_two(limits->requests),
		.chunks = 4 * limits->outputs,
	};
}

static uint32_t place(uint32_t *end, size_t count, size_t size)
{
	uint32_t start = *end;

	*end = (uint32_t)((start + count * size + 7) & ~(size_t)7);
	return start;
}

static struct server_layout layout_of(const struct smb_server_limits *limits)
{
	struct server_counts counts = counts_of(limits);
	struct server_layout at;
	uint32_t end = (uint32_t)((sizeof(struct smb_server) + 7) & ~(size_t)7);

	at.connections = place(&end, limits->connections, sizeof(struct server_connection));
	at.windows = place(&end, (size_t)limits->connections * counts.window_words, sizeof(uint64_t));
	at.sessions = place(&end, limits->sessions, sizeof(struct server_session));
	at.trees = place(&end, limits->trees, sizeof(struct server_tree));
	at.names = place(&end, limits->nodes, sizeof(struct server_name));
	at.name_buckets = place(&end, counts.name_buckets, sizeof(uint32_t));
	at.files = place(&end, limits->nodes, sizeof(struct server_file));
	at.extents = place(&end, counts.extents, sizeof(struct server_extent));
	at.handles = place(&end, limits->handles, sizeof(struct server_handle));
	at.requests = place(&end, limits->requests, sizeof(struct server_request));
	at.request_buckets = place(&end, counts.request_buckets, sizeof(uint32_t));
	at.outputs = place(&end, limits->outputs, sizeof(struct server_output));
	at.chunk_next = place(&end, counts.chunks, sizeof(uint32_t));
	at.chunks = place(&end, counts.chunks, SERVER_CHUNK);
	at.size = end;
	return at;
}

static void check_limits(const struct smb_server_limits *limits)
{
	assert(limits->connections >= 1 && limits->connections <= SERVER_CONNECTIONS_MAX);
	assert(limits->sessions >= 1 && limits->trees >= 1 && limits->nodes >= 1 && limits->handles >= 1);
	assert(limits->requests >= 1 && limits->outputs >= 16);
	assert(limits->sessions < UINT16_MAX && limits->trees < UINT16_MAX);
	(void)limits;
}

size_t smb_server_size(const struct smb_server_limits *limits)
{
	check_limits(limits);
	return layout_of(limits).size;
}

static void chain_free_things(struct smb_server *server)
{
	const struct smb_server_limits *limits = &server->limits;

	for (uint32_t i = 0; i < limits->nodes; i++) {
		server_name(server, i)->next = i + 1 < limits->nodes ? i + 1 : SERVER_NONE;
		server_file(server, i)->next = i + 1 < limits->nodes ? i + 1 : SERVER_NONE;
	}
	for (uint32_t i = 0; i < server->counts.extents; i++)
		server_extent(server, i)->next = i + 1 < server->counts.extents ? i + 1 : SERVER_NONE;
	for (uint32_t i = 0; i < limits->handles; i++)
		server_handle(server, i)->next = i + 1 < limits->handles ? i + 1 : SERVER_NONE;
	for (uint32_t i = 0; i < limits->requests; i++)
		server_request(server, i)->next = i + 1 < limits->requests ? i + 1 : SERVER_NONE;
	for (uint32_t i = 0; i < server->counts.chunks; i++)
		server_words(server, server->at.chunk_next)[i] = i + 1 < server->counts.chunks ? i + 1 : SERVER_NONE;
	memset(server_words(server, server->at.name_buckets), 0xff, server->counts.name_buckets * sizeof(uint32_t));
	memset(server_words(server, server->at.request_buckets), 0xff,
	       server->counts.request_buckets * sizeof(uint32_t));
	server->free = (struct server_free){ .chunk_count = server->counts.chunks };
}

struct smb_server *smb_server_init(void *block, const struct smb_server_limits *limits,
				   const struct smb_server_config *config)
{
	struct smb_server *server = block;

	check_limits(limits);
	assert(smb_server_profile_is_valid(&config->profile));
	assert(config->interface_count <= 16 && strlen(config->share) < SERVER_SHARE_MAX);
	memset(block, 0, layout_of(limits).size);
	server->limits = *limits;
	server->at = layout_of(limits);
	server->counts = counts_of(limits);
	server->profile = config->profile;
	memcpy(server->server_guid, config->server_guid, sizeof(server->server_guid));
	memcpy(server->share, config->share, strlen(config->share));
	server->interface_count = config->interface_count;
	memcpy(server->interfaces, config->interfaces, sizeof(server->interfaces));
	smb_server_misbehave(server, &config->misbehaviour);
	server->pending_first = SERVER_NONE;
	server->pending_last = SERVER_NONE;
	chain_free_things(server);
	server_files_init(server);
	return server;
}

size_t smb_server_block_size(const struct smb_server *server)
{
	return server->at.size;
}

static bool text_from_ascii(const char **at, struct server_text *text)
{
	text->units = 0;
	for (; **at && **at != '\\'; ++*at) {
		if (text->units == SERVER_NAME_UNITS || (uint8_t) * *at < ' ' || (uint8_t) * *at > '~')
			return false;
		text->text[text->units++] = (uint16_t) * *at;
	}
	return text->units > 0;
}

/* An entry and a file for it; SERVER_NONE: no room. */
static uint32_t make(struct smb_server *server, uint32_t directory, const struct server_text *text, bool is_directory)
{
	uint32_t attributes = is_directory ? SERVER_ATTRIBUTE_DIRECTORY : SERVER_ATTRIBUTE_NORMAL;

	if (server->free.names == SERVER_NONE)
		return SERVER_NONE;
	uint32_t file = server_file_new(server, is_directory, attributes);
	if (file != SERVER_NONE)
		server_name_add(server, directory, text, file);
	return file;
}

/* Make what `name` says and the directories on the way. SERVER_NONE: it exists, is no name, or there is no room. */
static uint32_t make_path(struct smb_server *server, const char *name, bool is_directory)
{
	uint32_t directory = SERVER_ROOT;
	struct server_text text;

	for (;; name++) {
		if (!text_from_ascii(&name, &text))
			return SERVER_NONE;
		uint32_t found = server_name_find(server, directory, &text);
		if (!*name)
			return found == SERVER_NONE ? make(server, directory, &text, is_directory) : SERVER_NONE;
		directory = found != SERVER_NONE ? server_name(server, found)->file
						 : make(server, directory, &text, true);
		if (directory == SERVER_NONE || !server_file(server, directory)->is_directory)
			return SERVER_NONE;
	}
}

bool smb_server_make_file(struct smb_server *server, const char *name, uint64_t source, uint64_t bytes)
{
	uint32_t extent = server->free.extents;

	if (extent == SERVER_NONE)
		return false;
	uint32_t file = make_path(server, name, false);
	if (file == SERVER_NONE)
		return false;
	if (bytes) {
		server->free.extents = server_extent(server, extent)->next;
		*server_extent(server, extent) =
			(struct server_extent){ .next = SERVER_NONE, .length = bytes, .source = source };
		server_file(server, file)->first_extent = extent;
		server_file(server, file)->size = bytes;
	}
	return true;
}

bool smb_server_make_directory(struct smb_server *server, const char *name)
{
	return make_path(server, name, true) != SERVER_NONE;
}

void smb_server_connected(struct smb_server *server, uint32_t connection, uint64_t now_ns)
{
	assert(connection < server->limits.connections);
	struct server_connection *on = server_connection(server, connection);
	uint32_t widest = server->limits.window ? server->limits.window : SERVER_WINDOW_DEFAULT;
	uint32_t max = server->profile.credits_max < widest ? server->profile.credits_max : widest;

	assert(!on->open);
	server->now_ns = now_ns;
	*on = (struct server_connection){ .open = true };
	smb_server_window_init(&on->window, server_window_seen(server, connection), max);
}

void server_connection_drop(struct smb_server *server, uint32_t connection)
{
	server_connection(server, connection)->open = false;
	server_requests_abandon(server, connection);
	for (uint32_t i = 0; i < server->limits.sessions; i++)
		server_session_leave(server, i, connection);
}

void smb_server_closed(struct smb_server *server, uint32_t connection, uint64_t now_ns)
{
	assert(connection < server->limits.connections);
	server->now_ns = now_ns;
	if (server_connection(server, connection)->open)
		server_connection_drop(server, connection);
	server_outputs_forget(server, connection);
}

void smb_server_set_interface(struct smb_server *server, uint32_t index, const struct smb_server_interface *interface)
{
	assert(index < server->interface_count);
	server->interfaces[index] = *interface;
}

void smb_server_set_sizes(struct smb_server *server, const struct smb_server_sizes *sizes)
{
	struct smb_server_profile *profile = &server->profile;

	profile->max_read = sizes->max_read;
	profile->max_write = sizes->max_write;
	profile->max_transact = sizes->max_transact;
	profile->credits_max = sizes->credits_max;
	assert(smb_server_profile_is_valid(profile));
}

void smb_server_misbehave(struct smb_server *server, const struct smb_server_misbehaviour *misbehaviour)
{
	server->misbehaviour = *misbehaviour;
	server->misbehaves = server_misbehaviour_is_any(misbehaviour);
}

void smb_server_choose(struct smb_server *server, const struct smb_server_choice *choice)
{
	server->choice = *choice;
}

void smb_server_look(const struct smb_server *server, uint32_t connection, struct smb_server_connection_info *info)
{
	assert(connection < server->limits.connections);
	const struct server_connection *on = server_connection(server, connection);

	*info = (struct smb_server_connection_info){
		.open = on->open,
		.window_low = on->window.low,
		.window_length = on->window.range,
		.granted = on->window.granted,
		.outstanding = on->outstanding,
		.outstanding_async = on->outstanding_async,
		.owed = on->owed,
	};
}
