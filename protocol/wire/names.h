/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_NAMES_H
#define SMB_WIRE_NAMES_H

#include "protocol/wire/message.h"

/** Names in the project's own inputs are ASCII; on the wire they are UTF-16LE without a terminator (MS-SMB2 2.2). */

/**
 * Write `ascii` as UTF-16LE into `buffer`; `name` views it there.
 * NO_SPACE: `size` < 2 * strlen(ascii). BAD_VALUE: a character above 0x7f.
 */
enum smb_wire_verdict smb_utf16_from_ascii(const char *ascii, uint8_t *buffer, uint32_t size, struct smb_blob *name);

/**
 * The way back, terminated. NO_SPACE: `size` has no room for it and the terminator (a size of 0 included).
 * BAD_VALUE: an odd number of bytes, a zero or a character above 0x7f; then `buffer` holds what came before it.
 */
enum smb_wire_verdict smb_ascii_from_utf16(struct smb_blob name, char *buffer, uint32_t size);

/** True when the name is exactly `ascii`, case included. */
bool smb_utf16_equals_ascii(struct smb_blob name, const char *ascii);

#endif
