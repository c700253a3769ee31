/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/config.h"

#include "experiments/parameters.h"
#include "experiments/point.h"
#include "sim/world/nearest.h"

#include <string.h>

static const char *const point_sections[] = { "experiment", "client", "server", "network", "faults", "workload" };
static const char *const sections[] = { "experiment", "client", "server",   "network",	"faults",
					"workload",   "sweep",	"measured", "calibrate" };

static void sweep_free(gpointer data)
{
	struct lab_sweep *sweep = data;

	g_ptr_array_unref(sweep->values);
	g_free(sweep);
}

void lab_config_free(struct lab_config *config)
{
	if (!config)
		return;
	g_free(config->path);
	g_free(config->directory);
	g_free(config->text);
	g_free(config->hash);
	g_strfreev(config->sets);
	if (config->entries)
		g_ptr_array_unref(config->entries);
	g_ptr_array_unref(config->sweeps);
	g_free(config);
}

static bool is_one_of(const char *word, const char *const *list, guint count)
{
	for (guint i = 0; i < count; i++)
		if (!strcmp(word, list[i]))
			return true;
	return false;
}

static struct lab_sweep *sweep_find(const struct lab_config *config, guint key)
{
	for (guint i = 0; i < config->sweeps->len; i++) {
		struct lab_sweep *sweep = config->sweeps->pdata[i];

		if (sweep->key == key)
			return sweep;
	}
	return NULL;
}

/* "unset" means: as if the key were not there; keys that have the word for their zero take it as a value. */
static bool is_unset(guint key, const char *text)
{
	const char *zero = lab_keys(NULL)[key].zero;

	return !strcmp(text, "unset") && (!zero || strcmp(zero, "unset") != 0);
}

static bool sweep_value_add(const struct lab_config *config, struct lab_sweep *sweep, char *text, GError **error)
{
	g_strstrip(text);
	if (*text == '\0') {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "an empty value in the list");
		return false;
	}
	if (is_unset(sweep->key, text)) {
		g_ptr_array_add(sweep->values, NULL);
		return true;
	}
	if (!lab_point_check(sweep->key, text, config->directory, error))
		return false;
	g_ptr_array_add(sweep->values, (gpointer)g_intern_string(text));
	return true;
}

static bool sweep_take(struct lab_config *config, guint key, const char *list, guint line, GError **error)
{
	g_auto(GStrv) texts = g_strsplit(list, ";", -1);
	guint count = g_strv_length(texts);
	struct lab_sweep *sweep;

	if (lab_keys(NULL)[key].whole_file) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "this key is about the whole experiment: no sweep");
		return false;
	}
	sweep = g_new0(struct lab_sweep, 1);
	sweep->key = key;
	sweep->line = line;
	sweep->values = g_ptr_array_new();
	g_ptr_array_add(config->sweeps, sweep);
	if (count > 1 && *g_strstrip(texts[count - 1]) == '\0')
		count--; /* GKeyFile lists may end with their separator */
	for (guint i = 0; i < MAX(count, 1); i++)
		if (!sweep_value_add(config, sweep, count ? texts[i] : (char[]){ "" }, error))
			return false;
	return true;
}

static bool fixed_take(struct lab_config *config, guint key, const char *text, guint line, GError **error)
{
	if (!is_unset(key, text) && !lab_point_check(key, text, config->directory, error))
		return false;
	config->values.text[key] = is_unset(key, text) ? NULL : g_intern_string(text);
	config->lines[key] = line;
	return true;
}

static bool entry_take(struct lab_config *config, const struct lab_entry *entry, GError **error)
{
	bool swept = !strcmp(entry->section, "sweep");
	g_autofree char *dotted = swept ? g_strdup(entry->key) : g_strconcat(entry->section, ".", entry->key, NULL);
	int key;
	bool right;

	if (!swept && !is_one_of(entry->section, point_sections, G_N_ELEMENTS(point_sections)))
		return true; /* [measured] and [calibrate] have readers of their own */
	key = lab_parameters_key(config->path, entry, dotted, error);
	if (key < 0)
		return false;
	right = swept ? sweep_take(config, (guint)key, entry->value, entry->line, error)
		      : fixed_take(config, (guint)key, entry->value, entry->line, error);
	if (!right)
		lab_scan_blame(error, config->path, entry);
	return right;
}

static bool check_sections(const struct lab_config *config, GError **error)
{
	for (guint i = 0; i < config->entries->len; i++) {
		const struct lab_entry *entry = config->entries->pdata[i];
		const char *nearest;

		if (is_one_of(entry->section, sections, G_N_ELEMENTS(sections)))
			continue;
		nearest = sim_nearest(entry->section, sections, G_N_ELEMENTS(sections));
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s:%u: [%s] %s: unknown section%s%s", config->path,
			    entry->line, entry->section, entry->key, nearest ? "; nearest: " : "",
			    nearest ? nearest : "");
		return false;
	}
	return true;
}

static bool check_swept_and_fixed(const struct lab_config *config, GError **error)
{
	for (guint i = 0; i < config->sweeps->len; i++) {
		const struct lab_sweep *sweep = config->sweeps->pdata[i];

		if (!config->lines[sweep->key])
			continue;
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE,
			    "%s:%u: [sweep] %s: the key is also fixed in line %u; which one shall hold?", config->path,
			    sweep->line, lab_key_dotted(sweep->key), config->lines[sweep->key]);
		return false;
	}
	return true;
}

/* --set replaces what the file says, be it a value or a sweep. */
static bool set_apply(struct lab_config *config, const char *set, GError **error)
{
	const char *equals = strchr(set, '=');
	g_autofree char *name = equals ? g_strstrip(g_strndup(set, (gsize)(equals - set))) : NULL;
	bool swept = name && g_str_has_prefix(name, "sweep.");
	const char *dotted = swept ? name + strlen("sweep.") : name;
	g_autofree char *value = equals ? g_strstrip(g_strdup(equals + 1)) : NULL;
	struct lab_sweep *old;
	const char *nearest;
	int key;

	if (!equals) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "--set %s: write SECTION.KEY=VALUE", set);
		return false;
	}
	key = lab_key_find_dotted(dotted);
	if (key < 0) {
		nearest = lab_key_nearest(dotted);
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "--set %s: unknown key%s%s", set,
			    nearest ? "; nearest: " : "; see smblab list keys", nearest ? nearest : "");
		return false;
	}
	old = sweep_find(config, (guint)key);
	if (old)
		g_ptr_array_remove(config->sweeps, old);
	config->values.text[key] = NULL;
	config->lines[key] = 0;
	if (swept ? sweep_take(config, (guint)key, value, 0, error) : fixed_take(config, (guint)key, value, 0, error))
		return true;
	g_prefix_error(error, "--set %s: ", set);
	return false;
}

static const char *value_of(const struct lab_config *config, const char *section, const char *name)
{
	return config->values.text[lab_key_find(section, name)];
}

static bool include_apply(struct lab_config *config, GError **error)
{
	const char *include = value_of(config, "experiment", "include");
	struct lab_values included = { 0 };

	if (!include)
		return true;
	if (!lab_parameters_load(include, config->directory, &included, error)) {
		lab_config_blame(config, lab_key_find("experiment", "include"), error);
		return false;
	}
	for (guint i = 0; i < LAB_KEYS_MAX; i++)
		if (included.text[i] && !config->values.text[i] && !sweep_find(config, i))
			config->values.text[i] = included.text[i];
	return true;
}

static void take_whole_file_keys(struct lab_config *config)
{
	const char *repeat = value_of(config, "experiment", "repeat");
	const char *wall_limit = value_of(config, "experiment", "wall_limit");
	const char *seed = value_of(config, "experiment", "seed");
	uint64_t number = 1;

	if (repeat)
		lab_whole_parse(LAB_COUNT, repeat, &number, NULL);
	config->repeat = (guint)number;
	config->seed = 1;
	if (seed)
		lab_whole_parse(LAB_COUNT, seed, &config->seed, NULL);
	if (wall_limit) {
		lab_number_parse(LAB_TIME, wall_limit, &config->wall_limit_s, NULL);
		config->wall_limit_s /= 1e9;
	}
}

static void take_hash(struct lab_config *config)
{
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);

	g_checksum_update(checksum, (const guchar *)config->text, -1);
	for (guint i = 0; config->sets[i]; i++) {
		g_checksum_update(checksum, (const guchar *)"\n--set ", -1);
		g_checksum_update(checksum, (const guchar *)config->sets[i], -1);
	}
	config->hash = g_strdup(g_checksum_get_string(checksum));
}

static bool config_take(struct lab_config *config, GError **error)
{
	if (!check_sections(config, error))
		return false;
	for (guint i = 0; i < config->entries->len; i++)
		if (!entry_take(config, config->entries->pdata[i], error))
			return false;
	if (!check_swept_and_fixed(config, error))
		return false;
	for (guint i = 0; config->sets[i]; i++)
		if (!set_apply(config, config->sets[i], error))
			return false;
	if (!include_apply(config, error))
		return false;
	take_whole_file_keys(config);
	take_hash(config);
	return true;
}

static struct lab_config *config_new(const char *path, char **sets)
{
	struct lab_config *config = g_new0(struct lab_config, 1);
	g_autofree char *full = g_canonicalize_filename(path, NULL);

	config->path = g_strdup(path);
	config->directory = g_path_get_dirname(full);
	config->sets = sets ? g_strdupv(sets) : g_new0(char *, 1);
	config->sweeps = g_ptr_array_new_with_free_func(sweep_free);
	return config;
}

static struct lab_config *config_finish(struct lab_config *config, GError **error)
{
	if (config->entries && config_take(config, error))
		return config;
	lab_config_free(config);
	return NULL;
}

struct lab_config *lab_config_load(const char *path, char **sets, GError **error)
{
	struct lab_config *config = config_new(path, sets);

	config->entries = lab_scan_file(path, &config->text, error);
	return config_finish(config, error);
}

struct lab_config *lab_config_parse(const char *path, const char *text, char **sets, GError **error)
{
	struct lab_config *config = config_new(path, sets);

	config->text = g_strdup(text);
	config->entries = lab_scan_text(path, text, strlen(text), error);
	return config_finish(config, error);
}

char *lab_config_title(const struct lab_config *config)
{
	const char *title = value_of(config, "experiment", "title");
	g_autofree char *base = g_path_get_basename(config->path);

	if (title)
		return g_strdup(title);
	if (g_str_has_suffix(base, ".ini"))
		base[strlen(base) - strlen(".ini")] = '\0';
	return g_strdup(base);
}

static bool is_said_to_machines(const char *line)
{
	return strstr(line, "SPDX-License-Identifier:") || g_str_has_prefix(line, "smblab ");
}

char *lab_config_about(const struct lab_config *config)
{
	g_auto(GStrv) lines = g_strsplit(config->text, "\n", -1);
	GString *about = g_string_new(NULL);
	bool is_new = true;

	for (guint i = 0; lines[i] && lines[i][0] == '#'; i++) {
		char *line = g_strstrip(lines[i] + 1);

		if (is_said_to_machines(line) || !*line) {
			is_new = true;
			continue;
		}
		g_string_append_printf(about, "%s%s", !about->len ? "" : is_new ? "\n" : " ", line);
		is_new = false;
	}
	return g_string_free(about, FALSE);
}

GPtrArray *lab_config_section(const struct lab_config *config, const char *section)
{
	GPtrArray *found = g_ptr_array_new();

	for (guint i = 0; i < config->entries->len; i++) {
		struct lab_entry *entry = config->entries->pdata[i];

		if (!strcmp(entry->section, section))
			g_ptr_array_add(found, entry);
	}
	return found;
}

/* The last --set that gave this key a value or a sweep; NULL: none. */
static const char *set_find(const struct lab_config *config, const char *dotted)
{
	const char *found = NULL;

	for (guint i = 0; config->sets[i]; i++) {
		const char *name = config->sets[i];

		if (g_str_has_prefix(name, "sweep."))
			name += strlen("sweep.");
		if (g_str_has_prefix(name, dotted) && strchr(" =", name[strlen(dotted)]))
			found = config->sets[i];
	}
	return found;
}

void lab_config_blame(const struct lab_config *config, int key, GError **error)
{
	const struct lab_sweep *sweep = key >= 0 ? sweep_find(config, (guint)key) : NULL;
	const struct lab_key *row = key >= 0 ? &lab_keys(NULL)[key] : NULL;

	if (sweep && sweep->line)
		g_prefix_error(error, "%s:%u: [sweep] %s: ", config->path, sweep->line, lab_key_dotted((guint)key));
	else if (row && config->lines[key])
		g_prefix_error(error, "%s:%u: [%s] %s: ", config->path, config->lines[key], row->section, row->name);
	else if (key >= 0 && set_find(config, lab_key_dotted((guint)key)))
		g_prefix_error(error, "--set %s: ", set_find(config, lab_key_dotted((guint)key)));
	else
		g_prefix_error(error, "%s: ", config->path);
}
