/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_COMMANDS_H
#define EXPERIMENTS_COMMANDS_H

/**
 * The commands of smblab. Each takes its own argument vector (argv[0] = "smblab COMMAND") and returns the exit code:
 * 0 fine, 1 a rule is violated or a comparison fails, 2 usage or config, 3 environment, 4 inconclusive,
 * 130 interrupted with finished points kept. Results go to standard output, everything else to standard error.
 */

#include "experiments/value.h"

int lab_command_run(int argc, char **argv);
int lab_command_compare(int argc, char **argv);
int lab_command_calibrate(int argc, char **argv);
int lab_command_report(int argc, char **argv);
int lab_command_merge(int argc, char **argv);
int lab_command_bill(int argc, char **argv);
int lab_command_check(int argc, char **argv);
int lab_command_replay(int argc, char **argv);
int lab_command_list(int argc, char **argv);

/** How a command's command line is read. */
struct lab_usage {
	const char *arguments; /* "CONFIG" */
	const char *summary; /* one or two sentences */
	const char *example; /* a command line and what it does */
	GOptionEntry *options;
	int least, most; /* positional arguments */
};
/** Parse; prints a message and returns false with *exit_code set when the command must not go on. --help exits 0. */
bool lab_usage_parse(const struct lab_usage *usage, int *argc, char ***argv, int *exit_code);

/** Print "smblab: message" and return the exit code that belongs to the error, which is freed. */
int lab_fail(GError *error);

/** The config's file: as given, or when that does not exist and has no '/' in it, the installed one of that name. */
char *lab_config_path(const char *given);

/** Where a config's results go by default: out/ and the config's name, with `suffix` behind it. */
char *lab_default_directory(const char *config_path, const char *suffix);

/** --jobs: 0 (one per core) to 256; else a message and *exit_code. */
bool lab_jobs_check(int jobs, int *exit_code);

/** Print JSON for programs: one pretty document on standard output. */
typedef struct _JsonBuilder JsonBuilder;
void lab_json_print(JsonBuilder *builder);
void lab_json_string(JsonBuilder *builder, const char *name, const char *value);
void lab_json_strings(JsonBuilder *builder, const char *name, const char *const *values);
void lab_json_number(JsonBuilder *builder, const char *name, double value);
void lab_json_whole(JsonBuilder *builder, const char *name, gint64 value);
void lab_json_bool(JsonBuilder *builder, const char *name, bool value);

/** The rows of a finished run as a JSON array member `rows`. */
struct report_table;
void lab_json_rows(JsonBuilder *builder, const struct report_table *table);

#endif
