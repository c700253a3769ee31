/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/check_config.h"
#include "experiments/commands.h"
#include "experiments/point.h"
#include "experiments/workload.h"
#include "sim/world/nearest.h"
#include "sim/world/profile.h"

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

/* A listing is rows of texts under headings; printed as a table or as JSON objects. */
struct listing {
	const char *const *headings;
	guint columns;
	GPtrArray *cells; /* char *, row after row */
};

/* One row; as many cells as there are headings. */
#define ADD(listing_, ...)                                                                                             \
	add(listing_, G_N_ELEMENTS(((const char *const[]){ __VA_ARGS__ })), (const char *const[]){ __VA_ARGS__ })
static void add(struct listing *listing, guint count, const char *const *cells)
{
	g_assert(count == listing->columns);
	for (guint i = 0; i < count; i++)
		g_ptr_array_add(listing->cells, g_strdup(cells[i]));
}

static void print_table(const struct listing *listing)
{
	for (guint i = 0; i < listing->cells->len; i += listing->columns) {
		for (guint c = 0; c < listing->columns; c++) {
			size_t width = 0;

			for (guint r = c; r < listing->cells->len; r += listing->columns)
				width = MAX(width, strlen(listing->cells->pdata[r]));
			if (c + 1 < listing->columns)
				printf("%-*s  ", (int)MIN(width, 40), (char *)listing->cells->pdata[i + c]);
			else
				printf("%s\n", (char *)listing->cells->pdata[i + c]);
		}
	}
}

static void print_json(const struct listing *listing)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();

	json_builder_begin_array(builder);
	for (guint i = 0; i < listing->cells->len; i += listing->columns) {
		json_builder_begin_object(builder);
		for (guint c = 0; c < listing->columns; c++)
			lab_json_string(builder, listing->headings[c], listing->cells->pdata[i + c]);
		json_builder_end_object(builder);
	}
	json_builder_end_array(builder);
	lab_json_print(builder);
}

static bool list_eras(struct listing *listing)
{
	size_t count;
	const struct smb_era *eras = smb_eras(&count);

	for (size_t i = 0; i < count; i++) {
		GString *policies = g_string_new(NULL);
		const char *name;

		for (size_t p = 0; (name = smb_policy_name(p)); p++) {
			char value[64] = "";

			smb_policy_get(&eras[i].policy, name, value, sizeof(value));
			g_string_append_printf(policies, "%s%s=%s", p ? " " : "", name, value);
		}
		ADD(listing, eras[i].name, eras[i].tells, policies->str);
		g_string_free(policies, TRUE);
	}
	return true;
}

static bool list_policies(struct listing *listing)
{
	const char *name;

	for (size_t i = 0; (name = smb_policy_name(i)); i++)
		ADD(listing, name, smb_policy_values(name));
	return true;
}

static bool list_presets(struct listing *listing)
{
	size_t count;
	const struct sim_network_preset *presets = sim_network_presets(&count);

	for (size_t i = 0; i < count; i++) {
		g_autofree char *rtt = lab_whole_format(LAB_TIME, presets[i].rtt_ns);
		g_autofree char *rate = presets[i].rate_bps ? lab_whole_format(LAB_RATE, presets[i].rate_bps)
							    : g_strdup("unlimited");

		ADD(listing, presets[i].name, rtt, rate, presets[i].tells);
	}
	return true;
}

static bool list_profiles(struct listing *listing)
{
	g_auto(GStrv) names = sim_profile_list();

	for (guint i = 0; names && names[i]; i++)
		ADD(listing, names[i]);
	return listing->cells->len > 0;
}

static bool list_rules(struct listing *listing)
{
	for (int rule = 1; rule < SMB_RULE_MAX; rule++) {
		const struct smb_rule_info *info = smb_rule_info((enum smb_rule)rule);

		if (info)
			ADD(listing, info->name, info->client_side ? "client" : "server", info->section,
			    info->where ? info->where : "not covered", info->meaning, info->test ? info->test : "-",
			    info->mutants ? info->mutants : "-");
	}
	return true;
}

/* What the parser says about a few values of each option it can be asked about: known, and with which effect. */
static bool list_mount_options(struct listing *listing)
{
	static const struct {
		const char *name, *tells;
	} options[] = {
		{ "vers=", "2.0, 2.1, 3, 3.0, 3.02, 3.1.1, default" },
		{ "rsize=", "largest READ, bytes; unset: what the server offers, up to the kernel's default" },
		{ "wsize=", "largest WRITE, bytes" },
		{ "bsize=", "st_blksize, bytes" },
		{ "rasize=", "readahead window, bytes, 1048576 to 33554432; from kernel 5.13" },
		{ "multichannel, nomultichannel", "more than one connection; from kernel 5.5" },
		{ "max_channels=", "connections, 1 to 16" },
		{ "max_credits=", "most credits the client will hold" },
		{ "cache=", "strict, none, loose" },
		{ "actimeo=", "attribute cache lifetime, seconds" },
		{ "echo_interval=", "seconds, 1 to 600" },
		{ "tcpnodelay", "no Nagle: small requests do not wait for acknowledgements" },
		{ "soft, hard", "give up, or not, when the server does not answer" },
		{ "ro, rw", "read only or not" },
		{ "serverino, noserverino", "inode numbers from the server, or made up" },
		{ "mfsymlinks", "symbolic links as files" },
		{ "sign, seal", "signing, encryption" },
		{ "nostrictsync", "fsync without FLUSH" },
		{ "others", "accepted when the kernel accepts them; listed at a run as without effect" },
	};

	for (guint i = 0; i < G_N_ELEMENTS(options); i++)
		ADD(listing, options[i].name, options[i].tells);
	return true;
}

static bool list_workloads(struct listing *listing)
{
	guint count;
	const struct lab_workload_info *commands = lab_workload_commands(&count);

	for (guint i = 0; i < count; i++)
		ADD(listing, commands[i].name, commands[i].tells, commands[i].example);
	return true;
}

static bool list_keys(struct listing *listing)
{
	guint count;
	const struct lab_key *keys = lab_keys(&count);
	g_autofree struct sim_point *point = g_new0(struct sim_point, 1);
	g_autofree struct lab_build_report *report = g_new(struct lab_build_report, 1);
	struct lab_values values = { 0 };

	values.text[lab_key_find("workload", "command")] = "dd if=f bs=1M count=1";
	lab_point_build(&values, ".", point, report, NULL);
	values.text[lab_key_find("workload", "command")] = NULL;
	for (guint i = 0; i < count; i++) {
		g_autofree char *words = lab_key_words(i);
		g_autofree char *fallback = lab_key_effective(i, point, &values);
		g_autofree char *range = words ? g_steal_pointer(&words)
					       : g_strconcat(lab_type_tells(keys[i].type), keys[i].zero ? ", or " : "",
							     keys[i].zero ? keys[i].zero : "", NULL);

		ADD(listing, lab_key_dotted(i), *fallback ? fallback : "-", keys[i].tells, range);
	}
	return true;
}

static bool list_check_keys(struct listing *listing)
{
	guint count;
	const struct lab_check_key *keys = lab_check_keys(&count);

	for (guint i = 0; i < count; i++) {
		g_autofree char *dotted = g_strconcat(keys[i].section, ".", keys[i].name, NULL);

		ADD(listing, dotted, keys[i].fallback, keys[i].tells, keys[i].values);
	}
	return true;
}

static bool list_columns(struct listing *listing)
{
	static const struct {
		const char *name, *tells;
	} results[] = {
		{ "seconds", "simulated time of the workload, the mount not included" },
		{ "bytes", "handed to the application" },
		{ "throughput_MBps", "bytes / seconds / 10^6, as dd prints" },
		{ "pairs", "transport sends finally answered; a compound chain is one" },
		{ "pdus", "PDUs on the wire, both directions" },
		{ "credits_min", "lowest number of credits over channels and time" },
		{ "inflight_max", "most READs in flight" },
		{ "inflight_max_bytes", "most bytes asked by READs in flight" },
		{ "read_io_bytes", "length that most READs of the workload asked for" },
		{ "violations", "rules broken, see list rules" },
		{ "pdu_events", "PDUs put on and taken off the wire, whole run" },
		{ "reconnects", "channels that came back after they had been lost" },
		{ "stall_max_seconds", "the longest time the reader waited in one piece" },
		{ "commands", "commands and files read that were measured" },
		{ "command_failures", "of them, those that ended with an error" },
		{ "command_ms", "milliseconds per command" },
		{ "slowest_client", "of several clients, MB/s; commands per second where no bytes move" },
		{ "fastest_client", "the same" },
		{ "fairness", "Jain's index of the clients' rates: 1 = all alike" },
		{ "outcome", "finished, stuck, time limit, failed, impossible" },
		{ "failure", "why, when not finished" },
		{ "measured_MBps", "the measurement that belongs to the row, if it is a throughput" },
		{ "measured_pairs", "if it counts request/response pairs" },
		{ "measured_command_ms", "if it is the time of a command" },
		{ "error_percent", "(predicted - measured) / measured * 100" },
	};
	guint count;
	const struct lab_key *keys = lab_keys(&count);

	for (guint i = 0; i < count; i++)
		if (!keys[i].hidden)
			ADD(listing, lab_key_dotted(i), keys[i].tells);
	for (guint i = 0; i < G_N_ELEMENTS(results); i++)
		ADD(listing, results[i].name, results[i].tells);
	return true;
}

static const struct {
	const char *name;
	const char *tells;
	bool (*fill)(struct listing *listing);
	const char *headings[7];
} lists[] = {
	{ "eras", "kernels and their policies", list_eras, { "name", "tells", "policies" } },
	{ "policies", "what differs between kernels, and the values", list_policies, { "name", "values" } },
	{ "presets", "networks by name", list_presets, { "name", "rtt", "rate", "tells" } },
	{ "profiles", "kinds of server", list_profiles, { "name" } },
	{ "rules",
	  "what must hold: who keeps it, the test and the historical bugs that break it",
	  list_rules,
	  { "name", "side", "section", "where", "meaning", "test", "mutants" } },
	{ "mount-options", "options that matter", list_mount_options, { "name", "tells" } },
	{ "workloads", "commands that can be simulated", list_workloads, { "name", "tells", "example" } },
	{ "keys", "keys of a config: default, meaning, values", list_keys, { "name", "default", "tells", "values" } },
	{ "check-keys",
	  "further keys of what smblab check reads",
	  list_check_keys,
	  { "name", "default", "tells", "values" } },
	{ "columns", "columns of results.csv", list_columns, { "name", "tells" } },
};

static int list_one(guint index, bool json)
{
	struct listing listing = { .headings = lists[index].headings };
	bool filled;

	while (listing.columns < G_N_ELEMENTS(lists[index].headings) && listing.headings[listing.columns])
		listing.columns++;
	listing.cells = g_ptr_array_new_with_free_func(g_free);
	filled = lists[index].fill(&listing);
	if (!filled)
		fprintf(stderr, "smblab: no %s found\n", lists[index].name);
	else if (json)
		print_json(&listing);
	else
		print_table(&listing);
	g_ptr_array_unref(listing.cells);
	return filled ? 0 : 3;
}

static int list_find(const char *name)
{
	const char *names[G_N_ELEMENTS(lists)];
	const char *nearest;

	for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
		names[i] = lists[i].name;
		if (!strcmp(name, lists[i].name))
			return (int)i;
	}
	nearest = sim_nearest(name, names, G_N_ELEMENTS(names));
	fprintf(stderr, "smblab: there is no list of '%s'%s%s\n", name, nearest ? "; nearest: " : "",
		nearest ? nearest : "");
	return -1;
}

int lab_command_list(int argc, char **argv)
{
	gboolean json = FALSE;
	GOptionEntry entries[] = {
		{ "json", 0, 0, G_OPTION_ARG_NONE, &json, "print as JSON", NULL },
		G_OPTION_ENTRY_NULL,
	};
	g_autoptr(GString) summary = g_string_new("Lists what exists. WHAT is one of:");
	struct lab_usage usage = {
		.arguments = "WHAT",
		.example = "smblab list eras",
		.options = entries,
		.least = 1,
		.most = 1,
	};
	int exit_code, index;

	for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
		g_string_append_printf(summary, "\n  %-14s %s", lists[i].name, lists[i].tells);
	usage.summary = summary->str;
	if (!lab_usage_parse(&usage, &argc, &argv, &exit_code))
		return exit_code;
	index = list_find(argv[1]);
	return index < 0 ? 2 : list_one((guint)index, json);
}
