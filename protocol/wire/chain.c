/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/body.h"
#include "protocol/wire/header.h"

#include <assert.h>

bool smb_chain_writer_is_valid(const struct smb_chain_writer *writer)
{
	if (writer->used > writer->size || (writer->size && !writer->buffer))
		return false;
	if (!writer->members)
		return !writer->used && !writer->last_member && !writer->filler && !writer->payload.length;
	return writer->last_member % 8 == 0 && writer->last_member < writer->used &&
	       writer->used - writer->last_member >= SMB2_HEADER_SIZE + writer->filler;
}

void smb_chain_begin(struct smb_chain_writer *writer, uint8_t *buffer, uint32_t size)
{
	*writer = (struct smb_chain_writer){ .buffer = buffer, .size = size };
}

enum smb_wire_verdict smb_chain_append(struct smb_chain_writer *writer, const struct smb2_message *message)
{
	assert(smb_chain_writer_is_valid(writer));
	if (writer->payload.length)
		return SMB_WIRE_BAD_PAYLOAD;

	uint32_t end = writer->used - writer->filler;
	uint32_t start = smb_align8(end);
	if (start > writer->size)
		return SMB_WIRE_NO_SPACE;
	struct smb_member_writer member = { .bytes = writer->buffer + start, .size = writer->size - start };
	enum smb_wire_verdict verdict = smb2_member_encode(&member, message);
	if (verdict != SMB_WIRE_OK)
		return verdict;

	if (writer->members) {
		memset(writer->buffer + end, 0, start - end);
		smb_put32(writer->buffer + writer->last_member + SMB2_HEADER_NEXT_COMMAND, start - writer->last_member);
	}
	writer->last_member = start;
	writer->used = start + member.used;
	writer->filler = member.filler;
	writer->payload = member.payload;
	writer->members++;
	return SMB_WIRE_OK;
}

struct smb_pdu smb_chain_finish(const struct smb_chain_writer *writer)
{
	assert(smb_chain_writer_is_valid(writer));
	return (struct smb_pdu){ .bytes = writer->buffer, .length = writer->used, .payload = writer->payload };
}

enum smb_wire_verdict smb2_message_encode(const struct smb2_message *message, uint8_t *buffer, uint32_t size,
					  struct smb_pdu *pdu)
{
	struct smb_member_writer member = { .bytes = buffer, .size = size };
	enum smb_wire_verdict verdict = smb2_member_encode(&member, message);
	if (verdict == SMB_WIRE_OK)
		*pdu = (struct smb_pdu){ .bytes = buffer, .length = member.used, .payload = member.payload };
	return verdict;
}

bool smb_chain_reader_is_valid(const struct smb_chain_reader *reader)
{
	return (!reader->pdu.length || reader->pdu.bytes) && reader->position <= reader->pdu.length &&
	       (!reader->first || (!reader->position && !reader->member && !reader->done));
}

void smb_chain_read(struct smb_chain_reader *reader, const struct smb_pdu *pdu)
{
	*reader = (struct smb_chain_reader){ .pdu = *pdu, .first = true };
}

/* NextCommand is the offset of the next header from this one: aligned, outside this header, and with room for a whole
 * header there (MS-SMB2 3.3.5.2.7, C12). */
static bool next_command_is_good(uint32_t next_command, uint32_t remaining)
{
	return next_command % 8 == 0 && next_command >= SMB2_HEADER_SIZE && next_command < remaining &&
	       remaining - next_command >= SMB2_HEADER_SIZE;
}

static enum smb_wire_verdict decode_member(struct smb_chain_reader *reader, struct smb2_message *message)
{
	uint32_t remaining = reader->pdu.length - reader->position;
	if (!remaining)
		return SMB_WIRE_TRUNCATED;
	const uint8_t *bytes = reader->pdu.bytes + reader->position;
	uint32_t next_command;
	enum smb_wire_verdict verdict = smb2_header_decode(bytes, remaining, &message->header, &next_command);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	if (next_command && !next_command_is_good(next_command, remaining))
		return SMB_WIRE_BAD_NEXT_COMMAND;

	struct smb_member member = { .bytes = bytes, .length = next_command ? next_command : remaining };
	if (!next_command)
		member.payload = reader->pdu.payload;
	reader->position += member.length;
	reader->done = !next_command;
	return smb2_member_decode(&member, message);
}

enum smb_wire_verdict smb_chain_next(struct smb_chain_reader *reader, struct smb2_message *message)
{
	assert(smb_chain_reader_is_valid(reader));
	if (reader->done)
		return SMB_WIRE_END;
	reader->member += !reader->first;
	reader->first = false;
	enum smb_wire_verdict verdict = decode_member(reader, message);
	if (verdict != SMB_WIRE_OK)
		reader->done = true;
	return verdict;
}

enum smb_wire_verdict smb2_message_decode(const struct smb_pdu *pdu, struct smb2_message *message)
{
	struct smb_chain_reader reader;
	smb_chain_read(&reader, pdu);
	enum smb_wire_verdict verdict = smb_chain_next(&reader, message);
	if (verdict == SMB_WIRE_OK && smb_chain_has_more(&reader))
		return SMB_WIRE_BAD_NEXT_COMMAND;
	return verdict;
}
