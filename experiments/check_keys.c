/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The keys that only check configs have: what each means and sets. */

#include "experiments/check_keys.h"

#include "experiments/check_script.h"
#include "model/misbehaviour.h"
#include "model/model.h"
#include "protocol/wire/smb2.h"

#include <string.h>

#define FAULTS_MAX 9

/* -------------------------------------------------------------------------------------------------------- own keys */

typedef bool (*set_fn)(struct lab_check_draft *draft, const char *name, const char *text, GError **error);

static bool set_title(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	(void)error;
	g_free(draft->check->title);
	draft->check->title = g_strdup(text);
	return true;
}

static bool set_nothing(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)draft;
	(void)name;
	(void)text;
	(void)error;
	return true;
}

static bool set_start(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	draft->check->model.starts_mounted = !strcmp(text, "mounted");
	draft->check->model.behaves_in_mount = draft->check->model.starts_mounted;
	if (draft->check->model.starts_mounted || !strcmp(text, "mount"))
		return true;
	return lab_refuse(error, "'%s' is neither mount nor mounted", text);
}

static bool set_unmount(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return lab_bool_parse(text, &draft->check->model.unmounts, error);
}

static bool set_liveness(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return lab_bool_parse(text, &draft->check->model.is_live, error);
}

static bool set_symmetry(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	draft->check->model.symmetry = !strcmp(text, "threads");
	if (draft->check->model.symmetry || !strcmp(text, "none"))
		return true;
	return lab_refuse(error, "'%s' is neither threads nor none", text);
}

static bool set_absolute_ids(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return lab_bool_parse(text, &draft->check->model.has_absolute_ids, error);
}

static bool set_partial_order(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return lab_bool_parse(text, &draft->check->model.partial_order, error);
}

static bool whole_between(const char *text, uint32_t least, uint32_t most, uint32_t *number, GError **error)
{
	uint64_t value;

	if (!lab_whole_parse(LAB_COUNT, text, &value, error))
		return false;
	if (value < least || value > most)
		return lab_refuse(error, "%s is not between %u and %u", text, least, most);
	*number = (uint32_t)value;
	return true;
}

static bool set_window(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return whole_between(text, 1, 8192, &draft->window, error);
}

static bool set_order(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	draft->check->model.freedom.any_order = !strcmp(text, "any");
	if (draft->check->model.freedom.any_order || !strcmp(text, "kept"))
		return true;
	return lab_refuse(error, "'%s' is neither any nor kept", text);
}

static bool set_switch(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	struct model_freedom *freedom = &draft->check->model.freedom;
	bool *field = !strcmp(name, "interims") ? &freedom->interim
		      : !strcmp(name, "splits") ? &freedom->split
						: &freedom->spread;

	return lab_bool_parse(text, field, error);
}

static bool set_grants(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
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

static bool set_statuses(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
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

static bool set_fault(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
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

static bool set_never_back(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return lab_bool_parse(text, &draft->check->model.never_back, error);
}

static bool set_files(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	return lab_check_files(&draft->check->model, text, !strcmp(name, "directories"), error);
}

static bool set_thread(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	uint32_t thread = (uint32_t)(name[strlen("thread")] - '1');

	if (thread > draft->check->model.threads)
		return lab_refuse(error, "there is no thread%u before it", thread);
	draft->check->model.threads = MAX(draft->check->model.threads, thread + 1);
	return lab_check_thread(&draft->check->model, thread, text, error);
}

static bool set_leases(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	bool has_leases;

	(void)name;
	if (!lab_bool_parse(text, &has_leases, error))
		return false;
	draft->leases = has_leases ? LAB_CHECK_LEASES : LAB_CHECK_OPLOCKS;
	return true;
}

static bool set_interfaces(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return whole_between(text, 1, MODEL_INTERFACES_MAX, &draft->interfaces, error);
}

static bool set_interfaces_down(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return whole_between(text, 0, draft->interfaces, &draft->interfaces_down, error);
}

static bool set_interface_speed(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	(void)name;
	return lab_whole_parse(LAB_RATE, text, &draft->interface_bps, error);
}

static bool set_later(struct lab_check_draft *draft, const char *name, const char *text, GError **error)
{
	struct smb_server_sizes *later = &draft->check->model.later;
	uint64_t number;

	if (!strcmp(name, "later_credits_max"))
		return whole_between(text, 1, 65535, &later->credits_max, error);
	if (!lab_whole_parse(LAB_SIZE, text, &number, error))
		return false;
	if (number < SMB2_CREDIT_UNIT || number > UINT32_MAX)
		return lab_refuse(error, "%s is not between 64K and 4G", text);
	if (!strcmp(name, "later_max_read"))
		later->max_read = (uint32_t)number;
	else if (!strcmp(name, "later_max_write"))
		later->max_write = (uint32_t)number;
	else
		later->max_transact = (uint32_t)number;
	return true;
}

static bool set_misbehaviour(struct lab_check_draft *draft, const struct model_misbehaviour *row, const char *text,
			     GError **error)
{
	bool is_on = false;
	uint32_t number = 0;

	if (row->max == 1 ? !lab_bool_parse(text, &is_on, error) : !whole_between(text, 0, row->max, &number, error))
		return false;
	model_misbehaviour_set(row, &draft->check->model.server.misbehaviour, row->max == 1 ? is_on : number);
	return true;
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
	{ { "check", "liveness", "from every state the application can get done, and no fair run goes round for ever",
	    "true|false", "false" },
	  set_liveness },
	{ { "check", "symmetry", "threads that do the same are taken for each other; not with liveness", "threads|none",
	    "none" },
	  set_symmetry },
	{ { "check", "partial_order", "orders that come to the same are left out; not with liveness", "true|false",
	    "false" },
	  set_partial_order },
	{ { "check", "absolute_ids", "states that differ only in where the MessageIds stand are several", "true|false",
	    "false" },
	  set_absolute_ids },
	{ { "check", "window", "MessageIds that the server follows, at most", "number", "64" }, set_window },
	{ { "server", "order", "storage answers in any order, or at once", "any|kept", "kept" }, set_order },
	{ { "server", "grants", "N;...: what each answer may grant instead of what the profile does", "list", "none" },
	  set_grants },
	{ { "server", "interims", "any request may be answered with STATUS_PENDING first", "true|false", "false" },
	  set_switch },
	{ { "server", "splits", "replies of a compound may come in a PDU each", "true|false", "false" }, set_switch },
	{ { "server", "spreads", "replies of a compound may each grant something", "true|false", "false" },
	  set_switch },
	{ { "server", "leases", "files are cached by leases; else by oplocks", "true|false", "as the profile" },
	  set_leases },
	{ { "server", "interfaces", "network interfaces that it tells of", "1 to 4", "1" }, set_interfaces },
	{ { "server", "interfaces_down", "of them, so many, the last ones, are down at first", "number", "0" },
	  set_interfaces_down },
	{ { "server", "interface_speed", "of each, bits/s; 0 is seen in the field", "rate", "1Gbit" },
	  set_interface_speed },
	{ { "server", "later_max_read", "largest READ after a limit_change", "size", "as before" }, set_later },
	{ { "server", "later_max_write", "largest WRITE after a limit_change", "size", "as before" }, set_later },
	{ { "server", "later_max_transact", "largest transaction after a limit_change", "size", "as before" },
	  set_later },
	{ { "server", "later_credits_max", "widest credit window after a limit_change", "number", "as before" },
	  set_later },
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
	{ { "faults", "interface_changes",
	    "interfaces of the server that go or come back; clients learn of it when they ask", "number", "0" },
	  set_fault },
	{ { "faults", "limit_changes",
	    "times that the server's limits become those of later_..., or again what they were", "number", "0" },
	  set_fault },
	{ { "workload", "files", "PATH[=SIZE];...: files on the share", "list", "none" }, set_files },
	{ { "workload", "directories", "PATH;...: directories on the share", "list", "none" }, set_files },
	{ { "workload", "thread1",
	    "what the first application thread does: open, read, ..., or 'sh COMMAND', the share being /mnt", "steps",
	    "none" },
	  set_thread },
	{ { "workload", "thread2", "the second; a file is opened once, for all that use it", "steps", "none" },
	  set_thread },
	{ { "workload", "thread3", "the third", "steps", "none" }, set_thread },
	{ { "workload", "thread4", "the fourth", "steps", "none" }, set_thread },
};

/* Behind them, one key for each misbehaviour of the server. */
const struct lab_check_key *lab_check_keys(guint *count)
{
	static struct lab_check_key keys[G_N_ELEMENTS(own) + MODEL_MISBEHAVIOURS_MAX];
	uint32_t misbehaviours;
	const struct model_misbehaviour *row = model_misbehaviours(&misbehaviours);

	for (guint i = 0; i < G_N_ELEMENTS(own); i++)
		keys[i] = own[i].key;
	for (guint i = 0; i < misbehaviours; i++)
		keys[G_N_ELEMENTS(own) + i] = (struct lab_check_key){ "server", row[i].name, row[i].tells,
								      row[i].max > 1 ? "number" : "true|false",
								      row[i].max > 1 ? "0" : "false" };
	*count = (guint)G_N_ELEMENTS(own) + misbehaviours;
	return keys;
}

bool lab_check_key_set(struct lab_check_draft *draft, guint key, const char *text, GError **error)
{
	uint32_t misbehaviours;

	if (key < G_N_ELEMENTS(own))
		return own[key].set(draft, own[key].key.name, text, error);
	return set_misbehaviour(draft, &model_misbehaviours(&misbehaviours)[key - G_N_ELEMENTS(own)], text, error);
}
