/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/keys_special.h"

#include "experiments/parameters.h"
#include "sim/world/profile.h"

#include <string.h>

bool lab_set_kernel(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	const struct smb_era *found = smb_era_find(text);
	const struct smb_era *eras;
	GString *names;
	size_t count;

	(void)key;
	if (found) {
		draft->point->policy = found->policy;
		return true;
	}
	eras = smb_eras(&count);
	names = g_string_new(NULL);
	for (size_t i = 0; i < count; i++)
		g_string_append_printf(names, "%s%s", i ? ", " : "", eras[i].name);
	lab_refuse(error, "'%s' is no era; the eras are %s", text, names->str);
	g_string_free(names, TRUE);
	return false;
}

bool lab_set_policy(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	const char *policy = key->name + strlen("policy.");

	if (smb_policy_set(&draft->point->policy, policy, text) == SMB_POLICY_OK)
		return true;
	return lab_refuse(error, "'%s' is not a value of this policy; values: %s", text, smb_policy_values(policy));
}

bool lab_set_mount(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	(void)key;
	if (strchr(text, ' '))
		return lab_refuse(error, "'%s' has a space: write the options alone, without device and directory",
				  text);
	g_string_assign(draft->mount, text);
	return true;
}

/* Take each `name` and `name=...` out of the option string. */
static void mount_remove(GString *mount, const char *name)
{
	g_auto(GStrv) options = g_strsplit(mount->str, ",", -1);
	size_t length = strlen(name);

	g_string_truncate(mount, 0);
	for (guint i = 0; options[i]; i++) {
		if (!strncmp(options[i], name, length) && (options[i][length] == '\0' || options[i][length] == '='))
			continue;
		g_string_append_printf(mount, "%s%s", mount->len ? "," : "", options[i]);
	}
}

static void mount_append(GString *mount, const char *option)
{
	g_string_append_printf(mount, "%s%s", mount->len ? "," : "", option);
}

bool lab_set_mount_vers(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	g_autofree char *option = g_strconcat("vers=", text, NULL);

	(void)error;
	(void)key;
	mount_remove(draft->mount, "vers");
	if (strcmp(text, "unset") != 0)
		mount_append(draft->mount, option);
	return true;
}

bool lab_set_mount_size(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	double number;

	if (!lab_key_number(key, text, &number, error))
		return false;
	mount_remove(draft->mount, key->name);
	if (number > 0) {
		g_autofree char *option = g_strdup_printf("%s=%.0f", key->name, number);

		mount_append(draft->mount, option);
	}
	return true;
}

bool lab_set_mount_channels(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	double number;

	if (!lab_key_number(key, text, &number, error))
		return false;
	mount_remove(draft->mount, "multichannel");
	mount_remove(draft->mount, "nomultichannel");
	mount_remove(draft->mount, "max_channels");
	if (number > 1) {
		g_autofree char *option = g_strdup_printf("multichannel,max_channels=%.0f", number);

		mount_append(draft->mount, option);
	}
	return true;
}

bool lab_set_costs(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	struct lab_values values = { 0 };
	guint count;
	const struct lab_key *keys = lab_keys(&count);

	(void)key;
	if (!lab_parameters_load(text, draft->directory, &values, error))
		return false;
	for (guint i = 0; i < count; i++)
		if (values.text[i] && g_str_has_prefix(keys[i].name, "cost.") &&
		    !lab_key_set(draft, i, values.text[i], error))
			return false;
	return true;
}

/* A profile may know the way to such a server; preset, rtt and rate come later in the table and win. */
bool lab_set_profile(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	struct sim_profile_network network = { 0 };
	g_autofree char *path = NULL;
	g_autoptr(GError) cause = NULL;

	(void)key;
	if (strchr(text, '/') || g_str_has_suffix(text, ".ini"))
		path = g_canonicalize_filename(text, draft->directory);
	if (!sim_profile_load(path ? path : text, &draft->point->server, &network, &cause))
		return lab_refuse(error, "%s", cause->message);
	if (network.rtt_ns)
		draft->point->network.rtt_ns = network.rtt_ns;
	if (network.rate_bps)
		draft->point->network.rate_bps = network.rate_bps;
	return true;
}

static const struct sim_network_preset *preset_find(const char *name)
{
	size_t count;
	const struct sim_network_preset *presets = sim_network_presets(&count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(presets[i].name, name))
			return &presets[i];
	return NULL;
}

bool lab_set_preset(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	const struct sim_network_preset *found = preset_find(text);
	const struct sim_network_preset *presets;
	GString *names;
	size_t count;

	(void)key;
	if (found) {
		draft->point->network.rtt_ns = found->rtt_ns;
		draft->point->network.rate_bps = found->rate_bps;
		return true;
	}
	presets = sim_network_presets(&count);
	names = g_string_new(NULL);
	for (size_t i = 0; i < count; i++)
		g_string_append_printf(names, "%s%s", i ? ", " : "", presets[i].name);
	lab_refuse(error, "'%s' is no network preset; they are %s", text, names->str);
	g_string_free(names, TRUE);
	return false;
}

bool lab_set_rtt(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	const struct sim_network_preset *preset = preset_find(text);
	double number;

	if (preset)
		number = (double)preset->rtt_ns;
	else if (!lab_key_number(key, text, &number, error))
		return false;
	lab_key_store(key, draft->point, number);
	return true;
}

bool lab_set_mountpoint(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	(void)key;
	if (text[0] != '/')
		return lab_refuse(error, "'%s' is not an absolute directory", text);
	draft->mountpoint = text;
	return true;
}

bool lab_set_file_size(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	double number = 0;
	bool needed = !strcmp(text, key->fallback);

	if (!needed && !lab_key_number(key, text, &number, error))
		return false;
	draft->file_bytes = (uint64_t)number;
	draft->files_are_empty = !needed && draft->file_bytes == 0;
	return true;
}

bool lab_set_share(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	const struct {
		const char *name;
		const char **place;
	} places[] = {
		{ "prepare", &draft->prepare },
		{ "files", &draft->files },
		{ "directories", &draft->directories },
		{ "missing", &draft->missing },
	};

	(void)error;
	for (guint i = 0; i < G_N_ELEMENTS(places); i++)
		if (!strcmp(key->name, places[i].name))
			*places[i].place = !strcmp(text, key->fallback) ? NULL : text;
	return true;
}

bool lab_set_command(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	(void)key;
	(void)error;
	draft->command = text;
	return true;
}
