/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processor time that is owed or slept through comes out as if each use of a core were shared from its first instant. */
#include "sim/engine/tests/fixture.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#define US UINT64_C(1000)
#define THREADS_MAX 6
#define STEPS 40
/* A run takes some milliseconds, in which SimGrid's own executions, each by itself, come out up to 1.7 us off the fluid
 * model; what this engine does is within 20 ns of them. */
#define TOLERANCE_NS 2000

/* One engine per process: each run has a process of its own, which leaves its result in `out`. */
static void run_apart(void (*run)(void *out, const void *arg), const void *arg, void *out, size_t size)
{
	int ends[2], status;
	pid_t child;

	cr_assert_eq(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		run(out, arg);
		_exit(write(ends[1], out, size) == (ssize_t)size ? 0 : 1);
	}
	cr_assert_eq(read(ends[0], out, size), (ssize_t)size);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(ends[0]);
	close(ends[1]);
}

static struct sim_engine *engine_with_cores(int cores)
{
	static const struct sim_path_spec path = { .rtt_ns = 100000, .rate_bps = UINT64_C(10000000000) };
	const struct sim_topology topology = {
		.client = { "client", cores }, .server = { "server", cores }, .paths = &path, .path_count = 1
	};

	return sim_engine_new(&topology, NULL);
}

/* --- against a fluid model -------------------------------------------------------------------------------------- */

struct load {
	int cores;
	int threads;
	uint64_t pause_ns[THREADS_MAX][STEPS];
	uint64_t work_ns[THREADS_MAX][STEPS];
};

struct ends {
	uint64_t at_ns[THREADS_MAX][STEPS];
};

struct worker {
	struct sim_engine *engine;
	const struct load *load;
	struct ends *ends;
	int number;
};

static void load_main(void *arg)
{
	struct worker *worker = arg;
	struct sim_engine *engine = worker->engine;

	for (int step = 0; step < STEPS; step++) {
		uint64_t work_ns = worker->load->work_ns[worker->number][step];

		sim_sleep_until(engine, sim_engine_now_ns(engine) + worker->load->pause_ns[worker->number][step]);
		switch (step % 3) {
		case 0:
			sim_cpu_use(engine, work_ns);
			break;
		case 1:
			sim_cpu_owe(engine, work_ns / 3);
			sim_cpu_use(engine, work_ns - work_ns / 3);
			break;
		case 2:
			sim_cpu_owe(engine, work_ns);
			sim_cpu_settle(engine);
			break;
		}
		worker->ends->at_ns[worker->number][step] = sim_engine_now_ns(engine);
	}
}

static void run_load(void *out, const void *arg)
{
	const struct load *load = arg;
	struct worker workers[THREADS_MAX];
	struct sim_engine *engine = engine_with_cores(load->cores);

	for (int i = 0; i < load->threads; i++) {
		workers[i] = (struct worker){ engine, load, out, i };
		sim_thread_start(engine, SIM_CLIENT, "worker", load_main, &workers[i]);
	}
	sim_engine_run(engine);
	sim_engine_free(engine);
}

/* Each thread is either in its pause, which passes with time, or at work, at the rate that all at work share. */
static void fluid_model(const struct load *load, struct ends *ends)
{
	double left[THREADS_MAX], now_ns = 0;
	int step[THREADS_MAX] = { 0 }, unfinished = load->threads;
	bool works[THREADS_MAX] = { false };

	for (int i = 0; i < load->threads; i++)
		left[i] = (double)load->pause_ns[i][0];
	while (unfinished) {
		double rate, next_ns = INFINITY;
		int working = 0;

		for (int i = 0; i < load->threads; i++)
			working += works[i] && step[i] < STEPS;
		rate = working > load->cores ? (double)load->cores / working : 1;
		for (int i = 0; i < load->threads; i++)
			if (step[i] < STEPS)
				next_ns = fmin(next_ns, left[i] / (works[i] ? rate : 1));
		now_ns += next_ns;
		for (int i = 0; i < load->threads; i++) {
			if (step[i] == STEPS)
				continue;
			left[i] -= next_ns * (works[i] ? rate : 1);
			if (left[i] > 1e-6)
				continue;
			if (works[i]) {
				ends->at_ns[i][step[i]] = (uint64_t)llround(now_ns);
				unfinished -= ++step[i] == STEPS;
			}
			works[i] = !works[i];
			if (step[i] < STEPS)
				left[i] = (double)(works[i] ? load->work_ns : load->pause_ns)[i][step[i]];
		}
	}
}

static struct load random_load(GRand *random, int cores, int threads)
{
	struct load load = { .cores = cores, .threads = threads };

	for (int i = 0; i < threads; i++)
		for (int step = 0; step < STEPS; step++) {
			load.pause_ns[i][step] = (uint64_t)g_rand_int_range(random, 1, 60000);
			load.work_ns[i][step] = (uint64_t)g_rand_int_range(random, 1, 40000);
		}
	return load;
}

Test(sim_cpu, any_number_of_threads_on_any_number_of_cores_end_when_a_fluid_model_says)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(1);

	for (int cores = 1; cores <= 4; cores++)
		for (int threads = 1; threads <= THREADS_MAX; threads++) {
			struct load load = random_load(random, cores, threads);
			struct ends ends, model;

			memset(&ends, 0, sizeof(ends));
			run_apart(run_load, &load, &ends, sizeof(ends));
			fluid_model(&load, &model);
			for (int i = 0; i < threads; i++)
				for (int step = 0; step < STEPS; step++)
					cr_assert_leq(llabs((long long)(ends.at_ns[i][step] - model.at_ns[i][step])),
						      TOLERANCE_NS, "%d threads, %d cores, step %d: %lu, %lu", threads,
						      cores, step, ends.at_ns[i][step], model.at_ns[i][step]);
		}
}

/* --- owing while waiting ---------------------------------------------------------------------------------------- */

struct debt_case {
	const char *tells;
	int cores;
	uint64_t owed_ns;
	uint64_t push_ns;
	uint64_t other_begins_ns;
	uint64_t other_ns;
	uint64_t popped_ns;
};

static const struct debt_case debt_cases[] = {
	{ "an item that comes before the work is done", 2, 1000 * US, 400 * US, 0, 500 * US, 1000 * US },
	{ "an item that comes after", 2, 1000 * US, 1500 * US, 0, 500 * US, 1500 * US },
	{ "one core, and another thread works", 1, 1000 * US, 400 * US, 0, 500 * US, 1500 * US },
	{ "one core, and another thread begins half way", 1, 1000 * US, 400 * US, 500 * US, 200 * US, 1200 * US },
	{ "one core, another thread, and a late item", 1, 1000 * US, 1600 * US, 0, 500 * US, 1600 * US },
	{ "one core, and another thread that comes too late", 1, 1000 * US, 400 * US, 1000 * US, 500 * US, 1000 * US },
};

static struct debt {
	const struct debt_case *with;
	struct sim_engine *engine;
	struct sim_queue *queue;
	uint64_t *popped_ns;
} debt;

static void debtor_main(void *arg)
{
	(void)arg;
	sim_cpu_owe(debt.engine, debt.with->owed_ns);
	sim_queue_pop(debt.queue);
	*debt.popped_ns = sim_engine_now_ns(debt.engine);
}

static void pusher_main(void *arg)
{
	(void)arg;
	sim_sleep_until(debt.engine, debt.with->push_ns);
	sim_queue_push(debt.queue, &debt);
}

static void other_main(void *arg)
{
	(void)arg;
	sim_sleep_until(debt.engine, debt.with->other_begins_ns);
	sim_cpu_use(debt.engine, debt.with->other_ns);
}

static void run_debt(void *out, const void *arg)
{
	debt.with = arg;
	debt.popped_ns = out;
	debt.engine = engine_with_cores(debt.with->cores);
	debt.queue = sim_queue_new(debt.engine);
	sim_thread_start(debt.engine, SIM_CLIENT, "debtor", debtor_main, NULL);
	sim_thread_start(debt.engine, SIM_CLIENT, "pusher", pusher_main, NULL);
	sim_thread_start(debt.engine, SIM_CLIENT, "other", other_main, NULL);
	sim_engine_run(debt.engine);
	sim_engine_free(debt.engine);
}

Test(sim_cpu, a_thread_that_owes_gets_its_item_when_it_has_paid)
{
	for (guint i = 0; i < G_N_ELEMENTS(debt_cases); i++) {
		uint64_t popped_ns = 0;

		run_apart(run_debt, &debt_cases[i], &popped_ns, sizeof(popped_ns));
		cr_expect_leq(llabs((long long)(popped_ns - debt_cases[i].popped_ns)), 2, "%s: %lu ns",
			      debt_cases[i].tells, popped_ns);
	}
}

/* --- paying for arrivals ---------------------------------------------------------------------------------------- */

#define WARM_UP 24 /* messages until the receive window has grown */
#define MESSAGES 8

struct inbox_case {
	double ns_per_byte;
	uint64_t gap_ns; /* between two sends */
	int others; /* threads that use the processor as well */
};

struct inbox_result {
	uint64_t done_ns[MESSAGES];
	int arrivals;
};

static struct {
	const struct inbox_case *with;
	struct inbox_result *result;
	struct sim_engine *engine;
	struct sim_conn *conn;
	struct sim_queue *inbox;
} inbox;

static void receiver_main(void *arg)
{
	(void)arg;
	for (int done = -WARM_UP; done < MESSAGES;) {
		struct sim_arrival *arrival = sim_queue_pop(inbox.inbox);

		inbox.result->arrivals += done >= 0;
		cr_assert_leq(arrival->begun_ns, arrival->arrived_ns);
		cr_assert_leq(arrival->arrived_ns, sim_engine_now_ns(inbox.engine));
		if (arrival->message && ++done > 0)
			inbox.result->done_ns[done - 1] = sim_engine_now_ns(inbox.engine);
		sim_arrival_done(arrival);
	}
}

static void server_main(void *arg)
{
	(void)arg;
	for (uint64_t i = 0; i < WARM_UP + MESSAGES; i++) {
		uint64_t measured = i > WARM_UP ? i - WARM_UP : 0;

		sim_sleep_until(inbox.engine, (i - measured) * 3000 * US + measured * inbox.with->gap_ns);
		sim_conn_send(inbox.conn, SIM_SERVER, &inbox, 1 << 20);
	}
}

static void short_main(void *arg)
{
	(void)arg;
	sim_cpu_use(inbox.engine, 1);
}

static void run_inbox(void *out, const void *arg)
{
	struct sim_tcp_options options[2];

	big_buffers(options);
	options[SIM_SERVER].initial_window = 100000;
	inbox.with = arg;
	inbox.result = out;
	inbox.engine = engine_with_cores(2);
	inbox.conn = sim_conn_new(inbox.engine, 0, options);
	inbox.inbox = sim_queue_new(inbox.engine);
	sim_queue_set_costs(inbox.inbox, inbox.with->ns_per_byte, 1000);
	sim_conn_set_inbox(inbox.conn, SIM_CLIENT, inbox.inbox);
	for (int i = 0; i < inbox.with->others; i++)
		sim_thread_start(inbox.engine, SIM_CLIENT, "other", short_main, NULL);
	sim_thread_start(inbox.engine, SIM_CLIENT, "receiver", receiver_main, NULL);
	sim_thread_start(inbox.engine, SIM_SERVER, "server", server_main, NULL);
	sim_engine_run(inbox.engine);
	sim_engine_free(inbox.engine);
}

static const struct inbox_case inbox_cases[] = {
	{ 0.1, 3000 * US, 0 }, /* faster than the wire, idle between messages */
	{ 1.5, 3000 * US, 0 }, /* slower than the wire */
	{ 1.5, 100 * US, 0 }, /* and never idle, so that the receive window is used up: pieces */
};

Test(sim_cpu, a_message_that_comes_whole_is_done_when_one_that_comes_in_pieces_is)
{
	for (guint i = 0; i < G_N_ELEMENTS(inbox_cases); i++) {
		struct inbox_case scarce = inbox_cases[i];
		struct inbox_result whole = { 0 }, pieces = { 0 };

		scarce.others = 3;
		run_apart(run_inbox, &inbox_cases[i], &whole, sizeof(whole));
		run_apart(run_inbox, &scarce, &pieces, sizeof(pieces));
		if (scarce.gap_ns > 1000 * US)
			cr_expect_eq(whole.arrivals, MESSAGES, "%u: %d arrivals", i, whole.arrivals);
		cr_expect_gt(pieces.arrivals, MESSAGES, "%u: %d arrivals", i, pieces.arrivals);
		for (int message = 0; message < MESSAGES; message++)
			cr_expect_leq(llabs((long long)(whole.done_ns[message] - pieces.done_ns[message])), 5 * US,
				      "case %u, message %d: %lu ns whole, %lu ns in pieces", i, message,
				      whole.done_ns[message], pieces.done_ns[message]);
	}
}
