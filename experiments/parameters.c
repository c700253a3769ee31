/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/parameters.h"

#include "experiments/point.h"
#include "experiments/scan.h"

#include <string.h>

int lab_parameters_key(const char *path, const struct lab_entry *entry, const char *dotted, GError **error)
{
	int index = lab_key_find_dotted(dotted);
	const char *nearest;

	if (index >= 0)
		return index;
	nearest = lab_key_nearest(dotted);
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s:%u: [%s] %s: unknown key%s%s", path, entry->line,
		    entry->section, entry->key, nearest ? "; nearest: " : "; see smblab list keys",
		    nearest ? nearest : "");
	return -1;
}

static bool section_allowed(const struct lab_entry *entry)
{
	static const char *const sections[] = { "client", "server", "network", NULL };

	return g_strv_contains(sections, entry->section);
}

static bool entry_take(const char *path, const char *directory, const struct lab_entry *entry,
		       struct lab_values *values, GError **error)
{
	g_autofree char *dotted = g_strconcat(entry->section, ".", entry->key, NULL);
	int index;

	if (!section_allowed(entry)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE,
			    "%s:%u: [%s] has no place in a parameter file (only client, server, network)", path,
			    entry->line, entry->section);
		return false;
	}
	index = lab_parameters_key(path, entry, dotted, error);
	if (index < 0)
		return false;
	/* one file that names another would hide where a value is from, and could go on for ever */
	if (!strcmp(dotted, "client.costs")) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s:%u: a parameter file cannot name another", path,
			    entry->line);
		return false;
	}
	if (!lab_point_check((guint)index, entry->value, directory, error)) {
		lab_scan_blame(error, path, entry);
		return false;
	}
	values->text[index] = g_intern_string(entry->value);
	return true;
}

bool lab_parameters_load(const char *path, const char *directory, struct lab_values *values, GError **error)
{
	g_autofree char *full = g_canonicalize_filename(path, directory);
	g_autofree char *own_directory = g_path_get_dirname(full);
	g_autoptr(GPtrArray) entries = lab_scan_file(full, NULL, error);

	if (!entries)
		return false;
	for (guint i = 0; i < entries->len; i++)
		if (!entry_take(full, own_directory, entries->pdata[i], values, error))
			return false;
	return true;
}

bool lab_parameters_save(const char *path, const char *comment, const GArray *indexes, const struct sim_point *point,
			 const struct lab_values *values, GError **error)
{
	static const char *const sections[] = { "client", "server", "network" };
	const struct lab_key *keys = lab_keys(NULL);
	GString *text = g_string_new(comment);
	bool saved;

	for (guint s = 0; s < G_N_ELEMENTS(sections); s++) {
		bool headed = false;

		for (guint i = 0; i < indexes->len; i++) {
			guint index = g_array_index(indexes, guint, i);
			g_autofree char *value = NULL;

			if (strcmp(keys[index].section, sections[s]) != 0)
				continue;
			if (!headed)
				g_string_append_printf(text, "\n[%s]\n", sections[s]);
			headed = true;
			value = lab_key_effective(index, point, values);
			g_string_append_printf(text, "%s=%s\n", keys[index].name, value);
		}
	}
	saved = g_file_set_contents(path, text->str, (gssize)text->len, error);
	g_string_free(text, TRUE);
	return saved;
}
