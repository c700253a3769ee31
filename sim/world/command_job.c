/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A shell command: its process costs time, what it asks of the share is one operation of the core. */

#include "sim/world/world_internal.h"

bool world_mount(struct world *world)
{
	struct smb_client_output done;
	struct smb_op mount = { .kind = SMB_OP_MOUNT };

	if (!world_op_must(world, &mount, "mount", &done))
		return false;
	if (world->result->mount_seconds == 0)
		world->result->mount_seconds = (double)sim_engine_now_ns(world->engine) / 1e9;
	world_mounted(world);
	return true;
}

static bool run(struct world *world, const struct smb_ops_command *command, enum smb_ops_error *error)
{
	const char *name = smb_ops_command_name(command->kind);
	struct smb_op op = { .kind = SMB_OP_COMMAND, .command = command };
	struct smb_client_output done;

	if (command->kind == SMB_OPS_MOUNT)
		return world_mount(world);
	if (!world_op_run(world, &op, name, &done))
		return false;
	if (done.verdict != SMB_OP_OK && !done.error) {
		world_op_failed(world, name, &done);
		return false;
	}
	*error = done.error;
	if (world->measuring)
		world->result->bytes += done.bytes;
	world->mounted = command->kind != SMB_OPS_UMOUNT || done.error;
	return true;
}

bool world_command_job(struct world *world, const struct smb_ops_command *command, enum smb_ops_error *error)
{
	*error = SMB_OPS_OK;
	if ((command->kind == SMB_OPS_MOUNT) == world->mounted) {
		world_end(world, SIM_OUTCOME_IMPOSSIBLE,
			  world->mounted ? "mount: the share is mounted already" : "the share is not mounted any more");
		return false;
	}
	world_reader_start(world);
	sim_cpu_use(world->engine, (uint64_t)world->point->client_costs.command_cpu_ns);
	if (!run(world, command, error))
		return false;
	world_reader_stop(world);
	return true;
}
