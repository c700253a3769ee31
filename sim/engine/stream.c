/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One direction of a connection. TCP decides at once, in the caller's context, what may go (commit) and puts it
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
		when_ns = MIN(when_ns, stream->rx.ack_deadline_ns +
					       sim_stream_transit_ns(stream->back, stream->rx.ack_deadline_ns));
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
	*(struct sim_burst *)ring_push(&stream->bursts) = burst;
	return true;
}

static void hand_over(struct sim_stream *stream)
{
	if (!stream->flights.length)
		return;
	if (sim_stream_one_way_ns(stream) == 0)
		deliver_due(stream, sim_engine_now_ns(stream->engine));
	if (stream->flights.length)
		sim_bell_ring(stream->engine, &stream->delivery_bell);
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
		if (stream->bursts.length) {
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
