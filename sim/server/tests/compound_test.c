/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compounds; the related, unrelated and invalid cases expect what smbtorture smb2.compound expects. */

#include "sim/server/tests/harness.h"

/* A related member: flag, and all-ones SessionId, TreeId, FileId. */
static struct smb2_message related(struct smb2_message message)
{
	message.header.flags |= SMB2_FLAGS_RELATED_OPERATIONS;
	message.header.session_id = UINT64_MAX;
	message.header.tree_id = UINT32_MAX;
	return message;
}

static struct smb2_message close_last(struct t *t)
{
	return t_close_request(t, SMB2_FILE_ID_RELATED);
}

static struct smb2_message object_id_ioctl(struct t *t)
{
	struct smb2_message message = t_request(t, 0, SMB2_IOCTL, SMB2_BODY_IOCTL_REQ);

	message.body.ioctl_req = (struct smb2_ioctl_req){
		.ctl_code = 0x000900c0, .file_id = SMB2_FILE_ID_RELATED, .max_output_response = 64, .flags = 1
	};
	return message;
}

static struct smb2_message set_security(struct t *t, struct smb2_file_id id)
{
	static const uint8_t descriptor[20] = { 1 };
	struct smb2_message message = t_request(t, 0, SMB2_SET_INFO, SMB2_BODY_SET_INFO_REQ);

	message.body.set_info_req = (struct smb2_set_info_req){ .info_type = SMB2_O_INFO_SECURITY,
								.file_id = id,
								.buffer = { descriptor, sizeof(descriptor) } };
	return message;
}

static void expect(struct t *t, const struct smb2_message *chain, uint32_t count, const uint32_t *statuses)
{
	cr_assert_eq(t_send(t, 0, chain, count), SMB_SERVER_OK, "%s", t->cut);
	cr_assert_eq(t->replies, count);
	for (uint32_t i = 0; i < count; i++) {
		cr_assert_eq(t_status(&t->reply[i]), statuses[i], "member %u: %x", i, t_status(&t->reply[i]));
		cr_assert_eq(t->reply[i].members, count, "one PDU");
		cr_assert_eq(t->reply[i].message.header.message_id, chain[i].header.message_id, "in order");
		cr_assert_eq(t->reply[i].message.header.flags & SMB2_FLAGS_RELATED_OPERATIONS,
			     chain[i].header.flags & SMB2_FLAGS_RELATED_OPERATIONS);
	}
	cr_assert_eq(t->reply[0].pdu_bytes % 8, 0u, "the last one is padded, too");
}

Test(compound, related1_create_and_close)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_message chain[] = { t_create_request(t, "related1", 3, 0x40), related(close_last(t)) };
	expect(t, chain, 2, (uint32_t[]){ STATUS_SUCCESS, STATUS_SUCCESS });
	t_free(t);
}

Test(compound, related2_a_file_closes_once)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_message chain[] = { t_create_request(t, "related2", 3, 0x40), related(close_last(t)),
					related(close_last(t)), related(close_last(t)), related(close_last(t)) };
	expect(t, chain, 5,
	       (uint32_t[]){ STATUS_SUCCESS, STATUS_SUCCESS, STATUS_FILE_CLOSED, STATUS_FILE_CLOSED,
			     STATUS_FILE_CLOSED });
	t_free(t);
}

/* related3 asks for an object id, which this server does not have; the CLOSE behind it works all the same. */
Test(compound, related3_a_failed_ioctl_does_not_stop_the_close)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_message chain[] = { t_create_request(t, "related3", 3, 0), related(object_id_ioctl(t)),
					related(close_last(t)) };
	expect(t, chain, 3, (uint32_t[]){ STATUS_SUCCESS, STATUS_INVALID_DEVICE_REQUEST, STATUS_SUCCESS });
	t_free(t);
}

/* related4: there a descriptor denies the open, here a read-only file does. */
Test(compound, related4_a_denied_create_denies_the_rest)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "related4");
	uint8_t basic[40] = { [32] = 1 };
	cr_assert_eq(t_status(t_set_info(t, id, 4, basic, sizeof(basic))), STATUS_SUCCESS);
	t_close(t, id);
	struct smb2_message chain[] = { t_create_request(t, "related4", 3, 0), related(object_id_ioctl(t)),
					related(close_last(t)), related(set_security(t, SMB2_FILE_ID_RELATED)) };
	uint32_t denied = STATUS_ACCESS_DENIED;
	expect(t, chain, 4, (uint32_t[]){ denied, denied, denied, denied });
	t_free(t);
}

Test(compound, related5_nothing_works_on_a_dead_handle)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_message chain[] = { object_id_ioctl(t), related(close_last(t)),
					related(set_security(t, SMB2_FILE_ID_RELATED)) };
	uint32_t closed = STATUS_FILE_CLOSED;
	expect(t, chain, 3, (uint32_t[]){ closed, closed, closed });
	t_free(t);
}

Test(compound, related6_a_member_that_lacks_access_fails_alone)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_message create = t_create_request(t, "file", 3, 0);
	create.body.create_req.desired_access = 1; /* FILE_READ_DATA */
	struct smb2_message write = t_request(t, 0, SMB2_WRITE, SMB2_BODY_WRITE_REQ);
	struct smb2_message read = t_read_request(t, SMB2_FILE_ID_RELATED, 0, 1);
	read.header.message_id = write.header.message_id;
	write.header.message_id++;
	write.body.write_req = (struct smb2_write_req){ .file_id = SMB2_FILE_ID_RELATED,
							.data_length = 3,
							.data = { (const uint8_t *)"abc", 3 } };
	struct smb2_message chain[] = { create, related(read), related(write),
					related(t_read_request(t, SMB2_FILE_ID_RELATED, 0, 1)),
					related(close_last(t)) };
	expect(t, chain, 5,
	       (uint32_t[]){ STATUS_SUCCESS, STATUS_SUCCESS, STATUS_ACCESS_DENIED, STATUS_SUCCESS, STATUS_SUCCESS });
	cr_assert_eq(t->reply[1].length, 1u);
	cr_assert_eq(t->reply[1].bytes[0], smb_source_byte(7, 0), "the bytes are those of the file");
	t_free(t);
}

Test(compound, related8_a_missing_file_fails_the_rest)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_message chain[] = { t_create_request(t, "void", 1, 0), related(close_last(t)),
					related(set_security(t, SMB2_FILE_ID_RELATED)) };
	uint32_t missing = STATUS_OBJECT_NAME_NOT_FOUND;
	expect(t, chain, 3, (uint32_t[]){ missing, missing, missing });
	t_free(t);
}

Test(compound, related9_a_chain_must_not_begin_related)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "related9");
	struct smb2_message chain[] = { related(t_close_request(t, id)), related(t_close_request(t, id)),
					related(set_security(t, id)) };
	uint32_t invalid = STATUS_INVALID_PARAMETER;
	expect(t, chain, 3, (uint32_t[]){ invalid, invalid, invalid });
	t_free(t);
}

Test(compound, unrelated1_each_member_stands_alone)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_message chain[] = { t_create_request(t, "unrelated1", 3, 0x40), close_last(t), close_last(t),
					close_last(t), close_last(t) };
	uint32_t closed = STATUS_FILE_CLOSED;
	expect(t, chain, 5, (uint32_t[]){ STATUS_SUCCESS, closed, closed, closed, closed });
	t_free(t);
}

Test(compound, invalid1_a_related_beginning_spoils_only_related_members)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_message chain[] = { related(t_create_request(t, "invalid1", 3, 0)), related(close_last(t)),
					close_last(t) };
	expect(t, chain, 3, (uint32_t[]){ STATUS_INVALID_PARAMETER, STATUS_INVALID_PARAMETER, STATUS_FILE_CLOSED });
	t_free(t);
}

Test(compound, invalid2_unrelated_behind_related_loses_the_file)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_message chain[] = { t_create_request(t, "invalid2", 3, 0), related(close_last(t)), close_last(t),
					close_last(t), close_last(t) };
	uint32_t closed = STATUS_FILE_CLOSED;
	expect(t, chain, 5, (uint32_t[]){ STATUS_SUCCESS, STATUS_SUCCESS, closed, closed, closed });
	t_free(t);
}

Test(compound, invalid3_related_behind_unrelated_has_no_file)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_message chain[] = { t_create_request(t, "invalid3", 3, 0), close_last(t), close_last(t),
					related(close_last(t)), related(close_last(t)) };
	uint32_t closed = STATUS_FILE_CLOSED;
	expect(t, chain, 5, (uint32_t[]){ STATUS_SUCCESS, closed, closed, closed, closed });
	t_free(t);
}

/* invalid4: a NextCommand that leads nowhere ends the connection. */
Test(compound, invalid4_bad_next_command_is_cut)
{
	static const uint32_t next_commands[] = { 4, 8, 63, 65, 71, 0x80, 1000, 1 << 20, UINT32_MAX, 0xfffffff8 };

	for (size_t i = 0; i < sizeof(next_commands) / sizeof(*next_commands); i++) {
		struct t *t = t_new();
		uint8_t bytes[256];
		struct smb_chain_writer writer;
		t_mount(t);
		smb_chain_begin(&writer, bytes, sizeof(bytes));
		for (int m = 0; m < 2; m++) {
			struct smb2_message echo = t_request(t, 0, SMB2_ECHO, SMB2_BODY_EMPTY);
			cr_assert_eq(smb_chain_append(&writer, &echo), SMB_WIRE_OK);
		}
		struct smb_pdu pdu = smb_chain_finish(&writer);
		memcpy(bytes + 20, &next_commands[i], 4);
		t->replies = 0;
		cr_assert_eq(smb_server_receive(t->server, 0, &pdu, 0), SMB_SERVER_CUT, "%u", next_commands[i]);
		t_drain(t);
		cr_assert(t->cut && strstr(t->cut, "malformed"), "%s", t->cut);
		t_free(t);
	}
}

Test(compound, a_member_that_does_not_decode_fails_alone)
{
	struct t *t = t_new();
	uint8_t bytes[512];
	struct smb_chain_writer writer;

	t_mount(t);
	smb_chain_begin(&writer, bytes, sizeof(bytes));
	for (int m = 0; m < 3; m++) {
		struct smb2_message echo = t_request(t, 0, SMB2_ECHO, SMB2_BODY_EMPTY);
		cr_assert_eq(smb_chain_append(&writer, &echo), SMB_WIRE_OK);
	}
	struct smb_pdu pdu = smb_chain_finish(&writer);
	bytes[72 + 64] = 99; /* StructureSize of the second body */
	t->replies = 0;
	cr_assert_eq(smb_server_receive(t->server, 0, &pdu, 0), SMB_SERVER_OK);
	t_drain(t);
	cr_assert_eq(t->replies, 3u);
	cr_assert_eq(t_status(&t->reply[0]), STATUS_SUCCESS);
	cr_assert_eq(t_status(&t->reply[1]), STATUS_INVALID_PARAMETER);
	cr_assert_eq(t_status(&t->reply[2]), STATUS_SUCCESS);
	t_free(t);
}

Test(compound, a_chain_with_reads_is_answered_when_all_its_work_is_done)
{
	struct t *t = t_new();

	t_mount(t);
	t->hold_work = true;
	struct smb2_message chain[] = { t_create_request(t, "file", 1, 0),
					related(t_read_request(t, SMB2_FILE_ID_RELATED, 0, 100)),
					related(t_read_request(t, SMB2_FILE_ID_RELATED, 4096, 1000)) };
	cr_assert_eq(t_send(t, 0, chain, 3), SMB_SERVER_OK);
	cr_assert_eq(t->replies, 0u);
	cr_assert_eq(t->works, 2u);
	cr_assert_eq(t_look(t, 0).outstanding, 3u);
	t_work_done(t, 1);
	cr_assert_eq(t->replies, 0u);
	t_work_done(t, 0);
	cr_assert_eq(t->replies, 3u);
	cr_assert_eq(t->reply[1].length, 100u, "inside the chain the bytes travel");
	cr_assert_eq(t->reply[2].message.body.read_rsp.payload.length, 1000u, "behind it the slice does");
	cr_assert_eq(t_look(t, 0).outstanding, 0u);
	t_free(t);
}

Test(compound, held_chains_leave_room_for_others)
{
	struct t *t = t_new();
	uint32_t refused = 0;

	t_mount(t);
	t->credits = 1000;
	t->hold_work = true;
	struct smb2_file_id id = t_open(t, "file");
	for (uint32_t i = 0; i < 40; i++) {
		struct smb2_message chain[] = { t_read_request(t, id, 0, 30000), t_read_request(t, id, 0, 30000),
						t_read_request(t, id, 0, 1) };
		cr_assert_eq(t_send(t, 0, chain, 3), SMB_SERVER_OK, "%s", t->cut);
		refused += t->replies && t_status(&t->reply[0]) == STATUS_INSUFFICIENT_RESOURCES;
	}
	cr_assert_gt(refused, 0u);
	t->hold_work = false;
	cr_assert_eq(t_status(t_read(t, id, 0, 65536)), STATUS_SUCCESS, "a single read is still served");
	for (uint32_t i = 0; i < t->works; i++)
		t_work_done(t, i);
	cr_assert_eq(t_look(t, 0).outstanding, 0u);
	t_free(t);
}
