/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the specification leaves to the server, as the host chooses it; never what it forbids. */

#include "sim/server/tests/harness.h"

static struct t *start(void)
{
	struct t *t = t_new();

	t_mount(t);
	t->hold_work = true;
	t->credits = 10;
	return t;
}

static void choose(struct t *t, struct smb_server_choice choice)
{
	choice.chosen = true;
	smb_server_choose(t->server, &choice);
}

static struct t_reply *echo(struct t *t)
{
	struct smb2_message message = t_request(t, 0, SMB2_ECHO, SMB2_BODY_EMPTY);

	return t_ask(t, 0, &message);
}

static uint32_t send_chain(struct t *t, uint32_t last)
{
	struct smb2_message chain[] = {
		t_create_request(t, "file", 1, 0),
		t_query_request(t, SMB2_FILE_ID_RELATED),
		last == SMB2_READ ? t_read_request(t, SMB2_FILE_ID_RELATED, 0, 100)
				  : t_close_request(t, SMB2_FILE_ID_RELATED),
	};

	chain[1].header.flags = chain[2].header.flags = SMB2_FLAGS_RELATED_OPERATIONS;
	cr_assert_eq(t_send(t, 0, chain, 3), SMB_SERVER_OK);
	return t->replies;
}

Test(choice, any_grant_within_the_window_is_given)
{
	static const uint16_t amounts[] = { 0, 1, 2, 64, 1000 };
	struct t *t = start();

	for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
		uint32_t before = t_look(t, 0).granted;
		choose(t, (struct smb_server_choice){ .grant = amounts[i] });
		cr_assert_eq(echo(t)->message.header.credits, amounts[i]);
		cr_assert_eq(t_look(t, 0).granted, before - 1 + amounts[i]);
	}
	choose(t, (struct smb_server_choice){ .grant = 60000 });
	echo(t);
	cr_assert_eq(t_look(t, 0).granted, 8192u, "no more than the window holds");
	cr_assert_eq(echo(t)->message.header.credits, 1, "a choice holds for one answer only");
	t_free(t);
}

Test(choice, a_client_is_never_left_with_nothing)
{
	struct t *t = t_new();
	uint32_t replies = 0;

	choose(t, (struct smb_server_choice){ .grant = 0 });
	cr_assert_eq(t_negotiate(t, 0, SMB2_DIALECT_311)->message.header.credits, 1);
	t_session_setup(t, 0);
	cr_assert_eq(t_look(t, 0).granted, 1u);
	for (int i = 0; i < 20; i++) {
		choose(t, (struct smb_server_choice){ .grant = 0 });
		replies += echo(t)->message.header.credits;
	}
	cr_assert_eq(replies, 20u);
	t_free(t);
}

Test(choice, nothing_is_granted_while_another_reply_will_bring_credits)
{
	struct t *t = start();
	struct smb2_file_id id = t_open(t, "file");
	uint32_t held;

	while ((held = t_look(t, 0).granted) > 2) {
		choose(t, (struct smb_server_choice){ .grant = 0 });
		echo(t);
	}
	struct smb2_message read = t_read_request(t, id, 0, 4096);
	t_send(t, 0, &read, 1);
	cr_assert_eq(t_look(t, 0).owed, 1u);
	choose(t, (struct smb_server_choice){ .grant = 0 });
	cr_assert_eq(echo(t)->message.header.credits, 0);
	cr_assert_eq(t_look(t, 0).granted, 0u, "held: %u", held);
	choose(t, (struct smb_server_choice){ .grant = 0 });
	t_work_done(t, 0);
	cr_assert_eq(t_last(t)->message.header.credits, 1);
	t_free(t);
}

Test(choice, after_an_interim_reply_no_more_credits_come)
{
	struct t *t = start();
	struct smb2_file_id id = t_open(t, "file");

	while (t_look(t, 0).granted > 1) {
		choose(t, (struct smb_server_choice){ .grant = 0 });
		echo(t);
	}
	struct smb2_message read = t_read_request(t, id, 0, 4096);
	choose(t, (struct smb_server_choice){ .grant = 0, .interim = true });
	t_send(t, 0, &read, 1);
	cr_assert_eq(t_status(t_last(t)), STATUS_PENDING);
	cr_assert_eq(t_last(t)->message.header.credits, 1, "the final reply brings none, so this one must");
	t_work_done(t, 0);
	cr_assert_eq(t_last(t)->message.header.credits, 0);
	t_free(t);
}

Test(choice, pushback_instead_of_execution)
{
	static const uint32_t statuses[] = { STATUS_INSUFFICIENT_RESOURCES, STATUS_SERVER_UNAVAILABLE,
					     STATUS_IO_TIMEOUT };
	struct t *t = start();
	struct smb2_file_id id = t_open(t, "file");

	for (size_t i = 0; i < 3; i++) {
		choose(t, (struct smb_server_choice){ .grant = 3, .status = statuses[i] });
		struct t_reply *reply = t_read(t, id, 0, 4096);
		cr_assert_eq(t_status(reply), statuses[i]);
		cr_assert_eq(reply->message.header.credits, 3);
		cr_assert_eq(t->works, 0u);
	}
	choose(t, (struct smb_server_choice){ .grant = 1, .status = STATUS_IO_TIMEOUT });
	cr_assert_eq(t_status(t_close(t, id)), STATUS_IO_TIMEOUT);
	cr_assert_eq(t_status(t_close(t, id)), STATUS_SUCCESS, "the refused CLOSE closed nothing");
	t_free(t);
}

Test(choice, a_refused_create_fails_those_that_need_its_file)
{
	struct t *t = start();

	choose(t, (struct smb_server_choice){ .grant = 9, .status = STATUS_SERVER_UNAVAILABLE });
	cr_assert_eq(send_chain(t, SMB2_CLOSE), 3u);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(t_status(&t->reply[i]), STATUS_SERVER_UNAVAILABLE);
	choose(t, (struct smb_server_choice){ .grant = 9, .status = STATUS_SERVER_UNAVAILABLE, .member = 1 });
	cr_assert_eq(send_chain(t, SMB2_CLOSE), 3u);
	cr_assert_eq(t_status(&t->reply[0]), STATUS_SUCCESS);
	cr_assert_eq(t_status(&t->reply[1]), STATUS_SERVER_UNAVAILABLE);
	cr_assert_eq(t_status(&t->reply[2]), STATUS_SUCCESS, "the CLOSE has a file to close");
	t_free(t);
}

Test(choice, credits_of_a_compound_stand_last_or_are_spread)
{
	static const struct {
		bool spread;
		uint16_t grant;
		uint16_t expected[3];
	} cases[] = {
		{ false, 0, { 0, 0, 0 } }, { false, 30, { 0, 0, 30 } }, { true, 30, { 1, 1, 28 } },
		{ true, 2, { 1, 1, 0 } },  { true, 1, { 1, 0, 0 } },
	};
	struct t *t = start();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t before = t_look(t, 0).granted;
		choose(t, (struct smb_server_choice){ .grant = cases[i].grant, .spread = cases[i].spread });
		cr_assert_eq(send_chain(t, SMB2_CLOSE), 3u);
		for (int m = 0; m < 3; m++)
			cr_assert_eq(t->reply[m].message.header.credits, cases[i].expected[m], "case %zu", i);
		cr_assert_eq(t_look(t, 0).granted, before - 3 + cases[i].grant);
	}
	t_free(t);
}

Test(choice, replies_of_a_compound_may_be_split)
{
	struct t *t = start();

	cr_assert_eq(send_chain(t, SMB2_CLOSE), 3u);
	cr_assert_eq(t->reply[0].members, 3u, "together, unless chosen");
	choose(t, (struct smb_server_choice){ .grant = 3, .split = true });
	cr_assert_eq(send_chain(t, SMB2_CLOSE), 3u);
	for (int m = 0; m < 3; m++) {
		cr_assert_eq(t->reply[m].members, 1u);
		cr_assert_eq(t_status(&t->reply[m]), STATUS_SUCCESS);
	}
	cr_assert_eq(t_look(t, 0).outstanding, 0u);
	choose(t, (struct smb_server_choice){ .grant = 3, .split = true });
	cr_assert_eq(send_chain(t, SMB2_READ), 2u, "the READ waits for the storage");
	cr_assert_eq(t_look(t, 0).outstanding, 1u);
	t_work_done(t, 0);
	cr_assert_eq(t->replies, 1u);
	cr_assert_eq(t_look(t, 0).outstanding, 0u);
	t_free(t);
}

Test(choice, any_request_for_a_file_may_be_answered_later)
{
	struct t *t = start();
	struct smb2_message create = t_create_request(t, "file", 1, 0);

	choose(t, (struct smb_server_choice){ .grant = 5, .interim = true });
	t_send(t, 0, &create, 1);
	cr_assert_eq(t_status(t_last(t)), STATUS_PENDING);
	cr_assert_eq(t_last(t)->message.header.credits, 5);
	cr_assert_eq(t_look(t, 0).outstanding_async, 1u);
	cr_assert_eq(t->works, 1u);
	t_work_done(t, 0);
	struct t_reply *final = t_last(t);
	cr_assert_eq(t_status(final), STATUS_SUCCESS);
	cr_assert_eq(final->message.header.credits, 0);
	cr_assert(final->message.header.flags & SMB2_FLAGS_ASYNC_COMMAND);
	cr_assert_eq(t_look(t, 0).outstanding, 0u);
	cr_assert_eq(t_look(t, 0).outstanding_async, 0u);
	struct smb2_file_id id = final->message.body.create_rsp.file_id;
	cr_assert_eq(t_status(t_close(t, id)), STATUS_SUCCESS);
	choose(t, (struct smb_server_choice){ .grant = 5, .interim = true });
	cr_assert_eq(t_status(echo(t)), STATUS_SUCCESS, "an ECHO is answered at once");
	t_free(t);
}

Test(choice, the_last_of_a_compound_may_be_answered_later)
{
	static const uint32_t lasts[] = { SMB2_CLOSE, SMB2_READ };

	for (int i = 0; i < 2; i++) {
		struct t *t = start();
		choose(t, (struct smb_server_choice){ .grant = 5, .interim = true });
		cr_assert_eq(send_chain(t, lasts[i]), 3u);
		cr_assert_eq(t->reply[0].members, 2u);
		cr_assert_eq(t->reply[1].message.header.credits, 0);
		cr_assert_eq(t_status(&t->reply[2]), STATUS_PENDING);
		cr_assert_eq(t->reply[2].message.header.credits, 5);
		cr_assert_eq(t_look(t, 0).outstanding, 1u);
		for (uint32_t work = 0, works = t->works; work < works; work++)
			t_work_done(t, work);
		cr_assert_eq(t_status(t_last(t)), STATUS_SUCCESS);
		cr_assert_eq(t_last(t)->message.header.command, lasts[i]);
		cr_assert_eq(t_look(t, 0).outstanding, 0u);
		t_free(t);
	}
}

Test(choice, a_lost_connection_takes_late_answers_with_it)
{
	struct t *t = start();

	choose(t, (struct smb_server_choice){ .grant = 5, .interim = true });
	send_chain(t, SMB2_CLOSE);
	smb_server_closed(t->server, 0, 0);
	cr_assert(smb_server_is_valid(t->server));
	t_work_done(t, 0);
	cr_assert_eq(t->replies, 0u);
	t_free(t);
}

Test(choice, a_session_expires_until_it_is_authenticated_again)
{
	struct t *t = start();
	struct smb2_file_id id = t_open(t, "file");

	choose(t, (struct smb_server_choice){ .grant = 1, .expire = true });
	cr_assert_eq(t_status(t_query_info(t, id, 1, 18, 4096)), STATUS_NETWORK_SESSION_EXPIRED);
	cr_assert_eq(t_status(t_query_info(t, id, 1, 18, 4096)), STATUS_NETWORK_SESSION_EXPIRED);
	cr_assert_eq(t_status(t_close(t, id)), STATUS_SUCCESS, "MS-SMB2 3.3.5.2.9 exempts CLOSE");
	cr_assert_eq(t_status(t_session_setup_leg(t, 0, t->session_id, 0)), STATUS_MORE_PROCESSING_REQUIRED);
	cr_assert_eq(t_status(t_session_setup_leg(t, 0, t->session_id, 0)), STATUS_SUCCESS);
	cr_assert_eq(t_status(t_create(t, "file", 1, 0)), STATUS_SUCCESS);
	t_free(t);
}
