/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Jobs of fio: threads of the application, each with a file open and several calls under way. */

#include "sim/world/world_internal.h"

#define READ 0
#define WRITE 1

struct fio_thread {
	struct world *world;
	const struct sim_fio_job *job;
	struct sim_job_result *result;
	struct sim_queue *outputs;
	struct sim_queue *finished; /* gets the thread when it is done */
	char *name; /* of the file, as CREATE names it */
	uint32_t file;
	uint64_t offset; /* where its region begins */
	uint64_t source; /* of the data it writes: what is there already */
	uint64_t seed;
	uint64_t draws; /* state of its generator */
	struct smb_op *ops; /* under way, by number */
	uint32_t under_way;
	uint64_t begun_ns;
	uint64_t issued; /* calls */
	uint64_t issued_of[2]; /* reads, writes */
	uint64_t wanted; /* offset of the last call */
	int direction; /* of the next call */
};

/* ------------------------------------------------------------------------------------------------------ the next call */

static bool has_more(const struct fio_thread *thread)
{
	const struct sim_fio_job *job = thread->job;
	uint64_t spent_ns = sim_engine_now_ns(thread->world->engine) - thread->begun_ns;

	if (job->runtime_ns && spent_ns >= job->runtime_ns)
		return false;
	return job->is_endless || thread->issued < job->calls;
}

static void choose_direction(struct fio_thread *thread)
{
	const struct sim_fio_job *job = thread->job;

	if (job->direction == SIM_MIXED)
		thread->direction = world_random(&thread->draws) % 100 < job->read_percent ? READ : WRITE;
	else
		thread->direction = job->direction == SIM_WRITING ? WRITE : READ;
}

static uint64_t random_block(struct fio_thread *thread)
{
	const struct sim_fio_job *job = thread->job;
	uint64_t blocks = job->region_bytes / job->block_bytes;

	if (job->may_repeat)
		return world_random(&thread->draws) % blocks;
	return world_shuffle(thread->issued % blocks, blocks, thread->seed + thread->issued / blocks);
}

/* Reads and writes of a sequential mix each go their own way through the file. */
static uint64_t next_offset(struct fio_thread *thread)
{
	const struct sim_fio_job *job = thread->job;
	uint64_t stride = job->pattern == SIM_STRIDED ? job->stride_bytes : job->block_bytes;

	if (job->pattern == SIM_RANDOM)
		return thread->offset + random_block(thread) * job->block_bytes;
	return thread->offset + thread->issued_of[thread->direction] % job->calls * stride;
}

/* When the rate lets the next call begin. */
static uint64_t due_ns(const struct fio_thread *thread)
{
	uint64_t rate = thread->job->rate_bytes_per_s[thread->direction];
	uint64_t bytes = thread->issued_of[thread->direction] * thread->job->block_bytes;

	return rate ? thread->begun_ns + (uint64_t)((double)bytes * 1e9 / (double)rate) : 0;
}

/* ------------------------------------------------------------------------------------------------------------- waiting */

static bool handle(struct fio_thread *thread, const struct smb_client_output *output)
{
	struct world *world = thread->world;
	const struct smb_op *op = &thread->ops[output->op];

	if (output->kind == SMB_CLIENT_COPY) {
		world_op_copy(world, op, thread->name, output);
		return true;
	}
	thread->under_way--;
	if (output->verdict != SMB_OP_OK) {
		world_op_failed(world, thread->name, output);
		return false;
	}
	if (op->kind == SMB_OP_WRITE && world->measuring)
		world->result->bytes += output->bytes;
	thread->result->bytes += output->bytes;
	return true;
}

/* Everything that has come, so that a number in `ops` is free when the core gives it again. */
static bool handle_all(struct fio_thread *thread)
{
	struct smb_client_output *output;

	while ((output = sim_queue_take(thread->outputs))) {
		bool handled = handle(thread, output);

		g_free(output);
		if (!handled)
			return false;
	}
	return true;
}

static void pause_until(struct fio_thread *thread, uint64_t when_ns)
{
	world_reader_blocks(thread->world, thread->wanted);
	sim_sleep_until(thread->world->engine, when_ns);
	world_reader_runs(thread->world);
}

/* Until fewer than `depth` calls are under way and the clock shows `when_ns`. */
static bool wait_for(struct fio_thread *thread, uint32_t depth, uint64_t when_ns)
{
	struct world *world = thread->world;
	struct smb_client_output output;

	for (;;) {
		if (!handle_all(thread))
			return false;
		bool has_room = thread->under_way < depth;
		if (has_room && sim_engine_now_ns(world->engine) >= when_ns)
			return true;
		if (!thread->under_way)
			pause_until(thread, when_ns);
		else if (world_op_wait(world, thread->outputs, thread->wanted, has_room ? when_ns : UINT64_MAX,
				       &output) &&
			 !handle(thread, &output))
			return false;
	}
}

/* --------------------------------------------------------------------------------------------------------------- calls */

static bool submit(struct fio_thread *thread, const struct smb_op *op)
{
	uint32_t number = world_op_submit(thread->world, op, thread->outputs);

	if (number == SMB_OP_NONE)
		return false;
	thread->ops[number] = *op;
	thread->under_way++;
	return true;
}

static bool sync_file(struct fio_thread *thread)
{
	const struct smb_op op = { .kind = SMB_OP_FSYNC, .file = thread->file };

	return wait_for(thread, 1, 0) && submit(thread, &op) && wait_for(thread, 1, 0);
}

static bool issue(struct fio_thread *thread)
{
	uint64_t offset = next_offset(thread);
	const struct smb_op op = { .kind = thread->direction == WRITE ? SMB_OP_WRITE : SMB_OP_READ,
				   .file = thread->file,
				   .offset = offset,
				   .length = thread->job->block_bytes,
				   .source = thread->source,
				   .source_offset = offset };

	thread->wanted = offset;
	thread->issued++;
	thread->issued_of[thread->direction]++;
	return submit(thread, &op);
}

static bool one_call(struct fio_thread *thread)
{
	struct world *world = thread->world;
	const struct sim_fio_job *job = thread->job;

	choose_direction(thread);
	if (!wait_for(thread, job->depth, due_ns(thread)))
		return false;
	sim_cpu_use(world->engine, (uint64_t)world->point->client_costs.syscall_cpu_ns);
	if (!handle_all(thread) || !issue(thread))
		return false;
	if (thread->direction == WRITE && job->fsync_every && thread->issued_of[WRITE] % job->fsync_every == 0 &&
	    !sync_file(thread))
		return false;
	if (!job->think_ns || thread->issued % job->think_blocks)
		return true;
	if (!wait_for(thread, 1, 0))
		return false;
	pause_until(thread, sim_engine_now_ns(world->engine) + job->think_ns);
	return true;
}

static void thread_main(void *arg)
{
	struct fio_thread *thread = arg;

	thread->begun_ns = sim_engine_now_ns(thread->world->engine);
	while (has_more(thread))
		if (!one_call(thread))
			return;
	if (!wait_for(thread, 1, 0) || (thread->job->fsync_end && !sync_file(thread)))
		return;
	sim_cpu_settle(thread->world->engine);
	thread->result->longest_ns = MAX(thread->result->longest_ns,
					 sim_engine_now_ns(thread->world->engine) - thread->begun_ns);
	world_reader_blocks(thread->world, thread->wanted);
	sim_queue_push(thread->finished, thread);
}

/* ----------------------------------------------------------------------------------------------------------- all threads */

static bool open_thread(struct fio_thread *thread, uint64_t number)
{
	static const enum smb_open_access accesses[] = {
		[SIM_READING] = SMB_OPEN_READ,
		[SIM_WRITING] = SMB_OPEN_WRITE,
		[SIM_MIXED] = SMB_OPEN_READ_WRITE,
	};
	const struct sim_fio_job *job = thread->job;
	g_autofree char *file = world_name_of(thread->world, job->file, number);
	struct smb_op open = { .kind = SMB_OP_OPEN,
			       .name = file,
			       .access = accesses[job->direction],
			       .random_hint = job->pattern == SIM_RANDOM, /* fio's fadvise_hint */
			       .direct = job->direct };
	struct smb_client_output done;

	thread->name = world_wire_path(file);
	thread->source = world_source_of(file);
	if (!world_op_must(thread->world, &open, file, &done))
		return false;
	thread->file = done.file;
	return true;
}

static bool close_thread(struct fio_thread *thread)
{
	struct smb_op close = { .kind = SMB_OP_CLOSE, .file = thread->file };
	struct smb_client_output done;

	return world_op_must(thread->world, &close, thread->name, &done);
}

static GPtrArray *threads_new(struct world *world, uint32_t first, uint32_t end)
{
	GPtrArray *threads = g_ptr_array_new();
	struct sim_queue *finished = sim_queue_new(world->engine);

	for (uint32_t i = first; i < end; i++) {
		const struct sim_fio_job *job = &world->point->workload.jobs[i].fio;

		for (uint32_t copy = 0; copy < job->copies; copy++) {
			struct fio_thread *thread = g_new0(struct fio_thread, 1);

			thread->world = world;
			thread->job = job;
			thread->result = &world->result->jobs[i];
			thread->outputs = sim_queue_new(world->engine);
			thread->finished = finished;
			thread->offset = job->offset_bytes + copy * job->offset_increment_bytes;
			thread->seed = world->point->seed ^
				       ((job->random_seed + copy + world->number * SIM_FIO_COPIES_MAX) << 20);
			thread->draws = thread->seed;
			thread->ops = g_new0(struct smb_op, world->op_count);
			g_ptr_array_add(threads, thread);
		}
	}
	return threads;
}

static void run_threads(struct world *world, const GPtrArray *threads)
{
	struct fio_thread *one = threads->pdata[0];

	world->threads_awake = threads->len;
	for (guint i = 0; i < threads->len; i++) {
		g_autofree char *name = g_strdup_printf("fio-%u", i);

		world_thread_start(world, name, thread_main, threads->pdata[i]);
	}
	for (guint i = 0; i < threads->len; i++)
		sim_queue_pop(one->finished);
	world_reader_runs(world);
}

static bool with_threads(struct world *world, const GPtrArray *threads, uint64_t number)
{
	for (guint i = 0; i < threads->len; i++)
		if (!open_thread(threads->pdata[i], number))
			return false;
	world_reader_start(world);
	run_threads(world, threads);
	world_reader_stop(world);
	for (guint i = 0; i < threads->len; i++)
		if (!close_thread(threads->pdata[i]))
			return false;
	return true;
}

bool world_fio_jobs(struct world *world, uint32_t first, uint32_t end, uint64_t number)
{
	GPtrArray *threads = threads_new(world, first, end);
	bool done = with_threads(world, threads, number);

	for (guint i = 0; i < threads->len; i++) {
		struct fio_thread *thread = threads->pdata[i];

		g_free(thread->name);
		g_free(thread->ops);
		g_free(thread);
	}
	g_ptr_array_unref(threads);
	return done;
}

void world_fio_limits(const struct sim_workload *workload, struct smb_client_limits *limits)
{
	uint32_t ops = 0, files = 0, ops_max = 0, files_max = 0;

	for (uint32_t i = 0; i < workload->job_count; i++) {
		const struct sim_fio_job *job = &workload->jobs[i].fio;

		if (workload->jobs[i].kind != SIM_JOB_FIO)
			continue;
		ops = (job->is_beside ? ops : 0) + job->copies * job->depth;
		files = (job->is_beside ? files : 0) + job->copies;
		ops_max = MAX(ops_max, ops);
		files_max = MAX(files_max, files);
	}
	limits->ops += ops_max;
	limits->files += files_max;
}
