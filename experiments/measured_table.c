/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/measured.h"
#include "experiments/scan.h"

#include <string.h>

/* Reading CSV and TSV: cells, comment lines, nothing about their meaning. */

static void strv_free(gpointer cells)
{
	g_strfreev(cells);
}

void lab_table_free(struct lab_table *table)
{
	g_free(table->source);
	g_ptr_array_unref(table->lines);
	g_array_unref(table->numbers);
	g_free(table);
}

/* One CSV cell, quotes taken off, "" inside them one quote (RFC 4180). Returns where the next cell begins, or NULL. */
static const char *csv_cell(const char *at, GString *cell)
{
	bool quoted = *at == '"';

	g_string_truncate(cell, 0);
	if (quoted)
		at++;
	for (; *at; at++) {
		if (quoted && at[0] == '"' && at[1] == '"')
			at++;
		else if (quoted && *at == '"')
			quoted = false;
		else if (!quoted && *at == ',')
			return at + 1;
		if (*at != '"' || quoted)
			g_string_append_c(cell, *at);
	}
	return NULL;
}

static char **csv_split(const char *line)
{
	g_autoptr(GPtrArray) cells = g_ptr_array_new();
	GString *cell = g_string_new(NULL);

	while (line) {
		line = csv_cell(line, cell);
		g_ptr_array_add(cells, g_strstrip(g_strdup(cell->str)));
	}
	g_string_free(cell, TRUE);
	g_ptr_array_add(cells, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&cells), FALSE);
}

static char **tsv_split(const char *line)
{
	char **cells = g_strsplit(line, "\t", -1);

	for (guint i = 0; cells[i]; i++)
		g_strstrip(cells[i]);
	return cells;
}

static bool table_take(struct lab_table *table, const char *path, char **lines, GError **error)
{
	bool tabs = g_str_has_suffix(path, ".tsv");

	for (guint i = 0; lines[i]; i++) {
		const char *source = lines[i][0] == '#' ? strstr(lines[i], "Source:") : NULL;
		guint number = i + 1;
		char **cells;

		g_strchomp(lines[i]);
		if (source && !table->source)
			table->source = g_strdup(source + strlen("Source:") + strspn(source + strlen("Source:"), " "));
		if (lines[i][0] == '#' || lines[i][0] == '\0')
			continue;
		cells = tabs ? tsv_split(lines[i]) : csv_split(lines[i]);
		g_ptr_array_add(table->lines, cells);
		g_array_append_val(table->numbers, number);
		if (g_strv_length(cells) != g_strv_length(table->lines->pdata[0])) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s:%u: %u cells, but the header has %u", path,
				    number, g_strv_length(cells), g_strv_length(table->lines->pdata[0]));
			return false;
		}
	}
	if (table->lines->len < 2)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s: no rows below a header", path);
	return table->lines->len >= 2;
}

struct lab_table *lab_table_read(const char *path, GError **error)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	struct lab_table *table;
	gsize length;

	text = lab_file_read(path, LAB_TABLE_BYTES_MAX, &length, error);
	if (!text)
		return NULL;
	if (!g_utf8_validate_len(text, length, NULL)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s: not a text file (UTF-8)", path);
		return NULL;
	}
	table = g_new0(struct lab_table, 1);
	table->lines = g_ptr_array_new_with_free_func(strv_free);
	table->numbers = g_array_new(FALSE, FALSE, sizeof(guint));
	lines = g_strsplit(text, "\n", -1);
	if (table_take(table, path, lines, error))
		return table;
	lab_table_free(table);
	return NULL;
}
