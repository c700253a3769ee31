/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/check_config.h"

#include "experiments/check_script.h"
#include "experiments/keys.h"
#include "experiments/point.h"
#include "experiments/scan.h"
#include "model/model.h"
#include "protocol/wire/smb2.h"
#include "sim/world/nearest.h"

#include <string.h>

#define FAULTS_MAX 9
#define WINDOW_DEFAULT 64

/* -------------------------------------------------------------------------------------------------------- own keys */

struct draft {
	struct lab_check *check;
	struct lab_values values; /* of keys that all configs have */
	uint32_t window;
	bool is_started_mounted;
};

typedef bool (*set_fn)(struct draft *draft, const char *name, const char *text, GError **error);

static bool set_title(struct draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	(void)error;
	g_free(draft->check->title);
	draft->check->title = g_strdup(text);
	return true;
}

static bool set_nothing(struct draft *draft, const char *name, const char *text, GError **error)
{
	(void)draft;
	(void)name;
	(void)text;
	(void)error;
	return true;
}

static bool set_start(struct draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	draft->check->model.starts_mounted = !strcmp(text, "mounted");
	if (draft->check->model.starts_mounted || !strcmp(text, "mount"))
		return true;
	return lab_refuse(error, "'%s' is neither mount nor mounted", text);
}

static bool set_unmount(struct draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return lab_bool_parse(text, &draft->check->model.unmounts, error);
}

static bool set_liveness(struct draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return lab_bool_parse(text, &draft->check->model.is_live, error);
}

static bool set_symmetry(struct draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	draft->check->model.symmetry = !strcmp(text, "threads");
	if (draft->check->model.symmetry || !strcmp(text, "none"))
		return true;
	return lab_refuse(error, "'%s' is neither threads nor none", text);
}

static bool set_partial_order(struct draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return lab_bool_parse(text, &draft->check->model.partial_order, error);
}

static bool set_window(struct draft *draft, const char *name, const char *text, GError **error)
{
	uint64_t number;

	(void)name;
	if (!lab_whole_parse(LAB_COUNT, text, &number, error))
		return false;
	if (number < 1 || number > 8192)
		return lab_refuse(error, "%s is not between 1 and 8192", text);
	draft->window = (uint32_t)number;
	return true;
}

static bool set_order(struct draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	draft->check->model.freedom.any_order = !strcmp(text, "any");
	if (draft->check->model.freedom.any_order || !strcmp(text, "kept"))
		return true;
	return lab_refuse(error, "'%s' is neither any nor kept", text);
}

static bool set_switch(struct draft *draft, const char *name, const char *text, GError **error)
{
	struct model_freedom *freedom = &draft->check->model.freedom;
	bool *field = !strcmp(name, "interims") ? &freedom->interim
		      : !strcmp(name, "splits") ? &freedom->split
						: &freedom->spread;

	return lab_bool_parse(text, field, error);
}

static bool set_grants(struct draft *draft, const char *name, const char *text, GError **error)
{
	struct model_freedom *freedom = &draft->check->model.freedom;
	g_auto(GStrv) parts = g_strsplit(text, ";", -1);
	uint64_t number;

	(void)name;
	for (char **part = parts; *part; part++) {
		if (!*g_strstrip(*part))
			continue;
		if (!lab_whole_parse(LAB_COUNT, *part, &number, error))
			return false;
		if (number > 8192 || freedom->grants == MODEL_GRANTS_MAX)
			return lab_refuse(error, "at most %d amounts, each at most 8192", MODEL_GRANTS_MAX);
		freedom->grant[freedom->grants++] = (uint16_t)number;
	}
	return true;
}

static const struct {
	const char *word;
	uint32_t status;
} statuses[] = {
	{ "INSUFFICIENT_RESOURCES", STATUS_INSUFFICIENT_RESOURCES },
	{ "SERVER_UNAVAILABLE", STATUS_SERVER_UNAVAILABLE },
	{ "IO_TIMEOUT", STATUS_IO_TIMEOUT },
	{ "ACCESS_DENIED", STATUS_ACCESS_DENIED },
};

static bool set_statuses(struct draft *draft, const char *name, const char *text, GError **error)
{
	struct model_freedom *freedom = &draft->check->model.freedom;
	g_auto(GStrv) parts = g_strsplit(text, ";", -1);

	(void)name;
	for (char **part = parts; *part; part++) {
		guint i = 0;

		if (!*g_strstrip(*part))
			continue;
		while (i < G_N_ELEMENTS(statuses) && strcmp(statuses[i].word, *part) != 0)
			i++;
		if (i == G_N_ELEMENTS(statuses) || freedom->statuses == MODEL_STATUSES_MAX)
			return lab_refuse(error,
					  "'%s': INSUFFICIENT_RESOURCES, SERVER_UNAVAILABLE, IO_TIMEOUT, ACCESS_DENIED",
					  *part);
		freedom->status[freedom->statuses++] = statuses[i].status;
	}
	return true;
}

static bool set_fault(struct draft *draft, const char *name, const char *text, GError **error)
{
	uint64_t number;

	if (!lab_whole_parse(LAB_COUNT, text, &number, error))
		return false;
	if (number > FAULTS_MAX)
		return lab_refuse(error, "%s is more than %d", text, FAULTS_MAX);
	for (int i = 0; i < MODEL_FAULTS; i++) {
		if (!strcmp(name, model_fault_name((enum model_fault)i)))
			draft->check->model.faults[i] = (uint8_t)number;
	}
	return true;
}

static bool set_never_back(struct draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return lab_bool_parse(text, &draft->check->model.never_back, error);
}

static bool set_files(struct draft *draft, const char *name, const char *text, GError **error)
{
	return lab_check_files(&draft->check->model, text, !strcmp(name, "directories"), error);
}

static bool set_thread(struct draft *draft, const char *name, const char *text, GError **error)
{
	uint32_t thread = (uint32_t)(name[strlen("thread")] - '1');

	if (thread > draft->check->model.threads)
		return lab_refuse(error, "there is no thread%u before it", thread);
	draft->check->model.threads = MAX(draft->check->model.threads, thread + 1);
	return lab_check_thread(&draft->check->model, thread, text, error);
}

/* Rows are applied in this order: files before the threads that name them. */
static const struct {
	struct lab_check_key key;
	set_fn set;
} own[] = {
	{ { "experiment", "title", "heading", "text", "the file's name" }, set_title },
	{ { "experiment", "about", "what is asked and what is assumed", "text", "none" }, set_nothing },
	{ { "check", "start", "the first state: before the mount, or after it", "mount|mounted", "mount" }, set_start },
	{ { "check", "unmount", "the share is unmounted when all threads are done", "true|false", "false" },
	  set_unmount },
	{ { "check", "liveness", "from every state the application must be able to get done", "true|false", "false" },
	  set_liveness },
	{ { "check", "symmetry", "threads that do the same are taken for each other; not with liveness", "threads|none",
	    "none" },
	  set_symmetry },
	{ { "check", "partial_order", "orders that come to the same are left out; not with liveness", "true|false",
	    "false" },
	  set_partial_order },
	{ { "check", "window", "MessageIds that the server follows, at most", "number", "64" }, set_window },
	{ { "server", "order", "storage answers in any order, or at once", "any|kept", "kept" }, set_order },
	{ { "server", "grants", "N;...: what each answer may grant instead of what the profile does", "list", "none" },
	  set_grants },
	{ { "server", "interims", "any request may be answered with STATUS_PENDING first", "true|false", "false" },
	  set_switch },
	{ { "server", "splits", "replies of a compound may come in a PDU each", "true|false", "false" }, set_switch },
	{ { "server", "spreads", "replies of a compound may each grant something", "true|false", "false" },
	  set_switch },
	{ { "server", "pushback", "STATUS;...: what a request may be refused with", "list", "INSUFFICIENT_RESOURCES" },
	  set_statuses },
	{ { "faults", "cancels", "signals that end the wait of a thread", "number", "0" }, set_fault },
	{ { "faults", "send_failures", "PDUs that cannot be sent on a connection that stays up", "number", "0" },
	  set_fault },
	{ { "faults", "pushbacks", "requests that are refused (see server.pushback)", "number", "0" }, set_fault },
	{ { "faults", "expiries", "requests that find the session expired", "number", "0" }, set_fault },
	{ { "faults", "breaks", "leases and oplocks that the server breaks", "number", "0" }, set_fault },
	{ { "faults", "strangers", "other clients that come, break a rule and go", "number", "0" }, set_fault },
	{ { "faults", "cuts", "connections that end", "number", "0" }, set_fault },
	{ { "faults", "never_back", "after the first cut no connection can be made any more", "true|false", "false" },
	  set_never_back },
	{ { "faults", "refusals", "connections that cannot be made", "number", "0" }, set_fault },
	{ { "faults", "timers", "timers that come while something else could happen", "number", "0" }, set_fault },
	{ { "workload", "files", "PATH[=SIZE];...: files on the share", "list", "none" }, set_files },
	{ { "workload", "directories", "PATH;...: directories on the share", "list", "none" }, set_files },
	{ { "workload", "thread1", "what the first application thread does (open, read, ...)", "steps", "nothing" },
	  set_thread },
	{ { "workload", "thread2", "the second", "steps", "nothing" }, set_thread },
	{ { "workload", "thread3", "the third", "steps", "nothing" }, set_thread },
	{ { "workload", "thread4", "the fourth", "steps", "nothing" }, set_thread },
};

const struct lab_check_key *lab_check_keys(guint *count)
{
	static struct lab_check_key keys[G_N_ELEMENTS(own)];

	for (guint i = 0; i < G_N_ELEMENTS(own); i++)
		keys[i] = own[i].key;
	*count = G_N_ELEMENTS(own);
	return keys;
}

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
	const char *nearest;
	guint count;

	lab_keys(&count);
	for (guint i = 0; i < count; i++) {
		if (is_shared(lab_key_dotted(i)))
			g_ptr_array_add(names, (gpointer)lab_key_dotted(i));
	}
	for (guint i = 0; i < G_N_ELEMENTS(own); i++) {
		g_autofree char *name = g_strconcat(own[i].key.section, ".", own[i].key.name, NULL);

		g_ptr_array_add(names, (gpointer)g_intern_string(name));
	}
	nearest = sim_nearest(dotted, (const char *const *)names->pdata, names->len);
	return nearest ? g_strconcat("; nearest: ", nearest, NULL) : g_strdup("");
}

struct given {
	const char *texts[G_N_ELEMENTS(own)]; /* interned; NULL = not given */
	guint lines[G_N_ELEMENTS(own)];
};

static int own_find(const char *dotted)
{
	for (guint i = 0; i < G_N_ELEMENTS(own); i++) {
		g_autofree char *name = g_strconcat(own[i].key.section, ".", own[i].key.name, NULL);

		if (!strcmp(name, dotted))
			return (int)i;
	}
	return -1;
}

/* One given text, of the file or of --set. */
static bool take(struct draft *draft, struct given *given, const char *dotted, const char *text, guint line,
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

static bool take_set(struct draft *draft, struct given *given, const char *set, GError **error)
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

static bool apply_own(struct draft *draft, const struct given *given, GError **error)
{
	for (guint i = 0; i < G_N_ELEMENTS(own); i++) {
		const struct lab_check_key *key = &own[i].key;

		if (!given->texts[i] || own[i].set(draft, key->name, given->texts[i], error))
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

static bool build(struct draft *draft, GError **error)
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
		.interface_count = 1,
		.interfaces = { { .speed_bps = UINT64_C(1000000000), .rss = true } },
	};
	if (model->server.profile.interim == SMB_INTERIM_AFTER)
		model->server.profile.interim = SMB_INTERIM_NEVER; /* time stands still for the server */
	model_config_set_limits(model, channels);
	model->server_limits.window = draft->window;
	return true;
}

static bool read_all(struct draft *draft, GPtrArray *entries, char **sets, GError **error)
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
		set_statuses(draft, "pushback", "INSUFFICIENT_RESOURCES", NULL);
	if (!draft->check->model.threads)
		return lab_refuse(error, "%s: no thread does anything ([workload] thread1)", draft->check->path);
	return build(draft, error);
}

static struct lab_check *load(const char *path, GPtrArray *entries, char **sets, GError **error)
{
	g_autofree struct draft *draft = g_new0(struct draft, 1);

	if (!entries)
		return NULL;
	draft->check = g_new0(struct lab_check, 1);
	draft->check->path = g_strdup(path);
	draft->check->title = g_path_get_basename(path);
	draft->window = WINDOW_DEFAULT;
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
	g_free(check->point);
	g_free(check);
}

GError *lab_check_error(GError *error)
{
	GError *told;

	if (error->domain != MODEL_ERROR)
		return error;
	told = g_error_new_literal(LAB_ERROR, LAB_ERROR_USAGE, error->message);
	g_error_free(error);
	return told;
}
