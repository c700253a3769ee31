/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the reader waited for, and the run over time: rules that hold whatever the client does. */

#include "sim/world/profile.h"
#include "sim/world/world.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(reader_time);

static void run(const char *kernel, bool direct, uint32_t block_bytes, struct sim_result *result)
{
	g_autofree struct sim_point *point = g_new0(struct sim_point, 1);
	struct sim_read_job *job = &point->workload.jobs[0].read;
	g_autoptr(GError) error = NULL;

	sim_point_init(point);
	point->policy = smb_era_find(kernel)->policy;
	cr_assert(sim_profile_load("samba-4.17", &point->server, NULL, &error), "%s", error ? error->message : "");
	point->network.rtt_ns = 10000000;
	point->network.rate_bps = 1000000000;
	point->workload.job_count = 1;
	g_strlcpy(job->file, "file", sizeof(job->file));
	job->file_bytes = 8 << 20;
	job->block_bytes = block_bytes;
	job->direct = direct;
	cr_assert(sim_world_run(point, NULL, result, &error));
	cr_assert_eq(result->outcome, SIM_OUTCOME_FINISHED, "%s", result->failure);
}

static void expect_no_time_with_nothing(const char *kernel, bool direct, uint32_t block_bytes)
{
	g_autofree struct sim_result *result = g_new0(struct sim_result, 1);

	run(kernel, direct, block_bytes, result);
	cr_expect_lt((double)result->reader_time.nothing_ns, 0.01 * result->seconds * 1e9, "%g s of %g s",
		     (double)result->reader_time.nothing_ns / 1e9, result->seconds);
}

/* One engine a process: a test each. */
Test(reader_time, a_window_filled_read_by_read_is_not_nothing_in_flight)
{
	expect_no_time_with_nothing("2.6.39", false, 1 << 20);
}

Test(reader_time, the_rest_of_a_direct_read_is_not_nothing_in_flight)
{
	expect_no_time_with_nothing("6.1", true, 8 << 20);
}

Test(reader_time, readahead_leaves_no_time_with_nothing_in_flight)
{
	expect_no_time_with_nothing("6.1", false, 1 << 20);
}

Test(reader_time, samples_are_evenly_spaced_and_show_what_held)
{
	g_autofree struct sim_result *result = g_new0(struct sim_result, 1);
	uint64_t step_ns;
	double in_flight = 0;

	run("2.6.39", false, 1 << 20, result);
	cr_assert_gt(result->sample_count, SIM_SAMPLES_MAX / 2 - 1);
	step_ns = result->samples[1].when_ns - result->samples[0].when_ns;
	for (uint32_t i = 0; i < result->sample_count; i++) {
		cr_assert_eq(result->samples[i].when_ns, result->samples[0].when_ns + i * step_ns);
		in_flight += result->samples[i].reads_in_flight;
	}
	/* one READ waits for the other: between them there is hardly a moment without one */
	cr_assert_float_eq(in_flight / result->sample_count, 1, 0.2, "%g", in_flight / result->sample_count);
}
