/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shell commands in the simulation: their times over an exact network, and what is counted. */

#include "sim/world/profile.h"
#include "sim/world/world.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(commands);

#define RTT_NS UINT64_C(20000000)
#define NS_PER_S UINT64_C(1000000000)

static const struct smb_ops_shell shell = { .mount_point = "/mnt", .local_bytes = 10 };

static struct sim_job *add(struct sim_workload *workload, const char *line)
{
	struct sim_job *job = &workload->jobs[workload->job_count++];
	char message[SMB_OPS_MESSAGE_MAX];

	job->kind = SIM_JOB_COMMAND;
	cr_assert(smb_ops_parse(line, &shell, &job->command, NULL, message), "%s", message);
	return job;
}

static void add_file(struct sim_workload *workload, const char *path, uint64_t to)
{
	struct sim_name *name = &workload->names[workload->name_count++];

	*name = (struct sim_name){ .bytes = 10, .from = 1, .to = to };
	g_strlcpy(name->path, path, sizeof(name->path));
}

static struct sim_point *point_new(const char *kernel)
{
	struct sim_point *point = g_new0(struct sim_point, 1);
	g_autoptr(GError) error = NULL;

	sim_point_init(point);
	point->policy = smb_era_find(kernel)->policy;
	cr_assert(sim_profile_load("samba-4.17", &point->server, NULL, &error), "%s", error ? error->message : "");
	point->network.rtt_ns = RTT_NS;
	point->network.rate_bps = 0;
	point->client_costs.command_cpu_ns = 0;
	return point;
}

static struct sim_result *run(struct sim_point *point)
{
	struct sim_result *result = g_new0(struct sim_result, 1);
	g_autoptr(GError) error = NULL;

	cr_assert(sim_world_run(point, NULL, result, &error), "%s", error ? error->message : "");
	g_free(point);
	return result;
}

/* One engine a process: a test each. */
Test(commands, a_command_takes_a_round_trip_for_each_pair)
{
	struct sim_point *point = point_new("4.15");

	add(&point->workload, "rm /mnt/a");
	add_file(&point->workload, "a", 1);
	struct sim_result *result = run(point);
	cr_assert_eq(result->outcome, SIM_OUTCOME_FINISHED, "%s", result->failure);
	cr_expect_eq(result->violations, 0, "%s", result->violation[0].text);
	cr_expect_eq(result->pairs, 5);
	cr_expect_eq(result->pdus, 10);
	cr_expect_eq(result->jobs[0].runs, 1);
	cr_expect_eq(result->jobs[0].pairs, 5);
	cr_expect_float_eq(result->seconds, 5 * 0.020, 0.001, "%g s", result->seconds);
	cr_expect_eq(result->reader_time.nothing_ns, 0, "a request was under way all the time");
	g_free(result);
}

Test(commands, what_is_prepared_is_not_measured)
{
	struct sim_point *point = point_new("4.20");

	add(&point->workload, "mkdir /mnt/d");
	point->workload.jobs[point->workload.job_count++] = (struct sim_job){ .kind = SIM_JOB_SLEEP,
									      .sleep_ns = 2 * NS_PER_S };
	point->workload.prepared = 2;
	add(&point->workload, "rmdir /mnt/d");
	struct sim_result *result = run(point);
	cr_assert_eq(result->outcome, SIM_OUTCOME_FINISHED, "%s", result->failure);
	cr_expect_eq(result->pairs, 2);
	cr_expect_eq(result->jobs[0].pairs, 3, "mkdir's own bill is told all the same");
	cr_expect_float_eq(result->seconds, 2 * 0.020, 0.001, "%g s", result->seconds);
	g_free(result);
}

Test(commands, a_loop_counts_in_names_and_an_error_does_not_end_it)
{
	struct sim_point *point = point_new("6.1");

	add(&point->workload, "rm /mnt/f1");
	add(&point->workload, "rm /mnt/f");
	strcpy(point->workload.jobs[1].command.source, "f*");
	point->workload.loops[0] = (struct sim_loop){ .first = 1, .end = 2, .from = 1, .to = 5 };
	point->workload.loop_count = 1;
	add_file(&point->workload, "f*", 5);
	struct sim_result *result = run(point);
	cr_assert_eq(result->outcome, SIM_OUTCOME_FINISHED, "%s", result->failure);
	cr_expect_eq(result->jobs[0].failures, 0);
	cr_expect_eq(result->jobs[1].runs, 5);
	cr_expect_eq(result->jobs[1].failures, 1, "f1 is gone");
	cr_expect_eq(result->jobs[1].error, SMB_OPS_NOT_FOUND);
	g_free(result);
}

Test(commands, the_share_can_be_left_and_mounted_again)
{
	struct sim_point *point = point_new("6.1");

	add(&point->workload, "mount");
	add(&point->workload, "stat /mnt/a");
	add(&point->workload, "umount /mnt");
	add(&point->workload, "mount");
	add(&point->workload, "stat /mnt/a");
	add_file(&point->workload, "a", 1);
	struct sim_result *result = run(point);
	cr_assert_eq(result->outcome, SIM_OUTCOME_FINISHED, "%s", result->failure);
	cr_expect_eq(result->violations, 0, "%s", result->violation[0].text);
	cr_expect_eq(result->jobs[0].pairs, 18);
	cr_expect_eq(result->jobs[2].pairs, 4);
	cr_expect_eq(result->jobs[3].pairs, 18, "%u", (unsigned int)result->jobs[3].pairs);
	cr_expect_eq(result->jobs[4].pairs, 1, "nothing was cached: %u", (unsigned int)result->jobs[4].pairs);
	g_free(result);
}

Test(commands, a_command_without_a_mount_cannot_be)
{
	struct sim_point *point = point_new("6.1");

	add(&point->workload, "umount /mnt");
	add(&point->workload, "stat /mnt/a");
	struct sim_result *result = run(point);
	cr_assert_eq(result->outcome, SIM_OUTCOME_IMPOSSIBLE);
	cr_expect(strstr(result->failure, "not mounted"), "%s", result->failure);
	g_free(result);
}

Test(commands, reading_and_commands_share_one_mount)
{
	struct sim_point *point = point_new("6.1");
	struct sim_job *job = &point->workload.jobs[point->workload.job_count++];

	job->read = (struct sim_read_job){ .file = "big", .file_bytes = 8 << 20, .block_bytes = 1 << 20 };
	add(&point->workload, "stat /mnt/big");
	add(&point->workload, "rm /mnt/big");
	struct sim_result *result = run(point);
	cr_assert_eq(result->outcome, SIM_OUTCOME_FINISHED, "%s", result->failure);
	cr_expect_eq(result->violations, 0, "%s", result->violation[0].text);
	cr_expect_eq(result->bytes, 8 << 20);
	cr_expect_eq(result->jobs[2].failures, 0);
	cr_expect_eq(result->jobs[1].pairs, 1);
	g_free(result);
}
