/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/fio_file.h"

#include "experiments/scan.h"
#include "experiments/value.h"

#include <string.h>

static void option_free(gpointer data)
{
	struct lab_fio_option *option = data;

	g_free(option->name);
	g_free(option->value);
	g_free(option);
}

static void job_free(gpointer data)
{
	struct lab_fio_job *job = data;

	g_free(job->name);
	g_ptr_array_unref(job->options);
	g_free(job);
}

void lab_fio_free(struct lab_fio_file *file)
{
	g_free(file->path);
	g_ptr_array_unref(file->jobs);
	g_free(file);
}

/* "name=value", or a switch. */
static void option_add(GPtrArray *options, const char *text, guint line)
{
	struct lab_fio_option *option = g_new0(struct lab_fio_option, 1);
	const char *equals = strchr(text, '=');

	option->name = g_strchomp(equals ? g_strndup(text, (gsize)(equals - text)) : g_strdup(text));
	option->value = g_strstrip(g_strdup(equals ? equals + 1 : "1"));
	option->line = line;
	g_ptr_array_add(options, option);
}

static void options_copy(GPtrArray *to, const GPtrArray *from)
{
	for (guint i = 0; i < from->len; i++) {
		const struct lab_fio_option *option = from->pdata[i];
		struct lab_fio_option *copy = g_new0(struct lab_fio_option, 1);

		*copy = (struct lab_fio_option){ g_strdup(option->name), g_strdup(option->value), option->line };
		g_ptr_array_add(to, copy);
	}
}

/* What follows belongs to this job; NULL: to every job after it. */
static GPtrArray *job_add(struct lab_fio_file *file, const char *name, const GPtrArray *global)
{
	struct lab_fio_job *job = g_new0(struct lab_fio_job, 1);

	job->name = g_strdup(name);
	job->options = g_ptr_array_new_with_free_func(option_free);
	options_copy(job->options, global);
	g_ptr_array_add(file->jobs, job);
	return job->options;
}

/* ------------------------------------------------------------------------------------------------------------ job file */

static bool line_take(struct lab_fio_file *file, char *text, guint line, GPtrArray *global, GPtrArray **current)
{
	size_t length;

	g_strstrip(text);
	length = strlen(text);
	if (!*text || *text == '#' || *text == ';')
		return true;
	if (*text == '[') {
		if (text[length - 1] != ']' || length < 3)
			return false;
		text[length - 1] = '\0';
		*current = !strcmp(text + 1, "global") ? global : job_add(file, text + 1, global);
		return true;
	}
	if (!*current || *text == '=')
		return false;
	option_add(*current, text, line);
	return true;
}

static bool lines_take(struct lab_fio_file *file, const char *text, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autoptr(GPtrArray) global = g_ptr_array_new_with_free_func(option_free);
	GPtrArray *current = NULL;

	for (guint i = 0; lines[i]; i++)
		if (!line_take(file, lines[i], i + 1, global, &current))
			return lab_refuse(error, "%s:%u: neither [job], name=value nor a switch of a job", file->path,
					  i + 1);
	return file->jobs->len ? true : lab_refuse(error, "%s has no job", file->path);
}

static bool file_take(struct lab_fio_file *file, const char *name, const char *directory, GError **error)
{
	g_autoptr(GError) cause = NULL;
	g_autofree char *text = NULL;
	gsize length;

	file->path = g_canonicalize_filename(name, directory);
	text = lab_file_read(file->path, LAB_SCAN_BYTES_MAX, &length, &cause);
	if (!text)
		return lab_refuse(error, "job file %s: %s", file->path, cause->message);
	return lines_take(file, text, error);
}

/* -------------------------------------------------------------------------------------------------------- command line */

static bool words_take(struct lab_fio_file *file, char **words)
{
	g_autoptr(GPtrArray) global = g_ptr_array_new_with_free_func(option_free);
	GPtrArray *current = global;

	for (guint i = 0; words[i]; i++) {
		const char *word = words[i] + (g_str_has_prefix(words[i], "--") ? 2 : 0);

		if (g_str_has_prefix(word, "name="))
			current = job_add(file, word + strlen("name="), global);
		else
			option_add(current, word, 0);
	}
	if (!file->jobs->len)
		job_add(file, "fio", global);
	return true;
}

struct lab_fio_file *lab_fio_read(char **words, const char *directory, GError **error)
{
	struct lab_fio_file *file = g_new0(struct lab_fio_file, 1);
	bool taken;

	file->jobs = g_ptr_array_new_with_free_func(job_free);
	if (!words[0])
		taken = lab_refuse(error, "neither a job file nor options");
	else if (!words[1] && !strchr(words[0], '='))
		taken = file_take(file, words[0], directory, error);
	else
		taken = words_take(file, words);
	if (taken)
		return file;
	lab_fio_free(file);
	return NULL;
}
