/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/mutants.h"
#include "protocol/monitor/monitor.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(mutants);

#define BUG "Bug: D-2\nSource: a list,\n  long ago\nFault: it fails.\n"

static struct lab_mutant *read_head(const char *text, char **message)
{
	GError *error = NULL;
	struct lab_mutant *mutant = lab_mutant_read("model/mutants/D-2-some.patch", text, &error);

	*message = error ? g_strdup(error->message) : NULL;
	g_clear_error(&error);
	return mutant;
}

Test(mutants, a_head_names_bug_source_fault_rules_and_config)
{
	char *message;
	struct lab_mutant *mutant = read_head("SPDX-License-Identifier: X\n" BUG
					      "Rule: C6 throughput assertion C36 stuck\n"
					      "Config: experiments/check/some.ini\n---\n--- a/x\n+++ b/x\nRule: none\n",
					      &message);

	cr_assert(mutant, "%s", message);
	cr_expect_str_eq(mutant->name, "D-2-some");
	cr_expect_str_eq(mutant->bug, "D-2");
	cr_expect_str_eq(mutant->source, "a list, long ago");
	cr_expect_str_eq(mutant->fault, "it fails.");
	cr_expect_str_eq(mutant->config, "experiments/check/some.ini");
	cr_expect_null(mutant->unexpressible);
	char *rules = g_strjoinv("|", mutant->rules);
	cr_expect_str_eq(rules, "C6|throughput|assertion|C36|stuck");
	g_free(rules);
	cr_expect(lab_mutant_names_rule(mutant, "C36"));
	cr_expect_not(lab_mutant_names_rule(mutant, "C3"));
	lab_mutant_free(mutant);
}

Test(mutants, what_cannot_be_expressed_says_why_and_needs_no_rule)
{
	char *message;
	struct lab_mutant *mutant = read_head(BUG "Expressible: no; there are no keys.\n", &message);

	cr_assert(mutant, "%s", message);
	cr_expect_str_eq(mutant->unexpressible, "there are no keys.");
	lab_mutant_free(mutant);
}

Test(mutants, what_a_client_must_survive_names_a_switch_and_a_config)
{
	char *message;
	struct lab_mutant *mutant = read_head(BUG "Switch: server.overgrants\nConfig: a.ini\n", &message);

	cr_assert(mutant, "%s", message);
	cr_expect_str_eq(mutant->misbehaviour, "server.overgrants");
	cr_expect_null(mutant->rules);
	lab_mutant_free(mutant);
}

Test(mutants, a_control_names_its_change_and_config)
{
	char *message;
	struct lab_mutant *mutant = read_head("Change: another order.\nConfig: a.ini\n---\n", &message);

	cr_assert(mutant, "%s", message);
	cr_expect_null(mutant->bug);
	cr_expect_str_eq(mutant->fault, "another order.");
	lab_mutant_free(mutant);
}

Test(mutants, a_bad_head_is_refused_with_line_and_reason)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{ "", "D-2-some.patch: the head lacks Fault or Change" },
		{ BUG "Rule: C6\n", "D-2-some.patch: the head lacks Config" },
		{ BUG "Config: a.ini\n", "D-2-some.patch: the head lacks Rule or Switch" },
		{ "Bug: D-2\nFault: x\nConfig: a\nRule: C1\n", "D-2-some.patch: the head lacks Source" },
		{ BUG "Rule: C37\n", "D-2-some.patch:5: not a line of a mutant's head" },
		{ BUG "Rule: C0\n", "D-2-some.patch:5: " },
		{ BUG "Rule: 6\n", "D-2-some.patch:5: " },
		{ BUG "Rule: C6  C1\n", "D-2-some.patch:5: " },
		{ BUG "Rule: C6\nRule: C1\n", "D-2-some.patch:6: " },
		{ BUG "Expressible: yes\n", "D-2-some.patch:5: " },
		{ BUG "Bug: D-3\n", "D-2-some.patch:5: " },
		{ BUG "Rules: C6\n", "D-2-some.patch:5: " },
		{ BUG "C6\n", "D-2-some.patch:5: " },
		{ BUG "Config: \n", "D-2-some.patch:5: " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *message;

		cr_expect_null(read_head(cases[i].text, &message), "case %zu", i);
		cr_expect(message && strstr(message, cases[i].says), "case %zu: %s", i, message);
		g_free(message);
	}
}

static GPtrArray *some_mutants(void)
{
	static const char *const names[] = { "D-2-some", "D-12-other" };
	GPtrArray *mutants = g_ptr_array_new_with_free_func((GDestroyNotify)lab_mutant_free);

	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		struct lab_mutant *mutant = g_new0(struct lab_mutant, 1);

		mutant->name = g_strdup(names[i]);
		mutant->bug = g_strdup(i ? "D-12" : "D-2");
		g_ptr_array_add(mutants, mutant);
	}
	return mutants;
}

Test(mutants, a_mutant_is_found_by_its_name_or_its_bug)
{
	GPtrArray *mutants = some_mutants();
	GError *error = NULL;

	cr_expect_eq(lab_mutants_find(mutants, "D-12-other", NULL), mutants->pdata[1]);
	cr_expect_eq(lab_mutants_find(mutants, "D-2", NULL), mutants->pdata[0]);
	cr_expect_null(lab_mutants_find(mutants, "D-12-othe", &error));
	cr_expect(error && strstr(error->message, "nearest: D-12-other"), "%s", error ? error->message : "");
	g_clear_error(&error);
	g_ptr_array_unref(mutants);
}

static struct lab_mutant *read_committed(const char *path)
{
	g_autofree char *text = NULL;
	GError *error = NULL;
	struct lab_mutant *mutant;

	cr_assert(g_file_get_contents(path, &text, NULL, NULL));
	mutant = lab_mutant_read(path, text, &error);
	cr_assert(mutant, "%s", error ? error->message : "");
	cr_expect_eq(mutant->unexpressible || mutant->misbehaviour, !strstr(text, "\n+++ b/"), "%s", path);
	return mutant;
}

/* The patches of a folder, as they are committed. */
static GPtrArray *committed(const char *folder)
{
	GPtrArray *mutants = g_ptr_array_new_with_free_func((GDestroyNotify)lab_mutant_free);
	GDir *directory = g_dir_open(folder, 0, NULL);
	const char *name;

	cr_assert(directory);
	while ((name = g_dir_read_name(directory))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);

		if (g_str_has_suffix(name, ".patch"))
			g_ptr_array_add(mutants, read_committed(path));
	}
	g_dir_close(directory);
	return mutants;
}

Test(mutants, the_heads_of_all_patches_can_be_read)
{
	GPtrArray *bugs = committed(SMB_SOURCE_DIR "/model/mutants");
	GPtrArray *controls = committed(SMB_SOURCE_DIR "/model/mutants/controls");
	guint unexpressible = 0;

	for (guint i = 0; i < bugs->len; i++) {
		const struct lab_mutant *mutant = bugs->pdata[i];

		cr_assert(mutant->bug, "%s", mutant->name);
		cr_expect(g_str_has_prefix(mutant->name, mutant->bug), "%s is about %s", mutant->name, mutant->bug);
		unexpressible += mutant->unexpressible != NULL;
	}
	for (guint i = 0; i < controls->len; i++)
		cr_expect_null(((const struct lab_mutant *)controls->pdata[i])->bug);
	cr_expect_geq(controls->len, 20);
	cr_expect_leq(unexpressible * 10, bugs->len);
	g_ptr_array_unref(bugs);
	g_ptr_array_unref(controls);
}

/* The bugs that are known: each is a patch, a switch of the server, or it is said why not. */
Test(mutants, every_known_bug_has_a_head)
{
	static const char *const known[] = { "D-1",   "D-2",  "D-3",   "D-4",  "D-5",  "D-6",	"D-8",	"D-9",	"D-10",
					     "D-11",  "D-12", "D-13b", "D-14", "D-16", "D-17",	"D-18", "D-19", "D-20",
					     "D-21",  "D-22", "D-24",  "D-25", "D-27", "D-28",	"D-29", "D-30", "D-31",
					     "D-31b", "D-33", "D-35",  "D-37", "D-38", "D-38b", "D-40", "D-41", "D-42",
					     "D-43",  "D-45", "D-46",  "D-47", "D-48", "D-49",	"D-50", "D-54", "D-55",
					     "D-56",  "D-57", "D-58",  "D-59", "D-60", "D-61",	"D-62", "D-63", "D-64",
					     "D-66",  "D-67", "D-68",  "D-69", "D-70", "D-71",	"D-72", "D-73", "D-75",
					     "D-76",  "D-77", "D-79",  "D-81", "D-83" };
	GPtrArray *bugs = committed(SMB_SOURCE_DIR "/model/mutants");

	for (guint i = 0; i < G_N_ELEMENTS(known); i++)
		cr_expect(lab_mutants_find(bugs, known[i], NULL), "%s", known[i]);
	g_ptr_array_unref(bugs);
}

/* What is no number in a head, and the rules that it stands for (mutants.h). */
static bool stands_for(const char *word, const char *rule)
{
	static const char *const words[][2] = {
		{ "stuck", "C33" }, { "stuck", "C34" },	    { "fails", "C34" }, { "valid", "C7" },
		{ "valid", "C36" }, { "assertion", "C36" }, { "cut", "C1" },	{ "cut", "C11" },
	};
	bool is_so = !strcmp(word, rule);

	for (guint i = 0; i < G_N_ELEMENTS(words); i++)
		is_so = is_so || (!strcmp(word, words[i][0]) && !strcmp(rule, words[i][1]));
	return is_so;
}

static bool head_names(const struct lab_mutant *mutant, const char *rule)
{
	bool names = false;

	for (char **word = mutant->rules; word && *word; word++)
		names = names || stands_for(*word, rule);
	return names;
}

Test(mutants, the_table_of_rules_and_the_heads_of_the_patches_name_each_other)
{
	GPtrArray *bugs = committed(SMB_SOURCE_DIR "/model/mutants");

	for (int rule = 1; rule < SMB_RULE_MAX; rule++) {
		const struct smb_rule_info *info = smb_rule_info((enum smb_rule)rule);
		g_auto(GStrv) named = g_strsplit(info->mutants ? info->mutants : "", ", ", -1);

		for (char **bug = named; *bug; bug++) {
			const struct lab_mutant *mutant = lab_mutants_find(bugs, *bug, NULL);

			cr_assert(mutant, "%s: there is no %s", info->name, *bug);
			cr_expect(head_names(mutant, info->name), "%s: %s is not about it", info->name, mutant->name);
		}
		for (guint i = 0; i < bugs->len; i++) {
			const struct lab_mutant *mutant = bugs->pdata[i];

			if (lab_mutant_names_rule(mutant, info->name))
				cr_expect(g_strv_contains((const char *const *)named, mutant->bug),
					  "%s breaks %s, which says nothing of it", mutant->name, info->name);
		}
	}
	g_ptr_array_unref(bugs);
}
