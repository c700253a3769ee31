/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/engine/internal.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <simgrid/engine.h>
#include <unistd.h>

/* The options under which a zero-latency link is exact. The times of the model are seconds in a double: with a
 * precision of 0.1 ns, events of the same nanosecond coincide and no others. A run that ends with blocked threads is
 * not an error here, hence no log; SimGrid 4.0 throws when it wants to tell what they wait for. */
static const char *const simgrid_options[] = {
	"smblab",
	"--cfg=network/model:CM02",
	"--cfg=network/crosstraffic:no",
	"--cfg=network/TCP-gamma:0",
	"--cfg=network/optim:Full",
	"--cfg=contexts/factory:raw",
	"--cfg=surf/precision:1e-10",
	"--log=root.thres:critical",
	"--log=root.app:file:/dev/null",
};

static const char *const side_names[2] = { "client", "server" };

static bool engine_exists;

GQuark sim_engine_error(void)
{
	return g_quark_from_static_string("sim-engine-error");
}

static void xml_host(GString *xml, const char *name, int cores)
{
	char *escaped = g_markup_escape_text(name, -1);

	g_string_append_printf(xml, "    <host id=\"host-%s\" speed=\"1e9f\" core=\"%d\"/>\n", escaped, cores);
	g_free(escaped);
}

static uint32_t clients_of(const struct sim_topology *topology)
{
	return MAX(topology->client_count, 1);
}

static char *client_name(const struct sim_topology *topology, uint32_t client)
{
	return client ? g_strdup_printf("%s-%u", topology->client.name, client) : g_strdup(topology->client.name);
}

static void xml_path(GString *xml, uint32_t path, uint64_t rate_bps)
{
	/* A path without limit is never used for a transfer; SimGrid only wants a number. */
	uint64_t bits = rate_bps ? rate_bps : 1000000000000;
	double bytes = (double)bits / 8;
	char rate[G_ASCII_DTOSTR_BUF_SIZE];

	g_ascii_dtostr(rate, sizeof(rate), bytes);
	for (int side = SIM_CLIENT; side <= SIM_SERVER; side++)
		g_string_append_printf(xml, "    <host id=\"nic-%s-%u\" speed=\"1e9f\"/>\n", side_names[side], path);
	for (int side = SIM_CLIENT; side <= SIM_SERVER; side++)
		g_string_append_printf(xml, "    <link id=\"from-%s-%u\" bandwidth=\"%sBps\" latency=\"0s\"/>\n",
				       side_names[side], path, rate);
}

static void xml_route(GString *xml, uint32_t path)
{
	for (int side = SIM_CLIENT; side <= SIM_SERVER; side++)
		g_string_append_printf(xml,
				       "    <route src=\"nic-%s-%u\" dst=\"nic-%s-%u\" symmetrical=\"NO\">"
				       "<link_ctn id=\"from-%s-%u\"/></route>\n",
				       side_names[side], path, side_names[!side], path, side_names[side], path);
}

/* SimGrid wants all hosts, then all links, then all routes of a zone; hosts and links may mix. */
static char *platform_xml(const struct sim_topology *topology)
{
	GString *xml = g_string_new("<?xml version=\"1.0\"?>\n"
				    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
				    "<platform version=\"4.1\">\n"
				    "  <zone id=\"smblab\" routing=\"Full\">\n");

	for (uint32_t i = 0; i < clients_of(topology); i++) {
		g_autofree char *name = client_name(topology, i);

		xml_host(xml, name, topology->client.cores);
	}
	if (strcmp(topology->client.name, topology->server.name) != 0)
		xml_host(xml, topology->server.name, topology->server.cores);
	for (uint32_t i = 0; i < topology->path_count; i++)
		xml_path(xml, i, topology->paths[i].rate_bps);
	for (uint32_t i = 0; i < topology->path_count; i++)
		xml_route(xml, i);
	g_string_append(xml, "  </zone>\n</platform>\n");
	return g_string_free(xml, FALSE);
}

static bool topology_is_valid(const struct sim_topology *topology, GError **error)
{
	const char *wrong = NULL;

	if (!topology->client.name || !topology->server.name || !*topology->client.name || !*topology->server.name)
		wrong = "a host has no name";
	else if (topology->client.cores < 1 || topology->server.cores < 1)
		wrong = "a host needs at least one core";
	else if (topology->path_count < 1 || !topology->paths)
		wrong = "there is no network path";
	for (uint32_t i = 0; !wrong && i < topology->path_count; i++)
		if (topology->paths[i].client >= clients_of(topology))
			wrong = "a path belongs to no client";
	for (uint32_t i = 0; !wrong && i < topology->path_count; i++)
		if (!(topology->paths[i].loss >= 0 && topology->paths[i].loss < 1))
			wrong = "the loss of a path must be at least 0 and less than 1";
	if (wrong)
		g_set_error(error, sim_engine_error(), 0, "Cannot build the simulated platform: %s", wrong);
	return !wrong;
}

/* SimGrid 3.32 reads a platform from a file only. */
static bool platform_load(const char *xml, GError **error)
{
	char *name = NULL;
	int file = g_file_open_tmp("smblab-XXXXXX.xml", &name, error);
	bool loaded;

	if (file < 0)
		return false;
	close(file);
	loaded = g_file_set_contents(name, xml, -1, error);
	if (loaded)
		simgrid_load_platform(name);
	g_unlink(name);
	g_free(name);
	return loaded;
}

static void simgrid_start(void)
{
	int argc = G_N_ELEMENTS(simgrid_options);
	char *argv[G_N_ELEMENTS(simgrid_options) + 1] = { NULL };

	for (int i = 0; i < argc; i++)
		argv[i] = (char *)simgrid_options[i]; /* SimGrid moves the pointers, never the text */
	simgrid_init(&argc, argv);
}

static sg_host_t host_find(const char *format, const char *name, uint32_t path)
{
	char *id = g_strdup_printf(format, name, path);
	sg_host_t host = sg_host_by_name(id);

	g_assert(host);
	g_free(id);
	return host;
}

static sg_host_t machine_find(const char *name)
{
	char *id = g_strconcat("host-", name, NULL);
	sg_host_t host = sg_host_by_name(id);

	g_assert(host);
	g_free(id);
	return host;
}

static void machine_init(struct sim_machine *machine, const char *name, int cores)
{
	machine->host = machine_find(name);
	machine->cores = (guint)cores;
	machine->claims = g_ptr_array_new();
}

struct sim_machine *sim_machine_at(struct sim_engine *engine, enum sim_side side, uint32_t client)
{
	g_assert(client < engine->client_count);
	return side == SIM_SERVER ? engine->server : &engine->clients[client];
}

static void engine_find_hosts(struct sim_engine *engine, const struct sim_topology *topology)
{
	engine->client_count = clients_of(topology);
	engine->clients = g_new0(struct sim_machine, engine->client_count);
	for (uint32_t i = 0; i < engine->client_count; i++) {
		g_autofree char *name = client_name(topology, i);

		machine_init(&engine->clients[i], name, topology->client.cores);
	}
	machine_init(&engine->server_alone, topology->server.name, topology->server.cores);
	engine->server = &engine->server_alone;
	if (engine->server_alone.host == engine->clients[0].host)
		engine->server = &engine->clients[0];
	for (uint32_t i = 0; i < engine->path_count; i++)
		for (int side = SIM_CLIENT; side <= SIM_SERVER; side++) {
			engine->wires[i][side].from = host_find("nic-%s-%u", side_names[side], i);
			engine->wires[i][side].to = host_find("nic-%s-%u", side_names[!side], i);
		}
}

bool sim_platform_start(const struct sim_topology *topology, char **xml, GError **error)
{
	*xml = NULL;
	if (!topology_is_valid(topology, error))
		return false;
	simgrid_start();
	*xml = platform_xml(topology);
	return platform_load(*xml, error);
}

struct sim_engine *sim_engine_new(const struct sim_topology *topology, GError **error)
{
	struct sim_engine *engine;
	char *xml = NULL;

	g_assert(!engine_exists);
	if (!sim_order_is_explored() && !sim_platform_start(topology, &xml, error)) {
		g_free(xml);
		return NULL;
	}
	engine_exists = true;
	engine = g_new0(struct sim_engine, 1);
	engine->platform_xml = xml;
	engine->order = sim_order_is_explored() ? sim_order_new() : NULL;
	engine->path_count = topology->path_count;
	engine->paths = g_memdup2(topology->paths, topology->path_count * sizeof(*topology->paths));
	engine->wires = g_malloc0_n(topology->path_count, sizeof(*engine->wires));
	for (uint32_t i = 0; i < engine->path_count; i++)
		for (int side = SIM_CLIENT; side <= SIM_SERVER; side++)
			ring_init(&engine->wires[i][side].turns, sizeof(struct sim_turn));
	engine->seed = topology->seed;
	engine->conns = g_ptr_array_new();
	engine->threads = g_ptr_array_new();
	engine->queues = g_ptr_array_new();
	ring_init(&engine->starts, sizeof(struct sim_thread *));
	ring_init(&engine->wakes, sizeof(struct sim_bell *));
	engine_find_hosts(engine, topology);
	return engine;
}

void sim_engine_flush(struct sim_engine *engine)
{
	sim_engine_check_stop(engine);
	while (engine->starts.length) {
		struct sim_thread *thread = *(struct sim_thread **)ring_head(&engine->starts);

		ring_pop(&engine->starts);
		sim_thread_begin(thread);
	}
	while (engine->wakes.length) {
		struct sim_bell *bell = *(struct sim_bell **)ring_head(&engine->wakes);

		ring_pop(&engine->wakes);
		sim_bell_wake(engine, bell);
	}
}

static void look_at_clock(struct sim_engine *engine)
{
	engine->now_ns = engine->order ? engine->now_ns + 1 : (uint64_t)llround(simgrid_get_clock() * 1e9);
}

void sim_engine_resumed(struct sim_engine *engine)
{
	engine->resumptions++;
	look_at_clock(engine);
	sim_engine_check_stop(engine);
}

void sim_engine_check_stop(struct sim_engine *engine)
{
	if (G_LIKELY(!engine->stopped))
		return;
	sim_order_leave(engine);
	if (!engine->order && !engine->killed) {
		engine->killed = true;
		sg_actor_kill_all();
	}
	sg_actor_exit();
}

uint64_t sim_engine_run(struct sim_engine *engine)
{
	if (!engine->stopped) {
		sim_engine_flush(engine);
		if (engine->order)
			sim_order_run(engine);
		else
			simgrid_run();
		look_at_clock(engine);
	}
	return engine->now_ns;
}

void sim_engine_stop(struct sim_engine *engine)
{
	engine->stopped = true;
}

void sim_engine_free(struct sim_engine *engine)
{
	if (!engine)
		return;
	for (guint i = 0; i < engine->conns->len; i++)
		sim_conn_free(g_ptr_array_index(engine->conns, i));
	for (guint i = 0; i < engine->queues->len; i++)
		sim_queue_free(g_ptr_array_index(engine->queues, i));
	for (guint i = 0; i < engine->threads->len; i++)
		sim_thread_free(g_ptr_array_index(engine->threads, i));
	for (uint32_t i = 0; i < engine->client_count; i++)
		g_ptr_array_free(engine->clients[i].claims, TRUE);
	g_ptr_array_free(engine->server_alone.claims, TRUE);
	g_free(engine->clients);
	ring_clear(&engine->starts);
	ring_clear(&engine->wakes);
	g_ptr_array_free(engine->conns, TRUE);
	g_ptr_array_free(engine->queues, TRUE);
	g_ptr_array_free(engine->threads, TRUE);
	sim_order_free(engine->order);
	g_free(engine->platform_xml);
	for (uint32_t i = 0; i < engine->path_count; i++)
		for (int side = SIM_CLIENT; side <= SIM_SERVER; side++)
			ring_clear(&engine->wires[i][side].turns);
	g_free(engine->wires);
	g_free(engine->paths);
	g_free(engine);
}

uint64_t sim_engine_now_ns(const struct sim_engine *engine)
{
	return engine->now_ns;
}

const char *sim_engine_platform_xml(const struct sim_engine *engine)
{
	return engine->platform_xml;
}
