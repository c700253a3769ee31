/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/text.h"

#include <math.h>
#include <string.h>

/* Only zeros behind the sign: "-0.00" says no more than "0.00". */
static void drop_sign_of_zero(char *text)
{
	if (text[0] == '-' && strspn(text + 1, "0.") == strlen(text + 1))
		memmove(text, text + 1, strlen(text));
}

static char *format(const char *with, double number)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE + 330]; /* %.9f of DBL_MAX fits */

	if (!isfinite(number))
		return g_strdup("");
	g_ascii_formatd(text, sizeof(text), with, number);
	drop_sign_of_zero(text);
	return g_strdup(text);
}

char *report_fixed(double number, int decimals)
{
	char with[16];

	g_snprintf(with, sizeof(with), "%%.%df", CLAMP(decimals, 0, 9));
	return format(with, number);
}

char *report_shortest(double number)
{
	return format("%.10g", number);
}

char *report_MBps(double MBps)
{
	double size = fabs(MBps);

	return report_fixed(MBps, size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
}

char *report_percent(double percent)
{
	g_autofree char *number = report_fixed(percent, 1);
	bool positive = number[0] != '-' && strcmp(number, "0.0") != 0 && number[0] != '\0';

	return number[0] ? g_strdup_printf("%s%s %%", positive ? "+" : "", number) : g_strdup("");
}

struct unit {
	double size;
	const char *name;
};

static char *with_unit(double number, const struct unit *units, size_t count)
{
	size_t i = 0;

	while (i + 1 < count && fabs(number) < units[i].size * (1 - 1e-9))
		i++;
	g_autofree char *text = format("%.4g", number / units[i].size);
	return g_strdup_printf("%s %s", text, units[i].name);
}

char *report_bytes(double bytes)
{
	static const struct unit units[] = {
		{ 1099511627776.0, "TiB" },
		{ 1073741824.0, "GiB" },
		{ 1048576.0, "MiB" },
		{ 1024.0, "KiB" },
		{ 1.0, "B" },
	};

	return with_unit(bytes, units, G_N_ELEMENTS(units));
}

char *report_seconds(double seconds)
{
	static const struct unit units[] = { { 1.0, "s" }, { 1e-3, "ms" }, { 1e-6, "µs" }, { 1e-9, "ns" } };

	if (seconds == 0)
		return g_strdup("0 ms");
	return with_unit(seconds, units, G_N_ELEMENTS(units));
}

char *report_bitrate(double bits_per_second)
{
	static const struct unit units[] = {
		{ 1e9, "Gbit/s" }, { 1e6, "Mbit/s" }, { 1e3, "kbit/s" }, { 1.0, "bit/s" }
	};

	return with_unit(bits_per_second, units, G_N_ELEMENTS(units));
}

static bool is_control(gunichar c)
{
	bool direction = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);

	return (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7f && c <= 0x9f) || c == 0xfffe || c == 0xffff ||
	       direction;
}

char *report_clean(const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);
	GString *clean = g_string_sized_new(strlen(valid));

	for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);

		g_string_append_unichar(clean, is_control(c) ? 0xfffd : c);
	}
	return g_string_free(clean, FALSE);
}

char *report_one_line(const char *text, glong max)
{
	char *clean = report_clean(text);

	g_strdelimit(clean, "\t\n", ' ');
	if (g_utf8_strlen(clean, -1) > max && max > 0) {
		g_autofree char *whole = clean;
		g_autofree char *head = g_utf8_substring(whole, 0, max - 1);

		clean = g_strconcat(head, "…", NULL);
	}
	return clean;
}

void report_markup(GString *out, const char *text)
{
	g_autofree char *clean = report_clean(text);
	g_autofree char *escaped = g_markup_escape_text(clean, -1);

	g_string_append(out, escaped);
}

#define PLOT_TEXT_MAX 60 /* fits the width of a panel */

char *report_gnuplot_string(const char *text)
{
	g_autofree char *line = report_one_line(text, PLOT_TEXT_MAX);
	g_auto(GStrv) parts = g_strsplit(line, "'", -1);
	/* Single quotes let nothing else through: no escape, macro or command. gnuplot 5.4 stumbles over ''''''. */
	g_autofree char *typographic = g_strjoinv("’", parts);

	return g_strdup_printf("'%s'", typographic);
}

char *report_gnuplot_tic(const char *text)
{
	g_autofree char *quoted = report_gnuplot_string(text);
	g_auto(GStrv) parts = g_strsplit(quoted, "%", -1);

	return g_strjoinv("%%", parts);
}

char *report_dot_string(const char *text)
{
	g_autofree char *clean = report_clean(text);
	GString *out = g_string_new("\"");

	for (const char *at = clean; *at; at++) {
		if (*at == '"' || *at == '\\')
			g_string_append_printf(out, "\\%c", *at);
		else if (*at == '\n')
			g_string_append(out, "\\n");
		else if (*at == '&') /* dot reads entities in labels */
			g_string_append(out, "&amp;");
		else
			g_string_append_c(out, *at);
	}
	g_string_append_c(out, '"');
	return g_string_free(out, FALSE);
}

char *report_file_part(const char *text)
{
	char *part = g_strdup(text ? text : "");

	return g_strcanon(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", '-');
}

glong report_width(const char *text)
{
	glong width = 0;

	for (const char *at = text; *at; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);

		width += g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
	}
	return width;
}
