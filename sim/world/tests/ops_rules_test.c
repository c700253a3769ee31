/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the captures do not show: refusals, caches that hold or have expired, handles that wait to be closed. */

#include "sim/world/tests/ops_peer.h"

#include <criterion/criterion.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define Q "[CREATE+GETINFO+CLOSE]"
#define Q_FAILS "[CREATE!c0000034+GETINFO!c0000034+CLOSE!c0000034]"

/** A line, typed after some time, and what it sends. */
struct typed {
	double after_s;
	const char *line;
	const char *sent;
	enum smb_ops_error ended;
};

static void type_all(const char *kernel, const char *mount, const struct typed *lines)
{
	struct sim_bill *bill = peer_new(kernel, mount);

	for (; lines->line; lines++) {
		peer_wait(bill, (uint64_t)(lines->after_s * 1e9));
		sim_bill_forget(bill);
		enum smb_ops_error ended = peer_run(bill, lines->line);
		g_autofree char *sent = sim_bill_text(bill, 0, bill->pairs->len, false);
		cr_expect_eq(ended, lines->ended, "%s: %s", lines->line, smb_ops_error_text(ended));
		cr_expect_str_eq(sent, lines->sent, "%s sends %s", lines->line, sent);
	}
	sim_bill_free(bill);
}

#define TYPE(kernel, mount, ...) type_all(kernel, mount, (const struct typed[]){ __VA_ARGS__, { .line = NULL } })

Test(ops_rules, what_the_server_refuses_takes_the_kernels_path)
{
	TYPE("6.1", "vers=3.1.1", //
	     { 2, "rmdir /mnt/d10", Q " [CREATE+SETINFO!c0000101+CLOSE]", SMB_OPS_NOT_EMPTY },
	     { 2, "mkdir /mnt/d10", Q, SMB_OPS_EXISTS }, //
	     { 2, "rm /mnt/nosuch", Q_FAILS, SMB_OPS_NOT_FOUND }, { 2, "rm /mnt/d10", Q, SMB_OPS_IS_A_DIRECTORY }, //
	     { 2, "rmdir /mnt/stc", Q, SMB_OPS_NOT_A_DIRECTORY }, { 2, "cat /mnt/nosuch", Q_FAILS, SMB_OPS_NOT_FOUND },
	     { 2, "stat /mnt/stc/below", Q, SMB_OPS_NOT_A_DIRECTORY },
	     { 2, "stat /mnt/nodir/below", Q_FAILS, SMB_OPS_NOT_FOUND },
	     { 2, "ln /mnt/lnc /mnt/stc", Q "*2", SMB_OPS_EXISTS },
	     { 2, "mv /mnt/nosuch /mnt/new", Q_FAILS, SMB_OPS_NOT_FOUND });
}

Test(ops_rules, without_compounds_a_refusal_ends_the_row_of_requests)
{
	TYPE("4.15", "vers=3.0", //
	     { 2, "rmdir /mnt/d10", "[CREATE] [GETINFO] [CLOSE] [CREATE] [SETINFO!c0000101] [CLOSE]",
	       SMB_OPS_NOT_EMPTY },
	     { 2, "rm /mnt/nosuch", "[CREATE!c0000034]", SMB_OPS_NOT_FOUND },
	     { 2, "touch /mnt/nodir/file", "[CREATE!c0000034]", SMB_OPS_NOT_FOUND });
}

Test(ops_rules, attributes_hold_for_actimeo)
{
	TYPE("6.1", "vers=3.1.1,actimeo=30", //
	     { 2, "stat /mnt/stc", Q, SMB_OPS_OK }, //
	     { 29, "stat /mnt/stc", "", SMB_OPS_OK }, //
	     { 2, "stat /mnt/stc", Q, SMB_OPS_OK });
}

Test(ops_rules, a_missing_name_is_asked_again_by_lstat_and_believed_for_a_second_by_stat)
{
	/* df follows links, stat does not. */
	TYPE("6.1", "vers=3.1.1", //
	     { 2, "stat /mnt/nosuch", Q_FAILS, SMB_OPS_NOT_FOUND },
	     { 0.5, "stat /mnt/nosuch", Q_FAILS, SMB_OPS_NOT_FOUND },
	     { 0.5, "df /mnt/nosuch", "", SMB_OPS_NOT_FOUND }, //
	     { 1.5, "df /mnt/nosuch", Q_FAILS, SMB_OPS_NOT_FOUND });
}

Test(ops_rules, a_name_that_is_gone_is_asked_twice)
{
	struct sim_bill *ours = peer_new("6.1", "vers=3.1.1");

	peer_wait(ours, 2 * NS_PER_S);
	cr_assert_eq(peer_run(ours, "stat /mnt/stc"), SMB_OPS_OK);
	cr_assert_eq(peer_run(ours, "mv /mnt/stc /mnt/moved"), SMB_OPS_OK);
	sim_bill_forget(ours);
	/* The name that was moved away has no entry any more: one look. */
	cr_assert_eq(peer_run(ours, "stat /mnt/stc"), SMB_OPS_NOT_FOUND);
	cr_expect_eq(ours->pairs->len, 1);
	sim_bill_forget(ours);
	cr_assert_eq(peer_run(ours, "stat /mnt/moved"), SMB_OPS_OK);
	cr_expect_eq(ours->pairs->len, 0, "its attributes came along");
	sim_bill_free(ours);
}

Test(ops_rules, a_removed_entry_expires_its_directory)
{
	TYPE("6.1", "vers=3.1.1", //
	     { 2, "rm /mnt/d10/file0", Q "*2 [CREATE+CLOSE]", SMB_OPS_OK },
	     { 0, "rm /mnt/d10/file1", Q "*2 [CREATE+CLOSE]", SMB_OPS_OK },
	     { 0, "stat /mnt/d10/file2", Q "*2", SMB_OPS_OK }, //
	     { 0, "stat /mnt/d10/file3", Q, SMB_OPS_OK });
}

Test(ops_rules, a_deferred_handle_serves_the_next_reader_and_its_pages)
{
	TYPE("6.1", "vers=3.1.1", //
	     { 2, "cat /mnt/catc", Q " [CREATE] [READ]", SMB_OPS_OK }, //
	     { 0.5, "cat /mnt/catc", "", SMB_OPS_OK }, //
	     { 0.9, "stat /mnt/catc", "", SMB_OPS_OK }, /* the lease still covers it */
	     { 2, "cat /mnt/catc", Q " [CREATE] [READ]", SMB_OPS_OK });
	TYPE("5.10", "vers=3.1.1", //
	     { 2, "cat /mnt/catc", Q " [CREATE] [READ] [CLOSE]", SMB_OPS_OK },
	     { 0.5, "cat /mnt/catc", "[CREATE] [READ] [CLOSE]", SMB_OPS_OK });
}

Test(ops_rules, a_deferred_handle_is_closed_before_its_name_goes)
{
	TYPE("6.1", "vers=3.1.1", //
	     { 2, "touch /mnt/new", "[CREATE] [FLUSH] [SETINFO]", SMB_OPS_OK },
	     { 0.2, "rm /mnt/new", "[CLOSE] [CREATE+CLOSE]", SMB_OPS_OK },
	     { 2, "touch /mnt/new", "[CREATE] [FLUSH] [SETINFO]", SMB_OPS_OK },
	     { 0.2, "mv /mnt/new /mnt/newer", Q_FAILS " [CLOSE] [CREATE+SETINFO+CLOSE]", SMB_OPS_OK },
	     { 2, "touch /mnt/last", "[CREATE] [FLUSH] [SETINFO]", SMB_OPS_OK },
	     { 0.2, "umount /mnt", Q "*2 [CLOSE] [TREE_DISCONNECT] [LOGOFF]", SMB_OPS_OK });
}

Test(ops_rules, closetimeo_is_a_second_after_the_last_close)
{
	struct sim_bill *bill = peer_new("6.1", "vers=3.1.1");

	peer_wait(bill, 2 * NS_PER_S);
	peer_run(bill, "touch /mnt/new");
	sim_bill_forget(bill);
	peer_wait(bill, NS_PER_S - 1);
	cr_expect_eq(bill->pairs->len, 0);
	peer_wait(bill, 1);
	cr_expect_eq(bill->pairs->len, 1);
	sim_bill_free(bill);
}

Test(ops_rules, without_leases_nothing_is_deferred)
{
	TYPE("6.1", "vers=2.0", //
	     { 2, "touch /mnt/new", "[CREATE] [FLUSH] [SETINFO] [CLOSE]", SMB_OPS_OK });
}

Test(ops_rules, moving_onto_a_name_replaces_it_and_into_a_directory_keeps_it)
{
	TYPE("6.1", "vers=3.1.1", //
	     { 2, "mv /mnt/mvc /mnt/mvs", Q "*2 [CREATE+SETINFO+CLOSE]", SMB_OPS_OK },
	     { 0, "stat /mnt/mvs", "", SMB_OPS_OK }, //
	     { 0, "mv /mnt/mvs /mnt/d10", Q " " Q_FAILS " [CREATE+SETINFO+CLOSE]", SMB_OPS_OK },
	     { 0, "stat /mnt/d10/mvs", Q, SMB_OPS_OK });
	TYPE("4.20", "vers=3.1.1", //
	     { 2, "ln /mnt/lnc /mnt/d10", Q "*2 " Q_FAILS " [CREATE+SETINFO+CLOSE]", SMB_OPS_OK });
}

Test(ops_rules, touch_of_a_directory_sets_its_times_by_path)
{
	TYPE("6.1", "vers=3.1.1", //
	     { 2, "touch /mnt/d10", "[CREATE!c00000ba] " Q " [CREATE+SETINFO+CLOSE]", SMB_OPS_OK });
}

Test(ops_rules, chmod_sends_only_what_the_server_can_keep)
{
	TYPE("6.1", "vers=3.1.1", //
	     { 2, "chmod 755 /mnt/chc", Q, SMB_OPS_OK }, //
	     { 2, "chmod u+x /mnt/chc", Q, SMB_OPS_OK }, //
	     { 2, "chmod a-w /mnt/chc", Q " [CREATE+SETINFO+CLOSE]", SMB_OPS_OK },
	     { 2, "echo x >> /mnt/chc", Q " [CREATE!c0000022]", SMB_OPS_ACCESS },
	     { 2, "chmod 644 /mnt/chc", Q " [CREATE+SETINFO+CLOSE]", SMB_OPS_OK });
}

Test(ops_rules, data_comes_back_and_goes_out_in_rsize_and_wsize)
{
	TYPE("6.1", "vers=3.1.1,rsize=65536,wsize=65536", //
	     { 2, "truncate -s 200K /mnt/big", "[CREATE] [FLUSH] [SETINFO]*2", SMB_OPS_OK },
	     { 2, "cat /mnt/big", Q " [CREATE] [READ]*4", SMB_OPS_OK },
	     { 2, "cp /mnt/big /mnt/copy", Q_FAILS " " Q " [CREATE]*2 [READ]*4 [WRITE]*4", SMB_OPS_OK });
}

Test(ops_rules, a_slow_listing_looks_at_its_names_again)
{
	struct sim_bill *bill = peer_new("6.1", "vers=3.1.1,actimeo=0");

	peer_wait(bill, 2 * NS_PER_S);
	sim_bill_forget(bill);
	/* With no time between, even actimeo=0 believes what has just come. */
	cr_expect_eq(peer_run(bill, "ls -l /mnt/d10"), SMB_OPS_OK);
	cr_expect_eq(bill->pairs->len, 4);
	sim_bill_free(bill);
}

Test(ops_rules, symlinks_are_read_where_mfsymlinks_is_on)
{
	TYPE("6.1", "vers=3.1.1,mfsymlinks", //
	     { 2, "ln -s anywhere /mnt/link", Q_FAILS " [CREATE] [WRITE] [CLOSE] " Q " [CREATE] [READ] [CLOSE]",
	       SMB_OPS_OK },
	     { 2, "stat /mnt/link", Q " [CREATE] [READ] [CLOSE]", SMB_OPS_OK });
	TYPE("6.1", "vers=3.1.1", //
	     { 2, "ln -s anywhere /mnt/link", Q_FAILS, SMB_OPS_NOT_SUPPORTED });
}

/** Submit a command, cut the connection instead of answering, and see it end. */
static void cut_during(const char *line, struct sim_bill *bill)
{
	struct smb_ops_shell shell = { .mount_point = "/mnt" };
	static uint8_t buffer[SMB_CLIENT_PDU_MAX];
	char message[SMB_OPS_MESSAGE_MAX];
	struct smb_ops_command command;
	struct smb_op op = { .kind = SMB_OP_COMMAND, .command = &command };
	struct smb_client_output output;
	bool is_done = false;

	cr_assert(smb_ops_parse(line, &shell, &command, NULL, message), "%s", message);
	cr_assert_neq(smb_client_submit(bill->client, &op, bill->now_ns), SMB_OP_NONE);
	smb_client_next(bill->client, &output, buffer, sizeof(buffer));
	cr_assert_eq(output.kind, SMB_CLIENT_SEND, "%s", line);
	smb_client_channel(bill->client, 0, SMB_CHANNEL_CLOSED, bill->now_ns);
	do {
		cr_assert(smb_client_is_valid(bill->client));
		smb_client_next(bill->client, &output, buffer, sizeof(buffer));
		if (output.kind != SMB_CLIENT_DONE)
			continue;
		cr_expect_eq(output.verdict, SMB_OP_FAILED, "%s", line);
		cr_expect_eq(output.error, SMB_OPS_IO, "%s", line);
		is_done = true;
	} while (output.kind != SMB_CLIENT_IDLE);
	cr_expect(is_done, "%s does not end", line);
}

Test(ops_rules, a_command_fails_when_its_connection_goes)
{
	static const char *const lines[] = { "stat /mnt/stc", "touch /mnt/new", "ls -l /mnt/d10", "umount /mnt" };

	for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
		struct sim_bill *bill = peer_new("6.1", "vers=3.1.1");

		peer_wait(bill, 2 * NS_PER_S);
		peer_run(bill, "touch /mnt/deferred"); /* one handle waits to be closed meanwhile */
		cut_during(lines[i], bill);
		sim_bill_free(bill);
	}
}

Test(ops_rules, one_command_at_a_time)
{
	struct sim_bill *bill = peer_new("6.1", "vers=3.1.1");
	struct smb_ops_command command = { .kind = SMB_OPS_STAT };
	struct smb_op op = { .kind = SMB_OP_COMMAND, .command = &command };

	cr_assert_neq(smb_client_submit(bill->client, &op, 1), SMB_OP_NONE);
	cr_expect_eq(smb_client_submit(bill->client, &op, 1), SMB_OP_NONE);
	cr_expect_not(smb_client_drop_names(bill->client));
	cr_expect(smb_client_is_valid(bill->client));
	sim_bill_free(bill);
}
