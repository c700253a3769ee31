/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The client's side: application threads, the client core, and the rule monitor beside it. */

#include "model/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static size_t core_at(void)
{
	return (sizeof(struct model_client_head) + 7) & ~(size_t)7;
}

static struct model_client_head *head_of(uint8_t *block)
{
	return (struct model_client_head *)(void *)block;
}

struct smb_client *model_client_core(const struct model *model, uint8_t *block)
{
	(void)model;
	return (struct smb_client *)(void *)(block + core_at());
}

struct smb_monitor *model_client_monitor(const struct model *model, uint8_t *block)
{
	return (struct smb_monitor *)(void *)(block + model->monitor_at);
}

/* ----------------------------------------------------------------------------------------------------------- the block */

static struct smb_monitor_limits monitor_limits(const struct model_config *config)
{
	return (struct smb_monitor_limits){
		.channels = config->client_limits.channels,
		.requests = config->client_limits.requests,
		.files = config->files + 2,
		.window = 64 * ((MAX(config->server_limits.window, 64) + 63) / 64),
	};
}

void model_client_init(struct model *model, uint8_t *block)
{
	const struct model_config *config = &model->config;
	struct smb_monitor_limits limits = monitor_limits(config);
	struct model_client_head *head;
	struct smb_monitor *monitor;

	if (!block) { /* only the sizes */
		model->monitor_at = (core_at() + smb_client_size(&config->client_limits) + 15) & ~(size_t)15;
		model->client_block = (model->monitor_at + smb_monitor_size(&limits) + 15) & ~(size_t)15;
		return;
	}
	head = head_of(block);
	head->now_ns = 1;
	head->wake_ns = UINT64_MAX;
	smb_client_init(model_client_core(model, block), &config->client_limits, &config->client);
	monitor = smb_monitor_init(model_client_monitor(model, block), &limits, &(struct smb_monitor_expect){ 0 });
	model_tell_monitor(config, monitor);
}

const struct smb_monitor *model_state_monitor(struct model_worker *worker, const struct model_state *state)
{
	model_client_unpack(worker, state->client);
	return model_client_monitor(worker->model, worker->client);
}

/* ------------------------------------------------------------------------------------------------------------ effects */

void model_effect_add(struct model_worker *worker, enum model_output_kind kind, uint32_t channel, uint32_t argument)
{
	struct model_effect *effect = worker->effect;

	g_assert(effect->outputs < MODEL_OUTPUTS_MAX);
	effect->output[effect->outputs++] =
		(struct model_output){ .kind = (uint8_t)kind, .channel = (uint8_t)channel, .argument = argument };
}

/* `found` has no bytes of padding that are not 0. */
static void broken(struct model_worker *worker, const struct model_fault_found *found)
{
	struct model_hash hash = model_hash_end(model_hash_bytes(model_hash_start(3), found, sizeof(*found)));

	if (!worker->effect->broken)
		worker->effect->broken = model_store_put(worker->model->texts, hash, found, sizeof(*found));
}

void model_effect_broken(struct model_worker *worker, const char *rule, const char *format, ...)
{
	struct model_fault_found found;
	va_list arguments;

	memset(&found, 0, sizeof(found));
	g_strlcpy(found.rule, rule, sizeof(found.rule));
	va_start(arguments, format);
	vsnprintf(found.text, sizeof(found.text), format, arguments);
	va_end(arguments);
	broken(worker, &found);
}

/* What the server sends breaks a rule, as it was told to. */
static bool is_servers_fault(struct model *model, const struct smb_violation *violation)
{
	uint64_t rule = UINT64_C(1) << violation->rule;

	if (!violation->received || !(model->server_breaks & rule))
		return false;
	__atomic_fetch_or(&model->server_broke, rule, __ATOMIC_RELAXED);
	return true;
}

static void violated(void *context, const struct smb_violation *violation)
{
	struct model_worker *worker = context;
	const struct smb_rule_info *info = smb_rule_info(violation->rule);
	struct model_fault_found found;

	if (is_servers_fault(worker->model, violation))
		return;
	memset(&found, 0, sizeof(found));
	g_strlcpy(found.rule, info ? info->name : "?", sizeof(found.rule));
	g_strlcpy(found.text, violation->text, sizeof(found.text));
	found.has_message = true;
	found.channel = violation->channel;
	found.message_id = violation->message_id;
	broken(context, &found);
}

/* ----------------------------------------------------------------------------------------------------------- draining */

/* A chain for which the credits are not there fails when nothing under way could bring them (cifs 6.1,
 * wait_for_compound_request): a server that grants little may do that to a client. It is wrong when there are credits,
 * those for echoes and breaks aside, or when something is under way. */
#define CHAIN_CREDITS_MAX (SMB_OPS_CHAIN_MAX + 2)

static bool is_starved(struct model_worker *worker)
{
	const struct model_client_head *head = head_of(worker->client);

	if (!model_may_starve(&worker->model->config))
		return false;
	for (uint32_t i = 0; i < worker->model->config.client_limits.channels; i++) {
		struct smb_monitor_channel seen;

		smb_monitor_look(model_client_monitor(worker->model, worker->client), i, &seen);
		if (head->link[i] == MODEL_LINK_OPEN && !seen.in_flight &&
		    seen.credits - seen.let_go <= CHAIN_CREDITS_MAX)
			return true;
	}
	return false;
}

/* An operation that ended well: what its thread may rely on from now on is judged where the server's side is known. */
static void note_synced(struct model_worker *worker, uint32_t thread, uint32_t step)
{
	if (thread < MODEL_SYSTEM && worker->model->config.thread[thread].step[step].kind == MODEL_STEP_FSYNC &&
	    !head_of(worker->client)->has_failed)
		worker->effect->synced |= (uint8_t)(1u << thread);
}

static void done(struct model_worker *worker, const struct smb_client_output *output)
{
	struct model_client_head *head = head_of(worker->client);
	bool is_mount = head->phase == MODEL_MOUNTING;
	struct model_client_head before = *head;
	uint32_t thread = model_thread_done(&worker->model->config, head, output);
	g_autoptr(GString) what = NULL;

	head->idle_wakes = 0;
	head->has_failed = head->has_failed || output->verdict != SMB_OP_OK;
	if (is_mount && output->verdict == SMB_OP_OK)
		model_tell_mounted(&worker->model->config, model_client_core(worker->model, worker->client),
				   model_client_monitor(worker->model, worker->client));
	note_synced(worker, thread, before.thread[thread].step);
	if (output->verdict == SMB_OP_OK || worker->is_starved || is_starved(worker))
		return;
	what = g_string_new(NULL);
	before.thread[thread].is_running = false;
	model_step_tell(&worker->model->config, &before, thread, what);
	if (output->verdict == SMB_OP_STALLED)
		model_effect_broken(worker, "C33", "%s gives up for want of credits", what->str);
	worker->effect->failed = true;
}

static void copy(struct model_worker *worker, const struct smb_client_output *output)
{
	const struct model_config *config = &worker->model->config;
	const struct model_client_head *head = head_of(worker->client);
	uint32_t thread = 0;

	while (!head->thread[thread].is_running || head->thread[thread].op != output->op)
		thread++;
	if (thread < MODEL_SYSTEM) {
		const struct model_step *step = &config->thread[thread].step[head->thread[thread].step];
		g_autofree char *name = g_strdelimit(g_strdup(config->file[step->file].name), "/", '\\');

		if (step->kind == MODEL_STEP_READ)
			smb_monitor_application_read(model_client_monitor(worker->model, worker->client), name,
						     output->offset, output->data, false, head->now_ns);
		else
			smb_monitor_application_writes(model_client_monitor(worker->model, worker->client), name);
	}
	smb_client_copied(model_client_core(worker->model, worker->client), output->op, head->now_ns);
}

static void send(struct model_worker *worker, const struct smb_client_output *output)
{
	struct model_client_head *head = head_of(worker->client);

	if (worker->is_unsent) {
		worker->is_unsent = false;
		smb_client_unsent(model_client_core(worker->model, worker->client), output->channel, output->message_id,
				  head->now_ns);
		return;
	}
	if (head->link[output->channel] != MODEL_LINK_OPEN) {
		model_effect_broken(worker, "C22", "the client sends on channel %u, which is not connected",
				    output->channel);
		return;
	}
	smb_monitor_sent(model_client_monitor(worker->model, worker->client), output->channel, &output->pdu,
			 head->now_ns);
	model_judge_sent(worker, &output->pdu);
	model_effect_add(worker, MODEL_OUTPUT_PDU, output->channel, model_pdu_put(worker->model, &output->pdu, true));
}

static void close_channel(struct model_worker *worker, uint32_t channel)
{
	struct model_client_head *head = head_of(worker->client);

	if (head->link[channel] == MODEL_LINK_OPEN)
		smb_monitor_closed(model_client_monitor(worker->model, worker->client), channel, head->now_ns);
	head->link[channel] = MODEL_LINK_NONE;
	model_effect_add(worker, MODEL_OUTPUT_CLOSE, channel, 0);
}

static void drain(struct model_worker *worker)
{
	struct model_client_head *head = head_of(worker->client);
	struct smb_client *client = model_client_core(worker->model, worker->client);
	struct smb_client_output output;

	for (;;) {
		smb_client_next(client, &output, worker->pdu, SMB_CLIENT_PDU_MAX);
		switch (output.kind) {
		case SMB_CLIENT_IDLE:
			return;
		case SMB_CLIENT_SEND:
			send(worker, &output);
			break;
		case SMB_CLIENT_OPEN_CHANNEL:
			head->link[output.channel] = MODEL_LINK_OPENING;
			break;
		case SMB_CLIENT_CLOSE_CHANNEL:
			close_channel(worker, output.channel);
			break;
		case SMB_CLIENT_COPY:
			copy(worker, &output);
			break;
		case SMB_CLIENT_DONE:
			done(worker, &output);
			break;
		case SMB_CLIENT_WAKE:
			head->wake_ns = output.when_ns;
			break;
		}
	}
}

/* -------------------------------------------------------------------------------------------------------------- events */

static void receive(struct model_worker *worker, struct model_event event)
{
	struct model *model = worker->model;
	struct smb_client *client = model_client_core(model, worker->client);
	struct smb_pdu pdu = model_pdu_as_smb(model_pdu_get(model, event.argument));
	uint64_t now_ns = head_of(worker->client)->now_ns;

	smb_monitor_received(model_client_monitor(model, worker->client), event.channel, &pdu, now_ns);
	smb_client_receive(client, event.channel, &pdu, now_ns);
	model_judge_received(worker, &pdu);
}

static void lose(struct model_worker *worker, uint32_t channel, enum smb_channel_event how)
{
	struct model_client_head *head = head_of(worker->client);

	if (how == SMB_CHANNEL_CLOSED)
		smb_monitor_closed(model_client_monitor(worker->model, worker->client), channel, head->now_ns);
	head->link[channel] = MODEL_LINK_NONE;
	smb_client_channel(model_client_core(worker->model, worker->client), channel, how, head->now_ns);
}

static void nothing_ends(struct model_worker *worker)
{
	model_effect_broken(worker, "stuck",
			    "nothing but timers and connections happens any more, and the application "
			    "is not done");
}

static void connect(struct model_worker *worker, uint32_t channel)
{
	struct model_client_head *head = head_of(worker->client);

	/* a server whose answers end connections may do so for ever */
	if (worker->model->server_breaks && ++head->idle_wakes > MODEL_IDLE_WAKES_MAX)
		nothing_ends(worker);
	head->link[channel] = MODEL_LINK_OPEN;
	head->has_renewed = head->has_renewed || head->phase == MODEL_RUNNING;
	smb_monitor_connected(model_client_monitor(worker->model, worker->client), channel, head->now_ns);
	smb_client_channel(model_client_core(worker->model, worker->client), channel, SMB_CHANNEL_CONNECTED,
			   head->now_ns);
}

static void wake(struct model_worker *worker)
{
	struct model_client_head *head = head_of(worker->client);

	head->now_ns = MAX(head->now_ns, head->wake_ns);
	head->wake_ns = UINT64_MAX;
	if (++head->idle_wakes > MODEL_IDLE_WAKES_MAX && !worker->model->config.is_live)
		nothing_ends(worker);
	smb_client_wake(model_client_core(worker->model, worker->client), head->now_ns);
}

static void happen(struct model_worker *worker, struct model_event event)
{
	struct model *model = worker->model;

	switch ((enum model_move_kind)event.kind) {
	case MODEL_MOVE_START:
		if (!model_thread_start(&model->config, head_of(worker->client),
					model_client_core(model, worker->client), event.argument))
			model_effect_broken(worker, "valid", "the client does not take the operation of thread %u",
					    event.argument + 1);
		break;
	case MODEL_MOVE_TO_CLIENT:
		receive(worker, event);
		break;
	case MODEL_MOVE_CONNECT:
		connect(worker, event.channel);
		break;
	case MODEL_MOVE_REFUSE:
		lose(worker, event.channel, SMB_CHANNEL_FAILED);
		break;
	case MODEL_MOVE_CUT:
		lose(worker, event.channel, SMB_CHANNEL_CLOSED);
		break;
	case MODEL_MOVE_CANCEL:
		smb_client_cancel(model_client_core(model, worker->client),
				  head_of(worker->client)->thread[event.argument].op, head_of(worker->client)->now_ns);
		break;
	case MODEL_MOVE_WAKE:
		wake(worker);
		break;
	default:
		g_assert_not_reached();
	}
}

/* ---------------------------------------------------------------------------------------------------- keeping the result */

static void fill_ports(struct model_worker *worker, struct model_client_ports *ports)
{
	struct model *model = worker->model;
	const struct model_client_head *head = head_of(worker->client);
	struct smb_client_info client;

	smb_client_look(model_client_core(model, worker->client), &client);
	*ports = (struct model_client_ports){
		.is_dirty = client.dirty_bytes || client.in_flight_write_bytes,
		.phase = head->phase,
		.startable = model_threads_startable(&model->config, head),
		.is_armed = head->wake_ns != UINT64_MAX,
		.orbit = (uint8_t)model_symmetry_orbit(&model->config, head),
	};
	for (uint32_t t = 0; t <= MODEL_SYSTEM; t++)
		ports->running |= (uint8_t)(head->thread[t].is_running << t);
	ports->is_at_work = ports->running != 0;
	for (uint32_t i = 0; i < model->config.client_limits.channels; i++) {
		struct smb_monitor_channel seen;
		struct smb_channel_info info;

		smb_monitor_look(model_client_monitor(model, worker->client), i, &seen);
		smb_client_look_channel(model_client_core(model, worker->client), i, &info);
		ports->channel[i].next_message_id = info.next_message_id;
		ports->opening |= (uint8_t)((head->link[i] == MODEL_LINK_OPENING) << i);
		ports->open |= (uint8_t)((head->link[i] == MODEL_LINK_OPEN) << i);
		ports->channel[i].credits = (int32_t)seen.credits;
		ports->channel[i].in_flight = seen.in_flight;
	}
}

/* With liveness cycles of timers alone are found as cycles; otherwise they must come to an end. */
static struct model_hash hash_head(const struct model_config *config, const struct model_client_head *head,
				   struct model_hash hash)
{
	uint64_t idle_wakes = config->is_live ? 0 : head->idle_wakes;

	hash = model_hash_word(hash, head->wake_ns == UINT64_MAX ? UINT64_MAX : head->wake_ns - head->now_ns);
	hash = model_hash_word(hash, (uint64_t)head->has_renewed << 17 | (uint64_t)head->has_failed << 16 |
					     idle_wakes << 8 | head->phase);
	hash = model_hash_bytes(hash, head->link, sizeof(head->link));
	hash = model_hash_bytes(hash, head->file_state, sizeof(head->file_state));
	hash = model_hash_bytes(hash, head->file, sizeof(head->file));
	for (uint32_t t = 0; t <= MODEL_SYSTEM; t++) {
		const struct model_thread_state *thread = &head->thread[t];

		hash = model_hash_word(hash,
				       (uint64_t)thread->step << 32 | (uint64_t)thread->is_running << 16 | thread->op);
	}
	return hash;
}

/* What it is like wherever its windows stand: MessageIds are relative in the canonical form. */
static struct model_hash form_of(struct model_worker *worker)
{
	struct model *model = worker->model;
	struct model_hash hash = hash_head(&model->config, head_of(worker->client), model_hash_start(4));
	size_t length = smb_client_encode(model_client_core(model, worker->client), worker->encoded, MODEL_ENCODED_MAX);

	g_assert(length);
	hash = model_hash_bytes(hash, worker->encoded, length);
	length = smb_monitor_encode(model_client_monitor(model, worker->client), worker->encoded, MODEL_ENCODED_MAX);
	g_assert(length);
	return model_hash_end(model_hash_bytes(hash, worker->encoded, length));
}

/* PDUs name MessageIds as they are, so the side is kept once for each place its windows stand at. */
static struct model_hash hash_side(struct model_worker *worker, struct model_hash form)
{
	struct model *model = worker->model;

	if (model->config.is_exact)
		return model_hash_end(model_hash_bytes(model_hash_start(7), worker->client, model->client_block));
	for (uint32_t i = 0; i < model->config.client_limits.channels; i++) {
		struct smb_channel_info info;

		smb_client_look_channel(model_client_core(model, worker->client), i, &info);
		form = model_hash_word(form, info.next_message_id);
	}
	return model_hash_end(form);
}

uint32_t model_client_put(struct model_worker *worker)
{
	struct model *model = worker->model;
	struct model_client_ports *ports = (struct model_client_ports *)(void *)worker->packed;
	struct model_hash form, hash;
	uint32_t number, by_event;
	size_t length;

	if (model->config.symmetry)
		model_symmetry_sort(&model->config, head_of(worker->client));
	form = form_of(worker);
	hash = hash_side(worker, form);
	number = model_store_find(model->clients, hash);
	if (number) {
		model_effect_part_broken(worker, model_client_ports(model, number)->broken);
		return number;
	}
	smb_monitor_report_to(model_client_monitor(model, worker->client), NULL, NULL);
	fill_ports(worker, ports);
	ports->form = model_has_relative_ids(&model->config) ? form : hash;
	by_event = worker->effect->broken;
	worker->effect->broken = 0;
	model_judge_client(worker, ports);
	ports->broken = worker->effect->broken;
	worker->effect->broken = by_event ? by_event : ports->broken;
	length = model_pack(worker->client, model->client_base, model->client_block, worker->packed + sizeof(*ports));
	return model_store_put(model->clients, hash, worker->packed, (uint32_t)(sizeof(*ports) + length));
}

void model_client_unpack(struct model_worker *worker, uint32_t client)
{
	struct model *model = worker->model;
	uint32_t length;
	const uint8_t *kept = model_store_get(model->clients, client, &length);
	size_t ports = sizeof(struct model_client_ports);

	model_unpack(kept + ports, length - ports, model->client_base, model->client_block, worker->client);
}

static uint32_t run(struct model_worker *worker, struct model_event event)
{
	happen(worker, event);
	worker->is_starved = is_starved(worker);
	drain(worker);
	return model_client_put(worker);
}

static const struct model_effect *compute(struct model_worker *worker, uint32_t client, struct model_event event)
{
	struct model *model = worker->model;

	*worker->effect = (struct model_effect){ 0 };
	model_client_unpack(worker, client);
	smb_monitor_report_to(model_client_monitor(model, worker->client), violated, worker);
	worker->is_unsent = event.choice == MODEL_CHOICE(MODEL_CHOICE_UNSENT, 0);
	model_guarded(worker, event, run, client);
	return model_effect_keep(worker, MODEL_SIDE_CLIENT, client, event);
}

const struct model_effect *model_client_do(struct model_worker *worker, uint32_t client, struct model_event event)
{
	const struct model_effect *effect = NULL;

	if (!worker->passing[MODEL_SIDE_CLIENT])
		effect = model_memo_find(worker->model->client_memo, client, event);
	return effect ? effect : compute(worker, client, event);
}
