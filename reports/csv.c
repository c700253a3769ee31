/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* results.csv: fields quoted as RFC 4180 has it, lines ended by a newline alone, as awk and diff want them. */
#include "reports/file.h"
#include "reports/report.h"
#include "reports/text.h"

#include <string.h>

static const char *const result_columns[] = {
	"seconds",	 "bytes",	   "throughput_MBps",	 "pairs",      "pdus",
	"credits_min",	 "inflight_max",   "inflight_max_bytes", "violations", "pdu_events",
	"read_io_bytes", "reconnects",	   "stall_max_seconds",	 "commands",   "command_failures",
	"command_ms",	 "slowest_client", "fastest_client",	 "fairness",   "outcome",
	"failure",
};

/* Each field is followed by a comma; the last comma of a line becomes its end. */
static void quoted(GString *csv, const char *text)
{
	if (!text || !strpbrk(text, ",\"\r\n")) {
		g_string_append(csv, text ? text : "");
		return;
	}
	g_string_append_c(csv, '"');
	for (const char *at = text; *at; at++) {
		if (*at == '"')
			g_string_append_c(csv, '"');
		g_string_append_c(csv, *at);
	}
	g_string_append_c(csv, '"');
}

static void field(GString *csv, const char *text)
{
	quoted(csv, text);
	g_string_append_c(csv, ',');
}

static void line_end(GString *csv)
{
	csv->str[csv->len - 1] = '\n';
}

static void field_fixed(GString *csv, double number, int decimals)
{
	g_autofree char *text = report_fixed(number, decimals);

	field(csv, text);
}

static void field_count(GString *csv, guint64 number)
{
	g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, number);

	field(csv, text);
}

/* A point that did not finish has no throughput; empty fields say so, a zero would be taken for a measurement. */
static void finished_fields(GString *csv, const struct sim_result *result)
{
	g_autofree char *credits = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)result->credits_min);

	field_fixed(csv, result->seconds, 9);
	field_count(csv, result->bytes);
	field_fixed(csv, result->throughput_MBps, 3);
	field_count(csv, result->pairs);
	field_count(csv, result->pdus);
	field(csv, credits);
	field_count(csv, result->inflight_max);
	field_count(csv, result->inflight_max_bytes);
}

/* Of one client there is nothing to compare. */
static void client_fields(GString *csv, const struct sim_result *result)
{
	const double numbers[] = { result->slowest_client, result->fastest_client, result->fairness };

	for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
		if (result->clients > 1)
			field_fixed(csv, numbers[i], 3);
		else
			field(csv, "");
	}
}

static void row_line(GString *csv, const struct report_table *table, const struct report_row *row)
{
	const struct sim_result *result = row->result;

	for (guint i = 0; i < table->columns->len; i++)
		field(csv, row->values[i]);
	if (result && result->outcome == SIM_OUTCOME_FINISHED)
		finished_fields(csv, result);
	else
		for (int i = 0; i < 8; i++)
			field(csv, "");
	if (result) {
		field_count(csv, result->violations);
		field_count(csv, result->pdu_events);
		if (result->read_io_bytes)
			field_count(csv, result->read_io_bytes);
		else
			field(csv, "");
		field_count(csv, result->reconnects);
		field_fixed(csv, (double)result->stall_max_ns / 1e9, 9);
		field_count(csv, result->commands);
		field_count(csv, result->command_failures);
		field_fixed(csv, report_command_ms(result), 6);
		client_fields(csv, result);
		field(csv, sim_outcome_name(result->outcome));
		field(csv, result->failure);
	} else {
		for (int i = 0; i < 13; i++)
			field(csv, "");
	}
	bool compared = row->has_measured && result && result->outcome == SIM_OUTCOME_FINISHED;
	g_autofree char *measured = row->has_measured ? report_shortest(row->measured) : g_strdup("");
	g_autofree char *percent = compared ? report_fixed(row->error_percent, 2) : g_strdup("");

	for (guint i = 0; i < REPORT_QUANTITIES; i++)
		field(csv, i == table->quantity ? measured : "");
	field(csv, percent);
	line_end(csv);
}

bool report_write_csv(const struct report_table *table, const char *directory, GError **error)
{
	GString *csv = g_string_new(NULL);

	for (guint i = 0; i < table->columns->len; i++)
		field(csv, table->columns->pdata[i]);
	for (guint i = 0; i < G_N_ELEMENTS(result_columns); i++)
		field(csv, result_columns[i]);
	for (guint i = 0; i < REPORT_QUANTITIES; i++)
		field(csv, report_quantity_info((enum report_quantity)i)->column);
	field(csv, "error_percent");
	line_end(csv);
	for (guint i = 0; i < table->rows->len; i++)
		row_line(csv, table, table->rows->pdata[i]);
	bool written = report_file_write(directory, "results.csv", csv, error);

	g_string_free(csv, TRUE);
	return written;
}
