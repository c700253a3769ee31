/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* dd of= in the simulated network: what is counted, and when. */

#include "sim/world/profile.h"
#include "sim/world/world.h"

#include <criterion/criterion.h>

#define MIB (UINT64_C(1) << 20)

static struct sim_point point;
static struct sim_result result;

static void prepare(const char *kernel, const char *options)
{
	struct smb_mount_report report;
	GError *error = NULL;

	sim_point_init(&point);
	point.policy = smb_era_find(kernel)->policy;
	cr_assert(sim_profile_load("samba-4.17", &point.server, NULL, &error), "%s", error ? error->message : "");
	cr_assert_eq(smb_mount_options_parse(options, &point.policy, &point.mount, &report), SMB_MOUNT_OK);
	point.network.rtt_ns = 10000000;
	point.network.rate_bps = 1000000000;
	point.workload.job_count = 1;
	point.workload.jobs[0] = (struct sim_job){ .kind = SIM_JOB_WRITE };
	point.workload.jobs[0].write = (struct sim_write_job){
		.file = "f", .block_bytes = MIB, .count = 64, .truncate = true, .sync_end = true
	};
}

static void run(void)
{
	GError *error = NULL;

	cr_assert(sim_world_run(&point, NULL, &result, &error), "%s", error ? error->message : "");
	cr_assert_eq(result.outcome, SIM_OUTCOME_FINISHED, "%s", result.failure);
	cr_expect_eq(result.violations, 0, "%s", result.violation[0].text);
}

static double parts(const struct sim_reader_time *time)
{
	return (double)(time->wire_ns + time->server_ns + time->request_ns + time->credits_ns + time->nothing_ns +
			time->client_cpu_ns) /
	       1e9;
}

Test(write_job, a_link_limits_what_is_written_and_synced)
{
	prepare("6.1", "vers=3.1.1");
	run();
	cr_expect_eq(result.bytes, 64 * MIB);
	cr_expect(result.throughput_MBps > 60 && result.throughput_MBps < 119.6, "%g", result.throughput_MBps);
	cr_expect_float_eq(parts(&result.reader_time), result.seconds, 1e-9);
	cr_expect_gt(result.reader_time.wire_ns, result.reader_time.server_ns);
	cr_expect_geq(result.reads_per_channel[0], 16, "WRITEs of at most 4 MiB");
}

/* close(2) writes back what write(2) left dirty, so it counts without conv=fsync too; only the FLUSH is spared. */
Test(write_job, what_is_dirty_at_close_is_counted)
{
	prepare("6.1", "vers=3.1.1");
	point.workload.jobs[0].write.sync_end = false;
	run();
	cr_expect_eq(result.bytes, 64 * MIB);
	cr_expect(result.throughput_MBps > 60 && result.throughput_MBps < 119.6, "%g", result.throughput_MBps);
}

Test(write_job, more_than_memory_allows_to_be_dirty_is_written_on_the_way)
{
	prepare("6.1", "vers=3.1.1");
	point.client_memory_bytes = 64 * MIB; /* background from 6.4 MiB on */
	run();
	cr_expect_eq(result.bytes, 64 * MIB);
	cr_expect_gt(result.stall_max_ns, 0);
	cr_expect(result.throughput_MBps > 30 && result.throughput_MBps < 119.6, "%g", result.throughput_MBps);
}

Test(write_job, synchronous_writes_pay_a_round_trip_each)
{
	prepare("2.6.39", "vers=2.1,wsize=65536");
	point.workload.jobs[0].write.count = 1;
	run();
	/* 19 WRITEs of 14 pages, and the FLUSH and CLOSE */
	cr_expect_eq(result.reads_per_channel[0], 19);
	cr_expect_float_eq(result.seconds, 21 * 0.0105, 0.02);
}

Test(write_job, direct_writes_go_call_by_call)
{
	prepare("6.1", "vers=3.1.1");
	point.workload.jobs[0].write.direct = true;
	point.workload.jobs[0].write.count = 8;
	run();
	cr_expect_eq(result.reads_per_channel[0], 8);
	cr_expect_eq(result.inflight_max, 1);
	cr_expect_gt(result.seconds, 8 * 0.010);
}

Test(write_job, smb1_writes_with_write_andx)
{
	prepare("3.0", "vers=1.0");
	run();
	cr_expect_eq(result.bytes, 64 * MIB);
	cr_expect_leq(result.inflight_max, 50);
}
