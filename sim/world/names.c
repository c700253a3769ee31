/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is on the share before anybody mounts it. */

#include "sim/world/world_internal.h"

#include <string.h>

char *world_wire_path(const char *path)
{
	return g_strdelimit(g_strdup(path), "/", '\\');
}

uint64_t world_source_of(const char *path)
{
	return g_str_hash(path) | UINT64_C(1) << 32;
}

static void make_file(struct world *world, const char *path, uint64_t bytes)
{
	uint64_t source = world_source_of(path);
	g_autofree char *name = world_wire_path(path);

	/* Further clients find what the first one's list has made. */
	bool made = smb_server_make_file(world->server, name, source, bytes) || world->number;

	if (made && world->monitor)
		smb_monitor_file(world->monitor, name, source, bytes);
}

static void make_directory(struct world *world, const char *path, uint64_t entries)
{
	g_autofree char *name = world_wire_path(path);

	if (*name)
		smb_server_make_directory(world->server, name);
	for (uint64_t i = 0; i < entries; i++) {
		g_autofree char *entry = g_strdup_printf("%s%sfile%" G_GUINT64_FORMAT, name, *name ? "\\" : "",
							 (guint64)i);

		smb_server_make_file(world->server, entry, 1, 0);
	}
}

static void make_name(struct world *world, const struct sim_name *name)
{
	bool is_many = strchr(name->path, SIM_LOOP_MARK) != NULL;

	for (uint64_t number = name->from; number <= (is_many ? name->to : name->from); number++) {
		g_autofree char *path = world_name_of(world, name->path, number);

		if (name->is_directory)
			make_directory(world, path, name->entries);
		else
			make_file(world, path, name->bytes);
	}
}

static const struct sim_loop *loop_of(const struct sim_workload *workload, uint32_t job)
{
	for (uint32_t i = 0; i < workload->loop_count; i++) {
		if (job >= workload->loops[i].first && job < workload->loops[i].end)
			return &workload->loops[i];
	}
	return NULL;
}

/* The file that a job needs, unless it makes it. */
static bool file_of(const struct sim_job *job, struct sim_name *name)
{
	const char *file = job->kind == SIM_JOB_READ ? job->read.file : job->kind == SIM_JOB_FIO ? job->fio.file : NULL;

	if (!file)
		return false;
	name->bytes = job->kind == SIM_JOB_READ ? job->read.file_bytes : job->fio.file_bytes;
	g_strlcpy(name->path, file, sizeof(name->path));
	return true;
}

void world_make_names(struct world *world)
{
	const struct sim_workload *workload = &world->point->workload;

	for (uint32_t i = 0; i < workload->name_count; i++)
		make_name(world, &workload->names[i]);
	for (uint32_t i = 0; i < workload->job_count; i++) {
		const struct sim_loop *loop = loop_of(workload, i);
		struct sim_name name = { .bytes = 0 };

		if (!file_of(&workload->jobs[i], &name))
			continue;
		name.from = loop ? loop->from : 0;
		name.to = loop ? loop->to : 0;
		make_name(world, &name);
	}
}
