/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/bill.h"
#include "experiments/commands.h"
#include "experiments/keys_special.h"

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_MS 1e6

struct bill_options {
	char *kernel;
	char *mount;
	char *server;
	char *mount_point;
	char *local_size;
	char *network;
	char *rtt;
	char *rate;
	char **files;
	char **directories;
	char **missing;
	char **policies;
	char **sets;
	gboolean detail;
	gboolean json;
};

static bool has_network(const struct bill_options *options)
{
	return options->network || options->rtt || options->rate;
}

static double ms_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (double)(to_ns - from_ns) / NS_PER_MS : 0;
}

/* -------------------------------------------------------------------------------------------------------------- printing */

static bool is_background(const struct lab_bill *bill, const struct lab_bill_step *step)
{
	return step->job + 1 == bill->point->workload.job_count;
}

static void chain_print(const struct lab_bill *bill, const struct lab_bill_step *step, guint index)
{
	const struct sim_pair *pair = &g_array_index(bill->pairs, struct sim_pair, index);
	g_autofree char *text = sim_pairs_text(bill->pairs, index, index + 1, false);

	printf("    at %8.2f ms", ms_between(step->begun_ns, pair->sent_ns));
	if (pair->answered_ns)
		printf("  %8.2f ms", ms_between(pair->sent_ns, pair->answered_ns));
	else
		printf("  %11s", "-");
	printf("  %s\n", text);
}

static void step_print(const struct lab_bill *bill, const struct bill_options *options,
		       const struct lab_bill_step *step)
{
	guint pairs = step->end - step->first;
	g_autofree char *text = sim_pairs_text(bill->pairs, step->first, step->end, options->detail);
	g_autofree char *number = step->number ? g_strdup_printf(" (%" G_GUINT64_FORMAT ")", (guint64)step->number)
					       : g_strdup("");

	printf("%s%s%s%s\n", (char *)bill->lines->pdata[step->job], number, step->error ? ": " : "",
	       step->error ? smb_ops_error_text(step->error) : "");
	printf("  %u pair%s%s%s\n", pairs, pairs == 1 ? "" : "s", *text ? "  " : "", text);
	if (!has_network(options))
		return;
	printf("  %.2f ms\n", ms_between(step->begun_ns, step->ended_ns));
	for (guint i = step->first; i < step->end; i++)
		chain_print(bill, step, i);
}

static char *assumed_text(const struct sim_name *name, const char *mount_point)
{
	g_autofree char *many = g_strdup_printf("%" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, (guint64)name->from,
						(guint64)name->to);
	bool is_many = strchr(name->path, SIM_LOOP_MARK) != NULL;
	g_autofree char *path = g_strdup_printf("%s%s%s%s%s", mount_point, *name->path ? "/" : "", name->path,
						is_many ? ", * from " : "", is_many ? many : "");

	if (name->is_directory)
		return g_strdup_printf("%s is a directory with %" G_GUINT64_FORMAT " entries", path,
				       (guint64)name->entries);
	return g_strdup_printf("%s is a file of %" G_GUINT64_FORMAT " bytes", path, (guint64)name->bytes);
}

static char *network_text(const struct lab_bill *bill)
{
	g_autofree char *rate = lab_number_format(LAB_RATE, (double)bill->point->network.rate_bps);
	g_autofree char *rtt = lab_number_format(LAB_TIME, (double)bill->point->network.rtt_ns);

	return g_strdup_printf("RTT %s, rate %s", rtt, bill->point->network.rate_bps ? rate : "unlimited");
}

static void bill_print(const struct lab_bill *bill, const struct bill_options *options)
{
	g_autofree char *network = network_text(bill);
	guint total = 0;

	for (guint i = 0; i < bill->steps->len; i++) {
		const struct lab_bill_step *step = &g_array_index(bill->steps, struct lab_bill_step, i);

		if (is_background(bill, step) && step->first == step->end)
			continue;
		step_print(bill, options, step);
		total += step->end - step->first;
	}
	printf("%u pair%s in all", total, total == 1 ? "" : "s");
	if (has_network(options))
		printf(", %.2f ms", bill->result->seconds * 1e3);
	printf(": kernel %s, %s, server %s%s%s\n", options->kernel, options->mount, options->server,
	       has_network(options) ? ", " : "", has_network(options) ? network : "");
	for (guint i = bill->given_names; i < bill->point->workload.name_count; i++) {
		g_autofree char *text = assumed_text(&bill->point->workload.names[i], options->mount_point);

		printf("assumed: %s\n", text);
	}
}

/* ----------------------------------------------------------------------------------------------------------------- JSON */

static void chains_json(JsonBuilder *json, const struct lab_bill *bill, const struct lab_bill_step *step)
{
	json_builder_set_member_name(json, "chains");
	json_builder_begin_array(json);
	for (guint i = step->first; i < step->end; i++) {
		const struct sim_pair *pair = &g_array_index(bill->pairs, struct sim_pair, i);
		g_autofree char *text = sim_pairs_text(bill->pairs, i, i + 1, false);

		json_builder_begin_object(json);
		lab_json_string(json, "chain", text);
		lab_json_number(json, "at_ms", ms_between(step->begun_ns, pair->sent_ns));
		if (pair->answered_ns)
			lab_json_number(json, "ms", ms_between(pair->sent_ns, pair->answered_ns));
		json_builder_end_object(json);
	}
	json_builder_end_array(json);
}

static void step_json(JsonBuilder *json, const struct lab_bill *bill, const struct lab_bill_step *step)
{
	g_autofree char *text = sim_pairs_text(bill->pairs, step->first, step->end, false);
	g_autofree char *detail = sim_pairs_text(bill->pairs, step->first, step->end, true);

	json_builder_begin_object(json);
	lab_json_string(json, "command", bill->lines->pdata[step->job]);
	if (step->number)
		lab_json_whole(json, "number", (gint64)step->number);
	lab_json_string(json, "error", step->error ? smb_ops_error_text(step->error) : NULL);
	lab_json_whole(json, "pairs", step->end - step->first);
	lab_json_string(json, "sequence", text);
	lab_json_string(json, "detail", detail);
	lab_json_number(json, "ms", ms_between(step->begun_ns, step->ended_ns));
	chains_json(json, bill, step);
	json_builder_end_object(json);
}

static guint steps_json(JsonBuilder *json, const struct lab_bill *bill)
{
	guint total = 0;

	json_builder_set_member_name(json, "commands");
	json_builder_begin_array(json);
	for (guint i = 0; i < bill->steps->len; i++) {
		const struct lab_bill_step *step = &g_array_index(bill->steps, struct lab_bill_step, i);

		if (is_background(bill, step) && step->first == step->end)
			continue;
		step_json(json, bill, step);
		total += step->end - step->first;
	}
	json_builder_end_array(json);
	return total;
}

static void bill_json(const struct lab_bill *bill, const struct bill_options *options)
{
	g_autoptr(JsonBuilder) json = json_builder_new();

	json_builder_begin_object(json);
	lab_json_string(json, "kernel", options->kernel);
	lab_json_string(json, "mount", options->mount);
	lab_json_string(json, "server", options->server);
	lab_json_number(json, "rtt_ms", (double)bill->point->network.rtt_ns / NS_PER_MS);
	lab_json_number(json, "rate_bps", (double)bill->point->network.rate_bps);
	lab_json_whole(json, "pairs", steps_json(json, bill));
	lab_json_number(json, "ms", bill->result->seconds * 1e3);
	lab_json_whole(json, "violations", (gint64)bill->result->violations);
	json_builder_set_member_name(json, "assumed");
	json_builder_begin_array(json);
	for (guint i = bill->given_names; i < bill->point->workload.name_count; i++) {
		g_autofree char *text = assumed_text(&bill->point->workload.names[i], options->mount_point);

		json_builder_add_string_value(json, text);
	}
	json_builder_end_array(json);
	json_builder_end_object(json);
	lab_json_print(json);
}

/* --------------------------------------------------------------------------------------------------------------- options */

static bool put(struct lab_values *values, const char *dotted, const char *text, const char *option, GError **error)
{
	int key = lab_key_find_dotted(dotted);

	if (!text)
		return true;
	if (key < 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s: there is no %s; nearest: %s", option, dotted,
			    lab_key_nearest(dotted) ?: "none");
		return false;
	}
	if (!lab_key_check_text((guint)key, text, error)) {
		g_prefix_error(error, "%s: ", option);
		return false;
	}
	values->text[key] = g_intern_string(text);
	return true;
}

/* NAME=VALUE options, `prefix` in front of the name. */
static bool put_all(struct lab_values *values, char **settings, const char *prefix, const char *option, GError **error)
{
	for (; settings && *settings; settings++) {
		g_auto(GStrv) parts = g_strsplit(*settings, "=", 2);
		g_autofree char *dotted = parts[0] ? g_strconcat(prefix, parts[0], NULL) : NULL;

		if (!parts[0] || !parts[1]) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "%s %s: NAME=VALUE is wanted", option,
				    *settings);
			return false;
		}
		if (!put(values, dotted, parts[1], option, error))
			return false;
	}
	return true;
}

static bool values_take(struct lab_values *values, const struct bill_options *options, GError **error)
{
	/* Without a network asked for, nothing but the count is told, and time plays no part. */
	return put(values, "client.kernel", options->kernel, "--kernel", error) &&
	       put(values, "client.mount", options->mount, "--mount", error) &&
	       put(values, "server.profile", options->server, "--server", error) &&
	       put(values, "network.preset", options->network, "--network", error) &&
	       put(values, "network.rtt", has_network(options) ? options->rtt : "0s", "--rtt", error) &&
	       put(values, "network.rate", options->rate, "--rate", error) &&
	       put_all(values, options->policies, "client.policy.", "--policy", error) &&
	       put_all(values, options->sets, "", "--set", error);
}

static int bill_do(const struct bill_options *options, const char *text)
{
	struct lab_values *values = g_new0(struct lab_values, 1);
	g_autofree char *files = options->files ? g_strjoinv(";", options->files) : NULL;
	g_autofree char *directories = options->directories ? g_strjoinv(";", options->directories) : NULL;
	g_autofree char *missing = options->missing ? g_strjoinv(";", options->missing) : NULL;
	struct lab_surroundings around = {
		.mountpoint = options->mount_point,
		.files = files,
		.directories = directories,
		.missing = missing,
		.is_bill = true,
	};
	struct lab_bill *bill = NULL;
	GError *error = NULL;
	int code;

	if (lab_whole_parse(LAB_SIZE, options->local_size, &around.file_bytes, &error) &&
	    values_take(values, options, &error))
		bill = lab_bill_run(text, values, &around, &error);
	g_free(values);
	if (!bill)
		return lab_fail(error);
	if (options->json)
		bill_json(bill, options);
	else
		bill_print(bill, options);
	code = bill->result->violations ? 1 : 0;
	if (code)
		fprintf(stderr, "smblab: rule C%d is broken: %s\n", bill->result->violation[0].rule,
			bill->result->violation[0].text);
	lab_bill_free(bill);
	return code;
}

static void set_default(char **option, const char *value)
{
	if (!*option)
		*option = g_strdup(value);
}

static void options_free(struct bill_options *options)
{
	char *texts[] = { options->kernel,     options->mount,	 options->server, options->mount_point,
			  options->local_size, options->network, options->rtt,	  options->rate };
	char **lists[] = { options->files, options->directories, options->missing, options->policies, options->sets };

	for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
		g_free(texts[i]);
	for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
		g_strfreev(lists[i]);
}

static bool parse(int *argc, char ***argv, struct bill_options *options, int *code)
{
	GOptionEntry entries[] = {
		{ "kernel", 'k', 0, G_OPTION_ARG_STRING, &options->kernel, "client: smblab list eras (6.1)", "K" },
		{ "mount", 'o', 0, G_OPTION_ARG_STRING, &options->mount, "mount options (vers=3.1.1)", "OPTS" },
		{ "server", 0, 0, G_OPTION_ARG_STRING, &options->server, "server profile (samba-4.17)", "NAME" },
		{ "rtt", 0, 0, G_OPTION_ARG_STRING, &options->rtt, "tell times, at this round trip", "TIME" },
		{ "network", 0, 0, G_OPTION_ARG_STRING, &options->network, "tell times, on a preset's network",
		  "PRESET" },
		{ "rate", 0, 0, G_OPTION_ARG_STRING, &options->rate, "tell times, at this link rate", "RATE" },
		{ "policy", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->policies, "set one policy", "NAME=VALUE" },
		{ "set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options->sets, "set any key of a config (list keys)",
		  "SECTION.KEY=VALUE" },
		{ "mount-point", 0, 0, G_OPTION_ARG_STRING, &options->mount_point, "where the share is (/mnt)",
		  "PATH" },
		{ "file", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->files, "a file exists", "PATH[=SIZE]" },
		{ "directory", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->directories, "a directory exists",
		  "PATH[=ENTRIES]" },
		{ "missing", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->missing, "a name does not exist", "PATH" },
		{ "local-size", 0, 0, G_OPTION_ARG_STRING, &options->local_size, "size of files that are assumed (10)",
		  "SIZE" },
		{ "detail", 'd', 0, G_OPTION_ARG_NONE, &options->detail,
		  "what each request asks, its MessageId, charge, credits asked and granted", NULL },
		{ "json", 'j', 0, G_OPTION_ARG_NONE, &options->json, "for programs", NULL },
		G_OPTION_ENTRY_NULL,
	};
	const struct lab_usage usage = {
		.arguments = "\"COMMAND[; COMMAND...]\"",
		.summary =
			"The round-trip bill of shell commands: request/response pairs and their sequence, chain by "
			"chain, and\n"
			"with --rtt, --network or --rate what each takes in time, from running it in the simulation.\n"
			"Commands: touch, rm, mkdir, rmdir, mv, ln, ln -s, stat, stat -f, ls, ls -l, readdir, cat, "
			"cp,\n"
			"echo TEXT > or >> FILE, chmod, truncate -s, df, mount, umount, sleep SECONDS, and\n"
			"for i in $(seq N); do ...; done. They run one after another on one mount; what they need to\n"
			"find is assumed to exist.",
		.example = "smblab bill \"rm /mnt/file\" --kernel 4.15 --mount vers=3.1.1 --rtt 20ms",
		.options = entries,
		.least = 1,
		.most = 1,
	};

	return lab_usage_parse(&usage, argc, argv, code);
}

int lab_command_bill(int argc, char **argv)
{
	struct bill_options options = { 0 };
	int code;

	if (parse(&argc, &argv, &options, &code)) {
		set_default(&options.kernel, LAB_DEFAULT_KERNEL);
		set_default(&options.mount, LAB_DEFAULT_MOUNT);
		set_default(&options.server, LAB_DEFAULT_PROFILE);
		set_default(&options.mount_point, LAB_MOUNTPOINT);
		set_default(&options.local_size, "10");
		code = bill_do(&options, argv[argc - 1]);
	}
	options_free(&options);
	return code;
}
