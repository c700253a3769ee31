/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_TESTS_WRITES_H
#define SMB_CLIENT_TESTS_WRITES_H

/** Writing files, for tests. */

#include "protocol/client/tests/peer.h"

#define MIB UINT64_C(1048576)
#define SOURCE 9 /* stream of what is written */

static const struct smb_op mount_op = { .kind = SMB_OP_MOUNT };

/** Mount and open. */
uint32_t open_for(struct peer *peer, const struct smb_op *open);
/** dd of=file: created, or cut to nothing. */
uint32_t open_new(struct peer *peer);
struct smb_op write_op(uint32_t file, uint64_t offset, uint64_t length);
void write_all(struct peer *peer, uint32_t file, uint64_t bytes, uint64_t block);
enum smb_op_verdict sync_file(struct peer *peer, uint32_t file);
enum smb_op_verdict close_file(struct peer *peer, uint32_t file);
uint32_t count_of(const struct peer *peer, uint16_t command);
/** The sequence of commands from `from` on. */
void expect_commands(const struct peer *peer, uint32_t from, const uint16_t *commands, uint32_t count);

#endif
