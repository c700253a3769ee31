/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Signatures as far as they can be seen without keys: C16.
 *
 * Whether a signature is right is not judged. Some hosts of this project have no keys and mark requests as signed
 * without a signature; so that one is missing counts only where others were seen.
 */
#include "protocol/monitor/state.h"

static bool is_signed(const struct smb2_header *header)
{
	return header->flags & SMB2_FLAGS_SIGNED;
}

static bool has_signature(const struct smb2_header *header)
{
	uint8_t any = 0;

	for (uint32_t i = 0; i < sizeof(header->signature); i++)
		any |= header->signature[i];
	return any;
}

/* A channel is bound with a signed SESSION_SETUP (MS-SMB2 3.2.4.1.1, 3.3.5.5.2). */
static bool binds(const struct monitor_member *member)
{
	return member->message && member->message->kind == SMB2_BODY_SESSION_SETUP_REQ &&
	       member->message->body.session_setup_req.flags & SMB2_SESSION_FLAG_BINDING;
}

void monitor_signature_check(struct smb_monitor *monitor, const struct monitor_member *member)
{
	const struct smb2_header *header = member->header;

	monitor->signs |= has_signature(header);
	if (!is_signed(header) && has_signature(header))
		monitor_report(monitor, SMB_RULE_C16, "a signature in a request that is not marked as signed");
	else if (is_signed(header) && !has_signature(header) && monitor->signs)
		monitor_report(monitor, SMB_RULE_C16, "no signature in a request that is marked as signed");
	else if (!is_signed(header) && binds(member))
		monitor_report(monitor, SMB_RULE_C16, "a SESSION_SETUP that binds a channel is not signed");
	else if (member->index && is_signed(header) != member->chain_signed)
		monitor_report(monitor, SMB_RULE_C16, "a chain of which some members are signed and some are not");
}
