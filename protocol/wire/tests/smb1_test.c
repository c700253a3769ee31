/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/smb1.h"

#include "protocol/wire/buffer.h"
#include "protocol/wire/tests/pcap.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define PDU_MAX 4096u
#define LINE_MAX_SIZE 4096
#define BYTES(text) ((struct smb_blob){ (const uint8_t *)(text), sizeof(text) - 1 })
#define TIMES                                                                                                          \
	{                                                                                                              \
		133000000000000000u, 133000000010000000u, 133000000020000000u, 133000000030000000u                     \
	}

struct sample {
	const char *name;
	struct smb1_message message;
};

#define HEADER(cmd, flag, st, id)                                                                                      \
	.header = { .command = (cmd),                                                                                  \
		    .status = (st),                                                                                    \
		    .flags = SMB1_FLAGS_CASE_INSENSITIVE | (flag),                                                     \
		    .flags2 = SMB1_FLAGS2_UNICODE | SMB1_FLAGS2_NT_STATUS | SMB1_FLAGS2_EXTENDED_SECURITY |            \
			      SMB1_FLAGS2_LONG_NAMES,                                                                  \
		    .pid = 0x12345,                                                                                    \
		    .tid = 7,                                                                                          \
		    .uid = 100,                                                                                        \
		    .mid = (id) }
#define REQUEST(cmd, id) HEADER(cmd, 0, 0, id)
#define REPLY(cmd, id) HEADER(cmd, SMB1_FLAGS_REPLY, 0, id)

/* Requests before their responses, as the frames of one connection. */
static const struct sample samples[] = {
	{ "negotiate",
	  { REQUEST(SMB1_NEGOTIATE, 1), .kind = SMB1_BODY_NEGOTIATE_REQ,
	    .body.negotiate_req = { BYTES("\2LANMAN1.0\0\2NT LM 0.12\0") } } },
	{ "negotiated",
	  { REPLY(SMB1_NEGOTIATE, 1), .kind = SMB1_BODY_NEGOTIATE_RSP,
	    .body.negotiate_rsp = { .dialect_index = 1,
				    .security_mode = 3,
				    .max_mpx_count = 50,
				    .max_vcs = 1,
				    .max_buffer_size = 16644,
				    .max_raw_size = 65536,
				    .session_key = 0x77,
				    .capabilities = SMB1_CAP_EXTENDED_SECURITY | SMB1_CAP_UNIX | SMB1_CAP_LARGE_READ_X |
						    SMB1_CAP_UNICODE,
				    .system_time = 133000000000000000u,
				    .time_zone = -120,
				    .server_guid = "0123456789abcde" } } },
	{ "session setup",
	  { REQUEST(SMB1_SESSION_SETUP_ANDX, 2), .kind = SMB1_BODY_SESSION_SETUP_REQ,
	    .body.session_setup_req = { .max_buffer_size = 16644,
					.max_mpx_count = 50,
					.vc_number = 1,
					.capabilities = SMB1_CAP_UNICODE | SMB1_CAP_EXTENDED_SECURITY,
					.token = BYTES("a token"),
					.names = BYTES("L\0i\0n\0u\0x\0\0\0C\0I\0F\0S\0\0\0") } } },
	{ "one more leg",
	  { HEADER(SMB1_SESSION_SETUP_ANDX, SMB1_FLAGS_REPLY, STATUS_MORE_PROCESSING_REQUIRED, 2),
	    .kind = SMB1_BODY_SESSION_SETUP_RSP,
	    .body.session_setup_rsp = { .token = BYTES("a challenge"), .names = BYTES("U\0\0\0S\0\0\0W\0\0\0") } } },
	{ "second leg without names",
	  { REQUEST(SMB1_SESSION_SETUP_ANDX, 3), .kind = SMB1_BODY_SESSION_SETUP_REQ,
	    .body.session_setup_req = { .capabilities = SMB1_CAP_EXTENDED_SECURITY, .token = BYTES("odd") } } },
	{ "logged on as guest",
	  { REPLY(SMB1_SESSION_SETUP_ANDX, 3), .kind = SMB1_BODY_SESSION_SETUP_RSP,
	    .body.session_setup_rsp = { .action = 1, .names = BYTES("U\0\0\0S\0\0\0W\0\0\0") } } },
	{ "tree connect",
	  { REQUEST(SMB1_TREE_CONNECT_ANDX, 4), .kind = SMB1_BODY_TREE_CONNECT_REQ,
	    .body.tree_connect_req = { .flags = 8,
				       .password = BYTES("\0"),
				       .path = BYTES("\\\0\\\0s\0\\\0x\0"),
				       .service = BYTES("?????") } } },
	{ "tree connected",
	  { REPLY(SMB1_TREE_CONNECT_ANDX, 4), .kind = SMB1_BODY_TREE_CONNECT_RSP,
	    .body.tree_connect_rsp = { .optional_support = 1,
				       .has_access = true,
				       .maximal_access = 0x1f01ff,
				       .service = BYTES("A:"),
				       .file_system = BYTES("N\0T\0F\0S\0") } } },
	{ "unix capabilities asked",
	  { REQUEST(SMB1_TRANSACTION2, 5), .kind = SMB1_BODY_TRANS2_REQ,
	    .body.trans2_req = { .subcommand = SMB1_TRANS2_QUERY_FS_INFORMATION,
				 .max_parameter_count = 2,
				 .max_data_count = 560,
				 .parameters = BYTES("\0\2") } } },
	{ "unix capabilities",
	  { REPLY(SMB1_TRANSACTION2, 5), .kind = SMB1_BODY_TRANS2_RSP,
	    .body.trans2_rsp = { .data = BYTES("\1\0\0\0\x40\0\0\0\0\0\0\0") } } },
	{ "unix capabilities set",
	  { REQUEST(SMB1_TRANSACTION2, 6), .kind = SMB1_BODY_TRANS2_REQ,
	    .body.trans2_req = { .subcommand = SMB1_TRANS2_SET_FS_INFORMATION,
				 .parameters = BYTES("\0\0\0\2"),
				 .data = BYTES("\1\0\0\0\x40\0\0\0\0\0\0\0") } } },
	{ "unix capabilities agreed", { REPLY(SMB1_TRANSACTION2, 6), .kind = SMB1_BODY_TRANS2_RSP } },
	{ "path query",
	  { REQUEST(SMB1_TRANSACTION2, 7), .kind = SMB1_BODY_TRANS2_REQ,
	    .body.trans2_req = { .subcommand = SMB1_TRANS2_QUERY_PATH_INFORMATION,
				 .max_parameter_count = 2,
				 .max_data_count = 4000,
				 .parameters = BYTES("\7\1\0\0\0\0\\\0f\0\0\0") } } },
	{ "path unknown",
	  { HEADER(SMB1_TRANSACTION2, SMB1_FLAGS_REPLY, STATUS_OBJECT_NAME_NOT_FOUND, 7), .kind = SMB1_BODY_EMPTY } },
	{ "create",
	  { REQUEST(SMB1_NT_CREATE_ANDX, 8), .kind = SMB1_BODY_CREATE_REQ,
	    .body.create_req = { .flags = 6,
				 .desired_access = 0x20089,
				 .allocation_size = 5,
				 .file_attributes = 0x80,
				 .share_access = 7,
				 .create_disposition = 1,
				 .create_options = 0x40,
				 .impersonation_level = 2,
				 .security_flags = 3,
				 .name = BYTES("\\\0f\0") } } },
	{ "created",
	  { REPLY(SMB1_NT_CREATE_ANDX, 8), .kind = SMB1_BODY_CREATE_RSP,
	    .body.create_rsp = { .oplock_level = 2,
				 .fid = 0x4001,
				 .create_action = 1,
				 .times = TIMES,
				 .file_attributes = 0x80,
				 .allocation_size = 1 << 20,
				 .end_of_file = 1000000 } } },
	{ "read",
	  { REQUEST(SMB1_READ_ANDX, 9), .kind = SMB1_BODY_READ_REQ,
	    .body.read_req = { .fid = 0x4001, .offset = 0x123456789a, .length = 1048576, .remaining = 9 } } },
	{ "read, beside the bytes",
	  { REPLY(SMB1_READ_ANDX, 9), .kind = SMB1_BODY_READ_RSP,
	    .body.read_rsp = { .available = 0xffff, .data_length = 20000, .payload = { 3, 0x123456789a, 20000 } } } },
	{ "small read",
	  { REQUEST(SMB1_READ_ANDX, 10), .kind = SMB1_BODY_READ_REQ,
	    .body.read_req = { .fid = 0x4001, .length = 5, .min_count = 5 } } },
	{ "read, in the bytes",
	  { REPLY(SMB1_READ_ANDX, 10), .kind = SMB1_BODY_READ_RSP,
	    .body.read_rsp = { .data_length = 5, .data = BYTES("hello") } } },
	{ "read at the end",
	  { REQUEST(SMB1_READ_ANDX, 11), .kind = SMB1_BODY_READ_REQ, .body.read_req = { .fid = 1 } } },
	{ "nothing there",
	  { REPLY(SMB1_READ_ANDX, 11), .kind = SMB1_BODY_READ_RSP, .body.read_rsp = { .available = 1 } } },
	{ "write, beside the bytes",
	  { REQUEST(SMB1_WRITE_ANDX, 12), .kind = SMB1_BODY_WRITE_REQ,
	    .body.write_req = { .fid = 0x4001,
				.offset = 0x500000000u,
				.write_mode = 1,
				.remaining = 3,
				.data_length = 30000,
				.payload = { 4, 5, 30000 } } } },
	{ "written",
	  { REPLY(SMB1_WRITE_ANDX, 12), .kind = SMB1_BODY_WRITE_RSP,
	    .body.write_rsp = { .count = 30000, .available = 2 } } },
	{ "write, in the bytes",
	  { REQUEST(SMB1_WRITE_ANDX, 13), .kind = SMB1_BODY_WRITE_REQ,
	    .body.write_req = { .fid = 0x4001, .data_length = 3, .data = BYTES("abc") } } },
	{ "refused", { HEADER(SMB1_WRITE_ANDX, SMB1_FLAGS_REPLY, STATUS_ACCESS_DENIED, 13), .kind = SMB1_BODY_EMPTY } },
	{ "flush", { REQUEST(SMB1_FLUSH, 14), .kind = SMB1_BODY_FLUSH_REQ, .body.flush_req = { 0x4001 } } },
	{ "flushed", { REPLY(SMB1_FLUSH, 14), .kind = SMB1_BODY_EMPTY } },
	{ "echo", { REQUEST(SMB1_ECHO, 15), .kind = SMB1_BODY_ECHO, .body.echo = { .count = 1, .data = BYTES("a") } } },
	{ "echoed", { REPLY(SMB1_ECHO, 15), .kind = SMB1_BODY_ECHO, .body.echo = { .count = 1, .data = BYTES("a") } } },
	{ "close", { REQUEST(SMB1_CLOSE, 16), .kind = SMB1_BODY_CLOSE_REQ, .body.close_req = { 0x4001, UINT32_MAX } } },
	{ "closed", { REPLY(SMB1_CLOSE, 16), .kind = SMB1_BODY_EMPTY } },
	{ "tree disconnect", { REQUEST(SMB1_TREE_DISCONNECT, 17), .kind = SMB1_BODY_EMPTY } },
	{ "tree disconnected", { REPLY(SMB1_TREE_DISCONNECT, 17), .kind = SMB1_BODY_EMPTY } },
	{ "logoff", { REQUEST(SMB1_LOGOFF_ANDX, 18), .kind = SMB1_BODY_EMPTY } },
	{ "logged off", { REPLY(SMB1_LOGOFF_ANDX, 18), .kind = SMB1_BODY_EMPTY } },
};

/* Of values that no conversation has in one piece with the rest. */
static const struct sample odd_samples[] = {
	{ "no dialect",
	  { REPLY(SMB1_NEGOTIATE, 1), .kind = SMB1_BODY_NEGOTIATE_RSP,
	    .body.negotiate_rsp = { .dialect_index = SMB1_NO_DIALECT } } },
	{ "old tree connect answer",
	  { REPLY(SMB1_TREE_CONNECT_ANDX, 1), .kind = SMB1_BODY_TREE_CONNECT_RSP,
	    .body.tree_connect_rsp = { .service = BYTES("IPC") } } },
	{ "large read",
	  { REPLY(SMB1_READ_ANDX, 1), .kind = SMB1_BODY_READ_RSP,
	    .body.read_rsp = { .data_length = 1048576, .payload = { 1, 2, 1048576 } } } },
	{ "large write",
	  { REQUEST(SMB1_WRITE_ANDX, 1), .kind = SMB1_BODY_WRITE_REQ,
	    .body.write_req = { .data_length = 131007, .payload = { 1, 2, 131007 } } } },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void survives(const struct sample *sample)
{
	uint8_t bytes[PDU_MAX], again[PDU_MAX];
	struct smb1_message decoded;
	struct smb_pdu pdu, second;
	enum smb_wire_verdict verdict = smb1_message_encode(&sample->message, bytes, sizeof(bytes), &pdu);

	cr_assert_eq(verdict, SMB_WIRE_OK, "%s: %s", sample->name, smb_wire_verdict_name(verdict));
	cr_assert(smb1_is_pdu(&pdu));
	verdict = smb1_message_decode(&pdu, &decoded);
	cr_assert_eq(verdict, SMB_WIRE_OK, "%s: %s", sample->name, smb_wire_verdict_name(verdict));
	cr_assert(smb1_message_equal(&decoded, &sample->message), "%s", sample->name);
	cr_assert_eq(smb1_message_encode(&decoded, again, sizeof(again), &second), SMB_WIRE_OK);
	cr_assert(second.length == pdu.length && !memcmp(bytes, again, pdu.length), "%s", sample->name);
}

Test(smb1, every_message_survives_encode_and_decode)
{
	for (size_t i = 0; i < COUNT(samples); i++)
		survives(&samples[i]);
	for (size_t i = 0; i < COUNT(odd_samples); i++)
		survives(&odd_samples[i]);
}

Test(smb1, every_kind_of_body_has_a_sample)
{
	bool seen[SMB1_BODY_KINDS] = { false };

	for (size_t i = 0; i < COUNT(samples); i++)
		seen[samples[i].message.kind] = true;
	for (size_t kind = 0; kind < SMB1_BODY_KINDS; kind++)
		cr_expect(seen[kind], "kind %zu", kind);
}

/* Cut anywhere, a message is refused, and nothing behind the cut is read (the copy ends there). ByteCount tells. */
Test(smb1, a_cut_message_is_refused)
{
	uint8_t bytes[PDU_MAX];
	struct smb1_message decoded;

	for (size_t i = 0; i < COUNT(samples); i++) {
		struct smb_pdu pdu;
		cr_assert_eq(smb1_message_encode(&samples[i].message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
		for (uint32_t length = 0; length < pdu.length; length++) {
			uint8_t *copy = malloc(length ? length : 1);
			struct smb_pdu cut = { .bytes = copy, .length = length, .payload = pdu.payload };
			memcpy(copy, bytes, length);
			enum smb_wire_verdict verdict = smb1_message_decode(&cut, &decoded);
			cr_expect_eq(verdict, SMB_WIRE_TRUNCATED, "%s at %u of %u: %s", samples[i].name, length,
				     pdu.length, smb_wire_verdict_name(verdict));
			free(copy);
		}
	}
}

Test(smb1, a_buffer_too_small_is_told)
{
	uint8_t bytes[PDU_MAX];
	struct smb_pdu pdu;

	for (size_t i = 0; i < COUNT(samples); i++) {
		cr_assert_eq(smb1_message_encode(&samples[i].message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
		uint32_t needed = pdu.length;
		for (uint32_t size = 0; size < needed; size++)
			cr_expect_eq(smb1_message_encode(&samples[i].message, bytes, size, &pdu), SMB_WIRE_NO_SPACE,
				     "%s in %u", samples[i].name, size);
	}
}

struct damage {
	const char *what;
	const char *sample;
	uint32_t at; /* from the start of the words, or of the header when `in_header` */
	bool in_header;
	uint8_t value;
	enum smb_wire_verdict verdict;
};

static const struct sample *find(const char *name)
{
	for (size_t i = 0; i < COUNT(samples); i++) {
		if (!strcmp(samples[i].name, name))
			return &samples[i];
	}
	cr_assert_fail("no sample %s", name);
	return NULL;
}

Test(smb1, a_wrong_field_is_named_by_the_verdict)
{
	static const struct damage damages[] = {
		{ "another protocol", "read", 0, true, 0xfe, SMB_WIRE_BAD_PROTOCOL_ID },
		{ "a command that is not encoded here", "read", 4, true, 0x2d, SMB_WIRE_UNKNOWN_COMMAND },
		{ "a chained command", "read", 0, false, SMB1_CLOSE, SMB_WIRE_BAD_VALUE },
		{ "data before the bytes", "read, in the bytes", 12, false, 40, SMB_WIRE_BAD_OFFSET },
		{ "data past the end", "read, in the bytes", 12, false, 61, SMB_WIRE_TRUNCATED },
		{ "more data than there is", "read, in the bytes", 10, false, 6, SMB_WIRE_TRUNCATED },
		{ "another length than beside the bytes", "read, beside the bytes", 10, false, 1,
		  SMB_WIRE_BAD_PAYLOAD },
		{ "half a character", "create", 5, false, 3, SMB_WIRE_BAD_VALUE },
		{ "a fragment", "unix capabilities", 2, false, 200, SMB_WIRE_BAD_VALUE },
		{ "parameters before the bytes", "unix capabilities asked", 20, false, 40, SMB_WIRE_BAD_OFFSET },
		{ "two setup words", "unix capabilities asked", 26, false, 2, SMB_WIRE_BAD_VALUE },
		{ "a challenge", "negotiated", 33, false, 8, SMB_WIRE_BAD_VALUE },
	};
	uint8_t bytes[PDU_MAX];
	struct smb1_message decoded;
	struct smb_pdu pdu;

	for (size_t i = 0; i < COUNT(damages); i++) {
		const struct damage *damage = &damages[i];
		uint32_t at = damage->in_header ? damage->at : SMB1_HEADER_SIZE + 1 + damage->at;
		cr_assert_eq(smb1_message_encode(&find(damage->sample)->message, bytes, sizeof(bytes), &pdu),
			     SMB_WIRE_OK);
		bytes[at] = damage->value;
		enum smb_wire_verdict verdict = smb1_message_decode(&pdu, &decoded);
		cr_expect_eq(verdict, damage->verdict, "%s: %s", damage->what, smb_wire_verdict_name(verdict));
	}
}

Test(smb1, bytes_behind_the_byte_count_are_refused)
{
	uint8_t bytes[PDU_MAX] = { 0 };
	struct smb1_message decoded;
	struct smb_pdu pdu;

	cr_assert_eq(smb1_message_encode(&find("close")->message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
	pdu.length++;
	cr_expect_eq(smb1_message_decode(&pdu, &decoded), SMB_WIRE_BAD_VALUE);
	pdu.length--;
	pdu.payload.length = 1;
	bytes[pdu.length - 2] = 1;
	cr_expect_eq(smb1_message_decode(&pdu, &decoded), SMB_WIRE_BAD_PAYLOAD);
}

Test(smb1, a_value_that_does_not_fit_is_not_encoded)
{
	uint8_t bytes[PDU_MAX];
	struct smb_pdu pdu;
	struct smb1_message message = find("read")->message;

	message.kind = SMB1_BODY_WRITE_REQ;
	cr_expect_eq(smb1_message_encode(&message, bytes, sizeof(bytes), &pdu), SMB_WIRE_BAD_VALUE);
	message = find("read, in the bytes")->message;
	message.header.status = STATUS_ACCESS_DENIED;
	cr_expect_eq(smb1_message_encode(&message, bytes, sizeof(bytes), &pdu), SMB_WIRE_BAD_VALUE);
	message = find("read, in the bytes")->message;
	message.body.read_rsp.data_length++;
	cr_expect_eq(smb1_message_encode(&message, bytes, sizeof(bytes), &pdu), SMB_WIRE_BAD_PAYLOAD);
	message = find("tree connect")->message;
	message.body.tree_connect_req.service = BYTES("?\0?");
	cr_expect_eq(smb1_message_encode(&message, bytes, sizeof(bytes), &pdu), SMB_WIRE_BAD_VALUE);
	message.header.command = 0x2d;
	cr_expect_eq(smb1_message_encode(&message, bytes, sizeof(bytes), &pdu), SMB_WIRE_UNKNOWN_COMMAND);
}

Test(smb1, dialects_are_found_by_name)
{
	struct smb_blob dialects = find("negotiate")->message.body.negotiate_req.dialects;

	cr_expect_eq(smb1_dialect_index(dialects, "LANMAN1.0"), 0);
	cr_expect_eq(smb1_dialect_index(dialects, SMB1_DIALECT_NAME), 1);
	cr_expect_eq(smb1_dialect_index(dialects, "NT LM 0.1"), SMB1_NO_DIALECT);
}

Test(smb1, a_name_may_be_counted_with_its_terminator)
{
	uint8_t bytes[PDU_MAX];
	struct smb1_message decoded;
	struct smb_pdu pdu;

	cr_assert_eq(smb1_message_encode(&find("create")->message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
	bytes[SMB1_HEADER_SIZE + 1 + 5] += 2;
	cr_assert_eq(smb1_message_decode(&pdu, &decoded), SMB_WIRE_OK);
	cr_expect(smb1_message_equal(&decoded, &find("create")->message));
}

/* ---------------------------------------------------------------------------------------------------- Wireshark */

static void write_capture(const char *path)
{
	uint8_t bytes[PDU_MAX];
	struct pcap_writer writer;

	cr_assert(pcap_open(&writer, path), "cannot write %s", path);
	for (size_t i = 0; i < COUNT(samples); i++) {
		struct smb_pdu pdu;
		cr_assert_eq(smb1_message_encode(&samples[i].message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
		pcap_add(&writer, 0, !(samples[i].message.header.flags & SMB1_FLAGS_REPLY), &pdu);
	}
	cr_assert(pcap_close(&writer));
}

static FILE *tshark(const char *options)
{
	char path[512], line[LINE_MAX_SIZE];

	snprintf(path, sizeof(path), "%s/wire-smb1-%d.pcap", SMB_BINARY_DIR, (int)strlen(options));
	write_capture(path);
	cr_assert_eq(system("tshark --version >/dev/null 2>&1"), 0,
		     "tshark does not run; this test needs it (Debian package tshark)");
	snprintf(line, sizeof(line), "tshark -n -r '%s' %s 2>/dev/null", path, options);
	FILE *pipe = popen(line, "r");
	cr_assert_not_null(pipe);
	return pipe;
}

Test(smb1, wireshark_finds_nothing_malformed)
{
	char line[LINE_MAX_SIZE];
	unsigned int lines = 0;
	FILE *pipe = tshark("-V");

	while (fgets(line, sizeof(line), pipe)) {
		lines++;
		cr_expect(!strstr(line, "Malformed") && !strstr(line, "Unreassembled"), "%s", line);
	}
	cr_assert_eq(pclose(pipe), 0, "tshark failed");
	cr_assert(lines > 1000, "only %u lines of dissection", lines);
}

static void expected_line(const struct smb1_message *m, char *line, size_t size)
{
	char rest[64] = "\t\t";

	if (m->kind == SMB1_BODY_READ_REQ)
		snprintf(rest, sizeof(rest), "0x%04x\t%u\t", m->body.read_req.fid, m->body.read_req.length & 0xffff);
	if (m->kind == SMB1_BODY_CREATE_RSP)
		snprintf(rest, sizeof(rest), "0x%04x\t\t%u", m->body.create_rsp.fid,
			 (unsigned int)m->body.create_rsp.end_of_file);
	snprintf(line, size, "0x%02x\t%u\t%u\t%u\t%s", m->header.command, m->header.mid, m->header.tid, m->header.uid,
		 rest);
}

Test(smb1, wireshark_sees_the_values_that_were_encoded)
{
	char line[LINE_MAX_SIZE], expected[LINE_MAX_SIZE];
	size_t i = 0;
	FILE *pipe = tshark(
		"-T fields -E occurrence=f -e smb.cmd -e smb.mid -e smb.tid -e smb.uid -e smb.fid -e smb.maxcount_low "
		"-e smb.end_of_file");

	while (fgets(line, sizeof(line), pipe) && i < COUNT(samples)) {
		const struct sample *sample = &samples[i++];
		line[strcspn(line, "\n")] = 0;
		if (sample->message.kind != SMB1_BODY_READ_REQ && sample->message.kind != SMB1_BODY_CREATE_RSP) {
			/* tshark repeats the FID of a request with its answer. */
			char *tab = line;
			for (int n = 0; n < 4; n++)
				tab = strchr(tab, '\t') + 1;
			strcpy(tab, "\t\t");
		}
		expected_line(&sample->message, expected, sizeof(expected));
		cr_expect_str_eq(line, expected, "%s", sample->name);
	}
	cr_assert_eq(pclose(pipe), 0, "tshark failed");
	cr_assert_eq(i, COUNT(samples));
}
