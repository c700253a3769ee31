/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/client/tests/draw.h"

#include <string.h>

uint64_t draw_seed;

/** SplitMix64: the same run on every machine. */
uint32_t draw(uint32_t below)
{
	uint64_t x = draw_seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((x ^ (x >> 31)) % below);
}

bool chance(uint32_t percent)
{
	return draw(100) < percent;
}

void draw_lease_break(struct peer *peer)
{
	struct smb2_message notify;

	memset(&notify, 0, sizeof(notify));
	notify.header.flags = SMB2_FLAGS_SERVER_TO_REDIR;
	notify.header.command = SMB2_OPLOCK_BREAK;
	notify.header.message_id = SMB2_MESSAGE_ID_UNSOLICITED;
	notify.kind = SMB2_BODY_LEASE_BREAK_NOTIFY;
	notify.body.lease_break_notify.flags = draw(2);
	notify.body.lease_break_notify.new_state = draw(8);
	for (uint32_t i = 0; i < 16; i++)
		notify.body.lease_break_notify.lease_key[i] = (uint8_t)(i + 1);
	notify.body.lease_break_notify.lease_key[12] ^= 1;
	if (peer->channels[0].open)
		peer_send(peer, 0, &notify);
}
