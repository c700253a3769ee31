/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_IO_PAGE_CACHE_H
#define SMB_IO_PAGE_CACHE_H

/**
 * The page cache of one open file as runs of pages in the same state.
 *
 * A page is absent, being read by request `reader`, or up to date. Runs are kept sorted in an array that the caller
 * supplies (part of the client's block); neighbours in the same state with contiguous data are joined, so a
 * sequential reader needs a handful of runs whatever the file's size. When the array is full, the up-to-date run
 * farthest behind the newest access is forgotten, as memory pressure would; pages being read never are, nor pages that
 * hold data the server does not have yet.
 */

#include "protocol/wire/payload.h"

#include <stdbool.h>
#include <stdint.h>

enum smb_page_state { SMB_PAGE_ABSENT, SMB_PAGE_READING, SMB_PAGE_UPTODATE };

struct smb_page_run {
	uint64_t start; /* page */
	uint64_t pages; /* >= 1 */
	enum smb_page_state state; /* never ABSENT in the array */
	uint32_t reader; /* READING: who reads it (caller's number, one per READ) */
	uint64_t source; /* UPTODATE: the stream the data is from ... */
	uint64_t source_offset; /* ... and the stream position of the run's first byte */
	uint32_t zero_tail; /* UPTODATE: bytes at the run's end that are zero, past the data of a short READ */
};

#define SMB_PAGE_MARKS_MAX 16 /* one per window under way: SMB_READAHEAD_EXTRA_MAX + 2 */

struct smb_page_cache {
	uint32_t page_bytes; /* 4096 to 65536, a power of two */
	uint32_t run_count;
	uint32_t run_max;
	uint64_t newest; /* page of the newest access, for forgetting; the reader sets it */
	uint64_t marks[SMB_PAGE_MARKS_MAX]; /* pages that carry PG_readahead; UINT64_MAX = free slot; oldest replaced */
	uint32_t next_mark;
	uint64_t pinned_start; /* pages that must not be forgotten: smb_dirty_pin; none when both are equal */
	uint64_t pinned_end; /* first page behind them */
};

enum smb_page_cache_verdict {
	SMB_PAGE_CACHE_OK,
	SMB_PAGE_CACHE_FULL, /* no run can be forgotten: the caller must wait for a READ to end */
	SMB_PAGE_CACHE_BUSY, /* a page of the range is not absent */
};

/** `runs` has room for `run_max` (>= 4) entries and stays with the caller: pass the same array to every call. */
void smb_page_cache_init(struct smb_page_cache *cache, uint32_t page_bytes, uint32_t run_max);
/** State of one page; `run` (may be NULL) receives a copy of the run it is in, or for ABSENT the gap it is in
 *  (start and pages; pages UINT64_MAX - start when it is open-ended). */
enum smb_page_state smb_page_cache_look(const struct smb_page_cache *cache, const struct smb_page_run *runs,
					uint64_t page, struct smb_page_run *run);
/** Mark absent pages as being read by `reader`. `reader` numbers no other run of the cache. One entry is kept free so
 *  that a short READ can always be recorded. */
enum smb_page_cache_verdict smb_page_cache_reading(struct smb_page_cache *cache, struct smb_page_run *runs,
						   uint64_t start, uint64_t pages, uint32_t reader);
/** The READ of `reader` brought `data` for its range: whole and partly covered pages become up to date (the tail of
 *  the last page past the data is zero, as at end of file). `data` is no longer than the range. Pages past the data
 *  are still being read: end them with smb_page_cache_failed. Nothing happens when no run has that reader. */
void smb_page_cache_filled(struct smb_page_cache *cache, struct smb_page_run *runs, uint32_t reader,
			   struct smb_slice data);
/** The READ of `reader` failed or brought fewer pages than asked: pages from `from_page` on become absent again
 *  and lose their marks. Nothing happens when no run has that reader. */
void smb_page_cache_failed(struct smb_page_cache *cache, struct smb_page_run *runs, uint32_t reader,
			   uint64_t from_page);
/** Room for smb_page_cache_written: forgets runs if need be; false when nothing can be forgotten now. */
bool smb_page_cache_make_room(struct smb_page_cache *cache, struct smb_page_run *runs);
/**
 * The application wrote `data` at `offset`: every page it touches is up to date. What a page holds beside the new bytes
 * is taken to continue the same stream; from the end of the data on to the end of its page it is zero, unless the page
 * had data there. No page of the range is being read; smb_page_cache_make_room has said true.
 */
void smb_page_cache_written(struct smb_page_cache *cache, struct smb_page_run *runs, uint64_t offset,
			    struct smb_slice data);
/** Forget everything up to date that is not pinned (invalidate_mapping_pages). */
void smb_page_cache_invalidate(struct smb_page_cache *cache, struct smb_page_run *runs);
/** The data of [offset, offset + length): up to the first byte that is not up to date or comes from another place of
 *  its source. The slice's length says how far it goes. */
struct smb_slice smb_page_cache_data(const struct smb_page_cache *cache, const struct smb_page_run *runs,
				     uint64_t offset, uint32_t length);

/** Put PG_readahead on a page; once `smb_page_cache_reading` has taken it. A page marked twice has one mark. */
void smb_page_cache_mark(struct smb_page_cache *cache, uint64_t page);
/** True once per mark: touching a marked page clears it. */
bool smb_page_cache_touch_mark(struct smb_page_cache *cache, uint64_t page);
/** The first marked page in [page, page + pages), UINT64_MAX when none. */
uint64_t smb_page_cache_next_mark(const struct smb_page_cache *cache, uint64_t page, uint64_t pages);

/** Sorted, inside the array, nothing left to join, marks without duplicates. */
bool smb_page_cache_is_valid(const struct smb_page_cache *cache, const struct smb_page_run *runs);

#endif
