/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* QUERY_DIRECTORY, QUERY_INFO and SET_INFO (MS-SMB2 2.2.33, 2.2.34, 2.2.37 to 2.2.39). */
#include "protocol/wire/body.h"

enum smb_wire_verdict smb2_query_directory_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
						      const struct smb2_message *message)
{
	const struct smb2_query_directory_req *req = &message->body.query_directory_req;
	if (req->pattern.length > UINT16_MAX || req->pattern.length & 1)
		return SMB_WIRE_BAD_VALUE;
	fixed[2] = req->information_class;
	fixed[3] = req->flags;
	smb_put32(fixed + 4, req->file_index);
	smb_put_file_id(fixed + 8, req->file_id);
	smb_put16(fixed + 24, req->pattern.length ? (uint16_t)writer->used : 0);
	smb_put16(fixed + 26, (uint16_t)req->pattern.length);
	smb_put32(fixed + 28, req->output_buffer_length);
	return req->pattern.length ? smb_member_append(writer, req->pattern) : smb_member_minimum(writer);
}

enum smb_wire_verdict smb2_query_directory_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_query_directory_req *req = &message->body.query_directory_req;
	req->information_class = fixed[2];
	req->flags = fixed[3];
	req->file_index = smb_get32(fixed + 4);
	req->file_id = smb_get_file_id(fixed + 8);
	req->output_buffer_length = smb_get32(fixed + 28);
	return smb_member_name(member, smb_get16(fixed + 24), smb_get16(fixed + 26), &req->pattern);
}

/* As cifs 6.1 and 6.12 were captured: a single QUERY_INFO (statfs) carries the one byte of its empty input, a member of
 * a chain that others follow does not. Other commands keep the byte and pad it. */
enum smb_wire_verdict smb2_query_info_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
						 const struct smb2_message *message)
{
	const struct smb2_query_info_req *req = &message->body.query_info_req;
	fixed[2] = req->info_type;
	fixed[3] = req->file_info_class;
	smb_put32(fixed + 4, req->output_buffer_length);
	smb_put16(fixed + 8, req->input.length ? (uint16_t)writer->used : 0);
	smb_put32(fixed + 12, req->input.length);
	smb_put32(fixed + 16, req->additional_information);
	smb_put32(fixed + 20, req->flags);
	smb_put_file_id(fixed + 24, req->file_id);
	if (req->input.length)
		return smb_member_append(writer, req->input);
	writer->filler = 1;
	return smb_member_minimum(writer);
}

enum smb_wire_verdict smb2_query_info_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_query_info_req *req = &message->body.query_info_req;
	req->info_type = fixed[2];
	req->file_info_class = fixed[3];
	req->output_buffer_length = smb_get32(fixed + 4);
	req->additional_information = smb_get32(fixed + 16);
	req->flags = smb_get32(fixed + 20);
	req->file_id = smb_get_file_id(fixed + 24);
	return smb_member_view(member, smb_get16(fixed + 8), smb_get32(fixed + 12), &req->input);
}

enum smb_wire_verdict smb2_buffer_rsp_encode(struct smb_member_writer *writer, uint8_t *fixed,
					     const struct smb2_message *message)
{
	const struct smb2_buffer_rsp *rsp = &message->body.buffer_rsp;
	smb_put16(fixed + 2, (uint16_t)writer->used);
	smb_put32(fixed + 4, rsp->buffer.length);
	return smb_member_append(writer, rsp->buffer);
}

enum smb_wire_verdict smb2_buffer_rsp_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	return smb_member_view(member, smb_get16(fixed + 2), smb_get32(fixed + 4), &message->body.buffer_rsp.buffer);
}

enum smb_wire_verdict smb2_set_info_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
					       const struct smb2_message *message)
{
	const struct smb2_set_info_req *req = &message->body.set_info_req;
	fixed[2] = req->info_type;
	fixed[3] = req->file_info_class;
	smb_put32(fixed + 4, req->buffer.length);
	smb_put16(fixed + 8, (uint16_t)writer->used);
	smb_put32(fixed + 12, req->additional_information);
	smb_put_file_id(fixed + 16, req->file_id);
	return req->buffer.length ? smb_member_append(writer, req->buffer) : smb_member_minimum(writer);
}

enum smb_wire_verdict smb2_set_info_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_set_info_req *req = &message->body.set_info_req;
	req->info_type = fixed[2];
	req->file_info_class = fixed[3];
	req->additional_information = smb_get32(fixed + 12);
	req->file_id = smb_get_file_id(fixed + 16);
	return smb_member_view(member, smb_get16(fixed + 8), smb_get32(fixed + 4), &req->buffer);
}
