/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/ops/command.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct smb_ops_shell shell = { .mount_point = "/mnt", .local_bytes = 7 };

static bool parse(const char *text, struct smb_ops_command *command, char message[SMB_OPS_MESSAGE_MAX])
{
	return smb_ops_parse(text, &shell, command, NULL, message);
}

Test(command, what_people_type_is_understood)
{
	static const struct {
		const char *text;
		struct smb_ops_command command;
	} cases[] = {
		{ "touch /mnt/a", { SMB_OPS_TOUCH, "a", "", 0, 0 } },
		{ "  rm -f  /mnt//d/a/ ", { SMB_OPS_RM, "d/a", "", 0, 0 } },
		{ "mkdir /mnt/'new dir'", { SMB_OPS_MKDIR, "new dir", "", 0, 0 } },
		{ "rmdir \"/mnt/a\"", { SMB_OPS_RMDIR, "a", "", 0, 0 } },
		{ "mv /mnt/a /mnt/b\\ c", { SMB_OPS_MV, "a", "b c", 0, 0 } },
		{ "ln /mnt/a /mnt/b", { SMB_OPS_LN, "a", "b", 0, 0 } },
		{ "ln -s ../a /mnt/b", { SMB_OPS_LN_S, "../a", "b", 0, 0 } },
		{ "stat /mnt", { SMB_OPS_STAT, "", "", 0, 0 } },
		{ "stat -f /mnt/", { SMB_OPS_STAT_F, "", "", 0, 0 } },
		{ "ls /mnt/d", { SMB_OPS_LS, "d", "", 0, 0 } },
		{ "ls -la /mnt/d", { SMB_OPS_LS_L, "d", "", 0, 0 } },
		{ "readdir /mnt/d", { SMB_OPS_READDIR, "d", "", 0, 0 } },
		{ "cat /mnt/a", { SMB_OPS_CAT, "a", "", 0, 0 } },
		{ "cp /tmp/x /mnt/a", { SMB_OPS_CP_IN, "x", "a", 7, 0 } },
		{ "cp /mnt/a /tmp/x", { SMB_OPS_CP_OUT, "a", "", 7, 0 } },
		{ "cp /mnt/a /mnt/b", { SMB_OPS_CP, "a", "b", 7, 0 } },
		{ "echo a bc >> /mnt/a", { SMB_OPS_APPEND, "a", "", 5, 0 } },
		{ "printf 'ab' >/mnt/a", { SMB_OPS_WRITE, "a", "", 2, 0 } },
		{ "chmod 444 /mnt/a", { SMB_OPS_CHMOD, "a", "", 0, 0444 } },
		{ "chmod a-w /mnt/a", { SMB_OPS_CHMOD, "a", "", 0, SMB_OPS_MODE_NO_WRITE } },
		{ "chmod u+w /mnt/a", { SMB_OPS_CHMOD, "a", "", 0, SMB_OPS_MODE_WRITE } },
		{ "chmod u+x /mnt/a", { SMB_OPS_CHMOD, "a", "", 0, SMB_OPS_MODE_OTHER } },
		{ "truncate -s 5 /mnt/a", { SMB_OPS_TRUNCATE, "a", "", 5, 0 } },
		{ "truncate -s2K /mnt/a", { SMB_OPS_TRUNCATE, "a", "", 2048, 0 } },
		{ "df -h /mnt", { SMB_OPS_DF, "", "", 0, 0 } },
		{ "mount -t cifs //h/s /mnt", { SMB_OPS_MOUNT, "", "", 0, 0 } },
		{ "umount /mnt", { SMB_OPS_UMOUNT, "", "", 0, 0 } },
	};
	char message[SMB_OPS_MESSAGE_MAX];
	struct smb_ops_command command;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct smb_ops_command *wanted = &cases[i].command;

		cr_assert(parse(cases[i].text, &command, message), "%s: %s", cases[i].text, message);
		cr_expect_eq(command.kind, wanted->kind, "%s is %s", cases[i].text, smb_ops_command_name(command.kind));
		cr_expect_str_eq(command.source, wanted->source, "%s: %s", cases[i].text, command.source);
		cr_expect_str_eq(command.target, wanted->target, "%s: %s", cases[i].text, command.target);
		cr_expect_eq(command.bytes, wanted->bytes, "%s", cases[i].text);
		cr_expect_eq(command.mode, wanted->mode, "%s", cases[i].text);
		cr_expect(smb_ops_command_is_valid(&command));
	}
}

Test(command, what_cannot_be_done_is_refused_with_a_reason)
{
	static const struct {
		const char *text;
		const char *reason; /* part of the message */
	} cases[] = {
		{ "", "empty" },
		{ "   ", "empty" },
		{ "frob /mnt/a", "frob is not known" },
		{ "rm -r /mnt/a", "option -r" },
		{ "rm", "usage" },
		{ "rm /mnt/a /mnt/b", "usage" },
		{ "rm /etc/passwd", "not below the mount point" },
		{ "rm /mntx/a", "not below the mount point" },
		{ "mv /mnt/a /tmp/b", "not below the mount point" },
		{ "cp /tmp/a /tmp/b", "neither" },
		{ "cat /mnt/a | wc", "'|'" },
		{ "rm /mnt/a > /mnt/b", "only echo" },
		{ "echo a", "only into a file" },
		{ "echo a >", "must follow" },
		{ "rm '/mnt/a", "quote" },
		{ "chmod 999 /mnt/a", "no mode" },
		{ "truncate /mnt/a", "no size" },
		{ "truncate -s x /mnt/a", "no size" },
		{ "truncate -s 99999999999T /mnt/a", "no size" },
		{ "stat /mnt/\xc3\xa4", "ASCII" },
	};
	char message[SMB_OPS_MESSAGE_MAX];
	struct smb_ops_command command;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_not(parse(cases[i].text, &command, message), "%s", cases[i].text);
		cr_expect(strstr(message, cases[i].reason), "%s: %s", cases[i].text, message);
	}
}

Test(command, paths_of_any_length_are_taken_or_refused)
{
	char text[600] = "stat /mnt/";
	char message[SMB_OPS_MESSAGE_MAX];
	struct smb_ops_command command;

	for (size_t length = 1; length < 580; length++) {
		memset(text + 10, 'a', length);
		text[10 + length] = 0;
		cr_expect_eq(parse(text, &command, message), length < SMB_OPS_PATH_MAX, "%zu", length);
	}
}

Test(command, several_commands_are_taken_one_by_one)
{
	const char *rest = "rm /mnt/a; stat '/mnt/b;c' ;umount /mnt";
	static const enum smb_ops_command_kind kinds[] = { SMB_OPS_RM, SMB_OPS_STAT, SMB_OPS_UMOUNT };
	char message[SMB_OPS_MESSAGE_MAX];
	struct smb_ops_command command;

	for (size_t i = 0; i < 3; i++) {
		cr_assert(smb_ops_parse(rest, &shell, &command, &rest, message), "%s", message);
		cr_expect_eq(command.kind, kinds[i]);
	}
	cr_expect_str_eq(rest, "");
}
