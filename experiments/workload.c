/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/workload.h"

#include <string.h>

static const struct {
	struct lab_workload_info info;
	lab_workload_fn parse;
} commands[] = {
	{ { "dd",
	    "read a file block by block: if= bs= ibs= count= skip= iflag=direct,count_bytes,skip_bytes; or write one: "
	    "of= "
	    "bs= count= seek= conv=fsync,fdatasync,notrunc oflag=direct,sync,dsync,seek_bytes",
	    "dd if=/mnt/test/1GBfile of=/dev/null bs=1M count=1024" },
	  lab_workload_dd },
	{ { "cat", "read whole files, in blocks of st_blksize", "cat /mnt/test/a /mnt/test/b" }, lab_workload_cat },
	{ { "fio",
	    "a job file or options: rw=read, write, rw, randread, randwrite, randrw; bs, size, offset, iodepth, "
	    "numjobs, "
	    "direct, ioengine, fsync, rate, thinktime, runtime, rwmixread, ...",
	    "fio --name=a --filename=/mnt/test/f --rw=randrw --bs=4k --size=256m --direct=1 --ioengine=libaio "
	    "--iodepth=16" },
	  lab_workload_fio },
};

/* Known to protocol/ops or to the script parser below; for `smblab list workloads`. */
static const struct lab_workload_info shell_commands[] = {
	{ "touch, rm, mkdir, rmdir, mv, ln, ln -s, chmod, truncate -s, echo TEXT > or >>, cp",
	  "change names and attributes, as the kernel's file system does it", "touch /mnt/a; mv /mnt/a /mnt/b" },
	{ "stat, stat -f, ls, ls -l, readdir, df", "look at them", "ls -l /mnt/d" },
	{ "mount, umount, sleep", "a mount of its own, a pause", "mount; stat /mnt/a; sleep 2; umount /mnt" },
	{ "$client", "in a name: the number of the client, from 0 (client.clients)",
	  "dd if=/mnt/f$client bs=1M count=64" },
	{ "for", "repeats; $i in names is the number", "for i in $(seq 100); do touch /mnt/f$i; done" },
};

const struct lab_workload_info *lab_workload_commands(guint *count)
{
	static struct lab_workload_info copy[G_N_ELEMENTS(commands) + G_N_ELEMENTS(shell_commands)];

	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		copy[i] = commands[i].info;
	memcpy(copy + G_N_ELEMENTS(commands), shell_commands, sizeof(shell_commands));
	*count = G_N_ELEMENTS(copy);
	return copy;
}

const char *lab_share_name(const char *file, const struct lab_surroundings *around, size_t size, GError **error)
{
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
	if (!*name || strlen(name) >= size) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "'%s' names no file, or one with too long a name", file);
		return NULL;
	}
	return name;
}

struct sim_read_job *lab_job_add(struct sim_workload *workload, const char *file, const struct lab_surroundings *around,
				 GError **error)
{
	struct sim_job *appended = NULL;
	const char *name = lab_share_name(file, around, sizeof(appended->read.file), error);

	if (name)
		appended = lab_job_append(workload, SIM_JOB_READ, error);
	if (!appended)
		return NULL;
	g_strlcpy(appended->read.file, name, sizeof(appended->read.file));
	return &appended->read;
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

/* The first word of a command, without its directory. */
static char *command_name(const char *text)
{
	g_autofree char *word = g_strndup(text, strcspn(text, " \t\n"));

	return g_path_get_basename(word);
}

static lab_workload_fn command_find(const char *name)
{
	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		if (!strcmp(commands[i].info.name, name))
			return commands[i].parse;
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

/* A command that reads the share call by call. */
static bool reader_parse(const char *text, lab_workload_fn parse, const struct lab_surroundings *around,
			 struct sim_workload *workload, GError **error)
{
	g_auto(GStrv) argv = NULL;
	g_autoptr(GError) cause = NULL;

	if (!g_shell_parse_argv(text, NULL, &argv, &cause)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s", cause->message);
		return false;
	}
	redirections_drop(argv);
	return parse(argv, around, workload, error);
}

static bool command_parse(const char *text, const struct lab_surroundings *around, struct sim_workload *workload,
			  GError **error)
{
	g_autofree char *name = command_name(text);
	lab_workload_fn parse = around->is_bill ? NULL : command_find(name);
	bool parsed;

	if (parse)
		parsed = reader_parse(text, parse, around, workload, error);
	else if (!strcmp(name, "sleep"))
		parsed = lab_workload_sleep(text + strlen("sleep") + strspn(text + strlen("sleep"), " \t"), workload,
					    error);
	else
		parsed = lab_workload_command(text, around, workload, error);
	if (!parsed)
		g_prefix_error(error, "'%s': ", text);
	return parsed;
}

/* -------------------------------------------------------------------------------------------------------------- scripts */

struct script {
	const struct lab_surroundings *around;
	struct sim_workload *workload;
	char *variable; /* of the loop that is open, NULL outside */
};

/* for NAME in $(seq [FIRST] LAST), or {FIRST..LAST}. */
static bool loop_begin(struct script *script, const char *text, GError **error)
{
	static const char pattern[] =
		"^for\\s+([A-Za-z_][A-Za-z0-9_]*)\\s+in\\s+"
		"(?:\\$\\(seq\\s+(?:(\\d{1,9})\\s+)?(\\d{1,9})\\)|\\{(\\d{1,9})\\.\\.(\\d{1,9})\\})$";
	g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	struct sim_workload *workload = script->workload;
	struct sim_loop *loop = &workload->loops[workload->loop_count];
	uint64_t numbers[4] = { 0 };

	if (!g_regex_match(regex, text, 0, &match))
		return lab_refuse(error, "'%s': only for NAME in $(seq LAST), $(seq FIRST LAST) or {FIRST..LAST}",
				  text);
	if (script->variable)
		return lab_refuse(error, "'%s': a loop inside a loop is not understood", text);
	if (workload->loop_count == SIM_LOOPS_MAX)
		return lab_refuse(error, "more than %d loops", SIM_LOOPS_MAX);
	script->variable = g_match_info_fetch(match, 1);
	for (int i = 0; i < 4; i++) {
		g_autofree char *digits = g_match_info_fetch(match, i + 2);

		numbers[i] = digits && *digits ? g_ascii_strtoull(digits, NULL, 10) : i == 0;
	}
	bool is_braces = strchr(text, '{') != NULL;
	*loop = (struct sim_loop){ .first = workload->job_count,
				   .from = is_braces ? numbers[2] : numbers[0],
				   .to = is_braces ? numbers[3] : numbers[1] };
	return loop->from <= loop->to ? true : lab_refuse(error, "'%s' counts to nothing", text);
}

static bool loop_end(struct script *script, GError **error)
{
	struct sim_loop *loop = &script->workload->loops[script->workload->loop_count];

	if (!script->variable)
		return lab_refuse(error, "'done' without 'for'");
	g_clear_pointer(&script->variable, g_free);
	loop->end = script->workload->job_count;
	script->workload->loop_count++;
	return loop->end > loop->first ? true : lab_refuse(error, "nothing between 'do' and 'done'");
}

static void variable_replace(GString *name, const char *variable, char mark)
{
	const char with[] = { mark, '\0' };
	g_autofree char *braced = g_strdup_printf("${%s}", variable);
	g_autofree char *plain = g_strdup_printf("$%s", variable);

	g_string_replace(name, braced, with, 0);
	g_string_replace(name, plain, with, 0);
}

/* $i and ${i} become SIM_LOOP_MARK, $client SIM_CLIENT_MARK; nothing else that a shell would expand may be there. */
static bool name_settle(char *name, size_t size, const char *variable, GError **error)
{
	GString *settled;

	if (strpbrk(name, "*?"))
		return lab_refuse(error, "'%s': the shell's * and ? are not understood", name);
	settled = g_string_new(name);
	variable_replace(settled, "client", SIM_CLIENT_MARK);
	if (variable)
		variable_replace(settled, variable, SIM_LOOP_MARK);
	if (strchr(settled->str, '$')) {
		g_string_free(settled, TRUE);
		return lab_refuse(error, "'%s': there is no such variable", name);
	}
	g_strlcpy(name, settled->str, size);
	g_string_free(settled, TRUE);
	return true;
}

static bool job_settle(struct sim_job *job, const char *variable, GError **error)
{
	if (job->kind == SIM_JOB_READ)
		return name_settle(job->read.file, sizeof(job->read.file), variable, error);
	if (job->kind == SIM_JOB_FIO)
		return name_settle(job->fio.file, sizeof(job->fio.file), variable, error);
	if (job->kind == SIM_JOB_WRITE)
		return name_settle(job->write.file, sizeof(job->write.file), variable, error);
	if (job->kind != SIM_JOB_COMMAND)
		return true;
	return name_settle(job->command.source, sizeof(job->command.source), variable, error) &&
	       name_settle(job->command.target, sizeof(job->command.target), variable, error);
}

static const char *without_do(const char *text)
{
	return g_str_has_prefix(text, "do ") ? text + strlen("do ") + strspn(text + strlen("do "), " \t") : text;
}

static bool part_parse(struct script *script, const char *text, GError **error)
{
	uint32_t first = script->workload->job_count;

	text = without_do(text);
	if (g_str_has_prefix(text, "for "))
		return loop_begin(script, text, error);
	if (!strcmp(text, "done"))
		return loop_end(script, error);
	if (!command_parse(text, script->around, script->workload, error))
		return false;
	for (uint32_t i = first; i < script->workload->job_count; i++)
		if (!job_settle(&script->workload->jobs[i], script->variable, error))
			return false;
	return true;
}

static bool script_parse(const char *text, const struct lab_surroundings *around, struct sim_workload *workload,
			 GError **error)
{
	g_autoptr(GPtrArray) parts = commands_split(text);
	struct script script = { .around = around, .workload = workload };
	bool parsed = true;

	for (guint i = 0; parsed && i < parts->len; i++)
		parsed = part_parse(&script, parts->pdata[i], error);
	if (parsed && script.variable)
		parsed = lab_refuse(error, "'for' without 'done'");
	g_free(script.variable);
	return parsed;
}

GPtrArray *lab_workload_lines(const char *text)
{
	g_autoptr(GPtrArray) parts = commands_split(text);
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < parts->len; i++) {
		const char *part = without_do(parts->pdata[i]);

		if (!g_str_has_prefix(part, "for ") && strcmp(part, "done") != 0)
			g_ptr_array_add(lines, g_strdup(part));
	}
	return lines;
}

/* The file of a job that needs one, and its size. */
static uint64_t *file_of(struct sim_job *job, const char **file)
{
	*file = job->kind == SIM_JOB_READ ? job->read.file : job->fio.file;
	if (job->kind == SIM_JOB_READ)
		return &job->read.file_bytes;
	return job->kind == SIM_JOB_FIO ? &job->fio.file_bytes : NULL;
}

/* Two jobs that need one file need the same file: as large as the larger does. */
static void sizes_agree(struct sim_workload *workload)
{
	for (uint32_t i = 0; i < workload->job_count; i++) {
		const char *file, *other;
		uint64_t *bytes = file_of(&workload->jobs[i], &file);

		for (uint32_t j = 0; bytes && j < workload->job_count; j++) {
			const uint64_t *others = file_of(&workload->jobs[j], &other);

			if (others && !strcmp(file, other))
				*bytes = MAX(*bytes, *others);
		}
	}
}

/* Is there a command that is no reader? Its names are below a mount point. */
static bool has_shell_commands(const char *text)
{
	g_autoptr(GPtrArray) parts = commands_split(text ? text : "");

	for (guint i = 0; i < parts->len; i++) {
		g_autofree char *name = command_name(parts->pdata[i]);

		if (!command_find(name))
			return true;
	}
	return false;
}

uint64_t lab_small_file_bytes(const struct lab_surroundings *around)
{
	return around->file_bytes || around->files_are_empty ? around->file_bytes : LAB_SMALL_FILE_BYTES;
}

bool lab_workload_parse(const char *text, const struct lab_surroundings *around, struct sim_workload *workload,
			GError **error)
{
	struct lab_surroundings here = *around;
	guint given;

	workload->job_count = 0;
	workload->loop_count = 0;
	if (!here.mountpoint && (has_shell_commands(here.prepare) || has_shell_commands(text)))
		here.mountpoint = LAB_MOUNTPOINT;
	if (here.prepare && !script_parse(here.prepare, &here, workload, error))
		return false;
	workload->prepared = workload->job_count;
	if (!script_parse(text, &here, workload, error))
		return false;
	if (workload->job_count == workload->prepared)
		return lab_refuse(error, "no command");
	sizes_agree(workload);
	if (!here.mountpoint)
		here.mountpoint = LAB_MOUNTPOINT;
	return lab_workload_names(&here, workload, &given, error);
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
