/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/flow/channels.h"

#include <criterion/criterion.h>

#define PICKS 6

struct row {
	enum smb_channel_pick policy;
	uint32_t count;
	uint32_t usable;
	uint32_t in_flight[4];
	uint32_t picks[PICKS];
};

Test(channels, each_policy_picks_in_its_order)
{
	static const struct row table[] = {
		{ SMB_PICK_ROUND_ROBIN, 1, 0x1, { 9 }, { 0, 0, 0, 0, 0, 0 } },
		{ SMB_PICK_ROUND_ROBIN, 4, 0xf, { 9, 0, 0, 0 }, { 1, 2, 3, 0, 1, 2 } },
		{ SMB_PICK_ROUND_ROBIN, 4, 0xd, { 0, 0, 0, 0 }, { 2, 2, 3, 0, 2, 2 } }, /* C32 */
		{ SMB_PICK_LEAST_IN_FLIGHT, 4, 0xf, { 0, 0, 0, 0 }, { 1, 2, 3, 0, 1, 2 } },
		{ SMB_PICK_LEAST_IN_FLIGHT, 4, 0xf, { 3, 3, 3, 3 }, { 1, 2, 3, 0, 1, 2 } },
		{ SMB_PICK_LEAST_IN_FLIGHT, 4, 0xf, { 1, 0, 0, 1 }, { 1, 1, 1, 1, 1, 1 } },
		{ SMB_PICK_LEAST_IN_FLIGHT, 4, 0xf, { 0, 1, 0, 0 }, { 0, 0, 0, 0, 0, 0 } },
		{ SMB_PICK_LEAST_IN_FLIGHT, 4, 0xe, { 0, 2, 1, 2 }, { 2, 2, 2, 2, 2, 2 } },
		{ SMB_PICK_LEAST_IN_FLIGHT, 4, 0x5, { 0, 7, 0, 7 }, { 2, 2, 0, 0, 2, 2 } },
		{ SMB_PICK_ROTATING, 4, 0xf, { 0, 0, 0, 0 }, { 1, 2, 3, 0, 1, 2 } },
		{ SMB_PICK_ROTATING, 4, 0xf, { 0, 1, 0, 0 }, { 2, 2, 3, 0, 2, 2 } },
		{ SMB_PICK_ROTATING, 4, 0xf, { 1, 1, 0, 1 }, { 2, 2, 2, 2, 2, 2 } },
		{ SMB_PICK_ROTATING, 4, 0xb, { 0, 0, 0, 0 }, { 1, 3, 3, 0, 1, 3 } },
	};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct smb_channel_picker picker = { 0 };
		struct smb_channel_loads loads = { .count = table[i].count, .usable = table[i].usable };

		for (uint32_t n = 0; n < 4; n++)
			loads.in_flight[n] = table[i].in_flight[n];
		for (uint32_t n = 0; n < PICKS; n++) {
			uint32_t pick = smb_channel_pick(&picker, table[i].policy, &loads);

			cr_expect_eq(pick, table[i].picks[n], "row %u pick %u is %u", i, n, pick);
		}
	}
}

Test(channels, nothing_is_picked_when_none_is_usable)
{
	static const enum smb_channel_pick policies[] = { SMB_PICK_ROUND_ROBIN, SMB_PICK_LEAST_IN_FLIGHT,
							  SMB_PICK_ROTATING };

	for (uint32_t i = 0; i < 3; i++) {
		struct smb_channel_picker picker = { 0 };
		struct smb_channel_loads loads = { .count = 3 };

		cr_expect_eq(smb_channel_pick(&picker, policies[i], &loads), SMB_PICK_NONE);
	}
}
