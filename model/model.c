/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A model: what is kept once for all states, and its first state. */

#include "model/internal.h"
#include "model/misbehaviour.h"

#include <string.h>

#define PACKED_HEAD_MAX 256 /* of ports in front of a packed block */
#define MOUNT_MOVES_MAX 10000

GQuark model_error_quark(void)
{
	return g_quark_from_static_string("model-error");
}

const char *model_fault_name(enum model_fault fault)
{
	static const char *const names[] = {
		[MODEL_FAULT_CUT] = "cuts",
		[MODEL_FAULT_REFUSE] = "refusals",
		[MODEL_FAULT_CANCEL] = "cancels",
		[MODEL_FAULT_SEND] = "send_failures",
		[MODEL_FAULT_PUSHBACK] = "pushbacks",
		[MODEL_FAULT_EXPIRE] = "expiries",
		[MODEL_FAULT_BREAK] = "breaks",
		[MODEL_FAULT_TIMER] = "timers",
		[MODEL_FAULT_INTERFACE] = "interface_changes",
		[MODEL_FAULT_LIMITS] = "limit_changes",
		[MODEL_FAULT_STRANGER] = "strangers",
	};

	return names[fault];
}

static uint32_t steps_of_kind(const struct model_config *config, enum model_step_kind kind)
{
	uint32_t count = 0;

	for (uint32_t t = 0; t < config->threads; t++) {
		for (uint32_t s = 0; s < config->thread[t].steps; s++)
			count += config->thread[t].step[s].kind == kind;
	}
	return count;
}

bool model_may_starve(const struct model_config *config)
{
	const struct smb_server_misbehaviour *misbehaviour = &config->server.misbehaviour;

	return config->freedom.grants || misbehaviour->starves || misbehaviour->interim_is_free;
}

void model_config_set_limits(struct model_config *config, uint32_t channels)
{
	bool writes = steps_of_kind(config, MODEL_STEP_WRITE) > 0;
	bool runs_commands = steps_of_kind(config, MODEL_STEP_COMMAND) > 0;

	config->client_limits = (struct smb_client_limits){
		.channels = channels,
		.requests = 16,
		.ops = config->threads + 1 + 2 * runs_commands,
		.files = MAX(config->files, 1),
		.page_runs = 8,
		.outputs = 16,
		.dirty_runs = writes ? 16 : 0,
		.writes = writes ? 4 : 0,
		.names = runs_commands ? 16 : 0,
		.command_files = runs_commands ? 2 : 0,
	};
	config->server_limits = (struct smb_server_limits){
		.connections = channels + (config->faults[MODEL_FAULT_STRANGER] > 0),
		.sessions = 2,
		.trees = 4,
		.nodes = config->files + 6,
		.handles = config->files + 4,
		.requests = 16,
		.outputs = 16,
		.window = 64,
	};
}

/* ---------------------------------------------------------------------------------------------------------- workers */

static struct model_effect *effect_new(void)
{
	return g_malloc0(sizeof(struct model_effect) + MODEL_OUTPUTS_MAX * sizeof(struct model_output));
}

struct model_worker *model_worker_new(struct model *model)
{
	struct model_worker *worker = g_new0(struct model_worker, 1);
	size_t largest = MAX(model->client_block, model->server_block);

	worker->model = model;
	worker->client = g_malloc0(model->client_block);
	worker->server = g_malloc0(model->server_block);
	worker->encoded = g_malloc(MODEL_ENCODED_MAX);
	worker->packed = g_malloc(PACKED_HEAD_MAX + model_packed_max(largest));
	worker->pdu = g_malloc(SMB_SERVER_PDU_MAX);
	worker->effect = effect_new();
	return worker;
}

void model_worker_forget(struct model_worker *worker)
{
	worker->passing[MODEL_SIDE_CLIENT] = effect_new();
	worker->passing[MODEL_SIDE_SERVER] = effect_new();
}

const struct model_effect *model_effect_keep(struct model_worker *worker, enum model_side side, uint32_t part,
					     struct model_event event)
{
	struct model *model = worker->model;
	const struct model_effect *effect = worker->effect;

	if (!worker->passing[side])
		return model_memo_add(side == MODEL_SIDE_CLIENT ? model->client_memo : model->server_memo, part, event,
				      effect);
	return memcpy(worker->passing[side], effect, sizeof(*effect) + effect->outputs * sizeof(effect->output[0]));
}

void model_worker_free(struct model_worker *worker)
{
	if (!worker)
		return;
	g_free(worker->client);
	g_free(worker->server);
	g_free(worker->encoded);
	g_free(worker->packed);
	g_free(worker->pdu);
	g_free(worker->effect);
	g_free(worker->passing[MODEL_SIDE_CLIENT]);
	g_free(worker->passing[MODEL_SIDE_SERVER]);
	g_free(worker);
}

/* -------------------------------------------------------------------------------------------------------- the first state */

static bool config_fits(const struct model_config *config, GError **error)
{
	const char *why = NULL;

	if (config->client_limits.channels > MODEL_CHANNELS_MAX)
		why = "too many channels";
	else if (config->threads > MODEL_THREADS_MAX || config->files > MODEL_FILES_MAX)
		why = "too many threads or files";
	else if (config->server_limits.requests > MODEL_TOKENS)
		why = "too many requests at the server";
	else if (config->is_live && config->partial_order)
		why = "liveness is judged over all orders: check.partial_order and check.liveness exclude each other";
	else if (config->is_live && config->symmetry)
		why = "liveness is judged thread by thread: check.symmetry and check.liveness exclude each other";
	else if (config->faults[MODEL_FAULT_STRANGER] && config->server.profile.dialect_max < SMB2_DIALECT_210)
		why = "faults.strangers speak SMB 2.1, and the server's profile does not";
	else if (!smb_client_size(&config->client_limits))
		why = "the client's limits are not valid";
	if (why)
		g_set_error_literal(error, MODEL_ERROR, MODEL_ERROR_CONFIG, why);
	return !why;
}

static void put_first(struct model_worker *worker)
{
	struct model *model = worker->model;

	model->client_base = g_malloc0(model->client_block);
	model->server_base = g_malloc0(model->server_block);
	model_client_init(model, worker->client);
	model_server_init(model, worker->server);
	memcpy(model->client_base, worker->client, model->client_block);
	memcpy(model->server_base, worker->server, model->server_block);
	model->first.client = model_client_put(worker);
	model->first.server = model_server_put(worker);
	memcpy(model->first.left, model->config.faults, sizeof(model->first.left));
}

/* Always the first move, until the application may go on and nothing is under way. */
bool model_mount_next(struct model_worker *worker, const struct model_state *state, struct model_move *move)
{
	struct model_move moves[MODEL_MOVES_MAX];
	uint32_t count = model_moves(worker, state, moves);
	uint32_t taken = 0;

	while (taken < count && moves[taken].kind == MODEL_MOVE_START && moves[taken].argument != MODEL_SYSTEM)
		taken++;
	if (taken == count || moves[taken].kind == MODEL_MOVE_WAKE)
		return false;
	*move = moves[taken];
	return true;
}

static bool mount_first(struct model_worker *worker, GError **error)
{
	struct model *model = worker->model;
	struct model_state next;
	struct model_move move;

	memset(model->first.left, 0, sizeof(model->first.left));
	for (guint i = 0; i < MOUNT_MOVES_MAX; i++) {
		if (!model_mount_next(worker, &model->first, &move)) {
			if (model_client_ports(model, model->first.client)->phase != MODEL_RUNNING)
				break;
			memcpy(model->first.left, model->config.faults, sizeof(model->first.left));
			model_mount_over(worker, &model->first);
			return true;
		}
		if (!model_do(worker, &model->first, move, &next)) {
			g_set_error(error, MODEL_ERROR, MODEL_ERROR_CONFIG, "the mount fails: %s: %s",
				    model_broken(worker)->rule, model_broken(worker)->text);
			return false;
		}
		model->first = next;
	}
	g_set_error(error, MODEL_ERROR, MODEL_ERROR_CONFIG, "the mount fails, or does not come to an end");
	return false;
}

struct model *model_new(const struct model_config *config, GError **error)
{
	struct model *model;
	struct model_worker *worker;
	bool is_made = true;

	if (!config_fits(config, error))
		return NULL;
	model = g_new0(struct model, 1);
	model->config = *config;
	model->server_breaks = model_misbehaviour_rules(&config->server.misbehaviour);
	model->clients = model_store_new();
	model->servers = model_store_new();
	model->wires = model_wires_new();
	model->pdus = model_store_new();
	model->texts = model_store_new();
	model->client_memo = model_memo_new();
	model->server_memo = model_memo_new();
	model_client_init(model, NULL);
	model_server_init(model, NULL);
	worker = model_worker_new(model);
	put_first(worker);
	if (config->starts_mounted)
		is_made = mount_first(worker, error);
	model_worker_free(worker);
	if (is_made)
		return model;
	model_free(model);
	return NULL;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	g_free(model->client_base);
	g_free(model->server_base);
	model_store_free(model->clients);
	model_store_free(model->servers);
	model_wires_free(model->wires);
	model_store_free(model->pdus);
	model_store_free(model->texts);
	model_memo_free(model->client_memo);
	model_memo_free(model->server_memo);
	g_free(model);
}

const struct model_config *model_config_of(const struct model *model)
{
	return &model->config;
}

void model_first_state(struct model *model, struct model_state *state)
{
	*state = model->first;
}

uint64_t model_server_broke(const struct model *model)
{
	return __atomic_load_n(&model->server_broke, __ATOMIC_RELAXED);
}

void model_look(const struct model *model, struct model_numbers *numbers)
{
	*numbers = (struct model_numbers){
		.clients = model_store_count(model->clients),
		.servers = model_store_count(model->servers),
		.wires = model_wires_count(model->wires),
		.pdus = model_store_count(model->pdus),
		.effects = model_memo_count(model->client_memo) + model_memo_count(model->server_memo),
		.bytes = model_store_bytes(model->clients) + model_store_bytes(model->servers) +
			 model_wires_bytes(model->wires) + model_store_bytes(model->pdus) +
			 model_store_bytes(model->texts) + model_memo_bytes(model->client_memo) +
			 model_memo_bytes(model->server_memo),
	};
}

bool model_state_pdu(const struct model *model, const struct model_state *state, uint32_t channel,
		     enum model_direction direction, uint32_t index, struct smb_pdu *pdu)
{
	const struct model_wire *wire = model_wires_get(model->wires, state->wire[channel][direction]);

	if (index >= wire->count)
		return false;
	while (index--)
		wire = model_wires_get(model->wires, wire->rest);
	*pdu = model_pdu_as_smb(model_pdu_get(model, wire->first));
	return true;
}

const struct smb_client *model_state_client(struct model_worker *worker, const struct model_state *state)
{
	model_client_unpack(worker, state->client);
	return model_client_core(worker->model, worker->client);
}

const struct smb_server *model_state_server(struct model_worker *worker, const struct model_state *state)
{
	model_server_unpack(worker, state->server);
	return model_server_core(worker->server);
}
