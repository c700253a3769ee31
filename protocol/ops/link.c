/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hard links and symlinks (cifs link.c; 6.12 reparse.c). */
#include "protocol/ops/internal.h"

#include <string.h>

#define ACCESS_READ_ATTRIBUTES 0x80u
#define ACCESS_DELETE 0x10000u
#define ACCESS_GENERIC_WRITE 0x40000000u
#define ACCESS_REPARSE 0x00110180u /* attributes, DELETE, SYNCHRONIZE */
#define OPTION_DIRECTORY 0x01u
#define OPTION_NON_DIRECTORY 0x40u
#define OPTION_DELETE_ON_CLOSE 0x1000u
#define OPTION_OPEN_REPARSE_POINT 0x200000u
#define DISPOSITION_CREATE 2

/** LINK: a = source once it is found. */
void ops_link_run(struct smb_ops *ops, struct ops_task *task)
{
	switch (task->step) {
	case 0:
		ops_push_next(ops, task, 1);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WALK, .a = OPS_SOURCE });
		return;
	case 1:
		if (ops_dentry(ops, ops->found)->state != OPS_DENTRY_POSITIVE) {
			ops_fail(ops, SMB_OPS_NOT_FOUND);
			return;
		}
		task->a = ops->found;
		ops_push_next(ops, task, 2);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WALK, .a = OPS_TARGET, .flags = OPS_LOOKUP_CREATE });
		return;
	default:
		break;
	}
	if (ops_dentry(ops, ops->found)->state == OPS_DENTRY_POSITIVE) {
		ops_fail(ops, SMB_OPS_EXISTS);
		return;
	}
	ops_chain_begin(ops);
	ops_add_create(ops, task->a, ACCESS_READ_ATTRIBUTES, 0);
	ops_add(ops, OPS_SET_LINK)->target = ops->found;
	ops_add(ops, OPS_CLOSE);
	ops_send(ops, task);
}

void ops_link_answer(struct smb_ops *ops, struct ops_task *task)
{
	uint32_t status = ops_chain_status(&ops->chain);

	if (status) {
		ops_fail(ops, ops_error_of(status));
		return;
	}
	ops_dentry_drop(ops, ops->found);
	ops_dentry(ops, task->a)->links++;
	ops_dentry(ops, task->a)->attributes_hold = false;
}

enum { WALK, DECIDE, PROBE, SET_REPARSE, REMOVE, REFUSE };

/** A regular file that says where it leads. */
static void send_mfsymlink(struct smb_ops *ops, struct ops_task *task)
{
	ops_chain_begin(ops);
	ops_add_create(ops, task->a, ACCESS_GENERIC_WRITE, OPTION_NON_DIRECTORY)->disposition = DISPOSITION_CREATE;
	ops_add(ops, OPS_WRITE_LINK)->length = OPS_MFSYMLINK_BYTES;
	ops_add(ops, OPS_CLOSE);
	ops_send_singly(ops, task);
}

/** 6.12 opens what the link leads to as a directory, for the link must be one if that is one. */
static void send_probe(struct smb_ops *ops, struct ops_task *task)
{
	const char *text = ops->command.source;
	uint32_t leads_to = OPS_NONE;

	ops_push_next(ops, task, SET_REPARSE);
	if (!strchr(text, '/'))
		leads_to = ops_dentry_child(ops, ops_dentry(ops, task->a)->parent, text, strlen(text));
	if (leads_to == OPS_NONE)
		return;
	ops_chain_begin(ops);
	ops_add_create(ops, leads_to, ACCESS_READ_ATTRIBUTES, OPTION_OPEN_REPARSE_POINT | OPTION_DIRECTORY)->oplock =
		OPS_OPLOCK_BATCH;
	ops_add(ops, OPS_CLOSE);
	ops_send_singly(ops, task);
}

static void send_reparse(struct smb_ops *ops, struct ops_task *task)
{
	uint32_t option = task->b ? OPTION_DIRECTORY : OPTION_NON_DIRECTORY;

	ops_chain_begin(ops);
	ops_add_create(ops, task->a, ACCESS_REPARSE, OPTION_OPEN_REPARSE_POINT | option)->disposition =
		DISPOSITION_CREATE;
	ops_add(ops, OPS_SET_REPARSE);
	ops_add(ops, OPS_QUERY_ALL);
	ops_add(ops, OPS_CLOSE);
	ops_send(ops, task);
}

static void send_remove(struct smb_ops *ops, struct ops_task *task)
{
	ops_chain_begin(ops);
	ops_add_create(ops, task->a, ACCESS_DELETE, OPTION_DELETE_ON_CLOSE | OPTION_OPEN_REPARSE_POINT);
	ops_add(ops, OPS_CLOSE);
	ops_send(ops, task);
}

static void decide(struct smb_ops *ops, struct ops_task *task)
{
	task->a = ops->found;
	if (ops_dentry(ops, task->a)->state == OPS_DENTRY_POSITIVE)
		ops_fail(ops, SMB_OPS_EXISTS);
	else if (ops->config.mfsymlinks)
		send_mfsymlink(ops, task);
	else if (ops->config.policy.symlink_reparse)
		ops_push_next(ops, task, PROBE);
	else
		ops_fail(ops, SMB_OPS_NOT_SUPPORTED);
}

/** SYMLINK: the text is the command's source, the name its target; a = its dentry, b = 1: it leads to a directory. */
void ops_symlink_run(struct smb_ops *ops, struct ops_task *task)
{
	switch (task->step) {
	case WALK:
		ops_push_next(ops, task, DECIDE);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WALK, .a = OPS_TARGET, .flags = OPS_LOOKUP_CREATE });
		return;
	case DECIDE:
		decide(ops, task);
		return;
	case PROBE:
		send_probe(ops, task);
		return;
	case SET_REPARSE:
		send_reparse(ops, task);
		return;
	case REMOVE:
		send_remove(ops, task);
		return;
	default:
		break;
	}
	ops_fail(ops, SMB_OPS_NOT_SUPPORTED);
}

static void reparse_answer(struct smb_ops *ops, struct ops_task *task, uint32_t status)
{
	if (!status) {
		ops_dentry_set_positive(ops, task->a, &ops->chain);
		return;
	}
	if (ops->chain.status[0]) {
		ops_fail(ops, ops_error_of(status));
		return;
	}
	/* The server has no reparse points: what was made for it goes again. */
	ops_push_next(ops, task, REFUSE);
	ops_push_next(ops, task, REMOVE);
}

void ops_symlink_answer(struct smb_ops *ops, struct ops_task *task)
{
	uint32_t status = ops_chain_status(&ops->chain);

	switch (task->step) {
	case DECIDE:
		if (status) {
			ops_fail(ops, ops_error_of(status));
			return;
		}
		ops_dentry(ops, task->a)->state = OPS_DENTRY_UNKNOWN;
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_QUERY, .a = task->a });
		return;
	case PROBE:
		/* The task that goes on is the one pushed before. */
		if (!status)
			ops->tasks[ops->depth - 1].b = 1;
		return;
	case SET_REPARSE:
		reparse_answer(ops, task, status);
		return;
	default:
		return;
	}
}
