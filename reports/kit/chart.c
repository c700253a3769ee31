/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* trace.svg: time runs down, the client on the left, the server on the right, an arrow for each PDU. */

#include "reports/kit/kit.h"
#include "reports/plot.h"
#include "reports/text.h"

#include <string.h>

#define WIDTH 1480
#define CLIENT_X 480.0 /* the lifelines */
#define SERVER_X 1240.0
#define ROW 26.0
#define TOP 70.0
#define WORDS_MAX 52
#define LABEL_MAX 100
#define BRACKET_X 4.0

struct chart {
	const struct kit_walk *walk;
	GString *svg;
	guint *row_of_step; /* where each step begins; one more at the end */
	guint *row_of_pdu; /* where each is sent */
};

static const char *colour_of(const struct chart *chart, const struct kit_pdu *pdu)
{
	static const char *const colours[MODEL_CHANNELS_MAX] = { REPORT_BLUE, REPORT_GREEN, REPORT_PINK,
								 REPORT_ORANGE };

	return pdu == chart->walk->offending ? REPORT_RED : colours[pdu->channel];
}

static double y_of(guint row)
{
	return TOP + ROW * row;
}

/* Each step takes a row, and each PDU that it sends beyond the first another one. */
static guint lay_out(struct chart *chart)
{
	const struct kit_walk *walk = chart->walk;
	guint row = 0, pdu = 0;

	for (guint i = 0; i < walk->steps->len; i++) {
		guint sent = 0;

		chart->row_of_step[i] = row;
		for (; pdu < walk->pdus->len && ((struct kit_pdu *)walk->pdus->pdata[pdu])->sent == (int)i; pdu++)
			chart->row_of_pdu[pdu] = row + sent++;
		row += MAX(sent, 1);
	}
	chart->row_of_step[walk->steps->len] = row;
	return row;
}

static void put_text(GString *svg, double x, double y, const char *more, const char *text)
{
	g_string_append_printf(svg, "<text x=\"%.0f\" y=\"%.1f\" %s>", x, y, more);
	report_markup(svg, text);
	g_string_append(svg, "</text>\n");
}

static void put_line(GString *svg, double x1, double y1, double x2, double y2)
{
	g_string_append_printf(svg, "<line x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\" ", x1, y1, x2, y2);
}

/* The head of an arrow that points left or right, or a cross where a PDU is lost. */
static void put_head(GString *svg, double x, double y, int way, const char *colour)
{
	if (way)
		g_string_append_printf(svg, "<path d=\"M%.0f %.1fl%d -4v8z\" fill=\"%s\"/>\n", x, y, -9 * way, colour);
	else
		g_string_append_printf(svg,
				       "<path d=\"M%.0f %.1fl10 10m0 -10l-10 10\" stroke=\"%s\" stroke-width=\"2\"/>\n",
				       x - 5, y - 5, colour);
}

static void draw_arrow(struct chart *chart, guint index)
{
	const struct kit_pdu *pdu = chart->walk->pdus->pdata[index];
	bool to_server = pdu->direction == MODEL_TO_SERVER, arrives = pdu->arrived >= 0;
	double from = to_server ? CLIENT_X : SERVER_X, to = to_server ? SERVER_X : CLIENT_X;
	double y = y_of(chart->row_of_pdu[index]), end = y + ROW * 0.7;

	if (arrives)
		end = y_of(chart->row_of_step[pdu->arrived]);
	else
		to = (from + to) / 2;
	put_line(chart->svg, from, y, to, end);
	g_string_append_printf(chart->svg, "stroke=\"%s\" stroke-width=\"%s\"%s/>\n", colour_of(chart, pdu),
			       pdu == chart->walk->offending ? "3" : "1.5", arrives ? "" : " stroke-dasharray=\"6 4\"");
	if (arrives || pdu->arrived == KIT_LOST)
		put_head(chart->svg, to, end, arrives ? (to_server ? 1 : -1) : 0, colour_of(chart, pdu));
}

static void draw_label(struct chart *chart, guint index)
{
	const struct kit_pdu *pdu = chart->walk->pdus->pdata[index];
	bool to_server = pdu->direction == MODEL_TO_SERVER;
	g_autofree char *label = report_one_line(pdu->text, LABEL_MAX);
	g_autofree char *style = g_strdup_printf("class=\"halo\" font-size=\"11\" fill=\"%s\" text-anchor=\"%s\"",
						 colour_of(chart, pdu), to_server ? "start" : "end");

	put_text(chart->svg, to_server ? CLIENT_X + 10 : SERVER_X - 10, y_of(chart->row_of_pdu[index]) - 4, style,
		 label);
}

static void draw_numbers(struct chart *chart, const struct kit_step *step, double y)
{
	g_autoptr(GString) client = g_string_new(NULL), server = g_string_new(NULL);
	bool is_first = true;

	for (guint i = 0; i < MODEL_CHANNELS_MAX; i++) {
		const struct kit_channel *channel = &step->channel[i];

		if (!channel->is_open)
			continue;
		g_string_append_printf(client, "%s%u+%u+%u", is_first ? "" : " | ", channel->credits,
				       channel->credits_echo, channel->credits_oplock);
		g_string_append_printf(server, "%s%u, %" G_GUINT64_FORMAT "+%u", is_first ? "" : " | ",
				       channel->granted, (guint64)channel->window_low, channel->window_length);
		is_first = false;
	}
	put_text(chart->svg, CLIENT_X - 8, y + 4, "font-size=\"11\" fill=\"" REPORT_MUTED "\" text-anchor=\"end\"",
		 client->str);
	put_text(chart->svg, SERVER_X + 8, y + 4, "font-size=\"11\" fill=\"" REPORT_MUTED "\"", server->str);
}

/* What arrives is written beside its arrow. */
static char *short_words(const struct kit_step *step)
{
	bool is_arrival = step->move.kind == MODEL_MOVE_TO_SERVER || step->move.kind == MODEL_MOVE_TO_CLIENT;
	const char *pdu = is_arrival ? strstr(step->told, " [") : NULL;
	g_autofree char *words = g_strndup(step->told, pdu ? (gsize)(pdu - step->told) : strlen(step->told));

	return report_one_line(words, WORDS_MAX);
}

static void draw_step(struct chart *chart, guint index)
{
	const struct kit_step *step = chart->walk->steps->pdata[index];
	bool is_last = index + 1 == chart->walk->steps->len && chart->walk->is_broken;
	double y = y_of(chart->row_of_step[index]);
	g_autofree char *words = short_words(step);
	g_autofree char *text = g_strdup_printf("%s. %s", step->name, words);

	put_text(chart->svg, 12, y + 4,
		 is_last ? "font-size=\"12\" font-weight=\"bold\" fill=\"" REPORT_RED "\""
			 : "font-size=\"12\" fill=\"" REPORT_INK "\"",
		 text);
	draw_numbers(chart, step, y);
}

static void draw_frame(struct chart *chart, double bottom)
{
	GString *svg = chart->svg;
	const double x[] = { CLIENT_X, SERVER_X };

	for (guint i = 0; i < G_N_ELEMENTS(x); i++) {
		put_line(svg, x[i], TOP - ROW, x[i], bottom);
		g_string_append(svg, "stroke=\"" REPORT_MUTED "\" stroke-width=\"1.5\"/>\n");
	}
	put_text(svg, CLIENT_X, 22,
		 "font-size=\"14\" font-weight=\"bold\" fill=\"" REPORT_INK "\" text-anchor=\"middle\"", "client");
	put_text(svg, SERVER_X, 22,
		 "font-size=\"14\" font-weight=\"bold\" fill=\"" REPORT_INK "\" text-anchor=\"middle\"", "server");
	put_text(svg, CLIENT_X, 38, "font-size=\"11\" fill=\"" REPORT_MUTED "\" text-anchor=\"middle\"",
		 "credits + echo + oplock break");
	put_text(svg, SERVER_X, 38, "font-size=\"11\" fill=\"" REPORT_MUTED "\" text-anchor=\"middle\"",
		 "granted, window from + ids");
}

/* Beside the steps that repeat for ever. */
static void draw_circle(struct chart *chart, double bottom)
{
	double top = y_of(chart->row_of_step[chart->walk->repeats_from]) - 9, end = bottom - 4;

	if (!chart->walk->goes_round)
		return;
	g_string_append_printf(
		chart->svg,
		"<path id=\"circle\" d=\"M%.0f %.1fh-4V%.1fh4\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n",
		BRACKET_X + 4, top, end, REPORT_RED);
	put_text(chart->svg, BRACKET_X + 8, end + 4, "font-size=\"11\" fill=\"" REPORT_RED "\"",
		 "from the top of the bracket again");
}

static void draw_end(struct chart *chart, double bottom)
{
	g_autofree char *last = kit_last_line(chart->walk);
	g_autofree char *instead = NULL;

	put_text(chart->svg, 12, bottom + 24, "font-size=\"14\" font-weight=\"bold\" fill=\"" REPORT_RED "\"", last);
	if (!chart->walk->is_broken)
		return;
	instead = g_strdup_printf("instead: %s", kit_instead_of(chart->walk));
	put_text(chart->svg, 12, bottom + 46, "font-size=\"13\" fill=\"" REPORT_INK "\"", instead);
}

static void begin(struct chart *chart, double bottom)
{
	g_string_append_printf(chart->svg,
			       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			       "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" width=\"%d\" height=\"%.0f\" "
			       "viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\">\n<title>",
			       WIDTH, bottom + 64, WIDTH, bottom + 64);
	report_markup(chart->svg, "Sequence of PDUs up to the fault");
	g_string_append(chart->svg,
			"</title>\n<style>.halo{paint-order:stroke;stroke:" REPORT_PAPER ";stroke-width:3px}\n"
			"@media (prefers-color-scheme:dark){\n");
	report_dark_rules(chart->svg);
	g_string_append(chart->svg, ".halo{stroke:#14181f}\n}</style>\n"
				    "<rect width=\"100%\" height=\"100%\" fill=\"" REPORT_PAPER "\"/>\n");
}

GString *kit_chart(const struct kit_walk *walk)
{
	g_autofree guint *row_of_step = g_new0(guint, walk->steps->len + 1);
	g_autofree guint *row_of_pdu = g_new0(guint, walk->pdus->len + 1);
	struct chart chart = {
		.walk = walk,
		.svg = g_string_new(NULL),
		.row_of_step = row_of_step,
		.row_of_pdu = row_of_pdu,
	};
	double bottom = y_of(lay_out(&chart)) + ROW / 2;

	begin(&chart, bottom);
	draw_frame(&chart, bottom);
	for (guint i = 0; i < walk->steps->len; i++)
		draw_step(&chart, i);
	for (guint i = 0; i < walk->pdus->len; i++)
		draw_arrow(&chart, i);
	for (guint i = 0; i < walk->pdus->len; i++)
		draw_label(&chart, i);
	draw_circle(&chart, bottom);
	draw_end(&chart, bottom);
	g_string_append(chart.svg, "</svg>\n");
	return chart.svg;
}
