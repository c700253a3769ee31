/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/result_json.h"
#include "experiments/runner.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(runner, .timeout = 60);

#define POINTS 8

/* Stand-ins for a simulation; the point's seed says which point it is. */
static bool work_well(const struct sim_point *point, const struct sim_trace *trace, struct sim_result *result,
		      GError **error)
{
	(void)trace;
	(void)error;
	/* later points finish first */
	usleep((useconds_t)(20000 / (point->seed + 1)));
	result->outcome = SIM_OUTCOME_FINISHED;
	result->bytes = point->seed * 100;
	result->sample_count = SIM_SAMPLES_MAX;
	result->samples[SIM_SAMPLES_MAX - 1].bytes_done = point->seed;
	return true;
}

static bool work_badly(const struct sim_point *point, const struct sim_trace *trace, struct sim_result *result,
		       GError **error)
{
	if (point->seed == 2)
		raise(SIGKILL);
	if (point->seed == 3)
		_exit(7);
	if (point->seed == 4)
		sleep(1000);
	return work_well(point, trace, result, error);
}

static bool work_without_memory(const struct sim_point *point, const struct sim_trace *trace, struct sim_result *result,
				GError **error)
{
	if (point->seed != 5)
		return work_well(point, trace, result, error);
	g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "no memory for point 5");
	return false;
}

static bool work_long(const struct sim_point *point, const struct sim_trace *trace, struct sim_result *result,
		      GError **error)
{
	(void)point;
	(void)trace;
	(void)result;
	(void)error;
	sleep(1000);
	return true;
}

struct seen {
	guint count;
	struct sim_result *results[POINTS];
	bool lasting[POINTS];
};

static bool note(void *context, guint index, const struct sim_result *result, bool lasting, GError **error)
{
	struct seen *seen = context;

	(void)error;
	cr_assert_null(seen->results[index], "point %u came twice", index);
	seen->results[index] = g_memdup2(result, sizeof(*result));
	seen->lasting[index] = lasting;
	seen->count++;
	return true;
}

static bool run(struct lab_runner *runner, struct seen *seen, GError **error)
{
	static struct sim_point points[POINTS];
	const struct sim_point *list[POINTS];

	for (guint i = 0; i < POINTS; i++) {
		points[i].seed = i;
		list[i] = &points[i];
	}
	runner->done = note;
	runner->context = seen;
	return lab_runner_run(runner, list, POINTS, error);
}

static void seen_clear(struct seen *seen)
{
	for (guint i = 0; i < POINTS; i++)
		g_free(seen->results[i]);
}

Test(runner, every_point_comes_once_whole_and_under_its_index)
{
	for (guint jobs = 1; jobs <= 4; jobs += 3) {
		struct lab_runner runner = { .jobs = jobs, .work = work_well };
		struct seen seen = { 0 };

		cr_assert(run(&runner, &seen, NULL));
		cr_assert_eq(seen.count, POINTS);
		for (guint i = 0; i < POINTS; i++) {
			cr_assert_eq(seen.results[i]->bytes, i * 100);
			cr_assert_eq(seen.results[i]->samples[SIM_SAMPLES_MAX - 1].bytes_done, i);
			cr_assert(seen.lasting[i]);
		}
		seen_clear(&seen);
	}
}

Test(runner, a_crashed_an_early_ended_and_a_stuck_worker_give_rows_that_say_so)
{
	struct lab_runner runner = { .jobs = 3, .work = work_badly, .wall_limit_s = 0.5 };
	struct seen seen = { 0 };

	cr_assert(run(&runner, &seen, NULL));
	cr_assert_eq(seen.count, POINTS);
	for (guint i = 0; i < POINTS; i++) {
		bool bad = i >= 2 && i <= 4;

		cr_assert_eq(seen.results[i]->outcome, bad ? SIM_OUTCOME_FAILED : SIM_OUTCOME_FINISHED);
		cr_assert_eq(seen.lasting[i], !bad);
	}
	cr_assert(strstr(seen.results[2]->failure, "crashed: Killed"), "%s", seen.results[2]->failure);
	cr_assert(strstr(seen.results[3]->failure, "exit status 7"), "%s", seen.results[3]->failure);
	cr_assert(strstr(seen.results[4]->failure, "given up after 0.5 s"), "%s", seen.results[4]->failure);
	seen_clear(&seen);
}

Test(runner, an_environment_error_in_a_worker_ends_the_run)
{
	struct lab_runner runner = { .jobs = 2, .work = work_without_memory };
	struct seen seen = { 0 };
	g_autoptr(GError) error = NULL;

	cr_assert_not(run(&runner, &seen, &error));
	cr_assert_str_eq(error->message, "no memory for point 5");
	cr_assert_eq(lab_exit_code(error), 3);
	seen_clear(&seen);
}

Test(runner, a_signal_ends_the_workers_and_is_told)
{
	struct lab_runner runner = { .jobs = 2, .work = work_long };
	struct seen seen = { 0 };
	g_autoptr(GError) error = NULL;
	pid_t parent = getpid();
	pid_t killer = fork();

	if (killer == 0) {
		usleep(300000);
		kill(parent, SIGTERM);
		_exit(0);
	}
	cr_assert_not(run(&runner, &seen, &error));
	cr_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INTERRUPTED));
	cr_assert_eq(lab_exit_code(error), 130);
	cr_assert_eq(seen.count, 0);
}

Test(runner, a_result_survives_json_to_the_bit)
{
	struct sim_result *result = g_new0(struct sim_result, 1);
	struct sim_result *again = g_new0(struct sim_result, 1);
	g_autofree char *json = NULL;
	g_autofree char *json_again = NULL;

	result->outcome = SIM_OUTCOME_STUCK;
	strcpy(result->failure, "nothing moves: \"quoted\" \\ \xc3\xa9\n");
	result->seconds = 0.1 + 0.2;
	result->throughput_MBps = 1.0 / 3;
	result->bytes = UINT64_C(1) << 62;
	result->credits_min = -3;
	result->violations = 20;
	result->violation_count = 2;
	result->violation[1] = (struct smb_violation){ .rule = SMB_RULE_C6, .event = 7, .message_id = UINT64_MAX };
	strcpy(result->violation[1].text, "a credit too many");
	result->sample_count = 2;
	result->samples[1] = (struct sim_sample){ 5, 6, 7, { -1, 2, 3, 4 }, 9 };
	result->reader_time.nothing_ns = 77;
	result->reads_per_channel[15] = 3;
	json = lab_result_to_json(result);
	cr_assert(lab_result_from_json(json, again, NULL));
	json_again = lab_result_to_json(again);
	cr_assert_str_eq(json, json_again);
	cr_assert_eq(again->seconds, result->seconds);
	cr_assert_eq(again->throughput_MBps, result->throughput_MBps);
	cr_assert_str_eq(again->failure, result->failure);
	cr_assert_str_eq(again->violation[1].text, "a credit too many");
	cr_assert_eq(again->violation[1].message_id, UINT64_MAX);
	cr_assert_eq(again->samples[1].credits[0], -1);
	cr_assert_eq(again->reader_time.nothing_ns, 77);
	g_free(result);
	g_free(again);
}

Test(runner, a_damaged_result_is_refused)
{
	static const char *const damaged[] = { "", "{}", "[]", "{\"outcome\":0}", "{\"outcome\":[]}", "nonsense" };
	struct sim_result *result = g_new0(struct sim_result, 1);

	for (size_t i = 0; i < G_N_ELEMENTS(damaged); i++) {
		g_autoptr(GError) error = NULL;

		cr_assert_not(lab_result_from_json(damaged[i], result, &error), "%s", damaged[i]);
		cr_assert(error);
	}
	g_free(result);
}
