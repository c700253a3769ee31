/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* trace.txt: one line per step. */

#include "reports/kit/kit.h"

static void tell_sent(const struct kit_walk *walk, guint step, enum model_direction direction, GString *line)
{
	bool is_first = true;

	for (guint i = 0; i < walk->pdus->len; i++) {
		const struct kit_pdu *pdu = walk->pdus->pdata[i];

		if (pdu->sent != (int)step || pdu->direction != direction)
			continue;
		if (is_first)
			g_string_append_printf(line, "; the %s sends",
					       direction == MODEL_TO_SERVER ? "client" : "server");
		g_string_append_printf(line, " %s", pdu->text);
		if (pdu->channel)
			g_string_append_printf(line, " on channel %u", pdu->channel);
		is_first = false;
	}
}

static void tell_lost(const struct kit_walk *walk, guint step, GString *line)
{
	for (guint i = 0; i < walk->events->len; i++) {
		const struct kit_event *event = &g_array_index(walk->events, struct kit_event, i);

		if (event->step == (int)step && event->kind == KIT_CLOSED)
			g_string_append_printf(line, "; the client closes channel %u", event->channel);
	}
}

char *kit_step_line(const struct kit_walk *walk, guint step)
{
	const struct kit_step *at = walk->steps->pdata[step];
	GString *line = g_string_new(at->told);

	tell_sent(walk, step, MODEL_TO_SERVER, line);
	tell_sent(walk, step, MODEL_TO_CLIENT, line);
	tell_lost(walk, step, line);
	return g_string_free(line, FALSE);
}

char *kit_last_line(const struct kit_walk *walk)
{
	if (!walk->is_broken)
		return g_strdup("no rule is broken");
	return g_strdup_printf("%s is broken: %s", walk->found.rule, walk->found.text);
}

char *kit_repeats_line(const struct kit_walk *walk)
{
	const struct kit_step *first, *end;

	if (!walk->goes_round)
		return NULL;
	first = walk->steps->pdata[walk->repeats_from];
	end = walk->steps->pdata[walk->steps->len - 1];
	return g_strdup_printf("from here it repeats: steps %s to %s end where they begin, MessageIds aside",
			       first->name, end->name);
}

GString *kit_trace(const struct kit_walk *walk, const struct kit_origin *origin)
{
	g_autofree char *last = kit_last_line(walk), *repeats = kit_repeats_line(walk);
	GString *out = g_string_new(NULL);

	g_string_append_printf(out, "# %s, smblab %s\n# credits: ordinary + echo + oplock break\n", origin->config,
			       origin->program);
	for (guint i = 0; i < walk->steps->len; i++) {
		const struct kit_step *step = walk->steps->pdata[i];
		g_autofree char *line = kit_step_line(walk, i);

		g_string_append_printf(out, "%4s. %s", step->name, line);
		if (*step->numbers)
			g_string_append_printf(out, "  || %s", step->numbers);
		g_string_append_c(out, '\n');
	}
	if (repeats)
		g_string_append_printf(out, "%s\n", repeats);
	if (walk->is_broken)
		g_string_append_printf(out, "instead: %s\n", kit_instead_of(walk));
	g_string_append_printf(out, "%s\n", last);
	return out;
}
