/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/tests/synthetic.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pty.h>
#include <string.h>
#include <unistd.h>

static char *printed(const struct report_table *table)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	report_print_table(table, stream);
	fclose(stream);
	return text;
}

static struct report_table *small_table(void)
{
	static const struct synthetic_axis axes[] = { { "client.rasize", "unset;16M" },
						      { "network.rtt", "50us;10ms" },
						      { NULL, NULL } };
	struct report_table *table = synthetic_table("t", axes);
	static const double MBps[] = { 1234.56, 162.04, 1300, 0.5 };

	for (guint i = 0; i < table->rows->len; i++)
		((struct report_row *)table->rows->pdata[i])->result->throughput_MBps = MBps[i];
	return table;
}

Test(terminal, columns_are_aligned_and_lines_have_no_trailing_blanks)
{
	struct report_table *table = small_table();

	synthetic_measure(table->rows->pdata[1], 163, true, "m");
	synthetic_fail(table->rows->pdata[3], SIM_OUTCOME_STUCK, "no credits");
	((struct report_row *)table->rows->pdata[2])->result->violations = 2;
	char *text = printed(table);

	cr_assert_str_eq(text, "rasize    RTT    MB/s  measured   error\n"
			       " unset  50 µs  1234.6\n"
			       " unset  10 ms   162.0     163.0  -0.6 %  fitted\n"
			       "16 MiB  50 µs  1300.0                    2 violations\n"
			       "16 MiB  10 ms       -                    stuck: no credits\n");
	free(text);
	report_table_free(table);
}

Test(terminal, without_measurements_their_columns_are_left_out)
{
	struct report_table *table = small_table();
	char *text = printed(table);

	cr_assert_str_eq(text, "rasize    RTT    MB/s\n"
			       " unset  50 µs  1234.6\n"
			       " unset  10 ms   162.0\n"
			       "16 MiB  50 µs  1300.0\n"
			       "16 MiB  10 ms     0.5\n");
	free(text);
	report_table_free(table);
}

Test(terminal, an_escape_sequence_in_a_value_does_not_reach_the_terminal)
{
	struct report_table *table = small_table();
	struct report_row *row = table->rows->pdata[0];

	g_free(row->values[0]);
	row->values[0] = g_strdup("\033[2Jx\n");
	synthetic_fail(row, SIM_OUTCOME_FAILED, "\033]0;title\007");
	char *text = printed(table);

	cr_assert_null(strchr(text, '\033'));
	cr_assert_null(strchr(text, '\007'));
	cr_assert_eq(text[strlen(text) - 1], '\n');
	free(text);
	report_table_free(table);
}

/* What a terminal of that width is sent, without colours. */
static char *on_terminal(const struct report_table *table, unsigned short columns)
{
	struct winsize size = { .ws_row = 50, .ws_col = columns };
	int primary, secondary;
	char buffer[16384];
	GString *text = g_string_new(NULL);
	ssize_t got;

	cr_assert_eq(openpty(&primary, &secondary, NULL, NULL, &size), 0);
	FILE *stream = fdopen(secondary, "w");

	report_print_table(table, stream);
	fflush(stream);
	fcntl(primary, F_SETFL, O_NONBLOCK);
	while ((got = read(primary, buffer, sizeof(buffer))) > 0)
		g_string_append_len(text, buffer, got);
	fclose(stream);
	close(primary);
	return g_string_free(text, FALSE);
}

Test(terminal, a_terminal_gets_colour_and_bars_and_no_line_is_wider_than_it)
{
	static const unsigned short widths[] = { 45, 60, 80, 200 };
	struct report_table *table = small_table();

	g_unsetenv("NO_COLOR");
	synthetic_measure(table->rows->pdata[1], 163, true, "m");
	synthetic_fail(table->rows->pdata[3], SIM_OUTCOME_STUCK,
		       "a message that is longer than a narrow terminal is wide");
	for (size_t i = 0; i < G_N_ELEMENTS(widths); i++) {
		g_autofree char *text = on_terminal(table, widths[i]);
		g_autoptr(GRegex) colours = g_regex_new("\033\\[[0-9;]*m", 0, 0, NULL);
		g_autofree char *plain = g_regex_replace_literal(colours, text, -1, 0, "", 0, NULL);
		g_auto(GStrv) lines = g_strsplit(plain, "\r\n", -1);

		cr_expect_not_null(strstr(text, "\033[31m"));
		cr_expect_eq(strstr(plain, "####") != NULL, widths[i] >= 200, "width %u", widths[i]);
		for (guint j = 0; lines[j]; j++)
			cr_expect_leq(g_utf8_strlen(lines[j], -1), widths[i], "%s", lines[j]);
	}
	report_table_free(table);
}

Test(terminal, findings_begin_with_where_more_stops_helping)
{
	struct report_table *table = small_table();
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	report_print_findings(table, stream);
	fclose(stream);
	cr_assert_not_null(strstr(text, "rasize"), "%s", text);
	cr_assert_gt(length, 20, "%s", text);
	cr_assert_eq(text[length - 1], '\n');
	free(text);
	report_table_free(table);
}
