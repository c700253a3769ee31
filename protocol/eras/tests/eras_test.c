/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/eras/policy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(eras, table_lists_every_kernel_of_the_design_in_order)
{
	static const char *const expected[] = { "2.6.39", "3.0",  "3.2", "4.2", "4.15", "4.20",
						"5.10",	  "5.13", "6.1", "6.4", "6.12", "next" };
	size_t count;
	const struct smb_era *eras = smb_eras(&count);

	cr_assert_eq(count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < count; i++) {
		cr_expect_str_eq(eras[i].name, expected[i]);
		cr_expect(smb_policy_is_valid(&eras[i].policy), "%s", eras[i].name);
		cr_expect_eq(smb_era_find(expected[i]), &eras[i]);
		cr_expect_gt(strlen(eras[i].tells), 0);
	}
	cr_expect_null(smb_era_find("6.2"));
	cr_expect_null(smb_era_find(""));
}

/* What the fact base says in so many words, one line per statement. */
static const struct {
	const char *era;
	const char *policy;
	const char *value;
} facts[] = {
	{ "2.6.39", "write_mode", "sync_14_pages" },
	{ "2.6.39", "read_mode", "sync" },
	{ "2.6.39", "readahead_default", "kernel_128k" },
	{ "3.0", "write_mode", "async_50" },
	{ "3.0", "read_mode", "sync" },
	{ "3.2", "read_mode", "async" },
	{ "3.2", "readahead_default", "rounded_128k" },
	{ "4.2", "readahead_default", "rsize" },
	{ "4.15", "readpages_gate", "maxbuf" },
	{ "4.15", "compounding", "none" },
	{ "4.15", "credits_general", "2" },
	{ "4.15", "credits_session_setup", "3" },
	{ "4.15", "credits_io_extra", "0" },
	{ "4.15", "credits_io_reserve", "1" },
	{ "4.15", "rsize_default_3x", "1048576" },
	{ "4.20", "compounding", "2018" },
	{ "5.10", "readpages_gate", "maxread" },
	{ "5.10", "credits_general", "10" },
	{ "5.10", "credits_session_setup", "130" },
	{ "5.10", "credits_tree_connect", "64" },
	{ "5.10", "credits_io_extra", "8" },
	{ "5.10", "credits_io_reserve", "8" },
	{ "5.10", "max_compound", "5" },
	{ "5.10", "rsize_default_3x", "4194304" },
	{ "5.10", "rsize_default_2x", "1048576" },
	{ "5.10", "channel_pick", "round_robin" },
	{ "5.10", "rasize_known", "off" },
	{ "5.13", "rasize_known", "on" },
	{ "5.13", "readahead_default", "rsize" },
	{ "6.1", "max_compound", "7" },
	{ "6.1", "channel_pick", "least_in_flight" },
	{ "6.1", "channel_pick_scope", "window" },
	{ "6.1", "readahead_default", "rsize" },
	{ "6.1", "readahead_shape", "6.1" },
	{ "6.4", "readahead_default", "twice_rsize" },
	{ "6.12", "readahead_shape", "6.12" },
	{ "6.12", "channel_pick", "rotating" },
	{ "6.12", "channel_pick_scope", "request" },
	{ "6.12", "credits_io_clipped", "on" },
	{ "6.12", "wsize_rounded_to_page", "on" },
	{ "6.12", "readahead_credit_brake", "off" },
	{ "next", "readahead_shape", "demand" },
	{ "next", "readahead_credit_brake", "on" },
	{ "next", "readahead_pause", "on" },
	{ "next", "compounding", "readdir_single" },
};

Test(eras, rows_hold_what_the_facts_say)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		char text[SMB_POLICY_TEXT_MIN];

		cr_assert_eq(smb_policy_get(&smb_era_find(facts[i].era)->policy, facts[i].policy, text, sizeof(text)),
			     SMB_POLICY_OK);
		cr_expect_str_eq(text, facts[i].value, "%s %s is %s", facts[i].era, facts[i].policy, text);
	}
}

/** Sets each of a policy's values in turn and reads it back; returns how many there are. */
static unsigned int set_and_get_all(const char *name)
{
	char list[128];
	char *rest = list;
	char *value;
	unsigned int tried = 0;

	cr_assert_lt((size_t)snprintf(list, sizeof(list), "%s", smb_policy_values(name)), sizeof(list));
	while ((value = strsep(&rest, "|"))) {
		struct smb_policy policy = smb_era_find("6.1")->policy;
		char text[SMB_POLICY_TEXT_MIN];
		const char *typed = strcmp(value, "number") ? value : "1";

		if (smb_policy_set(&policy, name, typed) == SMB_POLICY_BAD_VALUE)
			typed = "4096"; /* sizes start there */
		cr_expect_eq(smb_policy_set(&policy, name, typed), SMB_POLICY_OK, "%s=%s", name, typed);
		cr_expect_eq(smb_policy_get(&policy, name, text, sizeof(text)), SMB_POLICY_OK);
		cr_expect_str_eq(text, typed, "%s", name);
		cr_expect(smb_policy_is_valid(&policy));
		tried++;
	}
	return tried;
}

Test(eras, every_value_of_every_policy_reads_back_as_set)
{
	unsigned int policies = 0;
	unsigned int values = 0;

	for (const char *name; (name = smb_policy_name(policies)); policies++)
		values += set_and_get_all(name);
	cr_expect_geq(policies, 30);
	cr_expect_geq(values, 54);
	cr_expect_null(smb_policy_name(policies + 1));
}

Test(eras, setting_one_policy_leaves_all_others_alone)
{
	const struct smb_policy before = smb_era_find("6.12")->policy;
	struct smb_policy after = before;

	cr_assert_eq(smb_policy_set(&after, "channel_pick", "round_robin"), SMB_POLICY_OK);
	for (size_t i = 0; smb_policy_name(i); i++) {
		char old[SMB_POLICY_TEXT_MIN];
		char new[SMB_POLICY_TEXT_MIN];

		smb_policy_get(&before, smb_policy_name(i), old, sizeof(old));
		smb_policy_get(&after, smb_policy_name(i), new, sizeof(new));
		cr_expect_eq(!strcmp(old, new), strcmp(smb_policy_name(i), "channel_pick") != 0);
	}
}

Test(eras, wrong_names_and_values_are_told_apart)
{
	static const struct {
		const char *name;
		const char *value;
		enum smb_policy_verdict verdict;
	} cases[] = {
		{ "channel_pik", "rotating", SMB_POLICY_UNKNOWN_NAME },
		{ "", "rotating", SMB_POLICY_UNKNOWN_NAME },
		{ "channel_pick", "rotatin", SMB_POLICY_BAD_VALUE },
		{ "channel_pick", "rotatingx", SMB_POLICY_BAD_VALUE },
		{ "channel_pick", "round_robin|rotating", SMB_POLICY_BAD_VALUE },
		{ "channel_pick", "", SMB_POLICY_BAD_VALUE },
		{ "channel_pick", "2", SMB_POLICY_BAD_VALUE },
		{ "credits_general", "0", SMB_POLICY_BAD_VALUE },
		{ "credits_general", "65535", SMB_POLICY_OK },
		{ "credits_general", "65536", SMB_POLICY_BAD_VALUE },
		{ "credits_general", "-1", SMB_POLICY_BAD_VALUE },
		{ "credits_general", "1x", SMB_POLICY_BAD_VALUE },
		{ "credits_general", "", SMB_POLICY_BAD_VALUE },
		{ "rsize_default_3x", "18446744073709551617", SMB_POLICY_BAD_VALUE },
		{ "rasize_known", "yes", SMB_POLICY_BAD_VALUE },
		{ "rasize_known", "on", SMB_POLICY_OK },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct smb_policy policy = smb_era_find("6.1")->policy;

		cr_expect_eq(smb_policy_set(&policy, cases[i].name, cases[i].value), cases[i].verdict, "%s=%s",
			     cases[i].name, cases[i].value);
		cr_expect(smb_policy_is_valid(&policy));
	}
	cr_expect_null(smb_policy_values("channel_pik"));
}

Test(eras, numbers_outside_their_enums_make_a_policy_invalid)
{
	struct smb_policy policy = smb_era_find("6.1")->policy;
	char text[SMB_POLICY_TEXT_MIN];

	policy.channel_pick = (enum smb_channel_pick)3;
	cr_expect_not(smb_policy_is_valid(&policy));
	cr_expect_eq(smb_policy_get(&policy, "channel_pick", text, sizeof(text)), SMB_POLICY_BAD_VALUE);
	policy.channel_pick = SMB_PICK_ROTATING;
	cr_expect(smb_policy_is_valid(&policy));
	policy.max_credits_default = 19;
	cr_expect_not(smb_policy_is_valid(&policy));
}
