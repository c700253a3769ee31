/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_OPS_COMMAND_H
#define SMB_OPS_COMMAND_H

/** A shell command as people type it, and what it asks for. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SMB_OPS_PATH_MAX 256 /* bytes with the final zero; ASCII, relative to the share's root, '/' between names */
#define SMB_OPS_MESSAGE_MAX 160

enum smb_ops_command_kind {
	SMB_OPS_TOUCH, /* source */
	SMB_OPS_RM,
	SMB_OPS_MKDIR,
	SMB_OPS_RMDIR,
	SMB_OPS_MV, /* source, target */
	SMB_OPS_LN,
	SMB_OPS_LN_S, /* text of the link in source, the link is target */
	SMB_OPS_STAT,
	SMB_OPS_STAT_F,
	SMB_OPS_LS,
	SMB_OPS_LS_L,
	SMB_OPS_READDIR, /* opendir, readdir until the end, closedir, without the stat of ls */
	SMB_OPS_CAT,
	SMB_OPS_CP_IN, /* a local file of `bytes` to target */
	SMB_OPS_CP_OUT, /* source to a local file */
	SMB_OPS_CP, /* source to target, read and written here */
	SMB_OPS_APPEND, /* `bytes` to the end of source, which is made if need be (echo >>) */
	SMB_OPS_WRITE, /* `bytes` into source, cut to nothing before (echo >) */
	SMB_OPS_CHMOD, /* source, mode */
	SMB_OPS_TRUNCATE, /* source to `bytes` */
	SMB_OPS_DF,
	SMB_OPS_MOUNT, /* the client's affair: smb_ops_begin() refuses it */
	SMB_OPS_UMOUNT,
	SMB_OPS_COMMANDS,
};

struct smb_ops_command {
	enum smb_ops_command_kind kind;
	char source[SMB_OPS_PATH_MAX]; /* empty = the root of the share */
	char target[SMB_OPS_PATH_MAX];
	uint64_t bytes;
	uint32_t mode; /* CHMOD: octal bits; SMB_OPS_MODE_* for a symbolic one */
};

/** CHMOD by letters: only what concerns writing reaches the server, as the read-only attribute. */
#define SMB_OPS_MODE_NO_WRITE 0x10000u /* a-w */
#define SMB_OPS_MODE_WRITE 0x20000u /* u+w, a+w */
#define SMB_OPS_MODE_OTHER 0x40000u /* u+x: nothing that the server knows */

bool smb_ops_command_is_valid(const struct smb_ops_command *command);
/** The name as typed: "rm", "ls -l". Never NULL. */
const char *smb_ops_command_name(enum smb_ops_command_kind kind);

/** How files outside the mount are known: their size, asked of the host. */
struct smb_ops_shell {
	const char *mount_point; /* "/mnt", without a final slash */
	uint64_t local_bytes; /* size taken for a local file that cp copies in */
};

/**
 * Parse one command line: words, single and double quotes, backslashes, `>` and `>>` behind echo or printf; no other
 * shell syntax. False: `message` says what is wrong, in one line.
 * `text` ends at its zero byte or at `;`; `rest`, unless NULL, is set behind it.
 */
bool smb_ops_parse(const char *text, const struct smb_ops_shell *shell, struct smb_ops_command *command,
		   const char **rest, char message[SMB_OPS_MESSAGE_MAX]);

#endif
