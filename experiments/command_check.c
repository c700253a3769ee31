/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smblab check: every interleaving of a small system. */

#include "experiments/assertions.h"
#include "experiments/check_config.h"
#include "experiments/check_kit.h"
#include "experiments/check_print.h"
#include "experiments/check_save.h"
#include "experiments/command_check_coverage.h"
#include "experiments/command_check_mutants.h"
#include "experiments/commands.h"
#include "experiments/progress.h"
#include "model/explore.h"
#include "reports/kit/kit.h"

#include <glib-unix.h>
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
	char *save;
	char *resume;
	char **arguments; /* as they were given */
	char *graph;
	gboolean json;
	char *mutant;
	gboolean coverage;
	char *out;
};

static volatile bool stop_wanted, give_up_wanted;

/* The first one: the search stops and is saved. The second one: it is not saved. The third one is the system's. */
static void on_signal(int number)
{
	if (give_up_wanted)
		signal(number, SIG_DFL);
	give_up_wanted = stop_wanted;
	stop_wanted = true;
}

static void tell_progress(void *context, const struct model_progress *progress)
{
	bool is_terminal = *(const bool *)context;

	fprintf(stderr, "%s%" G_GUINT64_FORMAT " states, %.0f/s, queue %" G_GUINT64_FORMAT ", depth %u, %.0f MB%s",
		is_terminal ? "\r" : "", progress->states, (double)progress->states / MAX(progress->seconds, 1e-3),
		progress->queue, progress->depth, (double)progress->memory_bytes / 1e6, is_terminal ? "\033[K" : "\n");
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

/* What can be known before the search begins. */
static bool may_explore(const struct check_options *options, struct model *model, const char *kit,
			const struct lab_save *save, GError **error)
{
	return (!options->kit || kit_may_write(kit, error)) && lab_save_may_write(save, error) &&
	       (!options->graph || lab_graph_write(options->graph, model, error));
}

static int explore(const struct lab_check *check, struct model *model, const struct check_options *options,
		   const struct lab_save *save)
{
	bool is_terminal = isatty(STDERR_FILENO);
	struct model_options how = {
		.depth_first = options->depth_first,
		.liveness = check->model.is_live,
		.jobs = options->jobs ? (uint32_t)options->jobs : g_get_num_processors(),
		.progress = tell_progress,
		.context = &is_terminal,
		.stop = &stop_wanted,
		.saving = lab_save_how(save),
	};
	g_autofree char *kit = kit_of(check, options);
	struct model_result result;
	GError *error = NULL;
	int code;

	if (!take_bounds(options, &how.bounds, &error) || !may_explore(options, model, kit, save, &error))
		return lab_fail(lab_check_error(error));
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	model_explore(model, &how, &result);
	if (is_terminal)
		fprintf(stderr, "\r\033[K");
	if (result.outcome == MODEL_REFUSED)
		return lab_fail(lab_check_error(result.error));
	if (options->json)
		lab_check_print_json(check, model, &result);
	else
		lab_check_print_text(check, model, &result);
	code = exit_code_of(result.outcome);
	if (result.trace && kit)
		code = write_kit(kit, check, model, options, &result);
	code = lab_save_tell(save, &result, code);
	model_result_clear(&result);
	return code;
}

static int check_config(const char *path, const struct check_options *options)
{
	GError *error = NULL;
	struct lab_check *check = lab_check_load(path, options->sets, &error);
	struct lab_save *saving;
	struct model *model;
	int code;

	if (!check)
		return lab_fail(error);
	model = model_new(&check->model, &error);
	saving = lab_save_new(check, &(struct lab_save_options){
					     .save = options->save,
					     .resume = options->resume,
					     .arguments = options->arguments,
					     .give_up = &give_up_wanted,
					     .only_named = options->json,
				     });
	code = model ? explore(check, model, options, saving) : lab_fail(lab_check_error(error));
	lab_save_free(saving);
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
	else if ((options->coverage || options->mutant) && (options->save || options->resume))
		wrong = "--save and --resume go with the check of one config, by the program as it is";
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
		{ "max-states", 0, 0, G_OPTION_ARG_INT64, &options.max_states,
		  "stop after so many states (0: no bound)", "N" },
		{ "max-depth", 0, 0, G_OPTION_ARG_INT, &options.max_depth,
		  "no further than so many moves (0: no bound)", "N" },
		{ "max-memory", 0, 0, G_OPTION_ARG_STRING, &options.max_memory, "stop at so much memory (0: no bound)",
		  "SIZE" },
		{ "max-time", 0, 0, G_OPTION_ARG_STRING, &options.max_time,
		  "stop after so long (0: no bound); with --resume of this run alone", "TIME" },
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
		{ "save", 0, 0, G_OPTION_ARG_FILENAME, &options.save,
		  "write the search to FILE when it is interrupted or a bound is reached (interrupted: "
		  "out/check-NAME.states)",
		  "FILE" },
		{ "resume", 0, 0, G_OPTION_ARG_FILENAME, &options.resume,
		  "go on from FILE, with the same config, --set and --dfs as before", "FILE" },
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
			"all rules hold; 1: one is broken, with the shortest way there; 4: a bound was reached; 130: "
			"interrupted, and kept in a file to go on from.",
		.example = "smblab check experiments/check/credits-1ch.ini --jobs 2\n"
			   "  smblab check experiments/check/reconnect.ini --max-memory 1G --save reconnect.states\n"
			   "  smblab check experiments/check/reconnect.ini --resume reconnect.states",
		.options = entries,
		.least = 0,
		.most = 1000,
	};
	g_auto(GStrv) arguments = lab_save_arguments(argc, argv);
	g_auto(GStrv) paths = NULL;
	int code;

	options.arguments = arguments;
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
	g_free(options.save);
	g_free(options.resume);
	g_free(options.graph);
	return code;
}
