/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_ENGINE_TCP_H
#define SIM_ENGINE_TCP_H

/**
 * What Linux 6.1's TCP does to the pace of a stream, as two values without clock, I/O or allocation: the congestion
 * state of a sender and the window and acknowledgement state of a receiver. Knows nothing of SimGrid. All times are
 * nanoseconds; windows of the sender are segments, as in the kernel; positions are bytes since the stream began.
 *
 * Left out: ECN, pacing, reordering, TCP small queues (netem and a local bottleneck hide them), segments that
 * middle boxes change. Loss recovery is reduced to its effect (see tcp_sender_lost).
 */

#include <stdbool.h>
#include <stdint.h>

#define TCP_DELAYED_ACK_NS UINT64_C(40000000) /* TCP_DELACK_MIN and TCP_ATO_MIN, 1/25 s */
#define TCP_BURST_BYTES 16384 /* what the card cuts into segments itself (TSO); in the captures up to this */
#define TCP_RTO_MIN_NS UINT64_C(200000000)
#define TCP_NEVER UINT64_MAX

struct tcp_config {
	uint32_t mss_bytes;
	uint32_t initial_window; /* segments */
	uint64_t send_buffer_bytes; /* tcp_wmem maximum */
	uint64_t receive_buffer_bytes; /* tcp_rmem maximum */
	bool nagle;
	bool slow_start_after_idle;
	bool cubic;
};

/** RFC 9438 with the constants of Linux (C = 0.4, beta = 717/1024), in segments and seconds. */
struct tcp_cubic {
	bool in_epoch;
	uint64_t epoch_start_ns;
	double last_max; /* window before the last reduction; 0 = none yet */
	double origin;
	double k_seconds;
	double reno_window; /* what Reno would have by now (RFC 9438 4.3) */
};

/**
 * HyStart (Linux 6.1, cubictcp_acked and hystart_update): leave slow start for good when the acknowledgements of one
 * round, each within 2 ms of the one before, go on for half of the smallest round trip (and of what bursts take, up to
 * 1 ms); or when nine of one round all came later than the smallest round trip and an eighth of it (4 to 16 ms). Only
 * from a window of 16 segments on, and not within a second after cubic began an epoch.
 *
 * The round trip grows by what others have in the bottleneck's queue as well. A second channel that starts while the
 * first sends a full window loses slow start in its third round, at 56 segments, and then gains 5 % per round trip: at
 * 80 ms its first 4 MiB take 2.3 s instead of 0.75 (captures: io-6.1-rtt80-400mbit-first30.tsv, mc4-ra16M). Idle
 * restarts keep the threshold, so it stays slow. Nothing of it is carried to later connections: Linux saves no threshold
 * per destination by default since 5.6 (tcp_no_ssthresh_metrics_save), and the saved round trip sets only the timeout.
 */
struct tcp_hystart {
	bool found;
	uint64_t round_start_ns;
	uint64_t last_ack_ns;
	uint64_t round_end; /* position; the round is over when it is acknowledged */
	uint64_t rtt_min_ns; /* over the connection */
	uint64_t rtt_round_ns; /* smallest of this round */
	uint32_t samples; /* acknowledgements seen in this round, up to eight */
};

struct tcp_sender {
	struct tcp_config config;
	uint64_t written; /* end of the stream the application has given */
	uint64_t buffered; /* end of what is in the socket's send buffer */
	uint64_t sent;
	uint64_t acked;
	uint64_t small_end; /* end of the last segment sent that was shorter than the MSS */
	uint64_t window_edge; /* the receiver lets the sender go up to here */
	uint64_t sent_segments;
	uint64_t acked_segments;
	uint32_t cwnd;
	uint32_t cwnd_credit; /* acknowledged segments not yet turned into growth */
	uint32_t ssthresh;
	uint64_t recovery_end; /* position; no further reduction before it is acknowledged */
	uint64_t send_buffer; /* its limit by now, at most config.send_buffer_bytes */
	bool writer_blocked; /* the send buffer was filled; see tcp_sender_fill */
	/* RFC 7661 as Linux does it: is the window used at all? */
	bool cwnd_limited;
	uint32_t max_in_flight;
	uint64_t usage_end;
	uint32_t used;
	uint64_t used_since_ns;
	bool drained; /* all that was written is acknowledged */
	uint64_t last_sent_ns;
	uint64_t idle_restarts;
	uint64_t srtt_ns;
	uint64_t rttvar_ns;
	struct tcp_cubic cubic;
	struct tcp_hystart hystart;
};

void tcp_sender_init(struct tcp_sender *tcp, const struct tcp_config *config, uint64_t rtt_ns, uint64_t window_edge);
bool tcp_sender_is_valid(const struct tcp_sender *tcp);
/** Segments that leave, arrive and are acknowledged together (tcp_tso_autosize): what the pacing rate makes in a
 *  millisecond, more on a short link, at least two. */
uint32_t tcp_sender_burst_segments(const struct tcp_sender *tcp);
/** Segments sent and not acknowledged. */
uint32_t tcp_sender_in_flight(const struct tcp_sender *tcp);
/** The application hands over `bytes`. */
void tcp_sender_write(struct tcp_sender *tcp, uint64_t bytes);
/** Send what congestion window, receive window, send buffer and Nagle (RFC 896 with Minshall's rule: a short segment
 *  waits while another short one is unacknowledged; tcp_nagle_check) allow at `now_ns`. Returns the bytes and, in
 *  `segments`, how many segments they make; 0 when nothing may go. Restarts from idle (RFC 5681 4.1;
 *  tcp_cwnd_restart) when a retransmission timeout has passed since the last segment. */
uint64_t tcp_sender_send(struct tcp_sender *tcp, uint64_t now_ns, uint32_t *segments);
/** An acknowledgement: everything below `position`, which took `segments` segments since the stream began, with this
 *  receive window; `rtt_ns` is what the sender measures with it. A position below what is known only moves the window
 *  edge. */
struct tcp_ack {
	uint64_t position;
	uint64_t segments;
	uint64_t window_edge;
	uint64_t rtt_ns;
	uint64_t spread_ns; /* one value stands for acknowledgements from now on for this long */
};
void tcp_sender_acked(struct tcp_sender *tcp, uint64_t now_ns, const struct tcp_ack *ack);
/** A segment was found lost by duplicate acknowledgements: reduce the window once per window of data (fast
 *  convergence included). The retransmission itself is the caller's. */
void tcp_sender_lost(struct tcp_sender *tcp);
uint64_t tcp_sender_unsent(const struct tcp_sender *tcp);
/** Retransmission timeout: smoothed round trip plus its variation, at least 200 ms of it. */
uint64_t tcp_sender_rto_ns(const struct tcp_sender *tcp);

struct tcp_receiver {
	uint32_t mss_bytes;
	uint64_t window_max; /* half the buffer's maximum (tcp_adv_win_scale = 1) */
	uint64_t window_clamp; /* what autotuning allows so far */
	uint64_t window; /* advertised; grows with what arrives (tcp_grow_window) */
	uint64_t edge; /* highest position ever offered; never taken back */
	uint64_t arrived;
	uint64_t consumed;
	uint64_t arrived_segments;
	uint64_t acked; /* everything below has been acknowledged */
	uint64_t acked_segments;
	uint64_t ack_deadline_ns; /* of the delayed acknowledgement; TCP_NEVER when none is pending */
	/* dynamic right-sizing (tcp_rcv_space_adjust): twice what the application took in the last round trip */
	uint64_t rtt_ns;
	uint64_t measure_start_ns;
	uint64_t measure_from; /* position */
	uint64_t measured;
};

void tcp_receiver_init(struct tcp_receiver *rx, const struct tcp_config *config, uint64_t rtt_ns);
bool tcp_receiver_is_valid(const struct tcp_receiver *rx);
/** `bytes` in `segments` arrived in order, back to back. True: acknowledge up to `acked` at once. A single full
 *  segment waits for a second one or for 40 ms (__tcp_ack_snd_check); the connection is taken to be in interactive
 *  mode, as a request and response protocol always is (inet_csk_in_pingpong_mode). */
bool tcp_receiver_arrived(struct tcp_receiver *rx, uint64_t now_ns, uint64_t bytes, uint32_t segments);
/** Acknowledge all that has arrived: the deadline passed or a segment goes the other way. */
void tcp_receiver_flush(struct tcp_receiver *rx);
/** The application took `bytes`. */
void tcp_receiver_consumed(struct tcp_receiver *rx, uint64_t now_ns, uint64_t bytes);
/** The window edge to be advertised now. */
uint64_t tcp_receiver_edge(struct tcp_receiver *rx);

#endif
