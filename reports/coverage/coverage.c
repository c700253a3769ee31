/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was counted, put together from many object files and runs. */

#include "reports/coverage/coverage.h"

#include "reports/report.h"

#include <string.h>

static void branch_free(gpointer pointer)
{
	struct coverage_branch *branch = pointer;

	g_free(branch->never);
	g_free(branch);
}

static void function_free(gpointer pointer)
{
	struct coverage_function *function = pointer;

	g_free(function->name);
	g_free(function);
}

static void line_clear(gpointer pointer)
{
	struct coverage_line *line = pointer;

	if (line->arcs)
		g_array_unref(line->arcs);
}

static void file_free(gpointer pointer)
{
	struct coverage_file *file = pointer;

	g_free(file->path);
	g_strfreev(file->source);
	g_ptr_array_unref(file->functions);
	g_ptr_array_unref(file->branches);
	g_array_unref(file->lines);
	g_free(file);
}

static void run_free(gpointer pointer)
{
	struct coverage_run *run = pointer;

	g_free(run->config);
	g_free(run->result);
	g_free(run);
}

struct coverage *coverage_new(const char *sources)
{
	struct coverage *coverage = g_new0(struct coverage, 1);

	coverage->sources = g_canonicalize_filename(sources, NULL);
	coverage->files = g_ptr_array_new_with_free_func(file_free);
	coverage->runs = g_ptr_array_new_with_free_func(run_free);
	coverage->kinds = g_ptr_array_new_with_free_func(g_free);
	return coverage;
}

void coverage_free(struct coverage *coverage)
{
	if (!coverage)
		return;
	g_free(coverage->sources);
	g_ptr_array_unref(coverage->files);
	g_ptr_array_unref(coverage->runs);
	g_ptr_array_unref(coverage->kinds);
	g_free(coverage);
}

void coverage_add_run(struct coverage *coverage, const char *config, const char *result, guint64 states)
{
	struct coverage_run *run = g_new0(struct coverage_run, 1);

	run->config = g_strdup(config);
	run->result = g_strdup(result);
	run->states = states;
	g_ptr_array_add(coverage->runs, run);
}

static struct coverage_file *file_of(struct coverage *coverage, const char *path)
{
	struct coverage_file *file;

	for (guint i = 0; i < coverage->files->len; i++) {
		file = coverage->files->pdata[i];
		if (!strcmp(file->path, path))
			return file;
	}
	file = g_new0(struct coverage_file, 1);
	file->path = g_strdup(path);
	file->why = coverage_focus(path);
	file->functions = g_ptr_array_new_with_free_func(function_free);
	file->branches = g_ptr_array_new_with_free_func(branch_free);
	file->lines = g_array_new(FALSE, TRUE, sizeof(struct coverage_line));
	g_array_set_clear_func(file->lines, line_clear);
	g_ptr_array_add(coverage->files, file);
	return file;
}

/* ---------------------------------------------------------------------------------------------------------- from gcov */

static guint64 member_count(JsonObject *object, const char *name)
{
	return (guint64)json_object_get_int_member_with_default(object, name, 0);
}

/* The functions of a header are compiled into many objects. */
static void add_function(struct coverage_file *file, JsonObject *told)
{
	const char *name = json_object_get_string_member_with_default(told, "name", "?");
	struct coverage_function *function;

	for (guint i = 0; i < file->functions->len; i++) {
		function = file->functions->pdata[i];
		if (!strcmp(function->name, name)) {
			function->count += member_count(told, "execution_count");
			return;
		}
	}
	function = g_new0(struct coverage_function, 1);
	function->name = g_strdup(name);
	function->first = (guint)member_count(told, "start_line");
	function->last = (guint)member_count(told, "end_line");
	function->count = member_count(told, "execution_count");
	function->is_assertion = g_str_has_suffix(name, "is_valid");
	g_ptr_array_add(file->functions, function);
}

static void add_arcs(struct coverage_line *line, JsonArray *branches)
{
	guint count = json_array_get_length(branches);

	if (!count)
		return;
	if (!line->arcs)
		line->arcs = g_array_new(FALSE, TRUE, sizeof(guint64));
	if (line->arcs->len < count)
		g_array_set_size(line->arcs, count);
	for (guint i = 0; i < count; i++)
		g_array_index(line->arcs, guint64, i) += member_count(json_array_get_object_element(branches, i),
								      "count");
}

static void add_line(struct coverage_file *file, JsonObject *told)
{
	guint number = (guint)member_count(told, "line_number");
	struct coverage_line *line;

	if (file->lines->len <= number)
		g_array_set_size(file->lines, number + 1);
	line = &g_array_index(file->lines, struct coverage_line, number);
	line->is_code = true;
	line->count += member_count(told, "count");
	if (json_object_has_member(told, "branches"))
		add_arcs(line, json_object_get_array_member(told, "branches"));
}

static void add_file(struct coverage *coverage, const char *folder, JsonObject *told)
{
	const char *given = json_object_get_string_member_with_default(told, "file", "");
	g_autofree char *path = g_canonicalize_filename(given, folder);
	JsonArray *functions = json_object_get_array_member(told, "functions");
	JsonArray *lines = json_object_get_array_member(told, "lines");
	struct coverage_file *file;

	if (!g_str_has_prefix(path, coverage->sources) || path[strlen(coverage->sources)] != '/')
		return; /* of the system */
	file = file_of(coverage, path + strlen(coverage->sources) + 1);
	for (guint i = 0; i < json_array_get_length(functions); i++)
		add_function(file, json_array_get_object_element(functions, i));
	for (guint i = 0; i < json_array_get_length(lines); i++)
		add_line(file, json_array_get_object_element(lines, i));
}

bool coverage_add_gcov(struct coverage *coverage, const char *json, GError **error)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *told;
	JsonArray *files;
	const char *folder;

	if (!json_parser_load_from_data(parser, json, -1, error))
		return false;
	told = json_node_get_object(json_parser_get_root(parser));
	folder = json_object_get_string_member_with_default(told, "current_working_directory", "/");
	files = json_object_get_array_member(told, "files");
	for (guint i = 0; i < json_array_get_length(files); i++)
		add_file(coverage, folder, json_array_get_object_element(files, i));
	return true;
}

bool coverage_add_cells(struct coverage *coverage, const char *text, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	guint table, row, column;

	for (char **line = lines; *line && **line; line++) {
		if (sscanf(*line, "%u %u %u", &table, &row, &column) != 3 || table >= SMB_TABLES ||
		    row >= smb_table_info((enum smb_table)table).rows ||
		    column >= smb_table_info((enum smb_table)table).columns) {
			g_set_error(error, REPORT_ERROR, REPORT_ERROR_FILE, "'%s' is no cell of a table", *line);
			return false;
		}
		coverage->cells[table][row][column] = true;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------------ in order */

static int compare_files(gconstpointer a, gconstpointer b)
{
	const struct coverage_file *left = *(const struct coverage_file *const *)a;
	const struct coverage_file *right = *(const struct coverage_file *const *)b;

	if (!left->why != !right->why)
		return left->why ? -1 : 1;
	return strcmp(left->path, right->path);
}

static int compare_functions(gconstpointer a, gconstpointer b)
{
	const struct coverage_function *left = *(const struct coverage_function *const *)a;
	const struct coverage_function *right = *(const struct coverage_function *const *)b;

	return left->first < right->first ? -1 : left->first > right->first;
}

static void note_beyond(struct coverage_file *file)
{
	for (guint i = 0; i < file->functions->len; i++) {
		struct coverage_function *function = file->functions->pdata[i];

		function->beyond = coverage_beyond(file->path, function->name, NULL);
	}
	for (guint i = 0; i < file->branches->len; i++) {
		struct coverage_branch *branch = file->branches->pdata[i];
		const struct coverage_function *function = coverage_function_at(file, branch->line);

		if (function)
			branch->beyond = coverage_beyond(file->path, function->name, branch->never);
	}
}

bool coverage_finish(struct coverage *coverage, GError **error)
{
	g_ptr_array_sort(coverage->files, compare_files);
	for (guint i = 0; i < coverage->files->len; i++) {
		struct coverage_file *file = coverage->files->pdata[i];
		g_autofree char *path = g_build_filename(coverage->sources, file->path, NULL);
		g_autofree char *text = NULL;

		if (!g_file_get_contents(path, &text, NULL, error))
			return false;
		file->source = g_strsplit(text, "\n", -1);
		g_ptr_array_sort(file->functions, compare_functions);
		coverage_name_branches(file);
		note_beyond(file);
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------------- looking */

static void sum_up(const struct coverage_file *file, struct coverage_sum *sum)
{
	for (guint i = 0; i < file->functions->len; i++) {
		const struct coverage_function *function = file->functions->pdata[i];

		sum->functions += !function->is_assertion;
		sum->functions_called += !function->is_assertion && function->count;
	}
	for (guint i = 0; i < file->lines->len; i++) {
		const struct coverage_line *line = &g_array_index(file->lines, struct coverage_line, i);

		sum->lines += line->is_code;
		sum->lines_run += line->is_code && line->count;
	}
	sum->branches += file->branches->len;
	for (guint i = 0; i < file->branches->len; i++) {
		const struct coverage_branch *branch = file->branches->pdata[i];

		sum->branches_taken += branch->count > 0;
		sum->beyond += !branch->count && branch->beyond;
	}
}

struct coverage_sum coverage_sum_of(const struct coverage_file *file)
{
	struct coverage_sum sum = { 0 };

	sum_up(file, &sum);
	return sum;
}

struct coverage_sum coverage_sum_all(const struct coverage *coverage, bool is_focus)
{
	struct coverage_sum sum = { 0 };

	for (guint i = 0; i < coverage->files->len; i++) {
		const struct coverage_file *file = coverage->files->pdata[i];

		if (file->why || !is_focus)
			sum_up(file, &sum);
	}
	return sum;
}

struct coverage_cells coverage_cells_of(const struct coverage *coverage, enum smb_table table)
{
	struct smb_table_info info = smb_table_info(table);
	struct coverage_cells cells = { 0 };

	for (uint32_t cell = 0; cell < info.rows * info.columns; cell++) {
		uint32_t row = cell / info.columns, column = cell % info.columns;

		cells.all += smb_table_has(table, row, column);
		cells.taken += smb_table_has(table, row, column) && coverage->cells[table][row][column];
	}
	return cells;
}

const struct coverage_function *coverage_function_at(const struct coverage_file *file, guint line)
{
	for (guint i = 0; i < file->functions->len; i++) {
		const struct coverage_function *function = file->functions->pdata[i];

		if (line >= function->first && line <= function->last)
			return function;
	}
	return NULL;
}
