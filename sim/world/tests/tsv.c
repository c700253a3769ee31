/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "sim/world/tests/tsv.h"

static void free_row(gpointer row)
{
	g_strfreev(row);
}

struct tsv *tsv_load(const char *path_below_source)
{
	g_autofree char *path = g_build_filename(SMB_SOURCE_DIR, path_below_source, NULL);
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;

	if (!g_file_get_contents(path, &text, NULL, &error))
		g_error("%s", error->message);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	struct tsv *tsv = g_new0(struct tsv, 1);
	tsv->rows = g_ptr_array_new_with_free_func(free_row);
	for (char **line = lines; *line; line++) {
		if (!**line || **line == '#')
			continue;
		char **fields = g_strsplit(*line, "\t", -1);
		if (tsv->columns)
			g_ptr_array_add(tsv->rows, fields);
		else
			tsv->columns = fields;
	}
	return tsv;
}

void tsv_free(struct tsv *tsv)
{
	g_strfreev(tsv->columns);
	g_ptr_array_unref(tsv->rows);
	g_free(tsv);
}

const char *tsv_text(const struct tsv *tsv, guint row, const char *column)
{
	char **fields = g_ptr_array_index(tsv->rows, row);

	for (guint i = 0; tsv->columns[i]; i++) {
		if (g_str_equal(tsv->columns[i], column) && i < g_strv_length(fields))
			return fields[i];
	}
	g_error("no column %s in row %u", column, row);
}

guint64 tsv_number(const struct tsv *tsv, guint row, const char *column)
{
	return g_ascii_strtoull(tsv_text(tsv, row, column), NULL, 10);
}
