/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the answer to each kind of request tells. */
#include "protocol/ops/internal.h"
#include "protocol/wire/contexts.h"

#include <assert.h>
#include <string.h>

#define OPLOCK_LEVEL_II 0x01
#define OPLOCK_EXCLUSIVE 0x08
#define OPLOCK_BATCH 0x09
#define ALL_INFORMATION_FIXED 72u /* bytes of FileAllInformation up to the file's number (MS-FSCC 2.4.2) */

static uint64_t get(const uint8_t *p, uint32_t bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

/** What may be cached while the file is open, in the words of a lease. */
static uint32_t caching_of(const struct smb2_create_rsp *rsp)
{
	const struct smb2_context *context = smb2_create_context_find(rsp->contexts, rsp->context_count, "RqLs");
	struct smb2_lease lease;

	switch (rsp->oplock_level) {
	case SMB2_OPLOCK_LEVEL_LEASE:
		if (context && smb2_lease_read(context, &lease) == SMB_WIRE_OK)
			return lease.state & (OPS_CACHE_READ | OPS_CACHE_HANDLE | OPS_CACHE_WRITE);
		return 0;
	case OPLOCK_BATCH:
		return OPS_CACHE_READ | OPS_CACHE_HANDLE | OPS_CACHE_WRITE;
	case OPLOCK_EXCLUSIVE:
		return OPS_CACHE_READ | OPS_CACHE_WRITE;
	case OPLOCK_LEVEL_II:
		return OPS_CACHE_READ;
	default:
		return 0;
	}
}

static void note_create(struct smb_ops *ops, const struct smb2_create_rsp *rsp)
{
	const struct smb2_context *disk = smb2_create_context_find(rsp->contexts, rsp->context_count, "QFid");
	struct ops_chain *chain = &ops->chain;
	uint64_t volume;

	chain->is_open = true;
	chain->id = rsp->file_id;
	if (chain->file != OPS_NONE)
		ops_file(ops, chain->file)->id = rsp->file_id;
	chain->attributes = rsp->file_attributes;
	chain->is_directory = rsp->file_attributes & OPS_ATTRIBUTE_DIRECTORY;
	chain->size = rsp->end_of_file;
	chain->action = rsp->create_action;
	chain->lease = caching_of(rsp);
	if (!disk || smb2_disk_id_read(disk, &chain->file_number, &volume) != SMB_WIRE_OK)
		chain->file_number = 0;
}

static void note_all(struct ops_chain *chain, const uint8_t *p)
{
	chain->attributes = (uint32_t)get(p + 32, 4);
	chain->size = get(p + 48, 8);
	chain->links = (uint32_t)get(p + 56, 4);
	chain->is_directory = p[61] || (chain->attributes & OPS_ATTRIBUTE_DIRECTORY);
	chain->file_number = get(p + 64, 8);
}

static void note_close(struct smb_ops *ops, const struct smb2_close_rsp *rsp)
{
	struct ops_dentry *dentry;

	if (ops->chain.file == OPS_NONE || !(rsp->flags & 1))
		return;
	/* cifs 6.1, smb2_close_getattr. */
	dentry = ops_dentry(ops, ops_file(ops, ops->chain.file)->dentry);
	dentry->size = rsp->end_of_file;
	dentry->attributes_hold = true;
	dentry->attributes_ns = ops->now_ns;
}

bool ops_answer_fits(enum ops_member_kind kind, const struct smb2_message *message)
{
	switch (kind) {
	case OPS_CREATE:
		return message->kind == SMB2_BODY_CREATE_RSP;
	case OPS_CLOSE:
		return message->kind == SMB2_BODY_CLOSE_RSP;
	case OPS_QUERY_ALL:
		return message->kind == SMB2_BODY_BUFFER_RSP &&
		       message->body.buffer_rsp.buffer.length >= ALL_INFORMATION_FIXED;
	case OPS_QUERY_NUMBER:
	case OPS_QUERY_FS_SIZE:
	case OPS_QUERY_DIRECTORY:
		return message->kind == SMB2_BODY_BUFFER_RSP;
	case OPS_SET_REPARSE:
		return message->kind == SMB2_BODY_IOCTL_RSP;
	case OPS_READ:
		return message->kind == SMB2_BODY_READ_RSP;
	case OPS_WRITE:
	case OPS_WRITE_LINK:
		return message->kind == SMB2_BODY_WRITE_RSP;
	default:
		return true;
	}
}

void ops_note(struct smb_ops *ops, uint32_t index, const struct smb2_message *message)
{
	struct ops_chain *chain = &ops->chain;
	const struct ops_member *member = &chain->members[index];

	switch (message->kind) {
	case SMB2_BODY_CREATE_RSP:
		note_create(ops, &message->body.create_rsp);
		break;
	case SMB2_BODY_CLOSE_RSP:
		note_close(ops, &message->body.close_rsp);
		chain->is_open = false;
		break;
	case SMB2_BODY_BUFFER_RSP:
		if (member->kind == OPS_QUERY_ALL && message->body.buffer_rsp.buffer.length >= ALL_INFORMATION_FIXED)
			note_all(chain, message->body.buffer_rsp.buffer.data);
		if (member->kind == OPS_QUERY_NUMBER && message->body.buffer_rsp.buffer.length >= 8)
			chain->file_number = get(message->body.buffer_rsp.buffer.data, 8);
		if (member->kind == OPS_QUERY_DIRECTORY)
			ops_note_entries(ops, message->body.buffer_rsp.buffer);
		break;
	case SMB2_BODY_READ_RSP:
		chain->moved = message->body.read_rsp.data_length;
		break;
	case SMB2_BODY_WRITE_RSP:
		chain->moved = message->body.write_rsp.count;
		break;
	default:
		break;
	}
}
