/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_MOUNT_OPTIONS_H
#define SMB_CLIENT_MOUNT_OPTIONS_H

/**
 * A mount option string, as typed after `mount -t cifs -o` or as copied from /proc/mounts
 * (cifs fs_context.c, smb3_fs_context_parse_param). Sizes are plain bytes as in the kernel.
 */

#include "protocol/eras/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum smb_cache_mode { SMB_CACHE_STRICT, SMB_CACHE_NONE, SMB_CACHE_LOOSE };

#define SMB_VERS_DEFAULT 0 /* negotiate 2.1 to 3.1.1 and take the best */
#define SMB_VERS_1 0x0100 /* SMB1, dialect "NT LM 0.12" */
#define SMB_VERS_3_ANY 1 /* vers=3: 3.0 or later */

struct smb_mount_options {
	uint16_t vers; /* enum smb2_dialect, or one of SMB_VERS_* */
	uint32_t rsize; /* bytes; 0 = negotiate */
	uint32_t wsize; /* bytes; 0 = negotiate */
	uint32_t bsize; /* bytes; 1 MiB default */
	uint32_t rasize; /* bytes; 0 = unset */
	uint32_t max_channels; /* 1 to 16 */
	uint32_t max_credits; /* 0 = the policy's default */
	uint32_t actimeo_ms; /* attribute cache lifetime, default 1000 */
	uint32_t echo_interval_s; /* 1 to 600, default 60 */
	enum smb_cache_mode cache;
	bool multichannel;
	bool tcp_nodelay; /* false: Nagle is on, as cifs has it */
	bool soft;
	bool read_only;
	bool serverino;
	bool mfsymlinks;
	bool sign;
	bool seal;
	bool nostrictsync;
	bool nounix; /* SMB1: the Unix extensions are not used */
};

enum smb_mount_verdict {
	SMB_MOUNT_OK,
	SMB_MOUNT_UNKNOWN_OPTION, /* the kernel: EINVAL, Unknown parameter */
	SMB_MOUNT_BAD_VALUE, /* not a number where one is due ("Bad value for 'rasize'"), or no value */
	SMB_MOUNT_OUT_OF_RANGE, /* refused as the kernel refuses it */
	SMB_MOUNT_CONFLICT, /* options that exclude each other, or that this kernel does not know */
};

#define SMB_MOUNT_IGNORED_MAX 64
#define SMB_MOUNT_TEXT_MAX 160
#define SMB_MOUNT_CHANNELS_MAX 16

/** What parsing found out beside the options themselves. */
struct smb_mount_report {
	char message[SMB_MOUNT_TEXT_MAX]; /* with a verdict other than OK: the kernel's reason in one line */
	uint32_t ignored_count; /* options that are valid and do not matter here */
	char ignored[SMB_MOUNT_IGNORED_MAX][40]; /* their names (cut to fit), for the log */
};

/** `policy` tells which options this kernel knows (rasize from 5.13, multichannel from 5.5).
 *  rasize below 1 MiB or above 32 MiB: OUT_OF_RANGE, "Invalid rasize N vs. 4194304" (facts A4). */
enum smb_mount_verdict smb_mount_options_parse(const char *text, const struct smb_policy *policy,
					       struct smb_mount_options *options, struct smb_mount_report *report);
void smb_mount_options_default(struct smb_mount_options *options);
/** The dialects to offer for `vers`, highest last; returns how many. */
uint32_t smb_mount_dialects(uint16_t vers, uint16_t dialects[8]);
bool smb_mount_options_is_valid(const struct smb_mount_options *options);

#endif
