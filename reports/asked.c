/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was asked, in plain words. */
#include "reports/insight.h"
#include "reports/text.h"

#include <string.h>

#define LISTED_MAX 4

static GPtrArray *distinct_pretty(const struct report_table *table, guint column)
{
	GPtrArray *labels = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < table->rows->len; i++) {
		const struct report_row *row = table->rows->pdata[i];

		if (g_hash_table_add(seen, row->values[column]))
			g_ptr_array_add(labels,
					report_value_pretty(table->columns->pdata[column], row->values[column]));
	}
	return labels;
}

char *report_column_span(const struct report_table *table, const char *column)
{
	guint at = 0;

	while (at < table->columns->len && strcmp(table->columns->pdata[at], column) != 0)
		at++;
	if (at == table->columns->len || !table->rows->len)
		return NULL;
	g_autoptr(GPtrArray) labels = distinct_pretty(table, at);
	GString *span = g_string_new(labels->pdata[0]);

	if (labels->len > LISTED_MAX)
		g_string_append_printf(span, " to %s (%u values)", (char *)labels->pdata[labels->len - 1], labels->len);
	for (guint i = 1; i < labels->len && labels->len <= LISTED_MAX; i++)
		g_string_append_printf(span, "%s%s", i + 1 == labels->len ? " and " : ", ", (char *)labels->pdata[i]);
	return g_string_free(span, FALSE);
}

static const char *first_value(const struct report_table *table, const char *column)
{
	return table->rows->len ? report_row_value(table, table->rows->pdata[0], column) : NULL;
}

static bool is_swept(const struct report_table *table, const char *column)
{
	for (guint i = 0; i < MIN(table->sweep_columns, table->columns->len); i++)
		if (strcmp(table->columns->pdata[i], column) == 0)
			return true;
	return false;
}

/* What was swept is listed at the end of the sentence. */
static void add_span(GString *text, const struct report_table *table, const char *column, const char *with)
{
	g_autofree char *span = report_column_span(table, column);

	if (span && !is_swept(table, column))
		g_string_append_printf(text, with, span);
}

char *report_asked(const struct report_sweep *sweep)
{
	const struct report_table *table = sweep->table;
	GString *text = g_string_new(NULL);
	const char *command = first_value(table, "workload.command");
	static const char *const questions[REPORT_QUANTITIES] = {
		[REPORT_THROUGHPUT] = "How fast is",
		[REPORT_PAIRS] = "How many round trips does it take to run",
		[REPORT_COMMAND_TIME] = "How long does it take to run",
	};

	g_string_append_printf(text, "%s ", questions[table->quantity]);
	if (command && !is_swept(table, "workload.command")) {
		g_autofree char *line = report_one_line(command, 200);

		g_string_append_printf(text, "“%s”", line);
	} else {
		g_string_append(text, command ? "each of several commands" : "the workload");
	}
	if (g_strcmp0(first_value(table, "client.clients"), "1") != 0)
		add_span(text, table, "client.clients", " by each of %s clients");
	add_span(text, table, "client.kernel", " on Linux %s");
	add_span(text, table, "server.profile",
		 table->quantity == REPORT_THROUGHPUT ? " from a server of the profile %s"
						      : " against a server of the profile %s");
	add_span(text, table, "network.rtt", ", over an RTT of %s");
	if (!g_strcmp0(first_value(table, "network.rate"), "unlimited") && !is_swept(table, "network.rate"))
		g_string_append(text, " without a limit of the rate");
	else
		add_span(text, table, "network.rate", " at a link rate of %s");
	g_string_append_c(text, '?');
	if (table->rows->len == 1)
		g_string_append(text, " One point was simulated.");
	else
		g_string_append_printf(text, " %u points were simulated", table->rows->len);
	for (guint i = 0, told = 0; table->rows->len > 1 && i < MIN(table->sweep_columns, table->columns->len); i++) {
		g_autofree char *span = report_column_span(table, table->columns->pdata[i]);
		g_autofree char *name = report_column_pretty(table->columns->pdata[i]);

		g_string_append_printf(text, "%s %s %s", told++ ? ";" : ":", name, span);
	}
	if (table->rows->len > 1)
		g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}
