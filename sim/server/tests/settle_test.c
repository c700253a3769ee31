/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which free element is taken next must not tell how a state came about. */

#include "sim/server/tests/harness.h"

#include <string.h>

static struct t *mounted_with_two_open(struct smb2_file_id ids[2])
{
	struct t *t = t_new();

	t_mount(t);
	ids[0] = t_open(t, "file");
	ids[1] = t_open(t, "file");
	return t;
}

static uint64_t next_handle(struct t *t)
{
	return t_open(t, "file").volatile_id & UINT32_MAX; /* its place in the table */
}

Test(settle, closing_in_either_order_leads_to_the_same_next_id)
{
	struct smb2_file_id ids[2];
	uint64_t next[2];

	for (int first = 0; first < 2; first++) {
		struct t *t = mounted_with_two_open(ids);

		t_close(t, ids[first]);
		t_close(t, ids[1 - first]);
		smb_server_settle(t->server);
		cr_assert(smb_server_is_valid(t->server));
		next[first] = next_handle(t);
		t_free(t);
	}
	cr_assert_eq(next[0], next[1]);
}

Test(settle, without_it_the_order_of_closing_shows)
{
	struct smb2_file_id ids[2];
	uint64_t next[2];

	for (int first = 0; first < 2; first++) {
		struct t *t = mounted_with_two_open(ids);

		t_close(t, ids[first]);
		t_close(t, ids[1 - first]);
		next[first] = next_handle(t);
		t_free(t);
	}
	cr_assert_neq(next[0], next[1]);
}

Test(settle, nothing_that_is_told_changes)
{
	static uint8_t before[1 << 20], after[1 << 20];
	struct smb2_file_id ids[2];
	struct t *t = mounted_with_two_open(ids);

	t_close(t, ids[0]);
	size_t length = smb_server_encode(t->server, before, sizeof(before));
	smb_server_settle(t->server);
	cr_assert_eq(smb_server_encode(t->server, after, sizeof(after)), length);
	cr_assert_eq(memcmp(before, after, length), 0);
	cr_assert_eq(t_status(t_read(t, ids[1], 0, 1000)), STATUS_SUCCESS);
	t_free(t);
}
