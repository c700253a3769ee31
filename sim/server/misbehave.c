/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/server/misbehave.h"
#include "protocol/wire/endian.h"

#include <string.h>

#define NEXT_COMMAND 20 /* offset in the header, MS-SMB2 2.2.1.2 */

bool server_misbehaviour_is_any(const struct smb_server_misbehaviour *misbehaviour)
{
	return misbehaviour->starves || misbehaviour->overgrants || misbehaviour->break_grant ||
	       misbehaviour->interim_is_free || misbehaviour->final_grants || misbehaviour->pending_is_odd ||
	       misbehaviour->write_has_junk || misbehaviour->last_is_unpadded || misbehaviour->next_is_wild ||
	       misbehaviour->second_read_is_lost || misbehaviour->interfaces_are_padded || misbehaviour->break_copies ||
	       misbehaviour->write_pushback;
}

static void append(struct smb_pdu *pdu, uint8_t *copy, uint32_t count)
{
	memset(copy + pdu->length, 'z', count);
	pdu->length += count;
}

void server_misbehave(const struct smb_server *server, struct smb_pdu *pdu, uint8_t *copy)
{
	const struct smb_server_misbehaviour *misbehaviour = &server->misbehaviour;
	uint32_t last = 0, next;
	struct smb2_header header;

	assert(pdu->length <= SMB_SERVER_PDU_MAX);
	memcpy(copy, pdu->bytes, pdu->length);
	pdu->bytes = copy;
	while (smb2_header_decode(copy + last, pdu->length - last, &header, &next) == SMB_WIRE_OK && next)
		last += next;
	if (misbehaviour->next_is_wild && last)
		smb_put32(copy + last + NEXT_COMMAND, 2 * SMB_SERVER_PDU_MAX);
	if (misbehaviour->pending_is_odd && header.status == STATUS_PENDING)
		append(pdu, copy, 1);
	if (misbehaviour->write_has_junk && header.command == SMB2_WRITE && header.status == STATUS_SUCCESS)
		append(pdu, copy, 3);
}

bool server_misbehave_loses(const struct server_call *call, uint16_t command_before)
{
	return call->server->misbehaviour.second_read_is_lost && call->member && command_before == SMB2_READ &&
	       call->request->header.command == SMB2_READ;
}

bool server_misbehave_refuses(struct server_call *call)
{
	uint32_t every = call->server->misbehaviour.write_pushback;

	if (!every || call->request->header.command != SMB2_WRITE)
		return false;
	call->server->writes = (call->server->writes + 1) % every;
	return !call->server->writes;
}
