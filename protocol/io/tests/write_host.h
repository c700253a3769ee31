/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_IO_TESTS_WRITE_HOST_H
#define SMB_IO_TESTS_WRITE_HOST_H

/**
 * A file that is written, without a network: WRITEs are logged, and answered in the order a test wants. Credits are not
 * counted here.
 */

#include "protocol/io/writer.h"

#define WRITE_HOST_RUNS 4096
#define WRITE_HOST_WRITES 2048
#define WRITE_HOST_LOG 20000
#define WRITE_HOST_SOURCE 9 /* all data of the file: stream position = file offset */

struct write_host_setup {
	const struct smb_policy *policy;
	uint32_t page_bytes;
	uint32_t wsize; /* as asked at mount */
	uint64_t file_bytes; /* on the server before */
	uint32_t run_max; /* 0 = WRITE_HOST_RUNS */
	uint32_t write_max; /* 0 = WRITE_HOST_WRITES */
	struct smb_dirty_limits limits; /* all 0 = of 4 GiB of memory */
	bool readable;
};

struct write_host_write {
	uint64_t offset;
	uint32_t length;
	uint32_t write; /* its number while under way, then SMB_WRITE_NONE */
	bool ordinary; /* took one ordinary credit */
	bool background;
};

struct write_host {
	struct write_host_setup setup;
	struct smb_dirty dirty;
	struct smb_dirty_run runs[WRITE_HOST_RUNS];
	struct smb_dirty_write writes[WRITE_HOST_WRITES];
	struct smb_page_cache cache;
	struct smb_page_run cache_runs[WRITE_HOST_RUNS];
	uint64_t file_bytes;
	struct smb_write_view view;
	struct write_host_write log[WRITE_HOST_LOG]; /* in the order sent */
	uint32_t log_count;
	uint32_t in_flight_max;
	uint32_t next_reader;
	uint32_t pages_read;
	uint32_t throttled; /* THROTTLE steps */
	uint64_t unconfirmed_max; /* most bytes dirty and under way */
	struct smb_writeback flusher;
	bool flushing;
};

void write_host_open(struct write_host *file, const struct write_host_setup *setup);
/** One write(2), with a background pass when it wants one; WRITEs are answered only when it must wait. */
void write_host_write(struct write_host *file, uint64_t offset, uint64_t length);
/** Consecutive writes of `length` from `offset` to `end`, as dd does them. */
void write_host_write_through(struct write_host *file, uint64_t offset, uint64_t end, uint64_t length);
/** Cut and log the WRITE that a pass wants to send; returns its index in the log. */
uint32_t write_host_send(struct write_host *file, struct smb_writeback *pass, uint32_t credit_bytes);
/** The server's answer to a WRITE. */
void write_host_answer(struct write_host *file, uint32_t write, enum smb_write_verdict verdict);
/** The oldest WRITE under way ends well. */
void write_host_answer_oldest(struct write_host *file);
/** A sync pass over the whole file, start to end; what it waits for is answered with OK, no sooner. */
void write_host_sync(struct write_host *file);
/** Let the background pass do what it can without an answer. */
void write_host_flush(struct write_host *file);

#endif
