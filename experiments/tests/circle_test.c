/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs that go round for ever although they need not: a mutant whose fsync may end, and may also be kept from it. */

#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <string.h>

#define CONFIG "experiments/check/mutant-writes-again.ini"

static const char mutant[] = SMB_BINARY_DIR "/experiments/mutants/smblab-mutant-L-1-all-again";

struct endless {
	const char *set; /* one key more */
	const char *says;
};

static const struct endless cases[] = {
	{ "server.write_pushback=2", "\nC33 is broken: thread 1: fsync f never ends: " },
	{ "faults.breaks=1", "\nC20 is broken: the break of open 0 is never acknowledged: " },
	{ "faults.cuts=1", "\nC34 is broken: thread 1: fsync f never ends: " },
};

/* An end can be reached: that there is a way out does not keep a fair run from going round. */
Test(circle, a_fair_run_that_may_also_get_done_is_found_by_each_rule)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const char *argv[] = { mutant, "check", CONFIG, "--no-kit", "--set", cases[i].set, NULL };
		g_autofree char *out = NULL, *err = NULL;
		int status;

		cr_assert(g_spawn_sync(SMB_SOURCE_DIR, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err,
				       &status, NULL),
			  "%s does not run", mutant);
		cr_expect_not_null(strstr(out, cases[i].says), "%s: %s%s", cases[i].set, out, err);
		cr_expect_not_null(strstr(out, "repeats for ever, without a pause"), "%s", out);
		cr_expect_null(strstr(out, ", ends 0\n"), "%s: no end was met", cases[i].set);
	}
}

/* The client as it is comes to an end in all of them. */
Test(circle, the_client_as_it_is_gets_done)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct program run = program_run(SMB_SOURCE_DIR, "check", CONFIG, "--set", cases[i].set, NULL);

		cr_expect_eq(run.exit_code, 0, "%s: %s%s", cases[i].set, run.out, run.err);
		cr_expect_not_null(strstr(run.out, "\nall rules hold, liveness too\n"), "%s", run.out);
		program_clear(&run);
	}
}
