/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "sim/world/tests/ops_peer.h"

#include "sim/world/profile.h"

#include <criterion/criterion.h>

static const char *const directories[] = { "dummy", "rds", "rdc", "d10", "d10b", "d1000", "d1000b" };
static const char *const files[] = { "ex",  "exs", "rmc",  "rms", "mvc", "mvs", "lnc",
				     "stc", "sts", "catc", "cpx", "apc", "chc", "trc" };

static void make_entries(struct smb_server *server, const char *directory, int count)
{
	for (int i = 0; i < count; i++) {
		g_autofree char *name = g_strdup_printf("%s\\file%0*d", directory, count > 10 ? 3 : 1, i);

		cr_assert(smb_server_make_file(server, name, 0, 0));
	}
}

static void make_names(struct smb_server *server)
{
	for (gsize i = 0; i < G_N_ELEMENTS(directories); i++)
		cr_assert(smb_server_make_directory(server, directories[i]));
	for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
		cr_assert(smb_server_make_file(server, files[i], 0, 10));
	make_entries(server, "d10", 10);
	make_entries(server, "d10b", 10);
	make_entries(server, "d1000", 1000);
	make_entries(server, "d1000b", 1000);
}

struct sim_bill *peer_new_with(const struct smb_policy *policy, const char *mount)
{
	struct sim_bill_config config = { .policy = *policy };
	struct smb_mount_report report;
	g_autoptr(GError) error = NULL;
	struct sim_bill *bill = NULL;

	cr_assert_eq(smb_mount_options_parse(mount, policy, &config.mount, &report), SMB_MOUNT_OK, "%s",
		     report.message);
	if (sim_profile_load("samba-4.17", &config.server, NULL, &error))
		bill = sim_bill_new(&config, &error);
	cr_assert(bill, "%s", error->message);
	make_names(bill->server);
	cr_assert(sim_bill_mount(bill, &error), "%s", error->message);
	return bill;
}

struct sim_bill *peer_new(const char *kernel, const char *mount)
{
	return peer_new_with(&smb_era_find(kernel)->policy, mount);
}

enum smb_ops_error peer_run(struct sim_bill *bill, const char *line)
{
	struct smb_ops_shell shell = { .mount_point = "/mnt", .local_bytes = 10 };
	char message[SMB_OPS_MESSAGE_MAX];
	struct smb_ops_command command;
	enum smb_ops_error ended = SMB_OPS_IO;
	g_autoptr(GError) error = NULL;

	cr_assert(smb_ops_parse(line, &shell, &command, NULL, message), "%s: %s", line, message);
	cr_assert(sim_bill_run(bill, &command, &ended, &error), "%s: %s", line, error->message);
	cr_assert(smb_client_is_valid(bill->client), "%s", line);
	cr_assert(smb_server_is_valid(bill->server), "%s", line);
	return ended;
}

void peer_wait(struct sim_bill *bill, uint64_t ns)
{
	g_autoptr(GError) error = NULL;

	cr_assert(sim_bill_wait(bill, ns, &error), "%s", error->message);
	cr_assert(smb_client_is_valid(bill->client));
}
