/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/quantity.h"

#include "reports/text.h"

#include <string.h>

static const struct report_quantity_info infos[REPORT_QUANTITIES] = {
	[REPORT_THROUGHPUT] = { "throughput", "MB/s", "Throughput", "measured_MBps" },
	[REPORT_PAIRS] = { "pairs", "pairs", "Round trips", "measured_pairs" },
	[REPORT_COMMAND_TIME] = { "command_ms", "ms", "Time per command", "measured_command_ms" },
};

const struct report_quantity_info *report_quantity_info(enum report_quantity quantity)
{
	return &infos[quantity];
}

bool report_quantity_find(const char *name, enum report_quantity *quantity)
{
	for (guint i = 0; i < REPORT_QUANTITIES; i++) {
		if (strcmp(infos[i].name, name) != 0)
			continue;
		*quantity = (enum report_quantity)i;
		return true;
	}
	return false;
}

/* Several clients run their commands side by side. */
double report_command_ms(const struct sim_result *result)
{
	double seconds = result->seconds * MAX(result->clients, 1);

	return result->commands ? seconds * 1e3 / (double)result->commands : 0;
}

double report_quantity_of(enum report_quantity quantity, const struct sim_result *result)
{
	switch (quantity) {
	case REPORT_PAIRS:
		return (double)result->pairs;
	case REPORT_COMMAND_TIME:
		return report_command_ms(result);
	default:
		return result->throughput_MBps;
	}
}

char *report_quantity_text(enum report_quantity quantity, double value)
{
	return quantity == REPORT_PAIRS ? report_shortest(value) : report_MBps(value);
}
