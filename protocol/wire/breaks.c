/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Oplock and lease breaks (MS-SMB2 2.2.23 to 2.2.25) and the error response (2.2.2). */
#include "protocol/wire/body.h"

enum smb_wire_verdict smb2_oplock_break_encode(struct smb_member_writer *writer, uint8_t *fixed,
					       const struct smb2_message *message)
{
	(void)writer;
	fixed[2] = message->body.oplock_break.oplock_level;
	smb_put_file_id(fixed + 8, message->body.oplock_break.file_id);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_oplock_break_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	message->body.oplock_break.oplock_level = fixed[2];
	message->body.oplock_break.file_id = smb_get_file_id(fixed + 8);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_lease_break_notify_encode(struct smb_member_writer *writer, uint8_t *fixed,
						     const struct smb2_message *message)
{
	const struct smb2_lease_break_notify *notify = &message->body.lease_break_notify;
	(void)writer;
	smb_put16(fixed + 2, notify->new_epoch);
	smb_put32(fixed + 4, notify->flags);
	memcpy(fixed + 8, notify->lease_key, sizeof(notify->lease_key));
	smb_put32(fixed + 24, notify->current_state);
	smb_put32(fixed + 28, notify->new_state);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_lease_break_notify_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_lease_break_notify *notify = &message->body.lease_break_notify;
	notify->new_epoch = smb_get16(fixed + 2);
	notify->flags = smb_get32(fixed + 4);
	memcpy(notify->lease_key, fixed + 8, sizeof(notify->lease_key));
	notify->current_state = smb_get32(fixed + 24);
	notify->new_state = smb_get32(fixed + 28);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_lease_break_ack_encode(struct smb_member_writer *writer, uint8_t *fixed,
						  const struct smb2_message *message)
{
	const struct smb2_lease_break_ack *ack = &message->body.lease_break_ack;
	(void)writer;
	smb_put32(fixed + 4, ack->flags);
	memcpy(fixed + 8, ack->lease_key, sizeof(ack->lease_key));
	smb_put32(fixed + 24, ack->lease_state);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_lease_break_ack_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_lease_break_ack *ack = &message->body.lease_break_ack;
	ack->flags = smb_get32(fixed + 4);
	memcpy(ack->lease_key, fixed + 8, sizeof(ack->lease_key));
	ack->lease_state = smb_get32(fixed + 24);
	return SMB_WIRE_OK;
}

/* ByteCount stands where an offset stands in other bodies, but the data always follows the fixed part. */
enum smb_wire_verdict smb2_error_rsp_encode(struct smb_member_writer *writer, uint8_t *fixed,
					    const struct smb2_message *message)
{
	const struct smb2_error_rsp *rsp = &message->body.error_rsp;
	fixed[2] = rsp->context_count;
	smb_put32(fixed + 4, rsp->data.length);
	return rsp->data.length ? smb_member_append(writer, rsp->data) : smb_member_minimum(writer);
}

enum smb_wire_verdict smb2_error_rsp_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	message->body.error_rsp.context_count = fixed[2];
	return smb_member_view(member, member->fixed_end, smb_get32(fixed + 4), &message->body.error_rsp.data);
}
