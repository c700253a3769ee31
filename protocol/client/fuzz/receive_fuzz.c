/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A client against a server that says anything. The harness mounts, opens a file and starts to read with an honest
 * server; then the input takes over. It is a list of records: what to do, how many bytes follow, the bytes. An answer
 * starts as the honest one to some request under way and is changed byte by byte as the record says (position, value).
 */
#include "protocol/client/client.h"
#include "protocol/wire/message.h"

#include <stdlib.h>
#include <string.h>

#define QUEUE_MAX 64

struct asked {
	uint32_t channel;
	struct smb2_header header;
	uint64_t offset;
	uint32_t length;
};

struct world {
	struct smb_client *client;
	struct asked queue[QUEUE_MAX];
	uint32_t count;
	uint64_t now_ns;
	uint32_t file;
};

static void check(bool good)
{
	if (!good)
		abort();
}

static void note(struct world *world, uint32_t channel, const struct smb_pdu *pdu)
{
	struct smb_chain_reader reader;
	struct smb2_message message;

	smb_chain_read(&reader, pdu);
	while (smb_chain_next(&reader, &message) == SMB_WIRE_OK && world->count < QUEUE_MAX) {
		struct asked *asked = &world->queue[world->count++];

		*asked = (struct asked){ .channel = channel, .header = message.header };
		if (message.kind != SMB2_BODY_READ_REQ)
			continue;
		asked->offset = message.body.read_req.offset;
		asked->length = message.body.read_req.length;
	}
}

static void drain(struct world *world)
{
	uint8_t buffer[SMB_CLIENT_PDU_MAX];
	struct smb_client_output output;

	for (;;) {
		check(smb_client_is_valid(world->client));
		smb_client_next(world->client, &output, buffer, sizeof(buffer));
		if (output.kind == SMB_CLIENT_IDLE)
			return;
		if (output.kind == SMB_CLIENT_SEND)
			note(world, output.channel, &output.pdu);
		else if (output.kind == SMB_CLIENT_OPEN_CHANNEL)
			smb_client_channel(world->client, output.channel, SMB_CHANNEL_CONNECTED, world->now_ns);
		else if (output.kind == SMB_CLIENT_COPY)
			smb_client_copied(world->client, output.op, world->now_ns);
		else if (output.kind == SMB_CLIENT_DONE && output.file != UINT32_MAX)
			world->file = output.file;
	}
}

static void honest_setup(const struct asked *asked, struct smb2_message *reply)
{
	if (asked->header.command == SMB2_NEGOTIATE) {
		reply->kind = SMB2_BODY_NEGOTIATE_RSP;
		reply->body.negotiate_rsp.dialect = SMB2_DIALECT_302;
		reply->body.negotiate_rsp.capabilities = SMB2_GLOBAL_CAP_LARGE_MTU | SMB2_GLOBAL_CAP_LEASING |
							 SMB2_GLOBAL_CAP_MULTI_CHANNEL;
		reply->body.negotiate_rsp.max_read_size = 1 << 20;
		reply->body.negotiate_rsp.max_write_size = 1 << 20;
		reply->body.negotiate_rsp.max_transact_size = 1 << 20;
		return;
	}
	reply->kind = SMB2_BODY_SESSION_SETUP_RSP;
	if (asked->header.message_id == 1)
		reply->header.status = STATUS_MORE_PROCESSING_REQUIRED;
}

static void honest_body(const struct asked *asked, struct smb2_message *reply)
{
	switch (asked->header.command) {
	case SMB2_NEGOTIATE:
	case SMB2_SESSION_SETUP:
		honest_setup(asked, reply);
		break;
	case SMB2_TREE_CONNECT:
		reply->kind = SMB2_BODY_TREE_CONNECT_RSP;
		break;
	case SMB2_CREATE:
		reply->kind = SMB2_BODY_CREATE_RSP;
		reply->body.create_rsp.end_of_file = 1 << 21;
		break;
	case SMB2_CLOSE:
		reply->kind = SMB2_BODY_CLOSE_RSP;
		break;
	case SMB2_READ:
		reply->kind = SMB2_BODY_READ_RSP;
		reply->body.read_rsp.data_length = asked->length;
		reply->body.read_rsp.payload = (struct smb_slice){ 1, asked->offset, asked->length };
		break;
	case SMB2_IOCTL:
	case SMB2_QUERY_INFO:
		reply->header.status = STATUS_NOT_SUPPORTED;
		reply->kind = SMB2_BODY_ERROR_RSP;
		break;
	default:
		reply->kind = SMB2_BODY_EMPTY;
	}
}

/** Answer the which-th request under way, changed as `changes` say. */
static void answer(struct world *world, uint32_t which, const uint8_t *changes, uint32_t length)
{
	struct smb2_message reply;
	struct asked asked;
	uint8_t buffer[512];
	struct smb_pdu pdu;

	if (!world->count)
		return;
	asked = world->queue[which % world->count];
	world->count--;
	memmove(&world->queue[which % (world->count + 1)], &world->queue[which % (world->count + 1) + 1],
		(world->count - which % (world->count + 1)) * sizeof(asked));
	memset(&reply, 0, sizeof(reply));
	reply.header = asked.header;
	reply.header.flags = SMB2_FLAGS_SERVER_TO_REDIR;
	reply.header.credits = (uint16_t)(asked.header.credits + asked.header.credit_charge);
	honest_body(&asked, &reply);
	if (smb2_message_encode(&reply, buffer, sizeof(buffer), &pdu) != SMB_WIRE_OK)
		return;
	for (uint32_t i = 0; i + 1 < length; i += 2)
		buffer[changes[i] % pdu.length] = changes[i + 1];
	if (length % 2)
		pdu.payload.length -= pdu.payload.length ? changes[length - 1] : 0;
	smb_client_receive(world->client, asked.channel, &pdu, world->now_ns);
}

static void submit(struct world *world, uint8_t what, const uint8_t *bytes, uint8_t length)
{
	struct smb_op op = { .kind = (enum smb_op_kind)(what % 5), .name = "file", .file = world->file };

	if (length > 3) {
		op.offset = (uint64_t)bytes[0] << (bytes[1] % 40);
		op.length = (uint64_t)bytes[2] << (bytes[3] % 40);
	}
	smb_client_submit(world->client, &op, world->now_ns);
}

static void record(struct world *world, uint8_t what, const uint8_t *bytes, uint8_t length)
{
	struct smb_pdu raw = { .bytes = bytes, .length = length };

	world->now_ns += (uint64_t)what << 28;
	switch (what % 8) {
	case 0:
		submit(world, what / 8, bytes, length);
		break;
	case 1:
		smb_client_wake(world->client, world->now_ns);
		break;
	case 2:
		smb_client_channel(world->client, what / 8 % 3, SMB_CHANNEL_CLOSED, world->now_ns);
		break;
	case 3:
		smb_client_receive(world->client, what / 8 % 3, &raw, world->now_ns);
		break;
	default:
		answer(world, what / 8, bytes, length);
	}
	drain(world);
}

/** Mount, open and the first read(2), with honest answers to all but the READs. */
static void begin(struct world *world)
{
	static const struct smb_op ops[] = { { .kind = SMB_OP_MOUNT },
					     { .kind = SMB_OP_OPEN, .name = "file" },
					     { .kind = SMB_OP_READ, .length = 1 << 20 } };

	for (uint32_t i = 0; i < 3; i++) {
		smb_client_submit(world->client, &ops[i], world->now_ns);
		drain(world);
		while (world->count && world->queue[0].header.command != SMB2_READ) {
			answer(world, 0, NULL, 0);
			drain(world);
		}
	}
}

static struct smb_client *new_client(void *block, const struct smb_client_limits *limits, uint8_t variant)
{
	struct smb_client_config config = { .page_bytes = 4096, .server = "server", .share = "share" };

	config.policy = smb_era_find(variant & 1 ? "6.12" : "6.1")->policy;
	smb_mount_options_default(&config.mount);
	config.mount.multichannel = true;
	config.mount.max_channels = 3;
	config.mount.rsize = 131072;
	if (variant & 2)
		config.mount.cache = SMB_CACHE_NONE;
	return smb_client_init(block, limits, &config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct smb_client_limits limits = {
		.channels = 3, .requests = 24, .ops = 3, .files = 2, .page_runs = 16, .outputs = 16
	};
	struct world world = { .file = 0 };
	uint8_t encoded[16384];
	void *block = malloc(smb_client_size(&limits));

	world.client = new_client(block, &limits, size ? data[0] : 0);
	check(world.client != NULL);
	if (!size || !(data[0] & 4))
		begin(&world);
	else
		record(&world, SMB_OP_MOUNT, NULL, 0);
	for (size_t at = 1; at + 2 <= size;) {
		uint8_t length = data[at + 1];

		if (length > size - at - 2)
			length = (uint8_t)(size - at - 2);
		record(&world, data[at], data + at + 2, length);
		at += 2u + length;
	}
	check(smb_client_encode(world.client, encoded, sizeof(encoded)) > 0);
	free(block);
	return 0;
}
