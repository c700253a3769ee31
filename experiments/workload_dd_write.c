/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* dd with of= on the share. What is copied is of no interest: /dev/zero, or a local file as large as file_size says. */

#include "experiments/workload.h"

#include <string.h>

struct dd_write {
	const char *source;
	const char *target;
	uint64_t block, count, seek;
	bool has_count, count_is_bytes, seek_is_bytes;
	bool direct, sync_each, sync_end, keeps;
};

static bool refuse(GError **error, const char *why, const char *what)
{
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, why, what);
	return false;
}

static bool is_endless(const char *file)
{
	return file && (!strcmp(file, "/dev/zero") || !strcmp(file, "/dev/urandom") || !strcmp(file, "/dev/random"));
}

static const char *operand(char **argv, const char *name)
{
	const char *value = NULL;

	for (guint i = 1; argv[i]; i++) {
		if (g_str_has_prefix(argv[i], name))
			value = argv[i] + strlen(name);
	}
	return value;
}

static bool is_below(const char *file, const char *directory)
{
	return file && directory && g_str_has_prefix(file, directory) && file[strlen(directory)] == '/';
}

bool lab_dd_writes(char **argv, const struct lab_surroundings *around)
{
	const char *source = operand(argv, "if=");
	const char *target = operand(argv, "of=");

	if (!target || g_str_has_prefix(target, "/dev/"))
		return false;
	if (is_endless(source) || is_below(target, around->mountpoint))
		return true;
	return !around->mountpoint && source && is_below(target, LAB_MOUNTPOINT) && !is_below(source, LAB_MOUNTPOINT);
}

/* Words of conv= and oflag= beside those that change what is simulated. */
static const char *const harmless[] = {
	"noerror", "fullblock", "noatime", "nonblock", "binary", "text", "nocreat", NULL
};

static bool parse_word(const char *word, struct dd_write *dd, bool is_flag, GError **error)
{
	if (is_flag && !strcmp(word, "direct"))
		dd->direct = true;
	else if (is_flag && (!strcmp(word, "sync") || !strcmp(word, "dsync")))
		dd->sync_each = true;
	else if (is_flag && !strcmp(word, "seek_bytes"))
		dd->seek_is_bytes = true;
	else if (!is_flag && (!strcmp(word, "fsync") || !strcmp(word, "fdatasync")))
		dd->sync_end = true;
	else if (!is_flag && !strcmp(word, "notrunc"))
		dd->keeps = true;
	else if (!g_strv_contains(harmless, word))
		return refuse(error, is_flag ? "invalid output flag: '%s'" : "invalid conversion: '%s'", word);
	return true;
}

static bool parse_words(const char *text, struct dd_write *dd, bool is_flag, GError **error)
{
	g_auto(GStrv) words = g_strsplit(text, ",", -1);

	for (guint i = 0; words[i]; i++)
		if (!parse_word(words[i], dd, is_flag, error))
			return false;
	return true;
}

static bool parse_operand(const char *word, struct dd_write *dd, GError **error)
{
	const char *value = strchr(word, '=');
	g_autofree char *name = value ? g_strndup(word, (gsize)(value - word)) : NULL;

	if (!value)
		return refuse(error, "unrecognized operand '%s'", word);
	value++;
	if (!strcmp(name, "if"))
		dd->source = value;
	else if (!strcmp(name, "of"))
		dd->target = value;
	else if (!strcmp(name, "bs") || !strcmp(name, "obs"))
		return lab_dd_number_parse(value, &dd->block, error);
	else if (!strcmp(name, "count")) {
		dd->has_count = true;
		return lab_dd_amount_parse(value, &dd->count, &dd->count_is_bytes, error);
	} else if (!strcmp(name, "seek") || !strcmp(name, "oseek"))
		return lab_dd_amount_parse(value, &dd->seek, &dd->seek_is_bytes, error);
	else if (!strcmp(name, "conv") || !strcmp(name, "oflag"))
		return parse_words(value, dd, name[0] == 'o', error);
	else if (strcmp(name, "status") && strcmp(name, "ibs") && strcmp(name, "iflag") && strcmp(name, "skip"))
		return refuse(error, "unrecognized operand '%s'", word);
	return true;
}

/* From blocks to bytes, and how many calls there are. */
static bool settle(struct dd_write *dd, const struct lab_surroundings *around, GError **error)
{
	uint64_t bytes;

	if (is_below(dd->source, around->mountpoint))
		return refuse(error, "%s", "both if= and of= are on the share: copying there cannot be simulated yet");
	if (dd->block == 0 || dd->block > (1ull << 31))
		return refuse(error, "%s", "the block size must be 1 byte to 2 GiB");
	if (!dd->has_count && !around->file_bytes)
		return refuse(error, "how much is written? Give count=, or the size of '%s': file_size= in [workload]",
			      dd->source ? dd->source : "-");
	if (!dd->has_count) {
		dd->count = around->file_bytes;
		dd->count_is_bytes = true;
	}
	if (dd->count_is_bytes && dd->count % dd->block)
		return refuse(error, "%s", "what is written must be a multiple of the block size here");
	if (dd->count_is_bytes)
		dd->count /= dd->block;
	if (!dd->count)
		return refuse(error, "%s", "count=0 writes nothing");
	if (!dd->seek_is_bytes && __builtin_mul_overflow(dd->seek, dd->block, &dd->seek))
		return refuse(error, "%s", "seek is too large");
	if (__builtin_mul_overflow(dd->count, dd->block, &bytes) || dd->seek > INT64_MAX ||
	    bytes > INT64_MAX - dd->seek)
		return refuse(error, "%s", "count is too large");
	return true;
}

bool lab_workload_dd_write(char **argv, const struct lab_surroundings *around, struct sim_workload *workload,
			   GError **error)
{
	struct dd_write dd = { .block = 512 };
	struct sim_job *job;
	const char *name;

	for (guint i = 1; argv[i]; i++)
		if (!parse_operand(argv[i], &dd, error))
			return false;
	if (!settle(&dd, around, error))
		return false;
	name = lab_share_name(dd.target, around, sizeof(job->write.file), error);
	job = name ? lab_job_append(workload, SIM_JOB_WRITE, error) : NULL;
	if (!job)
		return false;
	g_strlcpy(job->write.file, name, sizeof(job->write.file));
	job->write.block_bytes = dd.block;
	job->write.count = dd.count;
	job->write.seek_bytes = dd.seek;
	job->write.truncate = !dd.keeps && !dd.seek;
	job->write.direct = dd.direct;
	job->write.sync_each = dd.sync_each;
	job->write.sync_end = dd.sync_end;
	return true;
}
