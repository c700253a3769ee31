/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* IOCTL (MS-SMB2 3.3.5.15): the two control codes of a mount; everything else is refused as Samba refuses it. */

#include "protocol/wire/endian.h"
#include "sim/server/call.h"

#include <string.h>

#define FSCTL_DFS_GET_REFERRALS 0x00060194u
#define FSCTL_DFS_GET_REFERRALS_EX 0x000601b0u
#define FSCTL_SET_REPARSE_POINT 0x000900a4u
#define FSCTL_GET_REPARSE_POINT 0x000900a8u
#define FLAG_IS_FSCTL 1u
#define INTERFACES_PAD 8 /* bytes, as Azure has them */
#define INTERFACE_BYTES 152u

static uint32_t answer(struct server_call *call, const uint8_t *output, uint32_t length)
{
	const struct smb2_ioctl_req *request = &call->request->body.ioctl_req;

	call->reply->kind = SMB2_BODY_IOCTL_RSP;
	call->reply->body.ioctl_rsp = (struct smb2_ioctl_rsp){
		.ctl_code = request->ctl_code,
		.file_id = request->file_id,
		.output = { output, length },
	};
	return STATUS_SUCCESS;
}

/* MS-SMB2 3.3.5.15.11. Interface i has the address 192.0.2.(i + 1). */
static uint32_t query_interfaces(struct server_call *call)
{
	const struct smb_server *server = call->server;
	struct smb2_network_interface list[16];
	uint32_t room = server->interface_count * INTERFACE_BYTES + INTERFACES_PAD, used = 0, count = 0;

	if (server_call_room(call) < room)
		return STATUS_INSUFFICIENT_RESOURCES;
	for (uint32_t i = 0; i < server->interface_count; i++) {
		if (server->interfaces[i].down)
			continue;
		list[count++] = (struct smb2_network_interface){
			.index = i + 1,
			.capability = server->interfaces[i].rss ? 1 : 0,
			.link_speed_bps = server->interfaces[i].speed_bps,
			.address = { 192, 0, 2, (uint8_t)(i + 1) },
		};
	}
	uint8_t *bytes = server_call_scratch(call, room);
	memset(bytes, 0, room);
	if (smb2_interfaces_encode(list, count, bytes, room, &used) != SMB_WIRE_OK)
		return STATUS_INTERNAL_ERROR;
	if (server->misbehaviour.interfaces_are_padded && used + INTERFACES_PAD <= room)
		used += INTERFACES_PAD;
	if (used > call->request->body.ioctl_req.max_output_response)
		return STATUS_BUFFER_TOO_SMALL;
	return answer(call, bytes, used);
}

/* The highest dialect both sides know must be the one in use; anything else means that somebody changed the
 * NEGOTIATE on its way (MS-SMB2 3.3.5.15.12). */
static bool negotiate_matches(const struct server_call *call, struct smb_blob input)
{
	const struct smb_server_profile *profile = &call->server->profile;
	uint16_t count, best = 0;

	if (input.length < 24)
		return false;
	count = smb_get16(input.data + 22);
	if (input.length < 24 + 2u * count)
		return false;
	for (uint16_t i = 0; i < count; i++) {
		uint16_t dialect = smb_get16(input.data + 24 + 2 * i);
		if (dialect > best && dialect >= profile->dialect_min && dialect <= profile->dialect_max)
			best = dialect;
	}
	return best == call->on->dialect && smb_get32(input.data) == call->on->client_capabilities &&
	       memcmp(input.data + 4, call->on->client_guid, 16) == 0 &&
	       smb_get16(input.data + 20) == call->on->security_mode;
}

static uint32_t validate_negotiate(struct server_call *call)
{
	const struct smb2_ioctl_req *request = &call->request->body.ioctl_req;

	if (!negotiate_matches(call, request->input)) {
		call->cut = SERVER_CUT_VALIDATION;
		return STATUS_ACCESS_DENIED;
	}
	if (request->max_output_response < 24)
		return STATUS_BUFFER_TOO_SMALL;
	if (server_call_room(call) < 24)
		return STATUS_INSUFFICIENT_RESOURCES;
	uint8_t *bytes = server_call_scratch(call, 24);
	smb_put32(bytes, call->on->capabilities);
	memcpy(bytes + 4, call->server->server_guid, 16);
	smb_put16(bytes + 20, 1);
	smb_put16(bytes + 22, call->on->dialect);
	return answer(call, bytes, 24);
}

/* No control code is served on files; Samba 4.17 has no reparse points and says so. */
static uint32_t ioctl_on_file(struct server_call *call)
{
	const struct smb2_ioctl_req *request = &call->request->body.ioctl_req;
	bool is_related = call->request->header.flags & SMB2_FLAGS_RELATED_OPERATIONS;

	if (is_related && status_is_error(call->create_status))
		return call->create_status;
	if (call->handle == SERVER_NONE)
		call->handle = server_handle_find(call->server, call->session, request->file_id);
	if (call->handle == SERVER_NONE)
		return STATUS_FILE_CLOSED;
	if (request->ctl_code == FSCTL_SET_REPARSE_POINT || request->ctl_code == FSCTL_GET_REPARSE_POINT)
		return STATUS_NOT_A_REPARSE_POINT;
	return STATUS_INVALID_DEVICE_REQUEST;
}

uint32_t server_ioctl(struct server_call *call)
{
	const struct smb2_ioctl_req *request = &call->request->body.ioctl_req;

	if (request->flags != FLAG_IS_FSCTL)
		return STATUS_NOT_SUPPORTED;
	if (request->input.length > call->on->max_transact || request->max_output_response > call->on->max_transact)
		return STATUS_INVALID_PARAMETER;
	switch (request->ctl_code) {
	case FSCTL_QUERY_NETWORK_INTERFACE_INFO:
		return query_interfaces(call);
	case FSCTL_VALIDATE_NEGOTIATE_INFO:
		return validate_negotiate(call);
	case FSCTL_DFS_GET_REFERRALS:
	case FSCTL_DFS_GET_REFERRALS_EX:
		return STATUS_NOT_FOUND; /* no DFS here; what Samba 4.17 answers */
	default:
		break;
	}
	return ioctl_on_file(call);
}
