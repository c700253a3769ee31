/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_SMB2_H
#define SMB_WIRE_SMB2_H

/**
 * The SMB2/3 messages as values: constants and one struct per request and response body (MS-SMB2 2.2).
 * Variable parts are views (`struct smb_blob`) into a buffer that the caller keeps alive; names are UTF-16LE bytes.
 * Fields that are offsets, sizes of structures or reserved on the wire do not appear here: encoding derives them.
 */

#include "protocol/wire/payload.h"

#include <stdbool.h>
#include <stdint.h>

enum smb2_dialect {
	SMB2_DIALECT_202 = 0x0202,
	SMB2_DIALECT_210 = 0x0210,
	SMB2_DIALECT_300 = 0x0300,
	SMB2_DIALECT_302 = 0x0302,
	SMB2_DIALECT_311 = 0x0311,
};

enum smb2_command {
	SMB2_NEGOTIATE = 0x00,
	SMB2_SESSION_SETUP = 0x01,
	SMB2_LOGOFF = 0x02,
	SMB2_TREE_CONNECT = 0x03,
	SMB2_TREE_DISCONNECT = 0x04,
	SMB2_CREATE = 0x05,
	SMB2_CLOSE = 0x06,
	SMB2_FLUSH = 0x07,
	SMB2_READ = 0x08,
	SMB2_WRITE = 0x09,
	SMB2_LOCK = 0x0a,
	SMB2_IOCTL = 0x0b,
	SMB2_CANCEL = 0x0c,
	SMB2_ECHO = 0x0d,
	SMB2_QUERY_DIRECTORY = 0x0e,
	SMB2_CHANGE_NOTIFY = 0x0f, /* named, not encoded: nothing here uses it yet */
	SMB2_QUERY_INFO = 0x10,
	SMB2_SET_INFO = 0x11,
	SMB2_OPLOCK_BREAK = 0x12,
};

/* Header flags (MS-SMB2 2.2.1). */
#define SMB2_FLAGS_SERVER_TO_REDIR 0x00000001u
#define SMB2_FLAGS_ASYNC_COMMAND 0x00000002u
#define SMB2_FLAGS_RELATED_OPERATIONS 0x00000004u
#define SMB2_FLAGS_SIGNED 0x00000008u
#define SMB2_FLAGS_REPLAY_OPERATION 0x20000000u

#define SMB2_HEADER_SIZE 64u
#define SMB2_MESSAGE_ID_UNSOLICITED UINT64_MAX /* oplock and lease breaks, MS-SMB2 2.2.23 */
#define SMB2_CREDIT_UNIT 65536u /* bytes one credit pays for, MS-SMB2 3.1.5.2 */

/* Capabilities (MS-SMB2 2.2.3, 2.2.4). */
#define SMB2_GLOBAL_CAP_DFS 0x00000001u
#define SMB2_GLOBAL_CAP_LEASING 0x00000002u
#define SMB2_GLOBAL_CAP_LARGE_MTU 0x00000004u
#define SMB2_GLOBAL_CAP_MULTI_CHANNEL 0x00000008u
#define SMB2_GLOBAL_CAP_PERSISTENT_HANDLES 0x00000010u
#define SMB2_GLOBAL_CAP_DIRECTORY_LEASING 0x00000020u
#define SMB2_GLOBAL_CAP_ENCRYPTION 0x00000040u

#define SMB2_SESSION_FLAG_BINDING 0x01u

/* NT status values that this project sends or understands (MS-ERREF 2.3.1). */
#define STATUS_SUCCESS 0x00000000u
#define STATUS_PENDING 0x00000103u
#define STATUS_BUFFER_OVERFLOW 0x80000005u
#define STATUS_NO_MORE_FILES 0x80000006u
#define STATUS_STOPPED_ON_SYMLINK 0x8000002du
#define STATUS_INVALID_INFO_CLASS 0xc0000003u
#define STATUS_INVALID_HANDLE 0xc0000008u
#define STATUS_INVALID_PARAMETER 0xc000000du
#define STATUS_NO_SUCH_FILE 0xc000000fu
#define STATUS_INVALID_DEVICE_REQUEST 0xc0000010u
#define STATUS_END_OF_FILE 0xc0000011u
#define STATUS_MORE_PROCESSING_REQUIRED 0xc0000016u
#define STATUS_ACCESS_DENIED 0xc0000022u
#define STATUS_OBJECT_NAME_INVALID 0xc0000033u
#define STATUS_OBJECT_NAME_NOT_FOUND 0xc0000034u
#define STATUS_OBJECT_NAME_COLLISION 0xc0000035u
#define STATUS_OBJECT_PATH_NOT_FOUND 0xc000003au
#define STATUS_DELETE_PENDING 0xc0000056u
#define STATUS_DISK_FULL 0xc000007fu
#define STATUS_INSUFFICIENT_RESOURCES 0xc000009au
#define STATUS_FILE_IS_A_DIRECTORY 0xc00000bau
#define STATUS_NOT_SUPPORTED 0xc00000bbu
#define STATUS_NETWORK_NAME_DELETED 0xc00000c9u
#define STATUS_BAD_NETWORK_NAME 0xc00000ccu
#define STATUS_REQUEST_NOT_ACCEPTED 0xc00000d0u
#define STATUS_INTERNAL_ERROR 0xc00000e5u
#define STATUS_UNEXPECTED_IO_ERROR 0xc00000e9u
#define STATUS_DIRECTORY_NOT_EMPTY 0xc0000101u
#define STATUS_NOT_A_DIRECTORY 0xc0000103u
#define STATUS_CANCELLED 0xc0000120u
#define STATUS_FILE_CLOSED 0xc0000128u
#define STATUS_IO_TIMEOUT 0xc00000b5u
#define STATUS_USER_SESSION_DELETED 0xc0000203u
#define STATUS_NETWORK_SESSION_EXPIRED 0xc000035cu
#define STATUS_SERVER_UNAVAILABLE 0xc0000466u
#define STATUS_FILE_NOT_AVAILABLE 0xc0000467u

/* Context, control and information codes. */
#define SMB2_PREAUTH_INTEGRITY_CAPABILITIES 0x0001u
#define SMB2_ENCRYPTION_CAPABILITIES 0x0002u
#define SMB2_COMPRESSION_CAPABILITIES 0x0003u
#define SMB2_NETNAME_NEGOTIATE_CONTEXT_ID 0x0005u
#define SMB2_SIGNING_CAPABILITIES 0x0008u
#define SMB2_POSIX_EXTENSIONS_AVAILABLE 0x0100u
#define FSCTL_VALIDATE_NEGOTIATE_INFO 0x00140204u
#define FSCTL_QUERY_NETWORK_INTERFACE_INFO 0x001401fcu
#define SMB2_O_INFO_FILE 0x01u
#define SMB2_O_INFO_FILESYSTEM 0x02u
#define SMB2_O_INFO_SECURITY 0x03u

struct smb_blob {
	const uint8_t *data; /* may be NULL when length is 0 */
	uint32_t length;
};

struct smb2_file_id {
	uint64_t persistent;
	uint64_t volatile_id;
};

/** FileId that stands for "the file of the member before" in a related chain (MS-SMB2 3.2.4.1.4). */
#define SMB2_FILE_ID_RELATED ((struct smb2_file_id){ UINT64_MAX, UINT64_MAX })

/** The header of one message (MS-SMB2 2.2.1). NextCommand is not here: the chain encoder owns it. */
struct smb2_header {
	uint16_t credit_charge;
	uint16_t channel_sequence; /* requests only; 0 before dialect 3.0 */
	uint32_t status; /* responses only */
	uint16_t command; /* enum smb2_command */
	uint16_t credits; /* CreditRequest or CreditResponse */
	uint32_t flags;
	uint64_t message_id;
	uint64_t async_id; /* meaningful with SMB2_FLAGS_ASYNC_COMMAND; then there is no tree_id on the wire */
	uint32_t process_id; /* 0xfeff by default, with tree_id */
	uint32_t tree_id;
	uint64_t session_id;
	uint8_t signature[16];
};

#define SMB2_DIALECTS_MAX 8
#define SMB2_CONTEXTS_MAX 16

/** One negotiate or create context: negotiate contexts use `type`, create contexts use `name` (4 bytes mostly). */
struct smb2_context {
	uint16_t type;
	struct smb_blob name;
	struct smb_blob data;
};

struct smb2_negotiate_req {
	uint16_t security_mode;
	uint32_t capabilities;
	uint8_t client_guid[16];
	uint16_t dialect_count;
	uint16_t dialects[SMB2_DIALECTS_MAX];
	uint16_t context_count; /* only with dialect 3.1.1 in the list */
	struct smb2_context contexts[SMB2_CONTEXTS_MAX];
};

struct smb2_negotiate_rsp {
	uint16_t security_mode;
	uint16_t dialect;
	uint8_t server_guid[16];
	uint32_t capabilities;
	uint32_t max_transact_size; /* bytes */
	uint32_t max_read_size; /* bytes */
	uint32_t max_write_size; /* bytes */
	uint64_t system_time; /* FILETIME */
	uint64_t server_start_time;
	struct smb_blob token;
	uint16_t context_count; /* dialect 3.1.1 only */
	struct smb2_context contexts[SMB2_CONTEXTS_MAX];
};

struct smb2_session_setup_req {
	uint8_t flags; /* SMB2_SESSION_FLAG_BINDING */
	uint8_t security_mode;
	uint32_t capabilities;
	uint64_t previous_session_id;
	struct smb_blob token;
};

struct smb2_session_setup_rsp {
	uint16_t session_flags;
	struct smb_blob token;
};

struct smb2_tree_connect_req {
	uint16_t flags;
	struct smb_blob path; /* UTF-16LE, \\server\share */
};

struct smb2_tree_connect_rsp {
	uint8_t share_type;
	uint32_t share_flags;
	uint32_t capabilities;
	uint32_t maximal_access;
};

struct smb2_create_req {
	uint8_t oplock_level;
	uint32_t impersonation_level;
	uint32_t desired_access;
	uint32_t file_attributes;
	uint32_t share_access;
	uint32_t create_disposition;
	uint32_t create_options;
	struct smb_blob name; /* UTF-16LE, relative to the share, no leading backslash */
	uint16_t context_count;
	struct smb2_context contexts[SMB2_CONTEXTS_MAX];
};

/** Times and sizes shared by CREATE and CLOSE responses; times are FILETIME. */
struct smb2_file_times {
	uint64_t creation_time;
	uint64_t last_access_time;
	uint64_t last_write_time;
	uint64_t change_time;
};

struct smb2_create_rsp {
	uint8_t oplock_level;
	uint8_t flags;
	uint32_t create_action;
	struct smb2_file_times times;
	uint64_t allocation_size;
	uint64_t end_of_file;
	uint32_t file_attributes;
	struct smb2_file_id file_id;
	uint16_t context_count;
	struct smb2_context contexts[SMB2_CONTEXTS_MAX];
};

struct smb2_close_req {
	uint16_t flags; /* 1 = POSTQUERY_ATTRIB */
	struct smb2_file_id file_id;
};

struct smb2_close_rsp {
	uint16_t flags;
	struct smb2_file_times times;
	uint64_t allocation_size;
	uint64_t end_of_file;
	uint32_t file_attributes;
};

struct smb2_flush_req {
	struct smb2_file_id file_id;
};

struct smb2_read_req {
	uint8_t flags;
	uint32_t length; /* bytes wanted */
	uint64_t offset;
	struct smb2_file_id file_id;
	uint32_t minimum_count;
	uint32_t channel; /* SMB2_CHANNEL_* of RDMA; 0 here */
	uint32_t remaining_bytes;
};

/** Data is in `data` when it travels in the bytes, in `payload` when it does not (exactly one is in use). */
struct smb2_read_rsp {
	uint32_t data_length;
	uint32_t data_remaining;
	struct smb_blob data;
	struct smb_slice payload;
};

struct smb2_write_req {
	uint64_t offset;
	struct smb2_file_id file_id;
	uint32_t channel;
	uint32_t remaining_bytes;
	uint32_t flags;
	uint32_t data_length;
	struct smb_blob data;
	struct smb_slice payload;
};

struct smb2_write_rsp {
	uint32_t count;
	uint32_t remaining;
};

#define SMB2_LOCKS_MAX 8
struct smb2_lock_element {
	uint64_t offset;
	uint64_t length;
	uint32_t flags;
};

struct smb2_lock_req {
	uint32_t lock_sequence;
	struct smb2_file_id file_id;
	uint16_t lock_count; /* 1 to SMB2_LOCKS_MAX */
	struct smb2_lock_element locks[SMB2_LOCKS_MAX];
};

struct smb2_ioctl_req {
	uint32_t ctl_code;
	struct smb2_file_id file_id;
	uint32_t max_input_response;
	uint32_t max_output_response;
	uint32_t flags; /* 1 = FSCTL */
	struct smb_blob input;
};

struct smb2_ioctl_rsp {
	uint32_t ctl_code;
	struct smb2_file_id file_id;
	uint32_t flags;
	struct smb_blob input;
	struct smb_blob output;
};

struct smb2_query_directory_req {
	uint8_t information_class;
	uint8_t flags;
	uint32_t file_index;
	struct smb2_file_id file_id;
	uint32_t output_buffer_length;
	struct smb_blob pattern; /* UTF-16LE */
};

struct smb2_query_info_req {
	uint8_t info_type;
	uint8_t file_info_class;
	uint32_t output_buffer_length;
	uint32_t additional_information;
	uint32_t flags;
	struct smb2_file_id file_id;
	struct smb_blob input;
};

/** QUERY_INFO and QUERY_DIRECTORY responses carry one buffer each. */
struct smb2_buffer_rsp {
	struct smb_blob buffer;
};

struct smb2_set_info_req {
	uint8_t info_type;
	uint8_t file_info_class;
	uint32_t additional_information;
	struct smb2_file_id file_id;
	struct smb_blob buffer;
};

/** Oplock break: notification, acknowledgement and response have one form (MS-SMB2 2.2.23.1, 2.2.24.1, 2.2.25.1). */
struct smb2_oplock_break {
	uint8_t oplock_level;
	struct smb2_file_id file_id;
};

/** Lease break notification (MS-SMB2 2.2.23.2). */
struct smb2_lease_break_notify {
	uint16_t new_epoch;
	uint32_t flags;
	uint8_t lease_key[16];
	uint32_t current_state;
	uint32_t new_state;
};

/** Lease break acknowledgement and its response (MS-SMB2 2.2.24.2, 2.2.25.2). */
struct smb2_lease_break_ack {
	uint32_t flags;
	uint8_t lease_key[16];
	uint32_t lease_state;
};

/** Error response, also the body of interim (STATUS_PENDING) responses (MS-SMB2 2.2.2). */
struct smb2_error_rsp {
	uint8_t context_count;
	struct smb_blob data;
};

/** Which member of smb2_message.body is in use. LOGOFF, ECHO, CANCEL, TREE_DISCONNECT, FLUSH/LOCK/SET_INFO responses
 *  have no fields: SMB2_BODY_EMPTY with the command in the header. */
enum smb2_body_kind {
	SMB2_BODY_EMPTY,
	SMB2_BODY_NEGOTIATE_REQ,
	SMB2_BODY_NEGOTIATE_RSP,
	SMB2_BODY_SESSION_SETUP_REQ,
	SMB2_BODY_SESSION_SETUP_RSP,
	SMB2_BODY_TREE_CONNECT_REQ,
	SMB2_BODY_TREE_CONNECT_RSP,
	SMB2_BODY_CREATE_REQ,
	SMB2_BODY_CREATE_RSP,
	SMB2_BODY_CLOSE_REQ,
	SMB2_BODY_CLOSE_RSP,
	SMB2_BODY_FLUSH_REQ,
	SMB2_BODY_READ_REQ,
	SMB2_BODY_READ_RSP,
	SMB2_BODY_WRITE_REQ,
	SMB2_BODY_WRITE_RSP,
	SMB2_BODY_LOCK_REQ,
	SMB2_BODY_IOCTL_REQ,
	SMB2_BODY_IOCTL_RSP,
	SMB2_BODY_QUERY_DIRECTORY_REQ,
	SMB2_BODY_QUERY_INFO_REQ,
	SMB2_BODY_BUFFER_RSP,
	SMB2_BODY_SET_INFO_REQ,
	SMB2_BODY_OPLOCK_BREAK,
	SMB2_BODY_LEASE_BREAK_NOTIFY,
	SMB2_BODY_LEASE_BREAK_ACK,
	SMB2_BODY_ERROR_RSP,
};

/** One request or response. Whether it is a response stands in header.flags (SMB2_FLAGS_SERVER_TO_REDIR). */
struct smb2_message {
	struct smb2_header header;
	enum smb2_body_kind kind;
	union {
		struct smb2_negotiate_req negotiate_req;
		struct smb2_negotiate_rsp negotiate_rsp;
		struct smb2_session_setup_req session_setup_req;
		struct smb2_session_setup_rsp session_setup_rsp;
		struct smb2_tree_connect_req tree_connect_req;
		struct smb2_tree_connect_rsp tree_connect_rsp;
		struct smb2_create_req create_req;
		struct smb2_create_rsp create_rsp;
		struct smb2_close_req close_req;
		struct smb2_close_rsp close_rsp;
		struct smb2_flush_req flush_req;
		struct smb2_read_req read_req;
		struct smb2_read_rsp read_rsp;
		struct smb2_write_req write_req;
		struct smb2_write_rsp write_rsp;
		struct smb2_lock_req lock_req;
		struct smb2_ioctl_req ioctl_req;
		struct smb2_ioctl_rsp ioctl_rsp;
		struct smb2_query_directory_req query_directory_req;
		struct smb2_query_info_req query_info_req;
		struct smb2_buffer_rsp buffer_rsp;
		struct smb2_set_info_req set_info_req;
		struct smb2_oplock_break oplock_break;
		struct smb2_lease_break_notify lease_break_notify;
		struct smb2_lease_break_ack lease_break_ack;
		struct smb2_error_rsp error_rsp;
	} body;
};

#endif
