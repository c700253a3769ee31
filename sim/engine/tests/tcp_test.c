/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/engine/tcp.h"

#include <criterion/criterion.h>

#define MSS UINT64_C(1448)
#define MS UINT64_C(1000000)
#define RTT_NS (80 * MS)
#define PLENTY (UINT64_C(1) << 40)

static struct tcp_config config_new(void)
{
	return (struct tcp_config){
		.mss_bytes = MSS,
		.initial_window = 10,
		.send_buffer_bytes = 1 << 30,
		.receive_buffer_bytes = 6 << 20,
		.slow_start_after_idle = true,
		.cubic = true,
	};
}

static struct tcp_sender sender_new(const struct tcp_config *config)
{
	struct tcp_sender tcp;

	tcp_sender_init(&tcp, config, RTT_NS, PLENTY);
	return tcp;
}

static uint64_t send_at(struct tcp_sender *tcp, uint64_t now_ns)
{
	uint32_t segments;

	return tcp_sender_send(tcp, now_ns, &segments);
}

static void ack_all(struct tcp_sender *tcp, uint64_t now_ns, uint64_t rtt_ns)
{
	const struct tcp_ack ack = { .position = tcp->sent, .segments = tcp->sent_segments, .rtt_ns = rtt_ns };

	tcp_sender_acked(tcp, now_ns, &ack);
}

/* Rounds in which the application always has `bytes` to send. Returns the time. */
static uint64_t run_rounds(struct tcp_sender *tcp, int rounds, uint64_t bytes, uint64_t now_ns)
{
	while (rounds--) {
		if (tcp->written - tcp->sent < bytes)
			tcp_sender_write(tcp, bytes - (tcp->written - tcp->sent));
		send_at(tcp, now_ns);
		now_ns += RTT_NS;
		ack_all(tcp, now_ns, RTT_NS);
		cr_assert(tcp_sender_is_valid(tcp));
	}
	return now_ns;
}

Test(tcp, a_new_connection_sends_ten_segments_and_doubles_each_round_trip)
{
	struct tcp_config config = config_new();
	struct tcp_sender tcp = sender_new(&config);

	tcp_sender_write(&tcp, 100 << 20);
	for (uint64_t round = 0, window = 10; round < 8; round++, window *= 2) {
		cr_expect_eq(send_at(&tcp, round * RTT_NS), window * MSS);
		cr_expect_eq(send_at(&tcp, round * RTT_NS), 0);
		ack_all(&tcp, (round + 1) * RTT_NS, RTT_NS);
	}
}

Test(tcp, a_window_that_is_not_used_does_not_grow)
{
	struct tcp_config config = config_new();
	struct tcp_sender tcp = sender_new(&config);

	run_rounds(&tcp, 20, 3 * MSS, 0);
	cr_expect_eq(tcp.cwnd, 10);
	run_rounds(&tcp, 20, 16 * MSS, 20 * RTT_NS);
	cr_expect_geq(tcp.cwnd, 16);
	cr_expect_leq(tcp.cwnd, 32, "slow start runs ahead to twice of what is used, not further: %u", tcp.cwnd);
}

Test(tcp, idle_for_longer_than_the_timeout_halves_the_window_per_timeout)
{
	struct tcp_config config = config_new();
	struct tcp_sender tcp = sender_new(&config);
	uint64_t now_ns = run_rounds(&tcp, 6, 100 << 20, 0), rto_ns, idle_ns;
	uint32_t before = tcp.cwnd;
	const struct tcp_sender warm = tcp;

	rto_ns = tcp_sender_rto_ns(&tcp);
	cr_expect_eq(before, 640);
	cr_expect_geq(rto_ns, RTT_NS + 200 * MS);
	for (uint32_t timeouts = 0; timeouts < 10; timeouts++) {
		uint32_t want = before >> timeouts;

		tcp = warm;
		idle_ns = timeouts * rto_ns + rto_ns / 2;
		now_ns = tcp.last_sent_ns + idle_ns;
		send_at(&tcp, now_ns);
		cr_expect_eq(tcp.cwnd, want < 10 ? 10 : want, "%u timeouts: window %u", timeouts, tcp.cwnd);
		cr_expect_eq(tcp.idle_restarts, timeouts > 0);
	}
}

Test(tcp, idle_does_nothing_when_the_option_is_off)
{
	struct tcp_config config = config_new();
	struct tcp_sender tcp;

	config.slow_start_after_idle = false;
	tcp = sender_new(&config);
	send_at(&tcp, run_rounds(&tcp, 6, 100 << 20, 0) + 3600000 * MS);
	cr_expect_eq(tcp.cwnd, 640);
	cr_expect_eq(tcp.idle_restarts, 0);
}

Test(tcp, nagle_holds_a_short_segment_while_another_is_unacknowledged)
{
	struct tcp_config config = config_new();
	struct tcp_sender tcp;

	config.nagle = true;
	tcp = sender_new(&config);
	tcp_sender_write(&tcp, 117);
	cr_expect_eq(send_at(&tcp, 0), 117, "nothing is outstanding");
	tcp_sender_write(&tcp, 117);
	tcp_sender_write(&tcp, 117);
	cr_expect_eq(send_at(&tcp, MS), 0);
	tcp_sender_write(&tcp, 2 * MSS);
	cr_expect_eq(send_at(&tcp, 2 * MS), 2 * MSS, "whole segments may go");
	ack_all(&tcp, RTT_NS, RTT_NS);
	cr_expect_eq(send_at(&tcp, RTT_NS), 234, "both short ones in one segment");
}

Test(tcp, without_nagle_short_segments_go_at_once)
{
	struct tcp_config config = config_new();
	struct tcp_sender tcp = sender_new(&config);

	for (int i = 0; i < 3; i++) {
		tcp_sender_write(&tcp, 117);
		cr_expect_eq(send_at(&tcp, i * MS), 117);
	}
	cr_expect_eq(tcp_sender_in_flight(&tcp), 3);
}

Test(tcp, a_full_send_buffer_takes_more_when_a_third_of_it_is_free)
{
	struct tcp_config config = config_new();
	struct tcp_sender tcp;
	struct tcp_ack ack = { .rtt_ns = RTT_NS };
	uint64_t limit;

	config.send_buffer_bytes = 4 << 20;
	config.initial_window = 100000;
	tcp = sender_new(&config);
	tcp_sender_write(&tcp, 100 << 20);
	limit = tcp.buffered;
	cr_expect(limit > 3 << 20 && limit < 4 << 20);
	send_at(&tcp, 0);
	ack.position = limit / 4;
	ack.segments = tcp.sent_segments / 4;
	tcp_sender_acked(&tcp, RTT_NS, &ack);
	cr_expect_eq(tcp.buffered, limit);
	ack.position = limit / 3 + 10;
	ack.segments = tcp.sent_segments / 3;
	tcp_sender_acked(&tcp, RTT_NS, &ack);
	cr_expect_eq(tcp.buffered, ack.position + limit);
}

Test(tcp, the_receive_window_bounds_what_is_sent)
{
	struct tcp_config config = config_new();
	struct tcp_sender tcp;
	struct tcp_ack ack = { .window_edge = 10 * MSS };

	tcp_sender_init(&tcp, &config, RTT_NS, 5 * MSS + 700);
	tcp_sender_write(&tcp, 1 << 20);
	cr_expect_eq(send_at(&tcp, 0), 5 * MSS, "whole segments only");
	tcp_sender_acked(&tcp, MS, &ack);
	cr_expect_eq(send_at(&tcp, MS), 5 * MSS, "an update without acknowledgement opens the window");
}

Test(tcp, a_loss_takes_three_tenths_of_the_window_once_per_window)
{
	struct tcp_config config = config_new();
	struct tcp_sender tcp = sender_new(&config);
	uint64_t now_ns = run_rounds(&tcp, 6, 100 << 20, 0);
	uint32_t before = tcp.cwnd;

	send_at(&tcp, now_ns);
	tcp_sender_lost(&tcp);
	cr_expect_eq(tcp.cwnd, before * 717 / 1024);
	tcp_sender_lost(&tcp);
	cr_expect_eq(tcp.cwnd, before * 717 / 1024, "the same window of data");
	ack_all(&tcp, now_ns + RTT_NS, RTT_NS);
	send_at(&tcp, now_ns + RTT_NS);
	tcp_sender_lost(&tcp);
	cr_expect_lt(tcp.cwnd, before * 717 / 1024 * 3 / 4);
}

/* RFC 9438 4.1: W(t) = 0.4 (t - K)^3 + W_max with K = cbrt(W_max * 0.3 / 0.4) = 9.86 s; ten segments below W_max it is
 * 2.92 s earlier. */
Test(tcp, cubic_comes_back_to_the_old_window_on_the_curve_of_the_rfc)
{
	struct tcp_config config = config_new();
	struct tcp_sender tcp = sender_new(&config);
	uint64_t now_ns = run_rounds(&tcp, 7, 100 << 20, 0), loss_ns;

	cr_assert_eq(tcp.cwnd, 1280);
	send_at(&tcp, now_ns);
	tcp_sender_lost(&tcp);
	ack_all(&tcp, now_ns += RTT_NS, RTT_NS);
	loss_ns = now_ns;
	while (tcp.cwnd < 1270 && now_ns < loss_ns + 60000 * MS)
		now_ns = run_rounds(&tcp, 1, 100 << 20, now_ns);
	cr_expect(now_ns - loss_ns > 6700 * MS && now_ns - loss_ns < 7100 * MS, "after %lu ms",
		  (now_ns - loss_ns) / MS);
}

Test(tcp, slow_start_ends_when_the_round_trip_grows_by_an_eighth)
{
	struct tcp_config config = config_new();
	struct tcp_sender steady = sender_new(&config), slower = sender_new(&config);

	for (int round = 0; round < 8; round++) {
		uint64_t now_ns = round * 100 * MS;
		struct tcp_ack half;

		tcp_sender_write(&steady, 100 << 20);
		tcp_sender_write(&slower, 100 << 20);
		send_at(&steady, now_ns);
		send_at(&slower, now_ns);
		half = (struct tcp_ack){ .position = slower.acked + (slower.sent - slower.acked) / 2,
					 .segments = (slower.sent_segments + slower.acked_segments) / 2,
					 .rtt_ns = RTT_NS + (round > 5 ? 15 * MS : 0) };
		tcp_sender_acked(&slower, now_ns + 95 * MS, &half);
		ack_all(&slower, now_ns + 95 * MS, half.rtt_ns);
		ack_all(&steady, now_ns + 95 * MS, RTT_NS);
	}
	cr_expect_eq(steady.cwnd, 2560);
	cr_expect_lt(slower.cwnd, 1000);
	cr_expect(slower.hystart.found && !steady.hystart.found);
}

/* A sender whose window is in flight, in slow start, at `cwnd` segments; a first round gave its smallest round trip. */
static struct tcp_sender slow_starter(const struct tcp_config *config, uint32_t cwnd, uint64_t *now_ns)
{
	struct tcp_sender tcp = sender_new(config);

	tcp_sender_write(&tcp, 100 << 20);
	send_at(&tcp, 0);
	*now_ns = RTT_NS;
	ack_all(&tcp, *now_ns, RTT_NS);
	tcp.cwnd = cwnd;
	send_at(&tcp, *now_ns);
	return tcp;
}

static void ack_some(struct tcp_sender *tcp, uint64_t now_ns, uint32_t segments, struct tcp_ack ack)
{
	ack.position = tcp->acked + segments * MSS;
	ack.segments = tcp->acked_segments + segments;
	tcp_sender_acked(tcp, now_ns, &ack);
}

Test(tcp, the_ninth_acknowledgement_of_a_slower_round_ends_slow_start_however_they_are_bundled)
{
	static const struct {
		uint32_t bundle; /* segments; they leave and are acknowledged in pairs */
		uint64_t rise_ms;
		uint32_t window;
	} cases[] = {
		{ 2, 11, 40 + 16 }, { 4, 11, 40 + 16 }, { 40, 11, 40 + 16 }, { 2, 10, 80 }, { 40, 10, 80 },
	};
	struct tcp_config config = config_new();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t now_ns;
		struct tcp_sender tcp = slow_starter(&config, 40, &now_ns);
		uint64_t rtt_ns = RTT_NS + cases[i].rise_ms * MS;

		for (uint32_t acked = 0; acked < 40; acked += cases[i].bundle)
			ack_some(&tcp, now_ns + rtt_ns, cases[i].bundle, (struct tcp_ack){ .rtt_ns = rtt_ns });
		cr_expect(tcp.cwnd >= cases[i].window && tcp.cwnd <= cases[i].window + 2, "case %zu: %u", i, tcp.cwnd);
		cr_expect_eq(tcp.hystart.found, cases[i].window != 80);
	}
}

Test(tcp, one_early_acknowledgement_keeps_slow_start_going)
{
	struct tcp_config config = config_new();
	uint64_t now_ns;
	struct tcp_sender tcp = slow_starter(&config, 40, &now_ns);

	ack_some(&tcp, now_ns + RTT_NS, 2, (struct tcp_ack){ .rtt_ns = RTT_NS });
	ack_some(&tcp, now_ns + RTT_NS + 30 * MS, 38, (struct tcp_ack){ .rtt_ns = RTT_NS + 30 * MS });
	cr_expect(!tcp.hystart.found);
	cr_expect_eq(tcp.cwnd, 80);
}

Test(tcp, acknowledgements_that_go_on_for_half_a_round_trip_end_slow_start_where_they_cross_it)
{
	struct tcp_config config = config_new();
	uint64_t now_ns;
	struct tcp_sender tcp = slow_starter(&config, 1000, &now_ns);

	/* half of 80 ms and of the millisecond that a burst may take: at segment 810 of 1000 in 50 ms */
	ack_some(&tcp, now_ns + RTT_NS, 1000, (struct tcp_ack){ .rtt_ns = RTT_NS, .spread_ns = 50 * MS });
	cr_expect(tcp.hystart.found);
	cr_expect_geq(tcp.ssthresh, 1800);
	cr_expect_leq(tcp.ssthresh, 1810);
	tcp = slow_starter(&config, 1000, &now_ns);
	ack_some(&tcp, now_ns + RTT_NS, 1000, (struct tcp_ack){ .rtt_ns = RTT_NS, .spread_ns = 40 * MS });
	cr_expect(!tcp.hystart.found);
	cr_expect_eq(tcp.cwnd, 2000);
}

Test(tcp, once_found_the_exit_of_slow_start_is_not_looked_for_again)
{
	struct tcp_config config = config_new();
	uint64_t now_ns;
	struct tcp_sender tcp = slow_starter(&config, 40, &now_ns);
	uint32_t ssthresh;

	ack_some(&tcp, now_ns + 100 * MS, 40, (struct tcp_ack){ .rtt_ns = 100 * MS });
	cr_assert(tcp.hystart.found);
	ssthresh = tcp.ssthresh;
	send_at(&tcp, now_ns += 100 * MS);
	ack_all(&tcp, now_ns + 500 * MS, 500 * MS);
	cr_expect_eq(tcp.ssthresh, ssthresh);
	cr_expect_leq(tcp.cwnd, ssthresh + ssthresh / 10, "a few segments per round trip from there on: %u", tcp.cwnd);
}

Test(tcp, bursts_hold_what_a_millisecond_sends_and_more_on_a_short_link)
{
	struct tcp_config config = config_new();
	struct tcp_sender tcp = sender_new(&config);

	cr_expect_eq(tcp_sender_burst_segments(&tcp), 11, "no round trip was measured: %u",
		     tcp_sender_burst_segments(&tcp));
	tcp.hystart.rtt_min_ns = RTT_NS;
	cr_expect_eq(tcp_sender_burst_segments(&tcp), 2);
	tcp.cwnd = 200;
	cr_expect_eq(tcp_sender_burst_segments(&tcp), 4);
	tcp.cwnd = 2000;
	cr_expect_eq(tcp_sender_burst_segments(&tcp), 11);
	tcp.cwnd = 10;
	tcp.hystart.rtt_min_ns = tcp.srtt_ns = MS / 10;
	cr_expect_eq(tcp_sender_burst_segments(&tcp), 11);
}

/* --- receiver --------------------------------------------------------------------------------------------------- */

static struct tcp_receiver receiver_new(void)
{
	struct tcp_config config = config_new();
	struct tcp_receiver rx;

	tcp_receiver_init(&rx, &config, RTT_NS);
	return rx;
}

Test(tcp, a_second_full_segment_is_acknowledged_at_once_and_a_single_one_after_40_ms)
{
	struct tcp_receiver rx = receiver_new();

	cr_expect_not(tcp_receiver_arrived(&rx, 0, MSS, 1));
	cr_expect_eq(rx.ack_deadline_ns, 40 * MS);
	cr_expect(tcp_receiver_arrived(&rx, MS, MSS, 1));
	cr_expect_eq(rx.acked, 2 * MSS);
	cr_expect_eq(rx.ack_deadline_ns, TCP_NEVER);
	cr_expect(tcp_receiver_arrived(&rx, MS, 5 * MSS, 5));
	cr_expect_eq(rx.acked, 6 * MSS, "the odd one waits");
	cr_expect_eq(rx.ack_deadline_ns, 41 * MS);
	tcp_receiver_flush(&rx);
	cr_expect_eq(rx.acked_segments, 7);
	cr_assert(tcp_receiver_is_valid(&rx));
}

Test(tcp, short_segments_together_below_one_mss_wait)
{
	struct tcp_receiver rx = receiver_new();

	cr_expect_not(tcp_receiver_arrived(&rx, 0, 77, 1));
	cr_expect_not(tcp_receiver_arrived(&rx, MS, 200, 1));
	cr_expect_eq(rx.ack_deadline_ns, 40 * MS, "counted from the first");
	cr_expect(tcp_receiver_arrived(&rx, 2 * MS, MSS, 1));
	cr_expect_eq(rx.acked, 277 + MSS);
}

Test(tcp, the_receive_window_follows_what_is_read_up_to_half_the_buffer)
{
	struct tcp_receiver rx = receiver_new();
	uint64_t edge = tcp_receiver_edge(&rx), now_ns = 0, flight = 10 * MSS;

	cr_expect_eq(edge, 65536);
	for (int round = 0; round < 12; round++) {
		cr_assert_leq(rx.arrived + flight, edge, "slow start is never held up: round %d", round);
		tcp_receiver_arrived(&rx, now_ns, flight, (uint32_t)(flight / MSS));
		tcp_receiver_consumed(&rx, now_ns, flight);
		edge = tcp_receiver_edge(&rx);
		now_ns += RTT_NS;
		flight = flight * 2 < (1 << 20) ? flight * 2 : flight;
		cr_assert(tcp_receiver_is_valid(&rx));
	}
	cr_expect_leq(rx.window, 3 << 20);
	cr_expect_gt(rx.window, 2 << 20);
}

Test(tcp, unread_bytes_close_the_receive_window)
{
	struct tcp_receiver rx = receiver_new();

	tcp_receiver_arrived(&rx, 0, 40 * MSS, 40);
	cr_expect_leq(tcp_receiver_edge(&rx), 65536);
	tcp_receiver_consumed(&rx, 0, 40 * MSS);
	cr_expect_geq(tcp_receiver_edge(&rx), 40 * MSS + 65536);
}
