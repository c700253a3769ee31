/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* READ, WRITE, FLUSH, LOCK (MS-SMB2 3.3.5.11 to 3.3.5.14). */

#include "sim/server/call.h"
#include "sim/server/files.h"

/* Data travels beside the bytes only behind the last member of a PDU, and as one slice. Otherwise the bytes
 * themselves are sent: a READ inside a chain, or across a border between two sources. */
static bool needs_bytes(const struct server_call *call, struct smb_slice slice, uint32_t length)
{
	return !call->is_last || slice.length < length;
}

static uint32_t read_as_bytes(struct server_call *call, uint64_t offset, uint32_t length)
{
	const struct server_handle *handle = server_handle(call->server, call->handle);
	uint32_t room = server_call_room(call);
	uint32_t count = length < room ? length : room;

	if (!count || !server_call_storage(call, false, count))
		return STATUS_INSUFFICIENT_RESOURCES;
	uint8_t *bytes = server_call_scratch(call, count);
	server_content_bytes(call->server, handle->file, offset, bytes, count);
	call->reply->kind = SMB2_BODY_READ_RSP;
	call->reply->body.read_rsp = (struct smb2_read_rsp){ .data_length = count,
							     .data = { .data = bytes, .length = count } };
	return STATUS_SUCCESS;
}

static uint32_t read_as_slice(struct server_call *call, struct smb_slice slice)
{
	if (!server_call_storage(call, false, slice.length))
		return STATUS_INSUFFICIENT_RESOURCES;
	if (call->is_single) {
		server_request(call->server, call->token)->data = slice;
		call->is_waiting = true;
		return STATUS_SUCCESS;
	}
	call->reply->kind = SMB2_BODY_READ_RSP;
	call->reply->body.read_rsp = (struct smb2_read_rsp){ .data_length = slice.length, .payload = slice };
	return STATUS_SUCCESS;
}

/* The content is that of the moment the request is executed (C27); the time the storage takes follows. */
uint32_t server_read(struct server_call *call)
{
	const struct smb2_read_req *request = &call->request->body.read_req;
	const struct server_handle *handle = server_handle(call->server, call->handle);
	const struct server_file *file = server_file(call->server, handle->file);
	uint32_t count = request->length;

	if (file->is_directory)
		return STATUS_INVALID_DEVICE_REQUEST;
	if (request->length > call->on->max_read)
		return STATUS_INVALID_PARAMETER; /* MS-SMB2 3.3.5.12 */
	if (!(handle->access & (SERVER_ACCESS_READ_DATA | SERVER_ACCESS_EXECUTE)))
		return STATUS_ACCESS_DENIED;
	if (request->offset >= file->size && (request->length || request->minimum_count))
		return STATUS_END_OF_FILE;
	if (!count) {
		call->reply->kind = SMB2_BODY_READ_RSP;
		call->reply->body.read_rsp = (struct smb2_read_rsp){ 0 };
		return STATUS_SUCCESS;
	}
	if (count > file->size - request->offset)
		count = (uint32_t)(file->size - request->offset);
	if (count < request->minimum_count)
		return STATUS_END_OF_FILE;
	struct smb_slice slice = server_content_slice(call->server, handle->file, request->offset, count);
	if (!needs_bytes(call, slice, count))
		return read_as_slice(call, slice);
	if (call->is_last && count > server_call_room(call))
		return read_as_slice(call, slice); /* short, up to the border: a server may do that */
	return read_as_bytes(call, request->offset, count);
}

/* Bytes that came in the PDU are not kept: they read back as a source that nobody can name. */
static struct smb_slice written_data(const struct smb2_write_req *request)
{
	if (request->payload.length)
		return request->payload;
	return (struct smb_slice){ .source = SMB_SERVER_SOURCE_UNKNOWN,
				   .offset = request->offset,
				   .length = request->data_length };
}

static uint32_t write_now(struct server_call *call)
{
	const struct smb2_write_req *request = &call->request->body.write_req;
	const struct server_handle *handle = server_handle(call->server, call->handle);
	struct server_file *file = server_file(call->server, handle->file);

	if (!server_content_can_write(call->server) || !server_call_storage(call, true, request->data_length))
		return STATUS_INSUFFICIENT_RESOURCES;
	server_content_write(call->server, handle->file, request->offset, written_data(request));
	file->write_time = file->change_time = server_filetime(call->server);
	return STATUS_SUCCESS;
}

uint32_t server_write(struct server_call *call)
{
	const struct smb2_write_req *request = &call->request->body.write_req;
	const struct server_handle *handle = server_handle(call->server, call->handle);
	uint32_t status = STATUS_SUCCESS;

	if (server_file(call->server, handle->file)->is_directory)
		return STATUS_INVALID_DEVICE_REQUEST;
	if (request->data_length > call->on->max_write || request->offset > (uint64_t)INT64_MAX - request->data_length)
		return STATUS_INVALID_PARAMETER; /* MS-SMB2 3.3.5.13 */
	if (!(handle->access & (SERVER_ACCESS_WRITE_DATA | SERVER_ACCESS_APPEND_DATA)))
		return STATUS_ACCESS_DENIED;
	if (request->data_length)
		status = write_now(call);
	if (status)
		return status;
	if (call->is_single && request->data_length) {
		server_request(call->server, call->token)->data = (struct smb_slice){ .length = request->data_length };
		call->is_waiting = true;
		return STATUS_SUCCESS;
	}
	call->reply->kind = SMB2_BODY_WRITE_RSP;
	call->reply->body.write_rsp = (struct smb2_write_rsp){ .count = request->data_length };
	return STATUS_SUCCESS;
}

uint32_t server_flush(struct server_call *call)
{
	call->reply->kind = SMB2_BODY_EMPTY;
	return STATUS_SUCCESS;
}

/* Granted to everybody: who has which lock is not kept. */
uint32_t server_lock(struct server_call *call)
{
	call->reply->kind = SMB2_BODY_EMPTY;
	return STATUS_SUCCESS;
}
