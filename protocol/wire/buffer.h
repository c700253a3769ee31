/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_BUFFER_H
#define SMB_WIRE_BUFFER_H

/**
 * Bounded access to the bytes of one chain member; private to protocol/wire.
 *
 * The dispatcher in message.c checks once that the fixed part of a body is there (decode) or reserves and clears it
 * (encode). Body functions then use constant offsets into the fixed part and come here only for variable parts, which
 * are placed and found by offsets from the start of the member's header (MS-SMB2 2.2, all Buffer fields).
 */

#include "protocol/wire/endian.h"
#include "protocol/wire/message.h"

#include <string.h>

static inline struct smb2_file_id smb_get_file_id(const uint8_t *p)
{
	return (struct smb2_file_id){ .persistent = smb_get64(p), .volatile_id = smb_get64(p + 8) };
}

static inline void smb_put_file_id(uint8_t *p, struct smb2_file_id id)
{
	smb_put64(p, id.persistent);
	smb_put64(p + 8, id.volatile_id);
}

static inline uint32_t smb_align8(uint32_t position)
{
	return (position + 7) & ~UINT32_C(7);
}

/** One member of a PDU while it is decoded. Offsets count from `bytes`, the first byte of its header. */
struct smb_member {
	const uint8_t *bytes;
	uint32_t length; /* header, body and padding of this member */
	uint32_t fixed_end; /* first byte behind the fixed part of the body: no variable part starts before it */
	struct smb_slice payload; /* length 0: file data is in the bytes */
};

/** The fixed part of the body, StructureSize first. */
static inline const uint8_t *smb_member_fixed(const struct smb_member *member)
{
	return member->bytes + SMB2_HEADER_SIZE;
}

/** The bytes that an offset/length pair names. A length of 0 makes the offset meaningless, whatever it holds. */
static inline enum smb_wire_verdict smb_member_view(const struct smb_member *member, uint32_t offset, uint32_t length,
						    struct smb_blob *blob)
{
	*blob = (struct smb_blob){ NULL, 0 };
	if (!length)
		return SMB_WIRE_OK;
	if (offset < member->fixed_end)
		return SMB_WIRE_BAD_OFFSET;
	if (offset > member->length || length > member->length - offset)
		return SMB_WIRE_TRUNCATED;
	*blob = (struct smb_blob){ member->bytes + offset, length };
	return SMB_WIRE_OK;
}

/** As smb_member_view for a UTF-16LE name: an odd number of bytes is BAD_VALUE. */
static inline enum smb_wire_verdict smb_member_name(const struct smb_member *member, uint32_t offset, uint32_t length,
						    struct smb_blob *blob)
{
	if (length & 1)
		return SMB_WIRE_BAD_VALUE;
	return smb_member_view(member, offset, length, blob);
}

/** Two variable parts of one member must not share bytes. */
static inline bool smb_blobs_overlap(struct smb_blob a, struct smb_blob b)
{
	return a.length && b.length && a.data < b.data + b.length && b.data < a.data + a.length;
}

/** One member while it is encoded. */
struct smb_member_writer {
	uint8_t *bytes; /* first byte of the member's header */
	uint32_t size; /* room from there on */
	uint32_t used;
	uint32_t filler; /* trailing bytes that go when another member follows */
	struct smb_slice payload; /* file data that stays out of the bytes and follows `used` */
};

/** The next `length` bytes, not cleared; NULL when they do not fit. */
static inline uint8_t *smb_member_reserve(struct smb_member_writer *writer, uint32_t length)
{
	if (length > writer->size - writer->used)
		return NULL;
	uint8_t *p = writer->bytes + writer->used;
	writer->used += length;
	return p;
}

static inline enum smb_wire_verdict smb_member_zeros(struct smb_member_writer *writer, uint32_t length)
{
	uint8_t *p = smb_member_reserve(writer, length);
	if (!p)
		return SMB_WIRE_NO_SPACE;
	memset(p, 0, length);
	return SMB_WIRE_OK;
}

static inline enum smb_wire_verdict smb_member_align8(struct smb_member_writer *writer)
{
	return smb_member_zeros(writer, smb_align8(writer->used) - writer->used);
}

static inline enum smb_wire_verdict smb_member_append(struct smb_member_writer *writer, struct smb_blob blob)
{
	if (!blob.length)
		return SMB_WIRE_OK;
	if (!blob.data)
		return SMB_WIRE_BAD_VALUE;
	uint8_t *p = smb_member_reserve(writer, blob.length);
	if (!p)
		return SMB_WIRE_NO_SPACE;
	memcpy(p, blob.data, blob.length);
	return SMB_WIRE_OK;
}

/**
 * The one byte that a request with an odd StructureSize, and the error response, must carry when the variable part is
 * empty (MS-SMB2 2.2.2, 2.2.19, 2.2.21, 2.2.31 and others).
 */
static inline enum smb_wire_verdict smb_member_minimum(struct smb_member_writer *writer)
{
	return smb_member_zeros(writer, 1);
}

#endif
