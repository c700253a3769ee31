/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_COVERAGE_COVERAGE_H
#define REPORTS_COVERAGE_COVERAGE_H

/**
 * How much of the core the model checker has run: lines and branches as gcov tells them, and cells of the client's tables.
 *
 * The checker remembers what an event does to a part of the system, so the core runs once for each different effect: counts
 * are effects, not transitions. Only whether they are 0 means something.
 */

#include "protocol/client/tables.h"

#include <glib.h>
#include <json-glib/json-glib.h>

/** One way to go on from a line. */
struct coverage_branch {
	guint line; /* of a `case`: its label's */
	guint64 count;
	bool is_behind; /* the line itself was never reached: what leads there is missing already */
	char *never; /* what is not so, were `count` 0: "`a` is never true", "case B is never taken" */
	const char *beyond; /* no model can reach it, because of this; NULL: one can */
};

struct coverage_function {
	char *name;
	guint first, last; /* lines */
	guint64 count;
	const char *beyond; /* no model can reach any of it */
	bool is_assertion; /* it says whether state is valid: that it never fails, or is not called, is no gap */
};

struct coverage_line {
	bool is_code;
	guint64 count;
	GArray *arcs; /* guint64: how often each way out was taken, in gcov's order; NULL: there is one only */
};

struct coverage_file {
	char *path; /* from the top of the sources */
	const char *why; /* it is credit or compound code; NULL: it is not */
	char **source; /* lines, from 0 */
	GPtrArray *functions; /* struct coverage_function, by line */
	GArray *lines; /* struct coverage_line, line 1 at [1] */
	GPtrArray *branches; /* struct coverage_branch, by line */
};

struct coverage_sum {
	guint functions, functions_called;
	guint lines, lines_run;
	guint branches, branches_taken;
	guint beyond; /* branches not taken that no model can reach */
};

#define COVERAGE_CELL_ROWS 64
#define COVERAGE_CELL_COLUMNS 16

/** What was checked. */
struct coverage_run {
	char *config;
	char *result; /* its last line */
	guint64 states;
};

struct coverage {
	char *sources; /* folder */
	GPtrArray *files; /* struct coverage_file, by path; credit and compound code first */
	GPtrArray *runs; /* struct coverage_run */
	GPtrArray *kinds; /* names of faults and freedoms that happened in no run */
	bool cells[SMB_TABLES][COVERAGE_CELL_ROWS][COVERAGE_CELL_COLUMNS];
};

struct coverage *coverage_new(const char *sources);
void coverage_free(struct coverage *coverage);
void coverage_add_run(struct coverage *coverage, const char *config, const char *result, guint64 states);
/** One line that `gcov --json-format --stdout` writes: what one object file has counted. */
bool coverage_add_gcov(struct coverage *coverage, const char *json, GError **error);
/** Lines "table row column" of smblab-coverage. */
bool coverage_add_cells(struct coverage *coverage, const char *text, GError **error);
/** Read the sources and name the branches; once, when everything was added. */
bool coverage_finish(struct coverage *coverage, GError **error);

struct coverage_cells {
	guint all;
	guint taken;
};
struct coverage_cells coverage_cells_of(const struct coverage *coverage, enum smb_table table);

struct coverage_sum coverage_sum_of(const struct coverage_file *file);
/** Of all files, or of the credit and compound code alone. */
struct coverage_sum coverage_sum_all(const struct coverage *coverage, bool is_focus);
/** The function that a line is in; NULL: none. */
const struct coverage_function *coverage_function_at(const struct coverage_file *file, guint line);

/** Which files are credit and compound code, and why. NULL: the file is none. */
const char *coverage_focus(const char *path);
/** All of them; returns how many. */
guint coverage_focus_paths(const char *const **paths);

/** Why no model can reach a branch (NULL: a whole function); NULL: one can. */
const char *coverage_beyond(const char *file, const char *function, const char *never);
/** For tests: what the reasons are given for, one after another; returns how many. */
guint coverage_beyond_at(guint index, const char **file, const char **function);

/** branches.c: the branches of a file whose lines and source are there. */
void coverage_name_branches(struct coverage_file *file);

/** For people, on a terminal. */
void coverage_text(const struct coverage *coverage, GString *out);
/** coverage.html, with the source of the credit and compound code. */
GString *coverage_page(const struct coverage *coverage);
/** The members of an object that is begun. */
void coverage_json(const struct coverage *coverage, JsonBuilder *json);

#endif
