/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_BODY_H
#define SMB_WIRE_BODY_H

/**
 * The body functions behind the table of message.c; private to protocol/wire.
 *
 * encode: `fixed` is the cleared fixed part, StructureSize already in it; append variable parts to `writer`.
 * decode: the fixed part is known to be inside the member; fill the body, not the header and not the kind.
 */

#include "protocol/wire/buffer.h"

#define SMB2_BODY_FUNCTIONS(name)                                                                                      \
	enum smb_wire_verdict smb2_##name##_encode(struct smb_member_writer *writer, uint8_t *fixed,                   \
						   const struct smb2_message *message);                                \
	enum smb_wire_verdict smb2_##name##_decode(const struct smb_member *member, struct smb2_message *message)

SMB2_BODY_FUNCTIONS(negotiate_req);
SMB2_BODY_FUNCTIONS(negotiate_rsp);
SMB2_BODY_FUNCTIONS(session_setup_req);
SMB2_BODY_FUNCTIONS(session_setup_rsp);
SMB2_BODY_FUNCTIONS(tree_connect_req);
SMB2_BODY_FUNCTIONS(tree_connect_rsp);
SMB2_BODY_FUNCTIONS(create_req);
SMB2_BODY_FUNCTIONS(create_rsp);
SMB2_BODY_FUNCTIONS(close_req);
SMB2_BODY_FUNCTIONS(close_rsp);
SMB2_BODY_FUNCTIONS(flush_req);
SMB2_BODY_FUNCTIONS(read_req);
SMB2_BODY_FUNCTIONS(read_rsp);
SMB2_BODY_FUNCTIONS(write_req);
SMB2_BODY_FUNCTIONS(write_rsp);
SMB2_BODY_FUNCTIONS(lock_req);
SMB2_BODY_FUNCTIONS(ioctl_req);
SMB2_BODY_FUNCTIONS(ioctl_rsp);
SMB2_BODY_FUNCTIONS(query_directory_req);
SMB2_BODY_FUNCTIONS(query_info_req);
SMB2_BODY_FUNCTIONS(buffer_rsp);
SMB2_BODY_FUNCTIONS(set_info_req);
SMB2_BODY_FUNCTIONS(oplock_break);
SMB2_BODY_FUNCTIONS(lease_break_notify);
SMB2_BODY_FUNCTIONS(lease_break_ack);
SMB2_BODY_FUNCTIONS(error_rsp);
SMB2_BODY_FUNCTIONS(empty);

#undef SMB2_BODY_FUNCTIONS

/** The members of a list of contexts, each on an 8-byte boundary, no padding behind the last. */
struct smb2_context_list {
	const struct smb2_context *contexts;
	uint16_t count;
};

/** Negotiate contexts (MS-SMB2 2.2.3.1); the writer is aligned first. `offset` out: of the first, 0 when none. */
enum smb_wire_verdict smb2_negotiate_contexts_encode(struct smb_member_writer *writer, struct smb2_context_list list,
						     uint32_t *offset);
enum smb_wire_verdict smb2_negotiate_contexts_decode(const struct smb_member *member, uint32_t offset, uint16_t count,
						     struct smb2_context contexts[SMB2_CONTEXTS_MAX]);

/** Create contexts (MS-SMB2 2.2.13.2) and the offset and length fields that name them, at `fields`. */
enum smb_wire_verdict smb2_create_contexts_encode(struct smb_member_writer *writer, struct smb2_context_list list,
						  uint8_t *fields);
enum smb_wire_verdict smb2_create_contexts_decode(struct smb_blob area, struct smb2_context contexts[SMB2_CONTEXTS_MAX],
						  uint16_t *count);

/** The member itself, header included; chain.c adds NextCommand. */
enum smb_wire_verdict smb2_member_encode(struct smb_member_writer *writer, const struct smb2_message *message);
enum smb_wire_verdict smb2_member_decode(struct smb_member *member, struct smb2_message *message);

#endif
