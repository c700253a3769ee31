/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* READ, WRITE, FLUSH, LOCK, and what files contain. */

#include "sim/server/tests/harness.h"

#define FILE_BYTES (10u << 20)

Test(io, reads_end_with_the_file)
{
	static const struct {
		uint64_t offset;
		uint32_t length, minimum, status, expect;
	} cases[] = {
		{ 0, 65536, 0, STATUS_SUCCESS, 65536 },
		{ 12345, 1, 0, STATUS_SUCCESS, 1 },
		{ FILE_BYTES - 1, 65536, 0, STATUS_SUCCESS, 1 },
		{ FILE_BYTES - 100, 65536, 100, STATUS_SUCCESS, 100 },
		{ FILE_BYTES - 100, 65536, 101, STATUS_END_OF_FILE, 0 },
		{ FILE_BYTES, 1, 0, STATUS_END_OF_FILE, 0 },
		{ FILE_BYTES + 1, 65536, 0, STATUS_END_OF_FILE, 0 },
		{ UINT64_MAX, 65536, 0, STATUS_END_OF_FILE, 0 },
		{ 0, 0, 0, STATUS_SUCCESS, 0 },
		{ FILE_BYTES, 0, 0, STATUS_SUCCESS, 0 },
	};
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "file");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct smb2_message read = t_read_request(t, id, cases[i].offset, cases[i].length);
		read.body.read_req.minimum_count = cases[i].minimum;
		struct t_reply *reply = t_ask(t, 0, &read);
		cr_assert_eq(t_status(reply), cases[i].status, "case %zu", i);
		if (cases[i].status)
			continue;
		struct smb_slice slice = reply->message.body.read_rsp.payload;
		cr_assert_eq(reply->message.body.read_rsp.data_length, cases[i].expect, "case %zu", i);
		cr_assert_eq(slice.length, cases[i].expect);
		cr_assert(!cases[i].expect || (slice.source == 7 && slice.offset == cases[i].offset));
	}
	t_free(t);
}

Test(io, sizes_beyond_the_limits_are_refused)
{
	struct t *t = t_new();

	t_mount(t);
	t->credits = 400;
	struct smb2_file_id id = t_open(t, "file");
	t->charge = 129;
	cr_assert_eq(t_status(t_read(t, id, 0, (8 << 20) + 1)), STATUS_INVALID_PARAMETER);
	cr_assert_eq(t_status(t_read(t, id, 0, 8 << 20)), STATUS_SUCCESS);
	cr_assert_eq(t_status(t_write(t, id, 0, (struct smb_slice){ 1, 0, (8 << 20) + 1 })), STATUS_INVALID_PARAMETER);
	t->charge = 1;
	cr_assert_eq(t_status(t_write(t, id, UINT64_MAX - 5, (struct smb_slice){ 1, 0, 10 })),
		     STATUS_INVALID_PARAMETER);
	t_free(t);
}

Test(io, handles_must_be_open_and_files)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id dir = t_open(t, "dir");
	cr_assert_eq(t_status(t_read(t, dir, 0, 1)), STATUS_INVALID_DEVICE_REQUEST);
	cr_assert_eq(t_status(t_write(t, dir, 0, (struct smb_slice){ 1, 0, 10 })), STATUS_INVALID_DEVICE_REQUEST);
	struct smb2_file_id wrong = dir;
	wrong.persistent++;
	cr_assert_eq(t_status(t_close(t, wrong)), STATUS_FILE_CLOSED);
	wrong = dir;
	wrong.volatile_id += UINT64_C(1) << 32;
	cr_assert_eq(t_status(t_close(t, wrong)), STATUS_FILE_CLOSED);
	cr_assert_eq(t_status(t_read(t, (struct smb2_file_id){ 0, 0 }, 0, 1)), STATUS_FILE_CLOSED);
	t_close(t, dir);
	struct smb2_file_id next = t_open(t, "dir");
	cr_assert_neq(next.volatile_id, dir.volatile_id, "ids do not come back");
	cr_assert_eq(t_status(t_close(t, dir)), STATUS_FILE_CLOSED);
	t_free(t);
}

Test(io, flush_and_lock_succeed_on_open_files)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "file");
	for (int i = 0; i < 2; i++) {
		struct smb2_message flush = t_request(t, 0, SMB2_FLUSH, SMB2_BODY_FLUSH_REQ);
		flush.body.flush_req.file_id = id;
		cr_assert_eq(t_status(t_ask(t, 0, &flush)), i ? STATUS_FILE_CLOSED : STATUS_SUCCESS);
		struct smb2_message lock = t_request(t, 0, SMB2_LOCK, SMB2_BODY_LOCK_REQ);
		lock.body.lock_req.file_id = id;
		lock.body.lock_req.lock_count = 1;
		lock.body.lock_req.locks[0] = (struct smb2_lock_element){ 0, 10, 2 };
		cr_assert_eq(t_status(t_ask(t, 0, &lock)), i ? STATUS_FILE_CLOSED : STATUS_SUCCESS);
		t_close(t, id);
	}
	t_free(t);
}

Test(io, what_was_written_is_read)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "new");
	struct t_reply *reply = t_write(t, id, 0, (struct smb_slice){ 3, 1000, 5000 });
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
	cr_assert_eq(reply->message.body.write_rsp.count, 5000u);
	t_write(t, id, 5000, (struct smb_slice){ 3, 6000, 5000 }); /* goes on in the same stream */
	struct smb_slice slice = t_read(t, id, 100, 65536)->message.body.read_rsp.payload;
	cr_assert_eq(slice.source, 3u);
	cr_assert_eq(slice.offset, 1100u);
	cr_assert_eq(slice.length, 9900u);
	t_free(t);
}

Test(io, a_read_across_sources_brings_the_bytes)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "new");
	t_write(t, id, 0, (struct smb_slice){ 3, 0, 100 });
	t_write(t, id, 200, (struct smb_slice){ 4, 50, 100 }); /* a gap before it */
	struct t_reply *reply = t_read(t, id, 0, 4096);
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
	cr_assert_eq(reply->length, 300u);
	for (uint32_t i = 0; i < 300; i++) {
		uint8_t expect = i < 100 ? smb_source_byte(3, i) : i < 200 ? 0 : smb_source_byte(4, 50 + i - 200);
		cr_assert_eq(reply->bytes[i], expect, "byte %u", i);
	}
	t_free(t);
}

Test(io, a_long_read_across_sources_stops_at_the_border)
{
	struct t *t = t_new();

	t_mount(t);
	t->credits = 64;
	struct smb2_file_id id = t_open(t, "file");
	t_write(t, id, 1 << 20, (struct smb_slice){ 4, 0, 4096 });
	t->charge = 32;
	struct t_reply *reply = t_read(t, id, 0, 2 << 20);
	cr_assert_eq(reply->message.body.read_rsp.data_length, 1u << 20);
	cr_assert_eq(reply->message.body.read_rsp.payload.source, 7u);
	t_free(t);
}

Test(io, bytes_in_a_write_are_counted_but_not_kept)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "new");
	struct smb2_message write = t_write_request(t, id, 0, (struct smb_slice){ 0 });
	write.body.write_req.data_length = 5;
	write.body.write_req.data = (struct smb_blob){ (const uint8_t *)"hello", 5 };
	cr_assert_eq(t_status(t_ask(t, 0, &write)), STATUS_SUCCESS);
	struct smb_slice slice = t_read(t, id, 0, 100)->message.body.read_rsp.payload;
	cr_assert_eq(slice.source, SMB_SERVER_SOURCE_UNKNOWN);
	cr_assert_eq(slice.length, 5u);
	t_free(t);
}

/* Any writes and cuts against an array of bytes that says which source and position each byte has. */
Test(io, content_is_exact_for_any_writes)
{
	enum { SIZE = 3000 };
	static uint8_t model[SIZE];
	uint32_t random = 3, length = 0, bytes_read = 0;
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "new");
	for (uint32_t step = 0; step < 1500; step++) {
		random = random * 1664525 + 1013904223;
		uint32_t offset = (random >> 8) % SIZE, count = 1 + (random >> 20) % 300;
		if (offset + count > SIZE)
			count = SIZE - offset;
		if (step % 16 == 15) {
			uint8_t size[8] = { (uint8_t)offset, (uint8_t)(offset >> 8) };
			cr_assert_eq(t_status(t_set_info(t, id, 20, size, 8)), STATUS_SUCCESS);
			if (offset < length)
				memset(model + offset, 0, length - offset);
			length = offset;
			continue;
		}
		struct smb_slice data = { 1 + random % 3, step % 2 ? offset : random % 100000, count };
		cr_assert_eq(t_status(t_write(t, id, offset, data)), STATUS_SUCCESS);
		for (uint32_t i = 0; i < count; i++)
			model[offset + i] = smb_source_byte(data.source, data.offset + i);
		length = offset + count > length ? offset + count : length;
		struct t_reply *reply = t_read(t, id, 0, SIZE);
		struct smb_slice slice = reply->message.body.read_rsp.payload;
		cr_assert_eq(reply->message.body.read_rsp.data_length, length);
		for (uint32_t i = 0; i < length; i++) {
			uint8_t byte = slice.length ? smb_source_byte(slice.source, slice.offset + i) : reply->bytes[i];
			cr_assert_eq(byte, model[i], "step %u byte %u", step, i);
		}
		bytes_read += length;
	}
	cr_assert_gt(bytes_read, 1000000);
	t_free(t);
}

Test(io, work_names_bytes_and_direction)
{
	static uint8_t buffer[SMB_SERVER_PDU_MAX];
	struct smb_server_output output;
	struct smb_pdu pdu;
	uint8_t bytes[256];

	for (int is_write = 0; is_write < 2; is_write++) {
		struct t *t = t_new();
		t_mount(t);
		struct smb2_file_id id = t_open(t, "file");
		struct smb2_message message = is_write ? t_write_request(t, id, 0, (struct smb_slice){ 3, 0, 1000 })
						       : t_read_request(t, id, FILE_BYTES - 10, 1000);
		cr_assert_eq(smb2_message_encode(&message, bytes, sizeof(bytes), &pdu), SMB_WIRE_OK);
		cr_assert_eq(smb_server_receive(t->server, 0, &pdu, 0), SMB_SERVER_OK);
		smb_server_next(t->server, &output, buffer, sizeof(buffer));
		cr_assert_eq(output.kind, SMB_SERVER_WORK);
		cr_assert_eq(output.is_write, (bool)is_write);
		cr_assert_eq(output.bytes, is_write ? 1000u : 10u);
		cr_assert_eq(output.connection, 0u);
		smb_server_next(t->server, &output, buffer, sizeof(buffer));
		cr_assert_eq(output.kind, SMB_SERVER_IDLE);
		t_free(t);
	}
}

/* C23: a WRITE from before the loss of a channel is refused once a newer request was seen, a READ is not. */
Test(io, stale_writes_are_refused)
{
	static const struct {
		uint16_t sequence;
		bool is_write;
		uint32_t status;
	} steps[] = {
		{ 0, true, STATUS_SUCCESS },
		{ 1, false, STATUS_SUCCESS },
		{ 0, true, STATUS_FILE_NOT_AVAILABLE },
		{ 0, false, STATUS_SUCCESS },
		{ 1, true, STATUS_SUCCESS },
		{ 0x8000, true, STATUS_SUCCESS },
		{ 1, true, STATUS_FILE_NOT_AVAILABLE },
		{ 0xffff, false, STATUS_SUCCESS },
		{ 2, true, STATUS_SUCCESS }, /* behind the turn of the counter */
		{ 0xffff, true, STATUS_FILE_NOT_AVAILABLE },
	};

	for (int old = 0; old < 2; old++) {
		struct t *t = t_new();
		t->credits = 10;
		t_negotiate(t, 0, old ? SMB2_DIALECT_210 : SMB2_DIALECT_311);
		t_session_setup(t, 0);
		t->tree_id = t_tree_connect(t, 0, "\\\\server\\share")->message.header.tree_id;
		struct smb2_file_id id = t_open(t, "file");
		for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
			struct smb2_message message = steps[i].is_write
							      ? t_write_request(t, id, 0, (struct smb_slice){ 7, 0, 9 })
							      : t_read_request(t, id, 0, 9);
			message.header.channel_sequence = steps[i].sequence;
			uint32_t expect = old ? STATUS_SUCCESS : steps[i].status;
			cr_assert_eq(t_status(t_ask(t, 0, &message)), expect, "step %zu", i);
		}
		t_free(t);
	}
}
