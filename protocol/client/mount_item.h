/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_MOUNT_ITEM_H
#define SMB_CLIENT_MOUNT_ITEM_H

/**
 * The words of a mount option string: cutting it into items and finding each in the table of known options. What an
 * option means is mount_options.c's affair.
 */

#include "protocol/client/mount_options.h"

enum smb_mount_type {
	SMB_MOUNT_FLAG, /* NAME */
	SMB_MOUNT_FLAG_NO, /* NAME or noNAME */
	SMB_MOUNT_NUMBER, /* NAME=number */
	SMB_MOUNT_NUMBER_64,
	SMB_MOUNT_TEXT, /* NAME=text, not empty */
	SMB_MOUNT_TEXT_OR_EMPTY,
	SMB_MOUNT_ANY, /* NAME or NAME=text: what mount(8) and mount.cifs take for themselves */
};

enum smb_mount_option_id {
	SMB_MOUNT_OPT_IGNORED,
	SMB_MOUNT_OPT_READ_ONLY,
	SMB_MOUNT_OPT_READ_WRITE,
	SMB_MOUNT_OPT_HARD,
	SMB_MOUNT_OPT_SOFT,
	SMB_MOUNT_OPT_MULTICHANNEL,
	SMB_MOUNT_OPT_STRICTSYNC,
	SMB_MOUNT_OPT_UNIX,
	SMB_MOUNT_OPT_SERVERINO,
	SMB_MOUNT_OPT_SIGN,
	SMB_MOUNT_OPT_SEAL,
	SMB_MOUNT_OPT_MFSYMLINKS,
	SMB_MOUNT_OPT_SLOPPY,
	SMB_MOUNT_OPT_PERSISTENT,
	SMB_MOUNT_OPT_RESILIENT,
	SMB_MOUNT_OPT_TCP_NODELAY,
	SMB_MOUNT_OPT_RDMA,
	SMB_MOUNT_OPT_BSIZE,
	SMB_MOUNT_OPT_RASIZE,
	SMB_MOUNT_OPT_RSIZE,
	SMB_MOUNT_OPT_WSIZE,
	SMB_MOUNT_OPT_ACTIMEO,
	SMB_MOUNT_OPT_ACDIRMAX,
	SMB_MOUNT_OPT_ACREGMAX,
	SMB_MOUNT_OPT_CLOSETIMEO,
	SMB_MOUNT_OPT_ECHO_INTERVAL,
	SMB_MOUNT_OPT_MAX_CREDITS,
	SMB_MOUNT_OPT_MAX_CACHED_DIRS,
	SMB_MOUNT_OPT_MAX_CHANNELS,
	SMB_MOUNT_OPT_HANDLETIMEOUT,
	SMB_MOUNT_OPT_VER,
	SMB_MOUNT_OPT_VERS,
	SMB_MOUNT_OPT_SEC,
	SMB_MOUNT_OPT_CACHE,
};

/** One known option. */
struct smb_mount_option {
	const char *name;
	enum smb_mount_type type;
	enum smb_mount_option_id id;
};

/** One item of the string, not terminated. */
struct smb_mount_item {
	const char *name;
	int name_length;
	const char *value; /* NULL without "=" */
	int value_length;
	bool negated;
	uint64_t number; /* SMB_MOUNT_NUMBER, SMB_MOUNT_NUMBER_64 */
};

/** The next item; false at the end. An empty item ends the string and ",," stands for a comma
 *  (smb3_fs_context_parse_monolithic). */
bool smb_mount_item_next(const char **text, struct smb_mount_item *item);
/** Its entry in the table, NULL when no kernel knows it; sets `negated` for noNAME. */
const struct smb_mount_option *smb_mount_item_find(struct smb_mount_item *item);
/** fs_parse: does the item have what its option's type asks for? BAD_VALUE with the kernel's reason if not; sets
 *  `number` for the numeric types. */
enum smb_mount_verdict smb_mount_item_check(const struct smb_mount_option *option, struct smb_mount_item *item,
					    struct smb_mount_report *report);
bool smb_mount_value_is(const struct smb_mount_item *item, const char *wanted);
/** Put the reason into the report; answers `verdict`. */
__attribute__((format(printf, 3, 4))) enum smb_mount_verdict smb_mount_refuse(struct smb_mount_report *report,
									      enum smb_mount_verdict verdict,
									      const char *format, ...);

#endif
