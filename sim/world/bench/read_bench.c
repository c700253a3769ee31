/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How fast a whole run goes: a 10 GiB sequential read with rsize 64 KiB and 1 MiB, monitor on and off, beside the bare
 * sendto loop of SimGrid. Each measurement is a process of its own; they take turns, and the best of each counts,
 * because other load on the machine comes and goes. A PDU event is a PDU put on or taken off the wire.
 */

#include "sim/world/profile.h"
#include "sim/world/world.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES (UINT64_C(10) << 30)
#define BARE_MESSAGES 200000
#define ROUNDS 3

struct figure {
	double per_second; /* sendto calls, or PDU events */
	double seconds; /* of processor time */
	uint64_t events;
	long peak_kib;
};

struct bench {
	const char *name;
	uint32_t rsize; /* 0: the bare loop */
	bool monitor;
	struct figure best;
};

static void fail(const char *what)
{
	fprintf(stderr, "read_bench: %s\n", what);
	_exit(1);
}

static void make_point(struct sim_point *point, const struct bench *bench)
{
	g_autoptr(GError) error = NULL;

	sim_point_init(point);
	if (!sim_profile_load("samba-4.17", &point->server, NULL, &error))
		fail(error->message);
	point->mount.rsize = bench->rsize;
	point->monitor = bench->monitor;
	for (int side = SIM_CLIENT; side <= SIM_SERVER; side++) {
		point->network.tcp[side].send_buffer_bytes = UINT64_C(64) << 20;
		point->network.tcp[side].receive_buffer_bytes = UINT64_C(64) << 20;
	}
	point->workload.job_count = 1;
	point->workload.jobs[0] =
		(struct sim_job){ .read = { .file = "big", .file_bytes = FILE_BYTES, .block_bytes = 1 << 20 } };
}

static struct figure measure(const struct bench *bench)
{
	static struct sim_result result;
	struct sim_point point;
	struct figure figure = { 0 };
	clock_t start = clock();

	if (!bench->rsize) {
		figure.seconds = sim_engine_bare_seconds(BARE_MESSAGES, 65536, NULL);
		figure.events = BARE_MESSAGES;
	} else {
		make_point(&point, bench);
		if (!sim_world_run(&point, NULL, &result, NULL) || result.outcome != SIM_OUTCOME_FINISHED)
			fail(result.failure);
		if (result.bytes != FILE_BYTES || result.violations)
			fail("the run is not what it should be");
		figure.seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
		figure.events = result.pdu_events;
	}
	figure.per_second = (double)figure.events / figure.seconds;
	return figure;
}

static void measure_in_a_process(struct bench *bench)
{
	struct figure figure;
	struct rusage usage;
	int status, pipe_fds[2];

	if (pipe(pipe_fds))
		fail("no pipe");
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		figure = measure(bench);
		_exit(write(pipe_fds[1], &figure, sizeof(figure)) != sizeof(figure));
	}
	close(pipe_fds[1]);
	bool complete = read(pipe_fds[0], &figure, sizeof(figure)) == sizeof(figure);
	close(pipe_fds[0]);
	if (wait4(pid, &status, 0, &usage) != pid || status || !complete)
		fail("a measurement ended early");
	figure.peak_kib = usage.ru_maxrss;
	if (figure.per_second > bench->best.per_second)
		bench->best = figure;
}

int main(void)
{
	struct bench benches[] = {
		{ "bare sg_host_sendto", 0, false, .best = { .seconds = 0 } },
		{ "rsize 64 KiB, monitor on", 65536, true, .best = { .seconds = 0 } },
		{ "rsize 64 KiB, monitor off", 65536, false, .best = { .seconds = 0 } },
		{ "rsize 1 MiB, monitor on", 1048576, true, .best = { .seconds = 0 } },
		{ "rsize 1 MiB, monitor off", 1048576, false, .best = { .seconds = 0 } },
	};

	for (int round = 0; round < ROUNDS; round++) {
		for (guint i = 0; i < G_N_ELEMENTS(benches); i++)
			measure_in_a_process(&benches[i]);
	}
	printf("10 GiB sequential read, Linux 6.1 against samba-4.17, 10 Gbit/s, RTT 100 us\n");
	for (guint i = 0; i < G_N_ELEMENTS(benches); i++) {
		const struct figure *best = &benches[i].best;
		printf("%-26s %9.0f events/s  ratio to bare %.2f  %8lu events  %6.3f s  peak %4ld MB\n",
		       benches[i].name, best->per_second, best->per_second / benches[0].best.per_second,
		       (unsigned long)best->events, best->seconds, best->peak_kib / 1000);
	}
	for (guint i = 1; i < G_N_ELEMENTS(benches); i += 2)
		printf("monitor, %-17s %5.1f %% of the run's time\n",
		       benches[i].rsize == 65536 ? "rsize 64 KiB" : "rsize 1 MiB",
		       100 * (1 - benches[i + 1].best.seconds / benches[i].best.seconds));
	return 0;
}
