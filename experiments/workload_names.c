/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/workload.h"

#include <string.h>

/* What is on the share: what was given, and what the commands need to find. */

struct naming {
	const struct lab_surroundings *around;
	struct sim_workload *workload;
	GHashTable *known; /* paths that exist, are said not to, or that a command made */
	GError **error;
};

#define ENTRIES_MAX 100000

static bool name_add(struct naming *naming, const struct sim_name *name)
{
	struct sim_workload *workload = naming->workload;

	if (workload->name_count == SIM_NAMES_MAX) {
		g_set_error(naming->error, LAB_ERROR, LAB_ERROR_USAGE, "more than %d files and directories to be made",
			    SIM_NAMES_MAX);
		return false;
	}
	workload->names[workload->name_count++] = *name;
	g_hash_table_add(naming->known, g_strdup(name->path));
	return true;
}

/* -------------------------------------------------------------------------------------------------------------- given */

/** PATH or PATH=NUMBER, PATH below the mount point. */
static bool parse_given(struct naming *naming, const char *text, char path[SMB_OPS_PATH_MAX], uint64_t *number)
{
	const char *mountpoint = naming->around->mountpoint;
	const char *equals = strrchr(text, '=');
	g_autofree char *before = equals ? g_strndup(text, (gsize)(equals - text)) : g_strdup(text);
	gsize length = strlen(mountpoint);

	if (equals && !lab_whole_parse(LAB_SIZE, equals + 1, number, naming->error)) {
		g_prefix_error(naming->error, "'%s': ", text);
		return false;
	}
	if (g_str_has_prefix(before, mountpoint) && before[length] == '/' && before[length + 1] &&
	    strlen(before + length + 1) < SMB_OPS_PATH_MAX && !strchr(before, SIM_LOOP_MARK)) {
		g_strlcpy(path, before + length + 1, SMB_OPS_PATH_MAX);
		return true;
	}
	g_set_error(naming->error, LAB_ERROR, LAB_ERROR_USAGE, "%s is not below the mount point %s", before,
		    mountpoint);
	return false;
}

static bool give_files(struct naming *naming, const char *list)
{
	g_auto(GStrv) items = g_strsplit(list ? list : "", ";", -1);

	for (guint i = 0; items[i]; i++) {
		struct sim_name name = { .bytes = lab_small_file_bytes(naming->around) };

		if (*g_strstrip(items[i]) &&
		    (!parse_given(naming, items[i], name.path, &name.bytes) || !name_add(naming, &name)))
			return false;
	}
	return true;
}

static bool give_directories(struct naming *naming, const char *list)
{
	g_auto(GStrv) items = g_strsplit(list ? list : "", ";", -1);

	for (guint i = 0; items[i]; i++) {
		struct sim_name name = { .is_directory = true, .entries = LAB_SMALL_DIRECTORY };

		if (!*g_strstrip(items[i]))
			continue;
		if (!parse_given(naming, items[i], name.path, &name.entries))
			return false;
		if (name.entries > ENTRIES_MAX) {
			g_set_error(naming->error, LAB_ERROR, LAB_ERROR_USAGE, "directory %s: at most %d entries",
				    items[i], ENTRIES_MAX);
			return false;
		}
		if (!name_add(naming, &name))
			return false;
	}
	return true;
}

static bool give_missing(struct naming *naming, const char *list)
{
	g_auto(GStrv) items = g_strsplit(list ? list : "", ";", -1);

	for (guint i = 0; items[i]; i++) {
		char path[SMB_OPS_PATH_MAX];
		uint64_t number;

		if (!*g_strstrip(items[i]))
			continue;
		if (!parse_given(naming, items[i], path, &number))
			return false;
		g_hash_table_add(naming->known, g_strdup(path));
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------------ assumed */

static const struct sim_loop *loop_of(const struct sim_workload *workload, uint32_t job)
{
	for (uint32_t i = 0; i < workload->loop_count; i++) {
		if (job >= workload->loops[i].first && job < workload->loops[i].end)
			return &workload->loops[i];
	}
	return NULL;
}

/* The file of a reading job is made for it, as large as it needs. */
static bool is_read_by_a_job(const struct sim_workload *workload, const char *path)
{
	for (uint32_t i = 0; i < workload->job_count; i++) {
		const struct sim_job *job = &workload->jobs[i];

		if ((job->kind == SIM_JOB_READ && !strcmp(job->read.file, path)) ||
		    (job->kind == SIM_JOB_FIO && !strcmp(job->fio.file, path)))
			return true;
	}
	return false;
}

/** A file, or with `entries` 0 or more a directory. The root of the share is there, but it may need entries. */
static bool assume(struct naming *naming, uint32_t job, const char *path, int entries)
{
	const struct sim_loop *loop = loop_of(naming->workload, job);
	struct sim_name name = { .is_directory = entries >= 0, .entries = entries > 0 ? (uint64_t)entries : 0 };

	if (g_hash_table_contains(naming->known, path) || (!*path && entries <= 0))
		return true;
	if (entries < 0 && is_read_by_a_job(naming->workload, path))
		return true;
	g_strlcpy(name.path, path, sizeof(name.path));
	name.bytes = name.is_directory ? 0 : lab_small_file_bytes(naming->around);
	if (loop && strchr(path, SIM_LOOP_MARK)) {
		name.from = loop->from;
		name.to = loop->to;
	}
	return name_add(naming, &name);
}

/** Where a name is to be made, unless a command made that place before. */
static bool assume_parent(struct naming *naming, uint32_t job, const char *path)
{
	const char *slash = strrchr(path, '/');
	g_autofree char *parent = g_strndup(path, slash ? (gsize)(slash - path) : 0);

	if (!slash)
		return true;
	for (uint32_t i = 0; i < naming->workload->name_count; i++) {
		const char *made = naming->workload->names[i].path;

		if (g_str_has_prefix(made, parent) && made[strlen(parent)] == '/')
			return true; /* it comes with what is in it */
	}
	return assume(naming, job, parent, 0);
}

static bool assume_source(struct naming *naming, uint32_t job, const struct smb_ops_command *command)
{
	switch (command->kind) {
	case SMB_OPS_RM:
	case SMB_OPS_MV:
	case SMB_OPS_LN:
	case SMB_OPS_STAT:
	case SMB_OPS_CAT:
	case SMB_OPS_CP:
	case SMB_OPS_CP_OUT:
	case SMB_OPS_CHMOD:
	case SMB_OPS_DF:
	case SMB_OPS_STAT_F:
		return assume(naming, job, command->source, -1);
	case SMB_OPS_LS:
	case SMB_OPS_LS_L:
	case SMB_OPS_READDIR:
		return assume(naming, job, command->source, LAB_SMALL_DIRECTORY);
	case SMB_OPS_RMDIR:
		return assume(naming, job, command->source, 0);
	case SMB_OPS_LN_S: /* the source is the link's text */
	case SMB_OPS_CP_IN: /* the source is no file of the share */
		return true;
	default:
		return assume_parent(naming, job, command->source);
	}
}

static bool assume_job(struct naming *naming, uint32_t index)
{
	const struct sim_job *job = &naming->workload->jobs[index];

	if (job->kind == SIM_JOB_FIO)
		g_hash_table_add(naming->known, g_strdup(job->fio.file));
	if (job->kind == SIM_JOB_READ)
		g_hash_table_add(naming->known, g_strdup(job->read.file));
	if (job->kind == SIM_JOB_WRITE) {
		if (!assume_parent(naming, index, job->write.file))
			return false;
		g_hash_table_add(naming->known, g_strdup(job->write.file));
	}
	if (job->kind != SIM_JOB_COMMAND)
		return true;
	if (!assume_source(naming, index, &job->command) || !assume_parent(naming, index, job->command.target))
		return false;
	if (*job->command.source)
		g_hash_table_add(naming->known, g_strdup(job->command.source));
	if (*job->command.target)
		g_hash_table_add(naming->known, g_strdup(job->command.target));
	return true;
}

bool lab_workload_names(const struct lab_surroundings *around, struct sim_workload *workload, guint *given,
			GError **error)
{
	struct naming naming = {
		.around = around,
		.workload = workload,
		.known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.error = error,
	};
	bool right;

	workload->name_count = 0;
	right = give_files(&naming, around->files) && give_directories(&naming, around->directories) &&
		give_missing(&naming, around->missing);
	*given = workload->name_count;
	for (uint32_t i = 0; right && i < workload->job_count; i++)
		right = assume_job(&naming, i);
	g_hash_table_unref(naming.known);
	return right;
}
