/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/engine/internal.h"

struct sim_conn {
	struct sim_engine *engine;
	struct sim_stream *streams; /* two, by sending side */
	bool cut;
	void (*drop)(void *message, void *arg);
	void *drop_arg;
};

void sim_tcp_defaults(struct sim_tcp_options *options)
{
	*options = (struct sim_tcp_options){
		.mss_bytes = 1448,
		.header_bytes = 66,
		.initial_window = 10,
		.send_buffer_bytes = 4194304,
		.receive_buffer_bytes = 6291456,
		.nagle = true,
		.slow_start_after_idle = true,
		.cubic = true,
	};
}

static struct tcp_config config_of(const struct sim_tcp_options *options)
{
	return (struct tcp_config){
		.mss_bytes = options->mss_bytes,
		.initial_window = options->initial_window,
		.send_buffer_bytes = options->send_buffer_bytes,
		.receive_buffer_bytes = options->receive_buffer_bytes,
		.nagle = options->nagle,
		.slow_start_after_idle = options->slow_start_after_idle,
		.cubic = options->cubic,
	};
}

static void stream_new(struct sim_conn *conn, enum sim_side from, uint32_t path,
		       const struct sim_tcp_options options[2])
{
	struct sim_engine *engine = conn->engine;
	struct sim_stream *stream = &conn->streams[from];
	struct tcp_config sender = config_of(&options[from]);
	struct tcp_config receiver = config_of(&options[!from]);
	guint32 seed[4] = { (guint32)engine->seed, (guint32)(engine->seed >> 32), engine->conns->len, from };
	char *name = g_strdup_printf("conn-%u-%s", engine->conns->len, from == SIM_CLIENT ? "up" : "down");

	engine->wires[path][from].conn_count++;
	receiver.mss_bytes = sender.mss_bytes;
	*stream = (struct sim_stream){
		.engine = engine,
		.conn = conn,
		.back = &conn->streams[!from],
		.from = from,
		.path = &engine->paths[path],
		.wire = &engine->wires[path][from],
		.mss_bytes = options[from].mss_bytes,
		.header_bytes = options[from].header_bytes,
		.random = g_rand_new_with_seed_array(seed, G_N_ELEMENTS(seed)),
	};
	sim_stream_init(stream, &sender, &receiver);
	sim_stream_start(stream, name);
	g_free(name);
}

struct sim_conn *sim_conn_new(struct sim_engine *engine, uint32_t path, const struct sim_tcp_options options[2])
{
	struct sim_conn *conn = g_new0(struct sim_conn, 1);

	g_assert(path < engine->path_count);
	conn->engine = engine;
	conn->streams = g_new0(struct sim_stream, 2);
	for (int from = SIM_CLIENT; from <= SIM_SERVER; from++)
		stream_new(conn, from, path, options);
	g_ptr_array_add(engine->conns, conn);
	return conn;
}

void sim_conn_free(struct sim_conn *conn)
{
	for (int from = SIM_CLIENT; from <= SIM_SERVER; from++)
		sim_stream_clear(&conn->streams[from]);
	g_free(conn->streams);
	g_free(conn);
}

bool sim_conn_is_cut(const struct sim_conn *conn)
{
	return conn->cut;
}

void sim_conn_connect(struct sim_conn *conn)
{
	struct sim_engine *engine = conn->engine;

	sim_sleep_until(engine, sim_engine_now_ns(engine) + conn->streams[SIM_CLIENT].path->rtt_ns);
}

void sim_conn_set_inbox(struct sim_conn *conn, enum sim_side side, struct sim_queue *inbox)
{
	conn->streams[!side].inbox = inbox;
	sim_queue_add_stream(inbox, &conn->streams[!side]);
}

void sim_conn_send(struct sim_conn *conn, enum sim_side from, void *message, uint64_t stream_bytes)
{
	if (!conn->cut)
		sim_stream_send(&conn->streams[from], message, stream_bytes);
	else if (conn->drop)
		conn->drop(message, conn->drop_arg);
}

bool sim_conn_wait_buffered(struct sim_conn *conn, enum sim_side from)
{
	struct sim_stream *stream = &conn->streams[from];

	while (!conn->cut && stream->tx.buffered < stream->tx.written)
		sim_bell_wait(conn->engine, &stream->writer_bell, SIM_NEVER);
	return !conn->cut;
}

uint64_t sim_conn_unacked_bytes(const struct sim_conn *conn, enum sim_side from)
{
	struct sim_stream *stream = &conn->streams[from];

	if (!conn->cut)
		sim_stream_take_acks(stream);
	return stream->tx.written - stream->tx.acked;
}

static void stream_cut(struct sim_stream *stream)
{
	struct sim_conn *conn = stream->conn;
	struct sim_parcel *parcel;

	sim_stream_dequeue_all(stream);
	ring_clear(&stream->staged);
	ring_clear(&stream->flights);
	ring_clear(&stream->acks);
	sim_bell_ring(stream->engine, &stream->writer_bell);
	while ((parcel = ring_head(&stream->parcels))) {
		void *message = parcel->message;

		ring_pop(&stream->parcels);
		if (conn->drop)
			conn->drop(message, conn->drop_arg);
	}
}

void sim_conn_cut(struct sim_conn *conn, void (*drop)(void *message, void *arg), void *arg)
{
	if (conn->cut)
		return;
	for (int from = SIM_CLIENT; from <= SIM_SERVER; from++)
		if (conn->streams[from].inbox)
			sim_queue_take_arrivals(conn->streams[from].inbox);
	conn->cut = true;
	conn->drop = drop;
	conn->drop_arg = arg;
	for (int from = SIM_CLIENT; from <= SIM_SERVER; from++)
		stream_cut(&conn->streams[from]);
}
