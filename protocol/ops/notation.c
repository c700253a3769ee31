/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/ops/notation.h"
#include "protocol/wire/contexts.h"
#include "protocol/wire/message.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *smb_notation_command(uint16_t command)
{
	switch (command) {
	case SMB2_QUERY_DIRECTORY:
		return "QUERYDIR";
	case SMB2_QUERY_INFO:
		return "GETINFO";
	case SMB2_SET_INFO:
		return "SETINFO";
	default:
		return smb2_command_name(command);
	}
}

/* ----------------------------------------------------------------------------------------------------------- details */

static void detail_create(char *text, const struct smb2_create_req *req)
{
	static const char *const dispositions[] = { "SUPERSEDE", "OPEN",      "CREATE",
						    "OPEN_IF",	 "OVERWRITE", "OVERWRITE_IF" };
	const struct smb2_context *context = smb2_create_context_find(req->contexts, req->context_count, "RqLs");
	const char *disposition = req->create_disposition < 6 ? dispositions[req->create_disposition] : "?";
	struct smb2_lease lease;

	if (req->oplock_level == SMB2_OPLOCK_LEVEL_LEASE && context && smb2_lease_read(context, &lease) == SMB_WIRE_OK)
		snprintf(text, SMB_NOTATION_DETAIL, "(%s,0x%" PRIx32 ",L%" PRIu32 ")", disposition, req->desired_access,
			 lease.state);
	else
		snprintf(text, SMB_NOTATION_DETAIL, "(%s,0x%" PRIx32 ",op0x%x)", disposition, req->desired_access,
			 req->oplock_level);
}

static const char *file_class(uint8_t class)
{
	switch (class) {
	case 4:
		return "Basic";
	case 6:
		return "Internal";
	case 10:
		return "Rename";
	case 11:
		return "Link";
	case 13:
		return "Disposition";
	case 18:
		return "All";
	case 20:
		return "EOF";
	default:
		return NULL;
	}
}

static const char *file_system_class(uint8_t class)
{
	switch (class) {
	case 1:
		return "Volume";
	case 4:
		return "Device";
	case 5:
		return "Attribute";
	case 7:
		return "FullSize";
	case 11:
		return "SectorSize";
	default:
		return NULL;
	}
}

static void detail_class(char *text, uint8_t type, uint8_t class)
{
	const char *name = type == SMB2_O_INFO_FILESYSTEM ? file_system_class(class) : file_class(class);
	const char *kind = type == SMB2_O_INFO_FILESYSTEM ? "fs" : type == SMB2_O_INFO_FILE ? "file" : "security";

	if (name)
		snprintf(text, SMB_NOTATION_DETAIL, "(%s:%s)", kind, name);
	else
		snprintf(text, SMB_NOTATION_DETAIL, "(%s:%u)", kind, class);
}

static void detail_ioctl(char *text, uint32_t code)
{
	static const struct {
		uint32_t code;
		const char *name;
	} names[] = {
		{ 0x00060194u, "DFS_REFERRALS" },
		{ FSCTL_QUERY_NETWORK_INTERFACE_INFO, "QUERY_NETIF" },
		{ FSCTL_VALIDATE_NEGOTIATE_INFO, "VALIDATE_NEGOTIATE" },
		{ 0x000900a4u, "SET_REPARSE" },
	};

	snprintf(text, SMB_NOTATION_DETAIL, "(0x%" PRIx32 ")", code);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].code == code)
			snprintf(text, SMB_NOTATION_DETAIL, "(%s)", names[i].name);
	}
}

/** Does a UTF-16LE path end so? */
static bool ends_with(struct smb_blob path, const char *end)
{
	size_t length = strlen(end);

	if (path.length < 2 * length)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (path.data[path.length - 2 * length + 2 * i] != (uint8_t)end[i])
			return false;
	}
	return true;
}

void smb_notation_request(struct smb_notation_member *member, const struct smb2_message *request)
{
	char *text = member->detail;

	*member = (struct smb_notation_member){
		.command = request->header.command,
		.charge = request->header.credit_charge,
		.asked = request->header.credits,
		.related = request->header.flags & SMB2_FLAGS_RELATED_OPERATIONS,
		.message_id = request->header.message_id,
	};
	switch (request->kind) {
	case SMB2_BODY_TREE_CONNECT_REQ:
		snprintf(text, SMB_NOTATION_DETAIL, "%s",
			 ends_with(request->body.tree_connect_req.path, "\\IPC$") ? "(IPC$)" : "(share)");
		break;
	case SMB2_BODY_CREATE_REQ:
		detail_create(text, &request->body.create_req);
		break;
	case SMB2_BODY_QUERY_INFO_REQ:
		detail_class(text, request->body.query_info_req.info_type,
			     request->body.query_info_req.file_info_class);
		break;
	case SMB2_BODY_SET_INFO_REQ:
		detail_class(text, request->body.set_info_req.info_type, request->body.set_info_req.file_info_class);
		break;
	case SMB2_BODY_IOCTL_REQ:
		detail_ioctl(text, request->body.ioctl_req.ctl_code);
		break;
	case SMB2_BODY_QUERY_DIRECTORY_REQ:
		snprintf(text, SMB_NOTATION_DETAIL, "(%" PRIu32 ")",
			 request->body.query_directory_req.output_buffer_length);
		break;
	case SMB2_BODY_READ_REQ:
		snprintf(text, SMB_NOTATION_DETAIL, "(%" PRIu32 "@%" PRIu64 ")", request->body.read_req.length,
			 request->body.read_req.offset);
		break;
	case SMB2_BODY_WRITE_REQ:
		snprintf(text, SMB_NOTATION_DETAIL, "(%" PRIu32 "@%" PRIu64 ")", request->body.write_req.data_length,
			 request->body.write_req.offset);
		break;
	default:
		break;
	}
}

void smb_notation_response(struct smb_notation_member *member, const struct smb2_message *response)
{
	member->granted += response->header.credits;
	if (response->header.status != STATUS_PENDING)
		member->status = response->header.status;
}

/* -------------------------------------------------------------------------------------------------------------- text */

struct writer {
	char *text;
	size_t size;
	size_t used;
};

/** One member without its MessageId: what decides whether two pairs are the same. */
static bool members_equal(const struct smb_notation_member *a, const struct smb_notation_member *b, bool detailed)
{
	if (a->command != b->command || a->status != b->status)
		return false;
	return !detailed || (a->charge == b->charge && a->asked == b->asked && a->related == b->related &&
			     a->granted == b->granted && !strcmp(a->detail, b->detail));
}

static bool pairs_equal(const struct smb_notation_pair *a, const struct smb_notation_pair *b, bool detailed)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++) {
		if (!members_equal(&a->members[i], &b->members[i], detailed))
			return false;
	}
	return true;
}

static void put_text(struct writer *writer, const char *text)
{
	size_t length = strlen(text);

	if (writer->used + length < writer->size)
		memcpy(writer->text + writer->used, text, length + 1);
	else if (writer->used < writer->size)
		writer->text[writer->used] = 0;
	writer->used += length;
}

static void put_member(struct writer *writer, const struct smb_notation_member *member, bool detailed)
{
	char text[160];

	put_text(writer, smb_notation_command(member->command));
	if (detailed) {
		snprintf(text, sizeof(text), "%s<mid%" PRIu64 " ch%u req%u gr%" PRIu32 "%s>", member->detail,
			 member->message_id, member->charge, member->asked, member->granted,
			 member->related ? " rel" : "");
		put_text(writer, text);
	}
	if (member->status) {
		snprintf(text, sizeof(text), "!%08" PRIx32, member->status);
		put_text(writer, text);
	}
}

static void put_pair(struct writer *writer, const struct smb_notation_pair *pair, uint32_t times, bool detailed)
{
	char text[16];

	assert(pair->count <= SMB_NOTATION_MEMBERS);
	put_text(writer, "[");
	for (uint32_t i = 0; i < pair->count; i++) {
		if (i)
			put_text(writer, "+");
		put_member(writer, &pair->members[i], detailed);
	}
	put_text(writer, "]");
	if (times > 1) {
		snprintf(text, sizeof(text), "*%" PRIu32, times);
		put_text(writer, text);
	}
}

size_t smb_notation_print(const struct smb_notation_pair *pairs, uint32_t count, bool detailed, char *text, size_t size)
{
	struct writer writer = { text, size, 0 };

	if (size)
		text[0] = 0;
	for (uint32_t i = 0; i < count;) {
		uint32_t times = 1;

		while (i + times < count && pairs_equal(&pairs[i], &pairs[i + times], detailed))
			times++;
		if (i)
			put_text(&writer, " ");
		put_pair(&writer, &pairs[i], times, detailed);
		i += times;
	}
	return writer.used;
}
