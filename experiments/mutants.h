/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_MUTANTS_H
#define EXPERIMENTS_MUTANTS_H

/**
 * Historical bugs: the head of each patch of model/mutants, and the program that was built with it.
 *
 * A head is lines "Key: text", up to a line "---"; a line that begins with a blank goes on with the one before. Bug,
 * Source and Fault name what went wrong, Rule the rules of which it must break one (C1 to C36; "throughput": it breaks
 * none but takes longer; "assertion": the core notices itself), Config what finds it. "Expressible: no; REASON" stands in
 * place of the last two. A control, a change that breaks no rule, has Change in place of Bug, Source, Fault and Rule.
 */

#include "experiments/value.h"

#define LAB_RULE_THROUGHPUT (-1)
#define LAB_RULE_ASSERTION (-2)
#define LAB_MUTANT_RULES_MAX 6

struct lab_mutant {
	char *name;
	char *bug; /* "D-2"; NULL: a control */
	char *source;
	char *fault; /* of a control: its change */
	char *config;
	char *unexpressible; /* why the core cannot have that bug; NULL: it can */
	int rules[LAB_MUTANT_RULES_MAX]; /* C number, or LAB_RULE_* */
	guint rule_count;
	char *program; /* NULL with `unexpressible` */
};

void lab_mutant_free(struct lab_mutant *mutant);
/** Read a head. LAB_ERROR_USAGE names file and line. `program` is left NULL. */
struct lab_mutant *lab_mutant_read(const char *path, const char *text, GError **error);
/** "C6 or C1" */
char *lab_mutant_rules(const struct lab_mutant *mutant);

/** All mutants in the folder `mutants` beside the running program, bugs first, each kind by number and name.
 *  LAB_ERROR_ENVIRONMENT: they are not built. */
GPtrArray *lab_mutants_load(GError **error);
/** By name, or by bug ("D-2"). LAB_ERROR_USAGE: there is none; names the nearest. */
const struct lab_mutant *lab_mutants_find(const GPtrArray *mutants, const char *name, GError **error);

/** What became of a mutant. */
enum lab_mutant_end {
	LAB_MUTANT_KILLED, /* by a rule of its head */
	LAB_MUTANT_KILLED_OTHERWISE, /* by another rule */
	LAB_MUTANT_SURVIVES, /* no rule is broken in any state */
	LAB_MUTANT_INCONCLUSIVE, /* a bound was reached, no rule broken so far */
	LAB_MUTANT_UNEXPRESSIBLE,
	LAB_MUTANT_FAILED, /* could not be judged; `text` says why */
};

struct lab_mutant_verdict {
	enum lab_mutant_end end;
	int rule; /* C number or LAB_RULE_*; 0: another fault than of a rule */
	char *text; /* the fault, or why it failed */
	guint depth; /* moves to the fault */
	guint64 states;
	double seconds;
	double slowdown; /* LAB_RULE_THROUGHPUT: predicted time over that of the program without the bug */
};

/** Run a mutant, with its own config if `config` is NULL, and judge it. `max_states`: bound, 0 = none. */
void lab_mutant_judge(const struct lab_mutant *mutant, const char *config, guint64 max_states,
		      struct lab_mutant_verdict *verdict);
void lab_mutant_verdict_clear(struct lab_mutant_verdict *verdict);

#endif
