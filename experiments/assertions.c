/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/assertions.h"

#include "model/host.h"
#include "sim/world/director.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool are_taken;

void lab_assertions_take(void)
{
	are_taken = true;
}

/* What assert() of the C library calls; the program's own takes its place. Only in the cores is it used: GLib's do not
 * come here. */
void __assert_fail(const char *expression, const char *file, unsigned int line, const char *function) /* NOLINT */
{
	static _Thread_local char text[240];
	const char *slash = strrchr(file, '/');

	g_snprintf(text, sizeof(text), "%s:%u: %s: %s does not hold", slash ? slash + 1 : file, line, function,
		   expression);
	if (are_taken) {
		model_core_stops(text);
		sim_script_core_stops(text);
	}
	fprintf(stderr, "%s: %s:%u: %s: Assertion `%s' failed.\n", g_get_prgname(), file, line, function, expression);
	abort();
}
