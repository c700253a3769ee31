/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_SMB1_CODEC_H
#define SMB_WIRE_SMB1_CODEC_H

/**
 * How SMB1 bodies are put into bytes; private to protocol/wire.
 *
 * A body is WordCount, that many 16-bit words, ByteCount, that many bytes (MS-CIFS 2.2.3.2, 2.2.3.3). The dispatcher
 * in smb1.c checks or reserves the words and owns ByteCount; body functions use constant offsets into the words and
 * append or take parts of the bytes in order. Offsets on the wire count from the header.
 */

#include "protocol/wire/buffer.h"
#include "protocol/wire/smb1.h"

struct smb1_writer {
	uint8_t *bytes; /* of the header */
	uint32_t size;
	uint32_t used;
	uint32_t words; /* where the words start */
	struct smb_slice payload;
};

struct smb1_reader {
	const uint8_t *bytes; /* of the header */
	uint32_t length;
	const uint8_t *words;
	uint8_t word_count;
	uint32_t bytes_start; /* first byte behind ByteCount */
	uint32_t position; /* next byte that is not taken */
	struct smb_slice payload;
};

#define SMB1_ANDX_NONE 0xffu
#define SMB1_ANDX_SIZE 4u /* AndXCommand, AndXReserved, AndXOffset: the first words of every AndX body */

/** The next `length` bytes, not cleared; NULL when they do not fit. */
static inline uint8_t *smb1_reserve(struct smb1_writer *writer, uint32_t length)
{
	if (length > writer->size - writer->used)
		return NULL;
	writer->used += length;
	return writer->bytes + writer->used - length;
}

static inline bool smb1_append(struct smb1_writer *writer, struct smb_blob blob)
{
	uint8_t *p = smb1_reserve(writer, blob.length);

	if (p && blob.length)
		memcpy(p, blob.data, blob.length);
	return p;
}

static inline bool smb1_zeros(struct smb1_writer *writer, uint32_t length)
{
	uint8_t *p = smb1_reserve(writer, length);

	if (p)
		memset(p, 0, length);
	return p;
}

/** Zeros up to the next multiple of `unit` from the header: 2 before Unicode, 4 in transactions. */
static inline bool smb1_align(struct smb1_writer *writer, uint32_t unit)
{
	return smb1_zeros(writer, (unit - writer->used % unit) % unit);
}

static inline uint8_t *smb1_words(const struct smb1_writer *writer)
{
	return writer->bytes + writer->words;
}

/** Take the next `length` bytes; false: they are not there. */
static inline bool smb1_take(struct smb1_reader *reader, uint32_t length, struct smb_blob *blob)
{
	if (length > reader->length - reader->position)
		return false;
	*blob = (struct smb_blob){ length ? reader->bytes + reader->position : NULL, length };
	reader->position += length;
	return true;
}

/** Skip padding, if it is there. */
static inline void smb1_skip_padding(struct smb1_reader *reader, uint32_t unit)
{
	uint32_t padding = (unit - reader->position % unit) % unit;

	if (padding <= reader->length - reader->position)
		reader->position += padding;
}

/** Everything that is left. */
static inline struct smb_blob smb1_rest(struct smb1_reader *reader)
{
	struct smb_blob rest;

	smb1_take(reader, reader->length - reader->position, &rest);
	return rest;
}

/** A UTF-16LE string up to its terminator, which is taken too. */
static inline bool smb1_take_text(struct smb1_reader *reader, struct smb_blob *text)
{
	uint32_t end;

	smb1_skip_padding(reader, 2);
	end = reader->position;
	while (reader->length - end >= 2 && smb_get16(reader->bytes + end))
		end += 2;
	if (reader->length - end < 2)
		return false;
	smb1_take(reader, end - reader->position, text);
	reader->position += 2;
	return true;
}

/** An ASCII string up to its terminator, which is taken too. */
static inline bool smb1_take_ascii(struct smb1_reader *reader, struct smb_blob *text)
{
	uint32_t end = reader->position;

	while (end < reader->length && reader->bytes[end])
		end++;
	if (end == reader->length)
		return false;
	smb1_take(reader, end - reader->position, text);
	reader->position++;
	return true;
}

#define SMB1_BODY_FUNCTIONS(name)                                                                                      \
	enum smb_wire_verdict smb1_##name##_encode(struct smb1_writer *writer, const struct smb1_message *message);    \
	enum smb_wire_verdict smb1_##name##_decode(struct smb1_reader *reader, struct smb1_message *message)

SMB1_BODY_FUNCTIONS(negotiate_req);
SMB1_BODY_FUNCTIONS(negotiate_rsp);
SMB1_BODY_FUNCTIONS(session_setup_req);
SMB1_BODY_FUNCTIONS(session_setup_rsp);
SMB1_BODY_FUNCTIONS(tree_connect_req);
SMB1_BODY_FUNCTIONS(tree_connect_rsp);
SMB1_BODY_FUNCTIONS(create_req);
SMB1_BODY_FUNCTIONS(create_rsp);
SMB1_BODY_FUNCTIONS(read_req);
SMB1_BODY_FUNCTIONS(read_rsp);
SMB1_BODY_FUNCTIONS(write_req);
SMB1_BODY_FUNCTIONS(write_rsp);
SMB1_BODY_FUNCTIONS(close_req);
SMB1_BODY_FUNCTIONS(flush_req);
SMB1_BODY_FUNCTIONS(echo);
SMB1_BODY_FUNCTIONS(trans2_req);
SMB1_BODY_FUNCTIONS(trans2_rsp);

#undef SMB1_BODY_FUNCTIONS

#endif
