/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/scan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void entry_free(gpointer data)
{
	struct lab_entry *entry = data;

	g_free(entry->section);
	g_free(entry->key);
	g_free(entry->value);
	g_free(entry);
}

struct scan {
	const char *path;
	GPtrArray *entries;
	GHashTable *seen; /* "section" or "section\nkey" -> line */
	char *section;
	guint line;
};

static bool refuse(const struct scan *scan, GError **error, const char *what, const char *detail)
{
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s:%u: %s%s", scan->path, scan->line, what,
		    detail ? detail : "");
	return false;
}

static bool first_time(struct scan *scan, char *name, const char *what, const char *shown, GError **error)
{
	guint before = GPOINTER_TO_UINT(g_hash_table_lookup(scan->seen, name));

	if (before) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s:%u: %s %s was already there in line %u", scan->path,
			    scan->line, what, shown, before);
		g_free(name);
		return false;
	}
	g_hash_table_insert(scan->seen, name, GUINT_TO_POINTER(scan->line));
	return true;
}

static bool scan_section(struct scan *scan, char *line, GError **error)
{
	char *end = strchr(line, ']');
	g_autofree char *shown = NULL;

	if (!end || end[1] != '\0')
		return refuse(scan, error, "a section is written [name]: ", line);
	*end = '\0';
	g_free(scan->section);
	scan->section = g_strdup(line + 1);
	shown = g_strdup_printf("[%s]", scan->section);
	return first_time(scan, g_strdup(scan->section), "section", shown, error);
}

static bool scan_pair(struct scan *scan, char *line, GError **error)
{
	char *equals = strchr(line, '=');
	struct lab_entry *entry;
	g_autofree char *shown = NULL;

	if (!equals || equals == line)
		return refuse(scan, error, "neither a [section], key=value nor a # comment: ", line);
	if (!scan->section)
		return refuse(scan, error, "a key before the first [section]: ", line);
	*equals = '\0';
	entry = g_new0(struct lab_entry, 1);
	entry->section = g_strdup(scan->section);
	entry->key = g_strdup(g_strchomp(line));
	entry->value = g_strdup(g_strchug(equals + 1));
	entry->line = scan->line;
	g_ptr_array_add(scan->entries, entry);
	shown = g_strdup_printf("[%s] %s", entry->section, entry->key);
	return first_time(scan, g_strconcat(entry->section, "\n", entry->key, NULL), "key", shown, error);
}

static bool scan_line(struct scan *scan, char *line, GError **error)
{
	g_strstrip(line);
	if (*line == '\0' || *line == '#')
		return true;
	return *line == '[' ? scan_section(scan, line, error) : scan_pair(scan, line, error);
}

static bool scan_lines(struct scan *scan, const char *text, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (guint i = 0; lines[i]; i++) {
		scan->line = i + 1;
		if (!scan_line(scan, lines[i], error))
			return false;
	}
	if (scan->entries->len > 0)
		return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s: the file is empty: not one key=value", scan->path);
	return false;
}

static bool check_is_text(struct scan *scan, const char *text, gsize length, GError **error)
{
	const char *end;

	if (g_utf8_validate_len(text, length, &end) && !memchr(text, '\0', length))
		return true;
	scan->line = 1;
	for (const char *c = text; c < end; c++)
		scan->line += *c == '\n';
	return refuse(scan, error, "not a text file (UTF-8): is this the right file?", NULL);
}

static bool check_with_glib(const char *path, const char *text, gsize length, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) cause = NULL;

	if (g_key_file_load_from_data(file, text, length, G_KEY_FILE_NONE, &cause))
		return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s: %s", path, cause->message);
	return false;
}

GPtrArray *lab_scan_text(const char *path, const char *text, gsize length, GError **error)
{
	struct scan scan = { .path = path };
	bool right;

	if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) { /* the mark with which some editors begin a text */
		text += 3;
		length -= 3;
	}
	scan.entries = g_ptr_array_new_with_free_func(entry_free);
	scan.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	right = check_is_text(&scan, text, length, error) && scan_lines(&scan, text, error) &&
		check_with_glib(path, text, length, error);
	g_free(scan.section);
	g_hash_table_unref(scan.seen);
	if (right)
		return scan.entries;
	g_ptr_array_unref(scan.entries);
	return NULL;
}

static bool read_up_to(FILE *file, GByteArray *content, gsize bytes_max)
{
	guint8 buffer[16384];
	size_t got;

	while (content->len <= bytes_max && (got = fread(buffer, 1, sizeof(buffer), file)) > 0)
		g_byte_array_append(content, buffer, (guint)got);
	return !ferror(file);
}

char *lab_file_read(const char *path, gsize bytes_max, gsize *length, GError **error)
{
	g_autoptr(GByteArray) content = g_byte_array_new();
	FILE *file = fopen(path, "re");
	bool whole = file && read_up_to(file, content, bytes_max);
	int why = errno;

	if (file)
		fclose(file);
	if (!whole) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "cannot read %s: %s", path, g_strerror(why));
		return NULL;
	}
	if (content->len > bytes_max) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s: is larger than %" G_GSIZE_FORMAT " MiB: no %s is",
			    path, bytes_max >> 20, bytes_max == LAB_SCAN_BYTES_MAX ? "config" : "measured table");
		return NULL;
	}
	*length = content->len;
	g_byte_array_append(content, (const guint8 *)"", 1);
	return (char *)g_byte_array_free(g_steal_pointer(&content), FALSE);
}

GPtrArray *lab_scan_file(const char *path, char **text, GError **error)
{
	gsize length;
	g_autofree char *content = lab_file_read(path, LAB_SCAN_BYTES_MAX, &length, error);
	GPtrArray *entries = content ? lab_scan_text(path, content, length, error) : NULL;

	if (entries && text)
		*text = g_steal_pointer(&content);
	return entries;
}

void lab_scan_blame(GError **error, const char *path, const struct lab_entry *entry)
{
	g_prefix_error(error, "%s:%u: [%s] %s: ", path, entry->line, entry->section, entry->key);
}
