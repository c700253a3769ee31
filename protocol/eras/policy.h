/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_ERAS_POLICY_H
#define SMB_ERAS_POLICY_H

/**
 * What differs between Linux kernels, as data. One struct smb_policy drives the whole client core: a kernel era is a
 * row of values, a what-if idea is one value set apart. The core tests policy values, never an era.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Which negotiated limit decides whether many pages may be read in one request (facts A1). */
enum smb_readpages_gate { SMB_GATE_MAXBUF, SMB_GATE_MAXREAD };

/** Readahead window when `rasize` is unset (facts A4). */
enum smb_readahead_default { SMB_RA_KERNEL_128K, SMB_RA_ROUNDED_128K, SMB_RA_RSIZE, SMB_RA_TWICE_RSIZE };

/** The on-demand algorithm (facts A3, A6). */
enum smb_readahead_shape { SMB_RA_SHAPE_6_1, SMB_RA_SHAPE_6_12, SMB_RA_SHAPE_DEMAND };

enum smb_readahead_brake { SMB_RA_BRAKE_OFF, SMB_RA_BRAKE_SHORTEN };
enum smb_readahead_pause { SMB_RA_PAUSE_OFF, SMB_RA_PAUSE_ONE_RSIZE };

/** How readahead reaches the wire: one READ at a time, or all chunks of a window without waiting (facts A5). */
/** What becomes of a READ into the page cache that its channel took down, or that failed (cifs_readv_complete; netfs):
 *  each of its pages is read alone when the reader comes to it, or the READ is sent again. */
enum smb_lost_read { SMB_LOST_READ_PAGE, SMB_LOST_READ_REQUEST };
enum smb_read_mode { SMB_READ_SYNC, SMB_READ_ASYNC };
enum smb_write_mode { SMB_WRITE_SYNC_14_PAGES, SMB_WRITE_ASYNC_50, SMB_WRITE_ASYNC_CREDITS };
enum smb_compounding {
	SMB_COMPOUND_NONE,
	SMB_COMPOUND_2018,
	SMB_COMPOUND_6_1,
	SMB_COMPOUND_6_12,
	SMB_COMPOUND_READDIR_SINGLE,
};
enum smb_channel_pick { SMB_PICK_ROUND_ROBIN, SMB_PICK_LEAST_IN_FLIGHT, SMB_PICK_ROTATING };
enum smb_pick_scope { SMB_PICK_PER_WINDOW, SMB_PICK_PER_REQUEST };
enum smb_channel_dynamic { SMB_CHANNELS_FIXED, SMB_CHANNELS_REQUERY };
/** Which system calls the shell tools make: coreutils 8.2x of 2018, or those of 2022 (Debian 12) that rename and link
 *  without looking first. */
enum smb_coreutils { SMB_COREUTILS_2018, SMB_COREUTILS_2022 };

struct smb_policy {
	enum smb_readpages_gate readpages_gate;
	enum smb_readahead_default readahead_default;
	enum smb_readahead_shape readahead_shape;
	enum smb_readahead_brake readahead_credit_brake;
	enum smb_readahead_pause readahead_pause;
	enum smb_read_mode read_mode;
	enum smb_write_mode write_mode;
	enum smb_compounding compounding;
	enum smb_channel_pick channel_pick;
	enum smb_pick_scope channel_pick_scope;
	enum smb_channel_dynamic channel_dynamic;

	/* Credits asked (facts A7); "clipped" = never more than max_credits - credits. */
	uint16_t credits_general; /* per ordinary PDU, clipped: 2 (4.15), 10 (5.10+) */
	uint16_t credits_session_setup; /* 3, 130 */
	bool credits_session_setup_clipped;
	uint16_t credits_tree_connect; /* 64; 0 = as an ordinary PDU */
	uint16_t credits_io_extra; /* READ/WRITE ask charge + this: 0, 8 */
	bool credits_io_clipped; /* 6.6+ */
	uint16_t credits_io_reserve; /* left untouched by multi-credit I/O: 1 (4.15), 8 */
	uint16_t max_compound; /* MAX_COMPOUND: 5, 7; single requests leave this many when busy */
	uint32_t max_credits_default; /* 32000 */
	bool secondary_inherits_max_credits; /* false = bug D-49 */
	bool break_ack_waits; /* a break acknowledgement takes an ordinary credit when its reserve is empty, and waits for
			       * one; false: it never waits and overdraws, what ordinary requests do not notice (cifs up
			       * to 6.12, wait_for_free_credits, CIFS_NON_BLOCKING) */

	uint32_t rsize_default_2x; /* bytes, dialects 2.0.2 and 2.1 */
	uint32_t rsize_default_3x; /* bytes, dialects 3.x */
	uint32_t single_page_read_bytes; /* CIFSMaxBufSize, 16384 */
	bool wsize_rounded_to_page; /* 6.12 */
	bool rasize_known; /* the option exists: 5.13+ */
	bool multichannel_known; /* 5.5+ */
	uint16_t interface_weighting; /* 0 = fastest first (5.10), 1 = weighted by speed (6.x) */
	uint32_t readahead_oversize_bytes; /* bdi->io_pages: a read call larger than ra_pages may raise the window to
					    * this; 131072 (5.10+), 0 = never */
	bool read_whole_pages; /* READs are cut to whole pages; false from netfs on (6.10+), which cuts bytes */

	/* Reconnect (facts A2, A7). */
	uint16_t io_timeouts_max; /* more answers STATUS_IO_TIMEOUT than this end the connection: 5 (5.6+); 0 = never */
	enum smb_lost_read lost_read;
	bool channel_sequence; /* ChannelSequence counts reconnects: 6.6+ */
	bool sizes_relearned; /* rsize and wsize follow what the server takes after a reconnect: 2025 */

	/* What system calls become (facts A8, captures/ops-*.tsv). */
	enum smb_coreutils coreutils;
	bool query_dir_first; /* a directory is opened and first read in one chain: 5.6+ */
	bool file_number_asked; /* open asks FileInternalInformation; until QFid brought it with CREATE (5.4, A11) */
	bool close_attributes; /* dialect 3.x: CLOSE of a file asks for its attributes: 5.5+ */
	bool flush_before_times; /* FLUSH before the times of a file that is open for writing are set: 5.6+ */
	bool set_info_on_handle; /* SET_INFO of times on the handle that is open for writing: 5.4 to 6.8 */
	bool truncate_expires; /* attributes are asked again after a truncation: 5.13+ */
	bool write_through_partial; /* a write into a page that is not in the cache goes out at once; false from netfs
				     * on (6.10+) */
	bool lease_key_reused; /* unlink and rename of a file that was leased name its key: 6.9+ */
	bool symlink_reparse; /* symlink(2) sets a reparse point when mfsymlinks is off: 6.12 */
	uint16_t deferred_close_ms; /* CLOSE is put off for so long (closetimeo): 0 = off, 1000 (5.13+) */
};

/** One line of the era table: the name used in `kernel = NAME` and its policies. */
struct smb_era {
	const char *name;
	const char *tells; /* one line: what this kernel is known for */
	struct smb_policy policy;
};

/** The table of eras, oldest first: 2.6.39 3.0 3.2 4.2 4.15 4.20 5.10 5.13 6.1 6.4 6.12 next. */
const struct smb_era *smb_eras(size_t *count);
/** NULL when no era has that name. */
const struct smb_era *smb_era_find(const char *name);

#define SMB_POLICY_TEXT_MIN 32 /* bytes that hold any value as text */

enum smb_policy_verdict { SMB_POLICY_OK, SMB_POLICY_UNKNOWN_NAME, SMB_POLICY_BAD_VALUE };

/** Set one policy by its name in configs (`policy.channel_pick = rotating`); values as smb_policy_values lists them,
 *  numbers in decimal for the numeric ones. */
enum smb_policy_verdict smb_policy_set(struct smb_policy *policy, const char *name, const char *value);
/** The policy's value as text, into `text` (at least SMB_POLICY_TEXT_MIN bytes). UNKNOWN_NAME when there is no such policy,
 *  BAD_VALUE when the struct holds a number that no value has. */
enum smb_policy_verdict smb_policy_get(const struct smb_policy *policy, const char *name, char *text, size_t size);
/** Name of the index-th policy, NULL past the end; for listings and for near-miss messages. */
const char *smb_policy_name(size_t index);
/** The values a policy takes, separated by "|" ("round_robin|least_in_flight|rotating", "number"); NULL if unknown. */
const char *smb_policy_values(const char *name);
bool smb_policy_is_valid(const struct smb_policy *policy);

#endif
