/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times, mode and size (cifs inode.c, cifs_setattr_nounix); statfs. */
#include "protocol/ops/internal.h"

#define ACCESS_WRITE_DATA 0x02u
#define ACCESS_READ_ATTRIBUTES 0x80u
#define ACCESS_WRITE_ATTRIBUTES 0x100u
#define MODE_WRITE_ALL 0222u

/** UTIMENS: a = descriptor; one that is not open stands for the source's path (touch of a directory). */
void ops_utimens_run(struct smb_ops *ops, struct ops_task *task)
{
	uint16_t all = OPS_SET_ACCESS | OPS_SET_WRITE | OPS_SET_CHANGE;
	uint32_t file = ops->fds[task->a];

	if (file == OPS_NONE && !task->step) {
		ops_push_next(ops, task, 1);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WALK, .a = OPS_SOURCE, .flags = OPS_LOOKUP_FOLLOW });
		return;
	}
	if (file != OPS_NONE)
		ops->found = ops_file(ops, file)->dentry;
	if (ops_dentry(ops, ops->found)->state != OPS_DENTRY_POSITIVE) {
		ops_fail(ops, SMB_OPS_NOT_FOUND);
		return;
	}
	ops_push(ops, (struct ops_task){ .kind = OPS_TASK_SETATTR, .a = ops->found, .flags = all });
}

/** What chmod makes of the read-only attribute; false: nothing that the server would know. */
static bool readonly_after(const struct smb_ops *ops, const struct ops_dentry *dentry, bool *readonly)
{
	uint32_t mode = ops->command.mode;
	bool is_readonly = dentry->attributes & OPS_ATTRIBUTE_READONLY;

	if (mode & SMB_OPS_MODE_OTHER)
		return false;
	*readonly = mode & SMB_OPS_MODE_NO_WRITE || !(mode & (SMB_OPS_MODE_WRITE | MODE_WRITE_ALL));
	return *readonly || is_readonly;
}

/** CHMOD: a = which path. */
void ops_chmod_run(struct smb_ops *ops, struct ops_task *task)
{
	const struct ops_dentry *dentry;
	bool readonly;

	if (!task->step) {
		ops_push_next(ops, task, 1);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WALK, .a = task->a, .flags = OPS_LOOKUP_FOLLOW });
		return;
	}
	dentry = ops_dentry(ops, ops->found);
	if (dentry->state != OPS_DENTRY_POSITIVE) {
		ops_fail(ops, SMB_OPS_NOT_FOUND);
		return;
	}
	if (readonly_after(ops, dentry, &readonly))
		ops_push(ops,
			 (struct ops_task){
				 .kind = OPS_TASK_SETATTR, .a = ops->found, .b = readonly, .flags = OPS_SET_MODE });
}

/** FTRUNCATE: a = descriptor, to the command's size. */
void ops_ftruncate_run(struct smb_ops *ops, struct ops_task *task)
{
	ops->set_size = ops->command.bytes;
	ops_push(ops, (struct ops_task){ .kind = OPS_TASK_SETATTR,
					 .a = ops_file(ops, ops->fds[task->a])->dentry,
					 .flags = OPS_SET_SIZE | OPS_SET_WRITE | OPS_SET_CHANGE });
}

enum { WRITE_BACK, FLUSH, SIZE, INFO };

static bool wants_flush(const struct smb_ops *ops, const struct ops_task *task)
{
	return (task->flags & OPS_SET_WRITE) && ops->config.policy.flush_before_times && !ops->config.nostrictsync;
}

static uint32_t new_attributes(const struct smb_ops *ops, const struct ops_task *task)
{
	uint32_t attributes = ops_dentry(ops, task->a)->attributes;

	if (!(task->flags & OPS_SET_MODE))
		return 0; /* left alone */
	attributes = task->b ? attributes | OPS_ATTRIBUTE_READONLY : attributes & ~OPS_ATTRIBUTE_READONLY;
	return attributes ? attributes : OPS_ATTRIBUTE_NORMAL;
}

/** SET_INFO on an open handle, or between a CREATE and a CLOSE of its own. */
static struct ops_member *add_set_info(struct smb_ops *ops, const struct ops_task *task, enum ops_member_kind kind,
				       uint32_t file)
{
	struct ops_member *member;

	ops_chain_begin(ops)->file = file;
	if (file == OPS_NONE)
		ops_add_create(ops, task->a, kind == OPS_SET_EOF ? ACCESS_WRITE_DATA : ACCESS_WRITE_ATTRIBUTES, 0);
	member = ops_add(ops, kind);
	if (file == OPS_NONE)
		ops_add(ops, OPS_CLOSE);
	ops_send(ops, task);
	return member;
}

static void set_info(struct smb_ops *ops, struct ops_task *task)
{
	uint32_t file = ops->config.policy.set_info_on_handle ? ops_writable_file(ops, task->a) : OPS_NONE;
	struct ops_member *member = add_set_info(ops, task, OPS_SET_BASIC, file);

	member->set = (uint8_t)task->flags;
	member->attributes = new_attributes(ops, task);
}

/** SETATTR: a = dentry, flags = OPS_SET_*, b = 1: becomes read-only; the size is ops->set_size. */
void ops_setattr_run(struct smb_ops *ops, struct ops_task *task)
{
	const struct ops_dentry *dentry = ops_dentry(ops, task->a);
	uint32_t file = ops_writable_file(ops, task->a);

	if (task->step < INFO)
		ops_push_next(ops, task, task->step + 1);
	switch (task->step) {
	case WRITE_BACK:
		if (dentry->dirty_start < dentry->dirty_end)
			ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WRITEBACK, .a = task->a });
		return;
	case FLUSH:
		if (!wants_flush(ops, task) || file == OPS_NONE)
			return;
		ops_chain_begin(ops)->file = file;
		ops_add(ops, OPS_FLUSH);
		ops_send_singly(ops, task);
		return;
	case SIZE:
		if (task->flags & OPS_SET_SIZE)
			add_set_info(ops, task, OPS_SET_EOF, file)->offset = ops->set_size;
		return;
	default:
		set_info(ops, task);
		return;
	}
}

void ops_setattr_answer(struct smb_ops *ops, struct ops_task *task)
{
	struct ops_dentry *dentry = ops_dentry(ops, task->a);
	uint32_t status = ops_chain_status(&ops->chain);

	if (status) {
		ops_fail(ops, ops_error_of(status));
		return;
	}
	if (task->step == SIZE) {
		dentry->size = ops->set_size;
		if (ops->config.policy.truncate_expires)
			dentry->attributes_hold = false; /* cifs_setsize */
	}
	if (task->step == INFO && (task->flags & OPS_SET_MODE))
		dentry->attributes = new_attributes(ops, task);
}

/** STATFS: a = which path. What is asked is always the share's root (smb2_queryfs). */
void ops_statfs_run(struct smb_ops *ops, struct ops_task *task)
{
	if (!task->step) {
		ops_push_next(ops, task, 1);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WALK, .a = task->a, .flags = OPS_LOOKUP_FOLLOW });
		return;
	}
	if (ops_dentry(ops, ops->found)->state != OPS_DENTRY_POSITIVE) {
		ops_fail(ops, SMB_OPS_NOT_FOUND);
		return;
	}
	ops_chain_begin(ops);
	ops_add_create(ops, OPS_ROOT, ACCESS_READ_ATTRIBUTES, 0);
	ops_add(ops, OPS_QUERY_FS_SIZE);
	ops_add(ops, OPS_CLOSE);
	ops_send(ops, task);
}
