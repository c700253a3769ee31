/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the core sends for shell commands, executed by the simulated server on the names that the captures' script
 * found, against what Linux 6.1 and 6.12 sent (captures/ops-6.1.tsv, ops-6.12.tsv), and against the published counts of
 * 2018.
 */

#include "sim/world/tests/ops_peer.h"
#include "sim/world/tests/tsv.h"

#include <criterion/criterion.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define PAUSE (5 * NS_PER_S / 2) /* between operations of the captures' script */
#define PREPARED (3 * NS_PER_S) /* from `seen` to the operation */

/** The script behind the captures: what it typed for each row. `seen` was looked at three seconds before. */
static const struct row {
	const char *op;
	const char *seen;
	const char *line;
} rows[] = {
	{ "dummy", NULL, "stat /mnt/dummy" },
	{ "touch-new", NULL, "touch /mnt/n1" },
	{ "touch-new-again", NULL, "touch /mnt/n2" },
	{ "touch-existing", NULL, "touch /mnt/ex" },
	{ "touch-existing-seen", "stat /mnt/exs", "touch /mnt/exs" },
	{ "rm", NULL, "rm /mnt/rmc" },
	{ "rm-seen", "stat /mnt/rms", "rm /mnt/rms" },
	{ "rm-own", NULL, "rm /mnt/n1" },
	{ "mkdir", NULL, "mkdir /mnt/md" },
	{ "rmdir-own", NULL, "rmdir /mnt/md" },
	{ "rmdir", NULL, "rmdir /mnt/rdc" },
	{ "rmdir-seen", "stat /mnt/rds", "rmdir /mnt/rds" },
	{ "mv", NULL, "mv /mnt/mvc /mnt/mvc.new" },
	{ "mv-seen", "stat /mnt/mvs", "mv /mnt/mvs /mnt/mvs.new" },
	{ "ln", NULL, "ln /mnt/lnc /mnt/lnc.hard" },
	{ "ln-s", NULL, "ln -s target /mnt/slink" },
	{ "stat", NULL, "stat /mnt/stc" },
	{ "stat-seen", NULL, "stat /mnt/stc" },
	{ "stat-hot", NULL, "stat /mnt/stc; stat /mnt/stc" },
	{ "stat-f", NULL, "stat -f /mnt" },
	{ "stat-root", NULL, "stat /mnt" },
	{ "stat-noent", NULL, "stat /mnt/nosuch" },
	{ "ls10", NULL, "ls /mnt/d10" },
	{ "ls10-again", NULL, "ls /mnt/d10" },
	{ "ls-l10", NULL, "ls -l /mnt/d10b" },
	{ "ls-l10-again", NULL, "ls -l /mnt/d10b" },
	{ "ls1000", NULL, "ls /mnt/d1000" },
	{ "ls-l1000", NULL, "ls -l /mnt/d1000b" },
	{ "cat10", NULL, "cat /mnt/catc" },
	{ "cat10-again", NULL, "cat /mnt/catc" },
	{ "cp-in", NULL, "cp /tmp/ten /mnt/cpin" },
	{ "cp-over", NULL, "cp /tmp/ten /mnt/cpx" },
	{ "echo-append", NULL, "echo x >> /mnt/apc" },
	{ "chmod", NULL, "chmod 444 /mnt/chc" },
	{ "truncate", NULL, "truncate -s 5 /mnt/trc" },
	{ "df", NULL, "df /mnt" },
	{ "umount", NULL, "umount /mnt" },
};

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
static void compare(struct peer *peer, const struct tsv *tsv, guint row, guint returned, struct score *score)
{
	const char *op = tsv_text(tsv, row, "op");
	g_autoptr(GArray) all = g_array_copy(peer->pairs);
	g_autofree char *after = peer_text(peer, returned, false);
	g_autofree char *after_detailed = peer_text(peer, returned, true);
	g_array_set_size(peer->pairs, returned);
	g_autofree char *text = peer_text(peer, 0, false);
	g_autofree char *detailed = peer_text(peer, 0, true);
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

static void run_lines(struct peer *peer, const char *lines)
{
	g_auto(GStrv) each = g_strsplit(lines, ";", -1);

	for (char **line = each; *line; line++)
		peer_run(peer, *line);
}

static void replay_variant(const struct tsv *tsv, const char *kernel, const char *variant, struct score *score)
{
	g_autofree char *options = options_of(variant);
	struct peer *peer = peer_new(kernel, options);

	compare(peer, tsv, find_row(tsv, variant, "mount"), peer->pairs->len, score);
	peer->now_ns = 8 * NS_PER_S;
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (rows[i].seen) {
			peer_run(peer, rows[i].seen);
			peer_wait(peer, PREPARED);
		}
		peer_forget(peer);
		run_lines(peer, rows[i].line);
		guint returned = peer->pairs->len;
		peer_wait(peer, PAUSE);
		compare(peer, tsv, find_row(tsv, variant, rows[i].op), returned, score);
	}
	peer_free(peer);
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
}

Test(ops, linux_612_sends_what_the_capture_shows)
{
	struct score score = replay_kernel("6.12");

	cr_expect_eq(score.identical, 76);
}
