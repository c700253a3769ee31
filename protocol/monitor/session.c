/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Sessions and what belongs to them: C17, C19, C21, C22, C23, C26, C29, C32.
 *
 * Nothing is said about sessions before a SESSION_SETUP was seen: a capture may begin in the middle.
 */
#include "protocol/monitor/state.h"

#include <string.h>

#define BREAK_ACK_REQUIRED 1u /* MS-SMB2 2.2.23.2 */

/* Each connection begins with NEGOTIATE, and no SessionId is used on it but that of its own SESSION_SETUP. */
static void ids_check(struct smb_monitor *monitor, const struct monitor_channel *on,
		      const struct monitor_member *member)
{
	const struct smb2_header *header = member->header;

	if (!on->requests && header->command != SMB2_NEGOTIATE)
		monitor_report(monitor, SMB_RULE_C22, "%s before NEGOTIATE", smb2_command_name(header->command));
	if (header->command == SMB2_NEGOTIATE || header->command == SMB2_SESSION_SETUP || header->command == SMB2_ECHO)
		return;
	if (!on->session)
		monitor_report(monitor, SMB_RULE_C26, "%s before the channel's SESSION_SETUP was complete",
			       smb2_command_name(header->command));
	else if (header->session_id != on->session && header->session_id != UINT64_MAX)
		monitor_report(monitor, SMB_RULE_C22, "SessionId %#llx, this connection's is %#llx",
			       (unsigned long long)header->session_id, (unsigned long long)on->session);
}

/* One client has one ClientGuid on all its channels (MS-SMB2 3.3.5.5). */
static void guid_check(struct smb_monitor *monitor, const struct smb2_negotiate_req *negotiate)
{
	if (!monitor->guid_is_known)
		memcpy(monitor->client_guid, negotiate->client_guid, sizeof(monitor->client_guid));
	else if (memcmp(monitor->client_guid, negotiate->client_guid, sizeof(monitor->client_guid)) != 0)
		monitor_report(monitor, SMB_RULE_C26, "another ClientGuid than on the client's first channel");
	monitor->guid_is_known = true;
}

/* It only goes up, and not more often than connections were made (MS-SMB2 3.2.4.1, 3.2.7.1). */
static void sequence_check(struct smb_monitor *monitor, const struct monitor_channel *on,
			   const struct smb2_header *header)
{
	uint16_t ahead = (uint16_t)(header->channel_sequence - monitor->sequence);

	if (on->dialect < SMB2_DIALECT_300 || !ahead)
		return;
	if (ahead > INT16_MAX)
		monitor_report(monitor, SMB_RULE_C23, "ChannelSequence %u after %u", header->channel_sequence,
			       monitor->sequence);
	else if (header->channel_sequence > monitor->connections)
		monitor_report(monitor, SMB_RULE_C23, "ChannelSequence %u after %u connections",
			       header->channel_sequence, monitor->connections);
	else
		monitor->sequence = header->channel_sequence;
}

/* A server refuses what is older than what it has seen on an open (MS-SMB2 3.3.5.2.10): never what carries the newest
 * ChannelSequence that the client has used. */
void monitor_sequence_answered(struct smb_monitor *monitor, const struct monitor_request *request,
			       const struct smb2_header *header)
{
	bool can_be_stale = request->command == SMB2_WRITE || request->command == SMB2_SET_INFO ||
			    request->command == SMB2_IOCTL;

	if (can_be_stale && header->status == STATUS_FILE_NOT_AVAILABLE && request->sequence == monitor->sequence)
		monitor_report(monitor, SMB_RULE_C23,
			       "%s with ChannelSequence %u is refused as stale, it is the newest",
			       smb2_command_name(request->command), request->sequence);
}

static void echo_check(struct smb_monitor *monitor, struct monitor_channel *on)
{
	if (monitor->expect.is_cifs && on->echoes)
		monitor_report(monitor, SMB_RULE_C21, "an ECHO while another is outstanding");
	else if (monitor->expect.is_cifs && on->credits <= 1 && !on->in_flight)
		monitor_report(monitor, SMB_RULE_C21, "an ECHO takes the only credit");
}

static void acknowledgement_check(struct smb_monitor *monitor)
{
	if (!monitor->breaks_due)
		monitor_report(monitor, SMB_RULE_C19, "the acknowledgement of a break that was not announced");
	else
		monitor->breaks_due--;
}

void monitor_session_sent(struct smb_monitor *monitor, uint32_t channel, const struct monitor_member *member)
{
	struct monitor_channel *on = monitor_channel_at(monitor, channel);

	if (monitor->connections == 1 && !on->requests && member->header->command == SMB2_NEGOTIATE)
		monitor->watches_all = true;
	if (!on->open)
		monitor_report(monitor, SMB_RULE_C32, "a request on a channel that is not connected");
	if (monitor->session)
		ids_check(monitor, on, member);
	sequence_check(monitor, on, member->header);
	switch (member->header->command) {
	case SMB2_NEGOTIATE:
		if (member->message && member->message->kind == SMB2_BODY_NEGOTIATE_REQ)
			guid_check(monitor, &member->message->body.negotiate_req);
		break;
	case SMB2_ECHO:
		echo_check(monitor, on);
		break;
	case SMB2_OPLOCK_BREAK:
		acknowledgement_check(monitor);
		break;
	case SMB2_LOGOFF:
		if (monitor->session && monitor->handles.used)
			monitor_report(monitor, SMB_RULE_C29, "LOGOFF with %u handles that were not closed",
				       monitor->handles.used);
		break;
	default:
		break;
	}
}

/* It names what is, or was, on the wire: an asynchronous request by its AsyncId (MS-SMB2 3.2.4.24). */
void monitor_cancel_sent(struct smb_monitor *monitor, uint32_t channel, const struct smb2_header *header)
{
	const struct monitor_channel *on = monitor_channel_at(monitor, channel);
	uint32_t slot = monitor_request_find(monitor, channel, header->message_id);

	if (header->flags & SMB2_FLAGS_ASYNC_COMMAND)
		return;
	if (header->message_id >= on->next)
		monitor_report(monitor, SMB_RULE_C17, "CANCEL of MessageId %llu, which was not used yet",
			       (unsigned long long)header->message_id);
	else if (slot != SLOT_NONE && monitor_request_at(monitor, slot)->async_id)
		monitor_report(monitor, SMB_RULE_C17, "CANCEL by MessageId of a request with AsyncId %#llx",
			       (unsigned long long)monitor_request_at(monitor, slot)->async_id);
}

void monitor_break_received(struct smb_monitor *monitor, const struct smb2_header *header,
			    const struct smb2_message *message)
{
	if (header->session_id || header->tree_id)
		monitor_report(monitor, SMB_RULE_C19, "a break notification with SessionId %#llx and TreeId %#x",
			       (unsigned long long)header->session_id, header->tree_id);
	if (!message)
		return;
	if (message->kind == SMB2_BODY_OPLOCK_BREAK || (message->kind == SMB2_BODY_LEASE_BREAK_NOTIFY &&
							message->body.lease_break_notify.flags & BREAK_ACK_REQUIRED))
		monitor->breaks_due++;
}

/* What the last session had open is gone with it. */
static void session_begins(struct smb_monitor *monitor, uint64_t id)
{
	monitor->session = id;
	monitor->breaks_due = 0;
	for (uint32_t i = 0; i < monitor->handles.capacity; i++) {
		if (monitor_handle_at(monitor, i)->in_use)
			monitor_handle_remove(monitor, i);
	}
}

void monitor_session_answered(struct smb_monitor *monitor, uint32_t channel, const struct smb2_header *header)
{
	struct monitor_channel *on = monitor_channel_at(monitor, channel);

	if (header->command == SMB2_ECHO && on->echoes)
		on->echoes--;
	if (header->status != STATUS_SUCCESS)
		return;
	if (header->command == SMB2_SESSION_SETUP) {
		on->session = header->session_id;
		if (header->session_id != monitor->session)
			session_begins(monitor, header->session_id);
	} else if (header->command == SMB2_LOGOFF) {
		monitor->session = 0;
		for (uint32_t i = 0; i < monitor->limits.channels; i++)
			monitor_channel_at(monitor, i)->session = 0;
	}
}
