/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/coverage.h"

#include "experiments/value.h"
#include "reports/file.h"

#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

#define CELLS "cells"

/* ---------------------------------------------------------------------------------------------------------- what is there */

static bool missing(GError **error, const char *what)
{
	g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "there is no %s: build the target `coverage` (with GCC)",
		    what);
	return false;
}

/* The first of the names that is installed. */
static char *find_gcov(GKeyFile *file, GError **error)
{
	g_auto(GStrv) names = g_key_file_get_string_list(file, "coverage", "gcov", NULL, NULL);

	for (char **name = names; name && *name; name++) {
		char *path = g_find_program_in_path(*name);

		if (path)
			return path;
	}
	g_set_error(
		error, LAB_ERROR, LAB_ERROR_ENVIRONMENT,
		"cannot run %s, which reads what was counted: it is not in PATH; install it with: apt-get install gcc",
		names && *names ? *names : "gcov");
	return NULL;
}

bool lab_counter_open(struct lab_counter *counter, GError **error)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *beside = g_path_get_dirname(self ? self : ".");
	g_autofree char *settings = g_build_filename(beside, "coverage", "coverage.ini", NULL);
	g_autoptr(GKeyFile) file = g_key_file_new();

	*counter = (struct lab_counter){ .program = g_build_filename(beside, "coverage", "smblab-coverage", NULL) };
	if (!g_file_test(counter->program, G_FILE_TEST_IS_EXECUTABLE))
		return missing(error, counter->program);
	if (!g_key_file_load_from_file(file, settings, G_KEY_FILE_NONE, NULL))
		return missing(error, settings);
	counter->sources = g_key_file_get_string(file, "coverage", "sources", NULL);
	counter->objects = g_key_file_get_string(file, "coverage", "objects", NULL);
	if (!counter->sources || !counter->objects)
		return missing(error, settings);
	counter->gcov = find_gcov(file, error);
	if (!counter->gcov)
		return false;
	counter->scratch = report_scratch_new(error);
	return counter->scratch != NULL;
}

void lab_counter_close(struct lab_counter *counter)
{
	if (counter->scratch)
		report_scratch_remove(counter->scratch);
	g_free(counter->program);
	g_free(counter->gcov);
	g_free(counter->sources);
	g_free(counter->objects);
	g_free(counter->scratch);
}

/* -------------------------------------------------------------------------------------------------------------- counting */

static GSubprocess *start(const struct lab_counter *counter, const char *config, const char *const *more,
			  GError **error)
{
	g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE);
	g_autofree char *cells = g_build_filename(counter->scratch, CELLS, NULL);
	g_autoptr(GPtrArray) argv = g_ptr_array_new();

	g_ptr_array_add(argv, counter->program);
	g_ptr_array_add(argv, (gpointer) "check");
	g_ptr_array_add(argv, (gpointer) "--json");
	g_ptr_array_add(argv, (gpointer) "--no-kit");
	for (; *more; more++)
		g_ptr_array_add(argv, (gpointer)*more);
	g_ptr_array_add(argv, (gpointer)config);
	g_ptr_array_add(argv, NULL);
	g_subprocess_launcher_setenv(launcher, "GCOV_PREFIX", counter->scratch, TRUE);
	g_subprocess_launcher_unsetenv(launcher, "GCOV_PREFIX_STRIP");
	g_subprocess_launcher_setenv(launcher, "SMBLAB_CELLS", cells, TRUE);
	return g_subprocess_launcher_spawnv(launcher, (const char *const *)argv->pdata, error);
}

static bool names(JsonObject *said, const char *member, const char *kind)
{
	JsonArray *array = json_object_get_array_member(said, member);

	for (guint i = 0; i < json_array_get_length(array); i++) {
		if (!strcmp(json_array_get_string_element(array, i), kind))
			return true;
	}
	return false;
}

/* What happened in no run: of what happened in none before, what did not happen in this one either. */
static void note_kinds(struct coverage *coverage, JsonObject *said)
{
	static const char *const members[] = { "never_happened", "not_in_model" };

	if (coverage->runs->len == 1) {
		for (guint i = 0; i < G_N_ELEMENTS(members); i++) {
			JsonArray *array = json_object_get_array_member(said, members[i]);

			for (guint n = 0; n < json_array_get_length(array); n++)
				g_ptr_array_add(coverage->kinds, g_strdup(json_array_get_string_element(array, n)));
		}
		return;
	}
	for (guint i = coverage->kinds->len; i-- > 0;) {
		const char *kind = coverage->kinds->pdata[i];

		if (!names(said, members[0], kind) && !names(said, members[1], kind))
			g_ptr_array_remove_index(coverage->kinds, i);
	}
}

static bool note_run(struct coverage *coverage, const char *config, const char *out)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *said;

	if (!*out || !json_parser_load_from_data(parser, out, -1, NULL))
		return false;
	said = json_node_get_object(json_parser_get_root(parser));
	coverage_add_run(coverage, config, json_object_get_string_member(said, "result"),
			 (guint64)json_object_get_int_member(said, "states"));
	note_kinds(coverage, said);
	return true;
}

bool lab_counter_run(const struct lab_counter *counter, const char *config, const char *const *more,
		     struct coverage *coverage, int *exit_code, GError **error)
{
	g_autoptr(GSubprocess) process = start(counter, config, more, error);
	g_autofree char *out = NULL;

	if (!process || !g_subprocess_communicate_utf8(process, NULL, NULL, &out, NULL, error))
		return false;
	if (g_subprocess_get_if_exited(process)) {
		*exit_code = g_subprocess_get_exit_status(process);
		if (note_run(coverage, config, out))
			return true;
		g_set_error(error, LAB_ERROR, *exit_code == 2 ? LAB_ERROR_USAGE : LAB_ERROR_ENVIRONMENT,
			    "%s could not be checked", config);
		return false;
	}
	g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "%s: the check was ended by signal %d", config,
		    g_subprocess_get_term_sig(process));
	return false;
}

/* -------------------------------------------------------------------------------------------------------------- reading */

/* Where files of `objects` are counted; gcov wants each one's .gcno beside what was counted. */
static bool collect(const char *counted, const char *objects, GPtrArray *files, GError **error)
{
	g_autoptr(GDir) directory = g_dir_open(counted, 0, error);
	const char *name;

	if (!directory)
		return false;
	while ((name = g_dir_read_name(directory))) {
		g_autofree char *inside = g_build_filename(counted, name, NULL);
		g_autofree char *object = g_build_filename(objects, name, NULL);

		if (g_file_test(inside, G_FILE_TEST_IS_DIR)) {
			if (!collect(inside, object, files, error))
				return false;
		} else if (g_str_has_suffix(name, ".gcda")) {
			g_autoptr(GString) note = g_string_new(inside);
			g_autoptr(GString) target = g_string_new(object);

			g_string_replace(note, ".gcda", ".gcno", 1);
			g_string_replace(target, ".gcda", ".gcno", 1);
			if (symlink(target->str, note->str) != 0) {
				g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "cannot make %s", note->str);
				return false;
			}
			g_ptr_array_add(files, g_steal_pointer(&inside));
		}
	}
	return true;
}

static char *run_gcov(const struct lab_counter *counter, GPtrArray *files, GError **error)
{
	g_autoptr(GSubprocessLauncher)
		launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	g_autoptr(GSubprocess) process = NULL;
	g_autofree char *out = NULL, *said = NULL;

	g_ptr_array_add(argv, counter->gcov);
	g_ptr_array_add(argv, (gpointer) "--json-format");
	g_ptr_array_add(argv, (gpointer) "--branch-probabilities");
	g_ptr_array_add(argv, (gpointer) "--stdout");
	for (guint i = 0; i < files->len; i++)
		g_ptr_array_add(argv, files->pdata[i]);
	g_ptr_array_add(argv, NULL);
	g_subprocess_launcher_set_cwd(launcher, counter->scratch);
	process = g_subprocess_launcher_spawnv(launcher, (const char *const *)argv->pdata, error);
	if (!process || !g_subprocess_communicate_utf8(process, NULL, NULL, &out, &said, error))
		return NULL;
	if (g_subprocess_get_successful(process) && *out)
		return g_steal_pointer(&out);
	g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "%s cannot read what was counted: %s", counter->gcov,
		    *said ? g_strstrip(said) : "it said nothing");
	return NULL;
}

static bool read_cells(const struct lab_counter *counter, struct coverage *coverage, GError **error)
{
	g_autofree char *path = g_build_filename(counter->scratch, CELLS, NULL);
	g_autofree char *text = NULL;

	return g_file_get_contents(path, &text, NULL, error) && coverage_add_cells(coverage, text, error);
}

bool lab_counter_read(const struct lab_counter *counter, struct coverage *coverage, GError **error)
{
	g_autofree char *counted = g_build_filename(counter->scratch, counter->objects, NULL);
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *out = NULL;
	char *line, *rest;

	if (!collect(counted, counter->objects, files, error))
		return false;
	out = run_gcov(counter, files, error);
	if (!out)
		return false;
	for (rest = out; (line = strsep(&rest, "\n"));) {
		if (*line && !coverage_add_gcov(coverage, line, error))
			return false;
	}
	return read_cells(counter, coverage, error) && coverage_finish(coverage, error);
}
