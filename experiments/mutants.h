/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EXPERIMENTS_MUTANTS_H
#define EXPERIMENTS_MUTANTS_H

/**
 * Historical bugs: the head of each patch of model/mutants, and the program that was built with it.
 *
 * A head is lines "Key: text", up to a line "---"; a line that begins with a blank goes on with the one before. Bug,
 * Source and Fault name what went wrong, Config what finds it, and Rule by what: a list of which one must come true, of
 *   C1 to C36    the rule is broken
 *   stuck        nothing can happen any more and the application is not done (C33, C34)
 *   fails        an operation ends with an error though nothing went wrong (C34)
 *   valid        the state of a core contradicts itself (C7, C36)
 *   cut          the server ends the connection of a client that it should serve (C1, C11)
 *   assertion    the core notices itself and stops (C36)
 *   throughput   no rule is broken, but the simulation takes longer
 * "Expressible: no; REASON" stands in place of Rule and Config. A bug of servers that a client must survive has Switch, the
 * keys of a config that bring it about, in place of Rule, and no patch: its Config is checked with the program as it is,
 * and nothing may be reported. A control, a change that breaks no rule, has Change and Config.
 */

#include "experiments/value.h"

#define LAB_RULE_THROUGHPUT "throughput"
#define LAB_RULE_ASSERTION "assertion"

struct lab_mutant {
	char *name;
	char *bug; /* "D-2"; NULL: a control */
	char *source;
	char *fault; /* of a control: its change */
	char *config;
	char *unexpressible; /* why the core cannot have that bug; NULL: it can */
	char *misbehaviour; /* keys of the config by which the server misbehaves; NULL: a patch */
	char **rules; /* NULL at the end; NULL: a control, a misbehaviour, or not expressible */
	char *program; /* NULL with `unexpressible` */
};

void lab_mutant_free(struct lab_mutant *mutant);
/** Read a head. LAB_ERROR_USAGE names file and line. `program` is left NULL. */
struct lab_mutant *lab_mutant_read(const char *path, const char *text, GError **error);
bool lab_mutant_names_rule(const struct lab_mutant *mutant, const char *rule);

/** All mutants in the folder `mutants` beside the running program, bugs first, each kind by number and name.
 *  LAB_ERROR_ENVIRONMENT: there is no such folder. */
GPtrArray *lab_mutants_load(GError **error);
/** LAB_ERROR_ENVIRONMENT: its program is not built. */
bool lab_mutant_is_built(const struct lab_mutant *mutant, GError **error);
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
	char *rule; /* by which it was killed */
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
