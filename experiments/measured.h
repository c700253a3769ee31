/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_MEASURED_H
#define EXPERIMENTS_MEASURED_H

/**
 * Measured tables (CSV, or TSV by the file's ending) and how their rows belong to points. In a config:
 *
 *	[measured]
 *	file=measured/throughput-6.1.tsv
 *	points=rows                            each row is a point of its own; otherwise rows are matched to points
 *	value=MBps                             column of what was measured
 *	quantity=pairs                         what that is: throughput (MB/s, without this line), pairs, command_ms
 *	match.network.rtt=rtt_ms:ms            column, and the unit its numbers are in
 *	match.client.mount=mount_opts
 *	regex.network.tcp.send_buffer=wmem=[0-9]+ [0-9]+ ([0-9]+)     part of the cell that counts: the first group
 *	map.network.rate=0:unlimited           words in place of cell texts, separated by ';'; none: the row says nothing
 *	where.rw=r                             only rows whose column has one of these values, separated by ';'
 *	fit.rtt_ms=0                           such rows take part in a fit; the others are held out
 *	at.network.rtt=1ms                     only points with this value; for what the table does not say
 *	label=mount_opts                       column that names a row in reports
 *
 * Lines that begin with '#' are comments; the one with "Source:" says where the figures are from.
 */

#include "experiments/config.h"
#include "reports/quantity.h"

struct lab_match {
	guint key;
	guint column;
	char *unit; /* put behind the cell; may be empty */
	GRegex *regex; /* may be NULL */
	char **map; /* "FROM:TO", NULL-terminated; may be NULL */
};

/** A value that a point must have for any row to belong to it. */
struct lab_condition {
	guint key;
	char *canonical;
};

struct lab_measured_row {
	char **cells;
	guint line;
	bool has_value; /* false with points=rows and an empty cell: a point, with nothing to compare */
	double value; /* in the unit of the table's quantity */
	bool fitted;
	char *label;
};

struct lab_measured {
	char *path;
	char *source; /* of the "Source:" line; NULL = it has none */
	GPtrArray *columns; /* char * */
	GPtrArray *rows; /* struct lab_measured_row, those that `where` lets through */
	GPtrArray *matches; /* struct lab_match */
	GPtrArray *conditions; /* struct lab_condition */
	enum report_quantity quantity;
	bool rows_are_points;
	bool has_fit; /* some row is named as fitted */
};

/** NULL without error when the config has no [measured]. `file`: in place of the config's file, or NULL. */
struct lab_measured *lab_measured_load(const struct lab_config *config, const char *file, GError **error);
void lab_measured_free(struct lab_measured *measured);

/** What the row says about one key, as a text that could be given in a config; NULL = nothing (an empty cell). */
char *lab_measured_text(const struct lab_measured_row *row, const struct lab_match *match);

/** The measurement that belongs to a point, given as the texts in force of its columns ("section.key"): the
 *  mean over the rows whose matched keys all agree. */
struct lab_measurement {
	guint rows; /* 0 = none */
	double value;
	bool fitted; /* all of them */
	const char *label; /* of the first; owned by the table */
};
struct lab_measurement lab_measured_find(const struct lab_measured *measured, const GPtrArray *columns,
					 char *const *values);

/** One table as rows of cells, for other readers: the header first. LAB_ERROR_USAGE names file and line. */
struct lab_table {
	char *source;
	GPtrArray *lines; /* char ** */
	GArray *numbers; /* guint: line in the file, per entry of lines */
};
struct lab_table *lab_table_read(const char *path, GError **error);
void lab_table_free(struct lab_table *table);

#endif
