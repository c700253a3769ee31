/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/world/profile.h"

#include "protocol/wire/smb2.h"

#include <criterion/criterion.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static void use_source_tree(void)
{
	g_setenv("SMBLAB_PROFILE_DIR", SMB_SOURCE_DIR "/sim/server/profiles", TRUE);
}

static char *write_file(const char *text)
{
	char *path = NULL;
	int fd = g_file_open_tmp("profile-XXXXXX.ini", &path, NULL);

	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert(g_file_set_contents(path, text, -1, NULL));
	return path;
}

/* The Samba profile with one piece of text exchanged. */
static char *samba_with(const char *old, const char *new)
{
	g_autofree char *text = NULL;

	cr_assert(g_file_get_contents(SMB_SOURCE_DIR "/sim/server/profiles/samba-4.17.ini", &text, NULL, NULL));
	g_auto(GStrv) parts = g_strsplit(text, old, 2);
	cr_assert(parts[0] && parts[1], "%s is not in the file", old);
	g_autofree char *changed = g_strjoinv(new, parts);
	return write_file(changed);
}

Test(profile, every_profile_of_the_source_tree_loads, .init = use_source_tree)
{
	g_auto(GStrv) names = sim_profile_list();

	cr_assert_geq(g_strv_length(names), 3);
	for (guint i = 0; names[i]; i++) {
		struct smb_server_profile profile;
		struct sim_profile_network network;
		g_autoptr(GError) error = NULL;
		cr_assert(sim_profile_load(names[i], &profile, &network, &error), "%s", error ? error->message : "");
		cr_assert_str_eq(profile.name, names[i]);
		cr_assert(smb_server_profile_is_valid(&profile));
	}
}

Test(profile, values_and_units_arrive, .init = use_source_tree)
{
	struct smb_server_profile profile;
	struct sim_profile_network network;

	cr_assert(sim_profile_load("samba-4.17", &profile, &network, NULL));
	cr_assert_eq(profile.dialect_min, SMB2_DIALECT_202);
	cr_assert_eq(profile.dialect_max, SMB2_DIALECT_311);
	cr_assert_eq(profile.max_read, 8u << 20);
	cr_assert_eq(profile.capabilities, 0x4fu);
	cr_assert_eq(profile.credits_max, 8192u);
	cr_assert_eq(profile.interim, SMB_INTERIM_AFTER);
	cr_assert_eq(profile.interim_after_ns, 500000u);
	cr_assert_float_eq(profile.send_cpu_ns_per_byte, 0.08, 1e-12);
	cr_assert_float_eq(profile.request_cpu_ns, 20000, 1e-9);
	cr_assert_eq(network.rtt_ns, 0u);
	cr_assert(sim_profile_load("azure", &profile, &network, NULL));
	cr_assert_eq(profile.channels_max, 4u);
	cr_assert_eq(profile.max_read, 1u << 20);
	cr_assert_gt(network.rtt_ns, 1000000u, "a public cloud is not a LAN");
	cr_assert_gt(network.rate_bps, 1000000000u);
}

Test(profile, mistakes_are_named_with_line_and_key, .init = use_source_tree)
{
	static const struct {
		const char *old;
		const char *new;
		enum sim_profile_error code;
		const char *expect[3];
	} cases[] = {
		{ "max_read=8M",
		  "max_raed=8M",
		  SIM_PROFILE_ERROR_KEY,
		  { ":11: ", "unknown key max_raed", "max_read" } },
		{ "max_read=8M\n", "", SIM_PROFILE_ERROR_KEY, { ":5: ", "max_read is missing", "[limits]" } },
		{ "max_write=8M", "max_read=8M", SIM_PROFILE_ERROR_KEY, { ":11: ", "max_read", "in line 12" } },
		{ "[storage]", "[storge]", SIM_PROFILE_ERROR_KEY, { "unknown group [storge]", "storage", "" } },
		{ "max_read=8M", "max_read=8Q", SIM_PROFILE_ERROR_VALUE, { ":11: ", "unknown unit", "K, M, G" } },
		{ "max_read=8M", "max_read=lots", SIM_PROFILE_ERROR_VALUE, { ":11: ", "not a number", "lots" } },
		{ "max_read=8M", "max_read=-1", SIM_PROFILE_ERROR_VALUE, { ":11: ", "negative", "" } },
		{ "max_read=8M", "max_read=nan", SIM_PROFILE_ERROR_VALUE, { ":11: ", "not a number", "" } },
		{ "max_read=8M", "max_read=8G", SIM_PROFILE_ERROR_VALUE, { ":11: ", "larger than", "" } },
		{ "max_read=8M", "max_read=1", SIM_PROFILE_ERROR_VALUE, { "do not go together", "64K", "" } },
		{ "threads=0", "threads=1.5", SIM_PROFILE_ERROR_VALUE, { "threads", "whole number", "" } },
		{ "dialect_min=2.0.2", "dialect_min=2.0", SIM_PROFILE_ERROR_VALUE, { ":7: ", "2.0.2, 2.1, 3.0", "" } },
		{ "interim=after", "interim=later", SIM_PROFILE_ERROR_VALUE, { "never, always, after", "", "" } },
		{ "dfs;leasing", "dfs;leesing", SIM_PROFILE_ERROR_VALUE, { "leesing", "large_mtu", "" } },
		{ "dialect_max=3.1.1", "dialect_max=2.0.2\ndialect", SIM_PROFILE_ERROR_SYNTAX, { "dialect", "", "" } },
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct smb_server_profile profile = { .name = "untouched" };
		g_autofree char *path = samba_with(cases[i].old, cases[i].new);
		g_autoptr(GError) error = NULL;
		cr_assert_not(sim_profile_load(path, &profile, NULL, &error), "case %u was taken", i);
		cr_assert(g_error_matches(error, SIM_PROFILE_ERROR, (gint)cases[i].code), "case %u: %s", i,
			  error->message);
		cr_assert(strstr(error->message, path));
		for (guint e = 0; e < 3; e++)
			cr_assert(strstr(error->message, cases[i].expect[e]), "case %u: %s", i, error->message);
		cr_assert_str_eq(profile.name, "untouched");
		g_remove(path);
	}
}

Test(profile, strange_files_are_refused, .init = use_source_tree)
{
	static const char *const texts[] = { "", "\xff\xfe\x01", "[limits\n", "key=1\n", "[limits]\nmax_read\n" };
	struct smb_server_profile profile;

	for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autofree char *path = write_file(texts[i]);
		g_autoptr(GError) error = NULL;
		cr_assert_not(sim_profile_load(path, &profile, NULL, &error));
		cr_assert(strstr(error->message, path), "%s", error->message);
		g_remove(path);
	}
	g_autoptr(GError) error = NULL;
	cr_assert_not(sim_profile_load("no-such", &profile, NULL, &error));
	cr_assert(g_error_matches(error, SIM_PROFILE_ERROR, SIM_PROFILE_ERROR_NOT_FOUND));
	cr_assert(strstr(error->message, "azure, samba-3.6, samba-4.17, windows-server"), "%s", error->message);
	g_clear_error(&error);
	cr_assert_not(sim_profile_load("/no/such.ini", &profile, NULL, &error));
	cr_assert(strstr(error->message, "/no/such.ini"));
}

Test(profile, what_is_saved_loads_to_the_same_values, .init = use_source_tree)
{
	struct smb_server_profile saved, loaded;
	struct sim_profile_network network, loaded_network;
	g_autofree char *path = write_file("");
	g_autofree char *name = g_path_get_basename(path);

	cr_assert(sim_profile_load("azure", &saved, &network, NULL));
	saved.request_cpu_ns = 12345.678901234;
	saved.send_cpu_ns_per_byte = 1.0 / 3;
	saved.storage_bytes_per_s = 1.5e9;
	cr_assert(sim_profile_save(path, &saved, &network, "fitted", NULL));
	cr_assert(sim_profile_load(path, &loaded, &loaded_network, NULL));
	name[strlen(name) - 4] = 0;
	g_strlcpy(saved.name, name, sizeof(saved.name));
	cr_assert_str_eq(loaded.name, saved.name);
	cr_assert_eq(loaded.capabilities, saved.capabilities);
	cr_assert_eq(loaded.request_cpu_ns, saved.request_cpu_ns);
	cr_assert_eq(loaded.send_cpu_ns_per_byte, saved.send_cpu_ns_per_byte);
	cr_assert_eq(loaded.storage_bytes_per_s, saved.storage_bytes_per_s);
	cr_assert_eq(loaded.threads, saved.threads);
	cr_assert_eq(loaded.interim, saved.interim);
	cr_assert_eq(loaded_network.rate_bps, network.rate_bps);
	cr_assert_eq(loaded_network.rtt_ns, network.rtt_ns);
	g_remove(path);
	g_autoptr(GError) error = NULL;
	cr_assert_not(sim_profile_save("/no/such/folder/p.ini", &saved, NULL, NULL, &error));
	cr_assert(strstr(error->message, "/no/such/folder/p.ini"));
}
