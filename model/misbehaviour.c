/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/misbehaviour.h"

#include "protocol/monitor/monitor.h"

#include <string.h>

#define RULE(number) (UINT64_C(1) << (number))
#define ROW(member, tells_, max_, rules_, may_fail_)                                                                   \
	{                                                                                                              \
		.name = #member, .tells = tells_, .at = offsetof(struct smb_server_misbehaviour, member),              \
		.bytes = sizeof(((struct smb_server_misbehaviour *)NULL)->member), .max = max_, .rules = rules_,       \
		.may_fail = may_fail_                                                                                  \
	}

static const struct model_misbehaviour rows[] = {
	ROW(starves, "a chosen grant of 0 stays 0 for a client that is left with nothing", 1, RULE(11), true),
	ROW(overgrants, "every reply says 65535 credits", 1, 0, false),
	ROW(break_grant, "the answer to a break acknowledgement grants so much", 1000, 0, false),
	ROW(interim_is_free, "an interim reply grants nothing, and its final one neither", 1, RULE(9) | RULE(11), true),
	ROW(final_grants, "a final reply grants again what its interim one did", 1, RULE(9), false),
	ROW(pending_is_odd, "interim replies are a byte too long", 1, 0, false),
	ROW(write_has_junk, "three more bytes behind the reply to a WRITE", 1, 0, false),
	ROW(last_is_unpadded, "the last reply of a compound is not padded to 8", 1, 0, false),
	ROW(next_is_wild, "NextCommand of a compound's last reply points behind the PDU", 1, RULE(12), true),
	ROW(second_read_is_lost, "READ after READ in a compound: the second is not answered", 1, RULE(7), true),
	ROW(interfaces_are_padded, "eight more bytes behind the interface list", 1, 0, false),
	ROW(break_copies, "a break notification comes so often in one PDU", 32, 0, false),
	ROW(write_pushback, "each so-manyeth WRITE fails with INSUFFICIENT_RESOURCES", 1000, 0, true),
};

const struct model_misbehaviour *model_misbehaviours(uint32_t *count)
{
	*count = sizeof(rows) / sizeof(*rows);
	return rows;
}

void model_misbehaviour_set(const struct model_misbehaviour *row, struct smb_server_misbehaviour *misbehaviour,
			    uint32_t value)
{
	void *member = (uint8_t *)misbehaviour + row->at;

	if (row->bytes == sizeof(bool))
		*(bool *)member = value != 0;
	else if (row->bytes == sizeof(uint16_t))
		*(uint16_t *)member = (uint16_t)value;
	else
		*(uint32_t *)member = value;
}

bool model_misbehaviour_is_on(const struct model_misbehaviour *row, const struct smb_server_misbehaviour *misbehaviour)
{
	static const uint8_t off[sizeof(uint32_t)];

	return memcmp((const uint8_t *)misbehaviour + row->at, off, row->bytes) != 0;
}

uint64_t model_misbehaviour_rules(const struct smb_server_misbehaviour *misbehaviour)
{
	uint64_t rules = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		rules |= model_misbehaviour_is_on(&rows[i], misbehaviour) ? rows[i].rules : 0;
	return rules;
}

bool model_misbehaviour_may_fail(const struct smb_server_misbehaviour *misbehaviour)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].may_fail && model_misbehaviour_is_on(&rows[i], misbehaviour))
			return true;
	}
	return false;
}
