/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each rule of facts A7, where it acts and where it just does not. */
#include "protocol/flow/credits.h"

#include <criterion/criterion.h>

static struct smb_policy policy(const char *era)
{
	return smb_era_find(era)->policy;
}

/** Counters in the order ordinary, echo, oplock, in flight. */
static struct smb_credits counters(int32_t ordinary, int32_t echo, int32_t oplock, uint32_t in_flight)
{
	struct smb_credits credits;

	smb_credits_start(&credits, 32000);
	credits.ordinary = ordinary;
	credits.echo = echo;
	credits.oplock = oplock;
	credits.in_flight = credits.in_flight_max = in_flight;
	credits.echoes = credits.oplocks = true;
	return credits;
}

Test(credits, a_new_connection_has_one_credit)
{
	struct smb_credits credits;

	smb_credits_start(&credits, 32000);
	cr_expect_eq(credits.ordinary, 1);
	cr_expect_eq(smb_credits_total(&credits), 1);
	cr_expect_eq(credits.in_flight, 0);
	cr_expect(smb_credits_is_valid(&credits));
}

struct redistribution {
	int32_t total;
	int32_t ordinary, echo, oplock;
	bool echoes, oplocks;
};

Test(credits, when_nothing_is_in_flight_echo_and_oplock_get_their_share)
{
	static const struct redistribution table[] = {
		{ 1, 1, 0, 0, false, false }, { 2, 1, 1, 0, true, false },  { 3, 1, 1, 1, true, true },
		{ 4, 2, 1, 1, true, true },   { 50, 48, 1, 1, true, true },
	};
	struct smb_policy p = policy("6.1");

	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct smb_credits credits;

		smb_credits_start(&credits, 32000);
		cr_assert_eq(smb_credits_take(&credits, &p, SMB_CREDIT_ORDINARY, 1), SMB_CREDIT_TAKEN);
		smb_credits_answered(&credits, SMB_CREDIT_ORDINARY, (uint32_t)table[i].total, credits.instance);
		cr_expect_eq(credits.ordinary, table[i].ordinary, "total %d", table[i].total);
		cr_expect_eq(credits.echo, table[i].echo, "total %d", table[i].total);
		cr_expect_eq(credits.oplock, table[i].oplock, "total %d", table[i].total);
		cr_expect_eq(credits.echoes, table[i].echoes);
		cr_expect_eq(credits.oplocks, table[i].oplocks);
	}
}

Test(credits, an_answer_without_grant_leaves_nothing)
{
	struct smb_policy p = policy("6.1");
	struct smb_credits credits;

	smb_credits_start(&credits, 32000);
	smb_credits_take(&credits, &p, SMB_CREDIT_ORDINARY, 1);
	smb_credits_answered(&credits, SMB_CREDIT_ORDINARY, 0, credits.instance);
	cr_expect_eq(smb_credits_total(&credits), 0);
	cr_expect_eq(smb_credits_take(&credits, &p, SMB_CREDIT_ORDINARY, 1), SMB_CREDIT_STALLED);
}

Test(credits, negotiate_and_session_setup_do_not_redistribute)
{
	static const enum smb_credit_class classes[] = { SMB_CREDIT_NEGOTIATE, SMB_CREDIT_SESSION_SETUP };
	struct smb_policy p = policy("6.1");

	for (uint32_t i = 0; i < 2; i++) {
		struct smb_credits credits;

		smb_credits_start(&credits, 32000);
		smb_credits_take(&credits, &p, classes[i], 1);
		smb_credits_answered(&credits, classes[i], 130, credits.instance);
		cr_expect_eq(credits.ordinary, 130);
		cr_expect_not(credits.echoes);
	}
}

Test(credits, redistribution_clips_to_max_credits)
{
	struct smb_policy p = policy("6.1");
	struct smb_credits credits;

	smb_credits_start(&credits, 100);
	smb_credits_take(&credits, &p, SMB_CREDIT_ORDINARY, 1);
	smb_credits_answered(&credits, SMB_CREDIT_ORDINARY, 100, credits.instance);
	cr_expect_eq(smb_credits_total(&credits), 100);
	smb_credits_take(&credits, &p, SMB_CREDIT_ORDINARY, 1);
	smb_credits_answered(&credits, SMB_CREDIT_ORDINARY, 10, credits.instance);
	cr_expect_eq(smb_credits_total(&credits), 100);
}

Test(credits, no_counter_goes_above_65000)
{
	struct smb_credits credits = counters(64999, 1, 1, 2);

	smb_credits_answered(&credits, SMB_CREDIT_ORDINARY, 1, credits.instance);
	cr_expect_eq(credits.ordinary, 65000);
	smb_credits_granted(&credits, 1);
	cr_expect_eq(credits.ordinary, 65000);
}

Test(credits, an_empty_oplock_reserve_is_filled_while_busy)
{
	struct smb_credits credits = counters(1, 1, 0, 3);

	smb_credits_answered(&credits, SMB_CREDIT_ORDINARY, 1, credits.instance);
	cr_expect_eq(credits.ordinary, 1, "one of two moves over");
	cr_expect_eq(credits.oplock, 1);

	credits = counters(0, 1, 0, 3);
	smb_credits_answered(&credits, SMB_CREDIT_ORDINARY, 1, credits.instance);
	cr_expect_eq(credits.ordinary, 1, "the last credit stays");
	cr_expect_eq(credits.oplock, 0);

	credits = counters(5, 1, 0, 3);
	credits.oplocks = false;
	smb_credits_answered(&credits, SMB_CREDIT_ORDINARY, 1, credits.instance);
	cr_expect_eq(credits.oplock, 0, "not while oplocks are off");
}

Test(credits, oplock_credits_cannot_absorb_the_pool)
{
	struct smb_credits credits = counters(5, 1, 3, 2);

	smb_credits_answered(&credits, SMB_CREDIT_BREAK, 1, credits.instance);
	cr_expect_eq(credits.oplock, 1, "four are too many");
	cr_expect_eq(credits.ordinary, 8);

	credits = counters(5, 1, 2, 2);
	smb_credits_answered(&credits, SMB_CREDIT_BREAK, 1, credits.instance);
	cr_expect_eq(credits.oplock, 3, "three are not");
}

Test(credits, a_break_acknowledgement_never_waits)
{
	struct smb_policy p = policy("6.1");
	struct smb_credits credits = counters(0, 0, 0, 4);

	cr_expect_eq(smb_credits_take(&credits, &p, SMB_CREDIT_BREAK, 1), SMB_CREDIT_TAKEN);
	cr_expect_eq(credits.oplock, -1);
	cr_expect_eq(credits.in_flight, 5);
	cr_expect(smb_credits_is_valid(&credits));
	smb_credits_answered(&credits, SMB_CREDIT_BREAK, 1, credits.instance);
	cr_expect_eq(credits.oplock, 0);
}

Test(credits, one_echo_at_a_time)
{
	struct smb_policy p = policy("6.1");
	struct smb_credits credits = counters(5, 1, 1, 0);

	cr_expect_eq(smb_credits_take(&credits, &p, SMB_CREDIT_ECHO, 1), SMB_CREDIT_TAKEN);
	cr_expect_eq(smb_credits_take(&credits, &p, SMB_CREDIT_ECHO, 1), SMB_CREDIT_BUSY);
	smb_credits_answered(&credits, SMB_CREDIT_ECHO, 1, credits.instance);
	cr_expect_eq(smb_credits_take(&credits, &p, SMB_CREDIT_ECHO, 1), SMB_CREDIT_TAKEN);
	credits = counters(5, 1, 1, 0);
	credits.echoes = false;
	cr_expect_eq(smb_credits_take(&credits, &p, SMB_CREDIT_ECHO, 1), SMB_CREDIT_BUSY);
}

struct single {
	const char *era;
	int32_t ordinary;
	uint32_t in_flight;
	uint32_t count;
	enum smb_credit_verdict verdict;
};

Test(credits, single_requests_leave_the_last_credits_to_chains)
{
	static const struct single table[] = {
		/* MAX_COMPOUND is 7 with 6.1: more than 14 in flight and at most 7 credits */
		{ "6.1", 7, 15, 1, SMB_CREDIT_WAIT },	 { "6.1", 8, 15, 1, SMB_CREDIT_TAKEN },
		{ "6.1", 7, 14, 1, SMB_CREDIT_TAKEN },	 { "6.1", 1, 14, 1, SMB_CREDIT_TAKEN },
		{ "6.1", 7, 15, 3, SMB_CREDIT_TAKEN },	 { "5.10", 5, 11, 1, SMB_CREDIT_WAIT },
		{ "5.10", 6, 11, 1, SMB_CREDIT_TAKEN },	 { "5.10", 5, 10, 1, SMB_CREDIT_TAKEN },
		{ "4.15", 1, 100, 1, SMB_CREDIT_TAKEN }, { "6.1", 0, 1, 1, SMB_CREDIT_WAIT },
		{ "6.1", 0, 0, 1, SMB_CREDIT_STALLED },	 { "6.1", 2, 1, 3, SMB_CREDIT_WAIT },
		{ "6.1", 2, 0, 3, SMB_CREDIT_STALLED },	 { "6.1", 3, 0, 3, SMB_CREDIT_TAKEN },
	};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct smb_policy p = policy(table[i].era);
		struct smb_credits credits = counters(table[i].ordinary, 1, 1, table[i].in_flight);
		enum smb_credit_verdict verdict = smb_credits_take(&credits, &p, SMB_CREDIT_ORDINARY, table[i].count);
		uint32_t taken = verdict == SMB_CREDIT_TAKEN ? table[i].count : 0;

		cr_expect_eq(verdict, table[i].verdict, "row %u", i);
		cr_expect_eq(credits.ordinary, table[i].ordinary - (int32_t)taken, "row %u", i);
		cr_expect_eq(credits.in_flight, table[i].in_flight + taken, "row %u", i);
	}
}

struct transfer {
	const char *era;
	int32_t ordinary;
	uint32_t in_flight;
	uint32_t wanted;
	enum smb_credit_verdict verdict;
	uint32_t bytes;
	uint16_t credits;
};

#define MIB (1u << 20)

Test(credits, a_transfer_gets_what_the_reserve_leaves)
{
	static const struct transfer table[] = {
		{ "6.1", 100, 0, 4 * MIB, SMB_CREDIT_TAKEN, 4 * MIB, 64 },
		{ "6.1", 72, 0, 4 * MIB, SMB_CREDIT_TAKEN, 4 * MIB, 64 },
		{ "6.1", 71, 0, 4 * MIB, SMB_CREDIT_TAKEN, 63 * 65536, 63 },
		{ "6.1", 27, 3, 4 * MIB, SMB_CREDIT_TAKEN, 1245184, 19 }, /* captures, mc4-ra16M */
		{ "6.1", 9, 0, 4 * MIB, SMB_CREDIT_TAKEN, 65536, 1 },
		{ "6.1", 8, 0, 4 * MIB, SMB_CREDIT_TAKEN, 65536, 0 }, /* the ordinary way */
		{ "6.1", 1, 5, 4 * MIB, SMB_CREDIT_TAKEN, 65536, 0 },
		{ "6.1", 1, 5, 4096, SMB_CREDIT_TAKEN, 4096, 0 },
		{ "6.1", 0, 5, 4 * MIB, SMB_CREDIT_WAIT, 0, 0 },
		{ "6.1", 0, 0, 4 * MIB, SMB_CREDIT_STALLED, 0, 0 },
		{ "6.1", 100, 0, 65537, SMB_CREDIT_TAKEN, 65537, 2 },
		{ "6.1", 100, 0, 4096, SMB_CREDIT_TAKEN, 4096, 1 },
		{ "4.15", 2, 0, MIB, SMB_CREDIT_TAKEN, 65536, 1 }, /* reserve of one */
		{ "4.15", 1, 0, MIB, SMB_CREDIT_TAKEN, 65536, 0 },
		{ "4.15", 20, 0, MIB, SMB_CREDIT_TAKEN, MIB, 16 },
	};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct smb_policy p = policy(table[i].era);
		struct smb_credits credits = counters(table[i].ordinary, 1, 1, table[i].in_flight);
		struct smb_credit_take take = { 0 };

		cr_expect_eq(smb_credits_take_io(&credits, &p, table[i].wanted, &take), table[i].verdict, "row %u", i);
		cr_expect_eq(take.bytes, table[i].bytes, "row %u: %u bytes", i, take.bytes);
		cr_expect_eq(take.credits, table[i].credits, "row %u: %u credits", i, take.credits);
		cr_expect_eq(credits.ordinary, table[i].ordinary - table[i].credits, "row %u", i);
		cr_expect_eq(credits.in_flight, table[i].in_flight + (table[i].credits > 0), "row %u", i);
	}
}

Test(credits, a_smaller_transfer_returns_its_credits)
{
	struct smb_policy p = policy("6.1");
	struct smb_credits credits = counters(100, 1, 1, 0);
	struct smb_credit_take take;

	smb_credits_take_io(&credits, &p, 4 * MIB, &take);
	cr_expect_eq(smb_credits_adjust(&credits, &take, 2 * MIB), SMB_CREDIT_ADJUSTED);
	cr_expect_eq(take.credits, 32);
	cr_expect_eq(credits.ordinary, 68);
	cr_expect_eq(smb_credits_adjust(&credits, &take, 2 * MIB + 1), SMB_CREDIT_TOO_LARGE);
	cr_expect_eq(take.credits, 32);
	smb_credits_untake(&credits, &take);
	cr_expect_eq(credits.in_flight, 0);
	cr_expect_eq(smb_credits_total(&credits), 102);
}

Test(credits, credits_of_an_older_connection_are_dropped)
{
	struct smb_policy p = policy("6.1");
	struct smb_credits credits = counters(100, 1, 1, 0);
	struct smb_credit_take take;
	uint32_t before = credits.instance;

	smb_credits_take_io(&credits, &p, 4 * MIB, &take);
	smb_credits_restart(&credits);
	cr_expect_neq(credits.instance, before);
	cr_expect_eq(credits.in_flight, 0);
	cr_expect_eq(smb_credits_adjust(&credits, &take, MIB), SMB_CREDIT_STALE);
	smb_credits_untake(&credits, &take);
	smb_credits_answered(&credits, SMB_CREDIT_ORDINARY, 50, before);
	cr_expect_eq(credits.ordinary, 1);
	cr_expect_eq(smb_credits_total(&credits), 1);
}

Test(credits, an_interim_grant_counts_at_once_and_ends_nothing)
{
	struct smb_policy p = policy("6.1");
	struct smb_credits credits = counters(100, 1, 1, 0);
	struct smb_credit_take take;

	smb_credits_take_io(&credits, &p, 4 * MIB, &take);
	smb_credits_granted(&credits, 135);
	cr_expect_eq(credits.ordinary, 171);
	cr_expect_eq(credits.in_flight, 1);
	smb_credits_answered(&credits, SMB_CREDIT_ORDINARY, 0, credits.instance);
	cr_expect_eq(credits.in_flight, 0);
	cr_expect_eq(smb_credits_total(&credits), 173);
}

struct ask {
	const char *era;
	uint32_t max_credits;
	int32_t ordinary;
	uint16_t general, session_setup, tree_connect, io16;
};

Test(credits, amounts_asked_per_era)
{
	static const struct ask table[] = {
		{ "4.15", 32000, 1, 2, 3, 2, 16 },	 { "5.10", 32000, 1, 10, 130, 64, 24 },
		{ "6.1", 32000, 1, 10, 130, 64, 24 },	 { "6.12", 32000, 1, 10, 130, 64, 24 },
		{ "6.1", 32000, 31995, 5, 130, 64, 24 }, { "6.12", 32000, 31995, 5, 5, 5, 5 },
		{ "6.1", 32000, 32000, 0, 130, 64, 24 }, { "6.12", 32000, 32000, 0, 0, 0, 0 },
		{ "6.12", 32000, 31999, 1, 1, 1, 1 },	 { "6.1", 0, 1, 0, 130, 64, 24 }, /* bug D-49 */
		{ "4.15", 32000, 31999, 1, 3, 1, 16 },
	};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct smb_policy p = policy(table[i].era);
		struct smb_credits credits;

		smb_credits_start(&credits, table[i].max_credits);
		credits.ordinary = table[i].ordinary;
		cr_expect_eq(smb_credits_ask(&credits, &p), table[i].general, "row %u", i);
		cr_expect_eq(smb_credits_ask_session_setup(&credits, &p), table[i].session_setup, "row %u", i);
		cr_expect_eq(smb_credits_ask_tree_connect(&credits, &p), table[i].tree_connect, "row %u", i);
		cr_expect_eq(smb_credits_ask_io(&credits, &p, 16), table[i].io16, "row %u", i);
	}
}
