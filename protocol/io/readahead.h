/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_IO_READAHEAD_H
#define SMB_IO_READAHEAD_H

/**
 * On-demand readahead of one open file, as mm/readahead.c decides it (facts A3).
 *
 * A value without memory of its own; the caller owns the page cache and says what happened: a page was missing
 * (sync), or the reader touched the page that carries the readahead mark (async). The answer is the window to read.
 * All positions and sizes are in pages.
 */

#include "protocol/eras/policy.h"

#include <stdbool.h>
#include <stdint.h>

struct smb_readahead {
	uint64_t start; /* current window: first page */
	uint32_t size; /* pages in the window */
	uint32_t async_size; /* the mark sits this many pages before the window's end */
	uint32_t ra_pages; /* limit; 0 = no readahead */
	uint32_t io_pages; /* bdi->io_pages: a larger request may raise the limit to this; 0 = it may not.
			    * smb_reader_begin sets it from the policy and the page size */
	uint64_t
		prev_page; /* page of the byte after the one read last (f_ra.prev_pos); UINT64_MAX = nothing read yet */
	uint32_t extra_requests; /* SMB_RA_SHAPE_DEMAND: windows under way beyond the first, one for each time the
				  * reader hit an unfinished page; at most SMB_READAHEAD_EXTRA_MAX */
};

/** SMB_RA_SHAPE_DEMAND: the cap on parallel windows that the proposal leaves to the bdi, so that a slow device is not
 *  flooded. With windows of `ra_pages` the reader is at most (this + 2) * ra_pages ahead. */
#define SMB_READAHEAD_EXTRA_MAX 14

/** What to read. `pages` 0 = nothing. `mark` is the page to carry the readahead mark (UINT64_MAX = none). */
struct smb_readahead_window {
	uint64_t start;
	uint32_t pages;
	uint64_t mark;
};

/** What the cache knows about the neighbourhood; each call may ask it. Both answer in pages. */
struct smb_readahead_cache {
	void *context;
	/** First page >= page, < page + max, that is not cached; page + max when all are. */
	uint64_t (*next_missing)(void *context, uint64_t page, uint32_t max);
	/** How many pages right before `page` are cached, counted backwards up to max; page 0 ends the count. */
	uint32_t (*cached_before)(void *context, uint64_t page, uint32_t max);
};

#define SMB_READAHEAD_FORCED_BYTES UINT32_C(2097152) /* force_page_cache_ra */

struct smb_readahead_request {
	uint64_t page; /* missing page (sync) or marked page (async) */
	uint32_t pages; /* what the read call still wants, from `page` on, past end of file too; >= 1 */
	uint64_t file_pages; /* pages in the file: windows are cut here */
	bool random_hint; /* POSIX_FADV_RANDOM */
};

/** Nothing read yet, no window. `ra_pages` as smb_readahead_limit gives it. */
void smb_readahead_init(struct smb_readahead *ra, uint32_t ra_pages);
/** page_cache_sync_ra: the reader found `request->page` missing. The window may hold pages that are cached already:
 *  only the missing ones are read. With `random_hint` it is read in pieces of SMB_READAHEAD_FORCED_BYTES. */
struct smb_readahead_window smb_readahead_sync(struct smb_readahead *ra, const struct smb_policy *policy,
					       const struct smb_readahead_request *request,
					       const struct smb_readahead_cache *cache);
/** page_cache_async_ra: the reader touched the mark. */
struct smb_readahead_window smb_readahead_async(struct smb_readahead *ra, const struct smb_policy *policy,
						const struct smb_readahead_request *request,
						const struct smb_readahead_cache *cache);
/** SMB_RA_SHAPE_DEMAND only: the reader had to wait for `request->page`; may ask for one more window, right behind
 *  the present one. Other shapes answer an empty window. */
struct smb_readahead_window smb_readahead_waited(struct smb_readahead *ra, const struct smb_policy *policy,
						 const struct smb_readahead_request *request,
						 const struct smb_readahead_cache *cache);
/** The last `pages` pages of the window, from `start` on, were not read after all: the window ends before them
 *  (mm/readahead.c, read_pages). Nothing happens when `start` is not in the window. */
void smb_readahead_cut(struct smb_readahead *ra, uint64_t start, uint32_t pages);
/** A read call ended with byte `last_byte` delivered (file->f_ra.prev_pos becomes last_byte + 1). smb_reader_step does
 *  this itself; calling it again is harmless. */
void smb_readahead_read_done(struct smb_readahead *ra, uint64_t last_byte, uint32_t page_bytes);
/** ra_pages for a mount (facts A4): rasize if set, else by policy from rsize; capped nowhere else. */
uint32_t smb_readahead_limit(const struct smb_policy *policy, uint32_t rasize, uint32_t rsize, uint32_t page_bytes);
bool smb_readahead_is_valid(const struct smb_readahead *ra);

#endif
