/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/workload.h"

#include <string.h>

/* Suffixes of dd(1), GNU coreutils: after them an 'x' and another number may follow, for the product. */
static const struct {
	const char *suffix;
	uint64_t factor;
} suffixes[] = {
	/* longer ones first: "MB" before "M" */
	{ "KiB", 1ull << 10 },
	{ "MiB", 1ull << 20 },
	{ "GiB", 1ull << 30 },
	{ "TiB", 1ull << 40 },
	{ "kB", 1000 },
	{ "KB", 1000 },
	{ "MB", 1000000 },
	{ "GB", 1000000000 },
	{ "TB", 1000000000000 },
	{ "xM", 1ull << 20 },
	{ "c", 1 },
	{ "w", 2 },
	{ "b", 512 },
	{ "k", 1ull << 10 },
	{ "K", 1ull << 10 },
	{ "M", 1ull << 20 },
	{ "G", 1ull << 30 },
	{ "T", 1ull << 40 },
};

static bool bad_number(const char *text, GError **error)
{
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "invalid number: '%s'", text);
	return false;
}

static bool multiply(uint64_t *number, uint64_t factor)
{
	return !__builtin_mul_overflow(*number, factor, number) && *number <= INT64_MAX;
}

bool lab_dd_number_parse(const char *text, uint64_t *number, GError **error)
{
	const char *at = text;

	*number = 1;
	for (;;) {
		char *end;

		if (!g_ascii_isdigit(*at) || !multiply(number, g_ascii_strtoull(at, &end, 10)))
			return bad_number(text, error);
		at = end;
		for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
			if (!g_str_has_prefix(at, suffixes[i].suffix))
				continue;
			if (!multiply(number, suffixes[i].factor))
				return bad_number(text, error);
			at += strlen(suffixes[i].suffix);
			break;
		}
		if (*at == '\0')
			return true;
		if (*at++ != 'x')
			return bad_number(text, error);
	}
}

struct dd {
	const char *file;
	uint64_t block, count, skip;
	bool has_count, count_is_bytes, skip_is_bytes, direct;
};

/* Operands that change nothing of what is read from the share. */
static const char *const harmless[] = { "of", "obs", "conv", "oflag", "status", "seek", "oseek" };
static const char *const harmless_flags[] = { "fullblock", "noatime", "nonblock", "sync", "dsync", "binary", "text" };

static bool listed(const char *word, const char *const *list, guint count)
{
	for (guint i = 0; i < count; i++)
		if (!strcmp(word, list[i]))
			return true;
	return false;
}

/* count=8B is 8 bytes (coreutils 9.1); of other suffixes B is a part ("MB"). */
bool lab_dd_amount_parse(const char *text, uint64_t *amount, bool *is_bytes, GError **error)
{
	size_t length = strlen(text);
	g_autofree char *digits = g_strdup(text);

	if (length > 1 && text[length - 1] == 'B' && g_ascii_isdigit(text[length - 2])) {
		digits[length - 1] = '\0';
		*is_bytes = true;
	}
	return lab_dd_number_parse(digits, amount, error);
}

static bool parse_flags(const char *text, struct dd *dd, GError **error)
{
	g_auto(GStrv) flags = g_strsplit(text, ",", -1);

	for (guint i = 0; flags[i]; i++) {
		if (!strcmp(flags[i], "direct")) {
			dd->direct = true;
		} else if (!strcmp(flags[i], "count_bytes")) {
			dd->count_is_bytes = true;
		} else if (!strcmp(flags[i], "skip_bytes")) {
			dd->skip_is_bytes = true;
		} else if (!listed(flags[i], harmless_flags, G_N_ELEMENTS(harmless_flags))) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "invalid input flag: '%s'", flags[i]);
			return false;
		}
	}
	return true;
}

static bool parse_operand(const char *word, struct dd *dd, bool *bs_given, GError **error)
{
	const char *value = strchr(word, '=');
	g_autofree char *name = value ? g_strndup(word, (gsize)(value - word)) : NULL;
	uint64_t overridden;

	if (!value) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "unrecognized operand '%s'", word);
		return false;
	}
	value++;
	if (!strcmp(name, "if")) {
		dd->file = value;
	} else if (!strcmp(name, "bs")) {
		*bs_given = true; /* "overrides ibs and obs" */
		return lab_dd_number_parse(value, &dd->block, error);
	} else if (!strcmp(name, "ibs")) {
		return lab_dd_number_parse(value, *bs_given ? &overridden : &dd->block, error);
	} else if (!strcmp(name, "count")) {
		dd->has_count = true;
		return lab_dd_amount_parse(value, &dd->count, &dd->count_is_bytes, error);
	} else if (!strcmp(name, "skip") || !strcmp(name, "iseek")) {
		return lab_dd_amount_parse(value, &dd->skip, &dd->skip_is_bytes, error);
	} else if (!strcmp(name, "iflag")) {
		return parse_flags(value, dd, error);
	} else if (!listed(name, harmless, G_N_ELEMENTS(harmless))) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "unrecognized operand '%s'", word);
		return false;
	}
	return true;
}

static bool refuse(GError **error, const char *why)
{
	g_set_error_literal(error, LAB_ERROR, LAB_ERROR_USAGE, why);
	return false;
}

/* From blocks to bytes; also everything that dd would do and that reads nothing, or only a part of a block. */
static bool settle(struct dd *dd, GError **error)
{
	if (!dd->file)
		return refuse(error, "if= is missing, and of= is not on the share");
	if (dd->block == 0 || dd->block > (1ull << 31))
		return refuse(error, "the block size must be 1 byte to 2 GiB");
	if (dd->has_count && dd->count == 0)
		return refuse(error, "count=0 reads nothing");
	if (dd->has_count && dd->count_is_bytes) {
		if (dd->count % dd->block)
			return refuse(error, "a count in bytes must be a multiple of the block size here");
		dd->count /= dd->block;
	}
	if (!dd->skip_is_bytes && !multiply(&dd->skip, dd->block))
		return refuse(error, "skip is too large");
	return true;
}

bool lab_workload_dd(char **argv, const struct lab_surroundings *around, struct sim_workload *workload, GError **error)
{
	struct dd dd = { .block = 512 };
	struct sim_read_job *job;
	bool bs_given = false;
	uint64_t needed;

	if (lab_dd_writes(argv, around))
		return lab_workload_dd_write(argv, around, workload, error);
	for (guint i = 1; argv[i]; i++)
		if (!parse_operand(argv[i], &dd, &bs_given, error))
			return false;
	if (!settle(&dd, error))
		return false;
	job = lab_job_add(workload, dd.file, around, error);
	if (!job)
		return false;
	job->block_bytes = dd.block;
	job->count = dd.count;
	job->skip_bytes = dd.skip;
	job->direct = dd.direct;
	needed = dd.count;
	if (!multiply(&needed, dd.block) || needed + dd.skip > INT64_MAX)
		return refuse(error, "count is too large");
	return lab_job_size(job, around, dd.has_count ? needed + dd.skip : 0, error);
}
