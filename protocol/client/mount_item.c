/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/client/mount_item.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* cifs fs_context.c, smb3_fs_parameters (6.1 and 6.12), then the VFS and mount(8). */
static const struct smb_mount_option options_table[] = {
	{ "user_xattr", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "forceuid", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "multichannel", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_MULTICHANNEL },
	{ "forcegid", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "noblocksend", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "noautotune", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "nolease", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "hard", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_HARD },
	{ "soft", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_SOFT },
	{ "perm", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "nodelete", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "mapposix", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "mapchars", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "sfu", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "nodfs", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "posixpaths", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "unix", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_UNIX },
	{ "linux", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_UNIX },
	{ "posix", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_UNIX },
	{ "nocase", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "ignorecase", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "brl", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "handlecache", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "forcemandatorylock", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "forcemand", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "setuidfromacl", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "idsfromsid", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "setuids", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "dynperm", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "intr", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "strictsync", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_STRICTSYNC },
	{ "serverino", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_SERVERINO },
	{ "rwpidforward", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "cifsacl", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "acl", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "locallease", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "sign", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_SIGN },
	{ "ignore_signature", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_SIGN },
	{ "signloosely", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_SIGN },
	{ "seal", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_SEAL },
	{ "noac", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "fsc", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "mfsymlinks", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_MFSYMLINKS },
	{ "multiuser", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "sloppy", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_SLOPPY },
	{ "nosharesock", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "persistenthandles", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_PERSISTENT },
	{ "resilienthandles", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_RESILIENT },
	{ "tcpnodelay", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_TCP_NODELAY },
	{ "nosparse", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "domainauto", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "rdma", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_RDMA },
	{ "modesid", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "modefromsid", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "rootfs", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "compress", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "witness", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "nativesocket", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "unicode", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "file_mode", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_IGNORED },
	{ "dirmode", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_IGNORED },
	{ "dir_mode", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_IGNORED },
	{ "port", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_IGNORED },
	{ "min_enc_offload", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_IGNORED },
	{ "esize", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_IGNORED },
	{ "retrans", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_IGNORED },
	{ "bsize", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_BSIZE },
	{ "rasize", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_RASIZE },
	{ "rsize", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_RSIZE },
	{ "wsize", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_WSIZE },
	{ "actimeo", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_ACTIMEO },
	{ "acdirmax", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_ACDIRMAX },
	{ "acregmax", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_ACREGMAX },
	{ "closetimeo", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_CLOSETIMEO },
	{ "echo_interval", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_ECHO_INTERVAL },
	{ "max_credits", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_MAX_CREDITS },
	{ "max_cached_dirs", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_MAX_CACHED_DIRS },
	{ "handletimeout", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_HANDLETIMEOUT },
	{ "snapshot", SMB_MOUNT_NUMBER_64, SMB_MOUNT_OPT_IGNORED },
	{ "max_channels", SMB_MOUNT_NUMBER, SMB_MOUNT_OPT_MAX_CHANNELS },
	{ "source", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "pass", SMB_MOUNT_TEXT_OR_EMPTY, SMB_MOUNT_OPT_IGNORED },
	{ "password", SMB_MOUNT_TEXT_OR_EMPTY, SMB_MOUNT_OPT_IGNORED },
	{ "password2", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "username", SMB_MOUNT_TEXT_OR_EMPTY, SMB_MOUNT_OPT_IGNORED },
	{ "ip", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "addr", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "domain", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "dom", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "workgroup", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "srcaddr", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "iocharset", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "netbiosname", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "servern", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "reparse", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "symlink", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "symlinkroot", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "upcall_target", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "ver", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_VER },
	{ "vers", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_VERS },
	{ "sec", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_SEC },
	{ "cache", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_CACHE },
	{ "cred", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "credentials", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "unc", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "prefixpath", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	/* mount.cifs turns names into numbers before the kernel sees them. */
	{ "uid", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "gid", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "cruid", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "backupuid", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "backupgid", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "guest", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "nolock", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "ro", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_READ_ONLY },
	{ "rw", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_READ_WRITE },
	{ "suid", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "exec", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "dev", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "mand", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "auto", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "atime", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "diratime", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "relatime", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "strictatime", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "lazytime", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "iversion", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "symfollow", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "sync", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "async", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "dirsync", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "silent", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "loud", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "defaults", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "nofail", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "_netdev", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "user", SMB_MOUNT_ANY, SMB_MOUNT_OPT_IGNORED },
	{ "users", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "nouser", SMB_MOUNT_FLAG, SMB_MOUNT_OPT_IGNORED },
	{ "owner", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "group", SMB_MOUNT_FLAG_NO, SMB_MOUNT_OPT_IGNORED },
	{ "comment", SMB_MOUNT_TEXT_OR_EMPTY, SMB_MOUNT_OPT_IGNORED },
	{ "helper", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
	{ "uhelper", SMB_MOUNT_TEXT, SMB_MOUNT_OPT_IGNORED },
};

enum smb_mount_verdict smb_mount_refuse(struct smb_mount_report *report, enum smb_mount_verdict verdict,
					const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(report->message, sizeof(report->message), format, arguments);
	va_end(arguments);
	return verdict;
}

static bool text_is(const char *text, int length, const char *wanted)
{
	return strlen(wanted) == (size_t)length && !memcmp(text, wanted, (size_t)length);
}

bool smb_mount_value_is(const struct smb_mount_item *item, const char *wanted)
{
	return text_is(item->value, item->value_length, wanted);
}

/** kstrtoull with base 0: decimal, 0x hexadecimal or 0 octal, a leading plus; nothing before or behind. */
static bool parse_number(const char *text, int length, uint64_t max, uint64_t *number)
{
	unsigned int base = 10;
	uint64_t sum = 0;

	if (length > 0 && *text == '+') {
		text++;
		length--;
	}
	if (length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
		base = 16;
		text += 2;
		length -= 2;
	} else if (length > 1 && text[0] == '0') {
		base = 8;
	}
	if (length <= 0)
		return false;
	for (; length; length--, text++) {
		unsigned int digit = 99;

		if (*text >= '0' && *text <= '9')
			digit = (unsigned int)(*text - '0');
		else if ((*text | 0x20) >= 'a' && (*text | 0x20) <= 'f')
			digit = (unsigned int)((*text | 0x20) - 'a') + 10;
		if (digit >= base || sum > (max - digit) / base)
			return false;
		sum = sum * base + digit;
	}
	*number = sum;
	return true;
}

bool smb_mount_item_next(const char **text, struct smb_mount_item *item)
{
	const char *start = *text;
	const char *end = start;
	const char *equals;

	while (*end && (*end != ',' || (end[1] == ',' && end != start)))
		end += *end == ',' ? 2 : 1;
	if (end == start)
		return false;
	*text = *end ? end + 1 : end;
	*item = (struct smb_mount_item){ .name = start, .name_length = (int)(end - start) };
	equals = memchr(start, '=', (size_t)(end - start));
	if (equals) {
		item->name_length = (int)(equals - start);
		item->value = equals + 1;
		item->value_length = (int)(end - equals) - 1;
	}
	return true;
}

const struct smb_mount_option *smb_mount_item_find(struct smb_mount_item *item)
{
	for (size_t i = 0; i < sizeof(options_table) / sizeof(options_table[0]); i++) {
		const struct smb_mount_option *option = &options_table[i];

		if (text_is(item->name, item->name_length, option->name))
			return option;
		if (option->type == SMB_MOUNT_FLAG_NO && item->name_length > 2 && !memcmp(item->name, "no", 2) &&
		    text_is(item->name + 2, item->name_length - 2, option->name)) {
			item->negated = true;
			return option;
		}
	}
	return NULL;
}

enum smb_mount_verdict smb_mount_item_check(const struct smb_mount_option *option, struct smb_mount_item *item,
					    struct smb_mount_report *report)
{
	uint64_t max = option->type == SMB_MOUNT_NUMBER ? UINT32_MAX : UINT64_MAX;
	bool fine = true;

	switch (option->type) {
	case SMB_MOUNT_FLAG:
	case SMB_MOUNT_FLAG_NO:
		if (item->value)
			return smb_mount_refuse(report, SMB_MOUNT_BAD_VALUE, "cifs: Unexpected value for '%.*s'",
						item->name_length, item->name);
		return SMB_MOUNT_OK;
	case SMB_MOUNT_NUMBER:
	case SMB_MOUNT_NUMBER_64:
		fine = item->value && parse_number(item->value, item->value_length, max, &item->number);
		break;
	case SMB_MOUNT_TEXT:
		fine = item->value && item->value_length;
		break;
	case SMB_MOUNT_TEXT_OR_EMPTY:
		fine = item->value;
		break;
	case SMB_MOUNT_ANY:
		break;
	}
	if (!fine)
		return smb_mount_refuse(report, SMB_MOUNT_BAD_VALUE, "cifs: Bad value for '%s'", option->name);
	return SMB_MOUNT_OK;
}
