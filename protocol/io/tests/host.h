/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_IO_TESTS_HOST_H
#define SMB_IO_TESTS_HOST_H

/**
 * A file on a server without a network: READs that the reader asks for are logged and answered when it waits. Enough to
 * see which requests a program's read(2) calls become.
 */

#include "protocol/io/reader.h"

#define HOST_READS_MAX 20000
#define HOST_RUNS_MAX 2048
#define HOST_SOURCE 7 /* every file's data: stream position = file offset */

struct host_read {
	uint64_t offset;
	uint32_t length;
	bool alone; /* of a single page rather than of a window */
};

struct host_setup {
	const struct smb_policy *policy;
	uint32_t page_bytes;
	uint32_t rsize;
	uint32_t rasize; /* 0 = by policy */
	uint32_t max_read; /* negotiated; 0 = 8 MiB */
	uint64_t file_bytes;
};

struct host_file {
	struct host_setup setup;
	struct smb_page_cache cache;
	struct smb_page_run runs[HOST_RUNS_MAX];
	struct smb_readahead ra;
	struct smb_read_view view;
	struct host_read reads[HOST_READS_MAX]; /* in the order sent */
	uint32_t read_count;
	uint32_t next_reader;
	uint32_t windows; /* WINDOW steps so far */
	uint64_t copied; /* bytes handed to the application so far */
	uint64_t ahead_max; /* most bytes under way or cached past the reader */
	uint32_t refuse_windows; /* this many WINDOW steps from now on cannot be issued */
};

void host_open(struct host_file *file, const struct host_setup *setup);
/** One read(2), start to end; returns the bytes delivered and checks that each is the file's byte of that offset. */
uint64_t host_read(struct host_file *file, uint64_t offset, uint64_t length);
/** Consecutive reads of `length` from `offset` to `end`, as dd does them. */
void host_read_through(struct host_file *file, uint64_t offset, uint64_t end, uint64_t length);
/** Do what one step asks for; false at DONE. For tests that interleave several readers. */
bool host_act(struct host_file *file, struct smb_reader *reader);

#endif
