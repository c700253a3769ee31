/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/tests/synthetic.h"

#include <criterion/criterion.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

struct written {
	char *directory;
	GHashTable *files; /* name relative to the directory -> char * */
};

static void take_files(struct written *written, const char *below)
{
	g_autofree char *path = g_build_filename(written->directory, below, NULL);
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *file = g_build_filename(path, name, NULL);
		char *text = NULL;

		if (g_file_get_contents(file, &text, NULL, NULL))
			g_hash_table_insert(written->files, g_build_filename(below, name, NULL), text);
		g_unlink(file);
	}
	g_rmdir(path);
}

static struct written write_table(const struct report_table *table)
{
	struct written written = { g_dir_make_tmp("smblab-html-test-XXXXXX", NULL),
				   g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free) };
	g_autoptr(GError) error = NULL;

	cr_assert(report_write_html(table, written.directory, &error), "%s", error ? error->message : "");
	take_files(&written, "plots");
	take_files(&written, "");
	return written;
}

static void written_clear(struct written *written)
{
	g_free(written->directory);
	g_hash_table_unref(written->files);
}

static const char *file_of(const struct written *written, const char *name)
{
	const char *text = g_hash_table_lookup(written->files, name);

	cr_assert_not_null(text, "%s was not written", name);
	return text;
}

static void expect_well_formed(const char *name, const char *text)
{
	static const GMarkupParser accept_all = { 0 };
	GMarkupParseContext *parser = g_markup_parse_context_new(&accept_all, 0, NULL, NULL);
	g_autoptr(GError) error = NULL;
	bool parsed = g_markup_parse_context_parse(parser, text, -1, &error) &&
		      g_markup_parse_context_end_parse(parser, &error);

	cr_expect(parsed, "%s: %s", name, error ? error->message : "");
	g_markup_parse_context_free(parser);
}

/* No address but the names of the two namespaces. */
static void expect_offline(const char *name, const char *text)
{
	g_autoptr(GRegex)
		regex = g_regex_new("https?:|//[a-z]|url\\(|@import|<script|<link|<img", G_REGEX_CASELESS, 0, NULL);
	g_auto(GStrv) svg = g_strsplit(text, "xmlns=\"http://www.w3.org/2000/svg\"", -1);
	g_autofree char *half = g_strjoinv("", svg);
	g_auto(GStrv) xlink = g_strsplit(half, "xmlns:xlink=\"http://www.w3.org/1999/xlink\"", -1);
	g_autofree char *rest = g_strjoinv("", xlink);
	g_autoptr(GMatchInfo) match = NULL;

	if (g_regex_match(regex, rest, 0, &match)) {
		g_autofree char *found = g_match_info_fetch(match, 0);

		cr_expect_fail("%s holds %s", name, found);
	}
}

static void expect_provenance(const char *name, const char *text, const struct report_table *table)
{
	g_autofree char *seed = g_strdup_printf("seed %" G_GUINT64_FORMAT, (guint64)table->seed);

	cr_expect_not_null(strstr(text, table->program_version), "%s has no version", name);
	cr_expect_not_null(strstr(text, table->git_revision), "%s has no revision", name);
	cr_expect_not_null(strstr(text, table->config_hash), "%s has no config hash", name);
	cr_expect_not_null(strstr(text, seed), "%s has no seed", name);
}

/* What holds for every report, whatever is in it. */
static void expect_sound(const struct written *written, const struct report_table *table)
{
	GHashTableIter files;
	gpointer name, text;

	cr_expect_not_null(g_hash_table_lookup(written->files, "report.html"));
	cr_expect_not_null(g_hash_table_lookup(written->files, "topology.svg"));
	g_hash_table_iter_init(&files, written->files);
	while (g_hash_table_iter_next(&files, &name, &text)) {
		const char *document = text;

		cr_expect(g_utf8_validate(document, -1, NULL), "%s", (char *)name);
		expect_offline(name, document);
		expect_provenance(name, document, table);
		if (g_str_has_suffix(name, ".svg"))
			expect_well_formed(name, document);
	}
}

/* The page is written so that only its head is no XML: void elements without a slash. */
static void expect_page_well_formed(const char *html)
{
	const char *body = strstr(html, "<body>");
	const char *end = strstr(html, "</html>");

	cr_assert_not_null(body);
	cr_assert_not_null(end);
	g_autofree char *text = g_strndup(body, (gsize)(end - body));

	expect_well_formed("report.html", text);
}

static void expect_report(struct report_table *table, const char *const *contains)
{
	struct written written = write_table(table);
	const char *html = file_of(&written, "report.html");

	expect_sound(&written, table);
	expect_page_well_formed(html);
	for (guint i = 0; contains && contains[i]; i++)
		cr_expect_not_null(strstr(html, contains[i]), "no %s in the page", contains[i]);
	written_clear(&written);
	report_table_free(table);
}

Test(html, the_main_job_has_every_section_and_plot)
{
	static const char *const sections[] = {
		"id=\"summary\"",
		"id=\"measured\"",
		"id=\"enough\"",
		"id=\"throughput\"",
		"id=\"heatmap\"",
		"id=\"reader-time\"",
		"id=\"in-flight\"",
		"id=\"bytes-in-flight\"",
		"id=\"credits\"",
		"id=\"topology\"",
		"id=\"points\"",
		"id=\"appendix\"",
		"rsize=1048576,wsize=1048576",
		"50 µs",
		"150 ms",
		"held out",
		"linux-cifs mailing list",
		"title=made up for a test",
		NULL,
	};
	static const char *const plots[] = {
		"plots/throughput-max_channels-1.svg",
		"plots/throughput-max_channels-2.svg",
		"plots/heatmap-max_channels-4.svg",
		"plots/reader-time-1.svg",
		"plots/reads-in-flight-2.svg",
		"plots/bytes-in-flight-1.svg",
		"plots/credits-1.svg",
	};
	struct report_table *table = synthetic_rasize_table();
	struct written written = write_table(table);

	for (size_t i = 0; i < G_N_ELEMENTS(plots); i++)
		file_of(&written, plots[i]);
	cr_assert_null(strstr(file_of(&written, "report.html"), "id=\"trouble\""));
	written_clear(&written);
	expect_report(table, sections);
}

Test(html, the_same_table_gives_the_same_bytes)
{
	struct report_table *table = synthetic_rasize_table();
	struct written first = write_table(table), second = write_table(table);
	GHashTableIter files;
	gpointer name, text;

	cr_assert_eq(g_hash_table_size(first.files), g_hash_table_size(second.files));
	g_hash_table_iter_init(&files, first.files);
	while (g_hash_table_iter_next(&files, &name, &text)) {
		cr_expect_str_eq(file_of(&second, name), text, "%s differs", (char *)name);
		cr_expect_null(strstr(text, first.directory), "%s names its directory", (char *)name);
		cr_expect_null(strstr(text, g_get_host_name()), "%s names this machine", (char *)name);
	}
	written_clear(&first);
	written_clear(&second);
	report_table_free(table);
}

Test(html, another_table_gives_other_plots)
{
	struct report_table *one = synthetic_rasize_table(), *other = synthetic_rasize_table();

	((struct report_row *)other->rows->pdata[4])->result->throughput_MBps *= 2;
	struct written first = write_table(one), second = write_table(other);

	cr_assert_str_neq(file_of(&first, "plots/throughput-max_channels-2.svg"),
			  file_of(&second, "plots/throughput-max_channels-2.svg"));
	written_clear(&first);
	written_clear(&second);
	report_table_free(one);
	report_table_free(other);
}

Test(html, hostile_strings_stay_text)
{
	static const char hostile[] =
		"<script>alert('1')</script>\"&amp;]]>--> ü € \n`id` %n %s $x {a} @b \\N EOD\x01\xff";
	static const struct synthetic_axis axes[] = {
		{ "client.rasize", "1M;<img src=x onerror=alert(1)>;'; system('id') #;`touch pwned`;@b;\\;EOD\n%d\"" },
		{ "x.<b>&\"'", "a'b;<i>;%s%n;\\\\" },
		{ "network.rtt", "1ms;10ms" },
		{ NULL, NULL },
	};
	struct report_table *table = synthetic_table(hostile, axes);

	g_free(table->config_text);
	table->config_text = g_strdup(hostile);
	table->measured_source = g_strdup(hostile);
	g_strlcpy(table->base.server.name, "a\"b\\<&\n\xff", sizeof(table->base.server.name));
	synthetic_measure(table->rows->pdata[0], 100, true, hostile);
	synthetic_fail(table->rows->pdata[1], SIM_OUTCOME_FAILED, hostile);
	((struct report_row *)table->rows->pdata[2])->result->violations = 1;
	((struct report_row *)table->rows->pdata[2])->result->violation_count = 1;
	g_strlcpy(((struct report_row *)table->rows->pdata[2])->result->violation[0].text, hostile, 160);
	expect_report(table, (const char *const[]){ "id=\"trouble\"", "&lt;script&gt;alert(&apos;1&apos;)", NULL });
}

Test(html, every_shape_of_sweep_is_reported)
{
	static const struct {
		const char *tells;
		struct synthetic_axis axes[6];
	} shapes[] = {
		{ "a single point", { { NULL, NULL } } },
		{ "one parameter", { { "client.rasize", "unset;1M;4M" } } },
		{ "one RTT axis", { { "network.rtt", "50us;1ms;150ms" } } },
		{ "RTT with zero", { { "network.rtt", "0;1ms;150ms" }, { "client.rasize", "1M;4M" } } },
		{ "names only", { { "client.kernel", "5.13;6.1;6.12" } } },
		{ "names twice", { { "client.kernel", "5.13;6.1" }, { "server.profile", "azure;samba-4.17" } } },
		{ "named networks",
		  { { "network.rtt", "localhost;metro;transpacific" }, { "client.rasize", "1M;4M" } } },
		{ "a parameter with one value", { { "client.rasize", "1M" }, { "network.rtt", "1ms;10ms" } } },
		{ "five parameters",
		  { { "client.kernel", "5.13;6.1" },
		    { "client.rasize", "1M;4M" },
		    { "network.rtt", "1ms;10ms" },
		    { "network.rate", "1Gbit;10Gbit" },
		    { "client.max_channels", "1;2" } } },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++)
		expect_report(synthetic_table(shapes[i].tells, shapes[i].axes),
			      (const char *const[]){ shapes[i].tells, "No measurement matches", NULL });
}

Test(html, failed_points_are_told_first)
{
	struct report_table *table = synthetic_rasize_table();

	synthetic_fail(table->rows->pdata[7], SIM_OUTCOME_STUCK, "3 READs wait for credits");
	struct written written = write_table(table);
	const char *html = file_of(&written, "report.html");
	const char *trouble = strstr(html, "id=\"trouble\""), *summary = strstr(html, "id=\"summary\"");

	cr_assert_not_null(trouble);
	cr_assert_lt(trouble, summary);
	cr_assert_not_null(strstr(trouble, "1 of 126 points did not finish"));
	cr_assert_not_null(strstr(trouble, "3 READs wait for credits"));
	written_clear(&written);
	report_table_free(table);
}

Test(html, a_report_of_failures_only_and_one_without_samples_are_written)
{
	static const struct synthetic_axis axes[] = { { "client.rasize", "1M;4M" },
						      { "network.rtt", "1ms;10ms" },
						      { NULL, NULL } };
	struct report_table *failed = synthetic_table("failed", axes), *empty = synthetic_table("no samples", axes);
	struct report_table *none = synthetic_table("no result", axes), *odd = synthetic_table("odd numbers", axes);

	for (guint i = 0; i < failed->rows->len; i++) {
		struct report_row *row = empty->rows->pdata[i], *odd_row = odd->rows->pdata[i];

		synthetic_fail(failed->rows->pdata[i], SIM_OUTCOME_FAILED, "mount refused");
		g_clear_pointer(&((struct report_row *)none->rows->pdata[i])->result, g_free);
		row->result->sample_count = 0;
		memset(&row->result->reader_time, 0, sizeof(row->result->reader_time));
		odd_row->result->throughput_MBps = i % 2 ? NAN : 0;
		odd_row->result->seconds = INFINITY;
	}
	expect_report(failed, (const char *const[]){ "4 of 4 points did not finish", NULL });
	expect_report(none, (const char *const[]){ "4 of 4 points did not finish", NULL });
	expect_report(empty, (const char *const[]){ "id=\"throughput\"", NULL });
	expect_report(odd, (const char *const[]){ "id=\"points\"", NULL });
}

Test(html, a_table_without_rows_is_written)
{
	struct report_table *table = report_table_new();

	table->title = g_strdup("empty");
	table->program_version = g_strdup("1");
	table->git_revision = g_strdup("2");
	table->config_hash = g_strdup("3");
	expect_report(table, (const char *const[]){ "0 points", NULL });
}

Test(html, a_thousand_points_are_written)
{
	static const struct synthetic_axis axes[] = {
		{ "client.rasize", "unset;1M;2M;3M;4M;5M;6M;8M;12M;16M;24M;32M" },
		{ "network.rtt", "0;50us;100us;200us;500us;1ms;2ms;5ms;10ms;20ms;50ms;100ms;150ms;300ms" },
		{ "client.max_channels", "1;2;4" },
		{ "network.rate", "1Gbit;10Gbit" },
		{ NULL, NULL },
	};

	expect_report(synthetic_table("many", axes), (const char *const[]){ "1008 points", "chosen evenly", NULL });
}

static void expect_tool_error(const char *path, const char *says)
{
	struct report_table *table = synthetic_rasize_table();
	g_autofree char *directory = g_dir_make_tmp("smblab-html-test-XXXXXX", NULL);
	g_autofree char *html = g_build_filename(directory, "report.html", NULL);
	g_autofree char *before = g_strdup(g_getenv("PATH"));
	g_autoptr(GError) error = NULL;

	cr_assert(g_file_set_contents(html, "old", -1, NULL));
	g_setenv("PATH", path, TRUE);
	cr_expect_not(report_write_html(table, directory, &error));
	g_setenv("PATH", before, TRUE);
	cr_expect(g_error_matches(error, REPORT_ERROR, REPORT_ERROR_TOOL));
	cr_expect_not_null(error ? strstr(error->message, says) : NULL, "%s", error ? error->message : "");
	g_autofree char *kept = NULL;

	cr_expect(g_file_get_contents(html, &kept, NULL, NULL));
	cr_expect_str_eq(kept, "old");
	g_unlink(html);
	cr_expect_eq(g_rmdir(directory), 0, "files were left");
	report_table_free(table);
}

static char *fake_tool(const char *directory, const char *name, const char *script)
{
	char *path = g_build_filename(directory, name, NULL);

	cr_assert(g_file_set_contents(path, script, -1, NULL));
	cr_assert_eq(g_chmod(path, 0755), 0);
	return path;
}

Test(html, a_missing_gnuplot_is_named_with_its_package)
{
	expect_tool_error("/nonexistent", "apt-get install gnuplot");
}

Test(html, a_missing_dot_is_named_with_its_package)
{
	g_autofree char *directory = g_dir_make_tmp("smblab-tools-XXXXXX", NULL);
	g_autofree char *gnuplot = g_find_program_in_path("gnuplot");
	g_autofree char *script = g_strdup_printf("#!/bin/sh\nPATH=/usr/bin:/bin exec %s \"$@\"\n", gnuplot);
	g_autofree char *tool = fake_tool(directory, "gnuplot", script);

	expect_tool_error(directory, "apt-get install graphviz");
	g_unlink(tool);
	g_rmdir(directory);
}

Test(html, a_gnuplot_that_fails_is_quoted_and_one_that_draws_nothing_is_noticed)
{
	static const char *const tools[][2] = {
		{ "#!/bin/sh\necho 'line 7: undefined variable' >&2\nexit 1\n", "line 7: undefined variable" },
		{ "#!/bin/sh\nexit 3\n", "it said nothing" },
		{ "#!/bin/sh\nexit 0\n", "drew no SVG" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(tools); i++) {
		g_autofree char *directory = g_dir_make_tmp("smblab-tools-XXXXXX", NULL);
		g_autofree char *tool = fake_tool(directory, "gnuplot", tools[i][0]);

		expect_tool_error(directory, tools[i][1]);
		g_unlink(tool);
		g_rmdir(directory);
	}
}

Test(html, plots_of_an_earlier_sweep_are_removed)
{
	static const struct synthetic_axis axes[] = { { "network.rtt", "1ms;10ms" }, { NULL, NULL } };
	struct report_table *table = synthetic_table("t", axes);
	g_autofree char *directory = g_dir_make_tmp("smblab-html-test-XXXXXX", NULL);
	g_autofree char *plots = g_build_filename(directory, "plots", NULL);
	g_autofree char *old = g_build_filename(plots, "throughput-max_channels-9.svg", NULL);
	g_autofree char *other = g_build_filename(plots, "notes.txt", NULL);

	g_mkdir(plots, 0777);
	cr_assert(g_file_set_contents(old, "<svg>smblab</svg>", -1, NULL));
	cr_assert(g_file_set_contents(other, "mine", -1, NULL));
	cr_assert(report_write_html(table, directory, NULL));
	cr_assert_not(g_file_test(old, G_FILE_TEST_EXISTS));
	cr_assert(g_file_test(other, G_FILE_TEST_EXISTS));
	struct written written = { g_strdup(directory),
				   g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free) };

	take_files(&written, "plots");
	take_files(&written, "");
	written_clear(&written);
	report_table_free(table);
}
