/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_SMB1_H
#define SMB_WIRE_SMB1_H

/**
 * The SMB1 messages that a client needs to read and write files: dialect "NT LM 0.12" with extended security and
 * Unicode (MS-CIFS 2.2, MS-SMB 2.2). Values and verdicts as for SMB2: variable parts are views into a buffer that the
 * caller keeps alive, names are UTF-16LE bytes without terminator, offsets and counts are derived on encoding.
 *
 * Left out: AndX chains (cifs sends none for these commands; decoding one is BAD_VALUE), transactions in fragments,
 * challenge/response logon inside NEGOTIATE, ASCII names.
 */

#include "protocol/wire/message.h"

/** What SMB_VERS_1 of the mount options is on the inside: below every SMB2 dialect. */
#define SMB1_DIALECT 0x0100
#define SMB1_DIALECT_NAME "NT LM 0.12"

enum smb1_command {
	SMB1_CLOSE = 0x04,
	SMB1_FLUSH = 0x05,
	SMB1_ECHO = 0x2b,
	SMB1_READ_ANDX = 0x2e,
	SMB1_WRITE_ANDX = 0x2f,
	SMB1_TRANSACTION2 = 0x32,
	SMB1_TREE_DISCONNECT = 0x71,
	SMB1_NEGOTIATE = 0x72,
	SMB1_SESSION_SETUP_ANDX = 0x73,
	SMB1_LOGOFF_ANDX = 0x74,
	SMB1_TREE_CONNECT_ANDX = 0x75,
	SMB1_NT_CREATE_ANDX = 0xa2,
};

#define SMB1_HEADER_SIZE 32u

/* Header flags (MS-CIFS 2.2.3.1). */
#define SMB1_FLAGS_CASE_INSENSITIVE 0x08u
#define SMB1_FLAGS_CANONICALIZED 0x10u
#define SMB1_FLAGS_REPLY 0x80u
#define SMB1_FLAGS2_LONG_NAMES 0x0001u
#define SMB1_FLAGS2_EXTENDED_SECURITY 0x0800u
#define SMB1_FLAGS2_NT_STATUS 0x4000u
#define SMB1_FLAGS2_UNICODE 0x8000u

/* Capabilities (MS-CIFS 2.2.4.52.2, MS-SMB 2.2.4.5.2.1). */
#define SMB1_CAP_UNICODE 0x00000004u
#define SMB1_CAP_LARGE_FILES 0x00000008u
#define SMB1_CAP_NT_SMBS 0x00000010u
#define SMB1_CAP_STATUS32 0x00000040u
#define SMB1_CAP_LEVEL_II_OPLOCKS 0x00000080u
#define SMB1_CAP_NT_FIND 0x00000200u
#define SMB1_CAP_LARGE_READ_X 0x00004000u
#define SMB1_CAP_LARGE_WRITE_X 0x00008000u
#define SMB1_CAP_UNIX 0x00800000u
#define SMB1_CAP_EXTENDED_SECURITY 0x80000000u

/* TRANSACTION2 subcommands and information levels (MS-CIFS 2.2.6; the Unix ones: the CIFS Unix extensions). */
#define SMB1_TRANS2_QUERY_FS_INFORMATION 0x0003u
#define SMB1_TRANS2_SET_FS_INFORMATION 0x0004u
#define SMB1_TRANS2_QUERY_PATH_INFORMATION 0x0005u
#define SMB1_QUERY_FS_DEVICE 0x0104u
#define SMB1_QUERY_FS_ATTRIBUTE 0x0105u
#define SMB1_QUERY_FILE_ALL 0x0107u
#define SMB1_FS_UNIX_INFO 0x0200u /* QUERY: version and capabilities; SET: those that the client will use */

/* Capabilities of the Unix extensions that matter for data (cifs 6.1, cifspdu.h). */
#define SMB1_UNIX_LARGE_READ 0x00000040u /* READ_ANDX of more than 64 KiB */
#define SMB1_UNIX_LARGE_WRITE 0x00000080u /* WRITE_ANDX of more than 128 KiB */

#define SMB1_NO_DIALECT 0xffffu /* negotiate_rsp.dialect_index: none of those offered */

/** The header (MS-CIFS 2.2.3.1). Requests are told from responses by SMB1_FLAGS_REPLY. */
struct smb1_header {
	uint8_t command; /* enum smb1_command */
	uint32_t status; /* NT status, responses only */
	uint8_t flags;
	uint16_t flags2;
	uint32_t pid; /* PIDHigh and PIDLow */
	uint8_t signature[8];
	uint16_t tid;
	uint16_t uid;
	uint16_t mid;
};

struct smb1_negotiate_req {
	struct smb_blob dialects; /* as on the wire: for each a byte 2 and a name that ends with 0 */
};

struct smb1_negotiate_rsp {
	uint16_t dialect_index; /* SMB1_NO_DIALECT: then nothing else counts */
	uint8_t security_mode;
	uint16_t max_mpx_count; /* requests that may be outstanding */
	uint16_t max_vcs;
	uint32_t max_buffer_size; /* bytes */
	uint32_t max_raw_size; /* bytes */
	uint32_t session_key;
	uint32_t capabilities; /* with SMB1_CAP_EXTENDED_SECURITY */
	uint64_t system_time; /* FILETIME */
	int16_t time_zone; /* minutes from UTC */
	uint8_t server_guid[16];
	struct smb_blob token;
};

struct smb1_session_setup_req {
	uint16_t max_buffer_size;
	uint16_t max_mpx_count;
	uint16_t vc_number;
	uint32_t session_key;
	uint32_t capabilities;
	struct smb_blob token;
	struct smb_blob names; /* NativeOS and NativeLanMan, UTF-16LE with their terminators */
};

struct smb1_session_setup_rsp {
	uint16_t action; /* 1 = guest */
	struct smb_blob token;
	struct smb_blob names;
};

struct smb1_tree_connect_req {
	uint16_t flags;
	struct smb_blob password; /* one zero byte with user level security */
	struct smb_blob path; /* UTF-16LE, \\server\share */
	struct smb_blob service; /* ASCII, "?????" = any */
};

struct smb1_tree_connect_rsp {
	uint16_t optional_support;
	bool has_access; /* asked for with flags 8: the two access masks are there (MS-SMB 2.2.4.7.2) */
	uint32_t maximal_access;
	uint32_t guest_access;
	struct smb_blob service; /* ASCII: "A:", "IPC" */
	struct smb_blob file_system; /* UTF-16LE, may be empty */
};

struct smb1_create_req {
	uint32_t flags; /* 2 and 4: ask for an exclusive and a batch oplock */
	uint32_t root_fid;
	uint32_t desired_access;
	uint64_t allocation_size;
	uint32_t file_attributes;
	uint32_t share_access;
	uint32_t create_disposition;
	uint32_t create_options;
	uint32_t impersonation_level;
	uint8_t security_flags;
	struct smb_blob name; /* UTF-16LE, \path */
};

struct smb1_create_rsp {
	uint8_t oplock_level;
	uint16_t fid;
	uint32_t create_action;
	struct smb2_file_times times;
	uint32_t file_attributes;
	uint64_t allocation_size;
	uint64_t end_of_file;
	uint16_t resource_type;
	uint16_t pipe_status;
	uint8_t is_directory;
};

struct smb1_read_req {
	uint16_t fid;
	uint64_t offset;
	uint32_t length; /* MaxCount with MaxCountHigh (MS-SMB 2.2.4.2.1) */
	uint16_t min_count;
	uint16_t remaining;
};

/** Data is in `data` when it travels in the bytes, in `payload` when it does not (exactly one is in use). */
struct smb1_read_rsp {
	uint16_t available;
	uint32_t data_length;
	struct smb_blob data;
	struct smb_slice payload;
};

struct smb1_write_req {
	uint16_t fid;
	uint64_t offset;
	uint16_t write_mode;
	uint16_t remaining;
	uint32_t data_length; /* DataLength with DataLengthHigh (MS-SMB 2.2.4.3.1) */
	struct smb_blob data;
	struct smb_slice payload;
};

struct smb1_write_rsp {
	uint32_t count; /* with CountHigh (MS-SMB 2.2.4.3.2) */
	uint16_t available;
};

struct smb1_close_req {
	uint16_t fid;
	uint32_t last_write_time; /* 0xffffffff: leave it to the server */
};

struct smb1_flush_req {
	uint16_t fid;
};

/** ECHO: request (EchoCount) and response (SequenceNumber) have one form. */
struct smb1_echo {
	uint16_t count;
	struct smb_blob data;
};

struct smb1_trans2_req {
	uint16_t subcommand;
	uint16_t max_parameter_count;
	uint16_t max_data_count;
	struct smb_blob parameters;
	struct smb_blob data;
};

struct smb1_trans2_rsp {
	struct smb_blob parameters;
	struct smb_blob data;
};

/** SMB1_BODY_EMPTY: TREE_DISCONNECT and LOGOFF_ANDX, CLOSE and FLUSH responses, every response with an error. */
enum smb1_body_kind {
	SMB1_BODY_EMPTY,
	SMB1_BODY_NEGOTIATE_REQ,
	SMB1_BODY_NEGOTIATE_RSP,
	SMB1_BODY_SESSION_SETUP_REQ,
	SMB1_BODY_SESSION_SETUP_RSP,
	SMB1_BODY_TREE_CONNECT_REQ,
	SMB1_BODY_TREE_CONNECT_RSP,
	SMB1_BODY_CREATE_REQ,
	SMB1_BODY_CREATE_RSP,
	SMB1_BODY_READ_REQ,
	SMB1_BODY_READ_RSP,
	SMB1_BODY_WRITE_REQ,
	SMB1_BODY_WRITE_RSP,
	SMB1_BODY_CLOSE_REQ,
	SMB1_BODY_FLUSH_REQ,
	SMB1_BODY_ECHO,
	SMB1_BODY_TRANS2_REQ,
	SMB1_BODY_TRANS2_RSP,
	SMB1_BODY_KINDS,
};

struct smb1_message {
	struct smb1_header header;
	enum smb1_body_kind kind;
	union {
		struct smb1_negotiate_req negotiate_req;
		struct smb1_negotiate_rsp negotiate_rsp;
		struct smb1_session_setup_req session_setup_req;
		struct smb1_session_setup_rsp session_setup_rsp;
		struct smb1_tree_connect_req tree_connect_req;
		struct smb1_tree_connect_rsp tree_connect_rsp;
		struct smb1_create_req create_req;
		struct smb1_create_rsp create_rsp;
		struct smb1_read_req read_req;
		struct smb1_read_rsp read_rsp;
		struct smb1_write_req write_req;
		struct smb1_write_rsp write_rsp;
		struct smb1_close_req close_req;
		struct smb1_flush_req flush_req;
		struct smb1_echo echo;
		struct smb1_trans2_req trans2_req;
		struct smb1_trans2_rsp trans2_rsp;
	} body;
};

/** "READ_ANDX"; "UNKNOWN" for commands that are not encoded here. */
const char *smb1_command_name(uint8_t command);

/** True for bytes that begin as SMB1 does (FF 'S' 'M' 'B'), whatever follows. */
bool smb1_is_pdu(const struct smb_pdu *pdu);

/** The header alone: OK, TRUNCATED or BAD_PROTOCOL_ID. */
enum smb_wire_verdict smb1_header_decode(const struct smb_pdu *pdu, struct smb1_header *header);

/** One message as a PDU. OK, or NO_SPACE, BAD_VALUE (kind does not fit command and direction, or a part does not fit
 *  its length field), BAD_PAYLOAD, UNKNOWN_COMMAND. */
enum smb_wire_verdict smb1_message_encode(const struct smb1_message *message, uint8_t *buffer, uint32_t size,
					  struct smb_pdu *pdu);
/** OK, or BAD_PROTOCOL_ID, TRUNCATED, BAD_STRUCTURE_SIZE (WordCount), BAD_OFFSET, BAD_VALUE, BAD_PAYLOAD,
 *  UNKNOWN_COMMAND. Never reads outside pdu->bytes[0..length). */
enum smb_wire_verdict smb1_message_decode(const struct smb_pdu *pdu, struct smb1_message *message);
/** As smb2_message_equal. */
bool smb1_message_equal(const struct smb1_message *a, const struct smb1_message *b);

/** Where `name` stands among the dialects of a NEGOTIATE request, from 0; SMB1_NO_DIALECT when it does not. */
uint16_t smb1_dialect_index(struct smb_blob dialects, const char *name);

#endif
