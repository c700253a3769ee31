/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each request says. Field values are those of captures/ops-6.1 and ops-6.12; tests compare every byte. */
#include "protocol/ops/internal.h"
#include "protocol/wire/contexts.h"

#include <assert.h>
#include <string.h>

#define IMPERSONATION 2
#define SHARE_ALL 7
#define OPLOCK_BATCH 0x09
#define DURABLE_SIZE 16
#define IOCTL_IS_FSCTL 1
#define FSCTL_SET_REPARSE_POINT 0x000900a4u
#define REPARSE_TAG_SYMLINK 0xa000000cu
#define SYMLINK_IS_RELATIVE 1
#define FILE_BASIC 4
#define FILE_INTERNAL 6
#define FILE_RENAME 10
#define FILE_LINK 11
#define FILE_DISPOSITION 13
#define FILE_ALL 18
#define FILE_EOF 20
#define FS_FULL_SIZE 7
#define DIRECTORY_FULL 2
#define DIRECTORY_ID_FULL 38
/* Room asked for: the structure and the longest name (MAX_NAME 4096 units for FileAllInformation); a QUERY_DIRECTORY
 * answer fits CIFSMaxBufSize with its headers (SMB2_query_directory_init). */
#define FILE_ALL_ROOM 8293
#define FILE_INTERNAL_ROOM 80
#define FS_FULL_SIZE_ROOM 32
#define DIRECTORY_ROOM 15380
#define CLOSE_POSTQUERY 1

struct build {
	const struct smb_ops *ops;
	const struct ops_member *member;
	struct smb2_file_id id;
	struct smb2_message *message;
	struct smb_ops_scratch *scratch;
};

static void put(uint8_t *p, uint64_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++, value >>= 8)
		p[i] = (uint8_t)value;
}

static uint32_t utf16(const char *text, uint8_t *p)
{
	uint32_t length = 0;

	for (; *text; text++) {
		p[length++] = (uint8_t)*text;
		p[length++] = 0;
	}
	return length;
}

static uint32_t path_utf16(const struct smb_ops *ops, uint32_t dentry, uint8_t *p)
{
	char path[SMB_OPS_PATH_MAX];

	ops_dentry_path(ops, dentry, '\\', path);
	return utf16(path, p);
}

static void add_context(struct smb2_create_req *req, struct smb2_context context)
{
	req->contexts[req->context_count++] = context;
}

/** A lease, or with dialect 2.0.2 a batch oplock; what caches handles is asked to be durable (SMB2_open_init). */
static void add_oplock(const struct build *build, struct smb2_create_req *req)
{
	static const uint8_t durable[DURABLE_SIZE];
	const struct smb_ops *ops = build->ops;
	const struct ops_dentry *dentry = ops_dentry(ops, build->member->dentry);
	enum ops_oplock oplock = build->member->oplock;
	struct smb2_lease lease = { .is_v2 = ops->config.dialect >= SMB2_DIALECT_300 };
	struct smb2_context context = smb2_query_context("DHnQ");

	if (oplock == OPS_OPLOCK_NONE)
		return;
	req->oplock_level = OPLOCK_BATCH;
	if (oplock != OPS_OPLOCK_BATCH && ops->config.can_lease && ops->config.dialect >= SMB2_DIALECT_210) {
		req->oplock_level = SMB2_OPLOCK_LEVEL_LEASE;
		memcpy(lease.key, dentry->lease_key, sizeof(lease.key));
		if (oplock == OPS_OPLOCK_CACHE)
			lease.state = OPS_CACHE_READ | OPS_CACHE_HANDLE | OPS_CACHE_WRITE;
		add_context(req, smb2_lease_context(&lease, build->scratch->lease));
	}
	context.data = (struct smb_blob){ durable, sizeof(durable) };
	if (oplock != OPS_OPLOCK_KEY)
		add_context(req, context);
}

static void build_create(const struct build *build)
{
	struct smb2_create_req *req = &build->message->body.create_req;

	build->message->kind = SMB2_BODY_CREATE_REQ;
	*req = (struct smb2_create_req){
		.impersonation_level = IMPERSONATION,
		.desired_access = build->member->access,
		.share_access = SHARE_ALL,
		.create_disposition = build->member->disposition,
		.create_options = build->member->options,
		.name.data = build->scratch->name,
	};
	req->name.length = path_utf16(build->ops, build->member->dentry, build->scratch->name);
	add_oplock(build, req);
	if (!build->ops->config.policy.file_number_asked)
		add_context(req, smb2_query_context("QFid"));
}

/** `length` of a CLOSE: 1 = of a file that a process had open. */
static void build_close(const struct build *build)
{
	bool asks = build->member->length && build->ops->config.policy.close_attributes &&
		    build->ops->config.dialect >= SMB2_DIALECT_300;

	build->message->kind = SMB2_BODY_CLOSE_REQ;
	build->message->body.close_req = (struct smb2_close_req){ .flags = asks ? CLOSE_POSTQUERY : 0,
								  .file_id = build->id };
}

static void build_flush(const struct build *build)
{
	build->message->kind = SMB2_BODY_FLUSH_REQ;
	build->message->body.flush_req = (struct smb2_flush_req){ .file_id = build->id };
}

static void build_query(const struct build *build)
{
	static const struct {
		uint8_t type;
		uint8_t class;
		uint32_t room;
	} queries[] = {
		[0] = { SMB2_O_INFO_FILE, FILE_ALL, FILE_ALL_ROOM },
		[OPS_QUERY_NUMBER - OPS_QUERY_ALL] = { SMB2_O_INFO_FILE, FILE_INTERNAL, FILE_INTERNAL_ROOM },
		[OPS_QUERY_FS_SIZE - OPS_QUERY_ALL] = { SMB2_O_INFO_FILESYSTEM, FS_FULL_SIZE, FS_FULL_SIZE_ROOM },
	};
	uint32_t which = build->member->kind - OPS_QUERY_ALL;

	build->message->kind = SMB2_BODY_QUERY_INFO_REQ;
	build->message->body.query_info_req = (struct smb2_query_info_req){
		.info_type = queries[which].type,
		.file_info_class = queries[which].class,
		.output_buffer_length = queries[which].room,
		.file_id = build->id,
	};
}

static void build_query_directory(const struct build *build)
{
	build->scratch->name[0] = '*';
	build->scratch->name[1] = 0;
	build->message->kind = SMB2_BODY_QUERY_DIRECTORY_REQ;
	build->message->body.query_directory_req = (struct smb2_query_directory_req){
		.information_class = build->ops->config.serverino ? DIRECTORY_ID_FULL : DIRECTORY_FULL,
		.file_id = build->id,
		.output_buffer_length = DIRECTORY_ROOM,
		.pattern = { build->scratch->name, 2 },
	};
}

static void set_info(const struct build *build, uint8_t class, uint32_t length)
{
	build->message->kind = SMB2_BODY_SET_INFO_REQ;
	build->message->body.set_info_req = (struct smb2_set_info_req){
		.info_type = SMB2_O_INFO_FILE,
		.file_info_class = class,
		.file_id = build->id,
		.buffer = { build->scratch->buffer, length },
	};
}

static void build_set_basic(const struct build *build)
{
	uint64_t now = build->ops->config.filetime_zero + build->ops->now_ns / 100;
	uint8_t *p = build->scratch->buffer;

	memset(p, 0, 40);
	if (build->member->set & OPS_SET_ACCESS)
		put(p + 8, now, 8);
	if (build->member->set & OPS_SET_WRITE)
		put(p + 16, now, 8);
	if (build->member->set & OPS_SET_CHANGE)
		put(p + 24, now, 8);
	put(p + 32, build->member->attributes, 4);
	set_info(build, FILE_BASIC, 40);
}

static void build_set_eof(const struct build *build)
{
	put(build->scratch->buffer, build->member->offset, 8);
	set_info(build, FILE_EOF, 8);
}

static void build_set_disposition(const struct build *build)
{
	build->scratch->buffer[0] = 1;
	set_info(build, FILE_DISPOSITION, 1);
}

/** MS-FSCC 2.4.37, 2.4.21: replace, root directory, and the name with a terminator that its length does not count. */
static void build_set_name(const struct build *build)
{
	bool renames = build->member->kind == OPS_SET_RENAME;
	uint8_t *p = build->scratch->buffer;
	uint32_t length;

	memset(p, 0, 20);
	p[0] = renames;
	length = path_utf16(build->ops, build->member->target, p + 20);
	put(p + 16, length, 4);
	put(p + 20 + length, 0, 2);
	set_info(build, renames ? FILE_RENAME : FILE_LINK, 20 + length + 2);
}

/** MS-FSCC 2.1.2.4: a relative symlink, printed and substituted by the same text. */
static void build_set_reparse(const struct build *build)
{
	uint8_t *p = build->scratch->buffer;
	uint32_t length = utf16(build->ops->command.source, p + 20);

	utf16(build->ops->command.source, build->scratch->data);
	memcpy(p + 20 + length, build->scratch->data, length);
	put(p, REPARSE_TAG_SYMLINK, 4);
	put(p + 4, 12 + 2 * length, 4);
	put(p + 8, length, 2);
	put(p + 10, length, 2);
	put(p + 12, 0, 2);
	put(p + 14, length, 2);
	put(p + 16, SYMLINK_IS_RELATIVE, 4);
	build->message->kind = SMB2_BODY_IOCTL_REQ;
	build->message->body.ioctl_req = (struct smb2_ioctl_req){
		.ctl_code = FSCTL_SET_REPARSE_POINT,
		.file_id = build->id,
		.flags = IOCTL_IS_FSCTL,
		.input = { p, 20 + 2 * length },
	};
}

static void build_read(const struct build *build)
{
	build->message->kind = SMB2_BODY_READ_REQ;
	build->message->body.read_req = (struct smb2_read_req){
		.length = build->member->length,
		.offset = build->member->offset,
		.file_id = build->id,
	};
}

static void build_write(const struct build *build)
{
	build->message->kind = SMB2_BODY_WRITE_REQ;
	build->message->body.write_req = (struct smb2_write_req){
		.offset = build->member->offset,
		.file_id = build->id,
		.data_length = build->member->length,
		.payload = { .offset = build->member->offset, .length = build->member->length },
	};
}

/** cifs link.c, format_mf_symlink: a mark, the length, a digest (blank here), the text, filled up with blanks. */
static void build_write_link(const struct build *build)
{
	static const char digits[] = "0123456789";
	uint8_t *p = build->scratch->data;
	const char *text = build->ops->command.source;
	uint32_t length = (uint32_t)strlen(text);

	_Static_assert(sizeof(build->scratch->data) >= OPS_MFSYMLINK_BYTES, "the file fits");
	memset(p, ' ', OPS_MFSYMLINK_BYTES);
	memcpy(p, "XSym\n", 5);
	for (uint32_t i = 0, rest = length; i < 4; i++, rest /= 10)
		p[8 - i] = (uint8_t)digits[rest % 10];
	p[9] = p[42] = p[43 + length] = '\n';
	memcpy(p + 43, text, length);
	build_write(build);
	build->message->body.write_req.payload = (struct smb_slice){ 0 };
	build->message->body.write_req.data = (struct smb_blob){ p, OPS_MFSYMLINK_BYTES };
}

static void build_empty(const struct build *build)
{
	build->message->kind = SMB2_BODY_EMPTY;
}

static const struct {
	uint16_t command;
	void (*build)(const struct build *build);
} kinds[OPS_MEMBER_KINDS] = {
	[OPS_CREATE] = { SMB2_CREATE, build_create },
	[OPS_CLOSE] = { SMB2_CLOSE, build_close },
	[OPS_FLUSH] = { SMB2_FLUSH, build_flush },
	[OPS_QUERY_ALL] = { SMB2_QUERY_INFO, build_query },
	[OPS_QUERY_NUMBER] = { SMB2_QUERY_INFO, build_query },
	[OPS_QUERY_FS_SIZE] = { SMB2_QUERY_INFO, build_query },
	[OPS_QUERY_DIRECTORY] = { SMB2_QUERY_DIRECTORY, build_query_directory },
	[OPS_SET_BASIC] = { SMB2_SET_INFO, build_set_basic },
	[OPS_SET_EOF] = { SMB2_SET_INFO, build_set_eof },
	[OPS_SET_DISPOSITION] = { SMB2_SET_INFO, build_set_disposition },
	[OPS_SET_RENAME] = { SMB2_SET_INFO, build_set_name },
	[OPS_SET_LINK] = { SMB2_SET_INFO, build_set_name },
	[OPS_SET_REPARSE] = { SMB2_IOCTL, build_set_reparse },
	[OPS_READ] = { SMB2_READ, build_read },
	[OPS_WRITE] = { SMB2_WRITE, build_write },
	[OPS_WRITE_LINK] = { SMB2_WRITE, build_write_link },
	[OPS_TREE_DISCONNECT] = { SMB2_TREE_DISCONNECT, build_empty },
	[OPS_LOGOFF] = { SMB2_LOGOFF, build_empty },
};

void ops_build(const struct smb_ops *ops, const struct ops_member *member, struct smb2_file_id id,
	       struct smb2_message *message, struct smb_ops_scratch *scratch)
{
	struct build build = { ops, member, id, message, scratch };

	assert(member->kind < OPS_MEMBER_KINDS);
	message->header.command = kinds[member->kind].command;
	kinds[member->kind].build(&build);
}
