/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_TESTS_PEER_SERVER_H
#define SMB_CLIENT_TESTS_PEER_SERVER_H

/** The server's half of the peer; private to it. */

#include "protocol/client/tests/peer.h"

/** Judge and note a PDU of the client's, and queue the answer. */
void peer_serve(struct peer *peer, uint32_t channel, const struct smb_pdu *pdu);

#endif
