/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/text.h"
#include "reports/value.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

static void expect(char *made, const char *wanted)
{
	cr_expect_str_eq(made, wanted);
	g_free(made);
}

Test(text, numbers_keep_about_three_digits)
{
	expect(report_MBps(1047.3), "1047");
	expect(report_MBps(99.96), "100");
	expect(report_MBps(99.94), "99.9");
	expect(report_MBps(9.996), "10.0");
	expect(report_MBps(1.234), "1.23");
	expect(report_MBps(0.0456), "0.046");
	expect(report_MBps(INFINITY), "");
	expect(report_percent(1.26), "+1.3 %");
	expect(report_percent(-0.04), "0.0 %");
	expect(report_percent(-12), "-12.0 %");
	g_autofree char *largest = report_fixed(-DBL_MAX, 9);

	cr_expect_eq(strlen(largest), strlen("-") + 309 + strlen(".000000000"));
}

Test(text, values_of_a_config_become_quantities)
{
	static const struct {
		const char *column;
		const char *text;
		enum report_kind kind;
		double quantity;
		const char *pretty;
	} cases[] = {
		{ "client.rasize", "4M", REPORT_KIND_BYTES, 4194304, "4 MiB" },
		{ "client.rasize", "4194304", REPORT_KIND_BYTES, 4194304, "4 MiB" },
		{ "client.rasize", "unset", REPORT_KIND_NAME, 0, "unset" },
		{ "client.page_size", "64K", REPORT_KIND_BYTES, 65536, "64 KiB" },
		{ "network.rtt", "50us", REPORT_KIND_SECONDS, 50e-6, "50 µs" },
		{ "network.rtt", "1.5ms", REPORT_KIND_SECONDS, 1.5e-3, "1.5 ms" },
		{ "network.rtt", "1000us", REPORT_KIND_SECONDS, 1e-3, "1 ms" },
		{ "network.rtt", "transpacific", REPORT_KIND_NAME, 0, "transpacific" },
		{ "network.rate", "10Gbit", REPORT_KIND_BITRATE, 1e10, "10 Gbit/s" },
		{ "network.rate", "400Mbit", REPORT_KIND_BITRATE, 4e8, "400 Mbit/s" },
		{ "client.max_channels", "4", REPORT_KIND_NUMBER, 4, "4" },
		{ "client.kernel", "6.12", REPORT_KIND_NAME, 0, "6.12" },
		{ "client.rasize", "1e999", REPORT_KIND_NAME, 0, "1e999" },
		{ "client.rasize", "-4M", REPORT_KIND_NAME, 0, "-4M" },
		{ "client.rasize", "", REPORT_KIND_NAME, 0, "" },
		{ "client.rasize", "4Mx", REPORT_KIND_NAME, 0, "4Mx" },
		{ "x", "nan", REPORT_KIND_NAME, 0, "nan" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		double quantity;
		g_autofree char *pretty = report_value_pretty(cases[i].column, cases[i].text);

		cr_expect_eq(report_value_parse(cases[i].column, cases[i].text, &quantity), cases[i].kind, "%s",
			     cases[i].text);
		cr_expect(fabs(quantity - cases[i].quantity) <= 1e-12 * cases[i].quantity, "%s: %g", cases[i].text,
			  quantity);
		cr_expect_str_eq(pretty, cases[i].pretty);
	}
}

Test(text, strings_cannot_leave_the_language_they_are_put_into)
{
	GString *markup = g_string_new(NULL);

	report_markup(markup, "<b a='1' b=\"2\">&amp;\n\x01\xff</b>");
	cr_expect_str_eq(markup->str,
			 "&lt;b a=&apos;1&apos; b=&quot;2&quot;&gt;&amp;amp;\n\xef\xbf\xbd\xef\xbf\xbd&lt;/b&gt;");
	g_string_free(markup, TRUE);
	expect(report_gnuplot_string("it's\n`rm` \\ \"x\""), "'it’s `rm` \\ \"x\"'");
	expect(report_gnuplot_tic("100%d"), "'100%%d'");
	expect(report_dot_string("a\"b\\N\n&lt;"), "\"a\\\"b\\\\N\\n&amp;lt;\"");
	expect(report_file_part("../a b/ü"), "..-a-b---");
	expect(report_one_line("äöü\tß", 4), "äöü…");
	expect(report_one_line("äöü\tß", 5), "äöü ß");
	expect(report_clean("a\xe2\x80\xae\x1b[31m"), "a\xef\xbf\xbd\xef\xbf\xbd[31m");
	expect(report_clean(NULL), "");
}
