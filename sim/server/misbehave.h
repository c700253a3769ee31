/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_SERVER_MISBEHAVE_H
#define SIM_SERVER_MISBEHAVE_H

/** What goes wrong with finished replies when a misbehaviour (choice.h) is on. */

#include "sim/server/call.h"

#define MISBEHAVE_EXTRA 8u /* bytes that a PDU may grow by */

bool server_misbehaviour_is_any(const struct smb_server_misbehaviour *misbehaviour);
/** Spoil `pdu`, which is copied to `copy` of SMB_SERVER_PDU_MAX + MISBEHAVE_EXTRA bytes. */
void server_misbehave(const struct smb_server *server, struct smb_pdu *pdu, uint8_t *copy);
/** The reply of this member of a compound is never sent. */
bool server_misbehave_loses(const struct server_call *call, uint16_t command_before);
/** A WRITE is refused for want of resources. */
bool server_misbehave_refuses(struct server_call *call);

#endif
