/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a path to a name: walk, lookup, and asking for attributes (VFS namei.c; cifs dir.c, inode.c). */
#include "protocol/ops/internal.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define ACCESS_READ_ATTRIBUTES 0x80u
#define ACCESS_GENERIC_READ 0x80000000u
#define OPTION_NON_DIRECTORY 0x40u

static const char *path_of(const struct smb_ops *ops, uint32_t which)
{
	switch (which) {
	case OPS_SOURCE:
		return ops->command.source;
	case OPS_TARGET:
		return ops->command.target;
	default:
		return "";
	}
}

/** WALK: a = which path, b = bytes of it that are walked, flags = OPS_LOOKUP_* of the last name. The dentry that was
 *  reached so far is ops->found, except at step 0. */
void ops_walk_run(struct smb_ops *ops, struct ops_task *task)
{
	const char *path = path_of(ops, task->a) + task->b;
	size_t length = strcspn(path, "/");
	const struct ops_dentry *at;
	uint32_t child;
	uint16_t flags;

	if (!task->step)
		ops->found = OPS_ROOT;
	if (!length)
		return;
	at = ops_dentry(ops, ops->found);
	if (at->state != OPS_DENTRY_POSITIVE || !at->is_directory) {
		ops_fail(ops, at->state == OPS_DENTRY_POSITIVE ? SMB_OPS_NOT_A_DIRECTORY : SMB_OPS_NOT_FOUND);
		return;
	}
	child = ops_dentry_child(ops, ops->found, path, length);
	if (child == OPS_NONE) {
		ops_fail(ops, length < OPS_NAME_MAX ? SMB_OPS_NO_SPACE : SMB_OPS_NAME_TOO_LONG);
		return;
	}
	flags = path[length] ? OPS_LOOKUP_FOLLOW : task->flags;
	task->b += (uint32_t)length + (path[length] == '/');
	ops_push_next(ops, task, 1);
	ops_push(ops, (struct ops_task){ .kind = OPS_TASK_LOOKUP, .flags = flags, .a = child });
	ops->found = child;
}

/** cifs dir.c, cifs_d_revalidate: does a name that is known not to exist still count? It is dropped at once for lstat
 *  (no flags) and where a new name is wanted, so that the case of its letters is that of the user. */
static bool negative_holds(const struct smb_ops *ops, const struct ops_dentry *dentry, uint16_t flags)
{
	if (!flags || (flags & (OPS_LOOKUP_CREATE | OPS_LOOKUP_RENAME | OPS_LOOKUP_OPEN)))
		return false;
	return ops->now_ns <= dentry->looked_up_ns + NS_PER_S;
}

/** LOOKUP: a = dentry. */
void ops_lookup_run(struct smb_ops *ops, struct ops_task *task)
{
	struct ops_dentry *dentry = ops_dentry(ops, task->a);

	if (dentry->state == OPS_DENTRY_NEGATIVE && !negative_holds(ops, dentry, task->flags))
		dentry->state = OPS_DENTRY_UNKNOWN;
	switch (dentry->state) {
	case OPS_DENTRY_POSITIVE:
		if (!ops_needs_query(ops, dentry))
			return;
		/* If it is gone the name is dropped and looked up anew: asked a second time. */
		ops_push_next(ops, task, 1);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_QUERY, .flags = 1, .a = task->a });
		return;
	case OPS_DENTRY_UNKNOWN:
		/* Opening with O_CREAT: cifs_atomic_open creates without looking. */
		if (!(task->flags & OPS_LOOKUP_OPEN))
			ops_push(ops, (struct ops_task){ .kind = OPS_TASK_QUERY, .a = task->a });
		return;
	default:
		return;
	}
}

/** QUERY: a = dentry, flags = 1 if it is the attributes of a known name that are asked. One look at a name:
 *  CREATE, QUERY_INFO, CLOSE (cifs 4.20, smb2_query_path_info). */
void ops_query_run(struct smb_ops *ops, struct ops_task *task)
{
	ops_chain_begin(ops);
	ops_add_create(ops, task->a, ACCESS_READ_ATTRIBUTES, 0);
	ops_add(ops, OPS_QUERY_ALL);
	ops_add(ops, OPS_CLOSE);
	ops_send(ops, task);
}

void ops_query_answer(struct smb_ops *ops, struct ops_task *task)
{
	const struct ops_chain *chain = &ops->chain;
	uint32_t status = ops_chain_status(chain);

	if (!status) {
		ops_dentry_set_positive(ops, task->a, chain);
		if (ops->config.mfsymlinks && !chain->is_directory && chain->size == OPS_MFSYMLINK_BYTES)
			ops_push(ops, (struct ops_task){ .kind = OPS_TASK_CHECK_LINK, .a = task->a });
		return;
	}
	if (ops_error_of(status) != SMB_OPS_NOT_FOUND)
		ops_fail(ops, ops_error_of(status));
	else if (task->flags)
		ops_dentry_drop(ops, task->a);
	else
		ops_dentry_set_negative(ops, task->a);
}

/** CHECK_LINK: a = dentry. A file of the right length may be a symlink: it is read (cifs link.c, check_mf_symlink). */
void ops_check_link_run(struct smb_ops *ops, struct ops_task *task)
{
	ops_chain_begin(ops);
	ops_add_create(ops, task->a, ACCESS_GENERIC_READ, OPTION_NON_DIRECTORY);
	ops_add(ops, OPS_READ)->length = OPS_MFSYMLINK_BYTES;
	ops_add(ops, OPS_CLOSE);
	ops_send_singly(ops, task);
}

/** GETATTR: a = dentry (cifs inode.c, cifs_getattr). */
void ops_getattr_run(struct smb_ops *ops, struct ops_task *task)
{
	if (ops_needs_query(ops, ops_dentry(ops, task->a)))
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_QUERY, .flags = 1, .a = task->a });
}

/** The target is a directory: the command means a name in it. */
static bool enter_target(struct smb_ops *ops)
{
	const char *name = strrchr(ops->command.source, '/');
	size_t length = strlen(ops->command.target);

	name = name ? name + 1 : ops->command.source;
	if (length + strlen(name) + 2 > SMB_OPS_PATH_MAX)
		return false;
	if (length)
		ops->command.target[length++] = '/';
	memcpy(ops->command.target + length, name, strlen(name) + 1);
	return true;
}

/** STAT: a = which path, flags = OPS_LOOKUP_* (0 = lstat), b = OPS_ENTER*: a target that may be a directory to go
 *  into. */
void ops_stat_run(struct smb_ops *ops, struct ops_task *task)
{
	const struct ops_dentry *dentry;

	switch (task->step) {
	case 0:
		if (task->a == OPS_TARGET)
			ops->target_found = false;
		ops_push_next(ops, task, 1);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WALK, .a = task->a, .flags = task->flags });
		return;
	case 1:
		if (ops_dentry(ops, ops->found)->state != OPS_DENTRY_POSITIVE) {
			ops_fail(ops, SMB_OPS_NOT_FOUND);
			return;
		}
		ops_push_next(ops, task, 2);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_GETATTR, .a = ops->found });
		return;
	default:
		break;
	}
	dentry = ops_dentry(ops, ops->found);
	if (task->a == OPS_TARGET && task->b && dentry->state == OPS_DENTRY_POSITIVE && dentry->is_directory) {
		if (!enter_target(ops)) {
			ops_fail(ops, SMB_OPS_NAME_TOO_LONG);
			return;
		}
		ops->target_entered = true;
		if (task->b == OPS_ENTER_AND_STAT)
			ops_push(ops,
				 (struct ops_task){ .kind = OPS_TASK_STAT, .a = OPS_TARGET, .flags = task->flags });
		return;
	}
	if (task->a == OPS_TARGET)
		ops->target_found = true;
}

/** FSTAT: a = descriptor. */
void ops_fstat_run(struct smb_ops *ops, struct ops_task *task)
{
	ops_push(ops, (struct ops_task){ .kind = OPS_TASK_GETATTR, .a = ops_file(ops, ops->fds[task->a])->dentry });
}
