/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* SET_INFO (MS-SMB2 3.3.5.21; structures of MS-FSCC 2.4). */

#include "protocol/wire/endian.h"
#include "sim/server/call.h"
#include "sim/server/files.h"

#include <string.h>

#define TIME_UNCHANGED(time) (!(time) || (time) >= UINT64_MAX - 1) /* 0, -1, -2 */

static void set_time(uint64_t *time, const uint8_t *from)
{
	uint64_t value = smb_get64(from);

	if (!TIME_UNCHANGED(value))
		*time = value;
}

static uint32_t set_basic(struct server_call *call, struct smb_blob data)
{
	struct server_file *file = server_file(call->server, server_handle(call->server, call->handle)->file);

	if (data.length < 36)
		return STATUS_INFO_LENGTH_MISMATCH;
	uint32_t attributes = smb_get32(data.data + 32);
	if (!file->is_directory && (attributes & SERVER_ATTRIBUTE_DIRECTORY))
		return STATUS_INVALID_PARAMETER;
	set_time(&file->creation_time, data.data);
	set_time(&file->access_time, data.data + 8);
	set_time(&file->write_time, data.data + 16);
	set_time(&file->change_time, data.data + 24);
	if (attributes)
		file->attributes = file->is_directory ? attributes | SERVER_ATTRIBUTE_DIRECTORY : attributes;
	return STATUS_SUCCESS;
}

static uint32_t set_size(struct server_call *call, struct smb_blob data, bool is_allocation)
{
	const struct server_handle *handle = server_handle(call->server, call->handle);
	struct server_file *file = server_file(call->server, handle->file);

	if (data.length < 8)
		return STATUS_INFO_LENGTH_MISMATCH;
	uint64_t size = smb_get64(data.data);
	if (size > INT64_MAX || file->is_directory)
		return STATUS_INVALID_PARAMETER;
	if (!(handle->access & SERVER_ACCESS_WRITE_DATA))
		return STATUS_ACCESS_DENIED;
	if (is_allocation && size >= file->size)
		return STATUS_SUCCESS; /* room is never short */
	server_content_resize(call->server, handle->file, size);
	file->write_time = file->change_time = server_filetime(call->server);
	return STATUS_SUCCESS;
}

static uint32_t set_disposition(struct server_call *call, struct smb_blob data, bool is_extended)
{
	const struct server_handle *handle = server_handle(call->server, call->handle);

	if (data.length < (is_extended ? 4u : 1u))
		return STATUS_INFO_LENGTH_MISMATCH;
	if (!(handle->access & SERVER_ACCESS_DELETE))
		return STATUS_ACCESS_DENIED;
	return server_file_dispose(call->server, handle->file, data.data[0] & 1);
}

/* The new name of a rename or a link, resolved. FileRenameInformation and FileLinkInformation have one form. */
static uint32_t resolve_target(const struct server_call *call, struct smb_blob data, struct server_path *target)
{
	if (data.length < 20)
		return STATUS_INFO_LENGTH_MISMATCH;
	struct smb_blob name = { data.data + 20, smb_get32(data.data + 16) };
	if (!name.length || (name.length & 1) || name.length > data.length - 20)
		return STATUS_INVALID_PARAMETER;
	if (smb_get64(data.data + 8))
		return STATUS_INVALID_PARAMETER; /* RootDirectory, MS-SMB2 2.2.39 */
	return server_path_walk(call->server, name, target);
}

/* Make room for a name that is taken: only a file that nobody has open goes away. */
static uint32_t replace(struct smb_server *server, const struct server_path *target, bool may_replace)
{
	struct server_file *file = server_file(server, target->file);

	if (!may_replace)
		return STATUS_OBJECT_NAME_COLLISION;
	if (file->is_directory || file->first_handle != SERVER_NONE || (file->attributes & SERVER_ATTRIBUTE_READONLY))
		return STATUS_ACCESS_DENIED;
	server_name_remove(server, target->name);
	if (!file->links)
		server_file_drop(server, target->file);
	return STATUS_SUCCESS;
}

/* False: no room for the second name that exists for a moment. */
static bool move_name(struct smb_server *server, uint32_t old, const struct server_path *target)
{
	uint32_t file = server_name(server, old)->file;
	uint32_t name = server_name_add(server, target->parent, &target->last, file);

	if (name == SERVER_NONE)
		return false;
	for (uint32_t i = server_file(server, file)->first_handle; i != SERVER_NONE;) {
		struct server_handle *handle = server_handle(server, i);
		if (handle->name == old)
			handle->name = name;
		i = handle->next;
	}
	server_name_remove(server, old);
	server_file(server, file)->change_time = server_filetime(server);
	return true;
}

static uint32_t set_rename(struct server_call *call, struct smb_blob data)
{
	struct smb_server *server = call->server;
	const struct server_handle *handle = server_handle(server, call->handle);
	struct server_path target;
	uint32_t status = resolve_target(call, data, &target);

	if (status)
		return status;
	if (!(handle->access & SERVER_ACCESS_DELETE))
		return STATUS_ACCESS_DENIED;
	if (handle->name == SERVER_NONE || target.file == SERVER_ROOT)
		return STATUS_ACCESS_DENIED;
	if (server_file(server, handle->file)->is_directory &&
	    server_file_is_below(server, target.parent, handle->file))
		return STATUS_ACCESS_DENIED;
	if (target.file != SERVER_NONE && target.name != handle->name) {
		status = replace(server, &target, data.data[0] & 1);
		if (status)
			return status;
	}
	return move_name(server, handle->name, &target) ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
}

static uint32_t set_link(struct server_call *call, struct smb_blob data)
{
	const struct server_handle *handle = server_handle(call->server, call->handle);
	struct server_path target;
	uint32_t status = resolve_target(call, data, &target);

	if (status)
		return status;
	if (server_file(call->server, handle->file)->is_directory)
		return STATUS_FILE_IS_A_DIRECTORY;
	if (target.file == handle->file || target.file == SERVER_ROOT)
		return STATUS_OBJECT_NAME_COLLISION;
	if (target.file != SERVER_NONE)
		status = replace(call->server, &target, data.data[0] & 1);
	if (!status && server_name_add(call->server, target.parent, &target.last, handle->file) == SERVER_NONE)
		status = STATUS_INSUFFICIENT_RESOURCES;
	return status;
}

static uint32_t set_position(struct server_call *call, struct smb_blob data)
{
	if (data.length < 8)
		return STATUS_INFO_LENGTH_MISMATCH;
	server_handle(call->server, call->handle)->position = smb_get64(data.data);
	return STATUS_SUCCESS;
}

static uint32_t set_file(struct server_call *call, uint8_t class, struct smb_blob data)
{
	switch (class) {
	case 4:
		return set_basic(call, data);
	case 10:
		return set_rename(call, data);
	case 11:
		return set_link(call, data);
	case 13:
		return set_disposition(call, data, false);
	case 14:
		return set_position(call, data);
	case 19:
		return set_size(call, data, true);
	case 20:
		return set_size(call, data, false);
	case 64:
		return set_disposition(call, data, true);
	default:
		return STATUS_INVALID_INFO_CLASS;
	}
}

uint32_t server_set_info(struct server_call *call)
{
	const struct smb2_set_info_req *request = &call->request->body.set_info_req;
	uint32_t status;

	if (request->buffer.length > call->on->max_transact)
		return STATUS_INVALID_PARAMETER; /* MS-SMB2 3.3.5.21 */
	if (request->info_type == SMB2_O_INFO_FILE)
		status = set_file(call, request->file_info_class, request->buffer);
	else if (request->info_type == SMB2_O_INFO_SECURITY)
		status = STATUS_SUCCESS; /* descriptors are accepted and not kept */
	else
		status = STATUS_ACCESS_DENIED;
	if (!status)
		call->reply->kind = SMB2_BODY_EMPTY;
	return status;
}
