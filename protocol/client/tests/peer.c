/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/client/tests/peer.h"
#include "protocol/client/tests/peer_server.h"

#include "protocol/eras/policy.h"
#include "protocol/wire/contexts.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct peer *peer_new_limits(const char *era, const char *mount, uint32_t page_bytes,
			     const struct smb_client_limits *limits)
{
	struct smb_client_config config = { .page_bytes = page_bytes, .server = "10.0.0.1", .share = "s" };
	struct peer *peer = calloc(1, sizeof(*peer));
	struct smb_mount_report report;

	for (uint32_t i = 0; i < 16; i++)
		config.client_guid[i] = (uint8_t)(i + 1);
	config.policy = smb_era_find(era)->policy;
	cr_assert_eq(smb_mount_options_parse(mount, &config.policy, &config.mount, &report), SMB_MOUNT_OK, "%s",
		     report.message);
	peer->block_bytes = smb_client_size(limits);
	peer->block = malloc(peer->block_bytes);
	peer->client = smb_client_init(peer->block, limits, &config);
	cr_assert_not_null(peer->client);
	peer->max_read = 8388608;
	peer->capabilities = SMB2_GLOBAL_CAP_DFS | SMB2_GLOBAL_CAP_LEASING | SMB2_GLOBAL_CAP_LARGE_MTU |
			     SMB2_GLOBAL_CAP_MULTI_CHANNEL;
	peer->file_bytes = UINT64_C(64) << 20;
	peer->interfaces = 1;
	peer->wake_ns = UINT64_MAX;
	return peer;
}

struct peer *peer_new(const char *era, const char *mount, uint32_t page_bytes)
{
	return peer_new_limits(era, mount, page_bytes, &smb_client_limits_simulation);
}

void peer_free(struct peer *peer)
{
	free(peer->block);
	free(peer);
}

/** After each call into the client: is it sound, and (move_block) does it live on at another address? */
static void after_call(struct peer *peer)
{
	cr_assert(smb_client_is_valid(peer->client));
	if (!peer->move_block)
		return;
	cr_assert_eq(smb_client_block_size(peer->client), peer->block_bytes);
	uint8_t *other = malloc(peer->block_bytes);
	memcpy(other, peer->block, peer->block_bytes);
	memset(peer->block, 0xdb, peer->block_bytes);
	free(peer->block);
	peer->block = other;
	peer->client = (struct smb_client *)other;
}

static void note_digest(struct peer *peer, const void *bytes, size_t length)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < length; i++)
		peer->digest = (peer->digest ^ p[i]) * UINT64_C(0x100000001b3);
}

static void open_channel(struct peer *peer, uint32_t channel)
{
	peer->attempts++;
	peer->last_attempt_ns = peer->now_ns;
	if (peer->unreachable & 1u << channel) {
		smb_client_channel(peer->client, channel, SMB_CHANNEL_FAILED, peer->now_ns);
		return;
	}
	peer->opened++;
	peer->channels[channel] =
		(struct peer_channel){ .open = true, .connection = peer->opened, .credits = 1, .ids_end = 1 };
	smb_client_channel(peer->client, channel, SMB_CHANNEL_CONNECTED, peer->now_ns);
}

static bool is_expected(const struct peer *peer, const struct smb_client_output *output)
{
	if (output->data.source && output->data.offset != output->offset)
		return false;
	if (!peer->expected)
		return output->data.source == PEER_SOURCE;
	for (uint32_t i = 0; i < output->data.length; i++) {
		if (peer->expected[output->offset + i] != output->data.source)
			return false;
	}
	return true;
}

static void copy(struct peer *peer, const struct smb_client_output *output)
{
	if (output->op < 64 && peer->writing[output->op]) {
		peer->taken_bytes += output->data.length;
		smb_client_copied(peer->client, output->op, peer->now_ns);
		return;
	}
	if (!is_expected(peer, output) || (!peer->any_copy_order && output->offset != peer->copy_next))
		peer->wrong_copies++;
	peer->copied_bytes += output->data.length;
	peer->copy_next = output->offset + output->data.length;
	smb_client_copied(peer->client, output->op, peer->now_ns);
}

static void take_output(struct peer *peer, const struct smb_client_output *output)
{
	switch (output->kind) {
	case SMB_CLIENT_SEND:
		note_digest(peer, output->pdu.bytes, output->pdu.length);
		peer_serve(peer, output->channel, &output->pdu);
		break;
	case SMB_CLIENT_OPEN_CHANNEL:
		open_channel(peer, output->channel);
		break;
	case SMB_CLIENT_CLOSE_CHANNEL:
		peer->channels[output->channel].open = false;
		peer->closed++;
		break;
	case SMB_CLIENT_COPY:
		copy(peer, output);
		break;
	case SMB_CLIENT_DONE:
		peer->done_count++;
		peer->done = *output;
		break;
	case SMB_CLIENT_WAKE:
		peer->wake_ns = output->when_ns;
		break;
	case SMB_CLIENT_IDLE:
		break;
	}
}

void peer_drain(struct peer *peer)
{
	uint8_t buffer[SMB_CLIENT_PDU_MAX];
	struct smb_client_output output;

	do {
		smb_client_next(peer->client, &output, buffer, sizeof(buffer));
		note_digest(peer, &output.kind, sizeof(output.kind));
		note_digest(peer, &output.channel, sizeof(output.channel));
		take_output(peer, &output);
		after_call(peer);
	} while (output.kind != SMB_CLIENT_IDLE);
}

bool peer_deliver(struct peer *peer)
{
	struct peer_reply *reply = &peer->queue[peer->queue_head];
	struct smb_pdu pdu = { reply->bytes, reply->length, reply->payload };

	if (!peer->queue_count)
		return false;
	peer->queue_head = (peer->queue_head + 1) % PEER_QUEUE_MAX;
	peer->queue_count--;
	peer->now_ns += 1000;
	if (peer->channels[reply->channel].open && peer->channels[reply->channel].connection == reply->connection) {
		cr_assert_eq(smb_client_receive(peer->client, reply->channel, &pdu, peer->now_ns), SMB_RECEIVE_OK);
		after_call(peer);
	}
	peer_drain(peer);
	return true;
}

void peer_run(struct peer *peer)
{
	peer_drain(peer);
	while (peer_deliver(peer))
		;
}

enum smb_receive_verdict peer_send(struct peer *peer, uint32_t channel, const struct smb2_message *message)
{
	uint8_t buffer[1024];
	struct smb_pdu pdu;

	cr_assert_eq(smb2_message_encode(message, buffer, sizeof(buffer), &pdu), SMB_WIRE_OK);
	peer->channels[channel].credits += message->header.credits;
	peer->channels[channel].ids_end += message->header.credits;
	enum smb_receive_verdict verdict = smb_client_receive(peer->client, channel, &pdu, peer->now_ns);
	after_call(peer);
	peer_drain(peer);
	return verdict;
}

void peer_fail_channel(struct peer *peer, uint32_t channel)
{
	peer->channels[channel].open = false;
	smb_client_channel(peer->client, channel, SMB_CHANNEL_FAILED, peer->now_ns);
	after_call(peer);
	peer_drain(peer);
}

void peer_pass(struct peer *peer, uint64_t when_ns)
{
	peer_run(peer);
	while (peer->wake_ns <= when_ns) {
		peer->now_ns = peer->wake_ns > peer->now_ns ? peer->wake_ns : peer->now_ns;
		peer->wake_ns = UINT64_MAX;
		smb_client_wake(peer->client, peer->now_ns);
		after_call(peer);
		peer_run(peer);
	}
	if (peer->now_ns < when_ns)
		peer->now_ns = when_ns;
}

uint32_t peer_submit(struct peer *peer, const struct smb_op *op)
{
	uint32_t number = smb_client_submit(peer->client, op, peer->now_ns);

	if (number < 64)
		peer->writing[number] = op->kind == SMB_OP_WRITE;

	after_call(peer);
	peer_drain(peer);
	return number;
}

enum smb_op_verdict peer_do(struct peer *peer, const struct smb_op *op)
{
	uint32_t done = peer->done_count;

	cr_assert_neq(peer_submit(peer, op), SMB_OP_NONE);
	peer_run(peer);
	cr_assert_eq(peer->done_count, done + 1, "the operation did not end");
	return peer->done.verdict;
}

uint32_t peer_mount_and_open(struct peer *peer)
{
	struct smb_op mount = { .kind = SMB_OP_MOUNT };
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = "file" };

	cr_assert_eq(peer_do(peer, &mount), SMB_OP_OK);
	cr_assert_eq(peer_do(peer, &open), SMB_OP_OK);
	return peer->done.file;
}

uint64_t peer_read_all(struct peer *peer, uint32_t file, uint64_t bytes)
{
	struct smb_op read = { .kind = SMB_OP_READ, .file = file, .length = bytes };

	peer->copy_next = 0;
	do {
		cr_assert_eq(peer_do(peer, &read), SMB_OP_OK);
		read.offset += peer->done.bytes;
	} while (peer->done.bytes);
	return read.offset;
}

static uint32_t list_commands(const struct peer *peer, uint16_t command, uint32_t *list, uint32_t max)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < peer->log_count && count < max; i++) {
		if (peer->log[i].command == command)
			list[count++] = i;
	}
	return count;
}

uint32_t peer_reads(const struct peer *peer, uint32_t *list, uint32_t max)
{
	return list_commands(peer, SMB2_READ, list, max);
}

uint32_t peer_writes(const struct peer *peer, uint32_t *list, uint32_t max)
{
	return list_commands(peer, SMB2_WRITE, list, max);
}
