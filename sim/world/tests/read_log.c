/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/world/tests/read_log.h"

#include "protocol/wire/message.h"
#include "protocol/wire/smb1.h"

#include <criterion/criterion.h>

static void add(struct read_log *log, struct read_request read)
{
	cr_assert_lt(log->count, READ_LOG_MAX);
	log->reads[log->count++] = read;
}

void read_log_note(void *context, uint64_t when_ns, uint32_t channel, enum sim_side from, const struct smb_pdu *pdu)
{
	struct smb_chain_reader reader;
	struct smb2_message message;
	struct smb1_message smb1;

	(void)when_ns;
	(void)channel;
	if (from != SIM_CLIENT)
		return;
	if (smb1_is_pdu(pdu)) {
		cr_assert_eq(smb1_message_decode(pdu, &smb1), SMB_WIRE_OK);
		if (smb1.kind == SMB1_BODY_READ_REQ)
			add(context,
			    (struct read_request){ smb1.body.read_req.offset, smb1.body.read_req.length, 0, 0 });
		return;
	}
	smb_chain_read(&reader, pdu);
	while (smb_chain_next(&reader, &message) == SMB_WIRE_OK) {
		if (message.kind == SMB2_BODY_READ_REQ)
			add(context, (struct read_request){ message.body.read_req.offset, message.body.read_req.length,
							    message.header.credit_charge, message.header.credits });
	}
}
