/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/replay_sim.h"

#include "experiments/workload.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

struct builder {
	const struct model_config *model;
	struct sim_workload *workload;
	uint32_t done[MODEL_THREADS_MAX]; /* steps of each thread that are in the workload */
	bool is_direct[MODEL_FILES_MAX];
	bool is_made[MODEL_FILES_MAX]; /* by a read job */
};

static bool refuse(GError **error, const char *why)
{
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "--sim: %s", why);
	return false;
}

/* ------------------------------------------------------------------------------------------------------------ workload */

static bool add_read(struct builder *builder, const struct model_step *step, GError **error)
{
	const struct model_file *file = &builder->model->file[step->file];
	struct sim_job *job;

	if (file->is_directory || !step->length || step->offset >= file->bytes)
		return refuse(error, "a read of a directory, of nothing or behind the end of a file");
	job = lab_job_append(builder->workload, SIM_JOB_READ, error);
	if (!job)
		return false;
	g_strlcpy(job->read.file, file->name, sizeof(job->read.file));
	job->read.file_bytes = file->bytes;
	job->read.block_bytes = step->length;
	job->read.count = 1;
	job->read.skip_bytes = step->offset;
	job->read.direct = builder->is_direct[step->file];
	builder->is_made[step->file] = true;
	return true;
}

static bool add_write(struct builder *builder, const struct model_step *step, GError **error)
{
	struct sim_job *job = lab_job_append(builder->workload, SIM_JOB_WRITE, error);

	if (!job)
		return false;
	g_strlcpy(job->write.file, builder->model->file[step->file].name, sizeof(job->write.file));
	job->write.block_bytes = step->length;
	job->write.count = 1;
	job->write.seek_bytes = step->offset;
	job->write.direct = builder->is_direct[step->file];
	return true;
}

static bool add_command(struct builder *builder, const struct model_step *step, GError **error)
{
	struct sim_job *job = lab_job_append(builder->workload, SIM_JOB_COMMAND, error);

	if (job)
		job->command = step->command;
	return job;
}

static bool add_step(struct builder *builder, const struct model_step *step, GError **error)
{
	switch (step->kind) {
	case MODEL_STEP_OPEN:
		builder->is_direct[step->file] = step->direct;
		return true;
	case MODEL_STEP_READ:
		return add_read(builder, step, error);
	case MODEL_STEP_WRITE:
		return add_write(builder, step, error);
	case MODEL_STEP_COMMAND:
		return add_command(builder, step, error);
	default: /* each job closes its file, which brings what was written to the server */
		return true;
	}
}

/* The thread's next step, if there is one left. */
static bool add_next(struct builder *builder, uint32_t thread, GError **error)
{
	const struct model_thread *steps = &builder->model->thread[thread];

	if (builder->done[thread] == steps->steps)
		return true;
	return add_step(builder, &steps->step[builder->done[thread]++], error);
}

static bool add_names(struct builder *builder, GError **error)
{
	for (uint32_t i = 0; i < builder->model->files; i++) {
		const struct model_file *file = &builder->model->file[i];
		struct sim_name *name = &builder->workload->names[builder->workload->name_count];

		if (builder->is_made[i])
			continue;
		if (builder->workload->name_count == SIM_NAMES_MAX)
			return refuse(error, "too many files");
		builder->workload->name_count++;
		*name = (struct sim_name){ .is_directory = file->is_directory, .bytes = file->bytes };
		g_strlcpy(name->path, file->name, sizeof(name->path));
	}
	return true;
}

/* Steps in the order in which the trace starts them, then what it did not get to. */
static bool fill_workload(struct builder *builder, const GArray *moves, GError **error)
{
	*builder->workload = (struct sim_workload){ 0 };
	for (guint i = 0; i < moves->len; i++) {
		const struct model_move *move = &g_array_index(moves, struct model_move, i);

		if (move->kind == MODEL_MOVE_CUT || move->kind == MODEL_MOVE_REFUSE)
			return refuse(error,
				      "the trace has a connection that ends or cannot be made at a chosen moment; "
				      "the simulated network cannot be told to do that between two given PDUs");
		if (move->kind == MODEL_MOVE_START && move->argument < builder->model->threads &&
		    !add_next(builder, move->argument, error))
			return false;
	}
	for (uint32_t t = 0; t < builder->model->threads; t++) {
		while (builder->done[t] < builder->model->thread[t].steps) {
			if (!add_next(builder, t, error))
				return false;
		}
	}
	if (!builder->workload->job_count)
		return refuse(error, "no thread reads, writes or runs a command");
	return add_names(builder, error);
}

/* ------------------------------------------------------------------------------------------------------------- verdict */

static void judge(const struct sim_result *result, struct lab_sim_verdict *verdict)
{
	*verdict = (struct lab_sim_verdict){ .is_broken = true };
	if (result->violation_count) {
		const struct smb_rule_info *info = smb_rule_info(result->violation[0].rule);

		g_strlcpy(verdict->rule, info ? info->name : "?", sizeof(verdict->rule));
		g_strlcpy(verdict->text, result->violation[0].text, sizeof(verdict->text));
	} else if (result->outcome != SIM_OUTCOME_FINISHED) {
		g_strlcpy(verdict->rule, result->outcome == SIM_OUTCOME_STUCK ? "stuck" : "fails",
			  sizeof(verdict->rule));
		g_strlcpy(verdict->text, result->failure, sizeof(verdict->text));
	} else {
		verdict->is_broken = false;
	}
}

bool lab_replay_sim(const struct lab_check *check, const GArray *moves, struct lab_sim_verdict *verdict, GError **error)
{
	g_autofree struct sim_point *point = g_memdup2(check->point, sizeof(*check->point));
	g_autofree struct sim_result *result = g_new0(struct sim_result, 1);
	struct builder builder = { .model = &check->model, .workload = &point->workload };

	point->monitor = true;
	if (!fill_workload(&builder, moves, error) || !sim_world_run(point, NULL, result, error))
		return false;
	if (result->outcome == SIM_OUTCOME_IMPOSSIBLE)
		return refuse(error, result->failure);
	judge(result, verdict);
	return true;
}
