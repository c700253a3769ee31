/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* page-size-qnap.ini: the size of the READs of every published row exactly, its throughput within 10 %. */

#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <json-glib/json-glib.h>
#include <math.h>

TestSuite(page_size, .timeout = 300);

#define ROWS 24

static JsonArray *rows_of(JsonParser *parser, const struct program *program)
{
	cr_assert(json_parser_load_from_data(parser, program->out, -1, NULL), "%s", program->out);
	return json_object_get_array_member(json_node_get_object(json_parser_get_root(parser)), "rows");
}

/* The lines of the published table without comments and heading; its rows are the points, in order. */
static char **published(void)
{
	g_autofree char *text = NULL;
	g_autoptr(GStrvBuilder) rows = g_strv_builder_new();

	cr_assert(
		g_file_get_contents(SMB_SOURCE_DIR "/experiments/measured/qnap-2020-page-size.csv", &text, NULL, NULL));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (guint i = 0; lines[i]; i++) {
		if (lines[i][0] && lines[i][0] != '#' && !g_str_has_prefix(lines[i], "machine,"))
			g_strv_builder_add(rows, lines[i]);
	}
	return g_strv_builder_end(rows);
}

Test(page_size, every_published_row_is_predicted)
{
	char *directory = program_directory();
	g_autoptr(JsonParser) parser = json_parser_new();
	struct program program = program_run(directory, "run", SMB_SOURCE_DIR "/experiments/page-size-qnap.ini",
					     "--json", "--out", "out", NULL);
	g_auto(GStrv) lines = published();

	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	JsonArray *rows = rows_of(parser, &program);
	cr_assert_eq(g_strv_length(lines), ROWS);
	cr_assert_eq(json_array_get_length(rows), ROWS);
	for (guint i = 0; i < ROWS; i++) {
		JsonObject *row = json_array_get_object_element(rows, i);
		g_auto(GStrv) cells = g_strsplit(lines[i], ",", -1); /* machine,arch,page,link,vers,gate,io,MBps */
		cr_expect_eq(json_object_get_int_member(row, "read_io_bytes"), g_ascii_strtoll(cells[6], NULL, 10),
			     "%s", lines[i]);
		double MBps = g_ascii_strtod(cells[7], NULL);
		double error = json_object_get_double_member(row, "throughput_MBps") / MBps - 1;
		cr_expect_lt(fabs(error), 0.10, "%s: off by %+.1f %%", lines[i], 100 * error);
	}
	program_clear(&program);
	program_clean(directory);
}
