/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/world/tests/cores.h"

#include "protocol/eras/policy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct smb_client_limits client_limits = {
	.channels = CORES_CHANNELS,
	.requests = 40,
	.ops = CORES_OPS,
	.files = 4,
	.page_runs = 90,
	.dirty_runs = 40,
	.writes = 16,
	.outputs = 40,
};
static const struct smb_server_limits server_limits = {
	.connections = CORES_CHANNELS,
	.sessions = 4,
	.trees = 8,
	.nodes = 1000,
	.handles = 64,
	.requests = 256,
	.outputs = 256,
	.window = 256,
};
static const struct smb_monitor_limits monitor_limits = {
	.channels = CORES_CHANNELS, .requests = 256, .files = 16, .window = 65536
};

static uint32_t chance(struct cores *cores, uint32_t range)
{
	cores->random ^= cores->random << 13;
	cores->random ^= cores->random >> 7;
	cores->random ^= cores->random << 17;
	return (uint32_t)((cores->random >> 11) % range);
}

static bool happens(struct cores *cores, uint32_t per_mille)
{
	return !cores->calm && per_mille && chance(cores, 1000) < per_mille;
}

static void violated(void *context, const struct smb_violation *violation)
{
	struct cores *cores = context;

	if (!cores->violations++)
		cores->violation = *violation;
}

static struct smb_server_profile profile(const struct cores_config *config)
{
	return (struct smb_server_profile){
		.name = "cores",
		.dialect_min = SMB2_DIALECT_202,
		.dialect_max = SMB2_DIALECT_311,
		.max_transact = 1 << 20,
		.max_read = 1 << 20,
		.max_write = 1 << 20,
		.capabilities = 0x4f,
		.channels_max = 8,
		.credits_max = config->credits_max,
		.interim = SMB_INTERIM_NEVER,
	};
}

static void make_client(struct cores *cores)
{
	struct smb_client_config config = {
		.page_bytes = 4096, .client_guid = "a client's guid", .server = "server", .share = "share"
	};
	struct smb_mount_report report;

	config.policy = smb_era_find(cores->config.era)->policy;
	config.policy.break_ack_waits |= !cores->config.overdraw;
	cr_assert_eq(smb_mount_options_parse(cores->config.mount, &config.policy, &config.mount, &report), SMB_MOUNT_OK,
		     "%s", report.message);
	cores->client = smb_client_init(malloc(smb_client_size(&client_limits)), &client_limits, &config);
	cr_assert_not_null(cores->client);
}

struct cores *cores_new(const struct cores_config *config)
{
	struct cores *cores = calloc(1, sizeof(*cores));
	struct smb_server_config server = {
		.profile = profile(config),
		.server_guid = "server",
		.share = "share",
		.interface_count = 2,
		.interfaces = { { .speed_bps = 10000000000, .rss = true }, { .speed_bps = 10000000000, .rss = true } },
		.misbehaviour = config->misbehaviour,
	};

	cores->config = *config;
	cores->random = config->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	cores->wake_ns = UINT64_MAX;
	make_client(cores);
	cores->server = smb_server_init(malloc(smb_server_size(&server_limits)), &server_limits, &server);
	struct smb_monitor_expect expect = { .grants_vary = config->chances.choose };
	cores->monitor = smb_monitor_init(malloc(smb_monitor_size(&monitor_limits)), &monitor_limits, &expect);
	smb_monitor_report_to(cores->monitor, violated, cores);
	cr_assert(smb_server_make_file(cores->server, "file", 7, CORES_FILE_BYTES));
	cr_assert(smb_server_make_file(cores->server, "other", 8, CORES_FILE_BYTES));
	return cores;
}

/* ---------------------------------------------------------------------------------------------------------- queues */

static void push(struct cores_queue *queue, const struct smb_pdu *pdu, bool is_broken)
{
	cr_assert_lt(queue->count, CORES_QUEUE);
	struct cores_pdu *entry = &queue->pdus[(queue->head + queue->count++) % CORES_QUEUE];
	uint8_t *bytes = malloc(pdu->length);
	memcpy(bytes, pdu->bytes, pdu->length);
	*entry = (struct cores_pdu){ { bytes, pdu->length, pdu->payload }, is_broken };
}

static bool pop(struct cores_queue *queue, struct cores_pdu *entry)
{
	if (!queue->count)
		return false;
	*entry = queue->pdus[queue->head];
	queue->head = (queue->head + 1) % CORES_QUEUE;
	queue->count--;
	return true;
}

static void empty(struct cores_queue *queue)
{
	struct cores_pdu entry;

	while (pop(queue, &entry))
		free((void *)(uintptr_t)entry.pdu.bytes);
}

void cores_free(struct cores *cores)
{
	for (uint32_t i = 0; i < CORES_CHANNELS; i++) {
		empty(&cores->to_server[i]);
		empty(&cores->to_client[i]);
	}
	free(cores->client);
	free(cores->server);
	free(cores->monitor);
	free(cores);
}

/* --------------------------------------------------------------------------------------------------------- outputs */

/** The connection ends for both. */
static void disconnect(struct cores *cores, uint32_t channel)
{
	empty(&cores->to_server[channel]);
	empty(&cores->to_client[channel]);
	if (cores->up[channel]) {
		smb_server_closed(cores->server, channel, cores->now_ns);
		smb_monitor_closed(cores->monitor, channel, cores->now_ns);
	}
	cores->up[channel] = false;
	cores->wants_open[channel] = false;
}

static void drain_server(struct cores *cores);

static void done(struct cores *cores, const struct smb_client_output *output)
{
	uint32_t op = output->op;

	cr_assert(cores->busy[op]);
	cores->busy[op] = false;
	cores->copying[op] = false;
	cores->done[output->verdict]++;
	if (cores->kind[op] == SMB_OP_OPEN && output->verdict == SMB_OP_OK)
		cores->open[output->file] = true;
	if (cores->kind[op] == SMB_OP_MOUNT)
		cores->mounted = output->verdict == SMB_OP_OK;
	if (cores->kind[op] == SMB_OP_UNMOUNT) {
		cores->mounted = false;
		memset(cores->open, 0, sizeof(cores->open));
	}
}

static void send_pdu(struct cores *cores, const struct smb_client_output *output)
{
	if (cores->unsent_next) {
		cores->unsent_next = false;
		cores->counts[2]++;
		cr_assert(smb_client_unsent(cores->client, output->channel, output->message_id, cores->now_ns));
		return;
	}
	cr_assert(cores->up[output->channel], "a PDU on a channel that is down");
	smb_monitor_sent(cores->monitor, output->channel, &output->pdu, cores->now_ns);
	push(&cores->to_server[output->channel], &output->pdu, false);
}

static void drain_client(struct cores *cores)
{
	uint8_t buffer[SMB_CLIENT_PDU_MAX];
	struct smb_client_output output;

	do {
		smb_client_next(cores->client, &output, buffer, sizeof(buffer));
		switch (output.kind) {
		case SMB_CLIENT_SEND:
			send_pdu(cores, &output);
			break;
		case SMB_CLIENT_OPEN_CHANNEL:
			cores->wants_open[output.channel] = true;
			break;
		case SMB_CLIENT_CLOSE_CHANNEL:
			disconnect(cores, output.channel);
			drain_server(cores);
			break;
		case SMB_CLIENT_COPY:
			cores->copying[output.op] = true;
			break;
		case SMB_CLIENT_DONE:
			done(cores, &output);
			break;
		case SMB_CLIENT_WAKE:
			cores->wake_ns = output.when_ns;
			break;
		case SMB_CLIENT_IDLE:
			break;
		}
	} while (output.kind != SMB_CLIENT_IDLE);
	cr_assert(smb_client_is_valid(cores->client));
}

static void lost(struct cores *cores, uint32_t channel)
{
	bool was_up = cores->up[channel];

	disconnect(cores, channel);
	drain_server(cores);
	if (was_up)
		smb_client_channel(cores->client, channel, SMB_CHANNEL_CLOSED, cores->now_ns);
	drain_client(cores);
}

static void drain_server(struct cores *cores)
{
	static uint8_t buffer[SMB_SERVER_PDU_MAX];
	const struct smb_server_misbehaviour *bad = &cores->config.misbehaviour;
	struct smb_server_output output;

	do {
		smb_server_next(cores->server, &output, buffer, sizeof(buffer));
		switch (output.kind) {
		case SMB_SERVER_SEND:
			push(&cores->to_client[output.connection], &output.pdu,
			     bad->next_is_wild || bad->pending_is_odd);
			break;
		case SMB_SERVER_WORK:
			cr_assert_lt(cores->work_count, CORES_QUEUE);
			cores->works[cores->work_count++] = output.token;
			break;
		case SMB_SERVER_DISCONNECT:
			cores->cuts_by_server++;
			cr_log_warn("the server cuts: %s", output.reason);
			smb_server_closed(cores->server, output.connection, cores->now_ns);
			smb_monitor_closed(cores->monitor, output.connection, cores->now_ns);
			empty(&cores->to_server[output.connection]);
			empty(&cores->to_client[output.connection]);
			cores->up[output.connection] = false;
			smb_client_channel(cores->client, output.connection, SMB_CHANNEL_CLOSED, cores->now_ns);
			break;
		case SMB_SERVER_WAKE:
		case SMB_SERVER_IDLE:
			break;
		}
	} while (output.kind != SMB_SERVER_IDLE);
	cr_assert(smb_server_is_valid(cores->server));
}

/* ----------------------------------------------------------------------------------------------------- what happens */

/** A CLOSE that is refused leaves its handle open, and no client can help that. */
static bool may_refuse(const struct smb_pdu *pdu)
{
	struct smb2_header header;
	uint32_t next;

	return pdu && smb2_header_decode(pdu->bytes, pdu->length, &header, &next) == SMB_WIRE_OK &&
	       header.command != SMB2_CLOSE;
}

/** `pdu`: the request that is about to be executed; NULL: it has been. */
static void choose(struct cores *cores, const struct smb_pdu *pdu)
{
	static const uint32_t pushback[] = { STATUS_INSUFFICIENT_RESOURCES, STATUS_SERVER_UNAVAILABLE,
					     STATUS_IO_TIMEOUT };
	struct smb_server_choice choice = { .chosen = cores->config.chances.choose && !cores->calm };

	if (!choice.chosen && !happens(cores, cores->config.chances.refuse))
		return;
	choice.grant = (uint16_t)(chance(cores, 3) ? chance(cores, 20) : 0);
	if (!choice.chosen)
		choice.grant = 10;
	choice.chosen = true;
	choice.spread = chance(cores, 2);
	choice.split = chance(cores, 2);
	choice.interim = chance(cores, 2);
	choice.member = chance(cores, 2);
	if (may_refuse(pdu) && happens(cores, cores->config.chances.refuse)) {
		choice.status = pushback[chance(cores, 3)];
		cores->counts[5]++;
	}
	choice.expire = happens(cores, cores->config.chances.expire);
	cores->counts[6] += choice.expire;
	smb_server_choose(cores->server, &choice);
}

static bool serve(struct cores *cores, uint32_t channel)
{
	struct cores_pdu entry;

	if (!pop(&cores->to_server[channel], &entry))
		return false;
	choose(cores, &entry.pdu);
	smb_server_receive(cores->server, channel, &entry.pdu, cores->now_ns);
	free((void *)(uintptr_t)entry.pdu.bytes);
	drain_server(cores);
	drain_client(cores);
	return true;
}

static bool answer(struct cores *cores, uint32_t channel)
{
	struct cores_pdu entry;

	if (!pop(&cores->to_client[channel], &entry))
		return false;
	smb_monitor_received(cores->monitor, channel, &entry.pdu, cores->now_ns);
	enum smb_receive_verdict verdict = smb_client_receive(cores->client, channel, &entry.pdu, cores->now_ns);
	cr_assert(verdict == SMB_RECEIVE_OK || entry.is_broken, "verdict %u", verdict);
	free((void *)(uintptr_t)entry.pdu.bytes);
	drain_client(cores);
	return true;
}

static bool work(struct cores *cores)
{
	if (!cores->work_count)
		return false;
	uint32_t n = chance(cores, cores->work_count);
	uint32_t token = cores->works[n];
	cores->works[n] = cores->works[--cores->work_count];
	choose(cores, NULL);
	smb_server_work_done(cores->server, token, cores->now_ns);
	drain_server(cores);
	return true;
}

static bool copy(struct cores *cores)
{
	for (uint32_t i = 0, op = chance(cores, CORES_OPS); i < CORES_OPS; i++, op = (op + 1) % CORES_OPS) {
		if (!cores->copying[op])
			continue;
		cores->copying[op] = false;
		smb_client_copied(cores->client, op, cores->now_ns);
		drain_client(cores);
		return true;
	}
	return false;
}

static bool connect_channel(struct cores *cores)
{
	for (uint32_t i = 0; i < CORES_CHANNELS; i++) {
		if (!cores->wants_open[i])
			continue;
		cores->wants_open[i] = false;
		if (happens(cores, cores->config.chances.cut)) {
			smb_client_channel(cores->client, i, SMB_CHANNEL_FAILED, cores->now_ns);
		} else {
			cores->up[i] = true;
			smb_server_connected(cores->server, i, cores->now_ns);
			smb_monitor_connected(cores->monitor, i, cores->now_ns);
			smb_client_channel(cores->client, i, SMB_CHANNEL_CONNECTED, cores->now_ns);
		}
		drain_client(cores);
		return true;
	}
	return false;
}

static bool submit(struct cores *cores, const struct smb_op *op)
{
	uint32_t n = smb_client_submit(cores->client, op, cores->now_ns);

	if (n == SMB_OP_NONE)
		return false;
	cr_assert_not(cores->busy[n]);
	cores->busy[n] = true;
	cores->kind[n] = op->kind;
	cores->op_file[n] = op->file;
	if (op->kind == SMB_OP_CLOSE)
		cores->open[op->file] = false;
	drain_client(cores);
	return true;
}

/** Any operation that the application may ask for. */
static bool ask(struct cores *cores)
{
	static const enum smb_op_kind kinds[] = { SMB_OP_OPEN,	SMB_OP_READ,  SMB_OP_READ,  SMB_OP_READ,
						  SMB_OP_WRITE, SMB_OP_WRITE, SMB_OP_FSYNC, SMB_OP_CLOSE };
	struct smb_op op = {
		.kind = kinds[chance(cores, 8)],
		.name = chance(cores, 2) ? "file" : "other",
		.file = chance(cores, 4),
		.offset = (uint64_t)chance(cores, 70) * 4096 + chance(cores, 2) * 100,
		.length = 1 + chance(cores, 100000),
		.access = SMB_OPEN_READ_WRITE,
		.source = 9,
		.source_offset = chance(cores, 1000),
	};

	if (!cores->mounted || cores->calm || (op.kind != SMB_OP_OPEN && !cores->open[op.file]))
		return false;
	return submit(cores, &op);
}

static void cancel(struct cores *cores)
{
	uint32_t op = chance(cores, CORES_OPS);

	if (cores->busy[op] && cores->kind[op] != SMB_OP_MOUNT)
		cores->counts[1] += smb_client_cancel(cores->client, op, cores->now_ns);
	drain_client(cores);
}

static void break_caching(struct cores *cores)
{
	uint32_t open = chance(cores, server_limits.handles);
	struct smb_server_open_info info;

	for (uint32_t i = 0; i < server_limits.handles; i++, open = (open + 1) % server_limits.handles) {
		smb_server_look_open(cores->server, open, &info);
		if (info.is_open && (info.is_lease ? info.lease_state : info.oplock_level))
			break;
	}
	cores->counts[3] += smb_server_break(cores->server, open, chance(cores, CORES_CHANNELS),
					     info.is_lease ? info.lease_state & chance(cores, 8) : chance(cores, 2),
					     cores->now_ns);
	drain_server(cores);
}

/** Time goes on to what the client waits for. */
static bool pass_time(struct cores *cores)
{
	if (cores->wake_ns == UINT64_MAX)
		return false;
	cores->now_ns = cores->wake_ns > cores->now_ns ? cores->wake_ns : cores->now_ns;
	cores->wake_ns = UINT64_MAX;
	smb_client_wake(cores->client, cores->now_ns);
	drain_client(cores);
	return true;
}

static void misfortune(struct cores *cores)
{
	const struct cores_chances *chances = &cores->config.chances;
	uint32_t channel = chance(cores, CORES_CHANNELS);

	if (happens(cores, chances->cut) && cores->up[channel]) {
		cores->counts[0]++;
		lost(cores, channel);
	}
	if (happens(cores, chances->cancel))
		cancel(cores);
	if (happens(cores, chances->unsent))
		cores->unsent_next = true;
	if (happens(cores, chances->brk))
		break_caching(cores);
	if (happens(cores, chances->time))
		cores->counts[4] += pass_time(cores);
}

bool cores_step(struct cores *cores)
{
	uint32_t first = chance(cores, 6), channel = chance(cores, CORES_CHANNELS);

	cores->steps++;
	cores->now_ns += 1000;
	misfortune(cores);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t which = (first + i) % 6;
		bool did = which == 0 ? copy(cores) : which == 1 ? work(cores) : which == 2 ? ask(cores) : false;
		for (uint32_t c = 0; !did && which >= 3 && c < CORES_CHANNELS; c++) {
			uint32_t at = (channel + c) % CORES_CHANNELS;
			did = which == 3 ? serve(cores, at) : which == 4 ? answer(cores, at) : connect_channel(cores);
		}
		if (did)
			return true;
	}
	return pass_time(cores);
}

static bool all_over(const struct cores *cores)
{
	for (uint32_t i = 0; i < CORES_OPS; i++) {
		if (cores->busy[i])
			return false;
	}
	return true;
}

bool cores_calm_down(struct cores *cores, uint32_t steps)
{
	cores->calm = true;
	cores->unsent_next = false;
	while (!all_over(cores) && steps-- && cores_step(cores))
		;
	if (!all_over(cores)) {
		struct smb_client_info info;
		smb_client_look(cores->client, &info);
		for (uint32_t i = 0; i < CORES_OPS; i++)
			if (cores->busy[i])
				fprintf(stderr, "op %u kind %u copying %u file %u\n", i, cores->kind[i],
					cores->copying[i], cores->op_file[i]);
		for (uint32_t i = 0; i < CORES_CHANNELS; i++) {
			struct smb_channel_info ch;
			smb_client_look_channel(cores->client, i, &ch);
			fprintf(stderr, "ch %u up %u want %u to_s %u to_c %u usable %u cr %u/%u/%u fl %u\n", i,
				cores->up[i], cores->wants_open[i], cores->to_server[i].count,
				cores->to_client[i].count, ch.usable, ch.credits, ch.credits_echo, ch.credits_oplock,
				ch.in_flight);
		}
		fprintf(stderr, "work %u wake %lu now %lu inflight %u waiting %u\n", cores->work_count, cores->wake_ns,
			cores->now_ns, info.in_flight, info.waiting_for_credits);
	}
	return all_over(cores);
}

enum smb_op_verdict cores_do(struct cores *cores, const struct smb_op *op)
{
	uint32_t before[8];

	memcpy(before, cores->done, sizeof(before));
	cr_assert(submit(cores, op), "operation %u is not taken", op->kind);
	cr_assert(cores_calm_down(cores, 100000), "operation %u does not end", op->kind);
	for (uint32_t i = 0; i < 8; i++) {
		if (cores->done[i] != before[i])
			return (enum smb_op_verdict)i;
	}
	cr_assert_fail("no verdict");
	return SMB_OP_FAILED;
}

bool cores_mount(struct cores *cores)
{
	bool ok = cores_do(cores, &(struct smb_op){ .kind = SMB_OP_MOUNT }) == SMB_OP_OK;

	cores->calm = false;
	return ok;
}

uint32_t cores_server_opens(const struct cores *cores)
{
	struct smb_server_open_info info;
	uint32_t opens = 0;

	for (uint32_t i = 0; i < server_limits.handles; i++) {
		smb_server_look_open(cores->server, i, &info);
		opens += info.is_open;
	}
	return opens;
}
