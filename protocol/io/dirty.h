/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_IO_DIRTY_H
#define SMB_IO_DIRTY_H

/**
 * What of one open file is dirty, and which WRITEs are under way.
 *
 * Bytes that the application wrote and the server has not confirmed are runs, sorted by offset, in an array that the
 * caller supplies: unsent, or carried by one of the WRITEs under way. Bytes written again while a WRITE carries them
 * are dirty once more: the WRITE keeps the data it was cut with. Neighbours whose data continues are joined, so a
 * sequential writer needs a handful of runs. Kernels keep the same per page (PG_dirty, PG_writeback); here it is bytes,
 * because later kernels (netfs) send less than a page, and whoever marks rounds to pages for the others.
 *
 * A WRITE names its data as one slice. Where neighbouring bytes are of different streams it is cut, which no kernel
 * does; a host avoids that by letting all data of a file be one stream whose position is the file offset.
 */

#include "protocol/io/page_cache.h"

#include <stdbool.h>
#include <stdint.h>

#define SMB_WRITE_NONE UINT32_MAX /* no WRITE; in a run: unsent */
#define SMB_DIRTY_MARKS_PER_WRITE                                                                                      \
	3 /* what a write(2) marks: its bytes, and what its first and last page hold beside them */

struct smb_dirty_run {
	uint64_t start; /* byte */
	uint64_t end; /* first byte behind, > start */
	uint64_t source; /* the stream its data is from ... */
	uint64_t source_offset; /* ... and the stream position of the byte at `start` */
	uint32_t write; /* the WRITE that carries it: index in the array of WRITEs; SMB_WRITE_NONE = unsent, dirty */
	bool again; /* unsent: a WRITE of a sync pass that the server could not take; goes out before other data */
};

/** One WRITE under way. Its index is its number; a number is used again once its WRITE has ended. */
struct smb_dirty_write {
	uint64_t offset;
	uint32_t length; /* 0 = entry not in use */
	bool sync; /* a sync pass waits for it: sent again on SMB_WRITE_AGAIN */
};

enum smb_dirty_error { SMB_DIRTY_CLEAN, SMB_DIRTY_NO_SPACE, SMB_DIRTY_IO_ERROR };

struct smb_dirty {
	uint32_t page_bytes;
	uint32_t run_count;
	uint32_t run_max;
	uint32_t write_count; /* under way */
	uint32_t write_max;
	uint32_t again_count; /* runs with `again` */
	uint32_t sync_passes; /* begun and not done: all WRITEs are theirs meanwhile */
	uint64_t unsent_bytes; /* the kernel's NR_FILE_DIRTY */
	uint64_t writing_bytes; /* of WRITEs under way: NR_WRITEBACK */
	uint64_t flush_from; /* byte where the next background pass starts (mapping->writeback_index) */
	bool room_wanted; /* a writer waits for entries: background passes should run whatever the limits say */
	enum smb_dirty_error error; /* not yet reported to an fsync or close (AS_ENOSPC, AS_EIO) */
};

enum smb_write_verdict {
	SMB_WRITE_OK, /* all bytes written */
	SMB_WRITE_AGAIN, /* the server was short of resources or the connection broke (EAGAIN) */
	SMB_WRITE_NO_SPACE, /* fewer bytes written than sent (cifs 3.0 to 6.12, cifs_writev_callback), or status says so */
	SMB_WRITE_ERROR,
};

/** `runs` has room for `run_max` (>= 16) and `writes` for `write_max` (>= 1) entries; both stay with the caller. */
void smb_dirty_init(struct smb_dirty *dirty, struct smb_dirty_write *writes, uint32_t page_bytes, uint32_t run_max,
		    uint32_t write_max);
/** Room for `marks` more calls of smb_dirty_mark and for a WRITE after them. */
bool smb_dirty_has_room(const struct smb_dirty *dirty, uint32_t marks);
/** The bytes from `offset` on are dirty and hold `data`, whatever they were before; smb_dirty_has_room must hold. */
void smb_dirty_mark(struct smb_dirty *dirty, struct smb_dirty_run *runs, uint64_t offset, struct smb_slice data);
/** The first unsent run that has bytes in [from, to), cut to that range; false when there is none. With `again_only`
 *  the first one that is to be sent again. With too few entries left to cut a run in its middle, and no WRITE under way
 *  that could give some back, it is not cut at `from`. */
bool smb_dirty_next(const struct smb_dirty *dirty, const struct smb_dirty_run *runs, uint64_t from, uint64_t to,
		    bool again_only, struct smb_dirty_run *run);
/** The WRITE under way with the lowest offset that touches a page of [from, to), one that ends at `from` aside: the
 *  next piece of a page follows it without waiting. SMB_WRITE_NONE when none does. */
uint32_t smb_dirty_under_write(const struct smb_dirty *dirty, const struct smb_dirty_write *writes, uint64_t from,
			       uint64_t to);
/** [from, to) lies in one unsent run: a WRITE takes it; the answer is the WRITE's number. SMB_WRITE_NONE, and nothing
 *  done, when no WRITE or run can be had: wait for one to end. With none under way there is always room. `data` gets
 *  what to send. */
uint32_t smb_dirty_take(struct smb_dirty *dirty, struct smb_dirty_run *runs, struct smb_dirty_write *writes,
			uint64_t from, uint64_t to, struct smb_slice *data);
/**
 * WRITE `write` ended. OK: what was not written again meanwhile is clean. AGAIN: it is dirty again, and with `sync` of
 * the WRITE marked `again` (cifs_writev_requeue), else left to the next background pass. NO_SPACE, ERROR: the data
 * is given up and the error kept for smb_dirty_take_error, as kernels do.
 */
void smb_dirty_ended(struct smb_dirty *dirty, struct smb_dirty_run *runs, struct smb_dirty_write *writes,
		     uint32_t write, enum smb_write_verdict verdict);
/** Bytes of [from, to) are dirty or under way: a read of them that misses the cache must wait for a sync pass. */
bool smb_dirty_touches(const struct smb_dirty *dirty, const struct smb_dirty_run *runs, uint64_t from, uint64_t to);
/** The file became shorter: what lies behind `end` is dropped (truncate_inode_pages). No WRITE may be under way
 *  there. */
void smb_dirty_truncate(struct smb_dirty *dirty, struct smb_dirty_run *runs, uint64_t end);
/** What is unsent is given up: nothing can be sent any more. */
void smb_dirty_fail(struct smb_dirty *dirty, struct smb_dirty_run *runs);
/** What fsync and close report; asking clears it. */
enum smb_dirty_error smb_dirty_take_error(struct smb_dirty *dirty);
/** Tell the page cache which pages it must not forget: all between the first and the last byte not confirmed. */
void smb_dirty_pin(const struct smb_dirty *dirty, const struct smb_dirty_run *runs, struct smb_page_cache *cache);

/** Sorted, inside the arrays, nothing left to join, sums right, every WRITE's bytes inside it. */
bool smb_dirty_is_valid(const struct smb_dirty *dirty, const struct smb_dirty_run *runs,
			const struct smb_dirty_write *writes);

#endif
