/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smblab check --kit and smblab replay: the program itself, and what tshark and dot make of its files. */

#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <json-glib/json-glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Kernels of this era ask for more credits than max_credits leaves. */
static const char config[] = "[experiment]\ntitle=Small max_credits\n"
			     "[client]\nkernel=6.1\nmount=vers=3.1.1,max_credits=20\n"
			     "[server]\nprofile=samba-4.17\ncredits_max=16\n"
			     "[check]\nstart=mounted\n"
			     "[workload]\nfiles=f=64K\nthread1=open f; read f 0 64K\n";

/* A directory with a kit in it. */
static char *kit_made(void)
{
	char *directory = program_directory();
	struct program run;

	program_write(directory, "small.ini", config, -1);
	run = program_run(directory, "check", "small.ini", "--kit", "kit", NULL);
	cr_assert_eq(run.exit_code, 1, "%s%s", run.out, run.err);
	cr_assert_not_null(strstr(run.out, "C6 is broken: "), "%s", run.out);
	program_clear(&run);
	return directory;
}

static char *kit_file(const char *directory, const char *name)
{
	g_autofree char *kit = g_build_filename(directory, "kit", NULL);
	char *text = program_read(kit, name);

	cr_assert_not_null(text, "%s is missing", name);
	return text;
}

static guint count_of(const char *text, const char *word)
{
	guint count = 0;

	for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
		count++;
	return count;
}

/* What tshark says about the kit's capture. */
static char *tshark(const char *directory, const char *options)
{
	g_autofree char *line = g_strdup_printf("tshark -n -r '%s/kit/trace.pcapng' %s 2>/dev/null", directory,
						options);
	GString *said = g_string_new(NULL);
	char part[4096];
	FILE *pipe = popen(line, "r");

	cr_assert_not_null(pipe);
	while (fgets(part, sizeof(part), pipe))
		g_string_append(said, part);
	cr_assert_eq(pclose(pipe), 0, "tshark does not run; this test needs it: %s", line);
	return g_string_free(said, FALSE);
}

Test(replay, a_kit_is_complete_and_its_last_line_names_the_rule)
{
	static const char *const names[] = { "trace.svg", "graph.svg", "trace.pcapng", "replay.smblab" };
	char *directory = kit_made();
	g_autofree char *kit = g_build_filename(directory, "kit", NULL);
	g_autofree char *trace = kit_file(directory, "trace.txt");
	g_autofree char *chart = kit_file(directory, "trace.svg");
	g_autofree char *graph = kit_file(directory, "graph.svg");
	const char *last = strstr(trace, "\ninstead: a request is sent only when its charge is held");

	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *file = kit_file(directory, names[i]);
	}
	cr_expect_eq(program_entries(kit), 5u);
	cr_expect_eq(program_entries(directory), 2u, "nothing is left beside the kit");
	cr_assert_not_null(last, "%s", trace);
	cr_expect(g_str_has_prefix(strchr(last + 1, '\n'), "\nC6 is broken: "), "%s", last);
	cr_expect_not_null(strstr(trace, "  m1. mount"), "%s", trace);
	cr_expect_not_null(strstr(trace, "   1. thread 1: open f"), "%s", trace);
	cr_expect_not_null(strstr(trace, "granted, window "), "%s", trace);
	cr_expect_not_null(strstr(chart, "C6 is broken: "));
	cr_expect_not_null(strstr(graph, "broken C6"));
	program_clean(directory);
}

Test(replay, tshark_reads_the_capture_and_shows_the_comment_at_one_frame)
{
	char *directory = kit_made();
	g_autofree char *marked = tshark(directory, "-Y '_ws.malformed || _ws.expert.severity == error'");
	g_autofree char *comments = tshark(directory, "-T fields -e frame.comment -Y frame.comment");
	g_autofree char *sums = tshark(directory, "-o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -Y "
						  "'ip.checksum.status != 1 || tcp.checksum.status != 1'");
	g_autofree char *lost = tshark(directory, "-Y 'tcp.analysis.flags'");
	g_autofree char *frames = tshark(directory, "-Y smb2 -T fields -e smb2.cmd");
	g_autofree char *trace = kit_file(directory, "trace.txt");

	cr_expect_str_eq(marked, "", "marked by tshark: %s", marked);
	cr_expect_str_eq(sums, "", "wrong checksums: %s", sums);
	cr_expect_str_eq(lost, "", "holes in the TCP streams: %s", lost);
	cr_expect_eq(count_of(comments, "\n"), 1u, "%s", comments);
	cr_expect(g_str_has_prefix(comments, "C6 is broken: "), "%s", comments);
	cr_expect_not_null(strstr(comments, "Instead: "), "%s", comments);
	cr_expect_eq(count_of(frames, "\n"),
		     count_of(trace, "the client sends [") + count_of(trace, "the server sends ["), "%s\n%s", frames,
		     trace);
	program_clean(directory);
}

Test(replay, the_same_fault_comes_again)
{
	char *directory = kit_made();
	struct program run = program_run(directory, "replay", "kit/replay.smblab", NULL);
	struct program json = program_run(directory, "replay", "kit/replay.smblab", "--json", NULL);
	struct program to = program_run(directory, "replay", "kit/replay.smblab", "--to", "1", NULL);
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *root;

	cr_expect_eq(run.exit_code, 1, "%s%s", run.out, run.err);
	cr_expect_not_null(strstr(run.out, "C6 is broken: "), "%s", run.out);
	cr_expect_not_null(strstr(run.out, "(the recorded fault)"), "%s", run.out);
	cr_expect_eq(json.exit_code, 1, "%s", json.err);
	cr_assert(json_parser_load_from_data(parser, json.out, -1, NULL), "%s", json.out);
	root = json_node_get_object(json_parser_get_root(parser));
	cr_expect(json_object_get_boolean_member(root, "same_fault"));
	cr_expect_str_eq(json_object_get_string_member(root, "rule"), "C6");
	cr_expect_not_null(strstr(to.out, "   1. thread 1: open f"), "%s", to.out);
	cr_expect_null(strstr(to.out, "   2. "), "%s", to.out);
	program_clear(&run);
	program_clear(&json);
	program_clear(&to);
	program_clean(directory);
}

Test(replay, the_simulation_plays_the_trace_to_the_same_fault)
{
	char *directory = kit_made();
	struct program run = program_run(directory, "replay", "kit/replay.smblab", "--sim", NULL);
	struct program json = program_run(directory, "replay", "kit/replay.smblab", "--sim", "--json", NULL);

	cr_expect_eq(run.exit_code, 1, "%s%s", run.out, run.err);
	cr_expect_not_null(strstr(run.out, "C6 is broken: asks for"), "%s", run.out);
	cr_expect_not_null(strstr(run.out, "(the recorded fault)"), "%s", run.out);
	cr_expect_not_null(strstr(json.out, "\"followed\" : true"), "%s", json.out);
	cr_expect_not_null(strstr(json.out, "\"seen\" : true"), "%s", json.out);
	cr_expect_not_null(strstr(json.out, "\"same_fault\" : true"), "%s", json.out);
	program_clear(&run);
	program_clear(&json);
	program_clean(directory);
}

Test(replay, what_tshark_reads_from_the_capture_breaks_the_rule_at_the_comment)
{
	char *directory = kit_made();
	struct program run = program_run(directory, "replay", "kit/replay.smblab", "--capture", NULL);
	struct program json = program_run(directory, "replay", "kit/replay.smblab", "--capture", "--json", NULL);
	struct program both = program_run(directory, "replay", "kit/replay.smblab", "--capture", "--sim", NULL);
	struct program gone;

	cr_expect_eq(run.exit_code, 1, "%s%s", run.out, run.err);
	cr_expect_not_null(strstr(run.out, "C6 is broken: asks for"), "%s", run.out);
	cr_expect_not_null(strstr(run.out, "(the recorded rule, at the comment)"), "%s", run.out);
	cr_expect_not_null(strstr(json.out, "\"same_fault\" : true"), "%s", json.out);
	cr_expect_eq(both.exit_code, 2, "%s", both.out);
	program_write(directory, "kit/trace.pcapng", "this is no capture", -1);
	gone = program_run(directory, "replay", "kit/replay.smblab", "--capture", NULL);
	cr_expect_eq(gone.exit_code, 3, "%s%s", gone.out, gone.err);
	cr_expect_not_null(strstr(gone.err, "tshark does not read"), "%s", gone.err);
	program_clear(&run);
	program_clear(&json);
	program_clear(&both);
	program_clear(&gone);
	program_clean(directory);
}

/* Replace `from` by `to` in the kit's replay file and replay it. */
static struct program replay_changed(const char *directory, const char *from, const char *to)
{
	g_autofree char *text = kit_file(directory, "replay.smblab");
	const char *at = strstr(text, from);
	g_autofree char *changed = NULL;

	cr_assert_not_null(at, "no '%s' in %s", from, text);
	changed = g_strdup_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	program_write(directory, "changed.smblab", changed, -1);
	return program_run(directory, "replay", "changed.smblab", NULL);
}

Test(replay, another_client_does_not_show_the_fault)
{
	char *directory = kit_made();
	struct program fixed = replay_changed(directory, "| kernel=6.1", "| kernel=6.12");

	cr_expect_eq(fixed.exit_code, 4, "%s%s", fixed.out, fixed.err);
	cr_expect_not_null(strstr(fixed.out, "where C6 was recorded"), "%s", fixed.out);
	program_clear(&fixed);
	program_clean(directory);
}

Test(replay, that_another_program_wrote_the_file_is_told)
{
	char *directory = kit_made();
	struct program same = program_run(directory, "replay", "kit/replay.smblab", NULL);
	struct program other = replay_changed(directory, "\nmodel ", "\nmodel 0");

	cr_expect_null(strstr(same.err, "from other sources"), "%s", same.err);
	cr_expect_not_null(strstr(other.err, "from other sources"), "%s", other.err);
	cr_expect_eq(other.exit_code, 1, "%s%s", other.out, other.err);
	program_clear(&same);
	program_clear(&other);
	program_clean(directory);
}

Test(replay, the_simulation_says_when_the_fault_does_not_come)
{
	char *directory = kit_made();
	struct program fixed = replay_changed(directory, "| kernel=6.1", "| kernel=6.12");
	struct program sim = program_run(directory, "replay", "changed.smblab", "--sim", NULL);
	struct program cut = replay_changed(directory, "move start 0", "move cut 0");
	struct program refused = program_run(directory, "replay", "changed.smblab", "--sim", NULL);

	cr_expect_eq(sim.exit_code, 4, "%s%s", sim.out, sim.err);
	cr_expect_not_null(strstr(sim.out, "no rule is broken, where C6 was recorded"), "%s", sim.out);
	cr_expect_eq(refused.exit_code, 2, "%s%s", refused.out, refused.err);
	cr_expect_not_null(strstr(refused.err, "move 1: 'cut 0' cannot happen there"), "%s", refused.err);
	program_clear(&fixed);
	program_clear(&sim);
	program_clear(&cut);
	program_clear(&refused);
	program_clean(directory);
}

Test(replay, a_damaged_file_is_refused_with_its_line)
{
	static const struct {
		const char *from, *to, *says;
	} cases[] = {
		{ "smblab-replay 1", "smblab-replay 7", "changed.smblab:1: this is no replay file" },
		{ "move start 0", "move fly 0", "'fly 0' is no move" },
		{ "move start 0", "move start 3", "'start 3' cannot happen here" },
		{ "move start 0\n", "", "something is missing or was added" },
		{ "| kernel=6.1", "| kernel=9.9", "no era" },
		{ "rule C6", "role C6", "'role' is no item" },
		{ "rule C6\n", "", "is missing" },
		{ "rule C6\n", "rule C6\nrule C6\n", "a second 'rule'" },
		{ "\nend ", "\nends", "'ends" },
		{ "config ", "config x\nconfig ", "a second 'config'" },
	};
	char *directory = kit_made();

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct program run = replay_changed(directory, cases[i].from, cases[i].to);

		cr_expect_eq(run.exit_code, 2, "%s: %s%s", cases[i].to, run.out, run.err);
		cr_expect_not_null(strstr(run.err, cases[i].says), "'%s' does not say '%s'", run.err, cases[i].says);
		cr_expect_not_null(strstr(run.err, "changed.smblab:"), "%s", run.err);
		program_clear(&run);
	}
	program_clean(directory);
}

Test(replay, a_file_cut_anywhere_is_refused)
{
	char *directory = kit_made();
	g_autofree char *text = kit_file(directory, "replay.smblab");
	size_t length = strlen(text);

	for (size_t keep = 0; keep < length; keep += length / 23) {
		struct program run;

		program_write(directory, "changed.smblab", text, (gssize)keep);
		run = program_run(directory, "replay", "changed.smblab", NULL);
		cr_expect_eq(run.exit_code, 2, "%zu bytes: %s%s", keep, run.out, run.err);
		program_clear(&run);
	}
	program_clean(directory);
}

Test(replay, a_kit_replaces_a_kit_and_nothing_else)
{
	char *directory = kit_made();
	g_autofree char *mine = g_build_filename(directory, "mine", NULL);
	struct program again = program_run(directory, "check", "small.ini", "--kit", "kit/", NULL);
	struct program other;

	cr_expect_eq(again.exit_code, 1, "%s", again.err);
	cr_assert_eq(g_mkdir_with_parents(mine, 0777), 0);
	program_write(mine, "notes.txt", "do not touch", -1);
	other = program_run(directory, "check", "small.ini", "--kit", "mine", NULL);
	cr_expect_eq(other.exit_code, 2, "%s", other.err);
	cr_expect_not_null(strstr(other.err, "is no counterexample kit"), "%s", other.err);
	cr_expect_eq(program_entries(mine), 1u);
	program_clear(&again);
	program_clear(&other);
	program_clean(directory);
}

Test(replay, without_graphviz_the_kit_says_so)
{
	char *directory = program_directory();
	g_autofree char *path = g_strdup(g_getenv("PATH"));
	g_autofree char *graph = NULL;
	struct program run;

	program_write(directory, "small.ini", config, -1);
	g_setenv("PATH", "/nowhere", TRUE);
	run = program_run(directory, "check", "small.ini", NULL);
	g_setenv("PATH", path, TRUE);
	cr_expect_eq(run.exit_code, 1, "%s", run.err);
	cr_expect_not_null(strstr(run.err, "graph.dot instead of graph.svg"), "%s", run.err);
	graph = program_read(directory, "out/check-small/graph.dot");
	cr_expect(graph && strstr(graph, "digraph states"), "the graph is missing");
	program_clear(&run);
	program_clean(directory);
}

Test(replay, the_whole_graph_of_a_small_model_has_each_state_once)
{
	char *directory = program_directory();
	g_autofree char *graph = NULL, *states = NULL;
	struct program run, large;

	program_write(directory, "small.ini", config, -1);
	run = program_run(directory, "check", "small.ini", "--set", "client.kernel=6.12", "--graph", "g.dot", NULL);
	cr_expect_eq(run.exit_code, 0, "%s%s", run.out, run.err);
	graph = program_read(directory, "g.dot");
	cr_assert_not_null(graph);
	states = g_strdup_printf("states %u, transitions %u,", count_of(graph, " [label=") - count_of(graph, " -> s"),
				 count_of(graph, " -> s"));
	cr_expect_not_null(strstr(run.out, states), "'%s' is not in %s", states, run.out);
	large = program_run(directory, "check", "small.ini", "--set", "faults.cuts=9", "--set",
			    "workload.thread2=read f 0 4K", "--set", "faults.timers=9", "--graph", "large.dot",
			    "--no-kit", NULL);
	cr_expect_eq(large.exit_code, 2, "%s%s", large.out, large.err);
	cr_expect_not_null(strstr(large.err, "more than 2000 states"), "%s", large.err);
	cr_expect_null(program_read(directory, "large.dot"));
	program_clear(&run);
	program_clear(&large);
	program_clean(directory);
}
