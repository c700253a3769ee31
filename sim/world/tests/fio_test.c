/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Jobs of fio: what goes over the wire, and when. */

#include "protocol/wire/message.h"
#include "sim/world/profile.h"
#include "sim/world/world.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(fio);

#define KIB UINT64_C(1024)
#define MIB UINT64_C(1048576)
#define MS UINT64_C(1000000)

struct heard {
	guint reads, writes, flushes;
	GHashTable *offsets; /* of READs, in pages */
	GString *order;
};

static void hear(void *context, uint64_t when_ns, uint32_t channel, enum sim_side from, const struct smb_pdu *pdu)
{
	struct heard *heard = context;
	struct smb_chain_reader reader;
	struct smb2_message message;

	(void)when_ns;
	(void)channel;
	smb_chain_read(&reader, pdu);
	while (from == SIM_CLIENT && smb_chain_next(&reader, &message) == SMB_WIRE_OK) {
		heard->writes += message.kind == SMB2_BODY_WRITE_REQ;
		heard->flushes += message.kind == SMB2_BODY_FLUSH_REQ;
		if (message.kind != SMB2_BODY_READ_REQ)
			continue;
		heard->reads++;
		g_hash_table_add(heard->offsets, GUINT_TO_POINTER(message.body.read_req.offset / 4096 + 1));
		g_string_append_printf(heard->order, "%" G_GUINT64_FORMAT " ", (guint64)message.body.read_req.offset);
	}
}

static struct sim_fio_job job_of(enum sim_direction direction, enum sim_pattern pattern)
{
	return (struct sim_fio_job){
		.file = "f",
		.file_bytes = 4 * MIB,
		.direction = direction,
		.read_percent = 50,
		.pattern = pattern,
		.block_bytes = 4 * KIB,
		.region_bytes = MIB,
		.calls = 256,
		.copies = 1,
		.depth = 1,
		.direct = true,
		.think_blocks = 1,
	};
}

static struct sim_result *run(const struct sim_fio_job *jobs, guint count, struct heard *heard)
{
	struct sim_point *point = g_new0(struct sim_point, 1);
	struct sim_result *result = g_new0(struct sim_result, 1);
	const struct sim_trace trace = { .pdu = hear, .context = heard };
	g_autoptr(GError) error = NULL;

	sim_point_init(point);
	cr_assert(sim_profile_load("samba-4.17", &point->server, NULL, &error), "%s", error ? error->message : "");
	point->network.rtt_ns = MS;
	point->network.rate_bps = 0;
	point->network.tcp[SIM_CLIENT].nagle = false;
	for (guint i = 0; i < count; i++)
		point->workload.jobs[i] = (struct sim_job){ .kind = SIM_JOB_FIO, .fio = jobs[i] };
	point->workload.job_count = count;
	heard->offsets = g_hash_table_new(NULL, NULL);
	heard->order = g_string_new(NULL);
	cr_assert(sim_world_run(point, &trace, result, &error), "%s", error ? error->message : "");
	cr_assert_eq(result->outcome, SIM_OUTCOME_FINISHED, "%s", result->failure);
	cr_expect_eq(result->violations, 0, "%s", result->violation[0].text);
	g_free(point);
	return result;
}

/* One engine a process: a test each. */
Test(fio, a_random_reader_takes_each_block_once_one_round_trip_each)
{
	struct sim_fio_job job = job_of(SIM_READING, SIM_RANDOM);
	struct heard heard = { 0 };
	struct sim_result *result = run(&job, 1, &heard);

	cr_expect_eq(heard.reads, 256);
	cr_expect_eq(g_hash_table_size(heard.offsets), 256);
	cr_expect(!g_str_has_prefix(heard.order->str, "0 4096 8192 "), "%s", heard.order->str);
	cr_expect_eq(result->bytes, MIB);
	cr_expect_float_eq(result->seconds, 0.256, 0.02, "%g s", result->seconds);
	g_free(result);
}

Test(fio, blocks_may_come_again_when_they_are_drawn)
{
	struct sim_fio_job job = job_of(SIM_READING, SIM_RANDOM);
	struct heard heard = { 0 };

	job.may_repeat = true;
	g_free(run(&job, 1, &heard));
	cr_expect_eq(heard.reads, 256);
	cr_expect_lt(g_hash_table_size(heard.offsets), 230);
}

Test(fio, depth_divides_the_time_of_a_reader_that_waits_for_the_network)
{
	struct sim_fio_job job = job_of(SIM_READING, SIM_RANDOM);
	struct heard heard = { 0 };

	job.depth = 8;
	struct sim_result *result = run(&job, 1, &heard);
	cr_expect_eq(heard.reads, 256);
	cr_expect_eq(result->inflight_max, 8);
	cr_expect_float_eq(result->seconds, 0.256 / 8, 0.01, "%g s", result->seconds);
	g_free(result);
}

Test(fio, copies_run_side_by_side_each_in_its_own_region)
{
	struct sim_fio_job job = job_of(SIM_READING, SIM_SEQUENTIAL);
	struct heard heard = { 0 };

	job.copies = 4;
	job.offset_increment_bytes = MIB;
	struct sim_result *result = run(&job, 1, &heard);
	cr_expect_eq(g_hash_table_size(heard.offsets), 1024);
	cr_expect_eq(result->bytes, 4 * MIB);
	cr_expect_eq(result->jobs[0].bytes, 4 * MIB);
	cr_expect_float_eq(result->seconds, 0.256, 0.05, "%g s", result->seconds);
	g_free(result);
}

Test(fio, jobs_beside_each_other_begin_together_and_others_wait)
{
	struct sim_fio_job jobs[3] = { job_of(SIM_READING, SIM_SEQUENTIAL), job_of(SIM_WRITING, SIM_SEQUENTIAL),
				       job_of(SIM_READING, SIM_SEQUENTIAL) };
	struct heard heard = { 0 };

	strcpy(jobs[1].file, "g");
	jobs[1].is_beside = true;
	struct sim_result *result = run(jobs, 3, &heard);
	cr_expect_eq(heard.reads, 512);
	cr_expect_eq(heard.writes, 256);
	cr_expect_float_eq(result->seconds, 2 * 0.256, 0.06, "%g s", result->seconds);
	cr_expect_eq(result->jobs[1].bytes, MIB);
	g_free(result);
}

Test(fio, a_mix_reads_and_writes_in_its_proportion)
{
	struct sim_fio_job job = job_of(SIM_MIXED, SIM_RANDOM);
	struct heard heard = { 0 };

	job.read_percent = 75;
	g_free(run(&job, 1, &heard));
	cr_expect_eq(heard.reads + heard.writes, 256);
	cr_expect_float_eq((double)heard.reads, 192, 20, "%u", heard.reads);
}

Test(fio, fsync_flushes_after_so_many_writes_and_at_the_end)
{
	struct sim_fio_job job = job_of(SIM_WRITING, SIM_SEQUENTIAL);
	struct heard heard = { 0 };

	job.direct = false;
	job.fsync_every = 100;
	job.fsync_end = true;
	g_free(run(&job, 1, &heard));
	cr_expect_eq(heard.flushes, 3);
}

Test(fio, a_rate_holds_calls_back)
{
	struct sim_fio_job job = job_of(SIM_READING, SIM_RANDOM);
	struct heard heard = { 0 };

	job.rate_bytes_per_s[0] = MIB;
	struct sim_result *result = run(&job, 1, &heard);
	cr_expect_float_eq(result->seconds, 1, 0.02, "%g s", result->seconds);
	g_free(result);
}

Test(fio, thinking_takes_its_time)
{
	struct sim_fio_job job = job_of(SIM_READING, SIM_RANDOM);
	struct heard heard = { 0 };

	job.think_ns = 10 * MS;
	job.think_blocks = 16;
	struct sim_result *result = run(&job, 1, &heard);
	cr_expect_float_eq(result->seconds, 0.256 + 16 * 0.010, 0.02, "%g s", result->seconds);
	g_free(result);
}

Test(fio, an_endless_job_ends_with_its_time)
{
	struct sim_fio_job job = job_of(SIM_READING, SIM_SEQUENTIAL);
	struct heard heard = { 0 };

	job.is_endless = true;
	job.runtime_ns = 500 * MS;
	struct sim_result *result = run(&job, 1, &heard);
	cr_expect_float_eq(result->seconds, 0.5, 0.01, "%g s", result->seconds);
	cr_expect_gt(heard.reads, 400);
	g_free(result);
}
