/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One direction of a connection. TCP decides at once, in the caller's context, what may go (commit) and puts it
 * into the network card's queue; the sender thread serialises that queue over the wire in pieces, stamps each with
 * the time it is due and appends it to the delay line. The inbox takes it off there when due (queue.c).
 *
 * Acknowledgements need no thread: the receiver's answer is noted with the time it will be back, and the sender takes
 * it in when it next looks (sim_stream_take_acks); it sleeps for one only when it cannot send without.
 *
 * A piece stands for many segments. While the window is the limit, its acknowledgement counts from the time its first
 * segment is acknowledged: what it releases is serialised at the wire's rate anyway, which is the pace at which the
 * single acknowledgements would come. Counting it from the last segment would add a piece's time to each round trip.
 */
#include "sim/engine/internal.h"

/* --- acknowledgements ------------------------------------------------------------------------------------------- */

static void ring_sender(struct sim_stream *stream)
{
	sim_bell_ring(stream->engine, &stream->sender_bell);
}

void sim_stream_add_ack(struct sim_stream *stream, struct sim_ack ack)
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
	sim_stream_add_ack(stream, (struct sim_ack){
					   .ack = { .position = stream->rx.acked,
						    .segments = stream->rx.acked_segments,
						    .window_edge = tcp_receiver_edge(&stream->rx),
						    .spread_ns = spread_ns },
					   .when_ns = leaves_ns + sim_stream_transit_ns(stream->back, leaves_ns),
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

/* The receiving thread may be busy with other things; its TCP is not. */
static void take_arrivals(struct sim_stream *stream)
{
	if (stream->flights.length)
		sim_queue_take_arrivals(stream->inbox);
}

/* A segment in the other direction carries the pending acknowledgement. */
static void piggyback(struct sim_stream *stream, uint64_t now_ns)
{
	take_arrivals(stream);
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

	take_arrivals(stream);
	delayed_ack_settle(stream, now_ns);
	while ((next = ring_head(&stream->acks)) && next->when_ns <= now_ns) {
		next->ack.rtt_ns = next->when_ns > next->sent_ns ? next->when_ns - next->sent_ns : 0;
		if (next->lost)
			tcp_sender_lost(&stream->tx);
		tcp_sender_acked(&stream->tx, next->when_ns, &next->ack);
		ring_pop(&stream->acks);
	}
	if (stream->tx.buffered == stream->tx.written)
		sim_bell_ring(stream->engine, &stream->writer_bell);
}

/* No acknowledgement of a piece that is under way can be back before this. */
static uint64_t earliest_ack_ns(const struct sim_stream *stream, const struct sim_flight *flight)
{
	uint64_t back_ns = sim_stream_one_way_ns(stream);
	uint64_t spread_ns = flight->spread ? flight->wire_ns : 0;

	return flight->due_ns + (back_ns > spread_ns ? back_ns - spread_ns : 0);
}

/* When something changes for a sender that may not send now. */
static uint64_t next_ack_ns(const struct sim_stream *stream)
{
	const struct sim_ack *next = ring_head(&stream->acks);
	const struct sim_flight *flight = ring_head(&stream->flights);
	uint64_t when_ns = next ? next->when_ns : SIM_NEVER;

	if (!tcp_sender_unsent(&stream->tx))
		return SIM_NEVER;
	if (flight)
		when_ns = MIN(when_ns, earliest_ack_ns(stream, flight));
	if (stream->rx.ack_deadline_ns != TCP_NEVER)
		when_ns = MIN(when_ns, stream->rx.ack_deadline_ns +
					       sim_stream_transit_ns(stream->back, stream->rx.ack_deadline_ns));
	return when_ns;
}

/* --- receiver --------------------------------------------------------------------------------------------------- */

struct arrival {
	struct sim_arrival shown; /* first, so that the two pointers convert */
	struct sim_stream *stream;
};

/* What comes with a piece up to `end`; the first byte came at `begin_ns`. */
static struct sim_arrival arrival_of(const struct sim_stream *stream, uint64_t begin_ns, uint64_t end,
				     const struct sim_parcel *parcel)
{
	return (struct sim_arrival){
		.conn = stream->conn,
		.side = !stream->from,
		.bytes = end - stream->delivered,
		.message = parcel ? parcel->message : NULL,
		.sent_ns = parcel ? parcel->sent_ns : 0,
		.begun_ns = begin_ns,
	};
}

struct sim_arrival sim_stream_next_arrival(const struct sim_stream *stream)
{
	const struct sim_parcel *parcel = ring_head(&stream->parcels);
	const struct sim_flight *flight = ring_head(&stream->flights);
	uint64_t begin_ns = MIN(stream->joined_begin_ns, flight->begin_ns);
	struct sim_arrival arrival;

	for (size_t i = 1; flight->joins_next && parcel->end > flight->end && i < stream->flights.length; i++)
		flight = ring_at(&stream->flights, i);
	if (parcel->end > flight->end)
		parcel = NULL;
	arrival = arrival_of(stream, begin_ns, parcel ? parcel->end : flight->end, parcel);
	arrival.arrived_ns = flight->due_ns;
	return arrival;
}

/* The work is done when it would be with one part after another: the thread waits for parts before the first or before
 * the last, or not at all. */
uint64_t sim_arrival_paid_ns(const struct sim_arrival *arrival, uint64_t cpu_ns, uint64_t idle_since_ns)
{
	uint64_t first = MIN(arrival->bytes, SIM_PIECE_BYTES);
	uint64_t last = arrival->bytes - (arrival->bytes - 1) / SIM_PIECE_BYTES * SIM_PIECE_BYTES;
	uint64_t came_ns = arrival->arrived_ns - arrival->begun_ns;
	uint64_t first_came_ns = arrival->begun_ns + came_ns * first / arrival->bytes;

	return MAX(MAX(arrival->arrived_ns + cpu_ns * last / arrival->bytes, first_came_ns + cpu_ns),
		   idle_since_ns + cpu_ns);
}

static void arrive(struct sim_stream *stream, const struct sim_flight *flight, uint64_t end,
		   const struct sim_parcel *parcel)
{
	struct arrival *arrival = g_slice_new(struct arrival);

	arrival->shown = arrival_of(stream, MIN(stream->joined_begin_ns, flight->begin_ns), end, parcel);
	arrival->shown.arrived_ns = flight->due_ns;
	arrival->stream = stream;
	stream->delivered = end;
	stream->joined_begin_ns = SIM_NEVER;
	sim_queue_push_arrival(stream->inbox, &arrival->shown);
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
		arrive(stream, flight, complete.end, &complete);
	}
	stream->newest = *flight;
	if (flight->joins_next)
		stream->joined_begin_ns = MIN(stream->joined_begin_ns, flight->begin_ns);
	else if (stream->delivered < flight->end)
		arrive(stream, flight, flight->end, NULL);
	if (tcp_receiver_arrived(&stream->rx, now_ns, flight->bytes, flight->segments))
		ack_send(stream, now_ns - spread_ns, flight->sent_ns, spread_ns);
	else if (tcp_sender_unsent(&stream->tx))
		ring_sender(stream); /* it has a deadline to wait for now */
	stream->rx.rtt_ns = stream->tx.srtt_ns; /* the receiver measures the same from time stamps */
	stream->pending_sent_ns = flight->sent_ns;
}

/* The sender cannot send all it has. From now on it matters when the receiver takes what has come. */
static void unjoin(struct sim_stream *stream)
{
	const struct sim_flight *next = ring_head(&stream->flights);

	if (!next && stream->joined_begin_ns == SIM_NEVER)
		return;
	take_arrivals(stream);
	for (size_t i = 0; i < stream->flights.length; i++)
		((struct sim_flight *)ring_at(&stream->flights, i))->joins_next = false;
	if (stream->delivered < stream->newest.end)
		arrive(stream, &stream->newest, stream->newest.end, NULL);
	if (stream->flights.length)
		sim_queue_expect(stream->inbox, sim_stream_next_due_ns(stream));
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

uint64_t sim_stream_next_due_ns(const struct sim_stream *stream)
{
	const struct sim_flight *flight = ring_head(&stream->flights);

	return flight ? flight->due_ns : SIM_NEVER;
}

void sim_stream_deliver(struct sim_stream *stream)
{
	struct sim_flight due = *(struct sim_flight *)ring_head(&stream->flights);

	ring_pop(&stream->flights);
	deliver(stream, &due);
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
	sim_stream_occupy_wire(stream, now_ns, sim_stream_wire_bytes(stream, burst.bytes, burst.segments));
	sim_stream_enqueue(stream, &burst);
	return true;
}

static void hand_over(struct sim_stream *stream)
{
	if (!stream->flights.length)
		return;
	if (sim_stream_one_way_ns(stream) == 0)
		sim_queue_take_arrivals(stream->inbox);
	if (stream->flights.length)
		sim_queue_expect(stream->inbox, sim_stream_next_arrival(stream).arrived_ns);
}

/* Without a limit the wire takes no time, hence no thread. */
static void pump_unlimited(struct sim_stream *stream)
{
	uint64_t now_ns = sim_engine_now_ns(stream->engine);

	while (stream->bursts.length) {
		sim_stream_launch(stream, sim_stream_stage(stream), now_ns, now_ns);
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
	if (!sim_stream_is_limited(stream))
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
		if (sim_stream_has_wire(stream)) {
			sim_stream_serialise(stream);
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
	if (tcp_sender_unsent(&stream->tx))
		unjoin(stream);
	if (stream->bursts.length || tcp_sender_unsent(&stream->tx))
		ring_sender(stream);
}

void sim_stream_init(struct sim_stream *stream, const struct tcp_config *sender, const struct tcp_config *receiver)
{
	stream->joined_begin_ns = SIM_NEVER;
	ring_init(&stream->parcels, sizeof(struct sim_parcel));
	ring_init(&stream->bursts, sizeof(struct sim_burst));
	ring_init(&stream->staged, sizeof(struct sim_flight));
	ring_init(&stream->flights, sizeof(struct sim_flight));
	ring_init(&stream->acks, sizeof(struct sim_ack));
	tcp_receiver_init(&stream->rx, receiver, stream->path->rtt_ns);
	tcp_sender_init(&stream->tx, sender, stream->path->rtt_ns, tcp_receiver_edge(&stream->rx));
	sim_stream_draw_loss(stream);
}

void sim_stream_clear(struct sim_stream *stream)
{
	ring_clear(&stream->parcels);
	ring_clear(&stream->bursts);
	ring_clear(&stream->staged);
	ring_clear(&stream->flights);
	ring_clear(&stream->acks);
	sim_bell_clear(&stream->sender_bell);
	sim_bell_clear(&stream->writer_bell);
	g_rand_free(stream->random);
}

void sim_stream_start(struct sim_stream *stream, const char *name)
{
	sim_thread_start_daemon(stream->engine, stream->from, name, sender_main, stream);
}
