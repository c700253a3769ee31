/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SMB1 in both directions: what decodes also encodes, to the same value and the same bytes. */
#include "protocol/wire/smb1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX (1u << 16)
#define ENCODED_MAX (1u << 18)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t encoded[2][ENCODED_MAX];

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

static void check(const struct smb1_message *message)
{
	struct smb1_message again;
	struct smb_pdu first, second;

	require(smb1_message_encode(message, encoded[0], ENCODED_MAX, &first) == SMB_WIRE_OK,
		"what decodes also encodes");
	require(smb1_message_decode(&first, &again) == SMB_WIRE_OK, "what was encoded decodes");
	require(smb1_message_equal(message, &again), "encode and decode keep the value");
	require(smb1_message_encode(&again, encoded[1], ENCODED_MAX, &second) == SMB_WIRE_OK, "it encodes twice");
	require(first.length == second.length && !memcmp(first.bytes, second.bytes, first.length),
		"the encoding is canonical");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct smb1_message message;

	if (size < SMB1_HEADER_SIZE || size > INPUT_MAX)
		return 0;
	uint8_t *copy = malloc(size);
	memcpy(copy, data, size);
	struct smb_pdu pdu = { .bytes = copy, .length = (uint32_t)size };
	/* The reserved byte before the ids says how much file data travels beside the bytes. */
	if (copy[22])
		pdu.payload = (struct smb_slice){ 1, 2, copy[22] };
	if (smb1_message_decode(&pdu, &message) == SMB_WIRE_OK) {
		check(&message);
		if (message.kind == SMB1_BODY_NEGOTIATE_REQ)
			smb1_dialect_index(message.body.negotiate_req.dialects, SMB1_DIALECT_NAME);
	}
	free(copy);
	return 0;
}
