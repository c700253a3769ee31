/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/world/profile.h"

#include "sim/world/nearest.h"
#include "sim/world/profile_value.h"

#include <string.h>

#ifndef SMB_PROFILE_SOURCE_DIR
#define SMB_PROFILE_SOURCE_DIR "sim/server/profiles"
#endif
#ifndef SMB_PROFILE_INSTALL_DIR
#define SMB_PROFILE_INSTALL_DIR "/usr/share/smblab/profiles"
#endif

struct values {
	struct smb_server_profile profile;
	struct sim_profile_network network;
};

struct key {
	const char *group;
	const char *name;
	enum sim_profile_kind kind;
	gsize offset;
	gsize size;
};

#define PROFILE_KEY(group, name, kind)                                                                                 \
	{                                                                                                              \
		group, #name, kind, G_STRUCT_OFFSET(struct values, profile.name),                                      \
			sizeof(((struct values *)0)->profile.name)                                                     \
	}

static const struct key keys[] = {
	PROFILE_KEY("limits", dialect_min, SIM_PROFILE_DIALECT),
	PROFILE_KEY("limits", dialect_max, SIM_PROFILE_DIALECT),
	PROFILE_KEY("limits", max_transact, SIM_PROFILE_BYTES),
	PROFILE_KEY("limits", max_read, SIM_PROFILE_BYTES),
	PROFILE_KEY("limits", max_write, SIM_PROFILE_BYTES),
	PROFILE_KEY("limits", capabilities, SIM_PROFILE_CAPABILITIES),
	PROFILE_KEY("limits", channels_max, SIM_PROFILE_COUNT),
	PROFILE_KEY("limits", async_credits, SIM_PROFILE_COUNT),
	PROFILE_KEY("smb1", smb1_max_mpx, SIM_PROFILE_COUNT),
	PROFILE_KEY("smb1", smb1_max_buffer, SIM_PROFILE_COUNT),
	PROFILE_KEY("smb1", smb1_unix, SIM_PROFILE_COUNT),
	PROFILE_KEY("smb1", smb1_unix_large_write, SIM_PROFILE_COUNT),
	PROFILE_KEY("credits", credits_max, SIM_PROFILE_COUNT),
	PROFILE_KEY("credits", credits_initial_extra, SIM_PROFILE_COUNT),
	PROFILE_KEY("credits", credits_per_reply_max, SIM_PROFILE_COUNT),
	PROFILE_KEY("service", interim, SIM_PROFILE_INTERIM),
	PROFILE_KEY("service", interim_after_ns, SIM_PROFILE_TIME),
	PROFILE_KEY("service", threads, SIM_PROFILE_COUNT),
	PROFILE_KEY("service", aio, SIM_PROFILE_COUNT),
	PROFILE_KEY("service", storage_parallel, SIM_PROFILE_COUNT),
	PROFILE_KEY("costs", request_cpu_ns, SIM_PROFILE_COST),
	PROFILE_KEY("costs", receive_cpu_ns_per_byte, SIM_PROFILE_COST),
	PROFILE_KEY("costs", send_cpu_ns_per_byte, SIM_PROFILE_COST),
	PROFILE_KEY("costs", read_cpu_ns_per_byte, SIM_PROFILE_COST),
	PROFILE_KEY("costs", write_cpu_ns_per_byte, SIM_PROFILE_COST),
	PROFILE_KEY("storage", storage_latency_ns, SIM_PROFILE_TIME),
	PROFILE_KEY("storage", storage_bytes_per_s, SIM_PROFILE_SPEED),
	{ "network", "rtt", SIM_PROFILE_TIME, G_STRUCT_OFFSET(struct values, network.rtt_ns), 8 },
	{ "network", "rate", SIM_PROFILE_RATE, G_STRUCT_OFFSET(struct values, network.rate_bps), 8 },
};
/* The position of something in a file, for messages. */
struct place {
	const char *path;
	const char *text;
	const char *group;
	const char *key;
};

/* Line of [group], or of a key in it when `key` is not NULL; 0 = not found. The `nth` occurrence, from 1. */
static guint line_of(const struct place *place, guint nth)
{
	g_auto(GStrv) lines = g_strsplit(place->text, "\n", -1);
	g_autofree char *header = place->group ? g_strdup_printf("[%s]", place->group) : NULL;
	bool inside = false;

	for (guint i = 0; lines[i]; i++) {
		char *line = g_strstrip(lines[i]);
		if (*line == '[')
			inside = header && g_str_equal(line, header);
		if (*line == '[' && inside && !place->key && !--nth)
			return i + 1;
		if (!inside || !place->key || !g_str_has_prefix(line, place->key))
			continue;
		line += strlen(place->key);
		if (*g_strchug(line) == '=' && !--nth)
			return i + 1;
	}
	return 0;
}

static bool fail(const struct place *place, GError **error, enum sim_profile_error code, const char *format, ...)
	G_GNUC_PRINTF(4, 5);
static bool fail(const struct place *place, GError **error, enum sim_profile_error code, const char *format, ...)
{
	va_list arguments;
	guint line = line_of(place, 1);

	va_start(arguments, format);
	g_autofree char *what = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	if (line)
		g_set_error(error, SIM_PROFILE_ERROR, (gint)code, "%s:%u: %s", place->path, line, what);
	else
		g_set_error(error, SIM_PROFILE_ERROR, (gint)code, "%s: %s", place->path, what);
	return false;
}

static const struct key *find_key(const char *group, const char *name)
{
	for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
		if (g_str_equal(keys[i].group, group) && g_str_equal(keys[i].name, name))
			return &keys[i];
	}
	return NULL;
}

/* NULL: no key's name is near. */
static const struct key *nearest_key(const char *name)
{
	const char *names[G_N_ELEMENTS(keys)];
	const char *nearest;
	guint i;

	for (i = 0; i < G_N_ELEMENTS(keys); i++)
		names[i] = keys[i].name;
	nearest = sim_nearest(name, names, G_N_ELEMENTS(names));
	for (i = 0; nearest && names[i] != nearest; i++)
		;
	return nearest ? &keys[i] : NULL;
}

static bool group_is_known(const char *group)
{
	for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
		if (g_str_equal(keys[i].group, group))
			return true;
	}
	return false;
}
static bool check_groups(struct place *place, GKeyFile *file, GError **error)
{
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);

	for (guint i = 0; groups[i]; i++) {
		*place = (struct place){ place->path, place->text, groups[i], NULL };
		if (!group_is_known(groups[i]))
			return fail(place, error, SIM_PROFILE_ERROR_KEY,
				    "unknown group [%s]; known are limits, credits, service, costs, storage, network",
				    groups[i]);
		if (line_of(place, 2))
			return fail(place, error, SIM_PROFILE_ERROR_KEY, "[%s] a second time in line %u", groups[i],
				    line_of(place, 2));
	}
	return true;
}

static bool read_group(struct place *place, GKeyFile *file, struct values *values, GError **error)
{
	g_auto(GStrv) names = g_key_file_get_keys(file, place->group, NULL, NULL);

	for (guint i = 0; names[i]; i++) {
		const struct key *key = find_key(place->group, names[i]);
		place->key = names[i];
		if (!key) {
			const struct key *near = nearest_key(names[i]);
			return fail(place, error, SIM_PROFILE_ERROR_KEY,
				    near ? "unknown key %s in [%s]; nearest is %s in [%s]" : "unknown key %s in [%s]",
				    names[i], place->group, near ? near->name : "", near ? near->group : "");
		}
		if (line_of(place, 2))
			return fail(place, error, SIM_PROFILE_ERROR_KEY, "%s a second time in line %u", names[i],
				    line_of(place, 2));
		g_autofree char *text = g_key_file_get_value(file, place->group, names[i], NULL);
		g_autoptr(GError) cause = NULL;
		g_strstrip(text);
		if (!sim_profile_value_parse(key->kind, key->size, text, (char *)values + key->offset, &cause))
			return fail(place, error, SIM_PROFILE_ERROR_VALUE, "%s=%s: %s", key->name, text,
				    cause->message);
	}
	return true;
}

static bool check_complete(struct place *place, GKeyFile *file, GError **error)
{
	for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
		*place = (struct place){ place->path, place->text, keys[i].group, NULL };
		if (!g_str_equal(keys[i].group, "network") &&
		    !g_key_file_has_key(file, keys[i].group, keys[i].name, NULL))
			return fail(place, error, SIM_PROFILE_ERROR_KEY, "%s is missing in [%s]", keys[i].name,
				    keys[i].group);
	}
	return true;
}

static char *name_of_path(const char *path)
{
	char *name = g_path_get_basename(path);

	if (g_str_has_suffix(name, ".ini"))
		name[strlen(name) - 4] = 0;
	return name;
}

static bool check_whole(struct place *place, const struct smb_server_profile *profile, GError **error)
{
	*place = (struct place){ place->path, place->text, NULL, NULL };
	if (smb_server_profile_is_valid(profile))
		return true;
	return fail(place, error, SIM_PROFILE_ERROR_VALUE,
		    "the values do not go together: dialect_min <= dialect_max, max_* >= 64K, channels_max >= 1, "
		    "1 <= credits_max <= 65535 and credits_initial_extra < credits_max are needed");
}

static bool parse(const char *path, const char *text, gsize length, struct values *values, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) cause = NULL;
	g_autofree char *name = name_of_path(path);
	struct place place = { .path = path, .text = text };

	if (length != strlen(text) || !g_utf8_validate(text, (gssize)length, NULL))
		return fail(&place, error, SIM_PROFILE_ERROR_SYNTAX, "not a text file");
	if (!g_key_file_load_from_data(file, text, length, G_KEY_FILE_NONE, &cause))
		return fail(&place, error, SIM_PROFILE_ERROR_SYNTAX, "%s", cause->message);
	if (!check_groups(&place, file, error))
		return false;
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
	for (guint i = 0; groups[i]; i++) {
		place = (struct place){ .path = path, .text = text, .group = groups[i] };
		if (!read_group(&place, file, values, error))
			return false;
	}
	g_strlcpy(values->profile.name, name, sizeof(values->profile.name));
	return check_complete(&place, file, error) && check_whole(&place, &values->profile, error);
}

/* Folders that are searched for NAME.ini, first one first. */
static GPtrArray *folders(void)
{
	GPtrArray *list = g_ptr_array_new();
	const char *from_environment = g_getenv("SMBLAB_PROFILE_DIR");

	if (from_environment && *from_environment)
		g_ptr_array_add(list, (void *)from_environment);
	g_ptr_array_add(list, (void *)SMB_PROFILE_SOURCE_DIR);
	g_ptr_array_add(list, (void *)SMB_PROFILE_INSTALL_DIR);
	return list;
}

static char *find(const char *name, GError **error)
{
	g_autoptr(GPtrArray) list = folders();
	g_autofree char *file = g_strconcat(name, ".ini", NULL);

	if (strchr(name, '/') || g_str_has_suffix(name, ".ini"))
		return g_strdup(name);
	for (guint i = 0; i < list->len; i++) {
		g_autofree char *path = g_build_filename(list->pdata[i], file, NULL);
		if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
			return g_steal_pointer(&path);
	}
	g_auto(GStrv) known = sim_profile_list();
	g_autofree char *names = g_strjoinv(", ", known);
	g_set_error(error, SIM_PROFILE_ERROR, SIM_PROFILE_ERROR_NOT_FOUND,
		    "no server profile \"%s\"; there are %s (a path must contain '/' or end in .ini)", name,
		    *names ? names : "none at all: set SMBLAB_PROFILE_DIR");
	return NULL;
}

bool sim_profile_load(const char *name_or_path, struct smb_server_profile *profile, struct sim_profile_network *network,
		      GError **error)
{
	g_autofree char *path = find(name_or_path, error);
	g_autofree char *text = NULL;
	g_autoptr(GError) cause = NULL;
	struct values values = { 0 };
	gsize length;

	if (!path)
		return false;
	if (!g_file_get_contents(path, &text, &length, &cause)) {
		g_set_error(error, SIM_PROFILE_ERROR, SIM_PROFILE_ERROR_NOT_FOUND, "server profile: %s",
			    cause->message);
		return false;
	}
	if (!parse(path, text, length, &values, error))
		return false;
	*profile = values.profile;
	if (network)
		*network = values.network;
	return true;
}
bool sim_profile_save(const char *path, const struct smb_server_profile *profile,
		      const struct sim_profile_network *network, const char *comment, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) cause = NULL;
	struct values values = { .profile = *profile };

	if (network)
		values.network = *network;
	if (comment)
		g_key_file_set_comment(file, NULL, NULL, comment, NULL);
	for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
		bool is_network = g_str_equal(keys[i].group, "network");
		g_autofree char *text = sim_profile_value_print(keys[i].kind, keys[i].size,
								(const char *)&values + keys[i].offset);
		if (!is_network || (network && !g_str_equal(text, "0")))
			g_key_file_set_value(file, keys[i].group, keys[i].name, text);
	}
	if (g_key_file_save_to_file(file, path, &cause))
		return true;
	g_set_error(error, SIM_PROFILE_ERROR, SIM_PROFILE_ERROR_WRITE, "cannot write the server profile %s: %s", path,
		    cause->message);
	return false;
}

static gint compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char **sim_profile_list(void)
{
	g_autoptr(GPtrArray) list = folders();
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	GPtrArray *names = g_ptr_array_new();

	for (guint i = 0; i < list->len; i++) {
		g_autoptr(GDir) folder = g_dir_open(list->pdata[i], 0, NULL);
		const char *entry;
		while (folder && (entry = g_dir_read_name(folder))) {
			if (!g_str_has_suffix(entry, ".ini"))
				continue;
			char *name = name_of_path(entry);
			if (g_hash_table_contains(seen, name)) {
				g_free(name);
				continue;
			}
			g_hash_table_add(seen, name);
			g_ptr_array_add(names, name);
		}
	}
	g_ptr_array_sort(names, compare_names);
	g_ptr_array_add(names, NULL);
	return (char **)g_ptr_array_free(names, FALSE);
}
