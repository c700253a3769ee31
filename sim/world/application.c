/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The application: mount, then one job of the workload after another, as a shell runs its script. */

#include "sim/world/world_internal.h"

#include <string.h>

char *world_name_of(const struct world *world, const char *name, uint64_t number)
{
	GString *text = g_string_new(NULL);

	for (; *name; name++) {
		if (*name == SIM_LOOP_MARK)
			g_string_append_printf(text, "%" G_GUINT64_FORMAT, (guint64)number);
		else if (*name == SIM_CLIENT_MARK)
			g_string_append_printf(text, "%u", world->number);
		else
			g_string_append_c(text, *name);
	}
	return g_string_free(text, FALSE);
}

static void number_path(const struct world *world, char path[SMB_OPS_PATH_MAX], uint64_t number)
{
	g_autofree char *name = world_name_of(world, path, number);

	g_strlcpy(path, name, SMB_OPS_PATH_MAX);
}

/* -------------------------------------------------------------------------------------------------------------- one job */

static void tell(const struct world *world, const struct sim_step *step)
{
	if (world->trace && world->trace->step)
		world->trace->step(world->trace->context, sim_engine_now_ns(world->engine), step);
}

static bool run_job(struct world *world, const struct sim_job *job, uint64_t number, enum smb_ops_error *error)
{
	struct smb_ops_command command;
	g_autofree char *file = NULL;

	switch (job->kind) {
	case SIM_JOB_READ:
		file = world_name_of(world, job->read.file, number);
		return world_read_job(world, &job->read, file);
	case SIM_JOB_FIO:
		break; /* side by side with others */
	case SIM_JOB_WRITE:
		file = world_name_of(world, job->write.file, number);
		return world_write_job(world, &job->write, file);
	case SIM_JOB_COMMAND:
		command = job->command;
		number_path(world, command.source, number);
		number_path(world, command.target, number);
		return world_command_job(world, &command, error);
	case SIM_JOB_SLEEP:
		sim_sleep_until(world->engine, sim_engine_now_ns(world->engine) + job->sleep_ns);
		return true;
	}
	return false;
}

static void note_command(struct world *world, const struct sim_job *job, enum smb_ops_error error)
{
	if (!world->measuring || job->kind == SIM_JOB_SLEEP)
		return;
	world->result->commands++;
	world->result->command_failures += error != SMB_OPS_OK;
}

static char *what_of(const struct sim_job *job)
{
	const struct smb_ops_command *command = &job->command;

	switch (job->kind) {
	case SIM_JOB_READ:
		return g_strdup_printf("read %s", job->read.file);
	case SIM_JOB_WRITE:
		return g_strdup_printf("write %s", job->write.file);
	case SIM_JOB_FIO:
		return g_strdup_printf("fio %s", job->fio.file);
	case SIM_JOB_SLEEP:
		return g_strdup_printf("sleep %g", (double)job->sleep_ns / 1e9);
	default:
		return g_strdup_printf("%s%s%s%s%s", smb_ops_command_name(command->kind), *command->source ? " " : "",
				       command->source, *command->target ? " " : "", command->target);
	}
}

/* The first run of a job tells its name and, of a command, what is said. */
static void begin_first(struct world *world, uint32_t index)
{
	const struct sim_job *job = &world->point->workload.jobs[index];
	struct sim_job_result *result = &world->result->jobs[index];

	if (result->runs)
		return;
	g_autofree char *what = what_of(job);
	g_strlcpy(result->what, what, sizeof(result->what));
	if (job->kind == SIM_JOB_COMMAND)
		world->heard = sim_pairs_new();
}

static void end_first(struct world *world, uint32_t index)
{
	struct sim_job_result *result = &world->result->jobs[index];

	if (!world->heard)
		return;
	g_autofree char *text = sim_pairs_text(world->heard, 0, world->heard->len, false);
	if (strlen(text) < sizeof(result->sequence))
		g_strlcpy(result->sequence, text, sizeof(result->sequence));
	else
		g_snprintf(result->sequence, sizeof(result->sequence), "%.*s...", (int)sizeof(result->sequence) - 4,
			   text);
	g_clear_pointer(&world->heard, g_array_unref);
}

static void note_job(struct sim_job_result *result, uint64_t spent_ns, uint64_t pairs, enum smb_ops_error error)
{
	result->runs++;
	result->spent_ns += spent_ns;
	result->longest_ns = MAX(result->longest_ns, spent_ns);
	result->pairs += pairs;
	if (!error)
		return;
	result->failures++;
	result->error = error;
}

static void begin_step(struct world *world, uint32_t index, uint64_t number)
{
	const struct sim_step step = { .job = index, .number = number };

	begin_first(world, index);
	tell(world, &step);
}

static void end_step(struct world *world, const struct sim_step *step, uint64_t spent_ns, uint64_t pairs)
{
	end_first(world, step->job);
	tell(world, step);
	note_command(world, &world->point->workload.jobs[step->job], step->error);
	note_job(&world->result->jobs[step->job], spent_ns, pairs, step->error);
}

/* Jobs `first` to `end` - 1: one, or several of fio that run side by side. */
static bool do_step(struct world *world, uint32_t first, uint32_t end, uint64_t number)
{
	const struct sim_job *job = &world->point->workload.jobs[first];
	uint64_t begun_ns = sim_engine_now_ns(world->engine);
	uint64_t pairs = world_pairs(world);
	enum smb_ops_error error = SMB_OPS_OK;

	for (uint32_t i = first; i < end; i++)
		begin_step(world, i, number);
	if (!(job->kind == SIM_JOB_FIO ? world_fio_jobs(world, first, end, number)
				       : run_job(world, job, number, &error)))
		return false;
	for (uint32_t i = first; i < end; i++) {
		const struct sim_step step = { .job = i, .number = number, .has_ended = true, .error = error };

		end_step(world, &step, sim_engine_now_ns(world->engine) - begun_ns, world_pairs(world) - pairs);
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------------- all jobs */

static const struct sim_loop *loop_at(const struct sim_workload *workload, uint32_t job)
{
	for (uint32_t i = 0; i < workload->loop_count; i++) {
		if (workload->loops[i].first == job)
			return &workload->loops[i];
	}
	return NULL;
}

/* Where the jobs end that run together with this one. */
static uint32_t step_end(const struct sim_workload *workload, uint32_t job)
{
	uint32_t end = job + 1;

	while (end < workload->job_count && workload->jobs[end].kind == SIM_JOB_FIO &&
	       workload->jobs[end].fio.is_beside)
		end++;
	return end;
}

static bool do_loop(struct world *world, const struct sim_loop *loop)
{
	const struct sim_workload *workload = &world->point->workload;

	for (uint64_t number = loop->from; number <= loop->to; number++) {
		for (uint32_t job = loop->first; job < loop->end; job = step_end(workload, job)) {
			if (!do_step(world, job, step_end(workload, job), number))
				return false;
		}
	}
	return true;
}

static bool do_jobs(struct world *world)
{
	const struct sim_workload *workload = &world->point->workload;
	uint32_t job = 0;

	while (job < workload->job_count) {
		const struct sim_loop *loop = loop_at(workload, job);
		uint32_t end = loop ? loop->end : step_end(workload, job);

		if (job == workload->prepared)
			world_measure(world);
		if (!(loop ? do_loop(world, loop) : do_step(world, job, end, 0)))
			return false;
		job = end;
	}
	return true;
}

/* A workload that begins with `mount` measures it. */
static bool mounts_itself(const struct sim_workload *workload)
{
	const struct sim_job *first = &workload->jobs[0];

	return workload->job_count && first->kind == SIM_JOB_COMMAND && first->command.kind == SMB_OPS_MOUNT;
}

#define SETTLE_NS UINT64_C(1000000)
#define SETTLE_MOST 10000

/* What still goes on beside the workload's end, a CLOSE that was put off, is nobody's fault: the monitor looks at its
 * books when it is over. */
static void settle(struct world *world)
{
	for (int i = 0; i < SETTLE_MOST; i++) {
		struct smb_client_info info;

		smb_client_look(world->client, &info);
		if (!info.in_flight)
			return;
		sim_sleep_until(world->engine, sim_engine_now_ns(world->engine) + SETTLE_NS);
	}
}

void world_application_main(void *arg)
{
	struct world *world = arg;

	if (!mounts_itself(&world->point->workload) && !world_mount(world))
		return;
	if (!do_jobs(world))
		return;
	world_measured(world);
	settle(world);
	world_done(world);
}
