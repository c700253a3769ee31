/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Coverage in words, and for programs. */

#include "reports/coverage/coverage.h"

#include <string.h>

#define WIDTH 110

static void put_runs(const struct coverage *coverage, GString *out)
{
	for (guint i = 0; i < coverage->runs->len; i++) {
		const struct coverage_run *run = coverage->runs->pdata[i];

		g_string_append_printf(out, "%s: %s, %" G_GUINT64_FORMAT " states\n", run->config, run->result,
				       run->states);
	}
	if (!coverage->kinds->len)
		return;
	g_string_append(out, "never happened:");
	for (guint i = 0; i < coverage->kinds->len; i++)
		g_string_append_printf(out, "%s %s", i ? "," : "", (const char *)coverage->kinds->pdata[i]);
	g_string_append_c(out, '\n');
}

/* Words one after another, in lines that are not too long. */
static void put_word(GString *out, const char *word, guint *width)
{
	guint length = (guint)strlen(word);

	if (*width && *width + length + 2 > WIDTH) {
		g_string_append(out, ",\n      ");
		*width = 6;
	} else if (*width) {
		g_string_append(out, ", ");
		*width += 2;
	}
	g_string_append(out, word);
	*width += length;
}

static void put_column(const struct coverage *coverage, enum smb_table table, uint32_t column, GString *out)
{
	uint32_t rows = smb_table_info(table).rows;
	guint width = 0;

	for (uint32_t row = 0; row < rows; row++) {
		if (!smb_table_has(table, row, column) || coverage->cells[table][row][column])
			continue;
		if (!width) {
			g_autofree char *head = g_strdup_printf("  %s, never: ", smb_table_column(table, column));

			g_string_append(out, head);
			g_string_append(out, smb_table_row(table, row));
			width = (guint)(strlen(head) + strlen(smb_table_row(table, row)));
		} else {
			put_word(out, smb_table_row(table, row), &width);
		}
	}
	if (width)
		g_string_append_c(out, '\n');
}

static void put_table(const struct coverage *coverage, enum smb_table table, GString *out)
{
	struct smb_table_info info = smb_table_info(table);
	struct coverage_cells cells = coverage_cells_of(coverage, table);

	g_string_append_printf(out, "\n%s: %u of %u cells taken\n", info.name, cells.taken, cells.all);
	for (uint32_t column = 0; column < info.columns; column++)
		put_column(coverage, table, column, out);
}

static double percent(guint part, guint whole)
{
	return whole ? 100.0 * part / whole : 100.0;
}

static void put_sum(GString *out, const char *name, struct coverage_sum sum)
{
	g_string_append_printf(out, "%-30s %4u of %4u functions  %5u of %5u branches, %3u beyond: %5.1f %%\n", name,
			       sum.functions_called, sum.functions, sum.branches_taken, sum.branches, sum.beyond,
			       percent(sum.branches_taken, sum.branches - sum.beyond));
}

static void put_sums(const struct coverage *coverage, GString *out)
{
	g_string_append(out, "\ncredit and compound code (beyond: what no model can reach)\n");
	for (guint i = 0; i < coverage->files->len; i++) {
		const struct coverage_file *file = coverage->files->pdata[i];

		if (file->why)
			put_sum(out, file->path, coverage_sum_of(file));
	}
	put_sum(out, "together", coverage_sum_all(coverage, true));
	put_sum(out, "all of client core and server", coverage_sum_all(coverage, false));
}

static void put_branch(const struct coverage_file *file, const struct coverage_branch *branch, GString *out)
{
	const struct coverage_function *function = coverage_function_at(file, branch->line);

	g_string_append_printf(out, "%s:%u: %s: %s\n", file->path, branch->line, function ? function->name : "?",
			       branch->never);
}

static void put_never(const struct coverage_file *file, GString *out)
{
	for (guint i = 0; i < file->functions->len; i++) {
		const struct coverage_function *function = file->functions->pdata[i];

		if (!function->count && !function->is_assertion && !function->beyond)
			g_string_append_printf(out, "%s:%u: %s is never called\n", file->path, function->first,
					       function->name);
	}
	for (guint i = 0; i < file->branches->len; i++) {
		const struct coverage_branch *branch = file->branches->pdata[i];

		if (!branch->count && !branch->is_behind && !branch->beyond)
			put_branch(file, branch, out);
	}
}

/* Each reason with what it holds for. */
static void put_beyond(const struct coverage *coverage, GString *out)
{
	g_autoptr(GHashTable) reasons = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GList) sorted = NULL;

	for (guint i = 0; i < coverage->files->len; i++) {
		const struct coverage_file *file = coverage->files->pdata[i];

		for (guint b = 0; b < file->branches->len; b++) {
			const struct coverage_branch *branch = file->branches->pdata[b];
			gpointer why = (gpointer)branch->beyond;

			if (!branch->count && why)
				g_hash_table_insert(
					reasons, why,
					GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(reasons, why)) + 1));
		}
	}
	sorted = g_list_sort(g_hash_table_get_keys(reasons), (GCompareFunc)strcmp);
	for (GList *at = sorted; at; at = at->next)
		g_string_append_printf(out, "%4u branches: %s\n",
				       GPOINTER_TO_UINT(g_hash_table_lookup(reasons, at->data)),
				       (const char *)at->data);
}

void coverage_text(const struct coverage *coverage, GString *out)
{
	put_runs(coverage, out);
	for (int table = 0; table < SMB_TABLES; table++)
		put_table(coverage, (enum smb_table)table, out);
	put_sums(coverage, out);
	put_beyond(coverage, out);
	g_string_append(out, "\nnever taken in credit and compound code; what only leads on from there is left out\n");
	for (guint i = 0; i < coverage->files->len; i++) {
		if (((struct coverage_file *)coverage->files->pdata[i])->why)
			put_never(coverage->files->pdata[i], out);
	}
}

/* -------------------------------------------------------------------------------------------------------- for programs */

static void put_string(JsonBuilder *json, const char *name, const char *value)
{
	json_builder_set_member_name(json, name);
	json_builder_add_string_value(json, value);
}

static void put_count(JsonBuilder *json, const char *name, guint64 value)
{
	json_builder_set_member_name(json, name);
	json_builder_add_int_value(json, (gint64)value);
}

static void begin_array(JsonBuilder *json, const char *name)
{
	json_builder_set_member_name(json, name);
	json_builder_begin_array(json);
}

static void put_runs_json(const struct coverage *coverage, JsonBuilder *json)
{
	begin_array(json, "configs");
	for (guint i = 0; i < coverage->runs->len; i++) {
		const struct coverage_run *run = coverage->runs->pdata[i];

		json_builder_begin_object(json);
		put_string(json, "config", run->config);
		put_string(json, "result", run->result);
		put_count(json, "states", run->states);
		json_builder_end_object(json);
	}
	json_builder_end_array(json);
	begin_array(json, "never_happened");
	for (guint i = 0; i < coverage->kinds->len; i++)
		json_builder_add_string_value(json, coverage->kinds->pdata[i]);
	json_builder_end_array(json);
}

static void put_table_json(const struct coverage *coverage, enum smb_table table, JsonBuilder *json)
{
	struct smb_table_info info = smb_table_info(table);
	struct coverage_cells cells = coverage_cells_of(coverage, table);

	json_builder_begin_object(json);
	put_string(json, "table", info.name);
	put_count(json, "cells", cells.all);
	put_count(json, "cells_taken", cells.taken);
	begin_array(json, "never");
	for (uint32_t cell = 0; cell < info.rows * info.columns; cell++) {
		uint32_t row = cell / info.columns, column = cell % info.columns;

		if (!smb_table_has(table, row, column) || coverage->cells[table][row][column])
			continue;
		json_builder_begin_object(json);
		put_string(json, "row", smb_table_row(table, row));
		put_string(json, "column", smb_table_column(table, column));
		json_builder_end_object(json);
	}
	json_builder_end_array(json);
	json_builder_end_object(json);
}

static void put_file_json(const struct coverage_file *file, JsonBuilder *json)
{
	struct coverage_sum sum = coverage_sum_of(file);

	json_builder_begin_object(json);
	put_string(json, "file", file->path);
	json_builder_set_member_name(json, "is_credit_or_compound");
	json_builder_add_boolean_value(json, file->why != NULL);
	put_count(json, "functions", sum.functions);
	put_count(json, "functions_called", sum.functions_called);
	put_count(json, "lines", sum.lines);
	put_count(json, "lines_run", sum.lines_run);
	put_count(json, "branches", sum.branches);
	put_count(json, "branches_taken", sum.branches_taken);
	put_count(json, "branches_beyond", sum.beyond);
	begin_array(json, "never");
	for (guint i = 0; i < file->branches->len; i++) {
		const struct coverage_branch *branch = file->branches->pdata[i];
		const struct coverage_function *function = coverage_function_at(file, branch->line);

		if (branch->count)
			continue;
		json_builder_begin_object(json);
		put_count(json, "line", branch->line);
		put_string(json, "function", function ? function->name : "?");
		put_string(json, "never", branch->never);
		if (branch->beyond)
			put_string(json, "beyond", branch->beyond);
		json_builder_end_object(json);
	}
	json_builder_end_array(json);
	json_builder_end_object(json);
}

void coverage_json(const struct coverage *coverage, JsonBuilder *json)
{
	put_runs_json(coverage, json);
	begin_array(json, "tables");
	for (int table = 0; table < SMB_TABLES; table++)
		put_table_json(coverage, (enum smb_table)table, json);
	json_builder_end_array(json);
	begin_array(json, "files");
	for (guint i = 0; i < coverage->files->len; i++)
		put_file_json(coverage->files->pdata[i], json);
	json_builder_end_array(json);
}
