/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/tests/program.h"

#include <gio/gio.h>

const char program_path[] = SMB_BINARY_DIR "/experiments/smblab";

const char program_config[] = "[client]\nkernel=6.1\nmount=vers=3.1.1\n"
			      "[server]\nprofile=samba-4.17\n"
			      "[network]\nrate=1Gbit\n"
			      "[workload]\ncommand=dd if=/mnt/test/file of=/dev/null bs=1M count=8\n"
			      "[sweep]\nclient.rasize=unset;4M;16M\nnetwork.rtt=1ms;20ms\n";

char *program_directory(void)
{
	char *directory = g_dir_make_tmp("smblab-test-XXXXXX", NULL);

	g_assert(directory);
	return directory;
}

static void remove_tree(GFile *file)
{
	g_autoptr(GFileEnumerator) entries = g_file_enumerate_children(file, G_FILE_ATTRIBUTE_STANDARD_NAME,
								       G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, NULL, NULL);
	GFile *child;

	while (entries && g_file_enumerator_iterate(entries, NULL, &child, NULL, NULL) && child)
		remove_tree(child);
	g_file_delete(file, NULL, NULL);
}

void program_clean(char *directory)
{
	g_autoptr(GFile) file = g_file_new_for_path(directory);

	remove_tree(file);
	g_free(directory);
}

void program_write(const char *directory, const char *name, const char *text, gssize length)
{
	g_autofree char *path = g_build_filename(directory, name, NULL);

	g_assert(g_file_set_contents(path, text, length, NULL));
}

char *program_read(const char *directory, const char *name)
{
	g_autofree char *path = g_build_filename(directory, name, NULL);
	char *text = NULL;

	g_file_get_contents(path, &text, NULL, NULL);
	return text;
}

guint program_entries(const char *directory)
{
	g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
	guint count = 0;

	while (dir && g_dir_read_name(dir))
		count++;
	return count;
}

struct program program_run(const char *directory, ...)
{
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	g_autoptr(GSubprocessLauncher)
		launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
	g_autoptr(GSubprocess) process = NULL;
	struct program program = { 0 };
	const char *argument;
	va_list arguments;

	g_ptr_array_add(argv, (gpointer)program_path);
	va_start(arguments, directory);
	while ((argument = va_arg(arguments, const char *)))
		g_ptr_array_add(argv, (gpointer)argument);
	va_end(arguments);
	g_ptr_array_add(argv, NULL);
	g_subprocess_launcher_set_cwd(launcher, directory);
	process = g_subprocess_launcher_spawnv(launcher, (const char *const *)argv->pdata, NULL);
	g_assert(process && g_subprocess_communicate_utf8(process, NULL, NULL, &program.out, &program.err, NULL));
	program.exit_code = g_subprocess_get_if_exited(process) ? g_subprocess_get_exit_status(process) : -1;
	return program;
}

void program_clear(struct program *program)
{
	g_free(program->out);
	g_free(program->err);
}
