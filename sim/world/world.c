/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One run from the point to the result. */

#include "sim/world/world_internal.h"

#include "protocol/io/readahead.h"

#include <string.h>

#define DAY_NS (UINT64_C(86400) * 1000000000)
#define SERVER_NAME "server"
#define SHARE_NAME "test"
#define MONITOR_WINDOW 65536

static const struct smb_monitor_limits monitor_limits = {
	.channels = SMB_CHANNELS_MAX,
	.requests = 16384,
	.files = 64,
	.window = MONITOR_WINDOW,
};

void world_end(struct world *world, enum sim_outcome outcome, const char *failure)
{
	struct sim_result *result = world->site->result;

	if (world->site->finished)
		return;
	world->site->finished = true;
	result->outcome = outcome;
	g_strlcpy(result->failure, failure ? failure : "", sizeof(result->failure));
	sim_engine_stop(world->engine);
}

void world_done(struct world *world)
{
	if (++world->site->done == world->site->client_count)
		world_end(world, SIM_OUTCOME_FINISHED, NULL);
}

void world_thread_start(struct world *world, const char *name, void (*main)(void *arg), void *arg)
{
	sim_client_thread_start(world->engine, world->number, name, main, arg);
}

uint64_t world_pairs(const struct world *world)
{
	uint64_t pairs = 0;

	for (uint32_t channel = 0; world->monitor && channel < SMB_CHANNELS_MAX; channel++) {
		struct smb_monitor_channel numbers;
		smb_monitor_look(world->monitor, channel, &numbers);
		pairs += numbers.pairs;
	}
	return pairs;
}

/* A read(2) larger than the window may raise it to bdi->io_pages; the demand shape has no such bound (rule C30). */
static uint64_t readahead_limit(const struct sim_point *point, uint32_t ra_pages)
{
	if (point->policy.readahead_shape == SMB_RA_SHAPE_DEMAND)
		return 0;
	return MAX((uint64_t)ra_pages * point->page_bytes, point->policy.readahead_oversize_bytes);
}

/* Reads past the page cache go as far as the application asks, and may overlap (rule C30). */
static bool is_uncached(const struct sim_point *point)
{
	bool uncached = point->mount.cache == SMB_CACHE_NONE;

	for (uint32_t i = 0; i < point->workload.job_count; i++) {
		const struct sim_job *job = &point->workload.jobs[i];

		uncached |= job->kind == SIM_JOB_READ && job->read.direct;
		uncached |= job->kind == SIM_JOB_FIO && job->fio.direct;
	}
	return uncached;
}

void world_mounted(struct world *world)
{
	struct smb_client_info info;
	bool uncached = is_uncached(world->point);

	smb_client_look(world->client, &info);
	world->result->rsize = info.rsize;
	world->result->ra_pages = info.ra_pages;
	world->mounted = true;
	if (!world->monitor)
		return;
	struct smb_monitor_expect expect = {
		.max_credits = world->point->mount.max_credits ? world->point->mount.max_credits
							       : world->point->policy.max_credits_default,
		.rsize = info.rsize,
		.readahead_bytes = uncached ? 0 : readahead_limit(world->point, info.ra_pages),
		.page_bytes = uncached ? 0 : world->point->page_bytes,
		.is_cifs = true,
	};
	smb_monitor_set_expect(world->monitor, &expect);
}

/* All clients begin together: the last one that is ready tells the others. */
static void wait_for_others(struct world *world)
{
	struct world_site *site = world->site;

	if (++site->ready < site->client_count) {
		sim_queue_pop(world->start);
		return;
	}
	for (uint32_t i = 0; i < site->client_count; i++)
		if (i != world->number)
			sim_queue_push(site->clients[i].start, world);
}

void world_measure(struct world *world)
{
	wait_for_others(world);
	world->measuring = true;
	world->pairs_before = world_pairs(world);
}

void world_measured(struct world *world)
{
	world->result->pairs = world_pairs(world) - world->pairs_before;
	world->measuring = false;
}

static void note_violation(void *context, const struct smb_violation *violation)
{
	struct world *world = context;
	struct sim_result *result = world->result;
	const struct smb_rule_info *info = smb_rule_info(violation->rule);

	if (!violation->received || !world_director_excuses(world, violation->rule))
		world_director_note(world, info ? info->name : "?", violation->text);
	result->violations++;
	if (result->violation_count < SIM_VIOLATIONS_MAX)
		result->violation[result->violation_count++] = *violation;
}

static void make_client(struct world *world)
{
	struct smb_client_config config = {
		.policy = world->point->policy,
		.mount = world->point->mount,
		.page_bytes = world->point->page_bytes,
		.client_guid = { 's', 'm', 'b', 'l', 'a', 'b', (uint8_t)world->number },
		.server = SERVER_NAME,
		.share = SHARE_NAME,
		.sends_block = true,
		.dirty_limits = smb_dirty_limits_for_memory(world->point->client_memory_bytes),
	};
	struct smb_client_limits limits = smb_client_limits_simulation;
	const struct sim_script *script = world_script(world->site);
	world_fio_limits(&world->point->workload, &limits);
	if (script) {
		config = script->client;
		limits = script->client_limits;
	}
	void *block = g_malloc0(smb_client_size(&limits));

	world->sends_block = config.sends_block;
	world->op_count = limits.ops;
	world->op_queues = g_new0(struct sim_queue *, limits.ops);
	world->client = smb_client_init(block, &limits, &config);
	if (!world->client)
		g_free(block);
}

static void make_server(struct world_site *site)
{
	const struct world *first = &site->clients[0];
	const struct sim_network *network = &first->point->network;
	struct smb_server_limits limits = smb_server_limits_simulation;
	struct smb_server_config config = {
		.profile = first->point->server,
		.server_guid = { 's', 'e', 'r', 'v', 'e', 'r' },
		.share = SHARE_NAME,
		.interface_count = network->nics,
	};
	for (uint32_t i = 0; i < network->nics; i++)
		config.interfaces[i] = world_nic_interface(first, i);
	limits.sessions = MAX(limits.sessions, 2 * site->client_count);
	limits.trees = MAX(limits.trees, 2 * site->client_count);
	if (world_script(site)) {
		config = world_script(site)->server;
		limits = world_script(site)->server_limits;
	}
	void *block = g_malloc0(smb_server_size(&limits));

	site->server = smb_server_init(block, &limits, &config);
	if (!site->server)
		g_free(block);
	for (uint32_t i = 0; i < site->client_count; i++)
		site->clients[i].server = site->server;
}

static void make_monitor(struct world *world)
{
	struct smb_monitor_expect nothing_known = { 0 };

	if (!world->point->monitor)
		return;
	world->monitor = smb_monitor_init(g_malloc0(smb_monitor_size(&monitor_limits)), &monitor_limits,
					  &nothing_known);
	smb_monitor_report_to(world->monitor, note_violation, world);
}

static struct sim_engine *make_engine(const struct sim_point *point, uint32_t clients, GError **error)
{
	const struct sim_network *network = &point->network;
	g_autofree struct sim_path_spec *paths = g_new0(struct sim_path_spec, network->nics * clients);
	struct sim_topology topology = {
		.client = { "client", (int)point->client_cores },
		.client_count = clients,
		.server = { point->shared_host ? "client" : "server", (int)point->server_cores },
		.paths = paths,
		.path_count = network->nics * clients,
		.seed = point->seed,
	};
	for (uint32_t i = 0; i < topology.path_count; i++)
		paths[i] = (struct sim_path_spec){ .rtt_ns = network->rtt_ns,
						   .rate_bps = world_nic_rate(network, i % network->nics),
						   .jitter_ns = network->jitter_ns,
						   .loss = network->loss,
						   .client = i / network->nics };
	return sim_engine_new(&topology, error);
}

/* Echoes keep a stuck run alive for ever, so somebody has to look at the clock. */
static uint64_t bytes_so_far(const struct world_site *site)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < site->client_count; i++)
		bytes += site->clients[i].result->bytes;
	return bytes;
}

static void watchdog_main(void *arg)
{
	struct world *world = arg;
	uint64_t limit_ns = world->point->time_limit_ns ? world->point->time_limit_ns : DAY_NS;
	uint64_t half_way_bytes;

	sim_sleep_until(world->engine, limit_ns / 2);
	half_way_bytes = bytes_so_far(world->site);
	sim_sleep_until(world->engine, limit_ns);
	if (bytes_so_far(world->site) == half_way_bytes)
		world_end(world, SIM_OUTCOME_STUCK, "no byte has reached the application for half the time limit");
	else
		world_end(world, SIM_OUTCOME_TIME_LIMIT, "the workload did not end within the time limit");
}

static void conclude(struct world *world)
{
	struct sim_result *result = world->result;
	const struct world_reader_clock *clock = &world->clock;
	struct smb_client_info info;
	uint64_t spent_ns = 0;

	for (int cause = 0; cause < WORLD_CAUSES; cause++)
		spent_ns += clock->spent_ns[cause];
	world_reader_time(world, &result->reader_time);
	if (world->client) {
		smb_client_look(world->client, &info);
		result->reconnects = info.reconnects;
	}
	result->seconds = (double)spent_ns / 1e9;
	result->throughput_MBps = spent_ns ? (double)result->bytes * 1e3 / (double)spent_ns : 0;
	if (world->measuring)
		world_measured(world);
	result->job_count = world->point->workload.job_count;
	result->read_io_bytes = world_read_usual_length(world);
	if (result->credits_min == INT64_MAX)
		result->credits_min = 0;
	if (world->monitor && world->site->result->outcome == SIM_OUTCOME_FINISHED)
		smb_monitor_idle(world->monitor, sim_engine_now_ns(world->engine));
}

static void conclude_all(struct world_site *site)
{
	struct sim_result *result = site->result;

	if (!site->finished)
		world_end(&site->clients[0], SIM_OUTCOME_STUCK, "nothing can proceed and the workload is not done");
	for (uint32_t i = 0; i < site->client_count; i++)
		conclude(&site->clients[i]);
	world_sum(site, result);
	if (result->outcome == SIM_OUTCOME_FINISHED && result->bytes && result->seconds == 0) {
		result->outcome = SIM_OUTCOME_IMPOSSIBLE;
		g_strlcpy(result->failure, "nothing on the way takes any time: no throughput can be told",
			  sizeof(result->failure));
	}
}

static bool make_all(struct world_site *site)
{
	bool made = true;

	make_server(site);
	for (uint32_t i = 0; i < site->client_count; i++) {
		struct world *world = &site->clients[i];

		make_client(world);
		make_monitor(world);
		world->start = sim_queue_new(world->engine);
		made &= world->client != NULL;
	}
	if (made && site->server)
		return true;
	world_end(&site->clients[0], SIM_OUTCOME_IMPOSSIBLE,
		  made ? "the server profile is not valid" : "the mount is not valid");
	return false;
}

static void run(struct world_site *site)
{
	struct world *first = &site->clients[0];

	if (!make_all(site))
		return;
	for (uint32_t i = 0; i < site->client_count; i++) {
		if (site->director)
			world_director_furnish(&site->clients[i]);
		else
			world_make_names(&site->clients[i]);
		world_reads_init(&site->clients[i]);
	}
	world_server_start(site);
	for (uint32_t i = 0; i < site->client_count; i++)
		world_client_start(&site->clients[i]);
	sim_thread_start(first->engine, SIM_CLIENT, "watchdog", watchdog_main, first);
	sim_engine_run(first->engine);
	conclude_all(site);
}

static void clear(struct world *world)
{
	g_free(world->client);
	g_free(world->monitor);
	g_free(world->op_queues);
	g_free(world->reads);
	g_clear_pointer(&world->heard, g_array_unref);
	g_free(world->active_reads);
	if (world->result != world->site->result)
		g_free(world->result);
}

static void site_init(struct world_site *site, const struct sim_point *point, const struct sim_trace *trace)
{
	bool is_alone = site->client_count == 1;

	site->clients = g_new0(struct world, site->client_count);
	site->channels_each = is_alone			  ? SMB_CHANNELS_MAX
			      : point->mount.multichannel ? MAX(point->mount.max_channels, 1)
							  : 1;
	for (uint32_t i = 0; i < site->client_count; i++) {
		struct world *world = &site->clients[i];

		*world =
			(struct world){ .point = point, .trace = trace, .site = site, .number = i, .threads_awake = 1 };
		world->result = is_alone ? site->result : g_new0(struct sim_result, 1);
		world->result->credits_min = INT64_MAX;
	}
}

bool world_run(const struct sim_point *point, const struct sim_trace *trace, struct world_director *director,
	       struct sim_result *result, GError **error)
{
	struct world_site site = { .client_count = MAX(point->clients, 1), .result = result, .director = director };
	gint64 start_us = g_get_monotonic_time();
	struct sim_engine *engine = make_engine(point, site.client_count, error);

	if (!engine)
		return false;
	memset(result, 0, sizeof(*result));
	site_init(&site, point, trace);
	for (uint32_t i = 0; i < site.client_count; i++)
		site.clients[i].engine = engine;
	run(&site);
	sim_engine_free(engine);
	for (uint32_t i = 0; i < site.client_count; i++)
		clear(&site.clients[i]);
	g_free(site.server);
	g_free(site.clients);
	result->wall_seconds = (double)(g_get_monotonic_time() - start_us) / 1e6;
	return true;
}

bool sim_world_run(const struct sim_point *point, const struct sim_trace *trace, struct sim_result *result,
		   GError **error)
{
	return world_run(point, trace, NULL, result, error);
}
