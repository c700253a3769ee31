/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The client's machine: one receiving thread per channel (the kernel's cifsd), a timer, and the core's outputs. */

#include "sim/world/world_internal.h"

#include "protocol/wire/message.h"

#include <string.h>

#define COMMAND_OFFSET 12 /* in an SMB2 header (MS-SMB2 2.2.1.2) */
#define CONNECT_TIMEOUT_NS UINT64_C(5000000000) /* cifs, generic_ip_connect: sk_sndtimeo */

struct world_frame *world_frame_new(struct world *world, const struct smb_pdu *pdu, uint32_t channel)
{
	struct world_frame *frame = g_malloc(sizeof(*frame) + pdu->length);

	frame->world = world;
	frame->pdu = *pdu;
	frame->pdu.bytes = frame->bytes;
	frame->channel = channel;
	frame->read_slot = WORLD_NO_READ;
	frame->is_other = false;
	memcpy(frame->bytes, pdu->bytes, pdu->length);
	return frame;
}

void world_frame_drop(void *frame, void *arg)
{
	(void)arg;
	g_free(frame);
}

uint32_t world_members(const struct smb_pdu *pdu)
{
	struct smb_chain_reader reader;
	struct smb2_message message;
	uint32_t members = 0;

	smb_chain_read(&reader, pdu);
	while (smb_chain_next(&reader, &message) == SMB_WIRE_OK)
		members++;
	return MAX(members, 1);
}

/* A READ has been asked for: note it and tell what its pages cost. */
static double cost_of_read(struct world *world, struct world_frame *frame, const struct world_read *read)
{
	frame->read_slot = world_read_sent(world, frame->channel, read);
	if (world->clock.running)
		world->result->reads_per_channel[frame->channel]++;
	if (read->is_write)
		return 0; /* its pages were paid for when the application wrote them */
	uint32_t pages = (read->length - 1) / world->point->page_bytes + 1;
	return world->point->client_costs.page_cpu_ns * pages;
}

/* What the processor spends on a request: the request itself and, for a READ, the pages it will fill. Copying what a
 * WRITE carries is the business of its channel's thread. */
static double cost_of_request(struct world *world, struct world_frame *frame)
{
	double ns = world->point->client_costs.request_cpu_ns * world_members(&frame->pdu);
	struct smb_chain_reader reader;
	struct world_read read;

	if (world_read_smb1(&frame->pdu, &read))
		return ns + cost_of_read(world, frame, &read);
	if (frame->bytes[COMMAND_OFFSET] != SMB2_READ && frame->bytes[COMMAND_OFFSET] != SMB2_WRITE)
		return ns; /* of a chain only the first member is followed */
	smb_chain_read(&reader, &frame->pdu);
	while (world_read_next(&reader, &read))
		ns += cost_of_read(world, frame, &read);
	return ns;
}

/*
 * The thread that sends a WRITE copies its data into the socket and waits when that is full; it holds the connection's lock
 * (the kernel's srv_mutex), and cuts its next WRITE only afterwards. Here a thread per channel does that, and the core
 * waits until it is told.
 */
static void writes_main(void *arg)
{
	struct world_channel *channel = arg;
	struct world *world = channel->world;
	struct sim_conn *conn = channel->conn;
	struct sim_queue *writes = channel->writes;

	for (;;) {
		uint64_t *bytes = sim_queue_pop(writes);
		double cost_ns = world->point->client_costs.send_cpu_ns_per_byte * (double)*bytes;

		g_free(bytes);
		sim_cpu_use(world->engine, (uint64_t)cost_ns);
		if (channel->conn != conn || !sim_conn_wait_buffered(conn, SIM_CLIENT) || !channel->open)
			continue;
		smb_client_channel(world->client, channel->number, SMB_CHANNEL_WRITABLE,
				   sim_engine_now_ns(world->engine));
		world_client_drain(world);
	}
}

static void send_data(struct world *world, struct world_channel *channel, uint64_t bytes)
{
	if (!channel->writes) {
		g_autofree char *name = g_strdup_printf("send-%u", channel->number);

		channel->writes = sim_queue_new(world->engine);
		world_thread_start(world, name, writes_main, channel);
	}
	sim_queue_push(channel->writes, g_memdup2(&bytes, sizeof(bytes)));
}

/* The wire order is the core's order, so sending comes first and its cost after (the kernel holds srv_mutex). */
static double send_pdu(struct world *world, const struct smb_client_output *output)
{
	struct world_channel *channel = &world->channels[output->channel];
	uint64_t now_ns = sim_engine_now_ns(world->engine);
	struct world_frame *frame = world_frame_new(world, &output->pdu, output->channel);
	double cost_ns = cost_of_request(world, frame);

	frame->is_other = frame->read_slot == WORLD_NO_READ;
	if (frame->is_other)
		world_other_sent(world);
	if (world->trace && world->trace->pdu)
		world->trace->pdu(world->trace->context, now_ns, output->channel, SIM_CLIENT, &frame->pdu);
	if (world->heard)
		sim_pairs_sent(world->heard, output->channel, &frame->pdu, now_ns);
	if (world->monitor)
		smb_monitor_sent(world->monitor, output->channel, &frame->pdu, now_ns);
	world->result->pdu_events++;
	world->result->pdus += world->clock.running;
	world_sample(world);
	uint64_t bytes = frame->pdu.payload.length;
	sim_conn_send(channel->conn, SIM_CLIENT, frame, smb_pdu_stream_bytes(&frame->pdu));
	if (bytes && world->sends_block)
		send_data(world, channel, bytes);
	return cost_ns;
}

static void receive_pdu(struct world_channel *channel, struct world_frame *frame)
{
	struct world *world = channel->world;
	uint64_t now_ns = sim_engine_now_ns(world->engine);

	world->result->pdu_events++;
	if (world->trace && world->trace->received)
		world->trace->received(world->trace->context, now_ns, channel->number, SIM_SERVER, &frame->pdu);
	if (world->heard)
		sim_pairs_received(world->heard, channel->number, &frame->pdu, now_ns);
	if (world->monitor)
		smb_monitor_received(world->monitor, channel->number, &frame->pdu, now_ns);
	world_read_done(world, frame->read_slot);
	if (frame->is_other)
		world_other_done(world);
	smb_client_receive(world->client, channel->number, &frame->pdu, now_ns);
	world_sample(world);
	g_free(frame);
	world_client_drain(world);
}

/* The handshake; false: nobody answers (the NIC is down), or nobody waits for it any more. */
static bool connect_channel(struct world_channel *channel, struct sim_conn *conn)
{
	struct world *world = channel->world;
	enum world_turn turn;

	if (world->nic_down[channel->path])
		sim_sleep_until(world->engine, sim_engine_now_ns(world->engine) + CONNECT_TIMEOUT_NS);
	else
		sim_conn_connect(conn);
	turn = world_turn(world, (struct sim_turn){ .kind = SIM_TURN_CONNECT, .channel = channel->number });
	if (channel->conn != conn || turn == WORLD_TURN_GONE)
		return false;
	if (!world->nic_down[channel->path] && turn == WORLD_TURN_TAKEN)
		return true;
	smb_client_channel(world->client, channel->number, SMB_CHANNEL_FAILED, sim_engine_now_ns(world->engine));
	world_client_drain(world);
	return false;
}

/* One connection's receiving thread; the channel may get another connection after it. */
static void channel_main(void *arg)
{
	struct world_channel *channel = arg;
	struct world *world = channel->world;
	struct sim_conn *conn = channel->conn;
	struct sim_queue *inbox = channel->client_inbox;
	const struct sim_turn turn = { .kind = SIM_TURN_TO_CLIENT, .channel = channel->number };

	if (!connect_channel(channel, conn))
		return;
	channel->open = true;
	if (world->monitor)
		smb_monitor_connected(world->monitor, channel->number, sim_engine_now_ns(world->engine));
	smb_server_connected(world->server, world_connection(world, channel->number), world_server_now_ns(world));
	smb_client_channel(world->client, channel->number, SMB_CHANNEL_CONNECTED, sim_engine_now_ns(world->engine));
	world_client_drain(world);
	for (;;) {
		struct sim_arrival *arrival = sim_queue_pop(inbox);
		struct world_frame *frame = arrival->message;

		sim_arrival_done(arrival);
		if (frame && channel->open && channel->conn == conn && world_turn(world, turn) == WORLD_TURN_TAKEN)
			receive_pdu(channel, frame);
		else
			g_free(frame); /* the last words of a connection that is over */
	}
}

/* The first channel goes to the address that was mounted, NIC 0; others to an interface of the server's list. */
static uint32_t path_of(const struct world *world, const struct smb_client_output *output)
{
	return output->server_index ? (output->server_index - 1) % world->point->network.nics : 0;
}

static void open_channel(struct world *world, const struct smb_client_output *output)
{
	const struct sim_network *network = &world->point->network;
	struct world_channel *channel = &world->channels[output->channel];
	g_autofree char *name = g_strdup_printf("cifsd-%u", output->channel);

	world_turns_drop(world, output->channel);
	channel->world = world;
	channel->number = output->channel;
	channel->path = path_of(world, output);
	channel->conn = sim_conn_new(world->engine, world->number * network->nics + channel->path, network->tcp);
	channel->client_inbox = sim_queue_new(world->engine);
	channel->writes = NULL; /* those of an earlier connection end with it */
	sim_queue_set_costs(channel->client_inbox, world->point->client_costs.receive_cpu_ns_per_byte, 0);
	sim_conn_set_inbox(channel->conn, SIM_CLIENT, channel->client_inbox);
	world_server_add_connection(world, output->channel);
	world->result->channels += !channel->used;
	channel->used = true;
	world->result->nic_of_channel[output->channel] = (uint8_t)channel->path;
	world_thread_start(world, name, channel_main, channel);
}

void world_channel_close(struct world *world, uint32_t number, bool tell_client)
{
	struct world_channel *channel = &world->channels[number];
	uint64_t now_ns = sim_engine_now_ns(world->engine);

	world_turns_drop(world, number);
	if (!channel->open)
		return;
	channel->open = false;
	sim_conn_cut(channel->conn, world_frame_drop, NULL);
	world_reads_lost(world, number);
	smb_server_closed(world->server, world_connection(world, number), world_server_now_ns(world));
	if (world->monitor)
		smb_monitor_closed(world->monitor, number, now_ns);
	if (tell_client)
		smb_client_channel(world->client, number, SMB_CHANNEL_CLOSED, now_ns);
	world_server_drain(world);
}

void world_client_drain(struct world *world)
{
	struct smb_client_output output;
	uint8_t buffer[SMB_CLIENT_PDU_MAX];
	double cost_ns = 0;

	for (;;) {
		smb_client_next(world->client, &output, buffer, sizeof(buffer));
		switch (output.kind) {
		case SMB_CLIENT_IDLE:
			sim_cpu_owe(world->engine, (uint64_t)cost_ns);
			return;
		case SMB_CLIENT_SEND:
			if (world_may_send(world, &output))
				cost_ns += send_pdu(world, &output);
			break;
		case SMB_CLIENT_OPEN_CHANNEL:
			open_channel(world, &output);
			break;
		case SMB_CLIENT_CLOSE_CHANNEL:
			world_channel_close(world, output.channel, false);
			break;
		case SMB_CLIENT_COPY:
		case SMB_CLIENT_DONE:
			sim_queue_push(world->op_queues[output.op], g_memdup2(&output, sizeof(output)));
			break;
		case SMB_CLIENT_WAKE:
			world_timer_set(&world->client_timer, output.when_ns);
			break;
		}
	}
}

static void wake(struct world *world)
{
	smb_client_wake(world->client, sim_engine_now_ns(world->engine));
	world_client_drain(world);
}

void world_client_start(struct world *world)
{
	world->application = sim_queue_new(world->engine);
	world->client_timer.ring = wake;
	world_timer_start(world, &world->client_timer, SIM_CLIENT, "timer");
	if (world->site->director)
		world_director_start(world);
	else
		world_thread_start(world, "application", world_application_main, world);
}
