/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/store.h"

#include "experiments/result_json.h"
#include "experiments/store_internal.h"
#include "experiments/version.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char schema[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=5000;"
			     "CREATE TABLE IF NOT EXISTS fact(name TEXT PRIMARY KEY, value TEXT NOT NULL);"
			     "CREATE TABLE IF NOT EXISTS plan(ordinal INTEGER PRIMARY KEY, hash TEXT NOT NULL,"
			     " columns TEXT NOT NULL, measured REAL, measured_label TEXT, fitted INTEGER);"
			     "CREATE TABLE IF NOT EXISTS point(hash TEXT PRIMARY KEY, lasting INTEGER NOT NULL,"
			     " result TEXT NOT NULL, computations INTEGER NOT NULL, wall_seconds REAL, host TEXT,"
			     " version TEXT, git_revision TEXT);";

bool lab_store_fail(struct lab_store *store, GError **error)
{
	int code = store->database ? sqlite3_errcode(store->database) : SQLITE_NOMEM;
	bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;

	g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "result store %s: %s%s", store->path,
		    sqlite3_errmsg(store->database), damaged ? "; without it, a run computes all points again" : "");
	return false;
}

bool lab_store_exec(struct lab_store *store, const char *sql, GError **error)
{
	return sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK || lab_store_fail(store, error);
}

/* One worker of a directory: the lock is on the directory itself and goes with the process, however it ends. */
static bool lock_directory(struct lab_store *store, const char *directory, GError **error)
{
	store->lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->lock >= 0 && flock(store->lock, LOCK_EX | LOCK_NB) == 0)
		return true;
	if (store->lock >= 0 && errno == EWOULDBLOCK)
		g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "another smblab is at work in %s", directory);
	else
		g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "%s: %s", directory, g_strerror(errno));
	return false;
}

static bool check_exists(const char *directory, const char *path, GError **error)
{
	if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s holds no results.sqlite: is it the directory of a run?",
		    directory);
	return false;
}

struct lab_store *lab_store_open(const char *directory, bool create, GError **error)
{
	struct lab_store *store = g_new0(struct lab_store, 1);

	store->lock = -1;
	store->path = g_build_filename(directory, "results.sqlite", NULL);
	if (!create && !check_exists(directory, store->path, error))
		goto failed;
	if (create && g_mkdir_with_parents(directory, 0777) < 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "cannot make %s: %s", directory,
			    g_strerror(errno));
		goto failed;
	}
	if (!lock_directory(store, directory, error))
		goto failed;
	if (sqlite3_open(store->path, &store->database) != SQLITE_OK) {
		lab_store_fail(store, error);
		goto failed;
	}
	if (lab_store_exec(store, schema, error))
		return store;
failed:
	lab_store_close(store);
	return NULL;
}

void lab_store_close(struct lab_store *store)
{
	if (!store)
		return;
	sqlite3_close(store->database);
	if (store->lock >= 0)
		close(store->lock);
	g_free(store->path);
	g_free(store);
}

char *lab_store_get_fact(struct lab_store *store, const char *name)
{
	sqlite3_stmt *statement = NULL;
	char *value = NULL;

	if (sqlite3_prepare_v2(store->database, "SELECT value FROM fact WHERE name=?", -1, &statement, NULL) ==
	    SQLITE_OK) {
		sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
		if (sqlite3_step(statement) == SQLITE_ROW)
			value = g_strdup((const char *)sqlite3_column_text(statement, 0));
	}
	sqlite3_finalize(statement);
	return value;
}

bool lab_store_put_fact(struct lab_store *store, const char *name, const char *value, GError **error)
{
	sqlite3_stmt *statement = NULL;
	bool put = false;

	if (sqlite3_prepare_v2(store->database, "INSERT OR REPLACE INTO fact VALUES(?,?)", -1, &statement, NULL) ==
	    SQLITE_OK) {
		sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
		sqlite3_bind_text(statement, 2, value ? value : "", -1, SQLITE_STATIC);
		put = sqlite3_step(statement) == SQLITE_DONE;
	}
	if (!put)
		lab_store_fail(store, error);
	sqlite3_finalize(statement);
	return put;
}

char *lab_strings_to_json(char *const *strings, guint count)
{
	g_autoptr(JsonArray) array = json_array_new();
	g_autoptr(JsonNode) node = json_node_new(JSON_NODE_ARRAY);

	for (guint i = 0; i < count; i++)
		json_array_add_string_element(array, strings[i]);
	json_node_set_array(node, array);
	return json_to_string(node, FALSE);
}

char **lab_strings_from_json(const char *json)
{
	g_autoptr(JsonNode) node = json ? json_from_string(json, NULL) : NULL;
	JsonArray *array = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
	guint count = array ? json_array_get_length(array) : 0;
	char **strings = g_new0(char *, count + 1);

	for (guint i = 0; i < count; i++)
		strings[i] = g_strdup(json_array_get_string_element(array, i));
	return strings;
}

static bool put_facts(struct lab_store *store, const struct lab_config *config, const struct lab_plan *plan,
		      GError **error)
{
	g_autofree char *title = lab_config_title(config);
	g_autofree char *about = lab_config_about(config);
	g_autofree char *path = g_canonicalize_filename(config->path, NULL);
	g_autofree char *sets = lab_strings_to_json(config->sets, g_strv_length(config->sets));
	g_autofree char *columns = lab_strings_to_json((char **)plan->columns->pdata, plan->columns->len);
	g_autofree char *sweep_columns = g_strdup_printf("%u", plan->sweep_columns);
	g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, config->seed);
	const struct {
		const char *name, *value;
	} facts[] = {
		{ "title", title },
		{ "about", about },
		{ "quantity", plan->measured ? report_quantity_info(plan->measured->quantity)->name : NULL },
		{ "config_path", path },
		{ "config_text", config->text },
		{ "config_hash", config->hash },
		{ "sets", sets },
		{ "seed", seed },
		{ "version", LAB_VERSION },
		{ "model_hash", lab_model_hash() },
		{ "git_revision", lab_git_revision() },
		{ "measured_source", plan->measured ? plan->measured->source : NULL },
		{ "columns", columns },
		{ "sweep_columns", sweep_columns },
	};

	for (guint i = 0; i < G_N_ELEMENTS(facts); i++)
		if (!lab_store_put_fact(store, facts[i].name, facts[i].value, error))
			return false;
	return true;
}

static bool put_row(struct lab_store *store, sqlite3_stmt *statement, guint ordinal, const struct lab_point *point)
{
	g_autofree char *columns = lab_strings_to_json(point->columns, g_strv_length(point->columns));

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	sqlite3_bind_int(statement, 1, (int)ordinal);
	sqlite3_bind_text(statement, 2, point->hash, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 3, columns, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 5, point->measured.label, -1, SQLITE_STATIC);
	if (point->measured.rows) {
		sqlite3_bind_double(statement, 4, point->measured.value);
		sqlite3_bind_int(statement, 6, point->measured.fitted);
	}
	return sqlite3_step(statement) == SQLITE_DONE || lab_store_fail(store, NULL);
}

static bool put_rows(struct lab_store *store, const struct lab_plan *plan, GError **error)
{
	sqlite3_stmt *statement = NULL;
	bool put = sqlite3_prepare_v2(store->database, "INSERT INTO plan VALUES(?,?,?,?,?,?)", -1, &statement, NULL) ==
		   SQLITE_OK;

	for (guint i = 0; put && i < plan->points->len; i++)
		put = put_row(store, statement, i, plan->points->pdata[i]);
	if (!put)
		lab_store_fail(store, error);
	sqlite3_finalize(statement);
	return put;
}

bool lab_store_put_plan(struct lab_store *store, const struct lab_config *config, const struct lab_plan *plan,
			GError **error)
{
	if (lab_store_exec(store, "BEGIN IMMEDIATE; DELETE FROM plan; DELETE FROM fact;", error) &&
	    put_facts(store, config, plan, error) && put_rows(store, plan, error) &&
	    lab_store_exec(store, "COMMIT", error))
		return true;
	lab_store_exec(store, "ROLLBACK", NULL);
	return false;
}

bool lab_store_has(struct lab_store *store, const char *hash)
{
	sqlite3_stmt *statement = NULL;
	bool has = false;

	if (sqlite3_prepare_v2(store->database, "SELECT 1 FROM point WHERE hash=? AND lasting", -1, &statement, NULL) ==
	    SQLITE_OK) {
		sqlite3_bind_text(statement, 1, hash, -1, SQLITE_STATIC);
		has = sqlite3_step(statement) == SQLITE_ROW;
	}
	sqlite3_finalize(statement);
	return has;
}

bool lab_store_put_result(struct lab_store *store, const char *hash, const struct sim_result *result, bool lasting,
			  GError **error)
{
	static const char sql[] = "INSERT INTO point VALUES(?1,?2,?3,1,?4,?5,?6,?7) ON CONFLICT(hash) DO UPDATE SET"
				  " lasting=?2, result=?3, computations=computations+1, wall_seconds=?4, host=?5,"
				  " version=?6, git_revision=?7";
	g_autofree char *json = lab_result_to_json(result);
	sqlite3_stmt *statement = NULL;
	bool put = false;

	if (sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) == SQLITE_OK) {
		sqlite3_bind_text(statement, 1, hash, -1, SQLITE_STATIC);
		sqlite3_bind_int(statement, 2, lasting);
		sqlite3_bind_text(statement, 3, json, -1, SQLITE_STATIC);
		sqlite3_bind_double(statement, 4, result->wall_seconds);
		sqlite3_bind_text(statement, 5, g_get_host_name(), -1, SQLITE_STATIC);
		sqlite3_bind_text(statement, 6, LAB_VERSION, -1, SQLITE_STATIC);
		sqlite3_bind_text(statement, 7, lab_git_revision(), -1, SQLITE_STATIC);
		put = sqlite3_step(statement) == SQLITE_DONE;
	}
	if (!put)
		lab_store_fail(store, error);
	sqlite3_finalize(statement);
	return put;
}

bool lab_store_count(struct lab_store *store, struct lab_store_counts *counts, GError **error)
{
	sqlite3_stmt *statement = NULL;
	bool counted = sqlite3_prepare_v2(
			       store->database,
			       "SELECT (SELECT count(*) FROM plan), (SELECT count(*) FROM point WHERE lasting),"
			       " (SELECT ifnull(sum(computations), 0) FROM point)",
			       -1, &statement, NULL) == SQLITE_OK &&
		       sqlite3_step(statement) == SQLITE_ROW;

	if (counted) {
		counts->rows = (guint)sqlite3_column_int(statement, 0);
		counts->finished = (guint)sqlite3_column_int(statement, 1);
		counts->computations = (guint)sqlite3_column_int(statement, 2);
	} else {
		lab_store_fail(store, error);
	}
	sqlite3_finalize(statement);
	return counted;
}
