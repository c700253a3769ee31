/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What one READ costs in the server: receive, work, reply; beside encoding and decoding the same messages alone. */

#include "sim/server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define READS 1000000u

static struct smb_server *server;
static uint8_t buffer[SMB_SERVER_PDU_MAX];
static struct smb2_message reply;
static uint64_t next_id;

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void drain(void)
{
	struct smb_server_output output;

	do {
		smb_server_next(server, &output, buffer, sizeof(buffer));
		if (output.kind == SMB_SERVER_WORK)
			smb_server_work_done(server, output.token, 0);
		if (output.kind == SMB_SERVER_SEND)
			smb2_message_decode(&output.pdu, &reply);
	} while (output.kind != SMB_SERVER_IDLE);
}

static void ask(struct smb2_message *message)
{
	uint8_t bytes[512];
	struct smb_pdu pdu;

	message->header.message_id = next_id++;
	message->header.credits = 64;
	if (smb2_message_encode(message, bytes, sizeof(bytes), &pdu) != SMB_WIRE_OK)
		abort();
	smb_server_receive(server, 0, &pdu, 0);
	drain();
	if (reply.header.status && reply.header.command != SMB2_SESSION_SETUP)
		abort();
}

static struct smb2_message mount(void)
{
	static const uint8_t share[] = "\\\0\\\0h\0\\\0s\0";
	static const uint8_t name[] = "f\0";
	struct smb2_message message = { .header = { .command = SMB2_NEGOTIATE }, .kind = SMB2_BODY_NEGOTIATE_REQ };

	message.body.negotiate_req.dialects[message.body.negotiate_req.dialect_count++] = SMB2_DIALECT_210;
	ask(&message);
	message = (struct smb2_message){ .header = { .command = SMB2_SESSION_SETUP },
					 .kind = SMB2_BODY_SESSION_SETUP_REQ };
	ask(&message);
	message.header.session_id = reply.header.session_id;
	ask(&message);
	message.header.command = SMB2_TREE_CONNECT;
	message.kind = SMB2_BODY_TREE_CONNECT_REQ;
	message.body.tree_connect_req = (struct smb2_tree_connect_req){ .path = { share, sizeof(share) - 1 } };
	ask(&message);
	message.header.tree_id = reply.header.tree_id;
	message.header.command = SMB2_CREATE;
	message.kind = SMB2_BODY_CREATE_REQ;
	message.body.create_req =
		(struct smb2_create_req){ .desired_access = 1, .create_disposition = 1, .name = { name, 2 } };
	ask(&message);
	struct smb2_file_id id = reply.body.create_rsp.file_id;
	message.header.command = SMB2_READ;
	message.header.credit_charge = 16;
	message.kind = SMB2_BODY_READ_REQ;
	message.body.read_req = (struct smb2_read_req){ .length = 1 << 20, .file_id = id };
	return message;
}

/* READs through the server; its own encoding of the request is part of it. */
static double run_server(struct smb2_message *read)
{
	uint8_t bytes[512];
	struct smb_server_output output;
	struct smb_pdu pdu;
	double start = seconds();

	for (uint32_t i = 0; i < READS; i++) {
		read->header.message_id = next_id;
		next_id += 16;
		smb2_message_encode(read, bytes, sizeof(bytes), &pdu);
		smb_server_receive(server, 0, &pdu, i);
		smb_server_next(server, &output, buffer, sizeof(buffer));
		smb_server_work_done(server, output.token, i);
		smb_server_next(server, &output, buffer, sizeof(buffer));
	}
	return seconds() - start;
}

static double run_codec(struct smb2_message *read)
{
	uint8_t bytes[512];
	struct smb_pdu pdu;
	double start = seconds();

	for (uint32_t i = 0; i < READS; i++) {
		read->header.message_id = i;
		smb2_message_encode(read, bytes, sizeof(bytes), &pdu);
		smb2_message_decode(&pdu, &reply);
	}
	return seconds() - start;
}

int main(void)
{
	struct smb_server_config config = {
		.profile = { .name = "bench",
			     .dialect_min = SMB2_DIALECT_202,
			     .dialect_max = SMB2_DIALECT_311,
			     .max_transact = 8 << 20,
			     .max_read = 8 << 20,
			     .max_write = 8 << 20,
			     .capabilities = 0x4f,
			     .channels_max = 32,
			     .credits_max = 8192 },
		.share = "s",
	};
	void *block = malloc(smb_server_size(&smb_server_limits_simulation));

	server = smb_server_init(block, &smb_server_limits_simulation, &config);
	smb_server_make_file(server, "f", 1, UINT64_C(1) << 40);
	smb_server_connected(server, 0, 0);
	struct smb2_message read = mount();
	double codec = run_codec(&read), through = run_server(&read);
	printf("READ through the server: %.0f ns, encode and decode alone: %.0f ns, ratio %.1f\n",
	       through * 1e9 / READS, codec * 1e9 / READS, through / codec);
	free(block);
	return 0;
}
