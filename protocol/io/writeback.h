/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_IO_WRITEBACK_H
#define SMB_IO_WRITEBACK_H

/**
 * Writeback of one open file, in steps: how dirty bytes become WRITEs (cifs 6.1, cifs_writepages; 6.12, netfs_writepages).
 *
 * A pass goes through a range of the file once, upwards. Each step answers what the caller has to do next; the caller
 * does it and steps again. The pass sends nothing and takes no credits itself. The order is the kernel's: a channel is
 * picked (by the era's scope: once per pass or for every WRITE), credits are taken for a whole wsize, then the WRITE is
 * cut to what they pay for and what is dirty, and what it does not need is given back.
 */

#include "protocol/eras/policy.h"
#include "protocol/io/dirty.h"

/** When writeback starts by itself and when writers wait (mm/page-writeback.c), for all files of a host together. */
struct smb_dirty_limits {
	uint64_t background_bytes; /* more than this dirty: background passes run (vm.dirty_background_bytes) */
	uint64_t limit_bytes; /* vm.dirty_bytes; > background_bytes */
	uint64_t chunk_bytes; /* a background pass sends at least this much and then ends (writeback_chunk_size) */
};

/** A kernel's defaults for this much dirtyable memory: background 10 %, limit 20 %, chunks of an eighth of the limit,
 *  at most 50 MiB, in steps of 4 MiB and at least 4 MiB. */
struct smb_dirty_limits smb_dirty_limits_for_memory(uint64_t memory_bytes);

/** The open file as seen by its passes; all parts belong to the caller. */
struct smb_writeback_view {
	const struct smb_policy *policy;
	const struct smb_dirty_limits *limits;
	struct smb_dirty *dirty;
	struct smb_dirty_run *runs;
	struct smb_dirty_write *writes;
	uint32_t wsize; /* as mounted, see smb_write_wsize */
	uint32_t in_flight; /* requests under way on the channel the pass uses; SMB_WRITE_ASYNC_50 has a limit for it */
	uint64_t dirty_elsewhere_bytes; /* unsent in other files of the host: the limits are for all of them */
	uint64_t writing_elsewhere_bytes; /* under way for them */
};

enum smb_writeback_kind {
	SMB_WRITEBACK_SYNC, /* fsync, close: everything in the range; DONE when its WRITEs have ended (WB_SYNC_ALL) */
	SMB_WRITEBACK_BACKGROUND, /* the flusher: from where it last stopped, until a chunk is sent or little is dirty */
	SMB_WRITEBACK_PERIODIC, /* as BACKGROUND, but until nothing is dirty (data older than 30 s) */
};

struct smb_writeback {
	enum smb_writeback_kind kind;
	uint64_t start; /* SYNC: the range; else where it began, the pass ends there after going round */
	uint64_t end;
	uint64_t position; /* next byte to look at */
	uint64_t chunk_left; /* not SYNC: bytes until it ends */
	bool running; /* SYNC: not done yet */
	bool wrapped; /* not SYNC: it went on at the start of the file */
	uint32_t write; /* the WRITE under way, for those that go one at a time; SMB_WRITE_NONE */
};

enum smb_writeback_step {
	SMB_WRITEBACK_SEND, /* take credits for `bytes`, call smb_writeback_cut, send; then step again */
	SMB_WRITEBACK_WAIT, /* wait until WRITE `write` ends (SMB_WRITE_NONE: any request), then step again */
	SMB_WRITEBACK_DONE,
};

struct smb_writeback_action {
	enum smb_writeback_step step;
	uint32_t bytes; /* SEND: what the kernel asks credits for, wsize whatever is dirty */
	bool ordinary; /* SEND: takes one ordinary credit instead, and asks for credits as other requests do */
	uint32_t write; /* WAIT */
};

/** A WRITE to send. */
struct smb_writeback_write {
	uint32_t write; /* its number, for smb_dirty_ended */
	uint64_t offset;
	struct smb_slice data;
};

/** Start a pass. The range [start, end) counts for SYNC only; end UINT64_MAX = to the end of the file. Until
 *  a sync pass is DONE all WRITEs count as its own: cifs 6.1 leaves one of a background pass that ends with EAGAIN to the
 *  next background pass, so that an fsync that waited for it returns without its data on the server (against C28). */
void smb_writeback_begin(struct smb_writeback *pass, const struct smb_writeback_view *view,
			 enum smb_writeback_kind kind, uint64_t start, uint64_t end);
/** Decide what comes next. A sync pass waits for a page that is under way and dirty again, a background pass goes past
 *  it (PG_writeback). What the server could not take goes out again first. */
struct smb_writeback_action smb_writeback_step(struct smb_writeback *pass, const struct smb_writeback_view *view);
/**
 * After SEND: cut the WRITE. `credit_bytes` is what the credits pay for (of an `ordinary` one: UINT32_MAX), at least a
 * page. Whole pages up to wsize, from the first dirty byte on; the end of the dirty bytes, which is the end of the file
 * for the last page, may cut it shorter. Kernels with netfs (policy read_whole_pages off) cut at bytes.
 */
struct smb_writeback_write smb_writeback_cut(struct smb_writeback *pass, const struct smb_writeback_view *view,
					     uint32_t credit_bytes);

/** More than the background limit is dirty, or a writer waits for room in the file's arrays: background passes should run. */
bool smb_writeback_wanted(const struct smb_writeback_view *view);

/** wsize as the kernel uses it: 6.12 rounds it to whole pages, at least one. */
uint32_t smb_write_wsize(const struct smb_policy *policy, uint32_t wsize, uint32_t page_bytes);
/** wsize is below a page: pages are written one at a time, in pieces of wsize, each answered before the next
 *  (cifs 6.1, generic_writepages and cifs_partialpagewrite). */
bool smb_write_pages_alone(uint32_t wsize, uint32_t page_bytes);

bool smb_writeback_is_valid(const struct smb_writeback *pass);

#endif
