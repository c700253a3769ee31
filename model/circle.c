/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A fair circle in a component: from its first state always the shortest way to where something that was put off so far
 * happens, or cannot happen, until nothing is put off; then the shortest way back.
 */

#include "model/internal.h"
#include "model/lasso.h"

struct circle {
	struct model_worker *worker;
	model_lasso_inside_fn is_inside;
	const void *context;
	GArray *moves;
	struct model_state at;
	struct model_hash home;
	model_wide put_off; /* classes of moves */
};

/* A state on the way of a search in breadth. */
struct met {
	struct model_state state;
	struct model_move move; /* that led there */
	guint before; /* its predecessor's index */
};

struct ways {
	GArray *met; /* the first one is where the search begins */
	GHashTable *seen; /* hash -> itself */
};

static guint hash_of_hash(gconstpointer key)
{
	return (guint)((const struct model_hash *)key)->low;
}

static gboolean equal_hashes(gconstpointer a, gconstpointer b)
{
	return model_hash_equal(*(const struct model_hash *)a, *(const struct model_hash *)b);
}

/* Is that a step on? */
static bool gets_on(struct circle *circle, const struct met *met, struct model_hash hash)
{
	model_wide by_move = (model_wide)1 << model_move_class(met->move);

	if (!circle->put_off)
		return model_hash_equal(hash, circle->home);
	return by_move & circle->put_off || circle->put_off & ~model_lasso_due(circle->worker, &met->state);
}

/* All inside that comes of a state; true: the last of them gets on. */
static bool look_on(struct circle *circle, struct ways *ways, guint before)
{
	struct model_state state = g_array_index(ways->met, struct met, before).state;
	struct model_move moves[MODEL_MOVES_MAX];
	uint32_t count = model_moves(circle->worker, &state, moves);

	for (uint32_t i = 0; i < count; i++) {
		struct met met = { .move = moves[i], .before = before };
		struct model_hash hash;

		model_do(circle->worker, &state, moves[i], &met.state);
		hash = model_state_hash(circle->worker->model, &met.state);
		if (!model_lasso_may_repeat(&state, moves[i], &met.state) || !circle->is_inside(circle->context, hash))
			continue;
		if (gets_on(circle, &met, hash)) {
			g_array_append_val(ways->met, met);
			return true;
		}
		if (g_hash_table_add(ways->seen, g_memdup2(&hash, sizeof(hash))))
			g_array_append_val(ways->met, met);
	}
	return false;
}

/* The way to the last state met becomes part of the run. */
static void take_way(struct circle *circle, const struct ways *ways)
{
	guint from = circle->moves->len, at = ways->met->len - 1;

	for (guint i = at; i; i = g_array_index(ways->met, struct met, i).before)
		g_array_insert_val(circle->moves, from, g_array_index(ways->met, struct met, i).move);
	circle->at = g_array_index(ways->met, struct met, at).state;
	for (guint i = at; i; i = g_array_index(ways->met, struct met, i).before) {
		const struct met *met = &g_array_index(ways->met, struct met, i);

		circle->put_off &= ~((model_wide)1 << model_move_class(met->move));
		circle->put_off &= model_lasso_due(circle->worker, &met->state);
	}
}

/* False: there is no way on. */
static bool go_on(struct circle *circle)
{
	struct ways ways = {
		.met = g_array_new(FALSE, FALSE, sizeof(struct met)),
		.seen = g_hash_table_new_full(hash_of_hash, equal_hashes, g_free, NULL),
	};
	struct met first = { .state = circle->at };
	bool is_found = false;

	g_array_append_val(ways.met, first);
	for (guint i = 0; i < ways.met->len && !is_found; i++)
		is_found = look_on(circle, &ways, i);
	if (is_found)
		take_way(circle, &ways);
	g_array_unref(ways.met);
	g_hash_table_unref(ways.seen);
	return is_found;
}

static bool is_home(const struct circle *circle)
{
	return model_hash_equal(model_state_hash(circle->worker->model, &circle->at), circle->home);
}

bool model_lasso_go_round(struct model_worker *worker, GArray *moves, model_lasso_inside_fn is_inside,
			  const void *context, struct model_fault_found *found)
{
	g_autoptr(GArray) stem = model_lasso_states(worker, moves);
	struct circle circle = { .worker = worker, .is_inside = is_inside, .context = context, .moves = moves };
	guint from = moves->len;
	bool is_fault = false;

	circle.at = g_array_index(stem, struct model_state, from);
	circle.home = model_state_hash(worker->model, &circle.at);
	circle.put_off = model_lasso_due(worker, &circle.at);
	while (circle.put_off || !is_home(&circle)) {
		if (!go_on(&circle))
			break;
	}
	if (!circle.put_off && is_home(&circle) && moves->len > from) {
		g_autoptr(GArray) states = model_lasso_states(worker, moves);

		is_fault = model_lasso_judge(worker, states, moves, from, found);
	}
	if (!is_fault)
		g_array_set_size(moves, from);
	return is_fault;
}
