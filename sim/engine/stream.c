/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One direction of a connection. TCP decides at once, in the caller's context, what may go (stream_commit) and puts it
 * into the network card's queue; the sender thread serialises that queue over the wire in pieces, stamps each with
 * the time it is due and appends it to the delay line; the delivery thread hands it on when due.
 *
 * Acknowledgements need no thread: the receiver's answer is noted with the time it will be back, and the sender takes
 * it in when it next looks (sim_stream_take_acks); it sleeps for one only when it cannot send without.
 *
 * A piece stands for many segments. While the window is the limit, its acknowledgement counts from the time its first
 * segment is acknowledged: what it releases is serialised at the wire's rate anyway, which is the pace at which the
 * single acknowledgements would come. Counting it from the last segment would add a piece's time to each round trip.
 */
#include "sim/engine/internal.h"

#include <math.h>

#define PIECE_BYTES (256 * 1024) /* arrivals of a long message come at least this often */
#define PIECE_BYTES_LONG (1024 * 1024) /* serialised in one go when the delay line leaves time to cut it */
#define BATCH_BYTES (64 * 1024) /* short bursts serialised together */

static bool wire_is_limited(const struct sim_stream *stream)
{
	return stream->path->rate_bps != 0;
}

static uint64_t one_way_ns(const struct sim_stream *stream)
{
	return stream->path->rtt_ns / 2;
}

static uint64_t wire_bytes(const struct sim_stream *stream, uint64_t bytes, uint64_t segments)
{
	return bytes + segments * stream->header_bytes;
}

static uint64_t wire_ns(const struct sim_stream *stream, uint64_t bytes)
{
	return wire_is_limited(stream) ? (uint64_t)((double)bytes * 8e9 / (double)stream->path->rate_bps) : 0;
}

/* How long a segment handed to the network card at `stream`'s sending side now takes to the other end: it queues
 * behind everything that waits for the same wire. */
static uint64_t transit_ns(const struct sim_stream *stream)
{
	return wire_ns(stream, stream->wire->backlog_bytes) + one_way_ns(stream);
}

/* --- acknowledgements ------------------------------------------------------------------------------------------- */

static void ring_sender(struct sim_stream *stream)
{
	if (stream->sender_bell.waiting)
		sim_bell_ring(stream->engine, &stream->sender_bell);
}

static void ack_insert(struct sim_stream *stream, struct sim_ack ack)
{
	size_t i;

	ring_push(&stream->acks);
	for (i = stream->acks.length - 1; i > 0; i--) {
		struct sim_ack *before = ring_at(&stream->acks, i - 1);

		if (before->when_ns <= ack.when_ns)
			break;
		*(struct sim_ack *)ring_at(&stream->acks, i) = *before;
	}
	*(struct sim_ack *)ring_at(&stream->acks, i) = ack;
	if (i == 0 && tcp_sender_unsent(&stream->tx))
		ring_sender(stream);
}

/* The receiver acknowledges what it decided to; the segment leaves at `leaves_ns`. */
static void ack_send(struct sim_stream *stream, uint64_t leaves_ns, uint64_t sent_ns, uint64_t spread_ns)
{
	ack_insert(stream, (struct sim_ack){
				   .ack = { .position = stream->rx.acked,
					    .segments = stream->rx.acked_segments,
					    .window_edge = tcp_receiver_edge(&stream->rx),
					    .spread_ns = spread_ns },
				   .when_ns = leaves_ns + transit_ns(stream->back),
				   .sent_ns = sent_ns,
			   });
}

static void delayed_ack_settle(struct sim_stream *stream, uint64_t now_ns)
{
	uint64_t deadline_ns = stream->rx.ack_deadline_ns;

	if (deadline_ns > now_ns)
		return;
	tcp_receiver_flush(&stream->rx);
	ack_send(stream, deadline_ns, stream->pending_sent_ns, 0);
}

/* A segment in the other direction carries the pending acknowledgement. */
static void piggyback(struct sim_stream *stream, uint64_t now_ns)
{
	delayed_ack_settle(stream, now_ns);
	if (stream->rx.ack_deadline_ns == TCP_NEVER)
		return;
	tcp_receiver_flush(&stream->rx);
	ack_send(stream, now_ns, stream->pending_sent_ns, 0);
}

void sim_stream_take_acks(struct sim_stream *stream)
{
	uint64_t now_ns = sim_engine_now_ns(stream->engine);
	struct sim_ack *next;

	delayed_ack_settle(stream, now_ns);
	while ((next = ring_head(&stream->acks)) && next->when_ns <= now_ns) {
		next->ack.rtt_ns = next->when_ns > next->sent_ns ? next->when_ns - next->sent_ns : 0;
		if (next->lost)
			tcp_sender_lost(&stream->tx);
		tcp_sender_acked(&stream->tx, next->when_ns, &next->ack);
		ring_pop(&stream->acks);
	}
}

/* When something changes for a sender that may not send now. */
static uint64_t next_ack_ns(const struct sim_stream *stream)
{
	const struct sim_ack *next = ring_head(&stream->acks);
	uint64_t when_ns = next ? next->when_ns : SIM_NEVER;

	if (!tcp_sender_unsent(&stream->tx))
		return SIM_NEVER;
	if (stream->rx.ack_deadline_ns != TCP_NEVER)
		when_ns = MIN(when_ns, stream->rx.ack_deadline_ns + transit_ns(stream->back));
	return when_ns;
}

/* --- receiver --------------------------------------------------------------------------------------------------- */

struct arrival {
	struct sim_arrival shown; /* first, so that the two pointers convert */
	struct sim_stream *stream;
};

static void arrive(struct sim_stream *stream, uint64_t end, const struct sim_parcel *parcel)
{
	struct arrival *arrival = g_slice_new(struct arrival);

	*arrival = (struct arrival){
		.shown = { .conn = stream->conn, .side = !stream->from, .bytes = end - stream->delivered },
		.stream = stream,
	};
	if (parcel) {
		arrival->shown.message = parcel->message;
		arrival->shown.sent_ns = parcel->sent_ns;
	}
	stream->delivered = end;
	sim_queue_push(stream->inbox, arrival);
}

void sim_arrival_done(struct sim_arrival *arrival)
{
	struct arrival *own = (struct arrival *)arrival;

	sim_stream_consumed(own->stream, arrival->bytes);
	g_slice_free(struct arrival, own);
}

static void deliver(struct sim_stream *stream, const struct sim_flight *flight)
{
	uint64_t now_ns = flight->due_ns;
	struct sim_parcel *parcel;
	uint64_t spread_ns = flight->spread ? flight->wire_ns : 0;

	delayed_ack_settle(stream, now_ns);
	while ((parcel = ring_head(&stream->parcels)) && parcel->end <= flight->end) {
		struct sim_parcel complete = *parcel;

		ring_pop(&stream->parcels);
		stream->parcels_on_wire--;
		arrive(stream, complete.end, &complete);
	}
	if (stream->delivered < flight->end)
		arrive(stream, flight->end, NULL);
	if (tcp_receiver_arrived(&stream->rx, now_ns, flight->bytes, flight->segments))
		ack_send(stream, now_ns - spread_ns, flight->sent_ns, spread_ns);
	else if (tcp_sender_unsent(&stream->tx))
		ring_sender(stream); /* it has a deadline to wait for now */
	stream->pending_sent_ns = flight->sent_ns;
}

/* A window that was half closed or more and has doubled is worth a segment of its own (tcp_cleanup_rbuf). */
void sim_stream_consumed(struct sim_stream *stream, uint64_t bytes)
{
	struct tcp_receiver *rx = &stream->rx;
	uint64_t now_ns = sim_engine_now_ns(stream->engine);
	uint64_t before = rx->edge - rx->arrived;

	tcp_receiver_consumed(rx, now_ns, bytes);
	if (2 * before > rx->window_clamp || sim_conn_is_cut(stream->conn))
		return;
	if (tcp_receiver_edge(rx) - rx->arrived >= MAX(2 * before, rx->mss_bytes))
		ack_send(stream, now_ns, now_ns, 0);
}

static void deliver_due(struct sim_stream *stream, uint64_t now_ns)
{
	struct sim_flight *flight;

	while ((flight = ring_head(&stream->flights)) && flight->due_ns <= now_ns) {
		struct sim_flight due = *flight;

		ring_pop(&stream->flights);
		deliver(stream, &due);
	}
}

static void delivery_main(void *arg)
{
	struct sim_stream *stream = arg;
	struct sim_flight *flight;

	for (;;) {
		deliver_due(stream, sim_engine_now_ns(stream->engine));
		flight = ring_head(&stream->flights);
		if (flight)
			sim_sleep_until(stream->engine, flight->due_ns);
		else
			sim_bell_wait(stream->engine, &stream->delivery_bell, SIM_NEVER);
	}
}

/* --- wire ------------------------------------------------------------------------------------------------------- */

static bool piece_is_lost(struct sim_stream *stream, uint32_t segments)
{
	double draw;

	if (stream->path->loss <= 0)
		return false;
	if (stream->segments_to_loss >= segments) {
		stream->segments_to_loss -= segments;
		return false;
	}
	draw = log(1 - g_rand_double(stream->random)) / log(1 - stream->path->loss);
	stream->segments_to_loss = (uint64_t)MIN(draw, 1e18);
	return true;
}

/* The first segment of a piece was lost. Selective acknowledgements let the sender go on while the receiver holds all
 * that follows until the retransmission is there: one round trip later when at least three segments follow, else
 * after a tail loss probe (two round trips, RFC 8985 7.2). */
static void lose(struct sim_stream *stream, uint64_t arrives_ns)
{
	uint64_t rtt_ns = stream->path->rtt_ns;
	bool followed = stream->bursts.length || tcp_sender_unsent(&stream->tx);
	uint64_t repair_ns = followed ? rtt_ns : 2 * rtt_ns + TCP_DELAYED_ACK_NS / 4;

	while (g_rand_double(stream->random) < stream->path->loss)
		repair_ns += tcp_sender_rto_ns(&stream->tx);
	stream->hole_until_ns = MAX(stream->hole_until_ns, arrives_ns + repair_ns);
	stream->repair_bytes += wire_bytes(stream, stream->mss_bytes, 1);
	stream->retransmitted++;
}

static uint64_t jitter_ns(struct sim_stream *stream)
{
	uint64_t most_ns = stream->path->jitter_ns;

	return most_ns ? (uint64_t)(g_rand_double(stream->random) * (double)most_ns) : 0;
}

static void fly(struct sim_stream *stream, struct sim_flight flight, uint64_t end_ns)
{
	uint64_t arrives_ns = end_ns + one_way_ns(stream) + jitter_ns(stream);
	bool lost = piece_is_lost(stream, flight.segments);

	arrives_ns = MAX(arrives_ns, stream->last_due_ns);
	if (stream->hole_until_ns > arrives_ns || lost) {
		if (lost)
			lose(stream, arrives_ns);
		ack_insert(stream, (struct sim_ack){
					   .ack = { .position = flight.end, .segments = stream->wire_segments },
					   .when_ns = arrives_ns + transit_ns(stream->back),
					   .sent_ns = flight.sent_ns,
					   .lost = lost,
				   });
	}
	flight.due_ns = MAX(arrives_ns, stream->hole_until_ns);
	stream->last_due_ns = arrives_ns;
	*(struct sim_flight *)ring_push(&stream->flights) = flight;
}

/* The next piece ends with its burst, with the segment that completes a message, or after PIECE_BYTES. */
static uint64_t piece_length(const struct sim_stream *stream, uint64_t most)
{
	uint64_t mss = stream->mss_bytes;
	const struct sim_parcel *next = ring_at(&stream->parcels, stream->parcels_on_wire);
	uint64_t message = (next->end - stream->wire_end + mss - 1) / mss * mss;

	return MIN(most, MIN(message, MAX(PIECE_BYTES / mss / 2 * 2, 2) * mss));
}

static void note_parcels(struct sim_stream *stream)
{
	while (stream->parcels_on_wire < stream->parcels.length) {
		const struct sim_parcel *next = ring_at(&stream->parcels, stream->parcels_on_wire);

		if (next->end > stream->wire_end)
			return;
		stream->parcels_on_wire++;
	}
}

/* A stretch of the card's queue that was on the wire in one go. */
struct stretch {
	uint64_t bytes;
	uint64_t charged; /* with headers */
	uint64_t from_ns;
	uint64_t to_ns;
	bool spread;
};

/* Take the next piece off the card's queue. */
static struct sim_flight take_piece(struct sim_stream *stream, uint64_t most)
{
	struct sim_burst *burst = ring_head(&stream->bursts);
	struct sim_flight flight = { .sent_ns = burst->sent_ns };

	flight.bytes = piece_length(stream, MIN(most, burst->bytes));
	flight.segments = flight.bytes == burst->bytes ? burst->segments : (uint32_t)(flight.bytes / stream->mss_bytes);
	burst->bytes -= flight.bytes;
	burst->segments -= flight.segments;
	if (burst->bytes == 0)
		ring_pop(&stream->bursts);
	stream->wire_end += flight.bytes;
	stream->wire_segments += flight.segments;
	flight.end = stream->wire_end;
	note_parcels(stream);
	return flight;
}

static void cut(struct sim_stream *stream, const struct stretch *stretch)
{
	double lasted_ns = (double)(stretch->to_ns - stretch->from_ns);
	uint64_t left = stretch->bytes, done = 0;
	uint64_t start_ns = stretch->from_ns;

	while (left) {
		struct sim_flight flight = take_piece(stream, left);
		uint64_t end_ns;

		left -= flight.bytes;
		done += wire_bytes(stream, flight.bytes, flight.segments);
		end_ns = left ? stretch->from_ns + (uint64_t)(lasted_ns * (double)done / (double)stretch->charged)
			      : stretch->to_ns;
		flight.wire_ns = end_ns - start_ns;
		flight.spread = stretch->spread;
		fly(stream, flight, end_ns);
		start_ns = end_ns;
	}
}

/* How much to serialise in one go. */
static uint64_t chunk_length(const struct sim_stream *stream, uint64_t *segments)
{
	uint64_t mss = stream->mss_bytes;
	const struct sim_burst *burst = ring_head(&stream->bursts);
	uint64_t most = wire_ns(stream, PIECE_BYTES_LONG) <= one_way_ns(stream) ? PIECE_BYTES_LONG : PIECE_BYTES;
	uint64_t bytes = burst->bytes;

	if (tcp_sender_unsent(&stream->tx))
		most = MIN(most, tcp_sender_in_flight(&stream->tx) / 4 * mss);
	most = MAX(most / mss / 2 * 2, 2) * mss;
	*segments = burst->segments;
	if (bytes > most) {
		*segments = most / mss;
		return most;
	}
	if (wire_ns(stream, BATCH_BYTES) > one_way_ns(stream))
		return bytes;
	for (size_t i = 1; i < stream->bursts.length; i++) {
		burst = ring_at(&stream->bursts, i);
		if (bytes + burst->bytes > BATCH_BYTES)
			break;
		bytes += burst->bytes;
		*segments += burst->segments;
	}
	return bytes;
}

/* [blocks] */
static void serialise(struct sim_stream *stream)
{
	struct stretch stretch = { .from_ns = sim_engine_now_ns(stream->engine) };
	uint64_t repair_bytes = stream->repair_bytes;
	uint64_t segments;

	stretch.spread = tcp_sender_unsent(&stream->tx) > 0;
	stretch.bytes = chunk_length(stream, &segments);
	stretch.charged = wire_bytes(stream, stretch.bytes, segments);
	stream->repair_bytes = 0;
	sim_engine_flush(stream->engine);
	sg_host_sendto(stream->wire->from, stream->wire->to, (double)(stretch.charged + repair_bytes));
	sim_engine_check_stop(stream->engine);
	if (sim_conn_is_cut(stream->conn))
		return;
	stretch.to_ns = sim_engine_now_ns(stream->engine);
	stream->wire->backlog_bytes -= stretch.charged;
	cut(stream, &stretch);
}

/* --- sender ----------------------------------------------------------------------------------------------------- */

/* TCP hands to the card what it may send now. */
static bool commit(struct sim_stream *stream)
{
	uint64_t now_ns = sim_engine_now_ns(stream->engine);
	struct sim_burst burst = { .sent_ns = now_ns };

	burst.bytes = tcp_sender_send(&stream->tx, now_ns, &burst.segments);
	if (!burst.bytes)
		return false;
	piggyback(stream->back, now_ns);
	if (wire_is_limited(stream))
		stream->wire->backlog_bytes += wire_bytes(stream, burst.bytes, burst.segments);
	*(struct sim_burst *)ring_push(&stream->bursts) = burst;
	return true;
}

static void hand_over(struct sim_stream *stream)
{
	if (!stream->flights.length)
		return;
	if (one_way_ns(stream) == 0)
		deliver_due(stream, sim_engine_now_ns(stream->engine));
	if (stream->flights.length && stream->delivery_bell.waiting)
		sim_bell_ring(stream->engine, &stream->delivery_bell);
}

/* Without a limit the wire takes no time, hence no thread. */
static void pump_unlimited(struct sim_stream *stream)
{
	struct stretch stretch = { .charged = 1 };

	stretch.from_ns = stretch.to_ns = sim_engine_now_ns(stream->engine);
	while (stream->bursts.length) {
		stretch.bytes = ((struct sim_burst *)ring_head(&stream->bursts))->bytes;
		cut(stream, &stretch);
		hand_over(stream);
		sim_stream_take_acks(stream);
		commit(stream);
	}
}

static void pump(struct sim_stream *stream)
{
	sim_stream_take_acks(stream);
	commit(stream);
	if (!wire_is_limited(stream))
		pump_unlimited(stream);
}

static void sender_main(void *arg)
{
	struct sim_stream *stream = arg;

	for (;;) {
		if (sim_conn_is_cut(stream->conn)) {
			sim_bell_wait(stream->engine, &stream->sender_bell, SIM_NEVER);
			continue;
		}
		pump(stream);
		if (stream->bursts.length) {
			serialise(stream);
			hand_over(stream);
		} else {
			sim_bell_wait(stream->engine, &stream->sender_bell, next_ack_ns(stream));
		}
	}
}

void sim_stream_send(struct sim_stream *stream, void *message, uint64_t bytes)
{
	g_assert(stream->inbox && message && bytes > 0);
	tcp_sender_write(&stream->tx, bytes);
	*(struct sim_parcel *)ring_push(&stream->parcels) = (struct sim_parcel){
		.message = message,
		.end = stream->tx.written,
		.sent_ns = sim_engine_now_ns(stream->engine),
	};
	pump(stream);
	if (stream->bursts.length || tcp_sender_unsent(&stream->tx))
		ring_sender(stream);
}

void sim_stream_init(struct sim_stream *stream, const struct tcp_config *sender, const struct tcp_config *receiver)
{
	ring_init(&stream->parcels, sizeof(struct sim_parcel));
	ring_init(&stream->bursts, sizeof(struct sim_burst));
	ring_init(&stream->flights, sizeof(struct sim_flight));
	ring_init(&stream->acks, sizeof(struct sim_ack));
	tcp_receiver_init(&stream->rx, receiver, stream->path->rtt_ns);
	tcp_sender_init(&stream->tx, sender, stream->path->rtt_ns, tcp_receiver_edge(&stream->rx));
	sim_bell_init(&stream->sender_bell);
	sim_bell_init(&stream->delivery_bell);
	piece_is_lost(stream, 1); /* draws the distance to the first loss */
}

void sim_stream_clear(struct sim_stream *stream)
{
	ring_clear(&stream->parcels);
	ring_clear(&stream->bursts);
	ring_clear(&stream->flights);
	ring_clear(&stream->acks);
	sim_bell_clear(&stream->sender_bell);
	sim_bell_clear(&stream->delivery_bell);
	g_rand_free(stream->random);
}

void sim_stream_start(struct sim_stream *stream, const char *name)
{
	char *sender = g_strconcat(name, "-sender", NULL);
	char *delivery = g_strconcat(name, "-delivery", NULL);

	sim_thread_start_daemon(stream->engine, stream->from, sender, sender_main, stream);
	sim_thread_start_daemon(stream->engine, !stream->from, delivery, delivery_main, stream);
	g_free(sender);
	g_free(delivery);
}
