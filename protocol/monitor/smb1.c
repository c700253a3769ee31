/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connections that speak SMB1. No rule of the monitor is about them: MIDs come back as soon as they are answered, there
 * are no credits, and FIDs and sizes mean other things. They are only counted; `credits` is then the number of requests
 * that MaxMpxCount still allows (MS-CIFS 3.2.4.1.5).
 */
#include "protocol/monitor/state.h"

#include "protocol/wire/smb1.h"

void monitor_smb1_sent(struct monitor_channel *channel)
{
	channel->in_flight++;
	channel->credits--;
}

void monitor_smb1_received(struct monitor_channel *channel, const struct smb_pdu *pdu)
{
	struct smb1_message message;

	if (!channel->smb1) {
		channel->smb1 = true;
		channel->in_flight = 1;
		channel->credits = 0;
		if (smb1_message_decode(pdu, &message) == SMB_WIRE_OK && message.kind == SMB1_BODY_NEGOTIATE_RSP)
			channel->credits = (int64_t)message.body.negotiate_rsp.max_mpx_count - 1;
	}
	if (!channel->in_flight)
		return;
	channel->in_flight--;
	channel->credits++;
	channel->pairs++;
}
