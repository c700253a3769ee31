/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/workload.h"
#include "sim/world/nearest.h"

#include <string.h>

static const struct {
	struct lab_workload_info info;
	lab_workload_fn parse;
} commands[] = {
	{ { "dd", "read a file block by block: if= bs= ibs= count= skip= iflag=direct,count_bytes,skip_bytes",
	    "dd if=/mnt/test/1GBfile of=/dev/null bs=1M count=1024" },
	  lab_workload_dd },
	{ { "cat", "read whole files, in blocks of st_blksize", "cat /mnt/test/a /mnt/test/b" }, lab_workload_cat },
	{ { "fio", "a job file or options: rw=read, rw=read:HOLE, rw=randread; bs, size, offset, direct, filename",
	    "fio --name=strided --filename=/mnt/test/f --rw=read:960k --bs=64k --size=256m" },
	  lab_workload_fio },
};

const struct lab_workload_info *lab_workload_commands(guint *count)
{
	static struct lab_workload_info copy[G_N_ELEMENTS(commands)];

	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		copy[i] = commands[i].info;
	*count = G_N_ELEMENTS(commands);
	return copy;
}

struct sim_read_job *lab_job_add(struct sim_workload *workload, const char *file, const struct lab_surroundings *around,
				 GError **error)
{
	struct sim_read_job *job;
	const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;

	if (around->mountpoint) {
		size_t length = strlen(around->mountpoint);

		if (!g_str_has_prefix(file, around->mountpoint) || file[length] != '/') {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "'%s' is not below the mount point %s", file,
				    around->mountpoint);
			return NULL;
		}
		name = file + length + strspn(file + length, "/");
	}
	if (!*name || strlen(name) >= sizeof(job->file)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "'%s' names no file, or one with too long a name", file);
		return NULL;
	}
	if (workload->job_count == SIM_JOBS_MAX) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "more than %d files are read", SIM_JOBS_MAX);
		return NULL;
	}
	job = &workload->jobs[workload->job_count++];
	memset(job, 0, sizeof(*job));
	g_strlcpy(job->file, name, sizeof(job->file));
	return job;
}

bool lab_job_size(struct sim_read_job *job, const struct lab_surroundings *around, uint64_t needed_bytes,
		  GError **error)
{
	job->file_bytes = around->file_bytes || around->files_are_empty ? around->file_bytes : needed_bytes;
	if (job->file_bytes == 0 && !around->files_are_empty) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE,
			    "'%s' is read to its end, so its size must be given: file_size= in [workload]", job->file);
		return false;
	}
	if (job->skip_bytes && job->skip_bytes >= job->file_bytes) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "'%s' ends before the first byte that is read",
			    job->file);
		return false;
	}
	return true;
}

/* Split at ';' outside quotes. */
static GPtrArray *commands_split(const char *text)
{
	GPtrArray *parts = g_ptr_array_new_with_free_func(g_free);
	const char *begin = text;
	char quote = 0;

	for (const char *c = text;; c++) {
		if (*c == '\0' || (*c == ';' && !quote)) {
			char *part = g_strstrip(g_strndup(begin, (gsize)(c - begin)));

			if (*part)
				g_ptr_array_add(parts, part);
			else
				g_free(part);
			begin = c + 1;
		}
		if (*c == '\0')
			return parts;
		if (quote ? *c == quote : *c == '\'' || *c == '"')
			quote = quote ? 0 : *c;
	}
}

static lab_workload_fn command_find(const char *name, GError **error)
{
	const char *names[G_N_ELEMENTS(commands)];
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	const char *nearest;

	for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
		names[i] = commands[i].info.name;
		if (!strcmp(names[i], base))
			return commands[i].parse;
	}
	nearest = sim_nearest(base, names, G_N_ELEMENTS(names));
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE,
		    "command '%s' cannot be simulated yet (those that can: dd, cat, fio)%s%s", name,
		    nearest ? "; nearest: " : "", nearest ? nearest : "");
	return NULL;
}

/* "> /dev/null" and its kin say where the data goes, which is not the share. */
static void redirections_drop(char **argv)
{
	guint to = 0;

	for (guint from = 0; argv[from]; from++) {
		if (argv[from][0] == '>') {
			g_free(argv[from][1] == '\0' && argv[from + 1] ? argv[from++] : NULL);
			g_free(argv[from]);
			continue;
		}
		argv[to++] = argv[from];
	}
	argv[to] = NULL;
}

static bool command_parse(const char *text, const struct lab_surroundings *around, struct sim_workload *workload,
			  GError **error)
{
	g_auto(GStrv) argv = NULL;
	g_autoptr(GError) cause = NULL;
	lab_workload_fn parse;

	if (!g_shell_parse_argv(text, NULL, &argv, &cause)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "'%s': %s", text, cause->message);
		return false;
	}
	parse = command_find(argv[0], error);
	if (!parse)
		return false;
	redirections_drop(argv);
	if (parse(argv, around, workload, error))
		return true;
	g_prefix_error(error, "'%s': ", text);
	return false;
}

/* Two commands that read one file read the same file: as large as the larger needs. */
static void sizes_agree(struct sim_workload *workload)
{
	for (uint32_t i = 0; i < workload->job_count; i++)
		for (uint32_t j = 0; j < workload->job_count; j++)
			if (!strcmp(workload->jobs[i].file, workload->jobs[j].file))
				workload->jobs[i].file_bytes = MAX(workload->jobs[i].file_bytes,
								   workload->jobs[j].file_bytes);
}

bool lab_workload_parse(const char *text, const struct lab_surroundings *around, struct sim_workload *workload,
			GError **error)
{
	g_autoptr(GPtrArray) parts = commands_split(text);

	workload->job_count = 0;
	if (parts->len == 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "no command");
		return false;
	}
	for (guint i = 0; i < parts->len; i++)
		if (!command_parse(parts->pdata[i], around, workload, error))
			return false;
	sizes_agree(workload);
	return true;
}

bool lab_workload_cat(char **argv, const struct lab_surroundings *around, struct sim_workload *workload, GError **error)
{
	bool any = false;

	for (guint i = 1; argv[i]; i++) {
		struct sim_read_job *job;

		if (argv[i][0] == '-') {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "option '%s' is not understood", argv[i]);
			return false;
		}
		job = lab_job_add(workload, argv[i], around, error);
		if (!job)
			return false;
		/* coreutils io_blksize(): the larger of st_blksize and 128 KiB */
		job->block_bytes = MAX(around->block_bytes, 128 * 1024);
		if (!lab_job_size(job, around, 0, error))
			return false;
		any = true;
	}
	if (!any)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "no file is named");
	return any;
}
