/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The server's side: its core, and what its storage has not done yet. */

#include "model/internal.h"
#include "model/stranger.h"

#include "protocol/wire/contexts.h"

#include <string.h>

static size_t core_at(void)
{
	return (sizeof(struct model_server_head) + 7) & ~(size_t)7;
}

static struct model_server_head *head_of(uint8_t *block)
{
	return (struct model_server_head *)(void *)block;
}

struct smb_server *model_server_core(uint8_t *block)
{
	return (struct smb_server *)(void *)(block + core_at());
}

void model_make_files(const struct model_config *config, struct smb_server *server)
{
	for (uint32_t i = 0; i < config->files; i++) {
		g_autofree char *name = g_strdelimit(g_strdup(config->file[i].name), "/", '\\');

		if (config->file[i].is_directory)
			smb_server_make_directory(server, name);
		else
			smb_server_make_file(server, name, 1 + i, config->file[i].bytes);
	}
}

/* What becomes of the server while it runs. */
static void configure(const struct model_config *config, const struct model_server_head *head,
		      struct smb_server *server)
{
	static const struct smb_server_misbehaviour none;
	const struct smb_server_profile *profile = &config->server.profile;
	const struct smb_server_sizes at_first = { profile->max_read, profile->max_write, profile->max_transact,
						   profile->credits_max };

	for (uint32_t i = 0; i < config->server.interface_count; i++) {
		struct smb_server_interface interface = config->server.interfaces[i];

		interface.down ^= head->interfaces >> i & 1;
		smb_server_set_interface(server, i, &interface);
	}
	smb_server_set_sizes(server, head->has_later_limits ? &config->later : &at_first);
	smb_server_misbehave(server, head->misbehaves ? &config->server.misbehaviour : &none);
}

void model_state_configure(struct model_worker *worker, const struct model_state *state, struct smb_server *server)
{
	model_server_unpack(worker, state->server);
	configure(&worker->model->config, head_of(worker->server), server);
}

void model_server_init(struct model *model, uint8_t *block)
{
	const struct model_config *config = &model->config;

	if (!block) {
		model->server_block = (core_at() + smb_server_size(&config->server_limits) + 7) & ~(size_t)7;
		return;
	}
	smb_server_init(model_server_core(block), &config->server_limits, &config->server);
	head_of(block)->misbehaves = !config->behaves_in_mount;
	configure(config, head_of(block), model_server_core(block));
	model_make_files(config, model_server_core(block));
}

/* ----------------------------------------------------------------------------------------------------------- draining */

/* Time stands still for the server: what it would do later, it is told to choose. */
#define NOW_NS 1

static void send(struct model_worker *worker, const struct smb_server_output *output)
{
	uint32_t number = model_pdu_put(worker->model, &output->pdu, false);
	const struct model_pdu *pdu = model_pdu_get(worker->model, number);

	worker->effect->answers = (uint16_t)(worker->effect->answers + pdu->headers);
	worker->effect->is_compound = worker->effect->is_compound || pdu->is_compound;
	model_effect_add(worker, MODEL_OUTPUT_PDU, output->connection, number);
}

static void work(struct model_worker *worker, const struct smb_server_output *output)
{
	struct model_server_head *head = head_of(worker->server);

	if (!worker->model->config.freedom.any_order) {
		smb_server_work_done(model_server_core(worker->server), output->token, NOW_NS);
		return;
	}
	g_assert(output->token < MODEL_TOKENS);
	worker->effect->waits = true;
	head->works |= UINT64_C(1) << output->token;
	head->connection[output->token] = (uint8_t)output->connection;
}

static void drain(struct model_worker *worker)
{
	struct smb_server *server = model_server_core(worker->server);
	struct smb_server_output output;

	for (;;) {
		smb_server_next(server, &output, worker->pdu, SMB_SERVER_PDU_MAX);
		switch (output.kind) {
		case SMB_SERVER_IDLE:
			return;
		case SMB_SERVER_SEND:
			send(worker, &output);
			break;
		case SMB_SERVER_WORK:
			work(worker, &output);
			break;
		case SMB_SERVER_DISCONNECT:
			model_effect_broken(worker, "cut", "the server cuts connection %u: %s", output.connection,
					    output.reason);
			break;
		case SMB_SERVER_WAKE:
			break;
		}
	}
}

/* -------------------------------------------------------------------------------------------------------------- events */

static void finish_work(struct model_worker *worker, uint32_t token)
{
	head_of(worker->server)->works &= ~(UINT64_C(1) << token);
	head_of(worker->server)->connection[token] = 0;
	smb_server_work_done(model_server_core(worker->server), token, NOW_NS);
}

/* What storage still does for a connection that is gone, nobody will see. */
static void close_connection(struct model_worker *worker, uint32_t channel)
{
	struct model_server_head *head = head_of(worker->server);

	smb_server_closed(model_server_core(worker->server), channel, NOW_NS);
	for (uint32_t token = 0; token < MODEL_TOKENS; token++) {
		if (head->works >> token & 1 && head->connection[token] == channel)
			finish_work(worker, token);
	}
}

struct smb_server_choice model_choice(const struct model_config *config, uint16_t choice)
{
	const struct model_freedom *freedom = &config->freedom;
	struct smb_server_choice chosen = { .chosen = true, .grant = SMB_SERVER_GRANT_PROFILE };
	uint32_t number = choice & 0xff;

	switch ((enum model_choice_kind)(choice >> 8)) {
	case MODEL_CHOICE_GRANT:
		chosen.grant = freedom->grant[number];
		break;
	case MODEL_CHOICE_INTERIM:
		chosen.interim = true;
		break;
	case MODEL_CHOICE_SPLIT:
		chosen.split = true;
		break;
	case MODEL_CHOICE_SPREAD:
		chosen.spread = true;
		break;
	case MODEL_CHOICE_PUSHBACK:
		chosen.status = freedom->status[number];
		break;
	case MODEL_CHOICE_EXPIRE:
		chosen.expire = true;
		break;
	default:
		chosen.chosen = false;
		break;
	}
	return chosen;
}

static void choose(struct model_worker *worker, uint16_t choice)
{
	struct smb_server_choice chosen = model_choice(&worker->model->config, choice);

	if (chosen.chosen)
		smb_server_choose(model_server_core(worker->server), &chosen);
}

static void happen(struct model_worker *worker, struct model_event event)
{
	struct smb_server *server = model_server_core(worker->server);
	struct model_fault_found found;
	struct model_server_head *head = head_of(worker->server);
	struct smb_pdu pdu;

	choose(worker, event.choice);
	switch ((enum model_move_kind)event.kind) {
	case MODEL_MOVE_TO_SERVER:
		pdu = model_pdu_as_smb(model_pdu_get(worker->model, event.argument));
		smb_server_receive(server, event.channel, &pdu, NOW_NS);
		break;
	case MODEL_MOVE_WORK:
		finish_work(worker, event.argument);
		break;
	case MODEL_MOVE_CONNECT:
		smb_server_connected(server, event.channel, NOW_NS);
		break;
	case MODEL_MOVE_CUT:
		close_connection(worker, event.channel);
		break;
	case MODEL_MOVE_STRANGER:
		if (!model_stranger_visit(&worker->model->config, server, event.argument, &found))
			model_effect_broken(worker, found.rule, "%s", found.text);
		break;
	case MODEL_MOVE_INTERFACE:
		head->interfaces ^= (uint8_t)(1u << event.argument);
		configure(&worker->model->config, head, server);
		break;
	case MODEL_MOVE_LIMITS:
		head->has_later_limits = !head->has_later_limits;
		configure(&worker->model->config, head, server);
		break;
	case MODEL_MOVE_BREAK:
		smb_server_break(server, event.argument >> 8, event.channel, event.argument & 0xff, NOW_NS);
		break;
	default:
		g_assert_not_reached();
	}
}

/* ---------------------------------------------------------------------------------------------------- keeping the result */

/* As on the client's side. */
static struct model_hash form_of(struct model_worker *worker)
{
	const struct model_server_head *head = head_of(worker->server);
	struct model_hash hash = model_hash_word(model_hash_start(head->misbehaves ? 6 : 5), head->works);
	size_t length = smb_server_encode(model_server_core(worker->server), worker->encoded, MODEL_ENCODED_MAX);

	g_assert(length);
	return model_hash_end(model_hash_bytes(hash, worker->encoded, length));
}

static struct model_hash hash_side(struct model_worker *worker, struct model_hash form)
{
	const struct model *model = worker->model;

	if (model->config.is_exact)
		return model_hash_end(model_hash_bytes(model_hash_start(8), worker->server, model->server_block));
	for (uint32_t i = 0; i < model->config.server_limits.connections; i++) {
		struct smb_server_connection_info info;

		smb_server_look(model_server_core(worker->server), i, &info);
		form = model_hash_word(form, info.open ? info.window_low : UINT64_MAX);
	}
	return model_hash_end(form);
}

static void look_at_open(const struct smb_server *server, uint32_t index, struct model_server_ports *ports)
{
	struct smb_server_open_info info;
	bool has_more;

	smb_server_look_open(server, index, &info);
	if (!info.is_open)
		return;
	has_more = info.is_lease ? (info.lease_state & ~SMB2_LEASE_READ_CACHING) != 0 : info.oplock_level > 1;
	ports->open[index].is_breaking = info.is_breaking;
	if (info.is_breaking)
		return;
	ports->open[index].channels = (uint8_t)info.channels;
	ports->open[index].to_none = info.is_lease ? info.lease_state != 0 : info.oplock_level != 0;
	ports->open[index].to_read = has_more && (!info.is_lease || info.lease_state & SMB2_LEASE_READ_CACHING);
}

uint32_t model_server_put(struct model_worker *worker)
{
	struct model *model = worker->model;
	struct model_server_ports *ports = (struct model_server_ports *)(void *)worker->packed;
	const struct smb_server *server = model_server_core(worker->server);
	struct model_hash form, hash;
	uint32_t number, by_event;
	size_t length;

	smb_server_settle(model_server_core(worker->server));
	form = form_of(worker);
	hash = hash_side(worker, form);
	number = model_store_find(model->servers, hash);
	if (number) {
		model_effect_part_broken(worker, model_server_ports(model, number)->broken);
		return number;
	}
	*ports = (struct model_server_ports){ .works = head_of(worker->server)->works,
					      .form = model_has_relative_ids(&model->config) ? form : hash };
	for (uint32_t i = 0; i < model->config.server_limits.connections; i++) {
		struct smb_server_connection_info info;

		smb_server_look(server, i, &info);
		ports->channel[i].window_low = info.window_low;
		ports->channel[i].granted = info.granted;
		ports->channel[i].is_open = info.open;
	}
	for (uint32_t i = 0; i < MIN(model->config.server_limits.handles, MODEL_OPENS_MAX); i++)
		look_at_open(server, i, ports);
	by_event = worker->effect->broken;
	worker->effect->broken = 0;
	if (!smb_server_is_valid(server))
		model_effect_broken(worker, "valid", "the server's block is not valid");
	ports->broken = worker->effect->broken;
	worker->effect->broken = by_event ? by_event : ports->broken;
	length = model_pack(worker->server, model->server_base, model->server_block, worker->packed + sizeof(*ports));
	return model_store_put(model->servers, hash, worker->packed, (uint32_t)(sizeof(*ports) + length));
}

void model_mount_over(struct model_worker *worker, struct model_state *state)
{
	struct model_server_head *head = head_of(worker->server);

	*worker->effect = (struct model_effect){ 0 };
	model_server_unpack(worker, state->server);
	head->misbehaves = true;
	configure(&worker->model->config, head, model_server_core(worker->server));
	state->server = model_server_put(worker);
}

void model_server_unpack(struct model_worker *worker, uint32_t server)
{
	struct model *model = worker->model;
	uint32_t length;
	const uint8_t *kept = model_store_get(model->servers, server, &length);
	size_t ports = sizeof(struct model_server_ports);

	model_unpack(kept + ports, length - ports, model->server_base, model->server_block, worker->server);
}

static uint32_t run(struct model_worker *worker, struct model_event event)
{
	happen(worker, event);
	drain(worker);
	return model_server_put(worker);
}

static const struct model_effect *compute(struct model_worker *worker, uint32_t server, struct model_event event)
{
	*worker->effect = (struct model_effect){ 0 };
	model_server_unpack(worker, server);
	model_guarded(worker, event, run, server);
	return model_effect_keep(worker, MODEL_SIDE_SERVER, server, event);
}

const struct model_effect *model_server_do(struct model_worker *worker, uint32_t server, struct model_event event)
{
	const struct model_effect *effect = NULL;

	if (!worker->passing[MODEL_SIDE_SERVER])
		effect = model_memo_find(worker->model->server_memo, server, event);
	return effect ? effect : compute(worker, server, event);
}
