/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * CREATEs that name themselves by a CreateGuid and may be sent again: C24.
 *
 * The last limits.files of them are remembered. Nothing is said of a replay when some were forgotten, or were sent
 * before the monitor began to watch.
 */
#include "protocol/monitor/state.h"
#include "protocol/wire/contexts.h"

#include <string.h>

static struct monitor_create *create_find(const struct smb_monitor *monitor, const uint8_t guid[16])
{
	for (uint32_t i = 0; i < monitor->limits.files; i++) {
		struct monitor_create *create = monitor_create_at(monitor, i);

		if (create->in_use && !memcmp(create->guid, guid, sizeof(create->guid)))
			return create;
	}
	return NULL;
}

static struct monitor_create *create_add(struct smb_monitor *monitor, const uint8_t guid[16])
{
	struct monitor_create *create = monitor_create_at(monitor, monitor->creates_seen++ % monitor->limits.files);

	*create = (struct monitor_create){ .in_use = true };
	memcpy(create->guid, guid, sizeof(create->guid));
	return create;
}

void monitor_create_sent(struct smb_monitor *monitor, const struct monitor_member *member, uint32_t slot)
{
	const struct smb2_create_req *req = &member->message->body.create_req;
	const struct smb2_context *context = smb2_create_context_find(req->contexts, req->context_count, "DH2Q");
	bool is_replay = member->header->flags & SMB2_FLAGS_REPLAY_OPERATION;
	struct smb2_durable_v2 durable;
	struct monitor_create *create;

	if (!context || smb2_durable_v2_read(context, &durable) != SMB_WIRE_OK) {
		if (is_replay)
			monitor_report(monitor, SMB_RULE_C24, "a CREATE is sent again without a CreateGuid");
		return;
	}
	create = create_find(monitor, durable.create_guid);
	if (is_replay && !create && monitor->watches_all && monitor->creates_seen <= monitor->limits.files)
		monitor_report(monitor, SMB_RULE_C24, "a CREATE is sent again with another CreateGuid than before");
	else if (!is_replay && create)
		monitor_report(monitor, SMB_RULE_C24,
			       "the CreateGuid of an earlier CREATE in one that is not marked as sent again");
	if (!create)
		create = create_add(monitor, durable.create_guid);
	if (slot != SLOT_NONE)
		monitor_request_at(monitor, slot)->create = (uint32_t)(create - monitor_create_at(monitor, 0));
}

void monitor_create_answered(struct smb_monitor *monitor, uint32_t slot, const struct smb2_create_rsp *rsp)
{
	const struct monitor_request *request = monitor_request_at(monitor, slot);
	struct monitor_create *create;

	if (request->create == SLOT_NONE)
		return;
	create = monitor_create_at(monitor, request->create);
	if (create->is_open &&
	    (create->id.persistent != rsp->file_id.persistent || create->id.volatile_id != rsp->file_id.volatile_id))
		monitor_report(monitor, SMB_RULE_C24, "a CREATE that was sent again opened a second time");
	create->is_open = true;
	create->id = rsp->file_id;
}
