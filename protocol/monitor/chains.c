/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Compound chains: C10, C12, C13, C14, C15.
 *
 * C10 on the wire: members may bring nothing, and a chain may bring nothing at all while the client is well off (a
 * server that throttles). A chain that asked for credits, was fully answered, brought none, and leaves the client
 * with fewer credits than the chain had members: there the sum was lost.
 */
#include "protocol/monitor/state.h"

bool monitor_next_command_check(struct smb_monitor *monitor, enum smb_wire_verdict verdict, uint32_t next_command,
				uint32_t left)
{
	if (verdict != SMB_WIRE_OK && verdict != SMB_WIRE_BAD_NEXT_COMMAND && verdict != SMB_WIRE_UNKNOWN_COMMAND) {
		monitor_report(monitor, SMB_RULE_C12, "a member's header is not sound: %s",
			       smb_wire_verdict_name(verdict));
		return false;
	}
	if (verdict == SMB_WIRE_BAD_NEXT_COMMAND || next_command % 8 ||
	    (next_command && next_command < SMB2_HEADER_SIZE) || next_command > left ||
	    (next_command && left - next_command < SMB2_HEADER_SIZE)) {
		monitor_report(monitor, SMB_RULE_C12, "NextCommand leads nowhere, %u bytes are left in the PDU", left);
		return false;
	}
	return true;
}

void monitor_body_check(struct smb_monitor *monitor, enum smb_wire_verdict verdict)
{
	switch (verdict) {
	case SMB_WIRE_TRUNCATED:
	case SMB_WIRE_BAD_PROTOCOL_ID:
	case SMB_WIRE_BAD_STRUCTURE_SIZE:
	case SMB_WIRE_BAD_OFFSET:
	case SMB_WIRE_BAD_NEXT_COMMAND:
	case SMB_WIRE_BAD_PAYLOAD:
		monitor_report(monitor, SMB_RULE_C12, "the member does not fit its place: %s",
			       smb_wire_verdict_name(verdict));
		break;
	default:
		/* Commands and values that the codec does not know are not this rule's business. */
		break;
	}
}

const struct smb2_file_id *monitor_file_id(const struct smb2_message *message)
{
	switch (message->kind) {
	case SMB2_BODY_CLOSE_REQ:
		return &message->body.close_req.file_id;
	case SMB2_BODY_FLUSH_REQ:
		return &message->body.flush_req.file_id;
	case SMB2_BODY_READ_REQ:
		return &message->body.read_req.file_id;
	case SMB2_BODY_WRITE_REQ:
		return &message->body.write_req.file_id;
	case SMB2_BODY_LOCK_REQ:
		return &message->body.lock_req.file_id;
	case SMB2_BODY_IOCTL_REQ:
		return &message->body.ioctl_req.file_id;
	case SMB2_BODY_QUERY_DIRECTORY_REQ:
		return &message->body.query_directory_req.file_id;
	case SMB2_BODY_QUERY_INFO_REQ:
		return &message->body.query_info_req.file_id;
	case SMB2_BODY_SET_INFO_REQ:
		return &message->body.set_info_req.file_id;
	default:
		return NULL;
	}
}

static void first_member_check(struct smb_monitor *monitor, const struct monitor_member *member, bool related)
{
	if (related) {
		monitor_report(monitor, SMB_RULE_C13, "the first member is marked related");
		return;
	}
	/* IOCTL on no file at all (network interfaces, negotiate info) carries all ones too (MS-SMB2 2.2.31). */
	if (!member->message || member->header->command == SMB2_IOCTL)
		return;
	const struct smb2_file_id *id = monitor_file_id(member->message);
	if (id && monitor_file_id_is_related(id))
		monitor_report(monitor, SMB_RULE_C13, "FileId all ones with no member before");
}

void monitor_related_check(struct smb_monitor *monitor, const struct monitor_member *member)
{
	bool related = member->header->flags & SMB2_FLAGS_RELATED_OPERATIONS;
	if (!member->index) {
		first_member_check(monitor, member, related);
		return;
	}
	if (related != member->chain_related) {
		monitor_report(monitor, SMB_RULE_C13, "member %u mixes related and unrelated", member->index);
		return;
	}
	const struct smb2_file_id *id = member->message ? monitor_file_id(member->message) : NULL;
	if (related && id && !monitor_file_id_is_related(id))
		monitor_report(monitor, SMB_RULE_C13, "member %u is related but has FileId %llx:%llx", member->index,
			       (unsigned long long)id->persistent, (unsigned long long)id->volatile_id);
}

void monitor_chain_member_sent(struct smb_monitor *monitor, const struct monitor_member *member, uint32_t slot)
{
	struct monitor_chain *chain = monitor_chain_at(monitor, member->chain);
	struct monitor_request *request = monitor_request_at(monitor, slot);

	request->chain = member->chain;
	request->related = member->index && member->chain_related;
	chain->members++;
	chain->left++;
	chain->asked += member->header->credits;
	if (request->command == SMB2_CREATE)
		chain->name = request->name;
}

static void propagation_check(struct smb_monitor *monitor, const struct monitor_chain *chain,
			      const struct smb2_header *header)
{
	bool depends = header->command >= SMB2_CLOSE && header->command <= SMB2_SET_INFO &&
		       header->command != SMB2_CANCEL && header->command != SMB2_ECHO;
	bool failed = chain->producer_answered && chain->producer_status >= 0x80000000u;
	if (depends && failed && header->status != chain->producer_status)
		monitor_report(monitor, SMB_RULE_C14, "status %#x although the CREATE before failed with %#x",
			       header->status, chain->producer_status);
}

static void chain_sum_check(struct smb_monitor *monitor, const struct monitor_channel *channel,
			    const struct monitor_chain *chain)
{
	if (!monitor->expect.grants_vary && chain->asked && !chain->granted &&
	    channel->credits < (int64_t)chain->members)
		monitor_report(monitor, SMB_RULE_C10,
			       "a chain of %u asked for %u credits, brought none and leaves %lld", chain->members,
			       chain->asked, (long long)channel->credits);
}

void monitor_chain_member_answered(struct smb_monitor *monitor, uint32_t slot, const struct smb2_header *header)
{
	struct monitor_request *request = monitor_request_at(monitor, slot);
	struct monitor_chain *chain = monitor_chain_at(monitor, request->chain);

	if (request->related && request->chain_before != SLOT_NONE)
		monitor_report(monitor, SMB_RULE_C15, "answered before member %llu of the same chain",
			       (unsigned long long)monitor_request_at(monitor, request->chain_before)->message_id);
	if (request->related)
		propagation_check(monitor, chain, header);
	if (request->command == SMB2_CREATE) {
		chain->producer_answered = true;
		chain->producer_status = header->status;
	}
	if (--chain->left)
		return;
	struct monitor_channel *channel = monitor_channel_at(monitor, request->channel);
	channel->pairs++;
	chain_sum_check(monitor, channel, chain);
	monitor_chain_remove(monitor, request->chain);
}
