/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/smb1.h"

#include <string.h>

#define SAME(field) (a->field == b->field)
#define SAME_BLOB(field) blobs_equal(a->field, b->field)

static bool blobs_equal(struct smb_blob a, struct smb_blob b)
{
	return a.length == b.length && (!a.length || !memcmp(a.data, b.data, a.length));
}

static bool slices_equal(struct smb_slice a, struct smb_slice b)
{
	return a.length == b.length && (!a.length || (a.source == b.source && a.offset == b.offset));
}

static bool headers_equal(const struct smb1_header *a, const struct smb1_header *b)
{
	return SAME(command) && SAME(status) && SAME(flags) && SAME(flags2) && SAME(pid) && SAME(tid) && SAME(uid) &&
	       SAME(mid) && !memcmp(a->signature, b->signature, sizeof(a->signature));
}

static bool negotiate_rsp_equal(const struct smb1_negotiate_rsp *a, const struct smb1_negotiate_rsp *b)
{
	if (a->dialect_index == SMB1_NO_DIALECT)
		return SAME(dialect_index);
	return SAME(dialect_index) && SAME(security_mode) && SAME(max_mpx_count) && SAME(max_vcs) &&
	       SAME(max_buffer_size) && SAME(max_raw_size) && SAME(session_key) && SAME(capabilities) &&
	       SAME(system_time) && SAME(time_zone) && !memcmp(a->server_guid, b->server_guid, 16) && SAME_BLOB(token);
}

static bool session_setup_req_equal(const struct smb1_session_setup_req *a, const struct smb1_session_setup_req *b)
{
	return SAME(max_buffer_size) && SAME(max_mpx_count) && SAME(vc_number) && SAME(session_key) &&
	       SAME(capabilities) && SAME_BLOB(token) && SAME_BLOB(names);
}

static bool session_setup_rsp_equal(const struct smb1_session_setup_rsp *a, const struct smb1_session_setup_rsp *b)
{
	return SAME(action) && SAME_BLOB(token) && SAME_BLOB(names);
}

static bool tree_connect_req_equal(const struct smb1_tree_connect_req *a, const struct smb1_tree_connect_req *b)
{
	return SAME(flags) && SAME_BLOB(password) && SAME_BLOB(path) && SAME_BLOB(service);
}

static bool tree_connect_rsp_equal(const struct smb1_tree_connect_rsp *a, const struct smb1_tree_connect_rsp *b)
{
	if (!SAME(optional_support) || !SAME(has_access) || !SAME_BLOB(service) || !SAME_BLOB(file_system))
		return false;
	return !a->has_access || (SAME(maximal_access) && SAME(guest_access));
}

static bool create_req_equal(const struct smb1_create_req *a, const struct smb1_create_req *b)
{
	return SAME(flags) && SAME(root_fid) && SAME(desired_access) && SAME(allocation_size) &&
	       SAME(file_attributes) && SAME(share_access) && SAME(create_disposition) && SAME(create_options) &&
	       SAME(impersonation_level) && SAME(security_flags) && SAME_BLOB(name);
}

static bool create_rsp_equal(const struct smb1_create_rsp *a, const struct smb1_create_rsp *b)
{
	return SAME(oplock_level) && SAME(fid) && SAME(create_action) && SAME(times.creation_time) &&
	       SAME(times.last_access_time) && SAME(times.last_write_time) && SAME(times.change_time) &&
	       SAME(file_attributes) && SAME(allocation_size) && SAME(end_of_file) && SAME(resource_type) &&
	       SAME(pipe_status) && SAME(is_directory);
}

static bool read_req_equal(const struct smb1_read_req *a, const struct smb1_read_req *b)
{
	return SAME(fid) && SAME(offset) && SAME(length) && SAME(min_count) && SAME(remaining);
}

static bool read_rsp_equal(const struct smb1_read_rsp *a, const struct smb1_read_rsp *b)
{
	return SAME(available) && SAME(data_length) && SAME_BLOB(data) && slices_equal(a->payload, b->payload);
}

static bool write_req_equal(const struct smb1_write_req *a, const struct smb1_write_req *b)
{
	return SAME(fid) && SAME(offset) && SAME(write_mode) && SAME(remaining) && SAME(data_length) &&
	       SAME_BLOB(data) && slices_equal(a->payload, b->payload);
}

static bool write_rsp_equal(const struct smb1_write_rsp *a, const struct smb1_write_rsp *b)
{
	return SAME(count) && SAME(available);
}

static bool trans2_req_equal(const struct smb1_trans2_req *a, const struct smb1_trans2_req *b)
{
	return SAME(subcommand) && SAME(max_parameter_count) && SAME(max_data_count) && SAME_BLOB(parameters) &&
	       SAME_BLOB(data);
}

static bool bodies_equal(const struct smb1_message *a, const struct smb1_message *b)
{
	switch (a->kind) {
	case SMB1_BODY_NEGOTIATE_REQ:
		return SAME_BLOB(body.negotiate_req.dialects);
	case SMB1_BODY_NEGOTIATE_RSP:
		return negotiate_rsp_equal(&a->body.negotiate_rsp, &b->body.negotiate_rsp);
	case SMB1_BODY_SESSION_SETUP_REQ:
		return session_setup_req_equal(&a->body.session_setup_req, &b->body.session_setup_req);
	case SMB1_BODY_SESSION_SETUP_RSP:
		return session_setup_rsp_equal(&a->body.session_setup_rsp, &b->body.session_setup_rsp);
	case SMB1_BODY_TREE_CONNECT_REQ:
		return tree_connect_req_equal(&a->body.tree_connect_req, &b->body.tree_connect_req);
	case SMB1_BODY_TREE_CONNECT_RSP:
		return tree_connect_rsp_equal(&a->body.tree_connect_rsp, &b->body.tree_connect_rsp);
	case SMB1_BODY_CREATE_REQ:
		return create_req_equal(&a->body.create_req, &b->body.create_req);
	case SMB1_BODY_CREATE_RSP:
		return create_rsp_equal(&a->body.create_rsp, &b->body.create_rsp);
	case SMB1_BODY_READ_REQ:
		return read_req_equal(&a->body.read_req, &b->body.read_req);
	case SMB1_BODY_READ_RSP:
		return read_rsp_equal(&a->body.read_rsp, &b->body.read_rsp);
	case SMB1_BODY_WRITE_REQ:
		return write_req_equal(&a->body.write_req, &b->body.write_req);
	case SMB1_BODY_WRITE_RSP:
		return write_rsp_equal(&a->body.write_rsp, &b->body.write_rsp);
	case SMB1_BODY_CLOSE_REQ:
		return SAME(body.close_req.fid) && SAME(body.close_req.last_write_time);
	case SMB1_BODY_FLUSH_REQ:
		return SAME(body.flush_req.fid);
	case SMB1_BODY_ECHO:
		return SAME(body.echo.count) && SAME_BLOB(body.echo.data);
	case SMB1_BODY_TRANS2_REQ:
		return trans2_req_equal(&a->body.trans2_req, &b->body.trans2_req);
	case SMB1_BODY_TRANS2_RSP:
		return SAME_BLOB(body.trans2_rsp.parameters) && SAME_BLOB(body.trans2_rsp.data);
	case SMB1_BODY_EMPTY:
	case SMB1_BODY_KINDS:
		break;
	}
	return true;
}

bool smb1_message_equal(const struct smb1_message *a, const struct smb1_message *b)
{
	return headers_equal(&a->header, &b->header) && SAME(kind) && bodies_equal(a, b);
}
