/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/client/tests/writes.h"

#include <criterion/criterion.h>

uint32_t open_for(struct peer *peer, const struct smb_op *open)
{
	cr_assert_eq(peer_do(peer, &mount_op), SMB_OP_OK);
	cr_assert_eq(peer_do(peer, open), SMB_OP_OK);
	return peer->done.file;
}

uint32_t open_new(struct peer *peer)
{
	return open_for(peer, &(struct smb_op){ .kind = SMB_OP_OPEN,
						.name = "file",
						.access = SMB_OPEN_WRITE,
						.create = true,
						.truncate = true });
}

struct smb_op write_op(uint32_t file, uint64_t offset, uint64_t length)
{
	return (struct smb_op){ .kind = SMB_OP_WRITE,
				.file = file,
				.offset = offset,
				.length = length,
				.source = SOURCE,
				.source_offset = offset };
}

void write_all(struct peer *peer, uint32_t file, uint64_t bytes, uint64_t block)
{
	for (uint64_t offset = 0; offset < bytes; offset += block) {
		struct smb_op write = write_op(file, offset, block < bytes - offset ? block : bytes - offset);

		cr_assert_eq(peer_do(peer, &write), SMB_OP_OK);
		cr_assert_eq(peer->done.bytes, write.length);
	}
}

enum smb_op_verdict sync_file(struct peer *peer, uint32_t file)
{
	return peer_do(peer, &(struct smb_op){ .kind = SMB_OP_FSYNC, .file = file });
}

enum smb_op_verdict close_file(struct peer *peer, uint32_t file)
{
	return peer_do(peer, &(struct smb_op){ .kind = SMB_OP_CLOSE, .file = file });
}

uint32_t count_of(const struct peer *peer, uint16_t command)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < peer->log_count; i++)
		count += peer->log[i].command == command;
	return count;
}

void expect_commands(const struct peer *peer, uint32_t from, const uint16_t *commands, uint32_t count)
{
	cr_assert_eq(peer->log_count - from, count, "%u commands, not %u", peer->log_count - from, count);
	for (uint32_t i = 0; i < count; i++)
		cr_expect_eq(peer->log[from + i].command, commands[i], "command %u is %u, not %u", i,
			     peer->log[from + i].command, commands[i]);
}
