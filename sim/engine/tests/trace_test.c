/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model beside a real kernel's TCP: a cold connection of 80 ms and 400 Mbit/s that serves READs. */
#include "sim/engine/engine.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#define TRACE SMB_SOURCE_DIR "/sim/engine/tests/data/tcp-6.1-rtt80-400mbit-reads.tsv"
#define TOLERANCE 0.02
#define REQUEST_BYTES 117
#define INTERIM_BYTES 77
#define RESPONSE_HEAD_BYTES 84
#define SERVICE_NS 700000
#define SAMPLES_MAX 65536

struct scenario {
	const char *run;
	uint64_t first_bytes; /* payload of the first READ */
	uint64_t rest_bytes;
	uint32_t count;
};

static const struct scenario scenarios[] = {
	{ "r-ra1M", 1 << 20, 1 << 20, 30 },
	{ "r-ra4M", 2 << 20, 4 << 20, 24 },
};

static struct replay {
	const struct scenario *scenario;
	struct sim_engine *engine;
	struct sim_conn *conn;
	struct sim_queue *inbox[2];
	uint64_t received;
	uint64_t first_data_ns;
	struct {
		uint64_t bytes, at_ns;
	} samples[SAMPLES_MAX];
	size_t sample_count;
} replay;

static uint64_t interim_mark;

static void note_arrival(const struct sim_arrival *arrival)
{
	uint64_t now_ns = sim_engine_now_ns(replay.engine);

	replay.received += arrival->bytes;
	if (!replay.first_data_ns && replay.received > INTERIM_BYTES)
		replay.first_data_ns = now_ns;
	cr_assert_lt(replay.sample_count, SAMPLES_MAX);
	replay.samples[replay.sample_count].bytes = replay.received;
	replay.samples[replay.sample_count++].at_ns = now_ns;
}

/* One READ first, then two outstanding, as readahead does; Nagle may hold the second back. */
static void reader_main(void *arg)
{
	uint32_t sent = 1, done = 0;

	(void)arg;
	sim_conn_send(replay.conn, SIM_CLIENT, GUINT_TO_POINTER(sent), REQUEST_BYTES);
	while (done < replay.scenario->count) {
		struct sim_arrival *arrival = sim_queue_pop(replay.inbox[SIM_CLIENT]);

		note_arrival(arrival);
		if (arrival->message && arrival->message != &interim_mark) {
			done++;
			while (sent < replay.scenario->count && sent < done + 2)
				sim_conn_send(replay.conn, SIM_CLIENT, GUINT_TO_POINTER(++sent), REQUEST_BYTES);
		}
		sim_arrival_done(arrival);
	}
}

static void server_main(void *arg)
{
	(void)arg;
	for (;;) {
		struct sim_arrival *arrival = sim_queue_pop(replay.inbox[SIM_SERVER]);
		void *message = arrival->message;
		bool first = message == GUINT_TO_POINTER(1);

		sim_arrival_done(arrival);
		if (!message)
			continue;
		sim_conn_send(replay.conn, SIM_SERVER, &interim_mark, INTERIM_BYTES);
		sim_cpu_use(replay.engine, SERVICE_NS);
		sim_conn_send(replay.conn, SIM_SERVER, message,
			      RESPONSE_HEAD_BYTES +
				      (first ? replay.scenario->first_bytes : replay.scenario->rest_bytes));
	}
}

static void run_replay(const struct scenario *scenario)
{
	const struct sim_path_spec path = { .rtt_ns = 80000000, .rate_bps = 400000000 };
	const struct sim_topology topology = {
		.client = { "client", 1 }, .server = { "server", 1 }, .paths = &path, .path_count = 1
	};
	struct sim_tcp_options options[2];

	sim_tcp_defaults(&options[SIM_CLIENT]);
	options[SIM_CLIENT].send_buffer_bytes = options[SIM_CLIENT].receive_buffer_bytes = 64 << 20;
	options[SIM_SERVER] = options[SIM_CLIENT];
	options[SIM_SERVER].nagle = false;
	replay.scenario = scenario;
	replay.engine = sim_engine_new(&topology, NULL);
	replay.conn = sim_conn_new(replay.engine, 0, options);
	for (int side = SIM_CLIENT; side <= SIM_SERVER; side++) {
		replay.inbox[side] = sim_queue_new(replay.engine);
		sim_conn_set_inbox(replay.conn, side, replay.inbox[side]);
	}
	sim_thread_start(replay.engine, SIM_CLIENT, "reader", reader_main, NULL);
	sim_thread_start(replay.engine, SIM_SERVER, "server", server_main, NULL);
	sim_engine_run(replay.engine);
	sim_engine_free(replay.engine);
}

static double model_ms(uint64_t bytes)
{
	for (size_t i = 0; i < replay.sample_count; i++)
		if (replay.samples[i].bytes >= bytes)
			return ((double)replay.samples[i].at_ns - (double)replay.first_data_ns) * 1e-6;
	return NAN;
}

static void compare_with_trace(const struct scenario *scenario)
{
	char *text = NULL, run[16];
	char **lines;
	int compared = 0;

	run_replay(scenario);
	cr_assert(g_file_get_contents(TRACE, &text, NULL, NULL), "cannot read " TRACE);
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		unsigned long bytes;
		double real, model;

		if (sscanf(*line, "%15s %lu %lf", run, &bytes, &real) != 3 || strcmp(run, scenario->run) != 0)
			continue;
		model = model_ms(bytes);
		cr_expect(fabs(model - real) <= TOLERANCE * real, "%s: %lu bytes after %.1f ms, really %.1f ms",
			  scenario->run, bytes, model, real);
		compared++;
	}
	cr_assert_gt(compared, 20);
	g_strfreev(lines);
	g_free(text);
}

Test(tcp_trace, one_megabyte_reads_arrive_as_in_the_real_kernel)
{
	compare_with_trace(&scenarios[0]);
}

Test(tcp_trace, four_megabyte_reads_arrive_as_in_the_real_kernel)
{
	compare_with_trace(&scenarios[1]);
}

Test(tcp_trace, a_cold_connection_needs_six_to_seven_round_trips_to_two_megabytes)
{
	double round_trips;

	run_replay(&scenarios[1]);
	round_trips = model_ms(2 << 20) / 80;
	cr_expect(round_trips > 6 && round_trips < 7.5, "%.2f round trips after the first data", round_trips);
}
