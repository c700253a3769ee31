/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/tests/samples_build.h"

#define SESSION 0x1122334455667788u
#define TREE 0x21u
#define ASYNC_ID 0x77u

static struct wire_sample samples[WIRE_SAMPLES_MAX];
static size_t sample_count;
static uint8_t pool[8192];
static size_t pool_used;

uint8_t *take(size_t size)
{
	assert(pool_used + size <= sizeof(pool));
	pool_used += size;
	return pool + pool_used - size;
}

struct smb_blob utf16(const char *ascii)
{
	struct smb_blob name;
	uint32_t size = (uint32_t)(2 * strlen(ascii));
	enum smb_wire_verdict verdict = smb_utf16_from_ascii(ascii, take(size), size, &name);
	assert(verdict == SMB_WIRE_OK);
	(void)verdict;
	return name;
}

static struct smb2_message *add(const char *name, uint16_t command, enum smb2_body_kind kind)
{
	assert(sample_count < WIRE_SAMPLES_MAX);
	struct wire_sample *sample = &samples[sample_count++];
	*sample = (struct wire_sample){
		.name = name,
		.connection = sample_count > 1 ? sample[-1].connection : 0,
		.message.kind = kind,
		.message.header = {
			.command = command,
			.credit_charge = 1,
			.credits = 10,
			.process_id = 0xfeff,
			.tree_id = TREE,
			.session_id = SESSION,
		},
	};
	return &sample->message;
}

struct smb2_message *request(const char *name, uint16_t command, enum smb2_body_kind kind)
{
	struct smb2_message *message = add(name, command, kind);
	message->header.message_id = sample_count;
	return message;
}

/* Answers the sample before; a response that is not next to its request sets message_id itself. */
struct smb2_message *response(const char *name, enum smb2_body_kind kind)
{
	const struct smb2_header *asked = &samples[sample_count - 1].message.header;
	struct smb2_message *message = add(name, asked->command, kind);
	message->header.message_id = asked->message_id;
	message->header.flags = SMB2_FLAGS_SERVER_TO_REDIR;
	message->header.credits = 33;
	return message;
}

struct smb2_message *error(const char *name, uint32_t status)
{
	struct smb2_message *message = response(name, SMB2_BODY_ERROR_RSP);
	message->header.status = status;
	return message;
}

struct smb2_message *interim(const char *name)
{
	struct smb2_message *message = error(name, STATUS_PENDING);
	message->header.flags |= SMB2_FLAGS_ASYNC_COMMAND;
	message->header.async_id = ASYNC_ID;
	return message;
}

void make_async(struct smb2_message *message)
{
	message->header.flags |= SMB2_FLAGS_ASYNC_COMMAND;
	message->header.async_id = ASYNC_ID;
}

struct wire_sample *recent(size_t back)
{
	assert(back < sample_count);
	return &samples[sample_count - 1 - back];
}

const struct wire_sample *wire_samples(size_t *count)
{
	if (!sample_count) {
		add_negotiate();
		add_session_setup();
		add_tree();
		add_create();
		add_read();
		add_write();
		add_lock();
		add_ioctl();
		add_query();
		add_set_info();
		add_breaks();
		add_chain();
		add_farewell();
	}
	*count = sample_count;
	return samples;
}

enum smb_wire_verdict wire_sample_encode(size_t *index, uint8_t buffer[WIRE_PDU_MAX], struct smb_pdu *pdu)
{
	struct smb_chain_writer writer;
	smb_chain_begin(&writer, buffer, WIRE_PDU_MAX);
	do {
		enum smb_wire_verdict verdict = smb_chain_append(&writer, &samples[*index].message);
		if (verdict != SMB_WIRE_OK)
			return verdict;
		(*index)++;
	} while (*index < sample_count && samples[*index].follows);
	*pdu = smb_chain_finish(&writer);
	return SMB_WIRE_OK;
}
