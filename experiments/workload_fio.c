/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/scan.h"
#include "experiments/workload.h"

#include <string.h>

/* One fio job: its options as text, later ones in place of earlier ones. */
struct fio {
	GHashTable *options; /* char * -> char * */
};

/* Options that decide nothing of what is read, with the values for which that is true; NULL = any value. */
static const struct {
	const char *name;
	const char *values;
} harmless[] = {
	{ "name", NULL },
	{ "group_reporting", NULL },
	{ "invalidate", NULL },
	{ "thread", NULL },
	{ "stonewall", NULL },
	{ "numjobs", "1" },
	{ "iodepth", "1" },
	{ "ioengine", "sync,psync,pvsync" },
	{ "buffered", "1" },
	{ "norandommap", NULL },
	{ "loops", "1" },
	{ "output-format", NULL },
	{ "minimal", NULL },
	{ "randrepeat", NULL },
	{ "wait_for_previous", NULL },
};
static const char *const used[] = { "filename", "directory", "rw",     "readwrite", "bs",      "blocksize",
				    "size",	"offset",    "direct", "io_size",   "randseed" };

static bool word_in_list(const char *word, const char *list)
{
	g_auto(GStrv) words = g_strsplit(list, ",", -1);

	return g_strv_contains((const char *const *)words, word);
}

static bool option_add(struct fio *fio, const char *name, const char *value, GError **error)
{
	for (guint i = 0; i < G_N_ELEMENTS(harmless); i++) {
		if (strcmp(harmless[i].name, name) != 0)
			continue;
		if (harmless[i].values && !word_in_list(value, harmless[i].values)) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s=%s cannot be simulated yet (only %s)", name,
				    value, harmless[i].values);
			return false;
		}
		return true;
	}
	for (guint i = 0; i < G_N_ELEMENTS(used); i++) {
		if (!strcmp(used[i], name)) {
			g_hash_table_replace(fio->options, g_strdup(name), g_strdup(value));
			return true;
		}
	}
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE,
		    "option '%s' is not understood; those that are: rw, bs, size, "
		    "io_size, offset, direct, filename, directory, randseed",
		    name);
	return false;
}

static const char *option(const struct fio *fio, const char *name, const char *other)
{
	const char *value = g_hash_table_lookup(fio->options, name);

	return value || !other ? value : g_hash_table_lookup(fio->options, other);
}

/* fio's sizes are powers of 1024 in either case (fio(1), kb_base=1024). */
static bool size_parse(const char *name, const char *text, uint64_t *bytes, GError **error)
{
	g_autofree char *upper = g_ascii_strup(text, -1);

	if (lab_whole_parse(LAB_SIZE, upper, bytes, error))
		return true;
	g_prefix_error(error, "%s: ", name);
	return false;
}

static bool pattern_parse(const struct fio *fio, struct sim_read_job *job, GError **error)
{
	const char *rw = option(fio, "rw", "readwrite");
	uint64_t hole = 0;

	rw = rw ? rw : "read";
	job->pattern = SIM_SEQUENTIAL;
	if (!strcmp(rw, "randread")) {
		job->pattern = SIM_RANDOM;
	} else if (g_str_has_prefix(rw, "read:")) {
		if (!size_parse("rw", rw + strlen("read:"), &hole, error))
			return false;
		job->pattern = hole ? SIM_STRIDED : SIM_SEQUENTIAL;
		job->stride_bytes = hole ? job->block_bytes + hole : 0;
	} else if (strcmp(rw, "read") != 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE,
			    "rw=%s cannot be simulated yet (only read, read:HOLE and randread)", rw);
		return false;
	}
	return true;
}

struct amounts {
	uint64_t size, io_size, direct;
};

static bool amounts_parse(const struct fio *fio, struct sim_read_job *job, struct amounts *amounts, GError **error)
{
	const struct {
		const char *name, *other, *fallback;
		uint64_t *bytes;
	} sizes[] = {
		{ "bs", "blocksize", "4k", &job->block_bytes }, { "size", NULL, "0", &amounts->size },
		{ "io_size", NULL, "0", &amounts->io_size },	{ "offset", NULL, "0", &job->skip_bytes },
		{ "direct", NULL, "0", &amounts->direct },	{ "randseed", NULL, NULL, &job->random_seed },
	};

	for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
		const char *text = option(fio, sizes[i].name, sizes[i].other);

		text = text ? text : sizes[i].fallback;
		if (text && !size_parse(sizes[i].name, text, sizes[i].bytes, error))
			return false;
	}
	job->direct = amounts->direct != 0;
	if (job->block_bytes == 0 || job->block_bytes > (1ull << 31)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "bs must be 1 byte to 2 GiB");
		return false;
	}
	return true;
}

static bool fio_finish(const struct fio *fio, const struct lab_surroundings *around, struct sim_workload *workload,
		       GError **error)
{
	const char *file = option(fio, "filename", NULL);
	const char *directory = option(fio, "directory", NULL);
	g_autofree char *path = NULL;
	struct amounts amounts = { 0 };
	struct sim_read_job *job;
	uint64_t region;

	if (!file) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "filename is missing");
		return false;
	}
	path = directory ? g_strconcat(directory, "/", file, NULL) : g_strdup(file);
	job = lab_job_add(workload, path, around, error);
	if (!job)
		return false;
	job->random_seed = around->seed;
	if (!amounts_parse(fio, job, &amounts, error) || !pattern_parse(fio, job, error) ||
	    !lab_job_size(job, around, amounts.size ? job->skip_bytes + amounts.size : 0, error))
		return false;
	region = MIN(amounts.size ? amounts.size : UINT64_MAX, job->file_bytes - job->skip_bytes);
	job->count = (amounts.io_size ? amounts.io_size : region) / job->block_bytes;
	if (job->pattern == SIM_STRIDED) /* to the end of the region; fio would start over with the holes */
		job->count = MIN(job->count, (region + job->stride_bytes - job->block_bytes) / job->stride_bytes);
	if (job->pattern == SIM_SEQUENTIAL)
		job->count = MIN(job->count, region / job->block_bytes);
	if (job->count > 0)
		return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "size is below one block");
	return false;
}

static bool words_parse(struct fio *fio, char **words, GError **error)
{
	for (guint i = 0; words[i]; i++) {
		const char *word = words[i] + (g_str_has_prefix(words[i], "--") ? 2 : 0);
		const char *equals = strchr(word, '=');
		g_autofree char *name = equals ? g_strndup(word, (gsize)(equals - word)) : g_strdup(word);

		if (!option_add(fio, name, equals ? equals + 1 : "1", error))
			return false;
	}
	return true;
}

static bool group_parse(struct fio *fio, GKeyFile *file, const char *group, GError **error)
{
	g_auto(GStrv) keys = g_key_file_get_keys(file, group, NULL, NULL);

	for (guint i = 0; keys && keys[i]; i++) {
		g_autofree char *value = g_key_file_get_value(file, group, keys[i], NULL);

		if (!option_add(fio, keys[i], g_strstrip(value), error)) {
			g_prefix_error(error, "[%s] ", group);
			return false;
		}
	}
	return true;
}

/* fio takes a bare word as a switch ("stonewall"); GKeyFile wants name=value. */
static char *switches_spelled_out(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (guint i = 0; lines[i]; i++) {
		g_strstrip(lines[i]);
		if (*lines[i] == ';')
			*lines[i] = '#';
		if (*lines[i] && !strchr("#[", *lines[i]) && !strchr(lines[i], '=')) {
			char *line = g_strconcat(lines[i], "=1", NULL);

			g_free(lines[i]);
			lines[i] = line;
		}
	}
	return g_strjoinv("\n", lines);
}

static GKeyFile *job_file_load(const char *name, const struct lab_surroundings *around, GError **error)
{
	g_autofree char *path = g_canonicalize_filename(name, around->directory);
	g_autofree char *text = NULL, *spelled = NULL;
	g_autoptr(GError) cause = NULL;
	g_autoptr(GKeyFile) file = g_key_file_new();
	gsize length;

	text = lab_file_read(path, LAB_SCAN_BYTES_MAX, &length, &cause);
	if (text) {
		spelled = switches_spelled_out(text);
		if (g_key_file_load_from_data(file, spelled, strlen(spelled), G_KEY_FILE_NONE, &cause))
			return g_steal_pointer(&file);
	}
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "job file %s: %s", path, cause->message);
	return NULL;
}

static bool job_file_parse(const char *name, const struct lab_surroundings *around, struct sim_workload *workload,
			   GError **error)
{
	g_autoptr(GKeyFile) file = job_file_load(name, around, error);
	g_auto(GStrv) groups = file ? g_key_file_get_groups(file, NULL) : NULL;
	uint32_t before = workload->job_count;

	if (!file)
		return false;
	for (guint i = 0; groups[i]; i++) {
		g_autoptr(GHashTable) options = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
		struct fio fio = { options };

		if (!strcmp(groups[i], "global"))
			continue;
		if (!group_parse(&fio, file, "global", error) || !group_parse(&fio, file, groups[i], error) ||
		    !fio_finish(&fio, around, workload, error))
			return false;
		if (workload->job_count - before > 1 && !g_key_file_has_key(file, groups[i], "stonewall", NULL) &&
		    !g_key_file_has_key(file, "global", "stonewall", NULL)) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE,
				    "[%s] would run beside the job before it, which cannot be simulated yet; "
				    "with stonewall it runs after it",
				    groups[i]);
			return false;
		}
	}
	if (workload->job_count == before)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s has no job", name);
	return workload->job_count > before;
}

bool lab_workload_fio(char **argv, const struct lab_surroundings *around, struct sim_workload *workload, GError **error)
{
	g_autoptr(GHashTable) options = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	struct fio fio = { options };

	if (!argv[1]) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "neither a job file nor options");
		return false;
	}
	if (!argv[2] && !strchr(argv[1], '='))
		return job_file_parse(argv[1], around, workload, error);
	return words_parse(&fio, argv + 1, error) && fio_finish(&fio, around, workload, error);
}
