/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Every read row of the captures with pages of 16 and 64 KiB, through the whole core in the simulated network: dd bs=1M
 * of 32 MiB at RTT 20 ms. How many READs of which length, and the first thirty in order.
 */

#include "protocol/wire/smb1.h"
#include "sim/world/profile.h"
#include "sim/world/tests/read_log.h"
#include "sim/world/tests/tsv.h"
#include "sim/world/world.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#define FILE_BYTES (UINT64_C(32) << 20)
#define ROWS_MAX 100

/** One capture file with what was the same in all its rows. */
struct capture {
	const char *name;
	const char *kernel;
	uint32_t page_bytes;
	guint rows_at_least; /* read rows */
};

static const struct capture captures[] = {
	{ "page-6.1-ppc64el-64k", "6.1", 65536, 27 },
	{ "page-6.12-arm64-16k", "6.12", 16384, 14 },
};

/** Parameters travel to another process: no pointers in them. */
struct row {
	guint capture;
	guint index;
};

/** A difference that is understood and left. */
struct difference {
	const char *capture;
	const char *variant;
	bool order_only; /* sizes and counts are the same */
	const char *reason;
};

#define PIECES "netfs reads the pieces of one page side by side and pays for each as for any READ"

static const struct difference differences[] = {
	{ "page-6.12-arm64-16k", "rsize4K", true, PIECES },
};

static void simulate(const struct capture *capture, const char *options, struct read_log *log)
{
	static struct sim_result result;
	struct smb_mount_report report;
	struct sim_trace trace = { .pdu = read_log_note, .context = log };
	struct sim_point point;
	GError *error = NULL;

	sim_point_init(&point);
	cr_assert(sim_profile_load("samba-4.17", &point.server, NULL, &error), "%s", error ? error->message : "");
	point.policy = smb_era_find(capture->kernel)->policy;
	enum smb_mount_verdict verdict = smb_mount_options_parse(options, &point.policy, &point.mount, &report);
	cr_assert_eq(verdict, SMB_MOUNT_OK, "%s", report.message);
	point.page_bytes = capture->page_bytes;
	point.network.rtt_ns = 20000000;
	point.network.rate_bps = 0;
	point.workload.job_count = 1;
	point.workload.jobs[0] =
		(struct sim_job){ .read = { .file = "big", .file_bytes = FILE_BYTES, .block_bytes = 1 << 20 } };
	bool ran = sim_world_run(&point, &trace, &result, &error);
	cr_assert(ran, "%s", error ? error->message : "");
	cr_assert_eq(result.outcome, SIM_OUTCOME_FINISHED, "%s: %s", options, result.failure);
	cr_assert_eq(result.bytes, FILE_BYTES, "%s", options);
	cr_assert_eq(result.violations, 0, "%s: %s", options, result.violation[0].text);
}

/** As the captures write it: "4194304x7 2097152x2", by count and then by length, largest first. */
static char *lengths_of(const struct read_log *log)
{
	GString *text = g_string_new(NULL);
	struct {
		uint32_t length;
		guint count;
	} kinds[64];
	guint n = 0;

	for (guint i = 0; i < log->count; i++) {
		guint k = 0;
		while (k < n && kinds[k].length != log->reads[i].length)
			k++;
		if (k == n) {
			cr_assert_lt(n, G_N_ELEMENTS(kinds));
			kinds[n].length = log->reads[i].length;
			kinds[n++].count = 0;
		}
		kinds[k].count++;
	}
	for (; n; n--) {
		guint best = 0;
		for (guint k = 1; k < n; k++) {
			if (kinds[k].count > kinds[best].count ||
			    (kinds[k].count == kinds[best].count && kinds[k].length > kinds[best].length))
				best = k;
		}
		g_string_append_printf(text, "%s%ux%u", text->len ? " " : "", kinds[best].length, kinds[best].count);
		kinds[best] = kinds[n - 1];
	}
	return g_string_free(text, FALSE);
}

static bool is_known(const struct row *row, const char *variant, bool order)
{
	for (guint i = 0; i < G_N_ELEMENTS(differences); i++) {
		const struct difference *known = &differences[i];
		if (g_str_equal(known->capture, captures[row->capture].name) && g_str_equal(known->variant, variant))
			return order || !known->order_only;
	}
	return false;
}

/** Of the first thirty; READs of SMB1 have neither charge nor credits. Returns how many differ. */
static guint compare_order(const struct row *row, const char *variant, bool smb1, const struct read_log *log)
{
	g_autofree char *path = g_strdup_printf("experiments/measured/captures/%s-first30.tsv",
						captures[row->capture].name);
	struct tsv *reads = tsv_load(path);
	guint compared = 0, differing = 0;

	for (guint n = 0; n < reads->rows->len; n++) {
		if (!g_str_equal(tsv_text(reads, n, "rw"), "r") || !g_str_equal(tsv_text(reads, n, "name"), variant))
			continue;
		guint64 i = tsv_number(reads, n, "i");
		cr_assert_lt(i, log->count, "%s: the kernel sends READ %u, the core does not", variant, (guint)i);
		const struct read_request *read = &log->reads[i];
		bool same = read->offset == tsv_number(reads, n, "off") && read->length == tsv_number(reads, n, "len");
		if (!smb1)
			same = same && read->charge == tsv_number(reads, n, "charge") &&
			       read->asked == tsv_number(reads, n, "cr_req");
		if (!same && !is_known(row, variant, true))
			cr_expect_fail("%s %s, READ %u: %u at %" G_GUINT64_FORMAT
				       " (charge %u, asks %u), the kernel %s at %s "
				       "(charge %s, asks %s)",
				       captures[row->capture].name, variant, (guint)i, read->length, read->offset,
				       read->charge, read->asked, tsv_text(reads, n, "len"), tsv_text(reads, n, "off"),
				       tsv_text(reads, n, "charge"), tsv_text(reads, n, "cr_req"));
		differing += !same;
		compared++;
	}
	cr_assert_geq(compared, 9, "%s: only %u READs to compare with", variant, compared);
	tsv_free(reads);
	return differing;
}

static struct tsv *runs_of(const struct capture *capture)
{
	g_autofree char *path = g_strdup_printf("experiments/measured/captures/%s.tsv", capture->name);

	return tsv_load(path);
}

/* One run per process is the engine's rule; Criterion gives each row its own. */
ParameterizedTestParameters(page_captures, reads_are_the_kernels)
{
	struct row *rows = cr_malloc(ROWS_MAX * sizeof(*rows));
	size_t count = 0;

	for (guint c = 0; c < G_N_ELEMENTS(captures); c++) {
		struct tsv *runs = runs_of(&captures[c]);
		guint before = (guint)count;
		for (guint row = 0; row < runs->rows->len; row++) {
			if (g_str_equal(tsv_text(runs, row, "rw"), "r") && count < ROWS_MAX)
				rows[count++] = (struct row){ c, row };
		}
		if (count - before < captures[c].rows_at_least)
			g_error("%s has only %u read rows", captures[c].name, (guint)count - before);
		tsv_free(runs);
	}
	return cr_make_param_array(struct row, rows, count, NULL);
}

ParameterizedTest(struct row *row, page_captures, reads_are_the_kernels)
{
	struct tsv *runs = runs_of(&captures[row->capture]);
	const char *variant = tsv_text(runs, row->index, "name");
	const char *options = tsv_text(runs, row->index, "opts");
	static struct read_log log;

	simulate(&captures[row->capture], options, &log);
	g_autofree char *lengths = lengths_of(&log);
	const char *wanted = tsv_text(runs, row->index, "lens");
	bool same = g_str_equal(lengths, wanted);
	if (!is_known(row, variant, false))
		cr_expect(same, "%s %s: %s, the kernel sends %s", captures[row->capture].name, variant, lengths,
			  wanted);
	guint differing = compare_order(row, variant, strstr(options, "vers=1.0") != NULL, &log);
	if (is_known(row, variant, true))
		cr_expect(!same || differing, "%s %s is listed as a difference and is none",
			  captures[row->capture].name, variant);
	tsv_free(runs);
}
