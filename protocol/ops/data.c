/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* File content, as far as small files need it: one request after the other (cifs file.c). */
#include "protocol/ops/internal.h"

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/** READ: a = descriptor; all of the file, through the page cache. */
void ops_read_run(struct smb_ops *ops, struct ops_task *task)
{
	uint32_t index = ops->fds[task->a];
	const struct ops_dentry *dentry = ops_dentry(ops, ops_file(ops, index)->dentry);
	uint64_t page = ops->config.page_bytes;
	uint64_t length;
	struct ops_member *member;

	if (!task->step)
		ops->position = 0;
	length = dentry->size > ops->position ? dentry->size - ops->position : 0;
	if (dentry->pages_hold || !length) {
		ops->bytes_read = dentry->size;
		return;
	}
	if (ops->config.policy.read_whole_pages)
		length = (length + page - 1) & ~(page - 1);
	ops_chain_begin(ops)->file = index;
	member = ops_add(ops, OPS_READ);
	member->is_io = true;
	member->offset = ops->position;
	member->length = (uint32_t)smaller(length, ops->config.rsize);
	ops_push_next(ops, task, 1);
	ops_send_singly(ops, task);
}

void ops_read_answer(struct smb_ops *ops, struct ops_task *task)
{
	struct ops_chain *chain = &ops->chain;
	struct ops_dentry *dentry = ops_dentry(ops, ops_file(ops, ops->fds[task->a])->dentry);
	uint32_t status = chain->status[0];

	if (status == STATUS_END_OF_FILE || (!status && !chain->moved)) {
		dentry->size = ops->position; /* it is shorter than we thought */
		return;
	}
	if (status) {
		ops_fail(ops, ops_error_of(status));
		return;
	}
	ops->position += chain->moved;
	dentry->pages_hold = ops->position >= dentry->size && (dentry->lease & OPS_CACHE_READ);
}

static void make_dirty(struct ops_dentry *dentry, uint64_t start, uint64_t end)
{
	bool is_clean = dentry->dirty_start == dentry->dirty_end;

	if (start == end)
		return;
	dentry->dirty_start = is_clean ? start : smaller(start, dentry->dirty_start);
	if (is_clean || end > dentry->dirty_end)
		dentry->dirty_end = end;
	if (end > dentry->size)
		dentry->size = end;
}

/** Bytes that go out at once: they begin inside a page that has older content, is not in the cache and cannot be read
 *  through this descriptor (cifs 6.1, cifs_write_begin, cifs_write_end). */
static uint32_t written_through(const struct smb_ops *ops, const struct ops_file *file, uint64_t length)
{
	const struct ops_dentry *dentry = ops_dentry(ops, file->dentry);
	uint64_t in_page = ops->position % ops->config.page_bytes;

	if (!ops->config.policy.write_through_partial || !in_page || dentry->pages_hold ||
	    (file->flags & OPS_OPEN_READ) || ops->position - in_page >= dentry->size)
		return 0;
	return (uint32_t)smaller(length, ops->config.page_bytes - in_page);
}

/** WRITE: a = descriptor; the command's bytes, or what was read (cp), at the start or the end of the file. */
void ops_write_run(struct smb_ops *ops, struct ops_task *task)
{
	const struct ops_file *file = ops_file(ops, ops->fds[task->a]);
	struct ops_dentry *dentry = ops_dentry(ops, file->dentry);
	uint64_t length = ops->command.kind == SMB_OPS_CP ? ops->bytes_read : ops->command.bytes;
	uint32_t now;

	if (!task->step)
		ops->position = file->flags & OPS_OPEN_APPEND ? dentry->size : 0;
	if (task->step)
		length -= ops->bytes_written;
	now = written_through(ops, file, length);
	if (now) {
		struct ops_member *member;

		ops_chain_begin(ops)->file = ops->fds[task->a];
		member = ops_add(ops, OPS_WRITE);
		member->offset = ops->position;
		member->length = now;
		ops_push_next(ops, task, 1);
		ops_send_singly(ops, task);
		return;
	}
	make_dirty(dentry, ops->position, ops->position + length);
	if (!(dentry->lease & OPS_CACHE_WRITE)) /* cifs_strict_writev: past the cache */
		ops_push(ops, (struct ops_task){ .kind = OPS_TASK_WRITEBACK, .a = file->dentry });
}

static bool note_written(struct smb_ops *ops, struct ops_dentry *dentry, uint64_t offset)
{
	uint32_t status = ops->chain.status[0];

	if (status || !ops->chain.moved) {
		dentry->dirty_start = dentry->dirty_end = 0;
		ops_fail(ops, status ? ops_error_of(status) : SMB_OPS_IO);
		return false;
	}
	ops->bytes_written += ops->chain.moved;
	if (offset + ops->chain.moved > dentry->size)
		dentry->size = offset + ops->chain.moved;
	return true;
}

void ops_write_answer(struct smb_ops *ops, struct ops_task *task)
{
	struct ops_dentry *dentry = ops_dentry(ops, ops_file(ops, ops->fds[task->a])->dentry);

	if (note_written(ops, dentry, ops->position))
		ops->position += ops->chain.moved;
}

/** WRITEBACK: a = dentry. */
void ops_writeback_run(struct smb_ops *ops, struct ops_task *task)
{
	struct ops_dentry *dentry = ops_dentry(ops, task->a);
	uint32_t file = ops_writable_file(ops, task->a);
	struct ops_member *member;

	if (dentry->dirty_start == dentry->dirty_end)
		return;
	if (file == OPS_NONE) {
		dentry->dirty_start = dentry->dirty_end;
		ops_fail(ops, SMB_OPS_IO);
		return;
	}
	ops_chain_begin(ops)->file = file;
	member = ops_add(ops, OPS_WRITE);
	member->is_io = true;
	member->offset = dentry->dirty_start;
	member->length = (uint32_t)smaller(dentry->dirty_end - dentry->dirty_start, ops->config.wsize);
	ops_push_next(ops, task, 1);
	ops_send_singly(ops, task);
}

void ops_writeback_answer(struct smb_ops *ops, struct ops_task *task)
{
	struct ops_dentry *dentry = ops_dentry(ops, task->a);

	if (note_written(ops, dentry, dentry->dirty_start))
		dentry->dirty_start += ops->chain.moved;
}
