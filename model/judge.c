/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the monitor cannot see from PDUs alone: how a run must end, and what the model knows of the cores. */

#include "model/internal.h"

#include <string.h>

#define BREAK_CREDITS_MAX 3 /* held back for break acknowledgements (cifs 6.5, smb2_add_credits) */
#define MESSAGES_MAX 1024 /* so many MessageIds on one connection: the client sends without end */

/* After a channel was lost, requests carry a new ChannelSequence (MS-SMB2 3.2.4.1.9, cifs 6.6). */
void model_judge_sent(struct model_worker *worker, const struct smb_pdu *pdu)
{
	const struct model_client_head *head = (const struct model_client_head *)(const void *)worker->client;
	const struct smb_client_config *client = &worker->model->config.client;
	struct smb2_header header;
	struct smb_client_info info;
	uint32_t next;

	if (smb2_header_decode(pdu->bytes, pdu->length, &header, &next) != SMB_WIRE_OK)
		return;
	if (header.message_id > MESSAGES_MAX)
		model_effect_broken(worker, "stuck", "the client sends request after request, and no operation ends");
	smb_client_look(model_client_core(worker->model, worker->client), &info);
	if (head->has_renewed && client->policy.channel_sequence && info.dialect >= SMB2_DIALECT_300 &&
	    header.command > SMB2_SESSION_SETUP && !header.channel_sequence)
		model_effect_broken(worker, "C23", "ChannelSequence 0 after a channel was lost");
}

/* A server says that only of a handle that is closed, or was the lost session's. */
void model_judge_received(struct model_worker *worker, const struct smb_pdu *pdu)
{
	struct smb2_header header;
	uint32_t position = 0, next = 0;

	do {
		if (smb2_header_decode(pdu->bytes + position, pdu->length - position, &header, &next) != SMB_WIRE_OK)
			return;
		if (header.status == STATUS_FILE_CLOSED && header.command != SMB2_CLOSE) /* a CLOSE may come twice */
			model_effect_broken(worker, "C22", "%s names a handle that is not open any more",
					    smb2_command_name(header.command));
		position += next;
	} while (next && position < pdu->length);
}

static void judge_reserve(struct model_worker *worker, uint32_t channel, const struct smb_channel_info *info)
{
	if (info->credits_oplock > BREAK_CREDITS_MAX)
		model_effect_broken(worker, "C35", "channel %u holds %u credits back for break acknowledgements",
				    channel, info->credits_oplock);
}

static void check_channel(struct model_worker *worker, uint32_t channel, const struct smb_monitor_channel *seen)
{
	struct smb_channel_info info;
	int64_t counted;

	smb_client_look_channel(model_client_core(worker->model, worker->client), channel, &info);
	counted = (int64_t)info.credits + info.credits_echo + info.credits_oplock;
	judge_reserve(worker, channel, &info);
	if (info.in_flight < seen->in_flight)
		model_effect_broken(worker, "C7", "channel %u: the client counts %u requests in flight, there are %u",
				    channel, info.in_flight, seen->in_flight);
	if (!info.in_flight && (counted > seen->credits || counted < seen->credits - seen->let_go))
		model_effect_broken(worker, "C6",
				    "channel %u at rest: the client counts %u+%u+%u credits, it was granted %d%s",
				    channel, info.credits, info.credits_echo, info.credits_oplock, (int)seen->credits,
				    seen->let_go ? " and may have let go of some" : "");
}

void model_judge_client(struct model_worker *worker, const struct model_client_ports *ports)
{
	struct model *model = worker->model;
	struct smb_monitor *monitor = model_client_monitor(model, worker->client);

	if (!smb_client_is_valid(model_client_core(model, worker->client)))
		model_effect_broken(worker, "valid", "the client's block is not valid");
	if (!smb_monitor_is_valid(monitor))
		model_effect_broken(worker, "valid", "the monitor's block is not valid");
	for (uint32_t i = 0; i < model->config.client_limits.channels; i++) {
		struct smb_monitor_channel seen;

		smb_monitor_look(monitor, i, &seen);
		if (ports->open >> i & 1)
			check_channel(worker, i, &seen);
	}
}

/* ------------------------------------------------------------------------------------------------------------ the end */

bool model_runs_commands(const struct model_config *config)
{
	for (uint32_t t = 0; t < config->threads; t++) {
		for (uint32_t s = 0; s < config->thread[t].steps; s++) {
			if (config->thread[t].step[s].kind == MODEL_STEP_COMMAND)
				return true;
		}
	}
	return false;
}

bool model_owes_acknowledgement(struct model_worker *worker, const struct model_state *state, uint32_t open)
{
	struct smb_server_open_info info;

	if (!model_server_ports(worker->model, state->server)->open[open].is_breaking)
		return false;
	smb_server_look_open(model_state_server(worker, state), open, &info);
	return smb_client_has_handle(model_state_client(worker, state), info.id);
}

static bool judge_breaks(struct model_worker *worker, const struct model_state *state, struct model_fault_found *found)
{
	for (uint32_t i = 0; i < MODEL_OPENS_MAX; i++) {
		if (!model_owes_acknowledgement(worker, state, i))
			continue;
		*found = (struct model_fault_found){ .rule = "C20" };
		g_snprintf(found->text, sizeof(found->text), "the break of open %u is not acknowledged at the end", i);
		return false;
	}
	return true;
}

bool model_judge_end(struct model_worker *worker, const struct model_state *state, struct model_fault_found *found)
{
	const struct model_config *config = &worker->model->config;
	const struct smb_server *server = model_state_server(worker, state);
	const struct model_client_head *head = (const struct model_client_head *)(const void *)worker->client;
	uint32_t open = 0, wanted = 0;
	bool is_told;

	model_client_unpack(worker, state->client);
	for (uint32_t i = 0; i < config->server_limits.handles; i++) {
		struct smb_server_open_info info;

		smb_server_look_open(server, i, &info);
		open += info.is_open;
	}
	for (uint32_t i = 0; i < config->files; i++)
		wanted += head->file_state[i] == MODEL_FILE_OPEN;
	/* The answer to a CREATE may be lost, also with a channel that the client itself gives up, and a CLOSE refused; who
	 * was left without credits cannot even close. */
	is_told = !head->has_renewed && state->left[MODEL_FAULT_CUT] == config->faults[MODEL_FAULT_CUT] &&
		  state->left[MODEL_FAULT_INTERFACE] == config->faults[MODEL_FAULT_INTERFACE] &&
		  state->left[MODEL_FAULT_PUSHBACK] == config->faults[MODEL_FAULT_PUSHBACK] &&
		  !(head->has_failed && model_may_starve(config));
	if (!judge_breaks(worker, state, found))
		return false;
	if (open > wanted && is_told && !model_runs_commands(config)) {
		*found = (struct model_fault_found){ .rule = "C29" };
		g_snprintf(found->text, sizeof(found->text), "%u handles are open at the end, the application has %u",
			   open, wanted);
		return false;
	}
	for (uint32_t i = 0; i < config->files && !head->has_failed; i++) {
		if (head->file_state[i] != MODEL_FILE_OPEN && !model_judge_data(config, server, i, found))
			return false;
	}
	return true;
}
