/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/smb1_codec.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/** One body on the wire. Some have two sizes: the longer one has fields that a dialect or a flag adds. */
struct smb1_form {
	uint8_t command;
	bool response;
	uint8_t words;
	uint8_t other_words; /* also decoded, and encoded when the body function says so; 0 = only `words` */
	bool andx;
	uint8_t kind; /* enum smb1_body_kind */
	enum smb_wire_verdict (*encode)(struct smb1_writer *writer, const struct smb1_message *message);
	enum smb_wire_verdict (*decode)(struct smb1_reader *reader, struct smb1_message *message);
};

static enum smb_wire_verdict empty_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	(void)writer;
	(void)message;
	return SMB_WIRE_OK;
}

static enum smb_wire_verdict empty_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	(void)reader;
	(void)message;
	return SMB_WIRE_OK;
}

#define FORM(command, response, words, other, andx, kind, name)                                                        \
	{                                                                                                              \
		command, response, words, other, andx, SMB1_BODY_##kind, smb1_##name##_encode, smb1_##name##_decode    \
	}
#define EMPTY(command, response, words, andx)                                                                          \
	{                                                                                                              \
		command, response, words, 0, andx, SMB1_BODY_EMPTY, empty_encode, empty_decode                         \
	}

static const struct smb1_form forms[] = {
	FORM(SMB1_NEGOTIATE, false, 0, 0, false, NEGOTIATE_REQ, negotiate_req),
	FORM(SMB1_NEGOTIATE, true, 17, 1, false, NEGOTIATE_RSP, negotiate_rsp),
	FORM(SMB1_SESSION_SETUP_ANDX, false, 12, 0, true, SESSION_SETUP_REQ, session_setup_req),
	FORM(SMB1_SESSION_SETUP_ANDX, true, 4, 0, true, SESSION_SETUP_RSP, session_setup_rsp),
	FORM(SMB1_TREE_CONNECT_ANDX, false, 4, 0, true, TREE_CONNECT_REQ, tree_connect_req),
	FORM(SMB1_TREE_CONNECT_ANDX, true, 3, 7, true, TREE_CONNECT_RSP, tree_connect_rsp),
	FORM(SMB1_NT_CREATE_ANDX, false, 24, 0, true, CREATE_REQ, create_req),
	FORM(SMB1_NT_CREATE_ANDX, true, 34, 0, true, CREATE_RSP, create_rsp),
	FORM(SMB1_READ_ANDX, false, 12, 0, true, READ_REQ, read_req),
	FORM(SMB1_READ_ANDX, true, 12, 0, true, READ_RSP, read_rsp),
	FORM(SMB1_WRITE_ANDX, false, 14, 0, true, WRITE_REQ, write_req),
	FORM(SMB1_WRITE_ANDX, true, 6, 0, true, WRITE_RSP, write_rsp),
	FORM(SMB1_CLOSE, false, 3, 0, false, CLOSE_REQ, close_req),
	EMPTY(SMB1_CLOSE, true, 0, false),
	FORM(SMB1_FLUSH, false, 1, 0, false, FLUSH_REQ, flush_req),
	EMPTY(SMB1_FLUSH, true, 0, false),
	FORM(SMB1_ECHO, false, 1, 0, false, ECHO, echo),
	FORM(SMB1_ECHO, true, 1, 0, false, ECHO, echo),
	FORM(SMB1_TRANSACTION2, false, 15, 0, false, TRANS2_REQ, trans2_req),
	FORM(SMB1_TRANSACTION2, true, 10, 0, false, TRANS2_RSP, trans2_rsp),
	EMPTY(SMB1_TREE_DISCONNECT, false, 0, false),
	EMPTY(SMB1_TREE_DISCONNECT, true, 0, false),
	EMPTY(SMB1_LOGOFF_ANDX, false, 2, true),
	EMPTY(SMB1_LOGOFF_ANDX, true, 2, true),
};

static const struct {
	uint8_t command;
	const char *name;
} names[] = {
	{ SMB1_CLOSE, "CLOSE" },
	{ SMB1_FLUSH, "FLUSH" },
	{ SMB1_ECHO, "ECHO" },
	{ SMB1_READ_ANDX, "READ_ANDX" },
	{ SMB1_WRITE_ANDX, "WRITE_ANDX" },
	{ SMB1_TRANSACTION2, "TRANSACTION2" },
	{ SMB1_TREE_DISCONNECT, "TREE_DISCONNECT" },
	{ SMB1_NEGOTIATE, "NEGOTIATE" },
	{ SMB1_SESSION_SETUP_ANDX, "SESSION_SETUP_ANDX" },
	{ SMB1_LOGOFF_ANDX, "LOGOFF_ANDX" },
	{ SMB1_TREE_CONNECT_ANDX, "TREE_CONNECT_ANDX" },
	{ SMB1_NT_CREATE_ANDX, "NT_CREATE_ANDX" },
};

const char *smb1_command_name(uint8_t command)
{
	for (size_t i = 0; i < LENGTH(names); i++) {
		if (names[i].command == command)
			return names[i].name;
	}
	return "UNKNOWN";
}

bool smb1_is_pdu(const struct smb_pdu *pdu)
{
	static const uint8_t id[4] = { 0xff, 'S', 'M', 'B' };

	return pdu->length >= sizeof(id) && !memcmp(pdu->bytes, id, sizeof(id));
}

static bool is_response(const struct smb1_header *header)
{
	return header->flags & SMB1_FLAGS_REPLY;
}

/** An error has neither words nor bytes, but for a logon that needs another leg (MS-CIFS 2.2.4.53.2). */
static bool is_error(const struct smb1_header *header)
{
	if (!is_response(header) || header->status >> 30 != 3)
		return false;
	return header->command != SMB1_SESSION_SETUP_ANDX || header->status != STATUS_MORE_PROCESSING_REQUIRED;
}

static const struct smb1_form *form_of(const struct smb1_header *header)
{
	for (size_t i = 0; i < LENGTH(forms); i++) {
		if (forms[i].command == header->command && forms[i].response == is_response(header))
			return &forms[i];
	}
	return NULL;
}

static void header_encode(const struct smb1_header *header, uint8_t bytes[SMB1_HEADER_SIZE])
{
	memset(bytes, 0, SMB1_HEADER_SIZE);
	bytes[0] = 0xff;
	memcpy(bytes + 1, "SMB", 3);
	bytes[4] = header->command;
	smb_put32(bytes + 5, header->status);
	bytes[9] = header->flags;
	smb_put16(bytes + 10, header->flags2);
	smb_put16(bytes + 12, (uint16_t)(header->pid >> 16));
	memcpy(bytes + 14, header->signature, sizeof(header->signature));
	smb_put16(bytes + 24, header->tid);
	smb_put16(bytes + 26, (uint16_t)header->pid);
	smb_put16(bytes + 28, header->uid);
	smb_put16(bytes + 30, header->mid);
}

enum smb_wire_verdict smb1_header_decode(const struct smb_pdu *pdu, struct smb1_header *header)
{
	const uint8_t *bytes = pdu->bytes;

	if (pdu->length < SMB1_HEADER_SIZE)
		return SMB_WIRE_TRUNCATED;
	if (!smb1_is_pdu(pdu))
		return SMB_WIRE_BAD_PROTOCOL_ID;
	*header = (struct smb1_header){
		.command = bytes[4],
		.status = smb_get32(bytes + 5),
		.flags = bytes[9],
		.flags2 = smb_get16(bytes + 10),
		.pid = (uint32_t)smb_get16(bytes + 12) << 16 | smb_get16(bytes + 26),
		.tid = smb_get16(bytes + 24),
		.uid = smb_get16(bytes + 28),
		.mid = smb_get16(bytes + 30),
	};
	memcpy(header->signature, bytes + 14, sizeof(header->signature));
	return SMB_WIRE_OK;
}

/* The forms that have two sizes say by a field which one they need. */
static uint8_t words_needed(const struct smb1_form *form, const struct smb1_message *message)
{
	if (form->kind == SMB1_BODY_NEGOTIATE_RSP)
		return message->body.negotiate_rsp.dialect_index == SMB1_NO_DIALECT ? 1 : form->words;
	if (form->kind == SMB1_BODY_TREE_CONNECT_RSP)
		return message->body.tree_connect_rsp.has_access ? 7 : form->words;
	return form->words;
}

/** WordCount and cleared words, ByteCount still 0; false: no room. */
static bool begin_body(struct smb1_writer *writer, uint8_t words, bool andx)
{
	uint8_t *count = smb1_reserve(writer, 1 + 2u * words + 2);

	if (!count)
		return false;
	memset(count, 0, 1 + 2u * words + 2);
	*count = words;
	writer->words = (uint32_t)(count + 1 - writer->bytes);
	if (andx)
		count[1] = SMB1_ANDX_NONE;
	return true;
}

enum smb_wire_verdict smb1_message_encode(const struct smb1_message *message, uint8_t *buffer, uint32_t size,
					  struct smb_pdu *pdu)
{
	struct smb1_writer writer = { .bytes = buffer, .size = size };
	const struct smb1_form *form = form_of(&message->header);
	bool error = is_error(&message->header);

	if (!form)
		return SMB_WIRE_UNKNOWN_COMMAND;
	if (message->kind != (error ? SMB1_BODY_EMPTY : form->kind))
		return SMB_WIRE_BAD_VALUE;
	if (!smb1_reserve(&writer, SMB1_HEADER_SIZE))
		return SMB_WIRE_NO_SPACE;
	header_encode(&message->header, buffer);
	uint8_t words = error ? 0 : words_needed(form, message);
	if (!begin_body(&writer, words, !error && form->andx))
		return SMB_WIRE_NO_SPACE;
	uint32_t start = writer.used;
	enum smb_wire_verdict verdict = error ? SMB_WIRE_OK : form->encode(&writer, message);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	/* Data beyond 64 KiB leaves the low half in ByteCount (MS-SMB 2.2.4.3.1). */
	uint64_t count = (uint64_t)writer.used - start + writer.payload.length;
	bool is_data = form->kind == SMB1_BODY_READ_RSP || form->kind == SMB1_BODY_WRITE_REQ;
	if (count > UINT16_MAX && !is_data)
		return SMB_WIRE_BAD_VALUE;
	smb_put16(buffer + start - 2, (uint16_t)count);
	*pdu = (struct smb_pdu){ .bytes = buffer, .length = writer.used, .payload = writer.payload };
	return SMB_WIRE_OK;
}

/** Find words and bytes; the byte count must be what the PDU holds, modulo 64 KiB. */
static enum smb_wire_verdict begin_decode(struct smb1_reader *reader)
{
	uint32_t left = reader->length - SMB1_HEADER_SIZE;

	if (left < 3)
		return SMB_WIRE_TRUNCATED;
	reader->word_count = reader->bytes[SMB1_HEADER_SIZE];
	if (left < 3 + 2u * reader->word_count)
		return SMB_WIRE_TRUNCATED;
	reader->words = reader->bytes + SMB1_HEADER_SIZE + 1;
	reader->bytes_start = SMB1_HEADER_SIZE + 3 + 2u * reader->word_count;
	reader->position = reader->bytes_start;
	uint64_t held = (uint64_t)reader->length - reader->bytes_start + reader->payload.length;
	uint16_t count = smb_get16(reader->bytes + reader->bytes_start - 2);
	if ((uint16_t)held == count)
		return SMB_WIRE_OK;
	return held < count ? SMB_WIRE_TRUNCATED : SMB_WIRE_BAD_VALUE;
}

static enum smb_wire_verdict decode_body(struct smb1_reader *reader, const struct smb1_form *form,
					 struct smb1_message *message)
{
	bool is_data = form->kind == SMB1_BODY_READ_RSP || form->kind == SMB1_BODY_WRITE_REQ;

	if (reader->payload.length && !is_data)
		return SMB_WIRE_BAD_PAYLOAD;
	if (reader->word_count != form->words && (!form->other_words || reader->word_count != form->other_words))
		return SMB_WIRE_BAD_STRUCTURE_SIZE;
	if (form->andx && reader->words[0] != SMB1_ANDX_NONE)
		return SMB_WIRE_BAD_VALUE;
	if (reader->length - reader->bytes_start > UINT16_MAX && !is_data)
		return SMB_WIRE_BAD_VALUE; /* ByteCount cannot have said so */
	message->kind = form->kind;
	return form->decode(reader, message);
}

enum smb_wire_verdict smb1_message_decode(const struct smb_pdu *pdu, struct smb1_message *message)
{
	struct smb1_reader reader = { .bytes = pdu->bytes, .length = pdu->length, .payload = pdu->payload };
	enum smb_wire_verdict verdict = smb1_header_decode(pdu, &message->header);

	if (verdict != SMB_WIRE_OK)
		return verdict;
	const struct smb1_form *form = form_of(&message->header);
	if (!form)
		return SMB_WIRE_UNKNOWN_COMMAND;
	verdict = begin_decode(&reader);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	if (!is_error(&message->header))
		return decode_body(&reader, form, message);
	message->kind = SMB1_BODY_EMPTY;
	if (reader.word_count)
		return SMB_WIRE_BAD_STRUCTURE_SIZE;
	return reader.payload.length ? SMB_WIRE_BAD_PAYLOAD : SMB_WIRE_OK;
}
