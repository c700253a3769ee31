/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/measured.h"

#include "experiments/keys_special.h"
#include "experiments/parameters.h"
#include "sim/world/nearest.h"

#include <math.h>
#include <string.h>

/* What [measured] says, before the file's header is known. */
struct spec {
	const struct lab_config *config;
	const struct lab_entry *file, *value, *label, *points, *quantity;
	GPtrArray *matches, *regexes, *maps, *wheres, *fits, *ats; /* struct lab_entry */
};

static void match_free(gpointer data)
{
	struct lab_match *match = data;

	g_free(match->unit);
	g_strfreev(match->map);
	if (match->regex)
		g_regex_unref(match->regex);
	g_free(match);
}

static void condition_free(gpointer data)
{
	struct lab_condition *condition = data;

	g_free(condition->canonical);
	g_free(condition);
}

static void row_free(gpointer data)
{
	struct lab_measured_row *row = data;

	g_strfreev(row->cells);
	g_free(row->label);
	g_free(row);
}

void lab_measured_free(struct lab_measured *measured)
{
	if (!measured)
		return;
	g_free(measured->path);
	g_free(measured->source);
	g_ptr_array_unref(measured->columns);
	g_ptr_array_unref(measured->rows);
	g_ptr_array_unref(measured->matches);
	g_ptr_array_unref(measured->conditions);
	g_free(measured);
}

static void spec_clear(struct spec *spec)
{
	GPtrArray *lists[] = { spec->matches, spec->regexes, spec->maps, spec->wheres, spec->fits, spec->ats };

	for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
		g_ptr_array_unref(lists[i]);
}

static bool blame(const struct lab_config *config, const struct lab_entry *entry, GError **error, const char *why)
{
	g_set_error_literal(error, LAB_ERROR, LAB_ERROR_USAGE, why);
	lab_scan_blame(error, config->path, entry);
	return false;
}

static bool spec_take(struct spec *spec, const struct lab_entry *entry, GError **error)
{
	const struct {
		const char *name;
		const struct lab_entry **single;
		GPtrArray *list; /* the name is a prefix */
	} places[] = {
		{ "file", &spec->file, NULL },	       { "value", &spec->value, NULL },
		{ "label", &spec->label, NULL },       { "points", &spec->points, NULL },
		{ "match.", NULL, spec->matches },     { "regex.", NULL, spec->regexes },
		{ "map.", NULL, spec->maps },	       { "where.", NULL, spec->wheres },
		{ "fit.", NULL, spec->fits },	       { "at.", NULL, spec->ats },
		{ "quantity", &spec->quantity, NULL },
	};
	const char *names[G_N_ELEMENTS(places)];
	g_autofree char *why = NULL;

	for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
		names[i] = places[i].name;
		if (places[i].list && g_str_has_prefix(entry->key, places[i].name)) {
			g_ptr_array_add(places[i].list, (gpointer)entry);
			return true;
		}
		if (places[i].single && !strcmp(entry->key, places[i].name)) {
			*places[i].single = entry;
			return true;
		}
	}
	why = g_strdup_printf("unknown key; nearest: %s",
			      sim_nearest(entry->key, names, G_N_ELEMENTS(names)) ?: "match.");
	return blame(spec->config, entry, error, why);
}

static int column_find(const struct lab_measured *measured, const char *name)
{
	for (guint i = 0; i < measured->columns->len; i++)
		if (!strcmp(measured->columns->pdata[i], name))
			return (int)i;
	return -1;
}

static int column_need(const struct lab_measured *measured, const struct spec *spec, const struct lab_entry *entry,
		       const char *name, GError **error)
{
	int column = column_find(measured, name);
	const char *nearest;

	if (column >= 0)
		return column;
	nearest = sim_nearest(name, (const char *const *)measured->columns->pdata, measured->columns->len);
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s has no column '%s'%s%s", measured->path, name,
		    nearest ? "; nearest: " : "", nearest ? nearest : "");
	lab_scan_blame(error, spec->config->path, entry);
	return -1;
}

/* The entry of `list` for the same key as a match entry, e.g. regex.network.rtt for match.network.rtt. */
static const struct lab_entry *companion(const GPtrArray *list, const char *dotted)
{
	for (guint i = 0; i < list->len; i++) {
		const struct lab_entry *entry = list->pdata[i];

		if (!strcmp(strchr(entry->key, '.') + 1, dotted))
			return entry;
	}
	return NULL;
}

static bool match_add(struct lab_measured *measured, const struct spec *spec, const struct lab_entry *entry,
		      GError **error)
{
	const char *dotted = entry->key + strlen("match.");
	const struct lab_entry *regex = companion(spec->regexes, dotted);
	const struct lab_entry *map = companion(spec->maps, dotted);
	g_auto(GStrv) parts = g_strsplit(entry->value, ":", 2);
	g_autoptr(GError) cause = NULL;
	struct lab_match *match;
	int key = lab_parameters_key(spec->config->path, entry, dotted, error);
	int column = key < 0 ? -1 : column_need(measured, spec, entry, parts[0] ? parts[0] : "", error);

	if (column < 0)
		return false;
	match = g_new0(struct lab_match, 1);
	g_ptr_array_add(measured->matches, match);
	match->key = (guint)key;
	match->column = (guint)column;
	match->unit = g_strdup(parts[1] ? parts[1] : "");
	match->map = map ? g_strsplit(map->value, ";", -1) : NULL;
	if (!regex)
		return true;
	match->regex = g_regex_new(regex->value, 0, 0, &cause);
	return match->regex ? true : blame(spec->config, regex, error, cause->message);
}

static bool condition_add(struct lab_measured *measured, const struct spec *spec, const struct lab_entry *entry,
			  GError **error)
{
	struct lab_condition *condition;
	int key = lab_parameters_key(spec->config->path, entry, entry->key + strlen("at."), error);

	if (key < 0)
		return false;
	if (measured->rows_are_points)
		return blame(spec->config, entry, error, "means nothing with points=rows: give the key itself a value");
	if (!lab_key_check_text((guint)key, entry->value, error)) {
		lab_scan_blame(error, spec->config->path, entry);
		return false;
	}
	condition = g_new0(struct lab_condition, 1);
	condition->key = (guint)key;
	condition->canonical = lab_key_canonical((guint)key, entry->value);
	g_ptr_array_add(measured->conditions, condition);
	return true;
}

char *lab_measured_text(const struct lab_measured_row *row, const struct lab_match *match)
{
	const char *cell = row->cells[match->column];
	g_autofree char *part = NULL;
	g_autoptr(GMatchInfo) found = NULL;

	if (match->regex) {
		if (!g_regex_match(match->regex, cell, 0, &found))
			return NULL;
		part = g_match_info_fetch(found, 1);
	}
	part = part ? g_steal_pointer(&part) : g_strdup(cell);
	for (guint i = 0; match->map && match->map[i]; i++) {
		const char *to = strchr(match->map[i], ':');

		if (to && strlen(part) == (size_t)(to - match->map[i]) && g_str_has_prefix(match->map[i], part))
			return to[1] ? g_strdup(to + 1) : NULL;
	}
	return *part ? g_strconcat(part, match->unit, NULL) : NULL;
}

/* "0" and "0.0" are one value in a table. */
static bool cells_equal(const char *a, const char *b)
{
	char *end_a, *end_b;
	double number_a = g_ascii_strtod(a, &end_a), number_b = g_ascii_strtod(b, &end_b);

	if (*a && *b && !*end_a && !*end_b)
		return number_a == number_b;
	return !strcmp(a, b);
}

/* Do the row's cells satisfy every condition "COLUMN=V1;V2" of the list? */
static bool conditions_hold(const struct lab_measured *measured, const GPtrArray *conditions, char **cells)
{
	for (guint i = 0; i < conditions->len; i++) {
		const struct lab_entry *entry = conditions->pdata[i];
		g_auto(GStrv) values = g_strsplit(entry->value, ";", -1);
		const char *cell = cells[column_find(measured, strchr(entry->key, '.') + 1)];
		bool any = false;

		for (guint v = 0; values[v]; v++)
			any = any || cells_equal(cell, g_strstrip(values[v]));
		if (!any)
			return false;
	}
	return true;
}

static bool conditions_known(const struct lab_measured *measured, const struct spec *spec, const GPtrArray *conditions,
			     GError **error)
{
	for (guint i = 0; i < conditions->len; i++) {
		const struct lab_entry *entry = conditions->pdata[i];

		if (column_need(measured, spec, entry, strchr(entry->key, '.') + 1, error) < 0)
			return false;
	}
	return true;
}

static bool row_add(struct lab_measured *measured, const struct spec *spec, char **cells, guint line, GError **error)
{
	struct lab_measured_row *row;
	int value = column_find(measured, spec->value->value);
	int label = spec->label ? column_find(measured, spec->label->value) : -1;
	char *end;

	if ((!*cells[value] && !measured->rows_are_points) || !conditions_hold(measured, spec->wheres, cells))
		return true;
	row = g_new0(struct lab_measured_row, 1);
	row->cells = g_strdupv(cells);
	row->line = line;
	row->fitted = spec->fits->len > 0 && conditions_hold(measured, spec->fits, cells);
	row->label = label >= 0 ? g_strdup(cells[label]) : g_strdup_printf("line %u", line);
	row->has_value = *cells[value] != '\0';
	row->value = g_ascii_strtod(cells[value], &end);
	g_ptr_array_add(measured->rows, row);
	measured->has_fit |= row->fitted;
	if (!row->has_value || (*end == '\0' && row->value > 0 && isfinite(row->value)))
		return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s:%u: '%s' is not a measured value", measured->path, line,
		    cells[value]);
	return false;
}

static bool check_spec(struct lab_measured *measured, const struct spec *spec, GError **error)
{
	if (spec->points && strcmp(spec->points->value, "rows") != 0 && strcmp(spec->points->value, "sweep") != 0)
		return blame(spec->config, spec->points, error, "must be 'rows' or 'sweep'");
	if (spec->quantity && !report_quantity_find(spec->quantity->value, &measured->quantity))
		return blame(spec->config, spec->quantity, error, "must be 'throughput', 'pairs' or 'command_ms'");
	measured->rows_are_points = spec->points && !strcmp(spec->points->value, "rows");
	if (spec->matches->len == 0)
		return blame(spec->config, spec->file, error,
			     "no match.SECTION.KEY=COLUMN says which row is which point");
	for (guint i = 0; i < spec->matches->len; i++)
		if (!match_add(measured, spec, spec->matches->pdata[i], error))
			return false;
	for (guint i = 0; i < spec->ats->len; i++)
		if (!condition_add(measured, spec, spec->ats->pdata[i], error))
			return false;
	if (column_need(measured, spec, spec->value, spec->value->value, error) < 0)
		return false;
	if (spec->label && column_need(measured, spec, spec->label, spec->label->value, error) < 0)
		return false;
	return conditions_known(measured, spec, spec->wheres, error) &&
	       conditions_known(measured, spec, spec->fits, error);
}

/* Each cell that will be matched must be a value of its key. */
static bool check_cells(const struct lab_measured *measured, GError **error)
{
	for (guint r = 0; r < measured->rows->len; r++) {
		const struct lab_measured_row *row = measured->rows->pdata[r];

		for (guint m = 0; m < measured->matches->len; m++) {
			const struct lab_match *match = measured->matches->pdata[m];
			g_autofree char *text = lab_measured_text(row, match);

			if (!text || lab_key_check_text(match->key, text, error))
				continue;
			g_prefix_error(error, "%s:%u: column '%s' as %s: ", measured->path, row->line,
				       (char *)measured->columns->pdata[match->column], lab_key_dotted(match->key));
			return false;
		}
	}
	if (measured->rows->len == 0)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s: no row fulfils the where. conditions",
			    measured->path);
	return measured->rows->len > 0;
}

static bool measured_take(struct lab_measured *measured, const struct spec *spec, GError **error)
{
	struct lab_table *table = lab_table_read(measured->path, error);
	bool right;

	if (!table) {
		lab_scan_blame(error, spec->config->path, spec->file);
		return false;
	}
	measured->source = g_strdup(table->source);
	for (char **cell = table->lines->pdata[0]; *cell; cell++)
		g_ptr_array_add(measured->columns, g_strdup(*cell));
	right = check_spec(measured, spec, error);
	for (guint i = 1; right && i < table->lines->len; i++)
		right = row_add(measured, spec, table->lines->pdata[i], g_array_index(table->numbers, guint, i), error);
	lab_table_free(table);
	return right && check_cells(measured, error);
}

static bool spec_read(struct spec *spec, const GPtrArray *entries, GError **error)
{
	for (guint i = 0; i < entries->len; i++)
		if (!spec_take(spec, entries->pdata[i], error))
			return false;
	if (!spec->file)
		return blame(spec->config, entries->pdata[0], error, "[measured] needs file=");
	if (!spec->value)
		return blame(spec->config, spec->file, error, "[measured] needs value=COLUMN");
	return true;
}

struct lab_measured *lab_measured_load(const struct lab_config *config, const char *file, GError **error)
{
	g_autoptr(GPtrArray) entries = lab_config_section(config, "measured");
	struct spec spec = { .config = config };
	struct lab_measured *measured = NULL;

	if (entries->len == 0)
		return NULL;
	spec.matches = g_ptr_array_new();
	spec.regexes = g_ptr_array_new();
	spec.maps = g_ptr_array_new();
	spec.wheres = g_ptr_array_new();
	spec.fits = g_ptr_array_new();
	spec.ats = g_ptr_array_new();
	if (spec_read(&spec, entries, error)) {
		measured = g_new0(struct lab_measured, 1);
		measured->path = file ? g_strdup(file) : g_canonicalize_filename(spec.file->value, config->directory);
		measured->columns = g_ptr_array_new_with_free_func(g_free);
		measured->rows = g_ptr_array_new_with_free_func(row_free);
		measured->matches = g_ptr_array_new_with_free_func(match_free);
		measured->conditions = g_ptr_array_new_with_free_func(condition_free);
		if (!measured_take(measured, &spec, error))
			g_clear_pointer(&measured, lab_measured_free);
	}
	spec_clear(&spec);
	return measured;
}

static const char *value_of(const GPtrArray *columns, char *const *values, guint key)
{
	for (guint i = 0; i < columns->len; i++)
		if (!strcmp(columns->pdata[i], lab_key_dotted(key)))
			return values[i];
	return NULL;
}

static bool row_agrees(const struct lab_measured *measured, const struct lab_measured_row *row,
		       const GPtrArray *columns, char *const *values)
{
	for (guint i = 0; i < measured->matches->len; i++) {
		const struct lab_match *match = measured->matches->pdata[i];
		const char *effective = value_of(columns, values, match->key);
		g_autofree char *text = lab_measured_text(row, match);
		g_autofree char *canonical = text ? lab_key_canonical(match->key, text) : NULL;

		if (canonical && effective && strcmp(canonical, effective) != 0)
			return false;
	}
	return true;
}

struct lab_measurement lab_measured_find(const struct lab_measured *measured, const GPtrArray *columns,
					 char *const *values)
{
	struct lab_measurement found = { .fitted = true };

	for (guint i = 0; i < measured->conditions->len; i++) {
		const struct lab_condition *condition = measured->conditions->pdata[i];

		if (g_strcmp0(value_of(columns, values, condition->key), condition->canonical))
			return (struct lab_measurement){ 0 };
	}
	for (guint i = 0; i < measured->rows->len; i++) {
		const struct lab_measured_row *row = measured->rows->pdata[i];

		if (!row_agrees(measured, row, columns, values))
			continue;
		found.label = found.rows ? found.label : row->label;
		found.fitted = found.fitted && row->fitted;
		found.value = (found.value * found.rows + row->value) / (found.rows + 1);
		found.rows++;
	}
	return found;
}
