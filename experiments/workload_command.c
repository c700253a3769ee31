/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/workload.h"

#include <string.h>

/* Shell commands that are operations of the file system, and sleep. */

struct sim_job *lab_job_append(struct sim_workload *workload, enum sim_job_kind kind, GError **error)
{
	struct sim_job *job;

	if (workload->job_count == SIM_JOBS_MAX) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "more than %d commands, or files read, in one workload",
			    SIM_JOBS_MAX);
		return NULL;
	}
	job = &workload->jobs[workload->job_count++];
	memset(job, 0, sizeof(*job));
	job->kind = kind;
	return job;
}

bool lab_workload_sleep(const char *text, struct sim_workload *workload, GError **error)
{
	struct sim_job *job = lab_job_append(workload, SIM_JOB_SLEEP, error);
	double seconds;

	if (!job)
		return false;
	if (lab_number_parse(LAB_NUMBER, text, &seconds, NULL) && seconds <= 1e6) {
		job->sleep_ns = (uint64_t)(seconds * 1e9);
		return true;
	}
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "sleep takes a number of seconds, 0 to 1000000");
	return false;
}

bool lab_workload_command(const char *text, const struct lab_surroundings *around, struct sim_workload *workload,
			  GError **error)
{
	const struct smb_ops_shell shell = {
		.mount_point = around->mountpoint,
		.local_bytes = lab_small_file_bytes(around),
	};
	struct sim_job *job = lab_job_append(workload, SIM_JOB_COMMAND, error);
	char message[SMB_OPS_MESSAGE_MAX];

	if (!job)
		return false;
	if (smb_ops_parse(text, &shell, &job->command, NULL, message))
		return true;
	g_set_error_literal(error, LAB_ERROR, LAB_ERROR_USAGE, message);
	return false;
}
