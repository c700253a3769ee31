/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* readdir (cifs readdir.c; smb2ops.c, smb2_query_dir_first). */
#include "protocol/ops/internal.h"

#include <string.h>

#define ACCESS_LIST 0x81u /* FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES */
#define GETDENTS_BUFFER 32768u /* bytes that opendir(3) asks the kernel to fill */
#define DIRENT_FIXED 20u /* bytes of a linux_dirent64 with the final zero of its name */
#define DIRECTORY_FULL_FIXED 68u /* bytes before the name (MS-FSCC 2.4.14) */
#define DIRECTORY_ID_FULL_FIXED 80u /* MS-FSCC 2.4.18 */

enum { WALK, OPEN, READ };

static void send_open(struct smb_ops *ops, struct ops_task *task)
{
	const struct smb_policy *policy = &ops->config.policy;
	bool single = policy->compounding == SMB_COMPOUND_READDIR_SINGLE && !(task->flags & OPS_LIST_PLAIN);
	uint32_t file = ops_file_new(ops, task->a, OPS_OPEN_READ);

	if (file == OPS_NONE) {
		ops_fail(ops, SMB_OPS_NO_SPACE);
		return;
	}
	ops_file(ops, file)->is_directory = true;
	ops_chain_begin(ops)->file = file;
	ops_add_create(ops, task->a, ACCESS_LIST, 0);
	ops_add(ops, OPS_QUERY_DIRECTORY);
	if (single) {
		ops_add(ops, OPS_QUERY_DIRECTORY);
		ops_add(ops, OPS_CLOSE);
	}
	ops_push_next(ops, task, READ);
	if (single || policy->query_dir_first)
		ops_send(ops, task);
	else
		ops_send_singly(ops, task);
}

/** The next answer, unless all is read or getdents(2) has filled its buffer. */
static void read_more(struct smb_ops *ops, struct ops_task *task)
{
	bool is_full = ops->listing.buffer_used >= GETDENTS_BUFFER;
	struct ops_task look = { .kind = OPS_TASK_STAT_LISTED, .a = task->a };

	if (!ops->listing.is_over)
		ops_push_next(ops, task, READ);
	if (ops->listing.is_over || is_full) {
		ops->listing.buffer_used = 0;
		if (task->flags & OPS_LIST_LONG)
			ops_push(ops, look);
		return;
	}
	ops_chain_begin(ops)->file = ops->listing.file;
	ops_add(ops, OPS_QUERY_DIRECTORY);
	ops_send_singly(ops, task);
}

/** GETDENTS, until the directory is read: a = which path, then its dentry; flags = OPS_LIST_*. */
void ops_getdents_run(struct smb_ops *ops, struct ops_task *task)
{
	switch (task->step) {
	case WALK:
		ops_push_next(ops, task, OPEN);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WALK, .a = task->a, .flags = OPS_LOOKUP_FOLLOW });
		return;
	case OPEN:
		if (!(task->flags & OPS_LIST_PLAIN))
			task->a = ops->found;
		if (ops_dentry(ops, task->a)->state != OPS_DENTRY_POSITIVE)
			ops_fail(ops, SMB_OPS_NOT_FOUND);
		else if (!ops_dentry(ops, task->a)->is_directory)
			ops_fail(ops, SMB_OPS_NOT_A_DIRECTORY);
		else
			send_open(ops, task);
		return;
	default:
		read_more(ops, task);
		return;
	}
}

static bool is_over(uint32_t status)
{
	return status == STATUS_NO_MORE_FILES || status == STATUS_NO_SUCH_FILE;
}

/** One chain read the directory and closed it. What did not fit must be read again from the start: the place where
 *  the server stopped went with the handle. */
static void single_answer(struct smb_ops *ops, struct ops_task *task)
{
	ops_note_closed(ops, ops->chain.file);
	if (is_over(ops->chain.status[2]) || is_over(ops->chain.status[1])) {
		ops->listing.is_over = true;
		return;
	}
	ops->depth--; /* READ has no handle to go on with */
	task->flags |= OPS_LIST_PLAIN;
	ops_push_next(ops, task, OPEN);
	ops->listed = 0;
	ops->listing.buffer_used = 0;
}

static void open_answer(struct smb_ops *ops, struct ops_task *task)
{
	struct ops_chain *chain = &ops->chain;
	uint32_t status = ops_chain_status(chain);

	if (chain->status[0] >> 30 == 3) {
		ops_note_closed(ops, chain->file);
		ops_fail(ops, ops_error_of(status));
		return;
	}
	if (chain->count > 2) {
		single_answer(ops, task);
		return;
	}
	ops_file(ops, chain->file)->state = OPS_FILE_OPEN;
	ops->listing.file = chain->file;
	ops->listing.is_over = is_over(chain->status[1]);
	if (status && !ops->listing.is_over)
		ops_fail(ops, ops_error_of(status));
}

void ops_getdents_answer(struct smb_ops *ops, struct ops_task *task)
{
	if (task->step == OPEN) {
		open_answer(ops, task);
		return;
	}
	ops->listing.is_over = is_over(ops->chain.status[0]);
	if (ops->chain.status[0] && !ops->listing.is_over)
		ops_fail(ops, ops_error_of(ops->chain.status[0]));
}

/** STAT_LISTED: a = directory, b = dentries looked at. lstat of each name that was read: its attributes came with it
 *  and hold for actimeo, so that only a slow listing asks again (cifs readdir.c, cifs_prime_dcache). */
void ops_stat_listed_run(struct smb_ops *ops, struct ops_task *task)
{
	for (uint32_t i = task->b; i < ops->limits.dentries; i++) {
		struct ops_dentry *dentry = ops_dentry(ops, i);

		if (dentry->state == OPS_DENTRY_FREE || dentry->parent != task->a || dentry->listing != ops->serial)
			continue;
		dentry->listing = 0;
		if (dentry->state == OPS_DENTRY_POSITIVE && !ops_needs_query(ops, dentry))
			continue;
		task->b = i + 1;
		ops_push_next(ops, task, 0);
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_LOOKUP, .a = i });
		return;
	}
}

/** CLOSEDIR. */
void ops_closedir_run(struct smb_ops *ops, struct ops_task *task)
{
	uint32_t file = ops->listing.file;

	if (file == OPS_NONE)
		return;
	ops->listing.file = OPS_NONE;
	ops_chain_begin(ops)->file = file;
	ops_add(ops, OPS_CLOSE);
	ops_send_singly(ops, task);
}

void ops_closedir_answer(struct smb_ops *ops, struct ops_task *task)
{
	(void)task;
	ops_note_closed(ops, ops->chain.file);
}

/* --------------------------------------------------------------------------------------------------------- entries */

static uint64_t get(const uint8_t *p, uint32_t bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

/** A name in ASCII; 0 = it has other letters or is too long, and is not kept. */
static uint32_t name_of(const uint8_t *p, uint32_t length, char name[OPS_NAME_MAX])
{
	uint32_t used = 0;

	for (uint32_t i = 0; i + 1 < length; i += 2) {
		if (p[i + 1] || p[i] > 0x7e || used + 1 >= OPS_NAME_MAX)
			return 0;
		name[used++] = (char)p[i];
	}
	name[used] = 0;
	return used;
}

static void keep_entry(struct smb_ops *ops, uint32_t directory, const uint8_t *p, const char *name)
{
	struct ops_chain entry = {
		.size = get(p + 40, 8),
		.attributes = (uint32_t)get(p + 56, 4),
		.file_number = ops->config.serverino ? get(p + 72, 8) : 0,
	};
	uint32_t child = ops_dentry_child(ops, directory, name, strlen(name));

	if (child == OPS_NONE)
		return; /* no room: as if memory pressure had taken it at once */
	entry.is_directory = entry.attributes & OPS_ATTRIBUTE_DIRECTORY;
	entry.links = ops_dentry(ops, child)->links;
	ops_dentry_set_positive(ops, child, &entry);
	ops_dentry(ops, child)->listing = ops->serial;
}

void ops_note_entries(struct smb_ops *ops, struct smb_blob buffer)
{
	uint32_t fixed = ops->config.serverino ? DIRECTORY_ID_FULL_FIXED : DIRECTORY_FULL_FIXED;
	uint32_t directory = ops_file(ops, ops->chain.file)->dentry;
	uint32_t at = 0, next = 1;
	char name[OPS_NAME_MAX];

	while (next && at <= buffer.length && buffer.length - at >= fixed) {
		const uint8_t *p = buffer.data + at;
		uint32_t length = (uint32_t)get(p + 60, 4);

		if (length > buffer.length - at - fixed)
			return;
		next = (uint32_t)get(p, 4);
		at += next;
		ops->listing.buffer_used += (DIRENT_FIXED + length / 2 + 7) & ~7u;
		ops->listed++;
		if (name_of(p + fixed, length, name) && strcmp(name, ".") && strcmp(name, ".."))
			keep_entry(ops, directory, p, name);
	}
}
