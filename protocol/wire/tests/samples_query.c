/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/tests/samples_build.h"

#define FILE_INTERNAL_INFORMATION 6
#define FILE_END_OF_FILE_INFORMATION 20
#define FILE_ID_FULL_DIRECTORY_INFORMATION 38
#define INFO_QUOTA 4
#define FS_SIZE_INFORMATION 3

void add_query(void)
{
	/* One directory entry, MS-FSCC 2.4.18: 80 bytes and the name "f". */
	static const uint8_t entry[82] = { [40] = 5, [48] = 8, [56] = 0x20, [60] = 2, [72] = 99, [80] = 'f' };
	static const uint8_t file_number[8] = { 77 };
	static const uint8_t volume[24] = { [0] = 200, [8] = 100, [16] = 8, [20] = 0, [21] = 2 };
	struct smb2_message *message = request("QUERY_DIRECTORY", SMB2_QUERY_DIRECTORY, SMB2_BODY_QUERY_DIRECTORY_REQ);
	message->body.query_directory_req = (struct smb2_query_directory_req){
		.information_class = FILE_ID_FULL_DIRECTORY_INFORMATION,
		.flags = 1,
		.file_index = 7,
		.file_id = FILE_ID,
		.output_buffer_length = 65536,
		.pattern = utf16("*"),
	};
	response("QUERY_DIRECTORY", SMB2_BODY_BUFFER_RSP)->body.buffer_rsp.buffer = BLOB(entry);
	message = request("QUERY_DIRECTORY again", SMB2_QUERY_DIRECTORY, SMB2_BODY_QUERY_DIRECTORY_REQ);
	message->body.query_directory_req = (struct smb2_query_directory_req){
		.information_class = FILE_ID_FULL_DIRECTORY_INFORMATION,
		.file_id = FILE_ID,
		.output_buffer_length = 65536,
	};
	error("NO_MORE_FILES", STATUS_NO_MORE_FILES);

	message = request("QUERY_INFO of a file", SMB2_QUERY_INFO, SMB2_BODY_QUERY_INFO_REQ);
	message->body.query_info_req = (struct smb2_query_info_req){
		.info_type = SMB2_O_INFO_FILE,
		.file_info_class = FILE_INTERNAL_INFORMATION,
		.output_buffer_length = 8,
		.file_id = FILE_ID,
	};
	response("QUERY_INFO of a file", SMB2_BODY_BUFFER_RSP)->body.buffer_rsp.buffer = BLOB(file_number);
	message = request("QUERY_INFO of the volume", SMB2_QUERY_INFO, SMB2_BODY_QUERY_INFO_REQ);
	message->body.query_info_req = (struct smb2_query_info_req){
		.info_type = SMB2_O_INFO_FILESYSTEM,
		.file_info_class = FS_SIZE_INFORMATION,
		.output_buffer_length = 24,
		.file_id = FILE_ID,
	};
	response("QUERY_INFO of the volume", SMB2_BODY_BUFFER_RSP)->body.buffer_rsp.buffer = BLOB(volume);
}

/* Quotas of every user (MS-SMB2 2.2.37.1): one of the few queries with an input. */
static void query_quota(void)
{
	static const uint8_t every_user[16] = { [1] = 1 };
	struct smb2_message *message = request("QUERY_INFO with input", SMB2_QUERY_INFO, SMB2_BODY_QUERY_INFO_REQ);
	message->body.query_info_req = (struct smb2_query_info_req){
		.info_type = INFO_QUOTA,
		.output_buffer_length = 100,
		.file_id = FILE_ID,
		.input = BLOB(every_user),
	};
	error("ACCESS_DENIED", STATUS_ACCESS_DENIED);
}

void add_set_info(void)
{
	static const uint8_t end_of_file[8] = { 0, 0, 1 };
	query_quota();
	struct smb2_message *message = request("SET_INFO", SMB2_SET_INFO, SMB2_BODY_SET_INFO_REQ);
	message->body.set_info_req = (struct smb2_set_info_req){
		.info_type = SMB2_O_INFO_FILE,
		.file_info_class = FILE_END_OF_FILE_INFORMATION,
		.file_id = FILE_ID,
		.buffer = BLOB(end_of_file),
	};
	response("SET_INFO", SMB2_BODY_EMPTY);
}

static void unsolicited(struct smb2_message *message)
{
	message->header.flags = SMB2_FLAGS_SERVER_TO_REDIR;
	message->header.message_id = SMB2_MESSAGE_ID_UNSOLICITED;
	message->header.tree_id = 0;
	message->header.session_id = 0;
	message->header.credits = 0;
}

void add_breaks(void)
{
	struct smb2_oplock_break oplock = { .oplock_level = 1, .file_id = FILE_ID };
	struct smb2_message *message = request("oplock break", SMB2_OPLOCK_BREAK, SMB2_BODY_OPLOCK_BREAK);
	message->body.oplock_break = oplock;
	unsolicited(message);
	message = request("oplock break acknowledged", SMB2_OPLOCK_BREAK, SMB2_BODY_OPLOCK_BREAK);
	message->body.oplock_break = oplock;
	response("oplock break done", SMB2_BODY_OPLOCK_BREAK)->body.oplock_break = oplock;

	message = request("lease break", SMB2_OPLOCK_BREAK, SMB2_BODY_LEASE_BREAK_NOTIFY);
	message->body.lease_break_notify = (struct smb2_lease_break_notify){
		.new_epoch = 4,
		.flags = 1,
		.lease_key = "a lease key",
		.current_state = 7,
		.new_state = 3,
	};
	unsolicited(message);
	struct smb2_lease_break_ack ack = { .lease_key = "a lease key", .lease_state = 3 };
	message = request("lease break acknowledged", SMB2_OPLOCK_BREAK, SMB2_BODY_LEASE_BREAK_ACK);
	message->body.lease_break_ack = ack;
	response("lease break done", SMB2_BODY_LEASE_BREAK_ACK)->body.lease_break_ack = ack;
}

static void related(struct smb2_message *message)
{
	message->header.flags |= SMB2_FLAGS_RELATED_OPERATIONS;
	recent(0)->follows = true;
}

/* The requests of the chain end three samples back, so each response finds its request there. */
static struct smb2_message *chain_response(const char *name, enum smb2_body_kind kind)
{
	const struct smb2_header asked = recent(2)->message.header;
	struct smb2_message *message = response(name, kind);
	message->header.command = asked.command;
	message->header.message_id = asked.message_id;
	return message;
}

/* What stat sends and gets: open, query, close in one round trip. */
void add_chain(void)
{
	static const uint8_t file_number[8] = { 78 };
	struct smb2_message *message = request("chain: CREATE", SMB2_CREATE, SMB2_BODY_CREATE_REQ);
	message->body.create_req = (struct smb2_create_req){
		.impersonation_level = 2,
		.desired_access = 0x80,
		.share_access = 7,
		.create_disposition = 1,
		.name = utf16("odd"),
		.context_count = 1,
		.contexts = { smb2_query_context("MxAc") },
	};
	message = request("chain: QUERY_INFO", SMB2_QUERY_INFO, SMB2_BODY_QUERY_INFO_REQ);
	related(message);
	message->body.query_info_req = (struct smb2_query_info_req){
		.info_type = SMB2_O_INFO_FILE,
		.file_info_class = FILE_INTERNAL_INFORMATION,
		.output_buffer_length = 8,
		.file_id = SMB2_FILE_ID_RELATED,
	};
	message = request("chain: CLOSE", SMB2_CLOSE, SMB2_BODY_CLOSE_REQ);
	related(message);
	message->body.close_req = (struct smb2_close_req){ .flags = 1, .file_id = SMB2_FILE_ID_RELATED };

	message = chain_response("chain: CREATE answered", SMB2_BODY_CREATE_RSP);
	message->body.create_rsp = (struct smb2_create_rsp){
		.create_action = 1,
		.times = TIMES,
		.file_attributes = 0x20,
		.file_id = FILE_ID,
		.context_count = 1,
		.contexts = { smb2_maximal_access_context(0x1f01ff, take(SMB2_MAXIMAL_ACCESS_SIZE)) },
	};
	message = chain_response("chain: QUERY_INFO answered", SMB2_BODY_BUFFER_RSP);
	related(message);
	message->body.buffer_rsp.buffer = BLOB(file_number);
	message = chain_response("chain: CLOSE answered", SMB2_BODY_CLOSE_RSP);
	related(message);
	message->body.close_rsp = (struct smb2_close_rsp){
		.flags = 1,
		.times = TIMES,
		.allocation_size = 4096,
		.end_of_file = 1000,
		.file_attributes = 0x20,
	};
}

static void simple(const char *name, uint16_t command)
{
	request(name, command, SMB2_BODY_EMPTY);
	response(name, SMB2_BODY_EMPTY);
}

void add_farewell(void)
{
	struct smb2_message *message = request("FLUSH", SMB2_FLUSH, SMB2_BODY_FLUSH_REQ);
	uint64_t message_id = message->header.message_id;
	message->body.flush_req.file_id = FILE_ID;
	interim("FLUSH interim");
	message = request("CANCEL", SMB2_CANCEL, SMB2_BODY_EMPTY);
	make_async(message);
	message->header.message_id = message_id;
	message->header.credits = 0;
	message->header.credit_charge = 0;
	message = response("FLUSH", SMB2_BODY_EMPTY);
	message->header.command = SMB2_FLUSH;
	make_async(message);
	message = request("CLOSE", SMB2_CLOSE, SMB2_BODY_CLOSE_REQ);
	message->body.close_req.file_id = FILE_ID;
	message = response("CLOSE", SMB2_BODY_CLOSE_RSP);
	message->body.close_rsp.file_attributes = 0;
	simple("ECHO", SMB2_ECHO);
	simple("TREE_DISCONNECT", SMB2_TREE_DISCONNECT);
	simple("LOGOFF", SMB2_LOGOFF);
}
