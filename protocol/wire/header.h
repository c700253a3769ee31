/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_HEADER_H
#define SMB_WIRE_HEADER_H

/** The 64-byte header (MS-SMB2 2.2.1); private to protocol/wire. Its decoder is public, in message.h. */

#include "protocol/wire/buffer.h"

#define SMB2_HEADER_NEXT_COMMAND 20

/** NextCommand becomes 0: chain.c fills it when another member follows. */
void smb2_header_encode(const struct smb2_header *header, uint8_t bytes[SMB2_HEADER_SIZE]);

#endif
