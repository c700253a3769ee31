/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/message.h"

#include <string.h>

#define SAME(field) (a->field == b->field)
#define SAME_ARRAY(field) (!memcmp(a->field, b->field, sizeof(a->field)))
#define SAME_BLOB(field) blobs_equal(a->field, b->field)
#define SAME_ID(field) (SAME(field.persistent) && SAME(field.volatile_id))
#define SAME_CONTEXTS() (SAME(context_count) && contexts_equal(a->contexts, b->contexts, a->context_count))

static bool blobs_equal(struct smb_blob a, struct smb_blob b)
{
	return a.length == b.length && (!a.length || !memcmp(a.data, b.data, a.length));
}

static bool slices_equal(struct smb_slice a, struct smb_slice b)
{
	return a.length == b.length && (!a.length || (a.source == b.source && a.offset == b.offset));
}

static bool contexts_equal(const struct smb2_context *a, const struct smb2_context *b, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		if (a[i].type != b[i].type || !blobs_equal(a[i].name, b[i].name) || !blobs_equal(a[i].data, b[i].data))
			return false;
	}
	return true;
}

static bool times_equal(const struct smb2_file_times *a, const struct smb2_file_times *b)
{
	return SAME(creation_time) && SAME(last_access_time) && SAME(last_write_time) && SAME(change_time);
}

/* What does not travel in this kind of message (status of a request, tree of an asynchronous one) is not compared. */
static bool headers_equal(const struct smb2_header *a, const struct smb2_header *b)
{
	if (!SAME(credit_charge) || !SAME(command) || !SAME(credits) || !SAME(flags) || !SAME(message_id) ||
	    !SAME(session_id) || !SAME_ARRAY(signature))
		return false;
	if (a->flags & SMB2_FLAGS_SERVER_TO_REDIR ? !SAME(status) : !SAME(channel_sequence))
		return false;
	if (a->flags & SMB2_FLAGS_ASYNC_COMMAND)
		return SAME(async_id);
	return SAME(process_id) && SAME(tree_id);
}

static bool negotiate_req_equal(const struct smb2_negotiate_req *a, const struct smb2_negotiate_req *b)
{
	return SAME(security_mode) && SAME(capabilities) && SAME_ARRAY(client_guid) && SAME(dialect_count) &&
	       !memcmp(a->dialects, b->dialects, a->dialect_count * sizeof(a->dialects[0])) && SAME_CONTEXTS();
}

static bool negotiate_rsp_equal(const struct smb2_negotiate_rsp *a, const struct smb2_negotiate_rsp *b)
{
	return SAME(security_mode) && SAME(dialect) && SAME_ARRAY(server_guid) && SAME(capabilities) &&
	       SAME(max_transact_size) && SAME(max_read_size) && SAME(max_write_size) && SAME(system_time) &&
	       SAME(server_start_time) && SAME_BLOB(token) && SAME_CONTEXTS();
}

static bool session_setup_req_equal(const struct smb2_session_setup_req *a, const struct smb2_session_setup_req *b)
{
	return SAME(flags) && SAME(security_mode) && SAME(capabilities) && SAME(previous_session_id) &&
	       SAME_BLOB(token);
}

static bool session_setup_rsp_equal(const struct smb2_session_setup_rsp *a, const struct smb2_session_setup_rsp *b)
{
	return SAME(session_flags) && SAME_BLOB(token);
}

static bool tree_connect_req_equal(const struct smb2_tree_connect_req *a, const struct smb2_tree_connect_req *b)
{
	return SAME(flags) && SAME_BLOB(path);
}

static bool tree_connect_rsp_equal(const struct smb2_tree_connect_rsp *a, const struct smb2_tree_connect_rsp *b)
{
	return SAME(share_type) && SAME(share_flags) && SAME(capabilities) && SAME(maximal_access);
}

static bool create_req_equal(const struct smb2_create_req *a, const struct smb2_create_req *b)
{
	return SAME(oplock_level) && SAME(impersonation_level) && SAME(desired_access) && SAME(file_attributes) &&
	       SAME(share_access) && SAME(create_disposition) && SAME(create_options) && SAME_BLOB(name) &&
	       SAME_CONTEXTS();
}

static bool create_rsp_equal(const struct smb2_create_rsp *a, const struct smb2_create_rsp *b)
{
	return SAME(oplock_level) && SAME(flags) && SAME(create_action) && times_equal(&a->times, &b->times) &&
	       SAME(allocation_size) && SAME(end_of_file) && SAME(file_attributes) && SAME_ID(file_id) &&
	       SAME_CONTEXTS();
}

static bool close_req_equal(const struct smb2_close_req *a, const struct smb2_close_req *b)
{
	return SAME(flags) && SAME_ID(file_id);
}

static bool close_rsp_equal(const struct smb2_close_rsp *a, const struct smb2_close_rsp *b)
{
	return SAME(flags) && times_equal(&a->times, &b->times) && SAME(allocation_size) && SAME(end_of_file) &&
	       SAME(file_attributes);
}

static bool flush_req_equal(const struct smb2_flush_req *a, const struct smb2_flush_req *b)
{
	return SAME_ID(file_id);
}

static bool read_req_equal(const struct smb2_read_req *a, const struct smb2_read_req *b)
{
	return SAME(flags) && SAME(length) && SAME(offset) && SAME_ID(file_id) && SAME(minimum_count) &&
	       SAME(channel) && SAME(remaining_bytes);
}

static bool read_rsp_equal(const struct smb2_read_rsp *a, const struct smb2_read_rsp *b)
{
	return SAME(data_length) && SAME(data_remaining) && SAME_BLOB(data) && slices_equal(a->payload, b->payload);
}

static bool write_req_equal(const struct smb2_write_req *a, const struct smb2_write_req *b)
{
	return SAME(offset) && SAME_ID(file_id) && SAME(channel) && SAME(remaining_bytes) && SAME(flags) &&
	       SAME(data_length) && SAME_BLOB(data) && slices_equal(a->payload, b->payload);
}

static bool write_rsp_equal(const struct smb2_write_rsp *a, const struct smb2_write_rsp *b)
{
	return SAME(count) && SAME(remaining);
}

static bool lock_req_equal(const struct smb2_lock_req *a, const struct smb2_lock_req *b)
{
	if (!SAME(lock_sequence) || !SAME_ID(file_id) || !SAME(lock_count))
		return false;
	for (uint16_t i = 0; i < a->lock_count; i++) {
		if (!SAME(locks[i].offset) || !SAME(locks[i].length) || !SAME(locks[i].flags))
			return false;
	}
	return true;
}

static bool ioctl_req_equal(const struct smb2_ioctl_req *a, const struct smb2_ioctl_req *b)
{
	return SAME(ctl_code) && SAME_ID(file_id) && SAME(max_input_response) && SAME(max_output_response) &&
	       SAME(flags) && SAME_BLOB(input);
}

static bool ioctl_rsp_equal(const struct smb2_ioctl_rsp *a, const struct smb2_ioctl_rsp *b)
{
	return SAME(ctl_code) && SAME_ID(file_id) && SAME(flags) && SAME_BLOB(input) && SAME_BLOB(output);
}

static bool query_directory_req_equal(const struct smb2_query_directory_req *a,
				      const struct smb2_query_directory_req *b)
{
	return SAME(information_class) && SAME(flags) && SAME(file_index) && SAME_ID(file_id) &&
	       SAME(output_buffer_length) && SAME_BLOB(pattern);
}

static bool query_info_req_equal(const struct smb2_query_info_req *a, const struct smb2_query_info_req *b)
{
	return SAME(info_type) && SAME(file_info_class) && SAME(output_buffer_length) && SAME(additional_information) &&
	       SAME(flags) && SAME_ID(file_id) && SAME_BLOB(input);
}

static bool buffer_rsp_equal(const struct smb2_buffer_rsp *a, const struct smb2_buffer_rsp *b)
{
	return SAME_BLOB(buffer);
}

static bool set_info_req_equal(const struct smb2_set_info_req *a, const struct smb2_set_info_req *b)
{
	return SAME(info_type) && SAME(file_info_class) && SAME(additional_information) && SAME_ID(file_id) &&
	       SAME_BLOB(buffer);
}

static bool oplock_break_equal(const struct smb2_oplock_break *a, const struct smb2_oplock_break *b)
{
	return SAME(oplock_level) && SAME_ID(file_id);
}

static bool lease_break_notify_equal(const struct smb2_lease_break_notify *a, const struct smb2_lease_break_notify *b)
{
	return SAME(new_epoch) && SAME(flags) && SAME_ARRAY(lease_key) && SAME(current_state) && SAME(new_state);
}

static bool lease_break_ack_equal(const struct smb2_lease_break_ack *a, const struct smb2_lease_break_ack *b)
{
	return SAME(flags) && SAME_ARRAY(lease_key) && SAME(lease_state);
}

static bool error_rsp_equal(const struct smb2_error_rsp *a, const struct smb2_error_rsp *b)
{
	return SAME(context_count) && SAME_BLOB(data);
}

#define CASE(kind_name, member)                                                                                        \
	case SMB2_BODY_##kind_name:                                                                                    \
		return member##_equal(&a->body.member, &b->body.member)

bool smb2_message_equal(const struct smb2_message *a, const struct smb2_message *b)
{
	if (!headers_equal(&a->header, &b->header) || !SAME(kind))
		return false;
	switch (a->kind) {
	case SMB2_BODY_EMPTY:
		return true;
		CASE(NEGOTIATE_REQ, negotiate_req);
		CASE(NEGOTIATE_RSP, negotiate_rsp);
		CASE(SESSION_SETUP_REQ, session_setup_req);
		CASE(SESSION_SETUP_RSP, session_setup_rsp);
		CASE(TREE_CONNECT_REQ, tree_connect_req);
		CASE(TREE_CONNECT_RSP, tree_connect_rsp);
		CASE(CREATE_REQ, create_req);
		CASE(CREATE_RSP, create_rsp);
		CASE(CLOSE_REQ, close_req);
		CASE(CLOSE_RSP, close_rsp);
		CASE(FLUSH_REQ, flush_req);
		CASE(READ_REQ, read_req);
		CASE(READ_RSP, read_rsp);
		CASE(WRITE_REQ, write_req);
		CASE(WRITE_RSP, write_rsp);
		CASE(LOCK_REQ, lock_req);
		CASE(IOCTL_REQ, ioctl_req);
		CASE(IOCTL_RSP, ioctl_rsp);
		CASE(QUERY_DIRECTORY_REQ, query_directory_req);
		CASE(QUERY_INFO_REQ, query_info_req);
		CASE(BUFFER_RSP, buffer_rsp);
		CASE(SET_INFO_REQ, set_info_req);
		CASE(OPLOCK_BREAK, oplock_break);
		CASE(LEASE_BREAK_NOTIFY, lease_break_notify);
		CASE(LEASE_BREAK_ACK, lease_break_ack);
		CASE(ERROR_RSP, error_rsp);
	}
	return false;
}
