/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/tests/samples.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static uint8_t bytes[WIRE_PDU_MAX];

/* A copy on the heap that ends where the PDU ends, so that AddressSanitizer sees the first byte read too far. */
static struct smb_pdu exact_copy(const struct smb_pdu *pdu, uint32_t length)
{
	struct smb_pdu copy = *pdu;
	uint8_t *heap = malloc(length ? length : 1);
	memcpy(heap, pdu->bytes, length);
	copy.bytes = heap;
	copy.length = length;
	return copy;
}

static enum smb_wire_verdict walk(const struct smb_pdu *pdu, struct smb2_message members[WIRE_CHAIN_MAX], size_t *count)
{
	struct smb_chain_reader reader;
	struct smb2_message message;
	enum smb_wire_verdict verdict;
	*count = 0;
	smb_chain_read(&reader, pdu);
	while ((verdict = smb_chain_next(&reader, &message)) == SMB_WIRE_OK) {
		cr_assert(*count < WIRE_CHAIN_MAX);
		cr_assert(smb_chain_reader_is_valid(&reader));
		cr_assert_eq(reader.member, *count);
		members[(*count)++] = message;
	}
	return verdict;
}

Test(wire, every_message_survives_encode_and_decode)
{
	size_t count, members;
	const struct wire_sample *samples = wire_samples(&count);
	struct smb2_message decoded[WIRE_CHAIN_MAX];
	for (size_t i = 0; i < count;) {
		size_t first = i;
		struct smb_pdu pdu;
		enum smb_wire_verdict verdict = wire_sample_encode(&i, bytes, &pdu);
		cr_assert_eq(verdict, SMB_WIRE_OK, "%s: %s", samples[first].name, smb_wire_verdict_name(verdict));
		verdict = walk(&pdu, decoded, &members);
		cr_assert_eq(verdict, SMB_WIRE_END, "%s: %s", samples[first].name, smb_wire_verdict_name(verdict));
		cr_assert_eq(members, i - first, "%s", samples[first].name);
		for (size_t m = 0; m < members; m++)
			cr_assert(smb2_message_equal(&decoded[m], &samples[first + m].message), "%s",
				  samples[first + m].name);
	}
}

Test(wire, every_kind_of_body_has_a_sample)
{
	size_t count;
	bool seen[SMB2_BODY_ERROR_RSP + 1] = { false };
	const struct wire_sample *samples = wire_samples(&count);
	for (size_t i = 0; i < count; i++)
		seen[samples[i].message.kind] = true;
	for (size_t kind = 0; kind <= SMB2_BODY_ERROR_RSP; kind++)
		cr_expect(seen[kind], "kind %zu", kind);
}

/* Bytes at the end of a PDU that stand for an empty variable part or round a name up carry no value. */
static uint32_t meaningless_tail(const struct smb2_message *message)
{
	switch (message->kind) {
	case SMB2_BODY_READ_REQ:
		return 1;
	case SMB2_BODY_WRITE_REQ:
		return !message->body.write_req.data_length;
	case SMB2_BODY_IOCTL_REQ:
		return !message->body.ioctl_req.input.length;
	case SMB2_BODY_QUERY_INFO_REQ:
		return !message->body.query_info_req.input.length;
	case SMB2_BODY_QUERY_DIRECTORY_REQ:
		return !message->body.query_directory_req.pattern.length;
	case SMB2_BODY_ERROR_RSP:
		return !message->body.error_rsp.data.length;
	case SMB2_BODY_CREATE_REQ:
		return message->body.create_req.context_count ? 0 : 8 - message->body.create_req.name.length % 8;
	default:
		return 0;
	}
}

Test(wire, a_truncated_message_is_never_accepted)
{
	size_t count, members;
	const struct wire_sample *samples = wire_samples(&count);
	struct smb2_message decoded[WIRE_CHAIN_MAX];
	for (size_t i = 0; i < count;) {
		size_t first = i;
		struct smb_pdu pdu;
		cr_assert_eq(wire_sample_encode(&i, bytes, &pdu), SMB_WIRE_OK);
		uint32_t whole = pdu.length - meaningless_tail(&samples[i - 1].message);
		for (uint32_t length = 0; length < pdu.length; length++) {
			struct smb_pdu cut = exact_copy(&pdu, length);
			enum smb_wire_verdict verdict = walk(&cut, decoded, &members);
			bool complete = length >= whole && !pdu.payload.length;
			if (complete)
				cr_assert_eq(verdict, SMB_WIRE_END, "%s cut at %u", samples[first].name, length);
			else
				cr_assert(verdict != SMB_WIRE_END && verdict != SMB_WIRE_OK, "%s cut at %u",
					  samples[first].name, length);
			free((void *)cut.bytes);
		}
	}
}

Test(wire, encoding_into_too_little_room_writes_nothing_behind_it)
{
	size_t count;
	const struct wire_sample *samples = wire_samples(&count);
	for (size_t i = 0; i < count; i++) {
		struct smb_pdu pdu, unused;
		cr_assert_eq(smb2_message_encode(&samples[i].message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
		for (uint32_t size = 0; size < pdu.length; size++) {
			uint8_t *heap = malloc(size ? size : 1);
			enum smb_wire_verdict verdict = smb2_message_encode(&samples[i].message, heap, size, &unused);
			cr_assert_eq(verdict, SMB_WIRE_NO_SPACE, "%s in %u", samples[i].name, size);
			free(heap);
		}
	}
}

/* What decodes must encode, and decode again to the same value: the canonical form of the same message. */
static void check_canonical(const struct smb_pdu *pdu, const char *name)
{
	static uint8_t again[16 * WIRE_PDU_MAX];
	struct smb2_message first, second;
	struct smb_pdu encoded;
	enum smb_wire_verdict verdict = smb2_message_decode(pdu, &first);
	cr_assert_neq(verdict, SMB_WIRE_END);
	if (verdict != SMB_WIRE_OK)
		return;
	verdict = smb2_message_encode(&first, again, sizeof(again), &encoded);
	cr_assert_eq(verdict, SMB_WIRE_OK, "%s: %s", name, smb_wire_verdict_name(verdict));
	verdict = smb2_message_decode(&encoded, &second);
	cr_assert_eq(verdict, SMB_WIRE_OK, "%s: %s", name, smb_wire_verdict_name(verdict));
	cr_assert(smb2_message_equal(&first, &second), "%s", name);
}

Test(wire, a_flipped_bit_gives_a_verdict_or_another_message)
{
	size_t count;
	const struct wire_sample *samples = wire_samples(&count);
	for (size_t i = 0; i < count;) {
		size_t first = i;
		struct smb_pdu pdu;
		cr_assert_eq(wire_sample_encode(&i, bytes, &pdu), SMB_WIRE_OK);
		struct smb_pdu copy = exact_copy(&pdu, pdu.length);
		uint8_t *mutable = (uint8_t *)copy.bytes;
		for (uint32_t bit = 0; bit < 8 * pdu.length; bit++) {
			mutable[bit / 8] ^= (uint8_t)(1u << bit % 8);
			check_canonical(&copy, samples[first].name);
			mutable[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		free(mutable);
	}
}

/* Equality of values and equality of their bytes are two opinions on the same question. */
static bool same_bytes(const struct smb2_message *a, const struct smb2_message *b)
{
	static uint8_t first[WIRE_PDU_MAX], second[WIRE_PDU_MAX];
	struct smb_pdu x, y;
	cr_assert_eq(smb2_message_encode(a, first, sizeof(first), &x), SMB_WIRE_OK);
	cr_assert_eq(smb2_message_encode(b, second, sizeof(second), &y), SMB_WIRE_OK);
	return x.length == y.length && !memcmp(first, second, x.length);
}

Test(wire, messages_are_equal_exactly_when_their_encodings_are)
{
	size_t count, different = 0, equal = 0;
	const struct wire_sample *samples = wire_samples(&count);
	for (size_t i = 0; i < count; i++) {
		struct smb_pdu pdu;
		struct smb2_message message;
		cr_assert_eq(smb2_message_encode(&samples[i].message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
		for (uint32_t bit = 0; bit < 8 * pdu.length; bit++) {
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			if (smb2_message_decode(&pdu, &message) == SMB_WIRE_OK) {
				bool same = same_bytes(&message, &samples[i].message);
				cr_assert_eq(smb2_message_equal(&message, &samples[i].message), same, "%s, bit %u",
					     samples[i].name, bit);
				different += !same;
				equal += same;
			}
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
	cr_assert(different > 10000 && equal > 100, "%zu different, %zu equal", different, equal);
}

/* A list of seventeen contexts, each without data, made by writing one behind the other. */
Test(wire, a_list_of_more_contexts_than_a_message_holds_is_refused)
{
	size_t index = 0, count;
	const struct wire_sample *samples = wire_samples(&count);
	struct smb2_message message;
	while (samples[index].message.kind != SMB2_BODY_CREATE_REQ)
		index++;
	message = samples[index].message;
	message.body.create_req.context_count = SMB2_CONTEXTS_MAX;
	for (uint16_t i = 0; i < SMB2_CONTEXTS_MAX; i++)
		message.body.create_req.contexts[i] = (struct smb2_context){ .name = { (const uint8_t *)"QFid", 4 } };
	struct smb_pdu pdu;
	cr_assert_eq(smb2_message_encode(&message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
	cr_assert_eq(smb2_message_decode(&pdu, &message), SMB_WIRE_OK);
	cr_assert_eq(message.body.create_req.context_count, SMB2_CONTEXTS_MAX);
	memcpy(bytes + pdu.length, bytes + pdu.length - 24, 24);
	bytes[pdu.length - 24] = 24;
	pdu.length += 24;
	bytes[116] = (uint8_t)(17 * 24);
	bytes[117] = (17 * 24) >> 8;
	cr_assert_eq(smb2_message_decode(&pdu, &message), SMB_WIRE_TOO_MANY);
	bytes[116] = (uint8_t)(16 * 24 + 8);
	cr_assert_eq(smb2_message_decode(&pdu, &message), SMB_WIRE_TRUNCATED);
}

Test(wire, a_list_of_more_locks_than_a_message_holds_is_refused)
{
	struct smb2_message message = {
		.header.command = SMB2_LOCK,
		.kind = SMB2_BODY_LOCK_REQ,
		.body.lock_req.lock_count = SMB2_LOCKS_MAX,
	};
	struct smb_pdu pdu;
	cr_assert_eq(smb2_message_encode(&message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
	cr_assert_eq(smb2_message_decode(&pdu, &message), SMB_WIRE_OK);
	bytes[66] = SMB2_LOCKS_MAX + 1;
	cr_assert_eq(smb2_message_decode(&pdu, &message), SMB_WIRE_TRUNCATED);
	pdu.length += 24;
	cr_assert_eq(smb2_message_decode(&pdu, &message), SMB_WIRE_TOO_MANY);
}

struct hostile_case {
	const char *what;
	const char *sample;
	uint32_t position; /* from the first byte of the header */
	uint32_t value;
	uint32_t size; /* of the value, in bytes */
	enum smb_wire_verdict verdict;
};

/* One field of a good message made bad. */
static const struct hostile_case hostile_cases[] = {
	{ "protocol id of SMB1", "ECHO", 0, 0x424d53ff, 4, SMB_WIRE_BAD_PROTOCOL_ID },
	{ "transform header", "ECHO", 0, 0x424d53fd, 4, SMB_WIRE_BAD_PROTOCOL_ID },
	{ "header of 63 bytes", "ECHO", 4, 63, 2, SMB_WIRE_BAD_STRUCTURE_SIZE },
	{ "command behind the last", "ECHO", 12, 0x13, 2, SMB_WIRE_UNKNOWN_COMMAND },
	{ "command that nobody uses here", "ECHO", 12, SMB2_CHANGE_NOTIFY, 2, SMB_WIRE_UNKNOWN_COMMAND },
	{ "body of another size", "ECHO", 64, 5, 2, SMB_WIRE_BAD_STRUCTURE_SIZE },
	{ "command of another size", "ECHO", 12, SMB2_READ, 2, SMB_WIRE_BAD_STRUCTURE_SIZE },
	{ "no dialects", "NEGOTIATE 2.1", 66, 0, 2, SMB_WIRE_BAD_VALUE },
	{ "dialects behind the end", "NEGOTIATE 2.1", 66, 3, 2, SMB_WIRE_TRUNCATED },
	{ "more dialects than fit", "NEGOTIATE 3.1.1 alone", 66, 9, 2, SMB_WIRE_TOO_MANY },
	{ "contexts not aligned", "NEGOTIATE 3.1.1 alone", 92, 108, 4, SMB_WIRE_BAD_OFFSET },
	{ "contexts in the fixed part", "NEGOTIATE 3.1.1 alone", 92, 96, 4, SMB_WIRE_BAD_OFFSET },
	{ "contexts behind the end", "NEGOTIATE 3.1.1 alone", 92, 0xfffffff8, 4, SMB_WIRE_TRUNCATED },
	{ "17 contexts", "NEGOTIATE 3.1.1 alone", 96, 17, 2, SMB_WIRE_TOO_MANY },
	{ "one context more than there is", "NEGOTIATE 3.1.1 alone", 96, 6, 2, SMB_WIRE_TRUNCATED },
	{ "context longer than the message", "NEGOTIATE 3.1.1 alone", 106, 0xffff, 2, SMB_WIRE_TRUNCATED },
	{ "token in the header", "SESSION_SETUP", 76, 63, 2, SMB_WIRE_BAD_OFFSET },
	{ "token behind the end", "SESSION_SETUP", 76, 89, 2, SMB_WIRE_TRUNCATED },
	{ "token too long", "SESSION_SETUP", 78, 33, 2, SMB_WIRE_TRUNCATED },
	{ "tree connect extension", "TREE_CONNECT", 66, 4, 2, SMB_WIRE_BAD_VALUE },
	{ "half a character", "TREE_CONNECT", 70, 3, 2, SMB_WIRE_BAD_VALUE },
	{ "name too long", "CREATE with lease v2", 110, 0xfffe, 2, SMB_WIRE_TRUNCATED },
	{ "name of odd length", "CREATE with lease v2", 110, 7, 2, SMB_WIRE_BAD_VALUE },
	{ "name in the fixed part", "CREATE with lease v2", 108, 118, 2, SMB_WIRE_BAD_OFFSET },
	{ "create contexts not aligned", "CREATE with lease v2", 112, 140, 4, SMB_WIRE_BAD_OFFSET },
	{ "create contexts over the name", "CREATE with lease v2", 112, 128, 4, SMB_WIRE_BAD_OFFSET },
	{ "create contexts too long", "CREATE with lease v2", 116, 0xffffffff, 4, SMB_WIRE_TRUNCATED },
	{ "next context not aligned", "CREATE with lease v2", 144, 78, 4, SMB_WIRE_BAD_OFFSET },
	{ "next context in this one", "CREATE with lease v2", 144, 8, 4, SMB_WIRE_BAD_OFFSET },
	{ "next context behind the end", "CREATE with lease v2", 144, 0xfffffff8, 4, SMB_WIRE_TRUNCATED },
	{ "context without a name", "CREATE with lease v2", 150, 0, 2, SMB_WIRE_BAD_VALUE },
	{ "context name behind its context", "CREATE with lease v2", 150, 65, 2, SMB_WIRE_TRUNCATED },
	{ "context data over its name", "CREATE with lease v2", 154, 16, 2, SMB_WIRE_BAD_OFFSET },
	{ "context data behind its context", "CREATE with lease v2", 156, 57, 4, SMB_WIRE_TRUNCATED },
	{ "write data in the fixed part", "WRITE data inline", 66, 0x6f, 2, SMB_WIRE_BAD_OFFSET },
	{ "write data too long", "WRITE data inline", 68, 6, 4, SMB_WIRE_TRUNCATED },
	{ "write longer than its payload", "WRITE data beside", 68, 201, 4, SMB_WIRE_BAD_PAYLOAD },
	{ "write payload that starts early", "WRITE data beside", 66, 0x6e, 2, SMB_WIRE_BAD_PAYLOAD },
	{ "payload with a READ request", "WRITE data beside", 12, SMB2_READ, 2, SMB_WIRE_BAD_PAYLOAD },
	{ "no locks", "LOCK one", 66, 0, 2, SMB_WIRE_BAD_VALUE },
	{ "more locks than there are", "LOCK three", 66, 4, 2, SMB_WIRE_TRUNCATED },
	{ "input too long", "IOCTL validate", 92, 27, 4, SMB_WIRE_TRUNCATED },
	{ "pattern in the fixed part", "QUERY_DIRECTORY", 88, 95, 2, SMB_WIRE_BAD_OFFSET },
	{ "information too long", "SET_INFO", 68, 9, 4, SMB_WIRE_TRUNCATED },
	{ "error data too long", "OBJECT_NAME_NOT_FOUND", 68, 2, 4, SMB_WIRE_TRUNCATED },
};

static size_t find_sample(const char *name)
{
	size_t count;
	const struct wire_sample *samples = wire_samples(&count);
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(samples[i].name, name))
			return i;
	}
	cr_assert_fail("no sample named %s", name);
	return 0;
}

Test(wire, a_hostile_field_gets_the_verdict_that_names_it)
{
	for (size_t i = 0; i < sizeof(hostile_cases) / sizeof(hostile_cases[0]); i++) {
		const struct hostile_case *c = &hostile_cases[i];
		size_t index = find_sample(c->sample);
		struct smb_pdu pdu;
		struct smb2_message message;
		cr_assert_eq(wire_sample_encode(&index, bytes, &pdu), SMB_WIRE_OK);
		cr_assert_eq(smb2_message_decode(&pdu, &message), SMB_WIRE_OK);
		for (uint32_t byte = 0; byte < c->size; byte++)
			bytes[c->position + byte] = (uint8_t)(c->value >> 8 * byte);
		enum smb_wire_verdict verdict = smb2_message_decode(&pdu, &message);
		cr_expect_eq(verdict, c->verdict, "%s: %s", c->what, smb_wire_verdict_name(verdict));
	}
}
