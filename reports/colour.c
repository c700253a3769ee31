/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Colours that people with colour vision deficiencies can tell apart: Okabe and Ito's for kinds of things, ramps of
 * even lightness for values that have an order. */
#include "reports/plot.h"

#include <math.h>

struct pair {
	const char *light;
	const char *dark;
};

static const struct pair pairs[] = {
	{ REPORT_INK, "#e4e8ee" },   { REPORT_MUTED, "#9aa4b2" },  { REPORT_GRID, "#333a45" },
	{ REPORT_PAPER, "#14181f" }, { REPORT_PANEL, "#1d232c" },  { REPORT_BLUE, "#4aa8e0" },
	{ REPORT_SKY, "#8fd0f7" },   { REPORT_ORANGE, "#f0b429" }, { REPORT_GREEN, "#2fc296" },
	{ REPORT_RED, "#ff8a4c" },   { REPORT_PINK, "#e29cc4" },   { REPORT_GREY, "#535c69" },
};

static const struct pair ramp[REPORT_RAMP_STEPS] = {
	{ "#0d0887", "#7d8bff" }, { "#42049d", "#9a80fb" }, { "#6a00a8", "#b577f0" },
	{ "#900da4", "#cd70dd" }, { "#b12a90", "#e26fc0" }, { "#cb4679", "#f0779c" },
	{ "#e16462", "#f98b78" }, { "#f1844b", "#fda65a" }, { "#f0a020", "#fbcb45" },
};

const char *report_ramp(guint index, guint count)
{
	if (count <= 1)
		return REPORT_BLUE;
	if (count > REPORT_RAMP_STEPS)
		return ramp[index % REPORT_RAMP_STEPS].light;
	return ramp[index * (REPORT_RAMP_STEPS - 1) / (count - 1)].light;
}

static void add_rules(GString *rules, const struct pair *pair)
{
	g_string_append_printf(rules,
			       "svg.plot [stroke=\"%s\"]{stroke:%s}svg.plot [fill=\"%s\"]{fill:%s}"
			       "svg.plot [color=\"%s\"]{color:%s}\n",
			       pair->light, pair->dark, pair->light, pair->dark, pair->light, pair->dark);
}

void report_dark_rules(GString *out)
{
	for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++)
		add_rules(out, &pairs[i]);
	for (size_t i = 0; i < G_N_ELEMENTS(ramp); i++)
		add_rules(out, &ramp[i]);
}

/* Viridis in nine steps, linear between them. */
static const guint viridis[] = { 0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c,
				 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725 };

static guint channel(guint colour, int shift)
{
	return colour >> shift & 0xff;
}

guint report_heat_colour(double share)
{
	double at = CLAMP(share, 0, 1) * (G_N_ELEMENTS(viridis) - 1);
	guint step = MIN((guint)at, (guint)G_N_ELEMENTS(viridis) - 2);
	double part = at - step;
	guint colour = 0;

	for (int shift = 0; shift <= 16; shift += 8) {
		double from = channel(viridis[step], shift), to = channel(viridis[step + 1], shift);

		colour |= (guint)lround(from + (to - from) * part) << shift;
	}
	return colour;
}

guint report_heat_text_colour(double share)
{
	return share < 0.55 ? 0xfefefe : 0x101010;
}
