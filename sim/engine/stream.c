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

/* Arrivals of a long message come at least this often: a quarter of 1 MiB and of what goes around it. */
#define PIECE_BYTES (264 * 1024)
/* The same while more messages wait behind it, and what is serialised in one go when the delay line leaves time to cut
 * it into pieces. */
#define PIECE_BYTES_QUEUED (1056 * 1024)
#define BATCH_BYTES (64 * 1024) /* short messages serialised together */

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

/* How long a segment handed to the network card at `stream`'s sending side at `now_ns` takes to the other end: it
 * queues behind everything that waits for the same wire. */
static uint64_t transit_ns(const struct sim_stream *stream, uint64_t now_ns)
{
	uint64_t busy_until_ns = stream->wire->busy_until_ns;

	return (busy_until_ns > now_ns ? busy_until_ns - now_ns : 0) + one_way_ns(stream);
}

static void occupy_wire(struct sim_stream *stream, uint64_t now_ns, uint64_t bytes)
{
	struct sim_wire *wire = stream->wire;

	wire->busy_until_ns = MAX(wire->busy_until_ns, now_ns) + wire_ns(stream, bytes);
}

/* --- acknowledgements ------------------------------------------------------------------------------------------- */

static void ring_sender(struct sim_stream *stream)
{
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
				   .when_ns = leaves_ns + transit_ns(stream->back, leaves_ns),
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
		when_ns = MIN(when_ns,
			      stream->rx.ack_deadline_ns + transit_ns(stream->back, stream->rx.ack_deadline_ns));
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
	stream->rx.rtt_ns = stream->tx.srtt_ns; /* the receiver measures the same from time stamps */
	stream->pending_sent_ns = flight->sent_ns;
}

/* The kernel acknowledges every other segment, each time with the window of that moment; a piece stands for many of
 * them, so what the application takes is told at once while the sender has more to send. */
void sim_stream_consumed(struct sim_stream *stream, uint64_t bytes)
{
	struct tcp_receiver *rx = &stream->rx;
	uint64_t now_ns = sim_engine_now_ns(stream->engine);
	uint64_t told = rx->edge;

	tcp_receiver_consumed(rx, now_ns, bytes);
	if (sim_conn_is_cut(stream->conn) || !tcp_sender_unsent(&stream->tx))
		return;
	if (tcp_receiver_edge(rx) >= told + 2 * rx->mss_bytes)
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
	occupy_wire(stream, sim_engine_now_ns(stream->engine), wire_bytes(stream, stream->mss_bytes, 1));
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
					   .when_ns = arrives_ns + transit_ns(stream->back, arrives_ns),
					   .sent_ns = flight.sent_ns,
					   .lost = lost,
				   });
	}
	flight.due_ns = MAX(arrives_ns, stream->hole_until_ns);
	stream->last_due_ns = arrives_ns;
	*(struct sim_flight *)ring_push(&stream->flights) = flight;
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

/* How much of a burst goes into what ends with the segment that completes a message `to_end` bytes ahead. */
static uint64_t burst_part(const struct sim_stream *stream, const struct sim_burst *burst, uint64_t most,
			   uint64_t to_end)
{
	uint64_t mss = stream->mss_bytes;
	uint64_t part = MIN(burst->bytes, (to_end + mss - 1) / mss * mss);

	return part <= most ? part : most / mss * mss;
}

static uint32_t part_segments(const struct sim_stream *stream, const struct sim_burst *burst, uint64_t part)
{
	return part == burst->bytes ? burst->segments : (uint32_t)(part / stream->mss_bytes);
}

/* Take the next piece off the card's queue: up to the end of a message, at most `most`. */
static struct sim_flight take_piece(struct sim_stream *stream, uint64_t most)
{
	const struct sim_parcel *next = ring_at(&stream->parcels, stream->parcels_on_wire);
	struct sim_flight flight = { .end = stream->wire_end };
	struct sim_burst *burst;

	while (flight.end < next->end && (burst = ring_head(&stream->bursts))) {
		uint64_t part = burst_part(stream, burst, most - flight.bytes, next->end - flight.end);

		if (part == 0)
			break;
		flight.sent_ns = burst->sent_ns;
		flight.segments += part_segments(stream, burst, part);
		burst->segments -= part_segments(stream, burst, part);
		burst->bytes -= part;
		flight.bytes += part;
		flight.end += part;
		if (burst->bytes == 0)
			ring_pop(&stream->bursts);
	}
	stream->wire_end = flight.end;
	stream->wire_segments += flight.segments;
	note_parcels(stream);
	return flight;
}

/* While the window is the limit: a 32nd of it where the wire idles part of the round trip, because there a coarse step
 * costs throughput, else a quarter. */
static uint64_t window_piece(const struct sim_stream *stream)
{
	uint64_t window = (uint64_t)tcp_sender_in_flight(&stream->tx) * stream->mss_bytes;

	if (wire_ns(stream, window) > 2 * stream->path->rtt_ns)
		return MAX(window / 4, BATCH_BYTES);
	return MAX(window / 32, MIN(window / 8, BATCH_BYTES));
}

/* The receiver works on a message while it arrives, so long ones come in pieces; not while more of them queue up, for
 * then the receiver has the one before to work on. */
static uint64_t piece_bytes(const struct sim_stream *stream)
{
	return stream->parcels.length - stream->parcels_on_wire > 1 ? PIECE_BYTES_QUEUED : PIECE_BYTES;
}

/* The delay line can cut what was serialised in one go into its parts only if the last part leaves the wire before
 * the first arrives, whoever else uses the wire. */
static bool can_be_cut(const struct sim_stream *stream, uint64_t bytes)
{
	return wire_ns(stream, bytes) * stream->wire->conn_count <= one_way_ns(stream);
}

static uint64_t whole_segments(const struct sim_stream *stream, uint64_t bytes)
{
	return MAX(bytes / stream->mss_bytes / 2 * 2, 2) * stream->mss_bytes;
}

static bool next_message_fits(const struct sim_stream *stream, uint64_t bytes)
{
	const struct sim_parcel *next;

	if (stream->parcels_on_wire == stream->parcels.length)
		return false;
	next = ring_at(&stream->parcels, stream->parcels_on_wire);
	return bytes + next->end - stream->wire_end <= BATCH_BYTES && can_be_cut(stream, BATCH_BYTES);
}

/* Take off the card's queue what is serialised in one go: a message or as much of it as may go, or several short ones.
 * Returns the bytes to be charged. */
static uint64_t stage(struct sim_stream *stream)
{
	uint64_t piece = whole_segments(stream, piece_bytes(stream));
	uint64_t most = can_be_cut(stream, PIECE_BYTES_QUEUED) ? whole_segments(stream, PIECE_BYTES_QUEUED) : piece;
	uint64_t bytes = 0, charged = 0;

	if (!wire_is_limited(stream))
		most = piece = UINT64_MAX;
	else if (tcp_sender_unsent(&stream->tx))
		most = MIN(most, whole_segments(stream, window_piece(stream)));
	while (stream->bursts.length && bytes < most) {
		size_t messages = stream->parcels_on_wire;
		struct sim_flight flight = take_piece(stream, MIN(most - bytes, piece));

		if (!flight.bytes)
			break;
		*(struct sim_flight *)ring_push(&stream->staged) = flight;
		bytes += flight.bytes;
		charged += wire_bytes(stream, flight.bytes, flight.segments);
		if (stream->parcels_on_wire > messages && !next_message_fits(stream, bytes))
			break;
	}
	return charged;
}

/* What was staged was on the wire from `from_ns` to `to_ns`. */
static void launch(struct sim_stream *stream, uint64_t charged, uint64_t from_ns, uint64_t to_ns)
{
	bool spread = tcp_sender_unsent(&stream->tx) > 0 && to_ns > from_ns;
	uint64_t start_ns = from_ns, done = 0;

	while (stream->staged.length) {
		struct sim_flight flight = *(struct sim_flight *)ring_head(&stream->staged);
		uint64_t end_ns = to_ns;

		ring_pop(&stream->staged);
		done += wire_bytes(stream, flight.bytes, flight.segments);
		if (done < charged)
			end_ns = from_ns + (uint64_t)((double)(to_ns - from_ns) * (double)done / (double)charged);
		flight.wire_ns = end_ns - start_ns;
		flight.spread = spread;
		fly(stream, flight, end_ns);
		start_ns = end_ns;
	}
}

/* [blocks] */
static void serialise(struct sim_stream *stream)
{
	uint64_t from_ns = sim_engine_now_ns(stream->engine);
	uint64_t repair_bytes = stream->repair_bytes;
	uint64_t charged = stage(stream);

	stream->repair_bytes = 0;
	sim_engine_flush(stream->engine);
	sg_host_sendto(stream->wire->from, stream->wire->to, (double)(charged + repair_bytes));
	sim_engine_check_stop(stream->engine);
	launch(stream, charged, from_ns, sim_engine_now_ns(stream->engine));
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
	occupy_wire(stream, now_ns, wire_bytes(stream, burst.bytes, burst.segments));
	*(struct sim_burst *)ring_push(&stream->bursts) = burst;
	return true;
}

static void hand_over(struct sim_stream *stream)
{
	if (!stream->flights.length)
		return;
	if (one_way_ns(stream) == 0)
		deliver_due(stream, sim_engine_now_ns(stream->engine));
	if (stream->flights.length)
		sim_bell_ring(stream->engine, &stream->delivery_bell);
}

/* Without a limit the wire takes no time, hence no thread. */
static void pump_unlimited(struct sim_stream *stream)
{
	uint64_t now_ns = sim_engine_now_ns(stream->engine);

	while (stream->bursts.length) {
		launch(stream, stage(stream), now_ns, now_ns);
		if (stream->bursts.length)
			continue;
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
	ring_init(&stream->staged, sizeof(struct sim_flight));
	ring_init(&stream->flights, sizeof(struct sim_flight));
	ring_init(&stream->acks, sizeof(struct sim_ack));
	tcp_receiver_init(&stream->rx, receiver, stream->path->rtt_ns);
	tcp_sender_init(&stream->tx, sender, stream->path->rtt_ns, tcp_receiver_edge(&stream->rx));
	piece_is_lost(stream, 1); /* draws the distance to the first loss */
}

void sim_stream_clear(struct sim_stream *stream)
{
	ring_clear(&stream->parcels);
	ring_clear(&stream->bursts);
	ring_clear(&stream->staged);
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
