/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/server/tests/harness.h"

Test(io, a_read_returns_the_files_own_slice)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "file");
	t->charge = 16;
	struct t_reply *reply = t_read(t, id, 1 << 20, 1 << 20);
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
	struct smb_slice slice = reply->message.body.read_rsp.payload;
	cr_assert_eq(slice.source, 7);
	cr_assert_eq(slice.offset, 1 << 20);
	cr_assert_eq(slice.length, 1 << 20);
	cr_assert_eq(t->work_bytes, 1 << 20);
	t->charge = 0;
	cr_assert_eq(t_status(t_close(t, id)), STATUS_SUCCESS);
	cr_assert_eq(t_status(t_close(t, id)), STATUS_FILE_CLOSED);
	t_free(t);
}
