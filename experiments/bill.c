/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/bill.h"

#include "experiments/point.h"

#define NS_PER_MS UINT64_C(1000000)

void lab_bill_free(struct lab_bill *bill)
{
	g_array_unref(bill->pairs);
	g_array_unref(bill->steps);
	g_ptr_array_unref(bill->lines);
	g_free(bill->point);
	g_free(bill->result);
	g_free(bill);
}

/* ----------------------------------------------------------------------------------------------------------- listening */

static void hear_sent(void *context, uint64_t when_ns, uint32_t channel, enum sim_side from, const struct smb_pdu *pdu)
{
	struct lab_bill *bill = context;

	if (from == SIM_CLIENT)
		sim_pairs_sent(bill->pairs, channel, pdu, when_ns);
}

static void hear_received(void *context, uint64_t when_ns, uint32_t channel, enum sim_side from,
			  const struct smb_pdu *pdu)
{
	struct lab_bill *bill = context;

	(void)from;
	sim_pairs_received(bill->pairs, channel, pdu, when_ns);
}

static void hear_step(void *context, uint64_t when_ns, const struct sim_step *heard)
{
	struct lab_bill *bill = context;
	struct lab_bill_step step = {
		.job = heard->job,
		.number = heard->number,
		.begun_ns = when_ns,
		.first = bill->pairs->len,
	};

	if (!heard->has_ended) {
		g_array_append_val(bill->steps, step);
		return;
	}
	struct lab_bill_step *ended = &g_array_index(bill->steps, struct lab_bill_step, bill->steps->len - 1);
	ended->ended_ns = when_ns;
	ended->end = bill->pairs->len;
	ended->error = heard->error;
}

/* -------------------------------------------------------------------------------------------------------------- running */

/* What was put off goes out while somebody still listens, and nothing that is due later (echoes). */
static bool wait_at_the_end(struct lab_bill *bill, GError **error)
{
	struct sim_job *job = lab_job_append(&bill->point->workload, SIM_JOB_SLEEP, error);

	if (!job)
		return false;
	job->sleep_ns = bill->point->policy.deferred_close_ms * NS_PER_MS;
	g_ptr_array_add(bill->lines, g_strdup("later, in the background"));
	return true;
}

static bool prepare(struct lab_bill *bill, const char *text, const struct lab_values *values,
		    const struct lab_surroundings *around, GError **error)
{
	g_autofree struct lab_build_report *report = g_new(struct lab_build_report, 1);

	if (!lab_point_build_machines(values, ".", bill->point, report, error))
		return false;
	/* A bill is of one connection. */
	bill->point->mount.multichannel = false;
	bill->point->mount.max_channels = 1;
	return lab_workload_parse(text, around, &bill->point->workload, error) &&
	       lab_workload_names(around, &bill->point->workload, &bill->given_names, error) &&
	       wait_at_the_end(bill, error);
}

static bool run(struct lab_bill *bill, GError **error)
{
	const struct sim_trace trace = {
		.pdu = hear_sent, .received = hear_received, .step = hear_step, .context = bill
	};
	const struct sim_result *result = bill->result;

	if (!sim_world_run(bill->point, &trace, bill->result, error))
		return false;
	if (result->outcome == SIM_OUTCOME_FINISHED)
		return true;
	g_set_error(error, LAB_ERROR,
		    result->outcome == SIM_OUTCOME_IMPOSSIBLE ? LAB_ERROR_USAGE : LAB_ERROR_ENVIRONMENT, "%s",
		    result->failure);
	return false;
}

struct lab_bill *lab_bill_run(const char *text, const struct lab_values *values, const struct lab_surroundings *around,
			      GError **error)
{
	struct lab_bill *bill = g_new0(struct lab_bill, 1);

	bill->pairs = sim_pairs_new();
	bill->steps = g_array_new(FALSE, TRUE, sizeof(struct lab_bill_step));
	bill->lines = lab_workload_lines(text);
	bill->point = g_new0(struct sim_point, 1);
	bill->result = g_new0(struct sim_result, 1);
	if (prepare(bill, text, values, around, error) && run(bill, error))
		return bill;
	lab_bill_free(bill);
	return NULL;
}
