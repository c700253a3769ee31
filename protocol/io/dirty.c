/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/dirty.h"

#include <assert.h>
#include <string.h>

#define RUNS_PER_MARK 2 /* a mark in the middle of a run makes three of one */

static uint64_t page_down(const struct smb_dirty *dirty, uint64_t byte)
{
	return byte - byte % dirty->page_bytes;
}

static uint64_t page_up(const struct smb_dirty *dirty, uint64_t byte)
{
	return byte > UINT64_MAX - dirty->page_bytes ? UINT64_MAX : page_down(dirty, byte + dirty->page_bytes - 1);
}

/** Index of the first run that ends behind `byte`. */
static uint32_t find(const struct smb_dirty *dirty, const struct smb_dirty_run *runs, uint64_t byte)
{
	uint32_t low = 0;
	uint32_t high = dirty->run_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (runs[middle].end <= byte)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool joins(const struct smb_dirty_run *left, const struct smb_dirty_run *right)
{
	return left->end == right->start && left->write == right->write && left->again == right->again &&
	       left->source == right->source && left->source_offset + (left->end - left->start) == right->source_offset;
}

static void insert(struct smb_dirty *dirty, struct smb_dirty_run *runs, uint32_t at, struct smb_dirty_run run)
{
	assert(dirty->run_count < dirty->run_max);
	memmove(&runs[at + 1], &runs[at], (dirty->run_count - at) * sizeof(runs[0]));
	runs[at] = run;
	dirty->run_count++;
	dirty->again_count += run.again;
	if (run.write == SMB_WRITE_NONE)
		dirty->unsent_bytes += run.end - run.start;
}

static void erase(struct smb_dirty *dirty, struct smb_dirty_run *runs, uint32_t at)
{
	if (runs[at].write == SMB_WRITE_NONE)
		dirty->unsent_bytes -= runs[at].end - runs[at].start;
	dirty->again_count -= runs[at].again;
	dirty->run_count--;
	memmove(&runs[at], &runs[at + 1], (dirty->run_count - at) * sizeof(runs[0]));
}

/** Join the run at `at` with its neighbours where they continue each other; the answer is where it is then. */
static uint32_t join(struct smb_dirty *dirty, struct smb_dirty_run *runs, uint32_t at)
{
	struct smb_dirty_run whole = runs[at];

	if (at + 1 < dirty->run_count && joins(&whole, &runs[at + 1])) {
		whole.end = runs[at + 1].end;
		erase(dirty, runs, at + 1);
		erase(dirty, runs, at);
		insert(dirty, runs, at, whole);
	}
	if (at && joins(&runs[at - 1], &whole)) {
		whole.start = runs[at - 1].start;
		whole.source_offset = runs[at - 1].source_offset;
		erase(dirty, runs, at);
		erase(dirty, runs, --at);
		insert(dirty, runs, at, whole);
	}
	return at;
}

/** The part of a run in [from, to). */
static struct smb_dirty_run part(struct smb_dirty_run run, uint64_t from, uint64_t to)
{
	if (from > run.start) {
		run.source_offset += from - run.start;
		run.start = from;
	}
	if (to < run.end)
		run.end = to;
	return run;
}

/** Take [from, to) out of the array. */
static void cut_out(struct smb_dirty *dirty, struct smb_dirty_run *runs, uint64_t from, uint64_t to)
{
	uint32_t at = find(dirty, runs, from);

	while (at < dirty->run_count && runs[at].start < to) {
		struct smb_dirty_run run = runs[at];

		erase(dirty, runs, at);
		if (run.end > to)
			insert(dirty, runs, at, part(run, to, run.end));
		if (run.start < from)
			insert(dirty, runs, at++, part(run, run.start, from));
		if (run.end > to)
			break;
	}
}

void smb_dirty_init(struct smb_dirty *dirty, struct smb_dirty_write *writes, uint32_t page_bytes, uint32_t run_max,
		    uint32_t write_max)
{
	assert(page_bytes >= 4096 && page_bytes <= 65536 && !(page_bytes & (page_bytes - 1)));
	assert(run_max >= 16 && write_max >= 1);
	*dirty = (struct smb_dirty){ .page_bytes = page_bytes, .run_max = run_max, .write_max = write_max };
	memset(writes, 0, write_max * sizeof(writes[0]));
}

/*
 * A WRITE splits the run it takes; when it ends, its part is erased or joined to the rest again, so such splits come
 * back by themselves. Four entries stay free of marks so that a WRITE can always start.
 */
bool smb_dirty_has_room(const struct smb_dirty *dirty, uint32_t marks)
{
	return dirty->run_count + marks * RUNS_PER_MARK + 4 <= dirty->run_max;
}

void smb_dirty_mark(struct smb_dirty *dirty, struct smb_dirty_run *runs, uint64_t offset, struct smb_slice data)
{
	struct smb_dirty_run run = {
		.start = offset,
		.end = offset + data.length,
		.source = data.source,
		.source_offset = data.offset,
		.write = SMB_WRITE_NONE,
	};
	struct smb_dirty_run old;
	uint32_t at;

	assert(smb_dirty_has_room(dirty, 1));
	dirty->room_wanted = false;
	if (!data.length)
		return;
	/* A sync pass owes the server what was there; with newer data it still does. */
	run.again = dirty->again_count && smb_dirty_next(dirty, runs, run.start, run.end, true, &old);
	cut_out(dirty, runs, run.start, run.end);
	at = find(dirty, runs, offset);
	insert(dirty, runs, at, run);
	join(dirty, runs, at);
}

bool smb_dirty_next(const struct smb_dirty *dirty, const struct smb_dirty_run *runs, uint64_t from, uint64_t to,
		    bool again_only, struct smb_dirty_run *run)
{
	if (from >= to)
		return false;
	for (uint32_t at = find(dirty, runs, from); at < dirty->run_count && runs[at].start < to; at++) {
		if (runs[at].write != SMB_WRITE_NONE || (again_only && !runs[at].again))
			continue;
		*run = part(runs[at], from, to);
		if (!dirty->write_count && dirty->run_count + 2 > dirty->run_max)
			*run = part(runs[at], runs[at].start, to);
		return true;
	}
	return false;
}

uint32_t smb_dirty_under_write(const struct smb_dirty *dirty, const struct smb_dirty_write *writes, uint64_t from,
			       uint64_t to)
{
	uint32_t found = SMB_WRITE_NONE;
	uint32_t seen = 0;

	for (uint32_t i = 0; seen < dirty->write_count; i++) {
		if (!writes[i].length)
			continue;
		seen++;
		if (writes[i].offset + writes[i].length == from)
			continue;
		if (page_down(dirty, writes[i].offset) >= page_up(dirty, to) ||
		    page_up(dirty, writes[i].offset + writes[i].length) <= page_down(dirty, from))
			continue;
		if (found == SMB_WRITE_NONE || writes[i].offset < writes[found].offset)
			found = i;
	}
	return found;
}

uint32_t smb_dirty_take(struct smb_dirty *dirty, struct smb_dirty_run *runs, struct smb_dirty_write *writes,
			uint64_t from, uint64_t to, struct smb_slice *data)
{
	uint32_t at = find(dirty, runs, from);
	struct smb_dirty_run taken;
	uint32_t write = 0;

	assert(at < dirty->run_count && runs[at].start <= from && to <= runs[at].end && from < to);
	assert(runs[at].write == SMB_WRITE_NONE);
	if (dirty->write_count == dirty->write_max ||
	    dirty->run_count + (runs[at].start < from) + (to < runs[at].end) > dirty->run_max)
		return SMB_WRITE_NONE;
	while (writes[write].length)
		write++;
	taken = part(runs[at], from, to);
	*data = (struct smb_slice){ taken.source, taken.source_offset, (uint32_t)(to - from) };
	cut_out(dirty, runs, from, to);
	taken.write = write;
	taken.again = false;
	insert(dirty, runs, find(dirty, runs, from), taken);
	writes[write] = (struct smb_dirty_write){
		.offset = from,
		.length = data->length,
		.sync = dirty->sync_passes != 0,
	};
	dirty->write_count++;
	dirty->writing_bytes += data->length;
	return write;
}

/** A run that a WRITE carried is unsent again. When room is short, being joined counts for more than the mark. */
static uint32_t redirty(struct smb_dirty *dirty, struct smb_dirty_run *runs, uint32_t at, bool again)
{
	bool room = dirty->run_count + 3 <= dirty->run_max;
	struct smb_dirty_run run = runs[at];
	uint32_t before = dirty->run_count;

	erase(dirty, runs, at);
	run.write = SMB_WRITE_NONE;
	run.again = again && room;
	insert(dirty, runs, at, run);
	at = join(dirty, runs, at);
	if (room || dirty->run_count < before)
		return at;
	erase(dirty, runs, at);
	run.again = !run.again;
	insert(dirty, runs, at, run);
	return join(dirty, runs, at);
}

void smb_dirty_ended(struct smb_dirty *dirty, struct smb_dirty_run *runs, struct smb_dirty_write *writes,
		     uint32_t write, enum smb_write_verdict verdict)
{
	uint64_t end = writes[write].offset + writes[write].length;
	uint32_t at = find(dirty, runs, writes[write].offset);

	assert(write < dirty->write_max && writes[write].length);
	while (at < dirty->run_count && runs[at].start < end) {
		if (runs[at].write != write)
			at++;
		else if (verdict == SMB_WRITE_AGAIN)
			at = redirty(dirty, runs, at, writes[write].sync) + 1;
		else
			erase(dirty, runs, at);
	}
	if (verdict == SMB_WRITE_NO_SPACE)
		dirty->error = SMB_DIRTY_NO_SPACE;
	if (verdict == SMB_WRITE_ERROR)
		dirty->error = SMB_DIRTY_IO_ERROR;
	dirty->write_count--;
	dirty->writing_bytes -= writes[write].length;
	writes[write] = (struct smb_dirty_write){ .length = 0 };
}

bool smb_dirty_touches(const struct smb_dirty *dirty, const struct smb_dirty_run *runs, uint64_t from, uint64_t to)
{
	uint32_t at = find(dirty, runs, from);

	return at < dirty->run_count && runs[at].start < to;
}

void smb_dirty_truncate(struct smb_dirty *dirty, struct smb_dirty_run *runs, uint64_t end)
{
	cut_out(dirty, runs, end, UINT64_MAX);
}

void smb_dirty_fail(struct smb_dirty *dirty, struct smb_dirty_run *runs)
{
	for (uint32_t at = dirty->run_count; at--;) {
		if (runs[at].write != SMB_WRITE_NONE)
			continue;
		erase(dirty, runs, at);
		dirty->error = SMB_DIRTY_IO_ERROR;
	}
	dirty->room_wanted = false;
}

enum smb_dirty_error smb_dirty_take_error(struct smb_dirty *dirty)
{
	enum smb_dirty_error error = dirty->error;

	dirty->error = SMB_DIRTY_CLEAN;
	return error;
}

void smb_dirty_pin(const struct smb_dirty *dirty, const struct smb_dirty_run *runs, struct smb_page_cache *cache)
{
	cache->pinned_start = 0;
	cache->pinned_end = 0;
	if (!dirty->run_count)
		return;
	cache->pinned_start = runs[0].start / dirty->page_bytes;
	cache->pinned_end = page_up(dirty, runs[dirty->run_count - 1].end) / dirty->page_bytes;
}

static bool run_is_valid(const struct smb_dirty *dirty, const struct smb_dirty_run *run,
			 const struct smb_dirty_write *writes)
{
	if (run->start >= run->end)
		return false;
	if (run->write == SMB_WRITE_NONE)
		return true;
	return run->write < dirty->write_max && !run->again && run->start >= writes[run->write].offset &&
	       run->end <= writes[run->write].offset + writes[run->write].length;
}

bool smb_dirty_is_valid(const struct smb_dirty *dirty, const struct smb_dirty_run *runs,
			const struct smb_dirty_write *writes)
{
	uint64_t unsent = 0;
	uint64_t writing = 0;
	uint32_t again = 0;
	uint32_t count = 0;

	if (dirty->run_count > dirty->run_max)
		return false;
	for (uint32_t i = 0; i < dirty->run_count; i++) {
		if (!run_is_valid(dirty, &runs[i], writes))
			return false;
		if (i && (runs[i].start < runs[i - 1].end || joins(&runs[i - 1], &runs[i])))
			return false;
		unsent += runs[i].write == SMB_WRITE_NONE ? runs[i].end - runs[i].start : 0;
		again += runs[i].again;
	}
	for (uint32_t i = 0; i < dirty->write_max; i++) {
		count += writes[i].length != 0;
		writing += writes[i].length;
	}
	return unsent == dirty->unsent_bytes && again == dirty->again_count && count == dirty->write_count &&
	       writing == dirty->writing_bytes;
}
