/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/mutants.h"

#include "sim/world/nearest.h"

#include <string.h>

#define RULES 36

void lab_mutant_free(struct lab_mutant *mutant)
{
	g_free(mutant->name);
	g_free(mutant->bug);
	g_free(mutant->source);
	g_free(mutant->fault);
	g_free(mutant->config);
	g_free(mutant->unexpressible);
	g_free(mutant->misbehaviour);
	g_strfreev(mutant->rules);
	g_free(mutant->program);
	g_free(mutant);
}

/* ------------------------------------------------------------------------------------------------------------- a head */

static bool is_rule(const char *word)
{
	static const char *const others[] = { "stuck", "fails", "valid", "cut", LAB_RULE_ASSERTION, LAB_RULE_THROUGHPUT,
					      NULL };
	guint64 number;

	return g_strv_contains(others, word) ||
	       (*word == 'C' && g_ascii_string_to_unsigned(word + 1, 10, 1, RULES, &number, NULL));
}

static bool read_rules(struct lab_mutant *mutant, const char *text)
{
	if (mutant->rules)
		return false;
	mutant->rules = g_strsplit(text, " ", -1);
	for (char **word = mutant->rules; *word; word++) {
		if (!is_rule(*word))
			return false;
	}
	return *mutant->rules != NULL;
}

static bool take(struct lab_mutant *mutant, const char *key, const char *text)
{
	char **field = NULL;

	if (!strcmp(key, "Rule"))
		return read_rules(mutant, text);
	if (!strcmp(key, "Bug"))
		field = &mutant->bug;
	else if (!strcmp(key, "Source"))
		field = &mutant->source;
	else if (!strcmp(key, "Fault") || !strcmp(key, "Change"))
		field = &mutant->fault;
	else if (!strcmp(key, "Switch"))
		field = &mutant->misbehaviour;
	else if (!strcmp(key, "Config"))
		field = &mutant->config;
	else if (!strcmp(key, "Expressible") && g_str_has_prefix(text, "no; "))
		field = &mutant->unexpressible;
	if (!field || *field || !*text)
		return false;
	*field = g_strdup(field == &mutant->unexpressible ? text + strlen("no; ") : text);
	return true;
}

/** Line `at` and those that go on with it, as one; `at` moves on to the last of them. */
static char *whole_line(char **lines, guint *at)
{
	GString *whole = g_string_new(lines[*at]);

	while (lines[*at + 1] && g_str_has_prefix(lines[*at + 1], "  "))
		g_string_append(whole, lines[++*at] + 1);
	return g_string_free(whole, FALSE);
}

static const char *what_is_missing(const struct lab_mutant *mutant)
{
	if (!mutant->fault)
		return "Fault or Change";
	if (mutant->bug && !mutant->source)
		return "Source";
	if (mutant->unexpressible)
		return NULL;
	if (!mutant->config)
		return "Config";
	return mutant->bug && !mutant->rules && !mutant->misbehaviour ? "Rule or Switch" : NULL;
}

struct lab_mutant *lab_mutant_read(const char *path, const char *text, GError **error)
{
	struct lab_mutant *mutant = g_new0(struct lab_mutant, 1);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autofree char *base = g_path_get_basename(path);

	mutant->name = g_strndup(base, strlen(base) - (g_str_has_suffix(base, ".patch") ? strlen(".patch") : 0));
	for (guint i = 0; lines[i] && *lines[i] && strcmp(lines[i], "---") != 0; i++) {
		guint number = i + 1;
		g_autofree char *line = whole_line(lines, &i);
		char *colon = strstr(line, ": ");

		if (g_str_has_prefix(line, "SPDX-"))
			continue;
		if (colon)
			*colon = '\0';
		if (colon && take(mutant, line, colon + 2))
			continue;
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s:%u: not a line of a mutant's head", path, number);
		lab_mutant_free(mutant);
		return NULL;
	}
	if (!what_is_missing(mutant))
		return mutant;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s: the head lacks %s", path, what_is_missing(mutant));
	lab_mutant_free(mutant);
	return NULL;
}

bool lab_mutant_names_rule(const struct lab_mutant *mutant, const char *rule)
{
	return mutant->rules && g_strv_contains((const char *const *)mutant->rules, rule);
}

/* ---------------------------------------------------------------------------------------------------------------- all */

/** The folder of the running program. */
static char *program_folder(GError **error)
{
	g_autofree char *path = g_file_read_link("/proc/self/exe", error);

	return path ? g_path_get_dirname(path) : NULL;
}

static bool add(GPtrArray *mutants, const char *folder, const char *patch, GError **error)
{
	g_autofree char *text = NULL;
	struct lab_mutant *mutant;

	if (!g_file_get_contents(patch, &text, NULL, error))
		return false;
	mutant = lab_mutant_read(patch, text, error);
	if (!mutant)
		return false;
	g_ptr_array_add(mutants, mutant);
	if (mutant->unexpressible)
		return true;
	mutant->program = mutant->misbehaviour ? g_file_read_link("/proc/self/exe", error)
					       : g_strdup_printf("%s/smblab-mutant-%s", folder, mutant->name);
	return mutant->program != NULL;
}

bool lab_mutant_is_built(const struct lab_mutant *mutant, GError **error)
{
	if (!mutant->program || g_file_test(mutant->program, G_FILE_TEST_IS_EXECUTABLE))
		return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "there is no %s: build the target `mutants`",
		    mutant->program);
	return false;
}

static bool add_folder(GPtrArray *mutants, const char *folder, const char *patches, GError **error)
{
	g_autoptr(GDir) directory = g_dir_open(patches, 0, NULL);
	const char *name;

	if (!directory) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "there is no %s: build the target `mutants`",
			    patches);
		return false;
	}
	while ((name = g_dir_read_name(directory))) {
		g_autofree char *path = g_build_filename(patches, name, NULL);

		if (g_str_has_suffix(name, ".patch") && !add(mutants, folder, path, error))
			return false;
	}
	return true;
}

static int compare(gconstpointer a, gconstpointer b)
{
	const struct lab_mutant *left = *(const struct lab_mutant *const *)a;
	const struct lab_mutant *right = *(const struct lab_mutant *const *)b;
	guint64 left_number = left->bug ? g_ascii_strtoull(left->bug + 2, NULL, 10) : G_MAXUINT64;
	guint64 right_number = right->bug ? g_ascii_strtoull(right->bug + 2, NULL, 10) : G_MAXUINT64;

	if (left_number != right_number)
		return left_number < right_number ? -1 : 1;
	return strcmp(left->name, right->name);
}

GPtrArray *lab_mutants_load(GError **error)
{
	g_autoptr(GPtrArray) mutants = g_ptr_array_new_with_free_func((GDestroyNotify)lab_mutant_free);
	g_autofree char *beside = program_folder(error);

	if (!beside)
		return NULL;
	g_autofree char *folder = g_build_filename(beside, "mutants", NULL);
	g_autofree char *bugs = g_build_filename(folder, "patches", NULL);
	g_autofree char *controls = g_build_filename(bugs, "controls", NULL);
	if (!add_folder(mutants, folder, bugs, error) || !add_folder(mutants, folder, controls, error))
		return NULL;
	g_ptr_array_sort(mutants, compare);
	return g_steal_pointer(&mutants);
}

const struct lab_mutant *lab_mutants_find(const GPtrArray *mutants, const char *name, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *nearest;

	for (guint i = 0; i < mutants->len; i++) {
		const struct lab_mutant *mutant = mutants->pdata[i];

		if (!strcmp(mutant->name, name) || !g_strcmp0(mutant->bug, name))
			return mutant;
		g_ptr_array_add(names, mutant->name);
	}
	nearest = sim_nearest(name, (const char *const *)names->pdata, names->len);
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "no mutant '%s'%s%s (smblab check --mutant all names them)",
		    name, nearest ? "; nearest: " : "", nearest ? nearest : "");
	return NULL;
}
