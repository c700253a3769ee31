/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/tests/met.h"

#include "model/internal.h"

#include <string.h>

struct state_key {
	struct model_hash client;
	struct model_hash server;
	struct model_hash wire[MODEL_CHANNELS_MAX][2];
	uint8_t left[16];
};

struct effect_key {
	struct model_hash part;
	struct model_hash pdu;
	uint64_t event;
	uint64_t thread;
};

static GHashTable *set_new(void)
{
	return g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
}

static bool set_add(GHashTable *set, const void *bytes, size_t length)
{
	return g_hash_table_add(set, g_bytes_new(bytes, length));
}

bool met_sets_equal(GHashTable *a, GHashTable *b)
{
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, a);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		if (!g_hash_table_contains(b, key))
			return false;
	}
	return g_hash_table_size(a) == g_hash_table_size(b);
}

void met_clear(struct met *met)
{
	g_hash_table_unref(met->states);
	g_hash_table_unref(met->effects);
	g_hash_table_unref(met->clients);
	g_hash_table_unref(met->servers);
	g_hash_table_unref(met->still);
	g_hash_table_unref(met->ends);
	g_hash_table_unref(met->rules);
}

/* --------------------------------------------------------------------------------------------------------- by content */

static struct model_hash hash_of(const struct model_store *store, uint32_t number)
{
	return model_store_record(store, number)->hash;
}

static struct model_hash client_hash(struct model_worker *worker, const struct met_how *how, uint32_t client)
{
	struct model *model = worker->model;

	if (!how->in_order)
		return hash_of(model->clients, client);
	model_client_unpack(worker, client);
	model_symmetry_sort(&model->config, (struct model_client_head *)(void *)worker->client);
	memset(worker->effect, 0, sizeof(*worker->effect));
	return hash_of(model->clients, model_client_put(worker));
}

static struct model_hash wire_hash(const struct model *model, uint32_t number)
{
	struct model_hash hash = model_hash_start(0);

	while (number) {
		const struct model_wire *wire = model_wires_get(model->wires, number);
		struct model_hash pdu = hash_of(model->pdus, wire->first);

		hash = model_hash_word(model_hash_word(hash, pdu.high), pdu.low);
		number = wire->rest;
	}
	return model_hash_end(hash);
}

static struct state_key key_of(struct model_worker *worker, const struct met_how *how, const struct model_state *state)
{
	struct state_key key = { .client = client_hash(worker, how, state->client),
				 .server = hash_of(worker->model->servers, state->server) };

	for (uint32_t i = 0; i < MODEL_CHANNELS_MAX; i++) {
		key.wire[i][0] = wire_hash(worker->model, state->wire[i][0]);
		key.wire[i][1] = wire_hash(worker->model, state->wire[i][1]);
	}
	memcpy(key.left, state->left, sizeof(state->left));
	return key;
}

static bool is_still(const struct model_state *state)
{
	for (uint32_t i = 0; i < MODEL_CHANNELS_MAX; i++) {
		if (state->wire[i][MODEL_TO_CLIENT] || state->wire[i][MODEL_TO_SERVER])
			return false;
	}
	return true;
}

/* Threads but the first one are known by how far they are. */
static uint64_t thread_of(struct model_worker *worker, const struct met_how *how, uint32_t client, uint32_t thread)
{
	const struct model_client_head *head = (const struct model_client_head *)(const void *)worker->client;
	const struct model_thread_state *state = &head->thread[thread];

	if (!how->in_order || !thread || thread == MODEL_SYSTEM)
		return thread;
	model_client_unpack(worker, client);
	return UINT64_C(1) << 40 | (uint64_t)state->step << 24 | (uint64_t)state->is_running << 16 | state->op;
}

static void note_effect(struct met *met, struct model_worker *worker, const struct met_how *how,
			const struct model_state *state, struct model_move move)
{
	const struct model *model = worker->model;
	bool is_server = move.kind == MODEL_MOVE_TO_SERVER || move.kind == MODEL_MOVE_WORK ||
			 move.kind == MODEL_MOVE_BREAK;
	struct effect_key key = { .event = (uint64_t)move.kind << 32 | (uint64_t)move.channel << 16 | move.choice };

	key.part = is_server ? hash_of(model->servers, state->server) : client_hash(worker, how, state->client);
	if (move.kind == MODEL_MOVE_TO_SERVER || move.kind == MODEL_MOVE_TO_CLIENT) {
		bool to_client = move.kind == MODEL_MOVE_TO_CLIENT;

		key.pdu = hash_of(model->pdus,
				  model_wires_get(model->wires, state->wire[move.channel][to_client])->first);
	} else if (move.kind == MODEL_MOVE_START || move.kind == MODEL_MOVE_CANCEL) {
		key.thread = thread_of(worker, how, state->client, move.argument);
	} else {
		key.thread = move.argument;
	}
	set_add(met->effects, &key, sizeof(key));
}

/* ------------------------------------------------------------------------------------------------------------- searching */

static void note_broken(struct met *met, const struct model_worker *worker)
{
	set_add(met->rules, model_broken(worker)->rule, strlen(model_broken(worker)->rule));
}

static void note_state(struct met *met, const struct state_key *key, const struct model_state *state)
{
	set_add(met->states, key, sizeof(*key));
	set_add(met->clients, &key->client, sizeof(key->client));
	set_add(met->servers, &key->server, sizeof(key->server));
	if (is_still(state))
		set_add(met->still, key, sizeof(*key));
}

static void note_end(struct met *met, struct model_worker *worker, const struct state_key *key,
		     const struct model_state *state)
{
	set_add(met->ends, key, sizeof(*key));
	if (!model_check_end(worker, state))
		note_broken(met, worker);
}

void met_search(struct model *model, const struct met_how *how, struct met *met)
{
	struct model_worker *worker = model_worker_new(model);
	g_autoptr(GArray) ahead = g_array_new(FALSE, FALSE, sizeof(struct model_state));
	GHashTable *seen = set_new(); /* by number: with in_order several states have one key */
	struct model_move moves[MODEL_MOVES_MAX];
	struct model_state state, next;

	*met = (struct met){ set_new(), set_new(), set_new(), set_new(), set_new(), set_new(), set_new() };
	model_first_state(model, &state);
	set_add(seen, &state, sizeof(state));
	g_array_append_val(ahead, state);
	for (guint at = 0; at < ahead->len; at++) {
		state = g_array_index(ahead, struct model_state, at);
		struct state_key key = key_of(worker, how, &state);
		uint32_t count = model_moves(worker, &state, moves);

		note_state(met, &key, &state);
		if (!count)
			note_end(met, worker, &key, &state);
		if (how->select)
			count = how->select(worker, &state, moves, count);
		for (uint32_t i = 0; i < count; i++) {
			note_effect(met, worker, how, &state, moves[i]);
			if (!model_do(worker, &state, moves[i], &next))
				note_broken(met, worker);
			if (set_add(seen, &next, sizeof(next)))
				g_array_append_val(ahead, next);
		}
	}
	g_hash_table_unref(seen);
	model_worker_free(worker);
}
