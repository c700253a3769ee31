/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The system calls of each shell tool, in the order in which strace shows them (coreutils 8.28 and 9.1). */
#include "protocol/ops/internal.h"

#include <string.h>

enum call_when {
	ALWAYS,
	IF_TARGET, /* the stat of the target found it */
	IF_NO_TARGET,
	IF_ENTERED, /* the target was a directory */
	IF_EXISTED, /* the rename before found its new name taken */
};

enum call_failure {
	FATAL,
	MAY_MISS, /* ENOENT is an answer like any other */
	MAY_EXIST,
	MAY_BE_DIRECTORY,
};

struct ops_call {
	uint8_t task; /* enum ops_task_kind; SCRIPT ends the list */
	uint8_t when;
	uint8_t failure;
	uint8_t a;
	uint8_t b;
	uint16_t flags;
};

#define FOLLOW OPS_LOOKUP_FOLLOW
#define CREAT OPS_OPEN_CREATE
#define RDONLY OPS_OPEN_READ
#define WRONLY OPS_OPEN_WRITE
#define CALL(name, ...)                                                                                                \
	{                                                                                                              \
		.task = OPS_TASK_##name, __VA_ARGS__                                                                   \
	}
#define END                                                                                                            \
	{                                                                                                              \
		.task = OPS_TASK_SCRIPT                                                                                \
	}

static const struct ops_call touch[] = {
	CALL(OPEN, .a = OPS_SOURCE, .flags = WRONLY | CREAT, .failure = MAY_BE_DIRECTORY),
	CALL(UTIMENS),
	CALL(CLOSE),
	END,
};
static const struct ops_call rm[] = {
	CALL(STAT, .a = OPS_SOURCE),
	CALL(UNLINK, .a = OPS_SOURCE),
	END,
};
static const struct ops_call mkdir[] = { CALL(MKDIR, .a = OPS_SOURCE), END };
static const struct ops_call rmdir[] = { CALL(RMDIR, .a = OPS_SOURCE), END };
static const struct ops_call mv_2018[] = {
	CALL(STAT, .a = OPS_TARGET, .b = OPS_ENTER, .flags = FOLLOW, .failure = MAY_MISS),
	CALL(STAT, .a = OPS_SOURCE),
	CALL(STAT, .a = OPS_TARGET, .failure = MAY_MISS),
	CALL(RENAME),
	END,
};
static const struct ops_call mv_2022[] = {
	CALL(RENAME, .flags = OPS_RENAME_NO_REPLACE, .failure = MAY_EXIST),
	CALL(STAT, .a = OPS_TARGET, .b = OPS_ENTER, .flags = FOLLOW, .failure = MAY_MISS, .when = IF_EXISTED),
	CALL(RENAME, .flags = OPS_RENAME_NO_REPLACE, .failure = MAY_EXIST, .when = IF_ENTERED),
	CALL(STAT, .a = OPS_SOURCE, .when = IF_EXISTED),
	CALL(STAT, .a = OPS_TARGET, .failure = MAY_MISS, .when = IF_EXISTED),
	CALL(RENAME, .when = IF_EXISTED),
	END,
};
static const struct ops_call ln_2018[] = {
	CALL(STAT, .a = OPS_TARGET, .b = OPS_ENTER, .flags = FOLLOW, .failure = MAY_MISS),
	CALL(STAT, .a = OPS_SOURCE),
	CALL(LINK),
	END,
};
static const struct ops_call ln_2022[] = { CALL(LINK), END };
static const struct ops_call ln_s_2018[] = {
	CALL(STAT, .a = OPS_TARGET, .b = OPS_ENTER, .flags = FOLLOW, .failure = MAY_MISS),
	CALL(SYMLINK),
	END,
};
static const struct ops_call ln_s_2022[] = { CALL(SYMLINK), END };
static const struct ops_call stat[] = { CALL(STAT, .a = OPS_SOURCE), END };
static const struct ops_call stat_f[] = { CALL(STATFS, .a = OPS_SOURCE), END };
static const struct ops_call ls[] = {
	CALL(STAT, .a = OPS_SOURCE, .flags = FOLLOW),
	CALL(GETDENTS, .a = OPS_SOURCE, .failure = MAY_BE_DIRECTORY),
	CALL(CLOSEDIR),
	END,
};
static const struct ops_call ls_l[] = {
	CALL(STAT, .a = OPS_SOURCE),
	CALL(GETDENTS, .a = OPS_SOURCE, .flags = OPS_LIST_LONG, .failure = MAY_BE_DIRECTORY),
	CALL(CLOSEDIR),
	END,
};
static const struct ops_call readdir[] = {
	CALL(GETDENTS, .a = OPS_SOURCE),
	CALL(CLOSEDIR),
	END,
};
static const struct ops_call cat[] = {
	CALL(OPEN, .a = OPS_SOURCE, .flags = RDONLY), CALL(FSTAT), CALL(READ), CALL(CLOSE), END,
};
static const struct ops_call cp_in[] = {
	CALL(STAT, .a = OPS_TARGET, .b = OPS_ENTER_AND_STAT, .flags = FOLLOW, .failure = MAY_MISS),
	CALL(OPEN, .a = OPS_TARGET, .flags = WRONLY | CREAT | OPS_OPEN_EXCLUSIVE, .when = IF_NO_TARGET),
	CALL(OPEN, .a = OPS_TARGET, .flags = WRONLY | OPS_OPEN_TRUNCATE, .when = IF_TARGET),
	CALL(FSTAT),
	CALL(WRITE),
	CALL(CLOSE),
	END,
};
static const struct ops_call cp_out[] = {
	CALL(STAT, .a = OPS_SOURCE),
	CALL(OPEN, .a = OPS_SOURCE, .flags = RDONLY),
	CALL(FSTAT),
	CALL(READ),
	CALL(CLOSE),
	END,
};
static const struct ops_call cp[] = {
	CALL(STAT, .a = OPS_TARGET, .b = OPS_ENTER_AND_STAT, .flags = FOLLOW, .failure = MAY_MISS),
	CALL(STAT, .a = OPS_SOURCE),
	CALL(OPEN, .a = OPS_SOURCE, .flags = RDONLY),
	CALL(FSTAT),
	CALL(OPEN, .a = OPS_TARGET, .b = 1, .flags = WRONLY | CREAT | OPS_OPEN_EXCLUSIVE, .when = IF_NO_TARGET),
	CALL(OPEN, .a = OPS_TARGET, .b = 1, .flags = WRONLY | OPS_OPEN_TRUNCATE, .when = IF_TARGET),
	CALL(FSTAT, .a = 1),
	CALL(READ),
	CALL(WRITE, .a = 1),
	CALL(CLOSE, .a = 1),
	CALL(CLOSE),
	END,
};
static const struct ops_call append[] = {
	CALL(OPEN, .a = OPS_SOURCE, .flags = WRONLY | CREAT | OPS_OPEN_APPEND),
	CALL(WRITE),
	CALL(CLOSE),
	END,
};
static const struct ops_call write[] = {
	CALL(OPEN, .a = OPS_SOURCE, .flags = WRONLY | CREAT | OPS_OPEN_TRUNCATE),
	CALL(WRITE),
	CALL(CLOSE),
	END,
};
static const struct ops_call chmod[] = {
	CALL(STAT, .a = OPS_SOURCE, .flags = FOLLOW),
	CALL(CHMOD, .a = OPS_SOURCE),
	END,
};
static const struct ops_call truncate[] = {
	CALL(OPEN, .a = OPS_SOURCE, .flags = WRONLY | CREAT),
	CALL(FTRUNCATE),
	CALL(CLOSE),
	END,
};
static const struct ops_call df[] = {
	CALL(STAT, .a = OPS_SOURCE, .flags = FOLLOW),
	CALL(STATFS, .a = OPS_SHARE_ROOT),
	END,
};
static const struct ops_call umount[] = {
	CALL(STAT, .a = OPS_SHARE_ROOT, .flags = FOLLOW),
	CALL(STATFS, .a = OPS_SHARE_ROOT),
	CALL(UNMOUNT),
	END,
};

static const struct ops_call *const scripts[][SMB_OPS_COMMANDS] = {
	[SMB_COREUTILS_2018] = {
		[SMB_OPS_MV] = mv_2018,
		[SMB_OPS_LN] = ln_2018,
		[SMB_OPS_LN_S] = ln_s_2018,
	},
	[SMB_COREUTILS_2022] = {
		[SMB_OPS_TOUCH] = touch,
		[SMB_OPS_RM] = rm,
		[SMB_OPS_MKDIR] = mkdir,
		[SMB_OPS_RMDIR] = rmdir,
		[SMB_OPS_MV] = mv_2022,
		[SMB_OPS_LN] = ln_2022,
		[SMB_OPS_LN_S] = ln_s_2022,
		[SMB_OPS_STAT] = stat,
		[SMB_OPS_STAT_F] = stat_f,
		[SMB_OPS_LS] = ls,
		[SMB_OPS_LS_L] = ls_l,
		[SMB_OPS_READDIR] = readdir,
		[SMB_OPS_CAT] = cat,
		[SMB_OPS_CP_IN] = cp_in,
		[SMB_OPS_CP_OUT] = cp_out,
		[SMB_OPS_CP] = cp,
		[SMB_OPS_APPEND] = append,
		[SMB_OPS_WRITE] = write,
		[SMB_OPS_CHMOD] = chmod,
		[SMB_OPS_TRUNCATE] = truncate,
		[SMB_OPS_DF] = df,
		[SMB_OPS_UMOUNT] = umount,
	},
};

bool ops_script_exists(enum smb_ops_command_kind kind)
{
	return kind < SMB_OPS_COMMANDS && scripts[SMB_COREUTILS_2022][kind];
}

/** Tools that did not change between the two have one script. */
static const struct ops_call *script_of(const struct smb_ops *ops)
{
	const struct ops_call *script = scripts[ops->config.policy.coreutils][ops->command.kind];

	return script ? script : scripts[SMB_COREUTILS_2022][ops->command.kind];
}

static bool is_wanted(const struct smb_ops *ops, const struct ops_call *call)
{
	switch (call->when) {
	case IF_TARGET:
		return ops->target_found;
	case IF_NO_TARGET:
		return !ops->target_found;
	case IF_ENTERED:
		return ops->target_entered;
	case IF_EXISTED:
		return ops->name_existed;
	default:
		return true;
	}
}

static bool is_forgiven(const struct smb_ops *ops, const struct ops_call *call)
{
	switch (call->failure) {
	case MAY_MISS:
		return ops->error == SMB_OPS_NOT_FOUND;
	case MAY_EXIST:
		return ops->error == SMB_OPS_EXISTS;
	case MAY_BE_DIRECTORY: /* touch of a directory, ls of a file */
		return ops->error == SMB_OPS_IS_A_DIRECTORY || ops->error == SMB_OPS_NOT_A_DIRECTORY;
	default:
		return false;
	}
}

/** The process ends: what it has open is closed. */
static void script_exit(struct smb_ops *ops)
{
	if (ops->listing.file != OPS_NONE)
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_CLOSEDIR });
	for (uint32_t fd = OPS_FDS_MAX; fd--;) {
		if (ops->fds[fd] != OPS_NONE)
			ops_push(ops, (struct ops_task){ .kind = OPS_TASK_CLOSE, .a = fd });
	}
}

/** SCRIPT, the bottom of the stack: step = the call that comes next, flags = 1 once the process has ended. */
void ops_script_run(struct smb_ops *ops, struct ops_task *task)
{
	const struct ops_call *script = script_of(ops);
	uint8_t step = task->step;

	if (ops->error && !task->flags && step && !is_forgiven(ops, &script[step - 1]))
		ops->verdict = ops->error;
	ops->error = SMB_OPS_OK;
	if (task->flags && ops->fds[0] == OPS_NONE && ops->fds[1] == OPS_NONE)
		return;
	while (script[step].task != OPS_TASK_SCRIPT && !is_wanted(ops, &script[step]))
		step++;
	if (task->flags || ops->verdict || script[step].task == OPS_TASK_SCRIPT) {
		task->flags = 1;
		ops_push_next(ops, task, step);
		script_exit(ops);
		return;
	}
	ops_push_next(ops, task, step + 1);
	ops_push(ops, (struct ops_task){
			      .kind = script[step].task,
			      .a = script[step].a,
			      .b = script[step].b,
			      .flags = script[step].flags,
		      });
}
