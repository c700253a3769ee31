/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block, the events, and which rules look at which member of a PDU. */
#include "protocol/monitor/state.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint32_t power_of_two(uint32_t at_least)
{
	uint32_t power = 1;
	while (power < at_least)
		power *= 2;
	return power;
}

static size_t place(size_t *used, size_t bytes)
{
	size_t at = *used;
	*used = (at + bytes + 15) & ~(size_t)15;
	return at;
}

static void place_table(struct monitor_table *table, size_t *used, uint32_t capacity, size_t slot_bytes)
{
	table->capacity = capacity;
	table->bucket_mask = power_of_two(capacity) - 1;
	table->slots = place(used, capacity * slot_bytes);
	table->buckets = place(used, ((size_t)table->bucket_mask + 1) * sizeof(uint32_t));
}

static void lay_out(struct smb_monitor *monitor, const struct smb_monitor_limits *limits)
{
	assert(limits->channels && limits->requests && limits->files);
	assert(limits->window >= 64 && !(limits->window & (limits->window - 1)));
	size_t used = 0;
	size_t window_bytes = (size_t)limits->channels * limits->window / 8;

	*monitor = (struct smb_monitor){ .limits = *limits };
	place(&used, sizeof(*monitor));
	monitor->channels = place(&used, limits->channels * sizeof(struct monitor_channel));
	monitor->used_bits = place(&used, window_bytes);
	monitor->first_bits = place(&used, window_bytes);
	place_table(&monitor->requests, &used, limits->requests, sizeof(struct monitor_request));
	monitor->async_buckets = place(&used, ((size_t)monitor->requests.bucket_mask + 1) * sizeof(uint32_t));
	place_table(&monitor->chains, &used, limits->requests, sizeof(struct monitor_chain));
	/* A file may be known by name without being open. */
	place_table(&monitor->files, &used, 2 * limits->files, sizeof(struct monitor_file));
	place_table(&monitor->handles, &used, limits->files, sizeof(struct monitor_handle));
	monitor->creates = place(&used, limits->files * sizeof(struct monitor_create));
	monitor->size = used;
}

size_t smb_monitor_size(const struct smb_monitor_limits *limits)
{
	struct smb_monitor layout;
	lay_out(&layout, limits);
	return layout.size;
}

struct smb_monitor *smb_monitor_init(void *block, const struct smb_monitor_limits *limits,
				     const struct smb_monitor_expect *expect)
{
	struct smb_monitor *monitor = block;
	struct smb_monitor layout;

	lay_out(&layout, limits);
	memset(block, 0, layout.size);
	*monitor = layout;
	if (expect)
		monitor->expect = *expect;
	monitor_tables_init(monitor);
	monitor_files_init(monitor);
	return monitor;
}

void smb_monitor_set_expect(struct smb_monitor *monitor, const struct smb_monitor_expect *expect)
{
	monitor->expect = *expect;
}

bool smb_monitor_is_valid(const struct smb_monitor *monitor)
{
	struct smb_monitor layout;
	lay_out(&layout, &monitor->limits);
	if (layout.size != monitor->size || layout.requests.slots != monitor->requests.slots)
		return false;
	for (uint32_t i = 0; i < monitor->limits.channels; i++) {
		if (!monitor_window_is_valid(monitor, i))
			return false;
	}
	return monitor_tables_are_valid(monitor) && monitor_files_are_valid(monitor);
}

void smb_monitor_report_to(struct smb_monitor *monitor, smb_violation_fn report, void *context)
{
	monitor->report = report;
	monitor->report_context = context;
}

void monitor_report(struct smb_monitor *monitor, enum smb_rule rule, const char *format, ...)
{
	monitor->violations++;
	monitor->event.violations++;
	if (!monitor->report)
		return;
	struct smb_violation violation = {
		.rule = rule,
		.event = monitor->event.number,
		.when_ns = monitor->event.when_ns,
		.channel = monitor->event.channel,
		.message_id = monitor->event.message_id,
		.command = monitor->event.command,
		.received = monitor->event.received,
	};
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(violation.text, sizeof(violation.text), format, arguments);
	va_end(arguments);
	monitor->report(monitor->report_context, &violation);
}

static void event_begin(struct smb_monitor *monitor, uint32_t channel, uint64_t now_ns)
{
	assert(channel < monitor->limits.channels);
	monitor->event = (struct monitor_event){
		.number = monitor->event.number + 1,
		.when_ns = now_ns,
		.channel = channel,
	};
}

/* Requests of a connection that is gone get no answer; their slots are free again. */
static void channel_forget(struct smb_monitor *monitor, uint32_t index)
{
	for (uint32_t i = 0; i < monitor->requests.capacity; i++) {
		const struct monitor_request *request = monitor_request_at(monitor, i);
		if (!request->in_use || request->channel != index)
			continue;
		if (request->chain != SLOT_NONE && !--monitor_chain_at(monitor, request->chain)->left)
			monitor_chain_remove(monitor, request->chain);
		monitor_request_remove(monitor, i);
	}
	struct monitor_channel *channel = monitor_channel_at(monitor, index);
	channel->in_flight = 0;
	channel->echoes = 0;
	channel->forgotten = 0;
	channel->read_bytes = 0;
}

void smb_monitor_connected(struct smb_monitor *monitor, uint32_t channel, uint64_t now_ns)
{
	event_begin(monitor, channel, now_ns);
	channel_forget(monitor, channel);
	struct monitor_channel *on = monitor_channel_at(monitor, channel);
	monitor->connections++;
	*on = (struct monitor_channel){
		.open = true,
		.top = 1,
		.credits = 1,
		.sent = on->sent,
		.received = on->received,
		.pairs = on->pairs,
	};
	monitor_window_reset(monitor, channel);
}

void smb_monitor_closed(struct smb_monitor *monitor, uint32_t channel, uint64_t now_ns)
{
	event_begin(monitor, channel, now_ns);
	channel_forget(monitor, channel);
	monitor_channel_at(monitor, channel)->open = false;
}

/* Which requests must be read beyond their header; in chains every FileId counts (C13). */
static bool needs_body(uint16_t command, bool in_chain)
{
	switch (command) {
	case SMB2_NEGOTIATE:
	case SMB2_SESSION_SETUP:
	case SMB2_CREATE:
	case SMB2_CLOSE:
	case SMB2_READ:
	case SMB2_WRITE:
	case SMB2_IOCTL:
	case SMB2_QUERY_DIRECTORY:
	case SMB2_QUERY_INFO:
	case SMB2_SET_INFO:
		return true;
	default:
		return in_chain && command < SMB2_CANCEL;
	}
}

/* The rest of a PDU from one member on; the payload is the last member's. */
static struct smb_pdu pdu_rest(const struct smb_pdu *pdu, uint32_t position, uint32_t next)
{
	struct smb_pdu rest = { .bytes = pdu->bytes + position, .length = pdu->length - position };
	if (!next)
		rest.payload = pdu->payload;
	return rest;
}

static enum smb_wire_verdict first_member_decode(const struct smb_pdu *rest, struct smb2_message *message)
{
	struct smb_chain_reader reader;
	smb_chain_read(&reader, rest);
	return smb_chain_next(&reader, message);
}

/* What the tables keep of a request that has a slot. */
static void request_remember(struct smb_monitor *monitor, const struct monitor_member *member, uint32_t slot)
{
	struct monitor_request *request = monitor_request_at(monitor, slot);
	request->command = member->header->command;
	request->sequence = member->header->channel_sequence;
	if (member->message && member->message->kind == SMB2_BODY_CREATE_REQ)
		request->name = monitor_name_hash_utf16(member->message->body.create_req.name);
	if (member->chain != SLOT_NONE)
		monitor_chain_member_sent(monitor, member, slot);
	if (member->message && member->message->kind == SMB2_BODY_READ_REQ)
		monitor_read_sent(monitor, slot, &member->message->body.read_req);
}

static void file_closed(struct smb_monitor *monitor, const struct monitor_member *member)
{
	const struct smb2_file_id *id = &member->message->body.close_req.file_id;
	uint32_t handle = monitor_handle_find(monitor, *id);
	if (handle != SLOT_NONE)
		monitor_handle_remove(monitor, handle);
	else if (member->chain != SLOT_NONE && monitor_file_id_is_related(id))
		monitor_chain_at(monitor, member->chain)->closes = true;
}

/* Returns the slot, or SLOT_NONE for a request that is not remembered. */
static uint32_t member_sent(struct smb_monitor *monitor, uint32_t channel, const struct monitor_member *member)
{
	struct monitor_channel *on = monitor_channel_at(monitor, channel);
	const struct smb2_header *header = member->header;

	if (header->flags & SMB2_FLAGS_SERVER_TO_REDIR)
		monitor_report(monitor, SMB_RULE_C12, "a response where a request was due");
	/* CANCEL takes the id of its target and neither id nor credit of its own (MS-SMB2 3.2.4.24). */
	if (header->command == SMB2_CANCEL) {
		monitor_cancel_sent(monitor, channel, header);
		return SLOT_NONE;
	}
	monitor_session_sent(monitor, channel, member);
	monitor_signature_check(monitor, member);
	monitor_related_check(monitor, member);
	monitor_charge_check(monitor, on, member);
	if (member->message)
		monitor_sizes_check(monitor, on, member->message);
	monitor_credits_spend(monitor, on, member);
	monitor_window_take(monitor, channel, header);
	uint32_t slot = monitor_request_add(monitor, channel, header->message_id);
	if (slot != SLOT_NONE)
		request_remember(monitor, member, slot);
	on->echoes += slot != SLOT_NONE && header->command == SMB2_ECHO;
	if (!member->message)
		return slot;
	if (member->message->kind == SMB2_BODY_CLOSE_REQ)
		file_closed(monitor, member);
	if (member->message->kind == SMB2_BODY_CREATE_REQ)
		monitor_create_sent(monitor, member, slot);
	monitor_content_changes(monitor, member);
	return slot;
}

static void chain_link(struct smb_monitor *monitor, uint32_t before, uint32_t slot)
{
	if (before == SLOT_NONE || slot == SLOT_NONE)
		return;
	monitor_request_at(monitor, before)->chain_after = slot;
	monitor_request_at(monitor, slot)->chain_before = before;
}

static void members_sent(struct smb_monitor *monitor, uint32_t channel, const struct smb_pdu *pdu)
{
	struct smb2_header header;
	struct smb2_message message;
	struct monitor_member member = { .header = &header, .chain = SLOT_NONE };
	uint32_t position = 0, next = 0, before = SLOT_NONE;

	do {
		uint32_t left = pdu->length - position;
		enum smb_wire_verdict verdict = smb2_header_decode(pdu->bytes + position, left, &header, &next);
		if (!monitor_next_command_check(monitor, verdict, next, left))
			break;
		monitor->event.message_id = header.message_id;
		monitor->event.command = header.command;
		member.has_next = next != 0;
		if (!position && next)
			member.chain = monitor_chain_add(monitor);
		if (!member.index)
			member.chain_signed = header.flags & SMB2_FLAGS_SIGNED;
		if (member.index == 1)
			member.chain_related = header.flags & SMB2_FLAGS_RELATED_OPERATIONS;
		member.message = NULL;
		if (needs_body(header.command, position || next)) {
			struct smb_pdu rest = pdu_rest(pdu, position, next);
			verdict = first_member_decode(&rest, &message);
			monitor_body_check(monitor, verdict);
			member.message = verdict == SMB_WIRE_OK ? &message : NULL;
		}
		uint32_t slot = member_sent(monitor, channel, &member);
		chain_link(monitor, before, slot);
		before = slot == SLOT_NONE ? before : slot;
		position += next;
		member.index++;
	} while (next);
	if (member.chain != SLOT_NONE && !monitor_chain_at(monitor, member.chain)->left)
		monitor_chain_remove(monitor, member.chain);
}

/* SMB1 bytes are a multi-protocol NEGOTIATE, which takes MessageId 0 (MS-SMB2 3.3.5.3), unless the answer is SMB1. */
static void smb1_negotiate_sent(struct smb_monitor *monitor, uint32_t channel)
{
	const struct smb2_header header = { .command = SMB2_NEGOTIATE };
	const struct monitor_member member = { .header = &header, .chain = SLOT_NONE };
	member_sent(monitor, channel, &member);
}

enum protocol {
	PROTOCOL_SMB2,
	PROTOCOL_SMB1,
	PROTOCOL_TRANSFORMED, /* encrypted or compressed, MS-SMB2 2.2.41, 2.2.42 */
};

static enum protocol protocol_of(const struct smb_pdu *pdu)
{
	if (pdu->length < 4 || memcmp(pdu->bytes + 1, "SMB", 3) != 0)
		return PROTOCOL_SMB2;
	switch (pdu->bytes[0]) {
	case 0xff:
		return PROTOCOL_SMB1;
	case 0xfd:
	case 0xfc:
		return PROTOCOL_TRANSFORMED;
	default:
		return PROTOCOL_SMB2;
	}
}

uint32_t smb_monitor_sent(struct smb_monitor *monitor, uint32_t channel, const struct smb_pdu *pdu, uint64_t now_ns)
{
	event_begin(monitor, channel, now_ns);
	struct monitor_channel *on = monitor_channel_at(monitor, channel);
	enum protocol protocol = protocol_of(pdu);

	on->sent++;
	on->encrypted |= protocol == PROTOCOL_TRANSFORMED;
	if (on->encrypted)
		return 0;
	if (on->smb1)
		monitor_smb1_sent(on);
	else if (protocol == PROTOCOL_SMB1)
		smb1_negotiate_sent(monitor, channel);
	else
		members_sent(monitor, channel, pdu);
	return monitor->event.violations;
}

static void negotiated(struct monitor_channel *channel, const struct smb2_negotiate_rsp *response)
{
	bool can_multi_credit = response->dialect >= SMB2_DIALECT_210 && response->dialect <= SMB2_DIALECT_311;
	channel->negotiated = true;
	channel->dialect = response->dialect;
	channel->multi_credit = can_multi_credit && response->capabilities & SMB2_GLOBAL_CAP_LARGE_MTU;
	channel->max_read = response->max_read_size;
	channel->max_write = response->max_write_size;
}

/* Bodies that change what the monitor knows; READ data stands beside the bytes. */
static void answer_learn(struct smb_monitor *monitor, uint32_t slot, const struct smb_pdu *rest)
{
	const struct monitor_request *request = monitor_request_at(monitor, slot);
	struct smb2_message message;
	if (request->command != SMB2_NEGOTIATE && request->command != SMB2_CREATE)
		return;
	enum smb_wire_verdict verdict = first_member_decode(rest, &message);
	monitor_body_check(monitor, verdict);
	if (verdict != SMB_WIRE_OK)
		return;
	if (message.kind == SMB2_BODY_NEGOTIATE_RSP)
		negotiated(monitor_channel_at(monitor, request->channel), &message.body.negotiate_rsp);
	if (message.kind != SMB2_BODY_CREATE_RSP)
		return;
	monitor_create_answered(monitor, slot, &message.body.create_rsp);
	monitor_file_opened(monitor, slot, &message.body.create_rsp);
}

static void final_received(struct smb_monitor *monitor, uint32_t slot, const struct smb2_header *header,
			   const struct smb_slice *payload)
{
	struct monitor_request *request = monitor_request_at(monitor, slot);
	struct monitor_channel *channel = monitor_channel_at(monitor, request->channel);

	monitor_final(monitor, slot, header);
	monitor_session_answered(monitor, request->channel, header);
	monitor_sequence_answered(monitor, request, header);
	if (request->command == SMB2_READ)
		monitor_read_answered(monitor, slot, header, payload);
	if (request->chain == SLOT_NONE)
		channel->pairs++;
	else
		monitor_chain_member_answered(monitor, slot, header);
	monitor_request_remove(monitor, slot);
}

/* A response that no remembered request waits for. Its credits count all the same (MS-SMB2 3.2.5.1.4). */
static void unmatched(struct smb_monitor *monitor, struct monitor_channel *channel, const struct smb2_header *header,
		      const struct smb_pdu *rest)
{
	if (header->message_id == SMB2_MESSAGE_ID_UNSOLICITED && header->command == SMB2_OPLOCK_BREAK) {
		struct smb2_message message;
		bool decodes = first_member_decode(rest, &message) == SMB_WIRE_OK;
		monitor_break_received(monitor, header, decodes ? &message : NULL);
		return;
	}
	if (header->command == SMB2_CANCEL) {
		monitor_report(monitor, SMB_RULE_C17, "a response to CANCEL");
		return;
	}
	if (channel->forgotten) {
		if (header->status != STATUS_PENDING) {
			channel->forgotten--;
			channel->in_flight--;
		}
		return;
	}
	monitor_report(monitor, SMB_RULE_C7, "a response that no outstanding request waits for, status %#x",
		       header->status);
}

static void member_received(struct smb_monitor *monitor, uint32_t channel, const struct smb2_header *header,
			    const struct smb_pdu *rest)
{
	struct monitor_channel *on = monitor_channel_at(monitor, channel);

	monitor->event.message_id = header->message_id;
	monitor->event.command = header->command;
	if (!(header->flags & SMB2_FLAGS_SERVER_TO_REDIR))
		monitor_report(monitor, SMB_RULE_C12, "a request where a response was due");
	monitor_credits_grant(on, header->credits);
	uint32_t slot = monitor_request_find(monitor, channel, header->message_id);
	if (slot == SLOT_NONE) {
		unmatched(monitor, on, header, rest);
		return;
	}
	const struct monitor_request *request = monitor_request_at(monitor, slot);
	if (request->command != header->command)
		monitor_report(monitor, SMB_RULE_C7, "%s answered as %s", smb2_command_name(request->command),
			       smb2_command_name(header->command));
	if (request->chain != SLOT_NONE)
		monitor_chain_at(monitor, request->chain)->granted += header->credits;
	if (header->status == STATUS_PENDING) {
		monitor_interim(monitor, slot, header);
		return;
	}
	answer_learn(monitor, slot, rest);
	final_received(monitor, slot, header, &rest->payload);
}

uint32_t smb_monitor_received(struct smb_monitor *monitor, uint32_t channel, const struct smb_pdu *pdu, uint64_t now_ns)
{
	event_begin(monitor, channel, now_ns);
	monitor->event.received = true;
	struct monitor_channel *on = monitor_channel_at(monitor, channel);
	struct smb2_header header;
	uint32_t position = 0, next = 0;

	on->received++;
	on->encrypted |= protocol_of(pdu) == PROTOCOL_TRANSFORMED;
	if (on->encrypted)
		return 0;
	if (on->smb1 || protocol_of(pdu) == PROTOCOL_SMB1) {
		if (!on->smb1)
			channel_forget(monitor, channel); /* the NEGOTIATE asked for no SMB2 */
		monitor_smb1_received(on, pdu);
		return 0;
	}
	do {
		uint32_t left = pdu->length - position;
		enum smb_wire_verdict verdict = smb2_header_decode(pdu->bytes + position, left, &header, &next);
		if (!monitor_next_command_check(monitor, verdict, next, left))
			return monitor->event.violations;
		struct smb_pdu rest = pdu_rest(pdu, position, next);
		member_received(monitor, channel, &header, &rest);
		position += next;
	} while (next);
	monitor_credits_after_reply(monitor, on);
	return monitor->event.violations;
}

uint32_t smb_monitor_idle(struct smb_monitor *monitor, uint64_t now_ns)
{
	uint64_t number = monitor->event.number + 1;
	uint32_t violations = 0;
	for (uint32_t i = 0; i < monitor->limits.channels; i++) {
		const struct monitor_channel *channel = monitor_channel_at(monitor, i);
		event_begin(monitor, i, now_ns);
		monitor->event.number = number;
		if (!channel->open || channel->encrypted || channel->smb1)
			continue;
		monitor_credits_idle(monitor, channel);
		monitor_window_idle(monitor, i);
		violations += monitor->event.violations;
	}
	return violations;
}

void smb_monitor_look(const struct smb_monitor *monitor, uint32_t channel, struct smb_monitor_channel *numbers)
{
	assert(channel < monitor->limits.channels);
	struct monitor_channel seen = *monitor_channel_at(monitor, channel);
	const struct monitor_channel *on = &seen;
	monitor_credits_let_go(monitor, &seen, 0);
	*numbers = (struct smb_monitor_channel){
		.credits = on->credits,
		.let_go = on->let_go,
		.in_flight = on->in_flight,
		.read_bytes_in_flight = on->read_bytes,
		.sent = on->sent,
		.received = on->received,
		.pairs = on->pairs,
	};
}

uint64_t smb_monitor_violations(const struct smb_monitor *monitor)
{
	return monitor->violations;
}
