/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the monitor cannot see from PDUs alone: how a run must end, and what the model knows of the cores. */

#include "model/internal.h"
#include "sim/server/files.h"

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
	} while (next);
}

void model_judge_channel(struct model_worker *worker, uint32_t channel, const struct smb_channel_info *info)
{
	if (info->credits_oplock > BREAK_CREDITS_MAX)
		model_effect_broken(worker, "C35", "channel %u holds %u credits back for break acknowledgements",
				    channel, info->credits_oplock);
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

static bool writes_at(const struct model_step *step, uint32_t file, uint64_t offset)
{
	return step->kind == MODEL_STEP_WRITE && step->file == file && step->offset <= offset &&
	       offset < step->offset + step->length;
}

uint64_t model_source_of_step(const struct model_config *config, uint32_t thread, uint32_t step)
{
	const struct model_step *steps = config->thread[thread].step;
	uint64_t source = MODEL_SOURCE_FIRST + thread;

	for (uint32_t s = 0; s < step; s++) {
		if (steps[s].kind == MODEL_STEP_WRITE && steps[s].file == steps[step].file &&
		    steps[s].offset < steps[step].offset + steps[step].length &&
		    steps[step].offset < steps[s].offset + steps[s].length)
			source += MODEL_THREADS_MAX;
	}
	return source;
}

/* The last WRITE at `offset` of the thread that writes from `source` (0: of any thread); NULL: there is none. */
static const struct model_step *writer_of(const struct model_config *config, uint32_t file, uint64_t offset,
					  uint64_t source)
{
	for (uint32_t t = 0; t < config->threads; t++) {
		uint32_t step = config->thread[t].steps;

		while (step && !writes_at(&config->thread[t].step[step - 1], file, offset))
			step--;
		if (step && (!source || source == model_source_of_step(config, t, step - 1)))
			return &config->thread[t].step[step - 1];
	}
	return NULL;
}

static uint64_t written_end(const struct model_config *config, uint32_t file)
{
	uint64_t end = 0;

	for (uint32_t t = 0; t < config->threads; t++) {
		for (uint32_t s = 0; s < config->thread[t].steps; s++) {
			const struct model_step *step = &config->thread[t].step[s];

			if (step->kind == MODEL_STEP_WRITE && step->file == file && step->offset + step->length > end)
				end = step->offset + step->length;
		}
	}
	return end;
}

static uint32_t find_file(const struct smb_server *server, const char *name)
{
	uint8_t bytes[2 * SMB_OPS_PATH_MAX] = { 0 };
	struct server_path path;
	uint32_t length = 0;

	for (; name[length]; length++)
		bytes[2 * length] = (uint8_t)(name[length] == '/' ? '\\' : name[length]);
	if (server_path_walk(server, (struct smb_blob){ bytes, 2 * length }, &path))
		return SERVER_NONE;
	return path.file;
}

/* How many bytes from `at` on are as they must be: 0, the first one is not. */
static uint64_t good_bytes(const struct model_config *config, const struct smb_server *server, uint32_t file,
			   uint64_t at)
{
	uint32_t found = find_file(server, config->file[file].name);
	const struct model_step *step;
	struct smb_slice slice;

	if (found == SERVER_NONE || at >= server_file(server, found)->size)
		return 0;
	slice = server_content_slice(server, found, at,
				     (uint32_t)MIN(server_file(server, found)->size - at, UINT32_MAX));
	if (slice.source < MODEL_SOURCE_FIRST)
		return writer_of(config, file, at, 0) ? 0 : 1;
	step = slice.offset == at ? writer_of(config, file, at, slice.source) : NULL;
	return step ? MIN(slice.length, step->offset + step->length - at) : 0;
}

/* All that was written is at the server (C28). False: `at` is wrong. */
static bool holds_what_was_written(const struct model_config *config, const struct smb_server *server, uint32_t file,
				   uint64_t *at)
{
	uint64_t end = written_end(config, file);
	uint64_t good = 1;

	for (*at = 0; *at < end && good; *at += good)
		good = good_bytes(config, server, file, *at);
	return good != 0;
}

bool model_judge_end(struct model_worker *worker, const struct model_state *state, struct model_fault_found *found)
{
	const struct model_config *config = &worker->model->config;
	const struct smb_server *server = model_state_server(worker, state);
	const struct model_client_head *head = (const struct model_client_head *)(const void *)worker->client;
	uint32_t open = 0, wanted = 0;
	uint64_t at;
	bool is_told;

	model_client_unpack(worker, state->client);
	for (uint32_t i = 0; i < config->server_limits.handles; i++) {
		struct smb_server_open_info info;

		smb_server_look_open(server, i, &info);
		open += info.is_open;
	}
	for (uint32_t i = 0; i < config->files; i++)
		wanted += head->file_state[i] == MODEL_FILE_OPEN;
	/* The answer to a CREATE may be lost, and a CLOSE refused. */
	is_told = state->left[MODEL_FAULT_CUT] == config->faults[MODEL_FAULT_CUT] &&
		  state->left[MODEL_FAULT_PUSHBACK] == config->faults[MODEL_FAULT_PUSHBACK];
	if (open > wanted && is_told && !model_runs_commands(config)) {
		*found = (struct model_fault_found){ .rule = "C29" };
		g_snprintf(found->text, sizeof(found->text), "%u handles are open at the end, the application has %u",
			   open, wanted);
		return false;
	}
	for (uint32_t i = 0; i < config->files && !head->has_failed; i++) {
		if (head->file_state[i] == MODEL_FILE_OPEN || holds_what_was_written(config, server, i, &at))
			continue;
		*found = (struct model_fault_found){ .rule = "C28" };
		g_snprintf(found->text, sizeof(found->text),
			   "%s does not hold at %" G_GUINT64_FORMAT " what was written", config->file[i].name,
			   (guint64)at);
		return false;
	}
	return true;
}
