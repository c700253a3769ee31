/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Running a mutant: through the model checker, or, when its fault is that it is slow, through the simulation. */

#include "experiments/mutants.h"

#include "reports/file.h"

#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#define SLOWDOWN_MIN 1.1 /* predicted time over that without the bug */

/** What a program said. */
struct answer {
	char *out;
	char *err;
	int exit_code; /* -1: it was ended by a signal */
	bool aborted;
};

static void answer_clear(struct answer *answer)
{
	g_free(answer->out);
	g_free(answer->err);
}

static bool run(const char *const *argv, struct answer *answer, GError **error)
{
	g_autoptr(GSubprocess) process = g_subprocess_newv(
		argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, error);

	if (!process || !g_subprocess_communicate_utf8(process, NULL, NULL, &answer->out, &answer->err, error))
		return false;
	answer->exit_code = g_subprocess_get_if_exited(process) ? g_subprocess_get_exit_status(process) : -1;
	answer->aborted = answer->exit_code < 0 && g_subprocess_get_term_sig(process) == SIGABRT;
	return true;
}

static void fail(struct lab_mutant_verdict *verdict, const char *why)
{
	verdict->end = LAB_MUTANT_FAILED;
	verdict->text = g_strstrip(g_strdup(why));
}

static void note_killed(const struct lab_mutant *mutant, struct lab_mutant_verdict *verdict, const char *rule)
{
	verdict->rule = g_strdup(rule);
	verdict->end = lab_mutant_names_rule(mutant, rule) ? LAB_MUTANT_KILLED : LAB_MUTANT_KILLED_OTHERWISE;
}

/* ----------------------------------------------------------------------------------------------------- model checking */

static gint64 member_int(JsonObject *object, const char *name)
{
	return json_object_get_int_member_with_default(object, name, 0);
}

static void read_check(const struct lab_mutant *mutant, const struct answer *answer, struct lab_mutant_verdict *verdict)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *object;
	const char *rule;

	if (!*answer->out || !json_parser_load_from_data(parser, answer->out, -1, NULL) ||
	    !JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser))) {
		fail(verdict, answer->err);
		return;
	}
	object = json_node_get_object(json_parser_get_root(parser));
	verdict->states = (guint64)member_int(object, "states");
	verdict->seconds = json_object_get_double_member_with_default(object, "seconds", 0);
	rule = json_object_get_string_member_with_default(object, "rule", NULL);
	if (!rule) {
		verdict->end = answer->exit_code ? LAB_MUTANT_INCONCLUSIVE : LAB_MUTANT_SURVIVES;
		return;
	}
	verdict->text = g_strdup(json_object_get_string_member_with_default(object, "result", ""));
	verdict->depth = json_array_get_length(json_object_get_array_member(object, "trace"));
	note_killed(mutant, verdict, rule);
}

/** The line in which an assertion says what it found. */
static char *assertion_text(const char *err)
{
	g_auto(GStrv) lines = g_strsplit(err, "\n", -1);

	for (char **line = lines; *line; line++) {
		const char *text = strstr(*line, "Assertion ");

		if (text)
			return g_strdup(text);
	}
	return g_strdup("aborted");
}

static void judge_by_check(const struct lab_mutant *mutant, const char *config, guint64 max_states,
			   struct lab_mutant_verdict *verdict)
{
	g_autofree char *bound = g_strdup_printf("%" G_GUINT64_FORMAT, max_states);
	const char *argv[] = { mutant->program, "check",	"--json", "--jobs", "1",
			       "--no-kit",	"--max-states", bound,	  config,   NULL };
	struct answer answer __attribute__((cleanup(answer_clear))) = { 0 };
	GError *error = NULL;

	if (!run(argv, &answer, &error)) {
		fail(verdict, error->message);
		g_error_free(error);
	} else if (answer.aborted) {
		verdict->text = assertion_text(answer.err);
		note_killed(mutant, verdict, LAB_RULE_ASSERTION);
	} else {
		read_check(mutant, &answer, verdict);
	}
}

/* --------------------------------------------------------------------------------------------------------- simulation */

/** Predicted seconds of each row; NULL: see `answer`. */
static GArray *read_seconds(const char *out)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	GArray *seconds;
	JsonArray *rows;

	if (!*out || !json_parser_load_from_data(parser, out, -1, NULL))
		return NULL;
	rows = json_object_get_array_member(json_node_get_object(json_parser_get_root(parser)), "rows");
	seconds = g_array_new(FALSE, FALSE, sizeof(double));
	for (guint i = 0; i < json_array_get_length(rows); i++) {
		double value = json_object_get_double_member_with_default(json_array_get_object_element(rows, i),
									  "seconds", NAN);

		g_array_append_val(seconds, value);
	}
	return seconds;
}

static GArray *simulate(const char *program, const char *config, struct lab_mutant_verdict *verdict)
{
	g_autofree char *directory = report_scratch_new(NULL);
	const char *argv[] = { program, "run", "--json", "--jobs", "1", "--out", directory, config, NULL };
	struct answer answer __attribute__((cleanup(answer_clear))) = { 0 };
	g_autoptr(GError) error = NULL;
	GArray *seconds = NULL;

	if (directory && run(argv, &answer, &error))
		seconds = read_seconds(answer.out);
	if (!seconds)
		fail(verdict, error ? error->message : answer.err);
	if (directory)
		report_scratch_remove(directory);
	return seconds;
}

/** The largest slowdown of a row. */
static void judge_by_simulation(const struct lab_mutant *mutant, const char *config, struct lab_mutant_verdict *verdict)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autoptr(GArray) with = simulate(mutant->program, config, verdict);
	g_autoptr(GArray) without = with ? simulate(self, config, verdict) : NULL;

	if (!without)
		return;
	for (guint i = 0; i < with->len && i < without->len; i++) {
		double ratio = g_array_index(with, double, i) / g_array_index(without, double, i);

		if (ratio > verdict->slowdown)
			verdict->slowdown = ratio;
	}
	if (verdict->slowdown >= SLOWDOWN_MIN)
		note_killed(mutant, verdict, LAB_RULE_THROUGHPUT);
	else
		verdict->end = LAB_MUTANT_SURVIVES;
}

void lab_mutant_judge(const struct lab_mutant *mutant, const char *config, guint64 max_states,
		      struct lab_mutant_verdict *verdict)
{
	gint64 start_us = g_get_monotonic_time();

	*verdict = (struct lab_mutant_verdict){ .end = LAB_MUTANT_UNEXPRESSIBLE };
	if (mutant->unexpressible)
		return;
	if (!config)
		config = mutant->config;
	if (lab_mutant_names_rule(mutant, LAB_RULE_THROUGHPUT))
		judge_by_simulation(mutant, config, verdict);
	else
		judge_by_check(mutant, config, max_states, verdict);
	verdict->seconds = (double)(g_get_monotonic_time() - start_us) / G_USEC_PER_SEC;
}

void lab_mutant_verdict_clear(struct lab_mutant_verdict *verdict)
{
	g_free(verdict->text);
	g_free(verdict->rule);
}
