/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/tests/saving.h"

#include <criterion/criterion.h>
#include <glib/gstdio.h>

struct scratch scratch_new(void)
{
	struct scratch scratch = { .directory = g_dir_make_tmp("save-XXXXXX", NULL) };

	scratch.file = g_build_filename(scratch.directory, "states", NULL);
	return scratch;
}

guint scratch_files(const struct scratch *scratch)
{
	g_autoptr(GDir) dir = g_dir_open(scratch->directory, 0, NULL);
	guint count = 0;

	while (g_dir_read_name(dir))
		count++;
	return count;
}

void scratch_clear(struct scratch *scratch)
{
	cr_assert_leq(scratch_files(scratch), 1u, "temporary files are left");
	g_unlink(scratch->file);
	g_rmdir(scratch->directory);
	g_free(scratch->file);
	g_free(scratch->directory);
}

const struct model_saving saving_plain = { .program = "program 1", .config = "a=1", .title = "a test" };

struct model_result saving_explore(const struct model_config *config, const struct model_options *options)
{
	struct model *model = model_new(config, NULL);
	struct model_result result;

	cr_assert_not_null(model);
	model_explore(model, options, &result);
	model_free(model);
	return result;
}

struct model_result saving_go_on(const struct model_config *config, const struct model_options *options,
				 const struct scratch *scratch)
{
	struct model_saving saving = saving_plain;
	struct model_options how = *options;

	saving.path = scratch->file;
	saving.resume = g_file_test(scratch->file, G_FILE_TEST_EXISTS) ? scratch->file : NULL;
	how.saving = &saving;
	return saving_explore(config, &how);
}
