/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The READs of the whole core, in the simulated network, against those that Linux 6.1's cifs put on the wire: dd bs=1M
 * of 64 MiB at RTT 20 ms. Offset, length, CreditCharge and credits asked, in the order sent.
 */

#include "protocol/wire/message.h"
#include "sim/world/profile.h"
#include "sim/world/tests/read_log.h"
#include "sim/world/tests/tsv.h"
#include "sim/world/world.h"

#include <criterion/criterion.h>
#include <string.h>

#define FILE_BYTES (UINT64_C(64) << 20)

static const char *options_of(const struct tsv *runs, const char *variant)
{
	for (guint row = 0; row < runs->rows->len; row++) {
		if (g_str_equal(tsv_text(runs, row, "rw"), "r") && g_str_equal(tsv_text(runs, row, "name"), variant))
			return tsv_text(runs, row, "opts");
	}
	g_error("no run %s in io-6.1.tsv", variant);
}

static void simulate(const char *options, struct read_log *log)
{
	static struct sim_result result;
	struct smb_mount_report report;
	struct sim_trace trace = { .pdu = read_log_note, .context = log };
	struct sim_point point;
	GError *error = NULL;

	sim_point_init(&point);
	cr_assert(sim_profile_load("samba-4.17", &point.server, NULL, &error), "%s", error ? error->message : "");
	enum smb_mount_verdict verdict = smb_mount_options_parse(options, &point.policy, &point.mount, &report);
	cr_assert_eq(verdict, SMB_MOUNT_OK, "%s", report.message);
	point.network.rtt_ns = 20000000;
	point.network.rate_bps = 0;
	point.workload.job_count = 1;
	point.workload.jobs[0] = (struct sim_job){
		.read = { .file = "big", .file_bytes = FILE_BYTES, .block_bytes = 1 << 20, .count = 64 }
	};
	bool ran = sim_world_run(&point, &trace, &result, &error);
	cr_assert(ran, "%s", error ? error->message : "");
	cr_assert_eq(result.outcome, SIM_OUTCOME_FINISHED, "%s: %s", options, result.failure);
	cr_assert_eq(result.bytes, FILE_BYTES, "%s", options);
	cr_assert_eq(result.violations, 0, "%s: %s", options, result.violation[0].text);
}

static void compare_with_kernel(const char *variant)
{
	struct tsv *runs = tsv_load("experiments/measured/captures/io-6.1.tsv");
	struct tsv *reads = tsv_load("experiments/measured/captures/io-6.1-first30.tsv");
	static struct read_log log;
	guint compared = 0;

	simulate(options_of(runs, variant), &log);
	for (guint row = 0; row < reads->rows->len; row++) {
		if (!g_str_equal(tsv_text(reads, row, "rw"), "r") ||
		    !g_str_equal(tsv_text(reads, row, "name"), variant))
			continue;
		guint64 i = tsv_number(reads, row, "i");
		cr_assert_lt(i, log.count, "%s: the kernel sends READ %" G_GUINT64_FORMAT ", the core does not",
			     variant, i);
		const struct read_request *read = &log.reads[i];
		cr_expect_eq(read->offset, tsv_number(reads, row, "off"), "%s, READ %u: offset", variant, (guint)i);
		cr_expect_eq(read->length, tsv_number(reads, row, "len"), "%s, READ %u: length", variant, (guint)i);
		cr_expect_eq(read->charge, tsv_number(reads, row, "charge"), "%s, READ %u: charge", variant, (guint)i);
		cr_expect_eq(read->asked, tsv_number(reads, row, "cr_req"), "%s, READ %u: credits asked", variant,
			     (guint)i);
		compared++;
	}
	cr_assert_geq(compared, 16, "%s: only %u rows to compare with", variant, compared);
	tsv_free(runs);
	tsv_free(reads);
}

/* One run per process is the engine's rule; Criterion gives each test its own. */
#define READS_ARE_THE_KERNELS(test, variant)                                                                           \
	Test(captures, test)                                                                                           \
	{                                                                                                              \
		compare_with_kernel(variant);                                                                          \
	}

READS_ARE_THE_KERNELS(default_reads_are_the_kernels, "default")
READS_ARE_THE_KERNELS(rasize_1m_reads_are_the_kernels, "ra1M")
READS_ARE_THE_KERNELS(rasize_4m_reads_are_the_kernels, "ra4M")
READS_ARE_THE_KERNELS(rasize_8m_reads_are_the_kernels, "ra8M")
READS_ARE_THE_KERNELS(rasize_16m_reads_are_the_kernels, "ra16M")
READS_ARE_THE_KERNELS(rasize_32m_reads_are_the_kernels, "ra32M")
READS_ARE_THE_KERNELS(rsize_64k_reads_are_the_kernels, "rsize64K")
READS_ARE_THE_KERNELS(rsize_1m_reads_are_the_kernels, "rsize1024K")
READS_ARE_THE_KERNELS(rsize_1m_rasize_16m_reads_are_the_kernels, "rsize1M-ra16M")
READS_ARE_THE_KERNELS(smb_2_0_reads_are_the_kernels, "v2.0")
READS_ARE_THE_KERNELS(smb_2_1_reads_are_the_kernels, "v2.1")
READS_ARE_THE_KERNELS(smb_3_0_reads_are_the_kernels, "v3.0")
