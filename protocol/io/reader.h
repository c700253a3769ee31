/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_IO_READER_H
#define SMB_IO_READER_H

/**
 * One read(2) through the page cache, in steps (mm/filemap.c: filemap_read, filemap_get_pages).
 *
 * Each step answers what the caller has to do next; the caller does it and steps again. The reader itself sends
 * nothing: it names windows to read, pages to wait for, bytes to copy.
 */

#include "protocol/io/page_cache.h"
#include "protocol/io/readahead.h"

/** The open file as seen by its readers; all parts belong to the caller. */
struct smb_read_view {
	const struct smb_policy *policy;
	struct smb_page_cache *cache;
	struct smb_page_run *runs;
	struct smb_readahead *ra;
	uint64_t file_bytes;
	bool window_allowed; /* the readpages gate is open and ra_pages > 0: whole windows, else single pages */
	bool random_hint; /* POSIX_FADV_RANDOM */
	uint64_t
		failed_start; /* pages [failed_start, failed_end) that are missing are read alone: a READ of them failed, in */
	uint64_t failed_end; /* the kernel they are in the cache and not up to date; no such pages: both 0 */
};

struct smb_reader {
	uint64_t position; /* next byte */
	uint64_t end; /* first byte past the call's range, cut at end of file */
	uint64_t begin;
	bool waited; /* the last step was WAIT */
	bool single; /* the last window gave nothing for this page: read it alone */
	uint64_t
		wanted_end; /* first byte past the call's range, not cut: what the kernel computes request sizes from */
	struct smb_readahead_window window; /* what is left of a window with cached pages in it */
};

enum smb_reader_step {
	SMB_READER_COPY, /* hand `data` to the application, then step again */
	SMB_READER_WINDOW, /* issue READs for `window` (as far as credits allow), then step again; all its pages are
			    * absent, and it is one call of the kernel's readahead operation */
	SMB_READER_PAGE, /* read one page synchronously (cifs_readpage); step again when it is done. The page is absent:
			  * the caller takes it with smb_page_cache_reading and fills it */
	SMB_READER_WAIT, /* wait until READ `wait_for` is done, then step again */
	SMB_READER_DONE,
};

struct smb_reader_action {
	enum smb_reader_step step;
	struct smb_slice data; /* COPY */
	struct smb_readahead_window window; /* WINDOW; the caller sets `mark`, if any, once its page is being read */
	uint64_t page; /* PAGE */
	uint32_t wait_for; /* WAIT: the cache's `reader` number */
};

/** Start a read(2). An offset at or past the end of file reads nothing, as `length` 0 does. */
void smb_reader_begin(struct smb_reader *reader, const struct smb_read_view *view, uint64_t offset, uint64_t length);
/**
 * Decide what comes next. A page that is marked asks for the next window before its data is waited for or copied; a
 * missing page asks for a window once, then is read alone. COPY goes up to the next mark, unfinished page, change of
 * data source or the end of the call. Readahead's own state and marks are kept up to date by this call.
 */
struct smb_reader_action smb_reader_step(struct smb_reader *reader, const struct smb_read_view *view);
/** After WINDOW: no page of it could be issued (no credits, error): the next step falls back to PAGE. */
void smb_reader_window_failed(struct smb_reader *reader);

/**
 * Cut the next READ off a window: min(rsize, what is left) in whole pages, and no more than `credit_bytes`
 * (facts A5: whole pages; less than one page gives up). Returns bytes, 0 = give up.
 */
/*
 * Kernels with netfs (policy read_whole_pages off) cut at bytes: see smb_read_chunk_cut. For an rsize that is a multiple
 * of the page both are the same.
 */
uint32_t smb_read_chunk_bytes(uint32_t rsize, uint32_t page_bytes, uint64_t window_pages_left, uint32_t credit_bytes);

/** As smb_read_chunk_bytes, by the policy: whole pages, or (netfs, 6.10+) any number of bytes. */
uint32_t smb_read_chunk_cut(const struct smb_policy *policy, uint32_t rsize, uint32_t page_bytes,
			    uint64_t window_bytes_left, uint32_t credit_bytes);

/** The gate of facts A1: may windows be read, or one page at a time only? */
bool smb_readpages_allowed(const struct smb_policy *policy, uint32_t max_buf, uint32_t max_read, uint32_t page_bytes);

bool smb_reader_is_valid(const struct smb_reader *reader);

#endif
