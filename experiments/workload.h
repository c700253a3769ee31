/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_WORKLOAD_H
#define EXPERIMENTS_WORKLOAD_H

/**
 * The commands people type, as jobs: what dd, cat and fio would read from the share or dd write to it, call by call, and shell commands
 * (touch, rm, ls, ...) as operations of the file system. `for i in $(seq N); do ...; done` repeats them, with $i in
 * their names; $client is the number of the client.
 *
 * An option that this cannot honour is refused by name instead of being simulated as something else.
 */

#include "experiments/value.h"
#include "sim/world/world.h"

/** What a command's meaning depends on beside its words. */
struct lab_surroundings {
	const char *directory; /* where fio job files with relative names are */
	const char
		*mountpoint; /* files below it are on the share; NULL: each file named is, in the share's root, unless
				 * there are shell commands: LAB_MOUNTPOINT then */
	uint64_t file_bytes; /* size of the files; 0 = as large as the command needs, or empty; of shell commands 10 */
	bool files_are_empty;
	uint64_t block_bytes; /* st_blksize of files on the share: what cat reads at a time, at least 128 KiB */
	uint64_t seed; /* for random offsets */
	const char *prepare; /* commands that run before anything is measured, or NULL */
	/* PATH or PATH=NUMBER separated by ';', or NULL: files and their sizes, directories and their entries, what is
	 * not there. What else the shell commands need to find is assumed to be there. */
	const char *files;
	const char *directories;
	const char *missing;
	bool is_bill; /* every command is a shell command, reading included */
};

#define LAB_MOUNTPOINT "/mnt"
#define LAB_SMALL_FILE_BYTES 10
#define LAB_SMALL_DIRECTORY 10 /* entries */

/** `text`: one or more commands separated by ';'. LAB_ERROR_USAGE tells which command and which word. */
bool lab_workload_parse(const char *text, const struct lab_surroundings *around, struct sim_workload *workload,
			GError **error);
/** Each job of a script in which every command is one job, as typed; free with g_ptr_array_unref. */
GPtrArray *lab_workload_lines(const char *text);
/** How large files are that shell commands need and that nobody gave a size. */
uint64_t lab_small_file_bytes(const struct lab_surroundings *around);
/** dd's number syntax: 4096, 1M, 64K, 2b, 1MB, 3x512 (dd(1)). */
bool lab_dd_number_parse(const char *text, uint64_t *number, GError **error);

/** An amount of dd's: blocks, or (8B) bytes. */
bool lab_dd_amount_parse(const char *text, uint64_t *amount, bool *is_bytes, GError **error);
/** Does this dd write to the share? */
bool lab_dd_writes(char **argv, const struct lab_surroundings *around);

struct lab_workload_info {
	const char *name;
	const char *tells;
	const char *example;
};
const struct lab_workload_info *lab_workload_commands(guint *count);

/* One parser per command; argv[0] is the command, NULL-terminated. */
typedef bool (*lab_workload_fn)(char **argv, const struct lab_surroundings *around, struct sim_workload *workload,
				GError **error);
bool lab_workload_dd(char **argv, const struct lab_surroundings *around, struct sim_workload *workload, GError **error);
bool lab_workload_dd_write(char **argv, const struct lab_surroundings *around, struct sim_workload *workload,
			   GError **error);
bool lab_workload_cat(char **argv, const struct lab_surroundings *around, struct sim_workload *workload,
		      GError **error);
bool lab_workload_fio(char **argv, const struct lab_surroundings *around, struct sim_workload *workload,
		      GError **error);

/** One shell command (smb_ops_parse), or the argument of `sleep`. */
bool lab_workload_command(const char *text, const struct lab_surroundings *around, struct sim_workload *workload,
			  GError **error);
bool lab_workload_sleep(const char *text, struct sim_workload *workload, GError **error);
/** What is on the share: `given` names come first, then those assumed. */
bool lab_workload_names(const struct lab_surroundings *around, struct sim_workload *workload, guint *given,
			GError **error);

struct sim_job *lab_job_append(struct sim_workload *workload, enum sim_job_kind kind, GError **error);
/** The name on the share of a path as typed, shorter than `size`. */
const char *lab_share_name(const char *file, const struct lab_surroundings *around, size_t size, GError **error);
/** Append a job that reads `file`, a path as typed. */
struct sim_read_job *lab_job_add(struct sim_workload *workload, const char *file, const struct lab_surroundings *around,
				 GError **error);
/** Settle the file's size: as given, or what `needed_bytes` says; 0 = the whole file, so a size must be given. */
bool lab_job_size(struct sim_read_job *job, const struct lab_surroundings *around, uint64_t needed_bytes,
		  GError **error);

#endif
