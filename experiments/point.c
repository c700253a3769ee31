/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/point.h"

#include "experiments/keys_faults.h"
#include "experiments/keys_special.h"
#include "experiments/version.h"
#include "experiments/workload.h"

#include <string.h>

static void draft_init(struct lab_draft *draft, struct sim_point *point, const char *directory)
{
	sim_point_init(point);
	*draft = (struct lab_draft){ .point = point, .directory = directory };
	draft->mount = g_string_new(LAB_DEFAULT_MOUNT);
}

static bool impossible(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool impossible(GError **error, const char *format, ...)
{
	va_list arguments;
	g_autofree char *text = NULL;

	va_start(arguments, format);
	text = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_set_error_literal(error, LAB_ERROR, LAB_ERROR_IMPOSSIBLE, text);
	return false;
}

static bool apply_default(struct lab_draft *draft, const char *section, const char *name, const char *text,
			  GError **error)
{
	return lab_key_set(draft, (guint)lab_key_find(section, name), text, error);
}

/* A given text, or for keys that other keys build upon the default. */
static bool apply_all(struct lab_draft *draft, const struct lab_values *values, struct lab_build_report *report,
		      GError **error)
{
	guint count;
	const struct lab_key *keys = lab_keys(&count);

	for (guint i = 0; i < count; i++) {
		const char *text = values->text[i];

		report->key = (int)i;
		if (!text && (keys[i].set == lab_set_kernel || keys[i].set == lab_set_profile))
			text = keys[i].fallback;
		if (text && !lab_key_set(draft, i, text, error))
			return false;
	}
	report->key = -1;
	return true;
}

static bool given(const struct lab_values *values, const char *section, const char *name)
{
	return values->text[lab_key_find(section, name)] != NULL;
}

static bool check_contradictions(const struct lab_values *values, const struct sim_point *point, GError **error)
{
	if (point->shared_host && given(values, "server", "cores"))
		return impossible(error, "server.cores means nothing with network.shared_host: "
					 "both sides run on the cores of the client");
	if (given(values, "network", "preset") && given(values, "network", "rtt") && given(values, "network", "rate"))
		return impossible(error, "network.preset means nothing when rtt and rate are both given");
	if (point->server.dialect_min > point->server.dialect_max)
		return impossible(error, "server.dialect_min is above server.dialect_max");
	if (!smb_server_profile_is_valid(&point->server))
		return impossible(error, "the values of [server] contradict each other");
	if (!smb_policy_is_valid(&point->policy))
		return impossible(error, "the policies of [client] contradict each other");
	if (given(values, "network", "nics") && given(values, "network", "nic_rates"))
		return impossible(error, "network.nics means nothing with network.nic_rates: it has one rate per NIC");
	return lab_faults_check(point, error);
}

static bool check_clients(const struct sim_point *point, GError **error)
{
	uint32_t channels = point->mount.multichannel ? point->mount.max_channels : 1;

	if (point->clients > 1 && point->shared_host)
		return impossible(error, "client.clients means nothing with network.shared_host: there is one host");
	if (point->clients > 1 && point->clients * channels > SIM_CONNECTIONS_MAX)
		return impossible(error, "%u clients with %u channels each: the server takes %d connections",
				  point->clients, channels, SIM_CONNECTIONS_MAX);
	return true;
}

static bool parse_mount(struct lab_draft *draft, struct lab_build_report *report, GError **error)
{
	struct sim_point *point = draft->point;

	if (smb_mount_options_parse(draft->mount->str, &point->policy, &point->mount, &report->mount) != SMB_MOUNT_OK) {
		report->key = lab_key_find("client", "mount");
		return impossible(error, "mount -o %s: %s", draft->mount->str, report->mount.message);
	}
	point->network.tcp[SIM_CLIENT].nagle = !point->mount.tcp_nodelay;
	return true;
}

static bool parse_command(struct lab_draft *draft, struct lab_build_report *report, GError **error)
{
	const struct lab_surroundings around = {
		.directory = draft->directory,
		.mountpoint = draft->mountpoint,
		.file_bytes = draft->file_bytes,
		.files_are_empty = draft->files_are_empty,
		.block_bytes = draft->point->mount.bsize,
		.seed = draft->point->seed,
		.prepare = draft->prepare,
		.files = draft->files,
		.directories = draft->directories,
		.missing = draft->missing,
	};
	g_autoptr(GError) cause = NULL;

	if (!check_clients(draft->point, error)) {
		report->key = lab_key_find("client", "clients");
		return false;
	}
	report->key = lab_key_find("workload", "command");
	if (!draft->command)
		return impossible(error, "workload.command is missing: what shall be simulated?");
	if (!lab_workload_parse(draft->command, &around, &draft->point->workload, &cause))
		return impossible(error, "%s", cause->message);
	report->key = -1;
	return true;
}

static bool build(struct lab_draft *draft, const struct lab_values *values, struct lab_build_report *report,
		  GError **error)
{
	memset(report, 0, sizeof(*report));
	return apply_all(draft, values, report, error) && parse_mount(draft, report, error) &&
	       check_contradictions(values, draft->point, error);
}

bool lab_point_build_machines(const struct lab_values *values, const char *directory, struct sim_point *point,
			      struct lab_build_report *report, GError **error)
{
	struct lab_draft draft;
	bool built;

	draft_init(&draft, point, directory);
	built = build(&draft, values, report, error);
	g_string_free(draft.mount, TRUE);
	return built;
}

bool lab_point_build(const struct lab_values *values, const char *directory, struct sim_point *point,
		     struct lab_build_report *report, GError **error)
{
	struct lab_draft draft;
	bool built;

	draft_init(&draft, point, directory);
	built = build(&draft, values, report, error) && parse_command(&draft, report, error);
	g_string_free(draft.mount, TRUE);
	return built;
}

bool lab_point_check(guint key, const char *text, const char *directory, GError **error)
{
	g_autofree struct sim_point *point = g_new0(struct sim_point, 1);
	struct lab_draft draft;
	bool right;

	draft_init(&draft, point, directory);
	right = apply_default(&draft, "client", "kernel", LAB_DEFAULT_KERNEL, error) &&
		lab_key_set(&draft, key, text, error);
	g_string_free(draft.mount, TRUE);
	return right;
}

static void checksum_line(GChecksum *checksum, const char *name, const char *value)
{
	g_checksum_update(checksum, (const guchar *)name, -1);
	g_checksum_update(checksum, (const guchar *)"=", 1);
	g_checksum_update(checksum, (const guchar *)value, -1);
	g_checksum_update(checksum, (const guchar *)"\n", 1);
}

#define WHOLE "%" G_GUINT64_FORMAT

static char *read_text(const struct sim_read_job *job)
{
	return g_strdup_printf("%s " WHOLE " " WHOLE " " WHOLE " " WHOLE " %d", job->file, job->file_bytes,
			       job->block_bytes, job->count, job->skip_bytes, job->direct);
}

static char *fio_text(const struct sim_fio_job *job)
{
	g_autofree char *where = g_strdup_printf(
		"%s " WHOLE " " WHOLE " " WHOLE " " WHOLE " " WHOLE " " WHOLE " " WHOLE, job->file, job->file_bytes,
		job->block_bytes, job->stride_bytes, job->offset_bytes, job->offset_increment_bytes, job->region_bytes,
		job->calls);
	g_autofree char *how = g_strdup_printf("%d %u %d " WHOLE " %d %u %u %d %d", job->direction, job->read_percent,
					       job->pattern, job->random_seed, job->may_repeat, job->copies, job->depth,
					       job->direct, job->is_beside);

	return g_strdup_printf("%s %s " WHOLE " %d " WHOLE " " WHOLE " " WHOLE " " WHOLE " " WHOLE " %d", where, how,
			       job->fsync_every, job->fsync_end, job->rate_bytes_per_s[0], job->rate_bytes_per_s[1],
			       job->think_ns, job->think_blocks, job->runtime_ns, job->is_endless);
}

static char *write_text(const struct sim_write_job *job)
{
	return g_strdup_printf("%s " WHOLE " " WHOLE " " WHOLE " %d%d%d%d", job->file, job->block_bytes, job->count,
			       job->seek_bytes, job->truncate, job->direct, job->sync_each, job->sync_end);
}

/* Shell commands are all in the text. */
static char *job_text(const struct sim_job *job)
{
	switch (job->kind) {
	case SIM_JOB_READ:
		return read_text(&job->read);
	case SIM_JOB_WRITE:
		return write_text(&job->write);
	case SIM_JOB_FIO:
		return fio_text(&job->fio);
	case SIM_JOB_COMMAND:
	case SIM_JOB_SLEEP:
		break;
	}
	return NULL;
}

/* The jobs themselves: a fio job file can change behind an unchanged command. */
static void checksum_jobs(GChecksum *checksum, const struct sim_workload *workload)
{
	for (uint32_t i = 0; i < workload->job_count; i++) {
		const struct sim_job *job = &workload->jobs[i];
		g_autofree char *text = job_text(job);

		if (text)
			checksum_line(checksum, "job", text);
	}
}

char *lab_point_identity(const struct sim_point *point, const struct lab_values *values, bool built)
{
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
	guint count;
	const struct lab_key *keys = lab_keys(&count);

	checksum_line(checksum, "smblab", LAB_VERSION);
	checksum_line(checksum, "model", lab_model_hash());
	for (guint i = 0; i < count; i++) {
		g_autofree char *value = NULL;

		if (keys[i].hidden)
			continue;
		value = built || !values->text[i] ? lab_key_effective(i, point, values) : g_strdup(values->text[i]);
		checksum_line(checksum, lab_key_dotted(i), value);
	}
	if (built)
		checksum_jobs(checksum, &point->workload);
	return g_strdup(g_checksum_get_string(checksum));
}
