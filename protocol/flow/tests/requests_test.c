/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/flow/requests.h"

#include <criterion/criterion.h>

#define SIZE 64

static struct smb_request slots[SIZE];
static uint32_t buckets[SIZE];
static const struct smb_request_arrays arrays = { slots, buckets };

static struct smb_requests new_table(void)
{
	struct smb_requests table;

	cr_assert_eq(smb_requests_buckets(SIZE), SIZE);
	smb_requests_init(&table, arrays, SIZE);
	return table;
}

static uint32_t send(struct smb_requests *table, uint32_t channel, uint64_t message_id)
{
	uint32_t slot = smb_requests_take(table, arrays);

	cr_assert_neq(slot, SMB_REQUEST_NONE);
	slots[slot].channel = channel;
	slots[slot].message_id = message_id;
	smb_requests_sent(table, arrays, slot);
	return slot;
}

Test(requests, the_same_id_on_two_channels_is_two_requests)
{
	struct smb_requests table = new_table();
	uint32_t first = send(&table, 0, 16);
	uint32_t second = send(&table, 1, 16);

	cr_expect_neq(first, second);
	cr_expect_eq(smb_requests_find(&table, arrays, 0, 16), first);
	cr_expect_eq(smb_requests_find(&table, arrays, 1, 16), second);
	cr_expect_eq(smb_requests_find(&table, arrays, 2, 16), SMB_REQUEST_NONE);
	cr_expect_eq(smb_requests_find(&table, arrays, 0, 17), SMB_REQUEST_NONE);
	cr_expect(smb_requests_is_valid(&table, arrays));
}

Test(requests, an_ended_request_is_found_no_more_and_may_be_sent_again)
{
	struct smb_requests table = new_table();
	uint32_t slot = send(&table, 0, 5);

	smb_requests_ended(&table, arrays, slot);
	cr_expect_eq(smb_requests_find(&table, arrays, 0, 5), SMB_REQUEST_NONE);
	slots[slot].channel = 3;
	slots[slot].message_id = 9;
	smb_requests_sent(&table, arrays, slot);
	cr_expect_eq(smb_requests_find(&table, arrays, 3, 9), slot);
	smb_requests_ended(&table, arrays, slot);
	smb_requests_release(&table, arrays, slot);
	cr_expect_eq(table.taken, 0);
	cr_expect(smb_requests_is_valid(&table, arrays));
}

Test(requests, a_full_table_says_so_and_every_slot_comes_back)
{
	struct smb_requests table = new_table();

	for (uint32_t i = 0; i < SIZE; i++)
		send(&table, i % 4, (uint64_t)(i / 4) * 16);
	cr_expect_eq(smb_requests_take(&table, arrays), SMB_REQUEST_NONE);
	cr_expect(smb_requests_is_valid(&table, arrays));
	for (uint32_t i = 0; i < SIZE; i += 3) {
		smb_requests_ended(&table, arrays, i);
		smb_requests_release(&table, arrays, i);
		cr_assert(smb_requests_is_valid(&table, arrays));
	}
	cr_expect_neq(smb_requests_take(&table, arrays), SMB_REQUEST_NONE);
}

Test(requests, ids_that_are_multiples_of_the_charge_spread_over_the_buckets)
{
	struct smb_requests table = new_table();
	uint32_t used = 0;

	for (uint32_t i = 0; i < SIZE; i++)
		send(&table, 0, (uint64_t)i * 16);
	for (uint32_t i = 0; i < SIZE; i++)
		used += buckets[i] != SMB_REQUEST_NONE;
	cr_expect_gt(used, SIZE / 2, "%u of %u buckets", used, SIZE);
}

Test(requests, a_table_that_contradicts_itself_is_not_valid)
{
	struct smb_requests table = new_table();
	uint32_t slot = send(&table, 0, 5);

	slots[slot].message_id = 6;
	cr_expect_not(smb_requests_is_valid(&table, arrays));
	slots[slot].message_id = 5;
	cr_expect(smb_requests_is_valid(&table, arrays));
	table.taken++;
	cr_expect_not(smb_requests_is_valid(&table, arrays));
}
