/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The real client core and the real server through cuts and NICs that come and go; the monitor judges every PDU. */
#include "sim/world/profile.h"
#include "sim/world/world.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define MB UINT64_C(1000000)

struct row {
	char name[40];
	char era[8];
	char mount[80];
	uint64_t nic_rates[3];
	uint32_t async_credits;
	uint32_t fault_count;
	struct sim_fault faults[4];
	/* expected */
	enum sim_outcome outcome;
	uint32_t channels;
	uint32_t reconnects;
	uint64_t stall_min_ns;
	uint64_t stall_max_ns;
};

#define MC "vers=3.1.1,rsize=1048576,rasize=8388608,multichannel,max_channels="
#define CUT(channel, ms)                                                                                               \
	{                                                                                                              \
		SIM_FAULT_CUT, channel, ms *MB                                                                         \
	}
#define DOWN(nic, ms)                                                                                                  \
	{                                                                                                              \
		SIM_FAULT_NIC_DOWN, nic, ms *MB                                                                        \
	}
#define UP(nic, ms)                                                                                                    \
	{                                                                                                              \
		SIM_FAULT_NIC_UP, nic, ms *MB                                                                          \
	}
#define GBIT UINT64_C(1000000000)

/* clang-format off */
static struct row rows[] = {
	{ "no fault", "6.12", MC "2", { GBIT, GBIT }, 0, 0, { { 0 } }, SIM_OUTCOME_FINISHED, 2, 0, 0, SECOND / 10 },
	{ "a channel, 6.12", "6.12", MC "2", { GBIT, GBIT }, 0, 1, { CUT(1, 500) }, SIM_OUTCOME_FINISHED, 2, 1, 0, SECOND / 4 },
	{ "the first of two", "6.12", MC "2", { GBIT, GBIT }, 0, 1, { CUT(0, 500) }, SIM_OUTCOME_FINISHED, 2, 1, 0, SECOND / 4 },
	{ "a channel, 6.1", "6.1", MC "2", { GBIT, GBIT }, 0, 1, { CUT(1, 500) }, SIM_OUTCOME_FINISHED, 2, 1, 0, SECOND },
	{ "the only one, 6.1", "6.1", "vers=3.1.1", { GBIT }, 0, 1, { CUT(0, 500) }, SIM_OUTCOME_FINISHED, 1, 1, 0, SECOND },
	{ "the only one, 6.12", "6.12", "vers=3.1.1", { GBIT }, 0, 1, { CUT(0, 500) }, SIM_OUTCOME_FINISHED, 1, 1, 0, SECOND },
	{ "the only one, 4.15", "4.15", "vers=3.0", { GBIT }, 0, 1, { CUT(0, 500) }, SIM_OUTCOME_FINISHED, 1, 1, 0, SECOND },
	{ "2.0.2", "6.1", "vers=2.0", { GBIT }, 0, 1, { CUT(0, 500) }, SIM_OUTCOME_FINISHED, 1, 1, 0, SECOND },
	{ "uncached", "6.1", "vers=3.1.1,cache=none", { GBIT }, 0, 1, { CUT(0, 500) }, SIM_OUTCOME_FINISHED, 1, 1, 0, SECOND },
	{ "all four at once", "6.12", MC "4", { GBIT, GBIT }, 0, 4, { CUT(0, 500), CUT(1, 500), CUT(2, 500), CUT(3, 500) },
	  SIM_OUTCOME_FINISHED, 4, 4, 0, SECOND },
	{ "again and again", "6.12", MC "2", { GBIT / 10, GBIT / 10 }, 0, 4,
	  { CUT(0, 300), CUT(1, 302), CUT(0, 304), CUT(0, 5000) }, SIM_OUTCOME_FINISHED, 2, 3, 0, 4 * SECOND },
	{ "a NIC for a while", "6.12", MC "2", { GBIT / 10, GBIT / 10 }, 0, 2, { DOWN(1, 300), UP(1, 900) },
	  SIM_OUTCOME_FINISHED, 2, 1, 0, 2 * SECOND },
	{ "no network, soft", "6.1", "vers=3.1.1", { GBIT }, 0, 1, { DOWN(0, 500) }, SIM_OUTCOME_FAILED, 1, 0, 0, 30 * SECOND },
	{ "no network, hard", "6.1", "vers=3.1.1,hard", { GBIT }, 0, 2, { DOWN(0, 500), UP(0, 60500) },
	  SIM_OUTCOME_FINISHED, 1, 1, 59 * SECOND, 70 * SECOND },
	{ "pushback", "6.12", MC "2", { GBIT, GBIT }, 4, 1, { CUT(1, 500) }, SIM_OUTCOME_FINISHED, 2, 1, 0, SECOND },
};
/* clang-format on */

static void make_point(const struct row *row, struct sim_point *point)
{
	struct smb_mount_report report;
	struct sim_profile_network network;
	GError *error = NULL;

	sim_point_init(point);
	point->policy = smb_era_find(row->era)->policy;
	cr_assert_eq(smb_mount_options_parse(row->mount, &point->policy, &point->mount, &report), SMB_MOUNT_OK);
	cr_assert(sim_profile_load("samba-4.17", &point->server, &network, &error));
	point->server.async_credits = row->async_credits;
	if (row->async_credits)
		point->server.interim = SMB_INTERIM_ALWAYS;
	point->network.rtt_ns = 2 * MB;
	point->network.nics = 0;
	while (point->network.nics < 3 && row->nic_rates[point->network.nics]) {
		point->network.nic_rate_bps[point->network.nics] = row->nic_rates[point->network.nics];
		point->network.nics++;
	}
	point->fault_count = row->fault_count;
	memcpy(point->faults, row->faults, sizeof(row->faults));
	point->workload.job_count = 1;
	point->workload.jobs[0] =
		(struct sim_job){ .read = { .file = "f", .file_bytes = 200 * MB, .block_bytes = 1 << 20 } };
	point->time_limit_ns = 200 * SECOND;
}

ParameterizedTestParameters(faults, a_reader_gets_through)
{
	return cr_make_param_array(struct row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct row *row, faults, a_reader_gets_through)
{
	struct sim_point *point = g_new0(struct sim_point, 1);
	struct sim_result *result = g_new0(struct sim_result, 1);
	GError *error = NULL;

	make_point(row, point);
	cr_assert(sim_world_run(point, NULL, result, &error));
	cr_expect_eq(result->outcome, row->outcome, "%s: %s, %s", row->name, sim_outcome_name(result->outcome),
		     result->failure);
	cr_expect_eq(result->violations, 0, "%s: %s", row->name, result->violation[0].text);
	if (row->outcome == SIM_OUTCOME_FINISHED)
		cr_expect_eq(result->bytes, 200 * MB, "%s", row->name);
	cr_expect_eq(result->channels, row->channels, "%s: %u channels", row->name, result->channels);
	cr_expect_eq(result->reconnects, row->reconnects, "%s: %u reconnects", row->name, result->reconnects);
	cr_expect_geq(result->stall_max_ns, row->stall_min_ns, "%s: %.3f s", row->name,
		      (double)result->stall_max_ns / 1e9);
	cr_expect_leq(result->stall_max_ns, row->stall_max_ns, "%s: %.3f s", row->name,
		      (double)result->stall_max_ns / 1e9);
	g_free(point);
	g_free(result);
}

struct speed_row {
	char era[8];
	char mount[80];
	uint64_t nic_rates[3];
	bool without_rss[3];
	uint32_t channels[3]; /* expected on each NIC */
};

#define ALL "vers=3.1.1,multichannel,max_channels="
static struct speed_row speed_rows[] = {
	/* 6.x: by speed, an interface's weight is its speed over the slowest one's. */
	{ "6.1", ALL "4", { 10 * GBIT, GBIT }, { 0 }, { 4, 0 } },
	{ "6.1", ALL "12", { 10 * GBIT, GBIT }, { 0 }, { 11, 1 } },
	{ "6.1", ALL "4", { GBIT, GBIT }, { 0 }, { 2, 2 } },
	{ "6.1", ALL "4", { GBIT, 2 * GBIT }, { 0 }, { 1, 3 } },
	/* 5.10: all on the fastest as long as that has RSS. */
	{ "5.10", ALL "4", { GBIT, GBIT }, { 0 }, { 4, 0 } },
	{ "5.10", ALL "4", { GBIT, 10 * GBIT }, { 0 }, { 1, 3 } },
	/* Without RSS a NIC takes one channel. */
	{ "6.1", ALL "4", { GBIT, GBIT, GBIT }, { true, false, true }, { 1, 2, 1 } },
};

static uint32_t opened_on[SIM_NICS_MAX];

ParameterizedTestParameters(faults, channels_go_where_the_kernel_puts_them)
{
	return cr_make_param_array(struct speed_row, speed_rows, sizeof(speed_rows) / sizeof(speed_rows[0]));
}

ParameterizedTest(struct speed_row *row, faults, channels_go_where_the_kernel_puts_them)
{
	struct row plain = { .era = "6.1" };
	struct sim_point *point = g_new0(struct sim_point, 1);
	struct sim_result *result = g_new0(struct sim_result, 1);
	GError *error = NULL;

	memcpy(plain.era, row->era, sizeof(plain.era));
	memcpy(plain.mount, row->mount, sizeof(plain.mount));
	memcpy(plain.nic_rates, row->nic_rates, sizeof(plain.nic_rates));
	make_point(&plain, point);
	memcpy(point->network.nic_without_rss, row->without_rss, sizeof(row->without_rss));
	point->workload.jobs[0].read.file_bytes = MB;
	cr_assert(sim_world_run(point, NULL, result, &error));
	cr_assert_eq(result->outcome, SIM_OUTCOME_FINISHED, "%s", result->failure);
	memset(opened_on, 0, sizeof(opened_on));
	for (uint32_t i = 0; i < SMB_MOUNT_CHANNELS_MAX; i++)
		opened_on[result->nic_of_channel[i]] += i < result->channels;
	for (uint32_t nic = 0; nic < 3; nic++)
		cr_expect_eq(opened_on[nic], row->channels[nic], "%s %s: NIC %u has %u", row->era, row->mount, nic,
			     opened_on[nic]);
	g_free(point);
	g_free(result);
}
