/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A run whose order is given: one thread goes through the script and lets the others go on at their turn. */

#include "sim/world/world_internal.h"

#include <string.h>

#define STORAGE_THREADS 64 /* works that wait at a time: as many as a model has tokens */
#define START_NS 1 /* the model's clock begins there */

/** A thread that waits for its turn; on its own stack. */
struct waiter {
	struct sim_turn turn;
	struct sim_queue *call;
	enum world_turn verdict;
};

struct actor {
	struct world *world;
	uint32_t number;
	struct sim_queue *outputs;
	uint32_t op; /* under way; SMB_OP_NONE: none */
};

struct world_director {
	const struct sim_script *script;
	struct sim_script_result *result;
	GPtrArray *waiting; /* struct waiter *, in order of coming */
	struct actor actor[SIM_SCRIPT_THREADS_MAX];
	bool is_unsent;
	bool is_over;
};

static struct world *directed; /* the process's one, for who comes from nowhere */

/* -------------------------------------------------------------------------------------------------------------- waiting */

static bool is_same(const struct sim_turn *waits, const struct sim_turn *turn)
{
	enum sim_turn_kind kind = turn->kind == SIM_TURN_REFUSE ? SIM_TURN_CONNECT : turn->kind;

	if (waits->kind != kind)
		return false;
	if (kind == SIM_TURN_START || kind == SIM_TURN_WORK)
		return waits->argument == turn->argument;
	return waits->channel == turn->channel;
}

enum world_turn world_turn(struct world *world, struct sim_turn turn)
{
	struct world_director *director = world->site->director;
	struct waiter waiter = { .turn = turn };

	if (!director)
		return WORLD_TURN_TAKEN;
	waiter.call = sim_queue_new(world->engine);
	g_ptr_array_add(director->waiting, &waiter);
	sim_queue_pop(waiter.call);
	return waiter.verdict;
}

static void call(struct world_director *director, guint index, enum world_turn verdict)
{
	struct waiter *waiter = g_ptr_array_steal_index(director->waiting, index);

	waiter->verdict = verdict;
	sim_queue_push(waiter->call, waiter);
}

void world_turns_drop(struct world *world, uint32_t channel)
{
	struct world_director *director = world->site->director;

	for (guint i = 0; director && i < director->waiting->len;) {
		const struct waiter *waiter = director->waiting->pdata[i];

		if (waiter->turn.kind != SIM_TURN_START && waiter->turn.channel == channel)
			call(director, i, WORLD_TURN_GONE);
		else
			i++;
	}
}

bool world_director_excuses(const struct world *world, enum smb_rule rule)
{
	const struct world_director *director = world->site->director;

	return director && director->script->excused >> rule & 1;
}

void world_director_note(struct world *world, const char *rule, const char *text)
{
	struct world_director *director = world->site->director;

	if (!director || director->is_over || *director->result->rule)
		return;
	g_strlcpy(director->result->rule, rule, sizeof(director->result->rule));
	g_strlcpy(director->result->text, text, sizeof(director->result->text));
	director->result->rule_at = director->result->at;
}

bool world_may_send(struct world *world, const struct smb_client_output *output)
{
	struct world_director *director = world->site->director;
	g_autofree char *text = NULL;

	if (!director)
		return true;
	if (director->is_unsent) {
		director->is_unsent = false;
		smb_client_unsent(world->client, output->channel, output->message_id, sim_engine_now_ns(world->engine));
		return false;
	}
	if (world->channels[output->channel].open)
		return true;
	text = g_strdup_printf("the client sends on channel %u, which is not connected", output->channel);
	world_director_note(world, "C22", text);
	return false;
}

uint64_t world_server_now_ns(const struct world *world)
{
	return world->site->director ? START_NS : sim_engine_now_ns(world->engine);
}

bool world_director_holds_work(const struct world *world)
{
	return world->site->director->script->holds_work;
}

const struct sim_script *world_script(const struct world_site *site)
{
	return site->director ? site->director->script : NULL;
}

/* ---------------------------------------------------------------------------------------------------------- application */

static struct sim_cores cores_of(const struct world *world)
{
	return (struct sim_cores){ world->client, world->server, world->monitor };
}

static bool act(struct actor *actor, const struct smb_op *op, struct smb_client_output *output)
{
	struct world *world = actor->world;
	g_autofree char *file = world_wire_path(op->name ? op->name : "");
	uint64_t wanted = op->offset;

	actor->op = world_op_submit(world, op, actor->outputs);
	if (actor->op == SMB_OP_NONE)
		return false;
	for (;;) {
		world_op_wait(world, actor->outputs, wanted, UINT64_MAX, output);
		if (output->kind == SMB_CLIENT_DONE)
			break;
		wanted = output->offset + output->data.length;
		world_op_copy(world, op, file, output);
	}
	actor->op = SMB_OP_NONE;
	return true;
}

static void actor_main(void *arg)
{
	struct actor *actor = arg;
	struct world *world = actor->world;
	struct world_director *director = world->site->director;
	struct sim_cores cores = cores_of(world);
	struct smb_client_output done;
	struct smb_op op;

	for (;;) {
		world_turn(world, (struct sim_turn){ .kind = SIM_TURN_START, .argument = actor->number });
		director->script->begin(director->script->context, director->result->at, actor->number, &op);
		if (!act(actor, &op, &done))
			return;
		director->script->done(director->script->context, director->result->at, actor->number, &done, &cores);
	}
}

/* ---------------------------------------------------------------------------------------------------------- taking turns */

static bool let_go_on(struct world *world, const struct sim_turn *turn)
{
	struct world_director *director = world->site->director;

	for (guint i = 0; i < director->waiting->len; i++) {
		const struct waiter *waiter = director->waiting->pdata[i];

		if (!is_same(&waiter->turn, turn))
			continue;
		if (turn->choice.chosen)
			smb_server_choose(world->server, &turn->choice);
		call(director, i, turn->kind == SIM_TURN_REFUSE ? WORLD_TURN_REFUSED : WORLD_TURN_TAKEN);
		return true;
	}
	return false;
}

static bool cut(struct world *world, uint32_t channel)
{
	if (!world->channels[channel].open)
		return false;
	world_channel_close(world, channel, true);
	world_client_drain(world);
	return true;
}

static bool cancel(struct world *world, uint32_t thread)
{
	uint32_t op = world->site->director->actor[thread].op;

	if (op == SMB_OP_NONE)
		return false;
	smb_client_cancel(world->client, op, sim_engine_now_ns(world->engine));
	world_client_drain(world);
	return true;
}

static bool break_open(struct world *world, const struct sim_turn *turn)
{
	if (!smb_server_break(world->server, turn->argument, turn->channel, turn->to, world_server_now_ns(world)))
		return false;
	world_server_drain(world);
	return true;
}

/* [blocks] until the timer is due: nothing else happens meanwhile. */
static bool wake(struct world *world)
{
	struct world_timer *timer = &world->client_timer;

	if (timer->due_ns == UINT64_MAX)
		return false;
	timer->is_held = false;
	sim_queue_push(timer->changed, timer);
	sim_queue_pop(timer->rung);
	timer->is_held = true;
	sim_queue_push(timer->changed, timer);
	return true;
}

static bool intrude(struct world *world, const struct sim_turn *turn)
{
	const struct world_director *director = world->site->director;
	struct sim_cores cores = cores_of(world);

	director->script->intrude(director->script->context, director->result->at, turn->argument, &cores);
	return true;
}

static bool take(struct world *world, const struct sim_turn *turn)
{
	struct world_director *director = world->site->director;

	director->is_unsent = turn->is_unsent;
	switch (turn->kind) {
	case SIM_TURN_START:
	case SIM_TURN_TO_SERVER:
	case SIM_TURN_TO_CLIENT:
	case SIM_TURN_WORK:
	case SIM_TURN_CONNECT:
	case SIM_TURN_REFUSE:
		return let_go_on(world, turn);
	case SIM_TURN_CUT:
		return cut(world, turn->channel);
	case SIM_TURN_CANCEL:
		return cancel(world, turn->argument);
	case SIM_TURN_BREAK:
		return break_open(world, turn);
	case SIM_TURN_STRANGER:
		return intrude(world, turn);
	case SIM_TURN_CHANGE:
		director->script->change(director->script->context, director->result->at, world->server);
		return true;
	case SIM_TURN_WAKE:
		return wake(world);
	}
	return false;
}

/* As the model checker has it after each event: which free element of the server is taken next depends on no past. */
static void come_to_rest(struct world *world)
{
	sim_engine_rest(world->engine);
	smb_server_settle(world->server);
}

static enum sim_script_end play(struct world *world)
{
	const struct world_director *director = world->site->director;
	const struct sim_script *script = director->script;
	struct sim_cores cores = cores_of(world);
	struct sim_turn turn;

	for (uint32_t i = 0; script->next(script->context, i, &turn); i++) {
		director->result->at = i;
		if (!take(world, &turn))
			return SIM_SCRIPT_WAITS;
		come_to_rest(world);
		if (!script->rested(script->context, i, &cores))
			return SIM_SCRIPT_STOPPED;
	}
	return SIM_SCRIPT_PLAYED;
}

static void director_main(void *arg)
{
	struct world *world = arg;
	struct world_director *director = world->site->director;
	struct sim_script_result *result = director->result;

	directed = world;
	sim_sleep_until(world->engine, START_NS);
	come_to_rest(world);
	result->end = play(world);
	for (guint i = 0; i < director->waiting->len; i++)
		result->waiting += ((const struct waiter *)director->waiting->pdata[i])->turn.kind != SIM_TURN_START;
	director->is_over = true;
	world_end(world, SIM_OUTCOME_FINISHED, NULL);
}

/* ------------------------------------------------------------------------------------------------------------- the run */

void world_director_furnish(struct world *world)
{
	const struct sim_script *script = world->site->director->script;
	struct sim_cores cores = cores_of(world);

	script->furnish(script->context, &cores);
}

void world_director_start(struct world *world)
{
	struct world_director *director = world->site->director;
	const struct sim_script *script = director->script;

	world->threads_awake = script->threads;
	world->client_timer.is_held = true;
	world->client_timer.rung = sim_queue_new(world->engine);
	world->site->server_timer.is_held = true;
	for (uint32_t i = 0; i < script->threads; i++) {
		g_autofree char *name = g_strdup_printf("application-%u", i);

		director->actor[i] = (struct actor){
			.world = world, .number = i, .outputs = sim_queue_new(world->engine), .op = SMB_OP_NONE
		};
		world_thread_start(world, name, actor_main, &director->actor[i]);
	}
	world_thread_start(world, "director", director_main, world);
}

/* Nothing costs anything, and a connection has a thread of the server to itself: else PDUs would wait for each other. */
static void make_point(const struct sim_script *script, struct sim_point *point)
{
	sim_point_init(point);
	point->policy = script->client.policy;
	point->mount = script->client.mount;
	point->page_bytes = script->client.page_bytes;
	point->client_costs = (struct sim_client_costs){ 0 };
	point->server = script->server.profile;
	point->server.threads = STORAGE_THREADS;
	point->server.aio = 1;
	point->server.request_cpu_ns = 0;
	point->server.receive_cpu_ns_per_byte = 0;
	point->server.send_cpu_ns_per_byte = 0;
	point->server.read_cpu_ns_per_byte = 0;
	point->server.write_cpu_ns_per_byte = 0;
	point->server.storage_latency_ns = 0;
	point->server.storage_bytes_per_s = 0;
	point->server.storage_parallel = 0;
	point->network.rtt_ns = 0;
	point->network.rate_bps = 0;
	point->network.jitter_ns = 0;
	point->network.loss = 0;
	point->network.nics = script->server.interface_count;
	point->network.tcp[SIM_CLIENT].nagle = false;
	point->network.tcp[SIM_SERVER].nagle = false;
	point->monitor = true;
}

void sim_script_core_stops(const char *text)
{
	struct world *world = directed;

	if (!world)
		return;
	directed = NULL; /* the core may not survive being looked at */
	world_director_note(world, "assertion", text);
	world_end(world, SIM_OUTCOME_FAILED, text);
	sim_engine_rest(world->engine);
}

bool sim_script_run(const struct sim_script *script, const struct sim_trace *trace, struct sim_script_result *result,
		    GError **error)
{
	g_autofree struct sim_point *point = g_new0(struct sim_point, 1);
	g_autofree struct sim_result *told = g_new0(struct sim_result, 1);
	struct world_director director = { .script = script, .result = result, .waiting = g_ptr_array_new() };
	bool is_run;

	g_assert(script->threads <= SIM_SCRIPT_THREADS_MAX);
	*result = (struct sim_script_result){ .end = SIM_SCRIPT_ENDED };
	make_point(script, point);
	is_run = world_run(point, trace, &director, told, error);
	directed = NULL;
	g_ptr_array_unref(director.waiting);
	return is_run;
}
