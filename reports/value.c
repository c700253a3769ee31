/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/value.h"

#include "reports/text.h"

#include <math.h>
#include <string.h>

static const struct {
	const char *suffix;
	enum report_kind kind;
	double size;
} suffixes[] = {
	{ "", REPORT_KIND_NUMBER, 1 },
	{ "ns", REPORT_KIND_SECONDS, 1e-9 },
	{ "us", REPORT_KIND_SECONDS, 1e-6 },
	{ "µs", REPORT_KIND_SECONDS, 1e-6 },
	{ "ms", REPORT_KIND_SECONDS, 1e-3 },
	{ "s", REPORT_KIND_SECONDS, 1 },
	{ "min", REPORT_KIND_SECONDS, 60 },
	{ "B", REPORT_KIND_BYTES, 1 },
	{ "K", REPORT_KIND_BYTES, 1024.0 },
	{ "KiB", REPORT_KIND_BYTES, 1024.0 },
	{ "M", REPORT_KIND_BYTES, 1048576.0 },
	{ "MiB", REPORT_KIND_BYTES, 1048576.0 },
	{ "G", REPORT_KIND_BYTES, 1073741824.0 },
	{ "GiB", REPORT_KIND_BYTES, 1073741824.0 },
	{ "bit", REPORT_KIND_BITRATE, 1 },
	{ "Kbit", REPORT_KIND_BITRATE, 1e3 },
	{ "Mbit", REPORT_KIND_BITRATE, 1e6 },
	{ "Gbit", REPORT_KIND_BITRATE, 1e9 },
};

static const char *key_of(const char *column)
{
	const char *dot = strrchr(column, '.');

	return dot ? dot + 1 : column;
}

static bool is_size_column(const char *column)
{
	static const char *const sizes[] = { "rasize", "rsize", "wsize", "bsize", "page_size" };
	const char *key = key_of(column);

	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
		if (strcmp(key, sizes[i]) == 0)
			return true;
	return g_str_has_suffix(key, "_bytes");
}

/* Versions look like numbers: 6.12 is behind 6.4. */
static bool is_version_column(const char *column)
{
	const char *key = key_of(column);

	return strcmp(key, "kernel") == 0 || strcmp(key, "vers") == 0;
}

enum report_kind report_value_parse(const char *column, const char *text, double *quantity)
{
	char *end;
	double number;

	*quantity = 0;
	if (!g_ascii_isdigit(text[0]) || is_version_column(column))
		return REPORT_KIND_NAME;
	number = g_ascii_strtod(text, &end);
	if (!isfinite(number))
		return REPORT_KIND_NAME;
	while (*end == ' ')
		end++;
	for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		if (g_ascii_strcasecmp(end, suffixes[i].suffix) != 0)
			continue;
		*quantity = number * suffixes[i].size;
		if (suffixes[i].kind == REPORT_KIND_NUMBER && is_size_column(column))
			return REPORT_KIND_BYTES;
		return suffixes[i].kind;
	}
	return REPORT_KIND_NAME;
}

char *report_quantity(enum report_kind kind, double quantity)
{
	switch (kind) {
	case REPORT_KIND_BYTES:
		return report_bytes(quantity);
	case REPORT_KIND_SECONDS:
		return report_seconds(quantity);
	case REPORT_KIND_BITRATE:
		return report_bitrate(quantity);
	case REPORT_KIND_NUMBER:
	case REPORT_KIND_NAME:
		break;
	}
	return report_shortest(quantity);
}

char *report_value_pretty(const char *column, const char *text)
{
	double quantity;
	enum report_kind kind = report_value_parse(column, text, &quantity);

	if (kind == REPORT_KIND_NAME || kind == REPORT_KIND_NUMBER)
		return report_one_line(text, 60);
	return report_quantity(kind, quantity);
}

char *report_column_pretty(const char *column)
{
	static const char *const names[][2] = {
		{ "network.rtt", "RTT" },
		{ "network.rate", "link rate" },
		{ "network.nics", "NICs" },
		{ "server.profile", "server" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (strcmp(column, names[i][0]) == 0)
			return g_strdup(names[i][1]);
	return report_one_line(key_of(column), 40);
}
