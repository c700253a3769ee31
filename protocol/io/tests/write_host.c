/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/tests/write_host.h"

#include <criterion/criterion.h>

void write_host_open(struct write_host *file, const struct write_host_setup *setup)
{
	*file = (struct write_host){ .setup = *setup, .file_bytes = setup->file_bytes, .next_reader = 1 };
	if (!setup->limits.limit_bytes)
		file->setup.limits = smb_dirty_limits_for_memory(UINT64_C(4) << 30);
	smb_dirty_init(&file->dirty, file->writes, setup->page_bytes, setup->run_max ? setup->run_max : WRITE_HOST_RUNS,
		       setup->write_max ? setup->write_max : WRITE_HOST_WRITES);
	smb_page_cache_init(&file->cache, setup->page_bytes, WRITE_HOST_RUNS);
	file->view = (struct smb_write_view){
		.back = {
			.policy = setup->policy,
			.limits = &file->setup.limits,
			.dirty = &file->dirty,
			.runs = file->runs,
			.writes = file->writes,
			.wsize = smb_write_wsize(setup->policy, setup->wsize, setup->page_bytes),
		},
		.cache = &file->cache,
		.cache_runs = file->cache_runs,
		.file_bytes = &file->file_bytes,
		.readable = setup->readable,
	};
}

static void check(struct write_host *file)
{
	cr_assert(smb_dirty_is_valid(&file->dirty, file->runs, file->writes));
	cr_assert(smb_page_cache_is_valid(&file->cache, file->cache_runs));
}

static uint32_t log_write(struct write_host *file, struct write_host_write write)
{
	cr_assert_lt(file->log_count, WRITE_HOST_LOG);
	cr_assert_gt(write.length, 0);
	file->log[file->log_count] = write;
	return file->log_count++;
}

uint32_t write_host_send(struct write_host *file, struct smb_writeback *pass, uint32_t credit_bytes)
{
	struct smb_writeback_action action = smb_writeback_step(pass, &file->view.back);
	struct smb_writeback_write write;

	cr_assert_eq(action.step, SMB_WRITEBACK_SEND);
	write = smb_writeback_cut(pass, &file->view.back, action.ordinary ? UINT32_MAX : credit_bytes);
	cr_assert_eq(write.data.length, file->writes[write.write].length);
	cr_assert_leq(write.data.length, action.bytes);
	if (write.data.source == WRITE_HOST_SOURCE)
		cr_assert_eq(write.data.offset, write.offset);
	file->view.back.in_flight++;
	if (file->view.back.in_flight > file->in_flight_max)
		file->in_flight_max = file->view.back.in_flight;
	cr_assert(smb_writeback_is_valid(pass));
	return log_write(file, (struct write_host_write){
				       .offset = write.offset,
				       .length = write.data.length,
				       .write = write.write,
				       .ordinary = action.ordinary,
				       .background = pass->kind != SMB_WRITEBACK_SYNC,
			       });
}

void write_host_answer(struct write_host *file, uint32_t write, enum smb_write_verdict verdict)
{
	for (uint32_t i = file->log_count; i; i--) {
		if (file->log[i - 1].write == write) {
			file->log[i - 1].write = SMB_WRITE_NONE;
			break;
		}
	}
	smb_dirty_ended(&file->dirty, file->runs, file->writes, write, verdict);
	smb_dirty_pin(&file->dirty, file->runs, &file->cache);
	file->view.back.in_flight--;
}

void write_host_answer_oldest(struct write_host *file)
{
	for (uint32_t i = 0; i < file->log_count; i++) {
		if (file->log[i].write != SMB_WRITE_NONE) {
			write_host_answer(file, file->log[i].write, SMB_WRITE_OK);
			return;
		}
	}
	cr_assert_fail("no WRITE is under way");
}

void write_host_flush(struct write_host *file)
{
	struct smb_writeback_action action = { .step = SMB_WRITEBACK_DONE };

	while (file->flushing || smb_writeback_wanted(&file->view.back)) {
		if (!file->flushing)
			smb_writeback_begin(&file->flusher, &file->view.back, SMB_WRITEBACK_BACKGROUND, 0, 0);
		file->flushing = true;
		action = smb_writeback_step(&file->flusher, &file->view.back);
		if (action.step == SMB_WRITEBACK_WAIT)
			return;
		if (action.step == SMB_WRITEBACK_SEND)
			write_host_send(file, &file->flusher, UINT32_MAX);
		file->flushing = action.step == SMB_WRITEBACK_SEND;
		/* Everything that could be sent is under way, and a pass would find nothing else. */
		if (!file->flushing && file->flusher.chunk_left == file->setup.limits.chunk_bytes)
			return;
	}
}

static void read_page(struct write_host *file, uint64_t page)
{
	uint64_t offset = page * file->setup.page_bytes;
	uint64_t left = file->file_bytes - offset;
	uint32_t length = left < file->setup.page_bytes ? (uint32_t)left : file->setup.page_bytes;

	file->pages_read++;
	cr_assert_eq(smb_page_cache_reading(&file->cache, file->cache_runs, page, 1, file->next_reader),
		     SMB_PAGE_CACHE_OK);
	smb_page_cache_filled(&file->cache, file->cache_runs, file->next_reader++,
			      (struct smb_slice){ WRITE_HOST_SOURCE, offset, length });
}

static void act(struct write_host *file, struct smb_writer *writer, struct smb_writer_action action)
{
	uint64_t unconfirmed = file->dirty.unsent_bytes + file->dirty.writing_bytes;

	if (unconfirmed > file->unconfirmed_max)
		file->unconfirmed_max = unconfirmed;
	switch (action.step) {
	case SMB_WRITER_COPY:
		cr_assert_eq(action.data.offset, action.offset);
		cr_assert_eq(writer->position, action.offset + action.data.length);
		write_host_flush(file);
		return;
	case SMB_WRITER_PAGE:
		read_page(file, action.page);
		return;
	case SMB_WRITER_SEND:
		log_write(file, (struct write_host_write){ .offset = action.offset,
							   .length = action.data.length,
							   .write = SMB_WRITE_NONE,
							   .ordinary = true });
		smb_writer_sent(writer, &file->view, action.data.length);
		return;
	case SMB_WRITER_THROTTLE:
		file->throttled++;
		write_host_flush(file);
		write_host_answer_oldest(file);
		write_host_flush(file);
		return;
	case SMB_WRITER_WAIT_READ:
	case SMB_WRITER_DONE:
		break;
	}
	cr_assert_fail("nothing is being read");
}

void write_host_write(struct write_host *file, uint64_t offset, uint64_t length)
{
	struct smb_writer writer;
	struct smb_writer_action action;

	smb_writer_begin(&writer, offset, length, WRITE_HOST_SOURCE, offset);
	for (;;) {
		action = smb_writer_step(&writer, &file->view);
		cr_assert(smb_writer_is_valid(&writer));
		if (action.step == SMB_WRITER_DONE)
			break;
		act(file, &writer, action);
	}
	check(file);
}

void write_host_write_through(struct write_host *file, uint64_t offset, uint64_t end, uint64_t length)
{
	for (; offset < end; offset += length)
		write_host_write(file, offset, length < end - offset ? length : end - offset);
}

void write_host_sync(struct write_host *file)
{
	struct smb_writeback pass;
	struct smb_writeback_action action;

	smb_writeback_begin(&pass, &file->view.back, SMB_WRITEBACK_SYNC, 0, UINT64_MAX);
	while ((action = smb_writeback_step(&pass, &file->view.back)).step != SMB_WRITEBACK_DONE) {
		if (action.step == SMB_WRITEBACK_SEND)
			write_host_send(file, &pass, UINT32_MAX);
		else
			write_host_answer_oldest(file);
	}
	check(file);
	cr_expect_eq(file->dirty.run_count, 0);
	cr_expect_eq(file->dirty.write_count, 0);
}
