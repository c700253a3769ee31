/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The block as a value: it can be moved, copied, compared; hostile bytes never break it. */

#include "sim/server/tests/harness.h"

#include <stdlib.h>
#include <string.h>

static const struct smb_server_limits tiny = { .connections = 2,
					       .sessions = 1,
					       .trees = 1,
					       .nodes = 8,
					       .handles = 2,
					       .requests = 4,
					       .outputs = 16,
					       .window = 64 };

static size_t encode(const struct t *t, uint8_t *buffer)
{
	size_t length = smb_server_encode(t->server, buffer, 1 << 20);

	cr_assert_gt(length, 0u);
	return length;
}

static void move(struct t *t)
{
	size_t size = smb_server_block_size(t->server);
	void *copy = malloc(size);

	memcpy(copy, t->server, size);
	memset(t->server, 0xa5, size);
	free(t->server);
	t->server = copy;
}

Test(state, sizes_fit_their_users)
{
	cr_assert_lt(smb_server_size(&smb_server_limits_simulation), (size_t)2 << 20);
	cr_assert_lt(smb_server_size(&tiny), (size_t)16 << 10);
}

Test(state, a_moved_server_goes_on)
{
	struct t *t = t_new();

	t_mount(t);
	move(t);
	t->hold_work = true;
	struct smb2_file_id id = t_open(t, "file");
	struct smb2_message read = t_read_request(t, id, 4096, 4096);
	t_send(t, 0, &read, 1);
	move(t);
	t_work_done(t, 0);
	cr_assert_eq(t_last(t)->message.body.read_rsp.payload.offset, 4096u);
	move(t);
	cr_assert_eq(t_status(t_close(t, id)), STATUS_SUCCESS);
	t_free(t);
}

Test(state, a_snapshot_repeats_the_same_future)
{
	static uint8_t first[1 << 20], second[1 << 20];
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "file");
	size_t size = smb_server_block_size(t->server);
	void *snapshot = malloc(size);
	memcpy(snapshot, t->server, size);
	uint64_t next_id = t->next_id[0];
	size_t lengths[2];
	for (int run = 0; run < 2; run++) {
		memcpy(t->server, snapshot, size);
		t->next_id[0] = next_id;
		t_write(t, id, 100, (struct smb_slice){ 3, 0, 77 });
		t_create(t, "more", 2, 0);
		t_read(t, id, 0, 1000);
		lengths[run] = encode(t, run ? second : first);
	}
	cr_assert_eq(lengths[0], lengths[1]);
	cr_assert_eq(memcmp(first, second, lengths[0]), 0);
	cr_assert_eq(memcmp(t->server, snapshot, size) != 0, 1);
	free(snapshot);
	t_free(t);
}

Test(state, the_canonical_form_tells_states_apart)
{
	static uint8_t before[1 << 20], after[1 << 20];
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "file");
	size_t length = encode(t, before);
	struct smb2_message echo = t_request(t, 0, SMB2_ECHO, SMB2_BODY_EMPTY);
	t_ask(t, 0, &echo);
	cr_assert_eq(encode(t, after), length, "an ECHO leaves nothing behind: ids are relative to the window");
	cr_assert_eq(memcmp(before, after, length), 0);
	t_write(t, id, 0, (struct smb_slice){ 3, 0, 1 });
	cr_assert(encode(t, after) != length || memcmp(before, after, length) != 0);
	cr_assert_eq(smb_server_encode(t->server, after, 10), 0u, "too small a buffer");
	t_free(t);
}

Test(state, a_tiny_server_mounts_and_reads)
{
	struct smb_server_profile profile = t_profile();
	struct t *t = t_new_with(&tiny, &profile);

	t->credits = 500;
	t_mount(t);
	cr_assert_eq(t_look(t, 0).window_length, 64u);
	struct smb2_file_id id = t_open(t, "file");
	for (int i = 0; i < 200; i++)
		cr_assert_eq(t_status(t_read(t, id, (uint64_t)i * 4096, 4096)), STATUS_SUCCESS);
	t_bind(t, 1);
	cr_assert_eq(t_status(t_query_info(t, id, 1, 18, 4096)), STATUS_SUCCESS);
	t_free(t);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Good requests with bytes changed: whatever happens, the state stays valid and other connections are served. */
Test(state, hostile_bytes_leave_the_server_valid)
{
	static uint8_t bytes[4096];
	uint32_t random = 5, cut = 0, served = 0;
	struct t *t = t_new();

	t_mount(t);
	t->credits = 40;
	for (uint32_t round = 0; round < 3000; round++) {
		struct smb2_file_id id = { 1, 1 };
		struct smb2_message chain[] = {
			t_create_request(t, "file", next_random(&random) % 7, next_random(&random)),
			t_read_request(t, SMB2_FILE_ID_RELATED, next_random(&random), next_random(&random) % 70000),
			t_close_request(t, id),
		};
		struct smb_chain_writer writer;
		smb_chain_begin(&writer, bytes, sizeof(bytes));
		for (uint32_t m = 0; m < 1 + round % 3; m++)
			cr_assert_eq(smb_chain_append(&writer, &chain[m]), SMB_WIRE_OK);
		struct smb_pdu pdu = smb_chain_finish(&writer);
		for (uint32_t i = 0; i < round % 5; i++)
			bytes[next_random(&random) % pdu.length] = (uint8_t)next_random(&random);
		if (round % 11 == 0)
			pdu.length = next_random(&random) % (pdu.length + 1);
		t->replies = 0;
		t->next_id[0] = t_look(t, 0).window_low;
		smb_server_receive(t->server, 0, &pdu, round);
		t_drain(t);
		t->next_id[0] = t_look(t, 0).window_low;
		served += t->replies > 0;
		if (t_look(t, 0).open && t_look(t, 0).granted >= 4)
			continue;
		cut += !t_look(t, 0).open;
		smb_server_closed(t->server, 0, round);
		t_mount(t);
	}
	cr_assert_gt(cut, 100u);
	cr_assert_gt(served, 500u);
	t_free(t);
}

Test(state, pdus_of_any_length_are_taken)
{
	struct t *t = t_new();
	uint8_t bytes[200] = { 0xfe, 'S', 'M', 'B', 64 };

	for (uint32_t length = 0; length <= sizeof(bytes); length++) {
		struct smb_pdu pdu = { .bytes = bytes, .length = length };
		t->replies = 0;
		smb_server_connected(t->server, 0, 0);
		smb_server_receive(t->server, 0, &pdu, 0);
		t_drain(t);
		smb_server_closed(t->server, 0, 0);
	}
	cr_assert(smb_server_is_valid(t->server));
	t_free(t);
}
