/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The PDUs of a mount, an open and a first READ, compared with captures/ops-6.1.tsv (rows mount, cat10, umount). */
#include "protocol/client/tests/peer.h"

#include <criterion/criterion.h>

#define C(command, charge, asked)                                                                                      \
	{                                                                                                              \
		SMB2_##command, charge, asked, 1                                                                       \
	}
#define CHAIN3                                                                                                         \
	{ SMB2_CREATE, 1, 10, 3 }, { SMB2_QUERY_INFO, 1, 10, 0 },                                                      \
	{                                                                                                              \
		SMB2_CLOSE, 1, 10, 0                                                                                   \
	}

struct row {
	uint16_t command;
	uint16_t charge;
	uint16_t asked;
	uint32_t chain;
};

/* Charges are 1 with large MTU and a tree, else 0. The first READ of io-6.1 follows the open. */
static const struct row rows_311[] = {
	C(NEGOTIATE, 0, 10),
	C(SESSION_SETUP, 0, 130),
	C(SESSION_SETUP, 0, 130),
	C(TREE_CONNECT, 1, 64),
	C(TREE_CONNECT, 1, 64),
	C(CREATE, 1, 10),
	C(IOCTL, 1, 10),
	C(QUERY_INFO, 1, 10),
	C(QUERY_INFO, 1, 10),
	C(QUERY_INFO, 1, 10),
	C(QUERY_INFO, 1, 10),
	C(CLOSE, 1, 10),
	C(IOCTL, 1, 10),
	C(CREATE, 1, 10),
	C(CLOSE, 1, 10),
	C(CREATE, 1, 10),
	C(CLOSE, 1, 10),
	CHAIN3,
	CHAIN3,
	C(CREATE, 1, 10),
	C(READ, 32, 40),
};
static const struct row rows_300[] = {
	C(NEGOTIATE, 0, 10),
	C(SESSION_SETUP, 0, 130),
	C(SESSION_SETUP, 0, 130),
	C(TREE_CONNECT, 1, 64),
	C(IOCTL, 1, 10),
	C(TREE_CONNECT, 1, 64),
	C(IOCTL, 1, 10),
	C(CREATE, 1, 10),
	C(IOCTL, 1, 10),
	C(QUERY_INFO, 1, 10),
	C(QUERY_INFO, 1, 10),
	C(QUERY_INFO, 1, 10),
	C(QUERY_INFO, 1, 10),
	C(CLOSE, 1, 10),
	C(IOCTL, 1, 10),
	C(CREATE, 1, 10),
	C(CLOSE, 1, 10),
	C(CREATE, 1, 10),
	C(CLOSE, 1, 10),
	CHAIN3,
	CHAIN3,
	C(CREATE, 1, 10),
	C(READ, 32, 40),
};
static const struct row rows_210[] = {
	C(NEGOTIATE, 0, 10),
	C(SESSION_SETUP, 0, 130),
	C(SESSION_SETUP, 0, 130),
	C(TREE_CONNECT, 1, 64),
	C(TREE_CONNECT, 1, 64),
	C(CREATE, 1, 10),
	C(QUERY_INFO, 1, 10),
	C(QUERY_INFO, 1, 10),
	C(CLOSE, 1, 10),
	C(IOCTL, 1, 10),
	C(CREATE, 1, 10),
	C(CLOSE, 1, 10),
	C(CREATE, 1, 10),
	C(CLOSE, 1, 10),
	CHAIN3,
	CHAIN3,
	C(CREATE, 1, 10),
	C(READ, 16, 24),
};

#define ROWS(list) list, sizeof(list) / sizeof(list[0])

static const struct {
	const char *mount;
	const struct row *rows;
	uint32_t count;
	int64_t credits_left; /* io-6.1-first30.tsv, first READ */
} captures[] = {
	{ "vers=3.1.1", ROWS(rows_311), 395 },
	{ "vers=3.0", ROWS(rows_300), 413 },
	{ "vers=2.1", ROWS(rows_210), 384 },
};

Test(mount, mount_open_and_first_read_are_those_of_the_kernel)
{
	for (uint32_t n = 0; n < sizeof(captures) / sizeof(captures[0]); n++) {
		struct peer *peer = peer_new("6.1", captures[n].mount, 4096);
		struct smb_op read = { .kind = SMB_OP_READ, .length = 1 << 20 };

		peer->read_interim = true;
		read.file = peer_mount_and_open(peer);
		cr_assert_eq(peer->done.bytes, peer->file_bytes);
		peer_submit(peer, &read);
		cr_assert_eq(peer->log_count, captures[n].count, "%s: %u PDUs", captures[n].mount, peer->log_count);
		for (uint32_t i = 0; i < captures[n].count; i++) {
			const struct row *row = &captures[n].rows[i];
			const struct peer_entry *entry = &peer->log[i];

			cr_expect_eq(entry->command, row->command, "%s: PDU %u is %s", captures[n].mount, i,
				     smb2_command_name(entry->command));
			cr_expect_eq(entry->charge, row->charge, "%s: PDU %u charge", captures[n].mount, i);
			cr_expect_eq(entry->asked, row->asked, "%s: PDU %u asks %u", captures[n].mount, i,
				     entry->asked);
			cr_expect_eq(entry->chain, row->chain, "%s: PDU %u chain", captures[n].mount, i);
		}
		cr_expect_eq(peer->log[peer->log_count - 1].credits_left, captures[n].credits_left);
		peer_free(peer);
	}
}

Test(mount, a_file_is_read_to_its_end_and_closed)
{
	static const char *const mounts[] = {
		"vers=2.0", "vers=2.1", "vers=3.0", "vers=3.1.1", "vers=3.1.1,cache=none", "rsize=65536", ""
	};

	for (uint32_t n = 0; n < sizeof(mounts) / sizeof(mounts[0]); n++) {
		struct peer *peer = peer_new("6.1", mounts[n], 4096);
		struct smb_op close = { .kind = SMB_OP_CLOSE };
		struct smb_op unmount = { .kind = SMB_OP_UNMOUNT };

		peer->file_bytes = (5 << 20) + 1234;
		close.file = peer_mount_and_open(peer);
		cr_expect_eq(peer_read_all(peer, close.file, 1 << 20), peer->file_bytes);
		cr_expect_eq(peer->copied_bytes, peer->file_bytes);
		cr_expect_eq(peer->wrong_copies, 0, "%s", mounts[n]);
		cr_assert_eq(peer_do(peer, &close), SMB_OP_OK);
		cr_assert_eq(peer_do(peer, &unmount), SMB_OP_OK);
		cr_expect_eq(peer->log[peer->log_count - 2].command, SMB2_TREE_DISCONNECT);
		cr_expect_eq(peer->log[peer->log_count - 1].command, SMB2_LOGOFF);
		cr_expect_eq(peer->log[peer->log_count - 1].charge, 0);
		cr_expect_eq(peer->closed, 1);
		peer_free(peer);
	}
}
