/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_FUZZ_FUZZ_H
#define SMB_WIRE_FUZZ_FUZZ_H

/**
 * The property that both fuzz targets check: what decodes also encodes, and the encoding decodes to the same value and
 * encodes to the same bytes. Bytes that do not decode get a verdict and nothing outside them is read.
 */

#include "protocol/wire/contexts.h"
#include "protocol/wire/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_INPUT_MAX (1u << 16)
#define FUZZ_ENCODED_MAX (1u << 20)
#define FUZZ_MEMBERS_MAX 64u
#define FUZZ_INTERFACES 4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t fuzz_bytes[2][FUZZ_ENCODED_MAX];

static void fuzz_require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

/* Readers of contexts get whatever data the context has. */
static void fuzz_contexts(const struct smb2_context *contexts, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		struct smb_blob salt;
		struct smb2_algorithms algorithms;
		struct smb2_lease lease;
		struct smb2_durable_v2 durable;
		uint32_t access;
		uint64_t file, volume;
		smb2_preauth_read(&contexts[i], &salt);
		smb2_algorithms_read(&contexts[i], &algorithms);
		smb2_lease_read(&contexts[i], &lease);
		smb2_durable_v2_read(&contexts[i], &durable);
		smb2_maximal_access_read(&contexts[i], &access);
		smb2_disk_id_read(&contexts[i], &file, &volume);
	}
}

static void fuzz_interfaces(struct smb_blob blob)
{
	struct smb2_network_interface list[FUZZ_INTERFACES];
	uint32_t count = FUZZ_INTERFACES;
	smb2_interfaces_decode(blob, list, &count);
	fuzz_require(count <= FUZZ_INTERFACES, "more interfaces than there is room for");
}

static void fuzz_variable_parts(const struct smb2_message *message)
{
	char name[32];
	switch (message->kind) {
	case SMB2_BODY_NEGOTIATE_REQ:
		fuzz_contexts(message->body.negotiate_req.contexts, message->body.negotiate_req.context_count);
		break;
	case SMB2_BODY_NEGOTIATE_RSP:
		fuzz_contexts(message->body.negotiate_rsp.contexts, message->body.negotiate_rsp.context_count);
		break;
	case SMB2_BODY_CREATE_REQ:
		smb_ascii_from_utf16(message->body.create_req.name, name, sizeof(name));
		fuzz_contexts(message->body.create_req.contexts, message->body.create_req.context_count);
		break;
	case SMB2_BODY_CREATE_RSP:
		fuzz_contexts(message->body.create_rsp.contexts, message->body.create_rsp.context_count);
		break;
	case SMB2_BODY_IOCTL_RSP:
		fuzz_interfaces(message->body.ioctl_rsp.output);
		break;
	default:
		break;
	}
}

/* `message` encoded into bytes[0], decoded from there, and encoded once more into bytes[1]. */
static void fuzz_message(const struct smb2_message *message)
{
	struct smb2_message again;
	struct smb_pdu first, second;
	enum smb_wire_verdict verdict = smb2_message_encode(message, fuzz_bytes[0], FUZZ_ENCODED_MAX, &first);
	fuzz_require(verdict == SMB_WIRE_OK, "what decodes also encodes");
	verdict = smb2_message_decode(&first, &again);
	fuzz_require(verdict == SMB_WIRE_OK, "what was encoded decodes");
	fuzz_require(smb2_message_equal(message, &again), "encode and decode keep the value");
	verdict = smb2_message_encode(&again, fuzz_bytes[1], FUZZ_ENCODED_MAX, &second);
	fuzz_require(verdict == SMB_WIRE_OK && first.length == second.length &&
			     !memcmp(first.bytes, second.bytes, first.length),
		     "the encoding is canonical");
}

/* Both directions share their input format: the PDU itself. The flag that tells the direction is forced. */
static int fuzz_pdu(const uint8_t *data, size_t size, bool response)
{
	if (size < SMB2_HEADER_SIZE || size > FUZZ_INPUT_MAX)
		return 0;
	uint8_t *copy = malloc(size);
	memcpy(copy, data, size);
	copy[16] = (uint8_t)((copy[16] & ~SMB2_FLAGS_SERVER_TO_REDIR) | response);
	/* A flag bit that the codec does not look at says that file data travels beside the bytes, the next byte how much. */
	struct smb_pdu pdu = { .bytes = copy, .length = (uint32_t)size };
	if (copy[16] & 0x40)
		pdu.payload = (struct smb_slice){ 1, 2, copy[17] };

	struct smb_chain_reader reader;
	struct smb2_message message;
	smb_chain_read(&reader, &pdu);
	for (uint32_t i = 0; i < FUZZ_MEMBERS_MAX && smb_chain_next(&reader, &message) == SMB_WIRE_OK; i++) {
		fuzz_require(smb_chain_reader_is_valid(&reader), "the reader stays valid");
		fuzz_message(&message);
		fuzz_variable_parts(&message);
	}
	free(copy);
	return 0;
}

#endif
