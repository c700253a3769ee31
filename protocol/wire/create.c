/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CREATE and CLOSE (MS-SMB2 2.2.13 to 2.2.16). */
#include "protocol/wire/body.h"

static void put_times(uint8_t *p, const struct smb2_file_times *times)
{
	smb_put64(p, times->creation_time);
	smb_put64(p + 8, times->last_access_time);
	smb_put64(p + 16, times->last_write_time);
	smb_put64(p + 24, times->change_time);
}

static struct smb2_file_times get_times(const uint8_t *p)
{
	return (struct smb2_file_times){
		.creation_time = smb_get64(p),
		.last_access_time = smb_get64(p + 8),
		.last_write_time = smb_get64(p + 16),
		.change_time = smb_get64(p + 24),
	};
}

/* As cifs 6.1 and 6.12 were captured: the name is followed by a terminating zero that NameLength does not count and
 * filled up to 8 bytes, even when it is empty. */
static enum smb_wire_verdict append_name(struct smb_member_writer *writer, struct smb_blob name)
{
	enum smb_wire_verdict verdict = smb_member_append(writer, name);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	return smb_member_zeros(writer, smb_align8(name.length + 2) - name.length);
}

enum smb_wire_verdict smb2_create_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
					     const struct smb2_message *message)
{
	const struct smb2_create_req *req = &message->body.create_req;
	if (req->context_count > SMB2_CONTEXTS_MAX)
		return SMB_WIRE_TOO_MANY;
	if (req->name.length > UINT16_MAX || req->name.length & 1)
		return SMB_WIRE_BAD_VALUE;
	fixed[3] = req->oplock_level;
	smb_put32(fixed + 4, req->impersonation_level);
	smb_put32(fixed + 24, req->desired_access);
	smb_put32(fixed + 28, req->file_attributes);
	smb_put32(fixed + 32, req->share_access);
	smb_put32(fixed + 36, req->create_disposition);
	smb_put32(fixed + 40, req->create_options);
	smb_put16(fixed + 44, (uint16_t)writer->used);
	smb_put16(fixed + 46, (uint16_t)req->name.length);
	enum smb_wire_verdict verdict = append_name(writer, req->name);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	struct smb2_context_list list = { req->contexts, req->context_count };
	return smb2_create_contexts_encode(writer, list, fixed + 48);
}

/* The offset and length at `fields` name a list of create contexts that must not touch `other`. */
static enum smb_wire_verdict decode_contexts(const struct smb_member *member, const uint8_t *fields,
					     struct smb_blob other, struct smb_blob *area)
{
	uint32_t offset = smb_get32(fields);
	enum smb_wire_verdict verdict = smb_member_view(member, offset, smb_get32(fields + 4), area);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	if (area->length && (offset % 8 || smb_blobs_overlap(other, *area)))
		return SMB_WIRE_BAD_OFFSET;
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_create_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_create_req *req = &message->body.create_req;
	req->oplock_level = fixed[3];
	req->impersonation_level = smb_get32(fixed + 4);
	req->desired_access = smb_get32(fixed + 24);
	req->file_attributes = smb_get32(fixed + 28);
	req->share_access = smb_get32(fixed + 32);
	req->create_disposition = smb_get32(fixed + 36);
	req->create_options = smb_get32(fixed + 40);
	req->context_count = 0;
	enum smb_wire_verdict verdict = smb_member_name(member, smb_get16(fixed + 44), smb_get16(fixed + 46),
							&req->name);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	struct smb_blob area;
	verdict = decode_contexts(member, fixed + 48, req->name, &area);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	return smb2_create_contexts_decode(area, req->contexts, &req->context_count);
}

enum smb_wire_verdict smb2_create_rsp_encode(struct smb_member_writer *writer, uint8_t *fixed,
					     const struct smb2_message *message)
{
	const struct smb2_create_rsp *rsp = &message->body.create_rsp;
	if (rsp->context_count > SMB2_CONTEXTS_MAX)
		return SMB_WIRE_TOO_MANY;
	fixed[2] = rsp->oplock_level;
	fixed[3] = rsp->flags;
	smb_put32(fixed + 4, rsp->create_action);
	put_times(fixed + 8, &rsp->times);
	smb_put64(fixed + 40, rsp->allocation_size);
	smb_put64(fixed + 48, rsp->end_of_file);
	smb_put32(fixed + 56, rsp->file_attributes);
	smb_put_file_id(fixed + 64, rsp->file_id);
	struct smb2_context_list list = { rsp->contexts, rsp->context_count };
	return smb2_create_contexts_encode(writer, list, fixed + 80);
}

enum smb_wire_verdict smb2_create_rsp_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_create_rsp *rsp = &message->body.create_rsp;
	rsp->oplock_level = fixed[2];
	rsp->flags = fixed[3];
	rsp->create_action = smb_get32(fixed + 4);
	rsp->times = get_times(fixed + 8);
	rsp->allocation_size = smb_get64(fixed + 40);
	rsp->end_of_file = smb_get64(fixed + 48);
	rsp->file_attributes = smb_get32(fixed + 56);
	rsp->file_id = smb_get_file_id(fixed + 64);
	rsp->context_count = 0;
	struct smb_blob area;
	enum smb_wire_verdict verdict = decode_contexts(member, fixed + 80, (struct smb_blob){ NULL, 0 }, &area);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	return smb2_create_contexts_decode(area, rsp->contexts, &rsp->context_count);
}

enum smb_wire_verdict smb2_close_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
					    const struct smb2_message *message)
{
	(void)writer;
	smb_put16(fixed + 2, message->body.close_req.flags);
	smb_put_file_id(fixed + 8, message->body.close_req.file_id);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_close_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	message->body.close_req.flags = smb_get16(fixed + 2);
	message->body.close_req.file_id = smb_get_file_id(fixed + 8);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_close_rsp_encode(struct smb_member_writer *writer, uint8_t *fixed,
					    const struct smb2_message *message)
{
	const struct smb2_close_rsp *rsp = &message->body.close_rsp;
	(void)writer;
	smb_put16(fixed + 2, rsp->flags);
	put_times(fixed + 8, &rsp->times);
	smb_put64(fixed + 40, rsp->allocation_size);
	smb_put64(fixed + 48, rsp->end_of_file);
	smb_put32(fixed + 56, rsp->file_attributes);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_close_rsp_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_close_rsp *rsp = &message->body.close_rsp;
	rsp->flags = smb_get16(fixed + 2);
	rsp->times = get_times(fixed + 8);
	rsp->allocation_size = smb_get64(fixed + 40);
	rsp->end_of_file = smb_get64(fixed + 48);
	rsp->file_attributes = smb_get32(fixed + 56);
	return SMB_WIRE_OK;
}
