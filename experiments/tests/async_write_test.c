/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* async-write-2011.ini: WRITEs of 56 KiB one at a time and of wsize many at a time; both throughputs over Ethernet and the
 * ratio at localhost within 10 %. */

#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <stdio.h>

TestSuite(async_write, .timeout = 300);

/* The rows of the published table, in order: localhost sync and async, gige sync and async. */
static const struct {
	int64_t io_bytes;
	double published_MBps; /* 0 = was not */
} rows[] = { { 57344, 0 }, { 126976, 0 }, { 57344, 52.6 }, { 126976, 98.9 } };

#define LOCALHOST_RATIO 1.20

static void expect_near(const char *what, double predicted, double published)
{
	double error = predicted / published - 1;

	printf("%s: predicted %.2f, published %.2f, error %+.1f %%\n", what, predicted, published, 100 * error);
	cr_expect_lt(fabs(error), 0.10, "%s: predicted %.2f, published %.2f", what, predicted, published);
}

Test(async_write, both_modes_and_their_ratio_are_predicted)
{
	char *directory = program_directory();
	g_autoptr(JsonParser) parser = json_parser_new();
	struct program program = program_run(directory, "run", SMB_SOURCE_DIR "/experiments/async-write-2011.ini",
					     "--json", "--out", "out", NULL);
	double MBps[G_N_ELEMENTS(rows)];

	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	cr_assert(json_parser_load_from_data(parser, program.out, -1, NULL), "%s", program.out);
	JsonArray *found = json_object_get_array_member(json_node_get_object(json_parser_get_root(parser)), "rows");
	cr_assert_eq(json_array_get_length(found), G_N_ELEMENTS(rows));
	for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
		JsonObject *row = json_array_get_object_element(found, i);

		MBps[i] = json_object_get_double_member(row, "throughput_MBps");
		cr_expect_eq(json_object_get_int_member(row, "read_io_bytes"), rows[i].io_bytes);
		if (rows[i].published_MBps > 0)
			expect_near(i % 2 ? "gige, async, MB/s" : "gige, sync, MB/s", MBps[i], rows[i].published_MBps);
	}
	expect_near("localhost, async / sync", MBps[1] / MBps[0], LOCALHOST_RATIO);
	program_clear(&program);
	program_clean(directory);
}
