/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of shell commands in canonical form: times as ages, command serials as ages, nothing of what is free. */
#include "protocol/ops/internal.h"
#include "protocol/wire/encoder.h"

#define NS_PER_MS UINT64_C(1000000)
#define NEGATIVE_LIVES_MS 1000u /* lookup.c: negative names are good for a second */

/** How old; all ages at which nothing counts any more are one. */
static void put_age(struct smb_encoder *encoder, const struct smb_ops *ops, uint64_t now_ns, uint64_t then_ns)
{
	uint32_t lives_ms = ops->config.actimeo_ms > NEGATIVE_LIVES_MS ? ops->config.actimeo_ms : NEGATIVE_LIVES_MS;
	uint64_t old_ns = (lives_ms + 1) * NS_PER_MS;
	uint64_t age_ns = now_ns - then_ns;

	smb_encode64(encoder, age_ns < old_ns ? age_ns : old_ns);
}

static void put_dentry(struct smb_encoder *encoder, const struct smb_ops *ops, uint64_t now_ns, uint32_t i)
{
	const struct ops_dentry *dentry = ops_dentry(ops, i);

	smb_encode8(encoder, dentry->state);
	if (dentry->state == OPS_DENTRY_FREE)
		return;
	smb_encode32(encoder, dentry->parent);
	smb_encode32(encoder, ops->serial - dentry->used);
	smb_encode8(encoder, dentry->listing == ops->serial);
	smb_encode8(encoder, dentry->is_directory | dentry->attributes_hold << 1 | dentry->was_leased << 2 |
				     dentry->has_key << 3 | dentry->pages_hold << 4);
	smb_encode8(encoder, dentry->lease);
	smb_encode8(encoder, dentry->length);
	smb_encode_bytes(encoder, dentry->name, dentry->length);
	if (dentry->has_key)
		smb_encode_bytes(encoder, dentry->lease_key, sizeof(dentry->lease_key));
	smb_encode32(encoder, dentry->attributes);
	smb_encode32(encoder, dentry->links);
	smb_encode32(encoder, dentry->open_files);
	smb_encode64(encoder, dentry->file_number);
	smb_encode64(encoder, dentry->size);
	if (dentry->attributes_hold)
		put_age(encoder, ops, now_ns, dentry->attributes_ns);
	/* it counts when the name is gone, and the root never is; a name not looked up yet gets its time then */
	if (i != OPS_ROOT && dentry->state != OPS_DENTRY_UNKNOWN)
		put_age(encoder, ops, now_ns, dentry->looked_up_ns);
	smb_encode64(encoder, dentry->dirty_start);
	smb_encode64(encoder, dentry->dirty_end);
}

static void put_file(struct smb_encoder *encoder, const struct smb_ops *ops, uint64_t now_ns, uint32_t i)
{
	const struct ops_file *file = ops_file(ops, i);

	smb_encode8(encoder, file->state);
	if (file->state == OPS_FILE_FREE)
		return;
	smb_encode8(encoder, file->is_directory | file->was_created << 1);
	smb_encode16(encoder, file->flags);
	smb_encode32(encoder, file->dentry);
	smb_encode64(encoder, file->id.persistent);
	smb_encode64(encoder, file->id.volatile_id);
	if (file->state == OPS_FILE_DEFERRED)
		smb_encode64(encoder, file->close_ns > now_ns ? file->close_ns - now_ns : 0);
}

static void put_member(struct smb_encoder *encoder, const struct ops_member *member)
{
	smb_encode8(encoder, member->kind);
	smb_encode8(encoder, member->oplock);
	smb_encode8(encoder, member->disposition);
	smb_encode8(encoder, member->is_io);
	smb_encode8(encoder, member->set);
	smb_encode32(encoder, member->dentry);
	smb_encode32(encoder, member->target);
	smb_encode32(encoder, member->access);
	smb_encode32(encoder, member->options);
	smb_encode32(encoder, member->attributes);
	smb_encode64(encoder, member->offset);
	smb_encode32(encoder, member->length);
}

static void put_chain(struct smb_encoder *encoder, const struct ops_chain *chain)
{
	smb_encode8(encoder,
		    chain->under_way | chain->one_by_one << 1 | chain->is_open << 2 | chain->is_directory << 3);
	smb_encode32(encoder, chain->count);
	smb_encode32(encoder, chain->sent);
	smb_encode32(encoder, chain->first);
	smb_encode32(encoder, chain->answered);
	smb_encode32(encoder, chain->file);
	for (uint32_t i = 0; i < chain->count; i++) {
		put_member(encoder, &chain->members[i]);
		smb_encode8(encoder, chain->done[i]);
		smb_encode32(encoder, chain->done[i] ? chain->status[i] : 0);
	}
	smb_encode64(encoder, chain->id.persistent);
	smb_encode64(encoder, chain->id.volatile_id);
	smb_encode32(encoder, chain->attributes);
	smb_encode32(encoder, chain->links);
	smb_encode32(encoder, chain->lease);
	smb_encode32(encoder, chain->action);
	smb_encode64(encoder, chain->size);
	smb_encode64(encoder, chain->file_number);
	smb_encode32(encoder, chain->moved);
	smb_encode32(encoder, chain->entries);
}

static void put_task(struct smb_encoder *encoder, const struct ops_task *task)
{
	smb_encode8(encoder, task->kind);
	smb_encode8(encoder, task->step);
	smb_encode16(encoder, task->flags);
	smb_encode32(encoder, task->a);
	smb_encode32(encoder, task->b);
}

static void put_command(struct smb_encoder *encoder, const struct smb_ops *ops)
{
	const struct smb_ops_command *command = &ops->command;

	smb_encode8(encoder, command->kind);
	smb_encode_bytes(encoder, command->source, strlen(command->source) + 1);
	smb_encode_bytes(encoder, command->target, strlen(command->target) + 1);
	smb_encode64(encoder, command->bytes);
	smb_encode32(encoder, command->mode);
	smb_encode32(encoder, ops->depth);
	for (uint32_t i = 0; i < ops->depth; i++)
		put_task(encoder, &ops->tasks[i]);
	put_task(encoder, &ops->sender);
	put_chain(encoder, &ops->chain);
	smb_encode8(encoder, ops->error);
	smb_encode8(encoder, ops->verdict);
	smb_encode8(encoder,
		    ops->target_entered | ops->target_found << 1 | ops->name_existed << 2 | ops->was_directory << 3);
	smb_encode32(encoder, ops->found);
	for (uint32_t i = 0; i < OPS_FDS_MAX; i++)
		smb_encode32(encoder, ops->fds[i]);
	smb_encode32(encoder, ops->listing.file);
	smb_encode8(encoder, ops->listing.is_over);
	smb_encode32(encoder, ops->listing.buffer_used);
	smb_encode64(encoder, ops->position);
	smb_encode64(encoder, ops->set_size);
	smb_encode32(encoder, ops->listed);
	smb_encode64(encoder, ops->bytes_read);
	smb_encode64(encoder, ops->bytes_written);
}

size_t smb_ops_encode(const struct smb_ops *ops, uint64_t now_ns, uint8_t *buffer, size_t size)
{
	struct smb_encoder encoder = { buffer, size, 0 };

	smb_encode32(&encoder, ops->config.rsize);
	smb_encode32(&encoder, ops->config.wsize);
	smb_encode32(&encoder, ops->leases);
	for (uint32_t i = 0; i < ops->limits.dentries; i++)
		put_dentry(&encoder, ops, now_ns, i);
	for (uint32_t i = 0; i < ops->limits.files; i++)
		put_file(&encoder, ops, now_ns, i);
	smb_encode8(&encoder, ops->busy);
	if (ops->busy)
		put_command(&encoder, ops);
	return smb_encoder_length(&encoder);
}
