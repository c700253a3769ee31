/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/ops/notation.h"

#include <criterion/criterion.h>
#include <string.h>

static struct smb_notation_member member(uint16_t command, uint32_t status, const char *detail)
{
	struct smb_notation_member made = { .command = command, .status = status, .charge = 1, .asked = 10 };

	strcpy(made.detail, detail);
	return made;
}

static const char *print(const struct smb_notation_pair *pairs, uint32_t count, bool detailed)
{
	static char text[1024];

	cr_assert_lt(smb_notation_print(pairs, count, detailed, text, sizeof(text)), sizeof(text));
	return text;
}

Test(notation, chains_status_and_repetition_are_written_as_in_the_captures)
{
	struct smb_notation_pair pairs[5] = {
		{ 2, { member(SMB2_CREATE, 0, ""), member(SMB2_QUERY_DIRECTORY, 0, "") } },
		{ 1, { member(SMB2_QUERY_DIRECTORY, 0, "") } },
		{ 1, { member(SMB2_QUERY_DIRECTORY, 0, "") } },
		{ 1, { member(SMB2_QUERY_DIRECTORY, STATUS_NO_MORE_FILES, "") } },
		{ 1, { member(SMB2_CLOSE, 0, "") } },
	};

	cr_expect_str_eq(print(pairs, 5, false), "[CREATE+QUERYDIR] [QUERYDIR]*2 [QUERYDIR!80000006] [CLOSE]");
	cr_expect_str_eq(print(pairs, 0, false), "");
}

Test(notation, details_keep_apart_what_the_short_form_joins)
{
	struct smb_notation_pair pairs[3] = {
		{ 1, { member(SMB2_SET_INFO, 0, "(file:EOF)") } },
		{ 1, { member(SMB2_SET_INFO, 0, "(file:Basic)") } },
		{ 1, { member(SMB2_SET_INFO, 0, "(file:Basic)") } },
	};

	pairs[1].members[0].message_id = 7;
	pairs[2].members[0].message_id = 8;
	cr_expect_str_eq(print(pairs, 3, false), "[SETINFO]*3");
	cr_expect_str_eq(print(pairs, 3, true),
			 "[SETINFO(file:EOF)<mid0 ch1 req10 gr0>] [SETINFO(file:Basic)<mid7 ch1 req10 gr0>]*2");
}

Test(notation, text_that_does_not_fit_is_cut_and_its_length_told)
{
	struct smb_notation_pair pair = { 1, { member(SMB2_CLOSE, 0, "") } };
	char text[5];

	for (size_t size = 0; size <= sizeof(text); size++) {
		memset(text, 'x', sizeof(text));
		cr_expect_eq(smb_notation_print(&pair, 1, false, text, size), strlen("[CLOSE]"));
		cr_expect(!size || memchr(text, 0, size), "%zu", size);
	}
}

Test(notation, an_interim_answer_grants_and_says_nothing)
{
	struct smb_notation_member flush = member(SMB2_FLUSH, 0, "");
	struct smb2_message answer = { .header = { .status = STATUS_PENDING, .credits = 10 } };

	smb_notation_response(&flush, &answer);
	answer.header = (struct smb2_header){ .status = STATUS_ACCESS_DENIED };
	smb_notation_response(&flush, &answer);
	cr_expect_eq(flush.granted, 10);
	cr_expect_eq(flush.status, STATUS_ACCESS_DENIED);
}
