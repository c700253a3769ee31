/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

TestSuite(calibrate, .timeout = 300);

/* A client bound by its processor where the network is fast, and by the network elsewhere. */
static const char synthetic[] = "[client]\ncores=1\n"
				"[network]\nrate=unlimited\nshared_host=true\n"
				"[workload]\ncommand=dd if=/mnt/f of=/dev/null bs=1M count=16\n"
				"[sweep]\nclient.rasize=1M;4M\nnetwork.rtt=0;5ms;20ms\n";

#define RECEIVE_CPU 1.7
#define REQUEST_CPU_US 120

static JsonObject *json_of(JsonParser *parser, const struct program *program)
{
	cr_assert(json_parser_load_from_data(parser, program->out, -1, NULL), "%s", program->out);
	return json_node_get_object(json_parser_get_root(parser));
}

/* The simulator's own predictions at known parameters, written down as if they had been measured. */
static void write_synthetic_measurements(const char *directory)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	GString *table = g_string_new("# Source: this test\nrasize,rtt,MBps\n");
	struct program program;
	JsonArray *rows;

	program_write(directory, "truth.ini", synthetic, -1);
	program = program_run(directory, "run", "truth.ini", "--json", "--set", "client.cost.receive_cpu=1.7", "--set",
			      "client.cost.request_cpu=120us", NULL);
	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	rows = json_object_get_array_member(json_of(parser, &program), "rows");
	for (guint i = 0; i < json_array_get_length(rows); i++) {
		JsonObject *row = json_array_get_object_element(rows, i);

		g_string_append_printf(table, "%s,%s,%.6f\n", json_object_get_string_member(row, "client.rasize"),
				       json_object_get_string_member(row, "network.rtt"),
				       json_object_get_double_member(row, "throughput_MBps"));
	}
	program_write(directory, "measured.csv", table->str, -1);
	g_string_free(table, TRUE);
	program_clear(&program);
}

#define MEASURED                                                                                                       \
	"[measured]\nfile=measured.csv\nvalue=MBps\nfit.rtt=0\n"                                                       \
	"match.client.rasize=rasize\nmatch.network.rtt=rtt\n"

static void write_fit(const char *directory, const char *calibrate)
{
	g_autofree char *config = g_strconcat(synthetic, MEASURED, calibrate, NULL);

	program_write(directory, "fit.ini", config, -1);
}

Test(calibrate, known_parameters_are_found_again_and_predict_what_was_held_out)
{
	char *directory = program_directory();
	g_autoptr(JsonParser) parser = json_parser_new();
	struct program program;
	JsonObject *object, *held_out;
	double receive_cpu, bias;

	write_synthetic_measurements(directory);
	write_fit(directory, "[calibrate]\nclient.cost.receive_cpu=0.1..10\nclient.cost.request_cpu=10us..1ms\n"
			     "evaluations=60\n");
	program = program_run(directory, "calibrate", "fit.ini", "--json", "--out", "out", "--write", "fitted.ini",
			      NULL);
	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	object = json_of(parser, &program);
	receive_cpu = g_ascii_strtod(json_object_get_string_member(json_object_get_object_member(object, "parameters"),
								   "client.cost.receive_cpu"),
				     NULL);
	cr_assert_lt(fabs(receive_cpu / RECEIVE_CPU - 1), 0.05, "found %g", receive_cpu);
	held_out = json_object_get_object_member(object, "held_out");
	cr_assert_eq(json_object_get_int_member(held_out, "rows"), 4);
	bias = json_object_get_double_member(held_out, "mean_absolute_percent");
	cr_assert_lt(bias, 1.0, "held-out rows are off by %g %%", bias);
	program_clear(&program);
	program_clean(directory);
}

Test(calibrate, what_is_written_can_be_included_and_predicts_the_same)
{
	char *directory = program_directory();
	g_autofree char *config = g_strconcat("[experiment]\ninclude=fitted.ini\n", synthetic, MEASURED, NULL);
	g_autofree char *fitted = NULL, *a = NULL, *b = NULL;
	struct program program;

	write_synthetic_measurements(directory);
	write_fit(directory, "[calibrate]\nclient.cost.receive_cpu=0.1..10\nevaluations=10\n");
	program = program_run(directory, "calibrate", "fit.ini", "--out", "fit", "--write", "fitted.ini",
			      "--write-profile", "server.ini", NULL);
	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	program_clear(&program);
	fitted = program_read(directory, "fitted.ini");
	cr_assert(g_str_has_prefix(fitted, "# Source: fitted by smblab"), "%s", fitted);
	program_write(directory, "again.ini", config, -1);
	program = program_run(directory, "run", "again.ini", "--out", "again", NULL);
	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	program_clear(&program);
	a = program_read(directory, "fit/results.csv");
	b = program_read(directory, "again/results.csv");
	cr_assert_str_eq(a, b);
	program = program_run(directory, "run", "again.ini", "--dry-run", "--set", "server.profile=server.ini", "--set",
			      "client.costs=fitted.ini", NULL);
	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	program_clear(&program);
	program_clean(directory);
}

Test(calibrate, listed_values_are_all_tried)
{
	char *directory = program_directory();
	struct program program;

	write_synthetic_measurements(directory);
	write_fit(directory, "[calibrate]\nclient.cost.receive_cpu=0.5;1.7;5\nclient.cost.request_cpu=60us;120us\n");
	program = program_run(directory, "calibrate", "fit.ini", "--out", "out", NULL);
	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	cr_assert(strstr(program.out, "client.cost.receive_cpu=1.7\n"), "%s", program.out);
	cr_assert(strstr(program.out, "client.cost.request_cpu=120us\n"), "%s", program.out);
	cr_assert(strstr(program.out, "6 evaluations; misfit of the fitted rows 0.00 %"), "%s", program.out);
	program_clear(&program);
	program_clean(directory);
}

Test(calibrate, nonsense_is_refused)
{
	static const struct {
		const char *lines, *reason;
	} cases[] = {
		{ "", "names no parameter" },
		{ "[calibrate]\n", "names no parameter" },
		{ "[calibrate]\nclient.cost.recieve_cpu=1..2\n", "nearest: client.cost.receive_cpu" },
		{ "[calibrate]\nclient.cost.receive_cpu=2..1\n", "below the upper" },
		{ "[calibrate]\nclient.cost.receive_cpu=1..x\n", "not a number" },
		{ "[calibrate]\nclient.cost.receive_cpu=1;x\n", "not a number" },
		{ "[calibrate]\nclient.kernel=6.1..6.4\n", "bounds need a key" },
		{ "[calibrate]\nclient.cost.receive_cpu=1..2\nevaluations=0\n", "1 to 100000" },
		{ "[calibrate]\nclient.cost.receive_cpu=1..2\nalgorithm=magic\n", "sbplx" },
		{ "[calibrate]\nclient.rasize=1M..2M\n", "value of its own" },
		{ "[calibrate]\nnetwork.rtt=1ms;2ms\n", "value of its own" },
	};
	char *directory = program_directory();

	program_write(directory, "measured.csv", "rasize,rtt,MBps\n1M,0,100\n", -1);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct program program;

		write_fit(directory, cases[i].lines);
		program = program_run(directory, "calibrate", "fit.ini", NULL);
		cr_assert_eq(program.exit_code, 2, "case %zu: %s", i, program.err);
		cr_assert(strstr(program.err, cases[i].reason), "case %zu: %s", i, program.err);
		cr_assert_eq(program_entries(directory), 2, "case %zu: something was written", i);
		program_clear(&program);
	}
	program_clean(directory);
}

Test(calibrate, compare_judges_held_out_rows_by_the_bounds_given)
{
	char *directory = program_directory();
	g_autofree char *config = g_strconcat(synthetic, MEASURED, NULL);
	static const struct {
		const char *option, *bound;
		int exit_code;
	} cases[] = {
		{ "--max-error", "99", 0 },
		{ "--max-error", "0.0001", 1 },
		{ "--max-row-error", "0.0001", 1 },
		{ "--max-error", "-1", 2 },
	};

	write_synthetic_measurements(directory);
	program_write(directory, "plain.ini", config, -1);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct program run = program_run(directory, "run", "plain.ini", "--out", "out", NULL);
		struct program compare = program_run(directory, "compare", "out", cases[i].option, cases[i].bound,
						     NULL);

		cr_assert_eq(run.exit_code, 0, "%s", run.err);
		cr_assert_eq(compare.exit_code, cases[i].exit_code, "%s %s: %s%s", cases[i].option, cases[i].bound,
			     compare.out, compare.err);
		program_clear(&run);
		program_clear(&compare);
	}
	program_clean(directory);
}

Test(calibrate, compare_takes_another_table)
{
	char *directory = program_directory();
	g_autofree char *config = g_strconcat(synthetic, MEASURED, NULL);
	struct program program;

	write_synthetic_measurements(directory);
	program_write(directory, "plain.ini", config, -1);
	program_write(directory, "other.csv", "rasize,rtt,MBps\n1M,5ms,1\n", -1);
	program_write(directory, "foreign.csv", "rasize,rtt,MBps\n2M,5ms,1\n", -1);
	program = program_run(directory, "run", "plain.ini", "--out", "out", NULL);
	program_clear(&program);
	program = program_run(directory, "compare", "out", "--measured", "other.csv", NULL);
	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	cr_assert(strstr(program.out, "  1 rows"), "%s", program.out);
	program_clear(&program);
	program = program_run(directory, "compare", "out", "--measured", "foreign.csv", NULL);
	cr_assert_eq(program.exit_code, 4, "%s", program.err);
	program_clear(&program);
	program = program_run(directory, "compare", "out", "--measured", "nowhere.csv", NULL);
	cr_assert_eq(program.exit_code, 2, "%s", program.err);
	program_clear(&program);
	program_clean(directory);
}
