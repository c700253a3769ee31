/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/kit/kit.h"

#include "reports/file.h"
#include "reports/kit/graph.h"
#include "reports/report.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

static bool fail(GError **error, const char *what, const char *path)
{
	g_set_error(error, REPORT_ERROR, REPORT_ERROR_FILE, "cannot %s %s: %s", what, path, g_strerror(errno));
	return false;
}

static bool put(const char *directory, const char *name, GString *content, GError **error)
{
	bool is_written = report_file_write(directory, name, content, error);

	g_string_free(content, TRUE);
	return is_written;
}

static bool put_capture(const char *directory, const struct kit_walk *walk, const struct kit_origin *origin,
			GError **error)
{
	g_autoptr(GByteArray) capture = kit_capture(walk, origin);
	GString *content = g_string_new_len((const char *)capture->data, (gssize)capture->len);

	return put(directory, "trace.pcapng", content, error);
}

/* Without Graphviz the graph is kept as dot reads it. */
static bool put_graph(const char *directory, const struct kit_walk *walk, char **note, GError **error)
{
	GString *dot = kit_graph_near(walk);
	g_autoptr(GError) why = NULL;
	g_autofree char *drawn = kit_graph_draw(dot, &why);

	if (!drawn) {
		*note = g_strdup_printf("graph.dot instead of graph.svg: %s", why->message);
		return put(directory, "graph.dot", dot, error);
	}
	g_string_free(dot, TRUE);
	return put(directory, "graph.svg", g_string_new(drawn), error);
}

static bool put_replay(const char *directory, const struct kit_walk *walk, const struct kit_origin *origin,
		       GError **error)
{
	g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(struct model_move));

	for (guint i = walk->mounting; i < walk->steps->len; i++)
		g_array_append_val(moves, ((struct kit_step *)walk->steps->pdata[i])->move);
	return put(directory, "replay.smblab", kit_replay_write(origin, walk->model, moves, &walk->found), error);
}

static bool put_all(const char *directory, const struct kit_walk *walk, const struct kit_origin *origin, char **note,
		    GError **error)
{
	return put(directory, "trace.txt", kit_trace(walk, origin), error) &&
	       put_replay(directory, walk, origin, error) && put_capture(directory, walk, origin, error) &&
	       put(directory, "trace.svg", kit_chart(walk), error) && put_graph(directory, walk, note, error);
}

/* ------------------------------------------------------------------------------------------------------ the directory */

bool kit_may_write(const char *directory, GError **error)
{
	g_autofree char *replay = g_build_filename(directory, "replay.smblab", NULL);
	g_autoptr(GDir) dir = NULL;

	if (!g_file_test(directory, G_FILE_TEST_EXISTS) || g_file_test(replay, G_FILE_TEST_IS_REGULAR))
		return true;
	dir = g_dir_open(directory, 0, NULL);
	if (dir && !g_dir_read_name(dir))
		return true;
	g_set_error(error, MODEL_ERROR, MODEL_ERROR_FILE,
		    "%s exists and is no counterexample kit; name another directory", directory);
	return false;
}

/* Put `made` in the place of `directory`. */
static bool move_in(const char *made, const char *directory, GError **error)
{
	g_autofree char *old = g_strconcat(made, ".old", NULL);

	if (!g_file_test(directory, G_FILE_TEST_EXISTS))
		return g_rename(made, directory) == 0 || fail(error, "write", directory);
	if (g_rename(directory, old) != 0)
		return fail(error, "replace", directory);
	if (g_rename(made, directory) != 0) {
		fail(error, "write", directory);
		g_rename(old, directory);
		return false;
	}
	report_scratch_remove(old);
	return true;
}

bool kit_write(const char *directory, const struct kit_walk *walk, const struct kit_origin *origin, char **note,
	       GError **error)
{
	g_autofree char *parent = g_path_get_dirname(directory);
	g_autofree char *made = g_strconcat(directory, ".part-XXXXXX", NULL);

	*note = NULL;
	if (!kit_may_write(directory, error))
		return false;
	if (g_mkdir_with_parents(parent, 0777) != 0 || !g_mkdtemp_full(made, 0777))
		return fail(error, "make the directory", directory);
	if (put_all(made, walk, origin, note, error) && move_in(made, directory, error))
		return true;
	report_scratch_remove(made);
	return false;
}
