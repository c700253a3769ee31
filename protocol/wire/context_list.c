/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of negotiate contexts (MS-SMB2 2.2.3.1) and of create contexts (MS-SMB2 2.2.13.2). */
#include "protocol/wire/body.h"

#define NEGOTIATE_CONTEXT_HEADER 8u
#define CREATE_CONTEXT_HEADER 16u

enum smb_wire_verdict smb2_negotiate_contexts_encode(struct smb_member_writer *writer, struct smb2_context_list list,
						     uint32_t *offset)
{
	*offset = list.count ? smb_align8(writer->used) : 0;
	for (uint16_t i = 0; i < list.count; i++) {
		struct smb_blob data = list.contexts[i].data;
		if (data.length > UINT16_MAX)
			return SMB_WIRE_BAD_VALUE;
		enum smb_wire_verdict verdict = smb_member_align8(writer);
		if (verdict != SMB_WIRE_OK)
			return verdict;
		uint8_t *p = smb_member_reserve(writer, NEGOTIATE_CONTEXT_HEADER);
		if (!p)
			return SMB_WIRE_NO_SPACE;
		smb_put16(p, list.contexts[i].type);
		smb_put16(p + 2, (uint16_t)data.length);
		smb_put32(p + 4, 0);
		verdict = smb_member_append(writer, data);
		if (verdict != SMB_WIRE_OK)
			return verdict;
	}
	return SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_negotiate_contexts_decode(const struct smb_member *member, uint32_t offset, uint16_t count,
						     struct smb2_context contexts[SMB2_CONTEXTS_MAX])
{
	if (count > SMB2_CONTEXTS_MAX)
		return SMB_WIRE_TOO_MANY;
	for (uint16_t i = 0; i < count; i++) {
		struct smb_blob header;
		if (offset % 8)
			return SMB_WIRE_BAD_OFFSET;
		enum smb_wire_verdict verdict = smb_member_view(member, offset, NEGOTIATE_CONTEXT_HEADER, &header);
		if (verdict != SMB_WIRE_OK)
			return verdict;
		uint32_t data_offset = offset + NEGOTIATE_CONTEXT_HEADER;
		contexts[i].type = smb_get16(header.data);
		contexts[i].name = (struct smb_blob){ NULL, 0 };
		verdict = smb_member_view(member, data_offset, smb_get16(header.data + 2), &contexts[i].data);
		if (verdict != SMB_WIRE_OK)
			return verdict;
		offset = smb_align8(data_offset + contexts[i].data.length);
	}
	return SMB_WIRE_OK;
}

static enum smb_wire_verdict create_context_encode(struct smb_member_writer *writer, const struct smb2_context *context)
{
	if (!context->name.length || context->name.length > UINT16_MAX)
		return SMB_WIRE_BAD_VALUE;
	uint32_t data_offset = smb_align8(CREATE_CONTEXT_HEADER + context->name.length);
	if (context->data.length && data_offset > UINT16_MAX)
		return SMB_WIRE_BAD_VALUE;
	uint8_t *p = smb_member_reserve(writer, CREATE_CONTEXT_HEADER);
	if (!p)
		return SMB_WIRE_NO_SPACE;
	smb_put32(p, 0);
	smb_put16(p + 4, CREATE_CONTEXT_HEADER);
	smb_put16(p + 6, (uint16_t)context->name.length);
	smb_put16(p + 8, 0);
	smb_put16(p + 10, context->data.length ? (uint16_t)data_offset : 0);
	smb_put32(p + 12, context->data.length);
	enum smb_wire_verdict verdict = smb_member_append(writer, context->name);
	if (verdict == SMB_WIRE_OK)
		verdict = smb_member_align8(writer);
	if (verdict == SMB_WIRE_OK)
		verdict = smb_member_append(writer, context->data);
	return verdict;
}

enum smb_wire_verdict smb2_create_contexts_encode(struct smb_member_writer *writer, struct smb2_context_list list,
						  uint8_t *fields)
{
	if (!list.count)
		return SMB_WIRE_OK;
	uint32_t first = smb_align8(writer->used);
	uint32_t last = first;
	for (uint16_t i = 0; i < list.count; i++) {
		enum smb_wire_verdict verdict = smb_member_align8(writer);
		if (verdict != SMB_WIRE_OK)
			return verdict;
		uint32_t start = writer->used;
		verdict = create_context_encode(writer, &list.contexts[i]);
		if (verdict != SMB_WIRE_OK)
			return verdict;
		if (i)
			smb_put32(writer->bytes + last, start - last);
		last = start;
	}
	smb_put32(fields, first);
	smb_put32(fields + 4, writer->used - first);
	return SMB_WIRE_OK;
}

/* One context inside `area`, which ends where the context ends at the latest. */
static enum smb_wire_verdict create_context_decode(struct smb_blob area, struct smb2_context *context)
{
	const struct smb_member member = { .bytes = area.data,
					   .length = area.length,
					   .fixed_end = CREATE_CONTEXT_HEADER };
	context->type = 0;
	if (!smb_get16(area.data + 6))
		return SMB_WIRE_BAD_VALUE;
	enum smb_wire_verdict verdict = smb_member_view(&member, smb_get16(area.data + 4), smb_get16(area.data + 6),
							&context->name);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	verdict = smb_member_view(&member, smb_get16(area.data + 10), smb_get32(area.data + 12), &context->data);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	return smb_blobs_overlap(context->name, context->data) ? SMB_WIRE_BAD_OFFSET : SMB_WIRE_OK;
}

enum smb_wire_verdict smb2_create_contexts_decode(struct smb_blob area, struct smb2_context contexts[SMB2_CONTEXTS_MAX],
						  uint16_t *count)
{
	*count = 0;
	while (area.length) {
		if (area.length < CREATE_CONTEXT_HEADER)
			return SMB_WIRE_TRUNCATED;
		if (*count == SMB2_CONTEXTS_MAX)
			return SMB_WIRE_TOO_MANY;
		uint32_t next = smb_get32(area.data);
		if (next % 8 || (next && next < CREATE_CONTEXT_HEADER))
			return SMB_WIRE_BAD_OFFSET;
		if (next > area.length)
			return SMB_WIRE_TRUNCATED;
		uint32_t length = next ? next : area.length;
		enum smb_wire_verdict verdict = create_context_decode((struct smb_blob){ area.data, length },
								      &contexts[*count]);
		if (verdict != SMB_WIRE_OK)
			return verdict;
		(*count)++;
		area = (struct smb_blob){ area.data + length, area.length - length };
	}
	return SMB_WIRE_OK;
}
