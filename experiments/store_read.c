/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/store.h"

#include "experiments/result_json.h"
#include "experiments/store_internal.h"

#include <string.h>

void lab_stored_row_free(struct lab_stored_row *row)
{
	g_free(row->hash);
	g_strfreev(row->values);
	g_free(row->result);
	g_free((char *)row->measured.label);
	g_free(row);
}

static void row_free(gpointer row)
{
	lab_stored_row_free(row);
}

static struct lab_stored_row *row_read(sqlite3_stmt *statement, GError **error)
{
	struct lab_stored_row *row = g_new0(struct lab_stored_row, 1);
	const char *json = (const char *)sqlite3_column_text(statement, 6);

	row->ordinal = (guint)sqlite3_column_int(statement, 0);
	row->hash = g_strdup((const char *)sqlite3_column_text(statement, 1));
	row->values = lab_strings_from_json((const char *)sqlite3_column_text(statement, 2));
	row->measured.rows = sqlite3_column_type(statement, 3) != SQLITE_NULL;
	row->measured.value = sqlite3_column_double(statement, 3);
	row->measured.label = g_strdup((const char *)sqlite3_column_text(statement, 4));
	row->measured.fitted = sqlite3_column_int(statement, 5);
	if (!json)
		return row;
	row->result = g_new0(struct sim_result, 1);
	if (lab_result_from_json(json, row->result, error)) {
		row->result->wall_seconds = sqlite3_column_double(statement, 7);
		return row;
	}
	lab_stored_row_free(row);
	return NULL;
}

GPtrArray *lab_store_rows(struct lab_store *store, GError **error)
{
	static const char sql[] = "SELECT ordinal, plan.hash, columns, measured, measured_label, fitted, result,"
				  " wall_seconds FROM plan LEFT JOIN point ON plan.hash = point.hash ORDER BY ordinal";
	g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(row_free);
	sqlite3_stmt *statement = NULL;
	struct lab_stored_row *row = NULL;
	int step = SQLITE_ERROR;

	if (sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) == SQLITE_OK) {
		while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
			row = row_read(statement, error);
			if (!row)
				break;
			g_ptr_array_add(rows, row);
		}
		if (step != SQLITE_DONE && step != SQLITE_ROW)
			lab_store_fail(store, error);
	} else {
		lab_store_fail(store, error);
	}
	sqlite3_finalize(statement);
	return step == SQLITE_DONE ? g_steal_pointer(&rows) : NULL;
}

bool lab_store_same_experiment(struct lab_store *store, struct lab_store *other, const char *directory, GError **error)
{
	static const char *const names[] = { "config_hash", "version", "model_hash", "columns" };

	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *mine = lab_store_get_fact(store, names[i]);
		g_autofree char *its = lab_store_get_fact(other, names[i]);

		if (!g_strcmp0(mine, its))
			continue;
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE,
			    "%s is another experiment, or of another program: its %s differs", directory, names[i]);
		return false;
	}
	return true;
}

static bool no_disagreement(struct lab_store *store, const char *directory, GError **error)
{
	sqlite3_stmt *statement = NULL;
	bool found = false;

	if (sqlite3_prepare_v2(
		    store->database,
		    "SELECT mine.hash FROM main.point AS mine JOIN other.point AS its ON mine.hash = its.hash"
		    " WHERE mine.lasting AND its.lasting AND mine.result != its.result LIMIT 1",
		    -1, &statement, NULL) != SQLITE_OK)
		return lab_store_fail(store, error);
	if (sqlite3_step(statement) == SQLITE_ROW) {
		found = true;
		g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT,
			    "%s disagrees about point %s: the runs were not deterministic", directory,
			    (const char *)sqlite3_column_text(statement, 0));
	}
	sqlite3_finalize(statement);
	return !found;
}

static bool attach(struct lab_store *store, const char *directory, GError **error)
{
	g_autofree char *path = g_build_filename(directory, "results.sqlite", NULL);
	char *sql = sqlite3_mprintf("ATTACH %Q AS other", path);
	bool attached = lab_store_exec(store, sql, error);

	sqlite3_free(sql);
	return attached;
}

static bool take_points(struct lab_store *store, const char *directory, GError **error)
{
	bool taken = attach(store, directory, error) && no_disagreement(store, directory, error) &&
		     lab_store_exec(
			     store,
			     "DELETE FROM main.point WHERE NOT lasting AND hash IN (SELECT hash FROM other.point);"
			     "INSERT INTO main.point SELECT * FROM other.point WHERE true"
			     " ON CONFLICT(hash) DO NOTHING",
			     error);

	lab_store_exec(store, "DETACH other", NULL);
	return taken;
}

bool lab_store_merge(struct lab_store *store, const char *directory, GError **error)
{
	g_autoptr(lab_store) other = lab_store_open(directory, false, error);

	return other && lab_store_same_experiment(store, other, directory, error) &&
	       take_points(store, directory, error);
}

struct lab_store *lab_store_open_copy(const char *directory, const char *from, GError **error)
{
	g_autoptr(lab_store) other = lab_store_open(from, false, error);
	struct lab_store *store = other ? lab_store_open(directory, true, error) : NULL;
	bool copied = store && attach(store, from, error) &&
		      lab_store_exec(store,
				     "BEGIN; DELETE FROM main.fact; INSERT INTO main.fact SELECT * FROM other.fact;"
				     "DELETE FROM main.plan; INSERT INTO main.plan SELECT * FROM other.plan; COMMIT;"
				     "DETACH other",
				     error);

	if (copied && take_points(store, from, error))
		return store;
	lab_store_close(store);
	return NULL;
}
