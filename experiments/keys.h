/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_KEYS_H
#define EXPERIMENTS_KEYS_H

/**
 * The table of every key a config may contain. One row drives the config reader, --set, the sweep, `smblab list keys`
 * and the columns of results.csv: name, type, range, meaning, and where the value lives in struct sim_point.
 *
 * Rows are applied in table order, so that what refines comes after what it refines: a kernel before its single
 * policies, a server profile before its single fields, a network preset before rtt and rate.
 */

#include "experiments/value.h"
#include "sim/world/world.h"

#define LAB_KEYS_MAX 160

/** Given texts by key index; NULL = not given. The texts are interned (g_intern_string): compare and copy freely. */
struct lab_values {
	const char *text[LAB_KEYS_MAX];
};

/** A point being put together from given texts. */
struct lab_draft {
	struct sim_point *point;
	const char *directory; /* relative file names start here */
	GString *mount; /* option string: client.mount with the single options worked in */
	const char *command; /* workload.command, NULL until given */
	const char *prepare; /* workload.prepare, and so on: NULL until given */
	const char *files;
	const char *directories;
	const char *missing;
	const char *mountpoint; /* NULL: any directory */
	uint64_t file_bytes; /* workload.file_size; 0: as large as the command needs, or empty */
	bool files_are_empty;
};

enum lab_storage { LAB_STORE_NONE, LAB_STORE_U16, LAB_STORE_U32, LAB_STORE_U64, LAB_STORE_DOUBLE, LAB_STORE_BOOL };

struct lab_choice {
	const char *word; /* NULL ends the list */
	unsigned int value;
};

struct lab_key;
typedef bool (*lab_set_fn)(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error);

struct lab_key {
	const char *section;
	const char *name;
	enum lab_type type;
	const char *tells; /* meaning, one line */
	const char *zero; /* word that stands for 0 ("unlimited", "unset"); a plain 0 is refused then */
	const struct lab_choice *choices; /* LAB_CHOICE */
	double min, max; /* in base units, inclusive; max 0 = no upper bound */
	enum lab_storage storage; /* of the field at `offset` in struct sim_point */
	size_t offset;
	size_t mirror; /* second field that takes the same value; 0 = none */
	const char *fallback; /* shown when the key is not given and storage is LAB_STORE_NONE */
	lab_set_fn set; /* NULL: parse by type and store */
	bool hidden; /* no column, no part of a point's identity: it cannot change a result by itself */
	bool whole_file; /* about the experiment, not about a point: may not be swept */
};

const struct lab_key *lab_keys(guint *count);
/** Index of section.name, or -1. */
int lab_key_find(const char *section, const char *name);
/** Index of "section.name", or -1. */
int lab_key_find_dotted(const char *dotted);
/** "section.name" of the i-th key, interned. */
const char *lab_key_dotted(guint index);
/** The nearest known "section.name" to a wrong one, or NULL. */
const char *lab_key_nearest(const char *dotted);

/** Apply one text. LAB_ERROR_USAGE when the text alone is wrong. */
bool lab_key_set(struct lab_draft *draft, guint index, const char *text, GError **error);
/** The value in force at `point`, as canonical text that could be given. */
char *lab_key_effective(guint index, const struct sim_point *point, const struct lab_values *values);
/** Is the text of one key right by itself? LAB_ERROR_USAGE when not. Numbers, choices and
 *  switches only: texts may need files, see lab_point_check. */
bool lab_key_check_text(guint index, const char *text, GError **error);
/** The canonical form of a text that is right; as lab_key_effective would show it. */
char *lab_key_canonical(guint index, const char *text);
/** "a|b|c" for keys with choices and policies, NULL otherwise. */
char *lab_key_words(guint index);

#endif
