/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/names.h"

#include <string.h>

#define ASCII_MAX 0x7f

enum smb_wire_verdict smb_utf16_from_ascii(const char *ascii, uint8_t *buffer, uint32_t size, struct smb_blob *name)
{
	size_t length = strlen(ascii);
	*name = (struct smb_blob){ NULL, 0 };
	if (length > size / 2)
		return SMB_WIRE_NO_SPACE;
	for (size_t i = 0; i < length; i++) {
		if ((uint8_t)ascii[i] > ASCII_MAX)
			return SMB_WIRE_BAD_VALUE;
		buffer[2 * i] = (uint8_t)ascii[i];
		buffer[2 * i + 1] = 0;
	}
	if (length)
		*name = (struct smb_blob){ buffer, (uint32_t)(2 * length) };
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb_ascii_from_utf16(struct smb_blob name, char *buffer, uint32_t size)
{
	if (!size || name.length / 2 > size - 1)
		return SMB_WIRE_NO_SPACE;
	buffer[0] = 0;
	if (name.length & 1)
		return SMB_WIRE_BAD_VALUE;
	for (uint32_t i = 0; i < name.length / 2; i++) {
		uint8_t low = name.data[2 * i];
		if (name.data[2 * i + 1] || !low || low > ASCII_MAX)
			return SMB_WIRE_BAD_VALUE;
		buffer[i] = (char)low;
		buffer[i + 1] = 0;
	}
	return SMB_WIRE_OK;
}

bool smb_utf16_equals_ascii(struct smb_blob name, const char *ascii)
{
	if (name.length != 2 * strlen(ascii))
		return false;
	for (uint32_t i = 0; i < name.length / 2; i++) {
		if (name.data[2 * i] != (uint8_t)ascii[i] || name.data[2 * i + 1])
			return false;
	}
	return true;
}
