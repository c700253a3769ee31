/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interim and final responses: C9, C18 (MS-SMB2 3.3.4.2). */
#include "protocol/monitor/state.h"

void monitor_interim(struct smb_monitor *monitor, uint32_t slot, const struct smb2_header *header)
{
	struct monitor_request *request = monitor_request_at(monitor, slot);

	if (request->interim) {
		monitor_report(monitor, SMB_RULE_C18, "a second interim response, AsyncId %#llx",
			       (unsigned long long)request->async_id);
		if (header->credits)
			monitor_report(monitor, SMB_RULE_C9, "a second interim response grants %u credits",
				       header->credits);
		return;
	}
	request->interim = true;
	if (!(header->flags & SMB2_FLAGS_ASYNC_COMMAND) || !header->async_id) {
		monitor_report(monitor, SMB_RULE_C18, "STATUS_PENDING without the async flag and an AsyncId");
		return;
	}
	if (monitor_async_find(monitor, request->channel, header->async_id) != SLOT_NONE)
		monitor_report(monitor, SMB_RULE_C18, "AsyncId %#llx is in use by another request",
			       (unsigned long long)header->async_id);
	monitor_async_add(monitor, slot, header->async_id);
}

void monitor_final(struct smb_monitor *monitor, uint32_t slot, const struct smb2_header *header)
{
	const struct monitor_request *request = monitor_request_at(monitor, slot);
	bool async = header->flags & SMB2_FLAGS_ASYNC_COMMAND;

	if (async && !request->interim)
		monitor_report(monitor, SMB_RULE_C18, "a final async response, AsyncId %#llx, without an interim one",
			       (unsigned long long)header->async_id);
	else if (request->async_id && !async)
		monitor_report(monitor, SMB_RULE_C18, "the final response lost AsyncId %#llx",
			       (unsigned long long)request->async_id);
	else if (request->async_id && header->async_id != request->async_id)
		monitor_report(monitor, SMB_RULE_C18, "interim AsyncId %#llx, final AsyncId %#llx",
			       (unsigned long long)request->async_id, (unsigned long long)header->async_id);
	if (request->interim && header->credits)
		monitor_report(monitor, SMB_RULE_C9, "the final response after an interim one grants %u credits",
			       header->credits);
}
