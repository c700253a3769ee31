/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the core sends for shell commands, executed by the simulated server on the names that the captures' script
 * found, against what Linux 6.1 and 6.12 sent (captures/ops-6.1.tsv, ops-6.12.tsv), and against the published counts of
 * 2018.
 */

#include "sim/world/tests/ops_peer.h"
#include "sim/world/tests/ops_rows.h"
#include "sim/world/tests/tsv.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

struct score {
	guint rows;
	guint identical; /* sequence, at once and after the command returned */
	guint detailed; /* that, and every detail, charge, amount asked and granted and MessageId */
};

static char *options_of(const char *variant)
{
	static const char *const versions[][2] = { { "v210", "2.1" }, { "v300", "3.0" }, { "v311", "3.1.1" } };

	for (gsize i = 0; i < G_N_ELEMENTS(versions); i++) {
		if (g_str_has_prefix(variant, versions[i][0]))
			return g_strdup_printf("vers=%s%s%s", versions[i][1], variant[4] ? "," : "",
					       variant[4] ? variant + 5 : "");
	}
	g_error("no such variant: %s", variant);
}

static guint find_row(const struct tsv *tsv, const char *variant, const char *op)
{
	for (guint row = 0; row < tsv->rows->len; row++) {
		if (g_str_equal(tsv_text(tsv, row, "variant"), variant) && g_str_equal(tsv_text(tsv, row, "op"), op))
			return row;
	}
	g_error("no row %s %s", variant, op);
}

static bool same(const char *what, const char *op, const char *real, const char *ours)
{
	if (g_str_equal(real, ours))
		return true;
	cr_log_warn("%s, %s:\n  kernel %s\n  here   %s", op, what, real, ours);
	return false;
}

/** Compare what is in the pairs with the row; `returned` pairs belong to the command itself. */
static void compare(struct sim_bill *bill, const struct tsv *tsv, guint row, guint returned, struct score *score)
{
	const char *op = tsv_text(tsv, row, "op");
	g_autofree char *after = sim_bill_text(bill, returned, bill->pairs->len, false);
	g_autofree char *after_detailed = sim_bill_text(bill, returned, bill->pairs->len, true);
	g_autofree char *text = sim_bill_text(bill, 0, returned, false);
	g_autofree char *detailed = sim_bill_text(bill, 0, returned, true);
	bool is_same = same("sequence", op, tsv_text(tsv, row, "sequence"), text) &&
		       same("sequence after return", op, tsv_text(tsv, row, "sequence_after_return"), after);

	score->rows++;
	score->identical += is_same;
	if (!is_same)
		return;
	cr_expect_eq(tsv_number(tsv, row, "pairs"), returned);
	score->detailed += same("detail", op, tsv_text(tsv, row, "detail"), detailed) &&
			   same("detail after return", op, tsv_text(tsv, row, "detail_after_return"), after_detailed);
}

static void replay_variant(const struct tsv *tsv, const char *kernel, const char *variant, struct score *score)
{
	g_autofree char *options = options_of(variant);
	struct sim_bill *bill = peer_new(kernel, options);

	compare(bill, tsv, find_row(tsv, variant, "mount"), bill->pairs->len, score);
	for (gsize i = 0; ops_rows[i].op; i++) {
		guint returned = ops_row_run(bill, &ops_rows[i]);

		compare(bill, tsv, find_row(tsv, variant, ops_rows[i].op), returned, score);
	}
	sim_bill_free(bill);
}

static struct score replay_kernel(const char *kernel)
{
	static const char *const variants[] = { "v210", "v300", "v311", "v311-mfsymlinks", "v311-noserverino" };
	g_autofree char *path = g_strdup_printf("experiments/measured/captures/ops-%s.tsv", kernel);
	struct tsv *tsv = tsv_load(path);
	struct score score = { 0 };
	guint known = 0;

	for (gsize i = 0; i < G_N_ELEMENTS(variants); i++) {
		for (guint row = 0; row < tsv->rows->len; row++) {
			if (!g_str_equal(tsv_text(tsv, row, "variant"), variants[i]))
				continue;
			known++;
			if (g_str_equal(tsv_text(tsv, row, "op"), "mount"))
				replay_variant(tsv, kernel, variants[i], &score);
		}
	}
	cr_assert_eq(known, tsv->rows->len, "the capture has a variant that is not known here");
	cr_assert_eq(score.rows, tsv->rows->len, "every row was compared");
	cr_log_info("kernel %s: %u rows, %u sequences identical, %u in every detail", kernel, score.rows,
		    score.identical, score.detailed);
	tsv_free(tsv);
	return score;
}

Test(ops, linux_61_sends_what_the_capture_shows)
{
	struct score score = replay_kernel("6.1");

	cr_expect_eq(score.identical, 190);
	cr_expect_eq(score.detailed, 190);
}

Test(ops, linux_612_sends_what_the_capture_shows)
{
	struct score score = replay_kernel("6.12");

	cr_expect_eq(score.identical, 76);
	cr_expect_eq(score.detailed, 76);
}

/* ----------------------------------------------------------------------------------------------------- 2018's counts */

/** A row of compounding-2018.csv: what was done before it, and the state that the published count needs. */
struct published {
	const char *command;
	const char *before; /* run two seconds before, so that nothing holds any more */
	const char *fresh; /* run at once before: its attributes hold */
	const char *line;
	const char *state;
};

static const struct published published_before[] = {
	{ "touch /mnt/file (new)", NULL, NULL, "touch /mnt/new", "the name was never looked at" },
	{ "touch /mnt/file (existing)", NULL, NULL, "touch /mnt/ex", "the name was never looked at" },
	{ "rm /mnt/file", NULL, NULL, "rm /mnt/rmc", "attributes expired" },
	{ "mkdir /mnt/newdir", NULL, NULL, "mkdir /mnt/newdir", "the name was never looked at" },
	{ "rmdir /mnt/newdir", "mkdir /mnt/newdir", NULL, "rmdir /mnt/newdir", "attributes expired" },
	{ "mv /mnt/file /mnt/file1", NULL, NULL, "mv /mnt/mvc /mnt/mvc1", "attributes expired" },
	{ "ln /mnt/file1 /mnt/file2", NULL, NULL, "ln /mnt/lnc /mnt/lnc2", "the source's attributes expired" },
	{ "ln -s /mnt/file1 /mnt/file3 (mfsymlinks)", NULL, NULL, "ln -s /mnt/stc /mnt/stc3", "-" },
	{ "stat /mnt/file", "stat /mnt/d10/file0", NULL, "stat /mnt/d10/file0",
	  "two objects: the directory that holds the file, below the share's root, and the file; both expired" },
	{ "readdir of a small directory", NULL, "stat /mnt/d10", "readdir /mnt/d10",
	  "the directory's attributes hold" },
};

/** After the series one row needs another state than before it. */
static const struct published ln_of_a_fresh_source = { "ln /mnt/file1 /mnt/file2", NULL, "stat /mnt/lnc",
						       "ln /mnt/lnc /mnt/lnc2", "the source's attributes hold" };

static guint pairs_of(const struct smb_policy *policy, const struct published *row)
{
	struct sim_bill *bill = peer_new_with(policy, "vers=3.1.1,mfsymlinks");
	guint pairs;

	bill->now_ns = NS_PER_S;
	if (row->before)
		ops_lines_run(bill, row->before);
	peer_wait(bill, 2 * NS_PER_S);
	if (row->fresh)
		ops_lines_run(bill, row->fresh);
	sim_bill_forget(bill);
	cr_assert_eq(peer_run(bill, row->line), SMB_OPS_OK, "%s", row->line);
	pairs = bill->pairs->len;
	if (policy->compounding == SMB_COMPOUND_NONE) {
		for (guint i = 0; i < pairs; i++)
			cr_expect_eq(g_array_index(bill->pairs, struct sim_pair, i).said.count, 1);
	}
	sim_bill_free(bill);
	return pairs;
}

static char **published_rows(void)
{
	g_autofree char *text = NULL;

	cr_assert(g_file_get_contents(SMB_SOURCE_DIR "/experiments/measured/compounding-2018.csv", &text, NULL, NULL));
	return g_strsplit(text, "\n", -1);
}

Test(ops, pairs_before_and_after_the_series_of_2018_are_the_published_ones)
{
	g_auto(GStrv) lines = published_rows();
	const struct smb_policy before = smb_era_find("4.15")->policy;
	const struct smb_policy after = smb_era_find("4.20")->policy;
	struct smb_policy proposal = after;
	guint rows_seen = 0;

	proposal.compounding = SMB_COMPOUND_READDIR_SINGLE;
	for (char **line = lines; *line; line++) {
		g_auto(GStrv) fields = g_strsplit(*line, ",", -1);
		bool is_readdir = g_str_has_prefix(*line, "readdir");

		if (**line == '#' || g_strv_length(fields) != 3 || g_str_equal(fields[0], "command"))
			continue;
		const struct published *row = &published_before[rows_seen++];
		cr_assert_str_eq(fields[0], row->command);
		cr_expect_eq(pairs_of(&before, row), atoi(fields[1]), "%s before: %u", *line, pairs_of(&before, row));
		if (g_str_equal(row->command, ln_of_a_fresh_source.command))
			row = &ln_of_a_fresh_source;
		cr_expect_eq(pairs_of(is_readdir ? &proposal : &after, row), atoi(fields[2]), "%s after: %u", *line,
			     pairs_of(&after, row));
	}
	cr_assert_eq(rows_seen, G_N_ELEMENTS(published_before));
}

Test(ops, ln_after_the_series_is_three_or_four_pairs_by_the_age_of_the_source)
{
	const struct smb_policy after = smb_era_find("4.20")->policy;
	struct smb_policy newer_tool = after;

	cr_expect_eq(pairs_of(&after, &ln_of_a_fresh_source), 3);
	cr_expect_eq(pairs_of(&after, &published_before[6]), 4);
	/* The other way to three: an ln that links without looking first. */
	newer_tool.coreutils = SMB_COREUTILS_2022;
	cr_expect_eq(pairs_of(&newer_tool, &published_before[6]), 3);
}

Test(ops, a_file_in_the_share_root_needs_half_the_published_stat)
{
	struct published row = { "stat /mnt/file", "stat /mnt/stc", NULL, "stat /mnt/stc", "one object" };

	cr_expect_eq(pairs_of(&smb_era_find("4.15")->policy, &row), 3);
	cr_expect_eq(pairs_of(&smb_era_find("4.20")->policy, &row), 1);
}

Test(ops, readdir_in_one_chain_pays_for_directories_that_do_not_fit)
{
	struct published small = { "", NULL, "stat /mnt/d10", "readdir /mnt/d10", "" };
	struct published large = { "", NULL, "stat /mnt/d1000", "readdir /mnt/d1000", "" };
	struct smb_policy merged = smb_era_find("5.10")->policy;
	struct smb_policy single = merged;

	single.compounding = SMB_COMPOUND_READDIR_SINGLE;
	cr_expect_eq(pairs_of(&merged, &small), 3);
	cr_expect_eq(pairs_of(&single, &small), 1);
	cr_expect_eq(pairs_of(&merged, &large), 9);
	cr_expect_eq(pairs_of(&single, &large), 10, "the whole directory a second time, and the chain in vain");
}
