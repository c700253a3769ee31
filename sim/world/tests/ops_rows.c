/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "sim/world/tests/ops_rows.h"

#define NS_PER_S UINT64_C(1000000000)
#define PAUSE (5 * NS_PER_S / 2) /* between operations of the captures' script */
#define PREPARED (3 * NS_PER_S) /* from `seen` to the operation */

const struct ops_row ops_rows[] = {
	{ "dummy", NULL, "stat /mnt/dummy" },
	{ "touch-new", NULL, "touch /mnt/n1" },
	{ "touch-new-again", NULL, "touch /mnt/n2" },
	{ "touch-existing", NULL, "touch /mnt/ex" },
	{ "touch-existing-seen", "stat /mnt/exs", "touch /mnt/exs" },
	{ "rm", NULL, "rm /mnt/rmc" },
	{ "rm-seen", "stat /mnt/rms", "rm /mnt/rms" },
	{ "rm-own", NULL, "rm /mnt/n1" },
	{ "mkdir", NULL, "mkdir /mnt/md" },
	{ "rmdir-own", NULL, "rmdir /mnt/md" },
	{ "rmdir", NULL, "rmdir /mnt/rdc" },
	{ "rmdir-seen", "stat /mnt/rds", "rmdir /mnt/rds" },
	{ "mv", NULL, "mv /mnt/mvc /mnt/mvc.new" },
	{ "mv-seen", "stat /mnt/mvs", "mv /mnt/mvs /mnt/mvs.new" },
	{ "ln", NULL, "ln /mnt/lnc /mnt/lnc.hard" },
	{ "ln-s", NULL, "ln -s target /mnt/slink" },
	{ "stat", NULL, "stat /mnt/stc" },
	{ "stat-seen", NULL, "stat /mnt/stc" },
	{ "stat-hot", NULL, "stat /mnt/stc; stat /mnt/stc" },
	{ "stat-f", NULL, "stat -f /mnt" },
	{ "stat-root", NULL, "stat /mnt" },
	{ "stat-noent", NULL, "stat /mnt/nosuch" },
	{ "ls10", NULL, "ls /mnt/d10" },
	{ "ls10-again", NULL, "ls /mnt/d10" },
	{ "ls-l10", NULL, "ls -l /mnt/d10b" },
	{ "ls-l10-again", NULL, "ls -l /mnt/d10b" },
	{ "ls1000", NULL, "ls /mnt/d1000" },
	{ "ls-l1000", NULL, "ls -l /mnt/d1000b" },
	{ "cat10", NULL, "cat /mnt/catc" },
	{ "cat10-again", NULL, "cat /mnt/catc" },
	{ "cp-in", NULL, "cp /tmp/ten /mnt/cpin" },
	{ "cp-over", NULL, "cp /tmp/ten /mnt/cpx" },
	{ "echo-append", NULL, "echo x >> /mnt/apc" },
	{ "chmod", NULL, "chmod 444 /mnt/chc" },
	{ "truncate", NULL, "truncate -s 5 /mnt/trc" },
	{ "df", NULL, "df /mnt" },
	{ "umount", NULL, "umount /mnt" },
	{ NULL, NULL, NULL },
};

void ops_lines_run(struct sim_bill *bill, const char *lines)
{
	g_auto(GStrv) each = g_strsplit(lines, ";", -1);

	for (char **line = each; *line; line++)
		peer_run(bill, *line);
}

guint ops_row_run(struct sim_bill *bill, const struct ops_row *row)
{
	guint returned;

	peer_wait(bill, PAUSE);
	if (row->seen) {
		peer_run(bill, row->seen);
		peer_wait(bill, PREPARED);
	}
	sim_bill_forget(bill);
	ops_lines_run(bill, row->line);
	returned = bill->pairs->len;
	peer_wait(bill, PAUSE);
	return returned;
}
