/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/calibrate.h"

#include "experiments/keys_special.h"
#include "experiments/parameters.h"
#include "experiments/progress.h"
#include "experiments/runner.h"

#include <math.h>
#include <nlopt.h>
#include <stdio.h>
#include <string.h>

/* A row that comes to no end counts as if it were wrong by this factor. */
#define FACTOR_OF_NO_RESULT 1e3

static const struct {
	const char *name;
	nlopt_algorithm algorithm;
} algorithms[] = {
	{ "sbplx", NLOPT_LN_SBPLX },
	{ "bobyqa", NLOPT_LN_BOBYQA },
	{ "nelder-mead", NLOPT_LN_NELDERMEAD },
	{ "cobyla", NLOPT_LN_COBYLA },
};

static void parameter_free(gpointer data)
{
	struct lab_parameter *parameter = data;

	if (parameter->list)
		g_ptr_array_unref(parameter->list);
	g_free(parameter);
}

void lab_calibration_free(struct lab_calibration *calibration)
{
	if (!calibration)
		return;
	g_ptr_array_unref(calibration->parameters);
	g_free(calibration);
}

static bool refuse(GError **error, const char *why)
{
	g_set_error_literal(error, LAB_ERROR, LAB_ERROR_USAGE, why);
	return false;
}

static bool take_algorithm(struct lab_calibration *calibration, const char *name, GError **error)
{
	for (guint i = 0; i < G_N_ELEMENTS(algorithms); i++) {
		if (!strcmp(algorithms[i].name, name)) {
			calibration->algorithm = algorithms[i].algorithm;
			return true;
		}
	}
	return refuse(error, "must be sbplx, bobyqa, nelder-mead or cobyla");
}

static bool take_evaluations(struct lab_calibration *calibration, const char *text, GError **error)
{
	uint64_t number;

	if (!lab_whole_parse(LAB_COUNT, text, &number, error))
		return false;
	calibration->evaluations = (guint)number;
	return (number >= 1 && number <= 100000) || refuse(error, "must be 1 to 100000");
}

static bool take_bounds(struct lab_parameter *parameter, char **bounds, GError **error)
{
	const struct lab_key *key = &lab_keys(NULL)[parameter->key];

	if (key->type < LAB_COUNT)
		return refuse(error, "bounds need a key whose values are numbers; a list of values is written A;B;C");
	if (!lab_key_number(key, g_strstrip(bounds[0]), &parameter->low, error) ||
	    !lab_key_number(key, g_strstrip(bounds[1]), &parameter->high, error))
		return false;
	return parameter->low < parameter->high || refuse(error, "the lower bound must be below the upper one");
}

static bool take_list(struct lab_parameter *parameter, const char *directory, const char *text, GError **error)
{
	g_auto(GStrv) values = g_strsplit(text, ";", -1);

	parameter->list = g_ptr_array_new();
	for (guint i = 0; values[i]; i++) {
		if (!lab_point_check(parameter->key, g_strstrip(values[i]), directory, error))
			return false;
		g_ptr_array_add(parameter->list, (gpointer)g_intern_string(values[i]));
	}
	return parameter->list->len > 0 || refuse(error, "neither bounds LOW..HIGH nor values");
}

/* The value in force at the first point if it is within the bounds, else the middle. */
static void choose_start(struct lab_parameter *parameter, const struct lab_plan *plan)
{
	const struct lab_point *first = plan->points->pdata[0];
	g_autofree char *text = lab_key_effective(parameter->key, first->point, &first->values);
	double now;

	parameter->start = parameter->low > 0 ? sqrt(parameter->low * parameter->high) : parameter->high / 2;
	if (lab_key_number(&lab_keys(NULL)[parameter->key], text, &now, NULL) && now >= parameter->low &&
	    now <= parameter->high && now > 0)
		parameter->start = now;
}

/* What a sweep or the measured rows set for each point cannot be one value fitted to all of them. */
static bool check_is_free(const struct lab_config *config, const struct lab_plan *plan, guint key, GError **error)
{
	for (guint i = 0; i < config->sweeps->len; i++)
		if (((struct lab_sweep *)config->sweeps->pdata[i])->key == key)
			return refuse(error, "the key is also swept: it has a value of its own at each point");
	for (guint i = 0; plan->measured && i < plan->measured->matches->len; i++)
		if (((struct lab_match *)plan->measured->matches->pdata[i])->key == key)
			return refuse(error, "[measured] matches this key: it has a value of its own in each row");
	return true;
}

static bool take_parameter(struct lab_calibration *calibration, const struct lab_config *config,
			   const struct lab_plan *plan, const struct lab_entry *entry, GError **error)
{
	struct lab_parameter *parameter;
	char *dots = strstr(entry->value, "..");
	int key = lab_parameters_key(config->path, entry, entry->key, error);
	g_auto(GStrv) bounds = NULL;

	if (key < 0)
		return false;
	parameter = g_new0(struct lab_parameter, 1);
	parameter->key = (guint)key;
	g_ptr_array_add(calibration->parameters, parameter);
	if (!check_is_free(config, plan, parameter->key, error)) {
		lab_scan_blame(error, config->path, entry);
		return false;
	}
	if (dots) {
		bounds = g_strsplit(entry->value, "..", 2);
		if (take_bounds(parameter, bounds, error)) {
			choose_start(parameter, plan);
			return true;
		}
	} else if (lab_keys(NULL)[key].whole_file) {
		refuse(error, "this key is about the whole experiment");
	} else if (take_list(parameter, config->directory, entry->value, error)) {
		return true;
	}
	lab_scan_blame(error, config->path, entry);
	return false;
}

static bool take_entry(struct lab_calibration *calibration, const struct lab_config *config,
		       const struct lab_plan *plan, const struct lab_entry *entry, GError **error)
{
	bool taken;

	if (!strcmp(entry->key, "algorithm"))
		taken = take_algorithm(calibration, entry->value, error);
	else if (!strcmp(entry->key, "evaluations"))
		taken = take_evaluations(calibration, entry->value, error);
	else
		return take_parameter(calibration, config, plan, entry, error);
	if (!taken)
		lab_scan_blame(error, config->path, entry);
	return taken;
}

static bool is_fitted(const struct lab_plan *plan, const struct lab_point *point)
{
	return point->measured.rows > 0 && (point->measured.fitted || !plan->measured->has_fit);
}

static bool check_rows(const struct lab_config *config, const struct lab_plan *plan, GError **error)
{
	for (guint i = 0; i < plan->points->len; i++)
		if (is_fitted(plan, plan->points->pdata[i]))
			return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE,
		    "%s: no measured row is to be fitted; see match.* and fit.* in [measured]", config->path);
	return false;
}

struct lab_calibration *lab_calibration_new(const struct lab_config *config, const struct lab_plan *plan,
					    GError **error)
{
	g_autoptr(GPtrArray) entries = lab_config_section(config, "calibrate");
	g_autoptr(lab_calibration) calibration = g_new0(struct lab_calibration, 1);

	calibration->parameters = g_ptr_array_new_with_free_func(parameter_free);
	calibration->algorithm = NLOPT_LN_SBPLX;
	calibration->evaluations = 80;
	for (guint i = 0; i < entries->len; i++)
		if (!take_entry(calibration, config, plan, entries->pdata[i], error))
			return NULL;
	if (calibration->parameters->len == 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s: [calibrate] names no parameter to fit",
			    config->path);
		return NULL;
	}
	return check_rows(config, plan, error) ? g_steal_pointer(&calibration) : NULL;
}

/* One fit under way. */
struct fit {
	struct lab_calibration *calibration;
	const struct lab_config *config;
	const struct lab_plan *plan;
	guint jobs;
	GHashTable *known; /* identity -> double *: predicted MB/s */
	const char *texts[LAB_KEYS_MAX]; /* parameters of the evaluation under way, by key */
	GPtrArray *running; /* hashes of the points under way */
	struct lab_progress progress;
	nlopt_opt optimizer;
	GError *error;
	double best;
};

static bool point_done(void *context, guint index, const struct sim_result *result, bool lasting, GError **error)
{
	struct fit *fit = context;
	double *predicted = g_new(double, 1);

	(void)lasting;
	(void)error;
	*predicted = result->outcome == SIM_OUTCOME_FINISHED ? report_quantity_of(fit->plan->measured->quantity, result)
							     : 0;
	g_hash_table_replace(fit->known, g_strdup(fit->running->pdata[index]), predicted);
	return true;
}

/* The fitted rows with the parameters under trial. */
static GPtrArray *trial_points(struct fit *fit, GError **error)
{
	GPtrArray *points = g_ptr_array_new_with_free_func((GDestroyNotify)lab_point_free);
	g_autofree struct lab_build_report *report = g_new(struct lab_build_report, 1);

	for (guint i = 0; i < fit->plan->points->len; i++) {
		const struct lab_point *row = fit->plan->points->pdata[i];
		struct lab_values values = row->values;
		struct lab_point *point;

		if (!is_fitted(fit->plan, row))
			continue;
		for (guint key = 0; key < LAB_KEYS_MAX; key++)
			if (fit->texts[key])
				values.text[key] = fit->texts[key];
		point = lab_point_new(fit->plan, fit->config, &values, report, error);
		if (!point) {
			g_ptr_array_unref(points);
			return NULL;
		}
		point->measured = row->measured;
		g_ptr_array_add(points, point);
	}
	return points;
}

static bool compute_unknown(struct fit *fit, const GPtrArray *points, GError **error)
{
	const struct lab_runner runner = {
		.jobs = fit->jobs,
		.wall_limit_s = fit->config->wall_limit_s,
		.done = point_done,
		.context = fit,
	};
	g_autoptr(GPtrArray) simulated = g_ptr_array_new();
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	g_ptr_array_set_size(fit->running, 0);
	for (guint i = 0; i < points->len; i++) {
		const struct lab_point *point = points->pdata[i];

		if (point->impossible || g_hash_table_contains(fit->known, point->hash) ||
		    !g_hash_table_add(seen, point->hash))
			continue;
		g_ptr_array_add(simulated, point->point);
		g_ptr_array_add(fit->running, point->hash);
	}
	return lab_runner_run(&runner, (const struct sim_point *const *)simulated->pdata, simulated->len, error);
}

static bool evaluate(struct fit *fit, double *misfit, GError **error)
{
	g_autoptr(GPtrArray) points = trial_points(fit, error);

	if (!points || !compute_unknown(fit, points, error))
		return false;
	*misfit = 0;
	for (guint i = 0; i < points->len; i++) {
		const struct lab_point *point = points->pdata[i];
		const double *predicted = g_hash_table_lookup(fit->known, point->hash);
		double off = log(FACTOR_OF_NO_RESULT);

		if (predicted && *predicted > 0)
			off = log(*predicted / point->measured.value);
		*misfit += off * off / points->len;
	}
	fit->calibration->evaluated++;
	lab_progress_step(&fit->progress);
	return true;
}

/* NLopt works between 0 and 1 for each parameter: logarithmic where the bounds allow it, since costs and rates are
 * known to a factor and not to an amount. */
static double scaled_to_value(const struct lab_parameter *parameter, double scaled)
{
	if (parameter->low > 0)
		return parameter->low * pow(parameter->high / parameter->low, scaled);
	return parameter->low + (parameter->high - parameter->low) * scaled;
}

static double value_to_scaled(const struct lab_parameter *parameter, double value)
{
	if (parameter->low > 0)
		return log(value / parameter->low) / log(parameter->high / parameter->low);
	return (value - parameter->low) / (parameter->high - parameter->low);
}

static const char *value_text(const struct lab_parameter *parameter, double value)
{
	const struct lab_key *key = &lab_keys(NULL)[parameter->key];
	double digits = pow(10, 5 - ceil(log10(fmax(value, 1e-12)))); /* five digits are plenty, and read well */
	double rounded = fmin(fmax(round(value * digits) / digits, parameter->low), parameter->high);
	g_autofree char *text = lab_number_format(key->type,
						  key->storage == LAB_STORE_DOUBLE ? rounded : round(rounded));

	return g_intern_string(text);
}

static void keep_if_best(struct fit *fit, double misfit)
{
	if (misfit >= fit->best)
		return;
	fit->best = misfit;
	for (guint i = 0; i < fit->calibration->parameters->len; i++) {
		struct lab_parameter *parameter = fit->calibration->parameters->pdata[i];

		parameter->best = fit->texts[parameter->key];
	}
}

static double objective(unsigned int count, const double *scaled, double *gradient, void *context)
{
	struct fit *fit = context;
	double misfit = HUGE_VAL;
	guint next = 0;

	(void)count;
	(void)gradient;
	for (guint i = 0; i < fit->calibration->parameters->len; i++) {
		const struct lab_parameter *parameter = fit->calibration->parameters->pdata[i];

		if (!parameter->list)
			fit->texts[parameter->key] = value_text(parameter, scaled_to_value(parameter, scaled[next++]));
	}
	if (evaluate(fit, &misfit, &fit->error))
		keep_if_best(fit, misfit);
	else
		nlopt_force_stop(fit->optimizer);
	return misfit;
}

/* Fit the parameters with bounds, those with lists being set already. */
static bool fit_bounded(struct fit *fit, guint count)
{
	g_autofree double *scaled = g_new0(double, count + 1);
	double misfit = 0;
	guint next = 0;
	nlopt_result result;

	if (count == 0) {
		objective(0, scaled, NULL, fit);
		return !fit->error;
	}
	for (guint i = 0; i < fit->calibration->parameters->len; i++) {
		const struct lab_parameter *parameter = fit->calibration->parameters->pdata[i];

		if (!parameter->list)
			scaled[next++] = value_to_scaled(parameter, parameter->start);
	}
	fit->optimizer = nlopt_create(fit->calibration->algorithm, count);
	nlopt_set_min_objective(fit->optimizer, objective, fit);
	nlopt_set_lower_bounds1(fit->optimizer, 0);
	nlopt_set_upper_bounds1(fit->optimizer, 1);
	nlopt_set_initial_step1(fit->optimizer, 0.15);
	nlopt_set_xtol_abs1(fit->optimizer, 5e-4);
	nlopt_set_ftol_abs(fit->optimizer, 1e-9);
	nlopt_set_maxeval(fit->optimizer, (int)fit->calibration->evaluations);
	result = nlopt_optimize(fit->optimizer, scaled, &misfit);
	nlopt_destroy(fit->optimizer);
	fit->optimizer = NULL;
	/* a round-off stop is an end like any other: the best values were noted as they came */
	if (result < 0 && result != NLOPT_ROUNDOFF_LIMITED && !fit->error)
		g_set_error(&fit->error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "NLopt gave up (%s)",
			    nlopt_result_to_string(result));
	return !fit->error;
}

/* Every combination of the listed values, the later list turning faster. */
static bool fit_lists(struct fit *fit, guint first, guint bounded)
{
	struct lab_parameter *parameter;

	while (first < fit->calibration->parameters->len &&
	       !((struct lab_parameter *)fit->calibration->parameters->pdata[first])->list)
		first++;
	if (first == fit->calibration->parameters->len)
		return fit_bounded(fit, bounded);
	parameter = fit->calibration->parameters->pdata[first];
	for (guint i = 0; i < parameter->list->len; i++) {
		fit->texts[parameter->key] = parameter->list->pdata[i];
		if (!fit_lists(fit, first + 1, bounded))
			return false;
	}
	return true;
}

bool lab_calibration_run(struct lab_calibration *calibration, const struct lab_config *config,
			 const struct lab_plan *plan, guint jobs, GError **error)
{
	struct fit fit = { .calibration = calibration, .config = config, .plan = plan, .jobs = jobs, .best = HUGE_VAL };
	guint bounded = 0, combinations = 1;
	bool fitted;

	for (guint i = 0; i < calibration->parameters->len; i++) {
		const struct lab_parameter *parameter = calibration->parameters->pdata[i];

		if (parameter->list)
			combinations *= parameter->list->len;
		else
			bounded++;
	}
	fit.known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	fit.running = g_ptr_array_new();
	lab_progress_begin(&fit.progress, "evaluation", (bounded ? calibration->evaluations : 1) * combinations);
	fitted = fit_lists(&fit, 0, bounded);
	lab_progress_end(&fit.progress);
	calibration->misfit = fit.best;
	g_hash_table_unref(fit.known);
	g_ptr_array_unref(fit.running);
	if (fit.error)
		g_propagate_error(error, fit.error);
	return fitted;
}

char **lab_calibration_sets(const struct lab_calibration *calibration, char **sets)
{
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

	if (sets)
		g_strv_builder_addv(builder, (const char **)sets);
	for (guint i = 0; i < calibration->parameters->len; i++) {
		const struct lab_parameter *parameter = calibration->parameters->pdata[i];
		g_autofree char *set = g_strconcat(lab_key_dotted(parameter->key), "=", parameter->best, NULL);

		g_strv_builder_add(builder, set);
	}
	return g_strv_builder_end(builder);
}
