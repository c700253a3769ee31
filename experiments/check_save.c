/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/check_save.h"

#include "experiments/check_kit.h"
#include "experiments/commands.h"
#include "experiments/version.h"

#include <stdio.h>
#include <string.h>

struct lab_save {
	struct lab_save_options options;
	struct model_saving how;
	char *path; /* how.path */
	char *program;
};

char **lab_save_arguments(int argc, char **argv)
{
	GPtrArray *copy = g_ptr_array_new();

	for (int i = 0; i < argc; i++)
		g_ptr_array_add(copy, g_strdup(argv[i]));
	g_ptr_array_add(copy, NULL);
	return (char **)g_ptr_array_free(copy, FALSE);
}

/* What was kept before is not written over. */
static char *default_path(const char *config_path)
{
	g_autofree char *base = lab_kit_directory(config_path);
	char *path = g_strconcat(base, ".states", NULL);

	for (guint i = 2; g_file_test(path, G_FILE_TEST_EXISTS); i++) {
		g_free(path);
		path = g_strdup_printf("%s-%u.states", base, i);
	}
	return path;
}

static char *path_of(const struct lab_check *check, const struct lab_save_options *options)
{
	if (options->save)
		return g_strdup(options->save);
	if (options->only_named)
		return NULL;
	return options->resume ? g_strdup(options->resume) : default_path(check->path);
}

struct lab_save *lab_save_new(const struct lab_check *check, const struct lab_save_options *options)
{
	struct lab_save *save = g_new0(struct lab_save, 1);

	save->options = *options;
	save->path = path_of(check, options);
	save->program = lab_check_identity();
	save->how = (struct model_saving){
		.path = save->path,
		.is_default = !options->save,
		.resume = options->resume,
		.program = save->program,
		.config = check->given,
		.title = check->title,
		.give_up = options->give_up,
	};
	return save;
}

void lab_save_free(struct lab_save *save)
{
	g_free(save->path);
	g_free(save->program);
	g_free(save);
}

const struct model_saving *lab_save_how(const struct lab_save *save)
{
	return &save->how;
}

bool lab_save_may_write(const struct lab_save *save, GError **error)
{
	return !save->options.save || model_save_may_write(&save->how, error);
}

/* --------------------------------------------------------------------------------------------------- the way to go on */

static void add_word(GString *line, const char *word)
{
	g_autofree char *quoted = g_shell_quote(word);
	bool is_plain = *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
					      "_-+=,./:@%") == strlen(word);

	g_string_append_printf(line, " %s", is_plain ? word : quoted);
}

/* How many words from this one on give a value to `option`: 0, 1 or 2. */
static guint words_of(char **word, const char *option)
{
	size_t length = strlen(option);

	if (strncmp(*word, option, length) != 0 || ((*word)[length] && (*word)[length] != '='))
		return 0;
	return (*word)[length] || !word[1] ? 1 : 2;
}

/* The command line again, without the bound that was reached, and from the file. */
static char *line_to_go_on(const struct lab_save *save, enum model_bound bound)
{
	static const char *const bounds[] = { "--max-states", "--max-depth", "--max-memory", "--max-time" };
	const char *reached = bound ? bounds[bound - 1] : "--resume";
	GString *line = g_string_new(save->options.arguments[0]);
	char **word = save->options.arguments + 1;

	while (*word && strcmp(*word, "--") != 0) {
		guint skip = MAX(words_of(word, reached), MAX(words_of(word, "--resume"), words_of(word, "--save")));

		if (!skip)
			add_word(line, *word);
		word += MAX(skip, 1);
	}
	g_string_append(line, " --resume");
	add_word(line, save->path);
	if (save->options.save) {
		g_string_append(line, " --save");
		add_word(line, save->path);
	}
	for (; *word; word++)
		add_word(line, *word);
	return g_string_free(line, FALSE);
}

int lab_save_tell(const struct lab_save *save, struct model_result *result, int code)
{
	g_autofree char *line = NULL;
	int failed;

	if (result->error) {
		failed = lab_fail(lab_check_error(g_steal_pointer(&result->error)));
		return save->options.save ? failed : code;
	}
	if (!result->saved_bytes)
		return code;
	line = line_to_go_on(save, result->bound);
	fprintf(stderr, "the search is kept in %s, %.1f MB\ngo on with: %s\n", save->path,
		(double)result->saved_bytes / 1e6, line);
	return code;
}
