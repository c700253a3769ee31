/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TRANSACTION2 in one piece with one setup word (MS-CIFS 2.2.4.46). */
#include "protocol/wire/smb1_codec.h"

/** Where the counts and offsets of parameters and data stand among the words. */
struct places {
	uint32_t parameter_count;
	uint32_t parameter_offset;
	uint32_t data_count;
	uint32_t data_offset;
};

static const struct places request_places = { 18, 20, 22, 24 };
static const struct places response_places = { 6, 8, 12, 14 };

/** Parameters and data, each on a multiple of 4; an absent part has offset 0. */
static enum smb_wire_verdict append_parts(struct smb1_writer *writer, const struct places *at,
					  struct smb_blob parameters, struct smb_blob data)
{
	uint8_t *words = smb1_words(writer);

	if (parameters.length > UINT16_MAX || data.length > UINT16_MAX)
		return SMB_WIRE_BAD_VALUE;
	smb_put16(words, (uint16_t)parameters.length);
	smb_put16(words + 2, (uint16_t)data.length);
	smb_put16(words + at->parameter_count, (uint16_t)parameters.length);
	smb_put16(words + at->data_count, (uint16_t)data.length);
	if (parameters.length) {
		if (!smb1_align(writer, 4))
			return SMB_WIRE_NO_SPACE;
		smb_put16(words + at->parameter_offset, (uint16_t)writer->used);
		if (!smb1_append(writer, parameters))
			return SMB_WIRE_NO_SPACE;
	}
	if (data.length) {
		if (!smb1_align(writer, 4))
			return SMB_WIRE_NO_SPACE;
		if (writer->used > UINT16_MAX)
			return SMB_WIRE_BAD_VALUE;
		smb_put16(words + at->data_offset, (uint16_t)writer->used);
		if (!smb1_append(writer, data))
			return SMB_WIRE_NO_SPACE;
	}
	return SMB_WIRE_OK;
}

static enum smb_wire_verdict find_part(const struct smb1_reader *reader, uint32_t count, uint32_t offset,
				       struct smb_blob *part)
{
	uint16_t length = smb_get16(reader->words + count);
	uint16_t start = smb_get16(reader->words + offset);

	*part = (struct smb_blob){ NULL, 0 };
	if (!length)
		return SMB_WIRE_OK;
	if (start < reader->bytes_start)
		return SMB_WIRE_BAD_OFFSET;
	if (start > reader->length || length > reader->length - start)
		return SMB_WIRE_TRUNCATED;
	*part = (struct smb_blob){ reader->bytes + start, length };
	return SMB_WIRE_OK;
}

static enum smb_wire_verdict find_parts(const struct smb1_reader *reader, const struct places *at,
					struct smb_blob *parameters, struct smb_blob *data)
{
	const uint8_t *words = reader->words;
	enum smb_wire_verdict verdict;

	if (smb_get16(words) != smb_get16(words + at->parameter_count) ||
	    smb_get16(words + 2) != smb_get16(words + at->data_count))
		return SMB_WIRE_BAD_VALUE; /* a fragment */
	verdict = find_part(reader, at->parameter_count, at->parameter_offset, parameters);
	if (verdict == SMB_WIRE_OK)
		verdict = find_part(reader, at->data_count, at->data_offset, data);
	if (verdict == SMB_WIRE_OK && smb_blobs_overlap(*parameters, *data))
		return SMB_WIRE_BAD_OFFSET;
	return verdict;
}

enum smb_wire_verdict smb1_trans2_req_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_trans2_req *req = &message->body.trans2_req;
	uint8_t *words = smb1_words(writer);

	smb_put16(words + 4, req->max_parameter_count);
	smb_put16(words + 6, req->max_data_count);
	words[26] = 1; /* SetupCount */
	smb_put16(words + 28, req->subcommand);
	if (!smb1_zeros(writer, 1)) /* the name that TRANSACTION2 does not use */
		return SMB_WIRE_NO_SPACE;
	return append_parts(writer, &request_places, req->parameters, req->data);
}

enum smb_wire_verdict smb1_trans2_req_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	struct smb1_trans2_req *req = &message->body.trans2_req;
	const uint8_t *words = reader->words;

	if (words[26] != 1)
		return SMB_WIRE_BAD_VALUE;
	req->max_parameter_count = smb_get16(words + 4);
	req->max_data_count = smb_get16(words + 6);
	req->subcommand = smb_get16(words + 28);
	return find_parts(reader, &request_places, &req->parameters, &req->data);
}

enum smb_wire_verdict smb1_trans2_rsp_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_trans2_rsp *rsp = &message->body.trans2_rsp;

	return append_parts(writer, &response_places, rsp->parameters, rsp->data);
}

enum smb_wire_verdict smb1_trans2_rsp_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	struct smb1_trans2_rsp *rsp = &message->body.trans2_rsp;

	if (smb_get16(reader->words + 10) || smb_get16(reader->words + 16) || reader->words[18])
		return SMB_WIRE_BAD_VALUE; /* displacements: a fragment; setup words: none in TRANSACTION2 responses */
	return find_parts(reader, &response_places, &rsp->parameters, &rsp->data);
}
