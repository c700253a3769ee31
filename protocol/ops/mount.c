/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* umount. Mounting is the client's affair: it makes the channels (protocol/client, SMB_OP_MOUNT). */
#include "protocol/ops/internal.h"

enum { CLOSE_FILES, DISCONNECT, LOG_OFF, OVER };

/** UNMOUNT: what waits to be closed, the tree, the session; IPC$ goes with the session (cifs connect.c). */
void ops_unmount_run(struct smb_ops *ops, struct ops_task *task)
{
	static const enum ops_member_kind kinds[] = {
		[CLOSE_FILES] = OPS_CLOSE,
		[DISCONNECT] = OPS_TREE_DISCONNECT,
		[LOG_OFF] = OPS_LOGOFF,
	};
	uint32_t file = 0;

	if (task->step == OVER)
		return;
	while (file < ops->limits.files && ops_file(ops, file)->state != OPS_FILE_DEFERRED)
		file++;
	if (task->step == CLOSE_FILES && file == ops->limits.files)
		task->step = DISCONNECT;
	ops_push_next(ops, task, task->step == CLOSE_FILES ? CLOSE_FILES : task->step + 1);
	ops_chain_begin(ops);
	if (task->step == CLOSE_FILES) {
		ops->chain.file = file;
		ops_file(ops, file)->state = OPS_FILE_OPEN;
	}
	ops_add(ops, kinds[task->step])->length = 1;
	ops_send_singly(ops, task);
}

void ops_unmount_answer(struct smb_ops *ops, struct ops_task *task)
{
	if (task->step == CLOSE_FILES)
		ops_note_closed(ops, ops->chain.file);
}
