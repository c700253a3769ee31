/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/insight.h"
#include "reports/tests/synthetic.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static void set_MBps(struct report_table *table, guint row, double MBps)
{
	((struct report_row *)table->rows->pdata[row])->result->throughput_MBps = MBps;
}

static struct report_table *rasize_table(const double *MBps, guint count)
{
	static const struct synthetic_axis axes[] = { { "client.rasize", "unset;1M;4M;8M;16M" }, { NULL, NULL } };
	struct report_table *table = synthetic_table("t", axes);

	for (guint i = 0; i < count; i++)
		set_MBps(table, i, MBps[i]);
	return table;
}

Test(insight, enough_is_the_smallest_value_within_two_per_cent_of_the_best)
{
	static const struct {
		double MBps[5];
		guint enough;
		bool still_rising;
	} cases[] = {
		{ { 100, 100, 300, 398, 400 }, 3, false }, { { 100, 100, 393, 398, 400 }, 2, false },
		{ { 100, 100, 391, 398, 400 }, 3, false }, { { 100, 200, 300, 350, 400 }, 4, true },
		{ { 400, 399, 398, 397, 396 }, 0, false }, { { 100, 100, 400, 300, 350 }, 2, false },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct report_table *table = rasize_table(cases[i].MBps, 5);
		struct report_sweep *sweep = report_sweep_new(table);
		struct report_enough found = report_enough_find(sweep, sweep->panels->pdata[0], 0);

		cr_expect(found.known);
		cr_expect_eq(found.enough, cases[i].enough, "case %zu: %u", i, found.enough);
		cr_expect_eq(found.still_rising, cases[i].still_rising, "case %zu", i);
		report_sweep_free(sweep);
		report_table_free(table);
	}
}

Test(insight, a_sweep_of_kernels_or_of_rtt_alone_has_no_enough)
{
	static const struct synthetic_axis kernels[] = { { "client.kernel", "5.13;6.1" }, { NULL, NULL } };
	static const struct synthetic_axis rtts[] = { { "network.rtt", "1ms;10ms" }, { NULL, NULL } };
	const struct synthetic_axis *const axes[] = { kernels, rtts };

	for (size_t i = 0; i < G_N_ELEMENTS(axes); i++) {
		struct report_table *table = synthetic_table("t", axes[i]);
		struct report_sweep *sweep = report_sweep_new(table);

		cr_expect_null(report_enough_axis(sweep));
		cr_expect_not(report_enough_find(sweep, sweep->panels->pdata[0], 0).known);
		report_sweep_free(sweep);
		report_table_free(table);
	}
}

Test(insight, failed_rows_are_left_out_and_counted)
{
	static const double MBps[] = { 100, 100, 300, 398, 400 };
	struct report_table *table = rasize_table(MBps, 5);

	synthetic_fail(table->rows->pdata[4], SIM_OUTCOME_STUCK, "stuck");
	((struct report_row *)table->rows->pdata[0])->result->violations = 7;
	struct report_sweep *sweep = report_sweep_new(table);
	struct report_enough found = report_enough_find(sweep, sweep->panels->pdata[0], 0);
	struct report_trouble trouble = report_trouble_count(table);

	cr_assert_float_eq(found.best_MBps, 398, 1e-9);
	cr_assert(found.still_rising);
	cr_assert_eq(trouble.unfinished, 1);
	cr_assert_eq(trouble.violating, 1);
	cr_assert_eq(trouble.violations, 7);
	report_sweep_free(sweep);
	report_table_free(table);
}

Test(insight, fitted_and_held_out_errors_are_apart)
{
	static const double MBps[] = { 110, 90, 100, 100, 100 };
	struct report_table *table = rasize_table(MBps, 5);

	synthetic_measure(table->rows->pdata[0], 100, true, "a");
	synthetic_measure(table->rows->pdata[1], 100, false, "b");
	synthetic_measure(table->rows->pdata[2], 80, false, "c");
	struct report_fit fitted = report_fit_of(table, true), held = report_fit_of(table, false);

	cr_assert_eq(fitted.count, 1);
	cr_assert_float_eq(fitted.mean_absolute_percent, 10, 1e-9);
	cr_assert_eq(held.count, 2);
	cr_assert_float_eq(held.mean_absolute_percent, 17.5, 1e-9);
	cr_assert_float_eq(held.bias_percent, 7.5, 1e-9);
	cr_assert_float_eq(held.worst_percent, 25, 1e-9);
	report_table_free(table);
}

Test(insight, axes_are_rtt_and_rasize_whatever_their_order)
{
	static const struct synthetic_axis axes[] = {
		{ "client.max_channels", "2;1" },
		{ "client.rasize", "16M;unset;4M" },
		{ "network.rtt", "10ms;50us" },
		{ NULL, NULL },
	};
	struct report_table *table = synthetic_table("t", axes);
	struct report_sweep *sweep = report_sweep_new(table);

	cr_assert_str_eq(sweep->x.title, "RTT");
	cr_assert(sweep->x.is_scale);
	cr_assert(sweep->x.is_log);
	cr_assert_str_eq(sweep->x.labels->pdata[0], "50 µs");
	cr_assert_str_eq(sweep->line.title, "rasize");
	cr_assert_not(sweep->line.is_scale);
	cr_assert_str_eq(sweep->line.labels->pdata[0], "unset (1 MiB)");
	cr_assert_str_eq(sweep->line.labels->pdata[2], "16 MiB");
	cr_assert_eq(sweep->panels->len, 2);
	cr_assert_str_eq(((struct report_panel *)sweep->panels->pdata[0])->label, "max_channels = 1");
	report_sweep_free(sweep);
	report_table_free(table);
}

Test(insight, the_first_finding_says_where_more_stops_helping)
{
	static const double MBps[] = { 100, 100, 300, 398, 400 };
	struct report_table *table = rasize_table(MBps, 5);
	struct report_sweep *sweep = report_sweep_new(table);
	g_autoptr(GPtrArray) findings = report_findings(sweep);

	cr_assert_gt(findings->len, 1);
	cr_assert_str_eq(findings->pdata[0],
			 "More rasize stops helping at 8 MiB: 398 MB/s, at best 400 MB/s beyond it; "
			 "100 MB/s with unset (1 MiB).");
	report_sweep_free(sweep);
	report_table_free(table);
}

Test(insight, what_was_asked_names_workload_kernel_server_and_sweep)
{
	struct report_table *table = synthetic_rasize_table();
	struct report_sweep *sweep = report_sweep_new(table);
	g_autofree char *asked = report_asked(sweep);
	static const char *const words[] = { "dd if=/mnt/test/1GBfile",
					     "Linux 5.13",
					     "azure",
					     "10 Gbit/s",
					     "126 points",
					     "rasize unset to 16 MiB (7 values)",
					     "RTT 50 µs to 150 ms",
					     "max_channels 1, 2 and 4" };

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		cr_expect_not_null(strstr(asked, words[i]), "%s: %s", words[i], asked);
	report_sweep_free(sweep);
	report_table_free(table);
}
