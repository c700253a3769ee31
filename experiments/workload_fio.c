/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/fio_file.h"
#include "experiments/workload.h"
#include "sim/world/nearest.h"

#include <stddef.h>
#include <string.h>

/* One fio job being put together. */
struct fio {
	const char *filename;
	const char *directory;
	const char *pattern; /* rw= */
	const char *engine;
	uint64_t size, io_size, mix_read, seed, runtime_ns;
	uint64_t depth, copies;
	bool buffered, time_based, stonewall;
	struct sim_fio_job job;
};

enum kind {
	TEXT, /* const char * */
	BYTES, /* uint64_t; fio's powers of 1024 */
	COUNT,
	SWITCH, /* bool */
	SECONDS, /* uint64_t nanoseconds, plain number = seconds */
	MICROSECONDS, /* the same, plain number = microseconds */
	RATE, /* BYTES, or two of them: reading and writing */
	MIX_WRITE, /* percent, of the other direction */
	HARMLESS, /* decides nothing of what is simulated */
	ONLY_ONE, /* only the value 1 can be simulated */
};

static const struct {
	const char *name;
	enum kind kind;
	size_t offset;
} options[] = {
	{ "filename", TEXT, offsetof(struct fio, filename) },
	{ "directory", TEXT, offsetof(struct fio, directory) },
	{ "rw", TEXT, offsetof(struct fio, pattern) },
	{ "readwrite", TEXT, offsetof(struct fio, pattern) },
	{ "ioengine", TEXT, offsetof(struct fio, engine) },
	{ "bs", BYTES, offsetof(struct fio, job.block_bytes) },
	{ "blocksize", BYTES, offsetof(struct fio, job.block_bytes) },
	{ "size", BYTES, offsetof(struct fio, size) },
	{ "io_size", BYTES, offsetof(struct fio, io_size) },
	{ "offset", BYTES, offsetof(struct fio, job.offset_bytes) },
	{ "offset_increment", BYTES, offsetof(struct fio, job.offset_increment_bytes) },
	{ "iodepth", COUNT, offsetof(struct fio, depth) },
	{ "numjobs", COUNT, offsetof(struct fio, copies) },
	{ "direct", SWITCH, offsetof(struct fio, job.direct) },
	{ "buffered", SWITCH, offsetof(struct fio, buffered) },
	{ "fsync", COUNT, offsetof(struct fio, job.fsync_every) },
	{ "fdatasync", COUNT, offsetof(struct fio, job.fsync_every) },
	{ "end_fsync", SWITCH, offsetof(struct fio, job.fsync_end) },
	{ "rate", RATE, offsetof(struct fio, job.rate_bytes_per_s) },
	{ "thinktime", MICROSECONDS, offsetof(struct fio, job.think_ns) },
	{ "thinktime_blocks", COUNT, offsetof(struct fio, job.think_blocks) },
	{ "runtime", SECONDS, offsetof(struct fio, runtime_ns) },
	{ "time_based", SWITCH, offsetof(struct fio, time_based) },
	{ "rwmixread", COUNT, offsetof(struct fio, mix_read) },
	{ "rwmixwrite", MIX_WRITE, offsetof(struct fio, mix_read) },
	{ "randseed", COUNT, offsetof(struct fio, seed) },
	{ "norandommap", SWITCH, offsetof(struct fio, job.may_repeat) },
	{ "stonewall", SWITCH, offsetof(struct fio, stonewall) },
	{ "wait_for_previous", SWITCH, offsetof(struct fio, stonewall) },
	{ "loops", ONLY_ONE, 0 },
	{ "nrfiles", ONLY_ONE, 0 },
	{ "name", HARMLESS, 0 },
	{ "description", HARMLESS, 0 },
	{ "group_reporting", HARMLESS, 0 }, /* results are of the workload in any case */
	{ "invalidate", HARMLESS, 0 },
	{ "thread", HARMLESS, 0 },
	{ "randrepeat", HARMLESS, 0 },
	{ "fallocate", HARMLESS, 0 },
	{ "refill_buffers", HARMLESS, 0 },
	{ "gtod_reduce", HARMLESS, 0 },
	{ "minimal", HARMLESS, 0 },
	{ "output-format", HARMLESS, 0 },
};

/* --------------------------------------------------------------------------------------------------------------- values */

/* fio's sizes are powers of 1024 in either case (fio(1), kb_base=1024). */
static bool size_parse(const char *text, uint64_t *bytes, GError **error)
{
	g_autofree char *upper = g_ascii_strup(text, -1);

	return lab_whole_parse(LAB_SIZE, upper, bytes, error);
}

/* A plain number is in fio's own unit. */
static bool time_parse(const char *text, const char *unit, uint64_t *ns, GError **error)
{
	bool is_plain = *text && strspn(text, "0123456789") == strlen(text);
	g_autofree char *whole = g_strconcat(text, is_plain ? unit : "", NULL);

	return lab_whole_parse(LAB_TIME, whole, ns, error);
}

static bool rate_parse(const char *text, uint64_t rates[2], GError **error)
{
	g_auto(GStrv) parts = g_strsplit(text, ",", 2);

	if (!parts[0])
		return lab_refuse(error, "a rate is missing");
	for (guint i = 0; i < 2; i++) {
		const char *part = parts[1] ? parts[i] : parts[0];

		rates[i] = 0;
		if (*part && !size_parse(part, &rates[i], error))
			return false;
	}
	return true;
}

static bool value_take(enum kind kind, const char *text, void *place, GError **error)
{
	uint64_t *number = place;

	switch (kind) {
	case TEXT:
		*(const char **)place = text;
		return true;
	case BYTES:
		return size_parse(text, number, error);
	case COUNT:
		return lab_whole_parse(LAB_COUNT, text, number, error);
	case SWITCH:
		if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
			return lab_refuse(error, "must be 0 or 1");
		*(bool *)place = *text == '1';
		return true;
	case SECONDS:
		return time_parse(text, "s", number, error);
	case MICROSECONDS:
		return time_parse(text, "us", number, error);
	case RATE:
		return rate_parse(text, number, error);
	case MIX_WRITE:
		if (!lab_whole_parse(LAB_COUNT, text, number, error))
			return false;
		*number = *number <= 100 ? 100 - *number : 101;
		return true;
	case ONLY_ONE:
		return !strcmp(text, "1") ? true : lab_refuse(error, "only 1 can be simulated");
	case HARMLESS:
		break;
	}
	return true;
}

static bool option_take(struct fio *fio, const struct lab_fio_option *option, GError **error)
{
	const char *names[G_N_ELEMENTS(options)];
	const char *nearest;

	for (guint i = 0; i < G_N_ELEMENTS(options); i++) {
		names[i] = options[i].name;
		if (strcmp(options[i].name, option->name) != 0)
			continue;
		if (value_take(options[i].kind, option->value, (char *)fio + options[i].offset, error))
			return true;
		g_prefix_error(error, "%s=%s: ", option->name, option->value);
		return false;
	}
	nearest = sim_nearest(option->name, names, G_N_ELEMENTS(names));
	return lab_refuse(error, "option '%s' is not understood%s%s", option->name, nearest ? "; nearest: " : "",
			  nearest ? nearest : "");
}

/* ------------------------------------------------------------------------------------------------------------- settling */

/* read, write, randread, randwrite, rw, randrw; with a hole behind sequential ones. */
static bool pattern_settle(struct fio *fio, GError **error)
{
	static const struct {
		const char *name;
		enum sim_direction direction;
		enum sim_pattern pattern;
	} patterns[] = {
		{ "read", SIM_READING, SIM_SEQUENTIAL }, { "write", SIM_WRITING, SIM_SEQUENTIAL },
		{ "rw", SIM_MIXED, SIM_SEQUENTIAL },	 { "readwrite", SIM_MIXED, SIM_SEQUENTIAL },
		{ "randread", SIM_READING, SIM_RANDOM }, { "randwrite", SIM_WRITING, SIM_RANDOM },
		{ "randrw", SIM_MIXED, SIM_RANDOM },
	};
	const char *text = fio->pattern ? fio->pattern : "read";
	g_auto(GStrv) parts = g_strsplit(text, ":", 2);
	uint64_t hole = 0;

	for (guint i = 0; i < G_N_ELEMENTS(patterns); i++) {
		if (strcmp(patterns[i].name, parts[0]) != 0)
			continue;
		if (parts[1] && (!size_parse(parts[1], &hole, error) || patterns[i].pattern == SIM_RANDOM))
			return lab_refuse(error, "rw=%s: only sequential patterns leave holes", text);
		fio->job.direction = patterns[i].direction;
		fio->job.pattern = hole ? SIM_STRIDED : patterns[i].pattern;
		fio->job.stride_bytes = fio->job.block_bytes + hole;
		return true;
	}
	return lab_refuse(error, "rw=%s cannot be simulated (read, write, rw, randread, randwrite, randrw; read:HOLE)",
			  text);
}

/* How many calls are under way at a time: what the engine makes of iodepth. */
static bool depth_settle(struct fio *fio, GError **error)
{
	static const char *const one_by_one[] = { "sync", "psync", "vsync", "pvsync", "pvsync2", NULL };
	static const char *const queued[] = { "libaio", "io_uring", "posixaio", NULL };
	const char *engine = fio->engine ? fio->engine : "psync";
	bool is_queued = g_strv_contains(queued, engine);

	if (!is_queued && !g_strv_contains(one_by_one, engine))
		return lab_refuse(error, "ioengine=%s cannot be simulated (psync, libaio, io_uring, ...)", engine);
	if (fio->depth == 0 || fio->depth > SIM_FIO_DEPTH_MAX)
		return lab_refuse(error, "iodepth must be 1 to %d", SIM_FIO_DEPTH_MAX);
	if (fio->copies == 0 || fio->copies > SIM_FIO_COPIES_MAX)
		return lab_refuse(error, "numjobs must be 1 to %d", SIM_FIO_COPIES_MAX);
	/* Linux submits buffered calls of libaio one by one (io_submit(2) blocks). */
	if (!is_queued || (!strcmp(engine, "libaio") && !fio->job.direct))
		fio->depth = 1;
	fio->job.depth = (uint32_t)fio->depth;
	fio->job.copies = (uint32_t)fio->copies;
	return true;
}

static bool amounts_settle(struct fio *fio, GError **error)
{
	struct sim_fio_job *job = &fio->job;

	if (job->block_bytes == 0 || job->block_bytes > (1ull << 31))
		return lab_refuse(error, "bs must be 1 byte to 2 GiB");
	if (fio->mix_read > 100)
		return lab_refuse(error, "rwmixread and rwmixwrite are percentages");
	if (fio->time_based && !fio->runtime_ns)
		return lab_refuse(error, "time_based needs runtime");
	if (job->think_blocks == 0)
		return lab_refuse(error, "thinktime_blocks must be at least 1");
	job->read_percent = (uint32_t)fio->mix_read;
	job->runtime_ns = fio->runtime_ns;
	job->is_endless = fio->time_based;
	job->direct = job->direct && !fio->buffered;
	return true;
}

/* The file, and how much of it each copy works on. */
static bool region_settle(struct fio *fio, const struct lab_surroundings *around, GError **error)
{
	struct sim_fio_job *job = &fio->job;
	uint64_t shift = job->offset_increment_bytes * (job->copies - 1);
	uint64_t needed = fio->size ? job->offset_bytes + shift + fio->size : 0;
	uint64_t stride = job->pattern == SIM_STRIDED ? job->stride_bytes : job->block_bytes;

	job->file_bytes = around->file_bytes ? around->file_bytes : needed;
	if (!job->file_bytes)
		return lab_refuse(error,
				  "'%s' is used to its end, so its size must be given: size=, or file_size= in "
				  "[workload]",
				  job->file);
	if (job->offset_bytes + shift >= job->file_bytes)
		return lab_refuse(error, "'%s' ends before the first byte that is used", job->file);
	job->region_bytes = job->file_bytes - job->offset_bytes - shift;
	if (fio->size)
		job->region_bytes = MIN(job->region_bytes, fio->size);
	/* To the end of the region; fio would start over with the holes. */
	job->calls = (job->region_bytes + stride - job->block_bytes) / stride;
	if (job->pattern != SIM_STRIDED)
		job->calls = job->region_bytes / job->block_bytes;
	if (fio->io_size && job->pattern == SIM_RANDOM)
		job->calls = fio->io_size / job->block_bytes;
	else if (fio->io_size)
		job->calls = MIN(job->calls, fio->io_size / job->block_bytes);
	return job->calls && job->region_bytes >= job->block_bytes ? true
								   : lab_refuse(error, "size is below one block");
}

static bool file_settle(struct fio *fio, const struct lab_surroundings *around, GError **error)
{
	g_autofree char *path = NULL;
	const char *name;

	if (!fio->filename)
		return lab_refuse(error, "filename is missing");
	path = fio->directory ? g_strconcat(fio->directory, "/", fio->filename, NULL) : g_strdup(fio->filename);
	name = lab_share_name(path, around, sizeof(fio->job.file), error);
	if (name)
		g_strlcpy(fio->job.file, name, sizeof(fio->job.file));
	return name != NULL;
}

static bool settle(struct fio *fio, const struct lab_surroundings *around, GError **error)
{
	return file_settle(fio, around, error) && amounts_settle(fio, error) && pattern_settle(fio, error) &&
	       depth_settle(fio, error) && region_settle(fio, around, error);
}

/* ----------------------------------------------------------------------------------------------------------------- jobs */

static bool job_take(const struct lab_fio_file *file, guint index, const struct lab_surroundings *around,
		     struct sim_workload *workload, GError **error)
{
	const struct lab_fio_job *given = file->jobs->pdata[index];
	struct fio fio = {
		.depth = 1,
		.copies = 1,
		.mix_read = 50,
		.seed = around->seed,
		.job = { .block_bytes = 4096, .think_blocks = 1 },
	};
	struct sim_job *job;

	for (guint i = 0; i < given->options->len; i++) {
		const struct lab_fio_option *option = given->options->pdata[i];

		if (option_take(&fio, option, error))
			continue;
		if (file->path)
			g_prefix_error(error, "%s:%u: [%s] ", file->path, option->line, given->name);
		return false;
	}
	fio.job.random_seed = fio.seed + index * SIM_FIO_COPIES_MAX;
	fio.job.is_beside = index > 0 && !fio.stonewall;
	if (!settle(&fio, around, error)) {
		g_prefix_error(error, "[%s] ", given->name);
		return false;
	}
	job = lab_job_append(workload, SIM_JOB_FIO, error);
	if (job)
		job->fio = fio.job;
	return job != NULL;
}

bool lab_workload_fio(char **argv, const struct lab_surroundings *around, struct sim_workload *workload, GError **error)
{
	g_autoptr(lab_fio_file) file = lab_fio_read(argv + 1, around->directory, error);

	for (guint i = 0; file && i < file->jobs->len; i++)
		if (!job_take(file, i, around, workload, error))
			return false;
	return file != NULL;
}
