/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/mutants.h"

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
		{ BUG "Config: a.ini\n", "D-2-some.patch: the head lacks Rule" },
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

/* Every patch of the folder, as it is committed. */
Test(mutants, the_heads_of_all_patches_can_be_read)
{
	static const char *const folders[] = { SMB_SOURCE_DIR "/model/mutants",
					       SMB_SOURCE_DIR "/model/mutants/controls" };
	guint bugs[2] = { 0 }, unexpressible = 0;

	for (guint i = 0; i < G_N_ELEMENTS(folders); i++) {
		GDir *directory = g_dir_open(folders[i], 0, NULL);
		const char *name;

		cr_assert(directory);
		while ((name = g_dir_read_name(directory))) {
			g_autofree char *path = g_build_filename(folders[i], name, NULL);
			g_autofree char *text = NULL;
			GError *error = NULL;

			if (!g_str_has_suffix(name, ".patch"))
				continue;
			cr_assert(g_file_get_contents(path, &text, NULL, NULL));
			struct lab_mutant *mutant = lab_mutant_read(path, text, &error);
			cr_assert(mutant, "%s", error ? error->message : "");
			cr_expect_eq(mutant->bug != NULL, i == 0, "%s", path);
			cr_expect(i || g_str_has_prefix(name, mutant->bug), "%s is about %s", name, mutant->bug);
			cr_expect_eq(mutant->unexpressible != NULL, !strstr(text, "\n+++ b/"), "%s", path);
			bugs[i]++;
			unexpressible += mutant->unexpressible != NULL;
			lab_mutant_free(mutant);
		}
		g_dir_close(directory);
	}
	cr_expect_geq(bugs[1], 20);
	cr_expect_leq(unexpressible * 10, bugs[0]);
}
