/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a sequential read costs in the core alone: every READ is answered at once by an answer that was encoded once
 * and only gets its MessageId. Prints nanoseconds per READ (request out and answer in), beside the cost of the codec.
 */
#include "protocol/client/client.h"
#include "protocol/wire/message.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SOURCE 7
#define FILE_BYTES (UINT64_C(10) << 30)

struct run {
	struct smb_client *client;
	uint8_t buffer[SMB_CLIENT_PDU_MAX];
	uint8_t answers[2048][512]; /* a ring of answers to deliver */
	struct smb_pdu pdus[2048];
	uint32_t head;
	uint32_t count;
	uint64_t reads;
	struct smb_client_output done;
	bool is_done;
	bool connected;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void body_of(const struct smb2_message *request, struct smb2_message *reply, uint64_t setup)
{
	switch (request->header.command) {
	case SMB2_NEGOTIATE:
		reply->kind = SMB2_BODY_NEGOTIATE_RSP;
		reply->body.negotiate_rsp.dialect = SMB2_DIALECT_300;
		reply->body.negotiate_rsp.capabilities = SMB2_GLOBAL_CAP_LARGE_MTU;
		reply->body.negotiate_rsp.max_read_size = reply->body.negotiate_rsp.max_write_size = 8388608;
		reply->body.negotiate_rsp.max_transact_size = 8388608;
		break;
	case SMB2_SESSION_SETUP:
		reply->kind = SMB2_BODY_SESSION_SETUP_RSP;
		if (setup == 1)
			reply->header.status = STATUS_MORE_PROCESSING_REQUIRED;
		break;
	case SMB2_TREE_CONNECT:
		reply->kind = SMB2_BODY_TREE_CONNECT_RSP;
		break;
	case SMB2_CREATE:
		reply->kind = SMB2_BODY_CREATE_RSP;
		reply->body.create_rsp.end_of_file = FILE_BYTES;
		reply->body.create_rsp.file_id.volatile_id = 1;
		break;
	case SMB2_CLOSE:
		reply->kind = SMB2_BODY_CLOSE_RSP;
		break;
	case SMB2_READ:
		reply->kind = SMB2_BODY_READ_RSP;
		reply->body.read_rsp.data_length = request->body.read_req.length;
		reply->body.read_rsp.data = (struct smb_blob){ NULL, 0 };
		reply->body.read_rsp.data_remaining = 0;
		reply->body.read_rsp.payload = (struct smb_slice){ SOURCE, request->body.read_req.offset,
								   request->body.read_req.length };
		break;
	default:
		reply->kind = SMB2_BODY_ERROR_RSP;
		reply->header.status = STATUS_NOT_SUPPORTED;
	}
}

static void answer(struct run *run, const struct smb_pdu *pdu)
{
	uint32_t at = (run->head + run->count++) % 2048;
	struct smb_chain_reader reader;
	struct smb_chain_writer writer;
	struct smb2_message request;
	struct smb2_message reply;

	smb_chain_read(&reader, pdu);
	smb_chain_begin(&writer, run->answers[at], sizeof(run->answers[at]));
	while (smb_chain_next(&reader, &request) == SMB_WIRE_OK) {
		if (request.header.command != SMB2_READ)
			memset(&reply, 0, sizeof(reply));
		reply.header = request.header;
		reply.header.flags |= SMB2_FLAGS_SERVER_TO_REDIR;
		reply.header.credits = (uint16_t)(request.header.credits + (request.header.credit_charge
										    ? request.header.credit_charge - 1
										    : 0));
		reply.header.status = STATUS_SUCCESS;
		body_of(&request, &reply, request.header.message_id);
		run->reads += request.header.command == SMB2_READ;
		enum smb_wire_verdict verdict = smb_chain_append(&writer, &reply);
		assert(verdict == SMB_WIRE_OK);
		(void)verdict;
	}
	run->pdus[at] = smb_chain_finish(&writer);
}

static void drain(struct run *run)
{
	struct smb_client_output output;

	for (;;) {
		smb_client_next(run->client, &output, run->buffer, sizeof(run->buffer));
		if (output.kind == SMB_CLIENT_IDLE)
			return;
		if (output.kind == SMB_CLIENT_SEND)
			answer(run, &output.pdu);
		else if (output.kind == SMB_CLIENT_OPEN_CHANNEL)
			smb_client_channel(run->client, 0, SMB_CHANNEL_CONNECTED, 0);
		else if (output.kind == SMB_CLIENT_COPY)
			smb_client_copied(run->client, output.op, 0);
		else if (output.kind == SMB_CLIENT_DONE) {
			run->done = output;
			run->is_done = true;
		}
	}
}

static void perform(struct run *run, const struct smb_op *op)
{
	uint32_t number = smb_client_submit(run->client, op, 0);

	assert(number != SMB_OP_NONE);
	(void)number;
	run->is_done = false;
	drain(run);
	while (!run->is_done) {
		struct smb_pdu pdu = run->pdus[run->head];

		assert(run->count);
		run->head = (run->head + 1) % 2048;
		run->count--;
		smb_client_receive(run->client, 0, &pdu, 0);
		drain(run);
	}
	assert(run->done.verdict == SMB_OP_OK);
}

static double codec_ns(void)
{
	uint8_t buffer[256];
	struct smb2_message request = { .header = { .command = SMB2_READ }, .kind = SMB2_BODY_READ_REQ };
	struct smb2_message reply = { .header = { .command = SMB2_READ, .flags = SMB2_FLAGS_SERVER_TO_REDIR },
				      .kind = SMB2_BODY_READ_RSP };
	struct smb_pdu pdu;
	double start;

	request.body.read_req.length = 1 << 20;
	reply.body.read_rsp.data_length = 1 << 20;
	reply.body.read_rsp.payload = (struct smb_slice){ SOURCE, 0, 1 << 20 };
	start = now_ns();
	for (uint32_t i = 0; i < 100000; i++) {
		smb2_message_encode(&request, buffer, sizeof(buffer), &pdu);
		smb2_message_decode(&pdu, &request);
		smb2_message_encode(&reply, buffer, sizeof(buffer), &pdu);
		smb2_message_decode(&pdu, &reply);
	}
	return (now_ns() - start) / 100000;
}

static void read_file(const char *label, uint32_t rsize, uint32_t rasize)
{
	struct smb_client_config config = { .page_bytes = 4096, .server = "server", .share = "share" };
	size_t bytes = smb_client_size(&smb_client_limits_simulation);
	struct smb_op op = { .kind = SMB_OP_MOUNT };
	struct run *run = calloc(1, sizeof(*run));
	void *block = malloc(bytes);
	double start;

	config.policy = smb_era_find("6.1")->policy;
	smb_mount_options_default(&config.mount);
	config.mount.vers = SMB2_DIALECT_300;
	config.mount.rsize = rsize;
	config.mount.rasize = rasize;
	run->client = smb_client_init(block, &smb_client_limits_simulation, &config);
	assert(run->client);
	perform(run, &op);
	op = (struct smb_op){ .kind = SMB_OP_OPEN, .name = "file" };
	perform(run, &op);
	op = (struct smb_op){ .kind = SMB_OP_READ, .file = run->done.file, .length = 1 << 20 };
	start = now_ns();
	do {
		perform(run, &op);
		op.offset += run->done.bytes;
	} while (run->done.bytes);
	double spent = now_ns() - start;
	printf("%-22s %9.0f ns/READ  %8lu READs  block %zu KiB\n", label, spent / (double)run->reads,
	       (unsigned long)run->reads, bytes / 1024);
	free(block);
	free(run);
}

int main(void)
{
	printf("%-22s %9.0f ns    (request and answer, each encoded and decoded)\n", "codec alone", codec_ns());
	read_file("rsize 1M", 1 << 20, 0);
	read_file("rsize 1M rasize 16M", 1 << 20, 16 << 20);
	read_file("rsize 64K", 65536, 0);
	read_file("rsize 64K rasize 16M", 65536, 16 << 20);
	return 0;
}
