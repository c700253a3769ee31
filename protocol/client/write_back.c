/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passes over the dirty pages of a file. A sync pass belongs to the operation that waits for it; the background passes
 * are the flusher's (the kernel's writeback worker), an operation of its own that no host sees.
 */
#include "protocol/client/write.h"
#include "protocol/wire/contexts.h"

#include <assert.h>

#define NS_PER_S UINT64_C(1000000000)
#define EXPIRE_NS (30 * NS_PER_S) /* vm.dirty_expire_centisecs */

/* ------------------------------------------------------------------------------------------------------ a pass */

void client_pass_begin(struct smb_client *client, struct client_op *op, uint64_t start, uint64_t end)
{
	struct smb_write_view view = client_write_view(client, op->file);

	assert(!op->passing);
	smb_writeback_begin(&op->pass, &view.back, SMB_WRITEBACK_SYNC, start, end);
	op->passing = true;
	op->channel = NONE;
	op->wrote_on = NONE;
}

static void pass_end(struct smb_client *client, struct client_op *op)
{
	client_return_credits(client, op);
	op->channel = NONE;
	op->passing = false;
}

/** The request that carries WRITE `write` of the file. */
static uint32_t slot_of(const struct smb_client *client, uint32_t file, uint32_t write)
{
	for (uint32_t slot = 0; slot < client->requests.size; slot++) {
		const struct smb_request *request = client_request_at(client, slot);

		if (request->state == SMB_REQUEST_SENT && request->purpose == PURPOSE_WRITE_BACK &&
		    request->file == file && request->write == write)
			return slot;
	}
	assert(!"a WRITE under way is among the requests");
	return NONE;
}

static void pass_wait(struct smb_client *client, struct client_op *op, uint32_t write)
{
	client_return_credits(client, op);
	if (write == SMB_WRITE_NONE)
		client_wait_room(client, op);
	else
		client_wait_request(client, op, slot_of(client, op->file, write));
}

/** While unmounting nothing comes back: what cannot be sent now is lost. */
static void pass_channel(struct smb_client *client, struct client_op *op)
{
	if (client->mount_op == NONE) {
		client_need_channel(client, op);
		return;
	}
	op->channel = client_file_at(client, op->file)->is_invalid ? NONE : client_pick_channel(client);
	if (op->channel == NONE)
		client_pass_give_up(client, op, false);
}

/** Credits for the next WRITE: as many as a whole wsize takes, or one ordinary one. */
static bool pass_credits(struct smb_client *client, struct client_op *op, const struct smb_writeback_action *action)
{
	if (action->ordinary ? op->io_taken : op->headers_taken && !op->io_taken)
		client_return_credits(client, op); /* another pass has changed what comes next */
	if (!action->ordinary && !client_take_io(client, op, action->bytes))
		return false;
	if (op->io_taken && op->take.credits)
		return true;
	return client_take_headers(client, op, 1);
}

static void pass_send(struct smb_client *client, struct client_op *op, const struct smb_writeback_view *view,
		      const struct smb_writeback_action *action)
{
	struct smb_writeback_write cut;
	struct smb_request *request;
	uint32_t slot;

	if (client_must_wait_socket(client, op))
		return;
	if (op->channel == NONE) {
		pass_channel(client, op); /* how many requests are under way on it counts for the next step */
		return;
	}
	if (!pass_credits(client, op, action))
		return;
	if (!client_has_request_room(client)) {
		client_wait_room(client, op);
		return;
	}
	cut = smb_writeback_cut(&op->pass, view, action->ordinary ? UINT32_MAX : op->take.bytes);
	if (op->io_taken && smb_credits_adjust(&client_channel_at(client, op->channel)->credits, &op->take,
					       cut.data.length) != SMB_CREDIT_ADJUSTED)
		assert(!"credits taken on a lost connection are dropped with it");
	slot = client_request_take(client, PURPOSE_WRITE_BACK, NONE);
	request = client_request_at(client, slot);
	request->file = op->file;
	request->offset = cut.offset;
	request->length = cut.data.length;
	request->write = cut.write;
	request->data_source = cut.data.source;
	request->data_offset = cut.data.offset;
	request->data_length = cut.data.length;
	client_write_send(client, op, slot, op->io_taken ? op->take.credits : 0);
	client_credits_came(client, op->channel); /* what the cut left over */
	if (client->policy.channel_pick_scope == SMB_PICK_PER_REQUEST)
		op->channel = NONE;
}

void client_pass_run(struct smb_client *client, struct client_op *op)
{
	struct smb_write_view view = client_write_view(client, op->file);
	struct smb_writeback_action action;

	view.back.in_flight = client_others_in_flight(client, op);
	action = smb_writeback_step(&op->pass, &view.back);
	switch (action.step) {
	case SMB_WRITEBACK_SEND:
		pass_send(client, op, &view.back, &action);
		break;
	case SMB_WRITEBACK_WAIT:
		pass_wait(client, op, action.write);
		break;
	case SMB_WRITEBACK_DONE:
		pass_end(client, op);
		break;
	}
}

static void note_clean(struct smb_client *client, uint32_t i)
{
	struct client_file *file = client_file_at(client, i);

	smb_dirty_pin(&file->dirty, client_dirty_runs_of(client, i), &file->cache);
	if (file->dirty.run_count || file->dirty_since_ns == NEVER)
		return;
	file->dirty_since_ns = NEVER;
	file->has_expired = false;
	client->timers_changed = true;
}

void client_pass_give_up(struct smb_client *client, struct client_op *op, bool keep)
{
	struct client_file *file = client_file_at(client, op->file);

	pass_end(client, op);
	op->stalled = false;
	op->gave_up = false;
	file->dirty.sync_passes -= op->pass.running;
	op->pass.running = false;
	if (keep)
		return;
	smb_dirty_fail(&file->dirty, client_dirty_runs_of(client, op->file));
	note_clean(client, op->file);
	client_wake_list(client, &client->for_room); /* writers may wait for that */
}

bool client_pass_before_read(struct smb_client *client, struct client_op *op, uint64_t start, uint64_t end)
{
	struct client_file *file = client_file_at(client, op->file);

	if (!client_file_is_writable(client, op->file) ||
	    !smb_dirty_touches(&file->dirty, client_dirty_runs_of(client, op->file), start, end))
		return false;
	client_pass_begin(client, op, start, end);
	return true;
}

uint32_t client_lost_data_status(struct smb_client *client, uint32_t file)
{
	switch (smb_dirty_take_error(&client_file_at(client, file)->dirty)) {
	case SMB_DIRTY_CLEAN:
		return STATUS_SUCCESS;
	case SMB_DIRTY_NO_SPACE:
		return STATUS_DISK_FULL;
	case SMB_DIRTY_IO_ERROR:
		break;
	}
	return STATUS_UNEXPECTED_IO_ERROR;
}

void client_write_back_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message)
{
	const struct smb_request *request = client_request_at(client, slot);
	struct client_list waiters = { request->waiters_head, request->waiters_tail };
	struct client_file *file = client_file_at(client, request->file);

	smb_dirty_ended(&file->dirty, client_dirty_runs_of(client, request->file),
			client_writes_of(client, request->file), request->write,
			client_write_verdict(request, message));
	note_clean(client, request->file);
	client_wake_list(client, &waiters);
	client_request_release(client, slot);
	client_flusher_start(client);
}

/* -------------------------------------------------------------------------------------------------- the flusher */

static bool may_hold_dirty(const struct smb_client *client, uint32_t i)
{
	return client_file_at(client, i)->state >= FILE_OPEN && client_file_is_writable(client, i);
}

static bool is_wanted(const struct smb_client *client, uint32_t file)
{
	struct smb_write_view view = client_write_view(client, file);

	return smb_writeback_wanted(&view.back);
}

enum flusher_job { JOB_NONE, JOB_SYNC, JOB_PERIODIC, JOB_BACKGROUND };

static enum flusher_job job_of(const struct smb_client *client, uint32_t i)
{
	const struct client_file *file = client_file_at(client, i);

	if (!may_hold_dirty(client, i))
		return JOB_NONE;
	if (file->flush == FLUSH_WANTED)
		return JOB_SYNC;
	if (file->has_expired && file->dirty.unsent_bytes)
		return JOB_PERIODIC;
	return is_wanted(client, i) ? JOB_BACKGROUND : JOB_NONE;
}

/** The most urgent thing to do and the file to do it for, the first one behind the last one served. */
static enum flusher_job next_job(const struct smb_client *client, uint32_t *file)
{
	enum flusher_job best = JOB_NONE;
	uint32_t last = *file;

	for (uint32_t n = 1; n <= client->limits.files; n++) {
		uint32_t i = (last + n) % client->limits.files;
		enum flusher_job job = job_of(client, i);

		if (job == JOB_NONE || (best != JOB_NONE && job >= best))
			continue;
		best = job;
		*file = i;
	}
	return best;
}

bool client_flusher_is_busy(const struct smb_client *client)
{
	return client_flusher(client)->wait != OP_FREE;
}

bool client_flusher_has(const struct smb_client *client, uint32_t file)
{
	return client_flusher_is_busy(client) && client_flusher(client)->passing &&
	       client_flusher(client)->file == file;
}

void client_flusher_start(struct smb_client *client)
{
	struct client_op *op = client_flusher(client);
	uint32_t last = op->work == WORK_FLUSH ? op->file : 0;
	uint32_t file = last;

	if (op->wait != OP_FREE || !client->limits.dirty_runs || !client->session.mounted || client->mount_op != NONE ||
	    next_job(client, &file) == JOB_NONE)
		return;
	*op = (struct client_op){
		.kind = SMB_OP_FSYNC,
		.work = WORK_FLUSH,
		.wait = OP_RUNNABLE,
		.channel = NONE,
		.wrote_on = NONE,
		.file = last, /* it begins behind this one */
		.session_count = client->session.count,
	};
	client_list_append(client, &client->runnable, client_op_index(client, op));
}

static void flusher_stop(struct smb_client *client, struct client_op *op)
{
	client_return_credits(client, op);
	op->wait = OP_FREE;
	client_wake_list(client, &client->for_room); /* an UNMOUNT may wait for that */
}

/** With nothing under way no credits will come: those who wait for room wait in vain. */
static void flusher_stalled(struct smb_client *client, struct client_op *op)
{
	struct client_list waiting = client->for_room;
	uint32_t i;

	client_pass_give_up(client, op, true);
	client->for_room = (struct client_list){ NONE, NONE };
	while ((i = client_list_pop(client, &waiting)) != NONE) {
		struct client_op *waiter = client_op_at(client, i);

		waiter->stalled |= waiter->kind == SMB_OP_WRITE && !waiter->uncached;
		client_op_wake(client, waiter);
	}
	client_file_at(client, op->file)->flush = FLUSH_DONE;
	op->wait = OP_FREE;
}

static void flusher_begin(struct smb_client *client, struct client_op *op, enum flusher_job job)
{
	static const enum smb_writeback_kind kinds[] = {
		[JOB_SYNC] = SMB_WRITEBACK_SYNC,
		[JOB_PERIODIC] = SMB_WRITEBACK_PERIODIC,
		[JOB_BACKGROUND] = SMB_WRITEBACK_BACKGROUND,
	};
	struct smb_write_view view = client_write_view(client, op->file);

	smb_writeback_begin(&op->pass, &view.back, kinds[job], 0, UINT64_MAX);
	op->passing = true;
	op->channel = NONE;
}

/** A pass is over: is there more to do? One that found nothing to send waits until something has changed. */
static bool pass_was_in_vain(const struct smb_client *client, const struct client_op *op)
{
	return op->pass.kind != SMB_WRITEBACK_SYNC && op->pass.chunk_left == client->dirty_limits.chunk_bytes;
}

static void flusher_pass_done(struct smb_client *client, struct client_op *op)
{
	struct client_file *file = client_file_at(client, op->file);

	if (op->pass.kind == SMB_WRITEBACK_SYNC && file->flush == FLUSH_WANTED) {
		bool leased = file->oplock_level == SMB2_OPLOCK_LEVEL_LEASE;

		file->flush = FLUSH_DONE;
		if (leased ? !(file->lease_state & SMB2_LEASE_READ_CACHING) : !file->oplock_level)
			smb_page_cache_invalidate(&file->cache, client_runs_of(client, op->file));
	}
	if (op->pass.kind == SMB_WRITEBACK_PERIODIC && op->pass.chunk_left)
		file->has_expired = false; /* it went through the whole file */
	if (pass_was_in_vain(client, op))
		flusher_stop(client, op);
}

void client_flusher_run(struct smb_client *client, struct client_op *op)
{
	while (op->wait == OP_RUNNABLE && client_has_output_room(client)) {
		enum flusher_job job;

		if (client->mount_op != NONE) {
			if (op->passing)
				client_pass_give_up(client, op, true);
			flusher_stop(client, op);
		} else if (op->stalled) {
			flusher_stalled(client, op);
		} else if (op->gave_up) {
			client_pass_give_up(client, op, false);
		} else if (op->passing) {
			client_pass_run(client, op);
			if (!op->passing)
				flusher_pass_done(client, op);
		} else {
			job = next_job(client, &op->file);
			if (job == JOB_NONE)
				flusher_stop(client, op);
			else
				flusher_begin(client, op, job);
		}
	}
}

uint64_t client_flusher_due(const struct smb_client *client)
{
	uint64_t due = NEVER;

	for (uint32_t i = 0; i < client->limits.files; i++) {
		const struct client_file *file = client_file_at(client, i);

		if (may_hold_dirty(client, i) && file->dirty_since_ns != NEVER &&
		    file->dirty_since_ns + EXPIRE_NS < due)
			due = file->dirty_since_ns + EXPIRE_NS;
	}
	return due;
}

void client_flusher_timer(struct smb_client *client)
{
	if (client->now_ns < client_flusher_due(client))
		return;
	for (uint32_t i = 0; i < client->limits.files; i++) {
		struct client_file *file = client_file_at(client, i);

		if (!may_hold_dirty(client, i) || file->dirty_since_ns == NEVER ||
		    client->now_ns - file->dirty_since_ns < EXPIRE_NS)
			continue;
		file->has_expired = true;
		file->dirty_since_ns = client->now_ns; /* what is dirty from now on */
	}
	client->timers_changed = true;
	client_flusher_start(client);
}

bool client_flush_before_break(struct smb_client *client, uint32_t i)
{
	struct client_file *file = client_file_at(client, i);

	if (!may_hold_dirty(client, i) || client_caches_writes(file) || !file->dirty.run_count ||
	    file->flush == FLUSH_DONE) {
		file->flush = FLUSH_NOTHING;
		return false;
	}
	file->flush = FLUSH_WANTED;
	client_flusher_start(client);
	return true;
}
