/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_SERVER_TESTS_HARNESS_H
#define SIM_SERVER_TESTS_HARNESS_H

/**
 * A client for tests: sends any request, right or wrong, and keeps what came back.
 *
 * MessageIds are counted per connection; `next_id` may be set to send another one. Storage work is done at once unless
 * `hold_work` is set; then the tokens are kept in order.
 */

#include "sim/server/server.h"

#include <criterion/criterion.h>

#define T_REPLIES_MAX 64
#define T_CONNECTIONS 40
#define T_PDU (SMB_SERVER_PDU_MAX + 4096)

struct t_reply {
	struct smb2_message message;
	uint32_t connection;
	uint32_t members; /* of the PDU it came in */
	uint32_t pdu_bytes; /* of that PDU, file data included */
	uint8_t bytes[4096]; /* copy of the variable part: buffer, output or data */
	uint32_t length;
};

struct t {
	struct smb_server *server;
	struct smb_server_config config;
	uint64_t now_ns;
	uint64_t next_id[T_CONNECTIONS];
	uint16_t charge; /* of the next request; 0 = 1 */
	uint16_t credits; /* asked by each request */
	uint64_t session_id;
	uint32_t tree_id;
	bool hold_work;
	uint32_t works; /* held */
	uint32_t work[8192];
	uint64_t work_bytes; /* sum of all */
	uint32_t replies;
	struct t_reply reply[T_REPLIES_MAX];
	uint64_t credits_seen[T_CONNECTIONS]; /* sum of grants */
	const char *cut; /* reason */
	uint64_t wake_ns;
};

/** A started server: share "share", profile of the given policy, directory "dir" with file "dir\\inner", file "file"
 *  of 10 MiB from source 7, and "small" of 10 bytes from source 9. */
struct t *t_new(void);
struct t *t_new_with(const struct smb_server_limits *limits, const struct smb_server_profile *profile);
void t_free(struct t *t);
struct smb_server_profile t_profile(void);

/** A request of this command with MessageId, credits and ids filled in; takes the MessageId. */
struct smb2_message t_request(struct t *t, uint32_t connection, uint16_t command, enum smb2_body_kind kind);
/** Send one PDU of `count` members and drain. Returns what smb_server_receive said. */
enum smb_server_verdict t_send(struct t *t, uint32_t connection, const struct smb2_message *members, uint32_t count);
/** Send one message; the last reply. */
struct t_reply *t_ask(struct t *t, uint32_t connection, const struct smb2_message *message);
void t_drain(struct t *t);
void t_work_done(struct t *t, uint32_t index);
struct t_reply *t_last(struct t *t);
uint32_t t_status(const struct t_reply *reply);

/** UTF-16LE of an ASCII text, in a static buffer that rotates. */
struct smb_blob t_utf16(const char *text);

/* The steps of a mount. */
struct t_reply *t_negotiate(struct t *t, uint32_t connection, uint16_t dialect);
struct t_reply *t_session_setup_leg(struct t *t, uint32_t connection, uint64_t session_id, uint8_t flags);
void t_session_setup(struct t *t, uint32_t connection);
struct t_reply *t_tree_connect(struct t *t, uint32_t connection, const char *path);
/** All of it on connection 0, dialect 3.1.1, 256 credits asked. */
void t_mount(struct t *t);
void t_bind(struct t *t, uint32_t connection);

struct smb2_message t_create_request(struct t *t, const char *name, uint32_t disposition, uint32_t options);
struct t_reply *t_create(struct t *t, const char *name, uint32_t disposition, uint32_t options);
/** Open or make with all rights; the FileId. */
struct smb2_file_id t_open(struct t *t, const char *name);
struct smb2_message t_close_request(struct t *t, struct smb2_file_id id);
struct t_reply *t_close(struct t *t, struct smb2_file_id id);
struct smb2_message t_read_request(struct t *t, struct smb2_file_id id, uint64_t offset, uint32_t length);
struct t_reply *t_read(struct t *t, struct smb2_file_id id, uint64_t offset, uint32_t length);
struct smb2_message t_write_request(struct t *t, struct smb2_file_id id, uint64_t offset, struct smb_slice data);
struct t_reply *t_write(struct t *t, struct smb2_file_id id, uint64_t offset, struct smb_slice data);
struct smb2_message t_query_request(struct t *t, struct smb2_file_id id);
struct t_reply *t_query_info(struct t *t, struct smb2_file_id id, uint8_t type, uint8_t class, uint32_t room);
struct t_reply *t_set_info(struct t *t, struct smb2_file_id id, uint8_t class, const uint8_t *data, uint32_t length);

struct smb_server_connection_info t_look(const struct t *t, uint32_t connection);

#endif
