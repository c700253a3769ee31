/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Credits as a client meets them; some after smbtorture smb2.credits. */

#include "sim/server/tests/harness.h"

Test(credits, negotiate_grants_one_and_so_does_the_first_leg)
{
	struct t *t = t_new();

	t->credits = 65535;
	cr_assert_eq(t_negotiate(t, 0, SMB2_DIALECT_311)->message.header.credits, 1);
	struct t_reply *reply = t_session_setup_leg(t, 0, 0, 0);
	cr_assert_eq(t_status(reply), STATUS_MORE_PROCESSING_REQUIRED);
	cr_assert_eq(reply->message.header.credits, 1);
	cr_assert_eq(t_look(t, 0).granted, 1u);
	t_free(t);
}

Test(credits, session_setup_grants_at_least_8192_when_asked)
{
	struct t *t = t_new();

	t->credits = 65535;
	t_negotiate(t, 0, SMB2_DIALECT_311);
	t_session_setup(t, 0);
	cr_assert_geq(t_last(t)->message.header.credits, 8192);
	cr_assert_eq(t_look(t, 0).granted, 8192u);
	t_free(t);
}

Test(credits, a_single_request_brings_all_credits)
{
	struct t *t = t_new();

	t_negotiate(t, 0, SMB2_DIALECT_311);
	t_session_setup(t, 0); /* asks for 1 */
	cr_assert_eq(t_look(t, 0).granted, 1u);
	t->credits = 65535;
	cr_assert_geq(t_tree_connect(t, 0, "\\\\server\\share")->message.header.credits, 8192);
	t_free(t);
}

Test(credits, asking_for_none_keeps_what_one_has)
{
	struct t *t = t_new();

	t_mount(t);
	uint32_t before = t_look(t, 0).granted;
	t->credits = 0;
	struct smb2_message echo = t_request(t, 0, SMB2_ECHO, SMB2_BODY_EMPTY);
	cr_assert_eq(t_ask(t, 0, &echo)->message.header.credits, 1);
	cr_assert_eq(t_look(t, 0).granted, before);
	t_free(t);
}

Test(credits, profile_limits_what_one_reply_brings)
{
	struct smb_server_profile profile = t_profile();

	profile.credits_per_reply_max = 31;
	profile.credits_initial_extra = 4;
	profile.credits_max = 100;
	struct t *t = t_new_with(&smb_server_limits_simulation, &profile);
	t->credits = 500;
	cr_assert_eq(t_negotiate(t, 0, SMB2_DIALECT_311)->message.header.credits, 5);
	t_session_setup(t, 0);
	cr_assert_eq(t_last(t)->message.header.credits, 32);
	t_tree_connect(t, 0, "\\\\server\\share");
	t_tree_connect(t, 0, "\\\\server\\share");
	t_tree_connect(t, 0, "\\\\server\\share");
	cr_assert_eq(t_look(t, 0).granted, 100u);
	t_free(t);
}

/* smb2.credits.skipped_mid: one id is left out, the next 8191 one-byte writes go through, then the id is used and the
 * whole window comes back. */
Test(credits, a_skipped_id_leaves_8191_writes)
{
	struct t *t = t_new();

	t->credits = 65535;
	t_negotiate(t, 0, SMB2_DIALECT_311);
	t_session_setup(t, 0);
	t->tree_id = t_tree_connect(t, 0, "\\\\server\\share")->message.header.tree_id;
	struct smb2_file_id id = t_open(t, "skipped");
	cr_assert_eq(t_look(t, 0).granted, 8192u);
	uint64_t hole = t->next_id[0]++;
	for (uint32_t i = 0; i < 8191; i++) {
		struct t_reply *reply = t_write(t, id, i, (struct smb_slice){ 3, i, 1 });
		cr_assert_eq(t_status(reply), STATUS_SUCCESS, "write %u", i);
	}
	cr_assert_eq(t_look(t, 0).granted, 1u);
	cr_assert_eq(t_look(t, 0).window_low, hole);
	uint64_t next = t->next_id[0];
	t->next_id[0] = hole;
	struct t_reply *reply = t_close(t, id);
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
	cr_assert_eq(reply->message.header.credits, 8192);
	cr_assert_eq(t_look(t, 0).window_low, next);
	t->next_id[0] = next;
	t_free(t);
}

Test(credits, a_write_beyond_the_window_is_cut)
{
	struct t *t = t_new();

	t_mount(t);
	struct smb_server_connection_info info = t_look(t, 0);
	t->next_id[0] = info.window_low + info.window_length;
	struct smb2_message echo = t_request(t, 0, SMB2_ECHO, SMB2_BODY_EMPTY);
	cr_assert_eq(t_send(t, 0, &echo, 1), SMB_SERVER_CUT);
	cr_assert_eq(t->replies, 0u);
	cr_assert(strstr(t->cut, "outside the window"), "%s", t->cut);
	cr_assert_not(t_look(t, 0).open);
	t_free(t);
}

Test(credits, duplicate_ids_and_charges_that_are_not_held_are_cut)
{
	static const struct {
		uint64_t back;
		uint16_t charge;
		const char *expect;
	} cases[] = { { 1, 1, "outside the window" }, { 0, 60000, "more than the client holds" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct t *t = t_new();
		t_mount(t);
		t->charge = cases[i].charge;
		t->next_id[0] -= cases[i].back;
		struct smb2_message echo = t_request(t, 0, SMB2_ECHO, SMB2_BODY_EMPTY);
		cr_assert_eq(t_send(t, 0, &echo, 1), SMB_SERVER_CUT);
		cr_assert(strstr(t->cut, cases[i].expect), "%s", t->cut);
		t_free(t);
	}
}

Test(credits, charge_must_pay_for_the_payload)
{
	static const struct {
		uint16_t command;
		uint32_t bytes;
		uint16_t charge;
		uint32_t expect;
	} cases[] = {
		{ SMB2_READ, 65536, 1, STATUS_SUCCESS },       { SMB2_READ, 65537, 1, STATUS_INVALID_PARAMETER },
		{ SMB2_READ, 65537, 2, STATUS_SUCCESS },       { SMB2_READ, 131073, 2, STATUS_INVALID_PARAMETER },
		{ SMB2_WRITE, 65536, 1, STATUS_SUCCESS },      { SMB2_WRITE, 65537, 1, STATUS_INVALID_PARAMETER },
		{ SMB2_WRITE, 4 << 20, 64, STATUS_SUCCESS },   { SMB2_WRITE, 4 << 20, 63, STATUS_INVALID_PARAMETER },
		{ SMB2_QUERY_INFO, 65536, 1, STATUS_SUCCESS }, { SMB2_QUERY_INFO, 65537, 1, STATUS_INVALID_PARAMETER },
	};
	struct t *t = t_new();

	t_mount(t);
	struct smb2_file_id id = t_open(t, "file");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct t_reply *reply = NULL;
		t->charge = cases[i].charge;
		if (cases[i].command == SMB2_READ)
			reply = t_read(t, id, 0, cases[i].bytes);
		if (cases[i].command == SMB2_WRITE)
			reply = t_write(t, id, 0, (struct smb_slice){ 7, 0, cases[i].bytes });
		if (cases[i].command == SMB2_QUERY_INFO)
			reply = t_query_info(t, id, SMB2_O_INFO_FILE, 18, cases[i].bytes);
		cr_assert_eq(t_status(reply), cases[i].expect, "case %zu: %x", i, t_status(reply));
		cr_assert_eq(reply->message.header.credits, cases[i].charge, "the charge comes back");
	}
	t_free(t);
}

Test(credits, a_202_client_pays_one_credit_whatever_it_says)
{
	struct t *t = t_new();

	t->credits = 20;
	t_negotiate(t, 0, SMB2_DIALECT_202);
	t_session_setup(t, 0);
	t->tree_id = t_tree_connect(t, 0, "\\\\server\\share")->message.header.tree_id;
	struct smb2_file_id id = t_open(t, "file");
	struct smb2_message read = t_read_request(t, id, 0, 65536);
	read.header.credit_charge = 0;
	uint64_t low = t_look(t, 0).window_low;
	cr_assert_eq(t_status(t_ask(t, 0, &read)), STATUS_SUCCESS);
	cr_assert_eq(t_look(t, 0).window_low, low + 1);
	cr_assert_eq(t_status(t_read(t, id, 0, 65537)), STATUS_INVALID_PARAMETER);
	t_free(t);
}

Test(credits, a_chain_is_granted_in_its_last_reply)
{
	struct t *t = t_new();

	t_mount(t);
	t->credits = 10;
	struct smb2_message chain[3];
	for (int i = 0; i < 3; i++)
		chain[i] = t_request(t, 0, SMB2_ECHO, SMB2_BODY_EMPTY);
	cr_assert_eq(t_send(t, 0, chain, 3), SMB_SERVER_OK);
	cr_assert_eq(t->replies, 3u);
	cr_assert_eq(t->reply[0].message.header.credits, 0);
	cr_assert_eq(t->reply[1].message.header.credits, 0);
	cr_assert_eq(t->reply[2].message.header.credits, 30);
	t_free(t);
}

/* What the client counts and what the server counts agree after any mix of requests (C6). */
Test(credits, both_sides_count_the_same)
{
	struct t *t = t_new();
	uint32_t random = 7;
	uint64_t spent = 0;

	t_mount(t);
	struct smb2_file_id id = t_open(t, "file");
	spent = t->next_id[0];
	for (uint32_t i = 0; i < 2000; i++) {
		random = random * 1664525 + 1013904223;
		t->charge = (uint16_t)(1 + (random >> 20) % 4);
		t->credits = (uint16_t)((random >> 10) % 12);
		if (t_look(t, 0).granted < t->charge)
			t->charge = 1;
		t_read(t, id, (random >> 8) % (12 << 20), 65536);
		spent += t->charge;
		cr_assert_eq(1 + t->credits_seen[0] - spent, t_look(t, 0).granted);
	}
	t_free(t);
}
