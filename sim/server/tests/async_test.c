/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Interim replies, cancelling, the order of answers, connections that go away (MS-SMB2 3.3.4.2, 3.3.5.16). */

#include "sim/server/tests/harness.h"

static struct t *start(enum smb_interim_policy interim, uint32_t async_credits)
{
	struct smb_server_profile profile = t_profile();

	profile.interim = interim;
	profile.interim_after_ns = 500000;
	profile.async_credits = async_credits;
	struct t *t = t_new_with(&smb_server_limits_simulation, &profile);
	t_mount(t);
	t->hold_work = true;
	t->credits = 10;
	return t;
}

static void send_read(struct t *t, struct smb2_file_id id)
{
	struct smb2_message read = t_read_request(t, id, 0, 4096);

	cr_assert_eq(t_send(t, 0, &read, 1), SMB_SERVER_OK);
}

Test(async, interim_carries_the_grant_and_the_final_reply_none)
{
	struct t *t = start(SMB_INTERIM_ALWAYS, 0);
	struct smb2_file_id id = t_open(t, "file");

	send_read(t, id);
	cr_assert_eq(t->replies, 1u);
	struct smb2_header interim = t_last(t)->message.header;
	cr_assert_eq(interim.status, STATUS_PENDING);
	cr_assert_eq(interim.credits, 10);
	cr_assert_eq(interim.credit_charge, 0);
	cr_assert(interim.flags & SMB2_FLAGS_ASYNC_COMMAND);
	cr_assert_neq(interim.async_id, 0u);
	cr_assert_eq(t_look(t, 0).outstanding_async, 1u);
	cr_assert_eq(t_look(t, 0).outstanding, 1u);
	t_work_done(t, 0);
	struct smb2_header final = t_last(t)->message.header;
	cr_assert_eq(final.status, STATUS_SUCCESS);
	cr_assert_eq(final.credits, 0);
	cr_assert(final.flags & SMB2_FLAGS_ASYNC_COMMAND);
	cr_assert_eq(final.async_id, interim.async_id);
	cr_assert_eq(final.message_id, interim.message_id);
	cr_assert_eq(t_look(t, 0).outstanding, 0u);
	cr_assert_eq(t_look(t, 0).outstanding_async, 0u);
	t_free(t);
}

Test(async, without_the_policy_there_is_no_interim)
{
	struct t *t = start(SMB_INTERIM_NEVER, 0);
	struct smb2_file_id id = t_open(t, "file");

	send_read(t, id);
	cr_assert_eq(t->replies, 0u);
	cr_assert_eq(t->wake_ns, 0u);
	t_work_done(t, 0);
	cr_assert_eq(t_last(t)->message.header.credits, 10);
	cr_assert_eq(t_last(t)->message.header.flags & SMB2_FLAGS_ASYNC_COMMAND, 0u);
	t_free(t);
}

Test(async, interim_waits_for_its_time)
{
	struct t *t = start(SMB_INTERIM_AFTER, 0);
	struct smb2_file_id id = t_open(t, "file");

	t->now_ns = 1000000;
	send_read(t, id);
	cr_assert_eq(t->wake_ns, 1500000u);
	t->now_ns = 1200000;
	send_read(t, id);
	cr_assert_eq(t->replies, 0u);
	t->now_ns = 1500000;
	t->replies = 0;
	smb_server_wake(t->server, t->now_ns);
	t_drain(t);
	cr_assert_eq(t->replies, 1u, "the second one is not due yet");
	cr_assert_eq(t_status(t_last(t)), STATUS_PENDING);
	cr_assert_eq(t->wake_ns, 1700000u);
	t_work_done(t, 1); /* in time: no interim */
	cr_assert_eq(t_last(t)->message.header.credits, 10);
	t_work_done(t, 0);
	cr_assert_eq(t_last(t)->message.header.credits, 0);
	t->replies = 0;
	t->now_ns = 1700000;
	smb_server_wake(t->server, t->now_ns);
	t_drain(t);
	cr_assert_eq(t->replies, 0u);
	t_free(t);
}

Test(async, many_interims_fall_due_at_once)
{
	struct t *t = start(SMB_INTERIM_AFTER, 0);
	struct smb2_file_id id = t_open(t, "file");

	for (int i = 0; i < 50; i++)
		send_read(t, id);
	t->now_ns = 500000;
	t->replies = 0;
	smb_server_wake(t->server, t->now_ns);
	t_drain(t);
	cr_assert_eq(t->replies, 50u);
	for (int i = 0; i < 50; i++)
		cr_assert_eq(t->reply[i].message.header.message_id, t->next_id[0] - 50 + (uint64_t)i);
	t_free(t);
}

Test(async, the_limit_refuses_further_requests)
{
	struct t *t = start(SMB_INTERIM_ALWAYS, 4);
	struct smb2_file_id id = t_open(t, "file");

	for (int i = 0; i < 6; i++) {
		send_read(t, id);
		cr_assert_eq(t_status(t_last(t)), i < 4 ? STATUS_PENDING : STATUS_INSUFFICIENT_RESOURCES);
		cr_assert_eq(t_last(t)->message.header.credits, 10, "refusals carry credits, too");
	}
	cr_assert_eq(t_look(t, 0).outstanding, 4u);
	t_work_done(t, 4); /* of a refused one: nobody waits */
	cr_assert_eq(t->replies, 0u);
	t_work_done(t, 0);
	send_read(t, id);
	cr_assert_eq(t_status(t_last(t)), STATUS_PENDING);
	t_free(t);
}

Test(async, answers_come_in_the_order_of_the_work)
{
	struct t *t = start(SMB_INTERIM_NEVER, 0);
	struct smb2_file_id id = t_open(t, "file");
	uint64_t first = t->next_id[0];

	for (int i = 0; i < 3; i++)
		send_read(t, id);
	static const uint32_t order[] = { 2, 0, 1 };
	for (int i = 0; i < 3; i++) {
		t_work_done(t, order[i]);
		cr_assert_eq(t_last(t)->message.header.message_id, first + order[i]);
	}
	t_free(t);
}

static void cancel(struct t *t, uint64_t message_id, uint64_t async_id)
{
	struct smb2_message message = t_request(t, 0, SMB2_CANCEL, SMB2_BODY_EMPTY);

	t->next_id[0]--; /* takes no id */
	message.header.credit_charge = 0;
	message.header.message_id = message_id;
	message.header.async_id = async_id;
	message.header.flags |= async_id ? SMB2_FLAGS_ASYNC_COMMAND : 0;
	struct smb_server_connection_info before = t_look(t, 0);
	cr_assert_eq(t_send(t, 0, &message, 1), SMB_SERVER_OK);
	cr_assert_eq(t_look(t, 0).window_low, before.window_low);
}

Test(async, cancel_ends_an_asynchronous_read)
{
	struct t *t = start(SMB_INTERIM_ALWAYS, 0);
	struct smb2_file_id id = t_open(t, "file");

	send_read(t, id);
	uint64_t async_id = t_last(t)->message.header.async_id;
	cancel(t, 0, async_id);
	cr_assert_eq(t->replies, 1u, "the cancelled request is answered, CANCEL is not");
	cr_assert_eq(t_status(t_last(t)), STATUS_CANCELLED);
	cr_assert_eq(t_last(t)->message.header.credits, 0);
	cr_assert_eq(t_look(t, 0).outstanding, 0u);
	cancel(t, 0, async_id);
	cr_assert_eq(t->replies, 0u);
	t_work_done(t, 0);
	cr_assert_eq(t->replies, 0u, "one final reply only");
	t_free(t);
}

Test(async, cancel_finds_a_request_by_its_message_id)
{
	struct t *t = start(SMB_INTERIM_NEVER, 0);
	struct smb2_file_id id = t_open(t, "file");

	send_read(t, id);
	cancel(t, t->next_id[0] - 1, 0);
	cr_assert_eq(t_status(t_last(t)), STATUS_CANCELLED);
	cr_assert_eq(t_last(t)->message.header.credits, 10);
	t_free(t);
}

Test(async, cancel_leaves_a_write_and_strangers_alone)
{
	struct t *t = start(SMB_INTERIM_ALWAYS, 0);
	struct smb2_file_id id = t_open(t, "file");
	struct smb2_message write = t_write_request(t, id, 0, (struct smb_slice){ 3, 0, 4096 });

	t_send(t, 0, &write, 1);
	cancel(t, 0, t_last(t)->message.header.async_id);
	cr_assert_eq(t->replies, 0u);
	cancel(t, 12345, 0);
	cr_assert_eq(t->replies, 0u);
	t_work_done(t, 0);
	cr_assert_eq(t_status(t_last(t)), STATUS_SUCCESS);
	t_free(t);
}

Test(async, nobody_is_answered_on_a_closed_connection)
{
	static const enum smb_interim_policy policies[] = { SMB_INTERIM_NEVER, SMB_INTERIM_ALWAYS, SMB_INTERIM_AFTER };

	for (int p = 0; p < 3; p++) {
		struct t *t = start(policies[p], 0);
		struct smb2_file_id id = t_open(t, "file");
		for (int i = 0; i < 5; i++)
			send_read(t, id);
		smb_server_closed(t->server, 0, t->now_ns);
		t->replies = 0;
		smb_server_wake(t->server, 10000000);
		t_drain(t);
		for (uint32_t i = 0; i < 5; i++)
			t_work_done(t, i);
		cr_assert_eq(t->replies, 0u);
		t->hold_work = false;
		t_mount(t); /* the same connection again */
		cr_assert_eq(t_look(t, 0).outstanding, 0u);
		id = t_open(t, "file");
		cr_assert_eq(t_status(t_read(t, id, 0, 100)), STATUS_SUCCESS);
		t_free(t);
	}
}

Test(async, a_full_table_pushes_back)
{
	struct smb_server_limits limits = smb_server_limits_simulation;
	struct smb_server_profile profile = t_profile();

	limits.requests = 3;
	struct t *t = t_new_with(&limits, &profile);
	t_mount(t);
	t->hold_work = true;
	struct smb2_file_id id = t_open(t, "file");
	for (int i = 0; i < 5; i++) {
		send_read(t, id);
		cr_assert_eq(t->replies, i < 3 ? 0u : 1u);
	}
	cr_assert_eq(t_status(t_last(t)), STATUS_INSUFFICIENT_RESOURCES);
	t_work_done(t, 1);
	send_read(t, id);
	cr_assert_eq(t->replies, 0u);
	t_free(t);
}
