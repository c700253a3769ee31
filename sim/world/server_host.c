/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The server's machine. With `threads` 0 one process serves every connection (Samba's smbd) and a pool of storage
 * threads works beside it; otherwise each connection has a receiving thread and a pool answers.
 */

#include "sim/world/world_internal.h"

#include "protocol/wire/smb1.h"

#define STORAGE_THREADS_DEFAULT 100 /* Samba `aio max threads` */

/* What this reply answers finally; interim replies answer nothing. */
static void note_answered(struct world *world, struct world_frame *frame)
{
	struct smb2_header header;
	struct smb1_header smb1;
	uint64_t message_id = 0;
	bool is_read = false;
	uint32_t next;

	if (smb1_is_pdu(&frame->pdu) && smb1_header_decode(&frame->pdu, &smb1) == SMB_WIRE_OK) {
		is_read = smb1.command == SMB1_READ_ANDX || smb1.command == SMB1_WRITE_ANDX;
		message_id = smb1.mid;
	} else if (smb2_header_decode(frame->bytes, frame->pdu.length, &header, &next) == SMB_WIRE_OK) {
		if (header.status == STATUS_PENDING)
			return;
		is_read = header.command == SMB2_READ || header.command == SMB2_WRITE;
		message_id = header.message_id;
	}
	frame->is_other = !is_read;
	if (is_read)
		frame->read_slot = world_read_find(world, frame->channel, message_id);
}

static double send_pdu(struct world *world, const struct smb_server_output *output)
{
	struct world_frame *frame = world_frame_new(world, &output->pdu,
						    output->connection % world->site->channels_each);

	note_answered(world, frame);
	world_read_stage(world, frame->read_slot, WORLD_READ_WIRE);
	if (frame->is_other)
		world_other_stage(world, WORLD_READ_WIRE);
	if (world->trace && world->trace->pdu)
		world->trace->pdu(world->trace->context, sim_engine_now_ns(world->engine), frame->channel, SIM_SERVER,
				  &frame->pdu);
	world->result->pdu_events++;
	world->result->pdus += world->clock.running;
	sim_conn_send(world->channels[frame->channel].conn, SIM_SERVER, frame, smb_pdu_stream_bytes(&frame->pdu));
	return world->point->server.send_cpu_ns_per_byte * (double)smb_pdu_stream_bytes(&frame->pdu);
}

static bool storage_is_free_of_charge(const struct world *world, bool is_write)
{
	const struct smb_server_profile *profile = &world->point->server;

	if (world->site->director)
		return !world_director_holds_work(world);
	return !profile->storage_latency_ns && profile->storage_bytes_per_s == 0 &&
	       (is_write ? profile->write_cpu_ns_per_byte : profile->read_cpu_ns_per_byte) == 0;
}

/* The device behind all storage threads moves one request after another at its rate. */
static void use_storage(struct world *world, const struct world_work *work)
{
	const struct smb_server_profile *profile = &world->point->server;
	uint64_t ready_ns = sim_engine_now_ns(world->engine) + profile->storage_latency_ns;

	if (profile->storage_bytes_per_s > 0) {
		uint64_t start_ns = MAX(ready_ns, world->site->storage_free_ns);
		ready_ns = start_ns + (uint64_t)((double)work->bytes * 1e9 / profile->storage_bytes_per_s);
		world->site->storage_free_ns = ready_ns;
	}
	sim_sleep_until(world->engine, ready_ns);
	double per_byte_ns = work->is_write ? profile->write_cpu_ns_per_byte : profile->read_cpu_ns_per_byte;
	sim_cpu_use(world->engine, (uint64_t)(per_byte_ns * (double)work->bytes));
}

static void start_work(struct world *world, const struct smb_server_output *output)
{
	if (storage_is_free_of_charge(world, output->is_write)) {
		smb_server_work_done(world->server, output->token, world_server_now_ns(world));
		return;
	}
	struct world_work *work = g_new0(struct world_work, 1);
	work->token = output->token;
	work->bytes = output->bytes;
	work->is_write = output->is_write;
	work->world = world;
	work->channel = output->connection % world->site->channels_each;
	if (world->point->server.aio) {
		sim_queue_push(world->site->storage, work);
		return;
	}
	use_storage(world, work);
	g_free(work);
	smb_server_work_done(world->server, output->token, world_server_now_ns(world));
}

static void disconnect(struct world *world, const struct smb_server_output *output)
{
	struct world_channel *channel = &world->channels[output->connection % world->site->channels_each];
	g_autofree char *why = g_strdup_printf("the server cut connection %u: %s", output->connection, output->reason);

	sim_conn_cut(channel->conn, world_frame_drop, NULL);
	channel->open = false;
	world_director_note(world, "cut", why);
	world_end(world, SIM_OUTCOME_FAILED, why);
}

uint32_t world_connection(const struct world *world, uint32_t channel)
{
	return world->number * world->site->channels_each + channel;
}

struct world *world_of_connection(const struct world_site *site, uint32_t connection)
{
	return &site->clients[connection / site->channels_each];
}

/* The thread that serves one client may find work for another. */
void world_server_drain(struct world *world)
{
	struct smb_server_output output;
	struct world *owner;
	static uint8_t buffer[SMB_SERVER_PDU_MAX]; /* one thread runs at a time, and none blocks while it is in use */
	double cost_ns = 0;

	for (;;) {
		smb_server_next(world->server, &output, buffer, sizeof(buffer));
		owner = world_of_connection(world->site, output.connection);
		switch (output.kind) {
		case SMB_SERVER_IDLE:
			sim_cpu_owe(world->engine, (uint64_t)cost_ns);
			return;
		case SMB_SERVER_SEND:
			cost_ns += send_pdu(owner, &output);
			break;
		case SMB_SERVER_WORK:
			start_work(owner, &output);
			break;
		case SMB_SERVER_DISCONNECT:
			disconnect(owner, &output);
			return;
		case SMB_SERVER_WAKE:
			world_timer_set(&world->site->server_timer, output.when_ns);
			break;
		}
	}
}

static void finish_work(struct world *world, struct world_work *work)
{
	uint32_t token = work->token;

	g_free(work);
	smb_server_work_done(world->server, token, world_server_now_ns(world));
	world_server_drain(world);
}

static void serve(struct world *world, struct world_frame *frame, uint64_t arrived_ns)
{
	uint32_t connection = world_connection(world, frame->channel);

	/* The inbox has been paid for one request; a chain has more. */
	sim_cpu_use(world->engine, (uint64_t)(world->point->server.request_cpu_ns * (world_members(&frame->pdu) - 1)));
	world->result->pdu_events++;
	world_read_stage_since(world, frame->read_slot, WORLD_READ_SERVER, arrived_ns);
	if (frame->is_other)
		world_other_stage(world, WORLD_READ_SERVER);
	smb_server_receive(world->server, connection, &frame->pdu, world_server_now_ns(world));
	g_free(frame);
	world_server_drain(world);
}

/* Its connection is still there, and it is its turn. */
static bool is_to_be_served(struct world *world, const struct world_frame *frame, const struct sim_conn *conn)
{
	const struct world_channel *channel = &world->channels[frame->channel];
	const struct sim_turn turn = { .kind = SIM_TURN_TO_SERVER, .channel = frame->channel };

	return channel->open && channel->conn == conn && world_turn(world, turn) == WORLD_TURN_TAKEN;
}

static void service_main(struct world *world, struct sim_queue *inbox)
{
	for (;;) {
		struct sim_arrival *arrival = sim_queue_pop(inbox);
		if (!arrival->conn) {
			finish_work(world, (struct world_work *)arrival);
			continue;
		}
		struct world_frame *frame = arrival->message;
		const struct sim_conn *conn = arrival->conn;
		uint64_t arrived_ns = arrival->arrived_ns;
		sim_arrival_done(arrival);
		if (frame && is_to_be_served(world, frame, conn))
			serve(world, frame, arrived_ns);
		else
			g_free(frame); /* of a connection that is over */
	}
}

static void process_main(void *arg)
{
	struct world *world = arg;

	service_main(world, world->server_inbox);
}

static void connection_main(void *arg)
{
	struct world_channel *channel = arg;

	service_main(channel->world, channel->server_inbox);
}

static void storage_main(void *arg)
{
	struct world_site *site = arg;

	for (;;) {
		struct world_work *work = sim_queue_pop(site->storage);
		struct world *world = work->world;
		const struct sim_turn turn = { .kind = SIM_TURN_WORK,
					       .channel = work->channel,
					       .argument = work->token };
		use_storage(world, work);
		world_turn(world, turn);
		if (world->point->server.threads)
			finish_work(world, work);
		else
			sim_queue_push(world->server_inbox, work);
	}
}

static struct sim_queue *inbox_new(struct world *world)
{
	struct sim_queue *inbox = sim_queue_new(world->engine);

	sim_queue_set_costs(inbox, world->point->server.receive_cpu_ns_per_byte, world->point->server.request_cpu_ns);
	return inbox;
}

static void wake(struct world *world)
{
	smb_server_wake(world->server, world_server_now_ns(world));
	world_server_drain(world);
}

void world_server_add_connection(struct world *world, uint32_t number)
{
	struct world_channel *channel = &world->channels[number];

	if (!world->point->server.threads) {
		sim_conn_set_inbox(channel->conn, SIM_SERVER, world->server_inbox);
		return;
	}
	g_autofree char *name = g_strdup_printf("connection-%u", number);
	channel->server_inbox = inbox_new(world);
	sim_conn_set_inbox(channel->conn, SIM_SERVER, channel->server_inbox);
	sim_thread_start(world->engine, SIM_SERVER, name, connection_main, channel);
}

static uint32_t storage_threads(const struct world_site *site)
{
	const struct smb_server_profile *profile = &site->clients[0].point->server;
	uint32_t threads = profile->threads ? profile->threads : STORAGE_THREADS_DEFAULT * site->client_count;

	return profile->storage_parallel ? MIN(threads, profile->storage_parallel) : threads;
}

/* Where one process serves a client, as an smbd does, each client has a process of its own. */
static void start_process(struct world *world)
{
	world->server_inbox = inbox_new(world);
	if (!world->point->server.threads)
		sim_thread_start(world->engine, SIM_SERVER, "smbd", process_main, world);
}

void world_server_start(struct world_site *site)
{
	struct world *first = &site->clients[0];

	site->storage = sim_queue_new(first->engine);
	for (uint32_t i = 0; i < site->client_count; i++)
		start_process(&site->clients[i]);
	site->server_timer.ring = wake;
	world_timer_start(first, &site->server_timer, SIM_SERVER, "smbd-timer");
	if (storage_is_free_of_charge(first, false) && storage_is_free_of_charge(first, true))
		return;
	for (uint32_t i = 0; i < storage_threads(site); i++) {
		g_autofree char *name = g_strdup_printf("storage-%u", i);
		sim_thread_start(first->engine, SIM_SERVER, name, storage_main, site);
	}
}
