/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/tests/synthetic.h"

#include <criterion/criterion.h>
#include <glib/gstdio.h>
#include <locale.h>
#include <math.h>

static char *csv_of(const struct report_table *table)
{
	g_autofree char *directory = g_dir_make_tmp("smblab-csv-test-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "results.csv", NULL);
	g_autoptr(GError) error = NULL;
	char *text = NULL;

	cr_assert(report_write_csv(table, directory, &error), "%s", error ? error->message : "");
	cr_assert(g_file_get_contents(path, &text, NULL, NULL));
	g_unlink(path);
	g_rmdir(directory);
	return text;
}

static struct report_row *add_row(struct report_table *table, const char *first, const char *second)
{
	struct report_row *row = report_row_new();

	row->values = g_new0(char *, 3);
	row->values[0] = g_strdup(first);
	row->values[1] = g_strdup(second);
	row->result = g_new0(struct sim_result, 1);
	g_ptr_array_add(table->rows, row);
	return row;
}

static struct report_table *small_table(void)
{
	struct report_table *table = report_table_new();

	g_ptr_array_add(table->columns, g_strdup("client.rasize"));
	g_ptr_array_add(table->columns, g_strdup("workload.command"));
	table->sweep_columns = 1;
	return table;
}

#define HEADING                                                                                                        \
	"client.rasize,workload.command,seconds,bytes,throughput_MBps,pairs,pdus,credits_min,inflight_max,"            \
	"inflight_max_bytes,violations,pdu_events,read_io_bytes,reconnects,stall_max_seconds,commands,"                \
	"command_failures,command_ms,slowest_client,fastest_client,fairness,outcome,failure,measured_MBps,measured_"   \
	"pairs,measured_command_ms,error_percent\n"

Test(csv, a_finished_row_has_every_number_and_its_measurement)
{
	struct report_table *table = small_table();
	struct report_row *row = add_row(table, "4M", "cat f");

	*row->result = (struct sim_result){
		.outcome = SIM_OUTCOME_FINISHED,
		.seconds = 2.5,
		.bytes = 1073741824,
		.throughput_MBps = 429.4967296,
		.pairs = 1030,
		.pdus = 2060,
		.pdu_events = 4120,
		.credits_min = -3,
		.inflight_max = 8,
		.inflight_max_bytes = 8388608,
		.reconnects = 2,
		.stall_max_ns = 3000000001,
		.read_io_bytes = 1048576,
		.commands = 4,
		.command_failures = 1,
	};
	row->has_measured = true;
	row->measured = 391.5;
	row->error_percent = 9.705;
	g_autofree char *text = csv_of(table);

	cr_assert_str_eq(
		text, HEADING
		"4M,cat f,2.500000000,1073741824,429.497,1030,2060,-3,8,8388608,0,4120,1048576,2,3.000000001,4,1,"
		"625.000000,,,,finished,,391.5,,,9.71\n");
	report_table_free(table);
}

Test(csv, a_field_is_quoted_only_where_it_must_be)
{
	struct report_table *table = small_table();

	add_row(table, "", "dd if=\"a,b\"\nof=c");
	add_row(table, "a;b 'c'", " plain ");
	synthetic_fail(((struct report_row *)table->rows->pdata[0]), SIM_OUTCOME_STUCK, "no credits, ever");
	synthetic_fail(((struct report_row *)table->rows->pdata[1]), SIM_OUTCOME_IMPOSSIBLE, "rasize");
	g_autofree char *text = csv_of(table);

	cr_assert_str_eq(text,
			 HEADING ",\"dd if=\"\"a,b\"\"\nof=c\",,,,,,,,,0,0,,0,0.000000000,0,0,0.000000,,,,stuck,\"no "
				 "credits, ever\",,,,\n"
				 "a;b 'c', plain ,,,,,,,,,0,0,,0,0.000000000,0,0,0.000000,,,,impossible,rasize,,,,\n");
	report_table_free(table);
}

Test(csv, a_row_without_result_and_a_failed_measured_row_have_no_numbers)
{
	struct report_table *table = small_table();
	struct report_row *missing = add_row(table, "1M", "cat f"), *failed = add_row(table, "2M", "cat f");

	g_clear_pointer(&missing->result, g_free);
	synthetic_fail(failed, SIM_OUTCOME_TIME_LIMIT, "");
	failed->result->throughput_MBps = 12;
	failed->has_measured = true;
	failed->measured = 100;
	failed->error_percent = -88;
	g_autofree char *text = csv_of(table);

	cr_assert_str_eq(text, HEADING "1M,cat f,,,,,,,,,,,,,,,,,,,,,,,,,\n"
				       "2M,cat f,,,,,,,,,0,0,,0,0.000000000,0,0,0.000000,,,,time_limit,,100,,,\n");
	report_table_free(table);
}

Test(csv, numbers_that_are_none_are_left_empty_and_zero_has_no_sign)
{
	struct report_table *table = small_table();
	struct report_row *row = add_row(table, "1M", "cat f");

	row->result->throughput_MBps = NAN;
	row->result->seconds = -0.0;
	row->has_measured = true;
	row->measured = 1e9;
	row->error_percent = -0.001;
	g_autofree char *text = csv_of(table);

	cr_assert_str_eq(
		text, HEADING
		"1M,cat f,0.000000000,0,,0,0,0,0,0,0,0,,0,0.000000000,0,0,0.000000,,,,finished,,1000000000,,,0.00\n");
	report_table_free(table);
}

Test(csv, a_locale_with_decimal_commas_changes_nothing)
{
	struct report_table *table = synthetic_rasize_table();
	g_autofree char *plain = csv_of(table);
	static const char *const locales[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8" };

	for (size_t i = 0; i < G_N_ELEMENTS(locales); i++) {
		if (!setlocale(LC_ALL, locales[i]))
			continue; /* C.UTF-8 exists everywhere, so the loop never passes all */
		g_autofree char *text = csv_of(table);

		cr_assert_str_eq(text, plain);
	}
	report_table_free(table);
}

Test(csv, a_directory_that_cannot_be_made_is_an_error_that_names_it)
{
	struct report_table *table = small_table();
	g_autoptr(GError) error = NULL;

	cr_assert_not(report_write_csv(table, "/dev/null/below", &error));
	cr_assert(g_error_matches(error, REPORT_ERROR, REPORT_ERROR_FILE));
	cr_assert_not_null(strstr(error->message, "/dev/null/below"));
	report_table_free(table);
}

Test(csv, a_measurement_stands_in_the_column_of_what_was_measured)
{
	struct report_table *table = small_table();
	struct report_row *row = add_row(table, "1M", "rm /mnt/f");

	table->quantity = REPORT_PAIRS;
	row->has_measured = true;
	row->measured = 5;
	g_autofree char *text = csv_of(table);

	cr_assert(g_str_has_suffix(text, "finished,,,5,,0.00\n"), "%s", text);
	report_table_free(table);
}
