/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/buffer.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define DATA SMB_SOURCE_DIR "/protocol/wire/tests/data/cifs-samba.hex"
#define PDU_MAX (1 << 15)

static uint8_t real[PDU_MAX];
static uint8_t ours[PDU_MAX];

/* The next PDU of the file: its length, 0 at the end. `direction` is 'C' or 'S'. */
static uint32_t next_pdu(FILE *file, char *direction)
{
	static char line[2 * PDU_MAX + 4];
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		*direction = line[0];
		uint32_t length = 0;
		for (const char *p = line + 2; isxdigit((unsigned char)*p); p += 2)
			real[length++] = (uint8_t)strtoul((char[]){ p[0], p[1], 0 }, NULL, 16);
		return length;
	}
	return 0;
}

static FILE *open_data(void)
{
	FILE *file = fopen(DATA, "r");
	cr_assert_not_null(file, "cannot open %s", DATA);
	return file;
}

/* Decode every member of the real PDU and encode it again. `last` out: the last member. */
static struct smb_pdu encode_again(const struct smb_pdu *pdu, struct smb2_message *last)
{
	struct smb_chain_reader reader;
	struct smb_chain_writer writer;
	enum smb_wire_verdict verdict;
	smb_chain_read(&reader, pdu);
	smb_chain_begin(&writer, ours, sizeof(ours));
	while ((verdict = smb_chain_next(&reader, last)) == SMB_WIRE_OK) {
		verdict = smb_chain_append(&writer, last);
		cr_assert_eq(verdict, SMB_WIRE_OK, "encode: %s", smb_wire_verdict_name(verdict));
	}
	cr_assert_eq(verdict, SMB_WIRE_END, "decode: %s", smb_wire_verdict_name(verdict));
	return smb_chain_finish(&writer);
}

static bool all_zero(const uint8_t *bytes, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

static bool is_chain(const struct smb_pdu *pdu)
{
	return smb_get32(pdu->bytes + 20);
}

/* The differences that are understood and left. */
struct difference {
	const char *reason;
	char direction;
	bool (*applies)(const struct smb_pdu *pdu, const struct smb_pdu *again, const struct smb2_message *last);
};

static bool tree_path_is_terminated(const struct smb_pdu *pdu, const struct smb_pdu *again,
				    const struct smb2_message *last)
{
	return last->kind == SMB2_BODY_TREE_CONNECT_REQ && pdu->length == again->length + 2 &&
	       !memcmp(pdu->bytes, again->bytes, again->length) && all_zero(pdu->bytes + again->length, 2);
}

static bool last_reply_is_padded(const struct smb_pdu *pdu, const struct smb_pdu *again,
				 const struct smb2_message *last)
{
	(void)last;
	return is_chain(pdu) && pdu->length == smb_align8(again->length) &&
	       !memcmp(pdu->bytes, again->bytes, again->length) &&
	       all_zero(pdu->bytes + again->length, pdu->length - again->length);
}

static bool filler_is_not_zero(const struct smb_pdu *pdu, const struct smb_pdu *again, const struct smb2_message *last)
{
	return last->kind == SMB2_BODY_ERROR_RSP && !last->body.error_rsp.data.length && pdu->length == again->length &&
	       !memcmp(pdu->bytes, again->bytes, again->length - 1);
}

static bool empty_input_has_a_place(const struct smb_pdu *pdu, const struct smb_pdu *again,
				    const struct smb2_message *last)
{
	return last->kind == SMB2_BODY_QUERY_INFO_REQ && !last->body.query_info_req.input.length &&
	       pdu->length == again->length && smb_get16(pdu->bytes + 72) == 104 &&
	       !memcmp(pdu->bytes, again->bytes, 72) && !memcmp(pdu->bytes + 74, again->bytes + 74, pdu->length - 74);
}

static const struct difference differences[] = {
	{ "cifs 6.1 sends the path of TREE_CONNECT with a terminator, cifs 6.12 does not", 'C',
	  tree_path_is_terminated },
	{ "cifs, statfs: InputBufferOffset is set although there is no input", 'C', empty_input_has_a_place },
	{ "Samba pads the last reply of a chain too", 'S', last_reply_is_padded },
	{ "Samba leaves a character in the one byte of an empty interim response", 'S', filler_is_not_zero },
};

#define DIFFERENCES (sizeof(differences) / sizeof(differences[0]))
static uint32_t seen[DIFFERENCES];

static bool is_understood(char direction, const struct smb_pdu *pdu, const struct smb_pdu *again,
			  const struct smb2_message *last)
{
	for (size_t i = 0; i < DIFFERENCES; i++) {
		if (differences[i].direction == direction && differences[i].applies(pdu, again, last)) {
			seen[i]++;
			return true;
		}
	}
	return false;
}

static void describe(uint32_t number, const struct smb_pdu *pdu, const struct smb_pdu *again)
{
	uint32_t at = 0;
	while (at < pdu->length && at < again->length && pdu->bytes[at] == again->bytes[at])
		at++;
	cr_expect_fail("PDU %u (%s): %u bytes, encoded again %u, first difference at %u", number,
		       smb2_command_name(smb_get16(pdu->bytes + 12)), pdu->length, again->length, at);
}

Test(capture, real_messages_are_encoded_again_byte_for_byte)
{
	FILE *file = open_data();
	char direction;
	uint32_t number = 0, identical = 0, length;
	while ((length = next_pdu(file, &direction))) {
		struct smb2_message last;
		struct smb_pdu pdu = { .bytes = real, .length = length };
		struct smb_pdu again = encode_again(&pdu, &last);
		number++;
		cr_expect_eq(!(last.header.flags & SMB2_FLAGS_SERVER_TO_REDIR), direction == 'C');
		if (length == again.length && !memcmp(real, again.bytes, length))
			identical++;
		else if (!is_understood(direction, &pdu, &again, &last))
			describe(number, &pdu, &again);
	}
	fclose(file);
	cr_expect(identical > 50, "only %u of %u PDUs are identical", identical, number);
	for (size_t i = 0; i < DIFFERENCES; i++)
		cr_expect(seen[i], "never seen any more: %s", differences[i].reason);
}

Test(capture, a_real_message_cut_short_never_reads_behind_its_end)
{
	FILE *file = open_data();
	char direction;
	uint32_t length, refused = 0;
	while ((length = next_pdu(file, &direction))) {
		for (uint32_t cut = 0; cut < length; cut++) {
			struct smb2_message message;
			struct smb_chain_reader reader;
			enum smb_wire_verdict verdict;
			uint8_t *heap = malloc(cut ? cut : 1);
			memcpy(heap, real, cut);
			smb_chain_read(&reader, &(struct smb_pdu){ .bytes = heap, .length = cut });
			do
				verdict = smb_chain_next(&reader, &message);
			while (verdict == SMB_WIRE_OK);
			refused += verdict != SMB_WIRE_END;
			cr_assert(cut >= SMB2_HEADER_SIZE + 2 || verdict != SMB_WIRE_END);
			free(heap);
		}
	}
	fclose(file);
	cr_assert(refused > 10000);
}
