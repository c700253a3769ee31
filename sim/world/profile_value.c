/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/world/profile_value.h"

#include "protocol/wire/smb2.h"
#include "sim/world/profile.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct word {
	const char *name;
	uint32_t value;
};

static const struct word dialects[] = {
	{ "2.0.2", SMB2_DIALECT_202 }, { "2.1", SMB2_DIALECT_210 },   { "3.0", SMB2_DIALECT_300 },
	{ "3.0.2", SMB2_DIALECT_302 }, { "3.1.1", SMB2_DIALECT_311 },
};
static const struct word capabilities[] = {
	{ "dfs", SMB2_GLOBAL_CAP_DFS },
	{ "leasing", SMB2_GLOBAL_CAP_LEASING },
	{ "large_mtu", SMB2_GLOBAL_CAP_LARGE_MTU },
	{ "multi_channel", SMB2_GLOBAL_CAP_MULTI_CHANNEL },
	{ "persistent_handles", SMB2_GLOBAL_CAP_PERSISTENT_HANDLES },
	{ "directory_leasing", SMB2_GLOBAL_CAP_DIRECTORY_LEASING },
	{ "encryption", SMB2_GLOBAL_CAP_ENCRYPTION },
};
static const struct word interims[] = {
	{ "never", SMB_INTERIM_NEVER },
	{ "always", SMB_INTERIM_ALWAYS },
	{ "after", SMB_INTERIM_AFTER },
};
static const struct word byte_units[] = { { "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 } };
static const struct word time_units[] = {
	{ "", 1 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
};
static const struct word rate_units[] = {
	{ "", 1 }, { "bit", 1 }, { "Kbit", 1000 }, { "Mbit", 1000000 }, { "Gbit", 1000000000 }
};

/* The position of something in a file, for messages. */
static bool refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool refuse(GError **error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	*error = g_error_new_valist(SIM_PROFILE_ERROR, SIM_PROFILE_ERROR_VALUE, format, arguments);
	va_end(arguments);
	return false;
}

static bool find_word(const struct word *words, guint count, const char *text, uint32_t *value)
{
	for (guint i = 0; i < count; i++) {
		if (g_ascii_strcasecmp(words[i].name, text) == 0) {
			*value = words[i].value;
			return true;
		}
	}
	return false;
}

static char *list_words(const struct word *words, guint count)
{
	GString *list = g_string_new(NULL);

	for (guint i = 0; i < count; i++) {
		if (*words[i].name)
			g_string_append_printf(list, "%s%s", list->len ? ", " : "", words[i].name);
	}
	return g_string_free(list, FALSE);
}

static bool parse_word(const struct word *words, guint count, const char *text, uint32_t *value, GError **error)
{
	if (find_word(words, count, text, value))
		return true;
	g_autofree char *known = list_words(words, count);
	return refuse(error, "known are %s", known);
}

static bool parse_capabilities(const char *text, uint32_t *value, GError **error)
{
	g_auto(GStrv) names = g_strsplit(text, ";", -1);

	*value = 0;
	for (guint i = 0; names[i]; i++) {
		uint32_t bit = 0;
		if (!*g_strstrip(names[i]))
			continue;
		if (!parse_word(capabilities, G_N_ELEMENTS(capabilities), names[i], &bit, error))
			return false;
		*value |= bit;
	}
	return true;
}

/* A number with one of the units. */
static bool parse_number(const struct word *units, guint count, const char *text, double *value, GError **error)
{
	char *end = NULL;
	uint32_t factor;

	errno = 0;
	*value = g_ascii_strtod(text, &end);
	if (end == text || errno || !isfinite(*value))
		return refuse(error, "not a number");
	if (*value < 0)
		return refuse(error, "negative");
	if (!find_word(units, count, g_strchug(end), &factor)) {
		g_autofree char *known = list_words(units, count);
		return refuse(error, "unknown unit \"%s\"%s%s", end, *known ? ", known are " : "", known);
	}
	*value *= factor;
	return true;
}

static bool store_whole(gsize size, double value, void *field, GError **error)
{
	double max = size == 2 ? UINT16_MAX : size == 4 ? UINT32_MAX : 9007199254740992.0;

	if (value > max)
		return refuse(error, "larger than %.0f", max);
	if (fabs(value - round(value)) > 1e-6 * MAX(1, value))
		return refuse(error, "not a whole number");
	if (size == 2)
		*(uint16_t *)field = (uint16_t)llround(value);
	else if (size == 4)
		*(uint32_t *)field = (uint32_t)llround(value);
	else
		*(uint64_t *)field = (uint64_t)llround(value);
	return true;
}

static bool parse_units(enum sim_profile_kind kind, const char *text, double *value, GError **error)
{
	switch (kind) {
	case SIM_PROFILE_BYTES:
	case SIM_PROFILE_SPEED:
		return parse_number(byte_units, G_N_ELEMENTS(byte_units), text, value, error);
	case SIM_PROFILE_TIME:
	case SIM_PROFILE_COST:
		return parse_number(time_units, G_N_ELEMENTS(time_units), text, value, error);
	case SIM_PROFILE_RATE:
		return parse_number(rate_units, G_N_ELEMENTS(rate_units), text, value, error);
	default:
		return parse_number(byte_units, 1, text, value, error);
	}
}

static bool value_is_double(enum sim_profile_kind kind)
{
	return kind == SIM_PROFILE_COST || kind == SIM_PROFILE_SPEED;
}

bool sim_profile_value_parse(enum sim_profile_kind kind, gsize size, const char *text, void *field, GError **error)
{
	uint32_t word = 0;
	double value;
	bool ok;

	switch (kind) {
	case SIM_PROFILE_DIALECT:
		ok = parse_word(dialects, G_N_ELEMENTS(dialects), text, &word, error);
		break;
	case SIM_PROFILE_INTERIM:
		ok = parse_word(interims, G_N_ELEMENTS(interims), text, &word, error);
		break;
	case SIM_PROFILE_CAPABILITIES:
		ok = parse_capabilities(text, &word, error);
		break;
	default:
		if (!parse_units(kind, text, &value, error))
			return false;
		if (!value_is_double(kind))
			return store_whole(size, value, field, error);
		*(double *)field = value;
		return true;
	}
	return ok && store_whole(size, word, field, error);
}

static const char *word_name(const struct word *words, guint count, uint32_t value)
{
	for (guint i = 0; i < count; i++) {
		if (words[i].value == value)
			return words[i].name;
	}
	g_return_val_if_reached("");
}

static char *print_capabilities(uint32_t value)
{
	GString *list = g_string_new(NULL);

	for (guint i = 0; i < G_N_ELEMENTS(capabilities); i++) {
		if (value & capabilities[i].value)
			g_string_append_printf(list, "%s%s", list->len ? ";" : "", capabilities[i].name);
	}
	return g_string_free(list, FALSE);
}

char *sim_profile_value_print(enum sim_profile_kind kind, gsize size, const void *field)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE];

	if (value_is_double(kind))
		return g_strdup(g_ascii_dtostr(number, sizeof(number), *(const double *)field));
	uint64_t whole = size == 2   ? *(const uint16_t *)field
			 : size == 4 ? *(const uint32_t *)field
				     : *(const uint64_t *)field;
	if (kind == SIM_PROFILE_DIALECT)
		return g_strdup(word_name(dialects, G_N_ELEMENTS(dialects), (uint32_t)whole));
	if (kind == SIM_PROFILE_INTERIM)
		return g_strdup(word_name(interims, G_N_ELEMENTS(interims), (uint32_t)whole));
	if (kind == SIM_PROFILE_CAPABILITIES)
		return print_capabilities((uint32_t)whole);
	return g_strdup_printf("%" G_GUINT64_FORMAT, whole);
}
