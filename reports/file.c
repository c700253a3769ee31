/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/file.h"

#include "reports/report.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

/* Whole files against an interrupted run, not against a power cut: a sync per plot would take longer than drawing. */
bool report_file_write(const char *directory, const char *name, const GString *content, GError **error)
{
	g_autofree char *path = g_build_filename(directory, name, NULL);
	g_autofree char *part = g_strconcat(path, ".part", NULL);
	g_autoptr(GError) why = NULL;

	if (g_mkdir_with_parents(directory, 0777) != 0) {
		g_set_error(error, REPORT_ERROR, REPORT_ERROR_FILE, "cannot make the directory %s: %s", directory,
			    g_strerror(errno));
		return false;
	}
	if (!g_file_set_contents_full(part, content->str, (gssize)content->len, G_FILE_SET_CONTENTS_NONE, 0666, &why)) {
		g_set_error(error, REPORT_ERROR, REPORT_ERROR_FILE, "cannot write %s: %s", path, why->message);
		g_unlink(part);
		return false;
	}
	if (g_rename(part, path) == 0)
		return true;
	g_set_error(error, REPORT_ERROR, REPORT_ERROR_FILE, "cannot write %s: %s", path, g_strerror(errno));
	g_unlink(part);
	return false;
}

char *report_scratch_new(GError **error)
{
	g_autoptr(GError) why = NULL;
	char *directory = g_dir_make_tmp("smblab-report-XXXXXX", &why);

	if (!directory)
		g_set_error(error, REPORT_ERROR, REPORT_ERROR_FILE, "cannot make a directory in %s: %s",
			    g_get_tmp_dir(), why->message);
	return directory;
}

void report_scratch_remove(const char *directory)
{
	g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);

		if (!g_file_test(path, G_FILE_TEST_IS_SYMLINK) && g_file_test(path, G_FILE_TEST_IS_DIR))
			report_scratch_remove(path);
		else
			g_unlink(path);
	}
	g_rmdir(directory);
}

static bool tool_missing(const char *tool, const char *package, const char *why, GError **error)
{
	g_set_error(error, REPORT_ERROR, REPORT_ERROR_TOOL,
		    "cannot run %s, which draws the report: %s; install it with: apt-get install %s", tool, why,
		    package);
	return false;
}

bool report_tool_run(const char *const *argv, const char *package, const char *directory, GError **error)
{
	g_autofree char *program = g_find_program_in_path(argv[0]);
	g_autoptr(GSubprocessLauncher) launcher = NULL;
	g_autoptr(GSubprocess) process = NULL;
	g_autoptr(GError) why = NULL;
	g_autofree char *said = NULL;

	if (!program)
		return tool_missing(argv[0], package, "it is not in PATH", error);
	launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE |
					     G_SUBPROCESS_FLAGS_STDERR_PIPE);
	g_subprocess_launcher_set_cwd(launcher, directory);
	g_subprocess_launcher_setenv(launcher, "LC_ALL", "C.UTF-8", TRUE);
	process = g_subprocess_launcher_spawnv(launcher, argv, &why);
	if (!process)
		return tool_missing(argv[0], package, why->message, error);
	if (!g_subprocess_communicate_utf8(process, NULL, NULL, NULL, &said, &why))
		return tool_missing(argv[0], package, why->message, error);
	if (g_subprocess_get_successful(process))
		return true;
	g_strstrip(said);
	g_set_error(error, REPORT_ERROR, REPORT_ERROR_TOOL, "%s failed while drawing the report: %s", argv[0],
		    said[0] ? said : "it said nothing");
	return false;
}
