/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The checker against its twin (model/twin/credits.pml): Spin counts the states of an abstract model that was written
 * from the specification; the checker's states of the real cores, put into the same words, must be as many.
 */

#include "model/internal.h"
#include "model/tests/systems.h"
#include "protocol/client/state.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <gio/gio.h>
#include <string.h>

struct setup {
	uint32_t threads;
	uint32_t reads; /* of each thread */
	uint32_t credits_max; /* two of them are set aside for echoes and breaks */
	bool interim;
};

ParameterizedTestParameters(twin, counts_as_many_states_as_the_checker)
{
	static struct setup setups[] = {
		{ 2, 3, 5, false },
		{ 4, 1, 5, false },
		{ 3, 2, 5, false },
		{ 4, 1, 5, true },
	};

	return cr_make_param_array(struct setup, setups, G_N_ELEMENTS(setups));
}

/* ---------------------------------------------------------------------------------------------------------- the twin */

static char *run(const char *directory, const char *const *arguments)
{
	g_autoptr(GSubprocessLauncher)
		launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE);
	GError *error = NULL;
	char *output = NULL;

	g_subprocess_launcher_set_cwd(launcher, directory);
	g_autoptr(GSubprocess) child = g_subprocess_launcher_spawnv(launcher, arguments, &error);
	cr_assert(child, "%s: %s", arguments[0], error ? error->message : "");
	cr_assert(g_subprocess_communicate_utf8(child, NULL, NULL, &output, NULL, &error));
	cr_assert(g_subprocess_get_successful(child), "%s: %s", arguments[0], output);
	return output;
}

static uint64_t count_by_spin(const struct setup *setup)
{
	g_autofree char *directory = g_dir_make_tmp("smblab-twin-XXXXXX", NULL);
	g_autofree char *threads = g_strdup_printf("-DTHREADS=%u", setup->threads);
	g_autofree char *reads = g_strdup_printf("-DREADS=%u", setup->reads);
	g_autofree char *credits = g_strdup_printf("-DCREDITS=%u", setup->credits_max - 2);
	const char *interim = setup->interim ? "-DINTERIM=true" : "-DINTERIM=false";
	g_autofree char *made = run(directory, (const char *const[]){ "spin", "-a", threads, reads, credits, interim,
								      SMB_SOURCE_DIR "/model/twin/credits.pml", NULL });
	g_autofree char *built = run(
		directory, (const char *const[]){ "cc", "-O1", "-w", "-DNOREDUCE", "-o", "pan", "pan.c", NULL });
	g_autofree char *told = run(directory, (const char *const[]){ "./pan", NULL });
	const char *errors = strstr(told, "errors: ");
	const char *states = strstr(told, " states, stored");

	cr_assert(errors && g_str_has_prefix(errors, "errors: 0"), "%s", told);
	cr_assert_not_null(states);
	while (states > told && g_ascii_isdigit(states[-1]))
		states--;
	run(directory, (const char *const[]){ "rm", "-rf", directory, NULL });
	return g_ascii_strtoull(states, NULL, 10);
}

/* ------------------------------------------------------------------------------------------------------- the checker */

static void configure(struct model_config *config, const struct setup *setup)
{
	system_two_readers(config, 1, (uint16_t)setup->credits_max);
	config->server.profile.interim = setup->interim ? SMB_INTERIM_ALWAYS : SMB_INTERIM_NEVER;
	config->file[0].bytes = (uint64_t)setup->threads * setup->reads * 4096;
	config->threads = setup->threads;
	config->unmounts = false;
	config->starts_mounted = true;
	for (uint32_t t = 0; t < setup->threads; t++) {
		struct model_thread *thread = &config->thread[t];

		*thread = (struct model_thread){ 0 };
		if (t == 0)
			thread->step[thread->steps++] = (struct model_step){ .kind = MODEL_STEP_OPEN, .direct = true };
		for (uint32_t i = 0; i < setup->reads; i++)
			thread->step[thread->steps++] =
				(struct model_step){ .kind = MODEL_STEP_READ,
						     .offset = (uint64_t)(t * setup->reads + i) * 4096,
						     .length = 4096 };
	}
	model_config_set_limits(config, 1);
}

struct look {
	const struct setup *setup;
	struct model *model;
	struct model_worker *worker;
	GHashTable *seen; /* states of the checker */
	GHashTable *words; /* the same in the twin's words */
	GQueue *waiting;
};

static uint32_t thread_of_offset(const struct setup *setup, uint64_t offset)
{
	return (uint32_t)(offset / 4096 / setup->reads);
}

/* The threads whose PDUs are on the wire, in order; an interim response is nobody's. Returns a bit for each. */
static uint32_t tell_wire(const struct look *look, const struct model_state *state, enum model_direction direction,
			  GString *text)
{
	uint32_t threads = 0;
	struct smb_pdu pdu;

	for (uint32_t i = 0; model_state_pdu(look->model, state, 0, direction, i, &pdu); i++) {
		struct smb_chain_reader reader;
		struct smb2_message message;

		smb_chain_read(&reader, &pdu);
		cr_assert_eq(smb_chain_next(&reader, &message), SMB_WIRE_OK);
		if (direction == MODEL_TO_CLIENT)
			g_string_append_printf(text, "+%u:", message.header.credits);
		if (message.header.status == STATUS_PENDING)
			continue;
		uint64_t offset = direction == MODEL_TO_SERVER ? message.body.read_req.offset
							       : message.body.read_rsp.payload.offset;
		threads |= 1u << thread_of_offset(look->setup, offset);
		g_string_append_printf(text, "%u", thread_of_offset(look->setup, offset));
	}
	g_string_append_c(text, '/');
	return threads;
}

static uint32_t tell_waiting(const struct look *look, const struct smb_client *client,
			     const struct model_client_head *head, GString *text)
{
	uint32_t threads = 0;

	for (uint32_t op = client_channel_at(client, 0)->waiters.head; op != NONE;
	     op = client_op_at(client, op)->link) {
		for (uint32_t t = 0; t < look->setup->threads; t++) {
			if (!head->thread[t].is_running || head->thread[t].op != op)
				continue;
			threads |= 1u << t;
			g_string_append_printf(text, "%u", t);
		}
	}
	g_string_append_c(text, '/');
	return threads;
}

static char *in_the_twins_words(const struct look *look, const struct model_state *state)
{
	GString *text = g_string_new(NULL);
	const struct smb_client *client = model_state_client(look->worker, state);
	const struct model_client_head *head = (const struct model_client_head *)(const void *)look->worker->client;
	struct smb_channel_info info;
	uint32_t elsewhere;

	smb_client_look_channel(client, 0, &info);
	g_string_append_printf(text, "%u/", info.credits);
	elsewhere = tell_waiting(look, client, head, text);
	elsewhere |= tell_wire(look, state, MODEL_TO_SERVER, text);
	elsewhere |= tell_wire(look, state, MODEL_TO_CLIENT, text);
	for (uint32_t t = 0; t < look->setup->threads; t++) {
		uint32_t done = head->thread[t].step - (t == 0);
		bool at_server = head->thread[t].is_running && !(elsewhere >> t & 1);

		g_string_append_printf(text, "%u%s", look->setup->reads - done,
				       at_server		    ? "s"
				       : head->thread[t].is_running ? "b"
								    : "-");
	}
	return g_string_free(text, FALSE);
}

static void arrive(struct look *look, const struct model_state *state)
{
	g_autoptr(GBytes) key = g_bytes_new(state, sizeof(*state));

	if (!g_hash_table_add(look->seen, g_bytes_ref(key)))
		return;
	g_hash_table_add(look->words, in_the_twins_words(look, state));
	g_queue_push_tail(look->waiting, g_memdup2(state, sizeof(*state)));
}

/* The file is opened first, with nothing beside it. */
static void open_file(struct look *look, struct model_state *state)
{
	struct model_move moves[MODEL_MOVES_MAX];
	struct model_state next;
	uint32_t count;

	model_first_state(look->model, state);
	for (bool begun = false; (count = model_moves(look->worker, state, moves)); begun = true) {
		uint32_t i = 0;
		while (i < count && (moves[i].kind == MODEL_MOVE_WAKE || (begun && moves[i].kind == MODEL_MOVE_START)))
			i++;
		if (i == count)
			break;
		cr_assert(model_do(look->worker, state, moves[i], &next), "%s", model_broken(look->worker)->text);
		*state = next;
	}
}

static void visit_all(struct look *look)
{
	struct model_move moves[MODEL_MOVES_MAX];
	struct model_state state, next;

	open_file(look, &state);
	arrive(look, &state);
	while (!g_queue_is_empty(look->waiting)) {
		g_autofree struct model_state *from = g_queue_pop_head(look->waiting);
		uint32_t count = model_moves(look->worker, from, moves);

		for (uint32_t i = 0; i < count; i++) {
			if (moves[i].kind == MODEL_MOVE_WAKE)
				continue; /* the twin has no timers */
			cr_assert(model_do(look->worker, from, moves[i], &next), "%s",
				  model_broken(look->worker)->text);
			arrive(look, &next);
		}
	}
}

static uint64_t count_by_checker(const struct setup *setup)
{
	struct model_config config;
	GError *error = NULL;

	configure(&config, setup);
	struct look look = { .setup = setup, .model = model_new(&config, &error) };
	cr_assert(look.model, "%s", error ? error->message : "");
	look.worker = model_worker_new(look.model);
	look.seen = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
	look.words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	look.waiting = g_queue_new();
	visit_all(&look);
	uint64_t count = g_hash_table_size(look.words);
	g_queue_free(look.waiting);
	g_hash_table_unref(look.words);
	g_hash_table_unref(look.seen);
	model_worker_free(look.worker);
	model_free(look.model);
	return count;
}

ParameterizedTest(const struct setup *setup, twin, counts_as_many_states_as_the_checker, .timeout = 120)
{
	uint64_t checker = count_by_checker(setup);
	uint64_t spin = count_by_spin(setup);

	cr_expect_gt(checker, 20u);
	cr_expect_eq(checker, spin, "%u threads of %u reads, %u credits, %s: checker %lu, Spin %lu", setup->threads,
		     setup->reads, setup->credits_max, setup->interim ? "interim" : "no interim", checker, spin);
}
