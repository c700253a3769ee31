/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A file is opened for writing, written call by call, and closed. */

#include "sim/world/world_internal.h"

struct job_state {
	const struct sim_write_job *job;
	const char *name;
	uint32_t file;
	uint64_t source; /* of the data: one stream, its position is the file offset */
};

static bool sync_file(struct world *world, const struct job_state *state, bool without_flush)
{
	struct smb_client_output done;
	struct smb_op op = { .kind = SMB_OP_FSYNC, .file = state->file, .without_flush = without_flush };

	sim_cpu_use(world->engine, (uint64_t)world->point->client_costs.syscall_cpu_ns);
	return world_op_must(world, &op, state->name, &done);
}

static bool write_one(struct world *world, const struct job_state *state, uint64_t offset)
{
	struct smb_client_output done;
	struct smb_op op = { .kind = SMB_OP_WRITE,
			     .file = state->file,
			     .offset = offset,
			     .length = state->job->block_bytes,
			     .source = state->source,
			     .source_offset = offset };

	sim_cpu_use(world->engine, (uint64_t)world->point->client_costs.syscall_cpu_ns);
	if (!world_op_must(world, &op, state->name, &done))
		return false;
	if (world->measuring)
		world->result->bytes += done.bytes;
	return !state->job->sync_each || sync_file(world, state, false);
}

static bool write_all(struct world *world, const struct job_state *state)
{
	const struct sim_write_job *job = state->job;

	for (uint64_t call = 0; call < job->count; call++) {
		if (!write_one(world, state, job->seek_bytes + call * job->block_bytes))
			return false;
	}
	return !job->sync_end || sync_file(world, state, false);
}

/*
 * As dd counts it: from the first write(2) to the end of close(2). That writes back what is dirty; CLOSE itself is put
 * off by kernels with deferred close, which have a lease on the file here.
 */
bool world_write_job(struct world *world, const struct sim_write_job *job, const char *file)
{
	struct smb_client_output done;
	struct smb_op open = { .kind = SMB_OP_OPEN,
			       .name = file,
			       .access = SMB_OPEN_WRITE,
			       .create = true,
			       .truncate = job->truncate,
			       .direct = job->direct };
	struct job_state state = { .job = job, .name = file, .source = world_source_of(file) };
	bool is_deferred = world->point->policy.deferred_close_ms;

	if (!world_op_must(world, &open, file, &done))
		return false;
	state.file = done.file;
	world_reader_start(world);
	if (!write_all(world, &state) || !sync_file(world, &state, true))
		return false;
	if (is_deferred)
		world_reader_stop(world);
	struct smb_op close = { .kind = SMB_OP_CLOSE, .file = state.file };
	if (!world_op_must(world, &close, file, &done))
		return false;
	if (!is_deferred)
		world_reader_stop(world);
	return true;
}
