/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smblab replay: a counterexample again, step by step. */

#include "experiments/assertions.h"
#include "experiments/check_config.h"
#include "experiments/commands.h"
#include "experiments/replay_capture.h"
#include "experiments/replay_sim.h"
#include "experiments/version.h"
#include "reports/kit/kit.h"

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX (16u << 20)

struct replay_options {
	int to; /* -1: the end */
	gboolean json;
	gboolean sim;
	gboolean capture;
};

/* -------------------------------------------------------------------------------------------------------------- verdict */

/* The recorded rule is broken, by the last recorded move or where the run ends. */
static bool is_same_fault(const struct kit_replay *replay, const struct kit_walk *walk)
{
	return walk->is_broken && !strcmp(walk->found.rule, replay->rule) &&
	       walk->steps->len - walk->mounting == replay->moves->len;
}

static char *verdict(const struct kit_replay *replay, const struct kit_walk *walk)
{
	g_autofree char *last = kit_last_line(walk);

	if (is_same_fault(replay, walk))
		return g_strdup_printf("%s (the recorded fault)", last);
	return g_strdup_printf("%s, where %s was recorded: %s", last, replay->rule, replay->fault);
}

/* ------------------------------------------------------------------------------------------------------------- printing */

static void print_step(const struct kit_walk *walk, guint index)
{
	const struct kit_step *step = walk->steps->pdata[index];
	g_autofree char *line = kit_step_line(walk, index);

	printf("%4s. %s\n", step->name, line);
	if (*step->numbers)
		printf("      %s\n", step->numbers);
}

static void print_end(const struct kit_replay *replay, const struct kit_walk *walk)
{
	g_autofree char *last = verdict(replay, walk), *repeats = kit_repeats_line(walk);

	if (repeats)
		printf("%s\n", repeats);
	if (walk->is_broken)
		printf("instead: %s\n", kit_instead_of(walk));
	printf("%s\n", last);
}

static void print_all(const struct kit_replay *replay, const struct kit_walk *walk, guint to)
{
	for (guint i = 0; i < MIN(walk->mounting + to, walk->steps->len); i++)
		print_step(walk, i);
	print_end(replay, walk);
}

static void print_json(const struct kit_replay *replay, const struct kit_walk *walk, guint to)
{
	g_autoptr(JsonBuilder) json = json_builder_new();

	json_builder_begin_object(json);
	lab_json_string(json, "config", replay->origin.config);
	lab_json_string(json, "program", replay->origin.program);
	lab_json_string(json, "recorded_rule", replay->rule);
	lab_json_string(json, "recorded_fault", replay->fault);
	lab_json_string(json, "rule", walk->is_broken ? walk->found.rule : NULL);
	lab_json_string(json, "fault", walk->is_broken ? walk->found.text : NULL);
	lab_json_string(json, "instead", walk->is_broken ? kit_instead_of(walk) : NULL);
	if (walk->is_broken && walk->found.has_message)
		lab_json_whole(json, "message_id", (gint64)walk->found.message_id);
	lab_json_bool(json, "same_fault", is_same_fault(replay, walk));
	json_builder_set_member_name(json, "steps");
	json_builder_begin_array(json);
	for (guint i = 0; i < MIN(walk->mounting + to, walk->steps->len); i++) {
		const struct kit_step *step = walk->steps->pdata[i];
		g_autofree char *line = kit_step_line(walk, i);

		json_builder_begin_object(json);
		lab_json_string(json, "step", step->name);
		lab_json_string(json, "move", step->line);
		lab_json_string(json, "told", line);
		lab_json_string(json, "numbers", step->numbers);
		json_builder_end_object(json);
	}
	json_builder_end_array(json);
	json_builder_end_object(json);
	lab_json_print(json);
}

static void print_sim_json(const struct kit_replay *replay, const struct lab_sim_verdict *verdict)
{
	g_autoptr(JsonBuilder) json = json_builder_new();

	json_builder_begin_object(json);
	lab_json_string(json, "config", replay->origin.config);
	lab_json_string(json, "recorded_rule", replay->rule);
	lab_json_string(json, "recorded_fault", replay->fault);
	lab_json_bool(json, "followed", verdict->is_followed);
	lab_json_string(json, "step", verdict->step);
	lab_json_string(json, "why", *verdict->why ? verdict->why : NULL);
	lab_json_string(json, "rule", verdict->is_broken ? verdict->rule : NULL);
	lab_json_string(json, "fault", verdict->is_broken ? verdict->text : NULL);
	lab_json_bool(json, "seen", verdict->is_broken && verdict->is_seen);
	lab_json_bool(json, "same_fault", verdict->is_same);
	json_builder_end_object(json);
	lab_json_print(json);
}

static void print_sim(const struct kit_replay *replay, const struct lab_sim_verdict *verdict)
{
	if (verdict->is_broken)
		printf("in the simulated network, step %s: %s is broken: %s%s%s\n", verdict->step, verdict->rule,
		       verdict->text, verdict->is_seen ? "" : " (read off the state, which is the checker's)",
		       verdict->is_same ? " (the recorded fault)" : "");
	else if (verdict->is_followed)
		printf("in the simulated network: no rule is broken, where %s was recorded: %s\n", replay->rule,
		       replay->fault);
	else
		printf("the simulated network does not follow, step %s: %s\n", verdict->step, verdict->why);
}

static void print_capture_json(const struct kit_replay *replay, const struct lab_capture_verdict *verdict, bool is_same)
{
	g_autoptr(JsonBuilder) json = json_builder_new();

	json_builder_begin_object(json);
	lab_json_string(json, "config", replay->origin.config);
	lab_json_string(json, "recorded_rule", replay->rule);
	lab_json_whole(json, "frames", verdict->frames);
	lab_json_whole(json, "pdus", verdict->pdus);
	lab_json_whole(json, "frame_with_comment", verdict->marked);
	lab_json_whole(json, "frame", verdict->frame);
	lab_json_string(json, "rule", verdict->is_broken ? verdict->rule : NULL);
	lab_json_string(json, "fault", verdict->is_broken ? verdict->text : NULL);
	lab_json_bool(json, "same_fault", is_same);
	json_builder_end_object(json);
	lab_json_print(json);
}

static void print_capture(const struct lab_capture_verdict *verdict, bool is_same)
{
	printf("tshark reads %u frames with %u PDUs, the comment is at frame %u\n", verdict->frames, verdict->pdus,
	       verdict->marked);
	if (verdict->is_broken)
		printf("frame %u: %s is broken: %s%s\n", verdict->frame, verdict->rule, verdict->text,
		       is_same ? " (the recorded rule, at the comment)" : "");
	else
		printf("no rule is broken as far as PDUs show\n");
}

/* -------------------------------------------------------------------------------------------------------- on a terminal */

/* Behind the last step there is nothing, or the first step of the circle. */
static int place_after(const struct kit_walk *walk, int place, int last)
{
	if (place < last)
		return place + 1;
	return walk->goes_round ? (int)(walk->repeats_from - walk->mounting) : last;
}

/* Where a command leads; -1: to the end of the session. */
static int next_place(const struct kit_walk *walk, const char *command, int place, int last)
{
	guint64 number;

	if (!strcmp(command, "q"))
		return -1;
	if (!*command || !strcmp(command, "n"))
		return place_after(walk, place, last);
	if (!strcmp(command, "p"))
		return MAX(place - 1, 0);
	if (g_ascii_string_to_unsigned(command, 10, 1, (guint64)last + 1, &number, NULL))
		return (int)number - 1;
	printf("n or Enter: next step; p: the one before; 1 to %d: that step; q: leave\n", last + 1);
	return place;
}

static void step_through(const struct kit_replay *replay, const struct kit_walk *walk)
{
	int last = (int)(walk->steps->len - walk->mounting) - 1;
	g_autofree char *line = NULL;
	size_t size = 0;

	printf("%s: %d steps, written by smblab %s\n", replay->origin.config, last + 1, replay->origin.program);
	for (int place = 0; place >= 0 && last >= 0; place = next_place(walk, g_strstrip(line), place, last)) {
		print_step(walk, walk->mounting + (guint)place);
		if (place == last)
			print_end(replay, walk);
		printf("[%d of %d] n, p, NUMBER, q: ", place + 1, last + 1);
		fflush(stdout);
		if (getline(&line, &size, stdin) < 0)
			break;
	}
	if (last < 0)
		print_end(replay, walk);
}

/* -------------------------------------------------------------------------------------------------------------- reading */

static bool read_file(const char *path, char **text, gsize *length, GError **error)
{
	g_autoptr(GError) why = NULL;

	if (!g_file_get_contents(path, text, length, &why)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "cannot read %s: %s", path, why->message);
		return false;
	}
	if (*length <= FILE_MAX)
		return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s has more than %u bytes: it is no replay file", path,
		    FILE_MAX);
	return false;
}

static struct kit_replay *read_replay(const char *path, GError **error)
{
	g_autofree char *text = NULL;
	gsize length;

	if (!read_file(path, &text, &length, error))
		return NULL;
	return kit_replay_parse(path, text, length, error);
}

static struct lab_check *build_check(const char *path, const struct kit_replay *replay, GError **error)
{
	const struct kit_origin *origin = &replay->origin;
	struct lab_check *check = lab_check_parse(origin->config, origin->text, origin->sets, error);

	if (!check)
		g_prefix_error(error, "%s: the config in it: ", path);
	else
		check->model.symmetry = false; /* a trace is of the threads as they are */
	return check;
}

/* ------------------------------------------------------------------------------------------------------------ replaying */

static int show(const struct kit_replay *replay, const struct kit_walk *walk, const struct replay_options *options)
{
	guint to = options->to < 0 ? G_MAXINT : (guint)options->to;

	if (options->json)
		print_json(replay, walk, to);
	else if (options->to < 0 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		step_through(replay, walk);
	else
		print_all(replay, walk, to);
	return is_same_fault(replay, walk) ? 1 : 4;
}

static bool is_by_this_program(const struct kit_replay *replay)
{
	g_autofree char *identity = lab_check_identity();

	return !strcmp(replay->origin.model, identity);
}

/* A move that cannot happen: with the program that wrote it the file is wrong, with another one the run is another. */
static int refuse_move(const char *path, const struct kit_replay *replay, guint bad, GError *error)
{
	g_prefix_error(&error, "%s:%u: ", path, g_array_index(replay->lines, guint, bad));
	error = lab_check_error(error);
	if (is_by_this_program(replay))
		return lab_fail(error);
	fprintf(stderr, "smblab: %s; the file was written by smblab %s, and this one goes another way from here\n",
		error->message, replay->origin.program);
	g_error_free(error);
	return 4;
}

/* What tshark makes of the capture beside the file. */
static int show_capture(const char *path, const struct kit_replay *replay, const struct kit_walk *walk,
			const struct replay_options *options)
{
	g_autofree char *directory = g_path_get_dirname(path);
	g_autofree char *capture = g_build_filename(directory, "trace.pcapng", NULL);
	struct lab_capture_verdict verdict;
	GError *error = NULL;
	bool is_same;

	if (!lab_replay_capture(capture, walk, &verdict, &error))
		return lab_fail(error);
	is_same = verdict.is_broken && !strcmp(verdict.rule, replay->rule) && verdict.frame == verdict.marked;
	if (options->json)
		print_capture_json(replay, &verdict, is_same);
	else
		print_capture(&verdict, is_same);
	return is_same ? 1 : 4;
}

static int replay_moves(const char *path, const struct kit_replay *replay, struct model *model,
			const struct replay_options *options)
{
	GError *error = NULL;
	guint bad = 0;
	struct kit_walk *walk = kit_walk_new(model, replay->moves, &bad, &error);
	int code;

	if (!walk)
		return refuse_move(path, replay, bad, error);
	code = options->capture ? show_capture(path, replay, walk, options) : show(replay, walk, options);
	kit_walk_free(walk);
	return code;
}

static int replay_in_model(const char *path, const struct kit_replay *replay, const struct lab_check *check,
			   const struct replay_options *options)
{
	GError *error = NULL;
	struct model *model = model_new(&check->model, &error);
	int code;

	if (!model) {
		g_prefix_error(&error, "%s: the config in it: ", path);
		return lab_fail(lab_check_error(error));
	}
	code = replay_moves(path, replay, model, options);
	model_free(model);
	return code;
}

static int replay_in_simulation(const struct kit_replay *replay, const struct lab_check *check,
				const struct replay_options *options)
{
	struct lab_sim_verdict verdict;
	GError *error = NULL;

	if (!lab_replay_sim(check, replay->moves, replay->rule, &verdict, &error))
		return lab_fail(lab_check_error(error));
	if (options->json)
		print_sim_json(replay, &verdict);
	else
		print_sim(replay, &verdict);
	return verdict.is_same ? 1 : 4;
}

static int replay_file(const char *path, const struct replay_options *options)
{
	GError *error = NULL;
	struct kit_replay *replay = read_replay(path, &error);
	struct lab_check *check = replay ? build_check(path, replay, &error) : NULL;
	int code;

	if (check && !is_by_this_program(replay))
		fprintf(stderr,
			"smblab: %s was written by smblab %s from other sources; here its moves may lead elsewhere\n",
			path, replay->origin.program);
	if (!check)
		code = lab_fail(lab_check_error(error));
	else if (options->sim)
		code = replay_in_simulation(replay, check, options);
	else
		code = replay_in_model(path, replay, check, options);
	lab_check_free(check);
	kit_replay_free(replay);
	return code;
}

int lab_command_replay(int argc, char **argv)
{
	struct replay_options options = { .to = -1 };
	GOptionEntry entries[] = {
		{ "to", 0, 0, G_OPTION_ARG_INT, &options.to, "print the first N steps only", "N" },
		{ "sim", 0, 0, G_OPTION_ARG_NONE, &options.sim,
		  "in the simulated network instead, in the order of the moves", NULL },
		{ "capture", 0, 0, G_OPTION_ARG_NONE, &options.capture,
		  "the trace.pcapng beside FILE, as tshark reads it, judged by the rules", NULL },
		{ "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "for programs", NULL },
		{ 0 },
	};
	const struct lab_usage usage = {
		.arguments = "FILE",
		.summary =
			"Go through the run of a replay.smblab again: the same moves on the client and the server of "
			"this program. On a terminal n, p and a number step forward, back and to a step; a run that "
			"repeats for ever goes on where it repeats. Exit code 1: the recorded fault comes; 4: it does "
			"not; 2: the file is no replay.\n\n"
			"--sim plays the moves in the simulated network, whose threads, queues and connections are "
			"those "
			"of `smblab run`: each PDU, storage work, connection, timer and call of the application waits "
			"for "
			"its move. After each one both cores are compared with the checker's. Exit code 4 also when "
			"they "
			"part, or when what a move is about is not there; it says at which step. What repeats for ever "
			"is "
			"played twice.\n\n"
			"--capture has tshark take the trace.pcapng beside FILE apart and tells the rule monitor of "
			"each "
			"PDU. Exit code 1: the recorded rule is broken at the frame that has the comment; 4: it is "
			"not, "
			"as with a rule about what no PDU shows.",
		.example = "smblab replay out/check-max-credits/replay.smblab",
		.options = entries,
		.least = 1,
		.most = 1,
	};
	int code;

	if (!lab_usage_parse(&usage, &argc, &argv, &code))
		return code;
	if (options.sim && options.capture) {
		fprintf(stderr, "smblab: --sim or --capture, not both\n");
		return 2;
	}
	if (options.to < -1) {
		fprintf(stderr, "smblab: --to %d: steps are numbered from 1\n", options.to);
		return 2;
	}
	lab_assertions_take();
	return replay_file(argv[argc - 1], &options);
}
