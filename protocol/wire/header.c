/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/header.h"

#define PROTOCOL_ID 0x424d53feu /* FE 'S' 'M' 'B' */

/* Offsets of MS-SMB2 2.2.1.1 and 2.2.1.2. */
#define HEADER_STRUCTURE_SIZE 4
#define HEADER_CREDIT_CHARGE 6
#define HEADER_STATUS 8 /* ChannelSequence in requests */
#define HEADER_COMMAND 12
#define HEADER_CREDITS 14
#define HEADER_FLAGS 16
#define HEADER_MESSAGE_ID 24
#define HEADER_PROCESS_ID 32 /* AsyncId in asynchronous messages */
#define HEADER_TREE_ID 36
#define HEADER_SESSION_ID 40
#define HEADER_SIGNATURE 48

void smb2_header_encode(const struct smb2_header *header, uint8_t bytes[SMB2_HEADER_SIZE])
{
	smb_put32(bytes, PROTOCOL_ID);
	smb_put16(bytes + HEADER_STRUCTURE_SIZE, SMB2_HEADER_SIZE);
	smb_put16(bytes + HEADER_CREDIT_CHARGE, header->credit_charge);
	if (header->flags & SMB2_FLAGS_SERVER_TO_REDIR)
		smb_put32(bytes + HEADER_STATUS, header->status);
	else
		smb_put32(bytes + HEADER_STATUS, header->channel_sequence);
	smb_put16(bytes + HEADER_COMMAND, header->command);
	smb_put16(bytes + HEADER_CREDITS, header->credits);
	smb_put32(bytes + HEADER_FLAGS, header->flags);
	smb_put32(bytes + SMB2_HEADER_NEXT_COMMAND, 0);
	smb_put64(bytes + HEADER_MESSAGE_ID, header->message_id);
	if (header->flags & SMB2_FLAGS_ASYNC_COMMAND) {
		smb_put64(bytes + HEADER_PROCESS_ID, header->async_id);
	} else {
		smb_put32(bytes + HEADER_PROCESS_ID, header->process_id);
		smb_put32(bytes + HEADER_TREE_ID, header->tree_id);
	}
	smb_put64(bytes + HEADER_SESSION_ID, header->session_id);
	memcpy(bytes + HEADER_SIGNATURE, header->signature, sizeof(header->signature));
}

enum smb_wire_verdict smb2_header_decode(const uint8_t *bytes, uint32_t length, struct smb2_header *header,
					 uint32_t *next_command)
{
	if (length < SMB2_HEADER_SIZE)
		return SMB_WIRE_TRUNCATED;
	if (smb_get32(bytes) != PROTOCOL_ID)
		return SMB_WIRE_BAD_PROTOCOL_ID;
	if (smb_get16(bytes + HEADER_STRUCTURE_SIZE) != SMB2_HEADER_SIZE)
		return SMB_WIRE_BAD_STRUCTURE_SIZE;

	uint32_t status = smb_get32(bytes + HEADER_STATUS);
	header->flags = smb_get32(bytes + HEADER_FLAGS);
	bool response = header->flags & SMB2_FLAGS_SERVER_TO_REDIR;
	bool async = header->flags & SMB2_FLAGS_ASYNC_COMMAND;
	header->credit_charge = smb_get16(bytes + HEADER_CREDIT_CHARGE);
	header->channel_sequence = response ? 0 : (uint16_t)status;
	header->status = response ? status : 0;
	header->command = smb_get16(bytes + HEADER_COMMAND);
	header->credits = smb_get16(bytes + HEADER_CREDITS);
	header->message_id = smb_get64(bytes + HEADER_MESSAGE_ID);
	header->async_id = async ? smb_get64(bytes + HEADER_PROCESS_ID) : 0;
	header->process_id = async ? 0 : smb_get32(bytes + HEADER_PROCESS_ID);
	header->tree_id = async ? 0 : smb_get32(bytes + HEADER_TREE_ID);
	header->session_id = smb_get64(bytes + HEADER_SESSION_ID);
	memcpy(header->signature, bytes + HEADER_SIGNATURE, sizeof(header->signature));
	*next_command = smb_get32(bytes + SMB2_HEADER_NEXT_COMMAND);
	return SMB_WIRE_OK;
}

void smb2_ids_relative(uint8_t *bytes, uint32_t length, uint64_t base)
{
	struct smb2_header header;
	uint32_t position = 0, next;

	do {
		uint8_t *at = bytes + position;

		if (smb2_header_decode(at, length - position, &header, &next) != SMB_WIRE_OK)
			return;
		if (header.message_id != SMB2_MESSAGE_ID_UNSOLICITED)
			smb_put64(at + HEADER_MESSAGE_ID, header.message_id - base);
		if (header.flags & SMB2_FLAGS_ASYNC_COMMAND)
			smb_put64(at + HEADER_PROCESS_ID, header.async_id - base);
		if (next > length - position)
			return;
		position += next;
	} while (next && position < length);
}

void smb_frame_encode(uint32_t length, uint8_t frame[4])
{
	frame[0] = 0;
	frame[1] = (uint8_t)(length >> 16);
	frame[2] = (uint8_t)(length >> 8);
	frame[3] = (uint8_t)length;
}

enum smb_wire_verdict smb_frame_decode(const uint8_t frame[4], uint32_t *length)
{
	if (frame[0])
		return SMB_WIRE_BAD_VALUE;
	*length = (uint32_t)frame[1] << 16 | (uint32_t)frame[2] << 8 | frame[3];
	return SMB_WIRE_OK;
}
