/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A file read over SMB1 from mount to close: transfer sizes, requests at once, and mounts that cannot be. */

#include "protocol/wire/smb1.h"
#include "sim/world/profile.h"
#include "sim/world/world.h"

#include <criterion/criterion.h>
#include <string.h>

#define FILE_BYTES (UINT64_C(16) << 20)

static struct sim_result result;
static uint32_t largest_read;
static uint64_t reads;
static GString *commands;

static void look(void *context, uint64_t when_ns, uint32_t channel, enum sim_side from, const struct smb_pdu *pdu)
{
	struct smb1_message message;

	(void)context;
	(void)when_ns;
	cr_assert_eq(channel, 0);
	cr_assert_eq(smb1_message_decode(pdu, &message), SMB_WIRE_OK);
	if (from != SIM_CLIENT)
		return;
	if (message.kind == SMB1_BODY_READ_REQ) {
		largest_read = MAX(largest_read, message.body.read_req.length);
		reads++;
		return;
	}
	g_string_append_printf(commands, "%s ", smb1_command_name(message.header.command));
}

static void run(const char *options, uint32_t page_bytes, void (*change)(struct sim_point *point))
{
	struct sim_trace trace = { .pdu = look, .context = NULL };
	struct smb_mount_report report;
	struct sim_point point;
	GError *error = NULL;

	commands = g_string_new(NULL);
	sim_point_init(&point);
	cr_assert(sim_profile_load("samba-4.17", &point.server, NULL, &error), "%s", error ? error->message : "");
	cr_assert_eq(smb_mount_options_parse(options, &point.policy, &point.mount, &report), SMB_MOUNT_OK);
	point.page_bytes = page_bytes;
	point.workload.job_count = 1;
	point.workload.jobs[0] =
		(struct sim_job){ .read = { .file = "big", .file_bytes = FILE_BYTES, .block_bytes = 1 << 20 } };
	if (change)
		change(&point);
	cr_assert(sim_world_run(&point, &trace, &result, &error), "%s", error ? error->message : "");
}

static void expect_finished(void)
{
	cr_assert_eq(result.outcome, SIM_OUTCOME_FINISHED, "%s", result.failure);
	cr_expect_eq(result.bytes, FILE_BYTES);
	cr_expect_eq(result.violations, 0);
}

Test(smb1, a_mount_asks_for_the_unix_capabilities)
{
	run("vers=1.0", 4096, NULL);
	expect_finished();
	cr_expect_str_eq(commands->str, "NEGOTIATE SESSION_SETUP_ANDX SESSION_SETUP_ANDX TREE_CONNECT_ANDX "
					"TREE_CONNECT_ANDX TRANSACTION2 TRANSACTION2 TRANSACTION2 TRANSACTION2 "
					"TRANSACTION2 TRANSACTION2 NT_CREATE_ANDX CLOSE ");
	cr_expect_eq(result.rsize, 1048576);
	cr_expect_eq(largest_read, 1048576);
	cr_expect_eq(result.pairs, reads + 3, "%u", (guint)result.pairs); /* look, open, close */
}

Test(smb1, nounix_asks_for_none_and_reads_60_kib)
{
	run("vers=1.0,nounix", 4096, NULL);
	expect_finished();
	cr_expect_str_eq(commands->str, "NEGOTIATE SESSION_SETUP_ANDX SESSION_SETUP_ANDX TREE_CONNECT_ANDX "
					"TREE_CONNECT_ANDX TRANSACTION2 TRANSACTION2 TRANSACTION2 TRANSACTION2 "
					"NT_CREATE_ANDX CLOSE ");
	cr_expect_eq(result.rsize, 61440);
	cr_expect_eq(largest_read, 61440);
}

static void without_unix(struct sim_point *point)
{
	point->server.smb1_unix = 0;
}

Test(smb1, a_server_without_the_extensions_is_read_60_kib_at_a_time)
{
	run("vers=1.0", 4096, without_unix);
	expect_finished();
	cr_expect_eq(largest_read, 61440);
}

Test(smb1, pages_of_64_kib_are_read_one_at_a_time)
{
	run("vers=1.0", 65536, NULL);
	expect_finished();
	cr_expect_eq(largest_read, 16384);
	cr_expect_eq(result.inflight_max, 1);
}

static void with_small_reads(struct sim_point *point)
{
	point->workload.jobs[0].read.block_bytes = 16 << 20;
	point->network.rtt_ns = 20000000;
}

Test(smb1, no_more_requests_are_sent_than_the_server_takes)
{
	run("vers=1.0,nounix,rsize=16384,rasize=16777216", 4096, with_small_reads);
	expect_finished();
	/* Seven of the fifty slots are left to compounds; the v1.0 write rows of page-6.1-ppc64el-64k.tsv show 43, too. */
	cr_expect_eq(result.inflight_max, 43);
}

static void with_few_slots(struct sim_point *point)
{
	with_small_reads(point);
	point->server.smb1_max_mpx = 2;
}

Test(smb1, two_slots_are_enough_to_go_on)
{
	run("vers=1.0,nounix,rsize=16384,rasize=16777216", 4096, with_few_slots);
	expect_finished();
	cr_expect_eq(result.inflight_max, 2);
}

static void without_smb1(struct sim_point *point)
{
	point->server.smb1_max_mpx = 0;
}

Test(smb1, a_mount_fails_where_it_is_not_spoken)
{
	run("vers=1.0", 4096, without_smb1);
	cr_expect_eq(result.outcome, SIM_OUTCOME_FAILED);
	cr_expect(strstr(result.failure, "mount"), "%s", result.failure);
}
