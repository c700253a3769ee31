/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* READ, WRITE, FLUSH and LOCK (MS-SMB2 2.2.17, 2.2.19 to 2.2.22, 2.2.26). */
#include "protocol/wire/body.h"

#define LOCK_ELEMENT_SIZE 24u

/* Encode: file data goes into the bytes or stays out of them, and its length is what the length field says. */
static enum smb_wire_verdict append_data(struct smb_member_writer *writer, uint32_t length, struct smb_blob data,
					 struct smb_slice payload)
{
	if (length != (data.data ? data.length : payload.length) || (data.data && payload.length))
		return SMB_WIRE_BAD_PAYLOAD;
	if (data.data)
		return smb_member_append(writer, data);
	writer->payload = payload;
	return SMB_WIRE_OK;
}

/* Decode: a payload that came beside the bytes starts where they end. */
static enum smb_wire_verdict view_data(const struct smb_member *member, uint32_t offset, uint32_t length,
				       struct smb_blob *data)
{
	if (!member->payload.length)
		return smb_member_view(member, offset, length, data);
	*data = (struct smb_blob){ NULL, 0 };
	if (length != member->payload.length || offset != member->length)
		return SMB_WIRE_BAD_PAYLOAD;
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_read_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
					   const struct smb2_message *message)
{
	const struct smb2_read_req *req = &message->body.read_req;
	fixed[3] = req->flags;
	smb_put32(fixed + 4, req->length);
	smb_put64(fixed + 8, req->offset);
	smb_put_file_id(fixed + 16, req->file_id);
	smb_put32(fixed + 32, req->minimum_count);
	smb_put32(fixed + 36, req->channel);
	smb_put32(fixed + 40, req->remaining_bytes);
	return smb_member_minimum(writer);
}

enum smb_wire_verdict smb2_read_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	message->body.read_req = (struct smb2_read_req){
		.flags = fixed[3],
		.length = smb_get32(fixed + 4),
		.offset = smb_get64(fixed + 8),
		.file_id = smb_get_file_id(fixed + 16),
		.minimum_count = smb_get32(fixed + 32),
		.channel = smb_get32(fixed + 36),
		.remaining_bytes = smb_get32(fixed + 40),
	};
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_read_rsp_encode(struct smb_member_writer *writer, uint8_t *fixed,
					   const struct smb2_message *message)
{
	const struct smb2_read_rsp *rsp = &message->body.read_rsp;
	fixed[2] = (uint8_t)writer->used;
	smb_put32(fixed + 4, rsp->data_length);
	smb_put32(fixed + 8, rsp->data_remaining);
	return append_data(writer, rsp->data_length, rsp->data, rsp->payload);
}

enum smb_wire_verdict smb2_read_rsp_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_read_rsp *rsp = &message->body.read_rsp;
	rsp->data_length = smb_get32(fixed + 4);
	rsp->data_remaining = smb_get32(fixed + 8);
	rsp->payload = member->payload;
	return view_data(member, fixed[2], rsp->data_length, &rsp->data);
}

enum smb_wire_verdict smb2_write_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
					    const struct smb2_message *message)
{
	const struct smb2_write_req *req = &message->body.write_req;
	smb_put16(fixed + 2, (uint16_t)writer->used);
	smb_put32(fixed + 4, req->data_length);
	smb_put64(fixed + 8, req->offset);
	smb_put_file_id(fixed + 16, req->file_id);
	smb_put32(fixed + 32, req->channel);
	smb_put32(fixed + 36, req->remaining_bytes);
	smb_put32(fixed + 44, req->flags);
	enum smb_wire_verdict verdict = append_data(writer, req->data_length, req->data, req->payload);
	if (verdict != SMB_WIRE_OK || req->data_length)
		return verdict;
	return smb_member_minimum(writer);
}

enum smb_wire_verdict smb2_write_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_write_req *req = &message->body.write_req;
	req->data_length = smb_get32(fixed + 4);
	req->offset = smb_get64(fixed + 8);
	req->file_id = smb_get_file_id(fixed + 16);
	req->channel = smb_get32(fixed + 32);
	req->remaining_bytes = smb_get32(fixed + 36);
	req->flags = smb_get32(fixed + 44);
	req->payload = member->payload;
	return view_data(member, smb_get16(fixed + 2), req->data_length, &req->data);
}

enum smb_wire_verdict smb2_write_rsp_encode(struct smb_member_writer *writer, uint8_t *fixed,
					    const struct smb2_message *message)
{
	(void)writer;
	smb_put32(fixed + 4, message->body.write_rsp.count);
	smb_put32(fixed + 8, message->body.write_rsp.remaining);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_write_rsp_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	message->body.write_rsp.count = smb_get32(fixed + 4);
	message->body.write_rsp.remaining = smb_get32(fixed + 8);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_flush_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
					    const struct smb2_message *message)
{
	(void)writer;
	smb_put_file_id(fixed + 8, message->body.flush_req.file_id);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_flush_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	message->body.flush_req.file_id = smb_get_file_id(smb_member_fixed(member) + 8);
	return SMB_WIRE_OK;
}

/* StructureSize counts the first element, so the dispatcher reserved it (MS-SMB2 2.2.26). */
enum smb_wire_verdict smb2_lock_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
					   const struct smb2_message *message)
{
	const struct smb2_lock_req *req = &message->body.lock_req;
	if (req->lock_count > SMB2_LOCKS_MAX)
		return SMB_WIRE_TOO_MANY;
	if (!req->lock_count)
		return SMB_WIRE_BAD_VALUE;
	smb_put16(fixed + 2, req->lock_count);
	smb_put32(fixed + 4, req->lock_sequence);
	smb_put_file_id(fixed + 8, req->file_id);
	if (!smb_member_reserve(writer, (req->lock_count - 1u) * LOCK_ELEMENT_SIZE))
		return SMB_WIRE_NO_SPACE;
	for (uint16_t i = 0; i < req->lock_count; i++) {
		uint8_t *p = fixed + LOCK_ELEMENT_SIZE * (i + 1u);
		smb_put64(p, req->locks[i].offset);
		smb_put64(p + 8, req->locks[i].length);
		smb_put32(p + 16, req->locks[i].flags);
		smb_put32(p + 20, 0);
	}
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_lock_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_lock_req *req = &message->body.lock_req;
	req->lock_count = smb_get16(fixed + 2);
	req->lock_sequence = smb_get32(fixed + 4);
	req->file_id = smb_get_file_id(fixed + 8);
	if (!req->lock_count)
		return SMB_WIRE_BAD_VALUE;
	if ((req->lock_count - 1u) * LOCK_ELEMENT_SIZE > member->length - member->fixed_end)
		return SMB_WIRE_TRUNCATED;
	if (req->lock_count > SMB2_LOCKS_MAX)
		return SMB_WIRE_TOO_MANY;
	for (uint16_t i = 0; i < req->lock_count; i++) {
		const uint8_t *p = fixed + LOCK_ELEMENT_SIZE * (i + 1u);
		req->locks[i] = (struct smb2_lock_element){
			.offset = smb_get64(p),
			.length = smb_get64(p + 8),
			.flags = smb_get32(p + 16),
		};
	}
	return SMB_WIRE_OK;
}
