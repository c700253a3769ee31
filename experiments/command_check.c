/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smblab check: every interleaving of a small system. */

#include "experiments/assertions.h"
#include "experiments/check_config.h"
#include "experiments/check_kit.h"
#include "experiments/command_check_coverage.h"
#include "experiments/command_check_mutants.h"
#include "experiments/commands.h"
#include "experiments/progress.h"
#include "model/explore.h"
#include "reports/kit/kit.h"

#include <glib-unix.h>
#include <json-glib/json-glib.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct check_options {
	gboolean breadth_first;
	gboolean depth_first;
	gint64 max_states;
	int max_depth;
	char *max_memory;
	char *max_time;
	int jobs;
	char **sets;
	gboolean symmetry;
	gboolean partial_order;
	char *kit;
	gboolean no_kit;
	char *graph;
	gboolean json;
	char *mutant;
	gboolean coverage;
	char *out;
};

static volatile bool stop_wanted;

static void on_signal(int signal)
{
	(void)signal;
	stop_wanted = true;
}

static void tell_progress(void *context, const struct model_progress *progress)
{
	bool is_terminal = *(const bool *)context;

	fprintf(stderr, "%s%" G_GUINT64_FORMAT " states, %.0f/s, queue %" G_GUINT64_FORMAT ", depth %u, %.0f MB%s",
		is_terminal ? "\r" : "", progress->states, (double)progress->states / MAX(progress->seconds, 1e-3),
		progress->queue, progress->depth, (double)progress->memory_bytes / 1e6, is_terminal ? "\033[K" : "\n");
}

/* ------------------------------------------------------------------------------------------------------------- output */

static double per_second(const struct model_progress *numbers)
{
	return (double)numbers->states / MAX(numbers->seconds, 1e-6);
}

static double megabytes_per_million(const struct model_progress *numbers)
{
	return (double)numbers->memory_bytes / (double)MAX(numbers->states, 1);
}

/* " (what was left out; what was not judged)" */
static char *remarks_on(const struct model_config *config, bool holds)
{
	g_autoptr(GPtrArray) remarks = g_ptr_array_new();
	g_autofree char *joined = NULL;

	if (config->symmetry)
		g_ptr_array_add(remarks, (gpointer) "threads that do the same taken for each other");
	if (config->partial_order)
		g_ptr_array_add(remarks, (gpointer) "orders that come to the same left out");
	if (holds && !config->is_live)
		g_ptr_array_add(remarks, (gpointer) "liveness not judged");
	g_ptr_array_add(remarks, NULL);
	joined = g_strjoinv("; ", (char **)remarks->pdata);
	return *joined ? g_strdup_printf(" (%s)", joined) : g_strdup("");
}

static char *last_line(const struct lab_check *check, const struct model_result *result)
{
	static const char *const bounds[] = { "", "states", "depth", "memory", "time" };
	g_autofree char *remarks = remarks_on(&check->model, result->outcome == MODEL_HOLDS);

	switch (result->outcome) {
	case MODEL_HOLDS:
		return g_strconcat("all rules hold", check->model.is_live ? ", liveness too" : "", remarks, NULL);
	case MODEL_BROKEN:
		return g_strdup_printf("%s is broken: %s%s", result->found.rule, result->found.text, remarks);
	case MODEL_BOUND:
		return g_strdup_printf("inconclusive: the bound on %s was reached%s", bounds[result->bound], remarks);
	default:
		return g_strconcat("interrupted", remarks, NULL);
	}
}

/* One line per step. */
static void print_trace(struct model *model, const GArray *trace, JsonBuilder *json)
{
	struct model *plain = model_without_symmetry(model);
	struct model_worker *worker = model_worker_new(plain);
	struct model_state state, next;

	model_first_state(plain, &state);
	for (guint i = 0; i < trace->len; i++) {
		struct model_move move = g_array_index(trace, struct model_move, i);
		g_autoptr(GString) told = g_string_new(NULL);
		g_autoptr(GString) numbers = g_string_new(NULL);
		g_autoptr(GString) line = g_string_new(NULL);

		model_move_tell(worker, &state, move, told);
		model_move_write(plain, move, line);
		model_do(worker, &state, move, &next);
		model_state_tell(worker, &next, numbers);
		state = next;
		if (!json) {
			printf("%3u. %s\n     %s\n", i + 1, told->str, numbers->str);
			continue;
		}
		json_builder_begin_object(json);
		lab_json_string(json, "move", line->str);
		lab_json_string(json, "told", told->str);
		lab_json_string(json, "numbers", numbers->str);
		json_builder_end_object(json);
	}
	model_worker_free(worker);
	model_free(plain);
}

/* A proof says nothing of what never happened. */
static void print_kinds(const struct lab_check *check, const struct model_result *result, JsonBuilder *json)
{
	static const struct {
		const char *member;
		const char *told;
		bool is_allowed;
	} groups[] = {
		{ "never_happened", "allowed, but never happened", true },
		{ "not_in_model", "not in this model", false },
	};
	struct model_kind kinds[MODEL_KINDS_MAX];
	uint32_t count = model_kinds(&check->model, &result->done, kinds);

	for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
		g_autoptr(GPtrArray) names = g_ptr_array_new();

		for (uint32_t k = 0; k < count; k++) {
			if (!kinds[k].happened && kinds[k].is_allowed == groups[i].is_allowed)
				g_ptr_array_add(names, (gpointer)kinds[k].name);
		}
		if (!groups[i].is_allowed && !check->model.is_live)
			g_ptr_array_add(names, (gpointer) "liveness");
		g_ptr_array_add(names, NULL);
		if (json) {
			lab_json_strings(json, groups[i].member, (const char *const *)names->pdata);
		} else if (names->len > 1) {
			g_autofree char *joined = g_strjoinv(", ", (char **)names->pdata);

			printf("%s: %s\n", groups[i].told, joined);
		}
	}
}

/* "C9, C11"; NULL: none. */
static char *broken_by_server(const struct model *model)
{
	g_autoptr(GString) names = g_string_new(NULL);
	uint64_t rules = model_server_broke(model);

	for (; rules; rules &= rules - 1)
		g_string_append_printf(names, "%sC%d", names->len ? ", " : "", __builtin_ctzll(rules));
	return names->len ? g_strdup(names->str) : NULL;
}

static void print_text(const struct lab_check *check, struct model *model, const struct model_result *result)
{
	const struct model_progress *numbers = &result->numbers;
	g_autofree char *last = last_line(check, result);
	g_autofree char *by_server = broken_by_server(model);
	struct model_numbers kept;

	model_look(model, &kept);
	printf("%s: %s\n", check->path, check->title);
	if (result->trace)
		print_trace(model, result->trace, NULL);
	printf("states %" G_GUINT64_FORMAT ", transitions %" G_GUINT64_FORMAT ", depth %u, ends %" G_GUINT64_FORMAT
	       "\n",
	       numbers->states, numbers->transitions, numbers->depth, result->ends);
	if (check->model.symmetry)
		printf("symmetry: %" G_GUINT64_FORMAT " more states differ only in which thread is how far\n",
		       numbers->swapped);
	if (check->model.partial_order)
		printf("partial order: %" G_GUINT64_FORMAT " moves left out\n", numbers->spared);
	printf("parts: %" G_GUINT64_FORMAT " client sides, %" G_GUINT64_FORMAT " server sides, %" G_GUINT64_FORMAT
	       " queues, %" G_GUINT64_FORMAT " PDUs, %" G_GUINT64_FORMAT " effects\n",
	       kept.clients, kept.servers, kept.wires, kept.pdus, kept.effects);
	printf("%.1f s, %.0f states/s, %.1f MB per million states (%.1f bytes each in the set of states seen)\n",
	       numbers->seconds, per_second(numbers), megabytes_per_million(numbers),
	       (double)numbers->visited_bytes / (double)MAX(numbers->states, 1));
	print_kinds(check, result, NULL);
	if (by_server)
		printf("the server breaks %s, as it is told to\n", by_server);
	printf("%s\n", last);
}

static void print_json(const struct lab_check *check, struct model *model, const struct model_result *result)
{
	const struct model_progress *numbers = &result->numbers;
	g_autofree char *last = last_line(check, result);
	g_autofree char *by_server = broken_by_server(model);
	struct model_numbers kept;
	g_autoptr(JsonBuilder) json = json_builder_new();

	model_look(model, &kept);
	json_builder_begin_object(json);
	lab_json_string(json, "config", check->path);
	lab_json_string(json, "title", check->title);
	lab_json_string(json, "result", last);
	lab_json_string(json, "rule", result->outcome == MODEL_BROKEN ? result->found.rule : NULL);
	lab_json_string(json, "broken_by_server", by_server);
	lab_json_whole(json, "states", (gint64)numbers->states);
	lab_json_whole(json, "transitions", (gint64)numbers->transitions);
	lab_json_whole(json, "states_swapped", (gint64)numbers->swapped);
	lab_json_whole(json, "moves_left_out", (gint64)numbers->spared);
	lab_json_whole(json, "depth", numbers->depth);
	lab_json_whole(json, "ends", (gint64)result->ends);
	lab_json_whole(json, "client_sides", (gint64)kept.clients);
	lab_json_whole(json, "server_sides", (gint64)kept.servers);
	lab_json_whole(json, "pdus", (gint64)kept.pdus);
	lab_json_whole(json, "effects", (gint64)kept.effects);
	lab_json_number(json, "seconds", numbers->seconds);
	lab_json_number(json, "states_per_second", per_second(numbers));
	lab_json_number(json, "MB_per_million_states", megabytes_per_million(numbers));
	print_kinds(check, result, json);
	json_builder_set_member_name(json, "trace");
	json_builder_begin_array(json);
	if (result->trace)
		print_trace(model, result->trace, json);
	json_builder_end_array(json);
	json_builder_end_object(json);
	lab_json_print(json);
}

/* ------------------------------------------------------------------------------------------------------------ running */

static bool take_bounds(const struct check_options *options, struct model_bounds *bounds, GError **error)
{
	uint64_t memory = 0;
	double time_ns = 0;

	if (options->max_memory && !lab_whole_parse(LAB_SIZE, options->max_memory, &memory, error)) {
		g_prefix_error(error, "--max-memory: ");
		return false;
	}
	if (options->max_time && !lab_number_parse(LAB_TIME, options->max_time, &time_ns, error)) {
		g_prefix_error(error, "--max-time: ");
		return false;
	}
	if (options->max_states < 0 || options->max_depth < 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "--max-states and --max-depth are not negative");
		return false;
	}
	if (options->breadth_first && options->depth_first) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "--bfs and --dfs exclude each other");
		return false;
	}
	*bounds = (struct model_bounds){
		.states = (uint64_t)options->max_states,
		.depth = (uint32_t)options->max_depth,
		.memory_bytes = memory,
		.seconds = time_ns / 1e9,
	};
	return true;
}

static int exit_code_of(enum model_outcome outcome)
{
	static const int codes[] = {
		[MODEL_HOLDS] = 0,
		[MODEL_BROKEN] = 1,
		[MODEL_BOUND] = 4,
		[MODEL_STOPPED] = 130,
	};

	return codes[outcome];
}

/* Where a counterexample goes; NULL: nowhere. */
static char *kit_of(const struct lab_check *check, const struct check_options *options)
{
	if (options->no_kit)
		return NULL;
	if (!options->kit)
		return lab_kit_directory(check->path);
	return g_canonicalize_filename(options->kit, NULL);
}

/* A kit that nobody asked for and that cannot be written does not hide the fault. */
static int write_kit(const char *kit, const struct lab_check *check, struct model *model,
		     const struct check_options *options, const struct model_result *result)
{
	GError *error = NULL;
	int code = exit_code_of(result->outcome), failed;

	if (lab_kit_write(kit, check->path, options->sets, model, result, &error))
		return code;
	failed = lab_fail(lab_check_error(error));
	return options->kit ? failed : code;
}

static int explore(const struct lab_check *check, struct model *model, const struct check_options *options)
{
	bool is_terminal = isatty(STDERR_FILENO);
	struct model_options how = {
		.depth_first = options->depth_first,
		.liveness = check->model.is_live,
		.jobs = options->jobs ? (uint32_t)options->jobs : g_get_num_processors(),
		.progress = tell_progress,
		.context = &is_terminal,
		.stop = &stop_wanted,
	};
	g_autofree char *kit = kit_of(check, options);
	struct model_result result;
	GError *error = NULL;
	int code;

	if (!take_bounds(options, &how.bounds, &error) || (options->kit && !kit_may_write(kit, &error)) ||
	    (options->graph && !lab_graph_write(options->graph, model, &error)))
		return lab_fail(lab_check_error(error));
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	model_explore(model, &how, &result);
	if (is_terminal)
		fprintf(stderr, "\r\033[K");
	if (options->json)
		print_json(check, model, &result);
	else
		print_text(check, model, &result);
	code = exit_code_of(result.outcome);
	if (result.trace && kit)
		code = write_kit(kit, check, model, options, &result);
	model_result_clear(&result);
	return code;
}

static int check_config(const char *path, const struct check_options *options)
{
	GError *error = NULL;
	struct lab_check *check = lab_check_load(path, options->sets, &error);
	struct model *model;
	int code;

	if (!check)
		return lab_fail(error);
	model = model_new(&check->model, &error);
	code = model ? explore(check, model, options) : lab_fail(lab_check_error(error));
	model_free(model);
	lab_check_free(check);
	return code;
}

static int check_mutants(char *path, const struct check_options *options)
{
	const struct lab_mutants_options mutants = {
		.config = path,
		.sets = options->sets,
		.jobs = options->jobs,
		.max_states = (guint64)options->max_states,
	};

	return lab_check_mutants(options->mutant, &mutants);
}

/* A switch is a short way to write a key: so it is recorded with the counterexample. */
static void add_set(struct check_options *options, const char *set)
{
	g_autoptr(GStrvBuilder) sets = g_strv_builder_new();

	if (options->sets)
		g_strv_builder_addv(sets, (const char **)options->sets);
	g_strv_builder_add(sets, set);
	g_strfreev(options->sets);
	options->sets = g_strv_builder_end(sets);
}

static void take_switches(struct check_options *options)
{
	if (options->symmetry)
		add_set(options, "check.symmetry=threads");
	if (options->partial_order)
		add_set(options, "check.partial_order=true");
}

/* The same check, by the program that counts. */
static int check_coverage(char **paths, const struct check_options *options)
{
	return lab_check_coverage(&(struct lab_coverage_options){
		.configs = (const char *const *)paths,
		.sets = (const char *const *)options->sets,
		.jobs = options->jobs,
		.max_states = options->max_states,
		.max_depth = options->max_depth,
		.max_memory = options->max_memory,
		.max_time = options->max_time,
		.depth_first = options->depth_first,
		.out = options->out,
		.json = options->json,
	});
}

static char **take_paths(int argc, char **argv)
{
	GPtrArray *paths = g_ptr_array_new();

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			g_ptr_array_add(paths, lab_config_path(argv[i]));
	}
	g_ptr_array_add(paths, NULL);
	return (char **)g_ptr_array_free(paths, FALSE);
}

/** One config, none only with --mutant, any number with --coverage. */
static bool take_configs(char **paths, const struct check_options *options, int *code)
{
	bool has_own = options->mutant && (!strcmp(options->mutant, "all") || strchr(options->mutant, ','));
	guint count = g_strv_length(paths);
	const char *wrong = NULL;

	if (options->coverage && options->mutant)
		wrong = "--coverage and --mutant exclude each other";
	else if (options->coverage && (options->kit || options->graph))
		wrong = "--coverage writes neither a counterexample nor a graph: check that config alone for these";
	else if (options->out && !options->coverage)
		wrong = "--out goes with --coverage";
	else if (count && has_own)
		wrong = "each mutant has its own config, name none with several";
	else if (!count && !options->mutant)
		wrong = "a config is missing";
	else if (count > 1 && !options->coverage)
		wrong = "several configs go with --coverage only";
	if (!wrong)
		return true;
	fprintf(stderr, "smblab: check: %s (--help tells more)\n", wrong);
	*code = 2;
	return false;
}

static int check(char **paths, const struct check_options *options)
{
	if (options->coverage)
		return check_coverage(paths, options);
	return options->mutant ? check_mutants(paths[0], options) : check_config(paths[0], options);
}

int lab_command_check(int argc, char **argv)
{
	struct check_options options = { .jobs = 1 };
	GOptionEntry entries[] = {
		{ "bfs", 0, 0, G_OPTION_ARG_NONE, &options.breadth_first,
		  "breadth first: the shortest counterexample (default)", NULL },
		{ "dfs", 0, 0, G_OPTION_ARG_NONE, &options.depth_first, "depth first, in one thread", NULL },
		{ "max-states", 0, 0, G_OPTION_ARG_INT64, &options.max_states, "stop after so many states", "N" },
		{ "max-depth", 0, 0, G_OPTION_ARG_INT, &options.max_depth, "no further than so many moves", "N" },
		{ "max-memory", 0, 0, G_OPTION_ARG_STRING, &options.max_memory, "stop at so much memory", "SIZE" },
		{ "max-time", 0, 0, G_OPTION_ARG_STRING, &options.max_time, "stop after so long", "TIME" },
		{ "jobs", 'j', 0, G_OPTION_ARG_INT, &options.jobs, "threads; 0 = one per core (1)", "N" },
		{ "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.sets, "replace a value of the config",
		  "SECTION.KEY=VALUE" },
		{ "symmetry", 0, 0, G_OPTION_ARG_NONE, &options.symmetry,
		  "take threads that do the same for each other (check.symmetry=threads)", NULL },
		{ "partial-order", 0, 0, G_OPTION_ARG_NONE, &options.partial_order,
		  "leave out orders that come to the same (check.partial_order=true)", NULL },
		{ "kit", 0, 0, G_OPTION_ARG_FILENAME, &options.kit,
		  "where the counterexample goes when a rule is broken (out/check-NAME)", "DIR" },
		{ "no-kit", 0, 0, G_OPTION_ARG_NONE, &options.no_kit, "write no counterexample", NULL },
		{ "graph", 0, 0, G_OPTION_ARG_FILENAME, &options.graph,
		  "write all states of a small model: .svg, or .dot for other tools", "FILE" },
		{ "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "for programs", NULL },
		{ "mutant", 0, 0, G_OPTION_ARG_STRING, &options.mutant,
		  "check the program with a historical bug in it (model/mutants); several: \"all\" or A,B", "NAME" },
		{ "coverage", 0, 0, G_OPTION_ARG_NONE, &options.coverage,
		  "tell which code and which transitions the configs together never use", NULL },
		{ "out", 0, 0, G_OPTION_ARG_FILENAME, &options.out, "where coverage.html goes (out/coverage)", "DIR" },
		{ 0 },
	};
	const struct lab_usage usage = {
		.arguments = "CONFIG [CONFIG ...]",
		.summary =
			"Explore every order in which PDUs, replies, faults and timers can happen in a small system of "
			"one client and one server, and judge each step by the rules (smblab list rules). Exit code 0: "
			"all rules hold; 1: one is broken, with the shortest way there; 4: a bound was reached.",
		.example = "smblab check experiments/check/credits-1ch.ini --jobs 2",
		.options = entries,
		.least = 0,
		.most = 1000,
	};
	g_auto(GStrv) paths = NULL;
	int code;

	if (lab_usage_parse(&usage, &argc, &argv, &code) && lab_jobs_check(options.jobs, &code)) {
		paths = take_paths(argc, argv);
		take_switches(&options);
		lab_assertions_take();
		if (take_configs(paths, &options, &code))
			code = check(paths, &options);
	}
	g_free(options.mutant);
	g_free(options.out);
	g_free(options.max_memory);
	g_free(options.max_time);
	g_strfreev(options.sets);
	g_free(options.kit);
	g_free(options.graph);
	return code;
}
