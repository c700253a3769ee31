/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/tests/samples_build.h"

static struct smb2_create_req plain_open(const char *name)
{
	return (struct smb2_create_req){
		.impersonation_level = 2,
		.desired_access = 0x120089,
		.share_access = 7,
		.create_disposition = 1,
		.create_options = 0x40,
		.name = utf16(name),
	};
}

static struct smb2_create_rsp opened(void)
{
	return (struct smb2_create_rsp){
		.create_action = 1,
		.times = TIMES,
		.allocation_size = 1 << 20,
		.end_of_file = 1000000,
		.file_attributes = 0x20,
		.file_id = FILE_ID,
	};
}

static void create_with_lease(const char *name, bool is_v2)
{
	struct smb2_lease lease = { .is_v2 = is_v2, .key = "a lease key", .state = 7, .epoch = is_v2 ? 2 : 0 };
	struct smb2_durable_v2 durable = { .timeout_ms = 60000, .create_guid = "a create guid" };
	struct smb2_message *message = request(name, SMB2_CREATE, SMB2_BODY_CREATE_REQ);
	struct smb2_create_req *req = &message->body.create_req;
	*req = plain_open("dir\\file");
	req->oplock_level = SMB2_OPLOCK_LEVEL_LEASE;
	req->contexts[req->context_count++] = smb2_lease_context(&lease, take(SMB2_LEASE_V2_SIZE));
	req->contexts[req->context_count++] = smb2_durable_v2_context(&durable, take(SMB2_DURABLE_V2_SIZE));
	req->contexts[req->context_count++] = smb2_query_context("MxAc");
	req->contexts[req->context_count++] = smb2_query_context("QFid");

	message = response(name, SMB2_BODY_CREATE_RSP);
	struct smb2_create_rsp *rsp = &message->body.create_rsp;
	*rsp = opened();
	rsp->oplock_level = SMB2_OPLOCK_LEVEL_LEASE;
	rsp->contexts[rsp->context_count++] = smb2_maximal_access_context(0x1f01ff, take(SMB2_MAXIMAL_ACCESS_SIZE));
	rsp->contexts[rsp->context_count++] = smb2_disk_id_context(77, 5, take(SMB2_DISK_ID_SIZE));
	rsp->contexts[rsp->context_count++] = smb2_lease_context(&lease, take(SMB2_LEASE_V2_SIZE));
}

void add_create(void)
{
	struct smb2_message *message = request("CREATE of the root", SMB2_CREATE, SMB2_BODY_CREATE_REQ);
	message->body.create_req = plain_open("");
	message = response("CREATE without contexts", SMB2_BODY_CREATE_RSP);
	message->body.create_rsp = opened();
	create_with_lease("CREATE with lease v1", false);
	create_with_lease("CREATE with lease v2", true);
	message = request("CREATE of a missing file", SMB2_CREATE, SMB2_BODY_CREATE_REQ);
	message->body.create_req = plain_open("missing");
	error("OBJECT_NAME_NOT_FOUND", STATUS_OBJECT_NAME_NOT_FOUND);
}

static struct smb2_message *read_request(const char *name, uint32_t length, uint64_t offset)
{
	struct smb2_message *message = request(name, SMB2_READ, SMB2_BODY_READ_REQ);
	message->header.credit_charge = smb2_credit_charge(0, length);
	message->header.credits = message->header.credit_charge + 8;
	message->body.read_req = (struct smb2_read_req){
		.length = length,
		.offset = offset,
		.file_id = FILE_ID,
		.minimum_count = 1,
		.remaining_bytes = 5,
	};
	return message;
}

void add_read(void)
{
	static const uint8_t data[13] = "hello, world";
	uint64_t message_id = read_request("READ", 4 << 20, UINT64_C(5) << 32)->header.message_id;
	interim("READ interim");
	struct smb2_message *message = response("READ data inline", SMB2_BODY_READ_RSP);
	make_async(message);
	message->header.message_id = message_id;
	message->body.read_rsp = (struct smb2_read_rsp){ .data_length = 13, .data_remaining = 2, .data = BLOB(data) };
	read_request("READ of 100 bytes", 100, 4096);
	message = response("READ data beside", SMB2_BODY_READ_RSP);
	message->body.read_rsp = (struct smb2_read_rsp){
		.data_length = 100,
		.payload = { .source = 9, .offset = 4096, .length = 100 },
	};
	read_request("READ of nothing", 0, 0);
	response("READ no data", SMB2_BODY_READ_RSP);
	read_request("READ past the end", 65536, UINT64_C(1) << 40);
	error("END_OF_FILE", STATUS_END_OF_FILE);
}

static struct smb2_message *write_request(const char *name, uint32_t length)
{
	struct smb2_message *message = request(name, SMB2_WRITE, SMB2_BODY_WRITE_REQ);
	message->header.credit_charge = smb2_credit_charge(length, 0);
	message->body.write_req = (struct smb2_write_req){
		.offset = UINT64_C(3) << 33,
		.file_id = FILE_ID,
		.remaining_bytes = 0,
		.flags = 1,
		.data_length = length,
	};
	return message;
}

static void write_response(const char *name, uint32_t length)
{
	struct smb2_message *message = response(name, SMB2_BODY_WRITE_RSP);
	message->body.write_rsp = (struct smb2_write_rsp){ .count = length, .remaining = 0 };
}

void add_write(void)
{
	static const uint8_t data[5] = { 'b', 'y', 't', 'e', 's' };
	write_request("WRITE data inline", 5)->body.write_req.data = BLOB(data);
	write_response("WRITE 5", 5);
	write_request("WRITE data beside", 200)->body.write_req.payload = (struct smb_slice){ 11, 1, 200 };
	write_response("WRITE 200", 200);
	write_request("WRITE no data", 0);
	write_response("WRITE 0", 0);
}

void add_lock(void)
{
	struct smb2_message *message = request("LOCK one", SMB2_LOCK, SMB2_BODY_LOCK_REQ);
	message->body.lock_req = (struct smb2_lock_req){
		.file_id = FILE_ID,
		.lock_count = 1,
		.locks = { { 1, 2, 1 } },
	};
	response("LOCK", SMB2_BODY_EMPTY);
	message = request("LOCK three", SMB2_LOCK, SMB2_BODY_LOCK_REQ);
	message->body.lock_req = (struct smb2_lock_req){
		.lock_sequence = 0x12,
		.file_id = FILE_ID,
		.lock_count = 3,
		.locks = { { 1, 2, 0x11 }, { 10, 20, 0x12 }, { UINT64_C(1) << 40, 5, 0x11 } },
	};
	response("LOCK several", SMB2_BODY_EMPTY);
}

void add_ioctl(void)
{
	static const struct smb2_network_interface list[] = {
		{ .index = 1,
		  .capability = 1,
		  .link_speed_bps = 10000000000u,
		  .port = 445,
		  .address = { 10, 0, 0, 1 } },
		{ .index = 2, .is_ipv6 = true, .address = { 0xfe, 0x80, [15] = 1 } },
	};
	uint8_t *bytes = take(2 * 152);
	uint32_t used;
	enum smb_wire_verdict verdict = smb2_interfaces_encode(list, 2, bytes, 2 * 152, &used);
	assert(verdict == SMB_WIRE_OK);
	(void)verdict;

	struct smb2_message *message = request("IOCTL interfaces", SMB2_IOCTL, SMB2_BODY_IOCTL_REQ);
	message->body.ioctl_req = (struct smb2_ioctl_req){
		.ctl_code = FSCTL_QUERY_NETWORK_INTERFACE_INFO,
		.file_id = SMB2_FILE_ID_RELATED,
		.max_output_response = 65536,
		.flags = 1,
	};
	message = response("IOCTL interfaces", SMB2_BODY_IOCTL_RSP);
	message->body.ioctl_rsp = (struct smb2_ioctl_rsp){
		.ctl_code = FSCTL_QUERY_NETWORK_INTERFACE_INFO,
		.file_id = SMB2_FILE_ID_RELATED,
		.output = { bytes, used },
	};
	static const uint8_t validate[26] = { 0x7f, [20] = 1, [22] = 1, [24] = 0x02, [25] = 0x03 };
	static const uint8_t validated[24] = { 0x07, [20] = 1, [22] = 0x02, [23] = 0x03 };
	message = request("IOCTL validate", SMB2_IOCTL, SMB2_BODY_IOCTL_REQ);
	message->body.ioctl_req = (struct smb2_ioctl_req){
		.ctl_code = FSCTL_VALIDATE_NEGOTIATE_INFO,
		.file_id = SMB2_FILE_ID_RELATED,
		.max_output_response = 24,
		.flags = 1,
		.input = BLOB(validate),
	};
	message = response("IOCTL validate", SMB2_BODY_IOCTL_RSP);
	message->body.ioctl_rsp = (struct smb2_ioctl_rsp){
		.ctl_code = FSCTL_VALIDATE_NEGOTIATE_INFO,
		.file_id = SMB2_FILE_ID_RELATED,
		.input = BLOB(validate),
		.output = BLOB(validated),
	};
}
