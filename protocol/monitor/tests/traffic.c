/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/tests/traffic.h"
#include "protocol/wire/contexts.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANNELS 2

static void write_down(void *context, const struct smb_violation *violation)
{
	struct traffic *traffic = context;
	if (traffic->count < FOUND_MAX)
		traffic->found[traffic->count] = violation->rule;
	traffic->count++;
	traffic->last = *violation;
}

static struct smb2_file_id file_id(uint64_t fid)
{
	return (struct smb2_file_id){ .persistent = fid, .volatile_id = fid };
}

static struct smb_blob utf16(const char *name)
{
	static uint8_t wide[256];
	uint32_t length = 0;
	for (; name && *name; name++) {
		wide[length++] = (uint8_t)*name;
		wide[length++] = 0;
	}
	return (struct smb_blob){ wide, length };
}

static void add_create_guid(const struct step *step, struct smb2_create_req *req)
{
	static uint8_t data[SMB2_DURABLE_V2_SIZE];
	const struct smb2_durable_v2 durable = { .create_guid = { step->guid } };

	req->contexts[req->context_count++] = smb2_durable_v2_context(&durable, data);
}

static void request_body(const struct step *step, struct smb2_message *message)
{
	static const uint8_t zeros[4096];
	switch (step->command) {
	case SMB2_NEGOTIATE:
		message->kind = SMB2_BODY_NEGOTIATE_REQ;
		message->body.negotiate_req = (struct smb2_negotiate_req){ .dialect_count = 1, .dialects = { 0x0210 } };
		message->body.negotiate_req.client_guid[0] = step->guid;
		break;
	case SMB2_SESSION_SETUP:
		message->kind = SMB2_BODY_SESSION_SETUP_REQ;
		message->body.session_setup_req.flags = step->binding ? SMB2_SESSION_FLAG_BINDING : 0;
		break;
	case SMB2_CREATE:
		message->kind = SMB2_BODY_CREATE_REQ;
		message->body.create_req.name = utf16(step->name);
		if (step->guid)
			add_create_guid(step, &message->body.create_req);
		break;
	case SMB2_CLOSE:
		message->kind = SMB2_BODY_CLOSE_REQ;
		message->body.close_req.file_id = file_id(step->fid);
		break;
	case SMB2_FLUSH:
		message->kind = SMB2_BODY_FLUSH_REQ;
		message->body.flush_req.file_id = file_id(step->fid);
		break;
	case SMB2_READ:
		message->kind = SMB2_BODY_READ_REQ;
		message->body.read_req = (struct smb2_read_req){ .length = step->length,
								 .offset = step->offset,
								 .file_id = file_id(step->fid) };
		break;
	case SMB2_WRITE:
		message->kind = SMB2_BODY_WRITE_REQ;
		message->body.write_req = (struct smb2_write_req){
			.offset = step->offset,
			.file_id = file_id(step->fid),
			.data_length = step->length,
			.payload = { .source = step->source, .offset = step->offset, .length = step->length }
		};
		break;
	case SMB2_IOCTL:
		message->kind = SMB2_BODY_IOCTL_REQ;
		message->body.ioctl_req = (struct smb2_ioctl_req){ .ctl_code = FSCTL_VALIDATE_NEGOTIATE_INFO,
								   .file_id = file_id(step->fid),
								   .max_input_response = step->length2,
								   .max_output_response = step->length,
								   .flags = 1 };
		break;
	case SMB2_QUERY_DIRECTORY:
		message->kind = SMB2_BODY_QUERY_DIRECTORY_REQ;
		message->body.query_directory_req = (struct smb2_query_directory_req){
			.file_id = file_id(step->fid), .output_buffer_length = step->length, .pattern = utf16("*")
		};
		break;
	case SMB2_QUERY_INFO:
		message->kind = SMB2_BODY_QUERY_INFO_REQ;
		message->body.query_info_req = (struct smb2_query_info_req){ .info_type = 1,
									     .file_id = file_id(step->fid),
									     .output_buffer_length = step->length };
		break;
	case SMB2_SET_INFO:
		message->kind = SMB2_BODY_SET_INFO_REQ;
		message->body.set_info_req = (struct smb2_set_info_req){ .info_type = 1,
									 .file_info_class = step->info_class,
									 .file_id = file_id(step->fid),
									 .buffer = { zeros, 8 } };
		break;
	case SMB2_OPLOCK_BREAK:
		message->kind = SMB2_BODY_OPLOCK_BREAK;
		message->body.oplock_break.file_id = file_id(step->fid);
		break;
	default:
		message->kind = SMB2_BODY_EMPTY;
		break;
	}
}

static void answer_body(const struct step *step, struct smb2_message *message)
{
	static const uint8_t zeros[8];
	if (step->status) {
		message->kind = step->status == STATUS_MORE_PROCESSING_REQUIRED ? SMB2_BODY_SESSION_SETUP_RSP
										: SMB2_BODY_ERROR_RSP;
		return;
	}
	switch (step->command) {
	case SMB2_NEGOTIATE:
		message->kind = SMB2_BODY_NEGOTIATE_RSP;
		message->body.negotiate_rsp = (struct smb2_negotiate_rsp){
			.dialect = step->offset ? SMB2_DIALECT_202 : SMB2_DIALECT_302,
			.capabilities = step->offset ? 0 : SMB2_GLOBAL_CAP_LARGE_MTU,
			.max_transact_size = step->length,
			.max_read_size = step->length,
			.max_write_size = step->length,
		};
		break;
	case SMB2_SESSION_SETUP:
		message->kind = SMB2_BODY_SESSION_SETUP_RSP;
		break;
	case SMB2_CREATE:
		message->kind = SMB2_BODY_CREATE_RSP;
		message->body.create_rsp = (struct smb2_create_rsp){ .create_action = step->create_action,
								     .file_id = file_id(step->fid) };
		break;
	case SMB2_CLOSE:
		message->kind = SMB2_BODY_CLOSE_RSP;
		break;
	case SMB2_READ:
		message->kind = SMB2_BODY_READ_RSP;
		message->body.read_rsp = (struct smb2_read_rsp){
			.data_length = step->length,
			.payload = { .source = step->source, .offset = step->offset, .length = step->length },
		};
		break;
	case SMB2_WRITE:
		message->kind = SMB2_BODY_WRITE_RSP;
		break;
	case SMB2_IOCTL:
		message->kind = SMB2_BODY_IOCTL_RSP;
		break;
	case SMB2_QUERY_DIRECTORY:
	case SMB2_QUERY_INFO:
		message->kind = SMB2_BODY_BUFFER_RSP;
		message->body.buffer_rsp.buffer = (struct smb_blob){ zeros, 8 };
		break;
	case SMB2_OPLOCK_BREAK:
		message->kind = SMB2_BODY_OPLOCK_BREAK;
		break;
	default:
		message->kind = SMB2_BODY_EMPTY;
		break;
	}
}

static void append(struct traffic *traffic, const struct step *step)
{
	static struct smb2_message message;
	memset(&message, 0, sizeof(message));
	message.header = (struct smb2_header){
		.credit_charge = step->charge,
		.status = step->status,
		.command = step->command,
		.credits = step->credits,
		.flags = step->flags | (step->kind == STEP_REPLY ? SMB2_FLAGS_SERVER_TO_REDIR : 0),
		.message_id = step->id,
		.async_id = step->async_id,
		.session_id = step->sessionless ? 0
			      : step->session	? step->session
						: 1,
		.channel_sequence = step->kind == STEP_SEND ? step->sequence : 0,
	};
	message.header.signature[0] = step->signature;
	if (step->kind == STEP_REPLY)
		answer_body(step, &message);
	else
		request_body(step, &message);
	enum smb_wire_verdict verdict = smb_chain_append(&traffic->writer, &message);
	cr_assert_eq(verdict, SMB_WIRE_OK, "%s: %s", smb2_command_name(step->command), smb_wire_verdict_name(verdict));
}

static void play_one(struct traffic *traffic, const struct step *step, uint64_t now_ns)
{
	struct smb_slice data = { .source = step->source, .offset = step->offset, .length = step->length };
	struct smb_pdu pdu;
	uint32_t before = traffic->count;
	uint32_t told = 0;

	switch (step->kind) {
	case STEP_SEND:
	case STEP_REPLY:
		append(traffic, step);
		if (step->more)
			return;
		pdu = smb_chain_finish(&traffic->writer);
		told = step->kind == STEP_SEND ? smb_monitor_sent(traffic->monitor, step->channel, &pdu, now_ns)
					       : smb_monitor_received(traffic->monitor, step->channel, &pdu, now_ns);
		smb_chain_begin(&traffic->writer, traffic->bytes, sizeof(traffic->bytes));
		break;
	case STEP_APPLICATION:
		told = smb_monitor_application_read(traffic->monitor, step->name, step->offset, data, step->eof,
						    now_ns);
		break;
	case STEP_WRITTEN:
		smb_monitor_application_writes(traffic->monitor, step->name);
		break;
	case STEP_FILE:
		smb_monitor_file(traffic->monitor, step->name, step->source, step->length);
		break;
	case STEP_IDLE:
		told = smb_monitor_idle(traffic->monitor, now_ns);
		break;
	case STEP_CONNECT:
		smb_monitor_connected(traffic->monitor, step->channel, now_ns);
		break;
	case STEP_CLOSED:
		smb_monitor_closed(traffic->monitor, step->channel, now_ns);
		break;
	case STEP_END:
		break;
	}
	cr_assert_eq(told, traffic->count - before);
	cr_assert(smb_monitor_is_valid(traffic->monitor));
}

void traffic_play(struct traffic *traffic, const struct step *steps, uint32_t count)
{
	for (uint32_t i = 0; i < count && steps[i].kind != STEP_END; i++) {
		struct step step = steps[i];
		for (uint32_t n = 0; n <= steps[i].repeat; n++) {
			play_one(traffic, &step, i);
			step.id += step.charge ? step.charge : 1;
		}
	}
}

void traffic_start(struct traffic *traffic, const struct conversation *conversation)
{
	struct smb_monitor_limits limits = { .channels = CHANNELS,
					     .requests = traffic->requests ? traffic->requests : 64,
					     .files = 4,
					     .window = traffic->window ? traffic->window : 1024 };
	const struct step setup[] = {
		{ .kind = STEP_CONNECT },
		SEND(.command = SMB2_NEGOTIATE, .charge = 0),
		REPLY(.command = SMB2_NEGOTIATE, .credits = conversation->credits,
		      .length = conversation->old_dialect ? 65536 : 1 << 20, .offset = conversation->old_dialect),
	};
	traffic->count = 0;
	traffic->monitor = smb_monitor_init(malloc(smb_monitor_size(&limits)), &limits, &conversation->expect);
	smb_monitor_report_to(traffic->monitor, write_down, traffic);
	smb_chain_begin(&traffic->writer, traffic->bytes, sizeof(traffic->bytes));
	traffic_play(traffic, setup, 3);
}

void traffic_stop(struct traffic *traffic)
{
	free(traffic->monitor);
}

void conversation_check(const struct conversation *conversation)
{
	struct traffic traffic = { 0 };
	uint32_t expected = 0;

	traffic_start(&traffic, conversation);
	traffic_play(&traffic, conversation->steps, STEPS_MAX);
	while (expected < 4 && conversation->broken[expected])
		expected++;
	cr_expect_eq(traffic.count, expected, "%s: %u violations, the last: C%d %s", conversation->name, traffic.count,
		     traffic.last.rule, traffic.last.text);
	for (uint32_t i = 0; i < expected && i < traffic.count; i++)
		cr_expect_eq(traffic.found[i], conversation->broken[i], "%s: C%d instead of C%d", conversation->name,
			     traffic.found[i], conversation->broken[i]);
	cr_expect_eq(smb_monitor_violations(traffic.monitor), traffic.count);
	traffic_stop(&traffic);
}
