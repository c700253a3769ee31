/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/flow/window.h"

#include <criterion/criterion.h>

Test(window, a_request_takes_as_many_consecutive_ids_as_it_pays_credits)
{
	struct smb_window window = { 0 };

	cr_expect_eq(smb_window_take(&window, 0), 0, "charge 0 uses one id (C5)");
	cr_expect_eq(smb_window_take(&window, 1), 1);
	cr_expect_eq(smb_window_take(&window, 16), 2);
	cr_expect_eq(smb_window_take(&window, 1), 18);
	cr_expect_eq(window.next, 19);
}

Test(window, ids_of_the_last_request_can_be_given_back)
{
	struct smb_window window = { .next = 5 };
	uint64_t first = smb_window_take(&window, 16);

	cr_expect(smb_window_give_back(&window, first, 16));
	cr_expect_eq(window.next, 5);
	cr_expect_eq(smb_window_take(&window, 0), 5);
	cr_expect(smb_window_give_back(&window, 5, 0));
}

Test(window, a_hole_is_not_made)
{
	struct smb_window window = { .next = 5 };
	uint64_t first = smb_window_take(&window, 16);

	smb_window_take(&window, 1);
	cr_expect_not(smb_window_give_back(&window, first, 16));
	cr_expect_not(smb_window_give_back(&window, 100, 1));
	cr_expect_eq(window.next, 22);
}
