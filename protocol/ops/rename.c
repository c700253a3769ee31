/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rename (cifs inode.c, cifs_rename2). */
#include "protocol/ops/internal.h"

#define ACCESS_DELETE 0x10000u
#define OPTION_DELETE_ON_CLOSE 0x1000u
#define OPTION_OPEN_REPARSE_POINT 0x200000u

enum { TO_SOURCE, TO_TARGET, CHECK, CLOSE_TARGET, RENAME, UNLINK_TARGET };

static bool is_positive(const struct smb_ops *ops, uint32_t dentry)
{
	return ops_dentry(ops, dentry)->state == OPS_DENTRY_POSITIVE;
}

static void send_rename(struct smb_ops *ops, struct ops_task *task)
{
	struct ops_member *create;

	ops_chain_begin(ops);
	create = ops_add_create(ops, task->a, ACCESS_DELETE, 0);
	if (ops->config.policy.lease_key_reused && ops_dentry(ops, task->a)->was_leased)
		create->oplock = OPS_OPLOCK_KEY;
	ops_add(ops, OPS_SET_RENAME)->target = task->b;
	ops_add(ops, OPS_CLOSE);
	ops_send(ops, task);
}

static void walk(struct smb_ops *ops, struct ops_task *task, uint32_t path, uint16_t flags)
{
	ops_push_next(ops, task, task->step + 1);
	ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WALK, .a = path, .flags = flags });
}

static void check(struct smb_ops *ops, struct ops_task *task)
{
	if (is_positive(ops, task->b) && (task->flags & OPS_RENAME_NO_REPLACE)) {
		ops->name_existed = true;
		ops_fail(ops, SMB_OPS_EXISTS);
		return;
	}
	ops_push_next(ops, task, CLOSE_TARGET);
	ops_push(ops, (struct ops_task){ .kind = OPS_TASK_CLOSE_DEFERRED, .a = task->a });
}

/** RENAME: flags = OPS_RENAME_*; a = source, b = target once they are found. */
void ops_rename_run(struct smb_ops *ops, struct ops_task *task)
{
	switch (task->step) {
	case TO_SOURCE:
		ops->name_existed = false;
		walk(ops, task, OPS_SOURCE, 0);
		return;
	case TO_TARGET:
		if (!is_positive(ops, ops->found)) {
			ops_fail(ops, SMB_OPS_NOT_FOUND);
			return;
		}
		task->a = ops->found;
		walk(ops, task, OPS_TARGET, OPS_LOOKUP_RENAME);
		return;
	case CHECK:
		task->b = ops->found;
		check(ops, task);
		return;
	case CLOSE_TARGET:
		ops_push_next(ops, task, RENAME);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_CLOSE_DEFERRED, .a = task->b });
		return;
	case RENAME:
		send_rename(ops, task);
		return;
	default:
		break;
	}
	ops_chain_begin(ops);
	ops_add_create(ops, task->b, ACCESS_DELETE, OPTION_DELETE_ON_CLOSE | OPTION_OPEN_REPARSE_POINT);
	ops_add(ops, OPS_CLOSE);
	ops_send(ops, task);
}

void ops_rename_answer(struct smb_ops *ops, struct ops_task *task)
{
	uint32_t status = ops_chain_status(&ops->chain);
	enum smb_ops_error error = ops_error_of(status);

	if (task->step == UNLINK_TARGET)
		return; /* whether it went shows when the rename is tried again */
	if (!status) {
		ops_parent_expires(ops, task->a);
		ops_parent_expires(ops, task->b);
		ops_dentry_move(ops, task->a, task->b);
		return;
	}
	/* What the server does not replace is removed, then the rename is tried once more. */
	if ((error == SMB_OPS_EXISTS || error == SMB_OPS_ACCESS) && is_positive(ops, task->b) &&
	    !ops_dentry(ops, task->b)->is_directory && !(task->flags & OPS_RENAME_RETRIED)) {
		task->flags |= OPS_RENAME_RETRIED;
		ops_push_next(ops, task, RENAME);
		ops_push_next(ops, task, UNLINK_TARGET);
		return;
	}
	ops_fail(ops, error);
}
