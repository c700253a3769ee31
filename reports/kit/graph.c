/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/kit/graph.h"

#include "model/explore.h"
#include "reports/file.h"
#include "reports/plot.h"
#include "reports/text.h"

#include <string.h>

#define NEAR_STATES 4 /* before the fault */
#define LABEL_WIDTH 46 /* characters of a line */

struct graph {
	struct model *model;
	struct model_worker *worker;
	GString *dot;
	GHashTable *numbers; /* struct model_hash -> number of the node, from 1 */
	GArray *states; /* struct model_state by number - 1 */
};

/* ------------------------------------------------------------------------------------------------------------- labels */

/* `text` in lines of a bearable width. */
static char *wrapped(const char *text)
{
	GString *out = g_string_new(NULL);
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	glong width = 0;

	for (char **word = words; *word; word++) {
		glong length = g_utf8_strlen(*word, -1);

		if (width && width + length >= LABEL_WIDTH) {
			g_string_append_c(out, '\n');
			width = 0;
		}
		g_string_append_printf(out, "%s%s", width ? " " : "", *word);
		width += length + 1;
	}
	return g_string_free(out, FALSE);
}

static char *label_of(const char *text)
{
	g_autofree char *lines = wrapped(text);

	return report_dot_string(lines);
}

static void tell_under_way(struct graph *graph, const struct model_state *state, GString *text)
{
	for (uint32_t i = 0; i < 2 * MODEL_CHANNELS_MAX; i++) {
		enum model_direction direction = i % 2 ? MODEL_TO_CLIENT : MODEL_TO_SERVER;
		struct smb_pdu pdu;

		for (uint32_t at = 0; model_state_pdu(graph->model, state, i / 2, direction, at, &pdu); at++) {
			g_string_append_printf(text,
					       " | to the %s: ", direction == MODEL_TO_SERVER ? "server" : "client");
			model_pdu_tell(&pdu, text);
		}
	}
}

static void put_state(struct graph *graph, guint number, const char *headline, const char *style)
{
	const struct model_state *state = &g_array_index(graph->states, struct model_state, number - 1);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *label = NULL;

	model_state_tell(graph->worker, state, text);
	tell_under_way(graph, state, text);
	if (!text->len)
		g_string_append(text, "not connected");
	g_string_prepend(text, headline);
	label = label_of(text->str);
	g_string_append_printf(graph->dot, "s%u [label=%s%s];\n", number, label, style);
}

static void put_move(struct graph *graph, guint from, struct model_move move, guint to, const char *style)
{
	const struct model_state *state = &g_array_index(graph->states, struct model_state, from - 1);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *label = NULL;

	model_move_tell(graph->worker, state, move, text);
	if (move.choice)
		g_string_append_printf(text, ", choice %u", move.choice);
	label = label_of(text->str);
	g_string_append_printf(graph->dot, "s%u -> s%u [label=%s%s];\n", from, to, label, style);
}

/* ------------------------------------------------------------------------------------------------------------- the nodes */

static guint hash_of_key(gconstpointer key)
{
	return (guint)((const struct model_hash *)key)->high;
}

static gboolean keys_are_equal(gconstpointer a, gconstpointer b)
{
	return model_hash_equal(*(const struct model_hash *)a, *(const struct model_hash *)b);
}

/* The state's number, a new one when it was not seen before. */
static guint number_of(struct graph *graph, const struct model_state *state, bool *is_new)
{
	struct model_hash hash = model_state_hash(graph->model, state);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(graph->numbers, &hash));

	*is_new = !number;
	if (number)
		return number;
	g_array_append_val(graph->states, *state);
	g_hash_table_insert(graph->numbers, g_memdup2(&hash, sizeof(hash)), GUINT_TO_POINTER(graph->states->len));
	return graph->states->len;
}

static void begin(struct graph *graph, struct model *model)
{
	*graph = (struct graph){
		.model = model,
		.worker = model_worker_new(model),
		.dot = g_string_new("digraph states {\nbgcolor=\"" REPORT_PAPER "\"; rankdir=TB;\n"
				    "node [shape=box, style=\"filled,rounded\", fillcolor=\"" REPORT_PANEL
				    "\", color=\"" REPORT_MUTED
				    "\", fontname=\"sans-serif\", fontsize=11, fontcolor=\"" REPORT_INK
				    "\"];\nedge [color=\"" REPORT_MUTED
				    "\", fontname=\"sans-serif\", fontsize=10, fontcolor=\"" REPORT_INK "\"];\n"),
		.numbers = g_hash_table_new_full(hash_of_key, keys_are_equal, g_free, NULL),
		.states = g_array_new(FALSE, FALSE, sizeof(struct model_state)),
	};
}

static GString *end(struct graph *graph)
{
	model_worker_free(graph->worker);
	g_hash_table_unref(graph->numbers);
	g_array_unref(graph->states);
	g_string_append(graph->dot, "}\n");
	return graph->dot;
}

/* ------------------------------------------------------------------------------------------------------------- whole */

#define BROKEN_EDGE ", color=\"" REPORT_RED "\", fontcolor=\"" REPORT_RED "\", penwidth=2"
#define BROKEN_NODE ", color=\"" REPORT_RED "\", penwidth=2"

/* Everything that can happen in state `number`. */
static void expand(struct graph *graph, guint number)
{
	struct model_state state = g_array_index(graph->states, struct model_state, number - 1), next;
	struct model_move moves[MODEL_MOVES_MAX];
	uint32_t count = model_moves(graph->worker, &state, moves);
	g_autofree char *headline = NULL;
	bool is_new, is_broken = false;

	if (!count)
		is_broken = !model_check_end(graph->worker, &state);
	headline = number == 1 ? g_strdup("first state: ")
		   : is_broken ? g_strdup_printf("%s is broken: ", model_broken(graph->worker)->rule)
			       : g_strdup(count ? "" : "end: ");
	put_state(graph, number, headline, is_broken ? BROKEN_NODE : "");
	for (uint32_t i = 0; i < count; i++) {
		bool is_fine = model_do(graph->worker, &state, moves[i], &next);

		put_move(graph, number, moves[i], number_of(graph, &next, &is_new), is_fine ? "" : BROKEN_EDGE);
	}
}

GString *kit_graph_whole(struct model *model, GError **error)
{
	struct model_state first;
	struct graph graph;
	bool is_new;
	guint done = 0;

	begin(&graph, model);
	model_first_state(model, &first);
	number_of(&graph, &first, &is_new);
	while (done < graph.states->len && graph.states->len <= KIT_GRAPH_STATES_MAX)
		expand(&graph, ++done);
	if (graph.states->len <= KIT_GRAPH_STATES_MAX)
		return end(&graph);
	g_string_free(end(&graph), TRUE);
	g_set_error(
		error, MODEL_ERROR, MODEL_ERROR_CONFIG,
		"the model has more than %d states; a graph of it would show nothing (fewer threads, steps or faults "
		"make it smaller)",
		KIT_GRAPH_STATES_MAX);
	return NULL;
}

/* -------------------------------------------------------------------------------------------------------------- nearby */

struct near {
	struct graph graph;
	const struct kit_walk *walk;
	guint first; /* of the walk's states that are expanded */
};

static const struct model_state *state_at(const struct near *near, guint index)
{
	return &g_array_index(near->walk->states, struct model_state, index);
}

static void put_way(struct near *near)
{
	guint last = near->walk->states->len - 1;
	bool is_new;

	for (guint i = near->first; i <= last; i++) {
		guint number = number_of(&near->graph, state_at(near, i), &is_new);
		bool is_fault = i == last && near->walk->is_broken;
		g_autofree char *headline = g_strdup_printf("after step %u%s%s: ", i, is_fault ? ", broken " : "",
							    is_fault ? near->walk->found.rule : "");

		if (is_new)
			put_state(&near->graph, number, headline,
				  is_fault ? BROKEN_NODE ", fillcolor=\"" REPORT_PAPER "\""
					   : ", penwidth=2, color=\"" REPORT_BLUE "\"");
	}
}

/* What can happen besides, and where it leads. */
static void put_moves(struct near *near, guint index)
{
	struct graph *graph = &near->graph;
	const struct model_state *state = state_at(near, index);
	guint steps = near->walk->mounting + index;
	struct model_move moves[MODEL_MOVES_MAX];
	uint32_t count = model_moves(graph->worker, state, moves);
	bool is_new;
	guint from = number_of(graph, state, &is_new);

	for (uint32_t i = 0; i < count; i++) {
		const struct kit_step *taken = near->walk->steps->pdata[steps];
		bool is_way = !memcmp(&taken->move, &moves[i], sizeof(moves[i]));
		struct model_state next;
		bool is_fine = model_do(graph->worker, state, moves[i], &next);
		guint to = number_of(graph, &next, &is_new);

		if (is_new)
			put_state(graph, to, "", "");
		put_move(graph, from, moves[i], to,
			 !is_fine ? BROKEN_EDGE
			 : is_way ? ", penwidth=2, color=\"" REPORT_BLUE "\""
				  : ", style=dashed");
	}
}

GString *kit_graph_near(const struct kit_walk *walk)
{
	guint last = walk->states->len - 1;
	struct near near = { .walk = walk, .first = last > NEAR_STATES ? last - NEAR_STATES : 0 };

	begin(&near.graph, walk->model);
	put_way(&near);
	for (guint i = near.first; i < last; i++)
		put_moves(&near, i);
	return end(&near.graph);
}

/* ------------------------------------------------------------------------------------------------------------- drawing */

static char *draw_in(const GString *dot, const char *directory, GError **error)
{
	static const char *const argv[] = { "dot", "-Tsvg", "-ograph.svg", "graph.dot", NULL };
	g_autofree char *path = g_build_filename(directory, "graph.svg", NULL);
	char *drawn = NULL;

	if (!report_file_write(directory, "graph.dot", dot, error) ||
	    !report_tool_run(argv, "graphviz", directory, error))
		return NULL;
	if (g_file_get_contents(path, &drawn, NULL, NULL))
		return drawn;
	g_set_error(error, REPORT_ERROR, REPORT_ERROR_TOOL, "dot drew no SVG");
	return NULL;
}

char *kit_graph_draw(const GString *dot, GError **error)
{
	g_autofree char *directory = report_scratch_new(error);
	char *drawn;

	if (!directory)
		return NULL;
	drawn = draw_in(dot, directory, error);
	report_scratch_remove(directory);
	return drawn;
}

bool kit_graph_write(const GString *dot, const char *path, GError **error)
{
	g_autofree char *directory = g_path_get_dirname(path);
	g_autofree char *name = g_path_get_basename(path);
	g_autofree char *drawn = NULL;
	GString *content;
	bool is_written;

	if (!g_str_has_suffix(path, ".svg"))
		return report_file_write(directory, name, dot, error);
	drawn = kit_graph_draw(dot, error);
	if (!drawn)
		return false;
	content = g_string_new(drawn);
	is_written = report_file_write(directory, name, content, error);
	g_string_free(content, TRUE);
	return is_written;
}
