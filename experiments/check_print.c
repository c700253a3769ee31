/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What smblab check found, in words and for programs. */

#include "experiments/check_print.h"

#include "experiments/commands.h"

#include <json-glib/json-glib.h>
#include <stdio.h>

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

void lab_check_print_text(const struct lab_check *check, struct model *model, const struct model_result *result)
{
	const struct model_progress *numbers = &result->numbers;
	g_autofree char *last = last_line(check, result);
	g_autofree char *by_server = broken_by_server(model);
	struct model_numbers kept;

	model_look(model, &kept);
	if (g_str_has_suffix(check->path, check->title)) /* it has no title of its own */
		printf("%s\n", check->path);
	else
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

void lab_check_print_json(const struct lab_check *check, struct model *model, const struct model_result *result)
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
