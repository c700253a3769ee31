/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Requests under way, seen from the wire, and what the blocked application waits for. */

#include "sim/world/world_internal.h"

#include "protocol/wire/smb1.h"

/* More READs can be under way than any window of this project asks for: 2 x 32 MiB of 4 KiB pages. */
#define WORLD_READ_SLOTS 16384u

void world_reads_init(struct world *world)
{
	world->read_slots = WORLD_READ_SLOTS;
	world->reads = g_new0(struct world_read, world->read_slots);
	world->active_reads = g_new(uint32_t, world->read_slots);
	world->clock.read_slot = WORLD_NO_READ;
}

/* Open addressing on (channel, MessageId); a freed slot ends no probe, because probes look at all of a short range. */
#define WORLD_READ_PROBES 64u

static uint32_t first_probe(const struct world *world, uint32_t channel, uint64_t message_id)
{
	uint64_t hash = (message_id * 31 + channel) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(hash >> 40) % world->read_slots;
}

uint32_t world_read_find(const struct world *world, uint32_t channel, uint64_t message_id)
{
	uint32_t slot = first_probe(world, channel, message_id);

	for (uint32_t probe = 0; probe < WORLD_READ_PROBES; probe++) {
		const struct world_read *read = &world->reads[slot];
		if (read->length && read->message_id == message_id && read->channel == channel)
			return slot;
		slot = (slot + 1) % world->read_slots;
	}
	return WORLD_NO_READ;
}

static bool covers(const struct world_read *read, uint64_t position)
{
	return read->length && position >= read->offset && position - read->offset < read->length;
}

/*
 * What the reader wants may have come already while it waits for more: a synchronous readahead fills its whole window, a
 * direct read its whole buffer. Then it waits for the READ nearest to the start of the file.
 */
static uint32_t lowest_read(const struct world *world)
{
	uint32_t lowest = world->active_reads[0];

	for (uint32_t i = 1; i < world->read_count; i++)
		if (world->reads[world->active_reads[i]].offset < world->reads[lowest].offset)
			lowest = world->active_reads[i];
	return lowest;
}

static enum world_cause cause_at(enum world_read_stage stage)
{
	static const enum world_cause by_stage[] = {
		[WORLD_READ_REQUEST] = WORLD_CAUSE_REQUEST,
		[WORLD_READ_SERVER] = WORLD_CAUSE_SERVER,
		[WORLD_READ_WIRE] = WORLD_CAUSE_WIRE,
	};
	return by_stage[stage];
}

/* The data of a WRITE goes with the request. */
static enum world_cause cause_of(const struct world_read *read)
{
	if (read->is_write && read->stage == WORLD_READ_REQUEST)
		return WORLD_CAUSE_WIRE;
	return cause_at(read->stage);
}

static enum world_cause cause_of_blocking(const struct world *world)
{
	struct smb_client_info info;

	if (world->clock.read_slot != WORLD_NO_READ)
		return cause_of(&world->reads[world->clock.read_slot]);
	smb_client_look(world->client, &info);
	if (info.waiting_for_credits)
		return WORLD_CAUSE_CREDITS;
	if (world->read_count)
		return cause_of(&world->reads[lowest_read(world)]);
	return world->other_count ? cause_at(world->other_stage) : WORLD_CAUSE_NOTHING;
}

/* Time up to `when_ns` belongs to the old cause, if that has not begun later. */
static void switch_cause_at(struct world *world, enum world_cause cause, uint64_t when_ns)
{
	struct world_reader_clock *clock = &world->clock;

	if (cause == clock->cause)
		return;
	when_ns = MAX(when_ns, clock->since_ns);
	if (clock->running)
		clock->spent_ns[clock->cause] += when_ns - clock->since_ns;
	clock->since_ns = when_ns;
	clock->cause = cause;
}

static void switch_cause(struct world *world, enum world_cause cause)
{
	switch_cause_at(world, cause, sim_engine_now_ns(world->engine));
}

static void look_again(struct world *world)
{
	if (world->clock.blocked)
		switch_cause(world, cause_of_blocking(world));
}

bool world_read_smb1(const struct smb_pdu *pdu, struct world_read *read)
{
	struct smb1_message message;

	if (!smb1_is_pdu(pdu) || smb1_message_decode(pdu, &message) != SMB_WIRE_OK)
		return false;
	*read = (struct world_read){ .message_id = message.header.mid };
	if (message.kind == SMB1_BODY_READ_REQ) {
		read->offset = message.body.read_req.offset;
		read->length = message.body.read_req.length;
	} else if (message.kind == SMB1_BODY_WRITE_REQ) {
		read->is_write = true;
		read->offset = message.body.write_req.offset;
		read->length = message.body.write_req.data_length;
	}
	return read->length;
}

bool world_read_next(struct smb_chain_reader *reader, struct world_read *read)
{
	struct smb2_message message;

	while (smb_chain_next(reader, &message) == SMB_WIRE_OK) {
		*read = (struct world_read){ .message_id = message.header.message_id };
		if (message.kind == SMB2_BODY_READ_REQ) {
			read->offset = message.body.read_req.offset;
			read->length = message.body.read_req.length;
		} else if (message.kind == SMB2_BODY_WRITE_REQ) {
			read->is_write = true;
			read->offset = message.body.write_req.offset;
			read->length = message.body.write_req.data_length;
		}
		if (read->length)
			return true;
	}
	return false;
}

static void count_length(struct world *world, uint32_t bytes)
{
	for (guint i = 0; i < WORLD_LENGTHS; i++) {
		struct world_length *length = &world->lengths[i];
		if (length->bytes && length->bytes != bytes)
			continue;
		length->bytes = bytes;
		length->count++;
		return;
	}
}

uint64_t world_read_usual_length(const struct world *world)
{
	const struct world_length *usual = &world->lengths[0];

	for (guint i = 1; i < WORLD_LENGTHS; i++) {
		if (world->lengths[i].count > usual->count)
			usual = &world->lengths[i];
	}
	return usual->bytes;
}

uint32_t world_read_sent(struct world *world, uint32_t channel, const struct world_read *read)
{
	uint32_t slot = first_probe(world, channel, read->message_id);

	for (uint32_t probe = 0; probe < WORLD_READ_PROBES && world->reads[slot].length; probe++)
		slot = (slot + 1) % world->read_slots;
	if (world->reads[slot].length)
		return WORLD_NO_READ;
	world->reads[slot] = (struct world_read){
		.message_id = read->message_id,
		.offset = read->offset,
		.length = read->length,
		.channel = channel,
		.is_write = read->is_write,
		.stage = WORLD_READ_REQUEST,
		.active = world->read_count,
	};
	world->active_reads[world->read_count++] = slot;
	world->read_bytes += world->reads[slot].length;
	if (world->clock.running)
		count_length(world, read->length);
	if (world->clock.blocked && world->clock.read_slot == WORLD_NO_READ &&
	    covers(&world->reads[slot], world->clock.wanted))
		world->clock.read_slot = slot;
	look_again(world);
	return slot;
}

void world_read_stage_since(struct world *world, uint32_t slot, enum world_read_stage stage, uint64_t since_ns)
{
	if (slot == WORLD_NO_READ || !world->reads[slot].length)
		return;
	world->reads[slot].stage = stage;
	if (world->clock.blocked && (slot == world->clock.read_slot || world->clock.read_slot == WORLD_NO_READ))
		switch_cause_at(world, cause_of_blocking(world), since_ns);
}

void world_read_stage(struct world *world, uint32_t slot, enum world_read_stage stage)
{
	world_read_stage_since(world, slot, stage, sim_engine_now_ns(world->engine));
}

void world_read_done(struct world *world, uint32_t slot)
{
	if (slot == WORLD_NO_READ || !world->reads[slot].length)
		return;
	uint32_t last = world->active_reads[--world->read_count];
	world->active_reads[world->reads[slot].active] = last;
	world->reads[last].active = world->reads[slot].active;
	world->read_bytes -= world->reads[slot].length;
	world->reads[slot].length = 0;
	if (slot == world->clock.read_slot)
		world->clock.read_slot = WORLD_NO_READ;
	if (world->clock.read_slot == WORLD_NO_READ)
		look_again(world);
}

void world_other_stage(struct world *world, enum world_read_stage stage)
{
	world->other_stage = stage;
	look_again(world);
}

void world_other_sent(struct world *world)
{
	world->other_count++;
	world_other_stage(world, WORLD_READ_REQUEST);
}

void world_other_done(struct world *world)
{
	world->other_count -= world->other_count > 0;
	look_again(world);
}

void world_reads_lost(struct world *world, uint32_t channel)
{
	world->other_count = 0; /* of all channels; what is left on others tells itself apart soon enough */
	for (uint32_t i = world->read_count; i--;) {
		uint32_t slot = world->active_reads[i];

		if (world->reads[slot].channel == channel)
			world_read_done(world, slot);
	}
}

void world_reader_start(struct world *world)
{
	world->clock.since_ns = sim_engine_now_ns(world->engine);
	world->clock.cause = WORLD_CAUSE_CPU;
	world->clock.running = world->measuring;
	if (!world->measuring || world->begun_ns)
		return;
	world->begun_ns = world->clock.since_ns;
	world_faults_start(world);
}

void world_reader_stop(struct world *world)
{
	struct world_reader_clock *clock = &world->clock;
	uint64_t now_ns = sim_engine_now_ns(world->engine);

	if (now_ns > clock->since_ns)
		clock->spent_ns[clock->cause] += now_ns - clock->since_ns;
	clock->since_ns = now_ns;
	clock->cause = WORLD_CAUSE_CPU;
	clock->running = false;
}

void world_reader_blocks(struct world *world, uint64_t wanted)
{
	if (--world->threads_awake)
		return;
	world->clock.wanted = wanted;
	world->clock.blocked_since_ns = sim_engine_now_ns(world->engine);
	world->clock.blocked = true;
	world->clock.read_slot = WORLD_NO_READ;
	for (uint32_t i = 0; i < world->read_count; i++) {
		if (covers(&world->reads[world->active_reads[i]], wanted))
			world->clock.read_slot = world->active_reads[i];
	}
	look_again(world);
}

void world_reader_runs(struct world *world)
{
	if (world->threads_awake++)
		return;
	if (world->clock.blocked && world->clock.running)
		world->result->stall_max_ns = MAX(world->result->stall_max_ns,
						  sim_engine_now_ns(world->engine) - world->clock.blocked_since_ns);
	world->clock.blocked = false;
	world->clock.read_slot = WORLD_NO_READ;
	switch_cause(world, WORLD_CAUSE_CPU);
}

void world_reader_time(const struct world *world, struct sim_reader_time *time)
{
	const uint64_t *spent = world->clock.spent_ns;

	*time = (struct sim_reader_time){
		.wire_ns = spent[WORLD_CAUSE_WIRE],
		.server_ns = spent[WORLD_CAUSE_SERVER],
		.request_ns = spent[WORLD_CAUSE_REQUEST],
		.credits_ns = spent[WORLD_CAUSE_CREDITS],
		.nothing_ns = spent[WORLD_CAUSE_NOTHING],
		.client_cpu_ns = spent[WORLD_CAUSE_CPU],
	};
}
