/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_IO_WRITER_H
#define SMB_IO_WRITER_H

/**
 * One write(2) through the page cache, in steps (mm/filemap.c, generic_perform_write; cifs 6.1, cifs_write_begin and
 * cifs_write_end; 6.12, netfs_perform_write).
 *
 * Each step answers what the caller has to do next; the caller does it and steps again. What is copied is dirty; passes
 * of writeback.h send it.
 */

#include "protocol/io/writeback.h"

/** The open file as seen by its writers; all parts belong to the caller. */
struct smb_write_view {
	struct smb_writeback_view back;
	struct smb_page_cache *cache;
	struct smb_page_run *cache_runs;
	uint64_t *file_bytes; /* the file's size as the client sees it; grows with what is written */
	bool readable; /* opened for reading too: a page written in part is read first */
};

struct smb_writer {
	uint64_t begin;
	uint64_t position; /* next byte */
	uint64_t end; /* first byte past the call's range */
	uint64_t source; /* the data: stream, and stream position of the byte at `begin` */
	uint64_t source_offset;
	bool read_tried; /* the page at `position` was read, and is still missing if the READ failed */
};

enum smb_writer_step {
	SMB_WRITER_COPY, /* `data` at `offset` has become dirty: let copying take its time, start a background pass if
			  * smb_writeback_wanted says so, then step again */
	SMB_WRITER_PAGE, /* read `page` as for SMB_READER_PAGE, then step again */
	SMB_WRITER_WAIT_READ, /* wait until READ `wait_for` is done, then step again */
	SMB_WRITER_SEND, /* send `data` at `offset` now, with one ordinary credit, and wait for the answer: a page that
			  * is not in the cache and cannot be read; then call smb_writer_sent */
	SMB_WRITER_THROTTLE, /* a background pass must run; wait until a WRITE ends, then step again */
	SMB_WRITER_DONE,
};

struct smb_writer_action {
	enum smb_writer_step step;
	uint64_t offset; /* COPY, SEND */
	struct smb_slice data; /* COPY, SEND */
	uint64_t page; /* PAGE */
	uint32_t wait_for; /* WAIT_READ: the cache's `reader` number */
};

/** Start a write(2) of `length` bytes at `offset`; they are those of `source` from `source_offset` on. */
void smb_writer_begin(struct smb_writer *writer, uint64_t offset, uint64_t length, uint64_t source,
		      uint64_t source_offset);
/**
 * Decide what comes next. COPY goes up to the next page that is not whole, the background limit, or the end of the call.
 *
 * Dirty pages are whole pages, as far as the file goes. With netfs (policy read_whole_pages off) a page that is not in
 * the cache and cannot be read is dirty only where it is written; such bytes are not in the page cache, so that a reader
 * must see smb_dirty_touches and wait for a sync pass before it reads them from the server.
 *
 * The kernel slows writers down so that what is dirty or under way settles in the middle between its limit and the
 * point where throttling begins, itself in the middle between the limits (balance_dirty_pages, dirty_freerun_ceiling).
 * Here a writer runs freely up to that level, smb_write_throttle_bytes, and waits at it.
 */
struct smb_writer_action smb_writer_step(struct smb_writer *writer, const struct smb_write_view *view);
/** The WRITE of SEND brought `bytes` to the server; 0 = it failed, the call ends here with what it has. */
void smb_writer_sent(struct smb_writer *writer, const struct smb_write_view *view, uint32_t bytes);

/** Dirty and under way together, of all files: a writer waits at this many bytes. */
uint64_t smb_write_throttle_bytes(const struct smb_dirty_limits *limits);

bool smb_writer_is_valid(const struct smb_writer *writer);

#endif
