/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smblab bill: what shell commands become on the wire. */

#include "experiments/commands.h"
#include "sim/world/bill.h"
#include "sim/world/profile.h"

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S 1e9
#define NS_PER_MS UINT64_C(1000000)
#define SMALL_DIRECTORY 10 /* entries of a directory that is assumed */

struct bill_options {
	char *kernel;
	char *mount;
	char *server;
	char *mount_point;
	char *local_size;
	char **files;
	char **directories;
	char **missing;
	char **policies;
	gboolean detail;
	gboolean json;
};

struct bill {
	const struct bill_options *options;
	struct sim_bill *wire;
	struct smb_ops_shell shell;
	GHashTable *known; /* paths relative to the share that exist, or are said not to */
	GPtrArray *assumed; /* sentences */
	JsonBuilder *json;
	guint total;
	uint64_t deferred_close_ms;
	bool mounted;
};

static bool fail_usage(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool fail_usage(GError **error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (error)
		*error = g_error_new_valist(LAB_ERROR, LAB_ERROR_USAGE, format, arguments);
	va_end(arguments);
	return false;
}

/* ---------------------------------------------------------------------------------------------------- the share's names */

static char *server_path(const char *path)
{
	return g_strdelimit(g_strdup(path), "/", '\\');
}

static void make_file(struct bill *bill, const char *path, guint64 bytes)
{
	g_autofree char *name = server_path(path);

	smb_server_make_file(bill->wire->server, name, 1, bytes);
	g_hash_table_add(bill->known, g_strdup(path));
}

static void make_directory(struct bill *bill, const char *path, guint64 entries)
{
	g_autofree char *name = server_path(path);

	if (*name)
		smb_server_make_directory(bill->wire->server, name);
	for (guint64 i = 0; i < entries; i++) {
		g_autofree char *entry = g_strdup_printf("%s%sfile%" G_GUINT64_FORMAT, name, *name ? "\\" : "", i);

		smb_server_make_file(bill->wire->server, entry, 1, 0);
	}
	g_hash_table_add(bill->known, g_strdup(path));
}

/** PATH or PATH=NUMBER, PATH below the mount point. */
static bool parse_name(const struct bill *bill, const char *text, char **path, uint64_t *number, GError **error)
{
	const char *equals = strrchr(text, '=');
	g_autofree char *before = equals ? g_strndup(text, (gsize)(equals - text)) : g_strdup(text);
	gsize length = strlen(bill->shell.mount_point);

	if (equals && !lab_whole_parse(LAB_SIZE, equals + 1, number, error))
		return false;
	if (strncmp(before, bill->shell.mount_point, length) != 0 || before[length] != '/' || !before[length + 1])
		return fail_usage(error, "%s is not below the mount point %s", before, bill->shell.mount_point);
	*path = g_strdup(before + length + 1);
	return true;
}

static bool make_given(struct bill *bill, GError **error)
{
	const struct bill_options *options = bill->options;
	uint64_t number;

	for (char **text = options->files; text && *text; text++) {
		g_autofree char *path = NULL;

		number = bill->shell.local_bytes;
		if (!parse_name(bill, *text, &path, &number, error))
			return false;
		make_file(bill, path, number);
	}
	for (char **text = options->directories; text && *text; text++) {
		g_autofree char *path = NULL;

		number = SMALL_DIRECTORY;
		if (!parse_name(bill, *text, &path, &number, error))
			return false;
		if (number > 100000)
			return fail_usage(error, "--directory %s: at most 100000 entries", *text);
		make_directory(bill, path, number);
	}
	for (char **text = options->missing; text && *text; text++) {
		g_autofree char *path = NULL;

		if (!parse_name(bill, *text, &path, &number, error))
			return false;
		g_hash_table_add(bill->known, g_steal_pointer(&path));
	}
	return true;
}

static void assume(struct bill *bill, const char *path, bool is_directory, guint entries)
{
	if (g_hash_table_contains(bill->known, path))
		return;
	if (is_directory) {
		make_directory(bill, path, entries);
		g_ptr_array_add(bill->assumed,
				g_strdup_printf("%s%s%s is a directory with %u entries", bill->shell.mount_point,
						*path ? "/" : "", path, entries));
		return;
	}
	if (!*path)
		return;
	make_file(bill, path, bill->shell.local_bytes);
	g_ptr_array_add(bill->assumed, g_strdup_printf("%s/%s is a file of %" G_GUINT64_FORMAT " bytes",
						       bill->shell.mount_point, path, bill->shell.local_bytes));
}

/** What a command needs to find is made, unless it was given, said to be missing, or made by a command before. */
static void assume_names(struct bill *bill, const struct smb_ops_command *command)
{
	switch (command->kind) {
	case SMB_OPS_RM:
	case SMB_OPS_MV:
	case SMB_OPS_LN:
	case SMB_OPS_STAT:
	case SMB_OPS_CAT:
	case SMB_OPS_CP:
	case SMB_OPS_CP_OUT:
	case SMB_OPS_CHMOD:
	case SMB_OPS_DF:
	case SMB_OPS_STAT_F:
		assume(bill, command->source, false, 0);
		break;
	case SMB_OPS_LS:
	case SMB_OPS_LS_L:
	case SMB_OPS_READDIR:
		assume(bill, command->source, true, SMALL_DIRECTORY);
		break;
	case SMB_OPS_RMDIR:
		assume(bill, command->source, true, 0);
		break;
	default:
		break;
	}
	g_hash_table_add(bill->known, g_strdup(command->source));
	g_hash_table_add(bill->known, g_strdup(command->target));
}

/* ------------------------------------------------------------------------------------------------------------- output */

static void print_result(struct bill *bill, const char *line, enum smb_ops_error ended)
{
	guint pairs = bill->wire->pairs->len;
	g_autofree char *text = sim_bill_text(bill->wire, 0, pairs, bill->options->detail && !bill->options->json);
	g_autofree char *detail = sim_bill_text(bill->wire, 0, pairs, true);

	bill->total += pairs;
	sim_bill_forget(bill->wire);
	if (!bill->options->json) {
		if (ended)
			printf("%s: %s\n", line, smb_ops_error_text(ended));
		else
			printf("%s\n", line);
		printf("  %u pair%s%s%s\n", pairs, pairs == 1 ? "" : "s", *text ? "  " : "", text);
		return;
	}
	json_builder_begin_object(bill->json);
	lab_json_string(bill->json, "command", line);
	lab_json_string(bill->json, "error", ended ? smb_ops_error_text(ended) : NULL);
	lab_json_whole(bill->json, "pairs", pairs);
	lab_json_string(bill->json, "sequence", text);
	lab_json_string(bill->json, "detail", detail);
	json_builder_end_object(bill->json);
}

static bool wait_and_print(struct bill *bill, const char *line, uint64_t ns, GError **error)
{
	if (!sim_bill_wait(bill->wire, ns, error))
		return false;
	print_result(bill, line, SMB_OPS_OK);
	return true;
}

/* ------------------------------------------------------------------------------------------------------------ commands */

static bool mount_once(struct bill *bill, bool is_told, GError **error)
{
	if (bill->mounted)
		return is_told ? fail_usage(error, "mount: the share is mounted already") : true;
	if (!sim_bill_mount(bill->wire, error))
		return false;
	bill->mounted = true;
	if (is_told)
		print_result(bill, "mount", SMB_OPS_OK);
	else
		sim_bill_forget(bill->wire);
	return true;
}

static bool run_line(struct bill *bill, const char *line, GError **error)
{
	char message[SMB_OPS_MESSAGE_MAX];
	struct smb_ops_command command;
	enum smb_ops_error ended;
	double seconds;

	if (g_str_has_prefix(line, "sleep ")) {
		if (!lab_number_parse(LAB_NUMBER, line + strlen("sleep "), &seconds, error))
			return false;
		return mount_once(bill, false, error) &&
		       wait_and_print(bill, line, (uint64_t)(seconds * NS_PER_S), error);
	}
	if (!smb_ops_parse(line, &bill->shell, &command, NULL, message))
		return fail_usage(error, "%s", message);
	assume_names(bill, &command);
	if (command.kind == SMB_OPS_MOUNT)
		return mount_once(bill, true, error);
	if (!mount_once(bill, false, error) || !sim_bill_run(bill->wire, &command, &ended, error))
		return false;
	bill->mounted = command.kind != SMB_OPS_UMOUNT;
	print_result(bill, line, ended);
	return true;
}

static bool run_lines(struct bill *bill, const char *text, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(text, ";", -1);

	for (char **line = lines; *line; line++) {
		g_strstrip(*line);
		if (**line && !run_line(bill, *line, error))
			return false;
	}
	/* What was put off, and nothing that is due later (echoes). */
	if (!sim_bill_wait(bill->wire, bill->deferred_close_ms * NS_PER_MS, error))
		return false;
	if (bill->wire->pairs->len)
		print_result(bill, "later, in the background", SMB_OPS_OK);
	return true;
}

/* -------------------------------------------------------------------------------------------------------------- set-up */

static bool set_policies(struct smb_policy *policy, char **settings, GError **error)
{
	for (; settings && *settings; settings++) {
		g_auto(GStrv) parts = g_strsplit(*settings, "=", 2);

		if (!parts[0] || !parts[1])
			return fail_usage(error, "--policy %s: NAME=VALUE is wanted", *settings);
		switch (smb_policy_set(policy, parts[0], parts[1])) {
		case SMB_POLICY_OK:
			break;
		case SMB_POLICY_UNKNOWN_NAME:
			return fail_usage(error, "--policy: there is no policy %s (smblab list policies)", parts[0]);
		case SMB_POLICY_BAD_VALUE:
			return fail_usage(error, "--policy %s: %s is none of %s", parts[0], parts[1],
					  smb_policy_values(parts[0]));
		}
	}
	return true;
}

static bool set_up(struct bill *bill, GError **error)
{
	const struct bill_options *options = bill->options;
	const struct smb_era *era = smb_era_find(options->kernel);
	struct sim_bill_config config;
	struct smb_mount_report report;

	if (!era)
		return fail_usage(error, "there is no kernel %s (smblab list eras)", options->kernel);
	config = (struct sim_bill_config){ .policy = era->policy };
	if (!set_policies(&config.policy, options->policies, error))
		return false;
	if (smb_mount_options_parse(options->mount, &config.policy, &config.mount, &report) != SMB_MOUNT_OK)
		return fail_usage(error, "--mount %s: %s", options->mount, report.message);
	if (!sim_profile_load(options->server, &config.server, NULL, error))
		return false;
	if (!lab_whole_parse(LAB_SIZE, options->local_size, &bill->shell.local_bytes, error))
		return false;
	bill->deferred_close_ms = config.policy.deferred_close_ms;
	bill->wire = sim_bill_new(&config, error);
	return bill->wire && make_given(bill, error);
}

static void print_head(struct bill *bill)
{
	json_builder_begin_object(bill->json);
	lab_json_string(bill->json, "kernel", bill->options->kernel);
	lab_json_string(bill->json, "mount", bill->options->mount);
	lab_json_string(bill->json, "server", bill->options->server);
	json_builder_set_member_name(bill->json, "commands");
	json_builder_begin_array(bill->json);
}

static void print_foot(struct bill *bill)
{
	if (!bill->options->json) {
		printf("%u pair%s in all: kernel %s, %s, server %s\n", bill->total, bill->total == 1 ? "" : "s",
		       bill->options->kernel, bill->options->mount, bill->options->server);
		for (guint i = 0; i < bill->assumed->len; i++)
			printf("assumed: %s\n", (char *)bill->assumed->pdata[i]);
		return;
	}
	json_builder_end_array(bill->json);
	lab_json_whole(bill->json, "pairs", bill->total);
	json_builder_set_member_name(bill->json, "assumed");
	json_builder_begin_array(bill->json);
	for (guint i = 0; i < bill->assumed->len; i++)
		json_builder_add_string_value(bill->json, bill->assumed->pdata[i]);
	json_builder_end_array(bill->json);
	json_builder_end_object(bill->json);
	lab_json_print(bill->json);
}

/** A server profile or mount that cannot be is the user's choice. */
static int fail(GError *error)
{
	GError *told = error;

	if (error->domain != LAB_ERROR && error->domain != G_OPTION_ERROR) {
		told = g_error_new_literal(LAB_ERROR, LAB_ERROR_USAGE, error->message);
		g_error_free(error);
	}
	return lab_fail(told);
}

static int bill_print(const struct bill_options *options, const char *text)
{
	struct bill bill = {
		.options = options,
		.shell.mount_point = options->mount_point,
		.known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.assumed = g_ptr_array_new_with_free_func(g_free),
		.json = json_builder_new(),
	};
	GError *error = NULL;
	int code = 0;

	print_head(&bill);
	if (set_up(&bill, &error) && bill.wire && run_lines(&bill, text, &error))
		print_foot(&bill);
	else
		code = fail(error);
	if (bill.wire)
		sim_bill_free(bill.wire);
	g_hash_table_unref(bill.known);
	g_ptr_array_unref(bill.assumed);
	g_object_unref(bill.json);
	return code;
}

static void set_default(char **option, const char *value)
{
	if (!*option)
		*option = g_strdup(value);
}

static void set_defaults(struct bill_options *options)
{
	set_default(&options->kernel, "6.1");
	set_default(&options->mount, "vers=3.1.1");
	set_default(&options->server, "samba-4.17");
	set_default(&options->mount_point, "/mnt");
	set_default(&options->local_size, "10");
}

int lab_command_bill(int argc, char **argv)
{
	struct bill_options options = { 0 };
	GOptionEntry entries[] = {
		{ "kernel", 'k', 0, G_OPTION_ARG_STRING, &options.kernel, "client: smblab list eras (6.1)", "K" },
		{ "mount", 'o', 0, G_OPTION_ARG_STRING, &options.mount, "mount options (vers=3.1.1)", "OPTS" },
		{ "server", 0, 0, G_OPTION_ARG_STRING, &options.server, "server profile (samba-4.17)", "NAME" },
		{ "policy", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.policies, "set one policy", "NAME=VALUE" },
		{ "mount-point", 0, 0, G_OPTION_ARG_STRING, &options.mount_point, "where the share is (/mnt)", "PATH" },
		{ "file", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.files, "a file exists", "PATH[=SIZE]" },
		{ "directory", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.directories, "a directory exists",
		  "PATH[=ENTRIES]" },
		{ "missing", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.missing, "a name does not exist", "PATH" },
		{ "local-size", 0, 0, G_OPTION_ARG_STRING, &options.local_size, "size of files that are assumed (10)",
		  "SIZE" },
		{ "detail", 'd', 0, G_OPTION_ARG_NONE, &options.detail,
		  "what each request asks, its MessageId, charge, credits asked and granted", NULL },
		{ "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "for programs", NULL },
		{ 0 },
	};
	const struct lab_usage usage = {
		.arguments = "\"COMMAND[; COMMAND...]\"",
		.summary =
			"The round-trip bill of shell commands: request/response pairs and their sequence, chain by "
			"chain. "
			"Commands: touch, rm, mkdir, rmdir, mv, ln, ln -s, stat, stat -f, ls, ls -l, readdir, cat, cp, "
			"echo TEXT > or >> FILE, chmod, truncate -s, df, mount, umount, and sleep SECONDS. They run "
			"one "
			"after another on one mount; what they need to find is assumed to exist.",
		.example = "smblab bill \"rm /mnt/file\" --kernel 4.15 --mount vers=3.1.1",
		.options = entries,
		.least = 1,
		.most = 1,
	};
	int code;

	if (lab_usage_parse(&usage, &argc, &argv, &code)) {
		set_defaults(&options);
		code = bill_print(&options, argv[argc - 1]);
	}
	g_free(options.kernel);
	g_free(options.mount);
	g_free(options.server);
	g_free(options.mount_point);
	g_free(options.local_size);
	g_strfreev(options.files);
	g_strfreev(options.directories);
	g_strfreev(options.missing);
	g_strfreev(options.policies);
	return code;
}
