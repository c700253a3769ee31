/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* unlink and rmdir (cifs inode.c). */
#include "protocol/ops/internal.h"

#define ACCESS_DELETE 0x10000u
#define OPTION_DIRECTORY 0x01u
#define OPTION_DELETE_ON_CLOSE 0x1000u
#define OPTION_OPEN_REPARSE_POINT 0x200000u

/** Walk to the name that is to go; false: not there yet, or it failed. */
static bool walk_to(struct smb_ops *ops, struct ops_task *task, bool wants_directory)
{
	const struct ops_dentry *dentry;

	if (!task->step) {
		ops_push_next(ops, task, 1);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WALK, .a = task->a });
		return false;
	}
	dentry = ops_dentry(ops, ops->found);
	if (dentry->state != OPS_DENTRY_POSITIVE)
		ops_fail(ops, SMB_OPS_NOT_FOUND);
	else if (dentry->is_directory != wants_directory)
		ops_fail(ops, wants_directory ? SMB_OPS_NOT_A_DIRECTORY : SMB_OPS_IS_A_DIRECTORY);
	else
		return true;
	return false;
}

static void removed(struct smb_ops *ops)
{
	uint32_t status = ops_chain_status(&ops->chain);

	if (status && ops_error_of(status) != SMB_OPS_NOT_FOUND) {
		ops_fail(ops, ops_error_of(status));
		return;
	}
	ops_parent_expires(ops, ops->found);
	ops_dentry_set_negative(ops, ops->found);
	if (status)
		ops_fail(ops, SMB_OPS_NOT_FOUND);
}

/** UNLINK: a = which path. */
void ops_unlink_run(struct smb_ops *ops, struct ops_task *task)
{
	struct ops_member *create;

	if (task->step < 2) {
		if (!walk_to(ops, task, false))
			return;
		ops_push_next(ops, task, 2);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_CLOSE_DEFERRED, .a = ops->found });
		return;
	}
	ops_chain_begin(ops);
	create = ops_add_create(ops, ops->found, ACCESS_DELETE, OPTION_DELETE_ON_CLOSE | OPTION_OPEN_REPARSE_POINT);
	if (ops->config.policy.lease_key_reused && ops_dentry(ops, ops->found)->was_leased)
		create->oplock = OPS_OPLOCK_KEY;
	ops_add(ops, OPS_CLOSE);
	ops_send(ops, task);
}

void ops_unlink_answer(struct smb_ops *ops, struct ops_task *task)
{
	(void)task;
	removed(ops);
}

/** RMDIR: a = which path. Deletes by disposition, so that a directory that is not empty is refused. */
void ops_rmdir_run(struct smb_ops *ops, struct ops_task *task)
{
	if (!walk_to(ops, task, true))
		return;
	ops_chain_begin(ops);
	ops_add_create(ops, ops->found, ACCESS_DELETE, OPTION_DIRECTORY);
	ops_add(ops, OPS_SET_DISPOSITION);
	ops_add(ops, OPS_CLOSE);
	ops_send(ops, task);
}

void ops_rmdir_answer(struct smb_ops *ops, struct ops_task *task)
{
	(void)task;
	removed(ops);
}
