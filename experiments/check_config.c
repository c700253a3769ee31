/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/check_config.h"

#include "experiments/check_keys.h"
#include "experiments/check_script.h"
#include "experiments/point.h"
#include "experiments/scan.h"
#include "model/model.h"
#include "protocol/wire/smb2.h"
#include "sim/world/nearest.h"

#include <string.h>

#define WINDOW_DEFAULT 64

/* -------------------------------------------------------------------------------------------------- finding the key */

/* Of the keys that all configs have, those that say what client and server are. */
static bool is_shared(const char *dotted)
{
	return (g_str_has_prefix(dotted, "client.") && !strstr(dotted, "cost") &&
		strcmp(dotted, "client.cores") != 0) ||
	       (g_str_has_prefix(dotted, "server.") && !strstr(dotted, "cpu") && !strstr(dotted, "storage") &&
		!strstr(dotted, "cores") && !strstr(dotted, "threads"));
}

static char *nearest_key(const char *dotted)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const struct lab_check_key *own;
	const char *nearest;
	guint count;

	lab_keys(&count);
	for (guint i = 0; i < count; i++) {
		if (is_shared(lab_key_dotted(i)))
			g_ptr_array_add(names, (gpointer)lab_key_dotted(i));
	}
	own = lab_check_keys(&count);
	for (guint i = 0; i < count; i++) {
		g_autofree char *name = g_strconcat(own[i].section, ".", own[i].name, NULL);

		g_ptr_array_add(names, (gpointer)g_intern_string(name));
	}
	nearest = sim_nearest(dotted, (const char *const *)names->pdata, names->len);
	return nearest ? g_strconcat("; nearest: ", nearest, NULL) : g_strdup("");
}

#define OWN_MAX 96

struct given {
	const char *texts[OWN_MAX]; /* interned; NULL = not given; by lab_check_keys */
	guint lines[OWN_MAX];
};

static int own_find(const char *dotted)
{
	guint count;
	const struct lab_check_key *own = lab_check_keys(&count);

	for (guint i = 0; i < count; i++) {
		g_autofree char *name = g_strconcat(own[i].section, ".", own[i].name, NULL);

		if (!strcmp(name, dotted))
			return (int)i;
	}
	return -1;
}

/* One given text, of the file or of --set. */
static bool take(struct lab_check_draft *draft, struct given *given, const char *dotted, const char *text, guint line,
		 GError **error)
{
	g_autofree char *directory = g_path_get_dirname(draft->check->path);
	g_autofree char *nearest = NULL;
	int key = own_find(dotted);

	if (key >= 0) {
		given->texts[key] = g_intern_string(text);
		given->lines[key] = line;
		return true;
	}
	key = lab_key_find_dotted(dotted);
	if (key >= 0 && is_shared(dotted)) {
		draft->values.text[key] = g_intern_string(text);
		return lab_point_check((guint)key, text, directory, error);
	}
	nearest = nearest_key(dotted);
	return lab_refuse(error, "unknown key%s", nearest);
}

static bool take_set(struct lab_check_draft *draft, struct given *given, const char *set, GError **error)
{
	const char *equals = strchr(set, '=');
	g_autofree char *dotted = equals ? g_strstrip(g_strndup(set, (gsize)(equals - set))) : NULL;
	g_autofree char *text = equals ? g_strstrip(g_strdup(equals + 1)) : NULL;

	if (!equals)
		return lab_refuse(error, "--set %s: write SECTION.KEY=VALUE", set);
	if (take(draft, given, dotted, text, 0, error))
		return true;
	g_prefix_error(error, "--set %s: ", set);
	return false;
}

static bool apply_own(struct lab_check_draft *draft, const struct given *given, GError **error)
{
	guint count;
	const struct lab_check_key *own = lab_check_keys(&count);

	g_assert(count <= OWN_MAX);
	for (guint i = 0; i < count; i++) {
		const struct lab_check_key *key = &own[i];

		if (!given->texts[i] || lab_check_key_set(draft, i, given->texts[i], error))
			continue;
		if (given->lines[i])
			g_prefix_error(error, "%s:%u: [%s] %s: ", draft->check->path, given->lines[i], key->section,
				       key->name);
		else
			g_prefix_error(error, "--set %s.%s: ", key->section, key->name);
		return false;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------ the model */

/* What the server's limits become: those that are not given stay. */
static bool take_later(struct model_config *model, GError **error)
{
	const struct smb_server_profile *profile = &model->server.profile;
	struct smb_server_sizes *later = &model->later;
	bool changes = later->max_read || later->max_write || later->max_transact || later->credits_max;

	if (model->faults[MODEL_FAULT_LIMITS] && !changes)
		return lab_refuse(error, "none of server.later_max_read, later_max_write, later_max_transact and "
					 "later_credits_max says what they become");
	later->max_read = later->max_read ? later->max_read : profile->max_read;
	later->max_write = later->max_write ? later->max_write : profile->max_write;
	later->max_transact = later->max_transact ? later->max_transact : profile->max_transact;
	later->credits_max = later->credits_max ? later->credits_max : profile->credits_max;
	if (later->credits_max > profile->credits_initial_extra)
		return true;
	return lab_refuse(error, "server.later_credits_max is not more than server.credits_initial_extra");
}

static bool build(struct lab_check_draft *draft, GError **error)
{
	struct sim_point *point = draft->check->point = g_new0(struct sim_point, 1);
	g_autofree char *directory = g_path_get_dirname(draft->check->path);
	struct model_config *model = &draft->check->model;
	struct lab_build_report report;
	uint32_t channels;

	/* a point is not complete without a workload; what it is does not matter here */
	draft->values.text[lab_key_find("workload", "command")] = "dd if=/mnt/file of=/dev/null bs=64K count=1";
	if (!lab_point_build(&draft->values, directory, point, &report, error)) {
		g_prefix_error(error, "%s: %s%s", draft->check->path,
			       report.key >= 0 ? lab_key_dotted((guint)report.key) : "", report.key >= 0 ? ": " : "");
		return false;
	}
	if (point->mount.vers == SMB_VERS_1)
		return lab_refuse(error,
				  "%s: vers=1.0 has no credits and no compounds: the model has SMB2 and SMB3 alone",
				  draft->check->path);
	channels = point->mount.multichannel ? MIN(point->mount.max_channels, MODEL_CHANNELS_MAX) : 1;
	if (model->faults[MODEL_FAULT_STRANGER] && channels == MODEL_CHANNELS_MAX)
		return lab_refuse(error, "%s: [faults] strangers leaves room for %u channels, max_channels is %u",
				  draft->check->path, MODEL_CHANNELS_MAX - 1, channels);
	model->client = (struct smb_client_config){
		.policy = point->policy,
		.mount = point->mount,
		.page_bytes = point->page_bytes,
		.client_guid = { 's', 'm', 'b', 'l', 'a', 'b' },
		.server = "server",
		.share = "share",
	};
	model->server = (struct smb_server_config){
		.profile = point->server,
		.server_guid = { 's', 'e', 'r', 'v', 'e', 'r' },
		.share = "share",
		.misbehaviour = model->server.misbehaviour,
		.interface_count = draft->interfaces,
	};
	for (uint32_t i = 0; i < draft->interfaces; i++)
		model->server.interfaces[i] = (struct smb_server_interface){
			.speed_bps = draft->interface_bps,
			.rss = true,
			.down = i >= draft->interfaces - draft->interfaces_down,
		};
	if (draft->leases == LAB_CHECK_LEASES)
		model->server.profile.capabilities |= SMB2_GLOBAL_CAP_LEASING;
	else if (draft->leases == LAB_CHECK_OPLOCKS)
		model->server.profile.capabilities &= ~SMB2_GLOBAL_CAP_LEASING;
	if (!take_later(model, error)) {
		g_prefix_error(error, "%s: [faults] limit_changes: ", draft->check->path);
		return false;
	}
	if (model->server.profile.interim == SMB_INTERIM_AFTER)
		model->server.profile.interim = SMB_INTERIM_NEVER; /* time stands still for the server */
	model_config_set_limits(model, channels);
	model->server_limits.window = draft->window;
	return true;
}

/* What comes last counts. */
static char *lines_of(const GPtrArray *entries, char **sets)
{
	GString *lines = g_string_new(NULL);

	for (guint i = 0; i < entries->len; i++) {
		const struct lab_entry *entry = entries->pdata[i];

		g_string_append_printf(lines, "%s.%s=%s\n", entry->section, entry->key, entry->value);
	}
	for (char **set = sets; set && *set; set++)
		g_string_append_printf(lines, "%s\n", *set);
	return g_string_free(lines, FALSE);
}

static bool read_all(struct lab_check_draft *draft, GPtrArray *entries, char **sets, GError **error)
{
	struct given given = { 0 };

	for (guint i = 0; i < entries->len; i++) {
		const struct lab_entry *entry = entries->pdata[i];
		g_autofree char *dotted = g_strconcat(entry->section, ".", entry->key, NULL);

		if (!take(draft, &given, dotted, entry->value, entry->line, error)) {
			lab_scan_blame(error, draft->check->path, entry);
			return false;
		}
	}
	for (char **set = sets; set && *set; set++) {
		if (!take_set(draft, &given, *set, error))
			return false;
	}
	if (!apply_own(draft, &given, error))
		return false;
	if (!draft->check->model.freedom.statuses)
		draft->check->model.freedom.status[draft->check->model.freedom.statuses++] =
			STATUS_INSUFFICIENT_RESOURCES;
	if (!draft->check->model.threads)
		return lab_refuse(error, "%s: no thread does anything ([workload] thread1)", draft->check->path);
	if (!lab_check_opens(&draft->check->model, error)) {
		g_prefix_error(error, "%s: ", draft->check->path);
		return false;
	}
	return build(draft, error);
}

static struct lab_check *load(const char *path, GPtrArray *entries, char **sets, GError **error)
{
	g_autofree struct lab_check_draft *draft = g_new0(struct lab_check_draft, 1);

	if (!entries)
		return NULL;
	draft->check = g_new0(struct lab_check, 1);
	draft->check->path = g_strdup(path);
	draft->check->title = g_path_get_basename(path);
	draft->check->given = lines_of(entries, sets);
	draft->window = WINDOW_DEFAULT;
	draft->interfaces = 1;
	draft->interface_bps = UINT64_C(1000000000);
	if (read_all(draft, entries, sets, error))
		return draft->check;
	lab_check_free(draft->check);
	return NULL;
}

struct lab_check *lab_check_load(const char *path, char **sets, GError **error)
{
	g_autoptr(GPtrArray) entries = lab_scan_file(path, NULL, error);

	return load(path, entries, sets, error);
}

struct lab_check *lab_check_parse(const char *path, const char *text, char **sets, GError **error)
{
	g_autoptr(GPtrArray) entries = lab_scan_text(path, text, strlen(text), error);

	return load(path, entries, sets, error);
}

void lab_check_free(struct lab_check *check)
{
	if (!check)
		return;
	g_free(check->path);
	g_free(check->title);
	g_free(check->given);
	g_free(check->point);
	g_free(check);
}

GError *lab_check_error(GError *error)
{
	GError *told;

	if (error->domain != MODEL_ERROR)
		return error;
	told = g_error_new_literal(
		LAB_ERROR, error->code == MODEL_ERROR_WRITE ? LAB_ERROR_ENVIRONMENT : LAB_ERROR_USAGE, error->message);
	g_error_free(error);
	return told;
}
