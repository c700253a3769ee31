/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/eras/policy.h"

#include <string.h>

/*
 * A row names only what changed since the row before it: each macro below is the one above with the later values set
 * over it (a designator that comes later wins). "Facts" are the numbered sections of the fact base; values that no
 * source gives for a kernel are the neighbour's and say so.
 */

#define KIB UINT32_C(1024)
#define MIB UINT32_C(1048576)

/* Facts A1 (gate, 16 KiB pages), A4 (128 KiB default), A5 (one READ at a time), A10 (14 pages per WRITE, one under
 * way). The kernel has no SMB2: the credit amounts are those of 3.16, the oldest known (facts A7). rsize is
 * CIFSMaxBufSize (v2.6.39 connect.c). Limit of max_credits and MAX_COMPOUND do not exist yet. */
#define ERA_2_6_39                                                                                                     \
	.readpages_gate = SMB_GATE_MAXBUF, .readahead_default = SMB_RA_KERNEL_128K,                                    \
	.readahead_shape = SMB_RA_SHAPE_6_1, .read_mode = SMB_READ_SYNC, .write_mode = SMB_WRITE_SYNC_14_PAGES,        \
	.compounding = SMB_COMPOUND_NONE, .channel_pick = SMB_PICK_ROUND_ROBIN,                                        \
	.channel_pick_scope = SMB_PICK_PER_WINDOW, .credits_general = 2, .credits_session_setup = 3,                   \
	.credits_io_reserve = 1, .max_credits_default = 32000, .rsize_default_2x = 16 * KIB,                           \
	.rsize_default_3x = 16 * KIB, .single_page_read_bytes = 16 * KIB, .read_whole_pages = true,                    \
	.coreutils = SMB_COREUTILS_2018, .file_number_asked = true, .write_through_partial = true

/* Facts A10: asynchronous writes, cifs_max_pending 50 under way; reads are still synchronous (A5). */
#define ERA_3_0 ERA_2_6_39, .write_mode = SMB_WRITE_ASYNC_50

/* Facts A4 (cifs_ra_pages), A5 (asynchronous readv). rsize 1 MiB as cifs_negotiate_rsize grants (A2). */
#define ERA_3_2                                                                                                        \
	ERA_3_0, .readahead_default = SMB_RA_ROUNDED_128K, .read_mode = SMB_READ_ASYNC, .rsize_default_2x = MIB,       \
		 .rsize_default_3x = MIB

/* Facts A4 (v3.4..v3.16: rsize), A10 (3.17: multi-credit writes limited by credits). Between the sources 3.16 and
 * 4.15, which agree. */
#define ERA_4_2 ERA_3_2, .readahead_default = SMB_RA_RSIZE, .write_mode = SMB_WRITE_ASYNC_CREDITS

/* Facts A7: 2 per PDU, 3 at SESSION_SETUP, READ and WRITE ask their charge, one credit left for others; A2: 1 MiB. */
#define ERA_4_15 ERA_4_2

/* Facts A8 (compounds of August 2018). Credits as 4.15: the larger requests and the reserve of 8 come with the
 * 5.0/5.1 series (D-4). MAX_COMPOUND 5 is 5.10's; here it only bounds a chain. */
#define ERA_4_20 ERA_4_15, .compounding = SMB_COMPOUND_2018, .max_compound = 5

/* Facts A1 (gate on max_read, 5.7), A2 (4 MiB for 3.x), A7 (10 per PDU, 130 at SESSION_SETUP, 64 at TREE_CONNECT,
 * charge + 8 through the stable series, reserve 8), A9 (5.5: multichannel, fastest interface first, round robin).
 * max_credits on secondary channels: fixed in 5.12 (D-49) and marked for stable. bdi_init sets io_pages to 128 KiB
 * from 5.10 on. What system calls become: facts A8; the year of each in policy.h. */
#define ERA_5_10                                                                                                       \
	ERA_4_20, .readpages_gate = SMB_GATE_MAXREAD, .rsize_default_3x = 4 * MIB, .credits_general = 10,              \
		  .credits_session_setup = 130, .credits_tree_connect = 64, .credits_io_extra = 8,                     \
		  .credits_io_reserve = 8, .multichannel_known = true, .readahead_oversize_bytes = 128 * KIB,          \
		  .secondary_inherits_max_credits = true, .coreutils = SMB_COREUTILS_2022, .query_dir_first = true,    \
		  .file_number_asked = false, .close_attributes = true, .flush_before_times = true,                    \
		  .set_info_on_handle = true, .io_timeouts_max = 5

/* Facts A4 (rasize). Deferred close arrives here too, hence the sequences of 6.1 (captures/ops-6.1). */
#define ERA_5_13                                                                                                       \
	ERA_5_10, .rasize_known = true, .compounding = SMB_COMPOUND_6_1, .deferred_close_ms = 1000,                    \
		  .truncate_expires = true

/* Facts A7 (MAX_COMPOUND 7), A9 (least in flight, in 6.1's stable series; interfaces asked again every 600 s and
 * weighted by speed). Measured: captures/io-6.1. */
#define ERA_6_1                                                                                                        \
	ERA_5_13, .channel_pick = SMB_PICK_LEAST_IN_FLIGHT, .channel_dynamic = SMB_CHANNELS_REQUERY,                   \
		  .interface_weighting = 1, .max_compound = 7

/* Facts A4: twice rsize. */
#define ERA_6_4 ERA_6_1, .readahead_default = SMB_RA_TWICE_RSIZE

/* Facts A2 (wsize in whole pages), A3 (the readahead of 6.11), A5 (netfs, a channel per READ), A7 (requests clipped to
 * max_credits), A9 (rotating). netfs reads a lone page with as few READs as rsize allows, and cuts READs at bytes:
 * captures/page-6.12-arm64-16k, rsize4K and rsize60K. What system calls become: captures/ops-6.12. A lost READ is sent
 * again by netfs (A9); A7: ChannelSequence from 6.6 on. */
#define ERA_6_12                                                                                                       \
	ERA_6_4, .readahead_shape = SMB_RA_SHAPE_6_12, .compounding = SMB_COMPOUND_6_12,                               \
		 .channel_pick = SMB_PICK_ROTATING, .channel_pick_scope = SMB_PICK_PER_REQUEST,                        \
		 .credits_session_setup_clipped = true, .credits_io_clipped = true, .wsize_rounded_to_page = true,     \
		 .read_whole_pages = false, .single_page_read_bytes = 4 * MIB, .set_info_on_handle = false,            \
		 .write_through_partial = false, .lease_key_reused = true, .symlink_reparse = true,                    \
		 .lost_read = SMB_LOST_READ_REQUEST, .channel_sequence = true

/* Facts A2 (sizes follow a reconnect, 2025), A6 (the proposals of 2021) and A8 (one chain for readdir): what nobody has
 * merged, all switched on; and break acknowledgements stay within the window (C1, C6), what no kernel does. */
#define ERA_NEXT                                                                                                       \
	ERA_6_12, .readahead_shape = SMB_RA_SHAPE_DEMAND, .readahead_credit_brake = SMB_RA_BRAKE_SHORTEN,              \
		  .readahead_pause = SMB_RA_PAUSE_ONE_RSIZE, .compounding = SMB_COMPOUND_READDIR_SINGLE,               \
		  .sizes_relearned = true, .break_ack_waits = true

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#endif
static const struct smb_era eras[] = {
	{ "2.6.39", "synchronous reads and writes, 56 KiB at a time", { ERA_2_6_39 } },
	{ "3.0", "asynchronous writes, 50 under way", { ERA_3_0 } },
	{ "3.2", "asynchronous reads, readahead still 128 KiB", { ERA_3_2 } },
	{ "4.2", "readahead of one rsize, writes limited by credits", { ERA_4_2 } },
	{ "4.15", "the last one without compounding; credits grow by one per request", { ERA_4_15 } },
	{ "4.20", "metadata operations become compounds", { ERA_4_20 } },
	{ "5.10", "4 MiB rsize, multichannel, large credit requests, 64 KiB pages read whole windows", { ERA_5_10 } },
	{ "5.13", "the rasize mount option, deferred close", { ERA_5_13 } },
	{ "6.1", "channel with the fewest requests in flight", { ERA_6_1 } },
	{ "6.4", "readahead of two rsize", { ERA_6_4 } },
	{ "6.12", "netfs, channels in turn, the reworked readahead", { ERA_6_12 } },
	{ "next", "6.12 with every proposal of 2018 and 2021 switched on", { ERA_NEXT } },
};
#pragma GCC diagnostic pop

const struct smb_era *smb_eras(size_t *count)
{
	*count = sizeof(eras) / sizeof(eras[0]);
	return eras;
}

const struct smb_era *smb_era_find(const char *name)
{
	for (size_t i = 0; i < sizeof(eras) / sizeof(eras[0]); i++) {
		if (!strcmp(eras[i].name, name))
			return &eras[i];
	}
	return NULL;
}
