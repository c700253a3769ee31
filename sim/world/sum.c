/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The results of several clients as one. */

#include "sim/world/world_internal.h"

#include <string.h>

static void add_time(struct sim_reader_time *sum, const struct sim_reader_time *time)
{
	sum->wire_ns += time->wire_ns;
	sum->server_ns += time->server_ns;
	sum->request_ns += time->request_ns;
	sum->credits_ns += time->credits_ns;
	sum->nothing_ns += time->nothing_ns;
	sum->client_cpu_ns += time->client_cpu_ns;
}

static void add_job(struct sim_job_result *sum, const struct sim_job_result *job)
{
	sum->runs += job->runs;
	sum->failures += job->failures;
	sum->spent_ns += job->spent_ns;
	sum->longest_ns = MAX(sum->longest_ns, job->longest_ns);
	sum->pairs += job->pairs;
	sum->bytes += job->bytes;
	if (job->error)
		sum->error = job->error;
}

static void add_violations(struct sim_result *sum, const struct sim_result *result)
{
	sum->violations += result->violations;
	for (uint32_t i = 0; i < result->violation_count && sum->violation_count < SIM_VIOLATIONS_MAX; i++)
		sum->violation[sum->violation_count++] = result->violation[i];
}

static void add(struct sim_result *sum, const struct sim_result *result)
{
	sum->seconds = MAX(sum->seconds, result->seconds);
	sum->mount_seconds = MAX(sum->mount_seconds, result->mount_seconds);
	sum->bytes += result->bytes;
	sum->pairs += result->pairs;
	sum->pdus += result->pdus;
	sum->pdu_events += result->pdu_events;
	sum->credits_min = MIN(sum->credits_min, result->credits_min);
	sum->inflight_max = MAX(sum->inflight_max, result->inflight_max);
	sum->inflight_max_bytes = MAX(sum->inflight_max_bytes, result->inflight_max_bytes);
	sum->channels += result->channels;
	sum->reconnects += result->reconnects;
	sum->stall_max_ns = MAX(sum->stall_max_ns, result->stall_max_ns);
	sum->commands += result->commands;
	sum->command_failures += result->command_failures;
	add_time(&sum->reader_time, &result->reader_time);
	add_violations(sum, result);
	for (uint32_t i = 0; i < sum->job_count; i++)
		add_job(&sum->jobs[i], &result->jobs[i]);
}

/* MB/s, or commands per second of a workload that moves no bytes. */
static double rate_of(const struct sim_result *result, bool has_bytes)
{
	double amount = has_bytes ? (double)result->bytes / 1e6 : (double)result->commands;

	return result->seconds > 0 ? amount / result->seconds : 0;
}

/* Jain, Chiu, Hawe 1984: (sum x)^2 / (n * sum x^2). */
static void tell_rates(const struct world_site *site, struct sim_result *sum)
{
	double total = 0, squares = 0;

	for (uint32_t i = 0; i < site->client_count; i++) {
		double rate = rate_of(site->clients[i].result, sum->bytes > 0);

		sum->slowest_client = i ? MIN(sum->slowest_client, rate) : rate;
		sum->fastest_client = MAX(sum->fastest_client, rate);
		total += rate;
		squares += rate * rate;
	}
	sum->fairness = squares > 0 ? total * total / (site->client_count * squares) : 1;
	sum->clients = site->client_count;
}

void world_sum(const struct world_site *site, struct sim_result *sum)
{
	if (sum != site->clients[0].result) {
		enum sim_outcome outcome = sum->outcome;
		g_autofree char *failure = g_strdup(sum->failure);

		*sum = *site->clients[0].result;
		for (uint32_t i = 1; i < site->client_count; i++)
			add(sum, site->clients[i].result);
		sum->throughput_MBps = sum->seconds > 0 ? (double)sum->bytes / 1e6 / sum->seconds : 0;
		sum->outcome = outcome;
		g_strlcpy(sum->failure, failure, sizeof(sum->failure));
	}
	tell_rates(site, sum);
}
