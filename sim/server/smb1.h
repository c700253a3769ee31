/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_SERVER_SMB1_H
#define SIM_SERVER_SMB1_H

/**
 * SMB1 clients (MS-CIFS 3.3, MS-SMB 3.3) on the same namespace, handles and storage: a request becomes the SMB2 request
 * that asks the same, the reply is put into SMB1's words. Instead of a sequence window the connection has a number of
 * requests that may be outstanding (MaxMpxCount); there are neither credits nor interim replies.
 */

#include "protocol/wire/smb1.h"
#include "sim/server/call.h"

/** The connection negotiated SMB1. */
static inline bool server_is_smb1(const struct smb_server *server, uint32_t connection)
{
	return server_connection(server, connection)->dialect == SMB1_DIALECT;
}

/** Execute one PDU; `call` is fresh, its reply is put together in `bytes` of SMB_SERVER_PDU_MAX. */
enum server_cut server_smb1_receive(struct server_call *call, const struct smb_pdu *pdu, uint8_t *bytes);
/** The final reply of a READ or WRITE whose storage work is done. */
void server_smb1_answer(struct smb_server *server, const struct server_request *request, uint32_t status);

#endif
