/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A file is opened, read call by call, and closed. */

#include "sim/world/world_internal.h"

struct job_state {
	const struct sim_read_job *job;
	const char *name;
	uint32_t file;
	uint64_t calls;
	uint64_t offset;
	uint64_t random;
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = (*state += UINT64_C(0x9e3779b97f4a7c15)); /* splitmix64 */

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* The offset of the next call; false when the job is done. */
static bool next_call(struct job_state *state)
{
	const struct sim_read_job *job = state->job;
	uint64_t blocks = MAX(job->file_bytes / job->block_bytes, 1);

	if (job->count && state->calls == job->count)
		return false;
	switch (job->pattern) {
	case SIM_SEQUENTIAL:
		state->offset = job->skip_bytes + state->calls * job->block_bytes;
		break;
	case SIM_STRIDED:
		state->offset = job->skip_bytes + state->calls * job->stride_bytes;
		break;
	case SIM_RANDOM:
		if (state->calls == blocks)
			return false;
		state->offset = next_random(&state->random) % blocks * job->block_bytes;
		break;
	}
	state->calls++;
	return true;
}

static bool read_all(struct world *world, struct job_state *state)
{
	struct smb_client_output done;

	while (next_call(state)) {
		struct smb_op op = { .kind = SMB_OP_READ,
				     .file = state->file,
				     .offset = state->offset,
				     .length = state->job->block_bytes };
		sim_cpu_use(world->engine, (uint64_t)world->point->client_costs.syscall_cpu_ns);
		if (!world_op_run(world, &op, state->name, &done))
			return false;
		if (done.verdict != SMB_OP_OK) {
			world_op_failed(world, state->name, &done);
			return false;
		}
		if (!done.bytes)
			break;
	}
	return true;
}

bool world_read_job(struct world *world, const struct sim_read_job *job, const char *file)
{
	struct smb_client_output done;
	g_autofree char *name = world_wire_path(file);
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = file, .direct = job->direct };
	struct job_state state = { .job = job, .name = name, .random = world->point->seed ^ job->random_seed };

	if (!world_op_must(world, &open, file, &done))
		return false;
	state.file = done.file;
	world_reader_start(world);
	if (!read_all(world, &state))
		return false;
	world_reader_stop(world);
	struct smb_op close = { .kind = SMB_OP_CLOSE, .file = state.file };
	return world_op_must(world, &close, file, &done);
}
