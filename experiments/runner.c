/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOBS_MAX 256

/* What a worker sends: this, in one piece. Both ends are the same program. */
struct parcel {
	bool ran; /* false: `result.failure` is why the environment refused */
	struct sim_result result;
};

struct worker {
	pid_t pid; /* 0 = free */
	int pipe; /* read end */
	guint index; /* of its point */
	gint64 started_us;
	bool given_up;
	GByteArray *received;
};

struct crew {
	const struct lab_runner *runner;
	const struct sim_point *const *points;
	guint count, next; /* points; the first not yet given out */
	guint slots, busy;
	struct worker workers[JOBS_MAX];
	int signals; /* signalfd */
	sigset_t caught, before;
};

static bool environment(GError **error, const char *what)
{
	g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "%s: %s", what, g_strerror(errno));
	return false;
}

static void send_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t sent = write(fd, at, size);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			_exit(1);
		at += sent;
		size -= (size_t)sent;
	}
}

/* The worker's whole life. It must not outlive the program, and leaves Ctrl-C to it. */
static void work(const struct crew *crew, guint index, int fd) G_GNUC_NORETURN;
static void work(const struct crew *crew, guint index, int fd)
{
	lab_work_fn run = crew->runner->work ? crew->runner->work : sim_world_run;
	struct parcel *parcel = g_new0(struct parcel, 1);
	GError *error = NULL;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &crew->before, NULL);
	/* standard output is for results; what a library prints there goes to the log */
	dup2(STDERR_FILENO, STDOUT_FILENO);
	parcel->ran = run(crew->points[index], NULL, &parcel->result, &error);
	if (!parcel->ran)
		g_strlcpy(parcel->result.failure, error ? error->message : "no reason given",
			  sizeof(parcel->result.failure));
	send_all(fd, parcel, sizeof(*parcel));
	_exit(0);
}

static bool worker_start(struct crew *crew, struct worker *worker, GError **error)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return environment(error, "pipe");
	fflush(NULL);
	worker->pid = fork();
	if (worker->pid < 0) {
		worker->pid = 0;
		close(ends[0]);
		close(ends[1]);
		return environment(error, "fork");
	}
	if (worker->pid == 0) {
		close(ends[0]);
		work(crew, crew->next, ends[1]);
	}
	close(ends[1]);
	worker->pipe = ends[0];
	worker->index = crew->next++;
	worker->started_us = g_get_monotonic_time();
	worker->given_up = false;
	worker->received = g_byte_array_new();
	crew->busy++;
	return true;
}

static void worker_end(struct crew *crew, struct worker *worker, int *status)
{
	while (waitpid(worker->pid, status, 0) < 0 && errno == EINTR)
		;
	close(worker->pipe);
	worker->pid = 0;
	crew->busy--;
}

static void describe_end(const struct crew *crew, const struct worker *worker, int status, struct sim_result *result)
{
	result->outcome = SIM_OUTCOME_FAILED;
	if (worker->given_up)
		snprintf(result->failure, sizeof(result->failure), "given up after %g s of wall time",
			 crew->runner->wall_limit_s);
	else if (WIFSIGNALED(status))
		snprintf(result->failure, sizeof(result->failure), "the worker crashed: %s",
			 strsignal(WTERMSIG(status)));
	else
		snprintf(result->failure, sizeof(result->failure), "the worker ended early with exit status %d",
			 WEXITSTATUS(status));
}

/* The pipe is at its end: whole parcel or not, the point has its result now. */
static bool worker_finish(struct crew *crew, struct worker *worker, GError **error)
{
	g_autoptr(GByteArray) received = worker->received;
	g_autofree struct parcel *parcel = g_new0(struct parcel, 1);
	bool whole = received->len == sizeof(*parcel);
	int status = 0;

	worker_end(crew, worker, &status);
	if (whole)
		memcpy(parcel, received->data, sizeof(*parcel));
	else
		describe_end(crew, worker, status, &parcel->result);
	if (whole && !parcel->ran) {
		g_set_error_literal(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, parcel->result.failure);
		return false;
	}
	return crew->runner->done(crew->runner->context, worker->index, &parcel->result, whole, error);
}

static bool worker_read(struct crew *crew, struct worker *worker, GError **error)
{
	guint8 buffer[65536];
	ssize_t got = read(worker->pipe, buffer, sizeof(buffer));

	if (got < 0 && errno == EINTR)
		return true;
	if (got > 0) {
		g_byte_array_append(worker->received, buffer, (guint)got);
		return true;
	}
	return worker_finish(crew, worker, error);
}

static void give_up_the_slow(struct crew *crew)
{
	double limit = crew->runner->wall_limit_s;
	gint64 now = g_get_monotonic_time();

	for (guint i = 0; limit > 0 && i < crew->slots; i++) {
		struct worker *worker = &crew->workers[i];

		if (worker->pid && !worker->given_up && (double)(now - worker->started_us) > limit * 1e6) {
			worker->given_up = true;
			kill(worker->pid, SIGKILL);
		}
	}
}

static void kill_all(struct crew *crew)
{
	for (guint i = 0; i < crew->slots; i++) {
		struct worker *worker = &crew->workers[i];
		int status;

		if (!worker->pid)
			continue;
		kill(worker->pid, SIGKILL);
		g_byte_array_unref(worker->received);
		worker_end(crew, worker, &status);
	}
}

/* Wait for a signal or for anything from a worker, and deal with it. */
static bool crew_turn(struct crew *crew, GError **error)
{
	struct pollfd polled[JOBS_MAX + 1] = { { .fd = crew->signals, .events = POLLIN } };

	for (guint i = 0; i < crew->slots; i++)
		polled[i + 1] = (struct pollfd){ .fd = crew->workers[i].pid ? crew->workers[i].pipe : -1,
						 .events = POLLIN };
	if (poll(polled, crew->slots + 1, 200) < 0 && errno != EINTR)
		return environment(error, "poll");
	if (polled[0].revents) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INTERRUPTED, "interrupted");
		return false;
	}
	for (guint i = 0; i < crew->slots; i++)
		if (crew->workers[i].pid && polled[i + 1].revents && !worker_read(crew, &crew->workers[i], error))
			return false;
	give_up_the_slow(crew);
	return true;
}

static bool crew_fill(struct crew *crew, GError **error)
{
	for (guint i = 0; i < crew->slots && crew->next < crew->count; i++)
		if (!crew->workers[i].pid && !worker_start(crew, &crew->workers[i], error))
			return false;
	return true;
}

static bool crew_run(struct crew *crew, GError **error)
{
	while (crew->next < crew->count || crew->busy > 0)
		if (!crew_fill(crew, error) || !crew_turn(crew, error))
			return false;
	return true;
}

bool lab_runner_run(const struct lab_runner *runner, const struct sim_point *const *points, guint count, GError **error)
{
	struct crew *crew = g_new0(struct crew, 1);
	guint jobs = runner->jobs ? runner->jobs : g_get_num_processors();
	bool ran;

	crew->runner = runner;
	crew->points = points;
	crew->count = count;
	crew->slots = MIN(jobs, JOBS_MAX);
	sigemptyset(&crew->caught);
	sigaddset(&crew->caught, SIGINT);
	sigaddset(&crew->caught, SIGTERM);
	sigprocmask(SIG_BLOCK, &crew->caught, &crew->before);
	crew->signals = signalfd(-1, &crew->caught, SFD_CLOEXEC);
	ran = crew->signals >= 0 ? crew_run(crew, error) : environment(error, "signalfd");
	kill_all(crew);
	if (crew->signals >= 0)
		close(crew->signals);
	if (!ran && error && g_error_matches(*error, LAB_ERROR, LAB_ERROR_INTERRUPTED)) {
		/* the signal has been answered; left pending it would end the program before it can say so */
		struct timespec none = { 0 };

		sigtimedwait(&crew->caught, NULL, &none);
	}
	sigprocmask(SIG_SETMASK, &crew->before, NULL);
	g_free(crew);
	return ran;
}
