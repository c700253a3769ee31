/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each misbehaviour does what it says, and nothing of it happens when it is off. */

#include "sim/server/tests/harness.h"

#include <stdlib.h>
#include <string.h>

static struct t *start(struct smb_server_misbehaviour misbehaviour)
{
	struct smb_server_profile profile = t_profile();
	struct t *t = t_new_with(&smb_server_limits_simulation, &profile);

	t->config.misbehaviour = misbehaviour;
	smb_server_init(t->server, &smb_server_limits_simulation, &t->config);
	cr_assert(smb_server_make_file(t->server, "file", 7, 10 << 20));
	t_mount(t);
	t->credits = 10;
	return t;
}

static void choose(struct t *t, struct smb_server_choice choice)
{
	choice.chosen = true;
	smb_server_choose(t->server, &choice);
}

/* The bytes of what is sent next, as they are. */
static uint32_t raw(struct t *t, const struct smb2_message *members, uint32_t count, uint8_t *buffer)
{
	static uint8_t bytes[8192];
	struct smb_chain_writer writer;
	struct smb_server_output output;
	uint32_t length = 0;

	smb_chain_begin(&writer, bytes, sizeof(bytes));
	for (uint32_t i = 0; i < count; i++)
		cr_assert_eq(smb_chain_append(&writer, &members[i]), SMB_WIRE_OK);
	struct smb_pdu pdu = smb_chain_finish(&writer);
	cr_assert_eq(smb_server_receive(t->server, 0, &pdu, 0), SMB_SERVER_OK);
	do {
		smb_server_next(t->server, &output, buffer, SMB_SERVER_PDU_MAX);
		if (output.kind == SMB_SERVER_WORK)
			smb_server_work_done(t->server, output.token, 0);
		if (output.kind == SMB_SERVER_SEND)
			length = output.pdu.length;
	} while (output.kind != SMB_SERVER_IDLE && output.kind != SMB_SERVER_SEND);
	return length;
}

static uint32_t raw_create_close(struct t *t, uint8_t *buffer)
{
	struct smb2_message chain[] = { t_create_request(t, "file", 1, 0), t_close_request(t, SMB2_FILE_ID_RELATED) };

	chain[1].header.flags = SMB2_FLAGS_RELATED_OPERATIONS;
	return raw(t, chain, 2, buffer);
}

Test(misbehave, starving_leaves_a_client_with_nothing)
{
	for (int starves = 0; starves < 2; starves++) {
		struct t *t = start((struct smb_server_misbehaviour){ .starves = starves });
		while (t_look(t, 0).granted > (starves ? 0u : 1u)) {
			struct smb2_message echo = t_request(t, 0, SMB2_ECHO, SMB2_BODY_EMPTY);
			choose(t, (struct smb_server_choice){ .grant = 0 });
			t_ask(t, 0, &echo);
		}
		cr_assert_eq(t_last(t)->message.header.credits, 0);
		t_free(t);
	}
}

Test(misbehave, overgranting_says_65535_each_time)
{
	struct t *t = start((struct smb_server_misbehaviour){ .overgrants = true });

	for (int i = 0; i < 100; i++) {
		struct smb2_message echo = t_request(t, 0, SMB2_ECHO, SMB2_BODY_EMPTY);
		cr_assert_eq(t_ask(t, 0, &echo)->message.header.credits, 65535);
	}
	cr_assert_eq(t_look(t, 0).granted, 8192u, "its own window stays what it is");
	t_free(t);
}

Test(misbehave, grants_of_asynchronous_replies_go_wrong_both_ways)
{
	static const struct {
		struct smb_server_misbehaviour misbehaviour;
		uint16_t interim, final;
	} cases[] = {
		{ { 0 }, 4, 0 },
		{ { .interim_is_free = true }, 0, 0 },
		{ { .final_grants = true }, 4, 10 },
	};

	for (size_t i = 0; i < 3; i++) {
		struct t *t = start(cases[i].misbehaviour);
		struct smb2_file_id id = t_open(t, "file");
		choose(t, (struct smb_server_choice){ .grant = 4, .interim = true });
		struct smb2_message read = t_read_request(t, id, 0, 4096);
		t_send(t, 0, &read, 1);
		cr_assert_eq(t->replies, 2u);
		cr_assert_eq(t->reply[0].message.header.credits, cases[i].interim);
		cr_assert_eq(t->reply[1].message.header.credits, cases[i].final);
		t_free(t);
	}
}

Test(misbehave, lengths_and_offsets_go_wrong)
{
	static uint8_t buffer[SMB_SERVER_PDU_MAX];
	uint32_t padded = 0;

	for (int bad = 0; bad < 4; bad++) {
		struct smb_server_misbehaviour misbehaviour = { .last_is_unpadded = bad == 1,
								.next_is_wild = bad == 2,
								.write_has_junk = bad == 3 };
		struct t *t = start(misbehaviour);
		uint32_t length = raw_create_close(t, buffer), first, second;
		memcpy(&first, buffer + 20, 4);
		memcpy(&second, buffer + first + 20, 4);
		padded = bad ? padded : length;
		cr_assert_eq(length, bad == 1 ? padded - 4 : padded);
		cr_assert_eq(padded % 8, 0u);
		cr_assert_eq(second, bad == 2 ? 131072u : 0u);
		if (bad != 2) {
			struct smb2_message write = t_write_request(t, t_open(t, "file"), 0,
								    (struct smb_slice){ 1, 0, 9 });
			cr_assert_eq(raw(t, &write, 1, buffer), bad == 3 ? 64u + 16 + 3 : 64u + 16);
		}
		t_free(t);
	}
}

Test(misbehave, an_interim_reply_is_a_byte_too_long)
{
	static uint8_t buffer[SMB_SERVER_PDU_MAX];
	uint32_t lengths[2];

	for (int odd = 0; odd < 2; odd++) {
		struct t *t = start((struct smb_server_misbehaviour){ .pending_is_odd = odd });
		struct smb2_message create = t_create_request(t, "file", 1, 0);
		choose(t, (struct smb_server_choice){ .grant = 4, .interim = true });
		lengths[odd] = raw(t, &create, 1, buffer);
		t_free(t);
	}
	cr_assert_eq(lengths[1], lengths[0] + 1);
}

Test(misbehave, the_second_of_two_reads_is_never_answered)
{
	struct t *t = start((struct smb_server_misbehaviour){ .second_read_is_lost = true });
	struct smb2_file_id id = t_open(t, "file");
	struct smb2_message chain[] = { t_read_request(t, id, 0, 100), t_read_request(t, id, 100, 100) };

	cr_assert_eq(t_send(t, 0, chain, 2), SMB_SERVER_OK);
	cr_assert_eq(t->replies, 1u);
	cr_assert_eq(t_look(t, 0).outstanding, 0u);
	t_free(t);
}

Test(misbehave, every_third_write_is_pushed_back)
{
	struct t *t = start((struct smb_server_misbehaviour){ .write_pushback = 3 });
	struct smb2_file_id id = t_open(t, "file");

	for (uint32_t i = 1; i <= 12; i++) {
		uint32_t status = t_status(t_write(t, id, 0, (struct smb_slice){ 1, 0, 10 }));
		cr_assert_eq(status, i % 3 ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES);
	}
	cr_assert_eq(t_status(t_read(t, id, 0, 10)), STATUS_SUCCESS, "only WRITEs");
	t_free(t);
}

Test(misbehave, breaks_come_in_crowds_and_their_acknowledgements_bring_credits)
{
	struct t *t = start((struct smb_server_misbehaviour){ .break_copies = 20, .break_grant = 10 });
	struct smb2_message create = t_create_request(t, "file", 1, 0);

	create.body.create_req.oplock_level = 9;
	struct smb2_file_id id = t_ask(t, 0, &create)->message.body.create_rsp.file_id;
	t->replies = 0;
	cr_assert(smb_server_break(t->server, (uint32_t)id.volatile_id - 1, 0, 1, 0));
	t_drain(t);
	cr_assert_eq(t->replies, 20u);
	struct smb2_message ack = t_request(t, 0, SMB2_OPLOCK_BREAK, SMB2_BODY_OPLOCK_BREAK);
	ack.header.credits = 1;
	ack.body.oplock_break = (struct smb2_oplock_break){ 1, id };
	cr_assert_eq(t_ask(t, 0, &ack)->message.header.credits, 10);
	t_free(t);
}

Test(misbehave, an_interface_list_has_eight_bytes_too_many)
{
	uint32_t lengths[2];

	for (int padded = 0; padded < 2; padded++) {
		struct t *t = start((struct smb_server_misbehaviour){ .interfaces_are_padded = padded });
		struct smb2_message ioctl = t_request(t, 0, SMB2_IOCTL, SMB2_BODY_IOCTL_REQ);
		ioctl.body.ioctl_req = (struct smb2_ioctl_req){
			.ctl_code = 0x001401fc, .file_id = SMB2_FILE_ID_RELATED, .max_output_response = 4096, .flags = 1
		};
		struct t_reply *reply = t_ask(t, 0, &ioctl);
		cr_assert_eq(t_status(reply), STATUS_SUCCESS);
		lengths[padded] = reply->length;
		t_free(t);
	}
	cr_assert_eq(lengths[1], lengths[0] + 8);
}
