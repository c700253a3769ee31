/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/tests/synthetic.h"

#include "reports/value.h"

#include <math.h>
#include <string.h>

#define AXES_MAX 8
#define SAMPLES 600

static const struct synthetic_axis constants[] = {
	{ "client.kernel", "5.13" },
	{ "client.mount", "rw,relatime,vers=3.1.1,cache=strict,soft,rsize=1048576,wsize=1048576,actimeo=1,multichannel,"
			  "max_channels=2" },
	{ "client.page_size", "4K" },
	{ "server.profile", "azure" },
	{ "network.rate", "10Gbit" },
	{ "workload.command", "dd if=/mnt/test/1GBfile of=/dev/null bs=1M count=1024" },
};

static double quantity_of(const struct report_table *table, const struct report_row *row, const char *column,
			  double otherwise)
{
	for (guint i = 0; i < table->sweep_columns; i++) {
		double quantity;

		if (strcmp(table->columns->pdata[i], column) == 0 &&
		    report_value_parse(column, row->values[i], &quantity) != REPORT_KIND_NAME)
			return quantity;
	}
	return otherwise;
}

/* A sawtooth: windows are asked and answered in turn, after a start with growing windows. */
static void fill_samples(struct sim_result *result, double window, double rtt)
{
	guint reads = MAX((guint)(window / 1048576), 1);

	result->sample_count = SAMPLES;
	for (guint i = 0; i < SAMPLES; i++) {
		struct sim_sample *sample = &result->samples[i];
		double at = result->seconds * i / (SAMPLES - 1);
		double phase = fmod(at / MAX(rtt, 1e-4), 1);
		double grown = MIN(1, at / (8 * MAX(rtt, 1e-3)) + 0.1);

		sample->when_ns = (uint64_t)(at * 1e9);
		sample->reads_in_flight = (uint32_t)lround(reads * grown * (1 - phase * 0.6));
		sample->bytes_in_flight = (uint64_t)sample->reads_in_flight << 20;
		for (guint c = 0; c < 4; c++)
			sample->credits[c] = 512 - 16 * (int64_t)sample->reads_in_flight / (c + 1);
		sample->bytes_done = (uint64_t)((double)result->bytes * i / (SAMPLES - 1));
	}
}

static void fill_result(struct report_table *table, struct report_row *row)
{
	struct sim_result *result = g_new0(struct sim_result, 1);
	double rtt = quantity_of(table, row, "network.rtt", 0.01);
	double channels = quantity_of(table, row, "client.max_channels", 2);
	double window = 2 * quantity_of(table, row, "client.rasize", 1048576);
	double rate = 1.15e9 * MIN(1, 0.38 * channels);
	double service = 1048576 / 1.3e9 + 0.002;
	double waited = window / (rtt + service), speed = 1 / (1 / rate + 1 / waited);

	result->outcome = SIM_OUTCOME_FINISHED;
	result->bytes = 1073741824;
	result->throughput_MBps = speed / 1e6;
	result->seconds = (double)result->bytes / speed;
	result->pairs = 1028;
	result->pdus = 2056;
	result->pdu_events = 4112;
	result->credits_min = 40;
	result->inflight_max = (uint32_t)(window / 1048576);
	result->inflight_max_bytes = (uint64_t)window;
	result->rsize = 1048576;
	result->channels = (uint32_t)channels;
	result->ra_pages = (uint32_t)(window / 2 / 4096);
	result->reader_time.wire_ns = (uint64_t)(result->seconds * 1e9 * 0.8 * speed / rate);
	result->reader_time.client_cpu_ns = (uint64_t)(result->seconds * 1e9 * 0.15 * speed / rate);
	result->reader_time.nothing_ns = (uint64_t)(result->seconds * 1e9) - result->reader_time.wire_ns -
					 result->reader_time.client_cpu_ns;
	result->reader_time.request_ns = result->reader_time.nothing_ns / 3;
	result->reader_time.server_ns = result->reader_time.nothing_ns / 4;
	result->reader_time.credits_ns = result->reader_time.nothing_ns / 10;
	result->reader_time.nothing_ns -= result->reader_time.request_ns + result->reader_time.server_ns +
					  result->reader_time.credits_ns;
	fill_samples(result, window, rtt);
	row->result = result;
}

static void fill_base(struct sim_point *base)
{
	base->page_bytes = 4096;
	base->client_cores = 4;
	base->server_cores = 8;
	base->mount.rsize = 1048576;
	base->mount.multichannel = true;
	base->mount.max_channels = 2;
	g_strlcpy(base->server.name, "azure", sizeof(base->server.name));
	base->server.max_read = 1048576;
	base->server.credits_max = 8192;
	base->server.storage_latency_ns = 2000000;
	base->server.storage_bytes_per_s = 440e6;
	base->network.rtt_ns = 10000000;
	base->network.rate_bps = 10000000000;
	base->network.nics = 1;
	for (int i = 0; i < 2; i++)
		base->network.tcp[i] = (struct sim_tcp_options){
			.mss_bytes = 1448,
			.header_bytes = 66,
			.initial_window = 10,
			.send_buffer_bytes = 4194304,
			.receive_buffer_bytes = 6291456,
			.nagle = true,
			.slow_start_after_idle = true,
			.cubic = true,
		};
}

static void add_columns(struct report_table *table, const struct synthetic_axis *axes)
{
	for (guint i = 0; axes[i].column; i++)
		g_ptr_array_add(table->columns, g_strdup(axes[i].column));
	table->sweep_columns = table->columns->len;
	for (guint i = 0; i < G_N_ELEMENTS(constants); i++)
		g_ptr_array_add(table->columns, g_strdup(constants[i].column));
}

static void add_row(struct report_table *table, char **const *lists, const guint *at)
{
	struct report_row *row = report_row_new();

	row->hash = g_strdup_printf("%08x", table->rows->len * 2654435761u);
	row->values = g_new0(char *, table->columns->len + 1);
	for (guint i = 0; i < table->sweep_columns; i++)
		row->values[i] = g_strdup(lists[i][at[i]]);
	for (guint i = 0; i < G_N_ELEMENTS(constants); i++)
		row->values[table->sweep_columns + i] = g_strdup(constants[i].values);
	fill_result(table, row);
	g_ptr_array_add(table->rows, row);
}

/* The last axis turns fastest. False when all have been through. */
static bool next(char **const *lists, guint *at, guint axes)
{
	for (guint i = axes; i-- > 0;) {
		if (lists[i][++at[i]])
			return true;
		at[i] = 0;
	}
	return false;
}

struct report_table *synthetic_table(const char *title, const struct synthetic_axis *axes)
{
	struct report_table *table = report_table_new();
	char **lists[AXES_MAX] = { NULL };
	guint at[AXES_MAX] = { 0 };

	table->title = g_strdup(title);
	table->program_version = g_strdup("0.1.0");
	table->git_revision = g_strdup("0123456789ab");
	table->config_hash = g_strdup("5f3c2a9be0d14477");
	table->config_text = g_strdup("[experiment]\ntitle=made up for a test\nseed=1\n");
	table->seed = 1;
	fill_base(&table->base);
	add_columns(table, axes);
	for (guint i = 0; i < table->sweep_columns; i++)
		lists[i] = g_strsplit(axes[i].values, ";", -1);
	do
		add_row(table, lists, at);
	while (next(lists, at, table->sweep_columns));
	for (guint i = 0; i < table->sweep_columns; i++)
		g_strfreev(lists[i]);
	return table;
}

struct report_table *synthetic_rasize_table(void)
{
	static const struct synthetic_axis axes[] = {
		{ "client.rasize", "unset;1M;4M;6M;8M;12M;16M" },
		{ "network.rtt", "50us;200us;1ms;10ms;70ms;150ms" },
		{ "client.max_channels", "1;2;4" },
		{ NULL, NULL },
	};
	struct report_table *table = synthetic_table("rasize on a two-channel Azure mount", axes);

	table->measured_source = g_strdup(
		"linux-cifs mailing list, April 2021, dd of 1 GiB from an Azure premium share");
	synthetic_measure(synthetic_row(table, (const char *[]){ "1M", "10ms", "2" }), 163, true,
			  "rasize 1 MiB, 5.12-rc");
	synthetic_measure(synthetic_row(table, (const char *[]){ "6M", "10ms", "2" }), 391, false,
			  "rasize 6 MiB, 5.12-rc");
	return table;
}

struct report_row *synthetic_row(struct report_table *table, const char *const *values)
{
	for (guint i = 0; i < table->rows->len; i++) {
		struct report_row *row = table->rows->pdata[i];
		bool same = true;

		for (guint j = 0; j < table->sweep_columns; j++)
			same = same && strcmp(row->values[j], values[j]) == 0;
		if (same)
			return row;
	}
	g_assert_not_reached();
}

void synthetic_fail(struct report_row *row, enum sim_outcome outcome, const char *failure)
{
	memset(row->result, 0, sizeof(*row->result));
	row->result->outcome = outcome;
	g_strlcpy(row->result->failure, failure, sizeof(row->result->failure));
}

void synthetic_measure(struct report_row *row, double MBps, bool fitted, const char *label)
{
	row->has_measured = true;
	row->measured = MBps;
	row->fitted = fitted;
	row->measured_label = g_strdup(label);
	row->error_percent = (row->result->throughput_MBps - MBps) / MBps * 100;
}
