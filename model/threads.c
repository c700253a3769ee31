/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the application threads do: each runs its steps one after another. */

#include "model/internal.h"

#include <string.h>

static const struct model_step *step_of(const struct model_config *config, const struct model_client_head *head,
					uint32_t thread)
{
	uint32_t step = head->thread[thread].step;

	return step < config->thread[thread].steps ? &config->thread[thread].step[step] : NULL;
}

bool model_threads_go_direct(const struct model_config *config)
{
	for (uint32_t t = 0; t < config->threads; t++) {
		for (uint32_t s = 0; s < config->thread[t].steps; s++) {
			if (config->thread[t].step[s].direct)
				return true;
		}
	}
	return false;
}

/* Does any other thread still want the file? */
static bool is_wanted(const struct model_config *config, const struct model_client_head *head, uint32_t thread,
		      uint32_t file)
{
	for (uint32_t t = 0; t < config->threads; t++) {
		for (uint32_t s = head->thread[t].step; t != thread && s < config->thread[t].steps; s++) {
			const struct model_step *step = &config->thread[t].step[s];

			if (step->kind != MODEL_STEP_COMMAND && step->kind != MODEL_STEP_OPEN && step->file == file)
				return true;
		}
	}
	return false;
}

static bool runs_a_command(const struct model_config *config, const struct model_client_head *head)
{
	for (uint32_t t = 0; t < config->threads; t++) {
		if (head->thread[t].is_running && step_of(config, head, t)->kind == MODEL_STEP_COMMAND)
			return true;
	}
	return false;
}

static bool can_start(const struct model_config *config, const struct model_client_head *head, uint32_t thread)
{
	const struct model_step *step = step_of(config, head, thread);

	if (!step || head->thread[thread].is_running)
		return false;
	switch (step->kind) {
	case MODEL_STEP_COMMAND:
		return !runs_a_command(config, head);
	case MODEL_STEP_OPEN:
		return head->file_state[step->file] == MODEL_FILE_CLOSED;
	case MODEL_STEP_CLOSE:
		return head->file_state[step->file] == MODEL_FILE_OPEN && !is_wanted(config, head, thread, step->file);
	case MODEL_STEP_READ:
	case MODEL_STEP_WRITE:
	case MODEL_STEP_FSYNC:
		return head->file_state[step->file] == MODEL_FILE_OPEN;
	}
	return false;
}

uint8_t model_threads_startable(const struct model_config *config, const struct model_client_head *head)
{
	uint8_t startable = 0;

	if (head->phase == MODEL_FINISHED || head->thread[MODEL_SYSTEM].is_running)
		return 0;
	if (head->phase != MODEL_RUNNING)
		return 1u << MODEL_SYSTEM;
	for (uint32_t t = 0; t < config->threads; t++) {
		if (can_start(config, head, t))
			startable |= (uint8_t)(1u << t);
	}
	return startable;
}

static struct smb_op op_of(const struct model_config *config, const struct model_client_head *head, uint32_t thread)
{
	static const enum smb_op_kind kinds[] = {
		[MODEL_STEP_OPEN] = SMB_OP_OPEN,   [MODEL_STEP_READ] = SMB_OP_READ,
		[MODEL_STEP_WRITE] = SMB_OP_WRITE, [MODEL_STEP_FSYNC] = SMB_OP_FSYNC,
		[MODEL_STEP_CLOSE] = SMB_OP_CLOSE, [MODEL_STEP_COMMAND] = SMB_OP_COMMAND,
	};
	const struct model_step *step = step_of(config, head, thread);

	return (struct smb_op){
		.kind = kinds[step->kind],
		.name = config->file[step->file].name,
		.file = head->file[step->file],
		.offset = step->offset,
		.length = step->length,
		.source = model_source_of_step(
			config, thread,
			head->thread[thread].step), /* a stream of its own: the monitor tells whose data it is */
		.source_offset = step->offset,
		.access = step->access,
		.direct = step->direct,
		.command = &step->command,
	};
}

static struct smb_op op_to_start(const struct model_config *config, const struct model_client_head *head,
				 uint32_t thread)
{
	if (thread != MODEL_SYSTEM)
		return op_of(config, head, thread);
	return (struct smb_op){ .kind = head->phase == MODEL_MOUNTING ? SMB_OP_MOUNT : SMB_OP_UNMOUNT };
}

struct smb_op model_state_op(struct model_worker *worker, const struct model_state *state, uint32_t thread)
{
	model_client_unpack(worker, state->client);
	return op_to_start(&worker->model->config, (const struct model_client_head *)(const void *)worker->client,
			   thread);
}

bool model_thread_start(const struct model_config *config, struct model_client_head *head, struct smb_client *client,
			uint32_t thread)
{
	struct smb_op op = op_to_start(config, head, thread);
	uint32_t number;

	number = smb_client_submit(client, &op, head->now_ns);
	if (number == SMB_OP_NONE)
		return false;
	head->thread[thread].is_running = true;
	head->thread[thread].op = (uint16_t)number;
	if (op.kind == SMB_OP_CLOSE)
		head->file_state[step_of(config, head, thread)->file] = MODEL_FILE_CLOSED;
	return true;
}

/* Steps on files that could not be opened are left out; the run is over when no thread has any left. */
static void go_on(const struct model_config *config, struct model_client_head *head)
{
	bool is_over = true;

	for (uint32_t t = 0; t < config->threads; t++) {
		const struct model_step *step = step_of(config, head, t);

		while (step && !head->thread[t].is_running && step->kind != MODEL_STEP_COMMAND &&
		       head->file_state[step->file] == MODEL_FILE_FAILED) {
			head->thread[t].step++;
			step = step_of(config, head, t);
		}
		is_over = is_over && !step;
	}
	if (is_over && head->phase == MODEL_RUNNING)
		head->phase = config->unmounts ? MODEL_UNMOUNTING : MODEL_FINISHED;
}

static void system_done(struct model_client_head *head, const struct smb_client_output *done)
{
	if (head->phase == MODEL_MOUNTING && done->verdict == SMB_OP_OK)
		head->phase = MODEL_RUNNING;
	else
		head->phase = MODEL_FINISHED;
}

uint32_t model_thread_done(const struct model_config *config, struct model_client_head *head,
			   const struct smb_client_output *done)
{
	uint32_t thread = 0;
	const struct model_step *step;

	while (!head->thread[thread].is_running || head->thread[thread].op != done->op) {
		thread++;
		g_assert(thread <= MODEL_SYSTEM);
	}
	head->thread[thread].is_running = false;
	head->thread[thread].op = 0;
	if (thread == MODEL_SYSTEM) {
		system_done(head, done);
		go_on(config, head);
		return thread;
	}
	step = step_of(config, head, thread);
	if (step->kind == MODEL_STEP_OPEN) {
		bool is_open = done->verdict == SMB_OP_OK;

		head->file_state[step->file] = is_open ? MODEL_FILE_OPEN : MODEL_FILE_FAILED;
		head->file[step->file] = is_open ? done->file : 0;
	}
	if (step->kind == MODEL_STEP_CLOSE)
		head->file[step->file] = 0;
	head->thread[thread].step++;
	go_on(config, head);
	return thread;
}

void model_step_tell(const struct model_config *config, const struct model_client_head *head, uint32_t thread,
		     GString *text)
{
	static const char *const names[] = { "open", "read", "write", "fsync", "close", "run" };
	const struct model_step *step;

	if (thread == MODEL_SYSTEM) {
		g_string_append(text, head->phase == MODEL_MOUNTING ? "mount" : "unmount");
		return;
	}
	step = step_of(config, head, thread);
	if (!step)
		return;
	g_string_append_printf(text, "thread %u: %s", thread + 1, names[step->kind]);
	if (step->kind == MODEL_STEP_COMMAND)
		g_string_append_printf(text, " %s %s%s%s", smb_ops_command_name(step->command.kind),
				       step->command.source, *step->command.target ? " " : "", step->command.target);
	else
		g_string_append_printf(text, " %s", config->file[step->file].name);
	if (step->kind == MODEL_STEP_READ || step->kind == MODEL_STEP_WRITE)
		g_string_append_printf(text, " %" G_GUINT64_FORMAT "+%" G_GUINT64_FORMAT, (guint64)step->offset,
				       (guint64)step->length);
}
