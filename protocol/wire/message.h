/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_MESSAGE_H
#define SMB_WIRE_MESSAGE_H

#include "protocol/wire/smb2.h"

#include <stddef.h>

/** What came of encoding or decoding. Everything but SMB_WIRE_OK names what is wrong with the bytes or the value. */
enum smb_wire_verdict {
	SMB_WIRE_OK,
	SMB_WIRE_END, /* smb_chain_next: no further member */
	SMB_WIRE_NO_SPACE, /* encode: the buffer is too small */
	SMB_WIRE_TRUNCATED, /* decode: a fixed part, or a length or offset field, points past the end */
	SMB_WIRE_BAD_PROTOCOL_ID, /* not FE 'S' 'M' 'B' */
	SMB_WIRE_BAD_STRUCTURE_SIZE, /* StructureSize of header or body is not what MS-SMB2 2.2 demands */
	SMB_WIRE_BAD_OFFSET, /* an offset points into the fixed part, overlaps, or is misaligned */
	SMB_WIRE_BAD_NEXT_COMMAND, /* NextCommand is unaligned, inside this member's header, or past the PDU (C12) */
	SMB_WIRE_BAD_VALUE, /* a field value that MS-SMB2 does not allow */
	SMB_WIRE_TOO_MANY, /* more dialects, contexts or locks than the value can hold */
	SMB_WIRE_UNKNOWN_COMMAND,
	SMB_WIRE_BAD_PAYLOAD, /* DataLength differs from the payload that came with the PDU */
};

/** The verdict in words, for messages: "truncated", "bad NextCommand", ... Never NULL. */
const char *smb_wire_verdict_name(enum smb_wire_verdict verdict);

/** The command's name as Wireshark and the kernel print it: "READ", "QUERY_DIRECTORY"; "UNKNOWN" outside the range. */
const char *smb2_command_name(uint16_t command);

/**
 * Write one compound chain (or a single message, the common case) into `buffer`.
 *
 * begin, then append each member in order, then finish. NextCommand, the 8-byte padding between members and every
 * offset field are derived here and nowhere else (MS-SMB2 3.2.4.1.4, invariant C12). Only the last member may carry
 * a payload that stays out of the bytes.
 */
struct smb_chain_writer {
	uint8_t *buffer;
	uint32_t size; /* of buffer */
	uint32_t used;
	uint32_t last_member; /* where the last member's header starts */
	uint32_t members;
	uint32_t filler; /* bytes at the end that go when another member follows */
	struct smb_slice payload;
};

/** True for every writer that begin and append leave behind; asserted by append and finish. */
bool smb_chain_writer_is_valid(const struct smb_chain_writer *writer);

/** Start over; `buffer` stays the caller's and must outlive the PDU. */
void smb_chain_begin(struct smb_chain_writer *writer, uint8_t *buffer, uint32_t size);
/**
 * OK, or the writer is as it was before:
 * NO_SPACE; BAD_PAYLOAD (the member before carries a payload that is not in the bytes, or data_length differs from the
 * data); BAD_VALUE (kind does not fit command, direction and status, a variable part does not fit its length field);
 * TOO_MANY; UNKNOWN_COMMAND.
 */
enum smb_wire_verdict smb_chain_append(struct smb_chain_writer *writer, const struct smb2_message *message);
/** The finished PDU; its bytes are the writer's buffer. */
struct smb_pdu smb_chain_finish(const struct smb_chain_writer *writer);

/** begin + append + finish for a single message. */
enum smb_wire_verdict smb2_message_encode(const struct smb2_message *message, uint8_t *buffer, uint32_t size,
					  struct smb_pdu *pdu);

/**
 * Walk the members of a PDU. `next` decodes one member per call and answers SMB_WIRE_END after the last.
 * Any other verdict than OK ends the walk: the rest of the PDU cannot be trusted.
 * Decoding never reads outside pdu->bytes[0..length) and never follows an offset out of its own member.
 */
struct smb_chain_reader {
	struct smb_pdu pdu;
	uint32_t position; /* of the next member */
	uint32_t member; /* index of the member that `next` returned last, from 0 */
	bool done;
	bool first;
};

bool smb_chain_reader_is_valid(const struct smb_chain_reader *reader);

void smb_chain_read(struct smb_chain_reader *reader, const struct smb_pdu *pdu);
enum smb_wire_verdict smb_chain_next(struct smb_chain_reader *reader, struct smb2_message *message);

/** True when `next` just returned a member that another one follows. */
static inline bool smb_chain_has_more(const struct smb_chain_reader *reader)
{
	return !reader->done;
}

/** Decode a PDU that must be a single message: a chain is SMB_WIRE_BAD_NEXT_COMMAND. */
enum smb_wire_verdict smb2_message_decode(const struct smb_pdu *pdu, struct smb2_message *message);

/** Same value: what the bytes of this kind of message carry is equal, variable parts compared by content. */
bool smb2_message_equal(const struct smb2_message *a, const struct smb2_message *b);

/**
 * For canonical forms: the MessageId, and where there is one the AsyncId, of each member become relative to `base`.
 * That of break notifications (MS-SMB2 3.3.4.6) stays, and so does what is no SMB2 message. A server that takes its
 * AsyncIds from the MessageIds, as ours does, then says the same wherever the window stands.
 */
void smb2_ids_relative(uint8_t *bytes, uint32_t length, uint64_t base);

/** Only the header of the first member: cheap look for dispatch and for the monitor's fast path. */
enum smb_wire_verdict smb2_header_decode(const uint8_t *bytes, uint32_t length, struct smb2_header *header,
					 uint32_t *next_command);

/** The 4-byte direct TCP framing: a zero byte and a 24-bit length (MS-SMB2 2.1). */
void smb_frame_encode(uint32_t length, uint8_t frame[4]);
/** BAD_VALUE when the first byte is not zero (a NetBIOS keep-alive 0x85 included). */
enum smb_wire_verdict smb_frame_decode(const uint8_t frame[4], uint32_t *length);

/** Credits that a request of these payload sizes costs with multi-credit (MS-SMB2 3.1.5.2): at least 1. */
static inline uint16_t smb2_credit_charge(uint32_t send_bytes, uint32_t response_bytes)
{
	uint32_t larger = send_bytes > response_bytes ? send_bytes : response_bytes;
	return (uint16_t)(larger ? (larger - 1) / SMB2_CREDIT_UNIT + 1 : 1);
}

/** One entry of the FSCTL_QUERY_NETWORK_INTERFACE_INFO answer (MS-SMB2 2.2.32.5). */
struct smb2_network_interface {
	uint32_t index;
	uint32_t capability; /* 1 = RSS, 2 = RDMA */
	uint64_t link_speed_bps; /* 0 is seen in the field */
	bool is_ipv6;
	uint16_t port;
	uint8_t address[16]; /* IPv4 in the first four bytes */
};

/** Entries to bytes and back; `count` in: room, out: how many. Unknown address families are skipped when decoding. */
enum smb_wire_verdict smb2_interfaces_encode(const struct smb2_network_interface *list, uint32_t count, uint8_t *buffer,
					     uint32_t size, uint32_t *used);
enum smb_wire_verdict smb2_interfaces_decode(struct smb_blob blob, struct smb2_network_interface *list,
					     uint32_t *count);

#endif
