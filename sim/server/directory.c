/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* QUERY_DIRECTORY (MS-SMB2 3.3.5.18; structures of MS-FSCC 2.4): ".", "..", then the entries in order of creation. */

#include "protocol/wire/endian.h"
#include "sim/server/call.h"
#include "sim/server/files.h"

#include <string.h>

#define FLAG_RESTART_SCANS 0x01u
#define FLAG_RETURN_SINGLE_ENTRY 0x02u
#define FLAG_REOPEN 0x10u
#define NAMES_ONLY 12u /* FileNamesInformation */

/* Bytes before the name; 0 = not a class for directories. */
static uint32_t fixed_size(uint8_t class)
{
	switch (class) {
	case 1: /* FileDirectoryInformation */
		return 64;
	case 2: /* FileFullDirectoryInformation */
		return 68;
	case 3: /* FileBothDirectoryInformation */
		return 94;
	case NAMES_ONLY:
		return 12;
	case 37: /* FileIdBothDirectoryInformation */
		return 104;
	case 38: /* FileIdFullDirectoryInformation */
		return 80;
	default:
		return 0;
	}
}

/* The next entry of a scan. */
struct entry {
	const struct server_file *file;
	const uint16_t *text;
	uint32_t units;
};

static const uint16_t dots[] = { '.', '.' };

static uint32_t parent_of(const struct smb_server *server, uint32_t directory)
{
	uint32_t name = server_file(server, directory)->entry;

	return name == SERVER_NONE ? SERVER_ROOT : server_name(server, name)->parent;
}

static void scan_start(const struct smb_server *server, struct server_handle *handle)
{
	handle->scan = SERVER_SCAN_NAMES;
	handle->scan_found = false;
	handle->scan_entry = 0;
	handle->scan_name = server_file(server, handle->file)->first_name;
}

static bool dot_matches(uint32_t units, struct smb_blob pattern)
{
	struct server_name name = { .units = (uint16_t)units, .text = { '.', '.' } };

	return server_text_matches(&name, pattern);
}

/* What the scan returns next; it does not move. False: nothing is left. */
static bool scan_look(const struct smb_server *server, struct server_handle *handle, struct smb_blob pattern,
		      struct entry *entry)
{
	for (; handle->scan_entry < 2; handle->scan_entry++) {
		if (!dot_matches(handle->scan_entry + 1, pattern))
			continue;
		uint32_t file = handle->scan_entry ? parent_of(server, handle->file) : handle->file;
		*entry = (struct entry){ server_file(server, file), dots, handle->scan_entry + 1 };
		return true;
	}
	while (handle->scan_name != SERVER_NONE) {
		const struct server_name *name = server_name(server, handle->scan_name);
		if (server_text_matches(name, pattern)) {
			*entry = (struct entry){ server_file(server, name->file), name->text, name->units };
			return true;
		}
		handle->scan_name = name->after;
	}
	return false;
}

static void scan_step(const struct smb_server *server, struct server_handle *handle)
{
	if (handle->scan_entry < 2)
		handle->scan_entry++;
	else
		handle->scan_name = server_name(server, handle->scan_name)->after;
	handle->scan_found = true;
}

static void put_entry(uint8_t *bytes, uint8_t class, const struct entry *entry)
{
	uint32_t fixed = fixed_size(class);
	const struct server_file *file = entry->file;

	memset(bytes, 0, fixed);
	smb_put32(bytes + (class == NAMES_ONLY ? 8 : 60), 2 * entry->units);
	if (class != NAMES_ONLY) {
		smb_put64(bytes + 8, file->creation_time);
		smb_put64(bytes + 16, file->access_time);
		smb_put64(bytes + 24, file->write_time);
		smb_put64(bytes + 32, file->change_time);
		smb_put64(bytes + 40, file->size);
		smb_put64(bytes + 48, server_file_allocation(file));
		smb_put32(bytes + 56, file->attributes);
	}
	if (class == 37 || class == 38)
		smb_put64(bytes + fixed - 8, file->id);
	for (uint32_t i = 0; i < entry->units; i++)
		smb_put16(bytes + fixed + 2 * i, entry->text[i]);
}

/* Fill `room` bytes with as many entries as fit. Returns the bytes used; 0: not even one. */
static uint32_t fill(struct server_call *call, uint8_t *bytes, uint32_t room)
{
	const struct smb2_query_directory_req *request = &call->request->body.query_directory_req;
	struct server_handle *handle = server_handle(call->server, call->handle);
	uint32_t used = 0, last = 0;
	struct entry entry;

	while (scan_look(call->server, handle, request->pattern, &entry)) {
		uint32_t start = (used + 7) & ~7u;
		uint32_t size = fixed_size(request->information_class) + 2 * entry.units;
		if (start > room || size > room - start)
			break;
		memset(bytes + used, 0, start - used);
		put_entry(bytes + start, request->information_class, &entry);
		if (used)
			smb_put32(bytes + last, start - last);
		last = start;
		used = start + size;
		scan_step(call->server, handle);
		if (request->flags & FLAG_RETURN_SINGLE_ENTRY)
			break;
	}
	return used;
}

static uint32_t check_request(const struct server_call *call)
{
	const struct smb2_query_directory_req *request = &call->request->body.query_directory_req;
	const struct server_handle *handle = server_handle(call->server, call->handle);

	if (request->output_buffer_length > call->on->max_transact)
		return STATUS_INVALID_PARAMETER; /* MS-SMB2 3.3.5.18 */
	if (!server_file(call->server, handle->file)->is_directory)
		return STATUS_INVALID_PARAMETER;
	if (!fixed_size(request->information_class))
		return STATUS_INVALID_INFO_CLASS;
	if (!request->pattern.length)
		return STATUS_OBJECT_NAME_INVALID;
	if (!(handle->access & SERVER_ACCESS_READ_DATA))
		return STATUS_ACCESS_DENIED;
	return STATUS_SUCCESS;
}

uint32_t server_query_directory(struct server_call *call)
{
	const struct smb2_query_directory_req *request = &call->request->body.query_directory_req;
	struct server_handle *handle = server_handle(call->server, call->handle);
	uint32_t room = server_call_room(call);
	uint32_t status = check_request(call);
	struct entry entry;

	if (status)
		return status;
	if (handle->scan == SERVER_SCAN_START || (request->flags & (FLAG_RESTART_SCANS | FLAG_REOPEN)))
		scan_start(call->server, handle);
	if (!scan_look(call->server, handle, request->pattern, &entry))
		return handle->scan_found ? STATUS_NO_MORE_FILES : STATUS_NO_SUCH_FILE;
	if (room > request->output_buffer_length)
		room = request->output_buffer_length;
	uint8_t *bytes = server_call_scratch(call, room);
	uint32_t used = fill(call, bytes, room);
	if (!used)
		return STATUS_INFO_LENGTH_MISMATCH;
	call->reply->kind = SMB2_BODY_BUFFER_RSP;
	call->reply->body.buffer_rsp = (struct smb2_buffer_rsp){ { bytes, used } };
	return STATUS_SUCCESS;
}
