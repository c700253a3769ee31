/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_CONFIG_H
#define EXPERIMENTS_CONFIG_H

/**
 * An experiment as a config file describes it. Reading is strict: an unknown section or key, a duplicate, a value that
 * is wrong by itself, a key that is both fixed and swept are errors that name file, line and key.
 */

#include "experiments/keys.h"
#include "experiments/scan.h"

/** One line of [sweep]: a key and the values it takes in turn; NULL = not given ("unset" where 0 is no word for it). */
struct lab_sweep {
	guint key;
	GPtrArray *values; /* interned texts or NULL */
	guint line; /* 0: from --set */
};

struct lab_config {
	char *path;
	char *directory; /* of the file: relative names in it start here */
	char *text;
	char *hash; /* SHA-256 (hex) of text and --set */
	char **sets; /* --set as given, NULL-terminated */
	GPtrArray *entries; /* struct lab_entry: all lines */
	struct lab_values values; /* fixed keys, --set and include worked in */
	guint lines[LAB_KEYS_MAX]; /* line of a fixed key; 0 = not from this file */
	GPtrArray *sweeps; /* struct lab_sweep, in the order of the file */
	guint repeat;
	uint64_t seed;
	double wall_limit_s; /* per point; 0 = none */
};

/** `sets`: texts "SECTION.KEY=VALUE" ("sweep.SECTION.KEY=A;B" for a sweep), or NULL. */
struct lab_config *lab_config_load(const char *path, char **sets, GError **error);
/** The same from a text kept earlier, e.g. in a result store. */
struct lab_config *lab_config_parse(const char *path, const char *text, char **sets, GError **error);
void lab_config_free(struct lab_config *config);
typedef struct lab_config lab_config;
/* cppcheck-suppress unknownMacro */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(lab_config, lab_config_free)

/** The title, or the file's name without its ending. */
char *lab_config_title(const struct lab_config *config);
/** What the author says about it: the comment at the head of the file without its command lines, paragraphs separated
 *  by newlines. Empty = nothing; free with g_free. */
char *lab_config_about(const struct lab_config *config);
/** Entries of one section. */
GPtrArray *lab_config_section(const struct lab_config *config, const char *section);
/** "PATH:LINE: [section] key: " of a fixed or swept key, in front of the message; PATH alone for key -1. */
void lab_config_blame(const struct lab_config *config, int key, GError **error);

#endif
