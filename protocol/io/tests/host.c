/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/tests/host.h"

#include <criterion/criterion.h>

void host_open(struct host_file *file, const struct host_setup *setup)
{
	uint32_t ra_pages = smb_readahead_limit(setup->policy, setup->rasize, setup->rsize, setup->page_bytes);
	uint32_t max_read = setup->max_read ? setup->max_read : 8388608;

	*file = (struct host_file){ .setup = *setup, .next_reader = 1 };
	smb_page_cache_init(&file->cache, setup->page_bytes, HOST_RUNS_MAX);
	smb_readahead_init(&file->ra, ra_pages);
	file->view = (struct smb_read_view){
		.policy = setup->policy,
		.cache = &file->cache,
		.runs = file->runs,
		.ra = &file->ra,
		.file_bytes = setup->file_bytes,
		.window_allowed = ra_pages && smb_readpages_allowed(setup->policy, 65536, max_read, setup->page_bytes),
	};
}

static void log_read(struct host_file *file, uint64_t offset, uint32_t length, bool alone)
{
	cr_assert_lt(file->read_count, HOST_READS_MAX);
	file->reads[file->read_count++] = (struct host_read){ offset, length, alone };
}

/** The server's answer to the READ that `run` stands for, cut at end of file. */
static void answer(struct host_file *file, struct smb_page_run run)
{
	uint64_t start = run.start * file->setup.page_bytes;
	uint64_t end = start + run.pages * file->setup.page_bytes;
	uint64_t data_end = end < file->setup.file_bytes ? end : file->setup.file_bytes;

	smb_page_cache_filled(&file->cache, file->runs, run.reader,
			      (struct smb_slice){ HOST_SOURCE, start, (uint32_t)(data_end - start) });
	smb_page_cache_failed(&file->cache, file->runs, run.reader, run.start);
}

static void answer_up_to(struct host_file *file, uint32_t reader)
{
	uint32_t at = 0;

	while (at < file->cache.run_count) {
		if (file->runs[at].state == SMB_PAGE_READING && file->runs[at].reader <= reader) {
			answer(file, file->runs[at]);
			at = 0;
			continue;
		}
		at++;
	}
}

/** A READ of [start, end) finishes each page whose last byte it brings (netfs may cut inside a page). */
static void take_pages(struct host_file *file, uint64_t start, uint64_t end, bool last)
{
	uint64_t first_page = start / file->setup.page_bytes;
	uint64_t end_page = last ? (end + file->setup.page_bytes - 1) / file->setup.page_bytes
				 : end / file->setup.page_bytes;

	if (end_page > first_page)
		cr_assert_eq(smb_page_cache_reading(&file->cache, file->runs, first_page, end_page - first_page,
						    file->next_reader++),
			     SMB_PAGE_CACHE_OK);
}

static void issue_window(struct host_file *file, struct smb_readahead_window window)
{
	uint64_t at = window.start * file->setup.page_bytes;
	uint64_t end = at + (uint64_t)window.pages * file->setup.page_bytes;

	cr_assert_gt(window.pages, 0);
	file->windows++;
	while (at < end) {
		uint32_t bytes = smb_read_chunk_cut(file->setup.policy, file->setup.rsize, file->setup.page_bytes,
						    end - at, UINT32_MAX);

		cr_assert_gt(bytes, 0);
		log_read(file, at, bytes, false);
		take_pages(file, at, at + bytes, at + bytes == end);
		at += bytes;
	}
	if (window.mark != UINT64_MAX) {
		cr_assert(window.mark >= window.start && window.mark < window.start + window.pages);
		smb_page_cache_mark(&file->cache, window.mark);
	}
}

static void read_page(struct host_file *file, uint64_t page)
{
	uint32_t step = file->setup.policy->single_page_read_bytes;
	uint32_t page_bytes = file->setup.page_bytes;

	step = step < file->setup.rsize ? step : file->setup.rsize;
	for (uint32_t at = 0; at < page_bytes; at += step)
		log_read(file, page * page_bytes + at, step < page_bytes - at ? step : page_bytes - at, true);
	cr_assert_eq(smb_page_cache_reading(&file->cache, file->runs, page, 1, file->next_reader), SMB_PAGE_CACHE_OK);
	answer(file, (struct smb_page_run){ .start = page, .pages = 1, .reader = file->next_reader++ });
}

static void note_ahead(struct host_file *file, uint64_t position)
{
	const struct smb_page_run *last = &file->runs[file->cache.run_count - 1];
	uint64_t end;

	if (!file->cache.run_count)
		return;
	end = (last->start + last->pages) * file->setup.page_bytes;
	if (end > position && end - position > file->ahead_max)
		file->ahead_max = end - position;
}

bool host_act(struct host_file *file, struct smb_reader *reader)
{
	uint64_t before = reader->position;
	struct smb_reader_action action = smb_reader_step(reader, &file->view);

	cr_assert(smb_reader_is_valid(reader));
	cr_assert(smb_readahead_is_valid(&file->ra));
	switch (action.step) {
	case SMB_READER_COPY:
		cr_assert_eq(action.data.source, HOST_SOURCE);
		cr_assert_eq(action.data.offset, before);
		cr_assert_eq(reader->position, before + action.data.length);
		file->copied += action.data.length;
		return true;
	case SMB_READER_WINDOW:
		if (file->refuse_windows) {
			file->refuse_windows--;
			smb_reader_window_failed(reader);
			return true;
		}
		issue_window(file, action.window);
		note_ahead(file, before);
		return true;
	case SMB_READER_PAGE:
		read_page(file, action.page);
		return true;
	case SMB_READER_WAIT:
		answer_up_to(file, action.wait_for);
		return true;
	case SMB_READER_DONE:
		break;
	}
	return false;
}

uint64_t host_read(struct host_file *file, uint64_t offset, uint64_t length)
{
	struct smb_reader reader;

	smb_reader_begin(&reader, &file->view, offset, length);
	while (host_act(file, &reader))
		;
	cr_assert(smb_page_cache_is_valid(&file->cache, file->runs));
	return reader.position - offset;
}

void host_read_through(struct host_file *file, uint64_t offset, uint64_t end, uint64_t length)
{
	while (offset < end) {
		host_read(file, offset, length);
		offset += length;
	}
}
