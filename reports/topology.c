/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machines of an experiment, through Graphviz. */
#include "reports/figures.h"
#include "reports/file.h"
#include "reports/insight.h"
#include "reports/text.h"

#include <string.h>

#define NICS_DRAWN 4

static void add_node(GString *dot, const char *name, const char *text, const char *more)
{
	g_autofree char *label = report_dot_string(text);

	g_string_append_printf(dot, "%s [label=%s%s];\n", name, label, more);
}

/* "RTT 10 ms", or all that were swept. */
static char *span_or(const struct report_table *table, const char *column, const char *otherwise)
{
	char *span = report_column_span(table, column);

	return span ? span : g_strdup(otherwise);
}

static guint channel_count(const struct sim_point *base)
{
	return base->mount.multichannel ? CLAMP(base->mount.max_channels, 1, SMB_MOUNT_CHANNELS_MAX) : 1;
}

static char *channels_of_nic(const struct sim_point *base, guint nic, guint nics)
{
	GString *text = g_string_new(NULL);
	guint count = 0;

	for (guint i = nic; i < channel_count(base); i += nics) {
		g_string_append_printf(text, "%s%u", text->len ? ", " : "", i);
		count++;
	}
	if (!count)
		g_string_append(text, "no channel");
	else
		g_string_prepend(text, count > 1 ? "channels " : "channel ");
	return g_string_free(text, FALSE);
}

static char *link_text(const struct report_table *table)
{
	const struct sim_network *network = &table->base.network;
	g_autofree char *rate = network->rate_bps ? report_bitrate((double)network->rate_bps)
						  : g_strdup("no limit of rate");
	g_autofree char *rtt = report_seconds((double)network->rtt_ns / 1e9);
	g_autofree char *rtts = span_or(table, "network.rtt", rtt);
	g_autofree char *rates = span_or(table, "network.rate", rate);
	g_autofree char *loss = report_shortest(network->loss * 100);
	g_autofree char *jitter = report_seconds((double)network->jitter_ns / 1e9);
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "  %s\n  RTT %s", rates, rtts);
	if (network->jitter_ns)
		g_string_append_printf(text, "\n  jitter %s", jitter);
	if (network->loss > 0)
		g_string_append_printf(text, "\n  loss %s %%", loss);
	return g_string_free(text, FALSE);
}

static char *tcp_text(const struct sim_tcp_options *tcp, bool nagle)
{
	g_autofree char *send = report_bytes((double)tcp->send_buffer_bytes);
	g_autofree char *receive = report_bytes((double)tcp->receive_buffer_bytes);

	return g_strdup_printf("TCP %s, MSS %u B, initial window %u\nNagle %s, send buffer %s\nreceive buffer %s",
			       tcp->cubic ? "CUBIC" : "Reno", tcp->mss_bytes, tcp->initial_window, nagle ? "on" : "off",
			       send, receive);
}

static char *clients_text(const struct report_table *table)
{
	g_autofree char *one = g_strdup("1");
	g_autofree char *span = span_or(table, "client.clients", one);

	return strcmp(span, "1") ? g_strdup_printf("client host, one of %s", span) : g_strdup("client host");
}

static char *client_text(const struct report_table *table)
{
	const struct sim_point *base = &table->base;
	g_autofree char *page = report_bytes(base->page_bytes);
	g_autofree char *rsize = base->mount.rsize ? report_bytes(base->mount.rsize) : g_strdup("negotiated");
	g_autofree char *rasize = base->mount.rasize ? report_bytes(base->mount.rasize) : g_strdup("unset");
	g_autofree char *rasizes = span_or(table, "client.rasize", rasize);

	g_autofree char *channels = g_strdup_printf("%u", channel_count(base));
	g_autofree char *spans = span_or(table, "client.max_channels", channels);

	return g_strdup_printf("SMB client\nrsize %s\nrasize %s\npages of %s\nmax_channels %s", rsize, rasizes, page,
			       spans);
}

static char *server_text(const struct smb_server_profile *server)
{
	g_autofree char *name = report_one_line(server->name, (glong)sizeof(server->name));
	g_autofree char *read = report_bytes(server->max_read);
	g_autofree char *threads = server->threads ? g_strdup_printf("%u threads", server->threads)
						   : g_strdup("one process for all channels");

	return g_strdup_printf("SMB server, profile %s\nmax read %s\nup to %u credits\n%s", name, read,
			       server->credits_max, threads);
}

static char *storage_text(const struct smb_server_profile *server)
{
	g_autofree char *latency = report_seconds((double)server->storage_latency_ns / 1e9);
	g_autofree char *rate = report_MBps(server->storage_bytes_per_s / 1e6);
	g_autofree char *parallel = server->storage_parallel ? g_strdup_printf("%u at once", server->storage_parallel)
							     : g_strdup("any number at once");

	return g_strdup_printf("storage\n%s before the first byte\n%s%s\n%s", latency,
			       server->storage_bytes_per_s > 0 ? rate : "no limit of rate",
			       server->storage_bytes_per_s > 0 ? " MB/s" : "", parallel);
}

/* The links run along the left side, so the title stands where they do not cross it. */
static void open_cluster(GString *dot, const char *name, const char *title, guint cores)
{
	g_autofree char *text = cores ? g_strdup_printf("%s, %u %s", title, cores, cores == 1 ? "core" : "cores")
				      : g_strdup(title);
	g_autofree char *label = report_dot_string(text);

	g_string_append_printf(
		dot,
		"subgraph cluster_%s { label=%s; labeljust=r; style=\"filled,rounded\"; fillcolor=\"" REPORT_PANEL
		"\"; color=\"" REPORT_GRID "\"; margin=12;\n",
		name, label);
}

static void add_nics(GString *dot, const struct report_table *table, const char *side)
{
	guint nics = MAX(table->base.network.nics, 1);

	for (guint i = 0; i < MIN(nics, NICS_DRAWN); i++) {
		g_autofree char *channels = channels_of_nic(&table->base, i, nics);
		g_autofree char *text = g_strdup_printf("NIC %u\n%s", i, channels);
		g_autofree char *name = g_strdup_printf("%s_nic%u", side, i);

		add_node(dot, name, text, ", style=\"filled,rounded\", color=\"" REPORT_BLUE "\"");
	}
}

static void add_links(GString *dot, const struct report_table *table)
{
	guint nics = MAX(table->base.network.nics, 1);
	g_autofree char *text = link_text(table);
	g_autofree char *label = report_dot_string(text);

	for (guint i = 0; i < MIN(nics, NICS_DRAWN); i++) {
		g_string_append_printf(dot, "client -> client_nic%u; server_nic%u -> server;\n", i, i);
		g_string_append_printf(dot,
				       "client_nic%u -> server_nic%u [label=%s, color=\"" REPORT_BLUE
				       "\", penwidth=2.2, minlen=2];\n",
				       i, i, i == 0 ? label : "\"\"");
	}
}

static GString *topology_dot(const struct report_table *table)
{
	const struct sim_point *base = &table->base;
	GString *dot = g_string_new(
		"digraph topology {\nbgcolor=\"transparent\"; rankdir=TB; nodesep=0.35; ranksep=0.35;\n");
	g_autofree char *client = client_text(table);
	g_autofree char *server = server_text(&base->server);
	g_autofree char *storage = storage_text(&base->server);
	g_autofree char *tcp = tcp_text(&base->network.tcp[SIM_CLIENT], !base->mount.tcp_nodelay);
	guint nics = MAX(base->network.nics, 1);

	g_string_append(
		dot, "fontname=\"sans-serif\"; fontsize=13; fontcolor=\"" REPORT_MUTED "\";\n"
		     "node [shape=box, style=\"filled,rounded\", fillcolor=\"" REPORT_PAPER "\", color=\"" REPORT_MUTED
		     "\", fontname=\"sans-serif\", fontsize=13, fontcolor=\"" REPORT_INK "\", margin=\"0.16,0.09\"];\n"
		     "edge [dir=none, color=\"" REPORT_MUTED
		     "\", fontname=\"sans-serif\", fontsize=12, fontcolor=\"" REPORT_INK "\"];\n");
	g_autofree char *clients = clients_text(table);
	open_cluster(dot, "client", base->shared_host ? "client and server on one host: client" : clients,
		     base->client_cores);
	add_node(dot, "client", client, "");
	add_node(dot, "tcp", tcp, ", style=\"rounded\", color=\"" REPORT_GRID "\", fontcolor=\"" REPORT_MUTED "\"");
	add_nics(dot, table, "client");
	g_string_append(dot, "{ rank=same; client; tcp; }\nclient -> tcp [style=dotted];\n}\n");
	open_cluster(dot, "server", base->shared_host ? "server, on the cores of the client" : "server host",
		     base->shared_host ? 0 : base->server_cores);
	add_nics(dot, table, "server");
	add_node(dot, "server", server, "");
	add_node(dot, "storage", storage, ", shape=cylinder, style=filled");
	g_string_append(dot, "{ rank=same; server; storage; }\nserver -> storage;\n}\n");
	add_links(dot, table);
	if (nics > NICS_DRAWN) {
		g_autofree char *more = g_strdup_printf("and %u more NICs", nics - NICS_DRAWN);

		add_node(dot, "more", more, ", shape=plaintext, style=\"\"");
		g_string_append(dot, "client -> more [style=dotted]; more -> server [style=dotted];\n");
	}
	g_string_append(dot, "}\n");
	return dot;
}

static bool draw(struct report_figure *figure, const GString *dot, const char *directory, GError **error)
{
	static const char *const argv[] = { "dot", "-Tsvg", "-otopology.svg", "topology.dot", NULL };
	g_autofree char *path = g_build_filename(directory, "topology.svg", NULL);
	g_autofree char *drawn = NULL;

	if (!report_file_write(directory, "topology.dot", dot, error) ||
	    !report_tool_run(argv, "graphviz", directory, error))
		return false;
	if (g_file_get_contents(path, &drawn, NULL, NULL) && report_figure_set(figure, drawn))
		return true;
	g_set_error(error, REPORT_ERROR, REPORT_ERROR_TOOL, "dot drew no SVG for topology.svg");
	return false;
}

struct report_figure *report_figure_topology(const struct report_table *table, GError **error)
{
	struct report_figure *figure = report_figure_new("topology", "Client, network and server of the experiment");
	g_autofree char *directory = report_scratch_new(error);
	GString *dot = topology_dot(table);
	bool drawn = directory && draw(figure, dot, directory, error);

	if (directory)
		report_scratch_remove(directory);
	g_string_free(dot, TRUE);
	if (drawn)
		return figure;
	report_figure_free(figure);
	return NULL;
}
