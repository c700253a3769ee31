/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Operations of the client core, and the threads that wait for them. */

#include "sim/world/world_internal.h"

void world_op_failed(struct world *world, const char *what, const struct smb_client_output *done)
{
	static const char *const reasons[] = {
		[SMB_OP_OK] = "ok",
		[SMB_OP_FAILED] = "the server refused it",
		[SMB_OP_STALLED] = "no credits are left and nothing is outstanding",
		[SMB_OP_DISCONNECTED] = "the connection is gone",
	};
	g_autofree char *text = g_strdup_printf("%s: %s (NT status 0x%08x)", what, reasons[done->verdict],
						done->status);

	world_end(world, SIM_OUTCOME_FAILED, text);
}

/* Into the page cache, whose pages are made for it. */
static void copy_written(struct world *world, const char *file, const struct smb_client_output *output)
{
	const struct sim_client_costs *costs = &world->point->client_costs;
	uint64_t page_bytes = world->point->page_bytes;
	uint64_t end = output->offset + output->data.length;
	uint64_t pages = (end + page_bytes - 1) / page_bytes - output->offset / page_bytes;

	if (world->monitor)
		smb_monitor_application_writes(world->monitor, file);
	sim_cpu_use(world->engine,
		    (uint64_t)(costs->copy_cpu_ns_per_byte * output->data.length + costs->page_cpu_ns * (double)pages));
}

static void copy_read(struct world *world, const char *file, const struct smb_client_output *output)
{
	double per_byte_ns = world->point->client_costs.copy_cpu_ns_per_byte;

	sim_cpu_use(world->engine, (uint64_t)(per_byte_ns * output->data.length));
	if (world->measuring)
		world->result->bytes += output->data.length;
	if (world->monitor)
		smb_monitor_application_read(world->monitor, file, output->offset, output->data, false,
					     sim_engine_now_ns(world->engine));
}

void world_op_copy(struct world *world, const struct smb_op *op, const char *file,
		   const struct smb_client_output *output)
{
	if (op->kind == SMB_OP_WRITE)
		copy_written(world, file, output);
	else
		copy_read(world, file, output);
	smb_client_copied(world->client, output->op, sim_engine_now_ns(world->engine));
	world_client_drain(world);
}

static bool smb1_is_spoken(const struct world *world)
{
	struct smb_client_info info;

	smb_client_look(world->client, &info);
	return info.dialect && info.dialect < SMB2_DIALECT_202;
}

uint32_t world_op_submit(struct world *world, const struct smb_op *op, struct sim_queue *queue)
{
	uint32_t number = smb_client_submit(world->client, op, sim_engine_now_ns(world->engine));

	if (number == SMB_OP_NONE && op->kind == SMB_OP_COMMAND && smb1_is_spoken(world)) {
		world_end(world, SIM_OUTCOME_IMPOSSIBLE,
			  "shell commands are known over SMB2 and later only, not with vers=1.0");
		return number;
	}
	if (number == SMB_OP_NONE) {
		world_director_note(world, "valid", "the client core takes no further operation");
		world_end(world, SIM_OUTCOME_FAILED, "the client core takes no further operation");
		return number;
	}
	world->op_queues[number] = queue;
	world_client_drain(world);
	return number;
}

/* A thread that still has work to do is not blocked yet. */
bool world_op_wait(struct world *world, struct sim_queue *queue, uint64_t wanted, uint64_t until_ns,
		   struct smb_client_output *output)
{
	struct smb_client_output *next = sim_queue_take(queue);

	if (!next) {
		sim_cpu_settle(world->engine);
		next = sim_queue_take(queue);
	}
	if (!next) {
		world_reader_blocks(world, wanted);
		next = until_ns == UINT64_MAX ? sim_queue_pop(queue) : sim_queue_pop_until(queue, until_ns);
		world_reader_runs(world);
	}
	if (next)
		*output = *next;
	g_free(next);
	return next != NULL;
}

bool world_op_run(struct world *world, const struct smb_op *op, const char *file, struct smb_client_output *done)
{
	uint64_t wanted = op->offset;

	if (world_op_submit(world, op, world->application) == SMB_OP_NONE)
		return false;
	for (;;) {
		world_op_wait(world, world->application, wanted, UINT64_MAX, done);
		if (done->kind == SMB_CLIENT_DONE) {
			sim_cpu_settle(world->engine);
			return true;
		}
		wanted = done->offset + done->data.length;
		world_op_copy(world, op, file, done);
	}
}

bool world_op_must(struct world *world, const struct smb_op *op, const char *what, struct smb_client_output *done)
{
	if (!world_op_run(world, op, what, done))
		return false;
	if (done->verdict == SMB_OP_OK)
		return true;
	world_op_failed(world, what, done);
	return false;
}
