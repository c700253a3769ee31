/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* QUERY_INFO (MS-SMB2 3.3.5.20; structures of MS-FSCC 2.4 and 2.5). */

#include "protocol/wire/endian.h"
#include "sim/server/call.h"
#include "sim/server/files.h"

#include <string.h>

#define CLUSTER 4096u
#define VOLUME_CLUSTERS (UINT64_C(1) << 28) /* 1 TiB */
#define VOLUME_CLUSTERS_FREE (VOLUME_CLUSTERS / 2)
#define INFO_MAX 1024u

struct smb2_file_times server_file_times(const struct server_file *file)
{
	return (struct smb2_file_times){ file->creation_time, file->access_time, file->write_time, file->change_time };
}

uint64_t server_file_allocation(const struct server_file *file)
{
	return (file->size + CLUSTER - 1) / CLUSTER * CLUSTER;
}

/* A structure being written. `fixed` is what the client must have room for at least. */
struct info {
	uint8_t *bytes;
	uint32_t used;
	uint32_t fixed;
};

static void add32(struct info *info, uint32_t value)
{
	smb_put32(info->bytes + info->used, value);
	info->used += 4;
}

static void add64(struct info *info, uint64_t value)
{
	smb_put64(info->bytes + info->used, value);
	info->used += 8;
}

static void add_ascii(struct info *info, const char *text)
{
	for (; *text; text++, info->used += 2)
		smb_put16(info->bytes + info->used, (uint8_t)*text);
}

static void add_times(struct info *info, const struct server_file *file)
{
	add64(info, file->creation_time);
	add64(info, file->access_time);
	add64(info, file->write_time);
	add64(info, file->change_time);
}

static void add_basic(struct info *info, const struct server_file *file)
{
	add_times(info, file);
	add32(info, file->attributes);
	add32(info, 0);
}

static void add_standard(struct info *info, const struct server_file *file)
{
	add64(info, server_file_allocation(file));
	add64(info, file->size);
	add32(info, file->links);
	add32(info, (uint32_t)file->delete_pending | (uint32_t)file->is_directory << 8);
}

static void add_name(struct info *info, const struct smb_server *server, const struct server_handle *handle)
{
	uint32_t length_at = info->used;

	add32(info, 0);
	uint32_t length = server_path_print(server, handle->name, info->bytes + info->used, INFO_MAX - info->used);
	smb_put32(info->bytes + length_at, length);
	info->used += length;
}

static void add_all(struct info *info, const struct smb_server *server, const struct server_handle *handle)
{
	const struct server_file *file = server_file(server, handle->file);

	add_basic(info, file);
	add_standard(info, file);
	add64(info, file->id);
	add32(info, 0); /* extended attributes */
	add32(info, handle->access);
	add64(info, handle->position);
	add32(info, handle->mode);
	add32(info, 0); /* alignment */
	info->fixed = info->used + 4;
	add_name(info, server, handle);
}

static void add_network_open(struct info *info, const struct server_file *file)
{
	add_times(info, file);
	add64(info, server_file_allocation(file));
	add64(info, file->size);
	add32(info, file->attributes);
	add32(info, 0);
}

static void add_stream(struct info *info, const struct server_file *file)
{
	if (file->is_directory)
		return;
	add32(info, 0);
	add32(info, 14);
	add64(info, file->size);
	add64(info, server_file_allocation(file));
	info->fixed = info->used;
	add_ascii(info, "::$DATA");
}

static uint32_t file_info(struct info *info, struct server_call *call, uint8_t class)
{
	const struct server_handle *handle = server_handle(call->server, call->handle);
	const struct server_file *file = server_file(call->server, handle->file);

	switch (class) {
	case 4:
		add_basic(info, file);
		break;
	case 5:
		add_standard(info, file);
		break;
	case 6:
		add64(info, file->id);
		break;
	case 7: /* extended attributes */
	case 17: /* alignment */
		add32(info, 0);
		break;
	case 8:
		add32(info, handle->access);
		break;
	case 14:
		add64(info, handle->position);
		break;
	case 16:
		add32(info, handle->mode);
		break;
	case 18:
		add_all(info, call->server, handle);
		break;
	case 22:
		add_stream(info, file);
		break;
	case 34:
		add_network_open(info, file);
		break;
	case 35: /* attributes and reparse tag */
		add32(info, file->attributes);
		add32(info, 0);
		break;
	case 48: /* normalized name */
		info->fixed = 4;
		add_name(info, call->server, handle);
		break;
	default:
		return STATUS_INVALID_INFO_CLASS;
	}
	return STATUS_SUCCESS;
}

static void add_volume(struct info *info, const struct smb_server *server)
{
	add64(info, SERVER_EPOCH_FILETIME);
	add32(info, 0x534d424c); /* serial number */
	add32(info, 2 * (uint32_t)strlen(server->share));
	smb_put16(info->bytes + info->used, 0); /* no object ids */
	info->used += 2;
	info->fixed = info->used;
	add_ascii(info, server->share);
}

static void add_size(struct info *info, bool is_full)
{
	add64(info, VOLUME_CLUSTERS);
	add64(info, VOLUME_CLUSTERS_FREE);
	if (is_full)
		add64(info, VOLUME_CLUSTERS_FREE);
	add32(info, CLUSTER / 512);
	add32(info, 512);
}

static void add_attribute(struct info *info)
{
	add32(info, 0x0001006f); /* as Samba 4.17 */
	add32(info, 255);
	add32(info, 8);
	info->fixed = info->used;
	add_ascii(info, "NTFS");
}

static void add_sector_size(struct info *info)
{
	for (int i = 0; i < 4; i++)
		add32(info, 512);
	add32(info, 3);
	add32(info, 0);
	add32(info, 0);
}

static uint32_t file_system_info(struct info *info, const struct smb_server *server, uint8_t class)
{
	switch (class) {
	case 1:
		add_volume(info, server);
		break;
	case 3:
	case 7:
		add_size(info, class == 7);
		break;
	case 4: /* device: a disk, mounted */
		add32(info, 7);
		add32(info, 0x20);
		break;
	case 5:
		add_attribute(info);
		break;
	case 11:
		add_sector_size(info);
		break;
	default:
		return STATUS_INVALID_INFO_CLASS;
	}
	return STATUS_SUCCESS;
}

/* A descriptor that says nothing: self-relative, no owner, no list (MS-DTYP 2.4.6). */
static uint32_t security_info(struct info *info)
{
	add32(info, 0x80000001);
	for (int i = 0; i < 4; i++)
		add32(info, 0);
	return STATUS_SUCCESS;
}

uint32_t server_query_info(struct server_call *call)
{
	const struct smb2_query_info_req *request = &call->request->body.query_info_req;
	uint32_t status = STATUS_INVALID_PARAMETER;

	if (request->output_buffer_length > call->on->max_transact)
		return STATUS_INVALID_PARAMETER; /* MS-SMB2 3.3.5.20 */
	if (server_call_room(call) < INFO_MAX)
		return STATUS_INSUFFICIENT_RESOURCES;
	struct info info = { .bytes = server_call_scratch(call, INFO_MAX) };
	if (request->info_type == SMB2_O_INFO_FILE)
		status = file_info(&info, call, request->file_info_class);
	else if (request->info_type == SMB2_O_INFO_FILESYSTEM)
		status = file_system_info(&info, call->server, request->file_info_class);
	else if (request->info_type == SMB2_O_INFO_SECURITY)
		status = security_info(&info);
	if (status)
		return status;
	if (!info.fixed)
		info.fixed = info.used;
	if (request->output_buffer_length < info.fixed)
		return STATUS_INFO_LENGTH_MISMATCH;
	if (info.used > request->output_buffer_length) {
		info.used = request->output_buffer_length;
		status = STATUS_BUFFER_OVERFLOW;
	}
	call->reply->kind = SMB2_BODY_BUFFER_RSP;
	call->reply->body.buffer_rsp = (struct smb2_buffer_rsp){ { info.bytes, info.used } };
	return status;
}
