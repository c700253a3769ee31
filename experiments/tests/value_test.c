/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/value.h"
#include "sim/world/nearest.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(value);

Test(value, units_are_powers_of_1024_for_sizes_and_of_1000_for_rates)
{
	static const struct {
		enum lab_type type;
		const char *text;
		uint64_t whole;
	} cases[] = {
		{ LAB_SIZE, "0", 0 },
		{ LAB_SIZE, "4096", 4096 },
		{ LAB_SIZE, "64K", 65536 },
		{ LAB_SIZE, "1M", 1048576 },
		{ LAB_SIZE, "1.5M", 1572864 },
		{ LAB_SIZE, "2 GiB", UINT64_C(2147483648) },
		{ LAB_SIZE, "1T", UINT64_C(1099511627776) },
		{ LAB_TIME, "0", 0 },
		{ LAB_TIME, "50us", 50000 },
		{ LAB_TIME, "0.05ms", 50000 },
		{ LAB_TIME, "0.3us", 300 },
		{ LAB_TIME, "1s", UINT64_C(1000000000) },
		{ LAB_TIME, "17ns", 17 },
		{ LAB_RATE, "10Gbit", UINT64_C(10000000000) },
		{ LAB_RATE, "400Mbit", UINT64_C(400000000) },
		{ LAB_RATE, "64Kbit", 64000 },
		{ LAB_RATE, "9bit", 9 },
		{ LAB_COUNT, "12", 12 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		uint64_t whole = 99;

		cr_assert(lab_whole_parse(cases[i].type, cases[i].text, &whole, NULL), "%s", cases[i].text);
		cr_assert_eq(whole, cases[i].whole, "%s gave %" G_GUINT64_FORMAT, cases[i].text, whole);
	}
}

Test(value, what_is_no_value_is_refused_with_a_reason)
{
	static const struct {
		enum lab_type type;
		const char *text;
		const char *reason;
	} cases[] = {
		{ LAB_SIZE, "-1", "negative" },		  { LAB_SIZE, "", "empty" },
		{ LAB_SIZE, "M", "not a number" },	  { LAB_SIZE, "1MB", "unknown unit" },
		{ LAB_SIZE, "1m", "unknown unit" },	  { LAB_SIZE, "0.3", "not whole" },
		{ LAB_SIZE, "99999999T", "too large" },	  { LAB_SIZE, "nan", "not a number" },
		{ LAB_SIZE, "0x10", "unknown unit" },	  { LAB_SIZE, "1e9", "has an exponent" },
		{ LAB_TIME, "10", "needs a unit" },	  { LAB_TIME, "10min", "unknown unit" },
		{ LAB_TIME, "10ms # fitted", "comment" }, { LAB_TIME, ".", "not a number" },
		{ LAB_RATE, "10", "needs a unit" },	  { LAB_RATE, "10G", "unknown unit" },
		{ LAB_COUNT, "1.5", "not whole" },	  { LAB_COUNT, "two", "not a number" },
		{ LAB_COUNT, "1 2", "unknown unit" },	  { LAB_NUMBER, "1e-4", "has an exponent" },
		{ LAB_SIZE, "1E", "unknown unit" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		uint64_t whole;

		cr_assert_not(lab_whole_parse(cases[i].type, cases[i].text, &whole, &error), "%s", cases[i].text);
		cr_assert(strstr(error->message, cases[i].reason), "%s: %s", cases[i].text, error->message);
		cr_assert_eq(lab_exit_code(error), 2);
	}
}

Test(value, canonical_text_reads_back_as_the_same_value)
{
	static const double numbers[] = { 0, 1, 999, 1000, 1024, 1048576, 1e9, 1e10, 3.6e9, 12345678901, 1e15 };
	static const double fractions[] = { 0.1, 0.1 + 0.2, 1.0 / 3, 2.6786, 1221.8, 1e-7, 123456.789 };

	for (int type = LAB_COUNT; type <= LAB_RATE; type++) {
		for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
			g_autofree char *text = lab_whole_format(type, (uint64_t)numbers[i]);
			uint64_t whole = 1;

			cr_assert(lab_whole_parse(type, text, &whole, NULL), "%s", text);
			cr_assert_eq(whole, (uint64_t)numbers[i], "%s", text);
		}
	}
	for (size_t i = 0; i < G_N_ELEMENTS(fractions); i++) {
		g_autofree char *text = lab_number_format(LAB_NUMBER, fractions[i]);
		double number = 0;

		cr_assert(lab_number_parse(LAB_NUMBER, text, &number, NULL), "%s", text);
		cr_assert_eq(number, fractions[i], "%s", text);
	}
}

Test(value, canonical_text_is_the_shortest_unit_that_keeps_it_whole)
{
	static const struct {
		enum lab_type type;
		uint64_t whole;
		const char *text;
	} cases[] = {
		{ LAB_SIZE, 1048576, "1M" },
		{ LAB_SIZE, 1048577, "1048577" },
		{ LAB_TIME, 50000, "50us" },
		{ LAB_TIME, 10000000, "10ms" },
		{ LAB_RATE, 10000000000, "10Gbit" },
		{ LAB_RATE, 1500000000, "1500Mbit" },
		{ LAB_SIZE, 0, "0" },
		{ LAB_COUNT, 1000, "1000" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = lab_whole_format(cases[i].type, cases[i].whole);

		cr_assert_str_eq(text, cases[i].text);
	}
}

Test(value, a_slip_finds_the_word_that_was_meant_and_nonsense_finds_none)
{
	static const char *const names[] = { "client.rasize", "client.rsize", "network.rtt", "workload.command" };

	cr_assert_str_eq(sim_nearest("client.rasise", names, 4), "client.rasize");
	cr_assert_str_eq(sim_nearest("network.rt", names, 4), "network.rtt");
	cr_assert_null(sim_nearest("zzz", names, 4));
}
