/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The checker beside Spin on experiments/check/compound.ini, one thread each: states per second of CPU time (system time
 * included, so that a busy machine does not matter) and memory. Spin runs over the same C cores (spin_host.c), as it
 * would by itself, where every step runs a core, and with the checker's memory of what each event did, which leaves
 * nothing but the two searches to compare.
 */

#include "model/explore.h"
#include "model/tests/systems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYSTEM "compound"
#define TIMES 3
#define STATES_OF_CORES "200000" /* where every step runs a core, all states would take a minute */

struct run {
	uint64_t states;
	uint64_t transitions;
	int is_complete;
	double seconds; /* of CPU */
	double bytes; /* largest resident set */
};

static void check_here(void)
{
	struct model_config config;
	struct model_result result;
	GError *error = NULL;
	struct model *model;

	system_compound(&config);
	model = model_new(&config, &error);
	if (!model)
		g_error("%s", error->message);
	model_explore(model, &(struct model_options){ .jobs = 1 }, &result);
	printf("states %" G_GUINT64_FORMAT " transitions %" G_GUINT64_FORMAT " complete %d\n",
	       (guint64)result.numbers.states, (guint64)result.numbers.transitions, result.outcome == MODEL_HOLDS);
	fflush(stdout);
}

/* In a process of its own, so that its CPU time and memory are its own; NULL: the checker. */
static void become(const char *const *arguments, int output)
{
	dup2(output, STDOUT_FILENO);
	if (!arguments) {
		check_here();
		_exit(0);
	}
	execv(arguments[0], (char *const *)arguments);
	perror(arguments[0]);
	_exit(3);
}

static void read_numbers(FILE *output, struct run *run)
{
	char line[512];

	while (fgets(line, sizeof(line), output))
		sscanf(line, "states %lu transitions %lu complete %d", &run->states, &run->transitions,
		       &run->is_complete);
}

static struct run measure(const char *const *arguments)
{
	struct run run = { 0 };
	struct rusage used;
	int ends[2], status;
	pid_t child;
	FILE *output;

	if (pipe(ends) || (child = fork()) < 0) {
		perror("model bench");
		exit(3);
	}
	if (!child)
		become(arguments, ends[1]);
	close(ends[1]);
	output = fdopen(ends[0], "r");
	read_numbers(output, &run);
	fclose(output);
	if (wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) || !run.states) {
		fprintf(stderr, "model bench: %s did not get through\n", arguments ? arguments[0] : "the checker");
		exit(3);
	}
	run.seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	run.bytes = (double)used.ru_maxrss * 1024;
	return run;
}

/* Each several times in turn, as other work on the machine may be in the way of any one. */
static void keep_best(struct run *best, struct run run)
{
	if (!best->states || run.seconds < best->seconds)
		*best = run;
}

static double rate(const struct run *run)
{
	return (double)run->states / run->seconds;
}

static void print(const char *name, const struct run *run)
{
	printf("  %-34s %8" G_GUINT64_FORMAT " %9.2f %9.0f %11.1f%s\n", name, (guint64)run->states, run->seconds,
	       rate(run), run->bytes / (double)run->states, run->is_complete ? "" : "  (a part)");
}

int main(void)
{
	const char *cores[] = { SMB_SPIN_PROGRAM, SYSTEM, "forget", STATES_OF_CORES, NULL };
	const char *memory[] = { SMB_SPIN_PROGRAM, SYSTEM, "remember", "0", NULL };
	struct run checker = { 0 }, spin = { 0 }, remembering = { 0 };

	if (!*cores[0]) {
		fprintf(stderr, "model bench: spin was not there when this was configured; apt-get install spin, "
				"and run ./lab bench again\n");
		return 3;
	}
	for (int i = 0; i < TIMES; i++) {
		keep_best(&checker, measure(NULL));
		keep_best(&spin, measure(cores));
		keep_best(&remembering, measure(memory));
	}
	printf("model: %s, one thread, the best of %d\n", SYSTEM, TIMES);
	printf("  %-34s %8s %9s %9s %11s\n", "", "states", "CPU s", "states/s", "MB/million");
	print("smblab check", &checker);
	print("Spin, cores in every step", &spin);
	print("Spin, remembering effects", &remembering);
	printf("  smblab check / Spin: %.1f; with the checker's memory of effects in Spin: %.2f\n",
	       rate(&checker) / rate(&spin), rate(&checker) / rate(&remembering));
	if (checker.states == remembering.states && checker.transitions == remembering.transitions)
		return 0;
	fprintf(stderr, "model bench: the checker found %" G_GUINT64_FORMAT " states, Spin %" G_GUINT64_FORMAT "\n",
		(guint64)checker.states, (guint64)remembering.states);
	return 1;
}
