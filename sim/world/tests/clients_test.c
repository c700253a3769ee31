/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Several clients against one server. */

#include "sim/world/profile.h"
#include "sim/world/world.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(clients);

#define MIB UINT64_C(1048576)

static struct sim_point *point_new(uint32_t clients, const char *file)
{
	struct sim_point *point = g_new0(struct sim_point, 1);
	struct sim_read_job *job = &point->workload.jobs[0].read;
	g_autoptr(GError) error = NULL;

	sim_point_init(point);
	cr_assert(sim_profile_load("samba-4.17", &point->server, NULL, &error), "%s", error ? error->message : "");
	point->clients = clients;
	point->network.rtt_ns = 1000000;
	point->network.rate_bps = 1000000000;
	point->workload.job_count = 1;
	*job = (struct sim_read_job){ .file_bytes = 32 * MIB, .block_bytes = MIB };
	g_strlcpy(job->file, file, sizeof(job->file));
	return point;
}

static struct sim_result *run(struct sim_point *point)
{
	struct sim_result *result = g_new0(struct sim_result, 1);
	g_autoptr(GError) error = NULL;

	cr_assert(sim_world_run(point, NULL, result, &error), "%s", error ? error->message : "");
	cr_assert_eq(result->outcome, SIM_OUTCOME_FINISHED, "%s", result->failure);
	cr_expect_eq(result->violations, 0, "%s", result->violation[0].text);
	g_free(point);
	return result;
}

/* One engine a process: a test each. */
Test(clients, each_has_a_link_of_its_own)
{
	struct sim_result *result = run(point_new(4, "f?"));

	cr_expect_eq(result->clients, 4);
	cr_expect_eq(result->bytes, 4 * 32 * MIB);
	cr_expect_eq(result->channels, 4);
	cr_expect_float_eq(result->throughput_MBps, 4 * 118, 16, "%g MB/s", result->throughput_MBps);
	cr_expect_float_eq(result->slowest_client, 118, 4, "%g MB/s", result->slowest_client);
	cr_expect_gt(result->fairness, 0.99);
	g_free(result);
}

Test(clients, a_server_that_is_busy_is_shared)
{
	struct sim_point *point = point_new(4, "f?");

	point->server_cores = 1;
	point->server.read_cpu_ns_per_byte = 5; /* 200 MB/s at most */
	struct sim_result *result = run(point);
	cr_expect_leq(result->throughput_MBps, 200, "%g MB/s", result->throughput_MBps);
	cr_expect_gt(result->throughput_MBps, 150, "%g MB/s", result->throughput_MBps);
	cr_expect_gt(result->fairness, 0.95, "%g", result->fairness);
	cr_expect_lt(result->slowest_client, 60);
	g_free(result);
}

Test(clients, one_file_may_be_read_by_all)
{
	struct sim_result *result = run(point_new(3, "f"));

	cr_expect_eq(result->bytes, 3 * 32 * MIB);
	g_free(result);
}

Test(clients, what_is_measured_begins_together)
{
	struct sim_point *point = point_new(3, "f?");
	struct sim_job read = point->workload.jobs[0];

	point->workload.jobs[0] = (struct sim_job){ .kind = SIM_JOB_SLEEP, .sleep_ns = 1000000000 };
	point->workload.jobs[1] = read;
	point->workload.job_count = 2;
	point->workload.prepared = 1;
	struct sim_result *result = run(point);
	cr_expect_float_eq(result->throughput_MBps, 3 * 118, 16, "%g MB/s", result->throughput_MBps);
	cr_expect_eq(result->jobs[1].runs, 3);
	cr_expect_eq(result->commands, 3);
	g_free(result);
}

Test(clients, one_name_for_all_of_them_is_made_once_and_taken_in_turns)
{
	struct sim_point *point = point_new(4, "f");
	struct smb_ops_shell shell = { .mount_point = "/mnt" };
	char message[SMB_OPS_MESSAGE_MAX];

	point->workload.jobs[0] = (struct sim_job){ .kind = SIM_JOB_COMMAND };
	cr_assert(smb_ops_parse("rm /mnt/a", &shell, &point->workload.jobs[0].command, NULL, message));
	strcpy(point->workload.names[0].path, "a");
	point->workload.name_count = 1;
	struct sim_result *result = run(point);
	cr_expect_eq(result->commands, 4);
	cr_expect_eq(result->command_failures, 3, "one of them takes it away: %u",
		     (unsigned int)result->command_failures);
	g_free(result);
}
