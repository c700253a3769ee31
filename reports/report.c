/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/report.h"

GQuark report_error_quark(void)
{
	return g_quark_from_static_string("smblab-report-error-quark");
}

static void row_free(gpointer data)
{
	struct report_row *row = data;

	g_free(row->hash);
	g_strfreev(row->values);
	g_free(row->result);
	g_free(row->measured_label);
	g_free(row);
}

struct report_row *report_row_new(void)
{
	return g_new0(struct report_row, 1);
}

struct report_table *report_table_new(void)
{
	struct report_table *table = g_new0(struct report_table, 1);

	table->columns = g_ptr_array_new_with_free_func(g_free);
	table->rows = g_ptr_array_new_with_free_func(row_free);
	return table;
}

void report_table_free(struct report_table *table)
{
	if (!table)
		return;
	g_free(table->title);
	g_free(table->about);
	g_free(table->program_version);
	g_free(table->git_revision);
	g_free(table->config_hash);
	g_free(table->config_text);
	g_free(table->measured_source);
	g_ptr_array_unref(table->columns);
	g_ptr_array_unref(table->rows);
	g_free(table);
}
