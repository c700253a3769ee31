/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Charges, the credit account and what is in flight: C4, C5, C6, C7, C11.
 *
 * The account is counted from PDUs alone: 1 + grants seen - charges sent. A request without credits is C5 when its
 * CreditCharge is 0 and C6 otherwise; the monitor then goes on as if the missing credits had been granted. An oplock
 * break acknowledgement never waits (cifs wait_for_free_credits, non-blocking), so it may overdraw; nothing else may
 * be sent until the account is made good.
 */
#include "protocol/monitor/state.h"

/* Payload that the charge must pay for; false for commands that carry none (MS-SMB2 3.2.4.1.5). */
static bool payload_bytes(const struct smb2_message *message, uint64_t *sent, uint64_t *wanted)
{
	*sent = 0;
	*wanted = 0;
	switch (message->kind) {
	case SMB2_BODY_READ_REQ:
		*wanted = message->body.read_req.length;
		return true;
	case SMB2_BODY_WRITE_REQ:
		*sent = message->body.write_req.data_length;
		return true;
	case SMB2_BODY_IOCTL_REQ:
		*sent = message->body.ioctl_req.input.length;
		*wanted = (uint64_t)message->body.ioctl_req.max_input_response +
			  message->body.ioctl_req.max_output_response;
		return true;
	case SMB2_BODY_QUERY_DIRECTORY_REQ:
		*wanted = message->body.query_directory_req.output_buffer_length;
		return true;
	case SMB2_BODY_QUERY_INFO_REQ:
		*sent = message->body.query_info_req.input.length;
		*wanted = message->body.query_info_req.output_buffer_length;
		return true;
	case SMB2_BODY_SET_INFO_REQ:
		*sent = message->body.set_info_req.buffer.length;
		return true;
	default:
		return false;
	}
}

static void payload_charge_check(struct smb_monitor *monitor, bool multi_credit, const struct smb2_message *message)
{
	uint64_t sent, wanted;
	if (!payload_bytes(message, &sent, &wanted))
		return;
	uint64_t larger = sent > wanted ? sent : wanted;
	uint64_t needed = larger ? (larger - 1) / SMB2_CREDIT_UNIT + 1 : 1;
	if (!multi_credit && needed > 1)
		monitor_report(monitor, SMB_RULE_C4, "%llu bytes of payload without multi-credit, 65536 are allowed",
			       (unsigned long long)larger);
	else if (multi_credit && message->header.credit_charge < needed)
		monitor_report(monitor, SMB_RULE_C4, "CreditCharge %u for %llu bytes, %llu needed",
			       message->header.credit_charge, (unsigned long long)larger, (unsigned long long)needed);
}

static bool may_carry_payload(uint16_t command)
{
	switch (command) {
	case SMB2_READ:
	case SMB2_WRITE:
	case SMB2_IOCTL:
	case SMB2_QUERY_DIRECTORY:
	case SMB2_CHANGE_NOTIFY:
	case SMB2_QUERY_INFO:
	case SMB2_SET_INFO:
		return true;
	default:
		return false;
	}
}

/* NEGOTIATE comes before the client knows. cifs (6.1 and 6.12, captures) leaves 0 in requests that have no tree, and no
 * rule on payload forbids that (MS-SMB2 3.3.5.2.5). */
static bool zero_is_fine(uint16_t command)
{
	return command == SMB2_NEGOTIATE || command == SMB2_SESSION_SETUP || command == SMB2_LOGOFF ||
	       command == SMB2_ECHO;
}

void monitor_charge_check(struct smb_monitor *monitor, const struct monitor_channel *channel,
			  const struct monitor_member *member)
{
	uint16_t charge = member->header->credit_charge;
	uint16_t command = member->header->command;

	if (zero_is_fine(command) && charge <= 1)
		return;
	if (!channel->multi_credit && charge > 0) {
		monitor_report(monitor, SMB_RULE_C4, "CreditCharge %u without multi-credit, 0 is required", charge);
		return;
	}
	if (channel->multi_credit && !may_carry_payload(command) && charge != 1) {
		monitor_report(monitor, SMB_RULE_C4, "CreditCharge %u for a command without payload, 1 is required",
			       charge);
		return;
	}
	if (member->message)
		payload_charge_check(monitor, channel->multi_credit, member->message);
}

/* With nothing in flight a client lets go of what it holds beyond its limit (cifs smb2_add_credits, change_conf). */
void monitor_credits_let_go(const struct smb_monitor *monitor, struct monitor_channel *channel, uint32_t charge)
{
	int64_t max = monitor->expect.idle_credits ? monitor->expect.idle_credits : monitor->expect.max_credits;

	if (max && !channel->in_flight && channel->credits + charge - channel->let_go > max)
		channel->let_go = channel->credits + charge - max;
}

/*
 * Asking back what is spent is fine at any time; more only up to the limit. What the client let go of it may ask for
 * again later. It counts what it holds back for echoes and breaks as spent, and a chain as spent before its first member
 * asks.
 */
static void greed_check(struct smb_monitor *monitor, struct monitor_channel *channel,
			const struct monitor_member *member)
{
	const struct smb2_header *header = member->header;
	int64_t max = monitor->expect.max_credits;
	uint32_t charge = monitor_charge(header);
	int64_t held;

	monitor_credits_let_go(monitor, channel, charge);
	held = channel->credits - channel->let_go;
	if (max && !member->has_next && header->credits > charge &&
	    held + header->credits > max + MONITOR_RESERVED_CREDITS)
		monitor_report(monitor, SMB_RULE_C6, "asks for %u credits and pays %u with %lld left of at most %lld",
			       header->credits, charge, (long long)held, (long long)max);
}

void monitor_credits_spend(struct smb_monitor *monitor, struct monitor_channel *channel,
			   const struct monitor_member *member)
{
	const struct smb2_header *header = member->header;
	uint32_t charge = monitor_charge(header);
	int64_t missing = (int64_t)charge - channel->credits;

	if (missing > 0 && header->command != SMB2_OPLOCK_BREAK) {
		monitor_report(monitor, header->credit_charge ? SMB_RULE_C6 : SMB_RULE_C5,
			       "CreditCharge %u with %lld credits left", header->credit_charge,
			       (long long)channel->credits);
		channel->credits += missing;
		channel->top += (uint64_t)missing;
	}
	channel->credits -= charge;
	greed_check(monitor, channel, member);
}

void monitor_credits_grant(struct monitor_channel *channel, uint16_t credits)
{
	channel->credits += credits;
	channel->top += credits;
}

void monitor_credits_after_reply(struct smb_monitor *monitor, const struct monitor_channel *channel)
{
	if (channel->credits <= 0 && !channel->in_flight)
		monitor_report(monitor, SMB_RULE_C11, "%lld credits left and nothing outstanding",
			       (long long)channel->credits);
}

void monitor_credits_idle(struct smb_monitor *monitor, const struct monitor_channel *channel)
{
	if (channel->in_flight)
		monitor_report(monitor, SMB_RULE_C7, "%u requests without a final response on idle",
			       channel->in_flight);
}
