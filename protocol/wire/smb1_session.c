/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SMB1 NEGOTIATE, SESSION_SETUP_ANDX and TREE_CONNECT_ANDX (MS-CIFS 2.2.4.52 to 55, MS-SMB 2.2.4.5 to 7). */
#include "protocol/wire/smb1_codec.h"

#define GUID_SIZE 16u
#define DIALECT_FORMAT 2 /* BufferFormat of a dialect string */

enum smb_wire_verdict smb1_negotiate_req_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	return smb1_append(writer, message->body.negotiate_req.dialects) ? SMB_WIRE_OK : SMB_WIRE_NO_SPACE;
}

enum smb_wire_verdict smb1_negotiate_req_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	struct smb_blob dialects = smb1_rest(reader);

	if (!dialects.length || dialects.data[dialects.length - 1])
		return SMB_WIRE_BAD_VALUE;
	for (uint32_t i = 0; i < dialects.length; i++) {
		if ((!i || !dialects.data[i - 1]) && dialects.data[i] != DIALECT_FORMAT)
			return SMB_WIRE_BAD_VALUE;
	}
	message->body.negotiate_req.dialects = dialects;
	return SMB_WIRE_OK;
}

uint16_t smb1_dialect_index(struct smb_blob dialects, const char *name)
{
	size_t size = strlen(name) + 1;
	uint16_t index = 0;

	for (uint32_t i = 0; i < dialects.length; index++) {
		const uint8_t *text = dialects.data + i + 1;
		const uint8_t *end = memchr(text, 0, dialects.length - i - 1);

		if (!end)
			break;
		if ((size_t)(end + 1 - text) == size && !memcmp(text, name, size))
			return index;
		i += (uint32_t)(end - text) + 2;
	}
	return SMB1_NO_DIALECT;
}

enum smb_wire_verdict smb1_negotiate_rsp_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_negotiate_rsp *rsp = &message->body.negotiate_rsp;
	uint8_t *words = smb1_words(writer);

	smb_put16(words, rsp->dialect_index);
	if (rsp->dialect_index == SMB1_NO_DIALECT)
		return SMB_WIRE_OK;
	if (!(rsp->capabilities & SMB1_CAP_EXTENDED_SECURITY))
		return SMB_WIRE_BAD_VALUE;
	words[2] = rsp->security_mode;
	smb_put16(words + 3, rsp->max_mpx_count);
	smb_put16(words + 5, rsp->max_vcs);
	smb_put32(words + 7, rsp->max_buffer_size);
	smb_put32(words + 11, rsp->max_raw_size);
	smb_put32(words + 15, rsp->session_key);
	smb_put32(words + 19, rsp->capabilities);
	smb_put64(words + 23, rsp->system_time);
	smb_put16(words + 31, (uint16_t)rsp->time_zone);
	if (!smb1_append(writer, (struct smb_blob){ rsp->server_guid, GUID_SIZE }) || !smb1_append(writer, rsp->token))
		return SMB_WIRE_NO_SPACE;
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_negotiate_rsp_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	struct smb1_negotiate_rsp *rsp = &message->body.negotiate_rsp;
	const uint8_t *words = reader->words;
	struct smb_blob guid;

	*rsp = (struct smb1_negotiate_rsp){ .dialect_index = smb_get16(words) };
	if (reader->word_count == 1)
		return rsp->dialect_index == SMB1_NO_DIALECT ? SMB_WIRE_OK : SMB_WIRE_BAD_STRUCTURE_SIZE;
	if (rsp->dialect_index == SMB1_NO_DIALECT)
		return SMB_WIRE_BAD_STRUCTURE_SIZE;
	rsp->security_mode = words[2];
	rsp->max_mpx_count = smb_get16(words + 3);
	rsp->max_vcs = smb_get16(words + 5);
	rsp->max_buffer_size = smb_get32(words + 7);
	rsp->max_raw_size = smb_get32(words + 11);
	rsp->session_key = smb_get32(words + 15);
	rsp->capabilities = smb_get32(words + 19);
	rsp->system_time = smb_get64(words + 23);
	rsp->time_zone = (int16_t)smb_get16(words + 31);
	if (!(rsp->capabilities & SMB1_CAP_EXTENDED_SECURITY) || words[33])
		return SMB_WIRE_BAD_VALUE;
	if (!smb1_take(reader, GUID_SIZE, &guid))
		return SMB_WIRE_TRUNCATED;
	memcpy(rsp->server_guid, guid.data, GUID_SIZE);
	rsp->token = smb1_rest(reader);
	return SMB_WIRE_OK;
}

/** A token and, aligned, what the system calls itself: how both legs end. */
static enum smb_wire_verdict append_token(struct smb1_writer *writer, struct smb_blob token, struct smb_blob names,
					  uint8_t *length)
{
	if (token.length > UINT16_MAX)
		return SMB_WIRE_BAD_VALUE;
	smb_put16(length, (uint16_t)token.length);
	if (!smb1_append(writer, token))
		return SMB_WIRE_NO_SPACE;
	if (names.length && (!smb1_align(writer, 2) || !smb1_append(writer, names)))
		return SMB_WIRE_NO_SPACE;
	return SMB_WIRE_OK;
}

static enum smb_wire_verdict take_token(struct smb1_reader *reader, uint16_t length, struct smb_blob *token,
					struct smb_blob *names)
{
	if (!smb1_take(reader, length, token))
		return SMB_WIRE_TRUNCATED;
	smb1_skip_padding(reader, 2);
	*names = smb1_rest(reader);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_session_setup_req_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_session_setup_req *req = &message->body.session_setup_req;
	uint8_t *words = smb1_words(writer) + SMB1_ANDX_SIZE;

	smb_put16(words, req->max_buffer_size);
	smb_put16(words + 2, req->max_mpx_count);
	smb_put16(words + 4, req->vc_number);
	smb_put32(words + 6, req->session_key);
	smb_put32(words + 16, req->capabilities);
	return append_token(writer, req->token, req->names, words + 10);
}

enum smb_wire_verdict smb1_session_setup_req_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	struct smb1_session_setup_req *req = &message->body.session_setup_req;
	const uint8_t *words = reader->words + SMB1_ANDX_SIZE;

	req->max_buffer_size = smb_get16(words);
	req->max_mpx_count = smb_get16(words + 2);
	req->vc_number = smb_get16(words + 4);
	req->session_key = smb_get32(words + 6);
	req->capabilities = smb_get32(words + 16);
	return take_token(reader, smb_get16(words + 10), &req->token, &req->names);
}

enum smb_wire_verdict smb1_session_setup_rsp_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_session_setup_rsp *rsp = &message->body.session_setup_rsp;
	uint8_t *words = smb1_words(writer) + SMB1_ANDX_SIZE;

	smb_put16(words, rsp->action);
	return append_token(writer, rsp->token, rsp->names, words + 2);
}

enum smb_wire_verdict smb1_session_setup_rsp_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	struct smb1_session_setup_rsp *rsp = &message->body.session_setup_rsp;
	const uint8_t *words = reader->words + SMB1_ANDX_SIZE;

	rsp->action = smb_get16(words);
	return take_token(reader, smb_get16(words + 2), &rsp->token, &rsp->names);
}

/** Text that ends at its terminator must hold none, nor half a character when it is Unicode. */
static bool is_text(struct smb_blob text, uint32_t unit)
{
	if (text.length % unit)
		return false;
	for (uint32_t i = 0; i < text.length; i += unit) {
		if (!text.data[i] && (unit == 1 || !text.data[i + 1]))
			return false;
	}
	return true;
}

enum smb_wire_verdict smb1_tree_connect_req_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_tree_connect_req *req = &message->body.tree_connect_req;
	uint8_t *words = smb1_words(writer) + SMB1_ANDX_SIZE;

	if (req->password.length > UINT16_MAX || !is_text(req->path, 2) || !is_text(req->service, 1))
		return SMB_WIRE_BAD_VALUE;
	smb_put16(words, req->flags);
	smb_put16(words + 2, (uint16_t)req->password.length);
	if (!smb1_append(writer, req->password) || !smb1_align(writer, 2) || !smb1_append(writer, req->path) ||
	    !smb1_zeros(writer, 2) || !smb1_append(writer, req->service) || !smb1_zeros(writer, 1))
		return SMB_WIRE_NO_SPACE;
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_tree_connect_req_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	struct smb1_tree_connect_req *req = &message->body.tree_connect_req;
	const uint8_t *words = reader->words + SMB1_ANDX_SIZE;

	req->flags = smb_get16(words);
	if (!smb1_take(reader, smb_get16(words + 2), &req->password) || !smb1_take_text(reader, &req->path) ||
	    !smb1_take_ascii(reader, &req->service))
		return SMB_WIRE_TRUNCATED;
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_tree_connect_rsp_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_tree_connect_rsp *rsp = &message->body.tree_connect_rsp;
	uint8_t *words = smb1_words(writer) + SMB1_ANDX_SIZE;

	if (!is_text(rsp->service, 1) || !is_text(rsp->file_system, 2))
		return SMB_WIRE_BAD_VALUE;
	smb_put16(words, rsp->optional_support);
	if (rsp->has_access) {
		smb_put32(words + 2, rsp->maximal_access);
		smb_put32(words + 6, rsp->guest_access);
	}
	if (!smb1_append(writer, rsp->service) || !smb1_zeros(writer, 1) || !smb1_align(writer, 2) ||
	    !smb1_append(writer, rsp->file_system) || !smb1_zeros(writer, 2))
		return SMB_WIRE_NO_SPACE;
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_tree_connect_rsp_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	struct smb1_tree_connect_rsp *rsp = &message->body.tree_connect_rsp;
	const uint8_t *words = reader->words + SMB1_ANDX_SIZE;

	*rsp = (struct smb1_tree_connect_rsp){ .optional_support = smb_get16(words) };
	rsp->has_access = reader->word_count == 7;
	if (rsp->has_access) {
		rsp->maximal_access = smb_get32(words + 2);
		rsp->guest_access = smb_get32(words + 6);
	}
	if (!smb1_take_ascii(reader, &rsp->service) || !smb1_take_text(reader, &rsp->file_system))
		return SMB_WIRE_TRUNCATED;
	return SMB_WIRE_OK;
}
