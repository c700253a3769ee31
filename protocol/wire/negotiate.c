/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NEGOTIATE (MS-SMB2 2.2.3, 2.2.4). */
#include "protocol/wire/body.h"

static bool offers_311(const struct smb2_negotiate_req *req)
{
	for (uint16_t i = 0; i < req->dialect_count; i++) {
		if (req->dialects[i] == SMB2_DIALECT_311)
			return true;
	}
	return false;
}

enum smb_wire_verdict smb2_negotiate_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
						const struct smb2_message *message)
{
	const struct smb2_negotiate_req *req = &message->body.negotiate_req;
	if (req->dialect_count > SMB2_DIALECTS_MAX || req->context_count > SMB2_CONTEXTS_MAX)
		return SMB_WIRE_TOO_MANY;
	if (!req->dialect_count || (req->context_count && !offers_311(req)))
		return SMB_WIRE_BAD_VALUE;
	smb_put16(fixed + 2, req->dialect_count);
	smb_put16(fixed + 4, req->security_mode);
	smb_put32(fixed + 8, req->capabilities);
	memcpy(fixed + 12, req->client_guid, sizeof(req->client_guid));
	uint8_t *dialects = smb_member_reserve(writer, 2u * req->dialect_count);
	if (!dialects)
		return SMB_WIRE_NO_SPACE;
	for (uint16_t i = 0; i < req->dialect_count; i++)
		smb_put16(dialects + 2 * i, req->dialects[i]);

	uint32_t offset;
	struct smb2_context_list list = { req->contexts, req->context_count };
	enum smb_wire_verdict verdict = smb2_negotiate_contexts_encode(writer, list, &offset);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	smb_put32(fixed + 28, offset);
	smb_put16(fixed + 32, req->context_count);
	return SMB_WIRE_OK;
}

/* The eight bytes before the dialects name the contexts when 3.1.1 is offered, else they are ClientStartTime. */
enum smb_wire_verdict smb2_negotiate_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_negotiate_req *req = &message->body.negotiate_req;
	req->dialect_count = smb_get16(fixed + 2);
	req->security_mode = smb_get16(fixed + 4);
	req->capabilities = smb_get32(fixed + 8);
	memcpy(req->client_guid, fixed + 12, sizeof(req->client_guid));
	req->context_count = 0;
	if (!req->dialect_count)
		return SMB_WIRE_BAD_VALUE;
	if (2u * req->dialect_count > member->length - member->fixed_end)
		return SMB_WIRE_TRUNCATED;
	if (req->dialect_count > SMB2_DIALECTS_MAX)
		return SMB_WIRE_TOO_MANY;
	for (uint16_t i = 0; i < req->dialect_count; i++)
		req->dialects[i] = smb_get16(member->bytes + member->fixed_end + 2 * i);
	if (!offers_311(req))
		return SMB_WIRE_OK;

	struct smb_member tail = *member;
	tail.fixed_end += 2u * req->dialect_count;
	req->context_count = smb_get16(fixed + 32);
	return smb2_negotiate_contexts_decode(&tail, smb_get32(fixed + 28), req->context_count, req->contexts);
}

enum smb_wire_verdict smb2_negotiate_rsp_encode(struct smb_member_writer *writer, uint8_t *fixed,
						const struct smb2_message *message)
{
	const struct smb2_negotiate_rsp *rsp = &message->body.negotiate_rsp;
	if (rsp->context_count > SMB2_CONTEXTS_MAX)
		return SMB_WIRE_TOO_MANY;
	if ((rsp->context_count && rsp->dialect != SMB2_DIALECT_311) || rsp->token.length > UINT16_MAX)
		return SMB_WIRE_BAD_VALUE;
	smb_put16(fixed + 2, rsp->security_mode);
	smb_put16(fixed + 4, rsp->dialect);
	smb_put16(fixed + 6, rsp->context_count);
	memcpy(fixed + 8, rsp->server_guid, sizeof(rsp->server_guid));
	smb_put32(fixed + 24, rsp->capabilities);
	smb_put32(fixed + 28, rsp->max_transact_size);
	smb_put32(fixed + 32, rsp->max_read_size);
	smb_put32(fixed + 36, rsp->max_write_size);
	smb_put64(fixed + 40, rsp->system_time);
	smb_put64(fixed + 48, rsp->server_start_time);
	smb_put16(fixed + 56, (uint16_t)writer->used);
	smb_put16(fixed + 58, (uint16_t)rsp->token.length);
	enum smb_wire_verdict verdict = smb_member_append(writer, rsp->token);
	if (verdict != SMB_WIRE_OK)
		return verdict;

	uint32_t offset;
	struct smb2_context_list list = { rsp->contexts, rsp->context_count };
	verdict = smb2_negotiate_contexts_encode(writer, list, &offset);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	smb_put32(fixed + 60, offset);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_negotiate_rsp_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_negotiate_rsp *rsp = &message->body.negotiate_rsp;
	rsp->security_mode = smb_get16(fixed + 2);
	rsp->dialect = smb_get16(fixed + 4);
	memcpy(rsp->server_guid, fixed + 8, sizeof(rsp->server_guid));
	rsp->capabilities = smb_get32(fixed + 24);
	rsp->max_transact_size = smb_get32(fixed + 28);
	rsp->max_read_size = smb_get32(fixed + 32);
	rsp->max_write_size = smb_get32(fixed + 36);
	rsp->system_time = smb_get64(fixed + 40);
	rsp->server_start_time = smb_get64(fixed + 48);
	rsp->context_count = 0;
	enum smb_wire_verdict verdict = smb_member_view(member, smb_get16(fixed + 56), smb_get16(fixed + 58),
							&rsp->token);
	if (verdict != SMB_WIRE_OK || rsp->dialect != SMB2_DIALECT_311)
		return verdict;

	struct smb_member tail = *member;
	if (rsp->token.length)
		tail.fixed_end = (uint32_t)(rsp->token.data - member->bytes) + rsp->token.length;
	rsp->context_count = smb_get16(fixed + 6);
	return smb2_negotiate_contexts_decode(&tail, smb_get32(fixed + 60), rsp->context_count, rsp->contexts);
}
