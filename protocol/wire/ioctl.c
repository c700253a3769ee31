/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* IOCTL (MS-SMB2 2.2.31, 2.2.32) and the list of interfaces that multichannel starts from (2.2.32.5). */
#include "protocol/wire/body.h"

enum smb_wire_verdict smb2_ioctl_req_encode(struct smb_member_writer *writer, uint8_t *fixed,
					    const struct smb2_message *message)
{
	const struct smb2_ioctl_req *req = &message->body.ioctl_req;
	smb_put32(fixed + 4, req->ctl_code);
	smb_put_file_id(fixed + 8, req->file_id);
	smb_put32(fixed + 24, req->input.length ? writer->used : 0);
	smb_put32(fixed + 28, req->input.length);
	smb_put32(fixed + 32, req->max_input_response);
	smb_put32(fixed + 44, req->max_output_response);
	smb_put32(fixed + 48, req->flags);
	return req->input.length ? smb_member_append(writer, req->input) : smb_member_minimum(writer);
}

/* OutputOffset and OutputCount are reserved in requests: clients set them to 0 and servers ignore them. */
enum smb_wire_verdict smb2_ioctl_req_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_ioctl_req *req = &message->body.ioctl_req;
	req->ctl_code = smb_get32(fixed + 4);
	req->file_id = smb_get_file_id(fixed + 8);
	req->max_input_response = smb_get32(fixed + 32);
	req->max_output_response = smb_get32(fixed + 44);
	req->flags = smb_get32(fixed + 48);
	return smb_member_view(member, smb_get32(fixed + 24), smb_get32(fixed + 28), &req->input);
}

enum smb_wire_verdict smb2_ioctl_rsp_encode(struct smb_member_writer *writer, uint8_t *fixed,
					    const struct smb2_message *message)
{
	const struct smb2_ioctl_rsp *rsp = &message->body.ioctl_rsp;
	smb_put32(fixed + 4, rsp->ctl_code);
	smb_put_file_id(fixed + 8, rsp->file_id);
	smb_put32(fixed + 24, writer->used);
	smb_put32(fixed + 28, rsp->input.length);
	smb_put32(fixed + 40, rsp->flags);
	enum smb_wire_verdict verdict = smb_member_append(writer, rsp->input);
	if (verdict == SMB_WIRE_OK && rsp->output.length)
		verdict = smb_member_align8(writer);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	smb_put32(fixed + 32, writer->used);
	smb_put32(fixed + 36, rsp->output.length);
	return smb_member_append(writer, rsp->output);
}

enum smb_wire_verdict smb2_ioctl_rsp_decode(const struct smb_member *member, struct smb2_message *message)
{
	const uint8_t *fixed = smb_member_fixed(member);
	struct smb2_ioctl_rsp *rsp = &message->body.ioctl_rsp;
	rsp->ctl_code = smb_get32(fixed + 4);
	rsp->file_id = smb_get_file_id(fixed + 8);
	rsp->flags = smb_get32(fixed + 40);
	rsp->output = (struct smb_blob){ NULL, 0 };
	enum smb_wire_verdict verdict = smb_member_view(member, smb_get32(fixed + 24), smb_get32(fixed + 28),
							&rsp->input);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	verdict = smb_member_view(member, smb_get32(fixed + 32), smb_get32(fixed + 36), &rsp->output);
	if (verdict != SMB_WIRE_OK)
		return verdict;
	return smb_blobs_overlap(rsp->input, rsp->output) ? SMB_WIRE_BAD_OFFSET : SMB_WIRE_OK;
}

#define INTERFACE_SIZE 152u
#define FAMILY_IPV4 0x0002u
#define FAMILY_IPV6 0x0017u

/* The address is a sockaddr of 128 bytes at 24: family, port in network order, then IPv4 at 4 or IPv6 at 8. */
static void interface_encode(const struct smb2_network_interface *interface, uint8_t *p)
{
	memset(p, 0, INTERFACE_SIZE);
	smb_put32(p + 4, interface->index);
	smb_put32(p + 8, interface->capability);
	smb_put64(p + 16, interface->link_speed_bps);
	smb_put16(p + 24, interface->is_ipv6 ? FAMILY_IPV6 : FAMILY_IPV4);
	p[26] = (uint8_t)(interface->port >> 8);
	p[27] = (uint8_t)interface->port;
	if (interface->is_ipv6)
		memcpy(p + 32, interface->address, 16);
	else
		memcpy(p + 28, interface->address, 4);
}

enum smb_wire_verdict smb2_interfaces_encode(const struct smb2_network_interface *list, uint32_t count, uint8_t *buffer,
					     uint32_t size, uint32_t *used)
{
	if (count > size / INTERFACE_SIZE)
		return SMB_WIRE_NO_SPACE;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *p = buffer + i * INTERFACE_SIZE;
		interface_encode(&list[i], p);
		smb_put32(p, i + 1 < count ? INTERFACE_SIZE : 0);
	}
	*used = count * INTERFACE_SIZE;
	return SMB_WIRE_OK;
}

/* False for an address family that is neither IPv4 nor IPv6. */
static bool interface_decode(const uint8_t *p, struct smb2_network_interface *interface)
{
	uint16_t family = smb_get16(p + 24);
	if (family != FAMILY_IPV4 && family != FAMILY_IPV6)
		return false;
	*interface = (struct smb2_network_interface){
		.index = smb_get32(p + 4),
		.capability = smb_get32(p + 8),
		.link_speed_bps = smb_get64(p + 16),
		.is_ipv6 = family == FAMILY_IPV6,
		.port = (uint16_t)(p[26] << 8 | p[27]),
	};
	memcpy(interface->address, p + (interface->is_ipv6 ? 32 : 28), interface->is_ipv6 ? 16 : 4);
	return true;
}

enum smb_wire_verdict smb2_interfaces_decode(struct smb_blob blob, struct smb2_network_interface *list, uint32_t *count)
{
	uint32_t room = *count;
	*count = 0;
	while (blob.length) {
		struct smb2_network_interface interface;
		if (blob.length < INTERFACE_SIZE)
			return SMB_WIRE_TRUNCATED;
		uint32_t next = smb_get32(blob.data);
		if (next % 8 || (next && next < INTERFACE_SIZE))
			return SMB_WIRE_BAD_OFFSET;
		if (next > blob.length)
			return SMB_WIRE_TRUNCATED;
		if (interface_decode(blob.data, &interface)) {
			if (*count == room)
				return SMB_WIRE_TOO_MANY;
			list[(*count)++] = interface;
		}
		if (!next)
			return SMB_WIRE_OK;
		blob = (struct smb_blob){ blob.data + next, blob.length - next };
	}
	return SMB_WIRE_OK;
}
