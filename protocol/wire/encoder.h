/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_ENCODER_H
#define SMB_WIRE_ENCODER_H

/**
 * Writes the canonical form of a block of state, for hashing. Numbers stand in the order of this machine's bytes: the
 * form is compared here and now, never kept or sent.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct smb_encoder {
	uint8_t *buffer;
	size_t size;
	size_t used; /* may pass size: it did not fit */
};

static inline void smb_encode_bytes(struct smb_encoder *encoder, const void *bytes, size_t length)
{
	if (encoder->used + length <= encoder->size)
		memcpy(encoder->buffer + encoder->used, bytes, length);
	encoder->used += length;
}

static inline void smb_encode8(struct smb_encoder *encoder, uint64_t value)
{
	uint8_t byte = (uint8_t)value;

	smb_encode_bytes(encoder, &byte, sizeof(byte));
}

static inline void smb_encode16(struct smb_encoder *encoder, uint64_t value)
{
	uint16_t half = (uint16_t)value;

	smb_encode_bytes(encoder, &half, sizeof(half));
}

static inline void smb_encode32(struct smb_encoder *encoder, uint64_t value)
{
	uint32_t word = (uint32_t)value;

	smb_encode_bytes(encoder, &word, sizeof(word));
}

static inline void smb_encode64(struct smb_encoder *encoder, uint64_t value)
{
	smb_encode_bytes(encoder, &value, sizeof(value));
}

/** Bytes written; 0 when they did not fit. */
static inline size_t smb_encoder_length(const struct smb_encoder *encoder)
{
	return encoder->used <= encoder->size ? encoder->used : 0;
}

#endif
