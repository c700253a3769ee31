/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/engine/tcp.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define INITIAL_WINDOW 10u /* TCP_INIT_CWND */
#define PACKET_HEADROOM 640u /* MAX_TCP_HEADER and struct skb_shared_info */
#define PACKET_DESCRIPTOR 256u /* struct sk_buff */
#define CUBIC_C 0.4
#define CUBIC_BETA (717.0 / 1024)
#define HYSTART_LOW_WINDOW 16
#define HYSTART_SAMPLES 8
#define HYSTART_ACK_GAP_NS UINT64_C(2000000)
#define HYSTART_ACK_DELAY_NS 1000000
#define HYSTART_DELAY_MIN_NS UINT64_C(4000000)
#define HYSTART_DELAY_MAX_NS UINT64_C(16000000)
#define CUBIC_DEAF_NS UINT64_C(1000000000)
#define SSTHRESH_NONE 0x7fffffff

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t max32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* The buffer's limit counts the kernel's own memory: a full packet of 11 segments takes about 6 % beside its
 * payload (sk_wmem_queued counts truesize). */
static uint64_t send_buffer_payload(const struct tcp_sender *tcp)
{
	return max64(tcp->send_buffer / 100 * 94, 2 * (uint64_t)tcp->config.mss_bytes);
}

/* Room for twice the congestion window, counted in packets of one segment each with all that comes with them, which are
 * three times as large (Linux 6.1, tcp_sndbuf_expand). */
static uint64_t send_buffer_wanted(const struct tcp_sender *tcp)
{
	uint64_t packet = 1;

	while (packet < tcp->config.mss_bytes + PACKET_HEADROOM)
		packet *= 2;
	return min64(tcp->config.send_buffer_bytes,
		     2 * (packet + PACKET_DESCRIPTOR) * max32(tcp->cwnd, INITIAL_WINDOW));
}

void tcp_sender_init(struct tcp_sender *tcp, const struct tcp_config *config, uint64_t rtt_ns, uint64_t window_edge)
{
	assert(config->mss_bytes > 0 && config->initial_window > 0);
	memset(tcp, 0, sizeof(*tcp));
	tcp->config = *config;
	tcp->cwnd = config->initial_window;
	tcp->ssthresh = SSTHRESH_NONE;
	tcp->srtt_ns = rtt_ns; /* the handshake gave a first sample */
	tcp->rttvar_ns = rtt_ns / 2;
	tcp->window_edge = window_edge;
	tcp->send_buffer = send_buffer_wanted(tcp);
}

bool tcp_sender_is_valid(const struct tcp_sender *tcp)
{
	return tcp->acked <= tcp->sent && tcp->sent <= tcp->buffered && tcp->buffered <= tcp->written &&
	       tcp->small_end <= tcp->sent && tcp->cwnd >= 1 && tcp->ssthresh >= 2 &&
	       tcp->acked_segments <= tcp->sent_segments;
}

uint32_t tcp_sender_in_flight(const struct tcp_sender *tcp)
{
	return (uint32_t)(tcp->sent_segments - tcp->acked_segments);
}

uint64_t tcp_sender_unsent(const struct tcp_sender *tcp)
{
	return tcp->written - tcp->sent;
}

uint64_t tcp_sender_rto_ns(const struct tcp_sender *tcp)
{
	return tcp->srtt_ns + max64(4 * tcp->rttvar_ns, TCP_RTO_MIN_NS);
}

static bool in_slow_start(const struct tcp_sender *tcp)
{
	return tcp->cwnd < tcp->ssthresh;
}

/* tcp_is_cwnd_limited: in slow start the window may run ahead to twice of what was in use. */
static bool is_cwnd_limited(const struct tcp_sender *tcp)
{
	return tcp->cwnd_limited || (in_slow_start(tcp) && tcp->cwnd < 2 * tcp->max_in_flight);
}

/* tcp_current_ssthresh */
static uint32_t current_ssthresh(const struct tcp_sender *tcp)
{
	return max32(tcp->ssthresh, tcp->cwnd / 2 + tcp->cwnd / 4);
}

/* The writer fills the buffer to its limit, then sleeps until a third of it is free again (sk_stream_write_space). */
static void tcp_sender_fill(struct tcp_sender *tcp)
{
	uint64_t queued = tcp->buffered - tcp->acked;
	uint64_t limit;

	/* It grows when a writer waits for it and the congestion window is not full (tcp_should_expand_sndbuf), which
	 * hardly any acknowledgement leaves it: what it lets go is held back until it makes a burst. */
	if (tcp->writer_blocked)
		tcp->send_buffer = max64(tcp->send_buffer, send_buffer_wanted(tcp));
	limit = send_buffer_payload(tcp);

	if (tcp->writer_blocked && queued > limit / 3 * 2)
		return;
	tcp->buffered = min64(tcp->written, max64(tcp->buffered, tcp->acked + limit));
	tcp->writer_blocked = tcp->buffered < tcp->written;
}

void tcp_sender_write(struct tcp_sender *tcp, uint64_t bytes)
{
	tcp->written += bytes;
	if (!tcp->writer_blocked)
		tcp_sender_fill(tcp);
}

/* tcp_cwnd_restart, and cubic's clock stands still while the application has nothing to send (cubictcp_cwnd_event). */
static void restart_after_idle(struct tcp_sender *tcp, uint64_t now_ns)
{
	uint64_t rto_ns = tcp_sender_rto_ns(tcp);
	uint64_t idle_ns = now_ns - tcp->last_sent_ns;
	uint32_t floor = min32(tcp->config.initial_window, tcp->cwnd);

	if (tcp->cubic.in_epoch && tcp->drained)
		tcp->cubic.epoch_start_ns = min64(now_ns, tcp->cubic.epoch_start_ns + idle_ns);
	if (!tcp->config.slow_start_after_idle || idle_ns <= rto_ns || tcp->sent == 0)
		return;
	tcp->ssthresh = current_ssthresh(tcp);
	for (idle_ns -= rto_ns; tcp->cwnd > floor; idle_ns -= rto_ns) {
		tcp->cwnd /= 2;
		if (idle_ns <= rto_ns)
			break;
	}
	tcp->cwnd = max32(tcp->cwnd, floor);
	tcp->used = 0;
	tcp->used_since_ns = now_ns;
	tcp->idle_restarts++;
}

/* tcp_cwnd_application_limited: a window not used for a whole timeout moves half way to what was used. */
static void shrink_unused(struct tcp_sender *tcp, uint64_t now_ns)
{
	uint32_t used = max32(tcp->used, tcp->config.initial_window);

	if (used < tcp->cwnd) {
		tcp->ssthresh = current_ssthresh(tcp);
		tcp->cwnd = (tcp->cwnd + used) / 2;
	}
	tcp->used = 0;
	tcp->used_since_ns = now_ns;
}

/* tcp_cwnd_validate */
static void note_window_use(struct tcp_sender *tcp, uint64_t now_ns, bool limited)
{
	if (tcp->acked >= tcp->usage_end || limited ||
	    (!tcp->cwnd_limited && tcp_sender_in_flight(tcp) > tcp->max_in_flight)) {
		tcp->cwnd_limited = limited;
		tcp->max_in_flight = tcp_sender_in_flight(tcp);
		tcp->usage_end = tcp->sent;
	}
	if (is_cwnd_limited(tcp)) {
		tcp->used = 0;
		tcp->used_since_ns = now_ns;
		return;
	}
	tcp->used = max32(tcp->used, tcp_sender_in_flight(tcp));
	if (tcp->config.slow_start_after_idle && now_ns - tcp->used_since_ns >= tcp_sender_rto_ns(tcp))
		shrink_unused(tcp, now_ns);
}

static bool nagle_holds(const struct tcp_sender *tcp)
{
	return tcp->config.nagle && tcp_sender_in_flight(tcp) > 0 && tcp->small_end > tcp->acked;
}

/* How many bytes may go now, short of the idle restart. */
static uint64_t sendable(const struct tcp_sender *tcp, bool *cwnd_limits)
{
	uint32_t mss = tcp->config.mss_bytes;
	uint64_t ready = tcp->buffered - tcp->sent;
	uint64_t room = tcp->cwnd > tcp_sender_in_flight(tcp) ? (uint64_t)(tcp->cwnd - tcp_sender_in_flight(tcp)) * mss
							      : 0;
	uint64_t offered = tcp->window_edge > tcp->sent ? tcp->window_edge - tcp->sent : 0;
	uint64_t bytes = min64(ready, min64(room, offered));

	*cwnd_limits = room < ready && room <= offered;
	if (bytes < tcp->written - tcp->sent || nagle_holds(tcp))
		return bytes / mss * mss; /* whole segments only */
	return bytes;
}

uint64_t tcp_sender_send(struct tcp_sender *tcp, uint64_t now_ns, uint32_t *segments)
{
	uint32_t mss = tcp->config.mss_bytes;
	bool cwnd_limits;
	uint64_t bytes;

	*segments = 0;
	tcp_sender_fill(tcp);
	if (tcp->buffered == tcp->sent)
		return 0;
	if (tcp_sender_in_flight(tcp) == 0)
		restart_after_idle(tcp, now_ns);
	bytes = sendable(tcp, &cwnd_limits);
	if (bytes == 0) {
		if (cwnd_limits)
			note_window_use(tcp, now_ns, true);
		return 0;
	}
	*segments = (uint32_t)((bytes + mss - 1) / mss);
	tcp->sent += bytes;
	tcp->sent_segments += *segments;
	tcp->last_sent_ns = now_ns;
	if (bytes % mss)
		tcp->small_end = tcp->sent;
	note_window_use(tcp, now_ns, cwnd_limits);
	assert(tcp_sender_is_valid(tcp));
	return bytes;
}

/* RFC 6298 */
static void note_rtt(struct tcp_sender *tcp, uint64_t rtt_ns)
{
	uint64_t error_ns = rtt_ns > tcp->srtt_ns ? rtt_ns - tcp->srtt_ns : tcp->srtt_ns - rtt_ns;

	tcp->rttvar_ns += error_ns / 4;
	tcp->rttvar_ns -= tcp->rttvar_ns / 4;
	tcp->srtt_ns = tcp->srtt_ns - tcp->srtt_ns / 8 + rtt_ns / 8;
}

/* tcp_update_pacing_rate: twice the window per round trip while the window may double, else 1.2 times. */
static double pacing_bytes_per_s(const struct tcp_sender *tcp)
{
	double gain = tcp->cwnd < tcp->ssthresh / 2 ? 2 : 1.2;
	double window = (double)max32(tcp->cwnd, tcp_sender_in_flight(tcp)) * tcp->config.mss_bytes;

	return gain * window * 1e9 / (double)max64(tcp->srtt_ns, 1);
}

uint32_t tcp_sender_burst_segments(const struct tcp_sender *tcp)
{
	uint64_t near = tcp->hystart.rtt_min_ns / 1000 >> 9;
	double bytes = pacing_bytes_per_s(tcp) / 1024;

	if (near < 32)
		bytes += (uint32_t)TCP_BURST_BYTES >> near;
	return max32((uint32_t)(fmin(bytes, TCP_BURST_BYTES) / tcp->config.mss_bytes), 2);
}

/* How long the acknowledgements of a round may go on (hystart_ack_delay: what bursts take is granted, up to 1 ms). */
static uint64_t hystart_train_ns(const struct tcp_sender *tcp)
{
	uint64_t burst_ns = (uint64_t)fmin(4e9 * TCP_BURST_BYTES / pacing_bytes_per_s(tcp), HYSTART_ACK_DELAY_NS);

	return (tcp->hystart.rtt_min_ns + burst_ns) / 2;
}

static void hystart_begin_round(struct tcp_sender *tcp, uint64_t now_ns)
{
	struct tcp_hystart *hs = &tcp->hystart;

	hs->round_start_ns = now_ns;
	hs->last_ack_ns = now_ns;
	hs->round_end = tcp->sent;
	hs->rtt_round_ns = UINT64_MAX;
	hs->samples = 0;
}

/* The segments of this acknowledgement that come before the train of acknowledgements is too long; all: it is not. */
static uint32_t hystart_before_train(struct tcp_sender *tcp, uint64_t now_ns, const struct tcp_ack *ack,
				     uint32_t segments)
{
	struct tcp_hystart *hs = &tcp->hystart;
	uint64_t limit_ns = hs->round_start_ns + hystart_train_ns(tcp);

	if (now_ns > hs->last_ack_ns + HYSTART_ACK_GAP_NS)
		return segments;
	hs->last_ack_ns = now_ns + ack->spread_ns;
	if (hs->last_ack_ns <= limit_ns)
		return segments;
	if (now_ns >= limit_ns)
		return 0;
	return (uint32_t)((double)segments * (double)(limit_ns - now_ns) / (double)ack->spread_ns);
}

/* The same until eight samples of this round say that the round trip has grown. */
static uint32_t hystart_before_delay(struct tcp_sender *tcp, const struct tcp_ack *ack, uint32_t segments)
{
	struct tcp_hystart *hs = &tcp->hystart;
	uint64_t rise_ns = min64(max64(hs->rtt_min_ns / 8, HYSTART_DELAY_MIN_NS), HYSTART_DELAY_MAX_NS);
	uint32_t burst = tcp_sender_burst_segments(tcp), before;

	hs->rtt_round_ns = min64(hs->rtt_round_ns, ack->rtt_ns);
	before = hs->samples < HYSTART_SAMPLES ? (HYSTART_SAMPLES - hs->samples) * burst : 0;
	hs->samples = min32(hs->samples + (segments + burst - 1) / burst, HYSTART_SAMPLES);
	return hs->rtt_round_ns > hs->rtt_min_ns + rise_ns ? before : segments;
}

/* cubictcp_acked and hystart_update, for an acknowledgement that stands for those of `segments`. */
static void hystart_update(struct tcp_sender *tcp, uint64_t now_ns, const struct tcp_ack *ack, uint32_t segments)
{
	struct tcp_hystart *hs = &tcp->hystart;
	uint32_t before;

	if (tcp->cubic.in_epoch && now_ns < tcp->cubic.epoch_start_ns + CUBIC_DEAF_NS)
		return;
	if (!hs->rtt_min_ns || ack->rtt_ns < hs->rtt_min_ns)
		hs->rtt_min_ns = ack->rtt_ns;
	if (hs->found || !in_slow_start(tcp) || !tcp->config.cubic)
		return;
	if (ack->position > hs->round_end)
		hystart_begin_round(tcp, now_ns);
	if (tcp->cwnd < HYSTART_LOW_WINDOW)
		return;
	before = hystart_before_train(tcp, now_ns, ack, segments);
	before = min32(before, hystart_before_delay(tcp, ack, segments));
	hs->found = before < segments;
	if (hs->found)
		tcp->ssthresh = tcp->cwnd + before;
}

static void cubic_begin_epoch(struct tcp_sender *tcp, uint64_t now_ns)
{
	struct tcp_cubic *cubic = &tcp->cubic;

	cubic->in_epoch = true;
	cubic->epoch_start_ns = now_ns;
	cubic->reno_window = tcp->cwnd;
	cubic->origin = fmax(cubic->last_max, tcp->cwnd);
	cubic->k_seconds = cbrt((cubic->origin - tcp->cwnd) / CUBIC_C);
}

/* How many acknowledged segments make the window grow by one (bictcp_update). */
static double cubic_segments_per_step(struct tcp_sender *tcp, uint64_t now_ns, uint32_t segments)
{
	struct tcp_cubic *cubic = &tcp->cubic;
	double t, target, step;

	if (!cubic->in_epoch)
		cubic_begin_epoch(tcp, now_ns);
	t = (double)(now_ns - cubic->epoch_start_ns + tcp->hystart.rtt_min_ns) * 1e-9 - cubic->k_seconds;
	target = cubic->origin + CUBIC_C * t * t * t;
	step = target > tcp->cwnd ? tcp->cwnd / (target - tcp->cwnd) : 100.0 * tcp->cwnd;
	if (cubic->last_max == 0 && step > 20) /* no loss yet: at least 5 % per round trip */
		step = 20;
	cubic->reno_window += segments * 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA) / tcp->cwnd;
	if (cubic->reno_window > tcp->cwnd)
		step = fmin(step, tcp->cwnd / (cubic->reno_window - tcp->cwnd));
	return fmax(step, 2);
}

static void avoid_congestion(struct tcp_sender *tcp, uint64_t now_ns, uint32_t segments)
{
	double step = tcp->config.cubic ? cubic_segments_per_step(tcp, now_ns, segments) : tcp->cwnd;
	uint32_t growth;

	tcp->cwnd_credit += segments;
	growth = (uint32_t)(tcp->cwnd_credit / step);
	tcp->cwnd += growth;
	tcp->cwnd_credit -= (uint32_t)(growth * step);
}

static void grow(struct tcp_sender *tcp, uint64_t now_ns, uint32_t segments)
{
	if (!is_cwnd_limited(tcp) || tcp->acked < tcp->recovery_end)
		return;
	if (in_slow_start(tcp)) {
		uint32_t most = tcp->cwnd_limited ? tcp->ssthresh : min32(tcp->ssthresh, 2 * tcp->max_in_flight);
		uint32_t cwnd = min32(tcp->cwnd + segments, most);

		segments -= cwnd - tcp->cwnd;
		tcp->cwnd = cwnd;
		if (cwnd < tcp->ssthresh)
			return;
	}
	if (segments)
		avoid_congestion(tcp, now_ns, segments);
}

void tcp_sender_acked(struct tcp_sender *tcp, uint64_t now_ns, const struct tcp_ack *ack)
{
	uint32_t segments;

	tcp->window_edge = max64(tcp->window_edge, ack->window_edge);
	if (ack->position <= tcp->acked)
		return;
	assert(ack->position <= tcp->sent && ack->segments <= tcp->sent_segments);
	segments = (uint32_t)(ack->segments - tcp->acked_segments);
	tcp->acked = ack->position;
	tcp->acked_segments = ack->segments;
	note_rtt(tcp, ack->rtt_ns);
	hystart_update(tcp, now_ns, ack, segments);
	grow(tcp, now_ns, segments);
	tcp_sender_fill(tcp);
	tcp->drained = tcp->acked == tcp->written;
}

void tcp_sender_lost(struct tcp_sender *tcp)
{
	struct tcp_cubic *cubic = &tcp->cubic;

	if (tcp->acked < tcp->recovery_end)
		return;
	tcp->recovery_end = tcp->sent;
	cubic->in_epoch = false;
	cubic->last_max = tcp->cwnd < cubic->last_max ? tcp->cwnd * (1 + CUBIC_BETA) / 2 : tcp->cwnd;
	tcp->ssthresh = max32((uint32_t)(tcp->cwnd * (tcp->config.cubic ? CUBIC_BETA : 0.5)), 2);
	tcp->cwnd = tcp->ssthresh;
	tcp->cwnd_credit = 0;
}

void tcp_receiver_init(struct tcp_receiver *rx, const struct tcp_config *config, uint64_t rtt_ns)
{
	memset(rx, 0, sizeof(*rx));
	rx->mss_bytes = config->mss_bytes;
	rx->window_max = max64(config->receive_buffer_bytes / 2, 2 * (uint64_t)config->mss_bytes);
	rx->window_clamp = min64(65536, rx->window_max);
	rx->window = rx->window_clamp;
	rx->edge = rx->window;
	rx->ack_deadline_ns = TCP_NEVER;
	rx->rtt_ns = rtt_ns;
	rx->measured = min64(10 * (uint64_t)config->mss_bytes, rx->window);
}

bool tcp_receiver_is_valid(const struct tcp_receiver *rx)
{
	return rx->consumed <= rx->arrived && rx->acked <= rx->arrived && rx->window <= rx->window_max &&
	       rx->acked_segments <= rx->arrived_segments &&
	       (rx->ack_deadline_ns != TCP_NEVER) == (rx->acked < rx->arrived);
}

void tcp_receiver_flush(struct tcp_receiver *rx)
{
	rx->acked = rx->arrived;
	rx->acked_segments = rx->arrived_segments;
	rx->ack_deadline_ns = TCP_NEVER;
}

bool tcp_receiver_arrived(struct tcp_receiver *rx, uint64_t now_ns, uint64_t bytes, uint32_t segments)
{
	uint64_t pending = rx->arrived - rx->acked;
	uint64_t tail = segments % 2 ? bytes - min64(bytes, (uint64_t)(segments - 1) * rx->mss_bytes) : 0;

	rx->arrived += bytes;
	rx->arrived_segments += segments;
	rx->window = min64(rx->window + 2 * bytes, max64(rx->window, rx->window_clamp));
	if (segments == 1 && pending && pending + bytes <= rx->mss_bytes)
		return false;
	tcp_receiver_flush(rx);
	if (tail == 0 || (segments == 1 && pending))
		return true;
	rx->acked -= tail;
	rx->acked_segments--;
	rx->ack_deadline_ns = now_ns + TCP_DELAYED_ACK_NS;
	return segments > 1 || pending;
}

void tcp_receiver_consumed(struct tcp_receiver *rx, uint64_t now_ns, uint64_t bytes)
{
	uint64_t copied, target;

	rx->consumed += bytes;
	assert(rx->consumed <= rx->arrived);
	if (now_ns - rx->measure_start_ns < rx->rtt_ns)
		return;
	copied = rx->consumed - rx->measure_from;
	if (copied > rx->measured) {
		target = 2 * copied + 16 * (uint64_t)rx->mss_bytes;
		target += 2 * (uint64_t)((double)target * (double)(copied - rx->measured) / (double)rx->measured);
		rx->window_clamp = max64(rx->window_clamp, min64(target, rx->window_max));
		rx->measured = copied;
	}
	rx->measure_start_ns = now_ns;
	rx->measure_from = rx->consumed;
}

uint64_t tcp_receiver_edge(struct tcp_receiver *rx)
{
	uint64_t unread = rx->arrived - rx->consumed;
	uint64_t free = rx->window_clamp > unread ? rx->window_clamp - unread : 0;

	rx->edge = max64(rx->edge, rx->arrived + min64(rx->window, free));
	return rx->edge;
}
