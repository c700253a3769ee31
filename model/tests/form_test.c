/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which states are one: those that behave the same from then on, and only those. */

#include "model/explore.h"
#include "model/tests/systems.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#define CONCRETE_MAX 100000u /* so far is looked */

struct walk {
	struct model *model;
	struct model_worker *worker;
	GHashTable *concrete; /* states as tuples of parts */
	GHashTable *forms; /* hash of a state -> what can happen in it, as bytes */
	GQueue *waiting;
};

static guint hash_of_key(gconstpointer key)
{
	return (guint)((const struct model_hash *)key)->high;
}

static gboolean keys_are_equal(gconstpointer a, gconstpointer b)
{
	return model_hash_equal(*(const struct model_hash *)a, *(const struct model_hash *)b);
}

static void arrive(struct walk *walk, const struct model_state *state)
{
	g_autoptr(GBytes) key = g_bytes_new(state, sizeof(*state));

	if (g_hash_table_add(walk->concrete, g_bytes_ref(key)))
		g_queue_push_tail(walk->waiting, g_memdup2(state, sizeof(*state)));
}

/* The moves, and the hashes of what comes of them. */
static GBytes *what_can_happen(struct walk *walk, const struct model_state *state)
{
	struct model_move moves[MODEL_MOVES_MAX];
	uint32_t count = model_moves(walk->worker, state, moves);
	GByteArray *all = g_byte_array_new();
	struct model_state next;

	for (uint32_t i = 0; i < count; i++) {
		bool holds = model_do(walk->worker, state, moves[i], &next);
		struct model_hash hash = model_state_hash(walk->model, &next);

		cr_assert(holds, "%s: %s", model_broken(walk->worker)->rule, model_broken(walk->worker)->text);
		g_byte_array_append(all, (const uint8_t *)&moves[i], sizeof(moves[i]));
		g_byte_array_append(all, (const uint8_t *)&hash, sizeof(hash));
		arrive(walk, &next);
	}
	return g_byte_array_free_to_bytes(all);
}

static void visit(struct walk *walk, const struct model_state *state)
{
	struct model_hash hash = model_state_hash(walk->model, state);
	g_autoptr(GBytes) happens = what_can_happen(walk, state);
	GBytes *known = g_hash_table_lookup(walk->forms, &hash);

	if (known)
		cr_assert(g_bytes_equal(known, happens), "two states look alike and are not");
	else
		g_hash_table_insert(walk->forms, g_memdup2(&hash, sizeof(hash)), g_bytes_ref(happens));
}

/* The states as they are, to the last byte, broadest first; returns how many of them the explorer tells apart. */
static uint32_t count(struct model_config *config, uint32_t *concrete)
{
	struct walk walk;
	struct model_state state;

	config->is_exact = true;
	walk.model = model_new(config, NULL);
	config->is_exact = false;
	cr_assert_not_null(walk.model);
	walk.worker = model_worker_new(walk.model);
	walk.concrete = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
	walk.forms = g_hash_table_new_full(hash_of_key, keys_are_equal, g_free, (GDestroyNotify)g_bytes_unref);
	walk.waiting = g_queue_new();
	model_first_state(walk.model, &state);
	arrive(&walk, &state);
	while (!g_queue_is_empty(walk.waiting) && g_hash_table_size(walk.concrete) < CONCRETE_MAX) {
		g_autofree struct model_state *from = g_queue_pop_head(walk.waiting);

		visit(&walk, from);
	}
	uint32_t forms = g_hash_table_size(walk.forms);
	*concrete = g_hash_table_size(walk.concrete);
	g_queue_free_full(walk.waiting, g_free);
	g_hash_table_unref(walk.concrete);
	g_hash_table_unref(walk.forms);
	model_worker_free(walk.worker);
	model_free(walk.model);
	return forms;
}

static void one_file_from_two(struct model_config *config, uint32_t channels)
{
	system_two_readers(config, channels, 16);
	config->starts_mounted = true;
	config->unmounts = false;
}

Test(form, states_that_differ_in_message_ids_alone_behave_the_same)
{
	struct model_config config;
	uint32_t concrete, forms;

	one_file_from_two(&config, 1);
	config.faults[MODEL_FAULT_CUT] = 1;
	config.faults[MODEL_FAULT_TIMER] = 2;
	forms = count(&config, &concrete);
	cr_expect_lt(forms, concrete, "%u of %u", forms, concrete);

	one_file_from_two(&config, 1);
	config.faults[MODEL_FAULT_PUSHBACK] = 2;
	config.freedom.statuses = 1;
	config.freedom.status[0] = STATUS_INSUFFICIENT_RESOURCES;
	config.freedom.interim = true;
	forms = count(&config, &concrete);
	cr_expect_lt(forms, concrete, "%u of %u", forms, concrete);

	one_file_from_two(&config, 2);
	config.faults[MODEL_FAULT_TIMER] = 1;
	forms = count(&config, &concrete);
	cr_expect_lt(forms, concrete, "%u of %u", forms, concrete);
}

#define OPEN(how)                                                                                                      \
	{                                                                                                              \
		.kind = MODEL_STEP_OPEN, .access = (how)                                                               \
	}
#define IO(what, from, bytes)                                                                                          \
	{                                                                                                              \
		.kind = (what), .offset = (from), .length = (bytes)                                                    \
	}

/* Where something of the past was once part of what tells states apart, or something that counts was not. */
static const struct history {
	char name[64];
	char kernel[8];
	uint16_t pushback; /* NT status is 0xc0000000 and this */
	struct model_thread thread[2];
	uint8_t faults[MODEL_FAULTS];
	struct smb_server_sizes later;
} histories[] = {
	{ .name = "a handle of a session that was lost",
	  .thread = { { .steps = 1, .step = { OPEN(SMB_OPEN_READ) } } },
	  .faults = { [MODEL_FAULT_CUT] = 1 } },
	{ .name = "a WRITE that a pass sent, refused",
	  .kernel = "6.1",
	  .pushback = 0x9a, /* STATUS_INSUFFICIENT_RESOURCES */
	  .thread = { { .steps = 3,
			.step = { OPEN(SMB_OPEN_WRITE),
				  IO(MODEL_STEP_WRITE, 0, 131072),
				  { .kind = MODEL_STEP_FSYNC } } },
		      { .steps = 2, .step = { IO(MODEL_STEP_WRITE, 131072, 65536), { .kind = MODEL_STEP_FSYNC } } } },
	  .faults = { [MODEL_FAULT_PUSHBACK] = 1 } },
	{ .name = "limits of the time when a connection was made",
	  .kernel = "next",
	  .thread = { { .steps = 2, .step = { OPEN(SMB_OPEN_WRITE), IO(MODEL_STEP_WRITE, 0, 65536) } } },
	  .faults = { [MODEL_FAULT_CUT] = 1, [MODEL_FAULT_LIMITS] = 1 },
	  .later = { .max_read = 65536, .max_write = 65536, .max_transact = 65536, .credits_max = 6 } },
};

static void with_history(const struct history *history, struct model_config *config)
{
	one_file_from_two(config, 1);
	if (history->kernel[0])
		config->client.policy = smb_era_find(history->kernel)->policy;
	config->file[0].bytes = 262144;
	config->threads = history->thread[1].steps ? 2 : 1;
	memcpy(config->thread, history->thread, sizeof(history->thread));
	memcpy(config->faults, history->faults, sizeof(history->faults));
	config->freedom.statuses = history->pushback != 0;
	config->freedom.status[0] = 0xc0000000u | history->pushback;
	config->client.mount.soft = false;
	config->client.mount.wsize = 65536;
	config->later = history->later;
	model_config_set_limits(config, 1);
}

ParameterizedTestParameters(form, what_is_past_tells_no_states_apart)
{
	return cr_make_param_array(struct history, (struct history *)histories, G_N_ELEMENTS(histories));
}

ParameterizedTest(struct history *history, form, what_is_past_tells_no_states_apart)
{
	struct model_config config;
	uint32_t concrete, forms;

	with_history(history, &config);
	forms = count(&config, &concrete);
	cr_expect_lt(forms, concrete, "%u of %u", forms, concrete);
}

/* The explorer sees as many as there are different ones. */
Test(form, the_explorer_counts_forms)
{
	struct model_config config;
	struct model_result result;
	struct model *model;
	uint32_t concrete, forms;

	one_file_from_two(&config, 1);
	config.faults[MODEL_FAULT_TIMER] = 2;
	forms = count(&config, &concrete);
	model = model_new(&config, NULL);
	model_explore(model, &(struct model_options){ .jobs = 2 }, &result);
	model_free(model);
	cr_assert_eq(result.outcome, MODEL_HOLDS);
	cr_assert_eq(result.numbers.states, forms);
}

static uint64_t explored(const struct model_config *config, bool depth_first)
{
	struct model_result result;
	struct model *model = model_new(config, NULL);

	model_explore(model, &(struct model_options){ .jobs = 1, .depth_first = depth_first, .liveness = true },
		      &result);
	model_free(model);
	cr_assert_eq(result.outcome, MODEL_HOLDS, "%s: %s", result.found.rule, result.found.text);
	return result.numbers.states;
}

/* A timer may come between what a command learned and its next step; what was never looked up has no age. */
Test(form, what_commands_know_is_as_old_as_it_is_now)
{
	struct model_config config;

	one_file_from_two(&config, 1);
	config.client.policy = smb_era_find("next")->policy;
	config.starts_mounted = false;
	config.is_live = true;
	config.threads = 1;
	config.thread[0] = (struct model_thread){
		.steps = 1,
		.step = { { .kind = MODEL_STEP_COMMAND, .command = { .kind = SMB_OPS_LS } } },
	};
	config.faults[MODEL_FAULT_TIMER] = 1;
	config.freedom.grants = 1;
	config.freedom.grant[0] = 1;
	model_config_set_limits(&config, 1);
	cr_expect_eq(explored(&config, false), explored(&config, true));
}

/* A server that refuses every WRITE, and a client that sends it again and again: a circle. */
Test(form, a_client_that_sends_without_end_goes_round)
{
	struct model_config config;
	struct model_result result;
	struct model *model;

	one_file_from_two(&config, 1);
	config.threads = 1;
	config.thread[0] = (struct model_thread){ .steps = 3,
						  .step = { { .kind = MODEL_STEP_OPEN, .access = SMB_OPEN_WRITE },
							    { .kind = MODEL_STEP_WRITE, .length = 4096 },
							    { .kind = MODEL_STEP_CLOSE } } };
	config.server.misbehaviour.write_pushback = 1;
	model_config_set_limits(&config, 1);
	model = model_new(&config, NULL);
	model_explore(model, &(struct model_options){ .jobs = 1, .bounds = { .states = 10000 } }, &result);
	model_free(model);
	cr_assert_eq(result.outcome, MODEL_HOLDS, "%s: %s", result.found.rule, result.found.text);
	cr_assert_eq(result.ends, 0u);
}
