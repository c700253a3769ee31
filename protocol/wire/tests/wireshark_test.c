/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/tests/pcap.h"
#include "protocol/wire/tests/samples.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_SIZE 4096

/* One column of `tshark -T fields`: the values that one message contributes, in order. */
struct text {
	char *p;
	size_t room;
	bool empty;
};

static void value(struct text *text, const char *format, ...)
{
	va_list arguments;
	if (!text->empty) {
		*text->p++ = ',';
		text->room--;
	}
	va_start(arguments, format);
	int length = vsnprintf(text->p, text->room, format, arguments);
	va_end(arguments);
	cr_assert(length >= 0 && (size_t)length + 2 < text->room);
	text->p += length;
	text->room -= (size_t)length;
	text->empty = false;
}

static bool is_response(const struct smb2_message *m)
{
	return m->header.flags & SMB2_FLAGS_SERVER_TO_REDIR;
}

static bool is_async(const struct smb2_message *m)
{
	return m->header.flags & SMB2_FLAGS_ASYNC_COMMAND;
}

static void command(struct text *text, const struct smb2_message *m)
{
	value(text, "%u", m->header.command);
}

static void message_id(struct text *text, const struct smb2_message *m)
{
	value(text, "%" PRIu64, m->header.message_id);
}

static void credit_charge(struct text *text, const struct smb2_message *m)
{
	value(text, "%u", m->header.credit_charge);
}

static void credits_requested(struct text *text, const struct smb2_message *m)
{
	if (!is_response(m))
		value(text, "%u", m->header.credits);
}

static void credits_granted(struct text *text, const struct smb2_message *m)
{
	if (is_response(m))
		value(text, "%u", m->header.credits);
}

static void channel_sequence(struct text *text, const struct smb2_message *m)
{
	if (!is_response(m))
		value(text, "%u", m->header.channel_sequence);
}

static void status(struct text *text, const struct smb2_message *m)
{
	if (is_response(m))
		value(text, "0x%08x", m->header.status);
}

static void session(struct text *text, const struct smb2_message *m)
{
	value(text, "0x%016" PRIx64, m->header.session_id);
}

static void tree(struct text *text, const struct smb2_message *m)
{
	if (!is_async(m))
		value(text, "0x%08x", m->header.tree_id);
}

static void async_id(struct text *text, const struct smb2_message *m)
{
	if (is_async(m))
		value(text, "0x%016" PRIx64, m->header.async_id);
}

/* FSCTL_VALIDATE_NEGOTIATE_INFO repeats the dialects: at 24 of its input and at 22 of its output. */
static void dialects(struct text *text, const struct smb2_message *m)
{
	struct smb_blob input = { NULL, 0 }, output = { NULL, 0 };
	if (m->kind == SMB2_BODY_IOCTL_REQ)
		input = m->body.ioctl_req.input;
	if (m->kind == SMB2_BODY_IOCTL_RSP && m->body.ioctl_rsp.ctl_code == FSCTL_VALIDATE_NEGOTIATE_INFO) {
		input = m->body.ioctl_rsp.input;
		output = m->body.ioctl_rsp.output;
	}
	if (input.length)
		value(text, "0x%04x", input.data[24] | input.data[25] << 8);
	if (output.length)
		value(text, "0x%04x", output.data[22] | output.data[23] << 8);
	if (m->kind == SMB2_BODY_NEGOTIATE_RSP)
		value(text, "0x%04x", m->body.negotiate_rsp.dialect);
	for (uint16_t i = 0; m->kind == SMB2_BODY_NEGOTIATE_REQ && i < m->body.negotiate_req.dialect_count; i++)
		value(text, "0x%04x", m->body.negotiate_req.dialects[i]);
}

static void negotiate_contexts(struct text *text, const struct smb2_message *m)
{
	const struct smb2_context *contexts = NULL;
	uint16_t count = 0;
	if (m->kind == SMB2_BODY_NEGOTIATE_REQ) {
		contexts = m->body.negotiate_req.contexts;
		count = m->body.negotiate_req.context_count;
	} else if (m->kind == SMB2_BODY_NEGOTIATE_RSP) {
		contexts = m->body.negotiate_rsp.contexts;
		count = m->body.negotiate_rsp.context_count;
	}
	for (uint16_t i = 0; i < count; i++)
		value(text, "0x%04x", contexts[i].type);
}

static void create_contexts(struct text *text, const struct smb2_message *m)
{
	const struct smb2_context *contexts = NULL;
	uint16_t count = 0;
	if (m->kind == SMB2_BODY_CREATE_REQ) {
		contexts = m->body.create_req.contexts;
		count = m->body.create_req.context_count;
	} else if (m->kind == SMB2_BODY_CREATE_RSP) {
		contexts = m->body.create_rsp.contexts;
		count = m->body.create_rsp.context_count;
	}
	for (uint16_t i = 0; i < count; i++)
		value(text, "%.4s", (const char *)contexts[i].name.data);
}

static const struct smb2_file_id *file_id_of(const struct smb2_message *m)
{
	switch (m->kind) {
	case SMB2_BODY_CREATE_RSP:
		return &m->body.create_rsp.file_id;
	case SMB2_BODY_CLOSE_REQ:
		return &m->body.close_req.file_id;
	case SMB2_BODY_FLUSH_REQ:
		return &m->body.flush_req.file_id;
	case SMB2_BODY_READ_REQ:
		return &m->body.read_req.file_id;
	case SMB2_BODY_WRITE_REQ:
		return &m->body.write_req.file_id;
	case SMB2_BODY_LOCK_REQ:
		return &m->body.lock_req.file_id;
	case SMB2_BODY_IOCTL_REQ:
		return &m->body.ioctl_req.file_id;
	case SMB2_BODY_IOCTL_RSP:
		return &m->body.ioctl_rsp.file_id;
	case SMB2_BODY_QUERY_DIRECTORY_REQ:
		return &m->body.query_directory_req.file_id;
	case SMB2_BODY_QUERY_INFO_REQ:
		return &m->body.query_info_req.file_id;
	case SMB2_BODY_SET_INFO_REQ:
		return &m->body.set_info_req.file_id;
	case SMB2_BODY_OPLOCK_BREAK:
		return &m->body.oplock_break.file_id;
	default:
		return NULL;
	}
}

/* tshark shows the sixteen bytes as a GUID. */
static void file_id(struct text *text, const struct smb2_message *m)
{
	const struct smb2_file_id *id = file_id_of(m);
	if (!id)
		return;
	uint64_t p = id->persistent, v = __builtin_bswap64(id->volatile_id);
	value(text, "%08x-%04x-%04x-%04x-%012" PRIx64, (uint32_t)p, (uint32_t)(p >> 32) & 0xffff, (uint32_t)(p >> 48),
	      (uint32_t)(v >> 48), v & 0xffffffffffffu);
}

static void read_length(struct text *text, const struct smb2_message *m)
{
	if (m->kind == SMB2_BODY_READ_REQ)
		value(text, "%u", m->body.read_req.length);
}

static void read_remaining(struct text *text, const struct smb2_message *m)
{
	if (m->kind == SMB2_BODY_READ_RSP)
		value(text, "%u", m->body.read_rsp.data_remaining);
}

/* File data, inside the PDU or beside it. */
static void data_length(struct text *text, const struct smb2_message *m)
{
	uint32_t length = 0;
	if (m->kind == SMB2_BODY_READ_RSP)
		length = m->body.read_rsp.data_length;
	if (m->kind == SMB2_BODY_WRITE_REQ)
		length = m->body.write_req.data_length;
	if (length)
		value(text, "%u", length);
}

static void write_length(struct text *text, const struct smb2_message *m)
{
	if (m->kind == SMB2_BODY_WRITE_REQ)
		value(text, "%u", m->body.write_req.data_length);
}

static void file_offset(struct text *text, const struct smb2_message *m)
{
	if (m->kind == SMB2_BODY_READ_REQ)
		value(text, "%" PRIu64, m->body.read_req.offset);
	if (m->kind == SMB2_BODY_WRITE_REQ)
		value(text, "%" PRIu64, m->body.write_req.offset);
	for (uint16_t i = 0; m->kind == SMB2_BODY_LOCK_REQ && i < m->body.lock_req.lock_count; i++)
		value(text, "%" PRIu64, m->body.lock_req.locks[i].offset);
}

static void end_of_file(struct text *text, const struct smb2_message *m)
{
	if (m->kind == SMB2_BODY_CREATE_RSP)
		value(text, "%" PRIu64, m->body.create_rsp.end_of_file);
	if (m->kind == SMB2_BODY_CLOSE_RSP)
		value(text, "%" PRIu64, m->body.close_rsp.end_of_file);
	if (m->kind == SMB2_BODY_BUFFER_RSP && m->header.command == SMB2_QUERY_DIRECTORY)
		value(text, "%u", m->body.buffer_rsp.buffer.data[40]);
}

struct column {
	const char *field;
	void (*expect)(struct text *text, const struct smb2_message *message);
};

static const struct column columns[] = {
	{ "smb2.cmd", command },
	{ "smb2.msg_id", message_id },
	{ "smb2.credit.charge", credit_charge },
	{ "smb2.credits.requested", credits_requested },
	{ "smb2.credits.granted", credits_granted },
	{ "smb2.channel_sequence", channel_sequence },
	{ "smb2.nt_status", status },
	{ "smb2.sesid", session },
	{ "smb2.tid", tree },
	{ "smb2.aid", async_id },
	{ "smb2.dialect", dialects },
	{ "smb2.negotiate_context.type", negotiate_contexts },
	{ "smb2.tag", create_contexts },
	{ "smb2.fid", file_id },
	{ "smb2.read_length", read_length },
	{ "smb2.read_remaining", read_remaining },
	{ "smb2.write_length", write_length },
	{ "data.len", data_length },
	{ "smb2.file_offset", file_offset },
	{ "smb2.eof", end_of_file },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* The value of a column in one frame: what each member of the PDU contributes. */
static void expected_value(const struct column *column, const struct wire_sample *first, size_t members, char *line)
{
	struct text text = { .p = line, .room = LINE_MAX_SIZE, .empty = true };
	*line = 0;
	for (size_t i = 0; i < members; i++)
		column->expect(&text, &first[i].message);
}

static const char *capture_path(const char *name)
{
	static char path[512];
	snprintf(path, sizeof(path), "%s/%s.pcap", SMB_BINARY_DIR, name);
	return path;
}

static const char *write_capture(const char *name)
{
	size_t count;
	uint8_t bytes[WIRE_PDU_MAX];
	const struct wire_sample *samples = wire_samples(&count);
	const char *path = capture_path(name);
	struct pcap_writer writer;
	cr_assert(pcap_open(&writer, path), "cannot write %s", path);
	for (size_t i = 0; i < count;) {
		const struct wire_sample *first = &samples[i];
		struct smb_pdu pdu;
		cr_assert_eq(wire_sample_encode(&i, bytes, &pdu), SMB_WIRE_OK, "%s", first->name);
		pcap_add(&writer, first->connection, !is_response(&first->message), &pdu);
	}
	cr_assert(pcap_close(&writer), "cannot write %s", path);
	return path;
}

static FILE *tshark(const char *path, const char *options)
{
	char line[LINE_MAX_SIZE];
	cr_assert_eq(system("tshark --version >/dev/null 2>&1"), 0,
		     "tshark does not run; this test needs it (Debian package tshark)");
	snprintf(line, sizeof(line), "tshark -n -r '%s' %s 2>/dev/null", path, options);
	FILE *pipe = popen(line, "r");
	cr_assert_not_null(pipe, "cannot start: %s", line);
	return pipe;
}

/* tshark's name for the reserved bytes of FLUSH and of the bodies without fields, in real captures as well. The scale
 * factor of TCP is unknown because the connections have no beginning. */
static bool is_harmless(const char *line)
{
	line += strspn(line, " ");
	return strstr(line, "Window size scaling factor") || !strcmp(line, "Unknown: 0000\n") ||
	       !strcmp(line, "Unknown: 000000000000\n");
}

/* A frame that tshark marked, or an item that it has no name for. */
static bool is_complaint(const char *line)
{
	static const char *const words[] = { "Malformed", "Expert Info (Error", "Expert Info (Warn",
					     "nknown",	  "ndecoded",		"Unreassembled" };
	if (is_harmless(line))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strstr(line, words[i]))
			return true;
	}
	return false;
}

Test(wireshark, finds_nothing_malformed_or_unknown)
{
	char line[LINE_MAX_SIZE];
	unsigned int lines = 0, marked = 0;
	const char *path = write_capture("wire-complaints");
	FILE *pipe = tshark(path, "-V");
	while (fgets(line, sizeof(line), pipe)) {
		lines++;
		cr_expect(!is_complaint(line), "%s", line);
	}
	cr_assert_eq(pclose(pipe), 0, "tshark failed");
	cr_assert(lines > 5000, "only %u lines of dissection", lines);

	pipe = tshark(path, "-Y '_ws.malformed || _ws.expert.severity == error'");
	while (fgets(line, sizeof(line), pipe)) {
		marked++;
		cr_expect_fail("marked by tshark: %s", line);
	}
	cr_assert_eq(pclose(pipe), 0, "tshark failed");
	cr_assert_eq(marked, 0);
}

Test(wireshark, complains_about_a_message_that_is_wrong)
{
	static const uint8_t bad[SMB2_HEADER_SIZE + 4] = { 0xfe, 'S', 'M', 'B', 64, [12] = SMB2_READ, [64] = 49 };
	char line[LINE_MAX_SIZE];
	unsigned int complaints = 0;
	const char *path = capture_path("wire-bad");
	struct pcap_writer writer;
	cr_assert(pcap_open(&writer, path));
	pcap_add(&writer, 0, true, &(struct smb_pdu){ .bytes = bad, .length = sizeof(bad) });
	cr_assert(pcap_close(&writer));
	FILE *pipe = tshark(path, "-V");
	while (fgets(line, sizeof(line), pipe))
		complaints += is_complaint(line);
	cr_assert_eq(pclose(pipe), 0, "tshark failed");
	cr_assert(complaints > 0);
}

Test(wireshark, sees_the_values_that_were_encoded)
{
	char line[LINE_MAX_SIZE], expected[LINE_MAX_SIZE], options[LINE_MAX_SIZE] = "-T fields -E aggregator=,";
	size_t count, i = 0;
	const struct wire_sample *samples = wire_samples(&count);
	for (size_t c = 0; c < COLUMNS; c++) {
		strcat(options, " -e ");
		strcat(options, columns[c].field);
	}
	FILE *pipe = tshark(write_capture("wire-values"), options);
	while (fgets(line, sizeof(line), pipe)) {
		const struct wire_sample *first = &samples[i++];
		cr_assert(i <= count, "more frames than samples");
		while (i < count && samples[i].follows)
			i++;
		line[strcspn(line, "\n")] = 0;
		char *rest = line;
		for (size_t c = 0; c < COLUMNS; c++) {
			const char *actual = strsep(&rest, "\t");
			expected_value(&columns[c], first, (size_t)(&samples[i] - first), expected);
			cr_expect_str_eq(actual ? actual : "", expected, "%s, %s: tshark has %s, encoded was %s",
					 first->name, columns[c].field, actual, expected);
		}
	}
	cr_assert_eq(pclose(pipe), 0, "tshark failed");
	cr_assert_eq(i, count, "tshark shows %zu of %zu samples", i, count);
}
