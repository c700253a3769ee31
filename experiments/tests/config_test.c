/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(config, .timeout = 240);

#define WORK "[workload]\ncommand=dd if=/mnt/f of=/dev/null bs=1M count=1\n"

/* Each is given to the program itself; its message must hold all three texts. */
static const struct {
	const char *config;
	const char *place; /* "bad.ini:LINE:" or the like */
	const char *key;
	const char *reason;
} bad[] = {
	{ "[client]\nkernl=6.1\n" WORK, "bad.ini:2:", "[client] kernl", "nearest: client.kernel" },
	{ "[clint]\nkernel=6.1\n" WORK, "bad.ini:2:", "[clint]", "nearest: client" },
	{ "[client]\nkernel=6.1\nkernel=6.4\n" WORK, "bad.ini:3:", "[client] kernel", "line 2" },
	{ WORK "[client]\nkernel=6.1\n[client]\npage_size=4K\n", "bad.ini:5:", "[client]", "line 3" },
	{ "[client]\nkernel=7.0\n" WORK, "bad.ini:2:", "[client] kernel", "the eras are" },
	{ "[client]\npage_size=5K\n" WORK, "bad.ini:2:", "[client] page_size", "4K, 8K, 16K, 32K, 64K" },
	{ "[client]\nrasize=-4M\n" WORK, "bad.ini:2:", "[client] rasize", "negative" },
	{ "[client]\nmax_channels=0\n" WORK, "bad.ini:2:", "[client] max_channels", "least is 1" },
	{ "[client]\npolicy.channel_pik=rotating\n" WORK, "bad.ini:2:", "channel_pik", "channel_pick" },
	{ "[client]\npolicy.channel_pick=best\n" WORK, "bad.ini:2:", "policy.channel_pick", "round_robin" },
	{ "[client]\nmount=vers=3.1.1,rasize=4096\n" WORK, "bad.ini:2:", "[client] mount", "Invalid rasize 4096" },
	{ "[client]\nmount=vers=3.1.1,rasize=4M\n" WORK, "bad.ini:2:", "[client] mount", "Bad value for 'rasize'" },
	{ "[client]\nmount=//server/share /mnt\n" WORK, "bad.ini:2:", "[client] mount", "space" },
	{ "[client]\nkernel=4.20\nrasize=4M\n" WORK, "bad.ini", "rasize", "mount -o" },
	{ "[client]\ncosts=nowhere.ini\n" WORK, "bad.ini:2:", "[client] costs", "No such file" },
	{ "[server]\nprofile=amiga\n" WORK, "bad.ini:2:", "[server] profile", "amiga" },
	{ "[server]\ndialect_min=3.1.1\ndialect_max=2.1\n" WORK, "bad.ini", "dialect_min", "above" },
	{ "[network]\nrate=0\n" WORK, "bad.ini:2:", "[network] rate", "'unlimited'" },
	{ "[network]\nrate=10G\n" WORK, "bad.ini:2:", "[network] rate", "unknown unit" },
	{ "[network]\nrtt=120s\n" WORK, "bad.ini:2:", "[network] rtt", "most is 10s" },
	{ "[network]\nrtt=2min\n" WORK, "bad.ini:2:", "[network] rtt", "unknown unit" },
	{ "[network]\nrtt=10\n" WORK, "bad.ini:2:", "[network] rtt", "needs a unit" },
	{ "[network]\nloss=1.5\n" WORK, "bad.ini:2:", "[network] loss", "most is 0.5" },
	{ "[network]\npreset=moon\n" WORK, "bad.ini:2:", "[network] preset", "transpacific" },
	{ "[network]\npreset=metro\nrtt=1ms\nrate=1Gbit\n" WORK, "bad.ini", "network.preset", "means nothing" },
	{ "[network]\nshared_host=true\n[server]\ncores=2\n" WORK, "bad.ini", "server.cores", "shared_host" },
	{ "[network]\nshared_host=maybe\n" WORK, "bad.ini:2:", "[network] shared_host", "neither true nor false" },
	{ "[workload]\ncommand=rm -r /mnt/f\n", "bad.ini:2:", "[workload] command", "option -r is not known" },
	{ "[workload]\nprepare=frob\ncommand=rm /mnt/f\n", "bad.ini:3:", "[workload] command", "frob is not known" },
	{ "[workload]\nfiles=/etc/x\ncommand=rm /mnt/f\n", "bad.ini:3:", "[workload] command", "not below" },
	{ "[workload]\ncommand=dd if=/mnt/f bs=0 count=1\n", "bad.ini:2:", "[workload] command", "block size" },
	{ "[workload]\ncommand=cat /mnt/f\n", "bad.ini:2:", "[workload] command", "file_size" },
	{ "[workload]\nfile_size=-1\n", "bad.ini:2:", "[workload] file_size", "negative" },
	{ "[client]\nkernel=6.1\n", "bad.ini", "workload.command", "missing" },
	{ WORK "[sweep]\nclient.rasiz=1M;2M\n", "bad.ini:4:", "[sweep] client.rasiz", "client.rasize" },
	{ WORK "[sweep]\nclient.rasize=1M;;2M\n", "bad.ini:4:", "[sweep] client.rasize", "empty" },
	{ WORK "[sweep]\nclient.rasize=\n", "bad.ini:4:", "[sweep] client.rasize", "empty" },
	{ WORK "[sweep]\nnetwork.rtt=1ms;5\n", "bad.ini:4:", "[sweep] network.rtt", "needs a unit" },
	{ WORK "[client]\nrasize=1M\n[sweep]\nclient.rasize=1M;2M\n", "bad.ini:6:", "client.rasize", "line 4" },
	{ WORK "[sweep]\nexperiment.title=a;b\n", "bad.ini:4:", "experiment.title", "no sweep" },
	{ WORK "[experiment]\nrepeat=0\n", "bad.ini:4:", "[experiment] repeat", "least is 1" },
	{ WORK "[experiment]\ninclude=nowhere.ini\n", "bad.ini:4:", "[experiment] include", "No such file" },
	{ WORK "[measured]\nfile=nowhere.csv\nvalue=x\n", "bad.ini:4:", "[measured] file", "No such file" },
	{ WORK "[measured]\nvalue=x\n", "bad.ini:4:", "[measured] value", "needs file=" },
	{ WORK "[measured]\nfil=x\n", "bad.ini:4:", "[measured] fil", "nearest: file" },
	{ "[client\nkernel=6.1\n", "bad.ini:1:", "[client", "[name]" },
	{ "[client]\nkernel\n", "bad.ini:2:", "kernel", "neither" },
	{ "kernel=6.1\n", "bad.ini:1:", "kernel", "before the first" },
	{ "[client]\nkern", "bad.ini:2:", "kern", "neither" },
	{ "", "bad.ini", "bad.ini", "empty" },
	{ "\n\n# nothing\n", "bad.ini", "bad.ini", "empty" },
	{ "[client]\nmount=\xff\xfe\n", "bad.ini:2:", "bad.ini", "not a text file" },
};

static void expect_refused(const char *directory, const char *config)
{
	struct program program = program_run(directory, "run", config, "--out", "out", NULL);
	g_autofree char *out = g_build_filename(directory, "out", NULL);

	cr_assert_eq(program.exit_code, 2, "exit %d: %s", program.exit_code, program.err);
	cr_assert_str_eq(program.out, "");
	cr_assert_not(g_file_test(out, G_FILE_TEST_EXISTS), "something was written");
	program_clear(&program);
}

Test(config, bad_input_is_refused_with_file_line_and_key_and_nothing_is_written)
{
	char *directory = program_directory();

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		struct program program;

		program_write(directory, "bad.ini", bad[i].config, -1);
		expect_refused(directory, "bad.ini");
		program = program_run(directory, "run", "bad.ini", NULL);
		cr_assert_eq(program.exit_code, 2);
		cr_assert(strstr(program.err, bad[i].place), "case %zu: %s", i, program.err);
		cr_assert(strstr(program.err, bad[i].key), "case %zu: %s", i, program.err);
		cr_assert(strstr(program.err, bad[i].reason), "case %zu: %s", i, program.err);
		cr_assert_eq(program_entries(directory), 1, "case %zu: something was written", i);
		program_clear(&program);
	}
	program_clean(directory);
}

Test(config, binary_huge_and_missing_files_are_refused)
{
	static const char binary[] = "[client]\nkernel=6.1\0\0\0\x7f"
				     "ELF";
	g_autofree char *huge = g_strnfill(2 * 1024 * 1024, '#');
	char *directory = program_directory();

	program_write(directory, "binary.ini", binary, sizeof(binary));
	program_write(directory, "huge.ini", huge, -1);
	expect_refused(directory, "binary.ini");
	expect_refused(directory, "huge.ini");
	expect_refused(directory, "missing.ini");
	expect_refused(directory, ".");
	expect_refused(directory, "/dev/zero");
	program_clean(directory);
}

Test(config, a_byte_order_mark_and_line_ends_of_other_systems_do_not_matter)
{
	g_autofree char *marked = g_strconcat("\xef\xbb\xbf", program_config, NULL);
	g_auto(GStrv) lines = g_strsplit(program_config, "\n", -1);
	g_autofree char *returns = g_strjoinv("\r\n", lines);
	const char *const texts[] = { marked, returns };
	char *directory = program_directory();

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		struct program program;

		program_write(directory, "c.ini", texts[i], -1);
		program = program_run(directory, "run", "c.ini", "--dry-run", NULL);
		cr_assert_eq(program.exit_code, 0, "case %zu: %s", i, program.err);
		cr_assert(strstr(program.out, "6 points"), "case %zu: %s", i, program.out);
		program_clear(&program);
	}
	program_clean(directory);
}

Test(config, what_a_set_brought_in_is_blamed_on_it)
{
	static const struct {
		const char *set, *message;
	} cases[] = { { "workload.command=rm -r /mnt/f", "--set workload.command=rm -r /mnt/f: " },
		      { "client.mount=vers=9", "--set client.mount=vers=9: " },
		      { "sweep.client.mount=vers=9;vers=8", "--set sweep.client.mount=vers=9;vers=8: " } };
	char *directory = program_directory();

	program_write(directory, "c.ini", program_config, -1);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct program program = program_run(directory, "run", "c.ini", "--set", cases[i].set, NULL);

		cr_assert_eq(program.exit_code, 2, "%s", program.err);
		cr_assert(strstr(program.err, cases[i].message), "%s", program.err);
		program_clear(&program);
	}
	program_clean(directory);
}

Test(config, every_truncation_of_a_config_is_refused_or_understood)
{
	char *directory = program_directory();

	for (size_t length = 0; length < strlen(program_config); length += 7) {
		struct program program;

		program_write(directory, "cut.ini", program_config, (gssize)length);
		program = program_run(directory, "run", "cut.ini", "--dry-run", NULL);
		cr_assert(program.exit_code == 0 || program.exit_code == 2, "exit %d", program.exit_code);
		cr_assert(program.exit_code == 0 || strstr(program.err, "cut.ini"), "%s", program.err);
		cr_assert_eq(program_entries(directory), 1);
		program_clear(&program);
	}
	program_clean(directory);
}

Test(config, set_replaces_a_value_or_a_sweep_and_is_judged_like_the_file)
{
	static const struct {
		const char *set;
		int exit_code;
		const char *expected;
	} cases[] = {
		{ "network.rtt=5ms", 0, "3 points" },
		{ "sweep.network.rtt=1ms;2ms;3ms;4ms", 0, "12 points" },
		{ "client.mount=vers=3.0", 0, "6 points" },
		{ "network.rtt=5", 2, "needs a unit" },
		{ "network.rt=5ms", 2, "nearest: network.rtt" },
		{ "network.rtt", 2, "SECTION.KEY=VALUE" },
	};
	char *directory = program_directory();

	program_write(directory, "good.ini", program_config, -1);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct program program = program_run(directory, "run", "good.ini", "--dry-run", "--set", cases[i].set,
						     NULL);

		cr_assert_eq(program.exit_code, cases[i].exit_code, "%s: %s", cases[i].set, program.err);
		cr_assert(strstr(cases[i].exit_code ? program.err : program.out, cases[i].expected), "%s: %s%s",
			  cases[i].set, program.out, program.err);
		program_clear(&program);
	}
	cr_assert_eq(program_entries(directory), 1);
	program_clean(directory);
}

Test(config, a_wrong_command_line_is_refused)
{
	static const char *const lines[] = { "",
					     "runn good.ini",
					     "run",
					     "run a b",
					     "run good.ini --shard 3/2",
					     "run good.ini --shard x",
					     "run good.ini --jobs -1",
					     "list nothing",
					     "list",
					     "compare",
					     "compare .",
					     "merge",
					     "report missing",
					     "run good.ini --frobnicate" };
	char *directory = program_directory();

	program_write(directory, "good.ini", program_config, -1);
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
		guint n = g_strv_length(words);
		struct program program = program_run(directory, n > 0 ? words[0] : NULL, n > 1 ? words[1] : NULL,
						     n > 2 ? words[2] : NULL, n > 3 ? words[3] : NULL, NULL);

		cr_assert_eq(program.exit_code, 2, "%s: exit %d: %s", lines[i], program.exit_code, program.err);
		cr_assert(*program.err, "%s: no message", lines[i]);
		cr_assert_eq(program_entries(directory), 1, "%s: something was written", lines[i]);
		program_clear(&program);
	}
	program_clean(directory);
}

Test(config, each_command_explains_itself_with_an_example)
{
	static const char *const commands[] = { "run", "compare", "calibrate", "report", "merge", "list" };
	char *directory = program_directory();

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		struct program program = program_run(directory, commands[i], "--help", NULL);
		g_autofree char *usage = g_strconcat("smblab ", commands[i], NULL);

		cr_assert_eq(program.exit_code, 0);
		cr_assert(strstr(program.out, "Example:"), "%s", program.out);
		cr_assert(strstr(program.out, usage), "%s", program.out);
		program_clear(&program);
	}
	program_clean(directory);
}

Test(config, each_list_names_what_exists_as_text_and_as_json)
{
	static const struct {
		const char *what, *expected;
	} lists[] = {
		{ "eras", "5.13" },
		{ "policies", "channel_pick" },
		{ "presets", "transpacific" },
		{ "profiles", "azure" },
		{ "rules", "C1" },
		{ "mount-options", "rasize" },
		{ "workloads", "fio" },
		{ "keys", "network.tcp.cubic" },
		{ "columns", "credits_min" },
	};
	char *directory = program_directory();

	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
		struct program text = program_run(directory, "list", lists[i].what, NULL);
		struct program json = program_run(directory, "list", lists[i].what, "--json", NULL);

		cr_assert_eq(text.exit_code, 0, "%s", text.err);
		cr_assert(strstr(text.out, lists[i].expected), "%s", text.out);
		cr_assert_eq(json.exit_code, 0);
		cr_assert(json.out[0] == '[' && strstr(json.out, lists[i].expected), "%s", json.out);
		program_clear(&text);
		program_clear(&json);
	}
	program_clean(directory);
}
