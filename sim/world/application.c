/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The application thread: mount, then one job after another (open, read call by call, close). */

#include "sim/world/world_internal.h"

#include <string.h>

struct job_state {
	const struct sim_read_job *job;
	uint32_t file;
	uint64_t calls;
	uint64_t offset;
	uint64_t random;
};

static void fail(struct world *world, const char *what, const struct smb_client_output *done)
{
	static const char *const reasons[] = {
		[SMB_OP_OK] = "ok",
		[SMB_OP_FAILED] = "the server refused it",
		[SMB_OP_STALLED] = "no credits are left and nothing is outstanding",
		[SMB_OP_DISCONNECTED] = "the connection is gone",
	};
	g_autofree char *text = g_strdup_printf("%s: %s (NT status 0x%08x)", what, reasons[done->verdict],
						done->status);

	world_end(world, SIM_OUTCOME_FAILED, text);
}

static void copy(struct world *world, const struct sim_read_job *job, const struct smb_client_output *output)
{
	double per_byte_ns = world->point->client_costs.copy_cpu_ns_per_byte;

	sim_cpu_use(world->engine, (uint64_t)(per_byte_ns * output->data.length));
	world->result->bytes += output->data.length;
	if (world->monitor)
		smb_monitor_application_read(world->monitor, job->file, output->offset, output->data, false,
					     sim_engine_now_ns(world->engine));
	smb_client_copied(world->client, output->op, sim_engine_now_ns(world->engine));
	world_client_drain(world);
}

/* A thread that still has work to do is not blocked yet. */
static void next_output(struct world *world, uint64_t wanted, struct smb_client_output *next)
{
	struct smb_client_output *output = sim_queue_take(world->application);

	if (!output) {
		sim_cpu_settle(world->engine);
		output = sim_queue_take(world->application);
	}
	if (!output) {
		world_reader_blocks(world, wanted);
		output = sim_queue_pop(world->application);
		world_reader_runs(world);
	}
	*next = *output;
	g_free(output);
}

/* Submit and follow one operation to its end; COPY outputs belong to `job`. False: the run is over. */
static bool run_op(struct world *world, const struct smb_op *op, const struct sim_read_job *job,
		   struct smb_client_output *done)
{
	uint64_t wanted = op->offset;
	uint32_t number = smb_client_submit(world->client, op, sim_engine_now_ns(world->engine));

	if (number == SMB_OP_NONE) {
		world_end(world, SIM_OUTCOME_FAILED, "the client core takes no further operation");
		return false;
	}
	world_client_drain(world);
	for (;;) {
		next_output(world, wanted, done);
		if (done->kind == SMB_CLIENT_DONE) {
			sim_cpu_settle(world->engine);
			return true;
		}
		wanted = done->offset + done->data.length;
		copy(world, job, done);
	}
}

static bool must_succeed(struct world *world, const struct smb_op *op, const char *what, struct smb_client_output *done)
{
	if (!run_op(world, op, NULL, done))
		return false;
	if (done->verdict == SMB_OP_OK)
		return true;
	fail(world, what, done);
	return false;
}

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
		if (!run_op(world, &op, state->job, &done))
			return false;
		if (done.verdict != SMB_OP_OK) {
			fail(world, state->job->file, &done);
			return false;
		}
		if (!done.bytes)
			break;
	}
	return true;
}

static bool run_job(struct world *world, const struct sim_read_job *job)
{
	struct smb_client_output done;
	struct smb_op open = { .kind = SMB_OP_OPEN, .name = job->file, .direct = job->direct };
	struct job_state state = { .job = job, .random = world->point->seed ^ job->random_seed };

	if (!must_succeed(world, &open, job->file, &done))
		return false;
	state.file = done.file;
	if (!world->begun_ns) {
		world->begun_ns = sim_engine_now_ns(world->engine);
		world_faults_start(world);
	}
	world_reader_start(world);
	if (!read_all(world, &state))
		return false;
	world_reader_stop(world);
	struct smb_op close = { .kind = SMB_OP_CLOSE, .file = state.file };
	return must_succeed(world, &close, job->file, &done);
}

void world_application_main(void *arg)
{
	struct world *world = arg;
	struct smb_client_output done;
	struct smb_op mount = { .kind = SMB_OP_MOUNT };

	if (!must_succeed(world, &mount, "mount", &done))
		return;
	world->result->mount_seconds = (double)sim_engine_now_ns(world->engine) / 1e9;
	world_mounted(world);
	for (uint32_t i = 0; i < world->point->workload.job_count; i++) {
		if (!run_job(world, &world->point->workload.jobs[i]))
			return;
	}
	world_end(world, SIM_OUTCOME_FINISHED, NULL);
}
