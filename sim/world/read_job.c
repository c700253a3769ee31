/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A file is opened, read call by call, and closed. */

#include "sim/world/world_internal.h"

struct job_state {
	const struct sim_read_job *job;
	const char *name;
	uint32_t file;
};

static bool read_all(struct world *world, const struct job_state *state)
{
	const struct sim_read_job *job = state->job;
	struct smb_client_output done;

	for (uint64_t call = 0; !job->count || call < job->count; call++) {
		const struct smb_op op = { .kind = SMB_OP_READ,
					   .file = state->file,
					   .offset = job->skip_bytes + call * job->block_bytes,
					   .length = job->block_bytes };
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
	struct job_state state = { .job = job, .name = name };

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
