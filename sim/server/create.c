/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* CREATE and the life of a handle (MS-SMB2 3.3.5.9, 3.3.5.10; MS-FSA 2.1.5.1). */

#include "protocol/wire/endian.h"
#include "sim/server/call.h"
#include "sim/server/files.h"

#include <string.h>

/* CreateDisposition (MS-SMB2 2.2.13). */
enum { FILE_SUPERSEDE, FILE_OPEN, FILE_CREATE, FILE_OPEN_IF, FILE_OVERWRITE, FILE_OVERWRITE_IF };
/* CreateAction (MS-SMB2 2.2.14). */
enum { ACTION_SUPERSEDED, ACTION_OPENED, ACTION_CREATED, ACTION_OVERWRITTEN };
/* CreateOptions. */
#define OPTION_DIRECTORY 0x00000001u
#define OPTION_NON_DIRECTORY 0x00000040u
#define OPTION_DELETE_ON_CLOSE 0x00001000u
#define OPTIONS_OF_MODE 0x0000013eu /* what FileModeInformation reports */
/* Access rights. */
#define ACCESS_MAXIMUM 0x02000000u
#define ACCESS_GENERIC_ALL 0x10000000u
#define ACCESS_GENERIC_EXECUTE 0x20000000u
#define ACCESS_GENERIC_WRITE 0x40000000u
#define ACCESS_GENERIC_READ 0x80000000u
#define ACCESS_STAT_ONLY (0x00000080u | SERVER_ACCESS_WRITE_ATTRIBUTES | 0x00100000u)
/* Oplock levels and lease states (MS-SMB2 2.2.13, 2.2.13.2.8). */
#define OPLOCK_EXCLUSIVE 0x08u
#define OPLOCK_BATCH 0x09u
#define OPLOCK_LEASE 0xffu
#define LEASE_HANDLE 0x02u

static uint32_t map_access(uint32_t desired)
{
	uint32_t access = desired & SERVER_ACCESS_ALL;

	if (desired & (ACCESS_MAXIMUM | ACCESS_GENERIC_ALL))
		access |= SERVER_ACCESS_ALL;
	if (desired & ACCESS_GENERIC_READ)
		access |= 0x00120089u;
	if (desired & ACCESS_GENERIC_WRITE)
		access |= 0x00120116u;
	if (desired & ACCESS_GENERIC_EXECUTE)
		access |= 0x001200a0u;
	return access;
}

static uint32_t check_request(const struct smb2_create_req *request)
{
	uint32_t both = OPTION_DIRECTORY | OPTION_NON_DIRECTORY;

	if (request->create_disposition > FILE_OVERWRITE_IF || (request->create_options & both) == both)
		return STATUS_INVALID_PARAMETER;
	if ((request->create_options & OPTION_DIRECTORY) && request->create_disposition != FILE_OPEN &&
	    request->create_disposition != FILE_CREATE && request->create_disposition != FILE_OPEN_IF)
		return STATUS_INVALID_PARAMETER;
	if (!map_access(request->desired_access))
		return STATUS_ACCESS_DENIED;
	if ((request->create_options & OPTION_DELETE_ON_CLOSE) &&
	    !(map_access(request->desired_access) & SERVER_ACCESS_DELETE))
		return STATUS_INVALID_PARAMETER; /* MS-FSA 2.1.5.1 */
	return STATUS_SUCCESS;
}

static const struct smb2_context *find_context(const struct smb2_create_req *request, const char *name)
{
	for (uint16_t i = 0; i < request->context_count; i++) {
		if (request->contexts[i].name.length == 4 && memcmp(request->contexts[i].name.data, name, 4) == 0)
			return &request->contexts[i];
	}
	return NULL;
}

static uint32_t check_existing(const struct smb2_create_req *request, const struct server_file *file)
{
	bool overwrites = request->create_disposition == FILE_SUPERSEDE ||
			  request->create_disposition == FILE_OVERWRITE ||
			  request->create_disposition == FILE_OVERWRITE_IF;
	uint32_t writes = SERVER_ACCESS_WRITE_DATA | SERVER_ACCESS_APPEND_DATA;

	if (file->delete_pending)
		return STATUS_DELETE_PENDING;
	if (request->create_disposition == FILE_CREATE)
		return STATUS_OBJECT_NAME_COLLISION;
	if (file->is_directory && (overwrites || (request->create_options & OPTION_NON_DIRECTORY)))
		return STATUS_FILE_IS_A_DIRECTORY;
	if (!file->is_directory && (request->create_options & OPTION_DIRECTORY))
		return STATUS_NOT_A_DIRECTORY;
	if (!file->is_directory && (file->attributes & SERVER_ATTRIBUTE_READONLY) &&
	    (overwrites || (map_access(request->desired_access) & writes)))
		return STATUS_ACCESS_DENIED;
	if ((file->attributes & SERVER_ATTRIBUTE_READONLY) && (request->create_options & OPTION_DELETE_ON_CLOSE))
		return STATUS_CANNOT_DELETE;
	if ((request->create_options & OPTION_DELETE_ON_CLOSE) && file->first_name != SERVER_NONE)
		return STATUS_DIRECTORY_NOT_EMPTY;
	return STATUS_SUCCESS;
}

/* The file does not exist: make it, if the disposition allows. */
static uint32_t make_new(struct server_call *call, struct server_path *path)
{
	const struct smb2_create_req *request = &call->request->body.create_req;
	bool is_directory = request->create_options & OPTION_DIRECTORY;
	uint32_t attributes = is_directory ? SERVER_ATTRIBUTE_DIRECTORY : SERVER_ATTRIBUTE_ARCHIVE;

	if (request->create_disposition == FILE_OPEN || request->create_disposition == FILE_OVERWRITE)
		return STATUS_OBJECT_NAME_NOT_FOUND;
	if (call->server->free.names == SERVER_NONE)
		return STATUS_INSUFFICIENT_RESOURCES;
	path->file = server_file_new(call->server, is_directory,
				     attributes | (request->file_attributes & SERVER_ATTRIBUTE_READONLY));
	if (path->file == SERVER_NONE)
		return STATUS_INSUFFICIENT_RESOURCES;
	path->name = server_name_add(call->server, path->parent, &path->last, path->file);
	return STATUS_SUCCESS;
}

static void overwrite(struct smb_server *server, uint32_t index, uint32_t attributes)
{
	struct server_file *file = server_file(server, index);

	server_content_resize(server, index, 0);
	file->attributes = SERVER_ATTRIBUTE_ARCHIVE | (attributes & SERVER_ATTRIBUTE_READONLY);
	file->write_time = file->change_time = server_filetime(server);
}

/* Find or make what the request names. `action` is CreateAction. */
static uint32_t open_path(struct server_call *call, struct server_path *path, uint32_t *action)
{
	const struct smb2_create_req *request = &call->request->body.create_req;
	uint32_t status = server_path_walk(call->server, request->name, path);

	if (status)
		return status;
	*action = ACTION_CREATED;
	if (path->file == SERVER_NONE)
		return make_new(call, path);
	status = check_existing(request, server_file(call->server, path->file));
	if (status)
		return status;
	*action = ACTION_OPENED;
	if (request->create_disposition == FILE_SUPERSEDE)
		*action = ACTION_SUPERSEDED;
	if (request->create_disposition == FILE_OVERWRITE || request->create_disposition == FILE_OVERWRITE_IF)
		*action = ACTION_OVERWRITTEN;
	if (*action != ACTION_OPENED)
		overwrite(call->server, path->file, request->file_attributes);
	return STATUS_SUCCESS;
}

uint32_t server_handle_find(const struct smb_server *server, uint32_t session, struct smb2_file_id id)
{
	uint32_t index = (uint32_t)(id.volatile_id & UINT32_MAX) - 1;

	if (index >= server->limits.handles || !server_handle(server, index)->used ||
	    server_handle(server, index)->id != id.volatile_id || id.persistent != id.volatile_id ||
	    server_handle(server, index)->session != session)
		return SERVER_NONE;
	return index;
}

static uint32_t handle_new(struct server_call *call, const struct server_path *path)
{
	struct smb_server *server = call->server;
	const struct smb2_create_req *request = &call->request->body.create_req;
	uint32_t index = server->free.handles;
	struct server_handle *handle = server_handle(server, index);
	struct server_file *file = server_file(server, path->file);

	server->free.handles = handle->next;
	*handle = (struct server_handle){
		.next = file->first_handle,
		.before = SERVER_NONE,
		.used = true,
		.delete_on_close = request->create_options & OPTION_DELETE_ON_CLOSE,
		.id = (uint64_t)++server->serial << 32 | (index + 1),
		.session = call->session,
		.tree = call->tree,
		.file = path->file,
		.name = path->name,
		.access = map_access(request->desired_access),
		.mode = request->create_options & OPTIONS_OF_MODE,
		.channel_sequence = call->request->header.channel_sequence,
		.scan_name = SERVER_NONE,
	};
	if (file->first_handle != SERVER_NONE)
		server_handle(server, file->first_handle)->before = index;
	file->first_handle = index;
	return index;
}

/* Remove the name when the last handle of a file that is to be deleted closes. */
static void delete_if_pending(struct smb_server *server, uint32_t file, uint32_t name)
{
	if (server_file(server, file)->first_handle != SERVER_NONE || !server_file(server, file)->delete_pending)
		return;
	server_file(server, file)->delete_pending = false;
	if (name != SERVER_NONE && server_file(server, file)->first_name == SERVER_NONE)
		server_name_remove(server, name);
}

void server_handle_close(struct smb_server *server, uint32_t index)
{
	struct server_handle closed = *server_handle(server, index);
	struct server_file *file = server_file(server, closed.file);

	assert(closed.used);
	if (closed.before != SERVER_NONE)
		server_handle(server, closed.before)->next = closed.next;
	else
		file->first_handle = closed.next;
	if (closed.next != SERVER_NONE)
		server_handle(server, closed.next)->before = closed.before;
	*server_handle(server, index) = (struct server_handle){ .next = server->free.handles };
	server->free.handles = index;
	if (closed.delete_on_close && closed.file != SERVER_ROOT)
		file->delete_pending = true;
	delete_if_pending(server, closed.file, closed.name);
	if (!file->links && file->first_handle == SERVER_NONE)
		server_file_drop(server, closed.file);
}

/* Does another open stand in the way of caching? Those that only look at attributes do not (Samba: stat opens). */
static bool is_shared(const struct smb_server *server, uint32_t self, const uint8_t *lease_key)
{
	const struct server_handle *handle = server_handle(server, self);

	for (uint32_t i = server_file(server, handle->file)->first_handle; i != SERVER_NONE;) {
		const struct server_handle *other = server_handle(server, i);
		bool same_key = lease_key && other->oplock == OPLOCK_LEASE &&
				memcmp(other->lease_key, lease_key, sizeof(other->lease_key)) == 0;
		if (i != self && !same_key && (other->access & ~ACCESS_STAT_ONLY))
			return true;
		i = other->next;
	}
	return false;
}

/* Leases and oplocks are granted as asked to a client that is alone with the file, and not at all otherwise: no open
 * breaks what another holds. Directories get none (Samba 4.17). */
static void grant_lease(struct server_call *call, uint32_t index)
{
	const struct smb2_create_req *request = &call->request->body.create_req;
	const struct smb2_context *lease = find_context(request, "RqLs");
	struct server_handle *handle = server_handle(call->server, index);
	bool can_lease = call->on->capabilities & SMB2_GLOBAL_CAP_LEASING;

	if (server_file(call->server, handle->file)->is_directory)
		return;
	if (request->oplock_level != OPLOCK_LEASE) {
		if (!is_shared(call->server, index, NULL))
			handle->oplock = request->oplock_level;
		return;
	}
	if (!can_lease || !lease || (lease->data.length != 32 && lease->data.length != 52) ||
	    is_shared(call->server, index, lease->data.data))
		return;
	handle->oplock = OPLOCK_LEASE;
	memcpy(handle->lease_key, lease->data.data, sizeof(handle->lease_key));
	handle->lease_state = smb_get32(lease->data.data + 16) & 7;
	if (lease->data.length == 52)
		handle->lease_epoch = (uint16_t)(smb_get16(lease->data.data + 48) + 1);
}

static uint8_t *add_context(struct server_call *call, const char *name, uint32_t length)
{
	struct smb2_create_rsp *reply = &call->reply->body.create_rsp;
	uint8_t *data = server_call_scratch(call, length);

	memset(data, 0, length);
	reply->contexts[reply->context_count++] = (struct smb2_context){
		.name = { (const uint8_t *)name, 4 },
		.data = { data, length },
	};
	return data;
}

static void answer_lease(struct server_call *call, const struct server_handle *handle, uint32_t length)
{
	uint8_t *data = add_context(call, "RqLs", length);

	memcpy(data, handle->lease_key, sizeof(handle->lease_key));
	smb_put32(data + 16, handle->lease_state);
	if (length == 52)
		smb_put16(data + 48, handle->lease_epoch);
}

/* Durable opens are promised as Samba does for a client that caches handles; a reconnect is then refused, which a
 * server may always do (MS-SMB2 3.3.5.9.7). */
static void answer_contexts(struct server_call *call, const struct server_handle *handle)
{
	const struct smb2_create_req *request = &call->request->body.create_req;
	const struct smb2_context *lease = find_context(request, "RqLs");
	bool caches_handles = handle->oplock == OPLOCK_BATCH ||
			      (handle->oplock == OPLOCK_LEASE && (handle->lease_state & LEASE_HANDLE));

	if (find_context(request, "DHnQ") && caches_handles)
		add_context(call, "DHnQ", 8);
	if (find_context(request, "MxAc"))
		smb_put32(add_context(call, "MxAc", 8) + 4, SERVER_ACCESS_ALL);
	if (find_context(request, "QFid")) {
		uint8_t *data = add_context(call, "QFid", 32);
		smb_put64(data, server_file(call->server, handle->file)->id);
		smb_put64(data + 8, 0xfe00);
	}
	if (lease && handle->oplock == OPLOCK_LEASE)
		answer_lease(call, handle, lease->data.length);
}

static void fill_reply(struct server_call *call, uint32_t index, uint32_t action)
{
	const struct server_handle *handle = server_handle(call->server, index);
	const struct server_file *file = server_file(call->server, handle->file);
	struct smb2_create_rsp *reply = &call->reply->body.create_rsp;

	call->reply->kind = SMB2_BODY_CREATE_RSP;
	reply->oplock_level = handle->oplock;
	reply->flags = 0;
	reply->create_action = action;
	reply->times = server_file_times(file);
	reply->allocation_size = server_file_allocation(file);
	reply->end_of_file = file->size;
	reply->file_attributes = file->attributes;
	reply->file_id = (struct smb2_file_id){ handle->id, handle->id };
	reply->context_count = 0;
	answer_contexts(call, handle);
}

static uint32_t create(struct server_call *call)
{
	const struct smb2_create_req *request = &call->request->body.create_req;
	struct server_path path;
	uint32_t action;

	if (server_tree(call->server, call->tree)->is_pipe)
		return STATUS_OBJECT_NAME_NOT_FOUND; /* no named pipes here */
	if (find_context(request, "DHnC") || find_context(request, "DH2C"))
		return STATUS_OBJECT_NAME_NOT_FOUND; /* no durable open outlives its connection */
	if (call->server->free.handles == SERVER_NONE || server_call_room(call) < 256)
		return STATUS_INSUFFICIENT_RESOURCES;
	uint32_t status = check_request(request);
	if (!status)
		status = open_path(call, &path, &action);
	if (status)
		return status;
	call->handle = handle_new(call, &path);
	grant_lease(call, call->handle);
	fill_reply(call, call->handle, action);
	return STATUS_SUCCESS;
}

uint32_t server_create(struct server_call *call)
{
	call->handle = SERVER_NONE;
	call->create_status = create(call);
	return call->create_status;
}

uint32_t server_close(struct server_call *call)
{
	const struct smb2_close_req *request = &call->request->body.close_req;
	const struct server_file *file = server_file(call->server, server_handle(call->server, call->handle)->file);
	struct smb2_close_rsp *reply = &call->reply->body.close_rsp;

	call->reply->kind = SMB2_BODY_CLOSE_RSP;
	*reply = (struct smb2_close_rsp){ .flags = request->flags & 1 };
	if (request->flags & 1) {
		reply->times = server_file_times(file);
		reply->allocation_size = server_file_allocation(file);
		reply->end_of_file = file->size;
		reply->file_attributes = file->attributes;
	}
	server_handle_close(call->server, call->handle);
	call->handle = SERVER_NONE;
	return STATUS_SUCCESS;
}

uint32_t server_file_dispose(struct smb_server *server, uint32_t index, bool is_deleted)
{
	struct server_file *file = server_file(server, index);

	if (!is_deleted) {
		file->delete_pending = false;
		return STATUS_SUCCESS;
	}
	if (index == SERVER_ROOT || (file->attributes & SERVER_ATTRIBUTE_READONLY))
		return STATUS_CANNOT_DELETE;
	if (file->first_name != SERVER_NONE)
		return STATUS_DIRECTORY_NOT_EMPTY;
	file->delete_pending = true;
	return STATUS_SUCCESS;
}
