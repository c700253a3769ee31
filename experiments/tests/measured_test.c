/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/measured.h"
#include "experiments/plan.h"
#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(measured);

#define WORK "[workload]\ncommand=dd if=/mnt/f of=/dev/null bs=1M count=4\n"

static struct lab_plan *plan_of(const char *directory, const char *config, GError **error)
{
	g_autofree char *path = g_build_filename(directory, "config.ini", NULL);
	g_autoptr(lab_config) loaded = NULL;

	program_write(directory, "config.ini", config, -1);
	loaded = lab_config_load(path, NULL, error);
	return loaded ? lab_plan_new(loaded, NULL, error) : NULL;
}

static struct lab_point *point_at(const struct lab_plan *plan, guint index)
{
	cr_assert_lt(index, plan->points->len);
	return plan->points->pdata[index];
}

Test(measured, csv_cells_keep_commas_and_quotes_and_comments_are_skipped)
{
	char *directory = program_directory();
	g_autofree char *path = g_build_filename(directory, "t.csv", NULL);
	struct lab_table *table;
	char **cells;

	program_write(directory, "t.csv",
		      "# note\n# Source: a list, 2021\na,b,c\n\n\"x, y\",\"say \"\"hi\"\"\", 3 \r\n,,\n", -1);
	table = lab_table_read(path, NULL);
	cr_assert(table);
	cr_assert_str_eq(table->source, "a list, 2021");
	cr_assert_eq(table->lines->len, 3);
	cells = table->lines->pdata[1];
	cr_assert_str_eq(cells[0], "x, y");
	cr_assert_str_eq(cells[1], "say \"hi\"");
	cr_assert_str_eq(cells[2], "3");
	cr_assert_eq(g_strv_length(table->lines->pdata[2]), 3);
	cr_assert_eq(g_array_index(table->numbers, guint, 1), 5);
	lab_table_free(table);
	program_clean(directory);
}

Test(measured, a_ragged_or_empty_table_is_refused_with_its_line)
{
	static const struct {
		const char *text, *reason;
	} cases[] = { { "a,b\n1\n", "t.csv:2: 1 cells, but the header has 2" },
		      { "a,b\n", "no rows" },
		      { "", "no rows" },
		      { "a\n\xff\n", "not a text file" } };
	char *directory = program_directory();
	g_autofree char *path = g_build_filename(directory, "t.csv", NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;

		program_write(directory, "t.csv", cases[i].text, -1);
		cr_assert_null(lab_table_read(path, &error));
		cr_assert(strstr(error->message, cases[i].reason), "%s", error->message);
	}
	g_autoptr(GError) endless = NULL;
	cr_assert_null(lab_table_read("/dev/zero", &endless));
	cr_assert(strstr(endless->message, "larger than 64 MiB"), "%s", endless->message);
	program_clean(directory);
}

Test(measured, rows_are_matched_to_points_by_value_and_not_by_spelling)
{
	char *directory = program_directory();
	struct lab_plan *plan;

	program_write(directory, "m.csv", "rasize,rtt,MBps,who\n1048576,1,100,a\n1048576,1.0,200,b\n4194304,20,50,c\n",
		      -1);
	plan = plan_of(directory,
		       WORK "[sweep]\nclient.rasize=1M;4M\nnetwork.rtt=1ms;20ms\n"
			    "[measured]\nfile=m.csv\nvalue=MBps\nlabel=who\nfit.rtt=1\n"
			    "match.client.rasize=rasize\nmatch.network.rtt=rtt:ms\n",
		       NULL);
	cr_assert(plan);
	cr_assert_eq(plan->points->len, 4);
	cr_assert_eq(point_at(plan, 0)->measured.rows, 2);
	cr_assert_eq(point_at(plan, 0)->measured.value, 150, "the mean of repeats");
	cr_assert_str_eq(point_at(plan, 0)->measured.label, "a");
	cr_assert(point_at(plan, 0)->measured.fitted);
	cr_assert_eq(point_at(plan, 1)->measured.rows, 0);
	cr_assert_eq(point_at(plan, 2)->measured.rows, 0);
	cr_assert_eq(point_at(plan, 3)->measured.rows, 1);
	cr_assert_not(point_at(plan, 3)->measured.fitted);
	lab_plan_free(plan);
	program_clean(directory);
}

Test(measured, at_keeps_rows_from_points_that_the_table_does_not_tell_apart)
{
	char *directory = program_directory();
	struct lab_plan *plan;

	program_write(directory, "m.csv", "rasize,MBps\n1048576,100\n", -1);
	plan = plan_of(directory,
		       WORK "[sweep]\nclient.rasize=1M\nnetwork.rtt=1ms;20ms\n"
			    "[measured]\nfile=m.csv\nvalue=MBps\nmatch.client.rasize=rasize\nat.network.rtt=20ms\n",
		       NULL);
	cr_assert(plan);
	cr_assert_eq(point_at(plan, 0)->measured.rows, 0);
	cr_assert_eq(point_at(plan, 1)->measured.rows, 1);
	lab_plan_free(plan);
	program_clean(directory);
}

Test(measured, rows_can_be_the_points_each_with_its_own_parameters)
{
	char *directory = program_directory();
	struct lab_plan *plan;
	struct lab_point *point;

	program_write(directory, "m.tsv",
		      "rw\trtt\trate\topts\tMB\ttcp\tMBps\n"
		      "r\t0\t0\tvers=3.1.1\t2\trmem=1 2 8388608;wmem=1 2 4194304\t90\n"
		      "w\t0\t0\tvers=3.1.1\t2\trmem=1 2 8388608;wmem=1 2 4194304\t80\n"
		      "r\t5\t100\tvers=3.1.1,rasize=1048576\t3\trmem=1 2 16777216;wmem=1 2 65536\t70\n"
		      "r\t5\t100\tvers=3.1.1,rasize=1048576\t3\trmem=1 2 16777216;wmem=1 2 65536\t71\n",
		      -1);
	plan = plan_of(directory,
		       "[workload]\ncommand=dd if=/mnt/f of=/dev/null bs=1M\n"
		       "[measured]\nfile=m.tsv\npoints=rows\nvalue=MBps\nwhere.rw=r\nfit.rtt=0\n"
		       "match.network.rtt=rtt:ms\nmatch.network.rate=rate:Mbit\nmap.network.rate=0:unlimited\n"
		       "match.client.mount=opts\nmatch.workload.file_size=MB:M\n"
		       "match.network.tcp.send_buffer=tcp\nregex.network.tcp.send_buffer=wmem=[0-9]+ [0-9]+ ([0-9]+)\n"
		       "match.network.tcp.receive_buffer=tcp\n"
		       "regex.network.tcp.receive_buffer=rmem=[0-9]+ [0-9]+ ([0-9]+)\n",
		       NULL);
	cr_assert(plan);
	cr_assert_eq(plan->points->len, 3, "a repeat is a row of its own, a write is none");
	cr_assert_str_eq(point_at(plan, 1)->hash, point_at(plan, 2)->hash);
	point = point_at(plan, 0);
	cr_assert_eq(point->point->network.rate_bps, 0);
	cr_assert_eq(point->point->workload.jobs[0].read.file_bytes, 2 << 20);
	cr_assert_eq(point->point->network.tcp[0].send_buffer_bytes, 4194304);
	cr_assert_eq(point->point->network.tcp[1].receive_buffer_bytes, 8388608);
	cr_assert(point->measured.fitted);
	point = point_at(plan, 1);
	cr_assert_eq(point->point->network.rtt_ns, 5000000);
	cr_assert_eq(point->point->network.rate_bps, 100000000);
	cr_assert_eq(point->point->mount.rasize, 1048576);
	cr_assert_not(point->measured.fitted);
	lab_plan_free(plan);
	program_clean(directory);
}

Test(measured, a_wrong_measured_section_is_refused_with_its_line)
{
	static const struct {
		const char *lines, *reason;
	} cases[] = {
		{ "file=m.csv\n", "needs value=" },
		{ "file=m.csv\nvalue=MBps\n", "no match." },
		{ "file=m.csv\nvalue=MBs\nmatch.client.rasize=rasize\n", "no column 'MBs'; nearest: MBps" },
		{ "file=m.csv\nvalue=MBps\nmatch.client.rasize=rasiz\n", "nearest: rasize" },
		{ "file=m.csv\nvalue=MBps\nmatch.client.rasise=rasize\n", "nearest: client.rasize" },
		{ "file=m.csv\nvalue=MBps\nmatch.network.rtt=rasize\n", "m.csv:2: column 'rasize' as network.rtt" },
		{ "file=m.csv\nvalue=who\nmatch.client.rasize=rasize\n", "'a' is not a measured value" },
		{ "file=m.csv\nvalue=MBps\nmatch.client.rasize=rasize\nwhere.x=1\n", "no column 'x'" },
		{ "file=m.csv\nvalue=MBps\nmatch.client.rasize=rasize\nfit.x=1\n", "no column 'x'" },
		{ "file=m.csv\nvalue=MBps\nmatch.client.rasize=rasize\nwhere.who=z\n", "no row fulfils" },
		{ "file=m.csv\nvalue=MBps\nmatch.client.rasize=rasize\nregex.client.rasize=(\n",
		  "regex.client.rasize" },
		{ "file=m.csv\nvalue=MBps\nmatch.client.rasize=rasize\npoints=all\n", "'rows' or 'sweep'" },
	};
	char *directory = program_directory();

	program_write(directory, "m.csv", "rasize,MBps,who\n1048576,100,a\n", -1);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *config = g_strconcat(WORK "[measured]\n", cases[i].lines, NULL);
		g_autoptr(GError) error = NULL;

		cr_assert_null(plan_of(directory, config, &error), "case %zu", i);
		cr_assert(strstr(error->message, cases[i].reason), "case %zu: %s", i, error->message);
		cr_assert_eq(lab_exit_code(error), 2);
	}
	program_clean(directory);
}

Test(measured, the_tables_of_the_project_name_their_source)
{
	static const char *const names[] = {
		"rasize-2021-azure.csv",
		"captures/throughput-6.1.tsv",
		"captures/throughput-6.1-nagle.tsv",
		"captures/throughput-6.1-stock-tcp-buffers.tsv",
		"captures/throughput-6.1-ppc64el-64k.tsv",
		"captures/throughput-6.12.tsv",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(SMB_SOURCE_DIR, "experiments/measured", names[i], NULL);
		struct lab_table *table = lab_table_read(path, NULL);

		cr_assert(table, "%s", names[i]);
		cr_assert(table->source, "%s has no Source: line", names[i]);
		lab_table_free(table);
	}
}

/* The table that is run may only add states to what was published. */
Test(measured, the_states_of_2018_repeat_every_published_count)
{
	g_autoptr(GError) error = NULL;
	struct lab_table *published = lab_table_read(SMB_SOURCE_DIR "/experiments/measured/compounding-2018.csv",
						     &error);
	struct lab_table *states = lab_table_read(SMB_SOURCE_DIR "/experiments/measured/compounding-2018-states.csv",
						  &error);
	guint matched = 0, counts = 0;

	cr_assert(published && states, "%s", error ? error->message : "");
	for (guint i = 1; i < states->lines->len; i++) {
		char **state = states->lines->pdata[i];
		bool is_after = !strcmp(state[1], "after");

		counts += *state[9] != '\0';
		for (guint p = 1; p < published->lines->len; p++) {
			char **row = published->lines->pdata[p];

			matched += !strcmp(row[0], state[0]) && !strcmp(row[is_after ? 2 : 1], state[9]);
		}
	}
	cr_expect_eq(counts, 2 * (published->lines->len - 1));
	cr_expect_eq(matched, counts);
	lab_table_free(published);
	lab_table_free(states);
}
