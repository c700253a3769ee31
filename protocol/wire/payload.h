/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_PAYLOAD_H
#define SMB_WIRE_PAYLOAD_H

#include <stdint.h>

/**
 * File data that does not travel in the bytes.
 *
 * A simulated run moves terabytes that nobody looks at, so file data is named instead of copied: `length` bytes of
 * the endless byte stream `source`, from stream position `offset` on. A file created by a host starts out as one
 * source, its stream position equal to the file offset. Cutting and joining slices is exact, so the monitor can tell
 * a READ that came back with the right bytes from one that did not (invariant C27). `source` 0 is all zero bytes.
 */
struct smb_slice {
	uint64_t source;
	uint64_t offset;
	uint32_t length; /* bytes; 0 = no data */
};

/** One byte of a source's stream, for hosts that need the real bytes (captures, live runs). */
static inline uint8_t smb_source_byte(uint64_t source, uint64_t position)
{
	if (!source)
		return 0;
	uint64_t x = (source ^ (position >> 3)) * UINT64_C(0x9e3779b97f4a7c15);
	x ^= x >> 29;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 32;
	return (uint8_t)(x >> (8 * (position & 7)));
}

/** The part of a slice that starts `skip` bytes in and is `length` bytes long; skip + length <= slice.length. */
static inline struct smb_slice smb_slice_cut(struct smb_slice slice, uint32_t skip, uint32_t length)
{
	return (struct smb_slice){ .source = slice.source, .offset = slice.offset + skip, .length = length };
}

/**
 * One transport message: what one send puts on a connection, without its 4-byte framing.
 * The bytes belong to whoever filled the buffer and are valid until that buffer is used again.
 */
struct smb_pdu {
	const uint8_t *bytes; /* one SMB2 message or a compound chain, as encoded */
	uint32_t length; /* of bytes */
	struct smb_slice payload; /* data of the last member when it is a READ response or WRITE request */
};

/** Bytes this PDU occupies in the TCP stream, framing and payload included. */
static inline uint64_t smb_pdu_stream_bytes(const struct smb_pdu *pdu)
{
	return UINT64_C(4) + pdu->length + pdu->payload.length;
}

#endif
