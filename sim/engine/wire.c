/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the network card's queue over the wire into the delay line: what is serialised in one go, how it is cut into
 * pieces, when each piece is due, what is lost. */
#include "sim/engine/internal.h"

#include <math.h>

/* What arrives at once at most while more messages wait behind it, and what is serialised in one go when the delay line leaves time to cut
 * it into pieces. */
#define PIECE_BYTES_QUEUED (1056 * 1024)
#define BATCH_BYTES (64 * 1024) /* short messages serialised together */

bool sim_stream_is_limited(const struct sim_stream *stream)
{
	return stream->path->rate_bps != 0;
}

uint64_t sim_stream_one_way_ns(const struct sim_stream *stream)
{
	return stream->path->rtt_ns / 2;
}

uint64_t sim_stream_wire_bytes(const struct sim_stream *stream, uint64_t bytes, uint64_t segments)
{
	return bytes + segments * stream->header_bytes;
}

static uint64_t wire_ns(const struct sim_stream *stream, uint64_t bytes)
{
	return sim_stream_is_limited(stream) ? (uint64_t)((double)bytes * 8e9 / (double)stream->path->rate_bps) : 0;
}

uint64_t sim_stream_transit_ns(const struct sim_stream *stream, uint64_t now_ns)
{
	uint64_t busy_until_ns = stream->wire->busy_until_ns;

	return (busy_until_ns > now_ns ? busy_until_ns - now_ns : 0) + sim_stream_one_way_ns(stream);
}

void sim_stream_occupy_wire(struct sim_stream *stream, uint64_t now_ns, uint64_t bytes)
{
	struct sim_wire *wire = stream->wire;

	wire->busy_until_ns = MAX(wire->busy_until_ns, now_ns) + wire_ns(stream, bytes);
}

void sim_stream_enqueue(struct sim_stream *stream, const struct sim_burst *burst)
{
	struct ring *turns = &stream->wire->turns;
	struct sim_turn *last;

	*(struct sim_burst *)ring_push(&stream->bursts) = *burst;
	if (!sim_stream_is_limited(stream))
		return;
	last = ring_tail(turns);
	if (last && last->stream == stream)
		last->bytes += burst->bytes;
	else
		*(struct sim_turn *)ring_push(turns) = (struct sim_turn){ .stream = stream, .bytes = burst->bytes };
}

static void call_next(struct sim_wire *wire)
{
	const struct sim_turn *next = ring_head(&wire->turns);

	if (next && !wire->busy)
		sim_bell_ring(next->stream->engine, &next->stream->sender_bell);
}

void sim_stream_dequeue_all(struct sim_stream *stream)
{
	struct ring *turns = &stream->wire->turns;

	ring_clear(&stream->bursts);
	for (size_t left = turns->length; left; left--) {
		struct sim_turn turn = *(struct sim_turn *)ring_head(turns);

		ring_pop(turns);
		if (turn.stream != stream)
			*(struct sim_turn *)ring_push(turns) = turn;
	}
	call_next(stream->wire);
}

bool sim_stream_has_wire(const struct sim_stream *stream)
{
	const struct sim_turn *next = ring_head(&stream->wire->turns);

	return next && next->stream == stream && !stream->wire->busy;
}

static void end_turn(struct sim_stream *stream, uint64_t bytes)
{
	struct sim_turn *turn = ring_head(&stream->wire->turns);

	g_assert(turn && turn->stream == stream && turn->bytes >= bytes);
	turn->bytes -= bytes;
	if (turn->bytes == 0)
		ring_pop(&stream->wire->turns);
}

void sim_stream_draw_loss(struct sim_stream *stream)
{
	double loss = stream->path->loss;
	double draw = loss > 0 ? log(1 - g_rand_double(stream->random)) / log(1 - loss) : 1e18;

	stream->segments_to_loss = (uint64_t)MIN(draw, 1e18);
}

static bool piece_is_lost(struct sim_stream *stream, uint32_t segments)
{
	if (stream->segments_to_loss >= segments) {
		stream->segments_to_loss -= segments;
		return false;
	}
	sim_stream_draw_loss(stream);
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
	stream->repair_bytes += sim_stream_wire_bytes(stream, stream->mss_bytes, 1);
	sim_stream_occupy_wire(stream, sim_engine_now_ns(stream->engine),
			       sim_stream_wire_bytes(stream, stream->mss_bytes, 1));
}

static uint64_t jitter_ns(struct sim_stream *stream)
{
	uint64_t most_ns = stream->path->jitter_ns;

	return most_ns ? (uint64_t)(g_rand_double(stream->random) * (double)most_ns) : 0;
}

static void fly(struct sim_stream *stream, struct sim_flight flight, uint64_t end_ns)
{
	uint64_t arrives_ns = end_ns + sim_stream_one_way_ns(stream) + jitter_ns(stream);
	bool lost = piece_is_lost(stream, flight.segments);

	arrives_ns = MAX(arrives_ns, stream->last_due_ns);
	if (stream->hole_until_ns > arrives_ns || lost) {
		if (lost)
			lose(stream, arrives_ns);
		sim_stream_add_ack(stream,
				   (struct sim_ack){
					   .ack = { .position = flight.end, .segments = stream->wire_segments },
					   .when_ns = arrives_ns + sim_stream_transit_ns(stream->back, arrives_ns),
					   .sent_ns = flight.sent_ns,
					   .lost = lost,
				   });
	}
	flight.due_ns = MAX(arrives_ns, stream->hole_until_ns);
	flight.begin_ns = flight.due_ns - flight.wire_ns;
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
	return stream->parcels.length - stream->parcels_on_wire > 1 ? PIECE_BYTES_QUEUED : SIM_PIECE_BYTES;
}

/* A receiver that has a core of its own and pays by the message needs to know of the pieces only when all have come, unless
 * somebody else can use the wire between them or the sender waits for the receive window. */
static bool pieces_may_join(const struct sim_stream *stream)
{
	return stream->inbox->has_costs && stream->wire->conn_count == 1 && !tcp_sender_unsent(&stream->tx) &&
	       sim_machine_is_roomy(sim_machine_at(stream->engine, !stream->from, stream->path->client));
}

/* The delay line can cut what was serialised in one go into its parts only if the last part leaves the wire before
 * the first arrives. */
static bool can_be_cut(const struct sim_stream *stream, uint64_t bytes)
{
	return wire_ns(stream, bytes) <= sim_stream_one_way_ns(stream);
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

uint64_t sim_stream_stage(struct sim_stream *stream)
{
	uint64_t piece = whole_segments(stream, piece_bytes(stream));
	bool at_once = can_be_cut(stream, PIECE_BYTES_QUEUED) || pieces_may_join(stream);
	uint64_t most = at_once ? whole_segments(stream, PIECE_BYTES_QUEUED) : piece;
	uint64_t bytes = 0, charged = 0;

	if (!sim_stream_is_limited(stream))
		most = piece = UINT64_MAX;
	else if (tcp_sender_unsent(&stream->tx))
		most = MIN(most, whole_segments(stream, window_piece(stream)));
	if (sim_stream_is_limited(stream))
		most = MIN(most, ((struct sim_turn *)ring_head(&stream->wire->turns))->bytes);
	while (stream->bursts.length && bytes < most) {
		size_t messages = stream->parcels_on_wire;
		struct sim_flight flight = take_piece(stream, MIN(most - bytes, piece));

		if (!flight.bytes)
			break;
		*(struct sim_flight *)ring_push(&stream->staged) = flight;
		bytes += flight.bytes;
		charged += sim_stream_wire_bytes(stream, flight.bytes, flight.segments);
		if (stream->parcels_on_wire > messages && !next_message_fits(stream, bytes))
			break;
	}
	if (sim_stream_is_limited(stream))
		end_turn(stream, bytes);
	return charged;
}

void sim_stream_launch(struct sim_stream *stream, uint64_t charged, uint64_t from_ns, uint64_t to_ns)
{
	bool spread = tcp_sender_unsent(&stream->tx) > 0 && to_ns > from_ns;
	bool join = pieces_may_join(stream);
	uint64_t start_ns = from_ns, done = 0;

	while (stream->staged.length) {
		struct sim_flight flight = *(struct sim_flight *)ring_head(&stream->staged);
		uint64_t end_ns = to_ns;

		ring_pop(&stream->staged);
		done += sim_stream_wire_bytes(stream, flight.bytes, flight.segments);
		if (done < charged)
			end_ns = from_ns + (uint64_t)((double)(to_ns - from_ns) * (double)done / (double)charged);
		flight.wire_ns = end_ns - start_ns;
		flight.spread = spread;
		flight.joins_next = join && stream->staged.length > 0;
		fly(stream, flight, end_ns);
		start_ns = end_ns;
	}
}

void sim_stream_serialise(struct sim_stream *stream)
{
	uint64_t from_ns = sim_engine_now_ns(stream->engine);
	uint64_t repair_bytes = stream->repair_bytes;
	uint64_t charged = sim_stream_stage(stream);

	g_assert(charged);
	stream->repair_bytes = 0;
	stream->wire->busy = true;
	sim_engine_flush(stream->engine);
	sg_host_sendto(stream->wire->from, stream->wire->to, (double)(charged + repair_bytes));
	sim_engine_resumed(stream->engine);
	stream->wire->busy = false;
	call_next(stream->wire);
	sim_stream_launch(stream, charged, from_ns, sim_engine_now_ns(stream->engine));
}
