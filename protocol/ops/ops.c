/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block, the stack of tasks, and the chain that is under way. */
#include "protocol/ops/internal.h"

#include <assert.h>
#include <string.h>

const struct smb_ops_limits smb_ops_limits_simulation = { .dentries = 3072, .files = 32 };

#define DENTRIES_MIN 8
#define DENTRIES_MAX 65536
#define FILES_MIN 2
#define FILES_MAX 1024

static const struct {
	ops_run_function run;
	ops_run_function answer;
} tasks[OPS_TASKS] = {
	[OPS_TASK_SCRIPT] = { ops_script_run, NULL },
	[OPS_TASK_WALK] = { ops_walk_run, NULL },
	[OPS_TASK_LOOKUP] = { ops_lookup_run, NULL },
	[OPS_TASK_QUERY] = { ops_query_run, ops_query_answer },
	[OPS_TASK_CHECK_LINK] = { ops_check_link_run, ops_any_answer },
	[OPS_TASK_GETATTR] = { ops_getattr_run, NULL },
	[OPS_TASK_STAT] = { ops_stat_run, NULL },
	[OPS_TASK_OPEN] = { ops_open_run, NULL },
	[OPS_TASK_OPEN_FILE] = { ops_open_file_run, ops_open_file_answer },
	[OPS_TASK_CLOSE] = { ops_close_run, ops_close_answer },
	[OPS_TASK_CLOSE_DEFERRED] = { ops_close_deferred_run, ops_close_answer },
	[OPS_TASK_FSTAT] = { ops_fstat_run, NULL },
	[OPS_TASK_UNLINK] = { ops_unlink_run, ops_unlink_answer },
	[OPS_TASK_RMDIR] = { ops_rmdir_run, ops_rmdir_answer },
	[OPS_TASK_MKDIR] = { ops_mkdir_run, ops_mkdir_answer },
	[OPS_TASK_RENAME] = { ops_rename_run, ops_rename_answer },
	[OPS_TASK_LINK] = { ops_link_run, ops_link_answer },
	[OPS_TASK_SYMLINK] = { ops_symlink_run, ops_symlink_answer },
	[OPS_TASK_UTIMENS] = { ops_utimens_run, NULL },
	[OPS_TASK_CHMOD] = { ops_chmod_run, NULL },
	[OPS_TASK_FTRUNCATE] = { ops_ftruncate_run, NULL },
	[OPS_TASK_SETATTR] = { ops_setattr_run, ops_setattr_answer },
	[OPS_TASK_STATFS] = { ops_statfs_run, ops_plain_answer },
	[OPS_TASK_GETDENTS] = { ops_getdents_run, ops_getdents_answer },
	[OPS_TASK_STAT_LISTED] = { ops_stat_listed_run, NULL },
	[OPS_TASK_CLOSEDIR] = { ops_closedir_run, ops_closedir_answer },
	[OPS_TASK_READ] = { ops_read_run, ops_read_answer },
	[OPS_TASK_WRITE] = { ops_write_run, ops_write_answer },
	[OPS_TASK_WRITEBACK] = { ops_writeback_run, ops_writeback_answer },
	[OPS_TASK_UNMOUNT] = { ops_unmount_run, ops_unmount_answer },
};

/* ------------------------------------------------------------------------------------------------------- the block */

static bool limits_are_valid(const struct smb_ops_limits *limits)
{
	return limits->dentries >= DENTRIES_MIN && limits->dentries <= DENTRIES_MAX && limits->files >= FILES_MIN &&
	       limits->files <= FILES_MAX;
}

static bool config_is_valid(const struct smb_ops_config *config)
{
	uint32_t page = config->page_bytes;

	return smb_policy_is_valid(&config->policy) && config->dialect >= SMB2_DIALECT_202 &&
	       config->dialect <= SMB2_DIALECT_311 && config->rsize && config->wsize && page >= 4096 && page <= 65536 &&
	       !(page & (page - 1));
}

size_t smb_ops_size(const struct smb_ops_limits *limits)
{
	if (!limits_are_valid(limits))
		return 0;
	return sizeof(struct smb_ops) + limits->dentries * sizeof(struct ops_dentry) +
	       limits->files * sizeof(struct ops_file);
}

struct smb_ops *smb_ops_init(void *block, const struct smb_ops_limits *limits, const struct smb_ops_config *config)
{
	struct smb_ops *ops = block;

	if (!limits_are_valid(limits) || !config_is_valid(config))
		return NULL;
	memset(block, 0, smb_ops_size(limits));
	ops->limits = *limits;
	ops->config = *config;
	ops->found = OPS_NONE;
	ops->chain.file = OPS_NONE;
	ops->listing.file = OPS_NONE;
	for (uint32_t i = 0; i < OPS_FDS_MAX; i++)
		ops->fds[i] = OPS_NONE;
	smb_ops_drop_caches(ops);
	return ops;
}

size_t smb_ops_block_size(const struct smb_ops *ops)
{
	return smb_ops_size(&ops->limits);
}

bool smb_ops_is_valid(const struct smb_ops *ops)
{
	const struct ops_chain *chain = &ops->chain;

	if (!limits_are_valid(&ops->limits) || !config_is_valid(&ops->config) || ops->depth > OPS_TASKS_MAX)
		return false;
	if (chain->under_way && (!ops->busy || !chain->count || chain->count > SMB_OPS_CHAIN_MAX ||
				 chain->sent > chain->count || chain->answered > chain->sent))
		return false;
	if (!ops->busy && ops->depth)
		return false;
	for (uint32_t i = 0; i < ops->depth; i++) {
		if (ops->tasks[i].kind >= OPS_TASKS)
			return false;
	}
	return ops_caches_valid(ops);
}

/* ----------------------------------------------------------------------------------------------------------- tasks */

void ops_push(struct smb_ops *ops, struct ops_task task)
{
	assert(ops->depth < OPS_TASKS_MAX);
	ops->tasks[ops->depth++] = task;
}

void ops_push_next(struct smb_ops *ops, const struct ops_task *task, uint8_t step)
{
	struct ops_task again = *task;

	again.step = step;
	ops_push(ops, again);
}

void ops_fail(struct smb_ops *ops, enum smb_ops_error error)
{
	assert(ops->depth && error);
	ops->depth = 1; /* the script */
	ops->error = error;
}

void ops_plain_answer(struct smb_ops *ops, struct ops_task *task)
{
	uint32_t status = ops_chain_status(&ops->chain);

	(void)task;
	if (status)
		ops_fail(ops, ops_error_of(status));
}

void ops_any_answer(struct smb_ops *ops, struct ops_task *task)
{
	(void)ops;
	(void)task;
}

bool smb_ops_begin(struct smb_ops *ops, const struct smb_ops_command *command, uint64_t now_ns)
{
	if (ops->busy || !smb_ops_command_is_valid(command) || !ops_script_exists(command->kind))
		return false;
	ops->now_ns = now_ns;
	ops->busy = true;
	ops->serial++;
	ops->command = *command;
	ops->error = ops->verdict = SMB_OPS_OK;
	ops->target_entered = ops->target_found = ops->name_existed = ops->was_directory = false;
	ops->listing = (struct ops_listing){ .file = OPS_NONE };
	ops->bytes_read = ops->bytes_written = 0;
	ops->listed = 0;
	ops->depth = 0;
	ops_push(ops, (struct ops_task){ .kind = OPS_TASK_SCRIPT });
	return true;
}

/* ----------------------------------------------------------------------------------------------------------- chains */

static bool is_error(uint32_t status)
{
	return status >> 30 == 3;
}

struct ops_chain *ops_chain_begin(struct smb_ops *ops)
{
	assert(!ops->chain.under_way);
	ops->chain = (struct ops_chain){ .file = OPS_NONE };
	return &ops->chain;
}

struct ops_member *ops_add(struct smb_ops *ops, enum ops_member_kind kind)
{
	struct ops_chain *chain = &ops->chain;

	assert(chain->count < SMB_OPS_CHAIN_MAX);
	chain->members[chain->count] = (struct ops_member){ .kind = (uint8_t)kind };
	return &chain->members[chain->count++];
}

struct ops_member *ops_add_create(struct smb_ops *ops, uint32_t dentry, uint32_t access, uint32_t options)
{
	struct ops_member *member = ops_add(ops, OPS_CREATE);

	member->dentry = dentry;
	member->access = access;
	member->options = options;
	member->disposition = 1; /* FILE_OPEN */
	return member;
}

void ops_send(struct smb_ops *ops, const struct ops_task *task)
{
	ops->chain.one_by_one = ops->config.policy.compounding == SMB_COMPOUND_NONE;
	ops->chain.under_way = true;
	ops->sender = *task;
}

void ops_send_singly(struct smb_ops *ops, const struct ops_task *task)
{
	ops_send(ops, task);
	ops->chain.one_by_one = true;
}

uint32_t ops_chain_status(const struct ops_chain *chain)
{
	for (uint32_t i = 0; i < chain->count; i++) {
		if (is_error(chain->status[i]))
			return chain->status[i];
	}
	return STATUS_SUCCESS;
}

/** One at a time: after a CREATE that failed nothing is left to do; after another failure only the CLOSE is. */
static void skip_members(struct ops_chain *chain)
{
	uint32_t last = chain->sent - 1;

	if (!is_error(chain->status[last]))
		return;
	while (chain->sent < chain->count &&
	       (chain->members[last].kind == OPS_CREATE || chain->members[chain->sent].kind != OPS_CLOSE)) {
		chain->status[chain->sent] = chain->status[last];
		chain->sent++;
		chain->answered++;
	}
}

static void chain_is_answered(struct smb_ops *ops)
{
	struct ops_chain *chain = &ops->chain;

	if (chain->one_by_one) {
		skip_members(chain);
		if (chain->sent < chain->count)
			return;
	}
	chain->under_way = false;
	tasks[ops->sender.kind].answer(ops, &ops->sender);
}

static bool background_reply(struct smb_ops *ops, uint32_t file)
{
	if (file >= ops->limits.files || ops_file(ops, file)->state != OPS_FILE_CLOSING)
		return false;
	ops_note_closed(ops, file);
	return true;
}

bool smb_ops_reply(struct smb_ops *ops, uint32_t lane, uint32_t index, const struct smb2_message *message,
		   uint64_t now_ns)
{
	struct ops_chain *chain = &ops->chain;

	ops->now_ns = now_ns;
	if (lane != SMB_OPS_LANE_COMMAND)
		return index == 0 && background_reply(ops, lane - 1);
	index += chain->first;
	if (!chain->under_way || index >= chain->sent || chain->done[index])
		return false;
	chain->done[index] = true;
	chain->answered++;
	chain->status[index] = message ? message->header.status : STATUS_INTERNAL_ERROR;
	if (message && !is_error(message->header.status)) {
		if (message->header.status || ops_answer_fits(chain->members[index].kind, message))
			ops_note(ops, index, message);
		else
			chain->status[index] = STATUS_REQUEST_NOT_ACCEPTED;
	}
	if (chain->answered == chain->sent)
		chain_is_answered(ops);
	return true;
}

/* ----------------------------------------------------------------------------------------------------------- output */

static bool next_deferred(struct smb_ops *ops, struct smb_ops_step *step)
{
	for (uint32_t i = 0; i < ops->limits.files; i++) {
		struct ops_file *file = ops_file(ops, i);

		if (file->state != OPS_FILE_DEFERRED)
			continue;
		if (file->close_ns > ops->now_ns) {
			if (file->close_ns < step->when_ns)
				step->when_ns = file->close_ns;
			continue;
		}
		file->state = OPS_FILE_CLOSING;
		*step = (struct smb_ops_step){ .kind = SMB_OPS_SEND, .lane = i + 1, .count = 1 };
		return true;
	}
	return false;
}

static void send_chain(struct ops_chain *chain, struct smb_ops_step *step)
{
	step->kind = SMB_OPS_SEND;
	step->lane = SMB_OPS_LANE_COMMAND;
	step->count = chain->one_by_one ? 1 : chain->count - chain->sent;
	chain->first = chain->sent;
	chain->sent += step->count;
}

static void run_top(struct smb_ops *ops)
{
	struct ops_task task = ops->tasks[--ops->depth];

	tasks[task.kind].run(ops, &task);
}

void smb_ops_next(struct smb_ops *ops, uint64_t now_ns, struct smb_ops_step *step)
{
	ops->now_ns = now_ns;
	*step = (struct smb_ops_step){ .kind = SMB_OPS_IDLE, .when_ns = SMB_OPS_NEVER };
	if (next_deferred(ops, step))
		return;
	while (ops->busy && !ops->chain.under_way && ops->depth)
		run_top(ops);
	if (!ops->busy)
		return;
	if (ops->chain.under_way) {
		if (ops->chain.sent == ops->chain.answered)
			send_chain(&ops->chain, step);
		return;
	}
	ops->busy = false;
	step->kind = SMB_OPS_DONE;
	step->error = ops->verdict;
}

void smb_ops_member(const struct smb_ops *ops, uint32_t lane, uint32_t index, struct smb2_message *message,
		    struct smb_ops_scratch *scratch, struct smb_ops_member_info *info)
{
	const struct ops_chain *chain = &ops->chain;
	struct ops_member close = { .kind = OPS_CLOSE, .length = 1 };
	const struct ops_member *member = &close;
	struct smb2_file_id id;

	*message = (struct smb2_message){ 0 };
	if (lane != SMB_OPS_LANE_COMMAND) {
		id = ops_file(ops, lane - 1)->id;
	} else {
		member = &chain->members[chain->first + index];
		id = chain->file != OPS_NONE ? ops_file(ops, chain->file)->id : chain->id;
		if (index) {
			id = SMB2_FILE_ID_RELATED;
			message->header.flags = SMB2_FLAGS_RELATED_OPERATIONS;
		}
	}
	*info = (struct smb_ops_member_info){ .payment = SMB_OPS_PAY_ORDINARY };
	if (member->is_io)
		*info = (struct smb_ops_member_info){ SMB_OPS_PAY_IO, member->length };
	if (member->kind == OPS_LOGOFF)
		info->payment = SMB_OPS_PAY_SESSION;
	ops_build(ops, member, id, message, scratch);
}

void smb_ops_shorten(struct smb_ops *ops, uint32_t bytes)
{
	struct ops_member *member = &ops->chain.members[ops->chain.first];

	assert(ops->chain.under_way && member->is_io && bytes && bytes <= member->length);
	member->length = bytes;
}

/* ------------------------------------------------------------------------------------------------------- looking in */

void smb_ops_look(const struct smb_ops *ops, struct smb_ops_info *info)
{
	*info = (struct smb_ops_info){
		.busy = ops->busy,
		.bytes_read = ops->bytes_read,
		.bytes_written = ops->bytes_written,
		.listed = ops->listed,
	};
	for (uint32_t i = 0; i < ops->limits.files; i++)
		info->open_files += ops_file(ops, i)->state != OPS_FILE_FREE;
	for (uint32_t i = 0; i < ops->limits.dentries; i++)
		info->names += ops_dentry(ops, i)->state != OPS_DENTRY_FREE;
}

enum smb_ops_error ops_error_of(uint32_t status)
{
	static const struct {
		uint32_t status;
		enum smb_ops_error error;
	} map[] = {
		/* smb2maperror.c */
		{ STATUS_OBJECT_NAME_NOT_FOUND, SMB_OPS_NOT_FOUND },
		{ STATUS_OBJECT_PATH_NOT_FOUND, SMB_OPS_NOT_FOUND },
		{ STATUS_NO_SUCH_FILE, SMB_OPS_NOT_FOUND },
		{ STATUS_DELETE_PENDING, SMB_OPS_NOT_FOUND },
		{ STATUS_OBJECT_NAME_COLLISION, SMB_OPS_EXISTS },
		{ STATUS_DIRECTORY_NOT_EMPTY, SMB_OPS_NOT_EMPTY },
		{ STATUS_NOT_A_DIRECTORY, SMB_OPS_NOT_A_DIRECTORY },
		{ STATUS_FILE_IS_A_DIRECTORY, SMB_OPS_IS_A_DIRECTORY },
		{ STATUS_ACCESS_DENIED, SMB_OPS_ACCESS },
		{ STATUS_NOT_SUPPORTED, SMB_OPS_NOT_SUPPORTED },
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		if (map[i].status == status)
			return map[i].error;
	}
	return SMB_OPS_IO;
}

const char *smb_ops_error_text(enum smb_ops_error error)
{
	switch (error) {
	case SMB_OPS_OK:
		return "Success";
	case SMB_OPS_NOT_FOUND:
		return "No such file or directory";
	case SMB_OPS_EXISTS:
		return "File exists";
	case SMB_OPS_NOT_EMPTY:
		return "Directory not empty";
	case SMB_OPS_NOT_A_DIRECTORY:
		return "Not a directory";
	case SMB_OPS_IS_A_DIRECTORY:
		return "Is a directory";
	case SMB_OPS_ACCESS:
		return "Permission denied";
	case SMB_OPS_NOT_SUPPORTED:
		return "Operation not supported";
	case SMB_OPS_NO_SPACE:
		return "Too many names or open files for this client";
	case SMB_OPS_NAME_TOO_LONG:
		return "File name too long";
	case SMB_OPS_IO:
		break;
	}
	return "Input/output error";
}
