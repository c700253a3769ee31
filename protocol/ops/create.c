/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* open, close and mkdir (cifs dir.c, file.c). */
#include "protocol/ops/internal.h"

#include <assert.h>

#define NS_PER_MS UINT64_C(1000000)
#define ACCESS_READ_ATTRIBUTES 0x80u
#define ACCESS_WRITE_ATTRIBUTES 0x100u
#define ACCESS_GENERIC_READ 0x80000000u
#define ACCESS_GENERIC_WRITE 0x40000000u
#define OPTION_DIRECTORY 0x01u
#define OPTION_NON_DIRECTORY 0x40u
#define ACTION_CREATED 2
enum { FILE_OPEN = 1, FILE_CREATE, FILE_OPEN_IF, FILE_OVERWRITE, FILE_OVERWRITE_IF };

/** cifs file.c, cifs_get_disposition. */
static uint8_t disposition_of(uint16_t flags)
{
	bool creates = flags & OPS_OPEN_CREATE;

	if (creates && (flags & OPS_OPEN_EXCLUSIVE))
		return FILE_CREATE;
	if (flags & OPS_OPEN_TRUNCATE)
		return creates ? FILE_OVERWRITE_IF : FILE_OVERWRITE;
	return creates ? FILE_OPEN_IF : FILE_OPEN;
}

static void open_found(struct smb_ops *ops, struct ops_task *task)
{
	const struct ops_dentry *dentry = ops_dentry(ops, ops->found);

	if (dentry->state == OPS_DENTRY_NEGATIVE) {
		ops_fail(ops, SMB_OPS_NOT_FOUND);
		return;
	}
	if (dentry->state == OPS_DENTRY_POSITIVE && (task->flags & OPS_OPEN_EXCLUSIVE)) {
		ops_fail(ops, SMB_OPS_EXISTS);
		return;
	}
	if (dentry->state == OPS_DENTRY_POSITIVE && dentry->is_directory) {
		ops->was_directory = true;
		ops_fail(ops, SMB_OPS_IS_A_DIRECTORY);
		return;
	}
	ops_push_next(ops, task, 2);
	ops_push(ops,
		 (struct ops_task){ .kind = OPS_TASK_OPEN_FILE, .flags = task->flags, .a = ops->found, .b = task->b });
}

/** OPEN: a = which path, b = descriptor, flags = OPS_OPEN_*. */
void ops_open_run(struct smb_ops *ops, struct ops_task *task)
{
	uint16_t lookup = OPS_LOOKUP_FOLLOW | (task->flags & OPS_OPEN_CREATE ? OPS_LOOKUP_OPEN : 0);
	const struct ops_file *file;

	switch (task->step) {
	case 0:
		ops->was_directory = false;
		ops_push_next(ops, task, 1);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WALK, .a = task->a, .flags = lookup });
		return;
	case 1:
		open_found(ops, task);
		return;
	default:
		break;
	}
	/* The VFS truncates what it did not create, though the server has done so already (namei.c, do_open). */
	file = ops_file(ops, ops->fds[task->b]);
	if (!(task->flags & OPS_OPEN_TRUNCATE) || file->was_created)
		return;
	ops->set_size = 0;
	ops_push(ops, (struct ops_task){ .kind = OPS_TASK_SETATTR,
					 .a = file->dentry,
					 .flags = OPS_SET_SIZE | OPS_SET_WRITE | OPS_SET_CHANGE });
}

/** A handle whose CLOSE was put off serves again, if it was opened in just this way (cifs 5.13, cifs_open). */
static bool reuse_deferred(struct smb_ops *ops, const struct ops_task *task)
{
	for (uint32_t i = 0; i < ops->limits.files; i++) {
		struct ops_file *file = ops_file(ops, i);

		if (file->state != OPS_FILE_DEFERRED || file->dentry != task->a || file->flags != task->flags ||
		    !(file->flags & OPS_OPEN_READ))
			continue;
		file->state = OPS_FILE_OPEN;
		ops->fds[task->b] = i;
		return true;
	}
	return false;
}

/** OPEN_FILE: a = dentry, b = descriptor, flags = OPS_OPEN_*. Never part of a chain. */
void ops_open_file_run(struct smb_ops *ops, struct ops_task *task)
{
	uint32_t access = ACCESS_READ_ATTRIBUTES;
	struct ops_member *member;
	uint32_t file;

	if (reuse_deferred(ops, task))
		return;
	file = ops_file_new(ops, task->a, task->flags);
	if (file == OPS_NONE) {
		ops_fail(ops, SMB_OPS_NO_SPACE);
		return;
	}
	if (task->flags & OPS_OPEN_READ)
		access |= ACCESS_GENERIC_READ;
	if (task->flags & OPS_OPEN_WRITE)
		access |= ACCESS_GENERIC_WRITE;
	ops_make_key(ops, task->a);
	ops_chain_begin(ops)->file = file;
	member = ops_add_create(ops, task->a, access, OPTION_NON_DIRECTORY);
	member->disposition = disposition_of(task->flags);
	member->oplock = OPS_OPLOCK_CACHE;
	if (ops->config.policy.file_number_asked)
		ops_add(ops, OPS_QUERY_NUMBER);
	ops_send_singly(ops, task);
}

void ops_open_file_answer(struct smb_ops *ops, struct ops_task *task)
{
	const struct ops_chain *chain = &ops->chain;
	struct ops_file *file = ops_file(ops, chain->file);
	uint32_t status = chain->status[0];

	if (!chain->is_open) {
		ops_note_closed(ops, chain->file);
		if (ops_error_of(status) == SMB_OPS_NOT_FOUND)
			ops_dentry_drop(ops, task->a);
		ops->was_directory = ops_error_of(status) == SMB_OPS_IS_A_DIRECTORY;
		ops_fail(ops, ops_error_of(status));
		return;
	}
	file->was_created = chain->action == ACTION_CREATED;
	ops_dentry_set_positive(ops, task->a, chain);
	ops_file_opened(ops, chain->file, chain);
	ops->fds[task->b] = chain->file;
}

static bool may_defer(const struct smb_ops *ops, const struct ops_dentry *dentry)
{
	uint8_t needed = OPS_CACHE_READ | OPS_CACHE_HANDLE;

	/* A lease, not an oplock: cifs 6.1, cifs_close, lease_granted. */
	return ops->config.policy.deferred_close_ms && ops->config.can_lease &&
	       ops->config.dialect >= SMB2_DIALECT_210 && (dentry->lease & needed) == needed;
}

static void send_close(struct smb_ops *ops, const struct ops_task *task, uint32_t file)
{
	ops_chain_begin(ops)->file = file;
	ops_add(ops, OPS_CLOSE)->length = 1;
	ops_send_singly(ops, task);
}

/** CLOSE: a = descriptor. What was written goes out first (cifs_flush). */
void ops_close_run(struct smb_ops *ops, struct ops_task *task)
{
	uint32_t index = ops->fds[task->a];
	const struct ops_dentry *dentry;
	struct ops_file *file;

	if (index == OPS_NONE)
		return;
	file = ops_file(ops, index);
	dentry = ops_dentry(ops, file->dentry);
	if (!task->step && dentry->dirty_start < dentry->dirty_end) {
		ops_push_next(ops, task, 1);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WRITEBACK, .a = file->dentry });
		return;
	}
	ops->fds[task->a] = OPS_NONE;
	if (may_defer(ops, dentry)) {
		file->state = OPS_FILE_DEFERRED;
		file->close_ns = ops->now_ns + ops->config.policy.deferred_close_ms * NS_PER_MS;
		return;
	}
	send_close(ops, task, index);
}

/** CLOSE_DEFERRED: a = dentry, before it is renamed or removed (cifs_close_deferred_file_under_dentry). */
void ops_close_deferred_run(struct smb_ops *ops, struct ops_task *task)
{
	uint32_t file = ops_deferred_file(ops, task->a);

	if (file == OPS_NONE)
		return;
	ops_push_next(ops, task, 0);
	ops_file(ops, file)->state = OPS_FILE_OPEN;
	send_close(ops, task, file);
}

void ops_close_answer(struct smb_ops *ops, struct ops_task *task)
{
	(void)task;
	ops_note_closed(ops, ops->chain.file);
}

/** MKDIR: a = which path. Afterwards the new directory is looked at (cifs_mkdir_qinfo). */
void ops_mkdir_run(struct smb_ops *ops, struct ops_task *task)
{
	if (!task->step) {
		ops_push_next(ops, task, 1);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WALK, .a = task->a, .flags = OPS_LOOKUP_CREATE });
		return;
	}
	if (ops_dentry(ops, ops->found)->state == OPS_DENTRY_POSITIVE) {
		ops_fail(ops, SMB_OPS_EXISTS);
		return;
	}
	ops_chain_begin(ops);
	ops_add_create(ops, ops->found, ACCESS_WRITE_ATTRIBUTES, OPTION_DIRECTORY)->disposition = FILE_CREATE;
	ops_add(ops, OPS_CLOSE);
	ops_send(ops, task);
}

void ops_mkdir_answer(struct smb_ops *ops, struct ops_task *task)
{
	uint32_t status = ops_chain_status(&ops->chain);

	(void)task;
	if (status) {
		ops_fail(ops, ops_error_of(status));
		return;
	}
	ops_parent_expires(ops, ops->found);
	ops_dentry(ops, ops->found)->state = OPS_DENTRY_UNKNOWN;
	ops_push(ops, (struct ops_task){ .kind = OPS_TASK_QUERY, .a = ops->found });
}
