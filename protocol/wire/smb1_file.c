/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SMB1 messages about files: NT_CREATE_ANDX, READ_ANDX, WRITE_ANDX, CLOSE, FLUSH; ECHO (MS-CIFS 2.2.4, MS-SMB 2.2.4). */
#include "protocol/wire/smb1_codec.h"

enum smb_wire_verdict smb1_create_req_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_create_req *req = &message->body.create_req;
	uint8_t *words = smb1_words(writer) + SMB1_ANDX_SIZE;

	if (req->name.length > UINT16_MAX || req->name.length & 1)
		return SMB_WIRE_BAD_VALUE;
	smb_put16(words + 1, (uint16_t)req->name.length);
	smb_put32(words + 3, req->flags);
	smb_put32(words + 7, req->root_fid);
	smb_put32(words + 11, req->desired_access);
	smb_put64(words + 15, req->allocation_size);
	smb_put32(words + 23, req->file_attributes);
	smb_put32(words + 27, req->share_access);
	smb_put32(words + 31, req->create_disposition);
	smb_put32(words + 35, req->create_options);
	smb_put32(words + 39, req->impersonation_level);
	words[43] = req->security_flags;
	if (!smb1_align(writer, 2) || !smb1_append(writer, req->name) || !smb1_zeros(writer, 2))
		return SMB_WIRE_NO_SPACE;
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_create_req_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	struct smb1_create_req *req = &message->body.create_req;
	const uint8_t *words = reader->words + SMB1_ANDX_SIZE;
	uint16_t length = smb_get16(words + 1);

	req->flags = smb_get32(words + 3);
	req->root_fid = smb_get32(words + 7);
	req->desired_access = smb_get32(words + 11);
	req->allocation_size = smb_get64(words + 15);
	req->file_attributes = smb_get32(words + 23);
	req->share_access = smb_get32(words + 27);
	req->create_disposition = smb_get32(words + 31);
	req->create_options = smb_get32(words + 35);
	req->impersonation_level = smb_get32(words + 39);
	req->security_flags = words[43];
	if (length & 1)
		return SMB_WIRE_BAD_VALUE;
	smb1_skip_padding(reader, 2);
	if (!smb1_take(reader, length, &req->name))
		return SMB_WIRE_TRUNCATED;
	/* cifs counts the terminator, the specification does not (CIFS_open). */
	while (req->name.length && !smb_get16(req->name.data + req->name.length - 2))
		req->name.length -= 2;
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_create_rsp_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_create_rsp *rsp = &message->body.create_rsp;
	uint8_t *words = smb1_words(writer) + SMB1_ANDX_SIZE;

	words[0] = rsp->oplock_level;
	smb_put16(words + 1, rsp->fid);
	smb_put32(words + 3, rsp->create_action);
	smb_put64(words + 7, rsp->times.creation_time);
	smb_put64(words + 15, rsp->times.last_access_time);
	smb_put64(words + 23, rsp->times.last_write_time);
	smb_put64(words + 31, rsp->times.change_time);
	smb_put32(words + 39, rsp->file_attributes);
	smb_put64(words + 43, rsp->allocation_size);
	smb_put64(words + 51, rsp->end_of_file);
	smb_put16(words + 59, rsp->resource_type);
	smb_put16(words + 61, rsp->pipe_status);
	words[63] = rsp->is_directory;
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_create_rsp_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	const uint8_t *words = reader->words + SMB1_ANDX_SIZE;

	message->body.create_rsp = (struct smb1_create_rsp){
		.oplock_level = words[0],
		.fid = smb_get16(words + 1),
		.create_action = smb_get32(words + 3),
		.times = { smb_get64(words + 7), smb_get64(words + 15), smb_get64(words + 23), smb_get64(words + 31) },
		.file_attributes = smb_get32(words + 39),
		.allocation_size = smb_get64(words + 43),
		.end_of_file = smb_get64(words + 51),
		.resource_type = smb_get16(words + 59),
		.pipe_status = smb_get16(words + 61),
		.is_directory = words[63],
	};
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_read_req_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_read_req *req = &message->body.read_req;
	uint8_t *words = smb1_words(writer) + SMB1_ANDX_SIZE;

	smb_put16(words, req->fid);
	smb_put32(words + 2, (uint32_t)req->offset);
	smb_put16(words + 6, (uint16_t)req->length);
	smb_put16(words + 8, req->min_count);
	smb_put32(words + 10, req->length >> 16);
	smb_put16(words + 14, req->remaining);
	smb_put32(words + 16, (uint32_t)(req->offset >> 32));
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_read_req_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	const uint8_t *words = reader->words + SMB1_ANDX_SIZE;
	uint32_t high = smb_get32(words + 10);

	/* Without large reads this field is a timeout; all ones stand for none (MS-CIFS 2.2.4.42.1). */
	if (high == UINT32_MAX)
		high = 0;
	if (high > UINT16_MAX)
		return SMB_WIRE_BAD_VALUE;
	message->body.read_req = (struct smb1_read_req){
		.fid = smb_get16(words),
		.offset = (uint64_t)smb_get32(words + 16) << 32 | smb_get32(words + 2),
		.length = high << 16 | smb_get16(words + 6),
		.min_count = smb_get16(words + 8),
		.remaining = smb_get16(words + 14),
	};
	return SMB_WIRE_OK;
}

/** File data, in the bytes or beside them; `offset` out: where it starts. */
static enum smb_wire_verdict append_data(struct smb1_writer *writer, uint32_t length, struct smb_blob data,
					 struct smb_slice payload)
{
	if (data.length && payload.length)
		return SMB_WIRE_BAD_PAYLOAD;
	if (length != data.length + payload.length)
		return SMB_WIRE_BAD_PAYLOAD;
	writer->payload = payload;
	return smb1_append(writer, data) ? SMB_WIRE_OK : SMB_WIRE_NO_SPACE;
}

static enum smb_wire_verdict take_data(struct smb1_reader *reader, uint32_t offset, uint32_t length,
				       struct smb_blob *data)
{
	*data = (struct smb_blob){ NULL, 0 };
	if (reader->payload.length)
		return length == reader->payload.length ? SMB_WIRE_OK : SMB_WIRE_BAD_PAYLOAD;
	if (!length)
		return SMB_WIRE_OK;
	if (offset < reader->bytes_start)
		return SMB_WIRE_BAD_OFFSET;
	if (offset > reader->length || length > reader->length - offset)
		return SMB_WIRE_TRUNCATED;
	*data = (struct smb_blob){ reader->bytes + offset, length };
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_read_rsp_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_read_rsp *rsp = &message->body.read_rsp;
	uint8_t *words = smb1_words(writer) + SMB1_ANDX_SIZE;

	if (!smb1_align(writer, 2))
		return SMB_WIRE_NO_SPACE;
	smb_put16(words, rsp->available);
	smb_put16(words + 6, (uint16_t)rsp->data_length);
	smb_put16(words + 8, (uint16_t)writer->used);
	smb_put16(words + 10, (uint16_t)(rsp->data_length >> 16));
	return append_data(writer, rsp->data_length, rsp->data, rsp->payload);
}

enum smb_wire_verdict smb1_read_rsp_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	const uint8_t *words = reader->words + SMB1_ANDX_SIZE;
	struct smb1_read_rsp *rsp = &message->body.read_rsp;

	*rsp = (struct smb1_read_rsp){
		.available = smb_get16(words),
		.data_length = (uint32_t)smb_get16(words + 10) << 16 | smb_get16(words + 6),
		.payload = reader->payload,
	};
	return take_data(reader, smb_get16(words + 8), rsp->data_length, &rsp->data);
}

enum smb_wire_verdict smb1_write_req_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_write_req *req = &message->body.write_req;
	uint8_t *words = smb1_words(writer) + SMB1_ANDX_SIZE;

	if (!smb1_zeros(writer, 1)) /* cifs aligns the data by one byte (cifs_async_writev) */
		return SMB_WIRE_NO_SPACE;
	smb_put16(words, req->fid);
	smb_put32(words + 2, (uint32_t)req->offset);
	smb_put16(words + 10, req->write_mode);
	smb_put16(words + 12, req->remaining);
	smb_put16(words + 14, (uint16_t)(req->data_length >> 16));
	smb_put16(words + 16, (uint16_t)req->data_length);
	smb_put16(words + 18, (uint16_t)writer->used);
	smb_put32(words + 20, (uint32_t)(req->offset >> 32));
	return append_data(writer, req->data_length, req->data, req->payload);
}

enum smb_wire_verdict smb1_write_req_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	const uint8_t *words = reader->words + SMB1_ANDX_SIZE;
	struct smb1_write_req *req = &message->body.write_req;

	*req = (struct smb1_write_req){
		.fid = smb_get16(words),
		.offset = (uint64_t)smb_get32(words + 20) << 32 | smb_get32(words + 2),
		.write_mode = smb_get16(words + 10),
		.remaining = smb_get16(words + 12),
		.data_length = (uint32_t)smb_get16(words + 14) << 16 | smb_get16(words + 16),
		.payload = reader->payload,
	};
	return take_data(reader, smb_get16(words + 18), req->data_length, &req->data);
}

enum smb_wire_verdict smb1_write_rsp_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	const struct smb1_write_rsp *rsp = &message->body.write_rsp;
	uint8_t *words = smb1_words(writer) + SMB1_ANDX_SIZE;

	smb_put16(words, (uint16_t)rsp->count);
	smb_put16(words + 2, rsp->available);
	smb_put16(words + 4, (uint16_t)(rsp->count >> 16));
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_write_rsp_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	const uint8_t *words = reader->words + SMB1_ANDX_SIZE;

	message->body.write_rsp = (struct smb1_write_rsp){
		.count = (uint32_t)smb_get16(words + 4) << 16 | smb_get16(words),
		.available = smb_get16(words + 2),
	};
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_close_req_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	smb_put16(smb1_words(writer), message->body.close_req.fid);
	smb_put32(smb1_words(writer) + 2, message->body.close_req.last_write_time);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_close_req_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	message->body.close_req.fid = smb_get16(reader->words);
	message->body.close_req.last_write_time = smb_get32(reader->words + 2);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_flush_req_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	smb_put16(smb1_words(writer), message->body.flush_req.fid);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_flush_req_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	message->body.flush_req.fid = smb_get16(reader->words);
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb1_echo_encode(struct smb1_writer *writer, const struct smb1_message *message)
{
	smb_put16(smb1_words(writer), message->body.echo.count);
	return smb1_append(writer, message->body.echo.data) ? SMB_WIRE_OK : SMB_WIRE_NO_SPACE;
}

enum smb_wire_verdict smb1_echo_decode(struct smb1_reader *reader, struct smb1_message *message)
{
	message->body.echo.count = smb_get16(reader->words);
	message->body.echo.data = smb1_rest(reader);
	return SMB_WIRE_OK;
}
