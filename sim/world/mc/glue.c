/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Small runs of the whole world for simgrid-mc: each thread of client, server and application as it is, in every order
 * in which they can go on. A run has to finish, to break no rule, and to bring the application all it asked for; that it
 * comes to an end at all is what simgrid-mc watches itself.
 */

#include "sim/engine/explore.h"
#include "sim/world/profile.h"
#include "sim/world/world.h"

#include <stdio.h>
#include <string.h>

#define PAGE_BYTES 4096

struct scenario {
	const char *name;
	const char *tells;
	const char *mount;
	uint32_t pages; /* of the file that is read */
	uint32_t threads; /* that read it side by side; 0: the application itself does, and closes it */
	uint32_t alarms;
	bool is_cut; /* the first connection, once */
};

static const struct scenario scenarios[] = {
	{ .name = "read", .tells = "a file of one page", .mount = "vers=3.1.1", .pages = 1 },
	{ .name = "channels",
	  .tells = "two threads read a page each, over two channels",
	  .mount = "vers=3.1.1,multichannel,max_channels=2",
	  .pages = 2,
	  .threads = 2 },
	{ .name = "threads",
	  .tells = "two threads read a page each, over one",
	  .mount = "vers=3.1.1",
	  .pages = 2,
	  .threads = 2 },
	{ .name = "alarm",
	  .tells = "a file of one page; the next timer rings at any moment",
	  .mount = "vers=3.1.1",
	  .pages = 1,
	  .alarms = 1 },
	/* Few requests to mount with, and a server that answers at once, as it can be cut anywhere. */
	{ .name = "cut",
	  .tells = "a file of one page; the connection is cut at any moment",
	  .mount = "vers=2.0",
	  .pages = 1,
	  .is_cut = true },
};

struct check {
	const struct scenario *scenario;
	struct sim_point point;
};

static struct sim_job job_of(const struct scenario *scenario)
{
	uint64_t file_bytes = (uint64_t)scenario->pages * PAGE_BYTES;
	struct sim_job reader = { .kind = SIM_JOB_READ,
				  .read = { .file = "f", .file_bytes = file_bytes, .block_bytes = PAGE_BYTES } };
	struct sim_job threads = { .kind = SIM_JOB_FIO,
				   .fio = { .file = "f",
					    .file_bytes = file_bytes,
					    .block_bytes = PAGE_BYTES,
					    .offset_increment_bytes = PAGE_BYTES,
					    .region_bytes = PAGE_BYTES,
					    .calls = 1,
					    .copies = scenario->threads,
					    .depth = 1 } };

	return scenario->threads ? threads : reader;
}

/* No cost, no delay, no rate: nothing but the order is left. */
static bool make_point(const struct scenario *scenario, struct sim_point *point, GError **error)
{
	struct smb_server_profile *server = &point->server;
	struct smb_mount_report report;

	sim_point_init(point);
	if (!sim_profile_load("samba-4.17", server, NULL, error))
		return false;
	g_assert(smb_mount_options_parse(scenario->mount, &point->policy, &point->mount, &report) == SMB_MOUNT_OK);
	point->client_costs = (struct sim_client_costs){ .request_cpu_ns = 0 };
	server->request_cpu_ns = server->receive_cpu_ns_per_byte = server->send_cpu_ns_per_byte = 0;
	server->read_cpu_ns_per_byte = server->write_cpu_ns_per_byte = 0;
	if (scenario->is_cut)
		server->interim = SMB_INTERIM_NEVER;
	else
		server->storage_latency_ns = 1; /* so that there are storage threads */
	server->storage_parallel = 1;
	point->network.rtt_ns = point->network.rate_bps = 0;
	point->fault_count = scenario->is_cut;
	point->workload.job_count = 1;
	point->workload.jobs[0] = job_of(scenario);
	return true;
}

static void run(void *arg)
{
	static struct sim_result result;
	const struct check *check = arg;
	const struct scenario *scenario = check->scenario;

	g_assert(sim_world_run(&check->point, NULL, &result, NULL));
	if (result.outcome != SIM_OUTCOME_FINISHED)
		fprintf(stderr, "%s: %s\n", sim_outcome_name(result.outcome), result.failure);
	if (result.violations)
		fprintf(stderr, "%s\n", result.violation[0].text);
	sim_explore_require(result.outcome == SIM_OUTCOME_FINISHED);
	sim_explore_require(!result.violations);
	sim_explore_require(result.bytes == (uint64_t)scenario->pages * PAGE_BYTES);
}

static const struct scenario *find(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(scenarios); i++)
		if (name && strcmp(scenarios[i].name, name) == 0)
			return &scenarios[i];
	return NULL;
}

static int usage(void)
{
	fprintf(stderr, "usage: glue SCENARIO, by itself or under simgrid-mc\n");
	for (size_t i = 0; i < G_N_ELEMENTS(scenarios); i++)
		fprintf(stderr, "  %-10s %s\n", scenarios[i].name, scenarios[i].tells);
	return 2;
}

int main(int argc, char **argv)
{
	static struct check check;
	const struct sim_path_spec path = { .client = 0 };
	const struct sim_topology platform = {
		.client = { "client", 4 }, .server = { "server", 4 }, .paths = &path, .path_count = 1
	};
	struct sim_exploration exploration = { .platform = &platform, .main = run, .arg = &check };
	g_autoptr(GError) error = NULL;

	check.scenario = find(argc == 2 ? argv[1] : NULL);
	if (!check.scenario)
		return usage();
	exploration.alarms = check.scenario->alarms;
	if (make_point(check.scenario, &check.point, &error) && sim_explore(&exploration, &error))
		return 0;
	fprintf(stderr, "glue: %s\n", error->message);
	return 3;
}
