/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smblab check --mutant: does the checker find the bugs that kernels and servers really had? */

#include "experiments/command_check_mutants.h"

#include "experiments/commands.h"
#include "experiments/mutants.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define UNEXPRESSIBLE_MAX_PERCENT 10
#define BUG_STATES 300000 /* no bug needs more to be found */
#define CONTROL_STATES 100000 /* that many are looked at of a change that breaks no rule */

/* ------------------------------------------------------------------------------------------------------------ one line */

static void print_cost(const struct lab_mutant_verdict *verdict)
{
	if (verdict->slowdown > 0)
		printf("%.2f times the time, %.1f s\n", verdict->slowdown, verdict->seconds);
	else
		printf("depth %u, %" G_GUINT64_FORMAT " states, %.1f s\n", verdict->depth, verdict->states,
		       verdict->seconds);
}

static void print_mutant(const struct lab_mutant *mutant, const struct lab_mutant_verdict *verdict)
{
	g_autofree char *named = mutant->rules ? g_strjoinv(" or ", mutant->rules) : NULL;

	printf("%-32s ", mutant->name);
	switch (verdict->end) {
	case LAB_MUTANT_KILLED:
		printf("killed by %s, ", verdict->rule);
		print_cost(verdict);
		break;
	case LAB_MUTANT_KILLED_OTHERWISE:
		printf("KILLED BY %s, not by %s (%s), ", verdict->rule, named, verdict->text);
		print_cost(verdict);
		break;
	case LAB_MUTANT_SURVIVES:
		printf("SURVIVES, not killed by %s, ", named);
		print_cost(verdict);
		break;
	case LAB_MUTANT_INCONCLUSIVE:
		printf("NOT KILLED by %s within the bound, ", named);
		print_cost(verdict);
		break;
	case LAB_MUTANT_UNEXPRESSIBLE:
		printf("not expressible: %s\n", mutant->unexpressible);
		break;
	case LAB_MUTANT_FAILED:
		printf("NOT JUDGED: %s\n", verdict->text);
		break;
	}
}

/** What nothing may be reported of: a control, or a misbehaviour of the server. */
static void print_control(const struct lab_mutant *mutant, const struct lab_mutant_verdict *verdict)
{
	const char *what = mutant->misbehaviour ? "misbehaviour of the server" : "control";

	printf("%-32s ", mutant->name);
	switch (verdict->end) {
	case LAB_MUTANT_SURVIVES:
		printf("%s: not reported, %" G_GUINT64_FORMAT " states, %.1f s\n", what, verdict->states,
		       verdict->seconds);
		break;
	case LAB_MUTANT_INCONCLUSIVE:
		printf("%s: not reported in the first %" G_GUINT64_FORMAT " states, %.1f s\n", what, verdict->states,
		       verdict->seconds);
		break;
	case LAB_MUTANT_FAILED:
		printf("%s: NOT JUDGED: %s\n", what, verdict->text);
		break;
	default:
		printf("%s: REPORTED, %s (%s), ", what, verdict->rule, verdict->text);
		print_cost(verdict);
		break;
	}
}

/* ------------------------------------------------------------------------------------------------------------------ all */

struct job {
	const struct lab_mutant *mutant;
	guint64 max_states;
	struct lab_mutant_verdict verdict;
	bool done;
};

/** Mutants are judged by several processes at a time, and told of in order. */
struct team {
	GMutex lock;
	GCond changed;
};

static void work(gpointer data, gpointer context)
{
	struct team *team = context;
	struct job *job = data;

	lab_mutant_judge(job->mutant, NULL, job->max_states, &job->verdict);
	g_mutex_lock(&team->lock);
	job->done = true;
	g_cond_broadcast(&team->changed);
	g_mutex_unlock(&team->lock);
}

struct score {
	bool is_all; /* how many are not expressible counts */
	guint bugs, killed, otherwise, survived, unexpressible, failed;
	guint controls, reported, misbehaviours, not_survived;
};

static void count(struct score *score, const struct job *job)
{
	enum lab_mutant_end end = job->verdict.end;

	bool is_reported = end == LAB_MUTANT_KILLED || end == LAB_MUTANT_KILLED_OTHERWISE;

	score->failed += end == LAB_MUTANT_FAILED;
	if (!job->mutant->bug) {
		score->controls++;
		score->reported += is_reported;
		return;
	}
	if (job->mutant->misbehaviour) {
		score->misbehaviours++;
		score->not_survived += is_reported;
		return;
	}
	score->bugs++;
	score->killed += end == LAB_MUTANT_KILLED;
	score->otherwise += end == LAB_MUTANT_KILLED_OTHERWISE;
	score->survived += end == LAB_MUTANT_SURVIVES || end == LAB_MUTANT_INCONCLUSIVE;
	score->unexpressible += end == LAB_MUTANT_UNEXPRESSIBLE;
}

static int print_score(const struct score *score)
{
	bool too_many = score->is_all && score->unexpressible * 100 > score->bugs * UNEXPRESSIBLE_MAX_PERCENT;

	printf("%u bugs: %u killed, %u by another rule than named, %u not killed, %u not expressible%s", score->bugs,
	       score->killed, score->otherwise, score->survived, score->unexpressible, too_many ? " (too many)" : "");
	printf("; %u misbehaviours: %u not survived; %u controls: %u reported", score->misbehaviours,
	       score->not_survived, score->controls, score->reported);
	if (score->failed)
		printf("; %u not judged", score->failed);
	putchar('\n');
	if (score->failed)
		return 3;
	return score->otherwise || score->survived || score->reported || score->not_survived || too_many ? 1 : 0;
}

static void tell_as_they_come(struct team *team, struct job *jobs, guint job_count, struct score *score)
{
	for (guint i = 0; i < job_count; i++) {
		g_mutex_lock(&team->lock);
		while (!jobs[i].done)
			g_cond_wait(&team->changed, &team->lock);
		g_mutex_unlock(&team->lock);
		if (jobs[i].mutant->bug && !jobs[i].mutant->misbehaviour)
			print_mutant(jobs[i].mutant, &jobs[i].verdict);
		else
			print_control(jobs[i].mutant, &jobs[i].verdict);
		fflush(stdout);
		count(score, &jobs[i]);
		lab_mutant_verdict_clear(&jobs[i].verdict);
	}
}

static int check_several(const GPtrArray *mutants, bool is_all, const struct lab_mutants_options *options)
{
	g_autofree struct job *jobs = g_new0(struct job, mutants->len);
	gint threads = options->jobs ? options->jobs : (gint)g_get_num_processors();
	struct team team = { 0 };
	GThreadPool *pool = g_thread_pool_new(work, &team, threads, FALSE, NULL);
	struct score score = { .is_all = is_all };

	for (guint i = 0; i < mutants->len; i++) {
		jobs[i].mutant = mutants->pdata[i];
		jobs[i].max_states = options->max_states;
		if (!options->max_states)
			jobs[i].max_states = jobs[i].mutant->rules ? BUG_STATES : CONTROL_STATES;
		g_thread_pool_push(pool, &jobs[i], NULL);
	}
	tell_as_they_come(&team, jobs, mutants->len, &score);
	g_thread_pool_free(pool, FALSE, TRUE);
	return print_score(&score);
}

/* ------------------------------------------------------------------------------------------------------------------ one */

/** A single mutant speaks for itself: its program takes the place of this one. */
static int become(const struct lab_mutant *mutant, const struct lab_mutants_options *options)
{
	g_autofree char *bound = g_strdup_printf("--max-states=%" G_GUINT64_FORMAT, options->max_states);
	g_autoptr(GPtrArray) argv = g_ptr_array_new();

	if (mutant->unexpressible) {
		printf("%s is not expressible: %s\n", mutant->name, mutant->unexpressible);
		return 0;
	}
	if (lab_mutant_names_rule(mutant, LAB_RULE_THROUGHPUT)) {
		struct lab_mutant_verdict verdict;
		int code;

		lab_mutant_judge(mutant, options->config, 0, &verdict);
		print_mutant(mutant, &verdict);
		code = verdict.end == LAB_MUTANT_KILLED ? 1 : verdict.end == LAB_MUTANT_FAILED ? 3 : 0;
		lab_mutant_verdict_clear(&verdict);
		return code;
	}
	fprintf(stderr, "%s (%s): %s\n", mutant->name, mutant->source ? mutant->source : "control", mutant->fault);
	g_ptr_array_add(argv, mutant->program);
	g_ptr_array_add(argv, (gpointer) "check");
	g_ptr_array_add(argv, bound);
	for (char **set = options->sets; set && *set; set++) {
		g_ptr_array_add(argv, (gpointer) "--set");
		g_ptr_array_add(argv, *set);
	}
	g_ptr_array_add(argv, options->config ? (gpointer)options->config : mutant->config);
	g_ptr_array_add(argv, NULL);
	fflush(stdout);
	execv(mutant->program, (char **)argv->pdata);
	return lab_fail(
		g_error_new(LAB_ERROR, LAB_ERROR_ENVIRONMENT, "cannot run %s: %s", mutant->program, g_strerror(errno)));
}

/** Those that a list names, "all" or "D-2,D-77". NULL: one of them is unknown, or not built. */
static GPtrArray *choose(const GPtrArray *mutants, const char *list, GError **error)
{
	g_autoptr(GPtrArray) chosen = g_ptr_array_new();
	g_auto(GStrv) names = g_strsplit(list, ",", -1);

	for (guint i = 0; i < (strcmp(list, "all") ? g_strv_length(names) : mutants->len); i++) {
		const struct lab_mutant *mutant = strcmp(list, "all") ? lab_mutants_find(mutants, names[i], error)
								      : mutants->pdata[i];

		if (!mutant || !lab_mutant_is_built(mutant, error))
			return NULL;
		g_ptr_array_add(chosen, (gpointer)mutant);
	}
	return g_steal_pointer(&chosen);
}

int lab_check_mutants(const char *name, const struct lab_mutants_options *options)
{
	GError *error = NULL;
	g_autoptr(GPtrArray) mutants = lab_mutants_load(&error);
	g_autoptr(GPtrArray) chosen = mutants ? choose(mutants, name, &error) : NULL;
	bool is_all = !strcmp(name, "all");

	if (!chosen)
		return lab_fail(error);
	if (is_all || chosen->len > 1)
		return check_several(chosen, is_all, options);
	return become(chosen->pdata[0], options);
}
