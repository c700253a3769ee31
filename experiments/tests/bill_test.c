/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <json-glib/json-glib.h>
#include <string.h>

static struct program bill(const char *line, const char *option, const char *value)
{
	g_autofree char *directory = program_directory();
	struct program program = program_run(directory, "bill", line, option, value, NULL);

	program_clean(g_steal_pointer(&directory));
	return program;
}

Test(bill, kernels_differ_as_published)
{
	static const struct {
		const char *kernel;
		const char *says;
	} cases[] = {
		{ "4.15", "5 pairs  [CREATE] [GETINFO] [CLOSE] [CREATE] [CLOSE]" },
		{ "4.20", "2 pairs  [CREATE+GETINFO+CLOSE] [CREATE+CLOSE]" },
		{ "6.12", "2 pairs  [CREATE+GETINFO+CLOSE] [CREATE+CLOSE]" },
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct program program = bill("rm /mnt/file", "--kernel", cases[i].kernel);

		cr_expect_eq(program.exit_code, 0, "%s", program.err);
		cr_expect(strstr(program.out, cases[i].says), "%s", program.out);
		cr_expect(strstr(program.out, "assumed: /mnt/file is a file of 10 bytes"), "%s", program.out);
		program_clear(&program);
	}
}

Test(bill, several_commands_share_one_warm_mount)
{
	struct program program = bill("touch /mnt/a; sleep 2; rm /mnt/a; stat /mnt/a", "--kernel", "6.1");

	cr_expect_eq(program.exit_code, 0, "%s", program.err);
	cr_expect(strstr(program.out, "sleep 2\n  1 pair  [CLOSE]\n"), "%s", program.out);
	cr_expect(strstr(program.out, "stat /mnt/a: No such file or directory\n"), "%s", program.out);
	cr_expect_null(strstr(program.out, "assumed"), "%s", program.out);
	program_clear(&program);
}

Test(bill, refusals_of_the_server_are_results)
{
	struct program program = bill("rmdir /mnt/full", "--directory", "/mnt/full=3");

	cr_expect_eq(program.exit_code, 0, "%s", program.err);
	cr_expect(strstr(program.out, "rmdir /mnt/full: Directory not empty\n"), "%s", program.out);
	cr_expect(strstr(program.out, "SETINFO!c0000101"), "%s", program.out);
	program_clear(&program);
}

Test(bill, json_has_sequence_and_details)
{
	struct program program = bill("mount; rm /mnt/file; umount /mnt", "--json", "--kernel=6.1");
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *root;
	JsonArray *commands;

	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	cr_assert(json_parser_load_from_data(parser, program.out, -1, NULL), "%s", program.out);
	root = json_node_get_object(json_parser_get_root(parser));
	commands = json_object_get_array_member(root, "commands");
	cr_assert_eq(json_array_get_length(commands), 3);
	JsonObject *rm = json_array_get_object_element(commands, 1);
	cr_expect_eq(json_object_get_int_member(rm, "pairs"), 2);
	cr_expect_str_eq(json_object_get_string_member(rm, "sequence"), "[CREATE+GETINFO+CLOSE] [CREATE+CLOSE]");
	cr_expect(
		strstr(json_object_get_string_member(rm, "detail"), "CREATE(OPEN,0x10000,op0x0)<mid23 ch1 req10 gr0>"));
	cr_expect_eq(json_object_get_int_member(root, "pairs"), 18 + 2 + 4);
	program_clear(&program);
}

Test(bill, what_is_not_understood_is_a_usage_error_that_says_why)
{
	static const struct {
		const char *line, *option, *value, *reason;
	} cases[] = {
		{ "frob /mnt/a", "--kernel", "6.1", "frob is not known" },
		{ "rm /mnt/a", "--kernel", "7.7", "'7.7' is no era" },
		{ "rm /mnt/a", "--mount", "rasize=5", "Invalid rasize" },
		{ "rm /mnt/a", "--server", "nix", "no server profile" },
		{ "rm /mnt/a", "--policy", "nix=1", "there is no client.policy.nix" },
		{ "rm /mnt/a", "--policy", "coreutils=1999", "values: 2018|2022" },
		{ "rm /mnt/a", "--file", "/tmp/a", "not below the mount point" },
		{ "rm /mnt/a", "--file", "/mnt/a=x", "x" },
		{ "umount /mnt; mount; mount", "--kernel", "6.1", "mounted already" },
		{ "umount /mnt; stat /mnt/a", "--kernel", "6.1", "not mounted" },
		{ "rm /mnt/a", "--mount", "vers=1.0", "SMB2 and later only" },
		{ "rm /mnt/a", "--rtt", "20", "needs a unit" },
		{ "rm /mnt/a", "--network", "moon", "transpacific" },
		{ "rm /mnt/a", "--set", "network.rate=0", "'unlimited'" },
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct program program = bill(cases[i].line, cases[i].option, cases[i].value);

		cr_expect_eq(program.exit_code, 2, "%s: %d", cases[i].line, program.exit_code);
		cr_expect(strstr(program.err, cases[i].reason), "%s: %s", cases[i].line, program.err);
		program_clear(&program);
	}
}

Test(bill, time_at_a_round_trip_is_told_chain_by_chain)
{
	struct program program = program_run(
		"/tmp", "bill", "rm /mnt/file; sleep 1; for i in $(seq 2); do mkdir /mnt/d$i; done", "--json",
		"--kernel=4.20", "--rtt=20ms", "--set", "client.cost.command_cpu=1ms", NULL);
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *root;
	JsonArray *commands;

	cr_assert_eq(program.exit_code, 0, "%s", program.err);
	cr_assert(json_parser_load_from_data(parser, program.out, -1, NULL), "%s", program.out);
	root = json_node_get_object(json_parser_get_root(parser));
	commands = json_object_get_array_member(root, "commands");
	cr_assert_eq(json_array_get_length(commands), 4);
	JsonObject *rm = json_array_get_object_element(commands, 0);
	JsonArray *chains = json_object_get_array_member(rm, "chains");
	cr_assert_eq(json_array_get_length(chains), 2);
	cr_expect_float_eq(json_object_get_double_member(rm, "ms"), 41, 0.5);
	for (guint i = 0; i < 2; i++) {
		JsonObject *chain = json_array_get_object_element(chains, i);

		cr_expect_float_eq(json_object_get_double_member(chain, "at_ms"), 1 + 20 * i, 0.3);
		cr_expect_float_eq(json_object_get_double_member(chain, "ms"), 20, 0.3);
	}
	JsonObject *mkdir = json_array_get_object_element(commands, 3);
	cr_expect_eq(json_object_get_int_member(mkdir, "number"), 2);
	cr_expect_float_eq(json_object_get_double_member(root, "ms"), 41 + 2 * 61, 1, "sleep is not counted");
	program_clear(&program);
}

Test(bill, times_are_told_only_where_there_is_a_network)
{
	struct program without = bill("rm /mnt/file", "--kernel", "6.1");
	struct program with = bill("rm /mnt/file", "--network", "transatlantic");

	cr_expect_null(strstr(without.out, " ms"), "%s", without.out);
	cr_expect(strstr(with.out, "    at    90.7"), "%s", with.out);
	cr_expect(strstr(with.out, "RTT 90ms, rate 1Gbit\n"), "%s", with.out);
	program_clear(&without);
	program_clear(&with);
}
