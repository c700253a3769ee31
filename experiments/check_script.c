/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/check_script.h"

#include <string.h>

#define LOCAL_BYTES 4096 /* of a local file that cp copies in */

static bool add_file(struct model_config *model, const char *text, bool is_directory, GError **error)
{
	struct model_file *file = &model->file[model->files];
	const char *equals = strchr(text, '=');

	if (model->files == MODEL_FILES_MAX)
		return lab_refuse(error, "more than %d files and directories", MODEL_FILES_MAX);
	*file = (struct model_file){ .is_directory = is_directory };
	if (equals && !lab_whole_parse(LAB_SIZE, equals + 1, &file->bytes, error))
		return false;
	g_strlcpy(file->name, text, MIN(sizeof(file->name), equals ? (gsize)(equals - text) + 1 : sizeof(file->name)));
	if (!*file->name || *file->name == '/')
		return lab_refuse(error, "'%s': a path relative to the share is wanted", text);
	for (uint32_t i = 0; i < model->files; i++) {
		if (!strcmp(model->file[i].name, file->name))
			return lab_refuse(error, "'%s' is there twice", file->name);
	}
	model->files++;
	return true;
}

bool lab_check_files(struct model_config *model, const char *text, bool are_directories, GError **error)
{
	g_auto(GStrv) parts = g_strsplit(text, ";", -1);

	for (char **part = parts; *part; part++) {
		g_strstrip(*part);
		if (**part && !add_file(model, *part, are_directories, error))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------------- steps */

static bool find_file(const struct model_config *model, const char *name, uint32_t *file, GError **error)
{
	for (uint32_t i = 0; name && i < model->files; i++) {
		if (!strcmp(model->file[i].name, name)) {
			*file = i;
			return true;
		}
	}
	return lab_refuse(error, "there is no file '%s' in files", name ? name : "");
}

static bool take_open(struct model_step *step, char **words, GError **error)
{
	for (; *words; words++) {
		if (!strcmp(*words, "direct"))
			step->direct = true;
		else if (!strcmp(*words, "write"))
			step->access = SMB_OPEN_WRITE;
		else if (!strcmp(*words, "readwrite"))
			step->access = SMB_OPEN_READ_WRITE;
		else
			return lab_refuse(error, "open: '%s' is none of write, readwrite, direct", *words);
	}
	return true;
}

static bool take_range(struct model_step *step, char **words, GError **error)
{
	if (!words[0] || !words[1] || words[2])
		return lab_refuse(error, "write OFFSET LENGTH behind the file");
	if (!lab_whole_parse(LAB_SIZE, words[0], &step->offset, error) ||
	    !lab_whole_parse(LAB_SIZE, words[1], &step->length, error))
		return false;
	return step->length || lab_refuse(error, "a LENGTH of 0: there is nothing to do");
}

static bool take_command(struct model_step *step, const char *text, GError **error)
{
	const struct smb_ops_shell shell = { .mount_point = "/mnt", .local_bytes = LOCAL_BYTES };
	char message[SMB_OPS_MESSAGE_MAX];

	if (!smb_ops_parse(text, &shell, &step->command, NULL, message))
		return lab_refuse(error, "%s", message);
	if (step->command.kind == SMB_OPS_MOUNT || step->command.kind == SMB_OPS_UMOUNT)
		return lab_refuse(error, "mounting and unmounting are told by [check] start and unmount");
	return true;
}

static bool parse_step(const struct model_config *model, const char *text, struct model_step *step, GError **error)
{
	static const struct {
		const char *word;
		enum model_step_kind kind;
	} kinds[] = {
		{ "open", MODEL_STEP_OPEN },   { "read", MODEL_STEP_READ },   { "write", MODEL_STEP_WRITE },
		{ "fsync", MODEL_STEP_FSYNC }, { "close", MODEL_STEP_CLOSE },
	};
	g_auto(GStrv) words = NULL;

	*step = (struct model_step){ 0 };
	if (g_str_has_prefix(text, "sh ")) {
		step->kind = MODEL_STEP_COMMAND;
		return take_command(step, text + strlen("sh "), error);
	}
	words = g_strsplit_set(text, " \t", -1);
	for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (strcmp(words[0], kinds[i].word) != 0)
			continue;
		step->kind = kinds[i].kind;
		if (!find_file(model, words[1], &step->file, error))
			return false;
		if (step->kind == MODEL_STEP_OPEN)
			return take_open(step, words + 2, error);
		if (step->kind == MODEL_STEP_READ || step->kind == MODEL_STEP_WRITE)
			return take_range(step, words + 2, error);
		return !words[2] || lab_refuse(error, "'%s' has a word too many", text);
	}
	return lab_refuse(error, "'%s': the steps are open, read, write, fsync, close, sh", text);
}

bool lab_check_thread(struct model_config *model, uint32_t thread, const char *text, GError **error)
{
	g_auto(GStrv) steps = g_strsplit(text, ";", -1);
	struct model_thread *to = &model->thread[thread];

	for (char **step = steps; *step; step++) {
		g_strstrip(*step);
		if (!**step)
			continue;
		if (to->steps == MODEL_STEPS_MAX)
			return lab_refuse(error, "more than %d steps", MODEL_STEPS_MAX);
		if (!parse_step(model, *step, &to->step[to->steps++], error))
			return false;
	}
	return to->steps || lab_refuse(error, "there is no step");
}

/* Some thread opens the file so that the step can be done. */
static bool is_opened_for(const struct model_config *model, const struct model_step *step)
{
	for (uint32_t t = 0; t < model->threads; t++) {
		for (uint32_t s = 0; s < model->thread[t].steps; s++) {
			const struct model_step *open = &model->thread[t].step[s];

			if (open->kind == MODEL_STEP_OPEN && open->file == step->file &&
			    (step->kind != MODEL_STEP_WRITE || open->access != SMB_OPEN_READ))
				return true;
		}
	}
	return false;
}

bool lab_check_opens(const struct model_config *model, GError **error)
{
	for (uint32_t t = 0; t < model->threads; t++) {
		for (uint32_t s = 0; s < model->thread[t].steps; s++) {
			const struct model_step *step = &model->thread[t].step[s];

			if (step->kind == MODEL_STEP_COMMAND || is_opened_for(model, step))
				continue;
			return lab_refuse(error, "[workload] thread%u: step %u: no thread opens '%s'%s", t + 1, s + 1,
					  model->file[step->file].name,
					  step->kind == MODEL_STEP_WRITE ? " with write or readwrite" : "");
		}
	}
	return true;
}
