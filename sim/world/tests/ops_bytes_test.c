/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The requests of shell commands against those that Linux sent, byte by byte: sim/server/tests/data holds the real
 * ones in hex. Set aside is what no two runs have in common: ids of session, tree and file, the process id, lease keys,
 * times (only whether one is set counts) and file data. The attributes that chmod sends differ in one bit: files that
 * Samba finds on its disk are NORMAL, those of the simulated server ARCHIVE.
 */

#include "protocol/wire/message.h"
#include "sim/world/tests/ops_peer.h"
#include "sim/world/tests/ops_rows.h"

#include <criterion/criterion.h>
#include <string.h>

#define BODY SMB2_HEADER_SIZE

static void clear(uint8_t *bytes, gsize length, gsize at, gsize count)
{
	cr_assert_leq(at + count, length);
	memset(bytes + at, 0, count);
}

/** Where the FileId of a request's body stands (MS-SMB2 2.2); 0 = it has none. */
static gsize file_id_at(uint16_t command)
{
	switch (command) {
	case SMB2_CLOSE:
	case SMB2_FLUSH:
	case SMB2_QUERY_DIRECTORY:
	case SMB2_IOCTL:
		return BODY + 8;
	case SMB2_READ:
	case SMB2_WRITE:
	case SMB2_SET_INFO:
		return BODY + 16;
	case SMB2_QUERY_INFO:
		return BODY + 24;
	default:
		return 0;
	}
}

static void normalise_basic(const struct smb2_set_info_req *req)
{
	uint8_t *p = (uint8_t *)(uintptr_t)req->buffer.data;

	if (req->file_info_class != 4 || req->info_type != SMB2_O_INFO_FILE)
		return;
	for (int time = 0; time < 4; time++) {
		bool is_set = false;

		for (int i = 0; i < 8; i++)
			is_set |= p[8 * time + i] != 0;
		memset(p + 8 * time, is_set, 8);
	}
	if (p[32])
		p[32] &= (uint8_t)~0xa0u; /* NORMAL, ARCHIVE */
}

static void normalise_create(const struct smb2_create_req *req)
{
	for (uint16_t i = 0; i < req->context_count; i++) {
		if (!memcmp(req->contexts[i].name.data, "RqLs", 4))
			memset((uint8_t *)(uintptr_t)req->contexts[i].data.data, 0, 16);
	}
}

static void clear_ids(uint8_t *bytes, gsize length)
{
	struct smb2_header header;
	uint32_t next = 0;

	for (gsize at = 0;; at += next) {
		cr_assert_eq(smb2_header_decode(bytes + at, (uint32_t)(length - at), &header, &next), SMB_WIRE_OK);
		clear(bytes, length, at + 32, 16); /* process, tree, session */
		if (file_id_at(header.command))
			clear(bytes, length, at + file_id_at(header.command), 16);
		if (!next)
			return;
	}
}

/** In place: the views of a decoded message lead into the bytes. A WRITE without its data is not decoded. */
static void normalise(uint8_t *bytes, gsize length)
{
	struct smb_pdu pdu = { .bytes = bytes, .length = (uint32_t)length };
	struct smb_chain_reader reader;
	struct smb2_message message;

	smb_chain_read(&reader, &pdu);
	while (smb_chain_next(&reader, &message) == SMB_WIRE_OK) {
		if (message.kind == SMB2_BODY_SET_INFO_REQ)
			normalise_basic(&message.body.set_info_req);
		if (message.kind == SMB2_BODY_CREATE_REQ)
			normalise_create(&message.body.create_req);
	}
	clear_ids(bytes, length);
}

static void expect_same_bytes(const char *op, GBytes *ours, const char *hex)
{
	gsize length, real_length = strlen(hex) / 2;
	const uint8_t *sent = g_bytes_get_data(ours, &length);
	g_autofree uint8_t *mine = g_memdup2(sent, length);
	g_autofree uint8_t *real = g_malloc0(real_length + 1);

	for (gsize i = 0; i < real_length; i++)
		real[i] = (uint8_t)(g_ascii_xdigit_value(hex[2 * i]) << 4 | g_ascii_xdigit_value(hex[2 * i + 1]));
	/* A WRITE: the data is not among our bytes. */
	if (real[12] == SMB2_WRITE && real_length > length)
		real_length = BODY + 48;
	cr_expect_eq(length, real_length, "%s: %zu bytes, the kernel %zu", op, length, real_length);
	if (length != real_length)
		return;
	normalise(mine, length);
	normalise(real, length);
	for (gsize i = 0; i < length; i++) {
		if (mine[i] != real[i]) {
			cr_expect_fail("%s: MessageId %u, byte %zu is %02x, the kernel's %02x", op, mine[24], i,
				       mine[i], real[i]);
			return;
		}
	}
}

/** The request lines between "# B op" and the next "# B". */
static char **requests_of(const char *text, const char *op, const char **end)
{
	g_autofree char *begin = g_strdup_printf("# B %s\n", op);
	const char *from = strstr(text, begin);

	cr_assert(from, "%s", op);
	from += strlen(begin);
	*end = strstr(from, "# B ");
	g_autofree char *part = *end ? g_strndup(from, (gsize)(*end - from)) : g_strdup(from);
	g_auto(GStrv) lines = g_strsplit(part, "\n", -1);
	GStrvBuilder *builder = g_strv_builder_new();
	for (char **line = lines; *line; line++) {
		if (g_str_has_prefix(*line, "C "))
			g_strv_builder_add(builder, *line + 2);
	}
	char **result = g_strv_builder_end(builder);
	g_strv_builder_unref(builder);
	return result;
}

static guint compare_file(const char *kernel, const char *name, const char *mount)
{
	g_autofree char *path = g_strdup_printf(SMB_SOURCE_DIR "/sim/server/tests/data/linux-%s-%s-samba-4.17.txt",
						kernel, name);
	g_autofree char *text = NULL;
	struct sim_bill *bill = peer_new(kernel, mount);
	const char *at;
	guint compared = 0;

	cr_assert(g_file_get_contents(path, &text, NULL, NULL), "%s", path);
	at = text;
	for (gsize i = 0; ops_rows[i].op; i++) {
		ops_row_run(bill, &ops_rows[i]);
		g_auto(GStrv) real = requests_of(at, ops_rows[i].op, &at);
		cr_assert_eq(g_strv_length(real), bill->sent->len, "%s", ops_rows[i].op);
		for (guint n = 0; n < bill->sent->len; n++)
			expect_same_bytes(ops_rows[i].op, g_ptr_array_index(bill->sent, n), real[n]);
		compared += bill->sent->len;
	}
	sim_bill_free(bill);
	return compared;
}

Test(ops_bytes, requests_are_those_of_linux_61_and_612_byte_by_byte)
{
	static const struct {
		const char *kernel, *name, *mount;
	} files[] = {
		{ "6.1", "v210", "vers=2.1" },
		{ "6.1", "v300", "vers=3.0" },
		{ "6.1", "v311", "vers=3.1.1" },
		{ "6.12", "v311", "vers=3.1.1" },
	};
	guint compared = 0;

	for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
		compared += compare_file(files[i].kernel, files[i].name, files[i].mount);
	cr_log_info("%u requests compared", compared);
	cr_expect_geq(compared, 400u);
}
