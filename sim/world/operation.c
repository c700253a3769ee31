/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One operation of the client core, followed to its end by the thread that submits it. */

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

static void copy(struct world *world, const char *file, const struct smb_client_output *output)
{
	double per_byte_ns = world->point->client_costs.copy_cpu_ns_per_byte;

	sim_cpu_use(world->engine, (uint64_t)(per_byte_ns * output->data.length));
	if (world->measuring)
		world->result->bytes += output->data.length;
	if (world->monitor)
		smb_monitor_application_read(world->monitor, file, output->offset, output->data, false,
					     sim_engine_now_ns(world->engine));
	smb_client_copied(world->client, output->op, sim_engine_now_ns(world->engine));
	world_client_drain(world);
}

/* A thread that still has work to do is not blocked yet. */
static void next_output(struct world *world, uint64_t wanted, struct smb_client_output *next)
{
	struct smb_client_output *output = sim_queue_take(world->application);

	if (!output) {
		sim_cpu_settle(world->engine);
		output = sim_queue_take(world->application);
	}
	if (!output) {
		world_reader_blocks(world, wanted);
		output = sim_queue_pop(world->application);
		world_reader_runs(world);
	}
	*next = *output;
	g_free(output);
}

bool world_op_run(struct world *world, const struct smb_op *op, const char *file, struct smb_client_output *done)
{
	uint64_t wanted = op->offset;
	uint32_t number = smb_client_submit(world->client, op, sim_engine_now_ns(world->engine));

	if (number == SMB_OP_NONE) {
		world_end(world, SIM_OUTCOME_FAILED, "the client core takes no further operation");
		return false;
	}
	world_client_drain(world);
	for (;;) {
		next_output(world, wanted, done);
		if (done->kind == SMB_CLIENT_DONE) {
			sim_cpu_settle(world->engine);
			return true;
		}
		wanted = done->offset + done->data.length;
		copy(world, file, done);
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
