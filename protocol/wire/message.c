/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/body.h"
#include "protocol/wire/header.h"

#define COMMANDS (SMB2_OPLOCK_BREAK + 1)

/** How one body looks on the wire. An odd StructureSize counts one byte of the variable part (MS-SMB2 2.2). */
struct body_form {
	uint8_t structure_size; /* 0: nothing of this command and direction is encoded here */
	uint8_t kind; /* enum smb2_body_kind */
	enum smb_wire_verdict (*encode)(struct smb_member_writer *writer, uint8_t *fixed,
					const struct smb2_message *message);
	enum smb_wire_verdict (*decode)(const struct smb_member *member, struct smb2_message *message);
};

#define FORM(size, body_kind, name)                                                                                    \
	{                                                                                                              \
		size, SMB2_BODY_##body_kind, smb2_##name##_encode, smb2_##name##_decode                                \
	}
#define EMPTY(size) FORM(size, EMPTY, empty)

/* [command][0] = request, [command][1] = response. */
static const struct body_form forms[COMMANDS][2] = {
	[SMB2_NEGOTIATE] = { FORM(36, NEGOTIATE_REQ, negotiate_req), FORM(65, NEGOTIATE_RSP, negotiate_rsp) },
	[SMB2_SESSION_SETUP] = { FORM(25, SESSION_SETUP_REQ, session_setup_req),
				 FORM(9, SESSION_SETUP_RSP, session_setup_rsp) },
	[SMB2_LOGOFF] = { EMPTY(4), EMPTY(4) },
	[SMB2_TREE_CONNECT] = { FORM(9, TREE_CONNECT_REQ, tree_connect_req),
				FORM(16, TREE_CONNECT_RSP, tree_connect_rsp) },
	[SMB2_TREE_DISCONNECT] = { EMPTY(4), EMPTY(4) },
	[SMB2_CREATE] = { FORM(57, CREATE_REQ, create_req), FORM(89, CREATE_RSP, create_rsp) },
	[SMB2_CLOSE] = { FORM(24, CLOSE_REQ, close_req), FORM(60, CLOSE_RSP, close_rsp) },
	[SMB2_FLUSH] = { FORM(24, FLUSH_REQ, flush_req), EMPTY(4) },
	[SMB2_READ] = { FORM(49, READ_REQ, read_req), FORM(17, READ_RSP, read_rsp) },
	[SMB2_WRITE] = { FORM(49, WRITE_REQ, write_req), FORM(17, WRITE_RSP, write_rsp) },
	[SMB2_LOCK] = { FORM(48, LOCK_REQ, lock_req), EMPTY(4) },
	[SMB2_IOCTL] = { FORM(57, IOCTL_REQ, ioctl_req), FORM(49, IOCTL_RSP, ioctl_rsp) },
	[SMB2_CANCEL] = { EMPTY(4) },
	[SMB2_ECHO] = { EMPTY(4), EMPTY(4) },
	[SMB2_QUERY_DIRECTORY] = { FORM(33, QUERY_DIRECTORY_REQ, query_directory_req),
				   FORM(9, BUFFER_RSP, buffer_rsp) },
	[SMB2_QUERY_INFO] = { FORM(41, QUERY_INFO_REQ, query_info_req), FORM(9, BUFFER_RSP, buffer_rsp) },
	[SMB2_SET_INFO] = { FORM(33, SET_INFO_REQ, set_info_req), EMPTY(2) },
	[SMB2_OPLOCK_BREAK] = { FORM(24, OPLOCK_BREAK, oplock_break), FORM(24, OPLOCK_BREAK, oplock_break) },
};

static const struct body_form error_form = FORM(9, ERROR_RSP, error_rsp);
static const struct body_form notify_form = FORM(44, LEASE_BREAK_NOTIFY, lease_break_notify);
static const struct body_form ack_form = FORM(36, LEASE_BREAK_ACK, lease_break_ack);

/* A response whose status is not success has the error body, but for the cases MS-SMB2 3.3.4.4 lists. */
static bool response_is_error(const struct smb2_header *header)
{
	switch (header->status) {
	case STATUS_SUCCESS:
		return false;
	case STATUS_MORE_PROCESSING_REQUIRED:
		return header->command != SMB2_SESSION_SETUP;
	case STATUS_BUFFER_OVERFLOW:
		return header->command != SMB2_QUERY_INFO && header->command != SMB2_IOCTL &&
		       header->command != SMB2_READ;
	default:
		return true;
	}
}

/* Copy chunk answers INVALID_PARAMETER with the limits in a normal body; other servers use the error body. */
static bool may_be_either(const struct smb2_header *header)
{
	return header->command == SMB2_IOCTL && header->status == STATUS_INVALID_PARAMETER;
}

static bool is_response(const struct smb2_header *header)
{
	return header->flags & SMB2_FLAGS_SERVER_TO_REDIR;
}

/* The form that the wire shows, NULL when there is none. */
static const struct body_form *form_of_bytes(const struct smb2_header *header, uint16_t structure_size)
{
	bool response = is_response(header);
	if (response && response_is_error(header) && (!may_be_either(header) || structure_size == 9))
		return &error_form;
	if (header->command == SMB2_OPLOCK_BREAK) {
		if (structure_size == ack_form.structure_size)
			return &ack_form;
		if (structure_size == notify_form.structure_size && response)
			return &notify_form;
	}
	const struct body_form *form = &forms[header->command][response];
	return form->structure_size ? form : NULL;
}

/* The form that a value asks for, NULL when command, direction and status do not allow its kind. */
static const struct body_form *form_of_value(const struct smb2_message *message)
{
	const struct smb2_header *header = &message->header;
	bool response = is_response(header);
	const struct body_form *form = &forms[header->command][response];
	bool error = response && response_is_error(header);

	if (message->kind == SMB2_BODY_ERROR_RSP)
		return error ? &error_form : NULL;
	if (error && !may_be_either(header))
		return NULL;
	if (form == &forms[SMB2_OPLOCK_BREAK][response]) {
		if (message->kind == SMB2_BODY_LEASE_BREAK_ACK)
			return &ack_form;
		if (message->kind == SMB2_BODY_LEASE_BREAK_NOTIFY)
			return response ? &notify_form : NULL;
	}
	return form->kind == message->kind ? form : NULL;
}

enum smb_wire_verdict smb2_member_encode(struct smb_member_writer *writer, const struct smb2_message *message)
{
	if (message->header.command >= COMMANDS)
		return SMB_WIRE_UNKNOWN_COMMAND;
	const struct body_form *form = form_of_value(message);
	if (!form)
		return SMB_WIRE_BAD_VALUE;
	if (!form->structure_size)
		return SMB_WIRE_UNKNOWN_COMMAND;

	uint32_t fixed_size = form->structure_size & ~1u;
	uint8_t *bytes = smb_member_reserve(writer, SMB2_HEADER_SIZE + fixed_size);
	if (!bytes)
		return SMB_WIRE_NO_SPACE;
	uint8_t *fixed = bytes + SMB2_HEADER_SIZE;
	smb2_header_encode(&message->header, bytes);
	memset(fixed, 0, fixed_size);
	smb_put16(fixed, form->structure_size);
	return form->encode(writer, fixed, message);
}

static bool may_carry_payload(enum smb2_body_kind kind)
{
	return kind == SMB2_BODY_READ_RSP || kind == SMB2_BODY_WRITE_REQ;
}

enum smb_wire_verdict smb2_member_decode(struct smb_member *member, struct smb2_message *message)
{
	if (message->header.command >= COMMANDS)
		return SMB_WIRE_UNKNOWN_COMMAND;
	if (member->length < SMB2_HEADER_SIZE + 2)
		return SMB_WIRE_TRUNCATED;
	uint16_t structure_size = smb_get16(member->bytes + SMB2_HEADER_SIZE);
	const struct body_form *form = form_of_bytes(&message->header, structure_size);
	if (!form)
		return SMB_WIRE_UNKNOWN_COMMAND;
	if (structure_size != form->structure_size)
		return SMB_WIRE_BAD_STRUCTURE_SIZE;
	member->fixed_end = SMB2_HEADER_SIZE + (structure_size & ~1u);
	if (member->length < member->fixed_end)
		return SMB_WIRE_TRUNCATED;
	if (member->payload.length && !may_carry_payload(form->kind))
		return SMB_WIRE_BAD_PAYLOAD;
	message->kind = form->kind;
	return form->decode(member, message);
}
