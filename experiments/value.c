/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/value.h"

#include <errno.h>
#include <math.h>
#include <string.h>

GQuark lab_error_quark(void)
{
	return g_quark_from_static_string("lab-error-quark");
}

bool lab_refuse(GError **error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (error)
		*error = g_error_new_valist(LAB_ERROR, LAB_ERROR_USAGE, format, arguments);
	va_end(arguments);
	return false;
}

int lab_exit_code(const GError *error)
{
	if (!error)
		return 0;
	if (error->domain == G_OPTION_ERROR)
		return 2;
	if (error->domain != LAB_ERROR)
		return 3;
	switch ((enum lab_error)error->code) {
	case LAB_ERROR_USAGE:
	case LAB_ERROR_IMPOSSIBLE:
		return 2;
	case LAB_ERROR_ENVIRONMENT:
		return 3;
	case LAB_ERROR_INTERRUPTED:
		return 130;
	}
	return 3;
}

struct unit {
	const char *name;
	double factor;
};

#define KI 1024.0
static const struct unit size_units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", KI },
	{ "M", KI *KI },
	{ "G", KI *KI *KI },
	{ "T", KI *KI *KI *KI },
	{ "KiB", KI },
	{ "MiB", KI *KI },
	{ "GiB", KI *KI *KI },
	{ "TiB", KI *KI *KI *KI },
	{ NULL, 0 },
};
static const struct unit time_units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 } };
static const struct unit rate_units[] = {
	{ "bit", 1 }, { "Kbit", 1e3 }, { "Mbit", 1e6 }, { "Gbit", 1e9 }, { NULL, 0 }
};
static const struct unit no_units[] = { { "", 1 }, { NULL, 0 } };

static const struct {
	const struct unit *units;
	const char *tells;
} types[] = {
	[LAB_TEXT] = { NULL, "text" },
	[LAB_CHOICE] = { NULL, "one of the words listed" },
	[LAB_BOOL] = { NULL, "true or false" },
	[LAB_COUNT] = { no_units, "whole number" },
	[LAB_NUMBER] = { no_units, "number" },
	[LAB_SIZE] = { size_units, "size: bytes, or with K, M, G, T (powers of 1024)" },
	[LAB_TIME] = { time_units, "time: with ns, us, ms or s" },
	[LAB_RATE] = { rate_units, "rate: with bit, Kbit, Mbit or Gbit (powers of 1000) per second" },
};

const char *lab_type_tells(enum lab_type type)
{
	return types[type].tells;
}

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcmp(units->name, name))
			return units;
	return NULL;
}

static bool refuse(GError **error, const char *text, const char *why, enum lab_type type)
{
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "'%s' %s (%s)", text, why, types[type].tells);
	return false;
}

/* Only plain decimals: strtod alone would also take "inf", "nan", "0x10" and "1e9". */
static size_t decimal_length(const char *text)
{
	size_t length = strspn(text, "0123456789");
	size_t fraction = 0;

	if (text[length] == '.') {
		fraction = strspn(text + length + 1, "0123456789");
		if (length + fraction == 0)
			return 0;
		fraction++;
	}
	return length + fraction;
}

bool lab_number_parse(enum lab_type type, const char *text, double *number, GError **error)
{
	const struct unit *units = types[type].units;
	g_autofree char *digits = NULL;
	const char *name;
	const struct unit *unit;
	size_t length;

	g_assert(units);
	if (text[0] == '-')
		return refuse(error, text, "is negative", type);
	length = decimal_length(text);
	if (length == 0)
		return refuse(error, text, text[0] ? "is not a number" : "is empty", type);
	digits = g_strndup(text, length);
	*number = g_ascii_strtod(digits, NULL);
	name = text + length + strspn(text + length, " ");
	if (*name == '\0' && *number == 0)
		return true;
	unit = unit_find(units, name);
	if (!unit && (*name == 'e' || *name == 'E') && name[1] && strchr("+-0123456789", name[1]))
		return refuse(error, text, "has an exponent: write it out as a plain decimal", type);
	if (!unit && strchr(name, '#'))
		return refuse(error, text, "has a comment behind it: comments stand on lines of their own", type);
	if (!unit)
		return refuse(error, text, *name ? "has an unknown unit" : "needs a unit", type);
	*number *= unit->factor;
	return true;
}

bool lab_whole_parse(enum lab_type type, const char *text, uint64_t *whole, GError **error)
{
	double number;

	if (!lab_number_parse(type, text, &number, error))
		return false;
	if (number > 9007199254740992.0)
		return refuse(error, text, "is too large", type);
	/* 0.3us is 300 ns although the product of doubles is a hair beside it */
	if (fabs(number - round(number)) > 1e-9 * fmax(1, number))
		return refuse(error, text, "is not whole in its base unit", type);
	*whole = (uint64_t)llround(number);
	return true;
}

bool lab_bool_parse(const char *text, bool *value, GError **error)
{
	static const char *const words[] = { "false", "true", "off", "on", "no", "yes", "0", "1" };

	for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
		if (!strcmp(text, words[i])) {
			*value = i % 2;
			return true;
		}
	}
	return refuse(error, text, "is neither true nor false", LAB_BOOL);
}

char *lab_double_format(double number)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	for (int digits = 6; digits <= 17; digits++) {
		char format[8];

		g_snprintf(format, sizeof(format), "%%.%dg", digits);
		g_ascii_formatd(text, sizeof(text), format, number);
		if (g_ascii_strtod(text, NULL) == number && !strchr(text, 'e'))
			return g_strdup(text);
	}
	/* very large or very small: plain decimals, since the parser takes no exponent */
	g_ascii_formatd(text, sizeof(text), number >= 1 ? "%.0f" : "%.20f", number);
	return g_strdup(text);
}

/* The units that canonical text uses, largest first. */
static const char *const canonical[][5] = {
	[LAB_SIZE] = { "T", "G", "M", "K", "" },
	[LAB_TIME] = { "s", "ms", "us", "ns", NULL },
	[LAB_RATE] = { "Gbit", "Mbit", "Kbit", "bit", NULL },
};

char *lab_whole_format(enum lab_type type, uint64_t whole)
{
	if (whole == 0 || type < LAB_SIZE)
		return g_strdup_printf("%" G_GUINT64_FORMAT, whole);
	for (guint i = 0; i < 5 && canonical[type][i]; i++) {
		const struct unit *unit = unit_find(types[type].units, canonical[type][i]);
		uint64_t factor = (uint64_t)unit->factor;

		if (whole % factor == 0)
			return g_strdup_printf("%" G_GUINT64_FORMAT "%s", whole / factor, unit->name);
	}
	g_assert_not_reached();
}

char *lab_number_format(enum lab_type type, double number)
{
	g_autofree char *digits = NULL;

	if (number == floor(number) && number < 9007199254740992.0)
		return lab_whole_format(type, (uint64_t)number);
	digits = lab_double_format(number);
	return g_strconcat(digits, type == LAB_TIME ? "ns" : type == LAB_RATE ? "bit" : "", NULL);
}
