/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SESSION_SETUP and TREE_CONNECT (MS-SMB2 2.2.5, 2.2.6, 2.2.9, 2.2.10), and the bodies without fields. */
#include "protocol/wire/body.h"

#define TREE_CONNECT_EXTENSION_PRESENT 0x0004u

/* A variable part whose 16-bit offset and length fields stand next to each other at `fields`. */
static enum smb_wire_verdict append_short(struct smb_member_writer *writer, struct smb_blob blob, uint8_t *fields)
{
	if (blob.length > UINT16_MAX)
		return SMB_WIRE_BAD_VALUE;
	smb_put16(fields, (uint16_t)writer->used);
	smb_put16(fields + 2, (uint16_t)blob.length);
	return smb_member_append(writer, blob);
}

enum smb_wire_verdict smb2_session_setup_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
						    const struct smb2_message *message)
{
	const struct smb2_session_setup_req *req = &message->body.session_setup_req;
	fixed[2] = req->flags;
	fixed[3] = req->security_mode;
	smb_put32(fixed + 4, req->capabilities);
	smb_put64(fixed + 16, req->previous_session_id);
	enum smb_wire_verdict verdict = append_short(writer, req->token, fixed + 12);
	if (verdict != SMB_WIRE_OK || req->token.length)
		return verdict;
	return smb_member_minimum(writer);
}

enum smb_wire_verdict smb2_session_setup_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_session_setup_req *req = &message->body.session_setup_req;
	req->flags = fixed[2];
	req->security_mode = fixed[3];
	req->capabilities = smb_get32(fixed + 4);
	req->previous_session_id = smb_get64(fixed + 16);
	return smb_member_view(member, smb_get16(fixed + 12), smb_get16(fixed + 14), &req->token);
}

enum smb_wire_verdict smb2_session_setup_rsp_encode(struct smb_member_writer *writer, uint8_t *fixed,
						    const struct smb2_message *message)
{
	const struct smb2_session_setup_rsp *rsp = &message->body.session_setup_rsp;
	smb_put16(fixed + 2, rsp->session_flags);
	return append_short(writer, rsp->token, fixed + 4);
}

enum smb_wire_verdict smb2_session_setup_rsp_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_session_setup_rsp *rsp = &message->body.session_setup_rsp;
	rsp->session_flags = smb_get16(fixed + 2);
	return smb_member_view(member, smb_get16(fixed + 4), smb_get16(fixed + 6), &rsp->token);
}

enum smb_wire_verdict smb2_tree_connect_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
						   const struct smb2_message *message)
{
	const struct smb2_tree_connect_req *req = &message->body.tree_connect_req;
	if (req->flags & TREE_CONNECT_EXTENSION_PRESENT || req->path.length & 1)
		return SMB_WIRE_BAD_VALUE;
	smb_put16(fixed + 2, req->flags);
	enum smb_wire_verdict verdict = append_short(writer, req->path, fixed + 4);
	if (verdict != SMB_WIRE_OK || req->path.length)
		return verdict;
	return smb_member_minimum(writer);
}

/* The extension (MS-SMB2 2.2.9.1) moves the path; no client that is modelled here sends it. */
enum smb_wire_verdict smb2_tree_connect_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_tree_connect_req *req = &message->body.tree_connect_req;
	req->flags = smb_get16(fixed + 2);
	if (req->flags & TREE_CONNECT_EXTENSION_PRESENT)
		return SMB_WIRE_BAD_VALUE;
	return smb_member_name(member, smb_get16(fixed + 4), smb_get16(fixed + 6), &req->path);
}

enum smb_wire_verdict smb2_tree_connect_rsp_encode(struct smb_member_writer *writer, uint8_t *fixed,
						   const struct smb2_message *message)
{
	const struct smb2_tree_connect_rsp *rsp = &message->body.tree_connect_rsp;
	(void)writer;
	fixed[2] = rsp->share_type;
	smb_put32(fixed + 4, rsp->share_flags);
	smb_put32(fixed + 8, rsp->capabilities);
	smb_put32(fixed + 12, rsp->maximal_access);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_tree_connect_rsp_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	message->body.tree_connect_rsp = (struct smb2_tree_connect_rsp){
		.share_type = fixed[2],
		.share_flags = smb_get32(fixed + 4),
		.capabilities = smb_get32(fixed + 8),
		.maximal_access = smb_get32(fixed + 12),
	};
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_empty_encode(struct smb_member_writer *writer, uint8_t *fixed,
					const struct smb2_message *message)
{
	(void)writer;
	(void)fixed;
	(void)message;
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_empty_decode(const struct smb_member *member, struct smb2_message *message)
{
	(void)member;
	(void)message;
	return SMB_WIRE_OK;
}
